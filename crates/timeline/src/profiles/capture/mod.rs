//! Makes the file of a profile from the tools that an agent advertises. What is known by its name becomes an entry; what
//! lacks something there becomes a comment, for somebody who knows.

mod writing;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::advertised::{AdvertisedTool, ToolInput};
use super::choice::Profiles;
use crate::model::vocabulary::{ARGUMENT_ALIASES, AbstractTool, TOOLS};
use cuecard_source::value::Json;
use writing::{key, schema, text, value};

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
}

/// Makes a profile. The entries are those whose tool and arguments are known by their names; tools with a known name that
/// lack something stand in it as comments, and are missing.
pub fn capture(capture: &Capture<'_>) -> Captured {
    let mut own: Vec<&AdvertisedTool> = Vec::new();
    for tool in capture.tools {
        let is_own = tool.input != ToolInput::Opaque && !tool.name.starts_with("mcp__");
        if is_own && own.iter().all(|known| known.name != tool.name) {
            own.push(tool);
        }
    }
    let known = KnownNames::of(&Profiles::default());
    let detect = own.iter().take(MAX_DETECT);
    let detect: Vec<&str> = detect.map(|tool| tool.name.as_str()).collect();
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
    let _ = writeln!(file, "detect = {}\n", value(detect));

    let mut used = BTreeSet::new();
    let (mut certain, mut doubtful) = (String::new(), String::new());
    let mut missing = Vec::new();
    for tool in TOOLS {
        let named = own.iter().filter(|native| known.is_named(tool, native));
        let mut drafts: Vec<_> = named.map(|native| known.draft(tool, native)).collect();
        used.extend(drafts.iter().map(|draft| draft.native.name.as_str()));
        if let Some(whole) = drafts.iter().position(|draft| draft.lacks.is_empty()) {
            let _ = writeln!(certain, "{}", drafts.swap_remove(whole).entries());
            continue;
        }
        for draft in drafts {
            for line in draft.entry(&[], None).lines() {
                let _ = writeln!(doubtful, "# {line}");
            }
            let lacks = draft.lacks.join("; ");
            let _ = writeln!(doubtful, "#   {}\n", comment(&lacks));
            missing.push(format!(
                "no entry for `{}`: by its name, the agent's `{}` is this tool, but {lacks}",
                tool.name,
                comment(&draft.native.name),
            ));
        }
    }
    if certain.is_empty() && missing.is_empty() {
        missing.push("none of the agent's tools has the name of a timeline tool".to_owned());
    }
    if certain.is_empty() {
        certain.push_str("[tools]\n\n");
    }
    file.push_str(&certain);
    if !doubtful.is_empty() {
        file.push_str("# Uncertain:\n#\n");
        file.push_str(&doubtful);
    }
    let unused = own.iter().filter(|tool| !used.contains(tool.name.as_str()));
    let unused: Vec<String> = unused.map(|tool| comment(&text(&tool.name))).collect();
    if !unused.is_empty() {
        let _ = writeln!(file, "# In no entry: {}\n", unused.join(", "));
    }
    file.push_str("# What its requests advertise.\n");
    for tool in own {
        let _ = write!(file, "\n{}", schema(tool));
    }
    Captured {
        text: file,
        missing,
    }
}

/// What agents are known to call tools and arguments. Names are compared without case, `_` and `-`.
struct KnownNames {
    /// The names of each abstract tool.
    tools: BTreeMap<&'static str, BTreeSet<String>>,
    /// The names of each argument, by its name.
    arguments: BTreeMap<String, BTreeSet<String>>,
}

/// The entry of an abstract tool, whose name an agent's tool has.
struct Draft<'t> {
    tool: &'static AbstractTool,
    native: &'t AdvertisedTool,
    /// Abstract argument → the tool's.
    arguments: Vec<(&'static str, String)>,
    /// What keeps calls from being made so, in words.
    lacks: Vec<String>,
}

impl KnownNames {
    /// What the profiles and the vocabulary know.
    fn of(profiles: &Profiles) -> Self {
        let mut tools: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        let mut arguments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (alias, name) in ARGUMENT_ALIASES {
            let names = arguments.entry((*name).to_owned()).or_default();
            names.insert(normal(alias));
        }
        for tool in TOOLS {
            for argument in tool.arguments() {
                let names = arguments.entry(argument.to_owned()).or_default();
                names.insert(normal(argument));
            }
            let forms = profiles
                .iter()
                .filter_map(|profile| profile.tools.get(tool.name));
            // A command tells nothing about names.
            let forms: Vec<_> = forms.flatten().filter(|form| form.is_worded()).collect();
            for (argument, native) in forms.iter().flat_map(|form| &form.args) {
                let names = arguments.entry(argument.clone()).or_default();
                names.insert(normal(native));
            }
            let aliases = tool.aliases.iter().chain(tool.agent_names).copied();
            let native = forms.iter().map(|form| form.name.as_str());
            let names = [tool.name].into_iter().chain(aliases).chain(native);
            tools.insert(tool.name, names.map(normal).collect());
        }
        Self { tools, arguments }
    }

