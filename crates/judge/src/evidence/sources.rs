//! The results of tools that an answer may use, as texts and numbers.

use super::places::{KeyLabel, label_of_key, rate_of_word, unit_of_key};
use crate::View;
use crate::model::ToolPattern;
use crate::text::{
    Language, Measure, Quantity, fold, is_negated as denies, json_number, opposites_of, reverse_of,
    sentences, unit_of, words,
};
use cuecard_source::value::{Json, cut};
use cuecard_trace::{Event, EventData};

/// A successful result of a tool.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// The event of the result; none if the user said it.
    pub event: Option<&'a Event>,
    /// Whether the user only asked it: then its values support, and its words state nothing.
    pub is_asked: bool,
    pub tool: &'a str,
    /// What its call was made with.
    pub args: Option<&'a Json>,
    /// Every text in it, folded.
    pub texts: Vec<String>,
    /// For each of the texts its key, and its record in `records`.
    pub(super) text_places: Vec<(String, usize)>,
    /// Numbers of its JSON.
    pub(super) quantities: Vec<KeyedNumber>,
    /// What stands beside the values of each object, as text.
    pub(super) records: Vec<String>,
    /// The keys of texts and numbers in each of the records.
    record_keys: Vec<String>,
    /// What its JSON says is not so, or is: keys of nothing, and of truths.
    pub(super) statements: Vec<Statement>,
    /// The words of its keys.
    pub(super) keys: String,
    /// Its lists: what each is called, and how long it is.
    pub(super) lengths: Vec<(String, usize)>,
}

/// A number of JSON.
#[derive(Debug)]
pub(crate) struct KeyedNumber {
    pub quantity: Quantity,
    /// Its key, as words.
    pub key: String,
    /// Whether its key says that it is a part of one.
    pub is_share: bool,
    /// The unit that its key, or a key beside it, says.
    pub unit: Option<Measure>,
    /// What its key, or a key beside it, says of it.
    pub(super) label: KeyLabel,
    /// Its record in `records`.
    pub record: usize,
}

/// What JSON says without words: `"in_stock": false`.
#[derive(Debug)]
pub(crate) struct Statement {
    pub text: String,
    /// What its record says the names of.
    pub record_keys: String,
    /// What is so, or not.
    pub key: String,
    pub is_negated: bool,
    /// Whether it is a truth value, and not nothing.
    pub is_flag: bool,
    /// Whether it is a number, 0, which says nothing of others.
    pub is_count: bool,
}

/// What the user stated, and what the user asked, as sources.
pub(crate) fn said_by_user<'a>(messages: &[&str]) -> [Source<'a>; 2] {
    let (mut said, mut asked) = (Source::empty(None, ""), Source::empty(None, ""));
    asked.is_asked = true;
    for message in messages {
        for sentence in sentences(&fold(message)) {
            let source = if is_request(sentence) {
                &mut asked
            } else {
                &mut said
            };
            source.add_text(sentence, "", 0);
        }
    }
    [said, asked]
}

/// Whether a sentence of the user asks for something, with or without a question mark.
fn is_request(sentence: &str) -> bool {
    const FIRST: &str = "is are was were am do does did has have had can could will would should shall may what when \
        where who whom whose why how which check find tell ask see look verify confirm show say get give list search \
        please";
    const ANYWHERE: &[&str] = &["whether", "if", "wonder", "ob"];
    let words: Vec<String> = words(sentence)
        .map(|word| word.text.to_lowercase())
        .collect();
    sentence.trim_end().ends_with('?')
        || words
            .first()
            .is_some_and(|first| FIRST.split_whitespace().any(|word| word == first))
        || words.iter().any(|word| ANYWHERE.contains(&word.as_str()))
}

/// The successful results of the tools that count; of every tool if none is named.
pub(crate) fn sources<'a>(view: &View<'a>, allowed: &[ToolPattern]) -> Vec<Source<'a>> {
    view.trace
        .events
        .iter()
        .enumerate()
        .filter_map(|(position, event)| match &event.data {
            EventData::ToolResult(result) if result.success => {
                let is_allowed =
                    allowed.is_empty() || allowed.iter().any(|tool| tool.matches(&result.tool));
                is_allowed.then(|| {
                    let mut source = Source::empty(Some(event), result.tool.as_ref());
                    source.args = view.call_at(position).map(|call| &*call.data.args);
                    source.read(&result.result);
                    if let Some(text) = result.text.as_deref() {
                        source.add_text(text, "", 0);
                    }
                    source
                })
            }
            _ => None,
        })
        .collect()
}

