//! `cuecard play`.

pub(super) mod browser_steps;
mod calls;
mod dry_run;
mod options;
mod reports;
mod resume;
mod run;
mod several;
mod terminal;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cuecard_report::diagnostics::list_to_json;
use cuecard_runner::check::PLAYED;
use cuecard_runtime::collect::collect;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::options::Options;
use super::list;
use crate::args::PlayArgs;
use crate::asynchronous::asynchronously;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output_files::{check_overwriting, clear_results};

/// Plays one file or several.
pub(crate) fn run(args: &PlayArgs, context: &Context) -> Result<ExitCode, Stop> {
    // What stops it before the results of an earlier run are removed may be that one would overwrite a scenario.
    let named: Vec<_> = args.files.iter().map(|file| list::named(file)).collect();
    if let Err(error) = clear(args, named.iter().flatten()) {
        return Err(Stop::invalid(error).with_document(|stop| document(args, stop)));
    }
    let settled = settle(args, named).and_then(|files| Ok((files, Options::of(args)?)));
    let played = settled.and_then(|(files, options)| match files.as_slice() {
        [file] if !is_several(args) => run_one(args, options, file, context),
        files => several::play(args, options, files, context),
    });
    played.map_err(|mut stop| {
        let document = document(args, &stop);
        let problems = reports::of_refusal(args, &stop, &document);
        stop.diagnostics.extend(problems);
        stop.with_document(|_| document)
    })
}

/// Whether there is one report on all files instead of one on a file.
fn is_several(args: &PlayArgs) -> bool {
    args.files.len() > 1 || args.files.iter().any(|file| file.is_dir())
}

/// The files to play, of those that are named.
fn settle(args: &PlayArgs, named: Vec<Result<PathBuf, Diagnostic>>) -> Result<Vec<PathBuf>, Stop> {
    let for_one = [
        ("`--start`", args.start.is_some()),
        ("`--end`", args.end.is_some()),
        ("`--resume`", args.resume.run.is_some()),
    ];
    let for_one = for_one.into_iter().find(|(_, is_given)| *is_given);
    if let (true, Some((one, _))) = (is_several(args), for_one) {
        let message = format!("{one} is for a single file");
        return Err(Stop::argument(message, "play the files one by one"));
    }
    // Nothing is played before all files are found and can be read.
    let named: Vec<PathBuf> = named
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(Stop::invalid)?;
    let (files, mut found) = with_folders(named);
    let is_one_of_several = |file: &&PathBuf| is_several(args) && file.as_os_str() != "-";
    let unplayable = files.iter().filter(is_one_of_several);
    found.extend(unplayable.flat_map(|file| errors_of(file)));
    match found.is_empty() {
        true => Ok(files),
        false => Err(Stop::invalid(found)),
    }
}

/// The files, with those of each folder in its place, and why a folder has none. What a folder has is played once.
fn with_folders(named: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let place = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
    for path in named {
        if !path.is_dir() {
            seen.insert(place(&path));
            files.push(path);
            continue;
        }
        let collected = collect(&[path], PLAYED);
        let inside = collected.files.into_iter().map(|file| file.path);
        files.extend(inside.filter(|file| seen.insert(place(file))));
        found.extend(collected.problems.into_iter().map(|(_, problem)| problem));
    }
    (files, found)
}

/// Why a file can't be played, whatever the arguments are.
fn errors_of(file: &Path) -> Vec<Diagnostic> {
    match inputs::read_source(file) {
        Ok(source) => cuecard_runner::errors_of(&source),
        Err(found) => vec![found],
    }
}

/// A file that can be played, whatever is in it.
enum Ready {
    Calls(Box<calls::Prepared>),
    Steps(Box<browser_steps::ReadySteps>),
}

