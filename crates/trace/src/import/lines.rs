//! What the readers of transcripts share: JSON from text with the place of a mistake, and a count of what was left out.

use std::collections::BTreeMap;

use serde_json::error::Category;

use super::Imported;
use crate::Trace;
use crate::file::without_place;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::read_value;
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// A transcript may have this many bytes: 256 MiB. Its values take several times as much memory.
const MAX_BYTES: usize = 256 << 20;

/// A transcript may have this many lines or entries, so that what is kept of each stays bounded.
const MAX_ENTRIES: usize = 5_000_000;

/// Counts entries that were left out, by kind.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Whether the file ends within a line: the program was still writing.
    pub is_cut: bool,
    kinds: BTreeMap<String, u64>,
    more: u64,
}

/// So many kinds are told apart.
const MAX_KINDS: usize = 20;

impl LeftOut {
    pub(super) fn add(&mut self, kind: &str) {
        let kind = cut(kind, 60);
        if let Some(count) = self.kinds.get_mut(&*kind) {
            *count += 1;
        } else if self.kinds.len() < MAX_KINDS {
            self.kinds.insert(kind.into_owned(), 1);
        } else {
            self.more += 1;
        }
    }

    fn diagnostic(&self, source: &SourceFile) -> Option<Diagnostic> {
        let count = self.kinds.values().sum::<u64>() + self.more;
        if count == 0 {
            return None;
        }
        let mut listed: Vec<String> = self
            .kinds
            .iter()
            .map(|(kind, count)| format!("`{kind}` ({count})"))
            .collect();
        if self.more > 0 {
            listed.push(format!("others ({})", self.more));
        }
        let message = match count {
            1 => format!("1 entry was skipped: {}", listed.join(", ")),
            _ => format!("{count} entries were skipped: {}", listed.join(", ")),
        };
        Some(
            Diagnostic::warning(codes::IMPORT_LEFT_OUT, message)
                .at(source, Span::new(0, 0))
                .with_help("check them in the file if an assertion depends on them"),
        )
    }
}

/// What an import gives, with a warning about what was left out.
pub(super) fn imported(source: &SourceFile, trace: Trace, left_out: &LeftOut) -> Imported {
    Imported {
        trace: Some(trace),
        diagnostics: left_out.diagnostic(source).into_iter().collect(),
        tools: Vec::new(),
    }
}

/// What an import gives that failed.
pub(super) fn refused(diagnostic: Diagnostic) -> Imported {
    Imported {
        trace: None,
        diagnostics: vec![diagnostic],
        tools: Vec::new(),
    }
}

/// An error about the file as a whole.
pub(super) fn unreadable(source: &SourceFile, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::IMPORT_UNREADABLE, message).at(source, Span::new(0, 0))
}

/// The objects of a JSON Lines text, one a line. A last line that is cut off is left out: the program was still
/// writing.
pub(super) fn json_lines(
    source: &SourceFile,
    left_out: &mut LeftOut,
) -> Result<Vec<Json>, Diagnostic> {
    check_size(source)?;
    let mut lines = Vec::new();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let here = start;
        start += line.len();
        let text = line.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        if lines.len() >= MAX_ENTRIES {
            let message = format!("the file has more than {MAX_ENTRIES} lines");
            return Err(unreadable(source, message));
        }
        match read_value(text) {
            Ok(json @ Json::Object(_)) => lines.push(json),
            Ok(other) => {
                let found = cuecard_source::value::kind_name(&other);
                let message = format!("a line of this file must be an object, not {found}");
                let span = Span::new(here, here + line.trim_end().len());
                let error = Diagnostic::error(codes::IMPORT_UNREADABLE, message);
                return Err(error.at(&signs_of(source), span));
            }
            Err(error) if error.classify() == Category::Eof && !line.ends_with('\n') => {
                left_out.is_cut = true;
                left_out.add("a truncated last line");
            }
            Err(error) => {
                let indent = line.len() - line.trim_start_matches(['\u{feff}', ' ', '\t']).len();
                return Err(not_json(source, &error, here + indent));
            }
        }
    }
    if lines.is_empty() {
        return Err(unreadable(source, "the file has no lines to read"));
    }
    Ok(lines)
}

