//! The documents' sessions: each `console` block is typed, and what comes is what the page shows.
//!
//! The blocks of a page run one after the other in one folder, which has the examples of the repository in it. A file
//! is written where the line before its block says so: "Save this as `capital.yaml`:". An output is compared as the
//! golden cases are; `…` stands for anything in its line, and alone on a line for any lines. A command without output
//! must exit with 0.

use std::path::Path;
use std::time::Duration;

use cuecard_testing::normalise::{Context, normalise};
use cuecard_testing::scratch::Scratch;

use super::{Block, Document, assert_none, documents};

/// Names the only page to try, for whoever writes it.
const ONLY: &str = "CUECARD_PAGE";

/// How long a command may take: a page's reader waits for it.
const LIMIT: Duration = Duration::from_secs(60);

/// A command of a block, with what the page shows of its output.
struct Command {
    line: String,
    shown: String,
}

#[test]
fn sessions_go_as_the_pages_show_them() {
    let only = std::env::var(ONLY).ok();
    let is_tried = |document: &Document| only.as_ref().is_none_or(|name| *name == document.name);
    let mut problems = Vec::new();
    let mut tried = 0;
    for document in documents().iter().filter(|document| is_tried(document)) {
        let scratch = place();
        let context = scratch.context();
        for block in document.parts().0 {
            if let Some(name) = saved_as(&block) {
                scratch.write(name, &block.body).expect("writable");
            }
            if block.info == "console" {
                for command in commands(&block.body) {
                    tried += 1;
                    if let Err(problem) = command.run(&scratch, &context) {
                        problems.push(format!("{}: $ {}\n{problem}", block.place, command.line));
                    }
                }
            }
        }
    }
    assert_none(&problems);
    assert!(only.is_some() || tried > 40, "{tried} commands were found");
}

/// A place whose shell finds the program by its name.
fn place() -> Scratch {
    let program = Path::new(env!("CARGO_BIN_EXE_cuecard"));
    let mut scratch = Scratch::new(Path::new("/bin/sh")).expect("a scratch folder");
    let folder = program.parent().expect("the program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    scratch
        .limit(LIMIT)
        .set("PATH", format!("{}:{path}", folder.display()));
    let root = cuecard_testing::repository_root();
    copy(&root.join("examples"), &scratch, "examples");
    scratch
}

fn copy(from: &Path, scratch: &Scratch, to: &str) {
    for entry in std::fs::read_dir(from).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("text");
        let to = format!("{to}/{name}");
        match path.is_dir() {
            true => copy(&path, scratch, &to),
            false => {
                let written = scratch.write(&to, "").expect("writable");
                // With its permissions.
                std::fs::copy(&path, written).expect("copied");
            }
        }
    }
}

/// The name of the file that a block is, where the line before it says "save".
fn saved_as(block: &Block) -> Option<&str> {
    let says_so = ["Save ", "save ", "Change ", "change "];
    let is_said = says_so.iter().any(|word| block.lead.contains(word));
    if block.info == "console" || !is_said || !block.lead.ends_with(':') {
        return None;
    }
    block.lead.rsplit('`').nth(1)
}

fn commands(body: &str) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in body.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(line), _) => commands.push(Command {
                line: line.to_owned(),
                shown: String::new(),
            }),
            (None, Some(command)) if command.is_open() => {
                command.line.push('\n');
                command.line.push_str(line);
            }
            (None, Some(command)) => {
                command.shown.push_str(line);
                command.shown.push('\n');
            }
            (None, None) => panic!("a session begins with a command, not with `{line}`"),
        }
    }
    commands
}

impl Command {
    /// Whether it goes on in the next line.
    fn is_open(&self) -> bool {
        self.line.ends_with('\\') && self.shown.is_empty()
    }

    fn run(&self, scratch: &Scratch, context: &Context) -> Result<(), String> {
        let line = format!("{{ {}\n}} 2>&1", self.line);
        let finished = scratch.run(&["-c", &line]).expect("a shell starts");
        let came = normalise(&finished.stdout, context);
        let shown = normalise(&self.shown, context);
        let is_right = match shown.is_empty() {
            true => finished.code() == Some(0),
            false => matches(&lines(&shown), &lines(&came)),
        };
        match is_right && finished.left_behind.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "--- shown\n{shown}--- came ({})\n{came}{}",
                finished.ended,
                finished.left_behind.join("\n")
            )),
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Whether `shown` says `came`, line by line; a line of `…` stands for any lines.
fn matches(shown: &[&str], came: &[&str]) -> bool {
    match shown.split_first() {
        None => came.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=came.len()).any(|skipped| matches(rest, &came[skipped..]))
        }
        Some((first, rest)) => came
            .split_first()
            .is_some_and(|(line, others)| fits(first, line) && matches(rest, others)),
    }
}

/// Whether a line is the shown one; `…` in it stands for any text.
fn fits(shown: &str, came: &str) -> bool {
    let pieces: Vec<String> = shown.split('…').map(regex::escape).collect();
    let pattern = format!("^{}$", pieces.join(".*"));
    regex::Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(came))
}

#[test]
fn dots_stand_for_anything_and_nothing_else_does() {
    assert!(matches(&["a … c", "…", "z"], &["a b c", "x", "y", "z"]));
    assert!(matches(&["…"], &[]));
    assert!(!matches(&["a", "z"], &["a", "x", "z"]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!matches(&["a.c"], &["abc"]));
}
