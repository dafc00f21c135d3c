//! Data that tries to become code, in every place of a command and through the whole program: whatever is not refused
//! must not run it. That it would run, were it spliced, is tried first.
#![allow(
    clippy::print_stdout,
    reason = "what was tried is what a run by hand is for"
)]

mod files;
mod forms;
mod paths;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::program::{self, scratch};
use forms::{CARRIERS, FORMS, Form, HARMLESS, QUOTES, WRAPPERS};

/// So many commands are drawn of each form.
const DRAWN: usize = 14;

#[test]
fn no_data_runs() {
    let longest = FORMS.iter().map(|form| form.payloads.len()).max();
    assert!(longest < Some(DRAWN), "each payload is tried in each form");
    let mut random = Random(20_261);
    let programs: BTreeSet<&str> = FORMS
        .iter()
        .map(|form| form.program)
        .chain(WRAPPERS.iter().map(|(program, _)| *program))
        .filter(|program| is_installed(program))
        .collect();
    let mut cases = Vec::new();
    for form in FORMS.iter().filter(|form| programs.contains(form.program)) {
        for at in 0..DRAWN {
            let number = cases.len();
            cases.push(Case::draw(form, at, number, &programs, &mut random));
        }
    }
    let harming = harming(&cases);
    // So the test can fail. Some need more than this machine has, such as a password.
    let harmless: Vec<&str> = cases
        .chunks(DRAWN)
        .map(|cases| cases[0].form)
        .filter(|form| !harming.contains(form))
        .collect();
    let count = cases.len() / DRAWN;
    assert!(
        harmless.len() * 20 < count,
        "of {count} forms these harm nobody, even spliced: {harmless:#?}"
    );

    let place = scratch();
    let mut steps = Vec::new();
    for case in &cases {
        push_steps(&mut steps, &case.command, &case.payload);
    }
    let tame: Vec<(&str, String)> = tame().collect();
    for (command, payload) in &tame {
        push_steps(&mut steps, command, payload);
    }
    // In parts, so that none takes long.
    let mut results = Vec::new();
    for steps in steps.chunks(1_000) {
        let scenario =
            json!({"version": "2.1", "metadata": {"name": "Data is not code"}, "steps": steps});
        place
            .write("scenario.json", scenario.to_string())
            .expect("writable");
        let played = program::play(&place, &["scenario.json"], 0);
        results.extend(
            played.json["step_results"]
                .as_array()
                .expect("a list")
                .clone(),
        );
    }
    let statuses: Vec<&str> = results
        .iter()
        .map(|step| step["status"].as_str().expect("a status"))
        .collect();
    let (of_cases, of_tame) = statuses.split_at(2 * cases.len());
    let passed = |statuses: &[&str]| {
        let commands = statuses.iter().skip(1).step_by(2);
        commands.filter(|status| **status == "passed").count()
    };

    let mut failures = String::new();
    for case in &cases {
        if place.work().join(canary(case.number)).exists() {
            let _ = writeln!(failures, "{:?} in\n{}\n---", case.payload, case.command);
        }
    }
    assert!(failures.is_empty(), "this ran:\n{failures}");
    for (at, (command, payload)) in tame.iter().enumerate() {
        let step = &results[2 * (cases.len() + at) + 1];
        assert_eq!(
            step["status"], "passed",
            "{command} with {payload:?}: {step:#}"
        );
    }
    assert_eq!(passed(of_tame), tame.len());
    let ran = passed(of_cases);
    assert!(
        ran * 30 > cases.len(),
        "only {ran} of {} commands were not refused",
        cases.len()
    );
    println!(
        "{} programs, {count} forms, {} of them armed, {} commands, {ran} of them not refused",
        programs.len(),
        harming.len(),
        cases.len()
    );
}

/// A command with data in it.
struct Case {
    form: &'static str,
    number: usize,
    /// With `{D}` where the data is.
    command: String,
    payload: String,
}

impl Case {
    /// The first two of a form are its plainest.
    fn draw(
        form: &'static Form,
        at: usize,
        number: usize,
        programs: &BTreeSet<&str>,
        random: &mut Random,
    ) -> Self {
        let (quotes, (before, word)) = match at {
            0 | 1 => (QUOTES[at], CARRIERS[0]),
            _ => (random.of(QUOTES), random.of(CARRIERS)),
        };
        let mut command = form.command.replace("@@", word);
        if form.command.contains("@@") {
            command.insert_str(0, before);
        }
        command = command.replace("@@", quotes);
        while let Some(place) = command.find('~') {
            let mut wrappers = String::new();
            for _ in 0..random.below(4).min(at) {
                let (program, wrapper) = random.of(WRAPPERS);
                if programs.contains(program) {
                    wrappers.push_str(wrapper);
                }
            }
            command.replace_range(place..=place, &wrappers);
        }
        let payload = form.payloads[at.saturating_sub(1) % form.payloads.len()];
        Self {
            form: form.command,
            number,
            command: command.replace("CANARY", &canary(number)),
            payload: payload.replace("CANARY", &canary(number)),
        }
    }
}

/// The file that the data of a command tries to leave.
fn canary(number: usize) -> String {
    format!("canary{number}")
}

/// The forms whose data runs if it is spliced into the command.
fn harming(cases: &[Case]) -> BTreeSet<&'static str> {
    let forms: Vec<&[Case]> = cases.chunks(DRAWN).collect();
    let (first, second) = forms.split_at(forms.len() / 2);
    let try_all = |forms: &[&[Case]]| -> Vec<&'static str> {
        let harms = |cases: &&&[Case]| cases.iter().any(runs_spliced);
        forms
            .iter()
            .filter(harms)
            .map(|cases| cases[0].form)
            .collect()
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| try_all(first));
        let mut all = try_all(second);
        all.extend(other.join().expect("it does not panic"));
        all.into_iter().collect()
    })
}

fn runs_spliced(case: &Case) -> bool {
    let place = Scratch::new(Path::new("timeout")).expect("a scratch folder");
    let command = case.command.replace("{D}", &case.payload);
    place
        .run(&["-s", "KILL", "5", "bash", "-c", &command])
        .expect("it starts");
    place.work().join(canary(case.number)).exists()
}

/// A server answers with `payload`, and a command has the answer in the place of `{D}`.
fn push_steps(steps: &mut Vec<Value>, command: &str, payload: &str) {
    let number = steps.len() + 1;
    let id = format!("d{number}");
    steps.push(json!({
        "step": number,
        "id": id,
        "tool": "mcp__demo__echo",
        "params": {"message": payload},
        "output": {"text": "$"},
    }));
    steps.push(json!({
        "step": number + 1,
        "tool": "claude__bash",
        "params": {"command": command.replace("{D}", &format!("{{{{{id}.text}}}}")), "timeout": 5000},
        "on_error": "skip",
    }));
}

/// Commands that must work with whatever a shell would run.
fn tame() -> impl Iterator<Item = (&'static str, String)> {
    let form = FORMS.iter().find(|form| form.command == "eval @@");
    let payloads = form.expect("it is in the table").payloads;
    HARMLESS.iter().flat_map(move |command| {
        let filled = move |payload: &&str| (*command, payload.replace("CANARY", "nothing"));
        // Commands print a line end behind each value: only what prints it takes that for the value's own.
        let is_printed = command.starts_with("printf");
        let payloads = payloads.iter();
        payloads
            .filter(move |payload| is_printed || !payload.ends_with('\n'))
            .map(filled)
    })
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// xorshift64*: the seed decides everything.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
