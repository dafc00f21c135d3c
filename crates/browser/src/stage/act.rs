//! Turns steps into what a browser does: the only place that does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_browser_steps::model::{ActionKind, Direction, InputValue, WaitFor};
use cuecard_page::dom::{DomElement, DomKind, DomState, State};
use cuecard_source::value::{SHORTEST_SECRET, Text, as_text};
use reqwest::Url;

use super::live::{BETWEEN, Before, LiveStage};
use super::{ActionTarget, Deadline, Failure, Outcome, PageState, Performed, StageAction, Targets};
use crate::{ClickKind, ElementAddress, Guard, Loaded, Navigation, SearchMove, WaitPolicy};
use cuecard_source::diagnostic::codes;

/// How many times a scroll in search of an element goes on, each way.
const MOST_SCROLLS: usize = 50;

/// How often a page is looked at after each scroll of a search.
const LOOKS: usize = 2;

/// The ways of a search: how each begins, and how it goes on.
const SEARCH: [(SearchMove, SearchMove); 3] = [
    (SearchMove::Mark, SearchMove::Down),
    (SearchMove::ToMark, SearchMove::Up),
    (SearchMove::ToTop, SearchMove::Down),
];

impl LiveStage {
    /// Performs an action, and waits until the page is done with it.
    pub(super) async fn act(&mut self, deed: &StageAction<'_>) -> Result<Outcome, Failure> {
        let step = deed.step;
        let limit = deed.limits.action;
        match step.action_type {
            ActionKind::Navigate => {
                let url = step.url.as_deref().unwrap_or_default();
                return self
                    .navigate(url, deed.wait_for, deed.settling, limit)
                    .await;
            }
            ActionKind::Wait => {
                let before = self.before();
                let time = Duration::from_millis(step.duration_ms.unwrap_or_default());
                tokio::time::sleep(time).await;
                return Ok(self.outcome(before, None).await);
            }
            ActionKind::Extract => return self.extract(deed).await,
            _ => {}
        }
        let before = self.before();
        let expects_download = match &deed.aim {
            Some(aim) => self.is_download(aim).await,
            None => false,
        };
        let seen = self.last.clone();
        let guard = deed.aim.as_ref().map(|aim| Guard {
            also: deed
                .to
                .as_ref()
                .map(|to| (to.address.clone(), Box::new(to.guard.clone()))),
            ..aim.guard.clone()
        });
        self.bridge.guard(guard);
        let mut warning = None;
        match step.action_type {
            ActionKind::Click
                if step.wants_open.is_some() && step.wants_open == aim(deed)?.is_open => {}
            ActionKind::Click | ActionKind::DoubleClick | ActionKind::RightClick => {
                let aim = aim(deed)?;
                let target = aim.proxy.as_ref().unwrap_or(&aim.address);
                let how = match step.action_type {
                    ActionKind::DoubleClick => ClickKind::Double,
                    ActionKind::RightClick => ClickKind::Right,
                    _ => ClickKind::Single,
                };
                self.bridge.click(target, how, limit).await?;
            }
            ActionKind::Hover => {
                let target = &aim(deed)?.address;
                self.bridge.hover(target, limit).await?;
            }
            ActionKind::Drag => {
                let (target, to) = (&aim(deed)?.address, &destination(deed)?.address);
                self.bridge.drag(target, to, limit).await?;
            }
            ActionKind::Input => warning = self.input(deed).await?,
            ActionKind::Select => self.select(deed).await?,
            ActionKind::Press => {
                let key = step.key.as_deref().unwrap_or_default();
                let target = deed.aim.as_ref().map(|aim| &aim.address);
                self.bridge.press(target, key, limit).await?;
            }
            ActionKind::Scroll => {
                let direction = step.direction.unwrap_or(Direction::Down);
                self.bridge.scroll(direction).await?;
            }
            ActionKind::Upload => {
                let file = self.file(&text_of(deed))?;
                let target = &aim(deed)?.address;
                self.bridge.upload(target, &[file], limit).await?;
            }
            ActionKind::Navigate
            | ActionKind::Wait
            | ActionKind::Extract
            | ActionKind::Assert
            | ActionKind::Unknown => {
                let word = step.action_type.as_str();
                let message = format!("unknown action `{word}`");
                return Err(Failure::new(codes::BROWSER_NOT_UNDERSTOOD, message));
            }
        }
        let settling = match &deed.aim {
            Some(aim) if !aim.address.scope.is_empty() => WaitPolicy::Unwatched,
            _ => deed.settling,
        };
        let mut outcome = self.settled(before, settling, expects_download).await?;
        outcome.observed.warnings.extend(warning);
        match step.action_type {
            ActionKind::Drag => self.dragged(deed, seen, outcome).await,
            _ => Ok(outcome),
        }
    }

