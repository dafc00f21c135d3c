//! Reads `assertions`: the struct of each type reads its parameters, and checks them.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::CODES;
use super::context::Ids;
use crate::assertions::combined::{AllOf, AnyOf, Not};
use crate::assertions::parts::{
    Pattern, Patterns, Regexes, Rules, Text, Texts, items, key_of, parts, patterns, regex,
};
use crate::assertions::player_checks::{ExitCode, File, Git, Screen};
use crate::assertions::{Assert, Assertion, Kind};
use crate::model::{CAPABILITIES, Severity};
use crate::values::is_nothing;
use cuecard_source::diagnostic::{Severity as Level, codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Format, Object, Reader, is_custom};
use cuecard_source::value::{cut, push_pointer};

/// What parameters call their mistakes: one that is unknown might be meant to ask for more.
static PARAMS_FORMAT: Format = Format {
    unknown: codes::ASSERT_PARAMS,
    ..CODES
};

/// What to do about a check that always holds.
pub(crate) const ALWAYS: &str = "it always holds: specify the value, or remove it";

/// The parameters of an assertion as they are written, and what checks of them report.
pub(crate) struct Params<'p, 's> {
    reader: &'p mut Reader<'s>,
    object: Object<'p>,
    /// The type, in backticks.
    whose: &'p str,
    /// The id of the assertion.
    pub(crate) id: &'p str,
}

impl<'p> Params<'p, '_> {
    fn get(&self, key: &str) -> Option<&'p Node> {
        self.reader.get(self.object, key)
    }

    /// Whether a parameter is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The text of a parameter; empty if it is none.
    pub(crate) fn text(&self, key: &str) -> &'p str {
        self.get(key).and_then(Node::as_str).unwrap_or_default()
    }

    /// Whether a parameter is a list without items.
    pub(crate) fn is_empty(&self, key: &str) -> bool {
        let items = self.get(key).and_then(Node::as_array);
        items.is_some_and(<[_]>::is_empty)
    }

    /// Whether an object in a parameter has a key of the format, apart from those with an empty list or object.
    pub(crate) fn says_something(&self, key: &str) -> bool {
        let members = self.get(key).map(Node::members).unwrap_or_default();
        members.iter().any(|member| {
            let is_empty = match &member.value.kind {
                NodeKind::Array(items) => items.is_empty(),
                NodeKind::Object(members) => members.is_empty(),
                NodeKind::Null => true,
                _ => false,
            };
            !is_empty && !is_custom(&member.key)
        })
    }

    /// Whether there are no parameters at all.
    pub(crate) fn is_nothing(&self) -> bool {
        self.object.node.members().is_empty()
    }

    /// Reports parameters that don't fit together, at `key` if it is there.
    pub(crate) fn conflict(&mut self, key: &str, message: &str, help: &str) {
        let node = self.get(key);
        let span = node.unwrap_or(self.object.node).span;
        let pointer = match node {
            Some(_) => self.object.child_pointer(key),
            None => self.object.pointer.to_owned(),
        };
        let message = format!("{}: {message}", self.whose);
        let code = codes::ASSERT_PARAMS;
        self.reader.error_at(code, span, &pointer, message).help = Some(help.to_owned());
    }

    /// Reports a lower bound above its upper bound.
    pub(crate) fn ordered<T: PartialOrd>(
        &mut self,
        (low_key, low): (&str, Option<T>),
        (high_key, high): (&str, Option<T>),
    ) {
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            let message =
                format!("`{low_key}` is greater than `{high_key}`, so this can never hold");
            self.conflict(high_key, &message, "swap them, or correct one");
        }
    }

    /// Reports an exact number beside bounds.
    pub(crate) fn exact_alone(&mut self, exact: &str, bounds: &[&str]) {
        for bound in bounds {
            if self.has(exact) && self.has(bound) {
                let message = format!("`{exact}` and `{bound}` are redundant");
                self.conflict(bound, &message, "keep one of them");
            }
        }
    }

    /// Reports a list of tools whose results count that is empty.
    pub(crate) fn some_sources(&mut self) {
        if self.is_empty("allowed_sources") {
            let message = "`allowed_sources` is empty, so nothing could be supported";
            let help = "name the tools, or write [\"*\"] for every tool";
            self.conflict("allowed_sources", message, help);
        }
    }

    /// Reports items of a list that are no JSON pointers.
    pub(crate) fn check_pointers(&mut self, key: &str) {
        let pointer = self.object.child_pointer(key);
        let Some(node) = self.get(key) else {
            return;
        };
        items(self.reader, node, &pointer, |reader, item, pointer, _| {
            let text = item
                .as_str()
                .filter(|text| !is_nothing(text) && !text.starts_with('/'))?;
            let text = cut(text, 60);
            let message = format!("`{text}` is not a valid JSON pointer: it must start with `/`");
            reader.error_at(codes::ASSERT_PATTERN, item.span, pointer, message);
            Some(())
        });
    }

    /// Compiles the patterns of a parameter.
    pub(crate) fn patterns(&mut self, key: &str, rules: Rules) -> Patterns {
        let pointer = self.object.child_pointer(key);
        let node = self.get(key);
        Patterns(
            node.map(|node| patterns(self.reader, node, &pointer, rules))
                .unwrap_or_default(),
        )
    }

    /// Compiles the regular expression of a parameter.
    pub(crate) fn regex(&mut self, key: &str, rules: Rules) -> Pattern {
        let pointer = self.object.child_pointer(key);
        let node = self.get(key);
        Pattern(
            node.and_then(|node| regex(self.reader, node, &pointer, &format!("`{key}`"), rules)),
        )
    }

    /// Compiles the regular expressions of an object in a parameter.
    pub(crate) fn regexes(&mut self, outer: &str, inner: &str, rules: Rules) -> Regexes {
        let mut pointer = self.object.child_pointer(outer);
        push_pointer(&mut pointer, inner);
        let Some(node) = self
            .get(outer)
            .and_then(|node| node.get(inner))
            .filter(|node| !node.is_null())
        else {
            return Regexes::default();
        };
        let object = Object {
            node,
            pointer: &pointer,
        };
        if node.as_object().is_none() {
            self.reader
                .wrong_type(node, &pointer, &format!("`{inner}`"), "an object");
        }
        let members = node.members().iter().filter_map(|member| {
            let what = format!("`{inner}.{}`", cut(&member.key, 60));
            let pointer = object.child_pointer(&member.key);
            let regex = regex(self.reader, &member.value, &pointer, &what, rules)?;
            Some((member.key.clone(), regex))
        });
        Regexes(members.collect())
    }
}

