//! Which of several scenarios is meant: by name, by session id, or by how near its prompt is.

use std::collections::HashMap;
use std::fmt;

use super::block_text::block_text;
use super::blocks::{self, ExpectedBlock};
use super::distance::{Measured, distance, least_distance};
use super::request::{Part, Request, RequestedBlock};
use super::rounds::UserSide;
use super::text::{contains_words, normalise};
use crate::model::{EventKind, RequestMatch, ResponseElement, Timeline, TimelineEvent, UserInput};
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};

/// The distance above which nothing is chosen.
pub const DEFAULT_MAX_DISTANCE: f64 = 0.6;

/// How many scenarios are told of besides the chosen one.
const N_OTHERS: usize = 3;

/// What chooses among scenarios. Built once for a set of them, in the order of their files.
#[derive(Debug, Clone)]
pub struct Selector {
    entries: Vec<Candidate>,
    max_distance: f64,
}

#[derive(Debug, Clone)]
struct Candidate {
    name: String,
    session_id: Option<String>,
    /// The effective prompt, normal; `None` if it can't be chosen by it.
    prompt: Option<Measured>,
    /// The blocks of a first prompt that has no text.
    blocks: Vec<ExpectedBlock>,
    /// The same for people: in quotes, with its place.
    shown: Option<String>,
    /// Whether it takes any prompt.
    takes_any: bool,
    /// What a request must be like beside that.
    condition: Option<RequestMatch>,
    /// What stands above `sessionStart`.
    history: Vec<String>,
}

/// What a request or the user asks for. The first that is given decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The name of the scenario.
    pub name: Option<&'a str>,
    /// The session id that it has.
    pub session_id: Option<&'a str>,
    /// Texts of which one is the prompt: the nearest counts.
    pub prompts: &'a [&'a str],
    /// The blocks of the prompt.
    pub blocks: &'a [&'a RequestedBlock],
    /// The request to a model, which must meet the conditions of a scenario that has some (`match`).
    pub request: Option<&'a Request>,
}

/// A scenario that was chosen, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Its index.
    pub scenario_idx: usize,
    /// Why.
    pub reason: SelectionReason,
    /// The next ones by distance, if it was chosen by its prompt.
    pub others: Vec<Ranked>,
}

/// Why a scenario was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SelectionReason {
    /// By its name.
    Name,
    /// By its session id.
    SessionId,
    /// By its prompt, at this distance.
    Prompt(f64),
    /// What the request's history holds is what the scenario has there.
    History,
    /// It is the only one, and scripts no prompt that another one could differ from.
    Only,
    /// No prompt is near, and it takes any (`anyPrompt`).
    Any,
}

/// A scenario with its distance.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Its index.
    pub scenario_idx: usize,
    /// Its name.
    pub name: String,
    /// From 0, the same, to 1; `None` if it has no prompt.
    pub distance: Option<f64>,
    /// Its prompt in quotes, cut, with its place.
    pub prompt: Option<String>,
    /// The condition of its `match` that the request does not meet.
    pub unmet: Option<String>,
}

/// How near a scenario's prompt is, in the order in which scenarios are taken.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Nearness {
    /// From 0, the same, to 1; above 1 if it is too far, and then only so far that lengths tell.
    distance: f64,
    /// Whether a text only holds the prompt, or there are more blocks than those of the prompt.
    only_holds: bool,
    /// Length of the prompt in characters; of blocks how many they are, those with data twice.
    length: usize,
    /// Whether something stands above `sessionStart`.
    has_history: bool,
}

