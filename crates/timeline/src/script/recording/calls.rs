//! A call as a timeline writes it: in the abstract vocabulary, if that is the same call again when it is played.

use std::sync::Arc;

use serde_json::json;

use super::super::answer::{Call, CallInput};
use super::super::events::CALL_KEYS;
use crate::format::{Symbols, read};
use crate::model::EventKind;
use crate::model::vocabulary::TOOLS;
use crate::profiles::{
    AbstractCall, AdvertisedTool, NativeCall, Profile, abstract_call, check_call, native_call,
};
use cuecard_source::value::{Json, mask_credentials};
use cuecard_source::{SourceFile, yaml};

/// A call as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, an object.
    pub args: Arc<Json>,
    /// `rawArguments`: the text that came in place of arguments.
    pub raw: Option<String>,
    /// Whether the call is one that the request allows; else it is played with `validate: false`.
    pub is_valid: bool,
    /// Whether a player makes the same call of it.
    pub is_exact: bool,
}

/// How a call is written that was made with these tools. What no profile maps keeps its own name.
pub(super) fn written(
    call: &Call,
    profile: Option<&Profile>,
    advertised: &[AdvertisedTool],
) -> WrittenCall {
    let (args, raw) = match &call.input {
        CallInput::Arguments(args) => (args.clone(), None),
        CallInput::Text(text) => (Arc::new(text.as_str().into()), None),
        CallInput::Raw(text) => (Arc::new(json!({})), Some(text)),
    };
    let native = NativeCall {
        name: call.name.clone(),
        args: args.clone(),
    };
    let own_args = match &*args {
        Json::Object(_) => args.clone(),
        text => Arc::new(json!({ "input": text })),
    };
    let own = AbstractCall {
        args: own_args,
        ..AbstractCall::new(call.name.as_str(), json!({}))
    };
    let is_plain = args.is_object() && raw.is_none();
    let mapped = is_plain.then(|| abstract_call(profile, &native));
    let candidates: Vec<AbstractCall> = mapped.into_iter().chain([own.clone()]).collect();
    let written = |candidate: &AbstractCall, is_valid| WrittenCall {
        tool: candidate.tool.clone(),
        args: candidate.args.clone(),
        raw: raw.cloned(),
        is_valid,
        is_exact: true,
    };
    // Models make calls that nobody can take, too.
    for is_valid in [true, false] {
        for candidate in &candidates {
            let written = written(candidate, is_valid);
            if is_played_as(&written, &native, profile, advertised) {
                return written;
            }
        }
    }
    WrittenCall {
        is_exact: false,
        ..written(&own, true)
    }
}

/// Whether a player makes the call `native` of what is written.
fn is_played_as(
    written: &WrittenCall,
    native: &NativeCall,
    profile: Option<&Profile>,
    advertised: &[AdvertisedTool],
) -> bool {
    let Some(call) = reread(written) else {
        return false;
    };
    let again = match native_call(profile, &call, advertised) {
        Ok(mapped) => mapped.call,
        Err(_) if written.is_valid => return false,
        // As it is written.
        Err(_) => match &call.written {
            Some(as_written) => NativeCall {
                name: as_written.tool.clone(),
                args: as_written.args.clone(),
            },
            None => NativeCall {
                name: call.tool,
                args: call.args,
            },
        },
    };
    if written.raw.is_some() {
        return again.name == native.name;
    }
    let is_allowed = || check_call(native, advertised, false).is_empty();
    again == *native && (!written.is_valid || is_allowed())
}

/// The call that a reader makes of what is written.
fn reread(written: &WrittenCall) -> Option<AbstractCall> {
    let document = json!({"name": "x", "timeline": [event(written, Vec::new())]});
    let source = SourceFile::new("call.yaml", yaml::write(&document));
    let timeline = read(&source, &Symbols::new()).timeline?;
    match &timeline.events.first()?.kind {
        EventKind::ToolUse(call) => Some(AbstractCall::of(call)),
        _ => None,
    }
}

