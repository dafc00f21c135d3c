//! What a sentence says must hold: `'Saved' is visible`, `the URL contains '/home'`, `there are 3 'Delete' buttons`.

use super::counts::{any_alert, count, counted, counted_in, no_alert};
use super::phrase::{Phrase, RoleWord, Within, Words, item, span, take_place, without_ignored};
use super::sentence::{Token, TokenKind, after, denies, is_address, plain_text, take_value};
use crate::figures::number_of;
use crate::{AssertKind, BrowserAssertion, Compare, TextMatch};
use cuecard_source::value::{Json, as_text};

/// What can be said of an element, and whether it is the opposite.
const STATES: &[(&[&str], AssertKind, bool)] = &[
    (VISIBLE, AssertKind::Visible, false),
    (HIDDEN, AssertKind::Visible, true),
    (&["enabled", "clickable"], AssertKind::Enabled, false),
    (
        &["disabled", "greyed out", "grayed out"],
        AssertKind::Disabled,
        false,
    ),
    (
        &["checked", "ticked", "selected", "chosen", "active"],
        AssertKind::Checked,
        false,
    ),
    (
        &["on", "turned on", "switched on"],
        AssertKind::Checked,
        false,
    ),
    (
        &["unchecked", "unticked", "off", "turned off", "switched off"],
        AssertKind::Unchecked,
        false,
    ),
    (&["focused"], AssertKind::Focused, false),
    (&["editable"], AssertKind::Editable, false),
    (&["readonly", "read-only"], AssertKind::Editable, true),
    (&["empty", "blank"], AssertKind::Value, false),
];

pub(super) const VISIBLE: &[&str] = &[
    "visible",
    "shown",
    "displayed",
    "present",
    "there",
    "seen",
    "appear",
    "appears",
    "appeared",
    "exist",
    "exists",
];

const HIDDEN: &[&str] = &[
    "hidden",
    "gone",
    "absent",
    "invisible",
    "disappear",
    "disappears",
    "disappeared",
];

/// What is said before a text, how the text is compared, and whether it is what a field holds.
const SAYINGS: &[(&[&str], TextMatch, Says)] = &[
    (
        &["", "equal", "equals", "equal to", "read", "reads"],
        TextMatch::Equals,
        Says::Either,
    ),
    (
        &["set to", "has value", "have value"],
        TextMatch::Equals,
        Says::Value,
    ),
    (&["has text", "have text"], TextMatch::Equals, Says::Text),
    (
        &["contain", "contains", "include", "includes"],
        TextMatch::Contains,
        Says::Either,
    ),
    (
        &["contain text", "contains text", "contain word"],
        TextMatch::Contains,
        Says::Text,
    ),
    (
        &["contains word", "contain words", "contains words"],
        TextMatch::Contains,
        Says::Text,
    ),
    (
        &["show", "shows", "display", "displays", "say", "says"],
        TextMatch::Contains,
        Says::Shown,
    ),
    (&["has", "have"], TextMatch::Contains, Says::Shown),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    /// Of a field its value, of anything else its text.
    Either,
    /// As `Either`, but of a field all of its value.
    Shown,
    Value,
    Text,
}

/// Words with which what is said of something can begin.
pub(super) const JOINTS: &[&str] = &[
    "is",
    "are",
    "should",
    "must",
    "does",
    "do",
    "can",
    "has",
    "have",
    "becomes",
    "to",
    "no",
    "appears",
    "exists",
    "disappears",
    "equals",
    "reads",
    "contains",
    "includes",
    "shows",
    "displays",
    "says",
];

/// Whether words may be meant to say that something holds.
pub(super) fn is_like_claim(tokens: &[Token]) -> bool {
    tokens.iter().skip(1).any(|token| token.is_any(JOINTS))
}

/// Words in what is said that say nothing.
const AUXILIARIES: &[&str] = &[
    "is",
    "are",
    "be",
    "been",
    "should",
    "must",
    "does",
    "do",
    "can",
    "becomes",
    "become",
    "to",
    "the",
    "a",
    "still",
    "now",
    "currently",
    "already",
];

