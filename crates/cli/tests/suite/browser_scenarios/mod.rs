//! The browser scenarios of `tests/scenarios/browser/`: the rules read each of them, their steps replay, and what they
//! are exported to runs. Ten times is for `benches/run --only browser`.

mod exports;
mod place;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use cuecard_browser_steps::format as browser;
use cuecard_page::sentences::{Understanding, understand};
use cuecard_source::SourceFile;
use cuecard_testing::repository_root;
use serde_json::Value;

use crate::program::{self, told};
use place::{Place, SECRETS};

/// How many scenarios there are.
const COUNT: usize = 22;

/// How many browsers work at a time.
const WORKERS: usize = 2;

#[test]
fn the_rules_understand_every_sentence() {
    let names = names();
    assert_eq!(names.len(), COUNT, "{names:?}");
    for name in &names {
        let actions = actions(name);
        assert!(
            (5..=25).contains(&actions.len()),
            "{name}: {}",
            actions.len()
        );
        for action in actions {
            let understood = understand(&action);
            assert!(
                matches!(understood, Understanding::Understood(_)),
                "{name}: {action}\n{understood:?}"
            );
        }
    }
}

#[test]
fn every_scenario_is_parsed_by_rules_alone() {
    let Some(steps) = steps() else {
        return;
    };
    let failed: Vec<&str> = steps
        .values()
        .filter_map(|parsed| parsed.as_ref().err().map(String::as_str))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    for (name, text) in whole(steps) {
        let document: Value = serde_json::from_str(text).expect("steps are JSON");
        let steps = document["testSteps"].as_array().expect("a list");
        assert_eq!(steps.len(), actions(name).len(), "{name}");
        for step in steps {
            assert_eq!(step["translator"], "rules", "{name}: {step:#}");
        }
        for (secret, value) in SECRETS {
            assert!(!text.contains(value), "{name} holds the value of {secret}");
        }
    }
}

#[test]
fn what_was_parsed_replays() {
    let Some(steps) = steps() else {
        return;
    };
    let all: Vec<_> = whole(steps).collect();
    let failed = side_by_side(&all, Place::new, |place, (name, text)| {
        let file = place.write(&format!("{name}.json"), text);
        let said = place.cuecard(&["play", &file, "--json"])?;
        all_passed(&said, actions(name).len()).map_err(|said| format!("{name}: {said}"))
    });
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// In the next release of the market the apples are gone, and the pears stand where they stood.
#[test]
fn what_is_gone_is_not_taken_for_its_neighbour() {
    let (Some(steps), Some(place)) = (steps(), Place::new()) else {
        return;
    };
    let (_, text) = whole(steps)
        .find(|(name, _)| *name == "10-market")
        .expect("it is parsed");
    let next = text.replace("{{BASE}}/market.html", "{{BASE}}/next/market.html");
    let mut next: Value = serde_json::from_str(&next).expect("steps are JSON");
    // Without the assertions, which would stop it before.
    let steps = next["testSteps"].as_array_mut().expect("a list");
    steps.retain(|step| step["action"] == "click");
    let file = place.write("market.json", &next.to_string());
    let played = program::run(&place.scratch, &["play", &file]);
    assert_eq!(played.code(), Some(1), "{}", told(&played));
    for fruit in ["pears", "plums"] {
        let count = place.site.count(&format!("more-{fruit}"));
        assert_eq!(count, 0, "{fruit}\n{}", told(&played));
    }
}

/// The steps of all scenarios by their names, or what was said instead. They are parsed once, by the test that needs
/// them first. Nothing when peers are left out.
fn steps() -> Option<&'static BTreeMap<String, Result<String, String>>> {
    static STEPS: OnceLock<Option<BTreeMap<String, Result<String, String>>>> = OnceLock::new();
    STEPS
        .get_or_init(|| {
            Place::new()?;
            let all = Mutex::new(BTreeMap::new());
            side_by_side(&names(), Place::new, |place, name| {
                let file = format!("{name}.yaml");
                let said = place.cuecard(&["parse", &file, "--translator", "rules"]);
                let said = said.map_err(|said| format!("{name}: {said}"));
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(name.clone(), said);
                Ok(())
            });
            Some(all.into_inner().unwrap_or_else(PoisonError::into_inner))
        })
        .as_ref()
}

/// Those that were parsed as a whole.
fn whole(steps: &BTreeMap<String, Result<String, String>>) -> impl Iterator<Item = (&str, &str)> {
    steps
        .iter()
        .filter_map(|(name, text)| Some((name.as_str(), text.as_deref().ok()?)))
}

/// Does jobs, a few at a time: each worker has a place of its own, and does them one after the other. Gives what went
/// wrong; nothing when peers are left out.
fn side_by_side<J: Sync, P>(
    jobs: &[J],
    place: impl Fn() -> Option<P> + Sync,
    work: impl Fn(&P, &J) -> Result<(), String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let Some(place) = place() else {
                    return;
                };
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(said) = work(&place, job) {
                        failed
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(said);
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Whether as many steps passed as there are, in the document of `play --json`.
fn all_passed(said: &str, count: usize) -> Result<(), String> {
    let document: Value = serde_json::from_str(said).map_err(|error| error.to_string())?;
    let passed = document["step_results"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|step| step["status"] == "passed")
        .count();
    match passed == count {
        true => Ok(()),
        false => Err(format!("{passed} of {count} steps passed\n{document:#}")),
    }
}

fn folder() -> PathBuf {
    repository_root().join("tests/scenarios/browser")
}

/// The names of all scenarios, in order.
fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the scenarios")
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".yaml")?.to_owned())
        })
        .collect();
    names.sort();
    names
}

/// The sentences of a scenario.
#[track_caller]
fn actions(name: &str) -> Vec<String> {
    let file = format!("{name}.yaml");
    let text = fs::read_to_string(folder().join(&file)).expect("readable");
    let reading = browser::read(&SourceFile::new(file, text));
    assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
    let scenario = reading.scenario.expect("a scenario");
    scenario
        .actions
        .into_iter()
        .map(|action| action.text)
        .collect()
}
