use std::time::Duration;

use cuecard_source::SourceFile;
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{Cassette, Notification};
use crate::{Call, Outcome, Recording, RpcError, Server, Tool};

fn object() -> impl Strategy<Value = Map<String, Json>> {
    let value = prop_oneof![
        Just(Json::Null),
        any::<i64>().prop_map(Json::from),
        ".{0,9}".prop_map(Json::from),
        prop::collection::vec(any::<bool>(), 0..3).prop_map(|list| json!(list)),
    ];
    prop::collection::btree_map(".{0,5}", value, 0..4).prop_map(|map| map.into_iter().collect())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        (".{0,9}", object(), any::<bool>()).prop_map(|(text, structured, is_error)| {
            let content = json!([{ "type": "text", "text": text }]);
            Outcome::Result(
                json!({ "content": content, "structuredContent": structured, "isError": is_error }),
            )
        }),
        (any::<i64>(), ".{0,9}", object()).prop_map(|(code, message, data)| {
            let data = Json::Object(data);
            Outcome::Error(RpcError {
                code,
                message,
                data,
            })
        }),
        Just(Outcome::Missing),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let time = || prop::option::of((0..86_400_000_000_u64).prop_map(Duration::from_micros));
    let notification = (".{0,9}", object()).prop_map(|(method, params)| Notification {
        jsonrpc: Some("2.0".to_owned()),
        method,
        params: Some(Json::Object(params)),
    });
    let notifications = prop::collection::vec(notification, 0..3);
    let parts = (
        any::<bool>(),
        ".{1,9}",
        object(),
        outcome(),
        time(),
        time(),
        notifications,
    );
    parts.prop_map(
        |(is_first, tool, arguments, outcome, started, duration, notifications)| Call {
            server: Some(if is_first { "a" } else { "b" }.to_owned()),
            tool,
            arguments,
            outcome,
            started,
            duration,
            notifications,
        },
    )
}

fn server(name: &'static str) -> impl Strategy<Value = Server> {
    let tool = (".{1,9}", object()).prop_map(|(name, mut entry)| {
        entry.insert("name".to_owned(), name.as_str().into());
        let description = Json::Object(entry);
        (name.clone(), Tool { name, description })
    });
    let tools = prop::collection::btree_map("[a-z]{1,3}", tool, 0..4);
    (object(), tools).prop_map(|(introduction, tools)| {
        // The names of a server's tools are different.
        let tools: std::collections::BTreeMap<_, _> = tools.into_values().collect();
        Server {
            name: name.to_owned(),
            introduction: Json::Object(introduction),
            tools: tools.into_values().collect(),
        }
    })
}

#[test]
fn calls_are_in_the_order_in_which_they_began() {
    let lines = [
        r#"{"cassette": 1}"#,
        r#"{"tool": "b", "result": "", "started": 1.5, "duration": 0.1}"#,
        r#"{"tool": "by hand, behind b"}"#,
        r#"{"tool": "a", "result": "", "started": 1.2, "duration": 3}"#,
        r#"{"tool": "c", "started": 100000}"#,
        r#"{"tool": "d", "result": null, "started": 100001}"#,
    ];
    let (cassette, found) = Cassette::read(&SourceFile::new("x.cassette.jsonl", lines.join("\n")));
    assert!(found.is_empty(), "{found:?}");
    let calls = cassette.expect("no finding").recording().calls;
    let tools: Vec<_> = calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["a", "b", "by hand, behind b", "c", "d"]);
    let null = json!({ "content": [{ "type": "text", "text": "null" }] });
    assert_eq!(calls[4].outcome, Outcome::Result(null));
}

#[test]
fn a_result_that_no_client_would_get_is_told() {
    let unfit = [
        json!({ "content": [{ "type": "image", "mimeType": "image/png" }] }),
        json!({ "content": [{ "type": "resource", "resource": {} }] }),
        json!({ "content": ["text"] }),
        json!({ "content": [], "isError": "no" }),
    ];
    let fit = [
        json!("text"),
        json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "" }] }),
        json!({ "structuredContent": { "a": 1 } }),
        json!({ "content": [], "_meta": { "x": 1 }, "more": 1 }),
    ];
    for (results, n_found) in [(&unfit, 1), (&fit, 0)] {
        for result in results {
            let call = json!({ "tool": "t", "result": result });
            let text = format!("{{\"cassette\": 1}}\n{call}\n");
            let (cassette, found) = Cassette::read(&SourceFile::new("x.cassette.jsonl", text));
            assert!(cassette.is_some(), "{found:?}");
            assert_eq!(found.len(), n_found, "{result} {found:?}");
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        servers in (server("a"), server("b")),
        mut calls in prop::collection::vec(call(), 0..6),
    ) {
        calls.sort_by_key(|call| call.started);
        let recording = Recording {
            servers: vec![servers.0, servers.1],
            calls,
            ..Recording::default()
        };
        let text = recording.to_cassette().concat();
        let (cassette, found) = Cassette::read(&SourceFile::new("x.cassette.jsonl", text));
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(cassette.expect("no finding").recording(), recording);
    }
}
