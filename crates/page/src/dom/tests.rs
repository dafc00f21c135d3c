use serde_json::json;

use super::testing::{capture, page, processor};
use super::{DomElement, DomError, DomKind, DomProcessor, DomState, HopKind, Masks, NodeId, State};
use cuecard_source::value::Redactor;

fn named<'a>(state: &'a DomState, name: &str) -> &'a DomElement {
    let found = state.elements().find(|(_, element)| element.name == name);
    found.expect(name).1
}

fn indexed(state: &DomState) -> Vec<String> {
    state
        .selector_map
        .iter()
        .filter_map(|&id| state.element(id))
        .map(|element| format!("{} {}", element.kind(), element.name))
        .collect()
}

#[test]
fn addresses_are_xpaths_in_scopes() {
    let state = page(
        "div\n  input \"A\"\n  input \"B\"\niframe \"Pay\"\n  #frame http://pay.example/\n    button \"Inner\"\nx-card\n  #shadow\n    button \"Deep\"\n    x-more\n      #shadow\n        a \"Deeper\" href=/x\n  p \"Light\" role=paragraph",
    );
    assert_eq!(named(&state, "B").xpath, "/html/body/div/input[2]");
    let inner = named(&state, "Inner");
    assert_eq!(inner.xpath, "/html/body/button");
    assert_eq!(inner.scope.len(), 1);
    assert_eq!(inner.scope[0].kind, HopKind::Frame);
    assert_eq!(inner.scope[0].xpath, "/html/body/iframe");
    // The frame's own coordinates begin at its owner's.
    let (owner, inner) = (named(&state, "Pay").rect, inner.rect);
    assert_eq!(inner.expect("a place").y, owner.expect("a place").y);
    // A direct child of a shadow root has a path, never an empty one.
    let deep = named(&state, "Deep");
    assert_eq!((deep.xpath.as_str(), deep.scope.len()), ("/button", 1));
    let deeper = named(&state, "Deeper");
    let hops: Vec<_> = deeper.scope.iter().map(|hop| hop.xpath.as_str()).collect();
    assert_eq!(hops, ["/html/body/x-card", "/x-more"]);
    assert_eq!(named(&state, "Light").xpath, "/html/body/x-card/p");
    assert!(named(&state, "Light").scope.is_empty());
    let host = state
        .elements()
        .find(|(_, element)| element.tag_name == "x-card");
    assert!(host.expect("the host").1.shadow_root);
    assert_eq!(
        state.by_address(&deeper.scope, &deeper.xpath),
        state
            .elements()
            .find(|(_, element)| element.name == "Deeper")
            .map(|(id, _)| id)
    );
}

#[test]
fn what_stands_in_a_slot_belongs_to_the_tree_outside() {
    let nodes = json!([
        {"tagName": "body", "path": "/html/body"},
        {"parent": 0, "tagName": "x-card", "path": "x-card", "shadowRoot": true},
        {"parent": 1, "tagName": "slot", "path": "/slot"},
        {"parent": 2, "tagName": "p", "path": "/html/body/x-card/p", "out": 1, "name": "slotted"},
        {"parent": 3, "tagName": "b", "path": "b", "name": "below"},
    ]);
    let text = json!({"version": 1, "documents": [{"nodes": nodes}]}).to_string();
    let state = processor().read(&text).expect("a capture");
    let below = named(&state, "below");
    assert_eq!(below.xpath, "/html/body/x-card/p/b");
    assert!(below.scope.is_empty());
}

