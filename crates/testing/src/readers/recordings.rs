//! Runs that somebody recorded: bundles, transcripts, traces.

use cuecard_source::SourceFile;
use cuecard_trace::import::TranscriptFormat;
use cuecard_trace::import::{self, Imported};
use cuecard_trace::journal::Journal;
use cuecard_trace::{Trace, TraceError};

use super::assert_read_or_refused;

/// A replay bundle is read or refused, and what is read is a trace that can be written and read back.
///
/// # Panics
/// If that does not hold, here and in the other functions.
pub fn replay_bundle(text: &str) {
    let source = SourceFile::new("replay.json", text);
    assert_imported(&import::replay_bundle(&source, &[]));
}

/// As [`replay_bundle`], for a trajectory in ATIF.
///
/// # Panics
/// See [`replay_bundle`].
pub fn atif(text: &str) {
    transcript(text, TranscriptFormat::Atif);
}

/// As [`replay_bundle`], for spans of OpenTelemetry.
///
/// # Panics
/// See [`replay_bundle`].
pub fn otlp(text: &str) {
    transcript(text, TranscriptFormat::Otlp);
}

/// As [`replay_bundle`], for a session of Claude Code.
///
/// # Panics
/// See [`replay_bundle`].
pub fn claude_code(text: &str) {
    transcript(text, TranscriptFormat::ClaudeCode);
}

/// As [`replay_bundle`], for a session of Codex.
///
/// # Panics
/// See [`replay_bundle`].
pub fn codex(text: &str) {
    transcript(text, TranscriptFormat::Codex);
}

fn transcript(text: &str, format: TranscriptFormat) {
    let source = SourceFile::new("recorded.jsonl", text);
    assert_imported(&import::transcript(&source, format));
}

fn assert_imported(imported: &Imported) {
    assert_read_or_refused(imported.trace.as_ref(), &imported.diagnostics);
    imported.trace.iter().for_each(assert_read_back);
}

/// A trace in either form is read or refused, and what is read can be written and read back.
///
/// # Panics
/// See [`replay_bundle`].
pub fn trace(text: &str) {
    match Trace::read(text.as_bytes()) {
        Ok(trace) => assert_read_back(&trace),
        Err(TraceError::Io(error)) => panic!("memory can be read: {error}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn assert_read_back(trace: &Trace) {
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    trace.write_lines(&mut lines).expect("memory");
    trace.write_document(&mut document).expect("memory");
    let read = Trace::read(lines.as_slice()).expect("readable");
    assert_eq!(&read, trace);
    // What is nested as deeply as a line can hold is too deep for a document.
    if let Ok(read) = Trace::read(document.as_slice()) {
        assert_eq!(&read, trace);
    }
}

/// The journal of a run is read or refused; what is read has its steps in order, and none that is unknown is done.
///
/// # Panics
/// See [`replay_bundle`].
pub fn journal(text: &str) {
    let Ok(journal) = Journal::read(text.as_bytes()) else {
        return;
    };
    assert!(journal.length <= text.len() as u64);
    let numbers = || journal.done.iter().map(|step| step.step);
    assert!(numbers().is_sorted());
    assert!(numbers().all(|number| journal.header.steps.contains_key(&number)));
    let next = journal.next_step();
    for unknown in &journal.unknown {
        assert!(Some(*unknown) >= next && numbers().all(|done| done != *unknown));
    }
    let whole = usize::try_from(journal.length).unwrap_or(usize::MAX);
    let again = Journal::read(&text.as_bytes()[..whole]).expect("the same without what is torn");
    assert_eq!((again.done, again.unknown), (journal.done, journal.unknown));
}
