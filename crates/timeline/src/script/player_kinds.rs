//! Which event each player acts on, waits for or passes over: the one table that players, explanations and
//! comparisons of players read. A client's face is the server's with acting and waiting swapped.

use crate::model::EventKind;

/// A player of timelines, by what it stands in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlayerKind {
    /// A model's API.
    Llm,
    /// An agent behind the Agent Client Protocol.
    Acp,
    /// An agent service.
    Rest,
    /// An agent in a terminal.
    Agent,
    /// The executor: the user and everything around the agent.
    Run,
}

/// What a player does about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// Does it.
    Acts,
    /// Waits until the peer has done it.
    Awaits,
    /// Does it, and waits for what comes back.
    ActsAndAwaits,
    /// Moves its clock.
    Clock,
    /// Ends the history.
    Boundary,
    /// Passes over it: it has no place there.
    Skips,
    /// Passes over it, and lists it as not evaluated.
    NotEvaluated,
}

/// What a cell of the table depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// What happens.
    pub act: Act,
    /// How, or on which condition, for people; empty if there is nothing to say.
    pub note: &'static str,
}

/// A row of the table: an event and its cell for each [`PlayerKind`], in the order of [`PlayerKind::ALL`].
#[derive(Debug, Clone, Copy)]
pub struct PlayerRow {
    /// The key of the event.
    pub event: &'static str,
    /// One cell for each face.
    pub cells: [Cell; 5],
}

impl PlayerKind {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Self; 5] = [Self::Llm, Self::Acp, Self::Rest, Self::Agent, Self::Run];

    /// Its name, as commands have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::Acp => "acp",
            Self::Rest => "rest",
            Self::Agent => "agent",
            Self::Run => "run",
        }
    }

    /// What this player does about an event. For what it does only under a condition, the note says which.
    pub fn cell(self, event: &EventKind) -> Cell {
        let is_count_only = matches!(event, EventKind::AgentEdits(edit) if !edit.has_text());
        let word = match event {
            EventKind::AgentEdits(_) if is_count_only => EDIT_COUNTS,
            other => other.as_str(),
        };
        let row = FACES.iter().find(|row| row.event == word);
        row.map_or(Cell::of(Act::NotEvaluated), |row| row.cells[self as usize])
    }
}

impl Act {
    /// What the other side of the same protocol does.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Acts => Self::Awaits,
            Self::Awaits => Self::Acts,
            other => other,
        }
    }
}

impl Cell {
    const fn of(act: Act) -> Self {
        Self { act, note: "" }
    }
}

/// The row of edits that say only how many lines change.
pub const EDIT_COUNTS: &str = "agentEdits (counts only)";
/// The row of what runs inside of a tool call.
pub const TOOL_EXECUTION: &str = "toolExecution";
/// The row of what is expected in the end.
pub const EXPECT: &str = "expect";

const ACTS: Cell = Cell::of(Act::Acts);
const AWAITS: Cell = Cell::of(Act::Awaits);
const SKIPS: Cell = Cell::of(Act::Skips);
const NOT_EVALUATED: Cell = Cell::of(Act::NotEvaluated);
const CLOCK: Cell = Cell::of(Act::Clock);

const fn acts(note: &'static str) -> Cell {
    Cell {
        act: Act::Acts,
        note,
    }
}

const fn awaits(note: &'static str) -> Cell {
    Cell {
        act: Act::Awaits,
        note,
    }
}

const fn both(note: &'static str) -> Cell {
    Cell {
        act: Act::ActsAndAwaits,
        note,
    }
}

const fn row(event: &'static str, cells: [Cell; 5]) -> PlayerRow {
    PlayerRow { event, cells }
}

const fn unless_acp(note: &'static str) -> Cell {
    Cell {
        act: Act::NotEvaluated,
        note,
    }
}

const IF_ACP: &str = "over ACP, if the peer speaks it";
const AS_CLIENT: &str = "as the client";
const AS_LOG: &str = "as a log event";

