//! The events of a stream: bytes, and when they are sent.

use std::num::NonZeroUsize;

use serde::Serialize;

use super::answer::Piece;
use crate::sse;

/// How a stream is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streaming {
    /// How many characters of a text come at once.
    pub chunk: NonZeroUsize,
    /// The frame around the events.
    pub framing: Framing,
}

/// The frame around the events of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events, `text/event-stream`.
    Sse,
    /// One JSON array, `application/json`: Gemini without `?alt=sse`. Only Gemini knows it.
    JsonArray,
}

/// The events of a stream in order.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// The events.
    pub events: Vec<Event>,
    /// The first event of each call of the answer, in order.
    pub calls: Vec<usize>,
}

/// One event: what is sent at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in milliseconds since the answer began. It never falls.
    pub at_ms: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Events {
    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// The bytes of the whole stream.
    pub fn into_bytes(self) -> Vec<u8> {
        self.events
            .into_iter()
            .flat_map(|event| event.bytes)
            .collect()
    }
}

/// Writes events, and keeps their time.
pub(super) struct EventWriter {
    events: Events,
    streaming: Streaming,
    now_ms: u64,
}

impl EventWriter {
    pub(super) fn new(streaming: Streaming) -> Self {
        Self {
            events: Events::default(),
            streaming,
            now_ms: 0,
        }
    }

    /// Lets the time come to `at_ms`, unless it is past that.
    pub(super) fn wait_until(&mut self, at_ms: u64) {
        self.now_ms = self.now_ms.max(at_ms);
    }

    /// What comes next is a call.
    pub(super) fn begin_call(&mut self) {
        self.events.calls.push(self.events.events.len());
    }

    /// Lets the time of pieces pass that aren't shown.
    pub(super) fn pass(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.wait_until(piece.at_ms);
        }
    }

    /// An event of the format that has this JSON as its data.
    pub(super) fn json(&mut self, name: Option<&str>, data: &impl Serialize) {
        let mut bytes = Vec::new();
        match self.streaming.framing {
            Framing::Sse => sse::write_json(&mut bytes, name, data),
            Framing::JsonArray => {
                let is_first = self.events.events.is_empty();
                let opening: &[u8] = if is_first { b"[" } else { b",\r\n" };
                bytes.extend_from_slice(opening);
                sse::write_line(&mut bytes, data);
            }
        }
        self.push(bytes);
    }

    /// An event whose data is a word.
    pub(super) fn word(&mut self, word: &str) {
        let mut bytes = Vec::new();
        sse::write_text(&mut bytes, None, word);
        self.push(bytes);
    }

    fn push(&mut self, bytes: Vec<u8>) {
        let at_ms = self.now_ms;
        self.events.events.push(Event { at_ms, bytes });
    }

    /// Cuts a text into deltas with their times: those of a piece are spread over the time before it, and the last
    /// one is there when the piece is.
    pub(super) fn spread<'a>(
        &self,
        pieces: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Spread<'a> {
        let mut deltas = Vec::new();
        let mut now_ms = self.now_ms;
        for (text, at_ms) in pieces {
            let to = now_ms.max(at_ms);
            let gap = u128::from(to - now_ms);
            let count = text.chars().count().div_ceil(self.streaming.chunk.get()) as u128;
            for (index, text) in cut(text, self.streaming.chunk).enumerate() {
                // Not more than the gap, since the index is below the count.
                let part = gap * (index as u128 + 1) / count;
                let at_ms = now_ms + u64::try_from(part).unwrap_or(to - now_ms);
                deltas.push(Delta { at_ms, text });
            }
            now_ms = to;
        }
        let begins_at = deltas.first().map_or(now_ms, |delta| delta.at_ms);
        Spread {
            begins_at,
            deltas,
            ends_at: now_ms,
        }
    }

    /// The events.
    pub(super) fn finish(mut self) -> Events {
        if self.streaming.framing == Framing::JsonArray {
            match self.events.events.last_mut() {
                Some(last) => last.bytes.push(b']'),
                None => self.push(b"[]".to_vec()),
            }
        }
        self.events
    }
}

