//! What must hold of each reader of files, whatever the file holds. The fuzz targets run these, and so does a test
//! that changes files of the repository at random, so that they are right before anybody fuzzes.

mod formats;
mod recordings;
mod syntax;
#[cfg(test)]
mod tests;

use cuecard_report::{Style, diagnostics};
use cuecard_source::diagnostic::{Diagnostic, any_error};

pub use formats::{
    browser, capture, cassette, config, heal, mcp_cassette, sentence, steps, test_case, tool_call,
};
pub use recordings::{atif, claude_code, codex, journal, otlp, replay_bundle, trace};
pub use syntax::{json, yaml};

/// A reader by the name of its fuzz target, and what must hold of it for any text; it panics if that doesn't.
pub type Target = (&'static str, fn(&str));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("json", json),
    ("yaml", yaml),
    ("tool_call", tool_call),
    ("test_case", test_case),
    ("browser", browser),
    ("steps", steps),
    ("heal", heal),
    ("capture", capture),
    ("sentence", sentence),
    ("cassette", cassette),
    ("mcp_cassette", mcp_cassette),
    ("config", config),
    ("replay_bundle", replay_bundle),
    ("trace", trace),
    ("journal", journal),
    ("atif", atif),
    ("otlp", otlp),
    ("claude_code", claude_code),
    ("codex", codex),
];

/// Findings can be shown: each says something, marks whole characters of the text it is about, and can't move the
/// cursor of a terminal.
fn assert_can_be_shown(findings: &[Diagnostic]) {
    for found in findings {
        assert!(!found.message.is_empty(), "{found:?}");
        let shown = diagnostics::render(found, Style::default());
        let is_odd = |sign: char| sign.is_ascii_control() && !matches!(sign, '\n' | '\t');
        assert!(!shown.contains(is_odd), "{shown:?}");
        if let Some(place) = &found.place {
            let text = place.source.text();
            assert!(text.get(place.span.range()).is_some(), "{found:?}");
        }
    }
}

/// There is a result, or an error that says why not, and never both.
fn assert_read_or_refused<T>(result: Option<&T>, findings: &[Diagnostic]) {
    assert_can_be_shown(findings);
    assert_eq!(result.is_none(), any_error(findings), "{findings:?}");
}
