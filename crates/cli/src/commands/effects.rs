//! What a scenario would do, in words, for `check` and `play --dry-run`.

use crate::output::counted;
use cuecard_source::value::printable_lines;
use cuecard_tool_call::format::Effects;

/// How much of each: `it would start 1 server (notes), run 0 commands, write 2 files`.
pub(super) fn effects_line(effects: &Effects) -> String {
    let servers = match effects.servers.as_slice() {
        [] => "start 0 servers".to_owned(),
        servers => format!(
            "start {} ({})",
            counted(servers.len(), "server"),
            servers.join(", ")
        ),
    };
    let mut facts = vec![
        servers,
        format!("run {}", counted(effects.commands.len(), "command")),
        format!("write {}", counted(effects.writes.len(), "file")),
    ];
    if !effects.urls.is_empty() {
        facts.push(format!("fetch {}", counted(effects.urls.len(), "URL")));
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
