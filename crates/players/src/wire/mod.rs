//! Wire formats: what bytes mean, and which bytes say it. Pure: no sockets, no clock, no scenario.

pub mod llm;
pub mod sse;
