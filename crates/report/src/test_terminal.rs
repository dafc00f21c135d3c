//! Results of tests as people read them: a line a test, what failed below it, the counts at the end.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Style, counted, diagnostics, duration};
use cuecard_judge::{Evidence, Outcome, OutcomeStatus, TestResult, TestStatus, Totals};
use cuecard_source::value::{Json, cut, printable, printable_lines};

/// More events are not shown below an assertion.
const MAX_EVENTS: usize = 5;

/// More lines of what was expected or observed are not shown.
const MAX_VALUE_LINES: usize = 6;

/// More diagnostics are not shown below a test.
const MAX_DIAGNOSTICS: usize = 10;

/// How far what belongs to an assertion stands in.
const INDENT: &str = "      ";

/// The list of tests.
#[derive(Debug, Clone, Copy)]
pub struct TestList {
    style: Style,
    id: usize,
}

impl TestList {
    /// A list of tests with these ids.
    pub fn new<'a>(style: Style, ids: impl Iterator<Item = &'a str>) -> Self {
        let widest = ids.map(|id| id.chars().count()).max().unwrap_or(0);
        Self {
            style,
            id: widest.min(style.width / 2),
        }
    }

    /// The lines of a test that ended, each with a newline.
    pub fn result(&self, result: &TestResult) -> String {
        let style = self.style;
        let word = match result.status {
            TestStatus::Pass => style.good("PASS "),
            TestStatus::Fail => style.bad("FAIL "),
            TestStatus::Error => style.bad("ERROR"),
            TestStatus::Skipped => style.faint("SKIP "),
        };
        let id = printable(&result.id);
        let mut text = format!("{word} {}", style.strong(&id));
        let facts = [
            (result.run.file != result.id).then(|| printable(&result.run.file)),
            Some(duration(result.run.took).into()),
        ];
        let mut gap = self.id.saturating_sub(id.chars().count()) + 3;
        for fact in facts.into_iter().flatten() {
            text.push_str(&" ".repeat(gap));
            text.push_str(&style.faint(&fact));
            gap = 3;
        }
        text.push('\n');
        for diagnostic in result.diagnostics.iter().take(MAX_DIAGNOSTICS) {
            let narrow = Style {
                width: style.width.saturating_sub(2),
                ..style
            };
            for line in diagnostics::render(diagnostic, narrow).lines() {
                text.push_str(if line.is_empty() { "" } else { "  " });
                text.push_str(line);
                text.push('\n');
            }
        }
        if let Some(more) = more(result.diagnostics.len(), MAX_DIAGNOSTICS) {
            let _ = writeln!(text, "  {more}");
        }
        for assertion in &result.assertions {
            if assertion.outcome.status != OutcomeStatus::Pass {
                text.push_str(&outcome(style, result, &assertion.outcome));
            }
        }
        text
    }

    /// What had nothing to judge, a line each, to be shown after the last test.
    pub fn vacuous(&self, result: &TestResult) -> String {
        let mut text = String::new();
        for line in result.vacuous_lines() {
            let line = format!("vacuous: {}   {line}", printable(&result.id));
            for (idx, part) in wrapped(&printable(&line), self.style.width, 9).enumerate() {
                let indent = if idx == 0 { "" } else { "         " };
                let _ = writeln!(text, "{indent}{}", self.style.doubtful(&part));
            }
        }
        text
    }
}

/// An outcome in full, with what it is about: each line with a newline.
pub(super) fn outcome(style: Style, result: &TestResult, outcome: &Outcome) -> String {
    let mark = match outcome.status {
        OutcomeStatus::Pass => style.good(style.symbol("✓", "ok")),
        OutcomeStatus::Fail => style.bad(style.symbol("✗", "x")),
        OutcomeStatus::Warn => style.doubtful("!"),
        OutcomeStatus::Skip => style.faint(style.symbol("–", "-")),
    };
    let mut text = format!(
        "  {mark} {}   {}",
        printable(&outcome.id),
        style.faint(&outcome.kind)
    );
    text.push_str(match outcome.status {
        OutcomeStatus::Warn => "   (warning)\n",
        OutcomeStatus::Skip => "   (skipped)\n",
        _ => "\n",
    });
    paragraph(&mut text, style, "", &outcome.message);
    if !matches!(outcome.status, OutcomeStatus::Fail | OutcomeStatus::Warn) {
        return text;
    }
    value(&mut text, style, "expected  ", &outcome.params);
    value(&mut text, style, "observed  ", &outcome.observed);
    let events = events(result, outcome);
    for event in events.iter().take(MAX_EVENTS) {
        let _ = writeln!(text, "{INDENT}{}", event_line(style, event));
    }
    if let Some(more) = more(events.len(), MAX_EVENTS) {
        let _ = writeln!(text, "{INDENT}{}", style.faint(&more));
    }
    if let Some(help) = &outcome.help {
        paragraph(&mut text, style, "help: ", help);
    }
    text
}

