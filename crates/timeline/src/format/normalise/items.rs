//! The items of `timeline`: which event each is, in whatever form it is written.

use std::borrow::Cow;

use super::super::schema::keys_of;
use super::convert::Rewritten;
use super::response::ELEMENTS;
use super::{MARKERS, META, Normaliser, child, member};
use crate::model::vocabulary::{AbstractTool, TOOLS};
use crate::script::events::{ANSWER_KEYS, CALL_KEYS, EVENTS, EventRow};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Object, either, first_character, found};
use cuecard_source::value::cut;

/// Keys that may stand beside every event.
const EVERYWHERE: &[&str] = &["_meta", "fault"];

/// Keys of lists of events that stand for their events.
pub(in crate::format) const WRAPPERS: &[&str] = &["agentActions", "userActions"];

/// Other keys of events, with what they mean.
const EVENT_ALIASES: &[(&str, &str)] = &[("advanceMs", "baseTimeDelta"), ("assertGit", "assert")];

/// Events whose body need be no mapping.
const SCALARS: &[&str] = &[
    "llmResponse",
    "userInputs",
    "userCancelSession",
    "baseTimeDelta",
    "screenshot",
    "log",
    "status",
    "complete",
    "merge",
];

/// What one key of an item is.
#[derive(Clone, Copy)]
enum Meaning {
    Event(&'static EventRow),
    Tool,
    Wrapper,
    /// `think`, `assistant` or `error` without its response.
    Element,
}

impl Meaning {
    fn of(key: &str) -> Option<Self> {
        let mut aliases = EVENT_ALIASES.iter();
        let event = aliases.find(|(alias, _)| *alias == key);
        let event = event.map_or(key, |(_, event)| event);
        if let Some(row) = EVENTS.iter().find(|row| row.key == event) {
            Some(Self::Event(row))
        } else if WRAPPERS.contains(&key) {
            Some(Self::Wrapper)
        } else if ELEMENTS.contains(&key) {
            Some(Self::Element)
        } else {
            AbstractTool::meant_by(key).map(|_| Self::Tool)
        }
    }

    /// The keys that may stand beside it, other than those that may everywhere.
    fn siblings(self) -> &'static [&'static str] {
        match self {
            Self::Event(row) => row.beside,
            Self::Tool => CALL_KEYS,
            Self::Wrapper => &["target"],
            Self::Element => ANSWER_KEYS,
        }
    }
}

/// Every key that an event may be written with.
fn event_names() -> impl Iterator<Item = &'static str> {
    let wrappers = WRAPPERS.iter().copied();
    let aliases = EVENT_ALIASES.iter().map(|(alias, _)| *alias);
    let names = EVENTS.iter().map(|row| row.key).chain(wrappers);
    names
        .chain(aliases)
        .chain(TOOLS.iter().map(|tool| tool.name))
}

/// An event in canonical form: a mapping whose first key is the event's. What stands beside it in the item as written, and
/// has not moved into the body, stands beside it here.
fn event(name: &str, key: &Member, body: Node, item: &Node) -> Node {
    let is_beside = |member: &&Member| {
        let key = member.key.as_str();
        let moved = body.get(key).is_some() && !EVERYWHERE.contains(&key);
        Meaning::of(key).is_none() && !moved
    };
    let beside: Vec<Member> = item.members().iter().filter(is_beside).cloned().collect();
    let mut members = vec![Member::new(name, key.key_span, body)];
    members.extend(beside);
    NodeKind::Object(members).at(item.span)
}

