//! What clients make of the history that they send.

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
}

impl Change {
    pub(super) fn make(&self, text: &mut String, calls: &mut Vec<(String, String, Value)>) {
        let mut words: Vec<&str> = text.split(' ').collect();
        match self {
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
        let n_words = |turn_idx: usize| self.turn(turn_idx).text().split_whitespace().count();
        let of = |holds: &dyn Fn(usize) -> bool| -> Vec<usize> {
            remembered
                .iter()
                .copied()
                .filter(|&turn_idx| holds(turn_idx))
                .collect()
        };
        let with_text = of(&|turn_idx| n_words(turn_idx) > 1);
        let with_calls = of(&|turn_idx| self.turn(turn_idx).calls().next().is_some());
        let with_more = of(&|turn_idx| self.turn(turn_idx).calls().count() > 1);
        let mut found = Vec::new();
        if let Some(turn_idx) = random.pick(&with_text) {
            let text = self.turn(turn_idx).text();
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
        let more = random.pick(&with_more);
        found.extend(more.map(|turn_idx| Departure::ChangedAnswer(turn_idx, Change::FewerCalls)));
        found
    }
}