/// The table.
#[rustfmt::skip]
pub const FACES: &[PlayerRow] = &[
    //                      llm                                acp                                      rest                                        agent                                           run
    row("llmResponse",     [acts("answers"),                   acts("sends updates"),                   acts("sends events"),                       acts("prints"),                                 AWAITS]),
    row("agentToolUse",    [both("calls; awaits the results"), acts("calls, terminals and updates"),    acts("streams `toolExecution`; runs nothing"), acts("executes and compares"),               AWAITS]),
    row("agentEdits",      [acts("calls the tool for edits"),  acts("sends the diff and writes"),       acts("sends `file_edit` and `diff`"),       acts("edits and compares the counts"),          AWAITS]),
    row(EDIT_COUNTS,       [SKIPS,                             acts("sends the edit"),                  acts("sends `file_edit`"),                  acts("edits, so that the counts hold"),         awaits("on a real agent only checked")]),
    row(TOOL_EXECUTION,    [SKIPS,                             acts("without a terminal of the client"), ACTS,                                      SKIPS,                                          SKIPS]),
    row("agentPlan",       [SKIPS,                             ACTS,                                    acts(AS_LOG),                               acts("prints"),                                 SKIPS]),
    row("userInputs",      [AWAITS,                            awaits("in the history: acts"),          acts("as a message; awaits with `--wait-for-prompts`"), AWAITS,                             acts("keys and prompts")]),
    row("userEdits",       [SKIPS,                             SKIPS,                                   acts(AS_LOG),                               SKIPS,                                          acts("applies the patch")]),
    row("userCommand",     [SKIPS,                             SKIPS,                                   acts(AS_LOG),                               SKIPS,                                          acts("runs the command")]),
    row("applyPatch",      [SKIPS,                             SKIPS,                                   acts(AS_LOG),                               SKIPS,                                          acts("applies the patch")]),
    row("userCancelSession", [SKIPS,                           AWAITS,                                  acts(AS_LOG),                               AWAITS,                                         acts("presses the key that interrupts")]),
    row("assert",          [acts("between two turns"),         Cell { act: Act::NotEvaluated, note: "but for `acp.session`" }, NOT_EVALUATED,       SKIPS,                                          acts("but for what the model's stand-in took")]),
    row(EXPECT,            [SKIPS,                             SKIPS,                                   NOT_EVALUATED,                              SKIPS,                                          ACTS]),
    row("screenshot",      [SKIPS,                             SKIPS,                                   NOT_EVALUATED,                              SKIPS,                                          ACTS]),
    row("log",             [SKIPS,                             SKIPS,                                   ACTS,                                       SKIPS,                                          acts("in its own log")]),
    row("status",          [SKIPS,                             SKIPS,                                   ACTS,                                       SKIPS,                                          acts("in the table of sessions")]),
    row("complete",        [SKIPS,                             SKIPS,                                   ACTS,                                       SKIPS,                                          acts("in the table of sessions")]),
    row("merge",           [SKIPS,                             SKIPS,                                   ACTS,                                       SKIPS,                                          acts("in the table of sessions")]),
    row("initialize",      [SKIPS,                             AWAITS,                                  acts(AS_LOG),                               unless_acp(IF_ACP),                             acts(AS_CLIENT)]),
    row("authenticate",    [SKIPS,                             AWAITS,                                  acts(AS_LOG),                               unless_acp(IF_ACP),                             acts(AS_CLIENT)]),
    row("setMode",         [SKIPS,                             AWAITS,                                  acts(AS_LOG),                               unless_acp(IF_ACP),                             acts(AS_CLIENT)]),
    row("setModel",        [SKIPS,                             AWAITS,                                  acts(AS_LOG),                               unless_acp(IF_ACP),                             acts(AS_CLIENT)]),
    row("agentPermissionRequest", [SKIPS,                      both("asks the client"),                 acts(AS_LOG),                               unless_acp(IF_ACP),                             awaits("answers as the client")]),
    row("agentFileReads",  [SKIPS,                             both("asks the client"),                 acts(AS_LOG),                               unless_acp(IF_ACP),                             awaits("answers as the client")]),
    row("notify",          [SKIPS,                             ACTS,                                    acts(AS_LOG),                               unless_acp(IF_ACP),                             awaits(AS_CLIENT)]),
    row("baseTimeDelta",   [CLOCK,                             CLOCK,                                   CLOCK,                                      CLOCK,                                          Cell { act: Act::Clock, note: "owns it" }]),
    row("sessionStart",    [Cell::of(Act::Boundary),           acts("plays the history on load"),       acts("plays the history at once"),          Cell::of(Act::Boundary),                        Cell::of(Act::Boundary)]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{answer, ask, call, check, edit, session_start};
    use super::*;

    #[test]
    fn each_event_has_one_row() {
        let mut names: Vec<&str> = FACES.iter().map(|row| row.event).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for event in [
            answer("a"),
            ask("b"),
            check(),
            session_start(),
            call("c", "runCmd", json!({})),
            EventKind::Merge,
            EventKind::Complete,
            EventKind::BaseTimeDelta(1),
            EventKind::Screenshot("s".into()),
        ] {
            assert!(names.contains(&event.as_str()), "{}", event.as_str());
        }
    }

    #[test]
    fn the_faces_read_their_columns() {
        assert_eq!(PlayerKind::Llm.cell(&ask("a")).act, Act::Awaits);
        assert_eq!(PlayerKind::Run.cell(&ask("a")).act, Act::Acts);
        assert_eq!(PlayerKind::Run.cell(&answer("a")).act, Act::Awaits);
        assert_eq!(PlayerKind::Agent.cell(&check()).act, Act::Skips);
        assert_eq!(
            PlayerKind::Llm.cell(&edit("c", "p", None, None)).act,
            Act::Skips
        );
        assert_eq!(
            PlayerKind::Llm.cell(&edit("c", "p", None, Some("t"))).act,
            Act::Acts
        );
        assert_eq!(PlayerKind::Acp.cell(&session_start()).act, Act::Acts);
        assert_eq!(Act::Acts.swapped(), Act::Awaits);
        assert_eq!(Act::Skips.swapped(), Act::Skips);
    }
}
