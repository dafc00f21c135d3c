//! Reads `assertions`: every type has a row in the table of its family, with its parameters and its reader.

mod grounding;
mod memory;
mod output;
mod player;
mod recovery;
mod tools;
mod trace;

use std::collections::HashMap;

use super::context::unique;
use super::{fields, values};
use crate::model::{Assertion, AssertionCheck, CAPABILITIES, Severity};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::fields::Field;
use cuecard_source::value::{Json, cut};

/// A type of assertion.
pub(super) struct Kind {
    pub name: &'static str,
    pub meaning: &'static str,
    pub params: &'static [Field],
    /// What a trace must be able to tell, whatever the test case says.
    pub capabilities: &'static [&'static str],
    pub read: fn(&mut Reader<'_>, Params<'_>) -> Option<AssertionCheck>,
}

/// What traces without tool calls lack.
const TOOL_TRACE: &[&str] = &["supports_tool_trace"];

/// All types, by family.
pub(super) fn kinds() -> impl Iterator<Item = &'static Kind> {
    [
        tools::KINDS,
        output::KINDS,
        grounding::KINDS,
        memory::KINDS,
        recovery::KINDS,
        trace::KINDS,
        player::KINDS,
    ]
    .into_iter()
    .flatten()
}

/// The parameters of an assertion.
#[derive(Clone, Copy)]
pub(super) struct Params<'a> {
    pub object: Object<'a>,
    /// The type, in backticks.
    pub whose: &'a str,
}

impl<'a> Params<'a> {
    /// Reports a parameter that must be there and is not.
    fn need(&self, reader: &mut Reader<'_>, key: &str, example: &str) -> Option<&'a Node> {
        reader.required(self.object, key, self.whose, example)
    }

    /// Reports parameters that don't fit together, at `key` if it is there.
    fn conflict(&self, reader: &mut Reader<'_>, key: &str, message: &str, help: &str) {
        let node = reader.get(self.object, key);
        let span = node.map_or(self.object.node.span, |node| node.span);
        let pointer = match node {
            Some(_) => self.object.child_pointer(key),
            None => self.object.pointer.to_owned(),
        };
        let message = format!("{}: {message}", self.whose);
        let diagnostic = reader.error(codes::ASSERT_PARAMS, span, message);
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some(help.to_owned());
    }

    fn has(&self, reader: &Reader<'_>, key: &str) -> bool {
        reader.get(self.object, key).is_some()
    }

    /// A required tool.
    fn tool(&self, reader: &mut Reader<'_>) -> Option<crate::model::ToolPattern> {
        self.need(
            reader,
            "tool",
            "the name of a tool, such as tool: web_search",
        )?;
        values::tool(reader, self.object, "tool")
    }

    /// Reports a lower bound above its upper bound.
    fn ordered<T: PartialOrd>(
        &self,
        reader: &mut Reader<'_>,
        (low_key, low): (&str, Option<T>),
        (high_key, high): (&str, Option<T>),
    ) {
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            let message =
                format!("`{low_key}` is greater than `{high_key}`, so this can never hold");
            self.conflict(reader, high_key, &message, "swap them, or correct one");
        }
    }

    /// Reports an exact number beside bounds.
    fn exact_alone(&self, reader: &mut Reader<'_>, exact: &str, bounds: &[&str]) {
        if !self.has(reader, exact) {
            return;
        }
        for bound in bounds {
            if self.has(reader, bound) {
                let message = format!("`{exact}` and `{bound}` are redundant");
                self.conflict(reader, bound, &message, "keep one of them");
            }
        }
    }

    fn case_sensitive(&self, reader: &mut Reader<'_>) -> bool {
        reader
            .flag(self.object, "case_sensitive", "`case_sensitive`")
            .unwrap_or(false)
    }
}

const SEVERITIES: &[(&str, Severity)] = &[
    ("critical", Severity::Critical),
    ("warning", Severity::Warning),
];

pub(super) fn assertions(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Assertion> {
    let example = "assertions: [ { id: …, type: must_call_tool, params: { tool: … } } ]";
    let Some(node) = reader.required(object, "assertions", "the test case", example) else {
        return Vec::new();
    };
    let NodeKind::Array(items) = &node.kind else {
        reader.wrong_type(node, "/assertions", "`assertions`", "a list");
        return Vec::new();
    };
    if items.is_empty() {
        let message = "this test case asserts nothing, so it passes whatever happens";
        let diagnostic = reader.warning(codes::CASE_EMPTY, node.span, message);
        diagnostic.pointer = Some("/assertions".to_owned());
        diagnostic.help = Some(format!("write {example}"));
    }
    let mut firsts = HashMap::new();
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let pointer = format!("/assertions/{index}");
            let assertion = assertion(reader, item, &pointer);
            if let Some(id) = item.get("id").filter(|id| id.as_str().is_some()) {
                let text = id.as_str().unwrap_or_default();
                unique(
                    reader,
                    &mut firsts,
                    text,
                    id.span,
                    &pointer,
                    "two assertions have",
                );
            }
            assertion
        })
        .collect()
}

