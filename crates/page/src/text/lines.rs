//! What of a state becomes a line, and what stands on it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::TextOptions;
use super::render::{one_line, quoted};
use crate::dom::{DomElement, DomKind, DomState, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::{cut_graphemes, fold, tokens};

/// How long the parts of a line may be, in graphemes.
const LONGEST_NAME: usize = 80;
const LONGEST_TEXT: usize = 200;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zone {
    Above,
    InView,
    Below,
    Covered,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element with an index, or a covered one.
    Element,
    /// A heading, a form and what else gives others a place; left out if nothing is in it.
    Region,
    /// A heading or a frame, which stay without anything in them.
    Lasting,
    Text,
}

/// A line before it is printed.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub kind: Kind,
    pub zone: Zone,
    /// The line that it is in, by its place in the list.
    pub parent: Option<usize>,
    /// Index, role and name; or the text.
    pub head: String,
    /// Keys and values, each with a space before.
    pub attributes: String,
    pub index: Option<u32>,
    /// How far it is from the viewport, in pixels.
    pub distance: f64,
    /// Whether it may never be left out.
    pub is_kept: bool,
    pub is_out: bool,
    /// What it looks like, apart from words: siblings of one shape are of one list.
    pub shape: u64,
    /// In front of it stands how many of its shape were left out, and the index of one like them.
    pub more: Option<(usize, u32)>,
}

/// Every line of a state, each after the one it is in.
pub(super) fn lines(finder: &Finder<'_>, options: &TextOptions<'_>) -> Vec<Line> {
    let mut maker = Maker {
        finder,
        options,
        origin: origin(&finder.state.page.url),
        action: content_words(options.action),
        labels: labels(finder.state),
        referenced: referenced(finder.state),
        lines: Vec::new(),
        run: None,
    };
    maker.walk();
    maker.lines
}

pub(super) struct Maker<'a> {
    pub(super) finder: &'a Finder<'a>,
    pub(super) options: &'a TextOptions<'a>,
    pub(super) origin: Option<&'a str>,
    action: Vec<String>,
    /// Names and labels of fields, folded.
    labels: HashSet<String>,
    /// Ids of elements that others are labelled by.
    referenced: HashSet<&'a str>,
    lines: Vec<Line>,
    run: Option<Run>,
}

/// Text that is not yet a line: pieces that follow each other in one block.
struct Run {
    block: Option<NodeId>,
    parent: Option<usize>,
    text: String,
    is_in_viewport: bool,
    near: Option<NodeId>,
}

/// An element that is being walked.
struct Open<'a> {
    end: u32,
    id: NodeId,
    element: &'a DomElement,
    line: Option<usize>,
    /// Its name, folded, if it is printed.
    name: String,
}

impl<'a> Maker<'a> {
    fn walk(&mut self) {
        let state = self.finder.state;
        let mut open: Vec<Open<'a>> = Vec::new();
        for (place, node) in state.nodes.iter().enumerate() {
            let Ok(place) = u32::try_from(place) else {
                return;
            };
            let id = NodeId(place);
            while open.last().is_some_and(|top| top.end <= place) {
                open.pop();
            }
            let parent = open.iter().rev().find_map(|top| top.line);
            match &node.kind {
                DomKind::Text(run) => {
                    if run.is_visible && !self.is_said(&open, &run.text) {
                        self.add_text(&open, parent, &run.text, run.is_in_viewport);
                    }
                }
                DomKind::Element(element) => {
                    let line = self.line_of(id, element, parent);
                    if line.is_some() || !is_inline(&element.tag_name) {
                        self.end_run();
                    }
                    let line = line.map(|line| {
                        self.lines.push(line);
                        self.lines.len() - 1
                    });
                    let name = line.map_or_else(String::new, |_| fold(&element.name));
                    open.push(Open {
                        end: node.end,
                        id,
                        element,
                        line,
                        name,
                    });
                }
            }
        }
        self.end_run();
    }

    /// The line of an element, if it has one.
    fn line_of(&self, id: NodeId, element: &DomElement, parent: Option<usize>) -> Option<Line> {
        if !element.is_visible {
            return None;
        }
        let is_covered = element.is_interactive && element.is_top_element == Some(false);
        let (kind, word) = if element.highlight_index.is_some() || is_covered {
            (Kind::Element, safe_word(element.kind()))
        } else {
            let (kind, word) = region(element)?;
            (kind, word.to_owned())
        };
        let mut head = String::new();
        if element.is_new == Some(true) && element.highlight_index.is_some() {
            head.push('*');
        }
        if let Some(index) = element.highlight_index {
            head.push_str(&format!("[{index}] "));
        }
        head.push_str(&word);
        let name = match (word.as_str(), element.name.as_str()) {
            ("frame", "") => self.finder.frame_name(id).unwrap_or_default(),
            (_, name) => single_spaces(name),
        };
        if !name.is_empty() {
            head.push(' ');
            head.push_str(&quoted(&cut_graphemes(&name, LONGEST_NAME)));
        }
        let attributes = self.attributes(element, &name, word == "frame");
        let zone = match (is_covered, element.is_in_viewport) {
            (true, _) => Zone::Covered,
            (_, true) => Zone::InView,
            _ => self.side(element),
        };
        let has_word = !self.action.is_empty() && {
            let words = tokens(&name);
            self.action.iter().any(|word| words.contains(word))
        };
        Some(Line {
            kind,
            zone,
            parent,
            index: element.highlight_index,
            distance: self.distance(element),
            is_kept: kind == Kind::Element && (zone == Zone::InView || has_word)
                || (kind == Kind::Lasting && has_word),
            is_out: false,
            shape: shape(element, &word),
            more: None,
            head,
            attributes,
        })
    }

