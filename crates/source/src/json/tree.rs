//! The tree of a text that is JSON, with spans: `serde_json` has judged the grammar before, so nothing but what it lets
//! through can stand here.

use super::number::is_out_of_range;
use super::{Limits, Member, Node, NodeKind};
use crate::Span;
use crate::mistake::{Mistake, MistakeKind, Mistakes, excerpt};

/// Builds a tree, with the open arrays and objects on a stack of its own, so that no input can exhaust the machine's.
pub(super) struct Builder<'text> {
    text: &'text str,
    at: usize,
    open: Vec<Open>,
    limits: Limits,
    pub(super) mistakes: Mistakes,
}

/// An array or object whose closing bracket was not read yet.
struct Open {
    start: usize,
    kind: NodeKind,
    /// The key of an object whose value comes next.
    key: Option<(String, Span)>,
}

impl<'text> Builder<'text> {
    /// A builder that begins at `at`.
    pub(super) fn new(text: &'text str, at: usize, limits: Limits) -> Self {
        Self {
            text,
            at,
            open: Vec::new(),
            limits,
            mistakes: Mistakes::new(limits.max_errors),
        }
    }

    /// The value of the whole text; `None` if it is nested too deeply or has too many mistakes.
    pub(super) fn build(&mut self) -> Option<Node> {
        loop {
            let start = self.at;
            let byte = *self.text.as_bytes().get(start)?;
            self.at += 1;
            let kind = match byte {
                b'[' | b'{' => {
                    self.begin(byte, start)?;
                    continue;
                }
                b']' | b'}' => {
                    let open = self.open.pop()?;
                    if let NodeKind::Object(members) = &open.kind {
                        self.mistakes.add_duplicates(members)?;
                    }
                    let node = Node {
                        kind: open.kind,
                        span: Span::new(open.start, self.at),
                    };
                    match self.add(node) {
                        Some(root) => return Some(root),
                        None => continue,
                    }
                }
                b'"' => {
                    let text = self.string(start)?;
                    let span = Span::new(start, self.at);
                    if let Some(Open {
                        kind: NodeKind::Object(_),
                        key: key @ None,
                        ..
                    }) = self.open.last_mut()
                    {
                        *key = Some((text, span));
                        continue;
                    }
                    NodeKind::String(text)
                }
                b'-' | b'0'..=b'9' => self.number(start)?,
                b't' => self.word("true", NodeKind::Bool(true)),
                b'f' => self.word("false", NodeKind::Bool(false)),
                b'n' => self.word("null", NodeKind::Null),
                // White space, commas, colons.
                _ => continue,
            };
            let node = Node {
                kind,
                span: Span::new(start, self.at),
            };
            if let Some(root) = self.add(node) {
                return Some(root);
            }
        }
    }

    fn begin(&mut self, byte: u8, start: usize) -> Option<()> {
        let limit = self.limits.max_depth.min(Limits::DEEPEST);
        if self.open.len() + 1 >= limit {
            let message = format!("arrays and objects are nested {limit} deep here");
            let help = format!("nest less than {limit} deep");
            let span = Span::new(start, start + 1);
            let mistake = Mistake::new(MistakeKind::TooDeep, span, message, &help);
            self.mistakes.add(mistake)?;
            return None;
        }
        let kind = match byte {
            b'[' => NodeKind::Array(Vec::new()),
            _ => NodeKind::Object(Vec::new()),
        };
        self.open.push(Open {
            start,
            kind,
            key: None,
        });
        Some(())
    }

    /// Puts a finished value where it belongs; returns it if it is the whole.
    fn add(&mut self, value: Node) -> Option<Node> {
        match self.open.last_mut() {
            None => return Some(value),
            Some(Open {
                kind: NodeKind::Object(members),
                key,
                ..
            }) => {
                let (key, key_span) = key.take().unwrap_or_default();
                members.push(Member {
                    key,
                    key_span,
                    value,
                });
            }
            Some(Open {
                kind: NodeKind::Array(items),
                ..
            }) => items.push(value),
            Some(_) => {}
        }
        None
    }

    /// The string whose opening quote stands at `start`.
    fn string(&mut self, start: usize) -> Option<String> {
        let mut has_escapes = false;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let literal = self.text.get(start..self.at)?;
        if !has_escapes {
            return Some(literal.get(1..literal.len() - 1)?.to_owned());
        }
        if let Ok(text) = serde_json::from_str(literal) {
            return Some(text);
        }
        // All else that is wrong with a string was found before.
        let whole = super::without_lone_surrogates(literal.as_bytes());
        let half = whole
            .iter()
            .zip(literal.bytes())
            .position(|(one, other)| *one != other);
        let half = start + half.unwrap_or_default().saturating_sub(2);
        self.mistakes.add(Mistake::new(
            MistakeKind::Syntax,
            Span::new(half, half + 6),
            "half of a surrogate pair",
            "write the whole surrogate pair, as in `\\ud83d\\ude00`, or the character itself",
        ))?;
        serde_json::from_slice(&whole).ok()
    }

    fn number(&mut self, start: usize) -> Option<NodeKind> {
        let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let rest = self.text.get(start..)?;
        let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
        self.at = start + length;
        let text = rest.get(..length)?;
        if is_out_of_range(text) {
            self.mistakes.add(Mistake::new(
                MistakeKind::NotJson,
                Span::new(start, self.at),
                format!("number `{}` is out of range", excerpt(text)),
                "the largest number is about `1.7e308`; longer ones can be strings",
            ))?;
        }
        Some(NodeKind::Number(text.to_owned()))
    }

    fn word(&mut self, word: &str, kind: NodeKind) -> NodeKind {
        self.at += word.len() - 1;
        kind
    }
}
