//! `--dry-run --connect`: do the servers start, do the tools exist, do the parameters fit? No tool is called.

use cuecard_core::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_core::scenario::{Step, Template, TextPart, ToolCallScenario};
use cuecard_core::script::{Bindings, Failure};
use cuecard_core::value::push_pointer;
use serde_json::Value as Json;

use super::mcp_call::fit;
use super::toolbox::Toolbox;
use crate::mcp::ToolInfo;
use crate::runtime::tap::Recorder;

/// A server that answered.
#[derive(Debug, Clone)]
pub struct Connected {
    /// Its name in the scenario.
    pub server: String,
    /// How it was reached: stdio, http, built in.
    pub transport: &'static str,
    /// The protocol version that was agreed on.
    pub protocol: String,
    /// How many tools it lists.
    pub tools: usize,
}

/// Starts the servers of the steps and checks each step against its tool's input schema.
pub async fn connect(
    scenario: &ToolCallScenario,
    bindings: &Bindings,
    steps: impl Iterator<Item = usize>,
    toolbox: &mut Toolbox,
    recorder: &mut Recorder<'_>,
) -> (Vec<Connected>, Vec<Diagnostic>) {
    let mut connected: Vec<Connected> = Vec::new();
    let mut broken: Vec<String> = Vec::new();
    let mut diagnostics = Vec::new();
    for idx in steps {
        let step = &scenario.steps[idx];
        let Some((server, tool)) = step.tool.server_and_tool(|name| toolbox.pool.knows(name))
        else {
            continue;
        };
        if broken.iter().any(|name| name == server) {
            continue;
        }
        match tools_of(server, toolbox, recorder, &mut connected).await {
            Ok(tools) => diagnostics.extend(check(
                scenario, bindings, step, server, tool, &tools, recorder,
            )),
            Err(failure) => {
                broken.push(server.to_owned());
                diagnostics.push(failure.to_diagnostic(step, &scenario.source));
            }
        }
    }
    (connected, diagnostics)
}

async fn tools_of(
    server: &str,
    toolbox: &mut Toolbox,
    recorder: &mut Recorder<'_>,
    connected: &mut Vec<Connected>,
) -> Result<std::sync::Arc<[ToolInfo]>, Failure> {
    let session = toolbox.pool.session(server, recorder).await?;
    let tools = session.tools().await.map_err(|error| {
        Failure::new(
            cuecard_core::script::FailureKind::ServerStart,
            error.to_string(),
        )
    })?;
    if !connected.iter().any(|known| known.server == server) {
        let info = session.info();
        connected.push(Connected {
            server: server.to_owned(),
            transport: info.transport,
            protocol: info.protocol_version.clone(),
            tools: tools.len(),
        });
    }
    Ok(tools)
}

fn check(
    scenario: &ToolCallScenario,
    bindings: &Bindings,
    step: &Step,
    server: &str,
    tool: &str,
    tools: &[ToolInfo],
    recorder: &mut Recorder<'_>,
) -> Vec<Diagnostic> {
    let Some(info) = tools.iter().find(|info| info.name == tool) else {
        let names = tools.iter().map(|info| info.name.as_str());
        let mut diagnostic = Diagnostic::error(
            codes::TOOL_UNKNOWN,
            format!("server `{server}` has no tool `{tool}`"),
        )
        .at(&scenario.source, step.tool_span);
        diagnostic.label =
            did_you_mean(tool, names).map(|name| format!("did you mean `mcp__{server}__{name}`?"));
        return vec![diagnostic];
    };
    let mut unknown = Vec::new();
    let arguments = known_part(&step.params, bindings, &mut String::new(), &mut unknown);
    let Json::Object(arguments) = arguments else {
        return Vec::new();
    };
    let mut schema = info.input_schema.clone();
    forget_page(&mut schema, &arguments);
    let arguments = Json::Object(fit(arguments, &schema, recorder));
    let validator = match jsonschema::validator_for(&schema) {
        Ok(validator) => validator,
        Err(_) => return Vec::new(),
    };
    let mut diagnostics: Vec<Diagnostic> = validator
        .iter_errors(&arguments)
        .filter(|error| {
            let place = error.instance_path().to_string();
            !unknown
                .iter()
                .any(|pointer| place == *pointer || place.starts_with(&format!("{pointer}/")))
        })
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() {
                "the parameters".to_owned()
            } else {
                format!("`{}`", place.trim_start_matches('/').replace('/', "."))
            };
            Diagnostic::error(
                codes::PARAM_TYPE,
                format!(
                    "{place} of {} don't fit the tool's schema: {error}",
                    step.label()
                ),
            )
            .at(&scenario.source, step.params_span)
        })
        .collect();
    if let (Some(properties), Json::Object(given)) = (
        schema.get("properties").and_then(Json::as_object),
        &arguments,
    ) {
        for name in given.keys().filter(|name| !properties.contains_key(*name)) {
            if schema.get("additionalProperties") == Some(&Json::Bool(false)) {
                continue;
            }
            let mut warning = Diagnostic::warning(
                codes::PARAM_UNKNOWN,
                format!("the tool `{tool}` of `{server}` names no parameter `{name}`"),
            )
            .at(&scenario.source, step.params_span);
            warning.label = did_you_mean(name, properties.keys().map(String::as_str))
                .map(|name| format!("did you mean `{name}`?"));
            diagnostics.push(warning);
        }
    }
    diagnostics
}

/// The player adds a page's id where a browser asks for one.
fn forget_page(schema: &mut Json, arguments: &serde_json::Map<String, Json>) {
    if !arguments.contains_key("pageId")
        && let Some(required) = schema.get_mut("required").and_then(Json::as_array_mut)
    {
        required.retain(|name| name != "pageId");
    }
}

/// The template with variables filled in; what only the run can tell is null and listed in `unknown`.
fn known_part(
    template: &Template,
    bindings: &Bindings,
    pointer: &mut String,
    unknown: &mut Vec<String>,
) -> Json {
    match template {
        Template::Literal(json) => json.clone(),
        Template::Reference(placeholder) => match bindings.value(&placeholder.reference) {
            Some(value) => value.clone(),
            None => {
                unknown.push(pointer.clone());
                Json::Null
            }
        },
        Template::Text(parts) => {
            let known: Option<String> = parts
                .iter()
                .map(|part| match part {
                    TextPart::Literal(text) => Some(text.clone()),
                    TextPart::Reference(placeholder) => bindings
                        .value(&placeholder.reference)
                        .map(|value| cuecard_core::value::as_text(value).into_owned()),
                })
                .collect();
            // A text with something unknown in it is a text all the same.
            Json::String(known.unwrap_or_else(|| {
                unknown.push(pointer.clone());
                String::new()
            }))
        }
        Template::Array(items) => {
            let length = pointer.len();
            let mut known = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                push_pointer(pointer, &index.to_string());
                known.push(known_part(item, bindings, pointer, unknown));
                pointer.truncate(length);
            }
            Json::Array(known)
        }
        Template::Object(members) => {
            let length = pointer.len();
            let mut known = serde_json::Map::new();
            for (key, value) in members {
                let Json::String(key) = known_part(key, bindings, pointer, unknown) else {
                    continue;
                };
                push_pointer(pointer, &key);
                let value = known_part(value, bindings, pointer, unknown);
                known.insert(key, value);
                pointer.truncate(length);
            }
            Json::Object(known)
        }
    }
}
