//! What the structs of the format can't say: what must not stand together, what is empty, what can hold of nothing.

use std::borrow::Cow;

use super::lint::Literals;
use super::params::{check as check_params, maybe_milliseconds};
use super::pieces::span_of;
use super::reader::{Object, Reader};
use super::template::{has_braces, is_name, way};
use crate::model::{
    Answers, BuiltinTool, ElicitationAction, ElicitationAnswer, Expectation, ExpectedElements,
    OnError, Parse, PathSegment, QuestionMatch, RetryRule, Step, Target, TargetPlace, Template,
    Text, ToolName, holder, is_role, roles,
};
use cuecard_source::diagnostic::{Code, codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::matching::takes_all;
use cuecard_source::value::{Json, REDACTED, cut};
use cuecard_source::{Span, checked};
use regex::Regex;

checked!(
    Answers,
    ElicitationAnswer,
    Expectation,
    ExpectedElements,
    QuestionMatch,
    RetryRule,
    Target,
    TargetPlace,
);
checked!(always Step);

/// What servers call the parameter that names an element of a page.
const ID_PARAMS: &[&str] = &["uid", "ref", "target"];

/// A step has at most this many targets.
const MOST_TARGETS: usize = 100;

/// Answers of one kind are at most this many.
const MAX_ANSWERS: usize = 1_000;

impl Step {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
        self.tool_span = span_of(object, "tool");
        self.params_span = span_of(object, "params");
        let node = object.get("params");
        self.literals =
            node.and_then(|node| Literals::of(&self.tool, node, &object.child_pointer("params")));
        params(reader, &self.tool, object);
        id(reader, object, &self.tool, !self.outputs.is_empty());
        names(reader, object);
        if let Some(name) = self.element.take() {
            match &mut self.for_each {
                Some(for_each) => {
                    for_each.name = name.into();
                    for_each.name_span = span_of(object, "as");
                }
                None => {
                    let message = "this `as` has no effect without `for_each`";
                    let span = span_of(object, "as");
                    reader.warning(codes::FIELD_UNKNOWN, span, message).help =
                        Some("remove it, or add \"for_each\": […]".to_owned());
                }
            }
        }
        if self.effect.is_some() && self.on_error == OnError::Retry {
            let message = "`\"on_error\": \"retry\"` repeats an effect that must not happen twice";
            let help = "remove it, or `\"effect\": \"once\"`";
            wrong(
                reader,
                codes::FIELD_VALUE,
                (object, "on_error"),
                message,
                help,
            );
        }
        if let (Some(_), Some(node)) = (&self.retry, object.get("retry"))
            && self.on_error != OnError::Retry
        {
            let message = "this `retry` has no effect";
            let found = reader.warning(codes::RETRY_UNUSED, node.span, message);
            found.pointer = Some(object.child_pointer("retry"));
            found.help = Some("add \"on_error\": \"retry\"".to_owned());
        }
        for key in ["wait_after", "timeout"] {
            let node = reader.get(object, key);
            if let Some((node, seconds)) = node.and_then(|node| Some((node, seconds_of(node)?))) {
                maybe_milliseconds(reader, key, node, seconds);
            }
        }
        self.check_parse(reader, object);
        if object.get("expect").and_then(Node::as_array) == Some(&[]) {
            checks_nothing(reader, (object, "expect"));
        }
        self.check_targets(reader, object);
        if self.description.is_none() && self.tool == ToolName::Builtin(BuiltinTool::Bash) {
            // A command is described by what it is said to be for.
            let is_text = |text: &Template| matches!(text, Template::Literal(Json::String(_)));
            let text = self.params.member("description").map(Cow::into_owned);
            self.description = text.filter(is_text).map(Text);
        }
    }

    /// A built-in tool answers with an object, and has no text or list of blocks that could be the result instead.
    fn check_parse(&self, reader: &mut Reader<'_>, object: Object<'_>) {
        let kind = match self.parse {
            Parse::Content => "a list of content blocks",
            Parse::Text => "text",
            _ => return,
        };
        if let ToolName::Builtin(tool) = self.tool {
            let message = format!("the result of {} is an object, not {kind}", tool.name());
            let help = "remove `parse`, and select the field you need in `output`";
            wrong(reader, codes::FIELD_VALUE, (object, "parse"), message, help);
        }
    }

    fn check_targets(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        for key in ["target", "targets"] {
            let (Some(_), ToolName::Builtin(tool)) = (reader.get(object, key), &self.tool) else {
                continue;
            };
            let message = format!("{} does not act on an element of a page", tool.name());
            let help = "only tools of a browser's MCP server accept targets";
            return wrong(reader, codes::TARGET_INVALID, (object, key), message, help);
        }
        let params = object.get("params").map_or(&[][..], Node::members);
        let id = params
            .iter()
            .find(|member| ID_PARAMS.contains(&member.key.as_str()));
        if let (Some(id), true) = (id, reader.get(object, "target").is_some()) {
            let pointer = format!("{}/{}", object.child_pointer("params"), id.key);
            named_twice(reader, &id.key, id.key_span, "target", &pointer);
        }
        let Some(node) = reader.get(object, "targets") else {
            return;
        };
        let count = node.members().len();
        if (count == 0 && matches!(node.kind, NodeKind::Object(_))) || count > MOST_TARGETS {
            let message = match count {
                0 => "`targets` is empty".to_owned(),
                _ => format!("a step has {count} targets, more than {MOST_TARGETS}"),
            };
            let help = "give each parameter its element: \"targets\": { \"elements[0].uid\": { \"role\": \"textbox\", \"name\": \"E-mail\" } }";
            wrong(
                reader,
                codes::TARGET_INVALID,
                (object, "targets"),
                message,
                help,
            );
        }
        let below = Object {
            node,
            pointer: &object.child_pointer("targets"),
        };
        self.targets.retain_mut(|target| {
            let mut members = node.members().iter();
            let member = members.find(|member| member.key == target.param.written);
            let path = member.and_then(|member| {
                let pointer = below.child_pointer(&member.key);
                param(reader, object, &member.key, member.key_span, &pointer)
            });
            target.param.path = path.unwrap_or_default();
            !target.param.path.is_empty()
        });
    }
}

