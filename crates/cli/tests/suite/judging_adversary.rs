//! Answers that are right, changed so that they are wrong, or so that they still say the same: the judgement must go
//! along. The changes know nothing of the rules, and what must come of each follows from how it was made. So they share
//! nothing with those that `cuecard test --mutate` makes, though the ideas are the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cuecard_judge::model::{Assertion, AssertionCheck, TestCase, TraceInput};
use cuecard_judge::test_case;
use cuecard_judge::{OutcomeStatus, judge};
use cuecard_source::SourceFile;
use cuecard_trace::{Event, EventData, FinalOutput, ToolCall, Trace, import};
use regex::{Captures, Regex};
use serde_json::{Value, json};

use cuecard_testing::repository_root;

/// A pseudo-random sequence that is the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below as u64).expect("below a usize")
    }

    fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for at in (1..items.len()).rev() {
            items.swap(at, self.next(at + 1));
        }
        items
    }
}

/// A run with an answer that can be exchanged.
struct Run {
    name: String,
    case: TestCase,
    trace: Trace,
}

fn with_answer(trace: &Trace, answer: &str) -> Trace {
    let mut trace = trace.clone();
    let output = FinalOutput {
        role: "assistant".to_owned(),
        content: answer.to_owned(),
        format_hint: None,
    };
    trace.end.as_mut().expect("an end").final_output = Some(output.clone());
    for event in &mut trace.events {
        if matches!(event.data, EventData::FinalOutput(_)) {
            event.data = EventData::FinalOutput(output.clone());
        }
    }
    trace
}

/// A case with the assertions of `yaml`, the lines of a list.
fn case_of(assertions: &str) -> TestCase {
    let text = format!(
        "schema_version: \"0.1\"\nid: x\nadapter: nanoclaw\nmode: replay\nadapter_input: {{ replay_file: x }}\nassertions:\n{assertions}"
    );
    let reading = test_case::read(&SourceFile::new("test.yaml", text));
    reading
        .case
        .unwrap_or_else(|| panic!("{:?}", reading.diagnostics))
}

fn claims() -> Assertion {
    static CLAIMS: LazyLock<TestCase> = LazyLock::new(|| {
        case_of(
            "  - { id: claims, type: claims_supported_by_fixtures, params: { allowed_sources: ['*'] } }\n",
        )
    });
    CLAIMS.assertions[0].clone()
}

/// A run in which a tool gave `result` and the agent answered.
fn run_of(name: &str, question: &str, result: &Value) -> Run {
    let bundle = json!({
        "schema_version": "0.1", "adapter": "nanoclaw-replay",
        "scenario": {"group_id": "g", "trigger": "user_message"},
        "input_messages": [{"role": "user", "content": question}],
        "script": [
            {"type": "tool_call", "tool": "look_up", "call_id": "c", "args": {}},
            {"type": "tool_result", "tool": "look_up", "call_id": "c", "success": true, "result": result},
        ],
        "final_output": {"role": "assistant", "content": "x"}, "status": "success",
        "metrics": {"timing_ms_total": 1},
    });
    let source = SourceFile::new("replay.json", bundle.to_string());
    let trace = import::replay_bundle(&source, &[]).trace.expect("a bundle");
    let mut case = case_of("  - { id: x, type: max_errors, params: { limit: 9 } }\n");
    case.assertions = vec![claims()];
    Run {
        name: name.to_owned(),
        case,
        trace,
    }
}

/// What was found, and how much was looked at.
#[derive(Default)]
struct Findings {
    count: usize,
    /// True answers, and those of them that passed.
    right: usize,
    proved: usize,
    wrong: Vec<String>,
}

impl Findings {
    /// An answer that holds, changed in each way.
    fn changes(&mut self, run: &Run, answer: &str, random: &mut Random) {
        type Change = fn(&str) -> Vec<String>;
        let wrong: [(Change, &str); 3] = [
            (other_units, "another unit"),
            (denials, "a denial"),
            (swaps, "values swapped"),
        ];
        for (change, what) in wrong {
            for changed in change(answer) {
                self.answer(run, &changed, what, false);
            }
        }
        for changed in same(answer, random) {
            self.answer(run, &changed, "the same in another form", true);
        }
    }

