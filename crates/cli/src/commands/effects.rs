//! What a scenario would do, in words, for `check` and `play --dry-run`.

use cuecard_source::value::printable_lines;
use cuecard_tool_call::format::Effects;
use serde_json::json;

/// How much of each: `it would start 1 server (notes), run 0 commands, write 2 files`.
pub(super) fn effects_line(effects: &Effects) -> String {
    let count = |number: usize, one: &str, many: &str| {
        format!("{number} {}", if number == 1 { one } else { many })
    };
    let servers = match effects.servers.as_slice() {
        [] => "start 0 servers".to_owned(),
        servers => format!(
            "start {} ({})",
            count(servers.len(), "server", "servers"),
            servers.join(", ")
        ),
    };
    let mut facts = vec![
        servers,
        format!(
            "run {}",
            count(effects.commands.len(), "command", "commands")
        ),
        format!("write {}", count(effects.writes.len(), "file", "files")),
    ];
    if !effects.urls.is_empty() {
        facts.push(format!(
            "fetch {}",
            count(effects.urls.len(), "URL", "URLs")
        ));
    }
    format!("it would {}", facts.join(", "))
}

/// The same one by one, a line each: what it reads, runs, writes and fetches.
pub(super) fn effects_list(effects: &Effects) -> String {
    let groups = [
        ("runs", &effects.commands),
        ("sets", &effects.variables),
        ("reads", &effects.reads),
        ("writes", &effects.writes),
        ("fetches", &effects.urls),
    ];
    let mut list = String::new();
    for (what, items) in groups {
        for item in items {
            let item = printable_lines(item).replace('\n', "\n          ");
            list.push_str(&format!("  {what:<7} {item}\n"));
        }
    }
    list
}

/// The same for machines.
pub(super) fn effects_json(effects: &Effects) -> serde_json::Value {
    json!({
        "servers": effects.servers,
        "commands": effects.commands,
        "variables": effects.variables,
        "reads": effects.reads,
        "writes": effects.writes,
        "urls": effects.urls,
    })
}
