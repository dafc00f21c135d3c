//! What the words of a list of commands are for.

use super::super::programs;
use super::super::words::{Operator, Place, Redirection, SimpleCommand, Word};
use super::{Frame, Lexer};

/// Commands up to a closing bracket, with the one that is being read.
#[derive(Debug)]
pub(super) struct List {
    pub(super) opener: Opener,
    pub(super) position: Position,
    pub(super) command: SimpleCommand,
    pub(super) word: Option<Word>,
    /// A redirection that waits for its target.
    pub(super) redirection: Option<Operator>,
    /// Here-documents that begin after the next line break.
    pub(super) here_documents: Vec<HereDocument>,
    /// How many `case` are open here.
    pub(super) open_cases: usize,
    follows_time: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opener {
    Script,
    /// `$(`, `(`, `<(`
    Parenthesis,
    /// `NAME=(`
    Array,
}

/// What the next word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A keyword, an assignment or a program.
    Command,
    /// An argument.
    Argument,
    /// After `fi`, `done`, `)` and the like: a keyword or nothing.
    AfterCompound,
    /// In `[[ … ]]`.
    Test,
    ForName,
    /// `in` or `do`.
    ForIn,
    ForList,
    CaseWord,
    CaseIn,
    Pattern,
    FunctionName,
    /// In `NAME=(…)`.
    Array,
}

#[derive(Debug)]
pub(super) struct HereDocument {
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
}

impl List {
    pub(super) fn new(opener: Opener) -> Self {
        Self {
            opener,
            position: match opener {
                Opener::Array => Position::Array,
                Opener::Script | Opener::Parenthesis => Position::Command,
            },
            command: SimpleCommand::default(),
            word: None,
            redirection: None,
            here_documents: Vec::new(),
            open_cases: 0,
            follows_time: false,
        }
    }

    pub(super) fn is_in_test(&self) -> bool {
        self.position == Position::Test
    }
}

