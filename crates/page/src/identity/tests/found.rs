//! What the adversary of replays found.

use super::*;

#[test]
fn what_shows_its_name_elsewhere_is_another_one() {
    let before = "div class=row\n  span | Google\n  button \"Cut\"\ndiv class=row\n  span | Spotify\n  button \"Join\"";
    let after =
        "div class=row\n  span | Google\ndiv class=row\n  span | Spotify\n  button \"Quux\" | Cut";
    assert_eq!(word(before, "Cut", after), "gone");
}

#[test]
fn a_row_that_lost_what_is_acted_on_is_still_the_row() {
    let row = |name: &str, button: &str| format!("  div class=row\n    span | {name}\n{button}");
    let before = format!(
        "section class=sec\n  h2 \"Accounts\"\n{}\n{}\n{}\nsection class=sec\n  h2 \"Danger\"\n  button \"Delete\"",
        row("Google", "    button \"Disconnect\""),
        row("Spotify", "    button \"Disconnect\""),
        row("Slack", "    button \"Connect\"")
    );
    let after = before.replacen(
        "    span | Google\n    button \"Disconnect\"",
        "    span | Google",
        1,
    );
    assert_eq!(word(&before, "Disconnect", &after), "gone");
}

#[test]
fn a_copy_in_a_component_is_not_healed_into_while_the_element_went_to_another_part() {
    let before = "button \"Lend\"\ndialog \"Lend a book\"\n  p | Book\n  button \"Lend\"";
    let after = "button \"Lend\"\ndialog \"Lend a book\"\n  p | Book\n  x-part\n    #shadow\n      button \"Lend\"\n  section \"Quick access\"\n    button \"Lend\"";
    let (verdict, _) = between(before, "Lend", 1, after);
    assert_eq!(verdict.as_str(), "ambiguous", "{verdict:?}");
}

#[test]
fn a_copy_elsewhere_is_not_taken_for_what_has_a_sign_beside_its_name_by_now() {
    let row = "table\n    tr\n      td\n        a \"Carla Diaz\"";
    let before = &format!("main\n  {row}");
    let copy = &format!("section \"Recent\"\n  {row}");
    for sign in [" \u{2605}", ":", " *", " (2)"] {
        let of_it = before.replace("Diaz", &format!("Diaz{sign}"));
        for after in [format!("{of_it}\n{copy}"), format!("{copy}\n{of_it}")] {
            let (verdict, _) = between(before, "Carla Diaz", 0, &after);
            assert_eq!(verdict.as_str(), "ambiguous", "{after}: {verdict:?}");
        }
    }
}

#[test]
fn a_twin_beside_an_icon_that_is_called_otherwise_is_not_taken_for_it() {
    let before = "h1 \"July\"\ndiv\n  button \"Next month\" | \u{203a}";
    let after =
        "h1 \"July\"\ndiv\n  button \"Onwards\" | \u{203a}\n  button \"Next month\" | \u{203a}";
    let (verdict, _) = between(before, "Next month", 0, after);
    assert_eq!(verdict.as_str(), "ambiguous", "{verdict:?}");
    let after = "h1 \"July\"\ndiv\n  button \"Onwards\" | \u{203a}\nx-part\n  #shadow\n    button \"Next month\" | \u{203a}";
    let (verdict, _) = between(before, "Next month", 0, after);
    assert_eq!(verdict.as_str(), "ambiguous", "in a component: {verdict:?}");
    // One of another row says nothing of it.
    let row = |name: &str| format!("\ndiv\n  button \"Edit {name}\" | \u{270e}");
    let before = format!("h1 \"July\"{}{}", row("Ada"), row("Bob"));
    let after = format!("h1 \"July\"{}{}{}", row("Zoe"), row("Ada"), row("Bob"));
    let (verdict, _) = between(&before, "Edit Ada", 0, &after);
    assert_eq!(verdict.as_str(), "same", "{verdict:?}");
}

