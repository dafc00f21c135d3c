//! JSON with spans.