const NEGATIONS: &[(&str, &str)] = &[
    ("isn't", "is not"),
    ("aren't", "are not"),
    ("doesn't", "does not"),
    ("don't", "do not"),
    ("shouldn't", "should not"),
    ("mustn't", "must not"),
    ("can't", "can not"),
    ("cannot", "can not"),
];

/// What words in quotes are that stand on the page.
const TEXT_WORDS: &[&str] = &[
    "error message",
    "success message",
    "text",
    "message",
    "words",
    "error",
    "warning",
    "notification",
    "label",
];

/// What a browser shows over the page.
const DIALOGS: &[&str] = &[
    "alert",
    "confirm",
    "confirmation",
    "prompt",
    "browser dialog",
];

/// The name of a file that was downloaded.
const DOWNLOADS: &[&str] = &[
    "download",
    "downloaded file",
    "name of the download",
    "name of the downloaded file",
];

pub(super) type Claim = (BrowserAssertion, Option<Words>);

/// Whether words say something that holds or not.
pub(super) fn is_claim(tokens: &[Token]) -> bool {
    tokens.len() > 1 && claim(tokens).is_ok()
}

/// What must hold, and of which element.
///
/// # Errors
/// With the reason if the words say nothing that can hold.
pub(super) fn claim(tokens: &[Token]) -> Result<Claim, String> {
    let tokens = &expanded(tokens);
    if let Some(claim) = place_of_user(tokens) {
        return Ok(claim);
    }
    if let Some((rest, negate)) = take_see(tokens) {
        return match is_claim(rest) {
            true if !negate => claim(after(rest, "that").unwrap_or(rest)),
            _ => visible(after(rest, "that").unwrap_or(rest), negate),
        };
    }
    if let [there, is, rest @ ..] = tokens.as_slice()
        && there.is("there")
        && is.is_any(&["is", "are", "should", "must"])
    {
        return there_is(is, rest);
    }
    let forms = [no_alert, counted, counted_in];
    if let Some(claim) = forms.iter().find_map(|form| form(tokens)) {
        return Ok(claim);
    }
    let mut problem = None;
    // A bare name may have such a word in it.
    for at in 1..tokens.len() {
        if !tokens[at].is_any(JOINTS) {
            continue;
        }
        let subject = without_ignored(&tokens[..at]);
        if subject.is_empty() || (subject.len() == 1 && subject[0].is_any(&["the", "that"])) {
            continue;
        }
        // `the row that is open` says which one, and nothing of it.
        if subject
            .last()
            .is_some_and(|last| last.is_any(&["that", "which", "who"]))
        {
            continue;
        }
        match said(&tokens[..at], &tokens[at..]) {
            Ok(claim) => return Ok(claim),
            Err(reason) => problem = problem.or(Some(reason)),
        }
    }
    Err(problem.unwrap_or_else(|| "the condition is missing: … is visible".to_owned()))
}

/// Words with their short forms written out: `isn't` is `is not`.
pub(super) fn expanded(tokens: &[Token]) -> Vec<Token> {
    let mut all = Vec::new();
    for token in tokens {
        let word = token
            .as_str()
            .map(|word| word.to_lowercase().replace('’', "'"));
        let long = NEGATIONS
            .iter()
            .find(|(short, _)| Some(*short) == word.as_deref());
        match long {
            None => all.push(token.clone()),
            Some((_, long)) => all.extend(long.split(' ').map(|word| Token {
                kind: TokenKind::Word(word.to_owned()),
                ..token.clone()
            })),
        }
    }
    all
}

/// `we are on /cart`
fn place_of_user(tokens: &[Token]) -> Option<Claim> {
    let rest = match tokens {
        [the, user, rest @ ..] if the.is("the") && user.is("user") => rest,
        [person, rest @ ..] if person.is_any(&["i", "we", "user"]) => rest,
        _ => return None,
    };
    let on = rest
        .iter()
        .position(|token| token.is_any(&["on", "at", "to"]))?;
    let said = [
        "am",
        "is",
        "are",
        "should",
        "be",
        "now",
        "redirected",
        "taken",
    ];
    if on == 0 || !rest[..on].iter().all(|token| token.is_any(&said)) {
        return None;
    }
    let address = match without_ignored(&rest[on + 1..]) {
        [address] => address,
        [address, page] if page.is("page") => address,
        _ => return None,
    };
    let text = address.text().filter(|text| is_address(text))?;
    let mut assertion = BrowserAssertion::new(AssertKind::Url);
    assertion.expected = Some(Json::String(text.to_owned()));
    Some((assertion, None))
}

