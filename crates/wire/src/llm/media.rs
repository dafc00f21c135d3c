//! Images, sound and files in messages: how they are read, and how a client says them.

use cuecard_source::value::Json;
use cuecard_timeline::script::{Endpoint, MediaKind, Part, RequestedBlock};
use serde_json::json;

/// A block of a type that is no text: an image, a sound, a file.
pub(super) fn read(name: &str, json: &Json) -> Part {
    let text = |json: &Json, keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| json[*key].as_str());
        found.next().unwrap_or_default().to_owned()
    };
    let url_of = |image: &Json| match image.as_str() {
        Some(url) => url.to_owned(),
        None => text(image, &["url", "file_id"]),
    };
    const OF_FILE: &[&str] = &["file_data", "file_url", "file_id"];
    const OF_GEMINI: &[&str] = &["data", "fileUri", "file_uri"];
    let (kind, data) = match name {
        "image_url" => (MediaKind::Image, url_of(&json["image_url"])),
        "input_image" => match &json["image_url"] {
            Json::Null => (MediaKind::Image, text(json, &["file_id"])),
            image => (MediaKind::Image, url_of(image)),
        },
        "input_audio" => (MediaKind::Audio, text(&json["input_audio"], &["data"])),
        "file" => (MediaKind::File, text(&json["file"], OF_FILE)),
        "input_file" => (MediaKind::File, text(json, OF_FILE)),
        "image" => (
            MediaKind::Image,
            text(&json["source"], &["data", "url", "file_id"]),
        ),
        "document" => (
            MediaKind::of(&text(&json["source"], &["media_type"])),
            text(&json["source"], &["data", "url", "file_id"]),
        ),
        "inlineData" | "inline_data" | "fileData" | "file_data" => {
            let mime_type = text(&json[name], &["mimeType", "mime_type"]);
            (MediaKind::of(&mime_type), text(&json[name], OF_GEMINI))
        }
        _ => (MediaKind::Other, String::new()),
    };
    let of_url = data.strip_prefix("data:");
    let of_url = of_url.and_then(|url| url.split_once(','));
    let (kind, mime_type, data) = match of_url {
        Some((head, inner)) => {
            let mime_type = head.split(';').next().unwrap_or_default();
            let kind = match kind {
                MediaKind::File => MediaKind::of(mime_type),
                kind => kind,
            };
            (kind, mime_type.to_owned(), inner.to_owned())
        }
        None => (kind, mime_type_of(json), data),
    };
    let titles = [json, &json["file"], &json[name]];
    let title = titles.map(|it| text(it, &["title", "filename", "displayName", "display_name"]));
    Part::Block(RequestedBlock {
        name: name.to_owned(),
        kind,
        mime_type,
        data,
        title: title
            .into_iter()
            .find(|title| !title.is_empty())
            .unwrap_or_default(),
        text: String::new(),
        content: Json::Null,
    })
}

/// The type that a block says beside its data; empty if it says none.
fn mime_type_of(json: &Json) -> String {
    let inner = json.as_object().into_iter().flatten();
    let mut inner = inner.map(|(_, value)| value);
    let said = inner.find_map(|value| {
        let keys = ["media_type", "mimeType", "mime_type", "format"];
        keys.iter().find_map(|key| value[*key].as_str())
    });
    match said {
        Some("wav") => "audio/wav".to_owned(),
        Some("mp3") => "audio/mpeg".to_owned(),
        said => said.unwrap_or_default().to_owned(),
    }
}

/// A message of the user's, as a client sends it.
pub fn user_message(endpoint: Endpoint, texts: &[&str], blocks: &[RequestedBlock]) -> Json {
    if endpoint != Endpoint::Gemini
        && blocks.is_empty()
        && let [text] = texts
    {
        return json!({"role": "user", "content": text});
    }
    let texts = texts.iter().map(|text| match endpoint {
        Endpoint::Gemini => json!({"text": text}),
        Endpoint::Responses => json!({"type": "input_text", "text": text}),
        Endpoint::Chat | Endpoint::Messages => json!({"type": "text", "text": text}),
    });
    let blocks = blocks.iter().map(|block| written(endpoint, block));
    let content: Vec<Json> = texts.chain(blocks).collect();
    match endpoint {
        Endpoint::Gemini => json!({"role": "user", "parts": content}),
        _ => json!({"role": "user", "content": content}),
    }
}

/// A block in the words of an API. What is sound, and has no place in one, is a document there.
fn written(endpoint: Endpoint, block: &RequestedBlock) -> Json {
    let data = &block.data;
    let mime_type = match block.kind {
        MediaKind::Image => "image/png",
        MediaKind::Audio => "audio/wav",
        MediaKind::File | MediaKind::Other => "text/plain",
    };
    let is_address = data.contains("://");
    let url = match is_address {
        true => data.clone(),
        false => format!("data:{mime_type};base64,{data}"),
    };
    let source = || match is_address {
        true => json!({"type": "url", "url": data}),
        false => json!({"type": "base64", "media_type": mime_type, "data": data}),
    };
    match (endpoint, block.kind) {
        (Endpoint::Chat, MediaKind::Image) => {
            json!({"type": "image_url", "image_url": {"url": url}})
        }
        (Endpoint::Chat | Endpoint::Responses, MediaKind::Audio) => {
            json!({"type": "input_audio", "input_audio": {"data": data, "format": "wav"}})
        }
        (Endpoint::Chat, _) if is_address => json!({"type": "file", "file": {"file_id": data}}),
        (Endpoint::Chat, _) => json!({"type": "file", "file": {"file_data": url}}),
        (Endpoint::Responses, MediaKind::Image) => json!({"type": "input_image", "image_url": url}),
        (Endpoint::Responses, _) if is_address => json!({"type": "input_file", "file_url": data}),
        (Endpoint::Responses, _) => json!({"type": "input_file", "file_data": url}),
        (Endpoint::Messages, MediaKind::Image) => json!({"type": "image", "source": source()}),
        (Endpoint::Messages, _) => json!({"type": "document", "source": source()}),
        (Endpoint::Gemini, _) if is_address => {
            json!({"fileData": {"mimeType": mime_type, "fileUri": data}})
        }
        (Endpoint::Gemini, _) => json!({"inlineData": {"mimeType": mime_type, "data": data}}),
    }
}