#[test]
fn closed_shadow_roots_are_put_in() {
    let text = json!({
        "version": 1,
        "owners": [null, {"document": 0, "path": ["/html/body/x-a"], "kind": "shadow"}],
        "documents": [
            {"viewport": [100, 100], "nodes": [
                {"tagName": "body", "path": "/html/body"},
                {"parent": 0, "tagName": "x-a", "path": "x-a", "isVisible": true, "isInViewport": true},
                {"parent": 0, "tagName": "div", "path": "div", "name": "After", "rect": [0, 0, 9, 9], "interactiveBy": "listener"},
            ]},
            {"nodes": [
                {"tagName": "button", "path": "/button[1]", "name": "One", "rect": [0, 0, 9, 9], "interactiveBy": "native"},
                {"tagName": "button", "path": "/button[2]", "name": "Two", "isVisible": true, "isInteractive": true, "interactiveBy": "native"},
            ]},
        ],
    });
    let state = processor().read(&text.to_string()).expect("a capture");
    assert_eq!(indexed(&state), ["button One", "button Two", "div After"]);
    let two = named(&state, "Two");
    assert_eq!(two.scope[0].kind, HopKind::Shadow);
    assert_eq!(two.scope[0].xpath, "/html/body/x-a");
}

#[test]
fn what_is_left_out_of_a_capture_follows_from_the_rest() {
    let text = json!({"version": 1, "documents": [{"viewport": [100, 100], "nodes": [
        {"tagName": "body", "path": "/html/body", "rect": [0, 0, 100, 300], "isInViewport": true},
        {"parent": 0, "tagName": "a", "path": "a[1]", "name": "Here", "rect": [0, 0, 9, 9], "isInViewport": true, "interactiveBy": "native"},
        {"parent": 1, "text": "here"},
        {"parent": 1, "text": "not yet", "isInViewport": false},
        {"parent": 0, "tagName": "a", "path": "a[2]", "name": "Below", "rect": [0, 200, 9, 9], "interactiveBy": "native"},
        {"parent": 4, "text": "below"},
        {"parent": 4, "text": "sticks out", "isInViewport": true},
        {"parent": 0, "tagName": "a", "path": "a[3]", "name": "Hidden", "interactiveBy": "native"},
        {"parent": 0, "tagName": "p", "path": "p", "name": "Text", "rect": [0, 9, 9, 9]},
    ]}]});
    let state = processor().read(&text.to_string()).expect("a capture");
    assert_eq!(indexed(&state), ["a Here", "a Below"]);
    let texts: Vec<(&str, bool)> = state
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            DomKind::Text(run) => Some((run.text.as_str(), run.is_in_viewport)),
            DomKind::Element(_) => None,
        })
        .collect();
    let expected = [
        ("here", true),
        ("not yet", false),
        ("below", false),
        ("sticks out", true),
    ];
    assert_eq!(texts, expected);
}

#[test]
fn the_root_is_visible_whatever_its_size() {
    let text = json!({"version": 1, "documents": [{"nodes": [{"tagName": "frameset", "path": "/html/frameset", "rect": [0, 0, 0, 0]}]}]});
    let state = processor().read(&text.to_string()).expect("a capture");
    assert!(state.nodes[0].element().expect("the root").is_visible);
}

#[test]
fn what_can_be_seen_used_and_reached_has_an_index() {
    let state = page(
        "button \"First\"\n  span \"in it\" ~cursor\n  span \"with test id\" ~cursor data-testid=x\n  b \"listens\" ~listener\nbutton \"Hidden\" ~hidden\nbutton \"Covered\" ~covered\nbutton \"Below\" ~below\nbutton \"Off\" +disabled\ndiv \"card\" ~cursor\n  span \"inner\" ~cursor\np \"plain\"",
    );
    assert_eq!(
        indexed(&state),
        [
            "button First",
            "span with test id",
            "b listens",
            "button Below",
            "button Off",
            "div card"
        ]
    );
    assert_eq!(named(&state, "First").highlight_index, Some(0));
    assert!(named(&state, "Off").is(State::Disabled));
    let covered = named(&state, "Covered");
    assert_eq!(
        (covered.is_interactive, covered.highlight_index),
        (true, None)
    );
}

#[test]
fn what_is_in_a_covered_or_scrolled_out_frame_is_so_too() {
    let covered = page("iframe \"Pay\" ~covered\n  #frame x\n    button \"Inner\"");
    assert_eq!(named(&covered, "Inner").is_top_element, Some(false));
    let below = page("iframe \"Pay\" ~below\n  #frame x\n    button \"Inner\"\n    | words");
    assert!(!named(&below, "Inner").is_in_viewport);
    assert_eq!(named(&below, "Inner").highlight_index, Some(0));
    let hidden = page("iframe \"Pay\" ~hidden\n  #frame x\n    button \"Inner\"");
    assert!(!named(&hidden, "Inner").is_visible);
    assert_eq!(hidden.page.frames[0].url, "x");
}

