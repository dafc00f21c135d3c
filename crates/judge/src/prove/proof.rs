//! Whether a claim is supported, refuted or unproven.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::align::{Alignment, align};
use super::claims::{Claim, Part};
use super::data::{COMPARING, QUANTIFIERS, RESTRICTING, weekday};
use super::derived::invented;
use super::facts::{Fact, Value, Word, read};
use super::order::{has, has_same_roles, lacking};
use super::outline::LineKind;
use super::pairs::pairs;
use super::pieces::{Piece, Pieces, has_verb, pieces};
use super::records::ByRecord;
use super::same::{Same, same};
use super::sources::{Field, Passage, Sources, stems};
use super::text::{
    Language, UNKNOWN_SIGN, clauses, fold, is_title, language as text_language, pattern,
};
use cuecard_source::value::cut;

/// What is known of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Supported,
    Refuted,
    Unproven,
}

/// A verdict with what shows it.
#[derive(Debug, Clone)]
pub(super) struct Proof {
    pub(super) verdict: Verdict,
    /// Of a claim that is not supported, why; else what supports it.
    pub(super) why: String,
    /// The event of the passage, if one result shows it.
    pub(super) event: Option<usize>,
}

impl Proof {
    pub(super) fn new(verdict: Verdict, why: impl Into<String>) -> Self {
        Self {
            verdict,
            why: why.into(),
            event: None,
        }
    }

    pub(super) fn of(mut self, event: Option<usize>) -> Self {
        self.event = event;
        self
    }

    pub(super) fn is(&self, verdict: Verdict) -> bool {
        self.verdict == verdict
    }
}

use Verdict::{Refuted, Supported, Unproven};

/// What a claim takes from the lines above it, and from the clauses before.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    pub(super) facts: Vec<Fact>,
    pub(super) words: Vec<Word>,
    /// Whether a line above denies what hangs under it: `Not tested:`.
    is_denied: bool,
    /// Whether a name among them denies: `Login does not work`.
    has_denying_name: bool,
    /// Whether they are of lines above.
    pub(super) hangs: bool,
}

/// Proves claims by the sources.
pub(super) struct Prover<'s> {
    pub(super) sources: &'s Sources,
    /// The smallest part of the words of a claim that is only unproven and not refuted.
    pub(super) min_overlap: Option<f64>,
}

/// The first proof of the worst verdict.
pub(super) fn worst(proofs: &[Proof]) -> Proof {
    let first = |verdict| proofs.iter().find(|proof| proof.is(verdict));
    let worst = first(Refuted)
        .or_else(|| first(Unproven))
        .or(proofs.first());
    let nothing = || Proof::new(Unproven, "not proved");
    worst.cloned().unwrap_or_else(nothing)
}

/// So much of a passage is shown.
const LONGEST_SHOWN: usize = 100;

pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", cut(text.trim(), LONGEST_SHOWN))
}

