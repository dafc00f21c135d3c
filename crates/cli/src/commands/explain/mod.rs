//! `cuecard explain`: what a code means; what a timeline does, when, and in which player; which timeline is chosen.

mod describe;
mod document;
mod rows;
mod selection;
mod text;

use std::path::{Path, PathBuf};

use cuecard_report::diagnostics::list_to_json;
use cuecard_runner::check::timeline;
use cuecard_runtime::timelines::{self, none_tagged, without_data};
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::value::Redactor;
use cuecard_timeline::format::{SymbolUse, Symbols, check_names};
use cuecard_timeline::model::Timeline;
use cuecard_timeline::script::{LlmScript, PlayerKind, Selector, Speed};
use serde_json::json;

use super::plain;
use crate::args::ExplainArgs;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::Output;

/// A timeline that is explained.
struct Explained {
    file: String,
    script: Option<LlmScript>,
    symbols: Vec<SymbolUse>,
    beside: Vec<PathBuf>,
    diagnostics: Vec<Diagnostic>,
}

/// How it is shown.
struct View<'a> {
    symbols: &'a Symbols,
    speed: Speed,
    player: Option<PlayerKind>,
}

pub(crate) fn run(args: &ExplainArgs, context: &Context) -> Result<ExitCode, Stop> {
    let is_about_files = args.prompt.is_some() || args.what.iter().any(|what| is_path(what));
    if !is_about_files {
        return codes_of(args, &context.output);
    }
    let output = &context.output;
    let symbols = inputs::symbols(&args.symbols, &context.environment).map_err(Stop::invalid)?;
    let (mut all, mut problems) = read_all(args, &symbols);
    let mut exit = ExitCode::Passed;
    let in_files = all.iter_mut().map(|explained| &mut explained.diagnostics);
    for diagnostics in in_files.chain([&mut problems]) {
        // Who asks which one is chosen didn't ask for remarks about the others.
        diagnostics.retain(|found| args.prompt.is_none() || found.severity > Severity::Note);
        let found = std::mem::take(diagnostics).into_iter();
        *diagnostics = found.map(|found| found.strictly(args.strict)).collect();
        if any_error(diagnostics) {
            exit = ExitCode::Invalid;
        }
        output.diagnostics(diagnostics);
    }
    let view = View {
        symbols: &symbols,
        speed: Speed::new(args.speed.speed, 0.0).unwrap_or(Speed::AS_WRITTEN),
        player: args.player,
    };
    let told = match &args.prompt {
        Some(prompt) => selection::tell(prompt, args, &all, output),
        None => {
            print(&view, &all, output);
            ExitCode::Passed
        }
    };
    Ok(exit.worst(told))
}

/// A code has no ending, and no file is called like one.
fn is_path(what: &Path) -> bool {
    what.as_os_str() == "-"
        || what.exists()
        || what.extension().is_some()
        || what.components().count() > 1
}

fn codes_of(args: &ExplainArgs, output: &Output) -> Result<ExitCode, Stop> {
    let of_timelines = [
        ("--tag", !args.tagged.tags.is_empty()),
        ("--player", args.player.is_some()),
        ("--speed", args.speed.speed != 1.0),
        ("--strict", args.strict),
        ("--define", !args.symbols.defines.is_empty()),
    ];
    let misplaced: Vec<Diagnostic> = of_timelines
        .into_iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(option, _)| {
            Diagnostic::error(codes::ARGUMENT, format!("`{option}` is for timelines"))
                .with_help("name a timeline or a directory of timelines, or remove the option")
        })
        .collect();
    if !misplaced.is_empty() {
        return Err(Stop::invalid(misplaced));
    }
    if args.what.is_empty() {
        plain::list_codes("", output);
    }
    let names = args.what.iter().map(|name| name.to_string_lossy());
    let exits = names.map(|name| plain::explain(&name, output));
    Ok(exits.fold(ExitCode::Passed, ExitCode::worst))
}

/// Reads all files. One that can't be used doesn't hide the others.
fn read_all(args: &ExplainArgs, symbols: &Symbols) -> (Vec<Explained>, Vec<Diagnostic>) {
    let (files, problems) = timelines::files(&args.what, timelines::TIMELINES);
    let read = files.into_iter().map(|file| {
        let explained = read(&file.path, symbols);
        (file, explained)
    });
    let mut all = without_data(read.collect(), |explained| &explained.beside);
    let mut problems: Vec<Diagnostic> = problems.into_iter().map(|(_, found)| found).collect();
    let tags = &args.tagged.tags;
    // What can't be read may have any tag.
    let has_tag = |script: &LlmScript| script.timeline.has_tag_of(tags);
    all.retain(|explained| explained.script.as_ref().is_none_or(has_tag));
    if all.is_empty() && problems.is_empty() && !tags.is_empty() {
        problems.push(none_tagged(tags));
    }
    let scripts = all.iter().filter_map(|explained| explained.script.as_ref());
    let timelines: Vec<&Timeline> = scripts.map(|script| &*script.timeline).collect();
    problems.extend(check_names(timelines.iter().copied()));
    problems.extend(Selector::same_prompt(timelines));
    (all, problems)
}

fn read(path: &Path, symbols: &Symbols) -> Explained {
    let file = path.display().to_string();
    match inputs::read_source(path) {
        Ok(source) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            let read = timeline(&source, folder, symbols);
            Explained {
                file,
                script: read.script,
                symbols: read.symbols,
                beside: read.beside,
                diagnostics: read.diagnostics,
            }
        }
        Err(diagnostic) => Explained {
            file,
            script: None,
            symbols: Vec::new(),
            beside: Vec::new(),
            diagnostics: vec![diagnostic],
        },
    }
}

fn print(view: &View<'_>, all: &[Explained], output: &Output) {
    let document = || {
        let documents = all.iter().map(|it| document::document(it, view));
        json!({"timelines": documents.collect::<Vec<_>>()})
    };
    output.result(&Redactor::default(), document, |style| {
        let scripts = all.iter().filter_map(|it| Some((it, it.script.as_ref()?)));
        let texts = scripts.map(|(explained, script)| text::text(explained, script, view, style));
        texts.collect::<Vec<_>>().join("\n")
    });
}

/// What was found in a file, for machines.
fn findings(explained: &Explained) -> serde_json::Value {
    let is_valid = !explained
        .diagnostics
        .iter()
        .any(|found| found.severity == Severity::Error);
    json!({
        "file": explained.file,
        "valid": is_valid && explained.script.is_some(),
        "diagnostics": list_to_json(&explained.diagnostics),
    })
}
