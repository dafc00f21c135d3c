//! Where each value of earlier results stands, and how much it says that two values are equal.

use std::sync::LazyLock;

use cuecard_source::matching::push_key;
use cuecard_source::value::{as_text, push_pointer};
use regex::Regex;
use serde_json::Value;

use super::build::snake;
use super::texts::fragments_of;

/// The longest text or list that is taken for a copied one, in bytes of JSON.
pub(super) const LONGEST: usize = 2_000;

/// So many digits of a hash are written at least.
pub(super) const SHORT_HASH: usize = 7;

/// A number of so many digits is seldom another one's, unless it is a round one; a longer one never is.
const LONG_NUMBER: usize = 5;

/// A number of so many digits, beside zeros at its end, is no ordinary one.
const UNCOMMON_NUMBER: usize = 3;

/// The words with which names end that tell a thing from others, and those of names that count or measure.
const IDS: &str = "account build case code comment customer id iid invoice issue item job key message no note nr number order \
    pid pin pr pull record ref reference request run task thread ticket uid user";
const COUNTS: &str = "column count day delay depth duration end height hour interval length level limit line max min minute month \
    ms offset page percent port quality retry seconds size skip start timeout top width x y year";

/// A code of so many capital letters is no keyword or currency.
const SHORTEST_CODE: usize = 5;

/// A way into a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Path {
    /// It as a JSON pointer and, without the `$` before it, as a JSONPath.
    pub(super) pointer: String,
    written: String,
    pub(super) depth: usize,
    /// The last key, by which people know the value; empty for the whole result.
    pub(super) name: String,
    /// The first place in a list of several, with their number: the next run may list them in another order.
    pub(super) place: Option<(usize, usize)>,
}

impl Path {
    pub(super) fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.pointer)
    }

    /// The way to an item of a list.
    fn item(&self, index: usize, count: usize) -> Self {
        Self {
            pointer: format!("{}/{index}", self.pointer),
            written: format!("{}[{index}]", self.written),
            depth: self.depth + 1,
            name: self.name.clone(),
            place: self.place.or((count > 1).then_some((index + 1, count))),
        }
    }

    /// The way to a member of an object.
    fn member(&self, key: &str) -> Self {
        let (mut pointer, mut written) = (self.pointer.clone(), self.written.clone());
        push_pointer(&mut pointer, key);
        push_key(&mut written, key);
        Self {
            pointer,
            written,
            depth: self.depth + 1,
            name: key.to_owned(),
            place: self.place,
        }
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "${}", self.written)
    }
}

/// How a value is taken out of a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    /// The call that gave it.
    pub(super) step: usize,
    /// Where it stands.
    pub(super) path: Path,
    /// What finds it in the text there, if it is a part of it or a text where that is a number.
    pub(super) regex: Option<String>,
}

impl Source {
    /// What an output by this rule gives.
    pub(super) fn value(&self, result: &Value) -> Option<Value> {
        let value = self.path.get(result)?;
        let Some(regex) = &self.regex else {
            return Some(value.clone());
        };
        let regex = Regex::new(regex).ok()?;
        let text = as_text(value);
        let found = regex.captures(&text)?.get(1)?.as_str();
        Some(found.into())
    }

    /// The first place in a list of several that leads to it, or where it stands in a text of more than itself, with words
    /// for it: the next result may have other things there.
    pub(super) fn place(&self, result: &Value) -> Option<(usize, String)> {
        let of_list = self
            .path
            .place
            .map(|(place, count)| (place, format!("item {place} of {count}")));
        of_list.or_else(|| {
            let (regex, text) = (self.regex.as_ref()?, self.path.get(result)?.as_str()?);
            let count = text.lines().filter(|line| !line.trim().is_empty()).count();
            let is_json = text.contains("\":") && text.contains('{');
            let of_lines = (regex.starts_with('^') && count > 1)
                .then(|| format!("the first of {count} lines"));
            let words = is_json.then(|| "JSON in a text".to_owned()).or(of_lines)?;
            Some((1, words))
        })
    }
}

