//! Actions on a page: Playwright waits until the element can be used, and uses it as a person would.
//!
//! An event is dispatched once. When Playwright gives up, nothing was dispatched, and the page is asked why.

use std::path::PathBuf;
use std::time::Duration;

use cuecard_browser_steps::model::Direction;
use cuecard_page::dom::{HopKind, ScopeHop};
use playwright_rs::protocol::{
    CheckOptions, ClickOptions, FillOptions, HoverOptions, Locator, MouseButton, MouseOptions,
    PressOptions, ScreenshotOptions, SelectOption, SelectOptions,
};
use playwright_rs::server::channel_owner::ChannelOwner as _;
use serde_json::{Value, json};

use super::bridge::{BrowserBridge, PROMPT};
use crate::ClickKind;
use crate::address::{ElementAddress, Guard};
use crate::choice::{Choice, chosen};
use crate::failure::Failure;
use cuecard_runtime::clock::Stopwatch;
use cuecard_source::diagnostic::codes;

/// How often a list is asked for an option that it doesn't have yet.
const BETWEEN: Duration = Duration::from_millis(100);
/// How long our script may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How long a tab that closes may take to be told so.
const CLOSES: Duration = Duration::from_secs(1);
/// How much of the viewport one scroll moves.
const SCROLL: f64 = 0.8;
/// What is more than any page is high, in CSS pixels.
const WHOLE_PAGE: f64 = 10_000_000.0;
/// How many moves of the pointer a drag has.
const DRAG_STEPS: u32 = 10;

/// Fields whose content is a secret: painted over in pictures.
const SECRET_FIELDS: &str = "input[type=password], [autocomplete~=current-password], [autocomplete~=new-password], \
     [autocomplete~=one-time-code], [autocomplete*=cc-]";

impl BrowserBridge {
    /// Clicks an element.
    ///
    /// # Errors
    /// Why the element could not be clicked; then nothing was.
    pub async fn click(
        &mut self,
        target: &ElementAddress,
        kind: ClickKind,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        if self.is_hidden_away(target).await {
            return self.press_at(target, kind, limit).await;
        }
        let tab = self.page()?.guid().to_owned();
        let locator = self.held(target).await?;
        let options = ClickOptions::builder()
            .timeout(milliseconds(limit))
            .button(button(kind))
            .build();
        let clicked = match kind {
            ClickKind::Double => {
                self.guarded("dblclick", limit, locator.dblclick(options))
                    .await
            }
            _ => self.guarded("click", limit, locator.click(options)).await,
        };
        if let Err(error) = &clicked
            && error.is(codes::BROWSER_LOST)
            && self.has_closed(&tab).await
        {
            // What was clicked closes its own tab, before Playwright heard that the click is done.
            return Ok(());
        }
        self.explained(clicked, target, "click").await
    }

    /// Puts text into a field, in place of what is there, and reads it back.
    ///
    /// # Errors
    /// Why the field could not be filled; `value_rejected` when it holds something else afterwards.
    pub async fn fill(
        &mut self,
        target: &ElementAddress,
        text: &str,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        if self.is_hidden_away(target).await {
            // By the keyboard alone: what is pressed by its place may move away.
            if !self.is_as_captured(target).await {
                return Err(Failure::replaced().at("fill", &target.selector()));
            }
            self.focus(target, "fill", limit).await?;
            let keyboard = self.page()?.keyboard();
            self.guarded("press", PROMPT, keyboard.press("ControlOrMeta+A", None))
                .await?;
            self.guarded("insertText", PROMPT, keyboard.insert_text(text))
                .await?;
        } else {
            let options = FillOptions::builder().timeout(milliseconds(limit)).build();
            self.on(target, "fill", limit, async |field| {
                field.fill(text, options).await
            })
            .await?;
        }
        match self.holds(target, text).await {
            // A page that moved on took the value with it.
            None | Some(true) => Ok(()),
            Some(false) => Err(Failure::of_browser(
                codes::BROWSER_VALUE,
                "the field does not contain what was typed",
            )
            .at("fill", &target.selector())),
        }
    }

