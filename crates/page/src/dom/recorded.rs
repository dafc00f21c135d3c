//! States in files: written as they were decoded, secrets already taken out, and read again as the same states.
//!
//! The keys are those of a capture where they mean the same. What is inside what is said by `parent`, as in a capture;
//! addresses are whole, and places are those of the page.

use serde::{Deserialize, Serialize};

use super::decode::{DEEPEST, MOST_NESTED};
use super::processor::{DomError, MOST_ELEMENTS, MOST_NODES};
use super::state::{
    DomElement, DomKind, DomNode, DomState, DomText, Evidence, FrameInfo, HopKind, NodeId,
    PageInfo, ScopeHop, SelectOption, State, States, TabInfo, TopBasis,
};
use super::wire::{Attributes, Basis, By, Kind, Tab};
use cuecard_source::value::Json;

/// How deep nodes of all documents may nest.
const DEEPEST_OF_ALL: usize = DEEPEST * (MOST_NESTED + 1);

impl DomState {
    /// The state for a file.
    pub fn to_recorded(&self) -> Json {
        let recorded = Recorded::of(self);
        // Everything in it is a text, a number, a list or an object with texts for keys.
        serde_json::to_value(recorded).unwrap_or(Json::Null)
    }

    /// The state that stands in a file. Nodes have no numbers of their own in it.
    ///
    /// # Errors
    /// If it is none, or larger than a state may be.
    pub fn from_recorded(json: &Json) -> Result<Self, DomError> {
        let recorded = Recorded::deserialize(json)
            .map_err(|error| DomError::Malformed(format!("it is not a recorded state: {error}")))?;
        recorded.state()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    page: Page,
    nodes: Vec<Node>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Page {
    url: String,
    title: String,
    document_id: String,
    viewport: (f64, f64),
    scroll: (f64, f64),
    size: (f64, f64),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tabs: Vec<Tab>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<Frame>,
}

#[derive(Serialize, Deserialize)]
struct Frame {
    owner: u32,
    url: String,
    #[serde(default)]
    title: String,
}

/// An element if it has a `tagName`, else a text.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Node {
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag_name: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    xpath: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scope: Vec<(Kind, String)>,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    attributes: Attributes,
    #[serde(skip_serializing_if = "is_false")]
    is_visible: bool,
    #[serde(skip_serializing_if = "is_false")]
    is_interactive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    interactive_by: Option<By>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_top_element: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_basis: Option<Basis>,
    #[serde(skip_serializing_if = "is_false")]
    is_in_viewport: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_new: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highlight_index: Option<u32>,
    #[serde(skip_serializing_if = "is_false")]
    shadow_root: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    role: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u32>,
    #[serde(skip_serializing_if = "is_false")]
    is_aria_hidden: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filled: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<(String, String)>,
    #[serde(skip_serializing_if = "is_zero")]
    option_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rect: Option<[f64; 4]>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Recorded {
    fn of(state: &DomState) -> Self {
        let page = &state.page;
        let tabs = page.tabs.iter().map(|tab| Tab {
            page_index: tab.page_index,
            url: tab.url.clone(),
            title: tab.title.clone(),
            current: tab.current,
        });
        let frames = page.frames.iter().map(|frame| Frame {
            owner: frame.owner.0,
            url: frame.url.clone(),
            title: frame.title.clone(),
        });
        Self {
            page: Page {
                url: page.url.clone(),
                title: page.title.clone(),
                document_id: page.document_id.clone(),
                viewport: page.viewport,
                scroll: page.scroll,
                size: page.size,
                tabs: tabs.collect(),
                frames: frames.collect(),
            },
            nodes: state.nodes.iter().map(Node::of).collect(),
            warnings: state.warnings.clone(),
        }
    }

    fn state(self) -> Result<DomState, DomError> {
        let Self {
            page,
            nodes,
            warnings,
        } = self;
        check_size(&nodes)?;
        let mut state = DomState {
            warnings,
            ..DomState::default()
        };
        let mut open: Vec<u32> = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let malformed = |what: &str| DomError::Malformed(format!("node {index} {what}"));
            let id = u32::try_from(index).map_err(|_| malformed("is one too many"))?;
            while open.last().is_some_and(|&top| Some(top) != node.parent) {
                open.pop();
            }
            match node.parent {
                None if index > 0 => return Err(malformed("is a second root")),
                Some(_) if open.is_empty() => {
                    return Err(malformed("is not inside an element before it"));
                }
                _ => {}
            }
            if open.len() >= DEEPEST_OF_ALL {
                return Err(DomError::TooDeep {
                    limit: DEEPEST_OF_ALL,
                });
            }
            let parent = node.parent.map(NodeId);
            let kind = match node.kind() {
                Ok(kind) => kind,
                Err(what) => return Err(malformed(what)),
            };
            if let DomKind::Element(element) = &kind {
                open.push(id);
                if let Some(found) = element.highlight_index {
                    if found as usize != state.selector_map.len() {
                        return Err(malformed("has an index out of turn"));
                    }
                    state.selector_map.push(NodeId(id));
                }
            }
            state.nodes.push(DomNode {
                parent,
                end: id + 1,
                kind,
            });
        }
        if state
            .nodes
            .first()
            .is_none_or(|root| root.element().is_none())
        {
            return Err(DomError::Malformed("it has no root".to_owned()));
        }
        super::decode::close(&mut state.nodes);
        state.page = page.info(&state)?;
        Ok(state)
    }
}

fn check_size(nodes: &[Node]) -> Result<(), DomError> {
    let elements = nodes.iter().filter(|node| node.tag_name.is_some()).count();
    let (what, found, limit) = match elements > MOST_ELEMENTS {
        true => ("elements", elements, MOST_ELEMENTS),
        false if nodes.len() > MOST_NODES => ("nodes", nodes.len(), MOST_NODES),
        false => return Ok(()),
    };
    Err(DomError::TooLarge {
        what,
        found,
        limit,
        largest: None,
    })
}

impl Page {
    fn info(self, state: &DomState) -> Result<PageInfo, DomError> {
        let tabs = self.tabs.into_iter().map(|tab| TabInfo {
            page_index: tab.page_index,
            url: tab.url,
            title: tab.title,
            current: tab.current,
        });
        let frames: Option<Vec<FrameInfo>> = self
            .frames
            .into_iter()
            .map(|frame| {
                let owner = NodeId(frame.owner);
                state.element(owner)?;
                Some(FrameInfo {
                    owner,
                    url: frame.url,
                    title: frame.title,
                })
            })
            .collect();
        Ok(PageInfo {
            url: self.url,
            title: self.title,
            document_id: self.document_id,
            viewport: self.viewport,
            scroll: self.scroll,
            size: self.size,
            tabs: tabs.collect(),
            frames: frames
                .ok_or_else(|| DomError::Malformed("a frame is in no element".to_owned()))?,
        })
    }
}

impl Node {
    fn of(node: &DomNode) -> Self {
        let parent = node.parent.map(|parent| parent.0);
        match &node.kind {
            DomKind::Text(run) => Self {
                parent,
                text: Some(run.text.clone()),
                is_visible: run.is_visible,
                is_in_viewport: run.is_in_viewport,
                ..Self::default()
            },
            DomKind::Element(element) => Self {
                parent,
                ..Self::of_element(element)
            },
        }
    }

