//! Pieces of text: a clause, and the items into which it falls where it has several facts of one kind.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::facts::{Fact, Rival, Roles, Said, Word, read};
use super::said::Element;
use super::same::{Same, same};
use super::text::{Language, fold, part, pattern, place};

/// What says one thing: facts, content words, a sign.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) facts: Vec<Fact>,
    pub(super) words: Vec<Word>,
    /// Whether it is denied.
    pub(super) is_denied: bool,
    pub(super) roles: Roles,
    /// Whether it says `none` or `no`.
    pub(super) says_none: bool,
    /// Where its text begins in that in which its words and facts have their places.
    pub(super) start: i64,
    /// Whether a denial in a name is left out of `is_denied`.
    pub(super) has_denying_name: bool,
}

impl Piece {
    fn new(text: &str, facts: Vec<Fact>, words: Vec<Word>, is_denied: bool, roles: Roles) -> Self {
        const NOBODY: &[&str] = &["nobody", "nothing", "neither", "niemand", "nichts", "weder"];
        let is_none = |fact: &Fact| fact.is_zero() && fact.text.chars().all(char::is_alphabetic);
        let lower = text.to_lowercase();
        let mut words_of_text = lower.split(|letter: char| !letter.is_alphabetic());
        let says_nobody =
            lower.contains("no one ") || words_of_text.any(|word| NOBODY.contains(&word));
        Self {
            text: text.to_owned(),
            says_none: says_nobody || facts.iter().any(is_none),
            facts: facts.into_iter().filter(|fact| !fact.is_zero()).collect(),
            words,
            is_denied,
            roles,
            start: 0,
            has_denying_name: false,
        }
    }

    /// Whether its words deny, those of names too.
    pub(super) fn denies(&self) -> bool {
        self.is_denied != self.has_denying_name
    }

    /// Its words and facts in their order; names are words.
    pub(super) fn elements(&self) -> Vec<Element<'_>> {
        let facts = self.facts.iter().filter(|fact| !fact.is_name());
        let words = self.words.iter().map(Element::Word);
        let mut elements: Vec<Element<'_>> = words.chain(facts.map(Element::Fact)).collect();
        elements.sort_by_key(|element| element.at());
        elements
    }

    pub(super) fn stems(&self) -> BTreeSet<&str> {
        self.words.iter().map(|word| word.stem.as_str()).collect()
    }

    /// Whether it says a fact of a source.
    pub(super) fn says(&self, fact: &Fact) -> bool {
        self.facts.iter().any(|own| same(own, fact) == Same::Yes)
    }

    pub(super) fn has_word(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word.stem == stem)
    }
}

/// A clause as a whole, and its items, if it has any.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    pub(super) whole: Piece,
    pub(super) items: Vec<Piece>,
}

impl Pieces {
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Piece> {
        std::iter::once(&mut self.whole).chain(&mut self.items)
    }
}

pattern!(
    VERB,
    r"(?i)\b(?:is|are|was|were|has|have|had|does|do|did|can|will|ist|sind|war|hat|wird|kann)\b|n't\b"
);

/// Whether a text has a verb that everybody knows.
pub(crate) fn has_verb(text: &str) -> bool {
    VERB.is_match(text)
}

/// What a clause says as a whole.
pub(super) fn piece(text: &str, said: &Said) -> Piece {
    Piece::new(
        text,
        said.facts.clone(),
        said.words.clone(),
        said.n_denials() % 2 == 1,
        said.roles.clone(),
    )
}

/// Takes a clause apart. An item without words on one side of its fact takes those of its neighbour: of "Inflation fell to
/// 1.9 % in May from 2.2 % in April", of both inflation fell.
pub(super) fn pieces(text: &str, language: Option<Language>, names: bool) -> Pieces {
    let text = fold(text);
    let said = read(&text, language, names);
    let whole = piece(&text, &said);
    let kinds: Vec<Rival> = said.facts.iter().filter_map(Fact::rival).collect();
    let several = |kind: &Rival| kinds.iter().filter(|known| *known == kind).count() > 1;
    let kind = [Rival::Number, Rival::Time, Rival::Date, Rival::Year]
        .into_iter()
        .find(several);
    let groups = match kind.is_none() && language == Some(Language::English) {
        true => name_groups(&said, &text),
        false => Vec::new(),
    };
    let cuts = cuts(&text, &said, kind, &groups);
    if cuts.is_empty() {
        return Pieces {
            whole,
            items: Vec::new(),
        };
    }
    let items = items(&text, &said, kind, &groups, &cuts);
    Pieces { whole, items }
}

