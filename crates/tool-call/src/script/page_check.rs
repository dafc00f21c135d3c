//! Checks of a result that is a snapshot of a page: what the page shows, and which elements it has.

use super::Failure;
use super::resolve::Resolver;
use super::results::is_something;
use crate::model::{ExpectedElements, Target, Template};
use cuecard_page::{Around, Snapshot, Wanted};
use cuecard_source::value::{Json, as_text, cut};

/// A check, with its references filled in.
pub(super) enum PageCheck {
    /// Whether a text is shown, and whether it must be.
    Text { text: String, must_show: bool },
    /// How many elements fit, and how many must.
    Elements {
        wanted: Wanted,
        least: usize,
        most: Option<usize>,
    },
}

impl PageCheck {
    /// `shows` or `lacks`.
    ///
    /// # Errors
    /// If a reference can't be filled in.
    pub(super) fn text(
        text: &Template,
        must_show: bool,
        resolver: &Resolver,
    ) -> Result<Self, Failure> {
        let text = resolver.text(text)?;
        let check = if must_show { "shows" } else { "lacks" };
        is_something(check, &Json::from(text.trim()))?;
        Ok(Self::Text { text, must_show })
    }

    /// `elements`.
    ///
    /// # Errors
    /// If a reference can't be filled in.
    pub(super) fn elements(
        expected: &ExpectedElements,
        resolver: &Resolver,
    ) -> Result<Self, Failure> {
        let (least, most) = expected.count.bounds();
        Ok(Self::Elements {
            wanted: wanted(&expected.target(), resolver)?,
            least,
            most,
        })
    }

    /// Its name in a scenario.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Elements { .. } => "elements",
            Self::Text {
                must_show: true, ..
            } => "shows",
            Self::Text { .. } => "lacks",
        }
    }

    /// What was seen, and why it does not hold.
    pub(super) fn judge(&self, result: &Json) -> (Json, Option<String>) {
        let snapshot = match Snapshot::read(&text_of(result)) {
            Ok(snapshot) if snapshot.elements.is_empty() => {
                return (
                    Json::Null,
                    Some("the result is not a page snapshot".to_owned()),
                );
            }
            Ok(snapshot) => snapshot,
            Err(error) => {
                let miss = format!("the page has more than {} elements", error.limit);
                return (Json::Null, Some(miss));
            }
        };
        match self {
            Self::Text { text, must_show } => {
                let is_shown = snapshot.shows(text);
                let miss = (is_shown != *must_show).then(|| {
                    let shows = match is_shown {
                        true => "shows",
                        false => "does not show",
                    };
                    format!("the page {shows} `{}`", cut(text.trim(), 200))
                });
                (is_shown.into(), miss)
            }
            Self::Elements {
                wanted,
                least,
                most,
            } => {
                let count = snapshot.count(wanted);
                let fits = *least <= count && most.is_none_or(|most| count <= most);
                let miss = (!fits).then(|| {
                    let expected = match most {
                        None => format!("{least} or more"),
                        Some(most) if most == least => least.to_string(),
                        Some(most) => format!("{least} to {most}"),
                    };
                    format!("expected {expected} of `{wanted}`, found {count}")
                });
                (count.into(), miss)
            }
        }
    }
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

    const PAGE: &str = "uid=1_0 RootWebArea \"Invoices\"\n  uid=1_1 heading \"Open invoices\"\n  uid=1_2 button \"Delete\"\n  uid=1_3 button \"Delete\"";

    fn elements(name: &str, least: usize, most: Option<usize>) -> PageCheck {
        PageCheck::Elements {
            wanted: Wanted {
                role: Some("button".to_owned()),
                name: Some(name.to_owned()),
                ..Wanted::default()
            },
            least,
            most,
        }
    }

    fn text(text: &str, must_show: bool) -> PageCheck {
        PageCheck::Text {
            text: text.to_owned(),
            must_show,
        }
    }

    #[test]
    fn a_check_that_fails_says_what_the_page_has() {
        for (check, observed, miss) in [
            (text("open INVOICES", true), json!(true), None),
            (text("paid", false), json!(false), None),
            (
                text("paid", true),
                json!(false),
                Some("the page does not show `paid`"),
            ),
            (
                text("Invoices", false),
                json!(true),
                Some("the page shows `Invoices`"),
            ),
            (elements("Delete", 2, Some(2)), json!(2), None),
            (elements("Delete", 1, None), json!(2), None),
            (
                elements("Delete", 3, None),
                json!(2),
                Some("expected 3 or more of `button \"Delete\"`, found 2"),
            ),
            (
                elements("Delete", 0, Some(1)),
                json!(2),
                Some("expected 0 to 1 of `button \"Delete\"`, found 2"),
            ),
            (
                elements("Send", 1, Some(1)),
                json!(0),
                Some("expected 1 of `button \"Send\"`, found 0"),
            ),
        ] {
            assert_eq!(
                check.judge(&PAGE.into()),
                (observed, miss.map(str::to_owned))
            );
        }
    }

    #[test]
    fn what_is_no_snapshot_is_said() {
        let miss = Some("the result is not a page snapshot".to_owned());
        for result in [json!("Saved"), json!({"a": 1}), Json::Null] {
            assert_eq!(text("a", false).judge(&result), (Json::Null, miss.clone()));
        }
        // Several texts are one snapshot.
        let parts = json!(["## Latest page snapshot", PAGE]);
        assert_eq!(text("Delete", true).judge(&parts), (json!(true), None));
    }
}
