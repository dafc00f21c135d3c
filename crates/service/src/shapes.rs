//! What clients send and get, as JSON.

use cuecard_source::value::Json;
use cuecard_timeline::script::RequestedBlock;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A task: one session for each agent and count.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub(crate) struct NewTask {
    /// A text, or a list of content blocks.
    #[schema(schema_with = prompt_schema)]
    pub(crate) prompt: Json,
    /// Where the agent works.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub(crate) repo: Json,
    /// What it runs in.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub(crate) runtime: Json,
    /// Which agents work on it; one if there is none.
    #[serde(default, deserialize_with = "objects")]
    #[schema(max_items = 10)]
    pub(crate) agents: Vec<AgentChoice>,
    /// What becomes of the result.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub(crate) delivery: Json,
    /// Any names and values.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub(crate) labels: Json,
    /// The project that it belongs to.
    #[serde(default, rename = "projectId", alias = "project_id")]
    pub(crate) project_id: Option<String>,
}

/// An agent of a task.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub(crate) struct AgentChoice {
    /// Its name.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// How many sessions it gets, 1 by default.
    #[serde(default = "one", deserialize_with = "whole")]
    #[schema(minimum = 1, maximum = 10)]
    pub(crate) count: u32,
}

/// Objects only: a list would be read as their fields in order.
fn objects<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Vec<AgentChoice>, D::Error> {
    let agents = Vec::<serde_json::Map<String, Json>>::deserialize(reader)?;
    let read = agents
        .into_iter()
        .map(|agent| serde_json::from_value(Json::Object(agent)));
    read.collect::<Result<_, _>>()
        .map_err(serde::de::Error::custom)
}

fn one() -> u32 {
    1
}

/// A whole number, which in JSON may be written as 1.0.
fn whole<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<u32, D::Error> {
    let number = f64::deserialize(reader)?;
    match number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
        true => Ok(number as u32),
        false => Err(serde::de::Error::custom("a count is a whole number")),
    }
}

/// A task that was accepted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AcceptedTask {
    /// Its sessions.
    pub(crate) session_ids: Vec<String>,
    /// `queued`.
    pub(crate) status: String,
    pub(crate) links: Links,
}

/// Where the first session of a task is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Links {
    #[serde(rename = "self")]
    pub(crate) own: String,
    pub(crate) events: String,
    pub(crate) logs: String,
}

/// A session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionDocument {
    pub(crate) id: String,
    /// `queued`, `provisioning`, `running`, `pausing`, `paused`, `resuming`, `stopping`, `stopped`, `completed`, `failed` or
    /// `cancelled`.
    pub(crate) status: String,
    /// Whether it waits for a prompt.
    #[serde(rename = "waitingForPrompt")]
    pub(crate) is_waiting: bool,
    /// Whether it shows a run that goes on elsewhere: it can't be steered.
    #[serde(rename = "readOnly")]
    pub(crate) is_shown: bool,
    pub(crate) prompt: String,
    #[schema(value_type = Option<Value>)]
    pub(crate) repo: Json,
    #[schema(value_type = Option<Value>)]
    pub(crate) runtime: Json,
    #[schema(value_type = Option<Value>)]
    pub(crate) agent: Json,
    #[schema(value_type = Option<Value>)]
    pub(crate) delivery: Json,
    #[schema(value_type = Option<Value>)]
    pub(crate) labels: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project_id: Option<String>,
    /// RFC 3339.
    pub(crate) created_at: String,
    /// RFC 3339.
    pub(crate) updated_at: String,
    /// RFC 3339; present once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_at: Option<String>,
    /// Present once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<Changes>,
    /// The last three events.
    #[serde(rename = "recent_events")]
    #[schema(value_type = Vec<Value>)]
    pub(crate) recent_events: Vec<Json>,
}

/// What a session changed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Changes {
    pub(crate) files_changed: u64,
    pub(crate) lines_added: u64,
    pub(crate) lines_removed: u64,
}

/// A page of a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    /// The number of the next page; null on the last one.
    pub(crate) next_page: Option<u64>,
    /// How many there are on all pages.
    pub(crate) total: u64,
}

/// Anything: what the timelines say.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(value_type = Value)]
pub(crate) struct Entry(pub(crate) Json);