/// Says of each result what it was asked for: the forecast for Oslo, the order 77. Without that nothing tells the results of
/// two calls of one tool apart. What was searched for in words is no name of what was found.
pub(crate) fn label_by_arguments(sources: &mut [Source<'_>]) {
    for source in sources {
        let args = source.args.and_then(Json::as_object);
        for (key, value) in args.into_iter().flatten() {
            match value {
                Json::String(text) if is_label(key, text) => source.label(key, text),
                Json::Number(number) if !is_searched(key) => source.label(key, &number.to_string()),
                _ => {}
            }
        }
    }
}

/// Whether an argument names what a result is about.
fn is_label(key: &str, text: &str) -> bool {
    const MOST_WORDS: usize = 4;
    !is_searched(key) && text.len() <= LONGEST_NAME && words(text).count() <= MOST_WORDS
}

fn is_searched(key: &str) -> bool {
    const SEARCHED: &[&str] = &[
        "q",
        "query",
        "search",
        "text",
        "prompt",
        "question",
        "message",
        "content",
        "body",
        "input",
        "term",
        "keywords",
        "note",
        "comment",
        "reason",
        "subject",
        "title",
        "description",
        "summary",
    ];
    let key = spaced(key).to_lowercase();
    key.split_whitespace().any(|word| SEARCHED.contains(&word))
}

/// The tools that count, in words.
pub(crate) fn tools_that_count(allowed: &[ToolPattern]) -> String {
    if allowed.is_empty() {
        return "any tool".to_owned();
    }
    let names: Vec<&str> = allowed.iter().map(ToolPattern::text).collect();
    names.join(", ")
}

/// The ids of the events of these results.
pub(crate) fn event_ids<'a>(sources: &[Source<'a>]) -> Vec<&'a str> {
    let events = sources.iter().filter_map(|source| source.event);
    events.map(|event| event.event_id.as_str()).collect()
}

/// A record is no longer than this, in bytes.
const LONGEST_RECORD: usize = 2000;
/// Of so many objects what stands beside their values is kept.
const MOST_RECORDS: usize = 2000;
/// A longer text is no name of its record.
const LONGEST_NAME: usize = 200;

/// A key with what it is the opposite of: who says that it is closed speaks of `open`.
fn with_opposites(key: &str) -> String {
    let lower = key.to_lowercase();
    let last = lower.rsplit(' ').next().unwrap_or_default();
    let opposites = match reverse_of(last) {
        Some(denied) => vec![denied],
        None => opposites_of(last),
    };
    match opposites.is_empty() {
        true => key.to_owned(),
        false => format!("{} {lower} un{last}", opposites.join(" ")),
    }
}

impl<'a> Source<'a> {
    fn empty(event: Option<&'a Event>, tool: &'a str) -> Self {
        Self {
            event,
            is_asked: false,
            tool,
            args: None,
            texts: Vec::new(),
            text_places: Vec::new(),
            quantities: Vec::new(),
            records: vec![String::new()],
            record_keys: vec![String::new()],
            statements: Vec::new(),
            keys: String::new(),
            lengths: Vec::new(),
        }
    }

    /// Adds what the result was asked for to each of its records.
    fn label(&mut self, key: &str, text: &str) {
        let folded = fold(text);
        for record in &mut self.records {
            record.push_str(&folded);
            record.push('\n');
        }
        self.add_text(text, key, 0);
    }

    /// Whether a text or a record has these words, and a year.
    pub(crate) fn has_beside(&self, name: &str, year: &str) -> bool {
        let wanted: Vec<String> = words(name).map(|word| word.text.to_lowercase()).collect();
        let has_both = |text: &String| {
            text.contains(year) && {
                let lower = text.to_lowercase();
                wanted.iter().all(|word| lower.contains(word.as_str()))
            }
        };
        self.texts.iter().chain(&self.records).any(has_both)
    }

    fn add_text(&mut self, text: &str, key: &str, record: usize) {
        self.texts.push(fold(text));
        self.text_places.push((spaced(key), record));
    }

    /// Says of the thing in `record` that it has what `key` names, or has not.
    fn state(&mut self, key: &str, record: usize, is_negated: bool, is_flag: bool) {
        let key = spaced(key);
        let not = if is_negated { "not " } else { "" };
        let text = format!("{not}{key}");
        // `"sold_out": false` denies a denial.
        let is_negated = is_negated != denies(&key, Language::English);
        let named = match is_flag {
            true => with_opposites(&key),
            false => key,
        };
        self.add_statement(&text, named, record, is_negated, is_flag);
    }

