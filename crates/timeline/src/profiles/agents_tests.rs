//! The profiles of the agents, one and all: what their calls are, and that they lead back.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use cuecard_source::value::Json;

const SHELL_ONLY: &str = "mini-swe-agent";

fn every_agent() -> Vec<String> {
    let profiles = Profiles::default();
    profiles.agents().into_iter().map(str::to_owned).collect()
}

fn profile(agent: &str) -> Profile {
    let name = AgentName::parse(agent).expect("a name");
    let profiles = Profiles::default();
    profiles.of_agent(&name).expect("it is built in").clone()
}

/// The tools of an agent without some of them.
fn without(profile: &Profile, left_out: &[&str]) -> Vec<AdvertisedTool> {
    let mut tools = profile.advertised();
    tools.retain(|tool| !left_out.contains(&tool.name.as_str()));
    tools
}

#[track_caller]
fn native(profile: &Profile, tools: &[AdvertisedTool], tool: &str, args: Json) -> (String, Json) {
    let call = AbstractCall::new(tool, args);
    let mapped = native_call(Some(profile), &call, tools)
        .unwrap_or_else(|why| panic!("{}: {why}", profile.title()));
    assert_eq!(mapped.dropped, [] as [String; 0], "{tool}");
    let problems = check_call(&mapped.call, tools, true);
    assert_eq!(problems, [] as [String; 0], "{}", profile.title());
    (mapped.call.name, (*mapped.call.args).clone())
}

#[track_caller]
fn assert_calls(agent: &str, left_out: &[&str], cases: &[(&str, Json, &str, Json)]) {
    let profile = profile(agent);
    let tools = without(&profile, left_out);
    for (tool, args, name, expected) in cases {
        let (found, native_args) = native(&profile, &tools, tool, args.clone());
        assert_eq!(
            (found.as_str(), &native_args),
            (*name, expected),
            "{agent} {tool}"
        );
    }
}

#[test]
fn every_agent_can_do_the_usual_things() {
    for agent in every_agent() {
        let profile = profile(&agent);
        for tool in [
            "runCmd",
            "readFile",
            "writeFile",
            "editFile",
            "replaceInFile",
            "appendFile",
            "grep",
            "listDir",
            "find",
            "sed",
        ] {
            assert!(profile.has_tool(tool), "{agent} {tool}");
        }
        for tool in profile.abstract_tools() {
            for native in profile.native_tools(tool) {
                let is_known = profile.advertised().iter().any(|tool| tool.name == native);
                assert!(is_known, "{agent}: no schema of {native}");
            }
        }
    }
}

#[test]
fn every_agent_is_known_by_its_tools() {
    let profiles = Profiles::default();
    for agent in every_agent() {
        let tools = profile(&agent).advertised();
        let chosen = profiles.choose(&tools, None, "chat").profile;
        assert_eq!(chosen.map(|profile| &profile.agent), Some(&agent));
    }
    let chosen = |tools: &[&str]| {
        let tools: Vec<AdvertisedTool> = tools
            .iter()
            .map(|name| AdvertisedTool::function(*name, Json::Null))
            .collect();
        let chosen = profiles.choose(&tools, None, "none").profile;
        chosen.map(|profile| profile.agent.clone())
    };
    assert_eq!(
        chosen(&["read", "bash", "edit", "write"]).as_deref(),
        Some("pi")
    );
    assert_eq!(chosen(&["bash"]).as_deref(), Some(SHELL_ONLY));
    assert_eq!(chosen(&["bash", "get_weather"]), None);
    assert_eq!(
        chosen(&["read_files", "run_commands", "apply_patch"]).as_deref(),
        Some("cline")
    );
    assert_eq!(
        chosen(&["terminal", "file_editor"]).as_deref(),
        Some("openhands")
    );
    assert_eq!(chosen(&["exec", "wait"]).as_deref(), Some("codex"));
}

