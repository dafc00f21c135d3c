//! The one integration binary: the program from outside, and the source tree as text.

mod dependencies;
mod golden;
mod tidy;
