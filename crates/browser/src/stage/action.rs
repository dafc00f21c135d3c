//! What is to be done: a step with its element and how long it may take.

use std::time::Duration;

use cuecard_browser_steps::model::{IntermediateStep, WaitFor};
use cuecard_page::dom::{DomElement, NodeId, State};
use cuecard_page::selector::Finder;

use crate::{ElementAddress, Guard, WaitPolicy};

/// One thing to do. References in it are filled in when it is done; as long as it is a deed, it holds no secret.
#[derive(Debug, Clone)]
pub struct StageAction<'a> {
    /// What is to be done. Its `target` is not looked at.
    pub step: &'a IntermediateStep,
    /// The element that is acted on. None for assertions, whose elements are found on each state.
    pub aim: Option<ActionTarget>,
    /// The element that it is dragged to.
    pub to: Option<ActionTarget>,
    /// How long it may take.
    pub limits: Limits,
    /// What a navigation waits for; that it has loaded everything if absent.
    pub wait_for: Option<WaitFor>,
    /// How long the page is waited for afterwards, but for navigations.
    pub settling: WaitPolicy,
}

/// How long a deed may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// An action, until it can be done.
    pub action: Duration,
    /// An assertion, until it holds.
    pub assertion: Duration,
}

/// The element of a deed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionTarget {
    /// Where it is.
    pub address: ElementAddress,
    /// Where the label is that is clicked in its place, for a checkbox, radio or file input that can't be seen.
    pub proxy: Option<ElementAddress>,
    /// Whether it is checked.
    pub is_checked: bool,
    /// Whether it is open, if it folds.
    pub is_open: Option<bool>,
    /// What messages call it: `button "Log in"`.
    pub words: String,
    /// What it and its item say.
    pub guard: Guard,
}

impl ActionTarget {
    /// An element of a state.
    pub fn at(finder: Finder<'_>, id: NodeId) -> Option<Self> {
        let element: &DomElement = finder.state.element(id)?;
        let address = ElementAddress::of(element);
        Some(Self {
            proxy: element.proxy.as_ref().map(|xpath| ElementAddress {
                scope: address.scope.clone(),
                xpath: xpath.clone(),
            }),
            address,
            is_checked: element.is(State::Checked),
            is_open: (element.is(State::Expanded) || element.is(State::Collapsed))
                .then(|| element.is(State::Expanded)),
            words: finder.in_words(id),
            guard: Guard {
                own: finder.state.visible_text(id),
                item: finder.text_of_item(id).and_then(|(item, text)| {
                    let item = finder.state.element(item)?;
                    Some((ElementAddress::of(item), text))
                }),
                also: None,
            },
        })
    }
}
