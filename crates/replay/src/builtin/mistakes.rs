//! What is wrong with a call and known before the run: the tools' own checks of what the author wrote.

use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, Text, Value};
use cuecard_tool_call::model::{BuiltinTool, Step, ToolCallScenario, ToolName};
use cuecard_tool_call::script::{Bindings, Failure};

use super::arguments::Arguments;
use super::{background, files, refused, search, web};
use cuecard_runtime::policy::Policy;

/// What the result of `claude__bash` has.
const COMMAND_FIELDS: [&str; 6] = [
    "stdout",
    "stderr",
    "exit_code",
    "timed_out",
    "truncated",
    "shell_id",
];

/// The errors in what a step of a built-in tool has in its parameters, as far as they hold no references, and in what it
/// takes of the result.
pub fn mistakes(policy: &Policy, scenario: &ToolCallScenario, step: &Step) -> Vec<Diagnostic> {
    let tool = match step.tool {
        // A condition may hold back just what would be wrong.
        ToolName::Builtin(tool) if step.condition.is_none() => tool,
        _ => return Vec::new(),
    };
    let mut params = Bindings::default().known(&step.params);
    if let Some(members) = params.as_object_mut() {
        members.retain(|_, value| !value.to_string().contains("{{"));
    }
    let of_params = in_params(policy, tool, &Value::author(params)).map(|failure| {
        let message = format!("{}: {}", step.label(), failure.message);
        let mut error =
            Diagnostic::error(failure.kind.code(), message).at(&scenario.source, step.params_span);
        error.help = failure.help;
        error
    });
    let outputs = step.outputs.iter().filter(|_| !step.output_optional);
    let checks = step.expectations.iter().flat_map(|it| &it.json_path);
    let rules = outputs.chain(checks).filter(|_| tool == BuiltinTool::Bash);
    let of_paths = rules.filter_map(|rule| {
        let path = rule.path.to_string();
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let rest = path.strip_prefix("$.")?;
        let field = &rest[..rest.find(|it| !is_letter(it)).unwrap_or(rest.len())];
        let is_known = field.is_empty() || COMMAND_FIELDS.contains(&field);
        let message = format!("the result of {} has no `{field}`", tool.name());
        let mut error =
            Diagnostic::error(codes::OUTPUT_NO_MATCH, message).at(&scenario.source, rule.span);
        error.label = did_you_mean(field, COMMAND_FIELDS).map(|it| format!("did you mean `{it}`?"));
        error
            .notes
            .push(format!("it has: {}", COMMAND_FIELDS.join(", ")));
        (!is_known).then_some(error)
    });
    of_params.into_iter().chain(of_paths).collect()
}

fn in_params(policy: &Policy, tool: BuiltinTool, params: &Value) -> Option<Failure> {
    for name in ["path", "file_path", "notebook_path"] {
        if params.json.get(name).and_then(Json::as_str) == Some("") {
            return policy.read_path(&Text::from("")).err().map(refused);
        }
    }
    let arguments = Arguments::known(params);
    match tool {
        BuiltinTool::Glob => search::check_glob(&arguments),
        BuiltinTool::Grep => search::check_grep(&arguments),
        BuiltinTool::BashOutput => background::filter(&arguments).map(drop),
        BuiltinTool::Edit => files::check_edit(&arguments),
        BuiltinTool::WebFetch => arguments
            .text("url")
            .map_or(Ok(()), |url| web::check_url(&url)),
        _ => Ok(()),
    }
    .err()
}

#[cfg(test)]
mod tests {
    use cuecard_runtime::policy::PolicyOptions;
    use cuecard_source::SourceFile;
    use serde_json::json;

    use super::*;

