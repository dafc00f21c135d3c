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
        assert_eq!(profile.advertised(), tools);
        // A list may be one of words, or of commands.
        if own.tools["runCmd"]
            .iter()
            .any(|form| !form.lists.is_empty())
        {
            assert!(text.contains("# [[tools.runCmd]]"), "{text}");
            continue;
        }
        assert!(profile.has_tool("runCmd"), "{text}");
        let call = AbstractCall::new("runCmd", json!({"cmd": "ls"}));
        let called = [&profile, own].map(|profile| {
            let called = native_call(Some(profile), &call, &tools);
            called.expect("it is mapped").call
        });
        let [found, expected] = &called;
        assert_eq!(found.name, expected.name);
        for (name, value) in found.args.as_object().into_iter().flatten() {
            assert_eq!(*value, expected.args[name], "{text}");
        }
        let call = AbstractCall::new("runCmd", json!({"cmd": "ls", "cwd": "sub"}));
        let called = native_call(Some(&profile), &call, &tools).expect("mapped");
        assert!(!called.dropped.iter().any(|it| it == "cwd"), "{text}");
        assert!(called.call.args.to_string().contains("sub"), "{text}");
    }
}

/// What a tool with a known name lacks is said, and nothing is made up for it.
#[test]
fn what_a_tool_with_a_known_name_lacks_is_missing() {
    let command = |name: &str, schema: Json| AdvertisedTool::function(name, schema);
    let needs_why = json!({
        "properties": {"command": {"type": "string"}, "why": {"type": "string"}}, "required": ["command", "why"],
    });
    let list = json!({"properties": {"commands": {"type": "array", "items": {"type": "string"}}}});
    let unknown = json!({"properties": {"command": {"type": "string"}}, "required": ["command"]});
    for (tool, expected) in [
        (command("terminal", needs_why), "it needs `why`"),
        (command("run_commands", list), "is a list"),
        (command("do_it", unknown), "has the name of a timeline tool"),
        (
            command("play", json!({})),
            "has the name of a timeline tool",
        ),
    ] {
        let (captured, profile) = read("mine", &[tool]);
        assert!(!profile.has_tool("runCmd"), "{}", captured.text);
        assert_eq!(captured.missing.len(), 1, "{:?}", captured.missing);
        assert!(
            captured.missing[0].contains(expected),
            "{:?}",
            captured.missing
        );
    }
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
