//! Clients that break the protocol, or send another prompt than the script has.

use tokio::sync::{mpsc, watch};

use super::*;

const RICH: &str = "
name: rich
acp: {capabilities: {promptCapabilities: {image: true, audio: true, embeddedContext: true}}}
timeline:
  - userInputs:
      - relativeTime: 0
        input:
          - {type: text, text: Look}
          - {type: image, mimeType: image/png, data: iVBORw0KGgo=}
          - {type: audio, mimeType: audio/mpeg, data: SUQz}
          - {type: resource, resource: {uri: 'file:///a', mimeType: text/plain, text: \"one\\n\"}}
          - {type: resource_link, uri: 'file:///b', name: b.txt}
  - llmResponse: [{assistant: [[0, Fine.]]}]
";

fn rich_prompt() -> String {
    json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
        {"type": "audio", "mimeType": "audio/mpeg", "data": "SUQz"},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "one"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b.txt", "size": 3},
    ])
    .to_string()
}

#[tokio::test]
async fn blocks_of_a_prompt_have_the_content_that_the_script_has() {
    let changes = [
        ("", ""),
        // A resource need not say what it is.
        ("\"mimeType\":\"text/plain\"", "\"_\":0"),
        ("iVBORw0KGgo=", "iVBORw0KGgoA"),
        ("image/png", "image/gif"),
        ("SUQz", "SUQzAA=="),
        ("\"one\"", "\"two\""),
        ("text/plain", "text/html"),
        ("file:///a", "file:///c"),
        ("b.txt", "c.txt"),
    ];
    for (wanted, instead) in changes {
        let mut client = Client::start(RICH).await;
        let session = client.open(json!({})).await;
        let prompt = rich_prompt().replace(wanted, instead);
        let prompt: Json = serde_json::from_str(&prompt).expect("JSON");
        let params = json!({"sessionId": session, "prompt": prompt});
        let answer = client.call("session/prompt", params).await;
        let is_same = wanted == instead || instead == "\"_\":0";
        assert_eq!(answer.get("result").is_some(), is_same, "{answer}");
        assert_eq!(client.end().await.passed, is_same, "{instead}");
    }
}

#[tokio::test]
async fn requests_are_held_against_the_schema_of_the_protocol() {
    let mut client = Client::start(HELLO).await;
    let early = client.call("initialize", json!({})).await;
    assert_eq!(early["error"]["code"], -32602, "{early}");
    let session = client.open(json!({})).await;
    let server = json!({"name": "x", "command": "x"});
    let cases = [
        ("session/new", json!({"cwd": "/w"})),
        ("session/new", json!({"cwd": "/w", "mcpServers": [server]})),
        ("session/prompt", json!({"sessionId": session})),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "text"}]}),
        ),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "smell"}]}),
        ),
    ];
    let n_cases = cases.len();
    for (method, params) in cases {
        let answer = client.call(method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    let id = client.prompt(&session, "Say hello").await;
    client.until(id).await;
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), vec!["T-ACP-20"; n_cases + 1]);
}

const RUNS: &str = "
name: runs
timeline:
  - userInputs: [[0, Go]]
  - runCmd: {cmd: make}
    status: ok
  - writeFile: {path: a.txt, content: x}
";

/// What an honest client answers to a call of the agent's.
fn honest(method: &str) -> Json {
    match method {
        "terminal/create" => json!({"terminalId": "t"}),
        "terminal/wait_for_exit" => json!({"exitCode": 0}),
        "terminal/output" => json!({"output": "made", "truncated": false}),
        "session/request_permission" => {
            json!({"outcome": {"outcome": "selected", "optionId": "y"}})
        }
        _ => json!({}),
    }
}