    fn add_statement(
        &mut self,
        text: &str,
        key: String,
        record: usize,
        is_negated: bool,
        is_flag: bool,
    ) {
        /// So much of a record tells which thing it is.
        const LONGEST: usize = 120;
        let names = self.records.get(record).map_or("", String::as_str);
        let names = cut(names.trim(), LONGEST).replace('\n', " ");
        self.statements.push(Statement {
            text: format!("{names}: {text}"),
            record_keys: self.record_keys.get(record).cloned().unwrap_or_default(),
            key,
            is_negated,
            is_flag,
            is_count: false,
        });
    }

    /// What a word says of its record: `"paid": "no"`, `"status": "unpaid"`, `"state": "not shipped"`. Of texts of several
    /// words nobody knows which of them is the state.
    fn state_of_text(&mut self, text: &str, key: &str, record: usize) {
        const LONGEST: usize = 60;
        if text.len() > LONGEST {
            return;
        }
        let lower = spaced(text.trim()).to_lowercase();
        let word = lower.strip_prefix("not ").unwrap_or(&lower);
        if word.contains(char::is_whitespace) {
            return;
        }
        match lower.as_str() {
            // Norwegian, or Norway.
            "no" if is_code(key) => return,
            "no" | "n" | "false" | "never" | "none" => return self.state(key, record, true, true),
            "yes" | "y" | "true" => return self.state(key, record, false, true),
            _ => {}
        }
        let said = format!("{}: {lower}", spaced(key));
        if let Some(denied) = lower.strip_prefix("not ") {
            self.add_statement(&said, denied.to_owned(), record, true, true);
        } else if let Some(denied) = reverse_of(&lower) {
            let named = format!("{denied} {lower}");
            self.add_statement(&said, named, record, false, true);
        } else {
            let opposites = opposites_of(&lower);
            if !opposites.is_empty() || is_yes_or_no(&lower) {
                let named = format!("{} {lower} un{lower}", opposites.join(" "));
                self.add_statement(&said, named, record, false, true);
            }
        }
    }

    fn read(&mut self, result: &Json) {
        // A list of what is still to be read, not a recursion: results may be nested deeply.
        let mut rest = vec![("", result, 0)];
        while let Some((key, value, record)) = rest.pop() {
            match value {
                Json::Null => self.state(key, record, true, false),
                Json::Bool(flag) => self.state(key, record, !flag, true),
                Json::String(text) if text.trim().is_empty() => {
                    self.state(key, record, true, false);
                }
                Json::String(text) => {
                    self.state_of_text(text, key, record);
                    self.add_text(text, key, record);
                }
                Json::Number(number) => self.add_number(number, key, record, None, None),
                Json::Array(items) => {
                    self.lengths.push((spaced(key), items.len()));
                    if items.is_empty() {
                        self.state(key, record, true, false);
                    }
                    rest.extend(items.iter().rev().map(|item| (key, item, record)));
                }
                Json::Object(fields) => {
                    let (unit, per) = (stated_unit(fields), stated_rate(fields));
                    let record = self.add_record(record, key, fields);
                    for (key, value) in fields.iter().rev() {
                        self.keys.push_str(&spaced(key));
                        self.keys.push('\n');
                        match value {
                            Json::Number(number) => {
                                if is_yes_or_no(key)
                                    && let Some(flag @ (0 | 1)) = number.as_u64()
                                {
                                    self.state(key, record, flag == 0, true);
                                }
                                // `"overdue_tasks": 0`: there are none.
                                if number.as_u64() == Some(0) && !is_measured(key, unit) {
                                    self.state(key, record, true, false);
                                    if let Some(statement) = self.statements.last_mut() {
                                        statement.is_count = true;
                                    }
                                }
                                self.add_number(number, key, record, unit, per);
                            }
                            value => rest.push((key, value, record)),
                        }
                    }
                }
            }
        }
    }

    fn add_number(
        &mut self,
        number: &serde_json::Number,
        key: &str,
        record: usize,
        beside: Option<Measure>,
        per: Option<&'static str>,
    ) {
        const SHARES: &[&str] = &[
            "rate",
            "ratio",
            "share",
            "fraction",
            "percent",
            "pct",
            "probability",
            "growth",
            "change",
        ];
        let Some(quantity) = json_number(number) else {
            return;
        };
        let lower = key.to_lowercase();
        let key = spaced(key);
        let unit = unit_of_key(&key).or(beside.filter(|unit| takes_unit_beside(&key, *unit)));
        let mut label = label_of_key(&key);
        if matches!(unit, Some(Measure::Money(_))) || label.dimension == Some("money") {
            label.per = label.per.or(per);
        }
        self.quantities.push(KeyedNumber {
            quantity,
            is_share: SHARES.iter().any(|hint| lower.contains(hint)),
            unit,
            label,
            key,
            record,
        });
    }