impl Prover<'_> {
    pub(super) fn language(&self) -> Option<Language> {
        self.sources.language
    }

    /// Proves a claim. `proved` are the lines that were, which it must be proved with if it hangs under them.
    pub(super) fn prove(&self, claim: &Claim, proved: &HashSet<usize>) -> Proof {
        let language = self.language();
        let is_listed = matches!(
            claim.kind,
            LineKind::Heading | LineKind::Cell | LineKind::HeadCell
        );
        // A line in another language than the answer has no names that can be told from its words.
        let is_own = text_language(&claim.text, language) == language;
        let names = !is_listed && is_own && !is_title(&claim.text);
        let over: Vec<&str> = claim.over.iter().map(|above| above.text.as_str()).collect();
        let over = over.join(" . ");
        let mut naming = self.sources.namings(&over);
        naming.extend(self.sources.titles_in(&over));
        let carried = self.hanging(claim, &naming, proved);
        let hangs = carried.hangs;
        if self
            .sources
            .has_whole(&claim.text, &carried.words, &carried.facts)
        {
            return Proof::new(Supported, "it stands there as it is");
        }
        if claim.text.starts_with("[ ]") || claim.text.starts_with("[x]") {
            return Proof::new(Unproven, "no result has a box beside it");
        }
        // What says only a value or a flag of what hangs under it says nothing alone.
        let is_lead = claim.n_below > 0
            && (claim.kind == LineKind::Heading || claim.text.trim_end().ends_with(':'));
        if is_lead && self.sources.is_value(&read(&claim.text, language, false)) {
            return Proof::new(Supported, "it leads to what hangs under it");
        }
        let text = self.sources.with_words(&fold(&claim.text)).into_owned();
        let whole = pieces(&text, language, names).whole;
        let is_below =
            |fact: &&Fact| fact.number() == Some(claim.n_below as f64) && claim.n_below > 0;
        let invented: Vec<Proof> = whole
            .facts
            .iter()
            .filter_map(|fact| match invented(fact, &whole, self.sources) {
                Some(proof) if proof.is(Refuted) && is_below(&fact) => Some(Proof::new(
                    Unproven,
                    format!("{} is only the number of items below", fact.text),
                )),
                proof => proof,
            })
            .collect();
        if let Some(refuted) = invented.iter().find(|proof| proof.is(Refuted)) {
            return refuted.clone();
        }
        if let Some(pairs) = pairs(&text) {
            let proof = self.prove_pairs(&pairs, &carried, names);
            let open = invented.into_iter().next().filter(|_| proof.is(Supported));
            return open.unwrap_or(proof);
        }
        if whole.words.is_empty() && whole.facts.is_empty() && !hangs {
            return self.of_nothing(&whole);
        }
        let mut said = self.sources.namings(&text);
        said.extend(&naming);
        let parts = clauses(&text, language);
        if parts.len() > 1 {
            let taken = self.with_names(pieces(&text, language, names));
            let proof = self.prove_parts(&with(taken, &carried), &said);
            if proof.is(Supported) {
                return proof;
            }
        }
        let mut proofs = Vec::new();
        let first = parts.first().copied().unwrap_or_default();
        let first = pieces(first, language, names).whole;
        for (nth, clause) in parts.into_iter().enumerate() {
            let mut carried = carried.clone();
            // A fragment behind another one is about the same.
            if nth > 0 && carried.words.is_empty() && !has_verb(clause) {
                carried.words = first.words.iter().map(Word::carried).collect();
                let is_label = !has_verb(&first.text);
                let facts = first.facts.iter().filter(|fact| is_label || fact.is_id());
                carried.facts.extend(facts.map(Fact::carried));
            }
            let is_alone = carried.words.is_empty() && carried.facts.is_empty();
            proofs.push(match is_alone && self.sources.has_whole(clause, &[], &[]) {
                true => Proof::new(Supported, "it stands there as it is"),
                false => {
                    let taken = self.with_names(pieces(clause, language, names));
                    self.prove_parts(&with(taken, &carried), &said)
                }
            });
        }
        let worst = worst(&proofs);
        if !worst.is(Unproven) {
            return worst;
        }
        if let Some(first) = invented.into_iter().next() {
            return first;
        }
        if let Some(least) = self.min_overlap
            && self.shares(&whole).is_some_and(|part| part < least)
        {
            return Proof::new(Refuted, "the results have too few of its words");
        }
        worst
    }

    /// A piece without facts and words.
    fn of_nothing(&self, piece: &Piece) -> Proof {
        match (self.language(), piece.is_denied) {
            (None, _) => Proof::new(
                Unproven,
                "not proved: the words of this language are not known",
            ),
            (Some(_), true) => Proof::new(Unproven, "it only denies"),
            (Some(_), false) => Proof::new(Supported, "it says nothing"),
        }
    }

    /// Which part of the words of a piece all sources together have.
    fn shares(&self, piece: &Piece) -> Option<f64> {
        let wanted = piece.stems();
        let mut have: BTreeSet<&str> = BTreeSet::new();
        for passage in &self.sources.passages {
            have.extend(passage.piece.stems());
            have.extend(passage.header.words.iter().map(String::as_str));
        }
        for field in self
            .sources
            .records
            .iter()
            .flat_map(|record| &record.fields)
        {
            have.extend(field.words.iter().chain(&field.keys).map(String::as_str));
        }
        let count = wanted.iter().filter(|word| have.contains(**word)).count();
        (!wanted.is_empty()).then(|| count as f64 / wanted.len() as f64)
    }

    /// Of the lines above: all that those say which bind what hangs under them; of others the facts and words that name.
    fn hanging(&self, claim: &Claim, naming: &[&str], proved: &HashSet<usize>) -> Carried {
        let language = self.language();
        let names: BTreeSet<String> = naming
            .iter()
            .flat_map(|name| stems(name, language.or(Some(Language::English))))
            .collect();
        let names_itself = !self.sources.namings(&claim.text).is_empty();
        let mut carried = Carried::default();
        for (nth, above) in claim.over.iter().enumerate() {
            let mut before = claim.over[..nth].iter();
            let is_known = before.any(|other| other.text == above.text);
            // What names another one is not of the one before.
            if is_known || (above.part == Part::Before && names_itself) {
                continue;
            }
            let said = read(&above.text, language, false);
            // A cell is of its row and column, and what hangs under a value is of what has it.
            let is_value = match above.part {
                Part::HeadCell => true,
                Part::Key if self.sources.is_key(&above.text) => true,
                Part::Key => continue,
                Part::Head => self.sources.is_value(&said),
                Part::Before => false,
            };
            // What counts or quantifies is said of all that hangs there.
            let is_proved = above.part == Part::Head && proved.contains(&above.line);
            let facts = said.facts.iter().filter(|fact| {
                let names = matches!(fact.value, Value::Id(_) | Value::Date(_));
                // `Day 1` is no count.
                let is_label = fact.at > 0 && fact.glue.is_adjacent;
                let is_count = fact.number().is_some() && fact.unit.is_none() && !is_label;
                is_value || names || (is_proved && !is_count)
            });
            let facts: Vec<Fact> = facts.map(Fact::carried).collect();
            let words = said.words.iter().filter(|word| {
                let is_bound = is_proved && !QUANTIFIERS.contains(word.lower.as_str());
                is_value || is_bound || names.contains(&word.stem)
            });
            let words: Vec<Word> = words.map(Word::carried).collect();
            let of_words = words.iter().map(|word| &word.glue);
            let glues = of_words.chain(facts.iter().map(|fact| &fact.glue));
            let denials: BTreeSet<i64> = glues.flat_map(|glue| glue.denials.clone()).collect();
            carried.is_denied ^= denials.len() % 2 == 1;
            carried.has_denying_name ^= self.sources.denials_in_names(&above.text) % 2 == 1;
            carried.facts.extend(facts);
            carried.words.extend(words);
        }
        carried.hangs = !carried.words.is_empty() || !carried.facts.is_empty();
        carried
    }

    /// An item that names no record keeps what named one before it: of "Ana: 14 seats, balance $35", of Ana.
    pub(super) fn with_names(&self, mut taken: Pieces) -> Pieces {
        let mut current: Vec<&str> = Vec::new();
        for item in &mut taken.items {
            let here = self.sources.namings(&item.text);
            if !here.is_empty() {
                current = here;
                continue;
            }
            for name in &current {
                let said = read(name, self.language(), false);
                let words = said.words.iter().filter(|word| !item.has_word(&word.stem));
                let words: Vec<Word> = words.map(Word::carried).collect();
                item.words.splice(0..0, words);
                let facts = said
                    .facts
                    .iter()
                    .filter(|fact| !fact.is_name() && !item.facts.contains(fact));
                let facts: Vec<Fact> = facts.map(Fact::carried).collect();
                item.facts.splice(0..0, facts);
            }
        }
        taken
    }

    fn prove_parts(&self, taken: &Pieces, said: &[&str]) -> Proof {
        let has_items = !taken.items.is_empty();
        let first = self.prove_part(&taken.whole, said, has_items);
        if first.is(Supported) || !has_items {
            return first;
        }
        let items = taken.items.iter();
        let proofs: Vec<Proof> = items
            .map(|item| self.prove_part(item, said, false))
            .collect();
        worst(&proofs)
    }

    /// One piece of a claim. With `has_rivals` it has several facts of one kind, and only what has all of them in its order
    /// proves it.
    pub(super) fn prove_part(&self, piece: &Piece, said: &[&str], has_rivals: bool) -> Proof {
        if piece.facts.is_empty() && piece.words.is_empty() {
            return self.of_nothing(piece);
        }
        if self.only_names(piece) {
            return Proof::new(Unproven, "it only names, and says nothing of its own");
        }
        let mut piece = piece.clone();
        piece.has_denying_name ^= self.sources.denials_in_names(&piece.text) % 2 == 1;
        piece.is_denied ^= piece.has_denying_name;
        self.drop_rounding_words(&mut piece);
        if let Some(wrong) = self.wrong_weekday(&mut piece) {
            return wrong;
        }
        let mut found = Found::default();
        for passage in &self.sources.passages {
            self.by_passage(&piece, passage, &mut found);
        }
        let mut counted = None;
        if has_rivals && piece.text.contains(':') {
            let listed = self.count(&piece).filter(|proof| proof.is(Supported));
            if let Some(proof) = listed {
                return proof;
            }
        }
        if !has_rivals {
            // An item that names one is of that one, whoever else the sentence names.
            let here = self.sources.namings(&piece.text);
            let named = self
                .sources
                .named(if here.is_empty() { said } else { &here });
            let is_of_all = piece.says_none || is_general(&piece);
            let mut of_all = HashMap::new();
            for (idx, record) in self.sources.records.iter().enumerate() {
                let is_of_other = !named.contains(&idx)
                    && named
                        .iter()
                        .any(|named| self.sources.records[*named].group == record.group);
                match self.by_record(&piece, idx) {
                    ByRecord::Supported(_) if record.is_stale => found.is_old = true,
                    ByRecord::Supported(text) if is_of_other => {
                        found.other_order.get_or_insert((text, Some(record.event)));
                    }
                    ByRecord::Supported(text)
                        if is_of_all && !self.is_so_of_all(&piece, idx, &mut of_all) =>
                    {
                        found.other_order.get_or_insert((text, Some(record.event)));
                    }
                    ByRecord::Supported(text) => {
                        found.proof.get_or_insert((text, Some(record.event)));
                    }
                    ByRecord::Refuted(text) if !record.is_stale && !is_of_other => {
                        found.opposed.get_or_insert((text, Some(record.event)));
                    }
                    ByRecord::Refuted(_) => {}
                    ByRecord::Unproven(missing, text, cost) => {
                        found.offer(cost, missing, text, Some(record.event));
                    }
                }
            }
            counted = self.count(&piece);
            if let Some(proof) = counted.as_ref().filter(|proof| proof.is(Supported)) {
                return proof.clone();
            }
            if let Some(mixed) = self.mixed_up(&piece, said) {
                return mixed;
            }
        }
        // What only the user said doesn't stand against a result.
        let is_denied = |event: &Option<usize>| event.is_none() && found.opposed.is_some();
        let proof = found.proof.as_ref();
        if let Some((text, event)) = proof.filter(|(_, event)| !is_denied(event)) {
            return Proof::new(Supported, quoted(text)).of(*event);
        }
        if has_rivals {
            return found.unproven();
        }
        if let Some(counted) = counted {
            return counted;
        }
        if let Some((text, event)) = &found.opposed {
            let why = format!("the results say the opposite, {}", quoted(text));
            return Proof::new(Refuted, why).of(*event);
        }
        if let Some((text, event)) = &found.other_order {
            let text = quoted(text);
            let why = format!("not proved: its words stand in {text}, and not as it says them");
            return Proof::new(Unproven, why).of(*event);
        }
        if found.is_old {
            return self.stale(&piece);
        }
        found.unproven()
    }

    /// Whether a piece has nothing but names and a sign, or *too*: `Ann is not`, `✅ Ann`, `and so is Bob`.
    fn only_names(&self, piece: &Piece) -> bool {
        pattern!(
            AS_WELL,
            r"(?i)^\W*(?:(?:and|but) )?(?:so|neither|nor|yes)\b|\b(?:yes|too|as well|likewise|either|also|auch|ebenfalls)\W*$"
        );
        let named = self.sources.namings(&piece.text);
        let names: BTreeSet<String> = named
            .iter()
            .flat_map(|name| stems(name, self.language()))
            .collect();
        let is_own = |word: &Word| word.at >= 0 && names.contains(&word.stem);
        let has_sign = || AS_WELL.is_match(&piece.text) || piece.text.contains(UNKNOWN_SIGN);
        (piece.is_denied || has_sign())
            && !named.is_empty()
            && piece.words.iter().all(is_own)
            && piece
                .facts
                .iter()
                .all(|fact| fact.is_name() || fact.is_id())
    }

    /// Takes out `over` and the like where the number after it is cut as the word says.
    fn drop_rounding_words(&self, piece: &mut Piece) {
        let bounding: Vec<Fact> = piece
            .facts
            .iter()
            .filter(|fact| {
                fact.about
                    .as_deref()
                    .is_some_and(|about| COMPARING.contains(about))
            })
            .cloned()
            .collect();
        if bounding.is_empty() {
            return;
        }
        piece.words.retain(|word| {
            let is_cut = |fact: &&Fact| {
                let exact = Fact {
                    about: None,
                    ..(*fact).clone()
                };
                fact.about.as_deref() == Some(word.lower.as_str())
                    && !self
                        .sources
                        .facts()
                        .any(|source| same(&exact, source) >= Same::NoUnit)
            };
            !(COMPARING.contains(word.lower.as_str()) && bounding.iter().any(|fact| is_cut(&fact)))
        });
    }

    /// A weekday beside a date of the sources is derived: right, so that it needs no source, or wrong.
    fn wrong_weekday(&self, piece: &mut Piece) -> Option<Proof> {
        let mut words = piece.words.iter().map(|word| word.lower.clone());
        let said = words.find(|word| weekday(word).is_some())?;
        let is_day = |fact: &&Fact| matches!(fact.value, Value::Date([_, _, Some(_)]));
        let days: Vec<&Fact> = piece.facts.iter().filter(is_day).collect();
        let dates = self
            .sources
            .facts()
            .filter_map(|source| match source.value {
                Value::Date([Some(year), Some(month), Some(day)])
                    if days.iter().any(|fact| fact.is_in([source])) =>
                {
                    Some([year, month, day])
                }
                _ => None,
            });
        let dates: BTreeSet<[i32; 3]> = dates.collect();
        let [year, month, day] = dates.first().filter(|_| dates.len() == 1)?;
        let year = i16::try_from(*year).ok()?;
        let [month, day] = [month, day].map(|part| i8::try_from(*part).unwrap_or_default());
        let date = jiff::civil::Date::new(year, month, day).ok()?;
        if Some(date.weekday().to_monday_zero_offset()) != weekday(&said) {
            return Some(Proof::new(Refuted, format!("{date} is no {said}")));
        }
        piece.words.retain(|word| weekday(&word.lower).is_none());
        None
    }

    fn by_passage(&self, piece: &Piece, passage: &Passage, found: &mut Found) {
        let around: Vec<&Field> = passage
            .record
            .map(|record| self.sources.fields(record, |_| true))
            .unwrap_or_default();
        let has_stem = |stem: &str| {
            passage.piece.has_word(stem)
                || passage.header.words.contains(stem)
                || passage.record.is_some_and(|idx| {
                    let record = &self.sources.records[idx];
                    self.sources.is_said_around(record, &around, stem)
                })
        };
        let facts = || {
            let own = passage.piece.facts.iter().chain(&passage.header.facts);
            own.chain(around.iter().flat_map(|field| &field.facts))
        };
        let missing_facts = piece.facts.iter().filter(|fact| {
            !has(fact, facts(), &has_stem, &passage.piece.text) || is_count(fact, piece, passage)
        });
        let missing_facts: Vec<String> = missing_facts.map(|fact| fact.text.clone()).collect();
        let (mut missing, n_flips) = lacking(&piece.words, &has_stem, self.language());
        missing.extend(words_of_title(piece, passage));
        if self.language().is_none() && missing.is_empty() && !piece.words.is_empty() {
            missing.push("words of a language that is not known".to_owned());
        }
        if !missing.is_empty() || !missing_facts.is_empty() {
            let cost = 2 * missing_facts.len() + missing.len();
            missing.extend(missing_facts);
            found.offer(cost, missing, passage.piece.text.clone(), passage.event);
            return;
        }
        let own = &passage.piece;
        let stems = piece.stems();
        let is_restricted = own.words.iter().any(|word| {
            RESTRICTING.contains(word.lower.as_str()) && !stems.contains(word.stem.as_str())
        });
        let place = || (own.text.clone(), passage.event);
        let has_same_roles = || has_same_roles(piece, [&passage.header.roles]);
        match align(piece, own) {
            _ if passage.is_stale => found.is_old = true,
            Alignment::Same {
                is_denied,
                is_whole,
            } if !is_restricted && has_same_roles() => {
                let is_same =
                    (usize::from(piece.is_denied) + n_flips) % 2 == usize::from(is_denied);
                let slot = match is_same {
                    // `We do not deliver to Malta` says of other places nothing.
                    true if is_denied && !is_whole => &mut found.other_order,
                    true => &mut found.proof,
                    false => &mut found.opposed,
                };
                *slot = Some(place());
            }
            _ => found.other_order = Some(place()),
        }
    }
}

