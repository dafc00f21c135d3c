//! JSON values that know where their parts came from.
//!
//! What the author wrote and what the user passed is trusted, as in any script; what a peer answered is
//! data and is not. A [`Value`] is plain JSON with a side table of [`Mark`]s, so that a value without
//! references costs nothing extra.

mod credentials;
mod printable;
mod redact;
mod spelling;
mod text;

use std::ops::Range;
use std::sync::Arc;

pub use credentials::{
    SHORTEST_SECRET, credential_in, find_credentials, find_credentials_in_text, is_credential,
    is_folder, key_of, mask_credentials, may_hold_credential, names_credential,
    names_credential_in_config, secret_texts, without_credentials,
};
pub use printable::{printable, printable_lines, turns_direction};
pub use redact::{REDACTED, Redactor};
pub use spelling::{percent_decoded, percent_encoded};
pub use text::{Piece, Text};

/// Plain JSON.
pub type Json = serde_json::Value;

/// Where a part of a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Written in the scenario.
    Author,
    /// Passed by the user: a variable from the command line, a file or the environment.
    User,
    /// Passed by the user and not to be shown.
    Secret,
    /// Answered by a peer: a step's output.
    Peer,
}

impl Origin {
    /// Whether it may act as code: a command, a script, a path outside the root.
    pub fn is_trusted(self) -> bool {
        self != Self::Peer
    }
}

/// Says that a part of a value was filled in from a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// JSON pointer of the value.
    pub pointer: String,
    /// The bytes of the string at `pointer`; if absent, the whole value (of any type), with the names of its members.
    pub range: Option<Range<usize>>,
    /// Where it came from.
    pub origin: Origin,
    /// Whether a string was filled in, not another JSON value.
    pub is_string: bool,
    /// The reference as written, without the braces.
    pub reference: Arc<str>,
}

impl Mark {
    /// Whether the value at `pointer` was filled in by it, or a part of that value.
    pub fn touches(&self, pointer: &str) -> bool {
        covers(&self.pointer, pointer) || covers(pointer, &self.pointer)
    }
}

/// JSON with its marks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Value {
    /// The value itself. Shared, since the trace and the reports keep it too.
    pub json: Arc<Json>,
    /// What in it was filled in; everything else is the author's.
    pub marks: Vec<Mark>,
}

impl Value {
    /// A value that the author wrote.
    pub fn author(json: Json) -> Self {
        Self {
            json: Arc::new(json),
            marks: Vec::new(),
        }
    }

    /// The text of the string, number or boolean at `pointer` with the origin of each part, or `None` if
    /// there is none.
    pub fn text(&self, pointer: &str) -> Option<Text> {
        let json = self.json.pointer(pointer)?;
        if !matches!(json, Json::String(_) | Json::Number(_) | Json::Bool(_)) {
            return None;
        }
        let text = as_text(json);
        if let Some(mark) = self.data_around(pointer) {
            return Some(Text::new(vec![Piece {
                text: text.into_owned(),
                origin: mark.origin,
                is_string: json.is_string(),
                reference: Some(mark.reference.clone()),
            }]));
        }
        let mut pieces = Vec::new();
        let mut done = 0;
        for mark in &self.marks {
            let (range, is_string) = match &mark.range {
                Some(range) if mark.pointer == pointer => (range.clone(), mark.is_string),
                None if covers(&mark.pointer, pointer) => (0..text.len(), json.is_string()),
                _ => continue,
            };
            if range.start > done {
                pieces.push(Piece::author(&text[done..range.start]));
            }
            pieces.push(Piece {
                text: text[range.clone()].to_owned(),
                origin: mark.origin,
                is_string,
                reference: Some(mark.reference.clone()),
            });
            done = range.end;
        }
        if done < text.len() || pieces.is_empty() {
            pieces.push(Piece::author(&text[done..]));
        }
        Some(Text::new(pieces))
    }

    /// The mark of a peer's answer that is the whole value at `pointer`, or holds it. The names of its members are data
    /// then too: one of them may be computed, and what it names is marked no further.
    pub fn data_around(&self, pointer: &str) -> Option<&Mark> {
        self.marks.iter().find(|mark| {
            mark.range.is_none() && !mark.origin.is_trusted() && covers(&mark.pointer, pointer)
        })
    }
}

/// Whether the value at `outer` holds the one at `inner`.
fn covers(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// One more step of a JSON pointer, escaped.
pub fn push_pointer(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The steps of a JSON pointer, without escapes.
pub fn pointer_steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    let steps = pointer.split('/').skip(1);
    steps.map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// The pointer to what holds a value, and the last step to it. `None` for the whole document.
pub fn split_pointer(pointer: &str) -> Option<(&str, String)> {
    let (parent, step) = pointer.rsplit_once('/')?;
    Some((parent, step.replace("~1", "/").replace("~0", "~")))
}

/// How a value stands inside text: a string as it is, null as nothing, everything else as compact JSON.
pub fn as_text(json: &Json) -> std::borrow::Cow<'_, str> {
    match json {
        Json::String(text) => text.into(),
        Json::Null => "".into(),
        other => other.to_string().into(),
    }
}

/// What kind of JSON it is, in words.
pub fn kind_name(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// Signs that nobody sees: Unicode lets them be ignored where they can't be shown.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most `limit` characters of `text`, with a mark where it was cut.
pub fn cut(text: &str, limit: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mark(pointer: &str, range: Option<Range<usize>>, origin: Origin) -> Mark {
        Mark {
            pointer: pointer.into(),
            range,
            origin,
            is_string: true,
            reference: "step.out".into(),
        }
    }

    #[test]
    fn a_text_knows_the_origin_of_each_part() {
        let value = Value {
            json: json!({"command": "echo hi > out", "list": ["x"]}).into(),
            marks: vec![
                mark("/command", Some(5..7), Origin::Peer),
                mark("/list", None, Origin::User),
            ],
        };
        let text = value.text("/command").expect("a string");
        let parts: Vec<_> = text
            .pieces()
            .iter()
            .map(|piece| (piece.text.as_str(), piece.origin))
            .collect();
        assert_eq!(
            parts,
            [
                ("echo ", Origin::Author),
                ("hi", Origin::Peer),
                (" > out", Origin::Author)
            ]
        );
        assert!(!text.is_trusted());
        assert_eq!(
            value.text("/list/0").expect("a string").pieces()[0].origin,
            Origin::User
        );
        assert!(value.text("/list").is_none());
        assert!(value.text("/listing").is_none());
    }

    #[test]
    fn values_stand_in_text_as_people_expect() {
        assert_eq!(as_text(&json!("é")), "é");
        assert_eq!(as_text(&json!(null)), "");
        assert_eq!(as_text(&json!(true)), "true");
        assert_eq!(as_text(&json!(1.5)), "1.5");
        assert_eq!(as_text(&json!({"ä": [1, null]})), r#"{"ä":[1,null]}"#);
    }

    #[test]
    fn a_cut_keeps_whole_characters() {
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
