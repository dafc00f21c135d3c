//! `cuecard schema`: the JSON Schemas of the file formats, for editors and other programs.

use std::path::Path;

use cuecard_browser::model::cassette_schema;
use cuecard_source::diagnostic::{Diagnostic, did_you_mean};
use cuecard_source::value::Json;
use {
    cuecard_browser_steps::format as browser, cuecard_judge::test_case,
    cuecard_timeline::format as timeline, cuecard_tool_call::format as tool_call,
};
use {cuecard_report as reports, cuecard_trace as trace};

use crate::args::SchemaArgs;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::{stderr_line, stdout};
use crate::output_files::write_text;

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

pub(crate) fn run(args: &SchemaArgs) -> Result<ExitCode, Stop> {
    let known = |name: &str| SCHEMAS.iter().find(|(known, _)| *known == name);
    let chosen = match args.name.as_deref().map(|name| (name, known(name))) {
        None => SCHEMAS,
        Some((_, Some(schema))) => std::slice::from_ref(schema),
        Some((name, None)) => return Err(unknown(name)),
    };
    match &args.out {
        Some(folder) => write(chosen, folder).map_err(Stop::could_not_run)?,
        None if args.name.is_none() => stdout(&list()),
        None => chosen.iter().for_each(|schema| stdout(&text(*schema))),
    }
    Ok(ExitCode::Passed)
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

fn unknown(name: &str) -> Stop {
    let names = SCHEMAS.iter().map(|(known, _)| *known);
    let help = match did_you_mean(name, names) {
        Some(proposal) => format!("did you mean `{proposal}`?"),
        None => "`cuecard schema` lists all schemas".to_owned(),
    };
    Stop::argument(format!("unknown schema `{name}`"), &help)
}

/// Writes each schema as `NAME.schema.json` into `folder`.
fn write(schemas: &[Schema], folder: &Path) -> Result<(), Diagnostic> {
    for &schema in schemas {
        let path = folder.join(format!("{}.schema.json", schema.0));
        write_text(&path, &text(schema))?;
        stderr_line(&format!("wrote {}", path.display()));
    }
    Ok(())
}
