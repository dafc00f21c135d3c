//! Steps that start together.

use std::collections::{HashMap, HashSet};

use super::lint::is_browser;
use super::reader::Reader;
use super::step::ReadStep;
use crate::model::{BuiltinTool, MAX_GROUP, Step, ToolName};
use cuecard_source::diagnostic::codes;

/// Says which groups are none, and which steps can't be in one. The steps are in play order.
pub(super) fn groups(reader: &mut Reader<'_>, steps: &[ReadStep]) {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    for group in steps.chunk_by(|one, next| one.step.group == next.step.group) {
        let Some(name) = group[0].step.group.as_deref() else {
            continue;
        };
        let span = |read: &ReadStep| read.group_span.unwrap_or(read.step.span);
        let last = group[group.len() - 1].step.number;
        if let Some(end) = seen.insert(name, last) {
            let between = steps.iter().find(|read| read.step.number > end);
            let between = between.map_or(last, |read| read.step.number);
            let message = format!(
                "the group `{name}` is interrupted by step {between}, so its steps can't start together"
            );
            reader
                .error(codes::FIELD_VALUE, span(&group[0]), message)
                .help = Some("put its steps next to each other, or name two groups".to_owned());
        } else if group.len() == 1 {
            let message = format!("the group `{name}` has only this step");
            reader
                .warning(codes::FIELD_VALUE, span(&group[0]), message)
                .help =
                Some("give the steps that start together with it the same `group`".to_owned());
        }
        if let Some(first) = group.get(MAX_GROUP) {
            let message = format!(
                "the group `{name}` has {} steps, more than the limit of {MAX_GROUP}",
                group.len()
            );
            reader.error(codes::FIELD_VALUE, span(first), message).help =
                Some("make two groups of it".to_owned());
        }
        let mut browsers = HashSet::new();
        for read in group {
            if let Some((what, help)) = unfit(&read.step, &mut browsers) {
                let message = format!("{what} can't be in a group");
                reader.error(codes::FIELD_VALUE, span(read), message).help = Some(help.to_owned());
            }
        }
    }
}

/// What of a step can't be in a group, and what to do. `browsers` are the servers of the steps before it.
fn unfit<'a>(step: &'a Step, browsers: &mut HashSet<&'a str>) -> Option<(String, &'static str)> {
    const ALONE: &str = "remove its `group`, and put it before or behind the group";
    if step.for_each.is_some() {
        let help = "remove its `group`: the elements of the list are called one by one";
        return Some(("a step with `for_each`".to_owned(), help));
    }
    if step.all_targets().next().is_some() {
        let what = "a step with a `target`, which needs the page for itself,".to_owned();
        return Some((what, ALONE));
    }
    match &step.tool {
        ToolName::Builtin(tool @ (BuiltinTool::WaitForElement | BuiltinTool::WaitUntil)) => {
            let what = format!("`{}`, which needs the page for itself,", tool.name());
            Some((what, ALONE))
        }
        ToolName::Builtin(_) => None,
        ToolName::Mcp(_) => {
            let (server, _) = step.tool.server_and_tool(|_| false)?;
            let is_second = is_browser(server) && !browsers.insert(server);
            let what = format!("a second step on the page of the browser server `{server}`");
            is_second.then_some((what, ALONE))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::format::{Scope, check_references, read};
    use cuecard_source::SourceFile;
    use cuecard_source::value::Json;

    /// What is said about a scenario with these steps, which get numbers, tools and parameters.
    fn findings(steps: Json) -> Vec<String> {
        let Json::Array(mut steps) = steps else {
            panic!("steps are an array")
        };
        for (step, number) in steps.iter_mut().zip(1..) {
            step["step"] = number.into();
            for (key, value) in [("tool", json!("mcp__s__t")), ("params", json!({}))] {
                if step.get(key).is_none() {
                    step[key] = value;
                }
            }
        }
        let text = json!({"version": "2.1", "metadata": {"name": "x"}, "steps": steps}).to_string();
        let reading = read(&SourceFile::new("scenario.json", text));
        let references = reading.scenario.iter();
        let references = references.flat_map(|it| check_references(it, &Scope::default()));
        let found = reading.diagnostics.iter().cloned().chain(references);
        found.map(|finding| finding.message).collect()
    }

    #[test]
    fn what_can_not_start_together_is_said_by_name() {
        let with = |more: Json| {
            let mut step = json!({"group": "g"});
            for (key, value) in more.as_object().into_iter().flatten() {
                step[key] = value.clone();
            }
            findings(json!([{"group": "g"}, step]))
        };
        assert_eq!(with(json!({})), Vec::<String>::new());
        for (more, said) in [
            (
                json!({"for_each": [1]}),
                "a step with `for_each` can't be in a group",
            ),
            (
                json!({"target": {"name": "Save"}}),
                "a step with a `target`, which needs the page for itself, can't be in a group",
            ),
            (
                json!({"tool": "sandy__wait_until", "params": {"condition": "true"}}),
                "`sandy__wait_until`, which needs the page for itself, can't be in a group",
            ),
            (
                json!({"group": "g h"}),
                "`g h` is not a valid name for `group`",
            ),
            (json!({"group": 1}), "`group` must be a string, not 1"),
        ] {
            let found = with(more);
            assert!(found.contains(&said.to_owned()), "{found:?}");
        }
        let browser = json!({"group": "g", "tool": "mcp__chrome-devtools__take_snapshot"});
        assert_eq!(
            findings(json!([browser, {"group": "g"}, browser])),
            [
                "a second step on the page of the browser server `chrome-devtools` can't be in a group"
            ]
        );
    }

    #[test]
    fn a_group_is_whole_has_neighbours_and_a_limit() {
        assert_eq!(
            findings(json!([{"group": "g"}, {}, {"group": "g"}, {"group": "h"}])),
            [
                "the group `g` has only this step",
                "the group `g` is interrupted by step 2, so its steps can't start together",
                "the group `h` has only this step",
            ]
        );
        let group = |count: usize| findings(vec![json!({"group": "g"}); count].into());
        assert_eq!(group(32), Vec::<String>::new());
        assert_eq!(
            group(33),
            ["the group `g` has 33 steps, more than the limit of 32"]
        );
    }

    #[test]
    fn steps_of_a_group_can_not_refer_to_each_other() {
        let a = json!({"group": "g", "id": "a", "output": {"v": "$"}});
        let b = json!({"group": "g", "params": {"a": "{{a.v}}"}});
        let said = "`a.v` refers to step 1 (`a`), which starts at the same time: both are in the group `g`";
        assert_eq!(findings(json!([a, b])), [said]);
        let said = said.replace("step 1", "step 2");
        assert_eq!(findings(json!([b, a])), [said]);
        let behind = json!({"params": {"a": "{{a.v}}"}});
        assert_eq!(
            findings(json!([a, {"group": "g"}, behind])),
            Vec::<String>::new()
        );
    }
}
