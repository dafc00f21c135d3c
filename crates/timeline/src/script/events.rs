//! The one table of events: what may stand beside each, whose time it takes, whether it ends a turn, and which player
//! acts on it, waits for it or passes over it. The reader, schedules, turns, players, explanations and comparisons of
//! players read it.

use super::command_line;
use super::schedule::Lane;
use crate::model::{EventKind, PermissionDecision};
use cuecard_source::value::as_text;

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

/// An event of the format.
#[derive(Debug)]
pub struct EventRow {
    /// Its key.
    pub key: &'static str,
    /// Keys that may stand beside it, those that may stand everywhere aside.
    pub(crate) beside: &'static [&'static str],
    /// Whose time it takes.
    pub lane: Lane,
    /// Whether the answer before it ends.
    pub(crate) ends_turn: bool,
    /// What each [`PlayerKind`] does about it, in the order of [`PlayerKind::ALL`].
    pub cells: [Cell; 5],
}

impl EventKind {
    /// What the table says of it.
    pub fn row(&self) -> &'static EventRow {
        let key = self.as_str();
        let row = EVENTS.iter().find(|row| row.key == key);
        row.expect("each event has a row, as a test says")
    }

    /// What it says beside its key, in a few words; often nothing.
    pub fn summary(&self) -> String {
        match self {
            Self::Response(_)
            | Self::UserInputs(_)
            | Self::UserCancelSession { .. }
            | Self::Complete
            | Self::Merge => String::new(),
            Self::ToolUse(call) => call.tool.clone(),
            Self::AgentEdits(edit) => edit.path.clone(),
            Self::AgentPlan(plan) => match plan.entries.len() {
                1 => "1 entry".to_owned(),
                count => format!("{count} entries"),
            },
            Self::AgentFileReads(files) => {
                let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
                paths.join(", ")
            }
            Self::PermissionRequest(request) => match &request.decision {
                PermissionDecision::Selected(id) => format!("answered with {id}"),
                PermissionDecision::Cancelled => "cancelled".to_owned(),
            },
            Self::Notify(notify) => notify.method.clone(),
            Self::UserEdits { patch, .. } => patch.display().to_string(),
            Self::UserCommand(command) => command_line(command),
            Self::ApplyPatch(patch) => patch.path.display().to_string(),
            Self::Initialize(call) => {
                let version = call.request.get("protocolVersion").map(as_text);
                version.map_or_else(String::new, |version| format!("protocol {version}"))
            }
            Self::Authenticate(authenticate) => authenticate.method_id.clone(),
            Self::SetMode { mode_id } => mode_id.clone(),
            Self::SetModel { model_id } => model_id.clone(),
            Self::SessionStart(start) => start.session_id.clone().unwrap_or_default(),
            Self::BaseTimeDelta(by) => format!("+{by}"),
            Self::Assert(assert) => {
                let keys = assert.checks.iter().map(|check| check.key.as_str());
                keys.collect::<Vec<_>>().join(", ")
            }
            Self::Screenshot(label) => label.clone(),
            Self::Log(log) => log.message.clone(),
            Self::Status(status) => status.as_str().to_owned(),
        }
    }
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
        let cells = match event {
            EventKind::AgentEdits(edit) if !edit.has_text() => &EDIT_COUNTS,
            event => &event.row().cells,
        };
        cells[self as usize]
    }
}

impl Cell {
    const fn of(act: Act) -> Self {
        Self { act, note: "" }
    }
}

/// Keys of an answer as a whole.
pub(crate) const ANSWER_KEYS: &[&str] = &["usage", "stopReason", "refusal"];

/// Keys that belong to a call and not to its arguments.
pub(crate) const CALL_KEYS: &[&str] = &[
    "progress",
    "result",
    "status",
    "toolExecution",
    "toolCallId",
    "rawInput",
    "rawArguments",
    "validate",
    "kind",
    "delayMs",
    "_meta",
];

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

