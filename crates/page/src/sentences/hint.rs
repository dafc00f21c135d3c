//! Why a sentence means nothing on a page: the words of it that the page doesn't have, and what it says without them.

use super::Translation;
use super::assertion::is_said_of_nothing;
use super::gist::{Part, holds, parts};
use super::loose::{LooseAction, gist};
use super::sentence::{Sentence, Token};
use super::surroundings::{hints, is_any_part};
use super::synonyms::{are_alike, noun_of, plain_words};
use crate::ActionKind;
use crate::dom::{DomKind, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;

/// Words for where something is seen, and for what it is, that no page has to say.
const GENERAL: &[&str] = &[
    "left", "right", "top", "bottom", "side", "corner", "header", "footer", "sidebar", "page",
    "icon", "option", "button", "field", "item",
];

/// The longest text that is proposed, in characters.
const LONGEST: usize = 80;

/// What helps to say a sentence better.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hint {
    /// The words that stand nowhere on the page.
    pub missing: Vec<String>,
    /// A sentence that means something on it, and has the most of the others.
    pub say: Option<String>,
}

impl Finder<'_> {
    /// What helps to say a sentence better that means nothing.
    pub fn hint(&self, sentence: &str) -> Hint {
        let Ok(sentence) = Sentence::read(sentence) else {
            return Hint::default();
        };
        let words = self.page_words();
        let is_there = |token: &&Token| !is_missing(token, &words);
        match gist(&sentence) {
            Some(LooseAction { action, verb, rest }) => {
                let found: Vec<Token> = rest.iter().filter(is_there).cloned().collect();
                let meant = match found.len() == rest.len() {
                    true => None,
                    false => self.deed_meant(action, verb, &found),
                };
                Hint {
                    missing: missing(rest, &words),
                    say: meant
                        .filter(|(kind, ..)| *kind == ActionKind::Click)
                        .and_then(|(_, _, target)| self.click_on(target)),
                }
            }
            None => {
                let said = sentence
                    .tokens
                    .iter()
                    .filter(|token| !is_said_of_nothing(token));
                let said: Vec<Token> = said.cloned().collect();
                Hint {
                    missing: missing(&said, &words),
                    say: self.nearest_claim(&said),
                }
            }
        }
    }

    fn click_on(&self, target: NodeId) -> Option<String> {
        let sentence = format!("click the {}", self.words_for(target)?);
        let means_it = matches!(
            self.translate(&sentence),
            Translation::Step { target: Some(found), .. } if found == target
        );
        means_it.then_some(sentence)
    }

    /// That the text is visible that has all of the words: one with fewer would claim less.
    fn nearest_claim(&self, tokens: &[Token]) -> Option<String> {
        let wanted: Vec<String> = parts(tokens)
            .into_iter()
            .flat_map(|part| match part {
                Part::Word(word) => vec![word],
                Part::Words { words, .. } => words,
                Part::Noun(..) | Part::Nth { .. } => Vec::new(),
            })
            .collect();
        if wanted.len() < 2 {
            return None;
        }
        let texts = self.state.nodes.iter().filter_map(|node| match &node.kind {
            DomKind::Text(run) if run.is_visible => Some(single_spaces(&run.text)),
            _ => None,
        });
        let texts = texts.filter(|text| text.chars().count() <= LONGEST && !text.contains('\''));
        let (_, text) = texts
            .map(|text| (plain_words(&text), text))
            .filter(|(words, _)| wanted.iter().all(|word| words.contains(word)))
            .map(|(words, text)| (std::cmp::Reverse(words.len()), text))
            .max()?;
        let sentence = format!("verify '{text}' is visible");
        let is_understood = matches!(self.translate(&sentence), Translation::Step { .. });
        is_understood.then_some(sentence)
    }

    /// Every word that is seen on the page, and those that its author calls what is seen.
    fn page_words(&self) -> Vec<Vec<String>> {
        let mut words = Vec::new();
        for (id, element) in self
            .state
            .elements()
            .filter(|(_, element)| element.is_visible)
        {
            words.extend(self.called(id).names);
            words.push(hints(element));
            words.push(vec![element.role.clone()]);
        }
        words.extend(self.state.nodes.iter().filter_map(|node| match &node.kind {
            DomKind::Text(run) if run.is_visible => Some(plain_words(&run.text)),
            _ => None,
        }));
        words
    }
}

/// The words that stand nowhere on the page, as they are written.
fn missing(tokens: &[Token], words: &[Vec<String>]) -> Vec<String> {
    tokens
        .iter()
        .filter(|token| is_missing(token, words))
        .filter_map(Token::text)
        .map(str::to_owned)
        .collect()
}

fn is_missing(token: &Token, words: &[Vec<String>]) -> bool {
    let is_known = |one: &str| {
        is_any_part(one)
            || GENERAL.contains(&one)
            || words
                .iter()
                .flatten()
                .any(|known| are_alike(known, one) || noun_of(known, one))
    };
    parts(std::slice::from_ref(token))
        .iter()
        .any(|part| match part {
            Part::Word(word) => !is_known(word),
            Part::Words { words: said, .. } => !words.iter().any(|text| holds(text, said)),
            Part::Noun(..) | Part::Nth { .. } => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::testing::page;

    #[test]
    fn what_a_page_has_no_word_for_is_named_and_the_rest_is_said_in_a_form() {
        let state = page(
            "table\n  tr\n    td \"28 April\" | 28 April\n    td\n      button \"Restore\"\n  tr\n    td \"1 May\" | 1 May\n    td\n      button \"Restore\"\np | Draft saved 10:42",
        );
        let finder = Finder::new(&state, "data-testid");
        for (sentence, missing, say) in [
            (
                "Restore the version of 28 April",
                &["version"][..],
                Some("click the 'Restore' button in the '28 April' row"),
            ),
            (
                "Check that the draft was saved at 10:42",
                &[],
                Some("verify 'Draft saved 10:42' is visible"),
            ),
            (
                "Check that the draft was last saved at 10:42",
                &["last"],
                None,
            ),
            ("click the golden 'Undo'", &["golden", "Undo"], None),
            ("", &[], None),
        ] {
            let hint = finder.hint(sentence);
            assert_eq!(hint.missing, missing, "{sentence}");
            assert_eq!(hint.say.as_deref(), say, "{sentence}");
        }
    }
}
