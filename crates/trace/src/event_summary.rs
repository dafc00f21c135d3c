//! What an event is about, seen without reading all of its line.
//!
//! A long trace has few events that anybody asks for. A glance takes the words that tell them apart out of a line
//! and checks the rest for being JSON, without building anything of it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Event, EventData};
use cuecard_source::value::Json;

/// The words of an event that choose it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventSummary<'l> {
    /// `seq`.
    pub seq: u64,
    /// `event_id`.
    pub event_id: Cow<'l, str>,
    /// `type`.
    pub kind: Cow<'l, str>,
    /// `actor` as written.
    pub actor: Cow<'l, str>,
    /// `task_id`.
    pub task_id: Option<Cow<'l, str>>,
    /// `parent_event_id`.
    pub parent_event_id: Option<Cow<'l, str>>,
    /// `data.tool`.
    pub tool: Option<Cow<'l, str>>,
    /// `data.native_tool`.
    pub native_tool: Option<Cow<'l, str>>,
    /// `data.call_id`.
    pub call_id: Option<Cow<'l, str>>,
    /// `data.success`.
    pub success: Option<bool>,
    /// `data.duration_ms`.
    pub duration_ms: Option<f64>,
}

impl<'l> EventSummary<'l> {
    /// What `line` is about; `None` if it is no event, or one that only reading it as a whole can judge.
    pub(super) fn at(line: &'l str) -> Option<Self> {
        let Line {
            glance,
            has_kind,
            has_seq,
            ts,
        } = serde_json::from_str(line).ok()?;
        let is_whole = match &*glance.kind {
            "" => false,
            "tool_call" => glance.tool.is_some() && glance.call_id.is_some(),
            "tool_result" => {
                glance.tool.is_some() && glance.call_id.is_some() && glance.success.is_some()
            }
            _ => true,
        };
        let is_event = !has_kind && has_seq && !glance.event_id.is_empty() && is_usual_time(&ts);
        (is_whole && is_event).then_some(glance)
    }

    /// What an event that was read is about.
    pub fn of(event: &'l Event) -> Self {
        let mut glance = Self {
            seq: event.seq,
            event_id: event.event_id.as_str().into(),
            kind: event.data.type_name().into(),
            actor: event.data.actor().into(),
            task_id: event.task_id.as_deref().map(Cow::Borrowed),
            parent_event_id: event.parent_event_id.as_deref().map(Cow::Borrowed),
            tool: event.tool().map(Cow::Borrowed),
            duration_ms: event.duration_ms(),
            ..Self::default()
        };
        match &event.data {
            EventData::ToolCall(call) => {
                glance.call_id = Some(Cow::Borrowed(&call.call_id));
                glance.native_tool = call.native_tool.as_deref().map(Cow::Borrowed);
            }
            EventData::ToolResult(result) => {
                glance.call_id = Some(Cow::Borrowed(&result.call_id));
                glance.success = Some(result.success);
            }
            EventData::ErrorHappened(error) => {
                glance.call_id = error.call_id.as_deref().map(Cow::Borrowed);
            }
            EventData::Other(other) => {
                let text = |name: &str| other.data.get(name)?.as_str().map(Cow::Borrowed);
                glance.call_id = text("call_id");
                glance.native_tool = text("native_tool");
                glance.success = other.data.get("success").and_then(Json::as_bool);
                glance.duration_ms = other.data.get("duration_ms").and_then(Json::as_f64);
            }
            _ => {}
        }
        glance
    }
}

/// Whether a time is written as nearly all are, `2026-11-22T02:28:47.518Z`, and is one that exists.
fn is_usual_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |from: usize| match bytes.get(from..from + 2) {
        Some(&[tens @ b'0'..=b'9', ones @ b'0'..=b'9']) => {
            Some(u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
        }
        _ => None,
    };
    let within = |from: usize, least: u32, most: u32| {
        number(from).is_some_and(|number| (least..=most).contains(&number))
    };
    let is_fraction = match bytes.get(19..) {
        Some([b'.', digits @ .., b'Z']) => {
            (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        }
        Some([b'Z']) => true,
        _ => false,
    };
    is_fraction
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
            .into_iter()
            .all(|(place, sign)| bytes[place] == sign)
        && within(0, 0, 99)
        && within(2, 0, 99)
        && within(5, 1, 12)
        && within(8, 1, 28)
        && within(11, 0, 23)
        && within(14, 0, 59)
        && within(17, 0, 59)
}

/// A line of the file as far as it is looked at.
#[derive(Default)]
struct Line<'l> {
    glance: EventSummary<'l>,
    /// Whether it says itself what it is: the header and the end do.
    has_kind: bool,
    has_seq: bool,
    ts: Cow<'l, str>,
}

