//! Where in the script a request is: found from the answers and results that it already holds.
//!
//! The history is walked along the turns. Turns that are only errors leave no trace in a history, empty answers and
//! cancelled ones may leave none: the walk may pass over them. What the last round of the history holds decides
//! whether the turn found there is the one that is asked for.

mod answers;
mod prefill;
mod prompts;
mod results;

use super::llm_script::LlmScript;
use super::request::{Request, RequestedResult};
use super::rounds::{Fit, NormalTexts, Rounds, Said, UserSide, quote};
use super::session::Servings;
use super::text::is_reminder;
use super::turns::{ExpectedInput, Turn};
use answers::answers_so;
pub(super) use answers::is_like;
pub(super) use prefill::rounds_along;
pub(super) use prompts::kept_prompt;
use prompts::scripted_text;

/// A turn whose request this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position<'r> {
    pub(super) turn_idx: usize,
    /// The turn that its conversation begins with.
    pub(super) begin: usize,
    /// The turn before it in the history.
    pub(super) after: Option<usize>,
    /// The results that came for the calls of each turn before it: the scripted id, and what arrived.
    pub(super) results: Vec<(usize, Vec<(String, &'r RequestedResult)>)>,
    /// The turn of each answer in the history; empty if that can't be followed.
    pub(super) answered: Vec<usize>,
    /// What the user's side says otherwise than the script, though it is still the turn's that it asks for.
    pub(super) user_differences: Vec<UserDifference>,
}

/// Why a request is at no turn.
#[derive(Debug, Clone, Default)]
pub(super) struct AlignmentError {
    /// The turn that would be next; none at the end of the script.
    pub(super) expected: Option<usize>,
    /// The turn before it in the history.
    pub(super) after: Option<usize>,
    pub(super) differences: Vec<FieldDifference>,
    pub(super) rejected: Vec<Rejection>,
    /// Whether the history can't be followed: what is rejected says why, for each place where it may have begun.
    pub(super) is_unaligned: bool,
}

impl AlignmentError {
    fn unaligned(rejected: Vec<Rejection>) -> Self {
        Self {
            rejected,
            is_unaligned: true,
            ..Self::default()
        }
    }
}

/// A field that is not what the script expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDifference {
    /// Which: `user text`, `results`, ….
    pub field: &'static str,
    /// What the script expects.
    pub expected: String,
    /// What arrived.
    pub arrived: String,
}

/// What the user's side of a request says otherwise than the script, though it can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDifference {
    /// The turn that it asks for, or asked for in the history.
    pub turn_idx: usize,
    /// What it is.
    pub kind: UserDifferenceKind,
    /// The text, or the block, in words.
    pub text: String,
}

/// How the user's side departs from the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserDifferenceKind {
    /// Something is there that the script has nowhere.
    Additional,
    /// A block of a prompt is missing in the history.
    MissingBlock,
}

/// A turn that was considered, and why it is not the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The turn.
    pub turn_idx: usize,
    /// Why it is not.
    pub why: String,
    /// Whether the history holds the answers around it, and not its own.
    pub is_gap: bool,
    /// How far the history was followed up to there.
    n_followed: usize,
}

impl Rejection {
    fn new(turn_idx: usize, why: String) -> Self {
        Self {
            turn_idx,
            why,
            is_gap: false,
            n_followed: 0,
        }
    }

    /// A turn whose answer, or whose prompt, the history leaves out.
    pub(super) fn gap(turn_idx: usize, why: String) -> Self {
        Self {
            is_gap: true,
            ..Self::new(turn_idx, why)
        }
    }

    /// The same in a round of the history, whose prompt may be the turn's.
    fn in_round(self, round_idx: usize, is_asked: bool) -> Self {
        Self {
            n_followed: 2 * round_idx + usize::from(is_asked),
            ..self
        }
    }
}

