use super::*;
use crate::AssertKind;
use crate::dom::testing::page;
use serde_json::json;

/// What a sentence asks, on one line.
fn said(sentence: &str) -> String {
    let intent = match understand(sentence) {
        Understanding::Understood(intent) => intent,
        Understanding::NotUnderstood { .. } => return "-".to_owned(),
        Understanding::Compound { parts } => return format!("compound {}", parts.join(" | ")),
    };
    let step = &intent.step;
    let mut words = vec![step.action_type.as_str().to_owned()];
    words.extend(step.url.clone());
    words.extend(step.key.clone());
    words.extend(
        step.direction
            .map(|direction| direction.as_str().to_owned()),
    );
    words.extend(step.duration_ms.map(|duration| duration.to_string()));
    words.extend(
        step.input_value
            .as_ref()
            .map(|value| value.to_json().to_string()),
    );
    if let Some(assertion) = &step.assertion {
        if assertion.negate {
            words.push("not".to_owned());
        }
        words.push(assertion.kind.as_str().to_owned());
        if let Some(expected) = &assertion.expected {
            let how = match assertion.kind {
                AssertKind::Count => json!(assertion.compare),
                _ => json!(assertion.matching),
            };
            let how = how.as_str().unwrap_or_default();
            words.push(format!("{how} {expected}"));
        }
    }
    let places = intent.to.iter().filter_map(|to| to.phrase.as_ref());
    for phrase in intent.phrase.iter().chain(places) {
        let bare = if phrase.is_quoted { "" } else { "~" };
        words.push(format!("→ {bare}{phrase}"));
    }
    words.join(" ")
}

#[test]
fn words_that_stand_elsewhere_are_put_in_order() {
    for (sentence, expected) in [
        (
            "In the 'Billing' form, click Save",
            "click → ~'Save' in the 'Billing' form",
        ),
        ("Memo: type 'Rent March'", "input \"Rent March\" → ~'Memo'"),
        (
            "Seniority: select Senior",
            "select \"Senior\" → ~'Seniority'",
        ),
        ("I'd like to click Save", "click → ~'Save'"),
        ("Let's go to /cart", "navigate /cart"),
        ("scroll all the way down", "scroll bottom"),
        ("scroll all the way up", "scroll top"),
        ("pause for half a second", "wait 500"),
        ("wait for two seconds", "wait 2000"),
        ("upload 'a.pdf'", "upload \"a.pdf\" → ~element for that"),
        (
            "attach the file a.pdf",
            "upload \"a.pdf\" → ~element for that",
        ),
        (
            "the title of the page contains 'Inbox'",
            "assert title contains \"Inbox\"",
        ),
        (
            "verify the page should not contain the word 'Error'",
            "assert not text contains \"Error\"",
        ),
        (
            "I see 'Saved' somewhere on the page",
            "assert text contains \"Saved\"",
        ),
    ] {
        assert_eq!(said(sentence), expected, "{sentence}");
    }
}

