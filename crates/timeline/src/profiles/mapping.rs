//! From the abstract vocabulary to the agent's, and back.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, json};

use super::advertised::{AdvertisedTool, ToolInput};
use super::backwards;
use super::call::{AbstractCall, NativeCall};
use super::conversion::converted;
use super::profile::{Profile, Through, ToolForm, is_mcp};
use super::shell;
use cuecard_source::value::Json;

/// A call in the agent's vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapped {
    /// The call.
    pub call: NativeCall,
    /// The group of the tool, which the call names too.
    pub namespace: Option<String>,
    /// Arguments that have no place in it (T-TOOL-03).
    pub dropped: Vec<String>,
}

/// A call that the agent has no tool for (T-TOOL-04).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmapped {
    /// The tool that was called.
    pub tool: String,
    /// The agent's tool that the profile has for it, if it has one.
    pub native_tool: Option<String>,
    /// The argument without which the call can't be made, if that is why.
    pub missing_argument: Option<String>,
}

impl fmt::Display for Unmapped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match (&self.missing_argument, &self.native_tool) {
            (Some(argument), _) => {
                write!(
                    formatter,
                    "the call of `{tool}` is missing the argument `{argument}`"
                )
            }
            (None, Some(native)) => write!(
                formatter,
                "the call of `{tool}` maps to `{native}` for this agent, which the request does not advertise"
            ),
            (None, None) => write!(
                formatter,
                "the tool `{tool}` is neither in the profile nor advertised by the request"
            ),
        }
    }
}

/// The call as the agent takes it: through the profile, if the request advertises what it says; else as it was
/// written, if the request advertises that name. Tools of MCP servers keep their names.
///
/// # Errors
///
/// The agent has no tool for it.
pub fn native_call(
    profile: Option<&Profile>,
    call: &AbstractCall,
    advertised: &[AdvertisedTool],
) -> Result<Mapped, Unmapped> {
    let find = |name: &str| advertised.iter().find(|tool| tool.is_called(name));
    let through = profile.and_then(|profile| {
        let through = profile.through.as_ref()?;
        Some((profile, through, find(&through.name)?))
    });
    if is_mcp(&call.tool) {
        return Ok(match (find(&call.tool), through) {
            (None, Some((profile, through, tool))) => {
                let inner = unchanged(&call.tool, &call.args, None);
                wrapped(profile, through, tool, inner)
            }
            (tool, _) => unchanged(&call.tool, &call.args, tool),
        });
    }
    let forms = profile.and_then(|profile| profile.tools.get(&call.tool));
    let forms = || {
        forms
            .into_iter()
            .flatten()
            .filter(|form| form.is_for(&call.args))
    };
    if let Some((form, tool)) = forms().find_map(|form| Some((form, find(&form.name)?))) {
        return form.apply(call, tool);
    }
    let (written_tool, written_args) = match &call.written {
        Some(written) => (&written.tool, &written.args),
        None => (&call.tool, &call.args),
    };
    if let Some(tool) = find(written_tool) {
        return Ok(unchanged(written_tool, written_args, Some(tool)));
    }
    if let Some((profile, through, tool)) = through {
        let known = |name: &str| Some(&profile.schemas.get(name)?.advertised);
        if let Some((form, inner)) = forms().find_map(|form| Some((form, known(&form.name)?))) {
            return Ok(wrapped(profile, through, tool, form.apply(call, inner)?));
        }
        if let Some(inner) = known(written_tool) {
            let inner = unchanged(written_tool, written_args, Some(inner));
            return Ok(wrapped(profile, through, tool, inner));
        }
    }
    Err(Unmapped {
        tool: call.tool.clone(),
        native_tool: forms().next().map(|form| form.name.clone()),
        missing_argument: None,
    })
}

/// A call that was recorded as an abstract one. A tool that no entry maps to stays as it is.
pub fn abstract_call(profile: Option<&Profile>, call: &NativeCall) -> AbstractCall {
    let found = profile.and_then(|profile| backwards::abstract_call(profile, call));
    found.unwrap_or_else(|| as_it_is(call))
}

/// The call in its own words. A free text is the one argument.
pub(super) fn as_it_is(call: &NativeCall) -> AbstractCall {
    let args = match &*call.args {
        Json::String(text) => Arc::new(json!({ "input": text })),
        _ => call.args.clone(),
    };
    AbstractCall {
        args,
        ..AbstractCall::new(call.name.as_str(), Json::Null)
    }
}

fn unchanged(name: &str, args: &Arc<Json>, tool: Option<&AdvertisedTool>) -> Mapped {
    let takes_text = tool.is_some_and(|tool| tool.input == ToolInput::Text);
    let args = match takes_text {
        true => Arc::new(Json::String(as_free_text(args))),
        false => args.clone(),
    };
    Mapped {
        call: NativeCall {
            name: tool.map_or(name, |tool| &tool.name).to_owned(),
            args,
        },
        namespace: tool.and_then(|tool| tool.namespace.clone()),
        dropped: Vec::new(),
    }
}

