//! The bridge to a browser: it starts and ends it, navigates, captures, and knows its tabs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_page::dom::TabInfo;
use playwright_rs::api::{ConnectOverCdpOptions, LaunchOptions};
use playwright_rs::protocol::{
    Browser, BrowserContext, BrowserContextOptions, GotoOptions, Page, RecordVideo, Response,
    StorageState, TracingStartOptions, TracingStopOptions, Viewport, WaitUntil,
};
use playwright_rs::server::channel_owner::ChannelOwner as _;

use super::devtools::{ExecutionContext, engine};
use super::driver::Driver;
use super::events::{BrowserEvents, ConnectionFailure};
use super::failure::first_line;
use super::walk::{self, Known};
use crate::address::Guard;
use crate::address::{ENGINE, ElementAddress};
use crate::failure::{Failure, no_display};
use crate::options::BrowserOptions;
use crate::shapes::{CaptureOptions, Download, Loaded, Navigation};
use cuecard_browser_steps::model::Dialog;
use cuecard_runtime::policy::Refusal;
use cuecard_source::diagnostic::codes;

/// How much longer than its own limit a call to the driver may take.
const SLACK: Duration = Duration::from_secs(2);
/// How long calls take that wait for nothing in the page.
pub(super) const PROMPT: Duration = Duration::from_secs(30);

/// A browser with one context, and the tabs in it.
pub struct BrowserBridge {
    driver: Driver,
    browser: Browser,
    context: BrowserContext,
    happenings: Arc<BrowserEvents>,
    known: HashMap<String, Known>,
    /// How many elements were held, so that each has a key of its own.
    pub(super) n_held: u64,
    /// What the next action is guarded by.
    pub(super) guard: Option<Guard>,
    /// Whether an action is guarded.
    pub(super) is_guarded: bool,
    /// Whether the browser is ours to close.
    is_ours: bool,
    playwright_trace: Option<PathBuf>,
    has_videos: bool,
}

impl std::fmt::Debug for BrowserBridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrowserBridge").finish_non_exhaustive()
    }
}

