//! Reads a command of a POSIX shell into simple commands, and binds the data in it to variables.
//!
//! It knows words, quotes, operators, `$NAME`, `$(…)`, `if`, groups and comments. Anything else ends the reading with
//! the name of what it is: a construct that isn't read here isn't guessed at.

use super::super::source::Symbol;
use super::programs;

/// How deep substitutions and groups may be nested.
const MAX_DEPTH: usize = 40;

/// A command that was read to its end.
#[derive(Debug)]
pub(super) struct Script {
    /// The text for the shell: data is named by variables.
    pub(super) output: String,
    /// The simple commands in order; those of a substitution before the command that it is a part of.
    pub(super) commands: Vec<SimpleCommand>,
    /// Some of them run at the same time: there is a `|`.
    pub(super) has_pipe: bool,
    /// There is a `&`.
    pub(super) has_background: bool,
    /// There is a here-document or here-string.
    pub(super) has_document: bool,
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
        let name = self.words.first()?.literal()?;
        Some(name.rsplit('/').next().unwrap_or(name))
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
    pub(super) parts: Vec<Part>,
    /// The place of its text in the output.
    pub(super) span: (usize, usize),
    pub(super) is_quoted: bool,
    /// An unquoted `*`, `?`, `[` or `{`, so it may become other words.
    pub(super) has_pattern: bool,
    /// It begins with an unquoted `~`.
    pub(super) has_tilde: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Characters without their quotes.
    Text(String),
    /// Data, by its index in the source.
    Data(usize),
    /// `$NAME`: nothing that is read here sets it.
    Variable,
    /// `$(…)`
    Substitution {
        /// The simple commands in it.
        commands: std::ops::Range<usize>,
        is_quoted: bool,
    },
}

impl Word {
    /// Its text if nothing in it changes.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether there is no word, just a line that goes on.
    fn is_nothing(&self) -> bool {
        self.parts.is_empty() && !self.is_quoted
    }

    /// The literal text at its beginning.
    pub(super) fn beginning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn data(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().filter_map(|part| match part {
            Part::Data(number) => Some(*number),
            _ => None,
        })
    }

    pub(super) fn has_data(&self) -> bool {
        self.data().next().is_some()
    }

    fn push(&mut self, character: char) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(character),
            _ => self.parts.push(Part::Text(character.into())),
        }
    }

    fn push_text(&mut self, text: &str) {
        text.chars().for_each(|character| self.push(character));
    }
}

/// Why a command was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// What is there, with its article.
    pub(super) what: String,
    /// The data that stands right there.
    pub(super) data: Option<usize>,
}

/// How data is written into the output.
pub(super) struct Binding<'a> {
    /// The variable of each piece of data.
    pub(super) names: &'a [String],
    /// The digits of each piece that is an integer, which is read like the author's text.
    pub(super) integers: &'a [Option<String>],
    /// Assignments, loops, builtins and here-documents are passed over: to know the quotes is enough.
    pub(super) is_lenient: bool,
}

pub(super) fn scan(symbols: &[Symbol], binding: &Binding<'_>) -> Result<Script, Unreadable> {
    let mut scanner = Scanner {
        symbols,
        binding,
        at: 0,
        depth: 0,
        documents: Vec::new(),
        script: Script {
            output: String::with_capacity(symbols.len()),
            commands: Vec::new(),
            has_pipe: false,
            has_background: false,
            has_document: false,
        },
    };
    scanner.list(false)?;
    match scanner.peek() {
        None => Ok(scanner.script),
        Some(_) => scanner.fail("a `)` without its `(`"),
    }
}

struct Scanner<'a> {
    symbols: &'a [Symbol],
    binding: &'a Binding<'a>,
    at: usize,
    depth: usize,
    /// Here-documents that begin at the end of the line.
    documents: Vec<Document>,
    script: Script,
}

/// A here-document, `<<END`.
struct Document {
    end: String,
    /// Nothing in it is expanded, as written: `<<'END'`.
    is_literal: bool,
    /// Tabs at the beginning of its lines are no part of it: `<<-END`.
    is_indented: bool,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<Symbol> {
        self.symbols.get(self.at).copied()
    }

    fn is_next(&self, text: &str) -> bool {
        let rest = &self.symbols[self.at..];
        text.chars()
            .enumerate()
            .all(|(at, character)| rest.get(at) == Some(&Symbol::Char(character)))
    }

    /// Passes a character on to the output.
    fn take(&mut self) {
        if let Some(Symbol::Char(character)) = self.peek() {
            self.script.output.push(character);
        }
        self.at += 1;
    }

