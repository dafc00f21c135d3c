//! Whether a claim is supported, refuted or unproven.

use std::collections::BTreeSet;

use super::claims::Claim;
use super::data::{
    COMPARING, CURRENCIES, OFF, ON, QUANTIFIERS, RESTRICTING, names_dimension, weekday,
};
use super::derived::invented;
use super::facts::{Fact, Rival, Roles, Same, Value, Word, read, same};
use super::pieces::{Element, Piece, Pieces, enumeration, has_verb, name_groups, pieces};
use super::sources::{
    Field, FieldKind, Passage, Record, Sources, is_naming, key_text, leaves, stands_in, stems,
};
use super::text::{BlockKind, Language, clauses, is_title, plain, stem};
use cuecard_source::value::{Json, cut};

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

    fn of(mut self, event: Option<usize>) -> Self {
        self.event = event;
        self
    }

    fn is(&self, verdict: Verdict) -> bool {
        self.verdict == verdict
    }
}

use Verdict::{Refuted, Supported, Unproven};

/// What a claim takes from the lines above it, and from the clauses before.
#[derive(Debug, Clone, Default)]
struct Carried {
    facts: Vec<Fact>,
    words: Vec<Word>,
}

/// Proves claims by the sources.
pub(super) struct Prover<'s> {
    pub(super) sources: &'s Sources,
    /// The smallest part of the words of a claim that is only unproven and not refuted.
    pub(super) min_overlap: Option<f64>,
}

/// So much of a passage is shown.
const LONGEST_SHOWN: usize = 100;

fn quoted(text: &str) -> String {
    format!("“{}”", cut(text.trim(), LONGEST_SHOWN))
}

