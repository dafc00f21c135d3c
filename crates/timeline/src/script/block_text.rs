//! Blocks as text, for faces that have nothing else.

use std::fmt::Write as _;

use crate::model::{Block, BlockKind, Media, MediaSource, PlanEntry, PlanStatus};

/// A block as text that says what it is. Text is itself.
pub fn block_text(block: &Block) -> String {
    match &block.kind {
        BlockKind::Text(text) => text.clone(),
        BlockKind::Image(media) => media_text("image", media),
        BlockKind::Audio(media) => media_text("audio", media),
        BlockKind::Resource { uri, text, .. } => match text {
            Some(text) => text.clone(),
            None => format!("[resource: {uri}]"),
        },
        BlockKind::ResourceLink { uri, name, .. } => format!("[{name}]({uri})"),
        BlockKind::Diff {
            path,
            old_text,
            new_text,
        } => diff_text(path, old_text.as_deref().unwrap_or_default(), new_text),
        BlockKind::Plan(entries) => plan_text(entries),
    }
}

fn media_text(kind: &str, media: &Media) -> String {
    let mime_type = &media.mime_type;
    match (&media.source, &media.uri) {
        (MediaSource::File(path), _) => format!("[{kind}: {} ({mime_type})]", path.display()),
        (MediaSource::Data(_), Some(uri)) => format!("[{kind}: {uri} ({mime_type})]"),
        (MediaSource::Data(_), None) => format!("[{kind}: {mime_type}]"),
    }
}

fn diff_text(path: &str, old_text: &str, new_text: &str) -> String {
    let mut text = format!("{path}\n");
    for (sign, side) in [('-', old_text), ('+', new_text)] {
        for line in side.lines() {
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
    }
    text.pop();
    text
}

fn plan_text(entries: &[PlanEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let mark = match entry.status {
            PlanStatus::Pending => ' ',
            PlanStatus::InProgress => '~',
            PlanStatus::Completed => 'x',
        };
        let _ = writeln!(text, "- [{mark}] {}", entry.content);
    }
    text.pop();
    text
}
