//! Values as the advertised schemas want them, and whether calls fit those schemas.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::json;

use super::advertised::AdvertisedTool;
use super::call::NativeCall;
use super::shell;
use cuecard_source::value::{Json, kind_name};

/// `value` as the schema `property` wants it, where it can be said so without a doubt. `is_command` says that it is
/// a shell command, as a line or as words.
pub(super) fn converted(value: Json, property: Option<&Json>, is_command: bool) -> Json {
    let Some(property) = property else {
        return value;
    };
    let wants = |name: &str| match &property["type"] {
        Json::String(wanted) => wanted.eq_ignore_ascii_case(name),
        Json::Array(wanted) => wanted.iter().any(|wanted| {
            wanted
                .as_str()
                .is_some_and(|it| it.eq_ignore_ascii_case(name))
        }),
        _ => false,
    };
    match &value {
        Json::String(text) if wants("string") || text.is_empty() => value,
        Json::String(line) if wants("array") && is_command => json!(["bash", "-lc", line]),
        Json::String(text) if wants("array") => json!([text]),
        Json::String(text) if wants("boolean") && (text == "true" || text == "false") => {
            json!(text == "true")
        }
        Json::String(text) if wants("integer") => {
            text.parse::<i64>().map_or(value.clone(), Json::from)
        }
        Json::String(text) if wants("number") => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            _ => value,
        },
        Json::Number(number) if wants("string") && !wants("number") && !wants("integer") => {
            Json::String(number.to_string())
        }
        Json::Array(words) if wants("string") && !wants("array") && is_command => {
            let words: Option<Vec<&str>> = words.iter().map(Json::as_str).collect();
            words.map_or(value.clone(), |words| Json::String(shell::join(words)))
        }
        _ => value,
    }
}

/// What is wrong with a call by the tools that a request advertises, one sentence each (T-LLM-03). With
/// `is_strict`, types and unknown arguments count too.
pub fn check_call(
    call: &NativeCall,
    advertised: &[AdvertisedTool],
    is_strict: bool,
) -> Vec<String> {
    let name = &call.name;
    let Some(tool) = advertised.iter().find(|tool| tool.name == *name) else {
        return vec![format!("`{name}` is not among the advertised tools")];
    };
    let Some(schema) = tool.schema() else {
        return Vec::new();
    };
    let Some(args) = call.args.as_object() else {
        return vec![format!(
            "`{name}` takes an object, and the call passes {}",
            kind_name(&call.args)
        )];
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let mut problems: Vec<String> = required
        .filter_map(Json::as_str)
        .filter(|argument| !args.contains_key(*argument))
        .map(|argument| format!("`{name}` needs `{argument}`, which the call does not pass"))
        .collect();
    if !is_strict {
        return problems;
    }
    let properties = schema["properties"].as_object();
    let others = &schema["additionalProperties"];
    let are_others_known = others.is_object() || *others == true;
    for argument in args.keys() {
        let is_unknown = properties.is_some_and(|known| !known.contains_key(argument));
        if is_unknown && !are_others_known {
            problems.push(format!("`{name}` has no argument `{argument}`"));
        }
    }
    let options = jsonschema::options().should_validate_formats(true);
    match options.build(schema) {
        Ok(validator) => {
            let errors = validator.iter_errors(&call.args);
            problems.extend(errors.filter_map(|error| misfit(name, &error)));
        }
        // What is no schema as a whole may be one in parts.
        Err(_) => {
            for (argument, value) in args {
                if let Some(Ok(validator)) =
                    properties.and_then(|known| Some(options.build(known.get(argument)?)))
                    && let Some(error) = validator.iter_errors(value).next()
                {
                    problems.push(format!("`{argument}` of `{name}`: {error}"));
                }
            }
        }
    }
    problems
}

/// Why a text is not the JSON that `schema` asks for; an empty schema asks for any object.
pub fn check_text(schema: &Json, text: &str) -> Option<String> {
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return Some(format!("it is not JSON: {error}")),
    };
    if schema.as_object().is_some_and(serde_json::Map::is_empty) {
        return (!json.is_object() && !json.is_array()).then(|| "it is no JSON object".into());
    }
    let mut schema = schema.clone();
    lower_types(&mut schema);
    let validator = jsonschema::validator_for(&schema).ok()?;
    let error = validator.iter_errors(&json).next()?;
    Some(error.to_string())
}

