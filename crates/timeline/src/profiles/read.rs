//! Reads profiles, and checks what serde can't.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, json};

use super::advertised::{AdvertisedTool, ToolInput};
use super::profile::{KnownTool, Profile, Through, ToolForm};
use super::template::Template;
use super::values::ValueTemplate;
use super::version::VersionRange;
use crate::model::vocabulary::{AbstractTool, TOOLS};
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The APIs that an agent may be the usual one of.
const ENDPOINTS: &[&str] = &["messages", "responses", "chat", "gemini"];

/// Reads a profile (TOML).
///
/// # Errors
///
/// X-CFG-02: it is no TOML, a key is missing or unknown, or a template can't be read.
pub fn read_profile(source: &SourceFile) -> Result<Profile, Vec<Diagnostic>> {
    let profile: Profile = toml::from_str(source.text()).map_err(|error| {
        let range = error.span().unwrap_or_default();
        let message = format!("this profile can't be read: {}", error.message());
        vec![problem(source, message).at(source, Span::new(range.start, range.end))]
    })?;
    let mut problems = Vec::new();
    for (tool, forms) in &profile.tools {
        if forms.iter().any(|form| form.name.is_empty()) {
            let message = format!("an entry of `tools.{}` has no `name`", cut(tool, 60));
            problems.push(problem(source, message));
        }
        match AbstractTool::named(tool) {
            Some(known) => problems.extend(unknown_arguments(source, known, forms)),
            // An application may have tools of its own. What is nearly one of timelines is a typing error.
            None => {
                let names = TOOLS.iter().map(|tool| tool.name);
                problems.extend(did_you_mean(tool, names).map(|name| {
                    let message = format!("`tools.{}` is not a tool of timelines", cut(tool, 60));
                    problem(source, message).with_help(format!("did you mean `{name}`?"))
                }));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(profile),
        false => Err(problems),
    }
}

/// The arguments that forms of a tool name, and the tool doesn't have.
fn unknown_arguments(
    source: &SourceFile,
    tool: &AbstractTool,
    forms: &[ToolForm],
) -> Vec<Diagnostic> {
    let names = forms.iter().flat_map(|form| {
        let mapped = form
            .args
            .keys()
            .chain(form.when.keys())
            .chain(form.assume.keys());
        let listed = [&form.with, &form.whole_lines, &form.one_line, &form.ignores];
        let named = mapped.chain(listed.into_iter().flatten());
        let templates = form.texts.values().chain(form.shell.values());
        let placeholders = templates.flat_map(Template::arguments);
        let placeholders =
            placeholders.chain(form.values.values().flat_map(ValueTemplate::arguments));
        named.map(String::as_str).chain(placeholders)
    });
    let unknown = names.filter(|name| !tool.has_argument(name)).map(|name| {
        let message = format!(
            "`{}` of `tools.{}` is not one of its arguments",
            cut(name, 60),
            tool.name
        );
        let known = tool.arguments();
        let found = problem(source, message);
        match did_you_mean(name, known.clone()) {
            Some(name) => found.with_help(format!("did you mean `{name}`?")),
            None => found.with_help(format!("it has {}", known.collect::<Vec<_>>().join(", "))),
        }
    });
    unknown.collect()
}

fn problem(source: &SourceFile, message: String) -> Diagnostic {
    Diagnostic::error(codes::CONFIG_INVALID, message).at(source, Span::default())
}

impl<'de> Deserialize<'de> for VersionRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "`{}` is not a range of versions: write `>=2.0.5` or `>=2.0.5, <3`",
                cut(&text, 60)
            ))
        })
    }
}

pub(super) fn endpoint<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    match ENDPOINTS.contains(&name.as_str()) {
        true => Ok(Some(name)),
        false => {
            let (name, known) = (cut(&name, 60), ENDPOINTS.join(", "));
            let message = format!("`{name}` is not an API: write one of {known}");
            Err(D::Error::custom(message))
        }
    }
}

/// Texts in which `{x}` is the argument as it stands.
pub(super) fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Template>, D::Error> {
    templates(deserializer, Template::plain)
}

/// Shell commands, in which `{x}` is one quoted word.
pub(super) fn commands<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Template>, D::Error> {
    templates(deserializer, Template::shell)
}

fn templates<'de, D: Deserializer<'de>>(
    deserializer: D,
    read: fn(&str) -> Result<Template, String>,
) -> Result<BTreeMap<String, Template>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(deserializer)?.into_iter();
    let templates = texts.map(|(name, text)| match read(&text) {
        Ok(template) => Ok((name, template)),
        Err(why) => Err(D::Error::custom(format!("`{name}`: {why}"))),
    });
    templates.collect()
}

impl Through {
    /// Reads its program.
    pub(super) fn program_of<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Template, D::Error> {
        let text = String::deserialize(deserializer)?;
        let program = Template::plain(&text).map_err(D::Error::custom)?;
        let arguments = program.arguments();
        match arguments.iter().all(|name| ["name", "args"].contains(name)) {
            true => Ok(program),
            false => Err(D::Error::custom(
                "it has another placeholder than `{name}` and `{args}`",
            )),
        }
    }
}

/// A tool as requests advertise it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaFile {
    /// It takes free text instead of arguments.
    #[serde(default)]
    text: bool,
    namespace: Option<String>,
    #[serde(default)]
    required: Vec<String>,
    /// The type of each argument, or its schema.
    #[serde(default)]
    properties: BTreeMap<String, Json>,
    /// Arguments that the agent adds to its calls in a history.
    #[serde(default)]
    fills_in: Vec<String>,
}

pub(super) fn schemas<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, KnownTool>, D::Error> {
    let files = BTreeMap::<String, SchemaFile>::deserialize(deserializer)?.into_iter();
    let tools = files.map(|(name, file)| {
        let properties = file.properties.into_iter();
        let properties = properties.map(|(name, schema)| match schema {
            Json::String(_) | Json::Array(_) => (name, json!({ "type": schema })),
            schema => (name, schema),
        });
        let properties: Map<String, Json> = properties.collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": file.required,
        });
        let advertised = AdvertisedTool {
            name: name.clone(),
            description: String::new(),
            input: match file.text {
                true => ToolInput::Text,
                false => ToolInput::Schema(schema),
            },
            namespace: file.namespace,
        };
        let fills_in = file.fills_in;
        (
            name,
            KnownTool {
                advertised,
                fills_in,
            },
        )
    });
    Ok(tools.collect())
}
