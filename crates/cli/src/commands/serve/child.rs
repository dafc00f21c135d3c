//! The command after `--`, which runs against the stand-in.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use tokio_util::sync::CancellationToken;

use crate::exit_code::ExitCode;
use crate::open_files::OpenFiles;

/// How long the command may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// Runs `command` with `variables` set, until it ends or `stop` is cancelled.
///
/// # Errors
/// If it can't be started.
pub(crate) async fn run(
    command: &[OsString],
    variables: &[(&str, String)],
    environment: &[(OsString, OsString)],
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> io::Result<ExitCode> {
    let (program, args) = command
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let spec = ProcessSpec {
        program: program.clone(),
        args: args.to_vec(),
        env: variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        cwd: None,
    };
    let is_terminal = io::stdin().is_terminal();
    let mut child =
        open_files.as_before(|| ProcessGroup::attach(&spec, environment, is_terminal))?;
    let status = tokio::select! {
        status = child.wait() => Some(status?),
        () = stop.cancelled() => None,
    };
    match status {
        Some(status) => Ok(code_of(status)),
        None => {
            child.shut_down(GRACE).await;
            Ok(ExitCode::Interrupted)
        }
    }
}

/// The command's code; a signal is 128 and its number, as shells say.
fn code_of(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    match u8::try_from(code) {
        Ok(0) => ExitCode::Passed,
        Ok(code) => ExitCode::OfCommand(code),
        Err(_) => ExitCode::Failed,
    }
}
