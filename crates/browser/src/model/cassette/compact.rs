//! What is kept of a cassette when a run has ended.

use std::collections::HashSet;

use serde::Deserialize;

/// The beginning of a line.
#[derive(Deserialize)]
struct Kept {
    kind: String,
    #[serde(default)]
    key: String,
}

/// The text of a cassette without what its last run replaced: earlier runs go. Of what has a key that is kept
/// which is in `used`, all of them if that is not known.
pub(super) fn compact(text: &str, used: Option<&HashSet<String>>) -> String {
    let lines: Vec<(&str, Kept)> = text
        .split_inclusive('\n')
        .filter_map(|line| Some((line, serde_json::from_str(line).ok()?)))
        .collect();
    let last_run = lines.iter().rposition(|(_, kept)| kept.kind == "run");
    let mut kept = String::with_capacity(text.len());
    // A key may stand twice; the later one counts.
    let mut seen = HashSet::new();
    let mut is_kept: Vec<bool> = lines
        .iter()
        .enumerate()
        .rev()
        .map(|(index, (_, line))| match line.kind.as_str() {
            "cassette" => true,
            "reply" | "person" => {
                used.is_none_or(|used| used.contains(&line.key)) && seen.insert(&line.key)
            }
            _ => last_run.is_none_or(|run| index >= run),
        })
        .collect();
    is_kept.reverse();
    for ((line, _), is_kept) in lines.iter().zip(is_kept) {
        if is_kept {
            kept.push_str(line);
        }
    }
    kept
}
