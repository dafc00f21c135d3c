//! Elements that have another name, in all places and with all ids, and elements that have not.

use super::*;
use crate::snapshot::single_spaces;

/// What an element was called, and what something is called that may be another one.
const RENAMES: &[(&str, &str)] = &[
    ("Save draft", "Publish"),
    ("Preview", "Pay now"),
    ("Details", "Remove account"),
    ("Save draft", "Save draft and publish"),
    ("Archive", "Delete forever"),
    ("Follow", "Unfollow"),
    ("Approve", "Decline"),
    ("Log in", "Log out"),
    ("Log in", "Sign in"),
    ("Continue", "Place order"),
    ("Upgrade plan", "Cancel plan"),
    ("Delete account", "Delete all accounts"),
    ("Send", "Send to all"),
    ("Enable two-factor", "Disable two-factor"),
    ("Home phone", "Work phone"),
    ("E-mail", "Backup e-mail"),
    ("Save", "Speichern"),
    ("Pay 10 €", "Pay 100 €"),
    ("Step 2", "Step 3"),
    ("Invoice 2024-01", "Invoice 2024-02"),
    ("Transfer to Ana", "Transfer to Bob"),
    ("Accept", "Accept cookies and newsletter"),
    ("Next", "Previous"),
    ("Reply", "Reply all"),
    ("Close", "Close account"),
    ("Test run", "Live run"),
    ("Open", "Open… and run"),
    ("⋯", "✕"),
    ("+1", "-1"),
    ("Cart, 2 items", "Empty the cart"),
    ("", "Delete"),
    ("Search", ""),
];

/// Names that differ only in what is no word of a name.
const SAME_NAMES: &[(&str, &str)] = &[
    ("Save draft", "SAVE DRAFT"),
    ("Cart (2)", "Cart (3)"),
    ("Inbox (12)", "Inbox"),
    ("E-mail *", "E-mail:"),
    ("Delete", "🗑 Delete"),
    ("More…", "More"),
    ("Log in", "Log  in"),
];

/// Where an element stands, in the line with the `@`; in some, others of its first name stand elsewhere, in the lines with
/// a `=`.
const PLACES: &[&str] = &[
    "h1 \"Shop\"\n@",
    "form \"Account\"\n  h2 \"Who\"\n  @",
    "dialog \"Sure?\"\n  @",
    "table\n  tr\n    td | Ana\n    td\n      @\n  tr\n    td | Bob\n    td\n      =",
    "ul\n  li\n    h3 \"Tea\"\n    @\n  li\n    h3 \"Milk\"\n    =",
    "section \"Draft\"\n  @\nsection \"Other\"\n  =",
    "iframe \"Pay\"\n  #frame http://x.example/\n    @",
    "x-card\n  #shadow\n    @",
];

/// How an element is written, with its name in the place of the `$`.
const KINDS: &[&str] = &[
    "button \"$\"# | $",
    "button \"$\"# | ⚙",
    "a \"$\" href=/x# | $",
    "input \"$\"#",
    "input \"$\" placeholder=\"$\"#",
    "input \"$\" type=checkbox#",
    "input \"$\" type=file#",
    "select \"$\"#",
    "div# ~listener | $",
];

/// Ids of the old element, and of what may be it.
const IDS: &[(&str, &str)] = &[
    (" id=go", " id=go"),
    (" data-testid=go", " data-testid=go"),
    (" id=go data-testid=go", " id=go data-testid=go"),
    (" id=go data-testid=go", " id=other data-testid=other"),
    (" id=go", ""),
    ("", ""),
];

/// Where it stands by then among what is beside it.
const MOVES: &[&str] = &[
    "@\nbutton \"Back\"",
    "button \"Back\"\n@",
    "div class=box\n  div\n    @\nbutton \"Back\"",
    "button \"Help me\"\np | Hello\n@\nbutton \"Back\"",
];

fn element(kind: &str, name: &str, ids: &str) -> String {
    kind.replace('#', ids).replace('$', name)
}