    fn of_element(element: &DomElement) -> Self {
        let kind = |hop: &ScopeHop| match hop.kind {
            HopKind::Frame => Kind::Frame,
            HopKind::Shadow => Kind::Shadow,
        };
        Self {
            tag_name: Some(element.tag_name.clone()),
            xpath: element.xpath.clone(),
            scope: (element.scope.iter())
                .map(|hop| (kind(hop), hop.xpath.clone()))
                .collect(),
            attributes: Attributes(element.attributes.clone()),
            is_visible: element.is_visible,
            is_interactive: element.is_interactive,
            interactive_by: element.evidence.map(|evidence| match evidence {
                Evidence::Native => By::Native,
                Evidence::Role => By::Role,
                Evidence::Tabindex => By::Tabindex,
                Evidence::Listener => By::Listener,
                Evidence::Cursor => By::Cursor,
            }),
            is_top_element: element.is_top_element,
            top_basis: element.top_basis.map(|basis| match basis {
                TopBasis::Hit => Basis::Hit,
                TopBasis::Paint => Basis::Paint,
            }),
            is_in_viewport: element.is_in_viewport,
            is_new: element.is_new,
            highlight_index: element.highlight_index,
            shadow_root: element.shadow_root,
            proxy: element.proxy.clone(),
            role: element.role.clone(),
            name: element.name.clone(),
            label: element.label.clone(),
            level: element.level,
            is_aria_hidden: element.is_aria_hidden,
            states: element.states.words().map(str::to_owned).collect(),
            filled: element.filled,
            options: (element.options.iter())
                .map(|option| (option.label.clone(), option.value.clone()))
                .collect(),
            option_count: element.option_count,
            rect: (element.rect)
                .map(|rect| [rect.x, rect.y, rect.width, rect.height])
                // JSON has no others.
                .filter(|sides| sides.iter().all(|side| side.is_finite())),
            ..Self::default()
        }
    }

