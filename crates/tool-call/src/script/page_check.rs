//! Checks of a result that is a snapshot of a page: what the page shows, and which elements it has.

use super::Failure;
use super::resolve::Resolver;
use crate::model::{Count, Target, Template};
use cuecard_page::{Around, Snapshot, Wanted};
use cuecard_source::value::{Json, as_text, cut};

/// What was seen of a page, and why it is not as expected.
pub(super) type Seen = (Json, Option<String>);

/// What `judge` says of the page that a result is a snapshot of.
pub(super) fn on_page(result: &Json, judge: impl FnOnce(&Snapshot) -> Seen) -> Seen {
    let miss = match Snapshot::read(&text_of(result)) {
        Ok(snapshot) if !snapshot.elements.is_empty() => return judge(&snapshot),
        Ok(_) => "the result is not a page snapshot".to_owned(),
        Err(error) => format!("the page has more than {} elements", error.limit),
    };
    (Json::Null, Some(miss))
}

/// Whether a text is shown, and whether it must be.
pub(super) fn text(snapshot: &Snapshot, text: &str, must_show: bool) -> Seen {
    let is_shown = snapshot.shows(text);
    let shows = match is_shown {
        true => "shows",
        false => "does not show",
    };
    let miss = || format!("the page {shows} `{}`", cut(text.trim(), 200));
    (is_shown.into(), (is_shown != must_show).then(miss))
}

/// How many elements fit, and how many must.
pub(super) fn elements(snapshot: &Snapshot, wanted: &Wanted, expected: Count) -> Seen {
    let count = snapshot.count(wanted);
    let (least, most) = expected.bounds();
    let fits = least <= count && most.is_none_or(|most| count <= most);
    let miss = || {
        let expected = match most {
            None => format!("{least} or more"),
            Some(most) if most == least => least.to_string(),
            Some(most) => format!("{least} to {most}"),
        };
        format!("expected {expected} of `{wanted}`, found {count}")
    };
    (count.into(), (!fits).then(miss))
}

/// The text of a result, which may be in parts.
fn text_of(result: &Json) -> String {
    match result {
        Json::Array(parts) => parts
            .iter()
            .filter_map(Json::as_str)
            .collect::<Vec<_>>()
            .join("\n"),
        other => as_text(other).into_owned(),
    }
}

/// What an element is, with its references filled in.
///
/// # Errors
/// If one can't be.
pub(super) fn wanted(target: &Target, resolver: &Resolver) -> Result<Wanted, Failure> {
    let text =
        |template: Option<&Template>| template.map(|template| resolver.text(template)).transpose();
    let within = match &target.within {
        Some(place) => Some(Around {
            role: text(place.role.as_deref())?,
            name: text(place.name.as_deref())?,
            text: text(place.text.as_deref())?,
        }),
        None => None,
    };
    Ok(Wanted {
        role: text(target.role.as_deref())?,
        name: text(target.name.as_deref())?,
        text: text(target.text.as_deref())?,
        within,
        nth: target.nth,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Bounds;

    const PAGE: &str = "uid=1_0 RootWebArea \"Invoices\"\n  uid=1_1 heading \"Open invoices\"\n  uid=1_2 button \"Delete\"\n  uid=1_3 button \"Delete\"";

    fn n_elements(name: &str, min: usize, max: Option<usize>) -> Seen {
        let wanted = Wanted {
            role: Some("button".to_owned()),
            name: Some(name.to_owned()),
            ..Wanted::default()
        };
        let count = Count::Object(Bounds {
            min: Some(min),
            max,
        });
        on_page(&PAGE.into(), |page| elements(page, &wanted, count))
    }

    fn page_text(shown: &str, must_show: bool) -> Seen {
        on_page(&PAGE.into(), |page| text(page, shown, must_show))
    }

    #[test]
    fn a_check_that_fails_says_what_the_page_has() {
        for (check, observed, miss) in [
            (page_text("open INVOICES", true), json!(true), None),
            (page_text("paid", false), json!(false), None),
            (
                page_text("paid", true),
                json!(false),
                Some("the page does not show `paid`"),
            ),
            (
                page_text("Invoices", false),
                json!(true),
                Some("the page shows `Invoices`"),
            ),
            (n_elements("Delete", 2, Some(2)), json!(2), None),
            (n_elements("Delete", 1, None), json!(2), None),
            (
                n_elements("Delete", 3, None),
                json!(2),
                Some("expected 3 or more of `button \"Delete\"`, found 2"),
            ),
            (
                n_elements("Delete", 0, Some(1)),
                json!(2),
                Some("expected 0 to 1 of `button \"Delete\"`, found 2"),
            ),
            (
                n_elements("Send", 1, Some(1)),
                json!(0),
                Some("expected 1 of `button \"Send\"`, found 0"),
            ),
        ] {
            assert_eq!(check, (observed, miss.map(str::to_owned)));
        }
    }

    #[test]
    fn what_is_no_snapshot_is_said() {
        let miss = Some("the result is not a page snapshot".to_owned());
        for result in [json!("Saved"), json!({"a": 1}), Json::Null] {
            assert_eq!(
                on_page(&result, |page| text(page, "a", false)),
                (Json::Null, miss.clone())
            );
        }
        // Several texts are one snapshot.
        let parts = json!(["## Latest page snapshot", PAGE]);
        assert_eq!(
            on_page(&parts, |page| text(page, "Delete", true)),
            (json!(true), None)
        );
    }
}
