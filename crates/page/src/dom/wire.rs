//! A capture as it stands in JSON.

use serde::Deserialize;

use super::attributes;
use super::join::Owner;
use super::state::{Evidence, Happened, Rect, SelectOption, TabInfo, TopBasis};

/// What this release reads.
pub(super) const VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Capture {
    pub version: u32,
    #[serde(default)]
    pub tabs: Vec<TabInfo>,
    #[serde(default)]
    pub happened: Happened,
    #[serde(default)]
    pub owners: Vec<Option<Owner>>,
    #[serde(default)]
    pub warnings: Vec<String>,
    pub documents: Vec<Document>,
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
    #[serde(with = "attributes")]
    pub attributes: Vec<(String, String)>,
    pub is_visible: Option<bool>,
    pub is_interactive: Option<bool>,
    pub is_top_element: Option<bool>,
    pub is_in_viewport: Option<bool>,
    pub interactive_by: Option<Evidence>,
    pub top_basis: Option<TopBasis>,
    pub proxy: Option<String>,
    pub role: String,
    pub name: String,
    pub label: String,
    pub level: Option<u32>,
    pub is_aria_hidden: bool,
    pub states: Vec<String>,
    pub filled: Option<bool>,
    pub options: Vec<SelectOption>,
    pub option_count: Option<usize>,
    pub rect: Option<Rect>,
    pub content: Option<[f64; 4]>,
    pub shadow_root: bool,
}