    fn messages(step: &Json) -> Vec<String> {
        let mut step = step.clone();
        step["step"] = json!(1);
        let text = json!({"version": "2.1", "metadata": {"name": "x"}, "steps": [step]});
        let source = SourceFile::new("x.json", text.to_string());
        let scenario = cuecard_tool_call::format::read(&source)
            .scenario
            .expect("a scenario");
        let here = PolicyOptions {
            root: ".".into(),
            working_directory: ".".into(),
            ..PolicyOptions::default()
        };
        let policy = Policy::new(here).expect("a policy");
        let found = mistakes(&policy, &scenario, &scenario.steps[0]);
        found.into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn what_a_tool_would_say_of_its_parameters_is_known_before_the_run() {
        for (tool, params, expected) in [
            (
                "claude__grep",
                json!({"pattern": "foo("}),
                "the regular expression `foo(`",
            ),
            (
                "claude__grep",
                json!({"pattern": "(?=x)"}),
                "the regular expression `(?=x)`",
            ),
            (
                "claude__grep",
                json!({"pattern": "{{x}}", "glob": "a["}),
                "the glob `a[`",
            ),
            (
                "claude__grep",
                json!({"pattern": "x", "type": "pyton"}),
                "`pyton` is not a known type",
            ),
            ("claude__glob", json!({"pattern": "a["}), "the glob `a[`"),
            (
                "claude__glob",
                json!({"pattern": "/usr/a["}),
                "the glob `a[`",
            ),
            (
                "claude__bash_output",
                json!({"bash_id": "{{x}}", "filter": "foo("}),
                "`filter` is not",
            ),
            (
                "claude__edit",
                json!({"file_path": "{{x}}", "old_string": "a", "new_string": "a"}),
                "`old_string` and `new_string` are the same",
            ),
            (
                "claude__read",
                json!({"file_path": ""}),
                "the path `` is empty",
            ),
            ("claude__web_fetch", json!({"url": ""}), "`` is not a URL"),
            (
                "claude__web_fetch",
                json!({"url": "example.com/x"}),
                "`example.com/x` is not a URL",
            ),
        ] {
            let found = messages(&json!({"tool": tool, "params": params}));
            let [message] = found.as_slice() else {
                panic!("{tool} {params}: {found:?}");
            };
            assert!(
                message.starts_with(&format!("step 1: {expected}")),
                "{message}"
            );
        }
        for (tool, params) in [
            (
                "claude__grep",
                json!({"pattern": "a{{x}}(", "type": "{{x}}", "glob": "*.py !b"}),
            ),
            ("claude__glob", json!({"pattern": "../**/*.py"})),
            ("claude__glob", json!({"pattern": "a[{{x}}"})),
            ("claude__web_fetch", json!({"url": "{{x}}"})),
            (
                "claude__edit",
                json!({"file_path": "a", "old_string": "{{x}}", "new_string": "{{x}}"}),
            ),
            ("claude__read", json!({"file_path": "a"})),
        ] {
            let found = messages(&json!({"tool": tool, "params": params}));
            assert_eq!(found, Vec::<String>::new(), "{tool} {params}");
        }
    }

    #[test]
    fn a_command_s_result_has_known_fields() {
        let step = |keys: Json| {
            let mut step = json!({"id": "a", "tool": "claude__bash", "params": {"command": "x"}});
            let (Some(step_keys), Some(keys)) = (step.as_object_mut(), keys.as_object()) else {
                panic!("objects");
            };
            step_keys.extend(keys.clone());
            messages(&step)
        };
        let wrong = |field: &str| vec![format!("the result of claude__bash has no `{field}`")];
        assert_eq!(step(json!({"output": {"o": "$.stdot"}})), wrong("stdot"));
        let regex = json!({"o": {"regex": "x", "from": "$.stdot"}});
        assert_eq!(step(json!({"output": regex})), wrong("stdot"));
        let check = json!({"json_path": "$.exitcode", "equals": 0});
        assert_eq!(step(json!({"expect": check})), wrong("exitcode"));
        for good in [
            json!({"output": {"o": "$.stdout.a", "all": "$", "any": "$..stdot"}}),
            json!({"output": {"o": "$.stdot"}, "output_optional": true}),
            json!({"expect": {"json_path": "$.exit_code", "equals": 0}}),
        ] {
            assert_eq!(step(good.clone()), Vec::<String>::new(), "{good}");
        }
    }
}
