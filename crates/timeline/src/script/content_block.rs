//! Blocks of content as the Agent Client Protocol has them.

use cuecard_source::value::Json;
use serde_json::json;

use crate::model::{Block, BlockKind, Media, MediaSource};

/// A block as the Agent Client Protocol has it; `None` if it is no content there: a diff belongs to a tool call, a plan is an
/// update of its own.
pub fn content_block(block: &Block) -> Option<Json> {
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

fn media(kind: &str, media: &Media) -> Json {
    let mut json = json!({"type": kind, "mimeType": media.mime_type});
    // Players have read all files.
    if let MediaSource::Data(data) = &media.source {
        json["data"] = json!(data);
    }
    if let Some(uri) = &media.uri {
        json["uri"] = json!(uri);
    }
    json
}
