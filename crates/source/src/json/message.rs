//! How the mistakes in a JSON text are said to people.

use std::borrow::Cow;

use super::error::{JsonError, JsonErrorKind, NumberProblem};
use super::is_invisible;

impl std::fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message())
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    /// What is wrong, as a lowercase fragment.
    pub fn message(&self) -> String {
        match &self.kind {
            JsonErrorKind::Empty => "expected a JSON value".to_owned(),
            JsonErrorKind::TooLarge { bytes, limit } => {
                format!("the text is {bytes} bytes long; the limit is {limit}")
            }
            JsonErrorKind::TooDeep { limit } => {
                format!("arrays and objects are nested {limit} deep here")
            }
            JsonErrorKind::TooManyErrors { limit } => {
                format!("there are more than {limit} errors; the rest of the file was not read")
            }
            JsonErrorKind::ByteOrderMark => "the text begins with a byte order mark".to_owned(),
            JsonErrorKind::Comment => "comments are not allowed in JSON".to_owned(),
            JsonErrorKind::UnclosedComment => {
                "comments are not allowed in JSON, and this one is never closed".to_owned()
            }
            JsonErrorKind::InvisibleCharacter { character } => {
                format!("{} is not whitespace in JSON", code_point(*character))
            }
            JsonErrorKind::DuplicateKey { key, .. } => {
                format!("duplicate key `{}`", shown(key))
            }
            JsonErrorKind::UnquotedKey { key } => format!("key `{}` is not quoted", shown(key)),
            JsonErrorKind::KeyNotString { opener } => {
                format!("expected a string as key, found an {}", container(*opener))
            }
            JsonErrorKind::MissingKey => "expected a key before `:`".to_owned(),
            JsonErrorKind::MissingValue { key } => {
                format!("missing value for key `{}`", shown(key))
            }
            JsonErrorKind::MissingColon => "expected `:` between key and value".to_owned(),
            JsonErrorKind::MissingComma => "expected `,`".to_owned(),
            JsonErrorKind::WrongSeparator { expected, found } => {
                format!("expected `{expected}`, found `{}`", shown(found))
            }
            JsonErrorKind::TrailingComma { closer } => {
                format!("trailing `,` before `{closer}`")
            }
            JsonErrorKind::ExtraComma => "unexpected `,`".to_owned(),
            JsonErrorKind::KeyInArray => "unexpected key in an array".to_owned(),
            JsonErrorKind::WrongQuotes { quote, .. } => {
                format!("strings must be in `\"`, not in {}", quote_name(*quote))
            }
            JsonErrorKind::UnclosedString => "unterminated string".to_owned(),
            JsonErrorKind::UnescapedQuote { more: 0 } => {
                "unescaped `\"` inside a string".to_owned()
            }
            JsonErrorKind::UnescapedQuote { more } => {
                format!("unescaped `\"` inside a string, and {more} more in the same string")
            }
            JsonErrorKind::ControlCharacter { character, more } => {
                let what = match character {
                    '\n' | '\r' => "a line break".to_owned(),
                    '\t' => "a tab".to_owned(),
                    other => format!("the control character {}", code_point(*other)),
                };
                match more {
                    0 => format!("{what} inside a string"),
                    1 => format!(
                        "{what} inside a string, and another control character in the same string"
                    ),
                    more => format!(
                        "{what} inside a string, and {more} more control characters in the same string"
                    ),
                }
            }
            JsonErrorKind::BadEscape { escape } => {
                format!("invalid escape `{}`", shown(escape))
            }
            JsonErrorKind::LoneSurrogate { unit } => {
                format!("`\\u{unit:04x}` is a lone surrogate")
            }
            JsonErrorKind::BadNumber { text, problem, .. } => {
                let text = shown(text);
                match problem {
                    NumberProblem::LeadingPlus => {
                        format!("leading `+` in `{text}`, which JSON doesn't allow")
                    }
                    NumberProblem::LeadingZero => {
                        format!("leading zero in `{text}`, which JSON doesn't allow")
                    }
                    NumberProblem::NoDigitBeforePoint => {
                        format!("`{text}` has no digit before the decimal point")
                    }
                    NumberProblem::NoDigitAfterPoint => {
                        format!("`{text}` has no digit after the decimal point")
                    }
                    NumberProblem::NoExponentDigits => {
                        format!("`{text}` has no digits in its exponent")
                    }
                    NumberProblem::OtherBase => {
                        format!("`{text}` is not decimal, and JSON numbers are")
                    }
                    NumberProblem::Separator => {
                        format!("`{text}` has a separator between its digits")
                    }
                    NumberProblem::LoneMinus => "expected a number after `-`".to_owned(),
                    NumberProblem::NotANumber => format!("`{text}` is not a valid number"),
                }
            }
            JsonErrorKind::NumberOutOfRange { text } => {
                format!("number `{}` is out of range", shown(text))
            }
            JsonErrorKind::UnknownWord {
                word,
                instead: Some(_),
            } => format!("JSON has no `{}`", shown(word)),
            JsonErrorKind::UnknownWord {
                word,
                instead: None,
            } => {
                format!(
                    "`{}` is not quoted, and is not true, false or null",
                    shown(word)
                )
            }
            JsonErrorKind::UnquotedReference { reference } => {
                format!("reference `{}` is not quoted", shown(reference))
            }
            JsonErrorKind::Ellipsis => "`...` is not JSON".to_owned(),
            JsonErrorKind::UnexpectedCharacter { character } => {
                format!("unexpected `{}`", shown(character.encode_utf8(&mut [0; 4])))
            }
            JsonErrorKind::UnexpectedText { text } => {
                format!("expected `,` or a closing bracket, found `{}`", shown(text))
            }
            JsonErrorKind::TrailingText { is_value: true } => {
                "unexpected second value after the first".to_owned()
            }
            JsonErrorKind::TrailingText { is_value: false } => {
                "unexpected text after the end of the value".to_owned()
            }
            JsonErrorKind::MismatchedBracket { opener, closer, .. } => {
                format!(
                    "mismatched `{closer}`: the {} was opened with `{opener}`",
                    container(*opener)
                )
            }
            JsonErrorKind::StrayBracket { closer } => format!("unmatched `{closer}`"),
            JsonErrorKind::UnclosedBracket { opener, around: 0 } => {
                format!("this `{opener}` is never closed")
            }
            JsonErrorKind::UnclosedBracket { opener, around: 1 } => {
                format!("this `{opener}` is never closed, nor is the bracket around it")
            }
            JsonErrorKind::UnclosedBracket { opener, around } => {
                format!("this `{opener}` is never closed, nor are the {around} brackets around it")
            }
        }
    }

    /// What to do about it, where there is more to say than [`JsonError::message`] does.
    pub fn help(&self) -> Option<String> {
        let help = match &self.kind {
            JsonErrorKind::Empty => "write a value, such as `{}`".to_owned(),
            JsonErrorKind::TooLarge { .. } => "split the file".to_owned(),
            JsonErrorKind::TooDeep { limit } => format!("nest less than {limit} deep"),
            JsonErrorKind::TooManyErrors { .. } => {
                "fix these first; perhaps the file isn't meant to be JSON".to_owned()
            }
            JsonErrorKind::ByteOrderMark => {
                "save the file as UTF-8 without a byte order mark".to_owned()
            }
            JsonErrorKind::Comment | JsonErrorKind::UnclosedComment => {
                "remove it; put notes for readers into a description".to_owned()
            }
            JsonErrorKind::InvisibleCharacter { .. } => {
                "replace it with an ordinary space, or remove it".to_owned()
            }
            JsonErrorKind::DuplicateKey { .. } => "remove one of the two, or rename it".to_owned(),
            JsonErrorKind::UnquotedKey { key } => instead_write(key),
            JsonErrorKind::KeyNotString { .. } => {
                "write `\"name\": ` before it, or use an array".to_owned()
            }
            JsonErrorKind::MissingKey => "write a key before it: `\"name\": …`".to_owned(),
            JsonErrorKind::MissingValue { .. } => {
                "write `: ` and a value after it, perhaps `null`".to_owned()
            }
            JsonErrorKind::WrongSeparator { expected, .. } => format!("write `{expected}`"),
            JsonErrorKind::TrailingComma { .. } | JsonErrorKind::ExtraComma => {
                "remove the comma".to_owned()
            }
            JsonErrorKind::KeyInArray => "write `{` and `}` around the keys and values".to_owned(),
            JsonErrorKind::WrongQuotes { content, .. } => instead_write(content),
            JsonErrorKind::UnclosedString => {
                "end it with `\"`; a line break inside a string is written `\\n`, a quote `\\\"`"
                    .to_owned()
            }
            JsonErrorKind::UnescapedQuote { .. } => {
                "write `\\\"` for a quote inside a string".to_owned()
            }
            JsonErrorKind::ControlCharacter { character, .. } => {
                format!("write `{}`", control_escape(*character))
            }
            JsonErrorKind::BadEscape { escape } => escape_help(escape),
            JsonErrorKind::LoneSurrogate { .. } => {
                "write the whole surrogate pair, as in `\\ud83d\\ude00`, or the character itself"
                    .to_owned()
            }
            JsonErrorKind::BadNumber {
                text,
                problem,
                instead,
            } => match (problem, instead) {
                (NumberProblem::LeadingZero, Some(number)) => {
                    format!(
                        "write `{number}`, or `\"{}\"` if the zeros matter",
                        shown(text)
                    )
                }
                (_, Some(number)) => format!("write `{number}`"),
                (NumberProblem::NoExponentDigits, None) => {
                    "write the exponent, as in `1e6`".to_owned()
                }
                (NumberProblem::LoneMinus, None) => "write the number right after it".to_owned(),
                (_, None) => format!("if it is text: {}", instead_write(text)),
            },
            JsonErrorKind::NumberOutOfRange { .. } => {
                "the largest number is about `1.7e308`; longer ones can be strings".to_owned()
            }
            JsonErrorKind::UnknownWord {
                word,
                instead: Some(instead),
            } => {
                format!("write `{instead}`, or `{}` if it is text", quoted(word))
            }
            JsonErrorKind::UnknownWord {
                word,
                instead: None,
            } => format!("if it is text: {}", instead_write(word)),
            JsonErrorKind::UnquotedReference { reference } => {
                format!(
                    "{}: a string that is one reference keeps the type of its value",
                    instead_write(reference)
                )
            }
            JsonErrorKind::Ellipsis => "write out what it stands for, or remove it".to_owned(),
            JsonErrorKind::UnexpectedCharacter { .. } | JsonErrorKind::UnexpectedText { .. } => {
                "remove it".to_owned()
            }
            JsonErrorKind::TrailingText { is_value: true } => {
                "a file contains one value: remove the rest, or wrap everything in `[` and `]`"
                    .to_owned()
            }
            JsonErrorKind::TrailingText { is_value: false } => "remove it".to_owned(),
            JsonErrorKind::MismatchedBracket { opener, .. } => {
                format!("write `{}` here, or before it", closer_of(*opener))
            }
            JsonErrorKind::StrayBracket { .. } => {
                "remove it, or look for an extra closing bracket before it".to_owned()
            }
            JsonErrorKind::UnclosedBracket { opener, .. } => {
                format!(
                    "write `{}` where it ends; perhaps the file is truncated",
                    closer_of(*opener)
                )
            }
            JsonErrorKind::MissingColon | JsonErrorKind::MissingComma => return None,
        };
        Some(help)
    }
}

