//! A lexer for the shell: it knows for each character whether it is quoted, and for each word what it is for.
//!
//! It reads what sh, dash and bash read alike. Where they differ, or where it would have to guess, it notes a doubt, and
//! data in such a script is refused. Data is one symbol here, so what is in it can't change how the script is read.

mod lists;
mod operators;
mod quotes;

use super::super::source::{Source, Symbol, is_integer};
use super::words::{Lexed, Place, Word};
use lists::{List, Opener};

/// How deeply quotes and substitutions may be nested.
const MAX_DEPTH: usize = 64;
/// How deeply backticks may be nested, where each level is read anew.
const MAX_BACKTICKS: usize = 4;

/// Reads `source`, binding each piece of data to the variable of the same index.
pub(super) fn lex(source: &Source<'_>, variables: &[String]) -> Lexed {
    Lexer::new(&source.symbols, source, variables, 0).run()
}

/// What is open around the current character, beside the lists of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// A list of commands in parentheses: [`Lexer::inner`] has the list.
    List,
    /// `"…"`
    Double,
    /// `${…}`
    Parameter { start: usize, is_in_double: bool },
    /// `$((…))`, `((…))`
    Arithmetic {
        start: usize,
        depth: usize,
        is_command: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

struct Lexer<'source> {
    symbols: &'source [Symbol],
    at: usize,
    source: &'source Source<'source>,
    variables: &'source [String],
    frames: Vec<Frame>,
    /// The commands of the script itself.
    script: List,
    /// The commands of the open substitutions and subshells.
    inner: Vec<List>,
    backticks: usize,
    lexed: Lexed,
}

impl<'source> Lexer<'source> {
    fn new(
        symbols: &'source [Symbol],
        source: &'source Source<'source>,
        variables: &'source [String],
        backticks: usize,
    ) -> Self {
        Self {
            symbols,
            at: 0,
            source,
            variables,
            frames: Vec::new(),
            script: List::new(Opener::Script),
            inner: Vec::new(),
            backticks,
            lexed: Lexed::default(),
        }
    }

    fn run(mut self) -> Lexed {
        while self.frames.len() <= MAX_DEPTH {
            let frame = self.frames.last().copied().unwrap_or(Frame::List);
            let Some(symbol) = self.bump() else {
                self.end();
                return self.lexed;
            };
            match (frame, symbol) {
                (Frame::List, Symbol::Char(character)) => self.in_list(character),
                (Frame::List, Symbol::Data(piece)) => self.bind(piece, Quotes::None),
                (Frame::Double, Symbol::Char(character)) => self.in_double(character),
                (Frame::Double, Symbol::Data(piece)) => self.bind(piece, Quotes::Double),
                (
                    Frame::Parameter {
                        start,
                        is_in_double,
                    },
                    Symbol::Char(character),
                ) => {
                    self.in_parameter(character, start, is_in_double);
                }
                (
                    Frame::Arithmetic {
                        start,
                        depth,
                        is_command,
                    },
                    Symbol::Char(character),
                ) => {
                    self.in_arithmetic(character, start, depth, is_command);
                }
                // Refused, or an integer.
                (Frame::Parameter { .. } | Frame::Arithmetic { .. }, Symbol::Data(piece)) => {
                    self.bind(piece, Quotes::Double);
                }
            }
        }
        self.doubt("its quotes and brackets are nested too deeply");
        self.lexed
    }

    /// The end of the text.
    fn end(&mut self) {
        if !self.frames.is_empty() {
            self.doubt("a quote or a bracket isn't closed");
        }
        self.end_command();
        if !self.script.here_documents.is_empty() {
            self.doubt("a here-document isn't closed");
        }
        if self.script.open_cases > 0 {
            self.doubt("a `case` isn't closed");
        }
    }

    fn in_list(&mut self, character: char) {
        match character {
            ' ' | '\t' => self.end_word(),
            '\n' => self.newline(),
            '\\' => self.backslash(),
            '\'' => self.single_quotes(),
            '"' => {
                self.word().is_quoted = true;
                self.frames.push(Frame::Double);
            }
            '$' => self.dollar(false),
            '`' => self.backticks(false),
            '#' if self.list().word.is_none() => self.comment(),
            ';' | '&' | '|' => self.operator(character),
            '(' => self.open(),
            ')' => self.close(),
            '<' | '>' => self.angle(character),
            other => self.plain(other),
        }
    }

