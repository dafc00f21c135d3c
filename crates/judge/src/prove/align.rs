//! Whether a clause says what a claim says: the same words and facts in the same order, and nothing between them that could
//! change what they say.
//!
//! Left out of a clause may be what joins another part to it (`X hired 5 people and` fired 3), what only says when, where or for
//! how much, and what follows. Everything else that a claim leaves out, such as `refused to`, makes it unproven.

use std::collections::BTreeSet;

use super::data::{BOUNDING, COMPARING, REPORTING, RESTRICTING, WEEKDAYS, month};
use super::facts::Fact;
use super::glue::{Glue, Join};
use super::pieces::Piece;
use super::said::Element;
use super::same::{Same, same};

/// A word or a fact in the order in which it says who does what.
#[derive(Debug, Clone)]
struct Token<'p> {
    said: Element<'p>,
    glue: &'p Glue,
    role: Option<&'p str>,
    /// Whether it is a name or a time.
    is_name: bool,
    /// Whether it only says when, where or for how much, behind a preposition.
    is_adjunct: bool,
    /// Whether a form of *be* makes it what is done to somebody, or what somebody is.
    is_passive: bool,
    /// Whether somebody does it, who stands before it.
    is_active: bool,
}

impl<'p> Token<'p> {
    fn new(said: Element<'p>) -> Self {
        let is_name = match said {
            Element::Word(word) => {
                let lower = word.lower.as_str();
                word.is_capital || WEEKDAYS.contains(lower) || month(lower).is_some()
            }
            Element::Fact(_) => true,
        };
        let glue = said.glue();
        Self {
            said,
            glue,
            role: glue.role.as_deref(),
            is_name,
            is_adjunct: glue.role.is_some() && is_name,
            is_passive: glue.is_be && matches!(said, Element::Word(_)),
            is_active: false,
        }
    }

    /// Whether both say the same, in whatever role.
    fn is_like(&self, other: &Self) -> bool {
        match (self.said, other.said) {
            (Element::Word(one), Element::Word(other)) => one.stem == other.stem,
            (Element::Fact(one), Element::Fact(other)) => {
                let is_bound = |about: &&str| COMPARING.contains(about);
                let bound = |fact: &'p Fact| fact.about.as_deref().filter(is_bound);
                same(one, other) == Same::Yes
                    && bound(other).is_none_or(|theirs| bound(one) == Some(theirs))
            }
            _ => false,
        }
    }

    /// Whether a token of a claim is one of a source, in the same role.
    fn is_proved_by(&self, other: &Self) -> bool {
        const TELLING: &[&str] = &[
            "from", "to", "by", "until", "since", "before", "after", "von", "nach", "bis", "seit",
            "vor",
        ];
        const CASES: &[&str] = &["den", "dem", "des", "einen", "einem", "eines"];
        let tells = |role: &str| TELLING.contains(&role) || CASES.contains(&role);
        let has_same_role = match (self.role, other.role) {
            (Some(one), Some(other)) => one == other || !(tells(one) || tells(other)),
            (None, Some(one)) if self.is_name && BOUNDING.contains(one) => false,
            (Some(one), None) | (None, Some(one)) => !CASES.contains(&one),
            (None, None) => true,
        };
        let is_turned =
            (self.is_passive && other.is_active) || (self.is_active && other.is_passive);
        self.is_like(other) && has_same_role && !is_turned
    }
}

/// The tokens of a piece, without those that were taken from elsewhere. What is done by somebody is in the order of what
/// somebody does.
fn tokens(piece: &Piece) -> Vec<Token<'_>> {
    let own = piece.elements().into_iter().filter(|said| said.at() >= 0);
    let mut tokens: Vec<Token<'_>> = own.map(Token::new).collect();
    // `Is the pool closed`, too, says what is done to it.
    let mut is_passive = tokens.first().is_some_and(|first| first.is_passive);
    for idx in 1..tokens.len() {
        let before = tokens[idx - 1].clone();
        let token = &mut tokens[idx];
        token.is_adjunct |= before.is_adjunct && token.is_name && token.glue.is_adjacent;
        is_passive |= token.is_passive;
        token.is_active = !is_passive && token.glue.join.is_none() && token.role.is_none();
    }
    // A first word is a name only if one follows.
    let is_name = tokens
        .get(1)
        .is_some_and(|next| next.is_name && next.glue.is_adjacent);
    if let Some(first) = tokens.first_mut() {
        first.is_name &= is_name || first.is_adjunct || matches!(first.said, Element::Fact(_));
    }
    tokens
}

