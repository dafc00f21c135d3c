//! Reads frames on their way, pairs requests with answers, and writes each call when its answer comes.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_source::decode::Items;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::{changes, read_exact};
use cuecard_source::value::{Redactor, cut};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use super::cassette::CassetteFile;
use crate::cassette::{ServerLine, VERSION, line, redact};
use crate::infer::{Fields, each_secret, is_distinct};
use crate::marks::Marks;
use crate::{Call, RpcError, Tool};

/// The longest frame that is read, in bytes. A longer one passes, and is not recorded.
pub(super) const MAX_FRAME: usize = 64 << 20;
/// What requests that wait for an answer may hold in all, in bytes.
const MAX_OPEN: usize = 256 << 20;
/// What a request holds beside its bytes, about.
const REQUEST: usize = 512;
/// The most tools of a server that are kept.
const MAX_TOOLS: usize = 10_000;
/// How many calls that their servers answered with a question are kept until their clients go on.
const MOST_QUESTIONS: usize = 10_000;
/// Why a call that its server answered with a question is not recorded.
const NOT_CONTINUED: &str = "the server asked for input, and the client did not go on";
/// How many calls without an answer are named.
const MOST_NAMED: usize = 100;
/// The longest name of a server, in characters.
const LONGEST_NAME: usize = 60;
/// The shortest time between the beginnings of two requests, as cassettes tell it.
const MICROSECOND: Duration = Duration::from_micros(1);

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
    marks: Marks,
    pub(super) clock: Clock,
    /// When the frame that is read came, if that is not now.
    passed: Option<Duration>,
    /// How long the recording went on before the clock started.
    offset: Duration,
    /// When the last request began: no two begin at the same time, since that is the order of calls.
    last_began: Duration,
    file: CassetteFile,
    open: HashMap<(Lane, String), Open>,
    open_bytes: usize,
    n_open: watch::Sender<usize>,
    introduction: Value,
    tools: Vec<Tool>,
    /// The fields of pages for secrets.
    fields: Fields,
    /// Whether what the server says of itself is to be written before the next call.
    is_changed: bool,
    missing: Vec<(String, Duration)>,
    /// How many requests the server left without an answer over HTTP.
    pub n_unanswered: usize,
    /// How many calls could not be recorded.
    pub n_unrecorded: usize,
    /// What became something else in the first message of which a part did.
    pub changed: Vec<Diagnostic>,
    /// Why calls could not be recorded, a text for each.
    unrecorded: Vec<String>,
    /// The tools and ids of calls that the server answered with a question, as long as their clients have not gone on.
    questions: Vec<(String, Value)>,
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
    /// Whether the server's answer to its request over HTTP is over.
    is_over: bool,
    /// Whether the client took it back: nobody waits for the answer, which may come all the same.
    is_cancelled: bool,
}

#[derive(Debug)]
enum Request {
    Introduction,
    Tools {
        is_first_page: bool,
    },
    Call {
        call: Box<Call>,
        progress_token: Value,
    },
    /// A call that can't be read.
    UnreadCall,
}

