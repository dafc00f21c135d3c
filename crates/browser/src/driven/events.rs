//! What happens in the browser while nobody asks: requests, dialogs, downloads, tabs, crashes.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuecard_page::dom::Happened;
use cuecard_source::value::Text;
use playwright_rs::protocol::{BrowserContext, Dialog, Page, Request, ResponseObject, Route};
use playwright_rs::server::channel_owner::ChannelOwner as _;
use tokio::sync::{Notify, watch};

use super::answers;
use crate::shapes::Download;
use cuecard_browser_steps::model::{Dialog as DialogSeen, OnDialog};
use cuecard_runtime::clock::Stopwatch;
use cuecard_runtime::policy::{Policy, Refusal};

/// More dialogs than this during one action, and the page is taken to open them for ever.
const MOST_DIALOGS: usize = 20;
/// The longest line of the console, in characters.
const LONGEST_LINE: usize = 1000;
/// How many lines of the console are kept.
const CONSOLE_LINES: usize = 50;
/// How many downloads and dialogs are remembered.
const MOST_REMEMBERED: usize = 1000;

/// Why nothing goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectionFailure {
    /// The driver or the browser ended.
    Lost(String),
    /// The page crashed.
    Crashed,
    /// One dialog follows the other.
    Dialogs(String),
}

impl fmt::Display for ConnectionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(what) => f.write_str(what),
            Self::Crashed => f.write_str("the page crashed"),
            Self::Dialogs(text) => write!(
                f,
                "the page opened more than {MOST_DIALOGS} dialogs, the last one says `{text}`"
            ),
        }
    }
}

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingNetworkRequest {
    pub(super) began: Stopwatch,
    /// The number of the action that was on when it began.
    pub(super) action: u64,
    /// Whether anything waits for it.
    pub(super) counts: bool,
    /// Since when its answer has come, and how long the rest takes: of one that may never be said to have ended.
    pub(super) arrival: Option<(Stopwatch, Duration)>,
}

impl PendingNetworkRequest {
    /// Whether its answer is here although nothing said so.
    pub(super) fn has_arrived(&self) -> bool {
        self.arrival
            .is_some_and(|(came, takes)| came.elapsed() >= takes)
    }
}

/// The state that events change.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) action: u64,
    pub(super) requests: HashMap<String, PendingNetworkRequest>,
    /// Navigations of the top document during this action: begun, and how many of them will not load.
    pub(super) navigations: usize,
    pub(super) abandoned: usize,
    pub(super) loads: usize,
    /// Requests that this action made, but for those that may go on for good.
    pub(super) asked: usize,
    pub(super) dialogs: Vec<DialogSeen>,
    pub(super) dialogs_of_action: usize,
    pub(super) downloads: Vec<Download>,
    pub(super) downloads_underway: usize,
    /// What this action led to.
    pub(super) happened: Happened,
    pub(super) tabs: Vec<Page>,
    pub(super) current: usize,
    /// The tabs that another one opened, each with that one, by their ids.
    openers: Vec<(String, String)>,
    /// Why navigations of this action were refused: of the page, and of frames in it.
    pub(super) refused: Vec<Refusal>,
    pub(super) refused_frames: Vec<Refusal>,
    pub(super) console: VecDeque<String>,
    /// Errors on the console, and requests that failed, since somebody asked last.
    pub(super) errors: Vec<String>,
    pub(super) failed_requests: Vec<String>,
}

/// Listens to one browser context.
pub(super) struct BrowserEvents {
    seen: Mutex<Seen>,
    changed: Notify,
    trouble: watch::Sender<Option<ConnectionFailure>>,
    on_dialog: OnDialog,
    downloads: PathBuf,
    policy: Option<Arc<Policy>>,
}

impl fmt::Debug for BrowserEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Happenings").finish_non_exhaustive()
    }
}

