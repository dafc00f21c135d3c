//! Texts as they are compared: how a prompt is written doesn't count, and what an agent adds to it neither.

use super::text_table::COMPOSED;

/// `text` for comparing: letters and their marks composed, lower case, white space collapsed and cut at both ends.
///
/// Composition is that of Unicode's NFC for letters whose marks stand in their usual order, and for Hangul.
pub fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        push_word(&mut normal, word);
    }
    normal
}

/// `text` for comparing where white space doesn't count at all: answers that a client has put together anew.
pub(super) fn squeeze(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        push_word(&mut normal, word);
    }
    normal
}

fn push_word(to: &mut String, word: &str) {
    if word.is_ascii() {
        let start = to.len();
        to.push_str(word);
        to[start..].make_ascii_lowercase();
        return;
    }
    let mut pending: Option<char> = None;
    for character in word.chars() {
        pending = Some(match pending {
            None => character,
            Some(letter) => match compose(letter, character) {
                Some(composed) => composed,
                None => {
                    to.extend(letter.to_lowercase());
                    character
                }
            },
        });
    }
    if let Some(letter) = pending {
        to.extend(letter.to_lowercase());
    }
}

/// The one letter that `letter` and the mark after it are.
fn compose(letter: char, mark: char) -> Option<char> {
    if mark < '\u{300}' {
        return None;
    }
    if let Some(syllable) = compose_hangul(letter, mark) {
        return Some(syllable);
    }
    let row = COMPOSED
        .binary_search_by_key(&mark, |&(known, _)| known)
        .ok()?;
    let mut pairs = COMPOSED[row].1.chars();
    while let (Some(bare), Some(composed)) = (pairs.next(), pairs.next()) {
        if bare == letter {
            return Some(composed);
        }
    }
    None
}

/// Hangul syllables are computed: 19 leading consonants, 21 vowels, 27 trailing consonants or none.
fn compose_hangul(first: char, second: char) -> Option<char> {
    const SYLLABLES: u32 = 0xac00;
    const LEADING: u32 = 0x1100;
    const VOWELS: u32 = 0x1161;
    const BEFORE_TRAILING: u32 = 0x11a7;
    let (first, second) = (u32::from(first), u32::from(second));
    let leading = first.wrapping_sub(LEADING);
    let vowel = second.wrapping_sub(VOWELS);
    if leading < 19 && vowel < 21 {
        return char::from_u32(SYLLABLES + (leading * 21 + vowel) * 28);
    }
    let syllable = first.wrapping_sub(SYLLABLES);
    let trailing = second.wrapping_sub(BEFORE_TRAILING);
    if syllable < 19 * 21 * 28 && syllable % 28 == 0 && (1..28).contains(&trailing) {
        return char::from_u32(first + trailing);
    }
    None
}

/// Elements in which agents wrap what they tell the model beside what the user said.
const REMINDERS: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "environment_context",
    "environment_details",
    "environment",
    "env",
    "user_instructions",
    "INSTRUCTIONS",
    "instructions",
    "context",
    "permissions instructions",
    "skills_instructions",
    "plugins_instructions",
    "turn_aborted",
    "session_context",
];

/// Whether a text of the user's side is a note of the agent's rather than something the user said: it is one of the
/// elements that agents wrap their notes in, as a whole.
pub fn is_reminder(text: &str) -> bool {
    let text = text.trim();
    // Codex puts a heading before the instructions it has found in files.
    if text.starts_with("# AGENTS.md instructions") {
        return true;
    }
    let Some(rest) = text.strip_prefix('<') else {
        return false;
    };
    REMINDERS.iter().any(|name| {
        rest.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['>', ' ']))
            && text
                .strip_suffix('>')
                .and_then(|text| text.strip_suffix(name))
                .is_some_and(|text| text.ends_with("</"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_white_space_and_composition_do_not_count() {
        assert_eq!(normalise("  Fix\n\tthe   TEST "), "fix the test");
        assert_eq!(normalise("Cafe\u{301}"), normalise("CAFÉ"));
        assert_eq!(normalise("e\u{323}\u{302}"), "ệ");
        assert_eq!(normalise("\u{1112}\u{1161}\u{11ab}"), "한");
        assert_eq!(normalise("か\u{3099}"), "が");
        assert_eq!(normalise(" \n"), "");
        assert_eq!(squeeze("A b\nC"), "abc");
        assert_eq!(normalise("\u{301}a"), "\u{301}a");
    }

    #[test]
    fn the_table_is_sorted_and_in_pairs() {
        assert!(COMPOSED.is_sorted_by_key(|&(mark, _)| mark));
        for (mark, pairs) in COMPOSED {
            assert_eq!(pairs.chars().count() % 2, 0, "{mark:?}");
        }
    }

    #[test]
    fn reminders_are_whole_elements() {
        assert!(is_reminder(
            "<system-reminder>\nBe brief.\n</system-reminder>\n"
        ));
        assert!(is_reminder(
            "<environment_context>cwd</environment_context>"
        ));
        assert!(!is_reminder("<system-reminder>x</system-reminder> Fix it"));
        assert!(!is_reminder("<environments>x</environments>"));
        assert!(!is_reminder("<b>Fix it</b>"));
        assert!(!is_reminder("Fix it"));
    }

    proptest! {
        #[test]
        fn what_is_normal_stays_so(text in any::<String>()) {
            let normal = normalise(&text);
            prop_assert!(!normal.starts_with(' ') && !normal.ends_with(' ') && !normal.contains("  "));
            let squeezed = squeeze(&text);
            prop_assert!(!squeezed.contains(char::is_whitespace));
        }

        #[test]
        fn plain_text_is_normal_once_and_for_all(text in "[a-zA-Z \n]{0,40}") {
            let normal = normalise(&text);
            prop_assert_eq!(normalise(&normal), normal.clone());
            prop_assert_eq!(normal.replace(' ', ""), squeeze(&text));
        }
    }
}
