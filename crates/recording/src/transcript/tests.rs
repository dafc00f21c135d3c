use cuecard_source::SourceFile;
use cuecard_trace::import::{detect_session, transcript};
use serde_json::{Value, json};

use super::{Session, session_of};
use crate::Recording;
use crate::infer::infer;

fn read(text: &str) -> Session {
    let source = SourceFile::new("session.jsonl", text);
    let format = detect_session(&source).expect("a format");
    let trace = transcript(&source, format).trace;
    session_of(&trace.expect("a trace"))
}

fn outline(recording: &Recording) -> Vec<String> {
    let calls = recording.calls.iter().map(|call| {
        let outcome = match (&call.error, &call.result) {
            (Some(error), _) => format!("error {}", error.message),
            (None, Some(result)) => result.to_string(),
            (None, None) => "missing".to_owned(),
        };
        format!(
            "{} {} → {outcome}",
            crate::scenario::tool_name(call),
            Value::Object(call.arguments.clone())
        )
    });
    calls.collect()
}

const CLAUDE_CODE: &str = r#"
{"type":"user","uuid":"u1","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Add a note"}}
{"type":"assistant","uuid":"a1","sessionId":"s","timestamp":"2026-01-02T03:04:06.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"mcp__notes__add","input":{"text":"a"}},{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/w/a/b.txt"}}]}}
{"type":"user","uuid":"u2","sessionId":"s","timestamp":"2026-01-02T03:04:07.500Z","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"{\"id\": 7}"},{"type":"text","text":"added"}]}]}}
{"type":"user","uuid":"u3","sessionId":"s","timestamp":"2026-01-02T03:04:08.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"File does not exist."}]}}
{"type":"assistant","uuid":"a2","sessionId":"s","timestamp":"2026-01-02T03:04:09.000Z","message":{"id":"m2","content":[{"type":"tool_use","id":"t3","name":"Bash","input":{"command":"ls","description":"List"}},{"type":"tool_use","id":"t4","name":"TodoWrite","input":{}},{"type":"tool_use","id":"t5","name":"Bash","input":{"command":"sleep 2"}}]}}
{"type":"user","uuid":"u4","sessionId":"s","timestamp":"2026-01-02T03:04:10.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"b.txt"}]},"toolUseResult":{"stdout":"b.txt\n","stderr":""}}
"#;

#[test]
fn a_session_of_claude_code() {
    let Session {
        recording,
        left_out,
        ..
    } = read(CLAUDE_CODE);
    assert_eq!(recording.prompts, ["Add a note"]);
    assert_eq!(recording.prompted_at, [0]);
    assert_eq!(
        outline(&recording),
        [
            r#"mcp__notes__add {"text":"a"} → {"content":[{"type":"text","text":"{\"id\":7}"},{"type":"text","text":"added"}],"isError":false}"#,
            r#"claude__read {"file_path":"a/b.txt"} → error File does not exist."#,
            r#"claude__bash {"command":"ls","expect_exit":0} → {"stdout":"b.txt\n","stderr":"","exit_code":0}"#,
            r#"sandy__wait {"duration":2.0} → null"#,
        ]
    );
    assert_eq!(
        recording.calls[0].started.map(|time| time.as_millis()),
        Some(1_000)
    );
    assert_eq!(
        recording.calls[0].duration.map(|time| time.as_millis()),
        Some(1_500)
    );
    assert_eq!(left_out[0].text, "no tool of scenarios does this");
}

#[test]
fn results_are_those_that_the_built_in_tools_give() {
    let Session { recording, .. } = read(
        r#"{"type":"user","uuid":"u1","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Go"}}
{"type":"assistant","uuid":"a1","sessionId":"s","timestamp":"2026-01-02T03:04:06.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a"}},{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"serve","run_in_background":true}},{"type":"tool_use","id":"t3","name":"Glob","input":{"pattern":"/w/docs/*.md"}},{"type":"tool_use","id":"t4","name":"Grep","input":{"pattern":"x","path":"/w"}},{"type":"tool_use","id":"t5","name":"BashOutput","input":{"bash_id":"bash_1"}}]}}
{"type":"user","uuid":"u2","sessionId":"s","timestamp":"2026-01-02T03:04:07.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"     1→id: a→b\n    12→x"}]}}
{"type":"user","uuid":"u3","sessionId":"s","timestamp":"2026-01-02T03:04:08.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"Command running in background with ID: bash_1. Output is written to /tmp/x"}]}}
{"type":"user","uuid":"u4","sessionId":"s","timestamp":"2026-01-02T03:04:09.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"/w/docs/a.md\n/v/b.md"},{"type":"tool_result","tool_use_id":"t4","content":"Found 1 file\n/w/x.txt"}]}}
"#,
    );
    assert_eq!(
        outline(&recording),
        [
            r#"claude__read {"file_path":"a"} → {"content":"     1\tid: a→b\n    12\tx"}"#,
            r#"claude__bash {"command":"serve","run_in_background":true} → {"shell_id":"bash_1"}"#,
            r#"claude__glob {"pattern":"docs/*.md"} → {"files":["docs/a.md","/v/b.md"]}"#,
            r#"claude__grep {"pattern":"x","path":"."} → {"files":["x.txt"]}"#,
            r#"claude__bash_output {"shell_id":"bash_1"} → missing"#,
        ]
    );
}

/// The folder of each line is where its commands began, and paths of another machine become those of the run.
#[test]
fn commands_run_in_the_folder_in_which_the_agent_was() {
    let line = |id: u32, cwd: &str, command: &str| {
        json!({"type": "assistant", "uuid": format!("a{id}"), "sessionId": "s", "cwd": cwd,
            "timestamp": "2026-01-02T03:04:06.000Z", "message": {"id": format!("m{id}"), "content": [
                {"type": "tool_use", "id": format!("t{id}"), "name": "Bash", "input": {"command": command}}]}})
        .to_string()
    };
    let cases = [
        ("/w", "mkdir -p sub && cd sub", "mkdir -p sub && cd sub"),
        ("/w/sub", "touch here", "cd 'sub' && touch here"),
        ("/else", "ls", "cd '/else' && ls"),
        (
            "/w",
            "cat /w/a '/w/b c' /work /v/w && ls -t /w/*.csv >/w/o",
            "cat ./a './b c' /work /v/w && ls -t ./*.csv >./o",
        ),
        ("/w", "cd /w/sub && pwd", "cd ./sub && pwd"),
    ];
    let of_another_place = [
        (
            "/w",
            "cat /w/a; cd /w/b && cat /w/c",
            "cat ./a; cd /w/b && cat /w/c",
        ),
        // What another machine or another time reads.
        (
            "/w",
            "rsync -a dist/ me@web:/w/",
            "rsync -a dist/ me@web:/w/",
        ),
        ("/w", "sed -i 's#/w#/srv#' a", "sed -i 's#/w#/srv#' a"),
        ("/w", "ssh web 'cd /w && ./x'", "ssh web 'cd /w && ./x'"),
        ("/w", "./run.sh --out=/w/o", "./run.sh --out=/w/o"),
        ("/w", "echo D=/w >rc", "echo D=/w >rc"),
        ("/w", "grep -rl /w a", "grep -rl /w a"),
        ("/w/sub", "cat /w/a", "cd 'sub' && cat /w/a"),
    ];
    let all: Vec<_> = cases.iter().chain(&of_another_place).collect();
    let lines = all
        .iter()
        .zip(1..)
        .map(|((cwd, command, _), id)| line(id, cwd, command));
    let Session { recording, .. } = read(&lines.collect::<Vec<_>>().join("\n"));
    let made = recording
        .calls
        .iter()
        .map(|call| call.arguments["command"].as_str());
    let expected = all.iter().map(|(_, _, expected)| Some(*expected));
    assert_eq!(made.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let asked = "it names the agent's folder, `/w`: does it mean the folder of the run?";
    let expected = (cases.len() + 1..=all.len()).map(|call| (call, asked.to_owned()));
    assert_eq!(recording.doubts, expected.collect::<Vec<_>>());
}

/// What a command prints names the agent's folder as the command does.
#[test]
fn a_path_that_a_command_prints_is_found_in_the_next_one() {
    let session = read(
        r#"{"type":"user","uuid":"u1","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Go"}}
{"type":"assistant","uuid":"a1","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:06.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls -t /w/data/*.csv | head -1"}}]}}
{"type":"user","uuid":"u2","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:07.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"/w/data/r-10001.csv"}]}}
{"type":"assistant","uuid":"a2","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:08.000Z","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"wc -l \"/w/data/r-10001.csv\""}},{"type":"tool_use","id":"t3","name":"mcp__files__get","input":{"path":"/w/data/r-10001.csv"}}]}}
"#,
    );
    let inferred = infer(&session.recording, None, "x").expect("a scenario");
    let steps = &inferred.scenario.steps;
    let asked = "Open question: it names the agent's folder, `/w`";
    let is_asked = steps.iter().map(|step| step.description.contains(asked));
    assert_eq!(is_asked.collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(steps[0].params["command"], "ls -t ./data/*.csv | head -1");
    assert_eq!(
        steps[0].output["command"],
        json!({"regex": r"^\s*(\S*[^\s.,;:!?])", "from": "$.stdout"})
    );
    assert_eq!(steps[1].params["command"], "wc -l \"{{bash.command}}\"");
}

