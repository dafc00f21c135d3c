//! What the user said in the prompt, as far as it can be told from the words around it.

use cuecard_source::value::as_text;
use serde_json::Value;

use super::values::{Weight, is_date, weight, words};

/// So much of the prompts is looked at, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// The user's words.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    text: String,
    /// What stands there in quotes, and words that are no plain words: `acme/web`, `https://…`, `4711`.
    /// Numbers among them that are whole values of parameters are given as numbers.
    pub(super) literals: Vec<Value>,
    /// Single plain words that are whole values of parameters.
    pub(super) names: Vec<String>,
    /// Where each prompt begins in the text, and how many calls there were before it.
    starts: Vec<(usize, usize)>,
    /// What stands in quotes, in its order.
    pub(super) quoted: Vec<String>,
}

/// What it means that a value stands in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    /// It is not there.
    None,
    /// It may be another word that is spelled so.
    Word,
    /// The user gave it.
    Literal,
}

impl Prompt {
    /// Of prompts, with how many calls there were before each, as far as that is known.
    pub(super) fn new(prompts: &[String], prompted_at: &[usize]) -> Self {
        let mut text = String::new();
        let mut starts = Vec::new();
        for (idx, prompt) in prompts.iter().enumerate() {
            if text.len() + prompt.len() <= MOST_TEXT {
                starts.push((text.len(), prompted_at.get(idx).copied().unwrap_or(0)));
                text.push_str(prompt);
                text.push('\n');
            }
        }
        let mut literals: Vec<String> = quoted(&text).map(str::to_owned).collect();
        let quoted = literals.clone();
        let is_telling = |word: &str| match weight(&Value::from(word)) {
            Weight::Middling => word.contains(|letter: char| !letter.is_ascii_digit()),
            weight => weight == Weight::Strong,
        };
        let telling = words(&text).filter(|(_, word)| is_telling(word));
        literals.extend(telling.map(|(_, word)| word.trim_end_matches(['.', ':']).to_owned()));
        literals.sort_unstable();
        literals.dedup();
        Self {
            text,
            literals: literals.into_iter().map(Value::from).collect(),
            names: Vec::new(),
            starts,
            quoted,
        }
    }

    /// How a value stands in the prompt.
    pub(super) fn mentions(&self, value: &Value) -> Mention {
        let text = as_text(value);
        let is_there = match value {
            Value::String(text) => {
                text.trim().chars().count() > 1 && occurrences(&self.text, text).next().is_some()
            }
            Value::Number(_) => {
                let mut places = occurrences(&self.text, &text);
                places.any(|at| !is_inside_code(&self.text, at, text.len()))
            }
            _ => false,
        };
        let tells = || match value {
            Value::String(text) => {
                self.literals.contains(value)
                    || weight(value) >= Weight::Middling
                    || text.trim().contains(char::is_whitespace)
                    || self.is_name(text)
            }
            _ => text.len() > 1,
        };
        match is_there {
            false => Mention::None,
            true if tells() => Mention::Literal,
            true => Mention::Word,
        }
    }

    /// How many calls there were before the first prompt that has a value.
    pub(super) fn calls_before(&self, value: &Value) -> usize {
        let text = as_text(value);
        let at = occurrences(&self.text, &text).next().unwrap_or(0);
        let mut starts = self.starts.iter().rev();
        let start = starts.find(|(start, _)| *start <= at);
        start.map_or(0, |(_, n_calls)| *n_calls)
    }

    /// The word before a number, in lower case; none before `#42` or at the beginning.
    pub(super) fn word_before(&self, number: &str) -> Option<String> {
        let at = occurrences(&self.text, number).next()?;
        let before = self.text[..at].strip_suffix(' ')?;
        let word = before
            .rsplit(|letter: char| !letter.is_alphanumeric())
            .next()?;
        (!word.is_empty()).then(|| word.to_lowercase())
    }

    /// Whether it begins with a capital letter in the middle of a sentence.
    fn is_name(&self, text: &str) -> bool {
        text.starts_with(char::is_uppercase)
            && occurrences(&self.text, text).any(|at| {
                let before = self.text[..at].trim_end_matches(' ');
                before.ends_with(|last: char| last.is_alphanumeric() || last == ',')
            })
    }
}

/// Whether a number is a part of a date, a time, a phone number, an address or the like.
fn is_inside_code(text: &str, at: usize, length: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + length..]);
    let is_glued = |mut letters: std::iter::Rev<std::str::Chars<'_>>| {
        letters.next().is_some_and(|sign| "-/_.@:+".contains(sign))
            && letters.next().is_some_and(char::is_alphanumeric)
    };
    let is_phone = before
        .rsplit(|letter: char| !letter.is_ascii_digit() && !" +".contains(letter))
        .next()
        .is_some_and(|digits| digits.contains('+'));
    let mut letters = after.chars();
    let goes_on = letters.next().is_some_and(|sign| "-/_.@:,".contains(sign))
        && letters.next().is_some_and(char::is_alphanumeric);
    is_glued(before.chars().rev()) || is_phone || goes_on
}

/// What stands in quotes of any kind.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let quotes = [
        ('"', '"'),
        ('\'', '\''),
        ('`', '`'),
        ('“', '”'),
        ('‘', '’'),
        ('«', '»'),
        ('「', '」'),
        ('『', '』'),
    ];
    let all = quotes.into_iter();
    all.flat_map(move |(start, end)| between(text, start, end))
}

/// What stands in quotes on a line; a quote inside a word is an apostrophe.
fn between(text: &str, start: char, end: char) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 200;
    let is_letter = |letter: Option<char>| letter.is_some_and(joins_word);
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let open = at + text[at..].find(start)?;
            let from = open + start.len_utf8();
            at = from;
            let rest = text[from..].lines().next().unwrap_or_default();
            let mut ends = rest.match_indices(end).map(|(at, _)| at);
            let closes = |at: &usize| !is_letter(rest[at + end.len_utf8()..].chars().next());
            if let Some(length) = ends.find(closes)
                && !is_letter(text[..open].chars().last())
                && (2..=LONGEST).contains(&length)
            {
                at = from + length + end.len_utf8();
                return Some(&text[from..from + length]);
            }
        }
    })
}

/// Whether a letter beside another one belongs to the same word. Chinese and Japanese have no spaces, and Korean particles
/// none before them.
pub(super) fn joins_word(letter: char) -> bool {
    let is_cjk = matches!(letter, '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}');
    letter.is_alphanumeric() && !is_cjk
}

/// Where a text stands in another one and is no part of a longer word.
pub(super) fn occurrences<'t>(text: &'t str, part: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_letter = |letter: Option<char>| letter.is_some_and(joins_word);
    let places = (!part.is_empty()).then(|| text.match_indices(part));
    places
        .into_iter()
        .flatten()
        .map(|(at, _)| at)
        .filter(move |&at| {
            let (first, last) = (part.chars().next(), part.chars().last());
            let before = text[..at].chars().last();
            let after = text[at + part.len()..].chars().next();
            let goes_on = |one, other| is_letter(one) && is_letter(other);
            // The date of a point in time is a whole one.
            let is_time = after == Some('T') && is_date(part);
            !goes_on(first, before) && (is_time || !goes_on(last, after))
        })
}
