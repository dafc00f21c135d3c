//! What a piece of text says: its facts and words, and what denies them.

use std::collections::BTreeMap;

use super::data::PREPOSITIONS;
use super::facts::{Fact, Roles, Word};
use super::glue::{Glue, glues};
use super::text::Language;

/// A word or a fact.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element<'p> {
    Word(&'p Word),
    Fact(&'p Fact),
}

impl<'p> Element<'p> {
    /// Where it stands; -1 if it was taken from elsewhere.
    pub(super) fn at(self) -> i64 {
        match self {
            Self::Word(word) => word.at,
            Self::Fact(fact) => fact.at,
        }
        .max(-1)
    }

    pub(super) fn glue(self) -> &'p Glue {
        match self {
            Self::Word(word) => &word.glue,
            Self::Fact(fact) => &fact.glue,
        }
    }
}

/// What a piece of text says.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// In the order of the text.
    pub(super) facts: Vec<Fact>,
    pub(super) words: Vec<Word>,
    /// Where it is denied.
    pub(super) denials: Vec<i64>,
    /// Where the `nor` of a `neither` stands, which is no denial of its own.
    pub(super) nor: Vec<i64>,
    pub(super) roles: Roles,
}

impl Said {
    /// How often it denies, by words and by zeros.
    pub(super) fn n_denials(&self) -> usize {
        self.denials.len() + self.facts.iter().filter(|fact| fact.is_zero()).count()
    }

    /// What denies each of its words and facts, by their stems and texts.
    pub(super) fn denials_of(&self) -> BTreeMap<String, Vec<i64>> {
        let words = self.words.iter().map(|word| (&word.stem, &word.glue));
        let facts = self.facts.iter().map(|fact| (&fact.text, &fact.glue));
        let denied = words
            .chain(facts)
            .filter(|(_, glue)| !glue.denials.is_empty());
        denied
            .map(|(text, glue)| (text.clone(), glue.denials.clone()))
            .collect()
    }

    /// Says of each fact and word what stands before it in the folded text.
    pub(super) fn set_glue(
        &mut self,
        folded: &str,
        ends: &BTreeMap<i64, i64>,
        language: Option<Language>,
    ) {
        let zeros = self.facts.iter().filter(|fact| fact.is_zero());
        let denials = self
            .denials
            .iter()
            .copied()
            .chain(zeros.map(|fact| fact.at));
        let pairs = self
            .nor
            .iter()
            .filter_map(|at| Some((*at, *self.denials.first()?)));
        let denials: Vec<(i64, i64)> = denials.map(|at| (at, at)).chain(pairs).collect();
        let glues = glues(folded, ends, &denials, language);
        for fact in &mut self.facts {
            fact.glue = glues.get(&fact.at).cloned().unwrap_or_default();
        }
        for word in &mut self.words {
            word.glue = glues.get(&word.at).cloned().unwrap_or_default();
        }
        let words = self
            .words
            .iter()
            .map(|word| (word.stem.clone(), &word.glue));
        let facts = self.facts.iter().filter(|fact| !fact.is_name());
        let facts = facts.map(|fact| (fact.role_key(), &fact.glue));
        let roles = words.chain(facts).filter_map(|(key, glue)| {
            let role = glue.role.clone()?;
            PREPOSITIONS.contains(role.as_str()).then_some((key, role))
        });
        self.roles = roles.collect();
    }
}
