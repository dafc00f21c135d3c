//! What the results of tools say: the words, numbers, dates, addresses and names that an answer may use.

mod clause_words;
mod passages;
mod places;
mod sources;
mod spans;

pub(super) use clause_words::ClauseWords;
pub(super) use passages::{Passage, Passages};
pub(super) use places::NumberUse;
pub(super) use sources::{
    Source, event_ids, label_by_arguments, said_by_user, sources, tools_that_count,
};
pub(super) use spans::Spans;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use self::places::{KeyLabel, NewValue, ValueIndex, ValueKind, ValueSite};
use self::sources::spaced;
use super::text::{
    CalendarDate, FoundDate, FoundNumber, Identifier, Language, Measure, Moment, NameSpan,
    NumberStyle, Quantity, detect, dois, host_of, moments, normal_url, plain, weekday_of, words,
};

/// The class of a measure: numbers of one class are compared by their values.
type Class = (&'static str, u64);

fn class(measure: Measure) -> Class {
    match measure {
        Measure::Bare => ("", 0),
        Measure::Counted => ("counted", 0),
        Measure::Percent => ("percent", 0),
        Measure::Money(currency) => (currency, 0),
        Measure::Of(dimension, factor) => (dimension, factor.to_bits()),
    }
}

/// The numbers of one class with their measure and their places, sorted.
type Values = (Option<Measure>, Vec<(f64, Quantity, u32)>);

/// Minutes of the day, seconds, and whether the half of the day was said.
type MomentKey = (u16, Option<u8>, bool);

/// Everything in the sources that spans are compared with.
#[derive(Debug, Default)]
pub(super) struct Facts {
    numbers: HashMap<Class, Values>,
    dates: HashMap<CalendarDate, Vec<u32>>,
    /// Times of day, each with its places.
    moments: HashMap<MomentKey, (Moment, Vec<u32>)>,
    urls: HashMap<String, Vec<u32>>,
    places: ValueIndex,
    hosts: HashSet<String>,
    emails: HashMap<String, Vec<u32>>,
    dois: HashSet<String>,
    identifiers: HashSet<String>,
    word_ids: HashMap<String, u32>,
    neighbours: HashSet<(u32, u32)>,
    initials: OnceCell<HashSet<String>>,
    /// How long lists are, each with the words of its key.
    lengths: HashSet<(usize, BTreeSet<String>)>,
    /// All texts, to be searched literally, each on a line of its own.
    literal: String,
    /// The names of the tools, as words.
    tools: HashSet<String>,
    /// The words of all keys: `cpu_pct` names the CPU.
    keys: HashSet<String>,
}

/// How far apart the words of a name may stand: `Demis Hassabis, CEO of Google DeepMind`.
const FARTHEST_NEIGHBOUR: usize = 3;

/// What stands around the values of a text.
struct Surroundings<'a> {
    /// The words of its key.
    key: &'a str,
    /// The words of its record.
    record: &'a BTreeSet<String>,
    is_said: bool,
    is_asked: bool,
}

