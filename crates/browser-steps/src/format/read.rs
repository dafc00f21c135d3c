//! Reads a browser script.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Map;

use super::url::{UrlProblem, check};
use super::{FORMAT, variables};
use crate::model::{BrowserAction, BrowserOptions, BrowserScenario, LONGEST_ACTION_MS};
use cuecard_source::detect::{FileKind, detect};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{Language, place_of, read_document};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, first_character, found};
use cuecard_source::value::{Json, cut};
use cuecard_source::values::integer;
use cuecard_source::{SourceFile, Span};

/// The most actions, the longest one in characters, and the longest file in bytes.
const MOST_ACTIONS: usize = 500;
const LONGEST_ACTION: usize = 2_000;
const LONGEST_FILE: usize = 1024 * 1024;

/// A key that is read by hand.
type ByHand = Option<IgnoredAny>;

/// A browser script.
#[derive(Deserialize, JsonSchema)]
#[allow(
    dead_code,
    reason = "what is read by hand is named for the schema and for misspelt keys"
)]
pub(super) struct ScenarioRoot {
    /// Where it begins: http, https, file or about:blank. May hold {{references}}.
    #[schemars(required, with = "String")]
    url: ByHand,
    /// Sentences, one action each.
    #[schemars(required, with = "Vec<Json>", length(min = 1, max = 500))]
    #[schemars(extend("items" = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 2000}, {"$ref": "#/$defs/action"}]}))]
    actions: ByHand,
    /// How they are read and played.
    #[serde(default)]
    options: BrowserOptions,
    /// Values for references; null if a value must be given.
    #[schemars(with = "Option<Map<String, Json>>")]
    variables: ByHand,
    /// Names of variables whose values are never shown.
    #[schemars(with = "Option<Vec<String>>")]
    secrets: ByHand,
    #[schemars(skip)]
    name: ByHand,
    #[schemars(skip)]
    description: ByHand,
}

/// An action that is more than a sentence.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ActionForm {
    /// The sentence.
    #[allow(dead_code, reason = "it is read by hand")]
    #[schemars(required, with = "String")]
    action: ByHand,
    /// How long it may take, in milliseconds.
    #[serde(default, deserialize_with = "integer::<1, LONGEST_ACTION_MS, _, _>")]
    #[schemars(range(min = 1))]
    timeout_ms: Option<u64>,
    /// Whether its failure is only a warning.
    #[serde(default)]
    optional: bool,
}

/// What reading gave: the scenario if no error was found, and everything there is to say.
#[derive(Debug)]
pub struct Reading {
    /// The scenario; absent if any finding is an error.
    pub scenario: Option<BrowserScenario>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a browser script, in JSON or YAML.
pub fn read(source: &SourceFile) -> Reading {
    let mut reader = Reader::new(source, &FORMAT);
    let bytes = source.text().len();
    if bytes > LONGEST_FILE {
        let message = format!("the file has {bytes} bytes, more than {LONGEST_FILE}");
        reader.error(codes::BROWSER_TOO_LARGE, Span::default(), message);
        return Reading {
            scenario: None,
            diagnostics: reader.diagnostics,
        };
    }
    let document = read_document(source);
    reader.diagnostics = document.diagnostics;
    let is_yaml = document.language == Language::Yaml;
    if is_yaml {
        reader.set_yaml(document.doubts);
    }
    let scenario = document
        .root
        .and_then(|root| scenario(&mut reader, &root, is_yaml));
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| place_of(diagnostic).start);
    Reading {
        scenario: scenario.filter(|_| !any_error(&diagnostics)),
        diagnostics,
    }
}

