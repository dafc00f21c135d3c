//! `redact_fields` of a test case: what its author wants nobody to read. Credentials in what others recorded, too.
//!
//! A name means every field called so, at any depth, in any case; a JSON pointer means a place in the trace or in
//! the result, and `*` in it stands for any part. What stood there is also taken out wherever else it is repeated:
//! in the last answer, in messages, in what an assertion observed. What makes a trace a trace stays: the number,
//! time, type and id of its events. Assertions judge what was there.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Outcome;
use super::document::document;
use crate::model::{TestCase, TraceInput};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Place, codes, did_you_mean};
use cuecard_source::value::{
    Json, REDACTED, Redactor, find_credentials, find_credentials_in_text, may_hold_credential,
    pointer_steps,
};
use cuecard_trace::{Event, EventData, Other, Trace};

/// A shorter text is a word that stands everywhere, so it goes from the field itself, and from what assertions say.
const SHORTEST_REPEATED: usize = 4;

/// Texts that are looked for elsewhere, in bytes: 256 KiB. If there are more, nothing that an assertion says of
/// the trace is shown, since it could repeat one of the others.
const MAX_FOUND: usize = 256 << 10;

/// Takes fields out of traces, outcomes and diagnostics. It learns from the trace, so that goes first.
#[derive(Debug, Default)]
pub(super) struct FieldRedactor {
    names: HashSet<String>,
    pointers: Vec<Vec<String>>,
    /// Whether somebody else recorded the trace: ours hold no credentials.
    is_foreign: bool,
    found: Found,
    repeated: Redactor,
}

/// The texts that stood in the fields.
#[derive(Debug, Default)]
struct Found {
    texts: HashSet<String>,
    /// Those that are not looked for elsewhere yet.
    fresh: Vec<String>,
    /// Shorter ones, which are looked for only as whole words of what an assertion says.
    short: HashSet<String>,
    bytes: usize,
    /// Whether there were more than fit.
    overflowed: bool,
}

/// `trace` without credentials and what the `redact_fields` of `case` name: as it may be written.
pub fn redacted<'a>(case: &TestCase, trace: &'a Trace) -> Cow<'a, Trace> {
    FieldRedactor::of(case, trace).1
}

/// What in `redact_fields` takes nothing out: names that `trace` has nowhere, while it has one that is written almost so,
/// and pointers that begin with what neither a trace nor a result has.
pub fn misspelt_redactions(case: &TestCase, trace: &Trace) -> Vec<Diagnostic> {
    if case.redact_fields.is_empty() {
        return Vec::new();
    }
    let mut keys = HashSet::new();
    let document = document(trace);
    collect_keys(&document, &mut keys);
    let names = case
        .redact_fields
        .iter()
        .filter(|name| !name.starts_with('/'));
    let unmet = names.filter(|name| !keys.contains(&name.to_lowercase()));
    let warning = |message: String, help: String| {
        Diagnostic::warning(codes::CASE_FIELD_VALUE, message)
            .with_note(format!("in {}", case.source.name()))
            .with_help(help)
    };
    let pointers = case.redact_fields.iter().filter(|name| {
        let first = name.strip_prefix('/').map(|path| path.split('/').next());
        first.flatten().is_some_and(|first| {
            !matches!(first, "*" | "assertions" | "artifacts") && document.get(first).is_none()
        })
    });
    let astray = pointers.map(|pointer| {
        let message = format!("`redact_fields` has `{pointer}`, which matches nothing");
        let help = "it starts at the trace (`/events/*/data/args/pin`) or at the result (`/assertions/0/observed`)";
        warning(message, help.to_owned())
    });
    unmet
        .filter_map(|name| {
            let meant = did_you_mean(&name.to_lowercase(), keys.iter().map(String::as_str))?;
            let message =
                format!("`redact_fields` has `{name}`, which does not occur in the trace");
            let help = format!("did you mean `{meant}`? it occurs in the output");
            Some(warning(message, help))
        })
        .chain(astray)
        .collect()
}

