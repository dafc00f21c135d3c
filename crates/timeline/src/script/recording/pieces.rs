//! Deltas of a stream as entries of a timeline: few, with the pauses that a reader would notice.

use super::super::answer::Piece;

/// A shorter silence is no pause, in milliseconds.
const PAUSE_MS: u64 = 250;
/// An entry that is longer ends with its line, in characters.
const LONG: usize = 2_000;
/// No more deltas are put together to complete the first word after a pause.
const MAX_LEAD: usize = 8;

/// Deltas that came one after another without a pause.
struct Burst<'p> {
    /// When the burst before it ended.
    after_ms: u64,
    pieces: Vec<&'p Piece>,
    n_characters: usize,
}

/// The entries that `pieces` are, each with the time at which the last of it was there. No entry is blank, and all of
/// the text is in them; there are none if it is all blank.
///
/// A player spreads an entry over the time before it. So what comes after a pause is an entry of one word, and the
/// burst that follows it another one, if it takes long enough to be noticed.
pub(super) fn coalesce(pieces: &[Piece]) -> Vec<Piece> {
    let mut entries: Vec<Piece> = Vec::new();
    for burst in bursts(pieces) {
        let (lead, rest) = burst.pieces.split_at(burst.lead());
        for part in [lead, rest] {
            if let Some(last) = part.last() {
                let text: String = part.iter().map(|piece| &*piece.text).collect();
                entries.push(Piece {
                    text: text.into(),
                    ..Piece::clone(last)
                });
            }
        }
    }
    without_blank_ones(entries)
}

fn bursts(pieces: &[Piece]) -> Vec<Burst<'_>> {
    let mut bursts: Vec<Burst<'_>> = Vec::new();
    let mut now_ms = 0;
    for piece in pieces {
        let goes_on = bursts.last().is_some_and(|burst| {
            let is_long = burst.n_characters > LONG
                && burst
                    .pieces
                    .last()
                    .is_some_and(|last| last.text.ends_with('\n'));
            piece.at_ms.saturating_sub(now_ms) < PAUSE_MS && !is_long
        });
        if !goes_on {
            bursts.push(Burst {
                after_ms: now_ms,
                pieces: Vec::new(),
                n_characters: 0,
            });
        }
        if let Some(burst) = bursts.last_mut() {
            burst.n_characters += piece.text.chars().count();
            burst.pieces.push(piece);
        }
        now_ms = now_ms.max(piece.at_ms);
    }
    bursts
}

impl Burst<'_> {
    /// How many of its deltas are an entry of their own: the first word, after a pause and before a burst that takes
    /// as long.
    fn lead(&self) -> usize {
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else {
            return 0;
        };
        let is_after_pause = first.at_ms.saturating_sub(self.after_ms) >= PAUSE_MS;
        if !is_after_pause || last.at_ms.saturating_sub(first.at_ms) < PAUSE_MS {
            return 0;
        }
        let ends_word = |pair: &[&Piece]| {
            pair[0].text.ends_with(char::is_whitespace)
                || pair[1].text.starts_with(char::is_whitespace)
        };
        let words = self.pieces.windows(2).take(MAX_LEAD);
        words.clone().position(ends_word).unwrap_or(0) + 1
    }
}

/// Joins entries without visible text with those beside them.
fn without_blank_ones(entries: Vec<Piece>) -> Vec<Piece> {
    let mut kept: Vec<Piece> = Vec::new();
    let mut blank = String::new();
    for mut entry in entries {
        if entry.text.trim().is_empty() {
            blank.push_str(&entry.text);
            continue;
        }
        if !blank.is_empty() {
            entry.text = format!("{}{}", std::mem::take(&mut blank), entry.text).into();
        }
        kept.push(entry);
    }
    if !blank.is_empty()
        && let Some(last) = kept.last_mut()
    {
        last.text = format!("{}{blank}", last.text).into();
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries(deltas: &[(u64, &str)]) -> Vec<(u64, String)> {
        let pieces: Vec<Piece> = deltas
            .iter()
            .map(|&(at_ms, text)| Piece {
                at_ms,
                text: text.into(),
                image: None,
            })
            .collect();
        let entries = coalesce(&pieces);
        entries
            .into_iter()
            .map(|entry| (entry.at_ms, entry.text.to_string()))
            .collect()
    }

    fn owned(entries: &[(u64, &str)]) -> Vec<(u64, String)> {
        entries
            .iter()
            .map(|&(at, text)| (at, text.to_owned()))
            .collect()
    }

    #[test]
    fn deltas_without_a_pause_are_one_entry() {
        let found = entries(&[(800, "Hel"), (820, "lo "), (840, "there")]);
        assert_eq!(found, owned(&[(840, "Hello there")]));
        assert_eq!(entries(&[(5, "x"), (7, "\n")]), owned(&[(7, "x\n")]));
    }

    #[test]
    fn pauses_stay_and_the_first_word_after_one_stands_alone() {
        let found = entries(&[
            (800, "Hel"),
            (810, "lo"),
            (900, " there,"),
            (1100, " friend."),
            (2000, " Bye"),
        ]);
        assert_eq!(
            found,
            owned(&[(810, "Hello"), (1100, " there, friend."), (2000, " Bye")])
        );
    }

    #[test]
    fn blank_deltas_are_no_entries() {
        assert_eq!(entries(&[(0, "\n"), (900, " ")]), []);
        let found = entries(&[(0, "\n"), (900, "a"), (2000, " ")]);
        assert_eq!(found, owned(&[(900, "\na ")]));
    }

    proptest! {
        #[test]
        fn all_of_the_text_is_there_in_time(deltas in prop::collection::vec((0..900_u64, "[ab \n]{0,5}"), 0..30)) {
            let mut now_ms = 0;
            let timed: Vec<(u64, &str)> = deltas.iter().map(|(gap, text)| {
                now_ms += gap;
                (now_ms, text.as_str())
            }).collect();
            let whole: String = deltas.iter().map(|(_, text)| text.as_str()).collect();
            let found = entries(&timed);
            prop_assert!(found.is_sorted_by_key(|(at, _)| *at));
            prop_assert!(found.iter().all(|(_, text)| !text.trim().is_empty()));
            let said: String = found.iter().map(|(_, text)| text.as_str()).collect();
            if whole.trim().is_empty() {
                prop_assert!(found.is_empty());
            } else {
                prop_assert_eq!(said, whole);
                prop_assert!(found.last().is_some_and(|(at, _)| *at <= now_ms));
            }
        }
    }
}
