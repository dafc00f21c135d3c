//! Texts as they are compared: how a prompt is written doesn't count, and what an agent adds to it neither.

use icu_normalizer::ComposingNormalizerBorrowed;

/// `text` for comparing: in Unicode's composed form (NFC), lower case, white space collapsed and cut at both ends.
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

/// A text of a file for comparing: one line end at its end doesn't count.
pub fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// `text` without white space: how a client joins the pieces of an answer doesn't count, but each word does.
pub(super) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

fn push_word(to: &mut String, word: &str) {
    if word.is_ascii() {
        let start = to.len();
        to.push_str(word);
        to[start..].make_ascii_lowercase();
        return;
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(word);
    to.extend(composed.chars().flat_map(char::to_lowercase));
}

/// Whether `text` contains `part` from the border of a word to the border of a word: `pay invoice 11` is not in `pay invoice
/// 118`, nor in `repay invoice 11` or `pay invoice 11.50`.
pub(super) fn contains_words(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + part.len()..]);
        !joins(before.chars().rev(), part.chars().next())
            && !joins(after.chars(), part.chars().next_back())
    })
}

/// Whether what stands beside a text, from there outwards, goes on with the word at its `edge`.
fn joins(mut beside: impl Iterator<Item = char>, edge: Option<char>) -> bool {
    let Some(edge) = edge.filter(|&edge| is_of_word(edge)) else {
        return false;
    };
    let (Some(first), second) = (beside.next(), beside.next()) else {
        return false;
    };
    let is_digit = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
    match first {
        // An escaped line end of a text in JSON.
        'n' | 't' | 'r' if second == Some('\\') => false,
        // `a` is not in `a.txt` or `a/b`.
        '-' | '_' | '\'' | '’' | '.' | '/' | '@' | '#' => second.is_some_and(is_of_word),
        ',' | ':' => is_digit(Some(edge)) && is_digit(second),
        '%' => is_digit(Some(edge)),
        other => is_of_word(other),
    }
}

/// Whether a sign is part of a word that white space or a sign ends: no border shows in Chinese, Japanese, Korean or Thai.
fn is_of_word(sign: char) -> bool {
    let is_unspaced = matches!(sign,
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    sign.is_alphanumeric() && !is_unspaced
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

    #[test]
    fn words_are_contained_from_border_to_border() {
        let part = "pay invoice 11";
        for text in [
            "pay invoice 11",
            "please pay invoice 11.",
            "user:pay invoice 11, please",
            "<task>pay invoice 11</task>",
            "\"pay invoice 11\"",
            r#"{"text":"go on\npay invoice 11\nnow"}"#,
            "pay invoice 118 and pay invoice 11",
        ] {
            assert!(contains_words(text, part), "{text}");
        }
        for text in [
            "pay invoice 118",
            "pay invoice 11.50",
            "pay invoice 11,000",
            "pay invoice 11%",
            "pay invoice 11-b",
            "repay invoice 11",
            "re-pay invoice 11",
            "pay invoice 11th",
            "pay invoice 11.txt",
            "pay invoice 11/2",
            "pay invoice 11@example.com",
        ] {
            assert!(!contains_words(text, part), "{text}");
        }
        assert!(contains_words("请帮我订票吧", "订票"));
        assert!(contains_words("is it 11? yes", "it 11?"));
    }

    proptest! {
        /// A word at either end that goes on is another one; with anything else around it, it is the same.
        #[test]
        fn a_text_that_goes_on_is_another_one(part in "[a-z0-9]{1,8}( [a-z0-9]{1,8}){0,3}", more in "[a-z0-9]{1,5}", around in "[ (<\"]{0,2}[a-z]{0,5} ") {
            let is_own = |text: &str| text.match_indices(&part).count() > 1;
            let text = format!("{part}{more}");
            prop_assert!(is_own(&text) || !contains_words(&text, &part));
            let text = format!("{more}{part}");
            prop_assert!(is_own(&text) || !contains_words(&text, &part));
            let text = format!("{around}{part} {around}");
            prop_assert!(contains_words(&text, &part));
        }
    }

    use super::*;

    #[test]
    fn case_white_space_and_composition_do_not_count() {
        assert_eq!(normalise("  Fix\n\tthe   TEST "), "fix the test");
        assert_eq!(normalise("Cafe\u{301}"), normalise("CAFÉ"));
        assert_eq!(normalise("e\u{323}\u{302}"), "ệ");
        assert_eq!(normalise("e\u{302}\u{323}"), "ệ");
        assert_eq!(normalise("\u{1112}\u{1161}\u{11ab}"), "한");
        assert_eq!(normalise("か\u{3099}"), "が");
        assert_eq!(normalise(" \n"), "");
        assert_eq!(squeeze("A b\nC"), "AbC");
        assert_eq!(normalise("\u{301}a"), "\u{301}a");
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
            prop_assert_eq!(normal.replace(' ', ""), squeeze(&text).to_lowercase());
        }
    }
}
