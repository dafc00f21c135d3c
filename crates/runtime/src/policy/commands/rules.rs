//! The rules for a command with data in it. What they can't show to be harmless is refused.

use std::ops::Range;

use super::super::hosts::HostLists;
use super::super::paths::Places;
use super::super::source::{Source, name};
use super::super::{Refusal, RefusalKind};
use super::CommandLists;
use super::programs::{self, Operands, Program};
use super::scanner::{Part, Redirection, Script, SimpleCommand, Word};
use cuecard_source::value::{Piece, Text};
use reqwest::Url;

/// What helps where data would be an option. The environment would not.
pub(super) const OPTION_HELP: &str = "write `--` before the words that are no options";

/// So many folders may be the one in which a command runs.
const MAX_FOLDERS: usize = 16;

/// Data, or what may be data, stands where it may not. How the command is written instead is added by who knows its text.
fn deny<T>(message: String) -> Result<T, Refusal> {
    Err(Refusal::new(RefusalKind::Data, message, ""))
}

pub(super) fn check(
    script: &Script,
    source: &Source<'_>,
    has_data: bool,
    lists: &CommandLists,
    places: &Places,
    hosts: &HostLists,
) -> Result<(), Refusal> {
    let mut rules = Rules {
        script,
        source,
        lists,
        places,
        hosts,
        has_data,
        folders: Some(vec![Text::default()]),
        is_moved_by_data: false,
        has_met_data: false,
        has_written_data: false,
        has_moved_files: false,
    };
    if has_data && script.has_background {
        return deny(
            "the command has data and a `&`, so its parts run at the same time".to_owned(),
        );
    }
    script
        .commands
        .iter()
        .try_for_each(|command| rules.command(command))?;
    // The parts of a pipe run at the same time.
    let mut unknown = script.commands.iter().filter_map(|command| {
        let name = command.words.first().and_then(Word::literal)?;
        (programs::find(name).is_none() && !lists.takes_data(name)).then_some(name)
    });
    match unknown.next() {
        Some(name) if script.has_pipe && rules.has_written_data => deny(format!(
            "`{name}` runs beside a command that makes a file of data, and may run that"
        )),
        _ => Ok(()),
    }
}

struct Rules<'a> {
    script: &'a Script,
    source: &'a Source<'a>,
    lists: &'a CommandLists,
    places: &'a Places,
    hosts: &'a HostLists,
    /// Otherwise it is checked for what the flags forbid only.
    has_data: bool,
    /// Where the command may run, relative to the working directory. `None` if that isn't known.
    folders: Option<Vec<Text>>,
    /// Data chose one of these.
    is_moved_by_data: bool,
    /// A command before this one has data.
    has_met_data: bool,
    /// A command before this one may have written data to a file, or given a file a name from data.
    has_written_data: bool,
    /// A command before this one moved files, and links among them.
    has_moved_files: bool,
}

