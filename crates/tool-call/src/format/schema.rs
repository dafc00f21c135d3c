//! The JSON Schema of tool-call scenarios, made from the tables of keys and tools, for editors.

use serde_json::{Map, json};

use super::read::ScenarioFile;
use crate::model::{BuiltinTool, ParamKind, ParamSpec};
use cuecard_source::decode::schema_document;
use cuecard_source::decode::schema_of;
use cuecard_source::value::Json;

/// The schema (JSON Schema 2020-12) of a tool-call scenario of version 2.1.
pub fn schema() -> Json {
    let mut schema = schema_of::<ScenarioFile>();
    let tools: Vec<Json> = BuiltinTool::ALL.iter().map(|&tool| builtin(tool)).collect();
    schema["$defs"]["Step"]["allOf"] = Json::Array(tools);
    schema_document(
        "tool-call",
        "2.1",
        "Tool-call scenario",
        "A sequence of tool calls that is replayed without a model (version 2.1).",
        schema,
    )
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
