//! What is captured can be read, and says what the agent's own profile says.

use serde_json::json;

use super::*;
use crate::profiles::{AbstractCall, AgentName, Profile, native_call, read_profile};
use cuecard_source::SourceFile;
use cuecard_source::value::Json;

fn captured(agent: &str, tools: &[AdvertisedTool]) -> (String, Profile) {
    let (captured, profile) = read(agent, tools);
    (captured.text, profile)
}

fn read(agent: &str, tools: &[AdvertisedTool]) -> (Captured, Profile) {
    let captured = capture(&Capture {
        agent,
        version: "1.2.3",
        endpoint: Some("chat"),
        tools,
    });
    let text = &captured.text;
    match read_profile(&SourceFile::new("p.toml", text.as_str())) {
        Ok(profile) => (captured, profile),
        Err(problems) => panic!("{problems:?}\n{text}"),
    }
}

#[test]
fn the_tools_of_every_agent_can_be_captured() {
    let profiles = Profiles::default();
    for own in profiles.iter() {
        let tools = own.advertised();
        let (text, profile) = captured(&own.agent, &tools);
        assert_eq!(profile.title(), format!("{} 1.2.3", own.agent));
        assert!(profile.has_tool("runCmd"), "{text}");
        assert_eq!(profile.advertised(), tools);
        let call = AbstractCall::new("runCmd", json!({"cmd": "ls"}));
        assert_eq!(
            native_call(Some(&profile), &call, &tools),
            native_call(Some(own), &call, &tools)
        );
        let call = AbstractCall::new("runCmd", json!({"cmd": "ls", "cwd": "sub"}));
        let called = native_call(Some(&profile), &call, &tools).expect("mapped");
        assert!(!called.dropped.iter().any(|it| it == "cwd"), "{text}");
        assert!(called.call.args.to_string().contains("sub"), "{text}");
    }
}

/// Agents that nobody has shipped a profile for: their words and arguments, and what is missing.
#[test]
fn lists_and_what_is_always_needed_become_entries_or_are_missing() {
    let profiles = Profiles::default();
    let tool = |agent: &str, name: &str| {
        let name_of_agent = AgentName::parse(agent).expect("a name");
        let profile = profiles.of_agent(&name_of_agent).expect("built in");
        let tools = profile.advertised().into_iter();
        let mut tools = tools.filter(|tool| tool.name == name);
        tools.next().expect("it is advertised")
    };
    let command = AbstractCall::new("runCmd", json!({"cmd": "make && ls 'a b'"}));
    for (agent, name, expected) in [
        (
            "cline",
            "run_commands",
            json!({"commands": ["make && ls 'a b'"]}),
        ),
        (
            "openhands",
            "terminal",
            json!({"command": "make && ls 'a b'", "security_risk": "LOW"}),
        ),
    ] {
        let mut tools = [tool(agent, name)];
        // All that is advertised of OpenHands' risks was needed once.
        if let ToolInput::Schema(schema) = &mut tools[0].input
            && schema["properties"]["security_risk"].is_object()
        {
            schema["required"] = json!(["command", "security_risk"]);
        }
        let (captured, profile) = read("mine", &tools);
        assert_eq!(captured.missing, [] as [&str; 0], "{}", captured.text);
        let called = native_call(Some(&profile), &command, &tools).expect("mapped");
        assert_eq!(*called.call.args, expected, "{}", captured.text);
        let again = crate::profiles::abstract_call(Some(&profile), &called.call);
        assert_eq!(again.tool, "runCmd");
        assert_eq!(again.args, command.args);
    }
    let schema = json!({
        "properties": {"command": {"type": "string"}, "why": {"type": "string"}}, "required": ["command", "why"],
    });
    let (captured, profile) = read("mine", &[AdvertisedTool::function("terminal", schema)]);
    assert!(!profile.has_tool("runCmd"));
    assert_eq!(captured.missing.len(), 1);
    assert!(
        captured.missing[0].contains("it needs `why`"),
        "{:?}",
        captured.missing
    );
    let other = [AdvertisedTool::function("play", json!({}))];
    assert_eq!(read("mine", &other).0.missing.len(), 1);
}

