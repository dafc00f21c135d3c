use proptest::prelude::*;

use super::*;
use crate::dom::testing::page;
use crate::dom::{DomState, NodeId};
use crate::selector::{Finder, Selector};
use crate::sentences::{Translation, Understanding, understand};
use crate::{Container, ContainerKind, Fingerprint, TextPlace};

mod found;
mod names;

struct Memory {
    selectors: Vec<Selector>,
    fingerprint: Fingerprint,
}

fn id_of(state: &DomState, name: &str, nth: usize) -> NodeId {
    let mut found = state.elements().filter(|(_, element)| element.name == name);
    found.nth(nth).expect(name).0
}

fn remember(state: &DomState, id: NodeId) -> Memory {
    let finder = Finder::new(state, "data-testid");
    let known = finder.identify(id, None).expect("an element");
    Memory {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    }
}

fn verdict(state: &DomState, memory: &Memory) -> Verdict {
    Finder::new(state, "data-testid").verdict(Remembered {
        selectors: &memory.selectors,
        fingerprint: &memory.fingerprint,
    })
}

/// The verdict on the element called `name` (the `nth` of them) of one page when the page has become another.
fn between(before: &str, name: &str, nth: usize, after: &str) -> (Verdict, DomState) {
    let old = page(before);
    let memory = remember(&old, id_of(&old, name, nth));
    let new = page(after);
    (verdict(&new, &memory), new)
}

fn word(before: &str, name: &str, after: &str) -> String {
    let (verdict, _) = between(before, name, 0, after);
    match &verdict {
        Verdict::Healed(healing) => format!("healed: {}", healing.reason),
        Verdict::Renamed { proposed, .. } => format!("renamed: {}", proposed.reason),
        other => other.as_str().to_owned(),
    }
}

const ROWS: &str = "table\n  tr\n    td | Tea\n    td\n      button \"Delete\"\n  tr\n    td | Milk\n    td\n      button \"Delete\"";

#[test]
fn a_fingerprint_says_what_and_where() {
    let state = page(
        "form \"Account\"\n  section \"Sign in\"\n    h2 \"Who\"\n    input \"E-mail\" type=email data-testid=mail",
    );
    let memory = remember(&state, id_of(&state, "E-mail", 0));
    assert_eq!(
        memory.fingerprint,
        Fingerprint {
            role: "textbox".into(),
            name: "E-mail".into(),
            tag: "input".into(),
            input_type: Some("email".into()),
            test_id: Some("mail".into()),
            path: vec!["region \"Sign in\"".into(), "form \"Account\"".into()],
            near: "E-mail".into(),
            ordinal: 1,
            of: 1,
            around: "Who".into(),
            before: "Who".into(),
            ..Fingerprint::default()
        }
    );
    let rows = page(ROWS);
    let second = remember(&rows, id_of(&rows, "Delete", 1)).fingerprint;
    let row = Container {
        kind: ContainerKind::Row,
        text: Some("Milk".into()),
        at: TextPlace::Cell,
        made: Some("row".into()),
        nodes: Some(6),
        ..Container::default()
    };
    assert_eq!((second.path.len(), second.within), (0, vec![row]));
    assert_eq!(
        (second.ordinal, second.of, second.near.as_str()),
        (2, 2, "Milk")
    );
}

#[test]
fn what_did_not_change_is_the_same() {
    for (lines, name, nth) in [
        ("button \"Log in\"", "Log in", 0),
        (ROWS, "Delete", 1),
        (
            "iframe \"Pay\"\n  #frame x\n    button \"Pay now\"",
            "Pay now",
            0,
        ),
    ] {
        let (verdict, state) = between(lines, name, nth, lines);
        assert_eq!(verdict, Verdict::Same(id_of(&state, name, nth)), "{lines}");
    }
}

