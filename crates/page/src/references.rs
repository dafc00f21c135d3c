//! Texts of a page that came from variables are kept as references, so that steps play again with other values.

use std::ops::Range;

use cuecard_source::value::{Json, as_text};

/// The shortest value that is looked for in texts, in characters: shorter ones stand everywhere.
const SHORTEST: usize = 3;

/// A text with `{{NAME}}` wherever the value of a variable stands as a word of its own; of several the longest.
pub fn with_references(text: &str, values: &[(String, String)]) -> String {
    let mut known: Vec<&(String, String)> = values
        .iter()
        .filter(|(_, value)| value.chars().count() >= SHORTEST)
        .collect();
    known.sort_by_key(|(name, value)| (std::cmp::Reverse(value.len()), name.clone()));
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let before = text[..at].chars().next_back();
        let found = known.iter().find(|(_, value)| {
            let is_whole = |next: Option<char>| !next.is_some_and(char::is_alphanumeric);
            rest.strip_prefix(value.as_str())
                .is_some_and(|after| is_whole(before) && is_whole(after.chars().next()))
        });
        match (found, rest.chars().next()) {
            (Some((name, value)), _) => {
                written.push_str(&format!("{{{{{name}}}}}"));
                at += value.len();
            }
            (None, Some(sign)) => {
                written.push(sign);
                at += sign.len_utf8();
            }
            (None, None) => break,
        }
    }
    written
}

/// A `{{NAME}}` in a text, or `{{NAME | default("x")}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableReference<'t> {
    /// Where it stands, braces included, in bytes.
    pub range: Range<usize>,
    /// What is referred to. A filter that nobody knows is a part of it.
    pub name: &'t str,
    /// The text that stands in for a variable without a value.
    pub default: Option<String>,
}

/// The references in a text.
pub fn references(text: &str) -> Vec<VariableReference<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|open| at + open) {
        let inner = &text[open + 2..];
        let with_default = inner.split_once('|').and_then(|(name, filter)| {
            let (default, rest) = take_default(filter).filter(|_| !name.contains("}}"))?;
            Some((name, Some(default), rest))
        });
        let plain = || {
            inner
                .split_once("}}")
                .map(|(name, rest)| (name, None, rest))
        };
        let Some((name, default, rest)) = with_default.or_else(plain) else {
            break;
        };
        at = text.len() - rest.len();
        found.push(VariableReference {
            range: open..at,
            name: name.trim(),
            default,
        });
    }
    found
}

/// The value of ` default("x")}}`, and what follows.
fn take_default(filter: &str) -> Option<(String, &str)> {
    let value = filter.trim_start().strip_prefix("default")?.trim_start();
    let value = value.strip_prefix('(')?.trim_start();
    let (default, rest) = match value.strip_prefix('\'') {
        Some(text) => text
            .split_once('\'')
            .map(|(text, rest)| (text.to_owned(), rest))?,
        None => value.match_indices(')').find_map(|(end, _)| {
            let default: Json = serde_json::from_str(&value[..end]).ok()?;
            Some((as_text(&default).into_owned(), &value[end..]))
        })?,
    };
    let rest = rest.trim_start().strip_prefix(')')?.trim_start();
    Some((default, rest.strip_prefix("}}")?))
}

/// A text with the value of each reference to a variable in its place, or its default; others stay as they are.
pub fn without_references(text: &str, values: &[(String, String)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut at = 0;
    for VariableReference {
        range,
        name,
        default,
    } in references(text)
    {
        let value = values.iter().find(|(known, _)| known == name);
        let value = value.map(|(_, value)| value).or(default.as_ref());
        filled.push_str(&text[at..range.start]);
        filled.push_str(value.map_or(&text[range.clone()], String::as_str));
        at = range.end;
    }
    filled.push_str(&text[at..]);
    filled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> Vec<(String, String)> {
        [("USER", "ana"), ("MAIL", "ana@example.org"), ("AGE", "7")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    }

    #[test]
    fn values_become_references_and_back() {
        for (text, expected) in [
            ("Hello ana!", "Hello {{USER}}!"),
            ("ana@example.org", "{{MAIL}}"),
            ("banana ana", "banana {{USER}}"),
            ("7 days", "7 days"),
            ("", ""),
        ] {
            assert_eq!(with_references(text, &values()), expected);
            assert_eq!(without_references(expected, &values()), text);
        }
        for (text, filled) in [
            (
                r#"{{USER | default("x")}} {{USER|upper}}"#,
                "ana {{USER|upper}}",
            ),
            (r#"{{NOPE | default("x")}}!"#, "x!"),
            ("{{NOPE|default('it }} is')}} {{AGE}}", "it }} is 7"),
            ("{{NOPE | default(5)}}", "5"),
            ("{{NOPE | default(null)}}", ""),
            (r#"{{NOPE | default("")}}"#, ""),
            ("{{NOPE | default(x)}}", "{{NOPE | default(x)}}"),
        ] {
            assert_eq!(without_references(text, &values()), filled, "{text}");
        }
        assert_eq!(
            without_references("{{ USER }} {{NOPE}} {{", &values()),
            "ana {{NOPE}} {{"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_filled_back(text in "[a-z @.é]{0,30}(ana)?[a-z ]{0,10}") {
            let written = with_references(&text, &values());
            prop_assert_eq!(without_references(&written, &values()), text);
        }
    }
}
