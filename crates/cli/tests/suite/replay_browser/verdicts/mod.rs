//! The verdict table: steps that were made on the pages of the test site are played and verified on their next release,
//! and the pages tell what was done on them.

pub(crate) mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use cuecard_testing::repository_root;
use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;
use serde_json::{Value, json};

use super::place;
use crate::program::{self, told};
use table::{Load, Row, TABLE};

/// How long one run may take before the test fails.
const LIMIT: Duration = Duration::from_secs(300);

/// How long the pages may take to tell the last of what was done.
const TELLING: Duration = Duration::from_secs(5);

/// For how long an element is looked for that is not to be found, in milliseconds.
const BRIEFLY: u64 = 400;

#[test]
fn each_page_of_the_site_is_in_the_table() {
    let named = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".html")).collect()
    };
    let site = repository_root().join("tests/site");
    let mut pages: BTreeSet<String> = named(&site);
    let changes: BTreeSet<String> = named(&site.join("changes"));
    pages.extend(changes.iter().map(|name| format!("changes/{name}")));
    let table: BTreeSet<String> = TABLE.iter().map(|load| load.page.to_owned()).collect();
    assert_eq!(table, pages);
    let verdicts: BTreeSet<&str> = rows(TABLE).map(|(_, row)| row.verdict).collect();
    let all = ["ambiguous", "gone", "healed", "renamed", "same"];
    assert_eq!(verdicts, BTreeSet::from(all));
}

