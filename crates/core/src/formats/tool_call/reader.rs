//! What every part of the reader shares: the source, the findings so far, and typed access to fields.

use crate::diagnostic::{Code, Diagnostic, codes, did_you_mean};
use crate::source::json::{Node, NodeKind};
use crate::source::{SourceFile, Span};

/// Collects findings while a file is read.
pub(super) struct Reader<'a> {
    pub source: &'a SourceFile,
    pub diagnostics: Vec<Diagnostic>,
}

/// An object of the file with the pointer to it.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    pub node: &'a Node,
    pub pointer: &'a str,
}

impl<'a> Object<'a> {
    pub(super) fn child_pointer(&self, key: &str) -> String {
        let mut pointer = self.pointer.to_owned();
        crate::value::push_pointer(&mut pointer, key);
        pointer
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key)
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a SourceFile) -> Self {
        Self {
            source,
            diagnostics: Vec::new(),
        }
    }

    /// Reports an error and gives it back for more words.
    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.report(Diagnostic::error(code, message).at(self.source, span))
    }

    /// Reports a warning and gives it back for more words.
    pub(super) fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.report(Diagnostic::warning(code, message).at(self.source, span))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("one was just pushed")
    }

    /// A field that must be there.
    pub(super) fn required<'n>(
        &mut self,
        object: Object<'n>,
        key: &str,
        whose: &str,
        example: &str,
    ) -> Option<&'n Node> {
        let found = object.get(key);
        if found.is_none() {
            let at = Span::new(
                object.node.span.start as usize,
                object.node.span.start as usize + 1,
            );
            let pointer = object.child_pointer(key);
            let diagnostic =
                self.error(codes::FIELD_MISSING, at, format!("{whose} has no `{key}`"));
            diagnostic.pointer = Some(pointer);
            diagnostic.help = Some(format!("add {example}"));
        }
        found
    }

    pub(super) fn wrong_type(&mut self, node: &Node, pointer: &str, what: &str, wanted: &str) {
        let diagnostic = self.error(
            codes::FIELD_TYPE,
            node.span,
            format!("{what} must be {wanted}, not {}", article(node.kind_name())),
        );
        diagnostic.pointer = Some(pointer.to_owned());
    }

    /// The text of an optional field.
    pub(super) fn text<'n>(
        &mut self,
        object: Object<'n>,
        key: &str,
        what: &str,
    ) -> Option<(&'n str, &'n Node)> {
        let node = object.get(key)?;
        match &node.kind {
            NodeKind::String(text) => Some((text, node)),
            _ => {
                self.wrong_type(node, &object.child_pointer(key), what, "a string");
                None
            }
        }
    }

    /// The truth of an optional field.
    pub(super) fn flag(&mut self, object: Object<'_>, key: &str, what: &str) -> Option<bool> {
        let node = object.get(key)?;
        match node.kind {
            NodeKind::Bool(flag) => Some(flag),
            _ => {
                self.wrong_type(node, &object.child_pointer(key), what, "true or false");
                None
            }
        }
    }

    /// One of several words of an optional field.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        object: Object<'_>,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let (text, node) = self.text(object, key, &format!("`{key}`"))?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let listed: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let pointer = object.child_pointer(key);
            let proposal = did_you_mean(text, words.iter().map(|(word, _)| *word));
            let diagnostic = self.error(
                codes::FIELD_VALUE,
                node.span,
                format!("`{key}` is {}, not `{text}`", either(&listed)),
            );
            diagnostic.pointer = Some(pointer);
            diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
        }
        found.map(|(_, value)| *value)
    }

    /// Warns about keys that nothing reads. Keys for other tools (`$schema`, `_…`, `x-…`) pass.
    pub(super) fn unknown_keys(&mut self, object: Object<'_>, known: &[&str], whose: &str) {
        for member in object.node.members() {
            let key = member.key.as_str();
            if known.contains(&key)
                || key.starts_with("x-")
                || key.starts_with('_')
                || key.starts_with('$')
            {
                continue;
            }
            let proposal = did_you_mean(key, known.iter().copied());
            let pointer = object.child_pointer(key);
            let diagnostic = self.warning(
                codes::FIELD_UNKNOWN,
                member.key_span,
                format!("{whose} has a key `{key}` that nothing reads"),
            );
            diagnostic.pointer = Some(pointer);
            diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
            if proposal.is_none() {
                diagnostic.help = Some(
                    "remove it, or start its name with `x-` to keep a note of your own".to_owned(),
                );
            }
        }
    }
}

/// A kind of JSON with its article.
pub(super) fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        kind if kind.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
    }
}
