//! Models that answer what can't be used, and models that don't answer.

use super::*;

/// The code and the message of the error of a sentence; none if it became a step.
fn error_of(result: &Value, sentence: &str) -> Option<(String, Value)> {
    let errors = result["errors"].as_array()?;
    let error = errors.iter().find(|error| error["action"] == sentence)?;
    Some((error["code"].as_str()?.to_owned(), error.clone()))
}

#[test]
fn what_can_not_be_used_is_never_done() {
    let said = |sentence: &str, count: usize| {
        format!(
            "  - userInputs: [[0, \"{sentence}\"]]\n{}",
            "  - llmResponse: [{assistant: [[0, \"I would rather not.\"]]}]\n    stopReason: stop\n"
                .repeat(count)
        )
    };
    let three = |sentence: &str, arguments: &str| turn(sentence, &[arguments; 3]);
    let double = format!(
        "{}{}",
        turn(
            "the double thing",
            &["actionType: click, targetSelector: highlightIndex=4"]
        ),
        call("actionType: click, targetSelector: highlightIndex=6")
            .replace("}}", "}, validate: false}"),
    );
    let corrected = "  - llmResponse: []\n".to_owned()
        + &call("actionType: click, targetSelector: highlightIndex=4");
    let timeline = [
        said("the talkative thing", 3),
        double,
        corrected,
        three(
            "the element that is not there",
            "actionType: click, targetSelector: highlightIndex=99",
        ),
        three(
            "wander off",
            "actionType: navigate, url: 'https://evil.example/'",
        ),
        three(
            "tell it something as 'mine'",
            "actionType: input, targetSelector: highlightIndex=2, inputValue: yours",
        ),
        turn(
            "one of these two",
            &["actionType: click, targetSelector: highlightIndex=4, candidates: [4, 6], isAmbiguous: true, confidence: 0.9"],
        ),
        turn(
            "this one perhaps",
            &["actionType: click, targetSelector: highlightIndex=6, isAmbiguous: false, confidence: 0.2"],
        ),
        turn("something quite else", &["actionType: unknown"]),
        "  - userInputs: [[0, \"the busy thing\"]]\n  - llmResponse: [{error: {statusCode: 429, message: slow down, retryAfterSeconds: 1}}]\n".to_owned(),
        "  - llmResponse: []\n".to_owned(),
        call("actionType: click, targetSelector: highlightIndex=4"),
        "  - userInputs: [[0, \"the garbled thing\"]]\n  - llmResponse: [{assistant: [[0, \"hm\"]]}]\n    stopReason: stop\n    fault: {kind: garbage}\n".to_owned(),
    ]
    .concat();
    let Some(lab) = Lab::new(&timeline) else {
        return;
    };
    let sentences = [
        "the talkative thing",
        "the double thing",
        "the element that is not there",
        "wander off",
        "tell it something as 'mine'",
        "one of these two",
        "this one perhaps",
        "something quite else",
        "the busy thing",
        "the garbled thing",
    ];
    lab.scenario("{onFailure: continue}", &sentences);
    let finished = lab.parse(&["--model", "openai/m"]);
    let result = result(&finished);
    let code = |sentence: &str| error_of(&result, sentence).map(|(code, _)| code);
    for (sentence, expected) in [
        (sentences[0], Some("B-translation_invalid")),
        (sentences[1], None),
        (sentences[2], Some("B-translation_invalid")),
        (sentences[3], Some("B-translation_invalid")),
        (sentences[4], Some("B-translation_invalid")),
        (sentences[5], Some("B-ambiguous_action")),
        (sentences[6], Some("B-ambiguous_action")),
        (sentences[7], Some("B-ambiguous_action")),
        (sentences[8], None),
        (sentences[9], Some("B-model_unavailable")),
    ] {
        assert_eq!(
            code(sentence).as_deref(),
            expected,
            "{sentence}: {}\n{}",
            finished.stdout,
            finished.stderr
        );
    }
    let (_, error) = error_of(&result, sentences[2]).expect("an error");
    let replies = error["llmError"].as_str().expect("every reply");
    assert_eq!(replies.matches("highlightIndex=99").count(), 3, "{replies}");
    let (_, error) = error_of(&result, sentences[5]).expect("an error");
    assert_eq!(
        error["candidates"].as_array().map(Vec::len),
        Some(2),
        "{error}"
    );
    // The two steps pressed a button; nobody signed in.
    assert_eq!(result["testSteps"].as_array().map(Vec::len), Some(2));
    assert_eq!(lab.site.as_ref().expect("the site runs").count("login"), 0);
    exited(&finished, 2);
}

#[test]
fn a_refused_key_is_told_at_once_and_never_shown() {
    let timeline = format!(
        "  - userInputs: [[0, \"let me in\"]]\n  - llmResponse: [{{error: {{statusCode: 401, message: \"{KEY} is no key\"}}}}]\n"
    );
    let Some(lab) = Lab::new(&timeline) else {
        return;
    };
    lab.scenario("{}", &["let me in"]);
    let finished = lab.parse(&["--model", "anthropic/m", "-v", "--json"]);
    exited(&finished, 2);
    let told = format!("{}{}", finished.stdout, finished.stderr);
    assert!(told.contains("*** is no key"), "{told}");
    assert!(
        told.contains("the key comes from `ANTHROPIC_API_KEY`"),
        "{told}"
    );
    assert!(!told.contains(KEY), "{told}");
    let model = lab.model.as_ref().expect("the model runs");
    assert_eq!(model.exchanges().len(), 1);
}

#[test]
fn a_model_that_is_down_or_slow_is_told() {
    let timeline = "  - userInputs: [[0, \"let me in\"]]\n  - llmResponse: [{assistant: [[60000, \"Well.\"]]}]\n    stopReason: stop\n";
    let Some(mut lab) = Lab::new(timeline) else {
        return;
    };
    lab.scenario("{timeoutMs: 8000}", &["let me in"]);
    let slow = lab.parse(&["--model", "openai/m"]);
    exited(&slow, 1);
    let error = &result(&slow)["errors"][0];
    assert_eq!(error["code"], "B-timeout", "{error}");

    lab.scratch.set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let down = lab.parse(&["--model", "openai/m"]);
    exited(&down, 2);
    let error = &result(&down)["errors"][0];
    assert_eq!(error["code"], "B-model_unavailable", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.ends_with("tried 3 times"), "{message}");
}

#[test]
fn without_a_model_the_rules_are_alone() {
    let Some(lab) = Lab::new(&flow()) else { return };
    lab.scenario("{}", &["let me in"]);
    let finished = lab.parse(&[]);
    exited(&finished, 1);
    assert_eq!(result(&finished)["errors"][0]["code"], "B-not_understood");
    let finished = lab.parse(&["--model", "m"]);
    exited(&finished, 3);
    assert!(
        finished.stderr.contains("openai/NAME"),
        "{}",
        finished.stderr
    );
    let model = lab.model.as_ref().expect("the model runs");
    assert!(model.exchanges().is_empty());
}
