//! Finds the elements of assertions, and of scrolls in search of something, on each new state by what is remembered.

use cuecard_browser_steps::format::HealedStep;
use cuecard_browser_steps::model::{AssertKind, BrowserAssertion, TestStep, Translator};
use cuecard_page::identity::Verdict;
use cuecard_page::selector::Finder;
use cuecard_source::diagnostic::codes;

use super::memory::{Judged, Memory};
use crate::stage::{ByPhrase, Failure, Lookup, Targets, Values};

/// The element of a step that is looked for while the step goes on.
pub(super) struct Remembering<'a> {
    pub(super) memory: Option<&'a Memory>,
    pub(super) step: &'a TestStep,
    pub(super) place: usize,
    pub(super) values: &'a Values,
    /// Whether an element that is not as it was may be taken: never for an assertion, since healing could hide the
    /// defect that it looks for.
    pub(super) may_heal: bool,
    /// The words that the rules read, of what has no single element: what is counted, or was not there.
    words_of_many: Option<ByPhrase>,
    /// What the last state said.
    pub(super) judged: Option<Judged>,
    /// What the element is now, if it was healed.
    pub(super) healed: Option<HealedStep>,
    /// The element in words.
    pub(super) words: Option<String>,
}

impl<'a> Remembering<'a> {
    pub(super) fn new(
        memory: Option<&'a Memory>,
        step: &'a TestStep,
        place: usize,
        values: &'a Values,
        may_heal: bool,
    ) -> Self {
        let is_many = memory.is_some_and(|memory| memory.fingerprint.is_none())
            || step
                .assertion
                .as_ref()
                .is_some_and(|assertion| assertion.kind == AssertKind::Count);
        let is_by_rules = step.translator == Some(Translator::Rules);
        Self {
            memory,
            step,
            place,
            values,
            may_heal,
            words_of_many: (is_many && is_by_rules)
                .then(|| ByPhrase::of(&step.description, values))
                .flatten(),
            judged: None,
            healed: None,
            words: None,
        }
    }

    /// The same when nothing is known but selectors.
    fn by_selector(&self, memory: &Memory, finder: Finder<'_>) -> Lookup {
        let is_count = self.assertion_kind() == Some(AssertKind::Count);
        let elements = memory
            .selectors
            .first()
            .map_or_else(Vec::new, |selector| finder.find(selector));
        let problem = (elements.len() > 1 && !is_count).then(|| {
            let candidates = elements.iter().map(|&id| finder.in_words(id)).collect();
            let message = format!("{} elements match", elements.len());
            Box::new(Failure::new(codes::BROWSER_AMBIGUOUS, message).among(candidates))
        });
        Lookup {
            elements: if problem.is_none() {
                elements
            } else {
                Vec::new()
            },
            nearest: Vec::new(),
            problem,
        }
    }

    fn assertion_kind(&self) -> Option<AssertKind> {
        self.step.assertion.as_ref().map(|assertion| assertion.kind)
    }
}

impl Targets for Remembering<'_> {
    fn find(&mut self, finder: Finder<'_>) -> Lookup {
        let Some(memory) = self.memory else {
            return Lookup::default();
        };
        let is_count = self.assertion_kind() == Some(AssertKind::Count);
        let judged = memory.judge(finder);
        let Some(judged) = judged.filter(|_| !is_count) else {
            return match &mut self.words_of_many {
                Some(words) => words.find(finder),
                None => self.by_selector(memory, finder),
            };
        };
        let mut sought = Lookup {
            nearest: judged.candidates.clone(),
            ..Lookup::default()
        };
        let target = match &judged.verdict {
            Verdict::Same { id, .. } => Some(*id),
            Verdict::Healed { id, check } if self.may_heal => {
                let target = (*id, check.as_str());
                self.healed = memory.healed(finder, target, self.step, self.place, self.values);
                Some(*id)
            }
            // That it is not there is what is asserted.
            Verdict::Gone { .. }
                if self
                    .step
                    .assertion
                    .as_ref()
                    .is_some_and(BrowserAssertion::asserts_absence) =>
            {
                None
            }
            // A scroll goes on until it is there.
            Verdict::Gone { .. } if self.step.assertion.is_none() => None,
            _ => {
                let mut failure = judged.failure();
                if let (Verdict::Healed { .. } | Verdict::Renamed { .. }, Some(_)) =
                    (&judged.verdict, &self.step.assertion)
                {
                    failure.help = Some(
                        "the element of an assertion is never healed: recreate the steps if the \
                         page is right"
                            .to_owned(),
                    );
                }
                sought.problem = Some(Box::new(failure));
                None
            }
        };
        if let Some(id) = target {
            self.words = Some(finder.in_words(id));
            sought.elements.push(id);
        }
        if !matches!(judged.verdict, Verdict::Healed { .. }) {
            self.healed = None;
        }
        self.judged = Some(judged);
        sought
    }

    fn is_like(&self, role: &str, name: &str) -> bool {
        self.memory
            .and_then(|memory| memory.fingerprint.as_ref())
            .is_some_and(|known| known.role == role && known.name == name)
    }
}
