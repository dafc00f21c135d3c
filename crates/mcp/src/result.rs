//! What an answer means: the value of a step, its text, and its files.
//!
//! Each text block is JSON when it is JSON, else it is the text that it is. Only what browser servers answer to a script
//! is taken out of the prose around it (fenced, or below `### Result`). Structured content is the value where the text
//! isn't JSON, unless it only repeats the text; what it holds below a lone key `result` (FastMCP) goes before the blocks,
//! of which a list has one for each element. One block is the value, several are an array.

use std::fmt;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::{self, read_value};
use cuecard_source::value::cut;
use cuecard_tool_call::model::Parse;
use serde_json::{Value, json};

use super::reply::{ContentBlock, ToolReply};

/// What an answer holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The value. Where an image, a sound or another file stands, it has
    /// `{ "type", "media_type", "blob": index }`; the index is that of [`Blob`], to be replaced by the path
    /// the file was written to.
    pub value: Value,
    /// All text blocks, joined by line ends, if the value isn't the same text or the JSON that it is.
    pub text: Option<String>,
    /// The structured content, if the value isn't the same.
    pub structured: Option<Value>,
    /// The files, in the order of the answer; also those the value doesn't show.
    pub blobs: Vec<Blob>,
}

/// A file inside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its position among the answer's files, from 0.
    pub index: usize,
    /// For example `image/png`; `application/octet-stream` if the server does not say.
    pub media_type: String,
    /// Its bytes in base64, unchecked.
    pub base64: String,
}

/// An answer is not what `parse` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnmetParse {
    /// [`Parse::Json`] or [`Parse::Text`] was asked for, and there is no text.
    NoText,
    /// [`Parse::Json`] was asked for, and a text neither is JSON nor holds one JSON block.
    NotJson {
        /// How that text begins.
        beginning: String,
    },
    /// [`Parse::Structured`] was asked for, and the answer has no structured content.
    NotStructured,
}

/// The meaning of what `tool` answered.
///
/// # Errors
/// [`UnmetParse`] if the answer is not what `parse` asks for.
pub fn value_of(tool: &str, reply: &ToolReply, parse: Parse) -> Result<Extracted, UnmetParse> {
    extract(reply, parse, parse == Parse::Json || runs_script(tool))
}

/// The meaning of what `tool` answered, from a recorded `result` of `tools/call`; nothing if that keeps to no protocol.
pub fn of_recorded(tool: &str, result: &Value) -> Option<(ToolReply, Value)> {
    let reply = ToolReply::from_wire(result.clone()).ok()?;
    let value = value_of(tool, &reply, Parse::Auto).ok()?.value;
    Some((reply, value))
}

/// What a script returned, from the answer of a tool that ran it in a browser; null if the answer holds nothing.
pub fn script_result(reply: &ToolReply) -> Value {
    extract(reply, Parse::Auto, true)
        .map(|extracted| extracted.value)
        .unwrap_or_default()
}

/// As [`value_of`]; `reads_block` is whether prose with exactly one JSON block has that as its value.
fn extract(reply: &ToolReply, parse: Parse, reads_block: bool) -> Result<Extracted, UnmetParse> {
    let text = text_of(reply);
    let has_text = reply.content.iter().any(|block| as_text(block).is_some());
    // Some servers send `null` or `{}` beside real content, where they mean that there is nothing.
    let is_nothing = |value: &Value| match value {
        Value::Object(members) => members.is_empty() && has_text && parse == Parse::Auto,
        value => value.is_null(),
    };
    let structured = reply.structured.as_ref().filter(|value| !is_nothing(value));
    let mut blobs = Vec::new();
    let mut not_json = None;
    let mut is_whole = reply.content.len() == 1;
    let mut values = Vec::with_capacity(reply.content.len());
    for block in &reply.content {
        let text = match as_text(block) {
            Some(text) if parse != Parse::Content => text,
            _ => {
                is_whole = false;
                values.push(block_value(block, &mut blobs));
                continue;
            }
        };
        let json = match parse {
            Parse::Json => whole_json(text),
            _ => exact_json(text),
        };
        is_whole &= json.is_some();
        let json = json.or_else(|| reads_block.then(|| only_block(text)).flatten());
        values.push(json.unwrap_or_else(|| {
            not_json.get_or_insert_with(|| cut(text.trim_start(), 200).into_owned());
            Value::String(text.to_owned())
        }));
    }
    let content = match values.len() {
        _ if parse == Parse::Content => Value::Array(values),
        0 => Value::Null,
        1 => values.remove(0),
        _ => Value::Array(values),
    };
    let value = match (parse, structured) {
        (Parse::Json | Parse::Text, _) if !has_text => return Err(UnmetParse::NoText),
        (Parse::Text, _) => Value::String(text.clone()),
        (Parse::Json, _) => match not_json {
            Some(beginning) => return Err(UnmetParse::NotJson { beginning }),
            None => content,
        },
        (Parse::Structured, None) => return Err(UnmetParse::NotStructured),
        (Parse::Structured, Some(structured)) => structured.clone(),
        (Parse::Auto, Some(structured)) if has_text => {
            let says_the_same = repeats(structured, &text)
                || serde_json::from_str(&text).is_ok_and(|json: Value| json == *structured);
            match result_key(structured) {
                // A text is no number, whatever it spells; JSON that a tool gives as a text is read.
                Some(result @ Value::String(_))
                    if is_whole && !content.is_object() && !content.is_array() =>
                {
                    result.clone()
                }
                _ if says_the_same => content,
                Some(result) => result.clone(),
                None if not_json.is_some() => structured.clone(),
                None => content,
            }
        }
        (Parse::Auto, Some(structured)) => result_key(structured).unwrap_or(structured).clone(),
        (Parse::Auto | Parse::Content, _) => content,
    };
    // Text that became the value, as it is or as JSON, says nothing more.
    let became_value = is_whole && exact_json(&text).as_ref() == Some(&value);
    let says_more = has_text && !became_value && value.as_str() != Some(&text);
    Ok(Extracted {
        text: says_more.then_some(text),
        structured: structured.filter(|other| **other != value).cloned(),
        value,
        blobs,
    })
}

