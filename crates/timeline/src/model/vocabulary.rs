//! The one table of abstract tools: what a timeline's agent can call, whatever the real agent names it.

/// An abstract tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbstractTool {
    /// Its name: `runCmd`.
    pub name: &'static str,
    /// The arguments that it needs.
    pub required: &'static [&'static str],
    /// Its other arguments.
    pub optional: &'static [&'static str],
    /// The kind of call it is for an editor: `read`, `edit`, `search`, `execute`, `fetch`, `think`,
    /// `switch_mode` or `other`.
    pub kind: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    /// What agents call it themselves.
    pub agent_names: &'static [&'static str],
}

/// Every abstract tool.
pub const TOOLS: &[AbstractTool] = &[
    AbstractTool {
        name: "runCmd",
        required: &["cmd"],
        optional: &["cwd", "timeout", "description", "run_in_background"],
        kind: "execute",
        aliases: &["run_cmd", "run_command", "runCommand"],
        agent_names: &["Bash"],
    },
    AbstractTool {
        name: "readFile",
        required: &["path"],
        optional: &["encoding", "offset", "limit"],
        kind: "read",
        aliases: &["read_file"],
        agent_names: &["Read"],
    },
    AbstractTool {
        name: "writeFile",
        required: &["path", "content"],
        optional: &[],
        kind: "edit",
        aliases: &["write_file"],
        agent_names: &["Write"],
    },
    AbstractTool {
        name: "editFile",
        required: EDIT,
        optional: &["replace_all"],
        kind: "edit",
        aliases: &["edit_file"],
        agent_names: &["Edit"],
    },
    AbstractTool {
        name: "appendFile",
        required: &["path", "content"],
        optional: &[],
        kind: "edit",
        aliases: &["append_file"],
        agent_names: &[],
    },
    AbstractTool {
        name: "replaceInFile",
        required: EDIT,
        optional: &["replace_all"],
        kind: "edit",
        aliases: &["replace_in_file"],
        agent_names: &[],
    },
    AbstractTool {
        name: "grep",
        required: &["pattern"],
        optional: &[
            "path",
            "glob",
            "output_mode",
            "-A",
            "-B",
            "-C",
            "-n",
            "-i",
            "type",
            "head_limit",
            "multiline",
        ],
        kind: "search",
        aliases: &[],
        agent_names: &["Grep"],
    },
    AbstractTool {
        name: "listDir",
        required: &["path"],
        optional: &["recursive", "pattern"],
        kind: "search",
        aliases: &["list_dir"],
        agent_names: &["Glob"],
    },
    AbstractTool {
        name: "find",
        required: &["path"],
        optional: &["name", "type"],
        kind: "search",
        aliases: &[],
        agent_names: &[],
    },
    AbstractTool {
        name: "sed",
        required: &["expression", "path"],
        optional: &["inplace"],
        kind: "search",
        aliases: &[],
        agent_names: &[],
    },
    AbstractTool {
        name: "task",
        required: &["description", "prompt", "subagent_type"],
        optional: &[],
        kind: "think",
        aliases: &[],
        agent_names: &["Task"],
    },
    AbstractTool {
        name: "webFetch",
        required: &["url", "prompt"],
        optional: &[],
        kind: "fetch",
        aliases: &["web_fetch"],
        agent_names: &["WebFetch"],
    },
    AbstractTool {
        name: "webSearch",
        required: &["query"],
        optional: &["allowed_domains", "blocked_domains"],
        kind: "search",
        aliases: &["web_search"],
        agent_names: &["WebSearch"],
    },
    AbstractTool {
        name: "todoWrite",
        required: &["todos"],
        optional: &[],
        kind: "think",
        aliases: &["todo_write"],
        agent_names: &["TodoWrite"],
    },
    AbstractTool {
        name: "notebookEdit",
        required: &["notebook_path", "new_source"],
        optional: &["cell_id", "cell_type", "edit_mode"],
        kind: "edit",
        aliases: &["notebook_edit"],
        agent_names: &["NotebookEdit"],
    },
    AbstractTool {
        name: "exitPlanMode",
        required: &["plan"],
        optional: &[],
        kind: "switch_mode",
        aliases: &["exit_plan_mode"],
        agent_names: &["ExitPlanMode"],
    },
    AbstractTool {
        name: "bashOutput",
        required: &["bash_id"],
        optional: &["filter"],
        kind: "read",
        aliases: &["bash_output"],
        agent_names: &["BashOutput"],
    },
    AbstractTool {
        name: "killShell",
        required: &["shell_id"],
        optional: &[],
        kind: "execute",
        aliases: &["kill_shell"],
        agent_names: &["KillShell"],
    },
    AbstractTool {
        name: "slashCommand",
        required: &["command"],
        optional: &[],
        kind: "execute",
        aliases: &["slash_command"],
        agent_names: &["SlashCommand"],
    },
];

