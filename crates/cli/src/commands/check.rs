//! `cuecard check`: errors, lint, and what a file would do. Runs nothing; with `--connect` it asks the servers.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cuecard_judge::model::TestCase;
use cuecard_judge::test_case;
use cuecard_mcp::ServerSpec;
use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_page::Snapshot;
use cuecard_replay::prepare::secrets;
use cuecard_replay::{Connected, Connections, Pool, known_servers};
use cuecard_report::diagnostics::list_to_json;
use cuecard_runner::prepare::environment_server;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::collect::FoundFile;
use cuecard_runtime::tap::Recorder;
use cuecard_runtime::timelines::none_tagged;
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::document::{Language, read_document};
use cuecard_source::json::{self, Limits};
use cuecard_source::value::Redactor;
use cuecard_timeline::format::{Symbols, check_names};
use cuecard_timeline::model::Timeline;
use cuecard_timeline::script::{LlmScript, Selector, timeline_effects};
use cuecard_tool_call::format::{self as tool_call, Effects, Scope, effects};
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::bind_variables;
use serde_json::{Value as Json, json};

use super::effects::{effects_json, effects_line, effects_list};
use super::{browser_files, connect, timelines};
use crate::args::CheckArgs;
use crate::asynchronous::asynchronously;
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{Output, stdout};
use crate::waiting::Waiting;

/// A file after checking.
struct Checked {
    file: String,
    scenario: Option<ToolCallScenario>,
    /// A test case instead.
    test: Option<TestCase>,
    /// Or a timeline.
    timeline: Option<LlmScript>,
    /// Or what a browser file would do.
    browser: Option<browser_files::BrowserPlan>,
    /// Files that the timeline refers to.
    beside: Vec<PathBuf>,
    diagnostics: Vec<Diagnostic>,
}

/// What the servers said.
#[derive(Default)]
struct ServerChecks {
    connected: Vec<Connected>,
    /// What must not be shown.
    redactor: Redactor,
}

