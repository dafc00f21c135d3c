//! `cuecard convert`: a scenario of an older version as version 2.1, a timeline in canonical form. Steps of a browser
//! become something else altogether.

use std::path::Path;

use cuecard_browser_steps::format as browser;
use cuecard_browser_steps::format::export::{ToolCallServer, to_playwright, to_tool_call};
use cuecard_report::diagnostics::list_to_json;
use cuecard_runner::prepare::partial;
use cuecard_runtime::timelines::is_timeline;
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Code, Diagnostic, Severity, any_error, codes};
use cuecard_timeline::format::{self as timeline, Symbols};
use cuecard_tool_call::format as tool_call;
use serde_json::json;

use crate::args::{ConvertArgs, ExportForm};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::read_source;
use crate::output::{self, counted, stderr_line, stdout};
use crate::output_files::write_new;

/// A scenario after its conversion.
struct Converted {
    /// The text as it should be.
    text: String,
    /// What the text is, for messages.
    form: &'static str,
    /// How many older forms are left, since they can't be converted without a guess.
    n_left: usize,
    /// Whether it differs from what was given.
    is_changed: bool,
    diagnostics: Vec<Diagnostic>,
}

pub(crate) fn run(args: &ConvertArgs, context: &Context) -> Result<ExitCode, Stop> {
    let result = convert(args).and_then(|converted| {
        let written = write(args, &converted)?;
        Ok((converted, written))
    });
    let refused = |stop: &Stop| {
        json!({
            "file": args.file.display().to_string(),
            "valid": false,
            "diagnostics": list_to_json(&stop.diagnostics),
        })
    };
    let (converted, written) = result.map_err(|stop| stop.with_document(refused))?;
    context.output.diagnostics(&converted.diagnostics);
    finish(args, &converted, written);
    Ok(ExitCode::Passed)
}

fn convert(args: &ConvertArgs) -> Result<Converted, Stop> {
    let source = read_source(&args.file).map_err(Stop::invalid)?;
    if args.in_place && args.file == Path::new("-") {
        let help = "omit it to print the result, or write to a file with --output FILE";
        return Err(Stop::argument(
            "`--in-place` can't be used with stdin",
            help,
        ));
    }
    if let Some(form) = args.to {
        return export(&source, form, args);
    }
    if is_timeline(&source) {
        return convert_timeline(&source);
    }
    if kind_of(&source) == Some(FileKind::BrowserSteps) {
        let message = "the file already contains browser steps";
        let help =
            "choose a target format: --to tool-call --server chrome-devtools, or --to playwright";
        return Err(Stop::refused(codes::FILE_KIND, message, help));
    }
    let reading = tool_call::read(&source);
    if any_error(&reading.diagnostics) {
        return Err(Stop::invalid(reading.diagnostics));
    }
    let is_changed = reading.converted.is_some();
    let text = reading
        .converted
        .unwrap_or_else(|| source.text().to_owned());
    Ok(Converted {
        diagnostics: left_over(reading.diagnostics, is_changed),
        is_changed,
        text,
        form: "version 2.1",
        n_left: 0,
    })
}

/// Browser steps in another notation.
fn export(source: &SourceFile, form: ExportForm, args: &ConvertArgs) -> Result<Converted, Stop> {
    let reading = browser::read_steps(source);
    let Some(steps) = reading.steps else {
        return Err(Stop::invalid(reading.diagnostics));
    };
    if let Some(partial) = partial(&steps).filter(|_| !args.allow_partial) {
        let partial = partial.with_help("use the incomplete steps with --allow-partial");
        return Err(Stop::invalid(partial));
    }
    let (exported, form) = match form {
        ExportForm::Playwright => (to_playwright(&steps, source), "a test for @playwright/test"),
        ExportForm::ToolCall => {
            let form = match args.server {
                ToolCallServer::ChromeDevtools => "a scenario for chrome-devtools-mcp",
                ToolCallServer::Playwright => "a scenario for @playwright/mcp",
            };
            (to_tool_call(&steps, source, args.server), form)
        }
    };
    let mut diagnostics = reading.diagnostics;
    diagnostics.extend(exported.warnings);
    Ok(Converted {
        text: exported.text,
        form,
        n_left: 0,
        is_changed: true,
        diagnostics,
    })
}

