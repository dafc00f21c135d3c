//! One step of version 1.x.

use super::super::reader::{Reader, either};
use super::actions::{Action, shown};
use super::{find, member, object};
use cuecard_source::Span;
use cuecard_source::diagnostic::{Code, codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::value::{cut, push_pointer};

/// The server whose tools the actions are.
const SERVER: &str = "chrome-devtools";

/// Returns the step with a tool for its action; `None` if it can't be converted, which is reported.
pub(super) fn convert(reader: &mut Reader<'_>, step: &Node, pointer: &str) -> Option<Node> {
    let mut members = step.members().to_vec();
    let position = |key| members.iter().position(|member| member.key == key);
    let (action_at, params_at) = (position("action")?, position("params"));
    let about = members[action_at].key_span;
    let action = action(reader, &members[action_at].value, pointer)?;
    let params = params_at.map(|at| members[at].value.clone());
    let params = params.unwrap_or(object("params", Vec::new(), about).value);
    let NodeKind::Object(given) = params.kind else {
        // The reader says so of any step.
        return None;
    };
    let mut conversion = Conversion {
        reader,
        action: action.name,
        place: params.span,
        pointer: format!("{pointer}/params"),
        params: given,
        target: Vec::new(),
        tool: format!("mcp__{SERVER}__{}", action.tool),
        timeout: None,
    };
    (action.convert)(&mut conversion)?;
    let has = |key| find(step.members(), key).is_some();
    let target = (!conversion.target.is_empty() && !has("target"))
        .then(|| object("target", conversion.target, params.span));
    let timeout = conversion.timeout.filter(|_| !has("timeout"));
    let timeout =
        timeout.map(|seconds| member("timeout", NodeKind::Number(seconds.to_string()), about));
    members[action_at].key = "tool".to_owned();
    members[action_at].value.kind = NodeKind::String(conversion.tool);
    let params = object("params", conversion.params, params.span);
    let behind = match params_at {
        Some(at) => {
            members[at].value = params.value;
            at + 1
        }
        None => {
            members.insert(action_at + 1, params);
            action_at + 2
        }
    };
    members.splice(behind..behind, target.into_iter().chain(timeout));
    Some(Node {
        kind: NodeKind::Object(members),
        span: step.span,
    })
}

fn action(reader: &mut Reader<'_>, node: &Node, step: &str) -> Option<&'static Action> {
    let pointer = format!("{step}/action");
    let name = reader.text_of(node, &pointer, "`action`")?;
    let found = Action::ALL.iter().find(|action| action.name == name);
    if found.is_none() {
        let names = Action::ALL.iter().map(|action| action.name);
        let message = format!("unknown action `{}` in version 1.x", cut(name, 40));
        let found = reader.error_at(codes::ACTION_UNKNOWN, node.span, &pointer, message);
        found.label =
            did_you_mean(name, names.clone()).map(|name| format!("did you mean `{name}`?"));
        let names: Vec<_> = names.collect();
        found
            .notes
            .push(format!("valid actions are {}", names.join(", ")));
    }
    found
}

/// A step's parameters under conversion.
pub(super) struct Conversion<'r, 's> {
    pub reader: &'r mut Reader<'s>,
    /// What the action is called.
    pub action: &'static str,
    /// Where the parameters stand, or the action if there are none.
    place: Span,
    pointer: String,
    params: Vec<Member>,
    /// The members of the step's `target`.
    target: Vec<Member>,
    /// What does the action.
    pub tool: String,
    /// Seconds for the step, if it says none itself.
    pub timeout: Option<u64>,
}

impl Conversion<'_, '_> {
    /// The parameter called `key`.
    pub(super) fn get(&self, key: &str) -> Option<Member> {
        find(&self.params, key).cloned()
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Member> {
        self.params.iter_mut().find(|member| member.key == key)
    }

    /// The only one of several parameters, of which one must be there and more can't be. `None` is reported.
    pub(super) fn one_of(&mut self, keys: &[&str]) -> Option<Member> {
        let given = keys.iter().filter_map(|key| self.get(key));
        let given: Vec<Member> = given.collect();
        match given.as_slice() {
            [] => self.missing(keys),
            [one] => return Some(one.clone()),
            [first, second, ..] => {
                let message = format!(
                    "`{}` has both `{}` and `{}`, which mean the same",
                    self.action, first.key, second.key
                );
                self.error(second, codes::PARAM_UNKNOWN, message, "remove one of them");
            }
        }
        None
    }

    /// Reports a parameter that the action can't have.
    pub(super) fn refuse(&mut self, names: &[&str], why: &str, help: &str) -> Option<()> {
        let Some(member) = names.iter().find_map(|name| self.get(name)) else {
            return Some(());
        };
        let (action, name) = (self.action, &member.key);
        let message = format!("the action `{action}` has no parameter `{name}`: {why}");
        self.error(&member, codes::PARAM_UNKNOWN, message, help);
        None
    }

    /// Says that none of these parameters is there.
    pub(super) fn missing(&mut self, keys: &[&str]) {
        let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("the action `{}` needs {}", self.action, either(&names));
        // A parameter with another name may be the one that is missing.
        let mistyped = self.params.iter().find_map(|member| {
            let name = did_you_mean(&member.key, keys.iter().copied())?;
            Some((member.key_span, name))
        });
        let place = mistyped.map_or(self.place, |(span, _)| span);
        let found = self
            .reader
            .error_at(codes::PARAM_MISSING, place, &self.pointer, message);
        found.label = mistyped.map(|(_, name)| format!("did you mean `{name}`?"));
    }

    /// Reports an error about a parameter.
    pub(super) fn error(&mut self, member: &Member, code: Code, message: String, help: &str) {
        let pointer = self.pointer_of(&member.key);
        let found = self
            .reader
            .error_at(code, member.key_span, &pointer, message);
        found.help = Some(help.to_owned());
    }

    /// Warns about a parameter, at its key or at its value.
    pub(super) fn warn(
        &mut self,
        (key, span): (&str, Span),
        code: Code,
        message: String,
        help: String,
    ) {
        let pointer = self.pointer_of(key);
        let found = self.reader.warning(code, span, message);
        found.pointer = Some(pointer);
        found.help = Some(help);
    }

    pub(super) fn pointer_of(&self, key: &str) -> String {
        let mut pointer = self.pointer.clone();
        push_pointer(&mut pointer, key);
        pointer
    }

    pub(super) fn rename(&mut self, key: &str, new: &str) {
        if let Some(member) = self.get_mut(key) {
            member.key = new.to_owned();
        }
    }

    pub(super) fn set_number(&mut self, key: &str, number: f64) {
        if let Some(member) = self.get_mut(key) {
            member.value.kind = NodeKind::Number(shown(number));
        }
    }

    /// Puts a script in the place of a parameter. Its place is what stands between the quotes there, as of a reference that
    /// the script has taken in.
    pub(super) fn script(&mut self, key: &str, script: String) {
        if let Some(member) = self.get_mut(key) {
            if member.value.as_str().is_some() {
                member.value.span.start += 1;
                member.value.span.end -= 1;
            }
            member.key = "function".to_owned();
            member.value.kind = NodeKind::String(script);
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.params.retain(|member| member.key != key);
    }

    /// Moves a parameter into the step's target, if it is there.
    pub(super) fn aim(&mut self, key: &str) {
        self.target.extend(self.get(key));
        self.remove(key);
    }
}
