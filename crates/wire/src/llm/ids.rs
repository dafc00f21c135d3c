//! Ids: made of what the caller gives, so that the same answer has the same ids again.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest;

/// What the ids of Responses answers begin with.
const RESPONSE_PREFIX: &str = "resp_";
/// The bytes of what a Responses id says: scenario, turn and session.
const PAYLOAD: usize = 20;
/// The bytes of the checksum in a Responses id: enough to know a foreign id.
const CHECKSUM: usize = 4;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What the ids of one answer are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdSeed(u64);

impl IdSeed {
    /// The seed of these parts, in this order: say scenario, session and turn.
    pub fn of(parts: &[&str]) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        Self(first_eight(context.finish().as_ref()))
    }

    /// The seed of these numbers, in this order. It costs less than one of texts, and most answers have it.
    pub fn of_numbers(numbers: &[u64]) -> Self {
        let seed = numbers
            .iter()
            .fold(0, |seed, number| next(&mut (seed ^ number)));
        Self(seed)
    }

    /// The id number `number` of those that begin with `prefix`, with `length` letters and digits after it.
    pub fn id(self, prefix: &str, number: usize, length: usize) -> String {
        let mut state = self.0 ^ (number as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        for part in prefix.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            state = next(&mut (state ^ u64::from_le_bytes(word)));
        }
        let mut id = Vec::with_capacity(prefix.len() + length);
        id.extend_from_slice(prefix.as_bytes());
        let n_bytes = prefix.len() + length;
        while id.len() < n_bytes {
            // Ten digits of base 62 fit into 64 bits.
            let mut random = next(&mut state);
            let digits: [u8; 10] = std::array::from_fn(|_| {
                let digit = ALPHABET[(random % 62) as usize];
                random /= 62;
                digit
            });
            let n_digits = digits.len().min(n_bytes - id.len());
            id.extend_from_slice(&digits[..n_digits]);
        }
        String::from_utf8(id).expect("a text, and letters and digits")
    }
}

/// One step of SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn first_eight(hash: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    u64::from_be_bytes(bytes)
}

/// The signature of a piece of thinking: the same text has the same one.
pub(super) fn signature(thinking: &str) -> String {
    let mut bytes = Vec::with_capacity(3 * digest::SHA256_OUTPUT_LEN);
    for counter in 0..3_u8 {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(&[counter]);
        context.update(thinking.as_bytes());
        bytes.extend_from_slice(context.finish().as_ref());
    }
    STANDARD.encode(bytes)
}

/// The id of a Responses answer says where the answer belongs, so that `previous_response_id` is understood by a
/// server that was started again.
///
/// ```
/// use cuecard_wire::llm::ids::ResponseId;
///
/// let id = ResponseId { scenario: 7, turn: 2, session: 9 };
/// assert_eq!(ResponseId::decode(&id.encode()), Some(id));
/// assert_eq!(ResponseId::decode("resp_6891f8d0c3a481a2"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResponseId {
    /// The fingerprint of the scenario.
    pub scenario: u64,
    /// The turn, counted from 0.
    pub turn: u32,
    /// The key of the session. It is readable for whoever has the id, so no secret follows from it.
    pub session: u64,
}

impl ResponseId {
    /// The id as text: letters, digits, `-` and `_`.
    pub fn encode(self) -> String {
        let mut bytes = [0; PAYLOAD + CHECKSUM];
        bytes[..8].copy_from_slice(&self.scenario.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.turn.to_be_bytes());
        bytes[12..PAYLOAD].copy_from_slice(&self.session.to_be_bytes());
        let checksum = checksum(&bytes[..PAYLOAD]);
        bytes[PAYLOAD..].copy_from_slice(&checksum);
        let mut id = RESPONSE_PREFIX.to_owned();
        URL_SAFE_NO_PAD.encode_string(bytes, &mut id);
        id
    }

    /// What an id says; `None` if it is a foreign one.
    pub fn decode(id: &str) -> Option<Self> {
        let text = id.strip_prefix(RESPONSE_PREFIX)?;
        // One byte more than ours has, so that a longer one is seen.
        let mut bytes = [0; PAYLOAD + CHECKSUM + 1];
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        let (payload, rest) = bytes[..length].split_first_chunk::<PAYLOAD>()?;
        if rest != checksum(payload) {
            return None;
        }
        let (scenario, rest) = payload.split_first_chunk::<8>()?;
        let (turn, rest) = rest.split_first_chunk::<4>()?;
        let (session, _) = rest.split_first_chunk::<8>()?;
        Some(Self {
            scenario: u64::from_be_bytes(*scenario),
            turn: u32::from_be_bytes(*turn),
            session: u64::from_be_bytes(*session),
        })
    }
}

fn checksum(payload: &[u8]) -> [u8; CHECKSUM] {
    let mut checksum = [0; CHECKSUM];
    checksum.copy_from_slice(&digest::digest(&digest::SHA256, payload).as_ref()[..CHECKSUM]);
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_parts_make_the_same_ids() {
        let seed = IdSeed::of(&["scenario", "session", "1"]);
        assert_eq!(
            seed.id("msg_", 0, 24),
            IdSeed::of(&["scenario", "session", "1"]).id("msg_", 0, 24)
        );
        assert_eq!(seed.id("msg_", 0, 24).len(), 28);
        let others = [
            seed.id("msg_", 1, 24),
            seed.id("rs_", 0, 24),
            IdSeed::of(&["scenario", "session", "2"]).id("msg_", 0, 24),
            IdSeed::of(&["scenarios", "ession", "1"]).id("msg_", 0, 24),
        ];
        for other in others {
            assert_ne!(seed.id("msg_", 0, 24)[4..], other[other.len() - 24..]);
        }
    }

    #[test]
    fn a_signature_is_never_empty() {
        assert_eq!(signature("").len(), 128);
        assert_eq!(signature("x"), signature("x"));
        assert_ne!(signature("x"), signature("y"));
    }

    proptest! {
        #[test]
        fn a_response_id_is_read_back(scenario in any::<u64>(), turn in any::<u32>(), session in any::<u64>()) {
            let id = ResponseId { scenario, turn, session };
            let text = id.encode();
            prop_assert!(text[5..].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            prop_assert_eq!(ResponseId::decode(&text), Some(id));
        }

        #[test]
        fn foreign_ids_are_known(text in ".{0,60}", hex in "[0-9a-f]{40,64}") {
            prop_assert_eq!(ResponseId::decode(&text), None);
            prop_assert_eq!(ResponseId::decode(&format!("resp_{text}")), None);
            prop_assert_eq!(ResponseId::decode(&format!("resp_{hex}")), None);
        }

        #[test]
        fn numbers_make_different_ids(first in 0..200_usize, second in 0..200_usize) {
            let seed = IdSeed::of(&["x"]);
            prop_assert_eq!(first == second, seed.id("fc_", first, 20) == seed.id("fc_", second, 20));
        }
    }
}
