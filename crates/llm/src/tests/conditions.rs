//! What a request must be like beside its prompt: `match`, `assert: {request: …}`, exact prompts, and requests that are
//! beside no conversation.

use super::*;

/// Scenarios as files; each text is a whole one.
async fn scenarios(texts: &[&str]) -> Played {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.yaml")), text).expect("writable");
    }
    Played::start(folder, |_| {}).await
}

fn scenario(name: &str, condition: &str) -> String {
    format!(
        "name: {name}\nmatch: {condition}\ntimeline:\n  - userInputs: [[0, \"Sort this\"]]\n  \
         - llmResponse: [{{assistant: [[0, \"{name}\"]]}}]\n"
    )
}

#[tokio::test]
async fn conditions_choose_between_scenarios_with_one_prompt() {
    for (one, other, bodies) in [
        (
            "{system: French}",
            "{system: {equals: English}}",
            [
                json!([{"role": "system", "content": "Speak French."}, {"role": "user", "content": "Sort this"}]),
                json!([{"role": "system", "content": "English"}, {"role": "user", "content": "Sort this"}]),
            ],
        ),
        (
            "{text: {regex: \"^apples\"}}",
            "{text: {regex: \"^pears\"}}",
            [said("apples: Sort this"), said("pears: Sort this")],
        ),
    ] {
        let played = scenarios(&[&scenario("one", one), &scenario("other", other)]).await;
        let [first, second] = bodies;
        assert_eq!(played.chat(second).await.content(), "other", "{other}");
        assert_eq!(played.chat(first).await.content(), "one", "{one}");
        let missed = played.chat(said("Sort this")).await;
        assert_eq!(missed.status, 404);
        assert!(missed.text.contains("its `match` fails"), "{}", missed.text);
        assert_eq!(played.codes().await, ["T-SEL-02"]);
    }
}

