//! The types of a DOM state, as they are also written to files.
//!
//! The keys are those of a capture where they mean the same; what is empty or false is left out. What is inside what is
//! said by `parent`, as in a capture; addresses are whole, and places are those of the page.

use std::sync::Arc;

use cuecard_source::value::Json;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::attributes;

/// A page as it was at one moment: its nodes in pre-order over the flat tree, frames inline at their owners.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DomState {
    /// What the top document is.
    pub page: PageInfo,
    /// All nodes; a [`NodeId`] is a place in this list. The first is the root.
    pub nodes: Vec<DomNode>,
    /// From highlight index to node.
    #[serde(skip)]
    pub selector_map: SelectorMap,
    /// What could not be captured, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warnings: Vec<String>,
}

/// From highlight index, which starts at 0, to node.
pub type SelectorMap = Vec<NodeId>;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A place among the nodes of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the top document is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PageInfo {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A text that differs for each load.
    pub document_id: String,
    /// Width and height of the viewport in CSS pixels.
    pub viewport: (f64, f64),
    /// How far it is scrolled, to the right and down.
    pub scroll: (f64, f64),
    /// Width and height of the whole document.
    pub size: (f64, f64),
    /// All tabs, if the browser told.
    #[serde(skip_serializing_if = "is_default")]
    pub tabs: Vec<TabInfo>,
    /// The documents of frames, outermost first.
    #[serde(skip_serializing_if = "is_default")]
    pub frames: Vec<FrameInfo>,
    /// What the last action led to beside the page.
    #[serde(skip_serializing_if = "is_default")]
    pub happened: Happened,
}

/// What an action led to beside the page itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Happened {
    /// What the last alert, confirm or prompt said.
    #[serde(skip_serializing_if = "is_default")]
    pub dialog: Option<String>,
    /// The name of the last file that was downloaded.
    #[serde(skip_serializing_if = "is_default")]
    pub download: Option<String>,
}

/// A tab of the browser.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TabInfo {
    /// Its place, from 0.
    pub page_index: usize,
    /// The address of its page.
    pub url: String,
    /// The title of its page.
    pub title: String,
    /// Whether it is the one that is acted on.
    pub current: bool,
}

/// The document of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameInfo {
    /// The element that it is in.
    pub owner: NodeId,
    /// Its address.
    pub url: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
}

/// An element or a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DomNode {
    /// The node that it is in; none for the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: Option<NodeId>,
    /// One past the last node inside it.
    #[serde(skip)]
    pub end: u32,
    /// What it is.
    #[serde(flatten)]
    pub kind: DomKind,
}

/// What a node is: an element if it has a `tagName`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DomKind {
    /// An element.
    Element(Box<DomElement>),
    /// Text.
    Text(DomText),
}

/// A run of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomText {
    /// The characters as they stand in the document.
    pub text: String,
    /// Whether it is rendered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_visible: bool,
    /// Whether it is within the viewport of the page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_in_viewport: bool,
}

/// An element. Texts are empty where there is none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomElement {
    /// Its tag in lower case.
    pub tag_name: String,
    /// Its xpath in its own document or shadow root. Not unique in the page: see [`DomElement::scope`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub xpath: String,
    /// The frames and shadow hosts that it is in, from the top document. With the xpath it is the element's address.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: Arc<[ScopeHop]>,
    /// Attributes that are kept, in the order of the capture; value, checked and selected are live.
    #[serde(default, skip_serializing_if = "is_default", with = "attributes")]
    pub attributes: Vec<(String, String)>,
    /// Whether a person can see it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_visible: bool,
    /// Whether a person can use it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_interactive: bool,
    /// Why it counts as usable.
    #[serde(rename = "interactiveBy", default, skip_serializing_if = "is_default")]
    pub evidence: Option<Evidence>,
    /// Whether a pointer event at one of its points reaches it, if known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_top_element: Option<bool>,
    /// How that is known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub top_basis: Option<TopBasis>,
    /// Whether it is within the viewport of the page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_in_viewport: bool,
    /// Whether it was not there in the previous state; none on the first state and after navigation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_new: Option<bool>,
    /// The index that people, rules and models name it by.
    #[serde(default, skip_serializing_if = "is_default")]
    pub highlight_index: Option<u32>,
    /// Whether it hosts a shadow root that was captured.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shadow_root: bool,
    /// The xpath, in the same scope, of the label that is clicked in its place.
    #[serde(default, skip_serializing_if = "is_default")]
    pub proxy: Option<String>,
    /// Its role, as assistive tools compute it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub role: String,
    /// Its accessible name, with single spaces.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// The text of its labels, for fields.
    #[serde(default, skip_serializing_if = "is_default")]
    pub label: String,
    /// The level of a heading.
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: Option<u32>,
    /// Whether assistive tools don't see it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_aria_hidden: bool,
    /// Its states.
    #[serde(default, skip_serializing_if = "is_default")]
    pub states: States,
    /// Whether a secret field holds something; the value itself is never kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub filled: Option<bool>,
    /// The first options of a select.
    #[serde(default, skip_serializing_if = "is_default")]
    pub options: Vec<SelectOption>,
    /// How many options it has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub option_count: usize,
    /// Its place in client coordinates of the top page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rect: Option<Rect>,
    /// A number that lives as long as the node, if the capture knows one.
    #[serde(skip)]
    pub node_id: Option<u64>,
}