/// Reads the parameters of a type, and checks them.
pub(crate) fn read_params<A: Assert>(params: &mut Params<'_, '_>) -> Option<A> {
    let Object { node, pointer } = params.object;
    let whose = params.whose;
    let mut read = params.reader.with_format(&PARAMS_FORMAT, |reader| {
        reader.decoded::<A>(node, pointer, whose)
    });
    for unknown in read
        .diagnostics
        .iter_mut()
        .filter(|found| found.code == PARAMS_FORMAT.unknown)
    {
        unknown.severity = Level::Error;
    }
    params.reader.diagnostics.extend(read.diagnostics);
    let mut assertion = read.value.filter(|_| read.is_whole)?;
    assertion.check(params);
    Some(assertion)
}

parts! {
    /// The entries of `assertions`. One reader reads them all, since it bounds their patterns together.
    pub(super) Assertions(Vec<Assertion>) as [Assertion], {}, assertions;
    /// `type`.
    TypeName(()) as (), {}, |reader, node, pointer| kind(reader, node, pointer).map(|_| ());
    /// What an entry is around, which its type reads.
    Around(()) as (), {}, |_, _, _| Some(());
    /// An object.
    pub(super) AnyObject(()) as (), { "type": "object" }, |reader, node, pointer| {
        if node.as_object().is_none() {
            reader.wrong_type(node, pointer, "`params`", "an object");
        }
        node.as_object().map(|_| ())
    };
}

/// An entry of `assertions` without what its type says.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "assertion")]
pub(super) struct Entry {
    /// Name of the assertion, unique in its test case (default: its type, with a number from the second on).
    id: Option<Text>,
    /// What is asserted.
    #[allow(
        dead_code,
        reason = "it is looked up once more, since this one may stand for another"
    )]
    r#type: Option<TypeName>,
    /// Whether it fails the test (default: critical) or only warns.
    severity: Option<Severity>,
    /// Capabilities that the trace must have; otherwise the assertion is skipped.
    #[serde(default)]
    requires_capabilities: Texts,
    /// The parameters of the type.
    #[allow(dead_code, reason = "they are read by the type")]
    params: Option<AnyObject>,
    /// Assertions, one of which must hold.
    #[allow(dead_code, reason = "it is read as a type")]
    any_of: Option<Around>,
    /// Assertions that must all hold.
    #[allow(dead_code, reason = "it is read as a type")]
    all_of: Option<Around>,
    /// An assertion that must not hold.
    #[allow(dead_code, reason = "it is read as a type")]
    not: Option<Around>,
}

