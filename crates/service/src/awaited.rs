//! Prompts that a session waits for.

use cuecard_source::value::Json;
use cuecard_timeline::model::{Block, BlockKind, Media, MediaSource, UserInput};
use cuecard_timeline::script::{ExpectedInput, normalise};

use super::shapes::NewPrompt;

/// A prompt of the script, as a client must send it.
#[derive(Debug)]
pub(crate) struct AwaitedPrompt {
    pub(crate) input: ExpectedInput,
    /// What stands beside its text, in order.
    blocks: Vec<Block>,
}

impl AwaitedPrompt {
    pub(crate) fn of(input: &UserInput) -> Self {
        let blocks = input.blocks.iter();
        let beside = blocks.filter(|block| !matches!(block.kind, BlockKind::Text(_)));
        Self {
            blocks: beside.cloned().collect(),
            input: ExpectedInput::of(input),
        }
    }

    /// Whether a prompt is this one: its text as texts are compared, its other blocks by their types and contents.
    ///
    /// # Errors
    /// It is another one; what differs in its blocks, for people, if the text is the same.
    pub(crate) fn check(&self, sent: &NewPrompt) -> Result<(), Option<String>> {
        match self.input.is_keys || self.input.normal == normalise(&sent.words()) {
            true => self.check_blocks(sent).map_err(Some),
            false => Err(None),
        }
    }

    /// Whether a prompt has these blocks beside its text.
    ///
    /// # Errors
    /// What differs, for people.
    pub(crate) fn check_blocks(&self, sent: &NewPrompt) -> Result<(), String> {
        if self.input.is_keys {
            return Ok(());
        }
        let (mut wanted, mut came) = (self.blocks.iter(), sent.blocks());
        loop {
            let why = match (wanted.next(), came.next()) {
                (None, None) => return Ok(()),
                (Some(wanted), Some(came)) if is(wanted, came) => continue,
                (Some(wanted), Some(_)) => {
                    format!(
                        "the block of type `{}` is another one",
                        wanted.kind.as_str()
                    )
                }
                (Some(wanted), None) => {
                    format!("a block of type `{}` is missing", wanted.kind.as_str())
                }
                (None, Some(came)) => format!("a block too many, of type {}", came["type"]),
            };
            return Err(why);
        }
    }
}

/// Whether a client sent this block.
fn is(wanted: &Block, came: &Json) -> bool {
    if came["type"] != wanted.kind.as_str() {
        return false;
    }
    let holds = |media: &Media| match &media.source {
        MediaSource::Data(data) => is_same_data(data, &came["data"]),
        // All files of prompts were read.
        MediaSource::File(_) => false,
    };
    wanted.compares_kind
        || match &wanted.kind {
            BlockKind::Image(media) | BlockKind::Audio(media) => holds(media),
            BlockKind::Resource {
                uri, text, blob, ..
            } => {
                let came = &came["resource"];
                came["uri"] == **uri
                    && text.as_ref().is_none_or(|text| {
                        came["text"].as_str().map(str::trim_end) == Some(text.trim_end())
                    })
                    && blob
                        .as_ref()
                        .is_none_or(|blob| is_same_data(blob, &came["blob"]))
            }
            BlockKind::ResourceLink { uri, .. } => came["uri"] == **uri,
            BlockKind::Text(_) | BlockKind::Diff { .. } | BlockKind::Plan(_) => true,
        }
}

/// Whether two texts in base64 are the same, however they are broken into lines and padded.
fn is_same_data(wanted: &str, came: &Json) -> bool {
    fn signs(text: &str) -> impl Iterator<Item = char> + '_ {
        let is_sign = |sign: &char| !sign.is_whitespace() && *sign != '=';
        text.chars().filter(is_sign)
    }
    came.as_str()
        .is_some_and(|came| signs(wanted).eq(signs(came)))
}
