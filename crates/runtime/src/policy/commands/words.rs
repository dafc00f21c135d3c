//! A command line after reading: simple commands, their words, and where data stands in them.

use std::ops::Range;

use super::super::source::reference;
use super::super::{Refusal, RefusalKind};
use cuecard_source::value::Piece;

/// What the lexer found.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// The script with data bound to variables.
    pub(super) output: String,
    /// Every simple command, those in substitutions included; inner ones come first.
    pub(super) commands: Vec<SimpleCommand>,
    /// Each use of data in the order of the text: an index into the source's data.
    pub(super) uses: Vec<usize>,
    /// Uses in the list of a `for`, which a variable then carries.
    pub(super) listed: Vec<Range<usize>>,
    /// The variables of all `for`, and those that stand in their lists.
    pub(super) loops: (Vec<String>, Vec<String>),
    /// What stands in here-documents.
    pub(super) here_documents: Vec<String>,
    /// The first data that stands where it can't be bound.
    pub(super) misplaced: Option<(usize, Place)>,
    /// Why the lexer may be wrong about what it found.
    pub(super) doubt: Option<&'static str>,
    pub(super) facts: Facts,
}

/// What else is in the script and bears on data in it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Facts {
    /// The shell evaluates what is in variables: arithmetic, indirect or subscripted references.
    pub(super) evaluates_variables: bool,
    /// Data may get into variables that can't be seen here: `select`, `$_`, the names of files.
    pub(super) moves_data: bool,
    pub(super) defines_functions: bool,
    /// `((`, which some shells read as two subshells.
    pub(super) has_double_parenthesis: bool,
    /// A here-document in which something is expanded.
    pub(super) expands_here_document: bool,
    /// A `|` or a here-string: what a program reads may be data.
    pub(super) has_pipe: bool,
    /// The output of a command stands somewhere.
    pub(super) has_substitution: bool,
    /// A here-document with a command in it.
    pub(super) has_hidden_command: bool,
}

impl Facts {
    pub(super) fn add(&mut self, other: Self) {
        self.evaluates_variables |= other.evaluates_variables;
        self.moves_data |= other.moves_data;
        self.defines_functions |= other.defines_functions;
        self.has_double_parenthesis |= other.has_double_parenthesis;
        self.expands_here_document |= other.expands_here_document;
        self.has_pipe |= other.has_pipe;
        self.has_substitution |= other.has_substitution;
        self.has_hidden_command |= other.has_hidden_command;
    }
}

/// Assignments, a program with its arguments, redirections.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    pub(super) assignments: Vec<Word>,
    /// The program first. `[[ … ]]` is one command here.
    pub(super) words: Vec<Word>,
    pub(super) redirections: Vec<Redirection>,
}

impl SimpleCommand {
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirections.is_empty()
    }
}

#[derive(Debug)]
pub(super) struct Redirection {
    pub(super) operator: Operator,
    pub(super) target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `<>`, `&>`, `&>>`
    Write,
    /// `<&`, `>&`
    Duplicate,
    /// `<<`, `<<-`
    HereDocument { strips_tabs: bool },
    /// `<<<`
    HereString,
}

/// One word of the shell.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// Its literal characters with the quotes removed, without what is expanded and without data.
    pub(super) text: String,
    /// Data that stands in it directly: the use, and the length of `text` before it.
    pub(super) data: Vec<(usize, usize)>,
    /// All uses in it, those in its substitutions included.
    pub(super) uses: Range<usize>,
    /// The length of `text` before the first and the last `$x`, `$(…)` or the like.
    pub(super) expansions: Option<(usize, usize)>,
    /// The variables among these, as far as they have names.
    pub(super) names: Vec<String>,
    /// It holds the output of a command.
    pub(super) has_substitution: bool,
    /// It is the path of an open file: `<(…)`.
    pub(super) is_descriptor: bool,
    pub(super) is_quoted: bool,
    /// It holds an unquoted `*`, `?`, `[` or `{`, so it may become other words.
    pub(super) is_pattern: bool,
    /// It begins with an unquoted `~`.
    pub(super) has_tilde: bool,
    /// It holds an unquoted `=`.
    pub(super) has_equals: bool,
    /// The length of `text` before the first `=`, if it has the form of an assignment.
    pub(super) assignment: Option<usize>,
}

