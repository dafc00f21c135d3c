//! OpenAI's Responses.

mod answer;
mod body;
mod decode;
mod item;
mod request;

pub(super) use answer::{body, stream};
pub(super) use decode::{ResponsesEvents, read_body};
pub(super) use request::{read, tools};
