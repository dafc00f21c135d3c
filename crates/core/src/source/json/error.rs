//! What can be wrong with a JSON text, and how it is said.

use std::borrow::Cow;

use super::super::Span;
use super::is_invisible;

/// One mistake in a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Where; of no length where something is missing.
    pub span: Span,
}

/// The mistakes with their facts. Texts from the file are cut after [`JsonErrorKind::LONGEST_EXCERPT`] characters,
/// which a final `…` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// The text holds no value.
    Empty,
    /// The text is longer than the limit, both in bytes. Nothing was read.
    TooLarge {
        /// Length of the text.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Arrays and objects are nested too deeply. The span is the first bracket too many; nothing after it was read.
    TooDeep {
        /// The depth that is refused.
        limit: usize,
    },
    /// The limit on errors is reached. Nothing after the span was read.
    TooManyErrors {
        /// The limit.
        limit: usize,
    },
    /// The text begins with U+FEFF.
    ByteOrderMark,
    /// A comment: `// …`, `# …` or `/* … */`.
    Comment,
    /// `/*` without `*/`.
    UnclosedComment,
    /// A character that looks like a space or like nothing, and isn't whitespace in JSON.
    InvisibleCharacter {
        /// The first of them.
        character: char,
    },
    /// A key stands twice in one object. The span is the later key.
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands first, quotes included.
        first: Span,
    },
    /// A key without quotes.
    UnquotedKey {
        /// The key as written.
        key: String,
    },
    /// An array or object where a key belongs.
    KeyNotString {
        /// Its opening bracket.
        opener: char,
    },
    /// A `:` without a key before it.
    MissingKey,
    /// A key without `:` and value. The span is the key.
    MissingValue {
        /// The key.
        key: String,
    },
    /// No `:` between a key and its value.
    MissingColon,
    /// No `,` between two items or members.
    MissingComma,
    /// Another character where `:` or `,` belongs.
    WrongSeparator {
        /// The character that belongs there.
        expected: char,
        /// What stands there.
        found: String,
    },
    /// A `,` before the closing bracket.
    TrailingComma {
        /// The bracket.
        closer: char,
    },
    /// A `,` without an item or member before it.
    ExtraComma,
    /// `key: value` in an array. The span is the colon.
    KeyInArray,
    /// A string in quotes other than `"`.
    WrongQuotes {
        /// The opening quote.
        quote: char,
        /// The text in the quotes.
        content: String,
    },
    /// A string without its closing quote. The span is the opening quote.
    UnclosedString,
    /// A `"` inside a string that should have been `\"`. The span is the first one.
    UnescapedQuote {
        /// How many more there are in the same string.
        more: usize,
    },
    /// A raw control character, such as a line break, in a string. The span is the first one.
    ControlCharacter {
        /// The character; a line break of two characters counts as `\n`.
        character: char,
        /// How many more there are in the same string.
        more: usize,
    },
    /// An escape that JSON doesn't know.
    BadEscape {
        /// The escape with its backslash.
        escape: String,
    },
    /// Half of a surrogate pair.
    LoneSurrogate {
        /// The code unit, U+D800 to U+DFFF.
        unit: u16,
    },
    /// Something close to a number.
    BadNumber {
        /// What is written.
        text: String,
        /// What is wrong with it.
        problem: NumberProblem,
        /// The number that was meant, where that is certain.
        instead: Option<String>,
    },
    /// A number too large for an `f64`.
    NumberOutOfRange {
        /// The number.
        text: String,
    },
    /// A word without quotes that is none of true, false and null.
    UnknownWord {
        /// The word, or words.
        word: String,
        /// The JSON word that was meant, where that is certain.
        instead: Option<&'static str>,
    },
    /// A `{{reference}}` without quotes.
    UnquotedReference {
        /// The reference with its braces.
        reference: String,
    },
    /// `...` for something left out.
    Ellipsis,
    /// A character that can't stand here.
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// Text between a value and the `,` or bracket after it.
    UnexpectedText {
        /// The text.
        text: String,
    },
    /// More text after the value. The span is the rest of its line.
    TrailingText {
        /// Whether it looks like another value.
        is_value: bool,
    },
    /// A closing bracket of the wrong kind. The span is that bracket.
    MismatchedBracket {
        /// The bracket that is open.
        opener: char,
        /// Where that is.
        opener_span: Span,
        /// The bracket that stands here.
        closer: char,
    },
    /// A closing bracket that closes nothing.
    StrayBracket {
        /// The bracket.
        closer: char,
    },
    /// A bracket that is never closed. The span is the innermost such bracket.
    UnclosedBracket {
        /// The bracket.
        opener: char,
        /// How many brackets around it are open too.
        around: usize,
    },
}

