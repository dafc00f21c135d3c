//! Why a server can't be used, in words.

use std::ops::Range;

use cuecard_source::Span;
use cuecard_source::diagnostic::{Code, Diagnostic, codes, did_you_mean};

use super::entry::{Entry, Field};
use super::expand::{Missing, MissingKind};
use super::findings::cut;
use super::resolve::Resolver;
use super::text::text_span;

impl Resolver<'_> {
    pub(super) fn disabled(&self, entry: &Entry, span: Span) -> Diagnostic {
        let message = format!("server `{}` is disabled", cut(&entry.name));
        let problem = self.problem(codes::CONFIG_INVALID, span, &entry.pointer, message);
        problem.with_help(r#"remove `"disabled": true` or `"enabled": false` from its entry"#)
    }

    pub(super) fn bad_env_file(
        &self,
        entry: &Entry,
        field: &Field,
        problem: &Diagnostic,
    ) -> Diagnostic {
        let place = problem.place.as_ref().map(|place| {
            let position = place.source.position(place.span.start);
            format!("{}:{}: ", place.source.name(), position.line)
        });
        let reason = format!(
            "can't be used: {}{}",
            place.unwrap_or_default(),
            problem.message
        );
        let help = "write the path of a file of `NAME=value` lines, or remove `envFile`";
        self.about(entry, field, &reason, help)
    }

    /// What looks like a reference and isn't filled in, at `range` of the text.
    pub(super) fn unread(
        &self,
        entry: &Entry,
        field: &Field,
        range: Range<usize>,
        more: usize,
    ) -> Diagnostic {
        let written = field.text.get(range.clone()).unwrap_or_default();
        let (place, server) = (&field.place, cut(&entry.name));
        let message = format!(
            "`{}` in `{place}` of server `{server}` is not substituted",
            form(written)
        );
        let warning = Diagnostic::warning(codes::CONFIG_INVALID, message)
            .at(self.source, text_span(self.text, field.span, range))
            .with_pointer(&field.pointer)
            .with_help("only `${NAME}` and `${NAME:-default}` are substituted");
        match more {
            0 => warning,
            1 => warning.with_note("neither is another one in the same text"),
            more => warning.with_note(format!("neither are {more} more in the same text")),
        }
    }

    pub(super) fn missing(&self, entry: &Entry, field: &Field, missing: &Missing) -> Diagnostic {
        let span = text_span(self.text, field.span, missing.range.clone());
        let (place, server) = (&field.place, cut(&entry.name));
        match &missing.kind {
            MissingKind::Variable(name) => {
                let shown = cut(name);
                let message =
                    format!("`{shown}` is not set, and `{place}` of server `{server}` needs it");
                let help = format!(
                    "run `export {shown}=…`, put `{shown}=…` into a file for `--env FILE`, or give a default: `${{{shown}:-…}}`"
                );
                let mut problem = self
                    .problem(codes::CONFIG_VARIABLE, span, &field.pointer, message)
                    .with_help(help);
                let known = self.search.environment.keys().map(String::as_str);
                problem.label =
                    did_you_mean(name, known).map(|near| format!("did you mean `{}`?", cut(near)));
                problem
            }
            MissingKind::Input(id) => {
                let name = variable_for(id);
                let message = format!(
                    "`${{input:{}}}` in `{place}` of server `{server}` is an input that only VS Code can prompt for",
                    cut(id)
                );
                let help = format!(
                    "write `${{{name}}}` instead, and set it: `export {name}=…`, or `{name}=…` in a file for `--env FILE`"
                );
                self.problem(codes::CONFIG_VARIABLE, span, &field.pointer, message)
                    .with_help(help)
            }
        }
    }

    pub(super) fn empty(&self, entry: &Entry, field: &Field) -> Diagnostic {
        let help = if field.text.contains("${") {
            "the variable in it is empty"
        } else {
            "write a program, as in \"npx\", or an address, as in \"http://localhost:8000/mcp\""
        };
        self.about(entry, field, "is empty", help)
    }

    /// A problem with one text of an entry, with what to do about it, if there is something.
    pub(super) fn about(&self, entry: &Entry, field: &Field, what: &str, help: &str) -> Diagnostic {
        let message = format!("`{}` of server `{}` {what}", field.place, cut(&entry.name));
        let mut problem = self.problem(codes::CONFIG_INVALID, field.span, &field.pointer, message);
        problem.help = (!help.is_empty()).then(|| help.to_owned());
        problem
    }

    fn problem(&self, code: Code, span: Span, pointer: &str, message: String) -> Diagnostic {
        Diagnostic::error(code, message)
            .at(self.source, span)
            .with_pointer(pointer)
    }
}

/// The variable that could stand for what VS Code calls `id`: `GITHUB_TOKEN` for `github-token`.
fn variable_for(id: &str) -> String {
    let name: String = id
        .chars()
        .take(60)
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    match name.chars().next() {
        None => "VALUE".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}

/// A form of reference that is not filled in: its beginning, since defaults may be secret.
fn form(written: &str) -> String {
    let is_name =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '{');
    let name_len = written
        .find(|character| !is_name(character))
        .unwrap_or(written.len());
    let (name, rest) = written.split_at(name_len);
    match rest {
        "" | "}" => cut(written),
        _ => format!("{}…", cut(name)),
    }
}
