//! Replay bundles: a run of NanoClaw as JSON, written by hand or captured.

mod fields;
mod frame;
mod order;
mod reader;
mod schema;
mod step;
#[cfg(test)]
mod tests;

pub use schema::schema;

use super::{Imported, builder};
use crate::import::Fixture;
use cuecard_source::diagnostic::{any_error, codes};
use cuecard_source::json::{self, JsonErrorKind, Limits, Node};
use cuecard_source::{SourceFile, Span};
use reader::{Object, Reader};

/// Reads a replay bundle. A `tool_result` without `result` takes that of the fixture it names.
pub fn replay_bundle(source: &SourceFile, fixtures: &[Fixture]) -> Imported {
    let mut reader = Reader::new(source);
    let trace = parse(&mut reader).and_then(|root| {
        let bundle = Object {
            node: &root,
            pointer: "",
        };
        if root.as_object().is_none() {
            reader.wrong_type(&root, "", "a replay bundle", "an object");
            return None;
        }
        if !version(&mut reader, bundle) {
            return None;
        }
        reader.unknown_keys(bundle, &[fields::ROOT], "the bundle");
        adapter(&mut reader, bundle);
        let context = frame::context(&mut reader, bundle);
        let messages = frame::input_messages(&mut reader, bundle);
        let script = step::script(&mut reader, bundle, fixtures);
        let frame = frame::frame(&mut reader, bundle, &context, &messages, &script);
        let drafts = order::drafts(&context, messages, script, frame.final_output.as_ref());
        Some((frame, drafts))
    });
    let diagnostics = reader.finish();
    Imported {
        trace: trace
            .filter(|_| !any_error(&diagnostics))
            .map(|(frame, drafts)| builder::trace(frame, drafts)),
        diagnostics,
    }
}

/// A result stands deeper in a trace than in a bundle, and the trace must be readable with the usual limit of 128.
const MAX_DEPTH: usize = 124;

/// The tree of the text, if it has no errors.
fn parse(reader: &mut Reader<'_>) -> Option<Node> {
    let limits = Limits {
        max_depth: MAX_DEPTH,
        ..Limits::default()
    };
    let parsed = json::parse(reader.source.text(), &limits);
    for error in &parsed.errors {
        match &error.kind {
            // Some editors write one; the text after it is what was meant.
            JsonErrorKind::ByteOrderMark => {
                reader.warning(codes::BUNDLE_JSON, error.span, error.message())
            }
            _ => reader.error(codes::BUNDLE_JSON, error.span, error.message()),
        }
        .help = error.help();
    }
    parsed.root.filter(|_| !any_error(&reader.diagnostics))
}

/// Whether the rest can be judged: in a newer version anything may mean something else.
fn version(reader: &mut Reader<'_>, bundle: Object<'_>) -> bool {
    let Some(node) = bundle.get("schema_version") else {
        let start = bundle.node.span.start as usize;
        let diagnostic = reader.error(
            codes::BUNDLE_VERSION,
            Span::new(start, start + 1),
            "the bundle has no `schema_version`",
        );
        diagnostic.pointer = Some("/schema_version".to_owned());
        diagnostic.help = Some(format!("add \"schema_version\": \"{VERSION}\""));
        return true;
    };
    match node.as_str() {
        Some(VERSION) => true,
        Some(text) if is_newer(text) => {
            let message = format!(
                "the bundle has version `{}`, and this release reads {VERSION}",
                cuecard_source::value::cut(text, 40)
            );
            let diagnostic = reader.error(codes::BUNDLE_VERSION, node.span, message);
            diagnostic.pointer = Some("/schema_version".to_owned());
            diagnostic.help = Some("a newer release may read it".to_owned());
            false
        }
        _ => {
            let message = format!(
                "`schema_version` must be the string \"{VERSION}\", not {}",
                reader::found(node)
            );
            let diagnostic = reader.error(codes::BUNDLE_VERSION, node.span, message);
            diagnostic.pointer = Some("/schema_version".to_owned());
            true
        }
    }
}

/// The version of bundles that this release reads.
const VERSION: &str = "0.1";

fn is_newer(version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) > (0, 1),
        (Some(Ok(major)), None) => major > 0,
        _ => false,
    }
}

fn adapter(reader: &mut Reader<'_>, bundle: Object<'_>) {
    let example = format!("\"adapter\": \"{ADAPTER}\"");
    if let Some(node) = reader.required(bundle, "adapter", "the bundle", &example)
        && node.as_str() != Some(ADAPTER)
    {
        let message = format!("`adapter` must be `{ADAPTER}`, not {}", reader::found(node));
        reader
            .error(codes::BUNDLE_VALUE, node.span, message)
            .pointer = Some("/adapter".to_owned());
    }
}

/// The only adapter that bundles are written for.
const ADAPTER: &str = "nanoclaw-replay";
