//! Frames, shadow roots, lists and large pages.

use cuecard_browser::{CaptureOptions, ClickKind, ElementAddress, Navigation, WaitPolicy};
use cuecard_browser_steps::model::Direction;
use cuecard_page::dom::{DomElement, HopKind};
use cuecard_page::selector::Finder;
use cuecard_page::text::TextOptions;
use cuecard_source::diagnostic::codes;

use super::{PATIENCE, all, only, with_browser};

fn frames_of(element: &DomElement) -> Vec<&str> {
    element
        .scope
        .iter()
        .filter(|hop| hop.kind == HopKind::Frame)
        .map(|hop| hop.xpath.as_str())
        .collect()
}

#[test]
fn frames_of_every_kind_are_inline_and_each_is_its_own() {
    with_browser(async |lab| {
        lab.open("frames.html").await;
        let state = lab.state().await;
        let pay: Vec<Vec<&str>> = all(&state, "button", "Pay")
            .into_iter()
            .map(frames_of)
            .collect();
        let none: Vec<&str> = Vec::new();
        // The same xpath in several frames, told apart by the frames.
        assert_eq!(
            pay,
            [
                none,
                vec!["/html/body/main/iframe[1]"],
                vec!["/html/body/main/iframe[2]"],
                vec!["/html/body/main/iframe[3]"],
                vec!["/html/body/main/div/iframe"],
                vec!["/html/body/main/iframe[4]", "/html/body/iframe"],
            ]
        );
        let covered = all(&state, "button", "Pay")[4];
        assert_eq!(covered.is_top_element, Some(false), "{covered:?}");
        assert!(all(&state, "button", "Pay")[1].is_top_element == Some(true));
        let cards = all(&state, "textbox", "Card number");
        assert!(
            cards.iter().all(|card| card.filled == Some(false)),
            "{cards:?}"
        );

        // In a frame of the same site, in one of another, and in one inside of another.
        for idx in [1, 3, 5] {
            let state = lab.state().await;
            let target = ElementAddress::of(all(&state, "button", "Pay")[idx]);
            let clicked = lab.bridge.click(&target, ClickKind::Single, PATIENCE).await;
            clicked.unwrap_or_else(|error| panic!("{idx}: {error}"));
            lab.bridge
                .settle(WaitPolicy::Whole)
                .await
                .expect("it settles");
            let state = lab.state().await;
            let field = ElementAddress::of(all(&state, "textbox", "Card number")[idx - 1]);
            lab.bridge
                .fill(&field, "4111", PATIENCE)
                .await
                .expect("it is filled");
        }
        let state = lab.state().await;
        let filled: Vec<Option<bool>> = all(&state, "textbox", "Card number")
            .iter()
            .map(|card| card.filled)
            .collect();
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(filled, [yes, no, yes, no, yes]);
        let root = state.elements().next().expect("a root").0;
        assert_eq!(state.visible_text(root).matches("Paid").count(), 3);
    });
}

#[test]
fn open_and_closed_shadow_roots_are_read_and_used() {
    with_browser(async |lab| {
        lab.open("shadow.html").await;
        let state = lab.state().await;
        let more: Vec<usize> = all(&state, "button", "More")
            .iter()
            .map(|button| button.scope.len())
            .collect();
        // In an open root, in a closed one, in a closed one within an open one, and in none.
        assert_eq!(more, [1, 1, 2, 0]);
        let first = all(&state, "button", "More")[0];
        assert_eq!(first.xpath, "/button");
        for _ in 0..2 {
            for idx in 0..3 {
                let state = lab.state().await;
                let target = ElementAddress::of(all(&state, "button", "More")[idx]);
                let clicked = lab.bridge.click(&target, ClickKind::Single, PATIENCE).await;
                clicked.unwrap_or_else(|error| panic!("{idx}: {error}"));
                lab.bridge
                    .settle(WaitPolicy::Whole)
                    .await
                    .expect("it settles");
            }
        }
        let state = lab.state().await;
        let root = state.elements().next().expect("a root").0;
        assert_eq!(state.visible_text(root).matches('2').count(), 3);
        // What is put into a host is seen where its root shows it.
        for fruit in ["Apples", "Pears", "Plums"] {
            assert_eq!(
                state.visible_text(root).matches(fruit).count(),
                1,
                "{fruit}"
            );
        }

        let voucher = lab.find("textbox", "Voucher").await;
        lab.bridge
            .fill(&voucher, "TEA", PATIENCE)
            .await
            .expect("it is filled");
        let state = lab.state().await;
        assert_eq!(
            only(&state, "textbox", "Voucher").attribute("value"),
            Some("TEA")
        );
    });
}