/// What was never done is not done by a play.
#[test]
fn what_was_refused_is_left_out() {
    let answers = [
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            true,
        ),
        ("[Request interrupted by user for tool use]", true),
        (
            "Claude requested permissions to use Bash, but you haven't granted it yet.",
            true,
        ),
        (
            "Permission to use Bash with command rm has been denied.",
            true,
        ),
        ("This command requires approval", true),
        (
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            true,
        ),
        (
            "Output redirection to '/w/o' was blocked. For security, Claude Code may only write to files in the allowed working directories for this session: '/w'.",
            true,
        ),
        (
            "Permission for this action has been denied. Reason: it deletes",
            true,
        ),
        ("Command timed out after 2m 0s\nx", false),
        (
            "Exit code 1\nrm: cannot remove 'x': Permission denied",
            false,
        ),
    ];
    let lines = answers.iter().zip(1..).flat_map(|((text, _), id)| {
        let line = |kind: &str, n: u32, content: Value| {
            json!({"type": kind, "uuid": format!("{kind}{n}"), "sessionId": "s", "cwd": "/w",
                "timestamp": "2026-01-02T03:04:06.000Z", "message": {"id": format!("m{n}"), "content": [content]}})
            .to_string()
        };
        [
            line("assistant", id, json!({"type": "tool_use", "id": format!("t{id}"), "name": "Bash", "input": {"command": "rm x"}})),
            line("user", id, json!({"type": "tool_result", "tool_use_id": format!("t{id}"), "is_error": true, "content": text})),
        ]
    });
    let session = read(&lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(session.recording.calls.len(), 2);
    let refused = session
        .left_out
        .iter()
        .filter(|note| note.text == "it was refused, and not done");
    assert_eq!(
        refused.count(),
        answers.iter().filter(|(_, refused)| *refused).count()
    );
}

