//! Ctrl-C and SIGTERM: the first asks for an orderly end, the second doesn't ask.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit_code::ExitCode;
use crate::output::stderr_line;

/// What is said of the first signal where servers may be running.
pub(crate) const STOPPING: &str = "\nstopping the servers; again to kill them";

/// Cancels `stop` at the first signal and says so with `words`, if there are any; at the second kills all children and
/// exits.
pub(crate) fn listen(stop: CancellationToken, words: Option<&'static str>) {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return;
    };
    tokio::spawn(async move {
        for count in 0.. {
            tokio::select! {
                received = interrupt.recv() => if received.is_none() { return },
                received = terminate.recv() => if received.is_none() { return },
            }
            if count > 0 {
                leave_now();
            }
            stop.cancel();
            if let Some(words) = words {
                stderr_line(words);
            }
        }
    });
}

#[expect(clippy::exit, reason = "the user asked twice")]
fn leave_now() -> ! {
    cuecard_players::runtime::process::kill_all();
    std::process::exit(ExitCode::Interrupted.number().into())
}