impl Prover<'_> {
    fn language(&self) -> Option<Language> {
        self.sources.language
    }

    pub(super) fn prove(&self, claim: &Claim) -> Proof {
        let language = self.language();
        let is_listed = matches!(
            claim.kind,
            BlockKind::Heading | BlockKind::Cell | BlockKind::HeadCell
        );
        let names = !is_listed && !is_title(&claim.text);
        let naming = self.sources.namings(&claim.over.join(" . "));
        let hangs = claim.kind == BlockKind::Cell && !claim.over.is_empty();
        if naming.is_empty() && !hangs && self.sources.units.contains(&plain(&claim.text)) {
            return Proof::new(Supported, "it stands there as it is");
        }
        let whole = pieces(&claim.text, language, names).whole;
        let is_below =
            |fact: &&Fact| fact.number() == Some(claim.n_below as f64) && claim.n_below > 0;
        let invented: Vec<Proof> = whole
            .facts
            .iter()
            .filter_map(|fact| match invented(fact, self.sources) {
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
        if whole.words.is_empty() && whole.facts.is_empty() {
            return self.of_nothing(&whole);
        }
        let mut carried = self.hanging(claim, &naming);
        let mut said = self.sources.namings(&claim.text);
        said.extend(&naming);
        let parts = clauses(&claim.text, language);
        if parts.len() > 1 {
            let taken = self.with_names(pieces(&claim.text, language, names));
            let proof = self.prove_parts(&with(taken, &carried), names, &said);
            if proof.is(Supported) {
                return proof;
            }
        }
        let mut proofs = Vec::new();
        let first_words = parts
            .first()
            .map(|first| pieces(first, language, names).whole);
        for (nth, clause) in parts.into_iter().enumerate() {
            // A fragment behind another one is about the same.
            if let Some(first) = first_words
                .as_ref()
                .filter(|_| nth > 0 && !has_verb(clause))
                && carried.words.is_empty()
            {
                carried.words = first.words.iter().map(Word::carried).collect();
                carried.facts.extend(
                    first
                        .facts
                        .iter()
                        .filter(|fact| fact.is_id())
                        .map(Fact::carried),
                );
            }
            let here = self.sources.namings(clause);
            if carried.words.is_empty()
                && carried.facts.is_empty()
                && self.sources.units.contains(&plain(clause))
            {
                proofs.push(Proof::new(Supported, "it stands there as it is"));
            } else {
                let taken = self.with_names(pieces(clause, language, names));
                let nothing = Carried::default();
                let is_own =
                    !here.is_empty() && naming.is_empty() && (nth == 0 || has_verb(clause));
                let with_it = if is_own { &nothing } else { &carried };
                proofs.push(self.prove_parts(&with(taken, with_it), names, &said));
            }
            if !here.is_empty() {
                let mut words = match naming.is_empty() {
                    true => Vec::new(),
                    false => carried.words.clone(),
                };
                words.extend(
                    here.iter()
                        .flat_map(|name| read(name, language, false).words),
                );
                carried = Carried {
                    facts: Vec::new(),
                    words,
                };
            }
            let facts = read(clause, language, names).facts.into_iter();
            let ids: Vec<Fact> = facts
                .filter(Fact::is_id)
                .map(|fact| fact.carried())
                .collect();
            if !ids.is_empty() {
                carried.facts = ids;
            }
            carried.words = carried.words.iter().map(Word::carried).collect();
        }
        if let Some(refuted) = proofs.iter().find(|proof| proof.is(Refuted)) {
            return refuted.clone();
        }
        if let Some(first) = proofs.first()
            && proofs.iter().all(|proof| proof.is(Supported))
        {
            return first.clone();
        }
        if let Some(first) = invented.into_iter().next() {
            return first;
        }
        if let Some(least) = self.min_overlap
            && self.shares(&whole).is_some_and(|part| part < least)
        {
            return Proof::new(Refuted, "the results have too few of its words");
        }
        let open = proofs.into_iter().find(|proof| proof.is(Unproven));
        open.unwrap_or_else(|| Proof::new(Unproven, "not proved"))
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

    /// Of the lines above: the facts that name, and the words that name a record, or that are keys of cells.
    fn hanging(&self, claim: &Claim, naming: &[&str]) -> Carried {
        let language = self.language();
        let is_cell = claim.kind == BlockKind::Cell;
        let names: BTreeSet<String> = naming
            .iter()
            .flat_map(|name| stems(name, language.or(Some(Language::English))))
            .collect();
        let mut carried = Carried::default();
        for over in &claim.over {
            let said = read(over, language, false);
            let facts = said
                .facts
                .iter()
                .filter(|fact| matches!(fact.value, Value::Id(_) | Value::Date(_)));
            carried.facts.extend(facts.map(Fact::carried));
            let words = said
                .words
                .iter()
                .filter(|word| is_cell || names.contains(&word.stem));
            carried.words.extend(words.map(Word::carried));
        }
        carried
    }

    /// An item that names no record keeps what named one before it: of "Ana: 14 seats, balance $35", of Ana.
    fn with_names(&self, mut taken: Pieces) -> Pieces {
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
                    .filter(|fact| fact.is_id() && !item.facts.contains(fact));
                let facts: Vec<Fact> = facts.map(Fact::carried).collect();
                item.facts.splice(0..0, facts);
            }
        }
        taken
    }

    fn prove_parts(&self, taken: &Pieces, names: bool, said: &[&str]) -> Proof {
        let has_items = !taken.items.is_empty();
        let first = self.prove_part(&taken.whole, said, has_items);
        if first.is(Supported) {
            return first;
        }
        let language = self.language();
        let subject = |text: &str| {
            let names = self.sources.namings(text).into_iter();
            names
                .flat_map(|name| read(name, language, false).words)
                .collect::<Vec<Word>>()
        };
        let of_items =
            |piece: &Piece| self.all_of(&enumeration(piece, language, names, &subject), said);
        if !has_items {
            return of_items(&taken.whole).unwrap_or(first);
        }
        let proofs = taken.items.iter().map(|item| {
            let proof = self.prove_part(item, said, false);
            match proof.is(Unproven) {
                true => of_items(item).unwrap_or(proof),
                false => proof,
            }
        });
        let proofs: Vec<Proof> = proofs.collect();
        let found = |verdict| proofs.iter().find(move |proof| proof.is(verdict));
        let worst = found(Refuted).or_else(|| found(Unproven));
        worst.unwrap_or(&proofs[0]).clone()
    }

    fn all_of(&self, parts: &[Piece], said: &[&str]) -> Option<Proof> {
        let proofs: Vec<Proof> = parts
            .iter()
            .map(|part| self.prove_part(part, said, false))
            .collect();
        let are_all = !proofs.is_empty() && proofs.iter().all(|proof| proof.is(Supported));
        are_all.then(|| proofs[0].clone())
    }

    /// One piece of a claim. With `has_rivals` it has several facts of one kind, and only what has all of them in its order
    /// proves it.
    fn prove_part(&self, piece: &Piece, said: &[&str], has_rivals: bool) -> Proof {
        if piece.facts.is_empty() && piece.words.is_empty() {
            return self.of_nothing(piece);
        }
        let mut piece = piece.clone();
        if self.sources.denials_in_names(&piece.text) % 2 == 1 {
            piece.is_denied = !piece.is_denied;
        }
        self.drop_rounding_words(&mut piece);
        if let Some(wrong) = self.wrong_weekday(&mut piece) {
            return wrong;
        }
        let mut found = Found::default();
        for passage in self
            .sources
            .passages
            .iter()
            .filter(|passage| passage.is_strict == has_rivals)
        {
            self.by_passage(&piece, passage, &mut found);
        }
        let mut counted = None;
        if !has_rivals {
            for (idx, record) in self.sources.records.iter().enumerate() {
                match self.by_record(&piece, idx) {
                    ByRecord::Supported(_) if record.is_stale => found.is_old = true,
                    ByRecord::Supported(text)
                        if piece.says_none && !self.is_none_of_all(&piece, idx) =>
                    {
                        found.other_order.get_or_insert((text, Some(record.event)));
                    }
                    ByRecord::Supported(text) => {
                        found.proof.get_or_insert((text, Some(record.event)));
                    }
                    ByRecord::Refuted(text) if !record.is_stale => {
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
        if let Some((text, event)) = found.proof.filter(|(_, event)| !is_denied(event)) {
            return Proof::new(Supported, quoted(&text)).of(event);
        }
        let nearest = found.nearest;
        let is_missing = |nearest: &Nearest| {
            let shown: Vec<String> = nearest
                .missing
                .iter()
                .take(6)
                .map(|word| format!("`{word}`"))
                .collect();
            let near = format!("; nearest: {}", quoted(&nearest.text));
            Proof::new(Unproven, format!("not proved: {}{near}", shown.join(", ")))
                .of(nearest.event)
        };
        let unproven = |nearest: Option<Nearest>| match nearest {
            Some(nearest) if !nearest.missing.is_empty() => is_missing(&nearest),
            Some(nearest) => Proof::new(
                Unproven,
                format!("not proved; nearest: {}", quoted(&nearest.text)),
            )
            .of(nearest.event),
            None => Proof::new(Unproven, "not proved: no result has its words"),
        };
        if has_rivals {
            return unproven(nearest);
        }
        if let Some(counted) = counted {
            return counted;
        }
        if let Some((text, event)) = found.opposed {
            return Proof::new(
                Refuted,
                format!("the results say the opposite, {}", quoted(&text)),
            )
            .of(event);
        }
        if let Some((text, event)) = found.other_order {
            return Proof::new(
                Unproven,
                format!("the same words say something else in {}", quoted(&text)),
            )
            .of(event);
        }
        if found.is_old {
            return self.stale(&piece);
        }
        unproven(nearest)
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
                        .any(|source| same(&exact, source) == Same::Yes)
            };
            !(COMPARING.contains(word.lower.as_str()) && bounding.iter().any(|fact| is_cut(&fact)))
        });
    }

    /// A weekday beside a date of the sources is derived: right, so that it needs no source, or wrong.
    fn wrong_weekday(&self, piece: &mut Piece) -> Option<Proof> {
        let days: Vec<Word> = piece
            .words
            .iter()
            .filter(|word| weekday(&word.lower).is_some())
            .cloned()
            .collect();
        let first = days.first()?;
        for fact in &piece.facts {
            let Value::Date([_, _, Some(_)]) = fact.value else {
                continue;
            };
            let mut dates: Vec<[Option<i32>; 3]> = Vec::new();
            for source in self.sources.facts() {
                if let Value::Date(date @ [Some(_), Some(_), Some(_)]) = source.value
                    && same(fact, source) == Same::Yes
                    && !dates.contains(&date)
                {
                    dates.push(date);
                }
            }
            if let [[Some(year), Some(month), Some(day)]] = dates.as_slice() {
                let date = jiff::civil::Date::new(
                    i16::try_from(*year).ok()?,
                    i8::try_from(*month).ok()?,
                    i8::try_from(*day).ok()?,
                )
                .ok()?;
                if Some(date.weekday().to_monday_zero_offset()) != weekday(&first.lower) {
                    return Some(Proof::new(
                        Refuted,
                        format!("{} is no {}", fact.text, first.lower),
                    ));
                }
                piece.words.retain(|word| !days.contains(word));
                return None;
            }
        }
        None
    }

    fn by_passage(&self, piece: &Piece, passage: &Passage, found: &mut Found) {
        let around: Vec<&Field> = passage
            .record
            .map(|record| self.sources.fields(record))
            .unwrap_or_default();
        let has_stem = |stem: &str| {
            passage.piece.has_word(stem)
                || passage.header.words.contains(stem)
                || around.iter().any(|field| field.words.contains(stem))
        };
        let facts = || {
            let own = passage.piece.facts.iter().chain(&passage.header.facts);
            own.chain(around.iter().flat_map(|field| &field.facts))
        };
        let missing_facts = piece
            .facts
            .iter()
            .filter(|fact| has(fact, facts(), &has_stem, &passage.piece.text) != Same::Yes);
        let missing_facts: Vec<String> = missing_facts.map(|fact| fact.text.clone()).collect();
        let (mut missing, n_flips) = lacking(&piece.words, &has_stem, self.language());
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
        let is_of_other = own.is_denied
            && !own.denied.is_empty()
            && !own.denied.iter().any(|word| stems.contains(word.as_str()));
        let is_restricted = || {
            own.words.iter().any(|word| {
                RESTRICTING.contains(word.lower.as_str()) && !stems.contains(word.stem.as_str())
            })
        };
        let place = || (own.text.clone(), passage.event);
        if passage.is_stale {
            found.is_old = true;
        } else if is_of_other {
            found.other_order = Some(place());
        } else if (usize::from(piece.is_denied) + n_flips) % 2 != usize::from(own.is_denied) {
            found.opposed = Some(place());
        } else if is_restricted()
            || !is_in_order(piece, passage)
            || !has_same_roles(piece, [&passage.header.roles, &own.roles])
        {
            found.other_order = Some(place());
        } else {
            found.proof = Some(place());
        }
    }

    /// A claim about one record: each of its facts and words is in a value, or in the key of a field whose value it says.
    fn by_record(&self, piece: &Piece, idx: usize) -> ByRecord {
        let record = &self.sources.records[idx];
        let fields = self.sources.fields(idx);
        let mut best: Option<(Vec<String>, String, usize)> = None;
        let shown = |fields: &[&Field]| {
            let texts = fields.iter().take(3).map(|field| field.text.as_str());
            texts.collect::<Vec<&str>>().join(", ")
        };
        let mut offer = |missing: Vec<String>, text: String, cost: usize| {
            if best.as_ref().is_none_or(|(.., known)| cost < *known) {
                best = Some((missing, text, cost));
            }
        };
        let mut opposed = None;
        let mut tries = vec![(piece.words.clone(), piece.is_denied, false)];
        let is_switch =
            |word: &Word| ON.contains(word.lower.as_str()) || OFF.contains(word.lower.as_str());
        if piece.words.iter().any(is_switch) {
            let is_off = piece
                .words
                .iter()
                .any(|word| OFF.contains(word.lower.as_str()));
            let words = piece
                .words
                .iter()
                .filter(|word| !is_switch(word))
                .cloned()
                .collect();
            tries.push((words, piece.is_denied != is_off, true));
        }
        for (words, is_denied, needs_switch) in tries {
            let attempt = self.try_record(piece, &words, record, &fields);
            let Attempt {
                missing,
                missing_facts,
                used,
                used_falsy,
                n_flips,
                is_miscounted,
            } = attempt;
            if !missing.is_empty() || !missing_facts.is_empty() || is_miscounted {
                let cost = 2 * missing_facts.len() + missing.len();
                let missing = missing.into_iter().chain(missing_facts).collect();
                offer(missing, shown(&fields), cost);
                continue;
            }
            if !are_numbers_in_order(piece, &fields) {
                offer(Vec::new(), shown(&fields), 1);
                continue;
            }
            if needs_switch
                && used_falsy.is_empty()
                && !used.iter().any(|field| field.kind == FieldKind::True)
            {
                continue;
            }
            let roles = fields
                .iter()
                .map(|field| &field.roles)
                .chain([&record.header.roles]);
            if !has_same_roles(piece, roles) {
                continue;
            }
            let is_field_denied = !used_falsy.is_empty()
                || used
                    .iter()
                    .any(|field| field.kind == FieldKind::Text && field.is_denied);
            let told = match (used_falsy.is_empty(), used.is_empty()) {
                (false, _) => shown(&used_falsy),
                (true, false) => shown(&used),
                (true, true) => shown(&fields),
            };
            if (usize::from(is_denied) + n_flips) % 2 == usize::from(is_field_denied) {
                return ByRecord::Supported(told);
            }
            if !used_falsy.is_empty() || !used.is_empty() {
                opposed = Some(told);
            }
        }
        match (opposed, best) {
            (Some(text), _) => ByRecord::Refuted(text),
            (None, Some((missing, text, cost))) => ByRecord::Unproven(missing, text, cost),
            (None, None) => ByRecord::Unproven(Vec::new(), shown(&fields), 99),
        }
    }

    /// Whether what is said of no entry holds for each entry of the list that a record is of, or names the record.
    fn is_none_of_all(&self, piece: &Piece, idx: usize) -> bool {
        let record = &self.sources.records[idx];
        let is_named = record.fields.iter().any(|field| {
            self.sources.names_record(idx, field) && stands_in(&field.value, &plain(&piece.text))
        });
        let mut others = self
            .sources
            .records
            .iter()
            .enumerate()
            .filter(|(_, other)| {
                other.group == record.group
                    && !other.is_stale
                    && other.group.iter().any(|part| part == "[]")
            });
        is_named
            || others.all(|(idx, _)| matches!(self.by_record(piece, idx), ByRecord::Supported(_)))
    }

    fn try_record<'f>(
        &self,
        piece: &Piece,
        words: &[Word],
        record: &Record,
        fields: &[&'f Field],
    ) -> Attempt<'f> {
        let language = self.language();
        let mine: BTreeSet<&str> = words.iter().map(|word| word.stem.as_str()).collect();
        let in_head = |stem: &str| {
            record.header.words.contains(stem)
                || fields.iter().any(|field| field.words.contains(stem))
        };
        let (mut keys, mut used): (BTreeSet<&str>, Vec<&Field>) = (BTreeSet::new(), Vec::new());
        for field in fields {
            let is_said = match field.kind {
                FieldKind::Falsy => false,
                FieldKind::True => field
                    .keys
                    .iter()
                    .all(|key| mine.contains(key.as_str()) || in_head(key)),
                FieldKind::Text | FieldKind::List if field.facts.is_empty() => {
                    let has = |word: &String| mine.contains(word.as_str());
                    !field.words.is_empty()
                        && (field.words.iter().all(has)
                            || (field.kind == FieldKind::List && field.words.iter().any(has)))
                }
                FieldKind::Text | FieldKind::List => field.facts.iter().any(|fact| {
                    let is_there = |claim: &&Fact| same(fact, claim) == Same::Yes;
                    let is_counted = |claim: &Fact| {
                        same(claim, fact) == Same::Yes && is_no_count(piece, claim, field)
                    };
                    piece.facts.iter().any(|claim| is_there(&claim))
                        || piece.facts.iter().any(is_counted)
                }),
            };
            if is_said {
                keys.extend(field.keys.iter().map(String::as_str));
                used.push(field);
            }
        }
        let has_stem = |stem: &str| in_head(stem) || keys.contains(stem);
        let facts = || {
            record
                .header
                .facts
                .iter()
                .chain(fields.iter().flat_map(|field| &field.facts))
        };
        let text = fields
            .iter()
            .map(|field| field.text.as_str())
            .collect::<Vec<&str>>()
            .join(" ");
        let missing_facts = piece
            .facts
            .iter()
            .filter(|fact| has(fact, facts(), &has_stem, &text) != Same::Yes);
        let missing_facts = missing_facts.map(|fact| fact.text.clone()).collect();
        let is_miscounted = piece.facts.iter().any(|claim| {
            fields.iter().any(|field| {
                field
                    .facts
                    .iter()
                    .any(|fact| same(claim, fact) == Same::Yes)
                    && !is_no_count(piece, claim, field)
            })
        });
        let own: Vec<&Fact> = record
            .fields
            .iter()
            .flat_map(|field| &field.facts)
            .collect();
        let dimension = |fact: &Fact| {
            fact.unit
                .map(|unit| match CURRENCIES.contains(&unit.dimension) {
                    true => "EUR",
                    false => unit.dimension,
                })
        };
        let is_only = |fact: &Fact| {
            let unit = fact.unit.map(|unit| unit.dimension);
            own.iter()
                .filter(|other| other.unit.map(|unit| unit.dimension) == unit)
                .count()
                == 1
        };
        let told: Vec<&str> = own
            .iter()
            .filter(|fact| {
                fact.number().is_some()
                    && is_only(fact)
                    && piece
                        .facts
                        .iter()
                        .any(|claim| same(claim, fact) == Same::Yes)
            })
            .filter_map(|fact| dimension(fact))
            .collect();
        let words: Vec<Word> = words
            .iter()
            .filter(|word| {
                !told
                    .iter()
                    .any(|dimension| names_dimension(dimension, &word.lower))
            })
            .cloned()
            .collect();
        let (mut missing, mut n_flips) = lacking(&words, &has_stem, language);
        let mut used_falsy = Vec::new();
        for field in fields
            .iter()
            .filter(|field| field.kind == FieldKind::Falsy && !field.keys.is_empty())
        {
            if field.keys.iter().all(|key| mine.contains(key.as_str())) {
                used_falsy.push(*field);
                missing.retain(|word| !field.keys.contains(&stem(word, language)));
            } else if !missing.is_empty() {
                let rest: Vec<Word> = words
                    .iter()
                    .filter(|word| missing.contains(&word.lower))
                    .cloned()
                    .collect();
                let has_key = |stem: &str| field.keys.contains(stem) || in_head(stem);
                let (still, flips) = lacking(&rest, &has_key, language);
                if still.len() < missing.len() {
                    used_falsy.push(*field);
                    n_flips += flips;
                    missing = still;
                }
            }
        }
        if language.is_none() && missing.is_empty() && !words.is_empty() {
            missing.push("words of a language that is not known".to_owned());
        }
        Attempt {
            missing,
            missing_facts,
            used,
            used_falsy,
            n_flips,
            is_miscounted,
        }
    }

    /// "Two orders were shipped", "all orders were shipped": counted in the list that the claim names.
    fn count(&self, piece: &Piece) -> Option<Proof> {
        let language = self.language();
        let quantifiers: BTreeSet<&str> = piece
            .words
            .iter()
            .filter(|word| QUANTIFIERS.contains(word.lower.as_str()))
            .map(|word| word.stem.as_str())
            .collect();
        let is_count = |fact: &&Fact| {
            fact.unit.is_none() && fact.number().is_some_and(|number| number.fract() == 0.0)
        };
        let numbers: Vec<&Fact> = piece.facts.iter().filter(is_count).collect();
        if piece.is_denied
            || numbers.len() + usize::from(!quantifiers.is_empty()) != 1
            || language.is_none()
        {
            return None;
        }
        let others: Vec<&Fact> = piece
            .facts
            .iter()
            .filter(|fact| !is_count(fact) && !fact.is_name())
            .collect();
        let mine = piece.stems();
        for list in self
            .sources
            .lists
            .iter()
            .filter(|list| !list.items.is_empty())
        {
            let first = match &list.items[0] {
                Json::Object(members) => members
                    .keys()
                    .next()
                    .map(|key| stems(&key_text(key), language))
                    .unwrap_or_default(),
                _ => BTreeSet::new(),
            };
            let is_head = |word: &str| list.header.words.contains(word) || first.contains(word);
            if !mine.iter().any(|word| is_head(word)) {
                continue;
            }
            if !has_same_roles(piece, [&list.header.roles]) {
                return Some(Proof::new(
                    Unproven,
                    "the words around the number say something else",
                ));
            }
            let wanted: Vec<&str> = mine
                .iter()
                .copied()
                .filter(|word| !is_head(word) && !quantifiers.contains(word))
                .collect();
            let is_given = |fact: &&Fact| {
                has(fact, list.header.facts.iter(), &|_: &str| false, "") == Same::Yes
            };
            if !others.iter().all(is_given) {
                continue;
            }
            let n_hits = list.items.iter().filter(|item| {
                let mut texts = Vec::new();
                leaves("", item, &mut |_, leaf| texts.extend(leaf.as_str()));
                let words = stems(&texts.join(" . "), language);
                wanted.iter().all(|word| words.contains(*word))
            });
            let n_hits = n_hits.count();
            if !wanted.is_empty() && n_hits == 0 {
                continue;
            }
            let length = list.items.len();
            if piece.words.iter().any(|word| word.lower == "both") && length != 2 {
                return Some(Proof::new(Unproven, format!("there are {length}, not two")));
            }
            let goal = match quantifiers.is_empty() {
                true => numbers[0].number().unwrap_or_default(),
                false => length as f64,
            };
            let told = format!("counted: {n_hits} of {length}");
            return Some(Proof::new(
                if n_hits as f64 == goal {
                    Supported
                } else {
                    Refuted
                },
                told,
            ));
        }
        None
    }

    /// Only an older result of an equal call has it.
    fn stale(&self, piece: &Piece) -> Proof {
        let records = &self.sources.records;
        let differs = |one: &Field, other: &Field| {
            let is_in = |fact: &Fact, facts: &[Fact]| {
                facts.iter().any(|other| same(fact, other) == Same::Yes)
            };
            one.text != other.text
                && (one.value != other.value
                    || one.facts.iter().any(|fact| !is_in(fact, &other.facts))
                    || other.facts.iter().any(|fact| !is_in(fact, &one.facts)))
        };
        for (idx, old) in records
            .iter()
            .enumerate()
            .filter(|(_, record)| record.is_stale)
        {
            if !matches!(self.by_record(piece, idx), ByRecord::Supported(_)) {
                continue;
            }
            for new in records
                .iter()
                .filter(|record| !record.is_stale && record.group == old.group)
            {
                for field in &new.fields {
                    let known = old.fields.iter().find(|known| known.key == field.key);
                    if known.is_some_and(|known| differs(field, known)) {
                        return Proof::new(
                            Refuted,
                            format!(
                                "an earlier result said so, the latest has {}",
                                quoted(&field.text)
                            ),
                        )
                        .of(Some(new.event));
                    }
                }
            }
        }
        Proof::new(Unproven, "only an earlier result of the same call has it")
    }

    /// Whether the claim names a record that has another value in that field, or uses another field's words for the value.
    fn mixed_up(&self, piece: &Piece, said: &[&str]) -> Option<Proof> {
        let records = &self.sources.records;
        let text = plain(&piece.text);
        let mine = piece.stems();
        let language = self.language();
        let has_key = |field: &Field| field.keys.iter().any(|key| mine.contains(key.as_str()));
        let says = |field: &Field| {
            if field.facts.is_empty() {
                return field.kind == FieldKind::Text
                    && field.value.chars().count() > 1
                    && stands_in(&field.value, &text);
            }
            let are_all = field.facts.iter().all(|fact| {
                piece
                    .facts
                    .iter()
                    .any(|claim| same(claim, fact) == Same::Yes)
            });
            let has_unit = || {
                field.facts.iter().any(|fact| fact.unit.is_some())
                    && piece.facts.iter().any(|fact| fact.unit.is_some())
            };
            are_all && (field.facts[0].number().is_none() || has_key(field) || has_unit())
        };
        let naming = |idx: usize| {
            records[idx].fields.iter().filter(move |field| {
                field.kind == FieldKind::Text && self.sources.names_record(idx, field)
            })
        };
        let own_name = |idx: usize| naming(idx).next().map(|field| field.value.as_str());
        let is_said = |value: &str| said.contains(&value);
        let strong: BTreeSet<&str> = (0..records.len())
            .filter_map(own_name)
            .filter(|name| is_said(name))
            .collect();
        let names: Vec<BTreeSet<&str>> = (0..records.len())
            .map(|idx| {
                let values = naming(idx).map(|field| field.value.as_str());
                let own = own_name(idx);
                let is_one = |value: &&str| {
                    is_said(value) && (Some(*value) == own || !strong.contains(value))
                };
                values.filter(is_one).collect()
            })
            .collect();
        let mut here: BTreeSet<&str> = self.sources.namings(&piece.text).into_iter().collect();
        let by_words = said.iter().copied().filter(|name| {
            let words = stems(name, language.or(Some(Language::English)));
            words.iter().all(|word| mine.contains(word.as_str()))
        });
        here.extend(by_words);
        if names.iter().all(BTreeSet::is_empty) {
            return self.other_field(piece, &mine);
        }
        for (idx, record) in records.iter().enumerate() {
            if record.is_stale || names[idx].is_disjoint(&here) {
                continue;
            }
            for (other_idx, other) in records.iter().enumerate() {
                if other_idx == idx
                    || other.group != record.group
                    || other.is_stale
                    || !names[other_idx].is_empty()
                {
                    continue;
                }
                let own_keys: BTreeSet<&str> = record
                    .fields
                    .iter()
                    .flat_map(|field| &field.keys)
                    .map(String::as_str)
                    .collect();
                let of_other_kind = other.fields.iter().any(|field| {
                    !record.fields.iter().any(|known| known.key == field.key)
                        && !is_said(&field.value)
                        && field.keys.iter().any(|key| {
                            mine.contains(key.as_str()) && !own_keys.contains(key.as_str())
                        })
                });
                if of_other_kind {
                    continue;
                }
                for field in &other.fields {
                    let Some(own) = record.fields.iter().find(|own| own.key == field.key) else {
                        continue;
                    };
                    let is_plain = field.kind == FieldKind::Text && own.kind != FieldKind::Falsy;
                    if own.value == field.value
                        || is_naming(&field.key)
                        || !is_plain
                        || !says(field)
                    {
                        continue;
                    }
                    let is_own_too = says(own)
                        || (!field.words.is_empty() && field.words.is_subset(&own.words))
                        || self.sources.fields(idx).iter().any(|around| {
                            !std::ptr::eq(*around, own)
                                && field.facts.iter().any(|fact| {
                                    around
                                        .facts
                                        .iter()
                                        .any(|other| same(fact, other) == Same::Yes)
                                })
                        });
                    if !is_own_too {
                        let told = format!(
                            "{} is of another entry; this one has {}",
                            quoted(&field.text),
                            quoted(&own.text)
                        );
                        return Some(Proof::new(Refuted, told).of(Some(record.event)));
                    }
                }
            }
        }
        self.other_field_of(piece, &mine, |idx, record| {
            let is_alone = || {
                records
                    .iter()
                    .filter(|other| other.group == record.group && !other.is_stale)
                    .count()
                    <= 1
            };
            !names[idx].is_disjoint(&here) || is_alone()
        })
    }

    fn other_field(&self, piece: &Piece, mine: &BTreeSet<&str>) -> Option<Proof> {
        let records = &self.sources.records;
        self.other_field_of(piece, mine, |_, record| {
            records
                .iter()
                .filter(|other| other.group == record.group && !other.is_stale)
                .count()
                <= 1
        })
    }

    /// The maximum told as the minimum: the value of one field with the words of another.
    fn other_field_of(
        &self,
        piece: &Piece,
        mine: &BTreeSet<&str>,
        is_meant: impl Fn(usize, &Record) -> bool,
    ) -> Option<Proof> {
        let is_plain = |fact: &Fact| {
            matches!(
                fact.value,
                Value::Number(_) | Value::Date(_) | Value::Time(..)
            )
        };
        let has_all_keys = |field: &Field| field.keys.iter().all(|key| mine.contains(key.as_str()));
        for (idx, record) in self.sources.records.iter().enumerate() {
            if record.is_stale {
                continue;
            }
            for named in &record.fields {
                let [fact] = named.facts.as_slice() else {
                    continue;
                };
                let is_right = |claim: &Fact| matches!(same(claim, fact), Same::Yes | Same::NoUnit);
                if !is_plain(fact)
                    || named.keys.is_empty()
                    || !has_all_keys(named)
                    || piece.facts.iter().any(is_right)
                {
                    continue;
                }
                for field in &record.fields {
                    let [other] = field.facts.as_slice() else {
                        continue;
                    };
                    if std::ptr::eq(field, named)
                        || is_naming(&field.key)
                        || !other.is_like(fact)
                        || has_all_keys(field)
                    {
                        continue;
                    }
                    let mut like = piece.facts.iter().filter(|claim| claim.is_like(other));
                    let is_only = like.clone().count() == 1;
                    if is_only
                        && like.any(|claim| same(claim, other) == Same::Yes)
                        && is_meant(idx, record)
                    {
                        let told =
                            format!("{} is `{}`, not `{}`", field.value, field.key, named.key);
                        return Some(Proof::new(Refuted, told).of(Some(record.event)));
                    }
                }
            }
        }
        None
    }
}

