//! The facts about one connection, gathered by its transport, its process keeper and its handler, and
//! read by the session.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cuecard_source::json::mended;
use tokio::sync::{Notify, SetOnce};

use super::error::ErrorKind;
use super::exit::Exit;
use super::notice::{Notice, Notices};
use super::text::{Mask, clean, cut};
use cuecard_runtime::clock::Stopwatch;

/// How long a server's end may take to be noticed after its connection broke.
const SETTLE: Duration = Duration::from_secs(2);
/// The longest text of a server's in an error, in characters.
pub(super) const LONGEST_TEXT: usize = 8_000;
/// How much of standard error is kept, in bytes.
const TAIL: usize = 64 * 1024;
/// How many of its last lines are shown, and how long each may be.
const LAST_LINES: usize = 20;
const LONGEST_LINE: usize = 500;

/// Shared by everything that belongs to one connection.
pub(super) struct Link {
    pub(super) began: Stopwatch,
    mask: Mutex<Mask>,
    /// Secrets that came up after the start, until they are asked for.
    learned: Mutex<Vec<String>>,
    notices: Mutex<Notices>,
    noticed: Notify,
    errors: Mutex<Tail>,
    stray: OnceLock<String>,
    trouble: Mutex<Option<(Stopwatch, UnexpectedMessage)>>,
    fault: OnceLock<String>,
    late_discovery: AtomicBool,
    tools_changed: AtomicBool,
    reading: SetOnce<ReadEnd>,
    errors_ended: SetOnce<()>,
    end: SetOnce<ServerEnd>,
}

/// When a call began, and how much the server had written to its standard error by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallStart {
    pub(super) clock: Stopwatch,
    n_errors: u64,
}

/// Something came that was no answer, though one may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UnexpectedMessage {
    /// This is what is wrong with it.
    Broken(String),
    /// It is over the bound of the transport.
    TooLarge,
}

/// Why nothing more will be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadEnd {
    /// The server closed its output, or died.
    Closed,
    /// A frame was larger than this many bytes.
    TooLarge(usize),
    /// The connection broke, for this reason.
    Broken(String),
    /// We stopped listening.
    Dropped,
}

/// The server is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEnd {
    /// Its exit, if it has a process and that has ended.
    pub(super) exit: Option<Exit>,
    /// How long it lived.
    pub(super) after: Duration,
    /// The bound that a frame exceeded, if that is why.
    pub(super) too_large: Option<usize>,
    /// Why the connection broke, if that is known.
    pub(super) reason: Option<String>,
}

impl ServerEnd {
    /// What it means to who waits for an answer.
    pub(super) fn kind(&self) -> ErrorKind {
        match (self.too_large, self.exit) {
            (Some(bound), _) => ErrorKind::TooLarge { bound },
            (None, Some(exit)) if self.reason.is_none() => ErrorKind::Exited {
                exit,
                after: self.after,
            },
            // A server that was cut off may end of that.
            (None, _) => ErrorKind::Closed,
        }
    }
}

impl Link {
    pub(super) fn new(mask: Mask) -> Self {
        Self {
            began: Stopwatch::start(),
            mask: Mutex::new(mask),
            learned: Mutex::default(),
            notices: Mutex::default(),
            noticed: Notify::new(),
            errors: Mutex::default(),
            stray: OnceLock::new(),
            trouble: Mutex::default(),
            fault: OnceLock::new(),
            late_discovery: AtomicBool::new(false),
            tools_changed: AtomicBool::new(false),
            reading: SetOnce::new(),
            errors_ended: SetOnce::new(),
            end: SetOnce::new(),
        }
    }

    /// `text` fit to be shown.
    pub(super) fn shown(&self, text: &str, limit: usize) -> String {
        // Masked before it is cut, so that no half of a secret stays at the end.
        cut(&lock(&self.mask).apply(&clean(text)), limit)
    }

    /// From now on `secret` is not shown.
    pub(super) fn learn_secret(&self, secret: &str) {
        lock(&self.mask).add(secret, "token");
        lock(&self.learned).push(secret.to_owned());
    }

