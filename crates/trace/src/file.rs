//! The trace on disk: JSON Lines, a header first, then one event a line, an end last.
//!
//! Format versions:
//! - `0.1`: the public NanoClaw trace with our own event types beside its own.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Event, FinalOutput};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::without_lone_surrogates;
use cuecard_source::value::Json;

/// The version this release writes, and the only one it reads.
pub const SCHEMA_VERSION: &str = "0.1";

/// A longer line is refused: 128 MiB, twice the largest frame that a player accepts.
pub(super) const MAX_LINE: usize = 128 << 20;

/// Line 1: everything but the events and the end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Version of the format.
    pub schema_version: String,
    /// Id of the trace.
    pub trace_id: String,
    /// The test case it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_case_id: Option<String>,
    /// Id of the run.
    pub test_run_id: String,
    /// Who made it.
    pub adapter: Adapter,
    /// What the trace can be asked.
    #[serde(default)]
    pub capabilities: Json,
    /// What was played.
    #[serde(default)]
    pub scenario: Json,
    /// What the agent was told first.
    #[serde(default)]
    pub input_messages: Vec<Json>,
}

impl Header {
    /// The header of a run of this program that is called `run_id` and plays `scenario`.
    pub fn live(run_id: &str, scenario: Json, capabilities: Json) -> Self {
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            trace_id: run_id.to_owned(),
            test_case_id: None,
            test_run_id: run_id.to_owned(),
            adapter: Adapter {
                name: "cuecard".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            capabilities,
            scenario,
            input_messages: Vec::new(),
        }
    }

    /// Whether there was one, once all lines are read.
    ///
    /// # Errors
    /// If there was none.
    pub fn must_be_there(&self) -> Result<(), TraceError> {
        if !self.schema_version.is_empty() {
            return Ok(());
        }
        Err(TraceError::Line {
            line: 1,
            reason: "not a trace: the first line must be the header".to_owned(),
        })
    }
}

/// Who made a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// The last answer, if there is one.
    #[serde(default)]
    pub final_output: Option<FinalOutput>,
    /// How the run ended.
    pub status: RunStatus,
    /// What it took.
    pub metrics: Metrics,
    /// Files that belong to the run.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub artifacts: serde_json::Map<String, Json>,
}

impl End {
    /// The end of a run that took so long, of which nothing else is counted.
    pub fn after(elapsed: Duration, status: RunStatus) -> Self {
        Self {
            final_output: None,
            status,
            metrics: Metrics {
                timing_ms_total: elapsed.as_secs_f64() * 1000.0,
                ..Metrics::default()
            },
            artifacts: serde_json::Map::new(),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Everything went as it should.
    Success,
    /// It went through, with failures that were tolerated.
    Partial,
    /// It failed.
    Failed,
    /// It could not go on.
    Blocked,
}

impl RunStatus {
    /// That of a run of which all held, or not.
    pub fn of(passed: bool) -> Self {
        if passed { Self::Success } else { Self::Failed }
    }
}

/// What a run took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Metrics {
    /// Wall-clock time.
    pub timing_ms_total: f64,
    /// Whether nobody measured it, and it was made from times that were made up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timing_synthesized: bool,
    /// Tool calls, retries included.
    pub tool_call_count: u64,
    /// Calls that repeated a failed one.
    pub retry_count: u64,
    /// Tokens, if a model was involved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<u64>,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The first.
    Header(Header),
    /// One in between.
    Event(Box<Event>),
    /// The last.
    End(End),
}

/// Writes a trace line by line, each in one piece; what `out` buffers is the caller's to flush.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> TraceWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            line: Vec::new(),
        }
    }

    /// Writes the header.
    ///
    /// # Errors
    /// Those of the writer below, here and in the other methods.
    pub fn header(&mut self, header: &Header) -> io::Result<()> {
        self.tagged("header", header)
    }

    /// Writes an event that was serialized before, with its line end.
    ///
    /// # Errors
    /// See [`Self::header`].
    pub fn event_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)
    }

    /// Writes an event.
    ///
    /// # Errors
    /// See [`Self::header`].
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        event.write_line(&mut self.line)?;
        self.write_line()
    }

    /// Writes the end.
    ///
    /// # Errors
    /// See [`Self::header`].
    pub fn end(&mut self, end: &End) -> io::Result<()> {
        self.tagged("end", end)
    }

    /// Hands everything written so far on.
    ///
    /// # Errors
    /// See [`Self::header`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn tagged(&mut self, kind: &str, content: &impl Serialize) -> io::Result<()> {
        #[derive(Serialize)]
        struct Tagged<'a, T> {
            kind: &'a str,
            #[serde(flatten)]
            content: &'a T,
        }
        self.line.clear();
        serde_json::to_writer(&mut self.line, &Tagged { kind, content })?;
        self.write_line()
    }

    fn write_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }
}

