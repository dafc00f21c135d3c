//! The command after `--`, which runs against the stand-in.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use cuecard_source::diagnostic::{Diagnostic, codes};
use tokio_util::sync::CancellationToken;

use crate::commands::teller::OutputWriter;
use crate::exit_code::ExitCode;
use crate::inputs::io_reason;
use crate::open_files::OpenFiles;

/// How long the command may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// Runs `command` with `variables` set, until it ends or `stop` is cancelled; tells it if that is with another
/// code than 0. Without a command it waits for `stop`, which is the normal end then.
pub(crate) async fn run(
    teller: &OutputWriter,
    command: &[OsString],
    variables: &[(&str, String)],
    environment: &[(OsString, OsString)],
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> ExitCode {
    let Some((program, args)) = command.split_first() else {
        stop.cancelled().await;
        return ExitCode::Passed;
    };
    // Before anything that the command says.
    teller.drain();
    let shown = program.to_string_lossy();
    let ended = ended((program, args), variables, environment, open_files, stop).await;
    let code = ended.unwrap_or_else(|error| {
        let message = format!("failed to run `{shown}`: {}", io_reason(&error));
        teller.finding(&Diagnostic::error(codes::ARGUMENT, message));
        ExitCode::CouldNotRun
    });
    let exited = match code {
        ExitCode::OfCommand(code) => Some(code),
        ExitCode::Failed => Some(1),
        _ => None,
    };
    if let Some(code) = exited {
        let mark = teller.mark(false);
        teller.progress(&format!(
            "command  {mark} `{shown}` exited with code {code}"
        ));
    }
    code
}

async fn ended(
    (program, args): (&OsString, &[OsString]),
    variables: &[(&str, String)],
    environment: &[(OsString, OsString)],
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> io::Result<ExitCode> {
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
