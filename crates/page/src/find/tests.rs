use proptest::prelude::*;

use super::*;

const INVOICES: &str = include_str!("../snapshot/samples/invoices.yml");

fn snapshot(lines: &str) -> Snapshot {
    Snapshot::read(lines).expect("it is small")
}

fn text(text: &str) -> Wanted {
    Wanted {
        text: Some(text.to_owned()),
        ..Wanted::default()
    }
}

fn named(role: &str, name: &str) -> Wanted {
    Wanted {
        role: Some(role.to_owned()),
        name: Some(name.to_owned()),
        ..Wanted::default()
    }
}

fn within(wanted: Wanted, role: &str, name: &str) -> Wanted {
    Wanted {
        within: Some(Around {
            role: Some(role.to_owned()),
            name: Some(name.to_owned()),
            text: None,
        }),
        ..wanted
    }
}

#[track_caller]
fn found(lines: &str, wanted: &Wanted) -> String {
    snapshot(lines).meant(wanted).expect("one fits").id
}

#[test]
fn the_element_that_people_act_on_is_meant() {
    let page = include_str!("../snapshot/samples/newer.txt");
    for (wanted, id) in [
        // The heading has the same name.
        ("Log in", "1_5"),
        // The label is text.
        ("Name", "1_4"),
        // The heading is inside the link.
        ("Home", "1_6"),
        ("  Plain \n words ", "1_2"),
        ("One", "1_13"),
        // Capital letters count only where they tell apart.
        ("log IN", "1_5"),
    ] {
        assert_eq!(found(page, &text(wanted)), id, "{wanted}");
    }
    assert_eq!(found(page, &named("heading", "Log in")), "1_1");
}

#[test]
fn a_region_that_its_heading_names_has_no_name_of_its_own() {
    let page = "\
- generic [ref=e1]:
  - region [ref=e2]:
    - heading \"To do\" [level=2] [ref=e3]
  - region [ref=e4]:
    - heading \"Done\" [level=2] [ref=e5]";
    assert_eq!(found(page, &named("region", "Done")), "e4");
    assert_eq!(found(page, &text("Done")), "e5");
}

#[test]
fn a_place_is_known_by_a_text_in_it() {
    let page = "\
uid=1 article
  uid=2 row \"5 Bob Brown Delete\"
    uid=3 cell \"5\"
    uid=4 cell \"Bob Brown\"
    uid=5 button \"Delete\"
  uid=6 row \"6 Bob Brownlee Delete\"
    uid=7 cell \"6\"
    uid=8 cell \"Bob Brownlee\"
    uid=9 button \"Delete\"
  uid=10 article
    uid=11 StaticText \"Bob Brown\"
    uid=12 button \"Delete\"";
    let in_place = |role: &str, text: &str| Wanted {
        within: Some(Around {
            role: Some(role.to_owned()),
            name: None,
            text: Some(text.to_owned()),
        }),
        ..named("button", "Delete")
    };
    for (role, text, id) in [
        ("row", "Bob Brown", "5"),
        ("row", "bob brownlee", "9"),
        // Of places inside each other the innermost.
        ("article", "Bob Brown", "12"),
    ] {
        assert_eq!(found(page, &in_place(role, text)), id, "{role} {text}");
    }
    let none = snapshot(page).meant(&in_place("row", "Bob"));
    assert_eq!(none.map_err(|none| none.count), Err(0));
}

#[test]
fn what_gives_an_element_its_name_is_not_another_one() {
    let nested = "uid=0 RootWebArea \"Buy\"\n  uid=1 row \"Buy\"\n    uid=2 button \"Buy\"\n      uid=3 StaticText \"Buy\"\n        uid=4 InlineTextBox \"Buy\"";
    assert_eq!(found(nested, &text("Buy")), "2");
    let heading = "uid=1 listitem \"Tea\"\n  uid=2 heading \"Tea\"\n    uid=3 \"Tea\"";
    assert_eq!(found(heading, &text("Tea")), "2");
}

#[test]
fn a_text_may_be_made_of_parts() {
    let page = "uid=1 paragraph\n  uid=2 \"Three \"\n  uid=3 strong\n    uid=4 \"attempts\"\n  uid=5 \" left.\"";
    assert_eq!(found(page, &text("Three attempts left.")), "1");
    let page = "- main [ref=e1]:\n  - paragraph [ref=e2]: Be kind.\n  - button \"Close\" [ref=e3]";
    assert_eq!(found(page, &text("Be kind.")), "e2");
}

#[test]
fn the_exact_name_comes_before_one_with_other_capital_letters() {
    let page = "uid=1 button \"SAVE\"\nuid=2 button \"Save\"";
    assert_eq!(found(page, &named("button", "Save")), "2");
    let error = snapshot(page)
        .meant(&named("button", "save"))
        .expect_err("two fit");
    assert_eq!(error.count, 2);
    // A part of a name is never enough.
    let page = "uid=1 button \"Delete account\"";
    let error = snapshot(page).meant(&named("button", "Delete"));
    assert_eq!(
        error.expect_err("none fits").candidates,
        ["button \"Delete account\""]
    );
}

