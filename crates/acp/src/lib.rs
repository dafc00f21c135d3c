//! The Agent Client Protocol, both sides of it: a stand-in for an agent, which editors and other clients talk to, and a
//! client that drives a real agent. A timeline says what each does and what it expects of the other.
//!
//! Of the stand-in, [`agent`] finds what each line of the client means to the script, and [`turn`] plays the segment that
//! a prompt opens. Of the client, [`client`] sends what the script's user does, and compares what came with what the
//! stand-in would have sent. Both write through [`peer`], with the faults that hit what is sent. What the script is to the
//! protocol is said by [`script`], which does no I/O. What happened is in the verdict and the trace.

mod agent;
mod client;
mod found;
mod mock_agent;
mod options;
mod peer;
mod player;
mod rpc;
mod script;
mod session;
mod telling;
#[cfg(test)]
mod tests;
mod turn;
mod verdict;

pub use client::{AgentCommand, ReadyClient, Workspace};
pub use cuecard_runtime::load::PlayOptions;
pub use cuecard_runtime::scripted_faults::PlannedFault;
pub use cuecard_runtime::start_error::StartError;
pub use cuecard_runtime::trace_writer::TraceOutput;
pub use mock_agent::ReadyAgent;
pub use options::{AcpOptions, DEFAULT_PATIENCE, Lead};
pub use player::{AcpPlayer, Side};
pub use verdict::{Notice, Scenario, TurnReport, UnplayedTurn, Verdict};
