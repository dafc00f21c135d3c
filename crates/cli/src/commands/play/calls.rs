//! `play` of a tool-call scenario: what is settled before it begins, and the run.

use std::path::{Path, PathBuf};

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_replay::{self as replay, DEMO_SERVER, Screenshots, is_built_in, prepare as trace};
use cuecard_report::Style;
use cuecard_report::junit::JunitReport;
use cuecard_report::play_terminal::label;
use cuecard_runner::prepare::{
    CallsContext, CallsRequest, PreparedCalls, Resumption, begin_journal, lacks_output,
    prepare_calls,
};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::printable;
use cuecard_source::{Effects, SourceFile};
use cuecard_tool_call::model::{Template, ToolCallScenario};
use cuecard_tool_call::script::Verdict;
use tokio_util::sync::CancellationToken;

use super::options::Options;
use super::reports::Subject;
use super::resume;
use super::run::{Ending, Opening, Run};
use crate::args::PlayArgs;
use crate::commands::browser_stage;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::counted;
use crate::output_files::check_used;

/// Everything that is known before anything runs.
pub(super) struct Prepared {
    pub calls: PreparedCalls,
    pub resumption: Option<Resumption>,
    pub options: Options,
    pub file: PathBuf,
    /// The first lines on the terminal.
    pub title: String,
    /// The number, label and tool of each step.
    pub labels: Vec<(u64, String, String)>,
}

/// Reads and checks everything. Warnings are shown.
pub(super) fn prepare(
    args: &PlayArgs,
    mut options: Options,
    file: &Path,
    source: &SourceFile,
    context: &Context,
) -> Result<Prepared, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let mut found = browser_stage::unused(
        &args.browser,
        "a tool-call scenario only uses a browser through its MCP servers",
    );
    found.append(&mut options.warnings);
    let mut resumption = resume::resumption(args, file).map_err(Stop::invalid)?;
    let asked_secrets = std::mem::take(&mut options.variables.secrets);
    let mut variable_args = options.variables.clone();
    variable_args.secrets.clone_from(&asked_secrets);
    let hashed = resumption.iter().flat_map(Resumption::secrets);
    let hashed: Vec<String> = hashed
        .filter(|name| !asked_secrets.contains(name))
        .cloned()
        .collect();
    variable_args.secrets.extend_from_slice(&hashed);
    let mut variables = inputs::variables_of(&variable_args, environment);
    let for_config = std::mem::take(&mut variables.environment);
    let find_config = |explicit: Option<&Path>| {
        Config::find(&ConfigSearch {
            explicit,
            working_directory: &options.working_directory,
            environment: &for_config,
        })
    };
    let asked = CallsRequest {
        given: &mut |scenario| {
            for name in &asked_secrets {
                variables.secret_for(name, scenario);
            }
            let is_declared = |name: &&String| {
                let mut declared = scenario.variables.iter();
                declared.any(|variable| variable.name == **name)
            };
            for name in hashed.iter().filter(is_declared) {
                variables.secret_for(name, scenario);
            }
            let found = std::mem::take(&mut variables.diagnostics);
            (std::mem::take(&mut variables.given), found)
        },
        secrets: &variable_args.secrets,
        range: options.range.clone(),
        strict: args.strict,
        found,
        has_config: args.servers.config.is_some(),
        config: &|| find_config(args.servers.config.as_deref()),
        resumed: resumption.as_mut(),
    };
    let calls = prepare_calls(source, asked)?;
    check_used(&super::results(args), &effects(&calls)).map_err(Stop::invalid)?;
    output.redacted(&calls.warnings, &calls.redactor);
    options.policy.protect([file.to_owned()]);
    options
        .policy
        .protect(options.variables.env.env_file.clone());
    // What a project's config says is started later, if this run has another one.
    let other = args.servers.config.is_some().then(|| find_config(None));
    for config in other.iter().flatten().chain([&calls.config]) {
        options.policy.protect(config.own_files());
        options.policy.protect_named(config.values());
    }
    options.policy.protect(super::results(args));
    Ok(Prepared {
        title: title(&calls, resumption.as_ref(), output.stderr),
        labels: labels(&calls.scenario),
        calls,
        resumption,
        options,
        file: file.to_owned(),
    })
}

