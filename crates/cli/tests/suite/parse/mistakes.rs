//! What goes wrong, and what is said about it.

use serde_json::json;

use super::Lab;

#[test]
fn a_page_that_does_not_open_says_why() {
    let Some(lab) = Lab::new() else { return };
    let parsed = lab.parse("status/404", &["click 'x'"], 1);
    assert_eq!(parsed.json["status"], "failed");
    assert_eq!(parsed.error()["code"], "B-navigation_failed");
    assert!(
        parsed.error()["message"]
            .as_str()
            .expect("one")
            .contains("404")
    );
    assert_eq!(parsed.error()["playwrightAction"], "goto");
    assert!(
        parsed.json["errors"][1]["message"]
            .as_str()
            .expect("one")
            .contains("not tried")
    );

    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let more = json!({"url": format!("http://127.0.0.1:{port}/")});
    let parsed = lab.parse_with("", json!(["click 'x'"]), more, &[], 1);
    let message = parsed.error()["message"].as_str().expect("one");
    assert!(message.contains("ERR_CONNECTION_REFUSED"), "{message}");

    // Not everything that listens speaks TLS.
    let secure = lab.site.url("login.html").replace("http://", "https://");
    let parsed = lab.parse_with("", json!(["click 'x'"]), json!({"url": secure}), &[], 1);
    let message = parsed.error()["message"].as_str().expect("one");
    assert!(message.contains("net::ERR_SSL"), "{message}");
}

#[test]
fn what_can_not_be_used_is_named_with_what_stands_in_the_way() {
    let Some(lab) = Lab::new() else { return };
    for (path, actions, code, words) in [
        (
            "dialogs.html",
            json!(["click 'Delete account'", {"action": "click 'Open settings'", "timeoutMs": 1500}]),
            "B-element_covered",
            "covered by",
        ),
        (
            "tabs.html",
            json!([{"action": "click the Billing tab", "timeoutMs": 1500}]),
            "B-element_disabled",
            "disabled",
        ),
        (
            "dialogs.html",
            json!([{"action": "click 'Never stop'", "timeoutMs": 20000}]),
            "B-dialog_blocked",
            "Again",
        ),
        (
            "dialogs.html",
            json!(["click 'Say hello'", "click 'Open settings'", {"action": "verify the alert says 'Hello'", "timeoutMs": 300}]),
            "B-assertion_failed",
            "Settings",
        ),
        (
            "dialogs.html",
            json!([{"action": "verify the alert does not say 'Hello'", "timeoutMs": 300}]),
            "B-assertion_failed",
            "the last action led to no dialog",
        ),
        (
            "login.html",
            json!([{"action": "click 'Log out'", "timeoutMs": 300}]),
            "B-element_not_found",
            "no 'Log out'",
        ),
        (
            "login.html",
            json!([{"action": "verify 'Welcome' is visible", "timeoutMs": 300}]),
            "B-assertion_failed",
            "the text is not on the page",
        ),
        (
            "shop.html",
            json!(["select 'Colour' from 'Sort by'"]),
            "B-option_not_found",
            "available: ",
        ),
    ] {
        let more = json!({"options": {"actionTimeoutMs": 2000}});
        let parsed = lab.parse_with(path, actions, more, &[], 1);
        let errors = parsed.json["errors"].as_array().expect("a list");
        let error = errors
            .iter()
            .find(|error| error["severity"] != "warning")
            .expect("one");
        assert_eq!(error["code"], code, "{}", parsed.stderr);
        let message = error["message"].as_str().expect("one");
        assert!(message.contains(words), "{message}");
    }
    // Nothing was sent to the server that was not asked for.
    assert_eq!(lab.site.count("login"), 0);
}

