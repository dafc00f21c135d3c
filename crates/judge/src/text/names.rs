//! Names of people, products and organisations, and whom a text calls its source.

use std::sync::LazyLock;

use regex::Regex;

use super::{Language, words};
use crate::prove::{month, weekday};

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameSpan {
    /// As it is written.
    pub text: String,
    /// Its words in lower case, without small words between them.
    pub words: Vec<String>,
    /// Whether it is made of capital letters alone.
    pub is_acronym: bool,
}

const CONNECTORS: &[&str] = &[
    "of", "de", "del", "van", "von", "der", "den", "la", "du", "di", "da", "al", "bin", "for",
];

struct Token<'a> {
    text: &'a str,
    start: usize,
    is_capital: bool,
    is_mixed: bool,
    is_acronym: bool,
}

fn tokens<'a>(text: &'a str) -> Vec<Token<'a>> {
    words(text)
        .map(|word| {
            let name = word.text.strip_suffix("'s").unwrap_or(word.text);
            let has_digit = name.contains(|character: char| character.is_numeric());
            let upper = name
                .chars()
                .filter(|character| character.is_uppercase())
                .count();
            let starts_upper = name.chars().next().is_some_and(char::is_uppercase);
            let letters = name
                .chars()
                .filter(|character| character.is_alphabetic())
                .count();
            let is_acronym = !has_digit
                && upper >= 2
                && (upper == letters || (upper + 1 == letters && name.ends_with('s')));
            Token {
                text: word.text,
                start: word.start,
                is_capital: starts_upper && !has_digit,
                is_mixed: !has_digit && !is_acronym && upper > usize::from(starts_upper),
                is_acronym,
            }
        })
        .collect()
}

fn is_never_a_name(word: &str, language: Language) -> bool {
    let lower = word.to_lowercase();
    lower.starts_with("i'")
        || matches!(
            lower.as_str(),
            "i" | "ok"
                | "am"
                | "pm"
                | "utc"
                | "fyi"
                | "tldr"
                | "tl"
                | "dr"
                | "nb"
                | "ps"
                | "yesterday"
                | "tomorrow"
                | "tonight"
                | "mr"
                | "mrs"
                | "ms"
                | "usd"
                | "eur"
                | "gbp"
                | "url"
                | "json"
        )
        || weekday(&lower).is_some()
        || (lower.len() > 3 && month(&lower).is_some())
        || (word
            .chars()
            .filter(|character| character.is_uppercase())
            .count()
            < 2
            && language.stop_words().contains(lower.as_str()))
}

struct Span {
    first: usize,
    last: usize,
    words: Vec<String>,
}

impl Span {
    fn name(self, text: &str, tokens: &[Token<'_>]) -> NameSpan {
        let end = tokens[self.last].start + tokens[self.last].text.len();
        NameSpan {
            text: text[tokens[self.first].start..end]
                .trim_end_matches("'s")
                .to_owned(),
            is_acronym: self.words.len() == 1 && tokens[self.first].is_acronym,
            words: self.words,
        }
    }
}

/// Runs of capitalised words.
fn spans(text: &str, tokens: &[Token<'_>], language: Language) -> Vec<Span> {
    let is_name = |token: &Token<'_>| {
        (token.is_capital || token.is_mixed)
            && !is_never_a_name(
                token.text.strip_suffix("'s").unwrap_or(token.text),
                language,
            )
    };
    let mut spans: Vec<Span> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !is_name(&tokens[at]) {
            at += 1;
            continue;
        }
        let mut span = Span {
            first: at,
            last: at,
            words: vec![key(tokens[at].text)],
        };
        loop {
            let next = span.last + 1;
            let follows = |index: usize| {
                tokens.get(index).is_some_and(|token| {
                    let before = &tokens[index - 1];
                    let gap = &text[before.start + before.text.len()..token.start];
                    matches!(gap, " " | "\u{a0}" | "-" | " & " | "&")
                        || (gap == ". " && before.text.chars().nth(1).is_none())
                })
            };
            let is_over = tokens[span.last].text.ends_with("'s");
            if !is_over && follows(next) && is_name(&tokens[next]) {
                span.last = next;
            } else if !is_over
                && follows(next)
                && follows(next + 1)
                && CONNECTORS.contains(&tokens[next].text)
                && is_name(&tokens[next + 1])
            {
                span.last = next + 1;
            } else {
                break;
            }
            span.words.push(key(tokens[span.last].text));
        }
        at = span.last + 1;
        spans.push(span);
    }
    spans
}