/// Prompts with `Go`, and answers calls with what `answer` says, else honestly; null is an error. What came, in the end the
/// answer to the prompt.
async fn answered(
    client: &mut Client,
    session: &str,
    answer: impl Fn(&str) -> Option<Json>,
) -> Vec<Json> {
    client.prompt(session, "Go").await;
    let mut came = Vec::new();
    loop {
        let message = client.next().await;
        let method = message["method"].as_str().map(str::to_owned);
        came.push(message.clone());
        match method {
            None => return came,
            Some(_) if message.get("id").is_none() => {}
            Some(method) => match answer(&method).unwrap_or_else(|| honest(&method)) {
                Json::Null => {
                    let error = json!({"code": -32603, "message": "no"});
                    client
                        .send(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
                        .await;
                }
                result => client.answer(&message, result).await,
            },
        }
    }
}

#[tokio::test]
async fn answers_are_held_against_the_schema_of_the_protocol() {
    let (exit, output) = ("terminal/wait_for_exit", "terminal/output");
    let cases = [
        ("", json!({}), &[][..], ""),
        (
            output,
            json!({"output": "made"}),
            &["T-ACP-20"][..],
            "\"truncated\"",
        ),
        (
            output,
            json!({"output": "", "truncated": false, "exitStatus": {"exitCode": "0"}}),
            &["T-ACP-20"],
            "/exitStatus/exitCode",
        ),
        (
            exit,
            json!({"exitCode": "0"}),
            &["T-ACP-20", "T-TERM-05"],
            "/exitCode",
        ),
        (exit, json!({}), &["T-TERM-05"], "neither an exit code"),
        (
            exit,
            json!({"exitCode": null, "signal": "SIGKILL"}),
            &["T-TERM-05"],
            "ended by SIGKILL",
        ),
        (
            "terminal/release",
            json!(7),
            &["T-ACP-20"],
            "terminal/release",
        ),
        (
            "terminal/release",
            Json::Null,
            &["T-ACP-20"],
            "refused `terminal/release`: no",
        ),
        (
            "fs/write_text_file",
            json!([]),
            &["T-ACP-20"],
            "fs/write_text_file",
        ),
        (
            "fs/write_text_file",
            Json::Null,
            &["T-ACP-24"],
            "was not written: no",
        ),
    ];
    for (method, result, expected, message) in cases {
        let mut client = Client::start(RUNS).await;
        let session = client.open(able()).await;
        answered(&mut client, &session, |called| {
            (called == method).then(|| result.clone())
        })
        .await;
        let verdict = client.end().await;
        assert_eq!(
            codes(&verdict),
            expected,
            "{method} {result} {:?}",
            verdict.findings
        );
        let mut found = verdict.findings.iter();
        assert!(
            message.is_empty() || found.any(|found| found.message.contains(message)),
            "{method} {result}: {:?}",
            verdict.findings
        );
    }
}

#[tokio::test]
async fn what_the_user_refuses_is_not_done() {
    let effects = [
        "writeFile: {path: a.txt, content: x}",
        "agentEdits: {path: a.txt, newText: x}",
        "runCmd: {cmd: make}",
    ];
    let options = "[{id: y, label: Yes, kind: allow_once}, {id: a, label: Always, kind: allow_always}, {id: n, label: No, kind: reject_once}]";
    let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    let outcomes = [
        (selected("n"), false),
        (selected("none"), false),
        (json!({"outcome": {"outcome": "cancelled"}}), false),
        (Json::Null, false),
        (selected("a"), true),
    ];
    for effect in effects {
        let timeline = format!(
            "name: asks\ntimeline:\n  - userInputs: [[0, Go]]\n  - agentPermissionRequest: {{options: {options}, granted: true}}\n  - {effect}\n  - runCmd: {{cmd: test}}\n"
        );
        for (outcome, is_done) in &outcomes {
            let mut client = Client::start(&timeline).await;
            let session = client.open(able()).await;
            let came = answered(&mut client, &session, |method| {
                (method == "session/request_permission").then(|| outcome.clone())
            })
            .await;
            let is_effect = |message: &&Json| {
                matches!(
                    message["method"].as_str(),
                    Some("terminal/create" | "fs/write_text_file")
                )
            };
            // The command behind it is another matter.
            assert_eq!(
                came.iter().filter(is_effect).count(),
                1 + usize::from(*is_done),
                "{effect} {outcome}"
            );
            let is_failed = |message: &&Json| message["params"]["update"]["status"] == "failed";
            assert_eq!(came.iter().any(|message| is_failed(&message)), !is_done);
            let verdict = client.end().await;
            assert_eq!(
                codes(&verdict),
                ["T-ACP-23"],
                "{effect} {outcome} {:?}",
                verdict.findings
            );
        }
    }
}

#[tokio::test]
async fn the_call_that_a_request_names_is_refused() {
    let timeline = "
name: asks
timeline:
  - userInputs: [[0, Go]]
  - agentPermissionRequest:
      toolCall: {toolCallId: mine}
      options: [{id: y, label: Yes, kind: allow_once}, {id: n, label: No, kind: reject_once}]
      granted: true
  - runCmd: {cmd: make}
  - writeFile: {path: a.txt, content: x}
    toolCallId: mine
";
    let mut client = Client::start(timeline).await;
    let session = client.open(able()).await;
    let refuses = |method: &str| {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": "n"}});
        (method == "session/request_permission").then_some(outcome)
    };
    let came = answered(&mut client, &session, refuses).await;
    let has = |method: &str| came.iter().any(|message| message["method"] == method);
    assert!(has("terminal/create") && !has("fs/write_text_file"));
    let is_failed = |message: &&Json| message["params"]["update"]["status"] == "failed";
    let failed = came.iter().find(is_failed).expect("a failed call");
    assert_eq!(failed["params"]["update"]["toolCallId"], "mine");
}

#[tokio::test]
async fn each_request_is_for_a_call_of_its_own() {
    let options = "[{id: y, label: Yes, kind: allow_once}, {id: n, label: No, kind: reject_once}]";
    let timeline = |calls: [&str; 2]| {
        let ask = |call: &str| {
            format!(
                "  - agentPermissionRequest: {{toolCall: {call}, options: {options}, granted: true}}\n"
            )
        };
        format!(
            "name: asks\ntimeline:\n  - userInputs: [[0, Go]]\n{}{}  - writeFile: {{path: a.txt, content: a}}\n  - writeFile: {{path: b.txt, content: b}}\n    toolCallId: mine\n",
            ask(calls[0]),
            ask(calls[1])
        )
    };
    let (a, b) = ("{kind: edit, rawInput: {path: a.txt}}", "{kind: edit}");
    for (calls, decisions, written) in [
        ([b, b], ["n", "n"], &[][..]),
        ([b, b], ["y", "n"], &["a.txt"]),
        ([b, b], ["n", "y"], &["b.txt"]),
        ([b, a], ["n", "y"], &["b.txt"]),
        ([a, "{toolCallId: mine}"], ["n", "y"], &["b.txt"]),
        (["{toolCallId: mine}", a], ["n", "y"], &["a.txt"]),
    ] {
        let mut client = Client::start(&timeline(calls)).await;
        let session = client.open(able()).await;
        let decided = std::cell::Cell::new(0);
        let came = answered(&mut client, &session, |method| {
            let idx = decided.get();
            (method == "session/request_permission").then(|| {
                decided.set(idx + 1);
                json!({"outcome": {"outcome": "selected", "optionId": decisions[idx]}})
            })
        })
        .await;
        let writes = came
            .iter()
            .filter(|message| message["method"] == "fs/write_text_file");
        let paths = writes.filter_map(|write| write["params"]["path"].as_str());
        let paths: Vec<&str> = paths.filter_map(|path| path.rsplit('/').next()).collect();
        assert_eq!(paths, written, "{calls:?} {decisions:?}");
        // A request tells of the call that it is for.
        let asked = came
            .iter()
            .filter(|message| message["method"] == "session/request_permission");
        let ids = asked.filter_map(|asked| asked["params"]["toolCall"]["toolCallId"].as_str());
        let ids: Vec<&str> = ids.collect();
        assert_ne!(ids[0], ids[1], "{calls:?}");
    }
}

#[tokio::test]
async fn each_session_plays_its_script() {
    let opens = async |client: &mut Client| {
        let params = json!({"cwd": "/work", "mcpServers": []});
        let opened = client.call("session/new", params).await;
        opened["result"]["sessionId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    // The prompts of two sessions, in each order; the other one may be incomplete.
    let orders = "AA AAB ABA BAA AABB ABAB ABBA BAAB BABA BBAA".split(' ');
    let cases = orders.flat_map(|order| [(order, false), (order, true)]);
    for (order, is_closed) in cases {
        let n_others = order.matches('B').count();
        let unplayed = usize::from(n_others == 1);
        let mut client = Client::with(HELLO, |options| options.play.require_complete = true).await;
        let first = client.open(json!({})).await;
        // A session that was only opened plays nothing.
        let second = opens(&mut client).await;
        let mut texts = [
            ["Say hello", "And again"].into_iter(),
            ["Say hello", "And again"].into_iter(),
        ];
        for of in order.chars() {
            let is_other = of == 'B';
            let text = texts[usize::from(is_other)].next().expect("two");
            let session = if is_other { &second } else { &first };
            let id = client.prompt(session, text).await;
            client.until(id).await;
        }
        if is_closed {
            client
                .call("session/close", json!({"sessionId": second}))
                .await;
        }
        let verdict = client.end().await;
        let left: Vec<_> = verdict
            .unplayed
            .iter()
            .map(|it| (it.session.as_deref(), it.turn))
            .collect();
        assert_eq!(left, vec![(Some(&*second), 2); unplayed], "{verdict:?}");
        assert_eq!(verdict.passed, unplayed == 0 && !is_closed, "{verdict:?}");
        let n_sessions = if n_others == 0 { 1 } else { 2 };
        assert_eq!(verdict.n_turns(), 2 * n_sessions);
    }
}

#[tokio::test]
async fn what_is_refused_says_what_it_was() {
    let mut client = Client::start(HELLO).await;
    let session = client.open(json!({})).await;
    client.line("hello").await;
    let answer = client.next().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&Json::Null, &json!(-32700))
    );
    assert_eq!(answer["error"]["data"]["note"], "it was: hello");
    let params = json!({"sessionId": session, "modeId": "x"});
    let answer = client.call("session/set_mode", params).await;
    assert_eq!(
        answer["error"]["message"],
        "`session/set_mode` with `x` is not scripted here"
    );
    let id = client.prompt(&session, "Something else").await;
    client.until(id).await;
    let verdict = client.end().await;
    let last = verdict.findings.last().expect("a finding");
    assert_eq!(
        last.message,
        "the client sent no prompt that the script takes, so nothing was played"
    );
}

#[tokio::test]
async fn after_a_cancellation_a_permission_is_only_cancelled() {
    let timeline = "
name: asks
timeline:
  - userInputs: [[0, Go]]
  - agentPermissionRequest:
      options: [{id: y, label: Yes, kind: allow_once}]
      granted: true
  - userCancelSession: {}
";
    let selected = json!({"outcome": "selected", "optionId": "y"});
    let cases = [
        (selected.clone(), false, &[][..]),
        (selected, true, &["T-ACP-23"][..]),
        (json!({"outcome": "cancelled"}), true, &[][..]),
    ];
    for (outcome, is_late, expected) in cases {
        let mut client = Client::start(timeline).await;
        let session = client.open(json!({})).await;
        let id = client.prompt(&session, "Go").await;
        let asked = client.next().await;
        let cancel =
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
        if is_late {
            client.send(cancel.clone()).await;
        }
        client.answer(&asked, json!({"outcome": outcome})).await;
        if !is_late {
            client.send(cancel).await;
        }
        let (_, answer) = client.until(id).await;
        assert_eq!(answer["result"]["stopReason"], "cancelled");
        let verdict = client.end().await;
        assert_eq!(codes(&verdict), expected, "{:?}", verdict.findings);
    }
}

/// What a client does with a request for permission.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Answers,
    /// With an error.
    Fails,
    AnswersTwice,
    AnswersOtherwiseThen,
    CancelsBefore,
    CancelsAfter,
}

