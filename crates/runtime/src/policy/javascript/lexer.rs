//! A lexer that knows where in JavaScript it is: in code, a string, a template, a regular expression or a comment.
//!
//! It reads only as much as that takes. Where the language needs a full parser to go on (a `/` after `}` is a division
//! or a regular expression), it says so instead of guessing, and data is refused.

mod tokens;

use super::super::source::{Source, Symbol};
use super::Place;
use super::literal;

/// How deeply brackets and templates may be nested.
const MAX_DEPTH: usize = 500;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The script with data as literals.
    pub(super) output: String,
    /// The first data that stands where it can't be bound.
    pub(super) misplaced: Option<(usize, Place)>,
    /// Why the lexer may be wrong about the places.
    pub(super) doubt: Option<&'static str>,
    /// Whether what is put after the script would be in a comment.
    pub(super) ends_in_comment: bool,
}

pub(super) fn read(source: &Source<'_>) -> Read {
    Lexer {
        source,
        at: 0,
        frames: Vec::new(),
        previous: Previous::Operator(' '),
        callee: None,
        is_line_start: true,
        read: Read::default(),
    }
    .run()
}

/// An open bracket or template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Parenthesis {
        /// Of `if`, `while`, `for` or `with`: a statement follows.
        is_head: bool,
        callee: Option<Callee>,
        /// Whether a comma at this level was seen.
        is_past_first: bool,
    },
    Bracket,
    Brace,
    Template,
    /// `${…}` in a template.
    Substitution,
}

/// A function whose arguments are code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Callee {
    /// `eval`, `Function`, `import`.
    Code,
    /// `setTimeout`: its first argument, if it is text.
    Timer,
}

/// What came before, which decides what a `/` and what a literal mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// An expression may begin here, after this character.
    Operator(char),
    /// `return`, `typeof` and the like: an expression may begin.
    Keyword,
    /// `if`, `while`, `for`, `with`.
    Head,
    /// A value ended.
    Value,
    /// `.` or `#`: the name of a property follows.
    Property,
    /// `const`, `function` and the like: a name follows.
    Declaration,
    /// `}`, `++`, `--`, or a word that is a keyword only sometimes.
    Either,
}

struct Lexer<'source> {
    source: &'source Source<'source>,
    at: usize,
    frames: Vec<Frame>,
    previous: Previous,
    /// Set by the last word, for a `(` after it.
    callee: Option<Callee>,
    is_line_start: bool,
    read: Read,
}