impl Facts {
    pub(super) fn of(sources: &[Source<'_>], language: Language) -> Self {
        let mut facts = Self::default();
        for source in sources {
            facts
                .tools
                .extend(words(&spaced(source.tool)).map(|word| word.text.to_lowercase()));
            let of_key = |key: &str| super::text::statement_words(key, language);
            let lengths = source.lengths.iter();
            facts
                .lengths
                .extend(lengths.map(|(key, length)| (*length, of_key(key))));
            facts
                .keys
                .extend(words(&source.keys).map(|word| word.text.to_lowercase()));
            let is_said = source.event.is_none();
            let records: Vec<BTreeSet<String>> = source
                .records
                .iter()
                .map(|record| {
                    let spans = Spans::of(record, NumberStyle::default());
                    ClauseWords::of(record, &spans, language).all()
                })
                .collect();
            for number in &source.quantities {
                facts.read_number(number, &records[number.record], language);
            }
            for (text, (key, record)) in source.texts.iter().zip(&source.text_places) {
                let around = Surroundings {
                    key,
                    record: &records[*record],
                    is_said,
                    is_asked: source.is_asked,
                };
                facts.read(text, &around, language);
            }
        }
        for (_, values) in facts.numbers.values_mut() {
            values.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        facts
    }

    fn read_number(
        &mut self,
        number: &sources::KeyedNumber,
        record: &BTreeSet<String>,
        language: Language,
    ) {
        let own = super::text::statement_words(&number.key, language);
        // The number itself is no word around it.
        let itself = clause_words::number_word(number.quantity);
        let mut add = |quantity: Quantity, measure: Measure| {
            let place = self.places.add(NewValue {
                kind: ValueKind::Number(measure),
                label: number.label,
                named_units: &[],
                noun: None,
                own: own.clone(),
                beside: own.clone(),
                record,
                without: Some(&itself),
                is_said: false,
                is_asked: false,
            });
            let values = self.numbers.entry(class(measure)).or_default();
            values.0 = Some(measure);
            values.1.push((quantity.value(), quantity.normal(), place));
        };
        add(number.quantity, number.unit.unwrap_or(Measure::Bare));
        if number.is_share && number.quantity.value().abs() <= 1.0 {
            add(number.quantity.scaled(2), Measure::Percent);
        }
    }

    /// Reads a text of which every part counts.
    fn read(&mut self, text: &str, around: &Surroundings<'_>, language: Language) {
        /// The key of a longer text says nothing of the values in it.
        const SHORT: usize = 60;
        let spans = Spans::of(
            text,
            NumberStyle {
                language: detect(text),
                is_source: true,
            },
        );
        let clauses = ClauseWords::of(text, &spans, language);
        let key = super::text::statement_words(around.key, language);
        let of_key = places::label_of_key(around.key);
        let of_text = places::named_units(&spans);
        let unit_of_key = places::unit_of_key(around.key);
        let place = |facts: &mut Self,
                     kind: ValueKind,
                     range: &std::ops::Range<usize>,
                     label: KeyLabel,
                     noun| {
            let mut own = clauses.own(range);
            let mut record = clauses.sentence(range);
            record.extend(around.record.iter().cloned());
            match text.len() <= SHORT {
                true => own.extend(key.iter().cloned()),
                false => record.extend(key.iter().cloned()),
            }
            facts.places.add(NewValue {
                kind,
                label,
                named_units: &of_text,
                noun,
                own,
                beside: clauses.beside(range),
                record: &record,
                without: None,
                is_said: around.is_said || is_pronoun(&spans.prose[range.clone()]),
                is_asked: around.is_asked,
            })
        };
        for (range, url) in &spans.url_ranges {
            let at = place(self, ValueKind::Url, range, KeyLabel::default(), None);
            self.urls.entry(normal_url(url)).or_default().push(at);
            self.hosts.insert(host_of(url));
        }
        for (_, domain) in super::text::domains(&spans.prose) {
            self.hosts.insert(host_of(domain));
        }
        for (range, email) in &spans.emails {
            let at = place(self, ValueKind::Url, range, KeyLabel::default(), None);
            self.emails
                .entry(email.to_lowercase())
                .or_default()
                .push(at);
        }
        self.dois.extend(spans.dois.iter().cloned());
        // A DOI in a URL is one as well.
        self.dois.extend(
            spans
                .urls
                .iter()
                .flat_map(|url| dois(url))
                .map(|(_, doi)| doi),
        );
        for date in &spans.dates {
            let at = place(
                self,
                ValueKind::Date,
                &date.range,
                KeyLabel::default(),
                None,
            );
            for reading in &date.readings {
                if let Some(year) = reading.year {
                    let quantity = Quantity {
                        mantissa: year.into(),
                        exponent: 0,
                    };
                    let values = self.numbers.entry(class(Measure::Bare)).or_default();
                    values.0 = Some(Measure::Bare);
                    values.1.push((quantity.value(), quantity.normal(), at));
                }
                self.dates.entry(*reading).or_default().push(at);
            }
        }
        for number in &spans.numbers {
            // A text that is nothing but a number has the unit of its key.
            let measure = match number.measure {
                Measure::Bare => unit_of_key.filter(|_| text.len() <= SHORT),
                _ => None,
            };
            let measure = measure.unwrap_or(number.measure);
            let before = &spans.prose[..number.range.start];
            let noun = places::noun_behind(number, &spans.prose, language);
            let mut label = places::label_before(before);
            if text.len() <= SHORT && words(before).next().is_none() {
                label = of_key;
            }
            label.per = places::rate_behind(&spans.prose[number.range.end..])
                .or_else(|| places::rate_before(before))
                .or(of_key.per);
            label.dimension = places::dimension_among(&clauses.own(&number.range))
                .or(of_key.dimension.filter(|_| text.len() <= SHORT));
            let at = place(self, ValueKind::Number(measure), &number.range, label, noun);
            let values = self.numbers.entry(class(measure)).or_default();
            values.0 = Some(measure);
            for quantity in number.readings.iter().chain(parts_of(number)) {
                values.1.push((quantity.value(), quantity.normal(), at));
            }
        }
        // `GPT 5` is `GPT-5`.
        for number in &spans.numbers {
            let before = spans.prose[..number.range.start].trim_end();
            if before.len() + 1 == number.range.start
                && let Some(word) = words(&before[last_word_start(before)..]).last()
            {
                let digits: String = spans.prose[number.range.start..]
                    .chars()
                    .take_while(|character| character.is_ascii_digit() || *character == '.')
                    .collect();
                self.identifiers.insert(format!(
                    "{}{}",
                    word.text.to_lowercase(),
                    digits.trim_end_matches('.')
                ));
            }
        }
        self.identifiers.extend(
            spans
                .identifiers
                .into_iter()
                .map(|identifier| identifier.key),
        );
        // Those inside of dates with a time, too.
        for moment in moments(text) {
            let at = place(
                self,
                ValueKind::Moment,
                &moment.range,
                KeyLabel::default(),
                None,
            );
            let key = (moment.minutes, moment.seconds, moment.is_certain);
            let known = self.moments.entry(key);
            known.or_insert_with(|| (moment, Vec::new())).1.push(at);
        }
        self.read_words(text);
        self.literal.push_str(&plain(text));
        self.literal.push('\n');
    }

    fn read_words(&mut self, text: &str) {
        let mut last: Vec<u32> = Vec::with_capacity(FARTHEST_NEIGHBOUR);
        for word in words(text) {
            let next = u32::try_from(self.word_ids.len()).unwrap_or(u32::MAX);
            let lower = word.text.to_lowercase();
            let lower = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
            let id = *self.word_ids.entry(lower).or_insert(next);
            for before in &last {
                self.neighbours.insert((*before, id));
            }
            if last.len() == FARTHEST_NEIGHBOUR {
                last.remove(0);
            }
            last.push(id);
        }
    }

    /// Whether a number is one of theirs, or one of theirs rounded to the digits that it shows, and measures the same:
    /// its unit must be theirs, and the words around it must not be those of another number.
    pub(super) fn has_number(
        &self,
        number: &FoundNumber,
        use_of: &NumberUse,
        contexts: &[BTreeSet<String>],
        is_decline: bool,
    ) -> bool {
        let places = |quantity: &Quantity| self.places_of(*quantity, number, use_of, is_decline);
        let candidates: HashSet<u32> = number.readings.iter().flat_map(&places).collect();
        if candidates.is_empty() {
            let parts = parts_of(number);
            return !parts.is_empty() && parts.iter().all(|part| !places(part).is_empty());
        }
        let is_rival = |place: &ValueSite| match place.kind() {
            ValueKind::Number(measure) => {
                measure.factor_to(number.measure).is_some() && place.fits(number, use_of)
            }
            ValueKind::Date | ValueKind::Moment | ValueKind::Url => false,
        };
        let about = self.places.is_about(&candidates, contexts, is_rival);
        about.unwrap_or_else(|| {
            contexts.is_empty()
                || candidates.iter().any(|at| {
                    let place = self.places.get(*at);
                    place.is_bare() || place.states_unit(number.measure)
                })
        })
    }

    /// Where a number stands that can be the same.
    fn places_of(
        &self,
        quantity: Quantity,
        number: &FoundNumber,
        use_of: &NumberUse,
        is_decline: bool,
    ) -> Vec<u32> {
        /// Beyond it whole numbers of the machine have gaps.
        const EXACT: i128 = 1 << 53;
        let shown = if number.is_rough {
            quantity.normal()
        } else {
            quantity
        };
        let reach = shown.step() / 2.0 * (1.0 + 1e-9);
        let normal = quantity.normal();
        let mut places = Vec::new();
        for (measure, values) in self.numbers.values() {
            let Some(factor) = measure.and_then(|measure| measure.factor_to(number.measure)) else {
                continue;
            };
            let mut near = |wanted: f64| {
                let first = values.partition_point(|(value, ..)| value * factor < wanted - reach);
                let found = values[first..]
                    .iter()
                    .take_while(|(value, ..)| value * factor <= wanted + reach)
                    .filter(|(_, found, _)| {
                        normal.mantissa.abs() < EXACT
                            || found.mantissa.abs() < EXACT
                            || *found == normal
                    })
                    .map(|(.., place)| *place)
                    .filter(|place| self.places.get(*place).fits(number, use_of));
                places.extend(found);
            };
            near(quantity.value());
            // A loss of 4 % is a change by -4 %.
            if is_decline {
                near(-quantity.value());
            }
        }
        places
    }

    /// Whether a date is one of theirs, and not that of something else.
    pub(super) fn has_date(&self, date: &FoundDate, contexts: &[BTreeSet<String>]) -> bool {
        let is_said_by = |known: &CalendarDate| {
            date.readings
                .iter()
                .any(|reading| reading == known || reading.is_part_of(known))
        };
        let known = self.dates.iter().filter(|(known, _)| is_said_by(known));
        let candidates: HashSet<u32> = known.flat_map(|(_, places)| places).copied().collect();
        !candidates.is_empty() && self.is_about(&candidates, contexts, ValueKind::Date)
    }

    /// Whether values are what the words around one say, and not others of their kind.
    fn is_about(
        &self,
        candidates: &HashSet<u32>,
        contexts: &[BTreeSet<String>],
        kind: ValueKind,
    ) -> bool {
        let is_rival = |place: &ValueSite| place.kind() == kind;
        self.places
            .is_about(candidates, contexts, is_rival)
            .unwrap_or(true)
    }

    /// Whether a time of day is one of theirs, and not that of something else.
    pub(super) fn has_moment(&self, moment: &Moment, contexts: &[BTreeSet<String>]) -> bool {
        let known = self.moments.values();
        let candidates: HashSet<u32> = known
            .filter(|(known, _)| moment.is_part_of(known))
            .flat_map(|(_, places)| places)
            .copied()
            .collect();
        !candidates.is_empty() && self.is_about(&candidates, contexts, ValueKind::Moment)
    }

    pub(super) fn has_identifier(&self, identifier: &Identifier) -> bool {
        self.identifiers.contains(&identifier.key) || self.word_ids.contains_key(&identifier.key)
    }

    pub(super) fn has_url(&self, url: &str) -> bool {
        self.urls.contains_key(&normal_url(url))
    }

    /// Whether an address is one of theirs, and not that of something else.
    pub(super) fn has_url_of(&self, url: &str, contexts: &[BTreeSet<String>]) -> bool {
        self.urls.get(&normal_url(url)).is_some_and(|places| {
            self.is_about(&places.iter().copied().collect(), contexts, ValueKind::Url)
        })
    }

    /// Whether a domain, or one below it, is named.
    pub(super) fn has_host(&self, host: &str) -> bool {
        let host = host_of(host);
        self.hosts.contains(&host)
            || self.hosts.iter().any(|known| {
                known
                    .strip_suffix(host.as_str())
                    .is_some_and(|rest| rest.ends_with('.'))
            })
    }

    pub(super) fn has_email(&self, email: &str) -> bool {
        self.emails.contains_key(&email.to_lowercase())
    }

    /// Whether an address is one of theirs, and not that of somebody else.
    pub(super) fn has_email_of(&self, email: &str, contexts: &[BTreeSet<String>]) -> bool {
        let places = self.emails.get(&email.to_lowercase());
        places.is_some_and(|places| {
            self.is_about(&places.iter().copied().collect(), contexts, ValueKind::Url)
        })
    }

    pub(super) fn has_doi(&self, doi: &str) -> bool {
        self.dois.contains(doi)
    }

    /// Whether a text stands there literally, with its words whole.
    pub(super) fn has_text(&self, folded: &str) -> bool {
        let wanted = plain(folded);
        if wanted.is_empty() {
            return false;
        }
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let is_unspaced = |character: Option<char>| {
            character.is_some_and(|character| u32::from(character) >= 0xe00)
        };
        self.literal.match_indices(&wanted).take(64).any(|(at, _)| {
            let before = self.literal[..at].chars().next_back();
            let after = self.literal[at + wanted.len()..].chars().next();
            (!is_word(before) || !is_word(wanted.chars().next()) || is_unspaced(before))
                && (!is_word(after) || !is_word(wanted.chars().next_back()) || is_unspaced(after))
        })
    }

    /// How long the lists of the results are, each with the words of its key.
    pub(super) fn lengths(&self) -> impl Iterator<Item = (usize, &BTreeSet<String>)> {
        self.lengths.iter().map(|(length, key)| (*length, key))
    }

    /// Whether a name stands there: its words near each other, or, as one word, an acronym of theirs.
    pub(super) fn has_name(&self, name: &NameSpan, language: Language) -> bool {
        let id = |word: &String| {
            self.word_ids
                .get(word)
                .or_else(|| {
                    // Plurals and genitives.
                    let bare = word.strip_suffix('s')?;
                    self.word_ids.get(bare)
                })
                .or_else(|| self.word_ids.get(&format!("{word}s")))
        };
        let ids: Option<Vec<u32>> = name.words.iter().map(|word| id(word).copied()).collect();
        let is_near = ids.is_some_and(|ids| {
            ids.windows(2).all(|pair| {
                pair[0] == pair[1]
                    || self.neighbours.contains(&(pair[0], pair[1]))
                    || self.neighbours.contains(&(pair[1], pair[0]))
            })
        });
        is_near
            || (name.is_acronym
                && (self.keys.contains(&name.words[0])
                    || self.has_initials(&name.words[0], language)))
            || (name
                .text
                .chars()
                .any(|character| u32::from(character) >= 0xe00)
                && self.has_text(&name.text))
    }

    /// Whether a source is called so: by a name, a host or a tool.
    pub(super) fn has_speaker(&self, name: &NameSpan, language: Language) -> bool {
        if self.has_name(name, language) {
            return true;
        }
        let joined = name.words.concat();
        let is_host = self.hosts.iter().any(|host| {
            host.split('.')
                .any(|label| label.replace('-', "") == joined)
        });
        is_host || name.words.iter().all(|word| self.tools.contains(word))
    }

    fn has_initials(&self, acronym: &str, language: Language) -> bool {
        let initials = self
            .initials
            .get_or_init(|| initials(&self.literal, language));
        initials.contains(acronym) || initials.contains(acronym.trim_end_matches('s'))
    }

    /// Whether a day of the week or a month is named, or is that of a date.
    pub(super) fn has_day_or_month(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        if self.word_ids.contains_key(&lower) {
            return true;
        }
        if let Some(weekday) = weekday_of(&lower) {
            return self
                .dates
                .keys()
                .any(|date| date.weekday() == Some(weekday))
                || self
                    .word_ids
                    .keys()
                    .any(|known| weekday_of(known) == Some(weekday));
        }
        super::text::month_of(&lower)
            .is_some_and(|month| self.dates.keys().any(|date| date.month == month))
    }
}

/// Whether a number may be no number: `the old one`. Then it supports, and speaks against nothing.
fn is_pronoun(text: &str) -> bool {
    ["one", "once"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// The numbers that one may be a list of. With a unit it is one number: `48,000 tonnes` are no 48 tonnes.
fn parts_of(number: &FoundNumber) -> &[Quantity] {
    let is_amount = !matches!(number.measure, Measure::Bare | Measure::Counted);
    match is_amount && !number.readings.is_empty() {
        true => &[],
        false => &number.parts,
    }
}

/// The beginning of the last word, by bytes.
fn last_word_start(text: &str) -> usize {
    text.char_indices()
        .rev()
        .take(64)
        .take_while(|(_, character)| character.is_alphanumeric())
        .last()
        .map_or(text.len(), |(at, _)| at)
}

/// The initials of two to five words that say something in a row.
fn initials(literal: &str, language: Language) -> HashSet<String> {
    const LONGEST: usize = 5;
    let stop_words = language.stop_words();
    let mut found = HashSet::new();
    for line in literal.lines() {
        let mut last: Vec<char> = Vec::new();
        for word in words(line) {
            if stop_words.contains(word.text) {
                continue;
            }
            if last.len() == LONGEST {
                last.remove(0);
            }
            last.extend(word.text.chars().next());
            for start in 0..last.len().saturating_sub(1) {
                found.insert(last[start..].iter().collect());
            }
        }
    }
    found
}
