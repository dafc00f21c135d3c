//! Arguments fitted to the input schema of their tool. A text where the tool takes a number, a boolean, a list or an
//! object, as `--var` gives it, becomes that; what the schema leaves open stays as it is, and is said. The value of a
//! reference inside a text of JSON is a text there, or the number that it is: it changes nothing around it.

use cuecard_source::json::{read_numbers_as_texts, read_value};
use cuecard_source::value::{Mark, cut, push_pointer};
use serde_json::{Map, Value as Json};

use super::pool::log;
use cuecard_runtime::tap::Recorder;

/// How many references and alternatives of a schema are followed one into the other.
const DEEPEST: usize = 16;

/// Arguments with what was made of them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fitted {
    pub(super) arguments: Map<String, Json>,
    /// A message for each value that was converted.
    pub(super) converted: Vec<String>,
    /// Texts that spell something else that the tool takes too, each with its pointer: as they came from a command
    /// line, nobody knows which is meant.
    pub(super) ambiguous: Vec<(String, String)>,
    /// A message for each text that is nothing that the tool takes.
    pub(super) refused: Vec<String>,
}

/// Records `messages` as warnings.
pub(super) fn record_warnings(messages: &[String], recorder: &mut Recorder<'_>) {
    for message in messages {
        recorder.record(log("warning", format!("C-PARAM-04: {message}")));
    }
}

/// Fits `arguments` to `schema`, the input schema of a tool. A number or boolean becomes a text only where `marks` say that
/// a reference brought it: what is written in a scenario can be written as a text.
pub(super) fn fit(arguments: Map<String, Json>, schema: &Json, marks: &[Mark]) -> Fitted {
    let mut fitting = Fitting {
        root: schema,
        marks,
        place: String::new(),
        pointer: String::new(),
        converted: Vec::new(),
        ambiguous: Vec::new(),
        refused: Vec::new(),
    };
    let mut value = Json::Object(arguments);
    fitting.value(&mut value, schema);
    let Json::Object(arguments) = value else {
        return Fitted::default();
    };
    Fitted {
        arguments,
        converted: fitting.converted,
        ambiguous: fitting.ambiguous,
        refused: fitting.refused,
    }
}

struct Fitting<'s> {
    root: &'s Json,
    marks: &'s [Mark],
    /// Where the value is, as `labels[0]`.
    place: String,
    /// The same as a JSON pointer.
    pointer: String,
    converted: Vec<String>,
    ambiguous: Vec<(String, String)>,
    refused: Vec<String>,
}