/// What can be known of a message that is too deep, or has too large a number, for a [`Value`].
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outline {
    id: Value,
    method: Option<String>,
    params: Option<OutlineParams>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutlineParams {
    name: Option<String>,
}

/// The tap of a proxy that reads both directions.
pub(super) fn lock(tap: &Mutex<Tap>) -> MutexGuard<'_, Tap> {
    tap.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The messages of a frame, which may be several, for [`write_exact`](cuecard_source::json::write_exact).
pub(super) fn messages(frame: &[u8]) -> serde_json::Result<Vec<Value>> {
    Ok(match read_exact(frame)? {
        Value::Array(batch) => batch,
        message => vec![message],
    })
}

impl Tap {
    /// A tap that writes into `file`. The server is called `name`, or as it calls itself, or `fallback_name`.
    pub(super) fn new(
        (name, fallback_name): (Option<String>, &str),
        (redactor, marks): (Redactor, Marks),
        (clock, offset): (Clock, Duration),
        file: CassetteFile,
    ) -> Self {
        Self {
            name,
            fallback_name: slug(fallback_name).unwrap_or_else(|| "server".to_owned()),
            redactor,
            marks,
            clock,
            passed: None,
            offset,
            last_began: Duration::ZERO,
            file,
            open: HashMap::new(),
            open_bytes: 0,
            n_open: watch::Sender::new(0),
            introduction: Value::Null,
            tools: Vec::new(),
            fields: Fields::default(),
            is_changed: false,
            missing: Vec::new(),
            n_unanswered: 0,
            n_unrecorded: 0,
            changed: Vec::new(),
            unrecorded: Vec::new(),
            questions: Vec::new(),
            has_head: false,
            noted: HashSet::new(),
        }
    }

    /// How many requests wait for their answers, for whoever waits with them.
    pub fn n_open(&self) -> watch::Receiver<usize> {
        self.n_open.subscribe()
    }

    /// The tools of the calls that were not answered, and when these began.
    pub fn missing(&self) -> &[(String, Duration)] {
        &self.missing
    }

    /// What could not be recorded, in words: each call, and each kind of the rest once.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let calls = self.unrecorded.iter().map(String::as_str);
        calls.chain(self.noted.iter().copied())
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
        let messages = match self.messages(frame) {
            Ok(messages) => messages,
            Err((outlines, why)) => {
                for outline in outlines {
                    self.unread_request(lane, frame, outline, why);
                }
                return;
            }
        };
        for message in messages {
            let params = &message["params"];
            if !matches!(params["arguments"], Value::Object(_) | Value::Null) {
                self.noted
                    .insert("the arguments of a call were not an object, and are recorded as none");
            }
            let began = self.now().max(self.last_began + MICROSECOND);
            let what = match message["method"].as_str() {
                Some("initialize" | "server/discover") => Request::Introduction,
                Some("tools/list") => Request::Tools {
                    is_first_page: params["cursor"].is_null(),
                },
                Some("tools/call") => Request::Call {
                    call: Box::new(Call {
                        tool: params["name"].as_str().unwrap_or_default().to_owned(),
                        arguments: params["arguments"].as_object().cloned().unwrap_or_default(),
                        started: Some(began),
                        ..Call::default()
                    }),
                    progress_token: params["_meta"]["progressToken"].clone(),
                },
                Some("notifications/cancelled") => {
                    let id = params["requestId"].to_string();
                    if let Some(open) = self.open.get_mut(&(lane.to_owned(), id)) {
                        open.is_cancelled = true;
                        self.tell_open();
                    }
                    continue;
                }
                _ => continue,
            };
            if message.get("id").is_none() {
                continue;
            }
            if let Request::Call { call, .. } = &what
                && !(params["inputResponses"].is_null() && params["requestState"].is_null())
                && let Some(idx) = self
                    .questions
                    .iter()
                    .position(|(tool, _)| *tool == call.tool)
            {
                self.questions.remove(idx);
            }
            self.last_began = began;
            self.opened(lane, &message["id"], frame, (what, began));
        }
    }

    /// A request waits for its answer.
    fn opened(
        &mut self,
        lane: &str,
        id: &Value,
        frame: Option<&[u8]>,
        (what, started): (Request, Duration),
    ) {
        let bytes = REQUEST + frame.map_or(0, <[u8]>::len);
        if self.open_bytes + bytes > MAX_OPEN {
            self.noted
                .insert("more than 256 MiB of requests waited for their answers");
            return;
        }
        let mut open = Open {
            what,
            started,
            bytes,
            is_ambiguous: false,
            is_over: false,
            is_cancelled: false,
        };
        if let Some(other) = self.close(lane, id) {
            self.noted.insert(
                "two open requests had the same id, so that their answers can't be told apart",
            );
            self.write_missing(other);
            open.is_ambiguous = true;
        }
        self.open_bytes += bytes;
        self.open.insert((lane.to_owned(), id.to_string()), open);
        self.tell_open();
    }

    fn tell_open(&self) {
        let open = self.open.values().filter(|open| !open.is_cancelled);
        self.n_open.send_replace(open.count());
    }

    /// The client sent something that can't be read as a whole.
    fn unread_request(
        &mut self,
        lane: &str,
        frame: Option<&[u8]>,
        outline: Outline,
        why: &'static str,
    ) {
        let Outline { id, method, params } = outline;
        if method.as_deref() != Some("tools/call") || id.is_null() {
            self.noted.insert(why);
            return;
        }
        let tool = params.and_then(|params| params.name).unwrap_or_default();
        self.leave_out(&tool, &id, why);
        let now = self.now();
        self.opened(lane, &id, frame, (Request::UnreadCall, now));
    }

    /// The call is in no recording.
    fn leave_out(&mut self, tool: &str, id: &Value, why: &str) {
        self.n_unrecorded += 1;
        if self.unrecorded.len() < MOST_NAMED {
            let tool = cut(tool, LONGEST_NAME);
            let note = format!("the call {id} of `{tool}` is not recorded: {why}");
            self.unrecorded.push(note);
        }
    }

    /// The server sent this frame.
    pub fn server(&mut self, lane: &str, frame: Option<&[u8]>) {
        let messages = match self.messages(frame) {
            Ok(messages) => messages,
            Err((outlines, why)) => {
                for Outline { id, method, .. } in outlines {
                    let open = method.is_none().then(|| self.close(lane, &id)).flatten();
                    match open.map(|open| open.what) {
                        Some(Request::Call { call, .. }) => self.leave_out(&call.tool, &id, why),
                        // It was told when the client sent it.
                        Some(Request::UnreadCall) => {}
                        _ => {
                            self.noted.insert(why);
                        }
                    }
                }
                return;
            }
        };
        for message in messages {
            if message["method"].is_string() {
                // Requests of servers are answered by clients, and are no part of a call.
                if message["id"].is_null() {
                    self.notified(lane, message);
                }
                continue;
            }
            let Some(open) = self.close(lane, &message["id"]) else {
                continue;
            };
            if open.is_ambiguous {
                self.write_missing(open);
                continue;
            }
            match open.what {
                Request::Introduction => {
                    if let Some(result) = message.get("result") {
                        self.is_changed |= self.introduction != *result;
                        self.introduction = result.clone();
                    }
                }
                Request::Tools { is_first_page } => self.listed(&message["result"], is_first_page),
                // The client asks again with what the server wants to know: that is the call.
                Request::Call { call, .. }
                    if message["result"]["resultType"] == "input_required" =>
                {
                    if self.questions.len() == MOST_QUESTIONS {
                        let (tool, id) = self.questions.remove(0);
                        self.leave_out(&tool, &id, NOT_CONTINUED);
                    }
                    self.questions.push((call.tool, message["id"].clone()));
                }
                // It was told when the client sent it.
                Request::UnreadCall => {}
                Request::Call { mut call, .. } => {
                    answer(&mut call, message);
                    call.duration = Some(self.now().saturating_sub(open.started));
                    self.write_call(*call);
                }
            }
        }
    }

    /// Lets `read` read what came `at` this time, as the tap's clock tells it.
    pub(super) fn read_at(&mut self, at: Duration, read: impl FnOnce(&mut Self)) {
        self.passed = Some(at);
        read(self);
        self.passed = None;
    }

    /// No answer comes any more to these requests of the lane.
    pub fn abandon(&mut self, lane: &str, ids: &[Value]) {
        for id in ids {
            if let Some(open) = self.close(lane, id) {
                self.write_missing(open);
            }
        }
    }

    /// The server's answer to these requests of the lane is over: only another stream can still bring theirs.
    pub(super) fn answer_is_over(&mut self, lane: &str, ids: &[Value]) {
        for id in ids {
            if let Some(open) = self.open.get_mut(&(lane.to_owned(), id.to_string())) {
                open.is_over = true;
            }
        }
    }

    /// The end: what is open has no answer.
    pub fn end(&mut self) {
        let mut left: Vec<Open> = self.open.drain().map(|(_, open)| open).collect();
        left.sort_by_key(|open| open.started);
        for open in left {
            self.write_missing(open);
        }
        self.open_bytes = 0;
        self.tell_open();
        for (tool, id) in std::mem::take(&mut self.questions) {
            self.leave_out(&tool, &id, NOT_CONTINUED);
        }
        self.write_introduction();
        self.file.close();
    }

    /// How long the recording has gone on, in whole microseconds.
    fn now(&self) -> Duration {
        let now = self.offset + self.passed.unwrap_or_else(|| self.clock.now());
        now - Duration::from_nanos(u64::from(now.subsec_nanos() % 1_000))
    }

    /// The messages of a frame, or the outlines of those that can't be read, and why not.
    fn messages(
        &mut self,
        frame: Option<&[u8]>,
    ) -> Result<Vec<Value>, (Vec<Outline>, &'static str)> {
        let Some(frame) = frame else {
            self.noted.insert("a frame was longer than 64 MiB");
            return Ok(Vec::new());
        };
        if self.changed.is_empty() {
            self.changed = changes(
                &format!("a message to or from server `{}`", self.name()),
                frame,
            );
        }
        if let Ok(messages) = messages(frame) {
            return Ok(messages);
        }
        let why = match std::str::from_utf8(frame) {
            Err(_) => "a frame was not UTF-8",
            Ok(_) => "a frame has a number beyond the range of doubles, or more than 127 levels",
        };
        let outline = serde_json::from_slice(frame).map(|outline| vec![outline]);
        if let Ok(outlines) = outline.or_else(|_| serde_json::from_slice(frame)) {
            return Err((outlines, why));
        }
        if !frame.trim_ascii().is_empty() {
            self.noted.insert("a frame was not JSON");
        }
        Ok(Vec::new())
    }

    fn close(&mut self, lane: &str, id: &Value) -> Option<Open> {
        let open = self.open.remove(&(lane.to_owned(), id.to_string()))?;
        self.open_bytes -= open.bytes;
        self.tell_open();
        Some(open)
    }

    /// A notification belongs to the call whose progress it tells, else to the only call that is open.
    fn notified(&mut self, lane: &str, notification: Value) {
        let token = notification["params"].get("progressToken").cloned();
        let calls = self.open.iter_mut();
        let calls = calls.filter(|((its, _), open)| its == lane && !open.is_cancelled);
        let mut calls = calls.filter_map(|(_, open)| match &mut open.what {
            Request::Call {
                call,
                progress_token,
            } if token.as_ref().is_none_or(|token| token == progress_token) => {
                Some((&mut call.notifications.0, &mut open.bytes))
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
        notifications.extend(serde_json::from_value(notification));
    }

    fn listed(&mut self, result: &Value, is_first_page: bool) {
        let Some(page) = result["tools"].as_array() else {
            return;
        };
        let mut tools = match is_first_page {
            true => Vec::new(),
            false => self.tools.clone(),
        };
        let page = page
            .iter()
            .filter_map(|tool| tool.as_object().cloned()?.try_into().ok());
        tools.extend(page.take(MAX_TOOLS.saturating_sub(tools.len())));
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
        let line = ServerLine {
            cassette: VERSION,
            server: Some(name.clone()),
            introduction: self.introduction.as_object().cloned(),
            tools: (!self.tools.is_empty()).then(|| Items(self.tools.clone())),
            recorded_at: Some(self.file.files.recorded_at.clone()),
            ..ServerLine::default()
        };
        self.name = Some(name);
        self.has_head = true;
        let line = self.line(&line);
        self.file.append_server(&line);
    }

    fn write_missing(&mut self, open: Open) {
        if let Request::Call { call, .. } = open.what {
            if self.missing.len() < MOST_NAMED {
                let tool = cut(&call.tool, LONGEST_NAME).into_owned();
                self.missing.push((tool, open.started));
            }
            self.n_unanswered += usize::from(open.is_over && !open.is_cancelled);
            self.write_call(*call);
        }
    }

    fn write_call(&mut self, mut call: Call) {
        self.is_changed |= !self.has_head;
        self.write_introduction();
        call.server = self.name.clone();
        let typed = self.fields.typed(&call.arguments).into_iter();
        self.redactor.learn(typed.map(|(secret, _)| secret));
        let mut told = Vec::new();
        each_secret(&call.arguments, &mut |secret| told.push(secret));
        // Others may be words of the next line.
        self.redactor
            .learn(told.into_iter().filter(|secret| is_distinct(secret)));
        self.fields.see(&call);
        let line = self.line(&call);
        self.file.append(&line);
    }

    /// A line without its secrets.
    fn line(&mut self, written: &impl Serialize) -> String {
        let text = line(written);
        let redacted = redact(&text, &mut self.redactor, Some(&self.marks));
        redacted.map_or(text, |redacted| line(&redacted))
    }
}

/// Gives a call what its answer says. An error of the protocol gets what it must have.
fn answer(call: &mut Call, mut answer: Value) {
    match answer.get_mut("error").map(Value::take) {
        None => call.result = Some(answer["result"].take()),
        Some(error) => {
            let known = serde_json::from_value(error.clone());
            call.error = Some(known.unwrap_or_else(|_| RpcError {
                code: -32603,
                message: error.to_string(),
                data: Value::Null,
            }));
        }
    }
}

/// A name for scenarios: letters, digits, `-` and `_`; `None` if nothing is left of it.
fn slug(name: &str) -> Option<String> {
    let plain = name.to_lowercase();
    let words = plain.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(LONGEST_NAME).collect();
    (!slug.is_empty()).then_some(slug)
}
