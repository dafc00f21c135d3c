//! The results of tools that an answer may use, as texts and numbers.

use crate::assertions::View;
use crate::assertions::text::{Quantity, fold, json_number};
use crate::scenario::ToolPattern;
use crate::trace::{Event, EventData};
use crate::value::Json;

/// A successful result of a tool.
#[derive(Debug)]
pub(in crate::assertions) struct Source<'a> {
    pub event: &'a Event,
    pub tool: &'a str,
    /// Every text in it, folded.
    pub texts: Vec<String>,
    /// Numbers of its JSON, and whether their keys say that they are a part of one.
    pub(super) quantities: Vec<(Quantity, bool)>,
    /// The words of its keys.
    pub(super) keys: String,
    /// Lengths of its lists.
    pub(super) lengths: Vec<usize>,
}

/// The successful results of the tools that count; of every tool if none is named.
pub(in crate::assertions) fn sources<'a>(
    view: &View<'a>,
    allowed: &[ToolPattern],
) -> Vec<Source<'a>> {
    view.trace
        .events
        .iter()
        .filter_map(|event| match &event.data {
            EventData::ToolResult(result) if result.success => {
                let is_allowed =
                    allowed.is_empty() || allowed.iter().any(|tool| tool.matches(&result.tool));
                is_allowed.then(|| {
                    let mut source = Source {
                        event,
                        tool: result.tool.as_ref(),
                        texts: Vec::new(),
                        quantities: Vec::new(),
                        keys: String::new(),
                        lengths: Vec::new(),
                    };
                    source.read(&result.result);
                    source.texts.extend(result.text.as_deref().map(fold));
                    source
                })
            }
            _ => None,
        })
        .collect()
}

/// The tools that count, in words.
pub(in crate::assertions) fn tools_that_count(allowed: &[ToolPattern]) -> String {
    if allowed.is_empty() {
        return "any tool".to_owned();
    }
    let names: Vec<&str> = allowed.iter().map(ToolPattern::text).collect();
    names.join(", ")
}

/// The ids of the events of these results.
pub(in crate::assertions) fn event_ids<'a>(sources: &[Source<'a>]) -> Vec<&'a str> {
    let ids = sources.iter();
    ids.map(|source| source.event.event_id.as_str()).collect()
}

impl Source<'_> {
    fn read(&mut self, result: &Json) {
        // A list of what is still to be read, not a recursion: results may be nested deeply.
        let mut rest = vec![("", result)];
        while let Some((key, value)) = rest.pop() {
            match value {
                Json::Null | Json::Bool(_) => {}
                Json::String(text) => self.texts.push(fold(text)),
                Json::Number(number) => {
                    let is_share = [
                        "rate",
                        "ratio",
                        "share",
                        "fraction",
                        "percent",
                        "pct",
                        "probability",
                        "growth",
                        "change",
                    ]
                    .iter()
                    .any(|hint| key.to_lowercase().contains(hint));
                    self.quantities
                        .extend(json_number(number).map(|quantity| (quantity, is_share)));
                }
                Json::Array(items) => {
                    self.lengths.push(items.len());
                    rest.extend(items.iter().rev().map(|item| (key, item)));
                }
                Json::Object(fields) => {
                    for (key, value) in fields.iter().rev() {
                        self.keys.push_str(&spaced(key));
                        self.keys.push('\n');
                        rest.push((key, value));
                    }
                }
            }
        }
    }
}

/// `publishedAt` and `published_at` as words.
pub(super) fn spaced(key: &str) -> String {
    let mut spaced = String::with_capacity(key.len() + 4);
    let mut was_lower = false;
    for character in key.chars() {
        if character.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = character.is_lowercase();
        spaced.push(if matches!(character, '_' | '-' | '.') {
            ' '
        } else {
            character
        });
    }
    spaced
}