/// A call that a program makes, which `tool` is called with.
fn wrapped(profile: &Profile, through: &Through, tool: &AdvertisedTool, inner: Mapped) -> Mapped {
    let program = through.program(&inner.call);
    let args = match tool.input {
        ToolInput::Text => Json::String(program),
        ToolInput::Schema(_) | ToolInput::Opaque => {
            let known = profile.required_arguments(&tool.name);
            json!({ (*known.first().unwrap_or(&"input")): program })
        }
    };
    Mapped {
        call: NativeCall {
            name: tool.name.clone(),
            args: args.into(),
        },
        namespace: tool.namespace.clone(),
        dropped: inner.dropped,
    }
}

/// What a tool gets that takes free text: the one text there is, else all arguments as JSON.
fn as_free_text(args: &Json) -> String {
    match args
        .as_object()
        .map(|members| members.values().collect::<Vec<_>>())
        .as_deref()
    {
        Some([Json::String(text)]) => text.clone(),
        _ => args.to_string(),
    }
}

impl Through {
    /// The program that makes `call`.
    fn program(&self, call: &NativeCall) -> String {
        let parts = json!({"name": call.name, "args": *call.args});
        // Both of its arguments are there.
        self.program.render(&parts).unwrap_or_default()
    }
}

impl ToolForm {
    pub(super) fn is_for(&self, args: &Json) -> bool {
        self.when.iter().all(|(name, value)| args[name] == *value)
            && self.with.iter().all(|name| !args[name].is_null())
            && self.whole_lines.iter().all(|name| {
                args[name]
                    .as_str()
                    .is_some_and(|text| text.ends_with('\n') && !text.contains('\r'))
            })
            && self.one_line.iter().all(|name| {
                args[name].as_str().is_some_and(|text| {
                    !text.is_empty() && text.trim() == text && !text.contains(char::is_control)
                })
            })
    }

    fn apply(&self, call: &AbstractCall, tool: &AdvertisedTool) -> Result<Mapped, Unmapped> {
        let properties = tool
            .schema()
            .and_then(|schema| schema["properties"].as_object());
        let knows = |name: &str| properties.is_none_or(|known| known.contains_key(name));
        let mut native = Map::new();
        let mut dropped = Vec::new();
        let mut put = |name: &str, from: &str, value: Json| {
            let property = properties.and_then(|known| known.get(name));
            let value = match self.lists.iter().any(|list| list == name) {
                // Words of a command are one command.
                true => json!([converted(
                    value,
                    Some(&json!({"type": "string"})),
                    from == "cmd"
                )]),
                false => converted(value, property, from == "cmd"),
            };
            native.insert(name.to_owned(), value);
        };
        let lacks = |missing| Unmapped {
            tool: call.tool.clone(),
            native_tool: Some(self.name.clone()),
            missing_argument: Some(missing),
        };
        let as_line = as_command_line(&call.args);
        for (name, template) in self.shell.iter().chain(&self.texts) {
            let text = template.render(as_line.as_ref().unwrap_or(&call.args));
            let text = text.map_err(lacks)?;
            let from = match self.shell.contains_key(name) {
                true => "cmd",
                false => "",
            };
            put(name, from, Json::String(text));
        }
        // Some versions of an agent want it, and others don't know it.
        for (name, value) in self.fixed.iter().filter(|(name, _)| knows(name)) {
            put(name, "", value.clone());
        }
        for (name, template) in &self.values {
            put(name, "", template.render(&call.args).map_err(lacks)?);
        }
        for (name, value) in call.args.as_object().into_iter().flatten() {
            match self.args.get(name) {
                Some(_) if self.assume.get(name) == Some(value) => {}
                Some(native_name) if knows(native_name) => put(native_name, name, value.clone()),
                Some(_) => dropped.push(name.clone()),
                None if self.uses(name) => {}
                // The request knows more than the profile does.
                None if properties.is_some_and(|known| known.contains_key(name)) => {
                    put(name, name, value.clone());
                }
                None if self.ignores.contains(name) => {}
                None => dropped.push(name.clone()),
            }
        }
        let native = Json::Object(native);
        let args = match tool.input {
            ToolInput::Text => Json::String(as_free_text(&native)),
            ToolInput::Schema(_) | ToolInput::Opaque => native,
        };
        Ok(Mapped {
            call: NativeCall {
                name: tool.name.clone(),
                args: Arc::new(args),
            },
            namespace: tool.namespace.clone(),
            dropped,
        })
    }

    /// Whether the form says what an argument says, though it doesn't pass it.
    fn uses(&self, argument: &str) -> bool {
        self.when.contains_key(argument)
            || self
                .shell
                .values()
                .chain(self.texts.values())
                .any(|template| template.arguments().contains(&argument))
            || self
                .values
                .values()
                .any(|template| template.arguments().contains(&argument))
    }
}

/// The arguments with the command as a line, if it is given as words.
fn as_command_line(args: &Json) -> Option<Json> {
    let words = args["cmd"].as_array()?;
    let words: Vec<&str> = words.iter().map(Json::as_str).collect::<Option<_>>()?;
    let mut args = args.clone();
    args["cmd"] = Json::String(shell::join(words));
    Some(args)
}
