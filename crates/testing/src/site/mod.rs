//! The test site: the pages below `tests/site/`, served at two ports with what they need from a server.
//!
//! One port is one origin. The same port is another origin, and another *site*, as `localhost` than as
//! `127.0.0.1`: pages find both in the words `__OTHER_PORT__` and `__OTHER_SITE__`, which are filled in.

mod answers;
mod files;

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running test site. It stops when this is dropped.
#[derive(Debug)]
pub struct Site {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the requests share.
#[derive(Debug)]
struct Shared {
    pages: PathBuf,
    /// The folder with `react` and `react-dom` in it, if they are installed.
    packages: Option<PathBuf>,
    /// The folder with the libraries of components.
    components: Option<PathBuf>,
    ports: [u16; 2],
    /// The script that each page begins with: one that tells what was done on it.
    script: Option<&'static str>,
    /// How often each thing was done, by its name.
    counts: Mutex<BTreeMap<String, u64>>,
    /// Told when something was done.
    changed: Condvar,
}

impl Site {
    /// Serves `tests/site/` of this repository, on two free ports of this machine.
    ///
    /// # Errors
    /// When a port can't be had.
    pub fn start() -> io::Result<Self> {
        Self::start_at(0)
    }

    /// As [`Site::start`], and each page can be changed and tells whether what was done on it was done to the element
    /// that the change tracked: see `tests/site/adversary.js`.
    ///
    /// # Errors
    /// When a port can't be had.
    pub fn start_with_adversary() -> io::Result<Self> {
        Self::serve(0, Some("adversary.js"))
    }

    /// As [`Site::start`], and each page tells what was clicked on it: see `tests/site/witness.js`.
    ///
    /// # Errors
    /// When a port can't be had.
    pub fn start_watched() -> io::Result<Self> {
        Self::serve(0, Some("witness.js"))
    }

    /// As [`Site::start`], with the first port given; 0 is any.
    ///
    /// # Errors
    /// When the port can't be had.
    pub fn start_at(port: u16) -> io::Result<Self> {
        Self::serve(port, None)
    }

    fn serve(port: u16, script: Option<&'static str>) -> io::Result<Self> {
        let first = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let second = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let shared = Arc::new(Shared {
            pages: crate::repository_root().join("tests/site"),
            packages: crate::peers::folder().map(|folder| folder.join("npm/node_modules")),
            components: crate::peers::folder().map(|folder| folder.join("components/node_modules")),
            ports: [first.local_addr()?.port(), second.local_addr()?.port()],
            script,
            counts: Mutex::default(),
            changed: Condvar::new(),
        });
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listeners = [first, second];
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                for listener in listeners {
                    serve(listener, &served).expect("a bound listener can be used");
                }
                // An error says that the sender is gone, which means the same.
                let _ = stopped.await;
            });
            // Answers that never end must not hold this up.
            runtime.shutdown_background();
        });
        Ok(Self {
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The full address of a page: `http://127.0.0.1:PORT/PATH`.
    pub fn url(&self, path: &str) -> String {
        format!("{}/{}", self.shared.origin(), path.trim_start_matches('/'))
    }

    /// How often `name` was done: `POST /api/count/NAME`, or a login (`login`), upload or download.
    pub fn count(&self, name: &str) -> u64 {
        self.shared.counts().get(name).copied().unwrap_or(0)
    }

    /// Everything that was done so far, with how often.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.shared.counts().clone()
    }

    /// Waits until what was done is as `reached` says, and says whether it came to be so within `limit`.
    pub fn wait_until(
        &self,
        limit: Duration,
        mut reached: impl FnMut(&BTreeMap<String, u64>) -> bool,
    ) -> bool {
        let waiting =
            self.shared
                .changed
                .wait_timeout_while(self.shared.counts(), limit, |counts| !reached(counts));
        let (counts, waited) = waiting.unwrap_or_else(PoisonError::into_inner);
        drop(counts);
        !waited.timed_out()
    }

    /// Waits until the site is stopped, which nothing does: for a site that is started by hand.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // Its panic was printed already.
            let _ = thread.join();
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    fn other_port(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    fn other_site(&self) -> String {
        format!("http://localhost:{}", self.ports[0])
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more of `name`, and says how many there are now.
    fn counted(&self, name: &str) -> u64 {
        let mut counts = self.counts();
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        self.changed.notify_all();
        *count
    }
}

fn serve(listener: std::net::TcpListener, shared: &Arc<Shared>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let router = answers::router(Arc::clone(shared));
    tokio::spawn(async move {
        let service = router.into_make_service();
        // It ends with the runtime.
        let _ = axum::serve(listener, service).await;
    });
    Ok(())
}
