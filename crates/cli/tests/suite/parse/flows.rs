//! What people do on pages, in sentences.

use serde_json::json;

use super::Lab;

#[test]
fn signing_in_as_in_the_documentation() {
    let Some(mut lab) = Lab::new() else { return };
    let actions = [
        "type '{{USER}}' into the E-mail field",
        "enter '{{PASSWORD}}' into Password",
        "check 'Remember me'",
        "click the 'Log in' button",
        "verify the URL contains '/home'",
        "verify 'You are signed in' is visible",
        "verify the Welcome heading is visible",
        "extract the Welcome heading",
        "click 'Products'",
        "go back",
        "the title is 'Home'",
    ];
    let more = json!({
        "variables": {"USER": "ana@example.org", "PASSWORD": null},
        "secrets": ["PASSWORD"],
    });
    lab.scratch.set("CUECARD_VAR_PASSWORD", "correct horse");
    let parsed = lab.parse_with("login.html", json!(actions), more, &[], 0);
    assert_eq!(parsed.json["success"], true);
    assert_eq!(parsed.json["status"], "success");
    assert_eq!(parsed.json["errors"], json!(null));
    assert_eq!(lab.site.count("login"), 1);
    assert_eq!(parsed.steps().len(), actions.len());
    assert_eq!(
        parsed.selectors()[..4],
        [
            "role=textbox[name=\"E-mail\"]",
            "role=textbox[name=\"Password\"]",
            "role=checkbox[name=\"Remember me\"]",
            "testid=submit",
        ]
    );
    let step = &parsed.steps()[0];
    assert_eq!(step["value"], "{{USER}}");
    assert_eq!(step["translator"], "rules");
    assert_eq!(step["fingerprint"]["role"], "textbox");
    let shown = step["context"]["domStructureSnapshot"]
        .as_str()
        .expect("a text");
    assert!(
        shown.contains("[2] textbox \"E-mail\" type=email"),
        "{shown}"
    );
    let click = &parsed.steps()[3];
    assert!(
        click["observed"]["url"]
            .as_str()
            .expect("one")
            .ends_with("/home.html"),
        "{click:#}"
    );
    assert_eq!(click["observed"]["settle"], "loaded");
    assert_eq!(parsed.steps()[7]["observed"]["extractedContent"], "Welcome");
    assert_eq!(parsed.json["extractedContent"], "Welcome");
    assert_eq!(parsed.json["variables"], json!({"USER": "ana@example.org"}));
    assert_eq!(parsed.json["secrets"], json!(["PASSWORD"]));
    assert!(!parsed.text.contains("correct horse") && !parsed.stderr.contains("correct horse"));
}

