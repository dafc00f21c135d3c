//! What an element does beyond what a sentence says of it: whoever took it for the one that is meant may have erred.

use super::Pool;
use crate::dom::NodeId;
use crate::selector::Finder;
use crate::words::tokens;
use crate::{ActionKind, IntermediateStep};

/// Words of what can't be undone: deleting, paying, sending, publishing.
const DANGEROUS: &[&[&str]] = &[
    &[
        "delete",
        "remove",
        "erase",
        "destroy",
        "discard",
        "wipe",
        "purge",
        "reset",
        "deactivate",
        "terminate",
        "revoke",
        "trash",
        "unsubscribe",
    ],
    &[
        "pay",
        "buy",
        "purchase",
        "order",
        "checkout",
        "donate",
        "transfer",
        "subscribe",
        "upgrade",
        "refund",
    ],
    &["send", "submit", "invite"],
    &[
        "publish", "deploy", "release", "merge", "approve", "launch", "share",
    ],
];

/// Whether a word is another one or a form of it: `deletes`, `deleting`, `submitted`.
fn is_form_of(word: &str, known: &str) -> bool {
    let stem = known.trim_end_matches('e');
    word == known
        || word
            .strip_prefix(stem)
            .is_some_and(|end| ["s", "es", "ed", "ing", "ion", "ted", "ting"].contains(&end))
}

impl Finder<'_> {
    /// The word of an element's name that says what can't be undone, if the sentence has none of its kind. Where links,
    /// tabs and fields lead to, something else is pressed.
    pub fn unsaid_danger(
        &self,
        sentence: &str,
        step: &IntermediateStep,
        target: NodeId,
    ) -> Option<String> {
        let element = self.state.element(target)?;
        let is_pressed = matches!(
            step.action_type,
            ActionKind::Click | ActionKind::DoubleClick | ActionKind::Press
        );
        let is_harmless = matches!(element.role.as_str(), "tab")
            || (element.role == "link" && element.attribute("href").is_some())
            || self.is_in_pool(target, Pool::FieldsAndSelects);
        if !is_pressed || is_harmless {
            return None;
        }
        let said = tokens(sentence);
        DANGEROUS.iter().find_map(|class| {
            let is_of_class = |word: &String| class.iter().any(|known| is_form_of(word, known));
            let unsaid = tokens(&element.name).into_iter().find(&is_of_class)?;
            (!said.iter().any(is_of_class)).then_some(unsaid)
        })
    }
}
