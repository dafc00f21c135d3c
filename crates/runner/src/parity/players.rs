//! The stand-ins that tell of a whole session: what their clients see.

use std::ffi::OsString;
use std::sync::mpsc;
use std::time::Duration;

use cuecard_acp::{AcpOptions, AcpPlayer, AgentCommand, Workspace};
use cuecard_runtime::load::PlayOptions;
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use cuecard_runtime::text_file::io_reason;
use cuecard_runtime::trace_writer::TraceOutput;
use cuecard_service::{MockService, ServiceOptions};
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::Json;
use cuecard_timeline::model::keys::{KeyModes, read_keys};
use cuecard_timeline::model::{EventKind, Timeline, UserTarget};
use cuecard_timeline::script::Speed;
use cuecard_trace::{Event, EventData};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use super::{Seen, View, view_of};
use crate::timeline::{RunOptions, RunScript, TraceLines, start_session};

/// How long a session may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// So much of what a program prints is kept, in bytes.
const MAX_OUTPUT: u64 = 16 << 20;

/// How a timeline is played to be compared: at once.
pub(super) fn play_options(options: &RunOptions) -> PlayOptions {
    PlayOptions {
        speed: Speed::new(0.0, 0.0).unwrap_or_default(),
        scenario_name: None,
        tags: Vec::new(),
        ..options.play.clone()
    }
}

/// The first error among findings.
pub(super) fn first_error(findings: &[Diagnostic]) -> Option<String> {
    let mut errors = findings
        .iter()
        .filter(|found| found.severity == Severity::Error);
    errors.next().map(|found| match found.notes.first() {
        Some(note) => format!("{}: {} ({note})", found.code.name(), found.message),
        None => format!("{}: {}", found.code.name(), found.message),
    })
}

/// What the client of an agent behind ACP sees.
pub(super) async fn acp(
    script: &RunScript,
    options: &RunOptions,
    stop: &CancellationToken,
) -> Result<View, String> {
    let (sender, events) = mpsc::channel();
    let trace = TraceOutput {
        out: Box::new(TraceLines::to(sender)),
        run_id: "parity".to_owned(),
    };
    let settings = AcpOptions {
        play: play_options(options),
        // Commands and files are simulated, too.
        offers_tools: false,
        ..AcpOptions::default()
    };
    let client = AcpPlayer::from_files([script.file()])
        .options(settings)
        .trace(trace)
        .client()
        .await
        .map_err(|error| error.to_string())?;
    let mut command = vec![options.own_program.clone().into(), "acp".into()];
    let file = std::path::absolute(script.file()).map_err(|error| io_reason(&error))?;
    let run_dir = tempfile::tempdir().map_err(|error| io_reason(&error))?;
    for word in [
        file.as_os_str(),
        "--speed".as_ref(),
        "0".as_ref(),
        "--run-dir".as_ref(),
        run_dir.path().as_os_str(),
    ] {
        command.push(word.to_owned());
    }
    for (name, value) in options.play.symbols.iter() {
        command.push(format!("--define={name}={value}").into());
    }
    let agent = AgentCommand {
        command,
        environment: options.environment.clone(),
    };
    let folder = tempfile::tempdir().map_err(|error| io_reason(&error))?;
    let workspace = Workspace {
        folder: Some(folder.path().to_owned()),
        ..Workspace::default()
    };
    let verdict = client.drive(&agent, &workspace, stop).await;
    match first_error(&verdict.findings) {
        Some(error) => Err(error),
        None => Ok(view_of(events.try_iter().map(|event| event.data))),
    }
}

/// What the client of an agent service sees.
pub(super) async fn rest(script: &RunScript, options: &RunOptions) -> Result<View, String> {
    let settings = ServiceOptions {
        play: play_options(options),
        ..ServiceOptions::default()
    };
    let running = MockService::from_files([script.file()])
        .options(settings)
        .start()
        .await
        .map_err(|error| error.to_string())?;
    let events = rest_events(&running.base_url(), script.timeline()).await;
    let verdict = running.stop().await;
    if let Some(error) = first_error(&verdict.findings) {
        return Err(error);
    }
    // Edits have no ids there: they come in the order of the timeline.
    let edits = script
        .timeline()
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::AgentEdits(edit) => Some(edit),
            _ => None,
        });
    let mut edits = edits.collect::<Vec<_>>().into_iter();
    let mut view = View::default();
    for event in events?.iter().filter_map(cuecard_service::traced) {
        if let EventData::FileEdit(edit) = &event {
            let id = edits.next().map(|edit| edit.call_id.clone());
            view.seen.push(Seen::Edit {
                id: id.unwrap_or_default(),
                path: edit.path.clone(),
            });
            continue;
        }
        let one = view_of([event]);
        view.seen.extend(one.seen);
        view.results.extend(one.results);
    }
    Ok(view)
}