#[test]
fn codex_runs_commands_and_patches() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch";
    let update = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch";
    let whole = json!({"path": "a.txt", "old_string": "one\n", "new_string": "1\n"});
    assert_calls(
        "codex",
        &["exec"],
        &[
            (
                "runCmd",
                json!({"cmd": "ls", "cwd": "d"}),
                "exec_command",
                json!({"cmd": "ls", "workdir": "d"}),
            ),
            (
                "runCmd",
                json!({"cmd": ["echo", "a b"]}),
                "exec_command",
                json!({"cmd": "echo 'a b'"}),
            ),
            (
                "readFile",
                json!({"path": "a b", "offset": 3, "limit": 2}),
                "exec_command",
                json!({"cmd": "tail -n +3 'a b' | head -n 2"}),
            ),
            (
                "writeFile",
                json!({"path": "a.txt", "content": "one\ntwo\n"}),
                "apply_patch",
                json!(patch),
            ),
            (
                "writeFile",
                json!({"path": "d/a.txt", "content": "one"}),
                "exec_command",
                json!({"cmd": "mkdir -p 'd' && printf %s 'one' > 'd/a.txt'"}),
            ),
            ("editFile", whole.clone(), "apply_patch", json!(update)),
            (
                "grep",
                json!({"pattern": "a|b", "path": "src", "-i": true, "glob": "*.rs"}),
                "exec_command",
                json!({"cmd": "grep -rnE -i --include='*.rs' -e 'a|b' 'src'"}),
            ),
        ],
    );
    // A model that gets no tool for patches has commands for them.
    assert_calls(
        "codex",
        &["exec", "apply_patch"],
        &[(
            "writeFile",
            json!({"path": "a.txt", "content": "one\n"}),
            "exec_command",
            json!({"cmd": "cat > 'a.txt' <<'EOF'\none\nEOF"}),
        )],
    );
    let profile = profile("codex");
    let tools = without(&profile, &["exec", "apply_patch"]);
    let (name, args) = native(&profile, &tools, "editFile", whole);
    assert_eq!(name, "exec_command");
    let command = args["cmd"].as_str().expect("a command");
    assert!(command.ends_with("'a.txt' 'one\n' '1\n'"), "{command}");
}

#[test]
fn codex_calls_through_a_program_where_it_has_to() {
    let exec = AdvertisedTool {
        name: "exec".into(),
        description: String::new(),
        input: ToolInput::Text,
        namespace: Some("functions".into()),
    };
    let profile = profile("codex");
    let tools = [exec];
    let call = |tool: &str, args: Json| {
        let call = AbstractCall::new(tool, args);
        native_call(Some(&profile), &call, &tools).expect("it is mapped")
    };
    let mapped = call("runCmd", json!({"cmd": "echo \"a\"", "cwd": "d"}));
    assert_eq!(mapped.namespace.as_deref(), Some("functions"));
    let program = r#"text(await tools.exec_command({"cmd":"echo \"a\"","workdir":"d"}));"#;
    assert_eq!(*mapped.call.args, json!(program));
    let back = abstract_call(Some(&profile), &mapped.call);
    assert_eq!(back.tool, "runCmd");
    assert_eq!(*back.args, json!({"cmd": "echo \"a\"", "cwd": "d"}));

    let mapped = call("writeFile", json!({"path": "a", "content": "b\n"}));
    let program =
        r#"text(await tools.apply_patch("*** Begin Patch\n*** Add File: a\n+b\n*** End Patch"));"#;
    assert_eq!(*mapped.call.args, json!(program));
    let mapped = call("mcp__demo__echo", json!({"message": "hi"}));
    let program = r#"text(await tools.mcp__demo__echo({"message":"hi"}));"#;
    assert_eq!(*mapped.call.args, json!(program));
    assert_eq!(
        abstract_call(Some(&profile), &mapped.call).tool,
        "mcp__demo__echo"
    );
}

