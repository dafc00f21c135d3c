//! Where in the sources a value stands, told by the words around it: what a number measures, and what a date or an
//! address is about.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Spans;
use crate::text::{FoundNumber, Language, Measure, statement_words, unit_of, words};

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ValueKind {
    Number(Measure),
    Date,
    Moment,
    Url,
}

/// What the name of a number says of it, beside its unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KeyLabel {
    /// It tells one thing from others, and measures nothing.
    is_id: bool,
    /// It counts things, and has no unit.
    is_count: bool,
    /// What it measures, if its name says that.
    pub(super) dimension: Option<&'static str>,
    /// What it is a rate of: `per month`.
    pub(super) per: Option<&'static str>,
    /// Whether it is the highest or the lowest of something.
    end: Option<End>,
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Low,
    High,
}

impl End {
    fn of(word: &str) -> Option<Self> {
        match word {
            "min" | "minimum" | "low" | "lowest" | "least" => Some(Self::Low),
            "max" | "maximum" | "high" | "highest" | "most" | "peak" => Some(Self::High),
            _ => None,
        }
    }
}

impl KeyLabel {
    /// Whether it tells one thing from others.
    pub(super) fn is_id(self) -> bool {
        self.is_id
    }

    /// Whether it names what a unit measures.
    pub(super) fn is_for(self, unit: Measure) -> bool {
        self.dimension.is_some_and(|dimension| match unit {
            Measure::Percent => dimension == "percent",
            Measure::Money(_) => dimension == "money",
            Measure::Of("months", _) => dimension == "time",
            Measure::Of("miles", _) => dimension == "length",
            Measure::Of(of, _) => of.starts_with(dimension),
            Measure::Bare | Measure::Counted => false,
        })
    }
}

/// A value in a source.
#[derive(Debug)]
pub(crate) struct ValueSite {
    kind: ValueKind,
    label: KeyLabel,
    /// Units that its text names apart from numbers: the head of a column.
    named_units: Vec<Measure>,
    /// The word behind a number that is counted.
    noun: Option<String>,
    /// The words of its key, if that says its unit: `12 taken` of `taken_days`.
    counted: BTreeSet<String>,
    /// Whether nothing is around it.
    is_bare: bool,
    /// Whether the user said it: then it supports, and speaks against nothing.
    is_said: bool,
    /// Whether the user only asked for it.
    is_asked: bool,
}

/// A value on its way into [`ValueIndex`].
pub(super) struct NewValue<'a> {
    pub kind: ValueKind,
    pub label: KeyLabel,
    pub named_units: &'a [Measure],
    pub noun: Option<String>,
    /// The words of its clause or key.
    pub own: BTreeSet<String>,
    /// Those of them that stand beside it.
    pub beside: BTreeSet<String>,
    /// The words of its sentence and its record.
    pub record: &'a BTreeSet<String>,
    /// The word of the record that is the value itself.
    pub without: Option<&'a str>,
    pub is_said: bool,
    pub is_asked: bool,
}

/// All values of the sources, by the words around them.
#[derive(Debug, Default)]
pub(super) struct ValueIndex {
    all: Vec<ValueSite>,
    /// For each word the places that have it near, and how near.
    by_word: HashMap<String, Vec<(u32, u32)>>,
}

/// A word that is at more places tells nothing.
const MOST_PLACES: usize = 1000;
/// What a word weighs in the clause or key of a value, and in the rest of its record.
const BESIDE: u32 = 3;
const OWN: u32 = 2;
const RECORD: u32 = 1;

