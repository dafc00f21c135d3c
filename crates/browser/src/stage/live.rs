//! The stage that is a browser.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_browser_steps::model::{ActionKind, Dialog, Download, Observed};
use cuecard_page::dom::{DomError, DomKind, DomProcessor, DomState, MASK, NodeId};
use cuecard_page::selector::Finder;
use cuecard_page::text::TextOptions;
use cuecard_source::diagnostic::codes;
use cuecard_source::value::cut;
use serde_json::json;

use super::visible_names::VisibleNames;
use super::{
    Deadline, Failure, Outcome, PageErrors, PageInspector, PageState, Performed, Stage,
    StageAction, Targets, Values, choices,
};
use crate::{BrowserBridge, CaptureOptions, ElementAddress, WaitOutcome, WaitPolicy};
use cuecard_runtime::policy::Policy;

/// How often a page that is just being replaced is captured again.
const TRIES: usize = 20;
/// The time between two looks.
pub(super) const BETWEEN: Duration = Duration::from_millis(100);
/// How long a page may take to say what is on it.
const CAPTURE: Duration = Duration::from_secs(30);
/// How long a page may take to be done, all waits together.
const SETTLE: Duration = Duration::from_secs(45);
/// How long a download may take to be told after the action that began it.
const DOWNLOAD: Duration = Duration::from_secs(2);
/// How many clicks are proposed against what covers an element.
const MOST_CLICKS: usize = 5;
/// The longest text of a dialog that a message shows, in characters.
const LONGEST_SAID: usize = 80;
/// The most places of a picture that are painted over.
const MOST_HIDDEN: usize = 200;
/// The longest text that is read from a page, in characters.
const LONGEST_TEXT: usize = 20_000;

/// What a live stage is told once.
#[derive(Debug, Clone)]
pub struct StageSettings {
    /// Values of variables and secrets.
    pub values: Values,
    /// What may be opened and read.
    pub policy: Arc<Policy>,
    /// The folder that files are uploaded from.
    pub root: PathBuf,
    /// How pages are captured.
    pub capture: CaptureOptions,
}

/// A browser on which steps are performed.
#[derive(Debug)]
pub struct LiveStage {
    pub(super) bridge: BrowserBridge,
    pub(super) settings: StageSettings,
    pub(super) sightings: VisibleNames,
    pub(super) last: Option<Arc<PageState>>,
    processor: DomProcessor,
}

/// What there was before a deed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    tab: usize,
    dialogs: usize,
    downloads: usize,
}

impl LiveStage {
    /// A stage on a browser that was started.
    pub fn new(bridge: BrowserBridge, settings: StageSettings) -> Self {
        Self {
            processor: DomProcessor::new(
                settings.capture.test_id_attribute.as_str(),
                settings.values.masks().clone(),
            ),
            bridge,
            settings,
            sightings: VisibleNames::default(),
            last: None,
        }
    }

    /// The browser: for pictures and its console.
    pub fn bridge(&mut self) -> &mut BrowserBridge {
        &mut self.bridge
    }

    /// Values of variables and secrets, with what was learned to be secret.
    pub fn values(&self) -> &Values {
        &self.settings.values
    }

