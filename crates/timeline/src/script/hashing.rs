//! One hash for everything that is recognised again, the same on every machine and in every run.

use sha2::{Digest, Sha256};

/// Hashes many small parts.
pub(super) struct Hasher {
    sha: Sha256,
}

impl Hasher {
    pub(super) fn new() -> Self {
        Self { sha: Sha256::new() }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.sha.update(bytes);
    }

    /// Its length goes before it, so that no two lists of texts are the same bytes.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text);
    }

    pub(super) fn finish(self) -> [u8; 32] {
        self.sha.finalize().into()
    }

    /// Eight bytes of the hash.
    pub(super) fn finish_short(self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.finish()[..8]);
        u64::from_le_bytes(first)
    }
}

/// Eight bytes of the hash of `parts`.
pub(super) fn short_hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = Hasher::new();
    for part in parts {
        hasher.text(part);
    }
    hasher.finish_short()
}