impl ValueIndex {
    pub(super) fn add(&mut self, new: NewValue<'_>) -> u32 {
        let at = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let around = new.record.difference(&new.own);
        let mut around = around
            .filter(|word| new.without != Some(word.as_str()))
            .peekable();
        self.all.push(ValueSite {
            kind: new.kind,
            label: new.label,
            named_units: new.named_units.to_vec(),
            noun: new.noun,
            counted: match new.kind {
                ValueKind::Number(Measure::Bare | Measure::Counted) => BTreeSet::new(),
                _ => new.beside.clone(),
            },
            is_bare: new.own.is_empty() && around.peek().is_none(),
            is_said: new.is_said,
            is_asked: new.is_asked,
        });
        let around = around.map(|word| (word, RECORD));
        let own = new.own.iter().map(|word| match new.beside.contains(word) {
            true => (word, BESIDE),
            false => (word, OWN),
        });
        for (word, weight) in around.chain(own) {
            let places = match self.by_word.get_mut(word) {
                Some(places) => places,
                None => self.by_word.entry(word.clone()).or_default(),
            };
            // One more than `MOST_PLACES` is enough to say that there are more.
            if places.len() <= MOST_PLACES {
                places.push((at, weight));
            }
        }
        at
    }

    pub(super) fn get(&self, at: u32) -> &ValueSite {
        &self.all[at as usize]
    }

    /// Whether one of `candidates` is what a part of an answer is about, and not one of their rivals. The contexts
    /// begin with the words of the clause and go on to those of all around it; the first that tells them apart decides.
    /// Nothing if no context has a word of any of them. A word that is at too many places to be looked at is taken for one
    /// of theirs.
    pub(super) fn is_about(
        &self,
        candidates: &HashSet<u32>,
        contexts: &[BTreeSet<String>],
        is_rival: impl Fn(&ValueSite) -> bool,
    ) -> Option<bool> {
        let mut verdict = None;
        // Those that are as near as the candidates in the narrower contexts: what is farther there is no rival in wider ones.
        let mut as_near: Option<HashSet<u32>> = None;
        for context in contexts {
            let mut scores: HashMap<u32, u32> = HashMap::new();
            for word in context {
                let places = self
                    .by_word
                    .get(word)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                if places.len() > MOST_PLACES {
                    verdict = verdict.or(Some(true));
                    continue;
                }
                for (at, weight) in places {
                    *scores.entry(*at).or_default() += weight;
                }
            }
            let best = |is_one: &dyn Fn(u32) -> bool| {
                let scores = scores.iter().filter(|(at, _)| is_one(**at));
                scores.map(|(_, score)| *score).max().unwrap_or(0)
            };
            let ours = best(&|at| candidates.contains(&at));
            let stated = best(&|at| candidates.contains(&at) && !self.get(at).is_asked);
            let is_rival_at = |at: u32| {
                let place = self.get(at);
                !candidates.contains(&at)
                    && !place.is_said
                    && is_rival(place)
                    && as_near.as_ref().is_none_or(|near| near.contains(&at))
            };
            let theirs = best(&is_rival_at);
            // What the user only asked is no better than what a result says of it.
            if theirs > ours || (theirs == ours && theirs > stated) {
                return Some(false);
            }
            if ours > 0 {
                verdict = Some(true);
                if ours > theirs {
                    break;
                }
                let near = scores.iter().filter(|(_, score)| **score == ours);
                let near = near.map(|(at, _)| *at).filter(|at| is_rival_at(*at));
                as_near = Some(near.collect());
            }
        }
        verdict
    }
}

impl ValueSite {
    pub(super) fn kind(&self) -> ValueKind {
        self.kind
    }

    /// Whether nothing says what it is.
    pub(super) fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Whether the source says the unit of a number, or the dimension that a unit of its is for.
    pub(super) fn states_unit(&self, measure: Measure) -> bool {
        match self.kind {
            ValueKind::Number(Measure::Bare | Measure::Counted) => {
                self.label.is_for(measure)
                    || self
                        .named_units
                        .iter()
                        .any(|named| named.factor_to(measure).is_some())
            }
            ValueKind::Number(_) => true,
            _ => false,
        }
    }

