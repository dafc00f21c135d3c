//! What became of a name: elements that have another one by now, and others that have the old one.

use super::fingerprint::scope_words;
use super::place::{is_in, is_same_place};
use super::verdict::{Remembered, is_kind};
use crate::Fingerprint;
use crate::containers::Place;
use crate::dom::{DomElement, NodeId};
use crate::selector::{Finder, Pattern, Selector, looks_generated};
use crate::words::{NameMatch, NameQuery, fold, fold_name, tokens};
use cuecard_source::value::cut;

impl Finder<'_> {
    /// Elements that may be what was remembered although `id` has its name: what shows that name too, in another way,
    /// beside it; what has a new name in its old place, if `id` is elsewhere, or this one has its id; and what went into a
    /// frame, or stands elsewhere in its container, if `id` is not all that was remembered.
    pub(super) fn rivals(
        &self,
        id: NodeId,
        remembered: Remembered<'_>,
        place: Option<&Place>,
        is_same: bool,
    ) -> Vec<NodeId> {
        let fingerprint = remembered.fingerprint;
        if fold(fingerprint.called()).is_empty() {
            return Vec::new();
        }
        let has_ids = |id: NodeId, element: &DomElement| {
            self.has_test_id_of(id, remembered) || has_plain_id(element, remembered)
        };
        let element = self.state.element(id);
        let is_marked = element.is_some_and(|element| has_ids(id, element));
        // What is in a component by now may be a copy.
        let is_in_other_scope =
            element.is_some_and(|element| scope_words(element) != fingerprint.scope);
        let has_moved = self.has_moved(id, fingerprint);
        let was_alone = fingerprint.of == 1 || !fingerprint.within.is_empty();
        let is_made_otherwise =
            element.is_some_and(|element| was_made_otherwise(element, remembered));
        let has_one_left =
            is_made_otherwise && self.newcomers_and_leavers(fingerprint, place).1 > 0;
        let text = self.label_on(id);
        let is_rival = |other: NodeId, element: &DomElement| {
            let is_new = self.is_newcomer(other, element, fingerprint);
            let shows_it = self.shows_its_name(other, fingerprint);
            // Signs and counts come to a name and go: which of two is the old one, they don't say.
            let is_called_so = was_alone
                && (self.has_name(other, element, fingerprint)
                    || (is_new && (shows_it || self.has_badge(other, element, remembered))));
            // The name may have gone to what was called otherwise, and a new one to what stands where it stood.
            let took_its_place = has_one_left && self.stands_where_it_was(other, remembered);
            // An icon that is called otherwise by now, beside another one of its name, or one in a component.
            let parent = |id| self.state.ancestors(id).next();
            let may_be_copy = place.is_some() || is_in_other_scope || parent(other) == parent(id);
            let shows_the_same = may_be_copy
                && text.as_deref().is_some_and(|text| !text.is_empty())
                && self.label_on(other) == text;
            // What had a name and has none by now lost it to what was put beside it.
            let lost_its_name = element.name.is_empty()
                && self.name_or_text(other, element).is_empty()
                && !self.stands_where_it_was(id, remembered);
            let is_renamed = is_new
                && (has_moved
                    || lost_its_name
                    || shows_it
                    || took_its_place
                    || shows_the_same
                    || has_ids(other, element));
            match is_marked {
                // Nothing tells which of two has the ids of the other by now.
                true => has_ids(other, element),
                false => {
                    is_called_so || is_renamed || (is_in_other_scope && has_ids(other, element))
                }
            }
        };
        let in_its_place = self
            .in_its_path(fingerprint)
            .filter(|(other, _)| *other != id && is_in(place, *other))
            .filter(|(other, element)| is_rival(*other, element));
        // What went elsewhere may have gone into a frame too.
        let had_no_twin = fingerprint.of == 1 && fingerprint.within.is_empty();
        let in_frames = self.state.elements().filter(|&(other, element)| {
            // A copy has the ids of what it was made from.
            let may_be_it = match is_marked {
                true => had_no_twin && has_ids(other, element),
                false => has_moved || !is_same,
            };
            may_be_it && self.is_twin(other, element, fingerprint) && !is_kind(element, fingerprint)
        });
        // Where it was told apart from its twins it was alone: of two there by now, this one may have come; so may what
        // is elsewhere, in a component or in other tags by now, if there was none beside it.
        let may_have_come = is_in_other_scope || has_moved || is_made_otherwise;
        let was_one = place.is_some() || (fingerprint.of == 1 && may_have_come);
        let may_be_any = was_one && (!is_same || has_moved);
        // Which of two in parts without names is where it was, nobody can say.
        let is_there =
            |other| had_no_twin && is_same_place(&self.path(other, &[]), &fingerprint.path);
        let twins = match may_be_any || had_no_twin {
            true => self.twins(fingerprint),
            false => Vec::new(),
        };
        let beside = twins.into_iter().filter(|&other| {
            let has_ids = |element| has_ids(other, element);
            other != id
                && is_in(place, other)
                && (may_be_any || is_there(other))
                && (!is_marked || self.state.element(other).is_some_and(has_ids))
        });
        in_its_place
            .chain(in_frames)
            .map(|(other, _)| other)
            .chain(beside)
            .chain(self.between_its_neighbours(id, fingerprint, place))
            .collect()
    }

    /// What stands where the element stood: several, if there is a copy of a container that had no like.
    fn standing_there(&self, remembered: Remembered<'_>) -> Vec<NodeId> {
        let xpath = remembered.selectors.last();
        xpath.map_or_else(Vec::new, |xpath| self.find(xpath))
    }

    /// The elements that are where it was, with another count beside its name. None if the name, or most of it, is still
    /// on the page, or if more came to its place than went.
    pub(super) fn badged(&self, remembered: Remembered<'_>, place: Option<&Place>) -> Vec<NodeId> {
        let fingerprint = remembered.fingerprint;
        let badged: Vec<NodeId> = self
            .in_its_path(fingerprint)
            .filter(|(id, element)| {
                is_in(place, *id)
                    && self.is_newcomer(*id, element, fingerprint)
                    && self.has_badge(*id, element, remembered)
            })
            .map(|(id, _)| id)
            .collect();
        if badged.is_empty() {
            return badged;
        }
        let words = tokens(fingerprint.called());
        let has_its_words = |name: &str| {
            let found = tokens(name);
            let n_common = words.iter().filter(|word| found.contains(word)).count();
            n_common * 2 > words.len()
        };
        let others = || {
            self.state.elements().filter(|(id, element)| {
                element.is_visible && is_kind(element, fingerprint) && !badged.contains(id)
            })
        };
        // A badge comes to one of several: its twins keep the name, in other items, or in other parts if there are no more
        // than there were.
        let is_in_item = fingerprint
            .within
            .first()
            .is_some_and(|container| container.kind.is_item());
        let n_twins = others()
            .filter(|(id, element)| self.has_name(*id, element, fingerprint) && !is_in(place, *id))
            .filter(|(id, _)| !is_in_item || self.item_around(*id).is_none())
            .count();
        let has_new_twins = n_twins >= if is_in_item { 1 } else { fingerprint.of.max(1) };
        let is_named_elsewhere = others().any(|(id, element)| {
            (self.has_name(id, element, fingerprint)
                || has_its_words(&self.name_or_text(id, element)))
                && (is_in(place, id) || has_new_twins)
        });
        let (came, went) = self.newcomers_and_leavers(fingerprint, place);
        let is_one_of_several = came > badged.len()
            && badged
                .iter()
                .any(|id| !self.stands_where_it_was(*id, remembered));
        match is_named_elsewhere || came > went || is_one_of_several {
            true => Vec::new(),
            false => badged,
        }
    }

    /// The only element with its test id or plain id, or with its name as text, that is called as nothing in its place was;
    /// and what it has of it, in words. It may be the one under a new name, or another one.
    pub(super) fn renamed(
        &self,
        remembered: Remembered<'_>,
        place: Option<&Place>,
    ) -> Option<(NodeId, String)> {
        let fingerprint = remembered.fingerprint;
        let mut found = self.state.elements().filter_map(|(id, element)| {
            let may_be_it = element.is_visible
                && is_kind(element, fingerprint)
                && is_in(place, id)
                && self.is_newcomer(id, element, fingerprint);
            let mark = match () {
                () if !may_be_it => return None,
                () if self.has_test_id_of(id, remembered) => {
                    format!("test id `{}`", self.test_id(element).unwrap_or_default())
                }
                () if has_plain_id(element, remembered) => {
                    format!("id `{}`", element.attribute("id").unwrap_or_default())
                }
                // Several show one text: the one that was meant stands near what it stood near.
                () if self.shows_its_name(id, fingerprint)
                    && self.is_near_what_it_was(id, fingerprint) =>
                {
                    "text".to_owned()
                }
                () => return None,
            };
            Some((id, mark))
        });
        let (id, mark) = found.next()?;
        let before = match cut(fingerprint.called(), 60) {
            name if name.is_empty() => "an element without a name".to_owned(),
            name => format!("\"{name}\""),
        };
        let reason = format!("{} has the {mark} of {before}", self.in_words(id));
        found.next().is_none().then_some((id, reason))
    }

    fn stands_where_it_was(&self, id: NodeId, remembered: Remembered<'_>) -> bool {
        self.standing_there(remembered) == [id]
    }

    /// Whether the text that people read on an element is the name that was remembered.
    fn shows_its_name(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        let name = fold_name(fingerprint.called());
        !name.is_empty() && fold_name(&self.state.visible_text(id)) == name && !self.holds_frame(id)
    }

    /// Whether an element has the name that was remembered, and a number in an element of its own behind it. The old name
    /// may have had another number only if it has its id: `Step 2` is not `Step 3`.
    fn has_badge(&self, id: NodeId, element: &DomElement, remembered: Remembered<'_>) -> bool {
        fn parts(name: &str) -> (&str, &str) {
            let words = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
            (words.trim_end(), &name[words.len()..])
        }
        let old = fold_name(remembered.fingerprint.called());
        let now = fold_name(&self.name_or_text(id, element));
        let ((old_words, old_count), (words, count)) = (parts(&old), parts(&now));
        let is_badge = |text: &str| {
            let mut inside = self.state.descendants(id);
            inside.any(|(inner, _)| self.state.visible_text(inner).trim() == text)
        };
        let has_ids = || self.has_test_id_of(id, remembered) || has_plain_id(element, remembered);
        words == old_words
            && !words.is_empty()
            && (count.is_empty() || is_badge(count))
            && (old_count.is_empty() || has_ids())
    }

    /// How many names came to the place in which it was, and how many went from there, itself included.
    fn newcomers_and_leavers(
        &self,
        fingerprint: &Fingerprint,
        place: Option<&Place>,
    ) -> (usize, usize) {
        let mut left: Vec<String> = known_names(fingerprint).map(fold_name).collect();
        let mut newcomers = 0_usize;
        let inside = self
            .in_its_path(fingerprint)
            .filter(|(id, _)| is_in(place, *id));
        for (id, element) in inside {
            let name = fold_name(&self.name_or_text(id, element));
            match left.iter().position(|known| *known == name) {
                Some(at) => {
                    left.swap_remove(at);
                }
                None => newcomers += 1,
            }
        }
        (newcomers, left.len())
    }

    /// Whether nothing of its role was called so in the place where it was.
    pub(super) fn is_newcomer(
        &self,
        id: NodeId,
        element: &DomElement,
        fingerprint: &Fingerprint,
    ) -> bool {
        let sought = NameQuery::new(&self.name_or_text(id, element));
        !known_names(fingerprint).any(|name| sought.fits(name, NameMatch::Folded))
    }
}