#[test]
fn a_skeleton_is_told_from_a_page() {
    for (text, is_skeleton) in [
        ("div", true),
        ("main aria-busy=true\n  button \"Log in\"", true),
        ("div class=\"MuiSkeleton-root\"\nbutton \"Log in\"", true),
        (
            "div class=\"skeleton-theme\"\n  button \"Log in\"\n    | Log in",
            false,
        ),
        ("div class=\"skeleton\" ~hidden\nbutton \"Log in\"", false),
        ("main aria-busy=false\n  p | Ready", false),
        ("button \"Log in\"", false),
    ] {
        assert_eq!(page(text).is_skeleton(), is_skeleton, "{text}");
    }
}

#[test]
fn attributes_with_an_empty_value_are_there() {
    let state = page("input \"A\" required");
    assert_eq!(named(&state, "A").attribute("required"), Some(""));
}

#[test]
fn what_is_new_is_marked_only_within_a_document() {
    let mut processor = processor();
    let first = processor
        .read(&capture("button \"A\" nodeId=1"))
        .expect("a capture");
    assert_eq!(named(&first, "A").is_new, None);
    // Index 0 counts like any other; a re-render is not new; a second of a kind is.
    let second = processor
        .read(&capture(
            "button \"New\" nodeId=9\nbutton \"A\" nodeId=2\nbutton \"A\" nodeId=3",
        ))
        .expect("a capture");
    let marks: Vec<_> = second
        .selector_map
        .iter()
        .filter_map(|&id| second.element(id))
        .map(|element| element.is_new)
        .collect();
    assert_eq!(marks, [Some(true), Some(false), Some(true)]);
    let elsewhere = capture("button \"A\"").replace("\"documentId\":\"1\"", "\"documentId\":\"2\"");
    let third = processor.read(&elsewhere).expect("a capture");
    assert_eq!(named(&third, "A").is_new, None);
}

#[test]
fn secrets_never_come_out_of_decoding() {
    let mut processor = DomProcessor::new("data-testid", Redactor::new(["hunter2".to_owned()]));
    let lines = "input \"Password\" type=password value=geheim nodeId=5\ninput \"Card\" autocomplete=\"section-a cc-number\" value=4242\ninput \"Empty\" type=password value=\"\"\ninput \"Typed\" value=hunter2\nbutton \"Say hunter2\" title=hunter2\n| it is hunter2!\nselect \"S\" options=hunter2,b";
    let state = processor.read(&capture(lines)).expect("a capture");
    let shown = format!("{state:?} {}", state.to_recorded());
    for secret in ["hunter2", "geheim", "4242"] {
        assert!(!shown.contains(secret), "{secret}");
    }
    assert_eq!(named(&state, "Password").filled, Some(true));
    assert_eq!(named(&state, "Card").filled, Some(true));
    assert_eq!(named(&state, "Empty").filled, Some(false));
    assert_eq!(named(&state, "Typed").filled, Some(true));
    assert_eq!(named(&state, "Say ***").attribute("title"), Some("***"));
    // "Show password" doesn't.
    let shown = processor
        .read(&capture(
            "input \"Password\" type=text value=geheim nodeId=5",
        ))
        .expect("a capture");
    assert_eq!(named(&shown, "Password").attribute("value"), None);
    assert_eq!(named(&shown, "Password").filled, Some(true));
}

