//! From the agent's vocabulary to the abstract one.

use serde_json::Map;

use super::call::{AbstractCall, NativeCall};
use super::mapping::{as_it_is, native_call};
use super::profile::{Profile, Through, ToolForm};
use cuecard_source::value::Json;

/// The abstract call of which the profile makes `call`: the best one that becomes just this call again, else the best
/// one that says the same. `None` if no entry leads to it.
pub(super) fn abstract_call(profile: &Profile, call: &NativeCall) -> Option<AbstractCall> {
    if let Some(inner) = profile.through.as_ref().and_then(|it| it.invert(call)) {
        // What it calls may be a tool of an MCP server, which has no entry.
        return Some(abstract_call(profile, &inner).unwrap_or_else(|| as_it_is(&inner)));
    }
    let forms = profile
        .tools
        .iter()
        .flat_map(|(tool, forms)| forms.iter().map(move |form| (tool, form)));
    let mut found: Vec<(AbstractCall, usize)> = forms
        .filter_map(|(tool, form)| {
            let (args, score) = form.invert(call, profile.takes_text(&call.name))?;
            Some((AbstractCall::new(tool.as_str(), args), score))
        })
        .collect();
    // Of equally good ones the first.
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    let advertised = profile.advertised();
    let is_same_again = |(back, _): &(AbstractCall, usize)| {
        native_call(Some(profile), back, &advertised)
            .is_ok_and(|again| again.call == *call && again.dropped.is_empty())
    };
    let best = found.iter().position(is_same_again).unwrap_or(0);
    found.into_iter().nth(best).map(|(back, _)| back)
}

impl Through {
    /// The call that the program of `call` makes, if it is a program of ours.
    fn invert(&self, call: &NativeCall) -> Option<NativeCall> {
        if call.name != self.name {
            return None;
        }
        let program = match &*call.args {
            Json::String(program) => program,
            Json::Object(members) => members.values().next()?.as_str()?,
            _ => return None,
        };
        let mut parts = self.program.invert(program)?;
        let args = parts.remove("args")?;
        let name = parts.remove("name")?.as_str()?.to_owned();
        // One program in another is none of ours.
        (name != self.name && (args.is_object() || args.is_string())).then(|| NativeCall {
            name,
            args: args.into(),
        })
    }
}

impl ToolForm {
    /// The abstract arguments of a call that this form may have made, and how much speaks for it.
    fn invert(&self, call: &NativeCall, takes_text: bool) -> Option<(Json, usize)> {
        // A command is recorded as a command, whatever made it.
        if self.name != call.name || !self.shell.is_empty() {
            return None;
        }
        let of_text;
        let native = match &*call.args {
            Json::Object(native) => native,
            Json::String(text) if takes_text => {
                let mut templates = self.texts.keys();
                let (Some(only), None) = (templates.next(), templates.next()) else {
                    return None;
                };
                of_text = Map::from_iter([(only.clone(), Json::String(text.clone()))]);
                &of_text
            }
            _ => return None,
        };
        let unlisted;
        let native = match self.lists.is_empty() {
            true => native,
            false => {
                unlisted = self.unlisted(native)?;
                &unlisted
            }
        };
        let mut args = Map::new();
        let mut score = 1;
        for (name, value) in &self.fixed {
            if native.get(name) != Some(value) {
                return None;
            }
            score += 3;
        }
        for (name, template) in &self.values {
            args.extend(template.invert(native.get(name)?)?);
            score += 2;
        }
        for (name, template) in &self.texts {
            args.extend(template.invert(native.get(name)?.as_str()?)?);
            score += 2;
        }
        let is_made = |name: &String| {
            self.fixed.contains_key(name)
                || self.values.contains_key(name)
                || self.texts.contains_key(name)
        };
        for (name, value) in native {
            if is_made(name) {
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

    /// A call's arguments with the only item of each list in its place. `None` if there are more or fewer.
    fn unlisted(&self, native: &Map<String, Json>) -> Option<Map<String, Json>> {
        let mut native = native.clone();
        for name in &self.lists {
            if let Some(value) = native.get_mut(name) {
                *value = match value.as_array_mut()?.as_mut_slice() {
                    [only] => only.take(),
                    _ => return None,
                };
            }
        }
        Some(native)
    }
}
