//! From a capture to nodes: documents are put inline at their owners, addresses and places become those of the page.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::nodes::{Place, element, text};
use super::processor::DomError;
use super::state::{DomKind, DomNode, FrameInfo, HopKind, NodeId, Rect, ScopeHop};
use super::wire;
use crate::snapshot::single_spaces;
use cuecard_source::value::cut;

/// How deep elements may nest in one document: as deep as browsers let a page nest them.
const DEEPEST: usize = 512;

/// How many documents may be inside each other.
const MOST_NESTED: usize = 16;

/// The longest step of an xpath, in characters.
const LONGEST_STEP: usize = 300;

/// Nodes, and what was found out about frames.
#[derive(Default)]
pub(super) struct Decoded {
    pub nodes: Vec<DomNode>,
    pub frames: Vec<FrameInfo>,
    pub warnings: Vec<String>,
}

/// Where an element is within its document.
struct Local {
    xpath: String,
    /// The shadow host whose root it is in, by its place among the document's nodes.
    host: Option<usize>,
    depth: usize,
}

/// A document with the addresses of its elements; texts have none.
struct Placed {
    document: wire::Document,
    locals: Vec<Option<Local>>,
    /// The elements by where they are, if something is inside one of them.
    by_address: HashMap<(Option<usize>, String), usize>,
    is_shadow: bool,
}

/// Puts all documents of a capture together.
pub(super) fn decode(capture: wire::Capture) -> Result<Decoded, DomError> {
    let wire::Capture {
        owners,
        documents,
        warnings,
        ..
    } = capture;
    let owner_of = |index: usize| owners.get(index).and_then(Option::as_ref);
    let outer: HashSet<usize> = owners
        .iter()
        .flatten()
        .map(|owner| owner.document)
        .collect();
    let mut placed = Vec::with_capacity(documents.len());
    for (index, document) in documents.into_iter().enumerate() {
        let is_shadow = owner_of(index).is_some_and(|owner| owner.kind == HopKind::Shadow);
        let mut document = place(document, index, is_shadow)?;
        if outer.contains(&index) {
            document.learn_addresses();
        }
        placed.push(document);
    }
    let mut decoded = Decoded {
        warnings,
        ..Decoded::default()
    };
    // What is inside which element, by document and node.
    let mut inner: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for index in 1..placed.len() {
        let found = owner_of(index).and_then(|owner| {
            // An owner stands in an earlier document, so that nothing is inside itself.
            let outer = placed
                .get(owner.document)
                .filter(|_| owner.document < index)?;
            Some((owner.document, outer.find(&owner.path)?))
        });
        match found {
            Some(key) => inner.entry(key).or_default().push(index),
            None => decoded.warnings.push(format!(
                "the document {} is left out: its owner is not on the page",
                cut(&placed[index].document.url, 200)
            )),
        }
    }
    let mut builder = Builder {
        placed,
        inner,
        decoded,
    };
    if !builder.placed.is_empty() {
        let viewport = builder.placed[0].document.viewport;
        builder.emit(
            0,
            &Place {
                parent: None,
                scope: Arc::from([]),
                offset: (0.0, 0.0),
                clip: Some(Rect {
                    x: 0.0,
                    y: 0.0,
                    width: viewport[0],
                    height: viewport[1],
                }),
                is_visible: true,
                is_in_viewport: true,
                is_covered: false,
            },
            0,
        );
    }
    let mut decoded = builder.decoded;
    close(&mut decoded.nodes);
    Ok(decoded)
}

/// Says of each node where what is inside it ends.
fn close(nodes: &mut [DomNode]) {
    for index in (0..nodes.len()).rev() {
        let (end, parent) = (nodes[index].end, nodes[index].parent);
        if let Some(parent) = parent {
            let outer = &mut nodes[parent.index()];
            outer.end = outer.end.max(end);
        }
    }
}

