//! `cuecard serve`: stand-ins for services that agents talk to.

pub(super) mod child;
pub(super) mod exchange_log;
pub(super) mod llm;
mod llm_options;
mod mcp;
mod rest;
mod stdin;
mod telling;

pub(super) use llm::{listener_refused, refuse, refused};
pub(super) use telling::planned_faults;

use std::ffi::OsString;

use crate::args::{ServeArgs, ServedApi};
use crate::exit_code::ExitCode;
use crate::output::Output;

pub(crate) fn run(
    args: &ServeArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    match &args.what {
        ServedApi::Llm(args) => llm::run(args, environment, output),
        ServedApi::Rest(args) => rest::run(args, environment, output),
        ServedApi::Mcp(args) => mcp::run(args, output),
    }
}

/// More threads than this are never needed: what they do takes microseconds.
const MAX_THREADS: usize = 8;

/// How many threads serve.
fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS))
}
