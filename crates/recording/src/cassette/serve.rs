//! A mock MCP server that answers from a cassette.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuecard_mcp::server::{
    Client, GRACE, Handler, Introduction, PlannedFaults, RpcError, text_result,
};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::matching::{Predicate, is_same_json};
use cuecard_source::value::{Json, REDACTED, cut, mask_credentials};
use serde_json::{Map, json};

use super::read::{Cassette, Record, server_info};
use crate::Call;
use crate::marks::{MARK, plain};

/// More calls that the cassette doesn't hold are counted, not reported one by one.
const MAX_FINDINGS: u64 = 1_000;
/// How many unused records a note lists.
const MAX_LISTED: usize = 10;
/// The code of an error of JSON-RPC for what the server does not do.
const NO_ANSWER: i64 = -32603;

/// Is told each call that the cassette doesn't hold.
type OnMiss = Box<dyn Fn(&Diagnostic) + Send + Sync>;

/// Serves one server of a cassette. Clones serve the same one.
#[derive(Clone)]
pub struct CassetteServer {
    served: Arc<Inner>,
}

struct Inner {
    cassette: Cassette,
    introduction: Introduction,
    tools: Vec<Json>,
    records: Vec<Record>,
    any_order: bool,
    faults: PlannedFaults,
    state: Mutex<State>,
    on_miss: OnMiss,
}

#[derive(Debug, Default)]
struct State {
    /// The records that no call has used, by their index.
    unused: BTreeSet<usize>,
    n_calls: u64,
    n_misses: u64,
}

/// What came of serving a cassette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// How many calls came.
    pub n_calls: u64,
    /// How many of them the cassette does not hold.
    pub n_misses: u64,
    /// How many records there are.
    pub n_records: usize,
    /// The records that no call has used: the line, and the tool.
    pub unused: Vec<(usize, String)>,
}

impl CassetteServer {
    /// Serves the server called `name`, or the only one. With `any_order` a call is answered by the first unused record
    /// of it, and by the last one if all are used; else only the next record answers, or one that ran beside it. `on_miss` is told each call that the
    /// cassette doesn't hold.
    ///
    /// # Errors
    /// As [`Cassette::server`].
    pub fn new(
        cassette: Cassette,
        name: Option<&str>,
        any_order: bool,
        on_miss: OnMiss,
    ) -> Result<Self, Diagnostic> {
        let server = cassette.server(name)?;
        let records: Vec<_> = cassette.records_of(&server.name).cloned().collect();
        let info = server_info(&server.introduction);
        let text = |json: &Json| json.as_str().map(str::to_owned);
        let introduction = Introduction {
            name: text(&info["name"]).unwrap_or_else(|| server.name.clone()),
            title: text(&info["title"]),
            version: text(&info["version"]).unwrap_or_else(|| "0".to_owned()),
            instructions: text(&server.introduction["instructions"]),
        };
        let mut tools: Vec<_> = server
            .tools
            .iter()
            .map(|tool| tool.description.clone())
            .collect();
        // By hand a list may have only those that need a schema; no server lists what it answers with an error.
        let is_tool = |record: &&Record| tools.is_empty() || record.call.is_success();
        let called: BTreeSet<_> = records
            .iter()
            .filter(is_tool)
            .map(|record| record.call.tool.as_str())
            .collect();
        let listed: BTreeSet<_> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        tools.extend(
            called
                .difference(&listed)
                .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })),
        );
        let state = State {
            unused: (0..records.len()).collect(),
            ..State::default()
        };
        Ok(Self {
            served: Arc::new(Inner {
                introduction,
                tools,
                records,
                any_order,
                faults: PlannedFaults::default(),
                state: Mutex::new(state),
                on_miss,
                cassette,
            }),
        })
    }

    /// How many records there are.
    pub fn n_records(&self) -> usize {
        self.served.records.len()
    }

    /// How many tools are listed.
    pub fn n_tools(&self) -> usize {
        self.served.tools.len()
    }

    /// Whether something goes wrong on purpose.
    pub fn has_faults(&self) -> bool {
        self.served
            .records
            .iter()
            .any(|record| record.call.fault.is_some())
    }

    /// Where the faults of answers are noted for those who carry them out.
    pub fn faults(&self) -> PlannedFaults {
        self.served.faults.clone()
    }

    /// What came of it so far.
    pub fn served(&self) -> Served {
        let state = self.served.state();
        let unused = state.unused.iter().map(|idx| &self.served.records[*idx]);
        Served {
            n_calls: state.n_calls,
            n_misses: state.n_misses,
            n_records: self.served.records.len(),
            unused: unused
                .map(|record| (self.served.line(record), record.call.tool.clone()))
                .collect(),
        }
    }
}

impl fmt::Debug for CassetteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassetteServer")
            .field("introduction", &self.served.introduction)
            .finish_non_exhaustive()
    }
}