    /// Goes somewhere: to an address, which may hold references and be relative to the page, or through the history.
    pub(super) async fn navigate(
        &mut self,
        url: &str,
        wait_for: Option<WaitFor>,
        settling: WaitPolicy,
        limit: Duration,
    ) -> Result<Outcome, Failure> {
        let before = self.before();
        let to = match url {
            "back" => Navigation::Back,
            "forward" => Navigation::Forward,
            "reload" => Navigation::Reload,
            url => Navigation::To(self.address(url)?),
        };
        let (loaded, settling) = match wait_for {
            Some(WaitFor::DomContentLoaded) => (Loaded::Document, WaitPolicy::Document),
            _ => (Loaded::Everything, settling),
        };
        if let Err(error) = self.bridge.navigate_until(&to, loaded, limit).await {
            let failure = match self.bridge.refused() {
                Some(refusal) => {
                    Failure::new(codes::BROWSER_HOST, refusal.message).help(refusal.help)
                }
                None => error,
            };
            return Err(self.masked(failure));
        }
        self.settled(before, settling, false).await
    }

    /// The whole address, which the policy allows.
    fn address(&self, written: &str) -> Result<String, Failure> {
        let filled = self.settings.values.text(written);
        let (text, address) = match Url::parse(&filled.to_string()) {
            Ok(url) => (filled, url),
            Err(_) => {
                let joined = Url::parse(&self.bridge.url())
                    .and_then(|base| base.join(&filled.to_string()))
                    .map_err(|error| {
                        let message = format!("`{written}` is not a valid URL: {error}");
                        Failure::new(codes::BROWSER_NAVIGATION, message)
                            .help("write a URL, or a path that starts with `/`")
                    })?;
                (Text::from(joined.as_str()), joined)
            }
        };
        let policy = &self.settings.policy;
        let refused = match address.scheme() {
            "http" | "https" => policy.url(&text).err(),
            "about" => None,
            "file" => match address.to_file_path() {
                Ok(path) if !policy.limits_hosts() => policy
                    .read_path(&Text::from(path.to_string_lossy().as_ref()))
                    .err(),
                _ => {
                    let message = format!("`{written}` is not on a host in `--only-hosts`");
                    return Err(Failure::new(codes::BROWSER_HOST, message));
                }
            },
            scheme => {
                let message = format!("pages with the scheme `{scheme}:` are not opened");
                let help = "use http, https, file or about:blank";
                return Err(Failure::new(codes::BROWSER_HOST, message).help(help));
            }
        };
        match refused {
            Some(refusal) => {
                Err(self
                    .masked(Failure::new(codes::BROWSER_HOST, refusal.message).help(refusal.help)))
            }
            None => Ok(address.to_string()),
        }
    }

