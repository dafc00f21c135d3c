//! Typed access to the fields of a bundle; every finding names its place.

use cuecard_source::diagnostic::{Code, Diagnostic, Severity, any_error, codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::fields::Field;
use cuecard_source::value::{cut, push_pointer};
use cuecard_source::{SourceFile, Span};

/// Collects findings while a bundle is read.
pub(super) struct Reader<'a> {
    pub source: &'a SourceFile,
    pub diagnostics: Vec<Diagnostic>,
    left_out: usize,
    last_left_out: Option<Diagnostic>,
}

/// After this many findings the rest is left unsaid: a generated file repeats one mistake in every step.
const MAX_FINDINGS: usize = 100;

/// An object of the file with the pointer to it.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    pub node: &'a Node,
    pub pointer: &'a str,
}

impl<'a> Object<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key)
    }

    /// The value of a key that may also be null, which is the same as leaving it out.
    pub(super) fn given(&self, key: &str) -> Option<&'a Node> {
        self.get(key).filter(|node| !node.is_null())
    }

    pub(super) fn child_pointer(&self, key: &str) -> String {
        let mut pointer = self.pointer.to_owned();
        push_pointer(&mut pointer, key);
        pointer
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a SourceFile) -> Self {
        Self {
            source,
            diagnostics: Vec::new(),
            left_out: 0,
            last_left_out: None,
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
        if self.diagnostics.len() < MAX_FINDINGS {
            self.diagnostics.push(diagnostic);
        } else {
            self.left_out += 1;
            // Warnings alone must not hide that there is an error.
            if diagnostic.severity == Severity::Warning || any_error(&self.diagnostics) {
                return self.last_left_out.insert(diagnostic);
            }
            self.diagnostics.pop();
            self.diagnostics.push(diagnostic);
        }
        self.diagnostics.last_mut().expect("one was just pushed")
    }

    /// All findings, in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| {
            let place = diagnostic.place.as_ref();
            place.map_or(0, |place| place.span.start)
        });
        if let (Some(last), true) = (self.diagnostics.last_mut(), self.left_out > 0) {
            let note = format!("{} further findings are not shown", self.left_out);
            last.notes.push(note);
        }
        self.diagnostics
    }

    /// A field that must be there and not null.
    pub(super) fn required<'n>(
        &mut self,
        object: Object<'n>,
        key: &str,
        whose: &str,
        example: &str,
    ) -> Option<&'n Node> {
        let found = object.given(key);
        if found.is_none() {
            let at = object.get(key).map_or_else(
                || {
                    let start = object.node.span.start as usize;
                    Span::new(start, start + 1)
                },
                |null| null.span,
            );
            let diagnostic =
                self.error(codes::BUNDLE_MISSING, at, format!("{whose} has no `{key}`"));
            diagnostic.pointer = Some(object.child_pointer(key));
            diagnostic.help = Some(format!("add {example}"));
        }
        found
    }

    pub(super) fn wrong_type(&mut self, node: &Node, pointer: &str, what: &str, wanted: &str) {
        let message = format!("{what} must be {wanted}, not {}", found(node));
        self.error(codes::BUNDLE_VALUE, node.span, message).pointer = Some(pointer.to_owned());
    }

    /// The text of an optional field.
    pub(super) fn text(&mut self, object: Object<'_>, key: &str) -> Option<String> {
        let node = object.given(key)?;
        match &node.kind {
            NodeKind::String(text) => Some(text.clone()),
            _ => {
                let what = format!("`{key}`");
                self.wrong_type(node, &object.child_pointer(key), &what, "a string");
                None
            }
        }
    }

    /// The text of a field that must be there, and not be empty.
    pub(super) fn name(
        &mut self,
        object: Object<'_>,
        key: &str,
        whose: &str,
        example: &str,
    ) -> Option<String> {
        let node = self.required(object, key, whose, example)?;
        match &node.kind {
            NodeKind::String(text) if !text.is_empty() => Some(text.clone()),
            _ => {
                let what = format!("`{key}`");
                let wanted = "a string that is not empty";
                self.wrong_type(node, &object.child_pointer(key), &what, wanted);
                None
            }
        }
    }

    /// The truth of an optional field.
    pub(super) fn flag(&mut self, object: Object<'_>, key: &str) -> Option<bool> {
        let node = object.given(key)?;
        match node.kind {
            NodeKind::Bool(flag) => Some(flag),
            _ => {
                let what = format!("`{key}`");
                self.wrong_type(node, &object.child_pointer(key), &what, "true or false");
                None
            }
        }
    }

    /// A whole number of an optional field, from 0.
    pub(super) fn count(&mut self, object: Object<'_>, key: &str) -> Option<u64> {
        let node = object.given(key)?;
        let count = node.as_u64();
        if count.is_none() {
            let what = format!("`{key}`");
            let wanted = "a non-negative integer";
            self.wrong_type(node, &object.child_pointer(key), &what, wanted);
        }
        count
    }

    /// Milliseconds of a field: a number from 0.
    pub(super) fn milliseconds(&mut self, node: &Node, pointer: &str, what: &str) -> Option<f64> {
        let number = node.as_f64().filter(|ms| ms.is_finite() && *ms >= 0.0);
        if number.is_none() {
            self.wrong_type(node, pointer, what, "a non-negative number of milliseconds");
        }
        number
    }

    /// One of several words.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        node: &Node,
        pointer: &str,
        what: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let text = node.as_str().unwrap_or_default();
        let found_word = words.iter().find(|(word, _)| *word == text);
        if found_word.is_none() {
            let listed: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let proposal = did_you_mean(text, words.iter().map(|(word, _)| *word));
            let diagnostic = self.error(
                codes::BUNDLE_VALUE,
                node.span,
                format!("{what} is {}, not {}", either(&listed), found(node)),
            );
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
        }
        found_word.map(|&(_, value)| value)
    }

    /// Warns about keys that nothing reads. Notes of one's own (`x-…`, `_…`, `$…`) pass.
    pub(super) fn unknown_keys(&mut self, object: Object<'_>, known: &[&[Field]], whose: &str) {
        let names = || known.iter().copied().flatten().map(|field| field.name);
        for member in object.node.members() {
            let key = member.key.as_str();
            if names().any(|name| name == key)
                || key.starts_with("x-")
                || key.starts_with(['_', '$'])
            {
                continue;
            }
            let proposal = did_you_mean(key, names());
            let message = format!("unknown key `{}` in {whose}", cut(key, 80));
            let diagnostic = self.warning(codes::BUNDLE_UNKNOWN, member.key_span, message);
            diagnostic.pointer = Some(object.child_pointer(key));
            diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
        }
    }
}

/// What stands there instead of what should: a scalar with its value, anything else by its kind.
pub(super) fn found(node: &Node) -> String {
    match &node.kind {
        NodeKind::Number(text) => cut(text, 40).into_owned(),
        NodeKind::String(text) if text.is_empty() => "an empty string".to_owned(),
        NodeKind::String(text) => format!("the string `{}`", cut(text, 40)),
        NodeKind::Null => "null".to_owned(),
        NodeKind::Bool(flag) => flag.to_string(),
        NodeKind::Array(_) => "an array".to_owned(),
        NodeKind::Object(_) => "an object".to_owned(),
    }
}

/// `a`, `a or b`, `a, b or c`.
fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
    }
}
