//! Where the trace comes from: one key of `adapter_input`, which must go with `adapter` and `mode`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::assertions::parts::{Args, CommandLine, Value, parts};
use crate::model::{TraceInput, TranscriptFormat};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node};
use cuecard_source::reader::{Object, Reader, either, first_character};

/// Who made the trace.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Adapter {
    /// A NanoClaw agent or its replay bundle.
    Nanoclaw,
    /// Cuecard.
    Cuecard,
}

/// Whether NanoClaw's bundle is read or made.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Mode {
    /// It is read.
    #[default]
    Replay,
    /// It is made.
    Live,
}

/// Where the trace comes from.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "adapter_input")]
pub(super) struct AdapterInput {
    /// NanoClaw's replay bundle.
    #[serde(default)]
    #[schemars(with = "FileName")]
    replay_file: Option<FileName>,
    /// Program and arguments that produce a replay bundle.
    #[serde(default)]
    #[schemars(with = "CommandLine")]
    command: Option<CommandLine>,
    /// A tool-call scenario to play.
    #[serde(default)]
    #[schemars(with = "FileName")]
    play: Option<FileName>,
    /// Values for the variables of the played scenario.
    #[serde(default)]
    variables: Args,
    /// The trace of an earlier run.
    #[serde(default)]
    #[schemars(with = "FileName")]
    trace_file: Option<FileName>,
    /// A run that another program recorded.
    #[serde(default)]
    #[schemars(with = "FileName")]
    transcript: Option<FileName>,
    /// What the transcript is.
    #[serde(default)]
    #[schemars(with = "TranscriptFormat")]
    format: Option<TranscriptFormat>,
    /// Known, and not run by this release.
    #[serde(default)]
    #[schemars(skip)]
    #[allow(dead_code, reason = "it is refused")]
    run: Option<Value>,
}

parts! {
    /// The name of a file.
    pub(super) FileName(PathBuf) as PathBuf, { "type": "string" }, |reader, node, pointer| {
        let what = format!("`adapter_input.{}`", pointer.rsplit('/').next().unwrap_or_default());
        let text = reader.text_of(node, pointer, &what)?;
        if text.trim().is_empty() || text.contains('\0') {
            let message = format!("{what} is not a valid file name");
            reader.error_at(codes::CASE_FIELD_VALUE, node.span, pointer, message);
            return None;
        }
        Some(PathBuf::from(text))
    };
}

/// The keys that name a source, and what each goes with.
const SOURCES: [(&str, (Adapter, Option<Mode>)); 5] = [
    ("replay_file", (Adapter::Nanoclaw, Some(Mode::Replay))),
    ("command", (Adapter::Nanoclaw, Some(Mode::Live))),
    ("play", (Adapter::Cuecard, None)),
    ("trace_file", (Adapter::Cuecard, None)),
    ("transcript", (Adapter::Cuecard, None)),
];

/// Chooses the source of the trace. `object` is the test case.
pub(super) fn choose(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    adapter: Option<Adapter>,
    mode: Option<Mode>,
    input: AdapterInput,
) -> Option<TraceInput> {
    let node = object.get("adapter_input")?;
    let below = Object {
        node,
        pointer: &object.child_pointer("adapter_input"),
    };
    if let Some(run) = member(node, "run") {
        let message = "`run` is part of the format, but this release doesn't run timelines";
        reader.error_at(
            codes::CASE_INPUT,
            run.key_span,
            &below.child_pointer("run"),
            message,
        );
        return None;
    }
    let key = source_key(reader, below, adapter, mode)?;
    for (companion, of) in [("variables", "play"), ("format", "transcript")] {
        if let Some(member) = member(node, companion).filter(|_| key != of) {
            let message = format!("`{companion}` requires `{of}`");
            let found = reader.warning(codes::CASE_FIELD_UNKNOWN, member.key_span, message);
            found.pointer = Some(below.child_pointer(companion));
            found.help = Some("remove it".to_owned());
        }
    }
    let span = node.get(key)?.span;
    Some(match key {
        "replay_file" => TraceInput::ReplayBundle {
            file: input.replay_file?.0,
            span,
        },
        "command" => TraceInput::Live {
            command: input.command?.0,
            span,
        },
        "play" => TraceInput::Play {
            file: input.play?.0,
            variables: input.variables.0,
            span,
        },
        "trace_file" => TraceInput::TraceFile {
            file: input.trace_file?.0,
            span,
        },
        _ => TraceInput::Transcript {
            file: input.transcript?.0,
            format: input.format,
            span,
        },
    })
}

