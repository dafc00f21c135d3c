//! Work that waits: for servers, for children, for a signal.

use tokio_util::sync::CancellationToken;

use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::stderr_line;
use crate::signals;

/// Runs `work` to its end. It is given what is cancelled when somebody asks us to stop.
///
/// # Errors
/// How to exit if there can be no such work; that is told.
pub(crate) fn asynchronously<T>(
    work: impl AsyncFnOnce(CancellationToken) -> T,
) -> Result<T, ExitCode> {
    start(work, Some(signals::STOPPING))
}

/// Runs `work` until it has ended or somebody asks us to stop; then it is dropped.
///
/// # Errors
/// As [`asynchronously`], and if it was interrupted.
pub(crate) fn interruptibly<T>(work: impl AsyncFnOnce() -> T) -> Result<T, Stop> {
    let done = asynchronously(async |stop| stop.run_until_cancelled(work()).await)?;
    done.ok_or_else(|| ExitCode::Interrupted.into())
}

/// As [`asynchronously`], for work that goes on until somebody stops it: nothing is said when it is.
pub(crate) fn until_stopped<T>(
    work: impl AsyncFnOnce(CancellationToken) -> T,
) -> Result<T, ExitCode> {
    start(work, None)
}

fn start<T>(
    work: impl AsyncFnOnce(CancellationToken) -> T,
    words: Option<&'static str>,
) -> Result<T, ExitCode> {
    on_this_thread(async || {
        let stop = CancellationToken::new();
        let _listening = signals::listen(stop.clone(), words);
        work(stop).await
    })
}

/// Runs `work` to its end on a thread beside others, of which another listens to signals.
///
/// # Errors
/// As [`asynchronously`].
pub(crate) fn on_this_thread<T>(work: impl AsyncFnOnce() -> T) -> Result<T, ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            stderr_line(&format!(
                "error: failed to start the async runtime: {error}"
            ));
            ExitCode::CouldNotRun
        })?;
    let outcome = runtime.block_on(work());
    runtime.shutdown_background();
    Ok(outcome)
}
