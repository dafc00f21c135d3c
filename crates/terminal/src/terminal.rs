//! A program in a terminal of its own: what it prints is drawn and recorded, what is typed reaches it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::process::{OwnedReadPty, OwnedWritePty, ProcessGroup, ProcessSpec, Size};
use cuecard_timeline::model::TerminalConfig;
use cuecard_timeline::model::keys::{Keystroke, text_bytes};
use cuecard_workspace::running::CommandEnd;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};

use crate::cast::Cast;
use crate::screen::Screen;

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// How long a program that has ended may still print.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long a screen that never stands still is waited for.
pub const MAX_SETTLE: Duration = Duration::from_secs(2);

/// A screen that several look at.
pub type SharedScreen = Arc<Mutex<Screen>>;

/// What reaches a program.
enum ToProgram {
    Bytes(Vec<u8>),
    /// So many columns and rows.
    Size(u16, u16),
}

/// A program in a terminal. It is killed with all that it started when this is dropped.
pub struct Terminal {
    group: ProcessGroup,
    typed: mpsc::UnboundedSender<ToProgram>,
    cast: Arc<Mutex<Cast>>,
    screen: SharedScreen,
    /// When the screen changed last.
    changed: watch::Receiver<Duration>,
    reading: tokio::task::JoinHandle<()>,
    clock: Clock,
    end: Option<CommandEnd>,
}

impl Terminal {
    /// Starts a program in a terminal like `config`. What it prints is recorded in `cast`.
    ///
    /// # Errors
    /// The operating system's: no such program, no terminal to be had.
    pub fn start(
        spec: &ProcessSpec,
        config: &TerminalConfig,
        clock: Clock,
        cast: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        let size = (config.width, config.height);
        let (group, pty) = ProcessGroup::spawn_in_terminal(spec, size)?;
        let (reader, writer) = pty.into_split();
        let screen = Arc::new(Mutex::new(Screen::new(config)));
        let (sender, changed) = watch::channel(clock.now());
        let (typed, to_type) = mpsc::unbounded_channel();
        let cast = Arc::new(Mutex::new(Cast::new(cast, size, clock)));
        let output_reader = OutputReader {
            reader,
            screen: screen.clone(),
            changed: sender,
            cast: cast.clone(),
            clock,
            replies: typed.clone(),
        };
        tokio::spawn(write(writer, to_type));
        Ok(Self {
            group,
            typed,
            cast,
            screen,
            changed,
            reading: tokio::spawn(output_reader.run()),
            clock,
            end: None,
        })
    }

    /// The screen, for who looks at it while the program runs.
    pub fn shared_screen(&self) -> SharedScreen {
        self.screen.clone()
    }

    /// The screen as it is now.
    pub fn screen(&self) -> MutexGuard<'_, Screen> {
        lock(&self.screen)
    }

    /// Types text as it stands.
    pub fn type_text(&self, text: &str) {
        let modes = self.screen().key_modes();
        self.send(text_bytes(text, modes));
    }

    /// Presses keys, and waits where they say so.
    pub async fn press(&self, keys: &[Keystroke]) {
        for key in keys {
            match key {
                Keystroke::Wait(ms) => {
                    let until = self.clock.now() + Duration::from_millis(*ms);
                    self.clock.sleep_until(until).await;
                }
                Keystroke::Resize(columns, rows) => {
                    lock(&self.cast).resized((*columns, *rows));
                    self.screen().resize((*columns, *rows));
                    let _ = self.typed.send(ToProgram::Size(*columns, *rows));
                }
                _ => {}
            }
            let modes = self.screen().key_modes();
            self.send(key.bytes(modes));
        }
    }

    fn send(&self, bytes: Vec<u8>) {
        // Who has ended reads no more.
        let _ = self.typed.send(ToProgram::Bytes(bytes));
    }

    /// Waits until the screen has been still for `still` from now on, at most [`MAX_SETTLE`]; whether it was.
    pub async fn settled(&self, still: Duration) -> bool {
        let began = self.clock.now();
        let until = began + MAX_SETTLE.max(still);
        loop {
            let calm = began.max(*self.changed.borrow()) + still;
            if calm <= self.clock.now() {
                return true;
            }
            if self.clock.now() >= until {
                return false;
            }
            self.clock.sleep_until(calm.min(until)).await;
            // What was printed meanwhile is drawn first.
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the program has drawn something, and then stood still; at most [`MAX_SETTLE`].
    pub async fn drawn(&self, still: Duration) {
        let mut changed = self.changed.clone();
        let first = tokio::time::timeout(MAX_SETTLE, changed.changed()).await;
        if matches!(first, Ok(Ok(()))) {
            self.settled(still).await;
        }
    }

    /// Tells of each change of the screen from now on: look at the screen after this.
    pub fn changes(&self) -> watch::Receiver<Duration> {
        let mut changes = self.changed.clone();
        changes.mark_unchanged();
        changes
    }

    /// How the program ended, if it has.
    pub fn end(&mut self) -> Option<CommandEnd> {
        if self.end.is_none() {
            self.end = self.group.try_wait().map(CommandEnd::from);
        }
        self.end
    }

    /// Waits until the program has ended, and all that it printed is drawn.
    pub async fn ended(&mut self) -> CommandEnd {
        let end = match self.end {
            Some(end) => end,
            None => match self.group.wait().await {
                Ok(status) => status.into(),
                Err(_) => CommandEnd::KILLED,
            },
        };
        self.end = Some(end);
        // What it left behind may keep the terminal open.
        if !self.reading.is_finished() {
            let _ = tokio::time::timeout(LAST_WORDS, &mut self.reading).await;
        }
        end
    }

    /// Ends the program if it still runs: its terminal is gone, and after `grace` it is killed. How it ended, and whether it
    /// had to be killed.
    pub async fn close(&mut self, grace: Duration) -> (CommandEnd, bool) {
        let mut is_killed = false;
        if self.end().is_none() {
            self.group.hang_up();
            is_killed = tokio::time::timeout(grace, self.ended()).await.is_err();
            if is_killed {
                self.group.signal_kill();
            }
        }
        (self.ended().await, is_killed)
    }
}

/// Draws and records what a program prints.
struct OutputReader {
    reader: OwnedReadPty,
    screen: SharedScreen,
    changed: watch::Sender<Duration>,
    cast: Arc<Mutex<Cast>>,
    clock: Clock,
    /// What the terminal answers to the program.
    replies: mpsc::UnboundedSender<ToProgram>,
}

impl OutputReader {
    async fn run(mut self) {
        let mut buffer = vec![0; CHUNK];
        // An error is the end too: that nobody has the terminal open any more.
        while let Ok(n @ 1..) = self.reader.read(&mut buffer).await {
            lock(&self.cast).output(&buffer[..n]);
            let replies = lock(&self.screen).print(&buffer[..n]);
            if !replies.is_empty() {
                let _ = self.replies.send(ToProgram::Bytes(replies));
            }
            self.changed.send_replace(self.clock.now());
        }
        lock(&self.cast).finish();
    }
}

async fn write(mut writer: OwnedWritePty, mut sent: mpsc::UnboundedReceiver<ToProgram>) {
    while let Some(sent) = sent.recv().await {
        match sent {
            ToProgram::Bytes(bytes) => {
                if writer.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            // Who has ended looks at nothing any more.
            ToProgram::Size(columns, rows) => drop(writer.resize(Size::new(rows, columns))),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
