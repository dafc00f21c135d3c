//! A browser for the steps of one file: its programs, what the file's options say, and the values of its variables.

mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_browser_steps::model as file;

pub use super::options::Program;
pub use values::{Bound, Missing, bind};

#[cfg(feature = "browser")]
use super::BrowserBridge;
use super::failure::no_display;
#[cfg(feature = "browser")]
use super::stage::StageSettings;
use super::stage::{Failure, LiveStage, Values};
use super::storage_state::StorageFile;
use super::{BrowserOptions, BrowserTools, CaptureOptions, Looked};
use cuecard_runtime::browsers::Mode;
use cuecard_runtime::policy::Policy;
#[cfg(not(feature = "browser"))]
use cuecard_source::diagnostic::codes::BROWSER_UNAVAILABLE;

/// A folder for what nobody keeps, such as downloads on the way to somewhere. It goes with its owner.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Makes the folder.
    ///
    /// # Errors
    /// The operating system's.
    pub fn new() -> std::io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("cuecard-scratch-")
            .tempdir()?;
        Ok(Self(folder))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// What a browser is started for.
#[derive(Debug, Clone)]
pub struct Session<'a> {
    /// What the user says about the browser itself.
    pub program: Program,
    /// The environment, a snapshot.
    pub environment: &'a [(OsString, OsString)],
    /// The working directory; absolute.
    pub working_directory: &'a Path,
    /// The file's options.
    pub options: &'a file::BrowserOptions,
    /// Cookies and local storage to begin with.
    pub storage: Option<StorageFile>,
    /// What may be opened and read.
    pub policy: Arc<Policy>,
    /// The folder that files are uploaded from.
    pub root: PathBuf,
    /// Where downloads are written.
    pub downloads: PathBuf,
    /// Values of variables and secrets.
    pub values: Values,
}

impl Session<'_> {
    /// Starts the browser. Its caller stops it.
    ///
    /// # Errors
    /// When a program is missing or doesn't start: what was looked for, and the command that brings it.
    #[cfg(feature = "browser")]
    pub async fn start(self) -> Result<LiveStage, Failure> {
        let program = &self.program;
        if program.is_headed && !has_display(self.environment) {
            return Err(no_display("neither DISPLAY nor WAYLAND_DISPLAY is set"));
        }
        let tools = BrowserTools::find(&Looked {
            environment: self.environment,
            working_directory: self.working_directory,
            browser: program.browser.as_deref(),
            mode: match (&program.devtools_address, program.is_headed) {
                (Some(_), _) => None,
                (None, true) => Some(Mode::Headed),
                (None, false) => Some(Mode::Headless),
            },
        })?;
        let mut options = BrowserOptions::new(tools, self.downloads);
        options.page = self.options.clone();
        options.policy = Some(Arc::clone(&self.policy));
        options.program = self.program;
        let mut values = self.values;
        if let Some(storage) = self.storage {
            for secret in &storage.secrets {
                values.hide(secret);
            }
            options.storage_state = Some(storage.json);
        }
        let bridge = BrowserBridge::start(&options).await?;
        let settings = StageSettings {
            values,
            policy: self.policy,
            root: self.root,
            capture: CaptureOptions {
                test_id_attribute: self.options.test_id_attribute.clone(),
                root: options.program.page_root,
            },
        };
        Ok(LiveStage::new(bridge, settings))
    }

    /// Says that there is no browser.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "browser"))]
    pub async fn start(self) -> Result<LiveStage, Failure> {
        let message = "this build of cuecard has no browser support";
        let failure = Failure::of_browser(BROWSER_UNAVAILABLE, message);
        Err(failure
            .help("use a release, or build it with its default features: cargo build --release"))
    }
}

/// Whether a window could be shown. Only systems with the X Window System or Wayland say so in the environment.
fn has_display(environment: &[(OsString, OsString)]) -> bool {
    let is_display = |name: &OsString| {
        ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|known| name == known)
    };
    let is_told = environment
        .iter()
        .any(|(name, value)| is_display(name) && !value.is_empty());
    is_told || cfg!(not(any(target_os = "linux", target_os = "freebsd")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_a_display() {
        let with = |name: &str, value: &str| vec![(OsString::from(name), OsString::from(value))];
        assert!(has_display(&with("DISPLAY", ":99")));
        assert!(has_display(&with("WAYLAND_DISPLAY", "wayland-0")));
        if cfg!(target_os = "linux") {
            assert!(!has_display(&with("DISPLAY", "")));
            assert!(!has_display(&with("HOME", "/")));
        }
    }
}
