//! A capture as it stands in JSON.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// What this release reads.
pub(super) const VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Capture {
    pub version: u32,
    #[serde(default)]
    pub tabs: Vec<Tab>,
    #[serde(default)]
    pub owners: Vec<Option<Owner>>,
    #[serde(default)]
    pub warnings: Vec<String>,
    pub documents: Vec<Document>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tab {
    pub page_index: usize,
    pub url: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub current: bool,
}

#[derive(Deserialize)]
pub(super) struct Owner {
    pub document: usize,
    pub path: Vec<String>,
    pub kind: Kind,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Frame,
    Shadow,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    Native,
    Role,
    Tabindex,
    Listener,
    Cursor,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum Basis {
    Hit,
    Paint,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub document_id: String,
    #[serde(default)]
    pub viewport: [f64; 2],
    #[serde(default)]
    pub scroll: [f64; 2],
    #[serde(default)]
    pub size: [f64; 2],
    pub nodes: Vec<Node>,
}

/// An element if it has a `tagName`, else a text.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Node {
    pub parent: Option<usize>,
    pub text: Option<String>,
    pub tag_name: Option<String>,
    pub path: String,
    pub out: usize,
    pub node_id: Option<u64>,
    pub attributes: Attributes,
    pub is_visible: Option<bool>,
    pub is_interactive: Option<bool>,
    pub is_top_element: Option<bool>,
    pub is_in_viewport: Option<bool>,
    pub interactive_by: Option<By>,
    pub top_basis: Option<Basis>,
    pub proxy: Option<String>,
    pub role: String,
    pub name: String,
    pub label: String,
    pub level: Option<u32>,
    pub is_aria_hidden: bool,
    pub states: Vec<String>,
    pub filled: Option<bool>,
    pub options: Vec<(String, String)>,
    pub option_count: Option<usize>,
    pub rect: Option<[f64; 4]>,
    pub content: Option<[f64; 4]>,
    pub shadow_root: bool,
}

/// Attributes in their order.
#[derive(Default)]
pub(super) struct Attributes(pub Vec<(String, String)>);

impl Attributes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Attributes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Attributes(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