impl Normaliser<'_, '_> {
    /// The canonical form of a list of events.
    pub(super) fn events(&mut self, list: &Node, pointer: &str) -> Node {
        let was_restructured = self.is_restructured;
        let mut all: Vec<Rewritten<'_>> = Vec::new();
        for (item, pointer) in self.items(list.as_array().unwrap_or_default(), pointer) {
            (self.is_restructured, self.is_element) = (false, false);
            let n_edits = self.edits.len();
            let items = self.item(item, &pointer).unwrap_or_default();
            let written = Rewritten {
                nodes: vec![item],
                items,
                is_restructured: self.is_restructured,
                is_changed: self.edits.len() > n_edits,
                is_element: self.is_element,
            };
            match all.last_mut() {
                Some(thinking) if written.answers(thinking) => thinking.join(written),
                _ => all.push(written),
            }
        }
        self.rewrite_items(list, &all);
        self.is_restructured = was_restructured;
        let items = all.into_iter().flat_map(|written| written.items);
        self.list(items.collect(), pointer, list.span)
    }

    /// The events that an item is, with the pointers to them.
    fn item(&mut self, item: &Node, pointer: &str) -> Option<Vec<(Node, String)>> {
        match &item.kind {
            NodeKind::String(word) if MARKERS.iter().any(|(marker, _)| marker == word) => {
                let body = NodeKind::Bool(true).at(item.span);
                self.mapping(&super::object(word, item.span, body), pointer)
            }
            NodeKind::String(word) => {
                let is_event = Meaning::of(word).is_some();
                let markers: Vec<&str> = MARKERS.iter().map(|(marker, _)| *marker).collect();
                let (message, help) = match is_event {
                    true => (
                        format!("`{word}` needs a value"),
                        format!("write `- {word}: …`"),
                    ),
                    false => (
                        format!("unknown event `{}`", cut(word, 40)),
                        format!("events without a value are {}", markers.join(", ")),
                    ),
                };
                let found = self.error_at(codes::TIMELINE_EVENT, item.span, pointer, message);
                found.help = Some(help);
                if !is_event {
                    found.suggest(word, event_names());
                }
                None
            }
            NodeKind::Object(_) => self.mapping(item, pointer),
            _ => {
                let message = format!("an event is a mapping with its name, not {}", found(item));
                self.error_at(codes::TIMELINE_EVENT, item.span, pointer, message)
                    .help = Some("write `- eventName: …`".to_owned());
                None
            }
        }
    }

    fn mapping(&mut self, item: &Node, pointer: &str) -> Option<Vec<(Node, String)>> {
        if let Some(untagged) = self.untagged(item, pointer) {
            return self.mapping(&untagged, pointer);
        }
        let mut item = Cow::Borrowed(item);
        if item.get("meta").is_some() {
            self.rename_keys(item.to_mut(), pointer, META);
        }
        let members = item.members().iter();
        let candidates = members.filter_map(|member| Some((member, Meaning::of(&member.key)?)));
        let candidates: Vec<(&Member, Meaning)> = candidates.collect();
        // `status` is an event, and a key of a call.
        let is_sibling = |key: &str| {
            let mut others = candidates.iter().filter(|(member, _)| member.key != key);
            others.any(|(_, meaning)| meaning.siblings().contains(&key))
        };
        let chosen = candidates.iter().filter(|(it, _)| !is_sibling(&it.key));
        let chosen: Vec<(&Member, Meaning)> = chosen.copied().collect();
        let mut meanings = chosen.iter().map(|(_, meaning)| meaning);
        let all_elements = meanings.all(|meaning| matches!(meaning, Meaning::Element));
        match chosen.as_slice() {
            [] => self.unknown(&item, pointer),
            [(first, _), (second, _), ..] if !all_elements => {
                let (first, second_key) = (&first.key, &second.key);
                let message = format!("two events in one item: `{first}` and `{second_key}`");
                let at = child(pointer, second_key);
                let code = codes::TIMELINE_TWO_EVENTS;
                self.error_at(code, second.key_span, &at, message).help =
                    Some(format!("start a new item: `- {second_key}: …`"));
            }
            [(first, meaning), ..] => {
                let node = &item;
                return self.one(Object { node, pointer }, first, *meaning);
            }
        }
        None
    }