#[test]
fn what_moved_is_healed() {
    let before = "form \"Account\"\n  button \"Log in\" type=submit class=primary";
    // The first selector (role and name) still leads to it.
    assert_eq!(
        word(before, "Log in", "div\n  button \"Log in\" type=submit"),
        "same"
    );
    // With another of its name before it, neither place nor surroundings are as they were: nothing is chosen.
    let twin = "header\n  nav \"Main\"\n    p role=paragraph | Shop\n    button \"Log in\"\nform \"Account\"\n  button \"Log in\" type=submit class=primary";
    let (verdict, _) = between(
        "nav \"Main\"\n  p role=paragraph | Shop\nform \"Account\"\n  button \"Log in\" type=submit",
        "Log in",
        0,
        twin,
    );
    let Verdict::Gone { nearest } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(nearest.len(), 2);
}

#[test]
fn what_still_shows_its_name_is_not_acted_on_under_another_accessible_name() {
    let before = "form \"Account\"\n  button \"Log in\" class=primary | Log in";
    let after = "form \"Account\"\n  button \"Enter the shop\" | Log in";
    assert_eq!(
        word(before, "Log in", after),
        "renamed: button \"Enter the shop\" in form \"Account\" has the text of \"Log in\""
    );
    // Without a text nothing shows anything.
    let nameless = page("form \"Account\"\n  button \"\"");
    let mut elements = nameless.elements();
    let (button, _) = elements
        .find(|(_, element)| element.role == "button")
        .expect("a button");
    let named = page("form \"Account\"\n  button \"Enter\"");
    let verdict = verdict(&named, &remember(&nameless, button));
    assert_eq!(verdict.as_str(), "wrong target");
}

#[test]
fn a_twin_elsewhere_does_not_hide_what_is_where_it_was() {
    let before = "form \"Account\"\n  h2 \"Welcome\"\n  button \"Log in\" data-testid=go";
    let after = "form \"Account\"\n  h2 \"Welcome\"\n  button \"Log in\"\nfooter role=contentinfo\n  p role=paragraph | Other\n  button \"Log in\"";
    let (verdict, state) = between(before, "Log in", 0, after);
    let Verdict::Healed(healing) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(healing.target, id_of(&state, "Log in", 0));
    assert!(healing.score >= 0.85 && healing.score - healing.next >= 0.15);
    assert!(healing.reason.contains("test id"), "{}", healing.reason);
}

#[test]
fn where_no_place_has_a_name_a_twin_in_other_tags_is_not_healed_into() {
    let before = "h2 \"Ingredients\"\ndiv\n  div\n    button \"Add\"";
    let moved = "h2 \"Ingredients\"\ndiv\n  div\n    section role=region \"Quick access\"\n      h3 \"Quick access\"\n      button \"Add\"";
    let in_a_form = format!("{moved}\nh2 \"Ingredients\"\nform\n  button \"Add\"");
    assert_eq!(word(before, "Add", &in_a_form), "ambiguous");
    let alike = format!("{moved}\nh2 \"Ingredients\"\ndiv\n  div\n    button \"Add\"");
    let (verdict, state) = between(before, "Add", 0, &alike);
    assert_eq!(verdict.target(), Some(id_of(&state, "Add", 1)));
}

/// What a step remembers whose sentence means an element.
fn remember_said(state: &DomState, sentence: &str) -> Memory {
    let Understanding::Understood(intent) = understand(sentence) else {
        panic!("it has a form");
    };
    let finder = Finder::new(state, "data-testid");
    let Translation::Step {
        target: Some(id), ..
    } = finder.resolve(&intent)
    else {
        panic!("it is found");
    };
    let known = finder.identify(id, intent.phrase.as_ref());
    let known = known.expect("an element");
    Memory {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    }
}

/// The verdict on the nth element of a role when the page has become another.
fn on_nth(before: &str, role: &str, nth: usize, after: &str) -> (String, Option<usize>) {
    let ids = |state: &DomState| -> Vec<NodeId> {
        let elements = state.elements().filter(|(_, element)| element.role == role);
        elements.map(|(id, _)| id).collect()
    };
    let (old, new) = (page(before), page(after));
    let memory = remember(&old, ids(&old)[nth]);
    let found = verdict(&new, &memory);
    let place = found
        .target()
        .and_then(|id| ids(&new).iter().position(|one| *one == id));
    (found.as_str().to_owned(), place)
}

