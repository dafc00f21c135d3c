//! What a browser file would do, as `check` and `play --dry-run` show it.

use crate::output::counted;
use cuecard_browser::model::{ModelSettings, Place};
use cuecard_runner::check::{AskedModel, BrowserPlan};
use cuecard_source::value::printable;
use serde_json::{Value as Json, json};

/// In a few words.
pub(crate) fn line(plan: &BrowserPlan) -> String {
    let actions = counted(plan.effects.actions.len(), "action");
    let hosts: Vec<&str> = plan.effects.hosts.iter().map(String::as_str).collect();
    match hosts.is_empty() {
        true => format!("{actions} in a browser"),
        false => format!("{actions} in a browser on {}", hosts.join(", ")),
    }
}

/// The actions, one a line, and what they need.
pub(crate) fn list(plan: &BrowserPlan) -> String {
    let actions = plan.effects.actions.iter();
    let mut list: String = (1..)
        .zip(actions)
        .map(|(number, action)| format!("  {number:>3} {}\n", printable(action)))
        .collect();
    for file in &plan.effects.reads {
        list.push_str(&format!("  reads   {}\n", printable(file)));
    }
    for name in &plan.effects.secrets {
        list.push_str(&format!(
            "  secret  {name}, from CUECARD_VAR_{name} or asked for on a terminal\n"
        ));
    }
    list.push_str(&asks(plan));
    list
}

/// Who is asked about what the rules can't read, and what decides that.
fn asks(plan: &BrowserPlan) -> String {
    let numbers: Vec<String> = plan
        .effects
        .for_model
        .iter()
        .map(usize::to_string)
        .collect();
    let unread = numbers.join(", ");
    match &plan.model {
        AskedModel::Unasked | AskedModel::Unnamed if unread.is_empty() => String::new(),
        AskedModel::Unasked => {
            format!("  asks    no model: {unread} must be unambiguous on the page\n")
        }
        AskedModel::Unnamed => {
            format!("  asks    no model: `parse --model` names one for {unread}\n")
        }
        AskedModel::Named(model) => {
            let if_unclear = "if the rules match no element or several";
            let about = match numbers.len() {
                0 => if_unclear.to_owned(),
                count if count == plan.effects.actions.len() => "about every action".to_owned(),
                _ => format!("about {unread} if the wording is ambiguous, and {if_unclear}"),
            };
            let [what, why] = told(model);
            format!("  asks    {what}\n          {about}\n          {why}\n")
        }
    }
}

/// The same as JSON.
pub(crate) fn document(plan: &BrowserPlan) -> Json {
    let model = match &plan.model {
        AskedModel::Unasked | AskedModel::Unnamed => Json::Null,
        AskedModel::Named(model) => json!({
            "provider": model.kind.as_str(),
            "model": model.model,
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
        "hosts": plan.effects.hosts,
        "actions": plan.effects.actions,
        "reads": plan.effects.reads,
        "secrets": plan.effects.secrets,
        "model": model,
        "for_model": plan.effects.for_model,
    })
}

/// Which model is asked and where, and what decides that.
fn told(model: &ModelSettings) -> [String; 2] {
    let place = match model.place {
        Place::Usual(variable) => format!("{variable} is not set"),
        place => format!("the URL comes from {}", place.words()),
    };
    let key = match &model.key_variable {
        Some(variable) => format!("the key from {}", printable(variable)),
        None => "no key, because `options.llm.apiKeyEnv` is not set".to_owned(),
    };
    let name = printable(&model.model);
    let (api, url) = (model.kind.as_str(), &model.provider);
    [
        format!("{name} over {api} at {url}"),
        format!("{place}, {key}"),
    ]
}