impl Served {
    /// Whether the cassette held every call.
    pub fn passed(&self) -> bool {
        self.n_misses == 0
    }

    /// A note on the records that no call has used.
    pub fn unused_note(&self) -> Option<Diagnostic> {
        let n_unused = self.unused.len();
        if n_unused == 0 {
            return None;
        }
        let message = format!("{n_unused} of {} records were not used", self.n_records);
        let mut note = Diagnostic::note(codes::CASSETTE_UNUSED, message);
        let listed = self.unused.iter().take(MAX_LISTED);
        note.notes = listed
            .map(|(line, tool)| format!("line {line}: `{}`", cut(tool, 100)))
            .collect();
        if n_unused > MAX_LISTED {
            note.notes
                .push(format!("and {} more", n_unused - MAX_LISTED));
        }
        Some(note)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, record: &Record) -> usize {
        self.cassette.source.position(record.span.start).line
    }

    /// Chooses the record that answers a call.
    fn choose(&self, tool: &str, arguments: &Map<String, Json>) -> Result<usize, Diagnostic> {
        let mut state = self.state();
        state.n_calls += 1;
        let fits = |idx: &usize| {
            let call = &self.records[*idx].call;
            let same = |(name, value): (&String, &Json)| {
                call.arguments
                    .get(name)
                    .is_some_and(|recorded| is_recorded(recorded, value))
            };
            call.tool == tool
                && call.arguments.len() == arguments.len()
                && arguments.iter().all(same)
        };
        let unused = || state.unused.iter().copied();
        let first = unused().find(fits);
        let found = match self.any_order {
            true => first.or_else(|| (0..self.records.len()).rev().find(fits)),
            false => first.filter(|first| {
                let mut before = unused().take_while(|idx| idx < first);
                before.all(|idx| ran_together(&self.records[idx].call, &self.records[*first].call))
            }),
        };
        let is_answered = |idx: &usize| !self.records[*idx].call.is_missing();
        let next = unused().find(is_answered).or_else(|| unused().next());
        if let Some(idx) = found {
            state.unused.remove(&idx);
            return Ok(idx);
        }
        drop(state);
        let miss = self.miss(tool, arguments, next, first);
        self.count_miss(&miss);
        Err(miss)
    }

    fn count_miss(&self, miss: &Diagnostic) {
        let mut state = self.state();
        state.n_misses += 1;
        let is_shown = state.n_misses <= MAX_FINDINGS;
        drop(state);
        if is_shown {
            (self.on_miss)(miss);
        }
    }

    /// Says why no record answers a call, and names the nearest one.
    fn miss(
        &self,
        tool: &str,
        arguments: &Map<String, Json>,
        next: Option<usize>,
        later: Option<usize>,
    ) -> Diagnostic {
        let name = self.cassette.source.name();
        let shown = cut(tool, 100);
        let mut given = Json::Object(arguments.clone());
        mask_credentials(&mut given);
        let differences = |record: &Record| {
            Predicate::EqualsStrictly(&Json::Object(record.call.arguments.clone())).misfits(&given)
        };
        let of_tool = self
            .records
            .iter()
            .filter(|record| record.call.tool == tool);
        let nearest = match (self.any_order, next) {
            (false, Some(next)) => Some(&self.records[next]),
            (false, None) => None,
            (true, _) => of_tool.min_by_key(|record| differences(record).len()),
        };
        let message = match (nearest, self.any_order) {
            (None, false) => format!("`{shown}` was called after the last record of `{name}`"),
            (Some(next), false) if next.call.tool != tool => {
                format!(
                    "`{shown}` was called, and the next record of `{name}` is a call of `{}`",
                    cut(&next.call.tool, 100)
                )
            }
            (Some(_), _) => {
                format!("`{shown}` was called with other arguments than recorded in `{name}`")
            }
            (None, true) => format!("`{name}` has no call of `{shown}`"),
        };
        let mut miss = Diagnostic::error(codes::CASSETTE_MISS, message);
        if let Some(record) = nearest {
            miss = miss.at(&self.cassette.source, record.span);
            if record.call.tool == tool {
                let differing = differences(record);
                miss.notes = differing
                    .iter()
                    .map(|found| format!("arguments{}: {}", found.place, found.reason))
                    .collect();
            }
            miss.notes.push(format!(
                "the nearest record is on line {}",
                self.line(record)
            ));
        }
        if let Some(later) = later {
            let line = self.line(&self.records[later]);
            miss.help = Some(format!(
                "the call is recorded on line {line}: `--any-order` answers calls in any order"
            ));
        }
        miss
    }

