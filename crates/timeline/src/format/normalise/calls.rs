//! Older forms and shorthands of calls: each becomes the body of an `agentToolUse`.

use super::entries::PROGRESS;
use super::{META, Normaliser, child};
use crate::model::vocabulary::{AbstractTool, TOOLS};
use crate::script::events::CALL_KEYS;
use cuecard_source::Span;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::cut;

fn is_of_call(member: &Member) -> bool {
    CALL_KEYS.contains(&member.key.as_str())
}

/// A call of this tool, with its arguments and what else belongs to it.
fn call_of(name: Node, args: Node, own: Vec<Member>, span: Span) -> Node {
    let mut members = vec![
        Member::new("toolName", name.span, name),
        Member::new("args", args.span, args),
    ];
    members.extend(own);
    NodeKind::Object(members).at(span)
}

impl Normaliser<'_, '_> {
    /// `runCmd: {cmd, …}` as a call: the body holds the arguments, and may hold keys of the call.
    pub(super) fn shorthand(&mut self, key: &Member, item: Object<'_>) -> Option<Node> {
        let pointer = item.child_pointer(&key.key);
        let body = &key.value;
        if body.as_object().is_none() {
            self.wrong_type(body, &pointer, &format!("`{}`", key.key), "a mapping");
            return None;
        }
        let (own, args) = body.members().iter().cloned().partition(is_of_call);
        let name = NodeKind::String(key.key.clone()).at(key.key_span);
        let args = NodeKind::Object(args).at(body.span);
        let call = call_of(name, args, own, body.span);
        let places = (&*pointer, &*pointer, &*pointer);
        self.canonical_call(call, places, item.node.members())
    }

    /// `agentToolUse: {toolName, args, …}`.
    pub(super) fn call(&mut self, body: &Node, pointer: &str, beside: &[Member]) -> Option<Node> {
        let mut body = body.clone();
        self.rename_keys(&mut body, pointer, META);
        if body.as_object().is_none() {
            return Some(body);
        }
        let places = ["toolName", "args"].map(|key| child(pointer, key));
        self.canonical_call(body, (pointer, &places[0], &places[1]), beside)
    }

    /// `[[ms, name], {args}, {result}, {status}]` as an element of a response.
    pub(super) fn inline(&mut self, body: &Node, pointer: &str) -> Option<Node> {
        let Some([first, parts @ ..]) = body.as_array() else {
            let wanted = "`[[ms, name], {arguments}, result, status]`";
            self.wrong_type(body, pointer, "`tool`", wanted);
            return None;
        };
        let Some([time, name]) = first.as_array() else {
            let (at, what) = (format!("{pointer}/0"), "the first part of `tool`");
            self.wrong_type(first, &at, what, "`[ms, name]`");
            return None;
        };
        let mut own: Vec<Member> = Vec::new();
        let mut args: Vec<Member> = Vec::new();
        for (idx, part) in parts.iter().enumerate() {
            match part.members() {
                // `{result: …}` and `{status: …}`, or the arguments.
                [only] if is_of_call(only) => own.push(only.clone()),
                [only] if only.key == "args" && only.value.as_object().is_some() => {
                    args.extend(only.value.members().iter().cloned());
                }
                members if part.as_object().is_some() && idx == 0 => {
                    args.extend(members.iter().cloned());
                }
                _ => {
                    let key = if idx == 2 { "status" } else { "result" };
                    own.push(Member::new(key, part.span, part.clone()));
                }
            }
        }
        if time.as_u64() != Some(0) {
            own.push(Member::new("delayMs", time.span, time.clone()));
        }
        let args = NodeKind::Object(args).at(body.span);
        let call = call_of(name.clone(), args, own, body.span);
        let name_at = format!("{pointer}/0/1");
        self.canonical_call(call, (pointer, &name_at, pointer), &[])
    }

    /// The call under canonical names. The three pointers are those of the call, the tool's name and the arguments.
    fn canonical_call(
        &mut self,
        mut call: Node,
        (pointer, name_at, args_at): (&str, &str, &str),
        beside: &[Member],
    ) -> Option<Node> {
        let span = call.span;
        let NodeKind::Object(members) = &mut call.kind else {
            return None;
        };
        for beside in beside.iter().filter(|member| is_of_call(member)) {
            if beside.key != "_meta" && !members.iter().any(|member| member.key == beside.key) {
                members.push(beside.clone());
            }
        }
        let args = members.iter().position(|member| member.key == "args");
        let args = args.unwrap_or_else(|| {
            let none = NodeKind::Object(Vec::new()).at(span);
            members.push(Member::new("args", span, none));
            members.len() - 1
        });
        let id = self.without_call_id(&mut members[args].value, args_at);
        if let Some(id) = id.filter(|id| !members.iter().any(|member| member.key == id.key)) {
            members.push(id);
        }
        let has = |key: &str, is_so: &dyn Fn(&Node) -> bool| {
            members
                .iter()
                .any(|member| member.key == key && is_so(&member.value))
        };
        // What is wrong with a call may be what it is for.
        let is_free = has("rawArguments", &|node| node.as_str().is_some())
            || has("validate", &|node| node.as_bool() == Some(false));
        let name = members.iter().position(|member| member.key == "toolName");
        if let Some(name) = name
            && let Some(written) = members[name].value.as_str().map(str::to_owned)
            && !written.trim().is_empty()
        {
            let name_span = members[name].value.span;
            let spec = self.tool_named(&written, name_span, name_at);
            let written_args = members[args].value.to_value();
            if let Some(spec) = spec {
                members[name].value = NodeKind::String(spec.name.to_owned()).at(name_span);
                let args = &mut members[args].value;
                self.arguments(spec, args, args_at, name_span, !is_free);
            }
            let is_renamed = members[args].value.to_value() != written_args;
            let written = (
                spec.filter(|spec| spec.name != written).map(|_| written),
                is_renamed.then_some(written_args),
            );
            self.written_calls.insert(name_span, written);
        }
        for Member { key, value, .. } in members {
            let at = child(pointer, key);
            match key.as_str() {
                "progress" => self.entries(value, &at, &PROGRESS),
                "status" => self.status(value, &at),
                _ => {}
            }
        }
        Some(call)
    }

