//! Scenarios against real MCP servers: the reference servers, one on the Python SDK, and our own as a process.

mod cassette;
mod chrome;
mod conformance;
mod demo;
mod everything;
mod python_sdk;
mod questions;
mod reference;
mod transports;
mod tried;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Running, Scratch};
use serde_json::{Value, json};

use crate::program::{self, Played, read};

/// A call that is over after this long was not cut off by our timeout of a second, on any machine.
const HARD_LIMIT: f64 = 30.0;

/// A server from the registry of npm, or nothing when this run leaves real peers out.
pub(crate) fn npm(name: &str) -> Option<PathBuf> {
    peers::require(&format!("npm/node_modules/.bin/{name}"))
}

/// A place for the command line of the MCP Inspector, or nothing when this run leaves real peers out.
pub(crate) fn inspector() -> Option<(Scratch, String)> {
    let script = "npm/node_modules/@modelcontextprotocol/inspector-cli/build/index.js";
    let script = peers::require(script)?;
    let mut place = Scratch::new(&peers::require_program("node")?).expect("a scratch folder");
    patient(&mut place);
    Some((place, script.to_str().expect("UTF-8").to_owned()))
}

/// What it prints for a request to a server.
#[track_caller]
pub(crate) fn inspect(
    (place, script): &(Scratch, String),
    server: &[&str],
    request: &[&str],
) -> Value {
    let args = [&[script.as_str()], server, &["--method"], request].concat();
    let finished = place.run(&args).expect("it starts");
    let told = program::told(&finished);
    assert_eq!(finished.code(), Some(0), "{told}");
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

/// A file of `tests/servers`.
pub(crate) fn script(name: &str) -> PathBuf {
    cuecard_testing::repository_root()
        .join("tests/servers")
        .join(name)
}

/// A place whose config defines the server `peer` and no other.
fn with_server(entry: &Value) -> Scratch {
    let scratch = program::scratch();
    configure(&scratch, entry);
    scratch
}

fn configure(scratch: &Scratch, entry: &Value) {
    let config = json!({"mcpServers": {"peer": entry}});
    scratch
        .write(".mcp.json", config.to_string())
        .expect("writable");
}

/// Writes a scenario with these steps, numbered in order, as `scenario.json`.
fn write_scenario(scratch: &Scratch, steps: &Value) {
    let mut steps = steps.clone();
    for (index, step) in steps.as_array_mut().expect("a list").iter_mut().enumerate() {
        step["step"] = json!(index + 1);
    }
    let scenario = json!({"version": "2.1", "metadata": {"name": "Peer"}, "steps": steps});
    scratch
        .write("scenario.json", format!("{scenario:#}"))
        .expect("writable");
}

/// Plays these steps; results are in the document. The exit code must be `exit`.
#[track_caller]
fn play(scratch: &Scratch, steps: &Value, exit: i32) -> Played {
    write_scenario(scratch, steps);
    program::play(
        scratch,
        &["scenario.json", "--include-results", "true"],
        exit,
    )
}

/// What `play --dry-run --connect --json` says about these steps. The exit code must be `exit`.
#[track_caller]
fn dry_run(scratch: &Scratch, steps: &Value, exit: i32) -> Value {
    write_scenario(scratch, steps);
    program::play(scratch, &["scenario.json", "--dry-run", "--connect"], exit).json
}

/// The codes of a document's diagnostics.
fn codes(document: &Value) -> Vec<&str> {
    document["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|diagnostic| diagnostic["code"].as_str().expect("a code"))
        .collect()
}

/// A server that is reached by its address, up for as long as this lives.
pub(crate) struct HttpServer {
    /// `http://…`, `ws://…`, `unix://…` or `http+unix://…`.
    pub(crate) url: String,
    _running: Running,
    _scratch: Scratch,
}

impl HttpServer {
    /// Starts `program`, which says `listening on URL` on standard error when it can be reached.
    pub(crate) fn start(program: &Path, variables: &[(&str, String)], args: &[&str]) -> Self {
        let mut scratch = Scratch::new(program).expect("a scratch folder");
        for (name, value) in variables {
            scratch.set(name, value);
        }
        let running = scratch.start(args).expect("the server starts");
        let mut url = None;
        let mut said = String::new();
        running.wait_for(|stdout, stderr| {
            url = listening(stdout)
                .or_else(|| listening(stderr))
                .or_else(|| listening_socat(stderr, &scratch.work()));
            said = format!("{stdout}{stderr}");
            url.is_some()
        });
        let url = url.unwrap_or_else(|| {
            panic!(
                "`{}` never said where it listens:\n{said}",
                program.display()
            )
        });
        Self {
            url,
            _running: running,
            _scratch: scratch,
        }
    }
}

/// The URL of the first whole line that is one, or says that somebody listens on one.
fn listening(output: &str) -> Option<String> {
    output
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n'))
        .map(|line| line.strip_prefix("listening on ").unwrap_or(line))
        .find(|line| {
            ["http://", "https://", "ws://", "wss://", "http+unix://"]
                .iter()
                .any(|scheme| line.starts_with(scheme))
        })
        .map(str::to_owned)
}

/// The URL of the socket in `folder` that socat says it listens on.
fn listening_socat(output: &str, folder: &Path) -> Option<String> {
    let (_, rest) = output.split_once(" listening on AF=1 \"")?;
    let (name, _) = rest.split_once('"')?;
    Some(format!("unix://{}", folder.join(name).display()))
}

/// The step was cut off by its timeout of a second, and said so.
#[track_caller]
fn assert_timed_out(step: &Value) {
    assert_eq!(step["status"], "tolerated", "{step:#}");
    assert_eq!(step["code"], "C-RUN-03", "{step:#}");
    let error = step["error"].as_str().expect("an error");
    assert!(
        error.contains("within 1 s; the call was cancelled"),
        "{error}"
    );
    let took = step["duration"].as_f64().expect("a number");
    assert!((1.0..HARD_LIMIT).contains(&took), "{step:#}");
}

/// An entry of a result for a file that was written into the run directory; gives what is in the file.
#[track_caller]
fn saved_file(scratch: &Scratch, entry: &Value, media_type: &str) -> Vec<u8> {
    assert_eq!(entry["media_type"], media_type, "{entry:#}");
    let path = Path::new(entry["path"].as_str().expect("a path"));
    let runs = scratch.work().join(".cuecard/runs");
    assert!(path.starts_with(&runs), "{}", path.display());
    let bytes = std::fs::read(path).expect("the file is there");
    assert_eq!(entry["bytes"], json!(bytes.len()), "{entry:#}");
    bytes
}

/// The bytes are a whole PNG file.
#[track_caller]
fn assert_png(bytes: &[u8]) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{bytes:?}");
    assert!(bytes.ends_with(b"IEND\xaeB`\x82"), "{bytes:?}");
}

/// Time for servers that start slowly on a busy machine.
fn patient(scratch: &mut Scratch) {
    scratch.limit(Duration::from_secs(180));
}
