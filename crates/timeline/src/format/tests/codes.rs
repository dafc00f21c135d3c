//! Each code with an input that causes it, and the text that is marked.

use super::super::{Included, check_included, check_names};
use super::{codes, file, reading, said};
use crate::model::{EventKind, TimelineCheck};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::Severity;

/// Reads a file that causes exactly one finding: its code, severity and the text under its place.
fn only(text: &str) -> (&'static str, Severity, String) {
    let read = reading(text);
    assert_eq!(read.diagnostics.len(), 1, "{text}\n{:#?}", said(&read));
    let found = &read.diagnostics[0];
    let place = found.place.as_ref().expect(text);
    let is_error = found.severity == Severity::Error;
    assert_eq!(read.timeline.is_none(), is_error, "{text}");
    (
        found.code.name(),
        found.severity,
        place.source.slice(place.span).to_owned(),
    )
}

#[test]
fn findings_about_events() {
    use Severity::{Error, Warning};
    for (events, code, severity, marked) in [
        ("- {path: a, linesAdded: 1}", "T-LOAD-06", Error, "path"),
        ("- screenshott: a", "T-LOAD-06", Error, "screenshott"),
        ("- complet", "T-LOAD-06", Error, "complet"),
        ("- screenshot", "T-LOAD-06", Error, "screenshot"),
        ("- 5", "T-LOAD-06", Error, "5"),
        ("- {}", "T-LOAD-06", Error, "{"),
        ("- type: scrnshot", "T-LOAD-06", Error, "type"),
        (
            "- log: a\n  screenshot: b",
            "T-LOAD-07",
            Error,
            "screenshot",
        ),
        (
            "- runCmd: {cmd: a}\n  grep: {pattern: b}",
            "T-LOAD-07",
            Error,
            "grep",
        ),
        ("- status: runing", "T-LOAD-08", Error, "runing"),
        (
            "- runCmd: {cmd: a, status: finished}",
            "T-LOAD-08",
            Error,
            "finished",
        ),
        ("- agentEdits: {linesAdded: 1}", "T-LOAD-08", Error, "{"),
        (
            "- llmResponse: [{asistant: []}]",
            "T-LOAD-08",
            Error,
            "asistant",
        ),
        (
            "- llmResponse: [{runCmd: {cmd: a}}]",
            "T-LOAD-08",
            Error,
            "runCmd",
        ),
        (
            "- llmResponse: [{think: [[1, a, b]]}]",
            "T-LOAD-08",
            Error,
            "[",
        ),
        ("- userInputs: []", "T-LOAD-08", Error, "[]"),
        (
            "- runCmd: {cmd: a, command: b}",
            "T-LOAD-08",
            Error,
            "command",
        ),
        (
            "- userCommand: {cmd: a, program: b}",
            "T-LOAD-08",
            Error,
            "{cmd: a, program: b}",
        ),
        ("- screenshot: ''", "T-LOAD-08", Error, "''"),
        (
            "- log: a\n  fault: {kind: cutt}",
            "T-LOAD-08",
            Error,
            "cutt",
        ),
        ("- merge: false", "T-LOAD-09", Warning, "false"),
        ("- userCommand: {args: [a]}", "T-LOAD-13", Warning, "[a]"),
        ("- log: a\n  extra: b", "T-LOAD-05", Warning, "extra"),
        ("- log: a\n  target: b", "T-LOAD-05", Warning, "target"),
        (
            "- agentEdits: {linesAdded: 1, path: a}\n  description: b",
            "T-LOAD-05",
            Warning,
            "description",
        ),
        (
            "- runCmd: {cmd: a, status: pending}",
            "T-LOAD-15",
            Warning,
            "pending",
        ),
        (
            "- applyPatch: {path: ../a.patch}",
            "T-LOAD-18",
            Error,
            "../a.patch",
        ),
        (
            "- userEdits: {patch: /a.patch}",
            "T-LOAD-18",
            Error,
            "/a.patch",
        ),
        (
            "- userCommand: {cmd: a, cwd: a/../..}",
            "T-LOAD-18",
            Error,
            "a/../..",
        ),
        ("- log: a\n  _meta: 1", "T-LOAD-19", Error, "1"),
        (
            "- setMode: {modeId: a, _meta: []}",
            "T-LOAD-19",
            Error,
            "[]",
        ),
        // Content.
        ("- userInputs: [[0, '']]", "T-BLOCK-01", Error, "''"),
        (
            "- llmResponse: [{think: [[0, '']]}]",
            "T-BLOCK-01",
            Error,
            "''",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: image, mimeType: image/heic, path: a}]]}]",
            "T-BLOCK-01",
            Error,
            "image/heic",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: audio, mimeType: audio/wav}]]}]",
            "T-BLOCK-02",
            Error,
            "{type: audio, mimeType: audio/wav}",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: image, mimeType: image/png, data: iVBORw0KGgo}]]}]",
            "T-BLOCK-02",
            Error,
            "iVBORw0KGgo",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: image, mimeType: image/gif, data: iVBORw0KGgo=}]]}]",
            "T-BLOCK-02",
            Error,
            "iVBORw0KGgo=",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: resource, resource: {uri: a, mimeType: b}}]]}]",
            "T-BLOCK-03",
            Error,
            "{uri: a, mimeType: b}",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: resource_link, uri: a}]]}]",
            "T-BLOCK-03",
            Error,
            "{type: resource_link, uri: a}",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: diff, path: a, newText: b}]]}]",
            "T-BLOCK-04",
            Error,
            "a",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: diff, path: /a}]]}]",
            "T-BLOCK-04",
            Error,
            "{type: diff, path: /a}",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: text, text: a, annotations: {priority: 2}}]]}]",
            "T-BLOCK-05",
            Error,
            "2",
        ),
        (
            "- agentPlan: {entries: []}",
            "T-BLOCK-06",
            Error,
            "{entries: []}",
        ),
        (
            "- agentPlan: {entries: [{content: a, priority: top, status: pending}]}",
            "T-BLOCK-06",
            Error,
            "top",
        ),
        (
            "- llmResponse: [{assistant: [[0, {type: plan, entries: [{content: a, priority: low, status: done}]}]]}]",
            "T-BLOCK-06",
            Error,
            "done",
        ),
        // Times.
        ("- baseTimeDelta: -50", "T-TIME-04", Error, "-50"),
        (
            "- llmResponse: [{think: [[1.5, a]]}]",
            "T-TIME-04",
            Error,
            "1.5",
        ),
        (
            "- userInputs: [{relativeTime: -1, input: a}]",
            "T-TIME-04",
            Error,
            "-1",
        ),
        (
            "- runCmd: {cmd: a, toolExecution: {startTimeMs: -1}}",
            "T-TIME-04",
            Error,
            "-1",
        ),
        (
            "- baseTimeDelta: 99999999999999",
            "T-TIME-04",
            Error,
            "99999999999999",
        ),
        // Models, tools, keys, asserts.
        (
            "- llmResponse: [{error: {statusCode: 200}}]",
            "T-LLM-06",
            Error,
            "200",
        ),
        (
            "- llmResponse: [{error: {repeat: 0}}]",
            "T-LLM-06",
            Error,
            "0",
        ),
        (
            "- readFile: {path: a, lines: 3}",
            "T-TOOL-01",
            Warning,
            "lines",
        ),
        ("- writeFile: {path: a}", "T-TOOL-01", Warning, "writeFile"),
        (
            "- agentToolUse: {toolName: runCdm}",
            "T-TOOL-01",
            Warning,
            "runCdm",
        ),
        (
            "- userInputs: [[0, 'a<Entr>']]\n  target: tui",
            "T-TERM-02",
            Error,
            "<Entr>",
        ),
        (
            "- assert: {fs: {exist: [a], exists: [b]}}",
            "T-ASRT-01",
            Warning,
            "exist",
        ),
        ("- assert: {}", "T-ASRT-02", Error, "{}"),
        ("- assert: {fs: {}}", "T-ASRT-02", Error, "{fs: {}}"),
        (
            "- assert: {json: {file: {path: a, pointer: b, equals: 1}}}",
            "T-LOAD-08",
            Error,
            "b",
        ),
        // The protocol of editors and agents.
        (
            "- setModel: {modelId: a}",
            "T-ACP-04",
            Error,
            "setModel: {modelId: a}",
        ),
        (
            "- sessionStart\n- sessionStart",
            "T-ACP-03",
            Error,
            "sessionStart",
        ),
        ("- notify: {method: a/b}", "T-ACP-13", Error, "a/b"),
        (
            "- agentFileReads: {files: [{path: a}]}",
            "T-ACP-12",
            Error,
            "a",
        ),
        (
            "- agentFileReads: {files: [{path: /a}]}\n- sessionStart",
            "T-ACP-14",
            Warning,
            "agentFileReads: {files: [{path: /a}]}",
        ),
        (
            "- userInputs: [{relativeTime: 0, input: a, expectedResponse: {stopReason: ''}}]",
            "T-ACP-10",
            Error,
            "''",
        ),
        (
            "- llmResponse: []\n  stopReason: done",
            "T-ACP-10",
            Error,
            "done",
        ),
        (
            "- llmResponse: []\n  stopReason: {openai: stop, gemini: bored}",
            "T-ACP-10",
            Error,
            "bored",
        ),
        (
            "- llmResponse: []\n  usage: {input_token: 3}",
            "T-LOAD-05",
            Warning,
            "input_token",
        ),
        (
            "- llmResponse: []\n  usage: {output_tokens: many}",
            "T-LOAD-08",
            Error,
            "many",
        ),
        (
            "- llmResponse: []\n  usage: {prompt_tokens_details: {cached: 3}}",
            "T-LOAD-05",
            Warning,
            "cached",
        ),
        (
            "- llmResponse: []\n  usage: {prompt_tokens_details: {cached_tokens: many}}",
            "T-LOAD-08",
            Error,
            "many",
        ),
        (
            "- assert: {fs: {contains: [{path: a, regex: \"\"}]}}",
            "T-LOAD-08",
            Error,
            "\"\"",
        ),
        (
            "- llmResponse: [{error: {headers: {x left: 9}}}]",
            "T-LOAD-08",
            Error,
            "x left",
        ),
        (
            "- sessionStart: {sessionId: a, expectedPromptResponse: {sessionId: b}}",
            "T-ACP-11",
            Error,
            "s",
        ),
    ] {
        let (found, found_severity, text) = only(&file(events));
        assert_eq!(
            (found, found_severity, text.as_str()),
            (code, severity, marked),
            "{events}"
        );
    }
}

