//! The results and reports of `play`, on standard output and in files.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cuecard_report::PlayTotals;
use cuecard_report::browser_html::{BrowserEnd, BrowserHtml, BrowserStep};
use cuecard_report::junit::{self, JunitReport, JunitSuite};
use cuecard_report::play_html::PlayHtml;
use cuecard_report::play_index::{IndexEntry, write_index};
use cuecard_report::play_json::{IncludeResults, PlayJson};
use cuecard_runtime::tap::Listener;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::{Json, Redactor, without_credentials};
use cuecard_trace::{Event, EventData};

use crate::args::PlayArgs;
use crate::context::Stop;
use crate::inputs::io_reason;
use crate::output::{Output, stderr_line};
use crate::output_files::{self, ResultFile};

/// A report of what was played, to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// For machines that know tests.
    Junit(PathBuf),
    /// For people; of browser steps with pictures.
    Html(PathBuf),
}

impl Report {
    /// The kind and file of `--report KIND:FILE`.
    pub(super) fn parse(report: &str) -> Result<Self, Diagnostic> {
        Ok(match output_files::report(report, &["junit", "html"])? {
            ("html", file) => Self::Html(file.into()),
            (_, file) => Self::Junit(file.into()),
        })
    }
}

/// Writes the reports on a run that did not begin: why it did not. The problems that come of it.
pub(super) fn of_refusal(args: &PlayArgs, stop: &Stop, document: &Json) -> Vec<Diagnostic> {
    let found = &stop.diagnostics;
    let files: Vec<String> = args
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    // A variable in the place of a file has its value.
    let files = without_credentials(&files.join(" ")).into_owned();
    let write = |path: &Path, write: &dyn Fn(&mut File) -> io::Result<()>| {
        // What was not removed before the run is no result of ours.
        match path.is_file() {
            true => Ok(()),
            false => output_files::write_with(path, write),
        }
    };
    let reports = args
        .reports
        .iter()
        .filter_map(|report| Report::parse(report).ok());
    let reports = reports.map(|report| match report {
        Report::Junit(path) => write(&path, &|file| {
            let told = found.iter().map(|found| match &found.place {
                Some(place) if place.source.name() != files => {
                    format!("{}: {}", place.source.name(), found.message)
                }
                _ => found.message.clone(),
            });
            let told: Vec<String> = told.collect();
            let codes = found.iter().map(|found| found.code.name());
            let reasons = codes.zip(told.iter().map(String::as_str));
            let suite = JunitSuite::refused(&files, reasons);
            junit::write("cuecard play", [suite], Duration::ZERO, file)
        }),
        Report::Html(path) => write(&path, &|file| {
            let entry = IndexEntry {
                file: files.clone(),
                status: super::status(stop.exit),
                error: document["error"].as_str().map(str::to_owned),
                page: None,
            };
            write_index([entry], Duration::ZERO, file)
        }),
    });
    let output = args.output.iter();
    let output = output.map(|path| write(path, &|file| writeln!(file, "{document:#}")));
    reports.chain(output).filter_map(Result::err).collect()
}

/// What the reports on several files say of one of them.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Its document.
    pub json: Vec<u8>,
    /// Its suite.
    pub suite: Option<JunitSuite>,
    /// Why it did not pass.
    pub error: Option<String>,
}

/// A part that a run fills in, perhaps on another thread.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedPart(Arc<Mutex<Part>>);

impl SharedPart {
    /// Changes the part.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Part) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes what was filled in.
    pub(super) fn take(&self) -> Part {
        self.with(std::mem::take)
    }
}

impl Write for SharedPart {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|part| part.json.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What reports are about.
pub(super) struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// The file that it was read from.
    pub file: &'a str,
    /// How many steps are in range.
    pub total: usize,
    /// The report for machines that know tests, begun.
    pub junit: JunitReport,
    /// Where browser steps begin, whose page has pictures; none of a tool-call scenario.
    pub url: Option<&'a str>,
    /// Which results the JSON has.
    pub include: IncludeResults,
}

type Out = BufWriter<Box<dyn Write>>;

/// A report that is being written.
enum Open {
    Json(PlayJson<Out>),
    Junit(JunitReport, Out),
    JunitPart(JunitReport),
    Calls(PlayHtml, Out),
    Steps(BrowserHtml<Out>),
}

struct Shared {
    all: Vec<Open>,
    name: String,
    url: String,
    part: Option<SharedPart>,
    /// The files.
    files: Vec<ResultFile>,
    error: Option<io::Error>,
}

impl Shared {
    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }
}

/// The reports of a run, told by its events.
#[derive(Clone)]
pub(super) struct Reports(Rc<RefCell<Shared>>);

