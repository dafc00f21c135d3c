//! Templates read backwards: from a text to the arguments it was made of.

use serde_json::Map;

use super::{Form, Part, Placeholder, render};
use crate::profiles::shell::{self, Way};
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
                let (value, rest) = read_placeholder(placeholder, text, &parts[at + 1..], found)?;
                found.insert(placeholder.argument.clone(), value);
                rest
            }
            Part::Optional(inner) => {
                let mut inside = found.clone();
                match read_parts(inner, text, &mut inside) {
                    Some(rest) => {
                        *found = inside;
                        rest
                    }
                    None => text,
                }
            }
        };
    }
    Some(text)
}

fn read_placeholder<'t>(
    placeholder: &Placeholder,
    text: &'t str,
    behind: &'t [Part],
    found: &mut Map<String, Json>,
) -> Option<(Json, &'t str)> {
    let as_json = |(value, rest)| (Json::String(value), rest);
    match &placeholder.form {
        Form::Word => shell::unquote(text).map(as_json),
        Form::File => shell::unquote_file(text).map(as_json),
        Form::Raw => {
            let end = match behind.first() {
                None => text.len(),
                Some(Part::Literal(literal)) => text.find(literal.as_str())?,
                Some(_) => return None,
            };
            let (value, rest) = text.split_at(end);
            Some((Json::String(value.to_owned()), rest))
        }
        Form::Number => {
            let sign = usize::from(text.starts_with('-'));
            let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = text.split_at(sign + digits);
            match number.parse::<i64>() {
                Ok(number) => Some((Json::from(number), rest)),
                Err(_) => shell::unquote(text).map(as_json),
            }
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
        Form::Flag(flag) => Some((Json::Bool(true), text.strip_prefix(flag.as_str())?)),
        Form::In(folder) => {
            let end = match behind {
                [] => "",
                [Part::Literal(literal)] => literal,
                _ => return None,
            };
            let (path, command) = shell::read_run_in(text.strip_suffix(end)?)?;
            found.insert(folder.clone(), Json::String(path));
            Some((Json::String(command), end))
        }
        Form::Into(way, file) => {
            let (content, path, rest) = read_put(*way, text)?;
            found.insert(file.clone(), Json::String(path));
            Some((Json::String(content), rest))
        }
    }
}

/// The text, the path, and what follows a command that [`shell::put`] made.
fn read_put(way: Way, text: &str) -> Option<(String, String, &str)> {
    let text = match (way, text.strip_prefix("mkdir -p ")) {
        (Way::Write, Some(folder)) => shell::unquote(folder)?.1.strip_prefix(" && ")?,
        _ => text,
    };
    let operator = way.operator();
    if let Some(printed) = text.strip_prefix("printf %s ") {
        let (content, rest) = shell::unquote(printed)?;
        let rest = rest.strip_prefix(' ')?.strip_prefix(operator)?;
        let (path, rest) = shell::unquote_file(rest.strip_prefix(' ')?)?;
        return Some((content, path, rest));
    }
    let rest = text.strip_prefix("cat ")?.strip_prefix(operator)?;
    let (path, rest) = shell::unquote_file(rest.strip_prefix(' ')?)?;
    let (delimiter, rest) = shell::unquote(rest.strip_prefix(" <<")?)?;
    let rest = rest.strip_prefix('\n')?;
    let end = rest.find(delimiter.as_str())?;
    Some((rest[..end].to_owned(), path, &rest[end + delimiter.len()..]))
}