    fn of(&mut self, run: &Run, trace: &Trace, what: &str, is_right: bool) {
        self.count += 1;
        let outcomes = judge(&run.case, trace);
        let own = &outcomes[..run.case.assertions.len()];
        let passes = own
            .iter()
            .all(|outcome| outcome.status == OutcomeStatus::Pass);
        let fails = own
            .iter()
            .any(|outcome| outcome.status == OutcomeStatus::Fail);
        self.right += usize::from(is_right);
        self.proved += usize::from(is_right && passes);
        // What is true and not proved is a warning, as is what is false and not refuted.
        let is_wrong = if is_right { fails } else { passes };
        if is_wrong {
            let messages: Vec<&str> = own.iter().map(|outcome| outcome.message.as_str()).collect();
            let colour = if passes { "green" } else { "red" };
            self.wrong.push(format!(
                "{}: {what}: is {colour}\n    {:?}\n    {}",
                run.name,
                trace.output(),
                messages.join("\n    ")
            ));
        }
    }

    fn answer(&mut self, run: &Run, answer: &str, what: &str, is_right: bool) {
        self.of(run, &with_answer(&run.trace, answer), what, is_right);
    }

    #[track_caller]
    fn assert_none(self, least: usize) {
        assert!(self.count >= least, "{} cases", self.count);
        let shown: Vec<&str> = self.wrong.iter().take(25).map(String::as_str).collect();
        assert!(
            self.wrong.is_empty(),
            "{} of {} are judged wrongly:\n{}",
            self.wrong.len(),
            self.count,
            shown.join("\n")
        );
        // The judge may not win by shrugging.
        assert!(
            self.proved * 2 >= self.right,
            "{} of {} true answers are proved",
            self.proved,
            self.right
        );
    }
}

fn matches(pattern: &str, text: &str) -> Vec<std::ops::Range<usize>> {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.find_iter(text).map(|found| found.range()).collect()
}

