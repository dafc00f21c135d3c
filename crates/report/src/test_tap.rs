//! Results of tests in the Test Anything Protocol, version 14: one point a test, written as they end.

use std::io::{self, Write};

use super::diagnostics;
use cuecard_judge::{OutcomeStatus, TestResult, TestStatus};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;

/// Writes the points.
#[derive(Debug)]
pub struct TapReport<W> {
    out: W,
    points: usize,
}

impl<W: Write> TapReport<W> {
    /// Begins the report.
    ///
    /// # Errors
    /// Those of `out`, here and in the other methods.
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(b"TAP version 14\n")?;
        Ok(Self { out, points: 0 })
    }

    /// Writes the point of a test that ended.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn result(&mut self, result: &TestResult) -> io::Result<()> {
        self.points += 1;
        let ok = match result.status {
            TestStatus::Pass | TestStatus::Skipped => "ok",
            TestStatus::Fail | TestStatus::Error => "not ok",
        };
        let directive = match (result.status, &result.vacuous) {
            (TestStatus::Skipped, Some(reason)) => format!(" # SKIP {}", escaped(reason)),
            _ => String::new(),
        };
        writeln!(
            self.out,
            "{ok} {} - {}{directive}",
            self.points,
            escaped(&result.id)
        )?;
        self.details(result)
    }

    /// What is to be said of a point, as YAML whose values are JSON.
    fn details(&mut self, result: &TestResult) -> io::Result<()> {
        let out = &mut self.out;
        writeln!(out, "  ---")?;
        writeln!(out, "  file: {}", Json::from(result.run.file.as_str()))?;
        writeln!(
            out,
            "  duration_ms: {}",
            Json::from(super::test_json::milliseconds(result.run.took))
        )?;
        let bad = || {
            let outcomes = result.assertions.iter().map(|assertion| &assertion.outcome);
            outcomes.filter(|outcome| outcome.status != OutcomeStatus::Pass)
        };
        if bad().next().is_some() {
            writeln!(out, "  assertions:")?;
        }
        for outcome in bad() {
            writeln!(out, "    - id: {}", Json::from(outcome.id.as_str()))?;
            writeln!(out, "      type: {}", Json::from(outcome.kind.as_str()))?;
            writeln!(out, "      status: {}", outcome.status.as_str())?;
            writeln!(
                out,
                "      message: {}",
                Json::from(outcome.message.as_str())
            )?;
            if !outcome.observed.is_null() {
                writeln!(out, "      observed: {}", outcome.observed)?;
            }
        }
        let unproven = result.unproven_claims();
        if unproven > 0 {
            writeln!(out, "  unproven_claims: {unproven}")?;
        }
        if !result.diagnostics.is_empty() {
            writeln!(out, "  errors:")?;
        }
        for diagnostic in &result.diagnostics {
            write_error(out, diagnostic)?;
        }
        let mut vacuous = result.vacuous_lines().peekable();
        if vacuous.peek().is_some() {
            writeln!(out, "  vacuous:")?;
        }
        for line in vacuous {
            writeln!(out, "    - {}", Json::from(line))?;
        }
        writeln!(out, "  ...")
    }

    /// Ends the report with its plan.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn end(mut self) -> io::Result<W> {
        writeln!(self.out, "1..{}", self.points)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn write_error(out: &mut impl Write, diagnostic: &Diagnostic) -> io::Result<()> {
    let json = diagnostics::to_json(diagnostic);
    let Json::Object(fields) = json else {
        return Ok(());
    };
    let said =
        |value: &Json| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty());
    let mut mark = "- ";
    for (name, value) in fields.iter().filter(|(_, value)| said(value)) {
        writeln!(out, "    {mark}{name}: {value}")?;
        mark = "  ";
    }
    Ok(())
}

/// A description on one line in which nothing is a directive.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '#' => escaped.extend(['\\', character]),
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn points_carry_what_failed() {
        let mut report = TapReport::begin(Vec::new()).expect("begun");
        let mut tests = sample::all();
        tests.truncate(4);
        "memory #1".clone_into(&mut tests[1].0.id);
        for (result, _) in &tests {
            report.result(result).expect("written");
        }
        let text = String::from_utf8(report.end().expect("ended")).expect("text");
        let expected = r#"TAP version 14
not ok 1 - news.current.grounded
  ---
  file: "tests/news/test.yaml"
  duration_ms: 4.0
  assertions:
    - id: "grounded-claims-only"
      type: "claims_supported_by_fixtures"
      status: fail
      message: "1 of 4 units has no support: “Reuters reports 40 % growth”"
      observed: ["40 %: in no result","Reuters: in no result","nearest: event 6, “growth of 4 %”"]
    - id: "three-bullet-format"
      type: "output_matches_format"
      status: warn
      message: "4 bullets, expected 3"
      observed: 4
    - id: "no-foreign-memory"
      type: "no_cross_group_memory_use"
      status: skip
      message: "the trace lacks supports_memory_events"
  ...
ok 2 - memory \#1
  ---
  file: "tests/memory/test.yaml"
  duration_ms: 1.0
  vacuous:
    - "retries (retry_policy_respected): `web_fetch` had no error to judge"
  ...
not ok 3 - broken.bundle
  ---
  file: "tests/broken/test.yaml"
  duration_ms: 0.0
  errors:
    - severity: "error"
      code: "X-ARG-01"
      message: "`call_id` is `c9`, and no `tool_call` before it has that id"
      file: "tests/broken/replay.json"
      line: 3
      column: 40
      pointer: "/script/0/call_id"
      help: "add the call, or correct the id"
  ...
ok 4 - skipped.all # SKIP every assertion was skipped
  ---
  file: "tests/skipped/test.yaml"
  duration_ms: 0.0
  assertions:
    - id: "no-foreign-memory"
      type: "no_cross_group_memory_use"
      status: skip
      message: "the trace lacks supports_memory_events"
  vacuous:
    - "every assertion was skipped"
  ...
1..4
"#;
        assert_eq!(text, expected, "\n{text}");
    }
}
