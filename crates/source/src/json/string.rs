//! Finding the characters of a string's value in the source again.

use std::ops::Range;

use crate::Span;

/// Where the byte range `decoded` of a string's value stands in `source`, given the span of the string literal with
/// its quotes. An escape counts as a whole: a range that covers part of what it stands for covers all of it. What lies
/// beyond the string's end is cut. An empty range gives an empty span. The literal must come from [`super::parse`].
pub fn string_span(source: &str, literal: Span, decoded: Range<usize>) -> Span {
    let Some(text) = source.get(literal.range()) else {
        return literal;
    };
    let mut place = usize::from(text.starts_with('"'));
    let end = text.len() - usize::from(text.len() > 1 && text.ends_with('"'));
    let content = text.get(..end).unwrap_or(text);
    // How many bytes of the value stand before `place`.
    let mut before = 0;
    let mut first = None;
    while let Some(character) = content.get(place..).and_then(|rest| rest.chars().next()) {
        let (source_len, decoded_len) = match character {
            '\\' => escape(&content[place..]),
            plain => (plain.len_utf8(), plain.len_utf8()),
        };
        if before + decoded_len > decoded.start {
            first.get_or_insert(place);
        }
        if first.is_some() && before >= decoded.end {
            break;
        }
        place += source_len;
        before += decoded_len;
    }
    let place = place.min(content.len());
    let start = literal.start as usize;
    Span::new(start + first.unwrap_or(place), start + place)
}

/// The length of the escape that `text` begins with, and that of what it stands for.
fn escape(text: &str) -> (usize, usize) {
    let unit = |at: usize| match text.get(at..at + 2) {
        Some("\\u") => u16::from_str_radix(text.get(at + 2..at + 6)?, 16).ok(),
        _ => None,
    };
    match (unit(0), unit(6)) {
        (Some(high), Some(low))
            if char::decode_utf16([high, low]).all(|one| one.is_ok())
                && (0xd800..0xe000).contains(&high) =>
        {
            (12, 4)
        }
        (Some(one), _) => {
            let character = char::from_u32(one.into()).unwrap_or(char::REPLACEMENT_CHARACTER);
            (6, character.len_utf8())
        }
        (None, _) => (1 + text.chars().nth(1).map_or(0, char::len_utf8), 1),
    }
}
