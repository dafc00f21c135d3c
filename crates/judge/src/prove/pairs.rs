//! Pairs of a key and a value in one line: `Ann (paid: no, age: 41)`.

use super::data::is_function_word;
use super::facts::{Fact, Word, read};
use super::pieces::{Piece, Pieces, has_verb, keep_names, pieces};
use super::proof::{Carried, Proof, Prover, Verdict, quoted, with, worst};
use super::records::ByRecord;
use super::text::pattern;

use Verdict::{Supported, Unproven};

/// What a line of pairs says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// What stands before them: `Ann`.
    pub(super) lead: String,
    /// At least two, each as it stands there, with all its values: `likes: tea, jazz`.
    pub(super) pairs: Vec<String>,
}

/// The key and the value of `paid: no`, `age = 41`, `smoker yes` and `age 41`.
fn pair(text: &str) -> Option<(&str, &str)> {
    pattern!(
        WRITTEN,
        r"^\W*(\p{L}[\w '%/-]{0,30}?)\s*[:=]\W*\s(\S.*?)\s*$"
    );
    pattern!(
        SIGNED,
        r"(?i)^\W*(\p{L}[\p{L} '_-]{0,30}?)\s+(yes|no|true|false|ja|nein|on|off|none|[€$£]?\d[\d.,]*(?: ?[%€$£°/\w]{1,6})?)\W*$"
    );
    let found = SIGNED.captures(text).or_else(|| WRITTEN.captures(text))?;
    let [key, value] = [1, 2].map(|at| found.get(at).map_or("", |part| part.as_str()));
    let says_something = key
        .split(' ')
        .any(|word| !is_function_word(&word.to_lowercase()));
    (says_something && !has_verb(key)).then_some((key, value))
}

/// The pairs of a folded line, if it has nothing else but a name before them.
pub(super) fn pairs(text: &str) -> Option<Pairs> {
    pattern!(
        BETWEEN,
        r"[,;]\s+|\s+[|·]\s+|\s*[()]+\s*|\s+[–—-]\s+|\s+(?:and|und)\s+"
    );
    let mut found = Pairs::default();
    let (mut start, mut joined) = (0, "");
    let ends = BETWEEN.find_iter(text).map(|end| (end.start(), end.end()));
    for (end, next) in ends.chain([(text.len(), text.len())]) {
        let part = text[start..end].trim();
        let before = std::mem::replace(&mut joined, text[end..next].trim());
        start = next;
        if part.is_empty() {
            continue;
        }
        match (pair(part), found.pairs.last_mut()) {
            // `Ann: paid: no`
            (Some((lead, value)), None) if found.lead.is_empty() && pair(value).is_some() => {
                lead.clone_into(&mut found.lead);
                found.pairs.push(value.to_owned());
            }
            // `Ann: paid: no; Bob: paid: yes`
            (Some((_, value)), _) if pair(value).is_some() => return None,
            (Some(_), _) => found.pairs.push(part.to_owned()),
            (None, Some(last)) if matches!(before, "," | "and" | "und") => {
                last.push_str(", ");
                last.push_str(part);
            }
            (None, None)
                if found.lead.is_empty() && !has_verb(part) && !matches!(joined, "and" | "und") =>
            {
                part.clone_into(&mut found.lead);
            }
            (None, _) => return None,
        }
    }
    (found.pairs.len() > 1).then_some(found)
}

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
        let mut items: Vec<Piece> = items.collect();
        keep_names(&mut items);
        let taken = Pieces {
            whole: Piece::default(),
            items,
        };
        let items = with(self.with_names(taken), &above).items;
        let naming = |text: &str| !self.sources.namings(text).is_empty();
        let is_named = !above.words.is_empty()
            || !above.facts.is_empty()
            || pairs.pairs.iter().all(|pair| naming(pair));
        let said: Vec<&str> = pairs
            .pairs
            .iter()
            .chain([&pairs.lead])
            .flat_map(|text| self.sources.namings(text))
            .collect();
        let named = self.sources.named(&said);
        let has_all = |idx: &usize| {
            (named.is_empty() || named.contains(idx))
                && !self.sources.records[*idx].is_stale
                && items
                    .iter()
                    .all(|item| matches!(self.by_record(item, *idx), ByRecord::Supported(_)))
        };
        if let Some(idx) = (0..self.sources.records.len()).find(has_all) {
            let shown = quoted(&pairs.pairs.join(", "));
            return Proof::new(Supported, shown).of(Some(self.sources.records[idx].event));
        }
        let proofs = items.iter().map(|item| self.prove_part(item, &said, false));
        let worst = worst(&proofs.collect::<Vec<Proof>>());
        let is_in_record = |item: &Piece| {
            let mut records = 0..self.sources.records.len();
            records.any(|idx| matches!(self.by_record(item, idx), ByRecord::Supported(_)))
        };
        match worst.is(Supported) && !is_named && items.iter().any(is_in_record) {
            true => Proof::new(Unproven, "no single entry has all of it"),
            false => worst,
        }
    }
}