    async fn answer(&self, record: &Record, client: &Client) -> Result<String, RpcError> {
        for notification in &record.call.notifications.0 {
            let mut params = notification.params.clone();
            if notification.method == "notifications/progress" {
                // Who did not ask for progress gets none.
                let Some(token) = client.progress_token() else {
                    continue;
                };
                let params = params.get_or_insert_with(|| json!({}));
                if let Some(params) = params.as_object_mut() {
                    params.insert("progressToken".to_owned(), token);
                }
            }
            client.notify(&notification.method, params).await;
        }
        if let Some(delay) = record.call.delay {
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = client.cancelled() => {}
            }
        }
        if let Some(fault) = record.call.fault {
            self.faults.plan(&client.request_id(), fault.kind);
        }
        match &record.call.error {
            None if record.call.is_missing() => {
                client.leave_unanswered();
                client.cancelled().await;
                Err(RpcError {
                    code: NO_ANSWER,
                    message: "no answer was recorded".to_owned(),
                    data: Json::Null,
                })
            }
            None => Ok(record.result.clone()),
            Some(error) => Err(RpcError {
                code: error.code,
                message: error.message.clone(),
                data: error.data.clone(),
            }),
        }
    }
}

/// Whether the `first` of two calls was not answered yet when the other began, so that their order means nothing.
fn ran_together(first: &Call, second: &Call) -> bool {
    let ended = first.started.zip(first.duration);
    let ended = ended.map(|(started, duration)| started + duration);
    first.is_missing()
        || ended
            .zip(second.started)
            .is_some_and(|(ended, began)| ended > began)
}

impl Handler for CassetteServer {
    fn introduction(&self) -> Introduction {
        self.served.introduction.clone()
    }

    fn tools(&self) -> Vec<Json> {
        self.served.tools.clone()
    }

    fn grace(&self) -> Duration {
        let delays = self
            .served
            .records
            .iter()
            .filter_map(|record| record.call.delay);
        GRACE + delays.max().unwrap_or_default()
    }

    fn on_malformed_call(&self) {
        self.served.state().n_calls += 1;
        let message = "a call came without a `name`, or with `arguments` that are not an object";
        self.served
            .count_miss(&Diagnostic::error(codes::CASSETTE_MISS, message));
    }

    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Json>,
        client: &Client,
    ) -> Result<String, RpcError> {
        match self.served.choose(tool, &arguments) {
            Ok(idx) => self.served.answer(&self.served.records[idx], client).await,
            Err(miss) => {
                let mut text = miss.message;
                for line in miss.notes.iter().chain(&miss.help) {
                    text.push('\n');
                    text.push_str(line);
                }
                Ok(text_result(&text, true))
            }
        }
    }
}

/// Whether a value is the recorded one, of which secrets may have been taken out: there anything may stand.
fn is_recorded(recorded: &Json, value: &Json) -> bool {
    match (recorded, value) {
        (Json::String(recorded), _) if plain(recorded) == REDACTED => true,
        (Json::String(recorded), Json::String(text)) if MARK.is_match(recorded) => {
            let mut parts: Vec<&str> = MARK.split(recorded).collect();
            let last = parts.pop().unwrap_or_default();
            let mut rest = Some(text.as_str());
            for (nth, part) in parts.into_iter().enumerate() {
                rest = rest.and_then(|rest| match nth {
                    0 => rest.strip_prefix(part),
                    _ => rest.split_once(part).map(|(_, rest)| rest),
                });
            }
            rest.is_some_and(|rest| rest.ends_with(last))
        }
        (Json::Array(recorded), Json::Array(items)) => {
            let mut pairs = recorded.iter().zip(items);
            recorded.len() == items.len() && pairs.all(|(one, other)| is_recorded(one, other))
        }
        (Json::Object(recorded), Json::Object(members)) => {
            let mut recorded_members = recorded.iter();
            recorded.len() == members.len()
                && recorded_members.all(|(key, one)| {
                    members
                        .get(key)
                        .is_some_and(|other| is_recorded(one, other))
                })
        }
        _ => is_same_json(recorded, value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_recorded;

    #[test]
    fn anything_may_stand_where_a_secret_was_taken_out() {
        for (recorded, value, expected) in [
            (json!("[redacted]"), json!("hunter2"), true),
            (json!("[redacted-0a1b2c3d]"), json!(12345678), true),
            (json!("/tmp/[redacted]/x"), json!("/tmp/ann/x"), true),
            (
                json!("/tmp/[redacted-0a1b2c3d]/x"),
                json!("/tmp/ann/y"),
                false,
            ),
            (json!("[redacted]-[redacted]!"), json!("a-b!"), true),
            (
                json!({"a": ["[redacted]"], "b": 1}),
                json!({"a": ["x"], "b": 1}),
                true,
            ),
            (
                json!({"a": ["[redacted]"], "b": 1}),
                json!({"a": ["x"], "b": 2}),
                false,
            ),
            (json!({"a": "[redacted]"}), json!({}), false),
            (json!("plain"), json!("[redacted]"), false),
        ] {
            assert_eq!(
                is_recorded(&recorded, &value),
                expected,
                "{recorded} {value}"
            );
        }
    }
}
