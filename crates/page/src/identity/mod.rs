//! Whether an element is still the one that was meant.

mod called;
mod fingerprint;
mod gate;
mod neighbours;
mod place;
mod renamed;
#[cfg(test)]
mod tests;
mod verdict;

pub use fingerprint::Identification;
pub use fingerprint::LONGEST_TEXT;
pub use gate::{Decision, Facts};
pub use verdict::{Difference, Healing, Remembered, Scored, Verdict};