#[test]
fn what_has_no_name_stays_in_its_column() {
    let table = |headings: [&str; 2], name: &str| {
        let head: String = headings.map(|one| format!("    th | {one}\n")).concat();
        let box_ = "    td\n      input type=checkbox\n";
        format!(
            "table\n  tr\n    th | User\n{head}  tr\n    td | {name}\n{box_}{box_}  tr\n    td | Cleo\n{box_}{box_}"
        )
    };
    let before = table(["Read", "Write"], "Bob");
    let found = |column: &str, after: &str| {
        let sentence = format!("check the {column} checkbox in the 'Bob' row");
        let memory = remember_said(&page(&before), &sentence);
        let new = page(after);
        let found = verdict(&new, &memory);
        let mut boxes = new
            .elements()
            .filter(|(_, element)| element.role == "checkbox");
        let place = boxes.position(|(id, _)| found.target() == Some(id));
        (found.as_str(), place)
    };
    // Named by row and column it is known, although four look alike.
    assert_eq!(found("Write", &before), ("same", Some(1)));
    let swapped = table(["Write", "Read"], "Bob");
    assert_eq!(found("Write", &swapped), ("same", Some(0)));
    let other = table(["Read", "Suspended"], "Bob");
    assert_eq!(found("Write", &other).1, None);
    assert_eq!(found("Read", &other), ("same", Some(0)));
}

#[test]
fn a_column_is_counted_by_what_cells_take() {
    let head = "table\n  tr\n    th | Item\n    th | Grade\n    th | Price\n    th | Old price\n";
    let before = format!(
        "{head}  tr\n    td | Apple\n    td | A\n    td | $5\n    td | $6\n  tr\n    td | Pear\n    td | A\n    td | $7\n    td | $8\n"
    );
    let after = format!(
        "{head}  tr\n    td | Apple\n    td rowspan=2 | A\n    td | $5\n    td | $6\n  tr\n    td | Pear\n    td | $9\n    td | $7\n"
    );
    let (found, place) = on_nth(&before, "cell", 6, &after);
    assert_eq!(
        (found.as_str(), place),
        ("same", Some(5)),
        "the price of Pear"
    );
    let wide = format!("{head}  tr\n    td colspan=2 | Pear\n    td | $9\n    td | $7\n");
    assert_eq!(on_nth(&before, "cell", 6, &wide).1, Some(1));
}

#[test]
fn what_was_renamed_is_proposed_by_its_id_only() {
    let before = "form \"Account\"\n  button \"Log in\" id=go";
    let found = word(
        before,
        "Log in",
        "form \"Account\"\n  button \"Sign in\" id=go",
    );
    let expected = "renamed: button \"Sign in\" in form \"Account\" has the id `go` of \"Log in\"";
    assert_eq!(found, expected);
    let by_test_id = word(
        "button \"Log in\" data-testid=go",
        "Log in",
        "button \"Sign in\" data-testid=go",
    );
    assert!(by_test_id.contains("the test id `go`"), "{by_test_id}");
    let elsewhere = "form \"Other\"\n  button \"Sign in\" id=go";
    assert!(word(before, "Log in", elsewhere).starts_with("renamed"));
    // Without one, or on two, or on something else, it is not.
    for after in [
        "form \"Account\"\n  button \"Sign in\"",
        "form \"Account\"\n  button \"Sign in\" id=go\n  button \"Enter\" id=go",
        "form \"Account\"\n  a \"Sign in\" href=/ id=go",
    ] {
        assert!(
            ["wrong target", "gone"].contains(&word(before, "Log in", after).as_str()),
            "{after}"
        );
    }
    // A test id that several had names none of them.
    let twins =
        "button \"Delete tea\" data-testid=delete\nbutton \"Delete milk\" data-testid=delete";
    assert_eq!(
        word(
            twins,
            "Delete tea",
            "button \"Delete milk\" data-testid=delete"
        ),
        "gone"
    );
}