impl<'s> Fitting<'s> {
    fn value(&mut self, value: &mut Json, schema: &'s Json) {
        let mut alternatives = Vec::new();
        self.collect_alternatives(schema, DEEPEST, &mut alternatives);
        if !value.is_string() && !may_be_taken(value, &alternatives) {
            let takes_text = alternatives.iter().any(|schema| takes(schema, "string"));
            match value {
                Json::Number(_) | Json::Bool(_)
                    if takes_text && self.marks.iter().any(|mark| mark.touches(&self.pointer)) =>
                {
                    return self.replace(value, Json::from(value.to_string()));
                }
                // A list may hold the text that is asked for.
                Json::Array(items) if only_text(items, &alternatives).is_some() => {}
                _ => {
                    let message = format!(
                        "`{}` is {}, which the tool's schema does not take",
                        self.place,
                        described(value)
                    );
                    return self.refused.push(message);
                }
            }
        }
        match value {
            Json::String(_) => self.text(value, &alternatives),
            Json::Array(items) => match only_text(items, &alternatives) {
                Some(text) => self.replace(value, text),
                None => {
                    if let Some(item) =
                        the_only(&alternatives, "array").and_then(|a| a.get("items"))
                    {
                        for (idx, value) in items.iter_mut().enumerate() {
                            let place = format!("[{idx}]");
                            self.inside(&place, &idx.to_string(), |fitting| {
                                fitting.value(value, item);
                            });
                        }
                    }
                }
            },
            Json::Object(members) => {
                let Some(object) = the_only(&alternatives, "object") else {
                    return;
                };
                for (name, value) in members {
                    let named = object.get("properties").and_then(|known| known.get(name));
                    if let Some(schema) = named.or_else(|| object.get("additionalProperties")) {
                        let dot = if self.place.is_empty() { "" } else { "." };
                        self.inside(&format!("{dot}{name}"), name, |fitting| {
                            fitting.value(value, schema);
                        });
                    }
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn inside(&mut self, place: &str, token: &str, fit: impl FnOnce(&mut Self)) {
        let (place_length, pointer_length) = (self.place.len(), self.pointer.len());
        self.place.push_str(place);
        push_pointer(&mut self.pointer, token);
        fit(self);
        self.place.truncate(place_length);
        self.pointer.truncate(pointer_length);
    }

    fn text(&mut self, value: &mut Json, alternatives: &[&'s Json]) {
        let whole = value.as_str().unwrap_or_default();
        let text = whole.trim();
        if alternatives
            .iter()
            .any(|schema| takes_or_says_nothing(schema, "string"))
        {
            let kind = match text.as_bytes().first() {
                Some(b'[') => "array",
                Some(b'{') => "object",
                _ => return,
            };
            let is_open = alternatives.iter().any(|schema| takes(schema, kind));
            if is_open && self.json(whole, false).is_some() {
                let message = format!(
                    "`{}` is the text {value}, and the tool's schema takes texts and an {kind} there",
                    self.place
                );
                self.ambiguous.push((self.pointer.clone(), message));
            }
            return;
        }
        let exact = alternatives
            .iter()
            .find_map(|schema| self.exact(whole, schema));
        let found = exact.or_else(|| {
            alternatives
                .iter()
                .find_map(|schema| self.list_of_one(whole, schema))
        });
        match found {
            Some(converted) => self.replace(value, converted),
            None => {
                let message = format!(
                    "`{}` is {}, which the tool's schema does not take",
                    self.place,
                    described(value)
                );
                self.refused.push(message);
            }
        }
    }

    fn replace(&mut self, value: &mut Json, converted: Json) {
        self.converted.push(format!(
            "`{}` was {} and is sent as {converted}, as the tool's schema asks",
            self.place,
            described(value)
        ));
        *value = converted;
    }

    /// What `text` spells, if `schema` takes that.
    fn exact(&mut self, text: &str, schema: &'s Json) -> Option<Json> {
        let is_of_texts = takes(schema, "array")
            && schema.get("items").is_some_and(|items| {
                let mut alternatives = Vec::new();
                self.collect_alternatives(items, DEEPEST, &mut alternatives);
                let takes = |kind| alternatives.iter().any(|schema| takes(schema, kind));
                takes("string") && !takes("number") && !takes("integer")
            });
        let mut json = match self.json(text, is_of_texts) {
            // Of numbers only their digits count.
            None if takes(schema, "integer") => {
                return text.trim().parse::<i64>().ok().map(Json::from);
            }
            json => json?,
        };
        let kind = match &json {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(number) if number.is_f64() => "number",
            Json::Number(_) if takes(schema, "integer") => "integer",
            Json::Number(_) => "number",
            Json::String(_) => return None,
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        };
        if !takes(schema, kind) {
            return None;
        }
        // The message about the whole shows what became of its parts.
        let n_converted = self.converted.len();
        self.value(&mut json, schema);
        self.converted.truncate(n_converted);
        Some(json)
    }

    /// The JSON that `text`, the value at this place, spells. It is read with each reference in it as a text of its own,
    /// unless that is a number, `true`, `false` or `null`. If `is_of_texts`, its numbers are texts.
    fn json(&self, text: &str, is_of_texts: bool) -> Option<Json> {
        let here = self
            .marks
            .iter()
            .filter(|mark| mark.pointer == self.pointer);
        let mut ranges: Vec<_> = here.filter_map(|mark| mark.range.clone()).collect();
        ranges.sort_by_key(|range| range.start);
        let mut known = Vec::new();
        let mut written = String::new();
        let mut done = 0;
        for range in ranges {
            let (before, value) = (text.get(done..range.start)?, text.get(range.clone())?);
            written.push_str(before);
            let json = serde_json::from_str::<Json>(value).ok();
            match json
                .is_some_and(|json| !json.is_string() && !json.is_array() && !json.is_object())
            {
                true => written.push_str(value),
                false => {
                    written.push_str(&format!("{HOLE}{}{HOLE}", known.len()));
                    known.push(value);
                }
            }
            done = range.end;
        }
        written.push_str(text.get(done..)?);
        let read = match is_of_texts {
            true => read_numbers_as_texts(&written),
            false => read_value(&written),
        };
        let mut json = read.ok()?;
        if !known.is_empty() {
            fill(&mut json, &known);
        }
        Some(json)
    }

    /// The list that holds what `text` is alone, if `schema` takes lists of such items.
    fn list_of_one(&mut self, text: &str, schema: &'s Json) -> Option<Json> {
        let items = schema.get("items").filter(|_| takes(schema, "array"))?;
        // A list that isn't JSON, or not of such items, is no item.
        if text.trim().is_empty() || text.trim_start().starts_with(['[', '{']) {
            return None;
        }
        let mut alternatives = Vec::new();
        self.collect_alternatives(items, DEEPEST, &mut alternatives);
        let item = match alternatives.iter().any(|schema| takes(schema, "string")) {
            true => Json::from(text),
            false => alternatives
                .iter()
                .find_map(|schema| self.exact(text.trim(), schema))?,
        };
        Some(Json::Array(vec![item]))
    }

    /// The schemas of which a value matches one, without references.
    fn collect_alternatives(&self, schema: &'s Json, depth: usize, found: &mut Vec<&'s Json>) {
        if depth == 0 {
            return;
        }
        let list = |key| schema.get(key).and_then(Json::as_array);
        let reference = schema.get("$ref").and_then(Json::as_str);
        if schema.get("type").is_some() {
            found.push(schema);
        } else if let Some(target) = reference
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| self.root.pointer(pointer))
        {
            self.collect_alternatives(target, depth - 1, found);
        } else if let Some(alternatives) = list("anyOf").or_else(|| list("oneOf")) {
            for schema in alternatives {
                self.collect_alternatives(schema, depth - 1, found);
            }
        } else if let Some([schema]) = list("allOf").map(Vec::as_slice) {
            self.collect_alternatives(schema, depth - 1, found);
        } else {
            found.push(schema);
        }
    }
}

/// What stands around the number of a reference while its text is read as JSON: no text of Unicode has it.
const HOLE: char = '\u{10ffff}';

/// Puts the values of references where their numbers stand.
fn fill(json: &mut Json, values: &[&str]) {
    let filled = |text: &str| {
        let pieces = text.split(HOLE).enumerate().map(|(nth, piece)| {
            let value = piece.parse::<usize>().ok().and_then(|idx| values.get(idx));
            value.filter(|_| nth % 2 == 1).copied().unwrap_or(piece)
        });
        pieces.collect::<String>()
    };
    match json {
        Json::String(text) => *text = filled(text),
        Json::Array(items) => items.iter_mut().for_each(|item| fill(item, values)),
        Json::Object(members) => {
            let old = std::mem::take(members).into_iter();
            members.extend(old.map(|(key, mut value)| {
                fill(&mut value, values);
                (filled(&key), value)
            }));
        }
        _ => {}
    }
}

/// Whether `schema` says that it takes values of `kind`.
fn takes(schema: &Json, kind: &str) -> bool {
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(Json::String(only)), _, _) => only == kind,
        (Some(Json::Array(kinds)), _, _) => kinds.iter().any(|other| other == kind),
        (_, Some(Json::Array(values)), _) => values.iter().any(|value| is_kind(value, kind)),
        (_, _, Some(value)) => is_kind(value, kind),
        _ => false,
    }
}

/// As [`takes`], and so does a schema that names no kind of values.
fn takes_or_says_nothing(schema: &Json, kind: &str) -> bool {
    let says_nothing = ["type", "enum", "const"]
        .iter()
        .all(|key| schema.get(key).is_none());
    says_nothing || takes(schema, kind)
}

/// Whether one of `alternatives` takes values of this kind, or says nothing of kinds.
fn may_be_taken(value: &Json, alternatives: &[&Json]) -> bool {
    let kinds: &[&str] = match value {
        Json::Null => &["null"],
        Json::Bool(_) => &["boolean"],
        // To a schema, 1.0 is an integer.
        Json::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => {
            &["number"]
        }
        Json::Number(_) => &["number", "integer"],
        Json::String(_) => &["string"],
        Json::Array(_) => &["array"],
        Json::Object(_) => &["object"],
    };
    let is_nullable = |schema: &Json| value.is_null() && schema["nullable"] == true;
    alternatives.is_empty()
        || alternatives.iter().any(|schema| {
            is_nullable(schema) || kinds.iter().any(|kind| takes_or_says_nothing(schema, kind))
        })
}

/// A value with its kind, for a message.
fn described(value: &Json) -> String {
    let what = match value {
        Json::Null => return "null".to_owned(),
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "text",
        Json::Array(_) => "list",
        Json::Object(_) => "object",
    };
    format!("the {what} {}", cut(&value.to_string(), 200))
}

fn is_kind(value: &Json, kind: &str) -> bool {
    match value {
        Json::Null => kind == "null",
        Json::Bool(_) => kind == "boolean",
        Json::Number(number) => kind == "number" || (kind == "integer" && !number.is_f64()),
        Json::String(_) => kind == "string",
        Json::Array(_) => kind == "array",
        Json::Object(_) => kind == "object",
    }
}

/// The one schema that takes values of `kind`; none if several do.
fn the_only<'s>(alternatives: &[&'s Json], kind: &str) -> Option<&'s Json> {
    let has_members = |schema: &Json| kind == "object" && schema.get("properties").is_some();
    let mut all = alternatives
        .iter()
        .filter(|schema| takes(schema, kind) || has_members(schema));
    all.next().copied().filter(|_| all.next().is_none())
}