    pub(super) fn take_learned(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.learned))
    }

    // Notices.

    pub(super) fn notice(&self, notice: Notice) {
        lock(&self.notices).push(notice);
        self.noticed.notify_one();
    }

    /// Returns when a notice came since this was called last.
    pub(super) async fn noticed(&self) {
        self.noticed.notified().await;
    }

    pub(super) fn drain_notices(&self) -> Vec<Notice> {
        lock(&self.notices).drain()
    }

    /// Remembers a line of output that is not JSON; the first one goes into the start's error.
    pub(super) fn stray_output(&self, line: &str) {
        let text = self.shown(line, 200);
        self.stray.get_or_init(|| text.clone());
        self.trouble(UnexpectedMessage::Broken(format!(
            "a line that is not a message: `{text}`"
        )));
        self.notice(Notice::StrayOutput { text });
    }

    /// Remembers a message that is none, which begins like this, and may be why a call gets no answer.
    pub(super) fn broken_message(&self, beginning: &str, reason: &str) {
        self.trouble(UnexpectedMessage::Broken(reason.to_owned()));
        self.bad_message(beginning, reason);
    }

    /// Tells of a message that is none, which begins like this.
    pub(super) fn bad_message(&self, beginning: &str, reason: &str) {
        let end = beginning.floor_char_boundary(LONGEST_TEXT);
        self.notice(Notice::BadFrame {
            text: self.shown(&beginning[..end], 200),
            reason: reason.to_owned(),
        });
    }

    /// A message with what we can't hold replaced: half of a surrogate pair by U+FFFD, and an integer over 64 bits by the
    /// text of its digits. It is told of the first, and of a number that becomes another one.
    pub(super) fn mended<'a>(&self, message: &'a [u8]) -> Cow<'a, [u8]> {
        let (whole, warnings) = mended("a message", message);
        for warning in warnings {
            self.notice(Notice::Tolerated {
                code: warning.code,
                text: warning.message,
            });
        }
        whole
    }

    /// Remembers what may be why a call gets no answer. Only the last one counts.
    pub(super) fn trouble(&self, trouble: UnexpectedMessage) {
        *lock(&self.trouble) = Some((Stopwatch::start(), trouble));
    }

    /// What came last since `began` and was no answer.
    pub(super) fn trouble_since(&self, began: Stopwatch) -> Option<UnexpectedMessage> {
        let (noted, trouble) = lock(&self.trouble).clone()?;
        (noted.elapsed() <= began.elapsed()).then_some(trouble)
    }

    pub(super) fn first_stray_output(&self) -> Option<String> {
        self.stray.get().cloned()
    }

    pub(super) fn note_tools_changed(&self) {
        self.tools_changed.store(true, Ordering::Relaxed);
        self.notice(Notice::ToolsChanged);
    }

    /// Whether the list of tools changed since this was asked last.
    pub(super) fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::Relaxed)
    }

    /// The probe for the modern era was answered, but only after it had been given up.
    pub(super) fn note_late_discovery(&self) {
        self.late_discovery.store(true, Ordering::Relaxed);
    }

    pub(super) fn saw_late_discovery(&self) -> bool {
        self.late_discovery.load(Ordering::Relaxed)
    }

    // Malformed answers.

    /// Remembers what is wrong with an answer to the SDK; the first one goes into the start's error.
    pub(super) fn fault(&self, reason: String) {
        self.fault.get_or_init(|| reason);
    }

    /// What is wrong with the first malformed answer of the handshake.
    pub(super) fn first_fault(&self) -> Option<String> {
        self.fault.get().cloned()
    }

    // Standard error.

    pub(super) fn push_errors(&self, bytes: &[u8]) {
        lock(&self.errors).push(bytes);
    }

    /// A call begins now.
    pub(super) fn begin_call(&self) -> CallStart {
        CallStart {
            clock: Stopwatch::start(),
            n_errors: lock(&self.errors).n_bytes,
        }
    }

    /// The last lines of standard error, oldest first.
    pub(super) fn last_words(&self) -> Vec<String> {
        self.last_words_after(0)
    }

    /// The last lines since a call began. What a server said that ended before is what there is to say.
    pub(super) fn last_words_since(&self, call: CallStart) -> Vec<String> {
        let words = self.last_words_after(call.n_errors);
        match words.is_empty() && self.server_end().is_some() {
            true => self.last_words(),
            false => words,
        }
    }

    fn last_words_after(&self, n_bytes: u64) -> Vec<String> {
        let lines = lock(&self.errors).lines_after(n_bytes);
        let shown: Vec<String> = lines
            .iter()
            .rev()
            .map(|line| self.shown(line.trim_end(), LONGEST_LINE))
            .filter(|line| !line.is_empty())
            .take(LAST_LINES)
            .collect();
        shown.into_iter().rev().collect()
    }

    pub(super) fn end_errors(&self) {
        // That it has ended is known only once.
        let _ = self.errors_ended.set(());
    }

    /// Waits until standard error has been read to its end.
    pub(super) async fn errors_ended(&self) {
        self.errors_ended.wait().await;
    }

    // The end.

    /// Nothing more will be read. Only the first reason counts.
    pub(super) fn end_reading(&self, end: ReadEnd) {
        let _ = self.reading.set(end);
    }

    /// Whether nothing more will be read.
    pub(super) fn has_reading_ended(&self) -> bool {
        self.reading.initialized()
    }

    /// Waits until nothing more will be read.
    pub(super) async fn reading_ended(&self) -> ReadEnd {
        self.reading.wait().await.clone()
    }

    /// The server is no more. Only the first call counts.
    pub(super) fn end(&self, exit: Option<Exit>) {
        let (too_large, reason) = match self.reading.get() {
            Some(ReadEnd::TooLarge(bound)) => (Some(*bound), None),
            Some(ReadEnd::Broken(reason)) => (None, Some(self.shown(reason, LONGEST_TEXT))),
            _ => (None, None),
        };
        let _ = self.end.set(ServerEnd {
            exit,
            after: self.began.elapsed(),
            too_large,
            reason,
        });
    }

    /// Waits until the server is no more.
    pub(super) async fn ended(&self) -> ServerEnd {
        self.end.wait().await.clone()
    }

    /// How the server ended, which is waited for a moment: its connection breaks before its end is known.
    pub(super) async fn ended_soon(&self) -> Option<ErrorKind> {
        let end = tokio::time::timeout(SETTLE, self.end.wait()).await;
        end.ok().map(ServerEnd::kind)
    }

    /// The server's end, if it has come.
    pub(super) fn server_end(&self) -> Option<ServerEnd> {
        self.end.get().cloned()
    }
}

