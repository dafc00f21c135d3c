//! Makes the file of a profile from the tools that an agent advertises. What is certain becomes an entry; what only
//! looks alike becomes a comment, for somebody who knows.

mod likeness;
mod writing;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::advertised::{AdvertisedTool, ToolInput};
use super::choice::Profiles;
use super::profile::Profile;
use super::read::read_profile;
use cuecard_source::SourceFile;
use likeness::{Known, ToolSimilarity};
use writing::{key, list, schema, text, value};

/// So many names of tools give an agent away.
const MAX_DETECT: usize = 12;

/// What a profile is made of.
#[derive(Debug, Clone, Copy)]
pub struct Capture<'a> {
    /// The agent: `codex`.
    pub agent: &'a str,
    /// Its version, as [`Version::parse`](super::Version::parse) reads it.
    pub version: &'a str,
    /// The API by which it asks, if it is to be that API's usual agent.
    pub endpoint: Option<&'a str>,
    /// The tools that it advertises; of two of one name, the first counts.
    pub tools: &'a [AdvertisedTool],
}

/// A profile that was captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The file (TOML), which [`read_profile`](super::read_profile) reads.
    pub text: String,
    /// What somebody who knows the agent has to say before it is whole, one sentence each.
    pub missing: Vec<String>,
    /// The timeline's tools whose entries follow from arguments alone, with the agent's.
    pub derived: Vec<(&'static str, String)>,
}

/// Makes a profile. The entries are those whose tool and arguments are known by their names, and those where exactly one
/// tool takes the arguments; others that look alike stand in it as comments, and are missing.
pub fn capture(capture: &Capture<'_>) -> Captured {
    let mut tools: Vec<&AdvertisedTool> = Vec::new();
    for tool in capture.tools {
        if tools.iter().all(|known| known.name != tool.name) {
            tools.push(tool);
        }
    }
    let own: Vec<&AdvertisedTool> = tools
        .iter()
        .copied()
        .filter(|tool| tool.input != ToolInput::Opaque && !tool.name.starts_with("mcp__"))
        .collect();
    let known = Known::of(&Profiles::default());
    let detect: Vec<&str> = own
        .iter()
        .take(MAX_DETECT)
        .map(|tool| tool.name.as_str())
        .collect();
    let mut file = format!(
        "# The tools of {} as version {} advertises them. Look through what is commented out: it was not certain.\n\n\
         agent = {}\nversions = {}\n",
        comment(capture.agent),
        comment(capture.version),
        text(capture.agent),
        text(&format!(">={}", capture.version)),
    );
    if let Some(endpoint) = capture.endpoint {
        let _ = writeln!(file, "endpoint = {}", text(endpoint));
    }
    let _ = writeln!(file, "detect = {}\n", list(&detect));

    let mut used: Vec<&str> = Vec::new();
    let (mut certain, mut doubtful) = (String::new(), String::new());
    let (mut missing, mut derived) = (Vec::new(), Vec::new());
    for (tool, alike) in known.alike(&own) {
        let fits = |alike: &ToolSimilarity| alike.doubts.is_empty();
        let is_the_one = alike.len() == 1;
        for (native, alike) in alike {
            used.push(&native.name);
            let is_entry = fits(&alike) && is_the_one;
            let mut entry = match is_entry && tool.name == "runCmd" {
                true => in_folder(native, &alike),
                false => String::new(),
            };
            let _ = write!(
                entry,
                "[[tools.{}]]\nname = {}\n",
                tool.name,
                text(&native.name)
            );
            if !alike.arguments.is_empty() {
                let pairs: Vec<String> = alike
                    .arguments
                    .iter()
                    .map(|(argument, native)| format!("{} = {}", key(argument), text(native)))
                    .collect();
                let _ = writeln!(entry, "args = {{ {} }}", pairs.join(", "));
            }
            entry.push_str(&always(&alike));
            if is_entry {
                if !alike.is_named {
                    certain.push_str("# By its arguments alone.\n");
                    derived.push((tool.name, native.name.clone()));
                }
                let _ = writeln!(certain, "{entry}");
                continue;
            }
            for line in entry.lines() {
                let _ = writeln!(doubtful, "# {line}");
            }
            let doubts = match fits(&alike) {
                true => "it is not the only one that takes these arguments".to_owned(),
                false => alike.doubts.join("; "),
            };
            let _ = writeln!(doubtful, "#   {}\n", comment(&doubts));
            missing.push(format!(
                "no entry for `{}`: the agent's `{}` is similar, but {doubts}",
                tool.name,
                comment(&native.name),
            ));
        }
    }
    if certain.is_empty() && missing.is_empty() {
        missing.push("none of the agent's tools resembles a timeline tool".to_owned());
    }
    if certain.is_empty() {
        certain.push_str("[tools]\n\n");
    }
    file.push_str(&certain);
    if !doubtful.is_empty() {
        file.push_str("# Uncertain:\n#\n");
        file.push_str(&doubtful);
    }
    let unused: Vec<String> = own
        .iter()
        .filter(|tool| !used.contains(&tool.name.as_str()))
        .map(|tool| comment(&text(&tool.name)))
        .collect();
    if !unused.is_empty() {
        let _ = writeln!(file, "# In no entry: {}\n", unused.join(", "));
    }
    file.push_str("# What its requests advertise.\n");
    for tool in own {
        file.push('\n');
        file.push_str(&schema(tool));
    }
    Captured {
        text: file,
        missing,
        derived,
    }
}