    /// Checks that a drag did something: a page on which nothing is another than before did not take it.
    async fn dragged(
        &mut self,
        deed: &StageAction<'_>,
        seen: Option<Arc<PageState>>,
        outcome: Outcome,
    ) -> Result<Outcome, Failure> {
        let places = [&aim(deed)?.address, &destination(deed)?.address];
        let now = self.peek().await?;
        let is_unchanged = seen.is_some_and(|seen| {
            seen.state.page.document_id == now.state.page.document_id
                && contents(&seen.state).eq(contents(&now.state))
                && distance(&seen.state, places) == distance(&now.state, places)
        });
        match is_unchanged && outcome.observed.dialogs.is_empty() {
            false => Ok(outcome),
            true => Err(Failure {
                has_acted: true,
                ..Failure::new(codes::BROWSER_VALUE, "the drag changed nothing on the page")
            }
            .help("name the element that can be dragged, and the one that takes it")),
        }
    }

    /// Types into a field, or ticks a box; gives what is to be warned of.
    async fn input(&mut self, deed: &StageAction<'_>) -> Result<Option<String>, Failure> {
        let aim = aim(deed)?;
        let limit = deed.limits.action;
        if let Some(InputValue::Flag(flag)) = deed.step.input_value {
            match &aim.proxy {
                None => self.bridge.set_checked(&aim.address, flag, limit).await?,
                Some(_) if aim.is_checked == flag => {}
                Some(label) => {
                    self.bridge.click(label, ClickKind::Single, limit).await?;
                    self.is_checked(aim, flag).await?;
                }
            }
            return Ok(None);
        }
        let written = text_of(deed);
        let text = self.settings.values.fill(&written);
        if self.is_secret_field(aim) && text.chars().count() >= SHORTEST_SECRET {
            self.hide(&text);
        }
        match self.bridge.fill(&aim.address, &text, limit).await {
            Ok(()) => Ok(None),
            Err(error) if error.is(codes::BROWSER_VALUE) => {
                self.changed(aim, &written, error).await.map(Some)
            }
            Err(error) => Err(error),
        }
    }

    /// What a field holds instead of what was typed; said only if nothing in it is secret. A field that only added signs, as
    /// one for the numbers of cards does, took it.
    async fn changed(
        &mut self,
        aim: &ActionTarget,
        written: &str,
        mut failure: Failure,
    ) -> Result<String, Failure> {
        let is_open = !self.settings.values.refers_to_secret(written) && !self.is_secret_field(aim);
        let typed = self.settings.values.fill(written);
        let Ok(holds) = self.bridge.extract(&aim.address, BETWEEN * 10).await else {
            return Err(failure);
        };
        let (is_formatted, told) = (only_adds_signs(&typed, &holds), self.told(&holds));
        match (is_formatted, is_open) {
            (true, true) => Ok(format!("the field formatted `{typed}` as `{told}`")),
            (true, false) => Ok("the field formatted what was typed".to_owned()),
            (false, true) => {
                failure.message = format!("`{typed}` was typed, but the field holds `{told}`");
                Err(failure)
            }
            (false, false) => Err(failure),
        }
    }

    /// Checks that a box that was ticked through its label is so.
    async fn is_checked(&mut self, aim: &ActionTarget, flag: bool) -> Result<(), Failure> {
        let scene = self.peek().await?;
        let found = aim.address.find(&scene.state);
        let found = found.and_then(|id| scene.state.element(id));
        match found {
            Some(element) if element.is(State::Checked) != flag => {
                let word = if flag { "checked" } else { "unchecked" };
                let mut failure = Failure::new(
                    codes::BROWSER_VALUE,
                    format!("its label was clicked, but it is not {word}"),
                );
                failure.has_acted = true;
                Err(failure)
            }
            // A page that moved on took it with it.
            _ => Ok(()),
        }
    }

    async fn select(&mut self, deed: &StageAction<'_>) -> Result<(), Failure> {
        let aim = aim(deed)?;
        let is_select = self
            .element(aim)
            .is_none_or(|element| element.tag_name == "select");
        let option = self.settings.values.fill(&text_of(deed));
        match is_select {
            true => {
                let select = self
                    .bridge
                    .select(&aim.address, &option, deed.limits.action);
                select.await
            }
            false => self.choose(aim, &option, deed.limits.action).await,
        }
    }

