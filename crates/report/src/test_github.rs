//! Results of tests as commands of GitHub's workflows, which mark the lines of the test files.

use std::io::{self, Write};

use cuecard_judge::{OutcomeStatus, TestResult};
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::printable_lines;

/// Writes the annotations of one test: an error for each critical failure and each error of its files, a warning
/// for each warning and for what had nothing to judge. A test that passed in full has none.
///
/// # Errors
/// Those of `out`.
pub fn annotate(result: &TestResult, out: &mut impl Write) -> io::Result<()> {
    for diagnostic in &result.diagnostics {
        of_diagnostic(result, diagnostic).write(out)?;
    }
    if let Some(reason) = &result.vacuous {
        let annotation = Annotation {
            level: "warning",
            file: &result.run.file,
            line: None,
            column: None,
            title: format!("{}: nothing to check", result.id),
            message: reason.clone(),
        };
        annotation.write(out)?;
    }
    for assertion in &result.assertions {
        let outcome = &assertion.outcome;
        let level = match outcome.status {
            OutcomeStatus::Fail => "error",
            OutcomeStatus::Warn => "warning",
            OutcomeStatus::Pass if outcome.vacuous => "warning",
            OutcomeStatus::Pass | OutcomeStatus::Skip => continue,
        };
        let mut message = outcome.message.clone();
        if let Some(help) = &outcome.help {
            message.push_str("\nhelp: ");
            message.push_str(help);
        }
        let what = if outcome.vacuous {
            ", nothing to check"
        } else {
            ""
        };
        let annotation = Annotation {
            level,
            file: &result.run.file,
            line: assertion.line,
            column: None,
            title: format!("{}: {} ({}{what})", result.id, outcome.id, outcome.kind),
            message,
        };
        annotation.write(out)?;
    }
    Ok(())
}

fn of_diagnostic<'a>(result: &'a TestResult, diagnostic: &'a Diagnostic) -> Annotation<'a> {
    let mut message = diagnostic.message.clone();
    if let Some(label) = &diagnostic.label {
        message.push_str(": ");
        message.push_str(label);
    }
    for note in &diagnostic.notes {
        message.push_str("\nnote: ");
        message.push_str(note);
    }
    if let Some(help) = &diagnostic.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    let place = diagnostic.place.as_ref();
    let position = place.map(|place| place.source.position(place.span.start));
    Annotation {
        level: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        },
        file: place.map_or(&result.run.file, |place| place.source.name()),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        title: format!("{}: {}", result.id, diagnostic.code),
        message,
    }
}

struct Annotation<'a> {
    level: &'static str,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    title: String,
    message: String,
}

impl Annotation<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "::{} file={}", self.level, property(self.file))?;
        if let Some(line) = self.line {
            write!(out, ",line={line}")?;
        }
        if let Some(column) = self.column {
            write!(out, ",col={column}")?;
        }
        writeln!(
            out,
            ",title={}::{}",
            property(&self.title),
            data(&self.message)
        )
    }
}

/// The message of a command: what would end the line is escaped.
fn data(text: &str) -> String {
    printable_lines(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a command: besides, what would end the property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn failures_mark_their_lines() {
        let mut text = Vec::new();
        let mut tests = sample::all();
        "a:b,c.yaml".clone_into(&mut tests[1].0.run.file);
        for (result, _) in &tests {
            annotate(result, &mut text).expect("written");
        }
        let text = String::from_utf8(text).expect("text");
        let expected = "\
::error file=tests/news/test.yaml,line=2,title=news.current.grounded%3A grounded-claims-only (claims_supported_by_fixtures)::1 of 4 units has no support: “Reuters reports 40 %25 growth”%0Ahelp: say only what a tool answered, or allow the tool that knows it in `allowed_sources`
::warning file=tests/news/test.yaml,line=3,title=news.current.grounded%3A three-bullet-format (output_matches_format)::4 bullets, expected 3
::warning file=a%3Ab%2Cc.yaml,line=3,title=memory.same-group%3A retries (retry_policy_respected%2C nothing to check)::`web_fetch` had no error to judge
::error file=tests/broken/replay.json,line=3,col=40,title=broken.bundle%3A X-ARG-01::`call_id` is `c9`, and no `tool_call` before it has that id%0Ahelp: add the call, or correct the id
::warning file=tests/skipped/test.yaml,title=skipped.all%3A nothing to check::every assertion was skipped
";
        assert_eq!(text, expected, "\n{text}");
    }
}
