//! Reads sentences by rules, without a model.
//!
//! [`understand`] reads a sentence: what is to be done, and with what in words. [`Finder::resolve`] finds what the
//! words mean on a page. A sentence is understood as a whole or not at all, and an element is chosen only if it is
//! the only one that is meant: never a guess.

mod assertion;
mod claims;
mod counts;
mod dangers;
mod forms;
mod items;
mod keys;
mod labels;
mod partial;
mod partial_words;
mod phrase;
mod proposals;
mod resolve;
mod sentence;
#[cfg(test)]
mod tests;
mod verbs;

pub use forms::nearest_form;
pub use phrase::{Phrase, RoleWord, Within};
pub use resolve::{Found, NotFound};

use std::ops::Range;

use sentence::{Sentence, TokenKind};

use super::dom::{NodeId, State};
use super::selector::Finder;
use crate::{ActionKind, AssertKind, ContainerKind, IntermediateStep};

/// A sentence after reading.
#[derive(Debug, Clone, PartialEq)]
pub enum Understanding {
    /// What it asks.
    Understood(Box<Intent>),
    /// The rules can't read it.
    NotUnderstood {
        /// Why, in words.
        reason: String,
        /// Whether it says what is not to be done: nobody else may read it as something to do.
        is_final: bool,
    },
    /// It asks for more than one thing.
    Compound {
        /// The sentences that it could be split into, if that is clear.
        parts: Vec<String>,
    },
}

/// What a sentence asks, before a page was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// The action with everything but its element.
    pub step: IntermediateStep,
    /// The element in words.
    pub phrase: Option<Phrase>,
    /// Where these stand in the sentence, in bytes; empty if other words stand for them there.
    pub span: Range<usize>,
    /// Which elements could be meant.
    pub pool: Pool,
    /// What it is dragged to: an intent of the same sentence, whose element that is.
    pub to: Option<Box<Intent>>,
}

/// Which elements of a page a sentence can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// What people can use.
    Interactive,
    /// The same in an item that is itself called so, whatever else stands in it.
    OfItem,
    /// The same as `Interactive`, but not what is open already.
    NotExpanded,
    /// What leads to another part of the page, or to another page.
    Destinations,
    /// What is open, and folds.
    Expanded,
    /// What text can be typed into.
    Fields,
    /// What text is typed into to search.
    Search,
    /// Fields, and lists to choose from.
    FieldsAndSelects,
    /// What is chosen by a click: radio buttons, options, tabs.
    Options,
    /// What can be checked.
    Checks,
    /// What has options.
    Selects,
    /// What takes files.
    Files,
    /// What can be checked, selected or pressed.
    Selectable,
    /// What a label says: the field of that name, the cell in that column, or the text beside the label.
    Labelled,
    /// Everything that can be seen, but no links to other places of the page.
    NoAnchors,
    /// Everything that can be seen, headings, images and texts included.
    Anything,
}

impl Pool {
    /// Whether elements that nobody can use may be meant.
    fn is_anything(self) -> bool {
        matches!(self, Self::Anything | Self::NoAnchors | Self::Labelled)
    }
}

/// A sentence on a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Translation {
    /// It means this.
    Step {
        /// The action.
        step: Box<IntermediateStep>,
        /// Its element; of a count the first.
        target: Option<NodeId>,
        /// What that is dragged to.
        to: Option<NodeId>,
    },
    /// The rules can't read it.
    NotUnderstood {
        /// Why, in words.
        reason: String,
    },
    /// It asks for more than one thing.
    Compound {
        /// The sentences that it could be split into, if that is clear.
        parts: Vec<String>,
    },
    /// Several elements could be meant.
    Ambiguous {
        /// The elements, in the order of the page.
        candidates: Vec<NodeId>,
        /// The same in words.
        words: Vec<String>,
        /// A sentence for each of the first of them that means it alone, such as `click 'Delete' in the 'Invoice 1' row`.
        say: Vec<String>,
    },
    /// None could be meant.
    NotFound(NotFound),
}

/// Reads a sentence.
pub fn understand(sentence: &str) -> Understanding {
    match Sentence::read(sentence) {
        Ok(sentence) => verbs::intent(&sentence),
        Err(reason) => Understanding::NotUnderstood {
            reason,
            is_final: false,
        },
    }
}

/// Whether a sentence denies something outside of quotes: `do not`, `never`, `is not`, `without`.
pub fn denies(sentence: &str) -> bool {
    Sentence::read(sentence).is_ok_and(|sentence| sentence::denies(&sentence.tokens))
}

/// Whether a sentence wants something to be open, or closed, and clicks it to that end.
pub fn wanted_open(sentence: &str) -> Option<bool> {
    match understand(sentence) {
        Understanding::Understood(intent) if intent.step.action_type == ActionKind::Click => {
            opens(intent.pool)
        }
        _ => None,
    }
}

