//! The MCP side of the players.

pub mod demo;
