//! A browser for a command: what it is started with, and what is refused before.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_core::diagnostic::{Diagnostic, codes, find_code};
use cuecard_core::scenario::browser as scenario;
use cuecard_players::browser::session::{Program, Session};
use cuecard_players::browser::stage::{Failure, LiveStage, Values};
use cuecard_players::browser::storage_state::StorageFile;
use cuecard_players::runtime::policy::Policy;

use crate::args::BrowserFlags;

/// The longest that a call may be slowed down, in milliseconds.
const SLOWEST: u64 = 60_000;

/// What a browser is wanted for.
pub(super) struct Wanted<'a> {
    /// What was typed about it.
    pub flags: &'a BrowserFlags,
    /// What the scenario says about pages.
    pub options: &'a scenario::BrowserOptions,
    /// Values of variables and secrets.
    pub values: Values,
    /// What may be opened and read.
    pub policy: Policy,
    /// The folder that files are uploaded from.
    pub root: PathBuf,
    /// The folder of the run.
    pub run_dir: PathBuf,
}

/// What can be known to be wrong before a browser is started. `has_secrets` says whether something that is typed may
/// not be told.
pub(super) fn check(flags: &BrowserFlags, has_secrets: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(slow) = flags.slow_mo.filter(|slow| *slow > SLOWEST) {
        found.push(Diagnostic::error(
            codes::ARGUMENT,
            format!("`--slow-mo {slow}` is more than a minute for each call"),
        ));
    }
    if flags.playwright_trace && has_secrets {
        found.push(
            Diagnostic::error(
                codes::ARGUMENT,
                "Playwright's trace holds everything that is typed, and the scenario has secrets",
            )
            .with_help("leave out --playwright-trace; --video shows what happens, too"),
        );
    }
    found
}

/// The storage state that the scenario names.
///
/// # Errors
/// It can't be read, or is not in the scenario's folder.
pub(super) fn storage_state(
    options: &scenario::BrowserOptions,
    folder: &Path,
) -> Result<Option<StorageFile>, Diagnostic> {
    let Some(file) = &options.storage_state else {
        return Ok(None);
    };
    StorageFile::read(folder, file)
        .map(Some)
        .map_err(|message| Diagnostic::error(codes::BROWSER_OPTION, message))
}

/// Starts a browser as a stage.
///
/// # Errors
/// Why there is none.
pub(super) async fn start(
    wanted: Wanted<'_>,
    storage: Option<StorageFile>,
    environment: &[(OsString, OsString)],
    working_directory: &Path,
) -> Result<LiveStage, Diagnostic> {
    let flags = wanted.flags;
    let session = Session {
        program: Program {
            browser: flags.browser.clone(),
            devtools_address: flags.cdp.clone(),
            is_headed: flags.headed,
            slow_motion: flags.slow_mo.map(Duration::from_millis),
            page_root: flags.page_root.clone(),
            videos: flags.video.then(|| wanted.run_dir.join("videos")),
            playwright_trace: flags
                .playwright_trace
                .then(|| wanted.run_dir.join("playwright-trace.zip")),
        },
        environment,
        working_directory,
        options: wanted.options,
        storage,
        policy: Arc::new(wanted.policy),
        root: wanted.root,
        downloads: wanted.run_dir.join("downloads"),
        values: wanted.values,
    };
    session
        .start()
        .await
        .map_err(|failure| diagnostic(&failure))
}

/// A failure as everything else is told that goes wrong.
pub(super) fn diagnostic(failure: &Failure) -> Diagnostic {
    let code = find_code(&failure.code).unwrap_or(codes::BROWSER_UNAVAILABLE);
    let diagnostic = Diagnostic::error(code, failure.message.as_str());
    match &failure.help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}
