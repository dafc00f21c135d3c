//! Regular files opened without surprises, and files replaced as a whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, Gid, OFlags, Uid};
use rustix::io::Errno;
use tempfile::TempPath;

use super::missing_path::{blocking_part, missing_path_hint};
use cuecard_runtime::text_file::io_reason;

use super::{FOLDER, WorkspaceError, bytes_in_words};
use cuecard_runtime::text_file::folder_of;

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// The steps of a write that can fail half-way, apart so that tests can make them fail.
pub(super) trait Disk {
    /// One `write(2)`. May write less than all of `bytes`.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    /// Makes what was written to `file` durable.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Puts `from` in the place of `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Makes the names in `folder` durable, where the file system can do that.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let unable = |error: &io::Error| {
            matches!(
                Errno::from_io_error(error),
                Some(Errno::INVAL | Errno::NOTSUP | Errno::ACCESS | Errno::BADF)
            )
        };
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(error) if !unable(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// The disk as it is.
pub(super) struct RealDisk;

impl Disk for RealDisk {}

/// Opens a regular file for reading, and refuses everything else without blocking on it.
pub(super) fn open_for_reading(path: &Path) -> Result<(File, Metadata), WorkspaceError> {
    let failed = |source| io_failure(path, "read", source);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(never_block())
        .open(path)
        .map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    refuse_special(path, "read", &metadata)?;
    Ok((file, metadata))
}

/// The whole of a regular file, at most `limit` bytes.
pub(super) fn read_whole(
    path: &Path,
    limit: u64,
    hint: &'static str,
) -> Result<Vec<u8>, WorkspaceError> {
    let (file, metadata) = open_for_reading(path)?;
    if metadata.len() > limit {
        return Err(too_large(path, limit, hint));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read, and those of /proc have no length at all.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| io_failure(path, "read", source))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(path, limit, hint));
    }
    Ok(bytes)
}

/// A file is, or would become, larger than `limit`, in bytes.
pub(super) fn too_large(path: &Path, limit: u64, hint: &str) -> WorkspaceError {
    let (shown, limit) = (path.display(), bytes_in_words(limit));
    WorkspaceError::new(format!("`{shown}` is larger than the limit of {limit}")).with_help(hint)
}

/// What is at `path` is no regular file but `found`, such as `a named pipe`.
pub(super) fn not_a_file(path: &Path, action: &str, found: &str) -> WorkspaceError {
    let error = WorkspaceError::new(format!(
        "cannot {action} `{}`: it is {found}",
        path.display()
    ));
    match (action, found) {
        ("read", FOLDER) => error.with_help("list its files with `claude__glob`"),
        (_, FOLDER) => error.with_help("give the path of a file inside it"),
        _ => error,
    }
}

/// Flags for opening a path of unknown kind: a named pipe doesn't wait for its other end, a terminal
/// doesn't become ours.
pub(super) fn never_block() -> i32 {
    // The flags of `open` are small positive numbers on every system.
    i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default()
}

/// An error unless `metadata` is that of a regular file.
pub(super) fn refuse_special(
    path: &Path,
    action: &'static str,
    metadata: &Metadata,
) -> Result<(), WorkspaceError> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(not_a_file(path, action, kind_of(metadata)))
}