/// Why a trace can't be read.
#[derive(Debug)]
pub enum TraceError {
    /// Reading failed.
    Io(io::Error),
    /// A line is not what it should be.
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a version this release does not know.
    Version(String),
}

impl fmt::Display for TraceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(formatter, "reading failed: {error}"),
            Self::Line { line, reason } => {
                write!(formatter, "line {line}: {reason}")
            }
            Self::Version(version) => write!(
                formatter,
                "the trace has version `{version}`; this release reads {SCHEMA_VERSION}"
            ),
        }
    }
}

impl TraceError {
    /// As a finding about the file called `name`.
    pub fn diagnostic(&self, name: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error(
            codes::TRACE_UNREADABLE,
            format!("`{name}` can't be read: {self}"),
        );
        match self {
            Self::Version(_) => diagnostic.with_help("a newer release may read it"),
            _ => diagnostic,
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Reads a trace line by line; memory is bounded by the longest line.
#[derive(Debug)]
pub struct TraceReader<R> {
    input: R,
    /// The line that is read at the moment, with its end.
    text: Vec<u8>,
    line: u64,
    bytes: u64,
    seen_header: bool,
    ended: bool,
    order: Order,
}

/// In what order events are numbered: each is behind the one before it.
#[derive(Debug, Default)]
pub(crate) struct Order(Option<u64>);

impl Order {
    /// Takes the number of the next event.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn next(&mut self, seq: u64) -> Result<(), String> {
        match self.0.replace(seq) {
            Some(before) if before >= seq => Err(format!(
                "the event has the `seq` {seq}, and comes after {before}: `seq` must be strictly increasing"
            )),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> TraceReader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            text: Vec::new(),
            line: 0,
            bytes: 0,
            seen_header: false,
            ended: false,
            order: Order::default(),
        }
    }

    /// Whether the end line was read. If it was not when the lines are over, the run died.
    pub fn is_complete(&self) -> bool {
        self.ended
    }

    /// Goes to the next line that is not empty; whether there is one.
    ///
    /// # Errors
    /// If reading fails, or if the line is too long.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        loop {
            self.text.clear();
            let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            let read = io::Read::take(&mut self.input, limit)
                .read_until(b'\n', &mut self.text)
                .map_err(TraceError::Io)?;
            if read == 0 {
                return Ok(false);
            }
            self.line += 1;
            self.bytes += u64::try_from(read).unwrap_or(u64::MAX);
            if self.text.len() >= MAX_LINE {
                return Err(self.problem(format!("the line is longer than {MAX_LINE} bytes")));
            }
            if self.text.iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Ok(true);
            }
        }
    }

    /// The line as a whole; `None` if it is the last one of a run that was killed while it wrote.
    ///
    /// # Errors
    /// If it is not what it should be in its place.
    pub fn line(&mut self) -> Result<Option<Line>, TraceError> {
        // Another program may cut a text between the two escapes of a character.
        let whole = without_lone_surrogates(&self.text);
        let json: Json = match serde_json::from_slice(&whole) {
            Ok(json) => json,
            Err(_) if !self.text.ends_with(b"\n") => return Ok(None),
            Err(error) => return Err(self.problem(format!("not JSON: {error}"))),
        };
        self.line_of(json).map(Some)
    }

    fn line_of(&mut self, json: Json) -> Result<Line, TraceError> {
        if self.ended {
            return Err(self.problem("unexpected line after the end of the trace".to_owned()));
        }
        let kind = json
            .get("kind")
            .and_then(Json::as_str)
            .unwrap_or("event")
            .to_owned();
        if self.seen_header == (kind == "header") {
            let reason = if self.seen_header {
                "duplicate header"
            } else {
                "the first line must be the header"
            };
            return Err(self.problem(reason.to_owned()));
        }
        let line = match kind.as_str() {
            "header" => {
                let version = json
                    .get("schema_version")
                    .and_then(Json::as_str)
                    .unwrap_or_default();
                if version != SCHEMA_VERSION {
                    return Err(TraceError::Version(version.to_owned()));
                }
                self.seen_header = true;
                serde_json::from_value(json).map(Line::Header)
            }
            "end" => {
                self.ended = true;
                serde_json::from_value(json).map(Line::End)
            }
            _ => match Event::from_json(&json) {
                Ok(event) => return self.in_order(event),
                Err(error) => Err(error),
            },
        };
        line.map_err(|error| self.problem(without_place(&error)))
    }

    fn in_order(&mut self, event: Event) -> Result<Line, TraceError> {
        let in_order = self.order.next(event.seq);
        in_order.map_err(|reason| self.problem(reason))?;
        Ok(Line::Event(Box::new(event)))
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Something is wrong with the line that was read last.
    pub(super) fn problem(&self, reason: String) -> TraceError {
        TraceError::Line {
            line: self.line,
            reason,
        }
    }
}

