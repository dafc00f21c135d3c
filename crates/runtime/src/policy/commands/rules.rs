//! The rules for a command with data in it. What they can't show to be harmless is refused.

use std::ops::Range;

use super::super::paths::Places;
use super::super::source::{Source, ends_with_line, line_end_help, name};
use super::super::{Refusal, RefusalKind};
use super::CommandLists;
use super::programs::{self, Operands, Program};
use super::scanner::{Part, Redirection, Script, SimpleCommand, Word};
use cuecard_source::value::{Piece, Text};

/// What helps where data would be an option. The environment would not.
pub(super) const OPTION_HELP: &str = "write `--` before the words that are no options";

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
) -> Result<(), Refusal> {
    let runs = |names: &[&str]| {
        let mut programs = script.commands.iter().filter_map(SimpleCommand::program);
        programs.any(|program| names.contains(&program))
    };
    let mut rules = Rules {
        script,
        source,
        lists,
        places,
        has_data,
        moves_files: runs(&["cp", "mv"]) || (runs(&["rm", "rmdir"]) && runs(&["mkdir", "touch"])),
        is_elsewhere: false,
        has_met_data: false,
        has_written_data: false,
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
    /// Otherwise it is checked for what the flags forbid only.
    has_data: bool,
    /// It moves, copies or replaces files, and links among them.
    moves_files: bool,
    /// A command before this one is `cd`.
    is_elsewhere: bool,
    /// A command before this one has data.
    has_met_data: bool,
    /// A command before this one may have written data to a file, or given a file a name from data.
    has_written_data: bool,
}

impl Rules<'_> {
    fn command(&mut self, command: &SimpleCommand) -> Result<(), Refusal> {
        let carried = self.carried(command);
        let reads_data = (command.is_piped && self.has_met_data) || self.is_read(command);
        let gets_data = carried || reads_data;
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
                    self.listed(name, listed, words, gets_data)?;
                    let writes = matches!(
                        listed.operands,
                        Operands::Write | Operands::Filter | Operands::Copy
                    );
                    self.has_written_data |= writes && gets_data;
                }
                None if self.lists.takes_data(program) => {
                    self.allowed(words)?;
                    self.has_written_data |= gets_data;
                }
                None => self.other(program, words, reads_data)?,
            }
        }
        self.is_elsewhere |= command.program() == Some("cd");
        for redirection in &command.redirections {
            self.redirection(redirection)?;
            self.has_written_data |= redirection.makes_file() && gets_data;
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
        let mut reads = command.redirections.iter().filter(|from| from.reads);
        reads.any(|from| self.has_written_data || from.target.has_data())
    }

    /// Whether the output of a command in this word may be data, and then whether it is quoted.
    fn substitutes(&self, word: &Word) -> Option<bool> {
        let carries = |commands: &Range<usize>| {
            let inner = &self.script.commands[commands.clone()];
            self.has_written_data
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
        let mut is_value = false;
        for word in words {
            // An option before it may take it as its value.
            is_behind_options |= word.literal() == Some("--") && !is_value;
            is_value = word.beginning().starts_with('-') && !word.beginning().contains('=');
            self.check_option(word, is_behind_options, "")?;
            self.check_quotes(word)?;
            let start = word.beginning();
            if !is_behind_options
                && word.has_data()
                && start.starts_with('-')
                && !start.contains('=')
            {
                return self.deny_attached(word);
            }
        }
        Ok(())
    }

    fn deny_attached(&self, word: &Word) -> Result<(), Refusal> {
        Err(Refusal::new(
            RefusalKind::Data,
            format!(
                "what follows the option `{}` is not known, and may be nothing",
                word.beginning()
            ),
            "write the value of the option as a word of its own",
        ))
    }

    fn listed(
        &mut self,
        name: &str,
        program: &Program,
        words: &[Word],
        gets_data: bool,
    ) -> Result<(), Refusal> {
        for word in words {
            self.check_quotes(word)?;
        }
        match program.operands {
            Operands::Printed => {
                let options = words.iter().map_while(Word::literal);
                let mut options = options.take_while(|word| word.starts_with('-'));
                match options.any(|option| option.contains('e')) {
                    true => self.without_backslash("echo -e", words),
                    false => Ok(()),
                }
            }
            Operands::Formatted => self.format(words),
            Operands::Expression => self.expression(name, words),
            _ => {
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
                if name == "set" && words.is_empty() {
                    return deny("`set` prints all variables, and data in them".to_owned());
                }
                self.options(name, program, words, gets_data || self.has_written_data)
            }
        }
    }

    /// A word must be one word, and no option, whatever is in it: else the words around it would be something else.
    fn check_known(&self, name: &str, word: &Word) -> Result<(), Refusal> {
        let is_named =
            word.is_quoted && !matches!(word.beginning().chars().next(), None | Some('-'));
        let is_known = word.literal().is_some() || word.has_data() || is_named;
        if is_known && !word.has_pattern && !word.has_tilde {
            return Ok(());
        }
        deny(format!(
            "`{name}` has data, and a word that the shell makes and that may be an option or no word"
        ))
    }

    /// The format of `printf`, which the author writes: with `-v` and `%n` it sets variables.
    fn format(&self, words: &[Word]) -> Result<(), Refusal> {
        let is_behind = words.first().and_then(Word::literal) == Some("--");
        let Some(format) = words.get(usize::from(is_behind)) else {
            return Ok(());
        };
        let is_known = match format.parts.first() {
            Some(Part::Text(text)) => is_behind || !text.starts_with('-'),
            Some(Part::Data(number)) => {
                is_behind || !self.source.data[*number].text.starts_with('-')
            }
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
        if is_known && !format.has_pattern && !counts && !self.has_special(format, &['%', '\\']) {
            let reads_escapes = format.parts.iter().any(|part| match part {
                Part::Text(text) => text.contains("%b"),
                _ => false,
            });
            return match reads_escapes {
                true => self.without_backslash("printf '%b'", words),
                false => Ok(()),
            };
        }
        Err(Refusal::new(
            RefusalKind::Data,
            "`printf` has a format that isn't the author's alone, or one that sets a variable",
            "write `printf '%s' …` with the reference behind it",
        ))
    }

    /// No word of data has a backslash, which the program would read.
    fn without_backslash(&self, program: &str, words: &[Word]) -> Result<(), Refusal> {
        match words.iter().find(|word| self.has_special(word, &['\\'])) {
            Some(word) => Err(Refusal::new(
                RefusalKind::Data,
                format!(
                    "`{program}` would read a backslash in the data of {}",
                    self.name_in(word)
                ),
                "write `printf '%s' …` with the reference behind it",
            )),
            None => Ok(()),
        }
    }

    /// Whether the program would read these characters of data as more than text.
    fn has_special(&self, word: &Word, special: &[char]) -> bool {
        let mut texts = word.data().map(|number| &self.source.data[number].text);
        texts.any(|text| text.contains(special)) || self.substitutes(word).is_some()
    }

    /// Options as `getopt` reads them, and what stands between and behind them.
    fn options(
        &self,
        name: &str,
        program: &Program,
        words: &[Word],
        gets_data: bool,
    ) -> Result<(), Refusal> {
        let (options, kind) = (program.options, program.operands);
        // An option may stand behind the words that it is about.
        let has = |letters: &[char], word: &str| {
            let mut options = words.iter().filter_map(Word::literal);
            options.any(|option| match option.strip_prefix("--") {
                Some(long) => long == word,
                None => option.starts_with('-') && option.contains(letters),
            })
        };
        let is_grep = matches!(name, "grep" | "egrep" | "fgrep");
        let has_script =
            (is_grep && has(&['e', 'f'], "regexp")) || (name == "sed" && has(&['e'], "expression"));
        let recurses = (is_grep || name == "rm") && has(&['r', 'R'], "recursive");
        let (mut takes_value, mut is_behind_options, mut count) = (None, false, 0);
        let mut is_name = false;
        for word in words {
            // To `jq`, a value is a text like any other.
            if name != "jq" {
                self.check_line_end(name, word)?;
            }
            let is_value = takes_value.is_some() || is_name;
            if gets_data && !(is_value && word.is_quoted && !word.has_pattern) {
                self.check_known(name, word)?;
            }
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
            if !is_behind_options && name == "jq" && matches!(start, "--arg" | "--argjson") {
                is_name = true;
                continue;
            }
            if !is_behind_options && start.starts_with('-') && word.literal() != Some("-") {
                match option(options, word) {
                    Some(_) if word.literal().is_none() => return self.deny_attached(word),
                    Some(value) => takes_value = value,
                    None if word.has_data() => return self.deny_attached(word),
                    None => {
                        return deny(format!(
                            "what `{name}` does with `{start}` beside data is not known"
                        ));
                    }
                }
                continue;
            }
            count += 1;
            let is_first = count == 1 && !has_script;
            // Where no data may be, `--` is no help.
            if matches!(kind, Operands::Literal | Operands::Copy)
                || (kind == Operands::Filter && is_first)
            {
                self.without_data(name, word)?;
                continue;
            }
            self.check_option(word, is_behind_options, OPTION_HELP)?;
            match kind {
                Operands::Pattern if is_first => {}
                Operands::Pattern | Operands::Filter | Operands::Read | Operands::Write => {
                    if recurses && self.may_be_data(word) {
                        return deny(format!(
                            "the data of {} names a folder for `{name} -r`",
                            self.name_in(word)
                        ));
                    }
                    self.file(word, kind == Operands::Write)?;
                }
                _ => {}
            }
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
            [operator, file] if is(operator, "-e -f -d -r -w -x -s -L -h") => {
                return self.file(file, false);
            }
            [operator, _] => is(operator, "-n -z"),
            [left, operator, right] if is(operator, "-nt -ot -ef") => {
                return self
                    .file(left, false)
                    .and_then(|()| self.file(right, false));
            }
            [left, _, right]
                if self.with_line_end(left).is_some() != self.with_line_end(right).is_some()
                    && [left, right]
                        .into_iter()
                        .all(|word| word.literal() != Some("")) =>
            {
                return [left, right]
                    .into_iter()
                    .try_for_each(|word| self.check_line_end(name, word));
            }
            [left, operator, right] => {
                is(operator, "= == !=")
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

    /// A program takes the line end that commands print for a part of the name, the pattern or the number.
    fn check_line_end(&self, program: &str, word: &Word) -> Result<(), Refusal> {
        match self.with_line_end(word) {
            Some(piece) => Err(Refusal::new(
                RefusalKind::Data,
                format!(
                    "the data of {} ends with a line end, which `{program}` would take for a part of it",
                    name(piece)
                ),
                line_end_help(piece),
            )),
            None => Ok(()),
        }
    }

    fn with_line_end(&self, word: &Word) -> Option<&Piece> {
        let mut data = word.data().map(|number| self.source.data[number]);
        data.find(|piece| ends_with_line(piece))
    }

    fn check_option(
        &self,
        word: &Word,
        is_behind_options: bool,
        help: &str,
    ) -> Result<(), Refusal> {
        if is_behind_options {
            return Ok(());
        }
        let start = match word.parts.first() {
            Some(Part::Data(_)) => self.text(word).map(|text| text.to_string()),
            Some(Part::Substitution { .. }) => self.substitutes(word).map(|_| "-".to_owned()),
            _ => None,
        };
        match start {
            Some(start) if start.starts_with(['-', '+']) => Err(Refusal::new(
                RefusalKind::Data,
                format!(
                    "the data of {} would be an option, or may be",
                    self.name_in(word)
                ),
                help,
            )),
            _ => Ok(()),
        }
    }

    /// A word that names a file.
    fn file(&self, word: &Word, writes: bool) -> Result<(), Refusal> {
        if self.substitutes(word).is_some() {
            return deny("the output of `$(…)` may be data, and names a file".to_owned());
        }
        let has_data = self.has_data && word.has_data();
        if !has_data && self.lists.forbidden().is_none() {
            return Ok(());
        }
        let is_known = !word.has_tilde && !word.has_pattern && !self.is_elsewhere;
        let why = match self.text(word).filter(|_| is_known) {
            Some(text) => {
                match writes {
                    true => self.places.create(&text)?,
                    false => self.places.read(&text)?,
                };
                let has_parent = text.to_string().split('/').any(|name| name == "..");
                match has_data {
                    // `mkdir -p` makes what is on the way.
                    true if writes && has_parent => "that has a `..` and is made",
                    true if self.moves_files => "beside commands that may move or replace links",
                    _ => return Ok(()),
                }
            }
            None if !has_data => {
                return deny("which file it opens is not known before the command runs".to_owned());
            }
            None if self.is_elsewhere => "after a `cd`",
            None => "in a name that the shell completes",
        };
        deny(format!(
            "the data of {} names a file {why}",
            self.name_in(word)
        ))
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

/// What the word is to `getopt`: known letters, and whether the next word is the value of the last one, which may be the
/// author's only. `None` if it has others.
fn option(options: &str, word: &Word) -> Option<Option<bool>> {
    let start = word.beginning();
    if let Some(long) = start.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or_default();
        let takes_value = programs::long_option(name)?;
        return Some((takes_value && name.len() == long.len()).then_some(true));
    }
    let letters = &start[1..];
    // `head -5`
    if letters.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(None);
    }
    for (at, letter) in letters.char_indices() {
        let place = options.find(letter).filter(|_| !":=".contains(letter))?;
        let sign = options[place + letter.len_utf8()..].chars().next();
        if let Some(sign @ (':' | '=')) = sign {
            let is_last = at + letter.len_utf8() == letters.len();
            return Some(is_last.then_some(sign == '='));
        }
    }
    Some(None)
}
