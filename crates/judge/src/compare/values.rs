//! How two JSON values differ, outside the places that are ignored.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use regex::Regex;

use super::Change;
use cuecard_source::matching::equal;
use cuecard_source::value::{Json, push_pointer};

/// The places that don't count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    /// What a JSON pointer that is ignored looks like.
    pub ignored: &'a [Regex],
}

impl Places<'_> {
    /// Whether the place of a JSON pointer is ignored by itself.
    pub(super) fn ignores(self, pointer: &str) -> bool {
        self.ignored.iter().any(|pattern| pattern.is_match(pointer))
    }
}

/// A JSON pointer with `*` and `**` as a pattern.
pub(super) fn pattern(place: &str) -> Option<Regex> {
    let mut pattern = String::from("^");
    if place.is_empty() {
        return Regex::new(&pattern).ok();
    }
    for part in place.strip_prefix('/').unwrap_or(place).split('/') {
        if part == "**" {
            pattern.push_str("(?:/[^/]*)*");
            continue;
        }
        pattern.push('/');
        let texts: Vec<String> = part.split('*').map(regex::escape).collect();
        pattern.push_str(&texts.join("[^/]*"));
    }
    pattern.push('$');
    Regex::new(&pattern).ok()
}

/// The innermost values that differ, with pointers that begin with `place`.
pub(super) fn changes(old: &Json, new: &Json, place: &str, places: Places<'_>) -> Vec<Change> {
    let mut walk = Walk {
        places,
        found: Vec::new(),
    };
    walk.values(old, new, &mut place.to_owned());
    walk.found
}

struct Walk<'a> {
    places: Places<'a>,
    found: Vec<Change>,
}

impl Walk<'_> {
    fn values(&mut self, old: &Json, new: &Json, place: &mut String) {
        if self.places.ignores(place) {
            return;
        }
        match (old, new) {
            (Json::Object(old), Json::Object(new)) => {
                for (key, old) in old {
                    self.member(key, Some(old), new.get(key), place);
                }
                for (key, new) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    self.member(key, None, Some(new), place);
                }
            }
            (Json::Array(old), Json::Array(new)) => {
                for index in 0..old.len().max(new.len()) {
                    self.member(&index.to_string(), old.get(index), new.get(index), place);
                }
            }
            // `1` and `1.0` are the same number; `1` and "1" are not the same.
            (Json::Number(_), Json::Number(_)) if equal(old, new) => {}
            _ if old == new => {}
            _ => self.tell(place, Some(old), Some(new)),
        }
    }

    fn member(&mut self, key: &str, old: Option<&Json>, new: Option<&Json>, place: &mut String) {
        let length = place.len();
        push_pointer(place, key);
        match (old, new) {
            (Some(old), Some(new)) => self.values(old, new, place),
            (old, new) => {
                if !self.places.ignores(place) {
                    self.tell(place, old, new);
                }
            }
        }
        place.truncate(length);
    }

    fn tell(&mut self, place: &str, was: Option<&Json>, is: Option<&Json>) {
        self.found.push(Change {
            pointer: place.to_owned(),
            was: was.cloned(),
            is: is.cloned(),
        });
    }
}

/// A number that is the same for values that don't differ.
pub(super) fn fingerprint(value: &Json, place: &mut String, places: Places<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    if !places.ignored.is_empty() && places.ignores(place) {
        return 0;
    }
    let mut below = |key: &str, value: &Json| {
        let length = place.len();
        if !places.ignored.is_empty() {
            push_pointer(place, key);
        }
        let print = fingerprint(value, place, places);
        place.truncate(length);
        print
    };
    match value {
        Json::Null => 0_u8.hash(&mut hasher),
        Json::Bool(flag) => (1_u8, flag).hash(&mut hasher),
        Json::Number(number) => {
            // Whole or not, a number is the same; `0` and `-0` too.
            let number = number.as_f64().unwrap_or_default() + 0.0;
            (2_u8, number.to_bits()).hash(&mut hasher);
        }
        Json::String(text) => (3_u8, text).hash(&mut hasher),
        Json::Array(items) => {
            4_u8.hash(&mut hasher);
            for (index, item) in items.iter().enumerate() {
                below(&index.to_string(), item).hash(&mut hasher);
            }
        }
        Json::Object(members) => {
            // In whichever order they are written.
            let sum = members.iter().fold(0_u64, |sum, (key, value)| {
                let mut member = DefaultHasher::new();
                (key, below(key, value)).hash(&mut member);
                sum.wrapping_add(member.finish())
            });
            (5_u8, sum).hash(&mut hasher);
        }
    }
    hasher.finish()
}
