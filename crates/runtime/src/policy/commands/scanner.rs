//! Reads a command of a POSIX shell into simple commands, and binds the data in it to variables.
//!
//! It knows words, quotes, operators, `$NAME`, `$(…)`, `if`, groups and comments. Anything else ends the reading with
//! the name of what it is: a construct that isn't read here isn't guessed at.

use std::sync::LazyLock;

use regex::Regex;

use super::super::source::is_integer;
use super::programs;
use cuecard_source::value::{Piece, Text};

/// How deep substitutions and groups may be nested.
const MAX_DEPTH: usize = 40;
/// How many bytes of code a command may have.
const MAX_CODE: usize = 1 << 20;
/// Stands for a piece of data in the text that is read. No command has a NUL byte.
pub(super) const DATA: char = '\0';
/// Stands for what the shell adds to a word: the value of `$NAME`, which nothing that is read here sets, or the output of
/// a command. The author's own is taken for the same.
pub(super) const ADDED: char = '\u{1}';

/// A command as it is read: characters that are code, and places where data stands.
#[derive(Debug)]
pub(super) struct Source<'text> {
    /// The trusted text, with [`DATA`] for each piece of data.
    pub(super) text: String,
    pub(super) data: Vec<&'text Piece>,
}

impl<'text> Source<'text> {
    /// `None` if there is more code than [`MAX_CODE`], or a NUL byte in it. If `has_integers`, data that is a whole number
    /// counts as the author's text: it is a number to every program.
    pub(super) fn new(text: &'text Text, has_integers: bool) -> Option<Self> {
        // The beginning of a URL up to its host, of which a whole number would be the address.
        static BEFORE_HOST: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"//(?:[^/?#\s]*@)?["'\\]*[0-9]*["'\\]*$"#).expect("a fixed pattern")
        });
        let (mut code, mut data) = (String::new(), Vec::new());
        for (at, piece) in text.pieces().iter().enumerate() {
            let next = text.pieces().get(at + 1);
            // It would be a parameter of the shell behind `$`, a file descriptor before `<`.
            let is_number = || {
                is_integer(&piece.text)
                    && !code.ends_with(['$', '\\'])
                    && !next.is_some_and(|next| next.text.starts_with(['<', '>']))
                    && !BEFORE_HOST.is_match(&code)
            };
            match piece.origin.is_trusted() || (has_integers && is_number()) {
                true => code.push_str(&piece.text),
                false => {
                    code.push(DATA);
                    data.push(piece);
                }
            }
        }
        let is_read = code.len() <= MAX_CODE && code.matches(DATA).count() == data.len();
        is_read.then_some(Self { text: code, data })
    }
}

/// A command that was read to its end.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The text for the shell: data is named by variables.
    pub(super) output: String,
    /// The simple commands in order; those of a substitution before the command that it is a part of.
    pub(super) commands: Vec<SimpleCommand>,
    /// Some of them run at the same time: there is a `|`.
    pub(super) has_pipe: bool,
    /// There is a `&`.
    pub(super) has_background: bool,
}

/// A program with its words, and redirections.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    /// The program first. Empty for the redirections of a group.
    pub(super) words: Vec<Word>,
    pub(super) redirections: Vec<Redirection>,
    /// It reads from a pipe.
    pub(super) is_piped: bool,
}

impl SimpleCommand {
    /// The name of its program, without the folder.
    pub(super) fn program(&self) -> Option<&str> {
        self.words.first()?.literal()?.rsplit('/').next()
    }
}

#[derive(Debug)]
pub(super) struct Redirection {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) target: Word,
}

impl Redirection {
    pub(super) fn makes_file(&self) -> bool {
        self.writes && self.target.literal() != Some("/dev/null")
    }
}

/// A word of the shell.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// Its characters without their quotes, with [`DATA`] and [`ADDED`].
    pub(super) text: String,
    /// Its data, by the index in the source.
    pub(super) data: Vec<usize>,
    /// It has a `$(…)`, with data in that, and without quotes around it.
    pub(super) has_output: bool,
    pub(super) has_data_inside: bool,
    pub(super) is_split: bool,
    /// It has a `$NAME` or `$(…)` without quotes around it, which may become several words.
    pub(super) is_open: bool,
    pub(super) is_quoted: bool,
    /// It has an unquoted `*`, `?`, `[` or `{`, or begins with a `~`, so it may become other words.
    pub(super) expands: bool,
}

