//! What the readers of texts share: how data is named and shown, and lists of names.

use cuecard_source::value::{Origin, Piece, Text, cut};

/// The reference that a piece of data was filled in for, in braces.
pub(super) fn reference(piece: &Piece) -> String {
    format!("{{{{{}}}}}", piece.reference.as_deref().unwrap_or("…"))
}

/// The same in backticks.
pub(super) fn name(piece: &Piece) -> String {
    format!("`{}`", reference(piece))
}

/// A name for a value: `VALUE_` and the last part of its reference, in capitals.
pub(super) fn value_name(piece: &Piece) -> String {
    let path = piece.reference.as_deref().unwrap_or_default();
    let path = path.split('|').next().unwrap_or_default();
    let mut parts = path.split(['.', '[', ']', ' ']);
    let last = parts.rfind(|part| !part.is_empty()).unwrap_or_default();
    let plain = last.to_ascii_uppercase();
    let plain = plain.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    format!("VALUE_{plain}")
}

pub(super) const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// How an output gets the text of a command without the line end that commands print behind it.
pub const WITHOUT_LINE_END: &str = "outputs of commands end with a line end: take the text without it, `\"output\": { \"NAME\": { \"regex\": \"(?s)^(.*?)\\r?\\n?$\", \"from\": \"$.stdout\" } }`";

/// Whether a piece is data that ends with a line end.
pub fn ends_with_line(piece: &Piece) -> bool {
    !piece.origin.is_trusted() && piece.text.ends_with(LINE_ENDS)
}

/// What helps where data may not end with a line end.
pub(super) fn line_end_help(piece: &Piece) -> &'static str {
    match piece.text.trim_end_matches(LINE_ENDS).contains(LINE_ENDS) {
        true => {
            "it has several lines: take the one that is meant, or loop over them in the command"
        }
        false => WITHOUT_LINE_END,
    }
}

/// A text for a message: secrets by their names, control characters visible, not too long.
pub(super) fn shown(text: &Text) -> String {
    let mut shown = String::new();
    for piece in text.pieces() {
        match (piece.origin, &piece.reference) {
            (Origin::Secret, Some(reference)) => shown.push_str(&format!("{{{{{reference}}}}}")),
            (Origin::Secret, None) => shown.push('…'),
            _ => {
                for character in cut(&piece.text, 200).chars() {
                    match character.is_control() {
                        true => shown.extend(character.escape_default()),
                        false => shown.push(character),
                    }
                }
            }
        }
    }
    cut(&shown, 200).into_owned()
}

/// Whether a name is one of `names`, which have blanks between them.
pub(super) fn is_in(names: &str, name: &str) -> bool {
    !name.is_empty() && names.split_ascii_whitespace().any(|known| known == name)
}

/// The same of patterns, in which `*` stands for any text.
pub(super) fn is_like(patterns: &[&str], name: &str) -> bool {
    fn fits(pattern: &str, name: &str) -> bool {
        let Some((start, rest)) = pattern.split_once('*') else {
            return pattern == name;
        };
        name.strip_prefix(start).is_some_and(|name| {
            let mut ends = name.char_indices().map(|(at, _)| &name[at..]).chain([""]);
            ends.any(|name| fits(rest, name))
        })
    }
    let mut patterns = patterns.iter().flat_map(|it| it.split_ascii_whitespace());
    patterns.any(|pattern| fits(pattern, name))
}

/// Whether it is a non-negative integer of JSON, which means the same to every program: a number and nothing else.
pub(super) fn is_integer(text: &str) -> bool {
    let is_plain = text == "0" || !text.starts_with('0');
    is_plain && (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Text from parts: `{{name}}` parts are data, everything else is the author's.
    pub(in super::super) fn text(template: &str, values: &[(&str, &str)]) -> Text {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some(start) = rest.find("{{") {
            let end = start + rest[start..].find("}}").expect("closed");
            let name = &rest[start + 2..end];
            let value = values
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
                .expect("a value");
            if start > 0 {
                pieces.push(Piece::author(&rest[..start]));
            }
            pieces.push(Piece {
                text: value.to_owned(),
                origin: Origin::Peer,
                is_string: true,
                reference: Some(name.into()),
            });
            rest = &rest[end + 2..];
        }
        if !rest.is_empty() || pieces.is_empty() {
            pieces.push(Piece::author(rest));
        }
        Text::new(pieces)
    }

    #[test]
    fn a_message_shows_no_secrets_and_no_control_characters() {
        let text = Text::new(vec![
            Piece::author("a\u{1b}[2J"),
            Piece {
                text: "hunter2".into(),
                origin: Origin::Secret,
                is_string: true,
                reference: Some("PASSWORD".into()),
            },
        ]);
        assert_eq!(shown(&text), "a\\u{1b}[2J{{PASSWORD}}");
    }

    #[test]
    fn integers_are_those_of_json_that_are_not_negative() {
        for good in ["0", "7", "10", "999999999999999999"] {
            assert!(is_integer(good), "{good}");
        }
        for bad in [
            "",
            "-",
            "-7",
            "007",
            "1.5",
            "+1",
            " 1",
            "1 ",
            "0x1",
            "--1",
            "٣",
            "1234567890123456789",
        ] {
            assert!(!is_integer(bad), "{bad}");
        }
    }
}
