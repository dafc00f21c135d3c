//! Ctrl-C, SIGTERM, and SIGHUP when the terminal is closed: the first asks for an orderly end, the second doesn't ask.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit_code::ExitCode;
use crate::output::stderr_line;

/// What is said of the first signal where servers may be running.
pub(crate) const STOPPING: &str = "\nstopping the servers; press Ctrl-C again to kill them";

/// Cancels `stop` at the first signal and says so with `words`, if there are any; at the second kills all children and
/// exits.
pub(crate) fn listen(stop: CancellationToken, words: Option<&'static str>) {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return;
    };
    let mut hangup = match cuecard_runtime::process::ignores_hangup() {
        true => None,
        false => signal(SignalKind::hangup()).ok(),
    };
    tokio::spawn(async move {
        for count in 0.. {
            tokio::select! {
                received = interrupt.recv() => if received.is_none() { return },
                received = terminate.recv() => if received.is_none() { return },
                () = hung_up(hangup.as_mut()) => {}
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

/// Waits for a SIGHUP, or for ever.
async fn hung_up(hangup: Option<&mut Signal>) {
    if let Some(hangup) = hangup
        && hangup.recv().await.is_some()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Ends the program as interrupted.
#[expect(
    clippy::exit,
    reason = "the user asked for it, and there is nothing to wait for"
)]
pub(crate) fn leave_now() -> ! {
    cuecard_runtime::process::kill_all();
    std::process::exit(ExitCode::Interrupted.number().into())
}
