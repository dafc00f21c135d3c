//! What differs between what a script wants of an agent and what came. Does no I/O.

use std::time::Duration;

use cuecard_source::diagnostic::{Code, codes};
use cuecard_source::matching::{is_same_json, lack};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{Block, PermissionOption, PermissionRequest};
use cuecard_timeline::script::content_block;

use super::expected::{Expected, ExpectedItem, Wanted};
use super::requests::{Requests, fits, is_to_fail};
use super::seen::{Came, Piece, SeenCall, SeenItem, is_blank};
use crate::found::shown;
use crate::script::updates::Speaker;

/// So much of a text is shown.
pub(super) const SHOWN: usize = 300;

/// Something that the agent did not do as it is scripted.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) code: Code,
    /// The event that scripts it; none if nothing does.
    pub(super) event_idx: Option<usize>,
    pub(super) message: String,
    pub(super) notes: Vec<String>,
    /// Whether it may still come.
    pub(super) is_missing: bool,
    /// Whether it is no difference, but something that could not be compared.
    pub(super) is_doubt: bool,
}

impl Difference {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            event_idx: None,
            message: message.into(),
            notes: Vec::new(),
            is_missing: false,
            is_doubt: false,
        }
    }

    /// At the event that scripts it.
    pub(super) fn at(self, event_idx: usize) -> Self {
        Self {
            event_idx: Some(event_idx),
            ..self
        }
    }

    pub(super) fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Something else came than what was expected.
    fn between(message: impl Into<String>, expected: &str, got: &str) -> Self {
        Self::new(codes::ACP_CONTENT, message)
            .noting(format!("expected: {expected}"))
            .noting(format!("got:      {got}"))
    }
}

/// How things are compared.
pub(super) struct Comparing<'c> {
    /// The folder of the session.
    pub(super) folder: &'c str,
    /// What a terminal of the client's printed.
    pub(super) printed: &'c dyn Fn(&str) -> Option<String>,
    /// What the command in a terminal of the client's ended with.
    pub(super) exit_code: &'c dyn Fn(&str) -> Option<i64>,
    /// The text of the prompt, and whether that has more than text.
    pub(super) prompt: (&'c str, bool),
    /// Whether thoughts are left out: the agent never sends any, or the script has none.
    pub(super) is_without_thoughts: bool,
    /// Whether the script has plans: then no other may come.
    pub(super) has_plans: bool,
    /// Whether the turn was cut off: more may have come, and what was begun may be unfinished.
    pub(super) is_cut: bool,
    /// When the client cancelled the turn.
    pub(super) cancelled_at: Option<Duration>,
}

/// How long after a cancellation an agent may still send what is under way.
const UNDER_WAY: Duration = Duration::from_millis(200);

/// What was compared: the differences, and which item is which.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) differences: Vec<Difference>,
    /// Pairs of indices: of what is expected, and of what came.
    pub(super) pairs: Vec<(usize, usize)>,
}

