//! `cuecard record`: what happens becomes a scenario.

mod llm;
mod mcp;
mod session;
mod telling;

pub(super) use mcp::named_secrets;

use crate::args::{RecordArgs, RecordedSource};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;

pub(crate) fn run(args: &RecordArgs, context: &Context) -> Result<ExitCode, Stop> {
    match &args.what {
        RecordedSource::Llm(args) => llm::run(args, context),
        RecordedSource::Transcript(args) => super::infer::record(args, context),
        RecordedSource::Mcp(args) => mcp::run(args, context),
    }
}