/// What is to be seen: `should see X`, `to see X`, `I do not see X`.
pub(super) fn take_see(tokens: &[Token]) -> Option<(&[Token], bool)> {
    let at = tokens
        .iter()
        .position(|token| token.is_any(&["see", "sees"]))?;
    let (before, rest) = (&tokens[..at], &tokens[at + 1..]);
    let said = [
        "i", "we", "you", "the", "user", "should", "must", "can", "to", "do", "does", "not", "no",
        "longer",
    ];
    let negate = before.iter().any(|token| token.is_any(&["not", "longer"]));
    (!rest.is_empty() && before.iter().all(|token| token.is_any(&said))).then_some((rest, negate))
}

/// That something is to be seen, or is not. Words in quotes that nothing is said to be are a text of the page.
pub(super) fn visible(tokens: &[Token], negate: bool) -> Result<Claim, String> {
    let (outside, within) = match take_place(tokens) {
        Some((outside, within)) => (outside, Some(within)),
        None => (without_page(tokens), None),
    };
    if let [
        Token {
            kind: TokenKind::Quoted(text) | TokenKind::Reference(text),
            ..
        },
    ] = text_words(outside)
    {
        let mut assertion = BrowserAssertion::new(AssertKind::Text);
        assertion.expected = Some(Json::String(text.clone()));
        assertion.negate = negate;
        let words = within.map(|within| (Phrase::itself(within), 0..0));
        return Ok((assertion, words));
    }
    let mut assertion = BrowserAssertion::new(AssertKind::Visible);
    assertion.negate = negate;
    Ok((assertion, Some(subject_phrase(without_page(tokens))?)))
}

/// A text in quotes without the words around it that say that it is one: `the error message 'X'`.
fn text_words(tokens: &[Token]) -> &[Token] {
    let tokens = without_ignored(tokens);
    let words = TEXT_WORDS.iter().find_map(|words| after(tokens, words));
    if let Some(rest @ [_]) = words {
        return rest;
    }
    match tokens {
        [text, rest @ ..]
            if TEXT_WORDS
                .iter()
                .any(|words| after(rest, words).is_some_and(<[Token]>::is_empty)) =>
        {
            std::slice::from_ref(text)
        }
        _ => tokens,
    }
}

/// Without `on the page` at the end.
pub(super) fn without_page(tokens: &[Token]) -> &[Token] {
    match tokens {
        [rest @ .., on, the, page]
            if on.is_any(&["on", "at"])
                && the.is_any(&["the", "this"])
                && page.is_any(&["page", "screen", "top", "bottom"]) =>
        {
            match rest {
                [rest @ .., somewhere] if somewhere.is_any(&["somewhere", "anywhere"]) => rest,
                rest => rest,
            }
        }
        tokens => tokens,
    }
}

/// What something is said of: an element, or a container by a name that need not stand in quotes.
fn subject_phrase(tokens: &[Token]) -> Result<Words, String> {
    match Phrase::read_container(tokens) {
        Some(phrase) => Ok((phrase, span(tokens))),
        None => Phrase::read(tokens),
    }
}

