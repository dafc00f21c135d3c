//! Every kind of target, and what becomes of one that fits no element, or several.

use super::*;

/// Runs a test with each server that is installed.
#[track_caller]
fn with_each(test: impl Fn(Peer, &Scratch, &Site)) {
    for peer in Peer::ALL {
        let Some(scratch) = peer.start() else {
            return;
        };
        let site = Site::start().expect("a site");
        test(peer, &scratch, &site);
    }
}

#[test]
fn elements_are_found_by_role_name_text_place_number_and_selector() {
    with_each(|peer, scratch, site| {
        let row = |number: &str| json!({"role": "row", "name": format!("Invoice {number}")});
        let played = play(
            scratch,
            site,
            vec![
                peer.open("login.html"),
                peer.fill("ana@example.org", named("textbox", "E-mail")),
                peer.fill("correct horse", json!({"selector": "#password"})),
                // Capital letters count only where they tell apart.
                peer.click(named("checkbox", "remember ME")),
                // The heading and a link are called the same.
                peer.click(json!({"role": "button", "text": "Log in"})),
                peer.holds("document.title === 'Home'"),
                peer.open("table.html"),
                peer.click(json!({"role": "button", "name": "Delete", "within": row("{{NUMBER}}")})),
                peer.holds(&shows("Invoice 2 was deleted")),
                peer.click(json!({"role": "button", "name": "Delete", "nth": 3})),
                peer.holds(&shows("Invoice 4 was deleted")),
                peer.click(json!({"selector": "td button", "text": "Delete", "nth": 1})),
                peer.holds(&shows("Invoice 1 was deleted")),
                peer.click(json!({"selector": "td > button", "role": "button", "name": "Delete", "within": row("3")})),
                peer.holds(&shows("Invoice 3 was deleted")),
                peer.holds("document.querySelectorAll('[aria-keyshortcuts]').length === 0"),
            ],
            0,
        );
        assert_eq!(played.statuses(), ["passed"; 16], "{peer:?}");
        assert_eq!(site.count("login"), 1, "{peer:?}");
        let deleted: Vec<u64> = (1..=4)
            .map(|number| site.count(&format!("delete-{number}")))
            .collect();
        assert_eq!(deleted, [1; 4], "{peer:?}");
    });
}

#[test]
fn frames_and_closed_shadow_roots_hold_elements_too() {
    with_each(|peer, scratch, site| {
        // Frames have no names in the snapshots of @playwright/mcp.
        let pay = match peer.is_playwright() {
            true => json!({"role": "button", "name": "Pay", "nth": 2}),
            false => json!({
                "role": "button", "name": "Pay", "within": {"role": "iframe", "name": "Same origin"}
            }),
        };
        let played = play(
            scratch,
            site,
            vec![
                peer.open("frames.html"),
                peer.click(pay),
                peer.holds("document.querySelector('iframe').contentDocument.querySelector('[role=status]').textContent === 'Paid'"),
                peer.open("shadow.html"),
                peer.click(json!({"role": "button", "name": "More", "nth": 1})),
                peer.holds("document.querySelector('x-counter').shadowRoot.querySelector('span').textContent === '1'"),
            ],
            0,
        );
        assert_eq!(played.statuses(), ["passed"; 6], "{peer:?}");
        // @playwright/mcp doesn't look into closed shadow roots.
        if peer != Peer::Playwright {
            let voucher = peer.fill("TEA", named("textbox", "Voucher"));
            let steps = vec![peer.open("shadow.html"), voucher];
            play(scratch, site, steps, 0);
        }
    });
}

