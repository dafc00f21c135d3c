//! A file that grows at its end: opened under a lock, repaired, and extended by one write that is taken
//! back if it fails.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Take};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::disk::{Disk, create_folders, io_failure, never_block, refuse_special, target_of};
use crate::text::Encoding;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::value::cut;

use crate::WorkspaceError;
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
    encoding: Encoding,
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
            lock(path, &file)?;
            // Whoever had the lock may have put another file in its place.
            let metadata = file.metadata().map_err(failed)?;
            let is_same = fs::metadata(&target)
                .is_ok_and(|now| (now.dev(), now.ino()) == (metadata.dev(), metadata.ino()));
            if !is_same {
                continue;
            }
            let mut growing = Self {
                disk,
                path,
                target,
                file,
                created,
                length: metadata.len(),
                encoding: Encoding::Utf8,
                warnings: Vec::new(),
            };
            let mut start = [0; 3];
            let start = &mut start[..metadata.len().min(3) as usize];
            growing.read_at(start, 0)?;
            growing.encoding = Encoding::of(start);
            if growing.encoding.utf16().is_some() {
                return Err(is_utf16(path));
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

    /// The bytes that the file begins with to say its encoding.
    pub(super) fn mark(&self) -> &'static [u8] {
        self.encoding.mark()
    }

    /// Reads the file from its start, behind its mark.
    pub(super) fn reader(&self) -> io::Result<BufReader<Take<&File>>> {
        let n_mark = self.mark().len() as u64;
        (&self.file).seek(SeekFrom::Start(n_mark))?;
        let rest = (&self.file).take(self.length - n_mark);
        Ok(BufReader::with_capacity(64 << 10, rest))
    }

    /// The path as it was asked for.
    pub(super) fn path(&self) -> &'a Path {
        self.path
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
            cut(&printable(&start), SHOWN_CHARS)
        ));
        self.length = length;
        Ok(())
    }

    /// Writes `records` behind the valid part and makes them durable; returns the warnings. A failure takes
    /// everything back.
    pub(super) fn write(mut self, records: &[u8]) -> Result<Vec<String>, WorkspaceError> {
        if let Err(source) = self.cut_torn_end() {
            return Err(self.failure(&source, true));
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
            return Err(self.failure(&source, undone));
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

    fn failure(&self, source: &io::Error, undone: bool) -> WorkspaceError {
        let mut message = match undone {
            true => "nothing was appended: ".to_owned(),
            false => "part of the records may be at the end of the file: ".to_owned(),
        };
        message.push_str(&io_reason(source));
        for warning in &self.warnings {
            message.push_str(&format!(" (before that, {warning})"));
        }
        WorkspaceError::new(message).at(self.path)
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

/// Records are UTF-8, and the file is not.
pub(super) fn is_utf16(path: &Path) -> WorkspaceError {
    WorkspaceError::new("the file is UTF-16, and records are appended as UTF-8")
        .with_help("convert the file to UTF-8 first, for example with `iconv`")
        .at(path)
}

/// Takes an advisory lock. File systems without locks are used without.
#[allow(
    clippy::disallowed_methods,
    reason = "a lock that another process holds can only be asked for again: waiting for it has no bound"
)]
pub(super) fn lock(path: &Path, file: &File) -> Result<(), WorkspaceError> {
    for _ in 0..LOCK_ATTEMPTS {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::INTR) => {}
            _ => return Ok(()),
        }
    }
    Err(WorkspaceError::new("another process keeps the file locked").at(path))
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
