//! Version 1.x: what must change in a text to make it version 2.1. Nothing else changes.
//!
//! Steps of version 1.x have an `action` instead of a `tool`; each action is a call of a tool of the browser's server,
//! with parameters of other names. Files mix both, so that steps are converted wherever they stand.

mod actions;
mod numbers;
mod object;
mod step;
#[cfg(test)]
mod tests;

use object::{Layout, quoted};

use super::reader::Reader;
use cuecard_source::detect::{FileKind, detect, is_action_step, version_text};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::{Edit, Part, Span};

/// The version that is written.
const VERSION: &str = "2.1";

/// The edits that make the text one of version 2.1; none if it is one. What can't be converted is reported.
pub(super) fn edits(reader: &mut Reader<'_>, root: &Node) -> Vec<Edit> {
    let is_legacy = match detect(root) {
        Some(FileKind::ToolCallLegacy) => true,
        Some(FileKind::ToolCall) => false,
        _ => return Vec::new(),
    };
    let mut edits = version(reader, root, is_legacy);
    if is_legacy {
        edits.extend(metadata(reader, root));
    }
    for (index, item) in steps(root).iter().enumerate() {
        if is_action_step(item) {
            edits.extend(step::edits(reader, item, &format!("/steps/{index}")));
        }
    }
    edits
}

fn steps(root: &Node) -> &[Node] {
    root.get("steps")
        .and_then(Node::as_array)
        .unwrap_or_default()
}

fn version(reader: &mut Reader<'_>, root: &Node, is_legacy: bool) -> Vec<Edit> {
    let node = root.get("version");
    let text = node.map(version_text).unwrap_or_default();
    let is_one = text == "1" || text.starts_with("1.");
    if is_legacy {
        let (place, what) = match node {
            Some(node) if is_one => (node.span, format!("a scenario of version {text}")),
            _ => (first_action(root), "a step of version 1.x".to_owned()),
        };
        let diagnostic = reader.warning(
            codes::VERSION_LEGACY,
            place,
            format!("{what} is converted to version {VERSION}"),
        );
        diagnostic.help =
            Some("`cuecard convert FILE` shows the conversion, and --in-place saves it".to_owned());
    }
    let Some(node) = node else {
        return insert_first(reader, root, is_legacy);
    };
    let written_as_text = matches!(node.kind, NodeKind::String(_));
    match text.as_str() {
        VERSION if written_as_text => return Vec::new(),
        VERSION | "2.0" | "2" => {
            let written = match written_as_text {
                true => format!("version \"{text}\" is read as \"{VERSION}\""),
                false => format!("the number {text} is read as the text \"{VERSION}\""),
            };
            reader.warning(codes::VERSION, node.span, written).help =
                Some(format!("write \"version\": \"{VERSION}\""));
        }
        _ if is_one => {}
        _ => return Vec::new(),
    }
    vec![Edit {
        at: node.span,
        parts: vec![Part::new(quoted(VERSION), node.span)],
    }]
}

/// A file of version 1.x may say nothing of its version but by its actions.
fn insert_first(reader: &Reader<'_>, root: &Node, is_legacy: bool) -> Vec<Edit> {
    let Some(first) = root.members().first().filter(|_| is_legacy) else {
        return Vec::new();
    };
    let layout = Layout::of(reader.source, root);
    vec![layout.insert_first(
        first.key_span.start,
        "version",
        vec![Part::new(quoted(VERSION), first.key_span)],
        first.key_span,
    )]
}

fn first_action(root: &Node) -> Span {
    steps(root)
        .iter()
        .find(|step| is_action_step(step))
        .and_then(|step| {
            let members = step.members().iter();
            members.clone().find(|member| member.key == "action")
        })
        .map_or(Span::default(), |member| member.key_span)
}

/// A file of version 1.x needs no name: it has the file's.
fn metadata(reader: &mut Reader<'_>, root: &Node) -> Option<Edit> {
    let layout = Layout::of(reader.source, root);
    let name = quoted(&name(reader, root));
    let Some(metadata) = root.get("metadata") else {
        let after = root.members().iter().find(|member| member.key == "version");
        let about = after.or(root.members().first())?;
        let value = layout.object(
            vec![("name", vec![Part::new(name, about.key_span)])],
            about.key_span,
        );
        return Some(match after {
            Some(version) => {
                layout.insert(version.value.span.end, "metadata", value, about.key_span)
            }
            None => layout.insert_first(about.key_span.start, "metadata", value, about.key_span),
        });
    };
    let members = metadata.as_object()?;
    if metadata.get("name").is_some() {
        return None;
    }
    let layout = Layout::of(reader.source, metadata);
    Some(match members.first() {
        Some(first) => {
            let value = vec![Part::new(name, first.key_span)];
            layout.insert_first(first.key_span.start, "name", value, first.key_span)
        }
        None => Edit {
            at: metadata.span,
            parts: layout.object(
                vec![("name", vec![Part::new(name, metadata.span)])],
                metadata.span,
            ),
        },
    })
}

/// What the scenario is called: by itself, else by its file.
fn name(reader: &Reader<'_>, root: &Node) -> String {
    let own = root.get("name").and_then(Node::as_str);
    let file = || {
        let path = std::path::Path::new(reader.source.name());
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        stem.map_or_else(|| "scenario".to_owned(), std::borrow::Cow::into_owned)
    };
    match own.filter(|name| !name.trim().is_empty()) {
        Some(name) => name.to_owned(),
        None if reader.source.name().starts_with('<') => "scenario".to_owned(),
        None => file(),
    }
}
