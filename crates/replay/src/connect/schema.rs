//! A step's parameters against its tool's input schema.

use std::borrow::Cow;
use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Origin, Value};
use cuecard_tool_call::model::{DuplicateKey, Step, Template, ToolCallScenario};
use cuecard_tool_call::script::Bindings;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value as Json};

use super::super::fit::{fit, record_warnings};
use super::super::target;
use super::places::Places;
use cuecard_mcp::ToolInfo;
use cuecard_runtime::tap::Recorder;

/// What is wrong with the parameters of `step` as a call of `tool`, as far as they are known.
pub(super) fn check(
    scenario: &ToolCallScenario,
    bindings: &Bindings,
    step: &Step,
    server: &str,
    tool: &ToolInfo,
    recorder: &mut Recorder<'_>,
) -> Vec<Diagnostic> {
    let (Json::Object(mut arguments), unknown) = known_part(&step.params, bindings) else {
        return Vec::new();
    };
    // A name that only the run can tell.
    arguments.remove("");
    let mut schema = with_defaults(tool);
    forget_page(&mut schema, &arguments);
    let aimless = aim(&mut arguments, scenario, step, tool);
    // What the tool refuses is found by its schema.
    let fitted = fit(arguments, &schema, &[]);
    record_warnings(&fitted.converted, recorder);
    let arguments = Json::Object(fitted.arguments);
    let places = Places::of(scenario, step);
    let is_unknown = |place: &str| {
        unknown
            .iter()
            .any(|pointer| place == *pointer || place.starts_with(&format!("{pointer}/")))
    };
    let label = step.label();
    let of = format!("the tool `{}` of `{server}`", tool.name);
    let found = misfits(&schema, &arguments, [&label, &tool.name, &of], is_unknown);
    let found = found
        .into_iter()
        .map(|misfit| places.put(misfit.found, &misfit.place, misfit.name.as_deref()));
    aimless.into_iter().chain(found).collect()
}

/// What is wrong with `arguments` for `tool`, by its schema alone.
pub fn check_arguments(tool: &ToolInfo, arguments: Map<String, Json>) -> Vec<Diagnostic> {
    let of = format!("the tool `{}`", tool.name);
    let names = ["the call", &tool.name, &of];
    misfits(&with_defaults(tool), &arguments.into(), names, |_| false)
        .into_iter()
        .map(|misfit| misfit.found)
        .collect()
}

/// What a call says about those of `arguments` that `tool` of `server` doesn't name.
pub(crate) fn unknown_names(
    tool: &ToolInfo,
    server: &str,
    arguments: &Map<String, Json>,
) -> Vec<String> {
    let arguments = Json::Object(arguments.clone());
    let mut found = Vec::new();
    find_unknown(&tool.input_schema, &arguments, "", &mut found);
    let tool = &tool.name;
    found
        .into_iter()
        .map(|(name, meant)| {
            let proposal =
                meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            format!("the tool `{tool}` of `{server}` names no parameter `{name}`{proposal}")
        })
        .collect()
}

/// Adds the names below `place` that `schema` does not hold, each with the one that may be meant. Many schemas name only some
/// members of an inner object: of one that is open, only those count that are like a name.
fn find_unknown<'a>(
    schema: &'a Json,
    arguments: &'a Json,
    place: &str,
    found: &mut Vec<(String, Option<&'a str>)>,
) {
    let misnamed = Misnamed::find(schema, arguments);
    for name in &misnamed.names {
        let meant = misnamed.meant(name);
        if place.is_empty() || misnamed.is_closed || meant.is_some() {
            found.push((format!("{place}{name}"), meant));
        }
    }
    match arguments {
        Json::Object(members) => {
            for (name, value) in members {
                find_unknown(
                    &schema["properties"][name],
                    value,
                    &format!("{place}{name}."),
                    found,
                );
            }
        }
        Json::Array(items) => {
            let place = place.strip_suffix('.').unwrap_or(place);
            for (idx, item) in items.iter().enumerate() {
                find_unknown(&schema["items"], item, &format!("{place}[{idx}]."), found);
            }
        }
        _ => {}
    }
}

/// The input schema of `tool`, where a parameter that has a default need not be given: the server fills it in, whatever
/// it lists as required.
fn with_defaults(tool: &ToolInfo) -> Json {
    let mut schema = tool.input_schema.clone();
    forget_defaults(&mut schema);
    schema
}

