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
        match read_case(file) {
            CaseFile::Case(case, _) if selection.holds(&case) => {
                n_shown += 1;
                match args.json {
                    true => documents.push(document(&case)),
                    false => stdout(&line(&case, false, output)),
                }
            }
            CaseFile::Scenario(case) if selection.holds(&case) => {
                n_shown += 1;
                match args.json {
                    true => documents.push(json!({
                        "id": case.id, "title": case.title, "file": case.source.name(), "tags": [], "source": "scenario",
                    })),
                    false => stdout(&line(&case, true, output)),
                }
            }
            CaseFile::Case(..) | CaseFile::Scenario(_) => {}
            CaseFile::Invalid(diagnostics) => {
                exit = ExitCode::Invalid;
                output.diagnostics(&diagnostics);
                if args.json {
                    documents.push(json!({"file": file.path.display().to_string(), "error": diagnostics.first().map(|error| error.message.as_str())}));
                }
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
fn line(case: &TestCase, is_scenario: bool, output: &Output) -> String {
    let style = output.stdout;
    let id = if is_scenario { &case.title } else { &case.id };
    let mut line = style.strong(&printable(id));
    if case.title != *id {
        line.push_str(&format!("   {}", printable(&case.title)));
    }
    if !case.tags.is_empty() {
        line.push_str(&format!("   [{}]", printable(&case.tags.join(", "))));
    }
    format!("{line}   {}\n", style.faint(case.source.name()))
}

fn document(case: &TestCase) -> Json {
    json!({
        "id": case.id,
        "title": case.title,
        "file": case.source.name(),
        "tags": case.tags,
        "assertions": case.assertions.len(),
        "source": match case.input {
            TraceInput::ReplayBundle { .. } => "replay",
            TraceInput::Live { .. } => "live",
            TraceInput::Play { .. } => "play",
            TraceInput::TraceFile { .. } => "trace_file",
            TraceInput::Transcript { .. } => "transcript",
        },
    })
}
