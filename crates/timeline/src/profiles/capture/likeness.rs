//! Which abstract tool an agent's tool is like, by what agents are known to call things.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::vocabulary::{ARGUMENT_ALIASES, AbstractTool, TOOLS};
use crate::profiles::advertised::{AdvertisedTool, ToolInput};
use crate::profiles::choice::Profiles;
use cuecard_source::value::Json;

/// What agents are known to call tools and arguments. Names are compared without case, `_` and `-`.
pub(super) struct Known {
    /// The names of each abstract tool.
    tools: BTreeMap<&'static str, BTreeSet<String>>,
    /// The names of each argument, by its name.
    arguments: BTreeMap<String, BTreeSet<String>>,
    /// Arguments of tools that are lists of texts, in which one is meant.
    lists: BTreeSet<String>,
    /// What each abstract tool passes to a tool of that name always, by the argument.
    fixed: BTreeMap<(&'static str, String, String), Json>,
}

/// How an agent's tool is like an abstract one.
pub(super) struct ToolSimilarity {
    /// Abstract argument → the tool's.
    pub(super) arguments: Vec<(&'static str, String)>,
    /// Those of the tool's that are lists.
    pub(super) lists: Vec<String>,
    /// The tool's arguments that have always the same value.
    pub(super) fixed: Vec<(String, Json)>,
    /// Whether its name says so too, and not its arguments alone.
    pub(super) is_named: bool,
    /// What keeps calls from being made so, in words.
    pub(super) doubts: Vec<String>,
}

impl ToolSimilarity {
    pub(super) fn is_certain(&self) -> bool {
        self.is_named && self.doubts.is_empty()
    }
}

fn normal(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

impl Known {
    /// What the profiles and the vocabulary know.
    pub(super) fn of(profiles: &Profiles) -> Self {
        let mut tools: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        let mut arguments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for tool in TOOLS {
            let names = [tool.name].into_iter();
            let names = names.chain(tool.aliases.iter().copied());
            let names = names.chain(tool.agent_names.iter().copied());
            tools
                .entry(tool.name)
                .or_default()
                .extend(names.map(normal));
            for argument in tool.arguments {
                // `-A` and `A` are two names.
                arguments
                    .entry(argument.name.to_owned())
                    .or_default()
                    .insert(normal(argument.name));
            }
        }
        for alias in ARGUMENT_ALIASES {
            arguments
                .entry(alias.name.to_owned())
                .or_default()
                .insert(normal(alias.alias));
        }
        let mut lists = BTreeSet::new();
        let mut fixed = BTreeMap::new();
        for profile in profiles.iter() {
            for tool in TOOLS {
                for form in profile.tools.get(tool.name).into_iter().flatten() {
                    lists.extend(form.lists.iter().map(|name| normal(name)));
                    let forms = profile.tools[tool.name].iter();
                    let same = || forms.clone().filter(|other| other.name == form.name);
                    for (argument, value) in &form.fixed {
                        if same().all(|other| other.fixed.get(argument) == Some(value)) {
                            let key = (tool.name, normal(&form.name), argument.clone());
                            fixed.insert(key, value.clone());
                        }
                    }
                    // A command tells nothing about names.
                    if !form.is_worded() {
                        continue;
                    }
                    tools
                        .entry(tool.name)
                        .or_default()
                        .insert(normal(&form.name));
                    for (argument, native) in &form.args {
                        arguments
                            .entry(argument.clone())
                            .or_default()
                            .insert(normal(native));
                    }
                }
            }
        }
        Self {
            tools,
            arguments,
            lists,
            fixed,
        }
    }

    /// For each abstract tool the agent's that are like it: only that one which certainly is, if there is one, and none by
    /// its arguments alone that certainly is another.
    pub(super) fn alike<'t>(
        &self,
        own: &[&'t AdvertisedTool],
    ) -> Vec<(
        &'static AbstractTool,
        Vec<(&'t AdvertisedTool, ToolSimilarity)>,
    )> {
        let mut alike: Vec<_> = TOOLS
            .iter()
            .map(|tool| {
                let compared =
                    |native: &&'t AdvertisedTool| Some((*native, self.compare(tool, native)?));
                let mut alike: Vec<_> = own.iter().filter_map(compared).collect();
                if let Some(certain) = alike.iter().position(|(_, alike)| alike.is_certain()) {
                    alike = vec![alike.swap_remove(certain)];
                }
                (tool, alike)
            })
            .collect();
        let all = alike.iter().flat_map(|(_, alike)| alike);
        let certain = all.filter(|(_, alike)| alike.is_certain());
        let certain: BTreeSet<String> = certain.map(|(native, _)| native.name.clone()).collect();
        for (_, alike) in &mut alike {
            alike.retain(|(native, alike)| alike.is_named || !certain.contains(&native.name));
        }
        let all = alike.iter().flat_map(|(_, alike)| alike);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (native, _) in all.filter(|(_, alike)| alike.doubts.is_empty()) {
            *counts.entry(native.name.clone()).or_default() += 1;
        }
        for (native, alike) in alike.iter_mut().flat_map(|(_, alike)| alike) {
            if !alike.is_named && counts.get(&native.name).is_some_and(|count| *count > 1) {
                alike
                    .doubts
                    .push("its arguments fit other tools, too".to_owned());
            }
        }
        alike
    }

    /// How `native` is like `tool`. `None` if it is not.
    fn compare(
        &self,
        tool: &'static AbstractTool,
        native: &AdvertisedTool,
    ) -> Option<ToolSimilarity> {
        let is_named = self
            .tools
            .get(tool.name)
            .is_some_and(|names| names.contains(&normal(&native.name)));
        if native.input == ToolInput::Text {
            return is_named.then(|| ToolSimilarity {
                arguments: Vec::new(),
                lists: Vec::new(),
                fixed: Vec::new(),
                is_named,
                doubts: vec!["it takes free text: define it with `texts` or `shell`".to_owned()],
            });
        }
        let schema = native.schema().unwrap_or(&Json::Null);
        let properties = schema["properties"].as_object();
        let names = || properties.into_iter().flat_map(|known| known.keys());
        let mut arguments: Vec<(&'static str, String)> = Vec::new();
        for argument in tool.arguments {
            let means = |name: &&String| {
                name.as_str() == argument.name
                    || (!argument.name.starts_with('-')
                        && self
                            .arguments
                            .get(argument.name)
                            .is_some_and(|known| known.contains(&normal(name))))
            };
            let is_free = |name: &&String| arguments.iter().all(|(_, taken)| taken != *name);
            let same = names().find(|name| name.as_str() == argument.name);
            if let Some(name) = same.or_else(|| names().filter(is_free).find(means)) {
                arguments.push((argument.name, name.clone()));
            }
        }
        let mut doubts = Vec::new();
        let fixed: Vec<(String, Json)> = names()
            .filter(|name| arguments.iter().all(|(_, taken)| taken != *name))
            .filter_map(|name| Some((name.clone(), self.always(tool, native, name)?.clone())))
            .collect();
        let is_list = |name: &String| {
            let property = &schema["properties"][name.as_str()];
            property["type"] == "array"
                && property["items"]["type"] == "string"
                && self.lists.contains(&normal(name))
        };
        let lists = arguments.iter().map(|(_, native)| native);
        let lists = lists.filter(|name| is_list(name)).cloned().collect();
        let lacking = tool.arguments.iter().filter(|argument| {
            argument.required && arguments.iter().all(|(name, _)| *name != argument.name)
        });
        for argument in lacking {
            doubts.push(format!("no parameter accepts `{}`", argument.name));
        }
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Json::as_str) {
            let stands_for = arguments.iter().find(|(_, native)| native == name);
            let is_always_there = |argument: &str| {
                let mut required = tool.arguments.iter().filter(|it| it.required);
                required.any(|it| it.name == argument)
            };
            let is_fixed = fixed.iter().any(|(fixed, _)| fixed == name);
            match stands_for {
                None if is_fixed => {}
                None => doubts.push(format!(
                    "it needs `{name}`, which has no counterpart: provide it with `fixed` or `texts`"
                )),
                Some((argument, _)) if !is_always_there(argument) => doubts.push(format!(
                    "it needs `{name}`, and calls may leave `{argument}` out"
                )),
                Some(_) => {}
            }
        }
        if !is_named {
            // By arguments alone a tool is like another only if these are all there, and say enough.
            let n_required = tool.arguments.iter().filter(|it| it.required).count();
            if !doubts.is_empty() || n_required == 0 || !is_telling(tool) {
                return None;
            }
            let is_plain = |name: &String| {
                let property = schema["properties"][name.as_str()].as_object();
                let mut keys = property.into_iter().flatten();
                keys.all(|(key, value)| match key.as_str() {
                    "type" => value == "string",
                    key => matches!(key, "description" | "title" | "default" | "examples"),
                })
            };
            let mut required = tool.arguments.iter().filter(|it| it.required);
            let takes_all = required.all(|argument| {
                let mut taken = arguments.iter().filter(|(name, _)| *name == argument.name);
                taken.all(|(_, native)| is_plain(native))
            });
            if !takes_all || !matches!(tool.name, "runCmd" | "writeFile" | "editFile") {
                doubts.push(
                    "its name is not known for this, only its arguments are alike".to_owned(),
                );
            }
        }
        Some(ToolSimilarity {
            arguments,
            lists,
            fixed,
            is_named,
            doubts,
        })
    }

    /// What calls of `tool` pass to `native` as the argument `name`, if that is known and allowed.
    fn always(&self, tool: &AbstractTool, native: &AdvertisedTool, name: &str) -> Option<&Json> {
        let key = (tool.name, normal(&native.name), name.to_owned());
        let value = self.fixed.get(&key)?;
        let allowed = &native.schema()?["properties"][name]["enum"];
        let is_allowed = allowed.as_array().is_none_or(|all| all.contains(value));
        is_allowed.then_some(value)
    }
}

/// Whether the required arguments of a tool are its own, so that they tell it from others.
fn is_telling(tool: &AbstractTool) -> bool {
    matches!(
        tool.name,
        "runCmd" | "writeFile" | "editFile" | "grep" | "todoWrite" | "task"
    )
}