/// Checks the order of the nodes and gives each element its address.
fn place(document: wire::Document, number: usize, is_shadow: bool) -> Result<Placed, DomError> {
    let malformed = |index: usize, what: &str| {
        DomError::Malformed(format!("node {index} of document {number} {what}"))
    };
    let mut locals: Vec<Option<Local>> = Vec::with_capacity(document.nodes.len());
    let mut open: Vec<usize> = Vec::new();
    for (index, node) in document.nodes.iter().enumerate() {
        match node.parent {
            Some(parent) => {
                while open.last().is_some_and(|&top| top != parent) {
                    open.pop();
                }
                if open.is_empty() {
                    return Err(malformed(index, "is not inside an element before it"));
                }
            }
            None if index > 0 && !is_shadow => {
                return Err(malformed(index, "is a second root"));
            }
            None => open.clear(),
        }
        if node.tag_name.is_none() {
            if node.text.is_none() {
                return Err(malformed(index, "is neither an element nor a text"));
            }
            locals.push(None);
            continue;
        }
        if !is_path(&node.path, open.is_empty()) {
            return Err(malformed(index, "has no usable path"));
        }
        let outer = open
            .last()
            .and_then(|&parent| Some((parent, locals.get(parent)?.as_ref()?)));
        let depth = outer.map_or(0, |(_, outer)| outer.depth) + 1;
        if depth > DEEPEST {
            return Err(DomError::TooDeep { limit: DEEPEST });
        }
        let local = match outer {
            None => Local {
                xpath: node.path.clone(),
                host: None,
                depth,
            },
            Some((_, outer)) if !node.path.starts_with('/') => Local {
                xpath: format!("{}/{}", outer.xpath, node.path),
                host: outer.host,
                depth,
            },
            Some((parent, _)) if node.out == 0 => Local {
                xpath: node.path.clone(),
                host: Some(parent),
                depth,
            },
            Some((_, outer)) => {
                let mut host = outer.host;
                for _ in 0..node.out {
                    let Some(Some(local)) = host.and_then(|host| locals.get(host)) else {
                        return Err(malformed(index, "is further out than its document"));
                    };
                    host = local.host;
                }
                Local {
                    xpath: node.path.clone(),
                    host,
                    depth,
                }
            }
        };
        locals.push(Some(local));
        open.push(index);
    }
    Ok(Placed {
        document,
        locals,
        by_address: HashMap::new(),
        is_shadow,
    })
}

/// Whether a text can be a step of an xpath, or all of one.
fn is_path(path: &str, is_root: bool) -> bool {
    (!is_root || path.starts_with('/'))
        && path.chars().nth(LONGEST_STEP).is_none()
        && is_written_well(path)
}

/// Whether a text has nothing in it that no xpath has.
fn is_written_well(path: &str) -> bool {
    let is_odd =
        |sign: char| sign.is_whitespace() || sign.is_control() || matches!(sign, '>' | '\\');
    !path.is_empty() && !path.contains(is_odd) && path.matches('"').count().is_multiple_of(2)
}

impl Placed {
    fn learn_addresses(&mut self) {
        for (index, local) in self.locals.iter().enumerate() {
            if let Some(local) = local {
                let address = (local.host, local.xpath.clone());
                self.by_address.entry(address).or_insert(index);
            }
        }
    }

    /// The element at the end of a way through shadow hosts.
    fn find(&self, path: &[String]) -> Option<usize> {
        let mut host = None;
        for xpath in path {
            host = Some(*self.by_address.get(&(host, xpath.clone()))?);
        }
        host
    }
}

struct Builder {
    placed: Vec<Placed>,
    inner: HashMap<(usize, usize), Vec<usize>>,
    decoded: Decoded,
}

