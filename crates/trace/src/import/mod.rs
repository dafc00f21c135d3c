//! What others recorded, as our trace: replay bundles and transcripts of agents.
//!
//! The same input gives the same bytes: ids come from the content, missing times from the neighbours. What a format
//! can't tell is absent, and the capability flags of the trace say so.

mod atif;
mod builder;
mod claude_code;
mod codex;
mod lines;
mod otlp;
mod parts;
mod replay_bundle;
mod results;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use parts::{CAPABILITIES, Fixture, TranscriptFormat};
pub use replay_bundle::{replay_bundle, schema as replay_bundle_schema};

use std::borrow::Cow;

use super::Trace;
use cuecard_source::detect::{SessionAgent, session_agent};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::{changes, without_lone_surrogates};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// What an import gave.
#[derive(Debug)]
pub struct Imported {
    /// The trace; absent if any finding is an error.
    pub trace: Option<Trace>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The tools that the agent had, where the file lists them.
    pub tools: Vec<String>,
}

/// The format of a session of a coding agent.
pub fn detect_session(source: &SourceFile) -> Option<TranscriptFormat> {
    Some(match session_agent(source)? {
        SessionAgent::ClaudeCode => TranscriptFormat::ClaudeCode,
        SessionAgent::Codex => TranscriptFormat::Codex,
    })
}

/// The format of a run that another program recorded, by what its content looks like.
pub fn detect(source: &SourceFile) -> Option<TranscriptFormat> {
    let whole = || serde_json::from_str::<Json>(source.text()).ok();
    detect_session(source).or_else(|| {
        let document = whole()?;
        let first = document.get(0).unwrap_or(&document);
        let version = lines::text(&document, "schema_version").unwrap_or_default();
        match () {
            () if version.starts_with("ATIF") => Some(TranscriptFormat::Atif),
            () if first.get("resourceSpans").is_some() => Some(TranscriptFormat::Otlp),
            () => None,
        }
    })
}

/// Reads a run that another program recorded. Lines and entries that nothing is known about are left out, and a
/// warning says how many; broken JSON is an error.
pub fn transcript(source: &SourceFile, format: TranscriptFormat) -> Imported {
    let text = source.text().as_bytes();
    let whole = match without_lone_surrogates(text) {
        Cow::Owned(text) => String::from_utf8(text).ok(),
        Cow::Borrowed(_) => None,
    };
    // Each place is where it was.
    let mut imported = match whole {
        Some(text) => read(&SourceFile::new(source.name(), text), format),
        None => read(source, format),
    };
    let changed = changes("the file", text).into_iter();
    let changed = changed.map(|warning| warning.at(source, Span::new(0, 0)));
    imported.diagnostics.extend(changed);
    imported
}

fn read(source: &SourceFile, format: TranscriptFormat) -> Imported {
    match format {
        TranscriptFormat::Atif => atif::import(source),
        TranscriptFormat::Otlp => otlp::import(source),
        TranscriptFormat::ClaudeCode => claude_code::import(source),
        TranscriptFormat::Codex => codex::import(source),
    }
}