const fn row(
    key: &'static str,
    beside: &'static [&'static str],
    lane: Lane,
    ends_turn: bool,
    cells: [Cell; 5],
) -> EventRow {
    EventRow {
        key,
        beside,
        lane,
        ends_turn,
        cells,
    }
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

/// The events. What a client sends of its own accord waits for all that stands above it.
#[rustfmt::skip]
pub const EVENTS: &[EventRow] = &[
    //                                                                  llm, acp, rest, agent, run
    row("llmResponse",             ANSWER_KEYS,               Lane::Agent, false, [acts("answers"), acts("sends updates"), acts("sends events"), acts("prints"), AWAITS]),
    row("agentToolUse",            CALL_KEYS,                 Lane::Agent, false, [both("calls; awaits the results"), acts("calls, terminals and updates"), acts("streams `toolExecution`; runs nothing"), acts("executes and compares"), AWAITS]),
    row("agentEdits",              &[],                       Lane::Agent, false, [acts("calls the tool for edits"), acts("sends the diff and writes"), acts("sends `file_edit` and `diff`"), acts("edits and compares the counts"), AWAITS]),
    row("agentPlan",               &[],                       Lane::Agent, false, [SKIPS, ACTS, acts(AS_LOG), acts("prints"), SKIPS]),
    row("agentFileReads",          &[],                       Lane::Agent, false, [SKIPS, both("asks the client"), acts(AS_LOG), unless_acp(IF_ACP), awaits("answers as the client")]),
    row("agentPermissionRequest",  &[],                       Lane::Agent, false, [SKIPS, both("asks the client"), acts(AS_LOG), unless_acp(IF_ACP), awaits("answers as the client")]),
    row("notify",                  &[],                       Lane::Agent, false, [SKIPS, ACTS, acts(AS_LOG), unless_acp(IF_ACP), awaits(AS_CLIENT)]),
    row("userInputs",              &["target"],               Lane::User, true, [AWAITS, awaits("in the history: acts"), acts("as a message; awaits with `--wait-for-prompts`"), AWAITS, acts("keys and prompts")]),
    row("userEdits",               &["at"],                   Lane::User, true, [SKIPS, SKIPS, acts(AS_LOG), SKIPS, acts("applies the patch")]),
    row("userCommand",             &["at"],                   Lane::User, true, [SKIPS, SKIPS, acts(AS_LOG), SKIPS, acts("runs the command")]),
    row("userCancelSession",       &["at"],                   Lane::User, true, [SKIPS, AWAITS, acts(AS_LOG), AWAITS, acts("presses the key that interrupts")]),
    row("applyPatch",              &["at"],                   Lane::User, true, [SKIPS, SKIPS, acts(AS_LOG), SKIPS, acts("applies the patch")]),
    row("initialize",              &["expectedResponse"],     Lane::Barrier, false, [SKIPS, AWAITS, acts(AS_LOG), unless_acp(IF_ACP), acts(AS_CLIENT)]),
    row("authenticate",            &["expectedResponse"],     Lane::Barrier, false, [SKIPS, AWAITS, acts(AS_LOG), unless_acp(IF_ACP), acts(AS_CLIENT)]),
    row("setMode",                 &[],                       Lane::Barrier, false, [SKIPS, AWAITS, acts(AS_LOG), unless_acp(IF_ACP), acts(AS_CLIENT)]),
    row("setModel",                &[],                       Lane::Barrier, false, [SKIPS, AWAITS, acts(AS_LOG), unless_acp(IF_ACP), acts(AS_CLIENT)]),
    row("sessionStart",            &[],                       Lane::Clock, false, [Cell::of(Act::Boundary), acts("plays the history on load"), acts("plays the history at once"), Cell::of(Act::Boundary), Cell::of(Act::Boundary)]),
    row("baseTimeDelta",           &[],                       Lane::Clock, false, [CLOCK, CLOCK, CLOCK, CLOCK, Cell { act: Act::Clock, note: "owns it" }]),
    row("assert",                  &[],                       Lane::Barrier, true, [acts("between two turns"), Cell { act: Act::NotEvaluated, note: "but for `acp.session`" }, NOT_EVALUATED, SKIPS, acts("but for what the model's stand-in took")]),
    row("screenshot",              &[],                       Lane::Barrier, false, [SKIPS, SKIPS, NOT_EVALUATED, SKIPS, ACTS]),
    row("log",                     &[],                       Lane::Barrier, false, [SKIPS, SKIPS, ACTS, SKIPS, acts("in its own log")]),
    row("status",                  &[],                       Lane::Barrier, false, [SKIPS, SKIPS, ACTS, SKIPS, acts("in the table of sessions")]),
    row("complete",                &[],                       Lane::Barrier, true, [SKIPS, SKIPS, ACTS, SKIPS, acts("in the table of sessions")]),
    row("merge",                   &[],                       Lane::Barrier, false, [SKIPS, SKIPS, ACTS, SKIPS, acts("in the table of sessions")]),
];

/// What players do about edits that say only how many lines change.
const EDIT_COUNTS: [Cell; 5] = [
    SKIPS,
    acts("sends the edit"),
    acts("sends `file_edit`"),
    acts("edits, so that the counts hold"),
    awaits("on a real agent only checked"),
];

/// What players do about what is expected in the end.
pub const EXPECT: [Cell; 5] = [SKIPS, SKIPS, NOT_EVALUATED, SKIPS, ACTS];

#[cfg(test)]
mod tests {
    use super::super::testing::{answer, ask, check, edit, session_start};
    use super::*;

    #[test]
    fn each_event_has_one_row() {
        let schema = cuecard_source::decode::schema_of::<EventKind>();
        let forms = schema["oneOf"].as_array().expect("an enum");
        let key = |form: &serde_json::Value| match form["const"].as_str() {
            Some(marker) => marker.to_owned(),
            None => form["required"][0].as_str().expect("a key").to_owned(),
        };
        let mut written: Vec<String> = forms.iter().map(key).collect();
        written.push("llmResponse".to_owned());
        written.sort_unstable();
        let mut rows: Vec<&str> = EVENTS.iter().map(|row| row.key).collect();
        rows.sort_unstable();
        assert_eq!(rows, written);
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
    }
}
