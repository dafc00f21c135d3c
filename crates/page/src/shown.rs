//! What a snapshot shows, and how many of its elements fit: for what is asserted of a page.

use super::containers::is_field;
use super::snapshot::Snapshot;
use super::wanted::Wanted;
use super::words::{NameMatch, fold};

/// Elements whose name is the text in them.
const NAMED_BY_TEXT: &[&str] = &[
    "button",
    "cell",
    "columnheader",
    "gridcell",
    "heading",
    "link",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "row",
    "rowheader",
    "tab",
    "treeitem",
];

/// What else has a label, which stands on the page as its name.
const LABELLED: &[&str] = &["checkbox", "listbox", "radio", "switch"];

impl Snapshot {
    /// How many elements fit. As people say names: if nothing is called just so, those count whose names have all of
    /// its words.
    pub fn count(&self, wanted: &Wanted) -> usize {
        self.fitting_like(wanted, &|_| true, &NameMatch::SAID).len()
    }

    /// Whether the page shows a text, in whichever of its frames, whatever its capital letters and spaces. The
    /// labels of fields count, what is in them does not.
    pub fn shows(&self, text: &str) -> bool {
        fold(&self.shown_text()).contains(&fold(text))
    }

    /// The texts of the page in their order, with spaces between.
    fn shown_text(&self) -> String {
        let (mut shown, mut at) = (String::new(), 0);
        while let Some(element) = self.elements.get(at) {
            let role = element.role.as_str();
            let is_leaf = element.end == at + 1;
            let is_value = element
                .parent
                .is_some_and(|outer| is_field(&self.elements[outer].role));
            let is_shown = match role {
                "" => !is_value,
                role if is_field(role) || LABELLED.contains(&role) => true,
                role => is_leaf && NAMED_BY_TEXT.contains(&role),
            };
            if is_shown {
                shown.push(' ');
                shown.push_str(&element.name);
            }
            // A text is broken into the lines that it takes on the page.
            at = if role.is_empty() { element.end } else { at + 1 };
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::super::wanted::Around;
    use super::*;

    const DEVTOOLS: &str = "uid=1_0 RootWebArea \"Frames\"
  uid=1_1 heading \"Frames\" level=\"1\"
  uid=1_2 textbox \"Card number\" value=\"4111\"
  uid=1_3 Iframe \"Other site\"
    uid=1_4 RootWebArea \"Frame\"
      uid=1_5 \"Payment by \"
      uid=1_6 \"site\"
      uid=1_7 button \"Pay\"
  uid=1_8 image \"A picture\"
  uid=1_9 link \"Read Story 1\"
  uid=1_10 link \"Read Story 2\"
  uid=1_11 row
    uid=1_12 cell \"Invoice 2\"
    uid=1_13 cell
      uid=1_14 button \"Pay\"";

    const PLAYWRIGHT: &str = "- generic [ref=e1]:
  - heading \"Frames\" [level=1] [ref=e2]
  - textbox \"Card number\" [ref=e3]: \"4111\"
  - iframe [ref=e4]:
    - generic [ref=f1e1]:
      - paragraph [ref=f1e2]:
        - text: Payment by
        - generic [ref=f1e3]: site
      - button \"Pay\" [ref=f1e4]
  - img \"A picture\" [ref=e5]
  - link \"Read Story 1\" [ref=e6]
  - link \"Read Story 2\" [ref=e7]
  - row \"Invoice 2 Pay\" [ref=e8]:
    - cell \"Invoice 2\" [ref=e9]
    - cell \"Pay\" [ref=e10]:
      - button \"Pay\" [ref=e11]";

    #[test]
    fn texts_of_all_frames_are_shown_and_values_and_pictures_are_not() {
        for text in [DEVTOOLS, PLAYWRIGHT] {
            let snapshot = Snapshot::read(text).expect("small");
            for shown in [
                "frames",
                "Payment  by SITE",
                "Pay",
                "Read Story 2",
                "Invoice 2",
                "Card number",
            ] {
                assert!(snapshot.shows(shown), "{shown}\n{text}");
            }
            for hidden in ["4111", "A picture", "Payment by port"] {
                assert!(!snapshot.shows(hidden), "{hidden}\n{text}");
            }
        }
    }

    #[test]
    fn elements_are_counted_as_people_say_them() {
        let named = |role: &str, name: &str| Wanted {
            role: Some(role.to_owned()),
            name: Some(name.to_owned()),
            ..Wanted::default()
        };
        let in_row = |row: &str| Wanted {
            within: Some(Around {
                role: Some("row".to_owned()),
                name: Some(row.to_owned()),
                text: None,
            }),
            ..named("button", "Pay")
        };
        for text in [DEVTOOLS, PLAYWRIGHT] {
            let snapshot = Snapshot::read(text).expect("small");
            for (wanted, count) in [
                (named("button", "Pay"), 2),
                (named("link", "Read Story 1"), 1),
                (named("link", "story read"), 2),
                (named("link", "Story 3"), 0),
                (in_row("Invoice 2"), 1),
                (in_row("Invoice 2 Pay"), 1),
                (in_row("Invoice 3"), 0),
            ] {
                assert_eq!(snapshot.count(&wanted), count, "{wanted}\n{text}");
            }
        }
    }
}
