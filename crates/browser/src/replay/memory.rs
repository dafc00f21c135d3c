//! What a step remembers of its element, and whether a page still has it.

use cuecard_browser_steps::format::{HealedStep, references};
use cuecard_browser_steps::model::{
    AssertKind, BrowserAssertion, Fingerprint, StepsFile, TestStep, Translator,
};
use cuecard_page::dom::NodeId;
use cuecard_page::identity::{Remembered, Verdict};
use cuecard_page::selector::{Finder, Selector};
use cuecard_page::sentences::names_label;
use cuecard_report::browser_html::BrowserVerdict;
use cuecard_source::diagnostic::{Diagnostic, codes};

use super::meant::meant;
use crate::stage::{Failure, Values};

/// What a step remembers of its element, with values in the place of references to variables.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// Its selectors, the most lasting first; at least one.
    pub(super) selectors: Vec<Selector>,
    /// What it was. None of what was not there when the step was made.
    pub(super) fingerprint: Option<Fingerprint>,
    /// The element in the words of the sentence: `'Delete' button in the 'Bob Brown' row`.
    words: String,
    /// Whether it is what another one is dragged to.
    is_destination: bool,
    /// What it is dragged to.
    to: Option<Box<Memory>>,
}

/// What the steps of a file remember; none where a step is about no element.
///
/// # Errors
/// Everything that a step lacks to be played: a selector that can't be read, or what its element was.
pub fn memories(file: &StepsFile, values: &Values) -> Result<Memories, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut all = Vec::with_capacity(file.test_steps.len());
    for (place, step) in file.test_steps.iter().enumerate() {
        let to = step.about_destination();
        let to = to.map_or(Ok(None), |step| memory(&step, values, true));
        let own = memory(step, values, false);
        match own.and_then(|own| {
            let to = to.map_err(|(_, message)| ("to", message))?;
            Ok(own.map(|own| Memory {
                to: to.map(Box::new),
                ..own
            }))
        }) {
            Ok(memory) => all.push(memory),
            Err((key, message)) => {
                let message = format!("step {}: {message}", place + 1);
                let error = Diagnostic::error(codes::BROWSER_STEPS, message)
                    .with_pointer(format!("/testSteps/{place}/{key}"))
                    .with_help("recreate the steps: `cuecard parse SCENARIO`");
                found.push(error);
                all.push(None);
            }
        }
    }
    match found.is_empty() {
        true => Ok(Memories(all)),
        false => Err(found),
    }
}

/// What each step of a file remembers.
#[derive(Debug, Clone)]
pub struct Memories(Vec<Option<Memory>>);

impl Memories {
    /// What the step at a place remembers.
    pub(super) fn of(&self, place: usize) -> Option<&Memory> {
        self.0.get(place)?.as_ref()
    }
}

fn memory(
    step: &TestStep,
    values: &Values,
    is_destination: bool,
) -> Result<Option<Memory>, (&'static str, String)> {
    let mut selectors = Vec::with_capacity(step.selectors.len());
    for text in &step.selectors {
        let selector: Selector = text
            .parse()
            .map_err(|error| ("selectors", format!("{error}")))?;
        selectors.push(selector.with_texts(&mut |text| values.in_words(text)));
    }
    if selectors.is_empty() {
        return Ok(None);
    }
    let assertion = step.assertion.as_ref();
    let may_lack_element = assertion.is_some_and(BrowserAssertion::may_lack_element);
    if step.fingerprint.is_none() && !may_lack_element {
        let message = "it has no fingerprint of its element, and a selector alone is not enough \
                       to act"
            .to_owned();
        return Err(("fingerprint", message));
    }
    // What stands beside a label is found by its words alone: only its place tells it from others.
    let is_text = assertion.is_some_and(|assertion| assertion.kind == AssertKind::Text);
    let is_beside_label =
        is_text && step.translator == Some(Translator::Rules) && names_label(&step.description);
    let fingerprint = step
        .fingerprint
        .as_ref()
        .filter(|_| !is_beside_label)
        .map(|fingerprint| fingerprint.with_texts(|text| values.in_words(text)));
    let words = meant(step, fingerprint.as_ref(), values, is_destination);
    Ok(Some(Memory {
        selectors,
        fingerprint,
        words,
        is_destination,
        to: None,
    }))
}

/// What a page says about an element that was meant.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// The verdict, and what speaks for it.
    pub(super) verdict: Verdict,
    /// The same for people.
    pub(super) told: BrowserVerdict,
    /// Elements that come near, in words.
    pub(super) candidates: Vec<String>,
    /// Why there is nothing to act on: a fragment in lower case.
    message: String,
    /// What it was looked for by first.
    selector: String,
}