/// The names of all fields, in small letters.
fn collect_keys(json: &Json, keys: &mut HashSet<String>) {
    match json {
        Json::Object(members) => {
            for (name, value) in members {
                keys.insert(name.to_lowercase());
                collect_keys(value, keys);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

impl FieldRedactor {
    pub(super) fn new(case: &TestCase) -> Self {
        let mut redactor = Self {
            is_foreign: matches!(
                case.input,
                TraceInput::ReplayBundle { .. }
                    | TraceInput::Live { .. }
                    | TraceInput::Transcript { .. }
            ),
            ..Self::default()
        };
        for field in &case.redact_fields {
            match field.starts_with('/') {
                true => redactor.pointers.push(pointer_steps(field).collect()),
                false => {
                    redactor.names.insert(field.to_lowercase());
                }
            }
        }
        redactor
    }

    /// What has learned from `trace`, and that as it may be written.
    pub(super) fn of<'a>(case: &TestCase, trace: &'a Trace) -> (Self, Cow<'a, Trace>) {
        let mut redactor = Self::new(case);
        redactor.learn_credentials(trace);
        if redactor.is_empty() {
            return (redactor, Cow::Borrowed(trace));
        }
        let mut trace = trace.clone();
        redactor.take_out(&mut trace);
        (redactor, Cow::Owned(trace))
    }

    /// Whether nothing is to be taken out.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_fields() && self.repeated.is_empty()
    }

    fn has_fields(&self) -> bool {
        !self.names.is_empty() || !self.pointers.is_empty()
    }

    /// Takes credentials and fields out of a trace, first each field, then what they held wherever it is repeated.
    pub(super) fn trace(&mut self, trace: &mut Trace) {
        self.learn_credentials(trace);
        self.take_out(trace);
    }

    /// Learns the credentials of a trace that somebody else recorded.
    fn learn_credentials(&mut self, trace: &Trace) {
        if !self.is_foreign {
            return;
        }
        let mut found = Vec::new();
        find_credentials(&trace.header.scenario, &mut found);
        for message in &trace.header.input_messages {
            find_credentials(message, &mut found);
        }
        if let Some(end) = &trace.end {
            let output = end.final_output.iter();
            output.for_each(|output| find_credentials_in_text(&output.content, &mut found));
            find_credentials(&Json::Object(end.artifacts.clone()), &mut found);
        }
        self.repeated.learn(found.drain(..));
        let mut line = Vec::new();
        for event in &trace.events {
            if holds(&mut line, event, may_hold_credential) {
                let data = serde_json::to_value(event).unwrap_or_default();
                find_credentials(&data["data"], &mut found);
                self.repeated.learn(found.drain(..));
            }
        }
    }

    fn take_out(&mut self, trace: &mut Trace) {
        if self.has_fields() {
            self.fields(trace);
        }
        self.repeated_in_trace(trace);
    }

    fn fields(&mut self, trace: &mut Trace) {
        let mut found = std::mem::take(&mut self.found);
        for (idx, event) in trace.events.iter_mut().enumerate() {
            let place = idx.to_string();
            for (name, id) in [
                ("group_id", &mut event.group_id),
                ("session_id", &mut event.session_id),
                ("task_id", &mut event.task_id),
                ("agent_id", &mut event.agent_id),
            ] {
                let is_meant = |_: &&mut String| self.is_meant(&["events", &place, name]);
                if let Some(text) = id.as_mut().filter(is_meant) {
                    found.add(text);
                    REDACTED.clone_into(text);
                }
            }
        }
        each_part(trace, |_| true, &mut |path, json| {
            self.field(path, json, &mut found);
        });
        self.learn(found);
    }

    /// Takes the fields, and what they held, out of outcome number `idx` of a result.
    pub(super) fn outcome(&mut self, idx: usize, outcome: &mut Outcome) {
        if self.is_empty() {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        let place = idx.to_string();
        for (name, json) in [
            ("params", &mut outcome.params),
            ("observed", &mut outcome.observed),
        ] {
            self.member(name, json, &mut vec!["assertions", &place], &mut found);
        }
        self.learn(found);
        if self.found.overflowed {
            outcome.observed = Json::from(REDACTED);
            outcome.message = REDACTED.to_owned();
            outcome.help = None;
        }
        self.repeated.json(&mut outcome.params);
        self.json_without_parts(&mut outcome.observed);
        outcome.message = self.text(&outcome.message);
        outcome.help = outcome.help.as_deref().map(|help| self.text(help));
    }

    /// Takes the fields out of a diagnostic: the line it shows, and what it says of the marked place.
    pub(super) fn diagnostic(&mut self, diagnostic: &mut Diagnostic) {
        if self.is_empty() {
            return;
        }
        if let Some(place) = &diagnostic.place {
            let through_field = diagnostic
                .pointer
                .as_deref()
                .is_some_and(|pointer| self.is_through_field(pointer));
            let line = line_of(place);
            let lower = line.to_lowercase();
            if through_field || self.names.iter().any(|name| lower.contains(name.as_str())) {
                let mut found = std::mem::take(&mut self.found);
                if through_field {
                    let marked = place.source.slice(place.span);
                    found.add(marked.trim_matches(['"', '\'']));
                }
                self.learn(found);
                diagnostic.place = Some(masked(place));
            }
        }
        diagnostic.message = self.text(&diagnostic.message);
        diagnostic.label = diagnostic.label.as_deref().map(|label| self.text(label));
        diagnostic.help = diagnostic.help.as_deref().map(|help| self.text(help));
        for note in &mut diagnostic.notes {
            *note = self.text(note);
        }
    }

    /// Takes the fields out of what stands at a path of the trace.
    fn field(&self, path: &[&str], json: &mut Json, found: &mut Found) {
        if (1..=path.len()).any(|end| self.is_meant(&path[..end])) {
            replace(json, found);
        } else {
            self.walk(json, &mut path.to_vec(), found);
        }
    }

    /// Whether what stands at a path is taken out as a whole, by its name or because a pointer leads there.
    fn is_meant(&self, path: &[&str]) -> bool {
        let is_it = |pointer: &Vec<String>| {
            let mut parts = pointer.iter().zip(path);
            pointer.len() == path.len() && parts.all(|(part, name)| part == "*" || part == name)
        };
        let name = path.last().map(|name| name.to_lowercase());
        name.is_some_and(|name| self.names.contains(&name)) || self.pointers.iter().any(is_it)
    }

    /// Replaces fields below `json`, which stands at `path`; whether there were any. As deep as JSON is read, which is bounded.
    fn walk<'p>(&self, json: &'p mut Json, path: &mut Vec<&'p str>, found: &mut Found) -> bool {
        match json {
            Json::Object(members) => {
                let members = members.iter_mut();
                members.fold(false, |changed, (name, value)| {
                    self.member(name, value, path, found) | changed
                })
            }
            Json::Array(items) => {
                let items = items.iter_mut().enumerate();
                items.fold(false, |changed, (idx, item)| {
                    let mut path = path.clone();
                    self.member(&idx.to_string(), item, &mut path, found) | changed
                })
            }
            // Many servers answer with JSON inside a text.
            Json::String(text) if text.trim_start().starts_with(['{', '[']) => {
                let Ok(mut inner) = serde_json::from_str::<Json>(text) else {
                    return false;
                };
                let changed = self.walk(&mut inner, &mut path.clone(), found);
                if changed {
                    *text = inner.to_string();
                }
                changed
            }
            _ => false,
        }
    }

    /// Replaces what stands at a path and a name, or fields below it; whether there was any.
    fn member<'p>(
        &self,
        name: &'p str,
        value: &'p mut Json,
        path: &mut Vec<&'p str>,
        found: &mut Found,
    ) -> bool {
        path.push(name);
        let is_meant = self.is_meant(path);
        if is_meant {
            replace(value, found);
        }
        let changed = is_meant || self.walk(value, path, found);
        path.pop();
        changed
    }

    fn learn(&mut self, mut found: Found) {
        if !found.fresh.is_empty() {
            self.repeated.add(found.fresh.drain(..));
        }
        self.found = found;
    }

    fn repeated_in_trace(&self, trace: &mut Trace) {
        if !self.repeated.is_empty() {
            let mut line = Vec::new();
            let has_any = |event: &Event| holds(&mut line, event, |line| self.repeated.finds(line));
            each_part(trace, has_any, &mut |_, json| self.repeated.json(json));
        }
    }

    /// Takes what the fields held out of a text for people, and quoted parts of it, which may have been cut.
    pub(super) fn text(&self, text: &str) -> String {
        let text = self.repeated.text(text);
        let mut redacted = String::with_capacity(text.len());
        for piece in text.split_inclusive(['`', '"', '“', '”', '‘', '’', '…', '\n']) {
            let end = piece
                .char_indices()
                .next_back()
                .filter(|(_, last)| "`\"“”‘’…\n".contains(*last))
                .map_or(piece.len(), |(at, _)| at);
            let (words, mark) = piece.split_at(end);
            redacted.push_str(if self.is_part(words) { REDACTED } else { words });
            redacted.push_str(mark);
        }
        self.without_short(redacted)
    }

    /// Takes short texts of fields out where they are whole words.
    fn without_short(&self, mut text: String) -> String {
        let is_inside = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
        for short in &self.found.short {
            let mut redacted = String::with_capacity(text.len());
            let mut done = 0;
            for (at, _) in text.match_indices(short.as_str()) {
                let end = at + short.len();
                if is_inside(text[..at].chars().next_back())
                    || is_inside(text[end..].chars().next())
                {
                    continue;
                }
                redacted.push_str(&text[done..at]);
                redacted.push_str(REDACTED);
                done = end;
            }
            if done > 0 {
                redacted.push_str(&text[done..]);
                text = redacted;
            }
        }
        text
    }

    fn json_without_parts(&self, json: &mut Json) {
        match json {
            Json::String(text) => *text = self.text(text),
            Json::Array(items) => items
                .iter_mut()
                .for_each(|item| self.json_without_parts(item)),
            Json::Object(members) => {
                members
                    .values_mut()
                    .for_each(|value| self.json_without_parts(value));
                self.repeated.json(json);
            }
            Json::Number(number) if self.found.short.contains(&number.to_string()) => {
                *json = REDACTED.into();
            }
            other => self.repeated.json(other),
        }
    }

    fn is_part(&self, words: &str) -> bool {
        let words = words.trim();
        words.chars().count() >= SHORTEST_REPEATED
            && self.found.texts.iter().any(|text| text.contains(words))
    }

    fn is_through_field(&self, pointer: &str) -> bool {
        pointer
            .split('/')
            .any(|token| self.names.contains(&token.to_lowercase()))
    }
}

impl Found {
    fn add(&mut self, text: &str) {
        if text.chars().count() < SHORTEST_REPEATED {
            if !text.is_empty() {
                self.short.insert(text.to_owned());
            }
            return;
        }
        if text == REDACTED || self.texts.contains(text) {
            return;
        }
        if self.bytes + text.len() > MAX_FOUND {
            self.overflowed = true;
            return;
        }
        self.bytes += text.len();
        self.fresh.push(text.to_owned());
        self.texts.insert(text.to_owned());
    }

    fn add_all(&mut self, json: &Json) {
        match json {
            Json::String(text) => self.add(text),
            Json::Number(number) => self.add(&number.to_string()),
            Json::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Json::Object(members) => members.values().for_each(|value| self.add_all(value)),
            Json::Null | Json::Bool(_) => {}
        }
    }
}

/// Changes each part of a trace that may hold data, given the path to it; of events those that `is_meant` is true of. Lists
/// and objects of the trace's own frame keep their kind, and data that no longer has the shape of its type is kept as it is.
fn each_part(
    trace: &mut Trace,
    mut is_meant: impl FnMut(&Event) -> bool,
    change: &mut dyn FnMut(&[&str], &mut Json),
) {
    for (name, value) in trace.header.scenario.as_object_mut().into_iter().flatten() {
        change(&["scenario", name], value);
    }
    for (idx, message) in trace.header.input_messages.iter_mut().enumerate() {
        change(&["input_messages", &idx.to_string()], message);
    }
    for (idx, event) in trace.events.iter_mut().enumerate() {
        if !is_meant(event) {
            continue;
        }
        let before = serde_json::to_value(&*event).unwrap_or_default()["data"].take();
        let mut data = before.clone();
        change(&["events", &idx.to_string(), "data"], &mut data);
        if data != before {
            let kind = event.data.type_name().to_owned();
            let actor = event.data.actor().to_owned();
            event.data = EventData::from_parts(kind.clone(), actor.clone(), data.clone())
                .unwrap_or(EventData::Other(Other { kind, actor, data }));
        }
    }
    let Some(end) = &mut trace.end else { return };
    if let Some(output) = &mut end.final_output {
        let mut content = Json::from(output.content.as_str());
        change(&["final_output", "content"], &mut content);
        output.content = content.as_str().unwrap_or(REDACTED).to_owned();
    }
    for (name, artifact) in &mut end.artifacts {
        change(&["artifacts", name], artifact);
    }
}

/// Whether `is_meant` is true of the line that `event` is in a file; `line` is only there to be used again.
fn holds(line: &mut Vec<u8>, event: &Event, is_meant: impl Fn(&str) -> bool) -> bool {
    line.clear();
    event.write_line(line).is_err() || std::str::from_utf8(line).is_ok_and(is_meant)
}

fn replace(json: &mut Json, found: &mut Found) {
    if !json.is_null() {
        found.add_all(json);
        *json = Json::from(REDACTED);
    }
}

fn line_of(place: &Place) -> &str {
    let line = place.source.position(place.span.start).line;
    place
        .source
        .text()
        .lines()
        .nth(line - 1)
        .unwrap_or_default()
}

/// The same place in a text of which nothing can be read.
fn masked(place: &Place) -> Place {
    let text: String = place
        .source
        .text()
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { '*' })
        .collect();
    Place {
        source: SourceFile::new(place.source.name(), text),
        span: place.span,
    }
}
