//! Lines for a stream that perhaps nobody reads: a thread of its own writes them, so that nothing waits for a reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
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
    sender: Sender<Message>,
    counts: Arc<Counts>,
    /// Says in place of so many lines that they were left out.
    gap: fn(u64) -> String,
}

#[derive(Default)]
struct Counts {
    /// Bytes that wait.
    n_bytes: AtomicUsize,
    /// Lines that were taken in.
    n_lines: AtomicUsize,
    /// Lines that were written.
    n_written: AtomicUsize,
    /// Lines that were left out since one was taken in.
    n_left_out: AtomicU64,
}

/// A line, or the end of a stream so far: whoever waits for it sees it dropped.
enum Message {
    Line(String),
    End(Sender<()>),
}

impl LineQueue {
    /// A queue to `write`, which may block. The thread ends with the program.
    pub(crate) fn new(write: impl Fn(&str) + Send + 'static, gap: fn(u64) -> String) -> Self {
        let (sender, receiver) = mpsc::channel();
        let counts = Arc::new(Counts::default());
        let of_thread = Arc::clone(&counts);
        // Without a thread nothing can be written, and what can't be written is left out: as without a reader.
        let _ = thread::Builder::new()
            .name("cuecard-lines".to_owned())
            .spawn(move || of_thread.write_all(&receiver, write));
        Self {
            sender,
            counts,
            gap,
        }
    }

    /// Adds a line, with its end; never waits. It is left out if too many wait already, but for the last one: when
    /// `is_last`, what is missing is said and the line is taken in all the same.
    pub(crate) fn push(&self, mut line: String, is_last: bool) {
        let counts = &self.counts;
        if !is_last && counts.n_bytes.load(SeqCst) + line.len() > MOST_WAITING {
            counts.n_left_out.fetch_add(1, SeqCst);
            return;
        }
        let n_left_out = counts.n_left_out.swap(0, SeqCst);
        if n_left_out > 0 {
            line.insert_str(0, &(self.gap)(n_left_out));
        }
        counts.n_bytes.fetch_add(line.len(), SeqCst);
        counts.n_lines.fetch_add(1, SeqCst);
        let _ = self.sender.send(Message::Line(line));
    }

    /// Waits until everything is written, as long as somebody reads. Gives how many lines nobody read.
    pub(crate) fn drain(&self) -> usize {
        let (end, ended) = mpsc::channel();
        let _ = self.sender.send(Message::End(end));
        loop {
            let before = self.counts.n_written.load(SeqCst);
            if ended.recv_timeout(STUCK_AFTER) == Err(RecvTimeoutError::Disconnected) {
                return 0;
            }
            let n_written = self.counts.n_written.load(SeqCst);
            if n_written == before {
                return self.counts.n_lines.load(SeqCst) - n_written;
            }
        }
    }
}

impl Counts {
    /// Writes what comes, several lines in one go if they wait.
    fn write_all(&self, messages: &Receiver<Message>, write: impl Fn(&str)) {
        while let Ok(first) = messages.recv() {
            let (mut text, mut n_lines, mut next) = (String::new(), 0, Some(first));
            let mut ends = Vec::new();
            while let Some(message) = next {
                match message {
                    Message::Line(line) => {
                        text.push_str(&line);
                        n_lines += 1;
                    }
                    Message::End(end) => ends.push(end),
                }
                next = match text.len() < AT_ONCE {
                    true => messages.try_recv().ok(),
                    false => None,
                };
            }
            self.n_bytes.fetch_sub(text.len(), SeqCst);
            write(&text);
            self.n_written.fetch_add(n_lines, SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

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
