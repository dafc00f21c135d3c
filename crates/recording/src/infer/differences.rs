//! Values that differ between two recordings, and how longer texts are made of them.

use std::collections::BTreeSet;

use cuecard_source::value::as_text;
use serde_json::Value;

use super::prompt::occurrences;
use super::spellings::{goes_on, words_of};
use super::values::{each_leaf_at, letters_of, parts_of};

/// A value at the same place of both recordings, where they differ.
#[derive(Debug, Clone)]
pub(super) struct Difference {
    pub(super) values: [Value; 2],
    /// The values as texts.
    pub(super) texts: [String; 2],
    /// What it is called there; empty in a prompt.
    pub(super) key: String,
    /// The first step that may use it: of a result, the one behind the call.
    pub(super) from_step: usize,
}

impl Difference {
    pub(super) fn new(key: &str, values: [&Value; 2], from_step: usize) -> Self {
        Self {
            values: values.map(Value::clone),
            texts: values.map(|value| as_text(value).into_owned()),
            key: key.to_owned(),
            from_step,
        }
    }
}

/// Whether two texts have these in them, each its own.
pub(super) fn holds(texts: &[String; 2], parts: &[String; 2]) -> bool {
    let mut pairs = texts.iter().zip(parts);
    pairs.all(|(text, part)| occurrences(text, part).next().is_some())
}

/// A piece of a text that differs between two recordings.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// Text of both.
    Same(String),
    /// A known difference, by its index.
    Known(usize),
    /// What differs there, unknown from elsewhere: whole words in both.
    Middle([String; 2]),
}

/// Calls `visit` with the names and values of all texts, numbers and booleans at the same places that differ.
pub(super) fn each_difference(values: [&Value; 2], visit: &mut impl FnMut(&str, [&Value; 2])) {
    let is_value = |value: &Value| !(value.is_null() || value.is_array() || value.is_object());
    each_leaf_at(values[0], &mut |path, one| {
        let other = path.get(values[1]).filter(|other| *other != one);
        if let Some(other) = other.filter(|other| is_value(one) && is_value(other)) {
            visit(&path.name, [one, other]);
        }
    });
}

/// The pieces of two texts: `known` differences, of which the first comes first, and the text between them.
pub(super) fn pieces(known: &[Difference], texts: &[String; 2]) -> Vec<Piece> {
    let mut inside: Vec<usize> = (0..known.len()).collect();
    loop {
        let mut pieces = vec![Piece::Middle(texts.clone())];
        let mut apply = |take_apart: &dyn Fn([String; 2]) -> Vec<Piece>| {
            let all = std::mem::take(&mut pieces).into_iter();
            pieces = all
                .flat_map(|piece| match piece {
                    Piece::Middle(texts) => take_apart(texts),
                    piece => vec![piece],
                })
                .collect();
        };
        for idx in &inside {
            apply(&|texts| around_known(*idx, &known[*idx].texts, texts));
        }
        apply(&around_middle);
        // A word of which only a part is known is not taken apart.
        let torn = pieces.windows(2).find_map(|pair| match pair {
            [Piece::Known(idx), Piece::Middle(_)] | [Piece::Middle(_), Piece::Known(idx)] => {
                Some(*idx)
            }
            _ => None,
        });
        match torn {
            Some(torn) => inside.retain(|idx| *idx != torn),
            None => return pieces,
        }
    }
}

/// The pieces of two texts that hold a known difference equally often.
fn around_known(idx: usize, known: &[String; 2], texts: [String; 2]) -> Vec<Piece> {
    let [ones, others] = [0, 1].map(|side| split(&texts[side], &known[side]));
    if ones.len() != others.len() {
        return vec![Piece::Middle(texts)];
    }
    let mut pieces = Vec::new();
    for (nth, (one, other)) in ones.into_iter().zip(others).enumerate() {
        pieces.extend((nth > 0).then_some(Piece::Known(idx)));
        match one == other {
            true if one.is_empty() => {}
            true => pieces.push(Piece::Same(one.to_owned())),
            false => pieces.push(Piece::Middle([one, other].map(str::to_owned))),
        }
    }
    pieces
}

