//! An explanation for machines.

use cuecard_timeline::script::{Act, PlayerKind};
use serde_json::{Map, Value as Json, json};

use super::rows::{Row, rows};
use super::{Explained, View, findings};

/// The document of one timeline.
pub(super) fn document(explained: &Explained, view: &View<'_>) -> Json {
    let mut document = findings(explained);
    let Some(script) = &explained.script else {
        return document;
    };
    let timeline = &script.timeline;
    let place = |start: u32| {
        let place = timeline.source.position(start);
        (place.line, place.column)
    };
    document["name"] = json!(timeline.name);
    document["description"] = json!(timeline.description);
    document["tags"] = json!(timeline.tags);
    document["prompt"] = json!(timeline.effective_prompt());
    document["session_id"] = json!(timeline.session_id());
    document["turns"] = json!(script.turns.turns.len());
    document["end_ms"] = json!(view.speed.at(script.schedule.end_ms));
    let symbols = explained.symbols.iter().map(|used| {
        let (line, column) = place(used.span.start);
        let symbol = view.symbols.get(&used.name);
        json!({
            "name": used.name,
            "condition": used.condition,
            "holds": used.holds,
            "defined": symbol.is_some(),
            "value": symbol.map(|symbol| symbol.value.to_string()),
            "origin": symbol.map(|symbol| symbol.origin.as_str()),
            "did_you_mean": used.proposal,
            "line": line,
            "column": column,
        })
    });
    document["symbols"] = symbols.collect();
    let rows = rows(script, view.speed);
    document["events"] = rows
        .iter()
        .map(|row| {
            let (line, column) = row.span.map_or((0, 0), |span| place(span.start));
            event(row, line, column, view.player)
        })
        .collect();
    document
}

fn event(row: &Row, line: usize, column: usize, player: Option<PlayerKind>) -> Json {
    let players: Map<String, Json> = PlayerKind::ALL
        .into_iter()
        .filter(|face| player.is_none_or(|player| player == *face))
        .map(|face| {
            let cell = row.cells[face as usize];
            let what = json!({"act": act(cell.act), "note": cell.note});
            (face.as_str().to_owned(), what)
        })
        .collect();
    let points = row.points.iter();
    json!({
        "path": row.path,
        "line": line,
        "column": column,
        "event": row.event,
        "what": row.what,
        "lane": row.lane,
        "at_ms": row.at_ms,
        "end_ms": row.end_ms,
        "points": points.map(|(at_ms, what)| json!({"at_ms": at_ms, "what": what})).collect::<Vec<_>>(),
        "players": players,
    })
}

fn act(act: Act) -> &'static str {
    match act {
        Act::Acts => "acts",
        Act::Awaits => "awaits",
        Act::ActsAndAwaits => "acts_and_awaits",
        Act::Clock => "clock",
        Act::Boundary => "boundary",
        Act::Skips => "skips",
        Act::NotEvaluated => "not_evaluated",
    }
}
