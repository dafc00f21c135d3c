//! Version 1.x: the tree of a scenario becomes one of version 2.1, in which what was written keeps its place.
//!
//! Steps of version 1.x have an `action` instead of a `tool`; each action is a call of a tool of the browser's server,
//! with parameters of other names. Files mix both, so that steps are converted wherever they stand.

mod actions;
mod step;
#[cfg(test)]
mod tests;

use super::reader::Reader;
use cuecard_source::detect::{FileKind, detect, is_action_step, version_text};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::value::Json;
use cuecard_source::{Edit, Span};

/// The version that is written.
const VERSION: &str = "2.1";

/// A scenario in version 2.1.
pub(super) struct Conversion {
    /// Its tree, with the places in the text as it was.
    pub root: Node,
    /// Its text: that of the file, but for what was converted.
    pub text: String,
}

/// Returns the conversion of a scenario; `None` if nothing of it is to be converted. Reports what can't be.
pub(super) fn convert(reader: &mut Reader<'_>, root: &Node) -> Option<Conversion> {
    let is_legacy = match detect(root)? {
        FileKind::ToolCallLegacy => true,
        FileKind::ToolCall => false,
        _ => return None,
    };
    let version = root.get("version");
    let is_old = version.is_some_and(|version| is_old(reader, version));
    if !is_legacy && !is_old {
        return None;
    }
    let mut root = root.clone();
    let NodeKind::Object(members) = &mut root.kind else {
        return None;
    };
    let mut edits = Vec::new();
    if is_legacy {
        report(reader, members);
        edits.extend(steps(reader, members));
    }
    edits.extend(head(reader, members, is_legacy, is_old));
    (!edits.is_empty()).then(|| Conversion {
        root,
        text: reader.source.edited(edits).text().to_owned(),
    })
}

/// Whether a version is another one than that which is written, or is written otherwise. Warns about another spelling.
fn is_old(reader: &mut Reader<'_>, version: &Node) -> bool {
    let text = version_text(version);
    let is_text = version.as_str().is_some();
    if !matches!(text.as_str(), VERSION | "2.0" | "2") || (is_text && text == VERSION) {
        return is_one(&text);
    }
    let written = match is_text {
        true => format!("version \"{text}\" is read as \"{VERSION}\""),
        false => format!("the number {text} is read as the text \"{VERSION}\""),
    };
    let found = reader.warning(codes::VERSION, version.span, written);
    found.help = Some(format!("write \"version\": \"{VERSION}\""));
    true
}

fn is_one(version: &str) -> bool {
    version == "1" || version.starts_with("1.")
}

/// Says that a scenario is converted, at its version or at its first action.
fn report(reader: &mut Reader<'_>, members: &[Member]) {
    let version = find(members, "version").map(|version| &version.value);
    let one = version.filter(|version| is_one(&version_text(version)));
    let steps = find(members, "steps").and_then(|steps| steps.value.as_array());
    let mut steps = steps.unwrap_or_default().iter();
    let action = steps.find(|step| is_action_step(step));
    let action = action.and_then(|step| find(step.members(), "action"));
    let (place, what) = match (one, action) {
        (Some(version), _) => (
            version.span,
            format!("a scenario of version {}", version_text(version)),
        ),
        (None, action) => (
            action.map_or(Span::default(), |action| action.key_span),
            "a step of version 1.x".to_owned(),
        ),
    };
    let message = format!("{what} is converted to version {VERSION}");
    reader.warning(codes::VERSION_LEGACY, place, message).help =
        Some("`cuecard convert FILE` shows the conversion, and --in-place saves it".to_owned());
}

/// Converts the steps that have an action.
fn steps(reader: &mut Reader<'_>, members: &mut [Member]) -> Vec<Edit> {
    let mut members = members.iter_mut();
    let steps = members.find(|member| member.key == "steps");
    let Some(NodeKind::Array(steps)) = steps.map(|member| &mut member.value.kind) else {
        return Vec::new();
    };
    let mut edits = Vec::new();
    for (idx, step) in steps.iter_mut().enumerate() {
        if is_action_step(step)
            && let Some(converted) = step::convert(reader, step, &format!("/steps/{idx}"))
        {
            edits.push(Edit::new(step.span, in_one_line(&converted)));
            *step = converted;
        }
    }
    edits
}

