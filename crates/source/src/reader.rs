//! What every part of the reader shares: the source, the findings so far, and typed access to fields.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::diagnostic::{Code, Diagnostic, codes, did_you_mean};
use crate::json::{Node, NodeKind, string_span};
use crate::value::cut;
use crate::yaml::{AmbiguousScalar, Yaml11Type};
use crate::{SourceFile, Span};

/// What a format calls its mistakes.
pub struct Format {
    /// A required key is missing.
    pub missing: Code,
    /// A value has another type than it must have.
    pub wrong_type: Code,
    /// A key that nothing knows.
    pub unknown: Code,
    /// A value of the right type that is none of those allowed.
    pub value: Code,
    /// A JSONPath that can't be read.
    pub path: Code,
    /// A check, such as a regular expression or a schema, that can't be read.
    pub check: Code,
}

/// Collects findings while a file is read.
pub struct Reader<'a> {
    /// The file that is read.
    pub source: &'a SourceFile,
    /// What was found so far.
    pub diagnostics: Vec<Diagnostic>,
    format: &'static Format,
    doubts: Rc<[AmbiguousScalar]>,
    is_yaml: bool,
    /// How many patterns were compiled, for formats that bound them.
    pub n_patterns: usize,
    /// The pointers to the items of lists that stand elsewhere in the document, by their places.
    pub moved: Rc<HashMap<Span, String>>,
}

/// Whether a key of this name asserts something, or holds something back: without it, more passes or happens than was
/// meant.
pub(crate) fn asserts(name: &str) -> bool {
    name.starts_with("expect")
        || matches!(
            name,
            "asserts"
                | "assertion"
                | "assertions"
                | "condition"
                | "params"
                | "policy"
                | "forbidden"
                | "max_calls"
                | "available"
                | "redact_fields"
        )
}

/// An object of the file with the pointer to it.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    /// The object.
    pub node: &'a Node,
    /// The JSON pointer to it.
    pub pointer: &'a str,
}

impl<'a> Object<'a> {
    /// The JSON pointer to one of its fields.
    pub fn child_pointer(&self, key: &str) -> String {
        let mut pointer = self.pointer.to_owned();
        crate::value::push_pointer(&mut pointer, key);
        pointer
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key)
    }
}

/// What other tools call a check: a run would pass without it.
const CHECKS: &[&str] = &[
    "assert",
    "asserts",
    "assertion",
    "assertions",
    "check",
    "checks",
    "should",
    "verify",
];

/// What other tools call a condition: a step would be played without it.
const GUARDS: &[&str] = &[
    "disabled", "enabled", "if", "only_if", "skip", "skip_if", "unless", "when",
];

/// What to do about a key that nothing reads.
pub(crate) const CUSTOM_KEY: &str =
    "remove it, or start its name with `x-` to keep it as a custom field";

/// Whether a key is for other tools.
pub fn is_custom(key: &str) -> bool {
    key.starts_with("x-") || key.starts_with(['_', '$'])
}

/// Returns the key among `names` that was probably meant by an unknown one.
pub(crate) fn meant_key<'n>(
    key: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    did_you_mean(key, names.clone()).or_else(|| {
        let (_, meant) = [(CHECKS, "expect"), (GUARDS, "condition")]
            .into_iter()
            .find(|(words, _)| words.contains(&key))?;
        names.into_iter().find(|name| *name == meant)
    })
}

impl<'a> Reader<'a> {
    /// A reader of a file in a format.
    pub fn new(source: &'a SourceFile, format: &'static Format) -> Self {
        Self {
            source,
            diagnostics: Vec::new(),
            format,
            doubts: Rc::default(),
            is_yaml: false,
            n_patterns: 0,
            moved: Rc::default(),
        }
    }

    /// Says that the text is YAML, of which these parts may have been meant otherwise.
    pub fn set_yaml(&mut self, doubts: impl Into<Rc<[AmbiguousScalar]>>) {
        self.is_yaml = true;
        self.doubts = doubts.into();
    }

    /// A reader of the same text that has found nothing yet.
    pub(crate) fn without_findings(&self) -> Self {
        Self {
            source: self.source,
            diagnostics: Vec::new(),
            format: self.format,
            doubts: Rc::clone(&self.doubts),
            is_yaml: self.is_yaml,
            n_patterns: self.n_patterns,
            moved: Rc::clone(&self.moved),
        }
    }

    /// The format that is read.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads a part of another format.
    pub fn with_format<T>(
        &mut self,
        format: &'static Format,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.format, format);
        let value = read(self);
        self.format = outer;
        value
    }

