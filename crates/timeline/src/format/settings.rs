//! What stands beside the timeline: terminal, workspace, program, services, expectations.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::pieces::{filled, invalid, name_of};
use crate::model::{
    ArtifactPattern, Repository, RepositoryMode, SeedFile, ServerSettings, SideCall,
    TimelineExpectations,
};
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader};
use cuecard_source::{Span, checked};

checked!(
    ArtifactPattern,
    Repository,
    SeedFile,
    ServerSettings,
    SideCall,
    TimelineExpectations,
);

impl Repository {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if self.mode == Some(RepositoryMode::Git) {
            let example = "url: https://…";
            reader.required(object, "url", "`repo` with `mode: git`", example);
            return;
        }
        for key in ["url", "rev"] {
            if let Some(node) = reader.get(object, key) {
                let message = format!("`{key}` requires `mode: git`");
                let at = object.child_pointer(key);
                reader.warning_at(codes::TIMELINE_UNKNOWN, node.span, &at, message);
            }
        }
    }
}

impl SeedFile {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
    }
}

/// `commit: true` or a message.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "commit", untagged)]
pub(crate) enum Commit {
    Boolean(bool),
    String(#[serde(deserialize_with = "filled")] String),
}

/// Reads the message of a commit.
pub(crate) fn commit<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(match Commit::deserialize(deserializer)? {
        Commit::Boolean(flag) => flag.then(|| "Initial commit".to_owned()),
        Commit::String(message) => Some(message),
    })
}

/// Text, or bytes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "contents", untagged)]
pub(crate) enum Contents {
    String(String),
    Object(Bytes),
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Bytes {
    /// Bytes in base64.
    #[serde(deserialize_with = "base64")]
    #[schemars(with = "String")]
    base64: Vec<u8>,
}

/// Reads the contents of a file.
pub(crate) fn contents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    Ok(match Contents::deserialize(deserializer)? {
        Contents::String(text) => text.into_bytes(),
        Contents::Object(bytes) => bytes.base64,
    })
}

fn base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    by_hand(deserializer, Some(Vec::new()), |reader, node, pointer| {
        let text = reader.text_of(node, pointer, &name_of(pointer))?;
        let compact: String = text.split_ascii_whitespace().collect();
        let bytes = STANDARD.decode(compact);
        if bytes.is_err() {
            invalid(reader, node.span, pointer, "not valid padded base64");
        }
        bytes.ok()
    })
}

impl ServerSettings {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.models.splice(0..0, self.model.take());
        let side = object.get("sideCalls").and_then(Node::as_array);
        self.has_no_side = side.is_some_and(<[_]>::is_empty);
    }
}

impl SideCall {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
    }
}

impl TimelineExpectations {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = Some(object.node.span);
    }
}

impl ArtifactPattern {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = node_span(object, "pattern");
        // It means nothing for the run.
        self.kind = None;
    }
}

/// The span of a key's value; of the object itself without that.
pub(super) fn node_span(object: Object<'_>, key: &str) -> Span {
    object.get(key).map_or(object.node.span, |node| node.span)
}