/// What `tail` says of `subject`.
fn said(subject: &[Token], tail: &[Token]) -> Result<Claim, String> {
    let unclear = || "the expected condition is unclear".to_owned();
    if let Some(claim) = chosen(subject, tail) {
        return Ok(claim);
    }
    let value = tail.split_last().and_then(|(last, words)| {
        let is_word = last.as_str().is_some() && take_value(std::slice::from_ref(last)).is_none();
        let text = match take_value(std::slice::from_ref(last)) {
            Some((value, _)) => as_text(&value.to_json()).into_owned(),
            None => last
                .text()
                .filter(|text| is_address(text) && is_word)?
                .to_owned(),
        };
        Some((text, words))
    });
    if let Some((text, words)) = value
        && let Some((key, negate)) = saying(words)
        && let Some(how) = how_said(&key)
    {
        return of_text(subject, text, how, negate);
    }
    if let Some((number, compare)) = bound(tail) {
        let mut claim = of_text(subject, number, (TextMatch::Equals, Says::Either), false)?;
        claim.0.compare = compare;
        return Ok(claim);
    }
    if let Some((text, how)) = bare_value(tail) {
        return of_text(subject, text, how, false);
    }
    let (tail, within) = match take_place(tail) {
        Some((outside, within)) => (outside, Some(within)),
        None => (tail, None),
    };
    let seen = without_page(tail);
    // `the status of Erik Lund is Disabled`
    let is_cell = cell(subject).is_some() && within.is_none();
    if let Some(text) = labelled_value(tail).filter(|_| is_cell) {
        return of_text(subject, text, (TextMatch::Equals, Says::Either), false);
    }
    let (mut key, negate) = saying(seen).ok_or_else(unclear)?;
    if key.is_empty() && (seen.len() < tail.len() || within.is_some()) {
        key = "visible".to_owned();
    }
    let is_said = |words: &[&str]| words.contains(&key.as_str());
    let Some((_, kind, is_opposite)) = STATES.iter().find(|(words, ..)| is_said(words)) else {
        if let Some(text) = labelled_value(tail).filter(|_| within.is_none()) {
            return of_text(subject, text, (TextMatch::Equals, Says::Either), false);
        }
        return Err(format!(
            "`{key}` is not a state of an element: it can be visible, enabled, checked, focused, \
             editable or empty"
        ));
    };
    let negate = negate != *is_opposite;
    if *kind == AssertKind::Visible {
        let mut claim = visible(subject, negate)?;
        if let Some(within) = within {
            put_within(&mut claim, within)?;
        }
        return Ok(claim);
    }
    let mut words = Phrase::read(subject)?;
    if let Some(within) = within
        && words.0.within.replace(within).is_some()
    {
        return Err(unclear());
    }
    let mut assertion = BrowserAssertion::new(*kind);
    assertion.negate = negate;
    assertion.expected = (*kind == AssertKind::Value).then(|| Json::String(String::new()));
    Ok((assertion, Some(words)))
}

/// `is at least 3`, `should be at most '€20'`
fn bound(tail: &[Token]) -> Option<(String, Compare)> {
    let at = tail.iter().position(|token| token.is("at"))?;
    let (key, negate) = saying(&tail[..at])?;
    let [_, way, number] = &tail[at..] else {
        return None;
    };
    let compare = match () {
        () if way.is("least") => Compare::AtLeast,
        () if way.is("most") => Compare::AtMost,
        () => return None,
    };
    let text = number.text().filter(|text| number_of(text).is_some())?;
    (key.is_empty() && !negate && at > 0).then(|| (text.to_owned(), compare))
}

/// A text that is not in quotes behind words that only a text follows: `shows 3 unread`, `is set to Light`.
fn bare_value(tail: &[Token]) -> Option<(String, (TextMatch, Says))> {
    (1..tail.len()).rev().find_map(|end| {
        let (key, negate) = saying(&tail[..end])?;
        let how = how_said(&key)?;
        let is_clear = !key.is_empty() && !["has", "have"].contains(&key.as_str());
        let is_denied = negate || denies(&tail[end..]);
        let text = plain_text(&tail[end..]).filter(|_| is_clear && !is_denied)?;
        Some((text, how))
    })
}

/// How a text behind these words is compared.
fn how_said(words: &str) -> Option<(TextMatch, Says)> {
    let mut known = SAYINGS.iter();
    known
        .find(|(known, ..)| known.contains(&words))
        .map(|(_, matching, says)| (*matching, *says))
}

/// A text that is not in quotes behind `is`: `Active`, `41.6%`. In small letters it may say anything; what is denied needs
/// quotes.
fn labelled_value(tail: &[Token]) -> Option<String> {
    let verb = tail
        .iter()
        .position(|token| token.is_any(&["is", "are", "be"]))?;
    let are_said = tail[..verb]
        .iter()
        .all(|token| token.is_any(&["should", "must"]));
    let text = tail[verb + 1..]
        .iter()
        .skip_while(|token| token.is_any(AUXILIARIES));
    let said: Vec<Token> = text.cloned().collect();
    let is_value = |text: &String| !text.starts_with(char::is_lowercase);
    plain_text(&said).filter(|text| are_said && is_value(text))
}

