//! The command line of Cuecard: raw arguments become resolved options, options a run, a run an exit code.

mod args;
mod asynchronous;
mod commands;
mod context;
mod exit_code;
mod inputs;
mod line_queue;
mod open_files;
mod output;
mod output_files;
mod signals;
mod waiting;

use std::ffi::OsString;
use std::process::ExitCode as ProcessExit;

use clap::{ArgMatches, FromArgMatches as _};

use crate::args::{Cli, Command};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::Output;

/// A run is many small allocations, on several threads when tests are judged: those take a sixth of the time less
/// with this allocator than with that of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ProcessExit {
    // Whatever happens, no child stays behind.
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // A test that panics is an error, and the others go on with their children.
        if std::thread::current().name() != Some(cuecard_runner::WORKER) {
            cuecard_runtime::process::kill_all();
        }
        default_hook(info);
    }));
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let exit = match parsed(&arguments) {
        Ok((cli, is_json)) => {
            let output = Output::new(cli.color, is_json, &environment);
            let context = Context {
                environment,
                output,
            };
            let exit = run(&cli.command, &context);
            let exit = exit.unwrap_or_else(|stop| stop.print(&context.output));
            context.output.name_the_page();
            exit
        }
        Err(error) => {
            let is_json = arguments.iter().any(|argument| argument == "--json");
            let output = Output::new(args::color_of(&arguments), is_json, &environment);
            args::report(error, &arguments, &output)
        }
    };
    cuecard_runtime::process::kill_all();
    output::after_printing(exit).into()
}

/// The command line, and whether it has `--json`.
fn parsed(arguments: &[OsString]) -> Result<(Cli, bool), clap::Error> {
    let mut command = args::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli, is_json(&matches)))
}

/// Whether the command has the option `--json`, and it is given.
fn is_json(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, inner)) => is_json(inner),
        None => matches.try_get_one("json").ok().flatten() == Some(&true),
    }
}

fn run(command: &Command, context: &Context) -> Result<ExitCode, Stop> {
    match command {
        Command::Play(args) => commands::play::run(args, context),
        Command::Verify(args) => commands::verify::run(args, context),
        Command::Parse(args) => commands::parse::run(args, context),
        Command::Test(args) => commands::test::run(args, context),
        Command::Diff(args) => commands::diff::run(args, context),
        Command::Check(args) => commands::check::run(args, context),
        Command::List(args) => commands::list::run(args, context),
        Command::Tools(args) => commands::tools::run(args, context),
        Command::Call(args) => commands::call::run(args, context),
        Command::Doctor(args) => commands::doctor::run(args, context),
        Command::Convert(args) => commands::convert::run(args, context),
        Command::Schema(args) => commands::schema::run(args),
        Command::Explain(args) => commands::explain::run(args, context),
        Command::Examples(args) => commands::examples::run(args),
        Command::Completions { shell } => commands::plain::completions(*shell),
        Command::Man => commands::plain::man(),
        Command::Mcp(args) => commands::mcp::run(args, context),
        Command::Skill(args) => commands::skill::run(args, context),
        Command::Profile(args) => commands::profile::run(args, context),
        Command::Browser(args) => commands::browser::run(args, context),
        Command::Acp(args) => commands::acp::run(args, context),
        Command::Audit(args) => commands::audit::run(args, context),
        Command::Show(args) => commands::show::run(args, context),
        Command::Parity(args) => commands::parity::run(args, context),
        Command::Run(args) => commands::run::run(args, context),
        Command::Agent(args) => commands::agent::run(args, context),
        Command::Serve(args) => commands::serve::run(args, context),
        Command::Infer(args) => commands::infer::run(args, context),
        Command::Record(args) => commands::record::run(args, context),
    }
}
