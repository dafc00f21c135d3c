//! Folding, stems, languages, sentences and clauses.

use std::sync::LazyLock;

use cuecard_source::value::is_invisible;
use icu_normalizer::ComposingNormalizerBorrowed;
use regex::Regex;
use rust_stemmers::{Algorithm, Stemmer};

use super::data::{
    ABBREVIATIONS, ENGLISH_CLAUSES, ENGLISH_STOP, GERMAN_CLAUSES, OTHER_LANGUAGES, RESTRICTING,
    words_of,
};

/// A language with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    English,
    German,
}

/// A regular expression that is fixed.
pub(super) fn fixed(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is fixed")
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::prove::text::fixed($pattern));
    };
}
pub(super) use pattern;

/// What stands for a cross before a text in a folded one: `❌ cancelled` and `❌ paid` deny in two ways.
pub(super) const UNKNOWN_SIGN: char = '✖';

/// A text in one form: compatible characters, plain quotes, spaces and signs, `yes` and `no` for their pictures.
pub(crate) fn fold(text: &str) -> String {
    pattern!(
        DECORATED,
        r#"(?i)[❌✗✘][^\n|,;]*(?:\b(?:not|no|never|nicht|kein\w*)\b|n't)|\bnot(?: \w+)? [❌✗✘]|(?P<mark>[❌✗✘])[ \t]*[\p{L}\d"*_]"#
    );
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(text);
    let is_crossed = normal.contains(['❌', '✗', '✘']);
    // Beside a text that denies, the picture denies nothing more; before another one nobody knows.
    let normal = match is_crossed {
        true => {
            let bare = |found: &regex::Captures<'_>| match found.name("mark") {
                Some(mark) => found[0].replacen(mark.as_str(), &UNKNOWN_SIGN.to_string(), 1),
                None => found[0].replace(['❌', '✗', '✘'], "✅"),
            };
            DECORATED.replace_all(&normal, bare).into_owned().into()
        }
        false => normal,
    };
    let mut folded = String::with_capacity(normal.len());
    let mut letters = normal.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                if letters.peek() != Some(&'\n') {
                    folded.push('\n');
                }
            }
            '✅' | '✔' | '✓' | '☑' => folded.push_str(" yes "),
            '❌' | '✗' | '✘' => folded.push_str(" no "),
            hidden if is_invisible(hidden) => {}
            '“' | '”' | '„' | '‟' | '«' | '»' => folded.push('"'),
            '‘' | '’' | '‚' | '´' | '`' => {
                folded.push(if letter == '`' { '`' } else { '\'' });
            }
            '−' | '‐' => folded.push('-'),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => folded.push(' '),
            other => folded.push(other),
        }
    }
    folded
}

/// A folded text to compare as a whole: lower case, single spaces, no marks of Markdown, no punctuation around it.
pub(super) fn plain(text: &str) -> String {
    pattern!(
        MARKS,
        r"[*`]{1,3}|(?m:^#+ )|\b_+\B|\B_+\b|(?:^|\s)_+|_+(?:\s|$)"
    );
    let folded = fold(text);
    let bare = MARKS.replace_all(&folded, |found: &regex::Captures<'_>| {
        match found[0].contains(char::is_whitespace) && !found[0].contains('#') {
            true => " ",
            false => "",
        }
    });
    let words: Vec<&str> = bare.split_whitespace().collect();
    let joined = words.join(" ");
    joined
        .trim_matches(|letter: char| " .,;:!?-–—\"'".contains(letter))
        .to_lowercase()
}

/// A word without its ending.
pub(super) fn stem(word: &str, language: Option<Language>) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    static GERMAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::German));
    let lower = word.to_lowercase();
    match language {
        // As keys have them.
        Some(Language::English) => match lower.as_str() {
            "maximum" => "max".to_owned(),
            "minimum" => "min".to_owned(),
            "average" => "avg".to_owned(),
            "temperature" | "temperatures" => "temp".to_owned(),
            "quantity" => "qty".to_owned(),
            "memory" => "mem".to_owned(),
            _ => ENGLISH.stem(&lower).into_owned(),
        },
        Some(Language::German) => {
            // Keys are written without them: `hoehe`.
            let plain = [("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")];
            let lower = plain
                .iter()
                .fold(lower, |word, (from, to)| word.replace(from, to));
            GERMAN.stem(&lower).into_owned()
        }
        None => lower,
    }
}

