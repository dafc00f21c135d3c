use proptest::prelude::*;

use super::*;
use crate::dom::testing::page;
use crate::dom::{DomState, NodeId};

/// The element with a name; of several the one at `nth`.
fn id_of(state: &DomState, name: &str, nth: usize) -> NodeId {
    let mut found = state.elements().filter(|(_, element)| element.name == name);
    found.nth(nth).expect(name).0
}

fn selectors(lines: &str, name: &str, nth: usize) -> Vec<String> {
    let state = page(lines);
    let finder = Finder::new(&state, "data-testid");
    let known = finder
        .identify(id_of(&state, name, nth), None)
        .expect("an element");
    known.selectors.iter().map(ToString::to_string).collect()
}

#[test]
fn selectors_stand_in_the_order_of_how_long_they_last() {
    let lines = "h1 \"Sign in\"\nform \"Account\"\n  input \"E-mail\" type=email id=email placeholder=you@example.org data-testid=login-email\n  input \"Password\" type=password\n  button \"Log in\" type=submit class=btn\n  p | Three attempts left.";
    assert_eq!(
        selectors(lines, "E-mail", 0),
        [
            "testid=login-email",
            "role=textbox[name=\"E-mail\"]",
            "label=\"E-mail\"",
            "placeholder=\"you@example.org\"",
            "css=#email",
            "css=input[type=\"email\"]",
            "xpath=/html/body/form/input[1]"
        ]
    );
    assert_eq!(
        selectors(lines, "Log in", 0),
        [
            "role=button[name=\"Log in\"]",
            "css=button",
            "xpath=/html/body/form/button"
        ]
    );
}

#[test]
fn css_has_no_positions_and_no_hashed_classes() {
    let lines = "div class=\"toolbar css-1x2y3z\"\n  span \"A\" class=\"icon Icon_root__a1B2c\" ~listener\ndiv class=footer\n  span \"B\" class=icon ~listener id=x-12345";
    let css = |name| selectors(lines, name, 0)[0].clone();
    assert_eq!(css("A"), "css=div.toolbar > span");
    assert_eq!(css("B"), "css=div.footer > span");
}

#[test]
fn twins_are_told_apart_by_what_they_are_in() {
    let lines = "table\n  tr\n    td | Invoice 1\n    td\n      button \"Delete\"\n  tr\n    td | Invoice 2\n    td\n      button \"Delete\"";
    let found = selectors(lines, "Delete", 1);
    assert_eq!(
        found[0],
        "within=role=row >> has-text=\"Invoice 2\" >> role=button[name=\"Delete\"]"
    );
    assert_eq!(
        found.last().expect("one"),
        "xpath=/html/body/table/tr[2]/td[2]/button"
    );
}

#[test]
fn twins_that_nothing_tells_apart_are_counted_with_a_warning() {
    let state = page("button \"Add\"\nbutton \"Add\"\nbutton \"Add\"");
    let finder = Finder::new(&state, "data-testid");
    let found = finder
        .identify(id_of(&state, "Add", 2), None)
        .expect("an element");
    let shown: Vec<_> = found.selectors.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "role=button[name=\"Add\"] >> nth=2",
            "xpath=/html/body/button[3]"
        ]
    );
    assert!(
        found
            .warning
            .expect("a warning")
            .contains("only its position")
    );
}

#[test]
fn hops_lead_into_frames_and_shadow_roots() {
    let lines = "iframe \"Pay\" id=pay\n  #frame http://pay.example/\n    x-card\n      #shadow\n        button \"Pay\"\nbutton \"Pay\"";
    let state = page(lines);
    let finder = Finder::new(&state, "data-testid");
    let inner = finder.find(
        &"frame=css=#pay >> shadow=css=x-card >> role=button[name=\"Pay\"]"
            .parse()
            .expect("a selector"),
    );
    assert_eq!(inner.len(), 1);
    let candidates = finder.identify(inner[0], None).expect("an element");
    let shown: Vec<_> = candidates
        .selectors
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        shown,
        [
            "frame=css=#pay >> shadow=css=x-card >> role=button[name=\"Pay\"]",
            "frame=css=#pay >> shadow=css=x-card >> css=button",
            "frame=css=#pay >> shadow=css=x-card >> xpath=/button",
        ]
    );
    // Without hops the top document is meant.
    let outer = finder.find(&"role=button[name=\"Pay\"]".parse().expect("a selector"));
    assert_eq!(outer.len(), 1);
    assert_ne!(outer, inner);
}

#[test]
fn an_xpath_without_a_position_selects_every_sibling() {
    let state = page("p role=paragraph\np role=paragraph");
    let finder = Finder::new(&state, "data-testid");
    let count = |text: &str| finder.find(&text.parse().expect("a selector")).len();
    assert_eq!(count("xpath=/html/body/p"), 2);
    assert_eq!(count("xpath=/html/body/p[1]"), 1);
    assert_eq!(count("xpath=/html/body[1]/p[2]"), 1);
    assert_eq!(count("xpath=/html/body/p[3]"), 0);
}

