//! A recording in front of our own stand-in, and in front of upstreams that misbehave.

mod adversary;
mod client;
mod faults;
mod round_trip;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cuecard_source::diagnostic::Diagnostic;

use super::super::exchange_recorder::Notice;
use super::super::{MockLlm, TraceOutput};
use super::{RecordLlm, RecordOptions, Recording, RunningRecorder, Upstream};

/// A recording with the folder of its files, and what it told.
struct Recorded {
    folder: tempfile::TempDir,
    running: RunningRecorder,
    told: Arc<Mutex<Told>>,
    trace: Buffer,
}

/// What a recording told.
#[derive(Debug, Default)]
struct Told {
    outcomes: Vec<&'static str>,
    findings: Vec<Diagnostic>,
    exchanges: Vec<serde_json::Value>,
}

/// A file in memory.
#[derive(Debug, Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .expect("not poisoned")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("text")
    }

    fn output(&self) -> TraceOutput {
        TraceOutput {
            out: Box::new(self.clone()),
            run_id: "run".to_owned(),
        }
    }
}

impl Recorded {
    async fn of(upstream: &str) -> Self {
        Self::with(upstream, |_| {}).await
    }

    async fn with(upstream: &str, change: impl FnOnce(&mut RecordOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let upstream = Upstream::parse(upstream).expect("a URL");
        let mut options = RecordOptions::new(upstream, folder.path().join("r.yaml"));
        change(&mut options);
        let told: Arc<Mutex<Told>> = Arc::default();
        let seen = told.clone();
        let trace = Buffer::default();
        let running = RecordLlm::new(options)
            .trace(trace.output())
            .watch(Box::new(move |notice| {
                let mut told = seen.lock().expect("not poisoned");
                match notice {
                    Notice::Exchange(exchange) => {
                        told.outcomes.push(exchange.outcome);
                        let json = serde_json::to_value(&**exchange).expect("JSON");
                        told.exchanges.push(json);
                    }
                    Notice::Finding(found) => told.findings.push((**found).clone()),
                }
            }))
            .start()
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        Self {
            folder,
            running,
            told,
            trace,
        }
    }

    fn url(&self) -> String {
        self.running.base_url()
    }

    /// Ends it: what was recorded, what was told, and the folder with the scenarios.
    async fn end(self) -> Ended {
        let recording = self.running.stop().await;
        let told = std::mem::take(&mut *self.told.lock().expect("not poisoned"));
        Ended {
            recording,
            told,
            trace: self.trace.text(),
            folder: self.folder,
        }
    }
}

struct Ended {
    recording: Recording,
    told: Told,
    trace: String,
    folder: tempfile::TempDir,
}

impl Ended {
    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap_or_default()
    }

    fn notes(&self) -> Vec<&str> {
        self.told
            .findings
            .iter()
            .map(|found| found.message.as_str())
            .collect()
    }
}

/// A stand-in that plays this text, or the files of a recording, without waiting.
async fn play(folder: &std::path::Path, trace: &Buffer) -> super::super::RunningLlm {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    MockLlm::from_files(paths)
        .with(|options| options.fixed_time = Some(1_750_000_000))
        .trace(trace.output())
        .start()
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}