/// Puts what hangs above a claim before its pieces.
fn with(mut taken: Pieces, carried: &Carried) -> Pieces {
    for piece in taken.all_mut() {
        let has_id = piece.facts.iter().any(Fact::is_id);
        let facts = carried
            .facts
            .iter()
            .filter(|fact| !(has_id && fact.is_id()));
        let facts: Vec<Fact> = facts.cloned().collect();
        piece.facts.splice(0..0, facts);
        piece.words.splice(0..0, carried.words.iter().cloned());
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
        if self
            .nearest
            .as_ref()
            .is_none_or(|nearest| cost < nearest.cost)
        {
            self.nearest = Some(Nearest {
                cost,
                missing,
                text,
                event,
            });
        }
    }
}

enum ByRecord {
    Supported(String),
    Refuted(String),
    /// What is missing, the fields, and how much that is.
    Unproven(Vec<String>, String, usize),
}

struct Attempt<'f> {
    missing: Vec<String>,
    missing_facts: Vec<String>,
    used: Vec<&'f Field>,
    used_falsy: Vec<&'f Field>,
    n_flips: usize,
    is_miscounted: bool,
}

/// Whether one of these facts is that of a claim; quotations and names are sought in text and words.
fn has<'f>(
    claim: &Fact,
    facts: impl Iterator<Item = &'f Fact>,
    has_stem: &dyn Fn(&str) -> bool,
    text: &str,
) -> Same {
    let sought = |is_there: bool| if is_there { Same::Yes } else { Same::No };
    match &claim.value {
        Value::Quote(quote) => sought(plain(text).contains(quote.as_str())),
        Value::Name(name) => sought(has_stem(name)),
        _ => facts
            .map(|fact| same(claim, fact))
            .max()
            .unwrap_or(Same::No),
    }
}

