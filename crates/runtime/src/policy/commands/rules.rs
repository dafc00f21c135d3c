//! The rules for a command with data in it. What they can't show to be harmless is refused.

use std::sync::LazyLock;

use regex::Regex;

use super::super::paths::Places;
use super::super::source::{ends_with_line, is_in, line_end_help, name};
use super::super::{Refusal, RefusalKind};
use super::CommandLists;
use super::programs::{self, Operands, Program};
use super::scanner::{ADDED, DATA, Script, SimpleCommand, Source, Word};
use cuecard_source::value::{Piece, Text};

/// What helps where data would be an option. The environment would not.
const OPTION_HELP: &str = "write `--` before the words that are no options";
const FORMAT_HELP: &str = "write `printf '%s' …` with the reference behind it";

/// Data, or what may be data, stands where it may not. How the command is written instead is added by who knows its text.
fn deny<T>(message: impl Into<String>) -> Result<T, Refusal> {
    deny_with(message, "")
}

fn deny_with<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(RefusalKind::Data, message, help))
}

type Checked = Result<(), Refusal>;

pub(super) fn check(
    script: &Script,
    source: &Source<'_>,
    has_data: bool,
    lists: &CommandLists,
    places: &Places,
) -> Checked {
    let programs = || script.commands.iter().filter_map(SimpleCommand::program);
    let runs = |names: &str| programs().any(|program| is_in(names, program));
    let mut rules = Rules {
        source,
        lists,
        places,
        has_data,
        moves_files: runs("cp mv") || (runs("rm rmdir") && runs("mkdir touch")),
        is_elsewhere: false,
        has_met_data: false,
        is_fed: false,
        has_written_data: false,
    };
    if has_data && script.has_background {
        return deny("the command has data and a `&`, so its parts run at the same time");
    }
    for command in &script.commands {
        rules.command(command)?;
    }
    // The parts of a pipe run at the same time.
    let firsts = script.commands.iter().filter_map(|it| it.words.first());
    let is_unknown = |name: &&str| programs::find(name).is_none() && !lists.takes_data(name);
    match firsts.filter_map(Word::literal).find(is_unknown) {
        Some(name) if script.has_pipe && rules.has_written_data => deny(format!(
            "`{name}` runs beside a command that makes a file of data, and may run that"
        )),
        _ => Ok(()),
    }
}

struct Rules<'a> {
    source: &'a Source<'a>,
    lists: &'a CommandLists,
    places: &'a Places,
    /// Otherwise it is checked for what the flags forbid only.
    has_data: bool,
    /// It moves, copies or replaces files, and links among them.
    moves_files: bool,
    /// A command before this one is `cd`.
    is_elsewhere: bool,
    /// A command before this one has data; this one may read that from a pipe.
    has_met_data: bool,
    is_fed: bool,
    /// A command before this one may have written data to a file, or given a file a name from data.
    has_written_data: bool,
}