impl Selector {
    /// What chooses among `timelines` up to `max_distance`.
    pub fn new<'a>(timelines: impl IntoIterator<Item = &'a Timeline>, max_distance: f64) -> Self {
        let entries = timelines.into_iter().map(|timeline| {
            let (prompt, blocks) = prompt_to_choose_by(timeline);
            let text = timeline.effective_prompt();
            let text = text.map(|prompt| super::rounds::quote(&prompt));
            let shown = text.or_else(|| blocks.first().map(ExpectedBlock::describe));
            Candidate {
                name: timeline.name.clone(),
                session_id: timeline.session_id().map(str::to_owned),
                prompt: Some(Measured::new(prompt)).filter(|prompt| prompt.length > 0),
                blocks,
                shown: shown.map(|shown| match timeline.first_input() {
                    None => shown,
                    Some(input) => {
                        let source = &timeline.source;
                        let line = source.position(input.span.start).line;
                        format!("{shown} ({}:{line})", source.name())
                    }
                }),
                takes_any: timeline.server.any_prompt,
                condition: timeline.request_match.clone(),
                history: history_to_choose_by(timeline),
            }
        });
        Self {
            entries: entries.collect(),
            max_distance,
        }
    }

    /// T-SEL-01 if a name is given that no scenario has.
    pub fn unknown_name(&self, name: Option<&str>) -> Option<Diagnostic> {
        let wanted = Wanted {
            name: Some(name?),
            ..Wanted::default()
        };
        self.select(wanted).err().map(|unknown| *unknown)
    }

    /// The distance above which nothing is chosen.
    pub fn max_distance(&self) -> f64 {
        self.max_distance
    }

    /// T-SEL-03 for each of several `timelines` that only a name can choose, since it has no prompt.
    pub fn without_prompt<'a>(
        timelines: impl IntoIterator<Item = &'a Timeline>,
    ) -> Vec<Diagnostic> {
        let timelines: Vec<&Timeline> = timelines.into_iter().collect();
        let is_set = timelines.len() > 1;
        let silent = timelines.into_iter().filter(|timeline| {
            is_set && !timeline.server.is_by_name && !has_prompt(&prompt_to_choose_by(timeline))
        });
        let diagnostic = |timeline: &Timeline| {
            let message = format!(
                "`{}` has no user input and no `initialPrompt`, so no prompt can select it",
                timeline.name
            );
            Diagnostic::warning(codes::SELECT_DOUBT, message)
                .at(&timeline.source, timeline.name_span)
                .with_help("add `initialPrompt`, or select it by name")
        };
        silent.map(diagnostic).collect()
    }

    /// T-SEL-04 for each of `timelines` that has the prompt of one before it, unless each of the two has a session id of
    /// its own. Those that only their name chooses have none.
    pub fn same_prompt<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> Vec<Diagnostic> {
        let mut by_prompt: HashMap<_, Vec<&Timeline>> = HashMap::new();
        let mut found = Vec::new();
        for timeline in timelines {
            let prompt = prompt_to_choose_by(timeline);
            if !has_prompt(&prompt) {
                continue;
            }
            let others = by_prompt.entry(prompt).or_default();
            let id = timeline.session_id();
            let clash = others
                .iter()
                .filter(|other| !is_excluded(timeline, other))
                .find(|other| id.is_none() || other.session_id().is_none_or(|it| Some(it) == id));
            found.extend(clash.map(|other| same_prompt_diagnostic(timeline, other)));
            others.push(timeline);
        }
        found
    }

    /// The scenario that is meant.
    ///
    /// # Errors
    ///
    /// No scenario has the name or id (T-SEL-01), or none is near enough (T-SEL-02). A name never falls through to the prompt.
    pub fn select(&self, wanted: Wanted<'_>) -> Result<Selection, Box<Diagnostic>> {
        if let Some(name) = wanted.name {
            return self.exactly("name", name, SelectionReason::Name, |entry| {
                Some(&entry.name)
            });
        }
        if let Some(id) = wanted.session_id {
            let reason = SelectionReason::SessionId;
            return self.exactly("session id", id, reason, |entry| {
                entry.session_id.as_deref()
            });
        }
        self.by_prompt(wanted)
    }

    fn exactly<'a>(
        &'a self,
        what: &'static str,
        wanted: &str,
        reason: SelectionReason,
        field: impl Fn(&'a Candidate) -> Option<&'a str>,
    ) -> Result<Selection, Box<Diagnostic>> {
        let known = || self.entries.iter().filter_map(&field);
        let found = self
            .entries
            .iter()
            .position(|entry| field(entry) == Some(wanted));
        match found {
            Some(scenario_idx) => Ok(Selection {
                scenario_idx,
                reason,
                others: Vec::new(),
            }),
            None => {
                let shown = cuecard_source::value::cut(wanted, 100);
                let message = format!("no timeline with the {what} `{shown}`");
                let mut found = Diagnostic::error(codes::SELECT_UNKNOWN, message);
                let names: Vec<&str> = known().take(MAX_KNOWN).collect();
                if !names.is_empty() {
                    found = found.with_note(format!("available: {}", super::rounds::list(&names)));
                }
                let near = did_you_mean(wanted, known());
                found.help = near.map(|name| format!("did you mean `{name}`?"));
                Err(Box::new(found))
            }
        }
    }

    /// The scenario whose script a request's history follows, likely ones first: `accounts_for` says so of one. A text
    /// of the history may be nearer to the prompt of another one. Of several with one prompt that follow, the one is
    /// meant that has more of the history word for word.
    pub(super) fn by_history(
        &self,
        prompts: &[&str],
        request: &Request,
        accounts_for: impl Fn(usize) -> bool,
    ) -> Option<Selection> {
        let ranked = self.ranked(&measured(prompts), &[]).into_iter();
        let ranked = ranked.map(|(idx, _)| idx);
        let mut ranked = ranked.filter(|&idx| self.entries[idx].unmet(Some(request)).is_none());
        let found = ranked
            .by_ref()
            .take(MAX_TRIED)
            .find(|&idx| accounts_for(idx))?;
        let twins = ranked.take(MAX_TRIED).filter(|&idx| {
            self.entries[idx].has_prompt_of(&self.entries[found]) && accounts_for(idx)
        });
        let mut twins = twins.peekable();
        let texts = twins.peek().map(|_| normal_texts(request));
        let n_same = |idx: usize| {
            let texts = texts.iter().flatten();
            let history = &self.entries[idx].history;
            texts.filter(|text| history.contains(text)).count()
        };
        let likest = twins.fold((found, n_same(found)), |likest, idx| {
            let same = n_same(idx);
            if same > likest.1 { (idx, same) } else { likest }
        });
        Some(Selection {
            scenario_idx: likest.0,
            reason: SelectionReason::History,
            others: Vec::new(),
        })
    }

    /// All scenarios by how near their prompt is to the nearest of `texts`, or whether it is `blocks`.
    fn ranked(
        &self,
        texts: &[Measured],
        blocks: &[&RequestedBlock],
    ) -> Vec<(usize, Option<Nearness>)> {
        let entries = self.entries.iter();
        let mut ranked: Vec<(usize, Option<Nearness>)> = entries
            .map(|entry| self.nearness(entry, texts, blocks))
            .enumerate()
            .collect();
        // Stable: what is equally near stays in the order of the files.
        ranked.sort_by(|(_, one), (_, other)| match (one, other) {
            (Some(one), Some(other)) => one.order(other),
            (one, other) => other.is_some().cmp(&one.is_some()),
        });
        ranked
    }

    fn by_prompt(&self, wanted: Wanted<'_>) -> Result<Selection, Box<Diagnostic>> {
        let Wanted {
            prompts,
            blocks,
            request,
            ..
        } = wanted;
        let wanted = || match (prompts.last().copied().unwrap_or_default(), blocks.first()) {
            ("", Some(block)) => block.describe(),
            (text, _) => super::rounds::quote(text),
        };
        let is_candidate = |entry: &Candidate| entry.unmet(request).is_none();
        if let [only @ Candidate { prompt: None, .. }] = &self.entries[..]
            && is_candidate(only)
        {
            return Ok(Selection {
                scenario_idx: 0,
                reason: SelectionReason::Only,
                others: Vec::new(),
            });
        }
        let texts = measured(prompts);
        let mut ranked = self.ranked(&texts, blocks);
        // Stable: those that are no candidates come last.
        ranked.sort_by_cached_key(|&(idx, _)| !is_candidate(&self.entries[idx]));
        let others = |from: usize| {
            let next = ranked.iter().skip(from).take(N_OTHERS);
            next.map(|&(scenario_idx, near)| {
                let entry = &self.entries[scenario_idx];
                Ranked {
                    scenario_idx,
                    name: entry.name.clone(),
                    distance: near.map(|near| match near.distance <= 1.0 {
                        true => near.distance,
                        false => entry.distance(&texts),
                    }),
                    prompt: entry.shown.clone(),
                    unmet: entry.unmet(request),
                }
            })
            .collect::<Vec<_>>()
        };
        // Of several with one prompt, or whose blocks are there, the one without a history is meant: by their histories the
        // others are chosen.
        let has_twin = |idx: usize, near: Nearness| {
            let first = &self.entries[idx];
            let is_same = |&&(other, other_near): &&(usize, Option<Nearness>)| {
                let other = &self.entries[other];
                let have_blocks = || [first, other].map(|it| it.has_blocks(blocks).is_some());
                other_near == Some(near)
                    && is_candidate(other)
                    && (other.has_prompt_of(first) || have_blocks() == [true; 2])
            };
            ranked.iter().filter(is_same).count() > 1
        };
        let is_near = |near: Nearness| near.distance <= self.max_distance;
        let first = ranked
            .first()
            .filter(|&&(idx, near)| is_candidate(&self.entries[idx]) && near.is_some_and(is_near));
        let mut any = self.entries.iter();
        let any = any.position(|entry| entry.takes_any && is_candidate(entry));
        let selection = |scenario_idx, reason, from| Selection {
            scenario_idx,
            reason,
            others: others(from),
        };
        let (wanted, max_distance) = (wanted(), self.max_distance);
        let (message, help) = match (first, any) {
            (Some(&(idx, Some(near))), _) if !has_twin(idx, near) => {
                return Ok(selection(idx, SelectionReason::Prompt(near.distance), 1));
            }
            // Which of two with one prompt is meant, the prompt can't tell.
            (Some(_), _) => (
                format!("several timelines have the prompt {wanted}"),
                "name the timeline (`x-scenario-name`, `x-scenario-session-id`)",
            ),
            (None, Some(idx)) => return Ok(selection(idx, SelectionReason::Any, 0)),
            // The nearest may have the prompt, and lack only its conditions.
            (None, None) if matches!(ranked.first(), Some(&(_, Some(near))) if is_near(near)) => (
                format!(
                    "no timeline with a prompt near {wanted} has a `match` that the request meets"
                ),
                "correct the request, or the `match` of the timeline",
            ),
            (None, None) => (
                format!("no timeline's prompt is within {max_distance} of {wanted}"),
                "correct the prompt, name the timeline (`x-scenario-name`, `--scenario-name`), or take any prompt with `--any-prompt`",
            ),
        };
        let mut found = Diagnostic::error(codes::SELECT_FAR, message).with_help(help);
        found.notes.extend(others(0).iter().map(Ranked::to_string));
        Err(Box::new(found))
    }

    /// How near the nearest of `texts` is to the prompt of `entry`. A text may be nearer to another one than its blocks.
    fn nearness(
        &self,
        entry: &Candidate,
        texts: &[Measured],
        blocks: &[&RequestedBlock],
    ) -> Option<Nearness> {
        let distance_of_blocks = match texts.is_empty() {
            true => 0.0,
            false => self.max_distance,
        };
        let by_blocks = entry.has_blocks(blocks).map(|is_all| Nearness {
            distance: distance_of_blocks,
            only_holds: !is_all,
            length: entry.blocks.iter().map(ExpectedBlock::weight).sum(),
            has_history: !entry.history.is_empty(),
        });
        let Some(prompt) = &entry.prompt else {
            return by_blocks;
        };
        texts
            .iter()
            .map(|text| {
                let only_holds = text != prompt && contains_words(&text.text, &prompt.text);
                let exact = match only_holds {
                    true => Some(0.0),
                    false => distance(text, prompt, self.max_distance),
                };
                Nearness {
                    distance: exact.unwrap_or_else(|| 2.0 + least_distance(text, prompt)),
                    only_holds,
                    length: prompt.length,
                    has_history: !entry.history.is_empty(),
                }
            })
            .chain(by_blocks)
            .min_by(Nearness::order)
    }
}