    /// Ticks a checkbox or a radio button, or unticks it. Nothing is done when it is so already.
    ///
    /// # Errors
    /// Why it could not be changed.
    pub async fn set_checked(
        &mut self,
        target: &ElementAddress,
        is_checked: bool,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        let options = CheckOptions::builder().timeout(milliseconds(limit)).build();
        let change = async |one: Locator| one.set_checked(is_checked, options).await;
        self.on(target, "setChecked", limit, change).await
    }

    /// Chooses an option of a list: by its label, else by its value, else by the only label that differs from it in
    /// nothing but capital letters.
    ///
    /// # Errors
    /// `option_not_found` lists the options; else why the list could not be used.
    pub async fn select(
        &mut self,
        target: &ElementAddress,
        option: &str,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        let began = Stopwatch::start();
        let chosen = loop {
            let look = self.look(target).await;
            let options = look["options"].as_array().cloned().unwrap_or_default();
            match choice(option, &options) {
                Ok(chosen) => break chosen,
                Err((message, may_pass)) if !may_pass || began.elapsed() >= limit => {
                    return Err(Failure::of_browser(codes::BROWSER_CHOICE, message)
                        .at("selectOption", &target.selector()));
                }
                Err(_) => tokio::time::sleep(BETWEEN).await,
            }
        };
        let left = limit.saturating_sub(began.elapsed()).max(BETWEEN);
        let options = SelectOptions::builder().timeout(milliseconds(left)).build();
        let select = async |list: Locator| list.select_option(chosen, options).await.map(|_| ());
        self.on(target, "selectOption", left, select).await
    }

    /// Presses a key, by the names that Playwright has for keys, on an element or on what has the focus.
    ///
    /// # Errors
    /// Why it could not be pressed.
    pub async fn press(
        &mut self,
        target: Option<&ElementAddress>,
        key: &str,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        let Some(target) = target else {
            let page = self.page()?;
            return self
                .guarded("press", limit, page.keyboard().press(key, None))
                .await;
        };
        let began = Stopwatch::start();
        let locator = self.held(target).await?;
        // Playwright presses the key wherever the focus is.
        let pressed = match self.focus(target, "press", limit).await {
            Ok(()) => {
                let left = limit.saturating_sub(began.elapsed()).max(BETWEEN);
                let options = PressOptions::builder().timeout(milliseconds(left)).build();
                self.guarded("press", left, locator.press(key, options))
                    .await
            }
            Err(error) => Err(error),
        };
        self.explained(pressed, target, "press").await
    }

    /// Moves the pointer over an element.
    ///
    /// # Errors
    /// Why it could not be reached.
    pub async fn hover(&mut self, target: &ElementAddress, limit: Duration) -> Result<(), Failure> {
        self.happenings().begin();
        let options = HoverOptions::builder().timeout(milliseconds(limit)).build();
        self.on(target, "hover", limit, async |one| one.hover(options).await)
            .await
    }

    /// Presses an element, moves it to the middle of another one, and lets it go there: by the pointer, which begins the
    /// page's own dragging where an element has that.
    ///
    /// # Errors
    /// Why it could not be dragged; `timeout` if it was pressed and could not be moved.
    pub async fn drag(
        &mut self,
        target: &ElementAddress,
        to: &ElementAddress,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        let locator = self.held(target).await?;
        let options = || HoverOptions::builder().timeout(milliseconds(limit));
        let reached = match self.held(to).await {
            Ok(onto) => {
                let tried = onto.hover(options().trial(true).build());
                let tried = self.guarded("hover", limit, tried).await;
                tried.map(|()| onto)
            }
            Err(error) => Err(error),
        };
        let onto = match reached {
            Ok(onto) => onto,
            Err(error) => {
                self.explained(Ok(()), target, "dragTo").await?;
                return Err(self.explain(error, to, "dragTo").await);
            }
        };
        let hovered = self
            .guarded("hover", limit, locator.hover(options().build()))
            .await;
        if hovered.is_err() {
            return self.explained(hovered, target, "dragTo").await;
        }
        let mouse = self.page()?.mouse();
        self.guarded("mouseDown", PROMPT, mouse.down(None)).await?;
        let moved = self.move_onto(&onto).await;
        if moved.is_err() {
            // Let go where nothing is dropped.
            let _ = self
                .guarded("mouseMove", PROMPT, mouse.move_to(0.0, 0.0, None))
                .await;
        }
        let released = self.guarded("mouseUp", PROMPT, mouse.up(None)).await;
        let ended = moved.and(released).map_err(|error| {
            let message = format!("the element was pressed, but not dragged: {error}");
            Failure::of_browser(codes::BROWSER_TIMEOUT, message)
        });
        self.explained(Ok(()), target, "dragTo").await?;
        ended.map_err(|error| error.at("dragTo", &target.selector()))
    }

