//! The tap: the one way into the trace. Secrets are taken out here, before anything is written or shown.

use std::io::{self, Write};
use std::time::Duration;

use cuecard_source::value::{Json, Redactor, find_credentials, may_hold_credential};
use cuecard_trace::{End, Event, EventData, Header, TraceWriter};

use super::clock::Clock;

/// Events wait in memory for the next settling up to this many bytes; then they are written first and shown
/// after, as always.
const MOST_UNSETTLED: usize = 32 << 10;

/// As many events wait to be told.
const MOST_UNTOLD: usize = 1_000;

/// Somebody who looks at events. They are written first.
pub trait Listener {
    /// An event happened.
    fn event(&mut self, event: &Event);

    /// Nothing more is known for now: show what there is.
    fn settle(&mut self) {}
}

/// Numbers events, takes secrets out, writes the trace and tells the listeners.
pub struct Recorder<'a> {
    clock: Clock,
    seq: u64,
    redactor: Redactor,
    trace: Option<TraceWriter<io::BufWriter<Box<dyn Write + 'a>>>>,
    line: Vec<u8>,
    /// Bytes of events since everything was last settled.
    unsettled: usize,
    /// Events that the listeners were not told yet.
    untold: Vec<Event>,
    listeners: Vec<Box<dyn Listener + 'a>>,
    error: Option<io::Error>,
}

impl<'a> Recorder<'a> {
    /// A recorder that writes nowhere yet.
    pub fn new(clock: Clock, redactor: Redactor) -> Self {
        Self {
            clock,
            seq: 0,
            redactor,
            trace: None,
            line: Vec::new(),
            unsettled: 0,
            untold: Vec::new(),
            listeners: Vec::new(),
            error: None,
        }
    }

    /// Writes the trace to `out`, beginning with `header`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&mut self, out: Box<dyn Write + 'a>, header: &Header) -> io::Result<()> {
        let mut writer = TraceWriter::new(io::BufWriter::with_capacity(64 << 10, out));
        writer.header(header)?;
        writer.flush()?;
        self.trace = Some(writer);
        Ok(())
    }

    /// Tells `listener` every event from now on.
    pub fn tell(&mut self, listener: Box<dyn Listener + 'a>) {
        self.listeners.push(listener);
    }

    /// The run's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Learns more secrets.
    pub fn add_secrets(&mut self, secrets: impl IntoIterator<Item = String>) {
        self.redactor.add(secrets);
    }

    /// The secrets known so far.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Something happened.
    pub fn record(&mut self, data: EventData) {
        self.record_at(self.clock.now(), data);
    }

    /// Something happened at `elapsed` after the start.
    pub fn record_at(&mut self, elapsed: Duration, data: EventData) {
        self.record_in(None, elapsed, data);
    }

    /// The same in a session.
    pub fn record_in(&mut self, session: Option<&str>, elapsed: Duration, data: EventData) {
        self.seq += 1;
        let mut event = Event::live(self.seq, self.clock.timestamp(elapsed), data);
        event.session_id = session.map(str::to_owned);
        self.line.clear();
        if self.trace.is_some() || !self.listeners.is_empty() {
            if let Err(error) = event.write_line(&mut self.line) {
                self.error.get_or_insert(error.into());
                return;
            }
            self.redact_event(&mut event);
        }
        if let Some(trace) = &mut self.trace {
            self.line.push(b'\n');
            if let Err(error) = trace.event_line(&self.line) {
                self.error.get_or_insert(error);
            }
        }
        if !self.listeners.is_empty() {
            self.untold.push(event);
        }
        self.unsettled += self.line.len();
        if self.unsettled > MOST_UNSETTLED || self.untold.len() > MOST_UNTOLD {
            self.settle();
        }
    }

    /// Takes secrets out of the event and of its serialized form, if there are any. What is a credential by its key, its
    /// place or its looks is a secret from here on.
    fn redact_event(&mut self, event: &mut Event) {
        let Ok(line) = std::str::from_utf8(&self.line) else {
            return;
        };
        if !may_hold_credential(line) && !self.redactor.finds(line) {
            return;
        }
        let Ok(mut json) = serde_json::from_str::<Json>(line) else {
            return;
        };
        // Only the data can hold what somebody gave us; ids and times are ours, and readers need them.
        let Some(data) = json.get_mut("data") else {
            return;
        };
        let mut found = Vec::new();
        find_credentials(data, &mut found);
        found.retain(|secret| !self.redactor.finds(secret));
        self.redactor.add(found);
        if !self.redactor.finds(line) {
            return;
        }
        self.redactor.json(data);
        match Event::from_json(&json) {
            Ok(redacted) => {
                *event = redacted;
                self.line.clear();
                // Serializing what was just parsed into memory can't fail.
                let _ = event.write_line(&mut self.line);
            }
            Err(_) => {
                // A secret took the place of a value that must be a number or a word: nothing of the
                // event can be shown safely but that it happened.
                event.data = EventData::Log(cuecard_trace::Log {
                    level: "warning".to_owned(),
                    message: format!(
                        "a `{}` event was left out: a secret stood in one of its fixed fields",
                        event.data.type_name()
                    ),
                    stream: None,
                });
                self.line.clear();
                let _ = event.write_line(&mut self.line);
            }
        }
    }

    /// Everything recorded so far is on its way to the disk, then shown. To be called before anything that
    /// takes time or has an effect, so that a crash loses nothing that was reported.
    pub fn settle(&mut self) {
        self.write();
        self.show();
    }

    /// The first half of [`Self::settle`]: everything recorded so far is on its way to the disk. Who calls this
    /// before an effect calls [`Self::show`] when there is time for it.
    pub fn write(&mut self) {
        self.unsettled = 0;
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.flush()
        {
            self.error.get_or_insert(error);
        }
    }

    /// Tells the listeners what is written and they don't know yet.
    pub fn show(&mut self) {
        if self.unsettled > 0 {
            self.write();
        }
        if self.untold.is_empty() {
            return;
        }
        for listener in &mut self.listeners {
            for event in &self.untold {
                listener.event(event);
            }
            listener.settle();
        }
        self.untold.clear();
    }

    /// What is wrong with the trace, until it is taken.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// The first thing that went wrong with the trace, once.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Writes the end line.
    pub fn end(&mut self, end: &End) {
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.end(end)
        {
            self.error.get_or_insert(error);
        }
        self.settle();
    }
}

