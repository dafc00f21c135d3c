//! How the elements of a deed are found on each new state: by words, or by what is remembered.

use cuecard_browser_steps::model::{AssertKind, BrowserAssertion, Fingerprint};
use cuecard_page::dom::NodeId;
use cuecard_page::identity::{Remembered, Verdict};
use cuecard_page::selector::{Finder, Selector};
use cuecard_page::sentences::{Intent, Translation, Understanding, understand};
use cuecard_source::diagnostic::codes;

use super::{Failure, Lookup, Targets, Values};

/// Finds elements by the words of a sentence.
#[derive(Debug, Clone)]
pub struct ByPhrase {
    intent: Intent,
}

impl ByPhrase {
    /// By the words of a sentence that was read. Its names have values in the place of references.
    pub fn new(intent: Intent) -> Self {
        Self { intent }
    }

    /// By the words of a sentence, if the rules can read it.
    pub fn of(sentence: &str, values: &Values) -> Option<Self> {
        match understand(sentence) {
            Understanding::Understood(intent) => Some(Self::new(with_values(*intent, values))),
            Understanding::NotUnderstood { .. } | Understanding::Compound { .. } => None,
        }
    }
}

impl Targets for ByPhrase {
    fn find(&mut self, finder: Finder<'_>) -> Lookup {
        let Some(phrase) = &self.intent.phrase else {
            return Lookup::default();
        };
        // With its row a button is not visible any more, but nobody counts what is in a row that isn't there.
        let assertion = self.intent.step.assertion.as_ref();
        let is_count = assertion.is_some_and(|assertion| assertion.kind == AssertKind::Count);
        let within = phrase.within.as_ref();
        let needs_place = is_count || within.is_some_and(|within| within.name.is_none());
        let unclear = needs_place.then(|| finder.unclear_place(phrase)).flatten();
        if let Some(unclear) = unclear {
            let failure = Failure::new(codes::BROWSER_NOT_FOUND, unclear.to_string());
            return Lookup {
                problem: Some(Box::new(
                    failure.help("say where it is by the name or heading of its container"),
                )),
                ..Lookup::default()
            };
        }
        match finder.resolve(&self.intent) {
            // Of a count all are meant, and not only the first.
            Translation::Step { target, .. } => Lookup {
                elements: match finder.meant(phrase, self.intent.pool) {
                    Ok(found) if is_count => found.elements,
                    _ => target.into_iter().collect(),
                },
                ..Lookup::default()
            },
            Translation::Ambiguous { words, say, .. } => Lookup {
                problem: Some(Box::new(ambiguous(words, &say))),
                ..Lookup::default()
            },
            Translation::NotFound(found) => Lookup {
                // What is called otherwise by screen readers, and says so to everybody else, is there.
                elements: match is_count || assertion.is_some_and(BrowserAssertion::asserts_absence)
                {
                    true => finder.showing(phrase, self.intent.pool),
                    false => Vec::new(),
                },
                nearest: found.nearest,
                ..Lookup::default()
            },
            // The sentence was read already.
            Translation::NotUnderstood { .. } | Translation::Compound { .. } => Lookup::default(),
        }
    }

    fn is_like(&self, role: &str, name: &str) -> bool {
        self.intent.phrase.as_ref().is_some_and(|phrase| {
            phrase
                .role
                .is_none_or(|wanted| wanted.roles().contains(&role))
                && name.to_lowercase().contains(&phrase.name.to_lowercase())
        })
    }
}

/// An intent whose names have values in the place of references.
pub fn with_values(mut intent: Intent, values: &Values) -> Intent {
    intent.phrase = intent
        .phrase
        .map(|phrase| phrase.with_texts(&mut |text| values.in_words(text)));
    intent.to = intent.to.map(|to| Box::new(with_values(*to, values)));
    intent
}

/// Sentences to choose from behind `what`, each on a line of its own if there are several. None if there are none.
pub fn choices(what: &str, say: &[String]) -> Option<String> {
    match say {
        [] => None,
        [one] => Some(format!("{what}: {one}")),
        several => Some(format!("{what}:\n- {}", several.join("\n- "))),
    }
}

/// Several elements could be meant. `say` are sentences, each of which means one of them.
pub fn ambiguous(words: Vec<String>, say: &[String]) -> Failure {
    let count = words.len();
    let message = match count {
        1 => "the words match only part of a name: nothing was done".to_owned(),
        _ => format!("{count} elements match: nothing was done"),
    };
    let failure = Failure::new(codes::BROWSER_AMBIGUOUS, message).among(words);
    match choices("specify which one", say) {
        Some(help) => failure.help(help),
        None => failure.help("specify its section, dialog or row, or add a test id"),
    }
}

/// Finds an element by what is remembered of it. Only the same one is found: never one that merely comes near.
#[derive(Debug, Clone)]
pub struct ByIdentity {
    /// Its selectors, the most lasting first.
    pub selectors: Vec<Selector>,
    /// What it was.
    pub fingerprint: Fingerprint,
}

impl Targets for ByIdentity {
    fn find(&mut self, finder: Finder<'_>) -> Lookup {
        let remembered = Remembered {
            selectors: &self.selectors,
            fingerprint: &self.fingerprint,
        };
        let words = |ids: Vec<NodeId>| ids.into_iter().map(|id| finder.in_words(id)).collect();
        match finder.verdict(remembered) {
            Verdict::Same { id, .. } => Lookup {
                elements: vec![id],
                ..Lookup::default()
            },
            Verdict::Ambiguous { candidates, .. } => Lookup {
                problem: Some(Box::new(ambiguous(words(candidates), &[]))),
                ..Lookup::default()
            },
            Verdict::Gone { .. } => Lookup {
                nearest: words(finder.similar(&self.fingerprint)),
                ..Lookup::default()
            },
            Verdict::Healed { id, .. } | Verdict::Renamed { id, .. } => Lookup {
                nearest: words(vec![id]),
                ..Lookup::default()
            },
        }
    }

    fn is_like(&self, role: &str, name: &str) -> bool {
        role == self.fingerprint.role && name.to_lowercase() == self.fingerprint.name.to_lowercase()
    }
}
