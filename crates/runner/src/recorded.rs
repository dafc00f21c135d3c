//! A run that a file tells of: a trace, a replay bundle, or the transcript of another program.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use cuecard_runtime::text_file::{self, io_reason};
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_trace::Trace;
use cuecard_trace::import;

/// So much of a trace is asked of the file system in one go, in bytes.
const READ_AT_ONCE: usize = 256 << 10;

/// A run, and how a test case names it.
#[derive(Debug)]
pub struct RecordedRun {
    /// The run.
    pub trace: Trace,
    /// The key of `adapter_input`.
    pub key: &'static str,
    /// The tools that the agent had, where the file lists them.
    pub tools: Vec<String>,
    /// What is doubtful about the file.
    pub warnings: Vec<Diagnostic>,
}

impl RecordedRun {
    /// Reads what `path` tells of.
    ///
    /// # Errors
    /// Why it can't be read, or that it tells of no run.
    pub fn read(path: &Path) -> Result<Self, Vec<Diagnostic>> {
        let shown = path.display().to_string();
        let no_trace = match Self::trace(path) {
            Err(error) if error.code == codes::TRACE_UNREADABLE => error,
            run => return run.map_err(|error| vec![error]),
        };
        let source = text_file::read(path, &shown).map_err(|error| vec![error])?;
        let (key, imported) = match (kind_of(&source), import::detect(&source)) {
            (Some(FileKind::Trace), _) => return Err(vec![no_trace]),
            (Some(FileKind::ReplayBundle), _) => {
                ("replay_file", import::replay_bundle(&source, &[]))
            }
            (_, Some(format)) => ("transcript", import::transcript(&source, format)),
            (_, None) => {
                let message = format!("`{shown}` tells of no run");
                let help = "it can be a trace, a replay bundle, or a session of Claude Code, Codex, ATIF or OTLP";
                return Err(vec![
                    Diagnostic::error(codes::FILE_KIND, message).with_help(help),
                ]);
            }
        };
        match imported.trace {
            Some(trace) => Ok(Self {
                trace,
                key,
                tools: imported.tools,
                warnings: imported.diagnostics,
            }),
            None => Err(imported.diagnostics),
        }
    }

    /// Reads a trace, in either of its forms.
    pub(super) fn trace(path: &Path) -> Result<Self, Diagnostic> {
        let shown = path.display().to_string();
        let unreadable = |reason: &str| {
            let message = format!("`{shown}` can't be read: {reason}");
            Diagnostic::error(codes::FILE_READ, message)
        };
        let failed = |error: std::io::Error| unreadable(&io_reason(&error));
        // A pipe would be waited for, and a device never ends.
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(unreadable("it is not a file"));
        }
        let file = File::open(path).map_err(failed)?;
        let trace = Trace::read(BufReader::with_capacity(READ_AT_ONCE, file))
            .map_err(|error| error.diagnostic(&shown))?;
        Ok(Self {
            warnings: trace.unfinished(&shown).into_iter().collect(),
            trace,
            key: "trace_file",
            tools: Vec::new(),
        })
    }
}
