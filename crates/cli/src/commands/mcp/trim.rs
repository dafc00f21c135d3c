//! Results for a model: what says nothing goes, what is long is cut, and the result says so.

use cuecard_source::value::cut;
use serde_json::{Value, json};

/// The most that a result may have, in bytes: about 4,000 tokens.
const MOST_BYTES: usize = 16_000;
/// How long texts (in characters) and lists may be, tried in turn until all fits.
const STEPS: [(usize, usize); 5] = [(4_000, 100), (1_000, 40), (400, 15), (120, 8), (60, 3)];
/// Members that somebody chose: an empty one means something.
const KEPT: [&str; 4] = ["outputs", "params", "result", "variables"];

/// Removes members that are null or empty.
pub(super) fn without_empty(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if !KEPT.contains(&key.as_str()) {
                    without_empty(value);
                }
            }
            members.retain(|key, value| match value {
                _ if key == "scenarios" => true,
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty(),
                _ => true,
            });
        }
        Value::Array(items) => items.iter_mut().for_each(without_empty),
        _ => {}
    }
}

/// Cuts texts and lists until the result fits; `whole` says where the whole is.
pub(super) fn fit(document: Value, whole: &str) -> Value {
    let fits = |value: &Value| value.to_string().len() <= MOST_BYTES;
    if fits(&document) {
        return document;
    }
    let shortened = STEPS.map(|(n_chars, n_items)| {
        let mut shorter = document.clone();
        // All that the document is about stays.
        let members = shorter.as_object_mut().into_iter().flatten();
        members.for_each(|(_, member)| shorten(member, n_chars, n_items));
        shorter
    });
    let mut fitting = shortened
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| json!({}));
    fitting["cut"] = format!("texts and lists are cut to save tokens; the whole: {whole}").into();
    fitting
}

fn shorten(value: &mut Value, n_chars: usize, n_items: usize) {
    match value {
        Value::String(text) if text.chars().count() > n_chars => {
            *text = cut(text, n_chars).into_owned();
        }
        Value::Array(items) => {
            let n_more = items.len().saturating_sub(n_items);
            items.truncate(n_items);
            items
                .iter_mut()
                .for_each(|item| shorten(item, n_chars, n_items));
            items.extend((n_more > 0).then(|| format!("… {n_more} more").into()));
        }
        Value::Object(members) => {
            let n_more = members.len().saturating_sub(n_items);
            let more = (n_more > 0).then(|| ("…".to_owned(), format!("{n_more} more").into()));
            let kept = std::mem::take(members).into_iter().take(n_items);
            members.extend(kept.chain(more));
            members
                .values_mut()
                .for_each(|value| shorten(value, n_chars, n_items));
        }
        _ => {}
    }
}