/// A choice of a select.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct SelectOption {
    /// What people read.
    pub label: String,
    /// What is sent.
    pub value: String,
}

impl From<(String, String)> for SelectOption {
    fn from((label, value): (String, String)) -> Self {
        Self { label, value }
    }
}

impl From<SelectOption> for (String, String) {
    fn from(option: SelectOption) -> Self {
        (option.label, option.value)
    }
}

/// One frame or shadow host on the way to an element.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(HopKind, String)", into = "(HopKind, String)")]
pub struct ScopeHop {
    /// Which of the two.
    pub kind: HopKind,
    /// The xpath of the frame's owner or of the host, in its own document or shadow root.
    pub xpath: String,
}

impl From<(HopKind, String)> for ScopeHop {
    fn from((kind, xpath): (HopKind, String)) -> Self {
        Self { kind, xpath }
    }
}

impl From<ScopeHop> for (HopKind, String) {
    fn from(hop: ScopeHop) -> Self {
        (hop.kind, hop.xpath)
    }
}

/// What kind of border is crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HopKind {
    /// Into the document of a frame.
    Frame,
    /// Into a shadow root.
    Shadow,
}

impl HopKind {
    /// The word for it in captures and selectors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Shadow => "shadow",
        }
    }
}

/// Why an element counts as usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// What it is: a link, a button, a field.
    Native,
    /// Its ARIA role.
    Role,
    /// It can be reached with the tabulator key.
    Tabindex,
    /// It listens to the mouse itself.
    Listener,
    /// The pointer changes above it, and not above what is around it.
    Cursor,
}

/// How it is known whether a pointer reaches an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TopBasis {
    /// By trying its points.
    Hit,
    /// By the order of painting, out of view.
    Paint,
}

/// A rectangle in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "[f64; 4]", into = "[f64; 4]")]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl From<[f64; 4]> for Rect {
    fn from([x, y, width, height]: [f64; 4]) -> Self {
        Self {
            x,
            y,
            width,
            height,
        }
    }
}

impl From<Rect> for [f64; 4] {
    fn from(rect: Rect) -> Self {
        [rect.x, rect.y, rect.width, rect.height]
    }
}

impl Rect {
    /// Whether the two have an area in common.
    pub fn intersects(self, other: Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// A state that an element can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs, reason = "each is the word for it in ARIA")]
pub enum State {
    Disabled,
    Readonly,
    Required,
    Checked,
    Mixed,
    Selected,
    Expanded,
    Collapsed,
    Pressed,
    Invalid,
    Focused,
    Editable,
}

/// The states of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<State>", into = "Vec<State>")]
pub struct States(u16);

impl From<Vec<State>> for States {
    fn from(all: Vec<State>) -> Self {
        let mut states = Self::default();
        all.into_iter().for_each(|state| states.insert(state));
        states
    }
}

impl From<States> for Vec<State> {
    fn from(states: States) -> Self {
        let all = State::VARIANTS.iter().copied();
        all.filter(|state| states.has(*state)).collect()
    }
}

impl States {
    /// Adds one.
    pub fn insert(&mut self, state: State) {
        self.0 |= 1 << state as u16;
    }

    /// Whether it is in this state.
    pub fn has(self, state: State) -> bool {
        self.0 & (1 << state as u16) != 0
    }

    /// The words for its states.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Vec::from(self).into_iter().map(State::into)
    }
}

impl DomState {
    /// The state for a file; secrets were taken out of it when it was decoded.
    pub fn to_recorded(&self) -> Json {
        // Everything in it is a text, a number, a list or an object with texts for keys.
        serde_json::to_value(self).unwrap_or(Json::Null)
    }