/// The text of a list that holds nothing else, where a text is taken and no list.
fn only_text(items: &[Json], alternatives: &[&Json]) -> Option<Json> {
    let [text @ Json::String(_)] = items else {
        return None;
    };
    let takes_list = |schema: &&Json| takes_or_says_nothing(schema, "array");
    let is_text = !alternatives.iter().any(takes_list)
        && alternatives.iter().any(|schema| takes(schema, "string"));
    is_text.then(|| text.clone())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use cuecard_source::value::Origin;
    use serde_json::json;

    use super::*;

    fn mark(pointer: &str, range: Option<Range<usize>>) -> Mark {
        Mark {
            pointer: pointer.to_owned(),
            range,
            origin: Origin::Peer,
            is_string: true,
            reference: "a.t".into(),
        }
    }

    /// What a title puts into a text of JSON is the title, whatever it holds.
    #[test]
    fn data_in_a_text_of_json_changes_nothing_around_it() {
        let schema =
            json!({ "properties": { "o": { "type": "object" }, "l": { "type": "array" } } });
        for value in [
            "plain",
            "x\",\"admin\":true,\"z\":\"",
            "a\",\"b",
            "C:\\new",
            "Fix \"quotes\"",
            "{}",
            "\"",
            "7",
            "line\nend",
        ] {
            for (name, before, after, expected) in [
                ("o", "{\"name\":\"", "\"}", json!({ "name": value })),
                (
                    "o",
                    "{\"a-",
                    "\": [1]}",
                    json!({ format!("a-{value}"): [1] }),
                ),
                ("l", " [\"to ", "\"]", json!([format!("to {value}")])),
            ] {
                let text = format!("{before}{value}{after}");
                let range = before.len()..before.len() + value.len();
                let marks = [mark(&format!("/{name}"), Some(range))];
                let arguments = Map::from_iter([(name.to_owned(), json!(text))]);
                let found = fit(arguments, &schema, &marks);
                assert_eq!(found.arguments[name], expected, "{text}");
            }
        }
        // Outside of quotes only a number can stand.
        for (value, expected) in [("12", json!([12])), ("1, 2", json!("[1, 2]"))] {
            let marks = [mark("/l", Some(1..1 + value.len()))];
            let arguments = Map::from_iter([("l".to_owned(), json!(format!("[{value}]")))]);
            let found = fit(arguments, &schema, &marks);
            assert_eq!(found.arguments["l"], expected);
            assert_eq!(found.refused.len(), usize::from(value == "1, 2"));
        }
    }

    fn fitted(value: Json, schema: &Json) -> (Json, usize, usize) {
        let schema = json!({
            "properties": { "x": schema },
            "$defs": { "Labels": { "type": "array", "items": { "type": "string" } } },
        });
        let arguments = Map::from_iter([("x".to_owned(), value)]);
        let found = fit(arguments, &schema, &[mark("/x", None)]);
        (
            found.arguments["x"].clone(),
            found.converted.len(),
            found.ambiguous.len() + found.refused.len(),
        )
    }

    #[test]
    fn a_text_becomes_what_the_schema_takes() {
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        let numbers = json!({ "type": "array", "items": { "type": "integer" } });
        let optional = json!({ "anyOf": [texts.clone(), { "type": "null" }] });
        let nested = json!({ "type": "object", "properties": { "ids": numbers.clone() } });
        for (text, schema, expected) in [
            (r#"["bug","ui"]"#, &texts, json!(["bug", "ui"])),
            (r#"["bug","ui"]"#, &optional, json!(["bug", "ui"])),
            ("null", &optional, json!(null)),
            (
                r#"["bug"]"#,
                &json!({ "$ref": "#/$defs/Labels" }),
                json!(["bug"]),
            ),
            (
                r#"["bug"]"#,
                &json!({ "allOf": [{ "$ref": "#/$defs/Labels" }] }),
                json!(["bug"]),
            ),
            ("bug", &texts, json!(["bug"])),
            (
                "[1.10, 18446744073709551617, \"x\"]",
                &texts,
                json!(["1.10", "18446744073709551617", "x"]),
            ),
            ("[1, \"2\"]", &numbers, json!([1, 2])),
            ("7", &numbers, json!([7])),
            (r#"{"ids": ["1"]}"#, &nested, json!({ "ids": [1] })),
            (" 42 ", &json!({ "type": ["integer", "null"] }), json!(42)),
            ("042", &json!({ "type": "integer" }), json!(42)),
            ("1.5", &json!({ "type": "number" }), json!(1.5)),
            ("3", &json!({ "type": "number" }), json!(3)),
            ("true", &json!({ "type": "boolean" }), json!(true)),
            ("2", &json!({ "enum": [1, 2] }), json!(2)),
        ] {
            let expected = (expected, 1, 0);
            assert_eq!(fitted(json!(text), schema), expected, "{text} for {schema}");
        }
    }

    #[test]
    fn a_number_or_a_boolean_becomes_a_text_where_only_texts_are_taken() {
        let text = json!({ "type": "string" });
        let optional = json!({ "anyOf": [text.clone(), { "type": "null" }] });
        for (value, schema, expected) in [
            (json!(42), &text, "42"),
            (json!(1.5), &optional, "1.5"),
            (json!(true), &text, "true"),
        ] {
            assert_eq!(fitted(value, schema), (json!(expected), 1, 0), "{schema}");
        }
        let arguments = Map::from_iter([("x".to_owned(), json!(42))]);
        let schema = json!({ "properties": { "x": text } });
        let found = fit(arguments.clone(), &schema, &[]);
        assert_eq!(found.arguments, arguments);
        assert_eq!(
            found.refused,
            ["`x` is the number 42, which the tool's schema does not take"]
        );
    }

    #[test]
    fn what_the_schema_does_not_take_is_said() {
        for (value, schema) in [
            (json!(["a", "b"]), json!({ "type": "string" })),
            (json!({ "a": 1 }), json!({ "type": "string" })),
            (json!(null), json!({ "type": "integer" })),
            (json!(1.5), json!({ "type": "integer" })),
            (json!(42), json!({ "type": "boolean" })),
            (json!(42), json!({ "enum": [true, null] })),
            (json!([1]), json!({ "type": "object" })),
            // It would be another number.
            (
                json!("99999999999999999999999"),
                json!({ "type": "number" }),
            ),
        ] {
            let expected = (value.clone(), 0, 1);
            assert_eq!(fitted(value, &schema), expected, "{schema}");
        }
    }

    #[test]
    fn what_begins_like_a_list_is_no_item_of_one() {
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        for text in ["[\"bug\",]", "[draft] x", "{", " "] {
            assert_eq!(fitted(json!(text), &texts), (json!(text), 0, 1), "{text}");
        }
    }

    #[test]
    fn parts_are_fitted_where_they_stand() {
        let schema = json!({ "properties": { "filter": { "type": "object", "properties": {
            "ids": { "type": "array", "items": { "type": "integer" } },
            "name": { "type": "string" },
        } } } });
        let arguments = json!({ "filter": { "ids": [1, "2"], "name": ["n"] } });
        let arguments = arguments.as_object().expect("an object").clone();
        let found = fit(arguments, &schema, &[mark("", None)]);
        assert_eq!(
            Json::Object(found.arguments),
            json!({ "filter": { "ids": [1, 2], "name": "n" } })
        );
        assert_eq!(
            found.converted,
            [
                "`filter.ids[1]` was the text \"2\" and is sent as 2, as the tool's schema asks",
                "`filter.name` was the list [\"n\"] and is sent as \"n\", as the tool's schema asks",
            ]
        );
    }

    #[test]
    fn what_is_taken_stays() {
        let text = json!({ "type": "string" });
        let either = json!({ "anyOf": [text.clone(), { "type": "integer" }] });
        for (value, schema) in [
            (json!("42"), &text),
            (json!("[1]"), &text),
            (json!("42"), &either),
            (json!("[1]"), &json!({})),
            (json!("[1]"), &json!(true)),
            (json!("a"), &json!({ "enum": ["a", "b"] })),
            (json!(["a"]), &json!({ "type": ["array", "string"] })),
            (json!(42), &either),
            (json!(1.0), &json!({ "type": "integer" })),
            (json!(null), &json!({ "type": "string", "nullable": true })),
            (json!({}), &json!({ "properties": {} })),
            (json!({}), &json!({ "allOf": [{ "type": "string" }, {}] })),
        ] {
            let expected = (value.clone(), 0, 0);
            assert_eq!(
                fitted(value.clone(), schema),
                expected,
                "{value} for {schema}"
            );
        }
    }

    #[test]
    fn what_the_schema_leaves_open_stays_and_is_said() {
        let either = json!({ "anyOf": [{ "type": "string" }, { "type": "array" }] });
        for (text, schema) in [
            (r#"["bug"]"#, &either),
            ("many", &json!({ "type": "integer" })),
            ("", &json!({ "type": ["integer", "null"] })),
            ("123456789012345678901234", &json!({ "type": "integer" })),
        ] {
            assert_eq!(fitted(json!(text), schema), (json!(text), 0, 1), "{text}");
        }
        assert_eq!(
            fitted(json!("[draft] x"), &either),
            (json!("[draft] x"), 0, 0)
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_has_an_end() {
        let schema = json!({ "$defs": {}, "properties": { "x": { "$ref": "#/properties/x" } } });
        let arguments = Map::from_iter([("x".to_owned(), json!("1"))]);
        let found = fit(arguments, &schema, &[mark("", None)]);
        assert_eq!(found.arguments["x"], json!("1"));
    }
}
