//! Facts that an agent should remember: whether a text holds one, denies it, or says something else.

use std::collections::BTreeSet;

use crate::evidence::Spans;
use crate::text::{
    self, Language, NumberStyle, clauses, content_words, detect, excerpt, fold, is_negated,
    opposite, plain, sentences,
};

/// The part of a fact's content words that a text must have to hold it.
const HOLDS: f64 = 0.6;

/// A fact in words, as it is looked for in texts.
pub(super) struct Fact {
    pub text: String,
    pub language: Language,
    pub content: BTreeSet<String>,
    /// Numbers, dates, times and the like, normalised.
    hard: BTreeSet<String>,
}

/// Words of facts that say that they are facts.
const ABOUT_FACTS: &[&str] = &[
    "user",
    "users",
    "prefer",
    "prefers",
    "preferred",
    "preference",
    "likes",
    "wants",
    "always",
    "remember",
    "response",
    "responses",
    "answer",
    "answers",
    "reply",
    "replies",
    "output",
    "favorite",
    "favourite",
    "called",
    "named",
    "live",
    "lives",
];

impl Fact {
    pub(super) fn of(text: &str) -> Self {
        let folded = fold(text);
        let language = detect(&folded).unwrap_or(Language::English);
        let mut content = content_words(&folded, language);
        let all = content.clone();
        for word in ABOUT_FACTS {
            content.remove(&text::keyed(word, language));
        }
        if content.is_empty() {
            content = all;
        }
        Self {
            hard: hard(&folded, language),
            text: folded,
            language,
            content,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.hard.is_empty()
    }

    /// Whether it has a name, a date or an identifier, which stands for itself in whatever a text says.
    pub(super) fn is_telling(&self) -> bool {
        let is_number = |hard: &String| hard.parse::<f64>().is_ok();
        self.hard.iter().any(|hard| !is_number(hard))
            || text::words(&self.text).skip(1).any(|word| {
                word.text.contains(char::is_uppercase)
                    && self
                        .content
                        .contains(&text::keyed(word.text, self.language))
            })
    }

    /// Whether it says what somebody wants or may not have: an answer honours it by what it leaves out.
    pub(super) fn forbids(&self) -> bool {
        const FORBID: &[&str] = &[
            "allergic",
            "allergy",
            "avoid",
            "avoids",
            "dislikes",
            "hates",
            "intolerant",
            "only",
            "vegan",
            "vegetarian",
        ];
        is_negated(&self.text, self.language)
            || text::words(&self.text)
                .any(|word| FORBID.contains(&word.text.to_lowercase().as_str()))
    }

    /// Whether all its words and values stand in a text, whatever that says of them.
    pub(super) fn is_named_in(&self, folded: &str) -> bool {
        let mut hard = hard(folded, self.language);
        hard.extend(hours(&hard));
        self.content
            .is_subset(&content_words(folded, self.language))
            && self.hard.is_subset(&hard)
    }

    /// Whether a text has one of its words.
    pub(super) fn has_words_of(&self, folded: &str) -> bool {
        !content_words(folded, self.language).is_disjoint(&self.content)
    }

    /// What of it another fact doesn't say.
    pub(super) fn without(&self, other: &Self) -> Self {
        Self {
            text: self.text.clone(),
            language: self.language,
            content: self.content.difference(&other.content).cloned().collect(),
            hard: self.hard.difference(&other.hard).cloned().collect(),
        }
    }

    /// What a text lacks to hold it: every number and date, enough of the words, or the right sense.
    pub(super) fn missing_in(&self, folded: &str) -> Option<String> {
        if self.is_empty() {
            let is_there = contains_words(&plain(folded), &plain(&self.text));
            return (!is_there).then(|| format!("`{}`", excerpt(&self.text)));
        }
        // What is asked is not said.
        let stated: Vec<&str> = sentences(folded)
            .into_iter()
            .filter(|sentence| !is_asked(sentence))
            .collect();
        let stated = stated.join("\n");
        let folded = stated.as_str();
        let mut hard = hard(folded, self.language);
        hard.extend(hours(&hard));
        if let Some(missing) = self.hard.iter().find(|span| !hard.contains(*span)) {
            return Some(format!("`{missing}` is missing"));
        }
        if let Some(denied) = self.denied_value(folded) {
            return Some(format!("`{denied}` is denied"));
        }
        let known = content_words(folded, self.language);
        let missing: Vec<&String> = self.content.difference(&known).collect();
        let shared = self.content.len() - missing.len();
        if (shared as f64) < HOLDS * self.content.len() as f64 {
            let told: Vec<String> = missing
                .iter()
                .take(5)
                .map(|word| format!("`{word}`"))
                .collect();
            return Some(format!(
                "{} of {} words, without {}",
                shared,
                self.content.len(),
                told.join(", ")
            ));
        }
        self.denied_in(folded)
            .map(|clause| format!("“{}” says the opposite", excerpt(&clause)))
    }

    /// A word of it that a text doesn't have, even if it has enough of the others.
    pub(super) fn unsaid_in(&self, folded: &str) -> Option<String> {
        let known = content_words(folded, self.language);
        let word = self.content.difference(&known).next()?;
        let written = text::words(&self.text)
            .find(|written| text::keyed(written.text, self.language) == *word);
        Some(written.map_or_else(|| word.clone(), |written| written.text.to_owned()))
    }

    /// A number or a date that stands in denials only: `at 10, not at 9`.
    fn denied_value(&self, folded: &str) -> Option<&String> {
        if is_negated(&self.text, self.language) {
            return None;
        }
        let stated: BTreeSet<String> = clauses(folded)
            .into_iter()
            .filter(|clause| !is_negated(clause, self.language))
            .flat_map(|clause| hard(clause, self.language))
            .collect();
        let is_split = |value: &&String| {
            let of_clauses = clauses(folded).into_iter();
            of_clauses
                .filter(|clause| is_negated(clause, self.language))
                .any(|clause| hard(clause, self.language).contains(*value))
        };
        self.hard
            .iter()
            .filter(|value| !stated.contains(*value))
            .find(is_split)
    }

    /// A clause that is about the same and says the opposite, if none says the same.
    pub(super) fn denied_in(&self, folded: &str) -> Option<String> {
        let is_negated_here = is_negated(&self.text, self.language);
        let ends = ["no longer", "not anymore", "not any more", "nicht mehr"];
        let ended = sentences(folded).into_iter().find(|sentence| {
            let known = content_words(sentence, self.language);
            let shared = self.content.intersection(&known).count();
            let lower = sentence.to_lowercase();
            (shared as f64) >= HOLDS * self.content.len() as f64
                && self.hard.is_empty()
                && ends.iter().any(|end| lower.contains(end))
        });
        if let Some(sentence) = ended.filter(|_| !is_negated_here) {
            return Some(sentence.to_owned());
        }
        let mut denied = None;
        for clause in clauses(folded).into_iter().chain([folded]) {
            let known = content_words(clause, self.language);
            let shared = self.content.intersection(&known).count();
            if (shared as f64) < HOLDS * self.content.len() as f64 || shared == 0 {
                continue;
            }
            let is_denied = is_negated(clause, self.language) != is_negated_here
                || opposite(&self.text, clause).is_some();
            if !is_denied {
                return None;
            }
            denied.get_or_insert_with(|| clause.to_owned());
        }
        denied
    }
}

/// Whether a sentence asks, or says that somebody asks.
fn is_asked(sentence: &str) -> bool {
    sentence.trim_end().ends_with('?')
        || text::words(sentence).any(|word| word.text.eq_ignore_ascii_case("whether"))
}

/// The place in an order that a word names: `second`, `2nd`.
fn ordinal(word: &str) -> Option<usize> {
    const ORDINALS: &[&str] = &[
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth",
    ];
    let lower = word.to_lowercase();
    let number = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| lower.strip_suffix(end)?.parse().ok());
    number.or_else(|| Some(ORDINALS.iter().position(|known| *known == lower)? + 1))
}

