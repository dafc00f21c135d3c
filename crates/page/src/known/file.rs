//! Fingerprints as files have them, also those of version 1.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Container, ContainerKind, Fingerprint, MOST_NODES};
use cuecard_source::values::integer;

/// A key that is not read any more.
type Unread = Option<IgnoredAny>;

/// A fingerprint of this version or of the first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Fingerprint")]
#[allow(dead_code, reason = "the keys are named so that they are known")]
pub(super) struct FingerprintFile {
    /// Its role.
    #[serde(default)]
    role: String,
    /// Its accessible name.
    #[serde(default)]
    name: String,
    /// The text on it, if it has no name.
    text: Option<String>,
    /// Its tag.
    tag: String,
    /// The type of an input.
    input_type: Option<String>,
    /// Its test id.
    test_id: Option<String>,
    /// What it stands in, innermost first: its item, frames, dialogs, named sections.
    #[serde(default)]
    outline: Vec<Container>,
    /// Whether it is the innermost of these itself, whatever else stands in it.
    #[serde(default)]
    is_container: bool,
    /// The names of the others of its kind in the innermost of these; behind the fortieth their hashes.
    siblings: Option<Vec<String>>,
    /// Whether no other element of its kind on the page was called so.
    alone: Option<bool>,
    /// Which of its twins the sentence named: 1 is the first, -1 the last.
    #[serde(
        default,
        deserialize_with = "integer::<{ -MOST_NODES }, MOST_NODES, _, _>"
    )]
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    position: Option<i32>,
    /// The heading of its column, if it is known by that.
    column: Option<String>,
    /// Version 1: named elements around it.
    #[serde(default)]
    path: Vec<String>,
    /// Version 1: its label, or the text before it.
    near: Option<String>,
    /// Version 1: how many there were.
    #[serde(default, deserialize_with = "integer::<1, MOST_NODES, _, _>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    of: Option<u64>,
    /// Version 1: the outline.
    within: Option<Vec<Container>>,
    #[schemars(skip)]
    ordinal: Unread,
    #[schemars(skip)]
    scope: Unread,
    #[schemars(skip)]
    by_position: Unread,
    #[schemars(skip)]
    likes: Unread,
    #[schemars(skip)]
    around: Unread,
    #[schemars(skip)]
    before: Unread,
    #[schemars(skip)]
    after: Unread,
}

impl From<FingerprintFile> for Fingerprint {
    fn from(file: FingerprintFile) -> Self {
        // Of version 1 the siblings are not known.
        let mut outline = file.within.unwrap_or(file.outline);
        let is_container = file.is_container && !outline.is_empty();
        for entry in &file.path {
            let Some((role, title)) = entry.split_once(" \"") else {
                continue;
            };
            let part = Container {
                kind: ContainerKind::of_role(role),
                text: Some(title.trim_end_matches('"').to_owned()),
                made: Some(role.to_owned()),
                ..Container::default()
            };
            let is_known = outline.iter().any(|one| one.text == part.text);
            if !part.kind.is_item() && !is_known {
                outline.push(part);
            }
        }
        let mut known = Self {
            role: file.role,
            name: file.name,
            text: file.text,
            tag: file.tag,
            input_type: file.input_type,
            test_id: file.test_id,
            outline,
            is_container,
            siblings: file.siblings,
            alone: file.alone.unwrap_or(file.of.is_none_or(|of| of == 1)),
            position: file.position,
            column: file.column,
        };
        let is_in_item = known.outline.first().is_some_and(|one| one.kind.is_item());
        if known.called().is_empty() && is_in_item {
            known.column = known.column.or(file.near);
        }
        known
    }
}
