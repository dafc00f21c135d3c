//! `play --dry-run`: what can be known without side effects; with `--connect` the servers are asked too.

use cuecard_replay::{Connections, Pool, forbidden, known_servers, mistakes, refused_for_text};
use cuecard_report::diagnostics::list_to_json;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::policy::Policy;
use cuecard_runtime::tap::Recorder;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::{Json, Redactor, as_text, cut, find_credentials, printable};
use cuecard_tool_call::format::effects;
use cuecard_tool_call::model::{QuestionKind, Step, Template, ToolCallScenario, ToolName};
use cuecard_tool_call::script::Bindings;
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::calls::Prepared;
use super::terminal::Terminal;
use crate::args::PlayArgs;
use crate::commands::connect;
use crate::commands::effects::{effects_line, effects_list};
use crate::context::Context;
use crate::exit_code::ExitCode;
use crate::output::{counted, stderr, stdout};

/// This much of a step's parameters is shown, in characters.
const MOST_SHOWN: usize = 500;

pub(super) async fn preview(
    args: &PlayArgs,
    prepared: Prepared,
    context: &Context,
    stop: &CancellationToken,
) -> ExitCode {
    let Context {
        environment,
        output,
    } = context;
    let calls = prepared.calls;
    let scenario = calls.scenario.clone();
    let in_range: Vec<usize> = (0..scenario.steps.len())
        .filter(|&idx| calls.range.contains(&scenario.steps[idx].number))
        .collect();
    stderr(&prepared.title);
    let mut planned = ToolCallScenario::clone(&scenario);
    for step in &mut planned.steps {
        step.params = Template::Literal(calls.bindings.known(&step.params));
    }
    let would_do = effects(&planned, &calls.range, known_servers(&calls.config));
    let mut connections = Connections::default();
    let steps = in_range.iter().map(|&idx| &planned.steps[idx]);
    let mut found = refusals(&planned, steps, &prepared.options.policy);
    let written = in_range.iter().map(|&idx| &scenario.steps[idx]);
    found.extend(
        written.filter_map(|step| refused_for_text(&prepared.options.policy, &scenario, step)),
    );
    let mut interrupted = false;
    let mut redactor = calls.redactor.clone();
    let mut credentials = Vec::new();
    let steps = in_range.iter().map(|&idx| &scenario.steps[idx]);
    let steps = steps.map(|step| PlannedStep::of(&scenario, step, &calls.bindings));
    let steps: Vec<PlannedStep<'_>> = steps.collect();
    for value in steps
        .iter()
        .flat_map(|step| step.for_each.iter().chain([&step.params]))
    {
        find_credentials(value, &mut credentials);
    }
    redactor.add(credentials);
    if args.connect {
        let mut recorder = Recorder::new(Clock::start(), calls.redactor);
        recorder.tell(Box::new(Terminal::new(args, output, &prepared.labels)));
        let mut pool = Pool::new(calls.config, environment.clone(), prepared.options.timeout);
        let steps = || in_range.iter().copied();
        let here = calls
            .bindings
            .clone()
            .in_directory(&prepared.options.working_directory);
        tokio::select! {
            biased;
            () = stop.cancelled() => interrupted = true,
            () = connections.open(&scenario, &here, steps(), &mut pool, &mut recorder) => {
                found.extend(connections.check(&scenario, &calls.bindings, steps(), &pool, &mut recorder));
                let policy = Some(&prepared.options.policy);
                found.extend(connections.check_writing(&scenario, steps(), &pool, policy));
            }
        }
        pool.shut_down().await;
        recorder.settle();
    }
    if interrupted {
        return ExitCode::Interrupted;
    }
    connect::show(&connections.connected, output);
    output.redacted(&found, &redactor);
    let exit = connect::exit_code(&found);
    if args.json {
        let mut document = json!({
            "scenario_name": scenario.name,
            "dry_run": true,
            "success": exit == ExitCode::Passed,
            "total_steps": in_range.len(),
            "steps": steps,
            "answers": answered(&scenario).map(|(kind, count)| (kind.key().to_owned(), Json::from(count))).collect::<serde_json::Map<_, _>>(),
            "effects": would_do,
            "connected": connections.connected,
            "diagnostics": list_to_json(&found),
        });
        redactor.json(&mut document);
        let document = format!("{document:#}\n");
        match &prepared.options.part {
            Some(part) => part.with(|part| part.json = document.into_bytes()),
            None => stdout(&document),
        }
    } else {
        let verdict = if exit == ExitCode::Passed {
            "nothing was run"
        } else {
            "nothing was run, and it would fail"
        };
        let mut plan = plan(&steps, &redactor);
        let answers = answered(&scenario).map(|(kind, count)| format!("{} {count}", kind.key()));
        let answers: Vec<String> = answers.collect();
        if !answers.is_empty() {
            plan.push_str(&format!("  answers to servers: {}\n", answers.join(", ")));
        }
        stdout(&format!(
            "{plan}{verdict}{}{}\n{}",
            output.stdout.dot(),
            effects_line(&would_do),
            redactor.text(&effects_list(&would_do))
        ));
    }
    exit
}

