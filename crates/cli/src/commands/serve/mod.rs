//! `cuecard serve`: stand-ins for services that agents talk to.

pub(super) mod child;
pub(super) mod exchange_log;
pub(super) mod llm;
mod llm_options;
mod mcp;
mod rest;
mod stdin;
mod telling;

pub(super) use telling::planned_faults;

use crate::args::{ServeArgs, ServedApi};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;

pub(crate) fn run(args: &ServeArgs, context: &Context) -> Result<ExitCode, Stop> {
    match &args.what {
        ServedApi::Llm(args) => llm::run(args, context),
        ServedApi::Rest(args) => rest::run(args, context),
        ServedApi::Mcp(args) => mcp::run(args, &context.output),
    }
}

/// More threads than this are never needed: what they do takes microseconds.
const MAX_THREADS: usize = 8;

/// How many threads serve.
fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS))
}