/// A member that is there and isn't null.
fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Member> {
    let mut members = node.members().iter();
    members.find(|member| member.key == key && !member.value.is_null())
}

/// The one key that names a source. Reports if there is none, another adapter's, or more than one. What the test case
/// doesn't say, the key does.
fn source_key(
    reader: &mut Reader<'_>,
    below: Object<'_>,
    adapter: Option<Adapter>,
    mode: Option<Mode>,
) -> Option<&'static str> {
    let mode = mode.or_else(|| adapter.map(|_| Mode::default()));
    let goes = |(of, in_mode): (Adapter, Option<Mode>)| {
        adapter.is_none_or(|adapter| adapter == of)
            && in_mode.zip(mode).is_none_or(|(of, mode)| of == mode)
    };
    let named = |adapter: Option<Adapter>, mode: Option<Mode>, and: &str| {
        let adapter = adapter.map(|adapter| match adapter {
            Adapter::Nanoclaw => "`adapter: nanoclaw`",
            Adapter::Cuecard => "`adapter: cuecard`",
        });
        let mode = mode.filter(|_| adapter != Some("`adapter: cuecard`"));
        let mode = mode.map(|mode| match mode {
            Mode::Live => "`mode: live`",
            Mode::Replay => "`mode: replay`",
        });
        let words: Vec<&str> = adapter.into_iter().chain(mode).collect();
        words.join(&format!(" {and} "))
    };
    let mut given = Vec::new();
    for (key, of) in SOURCES {
        let Some(member) = member(below.node, key) else {
            continue;
        };
        if !goes(of) {
            let message = format!(
                "`{key}` can't be used with {}",
                named(adapter, mode, "with")
            );
            let pointer = below.child_pointer(key);
            let found = reader.error_at(codes::CASE_INPUT, member.key_span, &pointer, message);
            found.help = Some(format!("it requires {}", named(Some(of.0), of.1, "and")));
            return None;
        }
        given.push((key, member.key_span));
    }
    match given.as_slice() {
        [(key, _)] => Some(key),
        [] => {
            let keys: Vec<&str> = SOURCES
                .iter()
                .filter(|(_, of)| goes(*of))
                .map(|(key, _)| *key)
                .collect();
            let listed: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let (pointer, message) = match (keys.as_slice(), listed.as_slice()) {
                ([key], [only]) => {
                    let message = format!("`adapter_input` has no {only}");
                    (below.child_pointer(key), message)
                }
                (_, several) => {
                    let message = format!("`adapter_input` has none of {}", either(several));
                    (below.pointer.to_owned(), message)
                }
            };
            let at = first_character(reader.source, below.node.span);
            let found = reader.error_at(codes::CASE_FIELD_MISSING, at, &pointer, message);
            let example = match keys.first() {
                Some(&"command") => "command: [node, run.js]",
                Some(&"play") => "play: scenario.json",
                _ => "replay_file: ./replay.json",
            };
            found.help = Some(format!("add {example}"));
            None
        }
        [(first, _), (second, span), ..] => {
            let message = format!("`{first}` and `{second}` are conflicting sources for the trace");
            let pointer = below.child_pointer(second);
            let found = reader.error_at(codes::CASE_INPUT, *span, &pointer, message);
            found.help = Some("keep one of them".to_owned());
            None
        }
    }
}