/// A regular expression whose first match in `text` has `word` as its group: by what stands before it on its line, and
/// behind it. The group is all of a word, so that it never matches a part of one. Words that are given are not in it; where
/// they stand before the word, the last match on their line is meant, or else the first below it, since they may be anything
/// the next time.
pub(super) fn pattern(text: &str, word: &str, is_given: &dyn Fn(&str) -> bool) -> Option<String> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d+").expect("it is fixed"));
    let (at, _) = fragments_of(text)
        .into_iter()
        .find(|(_, found)| *found == word)?;
    let start_of_line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let given = fragments_of(&text[..at]).filter(|(_, word)| is_given(word));
    let given = given.map(|(at, word)| at + word.len()).max();
    let line = &text[given.unwrap_or(0).max(start_of_line)..at];
    let rest = text[at + word.len()..].lines().next().unwrap_or_default();
    let has_word = |words: &&str| words.contains(|letter: char| letter.is_alphanumeric());
    let ends_line = !has_word(&rest);
    let end = match ends_line {
        true => r"\W*$".to_owned(),
        false => what_follows(rest, is_given),
    };
    let mut groups = vec![(r"(\S*[^\s.,;:!?])".to_owned(), end.as_str())];
    if let Some(mark) = rest
        .chars()
        .next()
        .or(text[at + word.len()..].chars().next())
    {
        let escaped = regex::escape(&mark.to_string());
        let behind = end.strip_prefix(&escaped).unwrap_or_default();
        groups.push((format!(r"([^\s{escaped}]+){escaped}"), behind));
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        let behind = if ends_line { end.as_str() } else { "" };
        groups.insert(
            0,
            (r"(\d+)(?:[.,;:!?]*(?:\s|$)|[^\s\w.,/-])".to_owned(), behind),
        );
    }
    let before = |count: usize| {
        let space = line.rmatch_indices(' ').nth(count - 1);
        &line[space.map_or(0, |(at, _)| at + 1)..]
    };
    let prefix = |words: &str| {
        let is_word = words.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let escaped = regex::escape(words);
        let pattern = NUMBER.replace_all(&escaped, r"\d+");
        format!("{}{pattern}", if is_word { r"\b" } else { "" })
    };
    // Where the user's words end, the value begins: on the same line the last match, below it the first.
    let lines_to = |at: usize| text[..at].matches('\n').count();
    let anywhere = match given {
        Some(given) if given >= start_of_line => format!(r"(?m)\A(?:.*\n){{{}}}.*", lines_to(at)),
        Some(given) => format!(r"(?m)\A(?:.*\n){{{}}}(?s:.*?)", lines_to(given) + 1),
        None if ends_line => "(?m)^.*".to_owned(),
        None => String::new(),
    };
    let start_of_text = match line.len() == at {
        true if line.trim().is_empty() => Some(r"^\s*".to_owned()),
        true if !has_word(&line) => Some(r"^\W*".to_owned()),
        _ => None,
    };
    // One word is often in other places too; two plain ones seldom are.
    let is_plain =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let two = before(2).split(' ').next().is_some_and(is_plain);
    let counts = if two { [2, 1, 3, 4] } else { [1, 2, 3, 4] };
    let is_label = |words: &&str| text.contains('\n') && words.len() == at - start_of_line;
    // A word with digits in it is another value.
    let (told, marks): (Vec<&str>, Vec<&str>) = counts
        .into_iter()
        .map(before)
        .filter(|words| !has_code(words))
        .partition(has_word);
    let labels = told.iter().copied().filter(is_label);
    let labels = labels.map(|words| match given {
        Some(_) => format!("{anywhere}^{}", prefix(words)),
        None => format!("(?m)^{}", prefix(words)),
    });
    let marks = marks.into_iter().filter(|words| !words.trim().is_empty());
    let marks = marks.filter(|_| ends_line || given.is_some());
    let told = marks.chain(told.iter().copied());
    let has_end = ends_line || given.is_some();
    let told = told.map(|words| (format!("{anywhere}{}", prefix(words)), has_end, !ends_line));
    // Those that are sure of their place need no end.
    let sure = start_of_text.into_iter().chain(labels);
    let sure = sure.map(|prefix| (prefix, false, true));
    sure.chain(told)
        .flat_map(|(prefix, has_end, may_go_on)| {
            let with_end = groups.iter().map(|(group, end)| format!("{group}{end}"));
            let alone = groups.iter().map(|(group, _)| group.clone());
            let all = with_end.filter(|_| has_end);
            let all: Vec<String> = all.chain(alone.filter(|_| may_go_on)).collect();
            all.into_iter().map(move |group| format!("{prefix}{group}"))
        })
        .find(|regex| match Regex::new(regex) {
            Ok(regex) => regex.captures(text).is_some_and(|found| &found[1] == word),
            Err(_) => false,
        })
}