    /// The events of an item with the one key that makes it an event.
    fn one(
        &mut self,
        item: Object<'_>,
        key: &Member,
        meaning: Meaning,
    ) -> Option<Vec<(Node, String)>> {
        self.check_siblings(item, key, meaning);
        let pointer = item.child_pointer(&key.key);
        let body = &key.value;
        let mut calls = Vec::new();
        let (name, body) = match meaning {
            Meaning::Wrapper if body.as_array().is_none() => {
                let what = format!("`{}`", key.key);
                self.wrong_type(body, &pointer, &what, "a list of events");
                return None;
            }
            Meaning::Wrapper => (key.key.as_str(), self.events(body, &pointer)),
            Meaning::Element => {
                self.is_element = true;
                let code = codes::TIMELINE_LEGACY_EVENT;
                let message = format!("`{}` is only allowed inside a response", key.key);
                let modern = format!("write `- llmResponse: [{}: …]`", key.key);
                self.legacy(code, key.key_span, &pointer, message, modern);
                let elements = item.node.members().iter();
                let elements = elements.filter(|member| ELEMENTS.contains(&member.key.as_str()));
                let elements = NodeKind::Object(elements.cloned().collect()).at(item.node.span);
                let parts = self.element(&elements, item.pointer, &mut calls);
                ("llmResponse", self.list(parts, &pointer, item.node.span))
            }
            Meaning::Event(EventRow {
                key: name @ "llmResponse",
                ..
            }) => (*name, self.response(body, &pointer, &mut calls)?),
            Meaning::Event(EventRow {
                key: name @ "agentToolUse",
                ..
            }) => (*name, self.call(body, &pointer, item.node.members())?),
            Meaning::Event(row) => (row.key, self.body(row, key, item)?),
            Meaning::Tool => ("agentToolUse", self.shorthand(key, item)?),
        };
        let mut events = vec![(event(name, key, body, item.node), item.pointer.to_owned())];
        events.append(&mut calls);
        Some(events)
    }

    /// Warns about keys beside an event that nothing reads.
    fn check_siblings(&mut self, item: Object<'_>, key: &Member, meaning: Meaning) {
        let allowed = meaning.siblings();
        for other in item.node.members() {
            let name = other.key.as_str();
            let is_known = other.key == key.key
                || allowed.contains(&name)
                || EVERYWHERE.contains(&name)
                || (matches!(meaning, Meaning::Element) && ELEMENTS.contains(&name))
                || name.starts_with("x-");
            if is_known {
                continue;
            }
            let belongs_inside = match meaning {
                Meaning::Event(row) => keys_of(row.key).iter().any(|key| key == name),
                _ => false,
            };
            let (code, at) = (codes::TIMELINE_UNKNOWN, child(item.pointer, name));
            if belongs_inside {
                let message = format!("`{name}` belongs inside `{}`, not next to it", key.key);
                self.warning_at(code, other.key_span, &at, message).help =
                    Some(format!("indent it below `{}`", key.key));
            } else {
                let message = format!("unknown key `{}` next to `{}`", cut(name, 40), key.key);
                self.warning_at(code, other.key_span, &at, message)
                    .suggest(name, allowed.iter().chain(EVERYWHERE).copied());
            }
        }
    }

