//! What an answer claims: its sentences, items, headings and cells, but for those that claim nothing.

use std::sync::LazyLock;

use regex::Regex;

use super::data::{COURTESIES, ENGLISH_STOP, GREETING, LISTED_HEADINGS, RESTRICTING};
use super::outline::{LineKind, key_of, outline};
use super::pieces::has_verb;
use super::reading::is_denied;
use super::text::{fixed, pattern, plain};

/// A sentence of the answer.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// As the answer has it.
    pub(super) shown: String,
    /// What it says: `Not is smoking allowed` of `Is smoking allowed? No.`
    pub(super) text: String,
    pub(super) kind: LineKind,
    /// The place of its line in the answer.
    pub(super) line: usize,
    /// The lines that it hangs under.
    pub(super) over: Vec<Above>,
    /// How many items hang under it.
    pub(super) n_below: usize,
}

/// A line that another one hangs under.
#[derive(Debug, Clone)]
pub(super) struct Above {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) part: Part,
}

/// What a line above is for those under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A heading, a lead-in, the first line of an item.
    Head,
    /// The head of a row or of a column.
    HeadCell,
    /// The head of the column in which the head of a row stands.
    Key,
    /// The sentence before, which names what the next one is about.
    Before,
}

/// The claims of an answer, without the sentences that fit one of `ignored`.
/// What `is_name` is no courtesy; what begins with a key (`is_key`) goes on about what was named before.
pub(super) fn claims(
    answer: &str,
    ignored: &[&Regex],
    is_name: impl Fn(&str) -> bool,
    is_key: impl Fn(&str) -> bool,
) -> Vec<Claim> {
    pattern!(
        PRONOUN,
        r"^(?i:he|she|it|its|his|her|their|they|neither|both|er|sie|ihre?|seine?|beide)\b"
    );
    pattern!(FOOTNOTE, r"\s?\[\^?\d{1,2}\]:?|\s?【\d[^】]*】");
    let lines = outline(answer);
    let mut claims = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        // A heading of a column is judged with its cells.
        if line.kind == LineKind::HeadCell {
            continue;
        }
        let sentence = FOOTNOTE.replace_all(&line.text[greeting(&line.text)..], "");
        let asked = at.checked_sub(1).map(|before| lines[before].text.as_str());
        let as_one = asked.and_then(|question| answered(question, &sentence));
        let shown = match (&as_one, asked) {
            (Some(_), Some(question)) => format!("{question} {sentence}"),
            _ => sentence.to_string(),
        };
        let sentence = as_one.as_deref().unwrap_or(&sentence);
        // `Her pulse is 394`, `The pulse is 394` and `City: Porto` are of what was named before.
        let goes_on = PRONOUN.is_match(sentence) || key_of(sentence).is_some();
        let before = line.before.filter(|_| goes_on || is_key(sentence));
        // What a row begins with is a value of its own column.
        let is_head = |at: &usize| lines[*at].kind == LineKind::HeadCell;
        let columns = line.over.iter().filter(|over| is_head(over));
        let columns = columns.filter_map(|over| lines[*over].over.last().filter(|at| is_head(at)));
        let columns: Vec<usize> = columns.copied().collect();
        let over = columns.iter().chain(&line.over).copied();
        let above = over.chain(before).map(|over| Above {
            text: lines[over].text.clone(),
            line: over,
            part: match lines[over].kind {
                _ if line.before == Some(over) => Part::Before,
                _ if columns.contains(&over) => Part::Key,
                LineKind::HeadCell => Part::HeadCell,
                _ => Part::Head,
            },
        });
        let is_ignored = ignored.iter().any(|ignored| ignored.is_match(sentence));
        if !is_ignored
            && !is_heading_only(sentence, line.kind)
            && (is_name(sentence) || !claims_nothing(sentence))
        {
            claims.push(Claim {
                shown,
                text: sentence.to_owned(),
                kind: line.kind,
                line: at,
                over: above.collect(),
                n_below: lines
                    .iter()
                    .filter(|below| below.over.last() == Some(&at))
                    .count(),
            });
        }
    }
    claims
}

