//! Content blocks: what user and agent say beside plain text.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::format::filled;
use cuecard_source::Span;
use cuecard_source::value::Json;

/// One block of content.
#[derive(Debug, Clone)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// `annotations`, a list of them merged; null if there are none.
    pub annotations: Json,
    /// `_meta`; null if there is none.
    pub meta: Json,
    /// `compare: kind`: whether only its kind is compared, since the client encodes it anew.
    pub compares_kind: bool,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of blocks.
#[derive(Debug, Clone, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BlockKind {
    /// Plain text, never empty.
    Text(String),
    /// `image`.
    Image(Media),
    /// `audio`.
    Audio(Media),
    /// `resource`: one that is embedded.
    Resource {
        /// `uri`.
        uri: String,
        /// `mimeType`.
        mime_type: Option<String>,
        /// `text`, if it is text.
        text: Option<String>,
        /// `blob`, base64, if it is not.
        blob: Option<String>,
    },
    /// `resource_link`.
    ResourceLink {
        /// `uri`.
        uri: String,
        /// `name`.
        name: String,
        /// `mimeType`.
        mime_type: Option<String>,
        /// `title`.
        title: Option<String>,
        /// `description`.
        description: Option<String>,
        /// `size` in bytes.
        size: Option<u64>,
    },
    /// `diff`.
    Diff {
        /// `path`, absolute.
        path: String,
        /// `oldText`: absent for a new file.
        old_text: Option<String>,
        /// `newText`, which may be empty.
        new_text: String,
    },
    /// `plan`.
    Plan(Vec<PlanEntry>),
}

impl BlockKind {
    /// The word for it in files: `text`, `image`, ….
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

/// An image or a piece of audio.
#[derive(Debug, Clone)]
pub struct Media {
    /// `mimeType`.
    pub mime_type: String,
    /// Where its bytes are.
    pub source: MediaSource,
    /// `uri`, which is passed on as it is.
    pub uri: Option<String>,
    /// Where its file is named.
    pub span: Span,
}

/// Where the bytes of a [`Media`] are.
#[derive(Debug, Clone)]
pub enum MediaSource {
    /// `path`: a file, relative to the scenario's folder. It wins over `data`.
    File(PathBuf),
    /// `data`: valid base64.
    Data(String),
}

/// An entry of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "plan_entry")]
pub struct PlanEntry {
    /// What is to be done.
    #[serde(deserialize_with = "filled")]
    pub content: String,
    /// How important it is.
    pub priority: PlanPriority,
    /// How far it is.
    pub status: PlanStatus,
}

words! {
    /// How important an entry of a plan is.
    pub enum PlanPriority {
        /// Very.
        High = "high",
        /// Somewhat.
        Medium = "medium",
        /// Little.
        Low = "low",
    }
}

words! {
    /// How far an entry of a plan is.
    pub enum PlanStatus {
        /// Not begun.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
}
