//! Anthropic's Messages.

mod answer;
mod ask;
mod decode;
mod request;

pub use answer::{PING, message_id};
pub(super) use answer::{stream, write_body};
pub(super) use ask::request_body;
pub(super) use decode::{MessagesEvents, read_body};
pub(super) use request::read;
