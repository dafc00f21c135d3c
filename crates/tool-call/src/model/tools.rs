//! Tool names, and the one table of the built-in tools: their parameters are checked, completed in the
//! schema and documented from here.

use std::borrow::Cow;
use std::fmt;

use cuecard_source::diagnostic::{Code, codes, did_you_mean};
use cuecard_source::value::{Json, cut, kind_name, push_pointer};
use serde_json::Map;

/// The tool a step calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolName {
    /// `sandy__…` or `claude__…`.
    Builtin(BuiltinTool),
    /// `mcp__server__tool`; holds what follows `mcp__`, since a server's name may hold `__` itself.
    Mcp(String),
}

impl ToolName {
    /// Server and tool of an MCP tool: the longest server for which `is_known` holds, else what stands
    /// before the first `__`. `None` for a built-in tool.
    pub fn server_and_tool(&self, is_known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
        let Self::Mcp(rest) = self else { return None };
        let splits: Vec<(&str, &str)> = rest
            .match_indices("__")
            .map(|(at, _)| (&rest[..at], &rest[at + 2..]))
            .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
            .collect();
        splits
            .iter()
            .rev()
            .find(|(server, _)| is_known(server))
            .or_else(|| splits.first())
            .copied()
    }
}

impl ToolName {
    /// The whole name, as it is written.
    pub fn text(&self) -> Cow<'static, str> {
        match self {
            Self::Builtin(tool) => tool.name().into(),
            Self::Mcp(rest) => format!("mcp__{rest}").into(),
        }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

/// What a parameter must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// Text.
    Text,
    /// Text to be written; other JSON is written as such.
    Content,
    /// A number, or a text that spells one.
    Number,
    /// A whole number from 0, or a text that spells one.
    Count,
    /// `true`, `false`, or a text that spells one.
    Flag,
    /// Any JSON.
    Any,
    /// Names of environment variables with their values.
    Environment,
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

impl ParamKind {
    /// What a value must be that is none of this kind. Null is as good as an absent value.
    fn wanted(self, value: &Json) -> Option<Cow<'static, str>> {
        let number = number_of(value);
        let (fits, wanted) = match self {
            Self::Any | Self::Content => return None,
            _ if value.is_null() => return None,
            Self::Text => (!value.is_array() && !value.is_object(), "a string"),
            Self::Number => (number.is_some(), "a non-negative number"),
            // More is not held exactly.
            Self::Count => (
                number.is_some_and(|it| it.fract() == 0.0 && it < 9e15),
                "a non-negative integer",
            ),
            Self::Flag => (flag_of(value).is_some(), "true or false"),
            Self::Environment => (value.is_object(), "an object"),
            Self::OneOf(words) => {
                let fits = value.as_str().is_some_and(|word| words.contains(&word));
                return (!fits).then(|| format!("one of {}", words.join(", ")).into());
            }
        };
        (!fits).then_some(wanted.into())
    }
}

/// The number from 0 that a value is or spells.
pub fn number_of(value: &Json) -> Option<f64> {
    let number = match value {
        Json::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// The truth value that a value is or spells.
pub fn flag_of(value: &Json) -> Option<bool> {
    match value {
        Json::String(text) => text.parse().ok(),
        value => value.as_bool(),
    }
}

/// What is wrong with the parameters of a call of a built-in tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamMistake {
    /// The JSON pointer to the value in the parameters; empty if one is missing.
    pub pointer: String,
    /// Whether it is about the name there.
    pub is_name: bool,
    /// The code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub meant: Option<&'static str>,
    /// What there is, or what to do.
    pub help: Option<String>,
}

/// Whether it can be the name of an environment variable: letters, digits and `_`, no digit first.
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A parameter of a built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamSpec {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub kind: ParamKind,
    /// Whether the tool needs it.
    pub required: bool,
    /// What it is for.
    pub meaning: &'static str,
}

const fn required(name: &'static str, kind: ParamKind, meaning: &'static str) -> ParamSpec {
    ParamSpec {
        name,
        kind,
        required: true,
        meaning,
    }
}

const fn optional(name: &'static str, kind: ParamKind, meaning: &'static str) -> ParamSpec {
    ParamSpec {
        name,
        kind,
        required: false,
        meaning,
    }
}

macro_rules! builtin_tools {
    ($($variant:ident = $name:literal, $meaning:literal, [$($param:expr),* $(,)?];)*) => {
        /// A built-in tool.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant's meaning stands in the table")]
        pub enum BuiltinTool { $($variant),* }

        impl BuiltinTool {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in a scenario.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it does, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),* }
            }

            /// Its parameters.
            pub fn params(self) -> &'static [ParamSpec] {
                match self { $(Self::$variant => const { &[$($param),*] }),* }
            }
        }
    };
}

