//! The tap: the one way into the trace. Secrets are taken out here, before anything is written or shown.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use cuecard_source::value::{Json, Redactor, find_credentials, may_hold_credential};
use cuecard_trace::journal::Record;
use cuecard_trace::{End, Event, EventData, Header, RunStatus, StepFinished, TraceWriter};
use tokio::sync::watch;

use super::clock::Clock;
use super::journal::Journal;

/// Events wait in memory for the next settling up to this many bytes; then they are written first and shown
/// after, as always.
const MOST_UNSETTLED: usize = 32 << 10;

/// As many events wait to be told.
const MOST_UNTOLD: usize = 1_000;

/// As many wait for the disk.
const MOST_UNCOMMITTED: usize = 16_000;

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
    /// Bytes of events since everything was last settled, and their number.
    unsettled: (usize, usize),
    journal: Option<Journal>,
    /// Where the record of the last step that ended is in the journal.
    ended_at: u64,
    audience: Rc<RefCell<Audience<'a>>>,
    error: Option<io::Error>,
    /// The file that the error is about.
    failed_file: &'static str,
}

/// Those who look at events, and what they were not told yet.
#[derive(Default)]
struct Audience<'a> {
    listeners: Vec<Box<dyn Listener + 'a>>,
    /// With how far the journal must be on the disk before.
    untold: VecDeque<(u64, Event)>,
    /// The number of the last event that is written.
    written: u64,
    /// How far the journal is on the disk.
    committed: Option<watch::Receiver<u64>>,
}

impl Audience<'_> {
    /// Tells what is written, up to the first step whose end is not on the disk yet.
    fn show(&mut self) {
        let committed = self.committed.as_ref();
        let committed = committed.map_or(u64::MAX, |committed| *committed.borrow());
        let is_ready = |(at, event): &&(u64, Event)| *at <= committed && event.seq <= self.written;
        let ready = self.untold.iter().take_while(is_ready).count();
        if ready == 0 {
            return;
        }
        for listener in &mut self.listeners {
            for (_, event) in self.untold.iter().take(ready) {
                listener.event(event);
            }
            listener.settle();
        }
        self.untold.drain(..ready);
    }
}

/// Tells the listeners of a [`Recorder`] while somebody else records.
pub struct Reporter<'a>(Rc<RefCell<Audience<'a>>>);