#[test]
fn a_copy_beside_a_sign_that_got_another_sign_is_not_taken_for_it() {
    let deal =
        |title: &str, buttons: &str| format!("div class=deal\n  strong | {title}\n  {buttons}\n");
    let plain = "button \"\u{22ef}\"";
    let page = |buttons: &str| {
        let (acme, hooli) = (
            deal("Acme renewal", plain),
            deal("Hooli onboarding", buttons),
        );
        format!("h2 \"Pipeline\"\n{acme}{hooli}h3 \"Negotiation\"")
    };
    let verdict = |buttons: &str| between(&page(plain), "\u{22ef}", 1, &page(buttons)).0;
    for decorated in [
        "\u{22ef} \u{2192}",
        "\u{2605} \u{22ef}",
        "+ \u{22ef}",
        "\u{22ef} 2",
        "\u{22ef} (2)",
    ] {
        let buttons = format!("button \"{decorated}\"\n  {plain}");
        let verdict = verdict(&buttons);
        assert_eq!(verdict.as_str(), "ambiguous", "{decorated}: {verdict:?}");
    }
    let more = format!("button \"\u{270e}\"\n  {plain}");
    assert_eq!(
        verdict(&more).as_str(),
        "same",
        "another sign is another button"
    );
}

#[test]
fn a_copy_of_a_row_is_not_taken_for_the_one_whose_name_got_a_sign() {
    let row = |name: &str, number: &str| format!("\n  tr\n    td \"{name}\"\n    td \"{number}\"");
    let before = format!("table{}{}", row("Milk", "2"), row("Bread", "1"));
    for sign in ["\u{2605}", "\u{2192}", "+", "\u{2026}"] {
        let after = format!(
            "table{}{}{}",
            row(&format!("Milk {sign}"), "2"),
            row("Milk", "7"),
            row("Bread", "1")
        );
        let (verdict, _) = between(&before, "Milk", 0, &after);
        assert_eq!(verdict.as_str(), "ambiguous", "{sign}: {verdict:?}");
    }
}

#[test]
fn of_two_elements_with_one_id_none_is_healed_into() {
    let before = "h1 \"Board\"\nbutton \"☆\" id=star\nbutton \"Invite\"";
    let after = "h1 \"Board\"\nx-part\n  #shadow\n    button \"☆\" id=star\nbutton \"Invite\" id=star\nbutton \"☆\"";
    let (verdict, _) = between(before, "☆", 0, after);
    assert_eq!(verdict.as_str(), "ambiguous", "{verdict:?}");
}

#[test]
fn a_copy_is_not_healed_into_while_its_id_is_on_what_took_a_neighbours_name() {
    let before = "h1 \"Board\"\nbutton \"Star\" id=star\nbutton \"Invite\"";
    let after = "h1 \"Board\"\nx-part\n  #shadow\n    button \"Star\"\nbutton \"Invite\" id=star\nbutton \"Star\"";
    let (verdict, _) = between(before, "Star", 0, after);
    assert_eq!(verdict.as_str(), "ambiguous", "{verdict:?}");
}

#[test]
fn what_a_card_stood_in_is_not_taken_for_it() {
    let card = |class: &str, title: &str| {
        format!("    div class={class}\n      p | {title}\n      button \"Open\"\n")
    };
    let column = |name: &str, cards: &str| format!("  div class=col\n    h2 \"{name}\"\n{cards}");
    let board = |class: &str| {
        let doing = [card("k", "Prices"), card(class, "Login")].concat();
        format!(
            "main\n{}{}",
            column("Doing", &doing),
            column("Done", &card("k", "Server"))
        )
    };
    let state = page(&board("k"));
    let finder = Finder::new(&state, "data-testid");
    let Understanding::Understood(intent) =
        understand("verify 'Open' is visible in the 'Login' card")
    else {
        panic!("it is understood");
    };
    let Translation::Step { target, .. } = finder.resolve(&intent) else {
        panic!("it is there");
    };
    let known = finder.identify(target.expect("a card"), intent.phrase.as_ref());
    let known = known.expect("a card");
    let memory = Memory {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    };
    assert!(memory.fingerprint.is_container);
    assert_eq!(verdict(&state, &memory).as_str(), "same");
    assert_eq!(verdict(&page(&board("t")), &memory).as_str(), "gone");
}

#[test]
fn a_test_id_that_counts_the_rows_follows_its_row() {
    let row = |name: &str, n: usize| {
        format!("  tr\n    td | {name}\n    td\n      button \"Delete\" data-testid=delete-{n}\n")
    };
    let before = ["table\n", &row("Tea", 1), &row("Milk", 2)].concat();
    let after = ["table\n", &row("Salt", 1), &row("Tea", 2), &row("Milk", 3)].concat();
    let (verdict, state) = between(&before, "Delete", 1, &after);
    assert_eq!(verdict.as_str(), "healed", "{verdict:?}");
    assert_eq!(verdict.target(), Some(id_of(&state, "Delete", 2)));
    // Its row is gone: what has its id is another one's.
    let gone = ["table\n", &row("Salt", 1), &row("Tea", 2)].concat();
    assert_eq!(between(&before, "Delete", 1, &gone).0.as_str(), "gone");
}

