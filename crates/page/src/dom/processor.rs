//! Decodes captures, one after the other: what one taught (which fields were secret, what was there) counts for the
//! next.

use std::collections::HashSet;
use std::fmt;

use super::decode::decode;
use super::novelty::Seen;
use super::secrets::{Masks, address, hide_value, is_secret_field, mask, mask_element};
use super::state::{DomElement, DomKind, DomNode, DomState, Evidence, NodeId, PageInfo, TabInfo};
use super::wire::{self, Capture};
use crate::snapshot::single_spaces;

/// A page has at most this many elements, and a capture this many nodes, documents and bytes.
pub(super) const MOST_ELEMENTS: usize = 50_000;
pub(super) const MOST_NODES: usize = 200_000;
const MOST_DOCUMENTS: usize = 2_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Why a capture can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DomError {
    /// It is not what the walk returns.
    Malformed(String),
    /// The page has more than is read.
    TooLarge {
        /// What there is too much of: elements, nodes, documents or bytes.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// The bound.
        limit: usize,
        /// The element with the largest part of it, in words.
        largest: Option<String>,
    },
    /// Elements nest deeper than is read.
    TooDeep {
        /// The bound.
        limit: usize,
    },
}

impl fmt::Display for DomError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(formatter, "the capture can't be read: {what}"),
            Self::TooLarge {
                what,
                found,
                limit,
                largest,
            } => {
                write!(
                    formatter,
                    "the page has {found} {what}; the limit is {limit}"
                )?;
                match largest {
                    Some(largest) => write!(formatter, "; the largest part is in {largest}"),
                    None => Ok(()),
                }
            }
            Self::TooDeep { limit } => {
                write!(
                    formatter,
                    "the page has elements nested more than {limit} levels deep"
                )
            }
        }
    }
}

impl std::error::Error for DomError {}

/// Makes DOM states of captures.
#[derive(Debug, Clone)]
pub struct DomProcessor {
    test_id_attribute: String,
    secrets: Masks,
    /// Fields that were secret once in this run, by document and address or by node.
    secret_fields: HashSet<(String, String)>,
    secret_nodes: HashSet<u64>,
    previous: Option<Seen>,
}

impl DomProcessor {
    /// A processor that knows these secrets. `test_id_attribute` is the attribute that tests name elements by.
    pub fn new(test_id_attribute: impl Into<String>, secrets: impl Into<Masks>) -> Self {
        Self {
            test_id_attribute: test_id_attribute.into(),
            secrets: secrets.into(),
            secret_fields: HashSet::new(),
            secret_nodes: HashSet::new(),
            previous: None,
        }
    }

    /// Learns a secret without a name.
    pub fn hide(&mut self, text: &str) {
        self.secrets.hide(text);
    }

    /// Decodes a capture: masks secrets, gives indexes, and marks what is new since the previous one.
    ///
    /// # Errors
    /// If the text is no capture, or the page is too large.
    pub fn read(&mut self, json: &str) -> Result<DomState, DomError> {
        let (state, seen) = self.decoded(json)?;
        self.previous = Some(seen);
        Ok(state)
    }

    /// The same, but what comes next is still compared with the capture that was read before: for looks between two
    /// steps, of which there may be any number.
    ///
    /// # Errors
    /// As [`DomProcessor::read`].
    pub fn peek(&mut self, json: &str) -> Result<DomState, DomError> {
        self.decoded(json).map(|(state, _)| state)
    }

    fn decoded(&mut self, json: &str) -> Result<(DomState, Seen), DomError> {
        if json.len() > MOST_BYTES {
            return Err(too_large("bytes", json.len(), MOST_BYTES));
        }
        let capture: Capture = serde_json::from_str(json).map_err(|error| {
            // The position only: the library's words may hold what stands in the page.
            let (line, column) = (error.line(), error.column());
            let why = match error.classify() {
                serde_json::error::Category::Data => "it does not have the shape of one",
                _ => "it is not JSON",
            };
            DomError::Malformed(format!("{why}, at {line}:{column}"))
        })?;
        check_size(&capture)?;
        let page = self.page(&capture)?;
        let decoded = decode(capture)?;
        let mut state = DomState {
            page,
            nodes: decoded.nodes,
            selector_map: Vec::new(),
            warnings: decoded.warnings,
        };
        state.page.frames = decoded.frames;
        if state.nodes.is_empty() {
            return Err(DomError::Malformed("the top document is empty".to_owned()));
        }
        self.mask(&mut state);
        self.index(&mut state);
        let seen = Seen::of(&state, &self.test_id_attribute);
        if let Some(previous) = &self.previous {
            previous.mark(&mut state, &seen);
        }
        Ok((state, seen))
    }

    fn page(&self, capture: &Capture) -> Result<PageInfo, DomError> {
        let Some(top) = capture.documents.first() else {
            return Err(DomError::Malformed("it has no document".to_owned()));
        };
        Ok(PageInfo {
            url: top.url.clone(),
            title: single_spaces(&top.title),
            document_id: top.document_id.clone(),
            viewport: top.viewport.into(),
            scroll: top.scroll.into(),
            size: top.size.into(),
            tabs: capture
                .tabs
                .iter()
                .map(|tab| TabInfo {
                    title: single_spaces(&tab.title),
                    ..tab.clone()
                })
                .collect(),
            frames: Vec::new(),
            happened: capture.happened.clone(),
        })
    }

