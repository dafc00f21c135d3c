//! What the assertions of a suite notice: the score, by what was changed and by assertion type, and what
//! nobody noticed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::{Style, counted, duration};
use cuecard_judge::mutate::{Mutation, Mutations, Survivor, Tally, Unexercised, Watcher};
use cuecard_judge::{TestResult, TestStatus};
use cuecard_source::value::{Json, cut, printable};
use cuecard_trace::SCHEMA_VERSION;

/// More survivors are not shown on a terminal.
const MAX_SHOWN: usize = 100;

/// What came of the mutants of a suite, test by test.
#[derive(Debug, Default)]
pub struct MutationReport {
    tests: Vec<MutatedTest>,
    left_out: Vec<LeftOut>,
    total: Mutations,
}

#[derive(Debug)]
struct MutatedTest {
    id: String,
    file: String,
    total: Tally,
    survivors: Vec<Survivor>,
    unexercised: Vec<Unexercised>,
}

/// A test of which no mutants were made.
#[derive(Debug, Serialize)]
struct LeftOut {
    #[serde(rename = "test_case_id")]
    id: String,
    file: String,
    status: TestStatus,
    reason: &'static str,
}

impl MutationReport {
    /// Takes note of a test that was judged, and of what came of its mutants. The order of calls is that of the
    /// report.
    pub fn add(&mut self, result: &TestResult, mutations: Option<Mutations>) {
        let (id, file) = (result.id.clone(), result.run.file.clone());
        let mutations = mutations.filter(|_| result.status == TestStatus::Pass);
        let Some(mut mutations) = mutations else {
            self.left_out.push(LeftOut {
                id,
                file,
                status: result.status,
                reason: match result.status {
                    TestStatus::Pass => "a scenario has no assertions of its own",
                    TestStatus::Fail => "it fails unchanged",
                    TestStatus::Error => "it can't be evaluated",
                    TestStatus::Skipped => "all its assertions are skipped",
                },
            });
            return;
        };
        self.tests.push(MutatedTest {
            id,
            file,
            total: mutations.total,
            survivors: std::mem::take(&mut mutations.survivors),
            unexercised: mutations.unexercised.clone(),
        });
        self.total.add(mutations);
    }

    /// The noticed part of all mutants in percent; nothing if there were none.
    pub fn score(&self) -> Option<f64> {
        self.total.total.score()
    }

    /// Whether less was noticed than `least`, in percent; without a score it is. Nobody knows what an assertion notices
    /// that was not exercised: a hundred is reached only with all of them.
    pub fn is_below(&self, least: f64) -> bool {
        let is_whole = self.n_unexercised() == 0;
        self.score()
            .is_none_or(|score| score < least || (least >= 100.0 && !is_whole))
    }

    /// How many assertions, patterns and failing tests no mutant concerned.
    pub fn n_unexercised(&self) -> usize {
        let is_failing = |test: &&LeftOut| test.status != TestStatus::Pass;
        self.total.unexercised.len() + self.left_out.iter().filter(is_failing).count()
    }

    /// Whether no test fails, or can't be judged, as it is.
    fn all_pass_unchanged(&self) -> bool {
        let is_bad = |test: &LeftOut| matches!(test.status, TestStatus::Fail | TestStatus::Error);
        !self.left_out.iter().any(is_bad)
    }