impl<'l> Deserialize<'l> for Line<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

impl<'l> Visitor<'l> for LineVisitor {
    type Value = Line<'l>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'l>>(self, mut members: M) -> Result<Line<'l>, M::Error> {
        let mut line = Line::default();
        while let Some(Text(name)) = members.next_key::<Text<'l>>()? {
            let glance = &mut line.glance;
            match &*name {
                "event_id" => glance.event_id = members.next_value::<Text<'l>>()?.0,
                "type" => glance.kind = members.next_value::<Text<'l>>()?.0,
                "actor" => glance.actor = members.next_value::<Text<'l>>()?.0,
                "ts" => line.ts = members.next_value::<Text<'l>>()?.0,
                "seq" => {
                    glance.seq = members.next_value()?;
                    line.has_seq = true;
                }
                "task_id" => glance.task_id = text(&mut members)?,
                "parent_event_id" => glance.parent_event_id = text(&mut members)?,
                "group_id" | "session_id" | "agent_id" => {
                    text(&mut members)?;
                }
                "data" => members.next_value_seed(Data(glance))?,
                "kind" => {
                    members.next_value::<IgnoredAny>()?;
                    line.has_kind = true;
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(line)
    }
}

/// Reads `data` into a glance.
struct Data<'g, 'l>(&'g mut EventSummary<'l>);

impl<'l> de::DeserializeSeed<'l> for Data<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Data<'_, 'l> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'l>>(self, mut members: M) -> Result<(), M::Error> {
        let glance = self.0;
        while let Some(Text(name)) = members.next_key::<Text<'l>>()? {
            match &*name {
                "tool" => glance.tool = text(&mut members)?,
                "native_tool" => glance.native_tool = text(&mut members)?,
                "call_id" => glance.call_id = text(&mut members)?,
                "success" => glance.success = members.next_value()?,
                "duration_ms" => glance.duration_ms = members.next_value()?,
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn text<'l, M: MapAccess<'l>>(members: &mut M) -> Result<Option<Cow<'l, str>>, M::Error> {
    Ok(members
        .next_value::<Option<Text<'l>>>()?
        .map(|Text(text)| text))
}

/// A text that is a part of the line wherever it has no escapes.
struct Text<'l>(Cow<'l, str>);

impl<'l> Deserialize<'l> for Text<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'l> Visitor<'l> for TextVisitor {
            type Value = Text<'l>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'l str) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::data;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_shows_what_the_event_is_about(data in data(), milliseconds in 0_i64..4_000_000_000_000) {
            let ts = jiff::Timestamp::from_millisecond(milliseconds).expect("in range");
            let event = Event::live(1, ts, data);
            let line = serde_json::to_string(&event).expect("memory");
            if let Some(glance) = EventSummary::at(&line) {
                prop_assert_eq!(glance, EventSummary::of(&event));
            }
        }

        #[test]
        fn a_usual_time_is_a_time(text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?Z?") {
            if is_usual_time(&text) {
                prop_assert!(text.parse::<jiff::Timestamp>().is_ok());
            }
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_reader() {
        let line = |rest: &str| {
            format!(
                r#"{{"event_id":"e","seq":1,"ts":"2026-01-01T00:00:00Z","type":"thought"{rest}}}"#
            )
        };
        assert!(EventSummary::at(&line(r#","data":{"text":[[1,{"a":null}]]}"#)).is_some());
        for rest in [
            r#","kind":"end""#,
            r#","ts":"yesterday""#,
            r#","seq":-1"#,
            r#","type":"tool_call","data":{"tool":"t"}"#,
            r#","type":"tool_result","data":{"tool":"t","call_id":"c"}"#,
            r#","data":[]"#,
            r#","data":{"text":01}"#,
            r#","data":{"text":}"#,
            r#"} {"#,
        ] {
            assert!(EventSummary::at(&line(rest)).is_none(), "{rest}");
        }
    }
}