#[test]
fn a_boolean_about_the_remote_is_about_the_branch() {
    let assertion = |git: &str| file(&format!("- assert: {{git: {git}}}"));
    for exists in [true, false] {
        let read = reading(&assertion(&format!(
            "{{branch: {{name: a}}, remoteExists: {exists}}}"
        )));
        assert!(read.diagnostics.is_empty(), "{:?}", said(&read));
        let timeline = read.timeline.expect("valid");
        let EventKind::Assert(assert) = &timeline.events[0].kind else {
            panic!("an assert")
        };
        let checks = &assert.checks;
        assert!(
            checks.iter().any(|check| matches!(
                &check.check,
                TimelineCheck::GitRemoteBranch { name, exists: wanted } if name == "a" && *wanted == exists
            )),
            "{checks:?}"
        );
    }
    let (code, severity, marked) = only(&assertion("{headMessageContains: a, remoteExists: true}"));
    assert_eq!(
        (code, severity, marked.as_str()),
        ("T-ASRT-01", Severity::Warning, "true")
    );
}

#[test]
fn findings_about_requests_for_permission() {
    let request = |rest: &str| {
        file(&format!(
            "- agentPermissionRequest: {{toolCall: {{kind: edit}}, {rest}}}"
        ))
    };
    let options = "options: [{id: a, label: A, kind: allow_once}]";
    for (rest, marked) in [
        (format!("{options}, granted: false"), "false"),
        (format!("{options}, granted: true, decision: {{outcome: cancelled}}"), "true"),
        (format!("{options}, decision: {{outcome: selected, optionId: b}}"), "b"),
        (format!("{options}, decision: {{outcome: canceled}}"), "canceled"),
        ("options: [{id: a, label: A, kind: allow}], granted: true".to_owned(), "allow"),
        (
            "options: [{id: a, label: A, kind: allow_once}, {id: a, label: B, kind: reject_once}], granted: true"
                .to_owned(),
            "a",
        ),
    ] {
        let (code, _, text) = only(&request(&rest));
        assert_eq!((code, text.as_str()), ("T-ACP-09", marked), "{rest}");
    }
    assert_eq!(only(&request(options)).0, "T-ACP-09");
    let about_the_latest = file(&format!(
        "- agentPermissionRequest: {{{options}, granted: true}}"
    ));
    let (code, severity, _) = only(&about_the_latest);
    assert_eq!((code, severity), ("T-ACP-09", Severity::Warning));
    let kind = file(&format!(
        "- agentPermissionRequest: {{toolCall: {{kind: fs/write_text_file}}, {options}, granted: true}}"
    ));
    let (code, severity, marked) = only(&kind);
    assert_eq!((code, severity), ("T-ACP-15", Severity::Warning));
    assert_eq!(marked, "fs/write_text_file");
}