    fn is_named(&self, tool: &AbstractTool, native: &AdvertisedTool) -> bool {
        self.tools[tool.name].contains(&normal(&native.name))
    }

    fn draft<'t>(&self, tool: &'static AbstractTool, native: &'t AdvertisedTool) -> Draft<'t> {
        let mut draft = Draft {
            tool,
            native,
            arguments: Vec::new(),
            lacks: Vec::new(),
        };
        if native.input == ToolInput::Text {
            let why = "it takes free text: define it with `texts` or `shell`";
            draft.lacks.push(why.to_owned());
            return draft;
        }
        let schema = native.schema().unwrap_or(&Json::Null);
        let properties = schema["properties"].as_object();
        let names = || properties.into_iter().flat_map(|known| known.keys());
        for argument in tool.arguments() {
            // `-A` and `A` are two names.
            let is_known = |name: &&String| {
                !argument.starts_with('-') && self.arguments[argument].contains(&normal(name))
            };
            let is_free = |name: &&String| draft.arguments.iter().all(|(_, taken)| taken != *name);
            let same = names().find(|name| name.as_str() == argument);
            if let Some(name) = same.or_else(|| names().filter(is_free).find(is_known)) {
                draft.arguments.push((argument, name.clone()));
            } else if tool.required.contains(&argument) {
                let lacking = format!("no parameter accepts `{argument}`");
                draft.lacks.push(lacking);
            }
        }
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Json::as_str) {
            let stands_for = draft.arguments.iter().find(|(_, native)| native == name);
            let is_always_there = |argument: &str| tool.required.contains(&argument);
            draft.lacks.extend(match stands_for {
                None => Some(format!(
                    "it needs `{name}`, which has no counterpart: provide it with `fixed` or `texts`"
                )),
                Some((argument, _)) if !is_always_there(argument) => Some(format!(
                    "it needs `{name}`, and calls may leave `{argument}` out"
                )),
                Some(_) => None,
            });
        }
        let command = draft
            .arguments
            .iter()
            .find(|(argument, _)| *argument == "cmd");
        let is_list =
            |(_, native): &&(_, String)| schema["properties"][native.as_str()]["type"] == "array";
        if let Some((_, native)) = command.filter(is_list) {
            let why = format!(
                "its `{native}` is a list, of words or of commands: if of commands, add `lists`"
            );
            draft.lacks.push(why);
        }
        draft
    }
}

impl Draft<'_> {
    /// The entries of a tool that lacks nothing. A command in another folder, where the agent's tool has no place for that,
    /// has an entry of its own: else it would run where it was not meant to.
    fn entries(&self) -> String {
        let of = |name: &str| {
            self.arguments
                .iter()
                .find(|(argument, _)| *argument == name)
        };
        let usual = self.entry(&[], None);
        match (self.tool.name, of("cmd"), of("cwd")) {
            ("runCmd", Some((_, command)), None) => {
                let shell = format!("shell = {{ {} = \"{{cmd:in cwd}}\" }}\n", key(command));
                format!("{}\n{usual}", self.entry(&["cmd"], Some(&shell)))
            }
            _ => usual,
        }
    }

    /// An entry without these arguments; `in_folder` is what makes a command in another folder.
    fn entry(&self, without: &[&str], in_folder: Option<&str>) -> String {
        let kept = self
            .arguments
            .iter()
            .filter(|(name, _)| !without.contains(name));
        let pairs = kept.map(|(argument, native)| format!("{} = {}", key(argument), text(native)));
        let pairs: Vec<String> = pairs.collect();
        let mut entry = format!("[[tools.{}]]\n", self.tool.name);
        if in_folder.is_some() {
            entry.push_str("with = [\"cwd\"]\n");
        }
        let _ = writeln!(entry, "name = {}", text(&self.native.name));
        entry.push_str(in_folder.unwrap_or_default());
        if !pairs.is_empty() {
            let _ = writeln!(entry, "args = {{ {} }}", pairs.join(", "));
        }
        entry
    }
}

fn normal(name: &str) -> String {
    let kept = name
        .chars()
        .filter(|character| !matches!(character, '_' | '-'));
    kept.flat_map(char::to_lowercase).collect()
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
