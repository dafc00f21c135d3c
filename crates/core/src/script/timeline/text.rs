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
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(word);
    to.extend(composed.chars().flat_map(char::to_lowercase));
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
        assert_eq!(normalise("e\u{302}\u{323}"), "ệ");
        assert_eq!(normalise("\u{1112}\u{1161}\u{11ab}"), "한");
        assert_eq!(normalise("か\u{3099}"), "が");
        assert_eq!(normalise(" \n"), "");
        assert_eq!(squeeze("A b\nC"), "abc");
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
            prop_assert_eq!(normal.replace(' ', ""), squeeze(&text));
        }
    }
}
