//! How many sentences a text has.

use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation as _;

/// An end of a sentence that Unicode's rules don't see, since they want a capital letter after a full stop.
static LOWER_AFTER_STOP: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(\S+)\.["')\]”’]*\s+\p{Ll}"#).expect("a fixed pattern"));

/// Links, and sources in brackets: what stands alone after a sentence is none.
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\([^()]*[^().!?\s]\)|\[[^\[\]]*[^\[\].!?\s]\]|\b[a-z][a-z0-9+.-]*://\S*[^\s.!?,;:)]",
    )
    .expect("a fixed pattern")
});

/// What may follow an abbreviation and still begins a new sentence.
const BEGINNINGS: &[&str] = &[
    "a", "also", "an", "and", "but", "he", "however", "i", "if", "in", "it", "its", "she", "so",
    "that", "the", "then", "there", "these", "they", "this", "we", "when", "you",
];

/// Abbreviations before names and numbers: no sentence ends with them.
const BEFORE_NAMES: &[&str] = &[
    "capt", "col", "dr", "drs", "fig", "gen", "gov", "hr", "hrsg", "lt", "mr", "mrs", "ms", "mt",
    "no", "nr", "pres", "prof", "rep", "rev", "sen", "sgt", "sr", "sra", "st", "vol", "vs",
];

/// Abbreviations in the middle of a sentence.
const IN_SENTENCES: &[&str] = &[
    "approx", "bzw", "ca", "cf", "co", "corp", "dept", "ed", "eds", "eg", "est", "etc", "evtl",
    "ggf", "ie", "inc", "incl", "jr", "ltd", "max", "min", "p", "pp", "resp", "usw", "vgl", "viz",
];

/// Counts the sentences of `text`: by Unicode's rules, without the ends that abbreviations and initials only
/// seem to be, and with those before a small letter. No sentence goes over a line break. Nothing but signs or
/// sources is none.
pub(super) fn count_sentences(text: &str) -> usize {
    text.lines().map(count_in_line).sum()
}

fn count_in_line(line: &str) -> usize {
    let mut count = 0;
    let mut open = false;
    let line = SOURCE.replace_all(line, "");
    let mut parts = line.unicode_sentences().peekable();
    while let Some(part) = parts.next() {
        open |= part.contains(char::is_alphanumeric);
        count += stops_before_small_letters(part);
        let goes_on = parts
            .peek()
            .is_some_and(|next| is_abbreviation_before(part, next));
        if open && !goes_on {
            count += 1;
            open = false;
        }
    }
    count + usize::from(open)
}

fn stops_before_small_letters(part: &str) -> usize {
    LOWER_AFTER_STOP
        .captures_iter(part)
        .filter(|captures| {
            let word = captures.get(1).map_or("", |word| word.as_str());
            let word = word.trim_start_matches(|character: char| !character.is_alphanumeric());
            let folded = word.to_lowercase();
            let has_stops = word.contains('.');
            let is_initial = word.chars().count() <= 1;
            let is_known = IN_SENTENCES.contains(&&*folded) || BEFORE_NAMES.contains(&&*folded);
            let is_number = word.chars().all(char::is_numeric);
            !(has_stops || is_initial || is_known || is_number || word.is_empty())
        })
        .count()
}

/// Whether `part` ends with an abbreviation or initials and `next` goes on with the sentence.
fn is_abbreviation_before(part: &str, next: &str) -> bool {
    let Some(stem) = part.trim_end().strip_suffix('.') else {
        return false;
    };
    let word = stem
        .rsplit(|character: char| character.is_whitespace() || matches!(character, '(' | '"' | '“'))
        .next()
        .unwrap_or_default();
    let folded = word.to_lowercase();
    if BEFORE_NAMES.contains(&&*folded) {
        return true;
    }
    let is_initials = word.split('.').all(|part| {
        let mut letters = part.chars();
        letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
    });
    let first_of_next: String = next
        .trim_start()
        .chars()
        .take_while(|character| character.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    (is_initials || IN_SENTENCES.contains(&&*folded))
        && folded != "i"
        && !BEGINNINGS.contains(&&*first_of_next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_as_people_count_them() {
        for (text, expected) in [
            ("", 0),
            ("...", 0),
            ("One", 1),
            ("One.", 1),
            ("One. Two.", 2),
            ("One! Two? Three", 3),
            ("it works. then it failed.", 2),
            ("Dr. Smith met Mrs. Jones.", 1),
            ("J. R. R. Tolkien wrote it.", 1),
            ("The U.S. Senate voted.", 1),
            ("It is in the U.S. The rest is not.", 2),
            ("Prices, e.g. of oil, rose by approx. five percent.", 1),
            ("Growth was 4.5 percent in v1.2 of example.com.", 1),
            ("Acme Inc. Reports profit.", 1),
            ("Acme Inc. The firm grew.", 2),
            ("He said \"No.\" Then he left.", 2),
            ("Really?! Yes.", 2),
            ("第一句。第二句。", 2),
            ("Это раз. Это два.", 2),
            ("One\nTwo", 2),
            ("So do I. You too.", 2),
            ("See No. 5 for more.", 1),
            ("Sales rose. (Reuters)", 1),
            ("Sales rose. [1] [2]", 1),
            ("Sales rose. https://example.com/a", 1),
            ("Sales rose. (They fell before.)", 2),
            ("Sales (in euro) rose", 1),
            ("See https://example.com/a. It is new.", 2),
        ] {
            assert_eq!(count_sentences(text), expected, "{text:?}");
        }
    }
}
