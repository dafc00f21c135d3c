//! What a sentence says must hold: `'Saved' is visible`, `the URL contains '/home'`, `there are 3 'Delete' buttons`.

use super::phrase::{Phrase, without_ignored};
use super::sentence::{Token, TokenKind};
use super::verbs::take_value;
use crate::scenario::browser::{AssertKind, BrowserAssertion, Compare, TextMatch};
use crate::value::Json;

/// What can be said of an element behind "is", and whether it is the opposite.
const STATES: &[(&str, AssertKind, bool)] = &[
    ("visible", AssertKind::Visible, false),
    ("shown", AssertKind::Visible, false),
    ("hidden", AssertKind::Visible, true),
    ("gone", AssertKind::Visible, true),
    ("enabled", AssertKind::Enabled, false),
    ("disabled", AssertKind::Disabled, false),
    ("checked", AssertKind::Checked, false),
    ("unchecked", AssertKind::Unchecked, false),
    ("focused", AssertKind::Focused, false),
    ("editable", AssertKind::Editable, false),
];

type Claim = (BrowserAssertion, Option<Phrase>);

/// Words that join what is said with what it is said of.
const JOINTS: &[&str] = &["is", "are", "should", "appears", "contains", "does"];

/// Whether words say something that holds or not.
pub(super) fn is_claim(tokens: &[Token]) -> bool {
    tokens.iter().skip(1).any(|token| token.is_any(JOINTS))
        && tokens.len() > 1
        && claim(tokens).is_ok()
}

/// What must hold, and of which element.
///
/// # Errors
/// With the reason if the words say nothing that can hold.
pub(super) fn claim(tokens: &[Token]) -> Result<Claim, String> {
    if let [there, is, rest @ ..] = tokens
        && there.is("there")
        && is.is_any(&["is", "are", "should"])
    {
        return count(is, rest);
    }
    // The last joint, so that those in a bare name don't count.
    let Some(at) = tokens.iter().rposition(|token| token.is_any(JOINTS)) else {
        return Err("it does not say what must hold: … is visible".to_owned());
    };
    let at = match tokens.get(at.wrapping_sub(1)) {
        // `should not appear`, `does not contain` begin at the word before.
        Some(before) if at > 0 && before.is_any(&["should", "does"]) => at - 1,
        _ => at,
    };
    let (subject, said) = tokens.split_at(at);
    let (says, rest) = Says::read(said)?;
    let subject = without_ignored(subject);
    if subject.is_empty() {
        return Err("it does not say of what that must hold".to_owned());
    }
    match subject {
        [word] if word.is_any(&["url", "title", "address"]) => {
            let kind = match word.is("title") {
                true => AssertKind::Title,
                false => AssertKind::Url,
            };
            Ok((of_text(kind, says, rest)?, None))
        }
        [page, word] if page.is("page") && word.is_any(&["url", "title"]) => {
            let kind = match word.is("title") {
                true => AssertKind::Title,
                false => AssertKind::Url,
            };
            Ok((of_text(kind, says, rest)?, None))
        }
        [value, of, rest_of @ ..] if value.is("value") && of.is("of") => {
            let phrase = Phrase::read(rest_of)?;
            Ok((of_text(AssertKind::Value, says, rest)?, Some(phrase)))
        }
        subject => of_element(subject, says, rest),
    }
}

/// How something is said.
#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Is,
    Appears,
    Contains,
}

#[derive(Clone, Copy)]
struct Says {
    verb: Verb,
    negate: bool,
}

impl Says {
    /// Reads `is`, `is not`, `should be`, `should not appear`, `does not contain` and the like.
    fn read(tokens: &[Token]) -> Result<(Self, &[Token]), String> {
        let unclear = || "it is not clear what must hold".to_owned();
        let (first, rest) = tokens.split_first().ok_or_else(unclear)?;
        let (negate, after) = match rest {
            [not, rest @ ..] if not.is("not") => (true, rest),
            rest => (false, rest),
        };
        let says = |verb, rest| Ok((Self { verb, negate }, rest));
        if first.is_any(&["is", "are"]) {
            return says(Verb::Is, after);
        }
        if first.is_any(&["should", "does"]) {
            let (second, rest) = after.split_first().ok_or_else(unclear)?;
            let is_should = first.is("should");
            return match () {
                () if second.is("be") && is_should => says(Verb::Is, rest),
                () if second.is("appear") && (is_should || negate) => says(Verb::Appears, rest),
                () if second.is("contain") && (is_should || negate) => says(Verb::Contains, rest),
                () => Err(unclear()),
            };
        }
        let verb = match first.is("appears") {
            true => Verb::Appears,
            false => Verb::Contains,
        };
        match negate {
            true => Err(unclear()),
            false => says(verb, rest),
        }
    }
}

