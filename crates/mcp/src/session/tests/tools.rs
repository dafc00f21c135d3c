//! The list of tools, and what a server says unasked.

use super::*;

// Tools.

#[tokio::test]
async fn tools_are_listed_page_by_page_once_and_again_when_they_changed() {
    let session = start(&scripted(
        r#"*tools/list*'"cursor":"two"'*) answer "{\"tools\":[{\"name\":\"list$count\"}]}" ;;
           *tools/list*) count=$((count + 1)); answer '{"tools":[{"name":"a","description":"A","inputSchema":{"type":"object"}}],"nextCursor":"two"}' ;;
           *tools/call*) echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; text ok ;;"#,
    ))
    .await;
    let tools = session.tools().await.expect("tools").expect("a list");
    let expected = ToolInfo {
        name: "a".to_owned(),
        description: Some("A".to_owned()),
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        requires_task: false,
        is_read_only: false,
        is_destructive: false,
    };
    assert_eq!(tools[0], expected);
    assert_eq!((tools.len(), tools[1].name.as_str()), (2, "list1"));
    assert_eq!(
        session.tools().await.expect("tools").expect("a list")[1].name,
        "list1"
    );
    call(&session, "change").await.expect("a reply");
    // The notice comes through a task of its own, which has run once it can be drained.
    while !session.drain_notices().contains(&Notice::ToolsChanged) {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        session.tools().await.expect("tools").expect("a list")[1].name,
        "list2"
    );
    session.stop().await;
}

#[tokio::test]
async fn a_cursor_that_stands_still_ends_the_list_with_a_warning() {
    let session = start(&scripted(
        r#"*tools/list*) answer '{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"same"}' ;;"#,
    ))
    .await;
    let tools = session.tools().await.expect("tools").expect("a list");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let warnings = session.take_warnings();
    let messages: Vec<&str> = warnings.iter().map(|one| one.message.as_str()).collect();
    let text = "its tool list repeats a cursor: what came before is taken for the whole list";
    assert_eq!(messages, [text]);
    session.stop().await;
}

// What a server says unasked.

#[tokio::test]
async fn logs_and_requests_of_the_server_become_notices() {
    let session = start(&scripted(
        r#"*'"id":"q1"'*) case $line in *-32601*) refused=yes ;; esac ;;
           *'"id":"q2"'*) id=$call; text "$refused" ;;
           *tools/call*) call=$id
            echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db","data":"slow"}}'
            echo '{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}'
            echo '{"jsonrpc":"2.0","id":"q2","method":"roots/list"}' ;;"#,
    ))
    .await;
    assert_eq!(call(&session, "x").await.expect("a reply"), text("yes"));
    let asked = |method: &str, params| Notice::Asked {
        method: method.to_owned(),
        params,
    };
    let refused = |method: &str, asked: &str| Notice::Refused {
        method: method.to_owned(),
        reason: format!("server `scripted` asked {asked}, and no entry of `answers` matches"),
    };
    assert_eq!(
        session.drain_notices(),
        [
            Notice::Log {
                level: "warning".to_owned(),
                logger: Some("db".to_owned()),
                data: json!("slow"),
            },
            asked(
                "sampling/createMessage",
                json!({ "messages": [], "maxTokens": 5 }),
            ),
            refused("sampling/createMessage", "a model"),
            asked("roots/list", Value::Null),
            refused("roots/list", "for roots"),
        ]
    );
    session.stop().await;
}

#[tokio::test]
async fn a_tool_that_is_listed_twice_is_read_only_if_both_entries_say_so() {
    let session = start(&scripted(
        r#"*tools/list*) answer '{"tools":[{"name":"a","annotations":{"readOnlyHint":true}},{"name":"b","annotations":{"readOnlyHint":true}},{"name":"a"}]}' ;;"#,
    ))
    .await;
    let tools = session.tools().await.expect("tools").expect("a list");
    let hints: Vec<bool> = tools.iter().map(|tool| tool.is_read_only).collect();
    assert_eq!(hints, [false, true, false]);
    session.stop().await;
}
