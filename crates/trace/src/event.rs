//! One event: when, what, and to what it belongs.

use std::fmt;

use jiff::Timestamp;
use schemars::{Schema, SchemaGenerator};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::data::{
    Assertion, ElementFinished, ElementStarted, ErrorHappened, FileEdit, FinalOutput, HttpExchange,
    Log, MemoryRead, MemoryWrite, Message, MessageReceived, Other, Permission, Plan,
    RequestAnswered, RequestReceived, RequestSent, ResponseReceived, Screenshot, StepFinished,
    StepStarted, Terminal, Thought, ToolCall, ToolResult,
};
use cuecard_source::value::Json;

/// One event of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id, unique in the trace.
    pub event_id: String,
    /// Its place in the trace, from 1.
    pub seq: u64,
    /// When it happened, to the millisecond.
    pub ts: Timestamp,
    /// Whether nobody measured the time, and it was made from its neighbours.
    pub ts_synthesized: bool,
    /// The group it belongs to.
    pub group_id: Option<String>,
    /// The session it belongs to.
    pub session_id: Option<String>,
    /// The task it belongs to.
    pub task_id: Option<String>,
    /// The agent it belongs to.
    pub agent_id: Option<String>,
    /// The event it answers.
    pub parent_event_id: Option<String>,
    /// What happened.
    pub data: EventData,
}

impl Event {
    /// Event number `seq` of a live run.
    pub fn live(seq: u64, ts: Timestamp, data: EventData) -> Self {
        let mut digits = itoa::Buffer::new();
        Self {
            event_id: ["e", digits.format(seq)].concat(),
            seq,
            ts,
            ts_synthesized: false,
            group_id: None,
            session_id: None,
            task_id: None,
            agent_id: None,
            parent_event_id: None,
            data,
        }
    }
}

macro_rules! event_types {
    ($($type:ident = $name:literal by $actor:literal;)*) => {
        /// What happened, by type.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "each variant is named after its documented data")]
        pub enum EventData { $($type($type),)* Other(Other) }

        impl EventData {
            /// Every type that is known, as it is written.
            pub const TYPES: &'static [&'static str] = &[$($name,)*];

            /// The type as it is written.
            pub fn type_name(&self) -> &str {
                match self { $(Self::$type(_) => $name,)* Self::Other(other) => &other.kind }
            }

            /// Who did it.
            pub fn actor(&self) -> &str {
                match self { $(Self::$type(_) => $actor,)* Self::Other(other) => &other.actor }
            }

            /// The fields of the data of a type; nothing if the type is not known.
            pub fn fields_of(kind: &str) -> Option<Vec<String>> {
                let schema = match kind {
                    $($name => schemars::schema_for!($type),)*
                    _ => return None,
                };
                let fields = schema.get("properties").and_then(Json::as_object);
                Some(fields.into_iter().flatten().map(|(name, _)| name.clone()).collect())
            }

            /// The data alone, without the type.
            pub fn to_json(&self) -> Json {
                // All data has texts as its keys, which is all that could fail.
                serde_json::to_value(DataOnly(self)).unwrap_or_default()
            }

            /// The schema of the data of each type that is known.
            pub(super) fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![$(($name, generator.subschema_for::<$type>()),)*]
            }

            /// The next value as the data of this type; as it is, if the type is not known.
            fn next<'de, M: MapAccess<'de>>(
                kind: &str,
                members: &mut M,
            ) -> Result<Result<Self, Json>, M::Error> {
                Ok(match kind {
                    $($name => Ok(Self::$type(members.next_value()?)),)*
                    _ => Err(members.next_value()?),
                })
            }

            /// What an event of a type says; an unknown type is kept as it is.
            ///
            /// # Errors
            /// If the data are not those of the type.
            pub fn from_parts(kind: String, actor: String, data: Json) -> serde_json::Result<Self> {
                Ok(match kind.as_str() {
                    $($name => Self::$type(serde_json::from_value(data)?),)*
                    _ => Self::Other(Other { kind, actor, data }),
                })
            }
        }

        /// Serializes the data alone, without its type.
        struct DataOnly<'a>(&'a EventData);

        impl Serialize for DataOnly<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    $(EventData::$type(data) => data.serialize(serializer),)*
                    EventData::Other(other) => other.data.serialize(serializer),
                }
            }
        }
    };
}

event_types! {
    MessageReceived = "message_received" by "user";
    FinalOutput = "final_output" by "agent";
    ToolCall = "tool_call" by "agent";
    ToolResult = "tool_result" by "tool";
    RequestReceived = "request_received" by "tool";
    RequestAnswered = "request_answered" by "agent";
    RequestSent = "request_sent" by "agent";
    ResponseReceived = "response_received" by "tool";
    MemoryRead = "memory_read" by "agent";
    MemoryWrite = "memory_write" by "agent";
    ErrorHappened = "error" by "system";
    Message = "message" by "agent";
    Thought = "thought" by "agent";
    Plan = "plan" by "agent";
    HttpExchange = "http_exchange" by "system";
    FileEdit = "file_edit" by "agent";
    Terminal = "terminal" by "user";
    Screenshot = "screenshot" by "agent";
    Permission = "permission" by "system";
    Log = "log" by "system";
    Assertion = "assertion" by "system";
    StepStarted = "step_started" by "system";
    StepFinished = "step_finished" by "system";
    ElementStarted = "element_started" by "system";
    ElementFinished = "element_finished" by "system";
}