/// A cell by its row and the heading of its column: `the status of Erik Lund`, `Erik Lund's status`.
fn cell(subject: &[Token]) -> Option<Words> {
    let subject = without_ignored(subject);
    let of = subject.iter().position(|token| token.is("of"));
    let owner = subject.iter().position(|token| {
        token
            .as_str()
            .is_some_and(|word| word.ends_with("'s") || word.ends_with("’s"))
    });
    let (column, row) = match (of, owner) {
        (Some(of), None) => (&subject[..of], plain_item(&subject[of + 1..])?),
        (None, Some(owner)) => {
            let mut row = plain_item(&subject[..=owner])?;
            let name = row.name.as_mut()?;
            name.truncate(name.len() - 1);
            *name = name.trim_end_matches(['\'', '’']).to_owned();
            (&subject[owner + 1..], row)
        }
        _ => return None,
    };
    let phrase = Phrase {
        within: Some(row),
        ..Phrase::named(&plain_text(column)?)
    };
    Some((phrase, 0..0))
}

fn plain_item(tokens: &[Token]) -> Option<Within> {
    let (within, _) = item(tokens)?;
    within.name.is_some().then_some(within)
}

/// Says of a claim where on the page it is to hold.
pub(super) fn put_within((_, words): &mut Claim, within: Within) -> Result<(), String> {
    match words {
        None => *words = Some((Phrase::itself(within), 0..0)),
        Some((phrase, _)) if phrase.within.is_none() => phrase.within = Some(within),
        Some(_) => return Err("it has two locations".to_owned()),
    }
    Ok(())
}

/// What is said, without the words that say nothing, and whether it is denied.
pub(super) fn saying(tokens: &[Token]) -> Option<(String, bool)> {
    let mut negate = false;
    let mut words = Vec::new();
    let all: Option<Vec<String>> = tokens
        .iter()
        .map(|token| Some(token.as_str()?.to_lowercase()))
        .collect();
    let all = all?;
    for (at, word) in all.iter().enumerate() {
        let is_longer = word == "longer" && at > 0 && ["no", "any"].contains(&all[at - 1].as_str());
        let is_more = ["more", "anymore"].contains(&word.as_str());
        match word.as_str() {
            "not" => negate = !negate,
            "no" if all.get(at + 1).is_some_and(|next| next == "longer") => negate = !negate,
            "any" => {}
            _ if is_longer || is_more => {}
            // `has appeared`, but `has 'v'`
            "has" | "have"
                if all
                    .get(at + 1)
                    .is_some_and(|next| next.ends_with("ed") || next == "not") => {}
            word if AUXILIARIES.contains(&word) => {}
            word => words.push(word.to_owned()),
        }
    }
    // `equal to` and `set to` end with a word that says nothing elsewhere.
    let key = words.join(" ");
    let ends_with_to = all.last().is_some_and(|last| last == "to");
    match ends_with_to && ["equal", "set"].contains(&key.as_str()) {
        true => Some((format!("{key} to"), negate)),
        false => Some((key, negate)),
    }
}

/// `'Red' is selected in the 'Colour' dropdown`
fn chosen(subject: &[Token], tail: &[Token]) -> Option<Claim> {
    let [
        Token {
            kind: TokenKind::Quoted(value) | TokenKind::Reference(value),
            ..
        },
    ] = subject
    else {
        return None;
    };
    let at = tail
        .iter()
        .position(|token| token.is_any(&["selected", "chosen"]))?;
    let (key, negate) = saying(&tail[..at])?;
    let [join, list @ ..] = &tail[at + 1..] else {
        return None;
    };
    if !key.is_empty() || !join.is_any(&["in", "for", "from", "as"]) || container_follows(list) {
        return None;
    }
    let mut assertion = BrowserAssertion::new(AssertKind::Value);
    assertion.expected = Some(Json::String(value.clone()));
    assertion.negate = negate;
    Some((assertion, Some(Phrase::read(list).ok()?)))
}

fn container_follows(tokens: &[Token]) -> bool {
    Phrase::read_container(tokens).is_some()
}

