//! Values that the parts of a test case have in common.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::{Regex, RegexBuilder};

use super::fields;
use crate::model::{Selector, TextPattern, ToolPattern};
use cuecard_source::Span;
use cuecard_source::diagnostic::{Code, codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, instead};
use cuecard_source::value::{Json, cut, is_invisible};
use cuecard_source::values::regular_expression;
use cuecard_trace::EventData;

/// The most bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1024 * 1024;

/// The most patterns of a test case, globs of tools included.
const MAX_PATTERNS: usize = 1_000;

/// Counts a pattern. Reports the first that is too many, and is false for it and those behind it.
fn is_within_bound(reader: &mut Reader<'_>, span: Span, pointer: &str) -> bool {
    reader.n_patterns += 1;
    if reader.n_patterns == MAX_PATTERNS + 1 {
        let message = format!("a test case can have at most {MAX_PATTERNS} patterns");
        report(reader, codes::ASSERT_PATTERN, span, pointer, message);
    }
    reader.n_patterns <= MAX_PATTERNS
}

/// Reports a value that has the right type and makes no sense.
pub(super) fn invalid(reader: &mut Reader<'_>, span: Span, pointer: &str, message: String) {
    report(reader, codes::CASE_FIELD_VALUE, span, pointer, message);
}

pub(super) fn report(
    reader: &mut Reader<'_>,
    code: Code,
    span: Span,
    pointer: &str,
    message: String,
) {
    let diagnostic = reader.error(code, span, message);
    diagnostic.pointer = Some(pointer.to_owned());
}