#[test]
fn findings_about_settings() {
    use Severity::{Error, Warning};
    for (text, code, severity, marked) in [
        ("timeline: []", "T-LOAD-03", Error, "t"),
        ("name: ' '\ntimeline: []", "T-LOAD-03", Error, "' '"),
        ("name: a", "T-LOAD-08", Error, "n"),
        ("name: a\ntimeline: {}", "T-LOAD-08", Error, "{}"),
        (
            "name: a\ntimeline: []\nextra: 1",
            "T-LOAD-05",
            Warning,
            "extra",
        ),
        (
            "name: a\ntimeline: []\nexpect: {snapshots: []}",
            "T-LOAD-05",
            Warning,
            "snapshots",
        ),
        (
            "name: a\ntimeline: []\nacp: {capabilities: {promptCapabilities: {files: true}}}",
            "T-LOAD-05",
            Warning,
            "files",
        ),
        (
            "name: a\ntimeline: []\ninitialPrompt: hi",
            "T-LOAD-12",
            Warning,
            "hi",
        ),
        (
            "name: a\ntimeline: []\nterminalRef: {width: 8}",
            "T-LOAD-16",
            Warning,
            "{width: 8}",
        ),
        (
            "name: a\ntimeline: []\ncompat: {allowInlineTerminal: true}\nterminalRef: {width: 0}",
            "T-TERM-01",
            Error,
            "0",
        ),
        (
            "name: a\ntimeline: []\nterminalRef: /a.json",
            "T-LOAD-18",
            Error,
            "/a.json",
        ),
        (
            "name: a\ntimeline: []\nrepo: {dir: ..}",
            "T-LOAD-18",
            Error,
            "..",
        ),
        (
            "name: a\ntimeline: []\nserver: {headers: {x-a: \"b\\nc\"}}",
            "T-LOAD-08",
            Error,
            "x-a",
        ),
        (
            "name: a\ntimeline: []\nserver: {headers: {Content-Length: 3}}",
            "T-LOAD-08",
            Error,
            "Content-Length",
        ),
        (
            "name: a\ntimeline: []\nserver: {mode: mokc}",
            "T-LOAD-08",
            Error,
            "mokc",
        ),
        (
            "name: a\ntimeline: []\nserver: {sideCalls: [{match: '(', reply: a}]}",
            "T-LOAD-08",
            Error,
            "'('",
        ),
        ("name: a\ntimeline: []\nname: b", "T-LOAD-17", Error, "name"),
        ("name: *a\ntimeline: []", "T-LOAD-17", Error, "*"),
        ("name: a\n\ttimeline: []", "T-LOAD-01", Error, "a"),
        ("- a", "T-LOAD-01", Error, "-"),
        (
            "acp: {cwd: a}\nname: a\ntimeline: []",
            "T-ACP-12",
            Error,
            "a",
        ),
        (
            "name: a\ntimeline: []\nacp: {capabilities: {loadSession: true}}",
            "T-ACP-01",
            Error,
            "{",
        ),
        (
            "name: a\ntimeline: [{runCmd: {cmd: a}}, sessionStart]\nacp: {capabilities: {loadSession: false}}",
            "T-ACP-02",
            Warning,
            "sessionStart",
        ),
        (
            "name: a\nacp: {}\ntimeline: [{userInputs: [{relativeTime: 0, input: [{type: image, mimeType: image/png, path: a}]}]}]",
            "T-ACP-05",
            Error,
            "{",
        ),
        (
            "name: a\ntimeline: []\nacp: {mcpServers: [{name: a, type: http, url: b}]}",
            "T-ACP-06",
            Error,
            "b",
        ),
        (
            "name: a\ntimeline: []\nacp: {capabilities: {mcpCapabilities: {sse: true}}, mcpServers: [{name: a, type: sse, url: b}]}",
            "T-ACP-07",
            Warning,
            "b",
        ),
        (
            "name: a\ntimeline: []\nacp: {mcpServers: [{name: a}]}",
            "T-ACP-08",
            Error,
            "{name: a}",
        ),
        (
            "name: a\ntimeline: []\nacp: {mcpServers: [{name: a, command: b, env: [{name: C=D, value: e}]}]}",
            "T-ACP-08",
            Error,
            "[{name: C=D, value: e}]",
        ),
        (
            "name: a\nacp: {capabilities: {loadSession: false}}\ntimeline: [{initialize: {}, expectedResponse: {agentCapabilities: {loadSession: true}}}]",
            "T-ACP-11",
            Error,
            "{",
        ),
    ] {
        let (found, found_severity, place) = only(text);
        assert_eq!(
            (found, found_severity, place.as_str()),
            (code, severity, marked),
            "{text}"
        );
    }
}

