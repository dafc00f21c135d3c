//! Anthropic's Messages.

mod answer;
mod request;

pub use answer::PING;
pub(super) use answer::{stream, write_body};
pub(super) use request::read;
