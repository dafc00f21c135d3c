//! Whether a claim is supported, refuted or unproven.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::align::{Alignment, align};
use super::claims::{Claim, Part};
use super::data::{COMPARING, QUANTIFIERS, RESTRICTING, weekday};
use super::derived::invented;
use super::facts::{Fact, Value, Word, read};
use super::order::{has, has_same_roles, lacking};
use super::outline::LineKind;
use super::pairs::{pairs, signed};
use super::pieces::{Piece, Pieces, enumeration, has_verb, pieces};
use super::records::ByRecord;
use super::same::{Same, same};
use super::sources::{Field, Passage, Sources, stems};
use super::text::{Language, clauses, fold, is_title, language as text_language, pattern};
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
        let mut carried = self.hanging(claim, &naming, proved);
        let hangs = carried.hangs;
        let blank = self.sources.blank_name(&over);
        if let Some(name) = blank.or_else(|| self.sources.blank_name(&claim.text)) {
            let why = format!("the name “{name}” is no word that can be told apart");
            return Proof::new(Unproven, why);
        }
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
            .filter_map(|fact| match invented(fact, &whole.facts, self.sources) {
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
        if let Some(pairs) = pairs(&text).or_else(|| signed(&text)) {
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
                let is_label = !has_verb(&first.text);
                let facts = first.facts.iter().filter(|fact| is_label || fact.is_id());
                carried.facts.extend(facts.map(Fact::carried));
            }
            let here = self.sources.namings(clause);
            if carried.words.is_empty()
                && carried.facts.is_empty()
                && self.sources.has_whole(clause, &[], &[])
            {
                proofs.push(Proof::new(Supported, "it stands there as it is"));
            } else {
                let taken = self.with_names(pieces(clause, language, names));
                let nothing = Carried::default();
                let is_own = !here.is_empty() && !hangs && (nth == 0 || has_verb(clause));
                let with_it = if is_own { &nothing } else { &carried };
                proofs.push(self.prove_parts(&with(taken, with_it), names, &said));
            }
            if !here.is_empty() {
                let mut words = match hangs {
                    true => carried.words.clone(),
                    false => Vec::new(),
                };
                words.extend(
                    here.iter()
                        .flat_map(|name| read(name, language, false).words),
                );
                carried.words = words;
                if !hangs {
                    carried.facts.clear();
                }
            }
            let facts = read(clause, language, names).facts.into_iter();
            let ids: Vec<Fact> = facts
                .filter(Fact::is_id)
                .map(|fact| fact.carried())
                .collect();
            if !ids.is_empty() && !hangs {
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
        if let Some(proof) = self.prove_each(&text, &carried, names) {
            return proof;
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
            return match first.is(Unproven) {
                true => of_items(&taken.whole).unwrap_or(first),
                false => first,
            };
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
                format!(
                    "not proved: its words stand in {}, and not as it says them",
                    quoted(&text)
                ),
            )
            .of(event);
        }
        if found.is_old {
            return self.stale(&piece);
        }
        unproven(nearest)
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
        (piece.is_denied || AS_WELL.is_match(&piece.text))
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
        let missing_facts = piece
            .facts
            .iter()
            .filter(|fact| has(fact, facts(), &has_stem, &passage.piece.text) != Same::Yes);
        let missing_facts: Vec<String> = missing_facts.map(|fact| fact.text.clone()).collect();
        let (mut missing, n_flips) = lacking(&piece.words, &has_stem, self.language());
        missing.extend(words_of_title(piece, passage));
        if self.language().is_none() && missing.is_empty() && !piece.words.is_empty() {
            missing.push("words of a language that is not known".to_owned());
        }
        // What only headings say, nobody says of anything.
        let is_own = |fact: &&Fact| {
            let mut own = passage.piece.facts.iter();
            fact.is_name() || fact.is_id() || own.any(|other| same(fact, other) == Same::Yes)
        };
        let has_own_word = || {
            piece
                .words
                .iter()
                .any(|word| passage.piece.has_word(&word.stem))
        };
        if !piece.facts.is_empty()
            && !has_own_word()
            && !piece.facts.iter().any(|fact| is_own(&fact))
        {
            missing.push("a word of it".to_owned());
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
