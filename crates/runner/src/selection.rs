//! Which of the cases are meant.

use cuecard_judge::model::TestCase;
use regex::{Regex, RegexBuilder};

/// A text or, between slashes, a regular expression, looked for in the id, the title and the file of a case.
#[derive(Debug, Clone)]
pub struct Filter(Regex);

impl Filter {
    /// Reads `text` or `/regex/`; either in any case.
    ///
    /// # Errors
    /// What is wrong with the regular expression.
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        let pattern = text
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
            .filter(|pattern| !pattern.is_empty())
            .map_or_else(|| regex::escape(text), str::to_owned);
        RegexBuilder::new(&pattern)
            .case_insensitive(true)
            .build()
            .map(Self)
    }
}

/// Which cases are judged: all if nothing is said, else those that one filter and one tag fit.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// `--filter`.
    pub filters: Vec<Filter>,
    /// `--tag`.
    pub tags: Vec<String>,
}

impl Selection {
    /// Whether `case` is meant.
    pub fn holds(&self, case: &TestCase) -> bool {
        let fits = |filter: &Filter| {
            [case.id.as_str(), &case.title, case.source.name()]
                .iter()
                .any(|text| filter.0.is_match(text))
        };
        case.has_tag_of(&self.tags) && (self.filters.is_empty() || self.filters.iter().any(fits))
    }
}

/// `--shard`: every `count`-th file, beginning with the `index`-th.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// How many shards there are.
    pub count: usize,
}

impl Shard {
    /// Reads `i/n`; `None` unless 1 ≤ i ≤ n.
    pub fn new(text: &str) -> Option<Self> {
        let (index, count) = text.split_once('/')?;
        let (index, count) = (index.trim().parse().ok()?, count.trim().parse().ok()?);
        (1..=count)
            .contains(&index)
            .then_some(Self { index, count })
    }

    /// Whether the file at `idx`, from 0, is in it.
    pub fn holds(self, idx: usize) -> bool {
        idx % self.count == self.index - 1
    }
}

#[cfg(test)]
mod tests {
    use cuecard_source::SourceFile;
    use serde_json::json;

    use super::*;
    use crate::played::case_of;

    #[test]
    fn filters_are_texts_or_regular_expressions() {
        let holds = |filter: &str, name: &str| {
            let selection = Selection {
                filters: vec![Filter::new(filter).expect("a filter")],
                tags: Vec::new(),
            };
            let text = json!({"version": "2.1", "metadata": {"name": name}, "steps": []});
            let source = SourceFile::new("tests/a.json", text.to_string());
            selection.holds(&case_of(&source))
        };
        assert!(holds("NEWS.", "today.news.grounded"));
        assert!(!holds("news.", "newsroom"));
        assert!(holds("/^today\\..*ed$/", "today.news.grounded"));
        assert!(!holds("/^news/", "today.news.grounded"));
        assert!(holds("tests/", "anything"), "the file counts too");
        assert!(!holds("/", "anything"[..0].as_ref()) || holds("/", "a/b"));
        assert!(Filter::new("/(/").is_err());
    }

    #[test]
    fn shards_share_the_files_out() {
        assert_eq!(Shard::new("0/3"), None);
        assert_eq!(Shard::new("4/3"), None);
        assert_eq!(Shard::new("1"), None);
        let shards: Vec<Shard> = (1..=3)
            .filter_map(|index| Shard::new(&format!("{index}/3")))
            .collect();
        for idx in 0..10 {
            let holders = shards.iter().filter(|shard| shard.holds(idx)).count();
            assert_eq!(holders, 1, "file {idx}");
        }
    }
}
