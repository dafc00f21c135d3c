//! Questions, and calls that come back with them.

use cuecard_tool_call::model::{AnswerPlace, QuestionKind};
use cuecard_tool_call::script::Bindings;

use super::*;

const FIRST: AnswerPlace = AnswerPlace {
    kind: QuestionKind::Elicitation,
    idx: 0,
};

/// The answers of a scenario with these `answers`.
fn answers(answers: &Value) -> Arc<ReadyAnswers> {
    let scenario = json!({
        "version": "2.1",
        "metadata": { "name": "n" },
        "answers": answers,
        "steps": [{ "step": 1, "tool": "mcp__scripted__x", "params": {} }],
    });
    let source = cuecard_source::SourceFile::new("s.json", scenario.to_string());
    let reading = cuecard_tool_call::format::read(&source);
    let scenario = reading.scenario.expect("a valid scenario");
    Arc::new(ReadyAnswers::at_start(&scenario, &Bindings::default()))
}

async fn start_answering(spec: &ServerSpec, with: &Value) -> Session {
    let session = Session::start_answering(spec, &env(), answers(with)).await;
    session.expect("the server starts")
}

async fn start_eliciting(spec: &ServerSpec, elicitation: &Value) -> Session {
    start_answering(spec, &json!({ "elicitation": elicitation })).await
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
    assert_eq!(session.take_asked().answered, [FIRST]);
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
    assert_eq!(error.kind, ErrorKind::TooManyRounds { bound: MOST_ROUNDS });
    assert_eq!(session.take_asked().answered, [FIRST; MOST_ROUNDS]);
    session.answer_with(Arc::default());
    let error = call(&session, "x").await.expect_err("no answer");
    let methods = vec!["elicitation/create".to_owned()];
    assert_eq!(error.kind, ErrorKind::NeedsInput { methods });
    assert_eq!(session.take_asked().unanswered.len(), 1);
    session.stop().await;
}

#[tokio::test]
async fn a_capability_is_told_only_if_there_are_answers() {
    let mut spec = scripted(r#"*tools/call*) text "$can" ;;"#);
    if let TransportSpec::Stdio { args, .. } = &mut spec.transport {
        args[1] = args[1].replace(
            r#"*'"method":"initialize"'*)"#,
            r#"*'"method":"initialize"'*) can=${line#*'"capabilities":'}; can=$(echo "${can%%,'"clientInfo"'*}" | tr -d '"') ;"#,
        );
    }
    for (with, told) in [
        (json!({}), "{}"),
        (
            json!({"elicitation": [{"action": "accept"}]}),
            "{elicitation:{form:{}}}",
        ),
        (json!({"roots": []}), "{roots:{}}"),
        (
            json!({"sampling": [{"reply": "x"}]}),
            "{sampling:{tools:{}}}",
        ),
        (
            json!({"sampling": [{"match": {"server": "other"}, "reply": "x"}]}),
            "{}",
        ),
    ] {
        let session = start_answering(&spec, &with).await;
        assert_eq!(call(&session, "x").await.expect("a reply"), text(told));
        session.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_comes_back_with_every_kind_of_question_gets_all_answers() {
    let session = start_answering(
        &scripted(
            r#"*inputResponses*) case $line in
                 *'"r":{"roots":[{"uri":"file:///a"}]}'*'"s":{"role":"assistant","content":{"type":"odd"}'*) text yes ;;
                 *) refuse 1 "$line" ;; esac ;;
               *tools/call*) answer '{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"},"s":{"method":"sampling/createMessage","params":{"messages":[]}}}}' ;;"#,
        ),
        &json!({"roots": ["/a"], "sampling": [{"reply": {"content": {"type": "odd"}}}]}),
    )
    .await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("yes"));
    let kinds: Vec<QuestionKind> = session
        .take_asked()
        .answered
        .iter()
        .map(|place| place.kind)
        .collect();
    assert_eq!(kinds, [QuestionKind::Roots, QuestionKind::Sampling]);
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
    assert_eq!(session.take_asked().answered, [FIRST]);
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
