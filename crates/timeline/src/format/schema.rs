//! The JSON Schema of timelines in canonical form, made from the tables of keys and events, for editors.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, json};

use super::event_table::EVENTS;
use super::events::WRAPPERS;
use super::loader::Compat;
use super::settings::Program;
use super::{fields, model_fields};
use crate::model::vocabulary::{AbstractTool, TOOLS};
use crate::model::{
    AcpSettings, EventKind, Fault, Repository, RequestMatch, ResponseError, ServerSettings,
    TimelineExpectations,
};
use cuecard_source::decode::schema_of;
use cuecard_source::value::Json;
use cuecard_source::value::fields::{Field, object};

/// The schema (JSON Schema 2020-12) of a timeline before its rules are resolved: `rules` may stand for any part of a
/// mapping, so that nothing which a rule may give is required.
pub fn schema() -> Json {
    let mut document = Map::new();
    document.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    document.insert("$id".into(), "urn:cuecard:schema:timeline:1".into());
    document.insert("title".into(), "Timeline".into());
    document.insert(
        "description".into(),
        "A scripted agent session: messages, tool calls and checks, in order.".into(),
    );
    if let Json::Object(members) = mapping(fields::ROOT) {
        document.extend(members);
    }
    document.insert("$defs".into(), definitions());
    Json::Object(document)
}

/// A mapping with these keys, or with rules that give some of them.
fn mapping(known: &[Field]) -> Json {
    let mut schema = object(known);
    if schema["required"].as_array().is_some_and(Vec::is_empty)
        && let Some(members) = schema.as_object_mut()
    {
        members.shift_remove("required");
    }
    or_rules(schema)
}

/// Adds the definition of a type, and of those that it consists of.
fn derive<T: JsonSchema>(definitions: &mut Map<String, Json>, name: &str) {
    let mut schema = schema_of::<T>();
    let inner = schema
        .as_object_mut()
        .and_then(|it| it.shift_remove("$defs"));
    if let Some(Json::Object(inner)) = inner {
        definitions.extend(inner.into_iter().map(|(name, it)| (name, or_rules(it))));
    }
    definitions.insert(name.to_owned(), or_rules(schema));
}

/// An object that rules may give keys of.
fn or_rules(mut schema: Json) -> Json {
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties.insert("rules".into(), reference("rules"));
    }
    let members = schema.as_object_mut();
    if let Some(required) = members.and_then(|it| it.shift_remove("required")) {
        schema["anyOf"] = json!([{"required": required}, {"required": ["rules"]}]);
    }
    schema
}

fn definitions() -> Json {
    let named: &[(&str, &[Field])] = &[
        ("tool_execution", fields::TOOL_EXECUTION),
        ("tool_execution_event", fields::TOOL_EXECUTION_EVENT),
        ("block", fields::BLOCK),
        ("resource", fields::RESOURCE),
        ("timed_text", fields::TIMED_TEXT),
        ("timed_message", fields::TIMED_MESSAGE),
        ("timed_block", fields::TIMED_BLOCK),
        ("user_input", fields::USER_INPUT),
    ];
    let mut definitions: Map<String, Json> = named
        .iter()
        .map(|(name, known)| ((*name).to_owned(), mapping(known)))
        .collect();
    derive::<Compat>(&mut definitions, "compat");
    derive::<Repository>(&mut definitions, "repo");
    derive::<Program>(&mut definitions, "ah");
    derive::<ServerSettings>(&mut definitions, "server");
    derive::<AcpSettings>(&mut definitions, "acp");
    derive::<TimelineExpectations>(&mut definitions, "expect");
    derive::<Fault>(&mut definitions, "fault");
    derive::<RequestMatch>(&mut definitions, "match");
    derive::<ResponseError>(&mut definitions, "error");
    derive::<EventKind>(&mut definitions, "");
    definitions.shift_remove("");
    permission_option(&mut definitions["PermissionOption"]);
    definitions.insert("event".into(), event());
    definitions.insert("response".into(), response());
    for (name, schema) in [
        ("time", json!({"type": "integer", "minimum": 0})),
        ("meta", json!({"type": "object"})),
        ("timeline", list_or_rules("event")),
        ("plan_entries", list_or_rules("plan_entry")),
        (
            "texts_in_time",
            entries(&["timed_text", "timed_message"], json!({"type": "string"})),
        ),
        (
            "blocks_in_time",
            entries(&["timed_block"], reference("block_or_text")),
        ),
        (
            "user_inputs",
            entries(&["user_input"], reference("content")),
        ),
        (
            "block_or_text",
            json!({"oneOf": [{"type": "string", "minLength": 1}, reference("block")]}),
        ),
        (
            "content",
            json!({"oneOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minItems": 1, "items": reference("block_or_text")},
            ]}),
        ),
        ("rules", rules()),
    ] {
        definitions.insert(name.into(), schema);
    }
    Json::Object(definitions)
}

