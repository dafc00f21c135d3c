//! What a step remembers of its element, and whether a page still has it.

use cuecard_browser_steps::format::{HealedStep, references};
use cuecard_browser_steps::model::{
    AssertKind, BrowserAssertion, Fingerprint, StepsFile, TestStep, Translator,
};
use cuecard_page::dom::NodeId;
use cuecard_page::identity::{Healing, Remembered, Scored, Verdict};
use cuecard_page::selector::{Finder, Selector};
use cuecard_page::sentences::{Translation, names_label};
use cuecard_report::browser_html::BrowserVerdict;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::cut;

use super::meant::meant;
use crate::stage::{Failure, Values};

/// How many fields that differ a message names.
const NAMED: usize = 3;
/// The longest text of a field in a message, in characters.
const LONGEST: usize = 80;

/// The words of a text that say something, in small letters.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
}

/// What a step remembers of its element, with values in the place of references to variables.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// Its selectors, the most lasting first; at least one.
    pub(super) selectors: Vec<Selector>,
    /// What it was. None of what was not there when the step was made.
    pub(super) fingerprint: Option<Fingerprint>,
    /// The element in the words of the sentence: `'Delete' button in the 'Bob Brown' row`.
    words: String,
    /// The sentence, if it was understood by all of its words: each of them must still say that it is this element.
    sentence: Option<String>,
}

