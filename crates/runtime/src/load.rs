//! Loads what a stand-in plays: timelines in files and below folders, compiled for its player.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_timeline::format::{Symbols, check_names};
use cuecard_timeline::model::{FaultRules, Timeline};
use cuecard_timeline::script::{DEFAULT_MAX_DISTANCE, DEFAULT_MAX_SESSIONS, Selector, Speed};
use cuecard_trace::Header;
use serde_json::{Value as Json, json};

use super::collect::collect;
use super::text_file;
use super::timelines::{TIMELINES, TimelineFile, none_tagged, read_timeline, without_data};

/// Which timelines a stand-in plays, and how.
#[derive(Debug, Clone)]
pub struct PlayOptions {
    /// What the conditions of rules ask for.
    pub symbols: Symbols,
    /// What goes wrong on purpose, beside what the files themselves say.
    pub faults: Option<FaultRules>,
    /// Leaves out files that can't be used, instead of not starting.
    pub skip_bad: bool,
    /// Only timelines with one of these tags are played; all if there is none.
    pub tags: Vec<String>,
    /// Warnings are errors.
    pub is_strict: bool,
    /// How fast scripted delays pass.
    pub speed: Speed,
    /// How far a prompt may be from that of the scenario which is chosen by it: 0, the same, to 1.
    pub max_distance: f64,
    /// Whether the first prompt of each scenario may be any.
    pub any_prompt: bool,
    /// The scenario that every session plays.
    pub scenario_name: Option<String>,
    /// How many sessions there are at once.
    pub max_sessions: usize,
    /// What no session played is a failure.
    pub require_complete: bool,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            symbols: Symbols::new(),
            faults: None,
            skip_bad: false,
            tags: Vec::new(),
            is_strict: false,
            speed: Speed::AS_WRITTEN,
            max_distance: DEFAULT_MAX_DISTANCE,
            any_prompt: false,
            scenario_name: None,
            max_sessions: DEFAULT_MAX_SESSIONS,
            require_complete: false,
        }
    }
}

/// What was loaded.
#[derive(Debug)]
pub struct Loaded<S> {
    /// The scripts, in the order of the files.
    pub scripts: Vec<Arc<S>>,
    /// What was found in the files.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were left out, because they have errors.
    pub left_out: Vec<PathBuf>,
}

/// Loads what `paths` name. Whether it is in order that files have errors is for the caller to say, see
/// [`Loaded::is_bad`].
pub fn load<S>(
    paths: &[PathBuf],
    options: &PlayOptions,
    compile: impl Fn(Arc<Timeline>) -> (S, Vec<Diagnostic>),
) -> Loaded<S> {
    let collected = collect(paths, TIMELINES);
    let mut loaded = Loaded {
        scripts: Vec::new(),
        diagnostics: collected
            .problems
            .into_iter()
            .map(|(_, found)| found)
            .collect(),
        left_out: Vec::new(),
    };
    let read = collected.files.into_iter().map(|file| {
        let read = read_file(&file.path, options);
        let path = file.path.clone();
        (file, (path, read))
    });
    let mut read = without_data(read.collect(), |(_, read)| &read.beside);
    read.retain(|(_, read)| {
        let timeline = read.timeline.as_ref();
        timeline.is_none_or(|timeline| timeline.has_tag_of(&options.tags))
    });
    let mut fitting = HashSet::new();
    let mut timelines = Vec::new();
    for (path, read) in read {
        let mut diagnostics = read.diagnostics;
        let script = read.timeline.and_then(|mut timeline| {
            timeline.server.any_prompt |= options.any_prompt;
            if let Some(faults) = &options.faults {
                fitting.extend(faults.lay_over(&mut timeline));
            }
            let timeline = Arc::new(timeline);
            let (script, found) = compile(timeline.clone());
            diagnostics.extend(found);
            (!any_error(&diagnostics)).then_some((timeline, script))
        });
        match script {
            Some((timeline, script)) => {
                timelines.push(timeline);
                loaded.scripts.push(Arc::new(script));
            }
            None => loaded.left_out.push(path),
        }
        loaded.diagnostics.append(&mut diagnostics);
    }
    if loaded.scripts.is_empty() && loaded.left_out.is_empty() && !options.tags.is_empty() {
        loaded.diagnostics.push(none_tagged(&options.tags));
    }
    let timelines = || timelines.iter().map(|timeline| &**timeline);
    let mut between = check_names(timelines());
    between.extend(Selector::without_prompt(timelines()));
    if options.scenario_name.is_none() {
        between.extend(Selector::same_prompt(timelines()));
    }
    between.extend(unfitting(options.faults.as_ref(), &fitting));
    let between = between
        .into_iter()
        .map(|found| found.strictly(options.is_strict));
    loaded.diagnostics.extend(between);
    loaded
}

/// How the trace of a stand-in begins that plays `timelines`.
pub fn header<'t>(run_id: &str, timelines: impl Iterator<Item = &'t Timeline>) -> Header {
    let scenarios: Vec<Json> = timelines
        .map(|timeline| json!({"name": timeline.name, "file": timeline.source.name()}))
        .collect();
    Header::live(
        run_id,
        json!({"timelines": scenarios}),
        json!({"supports_tool_trace": true}),
    )
}

impl<S> Loaded<S> {
    /// Whether any finding keeps the stand-in from starting; with `skip_bad`, bad files are only left out.
    pub fn is_bad(&self, skip_bad: bool) -> bool {
        if !skip_bad {
            return any_error(&self.diagnostics) || self.scripts.is_empty();
        }
        let is_about_arguments = |found: &Diagnostic| {
            found.severity == Severity::Error && found.code == codes::TIMELINE_NONE
        };
        self.scripts.is_empty() || self.diagnostics.iter().any(is_about_arguments)
    }
}

/// The faults that fit no event of any timeline.
fn unfitting(faults: Option<&FaultRules>, fitting: &HashSet<usize>) -> Vec<Diagnostic> {
    let Some(faults) = faults else {
        return Vec::new();
    };
    let rules = faults.rules.iter().enumerate();
    rules
        .filter(|(idx, _)| !fitting.contains(idx))
        .map(|(_, rule)| {
            let message = "this fault matches no event of any timeline";
            Diagnostic::warning(codes::FAULT_NEVER, message)
                .at(&faults.source, rule.span)
                .with_help("`match` names an `event`, a `tool` or an `index` of `timeline`, counted from 0; all given conditions must hold")
        })
        .collect()
}

fn read_file(path: &Path, options: &PlayOptions) -> TimelineFile {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut read = match text_file::read(path, &path.display().to_string()) {
        Ok(source) => read_timeline(&source, folder, &options.symbols),
        Err(found) => TimelineFile {
            diagnostics: vec![found],
            ..TimelineFile::default()
        },
    };
    let found = read.diagnostics.into_iter();
    read.diagnostics = found.map(|it| it.strictly(options.is_strict)).collect();
    read
}
