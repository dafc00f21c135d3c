//! Reads `adapter`, `mode` and `adapter_input`: where the trace comes from.

use std::path::PathBuf;

use super::{fields, values};
use crate::assertions::parts::free;
use crate::model::{TraceInput, TranscriptFormat};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::NodeKind;
use cuecard_source::reader::{Object, Reader, either};

#[derive(Clone, Copy, PartialEq)]
enum Adapter {
    Nanoclaw,
    Cuecard,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Replay,
    Live,
}

const ADAPTERS: &[(&str, Adapter)] = &[
    ("nanoclaw", Adapter::Nanoclaw),
    ("cuecard", Adapter::Cuecard),
];
const MODES: &[(&str, Mode)] = &[("replay", Mode::Replay), ("live", Mode::Live)];
const FORMATS: &[(&str, TranscriptFormat)] = &[
    ("atif", TranscriptFormat::Atif),
    ("otlp", TranscriptFormat::Otlp),
    ("claude-code", TranscriptFormat::ClaudeCode),
    ("codex", TranscriptFormat::Codex),
];

/// The keys that name a source, those of them that go with an adapter, and an example.
const OF_REPLAY: (&[&str], &str) = (&["replay_file"], "replay_file: ./replay.json");
const OF_LIVE: (&[&str], &str) = (&["command"], "command: [node, run.js]");
const OF_CUECARD: (&[&str], &str) = (&["play", "trace_file", "transcript"], "play: scenario.json");

pub(super) fn input(reader: &mut Reader<'_>, object: Object<'_>) -> Option<TraceInput> {
    reader.required(object, "adapter", "the test case", "adapter: nanoclaw");
    let adapter = reader.one_of(object, "adapter", "`adapter`", ADAPTERS);
    let mode = match reader.get(object, "mode") {
        Some(_) => reader.one_of(object, "mode", "`mode`", MODES),
        None => Some(Mode::Replay),
    };
    let example = "adapter_input: { replay_file: ./replay.json }";
    let node = reader.required(object, "adapter_input", "the test case", example)?;
    if !matches!(node.kind, NodeKind::Object(_)) {
        let wanted = "an object such as { replay_file: ./replay.json }";
        reader.wrong_type(node, "/adapter_input", "`adapter_input`", wanted);
        return None;
    }
    let below = Object {
        node,
        pointer: "/adapter_input",
    };
    reader.unknown_keys(below, fields::INPUT, fields::LATER_INPUT, "`adapter_input`");
    if let Some(member) = node.members().iter().find(|member| member.key == "run") {
        let message = "`run` is part of the format, but this release doesn't run timelines";
        let diagnostic = reader.error(codes::CASE_INPUT, member.key_span, message);
        diagnostic.pointer = Some("/adapter_input/run".to_owned());
        return None;
    }
    let (keys, example) = match (adapter?, mode?) {
        (Adapter::Nanoclaw, Mode::Replay) => OF_REPLAY,
        (Adapter::Nanoclaw, Mode::Live) => OF_LIVE,
        (Adapter::Cuecard, _) => OF_CUECARD,
    };
    let key = source_key(reader, below, adapter?, mode?, keys, example)?;
    let span = reader.get(below, key)?.span;
    companions(reader, below, key);
    match key {
        "replay_file" => Some(TraceInput::ReplayBundle {
            file: file(reader, below, key)?,
            span,
        }),
        "command" => Some(TraceInput::Live {
            command: command(reader, below)?,
            span,
        }),
        "play" => {
            let file = file(reader, below, key);
            let variables = variables(reader, below);
            Some(TraceInput::Play {
                file: file?,
                variables: variables?,
                span,
            })
        }
        "trace_file" => Some(TraceInput::TraceFile {
            file: file(reader, below, key)?,
            span,
        }),
        _ => {
            let file = file(reader, below, key);
            reader.required(below, "format", "a transcript", "format: claude-code");
            let format = reader.one_of(below, "format", "`adapter_input.format`", FORMATS);
            Some(TraceInput::Transcript {
                file: file?,
                format: format?,
                span,
            })
        }
    }
}

