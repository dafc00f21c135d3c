//! The command line of Cuecard: raw arguments become resolved options, options a run, a run an exit code.

mod args;
mod asynchronous;
mod commands;
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

use clap::FromArgMatches as _;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Redactor;

use crate::args::{Cli, Command};
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
        Ok((cli, warnings)) => {
            let output = Output::new(cli.color, &environment);
            output.diagnostics(&warnings, false, &Redactor::default());
            let exit = run(cli, environment, &output);
            output.name_the_page();
            exit
        }
        Err(error) => {
            let output = Output::new(args::color_of(&arguments), &environment);
            args::report(&error, &arguments, &output)
        }
    };
    cuecard_runtime::process::kill_all();
    output::after_printing(exit).into()
}

/// The command line, and warnings about it.
fn parsed(arguments: &[OsString]) -> Result<(Cli, Vec<Diagnostic>), clap::Error> {
    let mut command = args::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    let warnings = args::warnings_of_old_names(&matches, arguments);
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli, warnings))
}

fn run(cli: Cli, environment: Vec<(OsString, OsString)>, output: &Output) -> ExitCode {
    match cli.command {
        Command::Play(args) => commands::play::run(&args, &environment, output),
        Command::Verify(args) => commands::verify::run(&args, &environment, output),
        Command::Parse(args) => commands::parse::run(&args, &environment, output),
        Command::Test(args) => commands::test::run(&args, &environment, output),
        Command::Diff(args) => commands::diff::run(&args, output),
        Command::Check(args) => commands::check::run(&args, &environment, output),
        Command::List(args) => commands::list::run(&args, output),
        Command::Tools(args) => commands::tools::run(&args, &environment, output),
        Command::Call(args) => commands::call::run(&args, &environment, output),
        Command::Doctor(args) => commands::doctor::run(&args, &environment, output),
        Command::Convert(args) => commands::convert::run(&args, output),
        Command::Schema(args) => commands::schema::run(&args, output),
        Command::Explain(args) => commands::explain::run(&args, &environment, output),
        Command::Examples(args) => commands::examples::run(&args, output),
        Command::Completions { shell } => commands::plain::completions(shell),
        Command::Man => commands::plain::man(),
        Command::Mcp(args) => commands::mcp::run(&args, &environment, output),
        Command::Skill(args) => commands::skill::run(&args, &environment, output),
        Command::Profile(args) => commands::profile::run(&args, output),
        Command::Browser(args) => commands::browser::run(&args, &environment, output),
        Command::Acp(args) => commands::acp::run(&args, &environment, output),
        Command::Audit(args) => commands::audit::run(&args, &environment, output),
        Command::Show(args) => commands::show::run(&args, output),
        Command::Parity(args) => commands::parity::run(&args, &environment, output),
        Command::Run(args) => commands::run::run(&args, &environment, output),
        Command::Agent(args) => commands::agent::run(&args, &environment, output),
        Command::Serve(args) => commands::serve::run(&args, &environment, output),
        Command::Infer(args) => commands::infer::run(&args, &environment, output),
        Command::Record(args) => commands::record::run(&args, &environment, output),
    }
}