impl Candidate {
    /// Whether its prompt is all of these blocks; `None` if it is none of them, or has others.
    fn has_blocks(&self, blocks: &[&RequestedBlock]) -> Option<bool> {
        let texts = UserSide::default().normal_texts();
        let found = blocks::compare(self.blocks.iter(), blocks, &texts);
        let is_prompt = !self.blocks.is_empty() && found.missing.is_none();
        is_prompt.then_some(found.more.is_none())
    }

    /// How far its prompt is from the nearest of `texts`.
    fn distance(&self, texts: &[Measured]) -> f64 {
        let prompts = texts.iter().zip(self.prompt.iter().cycle());
        let all = prompts.filter_map(|(text, prompt)| distance(text, prompt, 1.0));
        all.fold(1.0, f64::min)
    }

    /// Whether the prompt can't tell the two apart.
    fn has_prompt_of(&self, other: &Self) -> bool {
        self.prompt == other.prompt && self.blocks == other.blocks
    }

    fn unmet(&self, request: Option<&Request>) -> Option<String> {
        self.condition.as_ref()?.unmet(request?)
    }
}

/// Whether the conditions of two timelines, or what they have above `sessionStart`, keep a request from being meant for
/// both.
pub(super) fn is_excluded(one: &Timeline, other: &Timeline) -> bool {
    let conditions = one.request_match.as_ref().zip(other.request_match.as_ref());
    conditions.is_some_and(|(one, other)| one.excludes(other))
        || history_to_choose_by(one) != history_to_choose_by(other)
}

