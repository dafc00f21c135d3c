//! Images, sound and files in prompts: whether those that the script has are among those that came.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuecard_source::matching::lack;
use cuecard_source::value::{Json, percent_decoded};
use serde_json::json;

use super::content_block::content_block;
use super::request::{MediaKind, RequestedBlock};
use super::rounds::{NormalTexts, UserSide};
use super::text::{normalise, without_line_end};
use crate::model::{Block, BlockKind, Media, MediaSource, UserInput};

/// A block of a prompt beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpectedBlock {
    /// What it is called in files: `image`, `resource_link`.
    name: &'static str,
    /// What it must be on the wire.
    kind: MediaKind,
    /// What it must hold: base64, a text or an address. None, if its kind is enough.
    data: Vec<String>,
    /// Normal texts of which one may come in its place: agents write resources into their prompts.
    texts: Vec<String>,
    /// The names that a document may have; none, if any will do.
    names: Vec<String>,
    /// The same as a content block, for clients that send these.
    content: Json,
}

/// The blocks of an input that are no text, and not its prompt.
pub(super) fn expected(input: &UserInput) -> Vec<ExpectedBlock> {
    let text = input.prompt_text();
    let is_prompt = |block: &&Block| match &block.kind {
        BlockKind::Resource { text: own, .. } => own.is_some() && *own == text,
        _ => false,
    };
    blocks(input.blocks.iter().filter(|block| !is_prompt(block)))
}

/// The blocks of an input that has no text but that of a resource: a request to a model has this as a document or as a text.
pub(super) fn expected_alone(input: &UserInput) -> Option<Vec<ExpectedBlock>> {
    let is_text = |block: &Block| matches!(block.kind, BlockKind::Text(_));
    let is_alone = input.prompt_text().is_some() && !input.blocks.iter().any(is_text);
    is_alone.then(|| blocks(input.blocks.iter()))
}

fn blocks<'b>(blocks: impl Iterator<Item = &'b Block>) -> Vec<ExpectedBlock> {
    let blocks = blocks.filter_map(|block| {
        let (kind, data, texts) = match &block.kind {
            BlockKind::Image(media) => (MediaKind::Image, held(media), Vec::new()),
            BlockKind::Audio(media) => (MediaKind::Audio, held(media), Vec::new()),
            BlockKind::Resource {
                uri,
                mime_type,
                text,
                blob,
            } => {
                let encoded = text.as_ref().map(|text| STANDARD.encode(text));
                let data = [encoded, blob.clone(), text.clone()];
                let data = data.into_iter().flatten().collect();
                let texts = text
                    .iter()
                    .chain([uri])
                    .map(|text| normalise(text))
                    .collect();
                (
                    MediaKind::of(mime_type.as_deref().unwrap_or_default()),
                    data,
                    texts,
                )
            }
            BlockKind::ResourceLink { uri, name, .. } => {
                let texts = [uri, name].map(|text| normalise(text)).to_vec();
                (MediaKind::File, vec![uri.clone()], texts)
            }
            BlockKind::Text(_) | BlockKind::Diff { .. } | BlockKind::Plan(_) => return None,
        };
        let name = block.kind.as_str();
        let (data, content) = match block.compares_kind {
            true => (Vec::new(), json!({"type": name})),
            false => (data, content_block(block)?),
        };
        Some(ExpectedBlock {
            name,
            kind,
            data,
            texts,
            names: names(&content),
            content: comparable(&content),
        })
    });
    blocks.collect()
}

/// What a client may call a block: its name, or that of its file.
fn names(content: &Json) -> Vec<String> {
    let text = |pointer: &&str| content.pointer(pointer)?.as_str();
    let uris = ["/uri", "/resource/uri"].into_iter();
    let files = uris.filter_map(|uri| text(&uri)?.rsplit('/').find(|part| !part.is_empty()));
    let names = ["/name", "/title"]
        .iter()
        .filter_map(text)
        .map(str::to_owned);
    let files = files.map(|name| percent_decoded(name).into_owned());
    names.chain(files).collect()
}

/// A content block for comparing: base64 in one spelling, a text without the line end at its end, and nothing that only
/// annotates.
pub(super) fn comparable(block: &Json) -> Json {
    let mut block = block.clone();
    if let Some(members) = block.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "annotations" | "_meta"));
    }
    for pointer in ["/data", "/resource/blob"] {
        if let Some(Json::String(data)) = block.pointer_mut(pointer) {
            *data = signs(data).collect();
        }
    }
    if let Some(Json::String(text)) = block.pointer_mut("/resource/text") {
        text.truncate(without_line_end(text).len());
    }
    block
}

/// What the data of a media block may be. A file that nobody has read can't be compared.
fn held(media: &Media) -> Vec<String> {
    match &media.source {
        MediaSource::File(_) => Vec::new(),
        MediaSource::Data(data) => [data].into_iter().chain(&media.uri).cloned().collect(),
    }
}