/// What hours are written as otherwise: `at nine` and `at 9:00`.
fn hours(hard: &BTreeSet<String>) -> Vec<String> {
    hard.iter()
        .filter_map(|hard| match hard.strip_suffix(":00") {
            Some(hour) => Some(hour.to_owned()),
            None => hard
                .parse::<u8>()
                .ok()
                .filter(|hour| *hour < 24)
                .map(|hour| format!("{hour}:00")),
        })
        .collect()
}

/// What must be the same to the letter.
fn hard(folded: &str, language: Language) -> BTreeSet<String> {
    let spans = Spans::of(
        folded,
        NumberStyle {
            language: Some(language),
            is_source: false,
        },
    );
    let mut hard = BTreeSet::new();
    hard.extend(spans.urls.iter().map(|url| text::normal_url(url)));
    hard.extend(spans.emails.iter().map(|(_, email)| email.to_lowercase()));
    hard.extend(
        spans
            .identifiers
            .into_iter()
            .map(|identifier| identifier.key),
    );
    for date in &spans.dates {
        // The day is what a wrong date changes; the year is often left out.
        hard.extend(
            date.readings
                .first()
                .map(|date| format!("{}-{}", date.month, date.day.unwrap_or(0))),
        );
    }
    for moment in &spans.moments {
        hard.insert(format!(
            "{}:{:02}",
            moment.minutes / 60,
            moment.minutes % 60
        ));
    }
    for number in &spans.numbers {
        if let Some(quantity) = number.readings.first() {
            let quantity = quantity.normal();
            hard.insert(quantity.value().to_string());
        }
    }
    for word in text::words(&spans.prose) {
        hard.extend(ordinal(word.text).map(|place| format!("{place}th")));
        if let Some(weekday) = text::weekday_of(word.text) {
            hard.insert(format!("{weekday:?}").to_lowercase());
        }
    }
    hard
}

/// Whether a text stands in another with its words whole.
pub(super) fn contains_words(text: &str, wanted: &str) -> bool {
    !wanted.is_empty()
        && text.match_indices(wanted).any(|(at, _)| {
            !text[..at].ends_with(char::is_alphanumeric)
                && !text[at + wanted.len()..].starts_with(char::is_alphanumeric)
        })
}