#[test]
fn a_copy_in_a_component_is_not_healed_into_while_the_element_went_to_a_section() {
    let before = "section \"Account\"\n  p | Welcome\n  button \"Settings\"";
    let after = "section \"Account\"\n  p | Welcome\n  x-part\n    #shadow\n      button \"Settings\"\nsection \"Recent\"\n  p | Old\n  button \"Settings\"";
    let (verdict, _) = between(before, "Settings", 0, after);
    assert!(verdict.target().is_none(), "{verdict:?}");
}

#[test]
fn what_stands_where_it_stood_under_a_new_name_makes_its_old_name_elsewhere_doubtful() {
    let item = |name: &str| format!("  li\n    label\n      input \"{name}\" type=checkbox\n");
    let page_of = |names: &[&str], last: &str| {
        let items: String = names.iter().map(|name| item(name)).collect();
        format!("ul\n{items}form\n  label\n    input \"{last}\" type=checkbox")
    };
    let before = page_of(&["Salt", "Lemons", "Garlic"], "Email me");
    let after = page_of(&["Salt", "Limes", "Garlic"], "Lemons");
    let (found, _) = between(&before, "Lemons", 0, &after);
    assert_eq!(found.as_str(), "ambiguous", "{found:?}");
    // Another one before it in its list, while one goes, is no such thing.
    let after = page_of(&["Salt", "Limes", "Lemons"], "Email me");
    let (found, state) = between(&before, "Lemons", 0, &after);
    assert_eq!(found, Verdict::Same(id_of(&state, "Lemons", 0)));
}

#[test]
fn of_two_that_have_its_id_none_is_it_whatever_they_are_called() {
    let before = "input \"Card\" id=card\ninput \"Name\"";
    let after = "input \"Name\" id=card\ninput \"Card\" id=card\ninput \"Card\"";
    let (found, _) = between(before, "Card", 0, after);
    assert_eq!(found.as_str(), "ambiguous", "{found:?}");
}

#[test]
fn an_icon_called_otherwise_beside_another_one_of_its_name_makes_that_doubtful() {
    let row = |name: &str, buttons: &str| format!("  tr\n    td | {name}\n    td\n{buttons}");
    let button = |name: &str| format!("      button \"{name}\" | ⟳\n");
    let table = |of_ann: &str| {
        format!(
            "table\n{}{}",
            row("Ann", of_ann),
            row("Bob", &button("Reset"))
        )
    };
    let before = table(&button("Reset"));
    let twins = table(&[button("Quux"), button("Reset")].concat());
    let (found, _) = between(&before, "Reset", 0, &twins);
    assert_eq!(found.as_str(), "ambiguous", "{found:?}");
    // What shows something else is only new.
    let new = table(&["      button \"Quux\" | ✎\n".to_owned(), button("Reset")].concat());
    let (found, state) = between(&before, "Reset", 0, &new);
    assert_eq!(found, Verdict::Same(id_of(&state, "Reset", 0)));
}

#[test]
fn an_item_of_one_list_is_not_taken_from_another_while_the_list_is_still_there() {
    let hook = |name: &str| {
        format!("  div class=hook\n    h4 \"{name}\"\n    p\n      button \"Delete\"\n")
    };
    let section = |title: &str, names: &[&str]| {
        let hooks: String = names.iter().map(|name| hook(name)).collect();
        format!("section class=hooks\n  h2 \"{title}\"\n{hooks}")
    };
    let before = section("Webhooks", &["Slack", "Billing"]);
    let both = [
        section("Webhooks", &["Slack", "Other"]),
        section("Suggestions", &["Slack again", "Billing"]),
    ];
    let (found, _) = between(&before, "Delete", 1, &both.concat());
    assert_eq!(found.as_str(), "gone", "{found:?}");
    // Under a new title it is the same list.
    let renamed = section("Hooks", &["Slack", "Billing"]);
    let (found, state) = between(&before, "Delete", 1, &renamed);
    assert_eq!(
        found.target(),
        Some(id_of(&state, "Delete", 1)),
        "{found:?}"
    );
}

