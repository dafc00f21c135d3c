//! One hash for everything that is recognised again, the same on every machine and in every run.

use sha2::{Digest, Sha256};

/// So many bytes wait to be hashed at once: each call of the hash costs more than most parts do.
const MOST: usize = 512;

/// Hashes many small parts.
pub(super) struct Hasher {
    waiting: [u8; MOST],
    n_waiting: usize,
    sha: Sha256,
}

impl Hasher {
    pub(super) fn new() -> Self {
        Self {
            waiting: [0; MOST],
            n_waiting: 0,
            sha: Sha256::new(),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > MOST - self.n_waiting {
            self.flush();
            // Its copy would cost more than another call.
            if bytes.len() > MOST {
                return self.sha.update(bytes);
            }
        }
        self.waiting[self.n_waiting..][..bytes.len()].copy_from_slice(bytes);
        self.n_waiting += bytes.len();
    }

    /// Its length goes before it, so that no two lists of texts are the same bytes.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text);
    }

    pub(super) fn finish(mut self) -> [u8; 32] {
        self.flush();
        self.sha.finalize().into()
    }

    /// Eight bytes of the hash.
    pub(super) fn finish_short(self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.finish()[..8]);
        u64::from_le_bytes(first)
    }

    fn flush(&mut self) {
        self.sha.update(&self.waiting[..self.n_waiting]);
        self.n_waiting = 0;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn how_parts_are_gathered_does_not_count(
            parts in proptest::collection::vec((0..3 * MOST, any::<u8>()), 0..8),
        ) {
            let mut plain = Sha256::new();
            let mut gathered = Hasher::new();
            for (length, byte) in parts {
                let part = vec![byte; length];
                plain.update((length as u64).to_le_bytes());
                plain.update(&part);
                gathered.text(&part);
            }
            let plain: [u8; 32] = plain.finalize().into();
            prop_assert_eq!(gathered.finish(), plain);
        }
    }
}
