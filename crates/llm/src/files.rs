//! Loads the timelines that a stand-in for a model plays.

use std::path::PathBuf;
use std::sync::Arc;

use cuecard_runtime::load::{self, Loaded};
use cuecard_runtime::media;
use cuecard_source::decode::Spanned;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::script::LlmScript;
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::options::LlmOptions;

/// Loads what `paths` name, and the paths whose 404 does not fail the run.
pub(super) fn load(paths: &[PathBuf], options: &LlmOptions) -> (Loaded<LlmScript>, GlobSet) {
    let play = &options.play;
    let mut loaded = load::load(paths, play, |timeline| {
        // What comes in prompts is compared with it, and what is in answers is sent.
        let (timeline, mut found) = media::embedded(timeline, |_| true);
        let (mut script, compiled) = LlmScript::compile(timeline, play.is_strict);
        if options.lead.is_some() {
            // A run types its prompts.
            script.turns.leave_blocks_out();
        }
        found.extend(compiled);
        (script, found)
    });
    let (ignored, mut found) = ignored(&loaded.scripts);
    found.extend(without_turns(&loaded.scripts));
    let found = found
        .into_iter()
        .map(|found| found.strictly(play.is_strict));
    loaded.diagnostics.extend(found);
    (loaded, ignored)
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
        for Spanned { value: text, span } in &timeline.server.ignored_paths {
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