fn replaced(text: &str, range: &std::ops::Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// A number with its unit, if it has one; no part of a date, an address or a name.
const AMOUNT: &str = r"(?:[$€£] ?)?\b\d[\d,.]*\d\b(?: ?(?:EUR|USD|€|%|percent|°C|km|kg|tonnes|ms|s)(?:\b|$))?|\b\d\b(?: ?(?:EUR|USD|€|%|percent|°C|km|kg|tonnes|ms|s)(?:\b|$))?";

fn amounts(answer: &str) -> Vec<std::ops::Range<usize>> {
    let months = r"(?i)^ (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)";
    let months = Regex::new(months).expect("a pattern");
    matches(AMOUNT, answer)
        .into_iter()
        .filter(|range| {
            let before = &answer[..range.start];
            let after = &answer[range.end..];
            let is_glued = before
                .ends_with(|last: char| last.is_alphanumeric() || "/-:._#=".contains(last))
                || after
                    .starts_with(|first: char| first.is_alphabetic() || "/-:_=".contains(first));
            let word = before.trim_end().rsplit(' ').next().unwrap_or_default();
            let is_part_of_date = months.is_match(after)
                || months.is_match(&format!(" {word}"))
                || (matches!(word, "in" | "since") && range.len() == 4);
            !is_glued && !is_part_of_date
        })
        .collect()
}

/// The number of an amount alone.
fn number_of(amount: &str) -> &str {
    amount.trim_matches(|sign: char| !sign.is_ascii_digit())
}

/// Answers in which one number has another unit.
fn other_units(answer: &str) -> Vec<String> {
    let mut changed = Vec::new();
    for range in amounts(answer) {
        let was = &answer[range.clone()];
        let number = number_of(was);
        let own = was.replace(number, "");
        for unit in ["EUR", "kg", "kilometres"] {
            let is_same = own.trim() == unit
                || (unit == "EUR" && own.contains('€'))
                || (unit == "kilometres" && own.contains("km"));
            if !is_same {
                changed.push(replaced(answer, &range, &format!("{number} {unit}")));
            }
        }
    }
    changed
}

/// The claims of an answer: its bullets, else its sentences; nothing that asks or that says what was not possible.
fn parts(answer: &str) -> Vec<std::ops::Range<usize>> {
    let parts = match answer.lines().any(|line| line.starts_with("- ")) {
        true => matches(r"(?m)^- .+$", answer)
            .into_iter()
            .map(|range| range.start + 2..range.end)
            .collect(),
        false => matches(r"[^.!?\n ][^!?\n]*?(?:[.!?](?:\s|$)|\n|$)", answer),
    };
    let hedges = Regex::new(r"(?i)\?|\bnot\b|n't\b|\bno\b|\bnever\b|\bhello\b|\bplease\b")
        .expect("a pattern");
    parts
        .into_iter()
        .filter(|range| answer[range.clone()].split(' ').count() > 3)
        .filter(|range| !hedges.is_match(&answer[range.clone()]))
        .collect()
}

/// Answers in which one claim is denied.
fn denials(answer: &str) -> Vec<String> {
    let auxiliary = Regex::new(r"\b(?:is|are|was|were|has|have|will|can)\b").expect("a pattern");
    let mut changed = Vec::new();
    for range in parts(answer) {
        let part = &answer[range.clone()];
        let mut put = |denied: String| changed.push(replaced(answer, &range, &denied));
        put(format!("It is not true that {part}"));
        put(format!("It is false that {part}"));
        if let Some(found) = auxiliary.find(part) {
            for denied in ["not", "never"] {
                put(format!(
                    "{} {denied}{}",
                    &part[..found.end()],
                    &part[found.end()..]
                ));
            }
            put(
                format!("{}n't{}", &part[..found.end()], &part[found.end()..])
                    .replace("cann't", "can't")
                    .replace("willn't", "won't"),
            );
        }
    }
    changed
}

/// Answers in which two values of different claims stand in each other's place. Numbers are of one unit.
fn swaps(answer: &str) -> Vec<String> {
    let parts = parts(answer);
    let of = |at: usize| parts.iter().position(|part| part.contains(&at));
    let unit = |range: &std::ops::Range<usize>| {
        let amount = &answer[range.clone()];
        amount.replace(number_of(amount), "")
    };
    let amounts: Vec<_> = amounts(answer)
        .into_iter()
        .map(|range| {
            let amount = &answer[range.clone()];
            let start = range.start + amount.find(number_of(amount)).unwrap_or(0);
            let next = answer[range.end..]
                .split([' ', '.', ','])
                .nth(1)
                .unwrap_or_default();
            let noun = if unit(&range).trim().is_empty() {
                next
            } else {
                ""
            };
            (
                start..start + number_of(amount).len(),
                format!("{}{noun}", unit(&range)),
            )
        })
        .collect();
    let addresses = matches(r"https?://[^\s)]+[^\s).]", answer);
    let addresses = addresses
        .into_iter()
        .map(|range| (range, "address".to_owned()));
    let dates = matches(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b", answer);
    let dates = dates.into_iter().map(|range| (range, "date".to_owned()));
    let all: Vec<_> = amounts.into_iter().chain(addresses).chain(dates).collect();
    let mut changed = Vec::new();
    for (at, (one, of_one)) in all.iter().enumerate() {
        for (other, of_other) in &all[at + 1..] {
            let (was, is) = (&answer[one.clone()], &answer[other.clone()]);
            let are_apart = of(one.start).is_some()
                && of(other.start).is_some()
                && of(one.start) != of(other.start);
            if of_one == of_other && was != is && are_apart && one.start < other.start {
                changed.push(replaced(&replaced(answer, other, was), one, is));
            }
        }
    }
    changed
}

/// Answers that say the same in another form.
fn same(answer: &str, random: &mut Random) -> Vec<String> {
    let mut changed = Vec::new();
    let lines: Vec<&str> = answer.lines().collect();
    if lines.len() > 1 && lines.iter().all(|line| line.starts_with("- ")) {
        changed.push(lines.iter().rev().copied().collect::<Vec<_>>().join("\n"));
        changed.push(random.shuffled(lines.clone()).join("\n"));
        changed.push(answer.replace("\n- ", "\n* ").replacen("- ", "* ", 1));
        changed.push(lines.join("\n\n"));
    }
    changed.push(answer.replace('\n', "  \n"));
    changed.push(format!("\n{}\n\n", answer.replace(". ", ".  ")));
    let grouped = Regex::new(r"\b(\d{1,3}),(\d{3})\b").expect("a pattern");
    changed.push(grouped.replace_all(answer, "$1$2").into_owned());
    let long =
        Regex::new(r"(^|[ $€])([1-9]\d{0,2})(\d{3})( [a-zA-Z€%]|[.,] |\.$)").expect("a pattern");
    if !Regex::new(r"\b(?:19|20)\d\d\b")
        .expect("a pattern")
        .is_match(answer)
    {
        let group =
            |found: &Captures<'_>| format!("{}{},{}{}", &found[1], &found[2], &found[3], &found[4]);
        changed.push(long.replace_all(answer, group).into_owned());
    }
    for (unit, synonym) in [
        (" EUR", " €"),
        (" EUR", " euros"),
        (" €", " EUR"),
        (" %", " percent"),
        (" %", "%"),
        (" km", " kilometres"),
        (" kg", " kilograms"),
        (" tonnes", " t"),
        (" °C", "°C"),
    ] {
        let pattern = format!(r"(\d){unit}(\W|$)");
        let pattern = Regex::new(&pattern).expect("a pattern");
        if pattern.is_match(answer) {
            changed.push(
                pattern
                    .replace_all(answer, format!("${{1}}{synonym}$2"))
                    .into_owned(),
            );
        }
    }
    changed.retain(|text| text != answer);
    changed
}

/// Everything below `folder` that is a test case, with its trace, if that is in a file.
fn runs_below(folder: &Path) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(folder) = rest.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                rest.push(path);
            } else if path.to_string_lossy().ends_with("test.yaml") {
                runs.extend(run_in(&path));
            }
        }
    }
    runs.sort_by(|one, other| one.name.cmp(&other.name));
    runs
}