fn forget_defaults(schema: &mut Json) {
    if let Json::Object(members) = schema {
        let has_default = |name: &Json, properties: &Json| {
            let property = name.as_str().and_then(|name| properties.get(name));
            property.is_some_and(|property| property.get("default").is_some())
        };
        let properties = members.get("properties").cloned().unwrap_or_default();
        if let Some(required) = members.get_mut("required").and_then(Json::as_array_mut) {
            required.retain(|name| !has_default(name, &properties));
        }
    }
    match schema {
        Json::Object(members) => members.values_mut().for_each(forget_defaults),
        Json::Array(items) => items.iter_mut().for_each(forget_defaults),
        _ => {}
    }
}

/// Something that doesn't match a schema.
struct Misfit {
    found: Diagnostic,
    /// A pointer into the arguments.
    place: String,
    /// The argument there whose name it is about.
    name: Option<String>,
}

/// What doesn't match `schema`, but for the places that `is_unknown` names. `label` is what the call is in a message.
fn misfits(
    schema: &Json,
    arguments: &Json,
    [label, tool, tool_of_server]: [&str; 3],
    is_unknown: impl Fn(&str) -> bool,
) -> Vec<Misfit> {
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => {
            let message = format!(
                "{label} is not checked: the input schema of the tool `{tool}` can't be used: {error}"
            );
            return vec![Misfit {
                found: Diagnostic::warning(codes::PARAM_TYPE, message),
                place: String::new(),
                name: None,
            }];
        }
    };
    let misnamed = Misnamed::find(schema, arguments);
    let mut misfits: Vec<Misfit> = validator
        .iter_errors(arguments)
        .filter(|error| !misnamed.explain(error) && !is_unknown(&error.instance_path().to_string()))
        .map(|error| Misfit {
            found: told(&error, label, tool),
            place: error.instance_path().to_string(),
            name: None,
        })
        .collect();
    for name in &misnamed.names {
        let mut found = match misnamed.is_error(name) {
            true => Diagnostic::error(
                codes::PARAM_UNKNOWN,
                format!("{tool_of_server} has no parameter `{name}`"),
            ),
            false => Diagnostic::warning(
                codes::PARAM_UNKNOWN,
                format!("{tool_of_server} names no parameter `{name}`"),
            ),
        };
        found.label = misnamed
            .meant(name)
            .map(|name| format!("did you mean `{name}`?"));
        misfits.push(Misfit {
            found,
            place: String::new(),
            name: Some((*name).to_owned()),
        });
    }
    misfits
}

/// Puts something where the targets of a step will put what the server knows their elements by, and says which have
/// nowhere to put it.
fn aim(
    arguments: &mut Map<String, Json>,
    scenario: &ToolCallScenario,
    step: &Step,
    tool: &ToolInfo,
) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if let Some(target) = &step.target {
        match target::any_own_param(tool) {
            Some(param) => {
                param.put(arguments, String::new());
                // Older servers want it in words too, which the target gives.
                if target::wants_words(tool) {
                    arguments.entry("element").or_insert_with(|| Json::from(""));
                }
            }
            None => {
                let message = format!(
                    "the tool `{}` does not act on an element, so it can't have a target",
                    tool.name
                );
                let diagnostic = Diagnostic::error(codes::TARGET_INVALID, message)
                    .at(&scenario.source, target.span)
                    .with_help(target::NO_OWN_PARAM);
                diagnostics.push(diagnostic);
            }
        }
    }
    for named in &step.targets {
        // What a reference stands for may have the place.
        let _ = target::put(arguments, &named.param, String::new());
    }
    diagnostics
}

/// An error of the schema as a message.
fn told(error: &ValidationError<'_>, label: &str, tool: &str) -> Diagnostic {
    let place = error.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    if let ValidationErrorKind::Required { property } = error.kind()
        && let Some(name) = property.as_str()
    {
        let within = match place.as_str() {
            "" => String::new(),
            place => format!(" in `{place}`"),
        };
        let message =
            format!("{label} is missing `{name}`{within}, which the tool `{tool}` requires");
        return Diagnostic::error(codes::PARAM_MISSING, message);
    }
    let what = match place.as_str() {
        "" => format!("the parameters of {label} don't match"),
        place => format!("`{place}` of {label} doesn't match"),
    };
    let message = format!("{what} the tool's schema: {error}");
    let mut diagnostic = Diagnostic::error(codes::PARAM_TYPE, message);
    if let (ValidationErrorKind::Enum { options }, Some(word)) =
        (error.kind(), error.instance().as_str())
    {
        let words = options.as_array().into_iter().flatten();
        diagnostic.label = did_you_mean(word, words.filter_map(Json::as_str))
            .map(|word| format!("did you mean `{word}`?"));
    }
    diagnostic
}

