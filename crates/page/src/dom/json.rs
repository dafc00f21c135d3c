//! A state as JSON, for files that keep all of it.

use serde_json::{Map, json};

use super::state::{DomElement, DomKind, DomState, NodeId, TopBasis};
use cuecard_source::value::Json;

impl DomState {
    /// The tree as JSON: elements nested in `children`, texts as strings.
    pub fn to_json(&self) -> Json {
        // From the last node to the first, so that what is inside is made before what it is in.
        let mut made: Vec<Option<Json>> = vec![None; self.nodes.len()];
        for place in (0..self.nodes.len()).rev() {
            let Ok(id) = u32::try_from(place) else {
                continue;
            };
            let json = match &self.nodes[place].kind {
                DomKind::Text(run) => Json::String(run.text.clone()),
                DomKind::Element(element) => {
                    let mut members = members(element);
                    let children: Vec<Json> = self
                        .children(NodeId(id))
                        .filter_map(|child| made[child.index()].take())
                        .collect();
                    if !children.is_empty() {
                        members.insert("children".to_owned(), Json::Array(children));
                    }
                    Json::Object(members)
                }
            };
            made[place] = Some(json);
        }
        made.first_mut()
            .and_then(Option::take)
            .unwrap_or(Json::Null)
    }
}

fn members(element: &DomElement) -> Map<String, Json> {
    let mut members = Map::new();
    let mut put = |key: &str, value: Json| {
        members.insert(key.to_owned(), value);
    };
    put("tagName", json!(element.tag_name));
    put("xpath", json!(element.xpath));
    let attributes: Map<String, Json> = element
        .attributes
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    put("attributes", Json::Object(attributes));
    put("isVisible", json!(element.is_visible));
    put("isInteractive", json!(element.is_interactive));
    if let Some(is_top) = element.is_top_element {
        put("isTopElement", json!(is_top));
    }
    put("isInViewport", json!(element.is_in_viewport));
    if let Some(index) = element.highlight_index {
        put("highlightIndex", json!(index));
    }
    if let Some(is_new) = element.is_new {
        put("isNew", json!(is_new));
    }
    if element.shadow_root {
        put("shadowRoot", json!(true));
    }
    for (key, text) in [("role", &element.role), ("name", &element.name)] {
        if !text.is_empty() {
            put(key, json!(text));
        }
    }
    if !element.scope.is_empty() {
        let hops: Vec<Json> = element
            .scope
            .iter()
            .map(|hop| json!({"kind": hop.kind.as_str(), "xpath": hop.xpath}))
            .collect();
        put("scope", Json::Array(hops));
    }
    let states: Vec<&str> = element.states.words().collect();
    if !states.is_empty() {
        put("states", json!(states));
    }
    if let Some(filled) = element.filled {
        put("filled", json!(filled));
    }
    if let Some(rect) = element.rect {
        put("rect", json!([rect.x, rect.y, rect.width, rect.height]));
    }
    if let Some(basis) = element.top_basis {
        let word = match basis {
            TopBasis::Hit => "hit",
            TopBasis::Paint => "paint",
        };
        put("topBasis", json!(word));
    }
    if let Some(proxy) = &element.proxy {
        put("proxy", json!(proxy));
    }
    members
}
