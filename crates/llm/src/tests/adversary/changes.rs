//! What clients make of the history that they send.

use cuecard_timeline::script::Endpoint;
use serde_json::{Value, json};

use super::{Case, Departure, Random};

/// What a history makes of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Its last word is missing.
    Cut,
    /// It has a word more.
    Extended,
    /// One of its words is another one.
    OtherWord(usize, String),
    /// A call is one of another tool.
    OtherTool,
    /// A call has an argument more.
    OtherArguments,
    /// A call is gone, and its result with it.
    FewerCalls,
    /// The text behind the call with this number stands before it.
    MovedText(usize),
    /// It is gone.
    DroppedText(usize),
    /// It has changed places with the text before the call.
    SwappedTexts(usize),
}

impl Change {
    pub(super) fn is_about_order(&self) -> bool {
        matches!(
            self,
            Self::MovedText(_) | Self::DroppedText(_) | Self::SwappedTexts(_)
        )
    }

    pub(super) fn make(&self, texts: &mut [String], calls: &mut Vec<(String, String, Value)>) {
        let longest = texts.iter_mut().max_by_key(|text| n_words(text));
        let text = longest.expect("one before the first call");
        let of_words = text.clone();
        let mut words: Vec<&str> = of_words.split(' ').collect();
        match self {
            Self::MovedText(nth) => {
                let moved = std::mem::take(&mut texts[nth + 1]);
                texts[*nth].push_str(&moved);
            }
            Self::DroppedText(nth) => texts[nth + 1].clear(),
            Self::SwappedTexts(nth) => texts.swap(*nth, nth + 1),
            Self::Cut => {
                words.pop();
                *text = words.join(" ");
            }
            Self::Extended => text.push_str(" indeed"),
            Self::OtherWord(idx, word) => {
                words[*idx] = word;
                *text = words.join(" ");
            }
            Self::OtherTool => calls[0].1.push_str("_else"),
            Self::OtherArguments => match &mut calls[0].2 {
                Value::Object(args) => {
                    args.insert("else".to_owned(), json!("x"));
                }
                other => *other = json!({"else": "x"}),
            },
            Self::FewerCalls => {
                calls.pop();
            }
        }
    }
}

impl Case {
    /// A change of each kind, to an answer that the last request has in its history.
    pub(super) fn changed_answers(&self, live: &[usize], random: &mut Random) -> Vec<Departure> {
        let last = live.iter().rposition(|&turn_idx| {
            // Only who asks for more tells what it remembers.
            !self.turn(turn_idx).is_only_errors()
        });
        let before = &live[..last.unwrap_or(0)];
        let remembered: Vec<usize> = before
            .iter()
            .copied()
            .filter(|&turn_idx| self.is_remembered(turn_idx))
            .collect();
        let longest = |turn_idx: usize| {
            let texts = self.turn(turn_idx).texts().into_iter();
            texts.max_by_key(|text| n_words(text)).unwrap_or_default()
        };
        let of = |holds: &dyn Fn(usize) -> bool| -> Vec<usize> {
            remembered
                .iter()
                .copied()
                .filter(|&turn_idx| holds(turn_idx))
                .collect()
        };
        let with_text = of(&|turn_idx| n_words(&longest(turn_idx)) > 1);
        let behind = |turn_idx: usize| {
            let texts = self.turn(turn_idx).texts();
            (1..texts.len()).find(|&idx| !texts[idx].trim().is_empty())
        };
        let with_order = of(&|turn_idx| behind(turn_idx).is_some());
        let with_calls = of(&|turn_idx| self.turn(turn_idx).calls().next().is_some());
        let with_more = of(&|turn_idx| self.turn(turn_idx).calls().count() > 1);
        let mut found = Vec::new();
        if let Some(turn_idx) = random.pick(&with_text) {
            let text = longest(turn_idx);
            let words = text
                .split(' ')
                .enumerate()
                .filter(|(_, word)| !word.trim().is_empty());
            let words: Vec<usize> = words.map(|(idx, _)| idx).collect();
            let other = Change::OtherWord(random.pick(&words).unwrap_or_default(), random.word());
            let ends_in_word = text
                .split(' ')
                .next_back()
                .is_some_and(|word| !word.trim().is_empty());
            found.extend(ends_in_word.then_some(Departure::ChangedAnswer(turn_idx, Change::Cut)));
            found.extend(
                [Change::Extended, other].map(|change| Departure::ChangedAnswer(turn_idx, change)),
            );
        }
        if let Some(turn_idx) = random.pick(&with_calls) {
            found.extend(
                [Change::OtherTool, Change::OtherArguments]
                    .map(|change| Departure::ChangedAnswer(turn_idx, change)),
            );
        }
        // A message of Chat has no place between its calls.
        if self.endpoint != Endpoint::Chat
            && let Some(turn_idx) = random.pick(&with_order)
            && let Some(nth) = behind(turn_idx).map(|idx| idx - 1)
        {
            let texts = self.turn(turn_idx).texts();
            let is_swapped = texts[nth] != texts[nth + 1];
            let swapped = is_swapped.then_some(Change::SwappedTexts(nth));
            let changes = [Change::MovedText(nth), Change::DroppedText(nth)];
            let changes = changes.into_iter().chain(swapped);
            found.extend(changes.map(|change| Departure::ChangedAnswer(turn_idx, change)));
        }
        let more = random.pick(&with_more);
        found.extend(more.map(|turn_idx| Departure::ChangedAnswer(turn_idx, Change::FewerCalls)));
        found
    }
}

fn n_words(text: &str) -> usize {
    text.split_whitespace().count()
}
