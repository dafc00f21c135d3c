//! `cuecard test RUN --init`: a first test case for a run that was recorded.

use std::path::Path;

use cuecard_judge::draft;
use cuecard_runner::RecordedRun;
use cuecard_source::diagnostic::codes;
use serde_json::json;

use crate::args::TestArgs;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::{self, Output, stderr};
use crate::output_files::write_new;

pub(super) fn run(args: &TestArgs, output: &Output) -> Result<ExitCode, Stop> {
    let mut written = Vec::new();
    for path in &args.paths {
        let run = RecordedRun::read(path).map_err(Stop::invalid)?;
        output.diagnostics(&run.warnings);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split_once('.').map_or(&*name, |(stem, _)| stem);
        let file = path.with_file_name(format!("{stem}.test.yaml"));
        let text = draft(run.key, &name, &run.trace, &run.tools);
        if file.exists() {
            let message = format!("`{}` already exists", file.display());
            let help = "delete or rename it to draft it anew";
            return Err(Stop::refused(codes::FILE_WRITE, message, help));
        }
        write_new(&file, &text, false)?;
        written.push(file);
    }
    if args.json {
        output::document(&json!({"written": written}));
        return Ok(ExitCode::Passed);
    }
    for file in written.iter().map(|file| shown(file)) {
        stderr(&format!(
            "wrote {file}\n\nrun it with  cuecard test {file}\n"
        ));
    }
    Ok(ExitCode::Passed)
}

fn shown(file: &Path) -> String {
    cuecard_mcp::quoted(&file.display().to_string())
}
