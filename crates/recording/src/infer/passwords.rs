//! Secrets that a prompt calls so: `the password is hunter2-blue`.

use std::sync::LazyLock;

use cuecard_source::value::{SHORTEST_SECRET, names_credential};
use regex::{Captures, Regex};

/// Names of secrets that are other words, too: they name one before a colon or a word such as `is`.
const SHORT_NAMES: &[&str] = &["pass", "pin", "pw"];

/// How much of a prompt is looked at before and behind the name of a secret, in bytes.
const NEAR: usize = 500;

/// A text in quotes, or a word.
const VALUE: &str =
    r#"[(\[{<*]*(?:["“‘'`«「『](?P<quoted>[^"”’'`»」』\n]{4,200})["”’'`»」』]|(?P<word>\S+))"#;

/// What a sentence says of a secret without giving it, beside words such as `required` and `missing`.
const STATES: &str = "about already also always correct different empty from given here hidden incorrect invalid just known like long \
    never none null only optional part plain private public random reset safe same secret short shown simple still strong that \
    their there this unknown valid very weak what with wrong your";

/// A secret in a prompt.
#[derive(Debug, PartialEq)]
pub(super) struct PromptSecret<'t> {
    pub(super) text: &'t str,
    /// Whether it may be a word of the sentence.
    pub(super) is_plain: bool,
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is fixed")
}

