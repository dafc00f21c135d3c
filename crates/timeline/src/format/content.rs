//! Content blocks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::agent::{check_plan, plan_entries};
use super::pieces::{filled_of, inner_path, meta};
use crate::model::{Block, BlockKind, Media, MediaSource, PlanEntry};
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, found};
use cuecard_source::value::{Json, cut};

pub(super) const IMAGES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/jpg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "image/bmp",
    "image/tiff",
];

pub(super) const AUDIO: &[&str] = &[
    "audio/wav",
    "audio/mp3",
    "audio/mpeg",
    "audio/mp4",
    "audio/ogg",
    "audio/flac",
    "audio/aac",
    "audio/webm",
];

/// A content block. Which of its keys it needs depends on its kind, so that the rest is read by hand.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "block")]
pub(crate) struct BlockForm {
    /// The kind of block.
    #[serde(rename = "type")]
    kind: Kind,
    /// The text.
    text: Option<String>,
    /// Media type.
    mime_type: Option<String>,
    /// A file next to the timeline, or of a diff.
    path: Option<String>,
    /// Bytes in base64.
    data: Option<String>,
    /// Where it is from.
    uri: Option<String>,
    /// The resource itself.
    resource: Option<Resource>,
    /// Name of a resource.
    name: Option<String>,
    /// Title of a resource.
    title: Option<String>,
    /// What a resource is.
    description: Option<String>,
    /// Size of a resource in bytes.
    size: Option<u64>,
    /// What a diff replaces.
    old_text: Option<String>,
    /// What a diff writes.
    new_text: Option<String>,
    /// What is planned.
    #[serde(default, deserialize_with = "plan_entries")]
    entries: Vec<PlanEntry>,
    /// What is compared of a block in a prompt: its data (default), or only its kind.
    compare: Option<Compare>,
    /// Who it is for, and how important it is.
    #[serde(default, deserialize_with = "annotations")]
    #[schemars(with = "AnnotationsForm", extend("type" = ["object", "array"]))]
    annotations: Json,
    /// For extensions.
    #[serde(rename = "_meta", default, deserialize_with = "meta")]
    #[schemars(with = "std::collections::BTreeMap<String, Json>")]
    meta: Json,
}

words! {
    /// The kind of a block.
    enum Kind {
        /// Plain text.
        Text = "text",
        /// An image.
        Image = "image",
        /// Sound.
        Audio = "audio",
        /// A resource that is embedded.
        Resource = "resource",
        /// A link to a resource.
        ResourceLink = "resource_link",
        /// A change of a file.
        Diff = "diff",
        /// A plan.
        Plan = "plan",
    }
}

words! {
    /// What is compared of a block.
    enum Compare {
        /// Its data.
        Data = "data",
        /// Only its kind.
        Kind = "kind",
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "resource")]
struct Resource {
    /// Where it is from.
    #[serde(deserialize_with = "super::pieces::filled")]
    uri: String,
    /// Media type.
    mime_type: Option<String>,
    /// Its text.
    text: Option<String>,
    /// Its bytes in base64.
    blob: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
#[allow(
    dead_code,
    reason = "it is a form to check by; the agent sends what is written"
)]
struct AnnotationsForm {
    /// Who it is for.
    audience: Option<Vec<Audience>>,
    /// How important it is.
    #[serde(deserialize_with = "priority")]
    #[schemars(range(min = 0, max = 1))]
    priority: Option<f64>,
    /// When it was changed.
    last_modified: Option<String>,
}

words! {
    /// Who something is for.
    enum Audience {
        /// The user.
        User = "user",
        /// The assistant.
        Assistant = "assistant",
    }
}

fn annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    by_hand(deserializer, Some(Json::Null), |reader, node, pointer| {
        reader.decode::<AnnotationsForm>(node, pointer, "`annotations`")?;
        Some(node.to_value())
    })
}

fn priority<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    by_hand(deserializer, Some(None), |reader, node, pointer| {
        let priority = node.as_f64().filter(|number| (0.0..=1.0).contains(number));
        if priority.is_none() {
            let found = found(node);
            let message =
                format!("`priority` of annotations must be a number between 0 and 1, not {found}");
            reader.error_at(codes::TIMELINE_PRIORITY, node.span, pointer, message);
        }
        priority.map(Some)
    })
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, block)
    }
}

