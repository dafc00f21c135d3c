//! `play` of several files: one after the other or several at once, told in the order of the files whichever ends first,
//! with reports on all of them together.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cuecard_report::Style;
use cuecard_report::junit::{self, JunitSuite};
use cuecard_report::play_index::{IndexEntry, write_index};
use cuecard_runtime::clock::Clock;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use futures::StreamExt as _;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::options::Options;
use super::reports::{Part, Report, SharedPart, name_reports, unwritable};
use super::{Ready, not_run, prepare, status};
use crate::args::{PlayArgs, VariableArgs};
use crate::asynchronous::asynchronously;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{
    Output, Printed, counted, document, keeping_printed, keeping_printed_of, stderr_line,
};
use crate::output_files::ResultFile;

/// What reports say of a file that was left out since the run was interrupted.
const NOT_PLAYED: &str = "not played";

/// The same of a file that is right.
const OTHERS_HAVE_ERRORS: &str = "not played, since other files have errors";

/// Plays the files.
pub(super) fn play(
    args: &PlayArgs,
    mut options: Options,
    files: &[PathBuf],
    context: &Context,
) -> Result<ExitCode, Stop> {
    let variables = inputs::with_json_files(&options.variables);
    options.variables = variables.map_err(Stop::invalid)?;
    let options = &options;
    let summary = Summary::begin(args, options, files);
    let mut summary = summary.map_err(Stop::could_not_run)?;
    let given = &options.variables;
    let has_names = !(given.variables.is_empty()
        && given.json_variables.is_empty()
        && given.secrets.is_empty());
    let texts = files.iter().filter(|_| has_names);
    let texts = texts.map(|file| inputs::read_source(file).ok());
    let texts: Vec<String> = texts
        .map(|source| source.map_or_else(String::new, |source| source.text().to_owned()))
        .collect();
    let session = Session {
        args,
        options,
        files,
        texts: &texts,
        context,
    };
    // Before anything is played, since it may ask for secrets.
    let waiting = (0..files.len()).map(|idx| keeping_printed(|| session.prepare(idx)));
    let mut waiting: Vec<_> = waiting.collect();
    // What is only looked at is looked at in any case.
    if !args.dry_run && waiting.iter().any(|(waiting, _)| waiting.has_errors()) {
        for (waiting, _) in &mut waiting {
            if waiting.ready.is_ok() {
                waiting.ready = Err(None);
            }
        }
    }
    let ended = asynchronously(async |stop| {
        let jobs = args.jobs.get();
        let plays = waiting.into_iter().enumerate();
        let plays = plays.map(|(idx, waiting)| session.play(idx, waiting, jobs > 1, &stop));
        let mut plays = futures::stream::iter(plays).buffered(jobs);
        while let Some(Some(done)) = plays.next().await {
            done.printed.print();
            summary.add(done.exit, done.part);
        }
        match stop.is_cancelled() {
            true => ExitCode::Interrupted,
            false => ExitCode::Passed,
        }
    });
    let ended = ended.unwrap_or_else(|exit| exit);
    Ok(summary.end(ended, &context.output))
}

/// What all runs have in common.
#[derive(Clone, Copy)]
struct Session<'a> {
    args: &'a PlayArgs,
    options: &'a Options,
    files: &'a [PathBuf],
    /// The texts of the files, if there are variables to look for in them.
    texts: &'a [String],
    context: &'a Context,
}

/// A file before it is played: the part of the reports that is its own, and what to play or why not. A file that is right
/// has no reason of its own.
struct Waiting {
    part: SharedPart,
    ready: Result<Ready, Option<Stop>>,
}

impl Waiting {
    /// Whether the file has errors, which are more than a value that is missing.
    fn has_errors(&self) -> bool {
        let is_of_file = |found: &Diagnostic| {
            found.severity == Severity::Error && found.code != codes::VARIABLE_MISSING
        };
        let stopped = self.ready.as_ref().err().and_then(Option::as_ref);
        stopped.is_some_and(|stop| {
            stop.exit == ExitCode::Invalid && stop.diagnostics.iter().any(is_of_file)
        })
    }
}

/// What came of a file.
struct Done {
    exit: Option<ExitCode>,
    part: Part,
    /// What is to be shown in its turn.
    printed: Printed,
}

