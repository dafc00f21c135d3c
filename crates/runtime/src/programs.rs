//! Programs in `PATH`, and how one is installed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The environment as far as programs go.
#[derive(Debug, Clone, Copy)]
pub struct Programs<'a> {
    /// The variables.
    pub environment: &'a [(OsString, OsString)],
}

impl Programs<'_> {
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// The first file of this name in `PATH` that may be run.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        path.as_bytes()
            .split(|byte| *byte == b':')
            .map(|folder| Path::new(OsStr::from_bytes(folder)))
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|file| may_run(file))
    }
}

/// Whether a file may be started.
pub fn may_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// What can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// Node.js with npm.
    Node,
    /// A Chromium or Chrome.
    Browser,
    /// uv, which runs Python servers.
    Uv,
    /// Python 3.
    Python,
    /// Docker.
    Docker,
    /// Bun.
    Bun,
    /// Deno.
    Deno,
}

impl Thing {
    /// How it is installed.
    pub fn install(self) -> &'static str {
        match self {
            Self::Node => "install the package `nodejs`, or see https://nodejs.org/en/download",
            Self::Browser => "install the package `chromium`, or see https://www.google.com/chrome",
            Self::Uv => "curl -LsSf https://astral.sh/uv/install.sh | sh",
            Self::Python => {
                "install the package `python3`, or see https://www.python.org/downloads"
            }
            Self::Docker => "see https://docs.docker.com/get-docker",
            Self::Bun => "npm install -g bun",
            Self::Deno => "npm install -g deno",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(names: &[&str]) -> tempfile::TempDir {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            let file = folder.path().join(name);
            std::fs::write(&file, "").expect("it can be written");
            let mode = if name.ends_with(".txt") { 0o644 } else { 0o755 };
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode))
                .expect("it can be set");
        }
        folder
    }

    #[test]
    fn what_may_run_is_found_in_path() {
        let first = folder_with(&["a.txt"]);
        let second = folder_with(&["a.txt", "b"]);
        let path = format!("x:{}:{}", first.path().display(), second.path().display());
        let environment = [("PATH".into(), path.into())];
        let programs = Programs {
            environment: &environment,
        };
        assert_eq!(programs.find("b"), Some(second.path().join("b")));
        assert_eq!(programs.find("a.txt"), None);
        assert_eq!(Programs { environment: &[] }.find("b"), None);
    }
}