impl BrowserBridge {
    /// Starts a browser with an empty page.
    ///
    /// # Errors
    /// When the driver or the browser doesn't start; then nothing is left running.
    pub async fn start(options: &BrowserOptions) -> Result<Self, Failure> {
        let policy = options.policy.clone();
        let happenings = BrowserEvents::new(options.page.on_dialog, &options.downloads, policy);
        let driver = Driver::start(&options.tools, &happenings).await?;
        let opened = tokio::select! {
            biased;
            trouble = happenings.trouble() => Err(gone(&trouble)),
            opened = open(&driver, options, &happenings) => opened,
        };
        let (browser, context) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                driver.stop().await;
                return Err(error);
            }
        };
        let is_ours = options.program.devtools_address.is_none();
        Ok(Self {
            driver,
            browser,
            context,
            happenings,
            known: HashMap::new(),
            n_held: 0,
            guard: None,
            is_guarded: false,
            is_ours,
            playwright_trace: options.program.playwright_trace.clone(),
            has_videos: options.program.videos.is_some(),
        })
    }

    /// Closes the browser and ends the driver.
    pub async fn stop(self) {
        let close = async {
            if let Some(path) = &self.playwright_trace {
                save_trace(&self.context, path).await;
            }
            // What can't be closed ends with the driver. A video is written when its context closes.
            if self.has_videos || !self.is_ours {
                let closed = tokio::time::timeout(PROMPT / 3, self.context.close()).await;
                drop(closed);
            }
            if self.is_ours {
                self.browser.close().await.ok();
            }
        };
        let _ = tokio::time::timeout(PROMPT, async {
            tokio::select! {
                _ = self.happenings.trouble() => {}
                () = close => {}
            }
        })
        .await;
        self.driver.stop().await;
    }

    /// Goes somewhere and waits until the page is loaded, for at most `limit`. Gives the HTTP status, if there is one.
    ///
    /// # Errors
    /// `navigation_failed` with the network's error or the status, `timeout`.
    pub async fn navigate(
        &mut self,
        to: &Navigation,
        limit: Duration,
    ) -> Result<Option<u16>, Failure> {
        self.navigate_until(to, Loaded::Everything, limit).await
    }

    /// The same, until so much is loaded.
    ///
    /// # Errors
    /// As [`BrowserBridge::navigate`].
    pub async fn navigate_until(
        &mut self,
        to: &Navigation,
        loaded: Loaded,
        limit: Duration,
    ) -> Result<Option<u16>, Failure> {
        self.happenings.begin();
        let page = self.page()?;
        let options = GotoOptions::new().timeout(limit).wait_until(match loaded {
            Loaded::Everything => WaitUntil::Load,
            Loaded::Document => WaitUntil::DomContentLoaded,
        });
        let (call, answer) = match to {
            Navigation::To(url) => {
                let go = || self.guarded("goto", limit, page.goto(url, options.clone()));
                let answer = match go().await {
                    Err(error) if is_cut_off_by_error_page(&error) => go().await,
                    answer => answer,
                };
                ("goto", answer)
            }
            Navigation::Back => (
                "goBack",
                self.guarded("goBack", limit, page.go_back(options)).await,
            ),
            Navigation::Forward => (
                "goForward",
                self.guarded("goForward", limit, page.go_forward(options))
                    .await,
            ),
            Navigation::Reload => (
                "reload",
                self.guarded("reload", limit, page.reload(options)).await,
            ),
        };
        let response = answer.map_err(|error| navigation_error(error, to, limit))?;
        status_of(response.as_ref(), to, call)
    }

    /// Captures the state of the current tab: one JSON text, as `cuecard_page::dom::DomProcessor` reads it.
    ///
    /// # Errors
    /// `page_too_large` names the largest part of the page; else the page or the browser is gone.
    pub async fn capture(&mut self, options: &CaptureOptions) -> Result<String, Failure> {
        let page = self.page()?;
        let tabs = match self.tab_count() {
            1 => Vec::new(),
            _ => self.tabs().await,
        };
        let happenings = Arc::clone(&self.happenings);
        let happened = happenings.seen().happened.clone();
        let known = self.known.entry(page.guid().to_owned()).or_default();
        tokio::select! {
            biased;
            trouble = happenings.trouble() => Err(gone(&trouble)),
            captured = walk::capture(&self.context, &page, known, options, (&tabs, &happened)) => captured,
        }
    }

    fn tab_count(&self) -> usize {
        self.happenings.seen().tabs.len()
    }

    /// The tabs that are open.
    pub async fn tabs(&self) -> Vec<TabInfo> {
        let (pages, current) = {
            let seen = self.happenings.seen();
            (seen.tabs.clone(), seen.current)
        };
        let mut tabs = Vec::with_capacity(pages.len());
        for (idx, page) in pages.iter().enumerate() {
            let title = tokio::time::timeout(SLACK, page.title()).await;
            tabs.push(TabInfo {
                page_index: idx,
                url: page.url(),
                // A tab that doesn't answer has none that could be told.
                title: title.ok().and_then(Result::ok).unwrap_or_default(),
                current: idx == current,
            });
        }
        tabs
    }

    /// The place of the current tab, from 0.
    pub fn current_tab(&self) -> usize {
        self.happenings.seen().current
    }

    /// The title of the current tab's page; empty if it doesn't tell.
    pub async fn title(&self) -> String {
        let Ok(page) = self.page() else {
            return String::new();
        };
        let title = tokio::time::timeout(SLACK, page.title()).await;
        title.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// What an expression of JavaScript gives in the page's own world, as JSON: for tests, which change pages.
    ///
    /// # Errors
    /// When the page is gone, or the expression throws.
    pub async fn evaluate(&mut self, expression: &str) -> Result<serde_json::Value, Failure> {
        let page = self.page()?;
        let answer = page
            .evaluate::<(), serde_json::Value>(expression, None)
            .await;
        answer.map_err(|error| Failure::of_browser(codes::BROWSER_LOST, error.to_string()))
    }

    /// Why a navigation of the last action was refused, if one was.
    pub fn refused(&self) -> Option<Refusal> {
        self.happenings.seen().refused.first().cloned()
    }

    /// Why documents of frames were refused during the last action.
    pub fn refused_frames(&self) -> Vec<Refusal> {
        self.happenings.seen().refused_frames.clone()
    }

    /// Whether the last action began a navigation that led to no page: as one to a download does.
    pub(crate) fn has_abandoned(&self) -> bool {
        self.happenings.seen().abandoned > 0
    }

    /// The address of the current tab's page.
    pub fn url(&self) -> String {
        self.page().map(|page| page.url()).unwrap_or_default()
    }

    /// The dialogs that were opened so far, in order.
    pub fn dialogs(&self) -> Vec<Dialog> {
        self.happenings.seen().dialogs.clone()
    }

    /// The downloads that came so far, in order.
    pub fn downloads(&self) -> Vec<Download> {
        self.happenings.seen().downloads.clone()
    }

    /// The same once there are `count` of them, or as many as came within `timeout`: a download is told a moment
    /// after the action that began it.
    pub async fn wait_for_downloads(&self, count: usize, timeout: Duration) -> Vec<Download> {
        let come = async {
            loop {
                let changed = self.happenings.changed();
                if self.happenings.seen().downloads.len() >= count {
                    return;
                }
                changed.await;
            }
        };
        // Who asked sees by their number whether it was in time.
        let _ = tokio::time::timeout(timeout, come).await;
        self.downloads()
    }

    /// The last lines of the console and the errors of pages, in order.
    pub fn console(&self) -> Vec<String> {
        self.happenings.seen().console.iter().cloned().collect()
    }

    /// Errors on the console, and requests that failed, since this was asked last: at most fifty of each.
    pub fn complaints(&mut self) -> (Vec<String>, Vec<String>) {
        let mut seen = self.happenings.seen();
        let errors = std::mem::take(&mut seen.errors);
        (errors, std::mem::take(&mut seen.failed_requests))
    }

    /// The process id of the driver.
    pub fn driver_process(&self) -> i32 {
        self.driver.process()
    }

    pub(super) fn happenings(&self) -> Arc<BrowserEvents> {
        Arc::clone(&self.happenings)
    }

    /// The current tab.
    pub(super) fn page(&self) -> Result<Page, Failure> {
        let seen = self.happenings.seen();
        seen.tabs.get(seen.current).cloned().ok_or_else(|| {
            Failure::of_browser(codes::BROWSER_LOST, "every tab of the browser is closed")
        })
    }

    /// Our world in the top document of the current tab.
    pub(super) async fn world(&mut self) -> Result<ExecutionContext, Failure> {
        let page = self.page()?;
        let known = self.known.entry(page.guid().to_owned()).or_default();
        let devtools = known.page(&self.context, &page).await?;
        devtools.top_world().await
    }

    /// Our world in the document that an element is in, and where that document begins on the page. None when a frame
    /// on the way was never captured, or is gone.
    pub(super) async fn world_of(
        &mut self,
        target: &ElementAddress,
    ) -> Result<Option<(ExecutionContext, [f64; 2])>, Failure> {
        let mut world = self.world().await?;
        let mut begins = [0.0, 0.0];
        let documents = target.documents();
        let page = self.page()?;
        for paths in &documents[..documents.len().saturating_sub(1)] {
            let ask = format!("cuecard.enter({})", serde_json::json!(paths));
            let entered: serde_json::Value =
                serde_json::from_str(&world.text(&ask).await?).unwrap_or_default();
            let Some(frame) = entered["key"].as_str() else {
                return Ok(None);
            };
            begins[0] += entered["left"].as_f64().unwrap_or(0.0);
            begins[1] += entered["top"].as_f64().unwrap_or(0.0);
            let known = self.known.get(page.guid());
            let devtools = known
                .and_then(|known| known.remote(frame))
                .unwrap_or(world.devtools());
            world = devtools.clone().world(frame).await?;
        }
        Ok(Some((world, begins)))
    }

    /// Awaits a call to Playwright, but no longer than there is somebody to answer it.
    pub(super) async fn guarded<T>(
        &self,
        call: &'static str,
        limit: Duration,
        work: impl Future<Output = playwright_rs::Result<T>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            trouble = self.happenings.trouble() => Err(gone(&trouble)),
            answer = tokio::time::timeout(limit + SLACK, work) => match answer {
                Ok(Ok(value)) => Ok(value),
                Ok(Err(error)) => Err(Failure::from_playwright(&error, call)),
                Err(_) => Err(Failure {
                    call: Some(call.to_owned()),
                    ..Failure::of_browser(
                        codes::BROWSER_TIMEOUT,
                        format!("the browser did not answer within {} s", (limit + SLACK).as_secs()),
                    )
                }),
            },
        }
    }
}

