//! Mistakes of syntax in words for people: the parser's own words name its insides.

/// Why a text can't be read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxProblem {
    /// A tab where lines are indented.
    Tab,
    /// `: ` inside of a text without quotes, as in `title: one: two`.
    ColonInText,
    /// A line that is indented less or more than those it belongs to.
    Indentation,
    /// A line of a mapping without `:`.
    NoColon,
    /// A quoted text without its closing quote.
    UnclosedQuote,
    /// Something behind the closing quote.
    AfterQuote,
    /// A `\` in double quotes with something that is no escape.
    BadEscape,
    /// `*name` without `&name` before it.
    UnknownAlias,
    /// No `,` or closing bracket where one belongs in `[…]` or `{…}`.
    Flow,
    /// An opening bracket that nothing closes.
    UnclosedBracket,
    /// A closing bracket that closes nothing.
    StrayBracket,
    /// `[…]` or `{…}` nested too deeply for the parser.
    TooDeep,
    /// `- ` where no list can be.
    Entry,
    /// A text without quotes that begins with a character that means something else.
    NeedsQuotes,
    /// A comment between the lines of one text.
    CommentInText,
    /// The header of a text that begins with `|` or `>`.
    BlockHeader,
    /// Something about `%` at the beginning of a line.
    Directive,
    /// A tag that can't be read.
    Tag,
    /// A byte order mark inside of the file.
    ByteOrderMark,
    /// Text behind the end of the document's value.
    AfterValue,
    /// The parser's own words.
    Other(String),
}

impl SyntaxProblem {
    /// By the words of the parser.
    pub(super) fn new(info: &str) -> Self {
        for (part, problem) in WORDS {
            if info.contains(part) {
                return problem.clone();
            }
        }
        Self::Other(super::error::excerpt(info))
    }

    pub(super) fn message(&self) -> String {
        let message = match self {
            Self::Tab => "tabs can't be used for indentation",
            Self::ColonInText => "an unquoted value can't contain a second `: `",
            Self::Indentation => "inconsistent indentation",
            Self::NoColon => "expected `:` after the key",
            Self::UnclosedQuote => "unterminated quoted string",
            Self::AfterQuote => "unexpected text after a quoted string",
            Self::BadEscape => "invalid escape sequence",
            Self::UnknownAlias => "undefined anchor",
            Self::Flow => "expected `,` or a closing bracket",
            Self::UnclosedBracket => "a list `[` or an object `{` above is not closed",
            Self::StrayBracket => "unmatched closing bracket",
            Self::TooDeep => "`[` and `{` are nested too deeply",
            Self::Entry => "a list item is not allowed here",
            Self::NeedsQuotes => "an unquoted string can't start like this",
            Self::CommentInText => "a comment can't interrupt a multi-line string",
            Self::BlockHeader => "invalid block scalar",
            Self::Directive => "invalid directive (a line that starts with `%`)",
            Self::Tag => "invalid tag",
            Self::ByteOrderMark => "a byte order mark is only allowed at the start of a file",
            Self::AfterValue => "unexpected text after the end of the value",
            Self::Other(words) => return format!("invalid YAML: {words}"),
        };
        message.to_owned()
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::Tab => "indent with spaces",
            Self::ColonInText => "put the whole value in quotes: title: \"one: two\"",
            Self::Indentation => "indent it like the lines around it",
            Self::NoColon => "write `key: value`; multi-line text needs quotes or `|`",
            Self::UnclosedQuote => "close it; write a quote inside the string as '' or \\\"",
            Self::AfterQuote => "put the whole value in one pair of quotes",
            Self::BadEscape => "write `\\\\` for a backslash, or use single quotes",
            Self::UnknownAlias => {
                "write the anchor first, as `&name`; text that begins with `*` needs quotes"
            }
            Self::Flow => "separate the parts with `,`; text with brackets needs quotes",
            Self::UnclosedBracket => {
                "write the closing `]` or `}`; text with brackets needs quotes"
            }
            Self::StrayBracket => "remove it; text with brackets needs quotes",
            Self::TooDeep => "nest less deeply",
            Self::Entry => "put the list on lines of its own, or the text in quotes",
            Self::NeedsQuotes => "put the whole value in quotes",
            Self::CommentInText => "put the comment above the text",
            Self::BlockHeader => "write `|` or `>` alone, and indent the lines below with spaces",
            Self::Directive => "remove the line; text that begins with `%` needs quotes",
            Self::Tag => "remove it; text that begins with `!` needs quotes",
            Self::ByteOrderMark => "remove it",
            Self::AfterValue => "indent it as what it belongs to, or put the text in quotes",
            Self::Other(_) => "put texts with `:`, `#`, brackets or quotes in quotes",
        };
        Some(help.to_owned())
    }
}

/// Parts of the parser's messages, the first that fits counting.
const WORDS: &[(&str, SyntaxProblem)] = &[
    ("cannot start with a tab", SyntaxProblem::Tab),
    ("tabs disallowed", SyntaxProblem::Tab),
    ("tab cannot be used", SyntaxProblem::Tab),
    ("found a tab", SyntaxProblem::Tab),
    ("mapping values are not allowed", SyntaxProblem::ColonInText),
    ("illegal placement of ':'", SyntaxProblem::Flow),
    ("comment intercepting", SyntaxProblem::CommentInText),
    ("simple key expect", SyntaxProblem::NoColon),
    ("expected node content", SyntaxProblem::UnclosedBracket),
    ("did not find expected key", SyntaxProblem::Indentation),
    ("indentation in quoted", SyntaxProblem::UnclosedQuote),
    (
        "found unexpected end of stream",
        SyntaxProblem::UnclosedQuote,
    ),
    (
        "found unexpected document indicator",
        SyntaxProblem::UnclosedQuote,
    ),
    ("invalid trailing content", SyntaxProblem::AfterQuote),
    ("unknown escape", SyntaxProblem::BadEscape),
    ("expected hexadecimal", SyntaxProblem::BadEscape),
    ("character escape code", SyntaxProblem::BadEscape),
    ("unknown anchor", SyntaxProblem::UnknownAlias),
    ("anchor or alias", SyntaxProblem::NeedsQuotes),
    ("expected ','", SyntaxProblem::Flow),
    ("in flow mapping", SyntaxProblem::Flow),
    ("in flow construct", SyntaxProblem::Indentation),
    ("misplaced bracket", SyntaxProblem::StrayBracket),
    ("recursion limit", SyntaxProblem::TooDeep),
    ("block sequence entries", SyntaxProblem::Entry),
    ("only valid inside a block", SyntaxProblem::Entry),
    ("expected '-' indicator", SyntaxProblem::Indentation),
    ("block scalar", SyntaxProblem::BlockHeader),
    ("indentation", SyntaxProblem::Indentation),
    ("unexpected character", SyntaxProblem::NeedsQuotes),
    ("plain scalar", SyntaxProblem::NeedsQuotes),
    ("must be followed by", SyntaxProblem::NeedsQuotes),
    ("mapping keys are not allowed", SyntaxProblem::NeedsQuotes),
    ("expected <document start>", SyntaxProblem::AfterValue),
    ("directive", SyntaxProblem::Directive),
    ("TAG", SyntaxProblem::Directive),
    ("tag", SyntaxProblem::Tag),
    ("handle", SyntaxProblem::Tag),
    ("byte order mark", SyntaxProblem::ByteOrderMark),
];
