//! Tool names, and the one table of the built-in tools: their parameters are checked, completed in the
//! schema and documented from here.

use std::borrow::Cow;
use std::fmt;

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

    /// The tool called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.name() == name)
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