#[test]
fn hidden_elements_count_against_selectors_that_browsers_match_them_with() {
    let lines = "input \"Mail\" placeholder=Mail ~hidden\ninput \"Mail\" placeholder=Mail";
    let found = selectors(lines, "Mail", 1);
    assert_eq!(
        found,
        ["role=textbox[name=\"Mail\"]", "xpath=/html/body/input[2]"]
    );
}

#[test]
fn css_is_matched_as_browsers_do() {
    let state = page(
        "form \"F\" id=login class=\"a b\"\n  div class=x\n    input \"A\" name=q type=search\n    a \"L\" href=/items/7\n  input \"B\" name=r",
    );
    let finder = Finder::new(&state, "data-testid");
    for (css, count) in [
        ("input", 2),
        ("form input", 2),
        ("form > input", 1),
        ("#login > .x > input", 1),
        ("form.a.b input[name='q']", 1),
        ("[name]", 2),
        ("a[href^=\"/items\"]", 1),
        ("a[href$='7']", 1),
        ("a[href*=tems]", 1),
        ("form[class~=b]", 1),
        ("*", 6),
        ("div:nth-of-type(1)", 1),
        ("div:nth-of-type(2)", 0),
        ("div div", 0),
    ] {
        let selector = Selector::of(Pattern::Css(css.to_owned()));
        assert_eq!(finder.find(&selector).len(), count, "{css}");
    }
}

#[test]
fn what_is_no_selector_is_refused() {
    for (text, reason) in [
        ("", "must start with its kind"),
        ("button", "must start with its kind"),
        ("what=x", "unknown kind: use testid, "),
        ("role=", "expected a value after `=`"),
        ("role=a b", "one word"),
        ("role=button[x]", "a name is written"),
        ("label=\"x", "not a valid JSON string"),
        ("xpath=html", "must start with `/`"),
        ("css=", "expected a value after `=`"),
        ("css=a >", "expected a selector after `>`"),
        ("css=a + b", "unexpected `+ b`"),
        ("css=a:hover", "unexpected `:hover`"),
        ("css=a[b", "unexpected `[b`"),
        ("css=a[b=\"c", "not closed"),
        ("nth=1", "after the element"),
        ("role=button >> nth=x", "must be an integer"),
        ("role=button >> role=link", "must come before the element"),
        ("role=button >> frame=css=a", "come first"),
        ("frame=css=a", "it has no element"),
    ] {
        let error = text.parse::<Selector>().expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 \"\\\\>\\[\\]=ä→]{1,20}"
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        any_text().prop_map(Pattern::TestId),
        ("[a-z]{1,8}", proptest::option::of(any_text()))
            .prop_map(|(role, name)| Pattern::Role { role, name }),
        any_text().prop_map(Pattern::Label),
        any_text().prop_map(Pattern::Placeholder),
        any_text().prop_map(Pattern::Text),
        "[a-z]{1,5}( > [a-z]{1,5}){0,2}".prop_map(Pattern::Css),
        "(/[a-z]{1,5}(\\[[1-9]\\])?){1,4}".prop_map(Pattern::XPath),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        frame in proptest::option::of(any_pattern()),
        within in proptest::option::of((any_pattern(), proptest::option::of("[a-z\" ]{0,4}[a-z]"))),
        has_text in proptest::option::of("[a-z\" ]{0,4}[a-z]"),
        pattern in any_pattern(),
        nth in proptest::option::of(-9_i32..9),
    ) {
        let within = within.map(|(pattern, has_text)| Within { pattern, has_text });
        let hops = frame.into_iter().map(|pattern| Hop { kind: HopKind::Frame, pattern }).collect();
        let selector = Selector { hops, within, pattern, has_text, nth };
        let text = selector.to_string();
        prop_assert_eq!(text.parse::<Selector>(), Ok(selector), "{}", text);
    }

    #[test]
    fn no_text_is_a_selector_too_much(text in "[a-z=\\[\\]\"> /.#:()0-9\\\\é]{0,60}") {
        if let Ok(selector) = text.parse::<Selector>() {
            let state = page("button \"A\"\ninput \"B\"");
            Finder::new(&state, "data-testid").find(&selector);
            prop_assert_eq!(selector.to_string().parse::<Selector>(), Ok(selector));
        }
    }

    /// Whatever the page, each selector of an element names it alone.
    #[test]
    fn selectors_name_one_element(names in proptest::collection::vec(0_usize..3, 1..12), depth in proptest::collection::vec(0_usize..3, 12)) {
        let mut lines = String::new();
        let mut level: usize = 0;
        for (place, name) in names.iter().enumerate() {
            level = depth[place].min(level + 1);
            let tag = ["button", "div class=box", "li"][(place + name) % 3];
            lines.push_str(&format!("{}{tag} \"N{name}\"\n", "  ".repeat(level)));
        }
        let state = page(&lines);
        let finder = Finder::new(&state, "data-testid");
        for (id, element) in state.elements() {
            let found = finder.identify(id, None).expect("an element").selectors;
            for selector in &found {
                prop_assert_eq!(finder.find(selector), vec![id], "{} in {}", selector, lines);
            }
            let xpath = format!("xpath={}", element.xpath);
            prop_assert_eq!(found.last().map(ToString::to_string), Some(xpath));
        }
    }
}