#[test]
fn a_list_that_renders_what_is_in_view_is_read_as_it_scrolls() {
    with_browser(async |lab| {
        lab.open("list.html").await;
        let state = lab.state().await;
        let people = state
            .elements()
            .filter(|(_, element)| element.role == "option")
            .count();
        assert!((10..40).contains(&people), "{people} of ten thousand");
        lab.click("option", "Person 3").await;
        assert!(lab.shows("1 of 10000 picked").await);
        lab.fill("Filter", "Person 9999").await;
        lab.bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect("it settles");
        lab.click("option", "Person 9999").await;
        assert!(lab.shows("2 of 1 picked").await);
        let state = lab.state().await;
        assert!(all(&state, "option", "Person 3").is_empty());
    });
}

#[test]
fn twenty_look_alikes_are_twenty_addresses_and_states_say_what_is_new() {
    with_browser(async |lab| {
        lab.open("shop.html").await;
        let state = lab.state().await;
        let buttons = all(&state, "button", "Add to cart");
        assert_eq!(buttons.len(), 20);
        let below = buttons
            .iter()
            .filter(|button| !button.is_in_viewport)
            .count();
        assert!(below > 0 && below < 20, "{below} are below");
        let last = ElementAddress::of(buttons[19]);
        lab.bridge
            .click(&last, ClickKind::Single, PATIENCE)
            .await
            .expect("it is scrolled to and clicked");
        lab.bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect("it settles");
        assert!(lab.shows("White wool scarf was added.").await);
        let sort = lab.find("combobox", "Sort by").await;
        lab.bridge
            .select(&sort, "Name", PATIENCE)
            .await
            .expect("there is such an option");
        lab.bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect("it settles");
        let state = lab.state().await;
        let select = only(&state, "combobox", "Sort by");
        assert_eq!(select.attribute("value"), Some("name"));
        assert_eq!(select.options.len(), 3);
        // Moved, not new.
        assert!(
            all(&state, "button", "Add to cart")
                .iter()
                .all(|button| button.is_new == Some(false))
        );
    });
}

#[test]
fn the_text_of_a_page_of_a_thousand_elements_fits_with_all_that_is_in_view() {
    with_browser(async |lab| {
        lab.open("states/big.html?n=1000").await;
        for _ in 0..2 {
            lab.bridge
                .scroll(Direction::Down)
                .await
                .expect("it scrolls");
            let state = lab.state().await;
            assert!(
                state.elements().count() >= 1000,
                "{}",
                state.elements().count()
            );
            let finder = Finder::new(&state, "data-testid");
            let options = TextOptions {
                action: "click 'Delete row 2'",
                ..TextOptions::default()
            };
            let text = finder.text_for_model(&options).expect("it fits").text;
            assert!(text.chars().count() < 24_000, "{}", text.chars().count());
            let in_view: Vec<u32> = state
                .elements()
                .filter(|(_, element)| element.is_in_viewport)
                .filter_map(|(_, element)| element.highlight_index)
                .collect();
            assert!(in_view.len() >= 5, "{in_view:?}");
            for index in in_view {
                let is_there = text.lines().any(|line| {
                    line.trim_start()
                        .trim_start_matches('*')
                        .starts_with(&format!("[{index}] "))
                });
                assert!(is_there, "[{index}] is in view, and not in\n{text}");
            }
        }
    });
}

#[test]
fn a_large_page_is_captured_and_a_larger_one_names_its_largest_part() {
    with_browser(async |lab| {
        lab.open("states/big.html?n=10000").await;
        let state = lab.state().await;
        assert_eq!(all(&state, "button", "Delete row 999").len(), 1);
        lab.open("states/big.html?n=50000").await;
        let options = CaptureOptions::default();
        let error = lab
            .bridge
            .capture(&options)
            .await
            .expect_err("it is too large");
        assert!(error.is(codes::BROWSER_PAGE_TOO_LARGE), "{error}");
        assert!(error.message.contains("`/html/body/div`"), "{error}");
        let part = CaptureOptions {
            root: Some("#row-7".to_owned()),
            ..options
        };
        let text = lab.bridge.capture(&part).await.expect("a part of it");
        let state = lab.processor.read(&text).expect("a capture");
        only(&state, "button", "Delete row 7");
        let to = Navigation::To("about:blank".to_owned());
        lab.bridge
            .navigate(&to, PATIENCE)
            .await
            .expect("an empty page");
        assert_eq!(lab.state().await.nodes.len(), 1);
    });
}