impl Builder {
    fn emit(&mut self, number: usize, place: &Place, nested: usize) {
        let nodes = std::mem::take(&mut self.placed[number].document.nodes);
        let key = document_key(number, &self.placed[number].document.document_id);
        let mut scopes: HashMap<Option<usize>, Arc<[ScopeHop]>> =
            HashMap::from([(None, place.scope.clone())]);
        let mut ids: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.into_iter().enumerate() {
            let Ok(id) = u32::try_from(self.decoded.nodes.len()) else {
                return;
            };
            ids.push(NodeId(id));
            let parent = match node.parent {
                Some(parent) => ids.get(parent).copied(),
                None => place.parent,
            };
            let is_root = node.parent.is_none() && !self.placed[number].is_shadow;
            let content = node.content;
            let kind = match self.placed[number].locals[index].take() {
                None => {
                    let outer = parent.map(|parent| &self.decoded.nodes[parent.index()].kind);
                    let is_around_in_view = match outer {
                        Some(DomKind::Element(outer)) => outer.is_in_viewport,
                        _ => place.is_in_viewport,
                    };
                    DomKind::Text(text(node, place, is_around_in_view))
                }
                Some(local) => {
                    let scope = self.scope(number, &mut scopes, local.host);
                    let mut element = element(node, place, key);
                    element.is_visible |= is_root && place.is_visible;
                    element.xpath.clone_from(&local.xpath);
                    element.scope = scope;
                    if local.host.is_some()
                        && let Some(parent) = parent
                        && let DomKind::Element(outer) =
                            &mut self.decoded.nodes[parent.index()].kind
                    {
                        let is_first = element.scope.last().is_some_and(|hop| {
                            hop.kind == HopKind::Shadow && hop.xpath == outer.xpath
                        });
                        outer.shadow_root |= is_first && element.scope.len() > outer.scope.len();
                    }
                    self.placed[number].locals[index] = Some(local);
                    DomKind::Element(Box::new(element))
                }
            };
            self.decoded.nodes.push(DomNode {
                parent,
                end: id + 1,
                kind,
            });
            for inner in self.inner.remove(&(number, index)).unwrap_or_default() {
                self.enter(inner, NodeId(id), content, place, nested);
            }
        }
    }

    /// Emits a document inside the element that it belongs to.
    fn enter(
        &mut self,
        number: usize,
        owner: NodeId,
        content: Option<[f64; 4]>,
        place: &Place,
        nested: usize,
    ) {
        let document = &self.placed[number];
        if nested >= MOST_NESTED {
            self.decoded.warnings.push(format!(
                "the document {} is left out: more than {MOST_NESTED} are inside each other",
                cut(&document.document.url, 200)
            ));
            return;
        }
        let DomKind::Element(element) = &mut self.decoded.nodes[owner.index()].kind else {
            return;
        };
        let hop = |kind| ScopeHop {
            kind,
            xpath: element.xpath.clone(),
        };
        let with = |kind| -> Arc<[ScopeHop]> {
            element.scope.iter().cloned().chain([hop(kind)]).collect()
        };
        let inner = if document.is_shadow {
            element.shadow_root = true;
            Place {
                parent: Some(owner),
                scope: with(HopKind::Shadow),
                offset: place.offset,
                clip: place.clip,
                ..*place
            }
        } else {
            let content = content.map(Rect::from).map(|rect| rect.moved(place.offset));
            let shown = content.or(element.rect).unwrap_or_default();
            self.decoded.frames.push(FrameInfo {
                owner,
                url: document.document.url.clone(),
                title: single_spaces(&document.document.title),
            });
            Place {
                parent: Some(owner),
                scope: with(HopKind::Frame),
                offset: (shown.x, shown.y),
                clip: Some(match place.clip {
                    Some(clip) => shown.common(clip),
                    None => shown,
                }),
                is_visible: element.is_visible,
                is_in_viewport: element.is_in_viewport,
                is_covered: element.is_top_element == Some(false),
            }
        };
        self.emit(number, &inner, nested + 1);
    }

    fn scope(
        &self,
        number: usize,
        scopes: &mut HashMap<Option<usize>, Arc<[ScopeHop]>>,
        host: Option<usize>,
    ) -> Arc<[ScopeHop]> {
        if let Some(scope) = scopes.get(&host) {
            return scope.clone();
        }
        // Hosts come before what is inside them, so each is one hop further than one that is known.
        let local = host.and_then(|host| self.placed[number].locals[host].as_ref());
        let Some(local) = local else {
            return scopes[&None].clone();
        };
        let outer = self.scope(number, scopes, local.host);
        let scope: Arc<[ScopeHop]> = outer
            .iter()
            .cloned()
            .chain([ScopeHop {
                kind: HopKind::Shadow,
                xpath: local.xpath.clone(),
            }])
            .collect();
        scopes.insert(host, scope.clone());
        scope
    }
}

/// A number for a document, so that the ids of nodes of two documents differ.
fn document_key(number: usize, document_id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (number, document_id).hash(&mut hasher);
    hasher.finish()
}
