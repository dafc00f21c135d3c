//! What results say: passages of texts, and records with fields.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use cuecard_source::value::Json;

use super::data::{OFF, SIGN_VALUES, TRUE_VALUES, UNIT_KEYS, is_sign};
use super::facts::{Fact, Rival, Roles, Said, Word, read};
use super::keys::{is_naming, is_search, key_text, with_unit};
use super::names::Names;
use super::outline::{LineKind, outline};
use super::pieces::{Piece, piece};
use super::shapes::{log_entry, opened, without_tables};
use super::text::{Language, clauses, fold, language, pattern, place, plain, sentences};

/// So many passages and fields of all results are read.
const MOST: usize = 20_000;

/// After so many facts that calls were made with no more are read.
const MOST_KNOWN: usize = 2_000;

/// So deep results are read.
const DEEPEST: usize = 64;

/// What names that which stands below: words and facts of headings, keys, tools and arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Header {
    pub(super) facts: Vec<Fact>,
    pub(super) words: BTreeSet<String>,
    /// Those of its words that are denied: `Not paid:`.
    pub(super) denied: BTreeSet<String>,
    pub(super) roles: Roles,
}

impl Header {
    fn plus(&self, text: &str, language: Option<Language>) -> Self {
        let said = read(text, language, false);
        let mut header = self.clone();
        header.facts.extend(said.facts);
        for word in said.words {
            if word.glue.is_denied() {
                header.denied.insert(word.stem.clone());
            }
            header.words.insert(word.stem);
        }
        header.roles.extend(said.roles);
        header
    }
}

/// What a text of a source hangs under: its header, and the record around it.
type Place = (Rc<Header>, Option<usize>);

/// A piece of a source under its header.
#[derive(Debug)]
pub(super) struct Passage {
    pub(super) piece: Piece,
    /// The event that it is of; nothing if the user said it.
    pub(super) event: Option<usize>,
    pub(super) header: Rc<Header>,
    /// Whether an equal call had another result later.
    pub(super) is_stale: bool,
    pub(super) record: Option<usize>,
}

/// What the value of a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    True,
    /// `false`, `null`, 0, nothing: the sign of the field.
    Falsy,
    Text,
    List,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) key: String,
    /// As a text: `total: 40 EUR`.
    pub(super) text: String,
    /// The value to compare as a whole.
    pub(super) value: String,
    pub(super) facts: Vec<Fact>,
    pub(super) words: BTreeSet<String>,
    /// The words of the key.
    pub(super) keys: BTreeSet<String>,
    /// The facts of the key: of `one_click_checkout` the number.
    pub(super) key_facts: Vec<Fact>,
    /// Whether the key says what is not, or the value that it is not.
    pub(super) is_denied: bool,
    /// What denies the words and facts of the value, by their stems and texts.
    pub(super) denials: BTreeMap<String, Vec<i64>>,
    pub(super) kind: FieldKind,
    pub(super) roles: Roles,
    /// What each text of the value says, in its order.
    pub(super) items: Vec<Said>,
}

impl Field {
    /// Whether its value says this fact.
    pub(super) fn says(&self, fact: &Fact) -> bool {
        fact.is_in(&self.facts)
    }

    /// Whether a piece says its whole key, with the numbers in it.
    pub(super) fn has_key_in(&self, piece: &Piece) -> bool {
        let has_key = !(self.keys.is_empty() && self.key_facts.is_empty());
        let has_words = || self.keys.iter().all(|key| piece.has_word(key));
        has_key && has_words() && self.has_key_facts_in(piece)
    }

    pub(super) fn has_key_facts_in(&self, piece: &Piece) -> bool {
        self.key_facts.iter().all(|fact| piece.says(fact))
    }
}

/// An object of a result.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) event: usize,
    /// The way to it, whatever the places in lists are.
    pub(super) group: Vec<String>,
    pub(super) header: Rc<Header>,
    pub(super) parent: Option<usize>,
    pub(super) fields: Vec<Field>,
    pub(super) is_stale: bool,
}

/// A list of a result.
#[derive(Debug)]
pub(super) struct List {
    pub(super) items: Vec<Json>,
    pub(super) header: Rc<Header>,
    /// The words of each item, once they were asked for.
    words: OnceCell<Vec<BTreeSet<String>>>,
}

