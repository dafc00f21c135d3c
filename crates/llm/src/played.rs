//! Which turns were played: each session is judged for itself, since one that plays all must not hide another that
//! stops early.

use cuecard_source::diagnostic::{Diagnostic, codes};
use serde::Serialize;

use super::mock_server::{MockServer, place_of};

/// More sessions, and about more turns that were not played, are not listed.
const MAX_LISTED: usize = 10_000;

/// A conversation, and what it has not played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionVerdict {
    /// The session, as exchanges name it.
    pub session: String,
    /// The scenario's name.
    pub scenario: String,
    /// How many turns that has.
    pub turns: usize,
    /// The turns that were not sent, or not whole, from 1.
    pub unplayed: Vec<usize>,
}

/// A turn that a session did not get, or not whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnplayedTurn {
    /// The scenario's name.
    pub scenario: String,
    /// The session; absent if the scenario had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn, from 1.
    pub turn: usize,
    /// Where it stands: `file:line`.
    pub place: String,
    /// Whether its answer was cut, since its client or the run ended before.
    #[serde(rename = "cut")]
    pub is_cut: bool,
}

/// What was played of all turns.
#[derive(Debug, Default)]
pub(super) struct PlayedTurns {
    pub(super) n_turns: usize,
    pub(super) unplayed: Vec<UnplayedTurn>,
    pub(super) sessions: Vec<SessionVerdict>,
}

impl MockServer {
    /// What was played, session by session; of scenarios without a session, nothing was.
    pub(super) fn played_turns(&self) -> PlayedTurns {
        let sessions = self.remembered().sessions.progress();
        let cut = self.ledger.cut_turns();
        let mut played = PlayedTurns::default();
        for (scenario_idx, script) in self.scripts.iter().enumerate() {
            let scenario = &script.timeline.name;
            let turns = &script.turns.turns;
            let live: Vec<usize> = (0..turns.len())
                .filter(|&idx| !turns[idx].is_history)
                .collect();
            let unplayed = |turn_idx: usize, session: Option<String>, is_cut| UnplayedTurn {
                scenario: scenario.clone(),
                session,
                turn: turn_idx + 1,
                place: place_of(script, turn_idx).unwrap_or_default(),
                is_cut,
            };
            let mut has_session = false;
            for progress in sessions.iter().filter(|it| it.scenario_idx == scenario_idx) {
                has_session = true;
                let session = progress.session.to_string();
                // Who cancels as the script says need not read on.
                let is_cut = |turn_idx: usize| {
                    !turns[turn_idx].is_cancelled && cut.contains(&(session.clone(), turn_idx + 1))
                };
                let lacking = live
                    .iter()
                    .copied()
                    .filter(|&idx| !progress.is_played(idx) || is_cut(idx));
                let lacking: Vec<usize> = lacking.collect();
                let found = lacking
                    .iter()
                    .map(|&idx| unplayed(idx, Some(session.clone()), is_cut(idx)));
                played.unplayed.extend(found);
                played.n_turns += live.len();
                if played.sessions.len() < MAX_LISTED {
                    played.sessions.push(SessionVerdict {
                        session: session.clone(),
                        scenario: scenario.clone(),
                        turns: live.len(),
                        unplayed: lacking.iter().map(|idx| idx + 1).collect(),
                    });
                }
                if played.unplayed.len() >= MAX_LISTED {
                    return played;
                }
            }
            if !has_session {
                played.n_turns += live.len();
                played
                    .unplayed
                    .extend(live.iter().map(|&idx| unplayed(idx, None, false)));
            }
        }
        played
    }
}

/// T-LLM-07, if a turn was not played.
pub(super) fn unplayed_diagnostic(
    mock_server: &MockServer,
    played: &PlayedTurns,
) -> Option<Diagnostic> {
    const SHOWN: usize = 20;
    let unplayed = &played.unplayed[..];
    let first = unplayed.first()?;
    let what = |turn: &UnplayedTurn| {
        let cut = match turn.is_cut {
            true => ": its answer was cut off, because the client or the run ended first",
            false => "",
        };
        let of_scenario = played
            .sessions
            .iter()
            .filter(|it| it.scenario == turn.scenario);
        let session = turn.session.as_ref().filter(|_| of_scenario.count() > 1);
        let session = session.map(|session| format!(" in the session {session}"));
        let session = session.unwrap_or_default();
        let name = format!("turn {} of `{}`{session}", turn.turn, turn.scenario);
        (name, cut)
    };
    let message = match unplayed {
        [only] => {
            let (turn, cut) = what(only);
            format!("{turn} was not played{cut}")
        }
        more => {
            let (turn, cut) = what(first);
            format!("{} turns were not played, first {turn}{cut}", more.len())
        }
    };
    let mut found = Diagnostic::error(codes::MODEL_UNPLAYED, message);
    let place = mock_server.scripts.iter().find_map(|script| {
        let turn = script.turn(first.turn - 1)?;
        (script.timeline.name == first.scenario)
            .then(|| (script.timeline.source.clone(), turn.span))
    });
    if let Some((source, span)) = place {
        found = found.at(&source, span);
    }
    for turn in unplayed.iter().skip(1).take(SHOWN) {
        let (name, cut) = what(turn);
        found = found.with_note(format!("{name} ({}){cut}", turn.place));
    }
    Some(found)
}
