//! A trace in memory, as assertions and comparisons look at it; written and read in either of its two forms.

use std::io::{self, BufRead, Read as _, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::file::{MAX_LINE, Order, SCHEMA_VERSION, without_place};
use super::{
    Adapter, End, Event, EventData, FinalOutput, Header, Line, Metrics, RunStatus, TraceError,
    TraceReader, TraceWriter,
};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::without_lone_surrogates;
use cuecard_source::value::Json;

/// A trace may have this many bytes: 256 MiB. Read, it takes several times that.
const MAX_BYTES: u64 = 256 << 20;

/// A trace that is held in memory may have this many events.
const MAX_EVENTS: usize = 10_000_000;

/// A trace from its header to its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Everything but events and end.
    pub header: Header,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// How it ended; absent if the run died.
    pub end: Option<End>,
}

impl Trace {
    /// The last answer: the one at the end, else that of the last `final_output` event. Empty if there is none.
    pub fn output(&self) -> &str {
        let of_end = self.end.as_ref().and_then(|end| end.final_output.as_ref());
        let of_event = || {
            let mut latest_first = self.events.iter().rev();
            latest_first.find_map(|event| match &event.data {
                EventData::FinalOutput(output) => Some(output),
                _ => None,
            })
        };
        of_end
            .or_else(of_event)
            .map_or("", |output| output.content.as_str())
    }

    /// Reads a trace in either form: JSON Lines, or one document.
    ///
    /// # Errors
    /// As [`TraceReader`]; besides if there is no header, or if the trace is too large to be held in memory.
    pub fn read(mut input: impl BufRead) -> Result<Self, TraceError> {
        let mut start = Vec::new();
        loop {
            let limit = MAX_LINE.saturating_sub(start.len());
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            let read = io::Read::take(&mut input, limit)
                .read_until(b'\n', &mut start)
                .map_err(TraceError::Io)?;
            if start.starts_with(BYTE_ORDER_MARK) {
                start.drain(..BYTE_ORDER_MARK.len());
            }
            if read == 0 || !start.trim_ascii().is_empty() {
                break;
            }
        }
        if is_whole_line(&start) {
            return Self::read_lines(io::Cursor::new(start).chain(input));
        }
        io::Read::take(&mut input, MAX_BYTES)
            .read_to_end(&mut start)
            .map_err(TraceError::Io)?;
        read_document(&start)
    }

    /// Reads a trace in JSON Lines.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_lines(input: impl BufRead) -> Result<Self, TraceError> {
        let mut reader = TraceReader::new(input);
        let mut trace = Self::default();
        while let Some(line) = reader.next() {
            match line? {
                Line::Header(header) => trace.header = header,
                Line::Event(event) => trace.events.push(*event),
                Line::End(end) => trace.end = Some(end),
            }
            let too_much = match () {
                () if reader.bytes() > MAX_BYTES => format!("is longer than {MAX_BYTES} bytes"),
                () if trace.events.len() > MAX_EVENTS => {
                    format!("has more than {MAX_EVENTS} events")
                }
                () => continue,
            };
            return Err(reader.problem(format!("the trace {too_much}")));
        }
        trace.header.must_be_there()?;
        Ok(trace)
    }

    /// A warning if the run died before the trace, called `name`, had its end.
    pub fn unfinished(&self, name: &str) -> Option<Diagnostic> {
        self.end.is_none().then(|| {
            let message = format!(
                "`{name}` is incomplete: the run ended abnormally after {} events",
                self.events.len()
            );
            Diagnostic::warning(codes::TRACE_UNFINISHED, message)
        })
    }

    /// Writes the trace in JSON Lines. Without an end there is no last line.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_lines(&self, out: impl Write) -> io::Result<()> {
        let mut writer = TraceWriter::new(out);
        writer.header(&self.header)?;
        for event in &self.events {
            writer.event(event)?;
        }
        if let Some(end) = &self.end {
            writer.end(end)?;
        }
        writer.flush()
    }

    /// Writes the trace as one document, with each event on a line of its own.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_document(&self, mut out: impl Write) -> io::Result<()> {
        let mut text = members(&self.header)?;
        text.extend_from_slice(b",\n\"events\":[");
        for (idx, event) in self.events.iter().enumerate() {
            text.extend_from_slice(if idx == 0 { b"\n" } else { b",\n" });
            event.write_line(&mut text)?;
            out.write_all(&text)?;
            text.clear();
        }
        text.extend_from_slice(b"\n]");
        if let Some(end) = &self.end {
            text.extend_from_slice(b",\n");
            text.extend_from_slice(&members(end)?[1..]);
        }
        text.extend_from_slice(b"}\n");
        out.write_all(&text)?;
        out.flush()
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An object as JSON, without its closing bracket.
fn members(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(object)?;
    text.pop();
    Ok(text)
}

