use cuecard_browser_steps::question::Answer;

use super::*;

fn interpreter(
    replies: impl IntoIterator<Item = Reply>,
) -> (ModelInterpreter<ScriptedClient>, ScriptedClient) {
    let client = ScriptedClient::new(replies);
    (ModelInterpreter::new(Some(client.clone()), None, 3), client)
}

fn named(name: &str, arguments: Json) -> Reply {
    let mut reply = Reply::calling(arguments);
    reply.calls[0].name = name.to_owned();
    reply
}

#[tokio::test]
async fn the_first_reply_that_can_be_used_counts() {
    let state = login();
    let (mut interpreter, client) = interpreter([Reply::calling(click(1))]);
    let action = "delete the first thing";
    let found = interpreter
        .interpret(&question(&state, action), &prompt(&state, action))
        .await
        .expect("an answer");
    assert!(
        matches!(found, Answer::Act { target: Some(target), .. } if target == state.selector_map[1])
    );
    assert_eq!(client.asked(), [Vec::<String>::new()]);
}

#[tokio::test]
async fn what_is_wrong_goes_back_on_one_line() {
    let state = login();
    let action = "delete the first thing";
    let text = |text: &str| Reply {
        text: text.to_owned(),
        calls: Vec::new(),
    };
    let mut twice = Reply::calling(click(1));
    twice.calls.push(twice.calls[0].clone());
    for (reply, expected) in [
        (text("I would click it."), "you made no call"),
        (twice, "you made 2 calls"),
        (named("click", click(1)), "there is no function `click`"),
        (Reply::calling(json!("{\"actionType\": ")), "no JSON object"),
        (Reply::calling(json!([1])), "no JSON object"),
        (Reply::calling(click(99)), "there is no element [99]"),
        (
            Reply::calling(
                json!({"actionType": "fly", "description": "", "isAmbiguous": false, "confidence": 1}),
            ),
            "must be one of",
        ),
        (
            Reply::calling(
                json!({"actionType": "navigate", "url": "https://evil.example/\nx", "description": "",
                "isAmbiguous": false, "confidence": 1}),
            ),
            "does not name the address",
        ),
        (
            Reply::calling(
                json!({"actionType": "input", "targetSelector": "highlightIndex=0", "inputValue": "invented",
                "description": "", "isAmbiguous": false, "confidence": 1}),
            ),
            "`inputValue` can't be `invented`",
        ),
    ] {
        let (mut interpreter, client) = interpreter([reply, Reply::calling(click(1))]);
        interpreter
            .interpret(&question(&state, action), &prompt(&state, action))
            .await
            .expect("the second reply can be used");
        let asked = client.asked();
        assert_eq!(asked.len(), 2);
        assert!(asked[1][0].contains(expected), "{asked:?}");
        assert!(!asked[1][0].contains('\n'), "{asked:?}");
    }
}

#[tokio::test]
async fn after_the_last_reply_every_one_is_told() {
    let state = login();
    let action = "delete the first thing";
    let replies = [click(7), click(8), click(9)].map(Reply::calling);
    let (mut interpreter, client) = interpreter(replies);
    let error = interpreter
        .interpret(&question(&state, action), &prompt(&state, action))
        .await
        .expect_err("no reply can be used");
    assert!(error.is(codes::BROWSER_TRANSLATION));
    assert_eq!(
        error.message,
        "none of the model's 3 replies can be used: there is no element [9] on the page"
    );
    let said = error.model_error.expect("the replies");
    for (number, index) in [(1, 7), (2, 8), (3, 9)] {
        assert!(said.contains(&format!("reply {number}: ")), "{said}");
        assert!(said.contains(&format!("highlightIndex={index}")), "{said}");
    }
    assert_eq!(client.asked().len(), 3);
}

#[tokio::test]
async fn what_is_unclear_is_an_answer_and_nothing_to_be_asked_again() {
    let state = login();
    let action = "delete it";
    for arguments in [
        json!({"actionType": "unknown", "description": "", "isAmbiguous": false, "confidence": 1, "error": "which?"}),
        json!({"actionType": "click", "targetSelector": "highlightIndex=1", "description": "", "isAmbiguous": true,
               "candidates": [1, 2], "confidence": 0.9}),
        json!({"actionType": "click", "targetSelector": "highlightIndex=1", "description": "", "isAmbiguous": false,
               "confidence": 0.59}),
    ] {
        let (mut interpreter, client) = interpreter([Reply::calling(arguments)]);
        let found = interpreter
            .interpret(&question(&state, action), &prompt(&state, action))
            .await
            .expect("an answer");
        assert!(matches!(found, Answer::Unclear { .. }), "{found:?}");
        assert_eq!(client.asked().len(), 1);
    }
}

#[tokio::test]
async fn nobody_to_ask_is_said() {
    let state = login();
    let mut interpreter = ModelInterpreter::<ScriptedClient>::new(None, None, 3);
    let error = interpreter
        .interpret(&question(&state, "x"), &prompt(&state, "x"))
        .await
        .expect_err("there is nobody");
    assert!(error.is(codes::BROWSER_MODEL));
    assert!(error.help.expect("a way out").contains("options.llm"));
}