#[test]
fn a_tool_in_a_group_is_called_with_its_group() {
    let echo = AdvertisedTool {
        namespace: Some("mcp__demo".into()),
        ..AdvertisedTool::function("echo", json!({}))
    };
    let call = AbstractCall::new("mcp__demo__echo", json!({"message": "hi"}));
    let mapped = native_call(None, &call, std::slice::from_ref(&echo)).expect("it is there");
    assert_eq!(mapped.call.name, "echo");
    assert_eq!(mapped.namespace.as_deref(), Some("mcp__demo"));
    assert!(echo.is_called("echo") && echo.is_called("mcp__demo__echo"));
    assert!(!echo.is_called("mcp__other__echo") && !echo.is_called("an_echo"));
}

#[test]
fn the_others_have_names_of_their_own() {
    let edit = json!({"path": "a", "old_string": "b", "new_string": "c"});
    assert_calls(
        "opencode",
        &["apply_patch"],
        &[
            (
                "editFile",
                edit.clone(),
                "edit",
                json!({"filePath": "a", "oldString": "b", "newString": "c"}),
            ),
            (
                "listDir",
                json!({"path": "d", "recursive": true}),
                "glob",
                json!({"path": "d", "pattern": "**/*"}),
            ),
        ],
    );
    let patch = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch";
    assert_calls(
        "opencode",
        &["edit", "write"],
        &[(
            "writeFile",
            json!({"path": "a", "content": "b\n"}),
            "apply_patch",
            json!({"patchText": patch}),
        )],
    );
    assert_calls(
        "gemini-cli",
        &[],
        &[
            (
                "editFile",
                edit.clone(),
                "replace",
                json!({
                    "file_path": "a", "old_string": "b", "new_string": "c",
                    "instruction": "Replace the text.",
                }),
            ),
            (
                "readFile",
                json!({"path": "a", "offset": 2}),
                "read_file",
                json!({"file_path": "a", "start_line": 2}),
            ),
        ],
    );
    assert_calls(
        "pi",
        &[],
        &[(
            "editFile",
            edit,
            "edit",
            json!({"path": "a", "edits": [{"oldText": "b", "newText": "c"}]}),
        )],
    );
    assert_calls(
        "cline",
        &[],
        &[
            (
                "runCmd",
                json!({"cmd": "ls | wc", "cwd": "a b"}),
                "run_commands",
                json!({"commands": ["cd 'a b' && ls | wc"]}),
            ),
            (
                "runCmd",
                json!({"cmd": ["echo", "a b"]}),
                "run_commands",
                json!({"commands": ["echo 'a b'"]}),
            ),
            (
                "readFile",
                json!({"path": "/a", "offset": 2}),
                "read_files",
                json!({"files": [{"path": "/a", "start_line": 2}]}),
            ),
        ],
    );
    assert_calls(
        "openhands",
        &[],
        &[
            (
                "runCmd",
                json!({"cmd": "ls", "cwd": "d", "description": "List it"}),
                "terminal",
                json!({"command": "(cd 'd' && ls)", "security_risk": "LOW", "summary": "List it"}),
            ),
            (
                "editFile",
                json!({"path": "/a", "old_string": "b", "new_string": "c"}),
                "file_editor",
                json!({
                    "command": "str_replace", "path": "/a", "old_str": "b", "new_str": "c", "security_risk": "LOW",
                }),
            ),
        ],
    );
    assert_calls(
        SHELL_ONLY,
        &[],
        &[(
            "runCmd",
            json!({"cmd": "ls", "cwd": "-d"}),
            "bash",
            json!({"command": "cd './-d' && ls"}),
        )],
    );
}