    /// What the node is.
    fn kind(self) -> Result<DomKind, &'static str> {
        match (self.tag_name.is_some(), self.text) {
            (false, Some(text)) => Ok(DomKind::Text(DomText {
                text,
                is_visible: self.is_visible,
                is_in_viewport: self.is_in_viewport,
            })),
            (false, None) => Err("is neither an element nor a text"),
            (true, Some(_)) => Err("is both an element and a text"),
            (true, None) => {
                let node = Self { text: None, ..self };
                Ok(DomKind::Element(Box::new(node.element()?)))
            }
        }
    }

    fn element(self) -> Result<DomElement, &'static str> {
        let hops = self.scope.iter().map(|(_, xpath)| xpath);
        if hops.chain([&self.xpath]).any(|path| !is_address(path)) {
            return Err("has no usable xpath");
        }
        let mut states = States::default();
        for word in &self.states {
            let state = State::ALL.iter().find(|(known, _)| known == word);
            states.insert(state.ok_or("has an unknown state")?.1);
        }
        Ok(DomElement {
            tag_name: self.tag_name.unwrap_or_default(),
            xpath: self.xpath,
            scope: (self.scope.into_iter())
                .map(|(kind, xpath)| ScopeHop {
                    kind: match kind {
                        Kind::Frame => HopKind::Frame,
                        Kind::Shadow => HopKind::Shadow,
                    },
                    xpath,
                })
                .collect(),
            attributes: self.attributes.0,
            is_visible: self.is_visible,
            is_interactive: self.is_interactive,
            evidence: self.interactive_by.map(Evidence::from),
            is_top_element: self.is_top_element,
            top_basis: self.top_basis.map(TopBasis::from),
            is_in_viewport: self.is_in_viewport,
            is_new: self.is_new,
            highlight_index: self.highlight_index,
            shadow_root: self.shadow_root,
            proxy: self.proxy,
            role: self.role,
            name: self.name,
            label: self.label,
            level: self.level,
            is_aria_hidden: self.is_aria_hidden,
            states,
            filled: self.filled,
            options: (self.options.into_iter())
                .map(|(label, value)| SelectOption { label, value })
                .collect(),
            option_count: self.option_count,
            rect: self.rect.map(super::nodes::rect),
            node_id: None,
        })
    }
}

/// Whether a text can be an xpath of an element.
fn is_address(path: &str) -> bool {
    super::decode::is_written_well(path) && path.starts_with('/')
}