/// Whether `tool` runs a script in a browser and answers with what that returned inside prose.
fn runs_script(tool: &str) -> bool {
    const TOOLS: &[&str] = &[
        "evaluate_script",
        "browser_evaluate",
        "browser_run_code",
        "browser_run_code_unsafe",
    ];
    // Servers in front of others put a name before the tool's.
    TOOLS.iter().any(|name| tool.ends_with(name))
}

/// Whether structured content is nothing but the text below one key.
fn repeats(structured: &Value, text: &str) -> bool {
    let members = structured.as_object().filter(|members| members.len() == 1);
    members.is_some_and(|members| members.values().all(|value| value.as_str() == Some(text)))
}

/// What a lone key `result` holds: servers that must answer with an object put any other value below it.
fn result_key(structured: &Value) -> Option<&Value> {
    let members = structured
        .as_object()
        .filter(|members| members.len() == 1)?;
    members.get("result")
}

/// The warnings that something in JSON in a text of `reply` changes in its value.
pub fn changes(reply: &ToolReply) -> Vec<Diagnostic> {
    let texts = reply.content.iter().filter_map(as_text);
    texts
        .flat_map(|text| {
            let found = json::changes("JSON in the answer", text.as_bytes());
            let is_json = !found.is_empty() && exact_json(text).is_some();
            found.into_iter().filter(move |_| is_json)
        })
        .collect()
}

/// All text blocks of `reply`, joined by line ends.
pub fn text_of(reply: &ToolReply) -> String {
    let mut text = String::new();
    for (nth, block) in reply.content.iter().filter_map(as_text).enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        text.push_str(block);
    }
    text
}

/// The failure that `text` reports, if it is known to be what a server says without setting `isError`.
pub fn hidden_failure(text: &str) -> Option<String> {
    // Only the first line counts, after the heading that older servers begin with: further down stands
    // what a page says.
    let first = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("# "))?;
    // Most answers begin with another word.
    let word = first.split_whitespace().next()?;
    let may_fail = |beginning: &&str| beginning.starts_with(word);
    if !HIDDEN_FAILURES.iter().any(may_fail) {
        return None;
    }
    // Some versions have two spaces where others have one.
    let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
    HIDDEN_FAILURES
        .iter()
        .any(|beginning| words.starts_with(beginning))
        .then_some(words)
}

/// How the first line of a hidden failure begins. All are chrome-devtools-mcp's; @playwright/mcp sets
/// `isError` for everything.
const HIDDEN_FAILURES: &[&str] = &[
    "Unable to navigate in the selected page: ",
    "Unable to navigate back in the selected page: ",
    "Unable to navigate forward in the selected page: ",
    "Unable to reload the selected page: ",
    "Error: a performance trace is already running.",
    "Error: no active performance trace recording to stop.",
    "Error: a screencast recording is already in progress.",
    "Error: no active screencast recording to stop.",
];

/// How chrome-devtools-mcp says that a call led to the browser's own page about a failure.
const LED_TO_ERROR: &str = "Page navigated to chrome-error:";

/// How @playwright/mcp says that such a page is the current one, whatever led there.
const IS_AT_ERROR: &str = "- Page URL: chrome-error:";

/// Parts of the names of tools that only look at a page: where it is says nothing of what they did.
const LOOKING: &[&str] = &[
    "snapshot",
    "screenshot",
    "console",
    "network",
    "tabs",
    "wait",
    "find",
    "dialog",
];

/// The line in which the answer to `tool` says that a navigation failed, though no error is reported.
pub fn failed_navigation<'a>(tool: &str, text: &'a str) -> Option<&'a str> {
    let only_looks = LOOKING.iter().any(|word| tool.contains(word));
    // What the page itself says stands in a part of its own.
    text.lines()
        .take_while(|line| !line.starts_with("### Snapshot") && !line.starts_with("uid="))
        .map(str::trim)
        .find(|line| {
            line.starts_with(LED_TO_ERROR) || (!only_looks && line.starts_with(IS_AT_ERROR))
        })
}

