//! What `doctor` found, for people and for machines.

use cuecard_mcp::Era;
use cuecard_mcp::config::ConfigFile;
use cuecard_mcp::doctor::{Finding, Outcome, Status};
use cuecard_report::diagnostics::to_json;
use cuecard_report::{Style, duration};
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::{printable, printable_lines};
use serde_json::{Value as Json, json};

use super::doctor::{Findings, ServerFinding, State};
use crate::output::counted;

/// How many findings about configs a terminal shows.
const MOST_TOLD: usize = 10;

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
    let rows: Vec<(String, String)> = findings
        .servers
        .iter()
        .map(|server| {
            let start = format!(
                "{:name_width$}  {:transport_width$}",
                printable(&server.name),
                server.transport.unwrap_or("")
            );
            (start, found(server))
        })
        .collect();
    let state_width = rows
        .iter()
        .zip(&findings.servers)
        .filter(|(_, server)| !server.is_failing())
        .map(|((_, found), _)| found.chars().count())
        .max()
        .unwrap_or(0)
        .max(24);
    let mut text = heading(
        style,
        "MCP servers",
        name_width + transport_width + state_width + 8,
    );
    for ((start, found), server) in rows.iter().zip(&findings.servers) {
        let from = style.faint(&server.from.display().to_string());
        text.push_str(&format!(
            "  {} {start}  {found:state_width$}  {from}\n",
            symbol(server, style)
        ));
        for line in details(server, findings) {
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

fn symbol(server: &ServerFinding, style: Style) -> String {
    match &server.state {
        State::Tried(Outcome::Up { .. }) => style.good(style.symbol("✓", "ok")),
        State::Tried(Outcome::Failed { .. }) | State::Refused(_) => bad(style),
        State::Disabled | State::NotTried => style.symbol("–", "-").to_owned(),
    }
}

fn bad(style: Style) -> String {
    style.bad(style.symbol("✗", "x"))
}

/// What is known about a server, in a line.
fn found(server: &ServerFinding) -> String {
    match &server.state {
        State::Tried(Outcome::Up {
            info, tools, took, ..
        }) => {
            let tools = match tools {
                Some(tools) => counted(*tools, "tool"),
                None => "no tool list".to_owned(),
            };
            let version = printable(&info.protocol_version);
            // As wide as any, so that what follows stands in one column.
            format!("{version:10}  {tools:>9}  {:8}", duration(*took))
        }
        State::Tried(Outcome::Failed { reason, .. }) => printable(reason).into_owned(),
        State::Refused(refusal) => printable(&refusal.message).into_owned(),
        State::Disabled => "disabled".to_owned(),
        State::NotTried => "not tried".to_owned(),
    }
}

/// What stands below a server: why it is failing, and where else its name is.
fn details(server: &ServerFinding, findings: &Findings) -> Vec<String> {
    let mut lines = Vec::new();
    match &server.state {
        State::Tried(Outcome::Failed { notes, help, .. }) => {
            lines.extend(notes.iter().map(|note| printable_lines(note).into_owned()));
            lines.extend(help.clone());
        }
        State::Tried(Outcome::Up { warnings, .. }) => {
            let line = |warning: &Diagnostic| format!("{}: {}", warning.code, warning.message);
            lines.extend(warnings.iter().map(line));
        }
        State::Refused(refusal) => {
            lines.extend(place(refusal));
            lines.extend(refusal.label.clone());
            lines.extend(
                refusal
                    .notes
                    .iter()
                    .map(|note| printable_lines(note).into_owned()),
            );
            lines.extend(refusal.help.clone());
        }
        _ => {}
    }
    let others: Vec<String> = also_in(server, findings);
    if !others.is_empty() {
        lines.push(format!("also in {}, not used", others.join(", ")));
    }
    lines
}

/// The files that define a server of the same name, which is not used.
fn also_in(server: &ServerFinding, findings: &Findings) -> Vec<String> {
    let others = findings.config.shadowed.iter();
    others
        .filter(|other| other.name == server.name)
        .map(|other| other.from.display().to_string())
        .collect()
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
        let mark = match has_errors(file, findings) {
            true => bad(style),
            false => style.good(style.symbol("✓", "ok")),
        };
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
    let told: Vec<&Diagnostic> = told(findings).collect();
    for diagnostic in told.iter().take(MOST_TOLD) {
        let mark = match diagnostic.severity {
            Severity::Error => bad(style),
            Severity::Warning | Severity::Note => style.doubtful("!"),
        };
        text.push_str(&format!(
            "  {mark} {}\n",
            printable_lines(&diagnostic.message)
        ));
        let label = diagnostic.label.iter().cloned();
        for line in place(diagnostic)
            .into_iter()
            .chain(label)
            .chain(diagnostic.help.clone())
        {
            text.push_str(&format!("      {line}\n"));
        }
    }
    if told.len() > MOST_TOLD {
        text.push_str(&format!("      and {} more\n", told.len() - MOST_TOLD));
    }
    if !config.absent.is_empty() {
        let absent: Vec<String> = config
            .absent
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        text.push_str(&style.faint(&wrapped("not found: ", &absent, style.width)));
    }
    text
}

/// What is wrong with configs. Of a file of another program there are the errors instead of the warning about it,
/// which repeats the first of them.
fn told(findings: &Findings) -> impl Iterator<Item = &Diagnostic> {
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
            Status::Found => style.good(style.symbol("✓", "ok")),
            Status::Old => style.doubtful("!"),
            Status::Missing if finding.needed_by.is_empty() => style.symbol("–", "-").to_owned(),
            Status::Missing => bad(style),
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
    let count = |is: fn(&ServerFinding) -> bool| {
        findings.servers.iter().filter(|server| is(server)).count()
    };
    let up = count(|server| matches!(server.state, State::Tried(Outcome::Up { .. })));
    let failed = count(|server| matches!(server.state, State::Tried(Outcome::Failed { .. })));
    let invalid = count(|server| matches!(server.state, State::Refused(_)));
    let disabled = count(|server| matches!(server.state, State::Disabled));
    let not_tried = count(|server| matches!(server.state, State::NotTried));
    let facts: Vec<String> = [
        (up, "started"),
        (failed, "failed to start"),
        (invalid, "invalid"),
        (disabled, "disabled"),
        (not_tried, "not tried"),
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
fn place(diagnostic: &Diagnostic) -> Option<String> {
    let place = diagnostic.place.as_ref()?;
    let position = place.source.position(place.span.start);
    Some(format!(
        "{}:{}:{}",
        place.source.name(),
        position.line,
        position.column
    ))
}

/// A list that goes over several lines.
fn wrapped(start: &str, items: &[String], width: usize) -> String {
    let mut text = format!("  {start}");
    let mut column = text.chars().count();
    for (idx, item) in items.iter().enumerate() {
        let separator = if idx + 1 < items.len() { ", " } else { "" };
        let length = item.chars().count() + separator.len();
        if column + length > width && idx > 0 {
            text = format!("{}\n    ", text.trim_end());
            column = 4;
        }
        text.push_str(item);
        text.push_str(separator);
        column += length;
    }
    text.push('\n');
    text
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
        "servers": findings.servers.iter().map(|server| of_server(server, findings)).collect::<Vec<_>>(),
        "configs": config.files.iter().map(file).collect::<Vec<_>>(),
        "absent": config.absent.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "machine": findings.machine.iter().map(of_machine).collect::<Vec<_>>(),
        "diagnostics": told(findings).map(to_json).collect::<Vec<_>>(),
    })
}

fn of_server(server: &ServerFinding, findings: &Findings) -> Json {
    let status = match &server.state {
        State::Tried(Outcome::Up { .. }) => "ok",
        State::Tried(Outcome::Failed { .. }) | State::Refused(_) => "failed",
        State::Disabled => "disabled",
        State::NotTried => "not_tried",
    };
    let mut document = json!({
        "name": server.name,
        "status": status,
        "transport": server.transport,
        "from": server.from.display().to_string(),
        "project_local": server.project_local,
        "also_in": also_in(server, findings),
        "protocol": null, "era": null, "server_name": null, "server_version": null, "tools": null,
        "duration": null, "error": null, "notes": [], "help": null, "warnings": [],
    });
    match &server.state {
        State::Tried(Outcome::Up {
            info,
            tools,
            took,
            warnings,
        }) => {
            document["warnings"] = warnings.iter().map(to_json).collect();
            document["protocol"] = info.protocol_version.as_str().into();
            document["era"] = match info.era {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            }
            .into();
            document["server_name"] = info.server_name.as_str().into();
            document["server_version"] = info.server_version.as_str().into();
            document["tools"] = (*tools).into();
            document["duration"] = (took.as_millis() as f64 / 1000.0).into();
        }
        State::Tried(Outcome::Failed {
            reason,
            notes,
            help,
        }) => {
            document["error"] = reason.as_str().into();
            document["notes"] = notes.clone().into();
            document["help"] = help.clone().into();
        }
        State::Refused(refusal) => {
            document["error"] = refusal.message.as_str().into();
            document["notes"] = refusal.notes.clone().into();
            document["help"] = refusal.help.clone().into();
            document["diagnostic"] = to_json(refusal);
        }
        State::Disabled | State::NotTried => {}
    }
    document
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