fn scenario(reader: &mut Reader<'_>, root: &Node, is_yaml: bool) -> Option<BrowserScenario> {
    if !matches!(root.kind, NodeKind::Object(_)) {
        let message = format!(
            "a browser script is an object with `url` and `actions`, not {}",
            found(root)
        );
        let at = first_character(reader.source, root.span);
        reader.error(codes::BROWSER_NOT_OBJECT, at, message);
        return None;
    }
    if !is_browser(reader, root) {
        return None;
    }
    let object = Object {
        node: root,
        pointer: "",
    };
    let decoded = reader.decoded::<ScenarioRoot>(root, "", "the script");
    reader.diagnostics.extend(decoded.diagnostics);
    let options = decoded.value.map(|file| file.options).unwrap_or_default();
    let url = url(reader, object);
    let actions = actions(reader, object, is_yaml);
    let (mut variables, secrets) = variables::declared(reader, object);
    let ((url, url_span), actions) = (url?, actions?);
    let texts = std::iter::once(&url).chain(actions.iter().map(|action| &action.text));
    variables::declare_defaulted(&mut variables, &secrets, texts);
    Some(BrowserScenario {
        url,
        url_span,
        actions,
        options,
        variables,
        secrets,
        source: reader.source.clone(),
    })
}

/// Whether the file is a browser script; if it is something else, says what.
fn is_browser(reader: &mut Reader<'_>, root: &Node) -> bool {
    let kind = match detect(root) {
        None | Some(FileKind::Browser) => return true,
        Some(kind) => kind,
    };
    let at = first_character(reader.source, root.span);
    let message = format!("this is {}, not a browser script", kind.description());
    reader.error(codes::FILE_KIND, at, message).help = Some(
        match kind {
            FileKind::ToolCall | FileKind::ToolCallLegacy | FileKind::BrowserSteps => {
                "play it with `cuecard play FILE`"
            }
            FileKind::TestCase => "run it with `cuecard test FILE`",
            _ => "a browser script has `url` and `actions`",
        }
        .to_owned(),
    );
    false
}

fn url(reader: &mut Reader<'_>, object: Object<'_>) -> Option<(String, Span)> {
    let Some(node) = reader.get(object, "url") else {
        let at = first_character(reader.source, object.node.span);
        let message = "the script has no `url`";
        let found = reader.error_at(codes::BROWSER_URL_MISSING, at, "/url", message);
        found.help = Some("add the start URL: \"url\": \"https://…\"".to_owned());
        return None;
    };
    let Some(text) = node.as_str() else {
        let message = format!("`url` must be a string, not {}", found(node));
        reader.error_at(codes::BROWSER_URL_INVALID, node.span, "/url", message);
        return None;
    };
    let shown = cut(text, 100);
    let (code, message, help) = match check(text) {
        Ok(()) => return Some((text.to_owned(), node.span)),
        Err(UrlProblem::Invalid(why)) => (
            codes::BROWSER_URL_INVALID,
            format!("`{shown}` is not a valid URL: {why}"),
            "write the full URL, such as https://shop.example/login",
        ),
        Err(UrlProblem::Scheme(scheme)) => (
            codes::BROWSER_URL_SCHEME,
            format!(
                "a browser script can't start at a `{}:` URL",
                cut(&scheme, 40)
            ),
            "use http, https, file or about:blank",
        ),
    };
    let found = reader.error_at(code, node.span, "/url", message);
    found.help = Some(help.to_owned());
    None
}

fn actions(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    is_yaml: bool,
) -> Option<Vec<BrowserAction>> {
    let start = first_character(reader.source, object.node.span);
    let node = reader.get(object, "actions");
    let items = node.and_then(Node::as_array).unwrap_or_default();
    let (code, span, message) = match node {
        None => {
            let message = "the script has no `actions`".to_owned();
            (codes::BROWSER_ACTIONS_MISSING, start, message)
        }
        Some(node) if node.as_array().is_none() => {
            let message = format!("`actions` must be a list of sentences, not {}", found(node));
            (codes::BROWSER_ACTIONS_MISSING, node.span, message)
        }
        Some(node) if items.is_empty() => {
            let message = "`actions` is empty".to_owned();
            (codes::BROWSER_ACTIONS_EMPTY, node.span, message)
        }
        Some(node) if items.len() > MOST_ACTIONS => {
            let count = items.len();
            let message = format!("there are {count} actions, more than {MOST_ACTIONS}");
            let at = first_character(reader.source, node.span);
            reader.error_at(codes::BROWSER_TOO_LARGE, at, "/actions", message);
            return None;
        }
        Some(_) => return sentences(reader, items, is_yaml),
    };
    let found = reader.error_at(code, span, "/actions", message);
    found.help = Some("list sentences, one action each: [\"click 'Log in'\"]".to_owned());
    None
}

