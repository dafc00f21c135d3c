//! Typed access to a step's parameters. Texts that spell numbers and booleans are accepted as such.

use cuecard_source::value::{Mark, Piece, Text, Value, as_text, cut, kind_name, push_pointer};
use cuecard_tool_call::model::{BuiltinTool, ParamKind};
use cuecard_tool_call::script::{Failure, FailureKind};
use serde_json::Value as Json;

/// The parameters of one call, all of which the tool knows.
pub(super) struct Arguments<'a> {
    tool: BuiltinTool,
    value: &'a Value,
}

/// Stands around the number of a piece while the JSON around it is written.
const GAP: char = '\u{F8FF0}';

fn piece(mark: &Mark, text: String) -> Piece {
    Piece {
        text,
        is_string: mark.is_string,
        origin: mark.origin,
        reference: Some(mark.reference.clone()),
    }
}

impl<'a> Arguments<'a> {
    pub(super) fn new(tool: BuiltinTool, value: &'a Value) -> Result<Self, Failure> {
        let arguments = Self { tool, value };
        let known = |name: &str| tool.params().iter().any(|param| param.name == name);
        if let Some(name) = value
            .json
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::keys)
            .find(|name| !known(name))
        {
            return Err(arguments.failure(format!("{} has no parameter `{name}`", tool.name())));
        }
        Ok(arguments)
    }

    fn failure(&self, message: String) -> Failure {
        Failure::new(FailureKind::BadParameters, message)
    }

    pub(super) fn missing(&self, name: &str) -> Failure {
        let tool = self.tool.name();
        self.failure(match self.value.json.get(name) {
            Some(Json::Null) => format!("{tool} needs `{name}`, which is null"),
            _ => format!("{tool} needs `{name}`"),
        })
    }

    pub(super) fn wrong(&self, name: &str, wanted: &str) -> Failure {
        let found = self
            .any(name)
            .map_or("nothing".to_owned(), |json| match json {
                Json::Array(_) | Json::Object(_) | Json::Null => kind_name(json).to_owned(),
                _ => cut(&json.to_string(), 60).into_owned(),
            });
        self.failure(format!(
            "`{name}` of {} must be {wanted}, not {found}",
            self.tool.name()
        ))
    }

    pub(super) fn any(&self, name: &str) -> Option<&'a Json> {
        self.value
            .json
            .get(name)
            .filter(|json| !json.is_null() || self.accepts_null(name))
    }

    /// `null` stands for "not given", except where any value is welcome.
    fn accepts_null(&self, name: &str) -> bool {
        self.tool
            .params()
            .iter()
            .any(|param| param.name == name && param.kind == ParamKind::Any)
    }

    pub(super) fn required_any(&self, name: &str) -> Result<&'a Json, Failure> {
        self.any(name).ok_or_else(|| self.missing(name))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<Text>, Failure> {
        if self.any(name).is_none() {
            return Ok(None);
        }
        match self.value.text(&format!("/{name}")) {
            Some(text) => Ok(Some(text)),
            None => Err(self.wrong(name, "a string")),
        }
    }

    /// What is to be written; JSON that isn't text stands as it is written.
    pub(super) fn content(&self, name: &str) -> Result<String, Failure> {
        let json = self.any(name).ok_or_else(|| self.missing(name))?;
        Ok(as_text(json).into_owned())
    }

    pub(super) fn required_text(&self, name: &str) -> Result<Text, Failure> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// The members of an object as texts; JSON that isn't text stands as it is written. The origin of each is kept.
    pub(super) fn members(&self, name: &str) -> Result<Vec<(&'a str, Text)>, Failure> {
        let members = match self.any(name) {
            None => return Ok(Vec::new()),
            Some(Json::Object(members)) => members,
            Some(_) => return Err(self.wrong(name, "an object")),
        };
        let texts = members.iter().map(|(key, json)| {
            let mut pointer = format!("/{name}");
            push_pointer(&mut pointer, key);
            let text = self.value.text(&pointer);
            (
                key.as_str(),
                text.unwrap_or_else(|| self.json_text(&pointer, json)),
            )
        });
        Ok(texts.collect())
    }

    /// A value as the text of its JSON, in which the texts that were filled in are pieces of their own.
    fn json_text(&self, pointer: &str, json: &Json) -> Text {
        let marks = self.value.marks.iter().filter(|mark| mark.touches(pointer));
        let mut marks: Vec<&Mark> = marks.collect();
        // From the end, so that places before it stay.
        marks.sort_by_key(|mark| {
            std::cmp::Reverse((&mark.pointer, mark.range.as_ref().map(|it| it.start)))
        });
        let (mut left, mut filled) = (json.clone(), Vec::new());
        for mark in &marks {
            let leaf = mark
                .pointer
                .strip_prefix(pointer)
                .and_then(|rest| left.pointer_mut(rest));
            let Some(Json::String(text)) = leaf else {
                // Data anywhere in it makes data of the whole.
                let mark = marks.iter().max_by_key(|mark| !mark.origin.is_trusted());
                let piece = mark.map_or(Piece::author(&as_text(json)), |mark| Piece {
                    // No reference stands for the whole.
                    reference: None,
                    ..piece(mark, as_text(json).into_owned())
                });
                return Text::new(vec![piece]);
            };
            let range = mark.range.clone().unwrap_or(0..text.len());
            let quoted = Json::from(&text[range.clone()]).to_string();
            text.replace_range(range, &format!("{GAP}{}{GAP}", filled.len()));
            filled.push(piece(mark, quoted[1..quoted.len() - 1].to_owned()));
        }
        let text = as_text(&left);
        let pieces = text
            .split(GAP)
            .enumerate()
            .map(|(nth, part)| match nth % 2 {
                0 => Some(Piece::author(part)),
                _ => filled.get(part.parse::<usize>().ok()?).cloned(),
            });
        Text::new(pieces.flatten().collect())
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Failure> {
        let Some(json) = self.any(name) else {
            return Ok(None);
        };
        let number = match json {
            Json::Number(number) => number.as_f64(),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.filter(|number: &f64| number.is_finite() && *number >= 0.0) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(name, "a non-negative number")),
        }
    }

    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, Failure> {
        match self.number(name)? {
            None => Ok(None),
            // Checked to be whole and within what a float holds exactly.
            Some(number) if number.fract() == 0.0 && number < 9e15 => Ok(Some(number as u64)),
            Some(_) => Err(self.wrong(name, "a non-negative integer")),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.any(name) {
            None => Ok(false),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(Json::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    /// One of the words that the table of tools allows.
    pub(super) fn one_of(&self, name: &str) -> Result<Option<&'static str>, Failure> {
        let words = self
            .tool
            .params()
            .iter()
            .find_map(|param| match param.kind {
                ParamKind::OneOf(words) if param.name == name => Some(words),
                _ => None,
            });
        let Some(json) = self.any(name) else {
            return Ok(None);
        };
        let words = words.unwrap_or_default();
        match words.iter().find(|word| json.as_str() == Some(word)) {
            Some(word) => Ok(Some(word)),
            None => Err(self.wrong(name, &format!("one of {}", words.join(", ")))),
        }
    }
}
