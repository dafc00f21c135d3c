//! What is said of a prompt that is not in a cassette: which recorded one comes nearest, and where the two differ.

use std::path::Path;

use cuecard_source::matching::{DifferentLine, different_lines, likeness};
use cuecard_source::value::cut;

use super::line::{ModelIdentity, PromptLine, ReplyLine};
use super::tape::Tape;
use crate::stage::Failure;
use cuecard_source::diagnostic::codes;

/// So many recorded prompts are compared closely.
const COMPARED: usize = 50;
/// How many lines of a difference are shown, how long each may be, and how many equal ones stand around.
const SHOWN_LINES: usize = 24;
const SHOWN_CHARACTERS: usize = 160;
const AROUND: usize = 1;

/// The error of a prompt that is not in a cassette.
pub(super) fn miss(
    tape: &Tape,
    path: &Path,
    model: &ModelIdentity,
    prompt: &PromptLine,
    earlier: &[String],
) -> Failure {
    let path = path.display();
    let message = match nearest(tape, prompt) {
        None => format!("`{path}` has no model replies"),
        Some(line) => {
            let what = difference(line, model, prompt, earlier);
            format!("no recorded reply in `{path}` matches; {what}")
        }
    };
    Failure::new(codes::BROWSER_CASSETTE, message)
        .help("record it with `--record`, where the model is configured and `CI` is not set")
}

/// The recorded prompt that is most like this one: with the same sentence and the same step before it if there is
/// one, and among these with the page that has most lines in common; of equal ones the last.
fn nearest<'t>(tape: &'t Tape, prompt: &PromptLine) -> Option<&'t ReplyLine> {
    let same = |line: &ReplyLine| {
        let has_action = line.prompt.action == prompt.action;
        (has_action, line.prompt.previous == prompt.previous)
    };
    let best = tape.replies.iter().map(same).max()?;
    let alike = |line: &ReplyLine| {
        let (old, new) = (&line.prompt, prompt);
        let words = likeness(old.action.split_whitespace(), new.action.split_whitespace());
        likeness(old.page.lines(), new.page.lines()) + words
    };
    let compared = tape.replies.iter().rev().filter(|line| same(line) == best);
    let compared = compared.take(COMPARED).collect::<Vec<_>>();
    compared
        .into_iter()
        .rev()
        .max_by(|one, other| alike(one).total_cmp(&alike(other)))
}

/// In what a prompt differs from a recorded one; the first line goes on from "no recorded reply matches;".
fn difference(
    line: &ReplyLine,
    model: &ModelIdentity,
    prompt: &PromptLine,
    earlier: &[String],
) -> String {
    let lines = different(&line.prompt.lines(), &prompt.lines());
    let mut what = match (*model == line.model, lines.is_empty()) {
        (false, _) => format!("it was recorded with {}, and this is {model}", line.model),
        (true, false) => "the nearest differs".to_owned(),
        (true, true) if line.earlier == earlier => {
            "it was recorded by another release with a different prompt".to_owned()
        }
        (true, true) => "the recorded conversation took a different path".to_owned(),
    };
    for line in lines {
        what.push('\n');
        what.push_str(&line);
    }
    what
}

/// The lines that differ, with a line around each place.
fn different(recorded: &str, now: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut more = 0;
    for (index, group) in different_lines(recorded, now, AROUND).iter().enumerate() {
        if index > 0 && lines.len() < SHOWN_LINES {
            lines.push("  …".to_owned());
        }
        for DifferentLine { sign, line } in group {
            match lines.len() < SHOWN_LINES {
                true => {
                    let line = cut(line.trim_end(), SHOWN_CHARACTERS);
                    lines.push(format!("{sign} {line}"));
                }
                false => more += usize::from(*sign != ' '),
            }
        }
    }
    if more > 0 {
        lines.push(format!("  … and {more} more lines"));
    }
    lines
}