/// The literal number of a value.
fn seconds_of(node: &Node) -> Option<f64> {
    match &node.kind {
        NodeKind::String(text) => text.trim().parse().ok(),
        _ => node.as_f64(),
    }
}

fn params(reader: &mut Reader<'_>, tool: &ToolName, step: Object<'_>) {
    let Some(node) = step.get("params") else {
        return;
    };
    let pointer = step.child_pointer("params");
    if let (ToolName::Builtin(tool), NodeKind::Object(_)) = (tool, &node.kind) {
        let pointer = &pointer;
        check_params(reader, *tool, Object { node, pointer });
    }
    if let Some(at) = reader.source.slice(node.span).find(REDACTED) {
        let start = node.span.start as usize + at;
        let span = Span::new(start, start + REDACTED.len());
        let message = format!("a parameter contains `{REDACTED}`, which stands where a secret was");
        reader.error_at(codes::FIELD_VALUE, span, &pointer, message).help = Some(
            "write `{{NAME}}` there, declare `\"NAME\": \"\"` under `variables`, and give its value with CUECARD_VAR_NAME"
                .to_owned(),
        );
    }
}

fn id(reader: &mut Reader<'_>, step: Object<'_>, tool: &ToolName, has_outputs: bool) {
    if !has_outputs || reader.get(step, "id").is_some() {
        return;
    }
    let name = tool.text();
    let name = name.rsplit("__").next().filter(|name| !name.is_empty());
    let proposal = name.unwrap_or("result");
    let mut members = step.node.members().iter();
    let output = members.find(|member| member.key == "output");
    let span = output.map_or(step.node.span, |member| member.key_span);
    let message = "a step with `output` needs an `id`, or nothing can refer to its outputs";
    let found = reader.warning(codes::ID_MISSING, span, message);
    found.pointer = Some(step.child_pointer("output"));
    found.help = Some(format!("add \"id\": \"{proposal}\""));
}