/// Plays it.
pub(super) async fn play_calls(
    args: &PlayArgs,
    prepared: Prepared,
    context: &Context,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let (calls, options) = (prepared.calls, prepared.options);
    let (scenario, range) = (calls.scenario.clone(), calls.range.clone());
    let mut resumption = prepared.resumption;
    let resumed_from = resumption
        .as_ref()
        .map(|resumption| resumption.id().to_owned());
    let mut restored = Vec::new();
    let opening = Opening {
        subject: Subject {
            name: &scenario.name,
            file: scenario.source.name(),
            total: scenario.steps_in(&calls.range).len(),
            junit: JunitReport::new(
                &scenario.name,
                scenario.source.name(),
                scenario.steps_in(&calls.range),
            ),
            url: None,
            include: args.include_results,
        },
        file: &prepared.file,
        reports: &options.reports,
        part: options.part,
        working_directory: &options.working_directory,
        redactor: calls.redactor.clone(),
        title: prepared.title,
        labels: prepared.labels,
        header: &|id| trace::header(&scenario, id),
        resumed_from,
        journal: Some(&mut |dir| match resumption.take() {
            Some(resumption) => {
                let (journal, done) = resumption.continue_in(dir)?;
                restored = done;
                Ok(journal)
            }
            None => begin_journal(dir, &scenario, &range, &calls.bindings, &calls.redactor),
        }),
    };
    let mut run = Run::begin(args, &context.output, opening)?;
    let (play, mut toolbox) = calls.into_play(CallsContext {
        environment: &context.environment,
        working_directory: options.working_directory,
        policy: options.policy,
        timeout: options.timeout,
        run_dir: Some(run.dir.clone()),
        speed: args.speed.speed,
        screenshots: (args.screenshot_on_failure || args.screenshot_each_step).then(|| {
            Screenshots {
                folder: args.screenshot_dir.clone(),
                each_step: args.screenshot_each_step,
            }
        }),
        restored,
    });
    let mut played = replay::play(play, &mut toolbox, &mut run.recorder, stop).await;
    run.recorder.settle();
    toolbox.shut_down().await;
    let mut warning = nothing_passed(&played);
    if args.strict
        && let Some(warning) = warning.take()
    {
        played.verdict = Verdict::Failed;
        played.failure = Some(warning.strictly(true));
    }
    let n_done = played.summary.done() + played.summary.elements;
    let has_more = played.verdict != Verdict::Passed && n_done > 0;
    let unfinished = played.unfinished.filter(|_| has_more);
    run.recorder.commit();
    let lacking = unfinished.and_then(|_| lacks_output(&run.dir, &scenario));
    let ending = Ending {
        warning,
        unfinished: unfinished.filter(|_| lacking.is_none()),
        words: lacking.map(|lacking| format!("  it can't be resumed: {}", lacking.message)),
        ..Ending::default()
    };
    Ok(run.finish(&played, ending))
}

/// That no step passed of a run that did.
fn nothing_passed(played: &replay::Played) -> Option<Diagnostic> {
    let has_passed = played.verdict == Verdict::Passed;
    has_passed
        .then(|| played.summary.nothing_passed())
        .flatten()
}

fn effects(calls: &PreparedCalls) -> Effects {
    let known = cuecard_replay::known_servers(&calls.config);
    cuecard_tool_call::format::effects(&calls.scenario, &calls.range, &known)
}

/// The first lines: the scenario, its servers, and the configs that define them.
fn title(calls: &PreparedCalls, resumption: Option<&Resumption>, style: Style) -> String {
    let (scenario, range, config) = (&calls.scenario, &calls.range, &calls.config);
    let total = scenario.steps_in(range).len();
    let steps = counted(total, "step");
    let effects = effects(calls);
    let servers: Vec<String> = effects
        .servers
        .iter()
        .map(
            |name| match config.server(name).map(|server| &server.spec) {
                Some(Ok(spec)) => format!("{name} ({})", spec.transport.as_str()),
                Some(Err(_)) => name.clone(),
                None if is_built_in(name) => format!("{name} (built in)"),
                None => name.clone(),
            },
        )
        .collect();
    let mut facts = vec![style.strong(&printable(&scenario.name)), steps];
    if !servers.is_empty() {
        facts.push(servers.join(", "));
    }
    let mut text = format!("{} {}\n", style.symbol("▶", ">"), facts.join(style.dot()));
    let mut sources: Vec<&str> = Vec::new();
    for name in &effects.servers {
        if let Some(server) = config.server(name) {
            let shown = server.from.to_str().unwrap_or_default();
            if !sources.contains(&shown) {
                sources.push(shown);
            }
        }
    }
    if !sources.is_empty() {
        text.push_str(&style.faint(&format!("  config {}", sources.join(", "))));
        text.push('\n');
    }
    if let Some(resumption) = resumption {
        let place = match resumption.next_step() {
            Some(step) => format!("from step {step}"),
            None => "whose steps are all done".to_owned(),
        };
        let mut line = format!("  resumes the run {} {place}\n", resumption.id());
        let has_demo = effects.servers.iter().any(|name| name == DEMO_SERVER);
        if has_demo && config.server(DEMO_SERVER).is_none() {
            line +=
                "  the server `demo` starts empty: what the finished steps left in it is lost\n";
        }
        text.push_str(&style.faint(&line));
    }
    text.push('\n');
    calls.redactor.text(&text).into_owned()
}

/// The number, label and tool of each step.
fn labels(scenario: &ToolCallScenario) -> Vec<(u64, String, String)> {
    scenario
        .steps
        .iter()
        .map(|step| {
            let label = match step.description.as_deref() {
                Some(Template::Literal(text)) => text.as_str().unwrap_or_default().to_owned(),
                // What a reference becomes is known only later; most are words.
                Some(_) => " ".repeat(24),
                None => label(None, step.id.as_deref(), &step.tool.to_string()).to_owned(),
            };
            (step.number, label, step.tool.to_string())
        })
        .collect()
}