#[test]
fn a_field_without_a_name_is_known_by_the_text_before_it() {
    let fields =
        |one: &str, other: &str| format!("p\n  span | {one}\n  select\n  span | {other}\n  select");
    let before = &fields("Country", "City");
    let state = page(before);
    let selects: Vec<NodeId> = state
        .elements()
        .filter(|(_, element)| element.role == "combobox")
        .map(|(id, _)| id)
        .collect();
    for (nth, lines, is_known) in [
        // Alone, and beside others that another text stands before.
        (0, "p\n  span | Country\n  select", true),
        (1, before, true),
        (1, "p\n  span | City\n  select", true),
        (1, &fields("City", "Country"), true),
        // Its text stands before two or nowhere.
        (1, &fields("City", "City"), false),
        (0, &fields("Region", "City"), false),
        (0, "p\n  span | Country\n  select\n  select", false),
    ] {
        let memory = remember(&state, selects[nth]);
        assert!(memory.fingerprint.by_position.is_empty());
        let verdict = verdict(&page(lines), &memory);
        assert_eq!(verdict.target().is_some(), is_known, "{lines}: {verdict:?}");
    }
}

#[test]
fn what_stands_around_a_frame_is_not_taken_for_what_went_into_it() {
    let before = "table\n  tr\n    td | Standup\n    td\n      div class=event | Dentist";
    let old = page(before);
    let mut elements = old.elements();
    let is_event = |element: &crate::dom::DomElement| element.attribute("class") == Some("event");
    let (event, _) = elements
        .find(|(_, element)| is_event(element))
        .expect("one");
    let memory = remember(&old, event);
    let after = "table\n  tr\n    td | Standup\n    td\n      div\n        iframe\n          #frame x\n            div class=event | Dentist";
    let verdict = verdict(&page(after), &memory);
    assert_eq!(verdict.target(), None, "{verdict:?}");
}

#[test]
fn what_only_its_position_tells_is_in_no_other_dialog() {
    let before = "p | Germany?\nlabel | Yes\n  input \"Yes\" type=radio\np | Car?\nlabel | Yes\n  input \"Yes\" type=radio";
    let after = "p | Germany?\nlabel | Yes\n  input \"Yes\" type=radio\ndialog \"More\"\n  label | Yes\n    input \"Yes\" type=radio";
    let (verdict, _) = between(before, "Yes", 1, after);
    assert_eq!(verdict.target(), None, "{verdict:?}");
}

#[test]
fn what_took_the_name_from_elsewhere_is_not_taken_while_its_old_place_has_a_new_name() {
    let list = |names: &[&str]| {
        let items = names
            .iter()
            .map(|name| format!("\n  details\n    a \"{name}\""));
        format!("section{}", items.collect::<String>())
    };
    let page = |first: &[&str], second: &[&str]| {
        format!(
            "h1 \"Help\"\n{}\nh2 \"Returns\"\n{}",
            list(first),
            list(second)
        )
    };
    let before = page(&["Where is it?", "May I?", "How much?"], &["When?", "Why?"]);
    let renamed = page(
        &["Where is it?", "Could I?", "How much?"],
        &["When?", "May I?"],
    );
    assert_eq!(word(&before, "May I?", &renamed), "ambiguous");
    // What comes before it pushes it down, and something leaves at the end.
    let pushed = page(&["Quux?", "Where is it?", "May I?"], &["When?", "Why?"]);
    assert_eq!(word(&before, "May I?", &pushed), "same");
    let pushed = page(&["Where is it?", "Quux?", "May I?"], &["When?", "Why?"]);
    assert_eq!(word(&before, "May I?", &pushed), "same");
}

#[test]
fn a_card_that_is_alone_in_its_column_is_a_card_too() {
    let card = |name: &str| format!("\n    div class=card\n      b | {name}\n      a \"Open\"");
    let column = |names: &[&str]| {
        let cards: String = names.iter().map(|name| card(name)).collect();
        format!("div class=column\n  div class=cards{cards}\n")
    };
    let before = format!("{}{}", column(&["Login", "Logout"]), column(&[]));
    let moved = format!("{}{}", column(&["Login", "Logout"]), column(&["Login"]));
    assert_eq!(word(&before, "Open", &moved), "ambiguous");
}

