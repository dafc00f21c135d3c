//! What an element was, to know it again.

mod file;

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use cuecard_source::values::integer;
use file::FingerprintFile;

/// The most nodes of a container, and twins of an element.
const MOST_NODES: i64 = 1_000_000;

/// How many names of siblings are kept in clear.
const CLEAR_SIBLINGS: usize = 40;

/// What an element is, to know it again: few exact facts. Secret values are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FingerprintFile", rename_all = "camelCase")]
#[schemars(with = "FingerprintFile")]
pub struct Fingerprint {
    /// Its role; empty if it has none.
    pub role: String,
    /// Its accessible name, without a count in an element of its own.
    pub name: String,
    /// The text on it, or before a field without a name, if that is not its name; empty if there is none. `None` of what has
    /// no name and whose text is what is asserted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its tag. It counts only of what has no role.
    pub tag: String,
    /// The type of an `input` that is no button.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_type: Option<String>,
    /// Its test id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
    /// What it stands in, innermost first: its item, frames, dialogs, named sections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outline: Vec<Container>,
    /// Whether it is the innermost of these itself: then whatever else stands in it may change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_container: bool,
    /// The folded names of the others of its kind in the innermost of these, the first [`CLEAR_SIBLINGS`] in clear and the
    /// others as their hashes; `None` if they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub siblings: Option<Vec<String>>,
    /// Whether no other element of its kind on the page was called so.
    pub alone: bool,
    /// Which of several it is, if the sentence named that: 1 is the first, -1 the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<i32>,
    /// The heading of its column, if it is known by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

/// A part of the page that an element stands in, known by a text in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Container {
    /// What it is.
    // Version 1 had more keys.
    #[serde(alias = "~")]
    pub kind: ContainerKind,
    /// The text that it is known by; none of a dialog that nobody named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where in it the text stands.
    #[serde(default)]
    pub at: TextPlace,
    /// The heading of the column that the text stands in, if it is in a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What an item is made of: its role, else its tag and class. What is around it has the text too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// How many nodes were in it.
    #[serde(
        default,
        deserialize_with = "integer::<1, MOST_NODES, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub nodes: Option<u32>,
}

/// A kind of container, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum ContainerKind {
    #[default]
    Section,
    Dialog,
    Row,
    Item,
    Card,
    Post,
    List,
    Table,
    Form,
    Header,
    Footer,
    Navigation,
    Sidebar,
    Frame,
}

impl ContainerKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The ARIA role that says it; a frame has none.
    pub fn role(self) -> Option<&'static str> {
        Some(match self {
            Self::Section => "region",
            Self::Item => "listitem",
            Self::Card | Self::Post => "article",
            Self::Header => "banner",
            Self::Footer => "contentinfo",
            Self::Sidebar => "complementary",
            Self::Frame => return None,
            Self::Dialog | Self::Row | Self::List | Self::Table | Self::Form | Self::Navigation => {
                self.as_str()
            }
        })
    }

    /// The kind of container that an element of this role is.
    pub fn of_role(role: &str) -> Self {
        match role {
            "dialog" | "alertdialog" => Self::Dialog,
            "form" => Self::Form,
            "frame" => Self::Frame,
            "row" => Self::Row,
            "article" => Self::Post,
            "listitem" | "treeitem" => Self::Item,
            _ => Self::Section,
        }
    }

    /// Whether it is one of several alike: a row of a table, an item of a list, a card, a post.
    pub fn is_item(self) -> bool {
        matches!(self, Self::Row | Self::Item | Self::Card | Self::Post)
    }
}

/// Where in a container the text stands that it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextPlace {
    /// It is its accessible name.
    #[default]
    Name,
    /// It is a heading in it, or the one above it.
    Heading,
    /// It is a cell of it.
    Cell,
    /// It is a line of its text.
    Text,
}

impl Fingerprint {
    /// What it was called: its name, or the text on it.
    pub fn called(&self) -> &str {
        match self.name.is_empty() {
            true => self.text.as_deref().unwrap_or_default(),
            false => &self.name,
        }
    }

    /// The part of the page that tells it from others that are called so: its item, else what it stands in.
    pub fn told_apart_by(&self) -> Option<&Container> {
        let item = self.outline.iter().find(|one| one.kind.is_item());
        item.or_else(|| {
            self.outline
                .first()
                .filter(|_| !self.alone || self.position.is_some())
        })
    }

    /// Keeps the folded names of its siblings.
    pub(crate) fn keep_siblings(&mut self, mut names: Vec<String>) {
        names.sort();
        for name in names.iter_mut().skip(CLEAR_SIBLINGS) {
            *name = hash(name);
        }
        self.siblings = Some(names);
    }

    /// Returns whether a sibling had a folded name. A page may have thousands of them.
    pub(crate) fn sibling_names(&self) -> impl Fn(&str) -> bool + use<'_> {
        let siblings = self.siblings.iter().flatten();
        let siblings: HashSet<&str> = siblings.map(String::as_str).collect();
        move |name| siblings.contains(name) || siblings.contains(&*hash(name))
    }

    /// How many of its siblings are not among these folded names; of several with one name each counts.
    pub(crate) fn n_leavers(&self, names: impl Iterator<Item = String>) -> usize {
        let mut left: HashMap<String, usize> = HashMap::new();
        for name in names {
            *left.entry(hash(&name)).or_default() += 1;
        }
        let siblings = self.siblings.iter().flatten();
        let leavers = siblings.filter(|sibling| {
            let hashed = match left.contains_key(*sibling) {
                true => (*sibling).clone(),
                false => hash(sibling),
            };
            let n_left = left.get_mut(&hashed).filter(|n_left| **n_left > 0);
            n_left.map(|n_left| *n_left -= 1).is_none()
        });
        leavers.count()
    }

    /// Whether of what has no name the text counts: not if the text is what is asserted.
    pub fn is_called_by_text(&self) -> bool {
        !self.name.is_empty() || self.text.is_some()
    }

    /// The same with every text of the page changed; what the page is built of stays.
    pub fn with_texts(&self, change: impl Fn(&str) -> String) -> Self {
        Self {
            name: change(&self.name),
            text: self.text.as_deref().map(&change),
            test_id: self.test_id.as_deref().map(&change),
            outline: self
                .outline
                .iter()
                .map(|container| Container {
                    text: container.text.as_deref().map(&change),
                    column: container.column.as_deref().map(&change),
                    ..container.clone()
                })
                .collect(),
            column: self.column.as_deref().map(&change),
            ..self.clone()
        }
    }
}

/// The hash of a name (FNV-1a), the same in all releases.
fn hash(name: &str) -> String {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("#{:016x}", name.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