impl Word {
    /// Its text if nothing in it changes.
    pub(super) fn literal(&self) -> Option<&str> {
        (!self.text.contains([DATA, ADDED])).then_some(&self.text)
    }

    /// Its text if it is that of a program, as it is written.
    pub(super) fn name(&self) -> Option<&str> {
        self.literal().filter(|_| !self.expands)
    }

    /// The literal text at its beginning.
    pub(super) fn beginning(&self) -> &str {
        self.text.split([DATA, ADDED]).next().unwrap_or_default()
    }

    pub(super) fn has_data(&self) -> bool {
        !self.data.is_empty()
    }
}

/// Reads a command, or says with its article what can't be read. `names` are the variables of its data. If `is_lenient`,
/// assignments, loops, builtins and here-documents are passed over, since to know the quotes is enough.
pub(super) fn scan(source: &Source<'_>, names: &[String], is_lenient: bool) -> Read<Script> {
    let mut scanner = Scanner {
        text: &source.text,
        names,
        is_lenient,
        ..Scanner::default()
    };
    scanner.list()?;
    match scanner.peek() {
        None => Ok(scanner.script),
        Some(_) => scanner.fail("a `)` without its `(`"),
    }
}

/// Operators that aren't read.
const OTHER_OPERATORS: &[(&str, &str)] = &[
    ("((", "a `((`"),
    ("<>", "a `<>`"),
    ("<(", "a process substitution"),
    (">(", "a process substitution"),
    (";;", "a `;;`"),
    (";&", "a `;;`"),
];

/// Operators that are only passed over.
const LENIENT_OPERATORS: &[(&str, &str)] = &[
    ("&>", "a `&>`"),
    ("|&", "a `|&`"),
    ("<<<", "a here-string"),
    ("<<", "a here-document"),
];

/// Of redirections, each before those that it begins with.
const OPERATORS: [&str; 9] = ["<<<", "<<-", "<<", "<&", "<", ">>", ">|", ">&", ">"];

#[derive(Default)]
struct Scanner<'a> {
    text: &'a str,
    names: &'a [String],
    is_lenient: bool,
    at: usize,
    /// How many pieces of data were passed.
    n_data: usize,
    /// Whether the next command reads from a pipe, and each `(`, `{` and `if` around it.
    is_piped: bool,
    groups: Vec<bool>,
    /// Here-documents that begin at the end of the line: what ends each, whether it is as written (`<<'END'`), and
    /// whether tabs at the beginning of its lines are no part of it (`<<-END`).
    documents: Vec<(String, bool, bool)>,
    script: Script,
}

