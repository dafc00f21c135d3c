//! `claims_supported_by_fixtures`: what the output claims stands in the tools' results.

mod records;
mod signs;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use serde_json::json;

use self::records::Records;
use self::signs::{is_hypothetical, is_of_known, is_to_come, says_nothing_is_there};
use super::evidence::{
    ClauseWords, Facts, NumberUse, Passage, Passages, Source, Spans, event_ids, label_by_arguments,
    said_by_user, sources, tools_that_count,
};
use super::text::{
    FoundNumber, Language, Measure, NumberStyle, Unit, UnitKind, attributions, blank, clauses,
    content_words, detect, excerpt, fold, is_negated, is_reversed, names, opposite, quotes,
    statement_words, units, weekday_of, words,
};
use super::{Finding, View};
use crate::model::ToolPattern;
use cuecard_source::value::Json;
use cuecard_trace::EventData;

/// The part of a unit's content words that one result must have: paraphrases keep more of them, and what was
/// made up keeps less.
const MIN_OVERLAP: f64 = 0.5;
/// The part of a clause's words that a passage must share to be about the same.
const SAME_MATTER: f64 = 0.6;
/// So many unsupported units are told.
const MOST_TOLD: usize = 20;
const MOST_IN_MESSAGE: usize = 3;
/// So many quotations are looked for.
const MOST_QUOTES: usize = 1000;

pub(super) fn supported(
    view: &View<'_>,
    allowed: &[ToolPattern],
    min_overlap: Option<f64>,
) -> Finding {
    let output = fold(view.output());
    if output.trim().is_empty() {
        return Finding::holds("the output is empty: nothing is claimed").vacuous();
    }
    let mut sources = sources(view, allowed);
    label_by_arguments(&mut sources);
    let language = detect(&output)
        .or_else(|| {
            sources
                .iter()
                .flat_map(|source| &source.texts)
                .find_map(|text| detect(text))
        })
        .unwrap_or(Language::English);
    let said = user_messages(view);
    if !said.is_empty() {
        sources.extend(said_by_user(&said));
    }
    let judge = Judge {
        records: Records::of(&sources),
        facts: Facts::of(&sources, language),
        passages: Passages::of(&sources, language),
        style: NumberStyle {
            // The language of the results tells points from commas, if the answer is too short to.
            language: Some(language),
            is_source: false,
        },
        user_words: user_words(&said),
        language,
        min_overlap: min_overlap.unwrap_or(MIN_OVERLAP),
    };
    let units = units(&output);
    let mut checked = 0;
    let mut problems: Vec<Problem<'_>> = Vec::new();
    let mut heading = BTreeSet::new();
    for unit in &units {
        let (was_checked, problem) = judge.look_at(unit, &heading);
        if matches!(unit.kind, UnitKind::Heading | UnitKind::LeadIn) {
            heading = judge.words_of(unit.text);
        }
        checked += usize::from(was_checked);
        problems.extend(problem);
    }
    let mut seen = HashSet::new();
    for quote in quotes(&output) {
        checked += 1;
        if !seen.insert(quote) {
            continue;
        }
        if seen.len() > MOST_QUOTES {
            return Finding::fails(format!("the output has more than {MOST_QUOTES} quotations"));
        }
        if !judge.has_quote(quote) {
            add_quote(&mut problems, &units, quote);
        }
    }
    if checked == 0 {
        return Finding::holds("the output claims nothing").vacuous();
    }
    finding(problems, &judge, &sources, checked, allowed)
}

/// What the user said, each message once.
fn user_messages<'a>(view: &View<'a>) -> Vec<&'a str> {
    let context = &view.case.context;
    let listed = context
        .input_messages
        .iter()
        .chain(&context.prior_messages)
        .chain(&view.trace.header.input_messages)
        .filter(|message| {
            let role = message.get("role").and_then(Json::as_str);
            role.is_none_or(|role| role == "user")
        })
        .filter_map(|message| message.get("content").and_then(Json::as_str));
    let received = view.events().filter_map(|event| match &event.data {
        EventData::MessageReceived(message) if message.role == "user" => {
            Some(message.content.as_str())
        }
        _ => None,
    });
    let mut seen = HashSet::new();
    listed
        .chain(received)
        .filter(|content| seen.insert(*content))
        .collect()
}

