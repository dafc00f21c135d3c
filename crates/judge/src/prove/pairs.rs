//! Pairs of a key and a value in one line: `Ann (paid: no, age: 41)`.

use super::data::{OFF, ON, is_function_word};
use super::pieces::has_verb;
use super::text::pattern;

/// What a line of pairs says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// What stands before them: `Ann`.
    pub(super) lead: String,
    /// At least two, each as it stands there, with all its values: `likes: tea, jazz`.
    pub(super) pairs: Vec<String>,
}

/// The key and the value of `paid: no`, `age = 41`, `smoker yes` and `age 41`.
pub(super) fn pair(text: &str) -> Option<(&str, &str)> {
    pattern!(
        WRITTEN,
        r"^\W*(\p{L}[\w '%/-]{0,30}?)\s*[:=]\W*\s(\S.*?)\s*$"
    );
    pattern!(
        SIGNED,
        r"(?i)^\W*(\p{L}[\p{L} '_-]{0,30}?)\s+(yes|no|true|false|ja|nein|on|off|none|[€$£]?\d[\d.,]*(?: ?[%€$£°/\w]{1,6})?)\W*$"
    );
    let found = SIGNED.captures(text).or_else(|| WRITTEN.captures(text))?;
    let [key, value] = [1, 2].map(|at| found.get(at).map_or("", |part| part.as_str()));
    let says_something = key
        .split(' ')
        .any(|word| !is_function_word(&word.to_lowercase()));
    (says_something && !has_verb(key)).then_some((key, value))
}

/// The pairs of a folded line, if it has nothing else but a name before them.
pub(super) fn pairs(text: &str) -> Option<Pairs> {
    pattern!(
        BETWEEN,
        r"[,;]\s+|\s+[|·]\s+|\s*[()]+\s*|\s+[–—-]\s+|\s+(?:and|und)\s+"
    );
    let mut found = Pairs::default();
    let (mut start, mut joined) = (0, "");
    let ends = BETWEEN.find_iter(text).map(|end| (end.start(), end.end()));
    for (end, next) in ends.chain([(text.len(), text.len())]) {
        let part = text[start..end].trim();
        let before = std::mem::replace(&mut joined, text[end..next].trim());
        start = next;
        if part.is_empty() {
            continue;
        }
        match (pair(part), found.pairs.last_mut()) {
            // `Ann: paid: no`
            (Some((lead, value)), None) if found.lead.is_empty() && pair(value).is_some() => {
                lead.clone_into(&mut found.lead);
                found.pairs.push(value.to_owned());
            }
            // `Ann: paid: no; Bob: paid: yes`
            (Some((_, value)), _) if pair(value).is_some() => return None,
            (Some(_), _) => found.pairs.push(part.to_owned()),
            (None, Some(last)) if matches!(before, "," | "and" | "und") => {
                last.push_str(", ");
                last.push_str(part);
            }
            (None, None)
                if found.lead.is_empty() && !has_verb(part) && !matches!(joined, "and" | "und") =>
            {
                part.clone_into(&mut found.lead);
            }
            (None, _) => return None,
        }
    }
    (found.pairs.len() > 1).then_some(found)
}

/// What `No: sauna, parking` says of each: `sauna: no`.
pub(super) fn signed(text: &str) -> Option<Pairs> {
    pattern!(AND, r",\s+(?:and\s+|und\s+)?|\s+(?:and|und)\s+");
    let (sign, values) = text.split_once(": ")?;
    let word = sign.trim().to_lowercase();
    let is_sign = ON.contains(word.as_str()) || OFF.contains(word.as_str());
    let values: Vec<&str> = AND.split(values.trim_end_matches('.')).collect();
    let is_name = |value: &&str| value.starts_with(char::is_alphabetic) && !has_verb(value);
    (is_sign && values.iter().all(is_name)).then(|| Pairs {
        lead: String::new(),
        pairs: values
            .iter()
            .map(|value| format!("{value}: {word}"))
            .collect(),
    })
}