/// Codex tells how each command and patch ended, unless it made none of it.
#[test]
fn what_codex_refused_is_left_out() {
    let shell = json!({"command": ["rm", "x"]});
    let patch = json!({"input": "*** Begin Patch\n*** Add File: z\n+1\n*** End Patch"});
    let pay = json!({"to": "eve"});
    let cases = [
        ("shell", &shell, "exec command rejected by user", None),
        ("shell", &shell, "aborted by user after 3.2s", None),
        (
            "exec_command",
            &shell,
            "exec_command failed: CreateProcess",
            None,
        ),
        ("apply_patch", &patch, "patch rejected by user", None),
        (
            "apply_patch",
            &patch,
            "apply_patch verification failed: no lines",
            None,
        ),
        (
            "apply_patch",
            &patch,
            "Success. Updated the following files:\nA z",
            Some("null"),
        ),
        ("mcp__pay__send", &pay, "user rejected MCP tool call", None),
        ("mcp__pay__send", &pay, "user cancelled MCP tool call", None),
        ("mcp__pay__send", &pay, "err: user rejected", None),
        (
            "mcp__pay__send",
            &pay,
            "tool call error: tool call failed for `pay/send`",
            Some(
                r#"{"content":[{"type":"text","text":"tool call error: tool call failed for `pay/send`"}],"isError":true}"#,
            ),
        ),
        (
            "mcp__pay__send",
            &pay,
            "Wall time: 0.02 seconds\nOutput:\nthe offer was rejected by the user eve",
            Some(
                r#"{"content":[{"type":"text","text":"the offer was rejected by the user eve"}],"isError":false}"#,
            ),
        ),
        (
            "shell",
            &shell,
            "command timed out after 10000 milliseconds\n",
            Some(
                r#"{"stdout":"command timed out after 10000 milliseconds\n","stderr":"","exit_code":124}"#,
            ),
        ),
        (
            "exec_command",
            &shell,
            "Wall time: 10.0 seconds\nProcess running with session ID 5\nOutput:\n",
            Some(r#"{"shell_id":null}"#),
        ),
    ];
    for (name, arguments, answer, expected) in cases {
        let line = |payload: Value| json!({"timestamp": "2026-01-02T03:04:07.000Z", "type": "response_item", "payload": payload});
        let meta = r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#;
        let call = line(
            json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": "c"}),
        );
        let output =
            line(json!({"type": "function_call_output", "call_id": "c", "output": answer}));
        let session = read(&format!("{meta}\n{call}\n{output}\n"));
        let made = outline(&session.recording);
        let outcome = made.first().and_then(|call| call.split_once(" → "));
        assert_eq!(outcome.map(|(_, outcome)| outcome), expected, "{answer}");
        assert_eq!(
            session.left_out.len(),
            usize::from(expected.is_none()),
            "{answer}"
        );
    }
}

/// Codex limits some commands in milliseconds, as scenarios do.
#[test]
fn the_time_that_a_command_had_is_kept() {
    let line = |payload: Value| json!({"timestamp": "2026-01-02T03:04:07.000Z", "type": "response_item", "payload": payload});
    let arguments = json!({"command": ["make", "all"], "timeout_ms": 300_000});
    let call = line(
        json!({"type": "function_call", "name": "shell", "arguments": arguments.to_string(), "call_id": "c"}),
    );
    let output = line(
        json!({"type": "function_call_output", "call_id": "c", "output": "Exit code: 0\nOutput:\nok"}),
    );
    let meta = r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#;
    let session = read(&format!("{meta}\n{call}\n{output}\n"));
    assert_eq!(
        session.recording.calls[0].arguments["timeout"],
        json!(300_000)
    );
}

#[test]
fn what_claude_prints_as_stream_json() {
    let Session { recording, .. } = read(
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","claude_code_version":"2.1.0"}
{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/w/x","content":"y"}}]}}
{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"File created"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done","session_id":"s"}
"#,
    );
    assert_eq!(
        outline(&recording),
        [r#"claude__write {"file_path":"x","content":"y"} → null"#]
    );
}

#[test]
fn a_session_of_codex() {
    let Session { recording, .. } = read(
        r##"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"git log -1\",\"workdir\":\"/w\"}","call_id":"c1"}}
{"timestamp":"2026-01-02T03:04:08.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nabc\n"}}
{"timestamp":"2026-01-02T03:04:09.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: n.txt\n+one\n+two\n*** Update File: o.txt\n@@\n keep\n-old\n+new\n*** End Patch","call_id":"c2"}}
{"timestamp":"2026-01-02T03:04:10.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"Exit code: 0\nOutput:\nDone"}}
{"timestamp":"2026-01-02T03:04:11.000Z","type":"response_item","payload":{"type":"function_call","name":"add","namespace":"mcp__notes__","arguments":"{\"text\":\"a\"}","call_id":"c3"}}
{"timestamp":"2026-01-02T03:04:12.000Z","type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"c3","invocation":{"server":"notes","tool":"add"},"duration":{"secs":1,"nanos":0},"result":{"Ok":{"content":[{"type":"text","text":"7"}],"structuredContent":{"result":7},"isError":false}}}}
{"timestamp":"2026-01-02T03:04:12.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":"Wall time: 1\nOutput:\n7"}}
{"timestamp":"2026-01-02T03:04:12.100Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"touch t\",\"workdir\":\"/w/sub\"}","call_id":"c5"}}
{"timestamp":"2026-01-02T03:04:12.200Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c5","output":"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"}}
{"timestamp":"2026-01-02T03:04:12.300Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: o.txt\n@@\n-gone\n+new\n*** End Patch","call_id":"c6"}}
{"timestamp":"2026-01-02T03:04:12.400Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c6","output":"apply_patch verification failed: Failed to find expected lines in o.txt"}}
{"timestamp":"2026-01-02T03:04:13.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.txt\n+a\n*** Delete File: /w/n.txt\n*** Update File: o.txt\n*** Move to: d/p.txt\n@@\n-old\n+new\n*** End Patch","call_id":"c4"}}
{"timestamp":"2026-01-02T03:04:13.100Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c4","output":"Exit code: 0\nOutput:\nDone"}}
"##,
    );
    assert_eq!(
        outline(&recording),
        [
            r#"claude__bash {"command":"git log -1","expect_exit":0} → {"stdout":"abc\n","stderr":"","exit_code":0}"#,
            r#"claude__write {"file_path":"n.txt","content":"one\ntwo\n"} → null"#,
            r#"claude__edit {"file_path":"o.txt","old_string":"keep\nold","new_string":"keep\nnew"} → null"#,
            r#"mcp__notes__add {"text":"a"} → {"content":[{"type":"text","text":"7"}],"isError":false,"structuredContent":{"result":7}}"#,
            r#"claude__bash {"command":"cd 'sub' && touch t","expect_exit":0} → {"stdout":"","stderr":"","exit_code":0}"#,
            r#"claude__write {"file_path":"a.txt","content":"a\n"} → null"#,
            r#"claude__bash {"command":"rm -- 'n.txt'","expect_exit":0} → {"stdout":"","stderr":"","exit_code":0}"#,
            r#"claude__edit {"file_path":"o.txt","old_string":"old","new_string":"new"} → null"#,
            r#"claude__bash {"command":"mkdir -p 'd' && mv -- 'o.txt' 'd/p.txt'","expect_exit":0} → {"stdout":"","stderr":"","exit_code":0}"#,
        ]
    );
}