    /// Above the viewport, or below it.
    fn side(&self, element: &DomElement) -> Zone {
        match element.rect {
            Some(rect) if rect.y + rect.height <= 0.0 => Zone::Above,
            _ => Zone::Below,
        }
    }

    fn distance(&self, element: &DomElement) -> f64 {
        let height = self.finder.state.page.viewport.1;
        element.rect.map_or(0.0, |rect| {
            (rect.y - height).max(-(rect.y + rect.height)).max(0.0)
        })
    }

    /// Whether a text is in the name of an element that is printed.
    fn is_said(&self, open: &[Open<'a>], text: &str) -> bool {
        let folded = fold(text);
        if folded.is_empty() {
            return false;
        }
        open.iter().any(|outer| {
            if outer.line.is_some() {
                return outer.name.contains(&folded);
            }
            let labels = outer.element.tag_name == "label"
                || outer
                    .element
                    .attribute("id")
                    .is_some_and(|id| self.referenced.contains(id));
            labels
                && (self.labels.contains(&folded)
                    || self
                        .labels
                        .contains(&fold(&self.finder.state.visible_text(outer.id))))
        })
    }

    fn add_text(
        &mut self,
        open: &[Open<'a>],
        parent: Option<usize>,
        text: &str,
        is_in_viewport: bool,
    ) {
        let block = open
            .iter()
            .rev()
            .find(|outer| !is_inline(&outer.element.tag_name))
            .map(|outer| outer.id);
        let goes_on = self.run.as_ref().is_some_and(|run| {
            run.block == block && run.parent == parent && run.is_in_viewport == is_in_viewport
        });
        if !goes_on {
            self.end_run();
        }
        let run = self.run.get_or_insert_with(|| Run {
            block,
            parent,
            text: String::new(),
            is_in_viewport,
            near: open.last().map(|outer| outer.id),
        });
        run.text.push_str(text);
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let text = one_line(&run.text);
        if text.is_empty() {
            return;
        }
        let element = run.near.and_then(|near| self.finder.state.element(near));
        let zone = match (run.is_in_viewport, element) {
            (true, _) => Zone::InView,
            (false, Some(element)) => self.side(element),
            (false, None) => Zone::Below,
        };
        self.lines.push(Line {
            kind: Kind::Text,
            zone,
            parent: run.parent,
            head: cut_graphemes(&text, LONGEST_TEXT).into_owned(),
            attributes: String::new(),
            index: None,
            distance: element.map_or(0.0, |element| self.distance(element)),
            is_kept: false,
            is_out: false,
            shape: 1,
            more: None,
        });
    }
}

/// The word for an element that gives others a place.
fn region(element: &DomElement) -> Option<(Kind, &'static str)> {
    Some(match element.role.as_str() {
        "heading" if !element.name.is_empty() => (Kind::Lasting, "heading"),
        "form" | "search" => (Kind::Region, "form"),
        "dialog" | "alertdialog" => (Kind::Lasting, "dialog"),
        "navigation" => (Kind::Region, "navigation"),
        "table" | "grid" | "treegrid" => (Kind::Region, "table"),
        "list" => (Kind::Region, "list"),
        _ => match element.tag_name.as_str() {
            "iframe" | "frame" => (Kind::Lasting, "frame"),
            "form" => (Kind::Region, "form"),
            _ => return None,
        },
    })
}

/// A role or key that comes from the page, without what could make it look like something else.
pub(super) fn safe_word(word: &str) -> String {
    let is_safe = !word.is_empty()
        && word.len() <= 60
        && word
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | ':'));
    match is_safe {
        true => word.to_owned(),
        false => "element".to_owned(),
    }
}

/// What an element looks like, apart from words.
fn shape(element: &DomElement, word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    element.tag_name.hash(&mut hasher);
    element.attribute("class").hash(&mut hasher);
    hasher.finish()
}

/// Whether text goes on across an element.
pub(crate) fn is_inline(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
    )
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |end| start + end);
    Some(&url[..end])
}

/// The names and labels of everything with an index.
fn labels(state: &DomState) -> HashSet<String> {
    state
        .selector_map
        .iter()
        .filter_map(|&id| state.element(id))
        .flat_map(|element| [fold(&element.name), fold(&element.label)])
        .filter(|label| !label.is_empty())
        .collect()
}

/// Ids that elements are labelled by.
fn referenced(state: &DomState) -> HashSet<&str> {
    state
        .elements()
        .filter_map(|(_, element)| element.attribute("aria-labelledby"))
        .flat_map(str::split_ascii_whitespace)
        .collect()
}

/// Words of a sentence that say what it is about.
fn content_words(action: &str) -> Vec<String> {
    const EMPTY: &[&str] = &[
        "a", "an", "the", "in", "into", "on", "to", "of", "and", "with", "from", "is", "that",
        "click", "type", "enter", "fill", "select", "choose", "check", "press", "verify", "assert",
        "expect", "button", "link", "field", "box", "please",
    ];
    let mut words = tokens(action);
    words.retain(|word| !EMPTY.contains(&word.as_str()));
    words
}
