//! Claims that say several things in one sentence: pairs of keys and values, and what is so of several records.

use super::facts::{Fact, Said, Word, read};
use super::pairs::Pairs;
use super::pieces::{Piece, Pieces, has_verb, parts, pieces};
use super::proof::{Carried, Proof, Prover, Verdict, quoted, with};
use super::records::ByRecord;

use Verdict::{Refuted, Supported, Unproven};

impl Prover<'_> {
    /// Pairs of keys and values: they are of what is named before them, or all of one record.
    pub(super) fn prove_pairs(&self, pairs: &Pairs, carried: &Carried, names: bool) -> Proof {
        let language = self.language();
        let lead = read(&pairs.lead, language, false);
        let mut above = carried.clone();
        above.words.extend(lead.words.iter().map(Word::carried));
        let facts = lead.facts.iter().filter(|fact| !fact.is_name());
        above.facts.extend(facts.map(Fact::carried));
        above.hangs = true;
        let items = pairs
            .pairs
            .iter()
            .map(|pair| pieces(pair, language, names).whole);
        let taken = Pieces {
            whole: Piece::default(),
            items: items.collect(),
        };
        let items = with(self.with_names(taken), &above).items;
        let naming = |text: &str| !self.sources.namings(text).is_empty();
        let is_named = !above.words.is_empty()
            || !above.facts.is_empty()
            || pairs.pairs.iter().all(|pair| naming(pair));
        let has_all = |idx: &usize| {
            !self.sources.records[*idx].is_stale
                && items
                    .iter()
                    .all(|item| matches!(self.by_record(item, *idx), ByRecord::Supported(_)))
        };
        if let Some(idx) = (0..self.sources.records.len()).find(has_all) {
            let shown = quoted(&pairs.pairs.join(", "));
            return Proof::new(Supported, shown).of(Some(self.sources.records[idx].event));
        }
        let said: Vec<&str> = pairs
            .pairs
            .iter()
            .chain([&pairs.lead])
            .flat_map(|text| self.sources.namings(text))
            .collect();
        let proofs: Vec<Proof> = items
            .iter()
            .map(|item| self.prove_part(item, &said, false))
            .collect();
        let found = |verdict| proofs.iter().find(move |proof| proof.is(verdict));
        match found(Refuted).or_else(|| found(Unproven)) {
            Some(worst) => worst.clone(),
            None if !is_named && items.iter().any(|item| self.is_in_record(item)) => {
                Proof::new(Unproven, "no single entry has all of it")
            }
            None => proofs[0].clone(),
        }
    }

    /// Parts of a sentence that name a record each, and what they say of it: `Ann is in Oslo, Bob in Rome`. Of names alone the
    /// next part says it: `Ann and Bob are in Oslo`.
    pub(super) fn prove_each(&self, text: &str, carried: &Carried, names: bool) -> Option<Proof> {
        let place = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let is_named = |part: &str| !self.sources.namings(part).is_empty();
        let mut groups: Vec<&str> = Vec::new();
        for part in parts(text) {
            match groups.last_mut() {
                Some(last) if !(is_named(part) && is_named(last)) => {
                    *last = &text[place(last)..place(part) + part.len()];
                }
                _ => groups.push(part),
            }
        }
        if groups.len() < 2 {
            return None;
        }
        let mut texts: Vec<String> = Vec::new();
        for group in groups.iter().rev() {
            let text = match texts.last() {
                _ if !self.is_only_names(group) => (*group).to_owned(),
                Some(next) => {
                    let name = self.sources.namings(next).first().copied()?;
                    let at = next.to_ascii_lowercase().find(name)?;
                    let (before, after) = (&next[..at], &next[at + name.len()..]);
                    format!("{before}{}{after}", group.trim())
                }
                None => return None,
            };
            texts.push(text);
        }
        let taken = texts
            .iter()
            .map(|text| pieces(text, self.language(), names));
        let taken: Vec<Pieces> = taken.map(|taken| with(taken, carried)).collect();
        // `Ann is not in Oslo, Bob in Rome` may deny both.
        if taken.iter().any(|taken| taken.whole.is_denied)
            && !texts.iter().all(|text| has_verb(text))
        {
            return None;
        }
        let proofs = texts
            .iter()
            .zip(&taken)
            .map(|(text, taken)| self.prove_part(&taken.whole, &self.sources.namings(text), false));
        let proofs: Vec<Proof> = proofs.collect();
        let are_all = proofs.iter().all(|proof| proof.is(Supported));
        are_all.then(|| proofs[0].clone())
    }

    /// Whether a text has nothing but names of records.
    fn is_only_names(&self, text: &str) -> bool {
        let names = self.sources.namings(text).into_iter();
        let names: Vec<Said> = names
            .map(|name| read(name, self.language(), false))
            .collect();
        let said = read(text, self.language(), false);
        let is_word = |word: &Word| {
            let mut own = names.iter().flat_map(|name| &name.words);
            own.any(|own| own.stem == word.stem)
        };
        let is_fact = |fact: &Fact| {
            let mut own = names.iter().flat_map(|name| &name.facts);
            own.any(|own| own.value == fact.value)
        };
        said.words.iter().all(is_word) && said.facts.iter().all(is_fact)
    }

    fn is_in_record(&self, piece: &Piece) -> bool {
        let mut records = 0..self.sources.records.len();
        records.any(|idx| matches!(self.by_record(piece, idx), ByRecord::Supported(_)))
    }
}