/// Whether a number counts what a passage stands under: `3 matches`, and no `score: 3-1` of one of the matches.
fn is_count(fact: &Fact, piece: &Piece, passage: &Passage) -> bool {
    let mut behind = piece.words.iter().filter(|word| word.at > fact.at);
    let is_bare = fact.number().is_some() && fact.unit.is_none() && fact.at >= 0;
    is_bare
        && behind.next().is_some_and(|noun| {
            let is_header = passage.header.words.contains(&noun.stem);
            noun.lower.ends_with('s') && is_header && !passage.piece.has_word(&noun.stem)
        })
}

/// Whether a piece says of several what they are: `They are active`.
fn is_general(piece: &Piece) -> bool {
    pattern!(
        PLURAL,
        r"(?i)\b(?:are|were|have|aren't|weren't|haven't|each|every\w*|all|sind|waren|haben)\b"
    );
    pattern!(
        OF_ALL,
        r"(?i)^\W*(?:they|each|neither|sie|jede[rs]?)\b|\b(?:each|je)\W*$"
    );
    let is_told = !OF_ALL.is_match(&piece.text) && piece.facts.iter().any(|fact| !fact.is_name());
    // `The open ones are:` is no claim of all.
    let is_lead = piece.text.trim_end().ends_with(':');
    !is_told
        && !is_lead
        && piece.words.iter().all(|word| word.at >= 0)
        && (PLURAL.is_match(&piece.text) || OF_ALL.is_match(&piece.text))
}

