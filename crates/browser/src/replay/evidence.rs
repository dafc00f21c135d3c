//! What is kept of a page: on which a step failed how it looks, what stands on it, what its console said last; on request how
//! it looks after each step.

use std::path::PathBuf;

use cuecard_trace::{EventData, Screenshot};

use super::Replay;
use crate::stage::PageInspector;

/// What was kept: a picture of the page, the files, and the event that tells of them.
pub(super) struct Kept {
    pub(super) png: Option<Vec<u8>>,
    pub(super) files: Vec<PathBuf>,
    pub(super) event: EventData,
}

/// Keeps a picture of the page after a step in the run directory, if there is one.
pub(super) async fn keep_after<S: PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    place: usize,
) -> Option<Kept> {
    let run_dir = replay.run_dir?;
    let png = stage.screenshot().await?;
    let name = format!("step-{}.after.png", place + 1);
    let file = run_dir.save(&name, &png).ok()?;
    Some(Kept {
        event: EventData::Screenshot(Screenshot {
            label: format!("the page after step {}", place + 1),
            files: vec![file.display().to_string()],
        }),
        png: Some(png),
        files: vec![file],
    })
}

/// Keeps the page in the run directory, if there is one. What can't be written is not worth a failure of its own.
pub(super) async fn keep<S: PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    place: usize,
    page: Option<&str>,
) -> Option<Kept> {
    let run_dir = replay.run_dir?;
    let name = |kind: &str| format!("step-{}.{kind}", place + 1);
    let mut files = Vec::new();
    let mut save = |kind: &str, content: &[u8]| {
        files.extend(run_dir.save(&name(kind), content).ok());
    };
    let png = stage.screenshot().await;
    if let Some(png) = &png {
        save("png", png);
    }
    if let Some(page) = page {
        save("page.txt", page.as_bytes());
    }
    let console = stage.console();
    if !console.is_empty() {
        let text = replay.values.mask(&console.join("\n"));
        save("console.txt", format!("{text}\n").as_bytes());
    }
    let shown = files.iter().map(|path| path.display().to_string());
    Some(Kept {
        event: EventData::Screenshot(Screenshot {
            label: format!("the page when step {} failed", place + 1),
            files: shown.collect(),
        }),
        png,
        files,
    })
}