/// The words that the user used first: a topic is no claim.
fn user_words(said: &[&str]) -> HashSet<String> {
    said.iter()
        .flat_map(|content| {
            let folded = fold(content);
            words(&folded)
                .map(|word| word.text.to_lowercase())
                .collect::<Vec<_>>()
        })
        .collect()
}

struct Judge {
    records: Records,
    facts: Facts,
    passages: Passages,
    style: NumberStyle,
    user_words: HashSet<String>,
    language: Language,
    min_overlap: f64,
}

/// How many words a sentence shares with what each record says of its thing.
type Shares = HashMap<*const Passage, usize>;

/// How near a passage is to a clause: how many words they share, and how many the whole sentence does; how many numbers;
/// how late it is; and whether it is a clause, of whose negation no other part of its sentence says anything.
type Rank = (usize, usize, usize, usize, bool);

/// A passage about what a clause says.
struct Comparison<'a> {
    passage: &'a Passage,
    rank: Rank,
    is_opposed: bool,
}

/// The best of several comparisons.
#[derive(Debug, Default, Clone, Copy)]
struct Best {
    rank: Rank,
    /// Whether one of them says the same as the clause.
    supports: bool,
}

impl Best {
    fn add(&mut self, one: &Comparison<'_>) {
        if one.rank > self.rank {
            *self = Self {
                rank: one.rank,
                supports: false,
            };
        }
        self.supports |= one.rank == self.rank && !one.is_opposed;
    }

    fn takes_back(self, opposed: &Comparison<'_>) -> bool {
        self.rank > opposed.rank || (self.rank == opposed.rank && self.supports)
    }
}

/// A unit that isn't supported, and why.
struct Problem<'a> {
    unit: &'a str,
    /// Kinds and texts of what is in no result.
    spans: Vec<(&'static str, String)>,
    /// Content words: how many one result has, of how many.
    overlap: Option<(usize, usize)>,
    /// A passage that says the opposite.
    contradiction: Option<String>,
}

