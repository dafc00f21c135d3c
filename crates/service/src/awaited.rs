//! Prompts that a session waits for.

use cuecard_timeline::model::{BlockKind, UserInput};
use cuecard_timeline::script::{ExpectedBlock, ExpectedInput, block_difference, normalise};

use super::shapes::NewPrompt;

/// A prompt of the script, as a client must send it.
#[derive(Debug)]
pub(crate) struct AwaitedPrompt {
    pub(crate) input: ExpectedInput,
    has_text: bool,
    /// What stands beside its text, in order.
    blocks: Vec<ExpectedBlock>,
}

impl AwaitedPrompt {
    pub(crate) fn of(input: &UserInput) -> Self {
        let mut blocks = input.blocks.iter();
        Self {
            has_text: blocks.any(|block| matches!(block.kind, BlockKind::Text(_))),
            blocks: ExpectedBlock::beside_text(input),
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

    /// Whether a prompt has these blocks beside its text, and no text if the script has none.
    ///
    /// # Errors
    /// What differs, for people.
    pub(crate) fn check_blocks(&self, sent: &NewPrompt) -> Result<(), String> {
        if self.input.is_keys {
            return Ok(());
        }
        if sent.has_text() && !self.has_text {
            return Err("a text is too many".to_owned());
        }
        block_difference(&self.blocks, &sent.blocks()).map_or(Ok(()), Err)
    }
}