    /// Whether it can be what `number` says: not if one is a name and the other an amount, or if a unit is claimed that
    /// nobody gave.
    pub(super) fn fits(&self, number: &FoundNumber, use_of: &NumberUse) -> bool {
        let differ =
            |own: Option<End>, other: Option<End>| own.is_some() && other.is_some() && own != other;
        if (use_of.per.is_some() && self.label.per.is_some() && use_of.per != self.label.per)
            || differ(use_of.end, self.label.end)
        {
            return false;
        }
        match number.measure {
            Measure::Bare => true,
            Measure::Counted => {
                let is_other_unit = matches!(self.kind, ValueKind::Number(Measure::Counted))
                    && use_of.noun.as_deref().is_some_and(is_sign)
                    && self.noun != use_of.noun;
                let is_of_key = match self.kind {
                    ValueKind::Number(Measure::Bare | Measure::Counted) => true,
                    ValueKind::Number(_) => {
                        !use_of.counted.is_empty() && use_of.counted.is_subset(&self.counted)
                    }
                    ValueKind::Date | ValueKind::Moment | ValueKind::Url => true,
                };
                !is_other_unit && is_of_key && (!self.label.is_id || !use_of.counts_things)
            }
            unit => match self.kind {
                ValueKind::Number(Measure::Bare | Measure::Counted) => {
                    self.is_bare
                        || (!self.label.is_id && !self.label.is_count && self.states_unit(unit))
                }
                ValueKind::Number(_) => true,
                // A year is no amount.
                ValueKind::Date | ValueKind::Moment | ValueKind::Url => false,
            },
        }
    }
}

/// Whether a word behind a number is the sign of a unit, and not a noun: `MW`, `hPa`, `ml`.
fn is_sign(noun: &str) -> bool {
    noun.chars().count() <= 2 || noun.chars().skip(1).any(char::is_uppercase)
}

/// How an answer uses a number.
#[derive(Debug, Default)]
pub(crate) struct NumberUse {
    /// The word behind it.
    noun: Option<String>,
    /// Whether it says how many of something there are: `77 customers`, but not `customer 77`.
    counts_things: bool,
    /// What it is a rate of.
    per: Option<&'static str>,
    /// Whether it is said to be the highest or the lowest.
    end: Option<End>,
    /// The noun as it is compared.
    counted: BTreeSet<String>,
}

impl NumberUse {
    pub(crate) fn of(number: &FoundNumber, prose: &str, language: Language) -> Self {
        let noun = noun_behind(number, prose, language);
        let named = label_before(&prose[..number.range.start]);
        let is_name = named.is_id
            || prose[..number.range.start].trim_end().ends_with('#')
            || words(&prose[..number.range.start])
                .last()
                .is_some_and(|word| is_label_of(word.text));
        Self {
            counts_things: noun.is_some() && !is_name,
            end: named.end,
            counted: statement_words(noun.as_deref().unwrap_or_default(), language),
            noun,
            per: rate_behind(&prose[number.range.end..])
                .or_else(|| rate_before(&prose[..number.range.start])),
        }
    }
}

/// What has numbers for names.
fn is_label_of(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "customer"
            | "order"
            | "ticket"
            | "case"
            | "issue"
            | "invoice"
            | "room"
            | "table"
            | "gate"
            | "flight"
            | "user"
            | "account"
            | "item"
            | "product"
            | "request"
            | "step"
            | "chapter"
            | "line"
            | "task"
            | "job"
            | "build"
            | "booking"
            | "reservation"
            | "kunde"
            | "bestellung"
            | "auftrag"
            | "rechnung"
    )
}

/// The noun that a number counts.
pub(super) fn noun_behind(number: &FoundNumber, prose: &str, language: Language) -> Option<String> {
    if number.measure != Measure::Counted {
        return None;
    }
    let word = words(&prose[number.range.end..]).next()?;
    let is_next = prose[number.range.end..][..word.start].chars().count() <= 1;
    let lower = word.text.to_lowercase();
    (is_next && !language.stop_words().contains(lower.as_str())).then(|| word.text.to_owned())
}

/// What a key says of its number: the last word of it tells most.
pub(super) fn label_of_key(key: &str) -> KeyLabel {
    let words: Vec<String> = words(key).map(|word| word.text.to_lowercase()).collect();
    let head = words.last().map_or("", String::as_str);
    KeyLabel {
        is_id: is_id(head),
        is_count: is_count(head),
        end: words.iter().rev().find_map(|word| End::of(word)),
        dimension: words.iter().rev().find_map(|word| dimension_of(word)),
        per: words.iter().find_map(|word| match word.as_str() {
            "kph" | "kmh" | "mph" => Some("hour"),
            word => frequency(word).or_else(|| {
                let is_rate = words.iter().any(|word| word == "per");
                is_rate.then(|| period(word))?
            }),
        }),
    }
}