impl Reports {
    /// Opens the files, so that a run that can't be reported doesn't begin.
    pub(super) fn begin(
        args: &PlayArgs,
        subject: &Subject<'_>,
        wanted: &[Report],
        part: Option<SharedPart>,
    ) -> Result<Self, Diagnostic> {
        let json = |out: Box<dyn Write>| {
            let out = BufWriter::with_capacity(64 << 10, out);
            PlayJson::begin(out, subject.include, subject.name, subject.total).map(Open::Json)
        };
        let mut files = Vec::new();
        let mut open = |path: &Path| -> Result<Box<dyn Write>, Diagnostic> {
            let file = ResultFile::create(path)?;
            files.push(file.again().map_err(|error| unwritable(&error))?);
            Ok(Box::new(file))
        };
        let mut all = Vec::new();
        match &part {
            Some(part) if args.json || args.output.is_some() => {
                all.push(json(Box::new(part.clone())));
            }
            Some(_) => {}
            None => {
                if args.json {
                    all.push(json(Box::new(io::stdout())));
                }
                if let Some(path) = &args.output {
                    all.push(json(open(path)?));
                }
            }
        }
        let mut file = |path: &Path| -> Result<Out, Diagnostic> {
            Ok(BufWriter::with_capacity(256 << 10, open(path)?))
        };
        for report in wanted {
            all.push(match (report, subject.url) {
                (Report::Junit(_), _) if part.is_some() => {
                    Ok(Open::JunitPart(subject.junit.clone()))
                }
                (Report::Junit(path), _) => Ok(Open::Junit(subject.junit.clone(), file(path)?)),
                (Report::Html(path), None) => {
                    let page = PlayHtml::new(subject.name, subject.file);
                    Ok(Open::Calls(page, file(path)?))
                }
                (Report::Html(path), Some(_)) => BrowserHtml::begin(file(path)?).map(Open::Steps),
            });
        }
        let all: io::Result<Vec<Open>> = all.into_iter().collect();
        Ok(Self(Rc::new(RefCell::new(Shared {
            all: all.map_err(|error| unwritable(&error))?,
            name: subject.name.to_owned(),
            url: subject.url.unwrap_or_default().to_owned(),
            part,
            files,
            error: None,
        }))))
    }

    /// Takes note of a step in a browser, of which events don't tell all.
    pub(super) fn step(&self, step: &BrowserStep, redactor: &Redactor) {
        let shared = &mut *self.0.borrow_mut();
        let mut pages = shared.all.iter_mut().filter_map(|report| match report {
            Open::Steps(page) => Some(page),
            _ => None,
        });
        let written = pages.try_for_each(|page| page.step(step, redactor));
        shared.note(written);
    }

    /// Writes what comes last.
    pub(super) fn end(
        &self,
        totals: &PlayTotals,
        started: jiff::Timestamp,
        redactor: &Redactor,
    ) -> Result<(), Diagnostic> {
        let shared = &mut *self.0.borrow_mut();
        if let Some(part) = &shared.part {
            part.with(|part| part.error.clone_from(&totals.error));
        }
        for report in std::mem::take(&mut shared.all) {
            let written = match report {
                Open::JunitPart(junit) => {
                    if let Some(part) = &shared.part {
                        let suite = junit.finish(totals);
                        part.with(|part| part.suite = Some(suite));
                    }
                    Ok(())
                }
                Open::Json(json) => json.end(totals).map(drop),
                Open::Junit(junit, mut out) => {
                    let suite = [junit.finish(totals)];
                    junit::write(&shared.name, suite, totals.took, &mut out)
                        .and_then(|()| out.flush())
                }
                Open::Calls(page, mut out) => {
                    page.write(totals, &mut out).and_then(|()| out.flush())
                }
                Open::Steps(page) => {
                    let end = BrowserEnd {
                        name: &shared.name,
                        url: &shared.url,
                        verdict: totals.verdict,
                        summary: totals.summary,
                        failure: totals.error.as_deref(),
                        started,
                        took: totals.took,
                    };
                    page.end(&end, redactor).and_then(|mut out| out.flush())
                }
            };
            shared.note(written);
        }
        let whole = shared.files.iter_mut().try_for_each(ResultFile::check);
        shared.note(whole);
        match shared.error.take() {
            Some(error) => Err(unwritable(&error)),
            None => Ok(()),
        }
    }
}

impl Listener for Reports {
    fn event(&mut self, event: &Event) {
        let shared = &mut *self.0.borrow_mut();
        let mut written = Ok(());
        for report in &mut shared.all {
            match report {
                Open::Json(json) => written = written.and(json.event(event)),
                Open::Junit(junit, _) | Open::JunitPart(junit) => {
                    if let EventData::StepFinished(step) = &event.data {
                        junit.step(step);
                    }
                }
                Open::Calls(page, _) => {
                    page.event(event);
                    if let EventData::Screenshot(screenshot) = &event.data {
                        for file in &screenshot.files {
                            let content = std::fs::read(file).unwrap_or_default();
                            page.screenshot(&screenshot.label, file, &content);
                        }
                    }
                }
                Open::Steps(_) => {}
            }
        }
        shared.note(written);
    }

    fn settle(&mut self) {
        let shared = &mut *self.0.borrow_mut();
        let mut written = Ok(());
        for report in &mut shared.all {
            if let Open::Json(json) = report {
                written = written.and(json.flush());
            }
        }
        shared.note(written);
    }
}

/// Names the files of the reports, once they are written.
pub(super) fn name_reports(args: &PlayArgs, output: &Output) {
    let files = args.reports.iter().filter_map(|it| it.split_once(':'));
    for (_, file) in files {
        stderr_line(&output.stderr.faint(&format!("report: {file}")));
    }
}

pub(super) fn unwritable(error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        codes::FILE_WRITE,
        format!("the result can't be written: {}", io_reason(error)),
    )
}
