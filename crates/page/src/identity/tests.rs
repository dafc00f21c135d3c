use super::*;
use crate::Fingerprint;
use crate::dom::testing::page;
use crate::dom::{DomState, NodeId};
use crate::selector::{Finder, Selector};
use crate::sentences::{Translation, Understanding, understand};

mod names;

struct Memory {
    selectors: Vec<Selector>,
    fingerprint: Fingerprint,
}

fn remember(state: &DomState, id: NodeId) -> Memory {
    let finder = Finder::new(state, "data-testid");
    let known = finder.identify(id, None).expect("an element");
    Memory {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    }
}

/// The first element of a name.
fn first_called(state: &DomState, name: &str) -> NodeId {
    let mut elements = state.elements();
    let found = elements.find(|(_, element)| element.name == name);
    found.expect("an element").0
}

fn verdict(state: &DomState, memory: &Memory) -> Verdict {
    Finder::new(state, "data-testid").verdict(Remembered {
        selectors: &memory.selectors,
        fingerprint: &memory.fingerprint,
    })
}

/// What becomes of a sentence of one page when the page has become another: the verdict, its element in words and the check.
fn judged(before: &str, sentence: &str, after: &str) -> String {
    let old = page(before);
    let finder = Finder::new(&old, "data-testid");
    let Understanding::Understood(intent) = understand(sentence) else {
        panic!("{sentence}");
    };
    let target = match finder.resolve(&intent) {
        Translation::Step {
            target: Some(target),
            ..
        } => target,
        other => panic!("{sentence}: {other:?}"),
    };
    let known = finder.identify(target, intent.phrase.as_ref());
    let known = known.expect("an element");
    let memory = Memory {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    };
    let new = page(after);
    let found = verdict(&new, &memory);
    let words = found
        .target()
        .map(|id| Finder::new(&new, "data-testid").in_words(id));
    let is_certain = matches!(
        found,
        Verdict::Same {
            is_certain: true,
            ..
        }
    );
    [
        Some(
            if is_certain {
                "at once"
            } else {
                found.as_str()
            }
            .to_owned(),
        ),
        words,
        Some(found.check().to_owned()).filter(|check| !check.is_empty()),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(": ")
}

const BOARD: &str = "main\n  div class=col\n    h2 \"To do 2\"\n    button \"Add a card\"\n  div class=col\n    h2 \"Doing 1\"\n    button \"Add a card\"";
const ROWS: &str = "table\n  tr\n    td | Tea\n    td | 4.50\n    td\n      button \"Delete\"\n  tr\n    td | Milk\n    td | 1.20\n    td\n      button \"Delete\"";
const FORMS: &str = "section \"Billing\"\n  button \"Save\"\n  button \"Reset\"\nsection \"Shipping\"\n  button \"Save\"";
const ALONE: &str = "section \"Billing\"\n  button \"Pay\" id=pay\n  button \"Reset\"";
const TABS: &str = "div role=tablist\n  button \"Billing\" role=tab\n  button \"Profile\" role=tab\ndiv \"Billing\" role=tabpanel\n  button \"Save\"";
const DAY: &str = "section \"Monday\"\n  button \"Dentist\"\n  button \"Lunch\"\n  button \"Gym\"";
const DAYS: &str = "section \"March\"\n  div\n    button \"Dentist\"\n  div\n    button \"Gym\"\n    button \"Lunch\"\n    button \"Lunch\"";
const GRID: &str = "table\n  tr\n    th | Room\n    th | Guests\n  tr\n    td | Hall\n    td\n      input\n  tr\n    td | Attic\n    td\n      input";
const CARDS: &str = "form \"Names\"\n  section\n    h3 \"First\"\n    button \"Edit\"\n  section\n    h3 \"Last\"\n    button \"Edit\"";
const DIALOG: &str = "dialog \"Delete the account?\"\n  button \"Yes\"";

const FILTERS: &str =
    "div class=side\n  h3 \"Fit\"\n  p\n    a \"Clear all filters\" href=/clear\ndiv\n  p | Shirts";

/// Page, sentence, change (from, to), what becomes of it.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const TABLE: &[Row] = &[
    // A copy stands where it stood, and it stands elsewhere: nothing tells which is which.
    (
        FILTERS,
        "click 'Clear all filters'",
        &[(
            "  p | Shirts",
            "  p | Shirts\ndiv\n  a \"Clear all filters\" href=/clear",
        )],
        "ambiguous: 2 elements are link \"Clear all filters\" in the section \"Fit\"",
    ),
    (
        FILTERS,
        "click 'Clear all filters'",
        &[(
            "  p | Shirts",
            "  h3 \"Shirts\"\n  a \"Clear all filters\" href=/clear",
        )],
        "ambiguous: it was the only one, and has a copy",
    ),
    // Nothing that counts has changed.
    (
        ROWS,
        "click 'Delete' in the 'Tea' row",
        &[],
        "at once: button \"Delete\" in row \"Tea\"",
    ),
    (
        ROWS,
        "click 'Delete' in the 'Tea' row",
        &[("4.50", "4.80")],
        "at once: button \"Delete\" in row \"Tea\"",
    ),
    (
        BOARD,
        "click 'Add a card' in the 'To do 2' section",
        &[("To do 2", "To do 3")],
        "at once: button \"Add a card\" in card \"To do 3\"",
    ),
    // Place.
    (
        ROWS,
        "click 'Delete' in the 'Tea' row",
        &[("Tea", "Coffee")],
        "gone: the row \"Tea\" is not there",
    ),
    (
        ROWS,
        "click 'Delete' in the 'Tea' row",
        &[("Milk", "Tea")],
        "ambiguous: the row \"Tea\" is there 2 times",
    ),
    (
        DIALOG,
        "click 'Yes'",
        &[("Delete the account?", "Send the order?")],
        "gone: the dialog \"Delete the account?\" is not there",
    ),
    (
        FORMS,
        "click 'Save' in the 'Billing' section",
        &[("\"Billing\"", "\"Payment\"")],
        "gone: the section \"Billing\" is not there",
    ),
    (
        CARDS,
        "click 'Edit' in the 'Last' section",
        &[("\"First\"\n    button \"Edit\"", "\"First\"")],
        "at once: button \"Edit\" in card \"Last\"",
    ),
    // A field in a table is known by its column.
    (
        GRID,
        "type '7' into Guests in the 'Attic' row",
        &[
            ("th | Guests", "th | Beds\n    th | Guests"),
            ("| Attic\n    td", "| Attic\n    td\n      input\n    td"),
        ],
        "at once: textbox in row \"Attic\"",
    ),
    (
        GRID,
        "type '7' into Guests in the 'Attic' row",
        &[("Guests", "Discount")],
        "gone: no element is a textbox in the column \"Guests\" in the row \"Attic\"",
    ),
    // Claim.
    (
        FORMS,
        "click 'Save' in the 'Billing' section",
        &[("\"Reset\"", "\"Save\"")],
        "ambiguous: 2 elements are button \"Save\" in the section \"Billing\"",
    ),
    (
        FORMS,
        "click 'Save' in the 'Billing' section",
        &[("button \"Save\"\n  button \"Reset\"", "button \"Reset\"")],
        "gone: no element is button \"Save\" in the section \"Billing\"",
    ),
    // Veto.
    (
        ALONE,
        "click 'Pay'",
        &[
            ("\"Pay\" id=pay", "\"Pay\""),
            ("\"Reset\"", "\"Pay later\" id=pay"),
        ],
        "ambiguous: button \"Pay later\" in region \"Billing\" is new there and has its id",
    ),
    (
        ALONE,
        "click 'Pay'",
        &[("\"Reset\"", "\"Proceed\" | Pay")],
        "ambiguous: button \"Proceed\" in region \"Billing\" is new there and shows its text",
    ),
    // It has another name and a copy before it, and what was beside it has its name.
    (
        DAY,
        "click 'Dentist'",
        &[
            ("button \"Dentist\"", "button \"Yoga\"\n  button \"Yoga\""),
            ("\"Gym\"", "\"Dentist\""),
        ],
        "ambiguous: button \"Yoga\" in region \"Monday\" is new there and stands where it stood",
    ),
    (
        DAYS,
        "click 'Dentist'",
        &[("Dentist", "Yoga\"\n    button \"Yoga"), ("Gym", "Dentist")],
        "ambiguous: button \"Yoga\" in region \"March\" is new there and stands where it stood",
    ),
    // Of several with one name one is called as it was.
    (
        DAYS,
        "click 'Dentist'",
        &[
            ("Dentist", "Yoga\"\n    button \"Yoga"),
            (
                "Lunch\"\n    button \"Lunch",
                "Lunch\"\n    button \"Dentist",
            ),
        ],
        "ambiguous: button \"Yoga\" in region \"March\" is new there and stands where it stood",
    ),
    // What is only put before it takes its place on the page, and no name is gone.
    (
        DAY,
        "click 'Dentist'",
        &[(
            "button \"Dentist\"",
            "button \"Yoga\"\n  button \"Dentist\"",
        )],
        "at once: button \"Dentist\" in region \"Monday\"",
    ),
    // Something is new, so that it is only certain after a second.
    (
        ALONE,
        "click 'Pay'",
        &[("\"Reset\"", "\"Pay later\"")],
        "same: button \"Pay\" in region \"Billing\"",
    ),
    (
        ALONE,
        "click 'Pay'",
        &[("\"Pay\" id=pay", "\"Pay\" id=x")],
        "same: button \"Pay\" in region \"Billing\"",
    ),
    // Moved.
    (
        ALONE,
        "click 'Pay'",
        &[("\"Billing\"", "\"Payment\"")],
        "healed: button \"Pay\" in region \"Payment\": the section \"Billing\" is gone or has another name",
    ),
    (
        TABS,
        "click 'Save'",
        &[("\"Billing\"", "\"Invoices\"")],
        "healed: button \"Save\" in tabpanel \"Invoices\": the section \"Billing\" is gone or has another name",
    ),
    // Renamed: an id that a person gave is a proposal; one that counts says nothing.
    (
        ALONE,
        "click 'Pay'",
        &[("\"Pay\"", "\"Donate\"")],
        "renamed: button \"Donate\" in region \"Billing\" has the id `pay` of \"Pay\"",
    ),
    (
        "button \"Archive\" id=btn-2",
        "click 'Archive'",
        &[("Archive", "Delete")],
        "gone: no element is button \"Archive\"",
    ),
    (
        "div role=tablist\n  button \"Billing\" role=tab id=sl-tab-2",
        "click 'Billing'",
        &[("Billing", "Team")],
        "gone: no element is tab \"Billing\"",
    ),
];