    fn in_double(&mut self, character: char) {
        match character {
            '"' => drop(self.frames.pop()),
            '\\' => self.backslash(),
            '$' => self.dollar(true),
            '`' => self.backticks(true),
            '\n' => {
                self.check_line_break();
                self.quoted('\n');
            }
            other => self.quoted(other),
        }
    }

    fn in_parameter(&mut self, character: char, start: usize, is_in_double: bool) {
        match character {
            '}' => {
                self.frames.pop();
                let content = &self.symbols[start..self.at - 1];
                self.lexed.facts.evaluates_variables |= evaluates(content);
                self.lexed.facts.moves_data |= assigns(content);
                let name = name_in(content);
                self.word().names.push(name);
            }
            '\\' => self.backslash(),
            '"' | '\'' if is_in_double => self.doubt("there are quotes in a `${…}` in quotes"),
            '"' => self.frames.push(Frame::Double),
            '\'' => self.single_quotes(),
            '$' => self.dollar(is_in_double),
            '`' => self.backticks(is_in_double),
            '<' | '>' if self.peek() == Some('(') => {
                self.doubt("there is a process substitution in a `${…}`");
            }
            '\n' => self.check_line_break(),
            _ => {}
        }
    }

    fn in_arithmetic(&mut self, character: char, start: usize, depth: usize, is_command: bool) {
        match character {
            '(' | ')' if depth > 0 || character == '(' => {
                let depth = if character == '(' {
                    depth + 1
                } else {
                    depth - 1
                };
                if let Some(frame) = self.frames.last_mut() {
                    *frame = Frame::Arithmetic {
                        start,
                        depth,
                        is_command,
                    };
                }
            }
            ')' => {
                let content = &self.symbols[start..self.at - 1];
                self.lexed.facts.evaluates_variables |= content.iter().any(
                    |symbol| matches!(symbol, Symbol::Char(c) if c.is_alphabetic() || matches!(c, '_' | '$' | '`')),
                );
                if !self.bump_if(')') {
                    self.doubt("a `((` isn't closed by `))`");
                }
                self.frames.pop();
                if is_command {
                    // What was expanded in it is no word, and data in it was judged by its value.
                    self.list().word = None;
                }
            }
            '$' => self.dollar(true),
            '`' => self.backticks(true),
            '"' | '\'' | '\\' | '{' | '}' => self.doubt("there are quotes or braces in arithmetic"),
            ';' if !is_command => self.doubt("there is a `;` in arithmetic"),
            // `16#ff` is a number; elsewhere it may begin a comment.
            '#' if !self.follows_digit() => self.doubt("there is a `#` in arithmetic"),
            '\n' => self.check_line_break(),
            _ => {}
        }
    }

    /// A character of a word that means itself.
    fn plain(&mut self, character: char) {
        let word = self.word();
        match character {
            '=' if !word.has_equals => {
                word.has_equals = true;
                word.assignment = is_assignable(word).then_some(word.text.len());
            }
            '*' | '?' | '[' | '{' => word.is_pattern = true,
            '~' if word.text.is_empty() && word.is_literal() => word.has_tilde = true,
            _ => {}
        }
        word.text.push(character);
    }

    /// A character of a word that is quoted, or could only be.
    fn quoted(&mut self, character: char) {
        // The text of `${…}` and arithmetic is no text of the word.
        if matches!(self.frames.last(), None | Some(Frame::List | Frame::Double)) {
            self.word().text.push(character);
        }
    }

    /// Writes the variable of a piece of data.
    fn bind(&mut self, piece: usize, quotes: Quotes) {
        let is_in = |wanted: fn(&Frame) -> bool| self.frames.iter().any(wanted);
        let is_in_arithmetic = is_in(|frame| matches!(frame, Frame::Arithmetic { .. }));
        if is_in(|frame| matches!(frame, Frame::Parameter { .. })) {
            self.misplace(piece, Place::Parameter);
        } else if is_in_arithmetic && !is_integer(&self.source.data[piece].text) {
            self.misplace(piece, Place::Arithmetic);
        }
        let variable = &self.variables[piece];
        let output = &mut self.lexed.output;
        let is_directly_in_arithmetic =
            matches!(self.frames.last(), Some(Frame::Arithmetic { .. }));
        match quotes {
            Quotes::None => output.push_str(&format!("\"${{{variable}}}\"")),
            Quotes::Single => output.push_str(&format!("'\"${{{variable}}}\"'")),
            Quotes::Double if is_directly_in_arithmetic => {
                output.push_str(&format!("(${{{variable}}})"));
            }
            Quotes::Double => output.push_str(&format!("${{{variable}}}")),
        }
        let number = self.lexed.uses.len();
        let word = self.word();
        if !is_directly_in_arithmetic {
            word.data.push((number, word.text.len()));
        }
        self.lexed.uses.push(piece);
    }

