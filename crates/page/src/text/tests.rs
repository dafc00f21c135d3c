use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::dom::testing::{capture, page, processor};

fn text(lines: &str) -> String {
    text_with(lines, &TextOptions::default())
}

fn text_with(lines: &str, options: &TextOptions<'_>) -> String {
    let state = page(lines);
    let finder = Finder::new(&state, "data-testid");
    finder.text_for_model(options).expect("it fits").text
}

/// The text without the lines about the page.
fn body(lines: &str) -> String {
    let text = text(lines);
    let body: Vec<&str> = text
        .lines()
        .skip(3)
        .filter(|line| !line.starts_with("below pixels=740"))
        .collect();
    body.join("\n")
}

const LOGIN: &str = "h1 \"Sign in\"\nform \"Account\"\n  label for=email | E-mail\n  input \"E-mail\" type=email id=email value=\"ana@example.org\" required\n  input \"Password\" type=password filled=true\n  input \"Remember me\" type=checkbox +checked\n  button \"Log in\" type=submit";

#[test]
fn a_page_reads_as_the_format_says() {
    let mut processor = processor();
    processor.read(&capture(LOGIN)).expect("a capture");
    let more = format!(
        "{LOGIN}\na \"Forgot password?\" href=https://shop.example/reset\np | Three  attempts\tleft."
    );
    let state = processor.read(&capture(&more)).expect("a capture");
    let finder = Finder::new(&state, "data-testid");
    let found = finder
        .text_for_model(&TextOptions::default())
        .expect("it fits");
    let expected = r#"url: https://shop.example/login
title: Sign in
viewport: 1280x720 at 0,0 of 1280x1460
heading "Sign in" level=1
form "Account"
  [0] textbox "E-mail" type=email value="ana@example.org" required
  [1] textbox "Password" type=password filled=true
  [2] checkbox "Remember me" checked
  [3] button "Log in" type=submit
*[4] link "Forgot password?" href=/reset
| Three attempts left.
below pixels=740
"#;
    assert_eq!(found.text, expected);
    assert_eq!(found.cut, None);
}

#[test]
fn keys_stand_in_their_order() {
    let line = "input \"A\" data-testid=x pattern=p placeholder=hint value=v type=tel required readonly disabled +invalid +expanded +pressed +selected +mixed href=/a";
    let state = page(line);
    let finder = Finder::new(&state, "data-testid");
    let attributes = ["pattern".to_owned(), "missing".to_owned()];
    let options = TextOptions {
        include_attributes: &attributes,
        ..TextOptions::default()
    };
    let found = finder.text_for_model(&options).expect("it fits").text;
    assert!(
        found.contains("[0] textbox \"A\" type=tel value=\"v\" placeholder=\"hint\" checked=mixed selected expanded pressed disabled readonly required invalid href=/a testid=x pattern=\"p\"\n"),
        "{found}"
    );
    let select = body("select \"Size\" options=S,M,L,XL,A,B,C,D,E,F,G,H value=m");
    assert_eq!(
        select,
        "[0] combobox \"Size\" value=\"m\" options=\"S, M, L, XL, A, B, C, D, E, F, +2\""
    );
}

#[test]
fn a_placeholder_that_is_the_name_is_not_said_twice() {
    assert_eq!(
        body("input \"Search\" placeholder=Search"),
        "[0] textbox \"Search\""
    );
}

#[test]
fn parts_are_cut_at_graphemes() {
    let long = "é\u{301}".repeat(100);
    let found = body(&format!("button \"{long}\"\np | {}", "x".repeat(300)));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(
        lines[0],
        format!("[0] button \"{}…\"", "é\u{301}".repeat(80))
    );
    assert_eq!(lines[1], format!("| {}…", "x".repeat(200)));
    let href = body(&format!("a \"L\" href=/{}", "p".repeat(80)));
    assert_eq!(
        href,
        format!("[0] link \"L\" href=\"/{}…\"", "p".repeat(59))
    );
}

#[test]
fn text_in_a_name_is_not_said_twice() {
    assert_eq!(
        body(
            "button \"Save all\"\n  span | Save\n  b | all\nlabel for=q | Query\ninput \"Query\" id=q\np | Query tips"
        ),
        "[0] button \"Save all\"\n[1] textbox \"Query\"\n| Query tips"
    );
}

