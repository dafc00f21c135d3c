//! Timelines in a terminal: the stand-in for a coding agent that is played there ([`MockAgent`]), and the [`Terminal`]
//! in which programs are driven and looked at.
//!
//! Takes timelines and a workspace; the agent prints what it thinks and says, really runs its tools, and gives a
//! verdict. Knows no other player: what is done around the agent is up to `runner`.

mod agent;
mod cast;
pub mod control;
mod normalise;
mod picture;
mod recording;
mod screen;
mod style;
mod terminal;
mod viewer;

pub use agent::{AgentOptions, AgentVerdict, MockAgent, TerminalOutput};
pub use normalise::{Places, normalised};
pub use picture::{png, svg};
pub use recording::Recording;
pub use screen::{Screen, Snapshot};
pub use style::style_text;
pub use terminal::{MAX_SETTLE, SharedScreen, Terminal};
pub use viewer::{View, ViewEvent, Viewer, ViewerKey};
