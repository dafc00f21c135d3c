//! Reads frames on their way, pairs requests with answers, and writes each call when its answer comes.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_source::value::{Redactor, cut, find_credentials, may_hold_credential};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::cassette::CassetteFile;
use crate::cassette::VERSION;

/// The longest frame that is read, in bytes. A longer one passes, and is not recorded.
pub(super) const MAX_FRAME: usize = 64 << 20;
/// What requests that wait for an answer may hold in all, in bytes.
const MAX_OPEN: usize = 256 << 20;
/// What a request holds beside its bytes, about.
const REQUEST: usize = 512;
/// The most tools of a server that are kept.
const MAX_TOOLS: usize = 10_000;
/// How many calls without an answer are named.
const MOST_NAMED: usize = 100;
/// The longest name of a server, in characters.
const LONGEST_NAME: usize = 60;

/// What the ids of requests are unique in: the session, or the exchange if there is no session.
pub(super) type Lane = String;

/// Splits a stream of bytes into its lines, which are frames. Holds no more than one.
#[derive(Debug, Default)]
pub(super) struct Frames {
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Frames {
    /// Reads on, and gives each line that is complete to `frame`; `None` for one that is longer than [`MAX_FRAME`].
    pub(super) fn read(&mut self, mut bytes: &[u8], mut frame: impl FnMut(Option<&[u8]>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if std::mem::take(&mut self.is_too_long) {
                frame(None);
            } else if self.begun.is_empty() {
                frame(Some(line));
            } else {
                self.begun.extend_from_slice(line);
                frame(Some(&std::mem::take(&mut self.begun)));
            }
        }
        if self.begun.len() + bytes.len() > MAX_FRAME {
            self.begun = Vec::new();
            self.is_too_long = true;
        }
        if !self.is_too_long {
            self.begun.extend_from_slice(bytes);
        }
    }
}

/// Reads what passes between clients and one server.
#[derive(Debug)]
pub struct Tap {
    name: Option<String>,
    fallback_name: String,
    redactor: Redactor,
    clock: Clock,
    /// How long the recording went on before the clock started.
    offset: Duration,
    file: CassetteFile,
    open: HashMap<(Lane, String), Open>,
    open_bytes: usize,
    n_open: watch::Sender<usize>,
    introduction: Value,
    tools: Vec<Value>,
    /// Whether what the server says of itself is to be written before the next call.
    is_changed: bool,
    missing: Vec<String>,
    has_head: bool,
    noted: HashSet<&'static str>,
}

/// A request that waits for its answer.
#[derive(Debug)]
struct Open {
    what: Request,
    started: Duration,
    bytes: usize,
    /// Whether another one with the same id waited too, so that nobody knows whose the answer is.
    is_ambiguous: bool,
}

#[derive(Debug)]
enum Request {
    Introduction,
    Tools {
        is_first_page: bool,
    },
    Call {
        tool: String,
        arguments: Value,
        progress_token: Value,
        notifications: Vec<Value>,
    },
}

impl Tap {
    /// A tap that writes into `file`. The server is called `name`, or as it calls itself, or `fallback_name`.
    pub(super) fn new(
        (name, fallback_name): (Option<String>, &str),
        redactor: Redactor,
        (clock, offset): (Clock, Duration),
        file: CassetteFile,
    ) -> Self {
        Self {
            name,
            fallback_name: slug(fallback_name).unwrap_or_else(|| "server".to_owned()),
            redactor,
            clock,
            offset,
            file,
            open: HashMap::new(),
            open_bytes: 0,
            n_open: watch::Sender::new(0),
            introduction: Value::Null,
            tools: Vec::new(),
            is_changed: false,
            missing: Vec::new(),
            has_head: false,
            noted: HashSet::new(),
        }
    }

    /// Whoever waits for answers may ask how many requests are open.
    pub fn n_open(&self) -> watch::Receiver<usize> {
        self.n_open.subscribe()
    }

    /// The tools of the calls that were not answered.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What could not be recorded, in words, each kind once.
    pub fn notes(&self) -> impl Iterator<Item = &'static str> {
        self.noted.iter().copied()
    }

    /// Why the recording is not whole, if it can't be written any more.
    pub fn write_error(&self) -> Option<&str> {
        self.file.error.as_deref()
    }

