//! What an element stands in, innermost first: its item, frames, dialogs, named sections, and the headings above it.

use super::{ContainedText, Place};
use crate::dom::{DomElement, DomKind, DomNode, NodeId};
use crate::identity::LONGEST_TEXT;
use crate::selector::Finder;
use crate::sentences::Phrase;
use crate::words::fold_name;
use crate::{Container, ContainerKind, TextPlace};
use cuecard_source::value::cut;

impl Container {
    /// Whether a part of the page of this kind must be there once: an item, a dialog, a frame. The others are sections.
    pub(crate) fn is_whole(&self) -> bool {
        self.kind.is_item() || matches!(self.kind, ContainerKind::Dialog | ContainerKind::Frame)
    }

    /// Whether it is known by a title, which may have a count.
    fn has_title(&self) -> bool {
        self.kind == ContainerKind::Section || self.at == TextPlace::Heading
    }

    pub(crate) fn folded_text(&self) -> String {
        fold_name(self.text.as_deref().unwrap_or_default())
    }
}

impl Finder<'_> {
    /// What an element stands in, innermost first, each with its part of the page; the place that a sentence named is as it
    /// was said.
    pub(crate) fn outline(&self, id: NodeId, said: Option<&Phrase>) -> Vec<(Place, Container)> {
        let item = self.item_of(id);
        let mut around: Vec<(Place, Container)> = self
            .named_around(id)
            .chain(self.headed_around(id))
            .chain(item.map(|(item, container)| (self.range(item), container)))
            .collect();
        if let Some(within) = said.and_then(|phrase| phrase.within.as_ref())
            && let Some(container) = self.container_said(id, within)
            // What a dialog says tells it from the next one, also where the sentence does not name it.
            && (container.text.is_some()
                || container.kind != ContainerKind::Dialog
                || said.is_some_and(|phrase| phrase.position.is_some()))
        {
            let places = self.parts_called(&container).into_iter();
            let around_it = places.filter(|place| place.contains(&id.0));
            if let Some(place) = around_it.min_by_key(size) {
                around.retain(|(known, _)| *known != place);
                around.push((place, container));
            }
        }
        let mut around: Vec<(Place, Container)> = around
            .into_iter()
            .map(|(place, one)| (place, self.without_title_count(one)))
            .filter(|(place, one)| self.parts_called(one).contains(place))
            .collect();
        // A heading that names its item or dialog says nothing more.
        let is_title = |(_, one): &(Place, Container)| one.is_whole() || one.at == TextPlace::Name;
        let titled: Vec<(Place, String)> = around
            .iter()
            .filter(|&one| is_title(one))
            .map(|(place, one)| (place.clone(), one.folded_text()))
            .collect();
        let is_element = |place: &Place| self.range(NodeId(place.start)) == *place;
        around.retain(|(place, one)| {
            one.is_whole()
                || one.at == TextPlace::Name
                || !titled.iter().any(|(outer, title)| {
                    *title == one.folded_text()
                        || (outer.contains(&place.start)
                            && outer.end <= place.end
                            && !is_element(place))
                })
        });
        around.sort_by_key(|(place, _)| size(place));
        around.dedup_by(|(_, one), (_, other)| one.kind == other.kind && one.text == other.text);
        around
    }

    /// The parts of the page that a container of an outline is. The count in a title may be another one by now.
    pub(crate) fn parts_called(&self, container: &Container) -> Vec<Place> {
        let found = match (&container.text, container.is_whole()) {
            (Some(text), false) => {
                let folded = fold_name(text);
                self.parts_by(container, &|title| fold_name(title) == folded)
            }
            _ => self.places_of(container),
        };
        match &container.text {
            Some(text) if found.is_empty() && container.has_title() => {
                let folded = fold_name(text);
                self.parts_by(container, &|title| {
                    fold_name(without_count(title)) == folded
                })
            }
            _ => found,
        }
    }

    fn parts_by(&self, container: &Container, fits: &dyn Fn(&str) -> bool) -> Vec<Place> {
        let made = container.made.as_deref().filter(|_| container.is_whole());
        let named = self.named_places(container.kind, made, fits);
        named.into_iter().map(|(place, _)| place).collect()
    }

    /// A container without the count in its title, if no other has that title but for the count. Of an item a number is more
    /// often its name, unless those beside it have counts behind other words.
    pub(super) fn without_title_count(&self, container: Container) -> Container {
        let title = container.text.as_deref().unwrap_or_default();
        let bare = without_count(title);
        if !container.has_title() || bare.len() == title.len() {
            return container;
        }
        let folded = fold_name(bare);
        let alike = self.parts_by(&container, &|title| {
            fold_name(without_count(title)) == folded
        });
        let counted = || {
            self.parts_by(&container, &|title| {
                without_count(title).len() < title.len()
            })
        };
        match alike.len() < 2 && (!container.kind.is_item() || counted().len() > 1) {
            true => Container {
                text: Some(bare.to_owned()),
                ..container
            },
            false => container,
        }
    }

    /// The frames, dialogs and named sections around an element.
    fn named_around(&self, id: NodeId) -> impl Iterator<Item = (Place, Container)> {
        const KINDS: &[ContainerKind] = &[
            ContainerKind::Frame,
            ContainerKind::Dialog,
            ContainerKind::Section,
        ];
        let around = self.state.ancestor_elements(id);
        around.filter_map(move |(outer, element)| {
            let kind = *KINDS
                .iter()
                .find(|kind| self.is_container(outer, element, **kind))?;
            let text = self.container_texts(outer, kind).into_iter().next();
            let is_it = match &text {
                Some(text) if element.shadow_root => {
                    self.is_host_title(id, outer, element, &text.text)
                }
                text => text.is_some() || kind != ContainerKind::Section,
            };
            (is_it && !self.is_item(outer, element)).then(|| {
                (
                    self.range(outer),
                    Container {
                        kind,
                        at: text.as_ref().map(|text| text.at).unwrap_or_default(),
                        text: text.map(|text| text.text),
                        made: Some(super::made_of(element)),
                        ..Container::default()
                    },
                )
            })
        })
    }

    /// What stands below each heading above an element.
    fn headed_around(&self, id: NodeId) -> impl Iterator<Item = (Place, Container)> {
        let above = self.headings_above(id.0).into_iter();
        above.filter_map(move |title| {
            let container = Container {
                kind: ContainerKind::Section,
                text: Some(title),
                at: TextPlace::Heading,
                ..Container::default()
            };
            let parts = self.parts_called(&container).into_iter();
            let around = parts.filter(|place| place.contains(&id.0));
            Some((around.min_by_key(size)?, container))
        })
    }

    /// Whether a text names a host of a shadow root: a label, or one text that others put into it, and not what the element
    /// in it is called.
    fn is_host_title(&self, id: NodeId, host: NodeId, element: &DomElement, text: &str) -> bool {
        let folded = fold_name(text);
        let own = self.state.element(id);
        let is_own = own.is_some_and(|own| fold_name(&self.name_or_text(id, own)) == folded);
        let is_run = |node: &DomNode| match &node.kind {
            DomKind::Text(run) => fold_name(&run.text) == folded,
            DomKind::Element(_) => false,
        };
        let range = host.index()..self.state.node(host).end as usize;
        !is_own
            && (element.attribute("aria-label").is_some()
                || self.state.nodes[range].iter().any(is_run))
    }

    /// The item that an element is in, by a text that tells it from others and that is not the element's own. What follows
    /// the element's own text says nothing of the item: that is called by the element itself.
    fn item_of(&self, id: NodeId) -> Option<(NodeId, Container)> {
        let (item, _) = self.state.ancestor_elements(id).find(|(outer, element)| {
            self.is_item(*outer, element)
                || self.is_parallel(*outer, id)
                || self.is_line(*outer, id)
        })?;
        let mut texts = self.item_texts(item);
        let own = self.state.element(id);
        let own = own.map(|own| fold_name(&self.name_or_text(id, own)));
        let is_own = |text: &ContainedText| {
            self.is_own_text(id, text.element, &text.text)
                || own.as_deref() == Some(&fold_name(&text.text))
        };
        if let Some(own) = texts.iter().position(is_own) {
            let mut nth = 0;
            texts.retain(|text| {
                nth += 1;
                let is_before = nth <= own && !crate::figures::is_figure(&text.text);
                (is_before || text.at == TextPlace::Heading) && !is_own(text)
            });
        }
        let text = self.distinguishing(item, &texts)?;
        let kind = super::item_kind(self.state.element(item)?);
        (text.text.chars().count() <= LONGEST_TEXT)
            .then(|| (item, self.container_with(kind, item, text)))
    }

    /// Whether `outer` is a line of a list that is made of no list elements: with one element of the kind in it, as those
    /// beside it.
    fn is_line(&self, outer: NodeId, inner: NodeId) -> bool {
        const MOST_IN_LINE: u32 = 20;
        let Some(element) = self.state.element(inner) else {
            return false;
        };
        let has_one = |id: NodeId| {
            let inside = self.state.descendants(id);
            let alike = inside.filter(|(_, other)| {
                other.is_visible && other.role == element.role && other.tag_name == element.tag_name
            });
            alike.count() == 1
        };
        self.size(outer) <= MOST_IN_LINE
            && has_one(outer)
            && matches!(self.likes(outer), likes if likes.len() > 1 && likes.iter().all(|&like| has_one(like)))
    }

    /// The headings over what begins at a node, nearest first: the nearest before it, and before that the nearest of a
    /// higher level. Each stands beside what that is in, alone or in a bar of its own, and in no other item.
    fn headings_above(&self, start: u32) -> Vec<String> {
        const MOST_IN_BAR: usize = 12;
        let holds = |outer: &NodeId| (outer.0..self.state.node(*outer).end).contains(&start);
        let is_over = |id: NodeId| {
            let mut around = self.state.ancestors(id);
            match around.next() {
                Some(outer) if holds(&outer) => true,
                Some(bar) => {
                    let end = self.state.node(bar).end as usize;
                    end - bar.index() <= MOST_IN_BAR
                        && around.next().is_some_and(|outer| holds(&outer))
                }
                None => false,
            }
        };
        let of_none_other = |id: NodeId| self.items_around(id).all(|item| holds(&item));
        let before = self.state.elements().take_while(|(id, _)| id.0 < start);
        let headings: Vec<_> = before
            .filter(|(id, element)| element.is_visible && element.role == "heading" && is_over(*id))
            .collect();
        let mut above = Vec::new();
        let mut level = u32::MAX;
        for (id, heading) in headings.into_iter().rev() {
            let own = heading.level.unwrap_or(2);
            if own < level && of_none_other(id) && !heading.name.is_empty() {
                level = own;
                above.push(cut(&heading.name, LONGEST_TEXT).into_owned());
            }
        }
        above
    }
}

/// A title without a count at its end, unless there is nothing else in it.
pub(super) fn without_count(title: &str) -> &str {
    let bare = title.trim_end_matches(|char: char| char.is_ascii_digit());
    match bare.ends_with(' ') && bare.contains(char::is_alphabetic) {
        true => bare.trim_end(),
        false => title,
    }
}

fn size(place: &Place) -> u32 {
    place.end - place.start
}