impl Lexer<'_> {
    pub(super) fn push_list(&mut self, opener: Opener) {
        self.inner.push(List::new(opener));
        self.frames.push(Frame::List);
    }

    /// The current word, if there is one, is complete.
    pub(super) fn end_word(&mut self) {
        let Some(mut word) = self.list().word.take() else {
            return;
        };
        word.uses.end = self.lexed.uses.len();
        if let Some(operator) = self.list().redirection.take() {
            return self.end_target(operator, word);
        }
        let follows_time = std::mem::take(&mut self.list().follows_time);
        match self.list().position {
            Position::Command => {
                let may_be_keyword = self.list().command.is_empty() && word.is_plain();
                if may_be_keyword && self.keyword(&word.text) {
                    return;
                }
                if follows_time && word.is("-p") {
                    return;
                }
                if word.assignment.is_some() {
                    self.list().command.assignments.push(word);
                } else {
                    self.list().command.words.push(word);
                    self.list().position = Position::Argument;
                }
            }
            Position::Argument => self.list().command.words.push(word),
            Position::AfterCompound => {
                if !(word.is_plain() && self.keyword(&word.text)) {
                    self.doubt("there is a word after the end of a compound command");
                    self.list().command.words.push(word);
                    self.list().position = Position::Argument;
                }
            }
            Position::Test => {
                let is_end = word.is_plain() && word.text == "]]";
                self.list().command.words.push(word);
                if is_end {
                    self.list().position = Position::AfterCompound;
                    self.push_command();
                }
            }
            Position::ForName => {
                self.expect_name(&word);
                self.lexed.facts.evaluates_variables |= programs::is_special(&word.text);
                self.lexed.loops.0.push(word.text);
                self.list().position = Position::ForIn;
            }
            Position::ForIn => match word.text.as_str() {
                "in" if word.is_plain() => self.list().position = Position::ForList,
                "do" if word.is_plain() => self.list().position = Position::Command,
                _ => self.doubt("a `for` has no `in`"),
            },
            Position::ForList => {
                self.lexed.facts.moves_data |= word.is_pattern || word.has_substitution;
                self.lexed.listed.push(word.uses);
                self.lexed.loops.1.extend(word.names);
            }
            Position::CaseWord => self.list().position = Position::CaseIn,
            Position::CaseIn => {
                if word.is_plain() && word.text == "in" {
                    self.list().open_cases += 1;
                    self.list().position = Position::Pattern;
                } else {
                    self.doubt("a `case` has no `in`");
                }
            }
            Position::Pattern => {
                if word.is_plain() && word.text == "esac" {
                    self.end_case();
                }
            }
            Position::FunctionName => {
                self.expect_name(&word);
                self.list().position = Position::Command;
            }
            Position::Array => {
                self.lexed.facts.moves_data |= word.is_pattern || word.has_substitution;
                // A subscript is arithmetic.
                if word.text.starts_with('[') {
                    self.misplace_in(&word, Place::Arithmetic);
                    self.lexed.facts.evaluates_variables = true;
                }
            }
        }
    }

    /// The current simple command is complete.
    pub(super) fn end_command(&mut self) {
        self.end_word();
        let list = self.list();
        let is_unfinished = list.redirection.take().is_some()
            || matches!(
                list.position,
                Position::Test
                    | Position::ForName
                    | Position::CaseWord
                    | Position::CaseIn
                    | Position::Pattern
                    | Position::FunctionName
            );
        list.position = Position::Command;
        list.follows_time = false;
        self.push_command();
        if is_unfinished {
            self.doubt("a command isn't finished where it ends");
        }
    }

    fn push_command(&mut self) {
        let command = std::mem::take(&mut self.list().command);
        if !command.is_empty() {
            self.lexed.commands.push(command);
        }
    }

    /// Goes on after a keyword; `false` if the word is none.
    fn keyword(&mut self, word: &str) -> bool {
        let is_after_compound = self.list().position == Position::AfterCompound;
        let next = match word {
            "then" | "elif" | "else" | "do" => Position::Command,
            "fi" | "done" | "}" => Position::AfterCompound,
            "esac" if self.list().open_cases > 0 => {
                self.push_command();
                self.end_case();
                return true;
            }
            // The rest begins a command.
            _ if is_after_compound => return false,
            "if" | "while" | "until" | "!" | "{" => Position::Command,
            "for" => Position::ForName,
            "select" => {
                self.lexed.facts.moves_data = true;
                Position::ForName
            }
            "case" => Position::CaseWord,
            "function" => {
                self.lexed.facts.defines_functions = true;
                Position::FunctionName
            }
            "time" => {
                self.list().follows_time = true;
                Position::Command
            }
            "coproc" => {
                self.doubt("it uses `coproc`");
                Position::Command
            }
            "[[" => {
                let mut word = Word::starting_at(self.lexed.uses.len());
                word.text.push_str("[[");
                self.list().command.words.push(word);
                self.list().position = Position::Test;
                return true;
            }
            _ => return false,
        };
        // After a compound command: its redirections.
        self.push_command();
        self.list().position = next;
        true
    }

    fn end_case(&mut self) {
        let list = self.list();
        list.open_cases = list.open_cases.saturating_sub(1);
        list.position = Position::AfterCompound;
    }

    fn expect_name(&mut self, word: &Word) {
        self.misplace_in(word, Place::Name);
        if !word.is_plain() {
            self.doubt("a name is built by the shell");
        }
    }

    fn end_target(&mut self, operator: Operator, target: Word) {
        if let Operator::HereDocument { strips_tabs } = operator {
            self.misplace_in(&target, Place::HereDocument);
            if !target.is_literal() {
                self.doubt("the delimiter of a here-document is built by the shell");
            }
            self.list().here_documents.push(HereDocument {
                delimiter: target.text.clone(),
                is_quoted: target.is_quoted,
                strips_tabs,
            });
        }
        self.list()
            .command
            .redirections
            .push(Redirection { operator, target });
    }

    /// Notes that the data in `word`, if there is any, stands in the wrong place.
    fn misplace_in(&mut self, word: &Word, place: Place) {
        if let Some(&piece) = self.lexed.uses[word.uses.clone()].first() {
            self.misplace(piece, place);
        }
    }
}