impl Rules<'_> {
    fn command(&mut self, command: &SimpleCommand) -> Result<(), Refusal> {
        let carried = self.carried(command);
        let reads_data = (command.is_piped && self.has_met_data) || self.is_read(command);
        if let (Some(first), true) = (command.words.first(), self.has_data) {
            let Some(program) = first
                .literal()
                .filter(|_| !first.has_pattern && !first.has_tilde)
            else {
                return deny(match first.data().next() {
                    Some(number) => format!(
                        "the data of {} would be the name of a program",
                        self.name(number)
                    ),
                    None => "the name of a program is built by the shell".to_owned(),
                });
            };
            let words = &command.words[1..];
            match programs::find(program) {
                Some(listed) => {
                    let name = program.rsplit('/').next().unwrap_or(program);
                    self.listed(name, listed, words)?;
                    let is_copy = matches!(name, "cp" | "mv");
                    let writes = match listed.operands {
                        Operands::Write => carried || reads_data,
                        Operands::Filter => carried || reads_data,
                        _ => false,
                    };
                    self.has_written_data |= writes;
                    self.has_moved_files |= is_copy;
                }
                None if self.lists.takes_data(program) => {
                    self.allowed(words)?;
                    self.has_written_data |= carried || reads_data;
                }
                None => self.other(program, words, reads_data)?,
            }
        }
        if !self.has_data && command.words.first().and_then(Word::literal) == Some("cd") {
            self.folders = None;
        }
        for redirection in &command.redirections {
            self.redirection(redirection)?;
            self.has_written_data |= redirection.makes_file() && (carried || reads_data);
        }
        self.has_met_data |= carried;
        Ok(())
    }

    /// Whether data is in the words or the redirections of a command.
    fn carried(&self, command: &SimpleCommand) -> bool {
        let targets = command.redirections.iter().map(|to| &to.target);
        let mut words = command.words.iter().chain(targets);
        words.any(|word| self.may_be_data(word))
    }

    /// Whether any of a word is data, or may be.
    fn may_be_data(&self, word: &Word) -> bool {
        word.has_data() || self.substitutes(word).is_some()
    }

    /// Whether a command reads a file that data names or is in.
    fn is_read(&self, command: &SimpleCommand) -> bool {
        let mut reads = command.redirections.iter().filter(|from| !from.writes);
        reads.any(|from| self.has_written_data || self.is_moved_by_data || from.target.has_data())
    }

    /// Whether the output of a command in this word may be data, and then whether it is quoted.
    fn substitutes(&self, word: &Word) -> Option<bool> {
        let carries = |commands: &Range<usize>| {
            let inner = &self.script.commands[commands.clone()];
            self.has_written_data
                || self.is_moved_by_data
                || inner
                    .iter()
                    .any(|command| (command.is_piped && self.has_met_data) || self.carried(command))
        };
        let quoted = word.parts.iter().filter_map(|part| match part {
            Part::Substitution {
                commands,
                is_quoted,
            } if carries(commands) => Some(*is_quoted),
            _ => None,
        });
        quoted.reduce(|all, one| all && one)
    }

    /// A program that is not in the table gets no data, in no way.
    fn other(&self, program: &str, words: &[Word], reads_data: bool) -> Result<(), Refusal> {
        words
            .iter()
            .try_for_each(|word| self.without_data(program, word))?;
        let why = match () {
            () if reads_data => "reads data, and may run it",
            () if self.has_written_data => "runs after data made a file, and may run that",
            () if self.is_moved_by_data => "runs in a folder that data named",
            () => return Ok(()),
        };
        deny(format!("`{program}` {why}"))
    }

    fn without_data(&self, program: &str, word: &Word) -> Result<(), Refusal> {
        let message = match word.data().next() {
            Some(number) => format!(
                "the data of {} is an argument of `{program}`, and what that does with its arguments is not known",
                self.name(number)
            ),
            None if self.may_be_data(word) => format!(
                "the output of `$(…)` may be data, and is an argument of `{program}`, which is not known to only print, compare or name files"
            ),
            None => return Ok(()),
        };
        let tool = programs::tool_instead(program);
        let help = tool.map_or_else(String::new, |tool| format!("use `{tool}`, or "));
        Err(Refusal::new(RefusalKind::Data, message, help))
    }

    /// The user allowed this program, so its words may be any text. They are never its options.
    fn allowed(&self, words: &[Word]) -> Result<(), Refusal> {
        let mut is_behind_options = false;
        for word in words {
            is_behind_options |= word.literal() == Some("--");
            self.check_option(word, is_behind_options)?;
            self.check_quotes(word)?;
            let Some(text) = self.text(word).filter(|text| !text.is_trusted()) else {
                continue;
            };
            // Also one of another scheme is refused there.
            if Url::parse(&text.to_string()).is_ok_and(|url| !url.cannot_be_a_base()) {
                let grant = self.hosts.grant(&text)?;
                let host = grant.url().host_str().unwrap_or_default();
                let address = match host.ends_with("localhost") {
                    true => "127.0.0.1",
                    false => host.trim_start_matches('[').trim_end_matches(']'),
                };
                // What another name leads to, the program will see.
                if let Ok(address) = address.parse() {
                    grant.check_addresses(grant.url(), &[address], false)?;
                }
            }
        }
        Ok(())
    }

    fn listed(&mut self, name: &str, program: &Program, words: &[Word]) -> Result<(), Refusal> {
        for word in words {
            self.check_quotes(word)?;
        }
        match program.operands {
            Operands::Printed => Ok(()),
            Operands::Formatted => self.format(words),
            Operands::Expression => self.expression(name, words),
            Operands::Filter if self.is_moved_by_data => self.other(name, words, false),
            kind => {
                // `awk` reads escapes in `-v name=…`, and an operand with a `=` as the same.
                let is_special = |word: &&Word| match word.beginning().contains('=') {
                    true => self.has_special(word, &['\\']),
                    false => self.has_special(word, &['\\', '=']),
                };
                if let Some(word) = words
                    .iter()
                    .find(is_special)
                    .filter(|_| name.ends_with("awk"))
                {
                    return deny(format!(
                        "`{name}` would read a `=` or backslash in the data of {}",
                        self.name_in(word)
                    ));
                }
                let loads = |word: &Word| {
                    let text = word.literal().unwrap_or_default();
                    text.contains("include") || text.contains("import")
                };
                if name == "jq" && words.iter().any(loads) {
                    return deny("`jq` would load a module, which may be of data".to_owned());
                }
                self.options(name, program.options, kind, words)?;
                match name {
                    "cp" | "mv" => self.copied(words),
                    _ => Ok(()),
                }
            }
        }
    }

    /// The files that `cp` and `mv` make in a folder, under the names that they have.
    fn copied(&self, words: &[Word]) -> Result<(), Refusal> {
        let Some((folder, sources)) = words.split_last() else {
            return Ok(());
        };
        let Some(folder) = self.text(folder) else {
            return Ok(());
        };
        for source in sources.iter().filter_map(|word| self.text(word)) {
            let written = source.to_string();
            let name = written
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or_default();
            let mut piece = source
                .untrusted()
                .cloned()
                .unwrap_or_else(|| Piece::author(""));
            piece.text = name.to_owned();
            let path = join(&folder, &Text::new(vec![piece]));
            if !source.is_trusted() && !matches!(name, "" | "." | "..") {
                for base in self.folders.iter().flatten() {
                    self.places.create(&join(base, &path))?;
                }
            }
        }
        Ok(())
    }

    /// The format of `printf`, which the author writes: with `-v` and `%n` it sets variables.
    fn format(&self, words: &[Word]) -> Result<(), Refusal> {
        let Some(format) = words.iter().find(|word| word.literal() != Some("--")) else {
            return Ok(());
        };
        let is_known = match format.parts.first() {
            Some(Part::Text(text)) => !text.starts_with('-'),
            Some(Part::Data(number)) => !self.source.data[*number].text.starts_with('-'),
            Some(Part::Variable | Part::Substitution { .. }) => false,
            None => true,
        };
        let counts = format.parts.iter().any(|part| match part {
            Part::Text(text) => text.split('%').skip(1).any(|conversion| {
                conversion
                    .trim_start_matches(|flag: char| {
                        flag.is_ascii_digit() || "-+ #'.*hlLjzt".contains(flag)
                    })
                    .starts_with('n')
            }),
            _ => false,
        });
        // A `%` before data would make a conversion of it.
        let counts = counts
            || (format.has_data()
                && format
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Text(text) if text.contains('%'))));
        if is_known && !counts && !self.has_special(format, &['%', '\\']) {
            return Ok(());
        }
        Err(Refusal::new(
            RefusalKind::Data,
            "`printf` has a format that isn't the author's alone, or one that sets a variable",
            "write `printf '%s' …` with the reference behind it",
        ))
    }

    /// Whether the program would read these characters of data as more than text.
    fn has_special(&self, word: &Word, special: &[char]) -> bool {
        let mut texts = word.data().map(|number| &self.source.data[number].text);
        texts.any(|text| text.contains(special)) || self.substitutes(word).is_some()
    }

    /// Options as `getopt` reads them, and what follows them.
    fn options(
        &mut self,
        name: &str,
        options: &str,
        mut kind: Operands,
        words: &[Word],
    ) -> Result<(), Refusal> {
        let (mut takes_value, mut is_behind_options, mut count) = (None, false, 0);
        let mut is_name = false;
        for word in words {
            match takes_value.take() {
                Some(true) => {
                    self.without_data(name, word)?;
                    continue;
                }
                Some(false) => continue,
                None => {}
            }
            let start = word.beginning();
            if !is_behind_options && word.literal() == Some("--") {
                is_behind_options = true;
                continue;
            }
            // `jq --arg NAME VALUE`
            if std::mem::take(&mut is_name) {
                self.without_data(name, word)?;
                takes_value = Some(false);
                continue;
            }
            if name == "jq" && matches!(word.literal(), Some("--arg" | "--argjson")) {
                is_name = true;
                continue;
            }
            if !is_behind_options && start.starts_with('-') && word.literal() != Some("-") {
                match option(options, word) {
                    Some(Option::None) => {}
                    Some(Some(value)) => {
                        takes_value = value.is_pending.then_some(value.is_literal);
                        if value.is_literal {
                            self.without_data(name, word)?;
                        }
                        if matches!(kind, Operands::Pattern | Operands::Filter)
                            && value.letter == 'e'
                        {
                            kind = Operands::Read;
                        }
                    }
                    None if word.has_data() => {
                        return deny(format!(
                            "the data of {} is a part of an option of `{name}`",
                            self.name_in(word)
                        ));
                    }
                    None => {
                        return deny(format!(
                            "what `{name}` does with `{start}` beside data is not known"
                        ));
                    }
                }
                continue;
            }
            self.check_option(word, is_behind_options)?;
            count += 1;
            match kind {
                Operands::Pattern if count == 1 => {}
                Operands::Filter if count == 1 => self.without_data(name, word)?,
                Operands::Pattern | Operands::Filter | Operands::Read => self.file(word, false)?,
                Operands::Write => self.file(word, true)?,
                Operands::Folder => {
                    self.file(word, true)?;
                    self.enter(word);
                }
                Operands::Literal => self.without_data(name, word)?,
                _ => {}
            }
        }
        if kind == Operands::Folder && count == 0 {
            self.folders = None;
        }
        Ok(())
    }

    /// `test` as it is read by the number of its words, so that data is an operand and no operator. Some shells evaluate
    /// what they compare as numbers.
    fn expression(&self, name: &str, words: &[Word]) -> Result<(), Refusal> {
        let words = match words.split_last() {
            Some((last, words)) if name.ends_with('[') && last.literal() == Some("]") => words,
            _ => words,
        };
        let words = match words.split_first() {
            Some((first, words)) if first.literal() == Some("!") && !words.is_empty() => words,
            _ => words,
        };
        let is = |word: &Word, among: &str| {
            let text = word.literal().unwrap_or_default();
            among.split(' ').any(|known| known == text)
        };
        let is_known = match words {
            [] | [_] => true,
            [operator, _] => is(operator, "-n -z -e -f -d -r -w -x -s -L -h"),
            [left, operator, right] => {
                is(operator, "= == != -nt -ot -ef")
                    || (is(operator, "-eq -ne -lt -le -gt -ge")
                        && [left, right].into_iter().all(|word| self.is_number(word)))
            }
            _ => false,
        };
        if !is_known && words.iter().any(|word| self.may_be_data(word)) {
            return deny(format!(
                "`{name}` has data in an expression that isn't one comparison of texts, or of whole numbers"
            ));
        }
        Ok(())
    }

    /// Whether nothing of a word is anything but a whole number.
    fn is_number(&self, word: &Word) -> bool {
        let is_integer = |text: &str| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        match self.text(word) {
            Some(text) => is_integer(&text.to_string()),
            None => !self.may_be_data(word),
        }
    }

    /// Data in quotes is one word; the output of a command without them is split and may match names of files.
    fn check_quotes(&self, word: &Word) -> Result<(), Refusal> {
        if self.substitutes(word) == Some(false) {
            return deny(
                "the output of `$(…)` may be data, and has no double quotes around it".to_owned(),
            );
        }
        if word.has_pattern && self.may_be_data(word) {
            return deny(format!(
                "the data of {} stands beside `*`, `?`, `[` or `{{`, so it would choose names of files",
                self.name_in(word)
            ));
        }
        Ok(())
    }

    fn check_option(&self, word: &Word, is_behind_options: bool) -> Result<(), Refusal> {
        if is_behind_options {
            return Ok(());
        }
        let start = match word.parts.first() {
            Some(Part::Data(_)) => self.text(word).map(|text| text.to_string()),
            Some(Part::Substitution { .. }) => self.substitutes(word).map(|_| "-".to_owned()),
            _ => None,
        };
        match start {
            Some(start) if start.starts_with('-') => Err(Refusal::new(
                RefusalKind::Data,
                format!(
                    "the data of {} begins with `-` where it would be an option",
                    self.name_in(word)
                ),
                OPTION_HELP,
            )),
            _ => Ok(()),
        }
    }

    /// A word that names a file.
    fn file(&self, word: &Word, writes: bool) -> Result<(), Refusal> {
        let has_data = word.has_data() || self.is_moved_by_data;
        if self.substitutes(word).is_some() {
            return deny("the output of `$(…)` may be data, and names a file".to_owned());
        }
        let must_be_known = self.has_data && has_data;
        if !must_be_known && self.lists.forbidden().is_none() {
            return Ok(());
        }
        let folders = self.folders.as_deref();
        let known = match self.text(word) {
            Some(text) if !word.has_tilde && !word.has_pattern => Some(text),
            _ => None,
        };
        let (Some(text), Some(folders)) = (known, folders) else {
            if !must_be_known {
                return deny("which file it opens is not known before the command runs".to_owned());
            }
            let why = match folders {
                None => "after a `cd` to a folder that is not known",
                Some(_) => "in a name that the shell completes",
            };
            return deny(format!(
                "the data of {} names a file {why}",
                self.name_in(word)
            ));
        };
        if has_data && self.has_moved_files {
            return deny(format!(
                "the data of {} names a file after `cp` or `mv`, which may have moved links",
                self.name_in(word)
            ));
        }
        for folder in folders {
            let path = join(folder, &text);
            if writes {
                self.places.create(&path)?;
            } else {
                self.places.read(&path)?;
            }
        }
        Ok(())
    }

    fn redirection(&self, redirection: &Redirection) -> Result<(), Refusal> {
        let word = &redirection.target;
        let is_descriptor = word
            .literal()
            .is_some_and(|text| matches!(text, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "-"));
        match is_descriptor {
            true => Ok(()),
            false => self.file(word, redirection.writes),
        }
    }

    /// What follows may run here, or still where it ran: a `cd` may fail, or be in a subshell.
    fn enter(&mut self, word: &Word) {
        self.is_moved_by_data |= word.has_data();
        let text = self
            .text(word)
            .filter(|text| !word.has_tilde && !word.has_pattern && text.to_string() != "-");
        self.folders = match (self.folders.take(), text) {
            (Some(mut folders), Some(text)) if folders.len() < MAX_FOLDERS => {
                let entered: Vec<Text> = folders.iter().map(|from| join(from, &text)).collect();
                folders.extend(entered);
                Some(folders)
            }
            _ => None,
        };
    }

    /// The text of a word, if the shell adds nothing to it.
    fn text(&self, word: &Word) -> Option<Text> {
        let pieces = word.parts.iter().map(|part| match part {
            Part::Text(text) => Some(Piece::author(text)),
            Part::Data(number) => Some(self.source.data[*number].clone()),
            Part::Variable | Part::Substitution { .. } => None,
        });
        Some(Text::new(pieces.collect::<Option<_>>()?))
    }

    fn name(&self, number: usize) -> String {
        name(self.source.data[number])
    }

    fn name_in(&self, word: &Word) -> String {
        let number = word.data().next().map(|number| self.name(number));
        number.unwrap_or_else(|| "`$(…)`".to_owned())
    }
}

