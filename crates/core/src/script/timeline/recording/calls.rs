//! A call as a timeline writes it: in the abstract vocabulary, if that is the same call again when it is played.

use std::sync::Arc;

use serde_json::json;

use super::exchange::RecordedCall;
use crate::formats::timeline::{ReadOptions, Symbols, read};
use crate::profiles::{
    AbstractCall, AdvertisedTool, NativeCall, Profile, abstract_call, native_call,
};
use crate::scenario::timeline::EventKind;
use crate::scenario::timeline::vocabulary::TOOLS;
use crate::source::{SourceFile, yaml};
use crate::value::Json;

/// What a call event has beside its arguments.
const OWN_KEYS: &[&str] = &[
    "progress",
    "result",
    "status",
    "toolExecution",
    "toolCallId",
    "rawInput",
    "rawArguments",
    "validate",
    "kind",
    "_meta",
    "meta",
];

/// A call as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, an object.
    pub args: Arc<Json>,
    /// Whether a player makes the same call of it.
    pub is_exact: bool,
}

/// How a call is written that was made with these tools. What no profile maps keeps its own name.
pub(super) fn written(
    call: &RecordedCall,
    profile: Option<&Profile>,
    advertised: &[AdvertisedTool],
) -> WrittenCall {
    let native = NativeCall {
        name: call.name.clone(),
        args: call.args.clone(),
    };
    let own_args = match &*call.args {
        Json::Object(_) => call.args.clone(),
        text => Arc::new(json!({ "input": text })),
    };
    let own = AbstractCall {
        args: own_args,
        ..AbstractCall::new(call.name.as_str(), json!({}))
    };
    let mapped = call
        .args
        .is_object()
        .then(|| abstract_call(profile, &native));
    let candidates = mapped.into_iter().chain([own.clone()]);
    let exact = candidates
        .map(|call| (call.tool, call.args))
        .find(|(tool, args)| {
            reread(tool, args)
                .and_then(|call| native_call(profile, &call, advertised).ok())
                .is_some_and(|again| again.call == native)
        });
    let is_exact = exact.is_some();
    let (tool, args) = exact.unwrap_or((own.tool, own.args));
    WrittenCall {
        tool,
        args,
        is_exact,
    }
}

/// The call that a reader makes of what is written.
fn reread(tool: &str, args: &Arc<Json>) -> Option<AbstractCall> {
    let document = json!({"name": "x", "timeline": [event(tool, args, Vec::new())]});
    let source = SourceFile::new("call.yaml", yaml::write(&document));
    let timeline = read(&source, &Symbols::new(), &ReadOptions::default()).timeline?;
    match &timeline.events.first()?.kind {
        EventKind::ToolUse(call) => Some(AbstractCall::of(call)),
        _ => None,
    }
}

/// The event of a call: a shorthand for a tool of the vocabulary, if nothing in its arguments could be taken for a key
/// of the event. `beside` are the event's other keys.
pub(super) fn event(tool: &str, args: &Json, beside: Vec<(&str, Json)>) -> Json {
    let members = args.as_object();
    let is_short = TOOLS.iter().any(|known| known.name == tool)
        && members.is_some_and(|members| {
            !members.is_empty() && members.keys().all(|key| !OWN_KEYS.contains(&key.as_str()))
        });
    let beside = beside
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    if is_short {
        let mut event = serde_json::Map::new();
        event.insert(tool.to_owned(), args.clone());
        event.extend(beside);
        return Json::Object(event);
    }
    let mut body = serde_json::Map::new();
    body.insert("toolName".to_owned(), tool.into());
    body.insert("args".to_owned(), args.clone());
    body.extend(beside);
    json!({ "agentToolUse": body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::Profiles;

    fn write(name: &str, args: Json, tools: &[&str]) -> WrittenCall {
        let profiles = Profiles::default();
        let tools: Vec<AdvertisedTool> = tools
            .iter()
            .map(|name| AdvertisedTool::function(*name, json!({})))
            .collect();
        let profile = profiles.choose(&tools, None, "messages").profile;
        let call = RecordedCall {
            id: "toolu_1".into(),
            name: name.into(),
            args: args.into(),
            at_ms: 0,
        };
        written(&call, profile, &tools)
    }

    #[test]
    fn calls_of_a_known_agent_become_abstract() {
        let call = write(
            "Bash",
            json!({"command": "make"}),
            &["Bash", "Read", "Edit"],
        );
        assert_eq!(
            (call.tool.as_str(), &*call.args, call.is_exact),
            ("runCmd", &json!({"cmd": "make"}), true)
        );
        let call = write(
            "Read",
            json!({"file_path": "a.rs"}),
            &["Bash", "Read", "Edit"],
        );
        assert_eq!(call.tool, "readFile");
    }

    #[test]
    fn what_no_profile_maps_keeps_its_name() {
        let call = write("get_weather", json!({"city": "Paris"}), &["get_weather"]);
        assert_eq!((call.tool.as_str(), call.is_exact), ("get_weather", true));
        // A key of the agent's tool that the vocabulary has no place for.
        let args = json!({"command": "make", "sandbox": true});
        let call = write("Bash", args.clone(), &["Bash", "Read"]);
        assert!(!call.is_exact || *call.args == args, "{call:?}");
    }

    #[test]
    fn arguments_that_look_like_keys_of_the_event_stay_apart() {
        assert_eq!(
            event(
                "grep",
                &json!({"pattern": "x"}),
                vec![("result", "y".into())]
            ),
            json!({"grep": {"pattern": "x"}, "result": "y"})
        );
        assert_eq!(
            event("grep", &json!({"kind": "x"}), vec![("result", "y".into())]),
            json!({"agentToolUse": {"toolName": "grep", "args": {"kind": "x"}, "result": "y"}})
        );
    }
}
