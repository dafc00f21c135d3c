//! A timeline as `check` and `explain` read it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_runtime::timelines::read_timeline;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Code, Diagnostic, any_error, codes};
use cuecard_timeline::format::{SymbolUse, Symbols};
use cuecard_timeline::model::Timeline;
use cuecard_timeline::script::{LlmScript, PromptSegments};

/// A timeline after reading.
#[derive(Debug)]
pub struct CheckedTimeline {
    /// What it says and when; `None` if it can't be used.
    pub script: Option<LlmScript>,
    /// What was found, as it is without `--strict`.
    pub diagnostics: Vec<Diagnostic>,
    /// The symbols that its conditions ask for.
    pub symbols: Vec<SymbolUse>,
    /// Files and folders beside it that are data of its own, and no timelines.
    pub beside: Vec<PathBuf>,
}

/// Reads a timeline in `folder`, and looks at what stands beside it.
pub fn timeline(source: &SourceFile, folder: &Path, symbols: &Symbols) -> CheckedTimeline {
    let read = read_timeline(source, folder, symbols);
    let mut diagnostics = read.diagnostics;
    let script = read.timeline.map(|timeline| {
        let is_for_model = is_for_model(&timeline);
        let is_for_acp = timeline.acp.span.is_some();
        let (script, found) = LlmScript::compile(Arc::new(timeline), false);
        diagnostics.extend(
            found
                .into_iter()
                .filter(|found| is_for_model || !ABOUT_MODELS.contains(&found.code)),
        );
        if is_for_acp {
            let (_, found) = PromptSegments::compile(&script.timeline, &script.schedule);
            diagnostics.extend(found);
        }
        script
    });
    CheckedTimeline {
        script: script.filter(|_| !any_error(&diagnostics)),
        diagnostics,
        symbols: read.symbols,
        beside: read.beside,
    }
}

/// What matters only where the timeline stands in for a model.
const ABOUT_MODELS: [Code; 3] = [
    codes::MODEL_EDIT_COUNTS,
    codes::MODEL_BLOCK_AS_TEXT,
    codes::MODEL_EMPTY_SEGMENT,
];

/// A timeline with `acp` is for a client of that protocol, unless it also says something of a model's API.
fn is_for_model(timeline: &Timeline) -> bool {
    timeline.acp.span.is_none()
        || timeline.server.mode.is_some()
        || timeline.server.api_style.is_some()
}
