//! What the demo tools take and answer. The schemas that `tools/list` shows are made from these types,
//! so their comments are what a stranger reads.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddNote {
    /// What the note is called, at most 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub(super) title: String,
    /// What the note says, up to 64 KiB.
    pub(super) text: String,
    /// Words to find the note by, at most 10.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteId {
    /// The number that `add_note` answered.
    #[schemars(range(min = 1))]
    pub(super) id: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListNotes {
    /// Only notes that carry this tag; all notes if it is empty.
    #[serde(default)]
    pub(super) tag: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchNotes {
    /// What to look for in titles, texts and tags; upper and lower case are the same.
    pub(super) query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirm {
    /// What to ask.
    pub(super) question: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Confirmed {
    /// What the user did: accept, decline or cancel.
    pub(super) action: String,
    /// Whether the form was sent with a yes.
    pub(super) sure: bool,
    /// What the form says about it.
    pub(super) reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NoteAdded {
    /// The note's number, from 1.
    pub(super) id: u64,
    pub(super) title: String,
    /// How many notes there are now.
    pub(super) count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WholeNote {
    pub(super) id: u64,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NoteHead {
    pub(super) id: u64,
    pub(super) title: String,
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NoteList {
    /// Oldest first.
    pub(super) notes: Vec<NoteHead>,
    /// How many are listed.
    pub(super) count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NoteDeleted {
    pub(super) id: u64,
    /// How many notes are left.
    pub(super) count: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Count {
    /// How far to move the counter; negative numbers go down.
    #[serde(default = "one")]
    pub(super) by: i64,
    /// Which counter.
    #[serde(default = "default_counter")]
    pub(super) name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reset {
    /// Which counter.
    #[serde(default = "default_counter")]
    pub(super) name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Counter {
    pub(super) name: String,
    /// Where the counter stands now.
    pub(super) value: i64,
}

fn one() -> i64 {
    1
}

fn default_counter() -> String {
    "default".to_owned()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    /// The text to work on.
    pub(super) text: String,
    /// `upper`, `lower`, `title` (Each Word), `reverse`, `words` (a list), `length` (a number of
    /// characters) or `slug` (words-as-in-a-file-name).
    pub(super) operation: Operation,
}

// The variants have no comments, so that the schema is a plain list of words.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Operation {
    Upper,
    Lower,
    Title,
    Reverse,
    Words,
    Length,
    Slug,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TextResult {
    /// A text, for `words` a list of texts, for `length` a number.
    pub(super) result: TextValue,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum TextValue {
    Text(String),
    Words(Vec<String>),
    Length(usize),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Echo {
    /// Comes back as it is.
    pub(super) message: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EchoJson {
    /// Any JSON value; comes back as JSON text.
    pub(super) value: Value,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fail {
    /// How many calls fail before one succeeds.
    #[schemars(range(max = 1000))]
    pub(super) times: u32,
    /// Calls with the same key are counted together.
    #[schemars(length(min = 1, max = 100))]
    pub(super) key: String,
    /// The text of the failure, instead of `not ready yet (attempt 1 of 2)`.
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Attempts {
    /// How many calls with this key there were, this one included.
    pub(super) attempts: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Slow {
    /// How long to take.
    #[schemars(range(min = 0, max = 60))]
    pub(super) seconds: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waited {
    /// The seconds asked for.
    pub(super) waited: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PictureMade {
    /// In pixels.
    pub(super) width: u32,
    /// In pixels.
    pub(super) height: u32,
    /// The size of the PNG file.
    pub(super) bytes: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}