/// The words that are not there, and how many are there with a denying beginning more or less, as `inactive`.
fn lacking(
    words: &[Word],
    has_stem: &dyn Fn(&str) -> bool,
    language: Option<Language>,
) -> (Vec<String>, usize) {
    const DENYING: &[&str] = &["un", "in", "im", "dis", "non"];
    let (mut missing, mut n_flips) = (Vec::new(), 0);
    for word in words.iter().filter(|word| !has_stem(&word.stem)) {
        let is_flipped = DENYING.iter().any(|start| {
            let without = word
                .lower
                .strip_prefix(start)
                .filter(|rest| !rest.is_empty());
            without.is_some_and(|rest| has_stem(&stem(rest, language)))
                || has_stem(&stem(&format!("{start}{}", word.lower), language))
        });
        match is_flipped {
            true => n_flips += 1,
            false => missing.push(word.lower.clone()),
        }
    }
    (missing, n_flips)
}

/// Whether no word or fact of the claim stands behind another preposition than in the source.
fn has_same_roles<'r>(piece: &Piece, roles: impl IntoIterator<Item = &'r Roles>) -> bool {
    let roles: Vec<&Roles> = roles.into_iter().collect();
    let of = |key: &String| roles.iter().rev().find_map(|roles| roles.get(key));
    let is_used = |preposition: &String| {
        roles
            .iter()
            .any(|roles| roles.values().any(|used| used == preposition))
    };
    !piece.roles.iter().any(|(key, preposition)| {
        of(key).is_some_and(|other| other != preposition) && is_used(preposition)
    })
}

