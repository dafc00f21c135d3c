//! Puts the pinned `playwright-core` into the user's data folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use crate::failure::Failure;
use cuecard_runtime::browsers::{self, DRIVER, Mode, installed_folder};
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use cuecard_runtime::programs::{Programs, Thing};
use cuecard_source::diagnostic::codes;

/// How long npm may take.
const TIMEOUT: Duration = Duration::from_secs(300);
/// How much of what npm says is read, in bytes.
const MOST: u64 = 64 * 1024;

/// What an installation found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The folder of `playwright-core`.
    pub driver: PathBuf,
    /// Whether it was there already.
    pub was_there: bool,
    /// The browser of this machine.
    pub browser: Option<PathBuf>,
    /// The line that installs a browser, when there is none.
    pub browser_help: Option<String>,
}

/// Installs `playwright-core` with npm, unless the right version is there, and looks for a browser.
///
/// # Errors
/// When there is no npm or no home, or npm fails: its last words.
pub async fn install(environment: &[(OsString, OsString)]) -> Result<Installed, Failure> {
    let programs = Programs { environment };
    let failed = |message: String| Failure::of_browser(codes::BROWSER_UNAVAILABLE, message);
    let folder = installed_folder(environment)
        .ok_or_else(|| failed("no data directory: HOME is not set".to_owned()))?;
    let browser = browsers::find(&programs, Mode::Headless);
    let browser_help = browser
        .is_none()
        .then(|| Thing::Browser.install().to_owned());
    let driver = folder.join("node_modules/playwright-core");
    let found = Installed {
        driver,
        was_there: true,
        browser,
        browser_help,
    };
    if browsers::version_of_driver(&found.driver).as_deref() == Some(DRIVER) {
        return Ok(found);
    }
    let npm = programs.find("npm").ok_or_else(|| {
        failed("`npm`, which installs the browser driver, not found in PATH".to_owned())
            .help(Thing::Node.install())
    })?;
    std::fs::create_dir_all(&folder).map_err(|error| {
        failed(format!(
            "failed to create the folder `{}`: {error}",
            folder.display()
        ))
    })?;
    run_npm(&npm, &folder, environment).await?;
    if browsers::version_of_driver(&found.driver).as_deref() != Some(DRIVER) {
        return Err(failed(format!(
            "npm succeeded, but playwright-core {DRIVER} is not in `{}`",
            folder.display()
        )));
    }
    Ok(Installed {
        was_there: false,
        ..found
    })
}

async fn run_npm(
    npm: &Path,
    folder: &Path,
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    let failed = |message: String| {
        Failure::of_browser(codes::BROWSER_UNAVAILABLE, message)
            .help(format!("npm install -g playwright-core@{DRIVER}"))
    };
    let mut args: Vec<OsString> = vec!["install".into(), "--prefix".into(), folder.into()];
    let flags = [
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--no-save",
        "--loglevel=error",
    ];
    args.extend(flags.map(OsString::from));
    args.push(format!("playwright-core@{DRIVER}").into());
    let spec = ProcessSpec {
        program: npm.into(),
        args,
        cwd: Some(folder.to_owned()),
        ..ProcessSpec::default()
    };
    let mut group = ProcessGroup::spawn(&spec, environment)
        .map_err(|error| failed(format!("failed to start `npm`: {error}")))?;
    let (stdout, stderr) = (group.stdout.take(), group.stderr.take());
    let work = async {
        let drained = async {
            if let Some(mut stdout) = stdout {
                // What it prints when all is well is of no use.
                let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
            }
        };
        let mut said = Vec::new();
        let told = async {
            if let Some(stderr) = stderr {
                // What was read until then is told.
                let _ = stderr.take(MOST).read_to_end(&mut said).await;
            }
        };
        let ((), (), status) = futures::join!(drained, told, group.wait());
        (status, said)
    };
    let Ok((status, said)) = tokio::time::timeout(TIMEOUT, work).await else {
        return Err(failed(format!(
            "npm timed out after {} s",
            TIMEOUT.as_secs()
        )));
    };
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => {
            let said = String::from_utf8_lossy(&said);
            let last: Vec<&str> = said
                .lines()
                .filter(|line| !line.trim().is_empty())
                .collect();
            let last = last[last.len().saturating_sub(3)..].join("\n");
            Err(failed(format!("npm install failed: {last}")))
        }
    }
}
