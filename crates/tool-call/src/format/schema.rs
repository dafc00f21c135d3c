//! The JSON Schema of tool-call scenarios, made from the tables of keys and tools, for editors.

use serde_json::{Map, json};

use super::fields::{self, Field};
use crate::model::{BuiltinTool, ParamKind, ParamSpec};
use cuecard_source::value::Json;
use cuecard_source::value::fields::{object, schema_document};

/// The schema (JSON Schema 2020-12) of a tool-call scenario of version 2.1.
pub fn schema() -> Json {
    let tools: Vec<Json> = BuiltinTool::ALL.iter().map(|&tool| builtin(tool)).collect();
    let mut step = nullable(fields::STEP);
    step["allOf"] = Json::Array(tools);
    let mut root = nullable(fields::ROOT);
    root["$defs"] = json!({
        "metadata": nullable(fields::METADATA),
        "answers": nullable(fields::ANSWERS),
        "root": nullable(fields::ROOT_FOLDER),
        "sampling": nullable(fields::SAMPLING),
        "sampling_match": nullable(fields::SAMPLING_MATCH),
        "reply": nullable(fields::REPLY),
        "elicitation": nullable(fields::ELICITATION),
        "match": nullable(fields::ELICITATION_MATCH),
        "step": step,
        "retry": nullable(fields::RETRY),
        "output": nullable(fields::OUTPUT),
        "expect": nullable(fields::EXPECT),
        "target": nullable(fields::TARGET),
        "place": nullable(fields::PLACE),
        "elements": nullable(fields::ELEMENTS),
        "count": nullable(fields::COUNT),
    });
    root["properties"]["environment"] = nullable(fields::ENVIRONMENT);
    root["properties"]["environment"]["type"] = json!(["object", "null"]);
    schema_document(
        "tool-call",
        "2.1",
        "Tool-call scenario",
        "A sequence of tool calls that is replayed without a model (version 2.1).",
        root,
    )
}

/// The schema of an object with these keys, of which null for one that may be absent is its absence.
fn nullable(fields: &[Field]) -> Json {
    let mut schema = object(fields);
    for field in fields.iter().filter(|field| !field.required) {
        let property = &mut schema["properties"][field.name];
        if let Some(kinds) = property.get_mut("type") {
            let mut all = kinds.as_array().cloned().unwrap_or(vec![kinds.clone()]);
            all.push("null".into());
            all.dedup();
            *kinds = all.into();
        } else if let Some(words) = property.get_mut("enum").and_then(Json::as_array_mut) {
            words.push(Json::Null);
        } else if let Some(any) = property.get_mut("anyOf").and_then(Json::as_array_mut) {
            any.push(json!({"type": "null"}));
        } else if let Some(members) = property.as_object_mut()
            && let Some(reference) = members.remove("$ref")
        {
            members.insert(
                "anyOf".to_owned(),
                json!([{"$ref": reference}, {"type": "null"}]),
            );
        }
    }
    schema
}

fn builtin(tool: BuiltinTool) -> Json {
    let properties: Map<String, Json> = tool
        .params()
        .iter()
        .map(|param| (param.name.to_owned(), param_schema(param)))
        .collect();
    let required: Vec<&str> = tool
        .params()
        .iter()
        .filter(|param| param.required)
        .map(|param| param.name)
        .collect();
    json!({
        "if": {"properties": {"tool": {"const": tool.name()}}, "required": ["tool"]},
        "then": {"properties": {"params": {"description": tool.meaning(), "properties": properties, "required": required}}},
    })
}

fn param_schema(param: &ParamSpec) -> Json {
    let mut schema = match param.kind {
        ParamKind::Any => json!({}),
        ParamKind::Environment => {
            json!({"type": "object", "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}})
        }
        ParamKind::Text => json!({"type": ["string", "number", "boolean"]}),
        ParamKind::Content => json!({"not": {"type": "null"}}),
        ParamKind::Number | ParamKind::Count => json!({"type": ["number", "string"]}),
        ParamKind::Flag => json!({"type": ["boolean", "string"]}),
        ParamKind::OneOf(words) => {
            json!({"anyOf": [{"enum": words}, {"type": "string", "pattern": "\\{\\{"}]})
        }
    };
    schema["description"] = param.meaning.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::schema;
    use serde_json::json;

    #[test]
    fn the_schema_is_valid_and_tells_good_from_bad() {
        let schema = schema();
        let validator = jsonschema::validator_for(&schema).expect("a valid schema");
        let good = json!({
            "version": "2.1", "metadata": {"name": "x"},
            "steps": [{"step": 1, "id": "a", "tool": "sandy__log", "params": {"message": "hi"}}]
        });
        assert!(validator.is_valid(&good));
        for (pointer, bad) in [
            ("/version", json!("9")),
            ("/metadata", json!({})),
            ("/steps", json!([])),
            ("/steps/0/step", json!("1")),
            ("/steps/0/on_error", json!("explode")),
            ("/steps/0/params", json!({})),
        ] {
            let mut document = good.clone();
            match document.pointer_mut(pointer) {
                Some(place) => *place = bad,
                None => document["steps"][0]["on_error"] = bad,
            }
            assert!(!validator.is_valid(&document), "{pointer}");
        }
    }
}
