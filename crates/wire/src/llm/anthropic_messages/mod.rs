//! Anthropic's Messages.

mod answer;
mod ask;
mod decode;
mod request;

pub use answer::PING;
pub(super) use answer::{body, stream};
pub(super) use ask::request_body;
pub(super) use decode::{MessagesEvents, read_body};
pub(super) use request::{read, tools};
