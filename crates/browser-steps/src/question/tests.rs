use serde_json::json;

use super::*;
use cuecard_page::dom::{DomProcessor, DomState};
use cuecard_page::selector::Finder;
use cuecard_page::text::TextOptions;
use cuecard_source::value::{Json, Redactor};

/// Two buttons of one name, and one element of each sort; each is beside the others.
fn page() -> DomState {
    let mut nodes = vec![json!({"tagName": "body", "path": "/html/body"})];
    for (tag, role, name, more) in [
        ("button", "button", "First", json!({})),
        ("input", "textbox", "Name", json!({})),
        ("input", "checkbox", "News", json!({"type": "checkbox"})),
        ("select", "combobox", "Colour", json!({})),
        ("input", "", "File", json!({"type": "file"})),
        ("a", "link", "Top", json!({"href": "#top"})),
        ("button", "button", "Delete", json!({})),
        ("button", "button", "Delete", json!({})),
    ] {
        let path = format!("{tag}[{}]", nodes.len());
        nodes.push(json!({
            "parent": 0, "tagName": tag, "path": path, "role": role, "name": name, "attributes": more,
            "isVisible": true, "isInteractive": true, "interactiveBy": "native", "isInViewport": true,
        }));
    }
    let document = json!({"url": "https://shop.example/login", "title": "Sign in", "nodes": nodes});
    let capture = json!({"version": 1, "documents": [document]});
    let mut processor = DomProcessor::new("data-testid", Redactor::default());
    processor.read(&capture.to_string()).expect("a capture")
}

/// What becomes of arguments for a sentence: what is done, what is unclear, or what was wrong.
fn judged(action: &str, arguments: Json) -> String {
    let mut whole = json!({"description": "d", "isAmbiguous": false, "confidence": 1});
    for (key, value) in arguments.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    let call = Call {
        name: FUNCTION_NAME.to_owned(),
        arguments: whole,
        ..Call::default()
    };
    calls(action, &[call])
}

fn calls(action: &str, calls: &[Call]) -> String {
    let state = page();
    let question = Question {
        finder: Finder::new(&state, "data-testid"),
        action,
        candidates: &[],
        min_confidence: 0.6,
    };
    match question.judge(calls) {
        Ok(Answer::Act { step, target, to }) => {
            let words = |id| format!(" {}", question.finder.in_words(id));
            let words: String = target.into_iter().chain(to).map(words).collect();
            format!("{}{words}", step.action_type.as_str())
        }
        Ok(Answer::Unclear { reason, candidates }) => {
            format!("unclear {} {reason}", candidates.len())
        }
        Err(breach) => {
            assert!(!breach.0.contains('\n'));
            format!("wrong: {breach}")
        }
    }
}

