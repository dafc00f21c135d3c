//! What is wrong with files of whatever kind, each by itself and beside the others, and what they would do. Plays nothing.

mod browser;
mod timeline;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use cuecard_judge::model::TestCase;
use cuecard_judge::test_case;
use cuecard_mcp::config::Config;
use cuecard_page::Snapshot;
use cuecard_recording::cassette::Cassette;
use cuecard_replay::{
    check_allowed, is_built_in, known_servers, mistakes, refused_for_text, unknown_server,
};
use cuecard_runtime::collect::{FoundFile, Kind};
use cuecard_runtime::policy::{Policy, PolicyOptions};
use cuecard_runtime::text_file::{self, folder_of};
use cuecard_runtime::timelines::{self, is_timeline, without_data};
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect, kind_of};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::document::{Language, read_document};
use cuecard_source::json::{self, Limits};
use cuecard_timeline::format::{Symbols, check_names};
use cuecard_timeline::model::Timeline;
use cuecard_timeline::script::{LlmScript, Selector, timeline_effects};
use cuecard_tool_call::format::{self as tool_call, Effects, Scope, effects};
use cuecard_tool_call::model::ToolCallScenario;

use super::prepare::environment_server;
use super::sources::check_input;
pub use browser::{AskedModel, BrowserPlan, steps_plan};
pub use timeline::{CheckedTimeline, timeline};

/// Below a folder, what ends in `.yaml` or `.yml` is checked, and JSON that says what can be checked, or might if it had
/// no errors. Bundles, traces and configs are data of others.
pub const CHECKED: Kind = Kind {
    is_meant: |path| timelines::is_yaml(path) || is_json_of(path, CHECKED_JSON),
    none: |folder| {
        let message = format!("no scenarios found in `{}`", folder.display());
        Diagnostic::error(codes::TIMELINE_NONE, message).with_help(
            "searched: `.yaml` and `.yml` files, and `.json` files with `steps`, `actions` or `assertions`",
        )
    },
};

/// Below a folder, the files that `play` plays.
pub const PLAYED: Kind = Kind {
    is_meant: |path| is_json_of(path, PLAYED_JSON),
    none: |folder| {
        let message = format!("no scenarios found in `{}`", folder.display());
        Diagnostic::error(codes::FILE_READ, message).with_help(
            "searched: `.json` files with `steps` or `testSteps`; `cuecard run` plays timelines",
        )
    },
};