#[test]
fn what_is_not_certain_is_a_comment() {
    let gemini = Profiles::default();
    let name = AgentName::parse("gemini-cli").expect("a name");
    let gemini = gemini.of_agent(&name).expect("built in");
    let mut tools = gemini.advertised();
    for tool in &mut tools {
        if let ToolInput::Schema(schema) = &mut tool.input {
            // What nobody has said before.
            *schema = serde_json::from_str(&schema.to_string().replace("instruction", "reason"))
                .expect("JSON");
        }
    }
    let (text, profile) = captured("mine", &tools);
    // It needs an argument that nothing stands for.
    assert!(!profile.has_tool("editFile"), "{text}");
    assert!(
        text.contains("# [[tools.editFile]]\n# name = \"replace\"\n"),
        "{text}"
    );
    assert!(text.contains("#   it needs `reason`"), "{text}");
    assert!(text.contains("# In no entry: \"activate_skill\""), "{text}");
}

/// A tool that needs these arguments.
fn tool(name: &str, required: &[&str]) -> AdvertisedTool {
    let texts = required
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})));
    let properties: serde_json::Map<String, Json> = texts.collect();
    AdvertisedTool::function(
        name,
        json!({"properties": properties, "required": required}),
    )
}

#[test]
fn the_only_tool_that_takes_the_arguments_is_called() {
    let (do_it, put) = (tool("do_it", &["cmd"]), tool("put", &["path", "content"]));
    let other = tool("look_up", &["question"]);
    let tools = [do_it.clone(), put.clone(), other];
    let (captured, profile) = read("mine", &tools);
    let derived = [
        ("runCmd", "do_it".to_owned()),
        ("writeFile", "put".to_owned()),
    ];
    assert_eq!(captured.derived, derived);
    assert_eq!(captured.missing, [] as [&str; 0], "{}", captured.text);
    let call = AbstractCall::new("runCmd", json!({"cmd": "ls", "cwd": "a b"}));
    let called = native_call(Some(&profile), &call, &tools).expect("mapped");
    assert_eq!(called.call.name, "do_it");
    assert_eq!(*called.call.args, json!({"cmd": "cd 'a b' && ls"}));
    let (again, names) = derive(&tools).expect("a profile");
    assert_eq!(names, derived);
    assert_eq!(native_call(Some(&again), &call, &tools), Ok(called));
    for (more, is_left) in [
        // Two that take a command.
        (tool("do_other", &["command"]), false),
        // It needs what nothing stands for.
        (tool("do_other", &["command", "why"]), true),
        // A name that is known goes before.
        (tool("bash", &["command"]), false),
    ] {
        let name = more.name.clone();
        let (_, names) = derive(&[do_it.clone(), more, put.clone()]).expect("a profile");
        let is_derived = names.contains(&derived[0]);
        assert_eq!(is_derived, is_left, "{name}");
    }
    // One that takes some texts only is none for any command.
    for only in [
        json!({"type": "string", "enum": ["start", "stop"]}),
        json!({"const": "reboot"}),
        json!({"type": "string", "pattern": "^git "}),
        json!({"type": "integer"}),
        json!({"$ref": "#/$defs/word"}),
        json!({"anyOf": [{"type": "string"}]}),
    ] {
        let schema = json!({"properties": {"command": only}, "required": ["command"]});
        let tools = [AdvertisedTool::function("reboot", schema)];
        let (captured, profile) = read("mine", &tools);
        assert!(!profile.has_tool("runCmd"), "{}", captured.text);
    }
    // A pattern alone says little of what is done with what it finds.
    let (captured, profile) = read("mine", &[tool("delete_matching", &["pattern"])]);
    assert!(!profile.has_tool("grep"), "{}", captured.text);
    // One that could be either is neither.
    let both = tool("patch", &[]);
    let both = AdvertisedTool {
        input: ToolInput::Schema(json!({"properties": {
            "path": {}, "content": {}, "old_string": {}, "new_string": {},
        }})),
        ..both
    };
    let (captured, profile) = read("mine", &[both]);
    assert!(!profile.has_tool("writeFile") && !profile.has_tool("editFile"));
    assert_eq!(captured.missing.len(), 2, "{:?}", captured.missing);
}

#[test]
fn hostile_names_stay_text() {
    let name = "a\"]\n[x]\u{7f}\u{1}";
    let schema = json!({
        "required": [name, 3],
        "properties": {name: {"type": "string", "enum": [name, null, 1.5]}, "b": true, "c": {"items": {"type": ["string", "null"]}}},
    });
    let tools = [
        AdvertisedTool::function(name, schema.clone()),
        AdvertisedTool::function(name, Json::Null),
        AdvertisedTool::function("", schema),
    ];
    let (text, profile) = captured(name, &tools);
    assert_eq!(profile.agent, name);
    assert_eq!(profile.advertised().len(), 2, "{text}");
    assert_eq!(captured("none", &[]).1.advertised().len(), 0);
}
