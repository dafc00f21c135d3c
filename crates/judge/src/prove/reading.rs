//! What other assertions read of texts: whether one states a fact, how it mentions one, what stands in it.

use std::ops::Range;

use cuecard_source::value::Json;

use super::ProofRules;
use super::data::CURRENCIES;
use super::facts::{Fact, Value, Word, read};
use super::glue::Glue;
use super::names::stands_in;
use super::outline::{LineKind, outline};
pub(crate) use super::pieces::has_verb;
use super::pieces::parts;
use super::same::{Same, same};
use super::sources::stems;
use super::text::{Language, clauses, fold, language, plain, sentences};
use super::{Evidence, Judged, ProofVerdict, claims, judge_claims};

fn language_of(text: &str) -> Option<Language> {
    language(text, Some(Language::English))
}

/// Whether a text states a fact, by the same proof as a result proves a claim, and why not.
/// A text with less than the part `min_overlap` of the words of the fact refutes it.
pub(crate) fn states(text: &str, fact: &str, min_overlap: Option<f64>) -> (ProofVerdict, String) {
    let evidence = Evidence {
        event: 0,
        tool: "",
        arguments: &Json::Null,
        result: &text.into(),
        text: None,
    };
    let rules = ProofRules {
        min_overlap,
        ..ProofRules::default()
    };
    let judged = judge_claims(fact, &[evidence], &[], rules);
    let worst = |verdict| judged.iter().find(|one| one.verdict == verdict);
    let open = worst(ProofVerdict::Refuted).or_else(|| worst(ProofVerdict::Unproven));
    match open.or(judged.first()) {
        Some(Judged { verdict, why, .. }) => (*verdict, why.clone()),
        None => (ProofVerdict::Unproven, "it claims nothing".to_owned()),
    }
}

/// Whether a sentence of a text has a fact word by word, and doesn't ask for it.
pub(crate) fn quotes(text: &str, fact: &str) -> bool {
    let (text, wanted) = (fold(text), plain(fact));
    let mut stated = sentences(&text)
        .into_iter()
        .filter(|sentence| !sentence.ends_with('?'));
    stated.any(|sentence| {
        let is_denied = mention(sentence, fact, "").is_some_and(|found| found.is_denied);
        stands_in(&wanted, &plain(sentence)) && !words_of(sentence, DROPPING).1 && !is_denied
    })
}

/// Words that take a fact back, or leave it open.
pub(crate) const DROPPING: &str = "removed deleted rejected discarded dropped ignored forgot wrong untrue false unknown unconfirmed whether if may might could unless";

/// How a sentence speaks of something.
pub(crate) struct Mention<'t> {
    pub(crate) sentence: &'t str,
    /// Whether the clause denies it, or says it where the fact is a denial.
    pub(crate) is_denied: bool,
    /// The preposition before it.
    pub(crate) role: Option<String>,
    /// Where it begins in the sentence.
    pub(crate) at: usize,
    /// Whether it is a number and nothing else, which may be one of something else.
    pub(crate) is_bare: bool,
}

/// The words and facts of a fact that another one lacks, or all of them if that has them all.
struct Wanted {
    words: Vec<Word>,
    facts: Vec<Fact>,
    language: Option<Language>,
    is_denial: bool,
}

impl Wanted {
    fn new(fact: &str, other: &str) -> Self {
        let language = language_of(fact);
        let is_denial = is_denied(fact);
        let [fact, other] = [fact, other].map(|text| read(text, language, false));
        let lacks_word = |word: &&Word| other.words.iter().all(|one| one.stem != word.stem);
        let is_said = |fact: &&Fact| !fact.is_name() && !fact.is_zero();
        let lacks = |fact: &&Fact| place_of(&other.facts, fact).is_none();
        let facts = || fact.facts.iter().filter(is_said);
        let mut wanted = Self {
            words: fact.words.iter().filter(lacks_word).cloned().collect(),
            facts: facts().filter(lacks).cloned().collect(),
            language,
            is_denial,
        };
        if wanted.words.is_empty() && wanted.facts.is_empty() {
            wanted.facts = facts().cloned().collect();
            wanted.words = fact.words;
        }
        wanted
    }

