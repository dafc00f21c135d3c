//! The one integration binary: the program from outside, and the source tree as text.

mod browser;
mod dependencies;
mod documents;
mod examples;
mod golden;
mod program;
mod servers;
mod tidy;