/// What is wrong with the parameters, and what the options of the run forbid. A step with a condition may never be called.
fn refusals<'a>(
    scenario: &ToolCallScenario,
    steps: impl Iterator<Item = &'a Step>,
    policy: &Policy,
) -> Vec<Diagnostic> {
    let refusal = |step: &Step| {
        let wrong = mistakes(policy, scenario, step);
        let refused = forbidden_step(scenario, step, policy).filter(|_| wrong.is_empty());
        wrong.into_iter().chain(refused)
    };
    steps.flat_map(refusal).collect()
}

fn forbidden_step(scenario: &ToolCallScenario, step: &Step, policy: &Policy) -> Option<Diagnostic> {
    let ToolName::Builtin(tool) = step.tool else {
        return None;
    };
    let Template::Literal(params) = &step.params else {
        return None;
    };
    let refused = forbidden(policy, tool, params).filter(|_| step.condition.is_none())?;
    let message = format!("step {}: {}", step.number, refused.message);
    let mut error =
        Diagnostic::error(refused.kind.code(), message).at(&scenario.source, step.params_span);
    error.help = refused.help;
    Some(error)
}

/// A step as far as it is known before the run.
#[derive(Serialize)]
struct PlannedStep<'a> {
    step: u64,
    id: Option<&'a str>,
    tool: String,
    params: Json,
    /// Its condition as it is written.
    condition: Option<String>,
    group: Option<&'a str>,
    for_each: Option<Json>,
}

impl<'a> PlannedStep<'a> {
    fn of(scenario: &ToolCallScenario, step: &'a Step, bindings: &Bindings) -> Self {
        let condition = step.condition.as_deref();
        let condition = condition.map(|it| serde_json::from_str(scenario.source.slice(it.span)));
        Self {
            step: step.number,
            id: step.id.as_deref(),
            tool: step.tool.to_string(),
            params: bindings.known(&step.params),
            condition: condition.and_then(Result::ok),
            group: step.group.as_deref(),
            for_each: step.for_each.as_ref().map(|it| bindings.known(&it.list)),
        }
    }
}

/// A line for each step: its number, its tool, and its parameters as far as they are known.
fn plan(steps: &[PlannedStep<'_>], redactor: &Redactor) -> String {
    let numbers = steps.iter().map(|it| it.step.to_string().len());
    let numbers = numbers.max().unwrap_or_default();
    let tools = steps.iter().map(|step| step.tool.len()).max();
    let tools = tools.unwrap_or_default();
    let mut plan = String::new();
    for step in steps {
        // Before the cut, behind which the rest of a secret would be missing.
        let params = redactor.text(&step.params.to_string()).into_owned();
        let params = printable(&cut(&params, MOST_SHOWN)).into_owned();
        let (number, tool) = (step.step, &step.tool);
        plan.push_str(&format!("  {number:>numbers$}  {tool:<tools$}  {params}"));
        if let Some(group) = step.group {
            plan.push_str(&format!("  in group {group}"));
        }
        if let Some(list) = &step.for_each {
            let list = match list {
                Json::Array(items) => counted(items.len(), "element"),
                list => as_text(list).into_owned(),
            };
            plan.push_str(&format!("  for each of {}", redactor.text(&list)));
        }
        if let Some(condition) = &step.condition {
            plan.push_str(&format!("  if {}", printable(&redactor.text(condition))));
        }
        plan.push('\n');
    }
    plan
}

/// How many answers a scenario has of each kind, if any; all of `roots` are one.
fn answered(scenario: &ToolCallScenario) -> impl Iterator<Item = (QuestionKind, usize)> {
    let count = |kind| {
        let answers = scenario.answers.iter();
        answers.filter(|answer| answer.place.kind == kind).count()
    };
    let counted = QuestionKind::ALL
        .into_iter()
        .map(move |kind| (kind, count(kind)));
    counted.filter(|(_, count)| *count > 0)
}