/// What a clause says of a claim whose words and facts it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alignment {
    /// The same words say something else.
    Other,
    /// It says the same.
    Same {
        is_denied: bool,
        /// Whether the claim leaves nothing out of that part of the clause.
        is_whole: bool,
    },
}

/// Aligns a claim with a clause.
pub(super) fn align(claim: &Piece, source: &Piece) -> Alignment {
    /// A clause of more words is none that people write.
    const LONGEST: usize = 300;
    if source.words.len() + source.facts.len() > LONGEST {
        return Alignment::Other;
    }
    let own = tokens(source);
    let mut mine = tokens(claim);
    // `In the second quarter, sales rose` may stand behind.
    let intro = mine
        .iter()
        .position(|token| token.glue.join == Some(Join::Comma));
    if let (Some(intro), Some(Some(_))) = (intro, mine.first().map(|first| first.role)) {
        for token in &mut mine[..intro] {
            token.is_adjunct = true;
        }
    }
    let stands = |token: &Token<'_>| own.iter().any(|other| token.is_like(other));
    let is_foreign = mine
        .iter()
        .any(|token| token.is_name && matches!(token.said, Element::Word(_)) && !stands(token));
    mine.retain(stands);
    let (mut core, mut loose): (Vec<Token<'_>>, Vec<Token<'_>>) =
        mine.into_iter().partition(|token| !token.is_adjunct);
    if core.is_empty() {
        std::mem::swap(&mut core, &mut loose);
    }
    let carried = claim.elements().into_iter().filter(|said| said.at() < 0);
    loose.extend(carried.map(Token::new).filter(stands));
    let ends = paths(&core, &own);
    let said = ends.iter().find_map(|path| {
        // `Ann lives in Oslo and works in Bergen`: each place is that of its part.
        let joined: Vec<(i64, usize)> = core
            .iter()
            .zip(path)
            .filter(|(token, _)| token.glue.join.is_some())
            .map(|(token, at)| (token.said.at(), *at))
            .collect();
        let first = core.first().map(|first| first.said.at());
        let is_intro = |token: &Token<'_>| first.is_some_and(|first| token.said.at() < first);
        let is_of_part = |token: &Token<'_>, at: usize| {
            let claimed = joined.iter().filter(|(mine, _)| *mine < token.said.at());
            let stands = joined.iter().filter(|(_, own)| *own < at);
            is_intro(token) || claimed.count() == stands.count()
        };
        covers(path, &loose, &own, is_foreign, &is_of_part)
    });
    said.unwrap_or(Alignment::Other)
}

/// The ways in which the tokens of a claim stand in a clause in their order, by the places in the clause.
fn paths(core: &[Token<'_>], own: &[Token<'_>]) -> Vec<Vec<usize>> {
    let mut paths: Vec<Vec<usize>> = vec![Vec::new()];
    for token in core {
        let mut longer: Vec<Vec<usize>> = Vec::new();
        for (at, _) in own
            .iter()
            .enumerate()
            .filter(|(_, other)| token.is_proved_by(other))
        {
            let before = paths.iter().rfind(|path| {
                let last = path.last().copied();
                last.is_none_or(|last| last < at) && gap(last, at, own).is_some()
            });
            longer.extend(before.map(|path| path.iter().copied().chain([at]).collect()));
        }
        paths = longer;
    }
    paths
}