#[test]
fn answers_that_fit_are_used() {
    for (action, arguments, expected) in [
        // The index 0 and values that look like nothing count.
        (
            "click 'First'",
            json!({"actionType": "click", "targetSelector": "highlightIndex=0"}),
            "click button \"First\"",
        ),
        (
            "drag 'First' to 'Name'",
            json!({"actionType": "drag", "targetSelector": "highlightIndex=0", "toSelector": "highlightIndex=1"}),
            "drag button \"First\" textbox \"Name\"",
        ),
        (
            "drag 'First' to 'Name'",
            json!({"actionType": "drag", "targetSelector": "highlightIndex=0"}),
            "wrong: `drag` needs `toSelector`: another element",
        ),
        (
            "drag 'First' to 'Second'",
            json!({"actionType": "drag", "targetSelector": "highlightIndex=0", "toSelector": "highlightIndex=1"}),
            "wrong: the sentence says `Second`, and button \"First\" does not",
        ),
        (
            "empty the name",
            json!({"actionType": "input", "targetSelector": "highlightIndex=1", "inputValue": ""}),
            "input textbox \"Name\"",
        ),
        (
            "type 0 as name",
            json!({"actionType": "input", "targetSelector": "highlightIndex=1", "inputValue": 0}),
            "input textbox \"Name\"",
        ),
        (
            "no news",
            json!({"actionType": "input", "targetSelector": "highlightIndex=2", "inputValue": false}),
            "input checkbox \"News\"",
        ),
        (
            "my name is 'Ana'",
            json!({"actionType": "input", "targetSelector": "highlightIndex=1", "inputValue": "Ana"}),
            "input textbox \"Name\"",
        ),
        (
            "my name is {{USER}}",
            json!({"actionType": "input", "targetSelector": "highlightIndex=1", "inputValue": "{{USER}}"}),
            "input textbox \"Name\"",
        ),
        (
            "make it Red",
            json!({"actionType": "select", "targetSelector": "highlightIndex=3", "inputValue": "Red"}),
            "select combobox \"Colour\"",
        ),
        (
            "attach a.txt",
            json!({"actionType": "upload", "targetSelector": "highlightIndex=4", "inputValue": "a.txt"}),
            "upload input \"File\"",
        ),
        (
            "take me to /cart",
            json!({"actionType": "navigate", "url": "/cart"}),
            "navigate",
        ),
        (
            "up to the top",
            json!({"actionType": "navigate", "url": "#top"}),
            "navigate",
        ),
        (
            "one page back",
            json!({"actionType": "navigate", "url": "back"}),
            "navigate",
        ),
        (
            "hit return",
            json!({"actionType": "press", "key": "Enter"}),
            "press",
        ),
        (
            "further down",
            json!({"actionType": "scroll", "direction": "down"}),
            "scroll",
        ),
        (
            "I see 'Hi'",
            json!({"actionType": "assert", "assertion": {"kind": "text", "expected": "Hi"}}),
            "assert",
        ),
        (
            "no spinner",
            json!({"actionType": "assert", "assertion": {"kind": "hidden"}}),
            "assert",
        ),
        // An older word for it is read too.
        (
            "click 'First'",
            json!({"actionType": "click", "targetSelector": "highlightIndex=0", "confidence": null, "confidenceScore": 0.9}),
            "click button \"First\"",
        ),
    ] {
        assert_eq!(judged(action, arguments), expected, "{action}");
    }
}

