//! `cuecard fmt`: timelines in their layout. What they say stays.

use std::path::Path;

use cuecard_runtime::timelines;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use cuecard_timeline::format::layout;
use cuecard_workspace::files;

use crate::args::FmtArgs;
use crate::exit_code::ExitCode;
use crate::inputs::read_source;
use crate::output::{Output, stderr_line, stdout};

pub(crate) fn run(args: &FmtArgs, output: &Output) -> ExitCode {
    let (found, problems) = timelines::files(&args.files, timelines::TIMELINES);
    let mut exit = ExitCode::Passed;
    for (_, problem) in &problems {
        output.diagnostic(problem, false, &Redactor::default());
        exit = ExitCode::Invalid;
    }
    for file in &found {
        let told = match format(&file.path, args.check) {
            Ok(told) => told,
            Err((diagnostics, bad)) => {
                output.diagnostics(&diagnostics, false, &Redactor::default());
                bad
            }
        };
        exit = exit.worst(told);
    }
    exit
}

fn format(path: &Path, only_check: bool) -> Result<ExitCode, (Vec<Diagnostic>, ExitCode)> {
    let source = read_source(path).map_err(|found| (vec![found], ExitCode::Invalid))?;
    let text = layout(&source).map_err(|found| (found, ExitCode::Invalid))?;
    let is_stdin = path == Path::new("-");
    match text {
        Some(_) if only_check => {
            stdout(&format!("{}\n", path.display()));
            return Ok(ExitCode::Failed);
        }
        _ if only_check => {}
        text if is_stdin => stdout(text.as_deref().unwrap_or(source.text())),
        Some(text) => {
            files::write(path, &text).map_err(|error| {
                let mut diagnostic = Diagnostic::error(codes::FILE_WRITE, error.to_string());
                diagnostic.help = error.help();
                (vec![diagnostic], ExitCode::CouldNotRun)
            })?;
            stderr_line(&format!("{}: formatted", path.display()));
        }
        None => {}
    }
    Ok(ExitCode::Passed)
}
