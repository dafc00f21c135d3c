//! The limit of open files: each connection is one, and many systems allow a thousand unless they are asked.

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many are asked for.
const WANTED: u64 = 20_000;

/// The limit, raised for this process. Programs that it starts get what was there before: some can't do with more.
pub(crate) struct OpenFiles {
    before: Rlimit,
    raised: Rlimit,
}

impl OpenFiles {
    /// Raises it as far as it is needed and allowed, and has the system make room for so many files.
    ///
    /// To be called before there are threads: as soon as there are, Linux lets whoever opens one file too many wait
    /// until all processors have seen the larger table, which takes some tens of milliseconds, again at twice as many.
    pub(crate) fn raise() -> Self {
        let before = getrlimit(Resource::Nofile);
        let allowed = before.maximum.map_or(WANTED, |most| most.min(WANTED));
        let current = before.current.map(|current| current.max(allowed));
        let raised = Rlimit {
            current,
            maximum: before.maximum,
        };
        set(&raised);
        make_room(allowed);
        Self { before, raised }
    }

    /// Starts a program with the limit that was there before.
    pub(crate) fn as_before<T>(&self, start: impl FnOnce() -> T) -> T {
        set(&self.before);
        let started = start();
        set(&self.raised);
        started
    }
}

/// The table of open files grows to hold so many, and does not shrink.
fn make_room(n_files: u64) {
    if let Ok(last) = i32::try_from(n_files.saturating_sub(1)) {
        // Without it, files are opened all the same.
        let _ = fcntl_dupfd_cloexec(rustix::stdio::stderr(), last);
    }
}

fn set(limit: &Rlimit) {
    // Not raised, it is as it was: the stand-in takes fewer connections then, and says so when they come.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.current,
            maximum: limit.maximum,
        },
    );
}