#[test]
fn none_and_several_are_errors_that_say_what_is_there_and_what_to_add() {
    with_each(|peer, scratch, site| {
        let tolerated = |step: Value| with(step, json!({"on_error": "skip"}));
        let played = play(
            scratch,
            site,
            vec![
                peer.open("table.html"),
                tolerated(peer.click(named("button", "Delete"))),
                tolerated(peer.click(named("link", "Delete"))),
                tolerated(peer.click(json!({
                    "role": "button", "name": "Delete", "within": {"role": "row", "name": "Invoice 9"}
                }))),
                tolerated(peer.click(json!({"role": "button", "name": "Delete", "nth": 9}))),
                tolerated(peer.click(json!({"selector": "td button", "text": "Send"}))),
                tolerated(peer.click(json!({"selector": "td button", "role": "button", "name": "Send"}))),
                tolerated(peer.click(json!({"selector": "td button:not(", "text": "Send"}))),
                tolerated(with(peer.open("login.html"), json!({"target": {"text": "Invoices"}}))),
            ],
            0,
        );
        let error = |number: u64| {
            let step = played.step(number);
            let error = step["error"].as_str().unwrap_or_default();
            (step["code"].as_str().unwrap_or_default(), error)
        };
        assert_eq!(
            error(2),
            (
                "C-TARGET-02",
                "4 elements of the page have `button \"Delete\"`"
            ),
            "{peer:?}"
        );
        assert_eq!(error(3).0, "C-TARGET-02", "{peer:?}");
        for number in [3, 4] {
            let (_, message) = error(number);
            assert!(
                message.starts_with("element not found: "),
                "{peer:?} {message}"
            );
        }
        assert!(
            error(5)
                .1
                .contains("expected number 9 of `button \"Delete\"`, found 4"),
            "{}",
            error(5).1
        );
        assert!(
            error(6).1.starts_with("4 elements of the page have "),
            "{}",
            error(6).1
        );
        assert!(
            error(7).1.starts_with("4 elements of the page have "),
            "{}",
            error(7).1
        );
        assert!(error(8).1.contains("can't be read"), "{}", error(8).1);
        assert!(
            error(9).1.contains("does not act on an element"),
            "{}",
            error(9).1
        );
        for (target, words) in [
            (
                named("button", "Delete"),
                [
                    "they are: button \"Delete\" in row \"Invoice 1\", button \"Delete\" in row \"Invoice 2\"",
                    r#"specify which one, for example with "within": {"role":"row","name":"Invoice 1"} for the first"#,
                ],
            ),
            (
                named("link", "Delete"),
                [
                    "nothing on the page has `link \"Delete\"`",
                    "elements on the page: button \"Delete\"",
                ],
            ),
        ] {
            let steps = vec![peer.open("table.html"), peer.click(target)];
            let played = play(scratch, site, steps, 1);
            for words in words {
                let told = &played.stderr;
                assert!(told.contains(words), "{peer:?} {words}\n{told}");
            }
        }
        assert_eq!(site.count("delete-1"), 0, "{peer:?}");
    });
}

#[test]
fn tabs_are_followed_and_navigations_that_fail_are_noticed() {
    with_each(|peer, scratch, site| {
        let lead_nowhere = "(() => { const link = document.createElement('a'); link.href = 'http://127.0.0.1:1/'; link.textContent = 'Nowhere'; document.body.prepend(link); return true; })()";
        let played = play(
            scratch,
            site,
            vec![
                peer.open("tabs.html"),
                peer.click(named("link", "Open terms")),
                peer.tabs("popup.html"),
                peer.tab(2),
                peer.holds("document.title === 'Terms'"),
                peer.hover(json!({"text": "Be kind."})),
                peer.tab(1),
                peer.click(named("tab", "Security")),
                peer.holds(&shows("Two keys.")),
                peer.holds(lead_nowhere),
                with(
                    peer.click(named("link", "Nowhere")),
                    json!({"on_error": "skip"}),
                ),
            ],
            0,
        );
        let mut statuses = ["passed"; 11];
        // Older servers say nothing of where a click led.
        if peer != Peer::Older {
            statuses[10] = "tolerated";
            let error = played.step(11)["error"].as_str().unwrap_or_default();
            assert!(error.contains("chrome-error:"), "{peer:?} {error}");
        }
        assert_eq!(played.statuses(), statuses, "{peer:?}");
    });
}

#[test]
fn calls_about_several_elements_have_several_targets() {
    with_each(|peer, scratch, site| {
        let [email, password] = ["E-mail", "Password"].map(|name| named("textbox", name));
        let form = match peer.is_playwright() {
            true => with(
                peer.call(
                    "browser_fill_form",
                    json!({"fields": [
                        {"name": "E-mail", "type": "textbox", "value": "ana@example.org"},
                        {"name": "Password", "type": "textbox", "value": "correct horse"}
                    ]}),
                ),
                json!({"targets": {"fields[0].target": email, "fields[1].target": {"selector": "#password"}}}),
            ),
            false => with(
                peer.call(
                    "fill_form",
                    json!({"elements": [{"value": "ana@example.org"}, {"value": "correct horse"}]}),
                ),
                json!({"targets": {"elements[0].uid": email, "elements[1].uid": password}}),
            ),
        };
        let played = play(
            scratch,
            site,
            vec![
                peer.open("login.html"),
                form.clone(),
                peer.click(named("button", "Log in")),
                peer.holds("document.title === 'Home'"),
            ],
            0,
        );
        assert_eq!(played.statuses(), ["passed"; 4], "{peer:?}");
        // What is known before a run is what the run needs: a dry run has nothing to say.
        let dry = program::run(
            scratch,
            &["play", "scenario.json", "--dry-run", "--connect"],
        );
        assert_eq!(dry.code(), Some(0), "{peer:?} {}", program::told(&dry));
    });
}