#[test]
fn files_of_other_formats_are_named() {
    for (text, what) in [
        ("transport: stdio\nassertions: []", "wire"),
        ("- client: {a: 1}\n- server: {b: 2}", "wire"),
        (
            "{\"rules\": [{\"if_contains\": [\"a\"], \"response\": {}}]}",
            "playbook",
        ),
        ("[{\"key\": \"Enter\"}, {\"assertVm\": {}}]", "terminal"),
        (
            "{\"steps\": [{\"key\": \"a\"}, {\"snapshot\": \"b\"}]}",
            "terminal",
        ),
        ("name: x\nevents: []", "another format"),
        (
            "adapter: cuecard\nadapter_input: {}\nassertions: []",
            "a test case",
        ),
        (
            "{\"version\": \"2.1\", \"steps\": []}",
            "a tool-call scenario",
        ),
    ] {
        let read = reading(text);
        assert_eq!(codes(&read), ["T-LOAD-02"], "{text}");
        assert!(
            read.diagnostics[0].message.contains(what),
            "{text}: {:?}",
            said(&read)
        );
    }
}

#[test]
fn forms_that_are_no_yaml_get_the_working_one() {
    let rules = "name: a\ntimeline:\n  - log: one\n  rules:\n    - default: true\n      config: [{log: two}]\n";
    let read = reading(rules);
    assert_eq!(codes(&read), ["T-LOAD-01"]);
    let help = read.diagnostics[0].help.as_deref().unwrap();
    assert!(help.contains("`- rules:`"), "{help}");
    let meta = "name: a\ntimeline:\n  - llmResponse:\n      _meta:\n        model: x\n      - assistant:\n          - [1, hi]\n";
    let read = reading(meta);
    assert_eq!(codes(&read), ["T-LOAD-01"]);
    let help = read.diagnostics[0].help.as_deref().unwrap();
    assert!(help.contains("beside `llmResponse`"), "{help}");
}

