//! What is kept of an action that was done: a step that finds its element again.

use cuecard_browser_steps::model::{
    ActionKind, AssertKind, BrowserAction, BrowserAssertion, InputValue, IntermediateStep,
    StepElement, TestStep, Translator,
};
use cuecard_page::dom::NodeId;
use cuecard_page::selector::{Finder, Pattern, Selector};
use cuecard_page::sentences::{Intent, Phrase, Pool};
use cuecard_page::text::PageText;
use cuecard_source::value::Json;

use crate::stage::{Outcome, Values};

/// What a sentence became, and what came of it.
pub(super) struct Done<'a> {
    pub id: String,
    pub action: &'a BrowserAction,
    pub step: &'a IntermediateStep,
    /// What the rules read, if they did.
    pub intent: Option<&'a Intent>,
    pub translator: Translator,
    /// The page as the model saw it, or would have seen it.
    pub page: &'a PageText,
    pub full_dom: Option<Json>,
    pub outcome: &'a Outcome,
    /// The index that the element had when it was chosen.
    pub index: Option<u32>,
    /// What it was dragged to.
    pub to: Option<NodeId>,
    /// Whether the author said what becomes of dialogs.
    pub expects_dialogs: bool,
}

/// The step, with its elements on the page where they were found.
pub(super) fn step(
    done: Done<'_>,
    finder: Finder<'_>,
    elements: &[NodeId],
    values: &Values,
) -> TestStep {
    let action = done.step.action_type;
    let mut step = TestStep::new(done.id, values.named(&done.action.text), action);
    step.observed = done.outcome.observed.clone();
    step.observed.cut = done.page.cut.as_ref().map(ToString::to_string);
    step.context
        .dom_structure_snapshot
        .clone_from(&done.page.text);
    step.context.full_dom_snapshot = done.full_dom;
    step.translator = Some(done.translator);
    step.index = done.index;
    step.value = match &done.step.assertion {
        Some(assertion) => assertion.expected.clone(),
        None => done.step.input_value.as_ref().map(InputValue::to_json),
    };
    if let Some(Json::String(text)) = &mut step.value {
        *text = values.named(text);
    }
    step.url = done.step.url.as_deref().map(|url| values.named(url));
    step.assertion = done.step.assertion.clone();
    if let Some(assertion) = &mut step.assertion {
        assertion.expected = step.value.clone();
    }
    step.key = done.step.key.clone();
    step.direction = done.step.direction;
    step.duration_ms = done.step.duration_ms;
    step.tab = Some(done.outcome.tab).filter(|tab| *tab > 0);
    step.timeout_ms = done.action.timeout_ms;
    step.optional = done.action.optional;
    if let Some(sentence) = &done.step.in_full {
        let sentence = values.with_references_of(&done.action.text, sentence);
        let write = match sentence.is_empty() {
            true => sentence,
            false => format!("; write: {sentence}"),
        };
        let message = format!("the name matches only in part{write}");
        step.observed.warnings.push(message);
    }
    let refer = |text: &str| values.with_references_of(&done.action.text, text);
    let is_count = step
        .assertion
        .as_ref()
        .is_some_and(|assertion| assertion.kind == AssertKind::Count);
    match elements {
        [one] if !is_count => {
            let phrase = done.intent.and_then(|intent| intent.phrase.as_ref());
            let is_text = |assertion: &BrowserAssertion| assertion.kind == AssertKind::Text;
            let is_text = done.step.assertion.as_ref().is_some_and(is_text);
            // `the Status of Order 17` names a column and a row, and not what the cell shows.
            let is_labelled = done
                .intent
                .is_some_and(|intent| intent.pool == Pool::Labelled);
            let is_shown = is_text
                && phrase.is_some_and(|phrase| is_labelled || finder.is_cell_of(*one, phrase));
            let shown = is_shown
                .then(|| finder.identify_shown(*one, phrase))
                .flatten();
            let known = shown.or_else(|| match is_text {
                true => finder.identify_apart_from_text(*one, phrase),
                false => finder.identify(*one, phrase),
            });
            if let Some(known) = known {
                let (selectors, fingerprint) = known.with_texts(refer);
                step.observed.warnings.extend(known.warning);
                step.selectors = selectors;
                step.fingerprint = Some(fingerprint);
            }
            let element = finder.state.element(*one);
            let is_flag = step.action == ActionKind::Input
                && step.value.as_ref().is_some_and(Json::is_boolean);
            step.observed.by_label = (is_flag || step.action == ActionKind::Click)
                && element.is_some_and(|element| element.proxy.is_some());
            let is_secret = element.is_some_and(|element| element.filled.is_some());
            if is_secret && is_literal(&step, values) {
                step.observed.warnings.push(
                    "password_literal: the sentence contains a password, use a secret: {{NAME}}"
                        .to_owned(),
                );
            }
        }
        // Several, or none: what is asserted of them is told by what they are called.
        _ => {
            let selector = done
                .intent
                .and_then(|intent| intent.phrase.as_ref())
                .map(|phrase| describing(phrase, finder, elements));
            step.selectors = selector
                .map(|selector| selector.with_texts(&mut |text| refer(text)).to_string())
                .into_iter()
                .collect();
        }
    }
    step.selector = step.selectors.first().cloned();
    if let Some(to) = done.to {
        let place = done.intent.and_then(|intent| intent.to.as_deref());
        let place = place.map(|place| finder.whole_place(place));
        let phrase = place.as_ref().and_then(|place| place.phrase.as_ref());
        if let Some(known) = finder.identify(to, phrase) {
            let (selectors, fingerprint) = known.with_texts(refer);
            step.observed.warnings.extend(known.warning);
            step.to = Some(StepElement {
                selectors,
                fingerprint: Some(fingerprint),
                index: finder.state.element(to).and_then(|to| to.highlight_index),
            });
        }
    }
    if !done.expects_dialogs {
        let told = done.outcome.observed.dialogs.iter().map(|dialog| {
            let how = match dialog.accepted {
                true => "accepted",
                false => "dismissed",
            };
            format!(
                "the page opened a dialog ({}) that says `{}`: it was {how}",
                dialog.kind, dialog.message
            )
        });
        step.observed.warnings.extend(told);
    }
    step
}