impl ExpectedBlock {
    /// The block as a client sends it.
    pub fn to_requested(&self) -> RequestedBlock {
        RequestedBlock {
            name: self.name.to_owned(),
            kind: self.kind,
            mime_type: String::new(),
            data: self.data.first().cloned().unwrap_or_default(),
            title: String::new(),
            text: String::new(),
            content: Json::Null,
        }
    }

    /// The blocks of an input beside its text, in order.
    pub fn beside_text(input: &UserInput) -> Vec<Self> {
        blocks(input.blocks.iter())
    }

    /// What differs in a block that a client sent; `None` if it is this one. A content block must have every field that
    /// the script has, but a resource need not say its type. The APIs of models have only the data and the kind of all.
    fn difference(&self, block: &RequestedBlock) -> Option<String> {
        if !block.content.is_null() {
            let mut wanted = self.content.clone();
            if block.content["resource"]["mimeType"].is_null()
                && let Some(Json::Object(resource)) = wanted.get_mut("resource")
            {
                resource.remove("mimeType");
            }
            return lack(&wanted, &block.content);
        }
        let is_any = self.name == "resource_link" || block.kind == MediaKind::File;
        let is_it = match &self.data[..] {
            [] => self.kind == block.kind,
            data => {
                (self.kind == block.kind || is_any)
                    && data.iter().any(|data| is_same_data(data, &block.data))
            }
        };
        (!is_it).then(|| "another one of its kind".to_owned())
    }

    /// More for a block that is compared by its data than for one of which only the kind is.
    pub(super) fn weight(&self) -> usize {
        1 + usize::from(!self.data.is_empty())
    }

    /// The other name that a client gave this block, in words.
    fn other_name(&self, block: &RequestedBlock) -> Option<String> {
        let title = &block.title;
        let is_other = !(title.is_empty() || self.names.is_empty() || self.names.contains(title));
        is_other.then(|| format!("the name `{}` of {}", block.title, self.describe()))
    }

    /// Its type for people.
    pub(super) fn describe(&self) -> String {
        format!("a block of type `{}`", self.name)
    }

    /// Whether it is written into a normal text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let mut own = self.texts.iter().filter(|text| !text.is_empty());
        own.any(|own| text.contains(own.as_str()))
    }
}

/// The first of the `expected` blocks that did not come, in their order; else what came and is none of them.
pub(super) fn compare<'e>(
    expected: impl Iterator<Item = &'e ExpectedBlock>,
    blocks: &[&RequestedBlock],
    texts: &NormalTexts,
) -> BlocksFound<'e> {
    let mut found = BlocksFound::default();
    let mut rest = blocks;
    for expected in expected {
        match rest
            .iter()
            .position(|block| expected.difference(block).is_none())
        {
            Some(at) => {
                let passed = rest[..at].first().map(|block| block.describe());
                let other_name = || expected.other_name(rest[at]);
                found.more = found.more.or(passed).or_else(other_name);
                rest = &rest[at + 1..];
            }
            None if texts.any(|text| expected.is_in(text)) => found.written.push(expected),
            None => {
                let mut of_kind = rest.iter().filter(|block| block.kind == expected.kind);
                let difference = of_kind.next().and_then(|block| expected.difference(block));
                found.missing = found.missing.or(Some((expected, difference)));
            }
        }
    }
    found.more = found.more.or(rest.first().map(|block| block.describe()));
    found
}

/// What differs between the blocks beside the text of a prompt and those that a client sent, in words; `None` if nothing
/// does.
pub fn block_difference(expected: &[ExpectedBlock], sent: &[RequestedBlock]) -> Option<String> {
    let sent: Vec<&RequestedBlock> = sent.iter().collect();
    let none = UserSide::default().normal_texts();
    let found = compare(expected.iter(), &sent, &none);
    match found.missing {
        Some((block, Some(difference))) => {
            Some(format!("{} differs: {difference}", block.describe()))
        }
        Some((block, None)) => Some(format!("{} is missing", block.describe())),
        None => found.more.map(|more| format!("{more} is too many")),
    }
}

/// What is different about the blocks of a prompt.
#[derive(Default)]
pub(super) struct BlocksFound<'e> {
    /// What is missing, and how another one of its kind differs that came.
    pub(super) missing: Option<(&'e ExpectedBlock, Option<String>)>,
    /// What came and the script doesn't have: a block, or another name of one.
    pub(super) more: Option<String>,
    /// Those that are written into a text.
    pub(super) written: Vec<&'e ExpectedBlock>,
}

/// Whether two texts in base64 are the same, however they are padded and broken into lines.
pub(super) fn is_same_data(one: &str, other: &str) -> bool {
    signs(one).eq(signs(other))
}

fn signs(text: &str) -> impl Iterator<Item = char> + '_ {
    let signs = text
        .chars()
        .filter(|sign| !sign.is_whitespace() && *sign != '=');
    signs.map(|sign| match sign {
        '-' => '+',
        '_' => '/',
        other => other,
    })
}
