//! Browser scenarios and their steps, as `check` looks at them.

use std::collections::BTreeMap;

use cuecard_browser_steps::format::{self as browser, BrowserEffects, check_variables};
use cuecard_browser_steps::model::{BrowserScenario, TranslatorChoice};
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::printable;
use serde_json::{Value as Json, json};

use super::browser_model::{self, NamedModel, Place};

/// What a browser file would do.
#[derive(Default)]
pub(crate) struct Checked {
    /// What was found in it.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What it would do; absent if it can't be read.
    pub(crate) would_do: Option<BrowserPlan>,
}

/// What a browser file would do.
pub(crate) struct BrowserPlan {
    effects: BrowserEffects,
    model: Model,
}

/// Who is asked what the rules can't read.
enum Model {
    /// Nobody: it is no scenario, or it says so.
    Unasked,
    /// Nobody, since none is named.
    Unnamed,
    /// This one.
    Named(Box<NamedModel>),
}

/// Checks a text, if it is a browser scenario or a file of steps.
pub(crate) fn check(
    source: &SourceFile,
    environment: &BTreeMap<String, String>,
) -> Option<Checked> {
    match kind_of(source)? {
        FileKind::Browser => {
            let reading = browser::read(source);
            let mut diagnostics = reading.diagnostics;
            let would_do = reading.scenario.map(|scenario| {
                diagnostics.extend(check_variables(&scenario, &[], false));
                let model = model(&scenario, environment).unwrap_or_else(|found| {
                    diagnostics.push(found);
                    Model::Unasked
                });
                let effects = browser::effects(&scenario);
                BrowserPlan { effects, model }
            });
            Some(Checked {
                diagnostics,
                would_do,
            })
        }
        FileKind::BrowserSteps => {
            let reading = browser::read_steps(source);
            Some(Checked {
                diagnostics: reading.diagnostics,
                would_do: reading.steps.as_ref().map(of_steps),
            })
        }
        _ => None,
    }
}

/// What steps would do.
pub(crate) fn of_steps(steps: &cuecard_browser_steps::model::StepsFile) -> BrowserPlan {
    BrowserPlan {
        effects: browser::steps_effects(steps),
        model: Model::Unasked,
    }
}

fn model(
    scenario: &BrowserScenario,
    environment: &BTreeMap<String, String>,
) -> Result<Model, Diagnostic> {
    if scenario.options.translator == TranslatorChoice::Rules {
        return Ok(Model::Unasked);
    }
    let named = browser_model::named(None, &scenario.options, environment)?;
    Ok(named.map_or(Model::Unnamed, |named| Model::Named(Box::new(named))))
}

impl BrowserPlan {
    /// In a few words.
    pub(crate) fn line(&self) -> String {
        let count = self.effects.actions.len();
        let actions = format!("{count} action{}", if count == 1 { "" } else { "s" });
        let hosts: Vec<&str> = self.effects.hosts.iter().map(String::as_str).collect();
        match hosts.is_empty() {
            true => format!("{actions} in a browser"),
            false => format!("{actions} in a browser on {}", hosts.join(", ")),
        }
    }

    /// The actions, one a line, and what they need.
    pub(crate) fn list(&self) -> String {
        let actions = self.effects.actions.iter();
        let mut list: String = (1..)
            .zip(actions)
            .map(|(number, action)| format!("  {number:>3} {}\n", printable(action)))
            .collect();
        for file in &self.effects.reads {
            list.push_str(&format!("  reads   {}\n", printable(file)));
        }
        for name in &self.effects.secrets {
            list.push_str(&format!(
                "  secret  {name}, from CUECARD_VAR_{name} or asked for on a terminal\n"
            ));
        }
        list.push_str(&self.asks());
        list
    }

    /// Who is asked about what the rules can't read, and what decides that.
    fn asks(&self) -> String {
        let numbers: Vec<String> = self
            .effects
            .for_model
            .iter()
            .map(usize::to_string)
            .collect();
        let unread = numbers.join(", ");
        match &self.model {
            Model::Unasked | Model::Unnamed if unread.is_empty() => String::new(),
            Model::Unasked => {
                format!(
                    "  asks    no model about {unread}: it matches no rule, so it must be unambiguous on the page\n"
                )
            }
            Model::Unnamed => {
                format!(
                    "  asks    no model about {unread}: configure one with --model or `options.llm`\n"
                )
            }
            Model::Named(model) => {
                let if_unclear = "if the rules match no element or several";
                let about = match numbers.len() {
                    0 => if_unclear.to_owned(),
                    count if count == self.effects.actions.len() => "about every action".to_owned(),
                    _ => format!("about {unread} if the wording is ambiguous, and {if_unclear}"),
                };
                let [what, why] = told(model);
                format!("  asks    {what}\n          {about}\n          {why}\n")
            }
        }
    }

    /// The same as JSON.
    pub(crate) fn document(&self) -> Json {
        let model = match &self.model {
            Model::Unasked | Model::Unnamed => Json::Null,
            Model::Named(model) => json!({
                "provider": model.kind.as_str(),
                "model": model.name,
                "url": model.provider.to_string(),
                "from": match model.place {
                    Place::File => "options.llm.baseUrl",
                    Place::Variable(name) => name,
                    Place::Usual(_) => "default",
                },
                "key_variable": model.key_variable,
            }),
        };
        json!({
            "hosts": self.effects.hosts,
            "actions": self.effects.actions,
            "reads": self.effects.reads,
            "secrets": self.effects.secrets,
            "model": model,
            "for_model": self.effects.for_model,
        })
    }
}

/// Which model is asked and where, and what decides that.
fn told(model: &NamedModel) -> [String; 2] {
    let place = match model.place {
        Place::Usual(variable) => format!("{variable} is not set"),
        place => format!("the URL comes from {}", place.words()),
    };
    let key = match &model.key_variable {
        Some(variable) => format!("the key from {}", printable(variable)),
        None => "no key, because `options.llm.apiKeyEnv` is not set".to_owned(),
    };
    let name = printable(&model.name);
    let (api, url) = (model.kind.as_str(), &model.provider);
    [
        format!("{name} over {api} at {url}"),
        format!("{place}, {key}"),
    ]
}
