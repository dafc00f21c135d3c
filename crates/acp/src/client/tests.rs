//! The client against the stand-in: both play a timeline, the same or two that differ.

use std::sync::Mutex;

use cuecard_source::diagnostic::Severity;
use cuecard_source::value::Json;
use cuecard_timeline::script::Speed;
use proptest::prelude::*;
use tokio::io::{duplex, split};
use tokio::task::JoinHandle;

use super::*;
use crate::{AcpPlayer, PlayOptions};

mod lies;
mod permissions;

fn options() -> AcpOptions {
    AcpOptions {
        play: PlayOptions {
            speed: Speed::new(0.0, 0.0).expect("a speed"),
            ..PlayOptions::default()
        },
        patience: Duration::from_secs(20),
        ..AcpOptions::default()
    }
}

fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// What the client finds if the agent plays `acted` and the client `expected`, and the agent's verdict.
async fn verdicts(acted: &str, expected: &str) -> (Verdict, Verdict) {
    verdicts_in(&Workspace::default(), acted, expected).await
}

async fn verdicts_in(workspace: &Workspace, acted: &str, expected: &str) -> (Verdict, Verdict) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let agent = AcpPlayer::from_files([file("agent.yaml", acted)]).options(options());
    let agent = Mutex::new(Some(agent.agent().await.expect("it starts")));
    let served: Mutex<Option<JoinHandle<Verdict>>> = Mutex::default();
    let connect = || {
        let (ours, theirs) = duplex(1 << 20);
        let (input, output) = split(theirs);
        let agent = agent.lock().expect("whole").take().expect("one connection");
        let serving = async move {
            let stop = CancellationToken::new();
            agent.serve(input, output, &stop).await
        };
        *served.lock().expect("whole") = Some(tokio::spawn(serving));
        let (input, output) = split(ours);
        Ok(Connection {
            input: Box::new(input),
            output: Box::new(output),
            process: None,
        })
    };
    let client = AcpPlayer::from_files([file("client.yaml", expected)]).options(options());
    let client = client.client().await.expect("it starts");
    let stop = CancellationToken::new();
    let of_client = client
        .drive_by(connect, &environment(), workspace, &stop)
        .await;
    let served = served
        .lock()
        .expect("whole")
        .take()
        .expect("it was connected");
    (of_client, served.await.expect("it serves"))
}