/// Types in lower case, as Gemini's schemas don't have them. What may be null there is not looked into.
fn lower_types(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(lower_types),
        Json::Object(members) if members.get("nullable") == Some(&Json::Bool(true)) => {
            members.clear();
        }
        Json::Object(members) => {
            for (name, member) in members {
                match member {
                    Json::String(word) if name == "type" => word.make_ascii_lowercase(),
                    member => lower_types(member),
                }
            }
        }
        _ => {}
    }
}

/// An error of a call's arguments in words; `None` for names, which have words of their own.
fn misfit(name: &str, error: &ValidationError<'_>) -> Option<String> {
    let path = error.instance_path().as_str();
    let is_of_schema = error.schema_path().as_str().matches('/').count() == 1;
    let is_named = matches!(
        error.kind(),
        ValidationErrorKind::Required { .. } | ValidationErrorKind::AdditionalProperties { .. }
    );
    match path.split('/').nth(1) {
        Some(argument) => Some(format!("`{argument}` of `{name}`: {error}")),
        None if is_named && is_of_schema => None,
        None => Some(format!("the arguments of `{name}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_where_that_is_certain() {
        let convert =
            |value: Json, schema: Json, is_command| converted(value, Some(&schema), is_command);
        let array = json!({"type": "array"});
        let text = json!({"type": "string"});
        assert_eq!(
            convert(json!("a | b"), array.clone(), true),
            json!(["bash", "-lc", "a | b"])
        );
        assert_eq!(convert(json!("a"), array, false), json!(["a"]));
        assert_eq!(
            convert(json!(["echo", "a b"]), text.clone(), true),
            json!("echo 'a b'")
        );
        assert_eq!(convert(json!(30), text, false), json!("30"));
        assert_eq!(
            convert(json!("30"), json!({"type": "INTEGER"}), false),
            json!(30)
        );
        assert_eq!(
            convert(json!("x"), json!({"type": "integer"}), false),
            json!("x")
        );
        assert_eq!(
            convert(json!("1.5"), json!({"type": ["number", "null"]}), false),
            json!(1.5)
        );
        assert_eq!(
            convert(json!("true"), json!({"type": "boolean"}), false),
            json!(true)
        );
        assert_eq!(convert(json!([1]), json!({}), false), json!([1]));
        assert_eq!(converted(json!("x"), None, true), json!("x"));
    }

    #[test]
    fn calls_are_checked_against_what_is_advertised() {
        let schema = json!({
            "type": "object",
            "required": ["file_path"],
            "properties": {"file_path": {"type": "string"}, "limit": {"type": "integer"}},
        });
        let tools = [AdvertisedTool::function("Read", schema)];
        let check = |name: &str, args: Json, is_strict| {
            let call = NativeCall {
                name: name.into(),
                args: args.into(),
            };
            check_call(&call, &tools, is_strict)
        };
        let path = json!({"file_path": "a", "limit": "x", "more": 1});
        assert_eq!(check("Read", path.clone(), false), [] as [String; 0]);
        assert_eq!(check("Read", path, true).len(), 2);
        assert_eq!(
            check("Read", json!({}), false),
            ["`Read` needs `file_path`, which the call does not pass"]
        );
        assert_eq!(
            check("Write", json!({}), false),
            ["`Write` is not among the advertised tools"]
        );
        assert_eq!(check("Read", json!("text"), false).len(), 1);
    }
}
