//! The file of a journal. Records are written before the run goes on; a thread brings them to the disk, many at once, so
//! that no step waits for it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use super::run_dir::{JOURNAL, RunDir};

/// The first record that waits for the disk waits so long for others.
const GROUP: Duration = Duration::from_millis(10);

/// A journal that is written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// Records that are not written.
    buffer: Vec<u8>,
    /// The length with them, without what the file began with.
    length: u64,
    shared: Arc<Shared>,
    committed: watch::Receiver<u64>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    written: u64,
    committed: u64,
    /// Whether somebody waits.
    is_urgent: bool,
    is_over: bool,
    error: Option<io::Error>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'s>(
        &self,
        state: MutexGuard<'s, State>,
        is_waiting: impl Fn(&mut State) -> bool,
    ) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_while(state, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings what is written to the disk, until the journal is closed.
    fn commit_all(&self, file: &File, committed: &watch::Sender<u64>) {
        loop {
            let idle = |state: &mut State| state.written == state.committed && !state.is_over;
            let state = self.wait_while(self.state(), idle);
            let is_patient = |state: &mut State| !state.is_urgent && !state.is_over;
            let waited = self.changed.wait_timeout_while(state, GROUP, is_patient);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.written == state.committed {
                if state.is_over {
                    return;
                }
                continue;
            }
            let written = state.written;
            state.is_urgent = false;
            drop(state);
            let synced = file.sync_data();
            let mut state = self.state();
            match synced {
                Ok(()) => {
                    state.committed = written;
                    committed.send_replace(written);
                }
                Err(error) => state.error = Some(error),
            }
            self.changed.notify_all();
            if state.error.is_some() {
                return;
            }
        }
    }
}

impl Journal {
    /// Creates the journal of a run, which begins with what `begin` writes. It is there with all of that, or not at all.
    ///
    /// # Errors
    /// The operating system's, here and in the other methods.
    pub fn create(
        dir: &RunDir,
        begin: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let part = Path::new("journal.part");
        let mut file = dir.create_file(part)?;
        begin(&mut file)?;
        fs::rename(dir.path().join(part), dir.path().join(JOURNAL))?;
        let shared = Arc::new(Shared::default());
        let (sender, committed) = watch::channel(0);
        let (commits, synced) = (shared.clone(), file.try_clone()?);
        let thread = std::thread::Builder::new().name("cuecard-journal".to_owned());
        Ok(Self {
            thread: Some(thread.spawn(move || commits.commit_all(&synced, &sender))?),
            file,
            buffer: Vec::new(),
            length: 0,
            shared,
            committed,
        })
    }

    /// Takes a record, to be written with [`Self::write`].
    pub fn append(&mut self, record: &impl Serialize) {
        let before = self.buffer.len();
        // Records have texts as their keys, so that they can be serialized into memory.
        let _ = serde_json::to_writer(&mut self.buffer, record);
        self.buffer.push(b'\n');
        self.length += (self.buffer.len() - before) as u64;
    }

    /// The length with all records, written or not.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// How much of the length is on the disk.
    pub fn committed(&self) -> watch::Receiver<u64> {
        self.committed.clone()
    }

    /// Writes all records: a crash of the program does not lose them. The disk has them soon.
    pub fn write(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        let mut state = self.shared.state();
        state.written = self.length;
        self.shared.changed.notify_all();
        state.error.take().map_or(Ok(()), Err)
    }

    /// Writes all records, and waits until the disk has them: a crash of the machine does not lose them.
    pub fn commit(&mut self) -> io::Result<()> {
        self.write()?;
        let mut state = self.shared.state();
        state.is_urgent = true;
        self.shared.changed.notify_all();
        let is_waiting =
            |state: &mut State| state.committed < state.written && state.error.is_none();
        let mut state = self.shared.wait_while(state, is_waiting);
        state.error.take().map_or(Ok(()), Err)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic there has been told.
            let _ = thread.join();
        }
    }
}