    /// The node at a place.
    pub fn node(&self, id: NodeId) -> &DomNode {
        &self.nodes[id.index()]
    }

    /// The element at a place, if it is one.
    pub fn element(&self, id: NodeId) -> Option<&DomElement> {
        self.nodes.get(id.index())?.element()
    }

    /// Every element with its place, in pre-order.
    pub fn elements(&self) -> impl DoubleEndedIterator<Item = (NodeId, &DomElement)> {
        self.within(0, self.nodes.len())
    }

    /// The elements inside one, in pre-order, without itself.
    pub fn descendants(
        &self,
        id: NodeId,
    ) -> impl DoubleEndedIterator<Item = (NodeId, &DomElement)> {
        self.within(id.index() + 1, self.node(id).end as usize)
    }

    fn within(
        &self,
        start: usize,
        end: usize,
    ) -> impl DoubleEndedIterator<Item = (NodeId, &DomElement)> {
        self.nodes[start..end]
            .iter()
            .enumerate()
            .filter_map(move |(index, node)| {
                let id = NodeId(u32::try_from(start + index).ok()?);
                Some((id, node.element()?))
            })
    }

    /// The nodes directly inside one.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let end = self.node(id).end;
        let first = (id.0 + 1 < end).then_some(NodeId(id.0 + 1));
        std::iter::successors(first, move |child| {
            let next = self.node(*child).end;
            (next < end).then_some(NodeId(next))
        })
    }

    /// The nodes around one, innermost first, frames' owners and shadow hosts included.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.node(id).parent, |&outer| self.node(outer).parent)
    }

    /// The elements around one, innermost first.
    pub fn ancestor_elements(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &DomElement)> {
        self.ancestors(id)
            .filter_map(|outer| Some((outer, self.element(outer)?)))
    }

    /// The element with a highlight index.
    pub fn by_index(&self, index: u32) -> Option<(NodeId, &DomElement)> {
        let id = *self.selector_map.get(index as usize)?;
        Some((id, self.element(id)?))
    }

    /// The element at an address.
    pub fn by_address(&self, scope: &[ScopeHop], xpath: &str) -> Option<NodeId> {
        self.elements()
            .find(|(_, element)| element.xpath == xpath && *element.scope == *scope)
            .map(|(id, _)| id)
    }

    /// Whether the page only shows where things will be: nothing at all, something that says that it is busy, or empty
    /// shapes in the place of texts, as component libraries class them.
    pub fn is_skeleton(&self) -> bool {
        let mut is_empty = true;
        for (id, element) in self.elements().filter(|(_, element)| element.is_visible) {
            let class = element.attribute("class").unwrap_or_default();
            let class = class.to_ascii_lowercase();
            let is_shape = class.contains("skeleton") || class.contains("shimmer");
            if element.attribute("aria-busy") == Some("true")
                || is_shape && self.visible_text(id).trim().is_empty()
            {
                return true;
            }
            is_empty &= !element.is_interactive;
        }
        is_empty && self.visible_text(NodeId(0)).trim().is_empty()
    }

    /// All text inside a node that is rendered, pieces joined as they stand.
    pub fn visible_text(&self, id: NodeId) -> String {
        let mut text = String::new();
        for node in &self.nodes[id.index()..self.node(id).end as usize] {
            if let DomKind::Text(run) = &node.kind
                && run.is_visible
            {
                text.push_str(&run.text);
            }
        }
        text
    }
}

impl DomNode {
    /// The element, if it is one.
    pub fn element(&self) -> Option<&DomElement> {
        match &self.kind {
            DomKind::Element(element) => Some(element),
            DomKind::Text(_) => None,
        }
    }
}

impl DomElement {
    /// The value of an attribute that it has, also an empty one.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether it is in a state.
    pub fn is(&self, state: State) -> bool {
        self.states.has(state)
    }

    /// The type of an `input`, in lower case: `text` if it names none. None for other tags.
    pub fn input_type(&self) -> Option<String> {
        (self.tag_name == "input").then(|| {
            let given = self.attribute("type").unwrap_or_default();
            match given.trim() {
                "" => "text".to_owned(),
                word => word.to_ascii_lowercase(),
            }
        })
    }

    /// What messages call it: its role, or its tag if it has none.
    pub fn kind(&self) -> &str {
        match self.role.as_str() {
            "" => &self.tag_name,
            role => role,
        }
    }
}
