//! Recordings of tool calls: how they are made, kept, served back and turned into scenarios.
//!
//! A [`Recording`] is what the proxy has seen, what a cassette holds, or what a transcript tells; from it come the
//! scenario, and the mock server that answers from the cassette. Plays no scenario and judges none.

pub mod cassette;
pub mod infer;
mod marks;
pub mod proxy;
mod recording;
mod scenario;
pub mod transcript;

pub use recording::{Call, Recording, RpcError, Server, Tool};
pub use scenario::{Scenario, Step, scenario};