#[test]
fn text_across_inline_elements_is_one_line() {
    assert_eq!(
        body("p\n  | You have\n  b |  3\n  |  attempts\ndiv | left"),
        "| You have 3 attempts\n| left"
    );
}

#[test]
fn regions_are_there_if_something_is_in_them() {
    assert_eq!(
        body("nav \"Main\"\nul\n  li\n    a \"Home\" href=/\ntable\n  tr\n    td | Cell\nform"),
        "list\n  [0] link \"Home\" href=/\ntable\n  | Cell"
    );
}

#[test]
fn frames_stand_at_their_owners() {
    assert_eq!(
        body(
            "iframe \"Pay\" src=https://shop.example/pay\n  #frame https://shop.example/pay\n    button \"Pay\"\nbutton \"Back\""
        ),
        "frame \"Pay\" src=/pay\n  [0] button \"Pay\"\n[1] button \"Back\""
    );
    // By the name that sentences know them by.
    assert_eq!(
        body("iframe title=Bank role=none\n  #frame https://shop.example/pay\n    button \"Pay\""),
        "frame \"Bank\"\n  [0] button \"Pay\""
    );
}

#[test]
fn what_is_out_of_view_or_covered_stands_apart() {
    let found = text(
        "form \"F\"\n  button \"In\"\n  button \"Far\" ~below\n  button \"Under\" ~covered\nbutton \"Up\" y=-90 ~below\nbutton \"Last\"",
    );
    let body: Vec<&str> = found.lines().skip(3).collect();
    assert_eq!(
        body,
        [
            "form \"F\"",
            "  [0] button \"In\"",
            "[3] button \"Last\"",
            "below pixels=740",
            "  form \"F\"",
            "    [1] button \"Far\"",
            "  [2] button \"Up\"",
            "covered",
            "  form \"F\"",
            "    button \"Under\"",
        ]
    );
}

#[test]
fn hidden_things_are_not_there() {
    assert_eq!(
        body("p ~hidden | secret\nbutton \"X\" ~hidden\n| seen"),
        "| seen"
    );
}

#[test]
fn tabs_are_named_if_there_are_several() {
    let capture = capture("button \"A\"").replacen(
        '{',
        "{\"tabs\": [{\"pageIndex\": 0, \"url\": \"http://a/\", \"title\": \"A\\nb\"}, {\"pageIndex\": 1, \"url\": \"http://b/\", \"current\": true}],",
        1,
    );
    let state = processor().read(&capture).expect("a capture");
    let finder = Finder::new(&state, "data-testid");
    let found = finder
        .text_for_model(&TextOptions::default())
        .expect("it fits")
        .text;
    assert!(
        found.contains("tab 0/2: http://a/ \"A b\"\ntab 1/2 current: http://b/ \"\"\n"),
        "{found}"
    );
}

fn long_page() -> String {
    let mut lines = String::from("button \"Buy now\"\np | In view text\n");
    for row in 0..60 {
        let _ = writeln!(
            lines,
            "button \"Product {row}\" class=card ~below y={}",
            800 + row * 30
        );
        let _ = writeln!(
            lines,
            "a \"Link {row}\" href=/p/{row} ~below y={}",
            800 + row * 30
        );
    }
    lines.push_str("button \"Under\" ~covered\nbutton \"Checkout\" ~below y=9000\n");
    lines
}

#[test]
fn what_is_farthest_is_left_out_first_and_counted() {
    let state = page(&long_page());
    let finder = Finder::new(&state, "data-testid");
    let all = finder
        .text_for_model(&TextOptions::default())
        .expect("it fits");
    assert_eq!(all.cut, None);
    let options = TextOptions {
        budget: 1_500,
        action: "click 'Checkout'",
        ..TextOptions::default()
    };
    let found = finder.text_for_model(&options).expect("it fits");
    assert!(found.text.chars().count() <= 1_500);
    assert!(!found.text.contains("Under"), "covered ones go early");
    assert!(found.text.contains("[0] button \"Buy now\""));
    assert!(
        found.text.contains("\"Checkout\""),
        "it shares a word with the sentence"
    );
    assert!(found.text.contains("In view text"));
    let cut = found.cut.expect("something was cut");
    assert!(found.text.ends_with(&format!(
        "… {} elements and {} texts left out\n",
        cut.elements, cut.texts
    )));
    let options = TextOptions {
        budget: 100,
        ..options
    };
    let error = finder.text_for_model(&options).expect_err("it can't fit");
    assert!(error.characters > 100);
}