async fn rest_events(url: &str, timeline: &Timeline) -> Result<Vec<Json>, String> {
    let said = |error: reqwest::Error| format!("the service can't be reached: {error}");
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(TIMEOUT)
        .build()
        .map_err(said)?;
    let session = start_session(&client, url, timeline).await?;
    // The stream ends after the final status.
    let request = client
        .get(format!("{session}/events"))
        .header("accept", "text/event-stream");
    let stream = request
        .send()
        .await
        .map_err(said)?
        .text()
        .await
        .map_err(said)?;
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    Ok(data
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect())
}

/// What the user of an agent in a terminal sees, as the agent tells it.
pub(super) async fn agent(script: &RunScript, options: &RunOptions) -> Result<View, String> {
    let folder = tempfile::tempdir().map_err(|error| io_reason(&error))?;
    let file = std::path::absolute(script.file()).map_err(|error| io_reason(&error))?;
    let mut args: Vec<OsString> = vec!["agent".into(), file.into()];
    for word in ["--simulate", "--speed", "0", "--run-dir", "runs"] {
        args.push(word.into());
    }
    for (name, value) in options.play.symbols.iter() {
        args.push(format!("--define={name}={value}").into());
    }
    let spec = ProcessSpec {
        program: options.own_program.clone().into(),
        args,
        env: Vec::new(),
        cwd: Some(folder.path().to_owned()),
    };
    let mut group =
        ProcessGroup::spawn(&spec, &options.environment).map_err(|error| io_reason(&error))?;
    let typed = typed(script.timeline());
    let (stdin, stdout, stderr) = (group.stdin.take(), group.stdout.take(), group.stderr.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // Who has ended reads no more.
            let _ = stdin.write_all(&typed).await;
        }
    };
    let session = async {
        let ((), _, said) = tokio::join!(writing, whole(stdout), whole(stderr));
        (group.wait().await, said)
    };
    let (status, said) = tokio::time::timeout(TIMEOUT, session)
        .await
        .map_err(|_| format!("the agent took longer than {} s", TIMEOUT.as_secs()))?;
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!("the agent failed: {}", said.trim()));
    }
    let mut runs =
        std::fs::read_dir(folder.path().join("runs")).map_err(|error| io_reason(&error))?;
    let run = runs.find_map(|entry| {
        entry
            .ok()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
    });
    let trace = run.map(|run| std::fs::read_to_string(run.join("trace.jsonl")));
    let trace = trace
        .and_then(Result::ok)
        .ok_or("the agent left no trace")?;
    let events = trace.lines().filter_map(|line| {
        let json: Json = serde_json::from_str(line).ok()?;
        Event::from_json(&json).ok()
    });
    Ok(view_of(events.map(|event| event.data)))
}

/// What a user types in a session of this timeline.
fn typed(timeline: &Timeline) -> Vec<u8> {
    let mut typed = Vec::new();
    for input in timeline.inputs() {
        let text = input.prompt_text().unwrap_or_default();
        match input.target {
            None => {
                typed.extend_from_slice(text.replace(['\r', '\n'], " ").as_bytes());
                typed.push(b'\n');
            }
            Some(UserTarget::WebUi) => {}
            Some(UserTarget::Tui | UserTarget::Cli) => {
                let keys = read_keys(&text).unwrap_or_default();
                typed.extend(keys.iter().flat_map(|key| key.bytes(KeyModes::default())));
            }
        }
    }
    typed
}

async fn whole(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What was read before an error is what there is.
        let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut bytes).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use cuecard_source::SourceFile;
    use cuecard_timeline::format::{Symbols, read};

    use super::*;

    #[test]
    fn a_prompt_is_one_line_whatever_its_line_ends() {
        let text = r#"{name: a, timeline: [{userInputs: [[0, "one\r\ntwo\nthree"]]}]}"#;
        let source = SourceFile::new("a.yaml", text);
        let read = read(&source, &Symbols::new());
        let timeline = read.timeline.expect("a timeline");
        assert_eq!(typed(&timeline), b"one  two three\n");
    }
}