/// What a number is a rate of, by what stands right behind its unit: `per month`, `/h`, `a year`, `weekly`.
pub(super) fn rate_behind(rest: &str) -> Option<&'static str> {
    let bare = rest.trim_start_matches([' ', '\u{a0}']);
    let behind = match bare.strip_prefix('/') {
        Some(behind) => behind,
        None => {
            let sign = words(bare).next().filter(|word| word.start == 0)?;
            if let Some(per) = frequency(sign.text) {
                return Some(per);
            }
            matches!(
                sign.text,
                "per" | "a" | "an" | "each" | "every" | "pro" | "par"
            )
            .then(|| &bare[sign.end()..])?
        }
    };
    let word = words(behind).next()?;
    behind[..word.start]
        .trim()
        .is_empty()
        .then(|| period(word.text))?
}

/// What a number is a rate of, by the words right before it: `the weekly rent is 50`.
pub(super) fn rate_before(before: &str) -> Option<&'static str> {
    words(last_words(before)).find_map(|word| frequency(word.text))
}

/// What a number is a rate of that stands beside such a word: `"interval": "month"`, `"billing": "yearly"`.
pub(super) fn rate_of_word(word: &str) -> Option<&'static str> {
    frequency(word).or_else(|| period(word))
}

fn frequency(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "hourly" => "hour",
        "daily" | "nightly" => "day",
        "weekly" => "week",
        "fortnightly" | "biweekly" => "fortnight",
        "monthly" | "pcm" => "month",
        "quarterly" => "quarter",
        "yearly" | "annual" | "annually" => "year",
        _ => return None,
    })
}

fn period(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "s" | "sec" | "second" | "sekunde" => "second",
        "min" | "minute" => "minute",
        "h" | "hr" | "hour" | "stunde" | "heure" => "hour",
        "day" | "night" | "tag" | "jour" => "day",
        "week" | "wk" | "woche" | "semaine" => "week",
        "fortnight" => "fortnight",
        "quarter" | "quartal" => "quarter",
        "month" | "mo" | "monat" | "mois" => "month",
        "year" | "yr" | "annum" | "jahr" | "an" => "year",
        _ => return None,
    })
}

/// What the words right before a number say of it: `customer id 77`, `No. 77`.
pub(super) fn label_before(before: &str) -> KeyLabel {
    let last: Vec<String> = words(last_words(before))
        .map(|word| word.text.to_lowercase())
        .filter(|word| !matches!(word.as_str(), "is" | "was" | "of" | "the" | "ist"))
        .collect();
    let head = last.last().map_or("", String::as_str);
    KeyLabel {
        is_id: is_id(head),
        is_count: is_count(head),
        dimension: None,
        per: None,
        end: End::of(head),
    }
}

/// The end of a text, where two or three words stand.
fn last_words(text: &str) -> &str {
    let start = text.char_indices().rev().take(32).last();
    let end = &text[start.map_or(0, |(at, _)| at)..];
    end.rsplit(['.', ';', ',', '\n']).next().unwrap_or(end)
}

/// What the words around a number say that it measures.
pub(super) fn dimension_among(words: &BTreeSet<String>) -> Option<&'static str> {
    words.iter().find_map(|word| dimension_of(word))
}

fn is_id(word: &str) -> bool {
    matches!(
        word,
        "id" | "ids"
            | "identifier"
            | "uid"
            | "uuid"
            | "no"
            | "nr"
            | "number"
            | "code"
            | "zip"
            | "postcode"
            | "plz"
            | "phone"
            | "year"
            | "index"
            | "page"
            | "version"
            | "port"
            | "key"
            | "line"
            | "status"
            | "isbn"
            | "sku"
            | "ref"
            | "reference"
            | "rank"
            | "position"
            | "seq"
            | "telefon"
            | "nummer"
            | "kundennummer"
    )
}

fn is_count(word: &str) -> bool {
    matches!(
        word,
        "count"
            | "counts"
            | "quantity"
            | "qty"
            | "num"
            | "anzahl"
            | "items"
            | "users"
            | "people"
            | "population"
    )
}