fn told(verdict: &Verdict) -> String {
    let found = verdict
        .findings
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let lines = found.map(|found| {
        let notes: Vec<&str> = found.notes.iter().map(String::as_str).collect();
        format!(
            "{} {} [{}]",
            found.code.name(),
            found.message,
            notes.join("; ")
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Both play the same, and find nothing.
async fn agree(timeline: &str) {
    let (client, agent) = verdicts(timeline, timeline).await;
    assert!(client.passed, "{}\n{timeline}", told(&client));
    assert!(agent.passed, "{}\n{timeline}", told(&agent));
    assert_eq!(
        (client.unplayed.len(), agent.unplayed.len()),
        (0, 0),
        "{timeline}"
    );
}

/// What the client finds first if the agent does something else.
async fn finds(acted: &str, expected: &str) -> String {
    let (client, _) = verdicts(acted, expected).await;
    assert!(!client.passed, "{acted}");
    told(&client)
}

const ALL: &str = "\
name: all
acp:
  capabilities: {promptCapabilities: {image: true}}
  modes: [{id: plan, name: Plan}, {id: code, name: Code}]
timeline:
  - initialize: {protocolVersion: 1, clientCapabilities: {fs: {readTextFile: true, writeTextFile: true}, terminal: true}}
  - authenticate: {methodId: token}
  - setMode: {modeId: code}
  - userInputs: [[0, 'Tidy the notes']]
  - llmResponse:
      - think: [[10, 'Let me see.']]
      - assistant: [[10, 'First '], [10, 'a look.']]
  - runCmd: {cmd: 'echo hello; exit 0'}
    result: {contains: hello}
  - agentPermissionRequest:
      toolCall: {toolCallId: call_2, title: Edit notes.txt, kind: edit}
      options: [{id: yes, label: Allow, kind: allow_once}, {id: no, label: Reject, kind: reject_once}]
      granted: false
  - agentEdits: {path: notes.txt, newText: \"milk\\n\"}
  - agentEdits: {path: notes.txt, oldText: milk, newText: bread}
  - agentPlan: {entries: [{content: one, priority: high, status: pending}]}
  - agentPlan: {planUpdate: false, entries: [{content: two, priority: low, status: completed}]}
  - agentFileReads: {files: [{path: /etc/notes, expectedContent: 'of the script'}]}
  - notify: {method: _vendor/x, params: {a: 1}}
  - readFile: {path: notes.txt}
    progress: [[5, reading]]
    result: bread
  - llmResponse: [{assistant: [[0, Done.], [0, {type: image, mimeType: image/png, data: iVBORw0KGgo=}]]}]
  - userInputs:
      - relativeTime: 1
        input: 'And now?'
        expectedResponse: {stopReason: max_tokens}
  - llmResponse: [{assistant: [[0, Nothing.]]}]
  - assert: {acp: {session: [{stopReason: end_turn}, {stopReason: max_tokens}]}}
";

#[tokio::test]
async fn the_stand_in_passes_its_own_script() {
    agree(ALL).await;
}

#[tokio::test]
async fn history_is_expected_where_the_stand_in_tells_it() {
    let history = "  - userInputs: [[0, Earlier]]
  - llmResponse: [{think: [[0, hm]]}, {assistant: [[0, Yes.]]}]
  - grep: {pattern: x, path: .}
    result: none
  - agentPlan: {entries: [{content: one, priority: high, status: pending}]}
";
    let rest = "  - sessionStart: {sessionId: s-1}
  - userInputs: [[0, Now]]
  - llmResponse: [{assistant: [[0, Then.]]}]
";
    let loaded = format!(
        "name: h\nacp: {{capabilities: {{loadSession: true}}}}\ntimeline:\n{history}{rest}"
    );
    agree(&loaded).await;
    agree(&format!("name: h\ntimeline:\n{history}{rest}")).await;
    let other = loaded.replace("Earlier", "Before");
    let found = finds(&other, &loaded).await;
    assert!(
        found.contains("the user of the history said something else"),
        "{found}"
    );
}

#[tokio::test]
async fn what_an_agent_does_by_itself_follows_the_history() {
    let timeline = "\
name: u
acp: {capabilities: {loadSession: true}}
timeline:
  - userInputs: [[0, Earlier]]
  - llmResponse: [{assistant: [[0, Yes.]]}]
  - sessionStart: {sessionId: s-1}
  - llmResponse: [{assistant: [[0, 'Back again.']]}]
  - agentPermissionRequest:
      toolCall: {toolCallId: own, title: Go on, kind: execute}
      options: [{id: y, label: Yes, kind: allow_once}]
      granted: true
  - userInputs: [[0, Now]]
  - llmResponse: [{assistant: [[0, Then.]]}]
";
    agree(timeline).await;
    let found = finds(&timeline.replace("Back again.", "Hello."), timeline).await;
    assert!(found.contains("the agent said something else"), "{found}");
}

#[tokio::test]
async fn what_was_refused_need_not_begin() {
    agree(
        "\
name: r
timeline:
  - userInputs: [[0, Go]]
  - agentPermissionRequest:
      toolCall: {toolCallId: own, title: Remove all, kind: delete}
      options: [{id: y, label: Yes, kind: allow_once}, {id: n, label: No, kind: reject_once}]
      granted: false
  - llmResponse: [{assistant: [[0, Then not.]]}]
",
    )
    .await;
}

#[tokio::test]
async fn a_command_may_fail_behind_a_refused_edit() {
    agree(
        "\
name: r
timeline:
  - userInputs: [[0, Go]]
  - agentPermissionRequest:
      toolCall: {title: Edit, kind: edit}
      options: [{id: y, label: Yes, kind: allow_once}, {id: n, label: No, kind: reject_once}]
      granted: false
  - runCmd: {cmd: 'exit 3'}
    status: error
",
    )
    .await;
}

#[tokio::test]
async fn who_thinks_once_is_asked_for_all_thoughts() {
    let timeline = |first: &str| {
        format!(
            "name: t\ntimeline:\n  - userInputs: [[0, Go]]\n  - llmResponse: [{first}{{assistant: [[0, One.]]}}]\n  - userInputs: [[0, On]]\n  - llmResponse: [{{think: [[0, hm]]}}, {{assistant: [[0, Two.]]}}]\n"
        )
    };
    let all = timeline("{think: [[0, 'I see.']]}, ");
    agree(&all).await;
    let found = finds(&timeline(""), &all).await;
    assert!(
        found.starts_with("T-ACP-22 the agent did not think this"),
        "{found}"
    );
}

#[tokio::test]
async fn a_cancelled_command_ends_and_the_prompt_is_cancelled() {
    let timeline = "\
name: c
timeline:
  - userInputs: [[0, Go]]
  - llmResponse: [{assistant: [[0, Going.]]}]
  - runCmd: {cmd: 'sleep 600'}
    status: in_progress
  - userCancelSession: {}
  - llmResponse: [{assistant: [[0, Never said.]]}]
  - userInputs: [[0, Again]]
  - llmResponse: [{assistant: [[0, Fine.]]}]
";
    agree(timeline).await;
}

#[tokio::test]
async fn a_command_is_waited_for_until_it_has_printed_what_is_expected() {
    let timeline = |expected: &str| {
        format!(
            "name: p\ntimeline:\n  - userInputs: [[0, Go]]\n  - runCmd: {{cmd: 'sleep 0.1; echo ready; sleep 0.1; echo done'}}\n    progress: [{{relativeTime: 1, message: up, expectOutput: {expected}}}]\n    result: {{contains: done}}\n"
        )
    };
    agree(&timeline("ready")).await;
    let (_, agent) = verdicts(&timeline("steady"), &timeline("steady")).await;
    let found = told(&agent);
    assert!(
        found.starts_with("T-TERM-05 the command did not print \"steady\" [printed: ready"),
        "{found}"
    );
}

#[tokio::test]
async fn an_error_is_expected_as_one() {
    let timeline = |message: &str| {
        format!(
            "name: e\ntimeline:\n  - userInputs: [[0, Go]]\n  - llmResponse: [{{error: {{statusCode: 429, message: {message}}}}}]\n"
        )
    };
    agree(&timeline("too many")).await;
    let found = finds(&timeline("overloaded"), &timeline("too many")).await;
    assert!(
        found.starts_with("T-ACP-24 expected the prompt to fail with `too many`, got `overloaded`"),
        "{found}"
    );
    let works = "name: e\ntimeline:\n  - userInputs: [[0, Go]]\n  - llmResponse: [{assistant: [[0, Yes]]}]\n";
    let found = finds(works, &timeline("too many")).await;
    assert!(
        found.contains("T-ACP-22 expected the prompt to fail"),
        "{found}"
    );
}

/// What differs, as the agent plays it, and the beginning of what is found.
const CHANGES: &[(&str, &str, &str)] = &[
    (
        "a look.",
        "no look.",
        "T-ACP-24 the agent said something else",
    ),
    (
        "Let me see.",
        "I know.",
        "T-ACP-24 the agent thought something else",
    ),
    (
        "echo hello; exit 0",
        "echo hello; exit 3",
        "T-ACP-24 the call `echo hello; exit 3` has another input",
    ),
    (
        "kind: allow_once",
        "kind: allow_always",
        "T-ACP-24 the request for permission differs",
    ),
    ("granted: false", "decision: {outcome: cancelled}", ""),
    (
        "path: notes.txt, newText",
        "path: other.txt, newText",
        "T-ACP-24 expected an edit of `notes.txt`",
    ),
    (
        "newText: bread",
        "newText: rye",
        "T-ACP-24 the edit of `notes.txt` differs",
    ),
    (
        "content: two",
        "content: three",
        "T-ACP-24 the plan differs",
    ),
    (
        "files: [{path: /etc/notes,",
        "files: [{path: /etc/other,",
        "T-ACP-22 the agent did not read `/etc/notes`",
    ),
    (
        "method: _vendor/x",
        "method: _vendor/y",
        "T-ACP-22 the agent did not send `_vendor/x`",
    ),
    (
        "params: {a: 1}",
        "params: {a: 2}",
        "T-ACP-24 `_vendor/x` differs",
    ),
    (
        "readFile: {path: notes.txt}",
        "readFile: {path: x.txt}",
        "T-ACP-24 the call `readFile x.txt` has another input",
    ),
    (
        "[[5, reading]]",
        "[]",
        "T-TERM-05 the call `readFile notes.txt` did not print",
    ),
    (
        "result: bread",
        "result: rye",
        "T-TERM-05 the call `readFile notes.txt` gave another result",
    ),
    (
        "stopReason: max_tokens}\n",
        "stopReason: refusal}\n",
        "T-ACP-24 the answer to the prompt differs",
    ),
    ("{id: code, name: Code}", "{id: ask, name: Ask}", "T-ACP-21"),
    (
        "image/png, data: iVBORw0KGgo=",
        "image/gif, data: R0lGODlh",
        "T-ACP-24 the agent said something else",
    ),
    (
        "iVBORw0KGgo=",
        "iVBORw0KGgoA",
        "T-ACP-24 the agent said something else",
    ),
];

#[tokio::test]
async fn what_the_agent_does_otherwise_is_found() {
    for (wanted, instead, beginning) in CHANGES {
        assert!(ALL.contains(wanted), "{wanted}");
        let acted = ALL.replacen(wanted, instead, 1);
        let (client, agent) = verdicts(&acted, ALL).await;
        let found = told(&client);
        if beginning.is_empty() {
            // The user decides as the client's script says, and the agent notices.
            assert!(!agent.passed, "{instead}");
            continue;
        }
        assert!(
            found.lines().any(|line| line.starts_with(beginning)),
            "{instead}:\n{found}"
        );
    }
}

/// What all texts end with, and a prompt may.
const WORDS: &str = "one two";
const IMAGE: &str = ", {type: image, mimeType: image/png, data: iVBORw0KGgo=}";

/// What becomes of an item: a word or a block of it is missing, is there twice, or is another one.
const BENT: [(&str, &str); 6] = [
    (WORDS, "one"),
    (WORDS, "one two two"),
    (WORDS, "two one"),
    (IMAGE, ""),
    (
        IMAGE,
        ", {type: image, mimeType: image/png, data: iVBORw0KGgoA}",
    ),
    (
        "}]]]",
        "}, {type: image, mimeType: image/png, data: iVBORw0KGgo=}]]]",
    ),
];

/// An item of a timeline that an agent plays, made out of numbers.
fn item(kind: u8, word: u8) -> String {
    let word = ["alpha", "beta", "gamma", "delta"][usize::from(word % 4)];
    match kind % 14 {
        0 => format!("  - llmResponse: [{{assistant: [[1, {word} {WORDS}]]}}]\n"),
        1 => format!("  - llmResponse: [{{think: [[1, {word} {WORDS}]]}}]\n"),
        2 => format!("  - grep: {{pattern: {word}, path: src}}\n    result: {word}\n"),
        3 => format!("  - agentEdits: {{path: {word}.txt, newText: {word}}}\n"),
        4 => format!(
            "  - agentPlan: {{entries: [{{content: {word}, priority: high, status: pending}}]}}\n"
        ),
        5 => format!(
            "  - agentPermissionRequest: {{options: [{{id: {word}, label: {word}, kind: allow_once}}], granted: true}}\n"
        ),
        6 => format!("  - notify: {{method: _{word}/x}}\n"),
        7 => {
            format!("  - agentFileReads: {{files: [{{path: /{word}, expectedContent: {word}}}]}}\n")
        }
        8 => format!("  - readFile: {{path: {word}.txt}}\n    status: error\n"),
        9 => format!("  - readFile: {{path: {word}.txt}}\n    progress: [[1, {word}]]\n"),
        10 => format!("  - userInputs: [[1, {word} {WORDS}]]\n"),
        13 => format!("  - userInputs: [[1, [{{type: text, text: {word} {WORDS}}}{IMAGE}]]]\n"),
        11 => format!(
            "  - llmResponse: [{{assistant: [[1, {{type: resource_link, uri: 'file:///{word}', name: {word}}}]]}}]\n"
        ),
        _ => format!("  - agentToolUse: {{toolName: mcp__server__{word}, args: {{a: {word}}}}}\n"),
    }
}

fn timeline(items: &[String]) -> String {
    format!(
        "name: g\nacp: {{capabilities: {{promptCapabilities: {{image: true}}}}}}\ntimeline:\n  - userInputs: [[0, Go]]\n{}",
        items.concat()
    )
}

fn runs<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Whatever the script is, the stand-in passes it; and where it does something else, that is found: an item
    /// left out, added, another one in its place, two in the other order, a word or a block of one.
    #[test]
    fn only_what_is_scripted_passes(
        kinds in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..8),
        at in any::<prop::sample::Index>(),
        other in (any::<u8>(), any::<u8>()),
        how in 0..4 + BENT.len(),
    ) {
        let items: Vec<String> = kinds.iter().map(|(kind, word)| item(*kind, *word)).collect();
        runs(agree(&timeline(&items)));
        let mut changed = items.clone();
        let at = at.index(items.len());
        match how {
            0 => drop(changed.remove(at)),
            1 => changed.insert(at, item(other.0, other.1)),
            2 => changed[at] = item(other.0, other.1),
            3 => changed.swap(at, (at + 1) % items.len()),
            how => {
                let (wanted, instead) = BENT[how - 4];
                let has_it = items.iter().position(|item| item.contains(wanted));
                let at = has_it.unwrap_or(at);
                changed[at] = items[at].replace(wanted, instead);
            }
        }
        if !is_other(&items, &changed) {
            return Ok(());
        }
        let (client, agent) = runs(verdicts(&timeline(&changed), &timeline(&items)));
        prop_assert!(
            !client.passed || !agent.passed || !agent.unplayed.is_empty(),
            "acted:\n{}\nexpected:\n{}", timeline(&changed), timeline(&items)
        );
    }
}

/// Whether what agents do differs: what no script has they may do, and who never thinks is not asked to.
fn is_other(expected: &[String], acted: &[String]) -> bool {
    let has = |items: &[String], what: &str| items.iter().any(|item| item.contains(what));
    let thinks = has(expected, "think:") && has(acted, "think:");
    let plans = has(expected, "agentPlan:");
    let is_free = |item: &str| item.contains("notify:") || item.contains("agentFileReads:");
    let is_kept = |item: &&String| {
        let is_out = is_free(item)
            || (item.contains("think:") && !thinks)
            || (item.contains("agentPlan:") && !plans);
        !is_out
    };
    let kept =
        |items: &[String]| -> Vec<String> { items.iter().filter(is_kept).cloned().collect() };
    // What the script has of them must come, in its order.
    let mut came = acted.iter().filter(|item| is_free(item));
    let mut free = expected.iter().filter(|item| is_free(item));
    let has_all = free.all(|wanted| came.any(|came| came == wanted));
    kept(expected) != kept(acted) || !has_all
}

#[tokio::test]
async fn an_agent_that_ends_early_is_told_with_what_it_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.yaml");
    std::fs::write(&path, timeline(&[item(0, 0)])).expect("written");
    let client = AcpPlayer::from_files([path]).options(options());
    let client = client.client().await.expect("it starts");
    let agent = AgentCommand {
        command: ["sh", "-c", "echo no model >&2; exit 7"]
            .map(OsString::from)
            .to_vec(),
        environment: environment(),
    };
    let verdict = client
        .drive(&agent, &Workspace::default(), &CancellationToken::new())
        .await;
    let found = told(&verdict);
    assert!(
        found.contains("the agent ended before the script did") && found.contains("no model"),
        "{found}"
    );
    assert_eq!(verdict.unplayed.len(), 1);
}

#[tokio::test]
async fn servers_of_the_command_line_take_the_place_of_the_timelines() {
    use cuecard_timeline::model::{McpServer, McpTransport};
    let url = McpTransport::Url {
        url: "http://127.0.0.1:9/mcp".to_owned(),
        headers: Vec::new(),
        is_sse: false,
    };
    let server = McpServer {
        name: "far".to_owned(),
        transport: url,
        span: cuecard_source::Span { start: 0, end: 0 },
    };
    let workspace = Workspace {
        mcp_servers: Some(vec![server]),
        ..Workspace::default()
    };
    let timeline = timeline(&[item(0, 0)]);
    // The stand-in takes no servers over HTTP.
    let (client, agent) = verdicts_in(&workspace, &timeline, &timeline).await;
    assert!(
        told(&client).contains("the agent refused `session/new`"),
        "{}",
        told(&client)
    );
    assert!(told(&agent).contains("T-ACP-21"), "{}", told(&agent));
}

/// Answers to a client that is at odds with the protocol.
#[tokio::test]
async fn what_is_not_the_protocol_is_found() {
    let update = |update: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{update}}}}}"
        )
    };
    let request = |method: &str, params: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"{method}\",\"params\":{{\"sessionId\":\"s\",{params}}}}}"
        )
    };
    let cases = [
        ("hello".to_owned(), "a line of the agent is no message"),
        (
            update(r#"{"sessionUpdate":"dance"}"#),
            "unknown update `dance`",
        ),
        (
            update(r#"{"sessionUpdate":"tool_call","title":"x"}"#),
            "without `toolCallId`",
        ),
        (
            update(r#"{"sessionUpdate":"tool_call","toolCallId":"a"}"#),
            "no `title`",
        ),
        (
            update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"completed"}"#),
            "never began",
        ),
        (
            update(r#"{"sessionUpdate":"plan"}"#),
            "a plan without `entries`",
        ),
        (
            update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}"#),
            "without `text`",
        ),
        (
            update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"smell"}}"#),
            "unknown type `smell`",
        ),
        (
            update(r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"x"}"#),
            "the call `x` (other) is not in the script",
        ),
        (
            request("fs/read_text_file", r#""path":"/etc/passwd""#),
            "is outside of",
        ),
        (
            request("fs/write_text_file", r#""path":"notes.txt","content":"""#),
            "must be absolute",
        ),
        (
            request("terminal/create", r#""command":"true","cwd":"/""#),
            "is outside of",
        ),
        (
            request("session/dance", r#""a":1"#),
            "unknown request `session/dance`",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}".to_owned(),
            "which was never sent",
        ),
        (
            update(r#"{"sessionUpdate":"plan","entries":[]}"#).replace("\"s\"", "\"t\""),
            "which does not exist",
        ),
    ];
    for (line, expected) in cases {
        let found = found_in(&line).await;
        assert!(found.contains(expected), "{line}:\n{found}");
    }
    let nothing = found_in(&update(
        r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#,
    ))
    .await;
    assert_eq!(nothing, "");
}

/// What is found in an agent that sends `line` during a prompt that it answers well.
async fn found_in(line: &str) -> String {
    let text = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"alpha one two"}}}}"#;
    found_by(&timeline(&[item(0, 0)]), &format!("{text}\n{line}"), "").await
}