#[test]
fn a_field_that_takes_no_input_is_left_alone() {
    let Some(lab) = Lab::new() else { return };
    lab.scratch
        .write(
            "page.html",
            "<!doctype html><title>Fields</title><label>Code <input readonly value=1></label>\
             <label>Year <input maxlength=2></label>\
             <label>Card <input oninput=\"this.value = this.value.replace(/(\\d{4})(?=\\d)/g, '$1 ')\"></label>",
        )
        .expect("writable");
    let url = format!("file://{}", lab.scratch.work().join("page.html").display());
    for (action, code, words) in [
        (
            "type 'x' into Code",
            "B-not_editable",
            "does not accept input",
        ),
        ("type '2024' into Year", "B-value_rejected", "holds `20`"),
    ] {
        let actions = json!([{"action": action, "timeoutMs": 1500}]);
        let parsed = lab.parse_with("", actions, json!({"url": url}), &[], 1);
        assert_eq!(parsed.error()["code"], code, "{}", parsed.stderr);
        let message = parsed.error()["message"].as_str().expect("one");
        assert!(message.contains(words), "{message}");
    }
    let actions = json!(["type '41112222' into Card"]);
    let parsed = lab.parse_with("", actions, json!({"url": url}), &[], 0);
    let warnings = &parsed.steps()[0]["observed"]["warnings"];
    let expected = json!(["the field formatted `41112222` as `4111 2222`"]);
    assert_eq!(warnings, &expected);
}

#[test]
fn sentences_that_are_not_clear_do_nothing() {
    let Some(lab) = Lab::new() else { return };
    let actions = json!([
        "click 'Log in' and press Enter",
        "clik 'Log in'",
        "make me a sandwich",
        {"action": "click 'Forgot password?'", "optional": true},
    ]);
    let more = json!({"options": {"onFailure": "continue"}});
    let parsed = lab.parse_with("login.html", actions, more, &[], 1);
    assert_eq!(parsed.json["status"], "partial");
    let codes: Vec<&str> = parsed.json["errors"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|error| error["code"].as_str())
        .collect();
    assert_eq!(
        codes,
        ["B-compound_action", "B-not_understood", "B-not_understood"]
    );
    assert_eq!(
        parsed.json["errors"][1]["help"],
        "the closest form is: click X"
    );
    assert_eq!(lab.site.count("login"), 0);
    assert_eq!(parsed.steps().len(), 1);
}

#[test]
fn hosts_are_limited_in_addresses_and_in_links() {
    let Some(lab) = Lab::new() else { return };
    let host = lab
        .site
        .url("")
        .replace("http://", "")
        .trim_end_matches('/')
        .to_owned();
    let only = ["--only-hosts", host.as_str()];
    let parsed = lab.parse_with(
        "login.html",
        json!(["open http://localhost:1/x"]),
        json!({}),
        &only,
        1,
    );
    assert_eq!(parsed.error()["code"], "B-host_refused");
    assert!(
        parsed.error()["help"]
            .as_str()
            .expect("one")
            .contains("--only-hosts")
    );

    let parsed = lab.parse_with("frames.html", json!(["wait 1 ms"]), json!({}), &only, 0);
    // The frames of other hosts are not there.
    let shown = parsed.steps()[0]["context"]["domStructureSnapshot"]
        .as_str()
        .expect("one");
    assert!(
        shown.contains("Payment by same") && !shown.contains("Payment by site"),
        "{shown}"
    );
    // Without the flag it is as before.
    let parsed = lab.parse("frames.html", &["wait 1 ms"], 0);
    let shown = parsed.steps()[0]["context"]["domStructureSnapshot"]
        .as_str()
        .expect("one");
    assert!(shown.contains("Payment by site"), "{shown}");
}

#[test]
fn files_outside_of_the_root_are_not_uploaded() {
    let Some(lab) = Lab::new() else { return };
    for file in ["/etc/hostname", "../outside.txt", "nothing.txt"] {
        let action = format!("upload '{file}' to Picture");
        let parsed = lab.parse("files.html", &[&action], 1);
        assert_eq!(parsed.error()["code"], "B-file_refused", "{file}");
    }
    assert_eq!(lab.site.count("upload"), 0);
}

