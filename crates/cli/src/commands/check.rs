//! `cuecard check`: errors, lint, and what a file would do. Runs nothing; with `--connect` it asks the servers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cuecard_mcp::ServerSpec;
use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_page::Snapshot;
use cuecard_replay::prepare::secrets;
use cuecard_replay::{Connected, Connections, Pool};
use cuecard_report::diagnostics::list_to_json;
use cuecard_runner::check::{CHECKED, CheckContext, Checked, Content, check, would_do};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::tap::Recorder;
use cuecard_runtime::timelines::{self, none_tagged};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::Redactor;
use cuecard_tool_call::script::bind_variables;
use serde_json::{Value as Json, json};

use super::effects::{effects_line, effects_list};
use super::{browser_files, connect};
use crate::args::CheckArgs;
use crate::asynchronous::asynchronously;
use crate::context::{Context, Problems, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{self, Output, counted, stdout};
use crate::waiting::Waiting;

/// What the servers said.
#[derive(Default)]
struct ServerChecks {
    connected: Vec<Connected>,
    /// What must not be shown.
    redactor: Redactor,
}

pub(crate) fn run(args: &CheckArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let env_file = args.server.env.env_file.as_ref();
    let variables = inputs::variables_of_file(env_file, environment).map_err(Stop::invalid)?;
    let symbols = inputs::symbols(&args.symbols, environment).map_err(Stop::invalid)?;
    let snapshots = snapshots(&args.snapshot).map_err(Stop::invalid)?;
    let (config, mut exit) = config(args, &variables.environment, output);
    let (files, problems) = timelines::files(&args.files, CHECKED);
    let with = CheckContext {
        config: &config,
        connects: args.connect,
        symbols: &symbols,
        snapshots: &snapshots,
        environment: &variables.environment,
        tags: &args.tagged.tags,
    };
    let mut all = check(&files, inputs::read_source, &with);
    all.extend(
        problems
            .into_iter()
            .map(|(folder, problem)| Checked::unusable(folder.display().to_string(), problem)),
    );
    if all.is_empty() && !args.tagged.tags.is_empty() {
        return Err(Stop::invalid(none_tagged(&args.tagged.tags)));
    }
    let mut asked = ServerChecks::default();
    // Without a config every server would be unknown.
    if args.connect && exit == ExitCode::Passed {
        asked = ask(args, &variables, &config, context, &mut all)?;
        connect::show(&asked.connected, output);
    }
    for scenario in all.iter().filter_map(Checked::scenario) {
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
        output.redacted(&checked.diagnostics, &asked.redactor);
        if args.json {
            documents.push(document(checked, &config));
        } else {
            stdout(&asked.redactor.text(&line(checked, &config, output)));
        }
    }
    if args.json {
        let mut document = json!({"valid": exit == ExitCode::Passed, "files": documents});
        if args.connect {
            document["connected"] = json!(asked.connected);
        }
        asked.redactor.json(&mut document);
        output::document(&document);
    }
    Ok(exit)
}

/// The snapshots in files: what a browser's server answered.
fn snapshots(paths: &[PathBuf]) -> Result<Vec<Snapshot>, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let snapshots = paths
        .iter()
        .filter_map(|path| problems.take(snapshot(path)));
    let snapshots = snapshots.collect();
    problems.or(Some(snapshots))
}

fn snapshot(path: &Path) -> Result<Snapshot, Diagnostic> {
    let source = inputs::read_source(path)?;
    let name = path.display();
    let error = |message: String| Diagnostic::error(codes::ARGUMENT, message);
    match Snapshot::read(source.text()) {
        Ok(snapshot) if !snapshot.elements.is_empty() => Ok(snapshot),
        Ok(_) => Err(error(format!("`{name}` is not a page snapshot"))
            .with_help("pass the text returned by `take_snapshot` or `browser_snapshot`")),
        Err(found) => Err(error(format!(
            "the snapshot `{name}` has more than {} elements",
            found.limit
        ))),
    }
}

