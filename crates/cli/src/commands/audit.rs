//! `cuecard audit`: whether a run is the same each time.

use cuecard_runner::timeline::{Audit, audit, load_runs};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::printable_lines;
use serde_json::{Value as Json, json};

use crate::args::AuditArgs;
use crate::asynchronous::until_stopped;
use crate::commands::run::options;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::{self, Output, stderr_line};

pub(crate) fn run(args: &AuditArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let is_json = args.run.json;
    if args.n_runs < 2 {
        let found = Diagnostic::error(codes::ARGUMENT, "`--runs` must be 2 or more");
        return Err(Stop::invalid(found));
    }
    let options = options(&args.run, false, environment)?;
    let loaded = load_runs(&args.run.paths, &options.play)?;
    output.diagnostics(&loaded.diagnostics);
    let audits = until_stopped(async |stop| {
        let mut audits = Vec::new();
        for script in &loaded.scripts {
            let mut watch = |run: usize, surroundings: &cuecard_runner::timeline::Surroundings| {
                if !is_json {
                    stderr_line(&format!("  run {}  {}", run + 1, surroundings.describe()));
                }
            };
            let runs = (args.seed, args.n_runs);
            let done = audit(script, &options, runs, &stop, &mut watch).await;
            if stop.is_cancelled() {
                return Err(ExitCode::Interrupted);
            }
            if !is_json {
                tell(&done, output);
            }
            audits.push(done);
        }
        Ok(audits)
    })??;
    if is_json {
        let all: Vec<Json> = audits.iter().map(to_json).collect();
        output::document(&json!({ "scenarios": all }));
    }
    let exit = audits
        .iter()
        .map(|audit| match (&audit.problem, audit.holds()) {
            (Some(_), _) => ExitCode::CouldNotRun,
            (None, true) => ExitCode::Passed,
            (None, false) => ExitCode::Failed,
        });
    Ok(exit.fold(ExitCode::Passed, ExitCode::worst))
}

fn tell(audit: &Audit, output: &Output) {
    let style = &output.stdout;
    let mark = style.mark(audit.holds());
    let how = match (&audit.problem, &audit.difference) {
        (Some(problem), _) => format!("could not run: {problem}"),
        (None, Some(difference)) => format!(
            "run {} differs from the first at event {} ({})",
            difference.run,
            difference.event,
            difference.surroundings.describe()
        ),
        (None, None) => {
            let same = format!(
                "{} runs, each with the same {} events",
                audit.n_runs, audit.n_events
            );
            match &audit.failure {
                Some(failure) => format!("{same}, and each failed: {failure}"),
                None => same,
            }
        }
    };
    output::stdout(&format!(
        "{mark} {}  {how}\n",
        printable_lines(&audit.scenario)
    ));
    if let Some(beyond) = &audit.beyond {
        let beyond = printable_lines(beyond);
        output::stdout(&format!(
            "  too many files: those from `{beyond}` on were not compared\n"
        ));
    }
    if let Some(difference) = &audit.difference {
        let shown = |event: &Option<String>| match event {
            Some(event) => printable_lines(event).into_owned(),
            None => "nothing".to_owned(),
        };
        output::stdout(&format!("  first  {}\n", shown(&difference.first)));
        output::stdout(&format!("  here   {}\n", shown(&difference.found)));
        output::stdout(&format!(
            "  again: --runs {} with the same --seed\n",
            difference.run
        ));
    }
}

fn to_json(audit: &Audit) -> Json {
    let difference = audit.difference.as_ref().map(|difference| {
        json!({
            "run": difference.run, "event": difference.event, "first": difference.first,
            "found": difference.found, "surroundings": difference.surroundings.describe(),
        })
    });
    json!({
        "scenario": audit.scenario, "runs": audit.n_runs, "events": audit.n_events,
        "same": difference.is_none() && audit.problem.is_none(), "difference": difference,
        "failure": audit.failure, "problem": audit.problem, "not_compared_from": audit.beyond,
    })
}
