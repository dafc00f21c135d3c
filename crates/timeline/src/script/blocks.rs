//! Images, sound and files in prompts: whether those that the script has are among those that came.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::request::{MediaKind, RequestedBlock};
use super::rounds::{NormalTexts, UserSide};
use super::text::normalise;
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
        Some(ExpectedBlock {
            name: block.kind.as_str(),
            kind,
            data: if block.compares_kind {
                Vec::new()
            } else {
                data
            },
            texts,
        })
    });
    blocks.collect()
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
        }
    }

    fn is(&self, block: &RequestedBlock) -> bool {
        if self.data.is_empty() {
            return self.kind == block.kind;
        }
        let is_any = self.name == "resource_link" || block.kind == MediaKind::File;
        let is_kind = self.kind == block.kind || is_any;
        is_kind && self.data.iter().any(|data| is_same_data(data, &block.data))
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

/// The first of the `expected` blocks that did not come, in their order; else a block that came and is none of them.
pub(super) fn compare<'e>(
    expected: impl Iterator<Item = &'e ExpectedBlock>,
    side: &UserSide<'_>,
    texts: &NormalTexts,
) -> BlocksFound<'e> {
    let mut found = BlocksFound::default();
    let mut from = 0;
    for expected in expected {
        let rest = side.blocks.get(from..).unwrap_or_default();
        match rest.iter().position(|block| expected.is(block)) {
            Some(at) => {
                let passed = &rest[..at];
                found.more = found
                    .more
                    .or(passed.first().map(|block| block.name.clone()));
                from += at + 1;
            }
            None if texts.any(|text| expected.is_in(text)) => found.written.push(expected),
            None => {
                let is_kind = rest.iter().any(|block| block.kind == expected.kind);
                found.missing = found.missing.or(Some((expected, is_kind)));
            }
        }
    }
    let rest = side.blocks.get(from..).unwrap_or_default();
    found.more = found.more.or(rest.first().map(|block| block.name.clone()));
    found
}

/// What is different about the blocks of a prompt.
#[derive(Default)]
pub(super) struct BlocksFound<'e> {
    /// What is missing, and whether another one of its kind came.
    pub(super) missing: Option<(&'e ExpectedBlock, bool)>,
    /// The type of a block that the script doesn't have.
    pub(super) more: Option<String>,
    /// Those that are written into a text.
    pub(super) written: Vec<&'e ExpectedBlock>,
}

/// Whether two texts in base64 are the same, however they are padded and broken into lines.
pub(super) fn is_same_data(one: &str, other: &str) -> bool {
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
    signs(one).eq(signs(other))
}