/// An option with a value.
struct Value {
    letter: char,
    /// The value is the next word.
    is_pending: bool,
    /// The value is no data.
    is_literal: bool,
}

/// What the word is to `getopt`: known letters, the last one perhaps with a value. `None` if it has others.
fn option(options: &str, word: &Word) -> Option<Option<Value>> {
    let start = word.beginning();
    if let Some(long) = start.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or_default();
        return (word.literal().is_some() && programs::is_long_option(name)).then_some(None);
    }
    let letters = &start[1..];
    // `head -5`
    if word.literal().is_some() && letters.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(None);
    }
    for (at, letter) in letters.char_indices() {
        let place = options.find(letter).filter(|_| !":=".contains(letter))?;
        let sign = options[place + letter.len_utf8()..].chars().next();
        if let Some(sign @ (':' | '=')) = sign {
            let is_last = at + letter.len_utf8() == letters.len();
            return Some(Some(Value {
                letter,
                is_pending: is_last && word.parts.len() == 1,
                is_literal: sign == '=',
            }));
        }
    }
    (word.parts.len() == 1).then_some(None)
}

fn join(folder: &Text, path: &Text) -> Text {
    let is_absolute = path.to_string().starts_with('/');
    if folder.pieces().is_empty() || is_absolute {
        return path.clone();
    }
    let mut pieces = folder.pieces().to_vec();
    pieces.push(Piece::author("/"));
    pieces.extend(path.pieces().iter().cloned());
    Text::new(pieces)
}