    /// The report as people read it: each line with a newline.
    pub fn text(&self, style: Style, least: Option<f64>, took: Duration) -> String {
        let mut text = String::new();
        let by_mutation = self
            .total
            .by_mutation
            .iter()
            .map(|(mutation, tally)| (mutation.as_str(), *tally));
        table(&mut text, style, "mutation", by_mutation);
        let by_type = self.total.by_type.iter();
        let by_type = by_type.map(|(kind, tally)| (*kind, *tally));
        table(&mut text, style, "assertion type", by_type);
        self.by_test(&mut text, &style.bad("not detected"), style, |test| {
            let survivors = test.survivors.iter();
            survivors
                .map(|survivor| survivor_lines(style, survivor))
                .collect()
        });
        self.by_test(&mut text, &style.doubtful("not exercised"), style, |test| {
            let unexercised = test.unexercised.iter().map(|one| {
                let name = named(std::slice::from_ref(&one.assertion));
                let pattern = one.pattern.as_deref();
                let pattern = pattern.map(|pattern| format!("   /{}/", printable(pattern)));
                let line = format!("{name}{}", pattern.unwrap_or_default());
                format!("      {}", cut(&line, style.width.saturating_sub(6)))
            });
            unexercised.collect()
        });
        for test in &self.left_out {
            let line = format!(
                "skipped: {}   {}",
                printable(&test.id),
                style.faint(&printable(&test.file))
            );
            let _ = writeln!(text, "{line}   {}", style.doubtful(test.reason));
        }
        if !self.left_out.is_empty() {
            text.push('\n');
        }
        let Tally { made, noticed } = self.total.total;
        let facts = [
            match self.score() {
                Some(score) => {
                    let score = format!("score {}", percent(score));
                    match least.is_some_and(|least| self.is_below(least)) {
                        true => style.bad(&score),
                        false => style.good(&score),
                    }
                }
                None => style.doubtful("no score"),
            },
            match made {
                0 => "nothing to mutate that an assertion should detect".to_owned(),
                _ => format!("{noticed} of {made} mutants detected"),
            },
            match (self.total.unexercised.len(), self.n_unexercised()) {
                (0, 0) => "all assertions exercised".to_owned(),
                (0, tests) => style.doubtful(&format!("{tests} skipped")),
                (count, _) => style.doubtful(&format!("{count} not exercised")),
            },
            counted(self.tests.len(), "test"),
            duration(took),
        ];
        let _ = writeln!(text, "{}", facts.join(style.dot()));
        text
    }

    /// What `entries` gives of each test, in lines below its name, and how many more there are.
    fn by_test(
        &self,
        text: &mut String,
        heading: &str,
        style: Style,
        entries: impl Fn(&MutatedTest) -> Vec<String>,
    ) {
        let (mut n_shown, mut n_more) = (0, 0);
        for test in &self.tests {
            let entries = entries(test);
            let shown = &entries[..entries.len().min(MAX_SHOWN - n_shown)];
            n_more += entries.len() - shown.len();
            n_shown += shown.len();
            if !shown.is_empty() {
                let (id, file) = (printable(&test.id), printable(&test.file));
                let (id, file) = (style.strong(&id), style.faint(&file));
                let _ = writeln!(text, "{heading} {id}   {file}\n{}", shown.join("\n"));
            }
            if !shown.is_empty() && n_more == 0 {
                text.push('\n');
            }
        }
        if n_more > 0 {
            let _ = writeln!(text, "and {n_more} more: `--json` has them all\n");
        }
    }

    /// The report as one document.
    pub fn json(&self, least: Option<f64>) -> Json {
        let total = &self.total;
        let by_mutation = total.by_mutation.iter();
        let by_mutation = by_mutation.map(|(mutation, tally)| (*mutation, Counts::of(*tally)));
        let mut kinds: BTreeMap<&str, Tally> = total.by_type.clone();
        for one in &total.unexercised {
            kinds.entry(one.assertion.kind).or_default();
        }
        let by_type = kinds.into_iter().map(|(kind, tally)| {
            let unexercised = total.unexercised.iter();
            let unexercised = unexercised.filter(|one| one.assertion.kind == kind).count();
            let counts = Counts::of(tally);
            (
                kind,
                TypeEntry {
                    counts,
                    unexercised,
                },
            )
        });
        let tests = self.tests.iter().map(|test| TestEntry {
            test_case_id: &test.id,
            file: &test.file,
            counts: Counts::of(test.total),
            unexercised: &test.unexercised,
            survivors: &test.survivors,
        });
        json!({
            "schema_version": SCHEMA_VERSION,
            "score": self.score().map(rounded),
            "min_score": least,
            "passed": self.all_pass_unchanged() && least.is_none_or(|least| !self.is_below(least)),
            "mutants": total.total.made,
            "noticed": total.total.noticed,
            "survived": total.total.survived(),
            "unexercised": total.unexercised.len(),
            "by_mutation": by_mutation.collect::<BTreeMap<Mutation, Counts>>(),
            "by_assertion_type": by_type.collect::<BTreeMap<&str, TypeEntry>>(),
            "tests": tests.collect::<Vec<TestEntry<'_>>>(),
            "left_out": self.left_out,
        })
    }
}