/// Why nothing can go on, as an error.
pub(super) fn gone(trouble: &ConnectionFailure) -> Failure {
    let kind = match trouble {
        ConnectionFailure::Lost(_) => codes::BROWSER_LOST,
        ConnectionFailure::Crashed => codes::BROWSER_CRASHED,
        ConnectionFailure::Dialogs(_) => codes::BROWSER_DIALOG,
    };
    Failure::of_browser(kind, trouble.to_string())
}

async fn open(
    driver: &Driver,
    options: &BrowserOptions,
    happenings: &Arc<BrowserEvents>,
) -> Result<(Browser, BrowserContext), Failure> {
    let failed = |error: &playwright_rs::Error| {
        if options.program.videos.is_some() && is_about_videos(error) {
            let message = "videos are recorded by Playwright's ffmpeg, which is not installed";
            return Failure::of_browser(codes::BROWSER_UNAVAILABLE, message)
                .help("npx playwright-core install ffmpeg");
        }
        let path = options
            .tools
            .browser
            .as_deref()
            .unwrap_or_else(|| "".as_ref());
        if options.program.is_headed && is_about_display(error) {
            return no_display("its display does not respond");
        }
        let message = format!(
            "the browser `{}` failed to start: {}",
            path.display(),
            first_line(&error.to_string())
        );
        Failure::of_browser(codes::BROWSER_UNAVAILABLE, message)
            .help("choose another one with --browser PATH")
    };
    let chromium = driver.playwright.chromium();
    let browser = match &options.program.devtools_address {
        Some(address) => {
            let connected = chromium
                .connect_over_cdp(address, connect_options(options))
                .await;
            connected.map_err(|error| {
                let reason = first_line(&error.to_string());
                let message = format!("no browser is reachable at `{address}`: {reason}");
                Failure::of_browser(codes::BROWSER_UNAVAILABLE, message).help(
                    "start it with --remote-debugging-port=9222, and pass http://127.0.0.1:9222",
                )
            })?
        }
        None => {
            let launched = chromium.launch_with_options(launch_options(options)).await;
            launched.map_err(|error| failed(&error))?
        }
    };
    let wanted = context_options(options)?;
    let prepared = async {
        let lost = Arc::clone(happenings);
        let exited = move || {
            lost.report(ConnectionFailure::Lost("the browser exited".to_owned()));
            async { Ok(()) }
        };
        browser.on_disconnected(exited).await?;
        let selectors = driver.playwright.selectors();
        selectors.register(ENGINE, &engine(), Some(true)).await?;
        let context = browser.new_context_with_options(wanted).await?;
        happenings.listen(&context).await?;
        happenings.guard(&context).await?;
        if options.program.playwright_trace.is_some() {
            begin_trace(&context).await?;
        }
        happenings.opened(context.new_page().await?).await?;
        Ok(context)
    };
    let context = prepared.await.map_err(|error| failed(&error))?;
    Ok((browser, context))
}