impl Checked {
    fn new(file: String) -> Self {
        Self {
            file,
            scenario: None,
            test: None,
            timeline: None,
            browser: None,
            beside: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Whether it has one of the tags that were asked for. What can't be read may have any, other files have none.
    fn has_tag_of(&self, asked: &[String]) -> bool {
        match (&self.timeline, &self.test) {
            (Some(script), _) => script.timeline.has_tag_of(asked),
            (None, Some(case)) => case.has_tag_of(asked),
            (None, None) => asked.is_empty() || (self.scenario.is_none() && self.browser.is_none()),
        }
    }

    /// Brings the findings into the order of the file.
    fn finish(&mut self, strict: bool) {
        self.diagnostics.sort_by_key(|diagnostic| {
            diagnostic
                .place
                .as_ref()
                .map_or(0, |place| place.span.start)
        });
        if strict {
            for diagnostic in &mut self.diagnostics {
                if diagnostic.severity == Severity::Warning {
                    diagnostic.severity = Severity::Error;
                }
            }
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == severity)
            .count()
    }
}

pub(crate) fn run(
    args: &CheckArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let variables = match inputs::variables_of_file(args.env_file.as_ref(), environment) {
        Ok(variables) => variables,
        Err(diagnostics) => {
            output.diagnostics(&diagnostics, args.json, &Redactor::default());
            return ExitCode::Invalid;
        }
    };
    let symbols = match inputs::symbols(&args.symbols, environment) {
        Ok(symbols) => symbols,
        Err(diagnostics) => {
            output.diagnostics(&diagnostics, args.json, &Redactor::default());
            return ExitCode::Invalid;
        }
    };
    let snapshots = match snapshots(&args.snapshot) {
        Ok(snapshots) => snapshots,
        Err(diagnostics) => {
            output.diagnostics(&diagnostics, args.json, &Redactor::default());
            return ExitCode::Invalid;
        }
    };
    let (config, mut exit) = config(args, &variables.environment, output);
    let (files, problems) = timelines::files(&args.files);
    let with = With {
        config: &config,
        symbols: &symbols,
        snapshots: &snapshots,
        environment: &variables.environment,
    };
    let mut all = check_all(&files, args, &with);
    all.extend(problems.into_iter().map(|(folder, problem)| Checked {
        diagnostics: vec![problem],
        ..Checked::new(folder.display().to_string())
    }));
    if all.is_empty() && !args.tagged.tags.is_empty() {
        output.diagnostic(
            &none_tagged(&args.tagged.tags),
            args.json,
            &Redactor::default(),
        );
        return ExitCode::Invalid;
    }
    let mut asked = ServerChecks::default();
    // Without a config every server would be unknown.
    if args.connect && exit == ExitCode::Passed {
        asked = match ask(args, &variables, &config, environment, output, &mut all) {
            Ok(asked) => asked,
            Err(stop) => return stop,
        };
        connect::show(&asked.connected, output);
    }
    for scenario in all.iter().filter_map(|checked| checked.scenario.as_ref()) {
        asked.redactor.add(secrets(scenario, &[]));
    }
    let mut documents = Vec::new();
    for checked in &mut all {
        checked.finish(args.strict);
        exit = exit.worst(match args.connect {
            true => connect::exit_code(&checked.diagnostics),
            false if checked.count(Severity::Error) > 0 => ExitCode::Invalid,
            false => ExitCode::Passed,
        });
        output.diagnostics(&checked.diagnostics, args.json, &asked.redactor);
        if args.json {
            documents.push(document(checked, &config));
        } else {
            stdout(&asked.redactor.text(&line(checked, &config, output)));
        }
    }
    if args.json {
        let mut document = json!({"valid": exit == ExitCode::Passed, "files": documents});
        if args.connect {
            document["connected"] = connect::document(&asked.connected);
        }
        asked.redactor.json(&mut document);
        stdout(&format!("{document:#}\n"));
    }
    exit
}

/// What files are checked with.
struct With<'a> {
    config: &'a Config,
    symbols: &'a Symbols,
    /// Pages on which the element ids of scenarios may be known.
    snapshots: &'a [Snapshot],
    /// What says where a model is.
    environment: &'a BTreeMap<String, String>,
}

/// The snapshots in files: what a browser's server answered.
fn snapshots(paths: &[PathBuf]) -> Result<Vec<Snapshot>, Vec<Diagnostic>> {
    let (mut snapshots, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let source = match inputs::read_source(path) {
            Ok(source) => source,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let name = path.display();
        match Snapshot::read(source.text()) {
            Ok(snapshot) if !snapshot.elements.is_empty() => snapshots.push(snapshot),
            Ok(_) => problems.push(
                Diagnostic::error(codes::ARGUMENT, format!("`{name}` is not a page snapshot"))
                    .with_help("pass the text returned by `take_snapshot` or `browser_snapshot`"),
            ),
            Err(error) => problems.push(Diagnostic::error(
                codes::ARGUMENT,
                format!(
                    "the snapshot `{name}` has more than {} elements",
                    error.limit
                ),
            )),
        }
    }
    match problems.is_empty() {
        true => Ok(snapshots),
        false => Err(problems),
    }
}

/// Starts the servers that the files need, and adds what they say about the steps to the findings.
fn ask(
    args: &CheckArgs,
    variables: &inputs::Variables,
    config: &Config,
    environment: &[(OsString, OsString)],
    output: &Output,
    all: &mut [Checked],
) -> Result<ServerChecks, ExitCode> {
    let timeout = match inputs::seconds("--timeout", args.timeout) {
        Ok((timeout, warning)) => {
            output.diagnostics(warning.as_slice(), args.json, &Redactor::default());
            timeout
        }
        Err(diagnostic) => {
            output.diagnostic(&diagnostic, args.json, &Redactor::default());
            return Err(ExitCode::Invalid);
        }
    };
    let mut pool = Pool::new(config.clone(), environment.to_vec(), timeout);
    let scenarios = all.iter().filter_map(|checked| checked.scenario.as_ref());
    let names: BTreeSet<String> = scenarios
        .flat_map(|scenario| would_do(scenario, config).servers)
        .collect();
    let specs: Vec<ServerSpec> = names
        .iter()
        .filter_map(|name| pool.spec(name).ok())
        .collect();
    let mut recorder = Recorder::new(Clock::start(), Redactor::default());
    let mut connections = Connections::default();
    asynchronously(async |stop| {
        connect::announce(&specs);
        let mut waiting = Waiting::new(output, "starting", names);
        let asking = async {
            for checked in all {
                let Some(scenario) = &checked.scenario else {
                    continue;
                };
                recorder.add_secrets(secrets(scenario, &variables.given));
                // What has no value yet is not known, and that is all: nothing is played.
                let (bindings, _) = bind_variables(scenario, &variables.given);
                recorder.add_secrets(bindings.secrets());
                let steps = || 0..scenario.steps.len();
                connections
                    .open(scenario, steps(), &mut pool, &mut recorder)
                    .await;
                let found = connections.check(scenario, &bindings, steps(), &pool, &mut recorder);
                checked.diagnostics.extend(found);
            }
        };
        let done = stop.run_until_cancelled(asking).await;
        waiting.end();
        pool.shut_down().await;
        done.ok_or(ExitCode::Interrupted)
    })??;
    Ok(ServerChecks {
        connected: connections.connected,
        redactor: recorder.redactor().clone(),
    })
}

/// Which servers there are, as far as anybody can tell: a check needs no config, but a broken one is said.
fn config(
    args: &CheckArgs,
    environment: &BTreeMap<String, String>,
    output: &Output,
) -> (Config, ExitCode) {
    let Ok(working_directory) = std::env::current_dir() else {
        return (Config::empty(), ExitCode::Passed);
    };
    let search = ConfigSearch {
        explicit: args.config.as_deref(),
        working_directory: &working_directory,
        environment,
    };
    match Config::find(&search) {
        Ok(config) => (config, ExitCode::Passed),
        Err(diagnostics) => {
            output.diagnostics(&diagnostics, args.json, &Redactor::default());
            (Config::empty(), ExitCode::CouldNotRun)
        }
    }
}

/// Checks all files, one by one and beside each other.
fn check_all(files: &[FoundFile], args: &CheckArgs, with: &With<'_>) -> Vec<Checked> {
    let checked = files
        .iter()
        .map(|file| (file, check(&file.path, args, with)));
    let mut all: Vec<(&FoundFile, Checked)> = checked.collect();
    // What a timeline refers to is no timeline of its own, unless somebody says so.
    let beside: Vec<PathBuf> = all
        .iter()
        .flat_map(|(_, checked)| checked.beside.iter().cloned())
        .collect();
    all.retain(|(file, _)| {
        let is_beside = || {
            let place = timelines::place_of(&file.path);
            beside.iter().any(|beside| place.starts_with(beside))
        };
        file.is_named || beside.is_empty() || !is_beside()
    });
    let mut all: Vec<Checked> = all.into_iter().map(|(_, checked)| checked).collect();
    all.retain(|checked| checked.has_tag_of(&args.tagged.tags));
    let timelines = all.iter().filter_map(|checked| checked.timeline.as_ref());
    let timelines: Vec<&Timeline> = timelines.map(|script| &*script.timeline).collect();
    let mut between = check_names(timelines.iter().copied());
    between.extend(Selector::same_prompt(timelines));
    for found in between {
        let name = found
            .place
            .as_ref()
            .map(|place| place.source.name().to_owned());
        if let Some(checked) = all
            .iter_mut()
            .find(|checked| Some(&checked.file) == name.as_ref())
        {
            checked.diagnostics.push(found);
        }
    }
    all
}

fn check(path: &Path, args: &CheckArgs, with: &With<'_>) -> Checked {
    let checked = Checked::new(path.display().to_string());
    let source = match inputs::read_source(path) {
        Ok(source) => source,
        Err(diagnostic) => {
            return Checked {
                diagnostics: vec![diagnostic],
                ..checked
            };
        }
    };
    if is_test_case(&source) {
        let reading = test_case::read(&source);
        return Checked {
            test: reading.case,
            diagnostics: reading.diagnostics,
            ..checked
        };
    }
    if let Some(browser) = browser_files::check(&source, with.environment) {
        return Checked {
            browser: browser.would_do,
            diagnostics: browser.diagnostics,
            ..checked
        };
    }
    if timelines::is_timeline(&source) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let read = timelines::read(&source, folder, with.symbols);
        return Checked {
            beside: read.beside,
            timeline: read.script,
            diagnostics: read.diagnostics,
            ..checked
        };
    }
    let reading = tool_call::read(&source);
    let mut diagnostics = reading.diagnostics;
    let partial = reading.partial.as_ref();
    let known = reading
        .scenario
        .as_ref()
        .or(partial.map(|partial| &partial.scenario));
    if let Some(scenario) = known {
        let scope = Scope {
            unreliable_names: partial.map_or(&[][..], |partial| &partial.unreliable_names),
            ..Scope::default()
        };
        diagnostics.extend(tool_call::check_references(scenario, &scope));
        let lint = tool_call::lint(scenario, with.snapshots);
        // An id that the reader warned of already is not said again.
        let key = |found: &Diagnostic| {
            let start = found.place.as_ref().map(|place| place.span.start);
            (found.code.name(), start)
        };
        let known: HashSet<_> = diagnostics.iter().map(key).collect();
        diagnostics.extend(
            lint.into_iter()
                .filter(|found| !known.contains(&key(found))),
        );
    }
    if let Some(scenario) = &reading.scenario {
        diagnostics.extend(environment_server(scenario, with.config));
        // The scenario may be meant for another machine: here its server is only a warning. Who asks the
        // servers is told by that.
        let servers = match args.connect {
            true => Vec::new(),
            false => would_do(scenario, with.config).servers,
        };
        for name in servers {
            if let Some(Err(broken)) = with.config.server(&name).map(|server| &server.spec) {
                diagnostics.push(Diagnostic {
                    severity: Severity::Warning,
                    ..broken.clone()
                });
            }
        }
    }
    Checked {
        scenario: reading.scenario,
        diagnostics,
        ..checked
    }
}

/// Whether the text is a test case, or would be if it had no errors.
fn is_test_case(source: &SourceFile) -> bool {
    let root = match Language::of(source) {
        Language::Json => json::parse(source.text(), &Limits::default()).root,
        Language::Yaml => {
            let document = read_document(source);
            if document.root.is_none() && source.name().ends_with("test.yaml") {
                return true;
            }
            document.root
        }
    };
    root.as_ref().and_then(detect) == Some(FileKind::TestCase)
}

fn line(checked: &Checked, config: &Config, output: &Output) -> String {
    let style = output.stdout;
    let count = |number: usize, word: &str| {
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    };
    let (errors, warnings) = (
        checked.count(Severity::Error),
        checked.count(Severity::Warning),
    );
    let verdict = match (errors, warnings) {
        (0, 0) => style.good("ok"),
        (0, _) => style.doubtful(&count(warnings, "warning")),
        (_, 0) => style.bad(&count(errors, "error")),
        _ => style.bad(&format!(
            "{}, {}",
            count(errors, "error"),
            count(warnings, "warning")
        )),
    };
    let effects = effects_of(checked, config);
    if let Some(case) = &checked.test {
        let asserts = count(case.assertions.len(), "assertion");
        return format!("{}: {verdict}{}{asserts}\n", checked.file, style.dot());
    }
    if let Some(would_do) = &checked.browser {
        let (dot, line) = (style.dot(), would_do.line());
        let list = would_do.list();
        return format!("{}: {verdict}{dot}{line}\n{list}", checked.file);
    }
    let verdict = match &checked.timeline {
        Some(script) => {
            let dot = style.dot();
            let events = count(script.timeline.events.len(), "event");
            let turns = count(script.turns.turns.len(), "turn");
            format!("{verdict}{dot}{events}, {turns}")
        }
        None => verdict,
    };
    let (line, list) = effects.map_or_else(Default::default, |effects| {
        (
            format!("{}{}", style.dot(), effects_line(&effects)),
            effects_list(&effects),
        )
    });
    format!("{}: {verdict}{line}\n{list}", checked.file)
}

/// What the file would do, if it is one that does something.
fn effects_of(checked: &Checked, config: &Config) -> Option<Effects> {
    let of_timeline = |script: &LlmScript| timeline_effects(&script.timeline);
    match &checked.scenario {
        Some(scenario) => Some(would_do(scenario, config)),
        None => checked.timeline.as_ref().map(of_timeline),
    }
}

fn would_do(scenario: &ToolCallScenario, config: &Config) -> Effects {
    effects(scenario, &(0..=u64::MAX), known_servers(config))
}

fn document(checked: &Checked, config: &Config) -> Json {
    let effects = effects_of(checked, config).as_ref().map(effects_json);
    let mut document = json!({
        "file": checked.file,
        "valid": checked.count(Severity::Error) == 0,
        "errors": checked.count(Severity::Error),
        "warnings": checked.count(Severity::Warning),
        "scenario_name": checked.scenario.as_ref().map(|scenario| scenario.name.clone()),
        "total_steps": checked.scenario.as_ref().map(|scenario| scenario.steps.len()),
        "metadata": checked.scenario.as_ref().map(|scenario| scenario.metadata.clone()),
        "environment": checked.scenario.as_ref().map(|scenario| scenario.environment.clone()),
        "effects": effects,
        "diagnostics": list_to_json(&checked.diagnostics),
    });
    if let Some(case) = &checked.test {
        document["test_case"] = json!({"id": case.id, "assertions": case.assertions.len()});
    }
    if let Some(would_do) = &checked.browser {
        document["browser"] = would_do.document();
    }
    if let Some(script) = &checked.timeline {
        document["timeline"] = json!({
            "name": script.timeline.name,
            "tags": script.timeline.tags,
            "prompt": script.timeline.effective_prompt(),
            "events": script.timeline.events.len(),
            "turns": script.turns.turns.len(),
            "end_ms": script.schedule.end_ms,
        });
    }
    document
}