#[test]
fn sentences_mean_what_the_grammar_says() {
    let table = [
        // Going somewhere.
        (
            "Go to https://shop.example/",
            "navigate https://shop.example/",
        ),
        ("navigate to /cart", "navigate /cart"),
        ("open 'https://a.example/x y'", "-"),
        ("Open \"/items?q=a\"", "navigate /items?q=a"),
        ("visit {{BASE}}/login", "navigate {{BASE}}/login"),
        ("go to {{BASE}}", "navigate {{BASE}}"),
        ("go to the https://a.example.", "navigate https://a.example"),
        ("open about:blank", "navigate about:blank"),
        ("open file:///tmp/x.html", "navigate file:///tmp/x.html"),
        ("go back", "navigate back"),
        ("Go forward", "navigate forward"),
        ("reload", "navigate reload"),
        ("reload the page", "navigate reload"),
        ("go back please", "navigate back"),
        ("go to Settings", "click → ~'Settings'"),
        ("open the menu", "click → ~'menu'"),
        ("go", "-"),
        ("go home", "-"),
        ("reload twice", "-"),
        ("visit javascript:alert(1)", "-"),
        ("navigate /cart", "-"),
        // Clicking.
        ("click 'Log in'", "click → 'Log in'"),
        ("Click on the 'Log in' button", "click → 'Log in' button"),
        ("click the Log in button", "click → ~'Log in' button"),
        ("tap “Next”", "click → 'Next'"),
        ("press ‘Next’", "click → 'Next'"),
        ("press «Next»", "click → 'Next'"),
        ("click `Next`", "click → 'Next'"),
        ("click \"Don't\"", "click → \"Don't\""),
        ("click 'Don't stop'", "click → \"Don't stop\""),
        ("click button 'Save'", "click → 'Save' button"),
        ("click the link 'Home'", "click → 'Home' link"),
        ("click the 'Home' link.", "click → 'Home' link"),
        ("please click 'OK'!", "click → 'OK'"),
        ("click 'OK' please", "click → 'OK'"),
        (
            "click Terms and conditions",
            "click → ~'Terms and conditions'",
        ),
        ("click 'Save and close'", "click → 'Save and close'"),
        ("click 'Cut, then type'", "click → 'Cut, then type'"),
        ("click Sign on", "click → ~'Sign on'"),
        ("click the 'Details' tab", "click → 'Details' tab"),
        ("click the 'Copy' menu item", "click → 'Copy' menu item"),
        (
            "click the 'Express' radio button",
            "click → 'Express' radio",
        ),
        ("click the 'Logo' image", "click → 'Logo' image"),
        ("click {{NAME}}", "click → '{{NAME}}'"),
        (
            "click 'Delete' in the 'Invoice 1' row",
            "click → 'Delete' in the 'Invoice 1' row",
        ),
        (
            "click the Delete button in the Invoice 1 row",
            "click → ~'Delete' button in the 'Invoice 1' row",
        ),
        ("click 'OK' in the dialog", "click → 'OK' in the dialog"),
        (
            "click 'OK' in the 'Really?' dialog",
            "click → 'OK' in the 'Really?' dialog",
        ),
        (
            "click 'Add' in the 'Tea' section",
            "click → 'Add' in the 'Tea' section",
        ),
        (
            "click 'Send' in the 'Contact' form",
            "click → 'Send' in the 'Contact' form",
        ),
        ("click Log in", "click → ~'Log in'"),
        ("click Link", "click → ~'Link'"),
        ("double-click 'Cell'", "doubleClick → 'Cell'"),
        ("Double click the 'Cell' link", "doubleClick → 'Cell' link"),
        ("hover 'Menu'", "hover → 'Menu'"),
        ("hover over the 'Menu' button", "hover → 'Menu' button"),
        ("hover on 'Menu'", "hover → 'Menu'"),
        ("click", "-"),
        ("click the", "click → ~'the'"),
        ("click 'unclosed", "-"),
        ("click ''", "-"),
        ("click 'A' 'B'", "-"),
        ("click 'A' twice", "-"),
        ("click 'A' quickly in the row", "-"),
        ("double 'A'", "-"),
        ("", "-"),
        ("please", "-"),
        (".", "-"),
        // Typing.
        ("type 'ana' into 'Name'", "input \"ana\" → 'Name'"),
        (
            "type 'ana' in the Name field",
            "input \"ana\" → ~'Name' field",
        ),
        (
            "enter {{USER}} into the Email field",
            "input \"{{USER}}\" → ~'Email' field",
        ),
        (
            "Enter 'a b' into the 'Search' box",
            "input \"a b\" → 'Search' field",
        ),
        (
            "type 'x' into 'Q' in the 'Top' section",
            "input \"x\" → 'Q' in the 'Top' section",
        ),
        ("fill 'ana' into 'Name'", "input \"ana\" → 'Name'"),
        ("fill in 'ana' in 'Name'", "input \"ana\" → 'Name'"),
        (
            "fill in the 'Name' field with 'ana'",
            "input \"ana\" → 'Name' field",
        ),
        ("fill Name with 'ana'", "input \"ana\" → ~'Name'"),
        ("fill 'Name' with {{USER}}", "input \"{{USER}}\" → 'Name'"),
        ("fill Paid with with 'x'", "input \"x\" → ~'Paid with'"),
        ("set Quantity to 3", "input 3 → ~'Quantity'"),
        ("set 'Price' to 1.50", "input \"1.50\" → 'Price'"),
        (
            "set the 'Bill to' field to 'Ana'",
            "input \"Ana\" → 'Bill to' field",
        ),
        ("set 'Name' to ''", "input \"\" → 'Name'"),
        ("type 0 into 'Count'", "input 0 → 'Count'"),
        ("type -5 into 'Count'", "input -5 → 'Count'"),
        ("type 007 into 'Agent'", "input \"007\" → 'Agent'"),
        ("clear 'Name'", "input \"\" → 'Name'"),
        ("clear the Name field", "input \"\" → ~'Name' field"),
        (
            "type \"say 'hi'\" into 'Note'",
            "input \"say 'hi'\" → 'Note'",
        ),
        (
            "type 'A and click B' into 'Note'",
            "input \"A and click B\" → 'Note'",
        ),
        ("type hello into Name", "input \"hello\" → ~'Name'"),
        ("type 'x'", "-"),
        ("type 'x' at 'Name'", "-"),
        ("type 'x' into", "-"),
        ("enter", "-"),
        ("fill 'Name'", "-"),
        ("fill Name with hello", "input \"hello\" → ~'Name'"),
        ("set Name", "-"),
        ("set Name to hello", "input \"hello\" → ~'Name'"),
        ("clear", "-"),
        // Checking.
        ("check 'Remember me'", "input true → 'Remember me'"),
        (
            "tick the 'Remember me' checkbox",
            "input true → 'Remember me' checkbox",
        ),
        (
            "check the Remember me box",
            "input true → ~'Remember me' checkbox",
        ),
        ("uncheck 'Remember me'", "input false → 'Remember me'"),
        ("untick the News checkbox", "input false → ~'News' checkbox"),
        ("check", "-"),
        // Selecting, keys, scrolling, waiting, files.
        ("select 'Red' from 'Colour'", "select \"Red\" → 'Colour'"),
        (
            "choose 'Red' from the Colour dropdown",
            "select \"Red\" → ~'Colour' dropdown",
        ),
        (
            "select the 'Red' from 'Colour'",
            "select \"Red\" → 'Colour'",
        ),
        (
            "select {{COLOUR}} from 'Colour'",
            "select \"{{COLOUR}}\" → 'Colour'",
        ),
        ("select 'Red'", "click → 'Red'"),
        ("select Red from Colour", "select \"Red\" → ~'Colour'"),
        ("press Enter", "press Enter"),
        ("press 'Enter'", "click → 'Enter'"),
        ("press the Enter key", "press Enter"),
        ("press the Enter button", "click → ~'Enter' button"),
        ("press Enter in 'Search'", "press Enter → 'Search'"),
        ("press Escape", "press Escape"),
        ("press esc", "press Escape"),
        ("press Control+A", "press Control+A"),
        (
            "press ctrl+shift+Tab in the Name field",
            "press Control+Shift+Tab → ~'Name' field",
        ),
        ("press F5", "press F5"),
        ("press arrow down", "press ArrowDown"),
        ("press PageDown", "press PageDown"),
        ("press page up", "press PageUp"),
        ("press x", "press x"),
        ("press Save", "click → ~'Save'"),
        ("press F13", "click → ~'F13'"),
        ("press Foo+A", "click → ~'Foo+A'"),
        ("press", "-"),
        ("scroll down", "scroll down"),
        ("Scroll up", "scroll up"),
        ("scroll to 'Reviews'", "scroll → 'Reviews'"),
        (
            "scroll to the 'Reviews' heading",
            "scroll → 'Reviews' heading",
        ),
        ("scroll", "-"),
        ("scroll left", "-"),
        ("wait 2 s", "wait 2000"),
        ("wait 2s", "wait 2000"),
        ("wait for 1.5 seconds", "wait 1500"),
        ("wait 300 ms", "wait 300"),
        (
            "wait until 'Done' is visible",
            "wait text contains \"Done\"",
        ),
        (
            "wait until the Save button is enabled",
            "wait enabled → ~'Save' button",
        ),
        (
            "wait until that 'Done' appears",
            "wait text contains \"Done\"",
        ),
        ("wait", "-"),
        ("wait a moment", "-"),
        ("wait 2 hours", "-"),
        ("wait 0 s", "-"),
        ("wait 99999 s", "-"),
        ("upload 'a.txt' to 'File'", "upload \"a.txt\" → 'File'"),
        (
            "upload a.txt to the File field",
            "upload \"a.txt\" → ~'File' field",
        ),
        ("upload {{FILE}} to 'File'", "upload \"{{FILE}}\" → 'File'"),
        ("upload to 'File'", "-"),
        ("extract 'Total'", "extract → 'Total'"),
        ("extract the 'Total' heading", "extract → 'Total' heading"),
        // Asserting.
        (
            "verify that 'Welcome' is visible",
            "assert text contains \"Welcome\"",
        ),
        (
            "verify 'Welcome' is shown",
            "assert text contains \"Welcome\"",
        ),
        (
            "expect 'Welcome' appears",
            "assert text contains \"Welcome\"",
        ),
        (
            "assert 'Welcome' is not visible",
            "assert not text contains \"Welcome\"",
        ),
        (
            "assert that 'Error' is gone",
            "assert not text contains \"Error\"",
        ),
        (
            "check that 'Error' is hidden",
            "assert not text contains \"Error\"",
        ),
        (
            "check 'Error' is not hidden",
            "assert text contains \"Error\"",
        ),
        (
            "check that the Save button is visible",
            "assert visible → ~'Save' button",
        ),
        (
            "verify the 'Save' button is hidden",
            "assert not visible → 'Save' button",
        ),
        ("verify Save is visible", "assert visible → ~'Save'"),
        (
            "verify the 'Save' button is not visible",
            "assert not visible → 'Save' button",
        ),
        (
            "'Welcome' should be visible",
            "assert text contains \"Welcome\"",
        ),
        (
            "the Save button should not be enabled",
            "assert not enabled → ~'Save' button",
        ),
        (
            "'Spinner' should not appear",
            "assert not text contains \"Spinner\"",
        ),
        (
            "'Spinner' does not appear",
            "assert not text contains \"Spinner\"",
        ),
        (
            "verify the 'Save' button is disabled",
            "assert disabled → 'Save' button",
        ),
        (
            "verify the 'Save' button is enabled",
            "assert enabled → 'Save' button",
        ),
        (
            "check the News checkbox is checked",
            "assert checked → ~'News' checkbox",
        ),
        ("check 'News' is unchecked", "assert unchecked → 'News'"),
        ("verify 'Name' is focused", "assert focused → 'Name'"),
        ("verify 'Name' is editable", "assert editable → 'Name'"),
        (
            "verify the value of 'Name' is 'Ana'",
            "assert value equals \"Ana\" → 'Name'",
        ),
        (
            "the value of the Name field is not ''",
            "assert not value equals \"\" → ~'Name' field",
        ),
        (
            "verify the value of Count is 3",
            "assert value equals \"3\" → ~'Count'",
        ),
        (
            "the URL is 'https://a.example/'",
            "assert url equals \"https://a.example/\"",
        ),
        (
            "verify the URL contains '/home'",
            "assert url contains \"/home\"",
        ),
        (
            "verify the URL contains /home",
            "assert url contains \"/home\"",
        ),
        (
            "the url does not contain 'error'",
            "assert not url contains \"error\"",
        ),
        (
            "the URL should contain 'cart'",
            "assert url contains \"cart\"",
        ),
        ("the title is 'Shop'", "assert title equals \"Shop\""),
        (
            "the page title contains 'Shop'",
            "assert title contains \"Shop\"",
        ),
        (
            "there are 3 'Delete' buttons",
            "assert count = 3 → 'Delete' button",
        ),
        (
            "verify that there are at least 2 'Add' links",
            "assert count >= 2 → 'Add' link",
        ),
        (
            "there are at most 5 'Buy' buttons",
            "assert count <= 5 → 'Buy' button",
        ),
        (
            "there is exactly 1 'Total' heading",
            "assert count = 1 → 'Total' heading",
        ),
        (
            "there are no 'Delete' buttons",
            "assert count = 0 → 'Delete' button",
        ),
        (
            "there should be 2 'Add' buttons",
            "assert count = 2 → 'Add' button",
        ),
        (
            "there are 2 'Size' check boxes",
            "assert count = 2 → 'Size' checkbox",
        ),
        (
            "verify the 'Cart' section contains 'Tea'",
            "assert text contains \"Tea\" → ~'Cart' section",
        ),
        (
            "verify the 'Cart' link contains 'Tea'",
            "assert text contains \"Tea\" → 'Cart' link",
        ),
        (
            "verify 'Delete' in the 'Tea' row is visible",
            "assert text contains \"Delete\" → ~'Tea' row",
        ),
        ("verify", "-"),
        ("verify that", "-"),
        ("verify 'Welcome'", "-"),
        ("verify 'Welcome' is blue", "-"),
        ("verify is visible", "-"),
        ("the URL is", "-"),
        ("the URL appears 'x'", "-"),
        ("there are many 'Delete' buttons", "-"),
        ("there are 3", "-"),
        ("there are 3 rows", "-"),
        ("there are no items", "-"),
        (
            "there are 3 rows in the table",
            "assert count = 3 → ~row in the table",
        ),
        (
            "there are at least 2 entries in the 'To do' list",
            "assert count >= 2 → ~item in the 'To do' list",
        ),
        (
            "the 'To do' column shows 3 cards",
            "assert count = 3 → ~item in the 'To do' section",
        ),
        (
            "the table should have at most 4 rows",
            "assert count <= 4 → ~row in the table",
        ),
        ("no error is shown", "assert not visible → ~alert"),
        ("there are no error messages", "assert not visible → ~alert"),
        (
            "no warnings are displayed on the page",
            "assert not visible → ~alert",
        ),
        (
            "no 'Delete' buttons are visible",
            "assert count = 0 → 'Delete' button",
        ),
        (
            "the 'Saved' alert is visible",
            "assert visible → 'Saved' alert",
        ),
        ("there are no lists in the navigation", "-"),
        ("'Welcome'", "-"),
        ("'Welcome' looks nice", "-"),
        // Places in an order; in small letters only before what begins with a capital one.
        (
            "click the first 'Delete' button",
            "click → first 'Delete' button",
        ),
        (
            "click the 2nd Delete button",
            "click → ~second 'Delete' button",
        ),
        (
            "click the last Delete button in the 'Tea' row",
            "click → ~last 'Delete' button in the 'Tea' row",
        ),
        ("check the third checkbox", "input true → ~third checkbox"),
        ("type 'x' into First name", "input \"x\" → ~'First name'"),
        (
            "type 'x' into the last name field",
            "input \"x\" → ~'last name' field",
        ),
        ("click 'Delete' in the first row", "-"),
        // What has no name.
        (
            "click the button in the 'Bob Brown' row",
            "click → ~button in the 'Bob Brown' row",
        ),
        (
            "check the checkbox in Bob Brown's row",
            "input true → ~checkbox in the 'Bob Brown' row",
        ),
        (
            "check the box for 'Bob Brown'",
            "input true → ~checkbox in the 'Bob Brown' item",
        ),
        (
            "type '3' into the Quantity field in the 'Tea' row",
            "input \"3\" → ~'Quantity' field in the 'Tea' row",
        ),
        ("click the button named 'Save'", "click → 'Save' button"),
        // Containers.
        (
            "click 'Edit' inside the 'Tea' card",
            "click → 'Edit' in the 'Tea' card",
        ),
        (
            "click 'Edit' in the row of Bob Brown",
            "click → 'Edit' in the 'Bob Brown' row",
        ),
        (
            "click 'Edit' in the row 'Bob Brown'",
            "click → 'Edit' in the 'Bob Brown' row",
        ),
        (
            "click 'Edit' next to Bob Brown",
            "click → 'Edit' in the 'Bob Brown' item",
        ),
        (
            "click 'Edit' under 'Billing'",
            "click → 'Edit' in the 'Billing' section",
        ),
        (
            "click 'Edit' under the 'Billing' heading",
            "click → 'Edit' in the 'Billing' section",
        ),
        ("click 'OK' in the popup", "click → 'OK' in the dialog"),
        ("click 'Edit' in the 'A' row of the 'B' table", "-"),
        ("open the 'Green tea' card", "click → ~'Green tea' card"),
        (
            "open the email from Tom Becker",
            "click → ~'Tom Becker' item",
        ),
        (
            "delete Hana Novak",
            "click → 'delete' in the 'Hana Novak' item",
        ),
        ("delete it", "-"),
        // Going somewhere by its name.
        ("open 'Settings'", "click → 'Settings'"),
        ("go to the 'Billing' tab", "click → 'Billing' tab"),
        ("switch to the Sale section", "click → ~'Sale'"),
        ("open shop.example", "-"),
        ("expand 'FAQ'", "click → 'FAQ'"),
        ("close the dialog", "click → 'Close' button in the dialog"),
        // Fields, switches, lists.
        ("write 'x' in the 'Note' box", "input \"x\" → 'Note' field"),
        (
            "enter ana@example.org as Email",
            "input \"ana@example.org\" → ~'Email'",
        ),
        ("enter 4111 1111 in Card", "input \"4111 1111\" → ~'Card'"),
        ("type hello in Name", "-"),
        ("search for 'tents'", "input \"tents\" → ~field"),
        ("search the help for tents", "input \"tents\" → ~field"),
        ("turn on 'Dark mode'", "input true → 'Dark mode'"),
        (
            "turn the 'Dark mode' switch off",
            "input false → 'Dark mode' checkbox",
        ),
        ("set 'Dark mode' to on", "input true → 'Dark mode'"),
        ("toggle 'Dark mode'", "-"),
        ("pick 'Red' as the Colour", "select \"Red\" → ~'Colour'"),
        (
            "choose 'Red' in the Colour dropdown",
            "select \"Red\" → ~'Colour' dropdown",
        ),
        (
            "select the 'Express' radio button",
            "click → 'Express' radio",
        ),
        ("right-click 'File'", "rightClick → 'File'"),
        (
            "right click the 'Lease.pdf' row",
            "rightClick → ~'Lease.pdf' row",
        ),
        ("drag 'A' to 'B'", "drag → 'A' → 'B'"),
        (
            "drag and drop the Tea card onto the 'Done' column",
            "drag → ~'Tea card' → ~'Done' section",
        ),
        (
            "drag 'Tea' in the 'To do' list to the first card",
            "drag → 'Tea' in the 'To do' list → ~'first card'",
        ),
        ("drag 'A'", "-"),
        ("drag 'A' above 'B'", "-"),
        ("drag Go to top to Go to end", "-"),
        ("drag the Volume slider to 20", "-"),
        (
            "drag 'A' to 'B' and click 'C'",
            "compound drag 'A' to 'B' | click 'C'",
        ),
        ("scroll to the bottom", "scroll bottom"),
        ("scroll to the top of the page", "scroll top"),
        ("scroll down to 'Reviews'", "scroll → 'Reviews'"),
        // Words that say nothing.
        ("then the user clicks on 'Save'", "click → 'Save'"),
        ("I type 'x' into 'Q'", "input \"x\" → 'Q'"),
        ("click 'Save' on the page", "click → 'Save'"),
        ("click Buy now", "click → ~'Buy now'"),
        // Assertions in other words.
        (
            "make sure that the Save button is enabled",
            "assert enabled → ~'Save' button",
        ),
        ("I should see 'Welcome'", "assert text contains \"Welcome\""),
        (
            "the user should not see the 'Delete' button",
            "assert not visible → 'Delete' button",
        ),
        (
            "expect 'Saved' to be visible",
            "assert text contains \"Saved\"",
        ),
        (
            "confirm 'Saved' is displayed on the page",
            "assert text contains \"Saved\"",
        ),
        (
            "the error message 'Too long' is no longer shown",
            "assert not text contains \"Too long\"",
        ),
        (
            "'Spinner' doesn't appear",
            "assert not text contains \"Spinner\"",
        ),
        (
            "the Save button isn't enabled",
            "assert not enabled → ~'Save' button",
        ),
        (
            "'Dark mode' is turned off",
            "assert unchecked → 'Dark mode'",
        ),
        (
            "the Name field is empty",
            "assert value equals \"\" → ~'Name' field",
        ),
        (
            "the Name field contains 'An'",
            "assert value contains \"An\" → ~'Name' field",
        ),
        (
            "the Name field has 'Ana'",
            "assert value equals \"Ana\" → ~'Name' field",
        ),
        (
            "the 'Total' heading reads '5 €'",
            "assert text equals \"5 €\" → 'Total' heading",
        ),
        (
            "the Colour dropdown is set to Red",
            "assert value equals \"Red\" → ~'Colour' dropdown",
        ),
        (
            "'Red' is selected in the Colour dropdown",
            "assert value equals \"Red\" → ~'Colour' dropdown",
        ),
        ("the 'Cart' does not contain 'Tea'", "-"),
        (
            "'Cart' is not 'Tea'",
            "assert not text equals \"Tea\" → 'Cart'",
        ),
        (
            "the status of Erik Lund should be Never",
            "assert text equals \"Never\" → 'status' in the 'Erik Lund' item",
        ),
        (
            "City tax is €6.60",
            "assert text equals \"€6.60\" → ~'City tax'",
        ),
        (
            "Total users should be 48",
            "assert text equals \"48\" → ~'Total users'",
        ),
        // In small letters it may say anything.
        (
            "the status of Erik Lund is Disabled",
            "assert text equals \"Disabled\" → 'status' in the 'Erik Lund' item",
        ),
        ("Lease.pdf is marked as Shared", "-"),
        ("Noah is an admin", "-"),
        ("the list contains no file named Invoice.pdf", "-"),
        (
            "'Paid' is visible in the 'Invoice 7' row",
            "assert text contains \"Paid\" → ~'Invoice 7' row",
        ),
        (
            "the Invoice 7 row shows 'Paid'",
            "assert text contains \"Paid\" → ~'Invoice 7' row",
        ),
        (
            "verify the 'Bob' row has 'Admin'",
            "assert text contains \"Admin\" → ~'Bob' row",
        ),
        (
            "the 'Save' button is visible in the 'Bob' row",
            "assert visible → 'Save' button in the 'Bob' row",
        ),
        (
            "the status of Erik Lund is 'Active'",
            "assert text equals \"Active\" → 'status' in the 'Erik Lund' item",
        ),
        ("the page contains 'Tea'", "assert text contains \"Tea\""),
        ("we are on /cart", "assert url equals \"/cart\""),
        ("there is a 'Save' button", "assert visible → 'Save' button"),
        ("there is no 'Error'", "assert not text contains \"Error\""),
        (
            "only one 'Delete' button is visible",
            "assert count = 1 → 'Delete' button",
        ),
        (
            "there are more than two 'Add' links",
            "assert count >= 3 → 'Add' link",
        ),
        ("wait for 'Done' to appear", "wait text contains \"Done\""),
        (
            "wait for the 'Save' button to be enabled",
            "wait enabled → 'Save' button",
        ),
        (
            "'A' is visible and 'B' is hidden",
            "compound 'A' is visible | 'B' is hidden",
        ),
        // More than one thing.
        ("click 'A' and click 'B'", "compound click 'A' | click 'B'"),
        (
            "Type 'x' into 'Q' and press Enter",
            "compound Type 'x' into 'Q' | press Enter",
        ),
        (
            "click 'A', then type 'b' into 'C'.",
            "compound click 'A' | type 'b' into 'C'",
        ),
        (
            "click 'A'; click 'B'; reload",
            "compound click 'A' | click 'B' | reload",
        ),
        (
            "Click File, then Delete page",
            "compound Click File | Delete page",
        ),
        ("check 'A' and 'B'", "compound "),
        // Other languages and other things.
        ("Klicke auf 'Anmelden'", "-"),
        ("log in as ana", "-"),
        ("make it so", "-"),
    ];
    assert!(table.len() >= 150, "{}", table.len());
    let wrong: Vec<String> = table
        .iter()
        .filter(|(sentence, expected)| said(sentence) != *expected)
        .map(|(sentence, expected)| {
            format!("{sentence}\n  is  {}\n  not {expected}", said(sentence))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_written_of_a_phrase_is_read_back() {
    for sentence in [
        "click 'Delete' in the 'Invoice 1' row",
        "click the \"Don't\" button in the 'A' section",
        "click `a'b\"c` in the dialog",
    ] {
        let Understanding::Understood(intent) = understand(sentence) else {
            panic!("{sentence}");
        };
        let phrase = intent.phrase.expect("a phrase");
        let Understanding::Understood(again) = understand(&format!("click {phrase}")) else {
            panic!("{phrase}");
        };
        assert_eq!(again.phrase, Some(phrase));
    }
}

const SHOP: &str = "h1 \"Shop\"
nav \"Main\"
  a \"Home\" href=/
  a \"Log in\" href=/login
form \"Search\"
  input \"Search\" type=search placeholder=\"What do you need?\"
  button \"Search\"
section
  h2 \"Tea\"
  button \"Add to cart\"
  input \"Amount\" type=number label=\"How many\"
section
  h2 \"Milk\"
  button \"Add to cart\"
table
  tr
    td | Invoice 1
    td
      button \"Delete\"
  tr
    td | Invoice 2
    td
      button \"Delete\"
input \"News\" type=checkbox
select \"Colour\" options=Red,Green
input \"Picture\" type=file ~hidden
button \"Under\" ~covered
button \"SAVE  all\"
button \"Save all as\"
p | Three left
img \"Logo\"
ul \"Fruit\" role=listbox
  li \"Pear\" role=option
nav \"Fruit basket\"
  a \"Pear\" href=/pear
button \"Off\" disabled
button \"Gone\" ~hidden";

fn assert_meanings(lines: &str, table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(sentence, expected)| (sentence, expected, meaning(lines, sentence)))
        .filter(|(_, expected, meaning)| meaning != *expected)
        .map(|(sentence, expected, meaning)| {
            format!("{sentence}\n  is  {meaning}\n  not {expected}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a sentence means on a page: the element in words, or why there is none. What is proposed means one element.
fn meaning(lines: &str, sentence: &str) -> String {
    let state = page(lines);
    let finder = Finder::new(&state, "data-testid");
    match finder.translate(sentence) {
        Translation::Step { target, to, .. } => match target {
            Some(id) => {
                let to = to.map(|to| format!(" to {}", finder.in_words(to)));
                finder.in_words(id) + &to.unwrap_or_default()
            }
            None => "no element".to_owned(),
        },
        Translation::NotUnderstood { .. } => "-".to_owned(),
        Translation::Compound { .. } => "compound".to_owned(),
        Translation::Ambiguous {
            candidates,
            words,
            say,
        } => {
            assert!(say.len() == candidates.len().min(5), "{words:?} {say:?}");
            for (say, candidate) in say.iter().zip(candidates) {
                assert!(meant(&finder, say).contains(&candidate), "{say}");
            }
            format!("{}; say {}", words.join(", "), say.join(" | "))
        }
        Translation::NotFound(NotFound {
            nearest,
            count,
            say,
            ..
        }) => {
            let count = count.map_or_else(String::new, |count| format!(" of {count}"));
            let all: Vec<_> = say.iter().map(|say| meant(&finder, say)).collect();
            assert!(all.iter().all(|one| !one.is_empty()), "{say:?}");
            assert!(all.windows(2).all(|two| two[0] != two[1]), "{say:?}");
            let say = match say.as_slice() {
                [] => String::new(),
                say => format!("; say {}", say.join(" | ")),
            };
            format!("none{count}, near {}{say}", nearest.join(", "))
        }
    }
}

/// The elements that a sentence means which was printed, when it is copied.
fn meant(finder: &Finder<'_>, sentence: &str) -> Vec<NodeId> {
    match finder.translate(sentence) {
        Translation::Step { target, to, .. } => target.into_iter().chain(to).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn words_mean_the_one_element_that_fits() {
    assert_meanings(
        SHOP,
        &[
            ("click 'Home'", "link \"Home\" in navigation \"Main\""),
            ("click home", "link \"Home\" in navigation \"Main\""),
            // A field and a button of one name: the role word decides, or the kind of action.
            (
                "click the Search button",
                "button \"Search\" in form \"Search\"",
            ),
            (
                "type 'x' into Search",
                "searchbox \"Search\" in form \"Search\"",
            ),
            (
                "click 'Search'",
                "searchbox \"Search\" in form \"Search\", button \"Search\" in form \"Search\"; say click 'Search' field | click 'Search' button",
            ),
            (
                "type 'x' into 'What do you need?'",
                "searchbox \"Search\" in form \"Search\"",
            ),
            (
                "type 3 into 'How many'",
                "spinbutton \"Amount\" in card \"Tea\"",
            ),
            // What is written exactly so is meant before what only holds the words.
            ("click 'SAVE all'", "button \"SAVE all\""),
            ("click 'save all'", "button \"SAVE all\""),
            ("click as save", "button \"Save all as\""),
            // A name in quotes is the whole name.
            (
                "click 'as save'",
                "none, near button \"Save all as\", button \"SAVE all\"; say click 'Save all as' button | click 'SAVE all' button",
            ),
            (
                "click all",
                "button \"SAVE all\", button \"Save all as\"; say click 'SAVE all' button | click 'Save all as' button",
            ),
            // Places.
            (
                "click 'Delete'",
                "button \"Delete\" in row \"Invoice 1\", button \"Delete\" in row \"Invoice 2\"; say click 'Delete' in the 'Invoice 1' row | click 'Delete' in the 'Invoice 2' row",
            ),
            (
                "click 'Delete' in the 'Invoice 2' row",
                "button \"Delete\" in row \"Invoice 2\"",
            ),
            (
                "click the Delete button in the invoice 1 row",
                "button \"Delete\" in row \"Invoice 1\"",
            ),
            (
                "click 'Delete' in the 'Invoice 3' row",
                "none, near button \"Delete\" in row \"Invoice 1\", button \"Delete\" in row \"Invoice 2\"; say click 'Delete' in the 'Invoice 1' row | click 'Delete' in the 'Invoice 2' row",
            ),
            (
                "click 'Add to cart' in the 'Milk' section",
                "button \"Add to cart\" in card \"Milk\"",
            ),
            // An item, a card, a list and a table are places too.
            (
                "click 'Delete' in the 'Invoice 2' item",
                "button \"Delete\" in row \"Invoice 2\"",
            ),
            ("click 'Pear' in the 'Fruit' list", "option \"Pear\""),
            // What can be seen is pointed at; headings and images are clicked if the sentence says so.
            ("hover the Milk heading", "heading \"Milk\""),
            ("hover 'Three left'", "p \"Three left\""),
            (
                "hover 'Search'",
                "searchbox \"Search\" in form \"Search\", button \"Search\" in form \"Search\"; say hover 'Search' field | hover 'Search' button",
            ),
            ("click the Milk heading", "heading \"Milk\""),
            ("click the Logo image", "img \"Logo\""),
            ("click 'Three left'", "none, near p \"Three left\""),
            (
                "click 'Delete' in the dialog",
                "none, near button \"Delete\" in row \"Invoice 1\", button \"Delete\" in row \"Invoice 2\"",
            ),
            // Kinds of action look at kinds of elements.
            ("check 'News'", "checkbox \"News\""),
            ("select 'Red' from 'Colour'", "combobox \"Colour\""),
            ("upload 'a.png' to 'Picture'", "input \"Picture\""),
            (
                "check 'Home'",
                "none, near link \"Home\" in navigation \"Main\"",
            ),
            ("type 'x' into 'Colour'", "none, near "),
            // Covered and disabled ones are found, and fail later; hidden ones are not there.
            ("click 'Under'", "button \"Under\""),
            ("click 'Off'", "button \"Off\""),
            ("click 'Gone'", "none, near "),
            // Assertions look at everything.
            ("verify the 'Shop' heading is visible", "heading \"Shop\""),
            ("verify the Logo image is visible", "img \"Logo\""),
            ("extract 'Three left'", "p \"Three left\""),
            ("scroll to the Milk heading", "heading \"Milk\""),
            ("verify 'Three left' is visible", "no element"),
            (
                "there are 2 'Delete' buttons",
                "button \"Delete\" in row \"Invoice 1\"",
            ),
            (
                "click 'Hone'",
                "none, near link \"Home\" in navigation \"Main\"; say click 'Home' link",
            ),
            (
                "click 'Log out'",
                "none, near link \"Log in\" in navigation \"Main\"; say click 'Log in' link",
            ),
            ("reload", "no element"),
        ],
    );
}

/// What has no name, or none that assistive tools know.
const OFFICE: &str = "header
  button ~unnamed
h1 \"Office\"
table
  tr
    th | Name
    th | Role
    th | Quantity
  tr
    td | Bob Brown
    td | Admin
    td
      input type=number
    td
      span title=Delete ~cursor
  tr
    td | Eve Short
    td | Guest
    td
      input type=number
    td
      span title=Delete ~cursor
div class=product
  div | Green tea
  div ~cursor | Add
div class=product
  div | Black tea
  div ~cursor | Add
div class=fold ~listener | Shipping
summary \"Details\" +expanded
input \"Find\" type=search
p | Paid in full
select \"Colour\" options=Red,Green
dialog \"News\"
  button \"Close\"";

#[test]
fn what_has_no_name_is_meant_by_where_it_stands_and_by_its_text() {
    assert_meanings(
        OFFICE,
        &[
            (
                "type '3' into the Quantity field in the 'Bob Brown' row",
                "spinbutton in row \"Bob Brown\"",
            ),
            (
                "type '3' into the field in the 'Bob Brown' row",
                "spinbutton in row \"Bob Brown\"",
            ),
            (
                "click the Delete icon in Bob Brown's row",
                "span in row \"Bob Brown\"",
            ),
            ("delete Eve Short", "span in row \"Eve Short\""),
            ("click the second 'Delete'", "span in row \"Eve Short\""),
            ("click the third 'Delete'", "none of 2, near "),
            (
                "click 'Delete'",
                "span in row \"Bob Brown\", span in row \"Eve Short\"; say click 'Delete' in the 'Bob Brown' row | click 'Delete' in the 'Eve Short' row",
            ),
            (
                "click 'Add' in the 'Black tea' card",
                "div \"Add\" in card \"Black tea\"",
            ),
            ("click 'Shipping'", "div \"Shipping\""),
            ("click the 'Shipping' button", "div \"Shipping\""),
            (
                "click the 'Shipping' link in the 'Bob Brown' row",
                "none, near ",
            ),
            // It is open already.
            ("expand 'Details'", "button \"Details\""),
            ("collapse 'Details'", "button \"Details\""),
            ("close the popup", "button \"Close\" in dialog \"News\""),
            ("search for 'x'", "searchbox \"Find\""),
            ("click 'Paid in full'", "none, near p \"Paid in full\""),
            (
                "click the 'Find' button",
                "none, near searchbox \"Find\"; say click 'Find' field",
            ),
            ("'Admin' is visible in the 'Bob Brown' row", "row"),
            (
                "the role of Bob Brown is 'Admin'",
                "cell \"Admin\" in row \"Bob Brown\"",
            ),
            (
                "'Bob Brown' is not selected",
                "none, near cell \"Bob Brown\"",
            ),
            ("set Colour to Red", "combobox \"Colour\""),
        ],
    );
}

/// What becomes of an assertion on a page: it passes, it fails, or it is refused.
fn asserted(lines: &str, sentence: &str) -> &'static str {
    let state = page(lines);
    let finder = Finder::new(&state, "data-testid");
    let Translation::Step { step, target, .. } = finder.translate(sentence) else {
        return "refused";
    };
    let assertion = step.assertion.expect("an assertion");
    let targets = match (assertion.kind, understand(sentence)) {
        (AssertKind::Count, Understanding::Understood(intent)) => {
            let phrase = intent.phrase.expect("what is counted");
            if finder.unclear_place(&phrase).is_some() {
                return "refused";
            }
            let found = finder.meant(&phrase, intent.pool).expect("some of it");
            found.elements
        }
        _ => target.into_iter().collect(),
    };
    match finder.holds(&assertion, &targets).holds {
        true => "passes",
        false => "fails",
    }
}

#[test]
fn what_is_claimed_is_what_is_compared() {
    const TICKETS: &str = "table
  tr
    th | Ticket
    th | Owner
    th | Reviewer
  tr
    td | T-5
    td | Mia
    td | Noah
div class=card
  h3 \"Mia\"
  p | Deputy: Noah
  p | Admin
div class=card
  h3 \"Noah\"
  p | Guest
div class=kpi
  p | Total users
  p | 48
table
  tr
    td | City tax
    td | €6.60
dl
  dt | Plan
  dd | Pro
  dt | Seats
  dd | 3
  dd | 4
input \"Email\" value=ana@example.org
div class=price
  p | Cost
  p
    del | $12
    span | $9
ul
  li
    h4 \"Milk\"
    span | Price
    span | $8
  li
    h4 \"Rice\"
    span | Price
    span | $7
h2 \"Balance\"
output \"Result\" | 42";
    for (sentence, outcome) in [
        ("the owner of T-5 is Noah", "fails"),
        ("the owner of T-5 is Mia", "passes"),
        ("the reviewer of T-5 is 'Noah'", "passes"),
        ("T-5's owner should be Noah", "fails"),
        ("the owner of T-5 is not 'Noah'", "passes"),
        ("the owner of T-5 is not 'Mia'", "fails"),
        ("Noah is the owner of T-5", "refused"),
        ("the boss of T-5 is Mia", "refused"),
        ("Noah is an Admin", "refused"),
        ("Noah is 'Admin'", "fails"),
        ("Noah is 'Guest'", "passes"),
        ("Total users is 48", "passes"),
        ("Total users is 4", "fails"),
        ("Total users is at least 48", "passes"),
        ("Total users should be at least 49", "fails"),
        ("Total users is at most 50", "passes"),
        ("Plan is at least 1", "fails"),
        ("City tax is '€6.60'", "passes"),
        ("City tax is not '€6.60'", "fails"),
        ("Plan is Pro", "passes"),
        ("Plan is Free", "fails"),
        // Which of them?
        ("Seats is 3", "refused"),
        ("Email is 'ana@example.org'", "passes"),
        ("Email contains 'ana@'", "passes"),
        ("Email contains 'bob@'", "fails"),
        ("Email is 'Email'", "fails"),
        ("Cost is '$9'", "passes"),
        ("Cost is '$12'", "fails"),
        // Which of them?
        ("Price is '$8'", "refused"),
        ("the price of Milk is '$8'", "passes"),
        ("the price of Milk is '$7'", "fails"),
        ("Result is 42", "passes"),
        // A heading says nothing of what it is over.
        ("Balance is '5'", "refused"),
        ("Balance is not '5'", "refused"),
    ] {
        assert_eq!(asserted(TICKETS, sentence), outcome, "{sentence}");
    }
}

#[test]
fn what_is_shown_and_how_many_there_are_is_counted() {
    const BOARD: &str = "div role=alert
  p | Email is required
div class=col
  h3 \"To do\"
  div class=k
    b | Alpha
    button \"Open\"
  div class=k
    b | Beta
    button \"Open\"
div class=col
  h3 \"Done\"
  div class=k
    b | Gamma
    button \"Open\"
ul \"Groceries\"
  li
    span | Milk
    ul
      li | Oat
  li | Tea
table
  tr
    th | Name
  tr
    td | Ann
  tr
    td | Bob
button \"Same\"
button \"Same\"";
    for (sentence, outcome) in [
        ("no error is shown", "fails"),
        ("there is no warning", "fails"),
        ("the alert contains 'Email is required'", "passes"),
        ("the 'To do' column shows 2 cards", "passes"),
        ("the 'To do' column shows 3 cards", "fails"),
        // One alone is not known to be a card.
        ("the 'Done' column has 1 card", "refused"),
        ("the 'Done' column has no cards", "refused"),
        ("the 'To do' column has at least 3 cards", "fails"),
        ("the 'To do' column has at most 2 cards", "passes"),
        ("there are 2 items in the 'Groceries' list", "passes"),
        ("there are 3 items in the 'Groceries' list", "fails"),
        ("the table has 2 rows", "passes"),
        ("the table has 3 rows", "fails"),
        ("the 'Nowhere' list has 2 entries", "refused"),
        ("the 'Same' button is not visible", "refused"),
    ] {
        assert_eq!(asserted(BOARD, sentence), outcome, "{sentence}");
    }
    assert_eq!(asserted("p | fine", "no error is shown"), "refused");
}

#[test]
fn a_button_may_be_called_as_a_verb_and_what_is_closed() {
    let state = page("button \"Close the deal\" +collapsed\nbutton \"Details\" +collapsed");
    let finder = Finder::new(&state, "data-testid");
    let wants_open = |sentence| match finder.translate(sentence) {
        Translation::Step {
            step,
            target: Some(id),
            ..
        } => Some((finder.in_words(id), step.wants_open)),
        _ => None,
    };
    let button = |name: &str, wants_open| Some((format!("button \"{name}\""), wants_open));
    assert_eq!(wants_open("Close the deal"), button("Close the deal", None));
    assert_eq!(
        wants_open("close 'Details'"),
        button("Details", Some(false))
    );
    assert_eq!(wants_open("open 'Details'"), button("Details", Some(true)));
}

#[test]
fn of_several_places_without_a_name_none_is_meant() {
    let dialogs = "dialog\n  p | Saved\n  button \"OK\"\ndialog\n  p | Signed out\n  button \"OK\"\n  button \"Log in\"";
    assert_meanings(
        dialogs,
        &[
            (
                "click 'OK' in the dialog",
                "none of 2, near ; say click the first 'OK' | click the second 'OK'",
            ),
            (
                "click the first 'OK' in the dialog",
                "none of 2, near ; say click the first 'OK' button",
            ),
            // Only one of them has it.
            ("click 'Log in' in the dialog", "button \"Log in\""),
            ("click 'Buy' in the dialog", "none of 2, near "),
        ],
    );
    let only = "button \"OK\"\ndialog\n  button \"OK\"";
    assert_meanings(
        only,
        &[(
            "click the first 'OK' in the dialog",
            "button \"OK\" in the dialog",
        )],
    );
}

#[test]
fn what_is_dragged_and_where_to_are_two_elements() {
    let board = "div class=board
  div class=col
    h2 \"To do\"
    ul
      li | Tea
      li | Milk
  div class=col
    h2 \"Done\"
    ul
      li | Tea
      li | Bread
  p | 2 of 4 done";
    assert_meanings(
        board,
        &[
            (
                "drag 'Milk' to 'Done'",
                "listitem in card \"To do\" to div \"DoneTeaBread\"",
            ),
            (
                "drag 'Milk' to the 'Done' column",
                "listitem in card \"To do\" to div \"DoneTeaBread\"",
            ),
            (
                "drag 'Milk' to 'Bread'",
                "listitem in card \"To do\" to listitem in card \"Done\"",
            ),
            (
                "drag 'Tea' to 'Bread'",
                "listitem in card \"To do\", listitem in card \"Done\"; say drag 'Tea' in the 'To do' section to 'Bread' | drag 'Tea' in the 'Done' section to 'Bread'",
            ),
            (
                "drag 'Bread' to 'Tea'",
                "listitem in card \"To do\", listitem in card \"Done\"; say drag 'Bread' to 'Tea' in the 'To do' section | drag 'Bread' to 'Tea' in the 'Done' section",
            ),
            ("drag 'Milk' to 'Milk'", "-"),
            ("drag 'Milk' to 'Archive'", "none, near "),
            ("drag 'Beer' to 'Done'", "none, near "),
        ],
    );
}

#[test]
fn a_level_is_never_used_to_break_a_tie() {
    let state = page("button \"Save\"\nbutton \"Save\" data-testid=x\nbutton \"Save all\"");
    let finder = Finder::new(&state, "data-testid");
    let Translation::Ambiguous { candidates, .. } = finder.translate("click 'Save'") else {
        panic!("two fit");
    };
    assert_eq!(candidates.len(), 2);
}

#[test]
fn a_host_of_a_shadow_root_is_a_section_by_the_text_that_is_put_into_it() {
    let state = page(
        "x-card\n  #shadow\n    button \"More\"\n    slot | Apples\nx-card\n  #shadow\n    button \"More\"\n    slot | Pears",
    );
    let finder = Finder::new(&state, "data-testid");
    let Translation::Step { target, .. } = finder.translate("click 'More' in the 'Pears' section")
    else {
        panic!("one is meant");
    };
    assert_eq!(
        target.map(|id| finder.in_words(id)).as_deref(),
        Some("button \"More\" in x-card \"Pears\"")
    );
    let Translation::Ambiguous { say, .. } = finder.translate("click 'More'") else {
        panic!("two are meant");
    };
    assert_eq!(
        say,
        [
            "click 'More' in the 'Apples' section",
            "click 'More' in the 'Pears' section"
        ]
    );
}

#[test]
fn what_is_inside_a_named_element_is_not_another_one() {
    let state = page(
        "tr role=row \"Buy\" ~listener\n  button \"Buy\"\n    span \"Buy\" ~cursor data-testid=s",
    );
    let finder = Finder::new(&state, "data-testid");
    let Translation::Step { target, .. } = finder.translate("click 'Buy'") else {
        panic!("one is meant");
    };
    assert_eq!(
        target.map(|id| finder.in_words(id)).as_deref(),
        Some("span \"Buy\" in row \"Buy\"")
    );
}

#[test]
fn what_is_not_to_be_done_is_final() {
    for (sentence, expected) in [
        ("do not click 'Delete account'", Some(true)),
        ("Don't click 'Delete account'", Some(true)),
        ("please don’t delete it", Some(true)),
        ("never press 'Send'", Some(true)),
        ("click 'A' but not 'B'", Some(true)),
        ("fill everything except 'Name'", Some(true)),
        ("make it so", Some(false)),
        ("the golden button does not shine", Some(false)),
        ("I do not see 'Error'", None),
        ("click 'Do not disturb'", None),
        ("click Not now", None),
    ] {
        let is_final = match understand(sentence) {
            Understanding::NotUnderstood { is_final, .. } => Some(is_final),
            _ => None,
        };
        assert_eq!(is_final, expected, "{sentence}");
    }
    // These words are a part of the whole name, or they say what can't be told of an element.
    let lines = "button \"Archive\"\np | Bob\nbutton \"Not now\"\nbutton \"Save now\"";
    assert_meanings(
        lines,
        &[
            ("click Not now", "button \"Not now\""),
            ("click save", "button \"Save now\""),
            (
                "click now not save",
                "none, near button \"Not now\", button \"Save now\"; say click 'Not now' button | click 'Save now' button",
            ),
            (
                "click Archive above Bob",
                "none, near button \"Archive\"; say click 'Archive' button",
            ),
        ],
    );
    let rows = "table\n  tr\n    td | Ann\n    td\n      button \"Archive\"\n  tr\n    td | Bob\n    td\n      button \"Archive\"";
    for limit in [
        "above",
        "below",
        "before",
        "after",
        "except for",
        "unless it is",
    ] {
        let sentence = format!("Click Archive {limit} Bob");
        let meaning = meaning(rows, &sentence);
        assert!(
            meaning.starts_with("none") || meaning == "-",
            "{sentence}: {meaning}"
        );
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is written: it is read or refused, and a sentence that is read names words that stand in it.
        #[test]
        fn sentences_are_read_or_refused(sentence in "(click|type|fill|set|check|press|wait|verify|there are|select|go to)?( |'|\"|in|the|row|is|not|and|with|to|\\PC){0,12}") {
            if let Understanding::Understood(intent) = understand(&sentence)
                && let Some(phrase) = &intent.phrase
            {
                for word in phrase.name.split_whitespace() {
                    prop_assert!(sentence.contains(word.trim_end_matches(',')), "{:?} {:?}", sentence, phrase);
                }
            }
        }

        /// A name in quotes is taken as it is.
        #[test]
        fn quotes_protect_a_name(name in "[a-zA-Z ,;.]{0,20}(and|in the|with|is|row|button)[a-zA-Z ,;.]{0,20}") {
            prop_assume!(!name.trim().is_empty());
            let Understanding::Understood(intent) = understand(&format!("click \"{name}\"")) else {
                return Err(TestCaseError::fail(name));
            };
            prop_assert_eq!(intent.phrase.map(|phrase| phrase.name), Some(name));
        }
    }
}

#[test]
fn a_verb_with_a_name_means_only_what_is_called_so_itself() {
    let tasks = r#"nav "Filters"
  a "Done" href=/done
table
  tr
    th | Task
    th | Owner
    th | State
  tr
    td "Write the imprint" | Write the imprint
    td "Noah" | Noah
    td "Done" | Done
    td
      button "Edit"
      button "Delete"
  tr
    td "Choose a font" | Choose a font
    td "Mia" | Mia
    td "Open" | Open
    td
      button "Edit"
button "Send feedback"
button "Delete account"
button "Archive all"
ul
  li
    h3 "Ana Lopez"
    button "Rename"
  li
    h3 "Bob Brown"
    button "Rename""#;
    assert_meanings(
        tasks,
        &[
            (
                "edit Noah",
                "button \"Edit\" in row \"Write the imprint\"; say click 'Edit' button in the 'Write the imprint' row",
            ),
            (
                "delete Done",
                "button \"Delete\" in row \"Write the imprint\"; say click 'Delete' button in the 'Write the imprint' row",
            ),
            (
                "delete 'Done'",
                "button \"Delete\" in row \"Write the imprint\"; say click 'Delete' button in the 'Write the imprint' row",
            ),
            (
                "edit 'Write the imprint'",
                "button \"Edit\" in row \"Write the imprint\"",
            ),
            ("rename Ana", "button \"Rename\" in listitem \"Ana Lopez\""),
            (
                "edit the imprint",
                "button \"Edit\" in row \"Write the imprint\"",
            ),
            ("archive all", "button \"Archive all\""),
            // What a name says besides.
            (
                "send",
                "button \"Send feedback\"; say click 'Send feedback' button",
            ),
            (
                "click account",
                "button \"Delete account\"; say click 'Delete account' button",
            ),
            (
                "click feedback",
                "button \"Send feedback\"; say click 'Send feedback' button",
            ),
        ],
    );
    // Of two that are called so neither is chosen.
    assert_meanings(
        "button \"Delete done\"\nul\n  li\n    h3 \"Done\"\n    button \"Delete\"\n  li\n    h3 \"Open\"\n    button \"Delete\"",
        &[
            (
                "delete done",
                "button \"Delete done\", button \"Delete\" in listitem \"Done\"; say click 'Delete done' button | click 'Delete' button in the 'Done' item",
            ),
            (
                "delete Done",
                "button \"Delete done\", button \"Delete\" in listitem \"Done\"; say click 'Delete done' button | click 'Delete' button in the 'Done' item",
            ),
        ],
    );
}

#[test]
fn a_count_in_a_heading_is_no_part_of_what_a_place_is_called() {
    let board = r#"section
  h2 "To do 2"
  ul
    li
      h3 "Write"
      button "Edit"
section
  h2 "Doing 1"
  ul
    li
      h3 "Read"
      button "Edit"
div
  h2 "Done 3"
  button "Clear""#;
    assert_meanings(
        board,
        &[
            (
                "click 'Edit' in the 'To do' section",
                "button \"Edit\" in listitem \"Write\"",
            ),
            (
                "click 'Edit' in the 'Doing' column",
                "button \"Edit\" in listitem \"Read\"",
            ),
            ("click 'Clear' in the 'Done' section", "button \"Clear\""),
        ],
    );
}

#[test]
fn what_stands_beside_a_text_is_its_value() {
    let account = "p\n  | Balance:\n  b | -€20.00\np\n  | Limit:\n  b | €500\n  i | monthly";
    assert_meanings(
        account,
        &[
            (
                "verify Balance is '-€20.00'",
                "b \"-€20.00\" in card \"Balance:\"",
            ),
            (
                "verify Balance is at most -10",
                "b \"-€20.00\" in card \"Balance:\"",
            ),
            // Two texts stand beside it.
            ("verify Limit is '€500'", "none, near "),
        ],
    );
}