/// What it and the elements of its role where it was were called.
fn known_names(fingerprint: &Fingerprint) -> impl Iterator<Item = &str> {
    let likes = fingerprint.likes.iter().map(String::as_str);
    likes.chain([fingerprint.called()])
}

/// Whether the elements around one are other ones than around what was remembered, wherever among their like they stand.
fn was_made_otherwise(element: &DomElement, remembered: Remembered<'_>) -> bool {
    let tags = |xpath: &str| -> Vec<String> {
        let steps = xpath.split('/');
        steps
            .map(|step| step.split('[').next().unwrap_or_default().to_owned())
            .collect()
    };
    let xpath = remembered.selectors.last();
    let pattern = xpath.map(|selector| &selector.pattern);
    matches!(pattern, Some(Pattern::XPath(xpath)) if tags(xpath) != tags(&element.xpath))
}

/// Whether an element has an id that was remembered, and that a person gave.
pub(super) fn has_plain_id(element: &DomElement, remembered: Remembered<'_>) -> bool {
    element.attribute("id").is_some_and(|id| {
        let plain_ids = remembered.selectors.iter().filter_map(Selector::plain_id);
        !looks_generated(id) && plain_ids.into_iter().any(|plain| plain == id)
    })
}

/// Whether one of the selectors is an id that a person gave.
pub(super) fn are_by_id(selectors: &[Selector]) -> bool {
    selectors
        .iter()
        .any(|one| matches!(one.pattern, Pattern::TestId(_)) || one.plain_id().is_some())
}
