//! Answers of servers, made of parts whose value is known because they were made so: whatever stands beside what, the
//! value of the whole is what the rule says of these parts.

use proptest::prelude::*;

use super::*;

/// A part of an answer, as it goes over the wire, and what is known of it.
#[derive(Debug, Clone)]
struct Part {
    wire: Value,
    /// What stands for it in the value, beside others or alone.
    value: Value,
    kind: PartKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PartKind {
    /// A text that is JSON, or holds the one JSON block.
    Json,
    /// Any other text.
    Prose,
    /// A picture.
    Image,
}

/// What stands beside the content.
#[derive(Debug, Clone)]
enum Beside {
    Nothing,
    Null,
    /// The text again, below a key.
    TextBelow(&'static str),
    /// A value below the key `result` and nothing else.
    Result(Value),
    /// Anything else.
    Object(Value),
}

fn words() -> impl Strategy<Value = String> {
    // Two words at least: one could be `null`.
    "[a-z]{2,6}( [a-z]{2,6}){1,4}[.!]?"
}

/// JSON with what looks like the end of a block in its texts.
fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-zé\"\\\\ ]{0,8}",
        Just("```".to_owned()),
        Just("a\n```\n### Result\n1".to_owned()),
        Just("undefined".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn written() -> impl Strategy<Value = (Value, String)> {
    (any_json(), any::<bool>()).prop_map(|(value, is_pretty)| {
        let text = match is_pretty {
            true => format!("{value:#}"),
            false => value.to_string(),
        };
        (value, text)
    })
}

/// A block that is the JSON block of the prose it stands in.
fn block() -> impl Strategy<Value = (Value, String)> {
    let fence = prop::sample::select(vec![
        ("```json", "```"),
        ("```JSON", "```"),
        ("````json", "````"),
        ("  ``` json", "  ```"),
        ("### Result", ""),
    ]);
    let json = (written(), fence)
        .prop_map(|((value, text), (start, end))| (value, format!("{start}\n{text}\n{end}\n")));
    let bare = written()
        .prop_filter("a bare block counts only with these", |(value, _)| {
            value.is_array() || value.is_object()
        })
        .prop_map(|(value, text)| (value, format!("```\n{text}\n```\n")));
    let nothing =
        prop::sample::select(vec!["```json\nundefined\n```\n", "### Result\nundefined\n"])
            .prop_map(|text| (Value::Null, text.to_owned()));
    prop_oneof![6 => json, 2 => bare, 1 => nothing]
}

/// What may stand around a block and is none: lines, other headings, code.
fn around() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        words(),
        Just(String::new()),
        Just("### Ran Playwright code".to_owned()),
        Just("## Pages".to_owned()),
        Just("```js\nawait page.click();\n```".to_owned()),
        Just("```md\n### Result\n1\n```".to_owned()),
        Just("```\nplain words\n```".to_owned()),
    ];
    prop::collection::vec(line, 0..3)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

/// A section ends at the next heading of its rank, so that words after it would be a part of it.
fn after(block: &str, around: &str) -> String {
    match block.starts_with("### ") && !around.is_empty() {
        true => format!("### Page\n{around}"),
        false => around.to_owned(),
    }
}

fn text(kind: PartKind, value: Value, text: String) -> Part {
    Part {
        wire: json!({ "type": "text", "text": text }),
        value,
        kind,
    }
}

fn part() -> impl Strategy<Value = Part> {
    let whole = (written(), prop::sample::select(vec!["", "\n", " "]))
        .prop_map(|((value, json), end)| text(PartKind::Json, value, format!("{end}{json}{end}")));
    let prose_with_block =
        (words(), around(), block(), around()).prop_map(|(words, before, (value, block), rest)| {
            let all = format!("{words}\n{before}{block}{}", after(&block, &rest));
            text(PartKind::Json, value, all)
        });
    let prose = (words(), around())
        .prop_map(|(words, around)| format!("{words}\n{around}"))
        .prop_map(|all| text(PartKind::Prose, Value::from(all.clone()), all));
    let two_blocks = (words(), block(), around(), block())
        .prop_map(|(words, (_, one), between, (_, two))| {
            format!("{words}\n{one}### Next\n{between}{two}")
        })
        .prop_map(|all| text(PartKind::Prose, Value::from(all.clone()), all));
    let no_json = (words(), around())
        .prop_map(|(words, around)| format!("{around}```json\n{words}\n```\n{around}"))
        .prop_map(|all| text(PartKind::Prose, Value::from(all.clone()), all));
    let unfinished = (words(), written())
        .prop_map(|(words, (_, json))| format!("{words}\n```json\n{json}\n"))
        .prop_map(|all| text(PartKind::Prose, Value::from(all.clone()), all));
    let image = Just(Part {
        wire: json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }),
        value: json!({ "type": "image", "media_type": "image/png" }),
        kind: PartKind::Image,
    });
    prop_oneof![
        4 => whole,
        4 => prose_with_block,
        3 => prose,
        1 => two_blocks,
        1 => no_json,
        1 => unfinished,
        2 => image,
    ]
}