/// Reports names of the step, its element, its group and its outputs that references can't have.
fn names(reader: &mut Reader<'_>, step: Object<'_>) {
    let has_element = step.get("for_each").is_some();
    let keys = ["id", "as", "group"].into_iter();
    let keys = keys.filter(|key| *key != "as" || has_element);
    let own = keys.filter_map(|key| {
        let node = step.get(key)?;
        let what = format!("`{key}`");
        Some((what, node.as_str()?, node.span, step.child_pointer(key)))
    });
    let outputs = step.get("output").map_or(&[][..], Node::members);
    let outputs = outputs.iter().map(|member| {
        let pointer = format!("{}/{}", step.child_pointer("output"), member.key);
        let what = "an output".to_owned();
        (what, member.key.as_str(), member.key_span, pointer)
    });
    for (what, name, span, pointer) in own.chain(outputs) {
        check_name(reader, (name, &what), span, &pointer);
    }
}

/// Reports a name that references can't have.
pub(super) fn check_name(
    reader: &mut Reader<'_>,
    (name, what): (&str, &str),
    span: Span,
    pointer: &str,
) {
    if name.is_empty() || !name.chars().all(is_name) {
        let name = cut(name, 100);
        let message = format!("`{name}` is not a valid name for {what}");
        let found = reader.error_at(codes::ID_INVALID, span, pointer, message);
        found.help = Some("use letters, digits, `_` and `-`".to_owned());
    }
}

/// The way to the parameter that a target is for: it must lead to where a value can be put.
fn param(
    reader: &mut Reader<'_>,
    step: Object<'_>,
    written: &str,
    span: Span,
    pointer: &str,
) -> Option<Vec<PathSegment>> {
    let shown = cut(written, 60);
    let (message, help) = match way(written) {
        Err(reason) => (
            format!("`{shown}` is not a valid parameter path: {reason}"),
            "write a path such as \"elements[0].uid\" or \"to_uid\"",
        ),
        Ok(path) => {
            let params = step.get("params")?;
            let mut values = params.to_value();
            match holder(values.as_object_mut()?, &path) {
                Some((object, key)) if object.contains_key(key) => {
                    named_twice(reader, written, span, "targets", pointer);
                    return Some(path);
                }
                Some(_) => return Some(path),
                // What a reference stands for is known only in the run.
                None if has_braces(params) => return Some(path),
                None => (
                    format!("`{shown}` does not lead to a key of an object in `params`"),
                    "write the parameters as they are without the ids of elements: \"elements\": [{ \"value\": \"…\" }]",
                ),
            }
        }
    };
    let found = reader.error_at(codes::TARGET_INVALID, span, pointer, message);
    found.help = Some(help.to_owned());
    None
}

fn named_twice(reader: &mut Reader<'_>, param: &str, span: Span, by: &str, pointer: &str) {
    let param = cut(param, 60);
    let message = format!("the element is given twice, by `{param}` in `params` and by `{by}`");
    reader
        .error_at(codes::TARGET_INVALID, span, pointer, message)
        .help = Some(format!(
        "remove it from `params`: the target gives the call its `{param}`"
    ));
}

impl Target {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
        let role = self.role.as_ref();
        if !element(
            reader,
            object,
            "target",
            role,
            &["name", "text", "selector"],
        ) {
            let message = match has_any(reader, object, &["within", "nth"]) {
                true => "this target says where the element is, but not what it is",
                false => "this target does not identify an element",
            };
            let help = "give the element's role and name, its text, or a CSS selector: \"target\": { \"role\": \"button\", \"name\": \"Sign in\" }";
            wrong(reader, codes::TARGET_INVALID, (object, ""), message, help);
        }
        if let (Some(0), Some(node)) = (self.nth, object.get("nth")) {
            reader.wrong_type(
                node,
                &object.child_pointer("nth"),
                "`nth`",
                "a positive integer",
            );
        }
    }
}

impl TargetPlace {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let role = self.role.as_ref();
        if !element(reader, object, "within", role, &["name", "text"]) {
            let message = "`within` does not identify a container";
            let help = "give its role, its name, or both: \"within\": { \"role\": \"row\", \"name\": \"Invoice 1\" }";
            wrong(reader, codes::TARGET_INVALID, (object, ""), message, help);
        }
    }
}