/// An event of a session. Which fields it has follows from its type; a stream has it as the data of an event `session`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SessionEvent {
    /// `status`, `log`, `message`, `thought`, `tool_use`, `tool_result`, `file_edit`, `diff` or `error`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// RFC 3339.
    pub(crate) ts: String,
    /// Its number in the session, from 1; in a stream, the id of the event.
    pub(crate) id: u64,
    /// The rest: `status`; `level`, `message`, `stream`; `role`, `content`, `response_id`; `thought`; `tool_name`, `tool_args`,
    /// `tool_execution_id`; `tool_output`, `exit_code`; `file_path`, `lines_added`, `lines_removed`, `description`;
    /// `path`, `oldText`, `newText`, `truncated`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub(crate) fields: serde_json::Map<String, Json>,
}

impl SessionEvent {
    pub(crate) fn of(data: &Json, seq: u64) -> Self {
        let mut fields = data.as_object().cloned().unwrap_or_default();
        let mut text = |key: &str| match fields.shift_remove(key) {
            Some(Json::String(text)) => text,
            _ => String::new(),
        };
        Self {
            kind: text("type"),
            ts: text("ts"),
            id: seq,
            fields,
        }
    }
}

/// Which page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// From 1.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub(crate) page: Option<u64>,
    /// 1 to 1000, by default 100.
    #[serde(alias = "per_page")]
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<u64>,
}

/// Which sessions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionFilter {
    /// Only those with one of these statuses, separated by commas.
    #[param(
        pattern = r"^(queued|provisioning|running|pausing|paused|resuming|stopping|stopped|completed|failed|cancelled)(,(queued|provisioning|running|pausing|paused|resuming|stopping|stopped|completed|failed|cancelled))*$"
    )]
    pub(crate) status: Option<String>,
    /// Only those of this project.
    #[serde(alias = "project_id")]
    pub(crate) project_id: Option<String>,
    /// From 1.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub(crate) page: Option<u64>,
    /// 1 to 1000, by default 100.
    #[serde(alias = "per_page")]
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<u64>,
}

/// Which events. With any of these, events come as one JSON document.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct EventFilter {
    /// Only these types, separated by commas.
    #[param(
        pattern = r"^(status|log|message|thought|tool_use|tool_result|file_edit|diff|error)(,(status|log|message|thought|tool_use|tool_result|file_edit|diff|error))*$"
    )]
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    /// Only logs of this level.
    #[param(pattern = "^(debug|info|warn|warning|error)$")]
    pub(crate) level: Option<String>,
    /// Only those at or after this time, in RFC 3339.
    #[param(format = DateTime)]
    pub(crate) since: Option<String>,
    /// Only those before this time, in RFC 3339.
    #[param(format = DateTime)]
    pub(crate) until: Option<String>,
    /// `asc` (default) or `desc`.
    #[param(pattern = "^(asc|desc)$")]
    pub(crate) sort: Option<String>,
    /// From 1.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub(crate) page: Option<u64>,
    /// 1 to 1000, by default 100.
    #[serde(alias = "per_page")]
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<u64>,
}

impl EventFilter {
    pub(crate) fn is_given(&self) -> bool {
        [
            &self.kind,
            &self.level,
            &self.since,
            &self.until,
            &self.sort,
        ]
        .iter()
        .any(|one| one.is_some())
            || self.page.is_some()
            || self.per_page.is_some()
    }
}

/// How many logs.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogFilter {
    /// Only the last so many.
    #[param(minimum = 0)]
    pub(crate) tail: Option<i64>,
}

/// A server-sent event of a stream.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what a stream has")]
pub(crate) struct StreamedEvent {
    /// The number of the event in the session.
    id: Option<String>,
    /// `session` or `pty`.
    event: String,
    /// JSON: of a session its event without `id`.
    data: String,
}

/// A prompt for a running session: either `prompt` or `message`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct NewPrompt {
    /// A text, or a list of content blocks.
    #[serde(default)]
    pub(crate) prompt: Json,
    /// A text.
    #[serde(default)]
    pub(crate) message: Json,
}