/// A block, or text that stands for one.
fn block(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Block> {
    if let NodeKind::String(text) = &node.kind {
        return Some(Block {
            kind: BlockKind::Text(text_of(reader, text, node, pointer)?),
            annotations: Json::Null,
            meta: Json::Null,
            compares_kind: false,
            span: node.span,
        });
    }
    let form: BlockForm = reader.decode(node, pointer, "a content block")?;
    Some(Block {
        annotations: form.annotations.clone(),
        meta: form.meta.clone(),
        compares_kind: form.compare == Some(Compare::Kind),
        span: node.span,
        kind: kind(reader, Object { node, pointer }, form)?,
    })
}

/// A text that is not blank.
fn text_of(reader: &mut Reader<'_>, text: &str, node: &Node, pointer: &str) -> Option<String> {
    if text.trim().is_empty() {
        let message = "a text block is empty";
        reader.error_at(codes::TIMELINE_BLOCK_VALUE, node.span, pointer, message);
        return None;
    }
    Some(text.to_owned())
}

fn kind(reader: &mut Reader<'_>, block: Object<'_>, form: BlockForm) -> Option<BlockKind> {
    let (node, pointer) = (block.node, block.pointer);
    let wrong = |reader: &mut Reader<'_>, code, message: &str| {
        reader.error_at(code, node.span, pointer, message);
    };
    Some(match form.kind {
        Kind::Text => {
            reader.required(block, "text", "a text block", "text: \"…\"");
            let text = text_of(reader, &form.text?, node, &block.child_pointer("text"))?;
            BlockKind::Text(text)
        }
        Kind::Image => BlockKind::Image(media(reader, block, form, "an image", IMAGES)?),
        Kind::Audio => BlockKind::Audio(media(reader, block, form, "an audio block", AUDIO)?),
        Kind::Resource => {
            let example = "resource: {uri: …, mimeType: …, text: …}";
            reader.required(block, "resource", "a resource block", example);
            resource(reader, block, form.resource?)?
        }
        Kind::ResourceLink => {
            let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
            for (key, is_given) in [("uri", has(&form.uri)), ("name", has(&form.name))] {
                if !is_given {
                    let message = format!("a link to a resource has no `{key}`");
                    wrong(reader, codes::TIMELINE_RESOURCE, &message);
                    return None;
                }
            }
            BlockKind::ResourceLink {
                uri: form.uri?,
                name: form.name?,
                mime_type: form.mime_type,
                title: form.title,
                description: form.description,
                size: form.size,
            }
        }
        Kind::Diff => {
            let path = reader.required(block, "path", "a diff", "path: /…");
            let path = path.and_then(|path| filled_of(reader, path, &block.child_pointer("path")));
            if let (Some(text), Some(at)) =
                (&path, block.get("path").filter(|_| form.path.is_some()))
                && !is_absolute(text)
            {
                let text = cut(text, 60);
                let message = format!("the path of a diff must be absolute, not `{text}`");
                let pointer = block.child_pointer("path");
                reader.error_at(codes::TIMELINE_DIFF, at.span, &pointer, message);
                return None;
            }
            if reader.get(block, "newText").is_none() {
                let message = "a diff has no `newText`";
                let found = reader.error_at(codes::TIMELINE_DIFF, node.span, pointer, message);
                found.help = Some("add newText: \"\" if the file is emptied".to_owned());
            }
            BlockKind::Diff {
                path: path?,
                old_text: form.old_text,
                new_text: form.new_text?,
            }
        }
        Kind::Plan => {
            check_plan(reader, block, "a plan block");
            BlockKind::Plan(form.entries)
        }
    })
}

fn media(
    reader: &mut Reader<'_>,
    block: Object<'_>,
    form: BlockForm,
    whose: &str,
    types: &[&str],
) -> Option<Media> {
    let example = format!("mimeType: {}", types[0]);
    let mime = reader.required(block, "mimeType", whose, &example);
    let mime = mime.and_then(|node| {
        let mime = form
            .mime_type
            .filter(|mime| !types.contains(&mime.as_str()));
        if let Some(mime) = mime {
            let shown = cut(&mime, 40);
            let message = format!("`{shown}` is not a supported media type of {whose}");
            let at = block.child_pointer("mimeType");
            let found = reader.error_at(codes::TIMELINE_BLOCK_VALUE, node.span, &at, message);
            found.suggest(&mime, types.iter().copied());
            found.help = Some(format!("supported: {}", types.join(", ")));
        }
        node.as_str().filter(|mime| types.contains(mime))
    });
    let (path, data) = (reader.get(block, "path"), reader.get(block, "data"));
    let source = match (path, data) {
        (Some(node), _) => {
            let (text, at) = (form.path?, block.child_pointer("path"));
            let folder = "the timeline's directory";
            MediaSource::File(inner_path(reader, &text, (node.span, &at), folder)?)
        }
        (None, Some(node)) => {
            let data = form.data?;
            if let Some(problem) = problem_of_data(&data, mime?) {
                let at = block.child_pointer("data");
                reader.error_at(codes::TIMELINE_MEDIA, node.span, &at, problem);
                return None;
            }
            MediaSource::Data(data)
        }
        (None, None) => {
            let message = format!("{whose} has neither `path` nor `data`");
            let (span, pointer) = (block.node.span, block.pointer);
            let found = reader.error_at(codes::TIMELINE_MEDIA, span, pointer, message);
            found.help = Some("add a file next to the timeline: `path: images/one.png`".to_owned());
            return None;
        }
    };
    Some(Media {
        mime_type: mime?.to_owned(),
        source,
        uri: form.uri,
        span: path.map_or(block.node.span, |path| path.span),
    })
}