#[test]
fn a_generated_id_renames_nothing() {
    let before = "button \"Log in\" id=x-12345";
    assert_eq!(
        word(before, "Log in", "button \"Sign in\" id=x-12345"),
        "gone"
    );
}

#[test]
fn what_leads_to_something_else_is_a_wrong_target() {
    // The row that was first is gone; what is first now is another one's.
    let before = "ul\n  li\n    h3 \"Tea\"\n    button \"Buy\" ~unnamed\n  li\n    h3 \"Milk\"\n    button \"Buy\" ~unnamed";
    let old = page(before);
    // As steps were kept that knew no containers.
    let mut memory = remember(&old, id_of(&old, "Buy", 0));
    memory.fingerprint.within.clear();
    memory.fingerprint.path = vec!["listitem \"Tea\"".to_owned()];
    memory.selectors = vec![
        "xpath=/html/body/ul/li[1]/button"
            .parse()
            .expect("a selector"),
    ];
    let new = page("ul\n  li\n    h3 \"Milk\"\n    button \"Buy\" ~unnamed");
    let found = verdict(&new, &memory);
    let Verdict::WrongTarget {
        differences,
        nearest,
        ..
    } = found
    else {
        panic!("{found:?}");
    };
    let fields: Vec<_> = differences
        .iter()
        .map(|difference| difference.field)
        .collect();
    assert_eq!(fields, ["path", "near", "place among its like"]);
    assert_eq!(nearest.len(), 1);
    assert!(nearest[0].words.contains("in listitem \"Milk\""));
    assert_eq!(found_word(&new, "css=button", &old, "Buy"), "gone");
}

/// The verdict if a selector of another element is all that is remembered.
fn found_word(new: &DomState, selector: &str, old: &DomState, name: &str) -> &'static str {
    let mut memory = remember(old, id_of(old, name, 0));
    memory.selectors = vec![selector.parse().expect("a selector")];
    verdict(new, &memory).as_str()
}

#[test]
fn what_is_no_longer_there_is_gone_with_what_is_near() {
    let (verdict, _) = between(
        "button \"Log in\"",
        "Log in",
        0,
        "button \"A\"\nbutton \"B\"\nbutton \"C\"\nbutton \"D\"",
    );
    let Verdict::Gone { nearest } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(nearest.len(), 3);
    assert!(nearest[0].to_string().starts_with("button \"A\" ("));
}

#[test]
fn doubled_elements_are_ambiguous() {
    // What is first has its place, what is second its surroundings.
    let (verdict, _) = between(
        "div\n  p | Options\n  button \"Save\"",
        "Save",
        0,
        "div\n  p | Other\n  button \"Save\"\n  p | Options\n  button \"Save\"",
    );
    let Verdict::Ambiguous { candidates } = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(candidates.len(), 2);
    assert_eq!(verdict.target(), None);
}

#[test]
fn which_of_its_like_it_is_decides_nothing_alone() {
    let before = "form \"Account\"\n  p | Welcome\n  a \"Help\" href=/help";
    let after = "form \"Account\"\n  p | Hello\n  a \"Help\" href=/help\n  p | Bye\n  a \"Help\" href=/help";
    let (verdict, _) = between(before, "Help", 0, after);
    let Verdict::Ambiguous { candidates } = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(candidates.len(), 2);
}

