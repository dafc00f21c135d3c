//! The tool that was probably meant.

use crate::model::{BuiltinTool, ToolName};
use cuecard_source::diagnostic::did_you_mean;

/// The built-in tool that was probably meant: by the part after the prefix first, since people know the tools
/// as `Bash` or `wait_for`, then by the whole name.
pub(super) fn builtin(name: &str) -> Option<&'static str> {
    let part = |name: &'static str| name.rsplit("__").next().unwrap_or(name);
    let wanted = match name.split_once("__") {
        Some(("sandy" | "claude", rest)) => rest,
        Some(_) => return did_you_mean(name, BuiltinTool::ALL.iter().map(|tool| tool.name())),
        None => name,
    };
    // `WebFetch` is `web_fetch`.
    let wanted: String = wanted
        .char_indices()
        .take(100)
        .flat_map(|(at, character)| {
            let begins_word =
                at > 0 && character.is_ascii_uppercase() && !wanted[..at].ends_with('_');
            let separator =
                (begins_word && wanted.contains(|c: char| c.is_ascii_lowercase())).then_some('_');
            separator.into_iter().chain(character.to_lowercase())
        })
        .map(|character| if character == '-' { '_' } else { character })
        .collect();
    let names = || BuiltinTool::ALL.iter().map(|tool| tool.name());
    let begins = |long: &str, short: &str| {
        short.len() >= 4
            && long
                .strip_prefix(short)
                .is_some_and(|rest| rest.starts_with('_'))
    };
    names()
        .find(|name| part(name) == wanted)
        .or_else(|| names().find(|name| begins(part(name), &wanted)))
        .or_else(|| {
            let near = did_you_mean(&wanted, names().map(part))?;
            names().find(|name| part(name) == near)
        })
        .or_else(|| names().find(|name| begins(&wanted, part(name))))
        .or_else(|| did_you_mean(name, names()))
}

/// The MCP tool that was probably meant by a name that only lacks its beginning.
pub(super) fn mcp(name: &str) -> Option<String> {
    let tool = ToolName::Mcp(name.to_owned());
    let is_plain = name.len() <= 100 && !name.starts_with("mcp_") && !name.contains(' ');
    (is_plain && tool.server_and_tool(|_| false).is_some()).then(|| tool.to_string())
}

#[cfg(test)]
mod tests {
    use super::{builtin, mcp};

    #[test]
    fn tools_are_proposed_as_people_call_them() {
        for (name, wanted) in [
            ("Bash", Some("claude__bash")),
            ("WebFetch", Some("claude__web_fetch")),
            ("NotebookEdit", Some("claude__notebook_edit")),
            ("sandy__wait_for", Some("sandy__wait_for_element")),
            ("sandy__bash", Some("claude__bash")),
            ("claude__raed", Some("claude__read")),
            ("read_file", Some("claude__read")),
            ("append", Some("sandy__append_file")),
            ("wait", Some("sandy__wait")),
            ("zebra", None),
            ("", None),
            ("github__create_issue", None),
        ] {
            assert_eq!(builtin(name), wanted, "{name}");
        }
        assert_eq!(
            mcp("github__create_issue").as_deref(),
            Some("mcp__github__create_issue")
        );
        assert_eq!(mcp("github"), None);
        assert_eq!(mcp("mcp_github__x"), None);
    }
}
