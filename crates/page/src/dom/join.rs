//! Makes one capture of the texts that the walk returned.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::state::{Happened, HopKind, TabInfo};

/// What the walk returned for one document.
#[derive(Debug, Clone)]
pub struct CapturedDocument {
    /// Where it is; none for the top document.
    pub owner: Option<Owner>,
    /// The text, a document in JSON.
    pub json: String,
}

/// The element that a document is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The place of the document that holds the element, in the list of documents.
    pub document: usize,
    /// The way to it: xpaths from the root of that document through its open shadow hosts.
    pub path: Vec<String>,
    /// Whether it is a frame or a closed shadow root.
    pub kind: HopKind,
}

/// One capture of all documents, the top one first. The texts are taken as they are: a broken one makes the whole
/// capture unreadable, and reading says so.
pub fn join(
    documents: &[CapturedDocument],
    tabs: &[TabInfo],
    happened: &Happened,
    warnings: &[String],
) -> String {
    let owners: Vec<&Option<Owner>> = documents.iter().map(|document| &document.owner).collect();
    let head = json!({
        "version": super::wire::VERSION,
        "tabs": tabs,
        "happened": happened,
        "owners": owners,
        "warnings": warnings,
    })
    .to_string();
    let texts: Vec<&str> = documents
        .iter()
        .map(|document| document.json.as_str())
        .collect();
    let head = head.strip_suffix('}').unwrap_or(&head);
    format!("{head},\"documents\":[{}]}}", texts.join(","))
}
