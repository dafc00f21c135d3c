//! What stands between words: separators, brackets, redirections, line breaks and the here-documents after them.

use super::super::super::source::Symbol;
use super::super::words::{Operator, Place, Word};
use super::lists::{HereDocument, Opener, Position};
use super::{Frame, Lexer, is_name};

impl Lexer<'_> {
    /// `;`, `&` or `|` was read.
    pub(super) fn operator(&mut self, character: char) {
        self.end_word();
        match self.list().position {
            Position::Test => {
                // A single `|` may stand in a regular expression.
                if !self.bump_if(character) && character != '|' {
                    self.doubt("there is a single `&` or `;` in `[[ … ]]`");
                }
                return;
            }
            Position::Pattern if character == '|' => return,
            Position::Array => return self.doubt("there is an operator in an array"),
            _ => {}
        }
        match character {
            '&' if self.peek() == Some('>') => {
                self.bump();
                self.bump_if('>');
                self.start_redirection(Operator::Write);
            }
            ';' => {
                let is_double = self.bump_if(';');
                let falls_through = self.bump_if('&');
                self.end_command();
                if is_double || falls_through {
                    if self.list().open_cases == 0 {
                        self.doubt("there is a `;;` outside `case`");
                    }
                    self.list().position = Position::Pattern;
                }
            }
            _ => {
                // `&&`, `||`, `|&`, or a single one.
                if !self.bump_if(character) && character == '|' {
                    self.lexed.facts.has_pipe = true;
                    self.bump_if('&');
                }
                self.end_command();
            }
        }
    }

    pub(super) fn newline(&mut self) {
        self.end_word();
        match self.list().position {
            Position::Test
            | Position::Pattern
            | Position::CaseIn
            | Position::ForIn
            | Position::Array => {}
            _ => self.end_command(),
        }
        for here_document in std::mem::take(&mut self.list().here_documents) {
            self.here_document(&here_document);
        }
        self.check_line_break();
    }

    /// A line break inside something while a here-document is due: shells differ on where that begins.
    pub(super) fn check_line_break(&mut self) {
        if !self.script.here_documents.is_empty()
            || self
                .inner
                .iter()
                .any(|list| !list.here_documents.is_empty())
        {
            self.doubt("a line ends inside quotes or brackets before a here-document begins");
        }
    }

    /// `(` was read.
    pub(super) fn open(&mut self) {
        let follows_assignment = self.list().word.as_ref().is_some_and(|word| {
            word.is_plain() && word.assignment.is_some_and(|at| at + 1 == word.text.len())
        });
        if follows_assignment
            && matches!(self.list().position, Position::Command | Position::Argument)
        {
            return self.push_list(Opener::Array);
        }
        self.end_word();
        let position = self.list().position;
        match position {
            Position::Pattern | Position::Test => {}
            Position::Command if !self.list().command.is_empty() => {
                self.doubt("there is a stray `(`");
            }
            Position::Command => {
                if self.bump_if('(') {
                    self.arithmetic_command(Position::AfterCompound);
                } else if self.skip_empty_parentheses() {
                    // `function name ()`
                    self.lexed.facts.defines_functions = true;
                } else {
                    self.list().position = Position::AfterCompound;
                    self.push_list(Opener::Parenthesis);
                }
            }
            Position::ForName if self.bump_if('(') => self.arithmetic_command(Position::Command),
            Position::Argument => {
                let command = &self.list().command;
                let is_function = command.words.len() == 1
                    && command.assignments.is_empty()
                    && command.redirections.is_empty()
                    && command.words[0].is_plain();
                if is_function && self.skip_empty_parentheses() {
                    self.lexed.facts.defines_functions = true;
                    self.list().command.words.clear();
                    self.list().position = Position::Command;
                } else {
                    self.doubt("there is a `(` after a word");
                }
            }
            _ => self.doubt("there is a stray `(`"),
        }
    }

    /// `)` was read.
    pub(super) fn close(&mut self) {
        self.end_word();
        match self.list().position {
            Position::Pattern => return self.list().position = Position::Command,
            Position::Test => return,
            _ => {}
        }
        if self.frames.last() != Some(&Frame::List) {
            return self.doubt("there is a `)` without a `(`");
        }
        if self.list().opener != Opener::Array {
            self.end_command();
        }
        if !self.list().here_documents.is_empty() || self.list().open_cases > 0 {
            self.doubt("a `)` comes before the end of a here-document or a `case`");
        }
        self.frames.pop();
        self.inner.pop();
    }

    /// `<` or `>` was read.
    pub(super) fn angle(&mut self, character: char) {
        if self.bump_if('(') {
            self.substitute();
            self.word().is_descriptor = true;
            return self.push_list(Opener::Parenthesis);
        }
        let is_descriptor = self.list().word.as_ref().is_some_and(|word| {
            let name = word
                .text
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
            word.is_plain() && (is_number || name.is_some_and(is_name))
        });
        if is_descriptor {
            self.list().word = None;
        }
        self.end_word();
        match self.list().position {
            Position::Test => {
                let mut word = Word::starting_at(self.lexed.uses.len());
                word.text.push(character);
                self.list().command.words.push(word);
                return;
            }
            Position::Command | Position::Argument | Position::AfterCompound => {}
            _ => return self.doubt("there is a redirection where none belongs"),
        }
        let operator = match (character, self.peek()) {
            ('<', Some('<')) => {
                self.bump();
                self.lexed.facts.has_pipe = true;
                if self.bump_if('<') {
                    Operator::HereString
                } else {
                    Operator::HereDocument {
                        strips_tabs: self.bump_if('-'),
                    }
                }
            }
            (_, Some('&')) => {
                self.bump();
                Operator::Duplicate
            }
            (_, Some('>')) | ('>', Some('|')) => {
                self.bump();
                Operator::Write
            }
            ('<', _) => Operator::Read,
            _ => Operator::Write,
        };
        self.start_redirection(operator);
    }

    fn start_redirection(&mut self, operator: Operator) {
        if self.list().redirection.replace(operator).is_some() {
            self.doubt("a redirection has no target");
        }
    }

    /// `((` was read; `next` is what follows its end.
    fn arithmetic_command(&mut self, next: Position) {
        self.lexed.facts.has_double_parenthesis = true;
        self.list().position = next;
        self.frames.push(Frame::Arithmetic {
            start: self.at,
            depth: 0,
            is_command: true,
        });
    }

    /// Reads `)`, blanks before it included; nothing if something else comes.
    fn skip_empty_parentheses(&mut self) -> bool {
        let blanks = self.symbols[self.at..]
            .iter()
            .take_while(|symbol| matches!(symbol, Symbol::Char(' ' | '\t')))
            .count();
        let is_empty = self.peek_at(blanks) == Some(')');
        if is_empty {
            for _ in 0..=blanks {
                self.bump();
            }
        }
        is_empty
    }

    /// Reads the body of a here-document and the line that ends it.
    fn here_document(&mut self, here_document: &HereDocument) {
        self.lexed.here_documents.push(String::new());
        let mut is_joined = false;
        loop {
            let mut line = String::new();
            let is_last = loop {
                match self.bump() {
                    None => break true,
                    Some(Symbol::Char('\n')) => break false,
                    Some(Symbol::Char(character)) => line.push(character),
                    Some(Symbol::Data(piece)) => {
                        self.misplace(piece, Place::HereDocument);
                        line.push('\u{fffd}');
                    }
                }
            };
            let text = if here_document.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                &line
            };
            if text == here_document.delimiter {
                if is_joined {
                    self.doubt("the line before the end of a here-document ends in a backslash");
                }
                return;
            }
            if is_last {
                return self.doubt("a here-document isn't closed");
            }
            if let Some(content) = self.lexed.here_documents.last_mut() {
                content.push_str(text);
                content.push('\n');
            }
            if !here_document.is_quoted {
                self.expansions_in_here_document(&line);
                is_joined = line.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1;
            }
        }
    }

    fn expansions_in_here_document(&mut self, line: &str) {
        let facts = &mut self.lexed.facts;
        facts.expands_here_document |= line.contains(['$', '`']);
        facts.has_hidden_command |= line.contains("$(") || line.contains('`');
        facts.evaluates_variables |= ["$((", "${", "$["].iter().any(|start| line.contains(start));
        let count = |wanted: char| line.matches(wanted).count();
        let is_open = (line.contains("$(") && count('(') != count(')'))
            || (line.contains("${") && count('{') != count('}'))
            || count('`') % 2 == 1;
        if is_open {
            self.doubt("an expansion in a here-document goes over several lines");
        }
    }
}
