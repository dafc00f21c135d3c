//! What an answer means: the value of a step, its text, and its files.
//!
//! `structuredContent` comes first; else each text block is JSON when it is JSON, and text when not. Prose
//! that holds exactly one fenced JSON block has that block as its value, which is how browser servers
//! return what a script gave. One block is the value, several are an array.

use std::fmt;

use cuecard_core::scenario::Parse;
use serde_json::{Value, json};

use super::reply::{ContentBlock, ToolReply};

/// What an answer holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The value. Where an image, a sound or another file stands, it has
    /// `{ "type", "media_type", "blob": index }`; the index is that of [`Blob`], to be replaced by the path
    /// the file was written to.
    pub value: Value,
    /// All text blocks, joined by line ends.
    pub text: String,
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

/// [`Parse::Json`] was asked for, and the answer is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotJson {
    /// The beginning of what it is instead; empty if there is no text at all.
    pub beginning: String,
}

/// The meaning of `reply`.
///
/// # Errors
/// [`NotJson`] if `parse` is [`Parse::Json`] and there is no text, or a text that is no JSON.
pub fn value_of(reply: &ToolReply, parse: Parse) -> Result<Extracted, NotJson> {
    let text = text_of(reply);
    let mut blobs = Vec::new();
    let mut values = Vec::with_capacity(reply.content.len());
    // A structured result is JSON whatever stands beside it.
    let is_structured = reply
        .structured
        .as_ref()
        .is_some_and(|structured| !structured.is_null());
    let of_blocks = if is_structured && parse == Parse::Json {
        Parse::Auto
    } else {
        parse
    };
    for block in &reply.content {
        values.push(block_value(block, of_blocks, &mut blobs)?);
    }
    let value = match (&reply.structured, parse) {
        (_, Parse::Text) => Value::String(text.clone()),
        // Some servers send `null` beside real content, where they mean that there is nothing.
        (Some(structured), _) if !structured.is_null() || values.is_empty() => structured.clone(),
        (_, Parse::Json) if !has_text(reply) => {
            return Err(NotJson {
                beginning: String::new(),
            });
        }
        _ if values.len() == 1 => values.remove(0),
        _ if values.is_empty() => Value::Null,
        _ => Value::Array(values),
    };
    Ok(Extracted { value, text, blobs })
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

/// The JSON in the section `### Result` of an answer of @playwright/mcp: what a script returned.
pub fn result_section(text: &str) -> Option<Value> {
    let (_, section) = text.split_once("### Result\n")?;
    let body = section.split("\n### ").next().unwrap_or(section);
    script_value(body)
}

fn as_text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(text),
        _ => None,
    }
}

fn has_text(reply: &ToolReply) -> bool {
    reply.content.iter().any(|block| as_text(block).is_some())
}

fn block_value(
    block: &ContentBlock,
    parse: Parse,
    blobs: &mut Vec<Blob>,
) -> Result<Value, NotJson> {
    Ok(match block {
        ContentBlock::Text(text) => match (json_in(text), parse) {
            (Some(value), _) => value,
            (None, Parse::Json) => {
                return Err(NotJson {
                    beginning: text.trim_start().chars().take(200).collect(),
                });
            }
            (None, Parse::Auto | Parse::Text) => Value::String(text.clone()),
        },
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
    })
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

/// The JSON that `text` is, or that stands in its only fenced JSON block.
fn json_in(text: &str) -> Option<Value> {
    whole_json(text).or_else(|| fenced_json(text))
}

fn whole_json(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let value = serde_json::from_str(trimmed).ok()?;
    // A bare number that a JSON number cannot hold exactly is an identifier, and stays text.
    let is_integer = trimmed
        .strip_prefix('-')
        .unwrap_or(trimmed)
        .bytes()
        .all(|b| b.is_ascii_digit());
    match &value {
        Value::Number(number) if is_integer && number.is_f64() => None,
        _ => Some(value),
    }
}

/// The value of the one fenced JSON block in prose. A block is JSON if it says so, or if it names no
/// language and holds an object or an array; with two such blocks none is the answer.
fn fenced_json(text: &str) -> Option<Value> {
    if !text.contains("```") {
        return None;
    }
    let mut found: Option<Value> = None;
    let mut lines = Lines { text, at: 0 };
    while let Some((_, line)) = lines.next_line() {
        let Some((ticks, language)) = fence_start(line) else {
            continue;
        };
        let from = lines.at;
        // Without an end this is no block, and whatever follows is part of it.
        let to = loop {
            let (start, line) = lines.next_line()?;
            if is_fence_end(line, ticks) {
                break start;
            }
        };
        let body = &text[from..to];
        let value = match language {
            "" => match whole_json(body) {
                Some(value @ (Value::Object(_) | Value::Array(_))) => Some(value),
                _ => continue,
            },
            language if language.eq_ignore_ascii_case("json") => script_value(body),
            _ => continue,
        };
        if found.is_some() {
            return None;
        }
        // A block that calls itself JSON and is none leaves the answer a text.
        found = Some(value?);
    }
    found
}

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

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.beginning.is_empty() {
            f.write_str("the answer is no JSON: it holds no text")
        } else {
            write!(
                f,
                "the answer is no JSON: it begins with `{}`",
                super::text::clean(&self.beginning)
            )
        }
    }
}