/// Field names are the contract of the report.
#[derive(Serialize)]
struct Counts {
    mutants: usize,
    noticed: usize,
    survived: usize,
    score: Option<f64>,
}

impl Counts {
    fn of(tally: Tally) -> Self {
        Self {
            mutants: tally.made,
            noticed: tally.noticed,
            survived: tally.survived(),
            score: tally.score().map(rounded),
        }
    }
}

#[derive(Serialize)]
struct TypeEntry {
    #[serde(flatten)]
    counts: Counts,
    unexercised: usize,
}

#[derive(Serialize)]
struct TestEntry<'a> {
    test_case_id: &'a str,
    file: &'a str,
    #[serde(flatten)]
    counts: Counts,
    unexercised: &'a [Unexercised],
    survivors: &'a [Survivor],
}

/// `called (must_call_tool), few (max_tool_calls)`.
fn named(watchers: &[Watcher]) -> String {
    let names = watchers
        .iter()
        .map(|watcher| format!("{} ({})", printable(&watcher.id), watcher.kind));
    names.collect::<Vec<_>>().join(", ")
}

/// `  duplicate_call   event e3   the call of web_search is made once more`, and who looks there.
fn survivor_lines(style: Style, survivor: &Survivor) -> String {
    let event = survivor.event.as_deref().map(printable);
    let event = event.map_or(String::new(), |event| format!("   event {event}"));
    let room = style.width.saturating_sub(6);
    let change = printable(&survivor.change);
    let seen = format!("covered by {}", named(&survivor.watched_by));
    format!(
        "  {}{event}\n      {}\n      {}",
        survivor.mutation.as_str(),
        cut(&change, room),
        style.faint(&cut(&seen, room))
    )
}

/// Rows of counts under a heading; nothing if there are none.
fn table<'a>(
    text: &mut String,
    style: Style,
    heading: &str,
    rows: impl Iterator<Item = (&'a str, Tally)> + Clone,
) {
    const NAME: usize = 34;
    if rows.clone().next().is_none() {
        return;
    }
    let line = format!(
        "{heading:NAME$}{:>8}{:>10}{:>10}",
        "mutants", "detected", "survived"
    );
    let _ = writeln!(text, "{}", style.faint(&line));
    for (name, tally) in rows {
        let survived = format!("{:>10}", tally.survived());
        let survived = match tally.survived() {
            0 => style.good(&survived),
            _ => style.doubtful(&survived),
        };
        let _ = writeln!(
            text,
            "{name:NAME$}{:>8}{:>10}{survived}",
            tally.made, tally.noticed
        );
    }
    text.push('\n');
}

/// `98.1 %`; below a hundred never rounded up to it.
fn percent(score: f64) -> String {
    let score = rounded(score);
    match score >= 100.0 {
        true => "100 %".to_owned(),
        false => format!("{score:.1} %"),
    }
}

