//! Commands: data in them is bound to variables, and what the flags forbid doesn't run.
//!
//! The promise is that data never becomes code of the shell, and reaches only programs that are known to print, compare
//! or name files ([`programs`]). What can't be shown is refused, with the step written so that the value goes by the
//! environment.

mod programs;
mod rewrite;
mod rules;
mod scanner;
#[cfg(test)]
mod tests;
mod variables;

use std::ffi::OsString;

pub use rewrite::in_environment;

use super::environment::is_obeyed;
use super::paths::Places;
use super::source::{WITHOUT_LINE_END, ends_with_line, line_end_help, name};
use super::{Refusal, RefusalKind};
use cuecard_source::value::Text;
use scanner::{Script, Source, Word, is_name};

/// Data in one command may have so many bytes.
const MAX_DATA: usize = 64 << 20;

/// What helps besides the environment where something isn't read.
const ADVICE: &[(&str, &str)] = &[
    ("here-document", "write the file with `claude__write`, or "),
    ("backticks", "write `$(…)` in place of the backticks, or "),
    ("arithmetic", "let the step give a whole number, or "),
];

/// A command that is ready for `sh -c` or `bash -c`.
#[derive(Debug)]
pub struct BoundCommand {
    /// The text for the shell. Data in it is named by variables.
    pub script: String,
    /// The variables that must be in the shell's environment.
    pub env: Vec<(OsString, OsString)>,
    /// Data that is too large for the environment; the script reads it at its start. The files are removed when this
    /// is dropped, so keep it until the command has ended. No system passes more than about 128 KiB as one argument to
    /// a program, but the shell's own commands (`printf`, a loop) take it.
    pub files: Vec<tempfile::NamedTempFile>,
}

impl From<String> for BoundCommand {
    fn from(script: String) -> Self {
        Self {
            script,
            env: Vec::new(),
            files: Vec::new(),
        }
    }
}

/// What the flags say about commands.
#[derive(Debug, Clone)]
pub(super) struct CommandLists {
    pub(super) allowed: Vec<String>,
    pub(super) only: Vec<String>,
    /// Why commands are forbidden unless they are allowed by name, and what lifts that.
    pub(super) forbidden: Option<(&'static str, &'static str)>,
}

pub(super) fn bind(
    text: &Text,
    env: &[(String, Text)],
    lists: &CommandLists,
    places: &Places,
) -> Result<BoundCommand, Refusal> {
    // The author's own variables decide too: a start file of the shell, or where programs are found.
    let obeyed = env.iter().find(|(name, _)| is_obeyed(name));
    if let Some((name, _)) = obeyed.filter(|_| lists.restrict()) {
        let message = format!("the variable `{name}` of `env` may decide which programs run");
        let help = format!(
            "remove it: with `{}`, the command names them all",
            lists.flag()
        );
        return Err(Refusal::new(RefusalKind::Command, message, help));
    }
    bound(text, lists, places).map_err(|refusal| with_proposal(refusal, text, env))
}

fn bound(text: &Text, lists: &CommandLists, places: &Places) -> Result<BoundCommand, Refusal> {
    let refuse = |kind, message: &str, help: &str| Err(Refusal::new(kind, message, help));
    if let Some((why, help)) = lists.forbidden.filter(|_| lists.allowed.is_empty()) {
        let help = format!("{help}, or allow the program with `--allow-command NAME`");
        return refuse(RefusalKind::Command, why, &help);
    }
    if let Some(piece) = text.pieces().iter().find(|piece| piece.text.contains('\0')) {
        let (kind, what) = match piece.origin.is_trusted() {
            true => (RefusalKind::Command, "the command".to_owned()),
            false => (RefusalKind::Data, format!("the data of {}", name(piece))),
        };
        let help = "arguments can't contain NUL bytes: write the value to a file";
        return refuse(kind, &format!("{what} contains a NUL byte"), help);
    }
    if text.is_trusted() && !lists.restrict() {
        return Ok(text.to_string().into());
    }
    let Some(source) = Source::new(text, true) else {
        let message = "the command is longer than 1 MiB";
        return refuse(RefusalKind::Command, message, "put it into a script file");
    };
    let size: usize = source.data.iter().map(|piece| piece.text.len()).sum();
    if size > MAX_DATA {
        let message = "the data in the command is larger than 64 MiB";
        let help = "write the data to a file and name the file";
        return refuse(RefusalKind::Data, message, help);
    }
    let names = variables::names(&source.data);
    let first = source.data.first().map(|piece| name(piece));
    if first.is_some() && source.text.contains("CUECARD_") {
        let message =
            "the command names a variable that begins with `CUECARD_`, as those of data do";
        return refuse(RefusalKind::Data, message, "choose another name");
    }
    let script = match (scanner::scan(&source, &names, false), &first) {
        (Ok(script), _) => script,
        (Err(what), Some(data)) => {
            let message = format!(
                "the command has {what}, where what the data of {data} would do is not known"
            );
            let advice = ADVICE.iter().find(|(of, _)| what.contains(of));
            let help = advice.map_or("", |(_, help)| help);
            return refuse(RefusalKind::Data, &message, help);
        }
        (Err(what), None) if lists.restrict() => return Err(lists.not_read(&what)),
        (Err(_), None) => return Ok(source.text.into()),
    };
    lists.check(&script)?;
    if first.is_some() || lists.forbidden.is_some() {
        rules::check(&script, &source, first.is_some(), lists, places)?;
    }
    match first.is_some() {
        false => Ok(source.text.into()),
        true => variables::bind(&script.output, &source.data, &names, places.run_dir()),
    }
}

