//! Values that serde can't read by itself: for `#[serde(deserialize_with)]` of the model.

use std::path::{Component, Path, PathBuf};

use regex::{Regex, RegexBuilder};
use serde::Deserializer;
use serde_json_path::JsonPath;

use super::acp;
use super::content::is_absolute;
use crate::model::NameGlob;
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Reader, found};
use cuecard_source::value::{Json, cut, pointer_steps, push_pointer};
use cuecard_source::values::{self, regular_expression};
use cuecard_source::{Span, diagnostic::Diagnostic};

/// The latest point in time, about 31 years: times that are added up can't overflow.
const LATEST: u64 = 1_000_000_000_000;

/// The most bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1024 * 1024;

/// The most patterns of a timeline.
const MAX_PATTERNS: usize = 1_000;

/// Functions for `deserialize_with`, each with the type that it reads, what stands in for one, and by what it is read.
macro_rules! pieces {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $stand_in:expr, $read:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'de, D: Deserializer<'de>, T: From<$type> + 'static>(
            deserializer: D,
        ) -> Result<T, D::Error> {
            let stand_in: Option<$type> = $stand_in;
            by_hand(deserializer, stand_in.map(T::from), |reader, node, pointer| {
                let value: Option<$type> = $read(reader, node, pointer);
                value.map(T::from)
            })
        }
    )*};
}

pieces! {
    /// A string that is not blank.
    filled: String = Some(String::new()), filled_of;
    /// A time in milliseconds.
    time: u64 = Some(0), time_of;
    /// A regular expression of bounded size.
    pattern: Regex = Regex::new("").ok(), pattern_of;
    /// Names and values of an object, in order.
    pairs: Vec<(String, String)> = Some(Vec::new()), pairs_of;
    /// The same, of headers of an answer.
    headers: Vec<(String, String)> = Some(Vec::new()), headers_of;
    /// A text, number or boolean as it is written.
    scalar: String = Some(String::new()), scalar_of;
    /// A path, which the protocol wants absolute.
    absolute: String = Some(String::new()), absolute_of;
    /// The same.
    absolute_path: PathBuf = Some(PathBuf::new()), |reader: &mut Reader<'_>, node: &Node, pointer: &str| {
        absolute_of(reader, node, pointer).map(PathBuf::from)
    };
    /// A text, or a list of texts, none of them empty.
    texts: Vec<String> = Some(Vec::new()), texts_of;
    /// A name with `*` and `?`.
    glob: NameGlob = None, glob_of;
    /// A JSONPath.
    json_path: JsonPath = Some(JsonPath::default()), |reader: &mut Reader<'_>, node: &Node, pointer: &str| {
        values::json_path(reader, node, pointer).map(|(path, _)| path)
    };
    /// A JSON pointer.
    json_pointer: String = Some(String::new()), json_pointer_of;
    /// Any object, as JSON.
    object: Json = Some(Json::Null), |reader: &mut Reader<'_>, node: &Node, pointer: &str| {
        is_object(reader, node, pointer).then(|| node.to_value())
    };
    /// What extensions say.
    meta: Json = Some(Json::Null), meta_of;
    /// A reason to stop of the protocol.
    stop_reason: String = Some(String::new()), acp::stop_reason;
    /// What a prompt is expected to be answered.
    prompt_response: Json = Some(Json::Null), acp::prompt_response;
    /// A path in the timeline's folder.
    included_path: PathBuf = Some(PathBuf::new()), |reader: &mut Reader<'_>, node: &Node, pointer: &str| {
        path_of(reader, node, pointer, "the timeline's directory")
    };
    /// A path in the workspace.
    workspace_path: PathBuf = Some(PathBuf::new()), |reader: &mut Reader<'_>, node: &Node, pointer: &str| {
        path_of(reader, node, pointer, "the workspace")
    };
}

/// How messages call the value at a pointer: by its key, with the places in lists behind it.
pub(super) fn name_of(pointer: &str) -> String {
    let steps: Vec<String> = pointer_steps(pointer).collect();
    let is_index = |step: &String| step.bytes().all(|byte| byte.is_ascii_digit());
    let Some(key) = steps.iter().rposition(|step| !is_index(step)) else {
        return "this".to_owned();
    };
    let indexes = steps[key + 1..].iter().map(|idx| format!("[{idx}]"));
    format!("`{}{}`", cut(&steps[key], 100), indexes.collect::<String>())
}

