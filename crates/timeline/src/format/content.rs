//! Content blocks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::agent::{check_plan, plan};
use super::fields;
use super::loader::{Alias, Loader, alias, merged};
use crate::model::{Block, BlockKind, IncludePurpose, Media, MediaSource};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, found};
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

const ALIASES: &[Alias] = &[
    alias("mime_type", "mimeType"),
    alias("old_text", "oldText"),
    alias("new_text", "newText"),
    alias("meta", "_meta"),
];

const KINDS: &[&str] = &[
    "text",
    "image",
    "audio",
    "resource",
    "resource_link",
    "diff",
    "plan",
];

/// A block, or text that stands for one.
pub(super) fn block(loader: &mut Loader<'_>, node: &Node, pointer: &str) -> Option<Block> {
    match &node.kind {
        NodeKind::String(text) => text_block(loader, text, node, pointer),
        NodeKind::Object(_) => rich(loader, node, pointer),
        _ => {
            let wanted = "a text or a content block";
            loader.reader.wrong_type(node, pointer, "content", wanted);
            None
        }
    }
}

/// Content: text, one block or a list of them, and whether it is plain text.
pub(super) fn blocks(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
) -> Option<(Vec<Block>, bool)> {
    let NodeKind::Array(items) = &node.kind else {
        let is_plain = node.as_str().is_some();
        if !is_plain && matches!(node.kind, NodeKind::Object(_)) {
            loader.legacy(
                codes::TIMELINE_FORM,
                node.span,
                pointer,
                "expected a list of content blocks, found a single block",
                "write a list of blocks: `- type: …`",
            );
        }
        return Some((vec![block(loader, node, pointer)?], is_plain));
    };
    if items.is_empty() {
        let message = "a list of content blocks is empty";
        loader.error(codes::TIMELINE_BLOCK_VALUE, node.span, pointer, message);
        return None;
    }
    let n_items = items.len();
    let blocks: Vec<Block> = loader
        .items(items, pointer)
        .into_iter()
        .filter_map(|(item, pointer)| block(loader, item, &pointer))
        .collect();
    (blocks.len() == n_items).then_some((blocks, false))
}

fn text_block(loader: &mut Loader<'_>, text: &str, node: &Node, pointer: &str) -> Option<Block> {
    if text.trim().is_empty() {
        let message = "a text block is empty";
        loader.error(codes::TIMELINE_BLOCK_VALUE, node.span, pointer, message);
        return None;
    }
    Some(Block {
        kind: BlockKind::Text(text.to_owned()),
        annotations: Json::Null,
        meta: Json::Null,
        compares_kind: false,
        span: node.span,
    })
}

fn rich(loader: &mut Loader<'_>, node: &Node, pointer: &str) -> Option<Block> {
    let node = loader.mapping(node, pointer, "a content block", fields::BLOCK, ALIASES)?;
    let object = Object {
        node: &node,
        pointer,
    };
    let annotations = annotations(loader, object);
    let meta = loader.meta(object);
    let words = [("data", false), ("kind", true)];
    let compares_kind = loader.reader.one_of(object, "compare", "`compare`", &words);
    let example = "type: text";
    loader
        .reader
        .required(object, "type", "a content block", example)?;
    let (word, word_node) = loader.reader.text(object, "type", "`type`")?;
    let kind = match word {
        "text" => {
            let example = "text: \"…\"";
            let text = loader
                .reader
                .required(object, "text", "a text block", example)?;
            let at = object.child_pointer("text");
            let text = loader.reader.text_of(text, &at, "`text`")?;
            if text.trim().is_empty() {
                let message = "a text block is empty";
                loader.error(codes::TIMELINE_BLOCK_VALUE, node.span, &at, message);
                return None;
            }
            BlockKind::Text(text.to_owned())
        }
        "image" => BlockKind::Image(media(loader, object, "an image", IMAGES)?),
        "audio" => BlockKind::Audio(media(loader, object, "an audio block", AUDIO)?),
        "resource" => resource(loader, object)?,
        "resource_link" => link(loader, object)?,
        "resourceLink" => {
            let at = object.child_pointer("type");
            let code = codes::TIMELINE_KEY_ALIAS;
            loader.rename(code, word_node.span, &at, word, "resource_link");
            link(loader, object)?
        }
        "diff" => diff(loader, object)?,
        "plan" => {
            check_plan(&mut loader.reader, object, "a plan block");
            let entries = loader.reader.get(object, "entries")?;
            let at = object.child_pointer("entries");
            let entries = plan(&mut loader.reader, entries, &at)?;
            BlockKind::Plan(entries)
        }
        _ => {
            let at = object.child_pointer("type");
            let listed: Vec<String> = KINDS.iter().map(|kind| format!("`{kind}`")).collect();
            let message = format!(
                "a content block is {}, not `{}`",
                cuecard_source::reader::either(&listed),
                cut(word, 40)
            );
            let label = did_you_mean(word, KINDS.iter().copied());
            loader
                .error(codes::TIMELINE_SHAPE, word_node.span, &at, message)
                .label = label.map(|kind| format!("did you mean `{kind}`?"));
            return None;
        }
    };
    Some(Block {
        kind,
        annotations,
        meta,
        compares_kind: compares_kind.unwrap_or(false),
        span: node.span,
    })
}

