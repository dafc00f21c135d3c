use super::*;

/// As chrome-devtools-mcp 1.11 and 0.12 wrote them about the same page.
const NEWER: &str = include_str!("samples/newer.txt");
const OLDER: &str = include_str!("samples/older.txt");

fn shown(answer: &str) -> Vec<String> {
    let snapshot = Snapshot::read(answer).expect("it is small");
    let elements = &snapshot.elements;
    elements
        .iter()
        .map(|element| {
            let parent = element.parent.map_or("-", |parent| &elements[parent].role);
            format!("{}|{}|{parent}", element.role, element.name)
        })
        .collect()
}

#[test]
fn real_snapshots_of_both_kinds_say_the_same() {
    let newer = shown(NEWER);
    assert_eq!(
        newer,
        [
            "RootWebArea|P|-",
            "heading|Log in|RootWebArea",
            "|Plain words|RootWebArea",
            "|Name|RootWebArea",
            "textbox|Name|RootWebArea",
            "button|Log in|RootWebArea",
            "link|Home|RootWebArea",
            "heading|Home|link",
            "|Click me div|RootWebArea",
            "button|a\"b value=\"c\" uid=9_9 button \"x|RootWebArea",
            "|Cell|RootWebArea",
            "button|Del|RootWebArea",
            "combobox|Pick|RootWebArea",
            "option|One|combobox",
            "option|Two|combobox",
        ]
    );
    assert_eq!(shown(OLDER), newer);
}

#[test]
fn attributes_are_told_from_names() {
    let line =
        "uid=1_4 textbox \"Say \"hi\"\" focusable focused keyshortcuts=\"k 1\" value=\"a\" b\"";
    let snapshot = Snapshot::read(line).expect("it is small");
    assert_eq!(snapshot.elements[0].name, "Say \"hi\"");
    for (word, count) in [("k", 1), ("1", 1), ("k 1", 0), ("", 0)] {
        let found = snapshot.with_attribute_word("keyshortcuts", word);
        assert_eq!(found.count(), count, "{word}");
    }
    // A name that only looks like it.
    let fake = Snapshot::read("uid=1_4 button \"x keyshortcuts=\"k\" y\"").expect("small");
    assert_eq!(fake.with_attribute_word("keyshortcuts", "k").count(), 0);
}

#[test]
fn whatever_is_no_element_is_left_out() {
    for answer in [
        "",
        "uid=",
        "uid= x",
        "## Latest page snapshot\n\nPage: uid=1",
        "\"uid=1_1\"",
    ] {
        assert_eq!(
            Snapshot::read(answer).expect("small").elements,
            [],
            "{answer}"
        );
    }
    let bare = Snapshot::read("uid=1_1\nuid=1_2 \"\nuid=1_3 generic \"a").expect("small");
    assert_eq!(bare.elements.len(), 3);
}

#[test]
fn a_snapshot_has_a_bound() {
    let answer = "uid=1 x\n".repeat(MOST_ELEMENTS + 1);
    assert_eq!(
        Snapshot::read(&answer),
        Err(TooLarge {
            limit: MOST_ELEMENTS
        })
    );
}

/// As @playwright/mcp wrote it, within its answer.
const INVOICES: &str = include_str!("samples/invoices.yml");

#[test]
fn the_list_of_playwright_becomes_the_same_tree() {
    let shown = shown(INVOICES);
    for line in [
        "heading|Invoices|main",
        "caption||table",
        "|Open invoices|caption",
        "cell|Invoice 1|row",
        "button|Delete|cell",
    ] {
        assert!(shown.contains(&line.to_owned()), "{line} in {shown:#?}");
    }
}

#[test]
fn signs_of_yaml_and_json_are_read() {
    let answer = r#"### Page
- Page Title: button "No" [ref=e99]
### Snapshot
```yaml
- generic [active] [ref=e1]:
  - 'button "It''s: \"now\"" [ref=e2] [cursor=pointer]'
  - link "Home" [ref=e3]:
    - /url: "?a=\"b\": c"
  - textbox "Name" [ref=f1e4]: "- x: \x41\ty"
  - text: "{ braces }"
  - img "a # b" [ref=e5]
```
### Events
- button "Neither" [ref=e98]"#;
    assert_eq!(
        shown(answer),
        [
            "generic||-",
            "button|It's: \"now\"|generic",
            "link|Home|generic",
            "textbox|Name|generic",
            "|- x: A y|textbox",
            "|{ braces }|generic",
            "img|a # b|generic",
        ]
    );
    let snapshot = Snapshot::read(answer).expect("small");
    let ids: Vec<&str> = snapshot
        .elements
        .iter()
        .map(|element| &*element.id)
        .collect();
    assert_eq!(ids, ["e1", "e2", "e3", "f1e4", "", "", "e5"]);
    assert!(
        snapshot.elements[2]
            .attributes
            .contains(r#"url="?a="b": c""#)
    );
}

#[test]
fn a_nest_without_a_bottom_is_read() {
    let deep: String = (0..20_000)
        .map(|depth| format!("{}uid={depth} generic\n", " ".repeat(depth % 5_000)))
        .collect();
    let snapshot = Snapshot::read(&deep).expect("few enough");
    assert_eq!(snapshot.elements.len(), 20_000);
}

proptest::proptest! {
    #[test]
    fn any_answer_is_read(answer in "(- |  |uid=|[a-z]{1,3}|\"|'|:|\\[ref=e1\\]|\n|\\\\x|é){0,60}") {
        let snapshot = Snapshot::read(&answer).expect("small");
        for (index, element) in snapshot.elements.iter().enumerate() {
            proptest::prop_assert!(element.end > index);
            let is_inside = element.parent.is_none_or(|parent| {
                parent < index && snapshot.elements[parent].end >= element.end
            });
            proptest::prop_assert!(is_inside);
            let _ = snapshot.text(index);
        }
    }
}