#[test]
fn each_check_of_the_gate_says_what_failed() {
    let mut wrong = Vec::new();
    for (before, sentence, changes, expected) in TABLE {
        let after = changes
            .iter()
            .fold((*before).to_owned(), |page, (from, to)| {
                assert!(page.contains(from), "{from}");
                page.replace(from, to)
            });
        let found = judged(before, sentence, &after);
        if found != *expected {
            wrong.push(format!(
                "{sentence} {changes:?}\n  expected {expected}\n  found    {found}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_component_is_known_by_its_label_and_not_by_its_place() {
    let before = "x-card aria-label=Apples\n  #shadow\n    button \"More\"\nx-card aria-label=Pears\n  #shadow\n    button \"More\"";
    let after = "x-card aria-label=Pears\n  #shadow\n    button \"More\"\nx-card aria-label=Apples\n  #shadow\n    button \"More\"";
    let sentence = "click 'More' in the 'Pears' section";
    assert_eq!(
        judged(before, sentence, after),
        "at once: button \"More\" in x-card \"Pears\""
    );
    let gone = after.replace("Pears", "Plums");
    assert_eq!(
        judged(before, sentence, &gone),
        "gone: the section \"Pears\" is not there"
    );
}

#[test]
fn what_could_not_be_found_again_is_warned_of() {
    let state = page("main\n  p\n    button \"Delete\"\n    button \"Delete\"");
    let id = first_called(&state, "Delete");
    let known = Finder::new(&state, "data-testid").identify(id, None);
    let warning = known.expect("an element").warning.expect("a warning");
    assert!(warning.contains("only its position"), "{warning}");
}

#[test]
fn of_many_siblings_all_are_known_and_some_in_clear() {
    let names: Vec<String> = (0..60).map(|number| format!("Person {number}")).collect();
    let list = |names: &[String]| -> String {
        let lines = names.iter().map(|name| format!("button \"{name}\"\n"));
        lines.collect()
    };
    let before = page(&list(&names));
    let id = first_called(&before, "Person 7");
    let known = remember(&before, id);
    let siblings = known.fingerprint.siblings.as_ref().expect("siblings");
    let n_clear = siblings
        .iter()
        .filter(|name| name.starts_with("person"))
        .count();
    assert_eq!((siblings.len(), n_clear), (59, 40));
    let is_certain = |names: &[String]| {
        matches!(
            verdict(&page(&list(names)), &known),
            Verdict::Same {
                is_certain: true,
                ..
            }
        )
    };
    assert!(is_certain(&names));
    // What is new shares a word with it.
    assert!(!is_certain(&[names, vec!["Person 60".to_owned()]].concat()));
}

#[test]
fn the_place_that_a_sentence_named_is_kept_whatever_it_was_called() {
    for (before, sentence) in [
        // With a count, and as a section that is an item.
        (BOARD, "click 'Add a card' in the 'To do 2' section"),
        (
            "ul\n  li\n    h3 \"Tea\"\n    button \"Add\"\n  li\n    h3 \"Milk\"\n    button \"Add\"",
            "click 'Add' in the 'Tea' section",
        ),
        (DIALOG, "click 'Yes' in the dialog"),
    ] {
        let state = page(before);
        let finder = Finder::new(&state, "data-testid");
        let Understanding::Understood(intent) = understand(sentence) else {
            panic!("{sentence}");
        };
        let Translation::Step {
            target: Some(target),
            ..
        } = finder.resolve(&intent)
        else {
            panic!("{sentence}");
        };
        let known = finder.identify(target, intent.phrase.as_ref());
        assert_eq!(known.expect("an element").warning, None, "{sentence}");
    }
}

#[test]
fn a_name_that_is_found_elsewhere_may_be_that_of_another_one_by_now() {
    let users = |first: &str, menu: &str| {
        format!(
            "h1 \"Users\"\nmain\n  div\n    p\n      {first}\n    p\n      a \"Bob\" href=/2\nnav\n  a \"{menu}\" href=/3"
        )
    };
    let old = users("a \"Alice\" href=/1", "Docs");
    let renamed = users(
        "section \"Quick access\"\n        a \"Carla\" href=/1",
        "Alice",
    );
    assert_eq!(
        judged(&old, "click 'Alice'", &renamed),
        "ambiguous: it stands elsewhere, link \"Carla\" in region \"Quick access\" stands where it stood, and the name of \
         another one is gone"
    );
    // It only has something around it.
    let wrapped = users(
        "section \"Quick access\"\n        a \"Alice\" href=/1",
        "Docs",
    );
    assert!(judged(&old, "click 'Alice'", &wrapped).starts_with("same: link"));
}

#[test]
fn a_renamed_heading_is_healed_where_a_named_part_below_it_stays() {
    let login = |heading: &str| {
        format!(
            "nav \"Main\"\n  a \"Sign in\" href=/in\nmain\n  h1 \"{heading}\"\n  form \"Account\"\n    input \"E-mail\"\n    input \"Password\" type=password"
        )
    };
    assert_eq!(
        judged(
            &login("Sign in"),
            "type 'a' into 'E-mail'",
            &login("Welcome back")
        ),
        "healed: textbox \"E-mail\" in form \"Account\": the section \"Sign in\" is gone or has another name"
    );
    // Another form stands there.
    let sign_up = login("Sign up").replace("\"Account\"", "\"New account\"");
    assert_eq!(
        judged(&login("Sign in"), "type 'a' into 'E-mail'", &sign_up),
        "gone: the section \"Sign in\" is not there"
    );
}

#[test]
fn what_stands_in_an_editable_part_is_its_value_and_no_name() {
    let note = |text: &str| {
        format!("main\n  p | Note\n  div data-testid=note contenteditable +editable | {text}")
    };
    let old = page(&note("first"));
    let finder = Finder::new(&old, "data-testid");
    let (id, _) = old
        .elements()
        .find(|(_, element)| element.attribute("contenteditable").is_some())
        .expect("it is there");
    let known = finder.identify(id, None).expect("an element");
    assert_eq!(known.fingerprint.text.as_deref(), Some("Note"));
    let memory = Memory {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    };
    let now = page(&note("second"));
    assert!(matches!(verdict(&now, &memory), Verdict::Same { .. }));
}
