//! Sentences and clauses of the results, by their words.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Source;
use crate::text::{
    Language, blank, clauses, content_words, is_negated, reverse_of, sentences, statement_words,
    words,
};

/// A clause or a sentence of a source.
#[derive(Debug)]
pub(crate) struct Passage {
    /// Which source.
    pub source: usize,
    /// As it is written.
    pub text: String,
    /// Whether it says that something is not so.
    pub is_negated: bool,
    /// Its place in time: what the user said is older than every result.
    pub order: usize,
    /// Whether it is one of several clauses of its sentence, of which each denies for itself.
    pub is_clause: bool,
    content: BTreeSet<String>,
    /// The words of which one must be there; empty for a text.
    pub key: BTreeSet<String>,
    /// Whether it is a truth value of JSON.
    pub is_flag: bool,
    /// Whether it is a number, 0, which says nothing of others.
    pub is_count: bool,
}

impl Passage {
    /// Whether it is a statement of JSON about something else than a clause with these words: its key is not named, or
    /// the numbers are those of another record.
    pub(crate) fn is_off_topic(&self, clause: &str, content: &BTreeSet<String>) -> bool {
        if self.key.is_empty() {
            return false;
        }
        let said: Vec<&str> = whole_numbers(clause).collect();
        let is_named = |word: &String| {
            self.key.contains(word) || reverse_of(word).is_some_and(|word| self.key.contains(word))
        };
        !content.iter().any(is_named)
            || (!said.is_empty()
                && (self.is_count || !whole_numbers(&self.text).any(|own| said.contains(&own))))
    }

    /// How many of the whole numbers of a clause it has.
    pub(crate) fn shared_numbers(&self, clause: &str) -> usize {
        let own: Vec<&str> = whole_numbers(&self.text).collect();
        whole_numbers(clause)
            .filter(|number| own.contains(number))
            .count()
    }
}

fn whole_numbers(text: &str) -> impl Iterator<Item = &str> {
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    words(text).map(|word| word.text).filter(is_number)
}

/// The passages of the sources by their content words.
#[derive(Debug)]
pub(crate) struct Passages {
    all: Vec<Passage>,
    by_word: HashMap<String, Vec<usize>>,
    /// The content words of each source as a whole.
    contents: Vec<HashSet<String>>,
    language: Language,
    /// Titles and names that have a word of denial in them: `Never Let Me Go`.
    titles: Vec<String>,
}

/// Whether a key names something by its title.
fn is_title(key: &str) -> bool {
    const TITLES: &[&str] = &[
        "title", "name", "book", "song", "track", "film", "movie", "album", "product", "project",
        "item",
    ];
    let last = key.split_whitespace().next_back();
    last.is_some_and(|last| TITLES.contains(&last.to_lowercase().as_str()))
}

/// More places of one word are not looked at: it tells nothing then.
const MOST_PLACES: usize = 100;

impl Passages {
    pub(crate) fn of(sources: &[Source<'_>], language: Language) -> Self {
        let mut passages = Self {
            all: Vec::new(),
            by_word: HashMap::new(),
            contents: Vec::new(),
            language,
            titles: Vec::new(),
        };
        for (index, source) in sources.iter().enumerate() {
            passages
                .contents
                .push(content_words(&source.keys, language).into_iter().collect());
            // What the user asks is no statement.
            if source.is_asked {
                continue;
            }
            let order = source.event.map_or(0, |_| index + 1);
            for (text, (key, _)) in source.texts.iter().zip(&source.text_places) {
                if is_title(key) && is_negated(text, language) {
                    passages.titles.push(text.clone());
                    passages.add(index, order, text, false);
                    continue;
                }
                passages.add_sentences(index, order, text);
            }
            for statement in &source.statements {
                passages.add(index, order, &statement.text, statement.is_negated);
                let at = passages.all.len() - 1;
                let passage = &mut passages.all[at];
                passage.key = statement_words(&statement.key, language);
                passage.is_flag = statement.is_flag;
                passage.is_count = statement.is_count;
                for word in statement_words(&statement.record_keys, language) {
                    if passage.content.insert(word.clone()) {
                        passages.by_word.entry(word).or_default().push(at);
                    }
                }
            }
        }
        passages
    }

    /// Adds the sentences of a text, and their clauses.
    fn add_sentences(&mut self, source: usize, order: usize, text: &str) {
        let language = self.language;
        for sentence in sentences(text) {
            self.add(source, order, sentence, is_negated(sentence, language));
            for clause in clauses(sentence) {
                if clause.len() < sentence.trim_end_matches(['.', '!', '?']).len() {
                    self.add(source, order, clause, is_negated(clause, language));
                    let at = self.all.len() - 1;
                    self.all[at].is_clause = true;
                }
            }
        }
    }

    fn add(&mut self, source: usize, order: usize, text: &str, is_negated: bool) {
        self.contents[source].extend(content_words(text, self.language));
        let content = statement_words(text, self.language);
        let at = self.all.len();
        for word in &content {
            self.by_word.entry(word.clone()).or_default().push(at);
        }
        self.all.push(Passage {
            source,
            text: text.to_owned(),
            is_negated,
            order,
            is_clause: false,
            content,
            key: BTreeSet::new(),
            is_flag: false,
            is_count: false,
        });
    }

    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// A text without the titles that have a word of denial in them.
    pub(crate) fn without_titles(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        if lower.len() != text.len() {
            return text.to_owned();
        }
        let places = self.titles.iter().flat_map(|title| {
            let title = title.to_lowercase();
            let found = lower.match_indices(&title);
            found
                .map(|(at, found)| at..at + found.len())
                .collect::<Vec<_>>()
        });
        blank(text, places)
    }

    /// How many of the words one source has, and which source that is: the first that has most.
    pub(crate) fn best_source(&self, content: &BTreeSet<String>) -> Option<(usize, usize)> {
        self.contents
            .iter()
            .map(|known| content.iter().filter(|word| known.contains(*word)).count())
            .enumerate()
            .max_by_key(|(index, shared)| (*shared, usize::MAX - index))
    }

    /// Whether a source has a content word.
    pub(crate) fn has(&self, source: usize, word: &str) -> bool {
        self.contents
            .get(source)
            .is_some_and(|known| known.contains(word))
    }

    /// The passages that share words with a text, and how many, most first.
    pub(crate) fn nearest(&self, content: &BTreeSet<String>) -> Vec<(&Passage, usize)> {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        // `unpaid` is about what is paid.
        let reversed = content.iter().filter_map(|word| reverse_of(word));
        for word in content.iter().map(String::as_str).chain(reversed) {
            for at in self
                .by_word
                .get(word)
                .into_iter()
                .flatten()
                .take(MOST_PLACES)
            {
                *shared.entry(*at).or_default() += 1;
            }
        }
        let mut nearest: Vec<(usize, usize)> = shared.into_iter().collect();
        // The shortest of equals says it best.
        nearest.sort_by_key(|(at, count)| (usize::MAX - count, self.all[*at].content.len(), *at));
        nearest
            .into_iter()
            .map(|(at, count)| (&self.all[at], count))
            .collect()
    }
}
