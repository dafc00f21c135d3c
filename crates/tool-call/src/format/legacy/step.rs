//! One step of version 1.x.

use super::super::reader::{Object, Reader};
use super::actions::Action;
use super::object::{Fate, Layout, change, quoted};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::value::cut;
use cuecard_source::{Edit, Part, Span};

/// The server whose tools the actions are.
const SERVER: &str = "chrome-devtools";

/// The edits that make a step with an `action` one with a `tool`; none if it can't be converted, which is reported.
pub(super) fn edits(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Vec<Edit> {
    let object = Object { node, pointer };
    let Some(member) = node.members().iter().find(|member| member.key == "action") else {
        return Vec::new();
    };
    let Some(action) = action(reader, object, member) else {
        return Vec::new();
    };
    let params = object.get("params");
    if params.is_some_and(|params| !matches!(params.kind, NodeKind::Object(_))) {
        // The reader says so of any step.
        return Vec::new();
    }
    let params_pointer = object.child_pointer("params");
    let mut conversion = Conversion {
        reader,
        action: action.name,
        about: member.key_span,
        params,
        pointer: params_pointer,
        fates: params
            .into_iter()
            .flat_map(Node::members)
            .map(|_| Fate::Keep)
            .collect(),
        target: Vec::new(),
        tool: format!("mcp__{SERVER}__{}", action.tool),
        timeout: None,
    };
    if (action.convert)(&mut conversion).is_none() {
        return Vec::new();
    }
    let Conversion {
        fates,
        target,
        tool,
        timeout,
        ..
    } = conversion;
    let layout = Layout::of(reader.source, node);
    let mut edits = vec![
        Edit {
            at: member.key_span,
            parts: vec![Part::new(quoted("tool"), member.key_span)],
        },
        Edit {
            at: member.value.span,
            parts: vec![Part::new(quoted(&tool), member.value.span)],
        },
    ];
    let end = match params {
        Some(params) => {
            edits.extend(change(params, &fates));
            params.span.end
        }
        None => {
            let none = vec![Part::new("{}", member.key_span)];
            edits.push(layout.insert(member.value.span.end, "params", none, member.key_span));
            member.value.span.end
        }
    };
    if !target.is_empty() && object.get("target").is_none() {
        let about = params.map_or(member.key_span, |params| params.span);
        let value = layout.object(target, about);
        edits.push(layout.insert(end, "target", value, about));
    }
    if let Some(seconds) = timeout.filter(|_| object.get("timeout").is_none()) {
        let value = vec![Part::new(format!("{seconds}"), member.key_span)];
        edits.push(layout.insert(end, "timeout", value, member.key_span));
    }
    edits
}

fn action(reader: &mut Reader<'_>, object: Object<'_>, member: &Member) -> Option<&'static Action> {
    let pointer = object.child_pointer("action");
    let Some(name) = member.value.as_str() else {
        reader.wrong_type(&member.value, &pointer, "`action`", "a string");
        return None;
    };
    let found = Action::find(name);
    if found.is_none() {
        let names = Action::ALL.iter().map(|action| action.name);
        let diagnostic = reader.error(
            codes::ACTION_UNKNOWN,
            member.value.span,
            format!("unknown action `{}` in version 1.x", cut(name, 40)),
        );
        diagnostic.pointer = Some(pointer);
        diagnostic.label =
            did_you_mean(name, names.clone()).map(|name| format!("did you mean `{name}`?"));
        let names: Vec<_> = names.collect();
        diagnostic
            .notes
            .push(format!("valid actions are {}", names.join(", ")));
    }
    found
}

/// A step's parameters under conversion.
pub(super) struct Conversion<'a, 'r, 's> {
    pub reader: &'r mut Reader<'s>,
    /// What the action is called.
    pub action: &'static str,
    /// The action's key: what a message is about when there is no better place.
    pub about: Span,
    params: Option<&'a Node>,
    pointer: String,
    fates: Vec<Fate>,
    /// Members of the step's `target`.
    target: Vec<(&'static str, Vec<Part>)>,
    /// What does the action.
    pub tool: String,
    /// Seconds for the step, if it says none itself.
    pub timeout: Option<u64>,
}

