//! Blocks of content as the wire has them.

use cuecard_source::value::Json;
use cuecard_timeline::model::{Block, BlockKind, Media, MediaSource, PlanEntry, PlanPriority};
use serde_json::json;

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
            let mut resource = json!({"uri": uri, "mimeType": mime_type});
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

/// What differs between a block that was expected and one that came: text is compared elsewhere, all others by what they
/// are and where from.
pub(crate) fn difference(expected: &Block, came: &Json) -> Option<String> {
    let kind = came["type"].as_str().unwrap_or_default();
    let wanted = expected.kind.as_str();
    if kind != wanted {
        return Some(format!("expected a block of type `{wanted}`, got `{kind}`"));
    }
    let of = |key: &str| match kind {
        "resource" => came["resource"][key].as_str(),
        _ => came[key].as_str(),
    };
    let pairs: [(&str, Option<&str>); 2] = match &expected.kind {
        BlockKind::Image(media) | BlockKind::Audio(media) => [
            ("mimeType", Some(&media.mime_type)),
            ("uri", media.uri.as_deref()),
        ],
        BlockKind::Resource { uri, mime_type, .. } => {
            [("uri", Some(uri)), ("mimeType", Some(mime_type))]
        }
        BlockKind::ResourceLink { uri, mime_type, .. } => {
            [("uri", Some(uri)), ("mimeType", mime_type.as_deref())]
        }
        _ => return None,
    };
    pairs.into_iter().find_map(|(key, wanted)| {
        let wanted = wanted?;
        let found = of(key).unwrap_or("none");
        (found != wanted)
            .then(|| format!("`{key}` of the {kind}: expected `{wanted}`, got `{found}`"))
    })
}