impl Reporter<'_> {
    /// Tells the end of each step once it is on the disk.
    pub async fn report(&self) -> Infallible {
        let committed = self.0.borrow().committed.clone();
        if let Some(mut committed) = committed {
            loop {
                committed.mark_unchanged();
                self.0.borrow_mut().show();
                if committed.changed().await.is_err() {
                    break;
                }
            }
        }
        std::future::pending().await
    }
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
            unsettled: (0, 0),
            journal: None,
            ended_at: 0,
            audience: Rc::default(),
            error: None,
            failed_file: "trace",
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

    /// Notes in `journal` where the steps are. The end of a step is told once it is on the disk.
    pub fn keep_journal(&mut self, journal: Journal) {
        self.audience.borrow_mut().committed = Some(journal.committed());
        self.journal = Some(journal);
    }

    /// Tells `listener` every event from now on.
    pub fn tell(&mut self, listener: Box<dyn Listener + 'a>) {
        self.audience.borrow_mut().listeners.push(listener);
    }

    /// What tells the listeners meanwhile.
    pub fn reporter(&self) -> Reporter<'a> {
        Reporter(self.audience.clone())
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
        let has_listeners = !self.audience.borrow().listeners.is_empty();
        if self.trace.is_some() || has_listeners {
            if let Err(error) = event.write_line(&mut self.line) {
                self.error.get_or_insert(error.into());
                return;
            }
            let original = self.redact_event(&mut event);
            self.note_step(&event.data, original);
        }
        if let Some(trace) = &mut self.trace {
            self.line.push(b'\n');
            if let Err(error) = trace.event_line(&self.line) {
                self.error.get_or_insert(error);
            }
        }
        let mut n_untold = 0;
        if has_listeners {
            let untold = &mut self.audience.borrow_mut().untold;
            untold.push_back((self.ended_at, event));
            n_untold = untold.len();
        }
        self.unsettled.0 += self.line.len();
        self.unsettled.1 += 1;
        if n_untold > MOST_UNCOMMITTED {
            self.commit();
        } else if self.unsettled.0 > MOST_UNSETTLED || self.unsettled.1 > MOST_UNTOLD {
            self.settle();
        }
    }

    /// Notes in the journal that a step begins or ended, without the secrets in its outputs. `original` is what the event
    /// said with them.
    fn note_step(&mut self, data: &EventData, original: Option<EventData>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        match data {
            // The elements of a step begin one by one.
            EventData::StepStarted(started) if started.elements.is_some() => {}
            EventData::StepStarted(started) | EventData::ElementStarted(started) => {
                let (step, element) = (started.step, started.element);
                journal.append(&Record::<&StepFinished>::Begin { step, element });
            }
            EventData::StepFinished(finished) | EventData::ElementFinished(finished)
                if finished.restored.is_none() =>
            {
                let withheld = match &original {
                    Some(
                        EventData::StepFinished(original) | EventData::ElementFinished(original),
                    ) => finished
                        .outputs
                        .iter()
                        .filter(|(name, value)| original.outputs.get(*name) != Some(*value))
                        .map(|(name, _)| name.clone())
                        .collect(),
                    _ => Vec::new(),
                };
                journal.append(&Record::End { finished, withheld });
                self.ended_at = journal.length();
            }
            _ => {}
        }
    }

    /// Takes secrets out of the event and of its serialized form, if there are any. What is a credential by its key, its
    /// place or its looks is a secret from here on. Returns what the event said, if it has changed.
    fn redact_event(&mut self, event: &mut Event) -> Option<EventData> {
        let line = std::str::from_utf8(&self.line).ok()?;
        if !may_hold_credential(line) && !self.redactor.finds(line) {
            return None;
        }
        let mut json = serde_json::from_str::<Json>(line).ok()?;
        // Only the data can hold what somebody gave us; ids and times are ours, and readers need them.
        let data = json.get_mut("data")?;
        let mut found = Vec::new();
        find_credentials(data, &mut found);
        self.redactor.learn(found);
        if !self.redactor.finds(line) {
            return None;
        }
        let redactor = &self.redactor;
        event.data.redact(data, &mut |value| redactor.json(value));
        let original = match Event::from_json(&json) {
            Ok(redacted) => std::mem::replace(event, redacted).data,
            Err(_) => {
                // A secret took the place of a value that must be a number or a word: nothing of the
                // event can be shown safely but that it happened.
                let log = EventData::Log(cuecard_trace::Log {
                    level: "warning".to_owned(),
                    message: format!(
                        "a `{}` event was left out: a secret stood in one of its fixed fields",
                        event.data.type_name()
                    ),
                    stream: None,
                });
                std::mem::replace(&mut event.data, log)
            }
        };
        self.line.clear();
        // Serializing what was just parsed into memory can't fail.
        let _ = event.write_line(&mut self.line);
        Some(original)
    }

    /// Everything recorded so far is on its way to the disk, then shown as far as it is there. To be called before
    /// anything that takes time or has an effect, so that a crash loses nothing that was reported.
    pub fn settle(&mut self) {
        self.write();
        self.show();
    }

    /// The first half of [`Self::settle`]: everything recorded so far is on its way to the disk. Who calls this
    /// before an effect calls [`Self::show`] when there is time for it.
    pub fn write(&mut self) {
        self.unsettled = (0, 0);
        let written = self.journal.as_mut().map_or(Ok(()), Journal::write);
        self.check_journal(written);
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.flush()
        {
            self.error.get_or_insert(error);
        }
        self.audience.borrow_mut().written = self.seq;
    }

    /// Tells the listeners what is written and they don't know yet.
    pub fn show(&mut self) {
        if self.unsettled.0 > 0 {
            self.write();
        }
        self.audience.borrow_mut().show();
    }

    /// Waits until the journal is on the disk with all that was recorded so far, which then is shown.
    pub fn commit(&mut self) {
        self.write();
        let committed = self.journal.as_mut().map_or(Ok(()), Journal::commit);
        self.check_journal(committed);
        self.show();
    }

    /// A journal that can't be written ends the run, of which everything is shown then.
    fn check_journal(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed_file = "journal";
            self.error = Some(error);
            self.journal = None;
            self.audience.borrow_mut().committed = None;
        }
    }

    /// The file that the error is about: the trace or the journal.
    pub fn failed_file(&self) -> &'static str {
        self.failed_file
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
        if let (Some(journal), RunStatus::Success | RunStatus::Partial) =
            (&mut self.journal, end.status)
        {
            journal.append(&Record::<&StepFinished>::Passed {});
        }
        self.commit();
    }
}

