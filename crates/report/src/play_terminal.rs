//! The step list of `play`: one line a step as it ends, and the counts at the end.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Style, duration};
use cuecard_source::value::{Json, printable};
use cuecard_tool_call::model::BuiltinTool;
use cuecard_tool_call::script::Summary;
use cuecard_trace::{StepFinished, StepStatus, ToolResult};

/// Column widths, known before the first step ends.
#[derive(Debug, Clone, Copy)]
pub struct StepList {
    style: Style,
    number: usize,
    label: usize,
    tool: usize,
}

impl StepList {
    /// A list for steps with these numbers, labels and tools.
    pub fn new<'a>(style: Style, steps: impl Iterator<Item = (u64, &'a str, &'a str)>) -> Self {
        let mut list = Self {
            style,
            number: 1,
            label: 8,
            tool: 8,
        };
        for (number, label, tool) in steps {
            list.number = list.number.max(number.to_string().len());
            list.label = list.label.max(label.chars().count());
            list.tool = list.tool.max(tool.chars().count());
        }
        // What is left of the width after the mark, attempts and duration belongs to label and tool.
        let room = style.width.saturating_sub(list.number + 26).max(24);
        list.tool = list.tool.min(room * 3 / 5).max(8);
        list.label = list.label.min(room - list.tool).max(8);
        list
    }

    /// What stands before a step's words: its number.
    pub fn number(&self, step: u64) -> String {
        format!("{step:>width$}", width = self.number + 1)
    }

    /// The line of a step that ended, without a newline.
    pub fn line(&self, step: &StepFinished) -> String {
        let style = self.style;
        let mark = match step.status {
            StepStatus::Passed if step.healed.is_some() => style.doubtful(style.symbol("~", "~ ")),
            StepStatus::Passed => style.good(style.symbol("✓", "ok")),
            StepStatus::Failed => style.bad(style.symbol("✗", "x ")),
            StepStatus::Tolerated => style.doubtful(style.symbol("!", "! ")),
            StepStatus::Skipped => style.faint(style.symbol("–", "- ")),
            StepStatus::Unknown => style.doubtful(style.symbol("?", "? ")),
        };
        let mut line = String::with_capacity(style.width * 2);
        aligned(
            &mut line,
            itoa::Buffer::new().format(step.step),
            self.number + 1,
        );
        for part in [" ", &*mark, " "] {
            line.push_str(part);
        }
        self.fit(
            &mut line,
            label(step.description.as_deref(), step.id.as_deref(), &step.tool),
            self.label,
        );
        if step.status == StepStatus::Skipped {
            let reason = match step.skipped_by.as_deref() {
                Some(condition) => {
                    format!("{}  false", style.shortened(condition, self.tool + 12))
                }
                None => tally(step),
            };
            line.push_str("  ");
            line.push_str(&style.faint(&reason));
            return line;
        }
        // Writing into a string can't fail.
        let _ = write!(line, "  {:<10}  ", tally(step));
        let mut tool = String::with_capacity(self.tool);
        self.fit(&mut tool, &step.tool, self.tool);
        line.push_str(&style.faint(&tool));
        line.push_str("  ");
        if let Some(restored) = step.restored {
            line.push_str(&style.faint(restored.as_str()));
            return line;
        }
        let took = duration(Duration::from_secs_f64(step.duration_ms.max(0.0) / 1000.0));
        aligned(&mut line, &took, 8);
        line
    }

    /// Puts `text` at the end of `line`, padded to a width in characters and on a terminal cut to it, without
    /// characters that change what stands around them.
    fn fit(&self, line: &mut String, text: &str, width: usize) {
        // Most text is plain.
        if text.len() <= width && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            line.push_str(text);
            line.extend(std::iter::repeat_n(' ', width - text.len()));
            return;
        }
        let length = text.chars().take(width + 1).count();
        let is_cut = length > width && self.style.is_terminal;
        let kept = if is_cut { width - 1 } else { usize::MAX };
        line.extend(printable(text).chars().take(kept));
        if is_cut {
            line.push('…');
        }
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(length)));
    }
}

/// How many elements the step had, or attempts if it took several.
pub fn tally(step: &StepFinished) -> String {
    match (step.elements, step.attempts.len()) {
        (Some(1), _) => "1 element".to_owned(),
        (Some(count), _) => format!("{count} elements"),
        (None, 0 | 1) => String::new(),
        (None, count) => format!("{count} attempts"),
    }
}