/// The types that are written as keys of their own, around other assertions.
pub(super) const AROUND: [&str; 3] = [AnyOf::TYPE, AllOf::TYPE, Not::TYPE];

/// What the player checks under the id of its assertion.
const PLAYER_CHECKS: [&str; 4] = [File::TYPE, Git::TYPE, ExitCode::TYPE, Screen::TYPE];

fn kind(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<&'static Kind> {
    let text = reader.text_of(node, pointer, "`type`")?;
    let kind = Kind::of_name(text);
    if kind.is_none() {
        let proposal = did_you_mean(text, Kind::ALL.iter().map(|kind| kind.name));
        let message = format!("unknown assertion type `{}`", cut(text, 60));
        let found = reader.error_at(codes::ASSERT_TYPE, node.span, pointer, message);
        found.label = proposal.map(|name| format!("did you mean `{name}`?"));
        found.help = Some("`cuecard explain J-ASSERT-01` lists all types".to_owned());
    }
    kind
}

fn assertions(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Vec<Assertion>> {
    let Some(items) = node.as_array() else {
        reader.wrong_type(node, pointer, "`assertions`", "a list");
        return None;
    };
    if items.is_empty() {
        let message = "this test case asserts nothing, so it passes whatever happens";
        let diagnostic = reader.warning(codes::CASE_EMPTY, node.span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        let example = "assertions: [ { id: …, type: must_call_tool, params: { tool: … } } ]";
        diagnostic.help = Some(format!("write {example}"));
    }
    Some(entries(reader, items, pointer))
}

/// Reads entries. One without an id is called as its type, with a number from the second on.
fn entries(reader: &mut Reader<'_>, items: &[Node], pointer: &str) -> Vec<Assertion> {
    let given = |item: &'_ Node| item.get("id").and_then(Node::as_str).map(str::to_owned);
    let mut taken: HashSet<String> = items.iter().filter_map(given).collect();
    let mut ids = Ids::new("two assertions have");
    let items = items.iter().enumerate().filter_map(|(idx, item)| {
        let pointer = format!("{pointer}/{idx}");
        let assertion = assertion(reader, item, &pointer, &mut taken);
        if let Some(id) = item.get("id")
            && let Some(text) = id.as_str()
        {
            ids.add(reader, text, id.span, &format!("{pointer}/id"));
        }
        assertion
    });
    items.collect()
}

/// Reads the assertions that another one is around.
pub(crate) fn read_parts(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
) -> Option<Vec<Assertion>> {
    let what = || key_of(pointer);
    let Some(items) = node.as_array() else {
        reader.wrong_type(node, pointer, &what(), "a list of assertions");
        return None;
    };
    if items.is_empty() {
        let message = format!("{} is empty", what());
        reader.error_at(codes::CASE_FIELD_VALUE, node.span, pointer, message);
    }
    for (idx, item) in items.iter().enumerate() {
        check_part(reader, item, &format!("{pointer}/{idx}"));
    }
    Some(entries(reader, items, pointer))
}

/// Reads the one assertion that another one is around.
pub(crate) fn read_part(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
) -> Option<Vec<Assertion>> {
    check_part(reader, node, pointer);
    assertion(reader, node, pointer, &mut HashSet::new()).map(|part| vec![part])
}

/// Refuses what only a whole assertion can have.
fn check_part(reader: &mut Reader<'_>, node: &Node, pointer: &str) {
    let object = Object { node, pointer };
    if let Some(severity) = reader.get(object, "severity") {
        let message = "`severity` is one of the whole, not of a part";
        let pointer = object.child_pointer("severity");
        reader
            .error_at(codes::ASSERT_PARAMS, severity.span, &pointer, message)
            .help = Some("remove it, or move it beside the outermost assertion".to_owned());
    }
    if let Some(kind) = reader.get(object, "type")
        && let Some(name) = kind.as_str().filter(|name| PLAYER_CHECKS.contains(name))
    {
        let message = format!("`{name}` can't be part of another assertion: the player checks it");
        let pointer = object.child_pointer("type");
        reader
            .error_at(codes::ASSERT_PARAMS, kind.span, &pointer, message)
            .help = Some("make it an assertion of its own".to_owned());
    }
}

/// Returns what an entry asserts: its type with `params`, or what it is around.
fn asserted<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
) -> Option<(&'static Kind, Option<&'n Node>)> {
    let named = object.node.members().iter();
    let mut named = named.filter(|member| {
        (member.key == "type" || AROUND.contains(&&*member.key)) && !member.value.is_null()
    });
    let Some(first) = named.next() else {
        reader.required(object, "type", "this assertion", "type: must_call_tool");
        return None;
    };
    if let Some(second) = named.next() {
        let message = format!("`{}` and `{}` are two assertions", first.key, second.key);
        let pointer = object.child_pointer(&second.key);
        reader
            .error_at(codes::ASSERT_PARAMS, second.key_span, &pointer, message)
            .help = Some("write each as an entry of its own".to_owned());
        return None;
    }
    if first.key == "type" {
        return Some((
            Kind::of_name(first.value.as_str()?)?,
            reader.get(object, "params"),
        ));
    }
    if let Some(params) = reader.get(object, "params") {
        let message = format!("`params` are those of a type, and `{}` has none", first.key);
        let pointer = object.child_pointer("params");
        reader
            .error_at(codes::ASSERT_PARAMS, params.span, &pointer, message)
            .help = Some("remove `params`".to_owned());
    }
    Some((Kind::of_name(&first.key)?, Some(&first.value)))
}

fn assertion(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    taken: &mut HashSet<String>,
) -> Option<Assertion> {
    let read = reader.decoded::<Entry>(node, pointer, "this assertion");
    reader.diagnostics.extend(read.diagnostics);
    let entry = read.value?;
    let object = Object { node, pointer };
    let mut capabilities = entry.requires_capabilities.0;
    misspelt_capabilities(reader, object, &capabilities);
    let (kind, params) = asserted(reader, object)?;
    let id = entry.id.map_or_else(
        || {
            let numbered = (2..).map(|number| format!("{}_{number}", kind.name));
            let mut names = std::iter::once(kind.name.to_owned()).chain(numbered);
            let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
            taken.insert(free.clone());
            free
        },
        |id| id.0,
    );
    let empty = Node {
        kind: NodeKind::Object(Vec::new()),
        span: node.span,
    };
    let params = params.unwrap_or(&empty);
    let is_around = AROUND.contains(&kind.name);
    // What is no object was reported.
    (is_around || params.as_object().is_some()).then_some(())?;
    let key = if is_around { kind.name } else { "params" };
    let check = (kind.read)(&mut Params {
        reader,
        object: Object {
            node: params,
            pointer: &object.child_pointer(key),
        },
        whose: &format!("`{}`", kind.name),
        id: &id,
    });
    for required in kind.needs {
        if !capabilities.iter().any(|one| one == required) {
            capabilities.push((*required).to_owned());
        }
    }
    Some(Assertion {
        id,
        severity: entry.severity.unwrap_or_default(),
        requires_capabilities: capabilities,
        check: check?,
        params: params.to_value(),
        span: node.span,
    })
}

/// Refuses a capability that is written almost as a known one: an assertion that needs what no trace has is skipped.
fn misspelt_capabilities(reader: &mut Reader<'_>, object: Object<'_>, names: &[String]) {
    let known = || CAPABILITIES.iter().map(|(name, _)| *name);
    let unknown = names.iter().filter(|name| !known().any(|one| one == *name));
    for name in unknown {
        let Some(meant) = did_you_mean(name, known()) else {
            continue;
        };
        let key = "requires_capabilities";
        let span = object.get(key).map_or(object.node.span, |node| node.span);
        let message = format!("unknown trace capability `{}`", cut(name, 60));
        let diagnostic = reader.error(codes::ASSERT_NEVER, span, message);
        diagnostic.pointer = Some(object.child_pointer(key));
        diagnostic.label = Some(format!("did you mean `{meant}`?"));
        diagnostic.help = Some("with it, the assertion is always skipped".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_unknown_types_lists_all() {
        let page = codes::ASSERT_TYPE.page();
        for kind in Kind::ALL {
            assert!(page.contains(&format!("`{}`", kind.name)), "{}", kind.name);
        }
    }
}