/// The values of a text that holds one JSON document, or several one after the other.
pub(super) fn documents(source: &SourceFile) -> Result<Vec<Json>, Diagnostic> {
    check_size(source)?;
    let text = source.text().trim_start_matches('\u{feff}');
    let skipped = source.text().len() - text.len();
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Json>() {
        documents.push(document.map_err(|error| {
            let before: usize = text
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1))
                .map(str::len)
                .sum();
            not_json(source, &error, skipped + before)
        })?);
        if documents.len() > MAX_ENTRIES {
            let message = format!("the file has more than {MAX_ENTRIES} documents");
            return Err(unreadable(source, message));
        }
    }
    if documents.is_empty() {
        return Err(unreadable(source, "the file is empty"));
    }
    Ok(documents)
}

fn check_size(source: &SourceFile) -> Result<(), Diagnostic> {
    let bytes = source.text().len();
    if bytes > MAX_BYTES {
        let message = format!("the file has {bytes} bytes; {MAX_BYTES} is the limit");
        return Err(unreadable(source, message));
    }
    Ok(())
}

/// A mistake in the line that starts at `line_start`.
fn not_json(source: &SourceFile, error: &serde_json::Error, line_start: usize) -> Diagnostic {
    let reason = without_place(error);
    // Columns count bytes, and point at the byte that was read last.
    let mut at = (line_start + error.column().saturating_sub(1)).min(source.text().len());
    while !source.text().is_char_boundary(at) {
        at -= 1;
    }
    Diagnostic::error(codes::IMPORT_UNREADABLE, format!("not JSON: {reason}"))
        .at(&signs_of(source), Span::new(at, at))
}

/// The file with a mark in the place of each letter and digit: what was recorded may be secret, and in a broken text
/// nobody can tell. The signs, and all places, stay.
fn signs_of(source: &SourceFile) -> SourceFile {
    let signs = source.text().chars().map(|character| match character {
        other if !other.is_alphanumeric() => other,
        other => match other.len_utf8() {
            1 => '*',
            2 => '·',
            3 => '•',
            _ => '🞄',
        },
    });
    SourceFile::new(source.name(), signs.collect::<String>())
}

/// The object or array that a text is as JSON. One that is nested too deeply stays a text: nobody could read the trace
/// around it back.
pub(super) fn json_in_text(text: &str) -> Option<Json> {
    const DEEPEST: usize = 100;
    let text = text.trim();
    let json: Json = text
        .starts_with(['{', '['])
        .then(|| serde_json::from_str(text).ok())??;
    is_within(&json, DEEPEST).then_some(json)
}

/// Whether arrays and objects are nested in at most so many levels.
fn is_within(json: &Json, levels: usize) -> bool {
    match json {
        Json::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Json::Object(members) => {
            levels > 0 && members.values().all(|member| is_within(member, levels - 1))
        }
        _ => true,
    }
}

/// The text under a key.
pub(super) fn text<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
    json.get(key)?.as_str()
}

/// The truth under a key, false without one.
pub(super) fn is_true(json: &Json, key: &str) -> bool {
    json.get(key).and_then(Json::as_bool) == Some(true)
}

/// The items under a key, none without one.
pub(super) fn items<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The text without elements of these names and what is in them, and without the marks around what is in those of
/// `kept`.
pub(super) fn without_elements(text: &str, names: &[&str], kept: &[&str]) -> String {
    let mut left = String::new();
    let mut rest = text;
    let open = |rest: &str| {
        let all = names.iter().chain(kept);
        all.filter_map(|name| Some((rest.find(&format!("<{name}>"))?, *name)))
            .min()
    };
    while let Some((start, name)) = open(rest) {
        let inner = &rest[start + name.len() + 2..];
        // What is not closed goes on to the end.
        let end = format!("</{name}>");
        let (inner, after) = inner.split_once(&end).unwrap_or((inner, ""));
        left.push_str(&rest[..start]);
        if kept.contains(&name) {
            left.push_str(inner.trim());
            left.push(' ');
        }
        rest = after;
    }
    left.push_str(rest);
    match rest.len() == text.len() {
        true => left,
        false => left.trim().to_owned(),
    }
}

/// The text of a message's content: a string, or the `text` of its parts, a line each.
pub(super) fn content_text(content: &Json) -> String {
    match content {
        Json::String(text) => text.clone(),
        Json::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.as_str().or_else(|| text(part, "text")))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