impl Session<'_> {
    /// Plays a file, unless the run is stopped. One of several at once is shown when its turn comes.
    async fn play(
        &self,
        idx: usize,
        (waiting, before): (Waiting, Printed),
        is_one_of_several: bool,
        stop: &CancellationToken,
    ) -> Option<Done> {
        if stop.is_cancelled() {
            return None;
        }
        let mut context = self.context.clone();
        context.output.is_live &= !is_one_of_several;
        let Waiting { part, ready } = waiting;
        let playing = async {
            match ready {
                Ok(ready) => {
                    before.print();
                    Some(ready.play(self.args, &context, stop).await)
                }
                Err(stopped) => self.refused(idx, stopped, before, &part),
            }
        };
        let (exit, printed) = match is_one_of_several {
            true => keeping_printed_of(playing).await,
            false => (playing.await, Printed::default()),
        };
        Some(Done {
            exit,
            part: part.take(),
            printed,
        })
    }

    fn prepare(&self, idx: usize) -> Waiting {
        let part = SharedPart::default();
        let reports = self.options.reports.iter().map(|report| match report {
            Report::Html(index) => Report::Html(page(index, self.files, idx)),
            Report::Junit(file) => Report::Junit(file.clone()),
        });
        let options = Options {
            reports: reports.collect(),
            part: Some(part.clone()),
            variables: self.variables(idx),
            ..self.options.clone()
        };
        let ready = prepare(self.args, options, &self.files[idx], self.context);
        Waiting {
            part,
            ready: ready.map_err(Some),
        }
    }

    /// The variables for a file: without those that are not in its text, and in that of another one.
    fn variables(&self, idx: usize) -> VariableArgs {
        let is_for_it = |pair: &String| {
            let name = pair.split('=').next().unwrap_or_default().trim();
            let mut others = self.texts.iter();
            has_word(&self.texts[idx], name) || !others.any(|text| has_word(text, name))
        };
        let mut variables = self.options.variables.clone();
        variables.variables.retain(is_for_it);
        variables.json_variables.retain(is_for_it);
        variables.secrets.retain(is_for_it);
        variables
    }

    /// Says why a file is not played, if that is its own fault.
    fn refused(
        &self,
        idx: usize,
        stopped: Option<Stop>,
        before: Printed,
        part: &SharedPart,
    ) -> Option<ExitCode> {
        let (document, exit) = match &stopped {
            Some(stopped) => {
                before.print();
                self.context.output.diagnostics(&stopped.diagnostics);
                (not_run(stopped), Some(stopped.exit))
            }
            None => {
                let document =
                    json!({"success": false, "status": "not_played", "error": OTHERS_HAVE_ERRORS});
                (document, None)
            }
        };
        let diagnostics = stopped.iter().flat_map(|stop| &stop.diagnostics);
        let reasons = diagnostics.map(|found| (found.code.name(), found.message.as_str()));
        let left_out = exit.is_none().then_some(("", OTHERS_HAVE_ERRORS));
        let file = shown(&self.files[idx]);
        part.with(|part| {
            part.error = document["error"].as_str().map(str::to_owned);
            part.json = format!("{document:#}\n").into_bytes();
            part.suite = Some(JunitSuite::refused(&file, reasons.chain(left_out)));
        });
        exit
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word)
    })
}

/// The page of a file, in a folder beside the index that is called like it.
fn page(index: &Path, files: &[PathBuf], idx: usize) -> PathBuf {
    let name = files[idx].file_stem().unwrap_or_default().to_string_lossy();
    let digits = files.len().to_string().len();
    pages(index).join(format!("{:0digits$}-{name}.html", idx + 1))
}

fn pages(index: &Path) -> PathBuf {
    match index.extension() {
        Some(_) => index.with_extension(""),
        None => index.with_extension("pages"),
    }
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// The reports on all files, and how each ended.
struct Summary<'a> {
    args: &'a PlayArgs,
    files: &'a [PathBuf],
    clock: Clock,
    /// Nothing for one that was left out.
    exits: Vec<Option<ExitCode>>,
    errors: Vec<Option<String>>,
    /// What the JSON document says of each.
    documents: Vec<Json>,
    /// Its file.
    json: Option<ResultFile>,
    suites: Vec<JunitSuite>,
    reports: Vec<(Report, ResultFile)>,
}

impl<'a> Summary<'a> {
    /// Opens the files, so that a run that can't be reported doesn't begin.
    fn begin(
        args: &'a PlayArgs,
        options: &Options,
        files: &'a [PathBuf],
    ) -> Result<Self, Diagnostic> {
        let reports = options.reports.iter().map(|report| {
            let (Report::Junit(path) | Report::Html(path)) = report;
            Ok((report.clone(), ResultFile::create(path)?))
        });
        Ok(Self {
            args,
            files,
            clock: Clock::start(),
            exits: Vec::new(),
            errors: Vec::new(),
            documents: Vec::new(),
            json: args.output.as_deref().map(ResultFile::create).transpose()?,
            suites: Vec::new(),
            reports: reports.collect::<Result<_, Diagnostic>>()?,
        })
    }

    /// Takes note of what came of the next file.
    fn add(&mut self, exit: Option<ExitCode>, part: Part) {
        let mut document = json!({"file": shown(&self.files[self.exits.len()])});
        // Nobody wants one if there is none.
        let own = serde_json::from_slice(&part.json).unwrap_or_default();
        if let (Json::Object(document), Json::Object(mut own)) = (&mut document, own) {
            document.append(&mut own);
        }
        self.documents.push(document);
        self.suites.extend(part.suite);
        self.errors.push(part.error);
        self.exits.push(exit);
        if exit.is_some() {
            stderr_line("");
        }
    }

