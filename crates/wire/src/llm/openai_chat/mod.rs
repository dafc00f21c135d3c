//! OpenAI's Chat Completions.

mod answer;
mod ask;
mod decode;
mod request;

pub(super) use answer::{body, stream};
pub(super) use ask::request_body;
pub(super) use decode::{ChatEvents, read_body};
pub(super) use request::{allows_parallel, read, tools};
