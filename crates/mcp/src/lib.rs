//! MCP: sessions with real servers, and what their answers mean.
//!
//! [`Session`] starts or reaches one server, lists its tools, calls them and ends it again; it speaks
//! both protocol eras (`initialize` up to 2025-11-25, `server/discover` from 2026-07-28). [`result`]
//! turns an answer into a value.
//!
//! The types of the protocol SDK never leave this crate. A new transport is one more arm of
//! `transport::connect`: a `frames::FrameSource` and a `frames::FrameSink` become a
//! `messages::MessageTransport`, which is where bad frames become facts. Only Streamable HTTP is the SDK's altogether.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod result;
pub mod server;

mod asking;
mod auth;
mod chrome;
mod error;
mod events;
mod exit;
mod frames;
mod handler;
mod help;
mod http;
mod link;
mod messages;
mod notice;
mod questions;
mod reply;
mod requests;
mod session;
mod spec;
mod sse;
mod start;
mod stdio;
mod streams;
#[cfg(test)]
mod test_server;
mod text;
mod tools;
mod transport;
mod unix;
mod websocket;

pub use auth::{ClientCredentials, ClientProof};
pub use error::{Advice, ErrorKind, HttpRequest, Request, ServerError, ServerFacts};
pub use exit::Exit;
pub use notice::Notice;
pub use questions::Asked;
pub use reply::{ContentBlock, ToolReply};
pub use session::{Era, Session, SessionInfo};
pub use spec::{DuplexMaker, Protocol, ServerSpec, TransportSpec};
pub use text::quoted;
pub use tools::ToolInfo;
