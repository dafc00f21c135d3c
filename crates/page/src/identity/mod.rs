//! Whether an element is still the one that was meant.

mod called;
mod fingerprint;
mod gate;
#[cfg(test)]
mod tests;

pub use fingerprint::{Identification, LONGEST_TEXT};
pub use gate::{Remembered, Verdict};
