//! Whether a tool call is the one that is scripted, and gave what it should. Does no I/O.

use cuecard_source::diagnostic::{Code, codes};
use cuecard_source::matching::changed_lines;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{ToolStatus, ToolUse};
use cuecard_timeline::script::result_difference;

use super::compare::{Comparing, Difference, SHOWN, kind_of, quoted};
use super::expected::WantedEdit;
use super::seen::{Came, SeenCall, SeenItem};
use crate::found::shown;
use crate::script::file_effect::{FileEffect, replaced};
use crate::script::matching::{Input, other_call};
use crate::script::updates::{absolute, outputs};

impl Comparing<'_> {
    /// What differs in a call, and whether it is the call at all.
    pub(super) fn call_difference(
        &self,
        wanted: &ToolUse,
        is_ended: bool,
        came: &SeenCall,
    ) -> (Vec<Difference>, bool) {
        let title = came.now["title"].as_str().unwrap_or_default();
        let called = format!("`{}` ({})", cut(title, 80), kind_of(came));
        let of_call = |message: String, notes: Vec<String>| Difference {
            notes,
            ..Difference::new(codes::ACP_CONTENT, message)
        };
        if let Some(why) = other_call(wanted, &came.now) {
            let message = format!("expected a call of `{}`, got {called}", wanted.tool);
            return (vec![of_call(message, vec![why])], false);
        }
        let mut found = Vec::new();
        let input = Input {
            now: &came.now["rawInput"],
            diffs: &came.diffs,
            folder: self.folder,
            is_whole: true,
        };
        if let Some(why) = input.difference(wanted) {
            let message = format!("the call `{}` has another input", cut(title, 80));
            found.push(of_call(message, vec![why]));
        }
        if let Some((path, effect)) = FileEffect::of_call(wanted) {
            let path = absolute(path, self.folder);
            let differs = |diff: &&Json| {
                let text = |key: &str| diff[key].as_str();
                let of_path = text("path").map(|told| absolute(told, self.folder));
                of_path.as_deref() != Some(&path)
                    || !effect.is_told(text("oldText"), text("newText").unwrap_or_default())
            };
            if let Some(diff) = came.diffs.iter().find(differs) {
                let message = format!("the call `{}` tells of another change", cut(title, 80));
                found.push(of_call(message, vec![format!("its diff: {}", shown(diff))]));
            }
        }
        let has_arguments = wanted.args.as_object().is_some_and(|args| !args.is_empty());
        if has_arguments && !came.now["rawInput"].is_object() && wanted.raw_input.is_none() {
            let message = format!(
                "the call `{}` has no `rawInput`: its arguments were not compared",
                cut(title, 80)
            );
            let doubt = of_call(message, Vec::new());
            found.push(Difference {
                code: codes::ACP_MISSING,
                is_doubt: true,
                ..doubt
            });
        }
        // A cancellation may come while a command runs.
        if is_ended
            && !(self.is_cut
                && came
                    .ended
                    .is_none_or(|ended| self.cancelled_at.is_none_or(|at| ended >= at)))
        {
            let text = self.output(came);
            let result = |message: String, notes: Vec<String>| Difference {
                code: codes::TOOL_RESULT_DIFFERS,
                ..of_call(message, notes)
            };
            match (came.status(), wanted.status) {
                ("completed", ToolStatus::Error) | ("failed", ToolStatus::Ok) => {
                    let how = came.status();
                    let message =
                        format!("the call `{}` ended with status `{how}`", cut(title, 80));
                    let output = text.first().filter(|text| !text.trim().is_empty());
                    let output = output.map(|text| format!("output: {}", cut(text.trim(), SHOWN)));
                    found.push(result(message, output.into_iter().collect()));
                }
                ("completed" | "failed", _) => {}
                _ => {
                    let message = format!("the call `{}` did not end", cut(title, 80));
                    let mut unfinished = result(message, Vec::new());
                    unfinished.code = codes::ACP_MISSING;
                    unfinished.is_missing = true;
                    found.push(unfinished);
                    return (found, true);
                }
            }
            // Those of a history are not of this session.
            let is_in_turn = !self.prompt.0.is_empty();
            let is_unknown = |id: &&String| is_in_turn && (self.printed)(id).is_none();
            if let Some(id) = came.terminals.iter().find(is_unknown) {
                let message = format!(
                    "the call `{}` shows the terminal `{id}`, which was never created",
                    cut(title, 80)
                );
                found.push(of_call(message, Vec::new()));
            }
            if let Some(expected) = &wanted.result {
                let mut differs = text.iter().map(|text| result_difference(expected, text));
                let first = differs.next().flatten();
                if let Some((expected, got)) = first.filter(|_| differs.all(|more| more.is_some()))
                {
                    let message = format!("the call `{}` gave another result", cut(title, 80));
                    let notes = vec![format!("expected: {expected}"), format!("got:      {got}")];
                    found.push(result(message, notes));
                }
            }
            for (_, expected) in &wanted.expected_output {
                let printed = came.terminals.iter().filter_map(|id| (self.printed)(id));
                let printed: String = printed.collect();
                if !came.terminals.is_empty() && !printed.contains(expected) {
                    let message = format!("the command did not print {:?}", cut(expected, SHOWN));
                    found.push(result(message, Vec::new()));
                }
            }
            // What runs in a terminal prints what it prints.
            let outputs = outputs(wanted)
                .into_iter()
                .filter(|_| came.terminals.is_empty());
            let mut from = (0, 0);
            let mut lost = outputs;
            let lost = lost.find(|output| {
                let place = place_of(output.trim(), &came.texts, &text, from);
                from = place.unwrap_or(from);
                place.is_none()
            });
            if let Some(lost) = lost {
                let message = format!("the call `{}` did not print what it should", cut(title, 80));
                found.push(result(
                    message,
                    vec![format!("expected: {}", cut(lost, SHOWN))],
                ));
            }
        }
        (found, true)
    }

    pub(super) fn edit_difference(
        &self,
        wanted: WantedEdit<'_>,
        came: &SeenCall,
        seen: &[SeenItem],
    ) -> Vec<Difference> {
        let path = absolute(wanted.path, self.folder);
        let is_path = |json: &Json| {
            json.as_str()
                .is_some_and(|told| absolute(told, self.folder) == path)
        };
        let title = came.now["title"].as_str().unwrap_or_default();
        let message = format!(
            "expected an edit of `{}`, got `{}`",
            wanted.path,
            cut(title, 80)
        );
        let differs =
            |note: String| vec![Difference::new(codes::ACP_CONTENT, &message).noting(note)];
        if kind_of(came) != "edit" && !came.now["kind"].is_null() {
            return differs(format!("expected the kind `edit`, got `{}`", kind_of(came)));
        }
        let input = came.now["rawInput"].as_object();
        let locations = came.now["locations"].as_array().into_iter().flatten();
        let mut paths = locations
            .chain(&came.diffs)
            .map(|place| &place["path"])
            .chain(input.into_iter().flat_map(|input| input.values()));
        if !paths.any(is_path) {
            return differs("it tells of no such path".to_owned());
        }
        let is_diff = |diff: &Json| {
            let (old, new) = (
                diff["oldText"].as_str().unwrap_or_default(),
                diff["newText"].as_str(),
            );
            let is_it = match (wanted.old_text, wanted.new_text) {
                (Some(from), Some(to)) => {
                    (old == from && new == Some(to))
                        || replaced(old, from, to, false).as_deref() == new
                }
                (None, Some(to)) => new == Some(to),
                (_, None) => true,
            };
            is_path(&diff["path"]) && is_it
        };
        let mut found = Vec::new();
        let edit = |code: Code, message: String, notes: Vec<String>| Difference {
            notes,
            ..Difference::new(code, message)
        };
        let is_input = |new: &str| {
            let mut texts = input.into_iter().flat_map(|input| input.values());
            texts.any(|text| text == new)
        };
        let is_written =
            |item: &SeenItem| matches!(&item.came, Came::Write { path: told, .. } if *told == path);
        let is_told = match (wanted.new_text, came.diffs.is_empty()) {
            (_, false) => came.diffs.iter().all(is_diff),
            // What was written is judged by itself.
            (Some(new), true) => seen.iter().any(is_written) || is_input(new),
            (None, true) => true,
        };
        if !is_told {
            let mut notes = vec![format!(
                "expected: {}",
                quoted(wanted.new_text.unwrap_or_default())
            )];
            let got = came.diffs.iter().find(|diff| !is_diff(diff));
            notes.extend(got.map(|diff| format!("got:      {}", shown(diff))));
            let message = format!("the edit of `{}` differs", wanted.path);
            found.push(edit(codes::ACP_CONTENT, message, notes));
        }
        let lines = came.diffs.iter().map(|diff| {
            let text = |key: &str| diff[key].as_str().unwrap_or_default();
            changed_lines(text("oldText"), text("newText"))
        });
        let lines = lines.fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1));
        let (added, removed) = wanted.counts;
        let is_count = added.is_none_or(|added| added == lines.0)
            && removed.is_none_or(|removed| removed == lines.1);
        if !came.diffs.is_empty() && !is_count {
            let message = format!(
                "the edit of `{}` adds {} lines and removes {}",
                wanted.path, lines.0, lines.1
            );
            let count =
                |count: Option<u64>| count.map_or("any".to_owned(), |count| count.to_string());
            let note = format!(
                "expected: {} added, {} removed",
                count(added),
                count(removed)
            );
            found.push(edit(codes::ACP_CONTENT, message, vec![note]));
        }
        match came.status() {
            _ if self.is_cut => {}
            "completed" => {}
            "failed" => {
                let message = format!("the edit of `{}` failed", wanted.path);
                found.push(edit(codes::TOOL_RESULT_DIFFERS, message, Vec::new()));
            }
            _ => {
                let message = format!("the edit of `{}` did not end", wanted.path);
                let unfinished = edit(codes::ACP_MISSING, message, Vec::new());
                found.push(Difference {
                    is_missing: true,
                    ..unfinished
                });
            }
        }
        found
    }

    /// What a call gave: what it printed in terminals of the client's, else its content and its raw output, in one form or
    /// another.
    fn output(&self, came: &SeenCall) -> Vec<String> {
        let printed: Vec<String> = came
            .terminals
            .iter()
            .filter_map(|id| (self.printed)(id))
            .collect();
        if !printed.is_empty() {
            return printed;
        }
        let content = came.now["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = content
            .filter_map(|part| part["content"]["text"].as_str())
            .collect();
        let mut outputs = Vec::new();
        if !texts.is_empty() {
            outputs.push(texts.join("\n"));
        }
        match &came.now["rawOutput"] {
            Json::Null => {}
            Json::String(text) => outputs.push(text.clone()),
            raw => {
                let inner = ["output", "stdout", "content", "result"].into_iter();
                outputs.extend(inner.filter_map(|key| raw[key].as_str()).map(str::to_owned));
                outputs.push(raw.to_string());
            }
        }
        if outputs.is_empty() {
            outputs.push(String::new());
        }
        outputs
    }
}

/// Where a text stands among those that a call had, one after the other, at `from` or later.
fn place_of(
    output: &str,
    had: &[String],
    gave: &[String],
    from: (usize, usize),
) -> Option<(usize, usize)> {
    let texts = had.iter().chain(gave).enumerate().skip(from.0);
    texts.into_iter().find_map(|(idx, text)| {
        let start = if idx == from.0 { from.1 } else { 0 };
        let at = text.get(start..)?.find(output)?;
        Some((idx, start + at))
    })
}