impl Comparing<'_> {
    /// Compares what was expected with what came.
    pub(super) fn compare(&self, expected: &Expected<'_>, seen: &[SeenItem]) -> Compared {
        let mut compared = Compared::default();
        let requests = Requests::new(&expected.items, seen, self.folder);
        self.messages(&requests, &expected.items, seen, &mut compared);
        self.requests(&requests, &expected.items, seen, &mut compared);
        pair_in_lanes(&expected.items, seen, &mut compared);
        self.unasked(expected, seen, &mut compared);
        self.effects(&requests, &expected.items, seen, &mut compared);
        compared.differences.extend(self.gone_on(seen));
        compared
            .differences
            .extend(self.other_prompt(expected, seen));
        order(&expected.items, seen, &mut compared);
        self.places(&expected.items, seen, &mut compared);
        compared
    }

    /// What came in the midst of what is said, at another point of it. With other differences, all points are others.
    fn places(&self, expected: &[ExpectedItem<'_>], seen: &[SeenItem], compared: &mut Compared) {
        let tells_users = expected.iter().any(is_user);
        let counts = |speaker: &Speaker| match speaker {
            Speaker::Agent => true,
            Speaker::Thought => !self.is_without_thoughts,
            Speaker::User => tells_users,
        };
        let is_elsewhere = |&&(wanted, came): &&(usize, usize)| {
            let (wanted, came) = (&expected[wanted], &seen[came]);
            let mut speakers = [Speaker::User, Speaker::Agent, Speaker::Thought].into_iter();
            !wanted.wanted.is_message()
                && speakers
                    .any(|by| counts(&by) && wanted.said[by as usize] != came.said[by as usize])
        };
        if compared.differences.is_empty()
            && let Some(&(wanted, came)) = compared.pairs.iter().find(is_elsewhere)
        {
            let what = told(&seen[came].came);
            let message = format!("{what} came at another point of what is said");
            let found = Difference::new(codes::ACP_CONTENT, message).at(expected[wanted].event_idx);
            compared.differences.push(found);
        }
    }

    /// What is said and called, in order.
    fn messages(
        &self,
        requests: &Requests,
        expected: &[ExpectedItem<'_>],
        seen: &[SeenItem],
        compared: &mut Compared,
    ) {
        let mut wanted = expected.iter().enumerate().filter(|(_, item)| {
            let is_left_out = self.is_without_thoughts
                && matches!(item.wanted, Wanted::Text(Speaker::Thought, _));
            item.wanted.is_message() && !is_left_out
        });
        let tells_users = expected.iter().any(is_user);
        let mut came = seen
            .iter()
            .enumerate()
            .filter(|(_, item)| match &item.came {
                Came::Text(speaker, pieces) => {
                    let is_left_out = self.is_without_thoughts && *speaker == Speaker::Thought;
                    // Some agents tell the prompt that they were sent.
                    let is_echo = *speaker == Speaker::User && !tells_users;
                    !is_left_out && !is_echo && !pieces.iter().all(is_blank)
                }
                Came::Call(call) => !call.is_only_asked,
                _ => false,
            });
        // The user refused these: they need not be told of, and need not be in the script.
        let is_refused = |came_idx: usize| {
            let is_open =
                matches!(&seen[came_idx].came, Came::Call(call) if call.status() != "completed");
            is_open
                && requests
                    .of_call(came_idx)
                    .is_some_and(|request| request.is_refused)
        };
        let is_its_call = |wanted_idx: usize, came_idx: usize| {
            let mut requests = requests.of_call(came_idx).into_iter();
            requests.any(|request| request.target_idx == Some(wanted_idx))
        };
        // The refused calls that were passed over.
        let mut refused: Vec<usize> = Vec::new();
        let (mut next_wanted, mut next_came) = (wanted.next(), came.next());
        loop {
            match (next_wanted, next_came) {
                (None, None) => return,
                (Some((idx, _)), other)
                    if requests.may_be_untold(expected, idx)
                        && !other.is_some_and(|(came_idx, _)| is_its_call(idx, came_idx)) =>
                {
                    next_wanted = wanted.next();
                }
                (Some((idx, item)), None) => {
                    // A script that goes on as if nobody had refused it gets the failed call.
                    let refused_call = refused.iter().find_map(|came_idx| {
                        match (&item.wanted, &seen[*came_idx].came) {
                            (Wanted::Call(call, _), Came::Call(came))
                                if fits(&item.wanted, &came.now, self.folder) =>
                            {
                                Some((*came_idx, self.call_difference(call, true, came).0))
                            }
                            _ => None,
                        }
                    });
                    if let Some((came_idx, found)) = refused_call {
                        refused.retain(|other| *other != came_idx);
                        found
                            .into_iter()
                            .for_each(|found| compared.keep(item, Some(found)));
                        compared.pairs.push((idx, came_idx));
                        next_wanted = wanted.next();
                        continue;
                    }
                    compared.differences.push(missing(item, None));
                    return self.more(wanted.count(), "of the script did not come", compared);
                }
                (None, Some((idx, _))) if is_refused(idx) => next_came = came.next(),
                (None, Some((_, item))) => {
                    if self.is_surplus(item) {
                        compared.differences.push(surplus(item));
                        self.more(came.count(), "came that the script does not have", compared);
                    }
                    return;
                }
                (Some((idx, _)), Some((came_idx, _)))
                    if is_refused(came_idx) && !is_its_call(idx, came_idx) =>
                {
                    refused.push(came_idx);
                    next_came = came.next();
                }
                (Some((wanted_idx, item)), Some((came_idx, other))) => {
                    match (&item.wanted, &other.came) {
                        (Wanted::Text(speaker, pieces), Came::Text(by, came)) if speaker == by => {
                            let found = self.text_difference(*speaker, pieces, came);
                            compared.keep(item, found);
                        }
                        (Wanted::Call(call, is_ended), Came::Call(seen)) => {
                            let is_ended =
                                *is_ended && (seen.ended.is_some() || !is_refused(came_idx));
                            let (found, is_it) = self.call_difference(call, is_ended, seen);
                            found
                                .into_iter()
                                .for_each(|found| compared.keep(item, Some(found)));
                            if !is_it {
                                return self.more(
                                    wanted.count(),
                                    "of the script were not compared",
                                    compared,
                                );
                            }
                        }
                        (Wanted::Edit(edit), Came::Call(call)) => {
                            let found = self.edit_difference(*edit, call, seen);
                            found
                                .into_iter()
                                .for_each(|found| compared.keep(item, Some(found)));
                        }
                        // Someone else speaks, or something is called: one of both is too much.
                        (Wanted::Call(..) | Wanted::Edit(_), Came::Text(..)) => {
                            compared.differences.push(surplus(other));
                            next_came = came.next();
                            continue;
                        }
                        (Wanted::Text(..), _) => {
                            compared.differences.push(missing(item, Some(other)));
                            next_wanted = wanted.next();
                            continue;
                        }
                        _ => {}
                    }
                    compared.pairs.push((wanted_idx, came_idx));
                    next_wanted = wanted.next();
                    next_came = came.next();
                }
            }
        }
    }

    /// What was said after a cancellation that was known by then.
    fn gone_on(&self, seen: &[SeenItem]) -> Option<Difference> {
        let cancelled = self.cancelled_at?;
        let is_said = |item: &&SeenItem| matches!(item.came, Came::Text(..) | Came::Plan(_));
        let mut said = seen.iter().filter(is_said);
        let late = said.find(|item| item.until > cancelled + UNDER_WAY)?;
        let mut found = surplus(late);
        found.message = format!(
            "the agent went on after it was cancelled: {}",
            told(&late.came)
        );
        Some(found)
    }

    /// A prompt that the agent repeats, although nobody sent it.
    fn other_prompt(&self, expected: &Expected<'_>, seen: &[SeenItem]) -> Option<Difference> {
        let pieces = seen.iter().filter_map(|item| match &item.came {
            Came::Text(Speaker::User, pieces) => Some(pieces),
            _ => None,
        });
        let texts = pieces.flatten().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Other(_) => None,
        });
        let text: String = texts.collect();
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let (told, (prompt, has_more)) = (bare(&text), self.prompt);
        let is_sent = told == bare(prompt) || (has_more && told.contains(&bare(prompt)));
        if told.is_empty() || is_sent || expected.items.iter().any(is_user) {
            return None;
        }
        let message = "the agent repeats a prompt that was not sent";
        let found = Difference::new(codes::ACP_UNEXPECTED, message);
        Some(found.noting(format!("it repeats: {}", quoted(&spaced(&text)))))
    }

    /// Whether something that is not expected is too much: not if the turn was cut off while it was under way.
    fn is_surplus(&self, item: &SeenItem) -> bool {
        let is_under_way =
            |cancelled: Duration| item.at >= cancelled && item.at <= cancelled + UNDER_WAY;
        match self.cancelled_at {
            Some(cancelled) => !is_under_way(cancelled),
            None => !self.is_cut,
        }
    }

    fn more(&self, count: usize, what: &str, compared: &mut Compared) {
        if count > 0
            && let Some(last) = compared.differences.last_mut()
        {
            last.notes.push(format!("{count} more {what}"));
        }
    }

    /// What is not of a message and did not come at all, and what came although nobody asked for it.
    fn unasked(&self, expected: &Expected<'_>, seen: &[SeenItem], compared: &mut Compared) {
        let is_paired = |idx: usize| compared.pairs.iter().any(|(wanted, _)| *wanted == idx);
        let lost: Vec<Difference> = expected
            .items
            .iter()
            .enumerate()
            .filter(|(idx, item)| !item.wanted.is_message() && !is_paired(*idx))
            .map(|(_, item)| missing(item, None))
            .collect();
        let is_asked = |idx: usize| compared.pairs.iter().any(|(_, came)| *came == idx);
        let methods: Vec<&String> = expected
            .items
            .iter()
            .filter_map(|item| match &item.wanted {
                Wanted::Notify(notify) => Some(&notify.method),
                _ => None,
            })
            .collect();
        let surplus: Vec<Difference> = seen
            .iter()
            .enumerate()
            .filter(|(_, item)| self.is_surplus(item))
            .filter(|(idx, item)| match &item.came {
                Came::Permission { .. } => !is_asked(*idx),
                Came::Plan(_) => self.has_plans && !is_asked(*idx),
                Came::Notified { method, .. } => !is_asked(*idx) && methods.contains(&method),
                _ => false,
            })
            .map(|(_, item)| surplus(item))
            .collect();
        compared.differences.extend(lost);
        compared.differences.extend(surplus);
    }

    fn text_difference(
        &self,
        speaker: Speaker,
        wanted: &[Piece<&Block>],
        came: &[Piece<Json>],
    ) -> Option<Difference> {
        let what = match speaker {
            Speaker::Agent => "the agent said something else",
            Speaker::Thought => "the agent thought something else",
            Speaker::User => "the user of the history said something else",
        };
        let mut wanted = wanted.iter();
        let mut came = came.iter().filter(|piece| !is_blank(piece));
        loop {
            match (wanted.next(), came.next()) {
                (None, None) => return None,
                (Some(Piece::Text(wanted)), Some(Piece::Text(came))) => {
                    let (wanted, came) = (spaced(wanted), spaced(came));
                    let is_begun = self.is_cut && came.starts_with(&wanted);
                    if wanted != came && !is_begun {
                        let mut found = Difference::between(what, &quoted(&wanted), &quoted(&came));
                        // It may be said yet.
                        found.is_missing = wanted.starts_with(&came);
                        return Some(found);
                    }
                }
                (Some(Piece::Other(wanted)), Some(Piece::Other(came))) => {
                    let differs = lack(&content_block(wanted).unwrap_or_default(), came);
                    if let Some(differs) = differs {
                        return Some(Difference::new(codes::ACP_CONTENT, what).noting(differs));
                    }
                }
                (None, Some(_)) if self.is_cut => return None,
                (wanted, came) => {
                    let mut found = Difference::between(what, &described(wanted), &described(came));
                    found.is_missing = came.is_none();
                    return Some(found);
                }
            }
        }
    }
}

