//! The built-in profiles: every tool of the vocabulary, both ways.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use cuecard_source::SourceFile;
use cuecard_source::value::Json;

fn claude() -> Profiles {
    Profiles::default()
}

fn profile(profiles: &Profiles) -> &Profile {
    let name = AgentName::parse("claude-code").expect("a name");
    profiles.of_agent(&name).expect("it is built in")
}

fn native(tool: &str, args: Json) -> (String, Json, Vec<String>) {
    let profiles = claude();
    let profile = profile(&profiles);
    let tools = profile.advertised();
    let call = AbstractCall::new(tool, args);
    let mapped = native_call(Some(profile), &call, &tools).expect("it is mapped");
    assert_eq!(check_call(&mapped.call, &tools, true), [] as [String; 0]);
    (
        mapped.call.name,
        (*mapped.call.args).clone(),
        mapped.dropped,
    )
}

fn assert_native(tool: &str, args: Json, name: &str, expected: Json) {
    let (found, native_args, dropped) = native(tool, args);
    assert_eq!((found.as_str(), native_args), (name, expected), "{tool}");
    assert_eq!(dropped, [] as [String; 0], "{tool}");
}

#[test]
fn the_built_in_profiles_can_be_read() {
    let agents = [
        "claude-code",
        "cline",
        "codex",
        "gemini-cli",
        "mini-swe-agent",
        "mistral-vibe",
        "opencode",
        "openhands",
        "pi",
        "qwen-code",
    ];
    assert_eq!(claude().agents(), agents);
    assert_eq!(profile(&claude()).title(), "claude-code 2.0.5");
    assert_eq!(profile(&claude()).required_arguments("Read"), ["file_path"]);
}

#[test]
fn each_abstract_tool_has_its_native_call() {
    assert_native(
        "runCmd",
        json!({"cmd": "ls", "timeout": 5, "description": "d", "run_in_background": true}),
        "Bash",
        json!({"command": "ls", "timeout": 5, "description": "d", "run_in_background": true}),
    );
    assert_native(
        "runCmd",
        json!({"cmd": "ls; pwd", "cwd": "it's here"}),
        "Bash",
        json!({"command": "(cd 'it'\\''s here' && {\nls; pwd\n})"}),
    );
    assert_native(
        "readFile",
        json!({"path": "a", "offset": 1, "limit": 2}),
        "Read",
        json!({"file_path": "a", "offset": 1, "limit": 2}),
    );
    assert_native(
        "writeFile",
        json!({"path": "a", "content": "b"}),
        "Write",
        json!({"file_path": "a", "content": "b"}),
    );
    for tool in ["editFile", "replaceInFile"] {
        assert_native(
            tool,
            json!({"path": "a", "old_string": "b", "new_string": "c", "replace_all": true}),
            "Edit",
            json!({"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": true}),
        );
    }
    assert_native(
        "appendFile",
        json!({"path": "a b", "content": "c\n"}),
        "Bash",
        json!({"command": "cat >> 'a b' <<'EOF'\nc\nEOF"}),
    );
    assert_native(
        "grep",
        json!({"pattern": "p", "-A": 1, "-n": true, "head_limit": 3}),
        "Grep",
        json!({"pattern": "p", "-A": 1, "-n": true, "head_limit": 3}),
    );
    for (args, pattern) in [
        (json!({"path": "d"}), "*"),
        (json!({"path": "d", "recursive": false}), "*"),
        (json!({"path": "d", "recursive": true}), "**/*"),
        (json!({"path": "d", "pattern": "*.rs"}), "*.rs"),
        (
            json!({"path": "d", "pattern": "*.rs", "recursive": true}),
            "**/*.rs",
        ),
    ] {
        assert_native(
            "listDir",
            args,
            "Glob",
            json!({"path": "d", "pattern": pattern}),
        );
    }
    assert_native(
        "find",
        json!({"path": "d", "name": "*.rs", "type": "file"}),
        "Glob",
        json!({"path": "d", "pattern": "**/*.rs"}),
    );
    assert_native(
        "find",
        json!({"path": "d", "name": "a b", "type": "dir"}),
        "Bash",
        json!({"command": "find 'd' -type d -name 'a b'"}),
    );
    assert_native(
        "sed",
        json!({"expression": "s/a/b/", "path": "f", "inplace": true}),
        "Bash",
        json!({"command": "sed -i -e 's/a/b/' 'f'"}),
    );
    for (tool, name, args) in [
        (
            "task",
            "Task",
            json!({"description": "d", "prompt": "p", "subagent_type": "s"}),
        ),
        ("webFetch", "WebFetch", json!({"url": "u", "prompt": "p"})),
        ("webSearch", "WebSearch", json!({"query": "q"})),
        ("todoWrite", "TodoWrite", json!({"todos": []})),
        (
            "notebookEdit",
            "NotebookEdit",
            json!({"notebook_path": "n", "new_source": "s"}),
        ),
        ("exitPlanMode", "ExitPlanMode", json!({"plan": "p"})),
        ("slashCommand", "SlashCommand", json!({"command": "c"})),
        ("bashOutput", "BashOutput", json!({"bash_id": "b"})),
        ("killShell", "KillShell", json!({"shell_id": "s"})),
    ] {
        assert_native(tool, args.clone(), name, args);
    }
}