fn assertion(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Assertion> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        let wanted = "an object with `id`, `type` and `params`";
        reader.wrong_type(node, pointer, "an assertion", wanted);
        return None;
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::ASSERTION, &[], "this assertion");
    reader.required(
        object,
        "id",
        "this assertion",
        "an `id`, unique in the test case",
    );
    let id = values::text(reader, object, "id");
    let severity = reader.one_of(object, "severity", "`severity`", SEVERITIES);
    let mut capabilities = values::texts(reader, object, "requires_capabilities");
    misspelt_capabilities(reader, object, &capabilities);
    let kind = kind(reader, object);
    let empty = Node {
        kind: NodeKind::Object(Vec::new()),
        span: node.span,
    };
    let params_pointer = object.child_pointer("params");
    let params = match reader.get(object, "params") {
        Some(_) => values::map(reader, object, "params")?.0,
        None => &empty,
    };
    let kind = kind?;
    let below = Object {
        node: params,
        pointer: &params_pointer,
    };
    let whose = format!("`{}`", kind.name);
    // Where no parameters are known, they are the player's.
    if !kind.params.is_empty() {
        reader.only_keys(below, kind.params, codes::ASSERT_PARAMS, &whose);
    }
    let check = (kind.read)(
        reader,
        Params {
            object: below,
            whose: &whose,
        },
    );
    for required in kind.capabilities {
        if !capabilities.iter().any(|one| one == required) {
            capabilities.push((*required).to_owned());
        }
    }
    Some(Assertion {
        id: id?,
        severity: severity.unwrap_or_default(),
        requires_capabilities: capabilities,
        check: check?,
        params: match params.to_value() {
            Json::Object(members) => Json::Object(members),
            _ => Json::Object(serde_json::Map::new()),
        },
        span: node.span,
    })
}

/// Refuses a capability that is written almost as a known one: an assertion that needs what no trace has is skipped.
fn misspelt_capabilities(reader: &mut Reader<'_>, object: Object<'_>, names: &[String]) {
    let known = || CAPABILITIES.iter().map(|(name, _)| *name);
    let unknown = names.iter().filter(|name| !known().any(|one| one == *name));
    for name in unknown {
        let Some(meant) = did_you_mean(name, known()) else {
            continue;
        };
        let key = "requires_capabilities";
        let span = object.get(key).map_or(object.node.span, |node| node.span);
        let message = format!("unknown trace capability `{}`", cut(name, 60));
        let diagnostic = reader.error(codes::ASSERT_NEVER, span, message);
        diagnostic.pointer = Some(object.child_pointer(key));
        diagnostic.label = Some(format!("did you mean `{meant}`?"));
        diagnostic.help = Some("with it, the assertion is always skipped".to_owned());
    }
}

fn kind(reader: &mut Reader<'_>, object: Object<'_>) -> Option<&'static Kind> {
    reader.required(
        object,
        "type",
        "this assertion",
        "what is asserted, such as type: must_call_tool",
    )?;
    let (text, node) = reader.text(object, "type", "`type`")?;
    let kind = kinds().find(|kind| kind.name == text);
    if kind.is_none() {
        let proposal = did_you_mean(text, kinds().map(|kind| kind.name));
        let message = format!("unknown assertion type `{}`", cut(text, 60));
        let diagnostic = reader.error(codes::ASSERT_TYPE, node.span, message);
        diagnostic.pointer = Some(object.child_pointer("type"));
        diagnostic.label = proposal.map(|name| format!("did you mean `{name}`?"));
        diagnostic.help = Some("`cuecard explain J-ASSERT-01` lists all types".to_owned());
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_model_has_one_row() {
        let mut rows: Vec<_> = kinds().map(|kind| kind.name).collect();
        let mut types = AssertionCheck::TYPES.to_vec();
        rows.sort_unstable();
        types.sort_unstable();
        assert_eq!(rows, types);
    }

    #[test]
    fn the_page_of_unknown_types_lists_all() {
        let page = codes::ASSERT_TYPE.page();
        for kind in kinds() {
            assert!(page.contains(&format!("`{}`", kind.name)), "{}", kind.name);
        }
    }
}
