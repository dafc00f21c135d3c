//! Browser scenarios and their steps, as `check` looks at them.

use cuecard_core::diagnostic::Diagnostic;
use cuecard_core::formats::browser::{self, BrowserEffects, check_variables};
use cuecard_core::formats::detect::{FileKind, kind_of};
use cuecard_core::source::SourceFile;
use serde_json::{Value as Json, json};

/// What a browser file would do.
#[derive(Default)]
pub(crate) struct Checked {
    /// What was found in it.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What it would do; absent if it can't be read.
    pub(crate) effects: Option<BrowserEffects>,
}

/// Checks a text, if it is a browser scenario or a file of steps.
pub(crate) fn check(source: &SourceFile) -> Option<Checked> {
    match kind_of(source)? {
        FileKind::Browser => {
            let reading = browser::read(source);
            let mut diagnostics = reading.diagnostics;
            let scenario = reading.scenario.as_ref();
            diagnostics.extend(
                scenario.map_or_else(Vec::new, |scenario| check_variables(scenario, &[], false)),
            );
            Some(Checked {
                diagnostics,
                effects: scenario.map(browser::effects),
            })
        }
        FileKind::BrowserSteps => {
            let reading = browser::read_steps(source);
            Some(Checked {
                diagnostics: reading.diagnostics,
                effects: reading.steps.as_ref().map(browser::steps_effects),
            })
        }
        _ => None,
    }
}

/// What a file would do, in a few words.
pub(crate) fn line(effects: &BrowserEffects) -> String {
    let count = effects.actions.len();
    let actions = format!("{count} action{}", if count == 1 { "" } else { "s" });
    let hosts: Vec<&str> = effects.hosts.iter().map(String::as_str).collect();
    match hosts.is_empty() {
        true => format!("{actions} in a browser"),
        false => format!("{actions} in a browser on {}", hosts.join(", ")),
    }
}

/// The actions, one a line.
pub(crate) fn list(effects: &BrowserEffects) -> String {
    effects
        .actions
        .iter()
        .enumerate()
        .map(|(index, action)| format!("  {:>3} {action}\n", index + 1))
        .collect()
}

/// The same as JSON.
pub(crate) fn document(effects: &BrowserEffects) -> Json {
    json!({"hosts": effects.hosts, "actions": effects.actions})
}
