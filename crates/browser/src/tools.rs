//! The three programs that a browser session needs: Node, Playwright's driver, a browser.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use cuecard_runtime::browsers::{self, Mode, installed_folder};
use cuecard_runtime::programs::{Programs, Thing, may_run};
use cuecard_source::diagnostic::codes;

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
    /// How it is to run; nothing when one runs already.
    pub mode: Option<Mode>,
}

impl BrowserTools {
    /// Finds the programs.
    ///
    /// # Errors
    /// When one is missing: what was looked for and where, and the command that brings it.
    pub fn find(looked: &Looked<'_>) -> Result<Self, Failure> {
        let programs = Programs {
            environment: looked.environment,
        };
        let missing = |message: String| Failure::of_browser(codes::BROWSER_UNAVAILABLE, message);
        let node = programs.find("node").ok_or_else(|| {
            missing("`node`, which runs the browser driver, not found in PATH".to_owned())
                .help(Thing::Node.install())
        })?;
        let driver = browsers::driver(looked.environment, looked.working_directory, Some(&node));
        let (driver, _) = driver.ok_or_else(|| {
            let place = installed_folder(looked.environment).map_or_else(String::new, |folder| {
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
                    "the browser `{}` is not an executable program",
                    browser.display()
                )));
            }
            None => match looked.mode {
                None => None,
                Some(mode) => Some(browsers::find(&programs, mode).ok_or_else(|| {
                    missing(
                        "Chrome or Chromium not found in PATH or in Playwright's download directory"
                            .to_owned(),
                    )
                    .help(Thing::Browser.install())
                })?),
            },
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
            mode: Some(Mode::Headless),
        };
        let error = BrowserTools::find(&looked).expect_err("there is nothing");
        assert!(error.is(codes::BROWSER_UNAVAILABLE), "{error}");
        assert!(error.message.contains("`node`"), "{error}");
        assert!(error.help.is_some());
    }
}