    /// What the values of an object stand beside: its short texts and numbers, and what it stands beside itself.
    fn add_record(
        &mut self,
        outer: usize,
        key: &str,
        fields: &serde_json::Map<String, Json>,
    ) -> usize {
        if self.records.len() >= MOST_RECORDS {
            return 0;
        }
        let mut record = self.records[outer].clone();
        let mut add = |text: &str| {
            if text.len() <= LONGEST_NAME && record.len() + text.len() < LONGEST_RECORD {
                record.push_str(&fold(text));
                record.push('\n');
            }
        };
        add(&spaced(key));
        for value in fields.values() {
            match value {
                Json::String(text) => add(text),
                Json::Number(number) => add(&number.to_string()),
                _ => {}
            }
        }
        let mut keys = self.record_keys[outer].clone();
        keys.push_str(&spaced(key));
        for (key, value) in fields {
            let is_name = matches!(value, Json::String(_) | Json::Number(_));
            if is_name && keys.len() + key.len() < LONGEST_RECORD {
                keys.push('\n');
                keys.push_str(&spaced(key));
            }
        }
        self.record_keys.push(keys);
        self.records.push(record);
        self.records.len() - 1
    }
}

/// Whether a number is an amount of something, or a name: of these 0 is one like others.
fn is_measured(key: &str, beside: Option<Measure>) -> bool {
    let key = spaced(key);
    let label = label_of_key(&key);
    let unit = unit_of_key(&key).or(beside.filter(|unit| takes_unit_beside(&key, *unit)));
    unit.is_some() || label.is_id() || label.dimension.is_some()
}

/// Whether a key asks for yes or no: `isActive`, `refunded`.
fn is_yes_or_no(key: &str) -> bool {
    let key = spaced(key).to_lowercase();
    ["is ", "has ", "can "]
        .iter()
        .any(|start| key.starts_with(start))
        || [
            "ed",
            "paid",
            "sent",
            "done",
            "active",
            "available",
            "open",
            "ready",
        ]
        .iter()
        .any(|end| key.ends_with(end))
}

/// Whether the values of a key are codes of countries and languages.
fn is_code(key: &str) -> bool {
    const CODES: &[&str] = &[
        "code",
        "country",
        "iso",
        "lang",
        "language",
        "locale",
        "nationality",
        "region",
    ];
    let key = spaced(key).to_lowercase();
    let last = key.split_whitespace().next_back();
    last.is_some_and(|last| CODES.contains(&last))
}

/// Whether the unit that stands beside a number is that of its key: `"price": 10, "seats": 3, "currency": "EUR"`.
fn takes_unit_beside(key: &str, unit: Measure) -> bool {
    const ANY: &[&str] = &[
        "value",
        "total",
        "sum",
        "amount",
        "quantity",
        "reading",
        "measurement",
        "average",
        "avg",
        "min",
        "max",
        "low",
        "high",
        "net",
        "gross",
        "rate",
        "wert",
        "summe",
    ];
    let is_any = key
        .to_lowercase()
        .split_whitespace()
        .any(|word| ANY.contains(&word));
    is_any || label_of_key(key).is_for(unit)
}

/// The unit or currency that an object says beside its numbers.
fn stated_unit(fields: &serde_json::Map<String, Json>) -> Option<Measure> {
    let unit = |key: &&str| unit_of(fields.get(*key)?.as_str()?.trim());
    ["unit", "units", "currency", "currency_code"]
        .iter()
        .find_map(unit)
}

/// What the prices of an object are for that says it beside them: `"interval": "month"`.
fn stated_rate(fields: &serde_json::Map<String, Json>) -> Option<&'static str> {
    let rate = |key: &&str| rate_of_word(fields.get(*key)?.as_str()?.trim());
    [
        "interval",
        "period",
        "frequency",
        "recurrence",
        "per",
        "billing",
        "billing_cycle",
        "billing_interval",
        "billing_period",
        "billingCycle",
        "billingInterval",
        "billingPeriod",
    ]
    .iter()
    .find_map(rate)
}

/// `publishedAt` and `published_at` as words.
pub(super) fn spaced(key: &str) -> String {
    let mut spaced = String::with_capacity(key.len() + 4);
    let mut was_lower = false;
    for character in key.chars() {
        if character.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = character.is_lowercase();
        spaced.push(if matches!(character, '_' | '-' | '.') {
            ' '
        } else {
            character
        });
    }
    spaced
}
