//! What a `WWW-Authenticate` header says.

use super::super::text::{clean, cut};

/// The longest header that is read, in bytes.
const LONGEST: usize = 16 * 1024;

/// The parameters of a challenge for a bearer token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in super::super) struct Challenge {
    /// For example `invalid_token`.
    pub(in super::super) error: Option<String>,
    /// The same in words.
    pub(in super::super) description: Option<String>,
    /// The scopes it takes.
    pub(super) scope: Option<String>,
    /// Where the server says which authorization server it trusts.
    pub(super) resource_metadata: Option<String>,
}

impl Challenge {
    /// Reads a header, leniently: what isn't understood is left out.
    pub(in super::super) fn read(header: &str) -> Self {
        let mut challenge = Self::default();
        let header = header.get(..LONGEST).unwrap_or(header);
        let Some(start) = header.to_ascii_lowercase().find("bearer") else {
            return challenge;
        };
        let mut rest = &header[start + "bearer".len()..];
        while let Some((name, value, after)) = parameter(rest) {
            let place = match name.to_ascii_lowercase().as_str() {
                "error" => Some(&mut challenge.error),
                "error_description" => Some(&mut challenge.description),
                "scope" => Some(&mut challenge.scope),
                "resource_metadata" => Some(&mut challenge.resource_metadata),
                _ => None,
            };
            if let Some(place) = place {
                place.get_or_insert(value);
            }
            rest = after;
        }
        challenge
    }

    /// The whole in words; nothing if it says nothing.
    pub(in super::super) fn in_words(&self) -> String {
        let mut text = match (&self.error, &self.description) {
            (Some(error), Some(description)) => format!("{description} (`{error}`)"),
            (Some(text), None) | (None, Some(text)) => text.clone(),
            (None, None) => String::new(),
        };
        if let Some(scope) = &self.scope {
            let separator = if text.is_empty() { "" } else { ", " };
            text.push_str(&format!("{separator}it requires the scope `{scope}`"));
        }
        cut(&clean(&text), 500)
    }
}

/// The next `name=value` of a header, with what follows it.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',']);
    let (name, rest) = text.split_once('=')?;
    // A blank before the `=` means that another scheme begins.
    let name = name.rsplit([' ', ',']).next()?;
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', ' ']).unwrap_or(rest.len());
        return Some((name, rest[..end].to_owned(), &rest[end..]));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((name, value, &quoted[at + 1..])),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_are_read_in_any_order_and_form() {
        let read = Challenge::read(
            r#"Basic realm="x, y", bearer realm="a \"b\"", Error=invalid_token , error_description="no = good", scope="a b", resource_metadata="https://e.org/x""#,
        );
        assert_eq!(
            read,
            Challenge {
                error: Some("invalid_token".into()),
                description: Some("no = good".into()),
                scope: Some("a b".into()),
                resource_metadata: Some("https://e.org/x".into()),
            }
        );
        assert_eq!(
            read.in_words(),
            "no = good (`invalid_token`), it requires the scope `a b`"
        );
        assert_eq!(Challenge::read("Basic realm=\"x\""), Challenge::default());
        assert_eq!(Challenge::read("Bearer").in_words(), "");
    }

    proptest! {
        #[test]
        fn anything_can_be_read(header in ".{0,200}") {
            Challenge::read(&format!("Bearer {header}")).in_words();
        }
    }
}