    /// What the recording calls the server.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let info = [
                &self.introduction["serverInfo"],
                &self.introduction["_meta"]["io.modelcontextprotocol/serverInfo"],
            ];
            let mut names = info.iter().filter_map(|info| slug(info["name"].as_str()?));
            names.next().unwrap_or_else(|| self.fallback_name.clone())
        })
    }

    /// `text` without the secrets that are known so far.
    pub fn redacted(&self, text: &str) -> String {
        self.redactor.text(text).into_owned()
    }

    /// The client sent this frame; `None` is one that was too long.
    pub fn client(&mut self, lane: &str, frame: Option<&[u8]>) {
        for message in self.messages(frame) {
            let params = &message["params"];
            let what = match message["method"].as_str() {
                Some("initialize" | "server/discover") => Request::Introduction,
                Some("tools/list") => Request::Tools {
                    is_first_page: params["cursor"].is_null(),
                },
                Some("tools/call") => Request::Call {
                    tool: params["name"].as_str().unwrap_or_default().to_owned(),
                    arguments: match &params["arguments"] {
                        Value::Null => json!({}),
                        arguments => arguments.clone(),
                    },
                    progress_token: params["_meta"]["progressToken"].clone(),
                    notifications: Vec::new(),
                },
                Some("notifications/cancelled") => {
                    self.abandon(lane, std::slice::from_ref(&params["requestId"]));
                    continue;
                }
                _ => continue,
            };
            if message["id"].is_null() {
                continue;
            }
            let bytes = REQUEST + frame.map_or(0, <[u8]>::len);
            if self.open_bytes + bytes > MAX_OPEN {
                self.noted
                    .insert("more than 256 MiB of requests waited for their answers");
                continue;
            }
            let mut open = Open {
                what,
                started: self.offset + self.clock.now(),
                bytes,
                is_ambiguous: false,
            };
            if let Some(other) = self.close(lane, &message["id"]) {
                self.noted.insert(
                    "two open requests had the same id, so that their answers can't be told apart",
                );
                self.write_missing(other);
                open.is_ambiguous = true;
            }
            self.open_bytes += bytes;
            let key = (lane.to_owned(), message["id"].to_string());
            self.open.insert(key, open);
            self.n_open.send_replace(self.open.len());
        }
    }

    /// The server sent this frame.
    pub fn server(&mut self, lane: &str, frame: Option<&[u8]>) {
        for message in self.messages(frame) {
            let id = &message["id"];
            if message["method"].is_string() {
                // Requests of servers are answered by clients, and are no part of a call.
                if id.is_null() {
                    self.notified(lane, message);
                }
                continue;
            }
            let Some(mut open) = self.close(lane, id) else {
                continue;
            };
            if open.is_ambiguous {
                self.write_missing(open);
                continue;
            }
            match &mut open.what {
                Request::Introduction => {
                    if let Some(result) = message.get("result") {
                        self.is_changed |= self.introduction != *result;
                        self.introduction = result.clone();
                    }
                }
                Request::Tools { is_first_page } => self.listed(&message["result"], *is_first_page),
                // The client asks again with what the server wants to know: that is the call.
                Request::Call { .. } if message["result"]["resultType"] == "input_required" => {}
                Request::Call { .. } => self.write_call(open, Some(message)),
            }
        }
    }

    /// No answer comes any more to these requests of the lane.
    pub fn abandon(&mut self, lane: &str, ids: &[Value]) {
        for id in ids {
            if let Some(open) = self.close(lane, id) {
                self.write_missing(open);
            }
        }
    }

    /// No answer comes any more to any request of the lane.
    pub fn abandon_lane(&mut self, lane: &str) {
        self.abandon_where(|key| key.0 == lane);
    }

    /// The end: what is open has no answer.
    pub fn end(&mut self) {
        self.abandon_where(|_| true);
        self.write_introduction();
    }

    fn abandon_where(&mut self, is_over: impl Fn(&(Lane, String)) -> bool) {
        let mut over: Vec<Open> = self
            .open
            .extract_if(|key, _| is_over(key))
            .map(|(_, open)| open)
            .collect();
        over.sort_by_key(|open| open.started);
        for open in over {
            self.open_bytes -= open.bytes;
            self.write_missing(open);
        }
        self.n_open.send_replace(self.open.len());
    }

    fn messages(&mut self, frame: Option<&[u8]>) -> Vec<Value> {
        let Some(frame) = frame else {
            self.noted.insert("a frame was longer than 64 MiB");
            return Vec::new();
        };
        match serde_json::from_slice(frame) {
            Ok(Value::Array(batch)) => batch,
            Ok(message) => vec![message],
            Err(_) => {
                if !frame.trim_ascii().is_empty() {
                    self.noted.insert("a frame was not JSON");
                }
                Vec::new()
            }
        }
    }

    fn close(&mut self, lane: &str, id: &Value) -> Option<Open> {
        let open = self.open.remove(&(lane.to_owned(), id.to_string()))?;
        self.open_bytes -= open.bytes;
        self.n_open.send_replace(self.open.len());
        Some(open)
    }

    /// A notification belongs to the call whose progress it tells, else to the only call that is open.
    fn notified(&mut self, lane: &str, notification: Value) {
        let token = notification["params"].get("progressToken").cloned();
        let calls = self.open.iter_mut().filter(|((its, _), _)| its == lane);
        let mut calls = calls.filter_map(|(_, open)| match &mut open.what {
            Request::Call {
                progress_token,
                notifications,
                ..
            } if token.as_ref().is_none_or(|token| token == progress_token) => {
                Some((notifications, &mut open.bytes))
            }
            _ => None,
        });
        let (Some((notifications, bytes)), None) = (calls.next(), calls.next()) else {
            return;
        };
        let size = REQUEST + notification.to_string().len();
        if self.open_bytes + size > MAX_OPEN {
            self.noted
                .insert("more than 256 MiB of requests waited for their answers");
            return;
        }
        self.open_bytes += size;
        *bytes += size;
        notifications.push(notification);
    }

    fn listed(&mut self, result: &Value, is_first_page: bool) {
        let Some(page) = result["tools"].as_array() else {
            return;
        };
        let mut tools = match is_first_page {
            true => Vec::new(),
            false => self.tools.clone(),
        };
        tools.extend(
            page.iter()
                .take(MAX_TOOLS.saturating_sub(tools.len()))
                .cloned(),
        );
        self.is_changed |= tools != self.tools;
        self.tools = tools;
        if result["nextCursor"].is_null() {
            self.write_introduction();
        }
    }

    /// Writes what the server says of itself, if that is new.
    fn write_introduction(&mut self) {
        if !std::mem::take(&mut self.is_changed) {
            return;
        }
        let name = self.name();
        let mut line = json!({
            "cassette": VERSION, "server": name, "introduction": self.introduction, "tools": self.tools,
            "recorded_at": self.clock.timestamp(Duration::ZERO).to_string(),
        });
        self.name = Some(name);
        self.has_head = true;
        if let Some(members) = line.as_object_mut() {
            members.retain(|_, value| {
                !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
            });
        }
        self.write(line);
    }

    fn write_missing(&mut self, open: Open) {
        if let Request::Call { tool, .. } = &open.what {
            if self.missing.len() < MOST_NAMED {
                self.missing.push(cut(tool, LONGEST_NAME).into_owned());
            }
            self.write_call(open, None);
        }
    }

    fn write_call(&mut self, open: Open, answer: Option<Value>) {
        let Request::Call {
            tool,
            arguments,
            notifications,
            ..
        } = open.what
        else {
            return;
        };
        let now = self.offset + self.clock.now();
        self.is_changed |= !self.has_head;
        self.write_introduction();
        let mut line = json!({"server": self.name, "tool": tool, "arguments": arguments});
        match answer {
            Some(Value::Object(mut answer)) => {
                match answer.remove("error") {
                    Some(error) => line["error"] = rpc_error(error),
                    None => line["result"] = answer.remove("result").unwrap_or_default(),
                }
                line["started"] = seconds(open.started);
                line["duration"] = seconds(now.saturating_sub(open.started));
            }
            _ => line["started"] = seconds(open.started),
        }
        if !notifications.is_empty() {
            line["notifications"] = notifications.into();
        }
        self.write(line);
    }

    /// Takes the secrets out of a line and writes it. What is a credential by its key, its place or its looks is a
    /// secret from here on.
    fn write(&mut self, mut line: Value) {
        let mut text = line.to_string();
        if may_hold_credential(&text) || self.redactor.finds(&text) {
            let server = line["server"].take();
            let mut found = Vec::new();
            find_credentials(&line, &mut found);
            found.retain(|secret| !self.redactor.finds(secret));
            self.redactor.add(found);
            self.redactor.json(&mut line);
            line["server"] = server;
            text = line.to_string();
        }
        text.push('\n');
        self.file.append(&text);
    }
}

/// An error of the protocol with what it must have.
fn rpc_error(error: Value) -> Value {
    let is_whole = error["code"].is_i64() && error["message"].is_string();
    match error {
        Value::Object(members) if is_whole => Value::Object(members),
        other => Value::Object(Map::from_iter([
            ("code".to_owned(), json!(-32603)),
            ("message".to_owned(), other.to_string().into()),
        ])),
    }
}

fn seconds(time: Duration) -> Value {
    // Microseconds, so that no digits follow that mean nothing.
    json!((time.as_secs_f64() * 1e6).round() / 1e6)
}

/// A name for scenarios: letters, digits, `-` and `_`; `None` if nothing is left of it.
fn slug(name: &str) -> Option<String> {
    let plain = name.to_lowercase();
    let words = plain.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(LONGEST_NAME).collect();
    (!slug.is_empty()).then_some(slug)
}
