//! `cuecard test --list`: which tests there are.

use cuecard_judge::model::{TestCase, TraceInput};
use cuecard_runner::{CaseFile, Selection, TestFile, read_case};
use cuecard_source::diagnostic::Severity;
use cuecard_source::value::printable;
use serde_json::{Value as Json, json};

use super::telling::none_selected;
use crate::args::TestArgs;
use crate::exit_code::ExitCode;
use crate::output::{self, Output, stdout};

/// What the list says of a scenario instead of where the trace of a test comes from.
const SCENARIO: &str = "scenario";

pub(super) fn run(
    args: &TestArgs,
    files: &[TestFile],
    selection: &Selection,
    output: &Output,
) -> ExitCode {
    let mut exit = ExitCode::Passed;
    let mut documents: Vec<Json> = Vec::new();
    let mut n_shown = 0;
    for file in files {
        let (cases, is_scenario) = match read_case(file) {
            CaseFile::Cases(cases, _) => (cases, false),
            CaseFile::Scenario(case) => (vec![*case], true),
            CaseFile::Invalid(diagnostics) => {
                exit = ExitCode::Invalid;
                output.diagnostics(&diagnostics);
                let error = diagnostics.first().map(|error| error.message.as_str());
                documents.push(json!({"file": file.path.display().to_string(), "error": error}));
                continue;
            }
        };
        for case in cases.iter().filter(|case| selection.holds(case)) {
            n_shown += 1;
            let source = match is_scenario {
                true => SCENARIO,
                false => source_of(&case.input),
            };
            match args.json {
                true => documents.push(document(case, source)),
                false => stdout(&line(case, source, output)),
            }
        }
    }
    if args.json {
        output::document(&json!({"tests": documents}));
    }
    // If there are no files, that was said.
    if n_shown == 0
        && !files.is_empty()
        && let Some((_, found)) = none_selected(args)
    {
        output.diagnostic(&found);
        if found.severity == Severity::Error {
            exit = exit.worst(ExitCode::Invalid);
        }
    }
    exit
}

/// A line for a test. A scenario has no id but its file.
fn line(case: &TestCase, source: &str, output: &Output) -> String {
    let style = output.stdout;
    let id = match source {
        SCENARIO => &case.title,
        _ => &case.id,
    };
    let mut line = style.strong(&printable(id));
    if case.title != *id {
        line.push_str(&format!("   {}", printable(&case.title)));
    }
    if !case.tags.is_empty() {
        line.push_str(&format!("   [{}]", printable(&case.tags.join(", "))));
    }
    format!("{line}   {}\n", style.faint(case.source.name()))
}

fn document(case: &TestCase, source: &str) -> Json {
    json!({
        "id": case.id,
        "title": case.title,
        "file": case.source.name(),
        "tags": case.tags,
        "assertions": case.assertions.len(),
        "source": source,
    })
}

fn source_of(input: &TraceInput) -> &'static str {
    match input {
        TraceInput::ReplayBundle { .. } => "replay",
        TraceInput::Live { .. } => "live",
        TraceInput::Play { .. } => "play",
        TraceInput::TraceFile { .. } => "trace_file",
        TraceInput::Transcript { .. } => "transcript",
    }
}