/// What a panic left behind is as good as before: nothing here is half done when it is unlocked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of a stream of bytes.
#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
    /// How many there were in all.
    n_bytes: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        let keep = &bytes[bytes.len().saturating_sub(TAIL)..];
        let excess = (self.bytes.len() + keep.len()).saturating_sub(TAIL);
        self.bytes.drain(..excess);
        self.bytes.extend(keep);
    }

    /// The lines after the first `n_bytes`; the first one is left out if its beginning is lost and others follow.
    fn lines_after(&mut self, n_bytes: u64) -> Vec<String> {
        let n_lost = self.n_bytes - self.bytes.len() as u64;
        let start = usize::try_from(n_bytes.saturating_sub(n_lost)).unwrap_or(usize::MAX);
        let bytes = self.bytes.make_contiguous();
        let text = String::from_utf8_lossy(&bytes[start.min(bytes.len())..]);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if n_bytes < n_lost && lines.len() > 1 {
            lines.remove(0);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_bounded_in_every_direction() {
        let link = Link::new(Mask::default());
        for n in 0..10_000 {
            link.push_errors(format!("line {n}\n\n").as_bytes());
        }
        link.push_errors("y".repeat(2_000).as_bytes());
        let words = link.last_words();
        assert_eq!(words.len(), LAST_LINES);
        assert_eq!(words[0], "line 9981");
        assert_eq!(words[LAST_LINES - 1].chars().count(), LONGEST_LINE);
        assert!(lock(&link.errors).bytes.len() <= TAIL);
    }

    #[test]
    fn the_last_words_of_a_call_are_those_since_it_began() {
        let link = Link::new(Mask::default());
        link.push_errors(b"listening\n");
        let call = link.begin_call();
        assert!(link.last_words_since(call).is_empty());
        link.push_errors(b"no such table\n");
        assert_eq!(link.last_words_since(call), ["no such table"]);
        let next = link.begin_call();
        assert!(link.last_words_since(next).is_empty());
        link.end(Some(Exit::Code(1)));
        assert_eq!(link.last_words_since(next), ["listening", "no such table"]);
    }

    #[test]
    fn one_endless_line_keeps_its_end_only() {
        let link = Link::new(Mask::default());
        link.push_errors(&vec![b'x'; 3 * TAIL]);
        link.push_errors(b"\xff");
        assert_eq!(link.last_words().len(), 1);
        assert_eq!(lock(&link.errors).bytes.len(), TAIL);
    }

    #[test]
    fn secrets_and_escapes_stay_out_of_the_last_words() {
        let mut mask = Mask::default();
        mask.add("s3cr3t-value", "API_KEY");
        let link = Link::new(mask);
        link.push_errors(b"\x1b[31mbad key s3cr3t-value\x1b[0m\r\n");
        assert_eq!(link.last_words(), ["bad key [API_KEY]"]);
    }

    #[tokio::test]
    async fn the_first_end_counts() {
        let link = Link::new(Mask::default());
        link.end_reading(ReadEnd::TooLarge(7));
        link.end_reading(ReadEnd::Closed);
        assert_eq!(link.reading_ended().await, ReadEnd::TooLarge(7));
        assert!(link.server_end().is_none());
        link.end(Some(Exit::Code(1)));
        link.end(None);
        let end = link.ended().await;
        assert_eq!((end.exit, end.too_large), (Some(Exit::Code(1)), Some(7)));
    }
}
