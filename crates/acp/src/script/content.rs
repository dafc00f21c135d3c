//! Blocks of content as the wire has them.

use cuecard_source::value::Json;
use cuecard_timeline::model::PlanEntry;
use cuecard_timeline::script::without_line_end;
use serde_json::json;

/// Text as a block.
pub(crate) fn text(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

/// The entries of a plan.
pub(crate) fn plan(entries: &[PlanEntry]) -> Json {
    let entry = |entry: &PlanEntry| {
        json!({
            "content": entry.content,
            "priority": entry.priority.as_str(),
            "status": entry.status.as_str(),
        })
    };
    entries.iter().map(entry).collect()
}

/// Whether two texts of files are the same. One line end at the end doesn't count.
pub(crate) fn is_same_text(expected: &str, found: &str) -> bool {
    without_line_end(expected) == without_line_end(found)
}