#[test]
fn an_argument_without_a_place_is_dropped_and_told() {
    let (name, args, dropped) = native("readFile", json!({"path": "a", "encoding": "latin1"}));
    assert_eq!((name.as_str(), args), ("Read", json!({"file_path": "a"})));
    assert_eq!(dropped, ["encoding"]);
    // The request knows less than the profile, or more.
    let profiles = claude();
    let schema = json!({"properties": {"command": {"type": "array"}, "shell": {}}});
    let tools = [AdvertisedTool::function("Bash", schema)];
    let call = AbstractCall::new("runCmd", json!({"cmd": "ls", "timeout": 5, "shell": "zsh"}));
    let mapped = native_call(Some(profile(&profiles)), &call, &tools).expect("it is mapped");
    assert_eq!(
        *mapped.call.args,
        json!({"command": ["bash", "-lc", "ls"], "shell": "zsh"})
    );
    assert_eq!(mapped.dropped, ["timeout"]);
}

#[test]
fn what_is_not_mapped_passes_as_it_was_written_or_not_at_all() {
    let profiles = claude();
    let profile = profile(&profiles);
    let own = [AdvertisedTool::function("read_file", json!({}))];
    let mut call = AbstractCall::new("readFile", json!({"path": "a"}));
    let refused = native_call(Some(profile), &call, &own).expect_err("Read is not advertised");
    assert_eq!(refused.native_tool.as_deref(), Some("Read"));
    call.written = Some(WrittenCall {
        tool: "read_file".into(),
        args: json!({"file_path": "a"}).into(),
    });
    let mapped = native_call(Some(profile), &call, &own).expect("as it was written");
    assert_eq!(mapped.call.name, "read_file");
    assert_eq!(*mapped.call.args, json!({"file_path": "a"}));

    let own = AbstractCall::new("lookUp", json!({"word": "a"}));
    let tools = [AdvertisedTool::function("lookUp", json!({}))];
    assert!(native_call(None, &own, &tools).is_ok());
    let refused = native_call(None, &own, &[]).expect_err("nothing is advertised");
    assert!(refused.to_string().contains("lookUp"));

    let mcp = AbstractCall::new("mcp__demo__add", json!({"a": 1}));
    let mapped = native_call(Some(profile), &mcp, &[]).expect("it passes");
    assert_eq!(*mapped.call.args, json!({"a": 1}));

    let incomplete = AbstractCall::new("appendFile", json!({"path": "a"}));
    let refused = native_call(Some(profile), &incomplete, &profile.advertised());
    let refused = refused.expect_err("an argument is missing");
    assert_eq!(refused.missing_argument.as_deref(), Some("content"));
}

#[test]
fn a_tool_that_takes_free_text_gets_the_text() {
    let tools = [AdvertisedTool {
        name: "apply_patch".into(),
        description: String::new(),
        input: ToolInput::Text,
        namespace: None,
    }];
    let call = AbstractCall::new("apply_patch", json!({"patch": "*** Begin Patch"}));
    let mapped = native_call(None, &call, &tools).expect("it is advertised");
    assert_eq!(*mapped.call.args, json!("*** Begin Patch"));
}