    /// Writes the reports, and says how many passed.
    fn end(mut self, ended: ExitCode, output: &Output) -> ExitCode {
        let exits = self.exits.iter().flatten().copied();
        let exit = exits.fold(ended, ExitCode::worst);
        let whole = json!({
            "files": std::mem::take(&mut self.documents),
            "success": matches!(exit, ExitCode::Passed | ExitCode::Drifted),
            "status": status(exit),
            "duration": self.clock.now().as_secs_f64(),
            "summary": self.counts(),
        });
        if self.args.json {
            document(&whole);
        }
        let written = self.write_reports(&whole);
        output.summary(&self.line(exit, output.summary_style()));
        match written {
            Err(error) => {
                output.diagnostic(&unwritable(&error));
                exit.worst(ExitCode::CouldNotRun)
            }
            Ok(()) => {
                name_reports(self.args, output);
                exit
            }
        }
    }

    fn write_reports(&mut self, whole: &Json) -> io::Result<()> {
        if let Some(file) = &mut self.json {
            writeln!(file, "{whole:#}")?;
        }
        let took = self.clock.now();
        let not_played = &self.files[self.exits.len()..];
        let not_played = not_played
            .iter()
            .map(|file| JunitSuite::refused(&shown(file), [("", NOT_PLAYED)]));
        self.suites.extend(not_played);
        for (report, file) in &mut self.reports {
            match report {
                Report::Junit(_) => junit::write("cuecard play", self.suites.clone(), took, file)?,
                Report::Html(index) => {
                    let entries = (0..self.files.len()).map(|idx| {
                        let page = page(index, self.files, idx);
                        let folder = index.parent().unwrap_or(Path::new(""));
                        let link = page.strip_prefix(folder).unwrap_or(&page);
                        let exit = self.exits.get(idx).copied().flatten();
                        IndexEntry {
                            file: shown(&self.files[idx]),
                            status: exit.map_or(NOT_PLAYED, status),
                            error: self.errors.get(idx).cloned().flatten(),
                            page: page.is_file().then(|| shown(link)),
                        }
                    });
                    write_index(entries, took, file)?;
                }
            }
        }
        let reports = self.reports.iter_mut().map(|(_, file)| file);
        let mut files = self.json.iter_mut().chain(reports);
        files.try_for_each(ResultFile::check)
    }

    fn count(&self, wanted: ExitCode) -> usize {
        self.exits
            .iter()
            .filter(|exit| **exit == Some(wanted))
            .count()
    }

    fn count_not_played(&self) -> usize {
        self.files.len() - self.exits.iter().flatten().count()
    }

    fn counts(&self) -> Json {
        json!({
            "total": self.files.len(),
            "passed": self.count(ExitCode::Passed) + self.count(ExitCode::Drifted),
            "healed": self.count(ExitCode::Drifted),
            "failed": self.count(ExitCode::Failed),
            "blocked": self.count(ExitCode::CouldNotRun),
            "invalid": self.count(ExitCode::Invalid),
            "interrupted": self.count(ExitCode::Interrupted),
            "not_played": self.count_not_played(),
        })
    }

    /// `✗ failed: 3 files · 1 passed · 1 failed (b.json) · 1 not played`.
    fn line(&self, exit: ExitCode, style: Style) -> String {
        let word = match self.args.dry_run {
            true => "can be played",
            false => "passed",
        };
        let passed = self.count(ExitCode::Passed) + self.count(ExitCode::Drifted);
        let ended = self.files.iter().zip(&self.exits);
        let failed: Vec<String> = ended
            .filter_map(|(file, exit)| Some((file, (*exit)?)))
            .filter(|(_, exit)| status(*exit) != "passed" && *exit != ExitCode::Interrupted)
            .map(|(file, _)| shown(file))
            .collect();
        let files = counted(self.files.len(), "file");
        let mut facts = vec![files, style.good(&format!("{passed} {word}"))];
        let healed = self.count(ExitCode::Drifted);
        if healed > 0 {
            facts.push(format!("{healed} healed"));
        }
        if !failed.is_empty() {
            let names = failed.join(", ");
            facts.push(style.bad(&format!("{} failed ({names})", failed.len())));
        }
        let interrupted = self.count(ExitCode::Interrupted);
        if interrupted > 0 {
            facts.push(style.bad(&format!("{interrupted} interrupted")));
        }
        let not_played = self.count_not_played();
        if not_played > 0 {
            facts.push(format!("{not_played} not played"));
        }
        format!("{}: {}", exit.verdict(style), facts.join(style.dot()))
    }
}
