//! Whether a tool call is the one that is scripted, and gave what it should. Does no I/O.

use cuecard_source::diagnostic::codes;
use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::vocabulary::{AbstractTool, call_kind};
use cuecard_timeline::model::{ToolExecutionKind, ToolStatus, ToolUse};
use cuecard_timeline::script::result_difference;

use super::compare::{Comparing, Difference, SHOWN, difference, kind_of, quoted};
use super::expected::WantedEdit;
use super::seen::{Came, SeenCall, SeenItem};
use crate::found::shown;
use crate::script::lacks;
use crate::script::updates::absolute;

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
            message,
            notes,
            ..difference("", String::new(), String::new())
        };
        if let Some(why) = self.other_call(wanted, came) {
            let message = format!("expected a call of `{}`, got {called}", wanted.tool);
            return (vec![of_call(message, vec![why])], false);
        }
        let mut found = Vec::new();
        if let Some(why) = self.input_difference(wanted, came) {
            let message = format!("the call `{}` has another input", cut(title, 80));
            found.push(of_call(message, vec![why]));
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
        if is_ended {
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
            // What runs in a terminal prints what it prints.
            let outputs = outputs(wanted)
                .into_iter()
                .filter(|_| came.terminals.is_empty());
            let lost = outputs.into_iter().find(|output| {
                let output = output.trim();
                !came
                    .texts
                    .iter()
                    .chain(&text)
                    .any(|text| text.contains(output))
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

    /// Why a call is not the one that is scripted.
    fn other_call(&self, wanted: &ToolUse, came: &SeenCall) -> Option<String> {
        let tool = AbstractTool::named(&wanted.tool);
        let is_known = tool.is_some();
        let kind = wanted
            .kind
            .as_deref()
            .or(is_known.then(|| call_kind(&wanted.tool, &wanted.args)));
        if let Some(kind) = kind.filter(|kind| *kind != "other" && *kind != kind_of(came)) {
            return Some(format!(
                "expected the kind `{kind}`, got `{}`",
                kind_of(came)
            ));
        }
        if let Some(name) = came.now["name"].as_str() {
            let is_other = match AbstractTool::meant_by(name) {
                Some(meant) => meant.name != wanted.tool,
                None => name != wanted.tool && !wanted.tool.ends_with(name),
            };
            if is_other && (is_known || AbstractTool::meant_by(name).is_some()) {
                return Some(format!("it calls `{name}`"));
            }
        }
        None
    }

    /// What differs in the input of a call.
    fn input_difference(&self, wanted: &ToolUse, came: &SeenCall) -> Option<String> {
        let input = &came.now["rawInput"];
        match &wanted.raw_input {
            Some(raw) => lacks(raw, input).map(|lack| format!("`rawInput` differs at {lack}")),
            None => {
                let tool = AbstractTool::named(&wanted.tool);
                self.argument_difference(tool, &wanted.args, came)
            }
        }
    }

    fn argument_difference(
        &self,
        tool: Option<&AbstractTool>,
        wanted: &Json,
        call: &SeenCall,
    ) -> Option<String> {
        let came = call.now["rawInput"].as_object()?;
        // What an edit changes, agents tell as a diff.
        let in_diff = |name: &str, wanted: &str| {
            call.diffs.iter().any(|diff| {
                let has = |key: &str| diff[key].as_str().is_some_and(|text| text.contains(wanted));
                match name {
                    "old_string" => has("oldText"),
                    "new_string" | "content" => has("newText"),
                    _ => false,
                }
            })
        };
        let by_name = |name: &str| {
            came.iter().find_map(|(key, value)| {
                let key = snake_case(key);
                let alias = tool.and_then(|tool| tool.argument_alias(&key));
                (alias.unwrap_or(&key) == name).then_some(value)
            })
        };
        wanted.as_object()?.iter().find_map(|(name, wanted)| {
            let found = came
                .get(name)
                .or_else(|| by_name(name))
                .unwrap_or(&Json::Null);
            let is_it = match (wanted, found) {
                (Json::Bool(false), Json::Null) => true,
                (Json::String(wanted), Json::Null) if in_diff(name, wanted) => true,
                (Json::String(wanted), Json::String(found)) => {
                    wanted.trim_end() == found.trim_end()
                        || absolute(wanted, self.folder) == absolute(found, self.folder)
                }
                // A command line that a shell is given.
                (Json::String(wanted), Json::Array(words)) => {
                    words.last().and_then(Json::as_str) == Some(wanted)
                }
                (wanted, found) => is_same_json(wanted, found),
            };
            (!is_it).then(|| format!("`{name}`: expected {}, got {}", shown(wanted), shown(found)))
        })
    }

    pub(super) fn edit_difference(
        &self,
        wanted: WantedEdit<'_>,
        came: &SeenCall,
        seen: &[SeenItem],
    ) -> Option<Difference> {
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
        let differs = |note: String| {
            let mut found = difference(&message, String::new(), String::new());
            found.notes = vec![note];
            Some(found)
        };
        if kind_of(came) != "edit" {
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
        let is_new = |text: &str| match (wanted.new_text, wanted.old_text) {
            (Some(new), Some(_)) => text.contains(new),
            (Some(new), None) => text.trim_end() == new.trim_end(),
            (None, _) => true,
        };
        let is_old = |old: &Json| match (wanted.old_text, old.as_str()) {
            (Some(wanted), Some(old)) => old.contains(wanted),
            (Some(wanted), None) => wanted.is_empty(),
            (None, _) => true,
        };
        let is_diff = |diff: &Json| {
            is_path(&diff["path"])
                && is_old(&diff["oldText"])
                && diff["newText"].as_str().is_some_and(is_new)
        };
        let is_written = || {
            seen.iter().any(|item| match &item.came {
                Came::Write {
                    path: told,
                    content,
                } => *told == path && is_new(content),
                _ => false,
            })
        };
        let is_input = || {
            let texts = input.into_iter().flat_map(|input| input.values());
            texts.filter_map(Json::as_str).any(is_new)
        };
        let is_told = wanted.new_text.is_none()
            || came.diffs.iter().any(is_diff)
            || (came.diffs.is_empty() && (is_written() || is_input()));
        if is_told {
            return None;
        }
        let mut found = difference(
            &format!("the edit of `{}` differs", wanted.path),
            String::new(),
            String::new(),
        );
        found.notes = vec![format!(
            "expected: {}",
            quoted(wanted.new_text.unwrap_or_default())
        )];
        if let Some(diff) = came.diffs.first() {
            found
                .notes
                .push(format!("got:      {}", shown(&diff["newText"])));
        }
        Some(found)
    }

    /// What a call gave: its content, its raw output, what it printed in a terminal of the client's.
    fn output(&self, came: &SeenCall) -> Vec<String> {
        let mut outputs = Vec::new();
        let content = came.now["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = content
            .filter_map(|part| part["content"]["text"].as_str())
            .collect();
        if !texts.is_empty() {
            outputs.push(texts.join("\n"));
        }
        outputs.extend(came.terminals.iter().filter_map(|id| (self.printed)(id)));
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

/// All that a call is scripted to print on its way.
fn outputs(call: &ToolUse) -> Vec<&str> {
    let progress = call.progress.iter().map(|entry| entry.value.as_str());
    let events = call
        .execution
        .iter()
        .flat_map(|execution| &execution.events);
    let execution = events.filter_map(|event| match &event.kind {
        ToolExecutionKind::Stdout(text)
        | ToolExecutionKind::Stderr(text)
        | ToolExecutionKind::Progress(text) => Some(text.as_str()),
        ToolExecutionKind::Completion { content, .. } => content.as_deref(),
    });
    progress.chain(execution).collect()
}

/// `filePath` as `file_path`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
