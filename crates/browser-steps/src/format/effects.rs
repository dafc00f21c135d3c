//! What a scenario or its steps would do, as far as that is known before they run.

use std::collections::BTreeSet;

use super::url::host_of;
use crate::model::{ActionKind, BrowserScenario, InputValue, StepsFile, TranslatorChoice};
use cuecard_page::sentences::{Understanding, understand};
use cuecard_source::value::Json;

/// What a scenario would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrowserEffects {
    /// The hosts that it names.
    pub hosts: BTreeSet<String>,
    /// Its sentences.
    pub actions: Vec<String>,
    /// The files that it names: what is uploaded, and the storage state. They may hold references.
    pub reads: BTreeSet<String>,
    /// The names of its secrets.
    pub secrets: Vec<String>,
    /// The numbers of the sentences that the rules can't read, from 1; all if the rules are not to read. Steps have
    /// none: they are played without a model.
    pub for_model: Vec<usize>,
}

/// What a scenario would do.
pub fn effects(scenario: &BrowserScenario) -> BrowserEffects {
    let actions = scenario.actions.iter().map(|action| action.text.as_str());
    let mut effects = BrowserEffects {
        secrets: scenario.secrets.clone(),
        ..of_actions(&scenario.url, actions)
    };
    let is_read = scenario.options.translator != TranslatorChoice::Model;
    for (number, action) in (1..).zip(&scenario.actions) {
        match understand(&action.text) {
            Understanding::Understood(intent) => {
                let is_upload = intent.step.action_type == ActionKind::Upload;
                if let (true, Some(InputValue::Text(file))) = (is_upload, intent.step.input_value) {
                    effects.reads.insert(file);
                }
                if !is_read {
                    effects.for_model.push(number);
                }
            }
            Understanding::NotUnderstood {
                is_final: false, ..
            } => effects.for_model.push(number),
            // Whoever reads it, it is refused.
            Understanding::NotUnderstood { .. } | Understanding::Compound { .. } => {}
        }
    }
    let state = scenario.options.storage_state.as_ref();
    effects
        .reads
        .extend(state.map(|file| file.display().to_string()));
    effects
}

/// The same of steps.
pub fn steps_effects(steps: &StepsFile) -> BrowserEffects {
    let addresses = steps
        .test_steps
        .iter()
        .filter_map(|step| step.url.as_deref())
        .filter_map(host_of);
    let actions = steps
        .test_steps
        .iter()
        .map(|step| step.description.as_str());
    let mut effects = BrowserEffects {
        secrets: steps.secrets.clone(),
        ..of_actions(&steps.url, actions)
    };
    effects.hosts.extend(addresses.map(str::to_owned));
    let uploads = steps
        .test_steps
        .iter()
        .filter(|step| step.action == ActionKind::Upload)
        .filter_map(|step| step.value.as_ref());
    let state = steps.options.get("storageState");
    let files = uploads.chain(state).filter_map(Json::as_str);
    effects.reads.extend(files.map(str::to_owned));
    effects
}

fn of_actions<'a>(url: &'a str, actions: impl Iterator<Item = &'a str> + Clone) -> BrowserEffects {
    let words = actions.clone().flat_map(|action| {
        action.split(|sign: char| sign.is_whitespace() || matches!(sign, '\'' | '"' | '`'))
    });
    BrowserEffects {
        hosts: std::iter::once(url)
            .chain(words)
            .filter_map(host_of)
            .map(str::to_owned)
            .collect(),
        actions: actions.map(str::to_owned).collect(),
        ..BrowserEffects::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::read;
    use cuecard_source::SourceFile;

    fn of(text: &str) -> BrowserEffects {
        let reading = read(&SourceFile::new("s.yaml", text));
        effects(&reading.scenario.expect(text))
    }

    #[test]
    fn files_secrets_and_what_only_a_model_can_read_are_known_before() {
        let text = "url: https://a.example/\nactions:\n  - upload 'photo.png' to Picture\n  - let me in as {{PIN}}\n  - click Save\n\
            secrets: [PIN]\noptions: {storageState: state.json}\n";
        let effects = of(text);
        assert_eq!(
            effects.reads.iter().map(String::as_str).collect::<Vec<_>>(),
            ["photo.png", "state.json"]
        );
        assert_eq!(effects.secrets, ["PIN"]);
        assert_eq!(effects.for_model, [2]);
        let all = of(&text.replace("options: {", "options: {translator: model, "));
        assert_eq!(all.for_model, [1, 2, 3]);
    }
}
