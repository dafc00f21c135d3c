//! What can be wrong with a JSON text.

use std::fmt;

use crate::Span;

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
    /// A key stands twice in one object. The span is the later key.
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands first, quotes included.
        first: Span,
    },
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// A number too large for an `f64`.
    NumberOutOfRange {
        /// The number.
        text: String,
    },
    /// The text is no JSON from here on.
    Syntax {
        /// What is wrong, as a lowercase fragment.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
}

impl JsonErrorKind {
    /// The most characters of the file that an error repeats.
    pub const LONGEST_EXCERPT: usize = 60;
}

/// At most [`JsonErrorKind::LONGEST_EXCERPT`] characters of `text`, with `…` where it is cut.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(JsonErrorKind::LONGEST_EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            JsonErrorKind::DuplicateKey { key, .. } => format!("duplicate key `{}`", shown(key)),
            JsonErrorKind::LoneSurrogate => "half of a surrogate pair".to_owned(),
            JsonErrorKind::NumberOutOfRange { text } => {
                format!("number `{}` is out of range", shown(text))
            }
            JsonErrorKind::Syntax { message, .. } => message.clone(),
        }
    }

    /// What to do about it, where there is more to say than [`JsonError::message`] does.
    pub fn help(&self) -> Option<String> {
        let help = match &self.kind {
            JsonErrorKind::Empty => "write a value, such as `{}`",
            JsonErrorKind::TooLarge { .. } => "split the file",
            JsonErrorKind::TooDeep { limit } => {
                return Some(format!("nest less than {limit} deep"));
            }
            JsonErrorKind::TooManyErrors { .. } => {
                "fix these first; perhaps the file isn't meant to be JSON"
            }
            JsonErrorKind::ByteOrderMark => "save the file as UTF-8 without a byte order mark",
            JsonErrorKind::DuplicateKey { .. } => "remove one of the two, or rename it",
            JsonErrorKind::LoneSurrogate => {
                "write the whole surrogate pair, as in `\\ud83d\\ude00`, or the character itself"
            }
            JsonErrorKind::NumberOutOfRange { .. } => {
                "the largest number is about `1.7e308`; longer ones can be strings"
            }
            JsonErrorKind::Syntax { help, .. } => return help.clone(),
        };
        Some(help.to_owned())
    }
}

/// `text` with what a terminal would act on, or nobody would see, as escapes of JSON.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character != ' ' && super::is_invisible(character) {
            true => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    shown.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => shown.push(character),
        }
    }
    shown
}
