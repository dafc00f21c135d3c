//! The encodings that text files come in: UTF-8 with or without a byte order mark, and UTF-16 with one.

use std::io::{self, BufRead, Read};

/// How a text file's bytes are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or something unknown that is passed through byte by byte.
    Utf8,
    /// UTF-8 behind its mark.
    Utf8Marked,
    /// UTF-16, least significant byte first, behind its mark.
    Utf16Le,
    /// UTF-16, most significant byte first, behind its mark.
    Utf16Be,
}

impl Encoding {
    /// The encoding that the first bytes of a file announce.
    pub(super) fn of(start: &[u8]) -> Self {
        match start {
            [0xef, 0xbb, 0xbf, ..] => Self::Utf8Marked,
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    /// The byte order mark.
    pub(super) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => &[],
            Self::Utf8Marked => &[0xef, 0xbb, 0xbf],
            Self::Utf16Le => &[0xff, 0xfe],
            Self::Utf16Be => &[0xfe, 0xff],
        }
    }

    /// Whether this is one of the two UTF-16.
    pub(super) fn is_utf16(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be)
    }

    fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Self::Utf16Be => u16::from_be_bytes(pair),
            _ => u16::from_le_bytes(pair),
        }
    }

    /// A file's bytes without the mark, UTF-16 as UTF-8. `None` if UTF-16 is not valid, because then it
    /// could not be written back unchanged.
    pub(super) fn decode(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        bytes.drain(..self.mark().len());
        if !self.is_utf16() {
            return Some(bytes);
        }
        let (pairs, []) = bytes.as_chunks::<2>() else {
            return None;
        };
        char::decode_utf16(pairs.iter().map(|pair| self.unit(*pair)))
            .collect::<Result<String, _>>()
            .ok()
            .map(String::into_bytes)
    }

    /// The inverse of [`Encoding::decode`].
    pub(super) fn encode(self, text: Vec<u8>) -> Vec<u8> {
        let mut bytes = self.mark().to_vec();
        if self.is_utf16() {
            for unit in String::from_utf8_lossy(&text).encode_utf16() {
                bytes.extend(match self {
                    Self::Utf16Be => unit.to_be_bytes(),
                    _ => unit.to_le_bytes(),
                });
            }
        } else if bytes.is_empty() {
            return text;
        } else {
            bytes.extend(text);
        }
        bytes
    }
}

/// UTF-16 read as UTF-8, a piece at a time; what is not valid becomes U+FFFD. The mark must be consumed.
pub(super) struct Utf16Reader<R> {
    inner: R,
    encoding: Encoding,
    /// Units that were read but could not be decoded alone: the first half of a pair.
    pending: Option<u16>,
    decoded: Vec<u8>,
    given: usize,
}

impl<R: BufRead> Utf16Reader<R> {
    pub(super) fn new(inner: R, encoding: Encoding) -> Self {
        Self {
            inner,
            encoding,
            pending: None,
            decoded: Vec::new(),
            given: 0,
        }
    }

    /// Decodes the next piece into `decoded`; leaves it empty at the end.
    fn refill(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.given = 0;
        let mut raw = Vec::new();
        self.inner.by_ref().take(8192).read_to_end(&mut raw)?;
        let last = raw.len() < 8192;
        let (pairs, odd) = raw.as_chunks::<2>();
        let mut units: Vec<u16> = self.pending.take().into_iter().collect();
        units.extend(pairs.iter().map(|pair| self.encoding.unit(*pair)));
        if !last
            && units
                .last()
                .is_some_and(|unit| (0xd800..0xdc00).contains(unit))
        {
            self.pending = units.pop();
        }
        let mut text: String = char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        if !odd.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        self.decoded = text.into_bytes();
        Ok(())
    }
}

impl<R: BufRead> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.decoded.len() {
            self.refill()?;
        }
        let count = buffer.len().min(self.decoded.len() - self.given);
        buffer[..count].copy_from_slice(&self.decoded[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_encoding_comes_back(text in any::<String>()) {
            for encoding in [Encoding::Utf8Marked, Encoding::Utf16Le, Encoding::Utf16Be] {
                let bytes = encoding.encode(text.clone().into_bytes());
                prop_assert_eq!(Encoding::of(&bytes), encoding);
                prop_assert_eq!(encoding.decode(bytes), Some(text.clone().into_bytes()));
            }
        }
    }

    #[test]
    fn the_reader_keeps_pairs_that_stand_across_two_pieces() {
        // One unit first, so that every later pair is split by an even piece size.
        let text = format!("a{}", "😀".repeat(5000));
        let bytes = Encoding::Utf16Be.encode(text.clone().into_bytes());
        let mut read = String::new();
        Utf16Reader::new(&bytes[2..], Encoding::Utf16Be)
            .read_to_string(&mut read)
            .unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn what_is_not_valid_is_marked_when_read_and_refused_when_edited() {
        let bytes = [0xff, 0xfe, b'a', 0, 0, 0xd8, b'b', 0, b'c'];
        assert_eq!(Encoding::Utf16Le.decode(bytes.to_vec()), None);
        let mut read = String::new();
        Utf16Reader::new(&bytes[2..], Encoding::Utf16Le)
            .read_to_string(&mut read)
            .unwrap();
        assert_eq!(read, "a\u{fffd}b\u{fffd}");
    }
}