#[test]
fn what_codex_prints_as_json() {
    let Session { recording, .. } = read(
        r#"{"type":"thread.started","thread_id":"s"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"bash -lc 'make test'","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"bash -lc 'make test'","aggregated_output":"boom\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"notes","tool":"add","arguments":{"text":"a"},"result":{"content":[{"type":"text","text":"id 7"}],"structured_content":null},"error":null,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"notes","tool":"add","arguments":{},"result":null,"error":{"message":"text is missing"},"status":"failed"}}
{"type":"item.completed","item":{"id":"item_3","type":"file_change","changes":[{"path":"/w/a","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"Done"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":2}}
"#,
    );
    assert_eq!(
        outline(&recording),
        [
            r#"claude__bash {"command":"make test"} → {"stdout":"boom\n","stderr":"","exit_code":2}"#,
            r#"mcp__notes__add {"text":"a"} → {"content":[{"type":"text","text":"id 7"}],"isError":false}"#,
            r#"mcp__notes__add {} → {"content":[{"type":"text","text":"text is missing"}],"isError":true}"#,
        ]
    );
    let inferred = infer(&recording, None, "x").expect("a scenario");
    let steps = &inferred.scenario.steps;
    let last = &steps[steps.len() - 1].description;
    let asked = "Open question: after it, `apply_patch` was called, which is no step: the session doesn't say what the patch changed";
    assert!(last.contains(asked), "{last}");
    assert_eq!(inferred.scenario.steps[0].on_error, Some("skip"));
    assert_eq!(
        json!(inferred.scenario.steps[0].params),
        json!({"command": "make test"})
    );
}

/// A session of Claude Code with these calls: tool, input, answer, and whether it failed.
fn claude_session(calls: &[(&str, Value, &str, bool)]) -> String {
    let line = |kind: &str, n: usize, content: Value| {
        json!({"type": kind, "uuid": format!("{kind}{n}"), "sessionId": "s", "cwd": "/w",
            "timestamp": "2026-01-02T03:04:06.000Z", "message": {"id": format!("m{n}"), "content": [content]}})
        .to_string()
    };
    let lines = calls.iter().enumerate().flat_map(|(n, (tool, input, answer, failed))| {
        [
            line("assistant", n, json!({"type": "tool_use", "id": format!("t{n}"), "name": tool, "input": input})),
            line("user", n, json!({"type": "tool_result", "tool_use_id": format!("t{n}"), "is_error": failed, "content": answer})),
        ]
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn several_edits_of_a_file_are_as_many_steps() {
    let input = json!({"file_path": "/w/a", "edits": [
        {"old_string": "one", "new_string": "1"},
        {"old_string": "two", "new_string": "2", "replace_all": true},
    ]});
    let session = read(&claude_session(&[
        ("MultiEdit", input.clone(), "Applied 2 edits", false),
        (
            "MultiEdit",
            input,
            "String to replace not found in file.",
            true,
        ),
    ]));
    assert_eq!(
        outline(&session.recording),
        [
            r#"claude__edit {"file_path":"a","old_string":"one","new_string":"1"} → null"#,
            r#"claude__edit {"file_path":"a","old_string":"two","new_string":"2","replace_all":true} → null"#,
        ]
    );
    assert_eq!(session.left_out.len(), 1);
}

#[test]
fn the_name_of_a_command_in_the_background_is_that_of_the_run() {
    let session = read(&claude_session(&[
        (
            "Bash",
            json!({"command": "serve", "run_in_background": true}),
            "Command running in background with ID: bgtask. Output is being written to: /tmp/x",
            false,
        ),
        (
            "BashOutput",
            json!({"bash_id": "bgtask"}),
            "<status>running</status>",
            false,
        ),
        ("KillShell", json!({"shell_id": "bgtask"}), "killed", false),
    ]));
    let inferred = infer(&session.recording, None, "x").expect("a scenario");
    let steps = &inferred.scenario.steps;
    assert_eq!(json!(steps[0].output), json!({"shell_id": "$.shell_id"}));
    for step in &steps[1..] {
        assert_eq!(step.params["shell_id"], "{{bash.shell_id}}");
    }
}

/// A session of Codex with these calls, each with the text that it printed.
fn codex_session(calls: &[(&str, Value, &str)]) -> String {
    let line = |payload: Value| {
        json!({"timestamp": "2026-01-02T03:04:07.000Z", "type": "response_item", "payload": payload})
            .to_string()
    };
    let meta = r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#;
    let lines = calls.iter().enumerate().flat_map(|(n, (name, arguments, output))| {
        let (id, output) = (format!("c{n}"), format!("Exit code: 0\nOutput:\n{output}"));
        [
            line(json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id})),
            line(json!({"type": "function_call_output", "call_id": id, "output": output})),
        ]
    });
    let lines: Vec<String> = std::iter::once(meta.to_owned()).chain(lines).collect();
    lines.join("\n")
}

#[test]
fn an_edit_of_a_patch_holds_enough_lines_to_stand_in_the_file_once() {
    let patch = |body: &str| {
        let input = format!("*** Begin Patch\n{body}*** End Patch");
        ("apply_patch", json!({ "input": input }), "Done")
    };
    let ctx = "@@ y = 2\n-same\n+other\n@@\n-same\n+last\n";
    let session = read(&codex_session(&[
        patch(&format!("*** Update File: new.txt\n{ctx}")),
        (
            "shell",
            json!({"command": ["cat", "a.txt"]}),
            "same\nx = 1\nsame\n\ny = 2\nz\nsame\nsame\n",
        ),
        patch(&format!("*** Update File: a.txt\n{ctx}")),
        patch("*** Update File: a.txt\n@@\n-other\n"),
    ]));
    let edits = session.recording.calls.iter();
    let edits = edits
        .filter(|call| call.tool == "claude__edit")
        .map(|call| {
            let text = |key: &str| call.arguments[key].as_str().unwrap_or_default().to_owned();
            [text("old_string"), text("new_string")]
        });
    let expected = [
        ["same", "other"],
        ["same", "last"],
        ["z\nsame", "z\nother"],
        ["other\nsame", "other\nlast"],
        ["other\n", ""],
    ];
    assert_eq!(edits.collect::<Vec<_>>(), expected);
    let asked = "the patch sought `old_string` behind the line `y = 2`, which an edit can't: does it stand in the file once?";
    assert_eq!(session.recording.doubts, [(1, asked.to_owned())]);
}