impl Judge {
    /// Whether there was something to look at, and what is wrong with it.
    fn look_at<'a>(
        &self,
        unit: &Unit<'a>,
        heading: &BTreeSet<String>,
    ) -> (bool, Option<Problem<'a>>) {
        let (count, spans) = self.unsupported_spans(unit, heading);
        let mut problem = Problem {
            unit: unit.text,
            spans,
            overlap: None,
            contradiction: None,
        };
        let mut was_checked = count > 0;
        if unit.kind == UnitKind::Claim {
            let text = self.without_amounts(unit.text);
            let content = content_words(&text, self.language);
            let (source, shared) = self.passages.best_source(&content).unwrap_or((0, 0));
            let is_enough = content.is_empty()
                || (shared as f64 >= self.min_overlap * content.len() as f64 && shared > 0);
            was_checked |= !content.is_empty();
            if !is_enough || self.has_foreign_clause(&text, source) {
                problem.overlap = Some((shared, content.len()));
            } else {
                let is_list = unit.is_entry;
                problem.contradiction = self.contradiction(unit.text).or_else(|| {
                    self.records
                        .contradiction(unit.text, is_list, &self.passages)
                });
            }
        }
        let is_fine = problem.spans.is_empty()
            && problem.overlap.is_none()
            && problem.contradiction.is_none();
        (was_checked, (!is_fine).then_some(problem))
    }

    /// The text without addresses and numbers with their units, which are looked at for themselves.
    fn without_amounts(&self, text: &str) -> String {
        let spans = Spans::of(text, self.style);
        let amounts = spans.numbers.iter().filter(|number| !number.is_word);
        blank(&spans.prose, amounts.map(|number| number.range.clone()))
    }

    fn words_of(&self, text: &str) -> BTreeSet<String> {
        let spans = Spans::of(text, self.style);
        ClauseWords::of(text, &spans, self.language).all()
    }

    /// How many spans there were, and those of them that are in no result. `heading` has the words of what the unit
    /// stands below.
    fn unsupported_spans(
        &self,
        unit: &Unit<'_>,
        heading: &BTreeSet<String>,
    ) -> (usize, Vec<(&'static str, String)>) {
        let spans = Spans::of(unit.text, self.style);
        let clauses = ClauseWords::of(unit.text, &spans, self.language);
        let contexts = |range: &std::ops::Range<usize>| {
            let mut contexts = clauses.contexts(range);
            let whole = contexts.last().cloned().unwrap_or_default();
            if !heading.is_empty() {
                contexts.push(whole.union(heading).cloned().collect());
            }
            contexts
        };
        let mut count = 0;
        let mut missing: Vec<(&'static str, String)> = Vec::new();
        let mut check = |is_there: bool, kind: &'static str, text: &str| {
            count += 1;
            let is_new =
                missing.len() < MOST_TOLD && !missing.iter().any(|(_, known)| known == text);
            if !is_there && (is_new || missing.is_empty()) {
                missing.push((kind, text.trim().to_owned()));
            }
        };
        for (range, url) in &spans.url_ranges {
            check(self.facts.has_url_of(url, &contexts(range)), "url", url);
        }
        for (range, email) in &spans.emails {
            let is_there = self.facts.has_email_of(email, &contexts(range));
            check(is_there, "email", email);
        }
        for doi in spans.dois.iter().filter(|doi| {
            !spans
                .urls
                .iter()
                .any(|url| url.to_lowercase().contains(*doi))
        }) {
            check(self.facts.has_doi(doi), "doi", doi);
        }
        for date in &spans.dates {
            check(
                self.facts.has_date(date, &contexts(&date.range)),
                "date",
                &spans.prose[date.range.clone()],
            );
        }
        for moment in &spans.moments {
            check(
                self.facts.has_moment(moment, &contexts(&moment.range)),
                "time",
                &spans.prose[moment.range.clone()],
            );
        }
        for identifier in &spans.identifiers {
            check(
                self.facts.has_identifier(identifier),
                "name",
                &spans.prose[identifier.range.clone()],
            );
        }
        let is_decline = words(unit.text).any(|word| {
            matches!(
                word.text.to_lowercase().as_str(),
                "fell"
                    | "down"
                    | "decline"
                    | "declined"
                    | "drop"
                    | "dropped"
                    | "decrease"
                    | "decreased"
                    | "lost"
                    | "loss"
                    | "losses"
                    | "lower"
                    | "below"
                    | "gesunken"
                    | "fiel"
                    | "verlust"
                    | "rückgang"
            )
        });
        for number in &spans.numbers {
            let text = &spans.prose[number.range.clone()];
            let use_of = NumberUse::of(number, &spans.prose, self.language);
            let is_there =
                self.facts
                    .has_number(number, &use_of, &contexts(&number.range), is_decline)
                    || self.is_designation(&spans.prose, number.range.clone())
                    || self.counts_entries(number, unit, &spans.prose)
                    || (number.readings.is_empty()
                        && number.parts.is_empty()
                        && self.facts.has_text(text));
            let is_other = self.is_another_version(&spans.prose, number.range.clone());
            check(is_there && !is_other, "number", text);
        }
        for word in words(&spans.prose) {
            let is_weekday = weekday_of(word.text).is_some();
            if is_weekday && word.text.starts_with(char::is_uppercase) {
                check(self.facts.has_day_or_month(word.text), "date", word.text);
            }
        }
        for name in names(&spans.words, self.language) {
            // The user's own words may introduce an answer, and name its topic.
            let is_topic = (unit.kind == UnitKind::LeadIn
                || unit.kind == UnitKind::Courtesy
                || name.is_acronym)
                && name.words.iter().all(|word| self.user_words.contains(word));
            // `Train EC 171` begins a sentence with what `EC 171` is.
            let is_before_designation = || {
                let start = spans.prose.len() - spans.prose.trim_start().len();
                let mut numbers = spans.numbers.iter();
                spans.prose[start..].starts_with(&name.text)
                    && numbers.any(|number| {
                        spans.prose[..number.range.start].trim_end().len()
                            == start + name.text.len()
                            && self.is_designation(&spans.prose, number.range.clone())
                    })
            };
            check(
                is_topic || self.facts.has_name(&name, self.language) || is_before_designation(),
                "name",
                &name.text,
            );
        }
        for name in attributions(&spans.prose, self.language) {
            check(
                self.facts.has_speaker(&name, self.language),
                "source",
                &name.text,
            );
        }
        (count, missing)
    }

    /// Whether a number is a version that is none of theirs: 1.10 is another one than 1.1.
    fn is_another_version(&self, prose: &str, number: Range<usize>) -> bool {
        let text = &prose[number.clone()];
        let before = words(&prose[..number.start]).last();
        let is_version = before.is_some_and(|word| {
            let word = word.text.to_lowercase();
            matches!(word.as_str(), "version" | "versions" | "release" | "v")
        });
        let is_ending = text.contains('.') && text.ends_with('0');
        is_version
            && text.contains('.')
            && !self.facts.has_text(text)
            && (is_ending || self.facts.has_text(&format!("{text}0")))
    }

    /// Whether a number and the capitals before it are a name of the results: the train `EC 171`.
    fn is_designation(&self, prose: &str, number: Range<usize>) -> bool {
        let before = prose[..number.start].trim_end_matches(' ');
        let capitals = words(before).last().filter(|word| {
            word.start + word.text.len() == before.len()
                && word.text.len() <= 4
                && word.text.chars().all(|sign| sign.is_ascii_uppercase())
        });
        capitals.is_some_and(|word| self.facts.has_text(&prose[word.start..number.end]))
    }

    /// Whether a number says how long a list is: the one that it introduces, or one in the results.
    fn counts_entries(&self, number: &FoundNumber, unit: &Unit<'_>, prose: &str) -> bool {
        const ENTRIES: &[&str] = &[
            "result",
            "results",
            "item",
            "items",
            "article",
            "articles",
            "story",
            "stories",
            "source",
            "sources",
            "entry",
            "entries",
            "match",
            "matches",
            "hit",
            "hits",
            "record",
            "records",
            "row",
            "rows",
            "file",
            "files",
            "headline",
            "headlines",
            "point",
            "points",
            "bullets",
            "ergebnisse",
            "artikel",
            "einträge",
            "treffer",
        ];
        if !matches!(number.measure, Measure::Bare | Measure::Counted) {
            return false;
        }
        let is_length = |length: usize| {
            let mut readings = number.readings.iter();
            readings.any(|quantity| quantity.is_count(length))
        };
        let is_introduced = unit.items > 0 && is_length(unit.items);
        is_introduced
            || (words(&prose[number.range.end..])
                .take(3)
                .any(|word| ENTRIES.contains(&word.text.to_lowercase().as_str()))
                && self.facts.lengths().any(|(length, _)| is_length(length)))
            || (is_of_known(&prose[..number.range.start])
                && self.facts.lengths().any(|(length, _)| is_length(length)))
            || self.facts.lengths().any(|(length, key)| {
                let behind = &prose[number.range.end..];
                let noun = words(behind).next().map_or("", |word| word.text);
                let noun = statement_words(noun, self.language);
                is_length(length) && !noun.is_empty() && noun.is_subset(key)
            })
    }

    /// Whether a part of a unit has nothing of the source that supports the rest.
    fn has_foreign_clause(&self, unit: &str, source: usize) -> bool {
        clauses(unit).into_iter().any(|clause| {
            let content = content_words(clause, self.language);
            content.len() >= 2 && !content.iter().any(|word| self.passages.has(source, word))
        })
    }

    /// A passage of which a part of the unit says the opposite, if no passage says the same. What the unit negates must
    /// be negated somewhere: a denial is no paraphrase.
    fn contradiction(&self, unit: &str) -> Option<String> {
        // `The syrup costs 7.95 EUR and is not in stock`: which thing a clause is about, the rest of its sentence says.
        let around = self
            .passages
            .nearest(&statement_words(unit, self.language))
            .into_iter()
            .filter(|(passage, _)| !passage.key.is_empty())
            .map(|(passage, shared)| (std::ptr::from_ref(passage), shared))
            .collect();
        clauses(unit).into_iter().find_map(|clause| {
            let said = statement_words(clause, self.language);
            if is_negated(&self.passages.without_titles(clause), self.language) {
                return self.undenied(clause, &said, &around);
            }
            match says_nothing_is_there(unit) {
                true => None,
                false => self.denied(clause, &said, &around),
            }
        })
    }

    /// A passage that says the opposite of a clause. Among those that share most with it the latest result counts: what
    /// is asked for again may have changed.
    fn denied(&self, clause: &str, said: &BTreeSet<String>, around: &Shares) -> Option<String> {
        if is_hypothetical(clause) {
            return None;
        }
        let of_thing = around.values().copied().max().unwrap_or(0);
        let mut about: Vec<Comparison<'_>> = Vec::new();
        for (passage, shared) in self.passages.nearest(said) {
            if passage.is_off_topic(clause, said) {
                continue;
            }
            let is_reversed = is_reversed(clause, &passage.text);
            let is_opposite = is_reversed || opposite(clause, &passage.text).is_some();
            // The words of a pair of opposites are about the same.
            let shared = shared + usize::from(is_opposite);
            let is_of_json = !passage.key.is_empty();
            let least = match passage.is_flag {
                true => self.min_overlap.min(SAME_MATTER),
                false => SAME_MATTER,
            };
            if shared < 2 - usize::from(is_of_json) || (shared as f64) < least * said.len() as f64 {
                continue;
            }
            if is_of_json && is_to_come(clause) {
                continue;
            }
            about.push(Comparison {
                passage,
                rank: (
                    shared,
                    match is_of_json {
                        true => around
                            .get(&std::ptr::from_ref(passage))
                            .copied()
                            .unwrap_or(0),
                        // A text is no nearer than the thing that the sentence is about.
                        false => of_thing,
                    },
                    passage.shared_numbers(clause),
                    passage.order,
                    passage.is_clause,
                ),
                // What is not affected is unaffected, and what is `open: false` is closed.
                is_opposed: if is_reversed || passage.is_flag {
                    passage.is_negated != is_opposite
                } else {
                    passage.is_negated || is_opposite
                },
            });
        }
        // A truth about something else takes nothing back, and a text may.
        let mut best: HashMap<&BTreeSet<String>, Best> = HashMap::new();
        let (mut of_texts, mut of_json) = (Best::default(), Best::default());
        for one in &about {
            let is_text = one.passage.key.is_empty();
            best.entry(&one.passage.key).or_default().add(one);
            if is_text { &mut of_texts } else { &mut of_json }.add(one);
        }
        let opposed = about.iter().filter(|one| one.is_opposed).find(|opposed| {
            let others = match opposed.passage.key.is_empty() {
                true => of_json,
                false => of_texts,
            };
            !best[&opposed.passage.key].takes_back(opposed) && !others.takes_back(opposed)
        });
        opposed.map(|opposed| opposed.passage.text.clone())
    }

    /// The passage that is nearest to what is denied, unless one of those about it denies it as well. Empty if there is
    /// no passage.
    fn undenied(&self, clause: &str, said: &BTreeSet<String>, around: &Shares) -> Option<String> {
        let content = content_words(clause, self.language);
        let by_said = self.passages.nearest(said);
        let is_of_record = by_said.iter().any(|(passage, shared)| {
            !passage.key.is_empty() && *shared as f64 >= self.min_overlap * said.len() as f64
        });
        if content.is_empty() && !is_of_record {
            return None;
        }
        // What is said of Bob is not said of Ada.
        let mut most: HashMap<&BTreeSet<String>, (usize, usize)> = HashMap::new();
        let mut shares: HashMap<*const Passage, (usize, usize)> = HashMap::new();
        for (passage, shared) in by_said
            .iter()
            .filter(|(passage, _)| !passage.key.is_empty())
        {
            let place = std::ptr::from_ref(*passage);
            let share = (*shared, around.get(&place).copied().unwrap_or(0));
            let most = most.entry(&passage.key).or_insert(share);
            *most = share.max(*most);
            shares.insert(place, share);
        }
        let is_of_another = |passage: &Passage| {
            let share = shares.get(&std::ptr::from_ref(passage));
            share.is_some_and(|share| *share < most[&passage.key])
        };
        // A word that is itself the denial turns nothing: `refused` is no denial of `accepted` that was denied.
        let is_turned = |text: &str| {
            is_reversed(clause, text)
                || opposite(clause, text).is_some_and(|(own, _)| !is_negated(own, self.language))
        };
        let denies = |passage: &Passage, shared: usize, of: usize| {
            shared as f64 >= self.min_overlap * of as f64
                && !passage.is_off_topic(clause, said)
                // "is closed" denies "is open", and "is not closed" doesn't.
                && passage.is_negated != is_turned(&passage.text)
                && !is_of_another(passage)
        };
        let nearest = self.passages.nearest(&content);
        let is_denied = nearest
            .iter()
            .any(|(passage, shared)| denies(passage, *shared, content.len()))
            || by_said.iter().any(|(passage, shared)| {
                !passage.key.is_empty() && denies(passage, *shared, said.len())
            });
        let first = nearest.first().map(|(passage, _)| passage.text.clone());
        (!is_denied).then(|| first.unwrap_or_default())
    }

    /// Whether a quotation stands in a result; what it leaves out may be anything.
    fn has_quote(&self, quote: &str) -> bool {
        quote
            .split(['…'])
            .flat_map(|part| part.split("..."))
            .map(|part| part.trim_matches([' ', '[', ']', '(', ')', ',']))
            .filter(|part| part.contains(char::is_alphanumeric))
            .all(|part| self.facts.has_text(part))
    }
}

