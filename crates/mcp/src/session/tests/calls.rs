//! Calls and their answers.

use std::pin::pin;

use super::*;

#[tokio::test]
async fn an_answer_comes_back_as_it_was_sent() {
    let session = start(&scripted(
        r#"*tools/call*) answer '{"content":[{"type":"text","text":"a"},{"type":"hologram","z":1,"a":2}],"structuredContent":{"z":18446744073709551615,"a":[1.5]},"tools":[],"isError":true}' ;;"#,
    ))
    .await;
    let reply = call(&session, "anything").await.expect("a reply");
    assert!(reply.is_error);
    let structured = reply.structured.expect("structured content");
    assert_eq!(
        structured.to_string(),
        r#"{"z":18446744073709551615,"a":[1.5]}"#
    );
    assert_eq!(
        reply.content,
        [
            ContentBlock::Text("a".to_owned()),
            ContentBlock::Other(json!({ "type": "hologram", "z": 1, "a": 2 })),
        ]
    );
    session.stop().await;
}

#[tokio::test]
async fn arguments_reach_the_server() {
    let session = start(&scripted(
        r#"*'"name":"greet"'*'"arguments":{"who":"wörld","n":[1]}'*) text hello ;;"#,
    ))
    .await;
    let arguments = json!({ "who": "wörld", "n": [1] });
    let arguments = arguments.as_object().expect("an object").clone();
    let reply = session
        .call("greet", arguments, LONG)
        .await
        .expect("a reply");
    assert_eq!(reply, text("hello"));
    session.stop().await;
}

#[tokio::test]
async fn calls_run_beside_each_other_and_are_answered_in_any_order() {
    let session = start(&scripted(
        r#"*'"name":"slow"'*) slow=$id ;;
           *'"name":"fast"'*) text fast; id=$slow; text slow ;;"#,
    ))
    .await;
    let (slow, fast) = tokio::join!(call(&session, "slow"), call(&session, "fast"));
    assert_eq!(slow.expect("a reply"), text("slow"));
    assert_eq!(fast.expect("a reply"), text("fast"));
    session.stop().await;
}

#[tokio::test]
async fn a_call_out_of_time_is_cancelled_and_the_session_goes_on() {
    let session = start(&scripted(
        r#"*'"name":"slow"'*) slow=$id ;;
           *notifications/cancelled*) cancelled=$line ;;
           *'"name":"next"'*)
               next=$id; id=$slow; text 'far too late'; id=$next
               case $cancelled in *"\"requestId\":$slow"[,}]*) text 'was cancelled' ;; *) text 'was not' ;; esac ;;"#,
    ))
    .await;
    let error = session
        .call("slow", Map::new(), Duration::from_millis(50))
        .await
        .expect_err("no answer");
    assert_eq!(
        error.kind,
        ErrorKind::NoAnswer {
            within: Duration::from_millis(50)
        }
    );
    assert_eq!(
        error.to_string(),
        "server `scripted` did not answer `slow` within 50 ms; the call was cancelled"
    );
    assert_eq!(
        call(&session, "next").await.expect("a reply"),
        text("was cancelled")
    );
    // A late answer to a cancelled call is expected, and no bad frame.
    assert_eq!(session.drain_notices(), []);
    session.stop().await;
}