fn key(word: &str) -> String {
    word.strip_suffix("'s").unwrap_or(word).to_lowercase()
}

/// Who says something without being anybody.
const NOBODY: &[&str] = &[
    "article",
    "articles",
    "report",
    "reports",
    "study",
    "studies",
    "source",
    "sources",
    "document",
    "documents",
    "result",
    "results",
    "data",
    "search",
    "official",
    "officials",
    "expert",
    "experts",
    "analyst",
    "analysts",
    "researcher",
    "researchers",
    "company",
    "website",
    "page",
    "file",
    "post",
    "team",
    "teams",
    "schedule",
    "user",
    "users",
    "author",
    "authors",
    "survey",
    "paper",
    "it",
    "he",
    "she",
    "they",
    "people",
    "someone",
    "everyone",
    "bericht",
    "artikel",
    "quelle",
    "quellen",
    "studie",
    "angaben",
    "experten",
    "article",
    "sources",
    "étude",
    "plan",
    "log",
    "logs",
    "output",
    "tool",
    "tools",
    "fixture",
    "fixtures",
    "excerpt",
    "calendar",
    "record",
    "records",
    "note",
    "notes",
    "message",
    "email",
    "memory",
    "information",
    "weather",
    "forecast",
    "database",
    "statement",
    "press",
    "release",
    "text",
    "summary",
    "critics",
    "customers",
    "developers",
    "both",
    "all",
    "many",
    "some",
    "others",
    "one",
    "this",
    "that",
    "latest",
    "recent",
    "new",
    "official",
    "provided",
    "available",
];

/// Those whom a text names as its source: `according to X`, `X reports`, `(X et al., 2024)`, `Source: X`.
pub(crate) fn attributions(text: &str, language: Language) -> Vec<NameSpan> {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:(?P<always>according to|as reported by|reported by|as stated by|as told to|cited by|citing|quoting|sourced? from|laut|nach angaben (?:von|der|des)|selon|d'après|según|secondo|segundo|de acordo com|volgens|enligt|ifølge|согласно|по данным)|(?P<named>per|via|source|sources|reference|references|quelle|fuente|fonte|credit|as per|published in|appeared in))(?:\s?:\s?|\s)")
            .expect("a fixed pattern")
    });
    static AUTHORS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\(?(?P<name>\p{Lu}[\p{L}'-]+) (?:et al\.?|(?:and|&) \p{Lu}[\p{L}'-]+,? \(?(?:19|20)[0-9]{2})|[(\[](?P<single>\p{Lu}[\p{L}'-]+),? (?:19|20)[0-9]{2}[a-z]?[)\]]")
            .expect("a fixed pattern")
    });
    static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:根据|据|按照)(?P<name>[\p{L}]{2,12}?)(?:的?(?:报道|报告|数据|消息|研究))")
            .expect("a fixed pattern")
    });
    let mut found: Vec<NameSpan> = Vec::new();
    for captures in BEFORE.captures_iter(text) {
        let end = captures.get(0).map_or(0, |whole| whole.end());
        found.extend(named_first(
            &text[end..],
            captures.name("always").is_some(),
            language,
        ));
    }
    for captures in AUTHORS.captures_iter(text) {
        let name = captures.name("name").or_else(|| captures.name("single"));
        let is_author = |name: &regex::Match<'_>| month(&name.as_str().to_lowercase()).is_none();
        found.extend(name.filter(is_author).map(|name| single(name.as_str())));
    }
    for captures in CHINESE.captures_iter(text) {
        found.extend(captures.name("name").map(|name| single(name.as_str())));
    }
    found.extend(speakers(text, language));
    let mut seen = std::collections::HashSet::new();
    found.retain(|span| !span.words.is_empty() && seen.insert(span.words.clone()));
    found
}

impl NameSpan {
    /// Takes what belongs to a name and begins with a small letter: `the Ministry of Culture`.
    fn go_on_in(&mut self, text: &str) {
        static MORE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^ (?:de la|de l'|du|des|de|of the|of|for|für|der|del|della) ?(?P<more>\p{Lu}[\p{L}'-]+)")
                .expect("a fixed pattern")
        });
        let behind = text
            .find(&self.text)
            .map(|at| &text[at + self.text.len()..]);
        if let Some(captures) = behind.and_then(|behind| MORE.captures(behind)) {
            self.text.push_str(&captures[0]);
            self.words.push(captures["more"].to_lowercase());
            self.is_acronym = false;
        }
    }
}

