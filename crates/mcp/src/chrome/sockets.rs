//! Where the sockets of the extension are.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixStream;

use crate::error::{Advice, ErrorKind};
use crate::text::clean;
use crate::unix;

/// How long a socket may take to accept.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most files of the folder that are looked at.
const MOST_FILES: usize = 1_000;
/// How many of the sockets that did not accept are told.
const MOST_TOLD: usize = 5;

/// Connects to the first socket that accepts, in the order of their names.
pub(super) async fn connect(environment: &[(OsString, OsString)]) -> Result<UnixStream, ErrorKind> {
    let no_chrome = |why: &str| ErrorKind::Unusable {
        text: format!("cannot be reached: {}", clean(why)),
        help: Advice::Do(
            "start Chrome, with the extension Claude in Chrome installed and connected; or define `claude-in-chrome` in a config",
        ),
    };
    let Some(folder) = folder(environment) else {
        let why = "the variable `USER`, which names its folder, is not set";
        return Err(no_chrome(why));
    };
    let shown = folder.display().to_string();
    let mut refused = Vec::new();
    for socket in sockets(&folder) {
        let problem = match try_one(&socket).await {
            Ok(stream) => return Ok(stream),
            Err(problem) => problem,
        };
        if refused.len() < MOST_TOLD {
            let name = socket.file_name().unwrap_or_default().to_string_lossy();
            refused.push(format!("`{name}`: {problem}"));
        }
    }
    Err(no_chrome(&match refused.as_slice() {
        [] => format!("there is no socket in `{shown}`"),
        refused => format!(
            "no socket in `{shown}` accepts a connection ({})",
            refused.join("; ")
        ),
    }))
}

/// The folder of the sockets.
fn folder(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let variable = |name: &str| {
        environment
            .iter()
            .find(|(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.as_os_str())
    };
    let user = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| variable(name))?;
    let temp = ["TMPDIR", "TMP", "TEMP"]
        .iter()
        .find_map(|name| variable(name));
    let mut name = OsString::from("claude-mcp-browser-bridge-");
    name.push(user);
    Some(Path::new(temp.unwrap_or(OsStr::new("/tmp"))).join(name))
}

/// The sockets in `folder`, sorted. None if it can't be read, which mostly means that it isn't there.
fn sockets(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut sockets: Vec<PathBuf> = entries
        .take(MOST_FILES)
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("sock")))
        .collect();
    sockets.sort();
    sockets
}

async fn try_one(path: &Path) -> Result<UnixStream, String> {
    // Everybody may write into the temp folder, and what answers there gets what a scenario types.
    let us = rustix::process::geteuid().as_raw();
    let is_ours = |owner: u32| owner == us || owner == 0 || us == 0;
    if std::fs::metadata(path).is_ok_and(|metadata| !is_ours(metadata.uid())) {
        return Err("it is owned by another user".to_owned());
    }
    match tokio::time::timeout(PATIENCE, unix::connect(path)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err((why, _))) => Err(why),
        Err(_) => Err("it did not accept the connection within a second".to_owned()),
    }
}