#[tokio::test]
async fn requests_that_say_the_same_are_told_apart_by_their_conditions() {
    let texts = [
        scenario("small", "{model: \"*-mini\"}"),
        scenario(
            "large",
            "{model: \"gpt-?\", tools: [lookup], header: {x-team: blue}}",
        ),
    ];
    let played = scenarios(&[&texts[0], &texts[1]]).await;
    let tool = json!({"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}});
    let body =
        |model: &str| json!({"model": model, "messages": said("Sort this"), "tools": [tool]});
    // One session by its header, and by its words.
    let named = [("x-cuecard-session", "1"), ("x-team", "blue")];
    for (model, name) in [
        ("gpt-5-mini", "small"),
        ("gpt-5", "large"),
        ("gpt-5-mini", "small"),
    ] {
        let answer = played.post_with(CHAT, &body(model), &named).await;
        assert_eq!(answer.content(), name, "{}", answer.text);
    }
    let without = played.post_with(CHAT, &body("gpt-5"), &[]).await;
    assert!(
        without.text.contains("the header `x-team`"),
        "{}",
        without.text
    );
    let verdict = played.running.stop().await;
    assert_eq!((verdict.sessions.len(), verdict.unplayed.len()), (2, 0));
}

#[tokio::test]
async fn scenarios_whose_conditions_may_hold_at_once_are_refused() {
    let clash = [
        scenario("a", "{model: \"*\"}"),
        scenario("b", "{system: x}"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (number, text) in clash.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.yaml")), text).expect("writable");
    }
    let Err(StartError::Files(found)) = MockLlm::from_file(folder.path()).start().await else {
        panic!("it starts");
    };
    assert_eq!(found[0].code.name(), "T-SEL-04");
}

const ASSERTS: &str = "  - userInputs: [[0, \"Begin\"]]
  - assert:
      request:
        model: \"gpt-*\"
        system: brief
        tools: {has: [lookup], hasNot: [remove]}
        json: [{path: \"$.temperature\", equals: 0}, {path: \"$.seed\", exists: false}, {path: \"$.user\", contains: ada}]
  - llmResponse: [{assistant: [[0, \"Done\"]]}]
";

#[tokio::test]
async fn a_request_is_asserted_before_its_turn() {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    let right = json!({
        "model": "gpt-5", "temperature": 0.0, "user": "ada@home", "tools": [tool("lookup")],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Begin"}],
    });
    let played = Played::timeline(ASSERTS).await;
    assert_eq!(played.post(CHAT, &right).await.content(), "Done");
    assert_eq!(played.codes().await, Vec::<&str>::new());
    for (change, words) in [
        (json!({"model": "claude"}), "request.model"),
        (json!({"temperature": 1}), "request.json[0]"),
        (json!({"seed": 3}), "request.json[1]"),
        (json!({"user": "bob"}), "request.json[2]"),
        (json!({"tools": [tool("remove")]}), "request.tools.has"),
        (
            json!({"tools": [tool("lookup"), tool("remove")]}),
            "request.tools.hasNot",
        ),
        (json!({"messages": said("Begin")}), "request.system"),
    ] {
        let mut wrong = right.clone();
        for (key, value) in change.as_object().expect("an object") {
            wrong[key] = value.clone();
        }
        let played = Played::timeline(ASSERTS).await;
        let refused = played.post(CHAT, &wrong).await;
        assert_eq!(refused.status, 400, "{words}");
        assert!(refused.text.contains(words), "{words}: {}", refused.text);
        assert!(played.codes().await.contains(&"T-ASRT-10"), "{words}");
    }
    // One that no request follows is not green.
    let last = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{assistant: [[0, \"Done\"]]}]\n  - assert: {request: {model: x}}\n";
    let played = Played::timeline(last).await;
    assert_eq!(played.chat(said("Begin")).await.content(), "Done");
    assert_eq!(played.codes().await, ["T-ASRT-10"]);
}

#[tokio::test]
async fn an_exact_prompt_allows_no_words_around_it() {
    let turns = "timeline:\n  - userInputs: [{relativeTime: 0, input: \"delete it\", exact: true}]\n  - llmResponse: [{assistant: [[0, \"Gone\"]]}]\n";
    let by_server = "server: {exactPrompts: true}\ntimeline:\n  - userInputs: [[0, \"delete it\"]]\n  - llmResponse: [{assistant: [[0, \"Gone\"]]}]\n";
    for text in [turns, by_server] {
        for (messages, status) in [
            (said("Delete  it"), 200),
            (said("do not delete it"), 404),
            (
                json!([{"role": "user", "content": "delete it"}, {"role": "user", "content": "or not"}]),
                404,
            ),
            (
                json!([{"role": "user", "content": "<system-reminder>x</system-reminder>"}, {"role": "user", "content": "delete it"}]),
                200,
            ),
        ] {
            let played = scenarios(&[&format!("name: a\n{text}")]).await;
            let answer = played.chat(messages.clone()).await;
            assert_eq!(answer.status, status, "{messages}");
        }
    }
}

#[tokio::test]
async fn who_wants_one_token_in_other_words_than_a_probe_wants_an_answer() {
    let played = Played::timeline(
        "  - userInputs: [[0, \"Is it spam?\"]]\n  - llmResponse: [{assistant: [[0, \"yes\"]]}]\n",
    )
    .await;
    let body = json!({"model": "m", "max_tokens": 1, "messages": said("Is it spam?")});
    assert_eq!(played.post(CHAT, &body).await.content(), "yes");
    // One that is in no script is a miss, and no "OK".
    let other = json!({"model": "m", "max_tokens": 1, "messages": said("Buy zebras")});
    assert_eq!(played.post(CHAT, &other).await.status, 404);
    let probe = json!({"model": "m", "max_tokens": 1, "messages": said("quota")});
    assert_eq!(played.post(CHAT, &probe).await.content(), "OK");
}

#[tokio::test]
async fn what_is_beside_can_be_turned_off() {
    let timeline =
        "  - userInputs: [[0, \"Fix it\"]]\n  - llmResponse: [{assistant: [[0, \"Fixed\"]]}]\n";
    let off = format!("name: a\nserver: {{sideCalls: []}}\ntimeline:\n{timeline}");
    let on = format!("name: a\ntimeline:\n{timeline}");
    let probe = json!({"model": "m", "max_tokens": 1, "messages": said("quota")});
    for (text, status) in [(&on, 200), (&off, 404)] {
        let played = scenarios(&[text]).await;
        assert_eq!(played.post(CHAT, &probe).await.status, status);
    }
}

#[tokio::test]
async fn an_application_that_writes_titles_can_be_scripted() {
    let titled = json!([{"role": "system", "content": "You are a title generator."}, {"role": "user", "content": "The parser fails"}]);
    let timeline = "timeline:\n  - userInputs: [[0, \"The parser fails\"]]\n  - llmResponse: [{assistant: [[0, \"Parser\"]]}]\n";
    let by_prompt = format!("name: a\n{timeline}");
    let by_condition = format!(
        "name: a\nmatch: {{system: title generator}}\n{timeline}  - runCmd: {{cmd: make}}\n"
    );
    for text in [&by_prompt, &by_condition] {
        let played = scenarios(&[text]).await;
        let answer = played.chat(titled.clone()).await;
        assert_ne!(answer.content(), "OK", "{text}");
        let exchanges = played.running.exchanges();
        assert_eq!(exchanges[0].lane, "main", "{text}");
    }
}
