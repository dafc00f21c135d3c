//! What a person decided, so that nobody needs to be asked again.

use cuecard_browser_steps::question::{Prompt, cassette_key};

use super::Cassette;
use super::line::{Decided, Line, PersonLine, masked};
use crate::parse::{Choice, ParseEvent, ParseObserver, Proposal};

/// Wraps who follows a parse: what was decided before is found in the cassette, and what is decided now is added.
#[derive(Debug)]
pub struct RecordedAudience<A> {
    audience: A,
    cassette: Option<Cassette>,
}

impl<A> RecordedAudience<A> {
    /// Asks `cassette` first, if there is one, and then `audience`.
    pub fn new(audience: A, cassette: Option<Cassette>) -> Self {
        Self { audience, cassette }
    }

    /// Who follows.
    pub fn into_inner(self) -> A {
        self.audience
    }
}

impl<A: ParseObserver> ParseObserver for RecordedAudience<A> {
    fn hear(&mut self, event: &ParseEvent<'_>) {
        self.audience.hear(event);
    }

    async fn decide(&mut self, proposal: &Proposal) -> Choice {
        let cassette = self.cassette.as_ref();
        if let Some(choice) = cassette.and_then(|cassette| cassette.decided(proposal)) {
            return choice;
        }
        if !self.audience.decides() {
            return Choice::Go;
        }
        let choice = self.audience.decide(proposal).await;
        if let Some(cassette) = &self.cassette {
            cassette.add_decided(proposal, choice);
        }
        choice
    }

    fn decides(&self) -> bool {
        let has_decisions = |cassette: &Cassette| cassette.has_decisions();
        self.audience.decides() || self.cassette.as_ref().is_some_and(has_decisions)
    }
}

impl Cassette {
    fn has_decisions(&self) -> bool {
        !self.inner().tape.decisions.is_empty()
    }

    fn decided(&self, proposal: &Proposal) -> Option<Choice> {
        let mut inner = self.inner();
        let key = key(proposal);
        let decided = inner.tape.decisions.get(&key)?.decided;
        inner.used.insert(key);
        match decided {
            Decided::Skip => Some(Choice::Skip),
            Decided::Pick(place) if place < proposal.candidates.len() => Some(Choice::Pick(place)),
            Decided::Pick(_) => None,
        }
    }

    fn add_decided(&self, proposal: &Proposal, choice: Choice) {
        let decided = match choice {
            Choice::Pick(place) => Decided::Pick(place),
            Choice::Skip => Decided::Skip,
            // Nobody is needed to go on, and who ends a parse ends that one.
            Choice::Go | Choice::Quit => return,
        };
        let mut inner = self.inner();
        let line = PersonLine {
            key: key(proposal),
            action: masked(proposal.action.clone(), &inner.secrets),
            shown: masked(shown(proposal), &inner.secrets),
            decided,
        };
        inner.add(&Line::Person(Box::new(line.clone())));
        inner.used.insert(line.key.clone());
        inner.tape.decisions.insert(line.key.clone(), line);
    }
}

/// What a person saw of a sentence: what would be done, or what could be meant.
fn shown(proposal: &Proposal) -> Vec<String> {
    match &proposal.understood {
        Some(words) => vec![words.clone()],
        None => proposal.candidates.clone(),
    }
}

fn key(proposal: &Proposal) -> String {
    let prompt = Prompt {
        page: shown(proposal).join("\n"),
        previous: match proposal.understood {
            Some(_) => "understood".to_owned(),
            None => "unclear".to_owned(),
        },
        action: proposal.action.clone(),
    };
    cassette_key("person", "", &prompt, &[])
}