use ParamKind::{Any, Content, Count, Environment, Flag, Number, OneOf, Text};

builtin_tools! {
    Wait = "sandy__wait", "Wait for a number of seconds.", [
        optional("duration", Number, "seconds to wait"),
        optional("seconds", Number, "alias of `duration`"),
    ];
    Log = "sandy__log", "Write a message to standard error.", [
        required("message", Any, "what to write"),
        optional("level", OneOf(&["debug", "info", "warning", "error"]), "log level (default info)"),
    ];
    WaitForElement = "sandy__wait_for_element", "Wait until a CSS selector matches on the page.", [
        required("selector", Text, "the CSS selector"),
        optional("timeout", Number, "timeout in seconds (default 10)"),
        optional("interval", Number, "polling interval in seconds (default 0.5)"),
        optional("mcp_server", Text, "the browser's MCP server (default chrome-devtools)"),
    ];
    WaitUntil = "sandy__wait_until", "Wait until a JavaScript expression is true on the page.", [
        required("expression", Text, "the JavaScript expression"),
        optional("timeout", Number, "timeout in seconds (default 30)"),
        optional("interval", Number, "polling interval in seconds (default 0.5)"),
        optional("mcp_server", Text, "the browser's MCP server (default chrome-devtools)"),
    ];
    AppendFile = "sandy__append_file", "Append records to a JSON Lines, CSV or JSON file.", [
        required("path", Text, "the file"),
        required("data", Any, "one item, or an array of items"),
        optional("format", OneOf(&["jsonl", "csv", "json"]), "the file's format (default jsonl)"),
        optional("on_new_column", OneOf(&["error", "extend"]), "what to do with a column that is not in the CSV file (default error)"),
    ];
    Read = "claude__read", "Read a file with line numbers.", [
        required("file_path", Text, "the file"),
        optional("offset", Count, "first line, from 1"),
        optional("limit", Count, "number of lines"),
    ];
    Write = "claude__write", "Write a file, creating its folders.", [
        required("file_path", Text, "the file"),
        required("content", Content, "the file's content; a list or an object is written as JSON"),
    ];
    Edit = "claude__edit", "Replace a text in a file.", [
        required("file_path", Text, "the file"),
        required("old_string", Text, "the text to replace; it must occur exactly once unless `replace_all` is set"),
        required("new_string", Content, "the replacement"),
        optional("replace_all", Flag, "replace every occurrence (default false)"),
    ];
    Glob = "claude__glob", "Find files by a pattern, newest first.", [
        required("pattern", Text, "the pattern, for example `**/*.py`"),
        optional("path", Text, "the folder to search (default: the working directory)"),
    ];
    Grep = "claude__grep", "Search files by a regular expression.", [
        required("pattern", Text, "the regular expression"),
        optional("path", Text, "the file or folder to search (default: the working directory)"),
        optional("glob", Text, "only files that match this pattern"),
        optional("type", Text, "only files of this type, as ripgrep names them: `py`, `rust`"),
        optional("output_mode", OneOf(&["content", "files_with_matches", "count"]), "what to return (default files_with_matches)"),
        optional("context", Count, "lines before and after each match"),
        optional("-C", Count, "alias of `context`"),
        optional("-B", Count, "lines before each match"),
        optional("-A", Count, "lines after each match"),
        optional("head_limit", Count, "the maximum number of results"),
        optional("offset", Count, "the number of results to leave out before"),
        optional("case_insensitive", Flag, "ignore case (default false)"),
        optional("-i", Flag, "alias of `case_insensitive`"),
        optional("-n", Flag, "give the number of each line (default true)"),
        optional("-o", Flag, "give only the parts that match, each by itself (default false)"),
        optional("multiline", Flag, "let a match span lines (default false)"),
    ];
    Bash = "claude__bash", "Run a shell command.", [
        required("command", Text, "the command"),
        optional("env", Environment, "environment variables, through which data of earlier steps reaches the command"),
        optional("timeout", Number, "timeout in milliseconds (default 120000)"),
        optional("expect_exit", Count, "fail unless the command exits with this code"),
        optional("description", Text, "what the command is for; it is shown"),
        optional("run_in_background", Flag, "start the command and go on (default false)"),
        optional("dangerouslyDisableSandbox", Flag, "has no effect: there is no sandbox"),
    ];
    BashOutput = "claude__bash_output", "Read the new output of a command in the background.", [
        optional("bash_id", Text, "the `shell_id` that claude__bash returned"),
        optional("shell_id", Text, "alias of `bash_id`"),
        optional("filter", Text, "only lines that match this regular expression"),
    ];
    KillShell = "claude__kill_shell", "End a command in the background.", [
        optional("shell_id", Text, "the `shell_id` that claude__bash returned"),
        optional("bash_id", Text, "alias of `shell_id`"),
    ];
    WebFetch = "claude__web_fetch", "Fetch a URL; HTML becomes Markdown.", [
        required("url", Text, "the URL"),
        optional("prompt", Text, "what the agent asked about the page; informational only"),
    ];
    NotebookEdit = "claude__notebook_edit", "Edit a cell of a Jupyter notebook.", [
        required("notebook_path", Text, "the notebook"),
        optional("new_source", Content, "the cell's new source (not needed to delete)"),
        optional("cell_id", Text, "the cell to replace or delete, or to insert after"),
        optional("cell_type", OneOf(&["code", "markdown"]), "the cell's type (needed to insert)"),
        optional("edit_mode", OneOf(&["replace", "insert", "delete"]), "what to do (default replace)"),
    ];
}