/// Down to a tenth, so that what is shown is reached.
fn rounded(score: f64) -> f64 {
    (score * 10.0).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn of(status: TestStatus) -> TestResult {
        let mut all = sample::all().into_iter().map(|(result, _)| result);
        all.find(|result| result.status == status)
            .expect("a sample of each status")
    }

    fn mutations(made: usize, noticed: usize) -> Mutations {
        let tally = Tally { made, noticed };
        Mutations {
            by_type: [("must_call_tool", tally)].into(),
            by_mutation: [(Mutation::DropCall, tally)].into(),
            total: tally,
            unexercised: Vec::new(),
            survivors: (noticed..made)
                .map(|_| Survivor {
                    mutation: Mutation::DropCall,
                    change: "the calls of `a` are missing".to_owned(),
                    event: Some("e1".to_owned()),
                    watched_by: vec![Watcher {
                        id: "called".to_owned(),
                        kind: "must_call_tool",
                    }],
                })
                .collect(),
        }
    }

    #[test]
    fn a_score_is_never_shown_better_than_it_is() {
        assert_eq!(percent(99.99), "99.9 %");
        assert_eq!(percent(100.0), "100 %");
        let mut report = MutationReport::default();
        assert!(report.is_below(0.0), "without mutants there is no score");
        report.add(&of(TestStatus::Pass), Some(mutations(3, 2)));
        assert!(report.is_below(66.7));
        assert!(!report.is_below(66.6));
    }

    #[test]
    fn what_nobody_noticed_is_told_with_who_should_have() {
        let mut report = MutationReport::default();
        report.add(&of(TestStatus::Pass), Some(mutations(3, 2)));
        report.add(&of(TestStatus::Fail), Some(mutations(3, 0)));
        let text = report.text(Style::default(), Some(90.0), Duration::from_millis(5));
        assert!(
            text.contains("drop_call                                3         2         1\n"),
            "{text}"
        );
        assert!(text.contains("  drop_call   event e1\n      the calls of `a` are missing\n      covered by called (must_call_tool)\n"), "{text}");
        assert!(text.contains("it fails unchanged"), "{text}");
        assert!(
            text.ends_with("score 66.6 % · 2 of 3 mutants detected · 1 skipped · 1 test · 5 ms\n"),
            "{text}"
        );
        let json = report.json(Some(90.0));
        assert_eq!(json["score"], 66.6);
        assert_eq!(json["passed"], false);
        assert_eq!(
            json["tests"][0]["survivors"][0]["assertions"][0]["id"],
            "called"
        );
        assert_eq!(json["left_out"][0]["status"], "fail");
    }

    #[test]
    fn a_hundred_is_reached_only_with_all_assertions() {
        let mut report = MutationReport::default();
        let mut all_noticed = mutations(3, 3);
        report.add(&of(TestStatus::Pass), Some(all_noticed.clone()));
        assert!(!report.is_below(100.0));
        let fast = Watcher {
            id: "fast".to_owned(),
            kind: "file",
        };
        all_noticed.unexercised = [None, Some("^sk-".to_owned())]
            .map(|pattern| Unexercised {
                assertion: fast.clone(),
                pattern,
            })
            .into();
        report.add(&of(TestStatus::Pass), Some(all_noticed));
        assert_eq!(report.score(), Some(100.0));
        assert!(report.is_below(100.0) && !report.is_below(99.0));
        let text = report.text(Style::default(), None, Duration::from_millis(5));
        assert!(
            text.contains("\n      fast (file)\n      fast (file)   /^sk-/\n"),
            "{text}"
        );
        assert!(
            text.contains("score 100 % · 6 of 6 mutants detected · 2 not exercised"),
            "{text}"
        );
        let json = report.json(None);
        assert_eq!(json["unexercised"], 2);
        assert_eq!(json["by_assertion_type"]["file"]["unexercised"], 2);
        assert_eq!(json["tests"][1]["score"], 100.0);
        assert_eq!(json["tests"][1]["unexercised"][1]["pattern"], "^sk-");
    }

    #[test]
    fn a_test_that_fails_is_not_exercised() {
        let mut report = MutationReport::default();
        report.add(&of(TestStatus::Pass), Some(mutations(3, 3)));
        report.add(&of(TestStatus::Fail), None);
        assert!(report.is_below(100.0) && !report.is_below(99.0));
    }
}
