//! How far two texts are apart.

/// Only so many characters of a text are compared: a request may hold megabytes, and the work grows with the
/// product of the lengths.
const MAX_COMPARED: usize = 2000;

/// A normal text with its length, which is counted once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) text: String,
    /// In characters.
    pub(super) length: usize,
}

impl Measured {
    pub(super) fn new(text: String) -> Self {
        Self {
            length: text.chars().count(),
            text,
        }
    }
}

/// The edit distance of two normal texts in characters, divided by the length of the longer one: 0 is equal, 1 has
/// nothing in common. Of long texts only the beginning is compared. `None` if it is certainly above `limit`, which
/// their lengths often tell.
pub(super) fn distance(one: &Measured, other: &Measured, limit: f64) -> Option<f64> {
    if one == other {
        return Some(0.0);
    }
    let least = least_distance(one, other);
    if least > limit {
        return None;
    }
    let longer = one.length.max(other.length).clamp(1, MAX_COMPARED);
    let edits = strsim::levenshtein(beginning(&one.text), beginning(&other.text));
    let distance = (edits as f64 / longer as f64).max(least);
    (distance <= limit).then_some(distance)
}

/// What the lengths of two texts say alone: their distance is not below this.
pub(super) fn least_distance(one: &Measured, other: &Measured) -> f64 {
    let longer = one.length.max(other.length).max(1);
    one.length.abs_diff(other.length) as f64 / longer as f64
}

fn beginning(text: &str) -> &str {
    match text.char_indices().nth(MAX_COMPARED) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(one: &str, other: &str, limit: f64) -> Option<f64> {
        super::distance(&measured(one), &measured(other), limit)
    }

    fn measured(text: &str) -> Measured {
        Measured::new(text.to_owned())
    }

    #[test]
    fn a_distance_is_a_share_of_the_longer_text() {
        assert_eq!(distance("abcd", "abcd", 0.0), Some(0.0));
        assert_eq!(distance("abcd", "abce", 1.0), Some(0.25));
        assert_eq!(distance("éa", "ea", 1.0), Some(0.5));
        assert_eq!(distance("abc", "", 1.0), Some(1.0));
        assert_eq!(distance("", "", 0.0), Some(0.0));
        assert_eq!(distance("abcd", "xyzw", 0.6), None);
    }

    #[test]
    fn huge_texts_are_answered_from_their_lengths_or_their_beginning() {
        let huge = "a".repeat(1_000_000);
        assert_eq!(distance(&huge, "short", 0.6), None);
        let other = format!("{huge}b");
        let found = distance(&huge, &other, 0.6).expect("they begin alike");
        assert!(found < 0.001);
    }

    proptest! {
        #[test]
        fn a_distance_is_symmetric_and_within_its_bounds(one in "[a-c]{0,12}", other in "[a-c]{0,12}") {
            let found = distance(&one, &other, 1.0).expect("nothing is above one");
            prop_assert_eq!(Some(found), distance(&other, &one, 1.0));
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert_eq!(found == 0.0, one == other);
            prop_assert!(least_distance(&measured(&one), &measured(&other)) <= found);
        }
    }
}