#[test]
fn an_element_is_certain_at_once_while_its_row_and_its_heading_say_what_they_said() {
    let row = |state: &str, id: &str| {
        format!(
            "h2 \"Users\"\ntable\n  tr\n    td\n      a \"Alice\" id={id}\n    td | {state}\n    td | 3 minutes ago"
        )
    };
    let form = |heading: &str| format!("h2 \"{heading}\"\nform\n  input \"Title\" id=title");
    for (before, name, after, is_certain) in [
        (
            row("Active", "alice"),
            "Alice",
            row("Active", "alice"),
            true,
        ),
        (
            row("Active", "alice"),
            "Alice",
            row("Active", "alice").replace('3', "12"),
            true,
        ),
        (
            row("Active", "alice"),
            "Alice",
            row("Invited", "alice"),
            false,
        ),
        (row("Active", "alice"), "Alice", row("Active", "bob"), false),
        (form("New ticket"), "Title", form("New ticket"), true),
        (form("New ticket"), "Title", form("Archive"), false),
    ] {
        let old = page(&before);
        let memory = remember(&old, id_of(&old, name, 0));
        let new = page(&after);
        let remembered = Remembered {
            selectors: &memory.selectors,
            fingerprint: &memory.fingerprint,
        };
        let finder = Finder::new(&new, "data-testid");
        let id = id_of(&new, name, 0);
        assert_eq!(finder.verdict(remembered), Verdict::Same(id), "{after}");
        assert_eq!(finder.is_as_it_was(id, remembered), is_certain, "{after}");
    }
}

#[test]
fn a_copy_of_its_list_is_not_taken_while_its_name_changed_in_the_first() {
    let list = |last: &str| {
        let item = |name: &str| format!("\n  li \"{name}\"\n    a | {name}");
        let items = ["Inbox", "Drafts", last].map(item).concat();
        format!("ul \"Folders\"{items}")
    };
    let before = format!("{}\np | Empty", list("Trash"));
    let after = format!("{}\nh2 \"Recent\"\n{}", list("Bin"), list("Trash"));
    let old = page(&before);
    let id = old
        .elements()
        .filter(|(_, element)| element.tag_name == "a")
        .nth(2)
        .expect("a link")
        .0;
    let memory = remember(&old, id);
    assert_eq!(verdict(&old, &memory).as_str(), "same");
    assert_eq!(verdict(&page(&after), &memory).as_str(), "ambiguous");
}

#[test]
fn a_copy_of_its_item_is_not_taken_while_it_stands_in_none_any_more() {
    let item = |name: &str| format!("\n  li\n    b | {name}\n    button \"Follow\"");
    let list = |names: &[&str]| {
        let items: String = names.iter().map(|name| item(name)).collect();
        format!("ul{items}\n")
    };
    let before = list(&["Ada", "Bob"]);
    let unwrapped = format!("div\n  b | Ada\n  button \"Follow\"\n{}", list(&["Bob"]));
    let after = format!("{unwrapped}h2 \"Recent\"\n{}", list(&["Ada", "Bob"]));
    assert_eq!(word(&before, "Follow", &after), "ambiguous");
    assert_eq!(word(&before, "Follow", &before), "same");
    let more = format!("{before}p | Ada\np | Thanks\n{}", list(&["Cy"]));
    assert_eq!(word(&before, "Follow", &more), "same");
}

#[test]
fn a_new_name_between_its_neighbours_makes_its_old_name_elsewhere_doubtful() {
    let item =
        |name: &str| format!("\n  li\n    input \"{name}\" type=checkbox\n    span | {name}");
    let page = |names: &[&str], other: &str| {
        let items: String = names.iter().map(|name| item(name)).collect();
        format!(
            "h2 \"Ingredients\"\nul{items}\nform\n  input \"{other}\" type=checkbox\n  span | {other}"
        )
    };
    let before = page(&["Eggs", "Lemons", "Garlic"], "Email me");
    let is = |names: &[&str], other: &str, verdict: &str| {
        let after = page(names, other);
        assert_eq!(word(&before, "Lemons", &after), verdict, "{after}");
    };
    is(&["Eggs", "Lemons", "Garlic"], "Email me", "same");
    is(&["Eggs", "Limes", "Salt", "Garlic"], "Lemons", "ambiguous");
    is(&["Salt", "Limes", "Garlic"], "Lemons", "ambiguous");
    // What comes beside it takes nothing from it, nor does what goes.
    is(&["Eggs", "Limes", "Lemons", "Garlic"], "Email me", "same");
    is(
        &["Eggs", "Limes", "Salt", "Lemons", "Basil", "Garlic"],
        "Email me",
        "same",
    );
    is(&["Lemons", "Limes"], "Email me", "same");
}

