//! What an element is called and what stands around it, to find the words of a sentence there.

use super::gist::{LONGEST_NAME, Part, holds};
use super::synonyms::{
    are_alike, is_item_noun, is_place_noun, is_silent, noun_of, plain_words, position_words,
};
use crate::containers::{is_cell, is_control};
use crate::dom::{DomElement, DomKind, NodeId, State};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::fold_name;

/// The most nodes of a part of the page whose texts say where an element stands. Of greater ones only headings do.
const MOST_NODES: usize = 300;

/// What holds a heading and no more nodes than this is a bar over what follows.
const MOST_IN_BAR: usize = 12;

/// How high what people call the top of a page is, and the bottom, in CSS pixels.
const TOP: f64 = 150.0;

/// What people call any part of a page.
const PARTS: &[&str] = &[
    "area", "banner", "bar", "column", "block", "box", "group", "panel", "part", "section",
    "widget",
];

/// What people call all of a page.
const PAGES: &[&str] = &[
    "app",
    "board",
    "calendar",
    "dashboard",
    "data",
    "list",
    "screen",
    "site",
    "table",
    "view",
    "website",
];

/// Whether a word may mean any part of a page, or all of it.
pub(super) fn is_any_part(word: &str) -> bool {
    let word = word.to_lowercase();
    PARTS.contains(&word.as_str()) || PAGES.contains(&word.as_str())
}

/// What an element is called.
pub(super) struct Called {
    /// The words of each of its names.
    pub names: Vec<Vec<String>>,
    /// Its names, folded.
    folded: Vec<String>,
    /// Words for what it is, and those that its author calls it in classes and ids.
    hints: Vec<String>,
}

/// An element that every word fits.
pub(super) struct Fitting {
    pub id: NodeId,
    /// The smallest part of the page in which all words are found; none if they are all its own.
    pub scope: Option<NodeId>,
    /// Whether it has no words in its name that the sentence has not.
    pub is_whole: bool,
    /// Whether it has no name.
    pub is_nameless: bool,
}

impl Called {
    /// Whether a part is in one of its names, or in what its author calls it.
    pub(super) fn has(&self, part: &Part) -> bool {
        match part {
            Part::Word(word) | Part::Noun(word, _) => {
                let mut known = self.names.iter().flatten().chain(&self.hints);
                known.any(|own| are_alike(own, word))
            }
            Part::Words { folded, words, .. } => {
                // A badge is no part of a name.
                let is_word = |word: &&String| !is_number(word);
                let mut names = self.names.iter();
                self.folded.contains(folded)
                    || names.any(|name| name.iter().filter(is_word).eq(words.iter()))
            }
            Part::Nth { .. } => false,
        }
    }

    /// Whether one of its names has no words but these, or it has none.
    pub(super) fn is_within(&self, parts: &[Part], free: &[String]) -> bool {
        let is_said = |own: &String| {
            is_silent(own)
                || is_number(own)
                || free.iter().any(|word| are_alike(own, word))
                || parts.iter().any(|part| match part {
                    Part::Word(word) | Part::Noun(word, _) => are_alike(own, word),
                    Part::Words { words, .. } => words.contains(own),
                    Part::Nth { .. } => false,
                })
        };
        let says_more = |name: &Vec<String>| name.iter().any(|word| !is_silent(word));
        let mut names = self.names.iter();
        self.names.is_empty() || names.any(|name| says_more(name) && name.iter().all(is_said))
    }
}

