//! Renderings of trace events, outcomes and diagnostics. A report knows no format and no player.

pub mod browser_html;
pub mod browser_verdicts;
pub mod comparison_json;
pub mod comparison_terminal;
pub mod diagnostics;
pub mod html;
pub mod junit;
pub mod play_json;
pub mod play_terminal;
#[cfg(test)]
mod sample;
mod style;
pub mod test_github;
pub mod test_json;
pub mod test_junit;
pub mod test_mutations;
mod test_schema;
pub mod test_tap;
pub mod test_terminal;

pub use style::{Style, duration};
pub use test_schema::result_schema;