/// Each decision of the script against each outcome of a client: those that are the same pass, and no others.
#[tokio::test]
async fn only_the_scripted_outcome_of_a_permission_passes() {
    let ids = ["once", "always", "no", "never"];
    let options = "[{id: once, label: A, kind: allow_once}, {id: always, label: B, kind: allow_always}, {id: no, label: C, kind: reject_once}, {id: never, label: D, kind: reject_always}]";
    let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
    let cancelled = json!({"outcome": "cancelled"});
    let decisions: Vec<Json> = ids
        .map(selected)
        .into_iter()
        .chain([cancelled.clone()])
        .collect();
    let mut outcomes = decisions.clone();
    outcomes.extend([
        selected("unknown"),
        json!({"outcome": "selected"}),
        json!({}),
    ]);
    let deeds = [
        Deed::Answers,
        Deed::Fails,
        Deed::AnswersTwice,
        Deed::AnswersOtherwiseThen,
        Deed::CancelsBefore,
        Deed::CancelsAfter,
    ];
    for decision in &decisions {
        for (deed, outcome) in deeds
            .iter()
            .flat_map(|deed| outcomes.iter().map(move |it| (*deed, it)))
        {
            let cancels = matches!(deed, Deed::CancelsBefore | Deed::CancelsAfter);
            for is_scripted in [false, true] {
                // A cancellation that doesn't come is waited for.
                if is_scripted
                    && !cancels
                    && (outcome != decision || !matches!(deed, Deed::Answers))
                {
                    continue;
                }
                let cancel = if is_scripted {
                    "  - userCancelSession: {}\n"
                } else {
                    ""
                };
                let timeline = format!(
                    "name: asks\ntimeline:\n  - userInputs: [[0, Go]]\n  - agentPermissionRequest: {{options: {options}, decision: {decision}}}\n{cancel}  - llmResponse: [{{assistant: [[0, Done]]}}]\n"
                );
                let mut client = Client::with(&timeline, |options| {
                    options.patience = Duration::from_millis(500);
                })
                .await;
                let session = client.open(json!({})).await;
                let id = client.prompt(&session, "Go").await;
                let asked = client.next().await;
                let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
                if matches!(deed, Deed::CancelsBefore) {
                    client.send(cancel.clone()).await;
                }
                match deed {
                    Deed::Fails => {
                        let error = json!({"code": -32000, "message": "no"});
                        client
                            .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
                            .await;
                    }
                    _ => client.answer(&asked, json!({"outcome": outcome})).await,
                }
                match deed {
                    Deed::AnswersTwice => client.answer(&asked, json!({"outcome": outcome})).await,
                    Deed::AnswersOtherwiseThen => {
                        client.answer(&asked, json!({"outcome": decision})).await;
                    }
                    Deed::CancelsAfter => client.send(cancel).await,
                    _ => {}
                }
                let (_, answer) = client.until(id).await;
                let verdict = client.end().await;
                let is_it = match deed {
                    Deed::Answers => outcome == decision && !is_scripted,
                    Deed::CancelsBefore => *outcome == cancelled && is_scripted,
                    Deed::CancelsAfter => outcome == decision && is_scripted,
                    _ => false,
                };
                // Who cancels may do so a moment too late: nothing else is to be said of it then.
                let is_race = matches!(deed, Deed::CancelsAfter) && !is_scripted;
                let what = format!(
                    "{decision} {deed:?} {outcome} {is_scripted}: {answer} {:?}",
                    verdict.findings
                );
                assert!(
                    verdict.passed == is_it || is_race && outcome == decision,
                    "{what}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_session_that_is_loaded_again_keeps_its_mode_and_its_model() {
    let timeline = "
name: set
acp:
  unstable: true
  capabilities: {loadSession: true}
  modes: [{id: ask, name: Ask}, {id: auto, name: Auto}]
  models: [{id: s, name: S}, {id: l, name: L}]
timeline:
  - sessionStart: {sessionId: s-1}
  - setMode: {modeId: auto}
  - setModel: {modelId: l}
  - userInputs: [[0, Go]]
  - llmResponse: [{assistant: [[0, Gone]]}]
";
    let mut client = Client::start(timeline).await;
    let session = client.open(json!({})).await;
    let load = json!({"sessionId": session, "cwd": "/w", "mcpServers": []});
    let loaded = client.call("session/load", load.clone()).await;
    assert_eq!(loaded["result"]["modes"]["currentModeId"], "ask");
    for (method, key, id) in [
        ("session/set_mode", "modeId", "auto"),
        ("session/set_model", "modelId", "l"),
    ] {
        let params = json!({"sessionId": session, key: id});
        assert_eq!(client.call(method, params).await["result"], json!({}));
    }
    let loaded = client.call("session/load", load).await;
    assert_eq!(loaded["result"]["modes"]["currentModeId"], "auto");
    assert_eq!(loaded["result"]["models"]["currentModelId"], "l");
}

#[tokio::test]
async fn a_first_prompt_of_an_image_chooses_its_timeline() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, data) in [("a", "iVBORw0KGgoA"), ("b", "iVBORw0KGgoB")] {
        let timeline = format!(
            "
name: {name}
acp: {{capabilities: {{promptCapabilities: {{image: true}}}}}}
timeline:
  - userInputs: [[0, [{{type: image, mimeType: image/png, data: {data}}}]]]
  - llmResponse: [{{assistant: [[0, It is {name}]]}}]
  - userInputs: [[0, And now?]]
  - llmResponse: [{{assistant: [[0, Still]]}}]
"
        );
        let path = folder.path().join(format!("{name}.yaml"));
        std::fs::write(path, timeline).expect("written");
    }
    let mut client = Client::of(folder.path(), |_| {}).await;
    client.open(json!({})).await;
    for (name, data) in [("b", "iVBORw0KGgoB"), ("a", "iVBORw0KGgoA")] {
        let new = json!({"cwd": "/w", "mcpServers": []});
        let opened = client.call("session/new", new).await;
        let session = opened["result"]["sessionId"].as_str().expect("an id");
        let image = json!({"type": "image", "mimeType": "image/png", "data": data});
        let params = json!({"sessionId": session, "prompt": [image]});
        let id = client.ask("session/prompt", params).await;
        let said = &client.until(id).await.0[0]["params"]["update"]["content"]["text"];
        assert_eq!(*said, format!("It is {name}"));
        let id = client.prompt(session, "And now?").await;
        client.until(id).await;
    }
    let verdict = client.end().await;
    assert!(verdict.passed, "{:?}", verdict.findings);
}

/// A session with a past, which says `unasked` when it was loaded.
fn past(unasked: &str) -> String {
    format!(
        "
name: past
acp: {{capabilities: {{loadSession: true}}}}
timeline:
  - userInputs: [[0, Old]]
  - llmResponse: [{{assistant: [[0, Before]]}}]
  - sessionStart: {{sessionId: s-1}}
  - llmResponse: [{{assistant: [{unasked}]}}]
  - userInputs: [[0, New]]
  - llmResponse: [{{assistant: [[0, Asked]]}}]
"
    )
}

#[tokio::test]
async fn a_prompt_on_the_heels_of_a_load_is_for_the_next_segment() {
    let mut client = Client::start(&past("[0, Unasked]")).await;
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let params = json!({"sessionId": "s-1", "cwd": "/work", "mcpServers": []});
    client.ask("session/load", params).await;
    let id = client.prompt("s-1", "New").await;
    let (before, _) = client.until(id).await;
    let texts = before
        .iter()
        .filter_map(|message| message["params"]["update"]["content"]["text"].as_str());
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["Old", "Before", "Unasked", "Asked"]
    );
    let verdict = client.end().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn what_a_loaded_session_does_by_itself_is_cancelled_too() {
    let timeline = past("[0, Unasked], [600000, Never]");
    let params = json!({"sessionId": "s-1", "cwd": "/work", "mcpServers": []});
    for is_loaded_again in [false, true] {
        let mut client =
            Client::with(&timeline, |options| options.play.speed = Speed::default()).await;
        client
            .call("initialize", json!({"protocolVersion": 1}))
            .await;
        client.call("session/load", params.clone()).await;
        if is_loaded_again {
            client.call("session/load", params.clone()).await;
        }
        client
            .send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s-1"}}))
            .await;
        // It waits for what is played.
        let id = client.prompt("s-1", "New").await;
        let (before, _) = client.until(id).await;
        assert!(!format!("{before:?}").contains("Never"), "{before:?}");
        let verdict = client.end().await;
        assert_eq!(verdict.unplayed.len(), 1, "{verdict:?}");
    }
}

const REOPENED: &str = "
name: past
acp: {capabilities: {loadSession: true, sessionCapabilities: {list: true, close: true, resume: true}}}
timeline:
  - userInputs: [[0, Old]]
  - llmResponse: [{assistant: [[0, Before]]}]
  - sessionStart: {sessionId: s-1}
  - userInputs: [[0, Go]]
  - runCmd: {cmd: make}
    status: ok
  - userInputs: [[0, More]]
  - llmResponse: [{assistant: [[0, Done]]}]
";

#[tokio::test]
async fn a_session_that_is_opened_again_goes_on_where_it_was() {
    let played = ["Old", "Before", "Go", "make made"];
    let unexpected = &["T-ACP-20"][..];
    // How it is opened, what is sent then, what comes back of its history in the end, what is found and left.
    let cases = [
        (&["close", "resume"][..], &["More"][..], &[][..], &[][..], 0),
        (&["close", "load"], &["More"], &played[..], &[], 0),
        (&["load"], &["More"], &played, &[], 0),
        (&["resume", "load", "load"], &["More"], &played, &[], 0),
        (&["close", "resume", "load"], &["More"], &played, &[], 0),
        (&["close", "resume"], &["Go"], &[], unexpected, 1),
        (&["close", "load"], &["Go"], &played, unexpected, 1),
        (&["close", "resume"], &["More", "Go"], &[], unexpected, 0),
        (&["close"], &["More"], &[], unexpected, 1),
    ];
    let params = |id: &str| json!({"sessionId": id, "cwd": "/work", "mcpServers": []});
    for opens in ["resume", "load", "new"] {
        for (calls, prompts, expected, found, n_unplayed) in cases {
            let mut client = Client::start(REOPENED).await;
            let hello = json!({"protocolVersion": 1, "clientCapabilities": able()});
            client.call("initialize", hello).await;
            client
                .call(&format!("session/{opens}"), params("s-1"))
                .await;
            answered(&mut client, "s-1", |_| None).await;
            let mut history = Vec::new();
            for call in calls {
                let id = client.ask(&format!("session/{call}"), params("s-1")).await;
                let (before, answer) = client.until(id).await;
                assert_eq!(answer["result"], json!({}), "{calls:?}: {answer}");
                history = before;
            }
            let updates = history.iter().map(|message| &message["params"]["update"]);
            let texts = updates.filter_map(|update| match &update["sessionUpdate"] {
                kind if kind == "tool_call_update" => {
                    let text = update["content"][0]["content"]["text"].as_str()?;
                    Some(format!("make {text}"))
                }
                _ => update["content"]["text"].as_str().map(str::to_owned),
            });
            let case = format!("{opens} {calls:?} {prompts:?}");
            assert_eq!(texts.collect::<Vec<_>>(), expected, "{case}");
            for text in prompts {
                let id = client.prompt("s-1", text).await;
                client.until(id).await;
            }
            let verdict = client.end().await;
            assert_eq!(codes(&verdict), found, "{case}: {:?}", verdict.findings);
            assert_eq!(verdict.unplayed.len(), n_unplayed, "{case}");
            assert_eq!(verdict.n_sessions, 1, "{case}");
        }
    }
}

#[tokio::test]
async fn what_a_closed_session_leaves_open_is_found() {
    let mode = "status: ok\n  - setMode: {modeId: plan}";
    let timeline = REOPENED.replace("status: ok", mode);
    let params = json!({"sessionId": "s-1", "cwd": "/work", "mcpServers": []});
    for (reopens, n_failed) in [
        ("session/list", 1),
        ("session/resume", 1),
        ("session/load", 2),
    ] {
        let mut client = Client::start(&timeline).await;
        let hello = json!({"protocolVersion": 1, "clientCapabilities": able()});
        client.call("initialize", hello).await;
        client.call("session/load", params.clone()).await;
        let prompt = client.prompt("s-1", "Go").await;
        // It is closed, and opened again, while its command runs.
        let mut reopening = None;
        let mut before = Vec::new();
        let mut is_answered = false;
        while !is_answered || reopening.is_some() {
            let message = client.next().await;
            match message["method"].as_str() {
                Some("terminal/wait_for_exit") => {
                    let session = json!({"sessionId": "s-1"});
                    client.ask("session/close", session).await;
                    reopening = Some(client.ask(reopens, params.clone()).await);
                }
                Some(method) if message.get("id").is_some() => {
                    client.answer(&message, honest(method)).await;
                }
                Some(_) => before.push(message),
                None => {
                    is_answered |= message["id"] == prompt;
                    reopening = reopening.filter(|id| message["id"] != *id);
                }
            }
        }
        let statuses = before.iter().map(|it| &it["params"]["update"]["status"]);
        let failed = statuses.filter(|status| *status == "failed");
        assert_eq!(failed.count(), n_failed, "{reopens}: {before:?}");
        if reopens != "session/list" {
            let id = client.prompt("s-1", "More").await;
            client.until(id).await;
        }
        let verdict = client.end().await;
        assert_eq!(codes(&verdict), ["T-ACP-20", "T-ACP-22"], "{reopens}");
    }
}

#[tokio::test]
async fn sessions_are_listed_by_their_folders_and_closed_ones_keep_their_ids() {
    let mut client = Client::start(REOPENED).await;
    let first = client.open(json!({})).await;
    client
        .call("session/close", json!({"sessionId": first}))
        .await;
    let params = json!({"cwd": "/other", "mcpServers": []});
    let second = client.call("session/new", params).await["result"]["sessionId"].clone();
    let first = json!({"sessionId": first, "cwd": "/work"});
    let second = json!({"sessionId": second, "cwd": "/other"});
    for (asked, expected) in [
        (json!({}), json!([second, first])),
        (json!({"cwd": "/work"}), json!([first])),
        (json!({"cwd": "/other"}), json!([second])),
        (json!({"cwd": "/nowhere"}), json!([])),
    ] {
        let listed = client.call("session/list", asked.clone()).await;
        assert_eq!(listed["result"]["sessions"], expected, "{asked}");
    }
}

#[tokio::test]
async fn of_several_timelines_the_one_that_is_led_is_played_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(format!("{name}.yaml"));
    for name in ["a", "b"] {
        let answers = format!("llmResponse: [{{assistant: [[0, {name}]]}}]");
        let timeline =
            format!("name: {name}\ntimeline:\n  - userInputs: [[0, Go {name}]]\n  - {answers}\n");
        std::fs::write(file(name), timeline).expect("written");
    }
    for (led, prompt, answer, n_played) in [
        (Some("b"), "Go b", Some("b"), 1),
        (Some("b"), "Go a", None, 0),
        (None, "Go a", Some("a"), 0),
    ] {
        let (files, led_file) = watch::channel(None);
        let (until, until_led) = watch::channel(0);
        let (plays, mut played) = mpsc::unbounded_channel();
        let lead = Lead {
            file: led_file,
            until: until_led,
            played: plays,
        };
        let mut client = Client::of(folder.path(), |options| options.lead = Some(lead)).await;
        let session = client.open(json!({})).await;
        let id = client.prompt(&session, prompt).await;
        match led {
            Some(led) => drop(files.send_replace(Some(file(led).display().to_string()))),
            None => drop(files),
        }
        until.send_replace(2);
        let (before, _) = client.until(id).await;
        let text = before
            .first()
            .and_then(|it| it["params"]["update"]["content"]["text"].as_str());
        assert_eq!(text, answer, "{led:?} {prompt}");
        client.end().await;
        let parts = std::iter::from_fn(|| played.try_recv().ok());
        assert_eq!(parts.count(), n_played, "{led:?} {prompt}");
    }
}

#[tokio::test]
async fn faults_that_change_nothing_are_told() {
    let ask =
        "agentPermissionRequest: {options: [{id: y, label: Y, kind: allow_once}], granted: true}";
    let same = "llmResponse: [{assistant: [[0, Ha], [0, Ha]]}]";
    let cases = [
        ("notify: {method: _v/x, params: {a: 1}}", "wrong_id", true),
        (ask, "reorder", true),
        (ask, "wrong_id", false),
        (same, "reorder", true),
        ("llmResponse: [{assistant: [[0, Last]]}]", "reorder", false),
    ];
    for (event, fault, is_nothing) in cases {
        let timeline = format!(
            "name: f\ntimeline:\n  - userInputs: [[0, Go]]\n  - {event}\n    fault: {{kind: {fault}}}\n"
        );
        let mut client = Client::start(&timeline).await;
        let session = client.open(json!({})).await;
        client.prompt(&session, "Go").await;
        let (mut n_seen, n_frames) = (0, event.matches("[0, ").count().max(1) + 1);
        while n_seen < n_frames {
            let message = client.next().await;
            n_seen += 1;
            if message["method"] == "session/request_permission" {
                let outcome = json!({"outcome": "selected", "optionId": "y"});
                client.answer(&message, json!({"outcome": outcome})).await;
            }
        }
        let verdict = client.end().await;
        let found = verdict.findings.iter().map(|found| found.code.name());
        assert_eq!(
            found.collect::<Vec<_>>(),
            vec!["T-FAULT-01"; usize::from(is_nothing)],
            "{event} {fault}"
        );
    }
}
