//! Google's generateContent.

mod answer;
mod decode;
mod request;

pub(super) use answer::{body, stream};
pub(super) use decode::{GeminiEvents, read_body};
pub(super) use request::{read, tools};