/// Parameters whose names a tool's schema doesn't hold.
struct Misnamed<'a> {
    names: Vec<&'a str>,
    /// The names that the schema does hold, and that are not given: what a wrong one may stand for.
    free: Vec<&'a str>,
    required: Vec<&'a str>,
    /// Whether the schema refuses all other names.
    is_closed: bool,
}

impl<'a> Misnamed<'a> {
    fn find(schema: &'a Json, arguments: &'a Json) -> Self {
        let properties = schema.get("properties").and_then(Json::as_object);
        let is_closed = schema.get("additionalProperties") == Some(&Json::Bool(false));
        // Without a list of names, or with patterns for them, only the schema itself can tell.
        let can_tell =
            (properties.is_some() || is_closed) && schema.get("patternProperties").is_none();
        let is_known = |name: &str| properties.is_some_and(|known| known.contains_key(name));
        let given = arguments.as_object();
        let names = given
            .into_iter()
            .flat_map(serde_json::Map::keys)
            .map(String::as_str)
            .filter(|name| can_tell && !is_known(name))
            .collect();
        let free = properties
            .into_iter()
            .flat_map(serde_json::Map::keys)
            .map(String::as_str)
            .filter(|name| given.is_none_or(|given| !given.contains_key(*name)))
            .collect();
        let required = schema
            .get("required")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        Self {
            names,
            free,
            required,
            is_closed,
        }
    }

    fn meant(&self, name: &str) -> Option<&'a str> {
        did_you_mean(name, self.free.iter().copied())
    }

    /// Whether a call with it would be refused: for its name, or for lack of the one that was meant.
    fn is_error(&self, name: &str) -> bool {
        self.is_closed
            || self
                .meant(name)
                .is_some_and(|meant| self.required.contains(&meant))
    }

    /// Whether an error of the schema is told by what is said about these names.
    fn explain(&self, error: &ValidationError<'_>) -> bool {
        if !error.instance_path().to_string().is_empty() {
            return false;
        }
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
                .iter()
                .all(|name| self.names.contains(&name.as_str())),
            ValidationErrorKind::Required { property } => self
                .names
                .iter()
                .any(|name| property.as_str().is_some() && self.meant(name) == property.as_str()),
            _ => false,
        }
    }
}

/// The player adds a page's id where a browser asks for one.
fn forget_page(schema: &mut Json, arguments: &serde_json::Map<String, Json>) {
    if !arguments.contains_key("pageId") {
        forget(schema, "pageId");
    }
}

/// What the player adds need not be given.
fn forget(schema: &mut Json, name: &str) {
    if let Some(required) = schema.get_mut("required").and_then(Json::as_array_mut) {
        required.retain(|required| required != name);
    }
}

/// The template with variables filled in, null for what only the run can tell, and the pointers to that.
fn known_part(template: &Template, bindings: &Bindings) -> (Json, Vec<String>) {
    let filled = template.fill::<DuplicateKey>(|placeholder| {
        Ok(match bindings.known_value(placeholder) {
            Some(value) => (Cow::Borrowed(value), Origin::Author),
            None => (Cow::Owned(Json::Null), Origin::Peer),
        })
    });
    let Ok(Value { json, marks }) = filled else {
        return (Json::Null, Vec::new());
    };
    let mut json = Arc::unwrap_or_clone(json);
    let marks = marks.into_iter().filter(|mark| !mark.origin.is_trusted());
    let unknown: Vec<String> = marks.map(|mark| mark.pointer).collect();
    for pointer in &unknown {
        if let Some(place) = json.pointer_mut(pointer) {
            *place = Json::Null;
        }
    }
    (json, unknown)
}

#[cfg(test)]
mod tests {
    use cuecard_source::SourceFile;
    use cuecard_source::diagnostic::Severity;
    use cuecard_source::value::Redactor;
    use serde_json::json;

    use super::*;
    use cuecard_runtime::clock::Clock;

    /// What is said about a call with `params` of a tool with `schema`, with the label.
    fn findings(schema: Json, params: &Json) -> Vec<(Severity, String, Option<String>)> {
        let step = json!({"step": 1, "tool": "mcp__s__t", "params": params});
        findings_of(schema, &step)
    }

    /// The same about a whole step.
    fn findings_of(schema: Json, step: &Json) -> Vec<(Severity, String, Option<String>)> {
        let text = json!({
            "version": "2.1",
            "metadata": {"name": "x"},
            "steps": [step],
        });
        let source = SourceFile::new("x.json", text.to_string());
        let scenario = cuecard_tool_call::format::read(&source)
            .scenario
            .expect("it is valid");
        let (bindings, _) = cuecard_tool_call::script::bind_variables(&scenario, &[]);
        let tool = ToolInfo {
            name: "t".to_owned(),
            description: None,
            input_schema: schema,
            output_schema: None,
            requires_task: false,
            is_read_only: false,
            is_destructive: false,
        };
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        check(
            &scenario,
            &bindings,
            &scenario.steps[0],
            "s",
            &tool,
            &mut recorder,
        )
        .into_iter()
        .map(|found| (found.severity, found.message, found.label))
        .collect()
    }