impl BuiltinTool {
    /// The parameter that a call needs, under either of two names; the first is the one to write.
    pub fn needs_one_of(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Wait => Some(["duration", "seconds"]),
            Self::BashOutput => Some(["bash_id", "shell_id"]),
            Self::KillShell => Some(["shell_id", "bash_id"]),
            _ => None,
        }
    }

    /// What is wrong with the parameters of a call. If it `has_references`, nothing is said of values and names that hold
    /// some.
    pub fn mistakes(self, params: &Map<String, Json>, has_references: bool) -> Vec<ParamMistake> {
        let is_open = |text: &str| has_references && text.contains("{{");
        let known = || self.params().iter();
        let mut found = Vec::new();
        for (name, value) in params.iter().filter(|(name, _)| !is_open(name)) {
            match known().find(|param| param.name == name) {
                None => {
                    let names: Vec<&str> = known().map(|param| param.name).collect();
                    let message = format!("{} has no parameter `{name}`", self.name());
                    found.push(ParamMistake {
                        is_name: true,
                        meant: did_you_mean(name, names.iter().copied()),
                        help: Some(format!("its parameters are: {}", names.join(", "))),
                        ..mistake(&[name], codes::PARAM_UNKNOWN, message)
                    });
                }
                // The names of variables are the author's.
                Some(param)
                    if param.kind != ParamKind::Environment
                        && value.as_str().is_some_and(is_open) => {}
                Some(param) => found.extend(self.misfits(param, value)),
            }
        }
        if params.keys().any(|name| is_open(name)) {
            return found;
        }
        let is_given = |name: &str| params.get(name).is_some_and(|value| !value.is_null());
        let mode = match params.get("edit_mode") {
            None | Some(Json::Null) => "replace",
            Some(mode) => mode.as_str().unwrap_or_default(),
        };
        let by_mode: &[&str] = match (self, mode) {
            (Self::NotebookEdit, "replace") => &["cell_id", "new_source"],
            (Self::NotebookEdit, "insert") => &["cell_type", "new_source"],
            (Self::NotebookEdit, "delete") => &["cell_id"],
            _ => &[],
        };
        let of_two = self
            .needs_one_of()
            .filter(|names| !names.iter().any(|name| is_given(name)));
        for param in known() {
            let is_by_mode = by_mode.contains(&param.name);
            let is_needed = param.required || is_by_mode;
            let is_null = param.kind == ParamKind::Any && params.contains_key(param.name);
            let is_missing = (is_needed && !is_given(param.name) && !is_null)
                || of_two.is_some_and(|[first, _]| first == param.name);
            // A mistyped name was reported with the right one.
            if is_missing && !found.iter().any(|it| it.meant == Some(param.name)) {
                let message = match is_by_mode {
                    true => format!(": `edit_mode` \"{mode}\" needs `{}`", param.name),
                    false => format!(" needs `{}` ({})", param.name, param.meaning),
                };
                let message = format!("{}{message}", self.name());
                found.push(mistake(&[], codes::PARAM_MISSING, message));
            }
        }
        let is_background = params.get("run_in_background").and_then(flag_of);
        if self == Self::Bash && is_background == Some(true) && is_given("expect_exit") {
            let message = format!(
                "{}: `expect_exit` can't be checked with `run_in_background`",
                self.name()
            );
            let help = "remove it, and read `exit_code` with claude__bash_output";
            found.push(ParamMistake {
                help: Some(help.to_owned()),
                ..mistake(&["expect_exit"], codes::FIELD_VALUE, message)
            });
        }
        found
    }

    /// What is wrong with the value of a parameter.
    fn misfits(self, param: &ParamSpec, value: &Json) -> Vec<ParamMistake> {
        if let Some(wanted) = param.kind.wanted(value) {
            let found = match value {
                Json::Array(_) | Json::Object(_) => kind_name(value).into(),
                value => cut(&value.to_string(), 60).into_owned(),
            };
            let (name, tool) = (param.name, self.name());
            let message = format!("`{name}` of {tool} must be {wanted}, not {found}");
            let words = match param.kind {
                ParamKind::OneOf(words) => words,
                _ => &[],
            };
            let word = value.as_str().unwrap_or_default();
            return vec![ParamMistake {
                meant: did_you_mean(word, words.iter().copied()),
                ..mistake(&[name], codes::PARAM_TYPE, message)
            }];
        }
        let is_environment = param.kind == ParamKind::Environment;
        let names = value.as_object().filter(|_| is_environment);
        let names = names.into_iter().flat_map(Map::keys);
        let wrong = names.filter(|name| !is_variable_name(name)).map(|name| {
            let message = format!("`{}` is not a valid name of a variable", cut(name, 100));
            let help = "use letters, digits and `_`; references can stand in the value";
            ParamMistake {
                is_name: true,
                help: Some(help.to_owned()),
                ..mistake(&[param.name, name], codes::PARAM_TYPE, message)
            }
        });
        wrong.collect()
    }

    /// The tool called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.name() == name)
    }
}