impl BrowserEvents {
    pub(super) fn new(
        on_dialog: OnDialog,
        downloads: &Path,
        policy: Option<Arc<Policy>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            seen: Mutex::default(),
            changed: Notify::new(),
            trouble: watch::Sender::new(None),
            on_dialog,
            downloads: downloads.to_owned(),
            policy,
        })
    }

    /// Why a page may not be opened.
    fn refusal(&self, url: &str) -> Option<Refusal> {
        let policy = self.policy.as_ref()?;
        let is_on_a_host = url.starts_with("http://") || url.starts_with("https://");
        match is_on_a_host {
            true => policy.url(&Text::from(url)).err(),
            false => None,
        }
    }

    /// Lets the policy decide about each document that the page or a frame would load.
    pub(super) async fn guard(
        self: &Arc<Self>,
        context: &BrowserContext,
    ) -> playwright_rs::Result<()> {
        if !self
            .policy
            .as_ref()
            .is_some_and(|policy| policy.limits_hosts())
        {
            return Ok(());
        }
        let this = Arc::clone(self);
        let decide = move |route: Route| {
            let this = Arc::clone(&this);
            async move {
                let request = route.request();
                let refusal = match request.is_navigation_request() {
                    true => this.refusal(request.url()),
                    false => None,
                };
                match refusal {
                    None => route.continue_(None).await,
                    Some(refusal) => {
                        this.seen().refuse(refusal, is_of_frame(&request));
                        route.abort(Some("blockedbyclient")).await
                    }
                }
            }
        };
        context.route("**/*", decide).await
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something changed. Await this before looking, or a change may be missed.
    pub(super) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }

    pub(super) fn report(&self, trouble: ConnectionFailure) {
        self.trouble.send_modify(|known| {
            known.get_or_insert(trouble);
        });
        self.changed.notify_waiters();
    }

    /// A dialog flood ends with the action; the rest is for good.
    fn forgive(&self) {
        self.trouble.send_if_modified(|known| {
            let is_over = matches!(known, Some(ConnectionFailure::Dialogs(_)));
            if is_over {
                *known = None;
            }
            is_over
        });
    }

    /// Waits until nothing goes on any more, and says why.
    pub(super) async fn trouble(&self) -> ConnectionFailure {
        let mut receiver = self.trouble.subscribe();
        loop {
            let known = receiver.borrow_and_update().clone();
            if let Some(trouble) = known {
                return trouble;
            }
            if receiver.changed().await.is_err() {
                // The sender is ours, so it is never gone.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Begins an action: what happens from now on is counted for it.
    pub(super) fn begin(&self) {
        self.forgive();
        let mut seen = self.seen();
        seen.action += 1;
        seen.navigations = 0;
        seen.abandoned = 0;
        seen.loads = 0;
        seen.asked = 0;
        seen.dialogs_of_action = 0;
        seen.happened = Happened::default();
        seen.refused.clear();
        seen.refused_frames.clear();
    }

    /// Listens to a context and each page of it.
    pub(super) async fn listen(
        self: &Arc<Self>,
        context: &BrowserContext,
    ) -> playwright_rs::Result<()> {
        let this = Arc::clone(self);
        context
            .on_page(move |page| {
                let this = Arc::clone(&this);
                async move { this.opened(page).await }
            })
            .await?;
        let this = Arc::clone(self);
        context
            .on_request(move |request| {
                this.requested(&request);
                async { Ok(()) }
            })
            .await?;
        let this = Arc::clone(self);
        context
            .on_response(move |response| {
                this.came(&response);
                async { Ok(()) }
            })
            .await?;
        let this = Arc::clone(self);
        context
            .on_request_finished(move |request| {
                this.answered(&request, false);
                async { Ok(()) }
            })
            .await?;
        let this = Arc::clone(self);
        context
            .on_request_failed(move |request| {
                this.answered(&request, true);
                async { Ok(()) }
            })
            .await
    }

    /// A tab opened: it becomes the current one.
    pub(super) async fn opened(self: &Arc<Self>, page: Page) -> playwright_rs::Result<()> {
        {
            let mut seen = self.seen();
            if seen.tabs.iter().any(|known| known.guid() == page.guid()) {
                return Ok(());
            }
            seen.tabs.push(page.clone());
            seen.current = seen.tabs.len() - 1;
        }
        self.changed.notify_waiters();
        if let Ok(Some(opener)) = page.opener().await {
            let guids = (page.guid().to_owned(), opener.guid().to_owned());
            self.seen().openers.push(guids);
        }
        let (this, closed) = (Arc::clone(self), page.guid().to_owned());
        page.on_close(move || {
            this.closed(&closed);
            async { Ok(()) }
        })
        .await?;
        let this = Arc::clone(self);
        page.on_load(move || {
            this.seen().loads += 1;
            this.changed.notify_waiters();
            async { Ok(()) }
        })
        .await?;
        let this = Arc::clone(self);
        page.on_crash(move || {
            this.report(ConnectionFailure::Crashed);
            async { Ok(()) }
        })
        .await?;
        let this = Arc::clone(self);
        page.on_dialog(move |dialog| {
            let this = Arc::clone(&this);
            async move { this.answer(&dialog).await }
        })
        .await?;
        let this = Arc::clone(self);
        page.on_console(move |message| {
            this.heard(format!("{}: {}", message.type_(), message.text()));
            async { Ok(()) }
        })
        .await?;
        let this = Arc::clone(self);
        page.on_pageerror(move |text| {
            this.heard(format!("error: {text}"));
            async { Ok(()) }
        })
        .await?;
        let this = Arc::clone(self);
        page.on_download(move |download| {
            let this = Arc::clone(&this);
            async move {
                this.keep(&download).await;
                Ok(())
            }
        })
        .await
    }

    /// A tab closed: its opener is the current one again, or the one before it.
    fn closed(&self, guid: &str) {
        {
            let mut seen = self.seen();
            let Some(idx) = seen.tabs.iter().position(|page| page.guid() == guid) else {
                return;
            };
            let current = seen
                .tabs
                .get(seen.current)
                .map(|page| page.guid().to_owned());
            seen.tabs.remove(idx);
            let opener = seen.openers.iter().find(|(known, _)| known == guid);
            let next = match current.as_deref() == Some(guid) {
                true => opener.map(|(_, opener)| opener.clone()),
                false => current,
            };
            let place = next.and_then(|next| seen.tabs.iter().position(|page| page.guid() == next));
            seen.current = place.unwrap_or(idx.saturating_sub(1));
        }
        self.changed.notify_waiters();
    }

    fn heard(&self, line: String) {
        let mut seen = self.seen();
        if line.starts_with("error") && seen.errors.len() < CONSOLE_LINES {
            seen.errors.push(line.chars().take(LONGEST_LINE).collect());
        }
        if seen.console.len() == CONSOLE_LINES {
            seen.console.pop_front();
        }
        seen.console
            .push_back(line.chars().take(LONGEST_LINE).collect());
    }

    fn requested(&self, request: &Request) {
        let is_waited_for = !matches!(
            request.resource_type(),
            "websocket" | "eventsource" | "media" | "ping" | "beacon"
        );
        // A redirect is not asked about before it is followed, so it is told afterwards.
        let refusal = match request.redirected_from() {
            Some(_) if request.is_navigation_request() => self.refusal(request.url()),
            _ => None,
        };
        let is_of_frame = is_of_frame(request);
        let mut seen = self.seen();
        if let Some(refusal) = refusal {
            seen.refuse(refusal, is_of_frame);
        }
        // A redirect goes on with the same navigation.
        if request.is_navigation_request() && request.redirected_from().is_none() && !is_of_frame {
            seen.navigations += 1;
        }
        seen.asked += usize::from(is_waited_for);
        let underway = PendingNetworkRequest {
            began: Stopwatch::start(),
            action: seen.action,
            counts: is_waited_for,
            arrival: None,
        };
        seen.requests.insert(request.guid().to_owned(), underway);
        drop(seen);
        self.changed.notify_waiters();
    }

    /// The head of an answer came.
    fn came(&self, response: &ResponseObject) {
        let told = response.initializer();
        let (Some(request), Some(takes)) =
            (told["request"]["guid"].as_str(), answers::arrival(told))
        else {
            return;
        };
        if let Some(underway) = self.seen().requests.get_mut(request) {
            underway.arrival = Some((Stopwatch::start(), takes));
        }
    }

    fn answered(&self, request: &Request, has_failed: bool) {
        {
            let mut seen = self.seen();
            seen.requests.remove(request.guid());
            if has_failed && request.is_navigation_request() {
                seen.abandoned += 1;
            }
            // A page that is left breaks off what it still asked for.
            let reason = request.failure().unwrap_or_default();
            let is_telling = has_failed && !reason.contains("ERR_ABORTED");
            if is_telling && seen.failed_requests.len() < CONSOLE_LINES {
                let line = format!("{} {}: {reason}", request.method(), request.url());
                seen.failed_requests
                    .push(line.chars().take(LONGEST_LINE).collect());
            }
        }
        self.changed.notify_waiters();
    }

    async fn answer(&self, dialog: &Dialog) -> playwright_rs::Result<()> {
        // Leaving a page must not hang on its question.
        let accepted = self.on_dialog == OnDialog::Accept || dialog.type_() == "beforeunload";
        let suggested = (dialog.type_() == "prompt").then(|| dialog.default_value());
        let is_flood = {
            let mut seen = self.seen();
            seen.dialogs_of_action += 1;
            if dialog.type_() != "beforeunload" {
                seen.happened.dialog = Some(dialog.message().to_owned());
            }
            if seen.dialogs.len() < MOST_REMEMBERED {
                seen.dialogs.push(DialogSeen {
                    kind: dialog.type_().to_owned(),
                    message: dialog.message().to_owned(),
                    accepted,
                    default_value: suggested.map(str::to_owned),
                });
            }
            seen.dialogs_of_action > MOST_DIALOGS
        };
        if is_flood {
            let text = dialog.message().chars().take(80).collect();
            self.report(ConnectionFailure::Dialogs(text));
        }
        let answered = match accepted {
            true => dialog.accept(suggested).await,
            false => dialog.dismiss().await,
        };
        self.changed.notify_waiters();
        answered
    }

    /// Writes a download to its folder, under a name that nothing else has.
    async fn keep(&self, download: &playwright_rs::protocol::Download) {
        self.seen().downloads_underway += 1;
        let name = plain_name(download.suggested_filename());
        let kept = self.write(download, &name).await;
        let mut seen = self.seen();
        seen.downloads_underway -= 1;
        seen.happened.download = kept.as_ref().ok().map(|kept| kept.name.clone());
        if seen.downloads.len() < MOST_REMEMBERED {
            seen.downloads.push(kept.unwrap_or_else(|failure| Download {
                name,
                path: PathBuf::new(),
                size: 0,
                sha256: String::new(),
                failure: Some(failure),
            }));
        }
        drop(seen);
        self.changed.notify_waiters();
    }

    async fn write(
        &self,
        download: &playwright_rs::protocol::Download,
        name: &str,
    ) -> Result<Download, String> {
        let told = |error: std::io::Error| error.to_string();
        tokio::fs::create_dir_all(&self.downloads)
            .await
            .map_err(told)?;
        let path = unused(&self.downloads, name);
        let saved = download.save_as(&path).await;
        saved.map_err(|error| super::failure::first_line(&error.to_string()))?;
        let (size, sha256) = measure(&path).await.map_err(told)?;
        Ok(Download {
            name: name.to_owned(),
            path,
            size,
            sha256,
            failure: None,
        })
    }
}

/// Whether a request is not of the page itself.
fn is_of_frame(request: &Request) -> bool {
    request
        .frame()
        .is_none_or(|frame| frame.parent_frame().is_some())
}

impl Seen {
    fn refuse(&mut self, refusal: Refusal, is_of_frame: bool) {
        match is_of_frame {
            true => self.refused_frames.push(refusal),
            false => self.refused.push(refusal),
        }
    }
}

/// A file's size and hash, read in pieces.
async fn measure(path: &Path) -> std::io::Result<(u64, String)> {
    use tokio::io::AsyncReadExt as _;
    let mut file = tokio::fs::File::open(path).await?;
    let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
    let mut piece = vec![0_u8; 64 * 1024];
    let mut size = 0;
    loop {
        let read = file.read(&mut piece).await?;
        if read == 0 {
            break;
        }
        size += read as u64;
        hash.update(&piece[..read]);
    }
    let hex = hash
        .finish()
        .as_ref()
        .iter()
        .fold(String::new(), |mut text, byte| {
            use fmt::Write as _;
            // Writing to a string can't fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
    Ok((size, hex))
}

/// A name that stays in its folder.
fn plain_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|character| match character {
            '/' | '\\' | '\0' => '_',
            other if other.is_control() => '_',
            other => other,
        })
        .take(150)
        .collect();
    match plain.trim_matches('.') {
        "" => "download".to_owned(),
        _ => plain,
    }
}

/// The path for `name` in `folder`: with a number when there is such a file.
fn unused(folder: &Path, name: &str) -> PathBuf {
    let first = folder.join(name);
    let others = (2..1000).map(|number| folder.join(format!("{number}-{name}")));
    // It is taken at once: another download may get its name at the same time.
    let is_free = |path: &PathBuf| std::fs::File::create_new(path).is_ok();
    std::iter::once(first.clone())
        .chain(others)
        .find(is_free)
        .unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_downloads_of_one_name_have_files_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = unused(folder.path(), "a.csv");
        let second = unused(folder.path(), "a.csv");
        assert_eq!(first, folder.path().join("a.csv"));
        assert_eq!(second, folder.path().join("2-a.csv"));
    }

    #[test]
    fn the_name_of_a_download_stays_in_its_folder() {
        for (given, plain) in [
            ("report.csv", "report.csv"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", "download"),
            ("", "download"),
            ("a\\b\nc", "a_b_c"),
        ] {
            assert_eq!(plain_name(given), plain, "{given}");
        }
    }

    #[tokio::test]
    async fn a_flood_of_dialogs_ends_with_its_action_and_a_crash_does_not() {
        let happenings = BrowserEvents::new(OnDialog::Dismiss, Path::new("/nowhere"), None);
        happenings.report(ConnectionFailure::Dialogs("again".to_owned()));
        assert_eq!(
            happenings.trouble().await,
            ConnectionFailure::Dialogs("again".to_owned())
        );
        happenings.begin();
        happenings.report(ConnectionFailure::Crashed);
        happenings.report(ConnectionFailure::Lost("later".to_owned()));
        happenings.begin();
        assert_eq!(happenings.trouble().await, ConnectionFailure::Crashed);
    }

    #[tokio::test]
    async fn a_file_is_measured() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = unused(folder.path(), "a");
        std::fs::write(&path, "abc").expect("it can be written");
        let (size, hash) = measure(&path).await.expect("it is there");
        assert_eq!(size, 3);
        assert!(hash.starts_with("ba7816bf8f01cfea"), "{hash}");
        assert_eq!(unused(folder.path(), "a"), folder.path().join("2-a"));
    }
}