fn sentences(reader: &mut Reader<'_>, items: &[Node], is_yaml: bool) -> Option<Vec<BrowserAction>> {
    let read: Vec<_> = items
        .iter()
        .enumerate()
        .map(|(index, item)| action(reader, item, index, is_yaml))
        .collect();
    read.into_iter().collect()
}

fn action(
    reader: &mut Reader<'_>,
    node: &Node,
    index: usize,
    is_yaml: bool,
) -> Option<BrowserAction> {
    let pointer = format!("/actions/{index}");
    if let NodeKind::Object(_) = node.kind
        && node.get("action").is_some()
    {
        let form = reader.decode::<ActionForm>(node, &pointer, "the action");
        let (timeout_ms, optional) = form.map_or((None, false), |it| (it.timeout_ms, it.optional));
        let inner = node.get("action")?;
        return Some(BrowserAction {
            timeout_ms,
            optional,
            ..sentence(reader, inner, index, &format!("{pointer}/action"), is_yaml)?
        });
    }
    sentence(reader, node, index, &pointer, is_yaml)
}

fn sentence(
    reader: &mut Reader<'_>,
    node: &Node,
    index: usize,
    pointer: &str,
    is_yaml: bool,
) -> Option<BrowserAction> {
    let Some(text) = node.as_str() else {
        let message = format!(
            "action {} must be a sentence, not {}",
            index + 1,
            found(node)
        );
        let written = reader.source.slice(node.span);
        let first = written.lines().next().unwrap_or_default();
        let quoted = Json::String(cut(first, 60).into_owned());
        let help = match is_yaml && !written.starts_with(['{', '[']) {
            true => format!("put it in quotes: {quoted}"),
            false => "write a string, or an object with `action`".to_owned(),
        };
        let code = codes::BROWSER_ACTION_NOT_STRING;
        reader.error_at(code, node.span, pointer, message).help = Some(help);
        return None;
    };
    if text.trim().is_empty() {
        let message = format!("action {} is empty", index + 1);
        let help = "remove it, or describe the action".to_owned();
        let code = codes::BROWSER_ACTION_EMPTY;
        reader.error_at(code, node.span, pointer, message).help = Some(help);
        return None;
    }
    if text.chars().nth(LONGEST_ACTION).is_some() {
        let count = text.chars().count();
        let message = format!(
            "action {} has {count} characters, more than {LONGEST_ACTION}",
            index + 1
        );
        let at = first_character(reader.source, node.span);
        reader.error_at(codes::BROWSER_TOO_LARGE, at, pointer, message);
        return None;
    }
    if is_yaml {
        doubts(reader, node, pointer);
    }
    Some(BrowserAction {
        text: text.trim().to_owned(),
        timeout_ms: None,
        optional: false,
        span: node.span,
    })
}

/// Warns about what YAML may have made of a sentence.
fn doubts(reader: &mut Reader<'_>, node: &Node, pointer: &str) {
    reader.warn_doubts(node, pointer, |_| "put the sentence in quotes".to_owned());
    let written = reader.source.slice(node.span);
    if written.starts_with(['"', '\'', '|', '>']) {
        return;
    }
    let end = node.span.end as usize;
    let rest = reader.source.text().get(end..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let trimmed = line.trim_start();
    if trimmed.starts_with('#') && line.len() > trimmed.len() {
        let start = end + line.len() - trimmed.len();
        let span = Span::new(start, start + trimmed.trim_end().len());
        let message = format!(
            "a comment starts here, so the sentence is only `{}`",
            cut(written.trim_end(), 60)
        );
        let diagnostic = reader.warning(codes::BROWSER_ACTION_COMMENT, span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = Some("put the sentence in quotes if this is part of it".to_owned());
    }
}
