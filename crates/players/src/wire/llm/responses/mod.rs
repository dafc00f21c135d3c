//! OpenAI's Responses.

mod answer;
mod body;
mod item;
mod request;

pub(super) use answer::{stream, write_body};
pub(super) use request::read;
