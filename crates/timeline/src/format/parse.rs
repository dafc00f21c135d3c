//! The text as a tree, and whether it is a timeline at all.

use super::pieces::key_path;
use cuecard_source::detect::{FileKind, detect, kind_of};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::document::Language;
use cuecard_source::json::{Limits, Node};
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
    let has = |key: &str| root.get(key).is_some();
    let any_item = |list: Option<&Node>, keys: &[&str]| {
        let mut items = list.and_then(Node::as_array).unwrap_or_default().iter();
        items.any(|item| keys.iter().any(|key| item.get(key).is_some()))
    };
    let lists = [Some(root), root.get("steps"), root.get("actions")];
    let of_wire = ["transport", "auth", "assertions", "client", "frames"];
    let kind = detect(root);
    let what = if has("timeline") {
        return None;
    } else if any_item(Some(root), &["client", "server"]) {
        "a script of frames on a wire"
    } else if lists.map(|list| any_item(list, &["key", "assertVm", "snapshot"])) != [false; 3] {
        "a list of steps in a terminal"
    } else if has("playbook") || any_item(root.get("rules"), &["response", "if_contains"]) {
        "a playbook"
    } else if root.as_object().is_none() {
        let found = cuecard_source::reader::found(root);
        let message = format!("a timeline file must be a mapping, not {found}");
        let diagnostic = Diagnostic::error(codes::TIMELINE_YAML, message).at(source, at);
        return Some(diagnostic.with_help("start with `name: …` and `timeline:`"));
    } else if has("events") {
        "a file in another format"
    } else if let Some(kind) = kind.filter(|kind| *kind != FileKind::Timeline) {
        return Some(refuse_kind(source, at, kind));
    } else if kind.is_none() && of_wire.into_iter().any(has) {
        "a script of frames on a wire"
    } else {
        return None;
    };
    let message = format!("this is {what}, not a timeline");
    let diagnostic = Diagnostic::error(codes::TIMELINE_FOREIGN, message).at(source, at);
    Some(diagnostic.with_help("a timeline has its events under `timeline`"))
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
