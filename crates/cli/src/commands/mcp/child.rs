//! A command of this program, run as a process of its own: a tool does what its command does.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_mcp::server::Client;
use cuecard_runtime::lines::{Line, LineReader};
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::exit_code::ExitCode;

/// The most that is read of a result, in bytes.
const MOST_OUTPUT: u64 = 16 << 20;
/// The longest line of standard error, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// How many lines without a meaning for programs are kept, the last ones.
const MOST_LINES: usize = 40;
/// How many findings are kept.
const MOST_FINDINGS: usize = 100;
/// How long a cancelled run may take to stop its servers, twice.
const GRACE: Duration = Duration::from_secs(5);

/// What a command said.
#[derive(Default)]
pub(super) struct Finished {
    /// The document on standard output, or its text if that is none; null if there is nothing.
    pub document: Value,
    /// The errors on standard error, as `--json` has them.
    pub findings: Vec<Value>,
    /// The other lines of standard error.
    pub lines: Vec<String>,
    /// Whether it exited as passed.
    pub has_passed: bool,
}

/// Runs `cuecard` with `args` in `folder` until it ends, or the client cancels the call.
///
/// # Errors
/// It can't be started or read.
pub(super) async fn run(
    program: &Path,
    folder: &Path,
    environment: &[(OsString, OsString)],
    args: Vec<OsString>,
    input: Option<String>,
    client: &Client,
) -> io::Result<Finished> {
    let spec = ProcessSpec {
        program: program.into(),
        args,
        // It is us: it reads the environment as we do.
        env: environment.to_vec(),
        cwd: Some(PathBuf::from(folder)),
    };
    let mut child = ProcessGroup::spawn(&spec, &[])?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(mut stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::other("the process has no pipes"));
    };
    let feed = async move {
        // A command that reads nothing is no problem.
        let _ = stdin.write_all(input.unwrap_or_default().as_bytes()).await;
    };
    let read = async {
        let mut bytes = Vec::new();
        let mut bounded = (&mut stdout).take(MOST_OUTPUT);
        bounded.read_to_end(&mut bytes).await?;
        let rest = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await?;
        Ok::<_, io::Error>((bytes, rest))
    };
    let mut finished = Finished::default();
    let listen = listen(
        LineReader::new(Box::new(stderr), LONGEST_LINE),
        &mut finished,
        client,
    );
    let status = tokio::select! {
        ((), output, (), status) = async { tokio::join!(feed, read, listen, child.wait()) } => {
            Some((output?, status?))
        }
        () = client.cancelled() => None,
    };
    let Some(((bytes, rest), status)) = status else {
        child.hang_up();
        child.shut_down(GRACE).await;
        return Err(io::Error::other("the call was cancelled"));
    };
    let passed = [ExitCode::Passed, ExitCode::Drifted].map(|code| i32::from(code.number()));
    finished.has_passed = status.code().is_some_and(|code| passed.contains(&code));
    finished.document = match serde_json::from_slice(&bytes) {
        // What it did is done, whatever can be shown of it.
        _ if rest > 0 => json!({
            "status": if finished.has_passed { "passed" } else { "failed" },
            "exit_code": status.code(),
            "cut": "the command ended, and its result is larger than 16 MiB; the directory of the run has all of it",
        }),
        Ok(document) => document,
        Err(_) if bytes.is_empty() => Value::Null,
        Err(_) => json!({ "text": String::from_utf8_lossy(&bytes) }),
    };
    Ok(finished)
}

/// A warning as it is printed for people.
fn warning(line: &str) -> Option<Value> {
    let (code, message) = line.strip_prefix("warning[")?.split_once("]: ")?;
    Some(json!({ "severity": "warning", "code": code, "message": message }))
}

/// Sorts standard error, and tells a client that wants to hear of progress each line for people.
async fn listen(mut stderr: LineReader, finished: &mut Finished, client: &Client) {
    let token = client.progress_token();
    let mut n_told = 0;
    loop {
        let line = match stderr.next().await {
            Line::Whole(line) => String::from_utf8_lossy(&line).trim_end().to_owned(),
            Line::TooLong(_) => continue,
            Line::End => return,
        };
        // Errors come as lines of JSON too.
        let finding = serde_json::from_str::<Value>(&line).ok();
        let finding = finding.or_else(|| warning(&line));
        if let Some(finding) = finding.filter(|finding| finding.get("code").is_some()) {
            if finished.findings.len() < MOST_FINDINGS {
                finished.findings.push(finding);
            }
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        if let Some(token) = &token {
            n_told += 1;
            let params =
                json!({ "progressToken": token, "progress": n_told, "message": line.trim() });
            client.notify("notifications/progress", Some(params)).await;
        }
        if finished.lines.len() == MOST_LINES {
            finished.lines.remove(0);
        }
        finished.lines.push(line);
    }
}
