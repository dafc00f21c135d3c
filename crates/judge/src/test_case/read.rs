//! Reads a whole file.

use std::mem;

use schemars::JsonSchema;
use serde::Deserialize;

use super::FORMAT;
use super::input::{Adapter, AdapterInput, Mode, choose};
use super::params::{Assertions, Entry};
use crate::assertions::parts::{Texts, parts};
use crate::model::{ExpectedOutcome, TestCase, TestContext, TestTools, TraceInput};
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect, version_text};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{Language, place_of, read_document};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, first_character};
use cuecard_source::value::cut;

/// The longest id in bytes: it becomes part of file names.
const LONGEST_ID: usize = 200;

/// What reading gave: the test case if no error was found, and everything there is to say.
#[derive(Debug)]
pub struct Reading {
    /// The test case; absent if any finding is an error.
    pub case: Option<TestCase>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a test case, in YAML or JSON.
pub fn read(source: &SourceFile) -> Reading {
    let document = read_document(source);
    let mut reader = Reader::new(source, &FORMAT);
    reader.diagnostics = document.diagnostics;
    if document.language == Language::Yaml {
        reader.set_yaml(document.doubts);
    }
    let case = document.root.and_then(|root| test_case(&mut reader, &root));
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| place_of(diagnostic).start);
    Reading {
        case: case.filter(|_| !any_error(&diagnostics)),
        diagnostics,
    }
}

/// A test case as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub(super) struct Document {
    /// Version of the format: "0.1".
    #[allow(dead_code, reason = "there is one")]
    schema_version: Option<Version>,
    /// Name of the test case, unique in its suite (default: the name of the file, or of its folder).
    id: Option<CaseId>,
    /// A human-readable title.
    title: Option<String>,
    /// A description.
    description: Option<String>,
    /// Tags for selecting test cases.
    #[serde(default)]
    tags: Texts,
    /// The source of the trace: a NanoClaw agent or its replay bundle, or Cuecard (default: as `adapter_input` says).
    adapter: Option<Adapter>,
    /// Whether NanoClaw's bundle is read or made (default: replay).
    mode: Option<Mode>,
    /// Where the trace comes from.
    adapter_input: AdapterInput,
    /// The situation of the agent.
    #[serde(default)]
    scenario: TestContext,
    /// What the agent could call.
    #[serde(default)]
    tools: TestTools,
    /// The assertions on the trace.
    #[schemars(with = "Vec<Entry>")]
    assertions: Assertions,
    /// What is expected, for people.
    #[serde(default)]
    #[schemars(with = "ExpectedOutcome")]
    expected: Option<ExpectedOutcome>,
    /// What to store from a run.
    #[serde(default)]
    reporting: Reporting,
    #[serde(skip)]
    input: Option<TraceInput>,
}

/// What to store from a run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "reporting")]
struct Reporting {
    /// Whether the trace is kept (default: true).
    #[serde(default)]
    #[schemars(with = "bool")]
    save_trace: Option<bool>,
    /// JSON pointers or key names whose values are never written.
    #[serde(default)]
    redact_fields: Texts,
}

cuecard_source::checked!(Document);

impl Document {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let is_wrong = (self.mode.is_none() && reader.get(object, "mode").is_some())
            || (self.adapter.is_none() && reader.get(object, "adapter").is_some());
        if !is_wrong {
            let input = mem::take(&mut self.adapter_input);
            self.input = choose(reader, object, self.adapter, self.mode, input);
        }
    }
}

fn test_case(reader: &mut Reader<'_>, root: &Node) -> Option<TestCase> {
    if !matches!(root.kind, NodeKind::Object(_)) {
        reader.wrong_type(root, "", "a test case", "an object");
        return None;
    }
    if !is_test_case(reader, root) {
        return None;
    }
    let read = reader.decoded::<Document>(root, "", "the test case");
    reader.diagnostics.extend(read.diagnostics);
    let document = read.value?;
    let id = document
        .id
        .map_or_else(|| name_of(reader.source.name()), |id| id.0);
    Some(TestCase {
        title: document.title.unwrap_or_else(|| id.clone()),
        id,
        description: document.description,
        tags: document.tags.0,
        input: document.input?,
        context: document.scenario,
        tools: document.tools,
        assertions: document.assertions.0,
        expected: document.expected,
        save_trace: document.reporting.save_trace.unwrap_or(true),
        redact_fields: document.reporting.redact_fields.0,
        source: reader.source.clone(),
    })
}

/// The id of a test case that has none: the name of its file without the ending; that of its folder if that says nothing.
fn name_of(file: &str) -> String {
    let mut parts = file.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or_default();
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let name = name.strip_suffix(".test").unwrap_or(name);
    let folder = parts
        .next()
        .filter(|folder| !matches!(*folder, "" | "." | ".."));
    let name = folder.filter(|_| name == "test").unwrap_or(name);
    cut(name, LONGEST_ID).replace(char::is_control, "_")
}

/// Whether the file is a test case; if not, says what it is.
fn is_test_case(reader: &mut Reader<'_>, root: &Node) -> bool {
    let message = match detect(root) {
        Some(FileKind::TestCase) => return true,
        Some(kind) => format!("this is {}, not a test case", kind.description()),
        None => {
            "this is not a test case: it has neither `assertions` nor `adapter_input`".to_owned()
        }
    };
    let at = first_character(reader.source, root.span);
    reader.error(codes::FILE_KIND, at, message).help = Some(
        match detect(root) {
            Some(FileKind::ToolCall | FileKind::ToolCallLegacy) => {
                "play it with `cuecard play FILE`"
            }
            Some(FileKind::ReplayBundle) => {
                "refer to it in a test case: `adapter_input: { replay_file: FILE }`"
            }
            Some(FileKind::Trace) => {
                "refer to it in a test case: `adapter_input: { trace_file: FILE }`"
            }
            _ => "a test case has `adapter_input` and `assertions`",
        }
        .to_owned(),
    );
    false
}

parts! {
    /// The version of the format.
    Version(()) as (), { "enum": ["0.1", 0.1] }, |reader, node, pointer| {
        let text = version_text(node);
        match text.as_str() {
            "0.1" => {}
            "" => reader.wrong_type(node, pointer, "`schema_version`", "the string \"0.1\""),
            _ => {
                let message = format!("unsupported version `{}`", cut(&text, 40));
                let found = reader.error_at(codes::CASE_VERSION, node.span, pointer, message);
                found.help = Some("supported versions: \"0.1\"".to_owned());
            }
        }
        Some(())
    };
    /// The id, which must do as a part of file names.
    CaseId(String) as str, { "type": "string" }, |reader, node, pointer| {
        let text = reader.text_of(node, pointer, "`id`")?;
        let problem = if text.trim().is_empty() {
            "`id` is empty".to_owned()
        } else if text.len() > LONGEST_ID {
            format!("`id` has {} bytes, more than {LONGEST_ID}", text.len())
        } else if matches!(text, "." | "..") || text.contains(['/', '\\']) {
            format!("the id `{text}` can't be part of a file name")
        } else if text.contains(char::is_control) {
            "`id` has a control character".to_owned()
        } else {
            return Some(text.to_owned());
        };
        let help = "use letters, digits, `.`, `_` and `-`: the trace and the result are kept under this name";
        let found = reader.error_at(codes::CASE_FIELD_VALUE, node.span, pointer, problem);
        found.help = Some(help.to_owned());
        None
    };
}
