//! Programs in `PATH`, and the line that installs one.

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

    /// The line that installs `thing`, with the package manager of this machine.
    pub fn install(&self, thing: Thing) -> &'static str {
        let row = INSTALL.iter().find(|row| row.thing == thing);
        let Some(row) = row else { return "" };
        let manager = MANAGERS.iter().position(|name| self.find(name).is_some());
        match manager.map(|idx| row.lines[idx]) {
            Some(line) if !line.is_empty() => line,
            _ => row.otherwise,
        }
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

/// The package managers, the first of which on a machine counts.
const MANAGERS: [&str; 6] = ["brew", "apt-get", "dnf", "pacman", "apk", "zypper"];

struct Install {
    thing: Thing,
    /// A line for each of the managers; empty if it has no such package.
    lines: [&'static str; MANAGERS.len()],
    otherwise: &'static str,
}

const UV: &str = "curl -LsSf https://astral.sh/uv/install.sh | sh";
const DOCKER: &str = "see https://docs.docker.com/get-docker";

const INSTALL: &[Install] = &[
    Install {
        thing: Thing::Node,
        lines: [
            "brew install node",
            "apt-get install nodejs npm",
            "dnf install nodejs",
            "pacman -S nodejs npm",
            "apk add nodejs npm",
            "zypper install nodejs",
        ],
        otherwise: "see https://nodejs.org/en/download",
    },
    Install {
        thing: Thing::Browser,
        lines: [
            "brew install --cask google-chrome",
            "apt-get install chromium",
            "dnf install chromium",
            "pacman -S chromium",
            "apk add chromium",
            "zypper install chromium",
        ],
        otherwise: "see https://www.google.com/chrome",
    },
    Install {
        thing: Thing::Uv,
        lines: [
            "brew install uv",
            "",
            "dnf install uv",
            "pacman -S uv",
            "apk add uv",
            "",
        ],
        otherwise: UV,
    },
    Install {
        thing: Thing::Python,
        lines: [
            "brew install python",
            "apt-get install python3",
            "dnf install python3",
            "pacman -S python",
            "apk add python3",
            "zypper install python3",
        ],
        otherwise: "see https://www.python.org/downloads",
    },
    Install {
        thing: Thing::Docker,
        lines: [""; MANAGERS.len()],
        otherwise: DOCKER,
    },
    Install {
        thing: Thing::Bun,
        lines: [""; MANAGERS.len()],
        otherwise: "npm install -g bun",
    },
    Install {
        thing: Thing::Deno,
        lines: [
            "brew install deno",
            "",
            "",
            "pacman -S deno",
            "apk add deno",
            "",
        ],
        otherwise: "npm install -g deno",
    },
];

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

    #[test]
    fn the_package_manager_of_the_machine_says_how_to_install() {
        let line = |manager: &[&str], thing| {
            let folder = folder_with(manager);
            let environment = [("PATH".into(), folder.path().into())];
            let programs = Programs {
                environment: &environment,
            };
            programs.install(thing)
        };
        assert_eq!(
            line(&["apt-get"], Thing::Browser),
            "apt-get install chromium"
        );
        assert_eq!(line(&["brew", "apt-get"], Thing::Node), "brew install node");
        assert_eq!(line(&["apt-get"], Thing::Uv), UV);
        assert_eq!(line(&[], Thing::Docker), DOCKER);
    }
}