impl Finder<'_> {
    /// What an element is called.
    pub(super) fn called(&self, id: NodeId) -> Called {
        let element = self.state.element(id);
        let attributes = ["placeholder", "title", "aria-label", "alt"];
        let given = element.into_iter().flat_map(|element| {
            let own = [Some(element.name.as_str()), Some(element.label.as_str())];
            let attributes = attributes.map(|name| element.attribute(name));
            own.into_iter().chain(attributes).flatten()
        });
        let mut texts: Vec<String> = given
            .map(single_spaces)
            .filter(|text| !text.is_empty())
            .collect();
        if element.is_some_and(|element| element.name.is_empty()) {
            let text = self.text(id);
            texts.extend(text.filter(|text| text.chars().count() <= LONGEST_NAME));
        }
        texts.dedup();
        let mut hints: Vec<String> = element.map(hints).unwrap_or_default();
        // What is chosen is read on a list.
        hints.extend(element.into_iter().flat_map(|element| {
            let value = element.attribute("value").unwrap_or_default();
            let mut options = element.options.iter();
            let chosen = options.find(|option| option.value == value);
            chosen
                .map(|option| plain_words(&option.label))
                .unwrap_or_default()
        }));
        Called {
            names: texts.iter().map(|text| plain_words(text)).collect(),
            folded: texts.iter().map(|text| fold_name(text)).collect(),
            hints,
        }
    }

    /// Whether one of the parts is a word for what an element is.
    pub(super) fn is_of(&self, id: NodeId, parts: &[Part]) -> bool {
        let is_long = self
            .text(id)
            .is_some_and(|text| text.chars().count() > LONGEST_NAME);
        let role = self
            .state
            .element(id)
            .map_or("", |element| element.role.as_str());
        let is_noun = |part: &Part| matches!(part, Part::Word(word) | Part::Noun(word, _) if noun_of(role, word));
        !is_long && parts.iter().any(is_noun)
    }

    /// Of the elements that all parts fit the one in the smallest part of the page.
    pub(super) fn best(&self, mut fitting: Vec<Fitting>) -> Option<NodeId> {
        if fitting.iter().any(|one| !one.is_nameless) {
            fitting.retain(|one| !one.is_nameless);
        }
        if fitting.iter().any(|one| one.is_whole) {
            fitting.retain(|one| one.is_whole);
        }
        let ranges: Vec<_> = fitting
            .iter()
            .map(|one| self.range(one.scope.unwrap_or(one.id)))
            .collect();
        let is_around = |outer: usize| {
            let outer = &ranges[outer];
            ranges
                .iter()
                .any(|inner| inner != outer && outer.start <= inner.start && inner.end <= outer.end)
        };
        let innermost: Vec<&Fitting> = (0..fitting.len())
            .filter(|&place| !is_around(place))
            .map(|place| &fitting[place])
            .collect();
        // Of what is in an item, and what is in an item inside of it, the first is its own.
        let is_own = |one: &&&Fitting| one.scope.is_some() && self.item_around(one.id) == one.scope;
        let own: Vec<&&Fitting> = innermost.iter().filter(is_own).collect();
        match (innermost.as_slice(), own.as_slice()) {
            ([one], _) => Some(one.id),
            (_, [one]) => Some(one.id),
            _ => None,
        }
    }

    /// The smallest part of the page in which all parts are found: nothing around the element if they are all its own.
    /// None if there is none.
    pub(super) fn scope(
        &self,
        id: NodeId,
        called: &Called,
        parts: &[Part],
    ) -> Option<Option<NodeId>> {
        let role = self.state.element(id)?.role.as_str();
        let side = self.side_of(id);
        let heading: Vec<Vec<String>> = self
            .column_heading(id)
            .map(|heading| plain_words(&heading))
            .into_iter()
            .collect();
        let is_own = |part: &Part| {
            let is_said = match part {
                Part::Word(word) | Part::Noun(word, _) => {
                    noun_of(role, word) || side.contains(&word.as_str())
                }
                _ => false,
            };
            is_said || called.has(part) || is_found(part, &heading, &[])
        };
        let mut left: Vec<&Part> = parts.iter().filter(|part| !is_own(part)).collect();
        if left.is_empty() {
            return Some(None);
        }
        let mut inner = id;
        for (outer, element) in self.state.ancestor_elements(id) {
            let texts = self.said_around(inner, outer, id);
            let words = hints(element);
            let is_item = self.is_one_of_several(outer);
            let is_small = self.range(outer).len() <= MOST_NODES;
            let is_page = outer == NodeId(0);
            let n_before = left.len();
            left.retain(|part| {
                let is_noun = match part {
                    Part::Word(word) => {
                        is_place_noun(word, element)
                            || (is_small && PARTS.contains(&word.as_str()))
                            || (is_page && PAGES.contains(&word.as_str()))
                    }
                    Part::Noun(word, is_plural) => {
                        is_item || is_place_noun(word, element) || (is_page && *is_plural)
                    }
                    _ => false,
                };
                !is_noun && !is_found(part, &texts, &words)
            });
            // `the second post about tea` may be the second of those about tea.
            let is_told_apart = left.len() < n_before || n_before + 1 < parts.len();
            left.retain(|part| match part {
                Part::Nth { order, noun } => {
                    is_told_apart || !is_item || !self.is_in_order(outer, order, noun, &words)
                }
                _ => true,
            });
            if left.is_empty() {
                return Some(Some(outer));
            }
            inner = outer;
        }
        None
    }

    /// Words for where on the page an element is seen.
    fn side_of(&self, id: NodeId) -> Vec<&'static str> {
        let rect = self.state.element(id).and_then(|element| element.rect);
        let Some((x, y)) = rect.map(super::super::dom::Rect::centre) else {
            return Vec::new();
        };
        let (width, height) = self.state.page.size;
        let sides: [(bool, &[&str]); 4] = [
            (
                x < width / 3.0,
                &["left", "side", "sidebar", "panel", "corner"],
            ),
            (
                x > width * 2.0 / 3.0,
                &["right", "side", "sidebar", "panel", "corner"],
            ),
            (y < TOP, &["top", "header", "bar", "corner", "toolbar"]),
            (y > height - TOP, &["bottom", "footer", "corner"]),
        ];
        let words = sides.into_iter().filter(|(is_there, _)| *is_there);
        words.flat_map(|(_, words)| words.iter().copied()).collect()
    }

    /// Whether an item is in this place among those alike, and called so.
    fn is_in_order(&self, id: NodeId, order: &str, noun: &str, hints: &[String]) -> bool {
        let is_outermost = || {
            !self
                .state
                .ancestors(id)
                .any(|outer| self.is_one_of_several(outer))
        };
        let is_called =
            hints.iter().any(|hint| hint == noun) || (is_item_noun(noun) && is_outermost());
        let likes = self.likes(id);
        let at = likes.iter().position(|&like| like == id);
        is_called
            && at.is_some_and(|at| {
                position_words(at, likes.len())
                    .iter()
                    .any(|word| word == order)
            })
    }

    /// The texts in `outer` that say what stands beside them: its name, and all in it but what is in `inner`, what people
    /// act on, and what is in other items than the element is.
    fn said_around(&self, inner: NodeId, outer: NodeId, id: NodeId) -> Vec<Vec<String>> {
        let mut texts = Vec::new();
        if let Some(element) = self.state.element(outer) {
            texts.push(plain_words(&self.place_name(outer, element)));
            texts.extend(element.attribute("aria-label").map(plain_words));
        }
        // What opens a part of the page stands first in it, and is its heading.
        let opener = self
            .state
            .children(outer)
            .find(|&child| self.state.element(child).is_some());
        let opener = opener.filter(|&child| {
            let mut element = self.state.element(child).into_iter();
            child != inner
                && element.any(|element| element.role.is_empty() && element.is_interactive)
        });
        texts.extend(opener.map(|opener| plain_words(&self.state.visible_text(opener))));
        let heading = self.own_heading(outer);
        texts.extend(heading.map(|heading| plain_words(&self.element_name(heading))));
        // Of all that stands on a page only headings say where something is.
        let is_small = self.range(outer).len() <= MOST_NODES && outer != NodeId(0);
        let children: Vec<NodeId> = self.state.children(outer).collect();
        let place = children.iter().position(|&child| child == inner);
        let (before, after) = children.split_at(place.unwrap_or(children.len()));
        let mut least = self.heading_in(inner).map_or(u32::MAX, |(_, level)| level);
        let mut is_below_heading = false;
        for &child in before.iter().rev() {
            match self.heading_in(child) {
                // A heading is over all that follows, up to the next one that is no smaller.
                Some((heading, level)) if self.range(child).len() <= MOST_IN_BAR => {
                    if level < least {
                        texts.push(plain_words(&self.element_name(heading)));
                        least = level;
                    }
                    is_below_heading = true;
                }
                None if is_small && !is_below_heading && !self.is_other(child, inner, id) => {
                    self.texts_of(child, &mut texts);
                }
                _ => {}
            }
        }
        for &child in after.iter().skip(1).filter(|_| is_small) {
            match self.heading_in(child) {
                Some(_) if self.range(child).len() <= MOST_IN_BAR => break,
                None if !self.is_other(child, inner, id) => {
                    self.texts_of(child, &mut texts);
                }
                _ => {}
            }
        }
        texts
    }

    /// The first heading in a part of the page, with its level from 1.
    fn heading_in(&self, id: NodeId) -> Option<(NodeId, u32)> {
        let own = self.state.element(id).map(|element| (id, element));
        let mut inside = own.into_iter().chain(self.state.descendants(id));
        let (heading, element) =
            inside.find(|(_, element)| element.is_visible && element.role == "heading")?;
        Some((heading, element.level.unwrap_or(2)))
    }

    /// Whether a neighbour of `inner` is an item beside the one that the element is in.
    fn is_other(&self, neighbour: NodeId, inner: NodeId, id: NodeId) -> bool {
        let Some(element) = self.state.element(neighbour) else {
            return false;
        };
        !is_cell(&element.role)
            && (self.is_one_of_several(neighbour)
                || (inner != id
                    && self.likes(inner).contains(&neighbour)
                    && self.is_parallel(inner, id)))
    }

    fn is_one_of_several(&self, id: NodeId) -> bool {
        let mut element = self.state.element(id).into_iter();
        element.any(|element| self.is_item(id, element) || self.is_block(id, element))
    }

    /// The texts inside a node that nobody acts on and that are in no item of their own; all of them together too, since
    /// words that follow each other may stand in several elements.
    fn texts_of(&self, id: NodeId, texts: &mut Vec<Vec<String>>) -> String {
        let element = match &self.state.node(id).kind {
            DomKind::Text(run) if run.is_visible => {
                texts.push(plain_words(&run.text));
                return run.text.trim().to_owned();
            }
            DomKind::Text(_) => return String::new(),
            DomKind::Element(element) => element,
        };
        let folds = element.is(State::Expanded) || element.is(State::Collapsed);
        let is_acted_on =
            is_control(&element.role) || (element.role.is_empty() && element.is_interactive);
        let is_item = !is_cell(&element.role) && self.is_item(id, element);
        let is_of_column = element.role == "columnheader";
        if !element.is_visible || is_of_column || is_item || (is_acted_on && !folds) {
            return String::new();
        }
        if matches!(element.role.as_str(), "img" | "image") {
            texts.push(plain_words(&element.name));
        }
        let inside: Vec<String> = self
            .state
            .children(id)
            .map(|child| self.texts_of(child, texts))
            .filter(|text| !text.is_empty())
            .collect();
        let whole = inside.join(" ");
        if inside.len() > 1 && whole.chars().count() <= LONGEST_NAME {
            texts.push(plain_words(&whole));
        }
        whole
    }
}

/// What the author of a page calls an element: its role and tag, and what its classes and ids say.
pub(super) fn hints(element: &DomElement) -> Vec<String> {
    let given = ["class", "id", "name", "data-testid", "type"].map(|name| element.attribute(name));
    let mut words: Vec<String> = given
        .into_iter()
        .flatten()
        .flat_map(|text| plain_words(&text.replace(['-', '_'], " ")))
        .collect();
    words.extend([element.tag_name.clone(), element.role.clone()]);
    words
}

/// Whether a part is in one of several texts, or one of these words.
pub(super) fn is_found(part: &Part, texts: &[Vec<String>], words: &[String]) -> bool {
    match part {
        Part::Word(word) | Part::Noun(word, _) => {
            texts.iter().flatten().any(|known| known == word)
                || words.iter().any(|known| are_alike(known, word))
        }
        Part::Words { words, .. } => texts.iter().any(|text| holds(text, words)),
        Part::Nth { .. } => false,
    }
}

fn is_number(word: &str) -> bool {
    word.chars().all(|sign| sign.is_ascii_digit())
}