    /// A picture of what is in view, as PNG. Fields and texts that hold a secret are painted over.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn picture(&mut self) -> Result<Vec<u8>, Failure> {
        // Of a page of which nobody knows what is there, there is no picture.
        let hidden = secret_places(&self.peek().await?.state);
        let picture = self.bridge.screenshot(&hidden).await;
        picture.map_err(|error| self.masked(error))
    }

    /// The scene that was looked at last, as text.
    pub fn page_text(&self) -> Option<String> {
        let scene = self.last.as_ref()?;
        let options = TextOptions {
            budget: usize::MAX,
            ..TextOptions::default()
        };
        let values = &self.settings.values;
        let page = values.page_text(self.finder(scene), &options).ok()?;
        Some(page.text)
    }

    /// The last lines of the console, without secrets.
    pub fn console(&self) -> Vec<String> {
        let lines = self.bridge.console();
        lines
            .iter()
            .map(|line| self.settings.values.mask(line))
            .collect()
    }

    /// The scene that was looked at last.
    pub fn last(&self) -> Option<&Arc<PageState>> {
        self.last.as_ref()
    }

    /// Closes the browser.
    pub async fn stop(self) {
        self.bridge.stop().await;
    }

    /// Captures the page. With `is_next` it is what the next one is compared with.
    async fn capture(&mut self, is_next: bool) -> Result<Arc<PageState>, Failure> {
        let mut tries = 0;
        let text = loop {
            let capture = self.bridge.capture(&self.settings.capture);
            match tokio::time::timeout(CAPTURE, capture).await {
                Ok(Ok(text)) => break text,
                // A page that is just being replaced can't be read; the next one can.
                Ok(Err(error)) if tries < TRIES && may_pass(&error) => {
                    tries += 1;
                    tokio::time::sleep(BETWEEN).await;
                }
                Ok(Err(error)) => return Err(self.masked(error)),
                Err(_) => return Err(hangs()),
            }
        };
        let read = match is_next {
            true => self.processor.read(&text),
            false => self.processor.peek(&text),
        };
        let state = read.map_err(|error| dom_failure(&error))?;
        self.sightings.add(&state);
        let scene = Arc::new(PageState { state });
        self.last = Some(Arc::clone(&scene));
        Ok(scene)
    }

    /// The page between two steps.
    pub(super) async fn peek(&mut self) -> Result<Arc<PageState>, Failure> {
        self.capture(false).await
    }

    /// A finder in a scene.
    pub(super) fn finder<'a>(&'a self, scene: &'a PageState) -> Finder<'a> {
        Finder::new(&scene.state, &self.settings.capture.test_id_attribute)
    }

    /// Learns that a text that was typed must not be told.
    pub(super) fn hide(&mut self, text: &str) {
        self.settings.values.hide(text);
        self.processor.hide(text);
    }

    /// A failure whose texts hold no secret.
    pub(super) fn masked(&self, failure: Failure) -> Failure {
        let values = &self.settings.values;
        let text = |text: Option<String>| text.map(|text| values.mask(&text));
        Failure {
            message: values.mask(&failure.message),
            help: text(failure.help),
            stack: text(failure.stack),
            candidates: failure
                .candidates
                .iter()
                .map(|words| values.mask(words))
                .collect(),
            ..failure
        }
    }

    /// An action that took too long while the page opened one dialog after the other was kept by them. `before` is how
    /// many there were.
    fn blocked(&self, failure: Failure, before: usize) -> Failure {
        let dialogs = self.bridge.dialogs();
        match dialogs.last() {
            Some(last) if failure.is(codes::BROWSER_TIMEOUT) && dialogs.len() > before + 2 => {
                let count = dialogs.len() - before;
                Failure {
                    code: codes::BROWSER_DIALOG.name().to_owned(),
                    message: format!(
                        "the page opened {count} dialogs, the last one says `{}`",
                        cut(&last.message, LONGEST_SAID)
                    ),
                    ..failure
                }
            }
            _ => failure,
        }
    }

    /// An element that is covered, with the steps that may take away what covers it: a click on one of its buttons each.
    async fn covered(&mut self, failure: Failure, target: &ElementAddress) -> Failure {
        let over = self.bridge.covering(target).await;
        let (Some(over), Ok(scene)) = (over, self.peek().await) else {
            return failure;
        };
        let (state, finder) = (&scene.state, self.finder(&scene));
        let (Some(over), Some(target)) = (over.find(state), target.find(state)) else {
            return failure;
        };
        let is_apart = |id: &NodeId| !(id.0..state.node(*id).end).contains(&target.0);
        let all = std::iter::once(over).chain(state.ancestors(over));
        let whole = all.take_while(is_apart).last();
        let is_dialog = |role: &str| matches!(role, "dialog" | "alertdialog");
        let dialogs = state
            .elements()
            .filter(|(id, own)| own.is_visible && is_dialog(&own.role) && is_apart(id));
        let mut places = whole.into_iter().chain(dialogs.map(|(id, _)| id));
        let clicks = places.find_map(|place| {
            let inside =
                std::iter::once((place, state.element(place)?)).chain(state.descendants(place));
            let buttons = inside.filter(|(_, own)| {
                own.is_visible && own.is_interactive && own.is_top_element != Some(false)
            });
            let words = buttons.filter_map(|(id, _)| finder.words_for(id));
            let clicks: Vec<String> = words
                .take(MOST_CLICKS)
                .map(|words| {
                    json!({"action": format!("click {words}"), "optional": true}).to_string()
                })
                .collect();
            (!clicks.is_empty()).then_some(clicks)
        });
        match clicks.and_then(|clicks| choices("if a click takes it away, write before this action", &clicks)) {
            Some(help) => failure.help(help),
            None => failure.help("before it, click what takes that away; with `optional: true`, if it is not always there"),
        }
    }

    pub(super) fn before(&self) -> Before {
        Before {
            tab: self.bridge.current_tab(),
            dialogs: self.bridge.dialogs().len(),
            downloads: self.bridge.downloads().len(),
        }
    }

    /// Waits until the page is done with a deed, and tells what came of it.
    pub(super) async fn settled(
        &mut self,
        before: Before,
        settling: WaitPolicy,
        expects_download: bool,
    ) -> Result<Outcome, Failure> {
        let settling = self.bridge.settle(settling);
        let Ok(settled) = tokio::time::timeout(SETTLE, settling).await else {
            return Err(hangs());
        };
        let settled = settled.map_err(|error| {
            let mut failure = self.masked(error);
            failure.has_acted = true;
            failure
        })?;
        if let Some(refusal) = self.bridge.refused() {
            let mut failure = Failure::new(codes::BROWSER_HOST, refusal.message).help(refusal.help);
            failure.has_acted = true;
            return Err(self.masked(failure));
        }
        if expects_download || self.bridge.has_abandoned() {
            self.bridge
                .wait_for_downloads(before.downloads + 1, DOWNLOAD)
                .await;
        }
        Ok(self.outcome(before, Some(settled)).await)
    }

    /// What can be seen now.
    pub(super) async fn outcome(
        &mut self,
        before: Before,
        settled: Option<WaitOutcome>,
    ) -> Outcome {
        let (url, title) = (self.bridge.url(), self.bridge.title().await);
        let values = &self.settings.values;
        let mut warnings: Vec<String> = self
            .bridge
            .refused_frames()
            .into_iter()
            .map(|refusal| format!("a frame was skipped: {}", refusal.message))
            .collect();
        warnings.dedup();
        let mut downloads = Vec::new();
        for download in self.bridge.downloads().into_iter().skip(before.downloads) {
            match download.failure {
                Some(failure) => warnings.push(values.mask(&format!(
                    "the download of `{}` failed: {failure}",
                    download.name
                ))),
                None => downloads.push(Download {
                    name: values.mask(&download.name),
                    size: download.size,
                    sha256: download.sha256,
                }),
            }
        }
        let dialogs = self.bridge.dialogs();
        let shown = |text: &str| Some(values.mask(text)).filter(|text| !text.is_empty());
        let dialogs = dialogs.into_iter().skip(before.dialogs);
        let observed = Observed {
            url: shown(&url),
            title: shown(&title),
            settle: settled.map(|settled| settled.name().to_owned()),
            dialogs: dialogs
                .map(|dialog| Dialog {
                    message: values.mask(&dialog.message),
                    default_value: dialog
                        .default_value
                        .as_deref()
                        .map(|text| values.mask(text)),
                    ..dialog
                })
                .collect(),
            downloads,
            warnings,
            ..Observed::default()
        };
        Outcome {
            observed,
            tab: before.tab,
        }
    }

    /// A text of the page as it may be told.
    pub(super) fn told(&self, text: &str) -> String {
        cut(&self.settings.values.mask(text), LONGEST_TEXT).into_owned()
    }
}

