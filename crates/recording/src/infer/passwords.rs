//! Secrets that a prompt calls so: `the password is hunter2-blue`.

use cuecard_source::value::{SHORTEST_SECRET, names_credential};

use super::prompt::quoted;

/// Words between the name of a secret and the secret.
const LINKS: &[&str] = &[
    "are", "be", "equals", "is", "now", "should", "still", "to", "was", "will",
];

/// Names of secrets that are other words, too: they name one before a colon or a word such as `is`.
const SHORT_NAMES: &[&str] = &["pass", "pin", "pw"];

/// Words before the name of a secret that is given right behind it: `with the password X`.
const GIVING: &[&str] = &["using", "with"];

/// Words behind the name of a secret that say whose it is: `the password of ann is …`.
const OWNERS: &[&str] = &["at", "for", "from", "in", "of", "on"];

/// So many words may say whose it is.
const MOST_OWNERS: usize = 6;

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

/// What a prompt calls a password, a token or the like.
pub(super) fn secrets_in(prompt: &str) -> Vec<PromptSecret<'_>> {
    let is_long = |text: &str| text.chars().count() >= SHORTEST_SECRET;
    let quoted = quoted(prompt).filter(|text| is_long(text)).filter(|text| {
        let mut places = prompt.match_indices(text);
        places.any(|(at, _)| {
            naming(&prompt[..at]).is_some() || is_used_as(&prompt[at + text.len()..])
        })
    });
    let quoted = quoted.map(|text| PromptSecret {
        text,
        is_plain: false,
    });
    let mut at = 0;
    let words = prompt
        .split_inclusive(char::is_whitespace)
        .filter_map(|part| {
            let (start, end) = (at, at + part.len());
            at = end;
            let text = bare(part);
            let has_mark = is_marked(text);
            if !is_long(text) || !text.contains(char::is_alphanumeric) {
                return None;
            }
            let is_number = !text.contains(char::is_alphabetic);
            let ends = part.len() > part.trim_end().len() + usize::from(!part.contains('\n'))
                || part.trim_end().len() > text.len() + part.find(text).unwrap_or(0)
                || prompt[end..].trim().is_empty();
            let is_secret = match naming(&prompt[..start]) {
                Some(Naming::Linked) => is_number || has_mark || !is_state(text),
                _ if is_number => false,
                Some(Naming::Given) => has_mark || (ends && !is_state(text)),
                Some(Naming::Direct) => has_mark,
                None => has_mark && is_used_as(&prompt[end..]),
            };
            is_secret.then_some(PromptSecret {
                text,
                is_plain: !has_mark,
            })
        });
    quoted.chain(words).collect()
}

/// Whether a word says of a secret how it is, without giving it.
fn is_state(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_form = ["able", "ed", "ing"].iter().any(|end| word.ends_with(end));
    is_form || STATES.split_whitespace().any(|state| state == word)
}

/// How a secret is named before it.
enum Naming {
    /// `password X`: another word may follow, too.
    Direct,
    /// `with the password X`.
    Given,
    /// `the password is X`.
    Linked,
}

fn naming(before: &str) -> Option<Naming> {
    let mut words = before.split_whitespace().rev().peekable();
    let is_link = |word: &&str| !word.contains(char::is_alphabetic) || LINKS.contains(&bare(word));
    let (mut n_links, mut naming) = (0, Naming::Linked);
    while let Some(link) = words.next_if(is_link) {
        n_links += 1;
        // What one does with a secret may follow: `the key to open it`.
        if bare(link) == "to" {
            naming = Naming::Direct;
        }
    }
    let mut near = words.take(MOST_OWNERS + 2);
    let mut last = near
        .next()
        .filter(|word| n_links == 0 || !ends_sentence(word))?;
    let is_label = last.ends_with([':', '=']);
    if (n_links > 0 || is_label) && SHORT_NAMES.contains(&bare(last).to_lowercase().as_str()) {
        return Some(Naming::Linked);
    }
    match (is_name(last, near.clone().next()), n_links) {
        (true, 0) if is_label => return Some(Naming::Linked),
        (true, 0) => {
            let mut before = near.filter(|word| !matches!(bare(word), "a" | "my" | "the"));
            let is_given = before
                .next()
                .is_some_and(|word| GIVING.contains(&bare(word)));
            return Some(if is_given {
                Naming::Given
            } else {
                Naming::Direct
            });
        }
        (true, _) => return Some(naming),
        (false, 0) => return None,
        (false, _) => {}
    }
    while let Some(word) = near.next().filter(|word| !ends_sentence(word)) {
        let before = near.clone().next();
        if OWNERS.contains(&bare(last)) && is_name(word, before) {
            return Some(naming);
        }
        last = word;
    }
    None
}

/// Whether a text goes on with `as the password`, or `is the password`.
fn is_used_as(behind: &str) -> bool {
    let behind = behind.trim_start_matches(|letter: char| "\"'`”’»*".contains(letter));
    let mut words = behind.split_whitespace();
    let is_link = words.next().is_some_and(|word| matches!(word, "as" | "is"));
    let rest: Vec<&str> = words.take(3).collect();
    let mut named = rest.iter().enumerate().map(|(idx, word)| {
        let before = idx.checked_sub(1).map(|before| rest[before]);
        is_name(word, before)
    });
    is_link && named.any(|is_name| is_name)
}

/// Whether a word, or it with the one before it, names a secret: `password`, `API key`.
fn is_name(word: &str, before: Option<&str>) -> bool {
    let word = bare(word);
    let with_before = || format!("{} {word}", bare(before.unwrap_or_default()));
    names_credential(word) || names_credential(&with_before())
}

fn ends_sentence(word: &str) -> bool {
    word.ends_with(['.', '!', '?', ';'])
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
