//! Which call of one recording is which of another.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use cuecard_source::matching::equal_ranges;
use serde_json::Value;

use super::tidy::Kept;
use crate::marks::plain;

/// For each call of the first recording that of the second: those with the same arguments, and between them those of
/// the same tool, in their order.
pub(super) fn pairs(first: &[Kept<'_>], second: &[Kept<'_>]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; first.len()];
    let whole = |kept: &Kept<'_>| hash(kept, true);
    let tool = |kept: &Kept<'_>| hash(kept, false);
    let mut last = (0, 0);
    for (one, other) in joined(first, second, (0..first.len(), 0..second.len()), whole)
        .into_iter()
        .chain([(first.len(), second.len())])
    {
        for (one, other) in joined(first, second, (last.0..one, last.1..other), tool) {
            pairs[one] = Some(other);
        }
        if let Some(pair) = pairs.get_mut(one) {
            *pair = Some(other);
        }
        last = (one + 1, other + 1);
    }
    pairs
}

fn joined(
    first: &[Kept<'_>],
    second: &[Kept<'_>],
    (ones, others): (Range<usize>, Range<usize>),
    key: impl Fn(&Kept<'_>) -> u64,
) -> Vec<(usize, usize)> {
    let keys = |calls: &[Kept<'_>]| calls.iter().map(&key).collect::<Vec<u64>>();
    let (start, other_start) = (ones.start, others.start);
    let equal = equal_ranges(&keys(&first[ones]), &keys(&second[others]));
    let pairs = equal.into_iter().flat_map(|(some, those)| some.zip(those));
    pairs
        .map(|(one, other)| (start + one, other_start + other))
        .collect()
}

fn hash(kept: &Kept<'_>, whole: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    let call = kept.call;
    (&call.server, &call.tool).hash(&mut hasher);
    if whole {
        let mut arguments = Value::Object(call.arguments.clone());
        arguments.sort_all_objects();
        plain(&arguments.to_string()).hash(&mut hasher);
    }
    hasher.finish()
}
