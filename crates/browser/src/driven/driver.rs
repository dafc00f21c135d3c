//! Playwright's driver: a Node process of ours, and the connection to it over its pipes.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use playwright_rs::protocol::Playwright;
use playwright_rs::server::connection::{Connection, ConnectionExt as _, ConnectionLike};
use playwright_rs::server::transport::PipeTransport;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::events::{BrowserEvents, ConnectionFailure};
use crate::failure::Failure;
use crate::tools::BrowserTools;
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use cuecard_source::diagnostic::codes;

/// How long the driver may take to close its browsers and end.
const GRACE: Duration = Duration::from_secs(5);
/// How long it may take to start.
const START: Duration = Duration::from_secs(30);

/// Variables of the environment that only a browser needs.
const PASSED_ON: &[&str] = &["XAUTHORITY", "PLAYWRIGHT_BROWSERS_PATH"];

/// A running driver. When it is dropped the driver is killed, and the browser loses the pipe it lives on.
pub(super) struct Driver {
    pub(super) playwright: Playwright,
    connection: Arc<Connection>,
    stop: Option<oneshot::Sender<()>>,
    keeper: JoinHandle<()>,
    process: i32,
    /// Where the driver and the browser put what is theirs alone; it goes with them.
    _folder: tempfile::TempDir,
}

impl Driver {
    /// Starts the driver and speaks with it. When it ends by itself, `happenings` hears of it.
    pub(super) async fn start(
        tools: &BrowserTools,
        happenings: &Arc<BrowserEvents>,
    ) -> Result<Self, Failure> {
        let failed = |message: String| {
            Failure::of_browser(codes::BROWSER_UNAVAILABLE, message).help("cuecard browser install")
        };
        let folder = tempfile::Builder::new()
            .prefix("cuecard-browser-")
            .tempdir()
            .map_err(|error| failed(format!("failed to create a temporary directory: {error}")))?;
        let spec = ProcessSpec {
            program: tools.node.clone().into(),
            args: vec![tools.script().into(), "run-driver".into()],
            env: variables(tools, folder.path()),
            ..ProcessSpec::default()
        };
        let mut group = ProcessGroup::spawn(&spec, &tools.environment).map_err(|error| {
            failed(format!(
                "failed to start `{}`: {error}",
                tools.node.display()
            ))
        })?;
        let (Some(stdin), Some(stdout)) = (group.stdin.take(), group.stdout.take()) else {
            return Err(failed("the driver has no pipes".to_owned()));
        };
        if let Some(mut stderr) = group.stderr.take() {
            tokio::spawn(async move {
                // Its notes are for its makers; unread they would stop it.
                let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
            });
        }
        let (transport, messages) = PipeTransport::new(stdin, stdout);
        let (sender, receiver) = transport.into_parts();
        let connection = Arc::new(Connection::new(sender, receiver, messages));
        let running = Arc::clone(&connection);
        tokio::spawn(async move { running.run().await });
        let process = group.id();
        let (stop, stopped) = oneshot::channel();
        let keeper = tokio::spawn(keep(group, stopped, Arc::clone(happenings)));
        let playwright = tokio::select! {
            greeted = greet(&connection) => greeted.map_err(|error| {
                failed(format!("Playwright's driver does not respond: {}", super::failure::first_line(&error.to_string())))
            }),
            trouble = happenings.trouble() => Err(failed(format!("Playwright's driver exited immediately: {trouble}"))),
            () = tokio::time::sleep(START) => Err(failed(format!(
                "Playwright's driver did not respond within {} s",
                START.as_secs()
            ))),
        }?;
        Ok(Self {
            playwright,
            connection,
            stop: Some(stop),
            keeper,
            process,
            _folder: folder,
        })
    }

    /// Its process id.
    pub(super) fn process(&self) -> i32 {
        self.process
    }

    /// Ends the driver, which closes its browsers first.
    pub(super) async fn stop(mut self) {
        self.connection.close_writer();
        if let Some(stop) = self.stop.take() {
            // It ended already when nobody listens.
            let _ = stop.send(());
        }
        // Its panic would be a defect of ours, and is printed.
        let _ = (&mut self.keeper).await;
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// What the driver and the browser are told beside what every child is: where to put what is theirs, where the driver
/// has its own programs, and who may open a window on the display.
fn variables(tools: &BrowserTools, folder: &Path) -> Vec<(OsString, OsString)> {
    let passed_on = |name: &&(OsString, OsString)| PASSED_ON.iter().any(|known| name.0 == *known);
    let mut variables = vec![
        ("PW_LANG_NAME".into(), "rust".into()),
        ("TMPDIR".into(), folder.into()),
    ];
    variables.extend(tools.environment.iter().filter(passed_on).cloned());
    variables
}

async fn greet(connection: &Arc<Connection>) -> playwright_rs::Result<Playwright> {
    let root = connection.initialize_playwright().await?;
    let guid = root.guid().to_owned();
    connection.get_typed::<Playwright>(&guid).await
}

/// Holds the process: tells when it ends by itself, and ends it when it is to.
async fn keep(
    mut group: ProcessGroup,
    stopped: oneshot::Receiver<()>,
    happenings: Arc<BrowserEvents>,
) {
    tokio::select! {
        _ = group.wait() => happenings.report(ConnectionFailure::Lost("the browser driver exited".to_owned())),
        _ = stopped => {
            group.shut_down(GRACE).await;
        }
    }
}