fn is_cut(text: &str) -> bool {
    text.chars().count() > JsonErrorKind::LONGEST_EXCERPT
}

/// `text` with what a terminal would act on, or nobody would see, as code points.
fn shown(text: &str) -> Cow<'_, str> {
    let hidden = |character: char| character != ' ' && is_invisible(character);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            shown.push_str(&control_escape(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// `text` as a JSON string that shows all its characters.
fn quoted(text: &str) -> String {
    let string = serde_json::Value::from(text).to_string();
    shown(&string).into_owned()
}

fn instead_write(text: &str) -> String {
    if is_cut(text) {
        "write `\"` around it".to_owned()
    } else {
        format!("write `{}`", quoted(text))
    }
}

fn code_point(character: char) -> String {
    let name = match character {
        '\0' => " (NUL)",
        '\u{b}' => " (vertical tab)",
        '\u{c}' => " (form feed)",
        '\u{a0}' => " (no-break space)",
        '\u{200b}' => " (zero-width space)",
        '\u{3000}' => " (ideographic space)",
        '\u{feff}' => " (byte order mark)",
        _ => "",
    };
    format!("U+{:04X}{name}", u32::from(character))
}

fn control_escape(character: char) -> String {
    match character {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        other => utf16_escape(other),
    }
}

fn utf16_escape(character: char) -> String {
    let units = character.encode_utf16(&mut [0; 2]).to_vec();
    units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn escape_help(escape: &str) -> String {
    let body = escape.strip_prefix('\\').unwrap_or(escape);
    let from_hex = |digits: &str| {
        u32::from_str_radix(digits, 16)
            .ok()
            .and_then(char::from_u32)
    };
    let code = match body.get(..1) {
        Some("x" | "U") if body.len() > 1 => from_hex(&body[1..]),
        Some("u") => body
            .strip_prefix("u{")
            .and_then(|rest| from_hex(rest.trim_end_matches('}'))),
        _ => None,
    };
    match (code, body) {
        (Some(character), _) => format!("write `{}`", utf16_escape(character)),
        (None, "") => "write `\\\\` for a backslash".to_owned(),
        (None, "0") => "write `\\u0000`".to_owned(),
        (None, "a") => "write `\\u0007`".to_owned(),
        (None, "e") => "write `\\u001b`".to_owned(),
        (None, "v") => "write `\\u000b`".to_owned(),
        (None, "'" | "`" | "$" | "{" | "}") => format!("write `{body}` without a backslash"),
        (None, body) if body.starts_with('u') => {
            "write four hexadecimal digits after `\\u`, or `\\\\u` for a backslash".to_owned()
        }
        (None, body) => format!("write `\\\\{}` if a backslash is meant", shown(body)),
    }
}

fn quote_name(quote: char) -> Cow<'static, str> {
    match quote {
        '\'' => Cow::Borrowed("single quotes"),
        '`' => Cow::Borrowed("backticks"),
        other => Cow::Owned(format!("typographic quotes like {other}")),
    }
}

fn container(opener: char) -> &'static str {
    if opener == '[' { "array" } else { "object" }
}

fn closer_of(opener: char) -> char {
    if opener == '[' { ']' } else { '}' }
}

#[cfg(test)]
mod tests {
    use super::super::{JsonErrorKind, Limits, parse};

    fn first(text: &str, limits: &Limits) -> (String, String) {
        let parsed = parse(text, limits);
        let error = parsed.errors.first().expect("the text is wrong");
        assert_eq!(error.to_string(), error.message());
        (error.message(), error.help().unwrap_or_default())
    }

    #[test]
    fn each_mistake_has_its_words() {
        let table = [
            ("", "expected a JSON value", "write a value, such as `{}`"),
            (
                "\u{feff}1",
                "the text begins with a byte order mark",
                "save the file as UTF-8 without a byte order mark",
            ),
            (
                "[1] // a",
                "comments are not allowed in JSON",
                "remove it; put notes for readers into a description",
            ),
            (
                "[1] /* a",
                "comments are not allowed in JSON, and this one is never closed",
                "remove it; put notes for readers into a description",
            ),
            (
                "[\u{a0}1]",
                "U+00A0 (no-break space) is not whitespace in JSON",
                "replace it with an ordinary space, or remove it",
            ),
            (
                "[1]\u{1}",
                "U+0001 is not whitespace in JSON",
                "replace it with an ordinary space, or remove it",
            ),
            (
                r#"{"a":1,"a":2}"#,
                "duplicate key `a`",
                "remove one of the two, or rename it",
            ),
            ("{\"a\n\":1}", "a line break inside a string", r"write `\n`"),
            ("{a: 1}", "key `a` is not quoted", r#"write `"a"`"#),
            (
                "{[1]: 2}",
                "expected a string as key, found an array",
                r#"write `"name": ` before it, or use an array"#,
            ),
            (
                r#"{{"a":1}:1}"#,
                "expected a string as key, found an object",
                r#"write `"name": ` before it, or use an array"#,
            ),
            (
                "{: 1}",
                "expected a key before `:`",
                r#"write a key before it: `"name": …`"#,
            ),
            (
                r#"{"a": }"#,
                "missing value for key `a`",
                "write `: ` and a value after it, perhaps `null`",
            ),
            (r#"{"a" 1}"#, "expected `:` between key and value", ""),
            ("[1 2]", "expected `,`", ""),
            (r#"{"a" => 1}"#, "expected `:`, found `=>`", "write `:`"),
            ("[1; 2]", "expected `,`, found `;`", "write `,`"),
            ("[1,]", "trailing `,` before `]`", "remove the comma"),
            ("[,1]", "unexpected `,`", "remove the comma"),
            (
                r#"["a": 1]"#,
                "unexpected key in an array",
                "write `{` and `}` around the keys and values",
            ),
            (
                r"['it\'s']",
                r#"strings must be in `"`, not in single quotes"#,
                r#"write `"it's"`"#,
            ),
            (
                "[`a`]",
                r#"strings must be in `"`, not in backticks"#,
                r#"write `"a"`"#,
            ),
            (
                "[“a”]",
                r#"strings must be in `"`, not in typographic quotes like “"#,
                r#"write `"a"`"#,
            ),
            (
                "[\"a\n]",
                "unterminated string",
                r#"end it with `"`; a line break inside a string is written `\n`, a quote `\"`"#,
            ),
            (
                r#"["a"b"]"#,
                r#"unescaped `"` inside a string"#,
                r#"write `\"` for a quote inside a string"#,
            ),
            (
                r#"["a"b"c"]"#,
                r#"unescaped `"` inside a string, and 1 more in the same string"#,
                r#"write `\"` for a quote inside a string"#,
            ),
            (
                "[\"a\0\"]",
                "the control character U+0000 (NUL) inside a string",
                r"write `\u0000`",
            ),
            (
                "[\"a\n\t\"]",
                "a line break inside a string, and another control character in the same string",
                r"write `\n`",
            ),
            ("[\"\t\"]", "a tab inside a string", r"write `\t`"),
            (
                r#"["\d"]"#,
                r"invalid escape `\d`",
                r"write `\\d` if a backslash is meant",
            ),
            (r#"["\x41"]"#, r"invalid escape `\x41`", r"write `\u0041`"),
            (
                r#"["\u{1F600}"]"#,
                r"invalid escape `\u{1F600}`",
                r"write `\ud83d\ude00`",
            ),
            (
                r#"["\u12"]"#,
                r"invalid escape `\u12`",
                r"write four hexadecimal digits after `\u`, or `\\u` for a backslash",
            ),
            (
                r#"["\'"]"#,
                r"invalid escape `\'`",
                "write `'` without a backslash",
            ),
            (r#"["\0"]"#, r"invalid escape `\0`", r"write `\u0000`"),
            (r#"["\v"]"#, r"invalid escape `\v`", r"write `\u000b`"),
            (
                "[\"\\\u{1b}\"]",
                r"invalid escape `\`",
                r"write `\\` for a backslash",
            ),
            (
                r#"["\ud83d"]"#,
                r"`\ud83d` is a lone surrogate",
                r"write the whole surrogate pair, as in `\ud83d\ude00`, or the character itself",
            ),
            (
                "[+1]",
                "leading `+` in `+1`, which JSON doesn't allow",
                "write `1`",
            ),
            (
                "[012]",
                "leading zero in `012`, which JSON doesn't allow",
                r#"write `12`, or `"012"` if the zeros matter"#,
            ),
            (
                "[.5]",
                "`.5` has no digit before the decimal point",
                "write `0.5`",
            ),
            (
                "[5.]",
                "`5.` has no digit after the decimal point",
                "write `5.0`",
            ),
            (
                "[1e]",
                "`1e` has no digits in its exponent",
                "write the exponent, as in `1e6`",
            ),
            (
                "[0x1F]",
                "`0x1F` is not decimal, and JSON numbers are",
                "write `31`",
            ),
            (
                "[1_000]",
                "`1_000` has a separator between its digits",
                "write `1000`",
            ),
            (
                "[-]",
                "expected a number after `-`",
                "write the number right after it",
            ),
            (
                "[1.2.3]",
                "`1.2.3` is not a valid number",
                r#"if it is text: write `"1.2.3"`"#,
            ),
            (
                "[1e400]",
                "number `1e400` is out of range",
                "the largest number is about `1.7e308`; longer ones can be strings",
            ),
            (
                "[True]",
                "JSON has no `True`",
                r#"write `true`, or `"True"` if it is text"#,
            ),
            (
                "[NaN]",
                "JSON has no `NaN`",
                r#"write `null`, or `"NaN"` if it is text"#,
            ),
            (
                "[hello]",
                "`hello` is not quoted, and is not true, false or null",
                r#"if it is text: write `"hello"`"#,
            ),
            (
                "[{{A}}]",
                "reference `{{A}}` is not quoted",
                r#"write `"{{A}}"`: a string that is one reference keeps the type of its value"#,
            ),
            (
                r#"[{{A | default("x")}}]"#,
                r#"reference `{{A | default("x")}}` is not quoted"#,
                r#"write `"{{A | default(\"x\")}}"`: a string that is one reference keeps the type of its value"#,
            ),
            (
                "[...]",
                "`...` is not JSON",
                "write out what it stands for, or remove it",
            ),
            ("[:1]", "unexpected `:`", "remove it"),
            (
                "[1 @]",
                "expected `,` or a closing bracket, found `@`",
                "remove it",
            ),
            (
                "{} x",
                "unexpected text after the end of the value",
                "remove it",
            ),
            (
                "{} {}",
                "unexpected second value after the first",
                "a file contains one value: remove the rest, or wrap everything in `[` and `]`",
            ),
            (
                r#"{"a": [1}"#,
                "mismatched `}`: the array was opened with `[`",
                "write `]` here, or before it",
            ),
            (
                "{}}",
                "unmatched `}`",
                "remove it, or look for an extra closing bracket before it",
            ),
            (
                "[",
                "this `[` is never closed",
                "write `]` where it ends; perhaps the file is truncated",
            ),
            (
                "[[",
                "this `[` is never closed, nor is the bracket around it",
                "write `]` where it ends; perhaps the file is truncated",
            ),
            (
                "[[[",
                "this `[` is never closed, nor are the 2 brackets around it",
                "write `]` where it ends; perhaps the file is truncated",
            ),
            (
                "[\u{202e}abc]",
                "U+202E is not whitespace in JSON",
                "replace it with an ordinary space, or remove it",
            ),
            (
                "[a\u{301}\u{1b}b]",
                "`a\u{301}` is not quoted, and is not true, false or null",
                "if it is text: write `\"a\u{301}\"`",
            ),
        ];
        for (text, message, help) in table {
            let expected = (message.to_owned(), help.to_owned());
            assert_eq!(first(text, &Limits::default()), expected, "{text}");
        }
    }

    #[test]
    fn limits_name_themselves() {
        let limits = Limits {
            max_depth: 3,
            max_bytes: 20,
            max_errors: 0,
        };
        assert_eq!(
            first("[1,]", &limits).0,
            "there are more than 0 errors; the rest of the file was not read"
        );
        let limits = Limits {
            max_errors: 1,
            ..limits
        };
        assert_eq!(
            first("[[[]]]", &limits).0,
            "arrays and objects are nested 3 deep here"
        );
        assert_eq!(first("[[[]]]", &limits).1, "nest less than 3 deep");
        assert_eq!(
            first("                     1", &limits).0,
            "the text is 22 bytes long; the limit is 20"
        );
    }

    #[test]
    fn long_texts_are_cut_and_no_longer_proposed() {
        let text = format!("[{}]", "é".repeat(1000));
        let shown = format!("{}…", "é".repeat(JsonErrorKind::LONGEST_EXCERPT));
        let (message, help) = first(&text, &Limits::default());
        assert_eq!(
            message,
            format!("`{shown}` is not quoted, and is not true, false or null")
        );
        assert_eq!(help, "if it is text: write `\"` around it");
    }

    #[test]
    fn nothing_from_the_file_reaches_a_terminal_unseen() {
        let (message, help) = first("{'\u{1b}[31m\u{202e}': 1}", &Limits::default());
        assert_eq!(message, "strings must be in `\"`, not in single quotes");
        assert_eq!(help, r#"write `"\u001b[31m\u202e"`"#);
        let (message, _) = first("{\"\\u001b\": 1, \"\\u001b\": 2}", &Limits::default());
        assert_eq!(message, r"duplicate key `\u001b`");
    }
}
