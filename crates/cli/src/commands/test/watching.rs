//! `cuecard test --watch`: judges, and again whenever something changes that a test depends on.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_judge::{TestResult, TestStatus, Totals};
use cuecard_report::diagnostics::to_json;
use cuecard_report::test_json::{result_document, status, summary};
use cuecard_report::test_terminal::{TestList, counts};
use cuecard_runner::watch::{Change, WatchedSuite, changed_on_disk};
use cuecard_runner::{Judged, Problem, TestFile};
use cuecard_runtime::clock::Clock;
use cuecard_source::value::{Json, printable};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::judge_all;
use super::setup::{self, Plan};
use super::telling::{exit_code, refuse_second};
use crate::args::TestArgs;
use crate::asynchronous::until_stopped;
use crate::context::Context;
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr_line, stdout};

/// Empties the screen of a terminal and what was scrolled away.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// Judges until somebody stops it. Between two runs that is the normal end, with the exit code of all tests as they
/// were judged last; during a run it is an interruption.
pub(super) fn run(args: &TestArgs, plan: Plan, context: &Context) -> Result<ExitCode, ExitCode> {
    let mut watching = Watching {
        args,
        context,
        output: &context.output,
        kept: HashMap::new(),
        runs: 0,
        exit: ExitCode::Passed,
    };
    until_stopped(async |stop| watching.go_on(plan, &stop).await)
}

struct Watching<'a> {
    args: &'a TestArgs,
    context: &'a Context,
    output: &'a Output,
    /// What came of each test when it was judged last, by its file.
    kept: HashMap<String, Kept>,
    runs: u64,
    /// The worst of what is kept, and of what can't be read.
    exit: ExitCode,
}

/// What came of a test.
struct Kept {
    result: TestResult,
    problem: Option<Problem>,
}

