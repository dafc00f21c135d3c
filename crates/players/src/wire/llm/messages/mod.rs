//! Anthropic's Messages.

mod answer;
mod decode;
mod request;

pub use answer::PING;
pub(super) use answer::{stream, write_body};
pub(super) use decode::{MessagesEvents, read_body};
pub(super) use request::read;