/// The event of a call: a shorthand for a tool of the vocabulary, if nothing in its arguments could be taken for a key
/// of the event. `beside` are the event's other keys.
pub(super) fn event(call: &WrittenCall, beside: Vec<(&str, Json)>) -> Json {
    let (tool, args) = (call.tool.as_str(), shown(call));
    let members = args.as_object();
    let is_short = TOOLS.iter().any(|known| known.name == tool)
        && members.is_some_and(|members| {
            let is_own = |key: &String| key == "meta" || CALL_KEYS.contains(&key.as_str());
            !members.is_empty() && !members.keys().any(is_own)
        });
    if is_short {
        let mut event = serde_json::Map::new();
        event.insert(tool.to_owned(), args);
        event.extend(own_keys(call, beside));
        return Json::Object(event);
    }
    element(call, beside)
}

/// A call as an element of a response.
pub(super) fn element(call: &WrittenCall, beside: Vec<(&str, Json)>) -> Json {
    let mut body = serde_json::Map::new();
    body.insert("toolName".to_owned(), call.tool.as_str().into());
    body.insert("args".to_owned(), shown(call));
    body.extend(own_keys(call, beside));
    json!({ "agentToolUse": body })
}

/// The arguments without what a key such as `password` says is a secret: one of a few letters is taken out there only.
fn shown(call: &WrittenCall) -> Json {
    let mut args = Json::clone(&call.args);
    mask_credentials(&mut args);
    args
}

/// What an event has beside its arguments, with `beside`.
fn own_keys(call: &WrittenCall, beside: Vec<(&str, Json)>) -> impl Iterator<Item = (String, Json)> {
    let invalid = (!call.is_valid).then(|| ("validate", false.into()));
    let raw = call.raw.as_deref().map(|raw| ("rawArguments", raw.into()));
    let own: Vec<(&str, Json)> = invalid.into_iter().chain(raw).chain(beside).collect();
    own.into_iter().map(|(key, value)| (key.to_owned(), value))
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
        let call = Call {
            id: "toolu_1".into(),
            name: name.into(),
            namespace: None,
            input: CallInput::Arguments(args.into()),
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
        let grep = |args: Json| WrittenCall {
            tool: "grep".to_owned(),
            args: args.into(),
            raw: None,
            is_valid: true,
            is_exact: true,
        };
        let beside = || vec![("result", "y".into())];
        assert_eq!(
            event(&grep(json!({"pattern": "x"})), beside()),
            json!({"grep": {"pattern": "x"}, "result": "y"})
        );
        assert_eq!(
            event(&grep(json!({"kind": "x"})), beside()),
            json!({"agentToolUse": {"toolName": "grep", "args": {"kind": "x"}, "result": "y"}})
        );
    }

    #[test]
    fn calls_that_no_tool_takes_stay_as_they_came() {
        let profiles = Profiles::default();
        let schema = json!({"type": "object", "required": ["city"]});
        let tools = [AdvertisedTool::function("get_weather", schema)];
        let profile = profiles.choose(&tools, None, "chat").profile;
        let write = |name: &str, args: Json, raw: Option<&str>| {
            let call = Call {
                id: "call_1".into(),
                name: name.into(),
                namespace: None,
                input: match raw {
                    Some(raw) => CallInput::Raw(raw.into()),
                    None => CallInput::Arguments(args.into()),
                },
                at_ms: 0,
            };
            let call = written(&call, profile, &tools);
            assert!(call.is_exact, "{call:?}");
            event(&call, Vec::new())["agentToolUse"].clone()
        };
        assert_eq!(
            write("get_weather", json!({"city": "Oslo"}), None),
            json!({"toolName": "get_weather", "args": {"city": "Oslo"}})
        );
        assert_eq!(
            write("get_weather", json!({}), None),
            json!({"toolName": "get_weather", "args": {}, "validate": false})
        );
        assert_eq!(
            write("no_such_tool", json!({"a": 1}), None),
            json!({"toolName": "no_such_tool", "args": {"a": 1}, "validate": false})
        );
        assert_eq!(
            write("get_weather", json!({}), Some("{\"city\": \"Pa")),
            json!({"toolName": "get_weather", "args": {}, "rawArguments": "{\"city\": \"Pa"})
        );
    }
}
