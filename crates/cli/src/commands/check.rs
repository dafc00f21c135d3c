//! `cuecard check`: errors, lint, and what a scenario would do. Runs nothing.

use std::ffi::OsString;
use std::path::Path;

use cuecard_core::diagnostic::{Diagnostic, Severity};
use cuecard_core::formats::tool_call::{self, Effects, Scope, effects};
use cuecard_core::reports::diagnostics::to_json;
use cuecard_core::scenario::ToolCallScenario;
use cuecard_core::value::Redactor;
use cuecard_players::mcp::config::{Config, ConfigSearch};
use cuecard_players::replay::known_servers;
use serde_json::{Value as Json, json};

use super::play::{effects_json, effects_line, effects_list, environment_server};
use crate::args::CheckArgs;
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{Output, stdout};

/// A file after checking.
struct Checked {
    file: String,
    scenario: Option<ToolCallScenario>,
    diagnostics: Vec<Diagnostic>,
}

impl Checked {
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
    let (config, mut exit) = config(args, environment, output);
    let mut documents = Vec::new();
    for path in &args.files {
        let checked = check(path, args.strict, &config);
        if checked.count(Severity::Error) > 0 {
            exit = exit.worst(ExitCode::Invalid);
        }
        output.diagnostics(&checked.diagnostics, args.json, &Redactor::default());
        if args.json {
            documents.push(document(&checked, &config));
        } else {
            stdout(&line(&checked, &config, output));
        }
    }
    if args.json {
        let document = json!({"valid": exit == ExitCode::Passed, "files": documents});
        stdout(&format!("{document:#}\n"));
    }
    exit
}

/// Which servers there are, as far as anybody can tell: a check needs no config, but a broken one is said.
fn config(
    args: &CheckArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> (Config, ExitCode) {
    let environment = inputs::text_environment(environment);
    let Ok(working_directory) = std::env::current_dir() else {
        return (Config::empty(), ExitCode::Passed);
    };
    let search = ConfigSearch {
        explicit: args.config.as_deref(),
        working_directory: &working_directory,
        environment: &environment,
    };
    match Config::find(&search) {
        Ok(config) => (config, ExitCode::Passed),
        Err(diagnostics) => {
            output.diagnostics(&diagnostics, args.json, &Redactor::default());
            (Config::empty(), ExitCode::CouldNotRun)
        }
    }
}

fn check(path: &Path, strict: bool, config: &Config) -> Checked {
    let file = path.display().to_string();
    let source = match inputs::read_source(path) {
        Ok(source) => source,
        Err(diagnostic) => {
            return Checked {
                file,
                scenario: None,
                diagnostics: vec![diagnostic],
            };
        }
    };
    let reading = tool_call::read(&source);
    let mut diagnostics = reading.diagnostics;
    if let Some(scenario) = &reading.scenario {
        diagnostics.extend(tool_call::check_references(scenario, &Scope::default()));
        diagnostics.extend(tool_call::lint(scenario));
        diagnostics.extend(environment_server(scenario, config));
        // The scenario may be meant for another machine: here its server is only a warning.
        for name in would_do(scenario, config).servers {
            if let Some(Err(broken)) = config.server(&name).map(|server| &server.spec) {
                diagnostics.push(Diagnostic {
                    severity: Severity::Warning,
                    ..broken.clone()
                });
            }
        }
    }
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic
            .place
            .as_ref()
            .map_or(0, |place| place.span.start)
    });
    if strict {
        diagnostics = diagnostics.into_iter().map(Diagnostic::strictly).collect();
    }
    Checked {
        file,
        scenario: reading.scenario,
        diagnostics,
    }
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
    let effects = checked
        .scenario
        .as_ref()
        .map(|scenario| would_do(scenario, config));
    let (line, list) = effects.map_or_else(Default::default, |effects| {
        (
            format!("{}{}", style.dot(), effects_line(&effects)),
            effects_list(&effects),
        )
    });
    format!("{}: {verdict}{line}\n{list}", checked.file)
}

fn would_do(scenario: &ToolCallScenario, config: &Config) -> Effects {
    effects(scenario, &(0..=u64::MAX), known_servers(config))
}

fn document(checked: &Checked, config: &Config) -> Json {
    let effects = checked.scenario.as_ref().map(|scenario| {
        let effects = would_do(scenario, config);
        effects_json(&effects)
    });
    json!({
        "file": checked.file,
        "valid": checked.count(Severity::Error) == 0,
        "errors": checked.count(Severity::Error),
        "warnings": checked.count(Severity::Warning),
        "scenario_name": checked.scenario.as_ref().map(|scenario| scenario.name.clone()),
        "total_steps": checked.scenario.as_ref().map(|scenario| scenario.steps.len()),
        "metadata": checked.scenario.as_ref().map(|scenario| scenario.metadata.clone()),
        "environment": checked.scenario.as_ref().map(|scenario| scenario.environment.clone()),
        "effects": effects,
        "diagnostics": checked.diagnostics.iter().map(to_json).collect::<Vec<_>>(),
    })
}