/// What stands between a value and the next word of its line, with that word, unless it is given or a number.
fn what_follows(rest: &str, is_given: &dyn Fn(&str) -> bool) -> String {
    let is_letter = |letter: char| letter.is_alphanumeric();
    let start = rest.find(is_letter).unwrap_or(rest.len());
    let (marks, behind) = rest.split_at(start);
    let word = &behind[..behind
        .find(|letter| !is_letter(letter))
        .unwrap_or(behind.len())];
    let is_fixed = !marks.is_empty() && word.chars().all(char::is_alphabetic) && !is_given(word);
    match is_fixed {
        true => format!(r"{}{}\b", regex::escape(marks), regex::escape(word)),
        false => regex::escape(marks),
    }
}

/// Whether a text has a word of letters and digits.
fn has_code(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric())
        .any(|word| {
            word.contains(|letter: char| letter.is_ascii_digit())
                && word.contains(char::is_alphabetic)
        })
}

/// How much it says that a value is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Nothing: `true`, null, empty texts.
    Nothing,
    /// A word or a digit, which stand everywhere.
    Weak,
    /// Enough if it is called the same.
    Middling,
    /// Enough.
    Strong,
}

pub(super) fn weight(value: &Value) -> Weight {
    match value {
        Value::Null | Value::Bool(_) => Weight::Nothing,
        Value::Number(number) => {
            let text = number.to_string();
            // `4.52` may be an amount; `0.5` stands everywhere.
            match text.trim_end_matches('0').len() {
                _ if !number.is_f64() => weight_of_digits(text.trim_start_matches('-')),
                _ if text.len() >= 8 => Weight::Strong,
                4.. => Weight::Middling,
                _ => Weight::Weak,
            }
        }
        Value::String(text) => weight_of_text(text),
        Value::Array(_) | Value::Object(_) => {
            let mut n_leaves = 0;
            each_leaf(value, &mut |leaf| {
                n_leaves += usize::from(weight(leaf) != Weight::Nothing);
            });
            let length = if n_leaves > 1 {
                value.to_string().len()
            } else {
                0
            };
            match (12..=LONGEST).contains(&length) {
                true => Weight::Strong,
                false => Weight::Nothing,
            }
        }
    }
}

pub(super) fn weight_of_text(text: &str) -> Weight {
    let length = text.chars().take(LONGEST + 1).count();
    let has = |test: fn(char) -> bool| text.chars().any(test);
    let has_digit = has(|letter| letter.is_ascii_digit());
    match length {
        _ if text.trim().is_empty() || length > LONGEST => Weight::Nothing,
        _ if is_date(text) => Weight::Middling,
        _ if is_digits(text) => weight_of_digits(text),
        6.. if has_digit => Weight::Strong,
        12.. if has(char::is_whitespace) => Weight::Strong,
        8.. if has(|letter| "/:@".contains(letter)) => Weight::Strong,
        20.. => Weight::Strong,
        2.. if has_digit => Weight::Middling,
        _ => Weight::Weak,
    }
}

