//! A file that grows at its end: opened under a lock, repaired, and extended by one write that is taken
//! back if it fails.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::{AppendProblem, LARGEST_RECORD, refused};
use crate::disk::{Disk, create_folders, io_failure, never_block, refuse_special, target_of};
use crate::text::Encoding;
use crate::{WorkspaceError, shortened};
use cuecard_runtime::text_file::folder_of;

/// How often the lock is asked for, and how long is waited in between: 30 s together.
const LOCK_ATTEMPTS: u32 = 3000;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
/// How often a file may be replaced under our hands before we give up.
const REOPENED: u32 = 1000;
/// Characters of a torn record that a warning shows.
const SHOWN_CHARS: usize = 200;

/// A file at whose end records are written. The lock ends when it is dropped.
pub(super) struct Growing<'a> {
    disk: &'a dyn Disk,
    path: &'a Path,
    target: PathBuf,
    file: File,
    /// Whether the file did not exist before.
    created: bool,
    /// The length that is valid; what stands behind it is torn.
    length: u64,
    /// What was repaired so far.
    pub(super) warnings: Vec<String>,
}

impl<'a> Growing<'a> {
    /// Opens `path`, creates it if it is missing, and locks it against other appends.
    pub(super) fn open(disk: &'a dyn Disk, path: &'a Path) -> Result<Self, WorkspaceError> {
        let failed = |source| io_failure(path, "append to", source);
        let target = target_of(path, "append to")?;
        create_folders(disk, folder_of(&target)).map_err(failed)?;
        for _ in 0..REOPENED {
            let (file, created) = open_or_create(&target).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            refuse_special(path, "append to", &metadata)?;
            lock(&file).map_err(|()| refused(path, AppendProblem::Locked))?;
            // Whoever had the lock may have put another file in its place.
            let metadata = file.metadata().map_err(failed)?;
            let is_same = fs::metadata(&target)
                .is_ok_and(|now| (now.dev(), now.ino()) == (metadata.dev(), metadata.ino()));
            if !is_same {
                continue;
            }
            let growing = Self {
                disk,
                path,
                target,
                file,
                created,
                length: metadata.len(),
                warnings: Vec::new(),
            };
            let mut start = [0; 2];
            growing.read_at(&mut start[..metadata.len().min(2) as usize], 0)?;
            if Encoding::of(&start).is_utf16() {
                return Err(refused(path, AppendProblem::Utf16));
            }
            return Ok(growing);
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// The length without what is torn, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` with what stands at `offset`.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), WorkspaceError> {
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|source| io_failure(self.path, "read", source))
    }

    /// The open file, for reading it from its start.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The path as it was asked for.
    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// The disk that is written to.
    pub(super) fn disk(&self) -> &'a dyn Disk {
        self.disk
    }

    /// Gives up what stands behind `length`, with a warning that shows it. The file itself is cut with the
    /// next write.
    pub(super) fn give_up_behind(&mut self, length: u64) -> Result<(), WorkspaceError> {
        let size = self.length - length;
        // Enough bytes for the characters that are shown, of up to four bytes each.
        let mut start = vec![0; size.min(4 * (SHOWN_CHARS as u64 + 1)) as usize];
        self.read_at(&mut start, length)?;
        self.warnings.push(format!(
            "a torn record was removed from the end of `{}` ({}): {}",
            self.path.display(),
            crate::bytes_in_words(size),
            shortened(&printable(&start), SHOWN_CHARS)
        ));
        self.length = length;
        Ok(())
    }

    /// Writes `records` behind the valid part and makes them durable; returns the warnings. A failure takes
    /// everything back.
    pub(super) fn write(mut self, records: &[u8]) -> Result<Vec<String>, WorkspaceError> {
        if let Err(source) = self.cut_torn_end() {
            return Err(self.failure(source, true));
        }
        let mut written = 0;
        let mut result = Ok(());
        // One write, as long as the disk takes it whole.
        while result.is_ok() && written < records.len() {
            match self.disk.write(&mut self.file, &records[written..]) {
                Ok(0) => result = Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => result = Err(error),
            }
        }
        if let Err(source) = result.and_then(|()| self.disk.sync(&self.file)) {
            let undone = self.take_back(written).is_ok();
            return Err(self.failure(source, undone));
        }
        if self.length == 0 {
            // The name of a new file must be as durable as its content.
            self.disk
                .sync_folder(folder_of(&self.target))
                .map_err(|source| io_failure(self.path, "flush the folder of", source))?;
        }
        Ok(std::mem::take(&mut self.warnings))
    }

    fn cut_torn_end(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.length {
            self.file.set_len(self.length)?;
        }
        Ok(())
    }

    /// Cuts off what this process has just written, unless somebody else wrote behind it.
    fn take_back(&self, written: usize) -> io::Result<()> {
        if self.file.metadata()?.len() > self.length + written as u64 {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        self.file.set_len(self.length)
    }

    fn failure(mut self, source: io::Error, undone: bool) -> WorkspaceError {
        refused(
            self.path,
            AppendProblem::Failed {
                source,
                undone,
                warnings: std::mem::take(&mut self.warnings),
            },
        )
    }
}

impl Drop for Growing<'_> {
    /// A file that was created for records which then were not written goes again, still under the lock.
    fn drop(&mut self) {
        if self.created
            && self
                .file
                .metadata()
                .is_ok_and(|metadata| metadata.len() == 0)
        {
            // There is nobody left to tell, and an empty file does no harm.
            let _ = fs::remove_file(&self.target);
        }
    }
}

/// Text on one line, without what a terminal would obey.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

/// An error if one record is larger than a torn one may be.
pub(super) fn check_size(path: &Path, record: usize) -> Result<(), WorkspaceError> {
    match record {
        0..=LARGEST_RECORD => Ok(()),
        _ => Err(refused(path, AppendProblem::RecordTooLarge)),
    }
}

/// Takes an advisory lock. File systems without locks are used without.
#[allow(
    clippy::disallowed_methods,
    reason = "a lock that another process holds can only be asked for again: waiting for it has no bound"
)]
pub(super) fn lock(file: &File) -> Result<(), ()> {
    for _ in 0..LOCK_ATTEMPTS {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::INTR) => {}
            _ => return Ok(()),
        }
    }
    Err(())
}

/// The file and whether it is new.
fn open_or_create(target: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).custom_flags(never_block());
    for _ in 0..REOPENED {
        match options.open(target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(|file| (file, false)),
        }
        match options.clone().create_new(true).open(target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|file| (file, true)),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}