/// Puts plain `text` at the end of `line`, padded on its left to a width in characters.
fn aligned(line: &mut String, text: &str, width: usize) {
    line.extend(std::iter::repeat_n(' ', width.saturating_sub(text.len())));
    line.push_str(text);
}

/// How a command ended: its exit code, if that is not 0, or that its time ran out.
pub fn command_end(result: &ToolResult) -> Option<String> {
    if result.tool != BuiltinTool::Bash.name() {
        return None;
    }
    let found = |key: &str| result.result.get(key);
    if found("timed_out").and_then(Json::as_bool) == Some(true) {
        return Some("timed out".to_owned());
    }
    let code = found("exit_code")?.as_i64().filter(|code| *code != 0)?;
    Some(format!("exit code {code}"))
}

/// What a step is called: its description, else its id, else the tool's own name without the server's.
pub fn label<'a>(description: Option<&'a str>, id: Option<&'a str>, tool: &'a str) -> &'a str {
    let own_name = || tool.rsplit("__").next().unwrap_or(tool);
    description.or(id).unwrap_or_else(own_name)
}

/// `2 passed · 1 skipped · 1 failed · 3 not run · 2.4 s`.
pub fn counts(style: Style, summary: &Summary, took: Duration) -> String {
    let mut facts = Vec::new();
    if summary.passed > 0 || summary.failed + summary.skipped + summary.tolerated == 0 {
        facts.push(style.good(&format!("{} passed", summary.passed)));
    }
    if summary.healed > 0 {
        facts.push(style.doubtful(&format!("{} of them healed", summary.healed)));
    }
    if summary.tolerated > 0 {
        facts.push(style.doubtful(&format!("{} tolerated", summary.tolerated)));
    }
    if summary.skipped > 0 {
        facts.push(format!("{} skipped", summary.skipped));
    }
    if summary.failed > 0 {
        facts.push(style.bad(&format!("{} failed", summary.failed)));
    }
    if summary.unknown > 0 {
        facts.push(style.doubtful(&format!("{} unknown", summary.unknown)));
    }
    if summary.restored > 0 {
        facts.push(format!("{} of them restored", summary.restored));
    }
    let not_run = summary.not_run();
    if not_run > 0 {
        facts.push(format!("{not_run} not run"));
    }
    facts.push(duration(took));
    facts.join(style.dot())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str =
        "check that the total of the invoice is what the three positions of it come to";

    fn line(is_terminal: bool, sentence: &str) -> String {
        let style = Style {
            is_terminal,
            ..Style::default()
        };
        let list = StepList::new(style, [(1, sentence, "browser.click")].into_iter());
        list.line(&StepFinished {
            step: 1,
            id: None,
            tool: "browser.click".into(),
            description: Some(sentence.to_owned()),
            status: StepStatus::Passed,
            duration_ms: 12.0,
            attempts: Vec::new(),
            error: None,
            skipped_by: None,
            group: None,
            healed: None,
            outputs: serde_json::Map::new(),
            restored: None,
            element: None,
            elements: None,
        })
    }

    #[test]
    fn a_sentence_is_cut_on_a_terminal_and_whole_in_a_file() {
        let shown = line(true, SENTENCE);
        assert!(shown.contains('…') && !shown.contains(SENTENCE), "{shown}");
        let written = line(false, SENTENCE);
        assert!(written.contains(SENTENCE), "{written}");
        assert!(written.contains("browser.click"), "{written}");
        let turned = line(false, "a\u{9b}2J\u{202e}b");
        assert!(turned.contains("a 2J\u{fffd}b"), "{turned}");
        // What fits is the same in both.
        assert_eq!(line(true, "click 'Save'"), line(false, "click 'Save'"));
    }

    #[test]
    fn the_counts_say_what_did_not_run() {
        let summary = Summary {
            total: 8,
            passed: 3,
            failed: 1,
            ..Summary::default()
        };
        let shown = |summary| counts(Style::default(), &summary, Duration::ZERO);
        assert_eq!(shown(summary), "3 passed · 1 failed · 4 not run · 0 ms");
        let within_a_step = Summary {
            failed: 0,
            unknown: 1,
            ..summary
        };
        assert_eq!(
            shown(within_a_step),
            "3 passed · 1 unknown · 4 not run · 0 ms"
        );
        let between_steps = Summary {
            failed: 0,
            ..summary
        };
        assert_eq!(shown(between_steps), "3 passed · 5 not run · 0 ms");
    }
}