fn convert_timeline(source: &SourceFile) -> Result<Converted, Stop> {
    let symbols = Symbols::new();
    let reading = timeline::read(source, &symbols);
    if any_error(&reading.diagnostics) {
        return Err(Stop::invalid(reading.diagnostics));
    }
    let converted = reading.converted;
    // What is still to be said is said of the new text, and points into the old one.
    let (text, diagnostics) = match &converted {
        Some(converted) => {
            let again = timeline::read(converted, &symbols);
            (converted.text(), again.diagnostics)
        }
        None => (source.text(), reading.diagnostics),
    };
    if any_error(&diagnostics) {
        return Err(Stop::invalid(diagnostics));
    }
    Ok(Converted {
        is_changed: converted.is_some(),
        text: text.to_owned(),
        form: "a timeline in canonical form",
        n_left: diagnostics
            .iter()
            .filter(|found| OLDER_FORMS.contains(&found.code))
            .count(),
        diagnostics,
    })
}

/// What says that a timeline has an older form.
const OLDER_FORMS: [Code; 8] = [
    codes::TIMELINE_MARKER_OFF,
    codes::TIMELINE_LEGACY_EVENT,
    codes::TIMELINE_INLINE_TOOL,
    codes::TIMELINE_KEY_ALIAS,
    codes::TIMELINE_TOOL_ALIAS,
    codes::TIMELINE_MISPLACED,
    codes::TIMELINE_VALUE_ALIAS,
    codes::TIMELINE_FORM,
];

/// What is still to be said once the file is converted.
fn left_over(diagnostics: Vec<Diagnostic>, is_changed: bool) -> Vec<Diagnostic> {
    let is_done = |diagnostic: &Diagnostic| {
        is_changed && [codes::VERSION, codes::VERSION_LEGACY].contains(&diagnostic.code)
    };
    diagnostics
        .into_iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error || !is_done(diagnostic))
        .collect()
}

/// Writes the result where it belongs, and says where that is, or nothing if nothing had to be written.
fn write<'a>(args: &'a ConvertArgs, converted: &Converted) -> Result<Option<&'a Path>, Stop> {
    let path = match (&args.output, args.in_place) {
        (Some(path), _) => path,
        (None, true) if converted.is_changed => &args.file,
        _ => return Ok(None),
    };
    write_new(path, &converted.text, args.force || args.output.is_none())?;
    Ok(Some(path))
}

fn finish(args: &ConvertArgs, converted: &Converted, written: Option<&Path>) {
    let file = args.file.display().to_string();
    if args.json {
        let document = json!({
            "file": file,
            "valid": true,
            "changed": converted.is_changed,
            "written": written.map(|path| path.display().to_string()),
            "text": converted.text,
            "diagnostics": list_to_json(&converted.diagnostics),
        });
        return output::document(&document);
    }
    if args.output.is_none() && !args.in_place {
        stdout(&converted.text);
    }
    let shown = match args.file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file,
    };
    let form = converted.form;
    if converted.n_left > 0 {
        let forms = counted(converted.n_left, "older form");
        let done = match converted.is_changed {
            true => "partially converted",
            false => "nothing can be converted",
        };
        let place = written.map_or_else(String::new, |path| format!(" in {}", path.display()));
        stderr_line(&format!("{shown}: {done}{place}, {forms} left"));
        return;
    }
    stderr_line(&match (converted.is_changed, written) {
        (false, None) => format!("{shown}: nothing to do, it is already {form}"),
        (true, None) => format!("{shown}: converted to {form}"),
        (true, Some(_)) if args.in_place => format!("{shown}: rewritten as {form}"),
        (true, Some(path)) => {
            format!("{shown}: converted to {form}, in {}", path.display())
        }
        (false, Some(path)) => format!(
            "{shown}: nothing to do, it is already {form}; copied to {}",
            path.display()
        ),
    });
}
