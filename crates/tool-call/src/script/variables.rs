//! Binds variables: the scenario's defaults, then what the user gave, the later the stronger.

use std::collections::HashMap;

use super::Bindings;
use super::resolve::Bound;
use crate::model::ToolCallScenario;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, Origin, SHORTEST_SECRET, as_text};

/// A value that the user gave for a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Json,
    /// Where it was given, for messages: `--var`, `CUECARD_VAR_REPO`, `.env`.
    pub from: String,
    /// Whether it is not to be shown.
    pub secret: bool,
    /// Whether the scenario may be without such a variable: what the environment or a file holds
    /// may be meant for others.
    pub may_be_unknown: bool,
}

/// What is wrong with the value of a secret that stands in too many other texts. An empty one stands nowhere: it is what
/// a run has that needs none.
pub fn short_secret(name: &str, value: &Json) -> Option<Diagnostic> {
    let length = as_text(value).chars().count();
    let is = match length {
        1 => "has one character".to_owned(),
        _ => format!("has {length} characters"),
    };
    (1..SHORTEST_SECRET).contains(&length).then(|| {
        Diagnostic::error(
            codes::ARGUMENT,
            format!(
                "the value of the secret `{name}` {is}: fewer than {SHORTEST_SECRET} can't be distinguished from other text"
            ),
        )
        .with_help(format!("use a longer value, or don't mark `{name}` as a secret"))
    })
}

/// What to do about a variable that the scenario doesn't have: the one with the most similar name, or all of them.
pub fn help_on_unknown_variable(name: &str, scenario: &ToolCallScenario) -> String {
    /// How many variables are listed.
    const SHOWN: usize = 12;
    let names = || {
        scenario
            .variables
            .iter()
            .map(|variable| variable.name.as_str())
    };
    if let Some(similar) = did_you_mean(name, names()) {
        return format!("did you mean `{similar}`?");
    }
    let listed: Vec<_> = names()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    match (listed.is_empty(), scenario.variables.len() > SHOWN) {
        (true, _) => "it has no variables".to_owned(),
        (false, false) => format!("its variables are {}", listed.join(", ")),
        (false, true) => format!("its variables are {} and more", listed.join(", ")),
    }
}

/// The scenario's variables with their values; a later entry of `given` wins. With what is wrong with them: an error for
/// each required variable without a value.
pub fn bind_variables(scenario: &ToolCallScenario, given: &[Given]) -> (Bindings, Vec<Diagnostic>) {
    let mut bound: HashMap<String, Bound> = HashMap::new();
    let mut diagnostics = Vec::new();
    for variable in &scenario.variables {
        if !variable.is_required() {
            let value = Bound {
                value: variable.default.clone(),
                origin: Origin::Author,
                from: "its default".to_owned(),
            };
            bound.insert(variable.name.clone(), value);
        }
    }
    for given in given {
        let declared = scenario
            .variables
            .iter()
            .any(|variable| variable.name == given.name);
        if !declared && !given.may_be_unknown && !is_referenced(scenario, &given.name) {
            let warning = Diagnostic::warning(
                codes::VARIABLE_UNKNOWN,
                format!(
                    "the scenario has no variable `{}` ({})",
                    given.name, given.from
                ),
            );
            diagnostics.push(warning.with_help(help_on_unknown_variable(&given.name, scenario)));
        }
        let value = Bound {
            value: given.value.clone(),
            origin: if given.secret {
                Origin::Secret
            } else {
                Origin::User
            },
            from: given.from.clone(),
        };
        bound.insert(given.name.clone(), value);
    }
    for variable in scenario
        .variables
        .iter()
        .filter(|variable| !bound.contains_key(&variable.name))
    {
        diagnostics.push(
            Diagnostic::error(
                codes::VARIABLE_MISSING,
                format!("the variable `{}` has no value", variable.name),
            )
            .at(&scenario.source, variable.span)
            .with_label("required: its default is empty")
            .with_pointer(format!("/variables/{}", variable.name))
            .with_help(format!(
                "pass --var {}=VALUE, or set CUECARD_VAR_{}",
                variable.name, variable.name
            )),
        );
    }
    (Bindings::new(bound), diagnostics)
}

fn is_referenced(scenario: &ToolCallScenario, name: &str) -> bool {
    let mut found = false;
    scenario.for_each_placeholder(&mut |placeholder| found |= placeholder.reference.name == name);
    found
}