/// Where an item of a list stands in the file as written.
pub(super) fn item_pointer(reader: &Reader<'_>, item: &Node, pointer: &str, idx: usize) -> String {
    let moved = reader.moved.get(&item.span).cloned();
    moved.unwrap_or_else(|| format!("{pointer}/{idx}"))
}

/// A value outside its set, or one that makes no sense.
pub(super) fn invalid<'r>(
    reader: &'r mut Reader<'_>,
    span: Span,
    pointer: &str,
    message: impl Into<String>,
) -> &'r mut Diagnostic {
    let code = reader.format().value;
    reader.error_at(code, span, pointer, message)
}

/// `_meta`.
pub(super) fn meta_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Json> {
    if node.as_object().is_none() {
        let message = format!("`_meta` must be a mapping, not {}", found(node));
        reader.error_at(codes::TIMELINE_META, node.span, pointer, message);
        return None;
    }
    Some(node.to_value())
}

pub(super) fn filled_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<String> {
    let what = name_of(pointer);
    let text = reader.text_of(node, pointer, &what)?;
    if text.trim().is_empty() {
        invalid(reader, node.span, pointer, format!("{what} is empty"));
        return None;
    }
    Some(text.to_owned())
}

/// A time in milliseconds.
fn time_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<u64> {
    let what = name_of(pointer);
    let Some(number) = node.as_number_text() else {
        reader.wrong_type(node, pointer, &what, "a whole number of milliseconds");
        return None;
    };
    let problem = match node.as_u64() {
        Some(time) if time <= LATEST => return Some(time),
        Some(_) => "is too large",
        None if number.starts_with('-') => "is negative",
        None => "is not a whole number of milliseconds",
    };
    let message = format!("{what}: {} {problem}", cut(number, 40));
    let found = reader.error_at(codes::TIMELINE_TIME, node.span, pointer, message);
    found.help = Some("write a non-negative whole number of milliseconds".to_owned());
    None
}

/// A regular expression of bounded size.
pub(super) fn pattern_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Regex> {
    let what = name_of(pointer);
    reader.n_patterns += 1;
    if reader.n_patterns > MAX_PATTERNS {
        if reader.n_patterns == MAX_PATTERNS + 1 {
            let message = format!("a timeline can have at most {MAX_PATTERNS} patterns");
            invalid(reader, node.span, pointer, message);
        }
        return None;
    }
    if node.as_str() == Some("") {
        let message = format!("{what} is empty: it matches everything");
        invalid(reader, node.span, pointer, message);
        return None;
    }
    regular_expression(reader, node, pointer, &what, |text| {
        RegexBuilder::new(text).size_limit(MAX_PATTERN).build()
    })
}