/// What something is, with its article.
pub(super) fn kind_of(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_file() {
        "a file"
    } else if kind.is_dir() {
        FOLDER
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// An I/O error about `path`, with a hint if it is missing, and with what stands in its way.
pub(super) fn io_failure(path: &Path, action: &str, source: io::Error) -> WorkspaceError {
    let shown = path.display();
    if source.kind() == io::ErrorKind::NotADirectory
        && let Some((part, found)) = blocking_part(path)
    {
        let part = part.display();
        let reason = format!("`{part}` is {found}, not a folder");
        return WorkspaceError::new(format!("cannot {action} `{shown}`: {reason}"))
            .with_help(format!("give another path, or rename `{part}`"));
    }
    let reason = io_reason(&source);
    let mut error = WorkspaceError::new(format!("cannot {action} `{shown}`: {reason}"));
    if source.kind() == io::ErrorKind::NotFound {
        error.help = missing_path_hint(path);
    }
    error
}

/// A path that is to be written, after following the symbolic links in its last part, so that a link keeps
/// pointing where it does. The file need not exist.
pub(super) fn target_of(path: &Path, action: &'static str) -> Result<PathBuf, WorkspaceError> {
    if path.as_os_str().as_bytes().ends_with(b"/") || path.file_name().is_none() {
        return Err(not_a_file(path, action, FOLDER));
    }
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_symlink() => {
                let link =
                    fs::read_link(&target).map_err(|source| io_failure(path, action, source))?;
                target = folder_of(&target).join(link);
            }
            Ok(_) => return Ok(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(source) => return Err(io_failure(path, action, source)),
        }
    }
    Err(io_failure(path, action, Errno::LOOP.into()))
}

/// Creates `folder` and what is missing above it, durably.
pub(super) fn create_folders(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    for ancestor in folder.ancestors() {
        if ancestor.as_os_str().is_empty() {
            break;
        }
        match fs::metadata(ancestor) {
            Ok(metadata) if metadata.is_dir() => break,
            Ok(_) => return Err(Errno::NOTDIR.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(ancestor),
            Err(error) => return Err(error),
        }
    }
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => disk.sync_folder(folder_of(folder))?,
            // Another process was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes `content` to `path` as a whole: see [`Replacement`].
pub(super) fn replace(disk: &dyn Disk, path: &Path, content: &[u8]) -> Result<(), WorkspaceError> {
    let mut replacement = Replacement::begin(disk, path)?;
    replacement
        .write_all(content)
        .map_err(|source| io_failure(path, "write", source))?;
    replacement.commit()
}

/// New content for a file, written beside it and then put in its place. Dropped without
/// [`Replacement::commit`] it leaves the file as it was. The file's mode is kept, its owner where we may;
/// a hard link to it keeps the old content. A process killed in between leaves one hidden `.cuecard-*.tmp`.
pub(super) struct Replacement<'a> {
    disk: &'a dyn Disk,
    path: &'a Path,
    target: PathBuf,
    file: File,
    temporary: TempPath,
}

impl<'a> Replacement<'a> {
    /// Starts to replace `path`, which need not exist; missing folders are created.
    pub(super) fn begin(disk: &'a dyn Disk, path: &'a Path) -> Result<Self, WorkspaceError> {
        let failed = |source| io_failure(path, "write", source);
        let target = target_of(path, "write")?;
        let existing = match fs::symlink_metadata(&target) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(failed(source)),
        };
        if let Some(metadata) = &existing {
            refuse_special(path, "write", metadata)?;
            // A rename would replace a write-protected file without asking.
            rustix::fs::access(&target, Access::WRITE_OK).map_err(|errno| failed(errno.into()))?;
        }
        let folder = folder_of(&target);
        create_folders(disk, folder).map_err(failed)?;
        let (file, temporary) = tempfile::Builder::new()
            .prefix(".cuecard-")
            .suffix(".tmp")
            // What the umask leaves of it, as for any new file.
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(|source| {
                failed(source).with_help(format!(
                    "a new file must be created in `{}` first, then renamed",
                    folder.display()
                ))
            })?
            .into_parts();
        if let Some(metadata) = existing {
            keep_owner_and_mode(&file, &metadata).map_err(failed)?;
        }
        Ok(Self {
            disk,
            path,
            target,
            file,
            temporary,
        })
    }

    /// Makes the new content durable and puts it in place.
    pub(super) fn commit(self) -> Result<(), WorkspaceError> {
        let failed = |source| io_failure(self.path, "write", source);
        self.disk.sync(&self.file).map_err(failed)?;
        self.disk
            .rename(&self.temporary, &self.target)
            .map_err(failed)?;
        // The temporary name is gone; there is nothing left to clean up.
        let _ = self.temporary.keep();
        self.disk
            .sync_folder(folder_of(&self.target))
            .map_err(|source| io_failure(self.path, "flush the folder of", source))
    }
}

impl Write for Replacement<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(&mut self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn keep_owner_and_mode(file: &File, existing: &Metadata) -> io::Result<()> {
    let ours = file.metadata()?;
    let same_owner = (ours.uid(), ours.gid()) == (existing.uid(), existing.gid())
        || rustix::fs::fchown(
            file,
            Some(Uid::from_raw(existing.uid())),
            Some(Gid::from_raw(existing.gid())),
        )
        .is_ok();
    // A set-user-id bit must not move to another user's file.
    let kept = if same_owner { 0o7777 } else { 0o777 };
    file.set_permissions(fs::Permissions::from_mode(existing.mode() & kept))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::cell::Cell;

    /// A disk that fails at one of its steps, and doesn't wait for the device.
    #[derive(Default)]
    pub(crate) struct FaultyDisk {
        /// Bytes that still fit; then a write is cut short, and the next one finds the disk full.
        pub(crate) room: Cell<Option<usize>>,
        pub(crate) sync_fails: bool,
        pub(crate) rename_fails: bool,
        /// How often `write` was called.
        pub(crate) writes: Cell<usize>,
    }

    impl Disk for FaultyDisk {
        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
            self.writes.set(self.writes.get() + 1);
            let fits = match self.room.get() {
                Some(0) if !bytes.is_empty() => return Err(Errno::NOSPC.into()),
                Some(room) => room.min(bytes.len()),
                None => bytes.len(),
            };
            let written = file.write(&bytes[..fits])?;
            self.room.set(self.room.get().map(|room| room - written));
            Ok(written)
        }

        fn sync(&self, _: &File) -> io::Result<()> {
            if self.sync_fails {
                Err(Errno::IO.into())
            } else {
                Ok(())
            }
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            if self.rename_fails {
                Err(Errno::IO.into())
            } else {
                fs::rename(from, to)
            }
        }

        fn sync_folder(&self, _: &Path) -> io::Result<()> {
            Ok(())
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_failure_at_any_step_leaves_the_old_content_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let full = FaultyDisk {
            room: Cell::new(Some(2)),
            ..FaultyDisk::default()
        };
        let no_sync = FaultyDisk {
            sync_fails: true,
            ..FaultyDisk::default()
        };
        let no_rename = FaultyDisk {
            rename_fails: true,
            ..FaultyDisk::default()
        };
        for disk in [full, no_sync, no_rename] {
            replace(&disk, &path, b"newer").unwrap_err();
            assert_eq!(fs::read(&path).unwrap(), b"old");
            assert_eq!(names(folder.path()), ["file"]);
        }
        replace(&FaultyDisk::default(), &path, b"newer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn the_mode_is_kept_and_links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o750)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("second", &link).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("second")).unwrap();
        replace(&RealDisk, &link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o750);
    }

    #[test]
    fn a_dangling_link_gets_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("a/new", &link).unwrap();
        replace(&RealDisk, &link, b"new").unwrap();
        assert_eq!(fs::read(folder.path().join("a/new")).unwrap(), b"new");
    }

    #[test]
    fn links_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("link", &link).unwrap();
        let error = replace(&RealDisk, &link, b"").unwrap_err();
        assert!(error.to_string().ends_with("symbolic links"), "{error}");
    }

    #[test]
    fn special_files_and_folders_are_refused_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let error = open_for_reading(&pipe).unwrap_err();
        assert!(error.to_string().ends_with("it is a named pipe"), "{error}");
        let error = replace(&RealDisk, &pipe, b"").unwrap_err();
        assert!(error.to_string().ends_with("it is a named pipe"), "{error}");
        let error = replace(&RealDisk, Path::new("/dev/null"), b"").unwrap_err();
        assert!(error.to_string().ends_with("it is a device"), "{error}");
        let error = replace(&RealDisk, folder.path(), b"").unwrap_err();
        assert!(error.to_string().ends_with("it is a folder"), "{error}");
        let slash = PathBuf::from(format!("{}/new/", folder.path().display()));
        let error = replace(&RealDisk, &slash, b"").unwrap_err();
        assert!(error.to_string().ends_with("it is a folder"), "{error}");
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_named_in_words() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let error = replace(&RealDisk, &folder.path().join("file/below"), b"").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot write `{0}/file/below`: `{0}/file` is a file, not a folder",
                folder.path().display()
            )
        );
        let error = open_for_reading(&folder.path().join("file/a/b")).unwrap_err();
        assert!(error.help().unwrap().contains("/file`"), "{error}");
    }
}