/// A place in the script between two turns.
#[derive(Clone, Copy, Default)]
struct Place {
    next: usize,
    after: Option<usize>,
    /// The first answered round whose user side is after the turn `after`.
    results_from: usize,
    /// Whether the next turn takes any text of the user's.
    takes_any_text: bool,
}

/// Rounds of a history that came between one turn and the next.
#[derive(Clone, Copy)]
struct Step {
    place: Place,
    /// The turn that they ask for.
    turn_idx: Option<usize>,
    /// The last of the rounds; behind the answered ones, that which waits for its answer.
    last_round: usize,
}

/// A history along the script.
struct Walk {
    place: Place,
    /// The turn of each answer.
    answered: Vec<usize>,
    steps: Vec<Step>,
}

/// More starts than these are not tried.
const MAX_STARTS: usize = 1000;
/// More rejected turns than these are not told.
const MAX_REJECTIONS: usize = 5;

pub(super) fn locate<'r>(
    script: &LlmScript,
    request: &'r Request,
    servings: &Servings,
) -> Result<Position<'r>, AlignmentError> {
    let rounds = rounds_along(script, request);
    let aligner = Aligner::new(script, &rounds, servings);
    if let Some(previous) = &request.previous {
        let place = Place {
            next: previous.turn_idx + 1,
            after: Some(previous.turn_idx).filter(|&idx| idx < script.turns.turns.len()),
            ..Place::default()
        };
        let walk = aligner.walk(place);
        return aligner.arrive(walk.map_err(|why| AlignmentError::unaligned(vec![why]))?);
    }
    aligner.begin()
}

/// Goes on from the turn after `next - 1`, whatever the history holds: results are not asked for where none came.
pub(super) fn locate_at<'r>(
    script: &LlmScript,
    request: &'r Request,
    servings: &Servings,
    next: usize,
) -> Option<Position<'r>> {
    let rounds = rounds_along(script, request);
    let aligner = Aligner::new(script, &rounds, servings);
    // Results say where a request is, if their calls were made in this session.
    let anchor = rounds
        .last
        .results
        .iter()
        .find_map(|result| script.turn_of_call(&result.call_id))
        .filter(|&turn_idx| servings.is_played(script, turn_idx));
    let place = match anchor {
        Some(turn_idx) => Place {
            next: turn_idx + 1,
            after: Some(turn_idx),
            results_from: aligner.first_round_with_calls_of(turn_idx) + 1,
            ..Place::default()
        },
        None if next == 0 => Place {
            results_from: rounds.answered.len(),
            ..aligner
                .best_start(&aligner.last_texts)
                .or_else(|| aligner.first_live())?
        },
        None => Place {
            next,
            results_from: rounds.answered.len(),
            ..Place::default()
        },
    };
    aligner.arrive(Walk::begin(place)).ok()
}

/// The turn `next`, if its input is among what is said last.
pub(super) fn locate_next<'r>(
    script: &LlmScript,
    request: &'r Request,
    servings: &Servings,
    next: usize,
) -> Result<Position<'r>, AlignmentError> {
    let rounds = rounds_along(script, request);
    let aligner = Aligner::new(script, &rounds, servings);
    let mut differences = Vec::new();
    match aligner.next_asked(Place::start(next, false), &mut differences) {
        Some(turn_idx) => Ok(Position {
            turn_idx,
            begin: next,
            after: None,
            results: Vec::new(),
            answered: Vec::new(),
            user_differences: Vec::new(),
        }),
        None => Err(AlignmentError {
            expected: aligner.first_unspent(next),
            differences,
            ..AlignmentError::default()
        }),
    }
}

struct Aligner<'a, 'r> {
    script: &'a LlmScript,
    turns: &'a [Turn],
    rounds: &'a Rounds<'r>,
    last_texts: NormalTexts,
    servings: &'a Servings,
}

impl<'a, 'r> Aligner<'a, 'r> {
    fn new(script: &'a LlmScript, rounds: &'a Rounds<'r>, servings: &'a Servings) -> Self {
        Self {
            script,
            turns: &script.turns.turns,
            rounds,
            last_texts: rounds.last.normal_texts(),
            servings,
        }
    }