/// What stands between two tokens that follow each other in a claim: whether it is of another part; nothing if it could change
/// what they say.
fn gap(last: Option<usize>, next: usize, own: &[Token<'_>]) -> Option<bool> {
    let between = &own[last.map_or(0, |last| last + 1)..next];
    if between.iter().all(|token| token.is_adjunct) {
        return Some(false);
    }
    // `The office reports that apples are cheap.`
    let reports = |token: &Token<'_>| matches!(token.said, Element::Word(word) if REPORTING.contains(word.lower.as_str()));
    let is_plain = |token: &Token<'_>| token.is_name || token.is_adjunct || reports(token);
    let is_reported = last.is_none()
        && own[next].glue.is_that
        && between.last().is_some_and(reports)
        && between
            .iter()
            .all(|token| is_plain(token) && token.glue.denials.is_empty());
    if is_reported {
        return Some(false);
    }
    let ends_part = match own[next].glue.join {
        Some(Join::Strong) => true,
        Some(Join::Comma) => last.is_some(),
        None => false,
    };
    // `Ann and Bob attended`
    let restricts = |token: &Token<'_>| matches!(token.said, Element::Word(word) if RESTRICTING.contains(word.lower.as_str()));
    let is_number =
        |token: &Token<'_>| matches!(token.said, Element::Fact(fact) if fact.number().is_some());
    let is_coordinated = last.is_some()
        && !own[..next].iter().any(restricts)
        && between[0].glue.join.is_some()
        && between
            .iter()
            .all(|token| token.is_name && !is_number(token));
    (ends_part || is_coordinated).then_some(true)
}

/// Whether the rest of a claim stands in the same part of the clause, and then what that says.
fn covers(
    path: &[usize],
    loose: &[Token<'_>],
    own: &[Token<'_>],
    is_foreign: bool,
    is_of_part: &dyn Fn(&Token<'_>, usize) -> bool,
) -> Option<Alignment> {
    let mut skipped: BTreeSet<usize> = BTreeSet::new();
    let mut last = None;
    for at in path {
        if gap(last, *at, own) == Some(true) {
            // Where and when of what stands before it is no part of what is left out.
            let from = last.map_or(0, |last| last + 1);
            let times = own[from..*at].iter().take_while(|token| token.is_adjunct);
            skipped.extend(from + times.count()..*at);
        }
        last = Some(*at);
    }
    let last = last.map_or(0, |last| last + 1);
    // `…, in Bonn sank …` begins with a place.
    let begins = |at: &usize| {
        let mut behind = own[*at..].iter().skip_while(|token| token.is_adjunct);
        let is_next = behind
            .next()
            .is_some_and(|next| !own[*at].is_adjunct || next.glue.join.is_none());
        own[*at].glue.join.is_some() && is_next
    };
    let end = (last..own.len()).find(begins).unwrap_or(own.len());
    skipped.extend(end..own.len());
    let mut used: BTreeSet<usize> = path.iter().copied().collect();
    for token in loose {
        let at = (0..own.len()).find(|at| {
            !skipped.contains(at) && token.is_proved_by(&own[*at]) && is_of_part(token, *at)
        })?;
        used.insert(at);
    }
    let is_left = |at: usize| !used.contains(&at) && !skipped.contains(&at);
    // `Ina's sister` is not Ina, and what has a name of its own is not of another one.
    let is_owner = used.iter().any(|at| {
        let next = own.get(at + 1);
        next.is_some_and(|next| next.glue.is_owned) && is_left(at + 1)
    });
    let is_of_other = is_foreign
        && (0..own.len())
            .any(|at| is_left(at) && own[at].is_name && matches!(own[at].said, Element::Word(_)));
    // `Entry is free for children` is not free.
    let is_for_some = (0..own.len()).any(|at| {
        let is_role = matches!(
            own[at].role,
            Some("for" | "to" | "against" | "für" | "gegen")
        );
        is_role && !own[at].is_name && is_left(at)
    });
    if is_owner || is_of_other || is_for_some {
        return None;
    }
    let denying =
        (0..own.len()).filter(|at| !skipped.contains(at) && (used.contains(at) || *at < last));
    let denials: BTreeSet<i64> = denying
        .flat_map(|at| own[at].glue.denials.iter().copied())
        .collect();
    Some(Alignment::Same {
        is_denied: denials.len() % 2 == 1,
        is_whole: !(0..own.len()).any(is_left),
    })
}