fn as_text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(text),
        _ => None,
    }
}

/// A block of content as a value.
fn block_value(block: &ContentBlock, blobs: &mut Vec<Blob>) -> Value {
    match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text }),
        ContentBlock::Image {
            data_base64,
            media_type,
        } => {
            let index = keep(blobs, data_base64, Some(media_type));
            json!({ "type": "image", "media_type": media_type, "blob": index })
        }
        ContentBlock::Audio {
            data_base64,
            media_type,
        } => {
            let index = keep(blobs, data_base64, Some(media_type));
            json!({ "type": "audio", "media_type": media_type, "blob": index })
        }
        ContentBlock::Resource {
            uri,
            media_type,
            text,
            blob_base64,
        } => {
            let mut value = json!({ "type": "resource", "uri": uri, "media_type": media_type });
            if let Some(text) = text {
                value["text"] = Value::String(text.clone());
            }
            if let Some(data) = blob_base64 {
                value["blob"] = Value::from(keep(blobs, data, media_type.as_deref()));
            }
            value
        }
        ContentBlock::ResourceLink(value) | ContentBlock::Other(value) => value.clone(),
    }
}

fn keep(blobs: &mut Vec<Blob>, base64: &str, media_type: Option<&str>) -> usize {
    let index = blobs.len();
    blobs.push(Blob {
        index,
        media_type: media_type.unwrap_or("application/octet-stream").to_owned(),
        base64: base64.to_owned(),
    });
    index
}

/// As [`whole_json`], but a bare number that would be spelled otherwise (a version `1.10`, a commit `12e3`) stays text.
fn exact_json(text: &str) -> Option<Value> {
    let value = whole_json(text)?;
    let is_exact = value
        .as_number()
        .is_none_or(|number| number.to_string() == text.trim());
    is_exact.then_some(value)
}

fn whole_json(text: &str) -> Option<Value> {
    read_value(text.trim()).ok()
}

/// The value of the one JSON block in prose: what is fenced, or what stands below the heading `### Result`. A fenced
/// block is JSON if it says so, or if it names no language and holds an object or an array; with two such blocks none
/// is the answer.
fn only_block(text: &str) -> Option<Value> {
    let mut found: Option<Value> = None;
    let mut lines = Lines { text, at: 0 };
    while let Some((_, line)) = lines.next_line() {
        let value = if line.trim_end() == RESULT_HEADING {
            let rest = &text[lines.at..];
            let section = rest.find("\n### ").map_or(rest, |end| &rest[..=end]);
            // What is no JSON as a whole may hold a fenced block.
            let Some(value) = script_value(section) else {
                continue;
            };
            lines.at += section.len();
            value
        } else if let Some((ticks, language)) = fence_start(line) {
            let from = lines.at;
            // Without an end this is no block, and whatever follows is part of it.
            let to = loop {
                match lines.next_line() {
                    Some((start, line)) if is_fence_end(line, ticks) => break start,
                    Some(_) => {}
                    None => return found,
                }
            };
            let body = &text[from..to];
            match language {
                "" => match whole_json(body) {
                    Some(value @ (Value::Object(_) | Value::Array(_))) => value,
                    _ => continue,
                },
                // A block that calls itself JSON and is none leaves the answer a text.
                language if language.eq_ignore_ascii_case("json") => script_value(body)?,
                _ => continue,
            }
        } else {
            continue;
        };
        if found.replace(value).is_some() {
            return None;
        }
    }
    found
}

/// Below it @playwright/mcp says what a script returned.
const RESULT_HEADING: &str = "### Result";

/// What a script returned: JSON, or the bare word `undefined` for nothing.
fn script_value(body: &str) -> Option<Value> {
    if body.trim() == "undefined" {
        Some(Value::Null)
    } else {
        whole_json(body)
    }
}

/// The backticks and the language of a line that opens a block.
fn fence_start(line: &str) -> Option<(usize, &str)> {
    let line = line.trim();
    let ticks = line.bytes().take_while(|b| *b == b'`').count();
    let language = line[ticks..].trim();
    (ticks >= 3 && !language.contains('`')).then_some((ticks, language))
}

fn is_fence_end(line: &str, ticks: usize) -> bool {
    let line = line.trim();
    line.len() >= ticks && line.bytes().all(|b| b == b'`')
}

/// Lines with their offsets.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lines<'a> {
    fn next_line(&mut self) -> Option<(usize, &'a str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        self.at += end;
        Some((start, &rest[..end]))
    }
}

impl fmt::Display for UnmetParse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoText => f.write_str("it contains no text"),
            Self::NotJson { beginning } => write!(
                f,
                "its text is not JSON: it begins with `{}`",
                super::text::clean(beginning)
            ),
            Self::NotStructured => f.write_str("it has no structured content"),
        }
    }
}

impl std::error::Error for UnmetParse {}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