/// `annotations`: one mapping, or a list of them, merged in order.
fn annotations(loader: &mut Loader<'_>, object: Object<'_>) -> Json {
    let Some(node) = loader.reader.get(object, "annotations") else {
        return Json::Null;
    };
    let pointer = object.child_pointer("annotations");
    let items = match &node.kind {
        NodeKind::Array(items) => {
            loader.legacy(
                codes::TIMELINE_FORM,
                node.span,
                &pointer,
                "a list of annotations is read as one mapping",
                "write one mapping: `annotations: {priority: 0.5}`",
            );
            loader.items(items, &pointer)
        }
        _ => vec![(node, pointer.clone())],
    };
    let mut all = Json::Null;
    for (item, pointer) in items {
        let what = "`annotations`";
        let Some(mapping) = loader.mapping(item, &pointer, what, fields::ANNOTATIONS, &[]) else {
            continue;
        };
        if let Some(priority) = mapping.get("priority").filter(|node| !node.is_null()) {
            let is_valid = priority
                .as_f64()
                .is_some_and(|number| (0.0..=1.0).contains(&number));
            if !is_valid {
                let message = format!(
                    "`priority` of annotations must be a number between 0 and 1, not {}",
                    found(priority)
                );
                let at = format!("{pointer}/priority");
                loader.error(codes::TIMELINE_PRIORITY, priority.span, &at, message);
            }
        }
        all = merged(all, mapping.to_value());
    }
    if node.as_array().is_some() {
        super::convert::value(loader, node, &all);
    }
    all
}

