//! Images in prompts without a text, and in results.

use serde_json::{Value, json};

use super::{CHAT, Played, said};

const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const LINE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9bwAAAABJRU5ErkJggg==";

fn image(data: &str) -> Value {
    let url = format!("data:image/png;base64,{data}");
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn asks(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

/// A scenario that begins with this image.
fn shows(data: &str, answer: &str) -> String {
    format!(
        "  - userInputs: [[0, [{{type: image, mimeType: image/png, data: \"{data}\"}}]]]
  - llmResponse: [{{assistant: [[0, {answer}]]}}]
  - userInputs: [[0, And now?]]
  - llmResponse: [{{assistant: [[0, Still]]}}]
"
    )
}

#[tokio::test]
async fn a_first_prompt_may_be_only_an_image() {
    let played = Played::timeline(&shows(DOT, "A dot")).await;
    let first = asks(&[image(DOT)]);
    assert_eq!(played.chat(json!([first])).await.content(), "A dot");
    let answer = json!({"role": "assistant", "content": "A dot"});
    let next = json!([first, answer, asks(&[text("And now?")])]);
    assert_eq!(played.chat(next).await.content(), "Still");
    assert_eq!(played.codes().await, [""; 0]);

    let folder = tempfile::tempdir().expect("a folder");
    for (name, data, answer) in [("a", DOT, "A dot"), ("b", LINE, "A line")] {
        let timeline = shows(data, answer);
        let file = format!("name: {name}\ntimeline:\n{timeline}");
        std::fs::write(folder.path().join(format!("{name}.yaml")), file).expect("writable");
    }
    let played = Played::start(folder, |_| {}).await;
    for (data, answer) in [(LINE, "A line"), (DOT, "A dot")] {
        let answered = played.chat(json!([asks(&[image(data)])])).await;
        assert_eq!(answered.content(), answer);
    }
    let stranger = played.chat(json!([asks(&[image("AAAA")])])).await;
    assert!(
        stranger.text.contains("of a block of type `image_url`"),
        "{}",
        stranger.text
    );
    assert_eq!(played.codes().await, ["T-SEL-02"]);
}

#[tokio::test]
async fn a_prompt_of_images_selects_the_timeline_with_all_of_them() {
    let (dot, line) = (image(DOT), image(LINE));
    let scripted = |data: &[&str]| {
        let blocks = data
            .iter()
            .map(|data| json!({"type": "image", "mimeType": "image/png", "data": data}));
        let input = Value::from_iter(blocks);
        format!("timeline:\n  - userInputs: [{{relativeTime: 0, input: {input}}}]\n")
    };
    let timelines = [
        ("dot", scripted(&[DOT])),
        ("both", scripted(&[DOT, LINE])),
        ("turned", scripted(&[LINE, DOT])),
        (
            "any",
            scripted(&[DOT, LINE, DOT]).replacen("\"type\"", "\"compare\":\"kind\",\"type\"", 3),
        ),
    ];
    for first in 0..timelines.len() {
        let folder = tempfile::tempdir().expect("a folder");
        for (nth, (name, timeline)) in timelines.iter().enumerate() {
            let place = (nth + first) % timelines.len();
            let file = format!(
                "name: {name}\n{timeline}  - llmResponse: [{{assistant: [[0, It is {name}]]}}]\n"
            );
            std::fs::write(folder.path().join(format!("{place}.yaml")), file).expect("writable");
        }
        let played = Played::start(folder, |_| {}).await;
        for (blocks, name) in [
            (vec![&dot], "dot"),
            (vec![&dot, &line], "both"),
            (vec![&line, &dot], "turned"),
            (vec![&line, &line, &line], "any"),
        ] {
            let blocks: Vec<Value> = blocks.into_iter().cloned().collect();
            let answered = played.chat(json!([asks(&blocks)])).await;
            assert_eq!(answered.content(), format!("It is {name}"), "{first}");
        }
        assert_eq!(played.codes().await, [""; 0]);
    }
}

#[tokio::test]
async fn the_name_of_a_document_is_compared() {
    let timeline = |name: &str| {
        let resource = format!("{{uri: 'file:///{name}', mimeType: text/plain, text: milk}}");
        format!(
            "  - userInputs: [[0, [{{type: resource, resource: {resource}}}, {{type: text, text: Read}}]]]\n  - llmResponse: [{{assistant: [[0, Read]]}}]\n"
        )
    };
    for (name, title, codes) in [
        ("home/a.txt", Some("a.txt"), &[][..]),
        ("home/a.txt", None, &[]),
        ("a%2Fb%25.txt", Some("a/b%.txt"), &[]),
        ("a%2Fb.txt", Some("b.txt"), &["T-LLM-09"]),
        ("a.txt", Some("b.txt"), &["T-LLM-09"]),
    ] {
        let played = Played::timeline(&timeline(name)).await;
        let source = json!({"type": "text", "media_type": "text/plain", "data": "milk"});
        let document = json!({"type": "document", "source": source, "title": title});
        let messages = json!([asks(&[document, text("Read")])]);
        let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
        assert_eq!(played.post("/v1/messages", &body).await.status, 200);
        assert_eq!(played.codes().await, codes, "{name} {title:?}");
    }
}

#[tokio::test]
async fn what_is_said_beside_an_image_is_told() {
    let second = format!(
        "  - userInputs: [[0, Hello]]\n  - llmResponse: [{{assistant: [[0, Hi]]}}]\n{}",
        shows(DOT, "A dot")
    );
    let (more, dot) = (text("Delete all"), image(DOT));
    let note = text("<system-reminder>Be brief.</system-reminder>");
    for (asked, codes) in [
        (json!([asks(std::slice::from_ref(&dot))]), &[][..]),
        (json!([asks(&[note, dot.clone()])]), &[]),
        (json!([asks(&[more.clone(), dot.clone()])]), &["T-LLM-09"]),
        (
            json!([asks(std::slice::from_ref(&dot)), asks(&[more])]),
            &["T-LLM-09"],
        ),
    ] {
        let played = Played::timeline(&shows(DOT, "A dot")).await;
        assert_eq!(played.chat(asked.clone()).await.content(), "A dot");
        assert_eq!(played.codes().await, codes, "{asked}");

        let played = Played::timeline(&second).await;
        assert_eq!(played.chat(said("Hello")).await.content(), "Hi");
        let mut history = vec![
            json!({"role": "user", "content": "Hello"}),
            json!({"role": "assistant", "content": "Hi"}),
        ];
        history.extend(asked.as_array().expect("messages").iter().cloned());
        assert_eq!(played.chat(history.into()).await.content(), "A dot");
        assert_eq!(played.codes().await, codes, "{asked}");
    }
}

#[tokio::test]
async fn a_resource_may_be_wrapped_in_a_text() {
    let timeline = "
  - userInputs: [[0, [{type: resource, resource: {uri: \"file:///a.txt\", text: The grass is green.}}, {type: text, text: What is this?}]]]
  - llmResponse: [{assistant: [[0, Grass]]}]
";
    for (wrapped, codes) in [
        ("<doc>The grass is green.</doc>", &[][..]),
        ("<doc>The grass is</doc>", &["T-LLM-02"]),
    ] {
        let played = Played::timeline(timeline).await;
        let asked = asks(&[text(wrapped), text("What is this?")]);
        let body = json!({"model": "m", "messages": [asked]});
        played.post(CHAT, &body).await;
        assert_eq!(played.codes().await, codes, "{wrapped}");
    }
}

#[tokio::test]
async fn an_image_in_a_result_is_told() {
    let shot = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT}});
    for (result, blocks, codes) in [
        ("ok", json!([text("ok")]), &[][..]),
        ("ok", json!([text("ok"), shot]), &["T-LLM-05"]),
        ("{contains: ok}", json!([text("ok"), shot]), &[]),
    ] {
        let played = Played::timeline(&format!(
            "  - userInputs: [[0, Begin]]
  - llmResponse: []
  - agentToolUse: {{toolName: shoot, args: {{}}, result: {result}}}
  - llmResponse: [{{assistant: [[0, Done]]}}]
"
        ))
        .await;
        let messages = json!([
            {"role": "user", "content": "Begin"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "shoot", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": blocks}]},
        ]);
        let tools = json!([{"name": "shoot", "input_schema": {"type": "object"}}]);
        let asked = |messages: &Value| json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages});
        let first = asked(&json!([messages[0]]));
        assert_eq!(played.post("/v1/messages", &first).await.status, 200);
        let second = asked(&messages);
        assert_eq!(played.post("/v1/messages", &second).await.status, 200);
        assert_eq!(played.codes().await, codes, "{result}");
    }
}

#[tokio::test]
async fn a_prompt_may_be_only_a_document() {
    let resource = |text: &str| {
        format!(
            "  - userInputs: [[0, [{{type: resource, resource: {{uri: 'file:///notes', mimeType: text/plain, text: {text}}}}}]]]\n  - llmResponse: [{{assistant: [[0, I read {text}]]}}]\n"
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    for text in ["milk", "bread"] {
        let file = format!("name: {text}\ntimeline:\n{}", resource(text));
        std::fs::write(folder.path().join(format!("{text}.yaml")), file).expect("writable");
    }
    let played = Played::start(folder, |_| {}).await;
    for text in ["bread", "milk"] {
        let source = json!({"type": "text", "media_type": "text/plain", "data": text});
        let content = [
            json!([{"type": "document", "source": source}]),
            json!(format!("<file>{text}</file>")),
        ];
        for content in content {
            let messages = json!([{"role": "user", "content": content}]);
            let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
            let answered = played.post("/v1/messages", &body).await;
            let expected = format!("I read {text}");
            assert!(answered.text.contains(&expected), "{}", answered.text);
        }
    }
    assert_eq!(played.codes().await, [""; 0]);

    let played = Played::timeline(&resource("milk")).await;
    let source = json!({"type": "text", "media_type": "text/plain", "data": "bread"});
    let content = json!([{"type": "document", "source": source}]);
    let messages = json!([{"role": "user", "content": content}]);
    let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
    let answered = played.post("/v1/messages", &body).await;
    assert!(!answered.text.contains("I read milk"), "{}", answered.text);
}
