//! Compares a cassette with the live server.

use std::collections::HashMap;
use std::time::Duration;

use cuecard_mcp::result::value_of;
use cuecard_mcp::{ContentBlock, ErrorKind, Notice, Session, ToolReply};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::read_exact;
use cuecard_source::matching::{Mismatch, Predicate};
use cuecard_source::value::{Json, Redactor, split_pointer};
use cuecard_tool_call::model::Parse;
use serde_json::{Map, json};
use serde_json_path::{JsonPath, NormalizedPath};

use super::compare::{Change, compare_tools};
use super::format::ServerLine;
use super::read::{Cassette, Record, line, redact};
use crate::marks::{MARK, plain};
use crate::{Call, RpcError, Server, Tool};

/// How a cassette is verified.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// The server, if there are several.
    pub server: Option<String>,
    /// Whether tools are called that don't say that they only read.
    pub writes: bool,
    /// Parts of results that do not count; `$` is the value that scenarios see.
    pub ignore: Vec<JsonPath>,
    /// How long a call may take.
    pub timeout: Duration,
    /// What must not be shown or written. As in a recording, what looks like a credential is a secret too.
    pub secrets: Redactor,
}

/// Why another result of a call says nothing.
const ASKED: &str = "the server asked for input, and the recording doesn't hold the answer";

/// What came of a verification.
#[derive(Debug)]
pub struct Verification {
    /// The protocol versions that were recorded, and the one that the server speaks now, if it is another.
    pub protocol: Option<(String, String)>,
    /// How the tools have changed.
    pub changes: Vec<Change>,
    /// Each record of the server: its line, its tool, and what came of it.
    pub calls: Vec<(usize, String, CallVerdict)>,
    /// The list of tools that the cassette has, if any.
    recorded_tools: Vec<Tool>,
    /// What the server lists now.
    tools: Vec<Tool>,
    /// What it answered now, as the records at these places would say it.
    answers: HashMap<u32, Map<String, Json>>,
    server: String,
    secrets: Redactor,
}

/// What came of calling a record again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallVerdict {
    /// The result means the same.
    Same,
    /// It means something else.
    Drifted(Vec<Mismatch>),
    /// The tool is gone, or there is no answer; this is why.
    Failed(String),
    /// The tool was not called, or can't be compared; this is why.
    NotVerified(&'static str),
}

impl CallVerdict {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Drifted(_) => "drifted",
            Self::Failed(_) => "failed",
            Self::NotVerified(_) => "not_verified",
        }
    }
}

/// Lists the tools of a live server, and calls again what the cassette holds, in its order.
///
/// # Errors
/// If the cassette has no such server, or the server doesn't list its tools.
pub async fn verify(
    cassette: &Cassette,
    session: &Session,
    options: &VerifyOptions,
) -> Result<Verification, Diagnostic> {
    let server = cassette.server(options.server.as_deref())?;
    let entries = session.tool_entries().await.map_err(|error| {
        let code = cuecard_source::diagnostic::codes::RUN_CALL_FAILED;
        Diagnostic::error(code, error.to_string())
    })?;
    let tools = entries
        .into_iter()
        .filter_map(|entry| serde_json::from_value(entry).ok());
    let tools: Vec<Tool> = tools.collect();
    let changes = match server.tools.is_empty() {
        // Nobody recorded the list.
        true => Vec::new(),
        false => compare_tools(&server.tools, &tools),
    };
    let mut verification = Verification {
        protocol: other_protocol(&server.introduction, &session.info().protocol_version),
        changes,
        calls: Vec::new(),
        recorded_tools: server.tools.clone(),
        tools,
        answers: HashMap::new(),
        server: server.name.clone(),
        secrets: options.secrets.clone(),
    };
    for record in cassette.records_of(&server.name) {
        let verdict = verification.call(record, session, options).await;
        let line = cassette.source.position(record.span.start).line;
        verification
            .calls
            .push((line, record.call.tool.clone(), verdict));
    }
    Ok(verification)
}