#[test]
fn the_same_page_gives_the_same_bytes() {
    let Some(lab) = Lab::new() else { return };
    let actions = [
        "click 'Add to cart' in the 'Blue linen shirt' row",
        "verify 'Blue linen shirt was added' is visible",
        "there are 20 'Add to cart' buttons",
        "scroll down",
        "scroll to the 'White wool scarf' heading",
    ];
    // How long the page took is an observation, and a busy machine makes it slow.
    let [instant, quiet] = ["instant", "quiet"].map(|how| format!("\"settle\": \"{how}\""));
    let texts: Vec<String> = (0..2)
        .map(|_| lab.parse("shop.html", &actions, 0).text)
        .map(|text| text.replace(&instant, &quiet))
        .collect();
    assert!(texts[0].contains(&quiet), "{}", texts[0]);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn look_alikes_are_told_apart_or_nothing_is_done() {
    let Some(lab) = Lab::new() else { return };
    let parsed = lab.parse("shop.html", &["click 'Add to cart'"], 1);
    let error = parsed.error();
    assert_eq!(error["code"], "B-ambiguous_action");
    let candidates = error["candidates"].as_array().expect("a list");
    assert_eq!(candidates.len(), 20);
    assert_eq!(
        candidates[0],
        "button \"Add to cart\" in listitem \"Red cotton shirt\""
    );
    let help = error["help"].as_str().expect("sentences");
    let mut lines = help.lines();
    assert_eq!(lines.next(), Some("specify which one:"));
    let say: Vec<&str> = lines.filter_map(|line| line.strip_prefix("- ")).collect();
    assert_eq!(say.len(), 5, "{help}");
    assert_eq!(say[0], "click 'Add to cart' in the 'Red cotton shirt' item");
    // The proposed sentences are understood.
    let parsed = lab.parse("shop.html", &say, 0);
    assert_eq!(parsed.selectors().len(), say.len());
    let parsed = lab.parse(
        "shop.html",
        &[say[0], "'Red cotton shirt was added' is visible"],
        0,
    );
    assert_eq!(
        parsed.selectors()[0],
        "within=role=listitem[name=\"Red cotton shirt\"] >> role=button[name=\"Add to cart\"]"
    );
}

#[test]
fn dialogs_of_the_browser_are_answered_and_told() {
    let Some(lab) = Lab::new() else { return };
    let actions = ["click 'Ask me'", "verify 'No' is visible"];
    let parsed = lab.parse("dialogs.html", &actions, 0);
    let observed = &parsed.steps()[0]["observed"];
    assert_eq!(
        observed["dialogs"],
        json!([{"kind": "confirm", "message": "Really?", "accepted": false}])
    );
    // It is told once, below its own step.
    let lines: Vec<&str> = parsed.stderr.lines().collect();
    let told = |words: &str| lines.iter().position(|line| line.contains(words));
    assert_eq!(parsed.stderr.matches("Really?").count(), 1);
    assert_eq!(
        told("Really?"),
        told("click 'Ask me'").map(|line| line + 1),
        "{lines:#?}"
    );
    // Who says what becomes of dialogs expects them.
    let more = json!({"options": {"onDialog": "accept"}});
    let actions = json!([
        "click 'Ask me'",
        "verify 'Yes' is visible",
        "click 'Ask my name'",
        "verify 'Name: Ana' is visible"
    ]);
    let parsed = lab.parse_with("dialogs.html", actions, more, &[], 0);
    assert!(parsed.steps()[0]["observed"]["warnings"].is_null());
    assert!(parsed.stderr.contains("confirm `Really?`: accepted\n"));
    assert_eq!(parsed.json["options"], json!({"onDialog": "accept"}));
    // What a dialog said holds until the next action.
    let actions = [
        "click 'Ask me'",
        "verify the alert says 'Really?'",
        "verify the confirmation does not say 'Hello'",
        "click 'Say hello'",
        "verify the alert is 'Hello'",
        "click 'Delete account'",
        "verify the alert contains 'be undone'",
    ];
    let parsed = lab.parse("dialogs.html", &actions, 0);
    assert_eq!(parsed.steps()[1]["assertion"]["kind"], "dialog");
    // A dialog of the page itself is a place like any other.
    let actions = [
        "click 'Open settings'",
        "check 'News by mail' in the 'Settings' dialog",
        "click 'Save' in the 'Settings' dialog",
        "verify 'Settings: save' is visible",
        "verify the 'News by mail' checkbox is not visible",
    ];
    lab.parse("dialogs.html", &actions, 0);
}

#[test]
fn frames_and_shadow_roots_are_parts_of_the_page() {
    let Some(lab) = Lab::new() else { return };
    let actions = [
        "type '4111' into 'Card number' in the 'Other site' frame",
        "click 'Pay' in the 'Other site' frame",
        "click 'Pay' in the 'Same origin' frame",
        "verify 'Payment by site' is visible",
    ];
    let parsed = lab.parse("frames.html", &actions, 0);
    assert!(
        parsed.selectors()[1].starts_with("frame=css=") && parsed.selectors()[1].contains("Pay"),
        "{:?}",
        parsed.selectors()
    );
    let parsed = lab.parse("shadow.html", &["type 'SAVE10' into Voucher"], 0);
    assert!(parsed.selectors()[0].starts_with("shadow=css=#plain >> "));
}

#[test]
fn what_is_above_is_scrolled_to_and_what_is_no_button_is_pointed_at() {
    let Some(lab) = Lab::new() else { return };
    let actions = [
        "press End in 'People'",
        "verify 'Person 10000' is visible",
        "verify 'Person 9900' is not visible",
        "scroll to 'Person 9900'",
        "verify 'Person 9900' is visible",
        "hover the People heading",
        "click the People heading",
        // A text ends with its block.
        "verify 'People Filter' is not visible",
        "click 'Person 9901' in the 'People' list",
        "verify '1 of 10000 picked' is visible",
    ];
    lab.parse("list.html", &actions, 0);
}

#[test]
fn tabs_that_open_are_followed() {
    let Some(lab) = Lab::new() else { return };
    let actions = [
        "click the 'Open terms' link",
        "verify 'Be kind.' is visible",
        "click 'Close'",
        "click the Security tab",
        "verify 'Two keys.' is visible",
    ];
    let parsed = lab.parse("tabs.html", &actions, 0);
    let tabs: Vec<_> = parsed
        .steps()
        .iter()
        .map(|step| step["tab"].clone())
        .collect();
    assert_eq!(json!(tabs), json!([null, 1, 1, null, null]));
}

#[test]
fn files_go_up_from_the_root_and_come_down_into_the_run() {
    let Some(lab) = Lab::new() else { return };
    lab.scratch
        .write("files/note.txt", "words")
        .expect("writable");
    let actions = [
        "upload 'files/note.txt' to Picture",
        "verify 'Received note.txt' is visible",
        "click 'Download report'",
        "verify the download is 'report.csv'",
        "click 'Save a copy'",
        "verify the name of the downloaded file does not contain 'report'",
    ];
    let parsed = lab.parse("files.html", &actions, 0);
    assert_eq!(parsed.steps()[3]["assertion"]["kind"], "download");
    let download = &parsed.steps()[2]["observed"]["downloads"][0];
    assert_eq!(
        (&download["name"], &download["size"]),
        (&json!("report.csv"), &json!(24))
    );
    assert_eq!(download["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(
        parsed.steps()[4]["observed"]["downloads"][0]["name"],
        "named"
    );
    let files = lab.run_files();
    let is_there = |name: &str| files.iter().any(|(path, _)| path.ends_with(name));
    assert!(is_there("downloads/report.csv") && is_there("downloads/named"));
}

#[test]
fn what_is_not_rendered_yet_is_scrolled_to() {
    let Some(lab) = Lab::new() else { return };
    let actions = [
        "scroll to 'Person 60'",
        "click 'Person 60'",
        "verify '1 of 10000 picked' is visible",
    ];
    let parsed = lab.parse("list.html", &actions, 0);
    assert_eq!(parsed.selectors()[0], "role=option[name=\"Person 60\"]");
    let actions = [
        "scroll to the 'Read Story 25' link",
        "verify the 'Read Story 25' link is visible",
    ];
    lab.parse("lazy.html", &actions, 0);
}

#[test]
fn a_page_that_is_never_idle_is_no_obstacle() {
    let Some(lab) = Lab::new() else { return };
    let actions = ["click 'Refresh'", "wait until 'Refreshed' is visible"];
    let parsed = lab.parse("busy.html", &actions, 0);
    assert_eq!(parsed.steps()[0]["observed"]["settle"], "bounded");
}

#[test]
fn what_must_not_be_there_is_asserted_and_doubted() {
    let Some(lab) = Lab::new() else { return };
    let actions = [
        "verify the 'Log uot' button is not visible",
        "verify 'Log out' is not visible",
        "there are no 'Delete' buttons",
        "the Password field is enabled",
        "'Remember me' is unchecked",
    ];
    let parsed = lab.parse("login.html", &actions, 0);
    let warning = parsed.steps()[0]["observed"]["warnings"][0].as_str();
    assert!(
        warning.is_some_and(|text| text.contains("never present in this run")),
        "{warning:?}"
    );
}

#[test]
fn what_a_page_does_not_take_is_not_dragged_in_silence() {
    let Some(lab) = Lab::new() else { return };
    // The column has no list that takes cards.
    let parsed = lab.parse("dragging/board.html", &["drag 'Call Ana' to 'Closed'"], 1);
    let error = &parsed.json["errors"][0];
    assert_eq!(error["code"], "B-value_rejected", "{error:#}");
    assert_eq!(error["message"], "the drag changed nothing on the page");
    // A card that is rewritten while it is pressed is not dragged.
    let actions = [
        "drag 'Call Ana' to 'Done'",
        "verify 'Nothing was moved.' is visible",
    ];
    let parsed = lab.parse("dragging/board.html?rewritten", &actions, 1);
    assert!(parsed.steps().is_empty(), "{:#}", parsed.json);
}

#[test]
fn a_default_stands_in_for_a_variable_that_nobody_gave() {
    let Some(lab) = Lab::new() else { return };
    let actions = json!([
        r#"type '{{WHO | default("ana")}}' into the E-mail field"#,
        r#"verify the value of E-mail is "{{WHO | default('ana')}}""#,
    ]);
    for (args, value) in [(&[][..], "ana"), (&["--var", "WHO=bob"][..], "bob")] {
        let more = json!({"actions": [actions[0], actions[1], format!("verify the value of E-mail is '{value}'")]});
        let parsed = lab.parse_with("login.html", json!([]), more, args, 0);
        assert_eq!(parsed.json["variables"], json!({"WHO": null}));
        lab.scratch
            .write("steps.json", parsed.text.as_str())
            .expect("writable");
        let played =
            crate::program::run(&lab.scratch, &[&["play", "steps.json"][..], args].concat());
        assert_eq!(played.code(), Some(0), "{}", crate::program::told(&played));
    }
}
