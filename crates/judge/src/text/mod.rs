//! What can be read out of plain text without understanding it: words, sentences, numbers, dates, links, quotes
//! and names. Everything works on folded text, see [`fold`].

mod language;
mod links;
mod names;

pub(super) use language::{detect, language_called};
pub(super) use links::{dois, domains, emails, host_of, normal_url, urls};
pub(super) use names::attributions;

pub(super) use crate::prove::fold;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Match, Regex};

/// Folded text as it is searched literally: lower case, single spaces, plain double quotes, no emphasis marks.
pub(super) fn plain(folded: &str) -> String {
    let mut plain = String::with_capacity(folded.len());
    let mut is_space = true;
    for character in folded.chars() {
        match character {
            '*' | '_' | '`' => {}
            '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => {
                plain.push('"');
                is_space = false;
            }
            '\u{2013}' | '\u{2014}' => {
                plain.push('-');
                is_space = false;
            }
            space if space.is_whitespace() => {
                if !is_space {
                    plain.push(' ');
                }
                is_space = true;
            }
            other => {
                plain.extend(other.to_lowercase());
                is_space = false;
            }
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

/// The words of a folded text: runs of letters and digits, with apostrophes inside them.
pub(super) fn words(folded: &str) -> impl Iterator<Item = Match<'_>> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[\p{Alphabetic}\p{N}](?:[\p{Alphabetic}\p{N}\p{M}]|'\p{Alphabetic})*")
            .expect("a fixed pattern")
    });
    WORD.find_iter(folded)
}

/// Letters and digits alone, in lower case: what is left when everything that may be written in several ways goes.
pub(super) fn squeeze(text: &str) -> String {
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The same text with spaces in place of `ranges`, byte for byte as long.
pub(super) fn blank(text: &str, ranges: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut blanked = String::with_capacity(text.len());
    let mut ranges: Vec<Range<usize>> = ranges.into_iter().collect();
    ranges.sort_by_key(|range| range.start);
    for range in ranges {
        let start = range.start.max(blanked.len());
        if range.end > start {
            blanked.push_str(&text[blanked.len()..start]);
            blanked.extend(std::iter::repeat_n(' ', range.end - start));
        }
    }
    blanked.push_str(&text[blanked.len()..]);
    blanked
}

/// Text as it is shown in a message: on one line, and not too long.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 100;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests;
