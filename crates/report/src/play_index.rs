//! A page on several files that were played: how each ended, with a link to its own page. It needs no JavaScript.

use std::io::{self, Write};
use std::time::Duration;

use super::duration;
use super::html::parts::BASE_STYLE;
use super::play_html::escaped;
use cuecard_source::value::percent_encoded;

/// A file that was played.
#[derive(Debug, Clone)]
pub struct IndexEntry {
    /// The file.
    pub file: String,
    /// How it ended: passed, failed, blocked, invalid, interrupted or not played.
    pub status: &'static str,
    /// Why it did not pass.
    pub error: Option<String>,
    /// Its own page, relative to this one, if it has one.
    pub page: Option<String>,
}

/// Writes the page.
///
/// # Errors
/// Those of `out`.
pub fn write_index(
    entries: impl IntoIterator<Item = IndexEntry>,
    took: Duration,
    out: &mut impl Write,
) -> io::Result<()> {
    let entries: Vec<IndexEntry> = entries.into_iter().collect();
    let total = entries.len();
    let passed = entries.iter().filter(|it| it.status == "passed").count();
    let (state, mark) = match passed == total {
        true => ("pass", "✓"),
        false => ("fail", "✗"),
    };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{passed} of {total} passed – Cuecard report</title>\n<style>{}</style>\n</head>\n<body>\n\
         <header>\n<div class=\"bar\"><span class=\"brand\">Cuecard</span></div>\n\
         <h1><span class=\"mark {state}\" aria-hidden=\"true\">{mark}</span>{passed} of {total} passed</h1>\n<p id=\"facts\">{}</p>\n</header>\n<main>\n<ul>\n",
        BASE_STYLE.1,
        escaped(&duration(took)),
    )?;
    for entry in &entries {
        let file = escaped(&entry.file);
        let file = match &entry.page {
            Some(page) => format!(
                "<a href=\"{}\">{file}</a>",
                escaped(&percent_encoded(page.as_bytes()))
            ),
            None => file,
        };
        let error = entry.error.as_deref().map(escaped).unwrap_or_default();
        writeln!(out, "<li>{} {file} {error}</li>", entry.status)?;
    }
    writeln!(
        out,
        "</ul>\n</main>\n<footer>Cuecard {}</footer>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_named_with_why_it_failed_and_nothing_in_it_is_markup() {
        let entry = |file: &str, status, error: Option<&str>| IndexEntry {
            file: file.to_owned(),
            status,
            error: error.map(str::to_owned),
            page: (status != "invalid").then(|| format!("report/{file}.html")),
        };
        let entries = [
            entry("a b", "passed", None),
            entry("<b>", "invalid", Some("no `</ul>`")),
        ];
        let mut page = Vec::new();
        write_index(entries, Duration::from_secs(2), &mut page).expect("written");
        let page = String::from_utf8(page).expect("text");
        assert!(page.contains("1 of 2 passed"), "{page}");
        assert!(
            page.contains("<a href=\"report/a%20b.html\">a b</a>"),
            "{page}"
        );
        assert!(
            page.contains("<li>invalid &lt;b&gt; no `&lt;/ul&gt;`</li>"),
            "{page}"
        );
    }
}