impl Word {
    pub(super) fn starting_at(use_number: usize) -> Self {
        Self {
            uses: use_number..use_number,
            ..Self::default()
        }
    }

    pub(super) fn expand(&mut self) {
        let at = self.text.len();
        self.expansions = Some((self.expansions.map_or(at, |(first, _)| first), at));
    }

    /// The output of a command stands here.
    pub(super) fn substitute(&mut self) {
        self.expand();
        self.has_substitution = true;
    }

    /// What follows its first `cut` literal bytes.
    pub(super) fn from(&self, cut: usize) -> Self {
        let moved = |&(number, at): &(usize, usize)| (number, at - cut);
        let after = self.data.iter().filter(|&&(_, at)| at >= cut);
        Self {
            text: self.text[cut..].to_owned(),
            data: after.map(moved).collect(),
            uses: self.uses.clone(),
            expansions: self.expansions,
            names: self.names.clone(),
            is_pattern: self.is_pattern,
            has_tilde: self.has_tilde,
            ..Self::default()
        }
    }

    /// Whether nothing in it changes at run time.
    pub(super) fn is_literal(&self) -> bool {
        self.expansions.is_none() && self.data.is_empty()
    }

    /// Whether it may become no word at all, or several: `$x` without quotes, `*`.
    pub(super) fn may_vanish(&self) -> bool {
        (self.expansions.is_some() && !self.is_quoted) || self.is_any_name()
    }

    /// Whether it may become the name of any file, and so of one that is named by data.
    pub(super) fn is_any_name(&self) -> bool {
        self.is_pattern && self.text.starts_with(['*', '?', '['])
    }

    /// Whether it is this literal word, whatever its quotes.
    pub(super) fn is(&self, text: &str) -> bool {
        self.is_literal() && self.text == text
    }

    /// Whether it is a word that may be a keyword.
    pub(super) fn is_plain(&self) -> bool {
        self.is_literal() && !self.is_quoted
    }
}

/// A place where data can't be bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    HereDocument,
    Backticks,
    AnsiQuotes,
    Parameter,
    Arithmetic,
    Comment,
    AfterDollar,
    AfterBackslash,
    Name,
}

impl Place {
    pub(super) fn refusal(self, piece: &Piece) -> Refusal {
        let it = reference(piece);
        let (place, help) = match self {
            Self::HereDocument => (
                "in a here-document",
                format!("assign it to a variable first, `value={it}`, and use `$value` there"),
            ),
            Self::Backticks => ("between backticks", "write `$(…)` instead of the backticks".to_owned()),
            Self::AnsiQuotes => ("in `$'…'`", "use plain quotes: `'…'` or `\"…\"`".to_owned()),
            Self::Parameter => (
                "in `${…}`",
                format!("assign it to a variable first, `value={it}`, and use `$value` there"),
            ),
            Self::Arithmetic => (
                "in arithmetic, where it would be evaluated because it is not a plain integer",
                "calculate in the program that uses the value, or let the step return a plain integer".to_owned(),
            ),
            Self::Comment => ("in a comment, which a line break would end", format!("take `{it}` out of the comment")),
            Self::AfterDollar => (
                "right after a `$`, where it would be the name of a variable",
                format!("write `\\${it}` for a dollar sign"),
            ),
            Self::AfterBackslash => (
                "right after a backslash",
                "write the backslash in single quotes, or `\\\\`".to_owned(),
            ),
            Self::Name => (
                "where the shell expects a name",
                "write the name literally and use the reference as its value".to_owned(),
            ),
        };
        Refusal::new(
            RefusalKind::Data,
            format!("the data of `{it}` is used {place}"),
            help,
        )
    }
}
