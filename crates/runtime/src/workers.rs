//! Threads that each have a runtime of their own: what is independent of the rest shares no locks with it.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// Work that goes on. Its end is waited for with [`Worker::ended`]; who drops this lets it go on.
#[derive(Debug)]
pub struct Worker(oneshot::Receiver<()>);

impl Worker {
    /// Runs `work` on a thread called `name`, which ends with it: what it has started and not finished is dropped.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn on_thread<F>(name: String, work: F) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (ends, ended) = oneshot::channel::<()>();
        thread::Builder::new().name(name).spawn(move || {
            runtime.block_on(work);
            runtime.shutdown_background();
            drop(ends);
        })?;
        Ok(Self(ended))
    }

    /// Runs `work` as a task of the runtime that this is called in.
    pub fn as_task<F>(work: F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (ends, ended) = oneshot::channel::<()>();
        tokio::spawn(async move {
            work.await;
            drop(ends);
        });
        Self(ended)
    }

    /// Waits until the work has ended, in whatever way.
    pub async fn ended(self) {
        let _ = self.0.await;
    }
}
