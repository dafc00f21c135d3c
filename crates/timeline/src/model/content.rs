//! Content blocks: what user and agent say beside plain text.

use std::path::PathBuf;

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
#[derive(Debug, Clone)]
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
        match self {
            Self::Text(_) => "text",
            Self::Image(_) => "image",
            Self::Audio(_) => "audio",
            Self::Resource { .. } => "resource",
            Self::ResourceLink { .. } => "resource_link",
            Self::Diff { .. } => "diff",
            Self::Plan(_) => "plan",
        }
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    /// `content`.
    pub content: String,
    /// `priority`.
    pub priority: PlanPriority,
    /// `status`.
    pub status: PlanStatus,
}

/// `priority` of a plan's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPriority {
    /// `high`.
    High,
    /// `medium`.
    Medium,
    /// `low`.
    Low,
}

/// `status` of a plan's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStatus {
    /// `pending`.
    Pending,
    /// `in_progress`.
    InProgress,
    /// `completed`.
    Completed,
}

impl PlanStatus {
    /// The word for it in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}
