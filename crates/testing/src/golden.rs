//! Golden cases: folders that say how to run the program and what must come of it.
//!
//! `tests/golden/README.md` describes the files of a case. Cases run in parallel, each in a scratch folder of
//! its own; all failures are collected and shown together, with a diff per file.

mod case;
mod judge;
mod words;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, thread};

use crate::peers;
use case::Case;

/// Set to `1`, it makes [`run_all`] write what it sees instead of comparing.
pub const BLESS: &str = "CUECARD_BLESS";

/// Only cases with this text in their `area/case` name run.
pub const ONLY: &str = "CUECARD_GOLDEN";

/// What the environment asks of a run.
#[derive(Debug, Default)]
struct Options {
    bless: bool,
    only: Option<String>,
    peers: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// It needs real peers, and this run has none.
    LeftOut,
    /// Expected files were rewritten.
    Blessed,
    Failed(String),
}

/// Runs every case `dir/AREA/CASE` with the program `binary`.
///
/// # Panics
/// When a case fails, with all failures in the message, and when there is no case at all.
pub fn run_all(dir: &Path, binary: &Path) {
    let options = Options {
        bless: env::var_os(BLESS).is_some_and(|value| value == "1"),
        only: env::var(ONLY).ok().filter(|only| !only.is_empty()),
        peers: peers::folder(),
    };
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(
        !(options.bless && in_ci),
        "{BLESS} is set in CI, where golden files must not be rewritten"
    );
    match run_with(dir, binary, &options) {
        Ok(outcomes) => say(&outcomes),
        Err(report) => panic!("{report}"),
    }
}

/// The outcomes by case name, or the report of what failed.
fn run_with(
    dir: &Path,
    binary: &Path,
    options: &Options,
) -> Result<Vec<(String, Outcome)>, String> {
    let cases =
        discover(dir).map_err(|error| format!("can't read `{}`: {error}", dir.display()))?;
    if cases.is_empty() {
        return Err(format!("no golden cases below `{}`", dir.display()));
    }
    let wanted: Vec<&(String, PathBuf)> = cases
        .iter()
        .filter(|(name, _)| options.only.as_ref().is_none_or(|only| name.contains(only)))
        .collect();
    if wanted.is_empty() {
        let only = options.only.as_deref().unwrap_or_default();
        return Err(format!("no golden case has `{only}` in its name"));
    }
    let outcomes = in_parallel(&wanted, |(name, folder)| {
        (name.clone(), run_case(folder, binary, options))
    });
    let failures: Vec<String> = outcomes
        .iter()
        .filter_map(|(name, outcome)| match outcome {
            Outcome::Failed(why) => Some(format!("── {name} ──\n{}", why.trim_end())),
            _ => None,
        })
        .collect();
    if failures.is_empty() {
        return Ok(outcomes);
    }
    Err(format!(
        "{} of {} golden cases failed\n\n{}\n\nIf the new output is right: `./test --bless`, then read the diff.",
        failures.len(),
        outcomes.len(),
        failures.join("\n\n")
    ))
}

fn run_case(folder: &Path, binary: &Path, options: &Options) -> Outcome {
    let case = match Case::load(folder) {
        Ok(case) => case,
        Err(why) => return Outcome::Failed(why),
    };
    if !case.peers.is_empty() && options.peers.is_none() {
        return Outcome::LeftOut;
    }
    let run = match case.run(binary, options.peers.as_deref()) {
        Ok(run) => run,
        Err(why) => return Outcome::Failed(why),
    };
    let judged = if options.bless {
        judge::bless(&case, &run)
    } else {
        judge::compare(&case, &run).map(|()| false)
    };
    match judged {
        Ok(true) => Outcome::Blessed,
        Ok(false) => Outcome::Passed,
        Err(why) => Outcome::Failed(why),
    }
}

/// The cases by name, `area/case`. A file beside the areas (such as a README) is no case.
fn discover(dir: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut cases = BTreeSet::new();
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    for area in folders(dir)? {
        for case in folders(&area)? {
            let name = case
                .strip_prefix(dir)
                .unwrap_or(&case)
                .display()
                .to_string();
            cases.insert((name, case));
        }
    }
    Ok(cases.into_iter().collect())
}

fn folders(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

/// The results in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = thread::available_parallelism()
        .map_or(2, usize::from)
        .min(items.len());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((idx, item)) = {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    items.get(idx).map(|item| (idx, item))
                } {
                    let result = work(item);
                    results
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((idx, result));
                }
            });
        }
    });
    let mut results = results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|&(idx, _)| idx);
    results.into_iter().map(|(_, result)| result).collect()
}

fn say(outcomes: &[(String, Outcome)]) {
    // Not `eprintln!`: the test runner would keep that for failures.
    let mut stderr = io::stderr();
    for (name, outcome) in outcomes {
        let _ = match outcome {
            Outcome::LeftOut => {
                peers::say_left_out(&format!("golden case {name}: its server"));
                Ok(())
            }
            Outcome::Blessed => writeln!(stderr, "rewritten: golden case {name}"),
            Outcome::Passed | Outcome::Failed(_) => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests;