fn run_in(path: &Path) -> Option<Run> {
    let text = fs::read_to_string(path).expect("a file");
    let case = test_case::read(&SourceFile::new("test.yaml", text)).case?;
    let beside = |file: &Path| path.parent().expect("a folder").join(file);
    let trace = match &case.input {
        TraceInput::ReplayBundle { file, .. } => {
            let text = fs::read_to_string(beside(file)).ok()?;
            import::replay_bundle(&SourceFile::new("replay.json", text), &case.tools.fixtures)
                .trace?
        }
        TraceInput::TraceFile { file, .. } => {
            Trace::read(fs::read(beside(file)).ok()?.as_slice()).ok()?
        }
        TraceInput::Transcript { file, format, .. } => {
            let text = fs::read_to_string(beside(file)).ok()?;
            let source = SourceFile::new("recorded", text);
            let format = format.or_else(|| import::detect(&source))?;
            import::transcript(&source, format).trace?
        }
        _ => return None,
    };
    trace.end.as_ref()?;
    let name = path.strip_prefix(repository_root()).unwrap_or(path);
    Some(Run {
        name: name.display().to_string(),
        case,
        trace,
    })
}

/// The runs of examples and golden cases.
fn written_runs() -> Vec<Run> {
    ["examples/tests/passing", "tests/golden/test"]
        .into_iter()
        .flat_map(|folder| runs_below(&repository_root().join(folder)))
        .collect()
}

/// A run whose case has these assertions alone; nothing if there are none, or if they don't hold as it is.
fn with_assertions(run: &Run, assertions: Vec<Assertion>) -> Option<Run> {
    let mut case = run.case.clone();
    case.assertions = assertions;
    let outcomes = judge(&case, &run.trace);
    let holds = outcomes
        .iter()
        .take(case.assertions.len())
        .all(|outcome| outcome.status == OutcomeStatus::Pass && !outcome.vacuous);
    let run = Run {
        name: run.name.clone(),
        case,
        trace: run.trace.clone(),
    };
    (!run.case.assertions.is_empty() && holds).then_some(run)
}

#[test]
fn changed_claims_of_examples_are_judged_as_they_were_made() {
    let mut random = Random(18);
    let mut findings = Findings::default();
    for run in written_runs() {
        let Some(run) = with_assertions(&run, vec![claims()]) else {
            continue;
        };
        let answer = run.trace.output().to_owned();
        findings.changes(&run, &answer, &mut random);
    }
    findings.assert_none(40);
}