/// Whether there is no page since there is nothing that records videos.
fn is_about_videos(error: &playwright_rs::Error) -> bool {
    let text = error.to_string();
    text.contains("is not installed") || text.contains("ffmpeg")
}

/// Whether the browser found nowhere to show its window.
fn is_about_display(error: &playwright_rs::Error) -> bool {
    let text = error.to_string();
    [
        "XServer",
        "Missing X server",
        "cannot open display",
        "Ozone",
    ]
    .iter()
    .any(|words| text.contains(words))
}

async fn begin_trace(context: &BrowserContext) -> playwright_rs::Result<()> {
    let options = TracingStartOptions::default()
        .screenshots(true)
        .snapshots(true);
    context.tracing().await?.start(options).await
}

/// Writes what was traced. What can't be written is not worth the result of the run.
async fn save_trace(context: &BrowserContext, path: &Path) {
    if let Ok(tracing) = context.tracing().await {
        let options = TracingStopOptions::default().path(path.display().to_string());
        let _ = tracing.stop(options).await;
    }
}

fn launch_options(options: &BrowserOptions) -> LaunchOptions {
    let mut launch = LaunchOptions::new()
        .headless(!options.program.is_headed)
        // Ctrl-C is ours to answer.
        .handle_sigint(false)
        .handle_sigterm(false)
        .handle_sighup(false)
        .args(vec!["--disable-gpu".to_owned()]);
    if let Some(browser) = &options.tools.browser {
        launch = launch.executable_path(browser.display().to_string());
    }
    if let Some(time) = options.program.slow_motion {
        launch = launch.slow_mo(time.as_secs_f64() * 1000.0);
    }
    launch
}

