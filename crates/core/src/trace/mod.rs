//! One trace for everything: what happened, past tense, append-only, versioned.

mod brief;
mod browser;
mod data;
mod event;
mod file;
mod glance;
pub mod import;
mod schema;
mod whole;

pub use browser::{
    BrowserResult, browser_call, browser_events, browser_notes, browser_opened, browser_opening,
    browser_result, browser_tool,
};
pub use data::{
    Assertion, Attempt, ErrorHappened, FileEdit, FinalOutput, HttpExchange, Log, MemoryRead,
    MemoryWrite, Message, MessageReceived, Other, Permission, Plan, RequestAnswered,
    RequestReceived, RequestSent, ResponseReceived, Screenshot, StepError, StepFinished,
    StepStarted, StepStatus, Terminal, Thought, ToolCall, ToolResult,
};
pub use event::{Event, EventData, Milliseconds};
pub use file::{
    Adapter, End, Header, Line, Metrics, RunStatus, SCHEMA_VERSION, TraceError, TraceReader,
    TraceWriter,
};
pub use glance::Glance;
pub use schema::schema;
pub(crate) use whole::MAX_IN_MEMORY;
pub use whole::{Opened, Trace};
