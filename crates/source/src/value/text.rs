//! Text whose parts keep their origin: what the policy looks at before a text becomes a path or a command.

use std::fmt;
use std::sync::Arc;

use super::Origin;

/// A run of characters of one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The characters.
    pub text: String,
    /// Where they came from.
    pub origin: Origin,
    /// Whether they are a string; else they are the JSON of what was filled in, and nothing for null.
    pub is_string: bool,
    /// The reference they were filled in for, if they were.
    pub reference: Option<Arc<str>>,
}

impl Piece {
    /// A piece that the author wrote.
    pub fn author(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            origin: Origin::Author,
            is_string: true,
            reference: None,
        }
    }
}

/// Pieces in a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pieces: Vec<Piece>,
}

impl Text {
    /// The text made of `pieces`.
    pub fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces }
    }

    /// Its parts in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether no part of it came from a peer.
    pub fn is_trusted(&self) -> bool {
        self.untrusted().is_none()
    }

    /// The first part that came from a peer.
    pub fn untrusted(&self) -> Option<&Piece> {
        self.pieces.iter().find(|piece| !piece.origin.is_trusted())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(vec![Piece::author(text)])
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces
            .iter()
            .try_for_each(|piece| formatter.write_str(&piece.text))
    }
}