    /// Moves the pointer to the middle of an element, on a way that lists can follow.
    async fn move_onto(&mut self, onto: &Locator) -> Result<(), Failure> {
        let shown = onto.scroll_into_view_if_needed();
        self.guarded("scrollIntoView", PROMPT, shown).await?;
        let place = self
            .guarded("boundingBox", PROMPT, onto.bounding_box())
            .await?;
        let Some(place) = place else {
            let message = "what it is dragged to is not visible any more";
            return Err(Failure::of_browser(codes::BROWSER_NOT_FOUND, message));
        };
        let (x, y) = (place.x + place.width / 2.0, place.y + place.height / 2.0);
        let way = MouseOptions::builder().steps(DRAG_STEPS).build();
        let moved = self.page()?.mouse();
        self.guarded("mouseMove", PROMPT, moved.move_to(x, y, way))
            .await
    }

    /// Turns the wheel over the middle of the page: by most of what it shows, or to its beginning or end.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn scroll(&mut self, direction: Direction) -> Result<(), Failure> {
        self.happenings().begin();
        let page = self.page()?;
        let size = page.viewport_size();
        let (width, height) = size.map_or((1280.0, 720.0), |size| {
            (f64::from(size.width), f64::from(size.height))
        });
        let mouse = page.mouse();
        let to = mouse.move_to(width / 2.0, height / 2.0, None);
        self.guarded("mouseMove", PROMPT, to).await?;
        let way = match direction {
            Direction::Up => -height * SCROLL,
            Direction::Down => height * SCROLL,
            Direction::Top => -WHOLE_PAGE,
            Direction::Bottom => WHOLE_PAGE,
        };
        self.guarded("mouseWheel", PROMPT, mouse.wheel(0.0, way))
            .await
    }

    /// Scrolls until an element is in view.
    ///
    /// # Errors
    /// When there is no such element.
    pub async fn scroll_to(
        &mut self,
        target: &ElementAddress,
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        let locator = self.locator(target)?;
        let scrolled = self
            .guarded(
                "scrollIntoView",
                limit,
                locator.scroll_into_view_if_needed(),
            )
            .await;
        self.explained(scrolled, target, "scrollIntoView").await
    }

    /// Gives files to a field for files. The caller has asked the policy about `files`, which are absolute.
    ///
    /// # Errors
    /// Why the field could not be used.
    pub async fn upload(
        &mut self,
        target: &ElementAddress,
        files: &[PathBuf],
        limit: Duration,
    ) -> Result<(), Failure> {
        self.happenings().begin();
        let files: Vec<&PathBuf> = files.iter().collect();
        let give = async |field: Locator| field.set_input_files_multiple(&files, None).await;
        self.on(target, "setInputFiles", limit, give).await
    }

    /// The text that an element shows; for a field, what it holds.
    ///
    /// # Errors
    /// When there is no such element.
    pub async fn extract(
        &mut self,
        target: &ElementAddress,
        limit: Duration,
    ) -> Result<String, Failure> {
        let locator = self.locator(target)?;
        // As JSON text, since objects are slow to bring over.
        let script = "element => 'value' in element && element.localName !== 'li' && element.localName !== 'button' \
                      ? (element.type === 'password' ? '' : element.value) : element.innerText";
        let read = self
            .guarded(
                "evaluate",
                limit,
                locator.evaluate::<String, ()>(script, None),
            )
            .await;
        match read {
            Ok(text) => Ok(text),
            Err(error) => Err(self.explain(error, target, "evaluate").await),
        }
    }

    /// A picture of the current tab's viewport as PNG. What secret fields hold is painted over, and what `hidden` says.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn screenshot(&mut self, hidden: &[ElementAddress]) -> Result<Vec<u8>, Failure> {
        let page = self.page()?;
        let mut masks = vec![page.locator(SECRET_FIELDS)];
        masks.extend(hidden.iter().map(|place| page.locator(place.selector())));
        let options = ScreenshotOptions::builder()
            .mask(masks)
            .mask_color("#000000")
            .build();
        self.guarded("screenshot", PROMPT, page.screenshot(options))
            .await
    }

    /// The locator of an address.
    fn locator(&self, target: &ElementAddress) -> Result<Locator, Failure> {
        Ok(self.page()?.locator(target.selector()))
    }

    /// The locator of the very element that was captured at an address. Playwright looks for an element again whenever it
    /// tries again, after scrolling for example, and by then the page may have put another one in its place.
    async fn held(&mut self, target: &ElementAddress) -> Result<Locator, Failure> {
        self.n_held += 1;
        let key = self.n_held;
        let page = self.page()?;
        let here = page.locator(target.selector_to_hold(key));
        let count = self.guarded("count", PROMPT, here.count()).await?;
        let guard = self.guard.take();
        if count == 0
            || !self.is_as_captured(target).await
            || !self.arm(target, guard.as_ref()).await
        {
            return Err(Failure::replaced().at("count", &target.selector()));
        }
        Ok(page.locator(target.selector_of_held(key)))
    }

    /// Guards the next action: when it comes to the page, the element and its item must still say what they said.
    pub fn guard(&mut self, guard: Option<Guard>) {
        self.guard = guard;
    }

    /// Whether they say so now. They are asked again at the first event of the action.
    async fn arm(&mut self, target: &ElementAddress, guard: Option<&Guard>) -> bool {
        let Some(guard) = guard else { return true };
        let mut wanted = watched(target, guard);
        if let Some((other, guard)) = &guard.also
            && other.is_in_document_of(target)
        {
            wanted["also"] = watched(other, guard);
            wanted["also"]["paths"] = json!(other.documents().last());
        }
        self.is_guarded = true;
        self.ask(target, "arm", Some(&wanted.to_string())).await != Value::Bool(false)
    }

    async fn is_as_captured(&mut self, target: &ElementAddress) -> bool {
        self.ask(target, "isAsCaptured", None).await != Value::Bool(false)
    }

    /// What covers an element in its document, if anything does.
    pub async fn covering(&mut self, target: &ElementAddress) -> Option<ElementAddress> {
        let look = self.look(target).await;
        let is_frame = |hop: &ScopeHop| hop.kind == HopKind::Frame;
        let end = target
            .scope
            .iter()
            .rposition(is_frame)
            .map_or(0, |at| at + 1);
        Some(ElementAddress {
            scope: target.scope[..end].to_vec(),
            xpath: look["over"].as_str()?.to_owned(),
        })
    }

    /// Whether it is, or is in, a link that gives a file.
    pub async fn gives_file(&mut self, target: &ElementAddress) -> bool {
        self.look(target).await["isDownload"] == Value::Bool(true)
    }

    /// Is it in a shadow root that selectors can't enter?
    async fn is_hidden_away(&mut self, target: &ElementAddress) -> bool {
        let has_shadow = target.scope.iter().any(|hop| hop.kind == HopKind::Shadow);
        has_shadow && self.ask(target, "isClosedAway", None).await == Value::Bool(true)
    }

    /// Gives an element the focus, as soon as it takes it: what is disabled doesn't.
    async fn focus(
        &mut self,
        target: &ElementAddress,
        call: &'static str,
        limit: Duration,
    ) -> Result<(), Failure> {
        let began = Stopwatch::start();
        while self.ask(target, "takesFocus", None).await == Value::Bool(false) {
            if began.elapsed() >= limit {
                let look = self.look(target).await;
                let (kind, message) = match look["isEnabled"] == Value::Bool(false) {
                    true => (codes::BROWSER_DISABLED, "the element is disabled"),
                    false => (codes::BROWSER_NOT_EDITABLE, "the element can't be focused"),
                };
                return Err(Failure::of_browser(kind, message).at(call, &target.selector()));
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Ok(())
    }

    /// Presses where an element is, as Playwright would: for one that its selectors can't reach.
    async fn press_at(
        &mut self,
        target: &ElementAddress,
        kind: ClickKind,
        limit: Duration,
    ) -> Result<(), Failure> {
        if !self.is_as_captured(target).await {
            return Err(Failure::replaced().at("click", &target.selector()));
        }
        let began = Stopwatch::start();
        let mut before = Value::Null;
        let point = loop {
            let point = self.ask(target, "aim", None).await;
            // Stable: at the same place twice.
            if point.is_array() && point == before {
                break point;
            }
            before = point;
            if began.elapsed() >= limit {
                let error =
                    Failure::of_browser(codes::BROWSER_TIMEOUT, "the element could not be pressed");
                return Err(self.explain(error, target, "click").await);
            }
            tokio::time::sleep(BETWEEN).await;
        };
        let begins = self
            .world_of(target)
            .await?
            .map_or([0.0, 0.0], |(_, begins)| begins);
        let x = point[0].as_f64().unwrap_or(0.0) + begins[0];
        let y = point[1].as_f64().unwrap_or(0.0) + begins[1];
        let page = self.page()?;
        let options = MouseOptions::builder()
            .click_count(if kind == ClickKind::Double { 2 } else { 1 })
            .button(button(kind))
            .build();
        self.guarded("click", PROMPT, page.mouse().click(x, y, options))
            .await
    }

    async fn holds(&mut self, target: &ElementAddress, text: &str) -> Option<bool> {
        self.ask(target, "holds", Some(text)).await.as_bool()
    }

    async fn look(&mut self, target: &ElementAddress) -> Value {
        self.ask(target, "look", None).await
    }

    /// What our script says about an element: its answer, as JSON. Null when it can't be asked.
    async fn ask(
        &mut self,
        target: &ElementAddress,
        function: &str,
        argument: Option<&str>,
    ) -> Value {
        let documents = target.documents();
        let paths = documents.last().map(Vec::as_slice).unwrap_or_default();
        let argument =
            argument.map_or_else(String::new, |argument| format!(", {}", json!(argument)));
        let ask = format!("cuecard.{function}({}{argument})", json!(paths));
        let asked = async {
            let (world, _) = self.world_of(target).await.ok()??;
            world.value(&ask).await.ok()
        };
        // A page whose script never ends doesn't answer.
        let answer = tokio::time::timeout(ANSWER, asked).await.ok().flatten();
        match answer {
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::Null),
            Some(value) => value,
            None => Value::Null,
        }
    }

    /// Does something with the very element that was captured at an address.
    async fn on(
        &mut self,
        target: &ElementAddress,
        call: &'static str,
        limit: Duration,
        act: impl AsyncFnOnce(Locator) -> playwright_rs::Result<()>,
    ) -> Result<(), Failure> {
        let locator = self.held(target).await?;
        let done = self.guarded(call, limit, act(locator)).await;
        self.explained(done, target, call).await
    }

    async fn explained(
        &mut self,
        result: Result<(), Failure>,
        target: &ElementAddress,
        call: &'static str,
    ) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_guarded)
            && self.ask(target, "disarm", None).await == Value::Bool(true)
        {
            return Err(Failure::replaced().at(call, &target.selector()));
        }
        match result {
            Ok(()) => Ok(()),
            Err(error) => Err(self.explain(error, target, call).await),
        }
    }

    /// Whether a tab closes, now or in a moment, and others stay.
    async fn has_closed(&self, tab: &str) -> bool {
        let happenings = self.happenings();
        let closed = async {
            loop {
                let changed = happenings.changed();
                let is_gone = {
                    let seen = happenings.seen();
                    !seen.tabs.is_empty() && seen.tabs.iter().all(|page| page.guid() != tab)
                };
                if is_gone {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(CLOSES, closed).await.is_ok()
    }

    /// The condition that did not hold when Playwright gave up.
    async fn explain(
        &mut self,
        error: Failure,
        target: &ElementAddress,
        call: &'static str,
    ) -> Failure {
        let may_be_explained =
            error.is(codes::BROWSER_TIMEOUT) || error.is(codes::BROWSER_NOT_FOUND);
        if !may_be_explained || error.was_replaced {
            return error.at(call, &target.selector());
        }
        let look = self.look(target).await;
        let is = |name: &str| look[name].as_bool().unwrap_or(false);
        let found = if look.is_null() {
            error
        } else if !is("found") {
            Failure::of_browser(codes::BROWSER_NOT_FOUND, "the element no longer exists")
        } else if !is("isVisible") {
            Failure::of_browser(
                codes::BROWSER_NOT_FOUND,
                "the element exists, but is not visible",
            )
        } else if !is("isEnabled") {
            Failure::of_browser(codes::BROWSER_DISABLED, "the element is disabled")
        } else if call == "fill" && !is("isEditable") {
            Failure::of_browser(
                codes::BROWSER_NOT_EDITABLE,
                "the element does not accept input",
            )
        } else if !is("isHit") {
            let by = look["by"].as_str().unwrap_or("something else");
            Failure::of_browser(
                codes::BROWSER_COVERED,
                format!("the element is covered by {by}"),
            )
        } else {
            error
        };
        found.at(call, &target.selector())
    }
}

/// What our script is told to watch over.
fn watched(target: &ElementAddress, guard: &Guard) -> Value {
    let item = guard.item.as_ref();
    let item = item.filter(|(address, _)| address.is_in_document_of(target));
    json!({
        "own": guard.own,
        "item": item.map(|(address, _)| json!(address.documents().last())),
        "text": item.map(|(_, text)| text),
    })
}

fn button(kind: ClickKind) -> MouseButton {
    match kind {
        ClickKind::Right => MouseButton::Right,
        _ => MouseButton::Left,
    }
}

/// The option of a `select` that a text means, of `[label, value, isDisabled]` each.
///
/// # Errors
/// As those of [`chosen`].
fn choice(option: &str, options: &[Value]) -> Result<SelectOption, (String, bool)> {
    let known: Vec<Choice<'_>> = options
        .iter()
        .map(|known| Choice {
            label: known[0].as_str().unwrap_or_default(),
            value: known[1].as_str(),
            is_disabled: known[2] == true,
        })
        .collect();
    let (idx, is_by_value) = chosen(option, &known, "the list is empty")?;
    let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
    Ok(match is_by_value {
        true => SelectOption::Value(text(known[idx].value)),
        false => SelectOption::Label(known[idx].label.to_owned()),
    })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_chosen_by_its_label_or_its_value_if_it_can_be() {
        let options = [
            json!(["Red", "r", false]),
            json!(["Blue", "b", true]),
            json!(["Same", "1", false]),
            json!(["Same", "2", false]),
        ];
        let chosen = |option| choice(option, &options).map(|chosen| format!("{chosen:?}"));
        assert_eq!(chosen("Red"), Ok("Label(\"Red\")".to_owned()));
        assert_eq!(chosen("red"), Ok("Label(\"Red\")".to_owned()));
        assert_eq!(chosen("r"), Ok("Value(\"r\")".to_owned()));
        assert_eq!(
            chosen("Blue"),
            Err(("option `Blue` is disabled".to_owned(), true))
        );
        assert!(chosen("Same").is_err_and(|(_, may_pass)| !may_pass));
    }
}