/// What keeps a text from being a JSON number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberProblem {
    /// `+1`
    LeadingPlus,
    /// `012`
    LeadingZero,
    /// `.5`
    NoDigitBeforePoint,
    /// `5.`
    NoDigitAfterPoint,
    /// `1e`
    NoExponentDigits,
    /// `0x1F`, `0o17`, `0b1`
    OtherBase,
    /// `1_000`
    Separator,
    /// `-`
    LoneMinus,
    /// It only begins like a number: `2025-02-03`, `1.2.3`, `12px`.
    NotANumber,
}

impl JsonErrorKind {
    /// The most characters of the file that an error repeats.
    pub const LONGEST_EXCERPT: usize = 60;
}

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
            JsonErrorKind::Empty => "there is no JSON value here".to_owned(),
            JsonErrorKind::TooLarge { bytes, limit } => {
                format!("the text is {bytes} bytes long, and at most {limit} are read")
            }
            JsonErrorKind::TooDeep { limit } => format!("arrays and objects are nested {limit} deep here"),
            JsonErrorKind::TooManyErrors { limit } => {
                format!("there are more than {limit} errors; nothing after this place was read")
            }
            JsonErrorKind::ByteOrderMark => "the text begins with a byte order mark".to_owned(),
            JsonErrorKind::Comment => "JSON has no comments".to_owned(),
            JsonErrorKind::UnclosedComment => "JSON has no comments, and this one is never closed".to_owned(),
            JsonErrorKind::InvisibleCharacter { character } => {
                format!("{} is not whitespace in JSON", code_point(*character))
            }
            JsonErrorKind::DuplicateKey { key, .. } => format!("key `{}` stands twice in this object", shown(key)),
            JsonErrorKind::UnquotedKey { key } => format!("key `{}` has no quotes", shown(key)),
            JsonErrorKind::KeyNotString { opener } => {
                format!("a key must be a string, and this is an {}", container(*opener))
            }
            JsonErrorKind::MissingKey => "there is no key before this `:`".to_owned(),
            JsonErrorKind::MissingValue { key } => format!("key `{}` has no value", shown(key)),
            JsonErrorKind::MissingColon => "a `:` is missing between key and value".to_owned(),
            JsonErrorKind::MissingComma => "a `,` is missing here".to_owned(),
            JsonErrorKind::WrongSeparator { expected, found } => {
                format!("`{}` stands where `{expected}` belongs", shown(found))
            }
            JsonErrorKind::TrailingComma { closer } => format!("nothing follows this `,` before `{closer}`"),
            JsonErrorKind::ExtraComma => "nothing stands before this `,`".to_owned(),
            JsonErrorKind::KeyInArray => "an array has no keys".to_owned(),
            JsonErrorKind::WrongQuotes { quote, .. } => format!("a string stands in `\"`, not in {}", quote_name(*quote)),
            JsonErrorKind::UnclosedString => "the string that begins here has no closing `\"`".to_owned(),
            JsonErrorKind::UnescapedQuote { more: 0 } => "a `\"` inside a string".to_owned(),
            JsonErrorKind::UnescapedQuote { more } => format!("a `\"` inside a string, and {more} more in the same one"),
            JsonErrorKind::ControlCharacter { character, more } => {
                let what = match character {
                    '\n' | '\r' => "a line break".to_owned(),
                    '\t' => "a tab".to_owned(),
                    other => format!("the control character {}", code_point(*other)),
                };
                match more {
                    0 => format!("{what} inside a string"),
                    more => format!("{what} inside a string, and {more} more control characters in the same one"),
                }
            }
            JsonErrorKind::BadEscape { escape } => format!("JSON knows no escape `{}`", shown(escape)),
            JsonErrorKind::LoneSurrogate { unit } => format!("`\\u{unit:04x}` is only half of a character"),
            JsonErrorKind::BadNumber { text, problem, .. } => {
                let text = shown(text);
                match problem {
                    NumberProblem::LeadingPlus => format!("`{text}` begins with a plus, which JSON doesn't allow"),
                    NumberProblem::LeadingZero => format!("`{text}` begins with a zero, which JSON doesn't allow"),
                    NumberProblem::NoDigitBeforePoint => format!("`{text}` has no digit before the point"),
                    NumberProblem::NoDigitAfterPoint => format!("`{text}` has no digit after the point"),
                    NumberProblem::NoExponentDigits => format!("`{text}` has no digits in its exponent"),
                    NumberProblem::OtherBase => format!("`{text}` is not decimal, and JSON numbers are"),
                    NumberProblem::Separator => format!("`{text}` has a separator between its digits"),
                    NumberProblem::LoneMinus => "a minus without a number".to_owned(),
                    NumberProblem::NotANumber => format!("`{text}` is not a number"),
                }
            }
            JsonErrorKind::NumberOutOfRange { text } => format!("number `{}` is out of range", shown(text)),
            JsonErrorKind::UnknownWord { word, instead: Some(_) } => format!("JSON has no `{}`", shown(word)),
            JsonErrorKind::UnknownWord { word, instead: None } => {
                format!("`{}` has no quotes, and is none of true, false and null", shown(word))
            }
            JsonErrorKind::UnquotedReference { reference } => format!("reference `{}` has no quotes", shown(reference)),
            JsonErrorKind::Ellipsis => "`...` is not JSON".to_owned(),
            JsonErrorKind::UnexpectedCharacter { character } => {
                format!("`{}` can't stand here", shown(character.encode_utf8(&mut [0; 4])))
            }
            JsonErrorKind::UnexpectedText { text } => {
                format!("`{}` stands where `,` or a closing bracket belongs", shown(text))
            }
            JsonErrorKind::TrailingText { is_value: true } => "a second value follows the first".to_owned(),
            JsonErrorKind::TrailingText { is_value: false } => "there is text after the end of the value".to_owned(),
            JsonErrorKind::MismatchedBracket { opener, closer, .. } => {
                format!("`{closer}` can't close the {} that `{opener}` opened", container(*opener))
            }
            JsonErrorKind::StrayBracket { closer } => format!("this `{closer}` closes nothing"),
            JsonErrorKind::UnclosedBracket { opener, around: 0 } => format!("this `{opener}` is never closed"),
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
                "correct these first; perhaps the file isn't meant to be JSON".to_owned()
            }
            JsonErrorKind::ByteOrderMark => "save the file as UTF-8 without one".to_owned(),
            JsonErrorKind::Comment | JsonErrorKind::UnclosedComment => {
                "remove it; what people should know can go into a description".to_owned()
            }
            JsonErrorKind::InvisibleCharacter { .. } => "replace it by an ordinary space, or remove it".to_owned(),
            JsonErrorKind::DuplicateKey { .. } => "remove one of the two, or give it another name".to_owned(),
            JsonErrorKind::UnquotedKey { key } => instead_write(key),
            JsonErrorKind::KeyNotString { .. } => "write `\"name\": ` before it, or use an array".to_owned(),
            JsonErrorKind::MissingKey => "write a key before it: `\"name\": …`".to_owned(),
            JsonErrorKind::MissingValue { .. } => "write `: ` and a value after it, perhaps `null`".to_owned(),
            JsonErrorKind::WrongSeparator { expected, .. } => format!("write `{expected}`"),
            JsonErrorKind::TrailingComma { .. } | JsonErrorKind::ExtraComma => "remove the comma".to_owned(),
            JsonErrorKind::KeyInArray => "write `{` and `}` around the keys and values".to_owned(),
            JsonErrorKind::WrongQuotes { content, .. } => instead_write(content),
            JsonErrorKind::UnclosedString => {
                "end it with `\"`; a line break inside a string is written `\\n`, a quote `\\\"`".to_owned()
            }
            JsonErrorKind::UnescapedQuote { .. } => "write `\\\"` for a quote inside a string".to_owned(),
            JsonErrorKind::ControlCharacter { character, .. } => format!("write `{}`", control_escape(*character)),
            JsonErrorKind::BadEscape { escape } => escape_help(escape),
            JsonErrorKind::LoneSurrogate { .. } => {
                "write both halves, as in `\\ud83d\\ude00`, or the character itself".to_owned()
            }
            JsonErrorKind::BadNumber { text, problem, instead } => match (problem, instead) {
                (NumberProblem::LeadingZero, Some(number)) => {
                    format!("write `{number}`, or `\"{}\"` if the zeros matter", shown(text))
                }
                (_, Some(number)) => format!("write `{number}`"),
                (NumberProblem::NoExponentDigits, None) => "write the exponent, as in `1e6`".to_owned(),
                (NumberProblem::LoneMinus, None) => "write the number right after it".to_owned(),
                (_, None) => format!("if it is text: {}", instead_write(text)),
            },
            JsonErrorKind::NumberOutOfRange { .. } => "the largest number is about `1.7e308`; longer ones can be strings".to_owned(),
            JsonErrorKind::UnknownWord { word, instead: Some(instead) } => {
                format!("write `{instead}`, or `{}` if it is text", quoted(word))
            }
            JsonErrorKind::UnknownWord { word, instead: None } => format!("if it is text: {}", instead_write(word)),
            JsonErrorKind::UnquotedReference { reference } => {
                format!("{}: a string that is one reference keeps the type of its value", instead_write(reference))
            }
            JsonErrorKind::Ellipsis => "write out what it stands for, or remove it".to_owned(),
            JsonErrorKind::UnexpectedCharacter { .. } | JsonErrorKind::UnexpectedText { .. } => "remove it".to_owned(),
            JsonErrorKind::TrailingText { is_value: true } => {
                "a file holds one value: remove the rest, or write `[` and `]` around all of it".to_owned()
            }
            JsonErrorKind::TrailingText { is_value: false } => "remove it".to_owned(),
            JsonErrorKind::MismatchedBracket { opener, .. } => {
                format!("write `{}` here, or before it", closer_of(*opener))
            }
            JsonErrorKind::StrayBracket { .. } => "remove it, or look for one too many before it".to_owned(),
            JsonErrorKind::UnclosedBracket { opener, .. } => {
                format!("write `{}` where it ends; perhaps the file is cut off", closer_of(*opener))
            }
            JsonErrorKind::MissingColon | JsonErrorKind::MissingComma => return None,
        };
        Some(help)
    }
}

/// At most [`JsonErrorKind::LONGEST_EXCERPT`] characters of `text`, with `…` where it is cut.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(JsonErrorKind::LONGEST_EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
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
    let from_hex = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let code = match body.get(..1) {
        Some("x" | "U") if body.len() > 1 => from_hex(&body[1..]),
        Some("u") => body.strip_prefix("u{").and_then(|rest| from_hex(rest.trim_end_matches('}'))),
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
        (None, body) if body.starts_with('u') => "write four hexadecimal digits after `\\u`, or `\\\\u` for a backslash".to_owned(),
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