/// A value of any shape. Warns about what other readers of YAML would take otherwise.
pub(super) fn free(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Json {
    for doubt in reader.doubts_in(node.span).to_vec() {
        let message = format!(
            "`{}` is read as a string here",
            cut(reader.source.slice(doubt.span), 40)
        );
        let diagnostic = reader.warning(codes::YAML_DOUBT, doubt.span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = Some(format!(
            "put it in quotes if a string is meant; otherwise {}",
            instead(doubt.taken_for)
        ));
    }
    node.to_value()
}

/// The items of a field that is a list, each with its pointer; an item alone is a list of one.
pub(super) fn items<'n>(
    reader: &Reader<'_>,
    object: Object<'n>,
    key: &str,
) -> Vec<(&'n Node, String)> {
    let pointer = object.child_pointer(key);
    match reader.get(object, key) {
        None => Vec::new(),
        Some(node) => match node.as_array() {
            Some(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| (item, format!("{pointer}/{index}")))
                .collect(),
            None => vec![(node, pointer)],
        },
    }
}

/// The texts of a field that is a list of them. None of them is empty.
pub(super) fn texts(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Vec<String> {
    let what = format!("an item of `{key}`");
    items(reader, object, key)
        .into_iter()
        .filter_map(|(node, pointer)| filled(reader, node, &pointer, &what).map(str::to_owned))
        .collect()
}

/// Whether there is nothing in a text that anybody can see.
fn is_nothing(text: &str) -> bool {
    text.chars()
        .all(|sign| sign.is_whitespace() || is_invisible(sign))
}

/// Whether every text, list or object holds this.
pub(super) fn is_in_all(part: &Json) -> bool {
    match part {
        Json::String(text) => is_nothing(text),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// A text that is not empty.
fn filled<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    pointer: &str,
    what: &str,
) -> Option<&'n str> {
    let text = reader.text_of(node, pointer, what)?;
    if is_nothing(text) {
        invalid(reader, node.span, pointer, format!("{what} is empty"));
        return None;
    }
    Some(text)
}

/// A text that may be absent, and is not empty.
pub(super) fn text(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<String> {
    let node = reader.get(object, key)?;
    let text = filled(
        reader,
        node,
        &object.child_pointer(key),
        &format!("`{key}`"),
    )?;
    Some(text.to_owned())
}

/// A whole number from 0.
pub(super) fn count(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<u64> {
    let node = reader.get(object, key)?;
    let count = node.as_u64();
    if count.is_none() {
        let pointer = object.child_pointer(key);
        reader.wrong_type(
            node,
            &pointer,
            &format!("`{key}`"),
            "a non-negative integer",
        );
    }
    count
}

/// A whole number from 0 that a machine can count to.
pub(super) fn size(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<usize> {
    count(reader, object, key).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

/// A number from 0 to `most`.
pub(super) fn number(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    most: f64,
) -> Option<f64> {
    let node = reader.get(object, key)?;
    let number = node.as_f64().filter(|number| (0.0..=most).contains(number));
    if number.is_none() {
        let wanted = match most.is_finite() {
            true => format!("a number between 0 and {most}"),
            false => "a non-negative number".to_owned(),
        };
        let pointer = object.child_pointer(key);
        reader.wrong_type(node, &pointer, &format!("`{key}`"), &wanted);
    }
    number
}

fn pattern_of_tool(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
) -> Option<ToolPattern> {
    let text = filled(reader, node, pointer, what)?;
    if text.contains(['*', '?']) && !is_within_bound(reader, node.span, pointer) {
        return None;
    }
    let tool = ToolPattern::new(text);
    if tool.is_err() {
        let message = format!("`{}` is too long for a tool name", cut(text, 60));
        report(reader, codes::ASSERT_PATTERN, node.span, pointer, message);
    }
    tool.ok()
}

/// The name of a tool, or a glob.
pub(super) fn tool(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<ToolPattern> {
    let node = reader.get(object, key)?;
    pattern_of_tool(
        reader,
        node,
        &object.child_pointer(key),
        &format!("`{key}`"),
    )
}

/// Names of tools, or globs.
pub(super) fn tools(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Vec<ToolPattern> {
    let what = format!("an item of `{key}`");
    items(reader, object, key)
        .into_iter()
        .filter_map(|(node, pointer)| pattern_of_tool(reader, node, &pointer, &what))
        .collect()
}

/// How patterns are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Rules {
    /// Whether they are regular expressions, not texts.
    pub is_regex: bool,
    pub case_sensitive: bool,
    /// Whether each line has its own beginning and end.
    pub by_line: bool,
}

pub(super) fn regex(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
    rules: Rules,
) -> Option<Regex> {
    if !is_within_bound(reader, node.span, pointer) {
        return None;
    }
    let regex = regular_expression(reader, node, pointer, what, |text| compiled(text, rules))?;
    if rules.is_regex && regex.is_match("") && regex.is_match("\u{10fffd}") {
        let message = format!("{what} matches any text");
        report(reader, codes::ASSERT_PATTERN, node.span, pointer, message);
        return None;
    }
    Some(regex)
}

thread_local! {
    /// The patterns that were compiled last. Test cases of a suite have many in common, and compiling them takes
    /// longer than all else that is done for a small one.
    static COMPILED: RefCell<HashMap<(String, Rules), Regex>> = RefCell::default();
}

/// So many patterns are remembered, none longer than so many bytes.
const MOST_COMPILED: (usize, usize) = (256, 256);

fn compiled(text: &str, rules: Rules) -> Result<Regex, regex::Error> {
    let key = (text.to_owned(), rules);
    if let Some(regex) = COMPILED.with_borrow(|compiled| compiled.get(&key).cloned()) {
        return Ok(regex);
    }
    let escaped = (!rules.is_regex).then(|| spaced(text));
    let regex = RegexBuilder::new(escaped.as_deref().unwrap_or(text))
        .case_insensitive(!rules.case_sensitive)
        .multi_line(rules.by_line)
        .crlf(true)
        .size_limit(MAX_PATTERN)
        .build()?;
    let (most, longest) = MOST_COMPILED;
    if text.len() <= longest {
        COMPILED.with_borrow_mut(|compiled| {
            if compiled.len() >= most {
                compiled.clear();
            }
            compiled.insert(key, regex.clone());
        });
    }
    Ok(regex)
}

/// A text as a pattern. Where it has spaces, lines may be broken.
fn spaced(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    let mut was_space = false;
    for character in text.chars() {
        let is_space = character.is_whitespace();
        match is_space {
            true if was_space => {}
            true => pattern.push_str(r"\s+"),
            false => pattern.push_str(&regex::escape(character.encode_utf8(&mut [0; 4]))),
        }
        was_space = is_space;
    }
    pattern
}

/// The patterns of a field that is a list of them.
pub(super) fn patterns(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    rules: Rules,
) -> Vec<TextPattern> {
    let what = format!("an item of `{key}`");
    items(reader, object, key)
        .into_iter()
        .filter_map(|(node, pointer)| {
            let text = filled(reader, node, &pointer, &what)?;
            let regex = regex(reader, node, &pointer, &what, rules)?;
            Some(TextPattern {
                text: text.to_owned(),
                regex,
            })
        })
        .collect()
}

/// Dotted keys and their values.
pub(super) fn dotted(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
) -> Vec<(String, Json)> {
    let Some((node, pointer)) = map(reader, object, key) else {
        return Vec::new();
    };
    let below = Object {
        node,
        pointer: &pointer,
    };
    node.members()
        .iter()
        .map(|member| {
            let value = free(reader, &member.value, &below.child_pointer(&member.key));
            (member.key.clone(), value)
        })
        .collect()
}

/// A field that is an object, with its pointer.
pub(super) fn map<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
    key: &str,
) -> Option<(&'n Node, String)> {
    let node = reader.get(object, key)?;
    let pointer = object.child_pointer(key);
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, &pointer, &format!("`{key}`"), "an object");
        return None;
    }
    Some((node, pointer))
}

/// Which events are meant.
pub(super) fn selector(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Selector> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        let wanted = "an object such as { event_type: tool_call, tool: web_search }";
        reader.wrong_type(node, pointer, "a selector of events", wanted);
        return None;
    }
    let object = Object { node, pointer };
    reader.only_keys(object, fields::SELECTOR, codes::ASSERT_PARAMS, "a selector");
    let selector = Selector {
        event_type: text(reader, object, "event_type"),
        tool: tool(reader, object, "tool"),
        call_id: text(reader, object, "call_id"),
        success: reader.flag(object, "success", "`success`"),
        args: dotted(reader, object, "args"),
        data: dotted(reader, object, "data"),
        // A cause that is null would ask for nothing.
        caused_by: object.get("caused_by").and_then(|node| {
            let cause = selector(reader, node, &object.child_pointer("caused_by"));
            cause.map(Box::new)
        }),
    };
    if !selector.data.is_empty() && selector.event_type.is_none() {
        let message = "`data` needs an `event_type`".to_owned();
        report(reader, codes::ASSERT_PARAMS, node.span, pointer, message);
        return None;
    }
    let says_nothing = fields::SELECTOR
        .iter()
        .all(|field| reader.get(object, field.name).is_none());
    if says_nothing {
        let message = "this selector matches every event".to_owned();
        report(reader, codes::ASSERT_PARAMS, node.span, pointer, message);
        return None;
    }
    never_matches(reader, object, &selector);
    Some(selector)
}

/// Warns about a selector that no event can match.
fn never_matches(reader: &mut Reader<'_>, object: Object<'_>, selector: &Selector) {
    let kind = selector.event_type.as_deref();
    let span_of = |key: &str| object.get(key).map_or(object.node.span, |node| node.span);
    let mut found: Option<(&str, String, Option<&'static str>)> = None;
    if let Some(kind) = kind
        && !Selector::EVENT_TYPES.contains(&kind)
    {
        let proposal = did_you_mean(kind, Selector::EVENT_TYPES.iter().copied());
        let message = format!("no player emits events of type `{}`", cut(kind, 40));
        found = Some(("event_type", message, proposal));
    } else {
        // What only events of certain types have.
        let of_calls: &[&str] = &["tool_call", "tool_result", "error"];
        let parts: [(&str, bool, &[&str]); 4] = [
            ("tool", selector.tool.is_some(), of_calls),
            ("call_id", selector.call_id.is_some(), of_calls),
            ("success", selector.success.is_some(), &["tool_result"]),
            ("args", !selector.args.is_empty(), &["tool_call"]),
        ];
        for (key, is_given, types) in parts {
            if is_given && kind.is_some_and(|kind| !types.contains(&kind)) {
                let kind = kind.unwrap_or_default();
                let message = format!("events of type `{kind}` have no `{key}`");
                found = Some((key, message, None));
                break;
            }
        }
        let fields = kind.and_then(EventData::fields_of).unwrap_or_default();
        let has = |key: &str| {
            let first = key.split('.').next().unwrap_or(key);
            fields.iter().any(|field| field == key || field == first)
        };
        if let Some((key, _)) = selector.data.iter().find(|(key, _)| !has(key)) {
            let kind = kind.unwrap_or_default();
            let message = format!("the data of `{kind}` has no `{}`", cut(key, 40));
            let message = format!("{message}, but {}", fields.join(", "));
            found = Some(("data", message, None));
        }
        if kind.is_none() && selector.success.is_some() && !selector.args.is_empty() {
            let message = "no event has both `success` and `args`".to_owned();
            found = Some(("args", message, None));
        }
    }
    let Some((key, message, proposal)) = found else {
        return;
    };
    let diagnostic = reader.warning(codes::ASSERT_NEVER, span_of(key), message);
    diagnostic.pointer = Some(object.child_pointer(key));
    diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
    diagnostic.help = Some("this selector never matches".to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_texts_across_lines_and_lines_of_any_system() {
        let matches = |text: &str, is_regex: bool, whole: &str| {
            let rules = Rules {
                is_regex,
                case_sensitive: false,
                by_line: true,
            };
            compiled(text, rules).expect("a pattern").is_match(whole)
        };
        assert!(matches("as an AI", false, "As\nan  ai"));
        assert!(matches("a.b (c)", false, "A.B (C)"));
        assert!(!matches("a.b", false, "axb") && !matches("as an", false, "asan"));
        assert!(matches("^secret$", true, "a\r\nsecret\r\nb"));
    }
}
