//! Wire formats: what bytes mean, and which bytes say it; the APIs of language models, and event streams.
//!
//! Takes bytes and gives requests, answers and errors, and the other way round. Knows no socket and no clock.

pub mod llm;
pub mod sse;