    fn begin(&self) -> Result<Position<'r>, AlignmentError> {
        let texts = self.rounds.first().normal_texts();
        if self.rounds.answered.is_empty() {
            let start = self.best_start(&texts);
            let start = start.or_else(|| self.first_live());
            return self.arrive(Walk::begin(start.ok_or_else(AlignmentError::default)?));
        }
        let mut rejected: Vec<Rejection> = Vec::new();
        let mut nearest: Option<AlignmentError> = None;
        for start in self.starts(&texts) {
            match self.walk(Place::start(start, self.takes_any_prompt(start))) {
                Err(rejection) => {
                    if rejected.len() < MAX_REJECTIONS && !rejected.contains(&rejection) {
                        rejected.push(rejection);
                    }
                }
                Ok(walk) => match self.arrive(walk) {
                    Ok(position) => return Ok(position),
                    Err(lost) => nearest = nearest.or(Some(lost)),
                },
            }
        }
        if let Some(lost) = nearest {
            return Err(lost);
        }
        // An answer that is left out is no history that was made shorter: what stood around it is still there.
        let gap = rejected.iter().find(|rejection| rejection.is_gap);
        let gap = gap.map(|rejection| rejection.turn_idx);
        // Where it was followed farther, it is more likely to have begun.
        let farthest = rejected.iter().map(|it| it.n_followed).max();
        rejected.retain(|it| it.is_gap || Some(it.n_followed) == farthest);
        Err(AlignmentError {
            expected: gap,
            is_unaligned: gap.is_none(),
            ..AlignmentError::unaligned(rejected)
        })
    }

    fn first_live(&self) -> Option<Place> {
        let start = self.script.turns.first_live()?;
        Some(Place::start(start, self.takes_any_prompt(start)))
    }

    /// Whether the conversation may begin there with any text: `anyPrompt`.
    fn takes_any_prompt(&self, turn_idx: usize) -> bool {
        self.script.timeline.server.any_prompt && self.script.turns.first_live() == Some(turn_idx)
    }

    /// The first turns of the live segments at which a conversation may begin: the first, and each one before which
    /// everything was played in this session.
    fn reached(&self) -> impl Iterator<Item = usize> {
        let turns = self.turns.iter().enumerate();
        let live = turns.filter(|(_, turn)| turn.begins_segment && !turn.is_history);
        let mut before = None;
        live.map(|(start, _)| start).take_while(move |&start| {
            let from = before.replace(start).unwrap_or(start);
            (from..start).all(|turn_idx| self.servings.is_played(self.script, turn_idx))
        })
    }

    /// The first segment at which a conversation may begin that says this.
    fn best_start(&self, texts: &NormalTexts) -> Option<Place> {
        let start = *self.fitting_starts(texts).first()?;
        Some(Place::start(start, false))
    }

    /// The segments that were reached and whose input fits what was said; equal ones before those that are only
    /// contained. What belongs to an earlier segment must not be said with it: its answer would have been forgotten.
    fn fitting_starts(&self, texts: &NormalTexts) -> Vec<usize> {
        let has_earlier = |start: usize| {
            self.reached()
                .take_while(|&earlier| earlier < start)
                .filter_map(|earlier| self.turns[earlier].input.as_ref())
                .any(|input| input.text.is_some() && texts.holds(&input.normal))
        };
        let fit = |start: usize| {
            let input = self.turns[start].input.as_ref();
            let input = input.filter(|input| input.text.is_some());
            input.and_then(|input| texts.fit_of_last(&input.normal))
        };
        let fitting = |wanted| {
            self.reached()
                .filter(move |&start| fit(start) == Some(wanted))
        };
        fitting(Fit::Equal)
            .chain(fitting(Fit::Contained))
            .filter(|&start| !has_earlier(start))
            .collect()
    }

    /// Where a conversation with answers may have begun, likely places first: segments that were reached and whose
    /// input fits, the first live segment, the top.
    fn starts(&self, texts: &NormalTexts) -> Vec<usize> {
        let mut starts: Vec<usize> = self
            .fitting_starts(texts)
            .into_iter()
            .chain(self.script.turns.first_live())
            .chain((!self.turns.is_empty()).then_some(0))
            .take(MAX_STARTS)
            .collect();
        let mut seen = std::collections::HashSet::new();
        starts.retain(|&start| seen.insert(start));
        starts
    }

    /// Walks the answered rounds.
    fn walk(&self, mut place: Place) -> Result<Walk, Rejection> {
        let mut answered = Vec::with_capacity(self.rounds.answered.len());
        let mut steps = Vec::new();
        let mut seen_calls: Vec<&str> = Vec::new();
        for (round_idx, (side, said)) in self.rounds.answered.iter().enumerate() {
            let goes_on = place.after.is_some_and(|turn_idx| {
                !said.calls.is_empty()
                    && said.calls.iter().all(|call| {
                        !seen_calls.contains(&call.id.as_str())
                            && self.script.turn_of_call(&call.id) == Some(turn_idx)
                    })
            });
            if goes_on {
                let checked = self.check_between_calls(place, side);
                checked.map_err(|why| why.in_round(round_idx, true))?;
            } else {
                let turn_idx = self.next_answer(place.next, said).map_err(|why| {
                    let is_asked = self.check_said(place, place.next, side).is_ok();
                    why.in_round(round_idx, is_asked)
                })?;
                let checked = self.check_said(place, turn_idx, side);
                checked.map_err(|why| why.in_round(round_idx, true))?;
                steps.push(Step {
                    place,
                    turn_idx: Some(turn_idx),
                    last_round: round_idx,
                });
                place = Place {
                    next: turn_idx + 1,
                    after: Some(turn_idx),
                    results_from: round_idx + 1,
                    ..Place::default()
                };
                seen_calls.clear();
            }
            answered.extend(place.after);
            let ids = said.calls.iter().map(|call| call.id.as_str());
            seen_calls.extend(ids.filter(|id| !id.is_empty()));
        }
        Ok(Walk {
            place,
            answered,
            steps,
        })
    }

    /// Between the calls of one answer, the user says nothing.
    fn check_between_calls(&self, place: Place, side: &UserSide<'_>) -> Result<(), Rejection> {
        let turn_idx = place.after.unwrap_or_default();
        match side.texts.iter().find(|text| !is_reminder(text)) {
            Some(text) if !self.turns[turn_idx].is_cancelled => Err(Rejection::new(
                turn_idx,
                format!(
                    "between its calls, the history holds the user's text {}",
                    quote(text)
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The first turn from `next` on that answered so, past those that leave no trace.
    fn next_answer(&self, next: usize, said: &Said<'_>) -> Result<usize, Rejection> {
        let mut turn_idx = next;
        loop {
            let Some(turn) = self.turns.get(turn_idx) else {
                return Err(Rejection::new(
                    turn_idx.saturating_sub(1),
                    "the history goes on after the last turn of the script".into(),
                ));
            };
            match answers_so(turn, said) {
                Ok(()) => return Ok(turn_idx),
                Err(why) if !may_be_missing(turn) => {
                    return Err(self.rejection(turn_idx, why, said));
                }
                Err(_) => turn_idx += 1,
            }
        }
    }

    /// Why an answer of the history is not that of a turn: it may be that of a later one.
    fn rejection(&self, turn_idx: usize, why: String, said: &Said<'_>) -> Rejection {
        // What stands before `sessionStart` a conversation may begin behind.
        if self.turns[turn_idx].is_history {
            return Rejection::new(turn_idx, why);
        }
        if said.calls.is_empty() && said.squeezed.is_empty() {
            let why = "the history holds an empty message in place of its answer";
            return Rejection::gap(turn_idx, why.into());
        }
        let later = (turn_idx + 1..self.turns.len()).find(|&later| {
            let turn = &self.turns[later];
            match said.calls.is_empty() {
                true => turn.squeezed == said.squeezed && turn.calls().next().is_none(),
                false => said
                    .calls
                    .iter()
                    .all(|call| self.script.turn_of_call(&call.id) == Some(later)),
            }
        });
        match later {
            Some(later) => Rejection::gap(
                turn_idx,
                format!(
                    "the history is missing its answer, and continues with that of turn {}",
                    later + 1
                ),
            ),
            None => Rejection::new(turn_idx, why),
        }
    }

    /// The turn that the last round asks for, if the rounds before hold what the script has too.
    fn arrive(&self, walk: Walk) -> Result<Position<'r>, AlignmentError> {
        let Walk {
            place,
            answered,
            mut steps,
        } = walk;
        let mut differences = Vec::new();
        let turn_idx = self.next_asked(place, &mut differences);
        // Without an input of its own, the first turn takes the prompt that its scenario is chosen by.
        let is_prompt =
            |turn_idx: usize| place.after.is_none() && self.turns[turn_idx].input.is_none();
        let early = turn_idx
            .filter(|&turn_idx| !is_prompt(turn_idx))
            .and_then(|turn_idx| self.said_too_early(turn_idx));
        differences.extend(early);
        let last_round = self.rounds.answered.len();
        let begin = steps.first().map_or(place.next, |step| step.place.next);
        steps.push(Step {
            place,
            turn_idx,
            last_round,
        });
        let (mut all_results, mut user_differences) = (Vec::new(), Vec::new());
        for step in steps {
            let is_past = step.last_round < last_round;
            let results = self.results_of(step);
            let mut of_step: Vec<FieldDifference> = Vec::new();
            of_step.extend(self.compare_results(step, &results));
            of_step.extend(self.said_beside(step));
            of_step.extend(self.inexact(step));
            let (missing, more) = self.blocks(step);
            match missing {
                // Clients may keep no images.
                Some(missing) if is_past => {
                    user_differences.extend(step.turn_idx.map(|turn_idx| UserDifference {
                        turn_idx,
                        kind: UserDifferenceKind::MissingBlock,
                        text: missing.expected,
                    }));
                }
                missing => of_step.extend(missing),
            }
            differences.extend(of_step.into_iter().map(|found| match is_past {
                true => in_history(step, found),
                false => found,
            }));
            user_differences.extend(step.turn_idx.zip(more).map(|(turn_idx, text)| {
                UserDifference {
                    turn_idx,
                    kind: UserDifferenceKind::Additional,
                    text,
                }
            }));
            if let Some(after) = step.place.after {
                let results = results.into_iter();
                let results = results.map(|(id, result)| (id.to_owned(), result));
                all_results.push((after, results.collect()));
            }
        }
        match turn_idx {
            Some(turn_idx) if differences.is_empty() => Ok(Position {
                turn_idx,
                begin,
                after: place.after,
                results: all_results,
                answered,
                user_differences,
            }),
            _ => Err(AlignmentError {
                expected: self.first_unspent(place.next),
                after: place.after,
                differences,
                ..AlignmentError::default()
            }),
        }
    }

    /// The user's side of a round.
    fn side(&self, round_idx: usize) -> &UserSide<'r> {
        let answered = self.rounds.answered.get(round_idx);
        answered.map_or(&self.rounds.last, |(side, _)| side)
    }

    fn first_round_with_calls_of(&self, turn_idx: usize) -> usize {
        self.rounds
            .answered
            .iter()
            .position(|(_, said)| {
                said.calls
                    .iter()
                    .any(|call| self.script.turn_of_call(&call.id) == Some(turn_idx))
            })
            .unwrap_or(self.rounds.answered.len().saturating_sub(1))
    }

    /// The turn that the user's texts ask for: the next one, or one after turns that leave no trace. Each input
    /// that is passed over must have been said before the next one.
    fn next_asked(&self, place: Place, differences: &mut Vec<FieldDifference>) -> Option<usize> {
        let mut found = None;
        let mut from = 0;
        // An input that was passed over and not said: what comes next without one of its own is an answer to it.
        let mut unsaid = None;
        let mut turn_idx = place.next;
        while let Some(turn) = self.turns.get(turn_idx) {
            let takes_any = place.takes_any_text && turn_idx == place.next;
            let is_spent = self.is_spent(turn_idx);
            // Nothing was said yet that could have left no trace.
            if place.after.is_none() && turn_idx == place.next && turn.input.is_none() && !is_spent
            {
                return Some(turn_idx);
            }
            let fits = match (&turn.input, unsaid) {
                (None, Some(_)) => None,
                _ => self.input_fits(turn, from),
            };
            match fits {
                Some(used) => {
                    unsaid = None;
                    // Without an input of its own, a later turn is no better than one that has been found.
                    if !is_spent && (found.is_none() || used > from) {
                        found = Some(turn_idx);
                    }
                    from = used.max(from);
                }
                None if takes_any => {
                    if !is_spent {
                        found = Some(turn_idx);
                    }
                }
                None if let Some(prompt) = kept_prompt(self.script, turn) => {
                    let arrived = self.rounds.last.texts.get(from);
                    let missing = || self.other_text(Some(prompt), arrived);
                    differences.extend(found.is_none().then(missing));
                    break;
                }
                None => {
                    if found.is_none() && !may_be_missing(turn) {
                        let asked = self.turns[unsaid.unwrap_or(turn_idx)].input.as_ref();
                        let asked = asked.filter(|input| input.text.is_some());
                        let arrived = self.rounds.last.texts.last();
                        differences.push(self.other_text(asked, arrived));
                    }
                    if turn.input.is_some() {
                        unsaid = Some(turn_idx);
                    }
                }
            }
            if !may_be_missing(turn) {
                break;
            }
            turn_idx += 1;
        }
        found
    }

    /// The user's text is not that of a prompt.
    fn other_text(&self, asked: Option<&ExpectedInput>, arrived: Option<&&str>) -> FieldDifference {
        let expected = asked.map(|input| scripted_text(self.script, input));
        FieldDifference {
            field: "user text",
            expected: expected.unwrap_or_else(|| "any".into()),
            arrived: arrived.map_or("none".into(), |text| quote(text)),
        }
    }

    fn first_unspent(&self, next: usize) -> Option<usize> {
        (next..self.turns.len()).find(|&turn_idx| !self.is_spent(turn_idx))
    }

    fn is_spent(&self, turn_idx: usize) -> bool {
        self.servings.is_spent(self.script, turn_idx)
    }

    /// Whether the input before `turn` is among the texts from `from` on, as the index after it. A turn without one
    /// takes whatever comes.
    fn input_fits(&self, turn: &Turn, from: usize) -> Option<usize> {
        let Some(input) = &turn.input else {
            return Some(from);
        };
        match &input.text {
            None => Some(from),
            Some(_) => self
                .last_texts
                .find(&input.normal, from)
                .or(input.is_keys.then_some(from)),
        }
    }
}

/// A difference of a step that has its answer.
fn in_history(step: Step, found: FieldDifference) -> FieldDifference {
    let turn_idx = step.turn_idx.unwrap_or(step.place.next);
    FieldDifference {
        expected: format!(
            "{} before the answer of turn {}",
            found.expected,
            turn_idx + 1
        ),
        ..found
    }
}

impl Walk {
    /// A history without an answer.
    fn begin(place: Place) -> Self {
        Self {
            place,
            answered: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Place {
    fn start(turn_idx: usize, takes_any_text: bool) -> Self {
        Self {
            next: turn_idx,
            takes_any_text,
            ..Self::default()
        }
    }
}

/// Whether a history may hold no answer of the turn.
pub(super) fn may_be_missing(turn: &Turn) -> bool {
    turn.is_only_errors() || turn.is_silent() || turn.is_cancelled
}
