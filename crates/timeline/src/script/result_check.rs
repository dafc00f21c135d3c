//! Whether tools gave the results that the script has.

use super::request::{Endpoint, RequestedResult};
use super::turns::Turn;
use crate::model::{ExpectedResult, ToolStatus, ToolUse};
use cuecard_source::json::read_value;
use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, as_text, cut};

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

/// What `expected` says and what arrived, both cut, if the text that arrived is not it.
pub fn result_difference(expected: &ExpectedResult, arrived: &str) -> Option<(String, String)> {
    let is_it = holds(expected, arrived);
    (!is_it).then(|| (describe(expected), cut(arrived, MAX_SHOWN).into_owned()))
}

/// The results, by the ids of their calls, that differ from those which `turn` scripts; of several for one call each
/// must be it.
pub(super) fn compare_results(
    turn: &Turn,
    results: &[(String, &RequestedResult)],
    endpoint: Endpoint,
) -> Vec<ResultDifference> {
    let scripted = turn
        .calls()
        .filter_map(|call| Some((call.id.as_str(), call.scripted.as_deref()?)));
    scripted
        .filter_map(|(call_id, scripted)| {
            let mut arrived = results.iter().filter(|(id, _)| id == call_id);
            arrived.find_map(|(_, arrived)| {
                let (expected, arrived) = difference(scripted, arrived, endpoint)?;
                Some(ResultDifference {
                    call_id: call_id.to_owned(),
                    expected,
                    arrived,
                })
            })
        })
        .collect()
}

/// What was expected and what arrived, if that differs.
fn difference(
    scripted: &ToolUse,
    arrived: &RequestedResult,
    endpoint: Endpoint,
) -> Option<(String, String)> {
    let text = || cut(&arrived.text, MAX_SHOWN).into_owned();
    let result = scripted.result.as_ref();
    if let Some(different) = result.and_then(|expected| result_difference(expected, &arrived.text))
    {
        return Some(different);
    }
    let is_whole = |expected: &&ExpectedResult| {
        matches!(expected, ExpectedResult::Value(_) | ExpectedResult::Json(_))
    };
    if let (Some(expected), Some(block)) = (result.filter(is_whole), arrived.blocks.first()) {
        let arrived = format!("a block of type `{block}` with the text {}", text());
        return Some((describe(expected), arrived));
    }
    match scripted.status {
        // Only one of the APIs has a place for it.
        ToolStatus::Error if endpoint == Endpoint::Messages && !arrived.is_error => {
            Some(("an error".into(), format!("no error: {}", text())))
        }
        ToolStatus::Ok if result.is_some() && arrived.is_error => {
            Some(("no error".into(), format!("an error: {}", text())))
        }
        _ => None,
    }
}

const MAX_SHOWN: usize = 400;

/// Trailing white space and blank lines don't count.
fn holds(expected: &ExpectedResult, arrived: &str) -> bool {
    match expected {
        ExpectedResult::Value(Json::String(text)) => {
            without_blanks(text).eq(without_blanks(arrived))
        }
        ExpectedResult::Value(json) | ExpectedResult::Json(json) => {
            read_value(arrived).is_ok_and(|arrived| is_same_json(&arrived, json))
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