    async fn extract(&mut self, deed: &StageAction<'_>) -> Result<Outcome, Failure> {
        let before = self.before();
        let target = aim(deed)?;
        let is_secret = self.is_secret_field(target);
        let read = self
            .bridge
            .extract(&target.address, deed.limits.action)
            .await?;
        let mut outcome = self.outcome(before, None).await;
        outcome.observed.extracted_content = Some(match is_secret {
            true => String::new(),
            false => self.told(&read),
        });
        Ok(outcome)
    }

    /// Scrolls to an element. One that is not rendered yet is looked for by scrolling on, step by step: down from where
    /// the page is, then up from there, then down from the top.
    pub(super) async fn scroll_to(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        let before = self.before();
        let deadline = Deadline::after(deed.limits.action);
        let mut scene = self.peek().await?;
        if let Some(performed) = self.arrive(deed, targets, &scene, before).await? {
            return Ok(performed);
        }
        for (place, (begin, go_on)) in SEARCH.iter().enumerate() {
            let mut has_moved = self.bridge.search(*begin).await?;
            for _ in 0..MOST_SCROLLS {
                has_moved = has_moved || self.bridge.search(*go_on).await?;
                if !has_moved || (place > 0 && deadline.is_over()) {
                    break;
                }
                self.settled(before, WaitPolicy::Whole, false).await?;
                // A list that renders what came into view may be late with it on a busy machine.
                for look in 0..LOOKS {
                    if look > 0 {
                        tokio::time::sleep(BETWEEN).await;
                    }
                    scene = self.peek().await?;
                    if let Some(performed) = self.arrive(deed, targets, &scene, before).await? {
                        return Ok(performed);
                    }
                }
                has_moved = false;
            }
        }
        // At its end, a page may be loading more.
        while !deadline.is_over() {
            tokio::time::sleep(BETWEEN).await;
            if self.bridge.search(SearchMove::Down).await? {
                self.settled(before, WaitPolicy::Whole, false).await?;
            }
            scene = self.peek().await?;
            if let Some(performed) = self.arrive(deed, targets, &scene, before).await? {
                return Ok(performed);
            }
        }
        let nearest = targets.find(self.finder(&scene)).nearest;
        let message = "element not found, even after scrolling through the page";
        let failure = Failure::new(codes::BROWSER_NOT_FOUND, message).among(nearest);
        Err(self.masked(failure))
    }

    /// Brings the element into view, if it is on the page.
    async fn arrive(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
        scene: &Arc<PageState>,
        before: Before,
    ) -> Result<Option<Performed>, Failure> {
        let sought = targets.find(self.finder(scene));
        if let Some(problem) = sought.problem {
            return Err(self.masked(*problem));
        }
        let found = sought.elements.first();
        let Some(element) = found.and_then(|&id| scene.state.element(id)) else {
            return Ok(None);
        };
        let address = ElementAddress::of(element);
        let scrolled = self.bridge.scroll_to(&address, deed.limits.action).await;
        scrolled.map_err(|error| self.masked(error))?;
        let outcome = self.settled(before, WaitPolicy::Whole, false).await?;
        // Where it is has changed, and what stands around it.
        let after = self.peek().await?;
        let is_there = targets.find(self.finder(&after)).elements.len() == 1;
        Ok(Some(Performed {
            outcome,
            scene: Some(if is_there { after } else { Arc::clone(scene) }),
        }))
    }

    /// The file that may be uploaded.
    fn file(&self, written: &str) -> Result<PathBuf, Failure> {
        let refused = |message: String| Failure::new(codes::BROWSER_FILE, message);
        let text = self.settings.values.text(written);
        let path = self
            .settings
            .policy
            .read_path(&text)
            .map_err(|refusal| refused(refusal.message).help(refusal.help))?;
        let real = path
            .canonicalize()
            .map_err(|error| refused(format!("`{written}` can't be read: {error}")))?;
        let root = self
            .settings
            .root
            .canonicalize()
            .map_err(|error| refused(format!("the root can't be read: {error}")))?;
        match real.starts_with(&root) {
            true if real.is_file() => Ok(real),
            true => Err(refused(format!("`{written}` is not a file"))),
            false => Err(refused(format!("`{written}` is outside the root"))
                .help("pass a parent folder with --root")),
        }
    }

