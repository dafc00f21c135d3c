//! `cuecard play`.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_replay::{self as replay, Played, Screenshots, prepare};
use cuecard_report::Style;
use cuecard_report::diagnostics::list_to_json;
use cuecard_runner::prepare::{CallsContext, CallsRequest, PreparedCalls, prepare_calls};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::policy::{Policy, PolicyOptions};
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::{Redactor, printable_lines};
use cuecard_tool_call::format::Effects;
use cuecard_tool_call::script::Verdict;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::play_output::{self, Report, Reports, Subject};
use super::stop::Stop;
use super::{browser_play, browser_stage, dry_run, list};
use crate::args::{PlayArgs, SafetyArgs};
use crate::asynchronous::asynchronously;
use crate::exit_code::ExitCode;
use crate::inputs::{self, Variables, io_reason};
use crate::output::{Output, stderr_line, stdout};

/// Everything that is known before anything runs.
pub(super) struct Prepared {
    pub calls: PreparedCalls,
    pub timeout: Option<Duration>,
    pub policy: Policy,
    pub working_directory: PathBuf,
    pub reports: Vec<Report>,
}

/// Plays one file after the other.
pub(crate) fn run(
    mut args: PlayArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let files = std::mem::take(&mut args.files);
    let for_one = args.json || args.output.is_some() || !args.reports.is_empty();
    if files.len() > 1 && (for_one || args.start.is_some() || args.end.is_some()) {
        let diagnostic = Diagnostic::error(
            codes::ARGUMENT,
            "`--json`, `--output`, `--report`, `--start` and `--end` are for a single file",
        )
        .with_help("for reports on several scenarios, use `cuecard test FILES --report KIND:FILE`");
        return refused(&args, Stop::invalid(diagnostic), output);
    }
    let is_alone = files.len() == 1;
    let mut exits = Vec::new();
    for file in &files {
        let exit = match list::named(file) {
            Ok(found) => {
                args.file = found;
                run_file(&args, environment, output)
            }
            Err(diagnostic) => refused(&args, Stop::invalid(diagnostic), output),
        };
        exits.push(exit);
        if exit == ExitCode::Interrupted {
            break;
        }
        if !is_alone {
            stderr_line("");
        }
    }
    if !is_alone {
        stdout(&total(files.len(), &exits, output.stdout));
    }
    exits.into_iter().fold(ExitCode::Passed, ExitCode::worst)
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
fn run_file(args: &PlayArgs, environment: &[(OsString, OsString)], output: &Output) -> ExitCode {
    let source = match inputs::read_source(&args.file) {
        Ok(source) => source,
        Err(diagnostic) => return refused(args, Stop::invalid(diagnostic), output),
    };
    if let Err(diagnostic) = clear_results(args) {
        return refused(args, Stop::invalid(diagnostic), output);
    }
    if kind_of(&source) == Some(FileKind::BrowserSteps) {
        return browser_play::run(args, source, environment, output);
    }
    let prepared = match prepared(args, &source, environment, output) {
        Ok(prepared) => prepared,
        Err(stopped) => return refused(args, stopped, output),
    };
    let exit = asynchronously(async |stop| {
        if args.dry_run {
            dry_run::run(args, prepared, environment, output, &stop).await
        } else {
            play(args, prepared, environment, output, &stop).await
        }
    });
    exit.unwrap_or_else(|exit| exit)
}

/// Removes the files that the results of this run go to: what an earlier run left there must not be taken for them.
fn clear_results(args: &PlayArgs) -> Result<(), Diagnostic> {
    let of_report = |report: &'_ String| report.split_once(':').map(|(_, file)| file.into());
    let reports = args.reports.iter().filter_map(of_report);
    let results: Vec<PathBuf> = reports.chain(args.output.clone()).collect();
    let scenario = args.file.canonicalize().ok();
    for file in &results {
        if scenario.is_some() && file.canonicalize().ok() == scenario {
            let file = file.display();
            return Err(Diagnostic::error(
                codes::ARGUMENT,
                format!("the result would overwrite the scenario `{file}`"),
            )
            .with_help("choose another file for the result"));
        }
    }
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
pub(super) fn refused(args: &PlayArgs, Stop(diagnostics, exit): Stop, output: &Output) -> ExitCode {
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

fn prepared(
    args: &PlayArgs,
    source: &SourceFile,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> Result<Prepared, Stop> {
    let mut found = browser_stage::unused(
        &args.browser,
        "a tool-call scenario only uses a browser through its MCP servers",
    );
    let (timeout, warning) = inputs::seconds("--timeout", args.timeout).map_err(Stop::invalid)?;
    found.extend(warning);
    if !args.speed.is_finite() || args.speed < 0.0 {
        found.push(Diagnostic::error(
            codes::ARGUMENT,
            format!("`--speed {}` must be a non-negative number", args.speed),
        ));
    }
    let mut reports = Vec::new();
    for report in &args.reports {
        match play_output::report_file(report) {
            Ok(report) => reports.push(report),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let policy = policy(&args.safety, Some(&args.runs.run_dir), &working_directory);
    found.extend(policy.as_ref().err().cloned());
    let variables = RefCell::new(Variables::default());
    let asked = CallsRequest {
        given: &mut |scenario| {
            let mut given = inputs::variables(&args.variables, scenario, environment);
            let found = std::mem::take(&mut given.diagnostics);
            let values = given.given.clone();
            *variables.borrow_mut() = given;
            (values, found)
        },
        secrets: &args.variables.secrets,
        range: args.start.unwrap_or(0)..=args.end.unwrap_or(u64::MAX),
        strict: args.strict,
        found,
        has_config: args.config.is_some(),
        config: &|| {
            Config::find(&ConfigSearch {
                explicit: args.config.as_deref(),
                working_directory: &working_directory,
                environment: &variables.borrow().environment,
            })
        },
    };
    let calls = prepare_calls(source, asked)?;
    output.diagnostics(&calls.warnings, args.json, &calls.redactor);
    let mut policy = policy.map_err(Stop::invalid)?;
    policy.protect([args.file.clone()]);
    policy.protect(calls.config.own_files());
    Ok(Prepared {
        calls,
        timeout,
        policy,
        working_directory,
        reports,
    })
}

/// What a run may do. `run_dir` may be written whatever else is forbidden.
pub(super) fn policy(
    safety: &SafetyArgs,
    run_dir: Option<&Path>,
    working_directory: &Path,
) -> Result<Policy, Diagnostic> {
    let absolute = |path: &PathBuf| working_directory.join(path);
    Policy::new(PolicyOptions {
        root: safety
            .root
            .as_ref()
            .map_or_else(|| working_directory.to_owned(), absolute),
        working_directory: working_directory.to_owned(),
        allow_paths: safety.allow_paths.iter().map(absolute).collect(),
        allow_hosts: safety.allow_hosts.clone(),
        allow_commands: safety.allow_commands.clone(),
        only_hosts: safety.only_hosts.clone(),
        only_commands: safety.only_commands.clone(),
        confine: safety.confine,
        read_only: safety.read_only,
        run_dir: run_dir.map(|run_dir| working_directory.join(run_dir)),
    })
    .map_err(|refusal| Diagnostic::error(codes::ARGUMENT, refusal.message).with_help(refusal.help))
}

async fn play(
    args: &PlayArgs,
    prepared: Prepared,
    environment: &[(OsString, OsString)],
    output: &Output,
    stop: &CancellationToken,
) -> ExitCode {
    let clock = Clock::start();
    let started = clock.timestamp(Duration::ZERO);
    let calls = prepared.calls;
    let scenario = calls.scenario.clone();
    let run_dir = match run_dir(&args.runs.run_dir, &prepared.working_directory, &clock) {
        Ok(run_dir) => Arc::new(run_dir),
        Err(diagnostic) => {
            output.diagnostic(&diagnostic, args.json, &calls.redactor);
            return ExitCode::CouldNotRun;
        }
    };
    let shown_run_dir = args.runs.run_dir.join(run_dir.id());
    let total = scenario.steps_in(&calls.range).len();
    let subject = Subject::of(args, &scenario, total);
    let include = play_output::included(args);
    let mut reports = match Reports::begin(args, include, subject, &prepared.reports) {
        Ok(reports) => reports,
        Err(diagnostic) => {
            output.diagnostic(&diagnostic, args.json, &calls.redactor);
            return ExitCode::CouldNotRun;
        }
    };
    play_output::header(
        output,
        &scenario,
        &calls.range,
        &calls.config,
        &calls.redactor,
    );
    let redactor = calls.redactor.clone();
    let mut recorder = Recorder::new(clock, redactor.clone());
    let begun = run_dir.trace_file().and_then(|file| {
        recorder.write_to(Box::new(file), &prepare::header(&scenario, run_dir.id()))
    });
    if let Err(error) = begun.and_then(|()| {
        run_dir.describe(&description(
            args,
            &scenario.name,
            run_dir.id(),
            started,
            None,
        ))
    }) {
        let diagnostic = Diagnostic::error(
            codes::FILE_WRITE,
            format!("the run directory can't be written: {}", io_reason(&error)),
        );
        output.diagnostic(&diagnostic, args.json, &redactor);
        return ExitCode::CouldNotRun;
    }
    recorder.tell(Box::new(play_output::Terminal::new(
        args,
        output,
        &play_output::labels(&scenario),
    )));
    recorder.tell(Box::new(reports.listener()));
    let (play, mut toolbox) = calls.into_play(CallsContext {
        environment,
        working_directory: prepared.working_directory,
        policy: prepared.policy,
        timeout: prepared.timeout,
        run_dir: Some(run_dir.clone()),
        speed: args.speed,
        screenshots: (args.screenshot_on_failure || args.screenshot_each_step).then(|| {
            Screenshots {
                folder: args.screenshot_dir.clone(),
                each_step: args.screenshot_each_step,
            }
        }),
    });
    let mut played = replay::play(play, &mut toolbox, &mut recorder, stop).await;
    let nothing_ran = nothing_ran(&played);
    if args.strict
        && let Some(warning) = &nothing_ran
    {
        played.verdict = Verdict::Failed;
        played.failure = Some(warning.clone().strictly());
    }
    recorder.settle();
    toolbox.shut_down().await;
    recorder.end(&prepare::end(&played));
    let trace_error = recorder.take_error();
    let redactor = recorder.redactor().clone();
    drop(recorder);
    // The run is over; a description that can't be written is not worth its verdict.
    let _ = run_dir.describe(&description(
        args,
        &scenario.name,
        run_dir.id(),
        started,
        Some(&played),
    ));
    let mut exit = exit_code(played.verdict);
    if let Some(warning) = nothing_ran.filter(|_| !args.strict) {
        output.diagnostic(&warning, args.json, &redactor);
    }
    if let Some(failure) = &played.failure {
        play_output::failure(output, failure, &shown_run_dir, args.json, &redactor);
    }
    let is_told = played
        .failure
        .as_ref()
        .is_some_and(|failure| failure.code == codes::FILE_WRITE);
    if let Some(error) = trace_error.filter(|_| !is_told) {
        let diagnostic = Diagnostic::error(
            codes::FILE_WRITE,
            format!("the trace can't be written: {}", io_reason(&error)),
        );
        output.diagnostic(&diagnostic, args.json, &redactor);
        exit = exit.worst(ExitCode::CouldNotRun);
    }
    if let Err(diagnostic) = reports.end(output, &played, &shown_run_dir, Vec::new(), &redactor) {
        output.diagnostic(&diagnostic, args.json, &redactor);
        exit = exit.worst(ExitCode::CouldNotRun);
    }
    exit
}

/// The folder, below `parent`, of a run that began with the clock.
pub(super) fn run_dir(
    parent: &Path,
    working_directory: &Path,
    clock: &Clock,
) -> Result<RunDir, Diagnostic> {
    let started = clock.timestamp(Duration::ZERO);
    RunDir::create(&working_directory.join(parent), started).map_err(|error| {
        Diagnostic::error(
            codes::FILE_WRITE,
            format!(
                "failed to create the run directory `{}`: {}",
                parent.display(),
                io_reason(&error)
            ),
        )
        .with_help("choose another directory with `--run-dir DIR`")
    })
}

/// A run passed in which the conditions of all steps were false.
fn nothing_ran(played: &replay::Played) -> Option<Diagnostic> {
    let summary = &played.summary;
    let is_empty = summary.passed + summary.tolerated + summary.failed == 0;
    if played.verdict != Verdict::Passed || !is_empty || summary.skipped == 0 {
        return None;
    }
    let what = match summary.skipped {
        1 => "the condition of its only step is false".to_owned(),
        count => format!("the conditions of all {count} are false"),
    };
    let warning = Diagnostic::warning(codes::RUN_NOTHING, format!("no step ran: {what}"));
    Some(warning.with_help("nothing was tested; `--strict` turns this into a failure"))
}

pub(super) fn exit_code(verdict: Verdict) -> ExitCode {
    match verdict {
        Verdict::Passed => ExitCode::Passed,
        Verdict::Failed => ExitCode::Failed,
        Verdict::Blocked => ExitCode::CouldNotRun,
        Verdict::Interrupted => ExitCode::Interrupted,
    }
}

/// `run.json`: what was played, and how it ended.
pub(super) fn description(
    args: &PlayArgs,
    name: &str,
    id: &str,
    started: impl std::fmt::Display,
    played: Option<&Played>,
) -> serde_json::Value {
    let status = played.map_or("running", |played| played.verdict.as_str());
    json!({
        "id": id,
        "kind": "play",
        "cuecard": env!("CARGO_PKG_VERSION"),
        "file": args.file.display().to_string(),
        "scenario": name,
        "started_at": format!("{started:.3}"),
        "status": status,
        "duration": played.map(|played| played.took.as_micros() as f64 / 1_000_000.0),
    })
}

/// What a scenario would do, for `check` and `--dry-run`.
pub(super) fn effects_line(effects: &Effects) -> String {
    let count = |number: usize, one: &str, many: &str| {
        format!("{number} {}", if number == 1 { one } else { many })
    };
    let servers = match effects.servers.as_slice() {
        [] => "start 0 servers".to_owned(),
        servers => format!(
            "start {} ({})",
            count(servers.len(), "server", "servers"),
            servers.join(", ")
        ),
    };
    let mut facts = vec![
        servers,
        format!(
            "run {}",
            count(effects.commands.len(), "command", "commands")
        ),
        format!("write {}", count(effects.writes.len(), "file", "files")),
    ];
    if !effects.urls.is_empty() {
        facts.push(format!(
            "fetch {}",
            count(effects.urls.len(), "URL", "URLs")
        ));
    }
    format!("it would {}", facts.join(", "))
}

/// The same one by one, a line each: what it reads, runs, writes and fetches.
pub(super) fn effects_list(effects: &Effects) -> String {
    let groups = [
        ("runs", &effects.commands),
        ("reads", &effects.reads),
        ("writes", &effects.writes),
        ("fetches", &effects.urls),
    ];
    let mut list = String::new();
    for (what, items) in groups {
        for item in items {
            let item = printable_lines(item).replace('\n', "\n          ");
            list.push_str(&format!("  {what:<7} {item}\n"));
        }
    }
    list
}

/// The same for machines.
pub(super) fn effects_json(effects: &Effects) -> serde_json::Value {
    json!({
        "servers": effects.servers,
        "commands": effects.commands,
        "reads": effects.reads,
        "writes": effects.writes,
        "urls": effects.urls,
    })
}

/// Opens a file that a result goes to.
pub(super) fn create(path: &Path) -> Result<File, Diagnostic> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        // Should this fail, opening the file says why.
        let _ = std::fs::create_dir_all(folder);
    }
    File::create(path).map_err(|error| {
        Diagnostic::error(
            codes::FILE_WRITE,
            format!(
                "`{}` can't be written: {}",
                path.display(),
                io_reason(&error)
            ),
        )
    })
}
