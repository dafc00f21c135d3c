//! Blocks of content as the wire has them.

use cuecard_source::value::Json;
use cuecard_timeline::model::{Block, BlockKind, Media, MediaSource, PlanEntry, PlanPriority};
use serde_json::json;

use super::lacks;

/// A block; `None` if it is no content of the protocol: a diff belongs to a tool call, a plan is an update of its own.
pub(crate) fn block(block: &Block) -> Option<Json> {
    let mut json = match &block.kind {
        BlockKind::Text(text) => json!({"type": "text", "text": text}),
        BlockKind::Image(image) => media("image", image),
        BlockKind::Audio(audio) => media("audio", audio),
        BlockKind::Resource {
            uri,
            mime_type,
            text,
            blob,
        } => {
            let mut resource = json!({"uri": uri});
            if let Some(mime_type) = mime_type {
                resource["mimeType"] = json!(mime_type);
            }
            match (text, blob) {
                (Some(text), _) => resource["text"] = json!(text),
                (None, blob) => resource["blob"] = json!(blob.as_deref().unwrap_or_default()),
            }
            json!({"type": "resource", "resource": resource})
        }
        BlockKind::ResourceLink {
            uri,
            name,
            mime_type,
            title,
            description,
            size,
        } => {
            let mut link = json!({"type": "resource_link", "uri": uri, "name": name});
            let texts = [
                ("mimeType", mime_type),
                ("title", title),
                ("description", description),
            ];
            for (key, text) in texts {
                if let Some(text) = text {
                    link[key] = json!(text);
                }
            }
            if let Some(size) = size {
                link["size"] = json!(size);
            }
            link
        }
        BlockKind::Diff { .. } | BlockKind::Plan(_) => return None,
    };
    for (key, value) in [("annotations", &block.annotations), ("_meta", &block.meta)] {
        if !value.is_null() {
            json[key] = value.clone();
        }
    }
    Some(json)
}

/// Text as a block.
pub(crate) fn text(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

fn media(kind: &str, media: &Media) -> Json {
    // Files were read when the script was compiled.
    let data = match &media.source {
        MediaSource::Data(data) => data.as_str(),
        MediaSource::File(_) => "",
    };
    let mut json = json!({"type": kind, "mimeType": media.mime_type, "data": data});
    if let Some(uri) = &media.uri {
        json["uri"] = json!(uri);
    }
    json
}

/// The entries of a plan.
pub(crate) fn plan(entries: &[PlanEntry]) -> Json {
    let entry = |entry: &PlanEntry| {
        json!({
            "content": entry.content,
            "priority": match entry.priority {
                PlanPriority::High => "high",
                PlanPriority::Medium => "medium",
                PlanPriority::Low => "low",
            },
            "status": entry.status.as_str(),
        })
    };
    entries.iter().map(entry).collect()
}

/// What differs between a block of a prompt that was expected and one that came: every field that the script has must be
/// the same, but for how it is annotated. Text is compared elsewhere.
pub(crate) fn difference(expected: &Block, came: &Json) -> Option<String> {
    let mut wanted = block(expected)?;
    if expected.compares_kind {
        wanted = json!({"type": wanted["type"]});
    }
    if let Some(members) = wanted.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "annotations" | "_meta"));
    }
    let text = |block: &Json| block["resource"]["text"].as_str().map(str::to_owned);
    if let (Some(expected), Some(found)) = (text(&wanted), text(came))
        && is_same_text(&expected, &found)
    {
        wanted["resource"]["text"] = json!(found);
    }
    if came["resource"]["mimeType"].is_null()
        && let Some(Json::Object(resource)) = wanted.get_mut("resource")
    {
        resource.remove("mimeType");
    }
    let kind = expected.kind.as_str();
    lacks(&wanted, came).map(|lack| format!("the block of type `{kind}` differs at {lack}"))
}

/// Whether two texts of files are the same. One line end at the end doesn't count.
pub(crate) fn is_same_text(expected: &str, found: &str) -> bool {
    let without_end = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    without_end(expected) == without_end(found)
}