/// `the URL is 'v'`, `the value of X contains 'v'`, `the 'Tea' row shows 'v'`.
fn of_text(
    subject: &[Token],
    text: String,
    (matching, says): (TextMatch, Says),
    negate: bool,
) -> Result<Claim, String> {
    let of = |kind, matching, words| {
        let mut assertion = BrowserAssertion::new(kind);
        assertion.expected = Some(Json::String(text));
        assertion.negate = negate;
        assertion.matching = matching;
        Ok((assertion, words))
    };
    let of_page = match without_ignored(subject) {
        [page, rest @ ..] if page.is_any(&["page", "current"]) && !rest.is_empty() => rest,
        [title, of, the, page] if of.is("of") && the.is("the") && page.is("page") => {
            std::slice::from_ref(title)
        }
        rest => rest,
    };
    let is_one_of = |names: &[&str]| {
        let is_all = |name: &&str| after(of_page, name).is_some_and(<[Token]>::is_empty);
        names.iter().any(is_all)
    };
    if is_one_of(DIALOGS) {
        return of(AssertKind::Dialog, matching, None);
    }
    if is_one_of(DOWNLOADS) {
        return of(AssertKind::Download, matching, None);
    }
    if let [word] = of_page {
        if word.is_any(&["url", "address"]) {
            return of(AssertKind::Url, matching, None);
        }
        if word.is("title") {
            return of(AssertKind::Title, matching, None);
        }
        if word.is_any(&["page", "screen"]) && matching == TextMatch::Contains {
            return of(AssertKind::Text, matching, None);
        }
    }
    let field_matching = match says {
        Says::Shown => TextMatch::Equals,
        _ => matching,
    };
    if let Some(rest) = after(without_ignored(subject), "value of") {
        return of(AssertKind::Value, field_matching, Some(Phrase::read(rest)?));
    }
    if let Some(words) = cell(subject) {
        return of(AssertKind::Text, matching, Some(words));
    }
    let words = subject_phrase(subject)?;
    let (phrase, _) = &words;
    let is_field = matches!(
        phrase.role,
        Some(RoleWord::Field | RoleWord::Dropdown | RoleWord::Slider)
    );
    match says {
        Says::Value => of(AssertKind::Value, matching, Some(words)),
        Says::Either | Says::Shown if is_field => {
            of(AssertKind::Value, field_matching, Some(words))
        }
        _ if phrase.is_container() && matching == TextMatch::Equals && says != Says::Text => {
            Err("of a part of the page write: … contains 'text'".to_owned())
        }
        // It may be a field, whose text is always empty.
        _ if phrase.is_label() && negate && matching == TextMatch::Contains => Err(
            "the kind of element is missing: write the 'name' field, or the 'name' heading"
                .to_owned(),
        ),
        _ => of(AssertKind::Text, matching, Some(words)),
    }
}

/// `there are at least 3 'Delete' buttons`, `there is a 'Save' button`.
fn there_is(is: &Token, rest: &[Token]) -> Result<Claim, String> {
    let form = || "write there are 3 'name' buttons".to_owned();
    let (rest, negate) = match rest {
        [not, rest @ ..] if not.is("not") => (rest, true),
        rest => (rest, false),
    };
    let rest = match (is.is_any(&["should", "must"]), rest) {
        (false, rest) => rest,
        (true, [be, rest @ ..]) if be.is("be") => rest,
        (true, _) => return Err(form()),
    };
    let rest = without_page(rest);
    match rest {
        [no, rest @ ..] if no.is("no") && any_alert(rest).is_some() => {
            let mut assertion = BrowserAssertion::new(AssertKind::Visible);
            assertion.negate = !negate;
            Ok((assertion, any_alert(rest).map(|phrase| (phrase, 0..0))))
        }
        // A text that is nowhere.
        [no, rest @ ..]
            if no.is("no") && matches!(text_words(rest), [text] if text.as_str().is_none()) =>
        {
            visible(rest, !negate)
        }
        [first, ..] if first.is_any(&["a", "an", "the", "any"]) || first.as_str().is_none() => {
            visible(after(rest, "any").unwrap_or(rest), negate)
        }
        [first, ..] if after(rest, "text").is_some() || first.is("text") => visible(rest, negate),
        rest if !negate => count(rest),
        _ => Err(form()),
    }
}