/// Kinds of JSON files, and keys by which one is known that has errors.
type JsonKinds = (&'static [FileKind], &'static [&'static str]);

const CHECKED_JSON: JsonKinds = (
    &[
        FileKind::ToolCall,
        FileKind::ToolCallLegacy,
        FileKind::BrowserSteps,
        FileKind::Browser,
        FileKind::Timeline,
        FileKind::TestCase,
    ],
    &["\"steps\"", "\"actions\"", "\"assertions\"", "\"timeline\""],
);

const PLAYED_JSON: JsonKinds = (
    &[
        FileKind::ToolCall,
        FileKind::ToolCallLegacy,
        FileKind::BrowserSteps,
    ],
    &["\"steps\"", "\"testSteps\""],
);

fn is_json_of(path: &Path, (kinds, keys): JsonKinds) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with('.') || !name.ends_with(".json") {
        return false;
    }
    // What can't be read is said, and a pipe would be waited for.
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let source = is_file.then(|| text_file::read(path, &name).ok()).flatten();
    let Some(source) = source else {
        return true;
    };
    // What a crash leaves of a file may be nothing, or zeros.
    let is_nothing = |it: char| it.is_whitespace() || it == '\0';
    if source.text().chars().all(is_nothing) {
        return true;
    }
    let root = json::parse(source.text(), &Limits::default()).root;
    match root.as_ref().map(detect) {
        Some(Some(kind)) => kinds.contains(&kind),
        // A key may be misspelled, and the rest of the file missing.
        Some(None) => has_scenario_version(source.text()),
        None => {
            let has_key = keys.iter().any(|key| source.text().contains(key));
            has_key || has_scenario_version(source.text())
        }
    }
}

/// Whether a text has `"version": "2.1"` or another version of tool-call scenarios, which those of packages don't look like.
fn has_scenario_version(text: &str) -> bool {
    text.split("\"version\"").skip(1).any(|after| {
        let value = after.trim_start().strip_prefix(':').map(str::trim_start);
        let version = value.and_then(|value| value.strip_prefix('"')?.split('"').next());
        let minor = version.and_then(|version| version.strip_prefix(['1', '2'])?.strip_prefix('.'));
        minor.is_some_and(|minor| {
            !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// What files are checked with.
#[derive(Debug, Clone, Copy)]
pub struct CheckContext<'a> {
    /// The servers that there are.
    pub config: &'a Config,
    /// Whether the servers are asked afterwards, so that what is wrong with their entries is said by that.
    pub connects: bool,
    /// What the conditions of timelines ask for.
    pub symbols: &'a Symbols,
    /// Pages on which the element ids of scenarios may be known.
    pub snapshots: &'a [Snapshot],
    /// What says where a model is.
    pub environment: &'a BTreeMap<String, String>,
    /// Only files with one of these tags are kept; all if there is none.
    pub tags: &'a [String],
}

/// What is in a file.
#[derive(Debug)]
pub enum Content {
    /// Nothing that can be used.
    Unusable,
    /// Tool calls.
    ToolCalls(Box<ToolCallScenario>),
    /// A test case.
    TestCase(Box<TestCase>),
    /// A timeline.
    Timeline(Box<LlmScript>),
    /// A browser script, or steps.
    Browser(Box<BrowserPlan>),
    /// A cassette of MCP servers.
    Cassette(Box<Cassette>),
}

/// A file after checking.
#[derive(Debug)]
pub struct Checked {
    /// What messages call it.
    pub file: String,
    /// What is in it.
    pub content: Content,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that a timeline has its data in.
    beside: Vec<PathBuf>,
}

impl Checked {
    /// Something of which only a finding is known.
    pub fn unusable(file: String, found: Diagnostic) -> Self {
        Self {
            file,
            content: Content::Unusable,
            diagnostics: vec![found],
            beside: Vec::new(),
        }
    }

    /// The scenario of tool calls in it.
    pub fn scenario(&self) -> Option<&ToolCallScenario> {
        match &self.content {
            Content::ToolCalls(scenario) => Some(scenario),
            _ => None,
        }
    }

    /// The timeline in it.
    pub fn timeline(&self) -> Option<&Timeline> {
        match &self.content {
            Content::Timeline(script) => Some(&script.timeline),
            _ => None,
        }
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let found = self.diagnostics.iter();
        found.filter(|found| found.severity == severity).count()
    }

    /// What the file would do, if it has tool calls or is a timeline.
    pub fn effects(&self, config: &Config) -> Option<Effects> {
        match &self.content {
            Content::ToolCalls(scenario) => Some(would_do(scenario, config)),
            Content::Timeline(script) => Some(timeline_effects(&script.timeline)),
            _ => None,
        }
    }

    /// Whether it has one of the tags that were asked for. What can't be used may have any.
    fn has_tag_of(&self, asked: &[String]) -> bool {
        match &self.content {
            Content::Timeline(script) => script.timeline.has_tag_of(asked),
            Content::TestCase(case) => case.has_tag_of(asked),
            Content::Unusable => true,
            Content::ToolCalls(_) | Content::Browser(_) | Content::Cassette(_) => asked.is_empty(),
        }
    }

    /// Brings the findings into the order of the file; if `strict`, warnings become errors.
    pub fn finish(&mut self, strict: bool) {
        self.diagnostics.sort_by_key(|found| {
            let place = found.place.as_ref();
            place.map_or(0, |place| place.span.start)
        });
        let found = std::mem::take(&mut self.diagnostics).into_iter();
        self.diagnostics = found.map(|found| found.strictly(strict)).collect();
    }
}

/// Checks files, one by one and beside each other. `read` reads one.
pub fn check(
    files: &[FoundFile],
    read: impl Fn(&Path) -> Result<SourceFile, Diagnostic>,
    with: &CheckContext<'_>,
) -> Vec<Checked> {
    let checked = files.iter().map(|file| {
        let checked = match read(&file.path) {
            Ok(source) => check_file(&source, &file.path, with),
            Err(found) => Checked::unusable(file.path.display().to_string(), found),
        };
        (file.clone(), checked)
    });
    let mut all = without_data(checked.collect(), |checked| &checked.beside);
    all.retain(|checked| checked.has_tag_of(with.tags));
    let timelines: Vec<&Timeline> = all.iter().filter_map(Checked::timeline).collect();
    for found in between_timelines(timelines) {
        let place = found.place.as_ref();
        let name = place.map(|place| place.source.name());
        let mut files = all.iter_mut();
        if let Some(checked) = files.find(|checked| Some(checked.file.as_str()) == name) {
            checked.diagnostics.push(found);
        }
    }
    all
}

/// What is wrong with timelines beside each other. Those of one folder are served together; what is found between two
/// folders only matters to a mock that serves both, and is a note.
fn between_timelines(timelines: Vec<&Timeline>) -> Vec<Diagnostic> {
    let compare = |timelines: Vec<&Timeline>| {
        let mut found = check_names(timelines.iter().copied());
        found.extend(Selector::same_prompt(timelines));
        found
    };
    let mut folders: BTreeMap<&Path, Vec<&Timeline>> = BTreeMap::new();
    for timeline in &timelines {
        let folder = folder_of(Path::new(timeline.source.name()));
        folders.entry(folder).or_default().push(timeline);
    }
    let in_folders: Vec<Diagnostic> = folders.into_values().flat_map(compare).collect();
    let key = |found: &Diagnostic| {
        let place = found.place.as_ref();
        let place = place.map(|place| (place.source.name().to_owned(), place.span.start));
        (found.code.name(), place)
    };
    let known: HashSet<_> = in_folders.iter().map(key).collect();
    let mut all = compare(timelines);
    all.retain(|found| !known.contains(&key(found)));
    for found in &mut all {
        found.severity = Severity::Note;
        found.notes.push(
            "the files are in different folders: it only matters if a mock serves both".to_owned(),
        );
    }
    in_folders.into_iter().chain(all).collect()
}

fn check_file(source: &SourceFile, path: &Path, with: &CheckContext<'_>) -> Checked {
    let mut beside = Vec::new();
    let (content, diagnostics) = match kind(source) {
        Some(FileKind::TestCase) => {
            let mut reading = test_case::read(source);
            if let Some(case) = &reading.case {
                let found = check_input(case, folder_of(path));
                reading.diagnostics.extend(found);
            }
            let content = reading.case.map(|case| Content::TestCase(Box::new(case)));
            (content, reading.diagnostics)
        }
        Some(FileKind::Browser) => browser_plan(browser::scenario(source, with.environment)),
        Some(FileKind::BrowserSteps) => browser_plan(browser::steps(source)),
        Some(FileKind::Cassette) => {
            let (cassette, found) = Cassette::read(source);
            (
                cassette.map(|cassette| Content::Cassette(Box::new(cassette))),
                found,
            )
        }
        Some(FileKind::Timeline) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            let read = timeline(source, folder, with.symbols);
            beside = read.beside;
            let content = read
                .script
                .map(|script| Content::Timeline(Box::new(script)));
            (content, read.diagnostics)
        }
        _ => tool_calls(source, with),
    };
    Checked {
        file: path.display().to_string(),
        content: content.unwrap_or(Content::Unusable),
        diagnostics,
        beside,
    }
}

type Read = (Option<Content>, Vec<Diagnostic>);

fn browser_plan((plan, found): (Option<BrowserPlan>, Vec<Diagnostic>)) -> Read {
    (plan.map(|plan| Content::Browser(Box::new(plan))), found)
}

/// Reads tool calls.
fn tool_calls(source: &SourceFile, with: &CheckContext<'_>) -> Read {
    let reading = tool_call::read(source);
    let mut diagnostics = reading.diagnostics;
    let partial = reading.partial.as_ref();
    let known = reading
        .scenario
        .as_ref()
        .or(partial.map(|partial| &partial.scenario));
    if let Some(scenario) = known {
        let scope = Scope {
            unreliable_names: partial.map_or(&[][..], |partial| &partial.unreliable_names),
            ..Scope::default()
        };
        diagnostics.extend(tool_call::check_references(scenario, &scope));
        let lint = tool_call::lint(scenario, with.snapshots);
        // An id that the reader warned of already is not said again.
        let key = |found: &Diagnostic| {
            let start = found.place.as_ref().map(|place| place.span.start);
            (found.code.name(), start)
        };
        let known: HashSet<_> = diagnostics.iter().map(key).collect();
        diagnostics.extend(
            lint.into_iter()
                .filter(|found| !known.contains(&key(found))),
        );
    }
    if let Some(scenario) = &reading.scenario {
        diagnostics.extend(environment_server(scenario, with.config));
        let here = PolicyOptions {
            root: ".".into(),
            working_directory: ".".into(),
            ..PolicyOptions::default()
        };
        if let Ok(policy) = Policy::new(here) {
            let refused = |step| refused_for_text(&policy, scenario, step);
            diagnostics.extend(scenario.steps.iter().filter_map(refused));
            let wrong = |step| mistakes(&policy, scenario, step);
            diagnostics.extend(scenario.steps.iter().flat_map(wrong));
        }
        // The scenario may be meant for another machine: here its server is only a warning. Who asks the
        // servers is told by that.
        let servers = match with.connects {
            true => Vec::new(),
            false => would_do(scenario, with.config).servers,
        };
        for name in servers {
            let problem = match with.config.server(&name) {
                Some(server) => server.spec.as_ref().err().cloned(),
                // Without any config every server would be unknown.
                None if is_built_in(&name) || with.config.files.is_empty() => None,
                None => Some(unknown_server(with.config, &name)),
            };
            diagnostics.extend(problem.map(as_warning));
        }
        if !with.connects {
            let left_out = check_allowed(scenario, with.config);
            diagnostics.extend(left_out.into_iter().map(as_warning));
        }
    }
    let content = reading
        .scenario
        .map(|scenario| Content::ToolCalls(Box::new(scenario)));
    (content, diagnostics)
}

fn as_warning(found: Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        ..found
    }
}

/// What a tool-call scenario would do.
pub fn would_do(scenario: &ToolCallScenario, config: &Config) -> Effects {
    effects(scenario, &(0..=u64::MAX), known_servers(config))
}

/// What kind of file it is, or would be if it had no errors.
fn kind(source: &SourceFile) -> Option<FileKind> {
    if is_test_case(source) {
        return Some(FileKind::TestCase);
    }
    match kind_of(source) {
        kind @ Some(FileKind::Browser | FileKind::BrowserSteps | FileKind::Cassette) => kind,
        _ if is_timeline(source) => Some(FileKind::Timeline),
        kind => kind,
    }
}

/// Whether the text is a test case, or would be if it had no errors.
fn is_test_case(source: &SourceFile) -> bool {
    let root = match Language::of(source) {
        Language::Json => json::parse(source.text(), &Limits::default()).root,
        Language::Yaml => {
            let document = read_document(source);
            if document.root.is_none() && source.name().ends_with("test.yaml") {
                return true;
            }
            document.root
        }
    };
    root.as_ref().and_then(detect) == Some(FileKind::TestCase)
}
