//! `cuecard parse`.

mod kept;
mod model;
mod prepared;
mod telling;

use std::path::Path;
use std::time::Duration;

use cuecard_browser::model::{HttpModelClient, ModelInterpreter};
use cuecard_browser::parse::{ParseRequest, Parsed, parse};
use cuecard_browser::stage::LiveStage;
use cuecard_browser_steps::model::{ErrorInfo, ParseStatus, StepsFile};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use self::kept::Kept;
use self::model::{Sources, sources};
use self::prepared::{Prepared, prepared};
use self::telling::Terminal;
use super::browser_stage::{self, Wanted};
use crate::args::ParseArgs;
use crate::asynchronous::asynchronously;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::{stderr, stdout};
use crate::output_files;

/// How long a picture of what failed may take.
const LAST_LOOK: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ParseArgs, context: &Context) -> Result<ExitCode, Stop> {
    let prepared = prepared(args, &context.environment)?;
    let redactor = prepared.request_values.redactor().clone();
    context.output.redacted(&prepared.warnings, &redactor);
    let parsed = asynchronously(async |stop| parse_all(args, prepared, context, &stop).await)?;
    parsed.map_err(|stop| stop.redacted(&redactor))
}

async fn parse_all(
    args: &ParseArgs,
    prepared: Prepared,
    context: &Context,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let Sources {
        interpreter,
        cassette,
        warnings,
    } = sources(
        &args.model,
        &prepared.scenario.options,
        environment,
        prepared.hidden(),
    )?;
    let redactor = prepared.hidden();
    output.redacted(&warnings, &redactor);
    let run_dir = run_dir(args, &prepared).map_err(Stop::could_not_run)?;
    let shown_run_dir = args.runs.run_dir.join(run_dir.id());
    let scenario = &prepared.scenario;
    let terminal = Terminal::new(args, output, scenario, Kept::new(run_dir.path()));
    let mut run = Run {
        request: ParseRequest {
            scenario,
            options: prepared.options,
            values: prepared.request_values.clone(),
            secrets: prepared.secrets,
            full_dom: args.full_dom,
            timings: args.timings,
            is_verbose: args.verbose > 0,
        },
        interpreter,
        terminal,
        stop,
    };
    let wanted = Wanted {
        flags: &args.browser,
        options: &scenario.options,
        values: prepared.request_values,
        policy: prepared.policy,
        root: prepared.root,
        run_dir: run_dir.path().to_owned(),
    };
    let starting = browser_stage::start(
        wanted,
        prepared.storage,
        environment,
        &prepared.working_directory,
    );
    let mut stage = tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(ExitCode::Interrupted),
        started = starting => started.map_err(Stop::could_not_run)?,
    };
    // With what the storage state holds.
    run.request.values = stage.values().clone();
    let parsed = run.on(&mut stage).await;
    if let Some(parsed) = &parsed
        && has_failed(&parsed.file)
    {
        keep_failure(&mut stage, &run_dir).await;
    }
    stage.stop().await;
    browser_stage::tell_recorded(&args.browser, run_dir.path(), &shown_run_dir, output);
    let terminal = run.terminal;
    let Some(Parsed { file, .. }) = parsed else {
        terminal.interrupted(&shown_run_dir);
        let _ = run_dir.describe(&description(&run_dir, &scenario.url, Some("interrupted")));
        return Ok(ExitCode::Interrupted);
    };
    let recorded = match &cassette {
        Some(cassette) => cassette.finish(!has_failed(&file)),
        None => Ok(()),
    };
    // The run is over; a description that can't be written is not worth its result.
    let status = Some(file.status.as_str());
    let _ = run_dir.describe(&description(&run_dir, &file.url, status));
    terminal.end(&file, args.output.as_deref(), &shown_run_dir);
    let text = file.to_text();
    if let Some(path) = &args.output {
        write(path, &text).map_err(Stop::could_not_run)?;
    }
    if args.output.is_none() || args.json {
        stdout(&text);
    }
    if args.json {
        for error in file.errors.iter().filter(|error| !error.is_warning()) {
            stderr(&format!("{}\n", line_of(error, scenario)));
        }
    }
    recorded.map_err(Stop::could_not_run)?;
    Ok(exit_code(&file))
}