/// What is found in an agent that sends `before` and `after` the answer to the prompt of a timeline, with its folder in
/// the place of `CWD`.
async fn found_by(expected: &str, before: &str, after: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.yaml");
    std::fs::write(&path, expected).expect("written");
    let client = AcpPlayer::from_files([path]).options(options());
    let client = client.client().await.expect("it starts");
    let (before, after) = (before.to_owned(), after.to_owned());
    let connect = || {
        let (ours, theirs) = duplex(1 << 20);
        let (before, after) = (before.clone(), after.clone());
        tokio::spawn(async move {
            use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
            let (input, mut output) = split(theirs);
            let mut lines = BufReader::new(input).lines();
            let mut cwd = String::new();
            while let Ok(Some(came)) = lines.next_line().await {
                let came: Json = serde_json::from_str(&came).expect("JSON");
                let (before, result, after) = match came["method"].as_str() {
                    Some("initialize") => ("", r#"{"protocolVersion":1}"#, ""),
                    Some("session/new") => {
                        cwd = came["params"]["cwd"]
                            .as_str()
                            .unwrap_or_default()
                            .to_owned();
                        ("", r#"{"sessionId":"s"}"#, "")
                    }
                    Some("session/prompt") => (&*before, r#"{"stopReason":"end_turn"}"#, &*after),
                    _ => continue,
                };
                let id = &came["id"];
                let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}");
                let said = format!("{before}\n{answer}\n{after}\n").replace("CWD", &cwd);
                output.write_all(said.as_bytes()).await.expect("it is read");
            }
        });
        let (input, output) = split(ours);
        Ok(Connection {
            input: Box::new(input),
            output: Box::new(output),
            process: None,
        })
    };
    let stop = CancellationToken::new();
    let verdict = client
        .drive_by(connect, &environment(), &Workspace::default(), &stop)
        .await;
    told(&verdict)
}

/// An agent that says one thing and does another through its client.
#[tokio::test]
async fn what_is_really_done_is_held_against_the_script() {
    let of_session = |method: &str, id: u8, params: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{\"sessionId\":\"s\",{params}}}}}\n"
        )
    };
    let update = |update: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{update}}}}}\n"
        )
    };
    let write = |id: u8, content: &str| {
        of_session(
            "fs/write_text_file",
            id,
            &format!("\"path\":\"CWD/a.txt\",\"content\":\"{content}\""),
        )
    };
    let run = |line: &str| {
        of_session(
            "terminal/create",
            9,
            &format!("\"command\":\"sh\",\"args\":[\"-c\",\"{line}\"]"),
        )
    };
    let edit = |new: &str, status: &str| {
        update(&format!(
            r#"{{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","kind":"edit","status":"{status}","content":[{{"type":"diff","path":"CWD/a.txt","newText":"{new}"}}]}}"#
        ))
    };
    let ask = of_session(
        "session/request_permission",
        7,
        r#""toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]"#,
    );
    let edits = timeline(&["  - agentEdits: {path: a.txt, newText: milk}\n".to_owned()]);
    let asked = timeline(&[
        "  - agentPermissionRequest: {toolCall: {toolCallId: c}, options: [{id: y, label: Yes, kind: allow_once}], granted: true}\n".to_owned(),
        "  - agentEdits: {path: a.txt, newText: milk}\n".to_owned(),
    ]);
    let refused = timeline(&["  - agentPermissionRequest: {toolCall: {toolCallId: c}, options: [{id: n, label: No, kind: reject_once}], granted: false}\n".to_owned()]);
    let refusal = ask
        .replace("allow_once", "reject_once")
        .replace("\"y\"", "\"n\"")
        .replace("Yes", "No");
    let fails = format!(
        "{refused}  - editFile: {{path: a.txt, old_string: tea, new_string: milk}}\n    status: error\n"
    );
    let only_asked = refusal.replace(
        r#"{"toolCallId":"c"}"#,
        r#"{"toolCallId":"c","title":"Edit","kind":"edit","rawInput":{"path":"a.txt","old_string":"tea","new_string":"milk"}}"#,
    );
    let runs = timeline(&["  - runCmd: {cmd: 'exit 3'}\n".to_owned()]);
    let refused_runs = format!("{refused}  - runCmd: {{cmd: 'exit 3'}}\n    status: error\n");
    let ran = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"d","title":"run","kind":"execute","status":"failed","rawInput":{"cmd":"exit 3"}}"#,
    );
    let shown = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"run","kind":"execute","status":"completed","rawInput":{"cmd":"exit 3"},"content":[{"type":"terminal","terminalId":"terminal-1"}]}"#,
    );
    let said = update(
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}}"#,
    );
    let edited = edit("milk", "completed");
    let cases = [
        (&edits, edited.clone() + &write(1, "milk"), "", ""),
        (
            &edits,
            edited.clone() + &write(1, "bread"),
            "",
            "something else was written to",
        ),
        (
            &edits,
            edited.clone() + &write(1, "milk") + &write(2, "milk"),
            "",
            "is not in the script",
        ),
        (
            &edits,
            edit("bread", "completed"),
            "",
            "the edit of `a.txt` differs",
        ),
        (
            &edits,
            edit("milk", "failed"),
            "",
            "the edit of `a.txt` failed",
        ),
        (
            &edits,
            edit("milk", "pending"),
            "",
            "the edit of `a.txt` did not end",
        ),
        (
            &edits,
            edited.clone() + &run("rm -r x"),
            "",
            "the command `sh -c rm -r x` in a terminal is not in the script",
        ),
        (
            &edits,
            edited.clone()
                + &of_session(
                    "terminal/create",
                    9,
                    r#""command":"no such","args":["program"]"#,
                ),
            "",
            "the command `no such program` in a terminal is not in the script",
        ),
        (
            &edits,
            edited.clone(),
            &*said,
            "although no prompt is being answered",
        ),
        (
            &edits,
            edited.clone(),
            &*write(1, "milk"),
            "`fs/write_text_file` although no prompt",
        ),
        (&asked, ask.clone() + &edited + &write(1, "milk"), "", ""),
        (
            &asked,
            write(1, "milk") + &ask + &edited,
            "",
            "asked for permission only when it had done it",
        ),
        (&refused, refusal.clone() + &edit("milk", "failed"), "", ""),
        (
            &refused,
            refusal.clone() + &edited,
            "",
            "the call `Edit` (edit) is not in the script",
        ),
        (&refused, only_asked.clone(), "", ""),
        (&fails, only_asked.clone(), "", ""),
        (
            &fails,
            only_asked.replace("milk", "bread"),
            "",
            "the agent did not call `editFile`",
        ),
        (&fails, refusal.clone(), "", ""),
        (
            &format!("{refused}  - writeFile: {{path: a.txt, content: milk}}\n"),
            refusal.clone() + &edit("milk", "failed"),
            "",
            "the call `Edit` ended with status `failed`",
        ),
        (
            &refused_runs,
            refusal.clone() + &edit("milk", "failed") + &ran,
            "",
            "",
        ),
        (&refused_runs, only_asked + &ran, "", ""),
        (
            &refused,
            refusal + &edit("milk", "failed") + &write(1, "milk"),
            "",
            "is not in the script",
        ),
        (
            &runs,
            run("exit 4") + &shown,
            "",
            "another command ran in the terminal",
        ),
    ];
    for (timeline, before, after, wanted) in cases {
        let found = found_by(timeline, &before, after).await;
        match wanted {
            "" => assert_eq!(found, "", "{before}"),
            wanted => assert!(found.contains(wanted), "{before}:\n{found}"),
        }
    }
}
