//! `--report KIND:FILE`: results go into files as they come.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_judge::TestResult;
use cuecard_report::html::HtmlReport;
use cuecard_report::test_github::annotate;
use cuecard_report::test_json::SummaryJson;
use cuecard_report::test_junit::TestJunitReport;
use cuecard_report::test_tap::TapReport;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_trace::Trace;

use crate::args::TestArgs;
use crate::inputs::io_reason;
use crate::output_files::{self, create};

const KINDS: [&str; 5] = ["html", "junit", "json", "tap", "github"];

/// The kind and the file of a report; no file is standard output.
pub(super) fn parse(report: &str, json: bool) -> Result<(&str, Option<PathBuf>), Diagnostic> {
    let (kind, file) = output_files::report(report, &KINDS)?;
    match file {
        "-" if json => {
            let message = format!("`--json` and `--report {report}` both write to stdout");
            Err(Diagnostic::error(codes::ARGUMENT, message))
        }
        "-" => Ok((kind, None)),
        file => Ok((kind, Some(PathBuf::from(file)))),
    }
}

type Out = BufWriter<Box<dyn Write>>;

/// The reports of a run.
pub(super) struct Reports {
    all: Vec<(Report, Option<PathBuf>)>,
    /// Whether one of them is standard output.
    pub takes_stdout: bool,
}

enum Report {
    Html(HtmlReport<Out>),
    Junit(TestJunitReport, Out),
    Json(SummaryJson<Out>),
    Tap(TapReport<Out>),
    Github(Out),
}

impl Reports {
    /// Opens the files, so that a run that can't be reported doesn't begin.
    pub(super) fn begin(
        args: &TestArgs,
        run_id: &str,
        summary: Option<&Path>,
    ) -> Result<Self, Diagnostic> {
        let mut wanted = Vec::new();
        for report in &args.reports {
            wanted.push(parse(report, args.json)?);
        }
        if args.json {
            wanted.push(("json", None));
        }
        if let Some(summary) = summary {
            wanted.push(("json", Some(summary.to_owned())));
        }
        let takes_stdout = wanted.iter().any(|(_, file)| file.is_none());
        let mut all = Vec::new();
        for (kind, file) in wanted {
            let out: Box<dyn Write> = match &file {
                Some(path) => Box::new(create(path)?),
                None => Box::new(io::stdout()),
            };
            let out = BufWriter::with_capacity(64 << 10, out);
            let report = match kind {
                "html" => Report::Html(HtmlReport::begin(out).map_err(|error| unwritable(&error))?),
                "junit" => Report::Junit(TestJunitReport::default(), out),
                "tap" => Report::Tap(TapReport::begin(out).map_err(|error| unwritable(&error))?),
                "github" => Report::Github(out),
                _ => Report::Json(
                    SummaryJson::begin(out, run_id).map_err(|error| unwritable(&error))?,
                ),
            };
            all.push((report, file));
        }
        Ok(Self { all, takes_stdout })
    }

    /// Takes note of a test that ended.
    pub(super) fn result(
        &mut self,
        result: &TestResult,
        trace: Option<&Trace>,
    ) -> Result<(), Diagnostic> {
        for (report, _) in &mut self.all {
            let written = match report {
                Report::Html(html) => html.result(result, trace),
                Report::Junit(junit, _) => {
                    junit.result(result);
                    Ok(())
                }
                Report::Json(json) => json.result(result),
                Report::Tap(tap) => tap.result(result),
                Report::Github(out) => annotate(result, out),
            };
            written.map_err(|error| unwritable(&error))?;
        }
        Ok(())
    }

    /// Writes what comes last, and names the files.
    pub(super) fn end(self, took: Duration) -> Result<Vec<PathBuf>, Diagnostic> {
        let mut files = Vec::new();
        for (report, file) in self.all {
            let written = match report {
                Report::Html(html) => html.end(took).and_then(|mut out| out.flush()),
                Report::Junit(junit, mut out) => {
                    junit.write(took, &mut out).and_then(|()| out.flush())
                }
                Report::Json(json) => json.end(took).and_then(|mut out| out.flush()),
                Report::Tap(tap) => tap.end().and_then(|mut out| out.flush()),
                Report::Github(mut out) => out.flush(),
            };
            written.map_err(|error| unwritable(&error))?;
            files.extend(file);
        }
        Ok(files)
    }
}

fn unwritable(error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        codes::FILE_WRITE,
        format!("a report can't be written: {}", io_reason(error)),
    )
}
