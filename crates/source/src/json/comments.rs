//! JSON with comments and commas before closing brackets, which editors accept in their settings.

/// `text` with comments (`// …` and `/* … */`) and commas before a closing bracket replaced by blanks, so that
/// [`super::parse`] accepts it and every span still fits. Line breaks stay. Takes time linear in the length.
pub fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    // A comma after which nothing but blanks and comments has come so far.
    let mut comma = None;
    // The last byte of what is neither blank nor comment.
    let mut last = b'[';
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let mut next = at + 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'/' => match comment(&bytes, at) {
                Comment::Until(end) => {
                    blank(&mut bytes[at..end]);
                    next = end;
                }
                Comment::None => (comma, last) = (None, byte),
                // There is no end of another one after it either.
                Comment::Open => break,
            },
            b',' => {
                comma = (!matches!(last, b'[' | b'{' | b',')).then_some(at);
                last = byte;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                last = byte;
            }
            _ => {
                if byte == b'"' {
                    next = string_end(&bytes, at);
                }
                (comma, last) = (None, byte);
            }
        }
        at = next;
    }
    // Only whole characters were replaced.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// One past the string that begins at `start`. A string without its closing quote ends with its line.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\n' => return at,
            // What is escaped, be it a quote, ends nothing; a line does.
            b'\\' if bytes.get(at + 1).is_some_and(|&next| next != b'\n') => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// What a `/` begins.
enum Comment {
    /// A comment that ends before this place.
    Until(usize),
    /// One that is never closed.
    Open,
    /// None.
    None,
}

fn comment(bytes: &[u8], start: usize) -> Comment {
    let rest = bytes.get(start + 2..).unwrap_or_default();
    match bytes.get(start + 1) {
        Some(b'/') => {
            let length = rest.iter().position(|&byte| byte == b'\n');
            Comment::Until(length.map_or(bytes.len(), |length| start + 2 + length))
        }
        Some(b'*') => match rest.windows(2).position(|pair| pair == b"*/") {
            Some(length) => Comment::Until(start + 2 + length + 2),
            None => Comment::Open,
        },
        _ => Comment::None,
    }
}

fn blank(comment: &mut [u8]) {
    for byte in comment {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Limits, parse};
    use super::*;

    fn value(text: &str) -> serde_json::Value {
        let parsed = parse(&without_comments(text), &Limits::default());
        assert_eq!(parsed.errors, [], "{text}");
        parsed.root.expect("a valid text has a root").to_value()
    }

    #[test]
    fn what_editors_accept_is_read() {
        let text = "// servers é\n{ /* all,\n of them */ \"a\": [1, 2, /* 3 */ ], // one\n \"b\": {\"c\": \"// no\", },\r\n}";
        assert_eq!(value(text), json!({"a": [1, 2], "b": {"c": "// no"}}));
        assert_eq!(
            value(r#"{"a": "x\"//y,]", "b": "\\"}"#),
            json!({"a": "x\"//y,]", "b": "\\"})
        );
        assert_eq!(value("[]//"), json!([]));
    }

    #[test]
    fn places_stay() {
        let text = "{ // ä\n\"a\": 1, }";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.find("\"a\""), text.find("\"a\""));
        assert_eq!(plain.lines().count(), 2);
    }

    #[test]
    fn mistakes_stay_mistakes() {
        for text in [
            "[1,,]",
            "[,]",
            "[1 /* open ]",
            "{\"a\": / 1}",
            "[\"open, // x\n]",
            "/",
            "[1, 2",
        ] {
            let parsed = parse(&without_comments(text), &Limits::default());
            assert_ne!(parsed.errors, [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn json_stays_as_it_is(text in r#"[\[\]{},:"\\/* a-c0-9\n]{0,40}"#) {
            let blanked = without_comments(&text);
            prop_assert_eq!(blanked.len(), text.len());
            if parse(&text, &Limits::default()).errors.is_empty() {
                prop_assert_eq!(blanked, text);
            }
        }
    }
}