impl NewPrompt {
    /// What it says; nothing unless one of the two says something.
    pub(crate) fn text(&self) -> Option<String> {
        let message = self.message.as_str().filter(|text| !text.trim().is_empty());
        match (prompt_text(&self.prompt), message) {
            (Some(text), None) => Some(text),
            (None, Some(text)) => Some(text.to_owned()),
            _ => None,
        }
    }
}

impl NewPrompt {
    /// Its blocks that are no text, in order.
    pub(crate) fn blocks(&self) -> Vec<RequestedBlock> {
        let blocks = self.prompt.as_array().into_iter().flatten();
        blocks.filter_map(RequestedBlock::of_content).collect()
    }

    /// Whether it has a text.
    pub(crate) fn has_text(&self) -> bool {
        let blocks = self.prompt.as_array();
        blocks.is_none_or(|blocks| blocks.iter().any(|block| block["type"] == "text"))
    }

    /// Its text for comparing, as that of a scripted input: its text blocks, else the text of its first resource.
    pub(crate) fn words(&self) -> String {
        let Json::Array(blocks) = &self.prompt else {
            return self.text().unwrap_or_default();
        };
        let texts: Vec<&str> = blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect();
        let resource = || {
            blocks
                .iter()
                .find_map(|block| block["resource"]["text"].as_str())
        };
        match texts.is_empty() {
            true => resource().unwrap_or_default().to_owned(),
            false => texts.join("\n"),
        }
    }
}

impl utoipa::PartialSchema for NewPrompt {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
        let text = ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .pattern(Some(r"\S"));
        let of_blocks = ObjectBuilder::new()
            .property("prompt", prompt_schema())
            .required("prompt");
        let of_text = ObjectBuilder::new()
            .property("message", text)
            .required("message");
        let either: utoipa::openapi::schema::Schema =
            OneOfBuilder::new().item(of_blocks).item(of_text).into();
        either.into()
    }
}

impl ToSchema for NewPrompt {}

/// A prompt that was accepted.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcceptedPrompt {
    pub(crate) session_id: String,
    pub(crate) accepted: bool,
    /// RFC 3339.
    pub(crate) ts: String,
}

/// Where the parts of a session are.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SessionInfo {
    pub(crate) id: String,
    pub(crate) status: String,
    #[schema(value_type = Object)]
    pub(crate) fleet: Json,
    #[schema(value_type = Object)]
    pub(crate) endpoints: Json,
}

/// A draft: what the client wrote, with its id.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct Draft {
    #[serde(default)]
    pub(crate) id: String,
    /// Everything else.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub(crate) fields: serde_json::Map<String, Json>,
}

/// Why a request was refused (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ProblemDocument {
    /// `about:blank`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The status in words.
    pub(crate) title: String,
    pub(crate) status: u16,
    /// What is wrong, and what to do.
    pub(crate) detail: String,
    /// More of it, one a line.
    pub(crate) errors: Vec<String>,
}

/// A text that is not blank, or a list of blocks with a type, of which those of type `text` have such a text.
fn prompt_schema() -> utoipa::openapi::schema::Schema {
    use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Type};
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let said = || text().min_length(Some(1)).pattern(Some(r"\S"));
    let block = |kinds: &[&str]| {
        ObjectBuilder::new()
            .property("type", text().enum_values(Some(kinds.to_vec())))
            .required("type")
    };
    let block = OneOfBuilder::new()
        .item(block(&["text"]).property("text", said()).required("text"))
        .item(block(&["image", "audio", "resource", "resource_link"]));
    OneOfBuilder::new()
        .item(said())
        .item(ArrayBuilder::new().items(block).min_items(Some(1)))
        .into()
}

/// The text of a prompt: itself, or its text blocks joined by a newline.
pub(crate) fn prompt_text(prompt: &Json) -> Option<String> {
    match prompt {
        Json::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Json::Array(blocks) if !blocks.is_empty() => {
            let texts: Option<Vec<String>> = blocks
                .iter()
                .map(|block| match (block["type"].as_str()?, &block["text"]) {
                    ("text", text) => {
                        let text = text.as_str().filter(|text| !text.trim().is_empty());
                        text.map(str::to_owned)
                    }
                    (kind @ ("image" | "audio" | "resource" | "resource_link"), _) => {
                        Some(format!("[{kind}]"))
                    }
                    _ => None,
                })
                .collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}