#[test]
fn repeated_siblings_are_counted() {
    let mut lines = String::from("button \"Top\"\n");
    for row in 0..40 {
        let _ = writeln!(lines, "button \"Row {row}\" class=card ~below");
    }
    let found = text_with(
        &lines,
        &TextOptions {
            budget: 600,
            ..TextOptions::default()
        },
    );
    assert!(
        found.contains("  [1] button \"Row 0\"\n  [2] button \"Row 1\"\n"),
        "{found}"
    );
    assert!(
        found.contains("more like [0]") || found.contains("more like [1]"),
        "{found}"
    );
}

/// Signs that could make a line look like another.
fn any_words() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[\\PC\n\r\t\u{2028}\u{85}\u{202e}\u{0}\\[\\]\"|*=… ]{0,40}")
        .expect("a pattern")
}

proptest! {
    /// Whatever a page says, the lines are those of its elements and texts, and each begins as such lines do.
    #[test]
    fn page_text_makes_no_line(name in any_words(), value in any_words(), words in any_words(), title in any_words(), role in any_words()) {
        let json = serde_json::json!({"version": 1, "documents": [{
            "url": format!("https://a/{value}"), "title": title, "viewport": [1280, 720], "size": [1280, 720],
            "nodes": [
                {"tagName": "body", "path": "/html/body"},
                {"parent": 0, "tagName": "input", "path": "input", "role": role, "name": name, "isVisible": true, "isInteractive": true, "interactiveBy": "native", "isInViewport": true, "attributes": {"value": value, "type": role, "placeholder": words, "href": value, "data-testid": name}},
                {"parent": 0, "tagName": "p", "path": "p", "isVisible": true, "isInViewport": true},
                {"parent": 2, "text": words},
            ],
        }]}).to_string();
        let state = processor().read(&json).expect("a capture");
        let finder = Finder::new(&state, "data-testid");
        let found = finder.text_for_model(&TextOptions::default()).expect("it fits").text;
        let lines: Vec<&str> = found.split('\n').collect();
        let n_texts = usize::from(lines.len() == 6);
        prop_assert_eq!(lines.len(), 5 + n_texts, "{:?}", found);
        prop_assert!(lines[0].starts_with("url: "));
        prop_assert!(lines[1].starts_with("title:"));
        prop_assert!(lines[3].starts_with("[0] "), "{:?}", lines[3]);
        if n_texts == 1 {
            prop_assert!(lines[4].starts_with("| "));
        }
        let is_odd = |sign: char| (sign.is_control() && sign != '\n') || ('\u{202a}'..='\u{202e}').contains(&sign) || sign == '\u{2028}';
        prop_assert!(!found.contains(is_odd), "{:?}", found);
    }

    /// Within any budget that does at all, everything in view with an index is there.
    #[test]
    fn what_is_in_view_is_never_left_out(in_view in 1_usize..20, away in 0_usize..80, texts in 0_usize..30, budget in 200_usize..4_000) {
        let mut lines = String::new();
        for place in 0..in_view {
            let _ = writeln!(lines, "button \"Here {place}\"");
        }
        for place in 0..texts {
            let _ = writeln!(lines, "p | Words {}", "long ".repeat(place));
        }
        for place in 0..away {
            let _ = writeln!(lines, "a \"Away {place}\" href=/x ~below y={}", 900 + place);
        }
        let state = page(&lines);
        let finder = Finder::new(&state, "data-testid");
        let options = TextOptions { budget, ..TextOptions::default() };
        match finder.text_for_model(&options) {
            Ok(found) => {
                prop_assert!(found.text.chars().count() <= budget);
                for place in 0..in_view {
                    let line = format!("[{place}] button \"Here {place}\"\n");
                    prop_assert!(found.text.contains(&line));
                }
                let away_shown = found.text.matches("link \"Away").count();
                let more: usize = found.cut.map_or(0, |cut| cut.elements);
                prop_assert_eq!(away_shown + more, away);
            }
            Err(error) => prop_assert!(error.characters > budget),
        }
    }
}
