//! Typed access to a step's parameters, which the table of the tools checks. Texts that spell numbers and booleans are
//! accepted as such.

use std::str::FromStr;

use cuecard_source::value::{Mark, Piece, Text, Value, as_text, push_pointer};
use cuecard_tool_call::model::{BuiltinTool, flag_of, number_of};
use cuecard_tool_call::script::{Failure, FailureKind};
use serde_json::{Map, Value as Json};

/// The parameters of one call. Null is as good as an absent one.
pub(super) struct Arguments<'a>(&'a Value);

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
    /// The parameters of a call of a tool, in which nothing is wrong.
    ///
    /// # Errors
    /// What is wrong first.
    pub(super) fn new(tool: BuiltinTool, value: &'a Value) -> Result<Self, Failure> {
        let none = Map::new();
        let params = value.json.as_object().unwrap_or(&none);
        match tool.mistakes(params, false).into_iter().next() {
            None => Ok(Self(value)),
            Some(mistake) => Err(Failure {
                help: mistake.help,
                ..Failure::new(FailureKind::BadParameters, mistake.message)
            }),
        }
    }

    /// Those of the parameters that are known before the run.
    pub(super) fn known(value: &'a Value) -> Self {
        Self(value)
    }

    pub(super) fn any(&self, name: &str) -> Option<&'a Json> {
        self.0.json.get(name).filter(|json| !json.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<Text> {
        self.any(name)
            .and_then(|_| self.0.text(&format!("/{name}")))
    }

    /// A text that its tool requires.
    pub(super) fn required_text(&self, name: &str) -> Text {
        self.text(name).unwrap_or_default()
    }

    /// What is to be written; JSON that isn't text stands as it is written.
    pub(super) fn content(&self, name: &str) -> String {
        let json = self.any(name);
        json.map_or_else(String::new, |json| as_text(json).into_owned())
    }

    /// The members of an object as texts; JSON that isn't text stands as it is written. The origin of each is kept.
    pub(super) fn members(&self, name: &str) -> Vec<(String, Text)> {
        let members = self.any(name).and_then(Json::as_object).into_iter();
        let texts = members.flatten().map(|(key, json)| {
            let mut pointer = format!("/{name}");
            push_pointer(&mut pointer, key);
            let text = self.0.text(&pointer);
            let text = text.unwrap_or_else(|| self.json_text(&pointer, json));
            (key.clone(), text)
        });
        texts.collect()
    }

    /// A value as the text of its JSON, in which the texts that were filled in are pieces of their own.
    fn json_text(&self, pointer: &str, json: &Json) -> Text {
        let marks = self.0.marks.iter().filter(|mark| mark.touches(pointer));
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

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.any(name).and_then(number_of)
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        // Checked to be whole, and within what a float holds exactly.
        self.number(name).map(|number| number as u64)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.any(name).and_then(flag_of).unwrap_or_default()
    }

    /// One of the words that the table of tools allows.
    pub(super) fn word<T: FromStr>(&self, name: &str) -> Option<T> {
        self.any(name)?.as_str()?.parse().ok()
    }
}