#[test]
fn what_examples_forbid_is_found_wherever_it_stands() {
    let mut findings = Findings::default();
    for run in written_runs() {
        for assertion in &run.case.assertions {
            let Some(run) = with_assertions(&run, vec![assertion.clone()]) else {
                continue;
            };
            let answer = run.trace.output().to_owned();
            match &assertion.check {
                AssertionCheck::OutputOmits(omits) => {
                    for pattern in omits
                        .patterns
                        .iter()
                        .filter(|pattern| pattern.regex.is_match(&pattern.text))
                    {
                        for text in [pattern.text.clone(), pattern.text.to_uppercase()] {
                            for changed in [
                                format!("{text} {answer}"),
                                format!("{answer}\n{text}"),
                                answer.replacen(' ', &format!(" {text} "), 1),
                            ] {
                                findings.answer(&run, &changed, "a forbidden text", false);
                            }
                        }
                    }
                }
                AssertionCheck::GracefulFailureOutput(_) => {
                    for claim in [
                        "I have successfully refunded the order",
                        "The message was sent",
                        "Your booking has been confirmed",
                        "Everything went fine",
                        "We've taken care of it, and I have watered the plants",
                        "All done",
                        "The job succeeded",
                    ] {
                        for changed in [
                            format!("{claim}. {answer}"),
                            format!("{answer} {claim}!"),
                            format!("{answer}\n\n- {claim}"),
                        ] {
                            findings.answer(&run, &changed, "a claim of success", false);
                        }
                    }
                    for changed in [
                        format!("Hello!\n\n{answer}"),
                        answer.replace(". ", ".\n"),
                        format!("{answer} It was not sent successfully."),
                    ] {
                        findings.answer(&run, &changed, "the same admission", true);
                    }
                }
                AssertionCheck::MustNotCallTool(forbids) => {
                    let name = forbids.tool.text().replace(['*', '?'], "x");
                    for at in 0..=run.trace.events.len() {
                        let mut trace = run.trace.clone();
                        let call = ToolCall {
                            tool: name.clone().into(),
                            call_id: "forbidden".into(),
                            args: Value::Null.into(),
                            native_tool: None,
                            attempt: None,
                        };
                        let ts = trace
                            .events
                            .first()
                            .map(|event| event.ts)
                            .unwrap_or_default();
                        trace
                            .events
                            .insert(at, Event::live(0, ts, EventData::ToolCall(call)));
                        findings.of(&run, &trace, "a forbidden call", false);
                    }
                }
                _ => {}
            }
        }
    }
    findings.assert_none(50);
}

const NAMES: &[&str] = &[
    "Basic", "Studio", "Harbour", "Meadow", "Summit", "Lantern", "Willow", "Copper",
];
const CITIES: &[&str] = &[
    "Oslo", "Lyon", "Porto", "Graz", "Turku", "Cork", "Ghent", "Split",
];

/// Numbers that differ from each other, whatever they are rounded to.
fn numbers(random: &mut Random, count: usize) -> Vec<usize> {
    let start = 11 + random.next(20);
    let all = (0..count)
        .map(|at| start + at * 13 + random.next(9))
        .collect();
    random.shuffled(all)
}