    /// What stands before each of them, by its place; nothing if one is lacking.
    fn glue_in<'s>(&self, words: &'s [Word], facts: &'s [Fact]) -> Option<Vec<(i64, &'s Glue)>> {
        let words = self.words.iter().map(|word| {
            let found = words.iter().find(|one| one.stem == word.stem)?;
            Some((found.at, &found.glue))
        });
        let facts = self.facts.iter().map(|fact| {
            let found = &facts[place_of(facts, fact)?];
            Some((found.at, &found.glue))
        });
        let mut found = words.chain(facts).collect::<Option<Vec<_>>>()?;
        found.sort_by_key(|(at, _)| *at);
        Some(found)
    }

    fn mention_in<'t>(&self, sentence: &'t str) -> Option<Mention<'t>> {
        let said = read(sentence, self.language, false);
        let found = self.glue_in(&said.words, &said.facts)?;
        let (first, _) = found.first()?;
        let at = usize::try_from(*first).unwrap_or_default();
        let start = |part: &&str| part.as_ptr() as usize - sentence.as_ptr() as usize;
        let clauses = clauses(sentence, self.language).into_iter();
        let parts = clauses.flat_map(parts).filter(|part| start(part) <= at);
        let denies = is_denied(parts.last().unwrap_or(sentence));
        let is_bare = |fact: &Fact| fact.number().is_some() && fact.unit.is_none();
        let is_denied = found.iter().any(|(_, glue)| glue.denials.len() % 2 == 1);
        Some(Mention {
            sentence,
            is_denied: is_denied || denies != self.is_denial,
            role: found.iter().find_map(|(_, glue)| glue.role.clone()),
            at,
            is_bare: self.words.is_empty() && self.facts.iter().all(is_bare),
        })
    }
}

fn place_of(facts: &[Fact], fact: &Fact) -> Option<usize> {
    facts.iter().position(|one| same(fact, one) == Same::Yes)
}

/// Where the sentences of a folded text have all words and facts of `fact` that `other` lacks, or all of it if that has them
/// all.
pub(crate) fn mentions<'t>(text: &'t str, fact: &str, other: &str) -> Vec<Mention<'t>> {
    let wanted = Wanted::new(fact, other);
    let sentences = sentences(text).into_iter();
    sentences
        .filter_map(|sentence| wanted.mention_in(sentence))
        .collect()
}

/// The first of [`mentions`], or the one of several sentences together.
pub(crate) fn mention<'t>(text: &'t str, fact: &str, other: &str) -> Option<Mention<'t>> {
    let first = mentions(text, fact, other).into_iter().next();
    first.or_else(|| Wanted::new(fact, other).mention_in(text))
}

/// Whether every word of a text is one of another, and whether one is.
pub(crate) fn words_of(text: &str, other: &str) -> (bool, bool) {
    let language = language_of(other);
    let known = stems(other, language);
    let words = stems(text, language);
    (words.is_subset(&known), !words.is_disjoint(&known))
}

/// Whether a clause is denied: an odd number of its words deny.
pub(crate) fn is_denied(clause: &str) -> bool {
    /// Words that deny in languages without data, where they are none of the commonest words of others.
    const OTHERS: &[&str] = &[
        "pas", "jamais", "aucun", "aucune", "nunca", "ningún", "ninguna", "sin", "non", "mai",
        "não", "niet", "geen", "inte", "ikke", "не", "нет", "nie",
    ];
    const SIGNS: &[char] = &['不', '没', '無', '无', '未'];
    match read(clause, language_of(clause), false).n_denials() {
        0 => {
            let words = clause.split(|letter: char| !letter.is_alphabetic());
            let count = words.filter(|word| OTHERS.contains(&word.to_lowercase().as_str()));
            count.count() % 2 == 1 || clause.contains(SIGNS) || clause.contains("ません")
        }
        count => count % 2 == 1,
    }
}