fn resource(reader: &mut Reader<'_>, block: Object<'_>, form: Resource) -> Option<BlockKind> {
    let (node, pointer) = (block.get("resource")?, block.child_pointer("resource"));
    let problem = match ["text", "blob"].map(|key| node.get(key).is_some_and(|it| !it.is_null())) {
        [false, false] => "a resource has neither `text` nor `blob`",
        [true, true] => "a resource has both `text` and `blob`",
        _ => "",
    };
    if !problem.is_empty() {
        reader.error_at(codes::TIMELINE_RESOURCE, node.span, &pointer, problem);
        return None;
    }
    if let (Some(blob), Some(at)) = (&form.blob, node.get("blob"))
        && STANDARD.decode(blob).is_err()
    {
        let message = "`blob` is not valid padded base64";
        reader.error_at(
            codes::TIMELINE_MEDIA,
            at.span,
            &format!("{pointer}/blob"),
            message,
        );
        return None;
    }
    Some(BlockKind::Resource {
        uri: form.uri,
        mime_type: form.mime_type.filter(|mime| !mime.is_empty()),
        text: form.text,
        blob: form.blob,
    })
}

/// Why `data` holds nothing of this media type, if it doesn't.
fn problem_of_data(data: &str, mime: &str) -> Option<String> {
    match STANDARD.decode(data) {
        Err(_) => Some("`data` is not valid padded base64".to_owned()),
        Ok(bytes) if !is_of_type(&bytes, mime) => Some(format!("`data` does not look like {mime}")),
        Ok(_) => None,
    }
}

/// Whether a block can hold this image.
pub(crate) fn is_image(mime: &str, data: &str) -> bool {
    IMAGES.contains(&mime) && problem_of_data(data, mime).is_none()
}

/// Whether bytes begin as those of a media type do.
pub(super) fn is_of_type(bytes: &[u8], mime: &str) -> bool {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let at = |offset: usize, magic: &[u8]| {
        bytes
            .get(offset..)
            .is_some_and(|rest| rest.starts_with(magic))
    };
    match mime {
        "image/png" => begins(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" | "image/jpg" => begins(b"\xff\xd8\xff"),
        "image/gif" => begins(b"GIF87a") || begins(b"GIF89a"),
        "image/webp" => begins(b"RIFF") && at(8, b"WEBP"),
        "image/bmp" => begins(b"BM"),
        "image/tiff" => begins(b"II*\0") || begins(b"MM\0*"),
        "image/svg+xml" => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
            let start = start.trim_start_matches('\u{feff}').trim_start();
            start.starts_with('<') && (start.contains("<svg") || start.starts_with("<?xml"))
        }
        "audio/wav" => begins(b"RIFF") && at(8, b"WAVE"),
        "audio/mp3" | "audio/mpeg" => {
            begins(b"ID3") || matches!(bytes, [0xff, second, ..] if second & 0xe0 == 0xe0)
        }
        "audio/mp4" => at(4, b"ftyp"),
        "audio/ogg" => begins(b"OggS"),
        "audio/flac" => begins(b"fLaC"),
        "audio/aac" => {
            begins(b"ADIF") || matches!(bytes, [0xff, second, ..] if second & 0xf6 == 0xf0)
        }
        "audio/webm" => begins(b"\x1a\x45\xdf\xa3"),
        _ => false,
    }
}

/// Whether a path is absolute, on any system.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes();
    path.starts_with('/')
        || path.starts_with("\\\\")
        || matches!(drive, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}
