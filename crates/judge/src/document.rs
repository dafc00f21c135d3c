//! A trace as one JSON document, as paths and comparisons look at it.

use cuecard_source::value::Json;
use cuecard_trace::Trace;

/// Header, `events` and what the end says, in one object. A run that died has no `status`.
pub(crate) fn document(trace: &Trace) -> Json {
    let mut members = object(serde_json::to_value(&trace.header));
    let events = trace
        .events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap_or_default())
        .collect();
    members.insert("events".to_owned(), Json::Array(events));
    if let Some(end) = &trace.end {
        members.extend(object(serde_json::to_value(end)));
    }
    Json::Object(members)
}

fn object(value: serde_json::Result<Json>) -> serde_json::Map<String, Json> {
    match value {
        Ok(Json::Object(members)) => members,
        _ => serde_json::Map::new(),
    }
}
