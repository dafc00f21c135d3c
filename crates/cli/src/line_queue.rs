//! Lines for a stream that perhaps nobody reads: a thread of its own writes them, so that nothing waits for a reader.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many bytes may wait for their reader. What comes when there is no room is left out.
const MOST_WAITING: usize = 4 << 20;
/// So many bytes are written in one go.
const AT_ONCE: usize = 16 << 10;
/// How long a reader may pause at the end before it is taken to be none.
const STUCK_AFTER: Duration = Duration::from_secs(2);

/// Lines on their way to a stream. Clones are the same queue.
#[derive(Clone)]
pub(crate) struct LineQueue {
    shared: Arc<Shared>,
    /// Says in place of so many lines that they were left out.
    gap: fn(u64) -> String,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<String>,
    n_bytes: usize,
    /// Lines that were left out since one was taken in.
    n_left_out: u64,
    is_writing: bool,
    /// How often something was written.
    n_written: u64,
}

impl LineQueue {
    /// A queue to `write`, which may block. The thread ends with the program.
    pub(crate) fn new(write: impl Fn(&str) + Send + 'static, gap: fn(u64) -> String) -> Self {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        // Without a thread nothing can be written, and what can't be written is left out: as without a reader.
        let _ = thread::Builder::new()
            .name("cuecard-lines".to_owned())
            .spawn(move || {
                loop {
                    write(&of_thread.take());
                }
            });
        Self { shared, gap }
    }

    /// Adds a line, with its end; never waits. It is left out if too many wait already, but for the last one: when
    /// `is_last`, what is missing is said and the line is taken in all the same.
    pub(crate) fn push(&self, line: String, is_last: bool) {
        let mut state = self.shared.state();
        let gap = match state.n_left_out {
            0 => String::new(),
            count => (self.gap)(count),
        };
        if !is_last && state.n_bytes + gap.len() + line.len() > MOST_WAITING {
            state.n_left_out += 1;
            return;
        }
        state.n_left_out = 0;
        for text in [gap, line] {
            state.n_bytes += text.len();
            state.waiting.push_back(text);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Waits until everything is written, as long as somebody reads. Gives how many lines nobody read.
    pub(crate) fn drain(&self) -> usize {
        let mut state = self.shared.state();
        loop {
            let before = state.n_written;
            let is_stuck = |state: &mut State| !state.is_idle() && state.n_written == before;
            let (waited, timeout) = self
                .shared
                .changed
                .wait_timeout_while(state, STUCK_AFTER, is_stuck)
                .unwrap_or_else(PoisonError::into_inner);
            state = waited;
            if state.is_idle() || timeout.timed_out() {
                return state.waiting.iter().filter(|line| !line.is_empty()).count();
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be written next, once there is something.
    fn take(&self) -> String {
        let mut state = self.state();
        if state.is_writing {
            state.is_writing = false;
            state.n_written += 1;
            self.changed.notify_all();
        }
        let mut state = self
            .changed
            .wait_while(state, |state| state.waiting.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        while text.len() < AT_ONCE
            && let Some(line) = state.waiting.pop_front()
        {
            state.n_bytes -= line.len();
            text.push_str(&line);
        }
        state.is_writing = true;
        text
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.is_writing
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn gap(count: u64) -> String {
        format!("<{count} left out>\n")
    }

    #[test]
    fn lines_come_in_their_order() {
        let (sender, receiver) = mpsc::channel();
        let queue = LineQueue::new(move |text| drop(sender.send(text.to_owned())), gap);
        for number in 0..1000 {
            queue.push(format!("{number}\n"), false);
        }
        assert_eq!(queue.drain(), 0);
        let text: String = receiver.try_iter().collect();
        let expected: String = (0..1000).map(|number| format!("{number}\n")).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn without_a_reader_nothing_waits_and_what_is_left_out_is_said_in_its_place() {
        let (open, opened) = mpsc::channel::<()>();
        let (started, starts) = mpsc::channel();
        let (sender, receiver) = mpsc::channel();
        // The first line is written when the reader comes, and not before.
        let gate = Mutex::new(Some((started, opened)));
        let write = move |text: &str| {
            if let Some((started, opened)) = gate.lock().expect("one thread").take() {
                let _ = started.send(());
                let _ = opened.recv();
            }
            drop(sender.send(text.to_owned()));
        };
        let queue = LineQueue::new(write, gap);
        let line = format!("{}\n", "x".repeat(MOST_WAITING / 8));
        queue.push(line.clone(), false);
        starts.recv().expect("the thread takes the first line");
        for _ in 0..20 {
            queue.push(line.clone(), false);
        }
        queue.push("last\n".to_owned(), true);
        open.send(()).expect("it waits");
        assert_eq!(queue.drain(), 0);
        let text: String = receiver.try_iter().collect();
        // One is being written, seven are what has room beside their line ends.
        let end = text
            .strip_prefix(&line.repeat(8))
            .expect("the first eight lines");
        assert_eq!(end, "<13 left out>\nlast\n");
    }
}