/// The language of a text; `fallback` if nothing tells. None is a language without data.
pub(super) fn language(text: &str, fallback: Option<Language>) -> Option<Language> {
    let is_foreign = |letter: char| matches!(letter, 'а'..='я' | 'А'..='Я' | '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{600}'..='\u{6ff}');
    if text.contains(is_foreign) {
        return None;
    }
    let lower = text.to_lowercase();
    let (mut english, mut german, mut other) = (0, 0, 0);
    let words = |language| words_of(language);
    let (of_english, of_german) = (words(Language::English), words(Language::German));
    for word in lower.split(|letter: char| !letter.is_alphabetic()) {
        if word.is_empty() {
            continue;
        }
        english += usize::from(of_english.stop.contains(word) || of_english.not.contains(word));
        german += usize::from(of_german.stop.contains(word) || of_german.not.contains(word));
        other += usize::from(OTHER_LANGUAGES.contains(word));
    }
    // One word may be a name: Uma, Les.
    if other == 1 {
        other = 0;
    }
    if english >= german && english >= other {
        return if english > 0 {
            Some(Language::English)
        } else {
            fallback
        };
    }
    match german >= other {
        true => Some(Language::German),
        false => None,
    }
}

/// The sentences of a text, without those of its lines that are empty.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    pattern!(END, r#"[.!?…]+["')\]]*|[。！？؟⁇⁈‽]+|\n+"#);
    pattern!(LAST, r"([\w.]+)\.$");
    pattern!(
        GOES_ON,
        r"^\s+[a-zäöü]|^\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)"
    );
    let (mut found, mut start) = (Vec::new(), 0);
    for end in END.find_iter(text) {
        let rest = &text[end.end()..];
        let is_line = end
            .as_str()
            .starts_with(['\n', '。', '！', '？', '؟', '⁇', '⁈', '‽']);
        // `"Lunch on Friday?" is from Tara.`
        let goes_on = end.as_str().ends_with(['"', '?', '!']);
        if goes_on && rest.trim_start().starts_with(char::is_lowercase) {
            continue;
        }
        if !is_line && !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        if end.as_str().starts_with('.')
            && let Some(word) = LAST.captures(text[..end.end()].trim_end())
        {
            let word = &word[1];
            // `The plan is B. It`, but `J. R. R. Tolkien`
            let next = rest
                .trim_start()
                .split(|letter: char| !letter.is_alphabetic())
                .next();
            let next = next.unwrap_or_default().to_lowercase();
            let is_word =
                ENGLISH_STOP.contains(next.as_str()) || RESTRICTING.contains(next.as_str());
            let is_letter = word.len() == 1
                && word.bytes().all(|byte| byte.is_ascii_uppercase())
                && !(is_word || matches!(next.as_str(), "shall" | "will" | "let"));
            let is_day = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
            // `22 °C. It` and `9 a.m. It` end.
            let lower = word.to_lowercase();
            let begins = rest.trim_start().starts_with(char::is_uppercase);
            let may_end = match lower.as_str() {
                "a.m" | "p.m" | "etc" => true,
                "inc" | "ltd" | "co" | "u.s" => is_word,
                _ => false,
            };
            let is_degree = text[..end.start()]
                .trim_end_matches(char::is_alphabetic)
                .ends_with('°');
            if is_degree || (may_end && begins) {
                found.push(&text[start..end.end()]);
                start = end.end();
                continue;
            }
            if ABBREVIATIONS.contains(lower.as_str())
                || is_letter
                || (is_day && GOES_ON.is_match(rest))
            {
                continue;
            }
        }
        found.push(&text[start..end.end()]);
        start = end.end();
    }
    found.push(&text[start..]);
    let trimmed = found.into_iter().map(str::trim);
    trimmed.filter(|sentence| !sentence.is_empty()).collect()
}

/// The clauses of a sentence.
pub(super) fn clauses(text: &str, language: Option<Language>) -> Vec<&str> {
    pattern!(ENGLISH, ENGLISH_CLAUSES);
    pattern!(GERMAN, GERMAN_CLAUSES);
    let between = match language {
        Some(Language::German) => &GERMAN,
        _ => &ENGLISH,
    };
    let parts = between
        .split(text)
        .map(|part| part.trim_matches([' ', ',']));
    parts.filter(|part| !part.is_empty()).collect()
}

/// A place in a text as one that may be in no text: what was taken from elsewhere stands before all.
pub(super) fn place(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// A part of a text between two byte offsets, which are moved to characters, and where it begins.
pub(super) fn part(text: &str, from: i64, to: i64) -> (usize, &str) {
    let bound =
        |at: i64| text.floor_char_boundary(usize::try_from(at.max(0)).unwrap_or(usize::MAX));
    let (from, to) = (bound(from), bound(to));
    (from, text.get(from..to).unwrap_or_default())
}

/// Whether most words of a text begin with a capital letter.
pub(super) fn is_title(text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    let words = words
        .filter(|word| !word.is_empty() && !ENGLISH_STOP.contains(word.to_lowercase().as_str()));
    let (mut count, mut capitals) = (0_usize, 0_usize);
    for word in words {
        count += 1;
        capitals += usize::from(word.starts_with(char::is_uppercase));
    }
    count > 1 && capitals * 10 >= count * 8
}