impl List {
    fn new(items: &[Json], header: Rc<Header>) -> Self {
        Self {
            items: items.to_vec(),
            header,
            words: OnceCell::new(),
        }
    }

    pub(super) fn words(&self, language: Option<Language>) -> &[BTreeSet<String>] {
        self.words.get_or_init(|| {
            let words = self.items.iter().map(|item| {
                let mut texts = Vec::new();
                leaves("", item, &mut |_, leaf| texts.extend(leaf.as_str()));
                stems(&texts.join(" . "), language)
            });
            words.collect()
        })
    }
}

/// A result of a tool that counts.
#[derive(Debug, Clone)]
pub(super) struct ResultOf<'r> {
    /// The place of its event.
    pub(super) event: usize,
    pub(super) tool: &'r str,
    pub(super) arguments: &'r Json,
    /// The result, with texts that are JSON read as such.
    pub(super) value: Rc<Json>,
    /// The result as it came, if it is a text.
    text: Option<String>,
}

/// Everything that may prove a claim.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) passages: Vec<Passage>,
    pub(super) records: Vec<Record>,
    pub(super) lists: Vec<List>,
    /// Whole sentences, lines and values, each with what it hangs under.
    units: HashMap<String, Vec<Place>>,
    /// The results, each with whether it is stale.
    pub(super) results: Vec<(Rc<Json>, bool)>,
    /// What the user named.
    pub(super) known: Vec<Fact>,
    pub(super) known_names: HashSet<String>,
    pub(super) language: Option<Language>,
    pub(super) all_text: String,
    pub(super) is_cut: bool,
    /// What names records.
    pub(super) names: Names,
    /// Keys and values such as `dark_mode`, which are told as words, too.
    pub(super) snakes: HashSet<String>,
    /// The ways to objects and lists, by the words of their keys.
    ways: HashMap<String, BTreeSet<Vec<String>>>,
    /// Short texts that tools were called with, and values of keys such as `title`.
    pub(super) titles: Names,
}

pub(super) fn stems(text: &str, language: Option<Language>) -> BTreeSet<String> {
    read(text, language, false)
        .words
        .into_iter()
        .map(|word| word.stem)
        .collect()
}

fn is_short(text: &str) -> bool {
    text.split_whitespace().count() <= 8 && !text.contains('\n')
}

fn is_falsy(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => {
            text.is_empty() || SIGN_VALUES.contains(text.trim().to_lowercase().as_str())
        }
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Calls `visit` with each value that is no list and no object, and its key.
pub(super) fn leaves<'v>(key: &'v str, value: &'v Json, visit: &mut impl FnMut(&'v str, &'v Json)) {
    match value {
        Json::Object(members) => members
            .iter()
            .for_each(|(key, value)| leaves(key, value, visit)),
        Json::Array(items) => items.iter().for_each(|item| leaves(key, item, visit)),
        leaf => visit(key, leaf),
    }
}

/// A value as people read it.
pub(super) fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(shown).collect::<Vec<String>>().join(", "),
        other => other.to_string(),
    }
}

impl<'r> ResultOf<'r> {
    pub(super) fn new(event: usize, tool: &'r str, arguments: &'r Json, value: &Json) -> Self {
        Self {
            event,
            tool,
            arguments,
            value: Rc::new(opened(value)),
            text: value.as_str().map(str::to_owned),
        }
    }

    fn call(&self) -> String {
        let mut arguments = self.arguments.clone();
        arguments.sort_all_objects();
        format!("{} {arguments}", self.tool)
    }
}

