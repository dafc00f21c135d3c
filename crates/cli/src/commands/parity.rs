//! `cuecard parity`: one timeline through every mock.

use std::ffi::OsString;

use cuecard_runner::parity::{Parity, compare_faces};
use cuecard_runner::timeline::{RunOptions, load_runs};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::printable;
use serde_json::{Value as Json, json};

use super::timeline_options::TimelineOptions;
use crate::args::{ParityArgs, SafetyArgs, SpeedArgs, TimelineSpeedArgs};
use crate::asynchronous::until_stopped;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{self, Output};

pub(crate) fn run(args: &ParityArgs, context: &Context) -> Result<ExitCode, Stop> {
    let output = &context.output;
    let options = options(args, &context.environment).map_err(Stop::invalid)?;
    let loaded = load_runs(&args.paths, &options.play)?;
    output.diagnostics(&loaded.diagnostics);
    let compared = until_stopped(async |stop| {
        let mut compared = Vec::new();
        for script in &loaded.scripts {
            let parity = compare_faces(script, &options, &stop).await;
            if stop.is_cancelled() {
                return Err(ExitCode::Interrupted);
            }
            if !args.json {
                tell(&parity, output);
            }
            compared.push(parity);
        }
        Ok(compared)
    })??;
    if args.json {
        let all: Vec<Json> = compared.iter().map(to_json).collect();
        output::document(&json!({ "scenarios": all }));
    }
    Ok(match compared.iter().all(Parity::holds) {
        true => ExitCode::Passed,
        false => ExitCode::Failed,
    })
}

fn options(
    args: &ParityArgs,
    environment: &[(OsString, OsString)],
) -> Result<RunOptions, Vec<Diagnostic>> {
    let speed = TimelineSpeedArgs {
        factor: SpeedArgs { speed: 0.0 },
        min_speed: 0.0,
    };
    let options = TimelineOptions::of_player(&args.which, &speed, false, environment);
    let (play, _) = options.checked()?;
    let working_directory = inputs::working_directory().map_err(|found| vec![found])?;
    Ok(RunOptions {
        play,
        ..RunOptions::new(
            inputs::own_program().map_err(|found| vec![found])?,
            inputs::policy_options(&SafetyArgs::default(), None, &working_directory),
            environment.to_vec(),
        )
    })
}

/// Tells people how a comparison came out.
fn tell(parity: &Parity, output: &Output) {
    let style = &output.stdout;
    let (name, file) = (printable(&parity.scenario), printable(&parity.file));
    output::stdout(&format!("{} {name}  {file}\n", style.mark(parity.holds())));
    for face in &parity.faces {
        let what = match (&face.left_out, &face.difference) {
            (Some(why), _) => format!("  – {:<10} not compared: {why}", face.face.as_str()),
            (None, Some(difference)) => format!(
                "  {} {:<10} {}",
                style.mark(false),
                face.face.as_str(),
                printable(difference)
            ),
            (None, None) => format!(
                "  {} {:<10} {} the same",
                style.mark(true),
                face.face.as_str(),
                face.n_seen
            ),
        };
        output::stdout(&format!("{what}\n"));
    }
    if !parity.not_compared.is_empty() {
        let keys = parity.not_compared.join(", ");
        output::stdout(&format!("  not in every mock, so not compared: {keys}\n"));
    }
}

fn to_json(parity: &Parity) -> Json {
    let faces = parity.faces.iter().map(|face| {
        json!({
            "face": face.face.as_str(), "compared": face.n_seen,
            "left_out": face.left_out, "difference": face.difference,
        })
    });
    json!({
        "scenario": parity.scenario, "file": parity.file, "same": parity.holds(),
        "faces": faces.collect::<Vec<_>>(), "not_compared": parity.not_compared,
    })
}
