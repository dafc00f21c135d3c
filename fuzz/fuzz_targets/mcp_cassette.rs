//! Cassettes of MCP servers.

#![no_main]

use cuecard_testing::readers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| readers::mcp_cassette(text));
