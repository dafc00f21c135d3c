//! A timeline that was run, as one HTML file without any script: what happened beside what was on the screen.

use std::io::{self, Write};
use std::time::Duration;

use base64::Engine as _;
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::without_credentials;

use super::html::parts::BASE_STYLE;
use super::play_html::escaped;

/// Pictures in one report, in bytes: 24 MiB, which are 32 in base64.
const MAX_PICTURES: usize = 24 << 20;

const STYLE: &str = "\
.run { display: grid; grid-template-columns: minmax(18rem, 26rem) minmax(0, 1fr); gap: 1.5rem; align-items: start; }
@media (max-width: 60rem) { .run { grid-template-columns: minmax(0, 1fr); } }
ol.timeline { list-style: none; margin: 0; padding: 0; }
ol.timeline li { display: grid; grid-template-columns: 4.2rem 1.45rem minmax(0, 1fr); gap: 0 .6rem; align-items: baseline; padding: .2rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
ol.timeline time { color: var(--faint); font-variant-numeric: tabular-nums; font-size: .85rem; text-align: right; }
ol.timeline small { color: var(--faint); display: block; }
figure { margin: 0 0 1.5rem; } figure img { display: block; max-width: 100%; height: auto; border-radius: 8px; }
figcaption { font-weight: 600; margin-bottom: .4rem; }
.finding { margin-bottom: .8rem; }
";

/// What the report is made of.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// The scenario's name.
    pub name: &'a str,
    /// Its file.
    pub file: &'a str,
    /// How it ended, in a word, and whether that is good.
    pub status: (&'a str, bool),
    /// Facts for the line below the title.
    pub facts: &'a str,
    /// What happened, in order.
    pub events: Vec<RunReportEvent<'a>>,
    /// What failed and what is doubtful.
    pub findings: &'a [Diagnostic],
    /// Screens by their labels, as SVG.
    pub screens: Vec<(&'a str, String)>,
    /// The run's folder.
    pub folder: String,
}

/// Something that happened.
#[derive(Debug)]
pub struct RunReportEvent<'a> {
    /// When, from the start.
    pub at: Duration,
    /// Where it stands in the timeline.
    pub place: &'a str,
    /// What it was.
    pub what: &'a str,
    /// Whether it was as it should be, if that was looked at.
    pub holds: Option<bool>,
}

/// Writes the page.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &RunReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let (word, is_good) = report.status;
    let (state, mark) = match is_good {
        true => ("pass", "✓"),
        false => ("fail", "✗"),
    };
    let name = escaped(report.name);
    let word = escaped(word);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name} {word} – Cuecard report</title>\n<style>{}{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip-link\" href=\"#run\">Skip to the run</a>\n\
         <header>\n<div class=\"bar\"><span class=\"brand\">Cuecard</span><span>{}</span></div>\n\
         <h1><span class=\"mark {state}\" aria-hidden=\"true\">{mark}</span>{name} {word}</h1>\n<p id=\"facts\">{}</p>\n</header>\n",
        BASE_STYLE.1,
        escaped(report.file),
        escaped(report.facts),
    )?;
    out.write_all(b"<main id=\"run\" tabindex=\"-1\">\n")?;
    let findings: Vec<&Diagnostic> = report
        .findings
        .iter()
        .filter(|found| found.severity != Severity::Note)
        .collect();
    if !findings.is_empty() {
        out.write_all(
            b"<section aria-labelledby=\"findings\"><h2 id=\"findings\">Needs attention</h2>\n",
        )?;
        for found in findings {
            finding(found, out)?;
        }
        out.write_all(b"</section>\n")?;
    }
    out.write_all(b"<div class=\"run\">\n<section aria-labelledby=\"timeline\"><h2 id=\"timeline\">Timeline</h2>\n<ol class=\"timeline\">\n")?;
    for event in &report.events {
        let (state, mark, word) = match event.holds {
            Some(true) => ("pass", "✓", "held"),
            Some(false) => ("fail", "✗", "failed"),
            None => ("skip", "·", "happened"),
        };
        writeln!(
            out,
            "<li><time>{:.2} s</time><span class=\"mark {state}\" role=\"img\" aria-label=\"{word}\">{mark}</span><span>{}<small>{}</small></span></li>",
            event.at.as_secs_f64(),
            escaped(event.what),
            escaped(event.place),
        )?;
    }
    out.write_all(
        b"</ol></section>\n<section aria-labelledby=\"screens\"><h2 id=\"screens\">Screens</h2>\n",
    )?;
    let mut room = MAX_PICTURES;
    for (label, svg) in &report.screens {
        let label = escaped(label);
        match svg.len() <= room {
            true => {
                room -= svg.len();
                let data = base64::engine::general_purpose::STANDARD.encode(svg);
                writeln!(
                    out,
                    "<figure><figcaption>{label}</figcaption><img src=\"data:image/svg+xml;base64,{data}\" alt=\"The screen {label}\"></figure>"
                )?;
            }
            false => writeln!(
                out,
                "<p>{label}: the report is full, see the run's folder.</p>"
            )?,
        }
    }
    write!(
        out,
        "</section>\n</div>\n</main>\n<footer>Everything of the run: <code>{}</code> · Cuecard {}</footer>\n</body>\n</html>\n",
        escaped(&report.folder),
        env!("CARGO_PKG_VERSION"),
    )
}