impl Stage for LiveStage {
    async fn open(
        &mut self,
        url: &str,
        settling: WaitPolicy,
        deadline: Deadline,
    ) -> Result<Outcome, Failure> {
        self.navigate(url, None, settling, deadline.left()).await
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        self.capture(true).await
    }

    async fn look_again(&mut self, deadline: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        if deadline.is_over() {
            return Ok(None);
        }
        tokio::time::sleep(BETWEEN.min(deadline.left())).await;
        self.peek().await.map(Some)
    }

    async fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        if deed.step.assertion.is_some() {
            return self.assert(deed, targets).await;
        }
        let is_search =
            deed.step.action_type == ActionKind::Scroll && deed.step.direction.is_none();
        if is_search {
            return self.scroll_to(deed, targets).await;
        }
        let dialogs = self.bridge.dialogs().len();
        match self.act(deed).await {
            Ok(outcome) => Ok(Performed {
                outcome,
                scene: None,
            }),
            Err(failure) => {
                let failure = self.blocked(failure, dialogs);
                let failure = match &deed.aim {
                    Some(aim) if failure.is(codes::BROWSER_COVERED) => {
                        self.covered(failure, &aim.address).await
                    }
                    _ => failure,
                };
                Err(self.masked(failure))
            }
        }
    }
}

impl PageInspector for LiveStage {
    async fn screenshot(&mut self) -> Option<Vec<u8>> {
        // A page that is gone has no picture; the step says so.
        self.picture().await.ok()
    }

    async fn show(&mut self, target: &ElementAddress, deadline: Deadline) {
        // What can't be brought into view is acted on, or not, all the same.
        let _ = self.bridge.scroll_to(target, deadline.left()).await;
    }

    fn console(&mut self) -> Vec<String> {
        LiveStage::console(self)
    }

    fn complaints(&mut self) -> PageErrors {
        let (console, requests) = self.bridge.complaints();
        PageErrors { console, requests }
    }
}

/// Where something stands that nobody may read.
fn secret_places(state: &DomState) -> Vec<ElementAddress> {
    let texts = state.nodes.iter().filter_map(|node| match &node.kind {
        DomKind::Text(run) if run.is_visible && run.text.contains(MASK) => {
            state.element(node.parent?)
        }
        DomKind::Element(element) if element.filled == Some(true) && element.is_visible => {
            Some(&**element)
        }
        _ => None,
    });
    texts.map(ElementAddress::of).take(MOST_HIDDEN).collect()
}

/// The page doesn't answer, maybe since something was done to it.
fn hangs() -> Failure {
    let message = "the page does not respond: one of its scripts may be in an endless loop";
    Failure {
        has_acted: true,
        ..Failure::new(codes::BROWSER_TIMEOUT, message)
    }
}

/// Whether a capture that failed so may work in a moment.
fn may_pass(error: &Failure) -> bool {
    error.is(codes::BROWSER_TIMEOUT) || (error.is(codes::BROWSER_NOT_FOUND) && !error.was_replaced)
}

fn dom_failure(error: &DomError) -> Failure {
    let failure = Failure::new(codes::BROWSER_PAGE_TOO_LARGE, error.to_string());
    match error {
        DomError::Malformed(_) => failure,
        DomError::TooLarge { .. } | DomError::TooDeep { .. } => {
            failure.help("limit it to a part of the page with --page-root CSS")
        }
    }
}