/// Whether it is an object. Reports if not.
pub(super) fn is_object(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> bool {
    let is_object = matches!(node.kind, NodeKind::Object(_));
    if !is_object {
        reader.wrong_type(node, pointer, &name_of(pointer), "a mapping");
    }
    is_object
}

/// A text, number or boolean as it is written.
fn scalar_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<String> {
    match &node.kind {
        NodeKind::String(text) | NodeKind::Number(text) => Some(text.clone()),
        NodeKind::Bool(flag) => Some(flag.to_string()),
        _ => {
            reader.wrong_type(node, pointer, &name_of(pointer), "a string");
            None
        }
    }
}

/// A path, which the protocol wants absolute.
fn absolute_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<String> {
    let text = filled_of(reader, node, pointer)?;
    if !is_absolute(&text) {
        let message = format!(
            "the protocol requires an absolute path, and `{}` is relative",
            cut(&text, 60)
        );
        reader.error_at(codes::TIMELINE_ACP_PATH, node.span, pointer, message);
        return None;
    }
    Some(text)
}

/// Names and values of an object, in order.
fn pairs_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Vec<(String, String)>> {
    if !is_object(reader, node, pointer) {
        return None;
    }
    let members = node
        .members()
        .iter()
        .filter_map(|Member { key, value, .. }| {
            let value = scalar_of(reader, value, &child(pointer, key))?;
            Some((key.clone(), value))
        });
    Some(members.collect())
}

/// Names and values of headers of an answer.
fn headers_of(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
) -> Option<Vec<(String, String)>> {
    let pairs = pairs_of(reader, node, pointer)?;
    for (name, value) in &pairs {
        let Some(problem) = header_problem(name, value) else {
            continue;
        };
        let mut members = node.members().iter();
        let member = members.find(|member| member.key == *name);
        let span = member.map_or(node.span, |member| member.key_span);
        let message = format!("the header `{}` {problem}", cut(name, 40));
        invalid(reader, span, &child(pointer, name), message);
    }
    Some(pairs)
}

fn texts_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Vec<String>> {
    let items = node.as_array().unwrap_or(std::slice::from_ref(node));
    let texts = items.iter().enumerate().filter_map(|(idx, item)| {
        let at = match node.as_array() {
            Some(_) => item_pointer(reader, item, pointer, idx),
            None => pointer.to_owned(),
        };
        let text = reader.text_of(item, &at, &name_of(&at))?;
        if text.is_empty() {
            invalid(reader, item.span, &at, format!("{} is empty", name_of(&at)));
        }
        Some(text.to_owned())
    });
    Some(texts.collect())
}

fn glob_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<NameGlob> {
    let text = filled_of(reader, node, pointer)?;
    let pattern = regex::escape(&text)
        .replace("\\*", ".*")
        .replace("\\?", ".");
    // What is escaped is always valid; only its size may not be.
    let pattern = Regex::new(&format!("^(?s:{pattern})$")).ok();
    if pattern.is_none() {
        invalid(
            reader,
            node.span,
            pointer,
            format!("{} is too long", name_of(pointer)),
        );
    }
    Some(NameGlob {
        text,
        pattern: pattern?,
    })
}

fn json_pointer_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<String> {
    let text = reader.text_of(node, pointer, &name_of(pointer))?;
    if text.is_empty() || text.starts_with('/') {
        return Some(text.to_owned());
    }
    let message = format!(
        "`{}` is not a valid JSON pointer: it must be empty or start with `/`",
        cut(text, 60)
    );
    invalid(reader, node.span, pointer, message);
    None
}

fn path_of(reader: &mut Reader<'_>, node: &Node, pointer: &str, folder: &str) -> Option<PathBuf> {
    let text = reader.text_of(node, pointer, &name_of(pointer))?;
    inner_path(reader, text, (node.span, pointer), folder)
}

/// A relative path that doesn't leave the folder it starts in.
pub(super) fn inner_path(
    reader: &mut Reader<'_>,
    text: &str,
    (span, pointer): (Span, &str),
    folder: &str,
) -> Option<PathBuf> {
    let problem = if text.trim().is_empty() || text.contains('\0') {
        "is not a valid path"
    } else if leaves_folder(text.as_ref()) || text.contains(":\\") {
        "is outside it"
    } else {
        return Some(PathBuf::from(text));
    };
    let message = format!(
        "a path below {folder} is needed, and `{}` {problem}",
        cut(text, 60)
    );
    let found = reader.error_at(codes::TIMELINE_PATH, span, pointer, message);
    found.help = Some(format!(
        "write a path that is relative to {folder}, without leading `..`"
    ));
    None
}

/// Whether a path is absolute or goes up further than it went down.
fn leaves_folder(path: &Path) -> bool {
    let mut depth = 0_usize;
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return true,
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
        }
    }
    false
}

/// Why an answer can't have this header.
fn header_problem(name: &str, value: &str) -> Option<&'static str> {
    const OF_THE_MESSAGE: [&str; 4] = [
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
    ];
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some("has an invalid name");
    }
    if OF_THE_MESSAGE
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name))
    {
        return Some("is set automatically and can't be overridden");
    }
    let is_bad = |letter: char| letter.is_control() && letter != '\t';
    value
        .chars()
        .any(is_bad)
        .then_some("has control characters in its value")
}

/// One step more of a pointer.
pub(super) fn child(pointer: &str, key: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_pointer(&mut pointer, key);
    pointer
}

/// Two mappings as one, the inner one winning; mappings inside are merged likewise.
pub(super) fn merged(outer: Json, inner: Json) -> Json {
    match (outer, inner) {
        (outer, Json::Null) => outer,
        (Json::Object(mut outer), Json::Object(inner)) => {
            for (key, value) in inner {
                match outer.get_mut(&key) {
                    Some(known) if known.is_object() && value.is_object() => {
                        *known = merged(known.take(), value);
                    }
                    _ => {
                        outer.insert(key, value);
                    }
                }
            }
            Json::Object(outer)
        }
        (_, inner) => inner,
    }
}

/// `timeline[7].agentActions[1]` for `/timeline/7/agentActions/1`.
pub(super) fn key_path(pointer: &str) -> String {
    let mut path = String::new();
    for token in pointer_steps(pointer) {
        if !path.is_empty() && !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
        {
            path.push_str(&format!("[{token}]"));
            continue;
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&token);
    }
    path
}
