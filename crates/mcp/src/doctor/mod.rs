//! What `cuecard doctor` finds out: does each server start, and has the machine what servers need?

mod machine;
mod versions;

use std::ffi::OsString;
use std::time::Duration;

pub use machine::{Finding, Machine, Status, examine};

use futures::StreamExt as _;

use crate::{ServerSpec, Session, SessionInfo};
use cuecard_runtime::clock::Stopwatch;
use cuecard_source::diagnostic::Diagnostic;

/// What became of trying a server.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It answered.
    Up {
        /// What it says about itself.
        info: SessionInfo,
        /// How many tools it lists; none if it has no such list.
        tools: Option<usize>,
        /// How long start and list took.
        took: Duration,
        /// Mistakes in what it sent, which was read all the same.
        warnings: Vec<Diagnostic>,
    },
    /// It did not start, or answers no questions.
    Failed {
        /// Why, after the server's name: `was not started: …`.
        reason: String,
        /// Facts that help to understand, such as its last words.
        notes: Vec<String>,
        /// What to do.
        help: Option<String>,
    },
}

/// So many servers are tried at the same time: each may be a program that wants a processor of its own.
const AT_ONCE: usize = 32;

/// Starts or reaches each server, asks for its tools, calls none, and ends it again, all at the same time.
/// `environment` is what a child may inherit from; `done` is told the name of each server when it is through. The
/// outcomes are in the order of `specs`.
pub async fn try_servers(
    specs: &[ServerSpec],
    environment: &[(OsString, OsString)],
    mut done: impl FnMut(&str),
) -> Vec<Outcome> {
    let mut trying = futures::stream::iter(specs.iter().enumerate())
        .map(|(idx, spec)| async move { (idx, try_server(spec, environment).await) })
        .buffer_unordered(AT_ONCE);
    let mut outcomes: Vec<(usize, Outcome)> = Vec::with_capacity(specs.len());
    while let Some((idx, outcome)) = trying.next().await {
        done(&specs[idx].name);
        outcomes.push((idx, outcome));
    }
    outcomes.sort_by_key(|(idx, _)| *idx);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

async fn try_server(spec: &ServerSpec, environment: &[(OsString, OsString)]) -> Outcome {
    let began = Stopwatch::start();
    let session = match Session::start(spec, environment).await {
        Ok(session) => session,
        Err(error) => {
            let how = match spec.transport.is_address() {
                true => "address",
                false => "started as",
            };
            let mut notes = vec![format!("{how}: {}", spec.started_as())];
            notes.extend(words(error.last_words()));
            return Outcome::Failed {
                reason: without_name(&error.to_string(), spec),
                notes,
                help: error.advice(),
            };
        }
    };
    let tools = session.tools().await;
    let took = began.elapsed();
    let outcome = match tools {
        Ok(tools) => Outcome::Up {
            info: session.info().clone(),
            tools: tools.map(|tools| tools.len()),
            took,
            warnings: session.take_warnings(),
        },
        Err(error) => Outcome::Failed {
            reason: without_name(&error.to_string(), spec),
            notes: words(error.last_words()).into_iter().collect(),
            help: error.help(),
        },
    };
    session.stop().await;
    outcome
}

/// An error without the name of its server, which stands beside it.
fn without_name(error: &str, spec: &ServerSpec) -> String {
    let prefix = format!("server `{}` ", spec.name);
    error.strip_prefix(&prefix).unwrap_or(error).to_owned()
}

/// How many of a server's last lines are told: the last say most.
const LAST_WORDS: usize = 3;

fn words(lines: &[String]) -> Option<String> {
    let last = &lines[lines.len().saturating_sub(LAST_WORDS)..];
    (!last.is_empty()).then(|| format!("its last output: {}", last.join("\n")))
}