    fn misplace(&mut self, piece: usize, place: Place) {
        self.lexed.misplaced.get_or_insert((piece, place));
    }

    fn doubt(&mut self, reason: &'static str) {
        self.lexed.doubt.get_or_insert(reason);
    }

    /// The commands that are being read.
    fn list(&mut self) -> &mut List {
        match self.inner.last_mut() {
            Some(list) => list,
            None => &mut self.script,
        }
    }

    /// The word that is being read, or a new one.
    fn word(&mut self) -> &mut Word {
        let use_number = self.lexed.uses.len();
        self.list()
            .word
            .get_or_insert_with(|| Word::starting_at(use_number))
    }

    /// The output of a command stands here.
    fn substitute(&mut self) {
        self.lexed.facts.has_substitution = true;
        self.word().substitute();
    }

    /// The next symbol; a character goes to the output.
    fn bump(&mut self) -> Option<Symbol> {
        let symbol = *self.symbols.get(self.at)?;
        self.at += 1;
        if let Symbol::Char(character) = symbol {
            self.lexed.output.push(character);
        }
        Some(symbol)
    }

    fn bump_if(&mut self, character: char) -> bool {
        let is_next = self.peek() == Some(character);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        match self.symbols.get(self.at + offset) {
            Some(Symbol::Char(character)) => Some(*character),
            _ => None,
        }
    }

    /// Whether the character before the current one is a digit.
    fn follows_digit(&self) -> bool {
        self.at
            .checked_sub(2)
            .and_then(|before| self.symbols.get(before))
            .is_some_and(|symbol| matches!(symbol, Symbol::Char(c) if c.is_ascii_digit()))
    }
}

/// Whether the text of a word before a `=` is that of an assignment: `NAME`, `NAME+`, `NAME[…]`.
fn is_assignable(word: &Word) -> bool {
    let target = word.text.strip_suffix('+').unwrap_or(&word.text);
    let (name, subscript) = match target.split_once('[') {
        Some((name, rest)) => (name, Some(rest)),
        None => (target, None),
    };
    let after_name = |at: Option<usize>| at.is_none_or(|at| at > name.len());
    is_name(name)
        && !word.is_quoted
        && subscript.is_none_or(|rest| rest.ends_with(']'))
        && after_name(word.expansions.map(|(first, _)| first))
        && after_name(word.data.first().map(|&(_, at)| at))
}

/// Whether a variable may be called so.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The variable that the content of a `${…}` begins with: of `${#x}` and `${!x}` too.
fn name_in(content: &[Symbol]) -> String {
    let characters = content.iter().map_while(|symbol| match symbol {
        Symbol::Char(character) => Some(*character),
        Symbol::Data(_) => None,
    });
    let characters = characters.skip_while(|character| matches!(character, '!' | '#'));
    characters
        .take_while(|character| *character == '_' || character.is_alphanumeric())
        .collect()
}

/// Whether the content of a `${…}` puts something into a variable: `${x:=…}`.
fn assigns(content: &[Symbol]) -> bool {
    let is_in_name = |symbol: &&Symbol| matches!(symbol, Symbol::Char(c) if *c == '_' || c.is_ascii_alphanumeric());
    let name = content.iter().take_while(is_in_name).count();
    matches!(
        &content[name..],
        [Symbol::Char('='), ..] | [Symbol::Char(':'), Symbol::Char('='), ..]
    )
}

/// Whether the content of a `${…}` makes the shell evaluate what is in a variable: a subscript, a substring, an
/// indirection or a transformation.
fn evaluates(content: &[Symbol]) -> bool {
    let text: String = content
        .iter()
        .map(|symbol| match symbol {
            Symbol::Char(character) => *character,
            Symbol::Data(_) => '\u{fffd}',
        })
        .collect();
    let is_substring = text
        .split_once(':')
        .is_some_and(|(_, rest)| !rest.starts_with(['-', '=', '?', '+']));
    text.starts_with('!') || text.contains(['[', '@']) || is_substring
}
