//! What can be wrong with a JSON text.

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

/// At most [`JsonErrorKind::LONGEST_EXCERPT`] characters of `text`, with `…` where it is cut.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(JsonErrorKind::LONGEST_EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
