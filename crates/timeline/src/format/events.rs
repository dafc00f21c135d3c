//! The items of `timeline`: which event each is, in whatever form it is written.

use super::convert::{self, Rewritten};
use super::loader::{Alias, Loader, alias, child, key_path, member, merged};
use super::normalise::{self, MARKERS, SCALARS};
use super::normalise_call;
use super::response::{self, Draft, Part, PartKind};
use super::schema::keys_of;
use super::user;
use crate::model::vocabulary::{AbstractTool, TOOLS};
use crate::model::{
    ApplyPatch, EventKind, Fault, IncludePurpose, Response, TimelineEvent, UserTarget,
};
use crate::script::events::{ANSWER_KEYS, CALL_KEYS, EVENTS, EventRow};
use cuecard_source::Span;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Object, either, first_character, found};
use cuecard_source::value::{Json, cut};

pub(super) const META: &[Alias] = &[alias("meta", "_meta")];

/// Keys that may stand beside every event.
const EVERYWHERE: &[&str] = &["_meta", "fault"];

pub(super) const WRAPPERS: &[&str] = &["agentActions", "userActions"];

/// Other keys of events, with what they mean.
const EVENT_ALIASES: &[(&str, &str)] = &[("advanceMs", "baseTimeDelta"), ("assertGit", "assert")];

