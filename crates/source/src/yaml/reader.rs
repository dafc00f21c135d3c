//! From the parser's events to a tree, with the open lists and mappings on a stack of its own.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Span as Marks, Tag};

use super::AmbiguousScalar;
use super::scalar::{Plain, plain};
use super::spans::{Offsets, after_properties, quoted_end};
use crate::json::{Limits, Member, Node, NodeKind};
use crate::mistake::{Mistake, MistakeKind, Mistakes, Parsed, excerpt};
use crate::{Span, byte_order_mark};

/// However large a file is, its aliases stand for no more than so many values.
const MAX_COPIES: usize = 1_000_000;

/// However small a file is, its aliases may stand for so many values.
const FREE_COPIES: usize = 10_000;

/// A text of so many bytes counts as a value more when it is copied.
const BYTES_A_VALUE: usize = 64;

pub(super) struct Reader<'text> {
    text: &'text str,
    offsets: Offsets<'text>,
    limits: Limits,
    open: Vec<Open>,
    root: Option<Node>,
    /// What the anchors stand for, by the parser's numbers; none while it is not read to its end.
    anchors: HashMap<usize, Anchored>,
    copies_left: usize,
    mistakes: Mistakes,
    doubts: Vec<AmbiguousScalar>,
    is_over: bool,
}

struct Anchored {
    node: Node,
    /// How much it counts when it is copied.
    weight: usize,
    /// How many lists and mappings are inside each other.
    height: usize,
}

/// A list or mapping whose end was not read yet.
struct Open {
    start: usize,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Mapping {
        members: Vec<Member>,
        /// Mappings that `<<` takes in.
        merged: Vec<Node>,
        next: Next,
    },
}

/// What comes next in a mapping.
enum Next {
    Key,
    Value(String, Span),
    /// The value of `<<`.
    Merged,
    /// The value of a key that is none, which was reported.
    Dropped,
}

impl<'text> Reader<'text> {
    pub(super) fn new(text: &'text str, limits: Limits) -> Self {
        let base = byte_order_mark(text);
        Self {
            text,
            offsets: Offsets::new(&text[base..], base),
            limits,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            copies_left: copies(text.len()),
            mistakes: Mistakes::new(limits.max_errors),
            doubts: Vec::new(),
            is_over: false,
        }
    }

    pub(super) fn read(mut self) -> Parsed {
        if self.control_characters() {
            return self.done();
        }
        let base = byte_order_mark(self.text);
        let mut n_documents = 0;
        for event in Parser::new_from_str(&self.text[base..]) {
            match event {
                Ok((Event::DocumentStart(_), marks)) if n_documents > 0 => {
                    let start = self.offsets.byte(&marks.start);
                    self.report(
                        MistakeKind::NotJson,
                        self.character(start),
                        "unexpected second document",
                        "a file contains one document: remove the `---`",
                    );
                    break;
                }
                Ok((Event::DocumentStart(_), _)) => n_documents += 1,
                Ok((event, marks)) => self.event(event, &marks),
                Err(error) => {
                    let at = self.offsets.byte(error.marker());
                    self.refuse(error.info(), self.character(at));
                    self.root = None;
                    break;
                }
            }
            if self.is_over {
                self.root = None;
                break;
            }
        }
        if self.root.is_none() && self.mistakes.is_empty() {
            let help = "write the document, or name another file";
            self.report(
                MistakeKind::Empty,
                Span::new(0, 0),
                "the file is empty",
                help,
            );
        }
        self.done()
    }

    /// Reports what the parser refuses.
    fn refuse(&mut self, info: &str, span: Span) {
        let has = |words: &[&str]| words.iter().any(|word| info.contains(word));
        let (kind, help) = if has(&["unknown anchor"]) {
            let help = "write the anchor first, as `&name`; text that begins with `*` needs quotes";
            (MistakeKind::Alias, help)
        } else if has(&["recursion limit"]) {
            (MistakeKind::TooDeep, "nest less deeply")
        } else if has(&["indentation", "expected key", "'-' indicator", "tab"]) {
            let help = "indent it like the lines around it, with spaces";
            (MistakeKind::Syntax, help)
        } else {
            let help = "put texts with `:`, `#`, brackets or quotes in quotes, and close these";
            (MistakeKind::Syntax, help)
        };
        // What the parser is at is seen at the place.
        let found = info.split_once(", ").map_or(info, |(_, found)| found);
        self.report(kind, span, excerpt(found), help);
    }