/// Starts the servers that the files need, and adds what they say about the steps to the findings.
fn ask(
    args: &CheckArgs,
    variables: &inputs::Variables,
    config: &Config,
    context: &Context,
    all: &mut [Checked],
) -> Result<ServerChecks, Stop> {
    let timeout = args.server.connect.timeout;
    let warning = inputs::too_long("--timeout", timeout);
    context.output.diagnostics(warning.as_slice());
    let mut pool = Pool::new(config.clone(), context.environment.clone(), timeout);
    let scenarios = all.iter().filter_map(Checked::scenario);
    let names: BTreeSet<String> = scenarios
        .flat_map(|scenario| would_do(scenario, config).servers)
        .collect();
    let specs: Vec<ServerSpec> = names
        .iter()
        .filter_map(|name| pool.spec(name).ok())
        .collect();
    let mut recorder = Recorder::new(Clock::start(), Redactor::default());
    let mut connections = Connections::default();
    let working_directory = std::env::current_dir().unwrap_or_default();
    asynchronously(async |stop| {
        connect::announce(&specs);
        let mut waiting = Waiting::new(&context.output, "starting", names);
        let asking = async {
            for checked in all {
                let Some(scenario) = checked.scenario() else {
                    continue;
                };
                recorder.add_secrets(secrets(scenario, &variables.given));
                // What has no value yet is not known, and that is all: nothing is played.
                let (bindings, _) = bind_variables(scenario, &variables.given);
                recorder.add_secrets(bindings.secrets());
                let bindings = bindings.in_directory(&working_directory);
                let steps = || 0..scenario.steps.len();
                connections
                    .open(scenario, &bindings, steps(), &mut pool, &mut recorder)
                    .await;
                let found = connections.check(scenario, &bindings, steps(), &pool, &mut recorder);
                connections.check_writing(scenario, steps(), &pool, None);
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
        explicit: args.server.connect.config.as_deref(),
        working_directory: &working_directory,
        environment,
    };
    match Config::find(&search) {
        Ok(config) => (config, ExitCode::Passed),
        Err(diagnostics) => {
            output.diagnostics(&diagnostics);
            (Config::empty(), ExitCode::CouldNotRun)
        }
    }
}

fn line(checked: &Checked, config: &Config, output: &Output) -> String {
    let style = output.stdout;
    let (errors, warnings) = (
        checked.count(Severity::Error),
        checked.count(Severity::Warning),
    );
    let verdict = match (errors, warnings) {
        (0, 0) => style.good("ok"),
        (0, _) => style.doubtful(&counted(warnings, "warning")),
        (_, 0) => style.bad(&counted(errors, "error")),
        _ => style.bad(&format!(
            "{}, {}",
            counted(errors, "error"),
            counted(warnings, "warning")
        )),
    };
    let mut facts = vec![verdict];
    let mut list = String::new();
    match &checked.content {
        Content::TestCase(case) => facts.push(counted(case.assertions.len(), "assertion")),
        Content::Browser(plan) => {
            facts.push(browser_files::line(plan));
            list = browser_files::list(plan);
        }
        Content::Timeline(script) => facts.push(format!(
            "{}, {}",
            counted(script.timeline.events.len(), "event"),
            counted(script.turns.turns.len(), "turn")
        )),
        Content::Cassette(cassette) => facts.push(format!(
            "{}, {}",
            counted(cassette.servers.len(), "server"),
            counted(cassette.records.len(), "call")
        )),
        Content::ToolCalls(_) | Content::Unusable => {}
    }
    if let Some(effects) = checked.effects(config) {
        facts.push(effects_line(&effects));
        list = effects_list(&effects);
    }
    format!("{}: {}\n{list}", checked.file, facts.join(style.dot()))
}

fn document(checked: &Checked, config: &Config) -> Json {
    let scenario = checked.scenario();
    let mut document = json!({
        "file": checked.file,
        "valid": checked.count(Severity::Error) == 0,
        "errors": checked.count(Severity::Error),
        "warnings": checked.count(Severity::Warning),
        "scenario_name": scenario.map(|scenario| &scenario.name),
        "total_steps": scenario.map(|scenario| scenario.steps.len()),
        "metadata": scenario.map(|scenario| &scenario.metadata),
        "environment": scenario.map(|scenario| &scenario.environment),
        "effects": checked.effects(config),
        "diagnostics": list_to_json(&checked.diagnostics),
    });
    match &checked.content {
        Content::TestCase(case) => {
            document["test_case"] = json!({"id": case.id, "assertions": case.assertions.len()});
        }
        Content::Browser(plan) => document["browser"] = browser_files::document(plan),
        Content::Timeline(script) => {
            document["timeline"] = json!({
                "name": script.timeline.name,
                "tags": script.timeline.tags,
                "prompt": script.timeline.effective_prompt(),
                "events": script.timeline.events.len(),
                "turns": script.turns.turns.len(),
                "end_ms": script.schedule.end_ms,
            });
        }
        Content::Cassette(cassette) => {
            let servers = cassette.servers.iter().map(|server| server.name.as_str());
            document["cassette"] = json!({
                "servers": servers.collect::<Vec<_>>(),
                "calls": cassette.records.len(),
            });
        }
        Content::ToolCalls(_) | Content::Unusable => {}
    }
    document
}
