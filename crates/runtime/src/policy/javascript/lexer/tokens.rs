//! Strings, comments, regular expressions, numbers and words.

use super::super::super::source::Symbol;
use super::super::{Place, literal};
use super::{Callee, Lexer, Previous, is_line_end, is_name};

impl Lexer<'_> {
    pub(super) fn string(&mut self, quote: char) {
        let mut escape = Escape::None;
        loop {
            match self.bump() {
                Some(Symbol::Char('\\')) if escape != Escape::Start => escape = Escape::Start,
                Some(Symbol::Char(character)) if character == quote && escape != Escape::Start => {
                    break;
                }
                Some(Symbol::Char('\n')) if escape == Escape::Return => escape = Escape::None,
                Some(Symbol::Char('\n' | '\r')) if escape != Escape::Start => {
                    return self.doubt("a string goes over the end of its line");
                }
                Some(Symbol::Char(character)) => escape = escape.next(character),
                Some(Symbol::Data(piece)) => {
                    if escape != Escape::None {
                        self.misplace(piece, Place::Escape);
                    }
                    escape = Escape::None;
                    let literal = literal::in_quotes(&self.source.data[piece].text);
                    self.bind(piece, &literal);
                }
                None => return self.doubt("a string isn't closed"),
            }
        }
        self.previous = Previous::Value;
    }

    pub(super) fn line_comment(&mut self) {
        self.read.ends_in_comment = true;
        while let Some(&symbol) = self.source.symbols.get(self.at) {
            match symbol {
                Symbol::Char(character) if is_line_end(character) => return,
                Symbol::Char(_) => drop(self.bump()),
                Symbol::Data(piece) => {
                    self.bump();
                    self.misplace(piece, Place::Comment);
                }
            }
        }
    }

    pub(super) fn block_comment(&mut self, was_line_start: bool) {
        self.is_line_start = was_line_start;
        self.bump();
        loop {
            match self.bump() {
                Some(Symbol::Char(character)) if is_line_end(character) => {
                    self.is_line_start = true;
                }
                Some(Symbol::Char('*')) if self.peek() == Some('/') => {
                    self.bump();
                    return;
                }
                Some(Symbol::Char(_)) => {}
                Some(Symbol::Data(piece)) => self.misplace(piece, Place::Comment),
                None => return self.doubt("a comment isn't closed"),
            }
        }
    }

    /// A division or a regular expression.
    pub(super) fn slash(&mut self) {
        match self.previous {
            Previous::Value => return self.previous = Previous::Operator('/'),
            Previous::Operator(_) | Previous::Keyword => {}
            Previous::Head | Previous::Property | Previous::Declaration | Previous::Either => {
                return self.doubt("a `/` may begin a regular expression or divide");
            }
        }
        let mut is_in_class = false;
        loop {
            match self.bump() {
                Some(Symbol::Char('\\')) => match self.bump() {
                    Some(Symbol::Data(piece)) => self.misplace(piece, Place::Regex),
                    Some(Symbol::Char(character)) if !is_line_end(character) => {}
                    _ => return self.doubt("a regular expression isn't closed"),
                },
                Some(Symbol::Char('[')) => is_in_class = true,
                Some(Symbol::Char(']')) => is_in_class = false,
                Some(Symbol::Char('/')) if !is_in_class => break,
                Some(Symbol::Char(character)) if !is_line_end(character) => {}
                Some(Symbol::Data(piece)) => self.misplace(piece, Place::Regex),
                _ => return self.doubt("a regular expression isn't closed"),
            }
        }
        while self.peek().is_some_and(is_name) {
            self.bump();
        }
        self.previous = Previous::Value;
    }

    pub(super) fn number(&mut self, first: char) {
        let is_hex = first == '0' && matches!(self.peek(), Some('x' | 'X'));
        let mut last = first;
        while let Some(next) = self.peek() {
            let is_exponent_sign =
                !is_hex && matches!(last, 'e' | 'E') && matches!(next, '+' | '-');
            if !is_name(next) && next != '.' && !is_exponent_sign {
                break;
            }
            self.bump();
            last = next;
        }
        self.previous = Previous::Value;
    }

    pub(super) fn dot(&mut self) {
        if self.peek().is_some_and(|next| next.is_ascii_digit()) && self.previous != Previous::Value
        {
            self.number('.');
        } else if self.starts_with("..") {
            self.bump();
            self.bump();
            self.previous = Previous::Operator('.');
        } else {
            self.previous = Previous::Property;
        }
    }

    pub(super) fn word(&mut self, first: char) {
        let mut word = String::from(first);
        while let Some(next) = self.peek().filter(|&next| is_name(next)) {
            self.bump();
            // Longer words are no keywords.
            if word.len() < 32 {
                word.push(next);
            }
        }
        self.callee = match word.as_str() {
            "eval" | "Function" | "import" | "execScript" | "importScripts" => Some(Callee::Code),
            "setTimeout" | "setInterval" => Some(Callee::Timer),
            _ => None,
        };
        self.previous = match word.as_str() {
            _ if self.previous == Previous::Property => Previous::Value,
            "return" | "typeof" | "instanceof" | "in" | "void" | "delete" | "throw" | "case"
            | "do" | "else" | "default" | "new" | "extends" => Previous::Keyword,
            "if" | "while" | "for" | "with" => Previous::Head,
            // `for await (…)` is a head still.
            "await" if self.previous == Previous::Head => Previous::Head,
            "await" | "yield" | "of" => {
                if self.next_is_data() {
                    Previous::Keyword
                } else {
                    Previous::Either
                }
            }
            "const" | "let" | "var" | "function" | "class" | "import" | "export" => {
                Previous::Declaration
            }
            _ => Previous::Value,
        };
    }
}

/// How much of an escape in a string was read, since what follows could still belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// The backslash.
    Start,
    /// `\0` to `\7`, which old JavaScript continues with up to two more digits.
    Octal(u8),
    /// `\x` or `\u` that lacks this many digits.
    Hex(u8),
    /// `\u`, before a digit or a brace.
    Unicode,
    /// `\u{`.
    Braced,
    /// A backslash before a carriage return, which takes the line feed too.
    Return,
}

impl Escape {
    fn next(self, character: char) -> Self {
        match (self, character) {
            (Self::Start, '0'..='7') => Self::Octal(2),
            (Self::Start, 'x') => Self::Hex(2),
            (Self::Start, 'u') => Self::Unicode,
            (Self::Start, '\r') => Self::Return,
            (Self::Octal(2), '0'..='7') => Self::Octal(1),
            (Self::Unicode, '{') => Self::Braced,
            (Self::Unicode, _) => Self::Hex(3),
            (Self::Hex(missing), _) if missing > 1 => Self::Hex(missing - 1),
            (Self::Braced, character) if character != '}' => Self::Braced,
            _ => Self::None,
        }
    }
}