/// Reads and checks everything. Warnings are shown, and secrets are asked for.
fn prepare(
    args: &PlayArgs,
    options: Options,
    file: &Path,
    context: &Context,
) -> Result<Ready, Stop> {
    let source = inputs::read_source(file).map_err(Stop::invalid)?;
    if kind_of(&source) == Some(FileKind::BrowserSteps) {
        if args.resume.run.is_some() {
            let message = "only runs of tool-call scenarios can be resumed";
            return Err(Stop::argument(message, "start at a step with `--start`"));
        }
        let steps = browser_steps::ready(args, options, file, source, context)?;
        return Ok(Ready::Steps(Box::new(steps)));
    }
    let calls = calls::prepare(args, options, file, &source, context)?;
    Ok(Ready::Calls(Box::new(calls)))
}

impl Ready {
    /// Plays it, or says what it would do.
    async fn play(self, args: &PlayArgs, context: &Context, stop: &CancellationToken) -> ExitCode {
        let output = &context.output;
        let played = match self {
            Self::Steps(steps) if args.dry_run => Ok(browser_steps::preview(&steps)),
            Self::Steps(steps) => browser_steps::play_steps(args, &steps, output, stop).await,
            Self::Calls(calls) if args.dry_run => {
                Ok(dry_run::preview(args, *calls, context, stop).await)
            }
            Self::Calls(calls) => calls::play_calls(args, *calls, context, stop).await,
        };
        // The document of `--json` may have begun.
        played.unwrap_or_else(|stop| stop.print(output))
    }
}

fn run_one(
    args: &PlayArgs,
    options: Options,
    file: &Path,
    context: &Context,
) -> Result<ExitCode, Stop> {
    let ready = prepare(args, options, file, context)?;
    let exit = asynchronously(async |stop| ready.play(args, context, &stop).await);
    Ok(exit.unwrap_or_else(|exit| exit))
}

/// The files that the results of this run go to.
fn results(args: &PlayArgs) -> Vec<PathBuf> {
    let of_report = |report: &'_ String| report.split_once(':').map(|(_, file)| file.into());
    let reports = args.reports.iter().filter_map(of_report);
    reports.chain(args.output.clone()).collect()
}

/// Makes sure that no input is overwritten, and removes what an earlier run left, which would be taken for the results of
/// this one.
fn clear<'p>(
    args: &'p PlayArgs,
    scenarios: impl Iterator<Item = &'p PathBuf>,
) -> Result<(), Diagnostic> {
    let results = results(args);
    let inputs = scenarios
        .chain(&args.servers.config)
        .chain(&args.variables.env.env_file);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    check_overwriting(results.iter().map(PathBuf::as_path), &inputs)?;
    if args.dry_run && !results.is_empty() {
        let message = "`--dry-run` can't be combined with `--output` and `--report`";
        return Err(Diagnostic::error(codes::ARGUMENT, message)
            .with_help("nothing is played; `--dry-run --json` tells machines what would be"));
    }
    clear_results(&results);
    Ok(())
}

/// The document of one file, or of several, of which none is played.
fn document(args: &PlayArgs, stopped: &Stop) -> serde_json::Value {
    let mut document = not_run(stopped);
    if is_several(args) {
        document["files"] = json!([]);
    }
    document
}

/// The document of a run that did not begin.
fn not_run(stop: &Stop) -> serde_json::Value {
    let diagnostics = &stop.diagnostics;
    let first = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.severity == Severity::Error);
    json!({
        "success": false,
        "status": if stop.exit == ExitCode::Invalid { "invalid" } else { "blocked" },
        "error": first.map(|diagnostic| diagnostic.message.as_str()),
        "step_results": [],
        "diagnostics": list_to_json(diagnostics),
    })
}

/// The word for how a file ended, as results have it.
fn status(exit: ExitCode) -> &'static str {
    match exit {
        ExitCode::Passed | ExitCode::Drifted => "passed",
        ExitCode::CouldNotRun => "blocked",
        ExitCode::Invalid => "invalid",
        ExitCode::Interrupted => "interrupted",
        ExitCode::Failed | ExitCode::OfCommand(_) => "failed",
    }
}
