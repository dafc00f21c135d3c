//! Reads the timelines that a stand-in plays: files, and folders with files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_timeline::format::check_names;
use cuecard_timeline::model::{FaultRules, Timeline};
use cuecard_timeline::script::{LlmScript, Selector};
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::options::LlmOptions;
use cuecard_runtime::collect::collect;
use cuecard_runtime::text_file;
use cuecard_runtime::timelines::{TIMELINES, none_tagged, read_timeline, without_data};

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The scripts, in the order of the files.
    pub(super) scripts: Vec<Arc<LlmScript>>,
    /// What was found in the files.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Files that were left out.
    pub(super) left_out: Vec<PathBuf>,
    /// Paths whose 404 does not fail the run.
    pub(super) ignored: GlobSet,
}

/// Reads what `paths` name. The files that have errors are in `left_out`; whether that is in order is for the caller
/// to say.
pub(super) fn load(paths: &[PathBuf], options: &LlmOptions) -> Loaded {
    let collected = collect(paths, TIMELINES);
    let mut loaded = Loaded {
        diagnostics: collected.problems,
        ..Loaded::default()
    };
    let read = collected.files.into_iter().map(|file| {
        let read = read_file(&file.path, options);
        (file, read)
    });
    let mut read = without_data(read.collect(), |read| &read.beside);
    read.retain(|read| {
        let timeline = read.timeline.as_ref();
        timeline.is_none_or(|timeline| timeline.has_tag_of(&options.tags))
    });
    let mut fitting = HashSet::new();
    for read in read {
        let mut diagnostics = read.diagnostics;
        let script = read.timeline.and_then(|mut timeline| {
            timeline.server.any_prompt |= options.any_prompt;
            if let Some(faults) = &options.faults {
                fitting.extend(faults.lay_over(&mut timeline));
            }
            let (script, found) = LlmScript::compile(Arc::new(timeline), options.is_strict);
            diagnostics.extend(found);
            (!any_error(&diagnostics)).then_some(script)
        });
        match script {
            Some(script) => loaded.scripts.push(Arc::new(script)),
            None => loaded.left_out.push(read.path),
        }
        loaded.diagnostics.append(&mut diagnostics);
    }
    if loaded.scripts.is_empty() && loaded.left_out.is_empty() && !options.tags.is_empty() {
        loaded.diagnostics.push(none_tagged(&options.tags));
    }
    let unfitting = unfitting(options.faults.as_ref(), &fitting);
    let (ignored, mut between) = ignored(&loaded.scripts);
    loaded.ignored = ignored;
    let timelines = || loaded.scripts.iter().map(|script| &*script.timeline);
    between.extend(check_names(timelines()));
    between.extend(Selector::without_prompt(timelines()));
    if options.scenario_name.is_none() {
        between.extend(Selector::same_prompt(timelines()));
    }
    between.extend(unfitting);
    between.extend(without_turns(&loaded.scripts));
    loaded
        .diagnostics
        .extend(between.into_iter().map(|found| strictly(found, options)));
    loaded
}

/// That there is nothing that could be asked for.
fn without_turns(scripts: &[Arc<LlmScript>]) -> Option<Diagnostic> {
    let is_answer = |script: &Arc<LlmScript>| {
        let mut turns = script.turns.turns.iter();
        turns.any(|turn| !turn.is_history) || !script.timeline.server.side_calls.is_empty()
    };
    if scripts.iter().any(is_answer) {
        return None;
    }
    let timeline = &scripts.first()?.timeline;
    let message = "no timeline has a model response";
    let found = Diagnostic::error(codes::TIMELINE_NONE, message);
    Some(
        found
            .at(&timeline.source, timeline.name_span)
            .with_help("add one: `- llmResponse: [{assistant: [[0, \"Hello\"]]}]`"),
    )
}

/// The paths whose 404 does not fail the run, and what can't be read of them.
fn ignored(scripts: &[Arc<LlmScript>]) -> (GlobSet, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let mut globs = GlobSetBuilder::new();
    for script in scripts {
        let timeline = &script.timeline;
        for (text, span) in &timeline.server.ignored_paths {
            match Glob::new(text) {
                Ok(glob) => {
                    globs.add(glob);
                }
                Err(error) => {
                    let message = format!(
                        "`{text}` in `server.ignore` is not a valid glob: {}",
                        error.kind()
                    );
                    let found = Diagnostic::error(codes::TIMELINE_SHAPE, message);
                    problems.push(found.at(&timeline.source, *span));
                }
            }
        }
    }
    let globs = globs.build().unwrap_or_else(|error| {
        let message = format!("invalid globs in `server.ignore`: {error}");
        problems.push(Diagnostic::error(codes::TIMELINE_SHAPE, message));
        GlobSet::empty()
    });
    (globs, problems)
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

fn strictly(found: Diagnostic, options: &LlmOptions) -> Diagnostic {
    match options.is_strict {
        true => found.strictly(),
        false => found,
    }
}

/// A file after reading.
struct ReadFile {
    path: PathBuf,
    timeline: Option<Timeline>,
    diagnostics: Vec<Diagnostic>,
    /// The files beside it that it has data in.
    beside: Vec<PathBuf>,
}

fn read_file(path: &Path, options: &LlmOptions) -> ReadFile {
    let source = match text_file::read(path, &path.display().to_string()) {
        Ok(source) => source,
        Err(diagnostic) => {
            return ReadFile {
                path: path.to_owned(),
                timeline: None,
                diagnostics: vec![diagnostic],
                beside: Vec::new(),
            };
        }
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = read_timeline(&source, folder, &options.symbols);
    let diagnostics = read
        .diagnostics
        .into_iter()
        .map(|found| strictly(found, options))
        .collect();
    ReadFile {
        path: path.to_owned(),
        timeline: read.timeline,
        diagnostics,
        beside: read.beside,
    }
}

/// Whether any finding keeps the stand-in from starting.
pub(super) fn is_bad(loaded: &Loaded, skip_bad: bool) -> bool {
    if !skip_bad {
        return any_error(&loaded.diagnostics) || loaded.scripts.is_empty();
    }
    let is_about_arguments = loaded
        .diagnostics
        .iter()
        .any(|found| found.severity == Severity::Error && found.code == codes::TIMELINE_NONE);
    loaded.scripts.is_empty() || is_about_arguments
}
