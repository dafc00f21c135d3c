//! `cuecard schema`: the JSON Schemas of the file formats, for editors and other programs.

use std::path::Path;

use cuecard_browser::model::cassette_schema;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, Redactor};
use cuecard_workspace::files;
use {
    cuecard_browser_steps::format as browser, cuecard_judge::test_case,
    cuecard_timeline::format as timeline, cuecard_tool_call::format as tool_call,
};
use {cuecard_report as reports, cuecard_trace as trace};

use crate::args::SchemaArgs;
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr_line, stdout};

/// A format by the name of its schema, and what makes the schema.
type Schema = (&'static str, fn() -> Json);

const SCHEMAS: &[Schema] = &[
    ("tool-call", tool_call::schema),
    ("timeline", timeline::schema),
    ("terminal", timeline::terminal_schema),
    ("faults", timeline::faults_schema),
    ("browser", browser::schema),
    ("steps", browser::steps_schema),
    ("heal", browser::heal_schema),
    ("cassette", cassette_schema),
    ("mcp-cassette", cuecard_recording::cassette::schema),
    ("test-case", test_case::schema),
    ("replay-bundle", trace::import::replay_bundle_schema),
    ("trace", trace::schema),
    ("result", reports::result_schema),
];

pub(crate) fn run(args: &SchemaArgs, output: &Output) -> ExitCode {
    let known = |name: &str| SCHEMAS.iter().find(|(known, _)| *known == name);
    let chosen = match args.name.as_deref().map(|name| (name, known(name))) {
        None => SCHEMAS,
        Some((_, Some(schema))) => std::slice::from_ref(schema),
        Some((name, None)) => {
            output.diagnostic(&unknown(name), false, &Redactor::default());
            return ExitCode::Invalid;
        }
    };
    if let Some(folder) = &args.out {
        return write(chosen, folder, output);
    }
    if args.name.is_none() {
        stdout(&list());
        return ExitCode::Passed;
    }
    for schema in chosen {
        stdout(&text(*schema));
    }
    ExitCode::Passed
}

/// The schema as the text of its file.
fn text((_, schema): Schema) -> String {
    format!("{:#}\n", schema())
}

/// A line for each schema.
fn list() -> String {
    SCHEMAS
        .iter()
        .map(|(name, schema)| {
            let schema = schema();
            let about = schema["description"].as_str().unwrap_or_default();
            format!("{name:<14} {about}\n")
        })
        .collect()
}

fn unknown(name: &str) -> Diagnostic {
    let message = format!("unknown schema `{name}`");
    let names = SCHEMAS.iter().map(|(known, _)| *known);
    let help = match did_you_mean(name, names) {
        Some(proposal) => format!("did you mean `{proposal}`?"),
        None => "`cuecard schema` lists all schemas".to_owned(),
    };
    Diagnostic::error(codes::ARGUMENT, message).with_help(help)
}

/// Writes each schema as `NAME.schema.json` into `folder`.
fn write(schemas: &[Schema], folder: &Path, output: &Output) -> ExitCode {
    for &schema in schemas {
        let path = folder.join(format!("{}.schema.json", schema.0));
        if let Err(error) = files::write(&path, &text(schema)) {
            let mut diagnostic = Diagnostic::error(codes::FILE_WRITE, error.to_string());
            diagnostic.help = error.help();
            output.diagnostic(&diagnostic, false, &Redactor::default());
            return ExitCode::CouldNotRun;
        }
        stderr_line(&format!("wrote {}", path.display()));
    }
    ExitCode::Passed
}