/// What a word of a key or a clause is the name of. Words are whole or brought to their stems.
fn dimension_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "price" | "prices" | "cost" | "costs" | "amount" | "revenue" | "revenu" | "salary"
        | "salari" | "fee" | "fees" | "budget" | "balance" | "balanc" | "income" | "incom"
        | "profit" | "payment" | "paid" | "wage" | "tax" | "turnover" | "subtotal" | "deposit"
        | "refund" | "debt" | "spend" | "rent" | "fare" | "fares" | "toll" | "tuition"
        | "premium" | "charge" | "preis" | "kosten" | "betrag" | "umsatz" | "gehalt" => "money",
        "temperature" | "temperatur" | "temp" | "degrees" | "degre" => "temperature",
        "distance" | "distanc" | "length" | "height" | "width" | "depth" | "altitude"
        | "altitud" | "elevation" | "radius" | "wind" | "gust" | "speed" | "rain" | "rainfall"
        | "precipitation" | "precipit" | "snow" | "visibility" | "visibl" | "entfernung"
        | "länge" | "höhe" => "length",
        "weight" | "mass" | "gewicht" => "mass",
        "duration" | "durat" | "elapsed" | "latency" | "latenc" | "age" | "runtime" | "runtim"
        | "uptime" | "uptim" | "timeout" | "ttl" | "took" | "dauer" => "time",
        "percent" | "percentage" | "percentag" | "pct" | "ratio" | "share" | "humidity"
        | "humid" | "progress" | "completion" | "coverage" | "coverag" | "battery" | "batteri"
        | "confidence" | "confid" | "accuracy" | "accuraci" | "probability" | "probabl"
        | "growth" | "change" | "chang" | "discount" | "rate" => "percent",
        "bytes" | "size" | "memory" | "memori" | "disk" | "storage" | "storag" => "data",
        _ => return None,
    })
}

/// The unit that a key ends with: `price_eur`, `distance_km`.
pub(super) fn unit_of_key(key: &str) -> Option<Measure> {
    // A unit stands behind a name.
    let word = words(key).skip(1).last()?.text;
    let names_temperature = key.to_lowercase().contains("temp");
    match word {
        "c" => unit_of("°c"),
        "C" if names_temperature => unit_of("°c"),
        "f" | "F" if names_temperature => unit_of("°f"),
        // A least one, and not minutes, unless it is what takes time.
        "min" if !words(key).any(|word| takes_time(word.text)) => None,
        "t" | "x" => None,
        _ => unit_of(word),
    }
}

/// Whether a word of a key names something that lasts.
fn takes_time(word: &str) -> bool {
    const LASTING: &[&str] = &[
        "bake",
        "baking",
        "break",
        "cook",
        "cooking",
        "crossing",
        "delay",
        "downtime",
        "drive",
        "elapsed",
        "eta",
        "flight",
        "interval",
        "layover",
        "prep",
        "preparation",
        "response",
        "run",
        "session",
        "sleep",
        "time",
        "total",
        "transfer",
        "travel",
        "trip",
        "wait",
        "waiting",
        "walk",
    ];
    let word = word.to_lowercase();
    LASTING.contains(&word.as_str()) || dimension_of(&word) == Some("time")
}

/// The units that a text names apart from numbers.
pub(super) fn named_units(spans: &Spans<'_>) -> Vec<Measure> {
    const MOST: usize = 20;
    let mut units: Vec<Measure> = Vec::new();
    let signs = spans.words.chars().filter(|sign| "%€$£¥₹".contains(*sign));
    let signs = signs.filter_map(|sign| unit_of(sign.encode_utf8(&mut [0; 4])));
    let of_words = words(&spans.words)
        .filter(|word| word.text.len() > 1 && word.text.len() <= 12)
        .filter(|word| !matches!(word.text, "min" | "t" | "in" | "h"))
        .filter_map(|word| unit_of(word.text));
    for unit in of_words.chain(signs) {
        if units.len() < MOST && !units.contains(&unit) {
            units.push(unit);
        }
    }
    units
}
