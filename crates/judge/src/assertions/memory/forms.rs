//! Forms that a remembered preference asks for, and whether an output has them.

use std::sync::LazyLock;

use regex::Regex;

use crate::assertions::format::inside_fence;
use crate::blocks::{self, Marker, item, tables};
use crate::prove::{ProofLanguage, number_word, sentences};
use crate::text::{detect, fold, language_called, words};
use cuecard_source::value::Json;

/// Whether a fact states forms, and whether the output has them.
#[derive(Debug, PartialEq)]
pub(super) enum FormFinding {
    /// It has all of them, which are named.
    Honoured(Vec<String>),
    /// It lacks one.
    Broken(String),
    /// The fact states something that can't be tested.
    Unknown(String),
    /// The fact states no form.
    NoForm,
}

/// More words are not brief.
const MOST_BRIEF_WORDS: usize = 150;
/// More words in a bullet or a paragraph are not brief.
const MOST_BRIEF_BLOCK: usize = 60;

macro_rules! patterns {
    ($($name:ident = $pattern:literal;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new(concat!("(?i)", $pattern)).expect("a fixed pattern"));)*
    };
}

patterns! {
    ABOUT_OUTPUT = r"\b(?:respon\w+|answer\w*|repl(?:y|ies)|output\w*|messages?|summar\w+|format\w*|written|writes?|write|explanations?|digests?|reports?|prefer\w*|style|be|keep|use|uses|in|as|wants?|likes?|only|no|never|antworten|antworte\w*|réponses?|respuestas?)\b";
    NO_BULLETS = r"\b(?:no|not|never|without|avoid\w*|don't|dislikes?|hates?|keine|ohne)\b[^.;,]{0,30}\b(?:bullet\w*|lists?|stichpunkt\w*|aufzählung\w*)";
    ONLY_BULLETS = r"\bbullets?[- ]only\b|\bonly\b[^.;,]{0,20}\bbullet|\bbullets? (?:points? )?only\b|\bnur\b[^.;,]{0,20}\bstichpunkt";
    BULLETS = r"\bbullet(?:ed|s)?\b|\bbullet[- ]?points?\b|\bstichpunkt\w*|\bpuces\b|\bviñetas\b";
    NUMBERED = r"\bnumbered\b|\bnummeriert\w*";
    BRIEF = r"\b(?:brief(?:ly)?|short(?:er|est)?|concise(?:ly)?|terse(?:ly)?|succinct(?:ly)?|to the point|kurz\w*|knapp\w*|bref|brève\w*|concis\w*|breves?|corta\w*)\b";
    JSON = r"\bjson\b";
    TABLE = r"\b(?:markdown )?tables?\b|\btabelle\b";
    NO_EMOJI = r"\b(?:no|not|never|without|avoid\w*|don't|dislikes?|hates?|free of|keine|ohne|sans|sin)\b[^.;,]{0,30}\bemojis?\b|\bemoji[- ]free\b";
    EMOJI = r"\bemojis?\b";
    COUNTED = r"\b(?P<bound>at most|at least|no more than|up to|under|max(?:imum)?(?: of)?|fewer than|less than|exactly|höchstens|mindestens)?\s*(?:a |the )?(?P<count>[0-9]{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|single|ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)[- ](?:\w+[- ]){0,2}?(?P<thing>paragraphs?|sentences?|bullets?|bullet points?|words?|lines?|items|absätze\w*|absatz|sätze\w*|satz|wörter\w*|zeilen?|stichpunkte\w*)\b";
    MANNER = r"\b(?:tone|formal(?:ly)?|informal|polite(?:ly)?|friendly|casual(?:ly)?|humou?r\w*|funny|warm|professional(?:ly)?|detailed|thorough|simple|simply|plain language|non-technical|technical|jargon|metric|imperial|style)\b";
}

/// Looks for every form that the fact states.
pub(super) fn check_forms(fact: &str, output: &str) -> FormFinding {
    let fact = fold(fact);
    let output = output.trim();
    let mut honoured: Vec<String> = Vec::new();
    let mut unknown: Option<String> = None;
    for result in forms(&fact, output) {
        match result {
            Ok(form) => honoured.push(form),
            Err(Some(reason)) => return FormFinding::Broken(reason),
            Err(None) => unknown = Some("its language can't be told".to_owned()),
        }
    }
    match unknown {
        Some(reason) => FormFinding::Unknown(reason),
        None if !honoured.is_empty() => FormFinding::Honoured(honoured),
        None if ABOUT_OUTPUT.is_match(&fact) && MANNER.is_match(&fact) => {
            FormFinding::Unknown("a manner of speaking can't be tested".to_owned())
        }
        None => FormFinding::NoForm,
    }
}

