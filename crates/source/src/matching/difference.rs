//! What two sequences have in common, and in what they differ.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag};

/// One line of a difference: `-` was taken away, `+` came, ` ` stands around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferentLine<'a> {
    /// `-`, `+` or a space.
    pub sign: char,
    /// The line, without its end.
    pub line: &'a str,
}

/// What is the same in both sequences in the same order, as ranges of equal lengths. The time it takes is bounded:
/// for long sequences that have little in common it may find less than there is.
pub fn equal_ranges(old: &[u64], new: &[u64]) -> Vec<(Range<usize>, Range<usize>)> {
    let operations = operations(old, new);
    let equal = operations.iter().filter(|op| op.tag() == DiffTag::Equal);
    equal.map(|op| (op.old_range(), op.new_range())).collect()
}

/// How much of two sequences is the same in the same order: from 0, nothing, to 1, all of both.
pub fn likeness<T: Hash + Eq>(
    old: impl IntoIterator<Item = T>,
    new: impl IntoIterator<Item = T>,
) -> f32 {
    let (old, new) = numbered(old, new);
    similar::diff_ratio(&operations(&old, &new), old.len(), new.len())
}

/// The lines in which two texts differ, in groups: those that stand together, with `around` equal lines before and
/// after.
pub fn different_lines<'a>(
    old: &'a str,
    new: &'a str,
    around: usize,
) -> Vec<Vec<DifferentLine<'a>>> {
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (old, new) = numbered(&olds, &news);
    let groups = similar::group_diff_ops(operations(&old, &new), around);
    let lines = |op: &DiffOp| {
        let (taken, come) = match op.tag() {
            DiffTag::Equal => (' ', None),
            _ => ('-', Some('+')),
        };
        let olds = olds[op.old_range()].iter().map(move |line| (taken, *line));
        let news = &news[op.new_range()];
        let news = news.iter().filter_map(move |line| Some((come?, *line)));
        let all: Vec<_> = olds
            .chain(news)
            .map(|(sign, line)| DifferentLine { sign, line })
            .collect();
        all
    };
    groups
        .iter()
        .map(|group| group.iter().flat_map(lines).collect())
        .collect()
}

/// The same number for what is equal.
fn numbered<T: Hash + Eq>(
    old: impl IntoIterator<Item = T>,
    new: impl IntoIterator<Item = T>,
) -> (Vec<u64>, Vec<u64>) {
    let mut numbers = HashMap::new();
    let mut number = |item: T| {
        let next = numbers.len() as u64;
        *numbers.entry(item).or_insert(next)
    };
    let old = old.into_iter().map(&mut number).collect();
    (old, new.into_iter().map(&mut number).collect())
}

/// What turns one into the other. By Myers' algorithm alone, and for numbers alone: choosing it by name would bring all
/// algorithms into the binary, and each type all of them again.
fn operations(old: &[u64], new: &[u64]) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut hook, old, 0..old.len(), new, 0..new.len());
    hook.into_inner().into_inner().into_ops()
}

/// How many lines are new, and how many are gone.
pub fn changed_lines(old: &str, new: &str) -> (u64, u64) {
    let groups = different_lines(old, new, 0);
    let lines = groups.iter().flatten();
    lines.fold((0, 0), |(added, removed), line| match line.sign {
        '+' => (added + 1, removed),
        '-' => (added, removed + 1),
        _ => (added, removed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_both_in_the_same_order_is_equal() {
        let ranges = equal_ranges(&[1, 2, 3, 4, 5], &[9, 2, 3, 7, 5]);
        assert_eq!(ranges, [(1..3, 1..3), (4..5, 4..5)]);
        assert!(equal_ranges(&[1], &[2]).is_empty());
    }

    #[test]
    fn likeness_is_the_share_of_what_is_the_same() {
        assert_eq!(likeness("abcd".chars(), "abcd".chars()), 1.0);
        assert_eq!(likeness("ab".chars(), "cd".chars()), 0.0);
        assert_eq!(likeness("abcd".chars(), "abxy".chars()), 0.5);
        assert_eq!(likeness("".chars(), "".chars()), 1.0);
    }

    #[test]
    fn lines_that_differ_stand_in_groups_with_their_neighbours() {
        let old = "a\nb\nc\nd\ne\nf\ng";
        let new = "a\nB\nc\nd\ne\nf\nf2\ng";
        let groups = different_lines(old, new, 1);
        let shown: Vec<String> = groups
            .iter()
            .map(|group| {
                let lines = group.iter();
                lines
                    .map(|different| format!("{}{}", different.sign, different.line))
                    .collect::<Vec<_>>()
                    .join("|")
            })
            .collect();
        assert_eq!(shown, [" a|-b|+B| c", " f|+f2| g"]);
        assert!(
            different_lines(old, old, 1)
                .iter()
                .all(|group| group.iter().all(|line| line.sign == ' '))
        );
    }
}
