//! What is wrong with a text of JSON, YAML or TOML.

use std::collections::HashMap;

use crate::Span;
use crate::json::{Member, Node};
use crate::value::cut;
use crate::yaml::AmbiguousScalar;

/// A text of JSON, YAML or TOML after reading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The value. With errors it is a best effort, and may be missing.
    pub root: Option<Node>,
    /// The mistakes in the order of their places; empty means that the text is valid and `root` is there.
    pub errors: Vec<Mistake>,
    /// Texts without quotes that other readers of YAML take for something else, in the order of their places.
    pub doubts: Vec<AmbiguousScalar>,
}

impl Parsed {
    pub(crate) fn new(root: Option<Node>, errors: Vec<Mistake>) -> Self {
        Self {
            root,
            errors,
            doubts: Vec::new(),
        }
    }

    /// What is said of a text that is longer than the limit, in bytes.
    pub(crate) fn too_large(text: &str, limit: usize, help: &str) -> Self {
        let length = text.len();
        let message = format!("the text is {length} bytes long; the limit is {limit}");
        let (kind, span) = (MistakeKind::TooLarge, Span::default());
        Self::new(None, vec![Mistake::new(kind, span, message, help)])
    }
}

/// One mistake in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What it has to do with.
    pub kind: MistakeKind,
    /// Where; of no length where something is missing.
    pub span: Span,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// What to do about it, where there is more to say.
    pub help: Option<String>,
    /// Where a key stands first that stands twice.
    pub first: Option<Span>,
}

/// What a mistake has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MistakeKind {
    /// The text holds no value.
    Empty,
    /// The text is longer than the limit. Nothing was read.
    TooLarge,
    /// Lists and mappings are nested too deeply. Nothing behind the span was read.
    TooDeep,
    /// The limit on mistakes is reached. Nothing behind the span was read.
    TooMany,
    /// The text begins with U+FEFF.
    ByteOrderMark,
    /// A key stands twice in one object. The span is the later one.
    DuplicateKey,
    /// A value that JSON can't hold: a number that is too large, a tag, a second document.
    NotJson,
    /// An alias or a merge key of YAML.
    Alias,
    /// The grammar.
    Syntax,
}

impl Mistake {
    /// A mistake; an empty `help` is none.
    pub(crate) fn new(
        kind: MistakeKind,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) -> Self {
        Self {
            kind,
            span,
            message: message.into(),
            help: (!help.is_empty()).then(|| help.to_owned()),
            first: None,
        }
    }
}

/// The mistakes of a text so far.
pub(crate) struct Mistakes {
    all: Vec<Mistake>,
    limit: usize,
}

impl Mistakes {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            all: Vec::new(),
            limit,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a mistake. `None` says that it was one too many, so that the reading ends.
    pub(crate) fn add(&mut self, mistake: Mistake) -> Option<()> {
        if self.all.len() < self.limit {
            self.all.push(mistake);
            return Some(());
        }
        let limit = self.limit;
        let message =
            format!("there are more than {limit} errors; the rest of the file was not read");
        let help = "fix the errors above first";
        let last = Mistake::new(MistakeKind::TooMany, mistake.span, message, help);
        self.all.truncate(limit);
        self.all.push(last);
        None
    }

    /// Adds the keys that stand twice in an object.
    pub(crate) fn add_duplicates(&mut self, members: &[Member]) -> Option<()> {
        /// Objects up to this size are searched by comparing all keys.
        const SMALL: usize = 12;
        let mut firsts = HashMap::new();
        for (idx, member) in members.iter().enumerate() {
            let first = match members.len() <= SMALL {
                true => {
                    let same = members[..idx].iter().find(|one| one.key == member.key);
                    same.map_or(member.key_span, |same| same.key_span)
                }
                false => *firsts.entry(member.key.as_str()).or_insert(member.key_span),
            };
            if first != member.key_span {
                let message = format!("duplicate key `{}`", excerpt(&member.key));
                let help = "remove one of the two, or rename it";
                let kind = MistakeKind::DuplicateKey;
                self.add(Mistake {
                    first: Some(first),
                    ..Mistake::new(kind, member.key_span, message, help)
                })?;
            }
        }
        Some(())
    }

    /// All of them in the order of their places.
    pub(crate) fn sorted(mut self) -> Vec<Mistake> {
        self.all
            .sort_by_key(|mistake| (mistake.kind == MistakeKind::TooMany, mistake.span.start));
        self.all
    }
}

/// The beginning of a text, with what a terminal would act on, or nobody would see, as escapes of JSON.
pub(crate) fn excerpt(text: &str) -> String {
    /// The most characters that a mistake repeats.
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for character in cut(text, LONGEST).chars() {
        match character != ' ' && is_invisible(character) {
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

/// Whether a character takes no visible room, or only room.
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_whitespace() || character.is_control() || crate::value::is_invisible(character)
}