impl Drop for Recorder<'_> {
    /// What happened is shown, however the run ended.
    fn drop(&mut self) {
        self.commit();
    }
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Recorder")
            .field("seq", &self.seq)
            .field("listeners", &self.audience.borrow().listeners.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_dir::RunDir;
    use cuecard_trace::{
        Line, Log, RequestSent, StepStarted, StepStatus, ToolCall, ToolResult, TraceReader,
    };
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
    fn a_secret_that_is_one_of_our_words_leaves_events_and_journals_whole() {
        let parent = tempfile::tempdir().expect("a folder");
        let dir = RunDir::create(parent.path(), jiff::Timestamp::UNIX_EPOCH).expect("created");
        let seen = Rc::new(RefCell::new(Vec::new()));
        let words = ["pass", "step", "tool", "status", "duration", "fail"];
        let secrets = words.map(str::to_owned);
        let mut recorder = Recorder::new(Clock::start(), Redactor::new(secrets));
        recorder.tell(Box::new(Seen(seen.clone())));
        recorder.keep_journal(Journal::create(&dir, |_| Ok(())).expect("created"));
        let finished = StepFinished {
            step: 1,
            id: Some("passed".to_owned()),
            tool: "a__tool".into(),
            description: None,
            status: StepStatus::Passed,
            duration_ms: 1.0,
            attempts: Vec::new(),
            error: None,
            skipped_by: None,
            group: None,
            healed: None,
            outputs: [
                ("status".to_owned(), "pass 1".into()),
                ("n".to_owned(), 1.into()),
            ]
            .into_iter()
            .collect(),
            restored: None,
            element: None,
            elements: None,
        };
        let mut shown = finished.clone();
        shown.outputs["status"] = "[redacted] 1".into();
        recorder.record(EventData::StepFinished(finished));
        recorder.commit();
        let shown = EventData::StepFinished(shown);
        assert_eq!(seen.borrow()[0].data, shown);
        let journal = std::fs::read_to_string(dir.path().join("journal.jsonl")).expect("written");
        let Ok(Record::<StepFinished>::End { finished, withheld }) = serde_json::from_str(&journal)
        else {
            panic!("{journal}")
        };
        assert_eq!(EventData::StepFinished(finished), shown);
        assert_eq!(withheld, ["status"]);
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
    fn a_step_is_told_when_its_end_is_on_the_disk_and_the_rest_before() {
        let parent = tempfile::tempdir().expect("a folder");
        let dir = RunDir::create(parent.path(), jiff::Timestamp::UNIX_EPOCH).expect("created");
        let seen = Rc::new(RefCell::new(Vec::new()));
        let mut recorder = Recorder::new(Clock::start(), Redactor::new(["s3cret".to_owned()]));
        recorder.tell(Box::new(Seen(seen.clone())));
        recorder.keep_journal(Journal::create(&dir, |_| Ok(())).expect("created"));
        let started = |step| {
            EventData::StepStarted(StepStarted {
                step,
                id: None,
                tool: "t".into(),
                description: None,
                element: None,
                elements: None,
            })
        };
        let finished = |step, output: &str| {
            EventData::StepFinished(StepFinished {
                step,
                id: None,
                tool: "t".into(),
                description: None,
                status: StepStatus::Passed,
                duration_ms: 1.0,
                attempts: Vec::new(),
                error: None,
                skipped_by: None,
                group: None,
                healed: None,
                outputs: [("o".to_owned(), output.into()), ("n".to_owned(), 1.into())]
                    .into_iter()
                    .collect(),
                restored: None,
                element: None,
                elements: None,
            })
        };
        let told = || seen.borrow().len();
        recorder.record(started(1));
        recorder.record(finished(1, "plain"));
        // Nothing can be on the disk that is not written.
        recorder.audience.borrow_mut().show();
        assert_eq!(told(), 0);
        recorder.write();
        let journal =
            || std::fs::read_to_string(dir.path().join("journal.jsonl")).expect("written");
        assert_eq!(journal().lines().count(), 2, "before anybody is told");
        recorder.commit();
        assert_eq!(told(), 2);
        recorder.record(started(2));
        recorder.record(finished(2, "it is s3cret"));
        recorder.commit();
        assert_eq!(told(), 4);
        let journal = journal();
        let last = journal.lines().last().expect("a line");
        let Ok(Record::<StepFinished>::End { finished, withheld }) = serde_json::from_str(last)
        else {
            panic!("{last}")
        };
        assert_eq!(
            (withheld, &finished.outputs["n"]),
            (vec!["o".to_owned()], &1.into())
        );
        assert!(!journal.contains("s3cret"), "{journal}");
    }

    #[test]
    fn a_journal_that_can_not_be_written_is_an_error_and_hides_no_event() {
        let parent = tempfile::tempdir().expect("a folder");
        let dir = RunDir::create(parent.path(), jiff::Timestamp::UNIX_EPOCH).expect("created");
        let journal = Journal::create(&dir, |file| {
            *file = std::fs::File::options().write(true).open("/dev/full")?;
            Ok(())
        });
        let seen = Rc::new(RefCell::new(Vec::new()));
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        recorder.tell(Box::new(Seen(seen.clone())));
        recorder.keep_journal(journal.expect("created"));
        recorder.record(EventData::StepStarted(StepStarted {
            step: 1,
            id: None,
            tool: "t".into(),
            description: None,
            element: None,
            elements: None,
        }));
        recorder.write();
        let error = recorder.take_error().expect("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(recorder.failed_file(), "journal");
        recorder.show();
        assert_eq!(seen.borrow().len(), 1);
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
