//! An explanation for people.

use std::time::Duration;

use cuecard_report::{Style, duration};
use cuecard_source::value::printable;
use cuecard_timeline::format::SymbolUse;
use cuecard_timeline::script::{Act, Cell, LlmScript, PlayerKind};

use super::describe::{line, quoted};
use super::rows::{Row, rows};
use super::{Explained, View};
use crate::output::counted;

/// The width of the number and the time before an event.
const BEFORE: usize = 15;
/// The width of a player's column.
const COLUMN: usize = 7;

/// The whole explanation of one timeline.
pub(super) fn text(
    explained: &Explained,
    script: &LlmScript,
    view: &View<'_>,
    style: Style,
) -> String {
    let mut text = head(explained, script, view, style);
    text.push_str(&symbols(explained, script, view, style));
    text.push('\n');
    text.push_str(&table(&rows(script, view.speed), view.player, style));
    text.push('\n');
    text.push_str(legend(view.player));
    text
}

fn head(explained: &Explained, script: &LlmScript, view: &View<'_>, style: Style) -> String {
    let timeline = &script.timeline;
    let dot = style.dot();
    let end = Duration::from_millis(view.speed.at(script.schedule.end_ms));
    let mut text = format!(
        "{}{dot}{}\n  {}{dot}{}{dot}{}\n",
        style.strong(&line(&timeline.name)),
        style.faint(&explained.file),
        counted(timeline.events.len(), "event"),
        counted(script.turns.turns.len(), "turn"),
        duration(end),
    );
    if let Some(description) = &timeline.description {
        let words: Vec<&str> = description.split_whitespace().collect();
        let description = words.join(" ");
        let room = style.width.saturating_sub(2);
        text.push_str(&format!(
            "  {}\n",
            style.shortened(&printable(&description), room)
        ));
    }
    if !timeline.tags.is_empty() {
        text.push_str(&format!("  tags: {}\n", line(&timeline.tags.join(", "))));
    }
    let prompt = timeline
        .effective_prompt()
        .filter(|prompt| !prompt.trim().is_empty());
    text.push_str(&match (prompt, timeline.session_id()) {
        (Some(prompt), None) => format!("  chosen by {}\n", quoted(&prompt)),
        (Some(prompt), Some(id)) => {
            format!("  chosen by {}, or session {}\n", quoted(&prompt), line(id))
        }
        (None, Some(id)) => format!("  chosen by its name, or session {}\n", line(id)),
        (None, None) => "  chosen by its name: it has no prompt\n".to_owned(),
    });
    text
}

/// The conditions of its rules, and which of them hold.
fn symbols(explained: &Explained, script: &LlmScript, view: &View<'_>, style: Style) -> String {
    if explained.symbols.is_empty() {
        return String::new();
    }
    let conditions = explained.symbols.iter().map(|used| line(&used.condition));
    let width = conditions
        .map(|text| text.chars().count())
        .max()
        .unwrap_or_default();
    let mut text = "\nrules\n".to_owned();
    for used in &explained.symbols {
        let place = script.timeline.source.position(used.span.start);
        let mark = match used.holds {
            true => style.good(style.symbol("✓", "+")),
            false => style.faint(style.symbol("–", "-")),
        };
        let condition = line(&used.condition);
        text.push_str(&format!(
            "  {mark} line {:<5} {condition:<width$}  {}\n",
            place.line,
            why(used, view)
        ));
    }
    text
}

/// What a condition found.
fn why(used: &SymbolUse, view: &View<'_>) -> String {
    match (view.symbols.get(&used.name), &used.proposal) {
        (Some(symbol), _) => format!(
            "${} is {} ({})",
            used.name,
            line(&symbol.value.to_string()),
            symbol.origin
        ),
        (None, Some(proposal)) => format!("not defined; did you mean `{proposal}`?"),
        (None, None) => format!("${} is not defined", used.name),
    }
}

fn table(rows: &[Row], player: Option<PlayerKind>, style: Style) -> String {
    let columns = match player {
        Some(_) => 36,
        None => COLUMN * PlayerKind::ALL.len(),
    };
    let width = style.width.saturating_sub(BEFORE + columns).max(20);
    let mut heads = format!("  {:>3} {:>8} {:<width$} ", "#", "ms", "event");
    match player {
        Some(face) => heads.push_str(face.as_str()),
        None => {
            for face in PlayerKind::ALL {
                heads.push_str(&format!("{:<COLUMN$}", face.as_str()));
            }
        }
    }
    let mut text = format!("{}\n", style.faint(heads.trim_end()));
    for (number, row) in rows.iter().enumerate() {
        let what = match (row.event, row.what.as_str()) {
            (event, "") => event.to_owned(),
            // The name of the tool says it.
            ("agentToolUse", call) => call.to_owned(),
            (event, what) => format!("{event} {what}"),
        };
        let mut out = format!(
            "  {:>3} {:>8} {:<width$} ",
            number + 1,
            row.at_ms,
            style.shortened(&what, width)
        );
        match player {
            Some(face) => out.push_str(&in_words(row.cells[face as usize])),
            None => {
                for cell in row.cells {
                    out.push_str(&format!("{:<COLUMN$}", word(cell.act)));
                }
            }
        }
        text.push_str(out.trim_end());
        text.push('\n');
        for (at_ms, what) in &row.points {
            let room = style.width.saturating_sub(BEFORE + 3);
            let point = format!("      {at_ms:>8}   {}", style.shortened(what, room));
            text.push_str(&style.faint(&point));
            text.push('\n');
        }
    }
    text
}

fn word(act: Act) -> &'static str {
    match act {
        Act::Acts => "acts",
        Act::Awaits => "waits",
        Act::ActsAndAwaits => "both",
        Act::Clock => "clock",
        Act::Boundary => "start",
        Act::NotEvaluated => "listed",
        Act::Skips => "-",
    }
}

fn in_words(cell: Cell) -> String {
    match cell.note {
        "" => word(cell.act).to_owned(),
        note => format!("{}: {note}", word(cell.act)),
    }
}

fn legend(player: Option<PlayerKind>) -> &'static str {
    match player {
        Some(PlayerKind::Llm) => "llm: the stand-in for a model's API\n",
        Some(PlayerKind::Acp) => "acp: the mock agent over ACP\n",
        Some(PlayerKind::Rest) => "rest: the mock agent service\n",
        Some(PlayerKind::Agent) => "agent: the mock agent in a terminal\n",
        Some(PlayerKind::Run) => "run: the executor, everything around the agent\n",
        None => {
            "acts: the player does it; waits: its peer does; both: it acts and waits for the\nanswer; clock: time moves; start: the history ends; listed: named as not\nevaluated; -: skipped. `--player NAME` says how.\n"
        }
    }
}