/// Whether something is typed that has no name.
fn is_literal(step: &TestStep, values: &Values) -> bool {
    step.action == ActionKind::Input
        && step
            .value
            .as_ref()
            .and_then(Json::as_str)
            .is_some_and(|text| !text.is_empty() && values.fill(text) == text)
}

/// A selector of everything that words mean: by role and name if all of it has one role and one name. What has no name
/// is meant by its text.
fn describing(phrase: &Phrase, finder: Finder<'_>, elements: &[NodeId]) -> Selector {
    let mut all = elements
        .iter()
        .filter_map(|&id| finder.state.element(id))
        .map(|element| (element.role.as_str(), element.name.as_str()));
    let common = all
        .next()
        .filter(|first| {
            !first.0.is_empty()
                && all.all(|other| {
                    other.0 == first.0 && (phrase.name.is_empty() || other.1 == first.1)
                })
        })
        .filter(|first| !first.1.is_empty() || phrase.name.is_empty());
    let role = phrase.role.and_then(|word| word.roles().first().copied());
    let pattern = match (common, role) {
        (Some((role, name)), _) => Pattern::Role {
            role: role.to_owned(),
            // A button that is added later is one of `3 buttons`, whatever it is called.
            name: Some(name.to_owned()).filter(|name| !name.is_empty() && !phrase.name.is_empty()),
        },
        (None, Some(role)) => Pattern::Role {
            role: role.to_owned(),
            name: Some(phrase.name.clone()).filter(|name| !name.is_empty()),
        },
        (None, None) => Pattern::Text(phrase.name.clone()),
    };
    let within = phrase.within.as_ref().and_then(|within| {
        // A selector enters a frame by its element, which has no role.
        let role = within.kind.role()?;
        Some(match &within.name {
            // A form without a name has no role.
            None if role == "form" => Pattern::Css("form".to_owned()),
            name => Pattern::Role {
                role: role.to_owned(),
                name: name.clone(),
            },
        })
    });
    let within = within.map(Into::into);
    Selector {
        within,
        ..Selector::of(pattern)
    }
}