#[test]
fn an_item_that_is_called_after_an_element_says_nothing_of_it() {
    let row = |days: [u32; 3]| {
        let cell = |day: u32| format!("\n    td \"{day}\" | {day}");
        format!("\n  tr{}", days.map(cell).concat())
    };
    let table = |rows: &[[u32; 3]]| {
        let rows: String = rows.iter().map(|days| row(*days)).collect();
        format!("table\n  tr\n    th \"Mo\"\n    th \"Tu\"\n    th \"We\"{rows}")
    };
    let before = table(&[[20, 21, 22], [23, 24, 25]]);
    assert_eq!(word(&before, "23", &before), "same");
    // Of a copy of the week and the day that took its name in the first nobody knows which is meant.
    let after = table(&[[20, 21, 22], [23, 24, 31], [25, 24, 23]]);
    assert_eq!(word(&before, "23", &after), "ambiguous");
    // It is in a week still, and in no list beside the table.
    let listed = format!("{}\nul\n  li\n    span \"23\" | 23", table(&[[20, 21, 22]]));
    assert_ne!(word(&before, "23", &listed), "same");
}

#[test]
fn a_container_is_not_known_by_the_elements_own_text() {
    let card = |title: &str, choice: &str| {
        format!(
            "  div class=card\n    h3 \"{title}\"\n    label\n      input \"{choice}\" type=radio\n      span | {choice}\n"
        )
    };
    let page_of = |cards: &[(&str, &str)]| {
        let cards: String = cards
            .iter()
            .map(|(title, choice)| card(title, choice))
            .collect();
        format!("main\n{cards}")
    };
    let before = page(&page_of(&[
        ("Poll", "Pico"),
        ("Hot", "More"),
        ("New", "Less"),
    ]));
    for (sentence, expected) in [
        ("click 'Pico' in the 'Pico' card", None),
        ("click 'Pico' in the 'Poll' card", Some("Poll")),
    ] {
        let within = remember_said(&before, sentence).fingerprint.within;
        let text = within
            .first()
            .and_then(|container| container.text.as_deref());
        assert_ne!(text, Some("Pico"), "{sentence}");
        assert!(
            expected.is_none() || text == expected,
            "{sentence}: {text:?}"
        );
    }
}

#[test]
fn an_item_of_a_copied_part_is_not_taken_while_the_heading_over_its_own_is_still_there() {
    let comment = |who: &str| {
        format!("  div class=comment\n    div | {who}\n    p | By {who}\n    button \"Reply\"\n")
    };
    let section = |title: &str, names: &[&str]| {
        let comments: String = names.iter().map(|name| comment(name)).collect();
        format!("section\n  h2 \"{title}\"\n  h3 \"Comments\"\n{comments}")
    };
    let before = format!("h1 \"Pasta\"\n{}", section("Rate it", &["Jonas", "Aiko"]));
    let both = [
        section("Rate it", &["Jonas", "Aiko Jr."]),
        section("Archive", &["Jonas", "Aiko"]),
    ];
    let (found, _) = between(
        &before,
        "Reply",
        1,
        &format!("h1 \"Pasta\"\n{}", both.concat()),
    );
    assert_eq!(found.as_str(), "gone", "{found:?}");
    // Under a new title it is the same part; and where a heading went elsewhere and none came, too.
    let renamed = section("Rating", &["Jonas", "Aiko"]);
    let own = section("Rate it", &["Jonas", "Aiko"]);
    for after in [
        format!("h1 \"Pasta\"\n{renamed}"),
        format!("{own}h1 \"Pasta\""),
    ] {
        let (found, state) = between(&before, "Reply", 1, &after);
        let aiko = id_of(&state, "Reply", 1);
        assert_eq!(found.target(), Some(aiko), "{after}: {found:?}");
    }
}