/// `2 tests · 1 passed · 1 failed · 38 ms`.
pub fn counts(style: Style, totals: &Totals, took: Duration) -> String {
    let mut facts = vec![counted(totals.tests, "test")];
    if totals.passed > 0 || totals.tests == 0 {
        facts.push(style.good(&format!("{} passed", totals.passed)));
    }
    if totals.failed > 0 {
        facts.push(style.bad(&format!("{} failed", totals.failed)));
    }
    if totals.errors > 0 {
        facts.push(style.bad(&counted(totals.errors, "error")));
    }
    if totals.skipped > 0 {
        facts.push(format!("{} skipped", totals.skipped));
    }
    if totals.warnings > 0 {
        facts.push(style.doubtful(&counted(totals.warnings, "warning")));
    }
    if totals.unproven > 0 {
        facts.push(style.doubtful(&format!("{} unproven", counted(totals.unproven, "claim"))));
    }
    if totals.vacuous > 0 {
        facts.push(style.doubtful(&format!("{} vacuous", totals.vacuous)));
    }
    facts.push(duration(took));
    facts.join(style.dot())
}

/// The events that an outcome refers to, in the order of the trace.
fn events<'a>(result: &'a TestResult, outcome: &Outcome) -> Vec<&'a Evidence> {
    result
        .evidence
        .iter()
        .filter(|event| outcome.event_refs.contains(&event.event_id))
        .collect()
}

/// `event 4   tool_result web_fetch   "growth of 4 %"`, within the width.
fn event_line(style: Style, event: &Evidence) -> String {
    let what = match &event.tool {
        Some(tool) => format!("{} {}", event.kind, printable(tool)),
        None => event.kind.clone(),
    };
    let head = format!("event {}   {what}", event.seq);
    let room = style.width.saturating_sub(INDENT.len());
    let room_for_text = room.saturating_sub(head.chars().count() + 3);
    // A few characters say nothing.
    if event.text.is_empty() || room_for_text < 8 {
        return cut_for(style, &head, room);
    }
    let text = cut_for(style, &event.text, room_for_text);
    format!("{head}   {}", style.faint(&printable(&text)))
}

/// A value behind its label: a list of texts a line each, everything else as JSON on a few lines.
fn value(text: &mut String, style: Style, label: &str, value: &Json) {
    let room = style
        .width
        .saturating_sub(INDENT.len() + label.len())
        .max(20);
    let lines: Vec<String> = match value {
        Json::Null => return,
        Json::Object(members) if members.is_empty() => return,
        Json::Array(items)
            if !items.is_empty()
                && items
                    .iter()
                    .all(|item| !item.is_array() && !item.is_object()) =>
        {
            items.iter().map(shown).collect()
        }
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{name}: {}", shown(value)))
            .collect(),
        other => vec![shown(other)],
    };
    let mut label = label.to_owned();
    for line in lines.iter().take(MAX_VALUE_LINES) {
        let _ = writeln!(
            text,
            "{INDENT}{}{}",
            style.faint(&label),
            cut_for(style, &printable(line), room)
        );
        label = " ".repeat(label.len());
    }
    if let Some(more) = more(lines.len(), MAX_VALUE_LINES) {
        let _ = writeln!(text, "{INDENT}{label}{}", style.faint(&more));
    }
}

fn shown(json: &Json) -> String {
    // A long text is cut before it is escaped.
    match json {
        Json::String(text) => Json::from(cut(text, 1000)).to_string(),
        other => other.to_string(),
    }
}

/// A text behind its label, wrapped at words.
fn paragraph(text: &mut String, style: Style, label: &str, words: &str) {
    if words.is_empty() {
        return;
    }
    let room = style.width.saturating_sub(INDENT.len()).max(20);
    let words = format!("{label}{}", printable_lines(words));
    for (idx, line) in words
        .lines()
        .flat_map(|line| wrapped(line, room, label.len()).collect::<Vec<_>>())
        .enumerate()
    {
        let indent = if idx == 0 { 0 } else { label.len() };
        let _ = writeln!(text, "{INDENT}{:indent$}{line}", "");
    }
}

/// `text` in lines of at most `width` characters, broken between words; later lines are `indent` shorter.
fn wrapped(text: &str, width: usize, indent: usize) -> impl Iterator<Item = String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    // Runs of spaces are kept inside a line.
    for word in text.split_inclusive(' ') {
        let room = if lines.is_empty() {
            width
        } else {
            width.saturating_sub(indent)
        };
        let word_length = word.trim_end().chars().count();
        if length > 0 && length + word_length > room {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            length = 0;
        }
        line.push_str(word);
        length += word.chars().count();
    }
    if !line.trim_end().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines.into_iter()
}