    /// The element of a deed, as it was when it was looked at.
    fn element(&self, aim: &ActionTarget) -> Option<&DomElement> {
        let scene: &Arc<_> = self.last.as_ref()?;
        scene.state.element(aim.address.find(&scene.state)?)
    }

    /// Whether nobody may read what a field holds.
    fn is_secret_field(&self, aim: &ActionTarget) -> bool {
        self.element(aim)
            .is_some_and(|element| element.filled.is_some())
    }

    /// Whether a click gives a file instead of a page. Asked only of links.
    async fn is_download(&mut self, aim: &ActionTarget) -> bool {
        let scene = self.last.clone();
        let is_link = scene.as_ref().is_some_and(|scene| {
            let state = &scene.state;
            aim.address.find(state).is_some_and(|id| {
                let is_link = |element: &DomElement| element.tag_name == "a";
                state.element(id).is_some_and(is_link)
                    || state.ancestor_elements(id).any(|(_, outer)| is_link(outer))
            })
        });
        is_link && self.bridge.gives_file(&aim.address).await
    }
}

/// Whether a field holds all that was typed in its order, and besides it nothing but signs that are no letters or digits.
fn only_adds_signs(typed: &str, holds: &str) -> bool {
    let mut left = typed.chars().peekable();
    let are_signs = holds
        .chars()
        .all(|sign| left.next_if_eq(&sign).is_some() || !sign.is_alphanumeric());
    are_signs && left.next().is_none()
}

fn destination<'d>(deed: &'d StageAction<'_>) -> Result<&'d ActionTarget, Failure> {
    let message = "`drag` needs an element to drag to";
    let missing = || Failure::new(codes::BROWSER_NOT_FOUND, message);
    deed.to.as_ref().ok_or_else(missing)
}

/// What a page holds, wherever it is scrolled and whatever has the focus.
fn contents(state: &DomState) -> impl Iterator<Item = impl PartialEq> {
    state.nodes.iter().map(|node| match &node.kind {
        DomKind::Text(run) => (node.parent, run.is_visible, run.text.as_str(), "", None),
        DomKind::Element(element) => (
            node.parent,
            element.is_visible,
            element.name.as_str(),
            element.tag_name.as_str(),
            Some(&element.attributes),
        ),
    })
}

/// How far one element is from another, in whole CSS pixels.
fn distance(state: &DomState, places: [&ElementAddress; 2]) -> Option<[i64; 2]> {
    let [from, to] = places.map(|address| state.element(address.find(state)?)?.rect);
    let (from, to) = (from?, to?);
    Some([(to.x - from.x) as i64, (to.y - from.y) as i64])
}

fn aim<'d>(deed: &'d StageAction<'_>) -> Result<&'d ActionTarget, Failure> {
    deed.aim.as_ref().ok_or_else(|| {
        let message = format!("`{}` needs an element", deed.step.action_type.as_str());
        Failure::new(codes::BROWSER_NOT_FOUND, message)
    })
}

/// What is typed, chosen or uploaded, with references as they stand.
fn text_of(deed: &StageAction<'_>) -> String {
    deed.step
        .input_value
        .as_ref()
        .map(|value| as_text(&value.to_json()).into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::only_adds_signs;

    #[test]
    fn a_field_that_only_formats_took_what_was_typed() {
        for (typed, holds, is_taken) in [
            ("4111222233334444", "4111 2222 3333 4444", true),
            ("5551234567", "(555) 123-4567", true),
            ("1234", "1,234", true),
            ("1234", "1,234.00", false),
            ("4111-2222", "4111 2222", false),
            ("2024", "20", false),
            ("abc", "ABC", false),
            ("1234", "", false),
        ] {
            assert_eq!(only_adds_signs(typed, holds), is_taken, "{typed} {holds}");
        }
    }
}