/// What a prompt calls a password, a token or the like.
pub(super) fn secrets_in(prompt: &str) -> Vec<PromptSecret<'_>> {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?:^|[\s"'`“‘«(\[{<*])([\w-]*\w)"#));
    /// `… of ann is X`, `… should be X`, `…: X`, `… X`.
    static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
        let link = r"\s*[:=]|\s+[-–]|\s+(?:are|be|equals|es|est|from|is|ist|lautet|now|should|still|to|was|will)\b";
        let owner = r"\s+(?:at|for|from|in|of|on)(?:\s+\S*[^\s.!?;]){1,6}?";
        let start = r#"^(?:['’]s|["'”’*,]+)?"#;
        regex(&format!(
            r"{start}(?:(?P<links>(?:{owner})?(?:{link})+)\s*|\s+){VALUE}"
        ))
    });
    /// `X as the …`, `X is my …`.
    static BEFORE: LazyLock<Regex> =
        LazyLock::new(|| regex(&format!(r"{VALUE}\s+(?:as|is)\s+(?:\S+\s+){{0,2}}$")));
    /// `with the …`.
    static GIVES: LazyLock<Regex> =
        LazyLock::new(|| regex(r"\b(?:using|with)\s+(?:(?:a|my|the)\s+)*$"));
    let (mut found, mut before) = (Vec::new(), "");
    for name in NAMES.captures_iter(prompt).filter_map(|name| name.get(1)) {
        let word = name.as_str();
        let is_short = SHORT_NAMES.contains(&word.to_lowercase().as_str());
        let is_name = names_credential(word) || names_credential(&format!("{before} {word}"));
        before = word;
        if !(is_name || is_short) {
            continue;
        }
        let start = prompt.ceil_char_boundary(name.start().saturating_sub(NEAR));
        let (head, rest) = (&prompt[start..name.start()], &prompt[name.end()..]);
        let rest = &rest[..rest.floor_char_boundary(NEAR)];
        if let Some(behind) = BEHIND.captures(rest) {
            let links = behind.name("links").map_or("", |links| links.as_str());
            let mut words = links.split_whitespace();
            let is_linked =
                !links.is_empty() && (is_short || !words.any(|word| matches!(word, "to" | "from")));
            let end = behind.get(0).map_or("", |all| &rest[all.end()..]);
            found.extend(secret_of(&behind, |text, written, has_mark| {
                let is_number = !text.contains(char::is_alphabetic);
                let ends = !written.ends_with(text)
                    || end.trim_start_matches(' ').is_empty()
                    || end.starts_with('\n');
                match is_linked {
                    true => is_number || has_mark || !is_state(text),
                    false if is_number || !is_name => false,
                    false => {
                        has_mark
                            || (ends && GIVES.is_match(head) && links.is_empty() && !is_state(text))
                    }
                }
            }));
        }
        if let Some(used) = BEFORE.captures(head).filter(|_| is_name) {
            found.extend(secret_of(&used, |_, _, has_mark| has_mark));
        }
    }
    found.extend(without_spaces(prompt));
    found
}

/// The secret of a match: what is in quotes, or a word that `is_one`, by its text, how it is written, and whether it has
/// what plain words have not.
fn secret_of<'t>(
    found: &Captures<'t>,
    is_one: impl FnOnce(&str, &str, bool) -> bool,
) -> Option<PromptSecret<'t>> {
    if let Some(quoted) = found.name("quoted") {
        let text = quoted.as_str();
        return Some(PromptSecret {
            text,
            is_plain: false,
        });
    }
    let written = found.name("word")?.as_str();
    let text = bare(written);
    let has_mark = is_marked(text);
    let is_long = text.chars().count() >= SHORTEST_SECRET && text.contains(char::is_alphanumeric);
    (is_long && is_one(text, written, has_mark)).then_some(PromptSecret {
        text,
        is_plain: !has_mark,
    })
}

/// What a prompt without spaces between words calls a password: `パスワードはhunter2です`.
fn without_spaces(prompt: &str) -> impl Iterator<Item = PromptSecret<'_>> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?:パスワード|暗証番号|密码|密碼|口令|비밀번호)\s*(?:は|が|を|是|为|為|는|은|：|:|=)\s*[「『“]?([!-~]{4,})",
        )
    });
    let found = NAMED.captures_iter(prompt).filter_map(|found| found.get(1));
    found.map(|found| PromptSecret {
        text: bare(found.as_str()),
        is_plain: false,
    })
}

/// Whether a word says of a secret how it is, without giving it.
pub(super) fn is_state(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_form = ["able", "ed", "ing"].iter().any(|end| word.ends_with(end));
    is_form || STATES.split_whitespace().any(|state| state == word)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let word = word
        .trim()
        .trim_start_matches(|letter: char| "\"'`“‘«([{<*".contains(letter))
        .trim_end_matches(|letter: char| "\"'`”’»)]}>.,:;!?=*".contains(letter));
    word.strip_suffix("'s")
        .or(word.strip_suffix("’s"))
        .unwrap_or(word)
}

/// Whether a word has what plain words have not: digits, capitals inside of it, other signs.
fn is_marked(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next();
    word.contains(|letter: char| {
        letter.is_ascii_digit() || !(letter.is_alphanumeric() || "-.'’/".contains(letter))
    }) || letters.any(char::is_uppercase) && word.contains(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::{PromptSecret, secrets_in};

    #[test]
    fn what_a_prompt_calls_a_secret_is_one() {
        let found = |prompt: &str| {
            let found = secrets_in(prompt).into_iter();
            let shown = found.map(|PromptSecret { text, is_plain }| match is_plain {
                true => format!("{text}?"),
                false => text.to_owned(),
            });
            shown.collect::<Vec<String>>().join(" ")
        };
        for (prompt, expected) in [
            ("Log in. The password is hunter2-blue.", "hunter2-blue"),
            (
                "log in as ann with password hunter2-blue, then go",
                "hunter2-blue",
            ),
            (
                "The password for ann@example.org is hunter2-blue",
                "hunter2-blue",
            ),
            ("Set the token to aB3dE6", "aB3dE6"),
            ("my API key: k-11-22", "k-11-22"),
            ("use hunter2 as the password", "hunter2"),
            ("the password is \"two words\"", "two words"),
            ("the password should be swordfish", "swordfish?"),
            (
                "the password is correct-horse-battery",
                "correct-horse-battery?",
            ),
            ("If the password is wrong, ask.", ""),
            ("Fix the token parser in src/auth.rs", ""),
            ("Raise the token limit to 4096", ""),
            ("I forgot the password. It is Monday-2026 today", ""),
            ("Write a test for password reset", ""),
            ("Use the API key to list all of them", ""),
            ("The token is generated by the server", ""),
            ("password - 'two words'", "two words"),
            ("Password: correcthorse", "correcthorse?"),
            ("Log in with the password correcthorse.", "correcthorse?"),
            ("Add a page with password reset links", ""),
            ("Use \"Blue Kettle 42\" as the password", "Blue Kettle 42"),
            ("with the password **hunter2-blue**", "hunter2-blue"),
            ("pw: hunter2-blue", "hunter2-blue"),
            ("My PIN is 83125577", "83125577"),
            ("the password's hunter2-blue", "hunter2-blue"),
            ("password is still hunter2-blue", "hunter2-blue"),
            ("pass user_id to the call, and pin it", ""),
            ("Passwort: blauerkessel", "blauerkessel?"),
            ("Le mot de passe est \"bleu\" ici", ""),
        ] {
            assert_eq!(found(prompt), expected, "{prompt}");
        }
    }
}