#[test]
fn answers_that_invent_are_sent_back() {
    let input = |value: Json| json!({"actionType": "input", "targetSelector": "highlightIndex=1", "inputValue": value});
    for (action, arguments, expected) in [
        (
            "click 'X'",
            json!({"actionType": "click", "targetSelector": "highlightIndex=99"}),
            "there is no element [99]",
        ),
        (
            "click 'X'",
            json!({"actionType": "click", "targetSelector": "button"}),
            "must be highlightIndex=N",
        ),
        (
            "click 'X'",
            json!({"actionType": "click"}),
            "`click` needs `targetSelector`",
        ),
        (
            "type 'Ana'",
            json!({"actionType": "input", "targetSelector": "highlightIndex=1"}),
            "`input` needs `inputValue`",
        ),
        (
            "type 'Ana'",
            input(json!("Anna")),
            "can't be `Anna`: the sentence gives `Ana`",
        ),
        ("type 'Ana'", input(json!("ana")), "can't be `ana`"),
        (
            "type {{USER}}",
            input(json!("ana@example.org")),
            "the sentence gives `{{USER}}`",
        ),
        (
            "type ana",
            input(json!("bob")),
            "the sentence does not have it",
        ),
        ("type 'Ana'", input(json!("")), "can't be ``"),
        (
            "type 'Ana'",
            input(json!(["Ana"])),
            "`inputValue`: a text, a number, true or false",
        ),
        (
            "type 'Ana'",
            json!({"actionType": "input", "targetSelector": "highlightIndex=0", "inputValue": "Ana"}),
            "button \"First\" can't be typed into",
        ),
        (
            "tick it",
            json!({"actionType": "input", "targetSelector": "highlightIndex=1", "inputValue": true}),
            "can't be checked",
        ),
        (
            "pick 'Red'",
            json!({"actionType": "select", "targetSelector": "highlightIndex=1", "inputValue": "Red"}),
            "has no options",
        ),
        (
            "attach 'a'",
            json!({"actionType": "upload", "targetSelector": "highlightIndex=1", "inputValue": "a"}),
            "takes no file",
        ),
        (
            "go on",
            json!({"actionType": "navigate"}),
            "`navigate` needs `url`",
        ),
        (
            "go on",
            json!({"actionType": "navigate", "url": "https://evil.example/"}),
            "does not name the address",
        ),
        (
            "go on",
            json!({"actionType": "navigate", "url": "#nowhere"}),
            "does not name the address",
        ),
        (
            "press",
            json!({"actionType": "press"}),
            "`press` needs `key`",
        ),
        ("scroll", json!({"actionType": "scroll"}), "`scroll` needs"),
        (
            "press the 'Delete account' thing",
            json!({"actionType": "click", "targetSelector": "highlightIndex=0"}),
            "the sentence says `Delete account`, and button \"First\" does not",
        ),
        // A quoted name is the whole name.
        (
            "press the 'Fir' thing",
            json!({"actionType": "click", "targetSelector": "highlightIndex=0"}),
            "the sentence says `Fir`",
        ),
        (
            "leave 'First' alone, don't click it",
            json!({"actionType": "click", "targetSelector": "highlightIndex=0"}),
            "what is not to be done",
        ),
        (
            "the news are never ticked",
            json!({"actionType": "assert", "targetSelector": "highlightIndex=2", "assertion": {"kind": "checked"}}),
            "`negate` must be true",
        ),
        (
            "see 'Hi' in 'Name'",
            json!({"actionType": "assert", "assertion": {"kind": "text", "expected": "Hi"}}),
            "the sentence says `Name`",
        ),
        (
            "check",
            json!({"actionType": "assert"}),
            "`assert` needs `assertion`",
        ),
        (
            "check",
            json!({"actionType": "assert", "assertion": {"kind": "pretty"}}),
            "`assertion.kind`: unknown variant `pretty`",
        ),
        (
            "check",
            json!({"actionType": "assert", "assertion": {"kind": "text"}}),
            "needs `expected`",
        ),
        (
            "see 'Hi'",
            json!({"actionType": "assert", "assertion": {"kind": "text", "expected": "Hello"}}),
            "`expected` can't be `Hello`",
        ),
        (
            "see",
            json!({"actionType": "assert", "assertion": {"kind": "enabled"}}),
            "needs `targetSelector`",
        ),
        (
            "x",
            json!({"actionType": "dance"}),
            "`actionType` must be one of",
        ),
        ("x", json!({}), "missing field `actionType`"),
        (
            "x",
            json!({"actionType": "click", "confidence": 7}),
            "`confidence` must be",
        ),
        (
            "x",
            json!({"actionType": "click", "isAmbiguous": null}),
            "`isAmbiguous`: invalid type: null",
        ),
        (
            "x",
            json!({"actionType": "click", "candidates": [99]}),
            "there is no element [99]",
        ),
        (
            "x",
            json!({"actionType": "click", "candidates": "all"}),
            "`candidates`: invalid type: string",
        ),
    ] {
        let found = judged(action, arguments);
        assert!(
            found.starts_with("wrong: ") && found.contains(expected),
            "{action}: {found}"
        );
    }
}

#[test]
fn exactly_one_call_is_made() {
    let call = |name: &str, arguments: Json| Call {
        name: name.to_owned(),
        arguments,
        ..Call::default()
    };
    assert!(calls("x", &[]).contains("no call"));
    let one = call(FUNCTION_NAME, json!({}));
    assert!(calls("x", &[one.clone(), one]).contains("2 calls"));
    assert!(calls("x", &[call("eval", json!({}))]).contains("no function `eval`"));
    assert!(calls("x", &[call(FUNCTION_NAME, json!("{broken"))]).contains("no JSON object"));
    let text = json!({"actionType": "scroll", "direction": "up", "description": "d", "isAmbiguous": false, "confidence": 1}).to_string();
    assert_eq!(calls("x", &[call(FUNCTION_NAME, json!(text))]), "scroll");
}

