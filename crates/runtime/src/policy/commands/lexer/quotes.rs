//! Quotes, backslashes, comments, and what begins with a `$` or a backtick.

use super::super::super::source::Symbol;
use super::super::words::Place;
use super::lists::Opener;
use super::{Frame, Lexer, MAX_BACKTICKS, Quotes, name_in};

impl Lexer<'_> {
    /// A `$` was read.
    pub(super) fn dollar(&mut self, is_in_double: bool) {
        match self.symbols.get(self.at) {
            Some(&Symbol::Data(piece)) => {
                self.misplace(piece, Place::AfterDollar);
                self.quoted('$');
            }
            None => self.quoted('$'),
            Some(&Symbol::Char(next)) => match next {
                '(' => {
                    self.bump();
                    self.word().expand();
                    if self.bump_if('(') {
                        self.frames.push(Frame::Arithmetic {
                            start: self.at,
                            depth: 0,
                            is_command: false,
                        });
                    } else {
                        self.substitute();
                        self.push_list(Opener::Parenthesis);
                    }
                }
                '{' => {
                    self.bump();
                    self.word().expand();
                    self.frames.push(Frame::Parameter {
                        start: self.at,
                        is_in_double,
                    });
                }
                '[' => {
                    self.doubt("some shells read `$[…]` as arithmetic");
                    self.quoted('$');
                }
                '\'' if !is_in_double => self.ansi_quotes(),
                // The quotes come next.
                '"' if !is_in_double => self.word().expand(),
                '\\' if self.peek_at(1) == Some('\n') => {
                    self.doubt("a `$` stands before a joined line");
                }
                '_' | 'a'..='z' | 'A'..='Z' => {
                    let start = self.at;
                    while self
                        .peek()
                        .is_some_and(|next| next == '_' || next.is_ascii_alphanumeric())
                    {
                        self.bump();
                    }
                    self.lexed.facts.moves_data |= self.at == start + 1 && next == '_';
                    let name = name_in(&self.symbols[start..self.at]);
                    self.word().expand();
                    self.word().names.push(name);
                }
                '0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-' => {
                    self.bump();
                    self.word().expand();
                    self.word().names.push(next.to_string());
                }
                _ => self.quoted('$'),
            },
        }
    }

    /// `$'…'`, which some shells read as a `$` before plain quotes.
    fn ansi_quotes(&mut self) {
        self.bump();
        self.word().is_quoted = true;
        self.word().expand();
        loop {
            match self.bump() {
                Some(Symbol::Char('\'')) => return,
                Some(Symbol::Char('\\')) => match self.bump() {
                    Some(Symbol::Char('\'')) => self.doubt("shells differ on `\\'` in `$'…'`"),
                    Some(Symbol::Char('\n')) => self.check_line_break(),
                    Some(Symbol::Char(_)) | None => {}
                    Some(Symbol::Data(piece)) => self.misplace(piece, Place::AnsiQuotes),
                },
                Some(Symbol::Char('\n')) => self.check_line_break(),
                Some(Symbol::Char(_)) => {}
                Some(Symbol::Data(piece)) => self.misplace(piece, Place::AnsiQuotes),
                None => return self.doubt("a quote isn't closed"),
            }
        }
    }

    pub(super) fn single_quotes(&mut self) {
        self.word().is_quoted = true;
        loop {
            match self.bump() {
                Some(Symbol::Char('\'')) => return,
                Some(Symbol::Char(character)) => {
                    if character == '\n' {
                        self.check_line_break();
                    }
                    self.quoted(character);
                }
                Some(Symbol::Data(piece)) => self.bind(piece, Quotes::Single),
                None => return self.doubt("a quote isn't closed"),
            }
        }
    }

    /// `` `…` `` ends at the next backtick without a backslash; what is in it is read anew.
    pub(super) fn backticks(&mut self, is_in_double: bool) {
        self.substitute();
        let mut content = Vec::new();
        loop {
            match self.bump() {
                Some(Symbol::Char('`')) => break,
                Some(Symbol::Char('\\')) => match self.bump() {
                    Some(Symbol::Char(escaped @ ('`' | '\\' | '$'))) => {
                        content.push(Symbol::Char(escaped));
                    }
                    Some(Symbol::Char(other)) => {
                        content.extend([Symbol::Char('\\'), Symbol::Char(other)]);
                    }
                    Some(Symbol::Data(piece)) => self.misplace(piece, Place::Backticks),
                    None => {}
                },
                Some(Symbol::Char(character)) => {
                    if character == '\n' {
                        self.check_line_break();
                    }
                    if character == '"' && is_in_double {
                        self.doubt("there are quotes between backticks in quotes");
                    }
                    content.push(Symbol::Char(character));
                }
                Some(Symbol::Data(piece)) => self.misplace(piece, Place::Backticks),
                None => return self.doubt("a backtick isn't closed"),
            }
        }
        if self.backticks == MAX_BACKTICKS {
            return self.doubt("its backticks are nested too deeply");
        }
        let nested = Lexer::new(&content, self.source, self.variables, self.backticks + 1).run();
        self.lexed.commands.extend(nested.commands);
        self.lexed.facts.add(nested.facts);
        if let Some(doubt) = nested.doubt {
            self.doubt(doubt);
        }
    }

    /// A backslash outside single quotes was read.
    pub(super) fn backslash(&mut self) {
        match self.bump() {
            None => self.doubt("it ends in a backslash"),
            Some(Symbol::Data(piece)) => {
                self.misplace(piece, Place::AfterBackslash);
                self.bind(piece, Quotes::Double);
            }
            Some(Symbol::Char('\n')) => {
                // The line goes on. An operator over two lines is read as one by shells, and as two here.
                let is_joined = |symbol: Option<&Symbol>| {
                    matches!(
                        symbol,
                        Some(Symbol::Char('$' | '<' | '>' | '&' | '|' | ';' | '(' | ')'))
                    )
                };
                let before = self
                    .at
                    .checked_sub(3)
                    .and_then(|before| self.symbols.get(before));
                if is_joined(before) && is_joined(self.symbols.get(self.at)) {
                    self.doubt("an operator goes over two lines");
                }
            }
            Some(Symbol::Char(character)) => {
                match self.frames.last() {
                    None | Some(Frame::List) => self.word().is_quoted = true,
                    // In quotes a backslash means itself before most characters.
                    Some(Frame::Double) if !matches!(character, '$' | '`' | '"' | '\\') => {
                        self.quoted('\\');
                    }
                    _ => {}
                }
                self.quoted(character);
            }
        }
    }

    pub(super) fn comment(&mut self) {
        if self.list().is_in_test() {
            self.doubt("there is a `#` in `[[ … ]]`");
        }
        while let Some(&symbol) = self.symbols.get(self.at) {
            match symbol {
                Symbol::Char('\n') => return,
                Symbol::Char(_) => {}
                Symbol::Data(piece) => self.misplace(piece, Place::Comment),
            }
            self.bump();
        }
    }
}
