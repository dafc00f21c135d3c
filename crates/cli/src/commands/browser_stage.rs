//! A browser for a command: what it is started with, and what is refused before.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_browser::session::{Program, Session};
use cuecard_browser::stage::{Failure, LiveStage, Values};
use cuecard_browser::storage_state::StorageFile;
use cuecard_browser_steps::model as scenario;
use cuecard_runtime::policy::Policy;
use cuecard_source::diagnostic::{Diagnostic, codes, find_code};

use crate::args::BrowserFlags;
use crate::output::{Output, stderr_line};

/// The longest that a call may be slowed down, in milliseconds.
const SLOWEST: u64 = 60_000;

/// What the run directory calls the folder of videos.
const VIDEOS: &str = "videos";
/// What it calls Playwright's own trace.
const PLAYWRIGHT_TRACE: &str = "playwright-trace.zip";

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
            format!("`--slow-mo {slow}` is more than one minute per operation"),
        ));
    }
    if let Some(address) = &flags.cdp
        && !["http://", "https://", "ws://", "wss://"]
            .iter()
            .any(|scheme| address.starts_with(scheme))
    {
        found.push(
            Diagnostic::error(
                codes::ARGUMENT,
                format!("`--cdp {address}` is not a valid DevTools URL"),
            )
            .with_help(
                "start a browser with --remote-debugging-port=9222, and pass --cdp http://127.0.0.1:9222",
            ),
        );
    }
    if flags.playwright_trace && has_secrets {
        found.push(
            Diagnostic::error(
                codes::ARGUMENT,
                "a Playwright trace contains everything that is typed, and the scenario has secrets",
            )
            .with_help("remove --playwright-trace, or use --video instead"),
        );
    }
    found
}

/// What was typed about a browser where none is started: `why`.
pub(super) fn unused(flags: &BrowserFlags, why: &str) -> Vec<Diagnostic> {
    let typed = [
        ("--browser", flags.browser.is_some()),
        ("--cdp", flags.cdp.is_some()),
        ("--headed", flags.headed),
        ("--slow-mo", flags.slow_mo.is_some()),
        ("--video", flags.video),
        ("--playwright-trace", flags.playwright_trace),
        ("--page-root", flags.page_root.is_some()),
    ];
    typed
        .into_iter()
        .filter(|(_, is_typed)| *is_typed)
        .map(|(flag, _)| {
            Diagnostic::error(
                codes::ARGUMENT,
                format!("`{flag}` needs a browser, and {why}"),
            )
        })
        .collect()
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
            videos: flags.video.then(|| wanted.run_dir.join(VIDEOS)),
            playwright_trace: flags
                .playwright_trace
                .then(|| wanted.run_dir.join(PLAYWRIGHT_TRACE)),
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

/// Says where a browser that has ended left what it was to record. `shown` is what people call `run_dir`.
pub(super) fn tell_recorded(flags: &BrowserFlags, run_dir: &Path, shown: &Path, output: &Output) {
    let wanted = [
        (flags.video, "video", VIDEOS),
        (flags.playwright_trace, "Playwright trace", PLAYWRIGHT_TRACE),
    ];
    for (_, what, name) in wanted.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
        if is_filled(&run_dir.join(name)) {
            let path = shown.join(name);
            let line = format!("{what}: {}", path.display());
            stderr_line(&output.stderr.faint(&line));
            continue;
        }
        let found = Diagnostic::warning(
            codes::FILE_WRITE,
            format!("the {what} was not written: the browser exited first"),
        );
        output.diagnostic(&found);
    }
}

/// Whether there is a folder with something in it, or a file.
fn is_filled(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.is_file(),
    }
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