    fn fail<T>(&self, what: &str) -> Result<T, Unreadable> {
        let what = what.to_owned();
        let data = match self.peek() {
            Some(Symbol::Data(number)) => Some(number),
            _ => None,
        };
        Err(Unreadable { what, data })
    }

    /// Reads commands up to the end, or to a `)`.
    fn list(&mut self, is_piped: bool) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("too many levels");
        }
        // Whether the next command reads from a pipe, here and in the `{` and `if` around it.
        let mut piped = is_piped;
        let mut groups: Vec<bool> = Vec::new();
        // A pipe goes on over the ends of lines.
        let mut is_behind_pipe = false;
        loop {
            let inherited = groups.last().copied().unwrap_or(is_piped);
            match self.peek() {
                None | Some(Symbol::Char(')')) => break,
                Some(Symbol::Char(' ' | '\t')) => self.take(),
                Some(Symbol::Char('\n')) if is_behind_pipe => {
                    self.take();
                    self.documents()?;
                }
                Some(Symbol::Char('\n' | ';' | '&')) => {
                    if self.is_next(";;") || self.is_next(";&") {
                        return self.fail("a `;;`");
                    }
                    if self.is_next("&>") {
                        return self.fail("a `&>`");
                    }
                    self.script.has_background |= self.is_next("&") && !self.is_next("&&");
                    if self.is_next("&&") {
                        self.take();
                    }
                    let ends_line = self.is_next("\n");
                    self.take();
                    piped = inherited;
                    if ends_line {
                        self.documents()?;
                    }
                }
                Some(Symbol::Char('|')) => {
                    if self.is_next("|&") {
                        return self.fail("a `|&`");
                    }
                    let is_or = self.is_next("||");
                    self.take();
                    if is_or {
                        self.take();
                    }
                    is_behind_pipe = !is_or;
                    self.script.has_pipe |= is_behind_pipe;
                    piped = is_behind_pipe || inherited;
                }
                Some(Symbol::Char('#')) => self.comment()?,
                Some(Symbol::Char('(')) => {
                    if self.is_next("((") {
                        return self.fail("a `((`");
                    }
                    self.take();
                    is_behind_pipe = false;
                    self.list(piped)?;
                    if !self.is_next(")") {
                        return self.fail("a `(` without its `)`");
                    }
                    self.take();
                    self.simple_command(piped, &mut groups, true)?;
                }
                Some(_) => {
                    is_behind_pipe = false;
                    if let Some(is_piped) = self.simple_command(piped, &mut groups, false)? {
                        piped = is_piped;
                    }
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn comment(&mut self) -> Result<(), Unreadable> {
        while let Some(symbol) = self.peek() {
            match symbol {
                Symbol::Char('\n') => break,
                Symbol::Data(number) if self.binding.is_lenient => {
                    self.data(&mut Word::default(), number, "", "");
                }
                Symbol::Data(_) => return self.fail("data in a comment"),
                Symbol::Char(_) => self.take(),
            }
        }
        Ok(())
    }

    /// Reads a simple command, or one keyword, and then returns whether what follows reads from a pipe.
    fn simple_command(
        &mut self,
        is_piped: bool,
        groups: &mut Vec<bool>,
        is_behind_group: bool,
    ) -> Result<Option<bool>, Unreadable> {
        let mut command = SimpleCommand {
            is_piped,
            ..SimpleCommand::default()
        };
        loop {
            match self.peek() {
                Some(Symbol::Char(' ' | '\t')) => self.take(),
                None | Some(Symbol::Char('\n' | ';' | '&' | '|' | ')')) => break,
                Some(Symbol::Char('#')) => {
                    self.comment()?;
                    break;
                }
                Some(Symbol::Char('<')) if is_behind_group => {
                    return self.fail("a `<` behind a group");
                }
                Some(Symbol::Char('<' | '>')) => {
                    let redirection = self.redirection()?;
                    // It would hold for all commands of the group.
                    if is_behind_group && redirection.makes_file() && !self.binding.is_lenient {
                        return self.fail("a file behind a group");
                    }
                    command.redirections.push(redirection);
                }
                Some(Symbol::Char('(')) => {
                    return self.fail("a function, or a `(` within a word");
                }
                Some(_) => {
                    let word = self.word(is_piped)?;
                    if word.is_nothing() {
                        continue;
                    }
                    if matches!(self.peek(), Some(Symbol::Char('<' | '>'))) && !word.is_quoted {
                        let text = word.literal().unwrap_or_default();
                        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                            continue;
                        }
                        if text.len() > 1 && text.starts_with('{') {
                            return self.fail("a `{…}` before a redirection");
                        }
                    }
                    if is_behind_group {
                        return self.fail("a word behind a group");
                    }
                    let is_first = command.words.is_empty();
                    if is_first && command.redirections.is_empty() && !word.is_quoted {
                        let inherited = groups.last().copied();
                        match word.literal() {
                            Some("{" | "if") => {
                                groups.push(is_piped);
                                return Ok(Some(is_piped));
                            }
                            Some("then" | "elif" | "else") => {
                                return Ok(Some(inherited.unwrap_or(is_piped)));
                            }
                            Some("!") => return Ok(Some(is_piped)),
                            Some("}" | "fi") => {
                                groups.pop();
                                return self.simple_command(is_piped, groups, true);
                            }
                            _ => {}
                        }
                    }
                    if is_first {
                        self.check_first(&word)?;
                    }
                    command.words.push(word);
                }
            }
        }
        // A command in a name of a file has the input of this one.
        let substitutes = |to: &Redirection| {
            let mut parts = to.target.parts.iter();
            parts.any(|part| matches!(part, Part::Substitution { .. }))
        };
        let has_input = is_piped || command.redirections.iter().any(|from| from.reads);
        if has_input && command.redirections.iter().any(substitutes) {
            return self.fail("a `$(…)` that names a file and may read data");
        }
        if !command.words.is_empty() || !command.redirections.is_empty() {
            self.script.commands.push(command);
        }
        Ok(None)
    }

    fn check_first(&self, word: &Word) -> Result<(), Unreadable> {
        if self.binding.is_lenient {
            return Ok(());
        }
        let data = word.data().next();
        let end = word
            .beginning()
            .find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
        let rest = &word.beginning()[end.unwrap_or(word.beginning().len())..];
        let is_assignment =
            ['=', '['].into_iter().any(|sign| rest.starts_with(sign)) || rest.starts_with("+=");
        let what = match word.literal() {
            _ if end != Some(0) && is_assignment => "an assignment".to_owned(),
            Some(name) if programs::is_unreadable(name) => format!("`{name}`"),
            _ => return Ok(()),
        };
        Err(Unreadable { what, data })
    }

    fn redirection(&mut self) -> Result<Redirection, Unreadable> {
        for (text, what) in [("<<<", "a here-string"), ("<<", "a here-document")] {
            if self.is_next(text) && !self.binding.is_lenient {
                return self.fail(what);
            }
        }
        if self.is_next("<<") {
            return self.document();
        }
        for (text, what) in [
            ("<(", "a process substitution"),
            (">(", "a process substitution"),
            ("<>", "a `<>`"),
        ] {
            if self.is_next(text) {
                return self.fail(what);
            }
        }
        let writes = self.is_next(">");
        let reads = !writes;
        self.take();
        let mut is_copy = false;
        match self.peek() {
            Some(Symbol::Char('>' | '|')) if writes => self.take(),
            Some(Symbol::Char('&')) => {
                self.take();
                is_copy = true;
            }
            _ => {}
        }
        while matches!(self.peek(), Some(Symbol::Char(' ' | '\t'))) {
            self.take();
        }
        let target = match self.peek() {
            None | Some(Symbol::Char('\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '#')) => {
                return self.fail("a redirection without a target");
            }
            Some(_) => self.word(false)?,
        };
        if target.is_nothing() {
            return self.fail("a redirection without a target");
        }
        let is_number = |text: &str| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit());
        if is_copy && !target.literal().is_some_and(is_number) {
            return self.fail("a `>&` with a file");
        }
        Ok(Redirection {
            reads,
            // A copy writes where something else was opened.
            writes: writes && !is_copy,
            target,
        })
    }

    /// Reads `<<END` or `<<< word`.
    fn document(&mut self) -> Result<Redirection, Unreadable> {
        self.script.has_document = true;
        let is_string = self.is_next("<<<");
        let is_indented = self.is_next("<<-");
        for _ in 0..2 + usize::from(is_string || is_indented) {
            self.take();
        }
        while matches!(self.peek(), Some(Symbol::Char(' ' | '\t'))) {
            self.take();
        }
        let target = self.word(false)?;
        if !is_string {
            let Some(end) = target.literal().map(str::to_owned) else {
                return self.fail("a here-document whose end is not known");
            };
            // So that the variables in it are expanded.
            self.script.output.truncate(target.span.0);
            self.script.output.push_str(&end);
            self.documents.push(Document {
                end,
                is_literal: target.is_quoted,
                is_indented,
            });
        }
        Ok(Redirection {
            reads: true,
            writes: false,
            target,
        })
    }

    /// Passes the here-documents that begin here.
    fn documents(&mut self) -> Result<(), Unreadable> {
        for document in std::mem::take(&mut self.documents) {
            let (mut line, mut has_data, mut expands) = (String::new(), false, false);
            loop {
                let symbol = self.peek();
                if let Some(Symbol::Char('\n')) | None = symbol {
                    let tabs: &[char] = if document.is_indented { &['\t'] } else { &[] };
                    if line.trim_start_matches(tabs) == document.end {
                        break;
                    }
                    line.clear();
                }
                match symbol {
                    None => return self.fail("a here-document without its end"),
                    Some(Symbol::Data(number)) => {
                        has_data = true;
                        line.push('\0');
                        self.data(&mut Word::default(), number, "", "");
                    }
                    Some(Symbol::Char(character)) => {
                        if character != '\n' {
                            line.push(character);
                        }
                        let is_special = matches!(character, '$' | '`' | '\\');
                        if is_special && document.is_literal {
                            self.script.output.push('\\');
                        }
                        expands |= is_special && !document.is_literal;
                        self.take();
                    }
                }
            }
            if has_data && expands {
                return self.fail("a here-document with data and a `$`, backtick or backslash");
            }
        }
        Ok(())
    }

    fn word(&mut self, is_piped: bool) -> Result<Word, Unreadable> {
        let mut word = Word {
            span: (self.script.output.len(), 0),
            has_tilde: self.is_next("~"),
            ..Word::default()
        };
        loop {
            match self.peek() {
                None
                | Some(Symbol::Char(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')')) => {
                    break;
                }
                Some(Symbol::Char('(')) => return self.fail("a function, or a `(` within a word"),
                Some(Symbol::Char('\'')) => self.single_quotes(&mut word)?,
                Some(Symbol::Char('"')) => self.double_quotes(&mut word, is_piped)?,
                Some(Symbol::Char('\\')) => self.backslash(&mut word, false)?,
                Some(Symbol::Char('`')) => return self.fail("backticks"),
                Some(Symbol::Char('$')) => self.dollar(&mut word, false, is_piped)?,
                Some(Symbol::Char(character)) => {
                    word.has_pattern |= matches!(character, '*' | '?' | '[' | '{');
                    word.push(character);
                    self.take();
                }
                Some(Symbol::Data(number)) => {
                    let digits = self.binding.integers[number].as_deref();
                    // Before `<` it would name a descriptor.
                    let next = self.symbols.get(self.at + 1);
                    match digits.filter(|_| !matches!(next, Some(Symbol::Char('<' | '>')))) {
                        Some(digits) => {
                            self.script.output.push_str(digits);
                            word.push_text(digits);
                            self.at += 1;
                        }
                        None => {
                            word.is_quoted = true;
                            self.data(&mut word, number, "\"", "\"");
                        }
                    }
                }
            }
        }
        word.span.1 = self.script.output.len();
        // The name of a program.
        word.has_pattern &= word.literal() != Some("[");
        Ok(word)
    }

    fn data(&mut self, word: &mut Word, number: usize, before: &str, after: &str) {
        let name = &self.binding.names[number];
        self.script
            .output
            .push_str(&format!("{before}${{{name}}}{after}"));
        match &self.binding.integers[number] {
            Some(digits) => word.push_text(digits),
            None => word.parts.push(Part::Data(number)),
        }
        self.at += 1;
    }

    /// Quotes that hold data only are left out.
    fn single_quotes(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        word.is_quoted = true;
        self.at += 1;
        let start = self.script.output.len();
        let mut is_open = false;
        loop {
            match self.peek() {
                None => return self.fail("a `'` without its end"),
                Some(Symbol::Char('\'')) => break,
                Some(Symbol::Char(character)) => {
                    if !is_open {
                        self.script.output.push('\'');
                    }
                    is_open = true;
                    word.push(character);
                    self.take();
                }
                Some(Symbol::Data(number)) => {
                    let before = if is_open { "'\"" } else { "\"" };
                    is_open = false;
                    self.data(word, number, before, "\"");
                }
            }
        }
        self.at += 1;
        if is_open || self.script.output.len() == start {
            self.script
                .output
                .push_str(if is_open { "'" } else { "''" });
        }
        Ok(())
    }

    fn double_quotes(&mut self, word: &mut Word, is_piped: bool) -> Result<(), Unreadable> {
        word.is_quoted = true;
        self.take();
        loop {
            match self.peek() {
                None => return self.fail("a `\"` without its end"),
                Some(Symbol::Char('"')) => break,
                Some(Symbol::Char('\\')) => self.backslash(word, true)?,
                Some(Symbol::Char('`')) => return self.fail("backticks"),
                Some(Symbol::Char('$')) => self.dollar(word, true, is_piped)?,
                Some(Symbol::Char(character)) => {
                    word.push(character);
                    self.take();
                }
                Some(Symbol::Data(number)) => self.data(word, number, "", ""),
            }
        }
        self.take();
        Ok(())
    }

    fn backslash(&mut self, word: &mut Word, is_in_quotes: bool) -> Result<(), Unreadable> {
        let before = self.at.checked_sub(1).map(|at| self.symbols[at]);
        self.take();
        match self.peek() {
            // The shell joins the lines before it reads operators.
            Some(Symbol::Char('\n')) if !matches!(before, Some(Symbol::Char(' ' | '\t'))) => {
                return self.fail("a line that goes on without a blank before its `\\`");
            }
            Some(Symbol::Char('\n')) => self.take(),
            Some(Symbol::Char(character)) => {
                if is_in_quotes && !matches!(character, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.is_quoted = true;
                word.push(character);
                self.take();
            }
            Some(Symbol::Data(_)) => return self.fail("data behind a backslash"),
            None => return self.fail("a backslash at the end"),
        }
        Ok(())
    }

    fn dollar(
        &mut self,
        word: &mut Word,
        is_quoted: bool,
        is_piped: bool,
    ) -> Result<(), Unreadable> {
        self.take();
        match self.peek() {
            Some(Symbol::Data(_)) => return self.fail("data behind a `$`"),
            Some(Symbol::Char('(')) => {
                if self.is_next("((") {
                    return self.arithmetic(word);
                }
                self.take();
                let first = self.script.commands.len();
                self.list(is_piped)?;
                if !self.is_next(")") {
                    return self.fail("a `$(` without its `)`");
                }
                self.take();
                word.parts.push(Part::Substitution {
                    commands: first..self.script.commands.len(),
                    is_quoted,
                });
            }
            Some(Symbol::Char('{')) => {
                self.take();
                self.variable()?;
                // `${NAME:-plain text}`
                if self.is_next(":-") || self.is_next("-") {
                    while let Some(Symbol::Char(character)) = self.peek()
                        && (character.is_alphanumeric() || ":-_./,@ ".contains(character))
                    {
                        self.take();
                    }
                }
                if !self.is_next("}") {
                    return self.fail("a `${…}` with more than a name");
                }
                self.take();
                word.parts.push(Part::Variable);
            }
            Some(Symbol::Char('\'' | '[')) if !is_quoted => return self.fail("a `$'…'` or `$[…]`"),
            Some(Symbol::Char('[')) => return self.fail("arithmetic, `$[…]`"),
            Some(Symbol::Char('"')) if !is_quoted => return self.fail("a `$\"…\"`"),
            Some(Symbol::Char(character))
                if character.is_ascii_alphanumeric()
                    || matches!(character, '_' | '?' | '#' | '$' | '!' | '-') =>
            {
                self.variable()?;
                word.parts.push(Part::Variable);
            }
            Some(Symbol::Char('@' | '*')) => return self.fail("`$@`"),
            _ => word.push('$'),
        }
        Ok(())
    }

    /// Passes `$((…))` with numbers: a variable in it would be evaluated.
    fn arithmetic(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.take();
        self.take();
        while let Some(Symbol::Char(character)) = self.peek()
            && (character.is_ascii_digit() || " +-*/%".contains(character))
        {
            self.take();
        }
        if !self.is_next("))") {
            return self.fail("arithmetic, `$((…))`");
        }
        self.take();
        self.take();
        word.parts.push(Part::Variable);
        Ok(())
    }

    /// Passes the name of a variable.
    fn variable(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        while let Some(Symbol::Char(character)) = self.peek() {
            let is_name = character.is_ascii_alphanumeric() || character == '_';
            let is_digit = self.at > start
                && matches!(self.symbols[start], Symbol::Char(first) if first.is_ascii_digit());
            if !is_name || is_digit {
                break;
            }
            self.take();
        }
        if self.symbols[start..self.at] == [Symbol::Char('_')] {
            return self.fail("`$_`, the last word of the command before");
        }
        if self.at > start {
            return Ok(());
        }
        match self.peek() {
            Some(Symbol::Char('?' | '#' | '$' | '!' | '-')) => {
                self.take();
                Ok(())
            }
            _ => self.fail("a `${…}` with more than a name"),
        }
    }
}
