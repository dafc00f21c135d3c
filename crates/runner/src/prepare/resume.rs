//! The journal of a run of tool calls, as it begins and as a later run goes on with it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::Path;

use cuecard_runtime::journal::Journal;
use cuecard_runtime::run_dir::{JOURNAL, RunDir, lock_finished};
use cuecard_runtime::text_file::io_reason;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::{Json, Redactor, as_text, mask_credentials};
use cuecard_tool_call::format::{check_withheld, fingerprint};
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Bindings, Given};
use cuecard_trace::journal::{self as model, JournalHeader, Record, VERSION};
use cuecard_trace::{Restored, StepFinished, StepStatus};
use ring::pbkdf2;

/// Of so many steps that have changed the numbers are named.
const MOST_NAMED: usize = 12;

/// How often the hash of a secret is made, so that trying many takes long.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(100_000).expect("not zero");

/// What becomes of the steps that may have had their effect.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// These are played again; all of them if it is empty.
    pub redo: Option<Vec<u64>>,
    /// These count as done; all of them if it is empty.
    pub assume_done: Option<Vec<u64>>,
}

impl Decision {
    /// Whether a step is played again, and whether it counts as done.
    fn of(&self, step: u64) -> (bool, bool) {
        let named = |steps: &Option<Vec<u64>>| steps.as_ref().is_some_and(|it| it.contains(&step));
        let all = |steps: &Option<Vec<u64>>| steps.as_ref().is_some_and(Vec::is_empty);
        let (redo, done) = (named(&self.redo), named(&self.assume_done));
        let is_named = redo || done;
        (
            redo || all(&self.redo) && !is_named,
            done || all(&self.assume_done) && !is_named,
        )
    }
}

/// An earlier run that is resumed.
#[derive(Debug)]
pub struct Resumption {
    id: String,
    journal: model::Journal,
    file: File,
    /// Nobody else resumes the run meanwhile.
    _lock: File,
    /// The steps that the user says are done.
    assumed: Vec<u64>,
    /// What is said about the journal.
    notes: Vec<Diagnostic>,
}

