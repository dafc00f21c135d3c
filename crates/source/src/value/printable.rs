//! Text from files and peers, so that it may be shown on a terminal.

use std::borrow::Cow;

/// `text` on one line, such that it never moves the cursor, changes colours or turns the direction of what stands
/// around it: control characters become spaces, marks of direction U+FFFD.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, char::is_control)
}

/// The same, with its line ends.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |character| {
        character.is_control() && character != '\n'
    })
}

/// Whether a character changes the direction of the text behind it until it is told otherwise.
pub fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn replaced(text: &str, is_space: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Most text is plain.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        || !text.contains(|character| is_space(character) || turns_direction(character))
    {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(|character| match character {
            character if is_space(character) => ' ',
            character if turns_direction(character) => char::REPLACEMENT_CHARACTER,
            character => character,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor_or_turns_the_text() {
        let text = "a\u{1b}[31mb\tc\nd\u{7}\u{9b}2J \u{202e}txt.exe\u{2066}";
        assert_eq!(printable(text), "a [31mb c d  2J \u{fffd}txt.exe\u{fffd}");
        assert_eq!(printable_lines("a\nb\rc"), "a\nb c");
    }

    #[test]
    fn plain_text_is_not_copied() {
        for text in ["plain", "grün ✓ שלום"] {
            assert!(matches!(printable(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
