//! Renderings of trace events, outcomes and diagnostics: for terminals, as JSON, JUnit, TAP, GitHub's annotations and HTML.
//!
//! Takes what happened and a writer. Knows no file format of scenarios and no player, and prints nothing itself.

pub mod browser_html;
pub mod browser_verdicts;
pub mod comparison_json;
pub mod comparison_terminal;
pub mod diagnostics;
pub mod html;
pub mod junit;
pub mod play_html;
pub mod play_index;
pub mod play_json;
pub mod play_terminal;
mod play_totals;
pub mod run_html;
#[cfg(test)]
mod sample;
pub mod stand_in_junit;
mod style;
pub mod test_github;
pub mod test_json;
pub mod test_junit;
pub mod test_mutations;
pub mod test_tap;
pub mod test_terminal;

pub use play_totals::PlayTotals;
pub use style::{Style, counted, duration};
pub use test_json::result_schema;