/// What the lines of a Markdown text say: its sentences, items and headings, and its cells behind the heads of their rows.
pub(crate) fn lines_of(text: &str) -> Vec<String> {
    let lines = outline(text);
    let said = lines.iter().filter(|line| line.kind != LineKind::HeadCell);
    let said = said.map(|line| {
        let row = line.over.iter().map(|over| &lines[*over]);
        let row = row.filter(|head| line.kind == LineKind::Cell && head.kind == LineKind::HeadCell);
        let row = row.take(1).map(|head| head.text.as_str());
        row.chain([line.text.as_str()])
            .collect::<Vec<&str>>()
            .join(" ")
    });
    said.collect()
}

/// The parts of a sentence that say something of their own: its clauses, what *and* or a comma joins if it has a verb, and what
/// follows a colon behind a verb.
pub(crate) fn parts_of(sentence: &str) -> Vec<&str> {
    let language = language_of(sentence);
    let (first, rest) = match sentence.split_once(": ") {
        Some((first, rest)) if has_verb(first) || is_denied(first) => (first, rest),
        _ => (sentence, ""),
    };
    let mut found = Vec::new();
    for clause in [first, rest]
        .into_iter()
        .flat_map(|part| clauses(part, language))
    {
        let mut start = 0;
        for part in parts(clause).skip(1).filter(|part| has_verb(part)) {
            let at = part.as_ptr() as usize - clause.as_ptr() as usize;
            found.push(&clause[start..at]);
            start = at;
        }
        found.push(&clause[start..]);
    }
    found.retain(|part| {
        let said = read(part, language, false);
        let is_empty = said.words.is_empty() && said.facts.is_empty();
        !is_empty && !claims::claims_nothing(part)
    });
    found
}

/// A value in a text.
pub(crate) struct Span {
    /// The place, in bytes.
    pub(crate) range: Range<usize>,
    pub(crate) kind: SpanKind,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// A number, with its dimension or currency.
    Number(Option<&'static str>),
    Date,
    Url,
}

impl SpanKind {
    pub(crate) fn is_money(self) -> bool {
        matches!(self, Self::Number(Some(unit)) if CURRENCIES.contains(&unit))
    }
}

/// A sentence that claims something.
pub(crate) struct Sentence<'t> {
    pub(crate) text: &'t str,
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// Its values, in order; places are those of the whole text.
    pub(crate) values: Vec<Span>,
}

/// The sentences of a folded text that claim something.
pub(crate) fn claiming(folded: &str) -> Vec<Sentence<'_>> {
    let claiming = sentences(folded).into_iter().map(|text| {
        text.trim_start_matches(|letter: char| {
            !(letter.is_alphanumeric() || "\"(*`$€£".contains(letter))
        })
    });
    let claiming = claiming.filter(|text| !text.is_empty() && !claims::claims_nothing(text));
    claiming
        .map(|text| {
            let start = text.as_ptr() as usize - folded.as_ptr() as usize;
            let facts = read(text, language_of(folded), false).facts.into_iter();
            let values = facts.filter_map(|fact| {
                let has_digit = fact.text.contains(|letter: char| letter.is_ascii_digit());
                let kind = match fact.value {
                    Value::Number(_) if has_digit => {
                        SpanKind::Number(fact.unit.map(|unit| unit.dimension))
                    }
                    Value::Date(_) => SpanKind::Date,
                    Value::Url(_) => SpanKind::Url,
                    _ => return None,
                };
                let at = usize::try_from(fact.at).ok()?;
                let from = start + at + text.get(at..)?.find(fact.text.as_str())?;
                Some(Span {
                    range: from..from + fact.text.len(),
                    kind,
                })
            });
            Sentence {
                values: values.collect(),
                text,
                start,
            }
        })
        .collect()
}