fn cuts(text: &str, said: &Said, kind: Option<Rival>, groups: &[(i64, i64)]) -> Vec<i64> {
    pattern!(
        STRONG,
        r"(?i)[;.·|]\s+|,\s+(?:and |or |und |oder )?|\s+(?:and|or|und|oder|while|as well as|sowie|versus|vs\.?|against)\s+|:\s+|\s[–-]\s|\s*[()]\s*"
    );
    pattern!(
        WEAK,
        r"(?i)\s+(?:from|to|than|up|down|with|for|von|auf|bis|zu)\s+"
    );
    pattern!(AND, r",?\s+(?:and|or|as well as)\s+");
    pattern!(COMMA, r",\s");
    pattern!(COMMA_AND, r",\s+(?:and |und )?");
    let last = |pattern: &LazyLock<Regex>, from: i64, to: i64| {
        let (start, between) = part(text, from, to);
        let found = pattern.find_iter(between).last()?;
        Some(place(start + found.start()))
    };
    let is_named = |at: i64| {
        let mut words = said.words.iter();
        words.any(|word| word.at == at && word.is_capital)
    };
    let mut cuts = Vec::new();
    if groups.len() > 1 {
        for pair in groups.windows(2) {
            cuts.extend(last(&AND, pair[0].1, pair[1].0 + 1).map(|at| at + 1));
        }
    }
    if let Some(kind) = kind {
        let rivals: Vec<&Fact> = said
            .facts
            .iter()
            .filter(|fact| fact.rival() == Some(kind))
            .collect();
        for pair in rivals.windows(2) {
            let (from, to) = (pair[0].at + place(pair[0].text.len()) - 1, pair[1].at + 2);
            // What begins with a name is of that.
            let begins = || {
                let (start, between) = part(text, from, to);
                let ends = STRONG.find_iter(between);
                let ends = ends.filter(|end| !end.as_str().contains('('));
                let named = ends.filter(|end| is_named(place(start + end.end())));
                named.last().map(|end| place(start + end.start()))
            };
            let at = begins()
                .or_else(|| last(&STRONG, from, to))
                .or_else(|| last(&WEAK, from, to));
            cuts.extend(at.filter(|at| *at >= pair[0].at).map(|at| at + 1));
        }
        let mut more = Vec::new();
        for zero in rivals.iter().filter(|fact| fact.is_zero()) {
            let (start, rest) = part(text, zero.at, place(text.len()));
            if let Some(comma) = COMMA.find(rest) {
                let at = place(start + comma.start());
                if !cuts.iter().any(|cut: &i64| (at - cut).abs() < 4) {
                    more.push(at + 1);
                }
            }
        }
        cuts.extend(more);
        cuts.sort_unstable();
        cuts.dedup();
    } else if !said.denials.is_empty() && cuts.is_empty() {
        // `According to Nordbank, …` is no clause.
        let is_between = |comma: &regex::Match<'_>| {
            has_verb(&text[..comma.start()]) && has_verb(&text[comma.end()..])
        };
        let commas = COMMA_AND.find_iter(text).filter(is_between);
        cuts.extend(commas.map(|comma| place(comma.end())));
    }
    cuts
}

struct Zone<'s> {
    rival: Option<&'s Fact>,
    own: Vec<&'s Fact>,
    before: Vec<&'s Word>,
    after: Vec<&'s Word>,
    facts_before: Vec<&'s Fact>,
    facts_after: Vec<&'s Fact>,
    n_denials_before: usize,
    n_denials: usize,
    text: &'s str,
    start: i64,
}

