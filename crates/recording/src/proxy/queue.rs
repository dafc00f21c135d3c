//! What passes, on its way to the tap: it is read some milliseconds later, in its order, so that no call waits for that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::tap::{Tap, lock};

/// How long what passes waits for more, to be read together: to wake somebody for each piece would take time from the call
/// that it belongs to.
const TOGETHER: Duration = Duration::from_millis(2);
/// How many bytes pass before more of them wait for the tap.
const MOST_WAITING: usize = 4 << 20;

/// The queue in front of a tap. Clones are the same one.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    passed: UnboundedSender<Passed>,
    clock: Clock,
    n_waiting: Arc<AtomicUsize>,
}

struct Passed {
    at: Duration,
    n_bytes: usize,
    read: Box<dyn FnOnce(&mut Tap) + Send>,
}

impl Queue {
    pub(super) fn new(tap: &Arc<Mutex<Tap>>) -> Self {
        let (passed, passing) = unbounded_channel();
        let n_waiting = Arc::default();
        tokio::spawn(read_together(passing, tap.clone(), Arc::clone(&n_waiting)));
        Self {
            passed,
            clock: lock(tap).clock,
            n_waiting,
        }
    }

    /// So many bytes pass now; `read` gives them to the tap.
    pub(super) fn pass(&self, n_bytes: usize, read: impl FnOnce(&mut Tap) + Send + 'static) {
        self.n_waiting.fetch_add(n_bytes, Ordering::Relaxed);
        // Who reads it is there as long as the runtime.
        let _ = self.passed.send(Passed {
            at: self.clock.now(),
            n_bytes,
            read: Box::new(read),
        });
    }

    /// Whether so much waits that it should be read first.
    pub(super) fn is_full(&self) -> bool {
        self.n_waiting.load(Ordering::Relaxed) > MOST_WAITING
    }

    /// Is told when all that has passed so far was read.
    pub(super) fn read_so_far(&self) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        self.pass(0, |_| {
            // Who asked may have gone.
            let _ = done.send(());
        });
        is_done
    }
}

async fn read_together(
    mut passing: UnboundedReceiver<Passed>,
    tap: Arc<Mutex<Tap>>,
    n_waiting: Arc<AtomicUsize>,
) {
    while let Some(first) = passing.recv().await {
        tokio::time::sleep(TOGETHER).await;
        let mut together = vec![first];
        while let Ok(next) = passing.try_recv() {
            together.push(next);
        }
        let (tap, n_waiting) = (tap.clone(), Arc::clone(&n_waiting));
        let reading = move || {
            for Passed { at, n_bytes, read } in together {
                lock(&tap).read_at(at, read);
                n_waiting.fetch_sub(n_bytes, Ordering::Relaxed);
            }
        };
        // Nothing waits for the files meanwhile. It fails only if the tap does, whose recording ends with that.
        if tokio::task::spawn_blocking(reading).await.is_err() {
            return;
        }
    }
}
