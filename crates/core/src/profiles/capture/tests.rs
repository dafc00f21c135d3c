//! What is captured can be read, and says what the agent's own profile says.

use serde_json::json;

use super::*;
use crate::profiles::{AbstractCall, AgentName, Profile, native_call, read_profile};
use crate::source::SourceFile;
use crate::value::Json;

fn captured(agent: &str, tools: &[AdvertisedTool]) -> (String, Profile) {
    let text = capture(&Capture {
        agent,
        version: "1.2.3",
        endpoint: Some("chat"),
        tools,
    });
    match read_profile(&SourceFile::new("p.toml", text.as_str())) {
        Ok(profile) => (text, profile),
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
    }
}

#[test]
fn what_is_not_certain_is_a_comment() {
    let gemini = Profiles::default();
    let name = AgentName::parse("gemini-cli").expect("a name");
    let gemini = gemini.of_agent(&name).expect("built in");
    let (text, profile) = captured("mine", &gemini.advertised());
    // It needs an argument that nothing stands for.
    assert!(!profile.has_tool("editFile"), "{text}");
    assert!(
        text.contains("# [[tools.editFile]]\n# name = \"replace\"\n"),
        "{text}"
    );
    assert!(text.contains("#   it needs `instruction`"), "{text}");
    assert!(text.contains("# In no entry: \"activate_skill\""), "{text}");

    let schema = json!({"properties": {"cmd": {"type": "string"}}, "required": ["cmd"]});
    let (text, profile) = captured("mine", &[AdvertisedTool::function("do_it", schema)]);
    assert!(!profile.has_tool("runCmd"), "{text}");
    assert!(text.contains("only its arguments are alike"), "{text}");
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
