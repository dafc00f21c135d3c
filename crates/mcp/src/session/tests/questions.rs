//! Questions, and calls that come back with them.

use super::*;

/// The answers of a scenario with this list of `answers.elicitation`.
fn answers(elicitation: &Value) -> Arc<ReadyAnswers> {
    use cuecard_tool_call::script::{Bindings, Effect, Options, Script};
    let scenario = json!({
        "version": "2.1",
        "metadata": { "name": "n" },
        "answers": { "elicitation": elicitation },
        "steps": [{ "step": 1, "tool": "mcp__scripted__x", "params": {} }],
    });
    let source = cuecard_source::SourceFile::new("s.json", scenario.to_string());
    let reading = cuecard_tool_call::format::read(&source);
    let scenario = Arc::new(reading.scenario.expect("a valid scenario"));
    let mut script = Script::new(scenario, Bindings::default(), Options::default());
    loop {
        match script.poll(Duration::ZERO) {
            Effect::Call(request) => return request.answers,
            Effect::Record(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn start_eliciting(spec: &ServerSpec, elicitation: &Value) -> Session {
    let offers = Offers { elicitation: true };
    let session = Session::start_offering(spec, &env(), offers).await;
    let session = session.expect("the server starts");
    session.answer_with(answers(elicitation));
    session
}

#[tokio::test]
async fn a_call_that_comes_back_is_repeated_with_answers_and_state() {
    let question = r#"{"method":"elicitation/create","params":{"message":"Go?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let session = start_eliciting(
        &scripted(&format!(
            r#"*'"inputResponses":{{"q":{{"action":"accept","content":{{}}}}}},"requestState":"two"'*) answer '{{"resultType":"input_required","requestState":"three"}}' ;;
               *inputResponses*) refuse 1 "$line" ;;
               *'"requestState":"one"'*) answer '{{"resultType":"input_required","inputRequests":{{"q":{question}}},"requestState":"two"}}' ;;
               *'"requestState":"three"'*) text done ;;
               *tools/call*) answer '{{"resultType":"input_required","requestState":"one"}}' ;;"#
        )),
        &json!([{ "action": "accept" }]),
    )
    .await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("done"));
    assert_eq!(session.take_asked().answered, [0]);
    session.stop().await;
}

#[tokio::test]
async fn questions_without_end_are_an_error() {
    let question = r#"{"method":"elicitation/create","params":{"message":"Go?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let cases = format!(
        r#"*tools/call*) answer '{{"resultType":"input_required","inputRequests":{{"q":{question}}}}}' ;;"#
    );
    let session = start_eliciting(&scripted(&cases), &json!([{ "action": "decline" }])).await;
    let error = call(&session, "x").await.expect_err("no end");
    assert_eq!(
        error.kind,
        CallErrorKind::TooManyRounds { bound: MOST_ROUNDS }
    );
    assert_eq!(session.take_asked().answered, [0; MOST_ROUNDS]);
    session.answer_with(Arc::default());
    let error = call(&session, "x").await.expect_err("no answer");
    let methods = vec!["elicitation/create".to_owned()];
    assert_eq!(error.kind, CallErrorKind::NeedsInput { methods });
    assert_eq!(session.take_asked().unanswered.len(), 1);
    session.stop().await;
}

#[tokio::test]
async fn the_capability_is_told_only_if_there_are_answers() {
    let cases = r#"*tools/call*) text "$can" ;;"#;
    let spec = |cases: &str| {
        let mut spec = scripted(cases);
        if let TransportSpec::Stdio { args, .. } = &mut spec.transport {
            args[1] = args[1].replace(
                r#"*'"method":"initialize"'*)"#,
                r#"*'"method":"initialize"'*) case $line in *'"elicitation":{"form":{}}'*) can=yes ;; *elicitation*) can=odd ;; *) can=no ;; esac;"#,
            );
        }
        spec
    };
    let session = start(&spec(cases)).await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("no"));
    session.stop().await;
    let session = start_eliciting(&spec(cases), &json!([])).await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("yes"));
    session.stop().await;
}

#[tokio::test]
async fn a_question_that_the_sdk_cannot_read_is_answered_all_the_same() {
    let session = start_eliciting(
        &scripted(
            r#"*'"id":"q1"'*) case $line in *'"action":"accept"'*'"odd":{"a":1}'*) got=yes ;; *) got=$line ;; esac
                 id=$call; text "$got" ;;
               *tools/call*) call=$id
                 echo '{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Odd?","requestedSchema":{"type":"object","properties":{"odd":{"type":"object"}}}}}' ;;"#,
        ),
        &json!([{ "content": { "odd": { "a": 1 } } }]),
    )
    .await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("yes"));
    session.stop().await;
}

#[tokio::test]
async fn a_question_of_a_stateless_server_is_answered_during_a_call() {
    let mut spec = scripted(
        r#"*'"id":"q1"'*) case $line in *'"action":"accept"'*) got=yes ;; *) got=$line ;; esac
             id=$call; text "$got" ;;
           *tools/call*) call=$id
             echo '{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Go?","requestedSchema":{"type":"object","properties":{}}}}' ;;"#,
    );
    if let TransportSpec::Stdio { args, .. } = &mut spec.transport {
        args[1] = args[1].replace(
            "refuse -32601 'what?'",
            r#"answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}'"#,
        );
    }
    let session = start_eliciting(&spec, &json!([{ "action": "accept" }])).await;
    assert_eq!(session.info().era, Era::Modern);
    assert_eq!(call(&session, "x").await.expect("a reply"), text("yes"));
    assert_eq!(session.take_asked().answered, [0]);
    session.stop().await;
}

#[tokio::test]
async fn a_flood_on_standard_error_blocks_nothing_and_is_bounded() {
    let session = start(&scripted(
        r#"*tools/call*)
            i=0; while [ $i -lt 20000 ]; do echo "line $i of a flood that is far larger than any pipe" >&2; i=$((i+1)); done
            text done ;;"#,
    ))
    .await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("done"));
    while !session
        .last_words()
        .last()
        .is_some_and(|line| line.starts_with("line 19999 "))
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(session.last_words().len(), 20);
    session.stop().await;
}