#[test]
fn without_a_browser_it_says_what_was_looked_for() {
    let Some(lab) = Lab::new() else { return };
    lab.scratch
        .write(
            "s.json",
            json!({"url": lab.site.url(""), "actions": ["go back"]}).to_string(),
        )
        .expect("writable");
    let finished = crate::program::run(
        &lab.scratch,
        &["parse", "s.json", "--browser", "/nowhere/chrome"],
    );
    assert_eq!(finished.code(), Some(2));
    assert!(
        finished.stderr.contains("/nowhere/chrome"),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stdout, "");
}

#[test]
fn a_page_whose_script_never_ends_is_given_up() {
    let Some(lab) = Lab::new() else { return };
    lab.scratch
        .write(
            "page.html",
            "<!doctype html><title>Busy</title><button onclick=\"for (;;);\">Loop</button>",
        )
        .expect("writable");
    let url = format!("file://{}", lab.scratch.work().join("page.html").display());
    let actions = json!([{"action": "click 'Loop'", "timeoutMs": 1000}, "click 'Loop'"]);
    let parsed = lab.parse_with("", actions, json!({"url": url}), &[], 1);
    assert_eq!(parsed.error()["code"], "B-timeout", "{}", parsed.stderr);
    assert_eq!(parsed.steps().len(), 0);
}

#[test]
fn a_part_of_a_page_can_be_looked_at() {
    let Some(lab) = Lab::new() else { return };
    let parsed = lab.parse_with(
        "login.html",
        json!(["click 'Forgot password?'"]),
        json!({}),
        &["--page-root", "#login", "--timings", "--full-dom"],
        0,
    );
    let shown = parsed.steps()[0]["context"]["domStructureSnapshot"]
        .as_str()
        .expect("one");
    assert!(!shown.contains("Products"), "{shown}");
    assert!(parsed.json["executionTimeMs"].is_u64());
    assert!(parsed.steps()[0]["context"]["fullDomSnapshot"]["nodes"].is_array());
}

#[test]
fn against_what_covers_an_element_steps_are_proposed_that_work_when_copied() {
    let Some(lab) = Lab::new() else { return };
    lab.scratch
        .write(
            "page.html",
            "<!doctype html><title>Shop</title><h1>Shop</h1><button style='position: absolute; top: 80px'>Order</button>\
             <div style='position: fixed; inset: 40px 0 auto 0; height: 300px; background: #ccc'>We use cookies \
             <button onclick='this.parentNode.remove()'>Accept all</button></div>",
        )
        .expect("writable");
    let url = json!({"url": format!("file://{}", lab.scratch.work().join("page.html").display())});
    let order = json!({"action": "click 'Order'", "timeoutMs": 1500});
    let parsed = lab.parse_with("", json!([order.clone()]), url.clone(), &[], 1);
    assert_eq!(parsed.error()["code"], "B-element_covered");
    let help = parsed.error()["help"].as_str().expect("a help");
    let proposed = &help[help.find('{').expect("a step")..];
    let proposed: serde_json::Value = serde_json::from_str(proposed).expect("JSON");
    assert_eq!(proposed["optional"], true);
    lab.parse_with("", json!([proposed, order]), url, &[], 0);
}

#[test]
fn an_option_of_a_list_that_the_page_makes_must_be_there_and_may_not_be_disabled() {
    let Some(lab) = Lab::new() else { return };
    for (action, words) in [
        ("select 'Bus' from Size", "option `Bus` is disabled"),
        ("select 'Black' from Colour", "option `Black` is disabled"),
        (
            "select 'Tram' from Size",
            "available: `Small car`, `Family car`, `Van`, `Bus`",
        ),
    ] {
        let actions = json!([{"action": action, "timeoutMs": 1500}]);
        let parsed = lab.parse_with("components/rentals.html", actions, json!({}), &[], 1);
        assert_eq!(
            parsed.error()["code"],
            "B-option_not_found",
            "{}",
            parsed.stderr
        );
        let message = parsed.error()["message"].as_str().expect("one");
        assert!(message.contains(words), "{message}");
    }
}
