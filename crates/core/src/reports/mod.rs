//! Renderings of trace events, outcomes and diagnostics. A report knows no format and no player.

pub mod diagnostics;
pub mod junit;
pub mod play_json;
pub mod play_terminal;
mod style;

pub use style::{Style, duration};
