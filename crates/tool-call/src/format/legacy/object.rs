//! Edits of one object that leave alone what they don't mean: order, indentation, spelling.

use cuecard_source::json::Node;
use cuecard_source::{Edit, Part, SourceFile, Span};

/// What becomes of a member.
pub(super) enum Fate {
    Keep,
    Remove,
    /// Another key, another value, or both.
    Become {
        key: Option<&'static str>,
        value: Option<Vec<Part>>,
    },
}

/// The edits that give the members of an object their fates.
pub(super) fn change(object: &Node, fates: &[Fate]) -> Vec<Edit> {
    let members = object.members();
    let mut edits = Vec::new();
    let mut is_any_kept = false;
    for (index, (member, fate)) in members.iter().zip(fates).enumerate() {
        match fate {
            Fate::Keep => is_any_kept = true,
            Fate::Become { key, value } => {
                is_any_kept = true;
                if let Some(key) = key {
                    edits.push(Edit {
                        at: member.key_span,
                        parts: vec![Part::new(quoted(key), member.key_span)],
                    });
                }
                if let Some(parts) = value {
                    edits.push(Edit {
                        at: member.value.span,
                        parts: parts.clone(),
                    });
                }
            }
            // With the comma before it, if anything is left there; else up to the next.
            Fate::Remove if is_any_kept => edits.push(cut_out(
                members[index - 1].value.span.end,
                member.value.span.end,
            )),
            Fate::Remove => edits.push(match members.get(index + 1) {
                Some(next) => cut_out(member.key_span.start, next.key_span.start),
                None => cut_out(member.key_span.start, member.value.span.end),
            }),
        }
    }
    if !is_any_kept && !members.is_empty() {
        return vec![cut_out(object.span.start + 1, object.span.end - 1)];
    }
    edits
}

fn cut_out(start: u32, end: u32) -> Edit {
    Edit {
        at: Span { start, end },
        parts: Vec::new(),
    }
}

/// How the members of an object are laid out.
pub(super) struct Layout {
    /// What stands before a member that is not the first, without the comma.
    before: String,
    /// Whether there are spaces where there need be none.
    is_airy: bool,
}

impl Layout {
    pub(super) fn of(source: &SourceFile, object: &Node) -> Self {
        let members = object.members();
        let between = |start: u32, end: u32| source.slice(Span { start, end }).to_owned();
        let before = match members {
            [first, second, ..] => {
                between(first.value.span.end, second.key_span.start).replacen(',', "", 1)
            }
            [only] => between(object.span.start + 1, only.key_span.start),
            [] => String::new(),
        };
        let is_airy = members
            .first()
            .is_none_or(|first| between(first.key_span.end, first.value.span.start) != ":");
        // Members of an object in one line have a space between them, if there are spaces at all.
        let before = match before.as_str() {
            "" if is_airy => " ".to_owned(),
            _ => before,
        };
        Self { before, is_airy }
    }

    /// A member more, after the one that ends at `end`. What it says stands for `about`.
    pub(super) fn insert(&self, end: u32, key: &str, value: Vec<Part>, about: Span) -> Edit {
        let mut parts = vec![Part::new(
            format!(",{}{}:{}", self.before, quoted(key), self.space()),
            about,
        )];
        parts.extend(value);
        Edit {
            at: Span { start: end, end },
            parts,
        }
    }

    /// The same before the first member, which begins at `start`.
    pub(super) fn insert_first(
        &self,
        start: u32,
        key: &str,
        value: Vec<Part>,
        about: Span,
    ) -> Edit {
        let mut parts = vec![Part::new(
            format!("{}:{}", quoted(key), self.space()),
            about,
        )];
        parts.extend(value);
        parts.push(Part::new(format!(",{}", self.before), about));
        Edit {
            at: Span { start, end: start },
            parts,
        }
    }

    /// An object in one line.
    pub(super) fn object(&self, members: Vec<(&str, Vec<Part>)>, about: Span) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, (key, value)) in members.into_iter().enumerate() {
            let before = match index {
                0 => format!("{{{}", self.space()),
                _ => format!(",{}", self.space()),
            };
            parts.push(Part::new(
                format!("{before}{}:{}", quoted(key), self.space()),
                about,
            ));
            parts.extend(value);
        }
        parts.push(Part::new(format!("{}}}", self.space()), about));
        parts
    }

    fn space(&self) -> &'static str {
        if self.is_airy { " " } else { "" }
    }
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
