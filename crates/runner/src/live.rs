//! Commands of test cases: one is told the scenario and gives a replay bundle, others are told the trace and give their
//! verdict.

use std::cell::LazyCell;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use cuecard_judge::model::{AssertionCheck, TestCase, TestContext};
use cuecard_judge::{CommandVerdict, CommandVerdicts, redacted};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::{Json, Redactor, Text, cut};
use cuecard_source::{SourceFile, Span};
use cuecard_timeline::profiles::shell;
use cuecard_trace::Trace;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use super::{Setup, Stop, played};
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use cuecard_runtime::text_file::{self, MAX_FILE, io_reason};

/// The variable that names the file for the bundle.
const BUNDLE: &str = "CUECARD_BUNDLE";

/// How much of the end of a command's error output is shown, in bytes.
const LAST_WORDS: usize = 2000;

/// How long output is still read once the command has exited: what it wrote is in the pipe by then, and whoever
/// else keeps it open is not waited for.
const DRAIN: Duration = Duration::from_secs(1);

/// A value of the environment this long is taken for a secret.
const SHORTEST_SECRET: usize = 8;

/// Runs `command` in `folder` and gives the bundle that it wrote into the file `$CUECARD_BUNDLE`, else onto its
/// standard output.
pub(super) fn run(
    command: &[String],
    span: Span,
    case: &TestCase,
    folder: &Path,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<SourceFile, Stop> {
    let failed =
        |message: String| Diagnostic::error(codes::TEST_RUN, message).at(&case.source, span);
    let scratch = tempfile::tempdir().map_err(|error| {
        Stop::could_not_run(failed(format!(
            "failed to create a place for its bundle: {}",
            io_reason(&error)
        )))
    })?;
    let bundle = scratch.path().join("bundle.json");
    let told = CommandInput {
        stdin: scenario(&case.context).to_string(),
        env: vec![(BUNDLE.into(), bundle.clone().into())],
    };
    let stdout = output(command, told, span, case, folder, setup, stop)?;
    let (bytes, name) = match std::fs::metadata(&bundle) {
        Ok(metadata) if metadata.len() > 0 => {
            let name = format!("${BUNDLE} of `{}`", case.id);
            let source = text_file::read(&bundle, &name)
                .map_err(|error| Stop::could_not_run(error.at(&case.source, span)))?;
            (source.text().as_bytes().to_vec(), name)
        }
        _ => (stdout, format!("<stdout of `{}`>", case.id)),
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let program = command.first().map_or("", String::as_str);
        let error = failed(format!("`{program}` succeeded but produced no bundle")).with_help(
            format!("it must write a replay bundle to the file named by ${BUNDLE}, or to stdout"),
        );
        return Err(Stop::could_not_run(error));
    }
    let source = text_file::decode(bytes, &name, &name)
        .map_err(|error| Stop::could_not_run(error.at(&case.source, span)))?;
    let redactor = redactor(setup);
    Ok(match redactor.finds(source.text()) {
        true => SourceFile::new(name, redactor.text(source.text())),
        false => source,
    })
}

/// Runs the commands of the assertions, each once, with the trace as JSON on their standard input. A command that gives
/// no verdict says nothing of the trace: the case can't be judged.
pub(super) fn verdicts(
    case: &TestCase,
    trace: &Trace,
    folder: &Path,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<CommandVerdicts, Stop> {
    let mut verdicts = CommandVerdicts::new();
    let document = LazyCell::new(|| {
        let mut document = Vec::new();
        // Writing into memory can't fail.
        let _ = redacted(case, trace).write_document(&mut document);
        String::from_utf8_lossy(&document).into_owned()
    });
    let redactor = redactor(setup);
    for assertion in case.each_assertion() {
        let AssertionCheck::Command(check) = &assertion.check else {
            continue;
        };
        if verdicts.contains_key(&*check.command) {
            continue;
        }
        let told = CommandInput {
            stdin: document.clone(),
            env: Vec::new(),
        };
        let span = assertion.span;
        let printed = output(&check.command, told, span, case, folder, setup, stop)?;
        let printed = redactor
            .text(&String::from_utf8_lossy(&printed))
            .into_owned();
        let verdict = CommandVerdict::read(&printed).map_err(|reason| {
            let program = check.command.first().map_or("", String::as_str);
            let message = format!("`{program}` printed no verdict: {reason}");
            Stop::could_not_run(
                Diagnostic::error(codes::TEST_RUN, message)
                    .at(&case.source, span)
                    .with_note(format!("it printed: {}", cut(printed.trim(), LAST_WORDS)))
                    .with_help("it must print JSON: {\"status\": \"pass\" or \"fail\", \"message\": \"why\"}"),
            )
        })?;
        verdicts.insert(check.command.to_vec(), verdict);
    }
    Ok(verdicts)
}

/// What a command is told.
struct CommandInput {
    stdin: String,
    /// Variables beside those that all live commands get.
    env: Vec<(OsString, OsString)>,
}

fn redactor(setup: &Setup) -> Redactor {
    Redactor::new(
        setup
            .live_environment
            .iter()
            .map(|(_, value)| value.to_string_lossy().into_owned())
            .filter(|value| value.len() >= SHORTEST_SECRET),
    )
}

/// Runs `command` in `folder`, and gives what it wrote onto its standard output.
fn output(
    command: &[String],
    told: CommandInput,
    span: Span,
    case: &TestCase,
    folder: &Path,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<Vec<u8>, Stop> {
    let failed =
        |message: String| Diagnostic::error(codes::TEST_RUN, message).at(&case.source, span);
    let line = shell::join(command.iter().map(String::as_str));
    setup
        .policy
        .command(&Text::from(line.as_str()))
        .map_err(|refusal| {
            Stop::could_not_run(
                Diagnostic::error(codes::SAFETY_COMMAND, refusal.message)
                    .at(&case.source, span)
                    .with_help(refusal.help),
            )
        })?;
    let (program, args) = command
        .split_first()
        .ok_or_else(|| Stop::invalid(failed("the command is empty".to_owned())))?;
    let mut env = setup.live_environment.clone();
    env.extend(told.env);
    let spec = ProcessSpec {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        env,
        cwd: Some(folder.to_owned()),
    };
    let ended = played::block_on(async {
        let mut group = match ProcessGroup::spawn(&spec, &setup.environment) {
            Ok(group) => group,
            Err(error) => return Ended::NotStarted(io_reason(&error)),
        };
        let ended = tokio::select! {
            biased;
            ended = attend(&mut group, told.stdin) => ended,
            () = stop.cancelled() => Ended::Interrupted,
            () = tokio::time::sleep(setup.timeout) => Ended::TooLate,
        };
        // What it left running goes too.
        group.kill().await;
        ended
    })?;
    let (status, stdout, stderr) = match ended {
        Ended::Exited(status, stdout, stderr) => (status, stdout, stderr),
        Ended::Interrupted => return Err(Stop::interrupted()),
        Ended::NotStarted(reason) => {
            let error = failed(format!("failed to start `{program}`: {reason}")).with_help(
                "programs are looked up in PATH; a path with `/` is relative to the test's folder",
            );
            return Err(Stop::could_not_run(error));
        }
        Ended::TooLate => {
            return Err(Stop::could_not_run(played::too_late(case, span, setup)));
        }
        Ended::TooMuch => {
            let message = format!(
                "the output of `{program}` is larger than {} MiB",
                MAX_FILE >> 20
            );
            return Err(Stop::could_not_run(failed(message)));
        }
    };
    if status.success() {
        return Ok(stdout);
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    };
    let mut error = failed(format!("`{program}` exited with {how}"));
    let stderr = String::from_utf8_lossy(&stderr);
    let words = redactor(setup).text(&stderr).into_owned();
    if !words.trim().is_empty() {
        error = error.with_note(format!("its last output: {}", words.trim()));
    }
    Err(Stop::could_not_run(error.with_help(
        "it must exit with code 0, whatever it found or the agent did",
    )))
}

enum Ended {
    Exited(ExitStatus, Vec<u8>, Vec<u8>),
    NotStarted(String),
    TooMuch,
    TooLate,
    Interrupted,
}

/// Gives the command its input, takes its output, and waits for its end.
async fn attend(group: &mut ProcessGroup, input: String) -> Ended {
    let (stdin, out, err) = (group.stdin.take(), group.stdout.take(), group.stderr.take());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = {
        let pumps = async {
            let feed = async {
                if let Some(mut stdin) = stdin {
                    // A command that doesn't want to know closes it.
                    let _ = stdin.write_all(input.as_bytes()).await;
                }
            };
            let ((), fits, ()) = tokio::join!(feed, all(out, &mut stdout), last(err, &mut stderr));
            fits
        };
        tokio::pin!(pumps);
        let mut is_open = true;
        let status = loop {
            tokio::select! {
                status = group.wait() => break status,
                fits = &mut pumps, if is_open => {
                    is_open = false;
                    if !fits {
                        return Ended::TooMuch;
                    }
                }
            }
        };
        if is_open && tokio::time::timeout(DRAIN, pumps).await == Ok(false) {
            return Ended::TooMuch;
        }
        status
    };
    match status {
        Ok(status) => Ended::Exited(status, stdout, stderr),
        Err(error) => Ended::NotStarted(io_reason(&error)),
    }
}

/// Reads everything; whether it is no more than a file may hold.
async fn all(input: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> bool {
    let Some(input) = input else { return true };
    // What was read before an error is all there is.
    let _ = input.take(MAX_FILE + 1).read_to_end(into).await;
    into.len() as u64 <= MAX_FILE
}

/// Reads everything and keeps the end of it.
async fn last(input: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut input) = input else { return };
    let mut chunk = vec![0; 16 << 10];
    while let Ok(read) = input.read(&mut chunk).await {
        if read == 0 {
            return;
        }
        kept.extend_from_slice(&chunk[..read]);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}

/// The test's `scenario` as it is written.
fn scenario(context: &TestContext) -> Json {
    let mut scenario = json!({
        "group_id": context.group_id,
        "session_id": context.session_id,
        "task_id": context.task_id,
        "trigger": context.trigger().as_str(),
        "scheduler_context": *context.scheduler_context,
        "input_messages": *context.input_messages,
    });
    if !context.prior_messages.is_empty() {
        scenario["prior_messages"] = context.prior_messages.to_vec().into();
    }
    for (name, value) in [
        ("memory_snapshot", &context.memory_snapshot),
        ("mounts", &context.mounts),
    ] {
        if !value.is_null() {
            scenario[name] = Json::clone(value);
        }
    }
    scenario
}
