//! Reads a whole file.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::events::EventReader;
use super::normalise::{Normaliser, WrittenCall};
use super::rules::{SymbolUse, has_rules, resolve};
use super::symbols::Symbols;
use super::{checks, parse};
use crate::model::{IncludePurpose, IncludedFile, TerminalChoice, Timeline, UserInput};
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::document::place_of;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader, first_character};
use cuecard_source::yaml::AmbiguousScalar;
use cuecard_source::{Edit, SourceFile, Span};

/// The most branches of rules that are looked at without being taken.
const MAX_BRANCHES: usize = 100;

/// The most bytes of text that are read again for branches that are not taken.
const MAX_REREAD: usize = 16 * 1024 * 1024;

/// What reading gave.
#[derive(Debug)]
pub struct Read {
    /// The timeline; absent if any finding is an error.
    pub timeline: Option<Timeline>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The symbols that conditions ask for, in the order of the file.
    pub symbols: Vec<SymbolUse>,
    /// The files that it refers to, also if the timeline itself can't be used.
    pub included_files: Vec<IncludedFile>,
    /// The same file in canonical form, if it has older forms that can be converted.
    pub converted: Option<SourceFile>,
}

/// Reads a timeline. Whatever is wrong with the file is reported at once; what is wrong in branches of rules that don't
/// apply is a warning.
pub fn read(source: &SourceFile, symbols: &Symbols) -> Read {
    let (root, doubts) = match parse::parse(source) {
        Ok(parsed) => parsed,
        Err(diagnostics) => {
            let lines = parse::refuse_lines(source).map(|found| vec![found]);
            return refused(lines.unwrap_or(diagnostics));
        }
    };
    if let Some(diagnostic) = parse::refuse(source, &root) {
        return refused(vec![diagnostic]);
    }
    let file = File {
        source,
        root: &root,
        doubts: &doubts,
        symbols,
    };
    let Pass {
        timeline,
        mut diagnostics,
        mut edits,
        mut untaken,
        mut uses,
    } = file.pass(None);
    let n_branches = (MAX_REREAD / source.text().len().max(1)).clamp(1, MAX_BRANCHES);
    untaken.truncate(n_branches);
    for branch in &untaken {
        let pass = file.pass(Some(*branch));
        let is_own = |span: Span| {
            let inside = |outer: &Span| outer.start <= span.start && span.end <= outer.end;
            let innermost = untaken
                .iter()
                .filter(|outer| inside(outer))
                .min_by_key(|outer| outer.end - outer.start);
            innermost == Some(branch)
        };
        let found = pass.diagnostics.into_iter();
        let own = found.filter(|found| is_own(place_of(found)));
        diagnostics.extend(own.map(not_taken));
        // Lines of an item begin before its branch does, and end behind it.
        let end_of = |at: Span| {
            let end = at.start + source.slice(at).trim_end().len() as u32;
            Span { start: end, end }
        };
        let edits_of = pass.edits.into_iter();
        edits.extend(edits_of.filter(|edit| is_own(end_of(edit.at))));
        uses.extend(pass.uses);
    }
    diagnostics.sort_by_key(|found| place_of(found).start);
    parse::name_places(&mut diagnostics);
    uses.sort_by_key(|used| used.span.start);
    uses.dedup();
    Read {
        included_files: timeline.included_files.clone(),
        timeline: Some(timeline).filter(|_| !any_error(&diagnostics)),
        converted: converted(source, edits),
        diagnostics,
        symbols: uses,
    }
}

fn refused(diagnostics: Vec<Diagnostic>) -> Read {
    Read {
        timeline: None,
        diagnostics,
        symbols: Vec::new(),
        included_files: Vec::new(),
        converted: None,
    }
}

/// A finding about a branch that is not taken is a warning at most.
fn not_taken(mut diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.severity == Severity::Error {
        let note = format!("{} if the rule applies", diagnostic.code);
        diagnostic.severity = Severity::Warning;
        diagnostic.code = codes::TIMELINE_RULE_BRANCH;
        diagnostic.notes.push(note);
    }
    diagnostic
}

/// The text with the edits, each of which counts once: aliases make some of them twice. What is inside of something
/// that is replaced is gone with it.
fn converted(source: &SourceFile, mut edits: Vec<Edit>) -> Option<SourceFile> {
    let mut known = HashSet::new();
    edits.retain(|edit| known.insert(format!("{edit:?}")));
    edits.sort_by_key(|edit| (edit.at.start, Reverse(edit.at.end)));
    let mut replaced = Span::default();
    edits.retain(|edit| {
        let is_inside = match edit.at.start == edit.at.end {
            true => replaced.start < edit.at.start && edit.at.end < replaced.end,
            false => replaced.start <= edit.at.start && edit.at.end <= replaced.end,
        };
        if !is_inside && edit.at.end > replaced.end {
            replaced = edit.at;
        }
        !is_inside
    });
    (!edits.is_empty()).then(|| source.edited(edits))
}