impl<'a> Conversion<'a, '_, '_> {
    /// The parameter called `key`.
    pub(super) fn get(&self, key: &str) -> Option<&'a Member> {
        self.params?
            .members()
            .iter()
            .find(|member| member.key == key)
    }

    /// The only one of several parameters, of which one must be there and more can't be. `None` is reported.
    pub(super) fn one_of(&mut self, keys: &[&'static str]) -> Option<(&'static str, &'a Member)> {
        let mut given = keys
            .iter()
            .filter_map(|key| Some((*key, self.get(key)?)))
            .collect::<Vec<_>>();
        match given.len() {
            1 => given.pop(),
            0 => {
                self.missing(keys);
                None
            }
            _ => {
                let (first, second) = (given[0].0, given[1].0);
                let message = format!(
                    "`{}` has both `{first}` and `{second}`, which mean the same",
                    self.action
                );
                self.error(
                    given[1].1,
                    codes::PARAM_UNKNOWN,
                    message,
                    "remove one of them",
                );
                None
            }
        }
    }

    /// Says that none of these parameters is there.
    pub(super) fn missing(&mut self, keys: &[&str]) {
        let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let span = self.params.map_or(self.about, |params| params.span);
        let message = format!(
            "the action `{}` needs {}",
            self.action,
            super::super::reader::either(&names)
        );
        // A parameter with another name may be the one that is missing.
        let mistyped = self
            .params
            .into_iter()
            .flat_map(Node::members)
            .find_map(|member| {
                let name = did_you_mean(&member.key, keys.iter().copied())?;
                Some((member.key_span, name))
            });
        let place = mistyped.map_or(span, |(span, _)| span);
        let pointer = self.pointer.clone();
        let diagnostic = self.reader.error(codes::PARAM_MISSING, place, message);
        diagnostic.pointer = Some(pointer);
        diagnostic.label = mistyped.map(|(_, name)| format!("did you mean `{name}`?"));
    }

    /// Reports an error about a parameter.
    pub(super) fn error(
        &mut self,
        member: &Member,
        code: cuecard_source::diagnostic::Code,
        message: String,
        help: &str,
    ) {
        let pointer = self.pointer_of(&member.key);
        let diagnostic = self.reader.error(code, member.key_span, message);
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some(help.to_owned());
    }

    pub(super) fn pointer_of(&self, key: &str) -> String {
        let mut pointer = self.pointer.clone();
        cuecard_source::value::push_pointer(&mut pointer, key);
        pointer
    }

    pub(super) fn rename(&mut self, member: &Member, key: &'static str) {
        self.set(
            member,
            Fate::Become {
                key: Some(key),
                value: None,
            },
        );
    }

    pub(super) fn replace(&mut self, member: &Member, key: &'static str, value: Vec<Part>) {
        self.set(
            member,
            Fate::Become {
                key: Some(key),
                value: Some(value),
            },
        );
    }

    pub(super) fn revalue(&mut self, member: &Member, value: Vec<Part>) {
        self.set(
            member,
            Fate::Become {
                key: None,
                value: Some(value),
            },
        );
    }

    pub(super) fn remove(&mut self, member: &Member) {
        self.set(member, Fate::Remove);
    }

    /// Moves a parameter into the step's target.
    pub(super) fn aim(&mut self, key: &'static str, member: &Member) {
        self.target.push((key, vec![Part::Kept(member.value.span)]));
        self.remove(member);
    }

    fn set(&mut self, member: &Member, fate: Fate) {
        let index = self
            .params
            .into_iter()
            .flat_map(Node::members)
            .position(|known| known.key_span == member.key_span);
        if let Some(place) = index.and_then(|index| self.fates.get_mut(index)) {
            *place = fate;
        }
    }
}