fn mistake(steps: &[&str], code: Code, message: String) -> ParamMistake {
    let mut pointer = String::new();
    steps
        .iter()
        .for_each(|step| push_pointer(&mut pointer, step));
    ParamMistake {
        pointer,
        is_name: false,
        code,
        message,
        meant: None,
        help: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_name_may_hold_two_underscores_when_it_is_known() {
        let tool = ToolName::Mcp("my__server__do__it".into());
        assert_eq!(
            tool.server_and_tool(|_| false),
            Some(("my", "server__do__it"))
        );
        assert_eq!(
            tool.server_and_tool(|name| name == "my__server"),
            Some(("my__server", "do__it"))
        );
        assert_eq!(
            tool.server_and_tool(|name| name == "my" || name == "my__server"),
            Some(("my__server", "do__it"))
        );
        assert_eq!(ToolName::Mcp("x".into()).server_and_tool(|_| true), None);
        assert_eq!(
            ToolName::Mcp("____x".into()).server_and_tool(|_| true),
            Some(("__", "x"))
        );
        assert_eq!(
            ToolName::Builtin(BuiltinTool::Log).server_and_tool(|_| true),
            None
        );
    }

    #[test]
    fn names_of_variables_are_those_of_shells() {
        for good in ["A", "_", "a_1"] {
            assert!(is_variable_name(good), "{good}");
        }
        for bad in ["", "1a", "A-B", "a b", "A=B", "É", "BASH_FUNC_x%%"] {
            assert!(!is_variable_name(bad), "{bad}");
        }
    }

    #[test]
    fn there_are_fifteen_built_in_tools() {
        assert_eq!(BuiltinTool::ALL.len(), 15);
        assert_eq!(BuiltinTool::find("sandy__log"), Some(BuiltinTool::Log));
    }
}