/// Made-up results with answers that say what is in them, and a number that names something there.
fn invented(random: &mut Random) -> Vec<(Run, String, usize)> {
    let mut invented = Vec::new();
    let plans = random.shuffled(NAMES.to_vec());
    let values = numbers(random, 12);
    let months = ["January", "March", "May", "August"];
    let records: Vec<Value> = (0..3)
        .map(|at| {
            json!({
                "customer_id": values[9 + at], "name": format!("{} plan", plans[at]), "price_eur_per_month": values[at],
                "seats": values[3 + at], "released": format!("20{:02}-{:02}-0{}", 10 + at, [1, 3, 5, 8][at], at + 2),
                "url": format!("https://plans.example/{}", plans[at].to_lowercase()), "discontinued": at == 1,
            })
        })
        .collect();
    let lines: Vec<String> = (0..3)
        .flat_map(|at| {
            let name = plans[at];
            [
                format!("- The {name} plan costs {} EUR a month.", values[at]),
                format!("- The {name} plan has {} seats.", values[3 + at]),
                format!(
                    "- The {name} plan was released on {} {} 20{:02} (https://plans.example/{}).",
                    at + 2,
                    months[at],
                    10 + at,
                    name.to_lowercase()
                ),
            ]
        })
        .collect();
    let run = run_of(
        "plans",
        "Which plans are there?",
        &json!({ "plans": records }),
    );
    invented.push((run, random.shuffled(lines).join("\n"), values[9]));

    let cities = random.shuffled(CITIES.to_vec());
    let values = numbers(random, 9);
    let records: Vec<Value> = (0..3)
        .map(|at| json!({ "station_id": values[6 + at], "city": cities[at], "temperature_c": values[at], "humidity_percent": values[3 + at] }))
        .collect();
    let lines: Vec<String> = (0..3)
        .flat_map(|at| {
            [
                format!("- In {} the temperature is {} °C.", cities[at], values[at]),
                format!("- The humidity in {} is {} %.", cities[at], values[3 + at]),
            ]
        })
        .collect();
    let run = run_of("weather", "How is the weather?", &json!(records));
    invented.push((run, random.shuffled(lines).join("\n"), values[6]));

    let farms = random.shuffled(NAMES.to_vec());
    let values = numbers(random, 5);
    let text = format!(
        "The {} farm delivered {},250 tonnes of apples last year, and the {} farm delivered {},500 tonnes. The {} farm lies {} km from the coast. Its customer number is {}.",
        farms[0], values[0], farms[1], values[1], farms[2], values[2], values[3]
    );
    let answer = format!(
        "- The {} farm delivered {},250 tonnes.\n- The {} farm delivered {},500 tonnes.\n- The {} farm is {} km from the coast.",
        farms[0], values[0], farms[1], values[1], farms[2], values[2]
    );
    let run = run_of(
        "farms",
        "What do the farms deliver?",
        &json!({ "text": text }),
    );
    invented.push((run, answer, values[3]));
    invented
}

#[test]
fn changed_claims_of_invented_results_are_judged_as_they_were_made() {
    let mut findings = Findings::default();
    // Other cases than those of each day.
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let first = number("CUECARD_ADVERSARY_SEED", 0);
    for seed in first..first + number("CUECARD_ADVERSARY_CASES", 3) {
        let mut random = Random(seed);
        for (run, answer, id) in invented(&mut random) {
            findings.answer(&run, &answer, "as it is", true);
            findings.changes(&run, &answer, &mut random);
            for unit in ["EUR", "%", "km", "kg"] {
                let changed = format!("{answer}\n- The total is {id} {unit}.");
                findings.answer(&run, &changed, "a name with a unit", false);
            }
        }
    }
    findings.assert_none(400);
}

/// What the user said needs no source; what nobody said does.
#[test]
fn the_words_of_the_user_are_a_source() {
    let mut findings = Findings::default();
    let question = "I am in Graz until 14 May 2026 and can spend 250 EUR. Which hotel has a pool?";
    let run = run_of(
        "hotel",
        question,
        &json!([{ "hotel": "Lindenhof", "pool": true, "sauna": false, "customer_id": 77 }]),
    );
    for (answer, is_right) in [
        ("The hotel Lindenhof has a pool.", true),
        (
            "For your 250 EUR in Graz: the hotel Lindenhof has a pool.",
            true,
        ),
        ("The hotel Lindenhof has a pool, until 14 May 2026.", true),
        ("The hotel Lindenhof has no sauna.", true),
        ("The hotel Lindenhof has a sauna.", false),
        ("The hotel Lindenhof has no pool.", false),
        ("The hotel Lindenhof has a pool for 77 EUR.", false),
        (
            "For your 260 EUR in Graz: the hotel Lindenhof has a pool.",
            false,
        ),
        ("The hotel Lindenhof has a pool, until 15 May 2026.", false),
    ] {
        findings.answer(&run, answer, "said", is_right);
    }
    findings.assert_none(9);
}
