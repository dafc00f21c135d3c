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
use crate::output_files::{check_overwriting, clear_results};

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
        let passed = match args.dry_run {
            true => "can be played",
            false => "passed",
        };
        stdout(&total(&args.files, &exits, passed, output.stdout));
    }
    exits.into_iter().fold(ExitCode::Passed, ExitCode::worst)
}

/// The files to play. Before anything else, the results of an earlier run are removed, which would be taken for those of
/// this one.
fn settle(args: &PlayArgs) -> Result<Vec<PathBuf>, Stop> {
    let named: Vec<_> = args.files.iter().map(|file| list::named(file)).collect();
    clear(args, named.iter().flatten()).map_err(Stop::invalid)?;
    let for_one = [
        ("`--json`", args.json),
        ("`--output`", args.output.is_some()),
        ("`--report`", !args.reports.is_empty()),
        ("`--start`", args.start.is_some()),
        ("`--end`", args.end.is_some()),
    ];
    let for_one = for_one.into_iter().find(|(_, is_given)| *is_given);
    if let (2.., Some((one, _))) = (args.files.len(), for_one) {
        let diagnostic = Diagnostic::error(codes::ARGUMENT, format!("{one} is for a single file"))
            .with_help(
                "for reports on several scenarios, use `cuecard test FILES --report KIND:FILE`",
            );
        return Err(Stop::invalid(diagnostic));
    }
    // Nothing is played before all files are found and can be read.
    let files: Vec<PathBuf> = named
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(Stop::invalid)?;
    let is_one_of_several = |file: &&PathBuf| files.len() > 1 && file.as_os_str() != "-";
    let found: Vec<_> = files
        .iter()
        .filter(is_one_of_several)
        .flat_map(|file| errors_of(file))
        .collect();
    match found.is_empty() {
        true => Ok(files),
        false => Err(Stop(found, ExitCode::Invalid)),
    }
}

/// Why a file can't be played, whatever the arguments are.
fn errors_of(file: &Path) -> Vec<Diagnostic> {
    match inputs::read_source(file) {
        Ok(source) => cuecard_runner::errors_of(&source),
        Err(found) => vec![found],
    }
}

/// `3 files · 1 passed · 1 failed (b.json) · 1 not played`.
fn total(files: &[PathBuf], exits: &[ExitCode], word: &str, style: Style) -> String {
    let failed: Vec<String> = files
        .iter()
        .zip(exits)
        .filter(|(_, exit)| !matches!(exit, ExitCode::Passed | ExitCode::Interrupted))
        .map(|(file, _)| file.display().to_string())
        .collect();
    let interrupted = exits
        .iter()
        .filter(|exit| **exit == ExitCode::Interrupted)
        .count();
    let passed = exits.len() - failed.len() - interrupted;
    let mut facts = vec![
        format!("{} files", files.len()),
        style.good(&format!("{passed} {word}")),
    ];
    if !failed.is_empty() {
        let names = failed.join(", ");
        facts.push(style.bad(&format!("{} failed ({names})", failed.len())));
    }
    if interrupted > 0 {
        facts.push(style.bad(&format!("{interrupted} interrupted")));
    }
    if files.len() > exits.len() {
        facts.push(format!("{} not played", files.len() - exits.len()));
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

/// The files that the results of this run go to.
fn results(args: &PlayArgs) -> Vec<PathBuf> {
    let of_report = |report: &'_ String| report.split_once(':').map(|(_, file)| file.into());
    let reports = args.reports.iter().filter_map(of_report);
    reports.chain(args.output.clone()).collect()
}

/// Makes sure that no input is overwritten, and removes what an earlier run left.
fn clear<'p>(
    args: &'p PlayArgs,
    scenarios: impl Iterator<Item = &'p PathBuf>,
) -> Result<(), Diagnostic> {
    let results = results(args);
    let inputs = scenarios
        .chain(&args.config)
        .chain(&args.variables.env_file);
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
