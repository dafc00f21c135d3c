//! The way to the real peers: servers and browsers that the test command installs.
//!
//! `CUECARD_TEST_PEERS` names the folder they stand in. Without it, or with `0`, tests that need a peer are left
//! out and say so on standard error, past the capture of the test runner. With it, a missing peer is a failure.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cuecard_browser::{BrowserTools, Looked, Mode};

/// The variable that names the folder of the peers.
pub const VARIABLE: &str = "CUECARD_TEST_PEERS";

/// The folder of the peers, or nothing when this run leaves them out.
pub fn folder() -> Option<PathBuf> {
    setting(env::var_os(VARIABLE).as_deref())
}

/// The full path of a file below the folder of the peers, for example
/// `npm/node_modules/.bin/mcp-server-everything` or `venv/bin/python`.
///
/// Nothing when this run leaves peers out, which is said on standard error: the test returns.
///
/// # Panics
/// When peers are expected and the file is not there.
#[track_caller]
pub fn require(relative: &str) -> Option<PathBuf> {
    let Some(folder) = folder() else {
        say_left_out(relative);
        return None;
    };
    match find(&folder, relative) {
        Ok(path) => Some(path),
        Err(message) => panic!("{message}"),
    }
}

/// The same of a peer that not every machine can have: nothing too when it is not there.
pub fn optional(relative: &str) -> Option<PathBuf> {
    let found = folder().and_then(|folder| find(&folder, relative).ok());
    if found.is_none() {
        say_left_out(relative);
    }
    found
}

/// The full path of an installed program such as `chromium`, looked up in `PATH`.
///
/// Nothing when this run leaves peers out, which is said on standard error: the test returns.
///
/// # Panics
/// When peers are expected and there is no such program.
#[track_caller]
pub fn require_program(name: &str) -> Option<PathBuf> {
    if folder().is_none() {
        say_left_out(name);
        return None;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file());
    match found {
        Some(program) => Some(program),
        None => panic!(
            "{VARIABLE} is set, but `{name}` is not in PATH: run `./test`, which installs it"
        ),
    }
}

/// The programs that drive a browser on this machine, with the driver among the peers.
///
/// Nothing when this run leaves peers out, which is said on standard error: the test returns.
///
/// # Panics
/// When peers are expected and Node, a browser or the driver is not there.
#[track_caller]
pub fn browser_tools() -> Option<BrowserTools> {
    let driver = require("npm/node_modules/playwright-core")?;
    let environment: Vec<(OsString, OsString)> = env::vars_os()
        .filter(|(name, _)| name == "PATH" || name == "HOME")
        .collect();
    let looked = Looked {
        environment: &environment,
        working_directory: driver.parent().and_then(Path::parent)?,
        browser: None,
        mode: Some(Mode::Headless),
    };
    let mut tools = match BrowserTools::find(&looked) {
        Ok(tools) => tools,
        Err(error) => panic!("{VARIABLE} is set, but a browser can't be driven: {error}"),
    };
    tools.driver = driver;
    Some(tools)
}

/// Says on standard error that something is left out because this run has no peers.
pub fn say_left_out(what: &str) {
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    // Not `eprintln!`: the test runner would keep that for failures.
    let _ = writeln!(
        std::io::stderr(),
        "left out: {test} ({what} is a real peer, and there is none below {VARIABLE})"
    );
}

/// The full path of `relative` below `folder`.
///
/// # Errors
/// A sentence for the reader of the test, when it is not there.
pub(crate) fn find(folder: &Path, relative: &str) -> Result<PathBuf, String> {
    let path = folder.join(relative);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!(
            "{VARIABLE} is set, but `{}` is missing: run `./test`, which installs it",
            path.display()
        ))
    }
}

fn setting(value: Option<&OsStr>) -> Option<PathBuf> {
    value
        .filter(|value| !value.is_empty() && *value != "0")
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_zero_leave_peers_out() {
        assert_eq!(setting(None), None);
        assert_eq!(setting(Some(OsStr::new(""))), None);
        assert_eq!(setting(Some(OsStr::new("0"))), None);
        assert_eq!(setting(Some(OsStr::new("/p"))), Some(PathBuf::from("/p")));
    }

    #[test]
    fn a_missing_peer_is_an_error_that_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let message = find(folder.path(), "npm/x").expect_err("it is not there");
        assert!(
            message.contains("npm/x` is missing: run `./test`"),
            "{message}"
        );
        std::fs::write(folder.path().join("y"), "").expect("writable");
        assert_eq!(find(folder.path(), "y"), Ok(folder.path().join("y")));
    }
}