fn beside() -> impl Strategy<Value = Beside> {
    prop_oneof![
        Just(Beside::Nothing),
        Just(Beside::Null),
        prop::sample::select(vec!["content", "text", "result"]).prop_map(Beside::TextBelow),
        any_json().prop_map(Beside::Result),
        (any_json(), any_json())
            .prop_map(|(one, two)| Beside::Object(json!({ "result": one, "total": two }))),
        any_json().prop_map(|one| Beside::Object(json!({ "total": one }))),
    ]
}

/// The values of the parts as they stand beside each other, the files numbered.
fn content(parts: &[Part]) -> Value {
    let mut files = 0;
    let mut values: Vec<Value> = parts
        .iter()
        .map(|part| {
            let mut value = part.value.clone();
            if part.kind == PartKind::Image {
                value["blob"] = files.into();
                files += 1;
            }
            value
        })
        .collect();
    match values.len() {
        0 => Value::Null,
        1 => values.remove(0),
        _ => Value::Array(values),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_value_is_what_the_parts_were_made_to_mean(
        parts in prop::collection::vec(part(), 0..4),
        beside in beside(),
    ) {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.wire["text"].as_str()).collect();
        let all_text = texts.join("\n");
        let structured = match &beside {
            Beside::Nothing => None,
            Beside::Null => Some(Value::Null),
            Beside::TextBelow(key) => Some(json!({ *key: all_text })),
            Beside::Result(value) => Some(json!({ "result": value })),
            Beside::Object(value) => Some(value.clone()),
        };
        let mut wire = json!({ "content": parts.iter().map(|part| &part.wire).collect::<Vec<_>>() });
        if let Some(structured) = &structured {
            wire["structuredContent"] = structured.clone();
        }
        let reply = ToolReply::from_wire(wire).expect("it keeps to the protocol");

        let has_prose = parts.iter().any(|part| part.kind == PartKind::Prose);
        let is_json = !texts.is_empty() && !has_prose;
        let content = content(&parts);

        // A text that the structured content calls one is no number, whatever it spells.
        let is_scalar = parts.len() == 1
            && serde_json::from_str::<Value>(&all_text)
                .is_ok_and(|json| !json.is_object() && !json.is_array());
        let expected = match structured.as_ref().and_then(|structured| structured.get("result")) {
            Some(Value::String(text)) if is_scalar && *text == all_text => Value::from(all_text.clone()),
            _ => match &beside {
            // Where there is no text, nothing is repeated.
            Beside::TextBelow("result") if texts.is_empty() => Value::from(""),
            Beside::TextBelow(key) if texts.is_empty() => json!({ *key: "" }),
            Beside::Nothing | Beside::Null | Beside::TextBelow(_) => content.clone(),
            Beside::Result(value) if value.as_str() == Some(&all_text) && !texts.is_empty() => content.clone(),
            Beside::Result(value) => value.clone(),
            _ if is_json => content.clone(),
            Beside::Object(value) => value.clone(),
            },
        };
        let extracted = value_of("evaluate_script", &reply, Parse::Auto).expect("anything has a value");
        prop_assert_eq!(&extracted.value, &expected);
        let kept = extracted.text.clone().or_else(|| match &extracted.value {
            Value::String(text) if *text == all_text => Some(text.clone()),
            value if serde_json::from_str::<Value>(&all_text).is_ok_and(|json| json == *value) => {
                Some(all_text.clone())
            }
            _ => None,
        });
        prop_assert_eq!(kept.unwrap_or_default(), all_text.clone(), "no text is lost");
        if let Some(structured) = structured.as_ref().filter(|structured| !structured.is_null()) {
            let kept = extracted.structured.as_ref().unwrap_or(&extracted.value);
            prop_assert_eq!(kept, structured, "nor what stands beside it");
        }

        let of = |parse| value_of("evaluate_script", &reply, parse).map(|extracted| extracted.value).ok();
        prop_assert_eq!(of(Parse::Text), (!texts.is_empty()).then(|| Value::from(all_text)));
        prop_assert_eq!(of(Parse::Json), is_json.then_some(content));
        prop_assert_eq!(of(Parse::Structured), structured.filter(|value| !value.is_null()));
    }
}