#[test]
fn a_profile_is_chosen_by_tools_then_name_then_endpoint() {
    let profiles = claude();
    let chosen = |tools: &[AdvertisedTool], named: Option<&AgentName>, endpoint: &str| {
        let choice = profiles.choose(tools, named, endpoint);
        (
            choice.profile.map(|profile| profile.agent.clone()),
            choice.diagnostic().map(|found| found.code.name()),
        )
    };
    let claude_code = Some("claude-code".to_owned());
    let tools = profile(&profiles).advertised();
    let other = AgentName::parse("of-mine").expect("a name");
    assert_eq!(chosen(&tools, None, "chat"), (claude_code.clone(), None));
    assert_eq!(
        chosen(&tools, Some(&other), "chat"),
        (claude_code.clone(), Some("T-TOOL-02"))
    );
    assert_eq!(chosen(&[], Some(&other), "messages"), (None, None));
    for (endpoint, agent) in [
        ("messages", "claude-code"),
        ("responses", "codex"),
        ("chat", "opencode"),
        ("gemini", "gemini-cli"),
    ] {
        assert_eq!(chosen(&[], None, endpoint), (Some(agent.to_owned()), None));
    }
    let old = AgentName::parse("claude-code@1.0").expect("a name");
    let newer = AgentName::parse("claude-code@2.3").expect("a name");
    assert!(profiles.of_agent(&old).is_none());
    assert!(profiles.of_agent(&newer).is_some());
    assert_eq!(AgentName::parse("claude-code@new"), None);
}

#[test]
fn a_profile_that_can_not_be_read_says_why() {
    let read = |text: &str| {
        let found = read_profile(&SourceFile::new("p.toml", text)).expect_err("it is wrong");
        assert!(found.iter().all(|found| found.code.name() == "X-CFG-02"));
        found.len()
    };
    assert_eq!(read("agent = "), 1);
    assert_eq!(
        read("agent = 'a'\nversions = '>=1'\ndetect = []\ntool = {}\n"),
        1
    );
    let wrong = "agent = 'a'\nversions = '1'\ndetect = []\n[[tools.runCmd]]\nname = 'X'\nshell = { a = '{', b = '{}' }\n";
    assert_eq!(read(wrong), 1);
    let head = "agent = 'a'\nversions = '>=1'\ndetect = []\n";
    assert_eq!(read(&format!("{head}endpoint = 'chats'\n")), 1);
    assert_eq!(read(&format!("{head}[[tools.runCmdd]]\nname = 'X'\n")), 1);
    let placeholders =
        "shell = { a = '{cmdd}', b = '{cmd}[{cwd:in of}]' }\nvalues = { c = ['{path}'] }\n";
    assert_eq!(
        read(&format!(
            "{head}[[tools.runCmd]]\nname = 'X'\n{placeholders}"
        )),
        3
    );
    let through = "tools = {}\nthrough = { name = 'exec', program = '{names}' }\n";
    assert_eq!(read(&format!("{head}{through}")), 1);
    let argument = "[[tools.runCmd]]\nname = 'X'\nargs = { command = 'c' }\nwith = ['cwdd']\n";
    assert_eq!(read(&format!("{head}{argument}")), 2);
}

#[test]
fn the_end_of_a_range_of_versions_counts() {
    let own = |versions: &str| {
        let text = format!("agent = 'own'\nversions = '{versions}'\ndetect = []\ntools = {{}}\n");
        read_profile(&SourceFile::new("p.toml", text)).expect("a profile")
    };
    let profiles = Profiles::with(vec![own(">=1, <2"), own(">=3, <4")]);
    let of = |version: &str| {
        let name = AgentName::parse(&format!("own@{version}")).expect("a name");
        profiles.of_agent(&name).map(Profile::title)
    };
    assert_eq!(of("1.9").as_deref(), Some("own 1"));
    assert_eq!(of("3.0").as_deref(), Some("own 3"));
    assert_eq!((of("2.0"), of("4")), (None, None));
}

#[test]
fn an_agent_with_tools_of_the_same_names_is_no_other_one() {
    let tool = |name: &str, required: &[&str]| {
        let properties: serde_json::Map<String, Json> = required
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})))
            .collect();
        let schema = json!({"type": "object", "properties": properties, "required": required});
        AdvertisedTool::function(name, schema)
    };
    let profiles = Profiles::default();
    let unknown = [
        tool("bash", &["script"]),
        tool("write_file", &["path", "content"]),
        tool("read_file", &["uri"]),
    ];
    for endpoint in ["chat", "gemini", "messages", "responses"] {
        let choice = profiles.choose(&unknown, None, endpoint);
        let agent = choice.profile.map(|profile| profile.agent.as_str());
        assert!(!choice.is_told, "{endpoint}: {agent:?}");
        let call = AbstractCall::new("writeFile", json!({"path": "a", "content": "b"}));
        if let Ok(mapped) = native_call(choice.profile, &call, &unknown) {
            panic!("{endpoint} {agent:?}: {mapped:?}");
        }
    }
}

