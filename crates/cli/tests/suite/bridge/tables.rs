//! What each element of the pages in `tests/site/states/` says of itself is what a capture finds.

use cuecard_page::dom::{DomElement, DomState, TopBasis};

use super::with_options;

/// The attribute in which the elements say it; it is captured as the test id.
const EXPECT: &str = "data-expect";

fn expectations(state: &DomState) -> Vec<(&DomElement, &str)> {
    let found: Vec<_> = state
        .elements()
        .filter_map(|(_, element)| Some((element, element.attribute(EXPECT)?)))
        .collect();
    assert!(found.len() > 5, "the page says what to expect");
    found
}

#[test]
fn flags_names_and_values_are_as_each_element_says() {
    with_options(
        EXPECT,
        |_| (),
        async |lab| {
            let mut wrong = Vec::new();
            lab.open("states/flags.html").await;
            let state = lab.state().await;
            for (element, words) in expectations(&state) {
                let broken = words.split(' ').filter(|word| !has_flag(element, word));
                wrong.extend(broken.map(|word| format!("{word} of {element:?}")));
            }
            for page in [
                "names.html",
                "sheets.html",
                "sheets.html?media",
                "sheets.html?nested",
                "sheets.html?adopted",
                "sheets.html?imported",
            ] {
                lab.open(&format!("states/{page}")).await;
                let state = lab.state().await;
                for (element, words) in expectations(&state) {
                    let is = format!("{}: {}", element.role, element.name);
                    if is.trim_end() != words.trim_end() {
                        wrong.push(format!("{page}: {words:?} is {is:?}"));
                    }
                }
            }
            lab.open("states/values.html").await;
            let state = lab.state().await;
            for (element, words) in expectations(&state) {
                let (states, value) = match words.split_once('|') {
                    Some((states, value)) => (states.trim(), Some(value.trim())),
                    None => (words.trim(), None),
                };
                let mut expected: Vec<&str> = states.split_whitespace().collect();
                let mut found: Vec<&str> = element.states.words().collect();
                expected.sort_unstable();
                found.sort_unstable();
                let has_value = value.is_none() || element.attribute("value") == value;
                if expected != found || !has_value {
                    wrong.push(format!(
                        "{words:?} is {found:?}, {:?}",
                        element.attribute("value")
                    ));
                }
            }
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        },
    );
}

fn has_flag(element: &DomElement, word: &str) -> bool {
    let evidence = format!("{:?}", element.evidence).to_lowercase();
    match word {
        "visible" => element.is_visible,
        "hidden" => !element.is_visible,
        "passive" => !element.is_interactive,
        "top" => element.is_top_element == Some(true),
        "covered" => element.is_top_element == Some(false),
        "in" => element.is_in_viewport,
        "out" => {
            // Off-screen, a verdict can only come from the order of painting.
            !element.is_in_viewport && element.top_basis != Some(TopBasis::Hit)
        }
        "proxy" => element.proxy.is_some(),
        "native" | "role" | "tabindex" | "listener" | "cursor" => {
            element.is_interactive && evidence.contains(word)
        }
        other => panic!("`{other}` is no flag"),
    }
}

#[test]
fn no_secret_is_captured_before_or_after_it_is_shown() {
    with_options(
        EXPECT,
        |_| (),
        async |lab| {
            lab.open("states/secrets.html").await;
            for round in 0..2 {
                let text = lab.text().await;
                assert!(!text.contains("hunter2"), "round {round}: {text}");
                let state = lab.state().await;
                for (element, filled) in expectations(&state) {
                    assert_eq!(
                        element.filled.map(|filled| filled.to_string()).as_deref(),
                        Some(filled),
                        "{element:?}"
                    );
                }
                lab.click("button", "Show").await;
            }
        },
    );
}

#[test]
fn a_page_that_replaced_everything_is_read_and_notices_nothing() {
    with_options(
        EXPECT,
        |_| (),
        async |lab| {
            lab.open("states/hostile.html").await;
            // Twice, since the first capture makes the world.
            lab.state().await;
            let state = lab.state().await;
            super::only(&state, "heading", "Still readable");
            super::only(&state, "button", "Press");
            let field = super::only(&state, "textbox", "Field");
            assert_eq!(field.attribute("value"), Some("a value"));
            let report = super::only(&state, "status", "");
            let (id, _) = state
                .elements()
                .find(|(_, element)| std::ptr::eq(*element, report))
                .expect("it is of this state");
            assert_eq!(state.visible_text(id).trim(), "nothing was seen");
        },
    );
}
