//! What the results of tools say word for word: texts, addresses and names that an answer may cite.

use std::collections::{BTreeSet, HashMap, HashSet};

use cuecard_source::value::{Json, as_text};
use cuecard_trace::{Event, EventData, ToolResult};

use super::View;
use super::text::{domains, fold, host_of, normal_url, plain, urls, words};
use crate::model::ToolPattern;
use crate::prove::{is_function_word, is_search, stands_in};

/// Words of a name may have so many others between them.
const FARTHEST_NEIGHBOUR: usize = 3;

/// A successful result of a tool.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// The event of the result.
    pub event: &'a Event,
    /// The tool that gave it.
    pub tool: &'a str,
    /// Every text, number and boolean in it, folded.
    pub texts: Vec<String>,
    /// What stands in each object, as one text.
    records: Vec<String>,
    /// Its keys.
    keys: BTreeSet<String>,
}

/// The successful results of the tools that count, each with the place of its event; of every tool if none is named.
pub(crate) fn results<'a>(
    view: &View<'a>,
    allowed: &'a [ToolPattern],
) -> impl Iterator<Item = (usize, &'a ToolResult)> {
    let events = view.trace.events.iter().enumerate();
    events.filter_map(|(position, event)| match &event.data {
        EventData::ToolResult(result) if result.success => {
            let is_allowed =
                allowed.is_empty() || allowed.iter().any(|tool| tool.matches(&result.tool));
            is_allowed.then_some((position, result))
        }
        _ => None,
    })
}

/// The same, with their texts.
pub(crate) fn sources<'a>(view: &View<'a>, allowed: &'a [ToolPattern]) -> Vec<Source<'a>> {
    let sources = results(view, allowed).map(|(position, result)| {
        let mut source = Source {
            event: &view.trace.events[position],
            tool: result.tool.as_ref(),
            texts: Vec::new(),
            records: Vec::new(),
            keys: BTreeSet::new(),
        };
        source.read(&result.result);
        let call = view.call_at(position);
        // A search text is no source.
        if let Some(Json::Object(arguments)) = call.map(|call| &*call.data.args) {
            let told = arguments.iter().filter(|(key, _)| !is_search(key));
            told.for_each(|(_, value)| source.read(value));
        }
        let texts = result.text.iter().map(|text| fold(text));
        source.texts.extend(texts);
        source
    });
    sources.collect()
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
    let events = sources.iter().map(|source| source.event);
    events.map(|event| event.event_id.as_str()).collect()
}

impl Source<'_> {
    fn read(&mut self, value: &Json) {
        let mut rest = vec![value];
        while let Some(value) = rest.pop() {
            match value {
                Json::Array(items) => rest.extend(items.iter().rev()),
                Json::Object(members) => {
                    // A list of texts is a value: `authors: [...]`.
                    let is_leaf = |value: &&Json| match value {
                        Json::Array(items) => items.iter().all(Json::is_string),
                        value => !value.is_object(),
                    };
                    let leaves = members.values().filter(is_leaf);
                    let leaves: Vec<String> = leaves.map(|leaf| fold(&as_text(leaf))).collect();
                    self.records.push(leaves.join("\n"));
                    self.keys
                        .extend(members.keys().map(|key| key.to_lowercase()));
                    rest.extend(members.values().rev());
                }
                Json::Null => {}
                leaf => self.texts.push(fold(&as_text(leaf))),
            }
        }
    }

    /// Whether a text, or an object, has all words of a name, and a year.
    pub(crate) fn has_beside(&self, name: &str, year: &str) -> bool {
        let wanted = words(name).map(|word| word.as_str().to_lowercase());
        let wanted: Vec<String> = wanted.filter(|word| !is_function_word(word)).collect();
        let has_both = |text: &String| {
            text.contains(year) && {
                let lower = text.to_lowercase();
                wanted.iter().all(|word| lower.contains(word.as_str()))
            }
        };
        self.texts.iter().chain(&self.records).any(has_both)
    }
}

/// What stands in results.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// All texts, plain, each on lines of its own.
    literal: String,
    /// The words of each text.
    lines: Vec<Vec<String>>,
    /// The lines that each word stands in.
    lines_of: HashMap<String, Vec<usize>>,
    /// The first letters of the words of each text, but for the commonest.
    initials: Vec<String>,
    urls: HashSet<String>,
    hosts: HashSet<String>,
    /// Keys, and the words of the tools' names.
    names: HashSet<String>,
}

