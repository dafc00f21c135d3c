//! What a text quotes.

use super::words;

/// A longer quotation, or one over several paragraphs, is no quotation: its end is missing.
const LONGEST: usize = 2000;
/// What is shorter is a word set off, not something that somebody said.
const FEWEST_WORDS: usize = 3;
const FEWEST_CHARACTERS: usize = 6;

/// The quoted spans of a folded text, without their marks and of some length.
pub(crate) fn quotes(folded: &str) -> Vec<&str> {
    let mut quotes = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    let mut characters = folded.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, next)| *next);
        let is_paragraph_break = character == '\n' && next == '\n';
        if is_paragraph_break || open.is_some_and(|(start, _)| at - start > LONGEST) {
            open = None;
        }
        match open {
            Some((start, closing)) if closes(character, closing) => {
                let quote = folded[start..at]
                    .trim()
                    .trim_end_matches(['.', ',', '!', '?', ';']);
                if is_long_enough(quote) {
                    quotes.push(quote);
                }
                open = None;
            }
            _ => {
                let is_beginning = !before.is_alphanumeric() && !next.is_whitespace();
                let closing = match character {
                    // Inches and minutes follow a digit.
                    '"' if is_beginning => Some('"'),
                    '\u{201c}' | '\u{201e}' | '\u{201f}' => Some('\u{201d}'),
                    '\u{ab}' => Some('\u{bb}'),
                    '\u{bb}' if is_beginning => Some('\u{ab}'),
                    '\u{300c}' => Some('\u{300d}'),
                    '\u{300e}' => Some('\u{300f}'),
                    _ => None,
                };
                if let Some(closing) = closing {
                    open = Some((at + character.len_utf8(), closing));
                }
            }
        }
        before = character;
    }
    quotes
}

fn closes(character: char, closing: char) -> bool {
    character == closing || (closing == '\u{201d}' && matches!(character, '\u{201c}' | '"'))
}

fn is_long_enough(quote: &str) -> bool {
    words(quote).take(FEWEST_WORDS).count() == FEWEST_WORDS
        || quote
            .chars()
            .filter(|character| super::words::is_unspaced(*character))
            .take(FEWEST_CHARACTERS)
            .count()
            == FEWEST_CHARACTERS
}