/// Whether a text is a whole JSON value that is not a trace in one line: the first of several lines.
fn is_whole_line(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        events: Option<IgnoredAny>,
    }
    match serde_json::from_slice::<Keys>(line) {
        Ok(keys) => keys.events.is_none(),
        // A value of another type is no document either.
        Err(error) => error.is_data() || line.trim_ascii().is_empty(),
    }
}

/// A trace as one document.
#[derive(Deserialize)]
struct Document {
    schema_version: String,
    trace_id: String,
    test_case_id: Option<String>,
    #[serde(default)]
    test_run_id: String,
    adapter: Adapter,
    #[serde(default)]
    capabilities: Json,
    #[serde(default)]
    scenario: Json,
    #[serde(default)]
    input_messages: Vec<Json>,
    events: Vec<Event>,
    final_output: Option<FinalOutput>,
    status: Option<RunStatus>,
    metrics: Option<Metrics>,
    #[serde(default)]
    artifacts: serde_json::Map<String, Json>,
}

fn read_document(text: &[u8]) -> Result<Trace, TraceError> {
    if text.len() as u64 >= MAX_BYTES {
        let reason = format!("the trace is longer than {MAX_BYTES} bytes");
        return Err(TraceError::Line { line: 1, reason });
    }
    let text = &without_lone_surrogates(text);
    check_version(text)?;
    let document: Document = serde_json::from_slice(text).map_err(|error| problem(&error))?;
    let mut order = Order::default();
    for event in &document.events {
        let reason = order.next(event.seq);
        reason.map_err(|reason| TraceError::Line {
            line: 1,
            reason: format!("event `{}`: {reason}", event.event_id),
        })?;
    }
    let end = match (document.status, document.metrics) {
        (None, _) => None,
        (Some(status), Some(metrics)) => Some(End {
            final_output: document.final_output,
            status,
            metrics,
            artifacts: document.artifacts,
        }),
        (Some(_), None) => {
            return Err(TraceError::Line {
                line: 1,
                reason: "the trace has a `status` and no `metrics`".to_owned(),
            });
        }
    };
    Ok(Trace {
        header: Header {
            schema_version: document.schema_version,
            trace_id: document.trace_id,
            test_case_id: document.test_case_id,
            test_run_id: document.test_run_id,
            adapter: document.adapter,
            capabilities: document.capabilities,
            scenario: document.scenario,
            input_messages: document.input_messages,
        },
        events: document.events,
        end,
    })
}

/// Says of another version that it is one, whatever else is different in it.
fn check_version(text: &[u8]) -> Result<(), TraceError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: Option<Json>,
    }
    let version: Version = serde_json::from_slice(text).map_err(|error| problem(&error))?;
    match version.schema_version {
        None => Err(TraceError::Line {
            line: 1,
            reason: "not a trace: `schema_version` is missing".to_owned(),
        }),
        Some(Json::String(version)) if version == SCHEMA_VERSION => Ok(()),
        Some(version) => Err(TraceError::Version(
            cuecard_source::value::cut(&cuecard_source::value::as_text(&version), 40).into_owned(),
        )),
    }
}