struct File<'a> {
    source: &'a SourceFile,
    root: &'a Node,
    doubts: &'a [AmbiguousScalar],
    symbols: &'a Symbols,
}

/// One reading of a file, with one choice of its rules.
struct Pass {
    timeline: Timeline,
    diagnostics: Vec<Diagnostic>,
    edits: Vec<Edit>,
    untaken: Vec<Span>,
    uses: Vec<SymbolUse>,
}

impl File<'_> {
    fn pass(&self, toward: Option<Span>) -> Pass {
        let mut reader = Reader::new(self.source, &super::FORMAT);
        reader.set_yaml(self.doubts.to_vec());
        let mut resolved = resolve(&mut reader, self.root, self.symbols, toward);
        let mut normaliser = Normaliser::new(&mut reader);
        normaliser.root(&mut resolved.root);
        let written_calls = std::mem::take(&mut normaliser.written_calls);
        let timeline = timeline(normaliser.reader, &resolved.root, written_calls);
        // Which input is the first may depend on rules.
        if let Some(prompt) = &timeline.initial_prompt
            && !has_rules(self.root)
        {
            let has_input = timeline.first_input().and_then(UserInput::prompt_text);
            normaliser.convert_prompt(self.root, prompt, has_input.is_some());
        }
        Pass {
            timeline,
            edits: normaliser.edits,
            diagnostics: reader.diagnostics,
            untaken: resolved.untaken,
            uses: resolved.uses,
        }
    }
}

/// Reads a canonical tree.
fn timeline(
    reader: &mut Reader<'_>,
    root: &Node,
    written_calls: HashMap<Span, WrittenCall>,
) -> Timeline {
    let whole = Object {
        node: root,
        pointer: "",
    };
    let timeline: Option<Timeline> = reader.decode(root, "", "the timeline");
    let mut timeline = timeline.unwrap_or_default();
    match reader.get(whole, "name") {
        Some(name) => timeline.name_span = name.span,
        None => no_name(reader, root),
    }
    let list = reader.required(whole, "timeline", "the file", "timeline: []");
    let list = list.filter(|list| match list.as_array() {
        Some(_) => true,
        None => {
            reader.wrong_type(list, "/timeline", "`timeline`", "a list of events");
            false
        }
    });
    let mut events = EventReader::new(reader, written_calls);
    if let (Some(TerminalChoice::File(path)), Some(node)) =
        (&timeline.terminal, root.get("terminalRef"))
    {
        events.include(path.clone(), node, IncludePurpose::Terminal);
    }
    let folder = timeline
        .repository
        .as_ref()
        .and_then(|repo| repo.folder.clone());
    let node = root.get("repo").and_then(|repo| repo.get("dir"));
    if let (Some(path), Some(node)) = (folder, node) {
        events.include(path, node, IncludePurpose::SeedFolder);
    }
    if let Some(list) = list {
        events.list(list, "/timeline", None);
    }
    timeline.events = events.events;
    timeline.included_files = events.included;
    timeline.source = reader.source.clone();
    checks::check(reader, &timeline);
    timeline
}

/// Reads a name.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let stand_in = Some(String::new());
    by_hand(deserializer, stand_in, |reader, node, pointer| {
        let text = reader.text_of(node, pointer, "`name`")?;
        if text.trim().is_empty() {
            let code = codes::TIMELINE_NAME;
            reader.error_at(code, node.span, pointer, "`name` is blank");
            return None;
        }
        Some(text.to_owned())
    })
}

/// Passes over a list that is read by itself.
pub(crate) fn read_apart<'de, D: Deserializer<'de>, T>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| Vec::new())
}

fn no_name(reader: &mut Reader<'_>, root: &Node) {
    let at = first_character(reader.source, root.span);
    let mut members = root.members().iter();
    let near = members.find(|member| ["title", "id", "Name"].contains(&member.key.as_str()));
    let at = near.map_or(at, |member| member.key_span);
    let message = "the timeline has no `name`";
    let found = reader.error_at(codes::TIMELINE_NAME, at, "/name", message);
    found.help = Some("add name: my-timeline".to_owned());
}