#[test]
fn paths_are_absolute_where_an_agent_wants_them_so() {
    let call = |path: &str| AbstractCall::new("readFile", json!({"path": path, "offset": 1}));
    let placed = |agent: &str, path: &str| {
        let placed = profile(agent).placed(&call(path), "/work")?;
        placed.args["path"].as_str().map(str::to_owned)
    };
    assert_eq!(placed("qwen-code", "a/b").as_deref(), Some("/work/a/b"));
    assert_eq!(placed("qwen-code", "./a").as_deref(), Some("/work/a"));
    assert_eq!(placed("qwen-code", ".").as_deref(), Some("/work"));
    assert_eq!(placed("qwen-code", "/a"), None);
    assert_eq!(placed("opencode", "a"), None);
    let list = AbstractCall::new("listDir", json!({}));
    let placed = profile("qwen-code").placed(&list, "/work");
    let placed = placed.expect("the folder is meant");
    // Newer versions have no tool for it, whatever version is named.
    let older = profile("qwen-code@0.15.10");
    let newer = profile("qwen-code").advertised();
    let by_shell = ("run_shell_command", json!({"command": "ls -a '/work'"}));
    for (tools, expected) in [
        (
            older.advertised(),
            ("list_directory", json!({"path": "/work"})),
        ),
        (newer, by_shell),
    ] {
        let (name, args) = native(&older, &tools, "listDir", (*placed.args).clone());
        assert_eq!((name.as_str(), args), expected);
    }
}

fn any_call() -> impl Strategy<Value = (&'static str, Json)> {
    let text = || {
        prop_oneof![
            any::<String>(),
            "[a-z '\"\\\\/\n-]{0,12}",
            "([a-z' ]{0,5}\n){1,3}",
        ]
    };
    prop_oneof![
        text().prop_map(|cmd| ("runCmd", json!({"cmd": cmd}))),
        (text(), text()).prop_map(|(cmd, cwd)| ("runCmd", json!({"cmd": cmd, "cwd": cwd}))),
        (text(), 0..99_u8)
            .prop_map(|(path, offset)| ("readFile", json!({"path": path, "offset": offset}))),
        (text(), text())
            .prop_map(|(path, content)| ("writeFile", json!({"path": path, "content": content}))),
        (text(), text())
            .prop_map(|(path, content)| ("appendFile", json!({"path": path, "content": content}))),
        (text(), text(), text(), any::<bool>()).prop_map(|(path, old, new, all)| (
            "editFile",
            json!({"path": path, "old_string": old, "new_string": new, "replace_all": all})
        )),
        (text(), text())
            .prop_map(|(pattern, path)| ("grep", json!({"pattern": pattern, "path": path}))),
        (text(), any::<bool>())
            .prop_map(|(path, all)| ("listDir", json!({"path": path, "recursive": all}))),
        (text(), text(), prop_oneof![Just("dir"), Just("file")]).prop_map(|(path, name, kind)| (
            "find",
            json!({"path": path, "name": name, "type": kind})
        )),
        (text(), text(), any::<bool>()).prop_map(|(expression, path, inplace)| (
            "sed",
            json!({"expression": expression, "path": path, "inplace": inplace})
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_an_agent_was_made_to_call_is_called_again((tool, args) in any_call()) {
        for agent in every_agent() {
            let profile = profile(&agent);
            for left_out in [&[] as &[&str], &["exec"], &["apply_patch"], &["edit", "write"]] {
                let tools = without(&profile, left_out);
                let call = AbstractCall::new(tool, args.clone());
                let Ok(mapped) = native_call(Some(&profile), &call, &tools) else {
                    continue;
                };
                let back = abstract_call(Some(&profile), &mapped.call);
                prop_assert!(profile.has_tool(&back.tool), "{} {}", agent, back.tool);
                let again = native_call(Some(&profile), &back, &tools).expect("it is mapped");
                prop_assert_eq!(&again.call, &mapped.call, "{} by {}", agent, back.tool);
                prop_assert_eq!(again.dropped, [] as [String; 0]);
            }
        }
    }
}
