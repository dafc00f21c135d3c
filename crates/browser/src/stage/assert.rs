//! Assertions: judged on each new state until they hold, or their time is up.

use std::sync::Arc;
use std::time::Duration;

use cuecard_browser_steps::model::{ActionKind, AssertKind, BrowserAssertion, TextMatch};
use cuecard_page::Observation;
use cuecard_source::diagnostic::codes;
use cuecard_source::value::{as_text, cut};

use super::live::{BETWEEN, LiveStage};
use super::{Deadline, Failure, Lookup, Performed, StageAction, Targets};
use cuecard_runtime::clock::Stopwatch;

/// What must not be there must be away for so long, since a page that is not rendered yet shows nothing.
const STAYS_AWAY: Duration = Duration::from_millis(300);
/// The longest text that a message shows, in characters.
const LONGEST: usize = 120;

impl LiveStage {
    /// Judges the assertion of a deed.
    pub(super) async fn assert(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        let before = self.before();
        let Some(written) = &deed.step.assertion else {
            return Err(Failure::new(
                codes::BROWSER_NOT_UNDERSTOOD,
                "the assertion has no condition",
            ));
        };
        let assertion = self.settings.values.assertion(written);
        let is_absence = assertion.negate != (assertion.kind == AssertKind::Hidden);
        let deadline = Deadline::after(match deed.step.action_type {
            // Who waits expects it to take long.
            ActionKind::Wait => deed.limits.action,
            _ => deed.limits.assertion,
        });
        let mut was_found = false;
        let mut held: Option<Stopwatch> = None;
        loop {
            let scene = self.peek().await?;
            let finder = self.finder(&scene);
            let sought = targets.find(finder);
            was_found |= !sought.elements.is_empty();
            let seen = match &sought.problem {
                None => Some(finder.holds(&assertion, &sought.elements)),
                Some(_) => None,
            };
            if seen.as_ref().is_some_and(|seen| seen.holds) {
                let since = *held.get_or_insert_with(Stopwatch::start);
                if !is_absence || since.elapsed() >= STAYS_AWAY {
                    let mut outcome = self.outcome(before, None).await;
                    outcome.observed.extracted_content =
                        read(&assertion, &scene, &sought).map(|text| self.told(&text));
                    outcome
                        .observed
                        .warnings
                        .extend(self.unseen(&assertion, was_found, targets));
                    return Ok(Performed {
                        outcome,
                        scene: Some(scene),
                    });
                }
            } else {
                held = None;
                if deadline.is_over() {
                    let failure = failed(&assertion, &sought, seen.as_ref(), deadline.limit());
                    return Err(self.masked(failure));
                }
            }
            let left = held.map(|since| STAYS_AWAY.saturating_sub(since.elapsed()));
            tokio::time::sleep(left.map_or(BETWEEN, |left| left.min(BETWEEN))).await;
        }
    }

    /// What is asserted to be hidden and never was there deserves a second look.
    fn unseen(
        &self,
        assertion: &BrowserAssertion,
        was_found: bool,
        targets: &(dyn Targets + Send),
    ) -> Option<String> {
        let is_known = was_found
            || !assertion.asserts_absence()
            || self.sightings.any(|role, name| targets.is_like(role, name));
        let text = assertion.expected.as_ref().map(as_text).unwrap_or_default();
        let is_text = assertion.kind == AssertKind::Text
            && assertion.negate
            && assertion.matching == TextMatch::Contains;
        if is_text && !self.sightings.has_text(&text) {
            return Some(
                "the text was never present in this run: if it is misspelt, this asserts nothing"
                    .to_owned(),
            );
        }
        (!is_known).then(|| {
            "the element was never present in this run: if its name is wrong, this asserts nothing".to_owned()
        })
    }
}

/// What an assertion read: the text or value of its element.
fn read(
    assertion: &BrowserAssertion,
    scene: &Arc<super::PageState>,
    sought: &Lookup,
) -> Option<String> {
    let &id = sought.elements.first()?;
    let element = scene.state.element(id)?;
    match assertion.kind {
        AssertKind::Text => Some(scene.state.visible_text(id)),
        AssertKind::Value if element.filled.is_none() => {
            element.attribute("value").map(str::to_owned)
        }
        _ => None,
    }
}

/// Why an assertion does not hold.
fn failed(
    assertion: &BrowserAssertion,
    sought: &Lookup,
    seen: Option<&Observation>,
    limit: Duration,
) -> Failure {
    if let Some(problem) = &sought.problem {
        return (**problem).clone();
    }
    let observed = seen.map_or("nothing was observed", |seen| seen.observed.as_str());
    let expected = match &assertion.expected {
        Some(expected) => {
            let bound = assertion.compare.as_words();
            format!(" {bound}`{}`", cut(&as_text(expected), LONGEST))
        }
        None => String::new(),
    };
    let not = if assertion.negate { "not " } else { "" };
    let mut message = format!(
        "expected {not}{}{expected} within {} s, but {observed}",
        assertion.kind.as_str(),
        limit.as_secs_f64(),
    );
    if let Some(nearest) = seen.and_then(|seen| seen.nearest.as_ref()) {
        message.push_str(&format!(
            "; the closest text is `{}`",
            cut(nearest, LONGEST)
        ));
    }
    Failure::new(codes::BROWSER_ASSERTION, message).among(sought.nearest.clone())
}
