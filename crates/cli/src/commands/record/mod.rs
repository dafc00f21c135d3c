//! `cuecard record`: what happens becomes a scenario.

mod llm;
mod mcp;
mod session;
mod telling;

use std::ffi::OsString;

pub(super) use mcp::named_secrets;

use crate::args::{RecordArgs, RecordedSource};
use crate::exit_code::ExitCode;
use crate::output::Output;

pub(crate) fn run(
    args: &RecordArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    match &args.what {
        RecordedSource::Llm(args) => llm::run(args, environment, output),
        RecordedSource::Transcript(args) => super::infer::record(args, environment, output),
        RecordedSource::Mcp(args) => mcp::run(args, environment, output),
    }
}
