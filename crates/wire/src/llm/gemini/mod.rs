//! Google's generateContent.

mod answer;
mod decode;
mod request;

pub(super) use answer::{stream, write_body};
pub(super) use decode::{GeminiEvents, read_body};
pub(super) use request::read;
