//! YAML 1.2 with spans, read into the tree of the JSON reader, so that a format reads both with one code.
//!
//! [`parse`] accepts what has a form in JSON: one document, keys that are text, no tags. Plain scalars mean what the
//! core schema says, so `yes` and `1_000` are text; those are listed as [`AmbiguousScalar`]s. Anchors, aliases and merge keys
//! are replaced by what they stand for, within a bound. A text that is JSON is read as that. After a mistake of meaning it goes on, so that a person sees
//! all of them at once; a mistake of syntax ends the reading.

#[cfg(test)]
mod properties;
mod reader;
mod scalar;
mod spans;
#[cfg(test)]
mod tests;
mod write;

pub use write::write;

use super::Span;
use super::json::Limits;
use crate::mistake::Parsed;

/// Longest text in bytes, whatever the limits say: the scanner holds the tokens of a whole `[…]` or `{…}`.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A text without quotes that older readers of YAML take for a boolean or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmbiguousScalar {
    /// Where it stands.
    pub span: Span,
    /// What they take it for.
    pub taken_for: Yaml11Type,
}

/// What a [`AmbiguousScalar`] is elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yaml11Type {
    /// `yes`, `no`, `on`, `off`.
    Boolean(bool),
    /// `012`, `1_000`, `0b1`.
    Number,
}

/// Reads one YAML document. Takes time linear in its length and in what its aliases stand for, which is bounded.
pub fn parse(text: &str, limits: &Limits) -> Parsed {
    let longest = limits.max_bytes.min(MAX_BYTES);
    if text.len() > longest {
        return Parsed::too_large(text, longest, "write large documents as JSON");
    }
    let parsed = reader::Reader::new(text, *limits).read();
    let is_json = text.trim_start_matches('\u{feff}').trim_start();
    if parsed.errors.is_empty() || !is_json.starts_with(['{', '[']) {
        return parsed;
    }
    // JSON is YAML but for the pairs of surrogates in its texts.
    match super::json::parse(text, limits) {
        json if json.errors.is_empty() => json,
        _ => parsed,
    }
}
