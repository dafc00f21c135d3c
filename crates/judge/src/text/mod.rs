//! What can be read out of plain text without understanding it: words, sentences, numbers, dates, links, quotes
//! and names. Everything works on folded text, see [`fold`].

mod language;
mod links;
mod names;
mod words;

pub(super) use language::{Language, detect, language_called};
pub(super) use links::{dois, domains, emails, host_of, normal_url, urls};
pub(super) use names::{NameSpan, attributions};
pub(super) use words::words;

use std::ops::Range;

/// The same text with one sign for each meaning: straight quotes, one apostrophe, one minus, ASCII digits, and
/// nothing that can't be seen. Case and line breaks stay.
pub(super) fn fold(text: &str) -> String {
    text.chars().filter_map(fold_character).collect()
}

fn fold_character(character: char) -> Option<char> {
    let digit = |zero: char| {
        char::from_digit(u32::from(character) - u32::from(zero), 10).or(Some(character))
    };
    match character {
        hidden if cuecard_source::value::is_invisible(hidden) => None,
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{ff07}' => Some('\''),
        '\u{2212}' | '\u{2010}' | '\u{2011}' | '\u{ff0d}' => Some('-'),
        '\u{ff05}' | '\u{66a}' => Some('%'),
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => Some('\u{a0}'),
        '\r' => Some('\n'),
        '\u{ff10}'..='\u{ff19}' => digit('\u{ff10}'),
        '\u{660}'..='\u{669}' => digit('\u{660}'),
        '\u{6f0}'..='\u{6f9}' => digit('\u{6f0}'),
        '\u{966}'..='\u{96f}' => digit('\u{966}'),
        other => Some(other),
    }
}

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