/// What is wrong, without where in a text that nobody sees.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let mut reason = error.to_string();
    if let Some(at) = reason.rfind(" at line ") {
        reason.truncate(at);
    }
    reason
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Line, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(true) => self.line().transpose(),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{EventData, Log, Other, StepError, StepFinished, StepStatus, ToolCall, ToolResult};
    use proptest::prelude::*;
    use serde_json::json;

    fn json_value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            ".{0,12}".prop_map(Json::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::btree_map(".{0,6}", inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    pub(crate) fn data() -> impl Strategy<Value = EventData> {
        prop_oneof![
            (
                ".{0,12}",
                ".{0,4}",
                json_value(),
                proptest::option::of(1_u32..9)
            )
                .prop_map(|(tool, call_id, args, attempt)| {
                    EventData::ToolCall(ToolCall {
                        tool: tool.into(),
                        call_id: call_id.into(),
                        args: args.into(),
                        native_tool: None,
                        attempt,
                    })
                }),
            (".{0,12}", any::<bool>(), json_value()).prop_map(|(tool, success, result)| {
                EventData::ToolResult(ToolResult {
                    tool: tool.into(),
                    call_id: "c".into(),
                    success,
                    result: result.into(),
                    text: Some("whole".into()),
                    structured: None,
                    fixture_id: None,
                    duration_ms: Some(1.5),
                })
            }),
            (".{0,12}", proptest::option::of(".{0,5}")).prop_map(|(message, stream)| {
                EventData::Log(Log {
                    level: "info".into(),
                    message,
                    stream,
                })
            }),
            (any::<u64>(), json_value()).prop_map(|(step, output)| {
                EventData::StepFinished(StepFinished {
                    step,
                    id: None,
                    tool: "t".into(),
                    description: None,
                    status: StepStatus::Tolerated,
                    duration_ms: 2.25,
                    attempts: Vec::new(),
                    error: Some(StepError {
                        code: "C".into(),
                        error_type: "t".into(),
                        message: "m".into(),
                        notes: vec!["n".into()],
                        help: None,
                    }),
                    healed: None,
                    skipped_by: None,
                    group: None,
                    outputs: [("o".to_owned(), output)].into_iter().collect(),
                    restored: (step % 2 == 0).then_some(crate::Restored::Done),
                    element: None,
                    elements: None,
                })
            }),
            json_value().prop_map(|data| EventData::Other(Other {
                kind: "future".into(),
                actor: "system".into(),
                data
            })),
        ]
    }

    pub(crate) fn header() -> Header {
        Header {
            schema_version: SCHEMA_VERSION.into(),
            trace_id: "t".into(),
            test_run_id: "r".into(),
            capabilities: json!({"supports_replay": true}),
            ..Header::default()
        }
    }

    pub(crate) fn end() -> End {
        End {
            final_output: None,
            status: RunStatus::Success,
            metrics: Metrics::default(),
            artifacts: serde_json::Map::new(),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(all in prop::collection::vec((data(), 0_i64..4_000_000_000_000), 0..6)) {
            let events: Vec<Event> = all
                .into_iter()
                .zip(1..)
                .map(|((data, ms), seq)| Event::live(seq, jiff::Timestamp::from_millisecond(ms).expect("in range"), data))
                .collect();
            let mut bytes = Vec::new();
            let mut writer = TraceWriter::new(&mut bytes);
            writer.header(&header()).expect("memory");
            for event in &events {
                writer.event(event).expect("memory");
                let mut by_hand = Vec::new();
                event.write_line(&mut by_hand).expect("memory");
                prop_assert_eq!(by_hand, serde_json::to_vec(event).expect("memory"));
            }
            writer.end(&end()).expect("memory");
            let mut reader = TraceReader::new(bytes.as_slice());
            let lines: Vec<Line> = reader.by_ref().collect::<Result<_, _>>().expect("readable");
            prop_assert!(reader.is_complete());
            prop_assert_eq!(lines.len(), events.len() + 2);
            prop_assert_eq!(&lines[0], &Line::Header(header()));
            for (line, event) in lines[1..].iter().zip(&events) {
                prop_assert_eq!(line, &Line::Event(Box::new(event.clone())));
            }
        }

        #[test]
        fn a_torn_trace_is_read_up_to_the_tear(cut in 0_usize..1000) {
            let mut bytes = Vec::new();
            let mut writer = TraceWriter::new(&mut bytes);
            writer.header(&header()).expect("memory");
            let log = EventData::Log(Log { level: "info".into(), message: "hello".into(), stream: None });
            for seq in 1..5 {
                writer.event(&Event::live(seq, jiff::Timestamp::UNIX_EPOCH, log.clone())).expect("memory");
            }
            writer.end(&end()).expect("memory");
            let cut = cut % bytes.len();
            let mut reader = TraceReader::new(&bytes[..cut]);
            for line in reader.by_ref() {
                prop_assert!(line.is_ok());
            }
            // Without its newline the end line is whole, or the run died.
            prop_assert_eq!(reader.is_complete(), cut == bytes.len() - 1);
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        let text = "{\"kind\":\"header\",\"schema_version\":\"9.0\"}\n";
        let error = TraceReader::new(text.as_bytes())
            .next()
            .expect("a line")
            .expect_err("too new");
        assert_eq!(
            error.to_string(),
            "the trace has version `9.0`; this release reads 0.1"
        );
    }

    #[test]
    fn events_stand_in_their_order() {
        let read = |order: &[u64]| {
            let mut bytes = Vec::new();
            let mut writer = TraceWriter::new(&mut bytes);
            writer.header(&header()).expect("memory");
            for &seq in order {
                let data = EventData::Message(crate::Message {
                    role: "user".into(),
                    content: "x".into(),
                });
                writer
                    .event(&Event::live(seq, jiff::Timestamp::UNIX_EPOCH, data))
                    .expect("memory");
            }
            writer.flush().expect("memory");
            drop(writer);
            let lines = crate::Trace::read(bytes.as_slice()).map(drop);
            lines.map_err(|error| error.to_string())
        };
        assert_eq!(read(&[1, 2, 7]), Ok(()));
        for order in [&[1, 1], &[2, 1]] {
            let message = read(order).expect_err("out of order");
            assert!(
                message.starts_with("line 3: the event has the `seq` 1, and comes after"),
                "{message}"
            );
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let mut header = serde_json::to_value(header()).expect("JSON");
        header["kind"] = "header".into();
        let event = r#"{"event_id":"e1","seq":1,"ts":"2026-01-02T03:04:05.000Z","type":"log","actor":"system","data":{"level":"info","message":"x\ud83d"}}"#;
        let text = format!("{header}\n{event}\n");
        let lines: Vec<_> = TraceReader::new(text.as_bytes())
            .collect::<Result<_, _>>()
            .expect("it is read");
        let Some(Line::Event(event)) = lines.get(1) else {
            panic!("{lines:?}");
        };
        let EventData::Log(log) = &event.data else {
            panic!("{event:?}");
        };
        assert_eq!(log.message, "x\u{fffd}");
    }

    #[test]
    fn lines_in_the_wrong_place_are_named() {
        let text = "{\"event_id\":\"e1\"}\n";
        let error = TraceReader::new(text.as_bytes())
            .next()
            .expect("a line")
            .expect_err("no header");
        assert_eq!(
            error.to_string(),
            "line 1: the first line must be the header"
        );
    }
}