impl ExpectedElements {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let role = self.role.as_ref();
        if !element(reader, object, "elements", role, &["name", "text"]) {
            let message = "`elements` does not say which elements";
            let help = "give their role, their name or their text: \"elements\": { \"role\": \"button\", \"name\": \"Delete\", \"count\": 3 }";
            wrong(reader, codes::EXPECT_INVALID, (object, ""), message, help);
        }
        let (least, most) = self.count.bounds();
        let has_bound = |count: &&Node| count.get("min").or(count.get("max")).is_some();
        if let Some(node) = object.get("count")
            && matches!(node.kind, NodeKind::Object(_))
            && (most.is_some_and(|most| most < least) || !has_bound(&node))
        {
            let expected = "a non-negative integer, or an object with integers `min` and `max`";
            reader.wrong_type(node, &object.child_pointer("count"), "`count`", expected);
        }
    }
}

/// Reports the value of a key, or with an empty key the object.
fn wrong(
    reader: &mut Reader<'_>,
    code: Code,
    (object, key): (Object<'_>, &str),
    message: impl Into<String>,
    help: &str,
) {
    let pointer = match key {
        "" => object.pointer.to_owned(),
        key => object.child_pointer(key),
    };
    let found = reader.error_at(code, span_of(object, key), &pointer, message);
    found.help = (!help.is_empty()).then(|| help.to_owned());
}

fn has_any(reader: &Reader<'_>, object: Object<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| reader.get(object, key).is_some())
}

/// Reports texts of an element that are empty, and a role that is none. Returns whether there is any of them.
fn element(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    whose: &str,
    role: Option<&Text>,
    keys: &[&str],
) -> bool {
    for key in ["role"].iter().chain(keys) {
        let text = object.get(key).and_then(Node::as_str);
        if text.is_some_and(|text| text.trim().is_empty()) {
            let message = format!("`{whose}.{key}` is empty");
            wrong(reader, codes::TARGET_INVALID, (object, key), message, "");
        }
    }
    if let (Some(Text(Template::Literal(Json::String(role)))), Some(node)) =
        (role, object.get("role"))
        && !is_role(role)
        && !role.trim().is_empty()
    {
        let proposal = did_you_mean(&role.to_lowercase(), roles().iter().copied());
        let message = format!("unknown role `{}`", cut(role, 40));
        let pointer = object.child_pointer("role");
        let found = reader.error_at(codes::TARGET_INVALID, node.span, &pointer, message);
        found.label = proposal.map(|role| format!("did you mean `{role}`?"));
        found.help = Some(
            "use an ARIA role, such as button, link, textbox, checkbox, combobox, heading, row"
                .to_owned(),
        );
    }
    has_any(reader, object, &["role"]) || has_any(reader, object, keys)
}

impl RetryRule {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if let (Template::Literal(Json::Number(count)), Some(node)) =
            (&*self.count, object.get("count"))
            && count
                .as_f64()
                .is_some_and(|count| count.fract() != 0.0 || count > 1000.0)
        {
            let pointer = object.child_pointer("count");
            reader.wrong_type(node, &pointer, "`retry.count`", "an integer up to 1000");
        }
        let is_empty = |text: &Node| text.as_str() == Some("");
        if let Some(node) = object.get("condition")
            && (is_empty(node)
                || node
                    .as_array()
                    .is_some_and(|all| all.is_empty() || all.iter().any(is_empty)))
        {
            let message = "`retry.condition` is empty: every error would match";
            let help = "remove it to retry after every error";
            wrong(
                reader,
                codes::FIELD_VALUE,
                (object, "condition"),
                message,
                help,
            );
        }
    }
}