/// What the steps of a file remember; none where a step is about no element.
///
/// # Errors
/// Everything that a step lacks to be played: a selector that can't be read, or what its element was.
pub fn memories(file: &StepsFile, values: &Values) -> Result<Memories, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut all = Vec::with_capacity(file.test_steps.len());
    for (place, step) in file.test_steps.iter().enumerate() {
        match memory(step, values) {
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

fn memory(step: &TestStep, values: &Values) -> Result<Option<Memory>, (&'static str, String)> {
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
    let words = meant(step, fingerprint.as_ref(), values);
    let is_by_words = step.translator == Some(Translator::Words);
    Ok(Some(Memory {
        selectors,
        fingerprint,
        words,
        sentence: is_by_words.then(|| step.description.clone()),
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
    /// Whether an element and what is around it are as they were.
    pub(super) fn is_as_it_was(&self, finder: Finder<'_>, id: NodeId) -> bool {
        self.fingerprint.as_ref().is_some_and(|fingerprint| {
            let selectors = &self.selectors;
            finder.is_as_it_was(
                id,
                Remembered {
                    selectors,
                    fingerprint,
                },
            )
        })
    }

    /// Whether the element is still there; none if it is not known what it was. `claim` is what must hold of it.
    pub(super) fn judge(
        &self,
        finder: Finder<'_>,
        claim: Option<&BrowserAssertion>,
    ) -> Option<Judged> {
        let fingerprint = self.fingerprint.as_ref()?;
        let mut verdict = finder.verdict(Remembered {
            selectors: &self.selectors,
            fingerprint,
        });
        let found = match &verdict {
            Verdict::Renamed { proposed, .. } => Some(proposed.target),
            verdict => verdict.target(),
        };
        let unsaid = self.unsaid(finder, found, claim);
        if let Some(candidates) = &unsaid {
            verdict = Verdict::Ambiguous {
                candidates: candidates.clone(),
            };
        }
        let first = self.selectors.first().map(ToString::to_string);
        let first = first.unwrap_or_default();
        let words = &self.words;
        let mut told = BrowserVerdict {
            word: verdict.as_str().to_owned(),
            ..BrowserVerdict::default()
        };
        let mut candidates = Vec::new();
        let message = match &verdict {
            Verdict::Same(_) => String::new(),
            Verdict::Healed(healing) => {
                told.reason = Some(healing.reason.clone());
                told.score = Some(healing.score);
                told.next = Some(healing.next);
                told.differences = differences(finder, healing.target, fingerprint);
                format!("the {words} has changed: {}", healing.reason)
            }
            Verdict::Renamed { proposed, nearest } => {
                candidates = in_words(nearest);
                told.reason = Some(proposed.reason.clone());
                told.score = Some(proposed.score);
                told.next = Some(proposed.next);
                told.differences = differences(finder, proposed.target, fingerprint);
                format!("the {words} was renamed or replaced: {}", proposed.reason)
            }
            Verdict::Ambiguous { candidates: found } => {
                candidates = in_words(found);
                told.score = found.first().map(|first| first.score);
                told.next = found.get(1).map(|second| second.score);
                match (&unsaid, found.len()) {
                    (Some(_), 1) => {
                        format!("the sentence no longer identifies the {words}")
                    }
                    (Some(_), _) => {
                        format!("the sentence now means another element than the {words}")
                    }
                    (None, 1) => format!("can't determine whether an element is the {words}"),
                    // The candidates are only the best of them.
                    (None, _) => format!("several elements could be the {words}"),
                }
            }
            Verdict::WrongTarget {
                found,
                differences,
                nearest,
            } => {
                candidates = in_words(nearest);
                told.score = nearest.first().map(|first| first.score);
                told.next = nearest.get(1).map(|second| second.score);
                told.differences = differences
                    .iter()
                    .map(|one| {
                        [
                            one.field.to_owned(),
                            one.remembered.clone(),
                            one.found.clone(),
                        ]
                    })
                    .collect();
                format!(
                    "another element has replaced the {words}: {}{}",
                    finder.in_words(*found),
                    named(&told.differences)
                )
            }
            Verdict::Gone { nearest } => {
                candidates = in_words(nearest);
                told.score = nearest.first().map(|first| first.score);
                told.next = nearest.get(1).map(|second| second.score);
                format!("{words} not found")
            }
        };
        Some(Judged {
            verdict,
            told,
            candidates,
            message,
            selector: first,
        })
    }

    /// What was found, and what the sentence means by now, if that is not the same element. Nothing for sentences that
    /// were read in a form: what such a sentence names is remembered by itself.
    fn unsaid(
        &self,
        finder: Finder<'_>,
        found: Option<NodeId>,
        claim: Option<&BrowserAssertion>,
    ) -> Option<Vec<Scored>> {
        let (sentence, found) = (self.sentence.as_ref()?, found?);
        let fingerprint = self.fingerprint.as_ref()?;
        let meant = match finder.translate(sentence) {
            Translation::Step { target, .. } => target,
            _ => None,
        };
        // A claim that is not true of it means nothing any more: that it is not true is told by itself.
        let is_untrue = |claim: &BrowserAssertion| !finder.holds(claim, &[found]).holds;
        // What stands before it may have some of its words and be another thing: *Bluetooth sharing*.
        let is_said =
            |near: &str| words_of(sentence).any(|word| words_of(near).any(|near| near == word));
        let is_it = meant == Some(found)
            && (!is_said(&fingerprint.near) || finder.is_near_what_it_was(found, fingerprint));
        if is_it || (meant.is_none() && claim.is_some_and(is_untrue)) {
            return None;
        }
        let meant = meant.filter(|meant| *meant != found);
        Some(finder.candidates_among(std::iter::once(found).chain(meant), fingerprint))
    }

    /// The step with the name that something else has by now, for a person to accept. None for an assertion, which could
    /// be what finds the defect, and none of what a variable named and the new name doesn't hold.
    pub(super) fn renamed(
        &self,
        finder: Finder<'_>,
        proposed: &Healing,
        step: &TestStep,
        place: usize,
        values: &Values,
    ) -> Option<HealedStep> {
        let old = step.fingerprint.as_ref()?.called();
        let renamed = self.healed(finder, proposed, step, place, values)?;
        let kept = references(renamed.fingerprint.called());
        let is_said = references(old).iter().all(|name| kept.contains(name));
        (is_said && step.assertion.is_none()).then_some(renamed)
    }

    /// The step with what its element is known by on this page, with references where values of variables stand.
    pub(super) fn healed(
        &self,
        finder: Finder<'_>,
        healing: &Healing,
        step: &TestStep,
        place: usize,
        values: &Values,
    ) -> Option<HealedStep> {
        let refer = |text: &str| values.with_references(text);
        let target = healing.target;
        let known = match &self.fingerprint {
            Some(known) if !known.within.is_empty() || known.position.is_some() => finder
                .identify_within(
                    target,
                    known.within.clone(),
                    known.position,
                    known.is_called_by_text(),
                ),
            Some(known) if !known.is_called_by_text() => {
                finder.identify_apart_from_text(target, None)
            }
            _ => finder.identify(target, None),
        }?;
        Some(HealedStep {
            place,
            id: step.id.clone(),
            description: step.description.clone(),
            reason: refer(&healing.reason),
            score: healing.score,
            next: healing.next,
            selectors: known
                .selectors
                .iter()
                .map(|selector| selector.with_texts(&mut |text| refer(text)).to_string())
                .collect(),
            fingerprint: known.fingerprint.with_texts(refer),
            index: finder.state.element(healing.target)?.highlight_index,
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
            Verdict::WrongTarget { .. } | Verdict::Renamed { .. } => (
                codes::BROWSER_TARGET,
                "if the page is correct, recreate the steps: `cuecard parse SCENARIO`",
            ),
            Verdict::Healed(_) => (
                codes::BROWSER_TARGET,
                "without `--heal off`, actions use the element as it is now",
            ),
            Verdict::Gone { .. } | Verdict::Same(_) => (
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

fn in_words(scored: &[Scored]) -> Vec<String> {
    scored.iter().map(ToString::to_string).collect()
}

/// The fields that differ between an element and what was remembered.
fn differences(finder: Finder<'_>, id: NodeId, remembered: &Fingerprint) -> Vec<[String; 3]> {
    finder
        .differences(id, remembered)
        .into_iter()
        .map(|one| [one.field.to_owned(), one.remembered, one.found])
        .collect()
}

fn named(differences: &[[String; 3]]) -> String {
    let shown: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(|[field, remembered, found]| {
            let (remembered, found) = (cut(remembered, LONGEST), cut(found, LONGEST));
            format!("its {field} is `{found}`, not `{remembered}`")
        })
        .collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!(": {}", shown.join("; ")),
    }
}
