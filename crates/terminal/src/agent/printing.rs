//! What the agent prints: what it thinks and says, its calls, and what came of them.

use std::io::Write;

use cuecard_source::value::{Json, Redactor, as_text, cut, printable, printable_lines};
use cuecard_timeline::model::PlanEntry;
use unicode_width::UnicodeWidthStr as _;

use super::tools::ToolOutcome;

/// Where the agent prints.
pub struct TerminalOutput {
    /// Usually the standard output.
    pub out: Box<dyn Write + Send>,
    /// Whether to print colours.
    pub is_coloured: bool,
}

/// So many lines of what a tool answers are shown; all of it is in the trace.
const MAX_LINES: usize = 12;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";

pub(super) struct Printer {
    output: TerminalOutput,
    /// What is being said, as a number; pieces of the same go on where it ended.
    open: Option<(usize, usize)>,
    has_printed: bool,
    redactor: Redactor,
}

impl Printer {
    pub(super) fn new(output: TerminalOutput) -> Self {
        Self {
            output,
            open: None,
            has_printed: false,
            redactor: Redactor::default(),
        }
    }

    /// These secrets are not shown.
    pub(super) fn hide(&mut self, redactor: &Redactor) {
        if self.redactor.secrets().len() < redactor.secrets().len() {
            self.redactor = redactor.clone();
        }
    }

    /// Whether the terminal is to mark what is pasted.
    pub(super) fn pastes(&mut self, is_on: bool) {
        self.write("", if is_on { "\x1b[?2004h" } else { "\x1b[?2004l" });
    }

    /// A piece of a thought.
    pub(super) fn think(&mut self, piece: (usize, usize), text: &str) {
        self.piece(piece, ("✻ ", DIM), text);
    }

    /// A piece of a message.
    pub(super) fn say(&mut self, piece: (usize, usize), text: &str) {
        self.piece(piece, ("● ", ""), text);
    }

    fn piece(&mut self, piece: (usize, usize), (mark, style): (&str, &str), text: &str) {
        let text = printable_lines(text).replace('\n', "\n  ");
        if self.open != Some(piece) {
            self.block();
            self.open = Some(piece);
            self.write(style, mark);
        }
        self.write(style, &text);
    }

    /// The beginning of the line that the user types in.
    pub(super) fn begin_prompt(&mut self) {
        self.block();
        self.write(BOLD, "> ");
    }

    /// Takes the end of what the user typed off the screen.
    pub(super) fn erase(&mut self, text: &str) {
        self.write("", &"\x08 \x08".repeat(printable(text).width()));
    }

    /// Something that the user typed.
    pub(super) fn echo(&mut self, text: &str) {
        let text = printable_lines(text).replace('\n', "\n  ");
        self.write(BOLD, &text);
    }

    /// The user's line is over.
    pub(super) fn end_prompt(&mut self) {
        self.write("", "\n");
    }

    /// A call begins.
    pub(super) fn call(&mut self, tool: &str, args: &Json) {
        self.block();
        self.write("", "● ");
        self.write(BOLD, &printable(tool));
        self.write("", &format!(" {}\n", summary(args)));
    }

    /// A line about a call.
    pub(super) fn progress(&mut self, text: &str) {
        for line in printable_lines(text).lines() {
            self.write(DIM, &format!("  │ {line}\n"));
        }
    }

    /// What came of a call.
    pub(super) fn answer(&mut self, answer: &ToolOutcome) {
        let text = printable_lines(&answer.text).into_owned();
        let n_lines = text.lines().count();
        let style = if answer.is_error { RED } else { DIM };
        for (nth, line) in text.lines().take(MAX_LINES).enumerate() {
            let mark = if nth == 0 { "⎿ " } else { "  " };
            self.write(style, &format!("  {mark}{line}\n"));
        }
        if n_lines > MAX_LINES {
            self.write(DIM, &format!("    … {} more lines\n", n_lines - MAX_LINES));
        }
    }

    /// A file that the agent edited by itself.
    pub(super) fn edit(&mut self, path: &str, (added, removed): (u64, u64), about: Option<&str>) {
        self.block();
        self.write("", "● ");
        self.write(BOLD, "edit");
        self.write("", &format!(" {} ", printable(path)));
        self.write(GREEN, &format!("+{added} "));
        self.write(RED, &format!("-{removed}"));
        let about = about.map(|about| format!("  {}", printable(about)));
        self.write("", &format!("{}\n", about.unwrap_or_default()));
    }

    /// The plan as it is now.
    pub(super) fn plan(&mut self, entries: &[PlanEntry]) {
        self.block();
        self.write("", "● plan\n");
        for entry in entries {
            let mark = match entry.status.as_str() {
                "completed" => "☒",
                "in_progress" => "◐",
                _ => "☐",
            };
            self.write("", &format!("  {mark} {}\n", printable(&entry.content)));
        }
    }

    /// Something went wrong that the script has.
    pub(super) fn error(&mut self, message: &str) {
        self.block();
        self.write(RED, &format!("✗ {}\n", printable(message)));
    }

    /// The end of all.
    pub(super) fn finish(&mut self) {
        if self.open.take().is_some() {
            self.write("", "\n");
        }
    }

    /// An empty line before the next block.
    fn block(&mut self) {
        self.finish();
        if std::mem::replace(&mut self.has_printed, true) {
            self.write("", "\n");
        }
    }

    fn write(&mut self, style: &str, text: &str) {
        let text = self.redactor.text(text);
        let out = &mut self.output.out;
        // Who closes the terminal has seen enough.
        let _ = match self.output.is_coloured && !style.is_empty() {
            true => write!(out, "\x1b[{style}m{text}\x1b[0m"),
            false => write!(out, "{text}"),
        };
        let _ = out.flush();
    }
}

/// The arguments of a call on a line.
fn summary(args: &Json) -> String {
    let args = args.as_object().into_iter().flatten();
    let texts: Vec<String> = args
        .map(|(name, value)| {
            let value = as_text(value);
            let value = value.lines().next().unwrap_or_default();
            match name.as_str() {
                "cmd" | "path" | "pattern" | "url" | "notebook_path" => value.to_owned(),
                name => format!("{name}: {}", cut(value, 40)),
            }
        })
        .collect();
    cut(&printable(&texts.join("  ")), 120).into_owned()
}
