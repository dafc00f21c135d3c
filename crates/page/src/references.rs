//! Texts of a page that came from variables are kept as references, so that steps play again with other values.

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

/// A text with the value of each reference to a variable in its place; others stay as they are.
pub fn without_references(text: &str, values: &[(String, String)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, reference) = rest.split_at(start);
        filled.push_str(before);
        let Some(end) = reference.find("}}") else {
            rest = reference;
            break;
        };
        let name = reference[2..end].trim();
        // A default is for a variable without a value.
        let name = match name.split_once('|') {
            Some((name, filter)) if filter.trim().starts_with("default") => name.trim(),
            _ => name,
        };
        match values.iter().find(|(known, _)| known == name) {
            Some((_, value)) => filled.push_str(value),
            None => filled.push_str(&reference[..end + 2]),
        }
        rest = &reference[end + 2..];
    }
    filled.push_str(rest);
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
        assert_eq!(
            without_references("{{USER | default(\"x\")}} {{USER|upper}}", &values()),
            "ana {{USER|upper}}"
        );
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