/// A parse that is ready for its stage.
struct Run<'a> {
    request: ParseRequest<'a>,
    interpreter: Option<ModelInterpreter<HttpModelClient>>,
    terminal: Terminal,
    stop: &'a CancellationToken,
}

impl Run<'_> {
    /// Parses in a browser; none if it was interrupted.
    async fn on(&mut self, stage: &mut LiveStage) -> Option<Parsed> {
        let interpreter = self.interpreter.as_mut();
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            parsed = parse(&self.request, stage, interpreter, &mut self.terminal) => Some(parsed),
        }
    }
}

/// An error as a line for machines.
fn line_of(error: &ErrorInfo, scenario: &cuecard_browser_steps::model::BrowserScenario) -> Json {
    let ordinal = scenario
        .actions
        .iter()
        .enumerate()
        .position(|(ordinal, action)| {
            let id = cuecard_browser_steps::model::step_id(&scenario.url, ordinal, &action.text);
            error.step_id.as_ref() == Some(&id)
        });
    let span = match ordinal {
        Some(ordinal) => scenario.actions[ordinal].span,
        None => scenario.url_span,
    };
    let place = scenario.source.position(span.start);
    json!({
        "severity": "error",
        "code": error.code,
        "message": error.message,
        "file": scenario.source.name(),
        "line": place.line,
        "column": place.column,
        "pointer": ordinal.map_or_else(|| "/url".to_owned(), |ordinal| format!("/actions/{ordinal}")),
        "help": error.help,
    })
}

fn has_failed(file: &StepsFile) -> bool {
    file.status != ParseStatus::Success
}

fn exit_code(file: &StepsFile) -> ExitCode {
    let unavailable: [Code; 3] = [
        codes::BROWSER_UNAVAILABLE,
        codes::BROWSER_LOST,
        codes::BROWSER_MODEL,
    ];
    let is_unavailable = file.errors.iter().any(|error| {
        !error.is_warning() && unavailable.iter().any(|code| code.name() == error.code)
    });
    match (has_failed(file), is_unavailable) {
        (false, _) => ExitCode::Passed,
        (true, true) => ExitCode::CouldNotRun,
        (true, false) => ExitCode::Failed,
    }
}

fn run_dir(args: &ParseArgs, prepared: &Prepared) -> Result<RunDir, Diagnostic> {
    let run_dir = output_files::run_dir(
        &args.runs.run_dir,
        &prepared.working_directory,
        &Clock::start(),
    )?;
    run_dir
        .describe(&description(&run_dir, &prepared.scenario.url, None))
        .map_err(|error| output_files::unwritable_run(&error))?;
    Ok(run_dir)
}

fn description(run_dir: &RunDir, url: &str, status: Option<&str>) -> Json {
    json!({"id": run_dir.id(), "kind": "parse", "url": url, "status": status})
}

/// What a failure looked like: a picture, the page as text, and the console.
async fn keep_failure(stage: &mut LiveStage, run_dir: &RunDir) {
    // Each of them helps, and none is worth the result, or waiting for a page that hangs.
    if let Ok(Ok(picture)) = tokio::time::timeout(LAST_LOOK, stage.picture()).await {
        let _ = run_dir.save("failure.png", &picture);
    }
    if let Some(text) = stage.page_text() {
        let _ = run_dir.save("page.txt", text.as_bytes());
    }
    let console = stage.console();
    if !console.is_empty() {
        let _ = run_dir.save(
            "console.txt",
            format!("{}\n", console.join("\n")).as_bytes(),
        );
    }
}

/// Writes the steps: a file is replaced as a whole or not at all; a pipe or a device takes them as they come.
fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    use std::io::Write as _;
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return output_files::write_with(path, |file| file.write_all(text.as_bytes()));
    }
    output_files::write_text(path, text)
}