fn more(count: usize, shown: usize) -> Option<String> {
    (count > shown).then(|| format!("and {} more", count - shown))
}

/// `text` in at most `width` characters, the mark of a cut included.
fn cut_for(style: Style, text: &str, width: usize) -> String {
    if text.chars().nth(width).is_none() {
        return text.to_owned();
    }
    let mark = style.symbol("…", "...");
    let kept = width.saturating_sub(mark.chars().count());
    text.chars().take(kept).chain(mark.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn shown(style: Style) -> String {
        let tests = sample::all();
        let list = TestList::new(style, tests.iter().map(|(result, _)| result.id.as_str()));
        let mut totals = Totals::default();
        let mut text = String::new();
        for (result, _) in &tests {
            text.push_str(&list.result(result));
            totals.add(result);
        }
        for (result, _) in &tests {
            text.push_str(&list.vacuous(result));
        }
        text + "\n" + &counts(style, &totals, Duration::from_millis(38)) + "\n"
    }

    #[test]
    fn people_read_what_failed_why_and_where() {
        let expected = r#"FAIL  news.current.grounded   tests/news/test.yaml   4 ms
  ✗ grounded-claims-only   claims_supported_by_fixtures
      1 of 4 units has no support: “Reuters reports 40 % growth”
      expected  allowed_sources: ["web_search","web_fetch"]
                min_overlap: 0.5
      observed  "40 %: in no result"
                "Reuters: in no result"
                "nearest: event 6, “growth of 4 %”"
      event 6   tool_result web_fetch   {"text":"growth of 4 % in the third qua…
      event 9   final_output   - Reuters reports 40 % growth - The bank keeps i…
      help: say only what a tool answered, or allow the tool that knows it in
            `allowed_sources`
  ! three-bullet-format   output_matches_format   (warning)
      4 bullets, expected 3
      expected  format: "bullet_list"
                min_bullets: 3
                max_bullets: 3
      observed  4
      event 9   final_output   - Reuters reports 40 % growth - The bank keeps i…
  – no-foreign-memory   no_cross_group_memory_use   (skipped)
      the trace lacks supports_memory_events
PASS  memory.same-group       tests/memory/test.yaml   1 ms
ERROR broken.bundle           tests/broken/test.yaml   0 ms
  error[X-ARG-01]: `call_id` is `c9`, and no `tool_call` before it has that id
    ╭▸ tests/broken/replay.json:3:40
    │
  3 │     {"type": "tool_result", "call_id": "c9"}
    │                                        ━━━━
    │
    ╰ help: add the call, or correct the id
SKIP  skipped.all             tests/skipped/test.yaml   0 ms
  – no-foreign-memory   no_cross_group_memory_use   (skipped)
      the trace lacks supports_memory_events
vacuous: memory.same-group   retries (retry_policy_respected): `web_fetch` had
         no error to judge
vacuous: skipped.all   every assertion was skipped

4 tests · 1 passed · 1 failed · 1 error · 1 skipped · 1 warning · 2 vacuous · 38 ms
"#;
        let text = shown(Style::default());
        assert_eq!(text, expected, "\n{text}");
    }

    #[test]
    fn ascii_and_colour_say_the_same() {
        let ascii = shown(Style {
            unicode: false,
            ..Style::default()
        });
        assert!(ascii.contains("  x grounded-claims-only"), "{ascii}");
        assert!(ascii.contains("in the third q..."), "{ascii}");
        assert!(!ascii.contains(['✗', '–', '…', '·']), "{ascii}");
        assert!(
            ascii
                .lines()
                .rev()
                .skip(1)
                .all(|line| line.chars().count() <= 80),
            "{ascii}"
        );
        let coloured = shown(Style {
            colour: true,
            ..Style::default()
        });
        assert!(
            coloured.contains("\u{1b}[91mFAIL \u{1b}[0m"),
            "{coloured:?}"
        );
    }

    #[test]
    fn a_narrow_terminal_keeps_its_width() {
        let text = shown(Style {
            width: 50,
            ..Style::default()
        });
        for line in text.lines().filter(|line| line.starts_with("      ")) {
            assert!(line.chars().count() <= 50, "{line}");
        }
    }

    #[test]
    fn text_from_strangers_does_not_move_the_cursor() {
        let (mut result, _) = sample::all().remove(0);
        result.assertions.truncate(1);
        let outcome = &mut result.assertions[0].outcome;
        outcome.message = "a\u{1b}[2Jb\nc".into();
        outcome.observed = Json::from("x\u{1b}[31m".repeat(500));
        result.id = "id\r".into();
        let text = TestList::new(Style::default(), ["id"].into_iter()).result(&result);
        assert!(!text.contains(['\u{1b}', '\r']), "{text:?}");
        assert!(text.contains("      a [2Jb\n      c\n"), "{text:?}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}