    /// `type: X` with its fields as `X: {fields}`, if the item is written so.
    fn untagged(&mut self, item: &Node, pointer: &str) -> Option<Node> {
        let tag = member(item, "type")?;
        let name = tag.value.as_str()?;
        let meaning = Meaning::of(name)?;
        // A type-tagged call has a `status`, and a response its `think`: those are no events here.
        let is_event = |member: &Member| {
            let meaning = Meaning::of(&member.key).filter(|_| member.key != "status");
            meaning.is_some_and(|meaning| !matches!(meaning, Meaning::Element))
        };
        if item.members().iter().any(is_event) {
            return None;
        }
        if !self.allows_type_steps {
            let message = format!("an event is written as `type: {name}`");
            let modern = format!("write `- {name}: …`, or set compat.allowTypeSteps");
            let (code, at) = (codes::TIMELINE_LEGACY_EVENT, child(pointer, "type"));
            self.legacy(code, tag.key_span, &at, message, modern);
        }
        let rest = item.members().iter().filter(|member| member.key != "type");
        let is_everywhere = |member: &Member| EVERYWHERE.contains(&member.key.as_str());
        let (beside, mut inside): (Vec<Member>, Vec<Member>) =
            rest.cloned().partition(is_everywhere);
        let is_scalar = match meaning {
            Meaning::Event(row) => SCALARS.contains(&row.key),
            Meaning::Wrapper | Meaning::Element => true,
            Meaning::Tool => false,
        };
        let is_value =
            |key: &str| ["value", "label", "entries", "inputs", "elements", "ms"].contains(&key);
        let body = match inside.as_mut_slice() {
            [] if MARKERS.iter().any(|(marker, _)| *marker == name) => {
                NodeKind::Bool(true).at(tag.value.span)
            }
            [only] if is_scalar && is_value(&only.key) => only.value.clone(),
            _ => NodeKind::Object(inside).at(item.span),
        };
        let mut members = vec![Member::new(name, tag.value.span, body)];
        members.extend(beside);
        Some(NodeKind::Object(members).at(item.span))
    }

    /// Reports an item that is no event, and names the one whose keys it resembles most.
    fn unknown(&mut self, item: &Node, pointer: &str) {
        let members = item.members();
        let code = codes::TIMELINE_EVENT;
        let first = || first_character(self.source, item.span);
        let at = members.first().map_or_else(first, |first| first.key_span);
        let shown = |key: &str| format!("`{}`", cut(key, 40));
        let tag = item.get("type").and_then(Node::as_str);
        let is_near = |member: &&Member| did_you_mean(&member.key, event_names()).is_some();
        let near = members.iter().take(20).find(is_near);
        let near = near.map(|member| (member.key.as_str(), member.key_span));
        if let Some((word, at)) = tag.map(|tag| (tag, at)).or(near) {
            self.error_at(code, at, pointer, format!("unknown event {}", shown(word)))
                .suggest(word, event_names());
            return;
        }
        let message = match members {
            [] => "empty item: expected an event".to_owned(),
            [only] => format!("unknown event {}", shown(&only.key)),
            _ => {
                let keys = members.iter().take(5).map(|member| shown(&member.key));
                let keys: Vec<String> = keys.collect();
                format!("none of the keys {} is an event", either(&keys))
            }
        };
        self.error_at(code, at, pointer, message).help = Some(match resembling(item) {
            Some(name) => format!("its keys are those of `{name}`: write `- {name}: {{…}}`"),
            None => "an event is `- name: …`; `cuecard schema timeline` lists them".to_owned(),
        });
    }
}

/// The event, or tool, whose keys an item resembles most.
fn resembling(item: &Node) -> Option<&'static str> {
    let inner = item.members().iter().flat_map(|it| it.value.members());
    let keys = item.members().iter().chain(inner);
    let keys: Vec<&str> = keys.map(|member| member.key.as_str()).collect();
    let of_events = EVENTS.iter().map(|row| (row.key, keys_of(row.key)));
    let of_tools = TOOLS.iter();
    let of_tools = of_tools.map(|it| (it.name, it.arguments().map(str::to_owned).collect()));
    // Of several with as many common keys, the one that has the fewest others.
    let scores = of_events.chain(of_tools).map(|(name, names)| {
        let shared = names.iter().filter(|name| keys.contains(&name.as_str()));
        ((shared.count(), usize::MAX - names.len()), name)
    });
    let known = scores.filter(|((shared, _), _)| *shared > 0);
    known.max_by_key(|(score, _)| *score).map(|(_, name)| name)
}