/// What a number says by its digits, whether it is written as a text or not.
fn weight_of_digits(digits: &str) -> Weight {
    let is_round = digits.trim_end_matches('0').len() < LONG_NUMBER;
    match digits.len() {
        0 | 1 => Weight::Weak,
        length if length > LONG_NUMBER && !is_round => Weight::Strong,
        _ => Weight::Middling,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a number in a parameter may name what a result named so, by its digits and by what both are called: `8123` as
/// `issue` may be the `number` there, and `20` as `limit` is an ordinary one. A name that is not known is empty.
pub(super) fn may_name(value: &Value, parameter: &str, part: &str) -> bool {
    let is_of = |words: &str, name: &str| {
        let name = snake(name).to_lowercase();
        let mut parts = name.split(|letter: char| !letter.is_alphanumeric());
        let last = parts.next_back().unwrap_or_default();
        let is_it = |word: &str| word == last || last.strip_suffix('s') == Some(word);
        words.split_whitespace().any(is_it)
    };
    let text = as_text(value);
    if !is_digits(&text) || is_of(COUNTS, parameter) {
        return false;
    }
    let n_named = [parameter, part]
        .iter()
        .filter(|name| is_of(IDS, name))
        .count();
    match text.trim_end_matches('0').len() {
        UNCOMMON_NUMBER.. => true,
        2.. => n_named > 0,
        _ => n_named == 2,
    }
}

/// Whether a plain word may name what a result calls so: `octocat` as the `login` there.
fn is_word_of_name(value: &Value, part: &str) -> bool {
    const NAMES: &[&str] = &["handle", "login", "name", "slug", "username"];
    const SHORTEST: usize = 5;
    let is_long = |text: &str| text.chars().count() >= SHORTEST;
    NAMES.contains(&part) && value.as_str().is_some_and(is_long)
}

/// How much it proves that a value of a parameter stands in a result too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// It may be a coincidence.
    Nothing,
    /// It is worth a question.
    Little,
    /// It is a copy.
    Enough,
}

/// How much it proves that a value stands there, by itself and by what parameter and part are called.
pub(super) fn proof(value: &Value, parameter: &str, part: &str, is_named: bool) -> Proof {
    let is_worth_a_question = (is_named && !parameter.is_empty())
        || is_telling(value)
        || is_word_of_name(value, part)
        || may_name(value, parameter, part);
    match weight(value) {
        Weight::Strong => Proof::Enough,
        // Nothing else gives the name of a command in the background.
        _ if is_named && (weight(value) == Weight::Middling || parameter == "shell_id") => {
            Proof::Enough
        }
        _ if is_worth_a_question => Proof::Little,
        _ => Proof::Nothing,
    }
}

/// Whether it is worth a question that a value stands in a result too: an amount, a number of many digits, a text of
/// several words or with digits, a name, a code of capitals.
pub(super) fn is_telling(value: &Value) -> bool {
    let written = as_text(value);
    let text = match value {
        Value::String(text) if !is_digits(text) => text,
        _ => {
            let n_digits = written.len();
            let is_long =
                n_digits >= LONG_NUMBER && n_digits <= written.trim_end_matches('0').len() + 2;
            return (value.is_f64() || is_long) && weight(value) >= Weight::Middling;
        }
    };
    let is_code = text.len() >= SHORTEST_CODE && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut letters = text.chars();
    let is_name = letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
        && letters.all(char::is_lowercase);
    is_name
        || is_code
        || weight(value) >= Weight::Middling
        || text.trim().contains(char::is_whitespace)
}

/// Whether a text is a date as programs write it: `2026-03-04`.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(idx, byte)| match idx {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The words of a text, and what people write for some.
pub(super) fn parts_of(text: &str) -> impl Iterator<Item = &str> {
    let words = fragments_of(text).flat_map(|(_, word)| [Some(word), start_of_hash(word)]);
    words.chain([date_of(text)]).flatten()
}

/// The beginning of a hash that people write for it.
pub(super) fn start_of_hash(word: &str) -> Option<&str> {
    let is_hash = word.len() >= 2 * SHORT_HASH && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| &word[..SHORT_HASH])
}

/// The date of a point in time, which is a part of it though no word: of `2026-03-04T10:00`.
fn date_of(time: &str) -> Option<&str> {
    let (date, _) = time.split_once('T')?;
    is_date(date).then_some(date)
}

