//! Sentences that are proposed where one is refused: each is tried before it is printed.

use strum::VariantArray as _;

use super::phrase::{Phrase, RoleWord, Within};
use super::resolve::{SHOWN, label, name, placeholder};
use super::{Intent, Pool, Understanding, understand};
use crate::dom::{DomElement, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery};
use crate::{ActionKind, ContainerKind};

/// The longest name that a proposed sentence has, in characters.
const LONGEST: usize = 80;

impl Finder<'_> {
    /// Whether a text in quotes names an element: as the whole of what it is called or of a text in it, or of what it
    /// stands in, be that its row, its column or a part of the page.
    pub fn is_named(&self, id: NodeId, text: &str) -> bool {
        let sought = NameQuery::new(text);
        let fits = |text: &str| sought.fits(&single_spaces(text), NameMatch::Folded);
        let title = |element: &DomElement| element.attribute("title").is_some_and(&fits);
        let is_called = |element: &DomElement| {
            let mut names = [name, label, placeholder].into_iter();
            names.any(|of| of(element).is_some_and(&fits)) || title(element)
        };
        let has_text = |id: NodeId| self.text(id).is_some_and(|text| fits(&text));
        let mut parts = std::iter::once(id).chain(self.state.descendants(id).map(|(id, _)| id));
        parts.any(|id| self.state.element(id).is_some_and(is_called) || has_text(id))
            || self
                .column_heading(id)
                .is_some_and(|heading| fits(&heading))
            || ContainerKind::VARIANTS.iter().any(|kind| {
                let places = self.places(*kind, Some(text), true);
                places.iter().any(|place| place.contains(&id.0))
            })
    }

    /// A sentence as it is, but for the element in it.
    fn sentence_with(intent: &Intent, phrase: &Phrase) -> Option<String> {
        let text = &intent.step.description;
        let (before, after) = (text.get(..intent.span.start)?, text.get(intent.span.end..)?);
        let needs_article = phrase.position.is_some() || phrase.name.is_empty();
        let article = if needs_article { "the " } else { "" };
        if intent.pool == Pool::OfItem {
            return Some(format!("click {article}{phrase}"));
        }
        (!intent.span.is_empty()).then(|| format!("{before}{article}{phrase}{after}"))
    }

    /// The sentence with these words for its element, if it is understood and means only this one.
    fn tried(&self, intent: &Intent, phrase: &Phrase, id: NodeId) -> Option<String> {
        let sentence = Self::sentence_with(intent, phrase)?;
        let Understanding::Understood(again) = understand(&sentence) else {
            return None;
        };
        let is_place = intent.step.action_type == ActionKind::Drag && intent.to.is_none();
        let again = if is_place { again.to? } else { again };
        let found = self.meant(again.phrase.as_ref()?, again.pool).ok()?;
        let is_same = (again.pool == intent.pool || intent.pool == Pool::OfItem)
            && again.step.action_type == intent.step.action_type
            && !(found.is_part && again.step.assertion.is_some());
        (is_same && found.elements == [id]).then_some(sentence)
    }

    /// A sentence for each of the first elements that means it alone: with its role, its place, its whole name, or the
    /// position that it has among them.
    pub(super) fn clearer_sentences(
        &self,
        intent: &Intent,
        phrase: &Phrase,
        elements: &[NodeId],
    ) -> Vec<String> {
        let of = |(nth, &id): (usize, &NodeId)| {
            let with_role = self.with_role(phrase, id);
            let whole = self.phrase_of(id).filter(|_| !phrase.is_container());
            let whole = whole.map(|whole| Phrase {
                within: phrase.within.clone(),
                ..whole
            });
            let nth = Phrase {
                position: i32::try_from(nth + 1).ok(),
                ..phrase.clone()
            };
            if intent.pool == Pool::OfItem {
                // What it is in may not be called as the sentence says.
                let named = self.phrase_of(id)?;
                let mut ways = self.with_places(&named, id);
                ways.push(named);
                return ways.iter().find_map(|way| self.tried(intent, way, id));
            }
            let mut ways: Vec<Phrase> = with_role.iter().cloned().collect();
            ways.extend(self.with_places(phrase, id));
            for named in with_role.into_iter().chain(whole) {
                let places = self.with_places(&named, id);
                ways.push(named);
                ways.extend(places);
            }
            ways.push(nth);
            ways.iter().find_map(|way| self.tried(intent, way, id))
        };
        let first = elements.iter().take(SHOWN).enumerate();
        first.filter_map(of).collect()
    }

    /// Sentences that mean what comes near: what has the name, but another role or stands in another kind of place, else what
    /// has a part of the name, or almost the name.
    pub(super) fn nearest_sentences(&self, intent: &Intent, phrase: &Phrase) -> Vec<String> {
        let anywhere = Phrase {
            role: phrase.role.filter(|_| phrase.name.is_empty()),
            within: None,
            ..phrase.clone()
        };
        let is_in_place = |id: &NodeId| match &phrase.within {
            None => true,
            Some(Within {
                name: None, kind, ..
            }) => {
                let mut all = self.all_of(*kind).into_iter();
                all.any(|place| self.range(place).contains(&id.0))
            }
            Some(Within {
                name, is_quoted, ..
            }) => ContainerKind::VARIANTS.iter().any(|kind| {
                let places = self.places(*kind, name.as_deref(), *is_quoted);
                places.iter().any(|place| place.contains(&id.0))
            }),
        };
        let found = (!anywhere.is_any()).then(|| self.meant(&anywhere, intent.pool).ok());
        let mut elements = found
            .flatten()
            .map_or_else(Vec::new, |found| found.elements);
        elements.retain(is_in_place);
        let is_unnamed = phrase
            .within
            .as_ref()
            .is_some_and(|place| place.name.is_none());
        let clear = self.clearer_sentences(intent, &anywhere, &elements);
        if !clear.is_empty() || is_unnamed {
            return clear;
        }
        let nearest = self.nearest_elements(phrase, intent.pool);
        self.clearer_sentences(intent, phrase, &nearest)
    }

    /// A sentence that clicks a button which stays pressed: it is no checkbox, which can be turned on whatever it is.
    pub(super) fn toggled(&self, intent: &Intent, phrase: &Phrase) -> Option<String> {
        let phrase = Phrase {
            role: None,
            ..phrase.clone()
        };
        let found = self.meant(&phrase, Pool::Interactive).ok()?;
        let stays_pressed = |id: &NodeId| {
            let element = self.state.element(*id);
            element.is_some_and(|element| element.attribute("aria-pressed").is_some())
        };
        let is_it = intent.pool == Pool::Checks
            && matches!(found.elements.as_slice(), [one] if stays_pressed(one));
        is_it.then(|| format!("click {phrase}"))
    }

    /// With the role of an element, if none was said.
    fn with_role(&self, phrase: &Phrase, id: NodeId) -> Option<Phrase> {
        let role = RoleWord::of(&self.state.element(id)?.role)?;
        (phrase.role.is_none() && !phrase.is_container()).then(|| Phrase {
            role: Some(role),
            ..phrase.clone()
        })
    }

    /// With each of the containers of an element that has a name.
    pub(super) fn with_places(&self, phrase: &Phrase, id: NodeId) -> Vec<Phrase> {
        let place = self.place_of(id).map(|(role, name)| Within {
            name: Some(name),
            is_quoted: true,
            kind: ContainerKind::of_role(&role),
        });
        let landmark = self.landmark_of(id).map(|kind| Within {
            name: None,
            is_quoted: false,
            kind,
        });
        let item = self.item_container(id).map(|(_, container)| Within {
            name: container.text,
            is_quoted: true,
            kind: container.kind,
        });
        let within = place
            .into_iter()
            .chain(item)
            .chain(landmark)
            .filter(|_| !phrase.is_container())
            .map(|within| Phrase {
                within: Some(within),
                ..phrase.clone()
            });
        within.collect()
    }

    /// An element by its name and role.
    pub(super) fn phrase_of(&self, id: NodeId) -> Option<Phrase> {
        let element = self.state.element(id)?;
        let text = single_spaces(name(element).or_else(|| label(element)).unwrap_or_default());
        let name = match text.is_empty() {
            true => self.text(id)?,
            false => text,
        };
        // All that stands in a row is no name for it.
        let is_name = element.role != "row" && name.chars().count() <= LONGEST;
        is_name.then(|| Phrase {
            role: RoleWord::of(&element.role),
            ..Phrase::named(&name)
        })
    }

    /// Words that mean one element alone, such as `'Delete' button in the 'Invoice 1' row`. None if there are none.
    pub fn words_for(&self, id: NodeId) -> Option<String> {
        let phrase = self.phrase_of(id)?;
        let means_it = |phrase: &Phrase| {
            self.meant(phrase, Pool::Interactive)
                .is_ok_and(|found| found.elements == [id])
        };
        let places = self.with_places(&phrase, id);
        let clear = [phrase].into_iter().chain(places).find(means_it);
        clear.map(|phrase| phrase.to_string())
    }
}
