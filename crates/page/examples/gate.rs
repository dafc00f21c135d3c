//! Compares the gate with the verdict on a corpus of changed pages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::all,
    clippy::pedantic,
    clippy::print_stdout,
    missing_docs,
    unused
)]
use cuecard_page::dom::*;
use cuecard_page::identity::*;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::*;
use serde_json::Value;
use std::collections::BTreeMap;

fn state(json: &Value) -> DomState {
    DomState::from_recorded(json).expect("a state")
}
fn address(state: &DomState, json: &Value) -> Option<NodeId> {
    if json.is_null() {
        return None;
    }
    let scope: Vec<ScopeHop> = json["scope"]
        .as_array()?
        .iter()
        .map(|hop| ScopeHop {
            kind: if hop["kind"] == "frame" {
                HopKind::Frame
            } else {
                HopKind::Shadow
            },
            xpath: hop["xpath"].as_str().unwrap().to_owned(),
        })
        .collect();
    state.by_address(&scope, json["xpath"].as_str()?)
}
struct Old {
    state: DomState,
    target: NodeId,
    known: Identification,
    sentence: String,
    page: String,
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let show = std::env::args().nth(2).unwrap_or_default();
    let mut olds: BTreeMap<String, Option<Old>> = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let mut unmade = BTreeMap::<String, usize>::new();
    for f in &files {
        let name = f.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("old-") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(f) else {
            continue;
        };
        let Ok(json) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let key = name[4..name.len() - 5].to_owned();
        let st = state(&json["state"]);
        let Some(target) = address(&st, &json["target"]) else {
            println!("no target {key}");
            continue;
        };
        let sentence = json["sentence"].as_str().unwrap().to_owned();
        let finder = Finder::new(&st, "data-testid");
        let phrase = match understand(&sentence) {
            Understanding::Understood(intent) => match finder.resolve(&intent) {
                Translation::Step {
                    target: Some(id), ..
                } => Some((id, intent.phrase)),
                _ => None,
            },
            _ => None,
        };
        let phrase = phrase.or_else(|| finder.gist(&sentence).map(|m| (m.target, m.phrase)));
        let Some((id, phrase)) = phrase else {
            *unmade.entry("not understood".into()).or_default() += 1;
            olds.insert(key, None);
            continue;
        };
        if id != target {
            println!("OTHER TARGET {sentence}");
            olds.insert(key, None);
            continue;
        }
        let known = finder.identify(id, phrase.as_ref()).unwrap();
        let facts = known.fingerprint.clone();
        let again = finder.verdict(Remembered {
            selectors: &known.selectors,
            fingerprint: &facts,
        });
        match &again {
            Verdict::Same {
                id: found,
                is_certain: true,
            } if *found == id => {}
            other => {
                *unmade
                    .entry(format!(
                        "unchanged: {}",
                        word(other).split(':').next().unwrap()
                    ))
                    .or_default() += 1;
                if show.contains("unchanged") {
                    println!(
                        "UNCHANGED {} \"{sentence}\" forgets {} → {}\n    {facts:?}",
                        json["page"],
                        known.forgets_place,
                        word(other)
                    );
                }
            }
        }
        let page = json["page"].as_str().unwrap().to_owned();
        olds.insert(
            key,
            Some(Old {
                target,
                known,
                sentence,
                page,
                state: st,
            }),
        );
    }
    println!("{} sentences; {unmade:?}", olds.len());
    let (mut n, mut refused, mut obvious, mut wrong) =
        ([0usize; 2], [0usize; 2], [0usize; 2], [0usize; 2]);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_change: BTreeMap<String, usize> = BTreeMap::new();
    for f in &files {
        let name = f.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("case-") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(f) else {
            continue;
        };
        let Ok(json) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let Some(Some(old)) = olds.get(json["old"].as_str().unwrap()) else {
            continue;
        };
        let states: Vec<(DomState, Option<NodeId>, bool)> = json["states"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                let st = state(&one["state"]);
                let t = one["tracked"]
                    .as_str()
                    .and_then(|t| serde_json::from_str::<Value>(t).ok())
                    .unwrap_or(one["tracked"].clone());
                let id = address(&st, &t);
                (st, id, !t.is_null())
            })
            .collect();
        let mut states = states;
        if states.len() == 2 && !states[0].2 {
            let scope_xpath = states[1]
                .1
                .and_then(|id| states[1].0.element(id))
                .map(|e| (e.scope.clone(), e.xpath.clone()));
            if let Some((scope, xpath)) = scope_xpath {
                states[0].1 = states[0].0.by_address(&scope, &xpath);
            }
        }
        let is_obvious = json["obvious"] == true;
        let mut words = Vec::new();
        let (mut oldly, mut newly) = (None, None);
        for new in [false, true] {
            let mut acted = None;
            let mut why = String::new();
            for (nth, (st, tracked, has)) in states.iter().enumerate() {
                let finder = Finder::new(st, "data-testid");
                let is_last = nth + 1 == states.len();
                let (target, certain) = if new {
                    let d = finder.verdict(Remembered {
                        selectors: &old.known.selectors,
                        fingerprint: &old.known.fingerprint,
                    });
                    why = word(&d);
                    match d {
                        Verdict::Same { id, is_certain } => (Some(id), is_certain),
                        Verdict::Healed { id, .. } => (Some(id), false),
                        _ => (None, false),
                    }
                } else {
                    (None, false)
                };
                if let Some(id) = target
                    && (certain || is_last)
                {
                    let is_right = tracked.is_some_and(|t| {
                        t == id
                            || st.ancestors(id).any(|a| a == t)
                            || st.ancestors(t).any(|a| a == id)
                    });
                    acted = Some((is_right, finder.in_words(id), nth));
                    if new {
                        newly = Some((nth, id))
                    } else {
                        oldly = Some((nth, id))
                    }
                    break;
                }
            }
            let k = usize::from(new);
            n[k] += 1;
            let w = match &acted {
                Some((true, ..)) => "right".to_owned(),
                Some((false, ..)) if new && newly == oldly => "right".to_owned(),
                Some((false, words, nth)) => {
                    wrong[k] += 1;
                    format!("WRONG {words} at {nth}")
                }
                None => {
                    refused[k] += 1;
                    if is_obvious {
                        obvious[k] += 1;
                    }
                    format!("refused{}", if is_obvious { " (obvious)" } else { "" })
                }
            };
            words.push((w, why));
        }
        let applied = json["applied"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a.as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" | ");
        let short = |w: &str| {
            w.split(' ')
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
                .replace("WRONG", "WRONG!")
        };
        let changes: Vec<String> = applied
            .split(" | ")
            .map(|a| a.split(':').next().unwrap().to_owned())
            .collect();
        let key = format!(
            "old {} / new {}",
            if words[0].0.starts_with("WRONG") {
                "WRONG".into()
            } else {
                words[0].0.clone()
            },
            if words[1].0.starts_with("WRONG") {
                "WRONG".into()
            } else {
                words[1].0.clone()
            }
        );
        *kinds.entry(key.clone()).or_default() += 1;
        let is_shown = match show.as_str() {
            "wrong" => words[1].0.starts_with("WRONG"),
            "obvious" => words[1].0.contains("obvious"),
            "oldobvious" => words[0].0.contains("obvious"),
            "lost" => words[0].0 == "right" && words[1].0.starts_with("refused"),
            "won" => words[0].0.starts_with("refused") && words[1].0 == "right",
            _ => false,
        };
        if words[1].0.contains("obvious") {
            for c in &changes {
                *by_change.entry(c.clone()).or_default() += 1;
            }
        }
        if is_shown {
            println!(
                "{name} {} \"{}\" | {applied}\n   old: {} ({})\n   new: {} ({})",
                old.page, old.sentence, words[0].0, words[0].1, words[1].0, words[1].1
            );
            if std::env::var_os("FACTS").is_some() {
                println!("   {:?}", old.known.fingerprint);
            }
        }
    }
    println!("{kinds:#?}");
    println!("obvious by change {by_change:?}");
    for (k, name) in ["old", "new"].iter().enumerate() {
        println!(
            "{name}: {} cases, {} wrong, {} refused, {} obvious ({:.1} %)",
            n[k],
            wrong[k],
            refused[k],
            obvious[k],
            obvious[k] as f64 * 100.0 / n[k] as f64
        );
    }
}
fn word(d: &Verdict) -> String {
    match d {
        Verdict::Same { is_certain, .. } => format!("same: {is_certain}"),
        Verdict::Healed { check, .. } => format!("moved: {check}"),
        Verdict::Renamed { check, .. } => format!("renamed: {check}"),
        Verdict::Ambiguous { check, .. } => format!("ambiguous: {check}"),
        Verdict::Gone { check } => format!("gone: {check}"),
    }
}