/// Writes the version, and in a file of version 1.x the name, which it may lack: then it is that of the file.
fn head(
    reader: &Reader<'_>,
    members: &mut Vec<Member>,
    is_legacy: bool,
    is_old: bool,
) -> Vec<Edit> {
    let Some(first) = members.first().map(|first| first.key_span) else {
        return Vec::new();
    };
    let before = reader.source.text().get(..first.start as usize);
    let before = before.unwrap_or_default();
    let space = &before[before.trim_end().len()..];
    let name = name(reader, members);
    let (mut edits, mut new) = (Vec::new(), String::new());
    let mut version_end = None;
    match members.iter_mut().find(|member| member.key == "version") {
        Some(version) => {
            version_end = Some(version.value.span.end);
            if is_old {
                edits.push(Edit::new(version.value.span, quoted(VERSION)));
                version.value.kind = NodeKind::String(VERSION.to_owned());
            }
        }
        None => {
            new = format!("\"version\": {},{space}", quoted(VERSION));
            members.push(text("version", VERSION, first));
        }
    }
    if is_legacy {
        let metadata = members.iter_mut().find(|member| member.key == "metadata");
        match metadata.map(|member| &mut member.value) {
            Some(metadata) if metadata.get("name").is_none() => {
                let span = metadata.span;
                if let NodeKind::Object(members) = &mut metadata.kind {
                    members.insert(0, text("name", &name, span));
                    edits.push(Edit::new(span, in_one_line(metadata)));
                }
            }
            Some(_) => {}
            None => {
                let metadata = object("metadata", vec![text("name", &name, first)], first);
                let written = format!("\"metadata\": {}", in_one_line(&metadata.value));
                members.push(metadata);
                match version_end {
                    Some(end) => {
                        let at = Span { start: end, end };
                        edits.push(Edit::new(at, format!(",{space}{written}")));
                    }
                    None => new.push_str(&format!("{written},{space}")),
                }
            }
        }
    }
    if !new.is_empty() {
        let start = first.start;
        edits.push(Edit::new(Span { start, end: start }, new));
    }
    edits
}

/// What the scenario is called: by itself, else by its file.
fn name(reader: &Reader<'_>, members: &[Member]) -> String {
    let own = find(members, "name").and_then(|name| name.value.as_str());
    if let Some(own) = own.filter(|name| !name.trim().is_empty()) {
        return own.to_owned();
    }
    let file = reader.source.name();
    let path = std::path::Path::new(file);
    let stem = path.file_stem().filter(|_| !file.starts_with('<'));
    stem.map_or("scenario".into(), |stem| stem.to_string_lossy())
        .into_owned()
}

fn find<'m>(members: &'m [Member], key: &str) -> Option<&'m Member> {
    members.iter().find(|member| member.key == key)
}

/// A member that stands for what is written at `span`.
fn member(key: &str, kind: NodeKind, span: Span) -> Member {
    Member {
        key: key.to_owned(),
        key_span: span,
        value: Node { kind, span },
    }
}

fn text(key: &str, text: &str, span: Span) -> Member {
    member(key, NodeKind::String(text.to_owned()), span)
}

fn object(key: &str, members: Vec<Member>, span: Span) -> Member {
    member(key, NodeKind::Object(members), span)
}

/// A value as JSON in one line, with numbers as they were written.
fn in_one_line(node: &Node) -> String {
    let (open, parts, close): (_, Vec<String>, _) = match &node.kind {
        NodeKind::Array(items) if !items.is_empty() => {
            ("[", items.iter().map(in_one_line).collect(), "]")
        }
        NodeKind::Object(members) if !members.is_empty() => {
            let part = |member: &Member| {
                format!("{}: {}", quoted(&member.key), in_one_line(&member.value))
            };
            ("{ ", members.iter().map(part).collect(), " }")
        }
        _ => return node.to_string(),
    };
    format!("{open}{}{close}", parts.join(", "))
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}
