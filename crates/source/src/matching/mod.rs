//! Does what arrived hold or fit, and if not, why; and in what two things differ. Checks and assertions share them.

mod compare;
mod comparison;
mod difference;
mod predicate;

pub use compare::{Incomparable, compare, equal, equal_by, is_same_json, is_true, lack};
pub use comparison::Comparison;
pub use difference::{DifferentLine, changed_lines, different_lines, equal_ranges, likeness};
pub use predicate::{
    MOST_MISFITS, Mismatch, Predicate, json_path, push_key, regex_reason, schema_validator,
    takes_all,
};