impl Rules<'_> {
    fn command(&mut self, command: &SimpleCommand) -> Checked {
        self.is_fed = command.is_piped && self.has_met_data;
        let targets = command.redirections.iter().map(|to| &to.target);
        let carried = command
            .words
            .iter()
            .chain(targets)
            .any(|word| self.may_be_data(word));
        // A file is read that data names or is in.
        let mut reads = command.redirections.iter().filter(|from| from.reads);
        let reads_data =
            self.is_fed || reads.any(|from| self.has_written_data || from.target.has_data());
        let gets_data = carried || reads_data;
        if let (Some((first, words)), true) = (command.words.split_first(), self.has_data) {
            let Some(program) = first.name() else {
                return match first.has_data() {
                    true => self.deny_data(first, "would be the name of a program"),
                    false => deny("the name of a program is built by the shell"),
                };
            };
            let writes = match programs::find(program) {
                Some(listed) => {
                    let name = program.rsplit('/').next().unwrap_or(program);
                    self.listed(name, listed, words, gets_data)?;
                    // A script may have one of these to write what it reads.
                    let writes = |word: &Word| word.text.contains(['w', 'W', '>']);
                    match listed.2 {
                        Operands::Write => !is_in("rm rmdir", name),
                        Operands::Filter => name != "jq" && words.iter().any(writes),
                        kind => kind == Operands::Copy,
                    }
                }
                None if self.lists.takes_data(program) => {
                    self.allowed(words)?;
                    true
                }
                None => {
                    self.other(program, words, reads_data)?;
                    false
                }
            };
            self.has_written_data |= writes && gets_data;
        }
        self.is_elsewhere |= command.program() == Some("cd");
        for redirection in &command.redirections {
            let target = redirection.target.literal().unwrap_or_default();
            if !is_in("/dev/null /dev/stdout /dev/stderr -", target) {
                self.file(&redirection.target, redirection.writes)?;
            }
            self.has_written_data |= redirection.makes_file() && gets_data;
        }
        self.has_met_data |= carried;
        Ok(())
    }

    /// Whether any of a word is data, or may be.
    fn may_be_data(&self, word: &Word) -> bool {
        word.has_data() || self.prints_data(word)
    }

    /// Whether the output of a command in this word may be data.
    fn prints_data(&self, word: &Word) -> bool {
        word.has_output && (word.has_data_inside || self.has_written_data || self.is_fed)
    }

    /// A program that is not in the table gets no data, in no way.
    fn other(&self, program: &str, words: &[Word], reads_data: bool) -> Checked {
        words
            .iter()
            .try_for_each(|word| self.without_data(program, word))?;
        let what = match reads_data {
            true => "reads data, and may run it",
            false if self.has_written_data => "runs after data made a file, and may run that",
            false => return Ok(()),
        };
        deny(format!("`{program}` {what}"))
    }

    fn without_data(&self, program: &str, word: &Word) -> Checked {
        let (data, what) = match word.has_data() {
            _ if !self.may_be_data(word) => return Ok(()),
            true => (
                format!("the data of {} is", self.name_in(word)),
                "and what that does with its arguments is not known",
            ),
            false => (
                "the output of `$(…)` may be data, and is".to_owned(),
                "which is not known to only print, compare or name files",
            ),
        };
        let tool = programs::tool_instead(program);
        let help = tool.map_or_else(String::new, |tool| format!("use `{tool}`, or "));
        deny_with(format!("{data} an argument of `{program}`, {what}"), help)
    }

    /// The user allowed this program, so its words may be any text. They are never its options.
    fn allowed(&self, words: &[Word]) -> Checked {
        let (mut is_behind_options, mut is_value) = (false, false);
        for word in words {
            let start = word.beginning();
            is_behind_options |= word.literal() == Some("--") && !is_value;
            self.check_option(word, is_behind_options, "")?;
            self.check_quotes(word)?;
            let is_option = start.starts_with('-') && !start.contains('=');
            if !is_behind_options && word.has_data() && is_option {
                return self.deny_attached(word);
            }
            // What may be an option may take the next word as its value.
            let is_named = start.starts_with(|first: char| first.is_alphanumeric());
            let is_known = word.literal().is_some() || word.has_data();
            is_value = is_option || word.is_open || !(is_named || (is_known && !word.expands));
        }
        Ok(())
    }

    fn deny_attached(&self, word: &Word) -> Checked {
        let option = word.beginning();
        deny_with(
            format!("what follows the option `{option}` is not known, and may be nothing"),
            "write the value of the option as a word of its own",
        )
    }

    fn listed(&self, name: &str, program: &Program, words: &[Word], gets_data: bool) -> Checked {
        words.iter().try_for_each(|word| self.check_quotes(word))?;
        match program.2 {
            Operands::Printed => self.printed(words),
            Operands::Formatted => self.format(words),
            Operands::Expression => self.expression(name, words),
            _ => self.options(name, program, words, gets_data || self.has_written_data),
        }
    }

    /// The words of `echo`: its options stand before all others, also as data, and read backslashes.
    fn printed(&self, words: &[Word]) -> Checked {
        static OPTION: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\A-[neE]+\z").expect("a fixed pattern"));
        let mut words = words
            .iter()
            .skip_while(|word| word.literal() == Some("-n"))
            .peekable();
        let first = words.peek().and_then(|first| self.text(first));
        let has_option = first.is_some_and(|first| OPTION.is_match(&first.to_string()));
        if has_option && let Some(word) = words.find(|word| self.may_be_data(word)) {
            let name = self.name_in(word);
            let message =
                format!("the data of {name} would be an option of `echo`, or read by one");
            return deny_with(message, FORMAT_HELP);
        }
        Ok(())
    }

    /// The format of `printf`, which the author writes: `-v` and `%n` set variables, `%b` reads backslashes.
    fn format(&self, words: &[Word]) -> Checked {
        static READS: LazyLock<Regex> =
            LazyLock::new(|| Regex::new("%[-+ #'.*0-9hlLjzt]*[nb]").expect("a fixed pattern"));
        let is_behind = words.first().and_then(Word::literal) == Some("--");
        let Some(format) = words.get(usize::from(is_behind)) else {
            return Ok(());
        };
        let is_plain = |text: &str| (is_behind || !text.starts_with('-')) && !READS.is_match(text);
        match format.name().is_some_and(is_plain) {
            true => Ok(()),
            false => deny_with(
                "`printf` has a format that isn't the author's alone, or one that does more than to print texts",
                FORMAT_HELP,
            ),
        }
    }

    /// Options as `getopt` reads them, and what stands between and behind them.
    fn options(&self, name: &str, program: &Program, words: &[Word], gets_data: bool) -> Checked {
        let kind = program.2;
        let loads = |text: &str| {
            ["@include", "@load", "include ", "import "]
                .iter()
                .any(|it| text.contains(it))
        };
        if kind == Operands::Filter && words.iter().filter_map(Word::literal).any(loads) {
            return deny(format!("`{name}` would load code, which may be of data"));
        }
        // An option may stand behind the words that it is about.
        let has = |letters: &[char], word: &str| {
            let mut literals = words.iter().filter_map(Word::literal);
            literals.any(|option| match option.strip_prefix("--") {
                Some(long) => long == word,
                None => option.starts_with('-') && option.contains(letters),
            })
        };
        let is_grep = kind == Operands::Pattern;
        let has_script =
            (is_grep && has(&['e', 'f'], "regexp")) || (name == "sed" && has(&['e'], "expression"));
        let recurses = (is_grep || name == "rm") && has(&['r', 'R'], "recursive");
        // Whether each value that must follow is the author's only.
        let mut values: &[bool] = &[];
        let (mut is_behind_options, mut count) = (false, 0);
        for word in words {
            let start = word.beginning();
            // An operand with a `=` sets a variable as `-v name=…` does, in which escapes are read.
            let is_read = |text: &str| match start.contains('=') {
                true => text.contains('\\') || text.starts_with("@/"),
                false => text.contains('='),
            };
            if name.ends_with("awk") && self.data(word).any(|piece| is_read(&piece.text)) {
                return self
                    .deny_data(word, "has a `=`, backslash or `@/`, which `awk` would read");
            }
            // To `jq`, a value is a text like any other.
            if name != "jq" {
                self.check_line_end(name, word)?;
            }
            let is_value = !values.is_empty() && word.is_quoted && !word.expands;
            if gets_data && !is_value {
                self.check_known(name, word)?;
            }
            if let Some((is_of_author, rest)) = values.split_first() {
                values = rest;
                if *is_of_author {
                    self.without_data(name, word)?;
                }
                continue;
            }
            if !is_behind_options && word.literal() == Some("--") {
                is_behind_options = true;
                continue;
            }
            if !is_behind_options && start.starts_with('-') && word.literal() != Some("-") {
                match program.option(start) {
                    Some(following) if word.literal().is_some() => values = following,
                    None if !word.has_data() => {
                        let what = "beside data is not known";
                        return deny(format!("what `{name}` does with `{start}` {what}"));
                    }
                    _ => return self.deny_attached(word),
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
            // First the file: a `--` does not help if it may not be that.
            if kind != Operands::Text && !(is_grep && is_first) {
                if recurses && self.may_be_data(word) {
                    return self.deny_data(word, &format!("names a folder for `{name} -r`"));
                }
                self.file(word, kind == Operands::Write)?;
            }
            self.check_option(word, is_behind_options, OPTION_HELP)?;
        }
        Ok(())
    }

    /// `test` as it is read by the number of its words, so that data is an operand and no operator. Some shells evaluate
    /// what they compare as numbers; a whole number is no data.
    fn expression(&self, name: &str, words: &[Word]) -> Checked {
        let is = |word: &Word, among: &str| is_in(among, word.literal().unwrap_or_default());
        let words = match words.split_last() {
            Some((last, words)) if name == "[" && is(last, "]") => words,
            _ => words,
        };
        let words = match words.split_first() {
            Some((first, words)) if is(first, "!") && !words.is_empty() => words,
            _ => words,
        };
        let is_known = match words {
            [operator, file] if is(operator, "-e -f -d -r -w -x -s -L -h") => {
                return self.file(file, false);
            }
            [left, operator, right] => {
                // One from a command and one from the author are never the same.
                let sides = [left, right];
                let are_alike = sides.iter().all(|word| self.with_line_end(word).is_some());
                if !are_alike && sides.iter().all(|word| word.literal() != Some("")) {
                    sides
                        .iter()
                        .try_for_each(|word| self.check_line_end(name, word))?;
                }
                is(operator, "= == !=")
            }
            [operator, _] => is(operator, "-n -z"),
            _ => words.len() == 1,
        };
        if is_known || !words.iter().any(|word| self.may_be_data(word)) {
            return Ok(());
        }
        deny(format!(
            "`{name}` has data in an expression that isn't one comparison of texts"
        ))
    }

    /// A word must be one word, and no option, whatever is in it: else the words around it would be something else.
    fn check_known(&self, name: &str, word: &Word) -> Checked {
        let is_named =
            word.is_quoted && !matches!(word.beginning().chars().next(), None | Some('-'));
        let is_known = word.literal().is_some() || word.has_data() || is_named;
        if is_known && !word.expands {
            return Ok(());
        }
        deny(format!(
            "`{name}` has data, and a word that the shell makes and that may be an option or no word"
        ))
    }

    /// Data in quotes is one word; the output of a command without them is split and may match names of files.
    fn check_quotes(&self, word: &Word) -> Checked {
        if word.is_split && self.prints_data(word) {
            return deny("the output of `$(…)` may be data, and has no double quotes around it");
        }
        if word.expands && self.may_be_data(word) {
            let what = "stands beside `*`, `?`, `[`, `{` or `~`, so it would choose names of files";
            return self.deny_data(word, what);
        }
        Ok(())
    }

    /// A program takes the line end that commands print for a part of the name, the pattern or the number.
    fn check_line_end(&self, program: &str, word: &Word) -> Checked {
        let Some(piece) = self.with_line_end(word) else {
            return Ok(());
        };
        let what = format!("which `{program}` would take for a part of it");
        let message = format!("the data of {} ends with a line end, {what}", name(piece));
        deny_with(message, line_end_help(piece))
    }

    fn with_line_end(&self, word: &Word) -> Option<&Piece> {
        self.data(word).find(|piece| ends_with_line(piece))
    }

    /// Data may not be an option.
    fn check_option(&self, word: &Word, is_behind_options: bool, help: &str) -> Checked {
        let is_option = self.prints_data(word)
            || (word.has_data() && matches!(self.start(word), Some('-' | '+')));
        if is_behind_options || !is_option || !word.beginning().is_empty() {
            return Ok(());
        }
        let name = self.name_in(word);
        let message = format!("the data of {name} would be an option, or may be");
        deny_with(message, help)
    }

    /// A word that names a file.
    fn file(&self, word: &Word, writes: bool) -> Checked {
        if self.prints_data(word) {
            return deny("the output of `$(…)` may be data, and names a file");
        }
        let has_data = self.has_data && word.has_data();
        if !has_data && self.lists.forbidden.is_none() {
            return Ok(());
        }
        let why = match self.text(word) {
            Some(text) if !word.expands && !self.is_elsewhere => {
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
            _ if !has_data => {
                return deny("which file it opens is not known before the command runs");
            }
            _ if self.is_elsewhere => "after a `cd`",
            _ => "in a name that the shell completes",
        };
        self.deny_data(word, &format!("names a file {why}"))
    }

    /// The text of a word, if the shell adds nothing to it.
    fn text(&self, word: &Word) -> Option<Text> {
        let mut pieces = Vec::new();
        let mut data = self.data(word);
        for text in word.text.split(DATA) {
            pieces.push(Piece::author(text));
            pieces.extend(data.next().cloned());
        }
        (!word.text.contains(ADDED)).then(|| Text::new(pieces))
    }

    /// The first character of a word, if what the shell adds is nothing.
    fn start(&self, word: &Word) -> Option<char> {
        let mut data = self.data(word);
        word.text.chars().find_map(|letter| match letter {
            ADDED => None,
            DATA => data.next()?.text.chars().next(),
            letter => Some(letter),
        })
    }

    fn data(&self, word: &Word) -> impl Iterator<Item = &Piece> {
        word.data.iter().map(|&number| self.source.data[number])
    }

    fn deny_data<T>(&self, word: &Word, what: &str) -> Result<T, Refusal> {
        deny(format!("the data of {} {what}", self.name_in(word)))
    }

    fn name_in(&self, word: &Word) -> String {
        let data = self.data(word).next();
        data.map_or("`$(…)`".to_owned(), name)
    }
}