impl Expectation {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
        let matches = self.matches.as_ref().map(|pattern| &pattern.0);
        for member in object.node.members() {
            let what = match (member.key.as_str(), &member.value.kind) {
                ("contains" | "matches", NodeKind::String(text)) if text.is_empty() => "is empty",
                ("matches", _) if matches.is_some_and(matches_everything) => "needs no character",
                ("shows" | "lacks", NodeKind::String(text)) if text.trim().is_empty() => "is empty",
                ("json_schema", NodeKind::Object(members)) if members.is_empty() => "is empty",
                ("json_schema", NodeKind::Bool(true)) => "is true",
                ("json_schema", NodeKind::Object(_)) if takes_all(&member.value.to_value()) => {
                    "is without a requirement"
                }
                _ => continue,
            };
            let message = format!("`{}` {what}: it matches everything", member.key);
            let help = "remove it, or say what is expected";
            wrong(
                reader,
                codes::EXPECT_INVALID,
                (object, &member.key),
                message,
                help,
            );
        }
        if let (Some(limit), Some(node)) = (self.max_ms, object.get("max_ms"))
            && limit < 0.0
        {
            let pointer = object.child_pointer("max_ms");
            reader.wrong_type(
                node,
                &pointer,
                "`max_ms`",
                "a non-negative number of milliseconds",
            );
        }
        let is_compared = object.get("equals").or(object.get("contains")).is_some();
        if !is_compared && !has_any(reader, object, &TESTS[2..]) {
            checks_nothing(reader, (object, ""));
        }
    }
}

/// The checks of an expectation.
const TESTS: &[&str] = &[
    "equals",
    "contains",
    "matches",
    "json_schema",
    "max_ms",
    "shows",
    "lacks",
    "elements",
];

/// Whether a pattern matches texts that have nothing in common.
fn matches_everything(regex: &Regex) -> bool {
    let long = "x".repeat(100_000);
    let texts = ["", "a", "7", "\n\n", " \t", "§ \u{1}", "\"{}\"", &long];
    texts.iter().all(|text| regex.is_match(text))
}

fn checks_nothing(reader: &mut Reader<'_>, place: (Object<'_>, &str)) {
    let message = "this expectation checks nothing";
    let help = format!("add one of {}", TESTS.join(", "));
    wrong(reader, codes::EXPECT_INVALID, place, message, &help);
}

impl Answers {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        for key in ["roots", "sampling", "elicitation"] {
            let answers = object.get(key).and_then(Node::as_array);
            let count = answers.map_or(0, <[Node]>::len);
            if count > MAX_ANSWERS {
                let message =
                    format!("there are {count} answers, more than the limit of {MAX_ANSWERS}");
                wrong(reader, codes::ANSWER_INVALID, (object, key), message, "");
            }
        }
    }
}

impl ElicitationAnswer {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let node = object.get("match").unwrap_or(object.node);
        let mut members = node.members().iter();
        if let Some(model) = members.find(|member| member.key == "model") {
            let message = "unknown key `model` in `match`: only requests for sampling name models";
            reader.warning(codes::FIELD_UNKNOWN, model.key_span, message);
            let pointer = &object.child_pointer("match");
            question(reader, Object { node, pointer }, &QUESTION[..4]);
        }
        if !has_any(reader, object, &["content", "action"]) {
            let message = "this answer has neither `content` nor `action`";
            let help = "\"action\": \"accept\" sends the form's defaults, \"content\": { … } sends those values";
            wrong(reader, codes::ANSWER_INVALID, (object, ""), message, help);
        }
        let action = self.action.unwrap_or_default();
        if let (Some(_), true) = (&self.content, action != ElicitationAction::Accept) {
            let message = format!(
                "an answer with the action `{}` can't have content",
                action.as_str()
            );
            let help = "remove `content`, or write \"action\": \"accept\"";
            wrong(
                reader,
                codes::ANSWER_INVALID,
                (object, "content"),
                message,
                help,
            );
        }
    }
}

impl QuestionMatch {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        question(reader, object, QUESTION);
    }
}

/// The keys of `match`.
const QUESTION: &[&str] = &["contains", "equals", "matches", "server", "model"];

fn question(reader: &mut Reader<'_>, object: Object<'_>, keys: &[&str]) {
    if !has_any(reader, object, keys) {
        let message = "this `match` checks nothing";
        let keys = keys.join(", ");
        let help = format!("add one of {keys}, or omit `match` to match every question");
        wrong(reader, codes::ANSWER_INVALID, (object, ""), message, &help);
    }
}
