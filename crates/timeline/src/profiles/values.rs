//! Values in which texts stand for the arguments of a call, as profiles have them.

use serde::Deserialize;
use serde_json::Map;

use cuecard_source::value::Json;

/// A value in which a text `{x}`, alone, stands for the argument x.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ValueTemplate(Json);

impl ValueTemplate {
    /// The arguments it uses.
    pub(super) fn arguments(&self) -> Vec<&str> {
        let mut found = Vec::new();
        collect(&self.0, &mut found);
        found
    }

    /// The value for `args`; the name of an argument that is missing, if one is.
    pub(super) fn render(&self, args: &Json) -> Result<Json, String> {
        render(&self.0, args)
    }

    /// The arguments and their values, if `value` is what this template makes of them.
    pub(super) fn invert(&self, value: &Json) -> Option<Map<String, Json>> {
        let mut found = Map::new();
        invert(&self.0, value, &mut found).then_some(found)
    }
}

/// The argument that a text stands for.
fn argument(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

fn collect<'t>(template: &'t Json, found: &mut Vec<&'t str>) {
    match template {
        Json::String(text) => found.extend(argument(text)),
        Json::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Json::Object(members) => members.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

fn render(template: &Json, args: &Json) -> Result<Json, String> {
    Ok(match template {
        Json::String(text) => match argument(text) {
            None => template.clone(),
            Some(name) if args[name].is_null() => return Err(name.to_owned()),
            Some(name) => args[name].clone(),
        },
        Json::Array(items) => items
            .iter()
            .map(|item| render(item, args))
            .collect::<Result<_, _>>()?,
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| Ok((name.clone(), render(value, args)?)))
            .collect::<Result<Map<_, _>, String>>()
            .map(Json::Object)?,
        _ => template.clone(),
    })
}

fn invert(template: &Json, value: &Json, found: &mut Map<String, Json>) -> bool {
    if let Json::String(text) = template
        && let Some(name) = argument(text)
    {
        found.insert(name.to_owned(), value.clone());
        return true;
    }
    match (template, value) {
        (Json::Array(items), Json::Array(values)) => {
            items.len() == values.len()
                && items
                    .iter()
                    .zip(values)
                    .all(|(item, value)| invert(item, value, found))
        }
        (Json::Object(members), Json::Object(values)) => {
            members.len() == values.len()
                && members.iter().all(|(name, member)| {
                    values
                        .get(name)
                        .is_some_and(|value| invert(member, value, found))
                })
        }
        (template, value) => template == value,
    }
}