fn media(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    whose: &str,
    types: &'static [&'static str],
) -> Option<Media> {
    let example = format!("mimeType: {}", types[0]);
    let mime = loader.required(object, "mimeType", whose, &example);
    let mime = mime.filter(|mime| {
        let is_known = types.contains(&mime.as_str());
        if !is_known {
            let span = object
                .get("mimeType")
                .map_or(object.node.span, |node| node.span);
            let message = format!(
                "`{}` is not a supported media type of {whose}",
                cut(mime, 40)
            );
            let label = did_you_mean(mime, types.iter().copied());
            let at = object.child_pointer("mimeType");
            let diagnostic = loader.error(codes::TIMELINE_BLOCK_VALUE, span, &at, message);
            diagnostic.label = label.map(|known| format!("did you mean `{known}`?"));
            diagnostic.help = Some(format!("supported: {}", types.join(", ")));
        }
        is_known
    });
    let path = loader.reader.get(object, "path").is_some();
    let source = match (path, loader.reader.get(object, "data")) {
        (true, _) => {
            let node = object.get("path")?;
            let at = object.child_pointer("path");
            let text = loader.reader.text_of(node, &at, "`path`")?;
            let purpose = IncludePurpose::Media(mime.clone().unwrap_or_default());
            MediaSource::File(loader.include(text, node.span, &at, purpose)?)
        }
        (false, Some(node)) => {
            let at = object.child_pointer("data");
            let text = loader.reader.text_of(node, &at, "`data`")?;
            let mime = mime.as_deref()?;
            if let Some(problem) = problem_of_data(text, mime) {
                loader.error(codes::TIMELINE_MEDIA, node.span, &at, problem);
                return None;
            }
            MediaSource::Data(text.to_owned())
        }
        (false, None) => {
            let message = format!("{whose} has neither `path` nor `data`");
            let at = object.pointer.to_owned();
            loader
                .error(codes::TIMELINE_MEDIA, object.node.span, &at, message)
                .help = Some("add a file next to the timeline: `path: images/one.png`".to_owned());
            return None;
        }
    };
    Some(Media {
        mime_type: mime?,
        source,
        uri: loader.text(object, "uri"),
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

fn resource(loader: &mut Loader<'_>, object: Object<'_>) -> Option<BlockKind> {
    let example = "resource: {uri: …, mimeType: …, text: …}";
    let node = loader
        .reader
        .required(object, "resource", "a resource block", example)?;
    let pointer = object.child_pointer("resource");
    let node = loader.mapping(node, &pointer, "`resource`", fields::RESOURCE, ALIASES)?;
    let inner = Object {
        node: &node,
        pointer: &pointer,
    };
    let uri = loader.required(inner, "uri", "a resource", "uri: file:///…");
    let text = loader.text(inner, "text");
    let blob = loader.text(inner, "blob");
    let mime_type = loader
        .text(inner, "mimeType")
        .filter(|mime| !mime.is_empty());
    let problem = match (&text, &blob) {
        (None, None) => Some("a resource has neither `text` nor `blob`"),
        (Some(_), Some(_)) => Some("a resource has both `text` and `blob`"),
        _ => None,
    };
    if let Some(problem) = problem {
        loader.error(codes::TIMELINE_RESOURCE, node.span, &pointer, problem);
        return None;
    }
    if let (Some(blob), Some(at)) = (&blob, node.get("blob"))
        && STANDARD.decode(blob).is_err()
    {
        let message = "`blob` is not valid padded base64";
        let pointer = inner.child_pointer("blob");
        loader.error(codes::TIMELINE_MEDIA, at.span, &pointer, message);
        return None;
    }
    Some(BlockKind::Resource {
        uri: uri?,
        mime_type,
        text,
        blob,
    })
}

fn link(loader: &mut Loader<'_>, object: Object<'_>) -> Option<BlockKind> {
    let uri = loader.text(object, "uri").filter(|uri| !uri.is_empty());
    let name = loader.text(object, "name").filter(|name| !name.is_empty());
    let mime_type = loader.text(object, "mimeType");
    let title = loader.text(object, "title");
    let description = loader.text(object, "description");
    let size = loader.count(object, "size");
    let problem = match (&uri, &name) {
        (None, _) => Some("a link to a resource has no `uri`"),
        (_, None) => Some("a link to a resource has no `name`"),
        _ => None,
    };
    if let Some(problem) = problem {
        let pointer = object.pointer.to_owned();
        loader.error(
            codes::TIMELINE_RESOURCE,
            object.node.span,
            &pointer,
            problem,
        );
        return None;
    }
    Some(BlockKind::ResourceLink {
        uri: uri?,
        name: name?,
        mime_type,
        title,
        description,
        size,
    })
}

fn diff(loader: &mut Loader<'_>, object: Object<'_>) -> Option<BlockKind> {
    let path = loader.required(object, "path", "a diff", "path: /…");
    let old_text = loader.text(object, "oldText");
    let new_text = loader.text(object, "newText");
    if let (Some(text), Some(node)) = (&path, object.get("path"))
        && !is_absolute(text)
    {
        let at = object.child_pointer("path");
        let message = format!(
            "the path of a diff must be absolute, not `{}`",
            cut(text, 60)
        );
        loader.error(codes::TIMELINE_DIFF, node.span, &at, message);
        return None;
    }
    if loader.reader.get(object, "newText").is_none() {
        let pointer = object.pointer.to_owned();
        let message = "a diff has no `newText`";
        loader
            .error(codes::TIMELINE_DIFF, object.node.span, &pointer, message)
            .help = Some("add newText: \"\" if the file is emptied".to_owned());
        return None;
    }
    Some(BlockKind::Diff {
        path: path?,
        old_text,
        new_text: new_text?,
    })
}

/// Whether a path is absolute, on any system.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes();
    path.starts_with('/')
        || path.starts_with("\\\\")
        || matches!(drive, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}