impl Lexer<'_> {
    fn run(mut self) -> Read {
        if self.starts_with("#!") {
            self.doubt("it begins with `#!`");
        }
        while let Some(symbol) = self.bump() {
            if self.frames.len() > MAX_DEPTH {
                self.doubt("its brackets are nested too deeply");
            }
            self.read.ends_in_comment = false;
            match symbol {
                Symbol::Char(character) if self.frames.last() == Some(&Frame::Template) => {
                    self.template(character);
                }
                Symbol::Data(piece) if self.frames.last() == Some(&Frame::Template) => {
                    // A substitution is text here and stays data for a tag function.
                    let literal = literal::string(&self.source.data[piece].text);
                    self.bind(piece, &format!("${{{literal}}}"));
                }
                Symbol::Char(character) => self.code(character),
                Symbol::Data(piece) => self.code_data(piece),
            }
        }
        if !self.frames.is_empty() {
            self.doubt("a bracket or a template isn't closed");
        }
        self.read
    }

    fn code(&mut self, character: char) {
        let was_line_start = self.is_line_start;
        if is_line_end(character) {
            self.is_line_start = true;
            return;
        }
        if character.is_whitespace() || character == '\u{feff}' {
            return;
        }
        self.is_line_start = false;
        let callee = self.callee.take();
        match character {
            '/' if self.peek() == Some('/') => {
                self.line_comment();
                self.callee = callee;
            }
            '/' if self.peek() == Some('*') => {
                self.block_comment(was_line_start);
                self.callee = callee;
            }
            '/' => self.slash(),
            '\'' | '"' => self.string(character),
            '`' => {
                if callee == Some(Callee::Code) {
                    self.doubt("a template stands where code is made of text");
                }
                self.frames.push(Frame::Template);
            }
            '(' => {
                self.frames.push(Frame::Parenthesis {
                    is_head: self.previous == Previous::Head,
                    callee,
                    is_past_first: false,
                });
                self.previous = Previous::Operator('(');
            }
            '[' => self.open(Frame::Bracket, '['),
            '{' => self.open(Frame::Brace, '{'),
            ')' | ']' | '}' => self.close(character),
            '0'..='9' => self.number(character),
            '.' => self.dot(),
            '+' | '-' if self.peek() == Some(character) => {
                self.bump();
                if character == '-' && was_line_start && self.peek() == Some('>') {
                    self.doubt("`-->` at the start of a line may be a comment");
                }
                self.previous = match self.previous {
                    Previous::Operator(_) | Previous::Keyword => Previous::Operator(character),
                    _ => Previous::Either,
                };
            }
            '<' if self.starts_with("!--") => self.doubt("`<!--` may be a comment"),
            '\\' => self.doubt("a name is written with a backslash"),
            ',' => {
                if let Some(Frame::Parenthesis { is_past_first, .. }) = self.frames.last_mut() {
                    *is_past_first = true;
                }
                self.previous = Previous::Operator(',');
            }
            '#' => self.previous = Previous::Property,
            '?' if self.peek() == Some('.')
                && !self.peek_at(1).is_some_and(|next| next.is_ascii_digit()) =>
            {
                self.bump();
                // `eval?.(x)` is a call as well.
                self.callee = callee;
                self.previous = Previous::Property;
            }
            character if is_name(character) => self.word(character),
            other => self.previous = Previous::Operator(other),
        }
    }

    fn code_data(&mut self, piece: usize) {
        self.is_line_start = false;
        self.callee = None;
        let is_key = self.frames.last() == Some(&Frame::Brace)
            && matches!(self.previous, Previous::Operator('{' | ','))
            && self.next_visible() == Some(':');
        match self.previous {
            _ if is_key => self.misplace(piece, Place::Name),
            Previous::Operator(_) | Previous::Keyword => {}
            Previous::Property | Previous::Declaration => self.misplace(piece, Place::Name),
            Previous::Head | Previous::Value | Previous::Either => {
                self.misplace(piece, Place::AfterValue);
            }
        }
        let literal = literal::expression(&self.source.data[piece].text);
        self.bind(piece, &literal);
        self.previous = Previous::Value;
    }

    fn template(&mut self, character: char) {
        match character {
            '`' => {
                self.frames.pop();
                self.previous = Previous::Value;
            }
            '\\' => self.escaped(),
            '$' if self.peek() == Some('{') => {
                self.bump();
                self.open(Frame::Substitution, '{');
            }
            _ => {}
        }
    }

    /// The character after a backslash.
    fn escaped(&mut self) {
        if let Some(Symbol::Data(piece)) = self.bump() {
            self.misplace(piece, Place::Escape);
        }
    }

    fn open(&mut self, frame: Frame, character: char) {
        self.frames.push(frame);
        self.previous = Previous::Operator(character);
    }

    fn close(&mut self, character: char) {
        self.previous = match (character, self.frames.pop()) {
            (')', Some(Frame::Parenthesis { is_head: true, .. })) => Previous::Operator(')'),
            (')', Some(Frame::Parenthesis { is_head: false, .. }))
            | (']', Some(Frame::Bracket)) => Previous::Value,
            ('}', Some(Frame::Brace)) => Previous::Either,
            ('}', Some(Frame::Substitution)) => return,
            _ => return self.doubt("the brackets don't match"),
        };
    }

    /// Writes `literal` for a piece of data, unless it would be run.
    fn bind(&mut self, piece: usize, literal: &str) {
        let is_inside_code = self.frames.iter().take(MAX_DEPTH).any(|frame| {
            matches!(
                frame,
                Frame::Parenthesis {
                    callee: Some(Callee::Code),
                    ..
                }
            )
        });
        let nearest = self
            .frames
            .iter()
            .rev()
            .take(MAX_DEPTH)
            .find(|frame| !matches!(frame, Frame::Template | Frame::Substitution));
        let is_timer_text = matches!(
            nearest,
            Some(Frame::Parenthesis {
                callee: Some(Callee::Timer),
                is_past_first: false,
                ..
            })
        );
        if is_inside_code || is_timer_text {
            self.misplace(piece, Place::Evaluated);
        }
        self.read.output.push_str(literal);
    }

    fn misplace(&mut self, piece: usize, place: Place) {
        self.read.misplaced.get_or_insert((piece, place));
    }

    fn doubt(&mut self, reason: &'static str) {
        self.read.doubt.get_or_insert(reason);
    }

    /// The next symbol; a character goes to the output.
    fn bump(&mut self) -> Option<Symbol> {
        let symbol = *self.source.symbols.get(self.at)?;
        self.at += 1;
        if let Symbol::Char(character) = symbol {
            self.read.output.push(character);
        }
        Some(symbol)
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        match self.source.symbols.get(self.at + offset) {
            Some(Symbol::Char(character)) => Some(*character),
            _ => None,
        }
    }

    fn starts_with(&self, expected: &str) -> bool {
        expected
            .chars()
            .enumerate()
            .all(|(offset, character)| self.peek_at(offset) == Some(character))
    }

    fn next_is_data(&self) -> bool {
        matches!(
            self.source.symbols[self.at..].iter().find(
                |symbol| !matches!(symbol, Symbol::Char(character) if character.is_whitespace())
            ),
            Some(Symbol::Data(_))
        )
    }

    fn next_visible(&self) -> Option<char> {
        match self.source.symbols[self.at..]
            .iter()
            .find(|symbol| !matches!(symbol, Symbol::Char(character) if character.is_whitespace()))
        {
            Some(Symbol::Char(character)) => Some(*character),
            _ => None,
        }
    }
}

/// More than the language allows in a name outside ASCII, where nothing else has a meaning.
fn is_name(character: char) -> bool {
    character == '_'
        || character == '$'
        || character.is_ascii_alphanumeric()
        || (!character.is_ascii() && !character.is_whitespace() && character != '\u{feff}')
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
