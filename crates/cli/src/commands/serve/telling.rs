//! What `serve llm` prints: when it is ready, what arrives, the verdict.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use cuecard_llm::{Exchange, Notice, PlannedFault, RunningLlm, Verdict};
use cuecard_report::diagnostics;
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::value::cut;
use serde_json::json;

use super::exchange_log::{ExchangeLog, document, error_of};
use crate::commands::teller::{OutputWriter, environment, played};
use crate::exit_code::ExitCode;
use crate::output::{Output, counted, stdout};

/// More sessions are not numbered, so that the table stays small.
const MAX_NUMBERED: usize = 10_000;

/// More requests are not saved by themselves.
const MAX_SAVED: usize = 100;

/// It listens.
pub(super) fn ready(teller: &OutputWriter, running: &RunningLlm, variables: &[(&str, String)]) {
    let url = running.base_url();
    let n_scenarios = running.n_scenarios();
    if teller.is_json {
        teller.event(
            "ready",
            json!({
                "url": url,
                "port": running.port(),
                "scenarios": n_scenarios,
                "left_out": running.left_out(),
                "diagnostics": diagnostics::list_to_json(running.diagnostics()),
                "environment": environment(variables),
            }),
        );
        return;
    }
    let timelines = counted(n_scenarios, "timeline");
    teller.line(&format!("ready  {url}   {timelines}"));
    for pair in variables.chunks(2) {
        let pair: Vec<String> = pair
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        teller.line(&format!("  {}", pair.join("   ")));
    }
}

/// The verdict before the end, for machines: turns that are not played are no failure yet.
pub(super) fn verdict_so_far(teller: &OutputWriter, verdict: &Verdict) {
    if teller.is_json {
        teller.event("verdict_so_far", verdict.to_json());
    }
}

/// The verdict, last.
pub(super) fn verdict(teller: &OutputWriter, verdict: &Verdict) {
    if teller.is_json {
        teller.last_event("verdict", verdict.to_json());
        return;
    }
    let mut parts = Vec::new();
    if verdict.n_misses > 0 {
        parts.push(counted(verdict.n_misses, "miss"));
    }
    let others = verdict.n_failures.saturating_sub(verdict.n_misses);
    if others > 0 {
        let one = match verdict.n_misses {
            0 => "failure",
            _ => "other failure",
        };
        parts.push(counted(others, one));
    }
    parts.push(counted(verdict.n_exchanges, "exchange"));
    parts.push(played(verdict.unplayed.len(), verdict.n_turns, "turn"));
    teller.verdict(verdict.passed, &parts);
}

/// Prints what faults would hit.
pub(crate) fn planned_faults(planned: &[PlannedFault], output: &Output) -> ExitCode {
    if output.is_json {
        stdout(&format!("{}\n", json!({"faults": planned})));
        return ExitCode::Passed;
    }
    let mut text = String::new();
    for fault in planned {
        let at = fault.at_ms.map(|at_ms| format!(" at {at_ms} ms"));
        let kind = format!("{}{}", fault.kind, at.unwrap_or_default());
        let what = match (fault.turn, fault.never) {
            (Some(turn), _) => format!("turn {turn} of `{}`", fault.scenario),
            (None, why) => format!("never: {}", why.unwrap_or_default()),
        };
        let (place, path, event) = (&fault.place, &fault.path, &fault.event);
        text.push_str(&format!("{place}  {path} {event}  {kind}  {what}\n"));
    }
    let count = match planned.len() {
        0 => "no faults".to_owned(),
        more => counted(more, "fault"),
    };
    stdout(&format!("{text}{count}\n"));
    ExitCode::Passed
}

/// Told of everything that happens, on the thread of the trace.
pub(super) struct Watching {
    log: ExchangeLog,
    run_dir: Arc<RunDir>,
    /// How many requests were saved by themselves.
    n_saved: usize,
    /// The numbers of sessions.
    sessions: HashMap<String, usize>,
    current: Option<String>,
}

impl Watching {
    pub(super) fn new(teller: OutputWriter, exchanges: File, run_dir: Arc<RunDir>) -> Self {
        Self {
            log: ExchangeLog::new(exchanges, teller),
            run_dir,
            n_saved: 0,
            sessions: HashMap::new(),
            current: None,
        }
    }

    pub(super) fn see(&mut self, notice: &Notice) {
        match notice {
            Notice::Finding(found) => self.log.teller.finding(found),
            Notice::Exchange(exchange) => {
                self.keep(exchange);
                match self.log.teller.is_json {
                    true => self.log.teller.event("exchange", document(exchange)),
                    false => self.exchange(exchange),
                }
            }
        }
    }

    /// Keeps the exchange in its file. A request whose calls were refused is kept by itself too: its tools are what a
    /// profile is made of.
    fn keep(&mut self, exchange: &Exchange) {
        self.log.keep(exchange);
        if exchange.outcome == "refused" && exchange.turn.is_some() && self.n_saved < MAX_SAVED {
            self.n_saved += 1;
            let name = format!("request-{}.json", exchange.number);
            let _ = self
                .run_dir
                .save(&name, exchange.request.to_string().as_bytes());
        }
    }

    /// What happens while it serves is progress; for machines it is the result.
    fn exchange(&mut self, exchange: &Exchange) {
        if let Some(session) = &exchange.session
            && self.current.as_ref() != Some(session)
        {
            let next = self.sessions.len() + 1;
            if self.sessions.len() >= MAX_NUMBERED {
                self.sessions.clear();
            }
            let number = *self.sessions.entry(session.clone()).or_insert(next);
            let selection = exchange.selection.as_deref().unwrap_or_default();
            let scenario = exchange.scenario.as_deref().unwrap_or_default();
            let client = exchange.headers["user-agent"].as_str().unwrap_or_default();
            self.log.teller.progress(&format!(
                "session {number}  {scenario}  ({selection})   {}",
                cut(client, 40)
            ));
            self.current = Some(session.clone());
        }
        let turn = match exchange.turn {
            Some(turn) if exchange.lane == "main" => format!("turn {turn}"),
            _ => exchange.lane.to_owned(),
        };
        let is_good = !matches!(exchange.outcome, "cut" | "miss" | "refused");
        let what = match (exchange.outcome, &exchange.answer, &exchange.error) {
            ("repeat", Some(answer), _) => format!("{answer} (again)"),
            ("miss", ..) => "miss".to_owned(),
            ("cut", ..) => "cut off: the client or the run ended first".to_owned(),
            (_, Some(answer), None) => answer.clone(),
            _ => error_of(exchange),
        };
        let what = match exchange.faults.is_empty() {
            true => what,
            false => format!("{what}, but {}", exchange.faults.join(", ")),
        };
        self.log.line(exchange, &turn, is_good, (&what, ""));
    }
}