fn any_args() -> impl Strategy<Value = (&'static str, Json)> {
    let text = || "[a-z '\"\\n\\\\$*]{0,12}";
    prop_oneof![
        (text(), any::<bool>()).prop_map(|(cmd, background)| (
            "runCmd",
            json!({"cmd": cmd, "run_in_background": background})
        )),
        (text(), 0..9_u8)
            .prop_map(|(path, limit)| ("readFile", json!({"path": path, "limit": limit}))),
        (text(), text())
            .prop_map(|(path, content)| ("writeFile", json!({"path": path, "content": content}))),
        (text(), text(), text()).prop_map(|(path, old, new)| (
            "editFile",
            json!({"path": path, "old_string": old, "new_string": new})
        )),
        (text(), text())
            .prop_map(|(pattern, glob)| ("grep", json!({"pattern": pattern, "glob": glob}))),
        (text(), text())
            .prop_map(|(url, prompt)| ("webFetch", json!({"url": url, "prompt": prompt}))),
        text().prop_map(|plan| ("exitPlanMode", json!({"plan": plan}))),
    ]
}

fn any_folded() -> impl Strategy<Value = (&'static str, Json)> {
    prop_oneof![
        (any::<String>(), any::<String>())
            .prop_map(|(cmd, cwd)| ("runCmd", json!({"cmd": cmd, "cwd": cwd}))),
        (any::<String>(), any::<String>())
            .prop_map(|(path, name)| ("find", json!({"path": path, "name": name}))),
        (any::<String>(), any::<String>())
            .prop_map(|(path, pattern)| ("listDir", json!({"path": path, "pattern": pattern}))),
        any::<String>().prop_map(|path| ("listDir", json!({"path": path, "recursive": true}))),
    ]
}

proptest! {
    #[test]
    fn there_and_back_is_the_same((tool, args) in any_args()) {
        let (name, native_args, dropped) = native(tool, args.clone());
        prop_assert_eq!(dropped, [] as [String; 0]);
        let profiles = claude();
        let call = NativeCall { name, args: native_args.into() };
        let back = abstract_call(Some(profile(&profiles)), &call);
        prop_assert_eq!(back.tool, tool);
        prop_assert_eq!(&*back.args, &args);
    }

    #[test]
    fn what_was_folded_is_called_the_same_again((tool, args) in any_folded()) {
        let (name, native_args, _) = native(tool, args);
        let profiles = claude();
        let call = NativeCall { name: name.clone(), args: native_args.clone().into() };
        let back = abstract_call(Some(profile(&profiles)), &call);
        let (again, again_args, _) = native(&back.tool, (*back.args).clone());
        prop_assert_eq!((again, again_args), (name, native_args));
    }

    #[test]
    fn any_native_call_becomes_an_abstract_one(name in "[A-Za-z_]{1,12}", text in any::<String>()) {
        let profiles = claude();
        let call = NativeCall { name, args: json!({"x": text}).into() };
        let back = abstract_call(Some(profile(&profiles)), &call);
        prop_assert!(back.args.is_object());
    }
}

#[test]
fn a_strict_call_fits_the_whole_schema() {
    let advertised = |schema: Json| [AdvertisedTool::function("f", schema)];
    let problems = |schema: Json, args: Json| {
        let call = NativeCall {
            name: "f".into(),
            args: args.into(),
        };
        check_call(&call, &advertised(schema), true)
    };
    let text = json!({"type": "string"});
    let by_reference = json!({
        "type": "object", "properties": {"x": {"$ref": "#/$defs/X"}},
        "$defs": {"X": {"type": "object", "properties": {"a": text}, "required": ["a"]}},
    });
    assert_eq!(
        problems(by_reference.clone(), json!({"x": {"a": 1}})),
        ["`x` of `f`: 1 is not of type \"string\""]
    );
    assert_eq!(problems(by_reference.clone(), json!({"x": {}})).len(), 1);
    assert!(problems(by_reference, json!({"x": {"a": "b"}})).is_empty());
    for schema in [
        json!({"$ref": "#/$defs/X", "$defs": {"X": {"type": "object", "required": ["a"]}}}),
        json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["c"]}]}),
        json!({"type": "object", "properties": {"a": text}, "additionalProperties": text}),
        json!({"type": "object", "properties": {"b": {"type": "string", "format": "date"}}}),
    ] {
        assert_eq!(
            problems(schema.clone(), json!({"b": 1})).len(),
            1,
            "{schema}"
        );
    }
    let required = json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false});
    assert_eq!(
        problems(required, json!({"b": 1})),
        [
            "`f` needs `a`, which the call does not pass",
            "`f` has no argument `b`"
        ]
    );
}