fn is_in_order(piece: &Piece, passage: &Passage) -> bool {
    let own = &passage.piece;
    let kinds = |facts: &[Fact]| facts.iter().filter_map(Fact::rival).collect::<Vec<Rival>>();
    let count = |kinds: &[Rival], kind: Rival| kinds.iter().filter(|known| **known == kind).count();
    if passage.is_strict {
        let (theirs, mine) = (kinds(&own.facts), kinds(&piece.facts));
        let is_short =
            |kind: &Rival| count(&theirs, *kind) > 1 && count(&mine, *kind) < count(&theirs, *kind);
        if mine.iter().any(is_short) {
            return false;
        }
        let has_rivals = theirs.iter().any(|kind| count(&theirs, *kind) > 1);
        if !has_rivals && !name_groups(&own.words, &own.text).is_empty() {
            let mut capitals = own.words.iter().filter(|word| word.is_capital);
            if !capitals.all(|word| piece.has_word(&word.stem)) {
                return false;
            }
        }
        let theirs = own.elements();
        let mut rest = theirs.iter();
        return piece.elements().iter().all(|element| {
            let is_it = |other: &&Element<'_>| match (element, other) {
                (Element::Word(one), Element::Word(other)) => one == other,
                (Element::Fact(one), Element::Fact(other)) => same(one, other) == Same::Yes,
                _ => false,
            };
            let is_header = |word: &str| passage.header.words.contains(word);
            let before = rest.clone();
            let is_found = rest.by_ref().any(|other| is_it(&other));
            if !is_found {
                rest = before;
            }
            is_found || matches!(element, Element::Word(word) if is_header(word))
        });
    }
    let mine: Vec<&Fact> = piece.facts.iter().filter(|fact| fact.at >= 0).collect();
    for kind in kinds(&piece.facts) {
        let of_kind: Vec<&&Fact> = mine
            .iter()
            .filter(|fact| fact.rival() == Some(kind))
            .collect();
        if of_kind.len() > 1 {
            let mut theirs = own.facts.as_slice();
            for fact in of_kind {
                let is_it = |other: &Fact| same(fact, other) == Same::Yes;
                match theirs.iter().position(is_it) {
                    Some(at) => theirs = &theirs[at..],
                    None => return false,
                }
            }
        }
    }
    if !are_names_whole(piece, own) {
        return false;
    }
    let places = piece
        .words
        .iter()
        .filter(|word| word.is_capital && word.at >= 0);
    let places: Vec<usize> = places
        .filter_map(|word| own.words.iter().position(|other| other.stem == word.stem))
        .collect();
    places.is_sorted()
}

