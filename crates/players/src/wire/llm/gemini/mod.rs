//! Google's generateContent.

mod answer;
mod request;

pub(super) use answer::{stream, write_body};
pub(super) use request::read;
