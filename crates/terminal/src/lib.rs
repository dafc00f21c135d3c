//! Timelines in a terminal: the stand-in for a coding agent that is played there ([`MockAgent`]), and the terminal in
//! which programs are driven.
//!
//! Takes timelines and a workspace; the agent prints what it thinks and says, really runs its tools, and gives a
//! verdict. Knows no other player: what is done around the agent is up to `runner`.

mod agent;
pub mod control;

pub use agent::{AgentOptions, AgentVerdict, MockAgent, TerminalOutput};