impl Resumption {
    /// Reads what the run in `folder` left.
    ///
    /// # Errors
    /// Why it can't be resumed.
    pub fn open(folder: &Path, decision: &Decision) -> Result<Self, Diagnostic> {
        let id = folder.file_name().unwrap_or_default().to_string_lossy();
        let refused =
            |code: Code, what: String| Diagnostic::error(code, format!("the run {id} {what}"));
        let cant = |what: String| refused(codes::RESUME_REFUSED, what);
        let unreadable = |error: &io::Error| cant(format!("can't be read: {}", io_reason(error)));
        let lock = lock_finished(folder).map_err(|error| unreadable(&error))?;
        let lock = lock.ok_or_else(|| cant("is still going on".to_owned()))?;
        let path = folder.join(JOURNAL);
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                cant("has no journal: only runs of tool calls can be resumed".to_owned())
            }
            _ => unreadable(&error),
        })?;
        let journal = model::Journal::read(BufReader::new(&file)).map_err(|error| {
            cant(format!(
                "has a damaged journal: `{}` {error}",
                path.display()
            ))
        })?;
        if journal.has_passed {
            return Err(cant("passed: there is nothing to resume".to_owned())
                .with_help("play the scenario again without `--resume`"));
        }
        if let Some(other) = &journal.resumed_by {
            return Err(cant(format!("was resumed already, by the run {other}"))
                .with_help(format!("resume that: `--resume {other}`")));
        }
        let mut notes = Vec::new();
        if journal.is_torn {
            let what = "its journal ends in the middle of a line, which is left out";
            notes.push(Diagnostic::note(
                codes::RESUME_REFUSED,
                format!("the run {id} was cut off: {what}"),
            ));
        }
        let unknown = &journal.unknown;
        let named = [&decision.redo, &decision.assume_done];
        if unknown.is_empty() && named.into_iter().any(Option::is_some) {
            notes.push(Diagnostic::note(
                codes::RESUME_UNKNOWN,
                "no step is unknown: `--redo` and `--assume-done` have no effect",
            ));
        } else if let Some(other) = named
            .into_iter()
            .flatten()
            .flatten()
            .find(|step| !unknown.contains(step))
        {
            let what = format!(
                "ended during {}, and not during step {other}",
                listed(unknown)
            );
            return Err(refused(codes::RESUME_UNKNOWN, what));
        }
        let undecided = |step: &&u64| matches!(decision.of(**step), (false, false) | (true, true));
        let undecided: BTreeSet<u64> = unknown.iter().filter(undecided).copied().collect();
        if !undecided.is_empty() {
            let element = journal.unknown_element.filter(|_| undecided.len() == 1);
            let element =
                element.map_or_else(String::new, |idx| format!("element {} of ", idx + 1));
            let during = listed(&undecided);
            let what = format!("ended during {element}{during}, which may have taken effect");
            return Err(refused(codes::RESUME_UNKNOWN, what).with_help(
                "find out; then add `--redo` to play it again, or `--assume-done` to go on behind it; both take numbers of steps, as `--redo 1,2`",
            ));
        }
        let is_done = |step: &&u64| decision.of(**step).1;
        let assumed = unknown.iter().filter(is_done).copied().collect();
        Ok(Self {
            id: id.into_owned(),
            journal,
            file,
            _lock: lock,
            assumed,
            notes,
        })
    }

    /// The id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The steps that the run was to play.
    pub(super) fn range(&self) -> RangeInclusive<u64> {
        self.journal.header.start..=self.journal.header.end
    }

    /// The number of the step at which it is resumed; none if all are done.
    pub fn next_step(&self) -> Option<u64> {
        self.journal.next_step()
    }

    /// The variables of which the journal has only hashes.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        self.journal.header.secrets.keys()
    }

    /// The values of the variables that are no secrets, and what is wrong with those that were `given` now.
    pub(super) fn variables(&self, given: &[Given]) -> (Vec<Given>, Vec<Diagnostic>) {
        let from = format!("the run {}", self.id);
        let variables = || self.journal.header.variables.iter();
        let other = |(name, value): (&String, &Json)| {
            let last = given.iter().rev().find(|given| given.name == *name)?;
            let message = format!(
                "the variable `{name}` is not what it was in {from}: `{}` ({}) was `{}`",
                as_text(&last.value),
                last.from,
                as_text(value)
            );
            let error = Diagnostic::error(codes::RESUME_VALUE, message).with_help(
                "leave it out: a resumed run has the variables of the run that it resumes",
            );
            (last.value != *value).then_some(error)
        };
        let restored = variables().map(|(name, value)| Given {
            name: name.clone(),
            value: value.clone(),
            from: from.clone(),
            secret: false,
            may_be_unknown: true,
        });
        (restored.collect(), variables().filter_map(other).collect())
    }

    /// What speaks against going on with this scenario and these variables, and what is noted.
    pub(super) fn check(
        &mut self,
        scenario: &ToolCallScenario,
        bindings: &Bindings,
    ) -> Vec<Diagnostic> {
        let header = &self.journal.header;
        let now = fingerprint(scenario, &header.salt);
        let numbers = header.steps.keys().chain(now.steps.keys());
        let has_changed = |number: &&u64| header.steps.get(*number) != now.steps.get(*number);
        let mut changed: Vec<u64> = numbers.filter(has_changed).copied().collect();
        changed.sort_unstable();
        changed.dedup();
        let mut found = std::mem::take(&mut self.notes);
        if !changed.is_empty() || header.rest != now.rest {
            let named = changed
                .iter()
                .take(MOST_NAMED)
                .map(|number| format!("step {number}"));
            let mut parts: Vec<String> = named.collect();
            match changed.len().saturating_sub(MOST_NAMED) {
                0 => {}
                more => parts.push(format!("{more} more steps")),
            }
            if header.rest != now.rest {
                parts.push("what stands beside the steps".to_owned());
            }
            let message = format!(
                "the scenario changed since the run {}: {}",
                self.id,
                parts.join(", ")
            );
            let error = Diagnostic::error(codes::RESUME_CHANGED, message);
            found.push(error.with_help(
                "undo the changes, or play the scenario from the beginning, without `--resume`",
            ));
            return found;
        }
        for (name, value, _) in bindings.iter() {
            let hash = header.secrets.get(name);
            if hash.is_some_and(|hash| *hash != secret_hash(&header.salt, value)) {
                let message = format!(
                    "the secret `{name}` is not what it was in the run {}",
                    self.id
                );
                let error = Diagnostic::error(codes::RESUME_VALUE, message);
                found.push(error.with_help(format!("give the same value: set CUECARD_VAR_{name}")));
            }
        }
        for number in &self.assumed {
            let Some(step) = scenario.steps_in(&(*number..=*number)).first() else {
                continue;
            };
            let element = self.journal.unknown_element;
            // Of an element the outputs of the step have a null, beside those of the others.
            if element.is_none() {
                let outputs = step.outputs.iter().map(|rule| rule.name.clone());
                let withheld = self.journal.withheld.entry(step.number).or_default();
                withheld.extend(outputs);
            }
            let finished = StepFinished {
                step: step.number,
                id: step.id.clone(),
                tool: step.tool.text(),
                description: None,
                status: StepStatus::Passed,
                duration_ms: 0.0,
                attempts: Vec::new(),
                error: None,
                skipped_by: None,
                group: None,
                healed: None,
                outputs: serde_json::Map::new(),
                restored: Some(Restored::AssumedDone),
                element,
                elements: None,
            };
            match element {
                Some(_) => self.journal.elements.push(finished),
                None => {
                    let done = &mut self.journal.done;
                    let place = done.partition_point(|done| done.step < step.number);
                    done.insert(place, finished);
                }
            }
        }
        found.extend(withheld(scenario, &self.journal));
        found
    }

    /// Begins the journal of the run in `dir` with what this one left, and gives the steps that are done, and the elements
    /// of the next. From here on only that run can be resumed.
    ///
    /// # Errors
    /// The operating system's.
    pub fn continue_in(mut self, dir: &RunDir) -> io::Result<(Journal, Vec<StepFinished>)> {
        let length = self.journal.length;
        let mut done = std::mem::take(&mut self.journal.done);
        done.append(&mut self.journal.elements);
        let mut records = record(&Record::<&StepFinished>::Resume { run: self.id })?;
        let element = self.journal.unknown_element;
        for finished in done
            .iter()
            .filter(|it| self.assumed.contains(&it.step) && it.element == element)
        {
            let withheld = self
                .journal
                .withheld
                .remove(&finished.step)
                .unwrap_or_default();
            records.extend(record(&Record::End { finished, withheld })?);
        }
        let journal = Journal::create(dir, |new| {
            self.file.rewind()?;
            io::copy(&mut (&self.file).take(length), new)?;
            new.write_all(&records)?;
            new.sync_data()
        })?;
        let run = dir.id().to_owned();
        self.file.set_len(length)?;
        self.file.seek(io::SeekFrom::Start(length))?;
        self.file
            .write_all(&record(&Record::<&StepFinished>::ResumedBy { run })?)?;
        self.file.sync_data()?;
        Ok((journal, done))
    }
}

