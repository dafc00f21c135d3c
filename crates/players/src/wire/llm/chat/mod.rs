//! OpenAI's Chat Completions.

mod answer;
mod decode;
mod request;

pub(super) use answer::{stream, write_body};
pub(super) use decode::{ChatEvents, read_body};
pub(super) use request::read;