/// Whether a sentence says what a label's value is: `the status of Erik Lund is 'Active'`.
pub fn names_label(sentence: &str) -> bool {
    matches!(understand(sentence), Understanding::Understood(intent) if intent.pool == Pool::Labelled)
}

/// Whether a sentence counts the items of a place: `the table has 4 rows`.
pub fn counts_items(sentence: &str) -> bool {
    let Understanding::Understood(intent) = understand(sentence) else {
        return false;
    };
    let role = intent.phrase.and_then(|phrase| phrase.role);
    matches!(role, Some(RoleWord::Item | RoleWord::Row))
}

fn opens(pool: Pool) -> Option<bool> {
    match pool {
        Pool::NotExpanded => Some(true),
        Pool::Expanded => Some(false),
        _ => None,
    }
}

impl Finder<'_> {
    /// What a sentence means on this page.
    pub fn translate(&self, sentence: &str) -> Translation {
        let translation = match understand(sentence) {
            Understanding::Understood(intent) => self.resolve(&intent),
            Understanding::NotUnderstood { reason, .. } => Translation::NotUnderstood { reason },
            Understanding::Compound { parts } => Translation::Compound { parts },
        };
        match translation {
            Translation::NotUnderstood { .. } | Translation::NotFound(_) => {
                match self.read_partially(sentence) {
                    Some(Ok(intent)) => self.resolve(&intent),
                    Some(Err(ambiguous)) => ambiguous,
                    None => translation,
                }
            }
            translation => translation,
        }
    }

    /// What is to be opened and is open already, or closed and is closed.
    fn is_so(&self, phrase: &Phrase, pool: Pool) -> Option<Found> {
        let (other, state) = match opens(pool)? {
            true => (Pool::Expanded, State::Expanded),
            false => (Pool::NotExpanded, State::Collapsed),
        };
        let is_so = |id: &NodeId| {
            self.state
                .element(*id)
                .is_some_and(|element| element.is(state))
        };
        let found = self.meant(phrase, other).ok()?;
        (!found.is_part && found.elements.iter().all(is_so)).then_some(found)
    }

    /// What a sentence that was read means on this page.
    pub fn resolve(&self, intent: &Intent) -> Translation {
        let own = self.resolve_element(intent);
        let (Translation::Step { step, target, .. }, Some(place)) = (&own, &intent.to) else {
            return own;
        };
        match self.resolve_element(&self.whole_place(place)) {
            Translation::Step { target: to, .. } if *target == to => {
                let reason = "it drags an element to itself".to_owned();
                Translation::NotUnderstood { reason }
            }
            Translation::Step {
                step: onto,
                target: to,
                ..
            } => {
                let mut step = step.clone();
                step.in_full = step.in_full.or(onto.in_full);
                let target = *target;
                Translation::Step { step, target, to }
            }
            other => other,
        }
    }

    /// What is dragged to a heading is dragged to the part of the page that it heads, and a column of a board may be one
    /// of several items.
    pub fn whole_place(&self, place: &Intent) -> Intent {
        let phrase = place.phrase.as_ref();
        let plain = phrase.and_then(|phrase| self.meant(phrase, place.pool).ok());
        let heading = plain.and_then(|found| match found.elements.as_slice() {
            [one] => self.state.element(*one).map(|element| (*one, element)),
            _ => None,
        });
        let inside = match heading {
            Some((id, element)) if element.role == "heading" => Some(id),
            Some(_) => return place.clone(),
            None => None,
        };
        let name = match (inside, phrase) {
            (Some(_), Some(phrase)) if phrase.is_label() => Some(&phrase.name),
            (None, Some(phrase)) if phrase.is_container() => phrase
                .within
                .as_ref()
                .and_then(|within| within.name.as_ref()),
            _ => None,
        };
        let of = |kind: ContainerKind| {
            let whole = Phrase::itself(Within {
                name: Some(name?.clone()),
                is_quoted: true,
                kind,
            });
            let found = self.meant(&whole, place.pool).ok()?.elements;
            let is_it = |one: NodeId| {
                inside.is_none_or(|inner| self.state.ancestors(inner).any(|outer| outer == one))
            };
            matches!(found.as_slice(), [one] if is_it(*one)).then_some(whole)
        };
        let kinds = [ContainerKind::Section, ContainerKind::Item];
        Intent {
            phrase: kinds.into_iter().find_map(of).or_else(|| phrase.cloned()),
            ..place.clone()
        }
    }

    /// The same without what it is dragged to.
    fn resolve_element(&self, intent: &Intent) -> Translation {
        let mut step = intent.step.clone();
        let found = |step: IntermediateStep, target: Option<NodeId>| Translation::Step {
            step: Box::new(step),
            target,
            to: None,
        };
        if step.action_type == ActionKind::Click {
            step.wants_open = opens(intent.pool);
        }
        // `Close the deal` may be the name of a button, and `Delete done`.
        let whole = Phrase::named(&step.description);
        let may_be_name = step.wants_open.is_some() || intent.pool == Pool::OfItem;
        let called = may_be_name.then(|| self.meant(&whole, Pool::Interactive).ok());
        if let Some(Found { mut elements, .. }) = called.flatten()
            && let [target] = *elements
        {
            let items = intent
                .phrase
                .as_ref()
                .filter(|_| intent.pool == Pool::OfItem);
            let items =
                items.and_then(|phrase| Some((phrase, self.meant(phrase, intent.pool).ok()?)));
            if let Some((phrase, items)) = items {
                elements.extend(items.elements);
                return self.ambiguous(intent, phrase, elements);
            }
            step.wants_open = None;
            return found(step, Some(target));
        }
        let Some(phrase) = &intent.phrase else {
            return found(step, None);
        };
        let kind = step.assertion.as_ref().map(|assertion| assertion.kind);
        let holds_text = kind == Some(AssertKind::Text);
        // `Email contains '@'` asks for what the field holds.
        let field = (holds_text && phrase.is_label() && intent.pool == Pool::Anything)
            .then(|| self.meant(phrase, Pool::FieldsAndSelects).ok())
            .flatten();
        let meant = field.map_or_else(|| self.meant(phrase, intent.pool), Ok);
        let meant = meant.or_else(|not_found| self.is_so(phrase, intent.pool).ok_or(not_found));
        let Found {
            elements, is_part, ..
        } = match meant {
            Ok(found) => found,
            // An item is not called by whatever stands in it.
            Err(_)
                if intent.pool == Pool::OfItem
                    && let Ok(found) = self.meant(phrase, Pool::Interactive) =>
            {
                return self.ambiguous(intent, phrase, found.elements);
            }
            Err(mut not_found) => {
                not_found.say = self.nearest_sentences(intent, phrase);
                not_found.say.extend(self.toggled(intent, phrase));
                return Translation::NotFound(not_found);
            }
        };
        // Of what is asserted a part of a name is not enough, whether it is to be there or not.
        let is_count = kind == Some(AssertKind::Count);
        if (elements.len() > 1 && !is_count) || (is_part && kind.is_some()) {
            return self.ambiguous(intent, phrase, elements);
        }
        let target = elements.first().copied();
        let is_in = |pool: Pool| target.is_some_and(|id| self.is_in_pool(id, pool));
        // What a checkbox or a radio button is called is no text that it shows.
        if holds_text && is_in(Pool::Checks) {
            return Translation::NotFound(NotFound {
                nearest: elements.iter().map(|&id| self.in_words(id)).collect(),
                ..NotFound::of(format!("text in {phrase}"))
            });
        }
        if let Some(assertion) = &mut step.assertion {
            if holds_text && phrase.is_label() && is_in(Pool::FieldsAndSelects) {
                assertion.kind = AssertKind::Value;
            }
        } else if intent.pool == Pool::FieldsAndSelects && is_in(Pool::Selects) {
            step.action_type = ActionKind::Select;
        }
        let is_part = is_part || (intent.pool == Pool::OfItem && !self.is_called_whole(phrase));
        if is_part {
            let say = self.clearer_sentences(intent, phrase, &elements);
            step.in_full = Some(say.into_iter().next().unwrap_or_default());
        }
        // What is called so only in part must not do what nobody says.
        if step.in_full.is_some()
            && let Some(id) = target
            && self.unsaid_danger(&step.description, &step, id).is_some()
        {
            return self.ambiguous(intent, phrase, elements);
        }
        found(step, target)
    }

    fn ambiguous(&self, intent: &Intent, phrase: &Phrase, elements: Vec<NodeId>) -> Translation {
        Translation::Ambiguous {
            words: elements.iter().map(|&id| self.in_words(id)).collect(),
            say: self.clearer_sentences(intent, phrase, &elements),
            candidates: elements,
        }
    }
}

/// What a sentence gives as it is: what stands in quotes, and references. Nothing if a quote is not closed.
pub fn given_texts(sentence: &str) -> Vec<String> {
    let tokens = Sentence::read(sentence).map_or_else(|_| Vec::new(), |sentence| sentence.tokens);
    tokens
        .into_iter()
        .filter_map(|token| match token.kind {
            TokenKind::Quoted(text) | TokenKind::Reference(text) => Some(text),
            TokenKind::Word(_) | TokenKind::Break => None,
        })
        .collect()
}