/// What one key of an item is.
#[derive(Clone, Copy)]
enum Meaning {
    Event(&'static EventRow),
    Tool,
    Wrapper,
    /// `think`, `assistant` or `error` without its response.
    Element,
}

/// The events read so far.
#[derive(Default)]
pub(super) struct Flat {
    pub events: Vec<TimelineEvent>,
    /// The response of a top-level `think`, if nothing has followed it yet.
    pub open_think: Option<usize>,
    /// The item at hand in canonical form, if it has an older one that is more than another word.
    rewritten: Vec<Json>,
    /// Whether it goes on with the response before it.
    joins: bool,
}

impl Flat {
    /// Keeps an event of the item at hand in canonical form. Of the item's `members`, those that are neither an event nor in
    /// its body stand beside it.
    fn rewrite(&mut self, loader: &Loader<'_>, name: &str, body: &Node, members: &[Member]) {
        if !loader.is_restructured {
            return;
        }
        let mut event = serde_json::Map::new();
        let written = Some(body.to_value()).filter(|body| !body.is_null());
        event.insert(name.to_owned(), written.unwrap_or(Json::Bool(true)));
        let is_beside = |it: &&Member| meaning(&it.key).is_none() && body.get(&it.key).is_none();
        let beside = members.iter().filter(is_beside);
        event.extend(beside.map(|member| (member.key.clone(), member.value.to_value())));
        self.rewritten.push(Json::Object(event));
    }
}

/// The events of a list, wrappers flattened.
pub(super) fn events(
    loader: &mut Loader<'_>,
    flat: &mut Flat,
    list: &Node,
    pointer: &str,
    target: Option<UserTarget>,
) {
    let was_restructured = loader.is_restructured;
    let mut all: Vec<Rewritten<'_>> = Vec::new();
    for (item, pointer) in loader.items(list.as_array().unwrap_or_default(), pointer) {
        loader.is_restructured = false;
        match &item.kind {
            NodeKind::String(word) => bare(loader, flat, word, item, &pointer),
            NodeKind::Object(_) => mapping(loader, flat, item, &pointer, target),
            _ => {
                let message = format!("an event is a mapping with its name, not {}", found(item));
                loader
                    .error(codes::TIMELINE_EVENT, item.span, &pointer, message)
                    .help = Some("write `- eventName: …`".to_owned());
            }
        }
        let items = std::mem::take(&mut flat.rewritten);
        let items = loader.is_restructured.then_some(items);
        if !std::mem::take(&mut flat.joins) {
            all.push(Rewritten {
                nodes: vec![item],
                items,
            });
        } else if !all.last_mut().is_some_and(|last| last.join(item, items)) {
            // The response would be another one without its end.
            loader.edits.clear();
        }
    }
    convert::list(loader, list, all);
    loader.is_restructured = was_restructured;
}

/// An item that is only a word.
fn bare(loader: &mut Loader<'_>, flat: &mut Flat, word: &str, item: &Node, pointer: &str) {
    flat.open_think = None;
    let kind = match word {
        "sessionStart" => EventKind::SessionStart(Default::default()),
        "userCancelSession" => EventKind::UserCancelSession { at_ms: None },
        "complete" => EventKind::Complete,
        "merge" => EventKind::Merge,
        _ => {
            let is_event = meaning(word).is_some();
            let message = match is_event {
                true => format!("`{word}` needs a value"),
                false => format!("unknown event `{}`", cut(word, 40)),
            };
            let label = did_you_mean(word, event_names());
            let diagnostic = loader.error(codes::TIMELINE_EVENT, item.span, pointer, message);
            diagnostic.label = label
                .filter(|_| !is_event)
                .map(|name| format!("did you mean `{name}`?"));
            let markers: Vec<&str> = MARKERS.iter().map(|(marker, _)| *marker).collect();
            diagnostic.help = Some(match is_event {
                true => format!("write `- {word}: …`"),
                false => format!("events without a value are {}", markers.join(", ")),
            });
            return;
        }
    };
    push(flat, kind, pointer, item.span, Json::Null, None);
}

fn push(
    flat: &mut Flat,
    kind: EventKind,
    pointer: &str,
    span: Span,
    meta: Json,
    fault: Option<Fault>,
) {
    flat.events.push(TimelineEvent {
        kind,
        path: key_path(pointer),
        span,
        meta,
        fault,
    });
}

fn meaning(key: &str) -> Option<Meaning> {
    let canonical = EVENT_ALIASES
        .iter()
        .find(|(alias, _)| *alias == key)
        .map_or(key, |(_, name)| name);
    if let Some(spec) = EVENTS.iter().find(|spec| spec.key == canonical) {
        return Some(Meaning::Event(spec));
    }
    if WRAPPERS.contains(&key) {
        return Some(Meaning::Wrapper);
    }
    if response::ELEMENTS.contains(&key) {
        return Some(Meaning::Element);
    }
    AbstractTool::meant_by(key).map(|_| Meaning::Tool)
}

/// Every key that an event may be written with.
pub(super) fn event_names() -> impl Iterator<Item = &'static str> {
    EVENTS
        .iter()
        .map(|spec| spec.key)
        .chain(WRAPPERS.iter().copied())
        .chain(EVENT_ALIASES.iter().map(|(alias, _)| *alias))
        .chain(TOOLS.iter().map(|tool| tool.name))
}

/// The keys that may stand beside an event, other than those that may everywhere.
fn siblings(meaning: Meaning) -> &'static [&'static str] {
    match meaning {
        Meaning::Event(spec) => spec.beside,
        Meaning::Tool => CALL_KEYS,
        Meaning::Wrapper => &["target"],
        Meaning::Element => ANSWER_KEYS,
    }
}