/// The pieces of a text between those that are a value: no part of a longer word or number.
fn split<'t>(text: &'t str, value: &str) -> Vec<&'t str> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let (mut at, mut pieces) = (0, Vec::new());
    for start in occurrences(text, value) {
        let (before, after) = (&text[..start], &text[start + value.len()..]);
        let is_part = is_number && (goes_on(before.chars().rev()) || goes_on(after.chars()));
        if start >= at && !is_part {
            pieces.push(&text[at..start]);
            at = start + value.len();
        }
    }
    pieces.push(&text[at..]);
    pieces
}

/// The one piece in which two texts differ, between what they share: whole words, and not empty in one of them.
fn around_middle(texts: [String; 2]) -> Vec<Piece> {
    let is_word = |letter: char| !letter.is_whitespace() && !"\"'`<>()[]{}|;".contains(letter);
    let [one, other] = texts.each_ref().map(String::as_str);
    let n_same = |letters: &mut dyn Iterator<Item = (char, char)>| -> usize {
        let same = letters.take_while(|(one, other)| one == other);
        same.map(|(letter, _)| letter.len_utf8()).sum()
    };
    let start = n_same(&mut one.chars().zip(other.chars()));
    let rests = [one, other].map(|text| text[start..].chars().rev());
    let n_behind = n_same(&mut std::iter::zip(rests[0].clone(), rests[1].clone()));
    // The words that the difference touches belong to it, without the punctuation behind the last one.
    let start = one[..start].trim_end_matches(is_word).len();
    let behind = &one[one.len() - n_behind..];
    let is_cut = |text: &str| text[..text.len() - n_behind].ends_with(is_word);
    let n_behind = match is_cut(one) || is_cut(other) {
        true => behind.trim_start_matches(is_word).len(),
        false => n_behind,
    };
    let mut middles = [one, other].map(|text| &text[start..text.len() - n_behind]);
    while let [Some(last), Some(other_last)] = middles.map(|middle| middle.chars().last())
        && last == other_last
        && ".,:;!?".contains(last)
    {
        middles = middles.map(|middle| &middle[..middle.len() - 1]);
    }
    if middles.iter().any(|middle| middle.trim().is_empty()) {
        return vec![Piece::Middle(texts)];
    }
    let (before, after) = (&one[..start], &one[start + middles[0].len()..]);
    let middle = Piece::Middle(middles.map(str::to_owned));
    let mut pieces = vec![
        Piece::Same(before.to_owned()),
        middle,
        Piece::Same(after.to_owned()),
    ];
    pieces.retain(|piece| *piece != Piece::Same(String::new()));
    pieces
}

/// Whether values are in others of the same recordings, however they are written: `ann-lee` in `Mrs. Ann Lee`.
fn resemble(texts: &[String; 2], parts: &[String; 2]) -> bool {
    let [texts, parts] = [texts, parts].map(|texts| texts.each_ref().map(|it| letters_of(it)));
    let mut pairs = texts.iter().zip(&parts);
    pairs.all(|(text, part)| part.len() >= SHORTEST_MARK && text.contains(part.as_str()))
}

/// How much speaks for it that two variables stand for one value: one is in the other, or they share words in each
/// recording that the other recording has not; 0 is nothing.
pub(super) fn relation(one: &[String; 2], other: &[String; 2]) -> usize {
    let words = |text: &String| {
        let words = words_of(text).into_iter().map(|word| word.folded);
        let words = words.chain(parts_of(text).map(letters_of));
        let words = words.filter(|word| word.chars().count() >= SHORTEST_MARK);
        words.collect::<BTreeSet<String>>()
    };
    let [ones, others] = [one, other].map(|texts| texts.each_ref().map(words));
    let shared = |side: usize| {
        let shared = ones[side].intersection(&others[side]);
        shared
            .filter(|word| !ones[1 - side].contains(*word) && !others[1 - side].contains(*word))
            .count()
    };
    match resemble(one, other) || resemble(other, one) {
        true => usize::MAX,
        false => shared(0).min(shared(1)),
    }
}

/// The shortest word that tells something, in characters.
const SHORTEST_MARK: usize = 3;
