//! How many there are of something: `there are 3 'Delete' buttons`, `the table has 4 rows`, `no error is shown`.

use super::assertion::{Claim, VISIBLE, put_within, saying, without_page};
use super::phrase::{CONTAINER_WORDS, Phrase, RoleWord, Words, span, take_place};
use super::sentence::{Token, after};
use crate::{AssertKind, BrowserAssertion, Compare, ContainerKind};

const NUMBERS: &[&str] = &[
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// What people call an alert, whatever it says.
const ALERTS: &[&str] = &[
    "error message",
    "error messages",
    "error",
    "errors",
    "warning",
    "warnings",
    "alert",
    "alerts",
];

/// Words for any alert.
pub(super) fn any_alert(tokens: &[Token]) -> Option<Phrase> {
    let is_all = |words: &&&str| after(tokens, words).is_some_and(<[Token]>::is_empty);
    let found = ALERTS.iter().find(is_all);
    found.map(|_| Phrase::nameless(RoleWord::Alert))
}

/// `no error is shown`: no alert, whatever it says.
pub(super) fn no_alert(tokens: &[Token]) -> Option<Claim> {
    let rest = after(tokens, "no")?;
    let at = rest.iter().position(|token| token.is_any(&["is", "are"]));
    let (subject, tail) = rest.split_at(at.unwrap_or(rest.len()));
    let (key, negate) = saying(without_page(tail))?;
    if negate || !(key.is_empty() || VISIBLE.contains(&key.as_str())) {
        return None;
    }
    let mut assertion = BrowserAssertion::new(AssertKind::Visible);
    assertion.negate = true;
    Some((assertion, Some((any_alert(without_page(subject))?, 0..0))))
}

/// `the 'To do' column shows 3 cards`, `the table has at least 4 rows`
pub(super) fn counted_in(tokens: &[Token]) -> Option<Claim> {
    const VERBS: &[&str] = &[
        "has", "have", "shows", "show", "contains", "contain", "displays",
    ];
    let at = tokens.iter().position(|token| token.is_any(VERBS))?;
    let subject = &tokens[..at];
    let end = subject
        .iter()
        .rposition(|token| !token.is_any(&["should", "must", "still", "now"]))?;
    let within = Phrase::read_container(&subject[..=end])?.within?;
    let (number, compare, rest) = number(&tokens[at + 1..])?;
    let [noun] = rest else { return None };
    let phrase = Phrase::counted(noun, within)?;
    Some(count_of(number, compare, (phrase, 0..0)))
}

/// A number with how it is compared, and what follows it: `at least 3`, `no`.
pub(super) fn number(tokens: &[Token]) -> Option<(i64, Compare, &[Token])> {
    let (compare, shift, rest) = [
        ("at least", Compare::AtLeast, 0),
        ("at most", Compare::AtMost, 0),
        ("more than", Compare::AtLeast, 1),
        ("fewer than", Compare::AtMost, -1),
        ("less than", Compare::AtMost, -1),
        ("exactly", Compare::Equal, 0),
        ("only", Compare::Equal, 0),
    ]
    .into_iter()
    .find_map(|(words, compare, shift)| Some((compare, shift, after(tokens, words)?)))
    .unwrap_or((Compare::Equal, 0, tokens));
    let (number, rest) = rest.split_first()?;
    let word = number.as_str()?.to_lowercase();
    let number = figure(&word).or_else(|| word.parse::<u32>().ok().map(i64::from))?;
    let number = number + shift;
    (number >= 0).then_some((number, compare, rest))
}

fn count_of(number: i64, compare: Compare, words: Words) -> Claim {
    let mut assertion = BrowserAssertion::new(AssertKind::Count);
    assertion.compare = compare;
    assertion.expected = Some(number.into());
    (assertion, Some(words))
}

/// `at least 3 'Delete' buttons`, `3 rows in the table`
pub(super) fn count(rest: &[Token]) -> Result<Claim, String> {
    let form = || "write there are 3 'name' buttons".to_owned();
    let (number, compare, rest) = number(rest).ok_or_else(form)?;
    if let Some((outside, within)) = take_place(rest)
        && let [noun] = outside
        && let Some(phrase) = Phrase::counted(noun, within)
    {
        return Ok(count_of(number, compare, (phrase, span(rest))));
    }
    let words = Phrase::read_as(rest, true)?;
    // Rows, items and lists are no names.
    let is_kind = |phrase: &Phrase| {
        let name = phrase.name.to_lowercase();
        let stem = name.strip_suffix('s').unwrap_or(&name);
        let known = |(word, _): &(&str, ContainerKind)| *word == stem || *word == name;
        !phrase.is_quoted && phrase.role.is_none() && CONTAINER_WORDS.iter().any(known)
    };
    if words.0.is_container() || is_kind(&words.0) {
        let why = "say where rows and items are counted, as in";
        return Err(format!("{why} there are 3 items in the 'To do' list"));
    }
    Ok(count_of(number, compare, words))
}

/// `only one 'Delete' button is visible`
pub(super) fn counted(tokens: &[Token]) -> Option<Claim> {
    let (end, is_place) = match take_place(tokens) {
        Some((outside, _)) => (outside.len(), true),
        None => (without_page(tokens).len(), false),
    };
    let at = tokens[..end]
        .iter()
        .rposition(|token| token.is_any(&["is", "are"]))?;
    let (key, negate) = saying(&tokens[at..end])?;
    if negate || !VISIBLE.contains(&key.as_str()) {
        return None;
    }
    let mut claim = count(&tokens[..at]).ok()?;
    if is_place {
        let (_, within) = take_place(tokens)?;
        put_within(&mut claim, within).ok()?;
    }
    Some(claim)
}

/// The number that a word is.
pub(super) fn figure(word: &str) -> Option<i64> {
    let number = NUMBERS
        .iter()
        .position(|known| known.eq_ignore_ascii_case(word))?;
    i64::try_from(number).ok()
}
