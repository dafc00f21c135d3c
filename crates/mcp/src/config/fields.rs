//! Typed access to the values of an entry, and how findings about them begin.

use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};

use super::entry::EntryReader;
use super::findings::{Located, MAX_FINDINGS};
use crate::text;

/// The keys under which files list their servers. Each file may use either, or both.
pub(super) const SERVER_LISTS: &[&str] = &["mcpServers", "servers"];

/// How much of a name or word a message repeats, in characters.
const LONGEST_SHOWN: usize = 60;

/// A text of an entry.
pub(super) struct Field<'n> {
    pub text: &'n str,
    pub span: Span,
    pub pointer: String,
    /// Its path inside the entry, for messages: `env.TOKEN`.
    pub place: String,
}

impl<'n> EntryReader<'_, '_, 'n> {
    /// One of a few words, with the place where it stands.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &str,
        words: &[(&'static str, T)],
    ) -> Option<(T, Span)> {
        let value = self.here.get(key)?;
        let allowed = either(words.iter().map(|(word, _)| *word));
        let Some(text) = value.node.as_str() else {
            self.wrong_kind(&value, key, &allowed, None);
            return None;
        };
        let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) else {
            let message = format!(
                "`{key}` of {} is {allowed}, not `{}`",
                self.whose(),
                cut(text)
            );
            let mut error = self.findings.invalid(&value, message);
            error.label = did_you_mean(text, words.iter().map(|(word, _)| *word))
                .map(|word| format!("did you mean `{word}`?"));
            self.error(error);
            return None;
        };
        Some((*meaning, value.node.span))
    }

    /// An array of strings; empty if there is none.
    pub(super) fn texts(&mut self, key: &str) -> Vec<Field<'n>> {
        let Some(value) = self.here.get(key) else {
            return Vec::new();
        };
        let Some(items) = value.node.as_array() else {
            let help = format!("write \"{key}\": [\"…\"]");
            self.wrong_kind(&value, key, "an array of strings", Some(help));
            return Vec::new();
        };
        items
            .iter()
            .enumerate()
            .filter_map(|(idx, item)| {
                self.field(
                    &value.child(&idx.to_string(), item),
                    format!("{key}[{idx}]"),
                )
            })
            .collect()
    }

    /// An object of strings; empty if there is none.
    pub(super) fn pairs(&mut self, key: &str) -> Vec<(&'n str, Field<'n>)> {
        let Some(value) = self.here.get(key) else {
            return Vec::new();
        };
        let Some(members) = value.node.as_object() else {
            let help = format!("write \"{key}\": {{ \"NAME\": \"value\" }}");
            self.wrong_kind(&value, key, "an object of strings", Some(help));
            return Vec::new();
        };
        let mut pairs = Vec::with_capacity(members.len());
        for member in members {
            let name = member.key.as_str();
            if key == "env" && (name.is_empty() || name.contains(['=', '\0'])) {
                let message = format!(
                    "`{}` of {} is not a valid variable name",
                    cut(name),
                    self.whose()
                );
                self.error(
                    self.found_at(member.key_span, message)
                        .with_help("names consist of letters, digits and `_`"),
                );
            }
            let place = format!("{key}.{}", cut(name));
            pairs.extend(
                self.field(&value.child(name, &member.value), place)
                    .map(|field| (name, field)),
            );
        }
        pairs
    }

    pub(super) fn field(&mut self, value: &Located<'n>, place: String) -> Option<Field<'n>> {
        let Some(text) = value.node.as_str() else {
            let help = match value.node.kind {
                NodeKind::Number(_) | NodeKind::Bool(_) => "write it in quotes",
                NodeKind::Null => "remove it, or write \"\"",
                _ => "write a text in quotes",
            };
            self.wrong_kind(value, &place, "a string", Some(help.to_owned()));
            return None;
        };
        let field = Field {
            text,
            span: value.node.span,
            pointer: value.pointer.clone(),
            place,
        };
        if text.contains('\0') {
            let message = format!(
                "`{}` of {} must not contain the character U+0000",
                field.place,
                self.whose()
            );
            self.error(self.found(&field, message).with_help("remove it"));
        }
        Some(field)
    }

    pub(super) fn missing(&mut self, what: &str, proposal: &str, because: Option<Span>) {
        let message = format!("{} has no `{what}`", self.whose());
        let span = because.unwrap_or(self.name_span);
        let mut error = self
            .found_at(span, message)
            .with_help(format!("add {proposal}"));
        error.label = because.map(|_| "this type needs it".to_owned());
        self.error(error);
    }

    pub(super) fn wrong_kind(
        &mut self,
        value: &Located<'n>,
        place: &str,
        wanted: &str,
        help: Option<String>,
    ) {
        self.wrong_value(value, place, wanted, article(value.node), help);
    }

    pub(super) fn wrong_value(
        &mut self,
        value: &Located<'n>,
        place: &str,
        wanted: &str,
        found: &str,
        help: Option<String>,
    ) {
        let message = format!(
            "`{place}` of {} must be {wanted}, not {found}",
            self.whose()
        );
        let mut error = self.findings.invalid(value, message);
        error.help = help;
        self.error(error);
    }

    /// What keeps the server from being used.
    pub(super) fn error(&mut self, error: Diagnostic) {
        self.problems.add(|| error);
    }

    pub(super) fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.len() < MAX_FINDINGS {
            self.warnings.push(warning);
        }
    }

    pub(super) fn found(&self, field: &Field<'_>, message: String) -> Diagnostic {
        self.findings.error(field.span, &field.pointer, message)
    }

    /// An error about the entry as a whole.
    pub(super) fn found_at(&self, span: Span, message: String) -> Diagnostic {
        self.findings.error(span, &self.here.pointer, message)
    }

    pub(super) fn warning_at(&self, member: &'n Member, message: String) -> Diagnostic {
        let pointer = self.here.child(&member.key, &member.value).pointer;
        self.findings.warning(member.key_span, &pointer, message)
    }

    pub(super) fn whose(&self) -> String {
        format!("server `{}`", cut(self.name))
    }
}

/// The kind of a value with its article.
pub(super) fn article(node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Null => "null",
        NodeKind::Bool(_) => "a boolean",
        NodeKind::Number(_) => "a number",
        NodeKind::String(_) => "a string",
        NodeKind::Array(_) => "an array",
        NodeKind::Object(_) => "an object",
    }
}

/// A name from the file, fit to be shown.
pub(super) fn cut(name: &str) -> String {
    text::cut(&text::clean(name), LONGEST_SHOWN)
}

/// `a`, `b` or `c`, each in backticks.
fn either<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [start @ .., last] if !start.is_empty() => format!("{} or {last}", start.join(", ")),
        words => words.concat(),
    }
}
