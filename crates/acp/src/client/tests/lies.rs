//! Agents that tell of something else than they do, and honest ones beside them.

use serde_json::json;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::*;

/// Something that an agent does in a turn. `CWD` stands for the session's folder.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// It sends an update.
    Tell(Json),
    /// It writes a file itself.
    Write(&'static str, String),
    /// It removes a file itself.
    Remove(&'static str),
    /// It makes a link itself, which leads nowhere.
    Link(&'static str),
    /// It asks its client, and waits for the answer.
    Ask(&'static str, Json),
}

struct Agent {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    cwd: String,
}

impl Agent {
    async fn send(&mut self, message: Json) {
        let line = format!("{message}\n").replace("CWD", &self.cwd);
        // A client that found enough is gone.
        let _ = self.out.write_all(line.as_bytes()).await;
    }

    async fn act(&mut self, action: Action) {
        let path = |path: &str| std::path::Path::new(&self.cwd).join(path);
        match action {
            Action::Tell(update) => {
                let params = json!({"sessionId": "s", "update": update});
                let method = "session/update";
                self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
                    .await;
            }
            Action::Write(file, text) => std::fs::write(path(file), text).expect("writable"),
            Action::Remove(file) => std::fs::remove_file(path(file)).expect("removable"),
            Action::Link(file) => {
                std::os::unix::fs::symlink("nowhere", path(file)).expect("writable");
            }
            Action::Ask(method, mut params) => {
                params["sessionId"] = json!("s");
                self.send(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
                    .await;
                while let Ok(Some(line)) = self.lines.next_line().await {
                    if line.contains("\"id\":7") {
                        break;
                    }
                }
            }
        }
    }

    async fn serve(mut self, actions: Vec<Action>) {
        while let Ok(Some(line)) = self.lines.next_line().await {
            let came: Json = serde_json::from_str(&line).expect("JSON");
            let result = match came["method"].as_str() {
                Some("initialize") => json!({"protocolVersion": 1}),
                Some("session/new") => {
                    self.cwd = came["params"]["cwd"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned();
                    json!({"sessionId": "s"})
                }
                Some("session/prompt") => {
                    for action in actions.clone() {
                        self.act(action).await;
                    }
                    json!({"stopReason": "end_turn"})
                }
                _ => continue,
            };
            self.send(json!({"jsonrpc": "2.0", "id": came["id"], "result": result}))
                .await;
        }
    }
}

/// What is found in an agent that does this when it is prompted.
pub(super) async fn found_with(script: &str, actions: Vec<Action>) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.yaml");
    std::fs::write(&path, script).expect("written");
    let client = AcpPlayer::from_files([path]).options(options());
    let client = client.client().await.expect("it starts");
    let connect = || {
        let (ours, theirs) = duplex(1 << 20);
        let (input, out) = split(theirs);
        let lines = BufReader::new(input).lines();
        let cwd = String::new();
        tokio::spawn(Agent { lines, out, cwd }.serve(actions.clone()));
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

const FILES: [&str; 3] = ["a.txt", "b.txt", "new.txt"];
/// What the commands make.
const MADE: [&str; 6] = ["m0.txt", "m1.txt", "m2.txt", "m3.txt", "m4.txt", "m5.txt"];

pub(super) fn script(events: &str) -> String {
    format!(
        "name: lies\nrepo: {{files: [{{path: a.txt, contents: \"one\\ntwo\\n\"}}, {{path: b.txt, contents: \"b\\n\"}}, {{path: .env, contents: \"x\"}}]}}\ntimeline:\n  - userInputs: [[0, Go]]\n{events}"
    )
}

fn call(id: usize, kind: &str, input: Json, content: Json) -> Action {
    Action::Tell(json!({
        "sessionUpdate": "tool_call", "toolCallId": format!("c{id}"), "title": "Call", "kind": kind,
        "status": "completed", "rawInput": input, "content": content,
    }))
}

/// The agent asks for permission for the call with this number.
fn ask(kind: &str, id: usize) -> Action {
    let option = json!({"optionId": "o", "name": "O", "kind": kind});
    let call = json!({"toolCallId": format!("c{id}")});
    let params = json!({"toolCall": call, "options": [option]});
    Action::Ask("session/request_permission", params)
}

const GRANTED: &str = "  - agentPermissionRequest: {toolCall: {toolCallId: call_9}, options: [{id: o, label: O, kind: allow_once}], granted: true}\n";

/// How an agent tells something else than it does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    WritesNothing,
    WritesSomethingElse,
    Removes,
    WritesMore,
    LinksMore,
    RemovesMore,
    InventsOldText,
    RepeatsAnotherPrompt,
    AsksWhenItIsDone,
    RunsNothing,
}

const LIES: [Lie; 10] = [
    Lie::WritesNothing,
    Lie::WritesSomethingElse,
    Lie::Removes,
    Lie::WritesMore,
    Lie::LinksMore,
    Lie::RemovesMore,
    Lie::InventsOldText,
    Lie::RepeatsAnotherPrompt,
    Lie::AsksWhenItIsDone,
    Lie::RunsNothing,
];

/// A script of edits and commands, and what an agent does that lies about its last edit, or doesn't lie.
fn played(kinds: &[(u8, u8)], lie: Option<Lie>) -> (String, Vec<Action>) {
    let mut texts = [Some("one\ntwo\n".to_owned()), Some("b\n".to_owned()), None];
    let (mut events, mut actions) = (String::new(), Vec::new());
    let last = kinds.iter().rposition(|(kind, _)| kind % 6 < 4);
    for (idx, (kind, file)) in kinds.iter().enumerate() {
        let file_idx = usize::from(file % 3);
        let path = FILES[file_idx];
        let before = texts[file_idx].clone();
        let (event, after, input) = match (kind % 6, &before) {
            (0, _) => (
                format!("writeFile: {{path: {path}, content: \"w{idx}\\n\"}}"),
                format!("w{idx}\n"),
                json!({"path": path, "content": format!("w{idx}\n")}),
            ),
            (1, Some(text)) => {
                let old = text.lines().next().expect("a line");
                (
                    format!("editFile: {{path: {path}, old_string: {old}, new_string: e{idx}}}"),
                    text.replacen(old, &format!("e{idx}"), 1),
                    json!({"path": path, "old_string": old, "new_string": format!("e{idx}")}),
                )
            }
            (2, text) => (
                format!("appendFile: {{path: {path}, content: \"p{idx}\\n\"}}"),
                text.clone().unwrap_or_default() + &format!("p{idx}\n"),
                json!({"path": path, "content": format!("p{idx}\n")}),
            ),
            (1 | 3, _) => (
                format!("agentEdits: {{path: {path}, newText: \"g{idx}\\n\"}}"),
                format!("g{idx}\n"),
                Json::Null,
            ),
            (4, _) => {
                let made = MADE[idx];
                let cmd = format!("echo hi > {made}");
                events += &format!(
                    "  - runCmd: {{cmd: '{cmd}'}}\n  - assert: {{fs: {{exists: [{made}]}}}}\n"
                );
                let run = Action::Write(made, "hi\n".to_owned());
                actions.extend((lie != Some(Lie::RunsNothing)).then_some(run));
                actions.push(call(idx, "execute", json!({"cmd": cmd}), json!([])));
                continue;
            }
            _ => {
                events += &format!("  - llmResponse: [{{assistant: [[0, said{idx}]]}}]\n");
                actions.push(Action::Tell(json!({
                    "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": format!("said{idx}")},
                })));
                continue;
            }
        };
        let lie = lie.filter(|_| last == Some(idx));
        let is_late = lie == Some(Lie::AsksWhenItIsDone);
        if last == Some(idx) {
            events += GRANTED;
            actions.extend((!is_late).then(|| ask("allow_once", idx)));
        }
        events += &format!("  - {event}\n");
        actions.extend(match lie {
            Some(Lie::WritesNothing) => None,
            Some(Lie::WritesSomethingElse) => Some(Action::Write(path, "lie".to_owned())),
            Some(Lie::Removes) => before.as_ref().map(|_| Action::Remove(path)),
            _ => Some(Action::Write(path, after.clone())),
        });
        actions.extend(is_late.then(|| ask("allow_once", idx)));
        match lie {
            Some(Lie::WritesMore) => actions.push(Action::Write("more.txt", String::new())),
            Some(Lie::LinksMore) => actions.push(Action::Link("more.txt")),
            Some(Lie::RemovesMore) => actions.push(Action::Remove(".env")),
            Some(Lie::RepeatsAnotherPrompt) => actions.push(Action::Tell(json!({
                "sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Stop"},
            }))),
            _ => {}
        }
        let old = match lie {
            Some(Lie::InventsOldText) => Some("never there".to_owned()),
            _ => before,
        };
        let path = format!("CWD/{path}");
        let diff = json!([{"type": "diff", "path": path, "oldText": old, "newText": after}]);
        actions.push(call(idx, "edit", input, diff));
        texts[file_idx] = Some(after);
    }
    (script(&events), actions)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_lie_about_files_is_found_and_no_honest_agent(
        kinds in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..6),
        first in 0..4_u8,
        at in any::<prop::sample::Index>(),
    ) {
        let mut kinds = kinds;
        kinds.insert(0, (first, 0));
        let (script, actions) = played(&kinds, None);
        let found = runs(found_with(&script, actions));
        prop_assert_eq!(&found, "", "{}", script);
        let lie = LIES[at.index(LIES.len())];
        let last = kinds.iter().rposition(|(kind, _)| kind % 6 < 4).expect("an edit");
        let has_run = |kinds: &[(u8, u8)]| kinds.iter().any(|(kind, _)| kind % 6 == 4);
        // A command may have done it.
        let is_hidden = match lie {
            Lie::WritesMore | Lie::LinksMore | Lie::RemovesMore => has_run(&kinds),
            Lie::RunsNothing => !has_run(&kinds),
            Lie::InventsOldText | Lie::AsksWhenItIsDone => has_run(&kinds[..last]),
            _ => false,
        };
        if is_hidden {
            return Ok(());
        }
        let (script, actions) = played(&kinds, Some(lie));
        let found = runs(found_with(&script, actions.clone()));
        prop_assert!(!found.is_empty(), "{:?}\n{}\n{:#?}", lie, script, actions);
    }
}

fn write(path: &str, content: &str) -> Action {
    Action::Ask(
        "fs/write_text_file",
        json!({"path": format!("CWD/{path}"), "content": content}),
    )
}

/// What the agent did, as it tells and as it is found.
#[tokio::test]
async fn what_an_agent_does_beside_its_tale_is_found() {
    let refused = script(
        "  - agentPermissionRequest: {options: [{id: o, label: O, kind: reject_once}], granted: false}\n  - writeFile: {path: a.txt, content: no}\n    status: error\n",
    );
    let failed = Action::Tell(json!({
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Write", "kind": "edit", "status": "failed",
        "rawInput": {"path": "a.txt", "content": "no"},
    }));
    let ls = call(2, "execute", json!({"cmd": "ls"}), json!([]));
    let refused_late = refused.replace(
        "  - agentPermission",
        "  - runCmd: {cmd: ls}\n  - agentPermission",
    );
    let twice = script(&format!(
        "{GRANTED}{GRANTED}  - writeFile: {{path: a.txt, content: yes}}\n  - writeFile: {{path: b.txt, content: yes}}\n"
    ));
    let made =
        script("  - runCmd: {cmd: 'echo hi > made.txt'}\n  - assert: {fs: {exists: [made.txt]}}\n");
    let ran = call(
        1,
        "execute",
        json!({"cmd": "echo hi > made.txt"}),
        json!([]),
    );
    let sleeps = script("  - runCmd: {cmd: 'sleep 60'}\n");
    let create = Action::Ask(
        "terminal/create",
        json!({"command": "sh", "args": ["-c", "sleep 60"]}),
    );
    let release = Action::Ask("terminal/release", json!({"terminalId": "terminal-1"}));
    let shown = json!([{"type": "terminal", "terminalId": "terminal-1"}]);
    let slept = call(1, "execute", json!({"cmd": "sleep 60"}), shown);
    let edits = script("  - writeFile: {path: a.txt, content: yes}\n");
    let counts = script("  - agentEdits: {path: a.txt, linesAdded: 1, linesRemoved: 0}\n");
    let edited = |content: &str| {
        let input = json!({"path": "a.txt", "content": content});
        call(1, "edit", input, json!([]))
    };
    let write_a = || Action::Write("a.txt", "yes".to_owned());
    // Two edits, of which the second is made at once after `before`.
    let both = |before: Vec<Action>| {
        let input = json!({"path": "b.txt", "content": "yes"});
        let second = [
            Action::Write("b.txt", "yes".to_owned()),
            edited("yes"),
            call(2, "edit", input, json!([])),
        ];
        before.into_iter().chain(second).collect::<Vec<_>>()
    };
    let counted = Action::Tell(json!({
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit", "kind": "edit", "status": "completed",
        "locations": [{"path": "CWD/a.txt"}],
    }));
    let blank = |kind: &str| {
        let content = json!({"type": "text", "text": " "});
        Action::Tell(json!({"sessionUpdate": kind, "content": content}))
    };
    let says = |text: &str| {
        let content = json!({"type": "text", "text": text});
        Action::Tell(json!({"sessionUpdate": "agent_message_chunk", "content": content}))
    };
    let message =
        script("  - llmResponse: [{think: [[0, Hm]]}, {assistant: [[0, 'One word.']]}]\n");
    let cases = [
        (&refused, vec![ask("reject_once", 1), failed.clone()], ""),
        (
            &refused,
            vec![
                ask("reject_once", 1),
                Action::Write("a.txt", "no".to_owned()),
                failed.clone(),
            ],
            "does not have the content of the script",
        ),
        (
            &refused_late,
            vec![
                ls.clone(),
                ask("reject_once", 1),
                Action::Write("a.txt", "no".to_owned()),
                failed.clone(),
            ],
            "expected: another content",
        ),
        (
            &refused_late,
            vec![ls, ask("reject_once", 1), failed.clone()],
            "",
        ),
        (
            &made,
            vec![Action::Write("made.txt", String::new()), ran.clone()],
            "",
        ),
        (&made, vec![ran], "T-ASRT-10 `fs.exists[0]` does not hold"),
        (
            &sleeps,
            vec![create.clone(), release.clone(), slept.clone()],
            "it ended with exit code 137",
        ),
        (
            &sleeps,
            vec![create, slept.clone(), release],
            "it had not ended when its call did",
        ),
        (&sleeps, vec![slept], "which was never created"),
        (&edits, vec![write("a.txt", "yes"), edited("yes")], ""),
        // Two calls at once: while the second is asked for, the first may be done.
        (
            &twice,
            both(vec![ask("allow_once", 1), write_a(), ask("allow_once", 2)]),
            "",
        ),
        (
            &twice,
            both(vec![write_a(), ask("allow_once", 1), ask("allow_once", 2)]),
            "T-ACP-20 the agent asked for permission only when it had done it",
        ),
        // Agents keep files of their own, and write a line end.
        (
            &edits,
            vec![
                Action::Write(".agent.log", String::new()),
                Action::Write("a.txt", "yes\n".to_owned()),
                edited("yes"),
            ],
            "",
        ),
        (
            &counts,
            vec![
                Action::Write("a.txt", "one\ntwo\nthree\n".to_owned()),
                counted.clone(),
            ],
            "",
        ),
        // Numbers alone are a warning.
        (&counts, vec![counted], ""),
        (
            &message,
            vec![
                blank("agent_thought_chunk"),
                says("One"),
                blank("agent_thought_chunk"),
                says(" word."),
                blank("user_message_chunk"),
            ],
            "",
        ),
    ];
    for (script, actions, wanted) in cases {
        let found = found_with(script, actions.clone()).await;
        match wanted {
            "" => assert_eq!(found, "", "{script}\n{actions:#?}"),
            wanted => assert!(found.contains(wanted), "{script}\n{actions:#?}\n{found}"),
        }
    }
}

#[tokio::test]
async fn artifacts_are_looked_for_in_the_end() {
    let script = |pattern: &str| {
        script("  - writeFile: {path: a.txt, content: yes}\n")
            + &format!("expect: {{artifacts: [{{type: file, pattern: '{pattern}'}}]}}\n")
    };
    let actions = vec![
        write("a.txt", "yes"),
        call(
            1,
            "edit",
            json!({"path": "a.txt", "content": "yes"}),
            json!([]),
        ),
    ];
    assert_eq!(found_with(&script("*.txt"), actions.clone()).await, "");
    let found = found_with(&script("*.md"), actions).await;
    assert!(found.contains("T-EXP-01 no file matches `*.md`"), "{found}");
}

#[tokio::test]
async fn asserts_are_judged_where_they_stand() {
    let timeline = |first: &str, second: &str, third: &str| {
        let assert = |check: &str| format!("  - assert: {{fs: {{{check}}}}}\n");
        let edits = format!(
            "  - writeFile: {{path: a.txt, content: yes}}\n{}  - writeFile: {{path: a.txt, content: no}}\n{}",
            assert(second),
            assert(third),
        );
        script(&edits).replace("timeline:\n", &format!("timeline:\n{}", assert(first)))
    };
    let edit = |id: usize, content: &str| {
        let input = json!({"path": "a.txt", "content": content});
        [write("a.txt", content), call(id, "edit", input, json!([]))]
    };
    let actions = [edit(1, "yes"), edit(2, "no")].concat();
    let has = |text: &str| format!("contains: [{{path: a.txt, substring: {text}}}]");
    let (begin, middle, end) = (has("two"), has("yes"), has("no"));
    let found = found_with(&timeline(&begin, &middle, &end), actions.clone()).await;
    assert_eq!(found, "");
    for (first, second, third) in [
        (&middle, &middle, &end),
        (&begin, &begin, &end),
        (&begin, &middle, &middle),
    ] {
        let found = found_with(&timeline(first, second, third), actions.clone()).await;
        assert!(
            found.contains("`fs.contains[0]` does not hold"),
            "{first} {second} {third}: {found}"
        );
    }
}

#[tokio::test]
async fn what_others_play_is_not_asserted() {
    let script = script(
        "  - writeFile: {path: a.txt, content: yes}\n  - userCommand: {cmd: touch x}\n  - assert: {fs: {exists: [x]}}\n",
    );
    let actions = vec![
        write("a.txt", "yes"),
        call(
            1,
            "edit",
            json!({"path": "a.txt", "content": "yes"}),
            json!([]),
        ),
    ];
    assert_eq!(found_with(&script, actions).await, "");
}

/// The stand-in is honest, too: what it tells of files, it writes through its client.
#[tokio::test]
async fn the_stand_in_makes_the_edits_that_it_tells() {
    agree(
        "\
name: w
timeline:
  - userInputs: [[0, Go]]
  - writeFile: {path: a.txt, content: \"one\\n\"}
  - appendFile: {path: a.txt, content: \"two\\n\"}
  - editFile: {path: a.txt, old_string: one, new_string: three}
  - writeFile: {path: b.txt, content: no}
    status: error
  - assert: {fs: {contains: [{path: a.txt, regex: \"^three\\ntwo\\n$\"}], notExists: [b.txt]}}
",
    )
    .await;
}