#[test]
fn what_is_no_capture_is_refused_without_its_words() {
    for (text, expected) in [
        ("", "it is not JSON"),
        ("{\"version\": \"geheim\"}", "it does not have the shape"),
        (
            "{\"version\": 2, \"documents\": []}",
            "unsupported version 2",
        ),
        ("{\"version\": 1, \"documents\": []}", "it has no document"),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": []}]}",
            "is empty",
        ),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": [{\"parent\": 0, \"tagName\": \"a\", \"path\": \"a\"}]}]}",
            "not inside an element",
        ),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": [{\"tagName\": \"a\", \"path\": \"/a\"}, {\"tagName\": \"a\", \"path\": \"/a\"}]}]}",
            "second root",
        ),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": [{\"tagName\": \"a\", \"path\": \"/a\"}, {\"parent\": 0}]}]}",
            "neither",
        ),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": [{\"tagName\": \"a\"}]}]}",
            "no usable path",
        ),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": [{\"tagName\": \"a\", \"path\": \"/a\"}, {\"parent\": 0, \"text\": \"x\"}, {\"parent\": 1, \"text\": \"y\"}]}]}",
            "not inside an element",
        ),
        (
            "{\"version\": 1, \"documents\": [{\"nodes\": [{\"tagName\": \"a\", \"path\": \"/a\"}, {\"parent\": 0, \"tagName\": \"a\", \"path\": \"/a\", \"out\": 3}]}]}",
            "further out",
        ),
    ] {
        let error = processor().read(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(!error.contains("geheim"), "{error}");
    }
}

#[test]
fn a_page_has_bounds_that_name_its_largest_part() {
    let mut nodes = vec![
        json!({"tagName": "body", "path": "/html/body"}),
        json!({"parent": 0, "tagName": "ul", "path": "ul", "attributes": {"id": "feed"}}),
    ];
    for place in 1..=50_000 {
        nodes.push(json!({"parent": 1, "tagName": "li", "path": format!("li[{place}]")}));
    }
    let text = json!({"version": 1, "documents": [{"nodes": nodes}]}).to_string();
    let error = processor().read(&text).expect_err("it is too large");
    assert!(matches!(error, DomError::TooLarge { found: 50_002, .. }));
    assert!(error.to_string().ends_with("in `ul#feed`"), "{error}");
    let mut nodes = vec![json!({"tagName": "body", "path": "/html/body"})];
    for parent in 0..600 {
        nodes.push(json!({"parent": parent, "tagName": "i", "path": "i"}));
    }
    let text = json!({"version": 1, "documents": [{"nodes": nodes}]}).to_string();
    assert_eq!(
        processor().read(&text),
        Err(DomError::TooDeep { limit: 512 })
    );
}

#[test]
fn documents_without_a_place_are_left_out_with_a_word() {
    let text = json!({
        "version": 1,
        "owners": [null, {"document": 0, "path": ["/html/body/iframe"], "kind": "frame"}, {"document": 2, "path": ["/html/body"], "kind": "frame"}],
        "documents": [
            {"nodes": [{"tagName": "body", "path": "/html/body"}]},
            {"url": "http://a/", "nodes": [{"tagName": "body", "path": "/html/body"}]},
            {"url": "http://b/", "nodes": [{"tagName": "body", "path": "/html/body"}]},
        ],
    });
    let state = processor().read(&text.to_string()).expect("a capture");
    assert_eq!((state.nodes.len(), state.warnings.len()), (1, 2));
}

#[test]
fn recorded_states_hold_no_secret() {
    let mut processor = DomProcessor::new("data-testid", Redactor::new(["s3cret".to_owned()]));
    let page = "input \"Token s3cret\" value=s3cret\ninput \"Password\" type=password value=hunter2\n| it is s3cret\na \"x\" href=/?t=s3cret";
    let state = processor.read(&capture(page)).expect("a capture");
    let text = state.to_recorded().to_string();
    assert!(
        !text.contains("s3cret") && !text.contains("hunter2"),
        "{text}"
    );
    assert_eq!(text.matches("\"filled\":true").count(), 2);
}

#[test]
fn two_secrets_are_never_equal() {
    let secret = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let masks = Masks::new(&[secret("PIN", "482913"), secret("CODE", "482913-99")]);
    let mut processor = DomProcessor::new("data-testid", masks);
    let lines = "p | 482913-99\np | 482913\np | ***";
    let state = processor.read(&capture(lines)).expect("a capture");
    let text = state.visible_text(NodeId(0));
    assert_eq!(text, "***CODE******PIN******");
}
