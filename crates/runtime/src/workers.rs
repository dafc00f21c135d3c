//! Work that goes on beside its caller's.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// Work that goes on. Its end is waited for with [`Worker::ended`]; who drops this lets it go on.
#[derive(Debug)]
pub struct Worker(oneshot::Receiver<()>);

impl Worker {
    /// Runs `work` and what it starts on so many threads of a runtime called `name`, which ends with it: what is not
    /// finished is dropped.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn on_threads<F>(name: &str, n_threads: usize, work: F) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(n_threads)
            .thread_name(name)
            .enable_all()
            .build()?;
        let (ends, ended) = oneshot::channel::<()>();
        thread::Builder::new().name(name.into()).spawn(move || {
            // Not by the thread that waits: others would take its tasks over.
            let _ = runtime.block_on(runtime.spawn(work));
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
