//! Sentences on pages where something else is in the place of what they named or meant.

use serde_json::{Value, json};

use super::place;
use crate::program::{run, told};

/// A page as it is when its sentence is parsed, the sentence, and what changes before it is played.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "<table><tr><th>Shirt<th>Price</tr><tr><td>Denim shirt<td>£99.50</tr></table>",
        "the price of the Denim shirt is £99.50",
        "Denim shirt",
        "Linen shirt",
    ),
    (
        "<ol><li><b>Ana</b> <span>Hi all</span> <button title=Reply>↩</button></li><li><b>Ben</b> <span>Morning</span> <button title=Reply>↩</button></li></ol>",
        "click Reply in the item with 'Hi all'",
        "Hi all",
        "See you",
    ),
    (
        "<article><h3>Monday</h3><p>Rain</p></article><article><h3>Tuesday</h3><p>Sun</p></article>",
        "verify the 'Monday' post says 'Rain'",
        "<article><h3>Monday",
        "<article><h3>Sunday",
    ),
    (
        "<dl><dt>Plan<dd>Pro<dt>Seats<dd>4</dl>",
        "Plan is Pro",
        "<dt>Plan",
        "<dt>Price",
    ),
    (
        "<table><tr><td>Order 17</td><td>Shipped</td></tr><tr><td>Order 18</td><td><button>Cancel</button></td></tr></table>",
        "verify there is no 'Cancel' button in the 'Order 17' row",
        "Order 17",
        "Order 71",
    ),
    // A place without a name is looked into only if it is the only one of its kind.
    (
        "<ul><li>Tea</li></ul>",
        "there are no 'Delete' buttons in the list",
        "</ul>",
        "</ul><ul><li><button>Delete</button></li></ul>",
    ),
    (
        "<ul><li>Tea</li></ul>",
        "there are no 'Delete' buttons in the list",
        "<ul><li>Tea</li></ul>",
        "<button>Delete</button>",
    ),
    (
        "<div role=dialog><p>Saved</p><button>OK</button></div>",
        "click the first 'OK' in the dialog",
        "<div",
        "<button>OK</button><div role=dialog><p>Signed out</p><button>OK</button></div><div",
    ),
    (
        "<div role=dialog><p>Saved</p><button>OK</button></div>",
        "click 'OK' in the dialog",
        "Saved",
        "Delete everything?",
    ),
    (
        "<div role=dialog><p>Your changes were saved</p><button>Cancel</button><button>OK</button></div>",
        "click 'OK'",
        "Your changes were saved",
        "Delete the whole account?",
    ),
];

#[test]
fn what_a_sentence_named_must_still_be_there() {
    let Some((scratch, _site)) = place() else {
        return;
    };
    let write = |change: fn(&str, &str, &str) -> String| {
        for (number, (page, _, from, to)) in CASES.iter().enumerate() {
            let body = change(page, from, to);
            let html = format!("<!doctype html><title>Page</title><body>{body}");
            scratch
                .write(format!("{number}.html"), html)
                .expect("writable");
        }
    };
    write(|page, _, _| page.to_owned());
    let folder = scratch.work().display().to_string();
    let actions = CASES.iter().enumerate().flat_map(|(number, case)| {
        // The others are looked at also when one is not there.
        let sentence = json!({"action": case.1, "optional": true});
        [
            json!(format!("go to file://{folder}/{number}.html")),
            sentence,
        ]
    });
    let scenario = json!({"url": "about:blank", "actions": actions.collect::<Vec<_>>()});
    scratch
        .write("pages.json", scenario.to_string())
        .expect("writable");
    let parse = [
        "parse",
        "pages.json",
        "-o",
        "steps.json",
        "--translator",
        "rules",
    ];
    let parsed = run(&scratch, &parse);
    assert_eq!(parsed.code(), Some(0), "{}", told(&parsed));
    let played = |expected: &str| {
        let played = run(&scratch, &["play", "steps.json", "--json"]);
        let document: Value = serde_json::from_str(&played.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", told(&played)));
        let results = document["step_results"].as_array().expect("a list");
        let of_sentences = results.iter().skip(1).step_by(2);
        assert_eq!(of_sentences.clone().count(), CASES.len());
        for (result, case) in of_sentences.zip(CASES) {
            let status = &result["status"];
            assert_eq!(status, expected, "{}: {}", case.1, told(&played));
        }
    };
    played("passed");
    // What is not there is not waited for.
    let steps = std::fs::read_to_string(scratch.work().join("steps.json")).expect("steps");
    let options = "\"options\": {}";
    assert!(steps.contains(options), "{steps}");
    let hasty = "\"options\": {\"actionTimeoutMs\": 500, \"assertTimeoutMs\": 500}";
    scratch
        .write("steps.json", steps.replace(options, hasty))
        .expect("writable");
    write(|page, from, to| page.replace(from, to));
    played("tolerated");
}