/// Adds how the command is written so that it works.
fn with_proposal(mut refusal: Refusal, text: &Text, env: &[(String, Text)]) -> Refusal {
    // Some say all that helps.
    if refusal.kind == RefusalKind::Data
        && (refusal.help.is_empty() || refusal.help.ends_with(", or "))
    {
        refusal.help.push_str(&rewrite::proposal(text, env));
        let ended = text.pieces().iter().find(|piece| ends_with_line(piece));
        if ended.is_some_and(|piece| line_end_help(piece) == WITHOUT_LINE_END) {
            refusal.help.push_str("; ");
            refusal.help.push_str(WITHOUT_LINE_END);
        }
    }
    refusal
}

impl CommandLists {
    /// Whether a command has to be read to be judged.
    pub(super) fn restrict(&self) -> bool {
        self.forbidden.is_some() || !self.only.is_empty()
    }

    /// Whether the user said that this program may get data.
    fn takes_data(&self, program: &str) -> bool {
        is_among(program, &self.allowed) && !programs::may_run(program)
    }

    /// Compares the names of the programs with what the flags let run. An allowed program may start others.
    fn check(&self, script: &Script) -> Result<(), Refusal> {
        if !self.restrict() {
            return Ok(());
        }
        // The shell evaluates the subscript of a name that it gets as a text: `test -v 'x[$(ls)]'`.
        let mut words = script.commands.iter().flat_map(|it| &it.words);
        let runs = |word: &Word| {
            let subscript = word.text.split_once('[');
            subscript.is_some_and(|(name, subscript)| {
                is_name(name) && (subscript.contains("$(") || subscript.contains('`'))
            })
        };
        if words.any(runs) {
            return Err(self.not_read("a subscript in which a command may stand"));
        }
        let firsts = script.commands.iter().filter_map(|it| it.words.first());
        for first in firsts {
            let Some(program) = first.name() else {
                return Err(self.not_read("the name of a program that the shell builds"));
            };
            let shown = found_as(program);
            let (why, help) = match self.forbidden {
                Some((why, help)) if !is_among(program, &self.allowed) => (
                    format!("and {why}"),
                    format!("{help}, or allow it with `--allow-command {shown}`"),
                ),
                _ if !self.only.is_empty() && !is_among(program, &self.only) => (
                    "which is not among `--only-commands`".to_owned(),
                    format!("add it with `--only-commands {shown}`"),
                ),
                _ => continue,
            };
            let message = format!("the command starts `{shown}`, {why}");
            return Err(Refusal::new(RefusalKind::Command, message, help));
        }
        Ok(())
    }

    /// The flag that says which programs may run.
    fn flag(&self) -> &'static str {
        match self.forbidden {
            Some(_) => "--allow-command",
            None => "--only-commands",
        }
    }

    fn not_read(&self, what: &str) -> Refusal {
        let flag = self.flag();
        Refusal::new(
            RefusalKind::Command,
            format!("can't determine which programs the command starts: it has {what}"),
            format!(
                "simplify the command, or put it into a script and allow that with `{flag} NAME`"
            ),
        )
    }
}

/// The name by which a program is found, or where it is instead.
fn found_as(program: &str) -> &str {
    programs::system_name(program).unwrap_or(program)
}

/// An entry with a folder means that file, one without means what is found by that name: `./git` is another program.
fn is_among(program: &str, list: &[String]) -> bool {
    let is =
        |entry: &String| entry == program || (!entry.contains('/') && entry == found_as(program));
    list.iter().any(is)
}