/// For each form stated: its name, or why the output lacks it, or nothing if that can't be told.
fn forms(fact: &str, output: &str) -> Vec<Result<String, Option<String>>> {
    let mut forms = Vec::new();
    // A fact that only mentions a table or a language is about something else.
    if !ABOUT_OUTPUT.is_match(fact) && !ONLY_BULLETS.is_match(fact) && !COUNTED.is_match(fact) {
        return forms;
    }
    let shape = Shape::of(output);
    let mut test = |holds: bool, form: &str, otherwise: &str| {
        forms.push(match holds {
            true => Ok(form.to_owned()),
            false => Err(Some(otherwise.to_owned())),
        });
    };
    let asks = |form: &Regex| form.is_match(fact);
    let Shape {
        bullets,
        other_lines,
        ..
    } = shape;
    let lines = format!("{bullets} bullets and {other_lines} other lines");
    if asks(&NO_BULLETS) {
        test(
            bullets == 0,
            "no bullets",
            &format!("it has {bullets} bullets"),
        );
    } else if asks(&ONLY_BULLETS) {
        test(bullets > 0 && other_lines == 0, "bullets only", &lines);
    } else if asks(&BULLETS) {
        test(bullets > 0 && bullets >= other_lines, "bullets", &lines);
    }
    if asks(&NUMBERED) {
        let seen = format!("{} numbered entries", shape.numbered);
        test(shape.numbered > 1, "a numbered list", &seen);
    }
    if asks(&BRIEF) {
        let (words, longest) = (shape.words, shape.longest_block);
        let seen = format!(
            "{words} words, {longest} in the longest paragraph; brief is at most {MOST_BRIEF_WORDS} and {MOST_BRIEF_BLOCK}"
        );
        test(
            words <= MOST_BRIEF_WORDS && longest <= MOST_BRIEF_BLOCK,
            "brief",
            &seen,
        );
    }
    if asks(&JSON) {
        let is_json = serde_json::from_str::<Json>(inside_fence(output)).is_ok();
        test(is_json, "JSON", "it is not JSON");
    } else if asks(&TABLE) {
        let has_table = tables(&blocks::lines(output)).iter().any(Result::is_ok);
        test(has_table, "a table", "it has no table");
    }
    let emoji = output.chars().find(|character| is_emoji(*character));
    if asks(&NO_EMOJI) {
        let seen = format!("it has `{}`", emoji.unwrap_or(' '));
        test(emoji.is_none(), "no emoji", &seen);
    } else if asks(&EMOJI) {
        test(emoji.is_some(), "emoji", "it has no emoji");
    }
    for captures in COUNTED.captures_iter(fact) {
        let count = captures["count"].to_lowercase();
        let number = count
            .parse()
            .ok()
            .or_else(|| matches!(count.as_str(), "single" | "ein").then_some(1.0))
            .or_else(|| number_word(&count, Some(ProofLanguage::English)))
            .or_else(|| number_word(&count, Some(ProofLanguage::German)))
            .map(|number: f64| number as usize);
        let Some(number) = number else { continue };
        let thing = captures["thing"].to_lowercase();
        let seen = match thing.chars().next() {
            Some('p' | 'a') => shape.paragraphs,
            Some('w') => shape.words,
            Some('b' | 'i') => shape.bullets,
            Some('l' | 'z') => shape.lines,
            _ if thing.starts_with("stich") => shape.bullets,
            _ => shape.sentences,
        };
        let bound = captures
            .name("bound")
            .map_or("", |bound| bound.as_str())
            .to_lowercase();
        let holds = match bound.as_str() {
            "at least" | "mindestens" => seen >= number,
            "under" | "fewer than" | "less than" => seen < number,
            // Nobody counts words to the last one.
            "" if thing.starts_with('w') => seen <= number,
            "" | "exactly" => seen == number,
            _ => seen <= number,
        };
        let form = captures[0].trim();
        test(holds, form, &format!("{seen} {thing}, expected {form}"));
    }
    for word in words(fact) {
        let Some(wanted) = language_called(word.as_str()) else {
            continue;
        };
        forms.push(match detect(output) {
            Some((seen, _)) if seen == wanted => Ok(wanted.eng_name().to_owned()),
            Some((seen, true)) => Err(Some(format!("it is in {}", seen.eng_name()))),
            _ => Err(None),
        });
    }
    forms
}

/// What an output looks like.
#[derive(Default)]
struct Shape {
    /// Bullets, numbered ones included.
    bullets: usize,
    numbered: usize,
    /// Lines that belong to no bullet.
    other_lines: usize,
    lines: usize,
    paragraphs: usize,
    sentences: usize,
    words: usize,
    longest_block: usize,
}

impl Shape {
    fn of(output: &str) -> Self {
        let mut shape = Self {
            words: words(output).count(),
            ..Self::default()
        };
        let mut block = 0;
        let mut in_bullet = false;
        let mut in_paragraph = false;
        for line in output.lines() {
            if line.trim().is_empty() {
                (block, in_bullet, in_paragraph) = (0, false, false);
                continue;
            }
            shape.lines += 1;
            let count = words(line).count();
            if let Some((marker, _, text)) = item(line.trim()) {
                shape.bullets += 1;
                shape.numbered += usize::from(marker != Marker::Bullet);
                shape.sentences += sentences(text).len();
                (block, in_bullet, in_paragraph) = (count, true, false);
            } else {
                block += count;
                let goes_on = in_bullet && line.starts_with([' ', '\t']);
                if !goes_on {
                    in_bullet = false;
                    shape.other_lines += 1;
                    shape.sentences += sentences(line).len();
                    if !in_paragraph && !line.trim_start().starts_with('#') {
                        shape.paragraphs += 1;
                        in_paragraph = true;
                    }
                }
            }
            shape.longest_block = shape.longest_block.max(block);
        }
        shape
    }
}

fn is_emoji(character: char) -> bool {
    matches!(u32::from(character),
        0x1f300..=0x1faff | 0x2600..=0x26ff | 0x2705 | 0x2728 | 0x274c | 0x2753..=0x2757 | 0x2764 | 0x1f1e6..=0x1f1ff | 0x2b50 | 0x2b55 | 0x231a..=0x231b | 0x23e9..=0x23f3)
}
