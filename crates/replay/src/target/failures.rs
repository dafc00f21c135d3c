//! Why a target leads to no element, in words.

use cuecard_page::AmbiguousMatch;
use cuecard_source::value::cut;
use cuecard_tool_call::script::{ElementTarget, Failure, FailureKind};
use serde_json::Value as Json;

use super::{NO_OWN_PARAM, failed};

pub(super) fn no_snapshots(server: &str) -> Failure {
    Failure::new(
        FailureKind::BadParameters,
        format!("server `{server}` can't find elements for a target"),
    )
    .with_help(
        "a target needs a server with `take_snapshot` and `evaluate_script`, as chrome-devtools-mcp has them, or with `browser_snapshot` and `browser_evaluate`, as @playwright/mcp has",
    )
}

pub(super) fn takes_no_element(tool: &str, param: &str) -> Failure {
    Failure::new(
        FailureKind::BadParameters,
        format!("`{tool}` does not act on an element: it has no `{param}` for a target"),
    )
    .with_help(NO_OWN_PARAM)
}

/// What a target says about its element.
pub(super) fn words(target: &ElementTarget) -> String {
    let wanted = &target.wanted;
    let Some(selector) = &target.selector else {
        let is_only_text = wanted.role.is_none() && wanted.name.is_none();
        return match &wanted.text {
            Some(text) if is_only_text && wanted.within.is_none() && wanted.nth.is_none() => {
                format!("the text `{}`", cut(text.trim(), 80))
            }
            _ => format!("`{wanted}`"),
        };
    };
    let mut words = format!("the selector `{}`", cut(selector, 80));
    if let Some(text) = &wanted.text {
        words.push_str(&format!(" with the text `{}`", cut(text.trim(), 80)));
    }
    if wanted.role.is_some() || wanted.name.is_some() || wanted.within.is_some() {
        words.push_str(&format!(" that is `{wanted}`"));
    } else if let Some(nth) = wanted.nth {
        words.push_str(&format!(", number {nth}"));
    }
    words
}

/// Not exactly one element of a snapshot fits.
pub(super) fn not_one(target: &ElementTarget, found: &AmbiguousMatch) -> Failure {
    let mut failure = match (found.count, target.wanted.nth) {
        (0, _) => not_found(target),
        (count, Some(nth)) => too_few(count, nth, target),
        (count, None) => too_many(count, target),
    };
    if !found.candidates.is_empty() {
        let before = match found.count {
            0 => "elements on the page",
            _ => "they are",
        };
        failure.notes.push(list(before, &found.candidates));
    }
    if let Some(add) = &found.add {
        failure.help = Some(format!(
            "specify which one, for example with {add} for the first"
        ));
    }
    failure
}

/// What the script said that looks for a selector: an error unless it chose at least one element.
pub(super) fn chosen(found: &Json, target: &ElementTarget) -> Result<(), Failure> {
    if let Some(invalid) = found.get("invalid").and_then(Json::as_str) {
        let message = format!("{} can't be read: {}", words(target), cut(invalid, 200));
        return Err(Failure::new(FailureKind::BadParameters, message));
    }
    let number = |key: &str| {
        found
            .get(key)
            .and_then(Json::as_u64)
            .and_then(|number| usize::try_from(number).ok())
    };
    let candidates: Vec<String> = found
        .get("candidates")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(|candidate| cut(candidate, 120).into_owned())
        .collect();
    match (number("chosen"), number("count")) {
        (Some(1..), _) => Ok(()),
        (Some(0), Some(0)) => {
            let mut failure = not_found(target);
            failure.notes.push(match candidates.is_empty() {
                true => "selectors don't match inside frames and shadow roots".to_owned(),
                false => list("the selector matches", &candidates),
            });
            Err(failure)
        }
        (Some(0), Some(count)) => {
            let mut failure = match target.wanted.nth {
                Some(nth) => too_few(count, nth, target),
                None => too_many(count, target),
            };
            failure.notes.push(list("they are", &candidates));
            failure.help = Some(
                "make the selector narrower, or add the element's `text`, its `role` and `name`, or `nth`"
                    .to_owned(),
            );
            Err(failure)
        }
        _ => Err(Failure::new(
            FailureKind::ToolError,
            "the page did not report which element matches the target",
        )),
    }
}

pub(super) fn hidden(target: &ElementTarget) -> Failure {
    failed(format!(
        "the element with {} is hidden: it is not in the page's accessibility tree",
        words(target)
    ))
    .with_help("target the visible element that users interact with")
}

fn not_found(target: &ElementTarget) -> Failure {
    failed(format!(
        "element not found: nothing on the page has {}",
        words(target)
    ))
}

fn too_many(count: usize, target: &ElementTarget) -> Failure {
    failed(format!(
        "{count} elements of the page have {}",
        words(target)
    ))
}

fn too_few(count: usize, nth: usize, target: &ElementTarget) -> Failure {
    let mut any = target.clone();
    any.wanted.nth = None;
    failed(format!(
        "element not found: expected number {nth} of {}, found {count}",
        words(&any)
    ))
}

fn list(before: &str, candidates: &[String]) -> String {
    format!("{before}: {}", candidates.join(", "))
}