    /// The tool that a name means. Reports other spellings, and what may be a slip.
    fn tool_named(
        &mut self,
        text: &str,
        span: Span,
        pointer: &str,
    ) -> Option<&'static AbstractTool> {
        let spec = AbstractTool::meant_by(text);
        match spec {
            Some(tool) if tool.name != text => {
                let message = match tool.agent_names.contains(&text) {
                    true => format!("`{text}` is an agent's own name for `{}`", tool.name),
                    false => format!("`{text}` is an older spelling of `{}`", tool.name),
                };
                let modern = format!("write `{}`", tool.name);
                self.legacy(codes::TIMELINE_TOOL_ALIAS, span, pointer, message, modern);
                self.replace_word(span, tool.name);
            }
            Some(_) => {}
            None if text.starts_with("mcp__") => {}
            None => {
                let names = || TOOLS.iter().map(|tool| tool.name);
                if did_you_mean(text, names()).is_some() {
                    let message = format!("unknown tool `{}`", cut(text, 40));
                    let code = codes::TIMELINE_TOOL_ARGUMENTS;
                    self.warning_at(code, span, pointer, message)
                        .suggest(text, names());
                }
            }
        }
        spec
    }

    /// Takes `toolCallId` out of the arguments, where it doesn't belong.
    fn without_call_id(&mut self, args: &mut Node, pointer: &str) -> Option<Member> {
        let NodeKind::Object(members) = &mut args.kind else {
            return None;
        };
        let idx = members
            .iter()
            .position(|member| member.key == "toolCallId")?;
        let id = members.remove(idx);
        let (code, at) = (codes::TIMELINE_MISPLACED, child(pointer, "toolCallId"));
        let message = "`toolCallId` is not an argument";
        self.legacy(code, id.key_span, &at, message, "put it next to `args`");
        Some(id)
    }

    /// Gives arguments their canonical names. Reports other spellings, and what is unknown; what is missing if the call
    /// `must_be_whole`.
    fn arguments(
        &mut self,
        spec: &AbstractTool,
        args: &mut Node,
        pointer: &str,
        name: Span,
        must_be_whole: bool,
    ) {
        let NodeKind::Object(members) = &mut args.kind else {
            return;
        };
        for idx in 0..members.len() {
            let Member { key, key_span, .. } = members[idx].clone();
            let at = child(pointer, &key);
            if let Some(name) = spec.argument_alias(&key) {
                if members.iter().any(|member| member.key == name) {
                    let message = format!("`{key}` and `{name}` mean the same");
                    self.error_at(codes::TIMELINE_SHAPE, key_span, &at, message);
                    continue;
                }
                self.rename(codes::TIMELINE_TOOL_ALIAS, key_span, &at, &key, name);
                name.clone_into(&mut members[idx].key);
            } else if !spec.has_argument(&key) {
                let message = format!("unknown argument of `{}`: `{}`", spec.name, cut(&key, 40));
                let code = codes::TIMELINE_TOOL_ARGUMENTS;
                self.warning_at(code, key_span, &at, message)
                    .suggest(&key, spec.arguments());
            }
        }
        let is_there = |name: &str| members.iter().any(|member| member.key == name);
        let missing = spec.required.iter().filter(|name| !is_there(name));
        let missing: Vec<String> = missing.map(|name| format!("`{name}`")).collect();
        if must_be_whole && !missing.is_empty() {
            let message = format!("`{}` needs {}", spec.name, missing.join(" and "));
            self.warning_at(codes::TIMELINE_TOOL_ARGUMENTS, name, pointer, message);
        }
    }

    /// Other words for how a call ends.
    fn status(&mut self, node: &mut Node, pointer: &str) {
        let Some(word) = node.as_str().map(str::to_owned) else {
            return;
        };
        let code = codes::TIMELINE_VALUE_ALIAS;
        let name = match word.as_str() {
            "completed" | "success" => "ok",
            "failed" => "error",
            "pending" | "in_progress" => {
                let message =
                    format!("`{word}` means that the call has not finished: no result is sent");
                let modern = "write `ok` or `error` if it finishes";
                return self.legacy(code, node.span, pointer, message, modern);
            }
            _ => return,
        };
        self.rename(code, node.span, pointer, &word, name);
        node.kind = NodeKind::String(name.to_owned());
    }
}
