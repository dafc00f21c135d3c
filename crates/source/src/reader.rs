//! What every part of the reader shares: the source, the findings so far, and typed access to fields.

use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::{Code, Diagnostic, codes, did_you_mean};
use crate::json::{Node, NodeKind, string_span};
use crate::value::cut;
use crate::value::fields::{self, Field};
use crate::yaml::{AmbiguousScalar, Yaml11Type};
use crate::{SourceFile, Span};

/// What a format calls its mistakes, and how it takes an absent field.
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
    /// Whether a field that is null is as good as absent.
    pub null_is_absent: bool,
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
    pub moved: Option<&'a HashMap<Span, String>>,
    slips: Vec<Typo>,
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

/// A key that stands in for a required one which is missing: one finding, reported with the missing one.
struct Typo {
    object: Span,
    wanted: &'static str,
    key_span: Span,
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
            moved: None,
            slips: Vec::new(),
        }
    }

    /// Says that the text is YAML, of which these parts may have been meant otherwise.
    pub fn set_yaml(&mut self, doubts: impl Into<Rc<[AmbiguousScalar]>>) {
        self.is_yaml = true;
        self.doubts = doubts.into();
    }

    /// If the text is YAML, the parts of it that may have been meant otherwise.
    pub fn yaml(&self) -> Option<&Rc<[AmbiguousScalar]>> {
        self.is_yaml.then_some(&self.doubts)
    }

    /// The format that is read.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// The value of a field, if it is there.
    pub fn get<'n>(&self, object: Object<'n>, key: &str) -> Option<&'n Node> {
        let node = object.get(key)?;
        (!self.format.null_is_absent || !node.is_null()).then_some(node)
    }

    /// The parts of a value that other readers of YAML would take otherwise.
    pub fn doubts_in(&self, span: Span) -> &[AmbiguousScalar] {
        doubts_in(&self.doubts, span)
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
            let diagnostic = self.warning(codes::YAML_DOUBT, doubt.span, message);
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.help = Some(help(&doubt));
        }
    }

    /// The place of a part of a text; all of it where the text is not written as it is.
    pub fn part(&self, node: &Node, range: std::ops::Range<usize>) -> Span {
        if !self.is_yaml {
            return string_span(self.source.text(), node.span, range);
        }
        let written = self.source.slice(node.span);
        let text = node.as_str().unwrap_or_default();
        let before = match written.find(text) {
            // Nothing but quotes may stand around it.
            Some(before) if before <= 1 && written.len() - text.len() == before * 2 => before,
            _ => return node.span,
        };
        let start = node.span.start as usize + before;
        Span::new(start + range.start, start + range.end)
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

    fn report(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("one was just pushed")
    }

    /// A field that must be there. The keys of the object were looked at before, so that a mistyped one is known.
    pub fn required<'n>(
        &mut self,
        object: Object<'n>,
        key: &str,
        whose: &str,
        example: &str,
    ) -> Option<&'n Node> {
        let found = self.get(object, key);
        if found.is_none() {
            let slip = self.slip(object, key).map(|at| self.slips.swap_remove(at));
            let at = slip.as_ref().map_or_else(
                || first_character(self.source, object.node.span),
                |slip| slip.key_span,
            );
            let pointer = object.child_pointer(key);
            let code = self.format.missing;
            let diagnostic = self.error(code, at, format!("{whose} has no `{key}`"));
            diagnostic.pointer = Some(pointer);
            match slip {
                Some(_) => diagnostic.label = Some(format!("did you mean `{key}`?")),
                None => diagnostic.help = Some(format!("add {example}")),
            }
        }
        found
    }

    /// Reports a value whose type is not the wanted one, such as `a string`.
    pub fn wrong_type(&mut self, node: &Node, pointer: &str, what: &str, wanted: &str) {
        let doubts = self.is_yaml.then_some(&*self.doubts);
        let help = type_help(self.source, doubts, node, wanted == "a string");
        let code = self.format.wrong_type;
        let diagnostic = self.error(
            code,
            node.span,
            format!("{what} must be {wanted}, not {}", found(node)),
        );
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = help;
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

    /// The truth of an optional field.
    pub fn flag(&mut self, object: Object<'_>, key: &str, what: &str) -> Option<bool> {
        let node = self.get(object, key)?;
        match node.kind {
            NodeKind::Bool(flag) => Some(flag),
            _ => {
                self.wrong_type(node, &object.child_pointer(key), what, "true or false");
                None
            }
        }
    }

    /// One of several words of an optional field.
    pub fn one_of<T: Copy>(
        &mut self,
        object: Object<'_>,
        key: &str,
        what: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let (text, node) = self.text(object, key, what)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let listed: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let pointer = object.child_pointer(key);
            let proposal = did_you_mean(text, words.iter().map(|(word, _)| *word));
            let code = self.format.value;
            let diagnostic = self.error(
                code,
                node.span,
                format!("{what} is {}, not `{}`", either(&listed), cut(text, 40)),
            );
            diagnostic.pointer = Some(pointer);
            diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
        }
        found.map(|(_, value)| *value)
    }

    /// Warns about keys that nothing reads, and refuses one that is nearly the name of a key that asserts something: a run
    /// would pass without it. Keys for other tools (`$schema`, `_…`, `x-…`) pass.
    pub fn unknown_keys(
        &mut self,
        object: Object<'_>,
        fields: &'static [Field],
        more: &[&'static str],
        whose: &str,
    ) {
        let code = self.format.unknown;
        self.each_unknown_key(object, fields, more, |reader, key, span, proposal| {
            let message = format!("unknown key `{key}` in {whose}");
            match proposal.is_some_and(asserts) {
                true => reader.error(code, span, message),
                false => reader.warning(code, span, message),
            }
        });
    }

    fn each_unknown_key(
        &mut self,
        object: Object<'_>,
        fields: &'static [Field],
        more: &[&'static str],
        report: impl for<'r> Fn(&'r mut Self, &str, Span, Option<&str>) -> &'r mut Diagnostic,
    ) {
        for member in object.node.members() {
            let key = member.key.as_str();
            if fields.iter().any(|field| field.name == key) || more.contains(&key) || is_custom(key)
            {
                continue;
            }
            let names = fields::names(fields).into_iter();
            let proposal = meant_key(key, names.chain(more.iter().copied()));
            if self.is_slip(object, fields, proposal, member.key_span) {
                continue;
            }
            let pointer = object.child_pointer(key);
            let diagnostic = report(self, key, member.key_span, proposal);
            diagnostic.pointer = Some(pointer);
            diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
            if proposal.is_none() {
                diagnostic.help = Some(CUSTOM_KEY.to_owned());
            }
        }
    }

    /// Whether a key is left to [`Reader::required`], which reports it with the missing one it was meant to be.
    fn is_slip(
        &mut self,
        object: Object<'_>,
        fields: &'static [Field],
        proposal: Option<&str>,
        key_span: Span,
    ) -> bool {
        let Some(field) = fields
            .iter()
            .find(|field| field.required && Some(field.name) == proposal)
        else {
            return false;
        };
        if self.slip(object, field.name).is_some() || object.get(field.name).is_some() {
            return false;
        }
        self.slips.push(Typo {
            object: object.node.span,
            wanted: field.name,
            key_span,
        });
        true
    }

    fn slip(&self, object: Object<'_>, wanted: &str) -> Option<usize> {
        self.slips
            .iter()
            .position(|slip| slip.object == object.node.span && slip.wanted == wanted)
    }
}

fn doubts_in(doubts: &[AmbiguousScalar], span: Span) -> &[AmbiguousScalar] {
    let start = doubts.partition_point(|doubt| doubt.span.start < span.start);
    let end = doubts.partition_point(|doubt| doubt.span.start < span.end);
    doubts.get(start..end).unwrap_or_default()
}

/// What to write instead of a value of another type, where YAML has a trap there.
pub(crate) fn type_help(
    source: &SourceFile,
    yaml: Option<&[AmbiguousScalar]>,
    node: &Node,
    wants_text: bool,
) -> Option<String> {
    let doubts = yaml?;
    if wants_text && matches!(node.kind, NodeKind::Number(_) | NodeKind::Bool(_)) {
        let written = cut(source.slice(node.span), 40);
        return Some(format!("put it in quotes: \"{written}\""));
    }
    let doubt = doubts_in(doubts, node.span).first();
    let doubt = doubt.filter(|doubt| doubt.span == node.span);
    doubt.map(|doubt| instead(doubt.taken_for))
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