/// What stands above `sessionStart`, for comparing: texts, and the ids of calls.
pub(super) fn history_to_choose_by(timeline: &Timeline) -> Vec<String> {
    let above = &timeline.events[..timeline.boundary().unwrap_or(0)];
    let texts = above.iter().flat_map(|event| match &event.kind {
        EventKind::ToolUse(call) => vec![normalise(&call.call_id)],
        _ => texts_of(event),
    });
    texts.collect()
}

/// What is said in an event, normal; of an input without a text, its blocks.
pub(super) fn texts_of(event: &TimelineEvent) -> Vec<String> {
    match &event.kind {
        EventKind::UserInputs(inputs) => {
            let blocks = |input: &UserInput| format!("{:?}", blocks::expected(input));
            let texts = inputs.iter().map(|input| match input.prompt_text() {
                Some(text) => normalise(&text),
                None => blocks(input),
            });
            texts.collect()
        }
        EventKind::Response(response) => {
            let elements = response.elements.iter();
            let entries = elements.filter_map(|element| match element {
                ResponseElement::Assistant(entries) => Some(entries),
                _ => None,
            });
            let texts = entries.flatten().map(|entry| block_text(&entry.value));
            let text: String = texts.chain(response.refusal.clone()).collect();
            let text = Some(normalise(&text)).filter(|text| !text.is_empty());
            text.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The texts that are not empty, normal.
fn measured(texts: &[&str]) -> Vec<Measured> {
    let texts = texts.iter().map(|text| Measured::new(normalise(text)));
    texts.filter(|text| text.length > 0).collect()
}

/// The texts of a request's history, normal.
fn normal_texts(request: &Request) -> Vec<String> {
    let parts = request.history.iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        Part::Text(text) => Some(normalise(text)),
        _ => None,
    });
    texts.collect()
}

/// More names are not listed.
const MAX_KNOWN: usize = 10;
/// More scripts are not compared with a history.
const MAX_TRIED: usize = 100;

/// The effective prompt for comparing, and the blocks of a first prompt without a text of its own; empty if there is none,
/// or it chooses nothing.
fn prompt_to_choose_by(timeline: &Timeline) -> (String, Vec<ExpectedBlock>) {
    if timeline.server.is_by_name {
        return Default::default();
    }
    let text = normalise(&timeline.effective_prompt().unwrap_or_default());
    let blocks = timeline.first_input().map(|input| match text.is_empty() {
        true => blocks::expected(input),
        false => blocks::expected_alone(input).unwrap_or_default(),
    });
    (text, blocks.unwrap_or_default())
}

fn has_prompt((text, blocks): &(String, Vec<ExpectedBlock>)) -> bool {
    !text.is_empty() || !blocks.is_empty()
}

fn same_prompt_diagnostic(timeline: &Timeline, other: &Timeline) -> Diagnostic {
    let message = format!(
        "`{}` and `{}` have the same prompt: the prompt can't select either of them",
        other.name, timeline.name
    );
    let span = timeline.first_input().map(|input| input.span);
    let line_of_other = other
        .first_input()
        .map_or(1, |input| other.source.position(input.span.start).line);
    Diagnostic::error(codes::SELECT_SAME, message)
        .at(&timeline.source, span.unwrap_or(timeline.name_span))
        .with_note(format!(
            "the other one: {}:{line_of_other}",
            other.source.name()
        ))
        .with_help(
            "change one prompt, tell the requests apart with `match: {system: …}`, or set `server: {byName: true}` in timelines that only `x-scenario-name` should select",
        )
}

impl Nearness {
    /// Nearer first; a text that is the prompt before one that only holds it; a longer prompt before a shorter one; last
    /// what has a history.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.distance
            .total_cmp(&other.distance)
            .then(self.only_holds.cmp(&other.only_holds))
            .then(other.length.cmp(&self.length))
            .then(self.has_history.cmp(&other.has_history))
    }
}