fn mapping(
    loader: &mut Loader<'_>,
    flat: &mut Flat,
    item: &Node,
    pointer: &str,
    target: Option<UserTarget>,
) {
    if let Some(untagged) = untagged(loader, item, pointer) {
        mapping(loader, flat, &untagged, pointer, target);
        return;
    }
    let item = loader.renamed(item, pointer, META);
    let candidates: Vec<(&Member, Meaning)> = item
        .members()
        .iter()
        .filter_map(|member| Some((member, meaning(&member.key)?)))
        .collect();
    // `status` is an event, and a key of a call.
    let is_sibling = |key: &str| {
        candidates
            .iter()
            .any(|(member, meaning)| member.key != key && siblings(*meaning).contains(&key))
    };
    let chosen: Vec<(&Member, Meaning)> = candidates
        .iter()
        .copied()
        .filter(|(member, _)| !is_sibling(&member.key))
        .collect();
    let all_elements = chosen
        .iter()
        .all(|(_, meaning)| matches!(meaning, Meaning::Element));
    let was_open = flat.open_think.take();
    match chosen.as_slice() {
        [] => unknown(loader, &item, pointer),
        [(first, first_meaning), ..] if chosen.len() == 1 || all_elements => {
            if matches!(first_meaning, Meaning::Element) {
                flat.open_think = was_open;
            }
            let written = Written {
                item: Object {
                    node: &item,
                    pointer,
                },
                key: first,
                meaning: *first_meaning,
            };
            one(loader, flat, &written, target);
        }
        [(first, _), rest @ ..] => {
            let second = rest.first().map_or(*first, |(second, _)| *second);
            let message = format!(
                "two events in one item: `{}` and `{}`",
                first.key, second.key
            );
            let at = child(pointer, &second.key);
            loader
                .error(codes::TIMELINE_TWO_EVENTS, second.key_span, &at, message)
                .help = Some(format!("start a new item: `- {}: …`", second.key));
        }
    }
}

/// An item with the one key that makes it an event.
struct Written<'n> {
    item: Object<'n>,
    key: &'n Member,
    meaning: Meaning,
}

fn one(
    loader: &mut Loader<'_>,
    flat: &mut Flat,
    written: &Written<'_>,
    target: Option<UserTarget>,
) {
    let Written { item, key, meaning } = *written;
    let span = item.node.span;
    beside(loader, item, key, meaning);
    let meta = loader.meta(item);
    let fault = fault(loader, item);
    let at = child(item.pointer, &key.key);
    let body = &key.value;
    match meaning {
        Meaning::Wrapper => {
            let own = user::target(loader, item).or(target);
            if body.as_array().is_none() {
                let what = format!("`{}`", key.key);
                loader
                    .reader
                    .wrong_type(body, &at, &what, "a list of events");
                return;
            }
            let first = flat.events.len();
            events(loader, flat, body, &at, own);
            flat.rewrite(loader, &key.key, body, item.node.members());
            for event in flat.events.iter_mut().skip(first) {
                event.meta = merged(meta.clone(), std::mem::take(&mut event.meta));
                event.fault = event.fault.or(fault);
            }
        }
        Meaning::Element => {
            let draft = response::top_level(loader, item, meta);
            let is_think = item.node.get("assistant").is_none() && item.node.get("error").is_none();
            let is_answer = item.node.get("think").is_none() && item.node.get("error").is_none();
            match flat.open_think.take() {
                Some(idx) if is_answer => {
                    rewrite_response(loader, flat, &draft, item);
                    join(flat, idx, draft);
                }
                _ => {
                    let idx = flat.events.len();
                    finish_response(loader, flat, draft, item, fault);
                    flat.open_think = is_think.then_some(idx);
                }
            }
        }
        Meaning::Event(spec) if spec.key == "llmResponse" => {
            let draft = response::response(loader, body, &at, item, meta);
            finish_response(loader, flat, draft, item, fault);
        }
        Meaning::Tool
        | Meaning::Event(EventRow {
            key: "agentToolUse",
            ..
        }) => {
            let (call, what) = match meaning {
                Meaning::Tool => (
                    normalise_call::shorthand(loader, key, item),
                    format!("`{}`", key.key),
                ),
                _ => (
                    normalise_call::written(loader, body, &at, item.node.members()),
                    "`agentToolUse`".to_owned(),
                ),
            };
            let Some(call) = call else { return };
            flat.rewrite(loader, "agentToolUse", &call, item.node.members());
            if let Some((tool, own)) = loader.call(&call, &at, &what) {
                let (meta, kind) = (merged(meta, own), EventKind::ToolUse(tool));
                push(flat, kind, item.pointer, span, meta, fault);
            }
        }
        Meaning::Event(spec) => {
            let Some(body) = normalise::body(loader, spec, key, item) else {
                return;
            };
            flat.rewrite(loader, spec.key, &body, item.node.members());
            let meta = merged(meta, own_meta(loader, &body, &at));
            let kind = derived(loader, spec.key, key, &body, item);
            if let Some(mut kind) = kind {
                if let EventKind::UserInputs(inputs) = &mut kind {
                    let target = user::target(loader, item).or(target);
                    let node = &body;
                    let body = Object { node, pointer: &at };
                    user::finish_inputs(loader, inputs, body, target, &meta);
                }
                push(flat, kind, item.pointer, span, meta, fault);
            }
        }
    }
}

