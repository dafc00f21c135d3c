//! Judges many cases at once, and tells their results in the order of the files.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use cuecard_judge::TestResult;
use cuecard_source::diagnostic::{Diagnostic, codes};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::collect::TestFile;
use super::selection::Selection;
use super::{Judged, Problem, Setup, case};
use cuecard_runtime::clock::Clock;

/// The name of a thread that judges. Should it panic, its case is an error, and all else goes on.
pub const WORKER: &str = "judge";

/// No case is judged that comes so many after the first that was not told: their traces are held in memory.
const AHEAD: usize = 256;

/// Room for what walks a tree as deep as readers allow, in bytes.
const STACK: usize = 8 << 20;

/// Judges `files` with `jobs` threads. `tell` is given what came of each case in the order of the files, and whether
/// to go on is its answer. Ends once nothing is under way any more, sooner if `stop` is cancelled.
///
/// # Errors
/// If no thread can be started.
pub async fn run(
    files: Vec<TestFile>,
    selection: Selection,
    setup: Arc<Setup>,
    jobs: usize,
    stop: &CancellationToken,
    mut tell: impl FnMut(Judged) -> ControlFlow<()>,
) -> io::Result<()> {
    let stop = stop.child_token();
    let jobs = jobs.clamp(1, files.len().max(1));
    let shared = Arc::new(Shared {
        files,
        selection,
        setup,
        stop: stop.clone(),
        next: AtomicUsize::new(0),
        told: Mutex::new(0),
        more_told: Condvar::new(),
    });
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut threads = Vec::new();
    for _ in 0..jobs {
        let (shared, sender) = (shared.clone(), sender.clone());
        let started = thread::Builder::new()
            .name(WORKER.to_owned())
            .stack_size(STACK)
            .spawn(move || shared.work(&sender));
        match started {
            Ok(thread) => threads.push(thread),
            // Fewer threads do the same work.
            Err(_) if !threads.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    drop(sender);
    // What came of each file, and nothing once that is all.
    let mut waiting: BTreeMap<usize, Vec<Option<Judged>>> = BTreeMap::new();
    let mut next = 0;
    let mut flow = ControlFlow::Continue(());
    while let Some((idx, judged)) = receiver.recv().await {
        waiting.entry(idx).or_default().push(judged);
        while flow.is_continue() {
            let Some(judged) = waiting.remove(&next) else {
                break;
            };
            let is_over = judged.last().is_some_and(Option::is_none);
            for judged in judged.into_iter().flatten() {
                if flow.is_continue() {
                    flow = tell(judged);
                }
            }
            if !is_over {
                break;
            }
            next += 1;
            shared.has_told(next);
        }
        if flow.is_break() {
            stop.cancel();
            shared.has_told(usize::MAX);
        }
    }
    // After an interruption some cases are missing between others.
    for judged in waiting.into_values().flatten().flatten() {
        if flow.is_continue() {
            flow = tell(judged);
        }
    }
    for thread in threads {
        // A panic outside of a case has been shown by the panic hook.
        let _ = thread.join();
    }
    Ok(())
}

struct Shared {
    files: Vec<TestFile>,
    selection: Selection,
    setup: Arc<Setup>,
    stop: CancellationToken,
    next: AtomicUsize,
    /// How many cases, from the first, were told.
    told: Mutex<usize>,
    more_told: Condvar,
}

impl Shared {
    /// Judges one case after another until there is none left.
    fn work(&self, results: &mpsc::UnboundedSender<(usize, Option<Judged>)>) {
        while !self.stop.is_cancelled() {
            let idx = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(idx) else {
                return;
            };
            self.wait_for(idx);
            // Whoever receives is there until all threads have ended.
            let tell = |judged| drop(results.send((idx, judged)));
            let judged = catch_unwind(AssertUnwindSafe(|| {
                let (selection, setup) = (&self.selection, &self.setup);
                case::judge(file, selection, setup, &self.stop, |judged| {
                    tell(Some(judged));
                });
            }));
            if judged.is_err() {
                tell(Some(panicked(file, &self.setup)));
            }
            tell(None);
        }
    }

    /// Until the case at `idx` is not too far ahead.
    fn wait_for(&self, idx: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        while idx >= told.saturating_add(AHEAD) {
            told = self
                .more_told
                .wait(told)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn has_told(&self, count: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        *told = count.max(*told);
        self.more_told.notify_all();
    }
}

fn panicked(file: &TestFile, setup: &Setup) -> Judged {
    let error = Diagnostic::error(
        codes::TEST_PANIC,
        "the test could not be run: internal error",
    )
    .with_help("see the output above; please report it, with the test");
    let clock = Clock::start();
    let run = case::run(setup, &file.path.display().to_string(), &clock);
    Judged::error(TestResult::not_read(vec![error], run), Problem::CouldNotRun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_far_ahead_waits_for_those_before_it() {
        let shared = Arc::new(Shared {
            files: Vec::new(),
            selection: Selection::default(),
            setup: Arc::new(super::super::tests::setup(std::path::Path::new("/"))),
            stop: CancellationToken::new(),
            next: AtomicUsize::new(0),
            told: Mutex::new(0),
            more_told: Condvar::new(),
        });
        shared.wait_for(AHEAD - 1);
        let waiting = thread::spawn({
            let shared = shared.clone();
            move || shared.wait_for(AHEAD + 1)
        });
        shared.has_told(1);
        assert!(!waiting.is_finished(), "one more has to be told");
        shared.has_told(2);
        waiting.join().expect("it goes on");
    }
}