/// Whether names of several words stand in a passage word by word: no `Demis London` of `Demis Hassabis in London`.
fn are_names_whole(piece: &Piece, own: &Piece) -> bool {
    let place = |stem: &str| own.words.iter().position(|word| word.stem == stem);
    name_groups(&piece.words, &piece.text)
        .iter()
        .all(|(start, end)| {
            let group = piece
                .words
                .iter()
                .filter(|word| (*start..*end).contains(&word.at));
            let places: Option<Vec<usize>> = group.map(|word| place(&word.stem)).collect();
            // What stands in a header or another field is not looked at.
            places.is_none_or(|places| places.windows(2).all(|pair| pair[1] == pair[0] + 1))
        })
}

fn are_numbers_in_order(piece: &Piece, fields: &[&Field]) -> bool {
    let numbers: Vec<&Fact> = piece
        .facts
        .iter()
        .filter(|fact| fact.number().is_some() && fact.at >= 0)
        .collect();
    let at = |number: &&Fact| {
        let has_it = |field: &&Field| {
            field
                .facts
                .iter()
                .any(|fact| same(number, fact) == Same::Yes)
        };
        fields
            .iter()
            .position(has_it)
            .map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX))
    };
    numbers.len() < 2 || numbers.iter().map(at).is_sorted()
}

/// "3 orders" is no use of `order: 3`: a number before a plural needs a plural key.
fn is_no_count(piece: &Piece, claim: &Fact, field: &Field) -> bool {
    if claim.number().is_none_or(|number| number == 1.0) || claim.unit.is_some() || claim.at < 0 {
        return true;
    }
    let Some(next) = piece.words.iter().find(|word| word.at > claim.at) else {
        return true;
    };
    if !field.keys.contains(&next.stem) {
        return true;
    }
    let key = key_text(&field.key).to_lowercase();
    key.split_whitespace().any(|word| word == next.lower) || !next.lower.ends_with('s')
}
