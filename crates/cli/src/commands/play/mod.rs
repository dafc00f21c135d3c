//! `cuecard play`.

pub(super) mod browser_steps;
mod calls;
mod dry_run;
mod options;
mod reports;
mod run;
mod terminal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cuecard_report::Style;
use cuecard_report::diagnostics::list_to_json;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::Redactor;
use serde_json::json;

use self::options::Options;
use super::list;
use super::stop::Stop;
use crate::args::PlayArgs;
use crate::asynchronous::asynchronously;
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{Output, stderr_line, stdout};
use crate::output_files::check_overwriting;

/// Plays one file after the other.
pub(crate) fn run(
    args: &PlayArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let files = match settle(args) {
        Ok(files) => files,
        Err(stopped) => return refused(args, stopped, output),
    };
    let is_alone = args.files.len() == 1;
    let mut exits = Vec::new();
    for file in &files {
        let exit = run_file(args, file, environment, output)
            .unwrap_or_else(|stopped| refused(args, stopped, output));
        exits.push(exit);
        if exit == ExitCode::Interrupted {
            break;
        }
        if !is_alone {
            stderr_line("");
        }
    }
    if !is_alone {
        stdout(&total(args.files.len(), &exits, output.stdout));
    }
    exits.into_iter().fold(ExitCode::Passed, ExitCode::worst)
}

/// The files to play. Before anything else, the results of an earlier run are removed, which would be taken for those of
/// this one.
fn settle(args: &PlayArgs) -> Result<Vec<PathBuf>, Stop> {
    let named: Vec<_> = args.files.iter().map(|file| list::named(file)).collect();
    clear_results(args, named.iter().flatten()).map_err(Stop::invalid)?;
    let for_one = args.json || args.output.is_some() || !args.reports.is_empty();
    if args.files.len() > 1 && (for_one || args.start.is_some() || args.end.is_some()) {
        let diagnostic = Diagnostic::error(
            codes::ARGUMENT,
            "`--json`, `--output`, `--report`, `--start` and `--end` are for a single file",
        )
        .with_help("for reports on several scenarios, use `cuecard test FILES --report KIND:FILE`");
        return Err(Stop::invalid(diagnostic));
    }
    // Nothing is played before all names are known.
    named
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(Stop::invalid)
}

/// `3 files · 1 passed · 1 failed · 1 not played`.
fn total(files: usize, exits: &[ExitCode], style: Style) -> String {
    let is_passed = |exit: &&ExitCode| **exit == ExitCode::Passed;
    let passed = exits.iter().filter(is_passed).count();
    let mut facts = vec![
        format!("{files} files"),
        style.good(&format!("{passed} passed")),
    ];
    if exits.len() > passed {
        facts.push(style.bad(&format!("{} failed", exits.len() - passed)));
    }
    if files > exits.len() {
        facts.push(format!("{} not played", files - exits.len()));
    }
    format!("{}\n", facts.join(style.dot()))
}

/// Plays what the file is: a tool-call scenario or browser steps.
fn run_file(
    args: &PlayArgs,
    file: &Path,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> Result<ExitCode, Stop> {
    let source = inputs::read_source(file).map_err(Stop::invalid)?;
    let options = Options::of(args)?;
    if kind_of(&source) == Some(FileKind::BrowserSteps) {
        return browser_steps::play_steps(args, options, file, source, environment, output);
    }
    let prepared = calls::prepare(args, options, file, &source, environment, output)?;
    let exit = asynchronously(async |stop| {
        if args.dry_run {
            dry_run::preview(args, prepared, environment, output, &stop).await
        } else {
            calls::play_calls(args, prepared, environment, output, &stop).await
        }
    });
    Ok(exit.unwrap_or_else(|exit| exit))
}

/// Removes the files that the results of this run go to.
fn clear_results<'p>(
    args: &'p PlayArgs,
    scenarios: impl Iterator<Item = &'p PathBuf>,
) -> Result<(), Diagnostic> {
    let of_report = |report: &'_ String| report.split_once(':').map(|(_, file)| file.into());
    let reports = args.reports.iter().filter_map(of_report);
    let results: Vec<PathBuf> = reports.chain(args.output.clone()).collect();
    let inputs = scenarios
        .chain(&args.config)
        .chain(&args.variables.env_file);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    check_overwriting(results.iter().map(PathBuf::as_path), &inputs)?;
    let is_file = |file: &&PathBuf| file.symlink_metadata().is_ok_and(|data| data.is_file());
    if !args.dry_run {
        for file in results.iter().filter(is_file) {
            // What can't be removed is told when it is written.
            let _ = std::fs::remove_file(file);
        }
    }
    Ok(())
}

/// Shows why nothing is played.
fn refused(args: &PlayArgs, Stop(diagnostics, exit): Stop, output: &Output) -> ExitCode {
    output.diagnostics(&diagnostics, args.json, &Redactor::default());
    if args.json {
        stdout(&format!("{:#}\n", not_run(&diagnostics, exit)));
    }
    exit
}

/// The document of a run that did not begin.
fn not_run(diagnostics: &[Diagnostic], exit: ExitCode) -> serde_json::Value {
    let first = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.severity == Severity::Error);
    json!({
        "success": false,
        "status": if exit == ExitCode::Invalid { "invalid" } else { "blocked" },
        "error": first.map(|diagnostic| diagnostic.message.as_str()),
        "step_results": [],
        "diagnostics": list_to_json(diagnostics),
    })
}