    fn done(self) -> Parsed {
        Parsed {
            root: self.root,
            errors: self.mistakes.sorted(),
            doubts: self.doubts,
        }
    }

    /// Reports what no text may hold; the parser takes some of it for the end.
    fn control_characters(&mut self) -> bool {
        let found = self
            .text
            .char_indices()
            .filter(|&(_, character)| character < ' ' && !matches!(character, '\t' | '\n' | '\r'));
        for (at, character) in found {
            if self.is_over {
                break;
            }
            self.report(
                MistakeKind::Syntax,
                Span::new(at, at + 1),
                format!(
                    "the control character U+{:04X} is not allowed in YAML",
                    u32::from(character)
                ),
                "remove it, or write it as an escape in double quotes: \"\\u0000\"",
            );
        }
        !self.mistakes.is_empty()
    }

    fn event(&mut self, event: Event<'_>, marks: &Marks) {
        let start = self.offsets.byte(&marks.start);
        let end = self.offsets.byte(&marks.end);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value_start = self.properties(anchor, tag.as_deref(), start, end);
                self.scalar(&text, style, anchor, value_start, end);
            }
            Event::SequenceStart(anchor, tag) => {
                let start = self.properties(anchor, tag.as_deref(), start, end);
                self.open(start, anchor, Content::List(Vec::new()));
            }
            Event::MappingStart(anchor, tag) => {
                let start = self.properties(anchor, tag.as_deref(), start, end);
                let content = Content::Mapping {
                    members: Vec::new(),
                    merged: Vec::new(),
                    next: Next::Key,
                };
                self.open(start, anchor, content);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end),
            Event::Alias(anchor) => self.alias(anchor, Span::new(start, end)),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    /// Where the value behind an anchor and a tag begins. Reports the tag.
    fn properties(&mut self, anchor: usize, tag: Option<&Tag>, start: usize, end: usize) -> usize {
        if anchor == 0 && tag.is_none() {
            return start;
        }
        // A list or mapping has the place of its first character only.
        let value_start = after_properties(self.text, start, end.max(start));
        if tag.is_some() {
            let properties = self.text.get(start..value_start).unwrap_or_default();
            let at = properties.find('!').unwrap_or(0);
            let written = properties[at..].split_whitespace().next().unwrap_or("!");
            self.report(
                MistakeKind::NotJson,
                Span::new(start + at, start + at + written.len()),
                format!("unsupported tag `{}`", excerpt(written)),
                "remove it; text that begins with `!` needs quotes",
            );
        }
        value_start
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, anchor: usize, start: usize, end: usize) {
        let is_plain = style == ScalarStyle::Plain;
        let span = match style {
            ScalarStyle::Plain if text.is_empty() => self.nothing(start),
            ScalarStyle::Plain => Span::new(start, end),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                Span::new(start, quoted_end(self.text, start).unwrap_or(end))
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let written = self.text.get(start..end).unwrap_or_default();
                Span::new(start, start + written.trim_end().len())
            }
        };
        if self.expects_key() {
            if is_plain && text.is_empty() {
                let help = "write the key, or put the text in quotes";
                self.report(MistakeKind::Syntax, span, "expected a key before `:`", help);
                self.set_next(Next::Dropped);
                return;
            }
            if anchor != 0 {
                let kind = NodeKind::String(text.to_owned());
                self.remember(anchor, &Node { kind, span });
            }
            self.set_next(match is_plain && text == "<<" {
                true => Next::Merged,
                false => Next::Value(text.to_owned(), span),
            });
            return;
        }
        let string = || NodeKind::String(text.to_owned());
        let kind = match is_plain.then(|| plain(text)) {
            None => string(),
            Some(Plain::Value(kind)) => kind,
            Some(Plain::Doubtful(taken_for)) => {
                self.doubts.push(AmbiguousScalar { span, taken_for });
                string()
            }
            Some(Plain::NotFinite) => {
                let message = format!("`{}` can't be represented in JSON", excerpt(text));
                let help = "put it in quotes if text is meant";
                self.report(MistakeKind::NotJson, span, message, help);
                string()
            }
            Some(Plain::OutOfRange) => {
                let message = format!("the number `{}` is too large", excerpt(text));
                let help = "put it in quotes to keep it as text";
                self.report(MistakeKind::NotJson, span, message, help);
                string()
            }
        };
        self.finish(Node { kind, span }, anchor);
    }

    /// The place of a value that is not there: behind the `:` or `-` that calls for it.
    fn nothing(&self, at: usize) -> Span {
        let at = match self.text.as_bytes().get(at) {
            Some(b':' | b'-' | b'?') => at + 1,
            _ => at.min(self.text.len()),
        };
        Span::new(at, at)
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Mapping {
                    next: Next::Key,
                    ..
                },
                ..
            })
        )
    }

    fn set_next(&mut self, new: Next) {
        if let Some(Open {
            content: Content::Mapping { next, .. },
            ..
        }) = self.open.last_mut()
        {
            *next = new;
        }
    }

    fn max_depth(&self) -> usize {
        self.limits.max_depth.min(Limits::DEEPEST)
    }

    fn open(&mut self, start: usize, anchor: usize, content: Content) {
        let limit = self.max_depth();
        if self.open.len() + 1 >= limit {
            self.too_deep(limit, self.character(start));
            return;
        }
        self.open.push(Open {
            start,
            anchor,
            content,
        });
    }

    /// Ends the innermost list or mapping; `[…]` and `{…}` end with the bracket at `start`, after which the parser
    /// counts spaces in, up to `end`.
    fn close(&mut self, start: usize, end: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let last_end = match &open.content {
            Content::List(items) => items.last().map(|item| item.span.end),
            Content::Mapping { members, .. } => members.last().map(|member| {
                // An alias stands where it is written, what it stands for elsewhere.
                member.value.span.end.max(member.key_span.end)
            }),
        };
        let end = match end > start {
            true => start + 1,
            false => last_end.map_or(open.start, |end| (end as usize).max(open.start)),
        };
        let kind = match open.content {
            Content::List(items) => NodeKind::Array(items),
            Content::Mapping {
                mut members,
                merged,
                ..
            } => {
                self.is_over |= self.mistakes.add_duplicates(&members).is_none();
                merge(&mut members, merged);
                NodeKind::Object(members)
            }
        };
        let span = Span::new(open.start, end);
        self.finish(Node { kind, span }, open.anchor);
    }

    fn alias(&mut self, anchor: usize, span: Span) {
        let Some(anchored) = self.anchors.get(&anchor) else {
            let help = "refer to another anchor";
            self.report(MistakeKind::Alias, span, "recursive alias", help);
            self.finish(null(span), 0);
            return;
        };
        let limit = self.max_depth();
        if self.open.len() + anchored.height >= limit {
            self.too_deep(limit, span);
            return;
        }
        let weight = anchored.weight;
        if !self.charge(weight, span) {
            return;
        }
        let mut node = self.anchors[&anchor].node.clone();
        node.span = span;
        if self.expects_key()
            && let NodeKind::String(text) = node.kind
        {
            self.set_next(Next::Value(text, span));
            return;
        }
        self.finish(node, 0);
    }

    /// Takes from what may be copied; false, and the end of the reading, if it is used up.
    fn charge(&mut self, weight: usize, span: Span) -> bool {
        match self.copies_left.checked_sub(weight) {
            Some(left) => {
                self.copies_left = left;
                true
            }
            None => {
                let limit = copies(self.text.len());
                let message =
                    format!("the aliases in this file expand to more than {limit} values");
                let help = "write out what is needed, without anchors and aliases";
                self.report(MistakeKind::Alias, span, message, help);
                self.is_over = true;
                false
            }
        }
    }

    fn remember(&mut self, anchor: usize, node: &Node) {
        let (weight, height) = measure(node);
        if self.charge(weight, node.span) {
            let anchored = Anchored {
                node: node.clone(),
                weight,
                height,
            };
            self.anchors.insert(anchor, anchored);
        }
    }

    /// Puts a finished value where it belongs.
    fn finish(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            self.remember(anchor, &node);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        let (members, merged, next) = match &mut open.content {
            Content::List(items) => {
                items.push(node);
                return;
            }
            Content::Mapping {
                members,
                merged,
                next,
            } => (members, merged, next),
        };
        match std::mem::replace(next, Next::Key) {
            Next::Key => {
                *next = Next::Dropped;
                let span = self.character(node.span.start as usize);
                let message = "a key must be text, not a list or a mapping";
                self.report(MistakeKind::NotJson, span, message, "put the key in quotes");
            }
            Next::Value(key, key_span) => members.push(Member {
                key,
                key_span,
                value: node,
            }),
            Next::Dropped => {}
            Next::Merged => match node.kind {
                NodeKind::Object(_) => merged.push(node),
                NodeKind::Array(items)
                    if items
                        .iter()
                        .all(|item| matches!(item.kind, NodeKind::Object(_))) =>
                {
                    merged.extend(items);
                }
                _ => self.report(
                    MistakeKind::Alias,
                    node.span,
                    "`<<` can only merge a mapping or a list of mappings",
                    "write `<<: *name` with the anchor of a mapping, or put the key in quotes",
                ),
            },
        }
    }

    fn too_deep(&mut self, limit: usize, span: Span) {
        let message = format!("lists and mappings are nested more than {limit} levels deep");
        self.report(MistakeKind::TooDeep, span, message, "reduce the nesting");
        self.is_over = true;
    }

    fn report(&mut self, kind: MistakeKind, span: Span, message: impl Into<String>, help: &str) {
        self.add(Mistake::new(kind, span, message, help));
    }

    fn add(&mut self, mistake: Mistake) {
        self.is_over |= self.mistakes.add(mistake).is_none();
    }

    /// The character at `at`; of no length at the end of a line or of the text.
    fn character(&self, at: usize) -> Span {
        let at = at.min(self.text.len());
        let length = self.text[at..]
            .chars()
            .next()
            .filter(|character| !matches!(character, '\n' | '\r'))
            .map_or(0, char::len_utf8);
        Span::new(at, at + length)
    }
}