/// The seed of all trust in a replay: whatever becomes of a page, nothing is done on what was not meant.
#[test]
fn nothing_is_ever_done_on_a_wrong_target() {
    let (first, second) = TABLE.split_at(TABLE.len() / 2);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves = [first, second].map(|half| scope.spawn(move || judged(half)));
        halves
            .into_iter()
            .flat_map(|half| half.join().expect("a half of the table"))
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes the steps of a part of the table, plays and verifies them on the next release. What is not as the table says.
fn judged(loads: &[Load]) -> Vec<String> {
    let Some((mut scratch, site)) = place() else {
        return Vec::new();
    };
    scratch.limit(LIMIT);
    scratch.write("note.txt", "A note.\n").expect("writable");
    let mut steps = made(&mut scratch, &site, loads);
    for (step, row) in of_rows(&mut steps, loads) {
        if row.deed.is_empty() {
            step["timeout"] = BRIEFLY.into();
        }
    }
    let file = "table.steps.json";
    scratch.write(file, steps.to_string()).expect("writable");

    let mut wrong = Vec::new();
    let next = |scratch: &mut Scratch| {
        let site = Site::start_watched().expect("the site starts");
        let base = site.url("next");
        scratch.set("CUECARD_VAR_BASE", base);
        site
    };
    let site = next(&mut scratch);
    let arguments = ["play", file, "--json"];
    let played = program::run(&scratch, &arguments);
    let document: Value = serde_json::from_str(&played.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", told(&played)));
    let verdicts = document["step_results"].as_array().expect("a list");
    let verdicts = verdicts.iter().map(|step| &step["result"]["verdict"]);
    wrong.extend(other_verdicts("play", verdicts.collect(), loads));
    wrong.extend(other_deeds("play", &site, loads, true));
    // What was healed is to be looked at.
    let is_any_healed = rows(loads).any(|(_, row)| row.verdict == "healed");
    let expected = if is_any_healed { 4 } else { 0 };
    if played.code() != Some(expected) {
        wrong.push(format!("play: not {expected}\n{}", told(&played)));
    }

    let site = next(&mut scratch);
    // To look changes nothing.
    program::run(&scratch, &["verify", file, "--json"]);
    let done: Vec<String> = site
        .counts()
        .into_keys()
        .filter(|what| what.contains(": "))
        .collect();
    wrong.extend(
        done.iter()
            .map(|deed| format!("verify: done without --act: {}", of_page(deed, loads))),
    );
    let verified = program::run(&scratch, &["verify", file, "--act", "--json"]);
    let document: Value = serde_json::from_str(&verified.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", told(&verified)));
    let steps = document["steps"].as_array().expect("a list");
    let verdicts = steps.iter().map(|step| &step["verdict"]).collect();
    wrong.extend(other_verdicts("verify", verdicts, loads));
    wrong.extend(other_deeds("verify", &site, loads, false));
    wrong
}

/// The steps as a parse by rules makes them of the sentences, each on the page of its load.
fn made(scratch: &mut Scratch, site: &Site, loads: &[Load]) -> Value {
    let actions: Vec<Value> = loads
        .iter()
        .enumerate()
        .flat_map(|(number, load)| {
            let open = json!(format!("go to {{{{BASE}}}}/{}?load={number}", load.page));
            let rows = load.rows.iter();
            // The others are looked at also when one is not there.
            let rows = rows.map(|row| json!({"action": row.sentence, "optional": true}));
            std::iter::once(open).chain(rows)
        })
        .collect();
    let count = actions.len();
    let scenario = json!({
        "url": "about:blank",
        "variables": {"BASE": null},
        "options": {"actionTimeoutMs": 10_000},
        "actions": actions,
    });
    scratch
        .write("table.json", scenario.to_string())
        .expect("writable");
    let base = site.url("");
    scratch.set("CUECARD_VAR_BASE", base.trim_end_matches('/'));
    let parsed = program::run(scratch, &["parse", "table.json", "--translator", "rules"]);
    assert_eq!(parsed.code(), Some(0), "{}", told(&parsed));
    let steps: Value = serde_json::from_str(&parsed.stdout).expect("steps are JSON");
    let made = steps["testSteps"].as_array().expect("a list").len();
    assert_eq!(made, count, "a sentence is no step\n{}", parsed.stderr);
    steps
}

/// Each row with the number of its load.
fn rows(loads: &[Load]) -> impl Iterator<Item = (usize, &Row)> {
    let numbered = loads.iter().enumerate();
    numbered.flat_map(|(number, load)| load.rows.iter().map(move |row| (number, row)))
}

/// The place of each row among the steps: each load begins with one that opens its page.
fn places(loads: &[Load]) -> impl Iterator<Item = (usize, &Row)> {
    rows(loads)
        .enumerate()
        .map(|(place, (number, row))| (place + number + 1, row))
}

/// The step of each row.
fn of_rows<'a>(steps: &'a mut Value, loads: &'a [Load]) -> Vec<(&'a mut Value, &'a Row)> {
    let rows: BTreeMap<usize, &Row> = places(loads).collect();
    let steps = steps["testSteps"].as_array_mut().expect("a list");
    let numbered = steps.iter_mut().enumerate();
    numbered
        .filter_map(|(place, step)| Some((step, *rows.get(&place)?)))
        .collect()
}

/// Verdicts that are not those of the table.
fn other_verdicts(command: &str, verdicts: Vec<&Value>, loads: &[Load]) -> Vec<String> {
    places(loads)
        .filter(|(place, row)| {
            verdicts
                .get(*place)
                .is_none_or(|word| **word != row.verdict)
        })
        .map(|(place, row)| {
            let (
                Row {
                    change,
                    sentence,
                    verdict,
                    ..
                },
                found,
            ) = (row, verdicts.get(place));
            format!("{command}: {sentence} ({change}) is {found:?}, not {verdict}")
        })
        .collect()
}

/// What was done and is not in the table, and with `is_all` what is in the table and was not done.
fn other_deeds(command: &str, site: &Site, loads: &[Load], is_all: bool) -> Vec<String> {
    let expected: BTreeSet<String> = rows(loads)
        .filter(|(_, row)| !row.deed.is_empty())
        .flat_map(|(number, row)| {
            let deeds = row.deed.split(" + ");
            deeds.map(move |deed| format!("{number}: {deed}"))
        })
        .collect();
    if is_all {
        // What is missing then is told below.
        let _ = site.wait_until(TELLING, |counts| {
            expected.iter().all(|deed| counts.contains_key(deed))
        });
    }
    let done: BTreeSet<String> = site
        .counts()
        .into_keys()
        .filter(|what| what.contains(": "))
        .collect();
    let mut wrong: Vec<String> = done
        .difference(&expected)
        .map(|deed| format!("{command}: WRONG TARGET: {}", of_page(deed, loads)))
        .collect();
    if is_all {
        let missing = expected.difference(&done);
        wrong.extend(missing.map(|deed| format!("{command}: not done: {}", of_page(deed, loads))));
    }
    wrong
}

/// A deed with the page of its load in the place of the number.
fn of_page(deed: &str, loads: &[Load]) -> String {
    let (number, what) = deed.split_once(": ").unwrap_or(("", deed));
    let load = number.parse::<usize>().ok().and_then(|at| loads.get(at));
    format!("{} on {}", what, load.map_or(number, |load| load.page))
}