fn add_quote<'a>(problems: &mut Vec<Problem<'a>>, units: &[Unit<'a>], quote: &'a str) {
    let span = ("quote", format!("\"{}\"", excerpt(quote)));
    match problems
        .iter_mut()
        .find(|problem| problem.unit.contains(quote))
    {
        Some(problem) => problem.spans.push(span),
        None => {
            let unit = units
                .iter()
                .find(|unit| unit.text.contains(quote))
                .map_or(quote, |unit| unit.text);
            problems.push(Problem {
                unit,
                spans: vec![span],
                overlap: None,
                contradiction: None,
            });
        }
    }
}

fn finding(
    problems: Vec<Problem<'_>>,
    judge: &Judge,
    sources: &[Source<'_>],
    checked: usize,
    allowed: &[ToolPattern],
) -> Finding {
    let tools = tools_that_count(allowed);
    let results = event_ids(sources);
    let told: Vec<Json> = problems
        .iter()
        .take(MOST_TOLD)
        .map(|problem| problem.told(judge, sources))
        .collect();
    let observed = json!({
        "units_checked": checked,
        "results": results,
        "unsupported": told,
        "unsupported_total": problems.len(),
    });
    if problems.is_empty() {
        return Finding::holds(format!(
            "{checked} of {checked} parts of the output are supported by results of {tools}"
        ))
        .observed(observed)
        .refs(results);
    }
    if sources.iter().all(|source| source.event.is_none()) {
        return Finding::fails(format!("no successful result of {tools} could support the output"))
            .observed(observed)
            .help("list the supporting tools in `allowed_sources`, or check that they were called and succeeded");
    }
    let mut message: Vec<String> = problems
        .iter()
        .take(MOST_IN_MESSAGE)
        .map(|problem| problem.message(judge, sources, &tools))
        .collect();
    if problems.len() > MOST_IN_MESSAGE {
        message.push(format!("and {} more", problems.len() - MOST_IN_MESSAGE));
    }
    let mut refs: Vec<&str> = Vec::new();
    for problem in problems.iter().take(MOST_TOLD) {
        let nearest = problem.nearest(judge);
        let event = nearest.and_then(|(source, _)| sources[source].event);
        let nearest = event.map(|event| event.event_id.as_str());
        refs.extend(nearest.filter(|id| !refs.contains(id)));
    }
    if refs.is_empty() {
        refs = results;
    }
    Finding::fails(message.join("; "))
        .observed(observed)
        .refs(refs)
        .help("the answer must say only what the results say; if a paraphrase is right, lower `min_overlap`")
}

impl Problem<'_> {
    fn nearest(&self, judge: &Judge) -> Option<(usize, String)> {
        let said = statement_words(self.unit, judge.language);
        let nearest = judge.passages.nearest(&said);
        nearest
            .first()
            .map(|(passage, _)| (passage.source, excerpt(&passage.text)))
    }

    fn message(&self, judge: &Judge, sources: &[Source<'_>], tools: &str) -> String {
        let mut message = format!("“{}”: ", excerpt(self.unit));
        if let Some(passage) = &self.contradiction {
            message.push_str(&match passage.is_empty() {
                true => "no result contradicts it".to_owned(),
                false => format!("the results say the opposite, “{}”", excerpt(passage)),
            });
        } else if let Some((shared, all)) = self.overlap {
            message.push_str(&format!(
                "no single result of {tools} covers enough of it ({shared} of {all} words)"
            ));
        }
        if !self.spans.is_empty() {
            if self.contradiction.is_some() || self.overlap.is_some() {
                message.push_str("; ");
            }
            let texts: Vec<&str> = self.spans.iter().map(|(_, text)| text.as_str()).collect();
            message.push_str(&format!(
                "{} not found in any result of {tools}",
                texts.join(" · ")
            ));
        }
        if self.contradiction.is_none()
            && let Some((source, text)) = self.nearest(judge)
        {
            let source = &sources[source];
            let place = match source.event {
                Some(event) => format!("{} {}", event.event_id, source.tool),
                None => "the user".to_owned(),
            };
            message.push_str(&format!(" (nearest: {place} “{text}”)"));
        }
        message
    }

    fn told(&self, judge: &Judge, sources: &[Source<'_>]) -> Json {
        let spans: Vec<Json> = self
            .spans
            .iter()
            .map(|(kind, text)| json!({ "kind": kind, "text": text }))
            .collect();
        let mut told = json!({ "unit": excerpt(self.unit), "spans": spans });
        if let Some((shared, all)) = self.overlap {
            told["words_shared"] = json!(shared);
            told["words"] = json!(all);
        }
        if let Some(passage) = &self.contradiction {
            told["contradicts"] = json!(excerpt(passage));
        }
        if let Some((source, text)) = self.nearest(judge) {
            let source = &sources[source];
            told["nearest"] = match source.event {
                Some(event) => {
                    json!({ "event_id": event.event_id, "tool": source.tool, "text": text })
                }
                None => json!({ "said_by": "user", "text": text }),
            };
        }
        told
    }
}

#[cfg(test)]
mod tests;
