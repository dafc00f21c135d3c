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
    value_of("evaluate_script", &texts(&[text]), Parse::Auto)
        .expect("auto never fails")
        .value
}

/// What any other tool's answer means.
fn meaning(reply: &ToolReply) -> Value {
    of_tool(reply, Parse::Auto).expect("auto never fails").value
}

fn of_tool(reply: &ToolReply, parse: Parse) -> Result<Extracted, UnmetParse> {
    value_of("a_tool", reply, parse)
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

fn structured(texts_: &[&str], structured: Value) -> ToolReply {
    ToolReply {
        structured: Some(structured),
        ..texts(texts_)
    }
}

#[test]
fn what_a_script_returned_stands_in_a_section() {
    let text = "### Result\n{\n  \"a\": [1]\n}\n### Ran Playwright code\n```js\n```";
    assert_eq!(auto(text), json!({"a": [1]}));
    assert_eq!(auto("### Result\r\nundefined\r\n"), Value::Null);
    assert_eq!(auto("### Result\n```json\n[1]\n```"), json!([1]));
    for text in [
        "### Error\nx",
        "#### Result\n1",
        "### Result\ntwo words\n### Page\n",
        "### Result\n1\n### Result\n2",
        "### Result\n1\n### More\n```json\n2\n```",
        "```md\n### Result\n1\n```",
    ] {
        assert_eq!(auto(text), json!(text));
    }
}

#[test]
fn text_that_is_json_comes_before_structured_content() {
    let reply = structured(&["{\"a\": 1}"], json!({ "a": 2 }));
    let extracted = of_tool(&reply, Parse::Auto).expect("a value");
    assert_eq!(extracted.value, json!({ "a": 1 }));
    assert_eq!(extracted.text, None);
    assert_eq!(extracted.structured, Some(json!({ "a": 2 })));
    let said = "Script ran:\n```json\n7\n```";
    let reply = structured(&[said], json!({ "message": "Script ran" }));
    let extracted = value_of("browser_evaluate", &reply, Parse::Auto).expect("a value");
    assert_eq!(extracted.value, json!(7));
    assert_eq!(extracted.text.as_deref(), Some(said));
}

#[test]
fn structured_content_is_the_value_where_the_text_is_prose() {
    let reply = structured(&["It is 20 degrees."], json!({ "degrees": 20 }));
    let extracted = of_tool(&reply, Parse::Auto).expect("a value");
    assert_eq!(extracted.value, json!({ "degrees": 20 }));
    assert_eq!(extracted.text.as_deref(), Some("It is 20 degrees."));
    assert_eq!(extracted.structured, None);
    let reply = structured(&[], json!({ "result": [] }));
    assert_eq!(of_tool(&reply, Parse::Auto).expect("one").value, json!([]));
}

#[test]
fn a_list_of_one_is_a_list() {
    let issue = json!({ "number": 7 });
    let list = json!({ "result": [issue.clone()] });
    // FastMCP writes a block for each element, or one for the whole list.
    for text in [r#"{"number": 7}"#, r#"[{"number": 7}]"#] {
        assert_eq!(meaning(&structured(&[text], list.clone())), json!([issue]));
    }
    let words = structured(&["one"], json!({ "result": ["one"] }));
    assert_eq!(meaning(&words), json!(["one"]));
    // A tool that has a `result` of its own says so in its text.
    let text = r#"{"result": [{"number": 7}]}"#;
    assert_eq!(meaning(&structured(&[text], list.clone())), list);
    // A tool that gives a text gives what stands in it.
    let text = r#"{"number": 7}"#;
    assert_eq!(
        meaning(&structured(&[text], json!({ "result": text }))),
        issue
    );
}

#[test]
fn half_a_surrogate_pair_in_json_is_replaced() {
    let reply = texts(&[r#"{"title": "\ud83d"}"#]);
    assert_eq!(meaning(&reply), json!({ "title": "\u{fffd}" }));
    assert_eq!(changes(&reply).len(), 1);
    let unchanged = [r"not JSON: \ud83d", r#""\ud83d\ude00""#, "1e-400"];
    assert!(changes(&texts(&unchanged)).is_empty());
    let warning = changes(&texts(&[r#"{"weight": 1e-400}"#])).remove(0);
    assert_eq!(
        warning.message,
        "JSON in the answer contains the number `1e-400` in `weight`, which becomes `0.0`"
    );
}

#[test]
fn only_a_script_of_a_browser_has_its_value_in_prose() {
    let readme = "# Use\n```json\n{\"a\": 1}\n```\n### Result\n5\n";
    assert_eq!(meaning(&texts(&[readme])), json!(readme));
    let one_block = "# Use\n```json\n{\"a\": 1}\n```\n";
    assert_eq!(meaning(&texts(&[one_block])), json!(one_block));
    let reply = structured(&[one_block], json!({ "content": one_block, "size": 9 }));
    assert_eq!(meaning(&reply), json!({ "content": one_block, "size": 9 }));
    for tool in ["browser_evaluate", "chrome_evaluate_script"] {
        let value = value_of(tool, &texts(&[one_block]), Parse::Auto);
        assert_eq!(value.expect("a value").value, json!({ "a": 1 }));
    }
    let asked = of_tool(&texts(&[one_block]), Parse::Json).expect("JSON");
    assert_eq!(asked.value, json!({ "a": 1 }));
}

#[test]
fn content_gives_all_blocks_beside_structured_content() {
    let image = ContentBlock::Image {
        data_base64: "AA==".into(),
        media_type: "image/png".into(),
    };
    let mut reply = structured(&["[1]"], json!({ "width": 4 }));
    reply.content.push(image);
    let extracted = of_tool(&reply, Parse::Content).expect("a list");
    assert_eq!(
        extracted.value,
        json!([
            { "type": "text", "text": "[1]" },
            { "type": "image", "media_type": "image/png", "blob": 0 },
        ])
    );
    assert_eq!(extracted.blobs.len(), 1);
    assert_eq!(extracted.structured, Some(json!({ "width": 4 })));
    let one = of_tool(&texts(&["x"]), Parse::Content).expect("a list");
    assert_eq!(one.value, json!([{ "type": "text", "text": "x" }]));
    let none = of_tool(&texts(&[]), Parse::Content).expect("a list");
    assert_eq!(none.value, json!([]));
}

#[test]
fn structured_content_that_repeats_the_text_is_the_text() {
    let reply = structured(&["a page\nof it"], json!({ "content": "a page\nof it" }));
    let extracted = of_tool(&reply, Parse::Auto).expect("a value");
    assert_eq!(extracted.value, json!("a page\nof it"));
    assert_eq!(extracted.text, None);
    let reply = structured(&["Hi"], json!({ "content": "Hi", "more": true }));
    assert_eq!(
        of_tool(&reply, Parse::Auto).expect("a value").value,
        json!({ "content": "Hi", "more": true })
    );
}

#[test]
fn an_empty_object_beside_a_text_says_nothing() {
    let reply = structured(&["ok"], json!({}));
    assert_eq!(meaning(&reply), json!("ok"));
    let of = |parse| of_tool(&reply, parse).expect("it can be met").value;
    assert_eq!(of(Parse::Structured), json!({}));
    assert_eq!(meaning(&structured(&[], json!({}))), json!({}));
}

#[test]
fn a_text_of_digits_stays_a_text_and_json_in_a_text_is_read() {
    for (text, expected) in [
        ("5", json!("5")),
        ("true", json!("true")),
        ("{\"a\":1}", json!({ "a": 1 })),
    ] {
        let reply = structured(&[text], json!({ "result": text }));
        assert_eq!(
            of_tool(&reply, Parse::Auto).expect("a value").value,
            expected
        );
    }
    let version = of_tool(&texts(&["1.10"]), Parse::Json).expect("it is JSON");
    assert_eq!(version.value, json!(1.1));
}

#[test]
fn each_parse_takes_its_part_or_says_that_there_is_none() {
    let reply = structured(&["{\"a\": 1}"], json!({ "result": 2 }));
    let of = |parse| of_tool(&reply, parse).expect("it can be met");
    assert_eq!(of(Parse::Text).value, json!("{\"a\": 1}"));
    assert_eq!(of(Parse::Json).value, json!({ "a": 1 }));
    assert_eq!(of(Parse::Structured).value, json!({ "result": 2 }));
    assert_eq!(of(Parse::Structured).text.as_deref(), Some("{\"a\": 1}"));
    let unmet = |reply: &ToolReply, parse| of_tool(reply, parse).expect_err("it can't be met");
    assert_eq!(
        unmet(&texts(&["x"]), Parse::Structured),
        UnmetParse::NotStructured
    );
    assert_eq!(
        unmet(&structured(&["x"], Value::Null), Parse::Structured),
        UnmetParse::NotStructured
    );
    assert_eq!(unmet(&texts(&[]), Parse::Text), UnmetParse::NoText);
    let reply = structured(&["prose"], json!({ "a": 2 }));
    assert!(of_tool(&reply, Parse::Json).is_err());
}

#[test]
fn a_structured_null_is_no_value() {
    let reply = structured(&["real"], Value::Null);
    assert_eq!(
        of_tool(&reply, Parse::Auto).expect("a value").value,
        json!("real")
    );
    let nothing = of_tool(&structured(&[], Value::Null), Parse::Auto).expect("a value");
    assert_eq!(nothing.value, Value::Null);
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
    let extracted = of_tool(&reply, Parse::Auto).expect("a value");
    assert_eq!(extracted.value, json!([1, "two", {}]));
    assert_eq!(extracted.text.as_deref(), Some("1\ntwo\n{}"));
    let nothing = of_tool(&texts(&[]), Parse::Auto).expect("a value");
    assert_eq!((nothing.value, nothing.text), (Value::Null, None));
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
    let extracted = value_of("evaluate_script", &texts(&[&with_sections]), Parse::Auto);
    assert_eq!(extracted.expect("a value").text, Some(with_sections));
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
    let extracted = of_tool(&reply, Parse::Auto).expect("a value");
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
    assert_eq!(extracted.text.as_deref(), Some("Took a screenshot."));
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
        of_tool(&reply, Parse::Auto).expect("a value").blobs.len(),
        1
    );
    reply.structured = None;
    reply.content.push(ContentBlock::Text("said".into()));
    let text = of_tool(&reply, Parse::Text).expect("text");
    assert_eq!((text.value, text.blobs.len()), (json!("said"), 1));
}

#[test]
fn links_and_unknown_blocks_are_values_as_they_came() {
    let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
    let reply = ToolReply {
        content: vec![ContentBlock::ResourceLink(link.clone())],
        ..ToolReply::default()
    };
    assert_eq!(of_tool(&reply, Parse::Auto).expect("a value").value, link);
}

#[test]
fn json_is_demanded_of_every_text() {
    let json = |reply: &ToolReply| of_tool(reply, Parse::Json);
    assert_eq!(
        json(&texts(&["[1]", "2"])).expect("JSON").value,
        json!([[1], 2])
    );
    assert_eq!(
        json(&texts(&["[1]", "two words"]))
            .expect_err("no JSON")
            .to_string(),
        "its text is not JSON: it begins with `two words`"
    );
    assert_eq!(
        json(&texts(&[])).expect_err("no JSON").to_string(),
        "it contains no text"
    );
    assert_eq!(
        json(&texts(&[&"x".repeat(10_000)])),
        Err(UnmetParse::NotJson {
            beginning: "x".repeat(200) + "…"
        })
    );
}

#[test]
fn text_is_never_parsed_when_text_is_asked_for() {
    let extracted = of_tool(&texts(&["{\"a\": 1}", "2"]), Parse::Text).expect("text");
    assert_eq!(extracted.value, json!("{\"a\": 1}\n2"));
}

#[test]
fn a_failed_navigation_is_a_failure() {
    let text = "Unable to navigate in the selected page: net::ERR_NAME_NOT_RESOLVED at https://x.\n\
                ## Pages\n1: about:blank [selected]";
    assert_eq!(
        hidden_failure(text).as_deref(),
        Some("Unable to navigate in the selected page: net::ERR_NAME_NOT_RESOLVED at https://x.")
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

#[test]
fn no_number_is_rounded_or_spelled_anew() {
    for text in ["1.10", "12e3", "1E5", "123456789012345678901234"] {
        assert_eq!(auto(text), json!(text));
    }
    for (text, number) in [("5", json!(5)), ("-2.5", json!(-2.5)), (" 7\n", json!(7))] {
        assert_eq!(auto(text), number);
    }
    assert_eq!(
        auto(
            r#"{"id": 123456789012345678901234, "n": [-9223372036854775809, 1.5, 18446744073709551615], "\"1": "99999999999999999999"}"#
        ),
        json!({
            "id": "123456789012345678901234",
            "n": ["-9223372036854775809", 1.5, u64::MAX],
            "\"1": "99999999999999999999",
        })
    );
}
