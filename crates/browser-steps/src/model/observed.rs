//! What was seen when a step ran.

use serde_json::{Map, json};

use cuecard_source::value::Json;

/// What was seen when a step ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// `url` after it.
    pub url: Option<String>,
    /// `title` after it.
    pub title: Option<String>,
    /// `settle`: `instant` if all that happened happened at once, `loaded` if the page that it opened was done when it was
    /// loaded, `quiet` if it took longer, or `bounded` if the page never became quiet. A replay waits accordingly.
    pub settle: Option<String>,
    /// `extractedContent`: the text that was read.
    pub extracted_content: Option<String>,
    /// `cut`: what the page's text lacks.
    pub cut: Option<String>,
    /// `dialogs` that opened.
    pub dialogs: Vec<ObservedDialog>,
    /// `downloads` that came.
    pub downloads: Vec<ObservedDownload>,
    /// `warnings`.
    pub warnings: Vec<String>,
}

/// A dialog that the page opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedDialog {
    /// `kind`: `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// `message`: what it said.
    pub message: String,
    /// `accepted`: whether it was answered with yes.
    pub accepted: bool,
    /// `defaultValue`: what a prompt suggests as the answer.
    pub default_value: Option<String>,
}

/// A file that the page gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedDownload {
    /// `name` that the page gave it.
    pub name: String,
    /// `size` in bytes.
    pub size: u64,
    /// `sha256` in hexadecimal.
    pub sha256: String,
}

impl Observed {
    /// As steps and traces keep it: keys in a fixed order, what is absent left out.
    pub fn to_json(&self) -> Map<String, Json> {
        let mut members = Map::new();
        for (key, text) in [
            ("url", &self.url),
            ("title", &self.title),
            ("settle", &self.settle),
            ("extractedContent", &self.extracted_content),
            ("cut", &self.cut),
        ] {
            if let Some(text) = text {
                members.insert(key.to_owned(), text.clone().into());
            }
        }
        let dialogs = self.dialogs.iter().map(|dialog| {
            let mut members = json!({"kind": dialog.kind, "message": dialog.message, "accepted": dialog.accepted});
            if let Some(text) = &dialog.default_value {
                members["defaultValue"] = text.as_str().into();
            }
            members
        });
        let downloads = self.downloads.iter().map(|download| {
            json!({"name": download.name, "size": download.size, "sha256": download.sha256})
        });
        let warnings = self.warnings.iter().map(|warning| json!(warning));
        for (key, items) in [
            ("dialogs", dialogs.collect::<Vec<Json>>()),
            ("downloads", downloads.collect()),
            ("warnings", warnings.collect()),
        ] {
            if !items.is_empty() {
                members.insert(key.to_owned(), items.into());
            }
        }
        members
    }
}