fn problem(error: &serde_json::Error) -> TraceError {
    let mut reason = without_place(error);
    if error.line() > 0 && !error.is_data() {
        reason = format!("not valid JSON: {reason} in column {}", error.column());
    }
    TraceError::Line {
        line: u64::try_from(error.line().max(1)).unwrap_or(u64::MAX),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::{data, end, header};
    use proptest::prelude::*;

    fn message(text: &str) -> String {
        Trace::read(text.as_bytes())
            .expect_err("no trace")
            .to_string()
    }

    proptest! {
        #[test]
        fn both_forms_are_read_back(
            all in prop::collection::vec((data(), 0_i64..4_000_000_000_000), 0..6),
            ended: bool,
        ) {
            let events = all
                .into_iter()
                .zip(1..)
                .map(|((data, ms), seq)| {
                    Event::live(seq, jiff::Timestamp::from_millisecond(ms).expect("in range"), data)
                })
                .collect();
            let trace = Trace { header: header(), events, end: ended.then(end) };
            let (mut lines, mut document) = (Vec::new(), Vec::new());
            trace.write_lines(&mut lines).expect("memory");
            trace.write_document(&mut document).expect("memory");
            prop_assert_eq!(&Trace::read(lines.as_slice()).expect("readable"), &trace);
            prop_assert_eq!(&Trace::read(document.as_slice()).expect("readable"), &trace);
            // However it is laid out.
            let value: Json = serde_json::from_slice(&document).expect("JSON");
            prop_assert_eq!(&Trace::read(value.to_string().as_bytes()).expect("readable"), &trace);
            let pretty = format!("\u{feff}\n{value:#}");
            prop_assert_eq!(&Trace::read(pretty.as_bytes()).expect("readable"), &trace);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\":,a-z0-9\n ]{0,60}") {
            let _ = Trace::read(text.as_bytes());
        }
    }

    #[test]
    fn what_is_no_trace_says_why() {
        let nothing = "line 1: not a trace: the first line must be the header";
        assert_eq!(message(""), nothing);
        assert_eq!(message("\n \n"), nothing);
        assert_eq!(message("{}"), "line 1: the first line must be the header");
        assert_eq!(
            message("{\n \"events\": []}"),
            "line 1: not a trace: `schema_version` is missing"
        );
        assert_eq!(
            message("{\n \"events\": [}"),
            "line 2: not valid JSON: expected value in column 13"
        );
        assert_eq!(
            message(r#"{"schema_version": "1.2", "events": 7}"#),
            "the trace has version `1.2`; this release reads 0.1"
        );
        assert_eq!(
            message("{\"schema_version\": \"0.1\",\n\"events\": 7}"),
            "line 2: invalid type: integer `7`, expected a sequence"
        );
        assert_eq!(
            message(
                r#"{"schema_version": "0.1", "trace_id": "t", "adapter": {"name": "", "version": ""}, "events": [], "status": "success"}"#
            ),
            "line 1: the trace has a `status` and no `metrics`"
        );
    }

    #[test]
    fn a_trace_says_whether_it_ended() {
        let mut trace = Trace {
            header: header(),
            ..Trace::default()
        };
        let found = trace.unfinished("x.trace.jsonl").expect("a warning");
        assert_eq!(
            found.message,
            "`x.trace.jsonl` is incomplete: the run ended abnormally after 0 events"
        );
        trace.end = Some(end());
        assert!(trace.unfinished("x.trace.jsonl").is_none());
    }

    #[test]
    fn times_are_kept_to_the_millisecond() {
        let text = r#"{"kind":"header","schema_version":"0.1","trace_id":"t","test_run_id":"r","adapter":{"name":"","version":""}}
{"event_id":"e","seq":1,"ts":"2026-01-01T01:00:00.1239+01:00","type":"thought","data":{"text":""}}
"#;
        let trace = Trace::read(text.as_bytes()).expect("a trace");
        let ts = trace.events[0].ts;
        assert_eq!(ts.to_string(), "2026-01-01T00:00:00.123Z");
    }

    #[test]
    fn invalid_text_is_an_error_and_no_loss() {
        let mut bytes = Vec::new();
        let trace = Trace {
            header: header(),
            ..Trace::default()
        };
        trace.write_lines(&mut bytes).expect("memory");
        bytes.extend_from_slice(b"{\"event_id\": \"\xff\"}\n");
        let error = Trace::read(bytes.as_slice()).expect_err("no text");
        assert!(
            error.to_string().starts_with("line 2: not JSON: "),
            "{error}"
        );
    }
}