/// Puts what hangs above a claim before its pieces.
pub(super) fn with(mut taken: Pieces, carried: &Carried) -> Pieces {
    for piece in taken.all_mut() {
        let has_id = piece.facts.iter().any(Fact::is_id);
        let facts = carried
            .facts
            .iter()
            .filter(|fact| carried.hangs || !(has_id && fact.is_id()));
        let facts: Vec<Fact> = facts.cloned().collect();
        piece.facts.splice(0..0, facts);
        piece.words.splice(0..0, carried.words.iter().cloned());
        piece.is_denied ^= carried.is_denied;
        piece.has_denying_name ^= carried.has_denying_name;
    }
    taken
}

/// What the passages and records gave for a piece.
#[derive(Default)]
struct Found {
    proof: Option<(String, Option<usize>)>,
    opposed: Option<(String, Option<usize>)>,
    other_order: Option<(String, Option<usize>)>,
    is_old: bool,
    nearest: Option<Nearest>,
}

struct Nearest {
    cost: usize,
    missing: Vec<String>,
    text: String,
    event: Option<usize>,
}

impl Found {
    fn offer(&mut self, cost: usize, missing: Vec<String>, text: String, event: Option<usize>) {
        let nearest = self.nearest.as_ref();
        if nearest.is_none_or(|nearest| cost < nearest.cost) {
            self.nearest = Some(Nearest {
                cost,
                missing,
                text,
                event,
            });
        }
    }