fn reference(name: &str) -> Json {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// A list of definitions, among which there may be rules.
fn list_or_rules(name: &str) -> Json {
    json!({"type": "array", "items": {"anyOf": [reference(name), rules_item()]}})
}

/// `- rules: […]` as an item of a list.
fn rules_item() -> Json {
    json!({
        "type": "object",
        "properties": {"rules": reference("rules")},
        "required": ["rules"],
        "additionalProperties": false,
    })
}

/// `[ms, value]`, or a mapping with a time.
fn entries(mappings: &[&str], value: Json) -> Json {
    let pair = json!({
        "type": "array",
        "prefixItems": [reference("time"), value],
        "minItems": 2,
        "maxItems": 2,
    });
    let mut forms = vec![pair, rules_item()];
    forms.extend(mappings.iter().map(|name| reference(name)));
    json!({"type": "array", "items": {"anyOf": forms}})
}

/// Options have two spellings, both as good.
fn permission_option(option: &mut Json) {
    option["properties"]["optionId"] = option["properties"]["id"].clone();
    option["properties"]["name"] = option["properties"]["label"].clone();
    option["anyOf"] = json!([{"required": ["kind"]}, {"required": ["rules"]}]);
    option["allOf"] = json!([
        {"anyOf": [{"required": ["id"]}, {"required": ["optionId"]}]},
        {"anyOf": [{"required": ["label"]}, {"required": ["name"]}]},
    ]);
}

/// What the model's structs say of the bodies of events, by their keys.
fn bodies() -> Map<String, Json> {
    let schema = schema_of::<EventKind>();
    let forms = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let bodies = forms.into_iter().filter_map(|mut form| {
        let description = form["description"].take();
        if let Some(marker) = form["const"].as_str() {
            let body = json!({"type": ["boolean", "null", "object"], "description": description});
            return Some((marker.to_owned(), body));
        }
        let members = form["properties"].as_object_mut()?;
        let (key, body) = members.iter_mut().next()?;
        let mut body = or_rules(body.take());
        let shorthand = match key.as_str() {
            "log" => json!("string"),
            "sessionStart" | "userCancelSession" => json!(["boolean", "null"]),
            _ => Json::Null,
        };
        if !shorthand.is_null() {
            body = json!({"anyOf": [{"type": shorthand}, body]});
        }
        body["description"] = description;
        Some((key.clone(), body))
    });
    bodies.collect()
}

/// The keys of the body of an event that the model's struct defines.
pub(super) fn keys_of(event: &str) -> Vec<String> {
    static KEYS: LazyLock<(Json, Map<String, Json>)> =
        LazyLock::new(|| (schema_of::<EventKind>(), bodies()));
    let (schema, bodies) = &*KEYS;
    let body = &bodies[event];
    let body = body["anyOf"].get(1).unwrap_or(body);
    let name = body["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let body = name.map_or(body, |name| &schema["$defs"][name]);
    let keys = body["properties"].as_object().into_iter().flatten();
    let keys = keys.map(|(key, _)| key.clone());
    keys.filter(|key| key != "rules").collect()
}

fn rules() -> Json {
    json!({
        "type": "array",
        "description": "Parts that are included depending on a symbol.",
        "items": {
            "type": "object",
            "properties": {
                "when": {"type": "string", "description": "`$name`, or `$name == value`."},
                "default": {"type": "boolean", "description": "Applies if no condition holds."},
                "config": {"description": "What is inserted if the rule applies."},
            },
            "required": ["config"],
            "oneOf": [{"required": ["when"]}, {"required": ["default"]}],
            "additionalProperties": false,
        },
    })
}

fn response() -> Json {
    let mut element = object(fields::RESPONSE);
    for field in model_fields::RESPONSE_SIBLINGS
        .iter()
        .chain(fields::EVERYWHERE)
    {
        if field.name != "fault" {
            element["properties"][field.name] = json!({});
        }
    }
    element["properties"]["agentToolUse"] = mapping(fields::TOOL_USE);
    element["properties"]["agentToolUse"]["description"] =
        json!("A call that more of the answer follows.");
    element["minProperties"] = json!(1);
    element["additionalProperties"] = json!(false);
    json!({
        "type": ["array", "null"],
        "items": {"anyOf": [element, rules_item()]},
    })
}

/// One event: a word, or a mapping with its name.
fn event() -> Json {
    let mut forms = vec![json!({
        "enum": ["sessionStart", "userCancelSession", "complete", "merge"],
    })];
    let mut bodies = bodies();
    for spec in EVENTS {
        let body = bodies.shift_remove(spec.key).unwrap_or_else(|| {
            let mut body: Json = match spec.body {
                Some(body) => serde_json::from_str(body).unwrap_or(Json::Bool(true)),
                None => mapping(spec.fields),
            };
            body["description"] = spec.meaning.into();
            body
        });
        let siblings = spec
            .siblings
            .iter()
            .filter(|field| field.name != "toolName");
        let siblings: Vec<&Field> = siblings.chain(fields::EVERYWHERE).collect();
        forms.push(one(spec.key, body.clone(), &siblings));
        if spec.key == "baseTimeDelta" {
            forms.push(one("advanceMs", body, &siblings));
        }
    }
    for wrapper in WRAPPERS {
        let siblings: Vec<&Field> = fields::INPUTS_SIBLINGS
            .iter()
            .chain(fields::EVERYWHERE)
            .collect();
        forms.push(one(wrapper, reference("timeline"), &siblings));
    }
    let of_call = fields::TOOL_USE
        .iter()
        .filter(|field| !["toolName", "args"].contains(&field.name));
    let siblings: Vec<&Field> = of_call.chain(fields::EVERYWHERE).collect();
    forms.extend(
        TOOLS
            .iter()
            .map(|tool| one(tool.name, arguments(tool), &siblings)),
    );
    json!({"anyOf": forms})
}

/// A mapping with the key of an event and what may stand beside it.
fn one(key: &str, body: Json, siblings: &[&Field]) -> Json {
    let mut properties = Map::new();
    properties.insert(key.to_owned(), body);
    for field in siblings {
        let schema: Json = serde_json::from_str(field.schema).unwrap_or(Json::Bool(true));
        properties.insert(field.name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": [key],
        "additionalProperties": false,
    })
}

/// The body of a shorthand: the tool's arguments, and keys of the call.
fn arguments(tool: &AbstractTool) -> Json {
    let names = tool.arguments.iter().map(|argument| argument.name);
    let properties: Map<String, Json> = names.map(|name| (name.to_owned(), json!({}))).collect();
    json!({"type": "object", "properties": properties})
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::json::Limits;
    use cuecard_source::yaml;

    fn problems(text: &str) -> Vec<String> {
        let value = yaml::parse(text, &Limits::default())
            .root
            .expect("valid YAML")
            .to_value();
        let validator = jsonschema::validator_for(&schema()).expect("a valid schema");
        validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    #[test]
    fn the_schema_takes_what_the_reader_takes() {
        assert_eq!(problems(include_str!("tests/whole.yaml")), [""; 0]);
        for text in [
            "name: x\nrules: [{default: true, config: {timeline: []}}]",
            "name: x\ntimeline: [sessionStart, complete, {rules: [{when: $a, config: [{log: a}]}]}]",
            "name: x\ntimeline: [{agentActions: [{runCmd: {cmd: ls}, status: ok}]}, {advanceMs: 5}]",
            "name: x\ntimeline: []\nserver: {rules: [{default: true, config: {mode: mock}}]}",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_schema_refuses_what_the_reader_refuses() {
        for text in [
            "timeline: []",
            "name: x\ntimeline: [{statu: running}]",
            "name: x\ntimeline: [{status: runing}]",
            "name: x\ntimeline: [{baseTimeDelta: -1}]",
            "name: x\ntimeline: [{agentEdits: {linesAdded: 1}}]",
            "name: x\ntimeline: []\nserver: {mode: mokc}",
            "name: x\ntimeline: [{rules: [{config: []}]}]",
        ] {
            assert_ne!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let schema = schema();
        let text = schema.to_string();
        let references = regex::Regex::new(r##""#/\$defs/(\w+)""##).expect("a pattern");
        for found in references.captures_iter(&text) {
            assert!(schema["$defs"].get(&found[1]).is_some(), "{}", &found[1]);
        }
    }
}
