//! Whether a run is the same each time, whatever changes around it: speed, folders, locale.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_llm::DEFAULT_CHUNK;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::diagnostic::Severity;
use cuecard_source::value::{Json, cut};
use cuecard_terminal::{Places, Recording, normalised};
use cuecard_timeline::model::TerminalConfig;
use cuecard_timeline::script::Speed;
use cuecard_workspace::changes::contents;
use cuecard_workspace::commands::{CommandRequest, run};
use tokio_util::sync::CancellationToken;

use super::{DEFAULT_LOCALE, RunMode, RunOptions, RunScript, RunStatus, run_timeline};

/// The locales that every machine has.
const LOCALES: &[&str] = &[DEFAULT_LOCALE, "C", "POSIX"];
/// How long a machine may take to tell its locales.
const LOCALES_TIMEOUT: Duration = Duration::from_secs(10);
/// Fields of events that differ in each run.
const OF_ONE_RUN: &[&str] = &["duration_ms", "timing_ms_total"];

/// What is changed around a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// What scripted delays are multiplied by.
    pub speed: f64,
    /// The locale.
    pub locale: String,
    /// Names of folders that the workspace lies in.
    pub depth: usize,
    /// How many characters of a text a model sends at once.
    pub chunk: usize,
}

impl Surroundings {
    /// Those of the run with this number: the first is the plain one, the others follow from `seed`. There are these
    /// locales.
    pub fn of(seed: u64, run: usize, locales: &[String]) -> Self {
        if run == 0 {
            return Self {
                speed: 0.0,
                locale: DEFAULT_LOCALE.to_owned(),
                depth: 0,
                chunk: DEFAULT_CHUNK.get(),
            };
        }
        let mut state = seed ^ (run as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut draw = |below: u64| {
            // splitmix64
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % below
        };
        Self {
            // Tenths below 1.
            speed: draw(8) as f64 / 10.0,
            locale: locales[draw(locales.len() as u64) as usize].clone(),
            depth: draw(4) as usize,
            chunk: 1 + draw(40) as usize,
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        format!(
            "speed {}, locale {}, {} folders deep, pieces of {} characters",
            self.speed, self.locale, self.depth, self.chunk
        )
    }
}

/// A run that differs from the first.
#[derive(Debug, Clone)]
pub struct AuditDifference {
    /// Its number, from 1.
    pub run: usize,
    /// What was changed around it.
    pub surroundings: Surroundings,
    /// Where they differ: the number of the event, from 1.
    pub event: usize,
    /// The event of the first run, and of this one; nothing where one of them has ended.
    pub first: Option<String>,
    /// The event of this run.
    pub found: Option<String>,
}

/// What came of an audit.
#[derive(Debug)]
pub struct Audit {
    /// The scenario's name.
    pub scenario: String,
    /// How many runs there were.
    pub n_runs: usize,
    /// How many events each has.
    pub n_events: usize,
    /// The first run that differs.
    pub difference: Option<AuditDifference>,
    /// What failed in the first run, if it did.
    pub failure: Option<String>,
    /// Why it could not be done.
    pub problem: Option<String>,
    /// The path in the workspace from which on nothing was compared, as there is too much.
    pub beyond: Option<String>,
}

impl Audit {
    /// Whether all runs were the same, and passed.
    pub fn holds(&self) -> bool {
        self.difference.is_none() && self.failure.is_none() && self.problem.is_none()
    }
}

/// Runs a timeline so many times, each time in other surroundings.
pub async fn audit(
    script: &Arc<RunScript>,
    options: &RunOptions,
    (seed, n_runs): (u64, usize),
    stop: &CancellationToken,
    watch: &mut dyn FnMut(usize, &Surroundings),
) -> Audit {
    let mut audit = Audit {
        scenario: script.name().to_owned(),
        n_runs: 0,
        n_events: 0,
        difference: None,
        failure: None,
        problem: None,
        beyond: None,
    };
    let mut first: Vec<String> = Vec::new();
    let locales = locales(options).await;
    for nth in 0..n_runs {
        let surroundings = Surroundings::of(seed, nth, &locales);
        watch(nth, &surroundings);
        let events = match events_of(script, options, &surroundings, stop).await {
            Ok((events, failure, beyond)) => {
                audit.failure = audit.failure.or(failure);
                audit.beyond = audit.beyond.or(beyond);
                events
            }
            Err(problem) => {
                audit.problem = Some(format!("run {}: {problem}", nth + 1));
                return audit;
            }
        };
        if stop.is_cancelled() {
            return audit;
        }
        audit.n_runs += 1;
        if nth == 0 {
            audit.n_events = events.len();
            first = events;
            continue;
        }
        let count = first.len().max(events.len());
        let differs = (0..count).find(|&at| first.get(at) != events.get(at));
        if let Some(at) = differs {
            let shown = |event: Option<&String>| event.map(|event| cut(event, 600).into_owned());
            audit.difference = Some(AuditDifference {
                run: nth + 1,
                surroundings,
                event: at + 1,
                first: shown(first.get(at)),
                found: shown(events.get(at)),
            });
            return audit;
        }
    }
    audit
}

/// The locales of this machine.
async fn locales(options: &RunOptions) -> Vec<String> {
    let request = CommandRequest {
        command: "locale -a".to_owned(),
        cwd: PathBuf::from("/"),
        env: Vec::new(),
        timeout: LOCALES_TIMEOUT,
        max_output: 1 << 16,
    };
    let mut locales: Vec<String> = LOCALES.iter().map(|locale| (*locale).to_owned()).collect();
    // Who has no such command has no others.
    if let Ok(told) = run(request, &options.environment).await {
        let more = told.stdout.lines().filter(|locale| locale.contains('_'));
        locales.extend(more.map(str::to_owned));
    }
    locales
}

/// The events of one run, without what is that of one run only; what failed in it, and from which path on files are none of
/// the events.
async fn events_of(
    script: &Arc<RunScript>,
    options: &RunOptions,
    surroundings: &Surroundings,
    stop: &CancellationToken,
) -> Result<(Vec<String>, Option<String>, Option<String>), String> {
    let outer = tempfile::tempdir().map_err(|error| io_reason(&error))?;
    let mut folder = outer.path().to_owned();
    for nth in 0..surroundings.depth {
        folder.push(format!("folder {nth}"));
    }
    std::fs::create_dir_all(&folder).map_err(|error| io_reason(&error))?;
    let mut changed = options.clone();
    changed.play.speed = Speed::new(surroundings.speed, 0.0).unwrap_or_default();
    changed.locale.clone_from(&surroundings.locale);
    changed.folder = Some(folder.clone());
    // Its files are looked at, and go with the folder around it.
    changed.keep = true;
    changed.chunk = NonZeroUsize::new(surroundings.chunk);
    let started = Clock::start().timestamp(Duration::ZERO);
    let run_dir = RunDir::create(&outer.path().join("runs"), started);
    let run_dir = run_dir.map_err(|error| io_reason(&error))?;
    let outcome = run_timeline(script, &changed, &run_dir, stop, &mut |_| {}).await;
    if outcome.status == RunStatus::CouldNotRun {
        let first = outcome.findings.first().map(|found| found.message.clone());
        return Err(first.unwrap_or_default());
    }
    let trace = std::fs::read_to_string(run_dir.trace_path()).map_err(|error| io_reason(&error))?;
    let terminal = script.compared(options);
    let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
    let plain = |text: &str| without_own(text, &folder, &terminal);
    let lines = trace.lines().filter_map(event_of);
    let mut events: Vec<String> = lines.map(|event| plain(&event)).collect();
    // What was on the screen, and what was found, are parts of it too.
    for shot in &outcome.screenshots {
        events.push(format!("screen {}: {}", shot.label, shot.text));
    }
    for found in &outcome.findings {
        events.push(format!("{}: {}", found.code.name(), found.message));
    }
    if let Some(end) = outcome.end {
        events.push(format!("exit code {}", end.shell_code()));
    }
    // A real agent says in the end how long it took, and under which name it goes on.
    if script.mode(options) != RunMode::RealAgent
        && let Ok(cast) = std::fs::read_to_string(run_dir.path().join("terminal.cast"))
        && let Some(mut recording) = Recording::read(&cast)
    {
        let last = recording.screen_at(recording.end()).text();
        // Its rows may break within a path.
        let root = outcome.workspace.as_deref().and_then(Path::parent);
        let root = root.unwrap_or(Path::new(""));
        let places = Places {
            workspace: &root.join("work"),
            home: &root.join("home"),
            temporary: &root.join("tmp"),
        };
        let last = normalised(&last, &terminal, places);
        events.push(format!("screen in the end: {last}"));
    }
    let mut beyond = None;
    if let Some(root) = &outcome.workspace {
        let (files, first_left_out) = contents(root);
        beyond = first_left_out;
        let contents = files.into_iter();
        events.extend(contents.map(|(path, content)| plain(&format!("file {path}: {content}"))));
    }
    events.push(format!("status {}", outcome.status.as_str()));
    let failed = outcome.status == RunStatus::Failed;
    let mut errors = outcome.findings.iter();
    let failure = errors.find(|found| found.severity == Severity::Error);
    let failure = failure.map(|found| format!("{}: {}", found.code.name(), found.message));
    let failure = failed.then(|| failure.unwrap_or_default());
    Ok((events, failure, beyond))
}

/// An event of a trace without its time and its place.
fn event_of(line: &str) -> Option<String> {
    let json: Json = serde_json::from_str(line).ok()?;
    let kind = json["type"].as_str()?;
    // What an agent asks its model has ids and times of its own; what it says and does stands in other events.
    if kind == "http_exchange" {
        return None;
    }
    let mut data = json["data"].clone();
    if let Some(object) = data.as_object_mut() {
        object.retain(|key, _| !OF_ONE_RUN.contains(&key.as_str()));
    }
    Some(format!("{kind} {data}"))
}

/// A text without what is that of one run only.
fn without_own(text: &str, folder: &Path, terminal: &TerminalConfig) -> String {
    // The folders of a run have names of their own below this one.
    let own = regex::Regex::new(&format!(
        "{}/cuecard-[A-Za-z0-9]+",
        regex::escape(&folder.to_string_lossy())
    ));
    let text = match own {
        Ok(own) => own.replace_all(text, "[RUN]").into_owned(),
        Err(_) => text.to_owned(),
    };
    let nowhere = PathBuf::new();
    let places = Places {
        workspace: &nowhere,
        home: &nowhere,
        temporary: &nowhere,
    };
    normalised(&text, terminal, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_follow_from_the_seed_and_differ() {
        let locales = LOCALES.iter().map(|locale| (*locale).to_owned());
        let locales: Vec<String> = locales.collect();
        let of = |seed: u64| -> Vec<Surroundings> {
            (0..20)
                .map(|run| Surroundings::of(seed, run, &locales))
                .collect()
        };
        let all = of(7);
        assert_eq!(all[0].depth, 0);
        assert_eq!(all, of(7));
        assert_ne!(all, of(8));
        for differs in [
            all.iter().any(|one| one.speed > 0.0),
            all.iter().any(|one| one.locale != "C.UTF-8"),
            all.iter().any(|one| one.depth > 1),
        ] {
            assert!(differs, "{all:?}");
        }
    }
}