fn items(
    text: &str,
    said: &Said,
    kind: Option<Rival>,
    groups: &[(i64, i64)],
    cuts: &[i64],
) -> Vec<Piece> {
    let ends = cuts.iter().copied().chain([place(text.len()) + 1]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let zones: Vec<Zone<'_>> = starts
        .zip(ends)
        .map(|(start, end)| {
            let is_inside = |at: i64| (start..end).contains(&at);
            let own: Vec<&Fact> = said
                .facts
                .iter()
                .filter(|fact| is_inside(fact.at))
                .collect();
            let rival =
                kind.and_then(|kind| own.iter().copied().find(|fact| fact.rival() == Some(kind)));
            let group = match kind {
                Some(_) => None,
                None => groups.iter().find(|group| is_inside(group.0)),
            };
            let at = rival
                .map(|fact| fact.at)
                .or(group.map(|group| group.0))
                .unwrap_or(start);
            let words = || said.words.iter().filter(|word| is_inside(word.at));
            let denials = || said.denials.iter().filter(|denial| is_inside(**denial));
            let n_zero = own.iter().filter(|fact| fact.is_zero()).count();
            Zone {
                rival,
                before: words().filter(|word| word.at < at).collect(),
                after: words().filter(|word| word.at >= at).collect(),
                facts_before: own.iter().copied().filter(|fact| fact.at < at).collect(),
                facts_after: own.iter().copied().filter(|fact| fact.at > at).collect(),
                n_denials_before: denials().filter(|denial| **denial < at).count(),
                n_denials: denials().count() + n_zero,
                own,
                text: part(text, start, end).1.trim_matches([' ', ',']),
                start: {
                    let (from, part) = part(text, start, end);
                    place(from + part.len() - part.trim_start_matches([' ', ',']).len())
                },
            }
        })
        .collect();
    let is_split = kind.is_some() || !groups.is_empty();
    let mut items = Vec::new();
    for (idx, zone) in zones.iter().enumerate() {
        let mut facts: Vec<&Fact> = zone.own.clone();
        let mut words: Vec<&Word> = zone.before.iter().chain(&zone.after).copied().collect();
        let mut n_denials = zone.n_denials;
        if is_split
            && zone.before.is_empty()
            && zone.facts_before.is_empty()
            && let Some(from) = zones[..idx]
                .iter()
                .rev()
                .find(|zone| !zone.before.is_empty() || !zone.facts_before.is_empty())
        {
            facts = from.facts_before.iter().copied().chain(facts).collect();
            let taken = from
                .before
                .iter()
                .copied()
                .filter(|word| word.is_capital || zone.after.is_empty() || !groups.is_empty());
            words = taken.chain(words).collect();
            n_denials += from.n_denials_before;
        }
        let is_closed = zone
            .rival
            .is_some_and(|fact| fact.unit.is_some() || fact.number().is_none());
        if kind.is_some()
            && zone.before.is_empty()
            && zone.after.is_empty()
            && zone.facts_after.is_empty()
            && !is_closed
            && let Some(from) = idx.checked_sub(1).map(|idx| &zones[idx])
            && (!from.after.is_empty() || !from.facts_after.is_empty())
        {
            facts.extend(from.facts_after.iter().filter(|fact| fact.rival() != kind));
            words.extend(&from.after);
        }
        // `Rooms 12 and 14 are booked`: both are.
        let is_name = |word: &&Word| !groups.is_empty() && word.is_capital;
        let is_bare = is_split
            && zone.after.iter().all(is_name)
            && zone.facts_after.iter().all(|fact| fact.is_name())
            && !has_verb(zone.text);
        let next = zones[idx + 1..].iter();
        let mut next = next.take_while(|next| next.before.is_empty());
        if is_bare && let Some(next) = next.find(|next| has_verb(next.text)) {
            words.extend(next.after.iter().copied().filter(|word| !is_name(word)));
            let is_other = |fact: &&Fact| !fact.is_name() && fact.rival() != kind;
            facts.extend(next.facts_after.iter().copied().filter(is_other));
            n_denials += next.n_denials - next.n_denials_before;
        }
        let facts = facts.into_iter().cloned().collect();
        let words = words.into_iter().cloned().collect();
        let item = Piece::new(
            zone.text,
            facts,
            words,
            n_denials % 2 == 1,
            said.roles.clone(),
        );
        items.push(Piece {
            start: zone.start,
            ..item
        });
    }
    if kind.is_some() {
        keep_names(&mut items);
    }
    items
}

/// An item without a name is of what the one before it names: `The parcel of Ada weighs 7 kg and contains 3 books.`
pub(super) fn keep_names(items: &mut [Piece]) {
    let mut names: Vec<Word> = Vec::new();
    for item in items {
        match item.words.iter().any(|word| word.is_capital) {
            true => {
                let named = item.words.iter();
                let named = named.filter(|word| word.is_capital && word.at > 0);
                names = named.map(Word::carried).collect();
            }
            false => drop(item.words.splice(0..0, names.iter().cloned())),
        }
    }
}

/// Where identifiers, and runs of capital words, begin and end. A first word alone is a name only before another one:
/// `Nova and Pixel are in stock`.
fn name_groups(said: &Said, text: &str) -> Vec<(i64, i64)> {
    let words = said.words.iter().filter(|word| word.is_capital);
    let words = words.map(|word| (word.at, word.at + place(word.lower.len())));
    let ids = said.facts.iter().filter(|fact| fact.is_id());
    let ids = ids.map(|fact| (fact.at, fact.at + place(fact.text.len())));
    let mut all: Vec<(i64, i64)> = words.chain(ids).collect();
    all.sort_unstable();
    let mut groups: Vec<(i64, i64)> = Vec::new();
    for (start, end) in all {
        match groups.last_mut() {
            Some(last) if part(text, last.1, start).1.trim().is_empty() => last.1 = end,
            _ => groups.push((start, end)),
        }
    }
    let between = |at: usize| {
        let (_, between) = part(text, groups[at].1, groups.get(at + 1)?.0);
        between.split_whitespace().next()
    };
    let is_joined = |at: usize| matches!(between(at), Some("," | "and" | "or"));
    let is_name = |at: &usize| {
        let (start, end) = groups[*at];
        start > 0 || part(text, start, end).1.contains(' ') || is_joined(*at)
    };
    (0..groups.len())
        .filter(is_name)
        .map(|at| groups[at])
        .collect()
}

/// The parts of a clause between commas and *and*.
pub(super) fn parts(clause: &str) -> impl Iterator<Item = &str> {
    pattern!(
        BETWEEN,
        r",\s*(?:and |or |und |oder )?|\s+(?:and|und|or|oder|as well as|sowie)\s+"
    );
    let parts = BETWEEN.split(clause);
    parts.filter(|part| !part.trim().is_empty())
}