/// What a question and its short answer say together: the clause of the question, with the sign of the answer and what is
/// added to that. An answer with a verb, or with `only`, says it itself.
fn answered(question: &str, sentence: &str) -> Option<String> {
    pattern!(
        SHORT,
        r"(?i)^\W*(?:A(?:nswer|ntwort)?: )?(?:(?P<yes>yes|yeah|yep|correct|indeed|absolutely|certainly|definitely|of course|ja|doch|genau|richtig|natürlich)|no|nope|not at all|nein)(?:\s*[,.:;!–—-]+\s*(?P<rest>.*?))?\W*$"
    );
    pattern!(LABEL, r"(?i)^\W*(?:(?:Q(?:uestion)?|Frage): )?");
    pattern!(
        OPEN,
        r"(?i)^(?:what|which|who|whose|whom|when|where|why|how|wer|wen|wem|welche[rsn]?|wann|wo|wie|warum)\b"
    );
    let question = LABEL.replace(question.trim_end_matches([' ', ')']).strip_suffix('?')?, "");
    let found = SHORT
        .captures(sentence)
        .filter(|_| !OPEN.is_match(&question))?;
    let rest = found.name("rest").map_or("", |rest| rest.as_str());
    let says_itself = (has_verb(rest) && !claims_nothing(rest))
        || rest
            .to_lowercase()
            .split(' ')
            .any(|word| RESTRICTING.contains(word));
    let is_denied = found.name("yes").is_none() && !is_denied(rest);
    let not = match is_denied {
        true if sentence.to_lowercase().contains("nein") => "Nicht ",
        true => "Not ",
        false => "",
    };
    (!says_itself).then(|| format!("{not}{question} {rest}").trim_end().to_owned())
}

/// How long the greeting is with which a sentence begins.
fn greeting(sentence: &str) -> usize {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| fixed(&format!("(?i){GREETING}")));
    PATTERN.find(sentence).map_or(0, |found| found.end())
}

/// Whether a sentence is a question, a greeting, an offer, an apology.
pub(super) fn claims_nothing(sentence: &str) -> bool {
    static COURTESY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let patterns = COURTESIES.iter();
        patterns
            .map(|pattern| fixed(&format!("(?i)^(?:{pattern})$")))
            .collect()
    });
    pattern!(FACT, r"\d|\b(?:but|however|aber)\b");
    pattern!(
        ASKS,
        r"^(?:if|is|are|am|was|were|do|does|did|can|could|would|should|shall|will|may|might|have|has|had|what|which|who|whose|when|where|why|how|any|anything|or|and|so|but|wenn|ist|sind|war|soll|sollen|kann|können|darf|möchten?|haben?|hat|was|wer|welche[rs]?|wann|wo|wie|warum|oder|und)\b"
    );
    let text = plain(sentence);
    let has_word = text.contains(|letter: char| letter.is_alphanumeric());
    let is_question = sentence.trim_end_matches([' ', '*', ')']).ends_with('?');
    // `It costs 13 EUR, OK?` and `Mail of Tara: Lunch on Friday?` claim something.
    let (label, asked) = text.rsplit_once(": ").unwrap_or(("", &text));
    let has_digit = text.contains(|letter: char| letter.is_ascii_digit());
    let is_told = (has_digit || !label.is_empty()) && !ASKS.is_match(asked);
    if !has_word || (is_question && !is_told) {
        return true;
    }
    const LONGEST_COURTESY: usize = 180;
    text.len() <= LONGEST_COURTESY
        && !FACT.is_match(&text)
        && COURTESY.iter().any(|courtesy| courtesy.is_match(&text))
}

/// Whether a line is a heading of listed words, such as `Next steps`.
fn is_heading_only(sentence: &str, kind: LineKind) -> bool {
    let text = plain(sentence);
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    let is_head = kind == LineKind::Heading || sentence.trim_end().ends_with(':');
    is_head
        && words.all(|word| {
            word.is_empty() || LISTED_HEADINGS.contains(word) || ENGLISH_STOP.contains(word)
        })
}