    /// The value of a field, if it is there: null is as good as absent.
    pub fn get<'n>(&self, object: Object<'n>, key: &str) -> Option<&'n Node> {
        object.get(key).filter(|node| !node.is_null())
    }

    /// The parts of a value that other readers of YAML would take otherwise.
    pub fn doubts_in(&self, span: Span) -> &[AmbiguousScalar] {
        let doubts = &self.doubts;
        let start = doubts.partition_point(|doubt| doubt.span.start < span.start);
        let end = doubts.partition_point(|doubt| doubt.span.start < span.end);
        doubts.get(start..end).unwrap_or_default()
    }

    /// Warns about the parts of a value that other readers of YAML would take otherwise; `help` says what to do.
    pub fn warn_doubts(
        &mut self,
        node: &Node,
        pointer: &str,
        help: impl Fn(&AmbiguousScalar) -> String,
    ) {
        for doubt in self.doubts_in(node.span).to_vec() {
            let message = format!(
                "`{}` is read as a string here",
                cut(self.source.slice(doubt.span), 40)
            );
            let diagnostic = self.warning_at(codes::YAML_DOUBT, doubt.span, pointer, message);
            diagnostic.help = Some(help(&doubt));
        }
    }

    /// The place of a part of a text; all of it where the text is not written as it is.
    pub fn part(&self, node: &Node, range: Range<usize>) -> Span {
        self.part_of(node.as_str().unwrap_or_default(), node.span, range)
    }

    /// As [`Self::part`], of the text that is written under `span`.
    pub fn part_of(&self, text: &str, span: Span, range: Range<usize>) -> Span {
        let written = self.source.slice(span);
        // Nothing but quotes may stand around it.
        let is_whole = |before: &usize| *before <= 1 && written.len() - text.len() == before * 2;
        if let Some(before) = written.find(text).filter(is_whole) {
            let start = span.start as usize + before;
            return Span::new(start + range.start, start + range.end);
        }
        let is_written = || serde_json::from_str::<String>(written).is_ok_and(|it| it == text);
        match !self.is_yaml && is_written() {
            true => string_span(self.source.text(), span, range),
            false => span,
        }
    }

    /// Reports an error and gives it back for more words.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.report(Diagnostic::error(code, message).at(self.source, span))
    }

    /// Reports an error about the value at a pointer.
    pub fn error_at(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = self.error(code, span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic
    }

    /// Reports a warning and gives it back for more words.
    pub fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.report(Diagnostic::warning(code, message).at(self.source, span))
    }

    /// Warns about the value at a pointer.
    pub fn warning_at(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = self.warning(code, span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic
    }

    fn report(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("one was just pushed")
    }

    /// A field that must be there.
    pub fn required<'n>(
        &mut self,
        object: Object<'n>,
        key: &str,
        whose: &str,
        example: &str,
    ) -> Option<&'n Node> {
        let found = self.get(object, key);
        if found.is_none() {
            let at = first_character(self.source, object.node.span);
            let code = self.format.missing;
            let diagnostic = self.error(code, at, format!("{whose} has no `{key}`"));
            diagnostic.pointer = Some(object.child_pointer(key));
            diagnostic.help = Some(format!("add {example}"));
        }
        found
    }

    /// Reports a value whose type is not the wanted one, such as `a string`.
    pub fn wrong_type(&mut self, node: &Node, pointer: &str, what: &str, wanted: &str) {
        let help = self.type_help(node, wanted == "a string");
        let code = self.format.wrong_type;
        let diagnostic = self.error(
            code,
            node.span,
            format!("{what} must be {wanted}, not {}", found(node)),
        );
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = help;
    }

    /// What to write instead of a value of another type, where YAML has a trap there.
    pub(crate) fn type_help(&self, node: &Node, wants_text: bool) -> Option<String> {
        if !self.is_yaml {
            return None;
        }
        if wants_text && matches!(node.kind, NodeKind::Number(_) | NodeKind::Bool(_)) {
            let written = cut(self.source.slice(node.span), 40);
            return Some(format!("put it in quotes: \"{written}\""));
        }
        let doubt = self.doubts_in(node.span).first();
        let doubt = doubt.filter(|doubt| doubt.span == node.span);
        doubt.map(|doubt| instead(doubt.taken_for))
    }

    /// A key with its sign, as the text has keys.
    pub(crate) fn written_key(&self, key: &str) -> String {
        match self.is_yaml {
            true => format!("`{key}: …`"),
            false => format!("`\"{key}\": …`"),
        }
    }

    /// The text of an optional field.
    pub fn text<'n>(
        &mut self,
        object: Object<'n>,
        key: &str,
        what: &str,
    ) -> Option<(&'n str, &'n Node)> {
        let node = self.get(object, key)?;
        let text = self.text_of(node, &object.child_pointer(key), what)?;
        Some((text, node))
    }

    /// The text that a value must be.
    pub fn text_of<'n>(&mut self, node: &'n Node, pointer: &str, what: &str) -> Option<&'n str> {
        if node.as_str().is_none() {
            self.wrong_type(node, pointer, what, "a string");
        }
        node.as_str()
    }
}

/// What to write instead of a text that was meant otherwise.
pub fn instead(taken_for: Yaml11Type) -> String {
    match taken_for {
        Yaml11Type::Boolean(flag) => format!("write `{flag}`: in YAML 1.2 other words are text"),
        Yaml11Type::Number => {
            "write the number without leading zeros or `_`: in YAML 1.2 this is text".to_owned()
        }
    }
}

/// The first character under `span`, to point at what is too large to be marked as a whole.
pub fn first_character(source: &SourceFile, span: Span) -> Span {
    let start = span.start as usize;
    let first = source.slice(span).chars().next();
    Span::new(start, start + first.map_or(1, char::len_utf8))
}

/// What stands there instead of what should: a scalar with its value, anything else by its kind.
pub fn found(node: &Node) -> String {
    match &node.kind {
        NodeKind::Number(text) => cut(text, 40).into_owned(),
        NodeKind::String(text) if text.is_empty() => "an empty string".to_owned(),
        NodeKind::String(text) => format!("the string `{}`", cut(text, 40)),
        NodeKind::Null => "null".to_owned(),
        NodeKind::Bool(flag) => flag.to_string(),
        NodeKind::Array(_) | NodeKind::Object(_) => article(node.kind_name()),
    }
}

/// A kind of JSON with its article.
pub fn article(kind: &str) -> String {
    match kind {
        kind if kind.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
    }
}
