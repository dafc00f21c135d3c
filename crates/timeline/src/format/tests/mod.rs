//! What is read from each form, and what is said about it.

mod codes;
mod forms;
mod properties;
mod rules;
mod shapes;

use super::{Read, Symbols, read};
use crate::model::Timeline;
use cuecard_source::SourceFile;

/// Reads a text.
fn reading(text: &str) -> Read {
    reading_with(text, &[])
}

/// Reads a text with symbols.
fn reading_with(text: &str, definitions: &[&str]) -> Read {
    let mut symbols = Symbols::new();
    for definition in definitions {
        symbols.define(definition, "--define").unwrap();
    }
    let source = SourceFile::new("scenario.yaml", text);
    read(&source, &symbols)
}

/// The codes of what was found, in the order of the file.
fn codes(read: &Read) -> Vec<&'static str> {
    read.diagnostics
        .iter()
        .map(|found| found.code.name())
        .collect()
}

/// A timeline whose events are these lines, each an item.
fn file(events: &str) -> String {
    let events: String = events
        .trim_matches('\n')
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    format!("name: test\ntimeline:\n{events}")
}

/// The model without its places: two forms that mean the same have the same.
fn meaning(timeline: &Timeline) -> String {
    let mut timeline = timeline.clone();
    timeline.source = SourceFile::new("", "");
    for event in &mut timeline.events {
        event.path.clear();
        if let crate::model::EventKind::ToolUse(tool) = &mut event.kind {
            tool.written_tool = None;
            tool.written_args = None;
        }
    }
    let spans = regex::Regex::new(r"Span \{\s*start: \d+,\s*end: \d+,?\s*\}").unwrap();
    spans
        .replace_all(&format!("{timeline:#?}"), "@")
        .into_owned()
}

/// What a text means, which has no errors.
fn meaning_of(text: &str) -> String {
    let read = reading(text);
    match &read.timeline {
        Some(timeline) => meaning(timeline),
        None => panic!("{text}\n{:#?}", said(&read)),
    }
}

/// What was found, in short.
fn said(read: &Read) -> Vec<String> {
    read.diagnostics
        .iter()
        .map(|found| {
            let line = found.place.as_ref().map(|place| {
                let at = place.source.position(place.span.start);
                format!("{}:{}", at.line, at.column)
            });
            format!(
                "{} {} {}",
                found.code,
                line.unwrap_or_default(),
                found.message
            )
        })
        .collect()
}