impl Sources {
    pub(super) fn new(
        results: &[ResultOf<'_>],
        said: &[&str],
        arguments: &[&Json],
        language_of_answer: Option<Language>,
    ) -> Self {
        let mut sources = Self {
            language: language_of_answer,
            ..Self::default()
        };
        let mut latest: HashMap<String, usize> = HashMap::new();
        for (idx, result) in results.iter().enumerate() {
            latest.insert(result.call(), idx);
        }
        for (idx, result) in results.iter().enumerate() {
            let is_stale = latest.get(&result.call()).is_some_and(|last| *last != idx);
            sources.add(result, is_stale);
        }
        for text in said {
            let folded = fold(text);
            for sentence in sentences(&folded) {
                if is_statement(sentence) {
                    sources.text(sentence, None, &Rc::default(), None);
                }
            }
            sources.know(text);
        }
        for arguments in arguments {
            leaves("", arguments, &mut |key, leaf| {
                if sources.known.len() < MOST_KNOWN {
                    sources.know(&with_unit(key, leaf, &shown(leaf), None, false));
                }
            });
        }
        sources.names = sources.naming_values();
        sources
    }

    /// Takes note of a text that proves nothing, and of which nothing is invented.
    fn know(&mut self, text: &str) {
        let own = language(text, None).or(Some(Language::English));
        let said = read(text, own, true);
        self.known.extend(said.facts);
        self.known_names
            .extend(said.words.into_iter().map(|word| word.stem));
        self.all_text.push('\n');
        self.all_text.push_str(&plain(text));
    }

    fn add(&mut self, result: &ResultOf<'_>, is_stale: bool) {
        let (n_passages, n_records) = (self.passages.len(), self.records.len());
        let n_lists = self.lists.len();
        let units = is_stale.then(|| self.units.clone());
        let tool = key_text(&result.tool.replace("__", " "));
        let mut header = Header::default().plus(&tool, Some(Language::English));
        let own = self.own_language();
        leaves("", result.arguments, &mut |key, value| {
            if !is_search(key) && header.facts.len() < MOST_OF_HEADER {
                if let Some(text) = value.as_str().filter(|text| is_short(text)) {
                    self.titles.insert(plain(text));
                }
                header = header.plus(&format!("{}: {}", key_text(key), shown(value)), own);
            }
        });
        let header = Rc::new(header);
        let value = result.value.clone();
        self.results.push((value.clone(), is_stale));
        if let Some(text) = &result.text {
            for line in text.lines() {
                self.unit(line, &header, None);
            }
        }
        match &*value {
            Json::String(text) => self.text(text, Some(result.event), &header, None),
            other => self.walk(other, result.event, &header, &mut Vec::new(), None, None),
        }
        for passage in &mut self.passages[n_passages..] {
            passage.is_stale = is_stale;
        }
        for record in &mut self.records[n_records..] {
            record.is_stale = is_stale;
        }
        if let Some(units) = units {
            self.units = units;
            self.lists.truncate(n_lists);
        }
        self.all_text.push('\n');
        self.all_text.push_str(&plain(&shown(&value)));
    }

    /// The language in which keys and short values are read.
    pub(super) fn own_language(&self) -> Option<Language> {
        Some(self.language.unwrap_or(Language::English))
    }

    fn is_full(&mut self) -> bool {
        self.is_cut |= self.passages.len() + self.records.len() >= MOST;
        self.is_cut
    }

    fn unit(&mut self, text: &str, header: &Rc<Header>, record: Option<usize>) {
        let text = plain(text);
        if !text.is_empty() {
            let places = self.units.entry(text).or_default();
            places.push((header.clone(), record));
        }
    }

    /// Whether a text stands somewhere as it is, under all that it is said to hang under.
    pub(super) fn has_whole(&self, text: &str, words: &[Word], facts: &[Fact]) -> bool {
        let places = self.units.get(&plain(text)).into_iter().flatten();
        let mut places = places.map(|(header, record)| (header, *record));
        places.any(|(header, record)| {
            let around = record.map(|record| self.fields(record, |_| true));
            let around = around.unwrap_or_default();
            let has_word = |word: &Word| {
                let is_around = || {
                    let record = record.map(|record| &self.records[record]);
                    record.is_some_and(|record| self.is_said_around(record, &around, &word.stem))
                };
                (header.words.contains(&word.stem) || is_around())
                    && word.glue.is_denied() == header.denied.contains(&word.stem)
            };
            let has_fact = |fact: &Fact| {
                let own = header.facts.iter();
                fact.is_in(own.chain(around.iter().flat_map(|field| &field.facts)))
            };
            words.iter().all(has_word) && facts.iter().all(has_fact)
        })
    }

    fn passage(
        &mut self,
        piece: Piece,
        (event, header, record): (Option<usize>, &Rc<Header>, Option<usize>),
    ) {
        self.passages.push(Passage {
            piece,
            event,
            header: header.clone(),
            is_stale: false,
            record,
        });
    }

    fn text(
        &mut self,
        text: &str,
        event: Option<usize>,
        header: &Rc<Header>,
        record: Option<usize>,
    ) {
        pattern!(MARK, r"^\s*(?:[-*•]|\d+[.)])\s+");
        let own = language(text, self.language).or(self.own_language());
        // What the user said is a passage, and no result.
        let is_result = event.is_some();
        for line in fold(text).lines().filter(|_| is_result) {
            self.unit(&MARK.replace(line, ""), header, record);
        }
        let (rest, tables) = match is_result {
            true => without_tables(text),
            false => (text.to_owned(), Vec::new()),
        };
        for (names, table) in tables {
            let event = event.unwrap_or_default();
            self.walk(&table, event, header, &mut vec![names], record, None);
        }
        let lines = outline(&rest);
        let mut headers: HashMap<&[usize], Rc<Header>> = HashMap::new();
        let under = |over: &[usize]| {
            let texts = over.iter().map(|over| &lines[*over].text);
            Rc::new(texts.fold((**header).clone(), |header, text| header.plus(text, own)))
        };
        for line in &lines {
            if self.is_full() {
                return;
            }
            let under = headers
                .entry(&line.over)
                .or_insert_with(|| under(&line.over))
                .clone();
            if is_result && line.kind != LineKind::Cell {
                self.unit(&line.text, &under, record);
            }
            // A question states nothing, and an open box says what may be.
            if line.text.starts_with("[ ]") {
                self.know(&line.text);
                continue;
            }
            if line.text.ends_with('?') {
                continue;
            }
            let text = line
                .text
                .trim_start_matches("[x] ")
                .trim_start_matches("[X] ");
            let (under, text) = match log_entry(text).filter(|_| is_result) {
                Some((stamp, entry)) => {
                    let under = Rc::new(under.plus(stamp, own));
                    self.unit(entry, &under, record);
                    (under, entry)
                }
                None => (under, text),
            };
            let parts = clauses(text, own).into_iter();
            let parts = parts.map(|part| (part, read(part, own, false)));
            let mut parts: Vec<(&str, Said)> = parts.collect();
            // `Ada was ill, but no longer is` denies what stands before.
            let is_bare_denial = |(_, said): &(&str, Said)| {
                said.words.is_empty() && said.facts.is_empty() && !said.denials.is_empty()
            };
            if parts.iter().any(is_bare_denial) {
                parts = vec![(text, read(text, own, false))];
            }
            for (part, said) in parts {
                // What a heading says is no fact of the one below it.
                let header = match line.kind {
                    LineKind::Heading => header,
                    _ => &under,
                };
                self.passage(piece(part, &said), (event, header, record));
            }
        }
    }

    fn walk(
        &mut self,
        value: &Json,
        event: usize,
        header: &Rc<Header>,
        path: &mut Vec<String>,
        parent: Option<usize>,
        unit: Option<&str>,
    ) {
        if self.is_full() || path.len() > DEEPEST {
            return;
        }
        let record = |group: &[String]| Record {
            event,
            group: group.to_vec(),
            header: header.clone(),
            parent,
            fields: Vec::new(),
            is_stale: false,
        };
        match value {
            Json::Object(members) => {
                let idx = self.records.len();
                self.records.push(record(path));
                let own = members.iter().find(|(key, value)| {
                    UNIT_KEYS.contains(key.to_lowercase().as_str()) && value.is_string()
                });
                let unit = own.and_then(|(_, value)| value.as_str()).or(unit);
                for (key, value) in members {
                    let has_maximum = members.keys().any(|key| key.ends_with("max"));
                    self.field(
                        (key, value),
                        (event, header),
                        path,
                        idx,
                        (unit, has_maximum),
                    );
                }
            }
            Json::Array(items) => {
                self.lists.push(List::new(items, header.clone()));
                path.push("[]".to_owned());
                for item in items {
                    self.walk(item, event, header, path, parent, unit);
                }
                path.pop();
            }
            leaf => {
                let idx = self.records.len();
                self.records.push(record(path));
                self.field(("", leaf), (event, header), path, idx, (unit, false));
            }
        }
    }

    fn field(
        &mut self,
        (key, value): (&str, &Json),
        (event, header): (usize, &Rc<Header>),
        path: &mut Vec<String>,
        record: usize,
        (unit, has_maximum): (Option<&str>, bool),
    ) {
        let own = self.own_language();
        let words = key_text(key);
        let is_nested = match value {
            Json::Object(_) => true,
            // A sentence in a list says what it says, with its own sign.
            Json::Array(items) => items.iter().any(|item| match item {
                Json::String(text) => !is_short(text),
                other => other.is_array() || other.is_object(),
            }),
            _ => false,
        };
        let below = |header: &Header| Rc::new(header.plus(&words, own));
        if is_nested {
            path.push(key.to_owned());
            for stem in stems(&words, own) {
                self.ways.entry(stem).or_default().insert(path.clone());
            }
            self.walk(value, event, &below(header), path, Some(record), unit);
            path.pop();
            return;
        }
        match value {
            Json::Array(items) => {
                self.lists.push(List::new(items, below(header)));
                for item in items {
                    self.unit(&shown(item), &below(header), Some(record));
                }
            }
            Json::String(text) => {
                let header = below(header);
                self.unit(text, &header, Some(record));
                for sentence in sentences(&fold(text)) {
                    self.unit(sentence, &header, Some(record));
                }
                let is_name = is_naming(key) && text.split_whitespace().count() <= LONGEST_NAME;
                if !is_short(text) && (!is_name || text.contains('\n')) {
                    self.text(text, Some(event), &header, Some(record));
                    return;
                }
            }
            _ => {}
        }
        pattern!(SNAKE, r"^[a-z]+(?:_[a-z]+)+$");
        let mut written = shown(value);
        for name in [key, &written]
            .into_iter()
            .filter(|name| SNAKE.is_match(name))
        {
            self.snakes.insert(name.to_owned());
        }
        if SNAKE.is_match(&written) {
            written = key_text(&written);
        }
        let text = with_unit(key, value, &written, unit, has_maximum);
        let said = read(&text, own, false);
        let (head, tail) = text.split_once(": ").unwrap_or((&words, &text));
        pattern!(
            CODE,
            r"(?i)country|nation|lang|locale|region|code|state|land"
        );
        // `no` is Norway, too.
        let is_code = value.is_string() && CODE.is_match(key);
        let of_value = read(tail, own, false);
        let has_unit = of_value.facts.iter().any(|fact| fact.unit.is_some());
        let kind = match value {
            // `0 °C` is a value.
            value if is_falsy(value) && !is_code && !has_unit => FieldKind::Falsy,
            Json::Bool(true) => FieldKind::True,
            Json::String(text) if TRUE_VALUES.contains(text.trim().to_lowercase().as_str()) => {
                FieldKind::True
            }
            Json::Array(_) => FieldKind::List,
            _ => FieldKind::Text,
        };
        // A question states nothing, nor does what was searched for.
        let is_asked = !is_naming(key) && written.trim_end().ends_with('?');
        let is_search_text = matches!(key, "q" | "query" | "search" | "search_term");
        let has_value = matches!(kind, FieldKind::Text | FieldKind::List);
        let has_value = has_value && !is_asked && !is_search_text;
        let mut of_key = read(head, own, false);
        let mut is_denied = (kind == FieldKind::Falsy) != (of_key.n_denials() % 2 == 1);
        of_key.facts.retain(|fact| !fact.is_zero());
        // `alerts_enabled: true` says that alerts are on.
        let is_switch = |word: &Word| is_sign(&word.lower);
        let n_switches = of_key.words.iter().filter(|word| is_switch(word)).count();
        if kind.is_flag() && n_switches < of_key.words.len() + of_key.facts.len() {
            let off = of_key
                .words
                .iter()
                .filter(|word| OFF.contains(word.lower.as_str()));
            is_denied ^= off.count() % 2 == 1;
            of_key.words.retain(|word| !is_switch(word));
        }
        let is_name = is_naming(key) && value.is_string();
        if is_name {
            self.titles.insert(plain(&written));
        }
        let mut field = Field {
            key: key.to_owned(),
            value: plain(&written),
            facts: Vec::new(),
            words: BTreeSet::new(),
            keys: of_key.words.into_iter().map(|word| word.stem).collect(),
            key_facts: of_key.facts,
            is_denied,
            denials: of_value.denials_of(),
            kind,
            roles: said.roles,
            text: text.clone(),
            items: Vec::new(),
        };
        let n_numbers = said
            .facts
            .iter()
            .filter(|fact| fact.rival() == Some(Rival::Number))
            .count();
        let says_several = || n_numbers > 1 || sentences(&written).len() > 1;
        if kind == FieldKind::Text && value.is_string() && says_several() {
            // Several numbers or sentences are several things: clauses say which.
            let header = below(header);
            for clause in clauses(&written, own) {
                let said = read(clause, own, false);
                self.passage(piece(clause, &said), (Some(event), &header, Some(record)));
            }
            field.is_denied = false;
            field.roles = BTreeMap::new();
        } else if has_value {
            field.facts = said.facts;
            let is_of_value = |fact: &Fact| fact.at >= place(head.len()) && !fact.is_zero();
            field.facts.retain(is_of_value);
            field.items = match value {
                Json::Array(items) => items
                    .iter()
                    .map(|item| read(&shown(item), own, false))
                    .collect(),
                _ => vec![of_value.clone()],
            };
            field.words = of_value.words.into_iter().map(|word| word.stem).collect();
        }
        self.records[record].fields.push(field);
    }

    /// All fields of a record and of those around it. The age of somebody is no age of what lies within: a key that the record
    /// has, too, counts further out only where its own value `is_said`.
    pub(super) fn fields(&self, record: usize, is_said: impl Fn(&Field) -> bool) -> Vec<&Field> {
        let mut fields: Vec<&Field> = Vec::new();
        let mut next = Some(record);
        while let Some(idx) = next {
            let hides = |inner: &&Field, field: &Field| inner.key == field.key && !is_said(inner);
            let around = self.records[idx].fields.iter();
            let around = around.filter(|field| !fields.iter().any(|inner| hides(inner, field)));
            let around: Vec<&Field> = around.collect();
            fields.extend(around);
            next = self.records[idx].parent;
        }
        fields
    }

    /// Whether a value of a record, or one around it, has a word. A word of the key of another object around counts only there:
    /// `shipping` is what stands below that key, not beside it.
    pub(super) fn is_said_around(&self, record: &Record, fields: &[&Field], stem: &str) -> bool {
        let is_own = |field: &Field| record.fields.iter().any(|own| std::ptr::eq(own, field));
        let is_of_other = || {
            let group = record.group.as_slice();
            self.ways.get(stem).is_some_and(|ways| {
                let mut ways = ways.iter();
                ways.all(|way| !group.starts_with(way) && !way.starts_with(group))
            })
        };
        let mut said = fields.iter().filter(|field| field.words.contains(stem));
        said.any(|field| is_own(field) || !is_of_other())
    }

    /// All facts of results and of what the user stated, with those of headers.
    pub(super) fn facts(&self) -> impl Iterator<Item = &Fact> {
        let passages = self
            .passages
            .iter()
            .flat_map(|passage| passage.piece.facts.iter().chain(&passage.header.facts));
        let records = self.records.iter().flat_map(|record| {
            let fields = record.fields.iter();
            let fields = fields.flat_map(|field| field.facts.iter().chain(&field.key_facts));
            fields.chain(&record.header.facts)
        });
        passages.chain(records)
    }
}

/// A name has no more words.
const LONGEST_NAME: usize = 16;

/// So many facts of arguments stand in a header.
const MOST_OF_HEADER: usize = 100;

/// Whether a sentence of the user states something.
fn is_statement(sentence: &str) -> bool {
    pattern!(
        STATES,
        r"(?i)\b(?:i|i'm|my|we|our|is|are|was|were|am|has|have|had|ist|sind|war|ich|wir|mein\w*|habe|hat)\b"
    );
    pattern!(
        ASKS,
        r"(?i)\b(?:whether|if|ob|i (?:think|believe|guess|assume|suppose|heard)|ich (?:glaube|denke))\b|^(?:please|bitte|confirm|make|send|can|could|would|will|should|is|are|was|were|do|does|did|has|have|ist|sind|war|hat|tell|show|find|check|what|which|who|when|where|why|how|wer|was|wann|wie|wo)\b"
    );
    !sentence.trim_end().ends_with('?') && STATES.is_match(sentence) && !ASKS.is_match(sentence)
}