/// A page with these lines in the place of the `@`, and these in that of the `=`.
fn page_of(place: &str, lines: &str, twin: &str) -> String {
    let mut text = String::new();
    for line in place.lines() {
        let indentation = " ".repeat(line.len() - line.trim_start().len());
        let inside = match line.trim() {
            "@" => lines,
            "=" => twin,
            line => line,
        };
        for line in inside.lines() {
            text.push_str(&format!("{indentation}{line}\n"));
        }
    }
    text
}

/// The first element that is written so.
fn written(state: &DomState, kind: &str, name: &str) -> NodeId {
    let tag = kind.split([' ', '#']).next().unwrap_or_default();
    let mut elements = state.elements().filter(|(id, element)| {
        let called = match tag {
            "div" => single_spaces(&state.visible_text(*id)),
            _ => element.name.clone(),
        };
        let is_acted_on = tag != "div" || element.is_interactive;
        element.tag_name == tag && is_acted_on && called == single_spaces(name)
    });
    elements.next().expect(name).0
}

/// A page on which an element was known, and the next release of it.
struct Release {
    kind: &'static str,
    before: String,
    after: String,
    keeps_ids: bool,
}

/// All places and ids of an element under two names. The kind of element is another one for each pair, and with the number
/// of the pair it moves in other places.
fn releases(number: usize, (old, new): (&str, &str)) -> Vec<Release> {
    let kind = match old.is_empty() || new.is_empty() {
        true => KINDS[1],
        false => KINDS[number % KINDS.len()],
    };
    let mut releases = Vec::new();
    for (nth, place) in PLACES.iter().enumerate() {
        for (of_ids, (ids, ids_now)) in IDS.iter().enumerate() {
            let moved = MOVES[(number + nth + of_ids) % MOVES.len()];
            let twin = element(kind, old, "");
            let was = MOVES[0].replace('@', &element(kind, old, ids));
            let is = moved.replace('@', &element(kind, new, ids_now));
            releases.push(Release {
                kind,
                before: page_of(place, &was, &twin),
                after: page_of(place, &is, &twin),
                keeps_ids: ids == ids_now,
            });
        }
    }
    releases
}

fn judged(release: &Release, name: &str) -> (Verdict, DomState) {
    let old = page(&release.before);
    let memory = remember(&old, written(&old, release.kind, name));
    let new = page(&release.after);
    (verdict(&new, &memory), new)
}

#[test]
fn what_is_called_otherwise_is_never_acted_on_and_proposed_by_its_id() {
    for (number, &(old, new)) in RENAMES.iter().enumerate() {
        for release in releases(number, (old, new)) {
            let (found, _) = judged(&release, old);
            let told = format!(
                "{old} → {new}: {found:?}\n{}\n{}",
                release.before, release.after
            );
            assert_eq!(found.target(), None, "{told}");
            let has_ids = release.keeps_ids && release.before.contains("=go");
            match found {
                Verdict::Renamed { check, .. } => {
                    let names = [old, new].map(|name| check.contains(name));
                    assert_eq!(names, [true; 2], "{told}");
                }
                _ => assert!(!has_ids, "{told}"),
            }
        }
    }
}

#[test]
fn what_is_called_as_it_was_is_acted_on_wherever_it_moved_and_whatever_its_ids() {
    let kept = KINDS.iter().map(|_| ("Save draft", "Save draft"));
    let (mut done, mut refused) = (0, 0);
    for (number, (old, new)) in kept.chain(SAME_NAMES.iter().copied()).enumerate() {
        for release in releases(number, (old, new)) {
            let (found, state) = judged(&release, old);
            let told = format!(
                "{old} → {new}: {found:?}\n{}\n{}",
                release.before, release.after
            );
            match found.target() {
                Some(id) => assert_eq!(id, written(&state, release.kind, new), "{told}"),
                // That it lost its test id and moved is too much at once; and of a text in plain elements that came into
                // others nobody knows which of them it is.
                None => {
                    let lost_test_id = !release.keeps_ids && release.before.contains("testid");
                    assert!(lost_test_id || release.kind.starts_with("div"), "{told}");
                }
            }
            *(if found.target().is_some() {
                &mut done
            } else {
                &mut refused
            }) += 1;
        }
    }
    assert!(refused * 20 < done, "{refused} of {done}");
}