impl std::error::Error for NotJson {}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> ToolReply {
        ToolReply {
            content: texts
                .iter()
                .map(|text| ContentBlock::Text((*text).to_owned()))
                .collect(),
            ..ToolReply::default()
        }
    }

    fn auto(text: &str) -> Value {
        value_of(&texts(&[text]), Parse::Auto)
            .expect("auto never fails")
            .value
    }

    #[test]
    fn a_navigation_that_failed_is_known_by_where_it_led() {
        let clicked =
            "Successfully clicked on the element\nPage navigated to chrome-error://chromewebdata/.";
        let found = failed_navigation("click", clicked);
        assert_eq!(
            found,
            Some("Page navigated to chrome-error://chromewebdata/.")
        );
        let page = "### Page\n- Page URL: chrome-error://chromewebdata/\n### Snapshot\n";
        assert!(failed_navigation("browser_click", page).is_some());
        assert_eq!(failed_navigation("browser_snapshot", page), None);
        let said = "### Snapshot\n```yaml\n- Page URL: chrome-error://x\n";
        assert_eq!(failed_navigation("browser_click", said), None);
        assert_eq!(
            hidden_failure(
                "# navigate_page response\nUnable to navigate in the  selected page: net::ERR_X."
            ),
            Some("Unable to navigate in the selected page: net::ERR_X.".to_owned())
        );
    }

    #[test]
    fn what_a_script_returned_stands_in_a_section() {
        let text = "### Result\n{\n  \"a\": [1]\n}\n### Ran Playwright code\n```js\n```";
        assert_eq!(result_section(text), Some(json!({"a": [1]})));
        assert_eq!(result_section("### Result\nundefined"), Some(Value::Null));
        assert_eq!(result_section("### Error\nx"), None);
    }

    #[test]
    fn structured_content_comes_first_and_keeps_the_text() {
        let mut reply = texts(&["{\"a\": 1}"]);
        reply.structured = Some(json!({ "a": 2 }));
        let extracted = value_of(&reply, Parse::Auto).expect("a value");
        assert_eq!(extracted.value, json!({ "a": 2 }));
        assert_eq!(extracted.text, "{\"a\": 1}");
        assert_eq!(
            value_of(&reply, Parse::Json).expect("JSON").value,
            json!({ "a": 2 })
        );
        assert_eq!(
            value_of(&reply, Parse::Text).expect("text").value,
            json!("{\"a\": 1}")
        );
    }

    #[test]
    fn a_structured_null_is_a_value_only_without_content() {
        let mut reply = texts(&["real"]);
        reply.structured = Some(Value::Null);
        assert_eq!(
            value_of(&reply, Parse::Auto).expect("a value").value,
            json!("real")
        );
        reply.content.clear();
        assert_eq!(
            value_of(&reply, Parse::Json).expect("a value").value,
            Value::Null
        );
    }

    #[test]
    fn text_is_json_when_it_is_json() {
        assert_eq!(auto(" {\"a\": [1, true]}\n"), json!({ "a": [1, true] }));
        assert_eq!(auto("42"), json!(42));
        assert_eq!(auto("-1.5"), json!(-1.5));
        assert_eq!(auto("null"), Value::Null);
        assert_eq!(auto("\"quoted\""), json!("quoted"));
        assert_eq!(auto("plain words"), json!("plain words"));
        assert_eq!(auto(""), json!(""));
        assert_eq!(auto("007"), json!("007"));
        assert_eq!(auto("{\"a\": 1} trailing"), json!("{\"a\": 1} trailing"));
        assert_eq!(auto("1e999"), json!("1e999"));
    }

    #[test]
    fn a_number_too_large_to_hold_stays_text() {
        assert_eq!(auto("18446744073709551615"), json!(u64::MAX));
        assert_eq!(auto("18446744073709551616"), json!("18446744073709551616"));
        assert_eq!(auto("-9223372036854775809"), json!("-9223372036854775809"));
    }

    #[test]
    fn json_nested_beyond_reason_stays_text() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(auto(&deep), json!(deep));
    }

    #[test]
    fn several_blocks_are_an_array_and_none_is_null() {
        let reply = texts(&["1", "two", "{}"]);
        let extracted = value_of(&reply, Parse::Auto).expect("a value");
        assert_eq!(extracted.value, json!([1, "two", {}]));
        assert_eq!(extracted.text, "1\ntwo\n{}");
        let nothing = value_of(&texts(&[]), Parse::Auto).expect("a value");
        assert_eq!((nothing.value, nothing.text), (Value::Null, String::new()));
    }

    #[test]
    fn prose_with_one_fenced_block_has_that_block_as_its_value() {
        let current = "Script ran on page and returned:\n```json\n[{\"name\":\"a\"}]\n```";
        assert_eq!(auto(current), json!([{ "name": "a" }]));
        let older =
            "# evaluate_script response\nScript ran on page and returned:\n```json\n\"x\"\n```\n";
        assert_eq!(auto(older), json!("x"));
        let with_sections = format!("{current}\n## Pages\n1: https://example.com [selected]\n");
        assert_eq!(auto(&with_sections), json!([{ "name": "a" }]));
        let extracted = value_of(&texts(&[&with_sections]), Parse::Auto).expect("a value");
        assert_eq!(extracted.text, with_sections);
    }

    #[test]
    fn undefined_is_null_and_nothing_else_that_is_no_json_is() {
        assert_eq!(auto("returned:\n```json\nundefined\n```"), Value::Null);
        let broken = "returned:\n```json\nNaN\n```";
        assert_eq!(auto(broken), json!(broken));
        let bare = "returned:\n```\nundefined\n```";
        assert_eq!(auto(bare), json!(bare));
    }

    #[test]
    fn backticks_inside_the_json_do_not_end_it() {
        assert_eq!(
            auto("returned:\n```json\n\"a\\n```\\nb\"\n```"),
            json!("a\n```\nb")
        );
        assert_eq!(auto("x\n````json\n{\"a\": 1}\n````"), json!({ "a": 1 }));
        assert_eq!(
            auto("x\n```json\n{\n  \"a\": \"```\"\n}\n```"),
            json!({ "a": "```" })
        );
    }

    #[test]
    fn two_json_blocks_leave_a_text() {
        let two = "a\n```json\n1\n```\nb\n```json\n2\n```";
        assert_eq!(auto(two), json!(two));
        let mixed = "a\n```json\n1\n```\nb\n```\n{}\n```";
        assert_eq!(auto(mixed), json!(mixed));
    }

    #[test]
    fn blocks_in_other_languages_do_not_count() {
        assert_eq!(
            auto("ran\n```js\nawait page.click();\n```\ngot\n```JSON\n{\"ok\": true}\n```"),
            json!({ "ok": true })
        );
        assert_eq!(
            auto("x\n```\nplain output\n```\ny\n```\n[1]\n```"),
            json!([1])
        );
        let inside = "```js\n// ```json is written so\n```";
        assert_eq!(auto(inside), json!(inside));
    }

    #[test]
    fn an_unfinished_block_is_no_block() {
        for text in ["x\n```json\n{}", "x\n```json", "```", "x\n```json\n{}\n``"] {
            assert_eq!(auto(text), json!(text));
        }
    }

    #[test]
    fn images_and_blobs_become_placeholders() {
        let reply = ToolReply {
            content: vec![
                ContentBlock::Text("Took a screenshot.".into()),
                ContentBlock::Image {
                    data_base64: "AA==".into(),
                    media_type: "image/png".into(),
                },
                ContentBlock::Resource {
                    uri: "test://1".into(),
                    media_type: None,
                    text: None,
                    blob_base64: Some("AQ==".into()),
                },
                ContentBlock::Resource {
                    uri: "test://2".into(),
                    media_type: Some("text/plain".into()),
                    text: Some("hi".into()),
                    blob_base64: None,
                },
                ContentBlock::Audio {
                    data_base64: "Ag==".into(),
                    media_type: "audio/wav".into(),
                },
            ],
            ..ToolReply::default()
        };
        let extracted = value_of(&reply, Parse::Auto).expect("a value");
        assert_eq!(
            extracted.value,
            json!([
                "Took a screenshot.",
                { "type": "image", "media_type": "image/png", "blob": 0 },
                { "type": "resource", "uri": "test://1", "media_type": null, "blob": 1 },
                { "type": "resource", "uri": "test://2", "media_type": "text/plain", "text": "hi" },
                { "type": "audio", "media_type": "audio/wav", "blob": 2 },
            ])
        );
        let blobs: Vec<_> = extracted
            .blobs
            .iter()
            .map(|b| (b.index, &*b.media_type, &*b.base64))
            .collect();
        assert_eq!(
            blobs,
            [
                (0, "image/png", "AA=="),
                (1, "application/octet-stream", "AQ=="),
                (2, "audio/wav", "Ag=="),
            ]
        );
        assert_eq!(extracted.text, "Took a screenshot.");
    }

    #[test]
    fn files_are_kept_even_when_the_value_does_not_show_them() {
        let image = ContentBlock::Image {
            data_base64: "AA==".into(),
            media_type: "image/png".into(),
        };
        let mut reply = ToolReply {
            content: vec![image],
            ..ToolReply::default()
        };
        reply.structured = Some(json!(1));
        assert_eq!(
            value_of(&reply, Parse::Auto).expect("a value").blobs.len(),
            1
        );
        reply.structured = None;
        let text = value_of(&reply, Parse::Text).expect("text");
        assert_eq!((text.value, text.blobs.len()), (json!(""), 1));
    }

    #[test]
    fn links_and_unknown_blocks_are_values_as_they_came() {
        let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
        let reply = ToolReply {
            content: vec![ContentBlock::ResourceLink(link.clone())],
            ..ToolReply::default()
        };
        assert_eq!(value_of(&reply, Parse::Auto).expect("a value").value, link);
    }

    #[test]
    fn json_is_demanded_of_every_text() {
        let json = |reply: &ToolReply| value_of(reply, Parse::Json);
        assert_eq!(
            json(&texts(&["[1]", "2"])).expect("JSON").value,
            json!([[1], 2])
        );
        assert_eq!(
            json(&texts(&["[1]", "two words"]))
                .expect_err("no JSON")
                .to_string(),
            "the answer is no JSON: it begins with `two words`"
        );
        assert_eq!(
            json(&texts(&[])).expect_err("no JSON").to_string(),
            "the answer is no JSON: it holds no text"
        );
        let long = json(&texts(&[&"x".repeat(10_000)])).expect_err("no JSON");
        assert_eq!(long.beginning.len(), 200);
    }

    #[test]
    fn text_is_never_parsed_when_text_is_asked_for() {
        let extracted = value_of(&texts(&["{\"a\": 1}", "2"]), Parse::Text).expect("text");
        assert_eq!(extracted.value, json!("{\"a\": 1}\n2"));
    }

    #[test]
    fn a_failed_navigation_is_a_failure() {
        let text = "Unable to navigate in the selected page: net::ERR_NAME_NOT_RESOLVED at https://x.\n\
                    ## Pages\n1: about:blank [selected]";
        assert_eq!(
            hidden_failure(text).as_deref(),
            Some(
                "Unable to navigate in the selected page: net::ERR_NAME_NOT_RESOLVED at https://x."
            )
        );
        let older = "# navigate_page response\nUnable to navigate back in the selected page: x.";
        assert!(hidden_failure(older).is_some());
        assert!(hidden_failure("Error: no active performance trace recording to stop.").is_some());
    }

    #[test]
    fn what_a_page_says_is_no_failure() {
        for text in [
            "Successfully navigated to https://x.",
            "## Page content\nUnable to navigate in the selected page: net::ERR_FAILED",
            "uid=1_2 StaticText \"Unable to navigate in the selected page: net::ERR_X\"",
            "Error: something else",
            "",
            "# heading only",
        ] {
            assert_eq!(hidden_failure(text), None, "{text}");
        }
    }
}
