//! Unix sockets.

use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::SocketAddr;
use std::path::Path;

use tokio::net::UnixStream;

use super::error::{Advice, ErrorKind};
use super::text::clean;

/// The longest path of a socket, in bytes: a field of the operating system's, less the end of the text.
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Why a socket can't be used, as a fragment that follows its path, and what to do about it.
pub(super) type NoSocket = (String, Advice);

/// Connects to the socket at `path`.
pub(super) async fn connect(path: &Path) -> Result<UnixStream, NoSocket> {
    check(path)?;
    UnixStream::connect(path)
        .await
        .map_err(|error| failure(&error))
}

/// Finds what can be told of a socket without connecting to it.
pub(super) fn check(path: &Path) -> Result<(), NoSocket> {
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        let help =
            "let the server create its socket in a directory with a shorter path, such as /tmp";
        let why = format!("its path has {length} bytes, and sockets are limited to {LONGEST_PATH}");
        return Err((why, Advice::Do(help)));
    }
    if SocketAddr::from_pathname(path).is_err() {
        let why = "its path contains a NUL byte".to_owned();
        return Err((why, Advice::Correct("url")));
    }
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => Ok(()),
        Ok(_) => Err(("it is not a socket".to_owned(), Advice::Correct("url"))),
        Err(error) => Err(failure(&error)),
    }
}

/// The same, of the server that is behind it.
pub(super) fn unreachable(path: &Path, (why, help): NoSocket) -> ErrorKind {
    let path = clean(&path.display().to_string());
    let text = format!("cannot be reached: socket `{path}`: {why}");
    ErrorKind::Unusable { text, help }
}

fn failure(error: &std::io::Error) -> NoSocket {
    let (why, help) = match error.kind() {
        io::ErrorKind::NotFound => (
            "there is no such file",
            "is the server running? it creates the socket; otherwise correct the path",
        ),
        io::ErrorKind::ConnectionRefused => (
            "nothing is listening on it",
            "restart the server: the socket is left over from one that has exited",
        ),
        io::ErrorKind::PermissionDenied => (
            "permission denied",
            "run as its owner, or change its permissions",
        ),
        _ => return (error.to_string().to_lowercase(), Advice::Correct("url")),
    };
    (why.to_owned(), Advice::Do(help))
}

#[cfg(test)]
mod tests;
