//! The JSON Schema of timelines in canonical form, made from the structs that read them, for editors.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, json};

use super::normalise::WRAPPERS;
use super::response::{ElementForm, Settings};
use crate::model::vocabulary::{AbstractTool, TOOLS};
use crate::model::{EventKind, Fault, Timeline, ToolUse, UserTarget};
use crate::script::events::{ANSWER_KEYS, CALL_KEYS, EVENTS};
use cuecard_source::decode::schema_of;
use cuecard_source::value::Json;

/// The schema (JSON Schema 2020-12) of a timeline before its rules are resolved: `rules` may stand for any part of a
/// mapping, so that nothing which a rule may give is required.
pub fn schema() -> Json {
    let mut definitions = Map::new();
    derive::<Timeline>(&mut definitions, "timeline");
    let root = definitions.shift_remove("timeline").unwrap_or_default();
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:cuecard:schema:timeline:1",
        "title": "Timeline",
        "description": "A scripted agent session: messages, tool calls and checks, in order.",
    });
    if let (Json::Object(document), Json::Object(members)) = (&mut document, root) {
        document.extend(members);
    }
    document["properties"]["timeline"]["$ref"] = json!("#/$defs/timeline");
    derive::<EventKind>(&mut definitions, "");
    derive::<Fault>(&mut definitions, "fault");
    derive::<ElementForm>(&mut definitions, "element");
    definitions.shift_remove("");
    permission_option(&mut definitions["PermissionOption"]);
    definitions["element"]["minProperties"] = json!(1);
    definitions["element"]["additionalProperties"] = json!(false);
    definitions.insert("event".into(), event());
    let timeline = json!({"type": "array", "items": {"anyOf": [reference("event"), rules_item()]}});
    definitions.insert("timeline".into(), timeline);
    definitions.insert("meta".into(), json!({"type": "object"}));
    definitions.insert("rules".into(), rules());
    document["$defs"] = Json::Object(definitions);
    with_rules(&mut document);
    document
}

/// Lets rules stand in each list of entries in time.
fn with_rules(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(with_rules),
        Json::Object(members) => {
            for (key, value) in members {
                if let ("anyOf", Json::Array(forms)) = (key.as_str(), &mut *value)
                    && forms
                        .first()
                        .is_some_and(|form| form.get("prefixItems").is_some())
                {
                    forms.push(rules_item());
                }
                with_rules(value);
            }
        }
        _ => {}
    }
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

fn reference(name: &str) -> Json {
    json!({"$ref": format!("#/$defs/{name}")})
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
    let response = json!({
        "type": ["array", "null"],
        "items": {"anyOf": [reference("element"), rules_item()]},
        "description": "One answer of the model.",
    });
    let response = std::iter::once(("llmResponse".to_owned(), response));
    response.chain(bodies).collect()
}

/// The keys of the body of an event that the model's struct defines.
pub(super) fn keys_of(event: &str) -> Vec<String> {
    static KEYS: LazyLock<(Json, Map<String, Json>)> =
        LazyLock::new(|| (schema_of::<EventKind>(), bodies()));
    let (schema, bodies) = &*KEYS;
    if event == "llmResponse" {
        return super::normalise::ELEMENTS.map(str::to_owned).to_vec();
    }
    let body = &bodies[event];
    // Of what may also be a word, or of entries of a list.
    let forms = body["anyOf"]
        .as_array()
        .or(body["items"]["anyOf"].as_array());
    let body = forms.and_then(|forms| forms.get(1)).unwrap_or(body);
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

/// One event: a word, or a mapping with its name.
fn event() -> Json {
    let mut forms = vec![json!({
        "enum": ["sessionStart", "userCancelSession", "complete", "merge"],
    })];
    let bodies = bodies();
    let settings = schema_of::<Settings>();
    let call = schema_of::<ToolUse>();
    let target = schema_of::<UserTarget>();
    for spec in EVENTS {
        let body = &bodies[spec.key];
        let beside = spec.beside.iter().map(|key| {
            let schema = match *key {
                "target" => &target,
                key if ANSWER_KEYS.contains(&key) => &settings["properties"][key],
                "at" => &json!({"type": ["integer", "null"], "minimum": 0}),
                "expectedResponse" => &json!({"type": ["object", "null"]}),
                key => &call["properties"][key],
            };
            (*key, schema.clone())
        });
        let beside: Vec<(&str, Json)> = beside.collect();
        forms.push(one(spec.key, body, &beside));
        if spec.key == "baseTimeDelta" {
            forms.push(one("advanceMs", body, &beside));
        }
    }
    for wrapper in WRAPPERS {
        let beside = [("target", target.clone())];
        forms.push(one(wrapper, &reference("timeline"), &beside));
    }
    let of_call = CALL_KEYS.iter().filter(|key| **key != "_meta");
    let of_call = of_call.map(|key| (*key, call["properties"][key].clone()));
    let of_call: Vec<(&str, Json)> = of_call.collect();
    forms.extend(
        TOOLS
            .iter()
            .map(|tool| one(tool.name, &arguments(tool), &of_call)),
    );
    json!({"anyOf": forms})
}

/// A mapping with the key of an event and what may stand beside it.
fn one(key: &str, body: &Json, beside: &[(&str, Json)]) -> Json {
    let mut properties = Map::new();
    properties.insert(key.to_owned(), body.clone());
    for (key, schema) in beside {
        properties.insert((*key).to_owned(), schema.clone());
    }
    properties.insert("_meta".into(), reference("meta"));
    properties.insert("fault".into(), reference("fault"));
    json!({
        "type": "object",
        "properties": properties,
        "required": [key],
        "additionalProperties": false,
    })
}

/// The body of a shorthand: the tool's arguments, and keys of the call.
fn arguments(tool: &AbstractTool) -> Json {
    let names = tool.arguments().map(|name| (name.to_owned(), json!({})));
    let properties: Map<String, Json> = names.collect();
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
