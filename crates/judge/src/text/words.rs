//! Words.

/// A word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// As it is written.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
}

impl Word<'_> {
    /// Where it ends, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words of a folded text: runs of letters and digits, with apostrophes inside them.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + folded[rest..].find(char::is_alphanumeric)?;
        let mut end = start;
        let mut characters = folded[start..].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let goes_on = character.is_alphanumeric()
                || is_mark(character)
                || (character == '\''
                    && characters
                        .peek()
                        .is_some_and(|(_, next)| next.is_alphabetic()));
            if !goes_on {
                break;
            }
            end = start + at + character.len_utf8();
        }
        rest = end;
        Some(Word {
            text: &folded[start..end],
            start,
        })
    })
}

/// Accents and vowel signs that follow their letter.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}
