//! Where things are printed: results on standard output, everything else on standard error.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use cuecard_report::counted;
use cuecard_report::{Style, diagnostics};
use cuecard_source::diagnostic::{Diagnostic, Severity, bounded};
use cuecard_source::value::{Json, Redactor};

use crate::args::Color;
use crate::exit_code::ExitCode;
use crate::inputs::io_reason;

/// How to print.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// The look of standard error.
    pub stderr: Style,
    /// The look of standard output.
    pub stdout: Style,
    /// Whether standard error is a terminal that can redraw a line.
    pub is_live: bool,
    /// Whether results are JSON (`--json`).
    pub is_json: bool,
}

impl Output {
    pub(crate) fn new(color: Color, is_json: bool, environment: &[(OsString, OsString)]) -> Self {
        let variable = |name: &str| {
            environment
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let colour = |is_terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !set("NO_COLOR") && !dumb,
        };
        let unicode = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| variable(name).filter(|value| !value.is_empty()))
            .is_none_or(|locale| {
                let locale = locale.to_lowercase();
                locale.contains("utf-8") || locale.contains("utf8")
            });
        let style = |is_terminal, columns: Option<usize>| Style {
            colour: colour(is_terminal),
            unicode,
            width: columns.unwrap_or(80).clamp(60, 120),
            is_terminal,
        };
        let (stderr, stdout) = (io::stderr(), io::stdout());
        Self {
            stderr: style(stderr.is_terminal(), columns(&stderr)),
            stdout: style(stdout.is_terminal(), columns(&stdout)),
            is_live: stderr.is_terminal() && !dumb,
            is_json,
        }
    }

    /// Prints diagnostics to standard error, as many as are to be shown; with `--json` each error is followed by a
    /// line for machines.
    pub(crate) fn diagnostics(&self, all: &[Diagnostic]) {
        self.redacted(all, &Redactor::default());
    }

    /// Prints one diagnostic.
    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.diagnostics(std::slice::from_ref(diagnostic));
    }

    /// Prints diagnostics without secrets.
    pub(crate) fn redacted(&self, all: &[Diagnostic], redactor: &Redactor) {
        for diagnostic in bounded(all).iter() {
            stderr(&redactor.text(&diagnostics::render(diagnostic, self.stderr)));
            if diagnostic.severity != Severity::Error {
                continue;
            }
            if self.stderr.is_terminal {
                let _ = FIRST_ERROR.set(diagnostic.code.name());
            }
            if self.is_json {
                let mut line = diagnostics::to_json(diagnostic);
                redactor.json(&mut line);
                stderr_line(&line.to_string());
            }
        }
    }

    /// Prints the result of a command without secrets: a document with `--json`, else a text.
    pub(crate) fn result(
        &self,
        redactor: &Redactor,
        document: impl FnOnce() -> Json,
        text: impl FnOnce(Style) -> String,
    ) {
        if !self.is_json {
            return stdout(&redactor.text(&text(self.stdout)));
        }
        let mut json = document();
        redactor.json(&mut json);
        self::document(&json);
    }

    /// The look of the last line of a command, which is a part of the result unless that is JSON.
    pub(crate) fn summary_style(&self) -> Style {
        match self.is_json {
            true => self.stderr,
            false => self.stdout,
        }
    }

    /// Prints the last line of a command, in that look.
    pub(crate) fn summary(&self, line: &str) {
        match self.is_json {
            true => stderr_line(line),
            false => stdout(&format!("{line}\n")),
        }
    }
}

/// The code of the first error that was shown on a terminal.
static FIRST_ERROR: OnceLock<&str> = OnceLock::new();

impl Output {
    /// Says, once at the end and on a terminal only, that the first error's code has a page.
    pub(crate) fn name_the_page(&self) {
        if let Some(code) = FIRST_ERROR.get() {
            let line = format!("`cuecard explain {code}` explains this error");
            stderr_line(&self.stderr.faint(&line));
        }
    }
}

/// The width of a terminal.
fn columns(file: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(file).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

tokio::task_local! {
    /// What is printed, while that is kept for later.
    static KEPT: RefCell<Printed>;
}

/// What was printed, in order.
#[derive(Debug, Default)]
pub(crate) struct Printed(Vec<(Stream, Vec<u8>)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

impl Printed {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match self.0.last_mut() {
            Some((last, text)) if *last == stream => text.extend_from_slice(bytes),
            _ => self.0.push((stream, bytes.to_vec())),
        }
    }

    /// Prints it.
    pub(crate) fn print(self) {
        for (stream, bytes) in self.0 {
            match stream {
                Stream::Stdout => stdout_bytes(&bytes),
                Stream::Stderr => stderr_bytes(&bytes),
            }
        }
    }
}

/// Does `work`, and returns what it printed instead of showing it.
pub(crate) fn keeping_printed<T>(work: impl FnOnce() -> T) -> (T, Printed) {
    KEPT.sync_scope(RefCell::default(), || (work(), taken()))
}

/// As [`keeping_printed`], for work that waits. What its tasks print is shown at once.
pub(crate) async fn keeping_printed_of<T>(work: impl Future<Output = T>) -> (T, Printed) {
    KEPT.scope(RefCell::default(), async { (work.await, taken()) })
        .await
}

fn taken() -> Printed {
    KEPT.with(RefCell::take)
}

/// Keeps bytes for later, if that is done here.
fn is_kept(stream: Stream, bytes: &[u8]) -> bool {
    let kept = KEPT.try_with(|printed| printed.borrow_mut().push(stream, bytes));
    kept.is_ok()
}

/// Standard error for what writes in pieces.
#[derive(Debug)]
pub(crate) struct Stderr;

impl io::Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stderr_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints to standard error. A reader that went away is no reason to stop.
pub(crate) fn stderr(text: &str) {
    stderr_bytes(text.as_bytes());
}

fn stderr_bytes(bytes: &[u8]) {
    if !is_kept(Stream::Stderr, bytes) {
        let _ = io::stderr().lock().write_all(bytes);
    }
}

/// Prints a line to standard error.
pub(crate) fn stderr_line(text: &str) {
    stderr(&format!("{text}\n"));
}

/// Whether something could not be printed to standard output.
static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Prints a document to standard output.
pub(crate) fn document(document: &Json) {
    stdout(&format!("{document:#}\n"));
}

/// Prints to standard output. A closed pipe ends the output silently, as for any filter; a full disk is told, once.
pub(crate) fn stdout(text: &str) {
    stdout_bytes(text.as_bytes());
}

fn stdout_bytes(bytes: &[u8]) {
    if is_kept(Stream::Stdout, bytes) {
        return;
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
        && !IS_INCOMPLETE.swap(true, Ordering::Relaxed)
    {
        stderr_line(&format!(
            "error: standard output can't be written: {}",
            io_reason(&error)
        ));
    }
}

/// How a command exits that ended so: what could not be printed makes it fail.
pub(crate) fn after_printing(exit: ExitCode) -> ExitCode {
    match IS_INCOMPLETE.load(Ordering::Relaxed) {
        true => exit.worst(ExitCode::CouldNotRun),
        false => exit,
    }
}