impl Compared {
    pub(super) fn keep(&mut self, item: &ExpectedItem<'_>, found: Option<Difference>) {
        self.differences.extend(found.map(|found| Difference {
            event_idx: Some(item.event_idx),
            ..found
        }));
    }
}

/// Pairs what is neither said nor called, each kind in its own order.
fn pair_in_lanes(expected: &[ExpectedItem<'_>], seen: &[SeenItem], compared: &mut Compared) {
    let mut from = [0; 3];
    for (wanted_idx, item) in expected.iter().enumerate() {
        let lane = match item.wanted {
            Wanted::Plan(_) => 0,
            Wanted::Read(_) => 1,
            Wanted::Notify(_) => 2,
            // These are paired elsewhere.
            Wanted::Text(..) | Wanted::Call(..) | Wanted::Edit(_) | Wanted::Permission(..) => {
                continue;
            }
        };
        let rest = seen.iter().enumerate().skip(from[lane]);
        let mut found =
            rest.filter_map(|(idx, came)| Some((idx, lane_pair(&item.wanted, &came.came)?)));
        if let Some((came_idx, differs)) = found.next() {
            compared.keep(item, differs);
            compared.pairs.push((wanted_idx, came_idx));
            from[lane] = came_idx + 1;
        }
    }
}

/// Whether what came is what was wanted, and what differs in it then.
fn lane_pair(wanted: &Wanted<'_>, came: &Came) -> Option<Option<Difference>> {
    match (wanted, came) {
        (Wanted::Plan(wanted), Came::Plan(came)) => Some(
            (!is_same_json(wanted, came))
                .then(|| Difference::between("the plan differs", &shown(wanted), &shown(came))),
        ),
        (Wanted::Read(read), Came::Read { path }) => (read.path == *path).then_some(None),
        (Wanted::Notify(notify), Came::Notified { method, params }) if notify.method == *method => {
            Some(lack(&notify.params, params).map(|lack| {
                let message = format!("`{method}` differs");
                Difference::between(message, &shown(&notify.params), &shown(params))
                    .noting(format!("at {lack}"))
            }))
        }
        _ => None,
    }
}

fn is_user(item: &ExpectedItem<'_>) -> bool {
    matches!(item.wanted, Wanted::Text(Speaker::User, _))
}

/// What came only after that was over which it stands before.
fn order(expected: &[ExpectedItem<'_>], seen: &[SeenItem], compared: &mut Compared) {
    let mut by_first = compared.pairs.clone();
    by_first.sort_by_key(|(wanted, _)| expected[*wanted].first);
    let mut by_last = compared.pairs.clone();
    by_last.sort_by_key(|(wanted, _)| expected[*wanted].last);
    let mut before = by_last.into_iter().peekable();
    // Of what is over by the script, that which began last, and the end of the last call that is waited for.
    let (mut latest, mut open): (Option<(usize, usize)>, usize) = (None, 0);
    for (wanted, came) in by_first {
        while let Some((earlier, its)) =
            before.next_if(|(earlier, _)| expected[*earlier].last < expected[wanted].first)
        {
            if latest.is_none_or(|(_, so_far)| seen[so_far].first < seen[its].first) {
                latest = Some((earlier, its));
            }
            if let Wanted::Call(call, true) = &expected[earlier].wanted
                && call.args["run_in_background"] != Json::Bool(true)
            {
                open = open.max(seen[its].last);
            }
        }
        let is_text = matches!(expected[wanted].wanted, Wanted::Text(..));
        // What is left open after it was refused is not over.
        let is_over = match &seen[came].came {
            Came::Call(call) => call.ended.is_some() || !is_to_fail(&expected[wanted].wanted),
            _ => true,
        };
        let found = match latest {
            _ if is_text && open > seen[came].first => {
                let message = "this was said before a call had ended that it stands after";
                Difference::new(codes::ACP_CONTENT, message).at(expected[wanted].event_idx)
            }
            Some((earlier, its)) if seen[its].first > seen[came].last && is_over => {
                Difference::new(codes::ACP_CONTENT, "this came too late")
                    .at(expected[earlier].event_idx)
                    .noting(format!("before it came {}", told(&seen[came].came)))
            }
            _ => continue,
        };
        compared.differences.push(found);
        return;
    }
}

fn missing(item: &ExpectedItem<'_>, instead: Option<&SeenItem>) -> Difference {
    let (what, notes) = match &item.wanted {
        Wanted::Text(speaker, pieces) => {
            let what = match speaker {
                Speaker::Agent => "the agent did not say this",
                Speaker::Thought => "the agent did not think this",
                Speaker::User => "the agent did not tell what the user said",
            };
            (
                what.to_owned(),
                vec![format!("expected: {}", described(pieces.first()))],
            )
        }
        Wanted::Call(call, _) => {
            let args = shown(&call.args);
            (
                format!("the agent did not call `{}`", call.tool),
                vec![format!("expected: {args}")],
            )
        }
        Wanted::Edit(edit) => (
            format!("the agent did not edit `{}`", edit.path),
            Vec::new(),
        ),
        Wanted::Plan(_) => ("the agent did not send the plan".to_owned(), Vec::new()),
        Wanted::Permission(..) => (
            "the agent did not ask for permission".to_owned(),
            Vec::new(),
        ),
        Wanted::Read(read) => (
            format!("the agent did not read `{}`", read.path),
            Vec::new(),
        ),
        Wanted::Notify(notify) => (
            format!("the agent did not send `{}`", notify.method),
            Vec::new(),
        ),
    };
    let instead = instead.map(|item| format!("instead came {}", told(&item.came)));
    Difference {
        notes: notes.into_iter().chain(instead).collect(),
        is_missing: true,
        ..Difference::new(codes::ACP_MISSING, what).at(item.event_idx)
    }
}

fn surplus(item: &SeenItem) -> Difference {
    let message = format!("{} is not in the script", told(&item.came));
    let found = Difference::new(codes::ACP_UNEXPECTED, message);
    match &item.came {
        Came::Permission {
            scripted: Err(Some(why)),
            ..
        } => found.noting(format!("the script asks for another call: {why}")),
        _ => found,
    }
}

/// Something that came, for people.
pub(super) fn told(came: &Came) -> String {
    match came {
        Came::Text(speaker, pieces) => {
            let what = match speaker {
                Speaker::Agent => "the message",
                Speaker::Thought => "the thought",
                Speaker::User => "the message of the user",
            };
            format!("{what} {}", described(pieces.first()))
        }
        Came::Call(call) => {
            let title = call.now["title"].as_str().unwrap_or_default();
            format!("the call `{}` ({})", cut(title, 80), kind_of(call))
        }
        Came::Plan(_) => "a plan".to_owned(),
        Came::Permission { params, .. } => {
            let title = params["toolCall"]["title"].as_str();
            format!(
                "the request for permission for `{}`",
                title.unwrap_or("a call")
            )
        }
        Came::Read { path } => format!("the reading of `{path}`"),
        Came::Write { path, .. } => format!("the writing of `{path}`"),
        Came::Terminal { line, .. } => format!("the command `{}`", cut(&line.join(" "), 200)),
        Came::Notified { method, .. } => format!("the notification `{method}`"),
    }
}

/// Whether the request is the one that is scripted; its decision was taken when it came.
pub(super) fn permission_difference(wanted: &PermissionRequest, came: &Json) -> Option<Difference> {
    let of_request = |note: String| {
        Difference::new(codes::ACP_CONTENT, "the request for permission differs").noting(note)
    };
    let mut call = wanted.tool_call.clone();
    if let Some(members) = call.as_object_mut() {
        // Each agent calls its calls as it likes.
        members.remove("toolCallId");
    }
    if let Some(lack) = lack(&call, &came["toolCall"]) {
        return Some(of_request(format!("at `toolCall`: {lack}")));
    }
    let offered = came["options"].as_array().map_or(&[][..], Vec::as_slice);
    let is_it = |option: &PermissionOption, offered: &Json| {
        offered["optionId"] == option.id
            && offered["kind"] == option.kind.as_str()
            && offered["name"] == option.label
    };
    let options = shown(&came["options"]);
    let is_offered =
        |option: &&PermissionOption| offered.iter().any(|offered| is_it(option, offered));
    let mut wanted_options = wanted.options.iter();
    if let Some(lost) = wanted_options.find(|option| !is_offered(option)) {
        let PermissionOption { id, label, kind } = lost;
        let kind = kind.as_str();
        let note = format!("it lacks the option `{label}` (`{id}`, {kind}): it has {options}");
        return Some(of_request(note));
    }
    let is_more = offered.len() > wanted.options.len();
    is_more.then(|| of_request(format!("it offers more options than the script: {options}")))
}

pub(super) fn kind_of(call: &SeenCall) -> &str {
    call.now["kind"].as_str().unwrap_or("other")
}

/// Text for comparing: how it is spaced doesn't count.
pub(super) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", cut(text, SHOWN))
}

trait Describe {
    fn kind(&self) -> String;
}

impl Describe for &Block {
    fn kind(&self) -> String {
        self.kind.as_str().to_owned()
    }
}

impl Describe for Json {
    fn kind(&self) -> String {
        self["type"].as_str().unwrap_or_default().to_owned()
    }
}

fn described<Other: Describe>(piece: Option<&Piece<Other>>) -> String {
    match piece {
        Some(Piece::Text(text)) => quoted(&spaced(text)),
        Some(Piece::Other(other)) => format!("a block of type `{}`", other.kind()),
        None => "nothing".to_owned(),
    }
}
