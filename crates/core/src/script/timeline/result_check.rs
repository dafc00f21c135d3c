//! Whether tools gave the results that the script has.

use super::turns::Turn;
use crate::scenario::timeline::ExpectedResult;
use crate::value::{Json, as_text, cut};

/// A result that is not what the script has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultDifference {
    /// The call.
    pub call_id: String,
    /// What the script has, cut.
    pub expected: String,
    /// What arrived, cut.
    pub arrived: String,
}

/// The results, by the ids of their calls, that differ from those which `turn` scripts.
pub(super) fn compare_results(turn: &Turn, results: &[(String, &str)]) -> Vec<ResultDifference> {
    let scripted = turn.calls().filter_map(|call| {
        let expected = call.scripted.as_ref()?.result.as_ref()?;
        Some((call.id.as_str(), expected))
    });
    scripted
        .filter_map(|(call_id, expected)| {
            let (_, arrived) = results.iter().rev().find(|(id, _)| id == call_id)?;
            (!holds(expected, arrived)).then(|| ResultDifference {
                call_id: call_id.to_owned(),
                expected: describe(expected),
                arrived: cut(arrived, MAX_SHOWN).into_owned(),
            })
        })
        .collect()
}

const MAX_SHOWN: usize = 400;

/// Trailing white space and blank lines don't count.
fn holds(expected: &ExpectedResult, arrived: &str) -> bool {
    match expected {
        ExpectedResult::Value(Json::String(text)) => {
            without_blanks(text).eq(without_blanks(arrived))
        }
        ExpectedResult::Value(json) | ExpectedResult::Json(json) => {
            serde_json::from_str::<Json>(arrived)
                .is_ok_and(|arrived| crate::matching::equal(&arrived, json))
        }
        ExpectedResult::Contains(part) => arrived.contains(part.as_str()),
        ExpectedResult::Regex(pattern) => pattern.is_match(arrived),
    }
}

fn without_blanks(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
}

fn describe(expected: &ExpectedResult) -> String {
    let text = match expected {
        ExpectedResult::Value(json) | ExpectedResult::Json(json) => as_text(json).into_owned(),
        ExpectedResult::Contains(part) => format!("something with {part:?}"),
        ExpectedResult::Regex(pattern) => format!("something that fits `{pattern}`"),
    };
    cut(&text, MAX_SHOWN).into_owned()
}
