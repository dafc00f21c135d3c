//! What `doctor` found, for people and for machines.

use cuecard_mcp::config::ConfigFile;
use cuecard_mcp::doctor::{Finding, Status};
use cuecard_report::Style;
use cuecard_report::diagnostics::to_json;
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::printable;
use serde_json::{Value as Json, json};

use super::doctor::{Findings, ServerFinding, ServerStatus};
use crate::output::counted;

/// The report for a terminal.
pub(super) fn text(findings: &Findings, style: Style) -> String {
    let sections = [
        servers(findings, style),
        configs(findings, style),
        machine(findings, style),
    ];
    let mut text: String = sections.join("\n");
    text.push_str(&format!("\n{}\n", summary(findings)));
    text
}

fn servers(findings: &Findings, style: Style) -> String {
    if findings.servers.is_empty() {
        return format!(
            "{}\n  none configured: add one to .mcp.json, for example\n  {}\n",
            style.strong("MCP servers"),
            r#"{ "mcpServers": { "NAME": { "command": "npx", "args": ["-y", "PACKAGE"] } } }"#
        );
    }
    let width =
        |of: fn(&ServerFinding) -> usize| findings.servers.iter().map(of).max().unwrap_or(0);
    let name_width = width(|server| printable(&server.name).chars().count()).min(30);
    let transport_width = width(|server| server.transport.unwrap_or("").len());
    let working = findings.servers.iter().filter(|it| !it.is_failing());
    let state_width = working.map(|server| server.line.chars().count());
    let state_width = state_width.max().unwrap_or(0).max(24);
    let mut text = heading(
        style,
        "MCP servers",
        name_width + transport_width + state_width + 8,
    );
    for server in &findings.servers {
        let (name, found) = (printable(&server.name), &server.line);
        let (transport, from) = (server.transport.unwrap_or(""), style.faint(&server.from));
        text.push_str(&format!(
            "  {} {name:name_width$}  {transport:transport_width$}  {found:state_width$}  {from}\n",
            symbol(server.status, style)
        ));
        let others = (!server.also_in.is_empty())
            .then(|| format!("also in {}, not used", server.also_in.join(", ")));
        for line in server.details.iter().chain(&others) {
            text.push_str(&format!("      {}\n", line.replace('\n', "\n      ")));
        }
    }
    text
}

/// The heading of the servers, with `from` above the last column.
fn heading(style: Style, title: &str, column: usize) -> String {
    let gap = " ".repeat(column.saturating_sub(title.len()));
    format!("{}{gap}{}\n", style.strong(title), style.faint("from"))
}

fn symbol(status: ServerStatus, style: Style) -> String {
    match status {
        ServerStatus::Up => style.mark(true),
        ServerStatus::Failed | ServerStatus::Invalid => style.mark(false),
        ServerStatus::Disabled | ServerStatus::NotTried => style.symbol("–", "-").to_owned(),
    }
}