impl Selection {
    /// T-SEL-03, if the scenario was taken although its prompt is far away.
    pub fn doubt(&self, timeline: &Timeline) -> Option<Diagnostic> {
        if self.reason != SelectionReason::Any {
            return None;
        }
        let message = format!(
            "`{}` accepts any prompt, and is played although its own prompt differs greatly from the received one",
            timeline.name
        );
        Some(
            Diagnostic::warning(codes::SELECT_DOUBT, message)
                .at(&timeline.source, timeline.name_span),
        )
    }
}

impl fmt::Display for Ranked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: ", self.name)?;
        match self.distance {
            None => formatter.write_str("no prompt"),
            Some(distance) => write!(formatter, "distance {distance:.2}"),
        }?;
        if let Some(prompt) = &self.prompt {
            write!(formatter, " from {prompt}")?;
        }
        match &self.unmet {
            Some(unmet) => write!(formatter, "; its `match` fails: {unmet}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SelectionReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => formatter.write_str("by its name"),
            Self::SessionId => formatter.write_str("by its session id"),
            Self::Prompt(distance) => write!(formatter, "by its prompt, distance {distance:.2}"),
            Self::History => formatter.write_str("by its history"),
            Self::Only => formatter.write_str("the only one"),
            Self::Any => formatter.write_str("it takes any prompt"),
        }
    }
}
