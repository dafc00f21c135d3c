//! What was seen when a step ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was seen when a step ran.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Observed {
    /// The address after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `instant` if all that happened happened at once, `loaded` if the page that it opened was done when it was loaded,
    /// `quiet` if it took longer, or `bounded` if the page never became quiet. A replay waits accordingly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<String>,
    /// The text that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extracted_content: Option<String>,
    /// What the text of the page lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Whether its label was clicked in its place: it can't be seen, or something lies over it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_label: bool,
    /// Dialogs that opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// Files that came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// What deserves a look.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A dialog that the page opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// What it said.
    #[serde(default)]
    pub message: String,
    /// Whether it was answered with yes.
    #[serde(default)]
    pub accepted: bool,
    /// What a prompt suggests as the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
}

/// A file that the page gave; it is in the folder for downloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Download {
    /// The name that the page gave it.
    pub name: String,
    /// Its size in bytes.
    #[serde(default)]
    pub size: u64,
    /// Its SHA-256, in hexadecimal.
    #[serde(default)]
    pub sha256: String,
}