/// `_meta` inside of an event's body, if that is a mapping.
fn own_meta(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Json {
    loader.meta(Object {
        node: body,
        pointer,
    })
}

/// Keeps a response and the calls behind it in canonical form, if its item has an older one.
fn rewrite_response(loader: &Loader<'_>, flat: &mut Flat, draft: &Draft, item: Object<'_>) {
    if loader.is_restructured {
        let parts = draft.parts.iter().map(|part| part.node.clone());
        let body = Node {
            kind: NodeKind::Array(parts.collect()),
            span: item.node.span,
        };
        flat.rewrite(loader, "llmResponse", &body, item.node.members());
        let calls = draft.calls.iter().map(|call| call.node.to_value());
        flat.rewritten.extend(calls);
    }
}

/// Adds the answer that follows its thinking.
fn join(flat: &mut Flat, idx: usize, draft: Draft) {
    flat.joins = true;
    let Some(event) = flat.events.get_mut(idx) else {
        return;
    };
    event.meta = merged(std::mem::take(&mut event.meta), draft.meta);
    if let EventKind::Response(response) = &mut event.kind {
        for part in draft.parts {
            if let PartKind::Element(element) = part.kind {
                response.elements.push(element);
            }
        }
        response.usage = merged(std::mem::take(&mut response.usage), draft.response.usage);
        response.stop_reason = draft.response.stop_reason.or(response.stop_reason);
        response.refusal = draft.response.refusal.or(response.refusal.take());
    }
}

fn finish_response(
    loader: &mut Loader<'_>,
    flat: &mut Flat,
    draft: Draft,
    item: Object<'_>,
    fault: Option<Fault>,
) {
    let (pointer, span) = (item.pointer, item.node.span);
    rewrite_response(loader, flat, &draft, item);
    let first_call = draft.parts.iter().position(Part::is_call);
    let last_call = draft.parts.iter().rposition(Part::is_call);
    let last_error = draft.parts.iter().rposition(Part::is_error);
    if last_error
        .is_some_and(|error| first_call.is_some_and(|call| call < error) || !draft.calls.is_empty())
    {
        let message = "a response with an error can't contain calls before it";
        loader.invalid(span, pointer, message);
    }
    let mut response = draft.response;
    // The refusal ends what the answer says, and behind the last of these calls it says more.
    let mut refusal = match last_call {
        Some(_) => response.refusal.take(),
        None => None,
    };
    let meta = draft.meta;
    let kind = EventKind::Response(response);
    push(flat, kind, pointer, span, meta.clone(), fault);
    for (idx, part) in draft.parts.into_iter().chain(draft.calls).enumerate() {
        let (pointer, span) = (&part.pointer, part.span);
        match (
            part.kind,
            flat.events.last_mut().map(|event| &mut event.kind),
        ) {
            (PartKind::Element(element), Some(EventKind::Response(open))) => {
                open.elements.push(element);
            }
            (PartKind::Element(element), _) => {
                let kind = EventKind::Response(Response {
                    elements: vec![element],
                    refusal: refusal.take_if(|_| Some(idx) > last_call),
                    continues: true,
                    ..Response::default()
                });
                push(flat, kind, pointer, span, meta.clone(), None);
            }
            (PartKind::Call(tool, own), _) => {
                push(flat, EventKind::ToolUse(*tool), pointer, span, own, None);
            }
            (PartKind::Whole, _) => {}
        }
    }
}

/// Reads an event by its struct.
fn derived(
    loader: &mut Loader<'_>,
    event: &str,
    key: &Member,
    body: &Node,
    item: Object<'_>,
) -> Option<EventKind> {
    let whole = Node {
        span: item.node.span,
        kind: NodeKind::Object(vec![Member {
            key: event.to_owned(),
            key_span: key.key_span,
            value: body.clone(),
        }]),
    };
    if event == "agentEdits" {
        loader.n_calls += 1;
    }
    let mut kind: EventKind = loader.decode(&whole, item.pointer, "an event")?;
    match &mut kind {
        EventKind::AgentEdits(edits) => edits.call_id = format!("call_{}", loader.n_calls),
        EventKind::UserEdits { patch: path, .. }
        | EventKind::ApplyPatch(ApplyPatch { path, .. }) => {
            let node = body.get("patch").or(body.get("path"));
            loader.note_included(Some(path.clone()), node, IncludePurpose::Patch);
        }
        EventKind::UserInputs(inputs) => {
            loader.note_media(inputs.iter().flat_map(|input| &input.blocks));
        }
        _ => {}
    }
    Some(kind)
}

/// Warns about keys beside an event that nothing reads.
fn beside(loader: &mut Loader<'_>, item: Object<'_>, key: &Member, meaning: Meaning) {
    let allowed = siblings(meaning);
    for other in item.node.members() {
        let name = other.key.as_str();
        let is_known = other.key == key.key
            || allowed.contains(&name)
            || EVERYWHERE.contains(&name)
            || (matches!(meaning, Meaning::Element) && response::ELEMENTS.contains(&name))
            || name.starts_with("x-");
        if is_known {
            continue;
        }
        let belongs_inside = match meaning {
            Meaning::Event(spec) => keys_of(spec.key).iter().any(|key| key == name),
            _ => false,
        };
        let at = child(item.pointer, name);
        if belongs_inside {
            let message = format!("`{name}` belongs inside `{}`, not next to it", key.key);
            loader
                .warning(codes::TIMELINE_UNKNOWN, other.key_span, &at, message)
                .help = Some(format!("indent it below `{}`", key.key));
            continue;
        }
        let names = allowed.iter().chain(EVERYWHERE).copied();
        let label = did_you_mean(name, names);
        let message = format!("unknown key `{}` next to `{}`", cut(name, 40), key.key);
        loader
            .warning(codes::TIMELINE_UNKNOWN, other.key_span, &at, message)
            .label = label.map(|name| format!("did you mean `{name}`?"));
    }
}

/// `type: X` with its fields as `X: {fields}`, if the item is written so.
fn untagged(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<Node> {
    let tag = member(item, "type")?;
    let name = tag.value.as_str()?;
    // A type-tagged call has a `status`, and a response its `think`: those are no events here.
    let is_event = item.members().iter().any(|member| {
        let meaning = meaning(&member.key);
        member.key != "status"
            && meaning.is_some_and(|meaning| !matches!(meaning, Meaning::Element))
    });
    let found = meaning(name)?;
    if is_event {
        return None;
    }
    if !loader.compat.type_steps {
        let at = child(pointer, "type");
        let message = format!("an event is written as `type: {name}`");
        let modern = format!("write `- {name}: …`, or set compat.allowTypeSteps");
        let code = codes::TIMELINE_LEGACY_EVENT;
        loader.legacy(code, tag.key_span, &at, message, modern);
    }
    let is_everywhere = |member: &&Member| EVERYWHERE.contains(&member.key.as_str());
    let rest: Vec<Member> = item
        .members()
        .iter()
        .filter(|member| member.key != "type")
        .cloned()
        .collect();
    let (beside, inside): (Vec<&Member>, Vec<&Member>) = rest.iter().partition(is_everywhere);
    let scalar = match found {
        Meaning::Event(spec) => SCALARS.contains(&spec.key),
        Meaning::Wrapper | Meaning::Element => true,
        Meaning::Tool => false,
    };
    let body = match inside.as_slice() {
        [] if MARKERS.iter().any(|(marker, _)| *marker == name) => Node {
            kind: NodeKind::Bool(true),
            span: tag.value.span,
        },
        [only]
            if scalar
                && ["value", "label", "entries", "inputs", "elements", "ms"]
                    .contains(&only.key.as_str()) =>
        {
            only.value.clone()
        }
        _ => Node {
            kind: NodeKind::Object(inside.into_iter().cloned().collect()),
            span: item.span,
        },
    };
    let mut members = vec![Member {
        key: name.to_owned(),
        key_span: tag.value.span,
        value: body,
    }];
    members.extend(beside.into_iter().cloned());
    Some(Node {
        kind: NodeKind::Object(members),
        span: item.span,
    })
}

/// An item that is no event: names the one whose keys it resembles most.
fn unknown(loader: &mut Loader<'_>, item: &Node, pointer: &str) {
    let members = item.members();
    let at = members.first().map_or_else(
        || first_character(loader.source(), item.span),
        |first| first.key_span,
    );
    if let Some(tag) = item.get("type").and_then(Node::as_str) {
        let message = format!("unknown event `{}`", cut(tag, 40));
        let label = did_you_mean(tag, event_names());
        loader
            .error(codes::TIMELINE_EVENT, at, pointer, message)
            .label = label.map(|name| format!("did you mean `{name}`?"));
        return;
    }
    let near = members
        .iter()
        .take(20)
        .find_map(|member| Some((member, did_you_mean(&member.key, event_names())?)));
    if let Some((member, name)) = near {
        let message = format!("unknown event `{}`", cut(&member.key, 40));
        loader
            .error(codes::TIMELINE_EVENT, member.key_span, pointer, message)
            .label = Some(format!("did you mean `{name}`?"));
        return;
    }
    let message = match members {
        [] => "empty item: expected an event".to_owned(),
        [only] => format!("unknown event `{}`", cut(&only.key, 40)),
        _ => {
            let keys: Vec<String> = members
                .iter()
                .take(5)
                .map(|member| format!("`{}`", cut(&member.key, 40)))
                .collect();
            format!("none of the keys {} is an event", either(&keys))
        }
    };
    let resembled = resembling(item);
    let diagnostic = loader.error(codes::TIMELINE_EVENT, at, pointer, message);
    diagnostic.help = Some(match resembled {
        Some(name) => format!("its keys are those of `{name}`: write `- {name}: {{…}}`"),
        None => "an event is `- name: …`; `cuecard schema timeline` lists them".to_owned(),
    });
}

/// The event, or tool, whose keys an item resembles most.
fn resembling(item: &Node) -> Option<&'static str> {
    let keys: Vec<&str> = item
        .members()
        .iter()
        .flat_map(|member| {
            let inner = member
                .value
                .members()
                .iter()
                .map(|inner| inner.key.as_str());
            std::iter::once(member.key.as_str()).chain(inner)
        })
        .collect();
    let of_events = EVENTS.iter().map(|spec| (spec.key, keys_of(spec.key)));
    let of_tools = TOOLS.iter().map(|tool| {
        let names = tool.arguments.iter();
        let names = names.map(|argument| argument.name.to_owned()).collect();
        (tool.name, names)
    });
    of_events
        .chain(of_tools)
        .map(|(name, names)| {
            let shared = names
                .iter()
                .filter(|name| keys.contains(&name.as_str()))
                .count();
            // Of several with as many common keys, the one that has the fewest others.
            ((shared, usize::MAX - names.len()), name)
        })
        .filter(|((shared, _), _)| *shared > 0)
        .max_by_key(|(score, _)| *score)
        .map(|(_, name)| name)
}

/// `fault`.
fn fault(loader: &mut Loader<'_>, item: Object<'_>) -> Option<Fault> {
    let node = loader.reader.get(item, "fault")?;
    loader.decode(node, &item.child_pointer("fault"), "`fault`")
}
