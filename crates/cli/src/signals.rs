//! Ctrl-C, SIGTERM, and SIGHUP when the terminal is closed: the first asks for an orderly end, the second doesn't ask.

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::exit_code::ExitCode;
use crate::output::stderr_line;

/// What is said of the first signal where servers may be running.
pub(crate) const STOPPING: &str = "\nstopping the servers; press Ctrl-C again to kill them";

/// Listens to signals until it is dropped.
#[must_use]
pub(crate) struct Listening {
    _ends: oneshot::Sender<()>,
}

/// Cancels `stop` at the first signal and says so with `words`, if there are any; at the second kills all children and
/// exits. It has a thread of its own, so that signals are heard while this one computes.
pub(crate) fn listen(stop: CancellationToken, words: Option<&'static str>) -> Option<Listening> {
    let runtime = Builder::new_current_thread().enable_io().build().ok()?;
    let entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt()).ok()?;
    let mut terminate = signal(SignalKind::terminate()).ok()?;
    let mut hangup = match cuecard_runtime::process::ignores_hangup() {
        true => None,
        false => signal(SignalKind::hangup()).ok(),
    };
    drop(entered);
    let (ends, mut ended) = oneshot::channel::<()>();
    let listening = async move {
        for count in 0.. {
            tokio::select! {
                received = interrupt.recv() => if received.is_none() { return },
                received = terminate.recv() => if received.is_none() { return },
                () = hung_up(hangup.as_mut()) => {}
                _ = &mut ended => return,
            }
            if count > 0 {
                leave_now();
            }
            stop.cancel();
            if let Some(words) = words {
                stderr_line(words);
            }
        }
    };
    let thread = std::thread::Builder::new().name("cuecard-signals".to_owned());
    thread.spawn(move || runtime.block_on(listening)).ok()?;
    Some(Listening { _ends: ends })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_heard_while_the_thread_computes() {
        let stop = CancellationToken::new();
        let listening = listen(stop.clone(), None).expect("there are threads");
        let myself = rustix::process::getpid();
        rustix::process::kill_process(myself, rustix::process::Signal::TERM).expect("sent");
        while !stop.is_cancelled() {
            std::hint::spin_loop();
        }
        drop(listening);
    }
}