/// Why the run in `dir` can't be resumed although steps are left: they refer to an output that its journal does not keep.
pub fn lacks_output(dir: &RunDir, scenario: &ToolCallScenario) -> Option<Diagnostic> {
    let file = File::open(dir.path().join(JOURNAL)).ok()?;
    let journal = model::Journal::read(BufReader::new(file)).ok()?;
    withheld(scenario, &journal).into_iter().next()
}

/// The references to outputs that a journal does not keep, in the steps that are not done.
fn withheld(scenario: &ToolCallScenario, journal: &model::Journal) -> Vec<Diagnostic> {
    let ended = journal.done.iter().chain(&journal.elements);
    let assumed = ended.filter(|step| step.restored == Some(Restored::AssumedDone));
    let assumed = assumed.map(|step| step.step).collect();
    let done = journal.done.iter().map(|step| step.step).collect();
    check_withheld(scenario, &done, &journal.withheld, &assumed)
}

/// Steps in words.
fn listed(steps: &BTreeSet<u64>) -> String {
    let numbers: Vec<String> = steps.iter().map(u64::to_string).collect();
    match &numbers[..] {
        [only] => format!("step {only}"),
        [first @ .., last] => format!("steps {} and {last}", first.join(", ")),
        [] => "no step".to_owned(),
    }
}

/// Begins the journal of a run that plays the steps in `range`.
///
/// # Errors
/// The operating system's.
pub fn begin_journal(
    dir: &RunDir,
    scenario: &ToolCallScenario,
    range: &RangeInclusive<u64>,
    bindings: &Bindings,
    redactor: &Redactor,
) -> io::Result<Journal> {
    let salt = format!("{:016x}", RandomState::new().hash_one(dir.id()));
    let print = fingerprint(scenario, &salt);
    let (mut variables, mut secrets) = (BTreeMap::new(), BTreeMap::new());
    let declared = scenario.variables.iter();
    let mut used: HashSet<&str> = declared.map(|variable| &*variable.name).collect();
    scenario.for_each_placeholder(&mut |placeholder| {
        used.insert(&placeholder.reference.name);
    });
    for (name, value, is_secret) in bindings.iter().filter(|(name, ..)| used.contains(name)) {
        let mut shown = serde_json::json!({ name: value });
        mask_credentials(&mut shown);
        redactor.json(&mut shown);
        match !is_secret && shown[name] == *value {
            true => {
                variables.insert(name.to_owned(), value.clone());
            }
            false => {
                secrets.insert(name.to_owned(), secret_hash(&salt, value));
            }
        }
    }
    let header = record(&Record::<&StepFinished>::Run(Box::new(JournalHeader {
        journal: VERSION,
        start: *range.start(),
        end: *range.end(),
        salt,
        steps: print.steps,
        groups: scenario
            .groups()
            .filter_map(|group| Some((group.first()?.number, group.last()?.number)))
            .collect(),
        rest: print.rest,
        variables,
        secrets,
    })))?;
    Journal::create(dir, |file| file.write_all(&header))
}

fn record(record: &Record<&StepFinished>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

fn secret_hash(salt: &str, value: &Json) -> String {
    let mut hash = [0_u8; 16];
    let text = as_text(value);
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA256,
        ITERATIONS,
        salt.as_bytes(),
        text.as_bytes(),
        &mut hash,
    );
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
