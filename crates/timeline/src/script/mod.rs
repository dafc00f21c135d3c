//! Timelines at play: when each event is due, which answers a model gives, and where in the script a request is.
//!
//! A player of models compiles each timeline ([`LlmScript::compile`]), and asks [`Sessions::answer`] with each request.
//! The [`Decision`] names a turn and one of its attempts: [`Turn::delay_of`] says when each of its elements is due,
//! `profiles::native_call` what each of its calls is for the agent that asked.

mod align;
pub mod answer;
mod auxiliary_requests;
mod block_text;
mod blocks;
mod content_block;
mod disobedience;
mod distance;
mod effects;
pub(crate) mod events;
mod hashing;
mod llm_script;
mod miss;
mod parts;
pub mod recording;
mod request;
mod request_key;
mod request_match;
mod result_check;
mod rounds;
mod schedule;
mod schedule_lanes;
mod segments;
mod selection;
mod session;
mod sessions;
mod smallest;
mod speed;
mod terminal_steps;
mod text;
mod turns;
mod turns_build;

#[cfg(test)]
mod client;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod sessions_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod turns_tests;

pub use crate::profiles::{AdvertisedTool, ToolInput};
pub use align::{FieldDifference, Rejection, UserDifference, UserDifferenceKind};
pub use auxiliary_requests::{AuxiliaryRequests, SideReply, SideText};
pub use block_text::block_text;
pub use blocks::{ExpectedBlock, block_difference};
pub use content_block::content_block;
pub use disobedience::{Disobedience, GivenAnswer, disobediences};
pub use effects::{command_line, timeline_effects};
pub use events::{Act, Cell, EVENTS, EXPECT, EventRow, PlayerKind};
pub use llm_script::LlmScript;
pub use miss::Miss;
pub use parts::{EventPart, ScheduledPart, parts};
pub use request::{
    Endpoint, MediaKind, Message, Part, PreviousAnswer, Request, RequestedBlock, RequestedCall,
    RequestedResult, Role, ToolChoice,
};
pub use request_key::RequestKey;
pub use request_match::check_request;
pub use result_check::{ResultDifference, result_difference};
pub use schedule::{CompiledSchedule, EventTimes, Lane, Schedule};
pub use segments::{PromptInput, PromptSegment, PromptSegments};
pub use selection::{DEFAULT_MAX_DISTANCE, Ranked, Selection, SelectionReason, Selector, Wanted};
pub use session::{Decision, HistoryAnswer, Served, Session};
pub use sessions::{
    Address, Answered, DEFAULT_MAX_SESSIONS, SessionKey, SessionProgress, Sessions,
    UnmatchedRequest,
};
pub use smallest::smallest_value;
pub use speed::Speed;
pub use terminal_steps::{StepRole, TerminalStep, terminal_steps};
pub use text::{is_reminder, normalise, without_line_end};
pub use turns::{
    Attempt, CompiledTurns, ExpectedInput, Turn, TurnCall, TurnElement, TurnError, Turns,
};
