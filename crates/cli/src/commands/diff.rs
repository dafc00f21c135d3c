//! `cuecard diff`: how two runs, or the results of two runs of tests, differ by meaning.

use std::path::{Path, PathBuf};

use cuecard_judge::compare::{Results, compare};
use cuecard_report::{comparison_json, comparison_terminal};
use cuecard_runner::RecordedRun;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::{Json, Redactor};

use crate::args::DiffArgs;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::read_source;

/// Counts follow from the calls; times and tokens differ from run to run.
const FOLLOWS: &str = "/metrics";

/// What can be compared.
enum Recorded {
    Run(Box<RecordedRun>),
    Results(Results),
}

pub(crate) fn run(args: &DiffArgs, context: &Context) -> Result<ExitCode, Stop> {
    let output = &context.output;
    let (first, second) = match (read(&args.first), read(&args.second)) {
        (Ok(first), Ok(second)) => (first, second),
        (first, second) => {
            let stops = [first.err(), second.err()].into_iter().flatten();
            let exits = stops.map(|stop| stop.print(output));
            return Ok(exits.fold(ExitCode::Passed, ExitCode::worst));
        }
    };
    let names = (
        args.first.display().to_string(),
        args.second.display().to_string(),
    );
    let style = output.stdout;
    let (text, document, is_same) = match (&first, &second) {
        (Recorded::Run(old), Recorded::Run(new)) => {
            output.diagnostics(&old.warnings);
            output.diagnostics(&new.warnings);
            let mut ignore = args.ignore.clone();
            ignore.push(FOLLOWS.to_owned());
            let comparison = compare(&old.trace, &new.trace, &ignore);
            (
                comparison_terminal::traces(style, &names.0, &names.1, &comparison),
                comparison_json::traces(&names.0, &names.1, &comparison),
                comparison.differences.is_empty(),
            )
        }
        (Recorded::Results(old), Recorded::Results(new)) => {
            let differences = old.compared_with(new);
            (
                comparison_terminal::results(style, &names.0, &names.1, &differences),
                comparison_json::results(&names.0, &names.1, &differences),
                differences.is_empty(),
            )
        }
        _ => {
            let kind = |recorded: &Recorded| match recorded {
                Recorded::Run(_) => "a run",
                Recorded::Results(_) => "a test result",
            };
            let message = format!(
                "`{}` is {} and `{}` is {}",
                names.0,
                kind(&first),
                names.1,
                kind(&second)
            );
            let help = "compare two runs, or two results written by `cuecard test --output`";
            return Err(Stop::refused(codes::FILE_KIND, message, help));
        }
    };
    output.result(&Redactor::default(), || document, |_| text);
    Ok(match is_same {
        true => ExitCode::Passed,
        false => ExitCode::Drifted,
    })
}

/// Reads what `path` names: a file, or in the folder of a run the result of its tests, else its trace.
fn read(path: &Path) -> Result<Recorded, Stop> {
    let is_folder = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let file = match is_folder {
        true => in_folder(path)?,
        false => path.to_owned(),
    };
    let name = file.display().to_string();
    let error = match RecordedRun::read(&file) {
        Ok(run) => return Ok(Recorded::Run(Box::new(run))),
        Err(error) => error,
    };
    // What is no run may be a result; only a small file is.
    let document = read_source(&file)
        .ok()
        .and_then(|source| serde_json::from_str::<Json>(source.text()).ok());
    match document {
        Some(document) if Results::are_in(&document) => {
            let results = Results::read(&document).map_err(|reason| {
                let message = format!("`{name}` can't be read as a test result: {reason}");
                Stop::invalid(Diagnostic::error(codes::ARGUMENT, message))
            })?;
            Ok(Recorded::Results(results))
        }
        _ => Err(Stop::invalid(error)),
    }
}

/// The file that tells of the run in `folder`.
fn in_folder(folder: &Path) -> Result<PathBuf, Stop> {
    let files = ["summary.json", "trace.jsonl"].map(|name| folder.join(name));
    let found = files.into_iter().find(|file| file.is_file());
    found.ok_or_else(|| {
        let message = format!(
            "`{}` is not a run directory: it has neither `summary.json` nor `trace.jsonl`",
            folder.display()
        );
        let help = "choose a directory in .cuecard/runs/, or in that of `cuecard test --output`";
        Stop::argument(message, help)
    })
}