#[test]
fn a_name_that_went_to_another_row_is_not_taken_while_its_row_has_a_new_one() {
    let row = |what: &str, email: &str| {
        format!(
            "  div\n    span | {what}\n    input type=checkbox \"{email}\"\n    input type=checkbox \"{what} by push\"\n"
        )
    };
    let page = |comments: &str, followers: &str| {
        let rows = [row("Comments", comments), row("Followers", followers)];
        format!("section \"Notifications\"\n{}", rows.concat())
    };
    let (first, second) = ("Comments by email", "Followers by email");
    let before = page(first, second);
    for (name, after) in [
        (first, page("Email me", first)),
        (second, page(second, "Email me")),
    ] {
        let (found, _) = between(&before, name, 0, &after);
        assert_eq!(found.as_str(), "ambiguous", "{name}: {found:?}");
    }
    // One that came beside it, and a new name in the other row, say nothing of it.
    let beside = before.replace(
        "    input type=checkbox \"Comments by push\"",
        "    input type=checkbox \"Comments by post\"\n    input type=checkbox \"Comments by push\"",
    );
    for after in [beside, page(first, "Email me")] {
        let (found, _) = between(&before, first, 0, &after);
        assert_eq!(found.as_str(), "same", "{after}: {found:?}");
    }
}

#[test]
fn what_stands_under_another_heading_is_not_taken_while_its_own_is_still_there() {
    let column = |title: &str, links: &[&str]| {
        let links: String = links
            .iter()
            .map(|link| format!("      a href=/ \"{link}\"\n"))
            .collect();
        format!("    div\n      h4 \"{title}\"\n{links}")
    };
    let page =
        |columns: &[String]| format!("a href=/ \"Returns\"\nfooter\n  div\n{}", columns.concat());
    let all = ["Contact", "Returns", "Stores"];
    let before = page(&[column("Company", &["Jobs"]), column("Care", &all)]);
    let memory = remember_said(&super::page(&before), "click Returns in the footer");
    let verdict = |after: &str| verdict(&super::page(after), &memory);
    let lost = ["Contact", "Stores"];
    let copied = page(&[column("Help", &all), column("Care", &lost)]);
    let found = verdict(&copied);
    assert!(found.target().is_none(), "{found:?}");
    let renamed = page(&[column("Company", &["Jobs"]), column("Help", &all)]);
    assert_eq!(verdict(&renamed).as_str(), "same");
}

#[test]
fn a_name_that_went_to_the_row_below_is_not_taken_while_its_own_row_is_there() {
    let row = |time: &str, name: &str| {
        format!("  tr\n    td | {time}\n    td\n      a href=/ \"{name}\"\n")
    };
    let day = |day: &str| format!("  tr\n    th colspan=2 | {day}\n");
    let page = |rows: &[String]| format!("table\n{}", rows.concat());
    let before = page(&[
        day("Tuesday"),
        row("12:00", "Lunch"),
        day("Friday"),
        row("20:00", "Concert"),
        day("Monday"),
        row("9:00", "Dentist"),
    ]);
    let reversed = |below: &str, own: &str| {
        page(&[
            row("9:00", "Dentist"),
            day("Monday"),
            row("20:00", own),
            day("Friday"),
            row("12:00", below),
            day("Tuesday"),
        ])
    };
    let renamed = reversed("Concert", "Opera");
    let (found, _) = between(&before, "Concert", 0, &renamed);
    assert_eq!(found.as_str(), "ambiguous", "{found:?}");
    let reordered = reversed("Opera", "Concert");
    let (found, _) = between(&before, "Concert", 0, &reordered);
    assert_eq!(found.as_str(), "same", "{found:?}");
}

#[test]
fn of_two_in_parts_without_names_none_is_taken() {
    let nav = "nav\n  a href=#inbox \"Inbox\"\n  a href=#drafts \"Drafts 12\"\nmain\n";
    let main = "  div\n    a href=#drafts \"Drafts 12\"\n";
    // A copy took its place, or one came elsewhere: the page doesn't tell.
    let (found, _) = between(nav, "Drafts 12", 0, &format!("{nav}{main}"));
    assert_eq!(found.as_str(), "ambiguous", "{found:?}");
    // The style sheet says there whether parts of a name stand apart.
    let without_gap = main.replace("Drafts 12", "Drafts12");
    let (found, _) = between(nav, "Drafts 12", 0, &format!("{nav}{without_gap}"));
    assert_eq!(found.as_str(), "ambiguous", "{found:?}");
    // A part with a name is another place.
    let named = format!("{nav}section \"Recent\"\n{main}");
    let (found, state) = between(nav, "Drafts 12", 0, &named);
    assert_eq!(
        found.target(),
        Some(id_of(&state, "Drafts 12", 0)),
        "{found:?}"
    );
}