#[test]
fn messages_say_where_what_and_what_was_meant() {
    let read = reading(&file(
        "- log: a\n- agentActions:\n    - log: b\n    - agentToolUs: {toolName: runCmd}\n- {toolName: runCmd, args: {}}\n- status: runing",
    ));
    let found: Vec<_> = read
        .diagnostics
        .iter()
        .map(|found| {
            (
                found.code.to_string(),
                found.label.as_deref(),
                found.help.as_deref(),
                found.notes.as_slice(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "T-LOAD-06".to_owned(),
                Some("did you mean `agentToolUse`?"),
                None,
                &["at timeline[1].agentActions[1]".to_owned()][..]
            ),
            (
                "T-LOAD-06".to_owned(),
                None,
                Some("its keys are those of `agentToolUse`: write `- agentToolUse: {…}`"),
                &["at timeline[2]".to_owned()][..]
            ),
            (
                "T-LOAD-08".to_owned(),
                Some("did you mean `running`?"),
                None,
                &["at timeline[3].status".to_owned()][..]
            ),
        ]
    );
}

#[test]
fn included_files_are_looked_at() {
    let text = "name: a\nterminalRef: t.json\nrepo: {dir: seed}\ntimeline:\n  - applyPatch: {path: a.patch}\n  - llmResponse: [{assistant: [[0, {type: image, mimeType: image/png, path: a.png}]]}]\n";
    let timeline = reading(text).timeline.unwrap();
    let good = check_included(
        &timeline.source,
        &timeline.included_files,
        |path| match path.to_str().unwrap() {
            "seed" => Included::Folder,
            "a.png" => Included::File(b"\x89PNG\r\n\x1a\n....".to_vec()),
            _ => Included::File(Vec::new()),
        },
    );
    assert!(good.is_empty(), "{good:?}");
    let bad = check_included(
        &timeline.source,
        &timeline.included_files,
        |path| match path.to_str().unwrap() {
            "seed" => Included::File(Vec::new()),
            "a.png" => Included::File(b"GIF89a".to_vec()),
            "t.json" => Included::Missing,
            _ => Included::Outside,
        },
    );
    let found: Vec<&str> = bad.iter().map(|found| found.code.name()).collect();
    assert_eq!(found, ["T-LOAD-18", "T-LOAD-18", "T-LOAD-18", "T-BLOCK-02"]);
}

#[test]
fn equal_names_are_told() {
    let one = reading("name: a\ntimeline: []").timeline.unwrap();
    let mut two = one.clone();
    two.source = SourceFile::new("two.yaml", "name: a\ntimeline: []");
    let found = check_names([&one, &two]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code.name(), "T-LOAD-04");
    assert!(found[0].notes[0].contains("scenario.yaml"));
}

#[test]
fn all_findings_of_a_file_come_at_once() {
    let read = reading(&file(
        "- status: a\n- baseTimeDelta: -1\n- {}\n- notify: {method: x}\n- log: 5\n- assert: {}",
    ));
    assert_eq!(read.diagnostics.len(), 6, "{:#?}", said(&read));
}

#[test]
fn nesting_has_an_end() {
    for depth in [20, 60, 62, 63, 64, 100, 5000] {
        let open = "{agentActions: [".repeat(depth);
        let close = "]}".repeat(depth);
        let text = format!("name: x\ntimeline: [{open}{{log: a}}{close}]");
        let read = reading(&text);
        let found = codes(&read);
        assert!(
            found.is_empty() || found == ["T-LOAD-17"],
            "{depth}: {:#?}",
            said(&read)
        );
    }
    for depth in [10, 30, 40] {
        let open = "{rules: [{default: true, config: [".repeat(depth);
        let close = "]}]}".repeat(depth);
        let text = format!("name: x\ntimeline: [{open}{{log: a}}{close}]");
        let read = reading(&text);
        let found = codes(&read);
        assert!(
            found.is_empty() || found == ["T-LOAD-17"],
            "{depth}: {:#?}",
            said(&read)
        );
    }
}
