//! Reads a whole file.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::events::{Flat, events};
use super::loader::Compat;
use super::loader::Loader;
use super::pieces::filled;
use super::rules::{Resolved, SymbolUse, has_rules, resolve};
use super::settings::Program;
use super::symbols::Symbols;
use super::{checks, convert, normalise, parse, settings};
use crate::model::{
    AcpSettings, IncludePurpose, IncludedFile, Repository, RequestMatch, ServerSettings, Timeline,
    TimelineExpectations, UserInput,
};
use cuecard_source::decode::{Spanned, by_hand, schema_of};
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::document::place_of;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader, first_character};
use cuecard_source::value::Json;
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

/// How often a converted text is converted again. What is moved is converted where it has come to stand.
const MAX_AGAIN: u32 = 3;

/// Reads a timeline. Whatever is wrong with the file is reported at once; what is wrong in branches of rules that don't
/// apply is a warning.
pub fn read(source: &SourceFile, symbols: &Symbols) -> Read {
    read_once(source, symbols, MAX_AGAIN)
}

fn read_once(source: &SourceFile, symbols: &Symbols, n_left: u32) -> Read {
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
        converted: converted(source, edits)
            .map(|converted| converted_again(converted, symbols, n_left)),
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

/// The text once more, if what was moved has older forms too.
fn converted_again(converted: SourceFile, symbols: &Symbols, n_left: u32) -> SourceFile {
    let Some(n_left) = n_left.checked_sub(1) else {
        return converted;
    };
    let again = read_once(&converted, symbols, n_left);
    again.converted.unwrap_or(converted)
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
        let resolved = match has_rules(self.root) {
            true => resolve(&mut reader, self.root, self.symbols, toward),
            false => Resolved {
                root: self.root.clone(),
                written: HashMap::new(),
                untaken: Vec::new(),
                uses: Vec::new(),
            },
        };
        let mut loader = Loader::new(self.source, &resolved.written);
        loader.reader.set_yaml(self.doubts.to_vec());
        let mut root = resolved.root;
        normalise::settings(&mut loader, &mut root);
        let timeline = timeline(&mut loader, &root);
        self.convert_prompt(&mut loader, &timeline);
        let mut diagnostics = reader.diagnostics;
        diagnostics.append(&mut loader.reader.diagnostics);
        Pass {
            timeline,
            diagnostics,
            edits: loader.edits,
            untaken: resolved.untaken,
            uses: resolved.uses,
        }
    }

    /// Makes an older prompt the first input.
    fn convert_prompt(&self, loader: &mut Loader<'_>, timeline: &Timeline) {
        // Which input is the first may depend on rules.
        if let Some(prompt) = &timeline.initial_prompt
            && !has_rules(self.root)
        {
            let has_input = timeline.first_input().and_then(UserInput::prompt_text);
            convert::initial_prompt(loader, self.root, prompt, has_input.is_some());
        }
    }
}

/// The whole file.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("required" = ["name", "timeline"]))]
pub(super) struct Root {
    /// Name of the timeline.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", length(min = 1))]
    name: Option<Spanned<String>>,
    /// What it is for, for people.
    description: Option<String>,
    /// Words to choose timelines by.
    tags: Vec<String>,
    /// Path of a terminal configuration.
    #[schemars(with = "Json", extend("type" = ["string", "object"]))]
    terminal_ref: IgnoredAny,
    /// Older forms that need no warning.
    compat: Compat,
    /// The workspace that the agent starts in.
    repo: Option<Repository>,
    /// The program under test.
    ah: Program,
    /// How the stand-ins for services behave.
    server: ServerSettings,
    /// What a request to a model must be like, beside its prompt, to choose the timeline.
    #[serde(rename = "match")]
    request_match: Option<RequestMatch>,
    /// How the stand-in for an ACP agent behaves.
    acp: AcpSettings,
    /// What happens, in order.
    #[schemars(with = "Json")]
    timeline: IgnoredAny,
    /// What holds after the run.
    expect: TimelineExpectations,
    /// Legacy: what the timeline is chosen by if it has no userInputs.
    #[serde(deserialize_with = "filled")]
    initial_prompt: Option<String>,
}

/// Keys at the top.
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let schema = schema_of::<Root>();
    let keys = schema["properties"].as_object().into_iter().flatten();
    keys.map(|(key, _)| key.clone()).collect()
});

fn timeline(loader: &mut Loader<'_>, root: &Node) -> Timeline {
    let object = Object {
        node: root,
        pointer: "",
    };
    let form: Root = loader.decode(root, "", "the timeline").unwrap_or_default();
    loader.compat = form.compat;
    initial_prompt(loader, object);
    let terminal = settings::terminal(loader, object);
    let folder = form.repo.as_ref().and_then(|repo| repo.folder.clone());
    let node = root.get("repo").and_then(|repo| repo.get("dir"));
    loader.note_included(folder, node, IncludePurpose::SeedFolder);
    if loader.reader.get(object, "name").is_none() {
        no_name(loader, root);
    }
    let mut flat = Flat::default();
    let items = loader
        .reader
        .required(object, "timeline", "the file", "timeline: []");
    if let Some(node) = items {
        match node.as_array() {
            Some(_) => events(loader, &mut flat, node, "/timeline", None),
            None => {
                let what = "`timeline`";
                let wanted = "a list of events";
                loader.reader.wrong_type(node, "/timeline", what, wanted);
            }
        }
    }
    let unknown = root
        .members()
        .iter()
        .filter(|member| !KEYS.contains(&member.key));
    let unknown = unknown.map(|member| (member.key.clone(), member.value.to_value()));
    let name = form.name.unwrap_or_default();
    let timeline = Timeline {
        source: loader.source().clone(),
        name: name.value,
        name_span: name.span,
        description: form.description,
        tags: form.tags,
        initial_prompt: form.initial_prompt,
        terminal,
        repository: form.repo,
        command: form.ah.command,
        flags: form.ah.flags,
        env: form.ah.env,
        server: form.server,
        request_match: form.request_match,
        acp: form.acp,
        events: flat.events,
        expectations: form.expect,
        included_files: std::mem::take(&mut loader.included),
        unknown: unknown.collect(),
    };
    checks::check(loader, &timeline);
    timeline
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Spanned<String>>, D::Error> {
    by_hand(deserializer, Some(None), |reader, node, pointer| {
        let text = reader.text_of(node, pointer, "`name`")?;
        if text.trim().is_empty() {
            let code = codes::TIMELINE_NAME;
            reader.error_at(code, node.span, pointer, "`name` is blank");
            return None;
        }
        let value = text.to_owned();
        let span = node.span;
        Some(Some(Spanned { span, value }))
    })
}

fn no_name(loader: &mut Loader<'_>, root: &Node) {
    let at = first_character(loader.source(), root.span);
    let mut members = root.members().iter();
    let near = members.find(|member| ["title", "id", "Name"].contains(&member.key.as_str()));
    let at = near.map_or(at, |member| member.key_span);
    let message = "the timeline has no `name`";
    let found = loader.error(codes::TIMELINE_NAME, at, "/name", message);
    found.help = Some("add name: my-timeline".to_owned());
}

fn initial_prompt(loader: &mut Loader<'_>, root: Object<'_>) {
    if let Some(node) = loader.reader.get(root, "initialPrompt") {
        let code = codes::TIMELINE_KEY_ALIAS;
        let message = "`initialPrompt` only selects the timeline and is never sent";
        let modern = "write the prompt as the first entry of `userInputs`";
        loader.legacy(code, node.span, "/initialPrompt", message, modern);
    }
}