/// What the aliases of a text of so many bytes may stand for.
fn copies(bytes: usize) -> usize {
    (FREE_COPIES + bytes).min(MAX_COPIES)
}

fn null(span: Span) -> Node {
    Node {
        kind: NodeKind::Null,
        span,
    }
}

/// Takes members into a mapping whose keys it doesn't have itself; of the merged, the first counts.
fn merge(members: &mut Vec<Member>, merged: Vec<Node>) {
    if merged.is_empty() {
        return;
    }
    let mut known: HashSet<String> = members.iter().map(|member| member.key.clone()).collect();
    for node in merged {
        let NodeKind::Object(more) = node.kind else {
            continue;
        };
        members.extend(
            more.into_iter()
                .filter(|member| known.insert(member.key.clone())),
        );
    }
}

/// How much a value counts when it is copied, and how many lists and mappings are inside each other.
fn measure(root: &Node) -> (usize, usize) {
    let mut weight = 0;
    let mut height = 0;
    let mut nodes = vec![(root, 0)];
    while let Some((node, depth)) = nodes.pop() {
        weight += 1;
        match &node.kind {
            NodeKind::String(text) | NodeKind::Number(text) => weight += text.len() / BYTES_A_VALUE,
            NodeKind::Array(items) => {
                height = height.max(depth + 1);
                nodes.extend(items.iter().map(|item| (item, depth + 1)));
            }
            NodeKind::Object(members) => {
                height = height.max(depth + 1);
                for member in members {
                    weight += member.key.len() / BYTES_A_VALUE;
                    nodes.push((&member.value, depth + 1));
                }
            }
            NodeKind::Null | NodeKind::Bool(_) => {}
        }
    }
    (weight, height)
}