/// The one key that names a source. Reports if there is none, another adapter's, or more than one.
fn source_key(
    reader: &mut Reader<'_>,
    below: Object<'_>,
    adapter: Adapter,
    mode: Mode,
    keys: &[&'static str],
    example: &str,
) -> Option<&'static str> {
    let whose = match (adapter, mode) {
        (Adapter::Nanoclaw, Mode::Replay) => "`adapter: nanoclaw` with `mode: replay`",
        (Adapter::Nanoclaw, Mode::Live) => "`adapter: nanoclaw` with `mode: live`",
        (Adapter::Cuecard, _) => "`adapter: cuecard`",
    };
    let all = OF_REPLAY.0.iter().chain(OF_LIVE.0).chain(OF_CUECARD.0);
    let given: Vec<(&'static str, Span)> = all
        .filter_map(|&key| {
            reader.get(below, key)?;
            let member = below
                .node
                .members()
                .iter()
                .find(|member| member.key == key)?;
            Some((key, member.key_span))
        })
        .collect();
    let foreign = given.iter().find(|(key, _)| !keys.contains(key));
    if let Some((key, span)) = foreign {
        let message = format!("`{key}` can't be used with {whose}");
        let diagnostic = reader.error(codes::CASE_INPUT, *span, message);
        diagnostic.pointer = Some(below.child_pointer(key));
        diagnostic.help = Some(match *key {
            "replay_file" => "it requires `adapter: nanoclaw` and `mode: replay`".to_owned(),
            "command" => "it requires `adapter: nanoclaw` and `mode: live`".to_owned(),
            _ => "it requires `adapter: cuecard`".to_owned(),
        });
        return None;
    }
    match given.as_slice() {
        [(key, _)] => Some(key),
        [] => {
            if let [key] = keys {
                reader.required(below, key, "`adapter_input`", example);
                return None;
            }
            let listed: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let at = cuecard_source::reader::first_character(reader.source, below.node.span);
            let message = format!("`adapter_input` has none of {}", either(&listed));
            let diagnostic = reader.error(codes::CASE_FIELD_MISSING, at, message);
            diagnostic.pointer = Some(below.pointer.to_owned());
            diagnostic.help = Some(format!("add {example}"));
            None
        }
        [(first, _), (second, span), ..] => {
            let message = format!("`{first}` and `{second}` are conflicting sources for the trace");
            let diagnostic = reader.error(codes::CASE_INPUT, *span, message);
            diagnostic.pointer = Some(below.child_pointer(second));
            diagnostic.help = Some("keep one of them".to_owned());
            None
        }
    }
}

/// Warns about keys that belong to another source than `key`.
fn companions(reader: &mut Reader<'_>, below: Object<'_>, key: &str) {
    for (companion, of) in [("variables", "play"), ("format", "transcript")] {
        if key == of || reader.get(below, companion).is_none() {
            continue;
        }
        let member = below
            .node
            .members()
            .iter()
            .find(|member| member.key == companion);
        let span = member.map_or(below.node.span, |member| member.key_span);
        let message = format!("`{companion}` requires `{of}`");
        let diagnostic = reader.warning(codes::CASE_FIELD_UNKNOWN, span, message);
        diagnostic.pointer = Some(below.child_pointer(companion));
        diagnostic.help = Some("remove it".to_owned());
    }
}

fn file(reader: &mut Reader<'_>, below: Object<'_>, key: &str) -> Option<PathBuf> {
    let what = format!("`adapter_input.{key}`");
    let (text, node) = reader.text(below, key, &what)?;
    if text.trim().is_empty() || text.contains('\0') {
        let pointer = below.child_pointer(key);
        values::invalid(
            reader,
            node.span,
            &pointer,
            format!("{what} is not a valid file name"),
        );
        return None;
    }
    Some(PathBuf::from(text))
}

/// Program and arguments: a list, so that no shell is needed to take it apart.
fn command(reader: &mut Reader<'_>, below: Object<'_>) -> Option<Vec<String>> {
    let node = reader.get(below, "command")?;
    let pointer = below.child_pointer("command");
    let what = "`adapter_input.command`";
    let NodeKind::Array(items) = &node.kind else {
        reader.wrong_type(
            node,
            &pointer,
            what,
            "a list of a program and its arguments",
        );
        return None;
    };
    let words: Option<Vec<String>> = items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let text = reader.text_of(item, &format!("{pointer}/{index}"), "an argument")?;
            Some(text.to_owned())
        })
        .collect();
    let words = words?;
    if words
        .first()
        .is_none_or(|program| program.trim().is_empty())
    {
        values::invalid(
            reader,
            node.span,
            &pointer,
            format!("{what} is not a valid program"),
        );
        return None;
    }
    Some(words)
}

fn variables(
    reader: &mut Reader<'_>,
    below: Object<'_>,
) -> Option<serde_json::Map<String, cuecard_source::value::Json>> {
    let Some(node) = reader.get(below, "variables") else {
        return Some(serde_json::Map::new());
    };
    let pointer = below.child_pointer("variables");
    match free(reader, node, &pointer) {
        cuecard_source::value::Json::Object(map) => Some(map),
        _ => {
            reader.wrong_type(node, &pointer, "`adapter_input.variables`", "an object");
            None
        }
    }
}
