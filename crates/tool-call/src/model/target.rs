//! Targets: elements of a page, to be found when their step is played.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::{PathSegment, Placeholder, Template, Text};
use cuecard_source::Span;
use cuecard_source::value::Json;

/// What is given must hold for exactly one element of the page.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Target {
    /// The element's role, such as "button".
    pub role: Option<Text>,
    /// The element's accessible name.
    pub name: Option<Text>,
    /// The element's whole name or text.
    pub text: Option<Text>,
    /// The container of the element.
    pub within: Option<TargetPlace>,
    /// Which of several elements it is, in the order of the page, from 1.
    #[schemars(range(min = 1))]
    pub nth: Option<usize>,
    /// A CSS selector that matches the element.
    pub selector: Option<Text>,
    /// Where the target stands.
    #[serde(skip)]
    pub span: Span,
}

/// What an element is in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct TargetPlace {
    /// Its role, such as "row", "dialog" or "form".
    pub role: Option<Text>,
    /// Its accessible name; of a row also the text of its first cell or heading, or of all of it.
    pub name: Option<Text>,
    /// A text in it: the whole of one of its cells, headings or lines.
    pub text: Option<Text>,
}

/// An entry of `targets`.
#[derive(Debug, Clone)]
pub struct ParamTarget {
    /// The parameter that gets what the server knows the element by.
    pub param: TargetParam,
    /// The element.
    pub target: Target,
}

/// A parameter anywhere in those of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetParam {
    /// As written: `elements[0].uid`.
    pub written: String,
    /// The way to it.
    pub path: Vec<PathSegment>,
}

/// The object that holds what a way leads to, and its key there; `None` if the way ends before.
pub fn holder<'p, 'w>(
    params: &'p mut Map<String, Json>,
    way: &'w [PathSegment],
) -> Option<(&'p mut Map<String, Json>, &'w str)> {
    let (PathSegment::Key(last), before) = way.split_last()? else {
        return None;
    };
    let Some((PathSegment::Key(first), rest)) = before.split_first() else {
        return before.is_empty().then_some((params, last));
    };
    let mut node = params.get_mut(first)?;
    for segment in rest {
        node = match segment {
            PathSegment::Key(key) => node.get_mut(key.as_str())?,
            PathSegment::Index(idx) => node.get_mut(*idx)?,
            PathSegment::FromEnd(idx) => {
                let items = node.as_array_mut()?;
                let idx = items.len().checked_sub(*idx)?;
                items.get_mut(idx)?
            }
        };
    }
    Some((node.as_object_mut()?, last))
}

impl Target {
    /// Everything that may hold references.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let within = self.within.as_ref();
        [
            self.role.as_deref(),
            self.name.as_deref(),
            self.text.as_deref(),
            within.and_then(|within| within.role.as_deref()),
            within.and_then(|within| within.name.as_deref()),
            within.and_then(|within| within.text.as_deref()),
            self.selector.as_deref(),
        ]
        .into_iter()
        .flatten()
    }

    /// Calls `visit` with every reference.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        for template in self.templates() {
            template.for_each_placeholder(visit);
        }
    }
}
