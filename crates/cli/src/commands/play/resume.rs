//! `play --resume`: which run is meant, and the command that resumes one.

use std::ffi::OsString;
use std::path::Path;

use cuecard_mcp::quoted;
use cuecard_runner::prepare::{Decision, Resumption};
use cuecard_runtime::run_dir::JOURNAL;
use cuecard_source::diagnostic::{Diagnostic, codes};

use crate::args::PlayArgs;
use crate::commands::runs;

/// The options that a resumed run does not have, and those of its own.
const REPLACED: &[&str] = &[
    "--start",
    "--resume-from",
    "--end",
    "--resume",
    "--redo",
    "--assume-done",
];

/// The scenario as runs remember it.
pub(super) fn path_of(file: &Path) -> String {
    let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    path.display().to_string()
}

/// The run that `--resume` names: the last one of this file, or any by its id.
pub(super) fn resumption(args: &PlayArgs, file: &Path) -> Result<Option<Resumption>, Diagnostic> {
    let Some(name) = &args.resume.run else {
        return Ok(None);
    };
    if args.resume.redo.is_some() && args.resume.redo == args.resume.assume_done {
        let message = "`--redo` and `--assume-done` are about the same steps";
        return Err(Diagnostic::error(codes::ARGUMENT, message)
            .with_help("give one of them, or each with the numbers of its steps"));
    }
    let path = path_of(file);
    let is_of_file = |folder: &Path, description: &serde_json::Value| {
        description["path"] == *path && folder.join(JOURNAL).is_file()
    };
    let folder = runs::find(&args.runs.run_dir, name, is_of_file).map_err(|mut error| {
        if name == "last" {
            error.message = format!(
                "there is no run of `{}` in `{}`",
                file.display(),
                args.runs.run_dir.display()
            );
        }
        error.code = codes::RESUME_REFUSED;
        error
    })?;
    let decision = Decision {
        redo: args.resume.redo.clone(),
        assume_done: args.resume.assume_done.clone(),
    };
    Resumption::open(&folder, &decision).map(Some)
}

/// The command that resumes this run, with the options that it has; of one of several files without them.
pub(super) fn command(file: &Path, is_one_of_several: bool, is_unknown: bool) -> String {
    let mut words: Vec<OsString> = match is_one_of_several {
        true => vec!["play".into(), file.into()],
        false => without_replaced(std::env::args_os().skip(1)),
    };
    let end = words.iter().position(|word| word == "--");
    let mut options = vec!["--resume".into(), "last".into()];
    options.extend(is_unknown.then(|| "--redo".into()));
    let end = end.unwrap_or(words.len());
    words.splice(end..end, options);
    let words = words.iter().map(|word| quoted(&word.to_string_lossy()));
    format!("cuecard {}", words.collect::<Vec<_>>().join(" "))
}

fn without_replaced(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        // What came by standard input is in the journal, and nothing comes there again.
        if text == "--var-json=@-" {
            continue;
        }
        let (name, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (&*text, false),
        };
        if !REPLACED.contains(&name) {
            kept.push(word);
            continue;
        }
        let is_number = |next: &OsString| {
            let numbers = next.to_str().map(|next| next.split(','));
            numbers.is_some_and(|mut them| them.all(|it| it.parse::<u64>().is_ok()))
        };
        if !has_value && (name == "--resume" || words.peek().is_some_and(is_number)) {
            words.next();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_replaced;

    #[test]
    fn the_command_keeps_all_options_but_those_that_a_resumed_run_has_not() {
        let words = "--color never play a.json --start 2 --end=4 --resume last --redo --redo 3 --assume-done 4,5 --var A=1";
        let kept = without_replaced(words.split(' ').map(Into::into));
        assert_eq!(
            kept.join(" ".as_ref()),
            "--color never play a.json --var A=1"
        );
    }
}