/// How a browser is used that is not ours: its own tabs stay as they are.
fn connect_options(options: &BrowserOptions) -> ConnectOverCdpOptions {
    let connect = ConnectOverCdpOptions::new()
        .no_defaults(true)
        .timeout(PROMPT.as_secs_f64() * 1000.0);
    match options.program.slow_motion {
        Some(time) => connect.slow_mo(time.as_secs_f64() * 1000.0),
        None => connect,
    }
}

fn context_options(options: &BrowserOptions) -> Result<BrowserContextOptions, Failure> {
    let (width, height) = (options.page.viewport.width, options.page.viewport.height);
    let mut context = BrowserContextOptions::builder()
        .viewport(Viewport { width, height })
        .device_scale_factor(1.0)
        .locale(options.page.locale.clone())
        .timezone_id(options.page.timezone.clone())
        .reduced_motion("reduce".to_owned())
        .color_scheme("light".to_owned())
        .accept_downloads(true);
    if let Some(folder) = &options.program.videos {
        let mut video = RecordVideo::new(folder.display().to_string());
        video.size = Some(Viewport { width, height });
        context = context.record_video(video);
    }
    if let Some(state) = &options.storage_state {
        let state = serde_json::from_value::<StorageState>(state.clone()).map_err(|error| {
            let message = format!("invalid storage state: {error}");
            Failure::of_browser(codes::BROWSER_UNAVAILABLE, message)
        })?;
        context = context.storage_state(state);
    }
    Ok(context.build())
}

fn navigation_error(error: Failure, to: &Navigation, limit: Duration) -> Failure {
    match () {
        () if error.is(codes::BROWSER_TIMEOUT) => Failure {
            message: format!(
                "timed out: {} did not load within {} s",
                told(to),
                (limit.as_secs_f64() * 10.0).round() / 10.0
            ),
            ..error
        },
        () if error.is(codes::BROWSER_NOT_FOUND) => Failure {
            code: codes::BROWSER_NAVIGATION.name().to_owned(),
            message: match net_error(&error.message) {
                Some(reason) => format!("{} could not be loaded: {reason}", told(to)),
                None => format!("{} could not be loaded: {}", told(to), error.message),
            },
            ..error
        },
        () => error,
    }
}

/// Whether the page that the browser shows of a navigation that failed before came while this one was on its way.
fn is_cut_off_by_error_page(error: &Failure) -> bool {
    error
        .message
        .contains("interrupted by another navigation to \"chrome-error://")
}

fn told(to: &Navigation) -> String {
    match to {
        Navigation::To(url) => format!("`{url}`"),
        Navigation::Back => "the page before".to_owned(),
        Navigation::Forward => "the page after".to_owned(),
        Navigation::Reload => "the page".to_owned(),
    }
}

/// The network's own name for what went wrong, such as `net::ERR_CONNECTION_REFUSED`.
fn net_error(message: &str) -> Option<&str> {
    let start = message.find("net::")?;
    let word = message[start..].split_whitespace().next()?;
    Some(word.trim_end_matches([';', ',']))
}

fn status_of(
    response: Option<&Response>,
    to: &Navigation,
    call: &'static str,
) -> Result<Option<u16>, Failure> {
    let Some(response) = response else {
        return Ok(None);
    };
    let status = response.status();
    if status < 400 {
        return Ok(Some(status));
    }
    Err(Failure {
        call: Some(call.to_owned()),
        ..Failure::of_browser(
            codes::BROWSER_NAVIGATION,
            format!("{} returned status {status}", told(to)),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_navigation_says_what_the_network_said() {
        let error = Failure::of_browser(
            codes::BROWSER_NOT_FOUND,
            "page.goto: net::ERR_NAME_NOT_RESOLVED at http://x.invalid/",
        );
        let to = Navigation::To("http://x.invalid/".to_owned());
        let error = navigation_error(error, &to, PROMPT);
        assert!(error.is(codes::BROWSER_NAVIGATION), "{error}");
        assert_eq!(
            error.message,
            "`http://x.invalid/` could not be loaded: net::ERR_NAME_NOT_RESOLVED"
        );
    }
}
