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
    let nearest = nearest(tape, prompt);
    let message = match nearest {
        None => format!("`{path}` has no model replies"),
        Some(line) => {
            let what = differences(line, model, prompt, earlier);
            format!("no recorded reply in `{path}` matches; {what}")
        }
    };
    Failure::new(codes::BROWSER_CASSETTE, message)
        .help("record it with `--record`, where the model is configured and `CI` is not set")
}

/// The recorded prompt that is most like this one: with the same sentence and the same step before it if there is
/// one, and among these with the page that has most lines in common.
fn nearest<'t>(tape: &'t Tape, prompt: &PromptLine) -> Option<&'t ReplyLine> {
    let mut lines: Vec<(u8, &ReplyLine)> = tape
        .order
        .iter()
        .filter_map(|key| tape.replies.get(key))
        .map(|line| {
            let has_action = line.prompt.action == prompt.action;
            let has_previous = line.prompt.previous == prompt.previous;
            (2 * u8::from(has_action) + u8::from(has_previous), line)
        })
        .collect();
    let best = lines.iter().map(|(score, _)| *score).max()?;
    lines.retain(|(score, _)| *score == best);
    let alike = |line: &ReplyLine| {
        let (old, new) = (&line.prompt, prompt);
        let words = likeness(old.action.split_whitespace(), new.action.split_whitespace());
        likeness(old.page.lines(), new.page.lines()) + words
    };
    let compared = lines.into_iter().rev().take(COMPARED);
    compared
        .map(|(_, line)| (alike(line), line))
        .fold(
            None,
            |best: Option<(f32, &ReplyLine)>, (score, line)| match best {
                Some((known, _)) if known >= score => best,
                _ => Some((score, line)),
            },
        )
        .map(|(_, line)| line)
}

/// In what a prompt differs from a recorded one; the first line goes on from "it has no reply for this;".
fn differences(
    line: &ReplyLine,
    model: &ModelIdentity,
    prompt: &PromptLine,
    earlier: &[String],
) -> String {
    let mut lines = Vec::new();
    let mut what = Vec::new();
    for (name, recorded, now) in [
        ("sentence", &line.prompt.action, &prompt.action),
        ("step before", &line.prompt.previous, &prompt.previous),
    ] {
        if recorded != now {
            what.push(name);
            lines.push(format!("- {}", shortened(recorded)));
            lines.push(format!("+ {}", shortened(now)));
        }
    }
    if line.prompt.page != prompt.page {
        what.push("page");
        lines.extend(page_difference(&line.prompt.page, &prompt.page));
    }
    if *model != line.model {
        return match what.is_empty() {
            true => format!("it was recorded with {}, and this is {model}", line.model),
            false => format!(
                "it was recorded with {}, and this is {model}; the nearest differs in the {} too\n{}",
                line.model,
                list(&what),
                lines.join("\n")
            ),
        };
    }
    match (what.is_empty(), line.earlier == earlier) {
        (true, false) => "the recorded conversation took a different path".to_owned(),
        (true, true) => "it was recorded by another release with a different prompt".to_owned(),
        (false, _) => format!(
            "the nearest differs in the {}\n{}",
            list(&what),
            lines.join("\n")
        ),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The lines that differ, with a line around each place.
fn page_difference(recorded: &str, now: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut more = 0;
    for (index, group) in different_lines(recorded, now, AROUND).iter().enumerate() {
        if index > 0 && lines.len() < SHOWN_LINES {
            lines.push("  …".to_owned());
        }
        for DifferentLine { sign, line } in group {
            match lines.len() < SHOWN_LINES {
                true => lines.push(format!("{sign} {}", shortened(line))),
                false => more += usize::from(*sign != ' '),
            }
        }
    }
    if more > 0 {
        lines.push(format!("  … and {more} more lines"));
    }
    lines
}

fn shortened(line: &str) -> String {
    cut(line.trim_end(), SHOWN_CHARACTERS).into_owned()
}