impl Memory {
    /// The element, and what it is dragged to.
    pub(super) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.to.as_deref())
    }

    /// What a page says about each of them; none if it is not known what one was.
    pub(super) fn judge_all(&self, finder: Finder<'_>) -> Option<Vec<Judged>> {
        self.all().map(|memory| memory.judge(finder)).collect()
    }

    /// Whether the element is still there; none if it is not known what it was.
    pub(super) fn judge(&self, finder: Finder<'_>) -> Option<Judged> {
        let fingerprint = self.fingerprint.as_ref()?;
        let verdict = finder.verdict(Remembered {
            selectors: &self.selectors,
            fingerprint,
        });
        let words = &self.words;
        let check = verdict.check();
        let (message, near) = match &verdict {
            Verdict::Same { .. } => (String::new(), Vec::new()),
            Verdict::Healed { .. } => (format!("the {words} has changed: {check}"), Vec::new()),
            Verdict::Renamed { .. } => (
                format!("the {words} was renamed or replaced: {check}"),
                finder.similar(fingerprint),
            ),
            Verdict::Ambiguous { candidates, .. } => (
                format!("can't determine which element is the {words}: {check}"),
                candidates.clone(),
            ),
            Verdict::Gone { .. } => (
                format!("{words} not found: {check}"),
                finder.similar(fingerprint),
            ),
        };
        let told = BrowserVerdict {
            word: verdict.as_str().to_owned(),
            reason: Some(check.to_owned()).filter(|check| !check.is_empty()),
        };
        let candidates = near.into_iter().map(|id| finder.in_words(id)).collect();
        let first = self.selectors.first().map(ToString::to_string);
        Some(Judged {
            verdict,
            told,
            candidates,
            message,
            selector: first.unwrap_or_default(),
        })
    }

    /// The step with the name that something else has by now, for a person to accept. None for an assertion, which could
    /// be what finds the defect, and none of what a variable named and the new name doesn't hold.
    pub(super) fn renamed(
        &self,
        finder: Finder<'_>,
        (proposed, check): (NodeId, &str),
        step: &TestStep,
        place: usize,
        values: &Values,
    ) -> Option<HealedStep> {
        let fingerprint = match self.is_destination {
            true => step.to.as_ref()?.fingerprint.as_ref(),
            false => step.fingerprint.as_ref(),
        };
        let old = fingerprint?.called();
        let renamed = self.healed(finder, (proposed, check), step, place, values)?;
        let kept = references(renamed.fingerprint.called());
        let is_said = references(old).iter().all(|name| kept.contains(name));
        (is_said && step.assertion.is_none()).then_some(renamed)
    }

    /// The step with what its element is known by on this page, with references where values of variables stand.
    pub(super) fn healed(
        &self,
        finder: Finder<'_>,
        (target, check): (NodeId, &str),
        step: &TestStep,
        place: usize,
        values: &Values,
    ) -> Option<HealedStep> {
        let refer = |text: &str| values.with_references(text);
        let known = finder.identify_again(target, self.fingerprint.as_ref()?)?;
        let (selectors, fingerprint) = known.with_texts(refer);
        Some(HealedStep {
            place,
            is_destination: self.is_destination,
            id: step.id.clone(),
            description: step.description.clone(),
            reason: refer(check),
            selectors,
            fingerprint,
            index: finder.state.element(target)?.highlight_index,
        })
    }
}

impl Judged {
    /// Why nothing was done.
    pub(super) fn failure(&self) -> Failure {
        let (code, help) = match &self.verdict {
            Verdict::Ambiguous { .. } => (
                codes::BROWSER_AMBIGUOUS,
                "make the sentence unambiguous, and recreate the steps",
            ),
            Verdict::Renamed { .. } => (
                codes::BROWSER_TARGET,
                "if the page is correct, recreate the steps: `cuecard parse SCENARIO`",
            ),
            Verdict::Healed { .. } => (
                codes::BROWSER_TARGET,
                "without `--heal off`, actions use the element as it is now",
            ),
            Verdict::Gone { .. } | Verdict::Same { .. } => (
                codes::BROWSER_NOT_FOUND,
                "if the page is correct, recreate the steps: `cuecard parse SCENARIO`",
            ),
        };
        let mut failure = Failure::new(code, self.message.clone())
            .help(help)
            .among(self.candidates.clone());
        failure.selector = Some(self.selector.clone());
        failure
    }
}
