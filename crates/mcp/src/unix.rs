//! Unix sockets.

use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::SocketAddr;
use std::path::Path;

use tokio::net::UnixStream;

use super::error::{SocketProblem, StartErrorKind};

/// The longest path of a socket, in bytes: a field of the operating system's, less the end of the text.
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Connects to the socket at `path`.
pub(super) async fn connect(path: &Path) -> Result<UnixStream, StartErrorKind> {
    check(path)?;
    UnixStream::connect(path).await.map_err(|error| {
        failure(
            path,
            match error.kind() {
                ErrorKind::NotFound => SocketProblem::Missing,
                ErrorKind::ConnectionRefused => SocketProblem::Refused,
                ErrorKind::PermissionDenied => SocketProblem::Denied,
                _ => SocketProblem::Other(error.to_string().to_lowercase()),
            },
        )
    })
}

/// Finds what can be told of a socket without connecting to it.
pub(super) fn check(path: &Path) -> Result<(), StartErrorKind> {
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        let longest = LONGEST_PATH;
        return Err(failure(path, SocketProblem::TooLong { length, longest }));
    }
    if SocketAddr::from_pathname(path).is_err() {
        let problem = SocketProblem::Other("its path contains a NUL byte".to_owned());
        return Err(failure(path, problem));
    }
    let problem = match std::fs::metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => return Ok(()),
        Ok(_) => SocketProblem::NotASocket,
        Err(error) => match error.kind() {
            ErrorKind::NotFound => SocketProblem::Missing,
            ErrorKind::PermissionDenied => SocketProblem::Denied,
            _ => SocketProblem::Other(error.to_string().to_lowercase()),
        },
    };
    Err(failure(path, problem))
}

fn failure(path: &Path, problem: SocketProblem) -> StartErrorKind {
    StartErrorKind::Socket {
        path: path.to_owned(),
        problem,
    }
}

#[cfg(test)]
mod tests;
