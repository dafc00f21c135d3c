//! The three programs that a browser session needs: Node, Playwright's driver, a browser.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::{BrowserError, BrowserErrorKind};
use super::install::installed_folder;
use crate::runtime::browsers;
use crate::runtime::programs::{Programs, Thing, may_run};

/// The version of `playwright-core` that goes with this release.
pub(crate) const DRIVER: &str = "1.64.0";

/// Where each program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserTools {
    /// Node itself.
    pub node: PathBuf,
    /// The folder of `playwright-core`.
    pub driver: PathBuf,
    /// Chrome or Chromium. Not needed for a browser that runs already.
    pub browser: Option<PathBuf>,
    /// The environment that children may inherit from.
    pub environment: Vec<(OsString, OsString)>,
}

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub struct Looked<'a> {
    /// The environment, a snapshot.
    pub environment: &'a [(OsString, OsString)],
    /// The working directory; absolute.
    pub working_directory: &'a Path,
    /// The browser that the user named.
    pub browser: Option<&'a Path>,
    /// Whether a browser is needed: not when one runs already.
    pub needs_browser: bool,
}

impl BrowserTools {
    /// Finds the programs.
    ///
    /// # Errors
    /// When one is missing: what was looked for and where, and the command that brings it.
    pub fn find(looked: &Looked<'_>) -> Result<Self, BrowserError> {
        let programs = Programs {
            environment: looked.environment,
        };
        let missing =
            |message: String| BrowserError::new(BrowserErrorKind::Unavailable, message);
        let node = programs.find("node").ok_or_else(|| {
            missing("no `node` in PATH, which the driver for browsers runs on".to_owned())
                .help(programs.install(Thing::Node))
        })?;
        let installed = installed_folder(looked.environment);
        let driver = find_driver(looked.working_directory, &node, installed.as_deref());
        let driver = driver.ok_or_else(|| {
            let place = installed.map_or_else(String::new, |folder| {
                format!(", nor in `{}`", folder.display())
            });
            missing(format!(
                "no `playwright-core` in the project's `node_modules` or beside node{place}"
            ))
            .help("cuecard browser install")
        })?;
        let browser = match looked.browser {
            Some(browser) if may_run(browser) => Some(browser.to_owned()),
            Some(browser) => {
                return Err(missing(format!(
                    "the browser `{}` is no program that can be run",
                    browser.display()
                )));
            }
            None if !looked.needs_browser => None,
            None => Some(browsers::find(&programs).ok_or_else(|| {
                missing(
                    "no Chrome or Chromium in PATH or where Playwright downloads them".to_owned(),
                )
                .help(programs.install(Thing::Browser))
            })?),
        };
        Ok(Self {
            node,
            driver,
            browser,
            environment: looked.environment.to_vec(),
        })
    }

    /// The script of the driver that Node runs.
    pub(super) fn script(&self) -> PathBuf {
        self.driver.join("cli.js")
    }
}

/// The folder of the driver: the pinned one that was installed for us, else one of the project or beside Node.
fn find_driver(
    working_directory: &Path,
    node: &Path,
    installed: Option<&Path>,
) -> Option<PathBuf> {
    let ours = installed.map(|folder| folder.join("node_modules/playwright-core"));
    ours.filter(|folder| folder.join("cli.js").is_file())
        .or_else(|| browsers::driver(working_directory, Some(node)).map(|(folder, _)| folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_command_that_brings_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let looked = Looked {
            environment: &[],
            working_directory: folder.path(),
            browser: None,
            needs_browser: true,
        };
        let error = BrowserTools::find(&looked).expect_err("there is nothing");
        assert_eq!(error.kind, BrowserErrorKind::Unavailable);
        assert!(error.message.contains("`node`"), "{error}");
        assert!(error.help.is_some());
    }

    #[test]
    fn the_installed_driver_comes_before_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |path: &str| {
            let package = folder.path().join(path).join("node_modules/playwright-core");
            std::fs::create_dir_all(&package).expect("it can be made");
            for (name, text) in [("cli.js", ""), ("package.json", r#"{"version": "1.64.0"}"#)] {
                std::fs::write(package.join(name), text).expect("it can be written");
            }
            package
        };
        let (project, installed) = (folder.path().join("project"), folder.path().join("data"));
        let node = folder.path().join("bin/node");
        let found = |installed| find_driver(&project, &node, installed);
        assert_eq!(found(Some(installed.as_path())), None);
        let own = put("project");
        assert_eq!(found(Some(installed.as_path())), Some(own));
        let ours = put("data");
        assert_eq!(found(Some(installed.as_path())), Some(ours));
    }
}