impl Watching<'_> {
    async fn go_on(&mut self, first: Plan, stop: &CancellationToken) -> ExitCode {
        let paths = &super::paths(self.args);
        let mut shared = self.named_files();
        let mut scene = WatchedSuite::look(paths, &shared);
        let mut change = Change {
            files: Vec::new(),
            concerned: scene.files(),
        };
        let mut plan = Some(first);
        if self.args.json {
            let tests = scene.files().len();
            line(&json!({"event": "ready", "paths": paths, "tests": tests}));
        }
        loop {
            let ended = match plan.take().or_else(|| self.plan()) {
                Some(plan) => self.judge(plan, &scene, &change, &mut shared, stop).await,
                // What is wrong with the arguments' files was told; they may be mended.
                None => ExitCode::Passed,
            };
            if ended != ExitCode::Passed {
                return self.verdict(ended);
            }
            // The servers' configs count from now on.
            scene = scene.with_shared(&shared);
            let next = tokio::select! {
                next = changed_on_disk(&scene, paths, &shared) => next,
                () = stop.cancelled() => None,
            };
            let Some((seen, what)) = next else {
                let exit = self.exit;
                return self.verdict(exit);
            };
            (scene, change) = (seen, what);
        }
    }

    /// The files of the command line that all tests depend on.
    fn named_files(&self) -> Vec<PathBuf> {
        let env_file = self.args.variables.env.env_file.iter();
        self.args.config.iter().chain(env_file).cloned().collect()
    }

    /// How to run this time: files of the command line may say something else by now.
    fn plan(&mut self) -> Option<Plan> {
        let clock = Clock::start();
        match setup::plan(self.args, &self.context.environment, &clock) {
            Ok((plan, _)) => Some(plan),
            Err(stop) => {
                self.exit = self.exit.worst(stop.print(self.output));
                None
            }
        }
    }

    /// Judges the tests that the change concerns, and tells what came of them and how all tests are now.
    async fn judge(
        &mut self,
        plan: Plan,
        scene: &WatchedSuite,
        change: &Change,
        shared: &mut Vec<PathBuf>,
        stop: &CancellationToken,
    ) -> ExitCode {
        let clock = Clock::start();
        let Self { args, output, .. } = *self;
        self.runs += 1;
        self.begin(scene, change);
        let all: Vec<String> = scene.files().iter().map(name).collect();
        self.kept.retain(|file, _| all.contains(file));
        for file in &change.concerned {
            self.kept.remove(&name(file));
        }
        let mut ids: HashMap<String, String> = self
            .kept
            .iter()
            .map(|(file, kept)| (kept.result.id.clone(), file.clone()))
            .collect();
        let list = TestList::new(output.stdout, std::iter::empty());
        let mut judged: Vec<String> = Vec::new();
        *shared = self.named_files();
        let kept = &mut self.kept;
        let tell = |mut one: Judged| {
            if one.problem == Some(Problem::Interrupted) {
                return ControlFlow::Continue(());
            }
            refuse_second(&mut ids, &mut one);
            output.diagnostics(&one.warnings);
            match args.json {
                true => {
                    for diagnostic in &one.result.diagnostics {
                        stderr_line(&to_json(diagnostic).to_string());
                    }
                }
                false => stdout(&list.result(&one.result)),
            }
            let file = one.result.run.file.clone();
            judged.push(file.clone());
            let (result, problem) = (one.result, one.problem);
            kept.insert(file, Kept { result, problem });
            ControlFlow::Continue(())
        };
        let (setup, ended) = judge_all(change.concerned.clone(), plan, stop, output, tell).await;
        shared.extend(setup.config_files());
        if ended != ExitCode::Passed {
            return ended;
        }
        self.end(scene, change, &judged, &all, clock.now());
        ExitCode::Passed
    }

    /// Before a run: what changed, and what can't be read.
    fn begin(&self, scene: &WatchedSuite, change: &Change) {
        let Self { args, output, .. } = self;
        if !args.json && std::io::stdout().is_terminal() {
            stdout(CLEAR);
        }
        if !change.files.is_empty() && !args.json {
            let files = change.files.iter().map(|file| file.display().to_string());
            let files: Vec<String> = files.collect();
            let shown = files.iter().take(5).map(String::as_str).collect::<Vec<_>>();
            let more = match files.len().saturating_sub(shown.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            stderr_line(&format!("\nchanged: {}{more}", shown.join(", ")));
        }
        output.diagnostics(scene.problems());
    }

    /// After a run: how all tests are now.
    fn end(
        &mut self,
        scene: &WatchedSuite,
        change: &Change,
        judged: &[String],
        all: &[String],
        took: Duration,
    ) {
        self.exit = match scene.problems().is_empty() {
            true => ExitCode::Passed,
            false => ExitCode::Invalid,
        };
        let mut totals = Totals::default();
        let mut as_before = String::new();
        for file in all {
            let Some(Kept { result, problem }) = self.kept.get(file) else {
                continue;
            };
            totals.add(result);
            self.exit = self.exit.worst(exit_code(result.status, *problem));
            let is_bad = matches!(result.status, TestStatus::Fail | TestStatus::Error);
            if is_bad && !judged.contains(file) {
                let id = printable(&result.id);
                let word = self.output.stdout.bad(match result.status {
                    TestStatus::Fail => "FAIL ",
                    _ => "ERROR",
                });
                as_before.push_str(&format!("{word} {id}   {file}   unchanged\n"));
            }
        }
        if self.args.json {
            let results = judged
                .iter()
                .filter_map(|file| self.kept.get(file))
                .map(|kept| result_document(&kept.result));
            line(&json!({
                "event": "run",
                "run": self.runs,
                "changed": change.files,
                "results": results.collect::<Vec<_>>(),
                "status": status(&totals).as_str(),
                "summary": summary(&totals),
            }));
            return;
        }
        let style = self.output.stdout;
        let verdict = self.exit.verdict(style);
        let counts = counts(style, &totals, took);
        stdout(&format!("{as_before}\n{verdict}: {counts}\n"));
        stderr_line("waiting for changes; press Ctrl-C to stop");
    }

    /// The end.
    fn verdict(&self, exit: ExitCode) -> ExitCode {
        if self.args.json {
            let mut totals = Totals::default();
            for kept in self.kept.values() {
                totals.add(&kept.result);
            }
            line(&json!({
                "event": "verdict",
                "runs": self.runs,
                "status": status(&totals).as_str(),
                "summary": summary(&totals),
                "exit": exit.number(),
            }));
        }
        exit
    }
}

/// A file as results name it.
fn name(file: &TestFile) -> String {
    file.path.display().to_string()
}

fn line(document: &Json) {
    stdout(&format!("{document}\n"));
}