impl Verification {
    /// Whether there was nothing to compare: no record, and no list of tools.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.recorded_tools.is_empty()
    }

    /// How many records came out as `verdict` says.
    pub fn count(&self, verdict: &str) -> usize {
        self.calls
            .iter()
            .filter(|(_, _, found)| found.as_str() == verdict)
            .count()
    }

    async fn call(
        &mut self,
        record: &Record,
        session: &Session,
        options: &VerifyOptions,
    ) -> CallVerdict {
        let name = record.call.tool.as_str();
        let find = |tools: &[Tool]| tools.iter().find(|tool| tool.name == name).cloned();
        let tool = find(&self.tools);
        let was_there = self.recorded_tools.is_empty() || find(&self.recorded_tools).is_some();
        let only_reads = tool.as_ref().is_some_and(|tool| {
            tool.description["annotations"]["readOnlyHint"] == Json::Bool(true)
        });
        if tool.is_none() && was_there && !self.tools.is_empty() {
            return CallVerdict::Failed("the server no longer has the tool".to_owned());
        }
        if record.call.is_missing() {
            return CallVerdict::NotVerified("no answer is recorded");
        }
        if !only_reads && !options.writes {
            return CallVerdict::NotVerified("the tool may write: `--writes` calls it");
        }
        let arguments = record.call.arguments.clone();
        if MARK.is_match(&json!(arguments).to_string()) {
            return CallVerdict::NotVerified("a secret was taken out of its arguments");
        }
        let recorded = self.answer(record.call.clone());
        let Some(expected) = meaning(name, &recorded) else {
            return CallVerdict::NotVerified(
                "the recorded result is a question, or no result of the protocol",
            );
        };
        session.drain_notices();
        let answer = session.call_raw(name, arguments, options.timeout).await;
        let notices = session.drain_notices();
        let is_question = |notice: &Notice| matches!(notice, Notice::Asked { .. });
        let has_asked = notices.iter().any(is_question);
        let mut call = Call {
            result: None,
            error: None,
            ..record.call.clone()
        };
        match answer {
            Ok((_, result)) => call.result = Some(result),
            Err(error) => match error.kind {
                ErrorKind::RpcError {
                    code,
                    message,
                    data,
                } => {
                    call.error = Some(RpcError {
                        code,
                        message,
                        data: data.unwrap_or_default(),
                    });
                }
                // It had none when it was recorded either.
                ErrorKind::NoSuchTool { .. } if !was_there && record.call.error.is_some() => {
                    return CallVerdict::Same;
                }
                ErrorKind::NeedsInput { .. } => return CallVerdict::NotVerified(ASKED),
                _ => return CallVerdict::Failed(error.to_string()),
            },
        }
        let answer = self.answer(call);
        let actual = meaning(name, &answer).unwrap_or_default();
        let drifts = differences(expected, actual, &options.ignore);
        if drifts.is_empty() {
            return CallVerdict::Same;
        }
        if has_asked {
            return CallVerdict::NotVerified(ASKED);
        }
        self.answers.insert(record.span.start, answer);
        CallVerdict::Drifted(drifts)
    }

    /// The member `result` or `error` of a call, without secrets.
    fn answer(&mut self, call: Call) -> Map<String, Json> {
        let text = line(&call);
        let text = plain(&text);
        let redacted = redact(&text, &mut self.secrets, None);
        let members: Map<String, Json> = match redacted.or_else(|| serde_json::from_str(&text).ok())
        {
            Some(Json::Object(members)) => members,
            _ => Map::new(),
        };
        let is_answer = |(key, _): &(String, Json)| matches!(key.as_str(), "result" | "error");
        members.into_iter().filter(is_answer).collect()
    }

    /// Returns the cassette with what the server lists and answers now; lines that did not drift stay as they are.
    pub fn updated(&self, cassette: &Cassette, recorded_at: &str) -> String {
        let mut text = String::new();
        let mut is_described = false;
        let mut end = 0;
        let source = cassette.source.text();
        for piece in source.split_inclusive('\n') {
            let start = u32::try_from(end).unwrap_or(u32::MAX);
            end += piece.len();
            let mut value = read_exact(piece).unwrap_or_default();
            let is_of_server = value["cassette"].is_number() && {
                let known = value["server"].as_str();
                known.is_none_or(|name| name == self.server)
            };
            let by_start =
                start.max(u32::try_from(cuecard_source::byte_order_mark(source)).unwrap_or(0));
            if let Some(answer) = self.answers.get(&by_start) {
                if let Some(record) = value.as_object_mut() {
                    record.remove("result");
                    record.remove("error");
                    record.extend(answer.clone());
                }
                text.push_str(&line(&value));
            } else if is_of_server && !self.changes.is_empty() {
                // What later lines say of the server is in the list of now.
                if !std::mem::replace(&mut is_described, true) {
                    let server = Server {
                        name: self.server.clone(),
                        introduction: Json::Null,
                        tools: self.tools.clone(),
                    };
                    let mut tools = json!(ServerLine::from(&server).tools);
                    self.secrets.json(&mut tools);
                    value["tools"] = tools;
                    value["recorded_at"] = recorded_at.into();
                    text.push_str(&line(&value));
                }
            } else {
                text.push_str(piece);
            }
        }
        text
    }
}

