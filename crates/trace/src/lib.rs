//! One trace for everything: what happened, past tense, append-only, versioned.
//!
//! Takes events and writes them; reads them back from our own files and from those of others (`import`). Knows no
//! scenario, no player and no assertion, and does no I/O but on readers and writers that it is handed.

mod brief;
mod data;
mod event;
pub mod export;
mod file;
pub mod import;
pub mod journal;
mod redact;
mod schema;
mod whole;

pub use data::{
    Assertion, Attempt, ErrorHappened, FileEdit, FinalOutput, HttpExchange, Log, MemoryRead,
    MemoryWrite, Message, MessageReceived, Other, Permission, Plan, RequestAnswered,
    RequestReceived, RequestSent, ResponseReceived, Restored, Screenshot, StepError, StepFinished,
    StepStarted, StepStatus, Terminal, Thought, ToolCall, ToolResult,
};
pub use event::{Event, EventData, Milliseconds};
pub use file::{
    Adapter, End, Header, Line, Metrics, RunStatus, SCHEMA_VERSION, TraceError, TraceReader,
    TraceWriter,
};
pub use schema::schema;
pub use whole::Trace;