    /// Takes secrets out of every text of a state.
    fn mask(&mut self, state: &mut DomState) {
        let document = state.page.document_id.clone();
        for node in &mut state.nodes {
            match &mut node.kind {
                DomKind::Text(run) => mask(&mut run.text, &self.secrets),
                DomKind::Element(element) => {
                    if self.is_secret(element, &document) {
                        hide_value(element);
                    }
                    mask_element(element, &self.secrets);
                }
            }
        }
        let page = &mut state.page;
        let tabs = page
            .tabs
            .iter_mut()
            .flat_map(|tab| [&mut tab.url, &mut tab.title]);
        let frames = page
            .frames
            .iter_mut()
            .flat_map(|frame| [&mut frame.url, &mut frame.title]);
        let happened = &mut page.happened;
        let happened = [&mut happened.dialog, &mut happened.download];
        for text in [&mut page.url, &mut page.title]
            .into_iter()
            .chain(happened.into_iter().flatten())
            .chain(tabs)
            .chain(frames)
            .chain(&mut state.warnings)
        {
            mask(text, &self.secrets);
        }
    }

    /// Whether a field is secret, or was once in this run.
    fn is_secret(&mut self, element: &DomElement, document: &str) -> bool {
        let is_field = matches!(element.tag_name.as_str(), "input" | "textarea");
        if !is_field {
            return false;
        }
        let key = (document.to_owned(), address(&element.scope, &element.xpath));
        if is_secret_field(element) {
            self.secret_fields.insert(key);
            self.secret_nodes.extend(element.node_id);
            return true;
        }
        match element.node_id {
            Some(node) => self.secret_nodes.contains(&node),
            None => self.secret_fields.contains(&key),
        }
    }

    /// Gives an index to each element that can be seen, used and reached.
    fn index(&self, state: &mut DomState) {
        // Where what is inside the last indexed element ends.
        let mut inside_until = 0;
        for place in 0..state.nodes.len() {
            let DomNode { end, kind, .. } = &mut state.nodes[place];
            let DomKind::Element(element) = kind else {
                continue;
            };
            let is_usable = element.is_visible
                && element.is_interactive
                && element.is_top_element != Some(false);
            if !is_usable {
                continue;
            }
            let is_strong = !matches!(element.evidence, None | Some(Evidence::Cursor));
            let is_inside = (place as u64) < u64::from(inside_until);
            let has_test_id = element.attribute(&self.test_id_attribute).is_some();
            if is_inside && !is_strong && !has_test_id {
                continue;
            }
            let (Ok(index), Ok(id)) = (
                u32::try_from(state.selector_map.len()),
                u32::try_from(place),
            ) else {
                continue;
            };
            element.highlight_index = Some(index);
            state.selector_map.push(NodeId(id));
            inside_until = inside_until.max(*end);
        }
    }
}

fn too_large(what: &'static str, found: usize, limit: usize) -> DomError {
    DomError::TooLarge {
        what,
        found,
        limit,
        largest: None,
    }
}

fn check_size(capture: &Capture) -> Result<(), DomError> {
    if capture.version != wire::VERSION {
        let version = capture.version;
        return Err(DomError::Malformed(format!(
            "unsupported version {version}"
        )));
    }
    if capture.documents.len() > MOST_DOCUMENTS {
        let found = capture.documents.len();
        return Err(too_large("documents", found, MOST_DOCUMENTS));
    }
    let nodes = || {
        capture
            .documents
            .iter()
            .flat_map(|document| &document.nodes)
    };
    let elements = nodes().filter(|node| node.tag_name.is_some()).count();
    let all = nodes().count();
    let (what, found, limit) = match elements > MOST_ELEMENTS {
        true => ("elements", elements, MOST_ELEMENTS),
        false if all > MOST_NODES => ("nodes", all, MOST_NODES),
        false => return Ok(()),
    };
    Err(DomError::TooLarge {
        what,
        found,
        limit,
        largest: capture
            .documents
            .iter()
            .max_by_key(|document| document.nodes.len())
            .and_then(largest),
    })
}

/// The innermost element that still has more than half of a document's nodes.
fn largest(document: &wire::Document) -> Option<String> {
    let nodes = &document.nodes;
    let mut sizes = vec![1_usize; nodes.len()];
    for index in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[index].parent.filter(|&parent| parent < index) {
            sizes[parent] += sizes[index];
        }
    }
    let at = (0..nodes.len())
        .rev()
        .find(|&index| sizes[index] * 2 > nodes.len())?;
    let node = &nodes[at];
    let tag = node.tag_name.as_deref()?;
    let id = node.attributes.iter().find(|(name, _)| name == "id");
    Some(match id {
        Some((_, id)) => format!("`{tag}#{id}`"),
        None => format!("a `{tag}` element"),
    })
}