    #[test]
    fn a_schema_that_can_not_be_used_is_told() {
        let found = findings(json!({"type": "nonsense"}), &json!({"title": "x"}));
        let [(Severity::Warning, message, None)] = found.as_slice() else {
            panic!("{found:?}");
        };
        let start = "step 1 is not checked: the input schema of the tool `t` can't be used";
        assert!(message.starts_with(start), "{message}");
    }

    fn schema(closed: bool) -> Json {
        json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "count": {"enum": ["words"]}},
            "required": ["title"],
            "additionalProperties": !closed,
        })
    }

    #[test]
    fn a_value_that_does_not_fit_is_one_thing() {
        let found = findings(schema(true), &json!({"title": "x", "count": "many"}));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .1
                .starts_with("`count` of step 1 doesn't match the tool's schema: "),
            "{found:?}"
        );
        let found = findings(schema(true), &json!({}));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .1
                .starts_with("step 1 is missing `title`, which the tool `t` requires"),
            "{found:?}"
        );
    }

    #[test]
    fn a_required_parameter_with_a_default_need_not_be_given() {
        let schema = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string"},
                "level": {"type": "string", "default": "info"},
                "fields": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "slowly": {"type": "boolean", "default": false}},
                    "required": ["name", "slowly"],
                }},
            },
            "required": ["url", "level"],
            "additionalProperties": false,
        });
        let params = json!({"url": "https://a", "fields": [{"name": "x"}]});
        assert_eq!(findings(schema.clone(), &params), []);
        let found = findings(schema, &json!({"fields": [{}]}));
        let messages: Vec<&str> = found
            .iter()
            .map(|(_, message, _)| message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "step 1 is missing `name` in `fields.0`, which the tool `t` requires",
                "step 1 is missing `url`, which the tool `t` requires",
            ]
        );
    }

    #[test]
    fn an_element_id_that_a_target_gives_is_not_missing() {
        let schema = json!({"properties": {"uid": {"type": "string"}}, "required": ["uid"]});
        let mut step = json!({"step": 1, "tool": "mcp__s__t", "params": {}});
        assert_eq!(findings_of(schema.clone(), &step).len(), 1);
        step["target"] = json!({"text": "Sign in"});
        assert_eq!(findings_of(schema, &step), []);
    }

    #[test]
    fn targets_give_their_parameters_and_need_a_tool_that_has_them() {
        let schema = json!({
            "properties": {"elements": {"type": "array", "items": {
                "type": "object", "properties": {"uid": {"type": "string"}, "value": {"type": "string"}},
                "required": ["uid", "value"]
            }}},
            "required": ["elements"],
        });
        let mut step = json!({
            "step": 1, "tool": "mcp__s__t", "params": {"elements": [{"value": "a"}]},
            "targets": {"elements[0].uid": {"role": "textbox", "name": "E-mail"}}
        });
        assert_eq!(findings_of(schema.clone(), &step), []);
        step["target"] = json!({"text": "Sign in"});
        let found = findings_of(schema, &step);
        let message = "the tool `t` does not act on an element, so it can't have a target";
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].0, found[0].1.as_str()),
            (Severity::Error, message)
        );
    }

    #[test]
    fn a_mistyped_name_is_one_error_with_the_right_name() {
        for closed in [true, false] {
            assert_eq!(
                findings(schema(closed), &json!({"titel": "x"})),
                [(
                    Severity::Error,
                    "the tool `t` of `s` has no parameter `titel`".to_owned(),
                    Some("did you mean `title`?".to_owned())
                )]
            );
        }
    }

    #[test]
    fn another_name_is_as_bad_as_the_schema_says() {
        let params = json!({"title": "x", "zebra": 1});
        let zebra = |closed| findings(schema(closed), &params);
        let told = |severity, verb: &str| {
            let message = format!("the tool `t` of `s` {verb} no parameter `zebra`");
            vec![(severity, message, None)]
        };
        assert_eq!(zebra(true), told(Severity::Error, "has"));
        assert_eq!(zebra(false), told(Severity::Warning, "names"));
        let free = json!({"type": "object", "patternProperties": {"^z": {}}, "additionalProperties": false});
        assert_eq!(findings(free, &json!({"zebra": 1})), []);
    }
}
