//! The encodings that text files come in: UTF-8 with or without a byte order mark, and UTF-16 with one.

use std::io::Read;

use encoding_rs::{Encoding as Charset, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

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

    /// The charset, if this is one of the two UTF-16.
    pub(super) fn utf16(self) -> Option<&'static Charset> {
        match self {
            Self::Utf8 | Self::Utf8Marked => None,
            Self::Utf16Le => Some(UTF_16LE),
            Self::Utf16Be => Some(UTF_16BE),
        }
    }

    /// A file's bytes without the mark, UTF-16 as UTF-8. `None` if UTF-16 is not valid, because then it
    /// could not be written back unchanged.
    pub(super) fn decode(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        bytes.drain(..self.mark().len());
        let Some(charset) = self.utf16() else {
            return Some(bytes);
        };
        let text = charset.decode_without_bom_handling_and_without_replacement(&bytes)?;
        Some(text.into_owned().into_bytes())
    }

    /// The inverse of [`Encoding::decode`].
    pub(super) fn encode(self, text: Vec<u8>) -> Vec<u8> {
        let mut bytes = self.mark().to_vec();
        if self.utf16().is_some() {
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

/// UTF-16 behind its mark as UTF-8; what is not valid is replaced.
pub(super) fn utf16_as_utf8(bytes: impl Read, charset: &'static Charset) -> impl Read {
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(Some(charset));
    builder.build(bytes)
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
        utf16_as_utf8(&bytes[2..], UTF_16BE)
            .read_to_string(&mut read)
            .unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn what_is_not_valid_is_marked_when_read_and_refused_when_edited() {
        let bytes = [0xff, 0xfe, b'a', 0, 0, 0xd8, b'b', 0, b'c'];
        assert_eq!(Encoding::Utf16Le.decode(bytes.to_vec()), None);
        let mut read = String::new();
        utf16_as_utf8(&bytes[2..], UTF_16LE)
            .read_to_string(&mut read)
            .unwrap();
        assert_eq!(read, "a\u{fffd}b\u{fffd}");
    }
}