const EDIT: &[&str] = &["path", "old_string", "new_string"];

/// Other spellings of arguments, and the argument; each counts only where the tool has that.
pub const ARGUMENT_ALIASES: &[(&str, &str)] = &[
    ("command", "cmd"),
    ("text", "content"),
    ("file_path", "path"),
    ("old_str", "old_string"),
    ("old", "old_string"),
    ("new_str", "new_string"),
    ("new", "new_string"),
];

impl AbstractTool {
    /// The tool of this name, as the vocabulary writes it.
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The tool that this name means: its own, another spelling, or what an agent calls it.
    pub fn meant_by(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| {
            tool.name == name || tool.aliases.contains(&name) || tool.agent_names.contains(&name)
        })
    }

    /// The names of its arguments, required ones first.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.required.iter().chain(self.optional).copied()
    }

    /// Whether it has an argument of this name.
    pub fn has_argument(&self, name: &str) -> bool {
        self.arguments().any(|argument| argument == name)
    }

    /// The argument that this key stands for, if it is another spelling of one that the tool has.
    pub fn argument_alias(&self, key: &str) -> Option<&'static str> {
        if self.has_argument(key) {
            return None;
        }
        let mut aliases = ARGUMENT_ALIASES.iter();
        let found = aliases.find(|(alias, name)| *alias == key && self.has_argument(name));
        found.map(|(_, name)| *name)
    }
}

/// The kind of a call for an editor. `sed` that changes its file is an edit.
pub fn call_kind(tool: &str, args: &cuecard_source::value::Json) -> &'static str {
    match AbstractTool::named(tool) {
        Some(sed) if sed.name == "sed" && args["inplace"] == true => "edit",
        Some(tool) => tool.kind,
        None => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_name_means_one_tool() {
        let mut names: Vec<&str> = TOOLS
            .iter()
            .flat_map(|tool| {
                let others = tool.aliases.iter().chain(tool.agent_names);
                std::iter::once(tool.name).chain(others.copied())
            })
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for name in names {
            assert!(AbstractTool::meant_by(name).is_some(), "{name}");
        }
    }

    #[test]
    fn an_alias_counts_only_where_the_tool_has_the_argument() {
        let alias = |tool: &str, key: &str| {
            AbstractTool::named(tool).and_then(|tool| tool.argument_alias(key))
        };
        assert_eq!(alias("runCmd", "command"), Some("cmd"));
        assert_eq!(alias("slashCommand", "command"), None);
        assert_eq!(alias("writeFile", "text"), Some("content"));
        assert_eq!(alias("grep", "text"), None);
        assert_eq!(alias("editFile", "old"), Some("old_string"));
        assert_eq!(alias("readFile", "file_path"), Some("path"));
    }

    #[test]
    fn kinds_are_those_of_the_protocol() {
        assert_eq!(call_kind("sed", &json!({"inplace": true})), "edit");
        assert_eq!(call_kind("sed", &json!({})), "search");
        assert_eq!(call_kind("readFile", &json!({})), "read");
        assert_eq!(call_kind("mcp__a__b", &json!({})), "other");
    }
}
