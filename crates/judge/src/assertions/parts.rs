//! Parts that the parameters of several assertions have in common: how they are read, and what their schemas say.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::values::is_nothing;
use cuecard_source::Span;
use cuecard_source::diagnostic::{Code, codes, did_you_mean};
use cuecard_source::json::{Member, Node};
use cuecard_source::reader::{Object, Reader, instead, is_custom};
use cuecard_source::value::{Json, cut, push_pointer};
use cuecard_source::values::{json_path, regular_expression, schema};
use cuecard_trace::EventData;

pub(crate) use cuecard_source::parts;

parts! {
    /// A text that is not empty.
    pub Text(String) as str, { "type": "string" }, |reader, node, pointer| {
        let what = key_of(pointer);
        filled(reader, node, pointer, &what)
    };
    /// The name of a tool, or a glob such as `mcp__github__*`: `*` stands for any text and `?` for any character.
    pub ToolPattern(Text) as str, { "type": "string" }, |reader, node, pointer| {
        let what = key_of(pointer);
        filled(reader, node, pointer, &what).map(Text)
    };
    /// Texts, none of them empty. One may stand alone.
    pub Texts(Vec<String>) as [String], { "type": ["array", "string"], "items": { "type": "string" } },
        |reader, node, pointer| Some(items(reader, node, pointer, filled));
    /// Names of tools, or globs. One may stand alone.
    pub Tools(Vec<ToolPattern>) as [ToolPattern], { "type": ["array", "string"], "items": { "type": "string" } },
        |reader, node, pointer| Some(items(reader, node, pointer, |reader, node, pointer, what| {
            filled(reader, node, pointer, what).map(|name| ToolPattern(Text(name)))
        }));
    /// Patterns, which the check of their assertion compiles. One may stand alone.
    pub Patterns(Vec<TextPattern>) as [TextPattern], { "type": ["array", "string"], "items": { "type": "string" } },
        |_, _, _| Some(Vec::new());
    /// A regular expression, which the check of its assertion compiles.
    pub Pattern(Option<Regex>) as Option<Regex>, { "type": "string" }, |_, _, _| Some(None);
    /// Dotted keys and regular expressions, which the check of their assertion compiles.
    pub Regexes(Vec<(String, Regex)>) as [(String, Regex)],
        { "type": "object", "additionalProperties": { "type": "string" } }, |_, _, _| Some(Vec::new());
    /// Dotted keys and their values.
    pub Args(Map<String, Json>) as Map<String, Json>, { "type": "object" }, dotted;
    /// A value of any type.
    pub Value(Json) as Json, {}, |reader, node, pointer| Some(free(reader, node, pointer));
    /// A JSON Schema.
    pub JsonSchemaText(Json) as Json, { "type": ["object", "boolean"] }, schema;
    /// A JSONPath.
    pub Path(serde_json_path::JsonPath) as serde_json_path::JsonPath, { "type": "string" },
        |reader, node, pointer| json_path(reader, node, pointer).map(|(path, _)| path);
    /// Groups of words and phrases that mean the same, two or more each.
    pub Equivalents(Vec<Vec<String>>) as [Vec<String>], {
        "type": "array",
        "items": { "type": "array", "minItems": 2, "items": { "type": "string", "minLength": 1 } },
    }, |reader, node, pointer| {
        let Some(groups) = node.as_array() else {
            reader.wrong_type(node, pointer, &key_of(pointer), "an array of arrays of words");
            return None;
        };
        let groups = groups.iter().enumerate().map(|(idx, group)| {
            let words = group.as_array().unwrap_or_default().iter().map(|word| {
                word.as_str().filter(|word| !word.trim().is_empty()).map(str::to_owned)
            });
            let words = words.collect::<Option<Vec<String>>>().filter(|words| words.len() > 1);
            if words.is_none() {
                let pointer = format!("{pointer}/{idx}");
                let what = "a group of `equivalents`";
                reader.wrong_type(group, &pointer, what, "an array of two words or more");
            }
            words
        });
        Some(groups.flatten().collect())
    };
    /// Program and arguments: a list, so that no shell is needed to take it apart.
    pub CommandLine(Vec<String>) as [String], { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        |reader, node, pointer| {
            let what = key_of(pointer);
            let Some(items) = node.as_array() else {
                reader.wrong_type(node, pointer, &what, "a list of a program and its arguments");
                return None;
            };
            let words = items.iter().enumerate().map(|(idx, item)| {
                let text = reader.text_of(item, &format!("{pointer}/{idx}"), "an argument")?;
                Some(text.to_owned())
            });
            let words: Vec<String> = words.collect::<Option<_>>()?;
            if words.first().is_none_or(|program| program.trim().is_empty()) {
                let message = format!("{what} is not a valid program");
                reader.error_at(codes::CASE_FIELD_VALUE, node.span, pointer, message);
                return None;
            }
            Some(words)
        };
    /// A part of something, from 0 to 1.
    pub Share(f64) as f64, { "type": "number", "minimum": 0, "maximum": 1 },
        |reader, node, pointer| number(reader, node, pointer, 1.0);
    /// A number from 0.
    pub Amount(f64) as f64, { "type": "number", "minimum": 0 },
        |reader, node, pointer| number(reader, node, pointer, f64::INFINITY);
}

impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<&str> for ToolPattern {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl ToolPattern {
    /// As it is written.
    pub fn text(&self) -> &str {
        self
    }

    /// Whether it means the tool called `name`.
    pub fn matches(&self, name: &str) -> bool {
        matches_glob(self, name)
    }
}

/// Goes back to the last `*` alone, so that the product of both lengths bounds the time.
fn matches_glob(glob: &str, text: &str) -> bool {
    let (mut pattern, mut rest) = (glob.chars(), text.chars());
    // What follows the last `*`, and the part of the text that it was tried with.
    let mut star = None;
    loop {
        let from = rest.clone();
        match (pattern.next(), rest.next()) {
            (Some('*'), _) => {
                rest = from.clone();
                star = Some((pattern.clone(), from));
            }
            (Some('?'), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            (None, None) => return true,
            _ => {
                let Some((after, from)) = &mut star else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                (pattern, rest) = (after.clone(), from.clone());
            }
        }
    }
}

/// A pattern with the text it was made of.
#[derive(Debug, Clone)]
pub struct TextPattern {
    /// As it is written.
    pub text: String,
    /// What it matches; case is already seen to.
    pub regex: Regex,
}

/// Which events are meant: what is given must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "selector")]
pub struct Selector {
    /// The type of the event.
    pub event_type: Option<Text>,
    /// The tool; a glob is allowed.
    pub tool: Option<ToolPattern>,
    /// The call.
    pub call_id: Option<Text>,
    /// Whether a tool result is a success.
    pub success: Option<bool>,
    /// Arguments of a call: dotted keys and their values.
    #[serde(default)]
    pub args: Args,
    /// Data of an event of this `event_type`: dotted keys and their values.
    #[serde(default)]
    pub data: Args,
    /// An earlier event that led to it.
    pub caused_by: Option<Box<Selector>>,
}

cuecard_source::checked!(Selector);

impl Selector {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        // A cause that is null would ask for nothing.
        if let Some(null) = object.get("caused_by").filter(|cause| cause.is_null()) {
            let pointer = object.child_pointer("caused_by");
            reader.wrong_type(null, &pointer, "`caused_by`", "an object");
        }
        let mut refuse = |message: &str| {
            reader.error_at(
                codes::ASSERT_PARAMS,
                object.node.span,
                object.pointer,
                message,
            );
        };
        if !self.data.is_empty() && self.event_type.is_none() {
            return refuse("`data` needs an `event_type`");
        }
        let is_given = |member: &Member| !member.value.is_null() && !is_custom(&member.key);
        if !object.node.members().iter().any(is_given) {
            return refuse("this selector matches every event");
        }
        let Some((key, message, proposal)) = self.never_matches() else {
            return;
        };
        let span = object.get(key).map_or(object.node.span, |node| node.span);
        let diagnostic = reader.warning(codes::ASSERT_NEVER, span, message);
        diagnostic.pointer = Some(object.child_pointer(key));
        diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
        diagnostic.help = Some("this selector never matches".to_owned());
    }

    /// Returns the key for which no event can match, why, and what was probably meant.
    pub(crate) fn never_matches(&self) -> Option<(&'static str, String, Option<&'static str>)> {
        let kind = self.event_type.as_deref()?;
        if !EventData::TYPES.contains(&kind) {
            let proposal = did_you_mean(kind, EventData::TYPES.iter().copied());
            let message = format!("no player emits events of type `{}`", cut(kind, 40));
            return Some(("event_type", message, proposal));
        }
        let fields = EventData::fields_of(kind).unwrap_or_default();
        let has = |key: &str| {
            let first = key.split('.').next().unwrap_or(key);
            fields.iter().any(|field| field == key || field == first)
        };
        if let Some(key) = self.data.keys().find(|key| !has(key)) {
            let message = format!("the data of `{kind}` has no `{}`", cut(key, 40));
            let message = format!("{message}, but {}", fields.join(", "));
            return Some(("data", message, None));
        }
        // What only events of certain types have.
        let of_calls: &[&str] = &["tool_call", "tool_result", "error"];
        let is_step = kind.starts_with("step_") || kind.starts_with("element_");
        let parts: [(&str, bool, &[&str]); 4] = [
            ("tool", self.tool.is_some() && !is_step, of_calls),
            ("call_id", self.call_id.is_some(), of_calls),
            ("success", self.success.is_some(), &["tool_result"]),
            ("args", !self.args.is_empty(), of_calls),
        ];
        let mut parts = parts.into_iter();
        let (key, ..) = parts.find(|(_, is_given, types)| *is_given && !types.contains(&kind))?;
        Some((
            key,
            format!("events of type `{kind}` have no `{key}`"),
            None,
        ))
    }
}

/// The key that a pointer ends with, as a message calls it.
pub(crate) fn key_of(pointer: &str) -> String {
    let key = pointer.rsplit('/').next().unwrap_or_default();
    format!("`{}`", cut(key, 60))
}

/// Reads the items of a list, or a value as the only one, by a function that gets what a message calls an item.
pub(crate) fn items<T>(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    read: impl Fn(&mut Reader<'_>, &Node, &str, &str) -> Option<T>,
) -> Vec<T> {
    let what = format!("an item of {}", key_of(pointer));
    match node.as_array() {
        None => read(reader, node, pointer, &what).into_iter().collect(),
        Some(items) => {
            let items = items.iter().enumerate();
            items
                .filter_map(|(idx, item)| read(reader, item, &format!("{pointer}/{idx}"), &what))
                .collect()
        }
    }
}

fn report(reader: &mut Reader<'_>, code: Code, span: Span, pointer: &str, message: String) {
    reader.error_at(code, span, pointer, message);
}

/// Reads a text that is not empty.
pub(crate) fn filled(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
) -> Option<String> {
    let text = reader.text_of(node, pointer, what)?;
    if is_nothing(text) {
        let message = format!("{what} is empty");
        report(reader, codes::CASE_FIELD_VALUE, node.span, pointer, message);
        return None;
    }
    Some(text.to_owned())
}

/// Reads a number from 0 to `most`.
fn number(reader: &mut Reader<'_>, node: &Node, pointer: &str, most: f64) -> Option<f64> {
    let number = node.as_f64().filter(|number| (0.0..=most).contains(number));
    if number.is_none() {
        let expected = match most.is_finite() {
            true => format!("a number between 0 and {most}"),
            false => "a non-negative number".to_owned(),
        };
        reader.wrong_type(node, pointer, &key_of(pointer), &expected);
    }
    number
}

/// Reads a value of any type. Warns about what other readers of YAML would take otherwise.
pub(crate) fn free(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Json {
    reader.warn_doubts(node, pointer, |doubt| {
        format!(
            "put it in quotes if a string is meant; otherwise {}",
            instead(doubt.taken_for)
        )
    });
    node.to_value()
}

fn dotted(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Map<String, Json>> {
    let Some(members) = node.as_object() else {
        reader.wrong_type(node, pointer, &key_of(pointer), "an object");
        return None;
    };
    let members = members.iter().map(|member| {
        let mut pointer = pointer.to_owned();
        push_pointer(&mut pointer, &member.key);
        (member.key.clone(), free(reader, &member.value, &pointer))
    });
    Some(members.collect())
}

/// The most bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1024 * 1024;

/// The most patterns of a test case.
const MAX_PATTERNS: usize = 1_000;

/// How patterns are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rules {
    /// Whether they are regular expressions, not texts.
    pub is_regex: bool,
    /// Whether case counts.
    pub case_sensitive: bool,
    /// Whether each line has its own beginning and end.
    pub by_line: bool,
}

impl Rules {
    /// Regular expressions over the whole of a text.
    pub(crate) fn regex(case_sensitive: bool) -> Self {
        Self {
            is_regex: true,
            case_sensitive,
            by_line: false,
        }
    }

    /// Regular expressions in which each line has its own beginning and end.
    pub(crate) fn by_line(case_sensitive: bool) -> Self {
        Self {
            by_line: true,
            ..Self::regex(case_sensitive)
        }
    }
}

/// Compiles the patterns of a list, or the only one.
pub(crate) fn patterns(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    rules: Rules,
) -> Vec<TextPattern> {
    items(reader, node, pointer, |reader, node, pointer, what| {
        let text = filled(reader, node, pointer, what)?;
        let regex = regex(reader, node, pointer, what, rules)?;
        Some(TextPattern { text, regex })
    })
}

/// Compiles a pattern. `what` is what a message calls it.
pub(crate) fn regex(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
    rules: Rules,
) -> Option<Regex> {
    reader.n_patterns += 1;
    if reader.n_patterns > MAX_PATTERNS {
        if reader.n_patterns == MAX_PATTERNS + 1 {
            let message = format!("a test case can have at most {MAX_PATTERNS} patterns");
            report(reader, codes::ASSERT_PATTERN, node.span, pointer, message);
        }
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

    #[test]
    fn tools_are_named_or_globbed() {
        let is_match = |pattern: &str, name: &str| ToolPattern::from(pattern).matches(name);
        assert!(is_match("web.search", "web.search"));
        assert!(!is_match("web.search", "web_search"));
        assert!(is_match("mcp__*__get_?", "mcp__a__b__get_x"));
        assert!(!is_match("mcp__*", "a mcp__x"));
        assert!(is_match("*", "") && is_match("*a*b?*", "xaxbxaxbb") && !is_match("*a*b?", "aab"));
        assert!(!is_match("?", "") && is_match("**", "a") && !is_match("", "a"));
    }
}