#[tokio::test]
async fn progress_does_not_extend_a_call() {
    let session = start(&scripted(
        r#"*'"name":"slow"'*) while :; do echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1}}' || exit; done ;;"#,
    ))
    .await;
    let error = session
        .call("slow", Map::new(), Duration::from_millis(100))
        .await
        .expect_err("no answer");
    assert!(
        matches!(error.kind, ErrorKind::NoAnswer { .. }),
        "{error:?}"
    );
    assert!(matches!(
        session.drain_notices().last(),
        Some(Notice::Progress { .. })
    ));
    session.stop().await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let session = start(&scripted(
        r#"*'"name":"slow"'*) ;;
           *notifications/cancelled*) cancelled=yes ;;
           *'"name":"next"'*) text "$cancelled" ;;"#,
    ))
    .await;
    {
        let mut slow = pin!(call(&session, "slow"));
        // Polled once, so that it is sent, then given up.
        std::future::poll_fn(|context| {
            let _ = slow.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
        tokio::task::yield_now().await;
    }
    tokio::task::yield_now().await;
    assert_eq!(call(&session, "next").await.expect("a reply"), text("yes"));
    session.stop().await;
}

#[tokio::test]
async fn errors_of_the_server_are_told_apart() {
    let session = start(&scripted(
        r#"*'"name":"refused"'*) refuse -32000 'not today' ;;
           *'"name":"missing"'*) refuse -32602 'Unknown tool: missing' ;;
           *'"name":"nameless"'*) id=null; refuse -32700 'parse error' ;;
           *'"name":"versionless"'*) echo "{\"id\":$id,\"result\":{}}" ;;
           *'"name":"both"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{},\"error\":{\"code\":1,\"message\":\"x\"}}" ;;
           *'"name":"broken"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":" ;;
           *'"name":"list"'*) answer '[1]' ;;
           *'"name":"asks"'*) answer '{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}' ;;"#,
    ))
    .await;
    let kind = async |tool| call(&session, tool).await.expect_err("no reply").kind;
    assert_eq!(
        kind("refused").await,
        ErrorKind::RpcError {
            code: -32000,
            message: "not today".to_owned(),
            data: None
        }
    );
    assert_eq!(
        kind("missing").await,
        ErrorKind::NoSuchTool {
            message: "Unknown tool: missing".to_owned()
        }
    );
    assert!(matches!(
        kind("nameless").await,
        ErrorKind::RpcError { code: -32700, .. }
    ));
    for tool in ["versionless", "both", "broken", "list"] {
        let kind = kind(tool).await;
        assert!(
            matches!(kind, ErrorKind::Protocol { .. }),
            "{tool}: {kind:?}"
        );
    }
    assert_eq!(
        kind("asks").await,
        ErrorKind::NeedsInput {
            methods: vec!["elicitation/create".to_owned()]
        }
    );
    session.stop().await;
}

#[tokio::test]
async fn frames_that_mean_nothing_become_notices() {
    let session = start(&scripted(
        r#"*tools/call*)
            echo '{"jsonrpc":"2.0","id":777,"result":{}}'
            echo '[{"jsonrpc":"2.0","method":"notifications/odd"},7]'
            echo '{"hello":"world"}'
            text done ;;"#,
    ))
    .await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("done"));
    let notices = session.drain_notices();
    let bad = notices
        .iter()
        .filter(|notice| matches!(notice, Notice::BadFrame { .. }))
        .count();
    assert_eq!(bad, 3, "{notices:?}");
    let odd = Notice::Other {
        method: "notifications/odd".to_owned(),
    };
    assert!(notices.contains(&odd), "{notices:?}");
    let Some(Notice::BadFrame { reason, .. }) = notices.first() else {
        panic!("{notices:?}")
    };
    assert_eq!(reason, "it answers request `777`, which is not pending");
    session.stop().await;
}

#[tokio::test]
async fn a_tool_off_the_allow_list_is_refused_and_not_listed() {
    let mut spec = scripted(
        r#"*tools/call*) text called ;;
           *tools/list*) answer '{"tools":[{"name":"read"},{"name":"write"}]}' ;;"#,
    );
    spec.allowed_tools = Some(vec!["read".to_owned()]);
    let session = start(&spec).await;
    assert_eq!(
        call(&session, "read").await.expect("a reply"),
        text("called")
    );
    let error = call(&session, "write").await.expect_err("refused");
    assert_eq!(
        error.to_string(),
        "tool `write` is not on the allow-list of server `scripted`"
    );
    assert_eq!(
        error.help().as_deref(),
        Some("`tools` in .mcp.json allows read")
    );
    let tools = session.tools().await.expect("tools").expect("a list");
    assert_eq!(
        tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect::<Vec<_>>(),
        ["read"]
    );
    session.stop().await;
}

#[tokio::test]
async fn half_a_surrogate_pair_is_replaced_with_a_warning() {
    let session = start(&scripted(
        r#"*tools/call*) answer '{"content":[{"type":"text","text":"cut \ud83d here"}]}' ;;"#,
    ))
    .await;
    let reply = call(&session, "x").await.expect("a reply");
    assert_eq!(reply, text("cut \u{fffd} here"));
    let notices = session.drain_notices();
    assert!(
        matches!(&notices[..], [Notice::Tolerated { code, .. }] if code.name() == "C-JSON-04"),
        "{notices:?}"
    );
    session.stop().await;
}

#[tokio::test]
async fn an_error_keeps_its_data() {
    let session = start(&scripted(
        r#"*tools/call*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no such branch","data":{"branches":["main"]}}}\n' "$id" ;;"#,
    ))
    .await;
    let error = call(&session, "x").await.expect_err("an error");
    assert_eq!(
        error.to_string(),
        "server `scripted` refused `x` (code -32000): no such branch (data: {\"branches\":[\"main\"]})"
    );
    let data = Some(json!({ "branches": ["main"] }));
    assert!(
        matches!(&error.kind, ErrorKind::RpcError { data: found, .. } if *found == data),
        "{error:?}"
    );
    session.stop().await;
}