/// A text in the parts in which it is sent.
pub(super) struct Spread<'a> {
    /// When the first one is sent.
    pub(super) begins_at: u64,
    /// The parts in order; none if the text is empty.
    pub(super) deltas: Vec<Delta<'a>>,
    /// When the text is complete.
    pub(super) ends_at: u64,
}

/// A part of a text and when it is sent.
pub(super) struct Delta<'a> {
    pub(super) at_ms: u64,
    pub(super) text: &'a str,
}

/// The texts of pieces with their times, as [`EventWriter::spread`] takes them.
pub(super) fn timed(pieces: &[Piece]) -> impl Iterator<Item = (&str, u64)> {
    pieces.iter().map(|piece| (&*piece.text, piece.at_ms))
}

/// The parts of a text with `chunk` characters each, the last one maybe with fewer; none if it is empty.
fn cut(text: &str, chunk: NonZeroUsize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .nth(chunk.get())
            .map_or(rest.len(), |(end, _)| end);
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn streaming(chunk: usize, framing: Framing) -> Streaming {
        Streaming {
            chunk: NonZeroUsize::new(chunk).expect("not zero"),
            framing,
        }
    }

    fn times(chunk: usize, pieces: &[(&str, u64)]) -> Vec<(u64, String)> {
        let mut writer = EventWriter::new(streaming(chunk, Framing::Sse));
        let spread = writer.spread(pieces.iter().copied());
        for delta in &spread.deltas {
            writer.wait_until(delta.at_ms);
            writer.word(delta.text);
        }
        assert_eq!(
            spread.deltas.first().map(|delta| delta.at_ms),
            Some(spread.begins_at)
        );
        assert_eq!(
            spread.deltas.last().map(|delta| delta.at_ms),
            Some(spread.ends_at)
        );
        let events = writer.finish();
        events
            .iter()
            .map(|event| {
                let text = std::str::from_utf8(&event.bytes).expect("text");
                (
                    event.at_ms,
                    text.trim_end().trim_start_matches("data: ").to_owned(),
                )
            })
            .collect()
    }

    #[test]
    fn deltas_are_spread_over_the_gap_before_them() {
        let expected = [
            (100, "ab"),
            (200, "cd"),
            (300, "e"),
            (300, "f"),
            (310, "gh"),
        ];
        let found = times(2, &[("abcde", 300), ("f", 200), ("gh", 310)]);
        assert_eq!(found, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[test]
    fn an_array_is_whole_with_any_number_of_events() {
        for (count, expected) in [(0, "[]"), (1, "[0]"), (2, "[0,\r\n1]")] {
            let mut writer = EventWriter::new(streaming(1, Framing::JsonArray));
            for number in 0..count {
                writer.json(None, &number);
            }
            let events = writer.finish();
            let joined: Vec<u8> = events
                .iter()
                .flat_map(|event| event.bytes.clone())
                .collect();
            assert_eq!(String::from_utf8(joined).expect("text"), expected);
            assert_eq!(events.into_bytes(), expected.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn parts_make_the_whole(text in any::<String>(), chunk in 1..9_usize) {
            let parts: Vec<_> = cut(&text, NonZeroUsize::new(chunk).expect("not zero")).collect();
            prop_assert_eq!(parts.concat(), text.clone());
            prop_assert_eq!(parts.len(), text.chars().count().div_ceil(chunk));
        }

        #[test]
        fn times_never_fall_and_reach_each_piece(
            pieces in proptest::collection::vec(("[a-z]{1,30}", any::<u64>()), 1..6), chunk in 1..20_usize
        ) {
            let pieces: Vec<_> = pieces.iter().map(|(text, at)| (text.as_str(), *at)).collect();
            let found = times(chunk, &pieces);
            prop_assert!(found.is_sorted_by_key(|(at, _)| *at));
            let last = pieces.iter().map(|(_, at)| *at).max().expect("one at least");
            prop_assert_eq!(found.last().expect("one at least").0, last);
        }
    }
}
