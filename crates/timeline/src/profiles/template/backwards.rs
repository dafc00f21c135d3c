//! Templates read backwards: from a text to the arguments it was made of.

use serde_json::Map;

use super::{Form, Part, Placeholder, render};
use cuecard_source::value::Json;

/// The arguments of which `parts` make `text`. `None` if there are none, or if they can't be told.
pub(super) fn read(parts: &[Part], text: &str) -> Option<Map<String, Json>> {
    let mut found = Map::new();
    let rest = read_parts(parts, text, &mut found)?;
    if !rest.is_empty() {
        return None;
    }
    let found = Json::Object(found);
    // Whatever was guessed on the way: only what makes the same text again counts.
    let mut again = String::new();
    render(parts, &found, &mut again).ok()?;
    match found {
        Json::Object(found) if again == text => Some(found),
        _ => None,
    }
}

/// Reads `parts` from the start of `text`; gives what follows them.
fn read_parts<'t>(
    parts: &'t [Part],
    mut text: &'t str,
    found: &mut Map<String, Json>,
) -> Option<&'t str> {
    for (at, part) in parts.iter().enumerate() {
        text = match part {
            Part::Literal(literal) => text.strip_prefix(literal.as_str())?,
            Part::Placeholder(placeholder) => {
                let (value, rest) = read_placeholder(placeholder, text, parts.get(at + 1))?;
                found.insert(placeholder.argument.clone(), value);
                rest
            }
            Part::Optional(_) => return None,
        };
    }
    Some(text)
}

fn read_placeholder<'t>(
    placeholder: &Placeholder,
    text: &'t str,
    behind: Option<&Part>,
) -> Option<(Json, &'t str)> {
    match &placeholder.form {
        Form::Raw => {
            let end = match behind {
                None => text.len(),
                Some(Part::Literal(literal)) => text.find(literal.as_str())?,
                Some(_) => return None,
            };
            let (value, rest) = text.split_at(end);
            Some((Json::String(value.to_owned()), rest))
        }
        Form::Json if !text.starts_with(['"', '[', '{']) => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let end = text.bytes().take_while(|byte| is_part(byte)).count();
            let (value, rest) = text.split_at(end);
            Some((serde_json::from_str(value).ok()?, rest))
        }
        Form::Json => {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
            let value = values.next()?.ok()?;
            Some((value, &text[values.byte_offset()..]))
        }
        Form::Lines(prefix) => {
            let (mut lines, mut rest) = (String::new(), text);
            while let Some(line) = rest.strip_prefix(prefix.as_str()) {
                let end = line.find('\n')? + 1;
                lines.push_str(&line[..end]);
                rest = &line[end..];
            }
            Some((Json::String(lines), rest))
        }
        // What only commands have.
        Form::Word | Form::File | Form::Number | Form::Flag(_) | Form::In(_) | Form::Into(..) => {
            None
        }
    }
}
