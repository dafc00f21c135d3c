//! From the abstract vocabulary to the agent's, and back.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, json};

use super::advertised::{AdvertisedTool, ToolInput};
use super::call::{AbstractCall, NativeCall};
use super::conversion::converted;
use super::profile::{Profile, ToolForm, is_mcp};
use crate::value::Json;

/// A call in the agent's vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapped {
    /// The call.
    pub call: NativeCall,
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
                    "the call of `{tool}` lacks the argument `{argument}`"
                )
            }
            (None, Some(native)) => write!(
                formatter,
                "the call of `{tool}` is `{native}` for this agent, which the request does not advertise"
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
    if is_mcp(&call.tool) {
        return Ok(unchanged(&call.tool, &call.args, advertised));
    }
    let find = |name: &str| advertised.iter().find(|tool| tool.name == name);
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
    if find(written_tool).is_some() {
        return Ok(unchanged(written_tool, written_args, advertised));
    }
    Err(Unmapped {
        tool: call.tool.clone(),
        native_tool: forms().next().map(|form| form.name.clone()),
        missing_argument: None,
    })
}

/// A call that was recorded as an abstract one. A tool that no entry maps to stays as it is.
pub fn abstract_call(profile: Option<&Profile>, call: &NativeCall) -> AbstractCall {
    let entries = profile.into_iter().flat_map(|profile| &profile.tools);
    let best = entries
        .flat_map(|(tool, forms)| forms.iter().map(move |form| (tool, form)))
        .filter_map(|(tool, form)| {
            let (args, score) = form.invert(call)?;
            Some((tool, args, score))
        })
        // Of equally good ones the first.
        .reduce(|best, next| if next.2 > best.2 { next } else { best });
    match best {
        Some((tool, args, _)) => AbstractCall::new(tool.as_str(), args),
        None => AbstractCall {
            args: call.args.clone(),
            ..AbstractCall::new(call.name.as_str(), json!({}))
        },
    }
}

fn unchanged(name: &str, args: &Arc<Json>, advertised: &[AdvertisedTool]) -> Mapped {
    let takes_text = advertised
        .iter()
        .any(|tool| tool.name == name && tool.input == ToolInput::Text);
    let args = match takes_text {
        true => Arc::new(Json::String(as_free_text(args))),
        false => args.clone(),
    };
    Mapped {
        call: NativeCall {
            name: name.to_owned(),
            args,
        },
        dropped: Vec::new(),
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

impl ToolForm {
    fn is_for(&self, args: &Json) -> bool {
        self.when.iter().all(|(name, value)| args[name] == *value)
            && self.with.iter().all(|name| !args[name].is_null())
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
            native.insert(name.to_owned(), converted(value, property, from == "cmd"));
        };
        for (name, template) in self.shell.iter().chain(&self.texts) {
            let text = template.render(&call.args).map_err(|missing| Unmapped {
                tool: call.tool.clone(),
                native_tool: Some(self.name.clone()),
                missing_argument: Some(missing),
            })?;
            let from = match self.shell.contains_key(name) {
                true => "cmd",
                false => "",
            };
            put(name, from, Json::String(text));
        }
        for (name, value) in &self.fixed {
            put(name, "", value.clone());
        }
        for (name, value) in call.args.as_object().into_iter().flatten() {
            match self.args.get(name) {
                Some(native_name) if knows(native_name) => put(native_name, name, value.clone()),
                Some(_) => dropped.push(name.clone()),
                None if self.uses(name) => {}
                // The request knows more than the profile does.
                None if properties.is_some_and(|known| known.contains_key(name)) => {
                    put(name, name, value.clone());
                }
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
                name: self.name.clone(),
                args: Arc::new(args),
            },
            dropped,
        })
    }

    /// Whether the form says what an argument says, though it doesn't pass it.
    fn uses(&self, argument: &str) -> bool {
        self.when.contains_key(argument)
            || self.ignores.iter().any(|ignored| ignored == argument)
            || self
                .shell
                .values()
                .chain(self.texts.values())
                .any(|template| template.arguments().contains(&argument))
    }

    /// The abstract arguments of a call that this form may have made, and how much speaks for it.
    fn invert(&self, call: &NativeCall) -> Option<(Json, usize)> {
        if self.name != call.name || !self.shell.is_empty() {
            return None;
        }
        let native = call.args.as_object()?;
        let mut args = Map::new();
        let mut score = 1;
        for (name, value) in &self.fixed {
            if native.get(name) != Some(value) {
                return None;
            }
            score += 3;
        }
        for (name, template) in &self.texts {
            let (argument, value) = template.invert(native.get(name)?.as_str()?)?;
            args.insert(argument.to_owned(), Json::String(value));
            score += 2;
        }
        for (name, value) in native {
            if self.fixed.contains_key(name) || self.texts.contains_key(name) {
                continue;
            }
            let argument = self
                .args
                .iter()
                .find(|(_, native_name)| *native_name == name);
            let argument = argument.map_or(name, |(argument, _)| argument);
            args.insert(argument.clone(), value.clone());
        }
        for (argument, value) in self.when.iter().chain(&self.assume) {
            args.entry(argument.clone())
                .or_insert_with(|| value.clone());
        }
        let args = Json::Object(args);
        self.is_for(&args).then_some((args, score))
    }
}
