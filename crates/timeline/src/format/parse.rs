//! The text as a tree, and whether it is a timeline at all.

use super::loader::key_path;
use cuecard_source::detect::{FileKind, detect, kind_of};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::document::Language;
use cuecard_source::json::{Limits, Node, NodeKind};
use cuecard_source::reader::first_character;
use cuecard_source::yaml::{self, AmbiguousScalar};
use cuecard_source::{Mistake, MistakeKind, SourceFile, Span};

/// The tree of a text, or what is wrong with it.
pub(super) fn parse(source: &SourceFile) -> Result<(Node, Vec<AmbiguousScalar>), Vec<Diagnostic>> {
    let parsed = yaml::parse(source.text(), &Limits::default());
    if !parsed.errors.is_empty() {
        return Err(parsed
            .errors
            .iter()
            .map(|error| diagnostic(source, error))
            .collect());
    }
    match parsed.root {
        Some(root) => Ok((root, parsed.doubts)),
        None => Err(vec![Diagnostic::error(
            codes::TIMELINE_YAML,
            "the file is empty",
        )]),
    }
}

fn diagnostic(source: &SourceFile, error: &Mistake) -> Diagnostic {
    use MistakeKind::{Alias, DuplicateKey, TooDeep};
    let code = match error.kind {
        DuplicateKey | Alias | TooDeep => codes::TIMELINE_YAML_LIMIT,
        _ => codes::TIMELINE_YAML,
    };
    let found = error.diagnostic(source, Language::Yaml);
    Diagnostic {
        code,
        help: working_form(source, error).or(found.help),
        ..found
    }
}

/// What to write for two forms that the format's first description shows and that are no YAML.
fn working_form(source: &SourceFile, error: &Mistake) -> Option<String> {
    if error.kind != MistakeKind::Syntax {
        return None;
    }
    let text = source.text();
    let at = (error.span.start as usize).min(text.len());
    let start = text.get(..at)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    if line.trim_start().starts_with("rules:") {
        return Some(
            "make it an item of the list: `- rules:`, with its rules indented below".to_owned(),
        );
    }
    let is_element = ["- think", "- assistant", "- error"]
        .iter()
        .any(|element| line.trim_start().starts_with(element));
    if !is_element {
        return None;
    }
    let mut has_meta = false;
    for before in text[..start].lines().rev().take(200) {
        let own_indent = before.len() - before.trim_start().len();
        let word = before.trim_start().trim_start_matches("- ");
        has_meta |= own_indent == indent && word.starts_with("_meta:");
        if word.starts_with("llmResponse:") {
            return has_meta.then(|| {
                "put `_meta` beside `llmResponse`, with the same indent, and the list alone below it"
                    .to_owned()
            });
        }
    }
    None
}

/// Says what a file of another kind is, and what to do with it.
fn refuse_kind(source: &SourceFile, at: Span, kind: FileKind) -> Diagnostic {
    let help = match kind {
        FileKind::TestCase => "run it with `cuecard test FILE`",
        FileKind::ToolCall | FileKind::ToolCallLegacy | FileKind::BrowserSteps => {
            "play it with `cuecard play FILE`"
        }
        FileKind::Browser => "turn it into steps with `cuecard parse FILE`",
        FileKind::Cassette => "serve it with `cuecard serve mcp FILE`",
        FileKind::Session => "make a scenario of it with `cuecard record transcript FILE`",
        _ => "a timeline has `name` and `timeline`",
    };
    let message = format!("this is {}, not a timeline", kind.description());
    let diagnostic = Diagnostic::error(codes::TIMELINE_FOREIGN, message).at(source, at);
    diagnostic.with_help(help)
}

/// Says what JSON Lines are, which are no YAML: a recording, or an agent's session.
pub(super) fn refuse_lines(source: &SourceFile) -> Option<Diagnostic> {
    match kind_of(source)? {
        kind @ (FileKind::Session | FileKind::Cassette | FileKind::Trace) => {
            Some(refuse_kind(source, Span::new(0, 1), kind))
        }
        _ => None,
    }
}

/// Says what a file is that is no timeline.
pub(super) fn refuse(source: &SourceFile, root: &Node) -> Option<Diagnostic> {
    let at = first_character(source, root.span);
    let foreign = |what: &str, help: &str| {
        let message = format!("this is {what}, not a timeline");
        let diagnostic = Diagnostic::error(codes::TIMELINE_FOREIGN, message).at(source, at);
        Some(diagnostic.with_help(help))
    };
    let unreadable = "this is not a timeline: put events under `timeline`";
    if let NodeKind::Array(items) = &root.kind {
        let any = |keys: &[&str]| {
            items
                .iter()
                .any(|item| keys.iter().any(|key| item.get(key).is_some()))
        };
        if any(&["client", "server"]) {
            return foreign("a script of frames on a wire", unreadable);
        }
        if any(&["assertVm", "key", "snapshot"]) {
            return foreign("a list of steps in a terminal", unreadable);
        }
    }
    if !matches!(root.kind, NodeKind::Object(_)) {
        let message = format!(
            "a timeline file must be a mapping, not {}",
            cuecard_source::reader::found(root)
        );
        let diagnostic = Diagnostic::error(codes::TIMELINE_YAML, message).at(source, at);
        return Some(diagnostic.with_help("start with `name: …` and `timeline:`"));
    }
    let has = |key: &str| root.get(key).is_some();
    let items = |key: &str| root.get(key).and_then(Node::as_array).unwrap_or_default();
    if has("timeline") {
        return None;
    }
    let is_playbook = items("rules")
        .iter()
        .any(|rule| rule.get("response").is_some() || rule.get("if_contains").is_some());
    if is_playbook || has("playbook") {
        return foreign("a playbook", unreadable);
    }
    let is_terminal = ["steps", "actions"].iter().any(|key| {
        items(key).iter().any(|step| {
            ["key", "assertVm", "snapshot"]
                .iter()
                .any(|key| step.get(key).is_some())
        })
    });
    if is_terminal {
        return foreign("a list of steps in a terminal", unreadable);
    }
    if has("events") {
        let help = "its events are under `events`; a timeline has them under `timeline`";
        return foreign("a file in another format", help);
    }
    let is_wire = ["transport", "auth", "assertions", "client", "frames"]
        .iter()
        .any(|key| has(key));
    match detect(root) {
        Some(FileKind::Timeline) => None,
        Some(kind) => Some(refuse_kind(source, at, kind)),
        None if is_wire => foreign("a script of frames on a wire", unreadable),
        None => None,
    }
}

/// Adds to each finding where it stands, as people count events.
pub(super) fn name_places(diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        let path = diagnostic.pointer.as_deref().map(key_path);
        if let Some(path) = path.filter(|path| !path.is_empty()) {
            diagnostic.notes.push(format!("at {path}"));
        }
    }
}