/// A profile of an agent that has none, from the tools that it advertises, with those that only their arguments tell.
pub fn derive(tools: &[AdvertisedTool]) -> Option<(Profile, Vec<(&'static str, String)>)> {
    let captured = capture(&Capture {
        agent: "derived",
        version: "0.0.0",
        endpoint: None,
        tools,
    });
    let file = SourceFile::new("derived.toml", captured.text);
    let profile = read_profile(&file).ok()?;
    Some((profile, captured.derived))
}

/// What every call of a form has.
fn always(alike: &ToolSimilarity) -> String {
    let mut lines = String::new();
    if !alike.fixed.is_empty() {
        let pairs: Vec<String> = alike
            .fixed
            .iter()
            .map(|(native, fixed)| format!("{} = {}", key(native), value(fixed, 0)))
            .collect();
        let _ = writeln!(lines, "fixed = {{ {} }}", pairs.join(", "));
    }
    if !alike.lists.is_empty() {
        let names: Vec<&str> = alike.lists.iter().map(String::as_str).collect();
        let _ = writeln!(lines, "lists = {}", list(&names));
    }
    lines
}

/// The form for a command in another folder, where the agent's tool has no place for that: else the command would run
/// where it was not meant to.
fn in_folder(native: &AdvertisedTool, alike: &ToolSimilarity) -> String {
    let place_of = |name: &str| {
        alike
            .arguments
            .iter()
            .find(|(argument, _)| *argument == name)
    };
    let (Some((_, command)), None) = (place_of("cmd"), place_of("cwd")) else {
        return String::new();
    };
    let others: Vec<String> = alike
        .arguments
        .iter()
        .filter(|(argument, _)| *argument != "cmd")
        .map(|(argument, native)| format!("{} = {}", key(argument), text(native)))
        .collect();
    let mut entry = format!(
        "[[tools.runCmd]]\nwith = [\"cwd\"]\nname = {}\nshell = {{ {} = \"{{cmd:in cwd}}\" }}\n",
        text(&native.name),
        key(command)
    );
    if !others.is_empty() {
        let _ = writeln!(entry, "args = {{ {} }}", others.join(", "));
    }
    entry.push_str(&always(alike));
    entry.push('\n');
    entry
}

/// A text that stays in its line.
fn comment(text: &str) -> String {
    text.chars()
        .map(|character| match character.is_control() {
            true => ' ',
            false => character,
        })
        .collect()
}