#[test]
fn what_is_not_clear_is_never_done() {
    for (arguments, expected) in [
        (
            json!({"actionType": "unknown", "error": "what?"}),
            "unclear 0 the model could not read it: what?",
        ),
        (
            json!({"actionType": "click", "targetSelector": "highlightIndex=6", "isAmbiguous": true, "candidates": [6, 7]}),
            "unclear 2 the model found more than one meaning",
        ),
        (
            json!({"actionType": "click", "targetSelector": "highlightIndex=6", "confidence": 0.5}),
            "unclear 1 the model is sure to 0.5, less than the 0.6 of `minConfidence`",
        ),
    ] {
        assert_eq!(judged("delete it", arguments), expected);
    }
    // What can't be undone is done only if the sentence says so, in one of the words for it.
    let delete = json!({"actionType": "click", "targetSelector": "highlightIndex=6"});
    assert_eq!(
        judged("click the last one", delete.clone()),
        "unclear 1 the sentence does not say `delete`, which the element does"
    );
    assert_eq!(judged("get it removed", delete), "click button \"Delete\"");
    // A model never breaks a tie of the rules with an element that the words don't name.
    let state = page();
    let candidates = [state.selector_map[6], state.selector_map[7]];
    let question = Question {
        finder: Finder::new(&state, "data-testid"),
        action: "click 'Delete'",
        candidates: &candidates,
        min_confidence: 0.6,
    };
    let call = |index: u32| {
        let arguments = json!({"actionType": "click", "targetSelector": format!("highlightIndex={index}"), "description": "d", "isAmbiguous": false, "confidence": 1});
        question.judge(&[Call {
            name: FUNCTION_NAME.to_owned(),
            arguments,
            ..Call::default()
        }])
    };
    assert!(matches!(call(0), Ok(Answer::Unclear { candidates, .. }) if candidates.len() == 2));
    assert!(matches!(call(6), Ok(Answer::Act { .. })));
}

#[test]
fn a_prompt_has_three_blocks_and_its_key_depends_on_all() {
    let state = page();
    let text = Finder::new(&state, "data-testid")
        .text_for_model(&TextOptions::default())
        .expect("it fits");
    let previous = PreviousStep {
        action: "click 'A'\nB".to_owned(),
        error: Some("no \"A\"".to_owned()),
        url: "https://a/".to_owned(),
    };
    let prompt = Prompt::new(&text, Some(&previous), "click 'Go'");
    assert_eq!(
        prompt.previous,
        r#"previous: "click 'A'\nB" failed at "https://a/": "no \"A\"""#
    );
    assert_eq!(prompt.blocks()[2], "click 'Go'");
    let key = |dialect: &str, model: &str, prompt: &Prompt, replies: &[String]| {
        cassette_key(dialect, model, prompt, replies)
    };
    let one = key("openai", "m", &prompt, &[]);
    assert_eq!(one, key("openai", "m", &prompt, &[]));
    let other = Prompt::new(&text, None, "click 'Go'");
    assert_eq!(other.previous, "previous: none");
    for different in [
        key("anthropic", "m", &prompt, &[]),
        key("openai", "n", &prompt, &[]),
        key("openai", "m", &other, &[]),
        key("openai", "m", &prompt, &["again".to_owned()]),
        key("openaim", "", &prompt, &[]),
    ] {
        assert_ne!(one, different);
    }
}

#[test]
fn the_schema_of_the_function_is_one() {
    assert!(jsonschema::validator_for(&function_schema()).is_ok());
    assert!(!function_description().is_empty());
}
