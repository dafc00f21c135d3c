//! Ids and classes that a program made up and will make up differently next time.

use std::sync::LazyLock;

use regex::Regex;

/// What a generated id or class holds.
static GENERATED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[0-9]{4,}",
        // Identifiers of React.
        r"|:r[0-9a-z]+:|«r[0-9a-z]+»|_r_[0-9a-z]+_",
        r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
        // Libraries of components count their parts.
        r"|(?i:^(?:ember|ext-gen|ext-comp|yui|gwt-uid|mui|radix|headlessui|react-select|react-aria|downshift|select2|cdk|mat|ng|el-id|rc|pn_id|jss|chakra|ui-id|uid|dijit|isc|reach|base-ui|ark|melt|bits|svelte|auto-id|tippy|popper|floating-ui)(?:[-_:][a-z-]+)*[-_:]?[0-9]+(?:[-_][a-z0-9]+)*$)",
    ))
    .expect("the pattern is fixed")
});

/// What a hashed class holds.
static HASHED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:css|sc|svelte|emotion|makeStyles|tss|_ng(?:content|host))-[A-Za-z0-9-]+$|^jss[0-9]+$",
        // The hash of a module of styles.
        r"|_{1,2}[A-Za-z0-9_+-]{5,}$",
    ))
    .expect("the pattern is fixed")
});

/// Whether an id looks made up by a program: it will be another one next time.
pub(crate) fn looks_generated(text: &str) -> bool {
    GENERATED.is_match(text) || has_hex_run(text)
}

/// Whether a class does. A hash needs a digit or both cases, so that `card__title` stays.
pub(crate) fn is_hashed_class(class: &str) -> bool {
    if looks_generated(class) {
        return true;
    }
    HASHED.find(class).is_some_and(|found| {
        let hash = found.as_str().trim_start_matches('_');
        let has = |test: fn(&char) -> bool| hash.chars().any(|sign| test(&sign));
        found.start() == 0
            || has(char::is_ascii_digit)
            || (has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
    })
}

/// Whether an id counts, as `btn-2` and `sl-tab-3` do: it is another element's when one comes before it.
pub(crate) fn is_counted(id: &str) -> bool {
    id.ends_with(|char: char| char.is_ascii_digit())
}

/// Whether there are six hexadecimal digits in a row, one of them a digit.
fn has_hex_run(text: &str) -> bool {
    text.split(|sign: char| !sign.is_ascii_hexdigit())
        .any(|run| run.len() >= 6 && run.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_programs_are_told_from_those_of_people() {
        for id in [
            "user-12345",
            "a1b2c3",
            "x-deadbeef1",
            ":r1:",
            "«r1»",
            "_r_1_",
            "field:r1k:",
            "3f9a1c07-b2de-4f00-9a1b-1234567890ab",
            "ember123",
            "mui-12",
            "radix-3",
            "headlessui-menu-button-7",
            "react-select-2-input",
            "mat-input-0",
            "cdk-overlay-1",
            "select2-country-x1",
            "ui-id-1",
            "rc_select_0",
        ] {
            assert!(looks_generated(id), "{id}");
        }
        for id in [
            "email",
            "login-form",
            "step2",
            "h1",
            "card-3",
            "main",
            "facade",
            "decade",
            "address-line-1",
            "top10",
            "v",
            "menu",
            "year-202",
        ] {
            assert!(!looks_generated(id), "{id}");
        }
    }

    #[test]
    fn hashed_classes_are_told_from_those_of_people() {
        for class in [
            "css-1q2w3e",
            "sc-bdVaJa",
            "jss12",
            "Button_root__a1B2c",
            "svelte-1abc",
            "_ngcontent-abc-c12",
        ] {
            assert!(is_hashed_class(class), "{class}");
        }
        for class in [
            "btn",
            "btn-primary",
            "card__title",
            "nav_item",
            "is-active",
            "col-12",
            "scroll",
            "scale",
        ] {
            assert!(!is_hashed_class(class), "{class}");
        }
    }
}
