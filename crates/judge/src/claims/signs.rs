//! What single words say of a clause.

use crate::text::words;

/// Whether a number counts what was spoken of: `none of the three`, `all four`.
pub(super) fn is_of_known(before: &str) -> bool {
    let last = words(before).last().map(|word| word.text.to_lowercase());
    matches!(last.as_deref(), Some("the" | "all" | "these" | "those"))
}

fn has_word(clause: &str, wanted: &[&str]) -> bool {
    words(clause).any(|word| wanted.contains(&word.text.to_lowercase().as_str()))
}

/// Whether a clause says under which condition something is so.
pub(super) fn is_hypothetical(clause: &str) -> bool {
    has_word(
        clause,
        &["if", "once", "unless", "whether", "wenn", "sobald"],
    )
}

/// Whether a clause says what is to come, or to be done.
pub(super) fn is_to_come(clause: &str) -> bool {
    has_word(clause, &["will", "would", "should", "must"]) || clause.contains(" to be ")
}

/// Whether a unit denies without a word for it: `Errors: 0`.
pub(super) fn says_nothing_is_there(unit: &str) -> bool {
    has_word(unit, &["0", "zero", "empty", "null"]) || unit.contains(['✗', '✘', '❌', '☐'])
}
