//! Arguments fitted to the input schema of their tool. A text where the tool takes a number, a boolean, a list or an
//! object, as `--var` gives it, becomes that; what the schema leaves open stays as it is, and is said. The value of a
//! reference inside a text of JSON is a text there, or the number that it is: it changes nothing around it.

use std::collections::HashSet;

use cuecard_source::json::{read_numbers_as_texts, read_value};
use cuecard_source::matching::json_path;
use cuecard_source::value::{Mark, Origin, cut};
use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::{Map, Value as Json};

use super::pool::log;
use cuecard_runtime::tap::Recorder;

/// Arguments with what was made of them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fitted {
    pub(super) arguments: Map<String, Json>,
    /// A message for each value that was converted.
    pub(super) converted: Vec<String>,
    /// A message for each value that is nothing that the tool takes, and for each text from a command line that spells
    /// something else that the tool takes too: nobody knows which is meant.
    pub(super) unsettled: Vec<String>,
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
    // Most calls need no look.
    let is_plain = |(name, value): (&String, &Json)| {
        let kind = schema["properties"][name]["type"].as_str();
        match value {
            Json::String(_) => kind == Some("string"),
            Json::Bool(_) => kind == Some("boolean"),
            Json::Number(number) => {
                kind == Some("number") || (kind == Some("integer") && !number.is_f64())
            }
            _ => false,
        }
    };
    let validator = match arguments.iter().all(is_plain) {
        true => None,
        false => jsonschema::validator_for(schema).ok(),
    };
    let Some(validator) = validator else {
        return Fitted {
            arguments,
            ..Fitted::default()
        };
    };
    let mut fitting = Fitting {
        validator,
        schema,
        marks,
        value: Json::Object(arguments),
        converted: Vec::new(),
        unsettled: Vec::new(),
    };
    fitting.fit();
    fitting.note_ambiguous();
    let converted = fitting.converted.iter().map(|(pointer, was)| {
        let place = fitting.place(pointer);
        let now = fitting.value.pointer(pointer).unwrap_or(&Json::Null);
        format!("`{place}` was {was} and is sent as {now}, as the tool's schema asks")
    });
    Fitted {
        converted: converted.collect(),
        unsettled: fitting.unsettled,
        arguments: match fitting.value {
            Json::Object(arguments) => arguments,
            _ => Map::new(),
        },
    }
}

struct Fitting<'s> {
    validator: Validator,
    schema: &'s Json,
    marks: &'s [Mark],
    value: Json,
    /// Where values were converted, and what they were.
    converted: Vec<(String, String)>,
    unsettled: Vec<String>,
}