    /// What is missing in what comes nearest.
    fn unproven(&self) -> Proof {
        let Some(nearest) = &self.nearest else {
            return Proof::new(Unproven, "not proved: no result has its words");
        };
        let mut seen = HashSet::new();
        let words = nearest.missing.iter().filter(|word| seen.insert(*word));
        let words = words.take(6);
        let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
        let near = quoted(&nearest.text);
        let why = match words.is_empty() {
            true => format!("not proved; nearest: {near}"),
            false => format!("not proved: {}; nearest: {near}", words.join(", ")),
        };
        Proof::new(Unproven, why).of(nearest.event)
    }
}

/// What a claim says behind the words of a text, and only the object around that text says: its title tells what it is about,
/// and nothing of what was done.
fn words_of_title(piece: &Piece, passage: &Passage) -> Vec<String> {
    let is_own = |word: &Word| {
        passage.piece.has_word(&word.stem) || passage.header.words.contains(&word.stem)
    };
    let mut words: Vec<&Word> = piece.words.iter().filter(|word| word.at >= 0).collect();
    words.sort_by_key(|word| word.at);
    let (mut has_own, mut is_place) = (false, false);
    let mut found = Vec::new();
    for word in words {
        is_place = word.glue.role.is_some() || (is_place && word.glue.is_adjacent);
        match is_own(word) {
            true => has_own = true,
            false if has_own && !is_place => found.push(word.lower.clone()),
            false => {}
        }
    }
    found
}
