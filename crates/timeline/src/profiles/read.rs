//! Profiles as they stand in files.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, json};

use super::advertised::{AdvertisedTool, ToolInput};
use super::profile::{Profile, Through, ToolForm};
use super::template::Template;
use super::values::ValueTemplate;
use super::version::VersionRange;
use crate::model::vocabulary::{AbstractTool, TOOLS};
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The APIs that an agent may be the usual one of.
const ENDPOINTS: &[&str] = &["messages", "responses", "chat", "gemini"];

/// The placeholders of the program through which tools are called.
const OF_PROGRAMS: &[&str] = &["name", "args"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    agent: String,
    versions: String,
    endpoint: Option<String>,
    detect: Vec<String>,
    tools: BTreeMap<String, Vec<FormFile>>,
    #[serde(default)]
    schemas: BTreeMap<String, SchemaFile>,
    through: Option<ThroughFile>,
    #[serde(default)]
    absolute_paths: bool,
}

/// A tool as requests advertise it.
#[derive(Deserialize)]
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThroughFile {
    name: String,
    program: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormFile {
    name: String,
    #[serde(default)]
    when: BTreeMap<String, Json>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    whole_lines: Vec<String>,
    #[serde(default)]
    one_line: Vec<String>,
    #[serde(default)]
    args: BTreeMap<String, String>,
    #[serde(default)]
    fixed: BTreeMap<String, Json>,
    #[serde(default)]
    values: BTreeMap<String, Json>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
    #[serde(default)]
    shell: BTreeMap<String, String>,
    #[serde(default)]
    lists: Vec<String>,
    #[serde(default)]
    ignores: Vec<String>,
    #[serde(default)]
    assume: BTreeMap<String, Json>,
}

/// Reads a profile (TOML).
///
/// # Errors
///
/// X-CFG-02: it is no TOML, a key is missing or unknown, or a template can't be read.
pub fn read_profile(source: &SourceFile) -> Result<Profile, Vec<Diagnostic>> {
    let file: ProfileFile = toml::from_str(source.text()).map_err(|error| {
        let range = error.span().unwrap_or_default();
        let message = format!("this profile can't be read: {}", error.message());
        vec![problem(source, message).at(source, Span::new(range.start, range.end))]
    })?;
    let mut problems = Vec::new();
    let versions = VersionRange::parse(&file.versions);
    if versions.is_none() {
        let message = format!(
            "`versions` is `{}`, which is not a valid version range",
            file.versions
        );
        problems.push(problem(source, message).with_help("write `>=2.0.5` or `>=2.0.5, <3`"));
    }
    if let Some(endpoint) = file
        .endpoint
        .as_deref()
        .filter(|name| !ENDPOINTS.contains(name))
    {
        let message = format!("`endpoint` is `{}`, which is not an API", cut(endpoint, 60));
        let help = format!("write one of {}", ENDPOINTS.join(", "));
        problems.push(problem(source, message).with_help(help));
    }
    let mut tools = BTreeMap::new();
    for (tool, forms) in file.tools {
        let forms: Vec<ToolForm> = forms
            .into_iter()
            .map(|form| read_form(source, &tool, form, &mut problems))
            .collect();
        match AbstractTool::named(&tool) {
            Some(known) => problems.extend(unknown_arguments(source, known, &forms)),
            // An application may have tools of its own. What is nearly one of timelines is a typing error.
            None => {
                let names = TOOLS.iter().map(|tool| tool.name);
                problems.extend(did_you_mean(&tool, names).map(|name| {
                    let message = format!("`tools.{}` is not a tool of timelines", cut(&tool, 60));
                    problem(source, message).with_help(format!("did you mean `{name}`?"))
                }));
            }
        }
        tools.insert(tool, forms);
    }
    let fills_in = file.schemas.iter();
    let fills_in = fills_in.map(|(name, schema)| (name.clone(), schema.fills_in.clone()));
    let fills_in = fills_in.collect();
    let schemas = file
        .schemas
        .into_iter()
        .map(|(name, schema)| (name.clone(), read_schema(name, schema)))
        .collect();
    let through = file
        .through
        .and_then(|through| match Template::plain(&through.program) {
            Ok(program)
                if program
                    .arguments()
                    .iter()
                    .any(|name| !OF_PROGRAMS.contains(name)) =>
            {
                let message =
                    "`program` of `through` has another placeholder than `{name}` and `{args}`";
                problems.push(problem(source, message.to_owned()));
                None
            }
            Ok(program) => Some(Through {
                name: through.name,
                program,
            }),
            Err(why) => {
                let message = format!("`program` of `through` can't be read: {why}");
                problems.push(problem(source, message));
                None
            }
        });
    match versions {
        Some(versions) if problems.is_empty() => Ok(Profile {
            agent: file.agent,
            versions,
            endpoint: file.endpoint,
            detect: file.detect,
            tools,
            schemas,
            fills_in,
            through,
            wants_absolute_paths: file.absolute_paths,
        }),
        _ => Err(problems),
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
        let known = tool.arguments.iter().map(|argument| argument.name);
        let found = problem(source, message);
        match did_you_mean(name, known.clone()) {
            Some(name) => found.with_help(format!("did you mean `{name}`?")),
            None => found.with_help(format!("it has {}", known.collect::<Vec<_>>().join(", "))),
        }
    });
    unknown.collect()
}

fn read_schema(name: String, file: SchemaFile) -> AdvertisedTool {
    let input = match file.text {
        true => ToolInput::Text,
        false => {
            let properties: Map<String, Json> = file
                .properties
                .into_iter()
                .map(|(name, schema)| match schema {
                    Json::String(_) | Json::Array(_) => (name, json!({ "type": schema })),
                    schema => (name, schema),
                })
                .collect();
            ToolInput::Schema(json!({
                "type": "object", "properties": properties, "required": file.required,
            }))
        }
    };
    AdvertisedTool {
        name,
        description: String::new(),
        input,
        namespace: file.namespace,
    }
}

fn read_form(
    source: &SourceFile,
    tool: &str,
    form: FormFile,
    problems: &mut Vec<Diagnostic>,
) -> ToolForm {
    let mut read_all = |texts: BTreeMap<String, String>,
                        read: fn(&str) -> Result<Template, String>| {
        let mut templates = BTreeMap::new();
        for (argument, text) in texts {
            match read(&text) {
                Ok(template) => {
                    templates.insert(argument, template);
                }
                Err(why) => {
                    let message = format!("`{argument}` of the tool `{tool}` can't be read: {why}");
                    problems.push(problem(source, message));
                }
            }
        }
        templates
    };
    ToolForm {
        texts: read_all(form.texts, Template::plain),
        shell: read_all(form.shell, Template::shell),
        name: form.name,
        when: form.when,
        with: form.with,
        whole_lines: form.whole_lines,
        one_line: form.one_line,
        args: form.args,
        fixed: form.fixed,
        values: form
            .values
            .into_iter()
            .map(|(name, value)| (name, ValueTemplate::new(value)))
            .collect(),
        lists: form.lists,
        ignores: form.ignores,
        assume: form.assume,
    }
}

fn problem(source: &SourceFile, message: String) -> Diagnostic {
    Diagnostic::error(codes::CONFIG_INVALID, message).at(source, Span::default())
}