impl Fitting<'_> {
    fn fit(&mut self) {
        let mut seen = HashSet::new();
        while let Some(pointer) = self
            .misfits(&self.value)
            .into_iter()
            .find(|pointer| seen.insert(pointer.clone()))
        {
            let was = self.value.pointer(&pointer).cloned().unwrap_or_default();
            let candidates = self.candidates(&was, &pointer);
            let left = |candidate: &&Json| self.left(&pointer, candidate);
            let whole = candidates
                .iter()
                .find(|candidate| left(candidate).is_empty());
            // What is wrong inside is fitted next.
            let itself = || {
                candidates
                    .iter()
                    .find(|candidate| !left(candidate).contains(&pointer))
            };
            match whole.or_else(itself).cloned() {
                Some(candidate) => {
                    let is_inside = |(outer, _): &(String, String)| is_below(&pointer, outer);
                    if !self.converted.iter().any(is_inside) {
                        self.converted.push((pointer.clone(), described(&was)));
                    }
                    if let Some(place) = self.value.pointer_mut(&pointer) {
                        *place = candidate;
                    }
                }
                None => self.unsettled.push(format!(
                    "`{}` is {}, which the tool's schema does not take",
                    self.place(&pointer),
                    described(&was)
                )),
            }
        }
    }

    /// Says which texts from a command line spell a list or an object that is taken there, too, or may mean several items.
    fn note_ambiguous(&mut self) {
        for mark in self.marks {
            // What a scenario or a server calls a text is one.
            let is_given = matches!(mark.origin, Origin::User | Origin::Secret);
            if !is_given || mark.range.is_some() {
                continue;
            }
            let text = match self.value.pointer(&mark.pointer) {
                Some(Json::String(text)) => text.as_str(),
                Some(Json::Array(items)) => {
                    let made = |item| (mark.pointer.clone(), described(item));
                    if let [item @ Json::String(text)] = items.as_slice()
                        && text.contains(',')
                        && self.converted.contains(&made(item))
                    {
                        let several: Vec<&str> = text.split(',').map(str::trim).collect();
                        self.unsettled.push(format!(
                            "`{}` is sent as the list of one text, {item}: write [{item}] or {}",
                            self.place(&mark.pointer),
                            Json::from(several)
                        ));
                    }
                    continue;
                }
                _ => continue,
            };
            let kind = match text.trim().as_bytes().first() {
                Some(b'[') => "array",
                Some(b'{') => "object",
                _ => continue,
            };
            let json = self.json(text, &mark.pointer, false);
            let takes = |value: &Json| !self.left(&mark.pointer, value).contains(&mark.pointer);
            // Where anything is taken, a text is as good as anything.
            if takes(&text.into())
                && json.is_some_and(|json| takes(&json))
                && !takes(&Json::Bool(true))
            {
                self.unsettled.push(format!(
                    "`{}` is the text {}, and the tool's schema takes texts and an {kind} there",
                    self.place(&mark.pointer),
                    Json::from(text)
                ));
            }
        }
    }

    /// The pointers to the values of kinds that the schema doesn't take.
    fn misfits(&self, value: &Json) -> Vec<String> {
        let errors = self.validator.iter_errors(value);
        let of_kinds = errors.filter(|error| match error.kind() {
            Kind::Type { .. } => {
                let schema = error.schema_path().to_string();
                let schema = schema.strip_suffix("/type").unwrap_or_default();
                let is_nullable = || self.schema.pointer(schema)?.get("nullable")?.as_bool();
                !error.instance().is_null() || is_nullable() != Some(true)
            }
            // Another text is one of the right kind.
            Kind::Enum { options } => {
                let mut options = options.as_array().into_iter().flatten();
                !error.instance().is_string() || !options.any(Json::is_string)
            }
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } | Kind::Constant { .. } => true,
            _ => false,
        });
        of_kinds
            .map(|error| error.instance_path().to_string())
            .collect()
    }

    /// The misfits at a place and below it, with another value there.
    fn left(&self, pointer: &str, candidate: &Json) -> Vec<String> {
        let mut tried = self.value.clone();
        if let Some(place) = tried.pointer_mut(pointer) {
            *place = candidate.clone();
        }
        let mut left = self.misfits(&tried);
        left.retain(|inner| is_below(inner, pointer));
        left
    }

    /// What a value may be meant to be, the most likely first.
    fn candidates(&self, value: &Json, pointer: &str) -> Vec<Json> {
        match value {
            Json::String(text) => {
                let trimmed = text.trim();
                let read = |is_of_texts| self.json(text, pointer, is_of_texts);
                let json = read(false).filter(|json| !json.is_string());
                // Of numbers only their digits count.
                let digits = trimmed.parse::<i64>().ok().map(Json::from);
                // A list that isn't JSON, or not of such items, is no item.
                let is_item = !trimmed.is_empty() && !trimmed.starts_with(['[', '{']);
                let list = |item: &Json| Json::Array(vec![item.clone()]);
                let items = [Some(value), json.as_ref()].into_iter().flatten();
                let lists: Vec<Json> = items.filter(|_| is_item).map(list).collect();
                let texts = read(true).filter(|json| !json.is_string());
                [json, texts, digits]
                    .into_iter()
                    .flatten()
                    .chain(lists)
                    .collect()
            }
            Json::Number(_) | Json::Bool(_)
                if self.marks.iter().any(|mark| mark.touches(pointer)) =>
            {
                vec![value.to_string().into()]
            }
            Json::Array(items) => match items.as_slice() {
                // A list may hold the text that is asked for.
                [text @ Json::String(_)] => vec![text.clone()],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// A place as people write it: `labels[0]`.
    fn place(&self, pointer: &str) -> String {
        let path = json_path(&self.value, pointer);
        path.trim_start_matches('.').to_owned()
    }

    /// The JSON that `text`, the value at a place, spells. It is read with each reference in it as a text of its own,
    /// unless that is a number, `true`, `false` or `null`. If `is_of_texts`, its numbers are texts.
    fn json(&self, text: &str, pointer: &str, is_of_texts: bool) -> Option<Json> {
        let here = self.marks.iter().filter(|mark| mark.pointer == pointer);
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
}

/// Whether a value is the one at `outer`, or a part of it.
fn is_below(pointer: &str, outer: &str) -> bool {
    let rest = pointer.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use serde_json::json;

    use super::*;

    fn mark(pointer: &str, range: Option<Range<usize>>) -> Mark {
        Mark {
            pointer: pointer.to_owned(),
            range,
            origin: Origin::User,
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
            assert_eq!(found.unsettled.len(), usize::from(value == "1, 2"));
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
            found.unsettled.len(),
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
            ("[\"bug,ui\"]", &texts, json!(["bug,ui"])),
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
            found.unsettled,
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

    /// Whether `a,b` is one label or two, only its author knows.
    #[test]
    fn a_text_with_commas_in_place_of_a_list_is_said() {
        let schema =
            json!({ "properties": { "x": { "type": "array", "items": { "type": "string" } } } });
        let arguments = Map::from_iter([("x".to_owned(), json!("bug, ui"))]);
        let found = fit(arguments.clone(), &schema, &[mark("/x", None)]);
        assert_eq!(found.arguments["x"], json!(["bug, ui"]));
        assert_eq!(
            found.unsettled,
            [
                r#"`x` is sent as the list of one text, "bug, ui": write ["bug, ui"] or ["bug","ui"]"#
            ]
        );
        let of_server = Mark {
            origin: Origin::Peer,
            ..mark("/x", None)
        };
        assert!(fit(arguments, &schema, &[of_server]).unsettled.is_empty());
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
