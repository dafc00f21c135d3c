//! The checks of a timeline's `assert`.

use regex::Regex;

use super::request::RequestCheck;
use cuecard_source::Span;
use cuecard_source::value::Json;

/// A check with its place.
#[derive(Debug, Clone)]
pub struct LocatedCheck {
    /// What must hold.
    pub check: TimelineCheck,
    /// Its key path: `fs.exists[0]`.
    pub key: String,
    /// Where it stands.
    pub span: Span,
}

/// What must hold at a point of the run. Paths are relative to the workspace.
#[derive(Debug, Clone)]
pub enum TimelineCheck {
    /// `fs.exists`: a path or glob has a match.
    FileExists(String),
    /// `fs.notExists`: it has none.
    FileAbsent(String),
    /// `fs.contains`.
    FileContains {
        /// `path`.
        path: String,
        /// `substring` or `regex`.
        test: FileText,
    },
    /// `text.contains`: on the screen or above it.
    ScreenContains(String),
    /// `text.notContains`.
    ScreenOmits(String),
    /// `json.file`.
    JsonFile {
        /// `path`.
        path: String,
        /// `pointer`: RFC 6901.
        pointer: String,
        /// `equals`.
        equals: Json,
    },
    /// `git.branch`.
    GitBranch {
        /// `name`.
        name: String,
        /// `exists`.
        exists: bool,
    },
    /// `git.remoteExists`: a remote's name.
    GitRemoteExists(String),
    /// The same as a boolean beside `branch`.
    GitRemoteBranch {
        /// The branch.
        name: String,
        /// Whether a remote has it.
        exists: bool,
    },
    /// `git.commitsAheadOf` and `commitCount`.
    GitCommitsAhead {
        /// `commitsAheadOf`: the base, by default `main`.
        base: String,
        /// `branch`, by default `HEAD`.
        branch: String,
        /// `commitCount`; without it, at least one.
        count: Option<u64>,
    },
    /// `git.commit` or `git.headMessageContains`.
    GitCommit {
        /// `ref` or `branch`, by default `HEAD`.
        reference: String,
        /// `messageContains` or `headMessageContains`.
        message_contains: String,
    },
    /// `acp.session`: the n-th entry is the n-th finished prompt since the last such assert.
    AcpSession {
        /// Which of the finished prompts, from 0.
        prompt_idx: usize,
        /// The fields that must be equal.
        fields: Json,
    },
    /// `request`: of the request for the turn after it.
    Request(RequestCheck),
    /// `exitCode` of the last `userCommand`.
    ExitCode(i64),
    /// `screen`: a screenshot that was taken above.
    Screenshot {
        /// `label`.
        label: String,
        /// `contains`.
        contains: Vec<String>,
    },
}

/// What a text file must have in it.
#[derive(Debug, Clone)]
pub enum FileText {
    /// `substring`.
    Substring(String),
    /// `regex`.
    Regex(Regex),
}
