//! What the results of tools say word for word: texts, addresses and names that an answer may cite.

use std::collections::{BTreeSet, HashMap, HashSet};

use cuecard_source::value::{Json, as_text};
use cuecard_trace::{Event, EventData, ToolResult};

use super::View;
use super::text::{
    Language, NameSpan, dois, domains, emails, fold, host_of, normal_url, plain, urls, words,
};
use crate::model::ToolPattern;
use crate::prove::is_search;

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
        let wanted: Vec<String> = words(name).map(|word| word.text.to_lowercase()).collect();
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
    urls: HashSet<String>,
    hosts: HashSet<String>,
    emails: HashSet<String>,
    dois: HashSet<String>,
    /// Where each word stands, in lower case.
    words: HashMap<String, Vec<usize>>,
    keys: BTreeSet<String>,
    /// How many words were read, and gaps between texts.
    at: usize,
    /// The words of the tools' names.
    tools: BTreeSet<String>,
}

impl Facts {
    pub(crate) fn of(sources: &[Source<'_>]) -> Self {
        let mut facts = Self::default();
        for source in sources {
            let tool = source.tool.to_lowercase();
            let parts = tool.split(|letter: char| !letter.is_alphanumeric());
            facts
                .tools
                .extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
            facts.keys.extend(source.keys.iter().cloned());
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
        self.hosts
            .extend(domains(text).into_iter().map(|(_, domain)| host_of(domain)));
        self.emails.extend(
            emails(text)
                .into_iter()
                .map(|(_, email)| email.to_lowercase()),
        );
        self.dois.extend(dois(text).into_iter().map(|(_, doi)| doi));
        for word in words(text) {
            let lower = word.text.to_lowercase();
            let lower = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
            self.words.entry(lower).or_default().push(self.at);
            self.at += 1;
        }
        self.at += FARTHEST_NEIGHBOUR + 1;
        self.literal.push_str(&plain(text));
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

    pub(crate) fn has_email(&self, email: &str) -> bool {
        self.emails.contains(&email.to_lowercase())
    }

    pub(crate) fn has_doi(&self, doi: &str) -> bool {
        self.dois.contains(doi)
    }

    /// Whether a text stands there literally, with its words whole.
    pub(crate) fn has_text(&self, folded: &str) -> bool {
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

    /// Whether a source is called so: by a name, a host or a tool.
    pub(crate) fn has_speaker(&self, name: &NameSpan, language: Language) -> bool {
        let joined = name.words.concat();
        let is_host = |host: &String| {
            host.split('.')
                .any(|label| label.replace('-', "") == joined)
        };
        self.has_name(name, language)
            || self.hosts.iter().any(is_host)
            || name.words.iter().all(|word| self.tools.contains(word))
    }

    /// Whether a name stands there: its words near each other, or, as one word, an acronym of theirs.
    fn has_name(&self, name: &NameSpan, language: Language) -> bool {
        let places = |word: &String| {
            // Plurals and genitives.
            let bare = word.strip_suffix('s');
            let known = self.words.get(word);
            known
                .or_else(|| self.words.get(bare?))
                .or_else(|| self.words.get(&format!("{word}s")))
        };
        let places: Option<Vec<&Vec<usize>>> = name.words.iter().map(places).collect();
        let is_near = |pair: &[&Vec<usize>]| {
            let is_beside = |one: &usize| {
                pair[1]
                    .iter()
                    .any(|other| one.abs_diff(*other) <= FARTHEST_NEIGHBOUR)
            };
            pair[0].iter().any(is_beside)
        };
        places.is_some_and(|places| places.windows(2).all(is_near))
            || (name.is_acronym
                && (self.keys.contains(&name.words[0])
                    || has_initials(&self.literal, &name.words[0], language)))
            || (name.text.chars().any(|letter| u32::from(letter) >= 0xe00)
                && self.has_text(&name.text))
    }
}

/// Whether some words in a row that say something have these initials.
fn has_initials(literal: &str, acronym: &str, language: Language) -> bool {
    let stop_words = language.stop_words();
    let wanted = [acronym, acronym.trim_end_matches('s')];
    wanted
        .iter()
        .filter(|wanted| wanted.len() > 1)
        .any(|wanted| {
            literal.lines().any(|line| {
                let words = words(line).filter(|word| !stop_words.contains(word.text));
                let initials: String = words.filter_map(|word| word.text.chars().next()).collect();
                initials.to_lowercase().contains(wanted)
            })
        })
}