#[test]
fn rows_dialogs_and_frames_tell_twins_apart() {
    let delete = named("button", "Delete");
    assert_eq!(
        found(INVOICES, &within(delete.clone(), "row", "Invoice 2")),
        "e22"
    );
    let third = Wanted {
        nth: Some(3),
        ..delete.clone()
    };
    assert_eq!(found(INVOICES, &third), "e28");
    let error = snapshot(INVOICES).meant(&delete).expect_err("four fit");
    assert_eq!(error.count, 4);
    assert_eq!(
        error.candidates[0],
        "button \"Delete\" in row \"Invoice 1\""
    );
    assert_eq!(
        error.add.as_deref(),
        Some(r#""within": {"role":"row","name":"Invoice 1"}"#)
    );
    let none = snapshot(INVOICES)
        .meant(&within(delete, "row", "Invoice 9"))
        .expect_err("there is no such row");
    assert_eq!((none.count, none.candidates.len()), (0, 4));
}

#[test]
fn several_are_listed_with_what_would_be_enough() {
    let rows = "uid=0 RootWebArea \"Delete\"\n  uid=1 dialog \"Delete\"\n    uid=2 row \"Milk\"\n      uid=3 button \"Delete\"\n    uid=4 row \"Tea\"\n      uid=5 button \"Delete\"";
    let error = snapshot(rows).meant(&text("Delete")).expect_err("two fit");
    assert_eq!(error.count, 2);
    assert_eq!(
        error.candidates,
        [
            "button \"Delete\" in row \"Milk\"",
            "button \"Delete\" in row \"Tea\""
        ]
    );
    let many = "uid=1 button \"x\"\n".repeat(50);
    let error = snapshot(&many).meant(&text("x")).expect_err("fifty fit");
    assert_eq!((error.count, error.candidates.len()), (50, SHOWN));
    assert_eq!(error.add.as_deref(), Some("\"nth\": 1"));
    let roles = "uid=1 link \"Buy\"\nuid=2 button \"Buy\"";
    let error = snapshot(roles).meant(&text("Buy")).expect_err("two fit");
    assert_eq!(error.add.as_deref(), Some("\"role\": \"link\""));
}

#[test]
fn what_comes_near_is_said() {
    let page = "uid=1 button \"Sign in\"\nuid=2 \"Sign in to read on\"\nuid=3 link \"Registre\"";
    let near = |wanted: &Wanted| {
        snapshot(page)
            .meant(wanted)
            .expect_err("none fits")
            .candidates
    };
    assert_eq!(
        near(&named("link", "sign In")),
        ["button \"Sign in\"", "text \"Sign in to read on\""]
    );
    assert_eq!(near(&text("Register")), ["link \"Registre\""]);
    assert_eq!(near(&text("Zebra")), [] as [&str; 0]);
}

#[test]
fn an_element_without_a_name_has_a_role_and_a_place() {
    let page = "uid=1 form \"Search\"\n  uid=2 textbox\nuid=3 form \"Account\"\n  uid=4 textbox\n  uid=5 textbox";
    let field = Wanted {
        role: Some("textbox".to_owned()),
        ..Wanted::default()
    };
    assert_eq!(found(page, &within(field.clone(), "form", "Search")), "2");
    let second = Wanted {
        nth: Some(2),
        ..within(field, "form", "account")
    };
    assert_eq!(found(page, &second), "5");
}

#[test]
fn every_element_has_a_description_that_leads_back_to_it() {
    let pages = [
        include_str!("../snapshot/samples/newer.txt"),
        include_str!("../snapshot/samples/older.txt"),
        INVOICES,
    ];
    for page in pages {
        let snapshot = snapshot(page);
        // A text that gives a field its name is nothing that anybody acts on.
        for element in snapshot.elements.iter().filter(|element| {
            !element.id.is_empty() && is_part_of_page(element) && !element.role.is_empty()
        }) {
            let Some(wanted) = snapshot.lasting(&element.id) else {
                panic!("{element} has no description");
            };
            let meant = snapshot.meant(&wanted).expect("it fits one");
            assert_eq!(meant.id, element.id, "{wanted}");
        }
    }
}

proptest! {
    /// Whatever a page holds: what is proposed for an element leads to it, on the page it was proposed for.
    #[test]
    fn what_is_proposed_is_found(
        lines in prop::collection::vec((0_usize..4, 0_usize..5, "[AaBb ]{0,3}"), 1..40)
    ) {
        let roles = ["button", "row", "cell", "form", ""];
        let mut page = String::new();
        for (number, (depth, role, name)) in lines.iter().enumerate() {
            let role = roles[*role];
            let space = if role.is_empty() { "" } else { " " };
            page.push_str(&format!("{}uid={number}{space}{role} \"{name}\"\n", "  ".repeat(*depth)));
        }
        let snapshot = Snapshot::read(&page).expect("small");
        for element in &snapshot.elements {
            if let Some(wanted) = snapshot.lasting(&element.id) {
                let meant = snapshot.meant(&wanted);
                prop_assert_eq!(meant.map(|meant| meant.id), Ok(element.id.clone()), "{}", wanted);
            }
        }
    }
}
