//! What `check --connect` and `play --dry-run --connect` show of the servers.

use cuecard_mcp::{ServerSpec, TransportSpec};
use cuecard_replay::Connected;
use cuecard_source::diagnostic::codes;
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::printable;
use cuecard_tool_call::script::FailureKind;

use crate::exit_code::ExitCode;
use crate::output::{Output, counted, stderr, stderr_line};

/// Says what is about to be started, and who says so: a config of the project may come from anybody.
pub(super) fn announce(specs: &[ServerSpec]) {
    let mut sources: Vec<(&str, Vec<&str>)> = Vec::new();
    let is_started = |spec: &&ServerSpec| !matches!(spec.transport, TransportSpec::InProcess(_));
    for spec in specs.iter().filter(is_started) {
        match sources
            .iter_mut()
            .find(|(source, _)| *source == spec.source)
        {
            Some((_, names)) => names.push(&spec.name),
            None => sources.push((&spec.source, vec![&spec.name])),
        }
    }
    let line = |(source, names): &(&str, Vec<&str>)| {
        let names = names.join(", ");
        format!("trying {} (from {source})\n", printable(&names))
    };
    stderr(&sources.iter().map(line).collect::<String>());
}

/// A line for each server that answered.
pub(super) fn show(connected: &[Connected], output: &Output) {
    for server in connected {
        let tools = match server.tools {
            Some(tools) => counted(tools, "tool"),
            None => "it does not list its tools, so they can't be checked".to_owned(),
        };
        let protocol = server
            .protocol
            .as_ref()
            .map_or(String::new(), |protocol| format!(", protocol {protocol}"));
        stderr_line(&format!(
            "  {} {} ({}{protocol}): {tools}",
            output.stderr.mark(true),
            server.server,
            server.transport,
        ));
        for (effect, tools) in [
            ("change", &server.writing),
            ("destroy", &server.destructive),
        ] {
            if !tools.is_empty() {
                let tools = tools.join(", ");
                let tools = printable(&tools);
                stderr_line(&format!("      may {effect} something: {tools}"));
            }
        }
        for warning in &server.warnings {
            stderr_line(&format!("      {warning}"));
        }
    }
}

/// How to exit with these findings: a server that can't be reached is no fault of the file.
pub(super) fn exit_code(found: &[Diagnostic]) -> ExitCode {
    let of_servers = [
        FailureKind::ServerStart.code(),
        codes::TOOL_SERVER,
        codes::CONFIG_INVALID,
        codes::CONFIG_VARIABLE,
    ];
    let errors = found
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.fold(ExitCode::Passed, |exit, error| {
        exit.worst(match of_servers.contains(&error.code) {
            true => ExitCode::CouldNotRun,
            false => ExitCode::Invalid,
        })
    })
}