/// Whether a key is a name, and no value such as an id or an address.
pub(super) fn is_plain_name(key: &str) -> bool {
    key.chars()
        .all(|letter| letter.is_alphabetic() || "_- .".contains(letter))
}

/// The letters and digits of a text, in lower case.
pub(super) fn letters_of(text: &str) -> String {
    let letters = text.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a parameter and a part of a result are called the same: `issue_number` and `number`, `id` and `ids[0]`.
pub(super) fn is_namesake(parameter: &str, part: &str) -> bool {
    let (parameter, part) = (letters_of(parameter), letters_of(part));
    let singular = part.strip_suffix('s').unwrap_or(&part);
    part.is_empty()
        || parameter.ends_with(&part)
        || (singular.len() > 1 && parameter.ends_with(singular))
}

/// The words of a text with their places, without the punctuation around them; also the parts of those that hold `=`,
/// `#` or brackets. A comma inside a number is a part of it.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between = |letter: char| letter.is_whitespace() || "\"'`<>()[]{}=,;#|".contains(letter);
    let (mut at, mut next) = (0, 0);
    let ends = move |letter: char| {
        let here = next;
        next += letter.len_utf8();
        is_between(letter) && !(letter == ',' && is_inside_number(text, here))
    };
    text.split_inclusive(ends).filter_map(move |part| {
        let start = at;
        at += part.len();
        let word = part.trim_end_matches(is_between);
        let inner = match word.starts_with("./") {
            true => word,
            false => word.trim_start_matches(['.', ':', '!', '?', '*']),
        };
        let start = start + word.len() - inner.len();
        let inner = inner.trim_end_matches(['.', ':', '!', '?', '*', '\\']);
        (!inner.is_empty()).then_some((start, inner))
    })
}

/// Whether the comma at `at` has a digit before it and two or three behind it, as in `1,234` and `12,50`.
fn is_inside_number(text: &str, at: usize) -> bool {
    let n_digits = text[at + 1..]
        .bytes()
        .take_while(u8::is_ascii_digit)
        .take(4)
        .count();
    text[..at].ends_with(|letter: char| letter.is_ascii_digit()) && (2..=3).contains(&n_digits)
}

/// The number that a text is the plain form of: `4711`, `4.52`.
pub(super) fn number(text: &str) -> Option<Value> {
    let amount = || {
        let number = Value::from(text.parse::<f64>().ok()?);
        (as_text(&number) == text).then_some(number)
    };
    integer(text).or_else(amount)
}

/// The integer that a text is the plain form of.
pub(super) fn integer(text: &str) -> Option<Value> {
    let number = text.parse::<i64>().ok()?;
    (number.to_string() == text).then(|| number.into())
}

/// Calls `visit` with a value and all values in it, and the ways to them; keys that would be references in a scenario lead
/// nowhere.
pub(super) fn each_value_at<'v>(
    value: &'v Value,
    path: &Path,
    visit: &mut impl FnMut(&Path, &'v Value),
) {
    const DEEPEST: usize = 64;
    visit(path, value);
    match value {
        _ if path.depth == DEEPEST => {}
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_value_at(item, &path.item(index, items.len()), visit);
            }
        }
        Value::Object(members) => {
            for (key, member) in members.iter().filter(|(key, _)| !key.contains("{{")) {
                each_value_at(member, &path.member(key), visit);
            }
        }
        _ => {}
    }
}

/// Calls `visit` with every text, number, boolean and null, and the way to it.
pub(super) fn each_leaf_at<'v>(value: &'v Value, visit: &mut impl FnMut(&Path, &'v Value)) {
    each_value_at(value, &Path::default(), &mut |path, value| {
        if !(value.is_array() || value.is_object()) {
            visit(path, value);
        }
    });
}

/// Calls `visit` with every text, number, boolean and null.
pub(crate) fn each_leaf<'v>(value: &'v Value, visit: &mut impl FnMut(&'v Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_leaf(item, visit)),
        Value::Object(members) => members.values().for_each(|member| each_leaf(member, visit)),
        leaf => visit(leaf),
    }
}
