//! What the journal of a run costs, for `benches/calls.py`: `journal STEPS TIMES SERVER ARGS…` plays so many echo steps on
//! the server, in turns with and without a journal, and prints the seconds of each run as JSON.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_replay::play;
use cuecard_replay::prepare::header;
use cuecard_runner::prepare::{CallsContext, CallsRequest, begin_journal, prepare_calls};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::policy::{Policy, PolicyOptions};
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::{Listener, Recorder};
use cuecard_source::SourceFile;
use cuecard_tool_call::script::Verdict;
use cuecard_trace::{Event, EventData};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Counts the steps that are reported.
struct Reported(Rc<Cell<usize>>);

impl Listener for Reported {
    fn event(&mut self, event: &Event) {
        if matches!(event.data, EventData::StepFinished(_)) {
            self.0.set(self.0.get() + 1);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = || args.next().and_then(|text| text.parse::<usize>().ok());
    let (steps, times) = number().zip(number()).expect("two numbers");
    let server: Vec<String> = args.collect();
    let folder = tempfile::tempdir().expect("a folder");
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..times {
        without.push(seconds(steps, &server, folder.path(), false).await);
        with.push(seconds(steps, &server, folder.path(), true).await);
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{}", json!({"with": with, "without": without}));
    }
}

/// How long a run takes, with the start of its server.
async fn seconds(steps: usize, server: &[String], folder: &Path, has_journal: bool) -> f64 {
    let all: Vec<Value> = (1..=steps)
        .map(|step| {
            let params = json!({"message": format!("line {step}")});
            json!({"step": step, "tool": "mcp__peer__echo", "params": params})
        })
        .collect();
    let scenario = json!({"version": "2.1", "metadata": {"name": "echo"}, "steps": all});
    let source = SourceFile::new("echo.json", scenario.to_string());
    let config = folder.join("config.json");
    let servers = json!({"mcpServers": {"peer": {"command": server[0], "args": server[1..]}}});
    std::fs::write(&config, servers.to_string()).expect("writable");
    let environment = std::env::vars_os().collect::<Vec<_>>();
    let texts = std::env::vars().collect();
    let asked = CallsRequest {
        given: &mut |_| (Vec::new(), Vec::new()),
        secrets: &[],
        range: 0..=u64::MAX,
        strict: false,
        found: Vec::new(),
        has_config: true,
        config: &|| {
            Config::find(&ConfigSearch {
                explicit: Some(&config),
                working_directory: folder,
                environment: &texts,
            })
        },
        resumed: None,
    };
    let calls = prepare_calls(&source, asked).expect("a scenario");
    let clock = Clock::start();
    let dir = RunDir::create(&folder.join("runs"), clock.timestamp(Duration::ZERO));
    let dir = Arc::new(dir.expect("a run directory"));
    let mut recorder = Recorder::new(clock, calls.redactor.clone());
    let trace = dir.trace_file().expect("a trace");
    recorder
        .write_to(Box::new(trace), &header(&calls.scenario, dir.id()))
        .expect("written");
    let reported = Rc::default();
    recorder.tell(Box::new(Reported(Rc::clone(&reported))));
    if has_journal {
        let journal = begin_journal(
            &dir,
            &calls.scenario,
            &calls.range,
            &calls.bindings,
            &calls.redactor,
        );
        recorder.keep_journal(journal.expect("a journal"));
    }
    let policy = PolicyOptions {
        root: folder.to_owned(),
        working_directory: folder.to_owned(),
        ..PolicyOptions::default()
    };
    let (scenario, mut toolbox) = calls.into_play(CallsContext {
        environment: &environment,
        working_directory: folder.to_owned(),
        policy: Policy::new(policy).expect("a policy"),
        timeout: None,
        run_dir: Some(dir),
        speed: 1.0,
        screenshots: None,
        restored: Vec::new(),
    });
    let began = clock.now();
    let stop = CancellationToken::new();
    let played = play(scenario, &mut toolbox, &mut recorder, &stop).await;
    let took = clock.now() - began;
    toolbox.shut_down().await;
    assert_eq!(played.verdict, Verdict::Passed, "{:?}", played.failure);
    assert_eq!(reported.get(), steps);
    took.as_secs_f64()
}