/// What an answer means to a scenario: its value, whether it is a failure, and what else is in it; `None` if it has no
/// meaning.
fn meaning(tool: &str, answer: &Map<String, Json>) -> Option<Json> {
    let Some(result) = answer.get("result") else {
        return Some(json!({
            "value": null,
            "is_error": true,
            "other": [],
            "protocol_error": answer.get("error"),
        }));
    };
    let reply = ToolReply::read(result.clone())?;
    let value = value_of(tool, &reply, Parse::Auto).map(|found| found.value);
    let others = reply.content.iter().filter_map(|block| match block {
        ContentBlock::Text(_) => None,
        ContentBlock::Image { media_type, .. } | ContentBlock::Audio { media_type, .. } => {
            Some(json!(media_type))
        }
        ContentBlock::Resource { uri, .. } => Some(json!(uri)),
        ContentBlock::ResourceLink(block) | ContentBlock::Other(block) => Some(block.clone()),
    });
    Some(json!({
        "value": value.unwrap_or_default(),
        "is_error": reply.is_error,
        "other": others.collect::<Vec<_>>(),
        "protocol_error": null,
    }))
}

/// The versions that a server introduced itself with, and `now` if it is none of them.
fn other_protocol(introduction: &Json, now: &str) -> Option<(String, String)> {
    let versions = match introduction["supportedVersions"].as_array() {
        Some(versions) => versions.iter().filter_map(Json::as_str).collect(),
        None => Vec::from_iter(introduction["protocolVersion"].as_str()),
    };
    let is_other = !now.is_empty() && !versions.is_empty() && !versions.contains(&now);
    is_other.then(|| (versions.join(", "), now.to_owned()))
}

/// Where what came means something else than what was recorded; parts at `ignore` of either value don't count.
fn differences(mut recorded: Json, mut now: Json, ignore: &[JsonPath]) -> Vec<Mismatch> {
    for side in [&mut recorded, &mut now] {
        let value = side["value"].take();
        let value = without(value, ignore);
        if let Some(side) = side.as_object_mut() {
            side.insert("value".to_owned(), value);
        }
    }
    let mut found = Predicate::EqualsStrictly(&recorded).misfits(&now);
    for mismatch in &mut found {
        // Scenarios have the value as `$`.
        mismatch.place = match mismatch.place.strip_prefix(".value") {
            Some(place) => format!("${place}"),
            None => mismatch.place.trim_start_matches('.').to_owned(),
        };
    }
    found
}

/// The value without the members that `paths` point to, and with a mark in the place of elements of lists.
fn without(mut value: Json, paths: &[JsonPath]) -> Json {
    let pointers: Vec<String> = paths
        .iter()
        .flat_map(|path| {
            let found = path.query_located(&value);
            found
                .locations()
                .map(NormalizedPath::to_json_pointer)
                .collect::<Vec<_>>()
        })
        .collect();
    for pointer in pointers {
        let (parent, key) = split_pointer(&pointer).unwrap_or_default();
        if let Some(Json::Object(members)) =
            value.pointer_mut(parent).filter(|_| !pointer.is_empty())
        {
            members.remove(&key);
        } else if let Some(part) = value.pointer_mut(&pointer) {
            *part = "(ignored)".into();
        }
    }
    value
}
