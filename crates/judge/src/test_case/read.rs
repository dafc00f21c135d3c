//! Reads a whole file.

use super::{FORMAT, context, fields, input, params, values};
use crate::model::TestCase;
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

fn test_case(reader: &mut Reader<'_>, root: &Node) -> Option<TestCase> {
    if !matches!(root.kind, NodeKind::Object(_)) {
        reader.wrong_type(root, "", "a test case", "an object");
        return None;
    }
    if !is_test_case(reader, root) {
        return None;
    }
    let object = Object {
        node: root,
        pointer: "",
    };
    reader.unknown_keys(object, fields::ROOT, &[], "the test case");
    version(reader, object);
    let id = id(reader, object);
    let title = reader
        .text(object, "title", "`title`")
        .map(|(text, _)| text);
    let description = reader
        .text(object, "description", "`description`")
        .map(|(text, _)| text.to_owned());
    let tags = values::texts(reader, object, "tags");
    let input = input::input(reader, object);
    let situation = context::context(reader, object);
    let tools = context::tools(reader, object);
    let assertions = params::assertions(reader, object);
    let expected = context::expected(reader, object);
    let (save_trace, redact_fields) = context::reporting(reader, object);
    let id = id?;
    Some(TestCase {
        title: title.unwrap_or(&id).to_owned(),
        id,
        description,
        tags,
        input: input?,
        context: situation,
        tools,
        assertions,
        expected,
        save_trace,
        redact_fields,
        source: reader.source.clone(),
    })
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
            Some(FileKind::ToolCall | FileKind::ToolCallLegacy) => "play it with `cuecard play FILE`",
            Some(FileKind::ReplayBundle) => {
                "refer to it in a test case: `adapter_input: { replay_file: FILE }`"
            }
            Some(FileKind::Trace) => {
                "refer to it in a test case: `adapter_input: { trace_file: FILE }`"
            }
            _ => "a test case has `schema_version: \"0.1\"`, `id`, `adapter`, `adapter_input` and `assertions`",
        }
        .to_owned(),
    );
    false
}

fn version(reader: &mut Reader<'_>, object: Object<'_>) {
    let example = "schema_version: \"0.1\"";
    let Some(node) = reader.required(object, "schema_version", "the test case", example) else {
        return;
    };
    let text = version_text(node);
    match text.as_str() {
        "0.1" => {}
        "" => reader.wrong_type(
            node,
            "/schema_version",
            "`schema_version`",
            "the string \"0.1\"",
        ),
        _ => {
            let message = format!("unsupported version `{}`", cut(&text, 40));
            let diagnostic = reader.error(codes::CASE_VERSION, node.span, message);
            diagnostic.pointer = Some("/schema_version".to_owned());
            diagnostic.help = Some("supported versions: \"0.1\"".to_owned());
        }
    }
}

/// The id, which must do as a part of file names.
fn id(reader: &mut Reader<'_>, object: Object<'_>) -> Option<String> {
    let node = reader.required(
        object,
        "id",
        "the test case",
        "an `id`, unique in the suite",
    )?;
    let text = reader.text_of(node, "/id", "`id`")?;
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
    let diagnostic = reader.error(codes::CASE_FIELD_VALUE, node.span, problem);
    diagnostic.pointer = Some("/id".to_owned());
    diagnostic.help = Some(
        "use letters, digits, `.`, `_` and `-`: the trace and the result are kept under this name"
            .to_owned(),
    );
    None
}