impl Event {
    /// The event that a value holds. It goes by way of its text: another reader for what is rarely asked for would be as
    /// large as the first, in the binary.
    ///
    /// # Errors
    /// If it is no event.
    pub fn from_json(json: &Json) -> serde_json::Result<Self> {
        serde_json::from_slice(&serde_json::to_vec(json)?)
    }

    /// Puts the event at the end of `line` as compact JSON.
    ///
    /// # Errors
    /// If the data can't be serialized.
    pub fn write_line(&self, line: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(line, self)
    }

    /// What it belongs to, by the names of the fields.
    fn belongings(&self) -> [(&'static str, &Option<String>); 5] {
        [
            ("group_id", &self.group_id),
            ("session_id", &self.session_id),
            ("task_id", &self.task_id),
            ("agent_id", &self.agent_id),
            ("parent_event_id", &self.parent_event_id),
        ]
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event_id", &self.event_id)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("ts", &Milliseconds(self.ts))?;
        if self.ts_synthesized {
            map.serialize_entry("ts_synthesized", &true)?;
        }
        map.serialize_entry("type", self.data.type_name())?;
        map.serialize_entry("actor", self.data.actor())?;
        for (name, id) in self.belongings() {
            if let Some(id) = id {
                map.serialize_entry(name, id)?;
            }
        }
        map.serialize_entry("data", &DataOnly(&self.data))?;
        map.end()
    }
}

/// A time to the millisecond, `2026-11-22T02:28:47.518Z`.
#[derive(Debug, Clone, Copy)]
pub struct Milliseconds(
    /// The time.
    pub Timestamp,
);

impl Serialize for Milliseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.3}", self.0))
    }
}

/// Others may write times more exactly than is kept.
fn to_the_millisecond(ts: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(ts.as_millisecond()).unwrap_or(ts)
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

/// The members of an event.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Member {
    EventId,
    Seq,
    Ts,
    TsSynthesized,
    Type,
    Actor,
    GroupId,
    SessionId,
    TaskId,
    AgentId,
    ParentEventId,
    Data,
    #[serde(other)]
    Unknown,
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an event")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Event, M::Error> {
        let (mut event_id, mut seq, mut ts) = (None, None, None);
        let mut ts_synthesized = None;
        let (mut kind, mut actor) = (None::<String>, None);
        let (mut group_id, mut session_id, mut task_id) = (None, None, None);
        let (mut agent_id, mut parent_event_id) = (None, None);
        // Data is read as what it is, once its type is known; nearly always that comes first.
        let (mut data, mut untyped) = (None, None);
        while let Some(member) = members.next_key()? {
            match member {
                Member::EventId => once("event_id", &mut event_id, &mut members)?,
                Member::Seq => once("seq", &mut seq, &mut members)?,
                Member::Ts => once::<String, _>("ts", &mut ts, &mut members)?,
                Member::TsSynthesized => once("ts_synthesized", &mut ts_synthesized, &mut members)?,
                Member::Type => once("type", &mut kind, &mut members)?,
                Member::Actor => once("actor", &mut actor, &mut members)?,
                Member::GroupId => once("group_id", &mut group_id, &mut members)?,
                Member::SessionId => once("session_id", &mut session_id, &mut members)?,
                Member::TaskId => once("task_id", &mut task_id, &mut members)?,
                Member::AgentId => once("agent_id", &mut agent_id, &mut members)?,
                Member::ParentEventId => {
                    once("parent_event_id", &mut parent_event_id, &mut members)?;
                }
                Member::Data if data.is_some() || untyped.is_some() => {
                    return Err(de::Error::duplicate_field("data"));
                }
                Member::Data => match &kind {
                    Some(kind) => match EventData::next(kind, &mut members)? {
                        Ok(typed) => data = Some(typed),
                        Err(json) => untyped = Some(json),
                    },
                    None => untyped = Some(members.next_value()?),
                },
                Member::Unknown => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        let missing = <M::Error as de::Error>::missing_field;
        let event_id = event_id.ok_or_else(|| missing("event_id"))?;
        let seq = seq.ok_or_else(|| missing("seq"))?;
        let ts = ts.ok_or_else(|| missing("ts"))?;
        let kind = kind.ok_or_else(|| missing("type"))?;
        let ts = ts.parse().map_err(|error| {
            de::Error::custom(format!("`ts` is not a valid RFC 3339 timestamp: {error}"))
        })?;
        let data = match data {
            Some(data) => data,
            None => {
                let actor = actor.unwrap_or_default();
                EventData::from_parts(kind, actor, untyped.unwrap_or_default())
                    .map_err(de::Error::custom)?
            }
        };
        Ok(Event {
            event_id,
            seq,
            ts: to_the_millisecond(ts),
            ts_synthesized: ts_synthesized.unwrap_or(false),
            group_id: group_id.flatten(),
            session_id: session_id.flatten(),
            task_id: task_id.flatten(),
            agent_id: agent_id.flatten(),
            parent_event_id: parent_event_id.flatten(),
            data,
        })
    }
}

/// Reads a member that must not come twice.
fn once<'de, T: Deserialize<'de>, M: MapAccess<'de>>(
    name: &'static str,
    member: &mut Option<T>,
    members: &mut M,
) -> Result<(), M::Error> {
    if member.is_some() {
        return Err(de::Error::duplicate_field(name));
    }
    *member = Some(members.next_value()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn times_are_written_as_the_library_writes_them(milliseconds in -62_167_219_200_000_i64..253_402_300_799_999) {
            let ts = Timestamp::from_millisecond(milliseconds).expect("in range");
            let written = serde_json::to_string(&Milliseconds(ts)).expect("text");
            prop_assert_eq!(written, format!("\"{ts:.3}\""));
        }
    }
}