/// What was found, with all that explains it.
fn finding(found: &Diagnostic, out: &mut impl Write) -> io::Result<()> {
    let (state, mark, word) = match found.severity {
        Severity::Error => ("fail", "✗", "error"),
        _ => ("warn", "!", "warning"),
    };
    let place = found.place.as_ref().map(|place| {
        let position = place.source.position(place.span.start);
        format!(
            "{}:{}:{}",
            place.source.name(),
            position.line,
            position.column
        )
    });
    write!(
        out,
        "<details class=\"test finding\"{}><summary class=\"test-head\"><span class=\"mark {state}\" role=\"img\" aria-label=\"{word}\">{mark}</span>\
         <span class=\"name\">{}<small>{}</small></span><span class=\"tally\">{}</span></summary><div class=\"test-body\">",
        if found.severity == Severity::Error {
            " open"
        } else {
            ""
        },
        escaped(&without_credentials(&found.message)),
        escaped(&place.unwrap_or_default()),
        found.code.name(),
    )?;
    if !found.notes.is_empty() {
        write!(
            out,
            "<pre>{}</pre>",
            escaped(&without_credentials(&found.notes.join("\n")))
        )?;
    }
    if let Some(help) = &found.help {
        write!(out, "<p class=\"note\"><b>help</b> {}</p>", escaped(help))?;
    }
    out.write_all(b"</div></details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::diagnostic::codes;

    #[test]
    fn nothing_on_the_page_is_markup_of_others() {
        let findings = [
            Diagnostic::error(codes::TERMINAL_GOLDEN, "a <b>bold</b> screen")
                .with_note("the screen at that moment:\n<script>alert(1)</script>")
                .with_help("look & see"),
        ];
        let report = RunReport {
            name: "<name>",
            file: "a.yaml",
            status: ("failed", false),
            facts: "1 check",
            events: vec![RunReportEvent {
                at: Duration::from_millis(1500),
                place: "timeline[1]",
                what: "typed \"<x>\"",
                holds: Some(false),
            }],
            findings: &findings,
            screens: vec![("first", "<svg/>".to_owned())],
            folder: "/run".to_owned(),
        };
        let mut page = Vec::new();
        write(&report, &mut page).expect("written");
        let page = String::from_utf8(page).expect("text");
        for part in [
            "&lt;name&gt; failed",
            "1.50 s",
            "&lt;script&gt;",
            "look &amp; see",
            "data:image/svg+xml;base64,PHN2Zy8+",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<script"));
    }
}