fn cards(fruits: &[&str]) -> String {
    let card = |fruit: &&str| format!("section \"{fruit}\"\n  p | 10 €\n  button \"Buy\"");
    fruits.iter().map(card).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_neighbour_is_not_taken_for_what_is_gone() {
    let before = cards(&["Apples", "Pears", "Plums"]);
    // The pears are where the apples were, with the same price and in the same order.
    let (gone, _) = between(&before, "Buy", 0, &cards(&["Pears", "Plums", "Figs"]));
    assert!(gone.target().is_none(), "{gone:?}");
    // The apples are where the plums were.
    let (moved, new) = between(&before, "Buy", 0, &cards(&["Pears", "Plums", "Apples"]));
    assert_eq!(moved.target(), Some(id_of(&new, "Buy", 2)), "{moved:?}");
}

#[test]
fn an_item_is_known_by_the_text_that_stands_right_in_it() {
    let item = |name: &str, count: u32| {
        format!("  li | {name}\n    span | {count} left\n    button \"Remove\"\n")
    };
    let of = |items: [(&str, u32); 2]| {
        let items = items.map(|(name, count)| item(name, count));
        format!("ul\n{}", items.concat())
    };
    let before = of([("Apples", 3), ("Pears", 5)]);
    let known = remember(&page(&before), id_of(&page(&before), "Remove", 0));
    let within = &known.fingerprint.within[0];
    assert_eq!(within.text.as_deref(), Some("Apples"));
    for (after, expected) in [
        (of([("Apples", 5), ("Pears", 3)]), Some(0)),
        (of([("Pears", 3), ("Apples", 1)]), Some(1)),
        (of([("Pears", 3), ("Plums", 5)]), None),
    ] {
        let state = page(&after);
        let target = expected.map(|nth| id_of(&state, "Remove", nth));
        assert_eq!(verdict(&state, &known).target(), target, "{after}");
    }
}

#[test]
fn what_is_in_another_place_of_its_kind_is_another_ones() {
    for (name, lines) in [
        (
            "Remove",
            "table\n  tr\n    td | {}\n    td\n      button \"Remove\"",
        ),
        ("Yes", "dialog \"{}\"\n  button \"Yes\""),
        ("Yes", "dialog\n  h2 \"{}\"\n  button \"Yes\""),
        ("Yes", "dialog\n  p | {}\n  button \"No\"\n  button \"Yes\""),
        ("Save", "div \"{}\" role=tabpanel\n  button \"Save\""),
        (
            "Pay",
            "iframe title=\"{}\"\n  #frame http://x.example/\n    button \"Pay\"",
        ),
        (
            "More",
            "x-card\n  #shadow\n    button \"More\"\n    slot | {}",
        ),
    ] {
        let (tea, milk) = (lines.replace("{}", "Tea"), lines.replace("{}", "Milk"));
        assert_eq!(word(&tea, name, &tea), "same");
        let verdict = word(&tea, name, &milk);
        assert!(
            ["gone", "wrong target"].contains(&verdict.as_str()),
            "{verdict}: {milk}"
        );
    }
}

#[test]
fn what_was_alone_is_not_looked_for_beside_the_place_in_which_it_was() {
    let before = "section \"Draft\"\n  button \"Delete\"";
    // The section may be called something else, but it is not left for another one.
    let renamed = "section \"Sketch\"\n  button \"Delete\"";
    let left = "section \"Draft\"\n  p | empty\nsection \"Account\"\n  button \"Delete\"";
    assert_eq!(word(before, "Delete", renamed), "same");
    assert_eq!(word(before, "Delete", left), "wrong target");
    let below = "h2 \"Old\"\nbutton \"Empty\"\nh2 \"New\"";
    let below_another = "h2 \"Old\"\nh2 \"New\"\nbutton \"Empty\"";
    assert_eq!(word(below, "Empty", below_another), "wrong target");
}

#[test]
fn twins_in_one_place_are_told_apart_by_what_is_near() {
    let form = |rows: &[(&str, bool)]| {
        let rows = rows.iter().map(|(name, has_button)| match has_button {
            true => format!("\n  h3 \"{name}\"\n  button \"Edit\""),
            false => format!("\n  h3 \"{name}\""),
        });
        format!("form \"Names\"{}", rows.collect::<String>())
    };
    let before = form(&[("First", true), ("Last", true)]);
    let (first, _) = between(
        &before,
        "Edit",
        0,
        &form(&[("First", false), ("Last", true)]),
    );
    assert_eq!(first.as_str(), "wrong target");
    let (last, _) = between(
        &before,
        "Edit",
        1,
        &form(&[("First", true), ("Last", false)]),
    );
    assert_eq!(last.target(), None, "{last:?}");
}

#[test]
fn an_id_that_was_given_to_a_neighbour_renames_nothing() {
    let before = "p | Answer:\nbutton \"Accept\" data-testid=answer\nbutton \"Decline\"";
    let after = "p | Please answer:\nbutton \"Accept\"\nbutton \"Decline\" data-testid=answer";
    assert_eq!(word(before, "Accept", after), "wrong target");
}

#[test]
fn what_moved_into_a_frame_is_another_ones() {
    assert_eq!(
        word(
            "button \"Pay\"",
            "Pay",
            "iframe \"Ad\"\n  #frame x\n    button \"Pay\""
        ),
        "gone"
    );
}

#[test]
fn a_hidden_element_is_never_chosen_in_place_of_another() {
    assert_eq!(
        word("div\n  button \"Save\"", "Save", "button \"Save\" ~hidden"),
        "gone"
    );
}

fn any_page() -> impl Strategy<Value = String> {
    let line = (0_usize..4, 0_usize..4, 0_usize..3, proptest::bool::ANY);
    proptest::collection::vec(line, 1..14).prop_map(|lines| {
        let (mut text, mut level) = (String::new(), 0);
        for (tag, name, depth, has_id) in lines {
            level = depth.min(level + 1);
            let tag = ["button", "section", "li", "a href=/x"][tag];
            let id = if has_id {
                format!(" data-testid=t{name}")
            } else {
                String::new()
            };
            text.push_str(&format!(
                "{}{tag} \"Name {name}\"{id}\n",
                "  ".repeat(level)
            ));
        }
        text
    })
}

proptest! {
    #[test]
    fn an_unchanged_page_has_the_same_elements(lines in any_page()) {
        let state = page(&lines);
        for (id, _) in state.elements().filter(|(_, element)| !element.name.is_empty()) {
            let memory = remember(&state, id);
            let found = verdict(&state, &memory);
            prop_assert_eq!(&found, &Verdict::Same(id), "{}", lines);
        }
    }

    /// Whatever becomes of a page: what is chosen has the role and the name of what was meant.
    #[test]
    fn nothing_of_another_identity_is_chosen(before in any_page(), after in any_page()) {
        let (old, new) = (page(&before), page(&after));
        for (id, element) in old.elements().filter(|(_, element)| element.is_interactive) {
            let memory = remember(&old, id);
            let found = verdict(&new, &memory);
            if let Some(target) = found.target() {
                let target = new.element(target).expect("an element");
                prop_assert_eq!(&target.role, &element.role);
                prop_assert_eq!(&target.name, &element.name, "{:?}\n{}\n{}", found, before, after);
            }
            let scores = match &found {
                Verdict::Healed(healing) => vec![healing.score, healing.next],
                Verdict::Ambiguous { candidates } => candidates.iter().map(|one| one.score).collect(),
                Verdict::WrongTarget { nearest, .. }
                | Verdict::Renamed { nearest, .. }
                | Verdict::Gone { nearest } => nearest.iter().map(|one| one.score).collect(),
                Verdict::Same(_) => vec![],
            };
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
            if matches!(found, Verdict::WrongTarget { .. } | Verdict::Gone { .. }) {
                prop_assert!(scores.is_sorted_by(|one, other| one >= other));
            }
        }
    }
}

#[test]
fn a_badge_beside_a_name_is_no_other_name() {
    let cart = |badge: &str| {
        format!(
            "header\n  a \"Cart{badge}\" href=/cart\n    | Cart\n    span |{badge}\n  a \"Help\" href=/help"
        )
    };
    let (before, after) = (
        "header\n  a \"Cart\" href=/cart\n    | Cart\n  a \"Help\" href=/help",
        cart(" 3"),
    );
    let (verdict, _) = between(before, "Cart", 0, &after);
    let Verdict::Healed(healing) = verdict else {
        panic!("{verdict:?}")
    };
    assert!(
        healing.reason.contains("count beside its name"),
        "{}",
        healing.reason
    );
    // A number in the same text is a part of the name, and so is what is still there without one.
    let numbered = "header\n  a \"Cart 3\" href=/cart\n    | Cart 3\n  a \"Help\" href=/help";
    assert_ne!(word(before, "Cart", numbered), "same");
    assert!(between(before, "Cart", 0, numbered).0.target().is_none());
    let both = format!("{after}\n  a \"Cart 4\" href=/cart\n    | Cart\n    span | 4");
    assert!(between(before, "Cart", 0, &both).0.target().is_none());
}

#[test]
fn a_badge_in_one_row_is_no_other_name_there() {
    let rows = |milk: &str| {
        format!(
            "table\n  tr\n    td | Tea\n    td\n      button \"Delete\"\n  tr\n    td | Milk\n    td\n      {milk}"
        )
    };
    let badge = "button \"Delete 2\"\n        | Delete\n        span | 2";
    let (verdict, new) = between(ROWS, "Delete", 1, &rows(badge));
    assert_eq!(
        verdict.target(),
        Some(id_of(&new, "Delete 2", 0)),
        "{verdict:?}"
    );
    let (verdict, _) = between(ROWS, "Delete", 0, &rows(badge));
    assert_eq!(verdict.as_str(), "same");
    let both = format!("{badge}\n      button \"Delete\"");
    let (verdict, new) = between(ROWS, "Delete", 1, &rows(&both));
    assert_ne!(verdict.target(), Some(id_of(&new, "Delete 2", 0)));
}

#[test]
fn a_text_in_another_column_is_another_cell() {
    let table = |first: &str, second: &str| {
        format!(
            "table\n  tr\n    th | Name\n    th | Bounce\n    th | Exit\n  tr\n    td | /blog\n    td \"{first}\" | {first}\n    td \"{second}\" | {second}"
        )
    };
    let state = page(&table("57%", "60%"));
    let cell = state
        .elements()
        .find(|(_, element)| element.name == "57%")
        .expect("a cell");
    let memory = remember(&state, cell.0);
    assert_eq!(memory.fingerprint.near, "Bounce");
    for (first, second, is_same) in [
        ("57%", "60%", true),
        ("60%", "57%", false),
        ("1%", "57%", false),
    ] {
        let changed = page(&table(first, second));
        let is_found = verdict(&changed, &memory).as_str();
        assert_eq!(is_found == "same", is_same, "{first} {second}");
    }
}

#[test]
fn a_copy_beside_an_element_without_a_name_is_not_taken_for_it() {
    let row = |cells: &str| {
        format!(
            "table\n  tr\n    th | Pick\n    th | Article\n  tr\n    td\n{cells}    td | Gravel\n  tr\n    td\n      input type=checkbox\n    td | Sand"
        )
    };
    let before = row("      span class=cell\n        input type=checkbox class=pick\n");
    let state = page(&before);
    let (id, _) = state
        .elements()
        .find(|(_, element)| element.attribute("class") == Some("pick"))
        .expect("a checkbox");
    let memory = remember(&state, id);
    assert_eq!(
        memory.fingerprint.within.len(),
        1,
        "{:?}",
        memory.fingerprint
    );
    assert_eq!(verdict(&state, &memory), Verdict::Same(id));
    // The copy alone is made as the element was, and its row became an item.
    let copied = "ul\n  li\n    span class=cell\n      input type=checkbox class=pick\n    div\n      input type=checkbox\n    span | Gravel\n  li\n    input type=checkbox\n    span | Sand";
    let found = verdict(&page(copied), &memory);
    assert!(found.target().is_none(), "{found:?}");
}

#[test]
fn a_copy_of_what_got_a_sign_or_a_count_is_not_taken_for_it() {
    for (before, name, after) in [
        (
            "form \"Account\"\n  input \"Password\" type=password",
            "Password",
            "form \"Account\"\n  input \"Password\" type=password\n  input \"Password ✎\" type=password",
        ),
        (
            "form \"Find\"\n  input \"Search:\" id=query",
            "Search:",
            "form \"Find\"\n  input \"Search:\" id=query\n  input \"Search:*\" id=query",
        ),
        (
            "nav \"Main\"\n  button \"Contact\" id=contact",
            "Contact",
            "nav \"Main\"\n  button \"Contact\" id=contact\n  button \"Contact 7\" id=contact\n    span | Contact\n    span | 7",
        ),
        (
            "table\n  tr\n    td | Tea\n    td\n      button \"Edit\"\n  tr\n    td | Milk\n    td\n      button \"Edit\"",
            "Edit",
            "table\n  tr\n    td | Tea\n    td\n      button \"Edit\"\n      button \"Edit →\"\n  tr\n    td | Milk\n    td\n      button \"Edit\"",
        ),
    ] {
        assert_eq!(word(before, name, after), "ambiguous", "{after}");
        assert_eq!(word(before, name, before), "same", "{before}");
    }
}

#[test]
fn a_copy_is_not_healed_into_while_another_element_of_the_name_is_in_a_frame() {
    let before = "form \"Card\"\n  input \"Number\" data-testid=number";
    let copy = "form \"Card\"\n  input \"Number\"";
    assert!(word(before, "Number", copy).starts_with("healed"));
    let moved = format!("{copy}\niframe \"Pay\"\n  #frame x\n    input \"Number\"");
    assert_eq!(word(before, "Number", &moved), "ambiguous");
}

#[test]
fn the_first_of_all_is_the_first_wherever_it_is_by_then() {
    let row = |who: &str, what: &str| {
        format!("  tr\n    td | {what}\n    td\n      a \"{who}\" href=/u\n")
    };
    let old = page(&format!(
        "table\n{}{}",
        row("ana", "Fixed typos"),
        row("ana", "Created page")
    ));
    let memory = remember_said(&old, "click the first 'ana' link");
    let new = page(&format!(
        "table\n{}{}{}",
        row("ana", "Added a picture"),
        row("ana", "Fixed typos"),
        row("ana", "Created page")
    ));
    assert_eq!(verdict(&new, &memory), Verdict::Same(id_of(&new, "ana", 0)));
}

#[test]
fn a_container_that_tells_an_element_apart_is_one_that_it_is_in() {
    let lines = "section \"A\"\n  li \"A\"\nli \"A\"\n  a href=/x \"B\"\nsection \"A\"\n  a href=/x \"B\"\n  li \"A\"";
    let state = page(lines);
    for (id, _) in state
        .elements()
        .filter(|(_, element)| !element.name.is_empty())
    {
        assert_eq!(verdict(&state, &remember(&state, id)), Verdict::Same(id));
    }
}

#[test]
fn what_shows_its_name_in_its_row_is_proposed_though_other_rows_have_the_name() {
    let renamed = ROWS.replacen("button \"Delete\"", "button \"Quux\" | Delete", 1);
    let found = word(ROWS, "Delete", &renamed);
    assert!(found.starts_with("renamed: button \"Quux\""), "{found}");
}

#[test]
fn what_has_stayed_between_its_neighbours_is_the_same_whatever_stands_elsewhere() {
    let pages = [
        "section \"Name 3\"\n  a href=/x \"Name 0\"\n  li \"Name 0\"\n    section \"Name 3\"\nli \"Name 1\"\n",
        "a href=/x \"Name 2\"\nli \"Name 2\"\n  li \"Name 1\"\n    button \"Name 3\"\nli \"Name 1\"\nli \"Name 3\"\n",
    ];
    for lines in pages {
        let state = page(lines);
        for (id, _) in state
            .elements()
            .filter(|(_, element)| !element.name.is_empty())
        {
            let memory = remember(&state, id);
            assert_eq!(verdict(&state, &memory), Verdict::Same(id), "{lines}");
        }
    }
}