fn configs(findings: &Findings, style: Style) -> String {
    let config = &findings.config;
    let mut text = format!("{}\n", style.strong("Configs"));
    let paths = config
        .files
        .iter()
        .map(|file| file.shown.display().to_string());
    let path_width = paths.map(|path| path.chars().count()).max().unwrap_or(0);
    let programs = config.files.iter().map(|file| file.program.unwrap_or(""));
    let program_width = programs.map(str::len).max().unwrap_or(0);
    for file in &config.files {
        let mark = style.mark(!has_errors(file, findings));
        let path = file.shown.display().to_string();
        let program = file.program.unwrap_or("");
        let line = format!(
            "  {mark} {path:path_width$}  {program:program_width$}  {}",
            contents(file, findings)
        );
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    if config.files.is_empty() {
        text.push_str("  none found\n");
    }
    if !config.absent.is_empty() {
        let absent: Vec<String> = config
            .absent
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let line = format!("  not found: {}", absent.join(", "));
        text.push_str(&format!("{}\n", style.faint(&line)));
    }
    text
}

/// What is wrong with configs. Of a file of another program there are the errors instead of the warning about it,
/// which repeats the first of them.
pub(super) fn told(findings: &Findings) -> impl Iterator<Item = &Diagnostic> {
    let broken = &findings.config.broken;
    let repeats = move |diagnostic: &&Diagnostic| {
        let mut errors = broken.iter().flat_map(|other| &other.errors);
        diagnostic.severity == Severity::Warning
            && errors.any(|error| error.message == diagnostic.message)
    };
    let all = findings.diagnostics.iter();
    all.filter(move |diagnostic| !repeats(diagnostic))
        .chain(broken.iter().flat_map(|broken| &broken.errors))
}

/// Whether something is wrong with a file as a whole.
fn has_errors(file: &ConfigFile, findings: &Findings) -> bool {
    let name = file.shown.display().to_string();
    told(findings).any(|diagnostic| {
        let place = diagnostic.place.as_ref();
        diagnostic.severity == Severity::Error
            && place.is_some_and(|place| place.source.name() == name)
    })
}

/// How many servers a file defines, and how many of them are not used.
fn contents(file: &ConfigFile, findings: &Findings) -> String {
    let config = &findings.config;
    if config.broken.iter().any(|broken| broken.file == *file) {
        return "skipped because of errors".to_owned();
    }
    if has_errors(file, findings) {
        return "has errors, so its servers can't be used".to_owned();
    }
    let file = &file.shown;
    let used = config
        .servers()
        .iter()
        .filter(|server| server.from == *file)
        .count();
    let not_used = config
        .shadowed
        .iter()
        .filter(|server| server.from == *file)
        .count();
    let servers = counted(used + not_used, "server");
    match not_used {
        0 => servers,
        not_used => format!("{servers}, {not_used} not used"),
    }
}

fn machine(findings: &Findings, style: Style) -> String {
    let mut text = format!("{}\n", style.strong("This machine"));
    for finding in &findings.machine {
        let mark = match finding.status {
            Status::Found => style.mark(true),
            Status::Old => style.doubtful("!"),
            Status::Missing if finding.needed_by.is_empty() => style.symbol("–", "-").to_owned(),
            Status::Missing => style.mark(false),
        };
        let mut facts: Vec<String> = Vec::new();
        facts.extend(finding.version.clone());
        match &finding.path {
            Some(path) => facts.push(path.display().to_string()),
            None => facts.push("not found".to_owned()),
        }
        if finding.status == Status::Missing && !finding.needed_by.is_empty() {
            facts.push(format!("needed by {}", finding.needed_by.join(", ")));
        }
        facts.extend(finding.help.clone());
        text.push_str(&format!(
            "  {mark} {:15}  {}\n",
            finding.name,
            facts.join("  ")
        ));
    }
    text
}

fn summary(findings: &Findings) -> String {
    let count = |status| {
        let servers = findings.servers.iter();
        servers.filter(|server| server.status == status).count()
    };
    let facts: Vec<String> = [
        (count(ServerStatus::Up), "started"),
        (count(ServerStatus::Failed), "failed to start"),
        (count(ServerStatus::Invalid), "invalid"),
        (count(ServerStatus::Disabled), "disabled"),
        (count(ServerStatus::NotTried), "not tried"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(
        |(count, what)| match count == findings.servers.len() && count > 1 {
            true => format!("all {what}"),
            false => format!("{count} {what}"),
        },
    )
    .collect();
    let servers = counted(findings.servers.len(), "server");
    match facts.is_empty() {
        true => servers,
        false => format!("{servers}: {}", facts.join(", ")),
    }
}

/// `file:line:column`.
pub(super) fn place(diagnostic: &Diagnostic) -> Option<String> {
    let place = diagnostic.place.as_ref()?;
    let position = place.source.position(place.span.start);
    Some(format!(
        "{}:{}:{}",
        place.source.name(),
        position.line,
        position.column
    ))
}

/// The findings for machines.
pub(super) fn document(findings: &Findings, is_well: bool) -> Json {
    let config = &findings.config;
    let file = |file: &ConfigFile| {
        let servers = config
            .servers()
            .iter()
            .filter(|server| server.from == file.shown);
        let not_used = config
            .shadowed
            .iter()
            .filter(|server| server.from == file.shown);
        json!({
            "path": file.path.display().to_string(),
            "shown": file.shown.display().to_string(),
            "program": file.program,
            "project_local": file.project_local,
            "valid": !has_errors(file, findings),
            "servers": servers.map(|server| server.name.as_str()).collect::<Vec<_>>(),
            "not_used": not_used.map(|server| server.name.as_str()).collect::<Vec<_>>(),
        })
    };
    json!({
        "success": is_well,
        "servers": findings.servers,
        "configs": config.files.iter().map(file).collect::<Vec<_>>(),
        "absent": config.absent.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "machine": findings.machine.iter().map(of_machine).collect::<Vec<_>>(),
        "diagnostics": told(findings).map(to_json).collect::<Vec<_>>(),
    })
}

fn of_machine(finding: &Finding) -> Json {
    json!({
        "name": finding.name,
        "status": match finding.status {
            Status::Found => "ok",
            Status::Old => "old",
            Status::Missing => "missing",
        },
        "version": finding.version,
        "path": finding.path.as_ref().map(|path| path.display().to_string()),
        "needed_by": finding.needed_by,
        "help": finding.help,
    })
}