pub(super) type Read<T = ()> = Result<T, String>;

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn is_next(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Passes a character on to the output.
    fn take(&mut self) {
        if let Some(character) = self.peek() {
            self.script.output.push(character);
            self.at += character.len_utf8();
        }
    }

    fn fail<T>(&self, what: &str) -> Read<T> {
        Err(what.to_owned())
    }

    /// Fails if one of these is next, by its name.
    fn refuse(&self, constructs: &[(&str, &str)]) -> Read {
        let mut constructs = constructs.iter();
        match constructs.find(|(start, _)| self.is_next(start)) {
            Some((_, what)) => self.fail(what),
            None => Ok(()),
        }
    }

    fn refuse_operators(&self) -> Read {
        self.refuse(OTHER_OPERATORS)?;
        self.refuse(if self.is_lenient {
            &[]
        } else {
            LENIENT_OPERATORS
        })
    }

    /// Passes a text, or fails without it.
    fn pass(&mut self, end: &str, what: &str) -> Read {
        if !self.is_next(end) {
            return self.fail(what);
        }
        end.chars().for_each(|_| self.take());
        Ok(())
    }

    /// Reads commands up to the end, or to a `)`.
    fn list(&mut self) -> Read {
        let (is_piped, outer) = (self.is_piped, self.groups.len());
        if outer >= MAX_DEPTH {
            return self.fail("too many levels");
        }
        self.groups.push(is_piped);
        // A pipe goes on over the ends of lines.
        let mut is_behind_pipe = false;
        while let Some(next) = self.peek().filter(|next| *next != ')') {
            self.refuse_operators()?;
            match next {
                ' ' | '\t' => self.take(),
                '#' => self.comment(),
                '\n' if is_behind_pipe => self.line_end()?,
                '\n' | ';' | '&' | '|' => {
                    let is_double = ["&&", "||", "|&"].iter().any(|it| self.is_next(it));
                    is_behind_pipe = next == '|' && !self.is_next("||");
                    self.script.has_pipe |= is_behind_pipe;
                    self.script.has_background |= next == '&' && !is_double;
                    self.is_piped = is_behind_pipe || self.groups.last() == Some(&true);
                    if is_double {
                        self.take();
                    }
                    self.line_end()?;
                }
                '(' => {
                    is_behind_pipe = false;
                    self.take();
                    self.list()?;
                    self.pass(")", "a `(` without its `)`")?;
                    self.command(true)?;
                }
                _ => {
                    is_behind_pipe = false;
                    self.command(false)?;
                }
            }
        }
        self.groups.truncate(outer);
        self.is_piped = is_piped;
        Ok(())
    }

    fn comment(&mut self) {
        while let Some(next) = self.peek().filter(|next| *next != '\n') {
            match next {
                DATA => self.pass_data(&mut Word::default(), "", ""),
                _ => self.take(),
            }
        }
    }

    /// Reads a simple command, or one keyword.
    fn command(&mut self, is_behind_group: bool) -> Read {
        let mut command = SimpleCommand {
            is_piped: self.is_piped,
            ..SimpleCommand::default()
        };
        while let Some(next) = self.peek().filter(|next| !"\n;&|)".contains(*next)) {
            match next {
                ' ' | '\t' => self.take(),
                '#' => self.comment(),
                '<' if is_behind_group => return self.fail("a `<` behind a group"),
                '<' | '>' => {
                    let redirection = self.redirection()?;
                    // It would hold for all commands of the group.
                    if is_behind_group && redirection.makes_file() && !self.is_lenient {
                        return self.fail("a file behind a group");
                    }
                    command.redirections.push(redirection);
                }
                _ => {
                    let word = self.word()?;
                    let text = word.literal().filter(|_| !word.is_quoted);
                    let is_descriptor = self.is_next("<") || self.is_next(">");
                    match text {
                        // A line that goes on.
                        Some("") => continue,
                        Some(digits) if is_descriptor && is_all_digits(digits) => continue,
                        Some(text) if is_descriptor && text.len() > 1 && text.starts_with('{') => {
                            return self.fail("a `{…}` before a redirection");
                        }
                        _ if is_behind_group => return self.fail("a word behind a group"),
                        _ => {}
                    }
                    let is_first = command.words.is_empty();
                    match text.filter(|_| is_first && command.redirections.is_empty()) {
                        Some("{" | "if") => {
                            self.groups.push(self.is_piped);
                            return Ok(());
                        }
                        Some("!" | "then" | "elif" | "else") => return Ok(()),
                        Some("do" | "while" | "until") if self.is_lenient => return Ok(()),
                        Some("}" | "fi") => {
                            if self.groups.len() > 1 {
                                self.groups.pop();
                            }
                            return self.command(true);
                        }
                        _ if is_first && !self.is_lenient => self.check_first(&word)?,
                        Some("case" | "function") => return self.fail("`case` or a function"),
                        _ => {}
                    }
                    command.words.push(word);
                }
            }
        }
        // A command in the name of a file has the input of this one.
        let has_input = command.is_piped || command.redirections.iter().any(|from| from.reads);
        if has_input && command.redirections.iter().any(|to| to.target.has_output) {
            return self.fail("a `$(…)` that names a file and may read data");
        }
        if !command.words.is_empty() || !command.redirections.is_empty() {
            self.script.commands.push(command);
        }
        Ok(())
    }

    fn check_first(&self, word: &Word) -> Read {
        let start = word.beginning();
        let rest = start.trim_start_matches(is_name_letter);
        let is_assigned = rest.starts_with(['=', '[']) || rest.starts_with("+=");
        match word.literal() {
            _ if rest.len() < start.len() && is_assigned => self.fail("an assignment"),
            Some(name) if programs::is_unreadable(name) => self.fail(&format!("`{name}`")),
            _ => Ok(()),
        }
    }

    fn redirection(&mut self) -> Read<Redirection> {
        self.refuse_operators()?;
        let mut operators = OPERATORS.iter().copied();
        let operator = operators.find(|operator| self.is_next(operator));
        let operator = operator.unwrap_or_default();
        self.pass(operator, "")?;
        while self.peek().is_some_and(|next| " \t".contains(next)) {
            self.take();
        }
        let start = self.script.output.len();
        let target = match self.peek().is_none_or(|next| "\n;&|<>()#".contains(next)) {
            true => Word::default(),
            false => self.word()?,
        };
        if target.text.is_empty() && !target.is_quoted {
            return self.fail("a redirection without a target");
        }
        let is_number = |text: &str| text == "-" || is_all_digits(text);
        if operator.ends_with('&') && !target.literal().is_some_and(is_number) {
            return self.fail("a `>&` with a file");
        }
        if matches!(operator, "<<" | "<<-") {
            let Some(end) = target.literal() else {
                return self.fail("a here-document whose end is not known");
            };
            // So that the variables in it are expanded.
            self.script.output.truncate(start);
            self.script.output.push_str(end);
            self.documents
                .push((end.to_owned(), target.is_quoted, operator == "<<-"));
        }
        Ok(Redirection {
            reads: operator.starts_with('<'),
            // A copy writes where something else was opened.
            writes: matches!(operator, ">" | ">>" | ">|"),
            target,
        })
    }

    /// Passes an operator, and behind the end of a line the here-documents that begin there.
    fn line_end(&mut self) -> Read {
        let ends_line = self.is_next("\n");
        self.take();
        if !ends_line {
            return Ok(());
        }
        for (end, is_literal, is_indented) in std::mem::take(&mut self.documents) {
            let tabs: &[char] = if is_indented { &['\t'] } else { &[] };
            let mut is_end = false;
            while !is_end {
                let line = self.rest().split('\n').next().unwrap_or_default();
                is_end = line.trim_start_matches(tabs) == end;
                while let Some(next) = self.peek().filter(|next| *next != '\n') {
                    let word = &mut Word::default();
                    match next {
                        DATA => self.pass_data(word, "", ""),
                        '$' | '`' | '\\' if is_literal => {
                            self.script.output.push('\\');
                            self.take();
                        }
                        '$' => self.dollar(word, true)?,
                        '`' => return self.fail("backticks"),
                        '\\' => self.backslash(word, true)?,
                        _ => self.take(),
                    }
                }
                if !is_end {
                    self.pass("\n", "a here-document without its end")?;
                }
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Read<Word> {
        let mut word = Word {
            expands: self.is_next("~"),
            ..Word::default()
        };
        let mut quote = None;
        // Where a `'` is in the output, if there is data behind it.
        let mut single = None;
        let mut has_pattern = false;
        loop {
            let Some(next) = self.peek() else {
                match quote {
                    Some(quote) => return self.fail(&format!("a `{quote}` without its end")),
                    None => break,
                }
            };
            match (quote, next) {
                (None, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')') => break,
                (None, '(') => return self.fail("a function, or a `(` within a word"),
                (None, '\'' | '"') => {
                    (quote, word.is_quoted) = (Some(next), true);
                    self.take();
                }
                (Some('\''), DATA) => {
                    single = single.or(self.script.output.rfind('\''));
                    self.pass_data(&mut word, "'\"", "\"'");
                }
                (Some(open), _) if open == next => {
                    self.take();
                    quote = None;
                    // Quotes that hold data only are left out.
                    if let Some(start) = single.take() {
                        let quoted = self.script.output.split_off(start).replace("''", "");
                        self.script.output.push_str(&quoted);
                    }
                }
                (Some('"'), DATA) => self.pass_data(&mut word, "", ""),
                (None, DATA) => {
                    word.is_quoted = true;
                    self.pass_data(&mut word, "\"", "\"");
                }
                (None | Some('"'), '\\') => self.backslash(&mut word, quote.is_some())?,
                (None | Some('"'), '`') => return self.fail("backticks"),
                (None | Some('"'), '$') => self.dollar(&mut word, quote.is_some())?,
                _ => {
                    has_pattern |= quote.is_none() && matches!(next, '*' | '?' | '[' | '{');
                    word.text.push(next);
                    self.take();
                }
            }
        }
        // Alone it is the name of a program.
        word.expands |= has_pattern && word.literal() != Some("[");
        Ok(word)
    }

    /// Passes data by its variable in these quotes.
    fn pass_data(&mut self, word: &mut Word, open: &str, close: &str) {
        let name = &self.names[self.n_data];
        self.script
            .output
            .push_str(&format!("{open}${{{name}}}{close}"));
        word.text.push(DATA);
        word.data.push(self.n_data);
        self.n_data += 1;
        self.at += DATA.len_utf8();
    }

    fn backslash(&mut self, word: &mut Word, is_in_quotes: bool) -> Read {
        let is_behind_blank = self.text[..self.at].ends_with([' ', '\t']);
        self.take();
        match self.peek() {
            // The shell joins the lines before it reads operators.
            Some('\n') if !is_behind_blank => {
                return self.fail("a line that goes on without a blank before its `\\`");
            }
            Some('\n') => {}
            Some(DATA) => return self.fail("data behind a backslash"),
            Some(next) => {
                word.is_quoted = true;
                if is_in_quotes && !matches!(next, '"' | '\\' | '$' | '`') {
                    word.text.push('\\');
                }
                word.text.push(next);
            }
            None => return self.fail("a backslash at the end"),
        }
        self.take();
        Ok(())
    }

    /// Reads a `$` and what belongs to it.
    fn dollar(&mut self, word: &mut Word, is_quoted: bool) -> Read {
        word.is_open |= !is_quoted;
        let cut = || CUT.find(self.rest()).filter(|_| self.is_lenient);
        if let Some(variable) = VARIABLE.find(self.rest()).or_else(cut) {
            word.text.push(ADDED);
            return self.pass(variable.as_str(), "");
        }
        self.refuse(UNREAD)?;
        if !is_quoted {
            self.refuse(&[("$'", "a `$'…'` or `$[…]`"), ("$\"", "a `$\"…\"`")])?;
        }
        self.take();
        if !self.is_next("(") {
            word.text.push('$');
            return Ok(());
        }
        self.take();
        let n_data = self.n_data;
        self.list()?;
        self.pass(")", "a `$(` without its `)`")?;
        word.text.push(ADDED);
        word.has_output = true;
        word.has_data_inside |= n_data < self.n_data;
        word.is_split |= !is_quoted;
        Ok(())
    }
}

/// `$NAME`, `$1`, `${NAME:-plain text}`, and `$((…))` with numbers: a variable in it would be evaluated.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"(?:[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+|[0-9?#$!-])";
    let pattern = format!(
        r"\A\$(?:{name}|\{{{name}(?::?-[\p{{Alphabetic}}\p{{N}}:_./,@\ -]*)?\}}|\(\([0-9\ +*/%-]*\)\))"
    );
    Regex::new(&pattern).expect("a fixed pattern")
});

/// `${NAME%.txt}`, `${NAME/a/b}` and the like, in which nothing is evaluated.
static CUT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\A\$\{#?[A-Za-z_]\w*(?:(?:[#%/^,]|:?[-+=?])[^{}$`'"\\\x00]*)?\}"#;
    Regex::new(pattern).expect("a fixed pattern")
});

/// What else begins with a `$`.
const UNREAD: &[(&str, &str)] = &[
    ("$((", "arithmetic, `$((…))`"),
    ("$[", "a `$'…'` or `$[…]`"),
    ("${_}", "`$_`, the last word of the command before"),
    ("$_", "`$_`, the last word of the command before"),
    ("${", "a `${…}` with more than a name"),
    ("$\0", "data behind a `$`"),
    ("$@", "`$@`"),
    ("$*", "`$@`"),
];

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Whether it is the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(is_name_letter)
}

fn is_all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::super::source::tests::text;
    use super::*;

    #[test]
    fn data_is_one_symbol_whatever_is_in_it() {
        let text = text("a{{x}}b", &[("x", "$(rm)")]);
        let source = Source::new(&text, true).expect("short");
        assert_eq!(source.text, "a\0b");
        assert!(Source::new(&Text::from("x".repeat(MAX_CODE + 1).as_str()), true).is_none());
    }
}
