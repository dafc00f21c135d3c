//! Predicates: does what arrived hold or fit, and if not, why. Checks and assertions share them.

mod compare;
mod predicate;

pub use compare::{Incomparable, compare, equal, is_true};
pub use predicate::{MOST_MISFITS, Misfit, Predicate, regex_reason};
