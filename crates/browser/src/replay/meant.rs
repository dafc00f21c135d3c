//! What an element was meant by, in the words of the step's sentence.

use cuecard_browser_steps::model::{Fingerprint, TestStep};
use cuecard_page::sentences::{Phrase, RoleWord, Understanding, Within, understand};

use crate::stage::Values;

/// The element of a step as its sentence has it, with what it was if that says nothing of it: `'Delete' button in the
/// 'Bob Brown' row`.
pub(super) fn meant(
    step: &TestStep,
    fingerprint: Option<&Fingerprint>,
    values: &Values,
    is_destination: bool,
) -> String {
    let role = fingerprint.map_or("", |known| known.role.as_str());
    let phrase = match understand(&step.description) {
        Understanding::Understood(intent) if is_destination => intent.to.and_then(|to| to.phrase),
        Understanding::Understood(intent) => intent.phrase,
        Understanding::NotUnderstood { .. } | Understanding::Compound { .. } => None,
    };
    if let Some(mut phrase) = phrase {
        phrase.role = phrase.role.or_else(|| RoleWord::of(role));
        return phrase
            .with_texts(&mut |text| values.in_words(text))
            .to_string();
    }
    let Some(known) = fingerprint.filter(|known| !known.called().is_empty()) else {
        return format!("element of `{}`", step.description);
    };
    let within = known.told_apart_by().and_then(|container| {
        Some(Within {
            kind: container.kind,
            name: Some(container.text.clone()?),
            is_quoted: true,
        })
    });
    let phrase = Phrase {
        name: known.called().to_owned(),
        is_quoted: true,
        role: RoleWord::of(role),
        within,
        position: None,
    };
    phrase.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_browser_steps::model::ActionKind;

    #[test]
    fn an_element_is_named_as_its_sentence_names_it() {
        let button = Fingerprint {
            role: "button".to_owned(),
            name: "Remove from basket".to_owned(),
            ..Fingerprint::default()
        };
        for (sentence, expected) in [
            (
                "click 'Delete' in the 'Bob Brown' row",
                "'Delete' button in the 'Bob Brown' row",
            ),
            (
                "click 'Open' in the 'Alpha' item",
                "'Open' button in the 'Alpha' item",
            ),
            ("click the 'Help' link", "'Help' link"),
            // What the rules can't read is called what it was.
            ("get rid of the scarf", "'Remove from basket' button"),
        ] {
            let step = TestStep::new("st-1", sentence, ActionKind::Click);
            let words = meant(&step, Some(&button), &Values::default(), false);
            assert_eq!(words, expected, "{sentence}");
        }
        let step = TestStep::new("st-1", "get rid of it", ActionKind::Click);
        let nameless = meant(&step, None, &Values::default(), false);
        assert_eq!(nameless, "element of `get rid of it`");
    }
}