impl Drop for Recorder<'_> {
    /// What happened is shown, however the run ended.
    fn drop(&mut self) {
        self.settle();
    }
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Recorder")
            .field("seq", &self.seq)
            .field("listeners", &self.listeners.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_trace::{Line, Log, RequestSent, ToolCall, ToolResult, TraceReader};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Seen(Rc<RefCell<Vec<Event>>>);

    impl Listener for Seen {
        fn event(&mut self, event: &Event) {
            self.0.borrow_mut().push(event.clone());
        }
    }

    fn header() -> Header {
        Header {
            schema_version: cuecard_trace::SCHEMA_VERSION.to_owned(),
            ..Header::default()
        }
    }

    #[test]
    fn secrets_reach_neither_the_trace_nor_a_listener() {
        let (out, seen) = (Shared::default(), Rc::new(RefCell::new(Vec::new())));
        let mut recorder = Recorder::new(
            Clock::start(),
            Redactor::new(["s3cr\"et".to_owned(), "e1".to_owned()]),
        );
        recorder
            .write_to(Box::new(out.clone()), &header())
            .expect("memory");
        recorder.tell(Box::new(Seen(seen.clone())));
        recorder.record(EventData::ToolCall(ToolCall {
            tool: "t".into(),
            call_id: "c".into(),
            args: serde_json::json!({"token": "Bearer s3cr\"et", "n": 1}).into(),
            native_tool: None,
            attempt: None,
        }));
        recorder.settle();
        let text = String::from_utf8(out.0.borrow().clone()).expect("UTF-8");
        assert!(!text.contains("s3cr"), "{text}");
        let lines: Vec<Line> = TraceReader::new(text.as_bytes())
            .collect::<Result<_, _>>()
            .expect("readable");
        let Line::Event(event) = &lines[1] else {
            panic!("an event")
        };
        assert_eq!(
            event.event_id, "e1",
            "ids are ours, whatever the secrets are"
        );
        assert_eq!(
            &**event,
            &Event {
                ts: event.ts,
                ..seen.borrow()[0].clone()
            }
        );
    }

    #[test]
    fn a_credential_in_structured_content_and_in_what_is_sent_is_a_secret_too() {
        let out = Shared::default();
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        recorder
            .write_to(Box::new(out.clone()), &header())
            .expect("memory");
        recorder.record(EventData::ToolResult(ToolResult {
            tool: "t".into(),
            call_id: "c".into(),
            success: true,
            result: serde_json::json!("ok").into(),
            text: Some("the token is first-s3cret".to_owned()),
            structured: Some(serde_json::json!({"access_token": "first-s3cret"})),
            fixture_id: None,
            duration_ms: None,
        }));
        recorder.record(EventData::RequestSent(RequestSent {
            server: "s".to_owned(),
            method: "tools/call".to_owned(),
            params: serde_json::json!({"arguments": {"password": "second-s3cret"}}),
            call_id: None,
        }));
        recorder.settle();
        let text = String::from_utf8(out.0.borrow().clone()).expect("UTF-8");
        assert!(!text.contains("s3cret"), "{text}");
    }

    #[test]
    fn a_credential_inside_a_text_is_a_secret_in_each_event() {
        let out = Shared::default();
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        recorder
            .write_to(Box::new(out.clone()), &header())
            .expect("memory");
        let log = |message: String| {
            EventData::Log(Log {
                level: "info".into(),
                message,
                stream: None,
            })
        };
        recorder.record(log(
            "Wall time: 1\nOutput:\n{\"pwd\": \"first-s3cret\"}".into()
        ));
        recorder.record(log(format!("it prints hf_{}", "s3cret".repeat(6))));
        recorder.record(log("then first%2ds3cret, token: 15".into()));
        recorder.settle();
        let text = String::from_utf8(out.0.borrow().clone()).expect("UTF-8");
        assert!(!text.contains("s3cret"), "{text}");
        assert!(text.contains("then [redacted], token: 15"), "{text}");
    }

    #[test]
    fn a_full_disk_is_reported_once() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        assert!(recorder.write_to(Box::new(Full), &header()).is_err());
        recorder.record(EventData::Log(Log {
            level: "info".into(),
            message: "m".into(),
            stream: None,
        }));
        assert!(
            recorder.take_error().is_none(),
            "nothing is written, so nothing fails"
        );
    }
}