fn single(name: &str) -> NameSpan {
    NameSpan {
        text: name.to_owned(),
        words: vec![name.to_lowercase()],
        is_acronym: false,
    }
}

/// Whom the text after `according to` names.
fn named_first(after: &str, is_always: bool, language: Language) -> Option<NameSpan> {
    const FARTHEST: usize = 160;
    let end = after
        .char_indices()
        .take(FARTHEST)
        .find(|(_, character)| matches!(character, ',' | ';' | ')' | '\n' | '!' | '?' | ':' | '|'))
        .or_else(|| after.char_indices().nth(FARTHEST))
        .map_or(after.len(), |(at, _)| at);
    static TITLES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:(?:Dr|Prof|Mr|Mrs|Ms|Sr|Sra|Hr|Fr|St)\.\s+)+").expect("a fixed pattern")
    });
    let after = &after[..end];
    let after = &after[TITLES.find(after).map_or(0, |titles| titles.end())..];
    let after = after.find(". ").map_or(after, |at| &after[..at]);
    let tokens = tokens(after);
    let span = spans(after, &tokens, language).into_iter().find(|span| {
        // German writes every noun with a capital.
        span.words
            .iter()
            .any(|word| !NOBODY.contains(&word.as_str()))
    });
    let reach = if is_always { 6 } else { 1 };
    if let Some(span) = span.filter(|span| span.first <= reach) {
        let mut name = span.name(after, &tokens);
        name.go_on_in(after);
        return Some(name);
    }
    if !is_always {
        return None;
    }
    // A name in small letters.
    let stop_words = language.stop_words();
    let words: Vec<String> = tokens
        .iter()
        .take(3)
        .map(|token| key(token.text))
        .take_while(|word| {
            !matches!(
                word.as_str(),
                "that" | "which" | "and" | "in" | "from" | "on" | "about" | "has" | "is" | "was"
            )
        })
        .filter(|word| !stop_words.contains(word.as_str()) && !NOBODY.contains(&word.as_str()))
        .filter(|word| !word.contains(|character: char| character.is_numeric()))
        .collect();
    (!words.is_empty()).then(|| NameSpan {
        text: words.join(" "),
        words,
        is_acronym: false,
    })
}

/// Names before a verb of saying.
fn speakers(text: &str, language: Language) -> Vec<NameSpan> {
    const SAYS: &[&str] = &[
        "reports",
        "reported",
        "says",
        "said",
        "states",
        "stated",
        "claims",
        "claimed",
        "writes",
        "wrote",
        "announces",
        "announced",
        "confirms",
        "confirmed",
        "notes",
        "noted",
        "estimates",
        "estimated",
        "argues",
        "argued",
        "warns",
        "warned",
        "predicts",
        "predicted",
        "revealed",
        "reveals",
        "told",
        "quoted",
        "report",
        "say",
        "claim",
        "write",
        "berichtet",
        "berichtete",
        "meldet",
        "meldete",
        "sagt",
        "sagte",
        "schreibt",
        "schrieb",
        "rapporte",
        "affirme",
        "déclare",
        "dit",
        "informa",
        "informó",
        "dice",
        "dijo",
        "afirma",
        "afirmó",
        "riporta",
        "scrive",
        "meldt",
        "zegt",
    ];
    const BETWEEN: &[&str] = &[
        "has", "have", "also", "recently", "today", "hat", "a", "ha", "had",
    ];
    let tokens = tokens(text);
    spans(text, &tokens, language)
        .into_iter()
        .filter(|span| {
            let mut after = tokens[span.last + 1..]
                .iter()
                .take(3)
                .skip_while(|token| BETWEEN.contains(&token.text));
            let Some(verb) = after.next() else {
                return false;
            };
            let gap = &text[tokens[span.last].start + tokens[span.last].text.len()..verb.start];
            let finds = matches!(verb.text, "found" | "finds" | "shows" | "showed");
            let is_that = after.next().is_some_and(|next| next.text == "that");
            (SAYS.contains(&verb.text) || (finds && is_that))
                && !gap.contains(['.', ',', ';', ':', '!', '?', '\n', '('])
                && span
                    .words
                    .iter()
                    .any(|word| !NOBODY.contains(&word.as_str()))
        })
        .map(|span| span.name(text, &tokens))
        .collect()
}