/// `the URL is 'v'`, `the value of X contains 'v'`.
fn of_text(kind: AssertKind, says: Says, rest: &[Token]) -> Result<BrowserAssertion, String> {
    let Some((value, [])) = take_text(rest) else {
        return Err(format!(
            "it does not say in quotes what the {} is to be",
            kind.word()
        ));
    };
    let mut assertion = BrowserAssertion::new(kind);
    assertion.expected = Some(Json::String(value));
    assertion.negate = says.negate;
    assertion.matching = match says.verb {
        Verb::Is => TextMatch::Equals,
        Verb::Contains => TextMatch::Contains,
        Verb::Appears => return Err("`appears` goes with an element or a text".to_owned()),
    };
    Ok(assertion)
}

/// A text in quotes, a reference or a number. An address needs no quotes.
fn take_text(tokens: &[Token]) -> Option<(String, &[Token])> {
    if let Some((value, rest)) = take_value(tokens) {
        return Some((crate::value::as_text(&value.to_json()).into_owned(), rest));
    }
    match tokens {
        [
            Token {
                kind: TokenKind::Word(word),
                ..
            },
        ] if word.starts_with('/') || word.contains("://") => Some((word.clone(), &[])),
        _ => None,
    }
}

fn of_element(subject: &[Token], says: Says, rest: &[Token]) -> Result<Claim, String> {
    let phrase = Phrase::read(subject)?;
    let (kind, is_opposite) = match says.verb {
        Verb::Contains => {
            let Some((text, [])) = take_text(rest) else {
                return Err("it does not say in quotes what it is to contain".to_owned());
            };
            let mut assertion = BrowserAssertion::new(AssertKind::Text);
            assertion.expected = Some(Json::String(text));
            assertion.negate = says.negate;
            return Ok((assertion, Some(phrase)));
        }
        Verb::Appears if rest.is_empty() => (AssertKind::Visible, false),
        Verb::Appears => return Err("nothing follows `appears`".to_owned()),
        Verb::Is => {
            let found = match rest {
                [state] => STATES.iter().find(|(word, ..)| state.is(word)),
                _ => None,
            };
            let Some((_, kind, is_opposite)) = found else {
                let words: Vec<&str> = STATES.iter().map(|(word, ..)| *word).collect();
                return Err(format!("what it is must be one of {}", words.join(", ")));
            };
            (*kind, *is_opposite)
        }
    };
    let negate = says.negate != is_opposite;
    // Words in quotes that nothing is said to be are a text of the page.
    let is_text = phrase.is_quoted && phrase.role.is_none() && phrase.within.is_none();
    if kind == AssertKind::Visible && is_text {
        let mut assertion = BrowserAssertion::new(AssertKind::Text);
        assertion.expected = Some(Json::String(phrase.name));
        assertion.negate = negate;
        return Ok((assertion, None));
    }
    let mut assertion = BrowserAssertion::new(kind);
    assertion.negate = negate;
    Ok((assertion, Some(phrase)))
}

/// `there are at least 3 'Delete' buttons`.
fn count(is: &Token, rest: &[Token]) -> Result<Claim, String> {
    let form = || "write there are 3 'name' buttons".to_owned();
    let rest = match (is.is("should"), rest) {
        (false, rest) => rest,
        (true, [be, rest @ ..]) if be.is("be") => rest,
        (true, _) => return Err(form()),
    };
    let (compare, rest) = match rest {
        [at, least, rest @ ..] if at.is("at") && least.is("least") => (Compare::AtLeast, rest),
        [at, most, rest @ ..] if at.is("at") && most.is("most") => (Compare::AtMost, rest),
        [exactly, rest @ ..] if exactly.is("exactly") => (Compare::Equal, rest),
        rest => (Compare::Equal, rest),
    };
    let (number, rest) = rest.split_first().ok_or_else(form)?;
    let number = match number.word() {
        Some(word) if word.eq_ignore_ascii_case("no") => 0,
        Some(word) => word.parse::<u32>().map_err(|_| form())?,
        None => return Err(form()),
    };
    let phrase = Phrase::read_as(rest, true)?;
    let mut assertion = BrowserAssertion::new(AssertKind::Count);
    assertion.compare = compare;
    assertion.expected = Some(number.into());
    Ok((assertion, Some(phrase)))
}
