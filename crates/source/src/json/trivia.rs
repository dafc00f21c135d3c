//! What stands between tokens: whitespace, and what people take for it.

use super::error::JsonErrorKind;
use super::is_invisible;
use super::reader::Reader;
use crate::Span;

impl Reader<'_> {
    /// Reports and skips a byte order mark at the start.
    pub(super) fn skip_byte_order_mark(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
            self.report(JsonErrorKind::ByteOrderMark, Span::new(0, self.at));
        }
    }

    /// Skips whitespace; reports and skips comments and characters nobody sees. Where a value may stand, a `#` that
    /// touches a word is left alone, since it more likely begins a value without quotes than a comment.
    pub(super) fn skip_trivia(&mut self, value_may_stand: bool) {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
                self.at += 1;
            }
            match self.peek() {
                Some(b'/') => match self.bytes.get(self.at + 1) {
                    Some(b'/') => self.skip_line_comment(),
                    Some(b'*') => self.skip_block_comment(),
                    _ => return,
                },
                Some(b'#') => {
                    let touches_word = self.char_at(self.at + 1).is_some_and(char::is_alphanumeric);
                    if value_may_stand && touches_word {
                        return;
                    }
                    self.skip_line_comment();
                }
                Some(byte) if !(b' '..0x7f).contains(&byte) => {
                    if !self.skip_invisible() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    fn skip_line_comment(&mut self) {
        let start = self.at;
        let rest = self.piece(start, self.bytes.len());
        let line = rest.split('\n').next().unwrap_or(rest).trim_end();
        self.at = start + line.len();
        self.report(JsonErrorKind::Comment, Span::new(start, self.at));
    }

    fn skip_block_comment(&mut self) {
        let start = self.at;
        match self.piece(start + 2, self.bytes.len()).find("*/") {
            Some(length) => {
                self.at = start + 2 + length + 2;
                self.report(JsonErrorKind::Comment, Span::new(start, self.at));
            }
            None => {
                self.at = self.bytes.len();
                self.report(JsonErrorKind::UnclosedComment, Span::new(start, start + 2));
            }
        }
    }

    /// Reports and skips a run of invisible characters; false if none stands here.
    fn skip_invisible(&mut self) -> bool {
        let start = self.at;
        let rest = self.piece(start, self.bytes.len());
        let hidden = |character: char| {
            is_invisible(character) && !matches!(character, ' ' | '\n' | '\r' | '\t')
        };
        let Some(character) = rest.chars().next().filter(|&first| hidden(first)) else {
            return false;
        };
        self.at = start
            + rest
                .find(|character| !hidden(character))
                .unwrap_or(rest.len());
        self.report(
            JsonErrorKind::InvisibleCharacter { character },
            Span::new(start, self.at),
        );
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::JsonErrorKind as Kind;
    use super::super::reader::tests::{finds, value_of};

    #[test]
    fn comments_are_reported_once_each_and_skipped() {
        let text = "// one\r\n{ /* two */ \"a\": 1, # three\n \"b\": 2 }//";
        finds(
            text,
            &[
                (Kind::Comment, "// one"),
                (Kind::Comment, "/* two */"),
                (Kind::Comment, "# three"),
                (Kind::Comment, "//"),
            ],
        );
        assert_eq!(value_of(text), serde_json::json!({"a": 1, "b": 2}));
        finds("[1] /* end", &[(Kind::UnclosedComment, "/*")]);
        finds("[1] /*/", &[(Kind::UnclosedComment, "/*")]);
    }

    #[test]
    fn a_byte_order_mark_is_an_error_of_its_own() {
        finds("\u{feff}{}", &[(Kind::ByteOrderMark, "\u{feff}")]);
        assert_eq!(value_of("\u{feff}{}"), serde_json::json!({}));
    }

    #[test]
    fn spaces_from_word_processors_are_named() {
        let kind = Kind::InvisibleCharacter {
            character: '\u{a0}',
        };
        finds("{\u{a0}\u{200b}\"a\": 1}", &[(kind, "\u{a0}\u{200b}")]);
        finds(
            "[1\u{0},2]",
            &[(Kind::InvisibleCharacter { character: '\0' }, "\0")],
        );
    }
}