impl Facts {
    pub(crate) fn of(sources: &[Source<'_>]) -> Self {
        let mut facts = Self::default();
        for source in sources {
            let tool = words(source.tool).map(|word| word.as_str());
            let tool = tool.flat_map(|word| word.split('_'));
            facts.names.extend(tool.map(str::to_lowercase));
            facts.names.extend(source.keys.iter().cloned());
            for text in &source.texts {
                facts.read(text);
            }
        }
        facts
    }

    /// Takes note of a folded text.
    pub(crate) fn read(&mut self, text: &str) {
        for (_, url) in urls(text) {
            self.urls.insert(normal_url(url));
            self.hosts.insert(host_of(url));
        }
        let domains = domains(text).into_iter();
        self.hosts
            .extend(domains.map(|(_, domain)| host_of(domain)));
        let line = plain(text);
        let telling = words(&line).filter(|word| !is_function_word(word.as_str()));
        let initials = telling.filter_map(|word| word.as_str().chars().next());
        self.initials.push(initials.collect());
        let words: Vec<String> = words(&line).map(|word| bare(word.as_str())).collect();
        for word in words.iter().collect::<HashSet<_>>() {
            let lines = self.lines_of.entry(word.clone()).or_default();
            lines.push(self.lines.len());
        }
        self.lines.push(words);
        self.literal.push_str(&line);
        self.literal.push('\n');
    }

    pub(crate) fn has_url(&self, url: &str) -> bool {
        self.urls.contains(&normal_url(url))
    }

    /// Whether a domain, or one below it, is named.
    pub(crate) fn has_host(&self, host: &str) -> bool {
        let host = host_of(host);
        let is_below = |known: &String| {
            let rest = known.strip_suffix(host.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.hosts.iter().any(is_below)
    }

    /// Whether a text stands there literally, with its words whole.
    pub(crate) fn has_text(&self, folded: &str) -> bool {
        let wanted = plain(folded);
        // Chinese and Japanese have no spaces between words.
        let is_unspaced = wanted.chars().any(|letter| u32::from(letter) >= 0xe00);
        stands_in(&wanted, &self.literal) || (is_unspaced && self.literal.contains(&wanted))
    }

    /// Whether a source is called so: by a name, a host, a key or a tool.
    pub(crate) fn has_speaker(&self, name: &str) -> bool {
        let parts: Vec<String> = words(name)
            .map(|word| bare(word.as_str()))
            .filter(|word| !is_function_word(word))
            .collect();
        let joined = parts.concat();
        let is_host = |host: &String| {
            let mut labels = host.split('.');
            labels.any(|label| label.replace('-', "") == joined)
        };
        let is_acronym = parts.len() == 1 && name.chars().filter(|c| c.is_uppercase()).count() > 1;
        !parts.is_empty()
            && (self.has_name(&parts)
                || self.hosts.iter().any(is_host)
                || parts.iter().all(|part| self.names.contains(part))
                || (is_acronym && self.has_initials(&parts[0]))
                || self.has_text(name))
    }

    /// Whether words in a row have these initials; those of a plural are the same.
    fn has_initials(&self, acronym: &str) -> bool {
        let mut wanted = [acronym, acronym.trim_end_matches('s')].into_iter();
        wanted.any(|wanted| {
            wanted.len() > 1 && self.initials.iter().any(|known| known.contains(wanted))
        })
    }

    /// Whether a text has all words of a name, each near the one before; plurals are the same.
    fn has_name(&self, name: &[String]) -> bool {
        let first = name.first().into_iter().flat_map(|word| forms(word));
        let mut lines = first.filter_map(|form| self.lines_of.get(&form)).flatten();
        lines.any(|line| stands_together(&self.lines[*line], name))
    }
}

/// A word, and as its singular and plural.
fn forms(word: &str) -> impl Iterator<Item = String> {
    let singular = word.strip_suffix('s').map(str::to_owned);
    [word.to_owned(), format!("{word}s")]
        .into_iter()
        .chain(singular)
}

/// A word in lower case without the ending of a genitive.
fn bare(word: &str) -> String {
    let lower = word.to_lowercase();
    lower.strip_suffix("'s").unwrap_or(&lower).to_owned()
}

fn stands_together(line: &[String], name: &[String]) -> bool {
    let places = |word: &String| {
        let forms: Vec<String> = forms(word).collect();
        let words = line.iter().enumerate();
        let found = words.filter(|(_, other)| forms.contains(other));
        found.map(|(at, _)| at).collect::<Vec<usize>>()
    };
    let places: Vec<Vec<usize>> = name.iter().map(places).collect();
    let is_near = |pair: &[Vec<usize>]| {
        let mut first = pair[0].iter();
        first.any(|one| {
            pair[1]
                .iter()
                .any(|other| one.abs_diff(*other) <= FARTHEST_NEIGHBOUR)
        })
    };
    places.iter().all(|places| !places.is_empty()) && places.windows(2).all(is_near)
}
