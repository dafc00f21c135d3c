//! Keys and values of an element, in their fixed order.

use super::lines::{Maker, safe_word};
use super::render::{bareword, quoted};
use crate::dom::{DomElement, State};
use crate::snapshot::single_spaces;
use crate::words::cut_graphemes;

/// How long values may be, in graphemes.
const LONGEST_VALUE: usize = 60;
const LONGEST_PLACEHOLDER: usize = 40;
const LONGEST_HREF: usize = 60;

/// So many options of a select are named.
const MOST_OPTIONS: usize = 10;

impl Maker<'_> {
    /// Keys and values in their fixed order.
    pub(super) fn attributes(&self, element: &DomElement, name: &str, is_frame: bool) -> String {
        let mut text = String::new();
        let mut put = |key: &str, value: String| {
            text.push(' ');
            text.push_str(key);
            if !value.is_empty() {
                text.push('=');
                text.push_str(&value);
            }
        };
        let attribute = |name: &str| element.attribute(name).map(single_spaces);
        let short = |text: &str, limit| quoted(&cut_graphemes(text, limit));
        let role = element.role.as_str();
        if is_frame && let Some(source) = attribute("src").filter(|source| !source.is_empty()) {
            put("src", bareword(&self.address(&source)));
        }
        if let Some(kind) = attribute("type").filter(|kind| says_more(kind, role)) {
            put("type", bareword(&cut_graphemes(&kind, LONGEST_VALUE)));
        }
        let has_value = !matches!(
            role,
            "button" | "checkbox" | "radio" | "switch" | "option" | "link" | "listitem"
        );
        let value = attribute("value").filter(|value| has_value && !value.is_empty());
        if let Some(value) = value.filter(|_| element.filled.is_none()) {
            put("value", short(&value, LONGEST_VALUE));
        }
        if let Some(filled) = element.filled {
            put("filled", filled.to_string());
        }
        if let Some(words) =
            attribute("placeholder").filter(|words| !words.is_empty() && words != name)
        {
            put("placeholder", short(&words, LONGEST_PLACEHOLDER));
        }
        match () {
            () if element.is(State::Mixed) => put("checked", "mixed".to_owned()),
            () if element.is(State::Checked) => put("checked", String::new()),
            () => {}
        }
        for (key, state) in [
            ("selected", State::Selected),
            ("expanded", State::Expanded),
            ("pressed", State::Pressed),
            ("disabled", State::Disabled),
            ("readonly", State::Readonly),
            ("required", State::Required),
            ("invalid", State::Invalid),
        ] {
            if element.is(state) {
                put(key, String::new());
            }
        }
        if let Some(level) = element.level {
            put("level", level.to_string());
        }
        if element.option_count > 0 {
            put("options", quoted(&options(element)));
        }
        if let Some(href) = attribute("href").filter(|href| !href.is_empty()) {
            put("href", bareword(&self.address(&href)));
        }
        if let Some(id) = self.finder.test_id(element) {
            put(
                "testid",
                bareword(&cut_graphemes(&single_spaces(id), LONGEST_VALUE)),
            );
        }
        for included in self.options.include_attributes {
            let Some(value) = attribute(included) else {
                continue;
            };
            if included == "title" && value == name {
                continue;
            }
            match value.is_empty() {
                true => put(&safe_word(included), String::new()),
                false => put(&safe_word(included), short(&value, LONGEST_VALUE)),
            }
        }
        text
    }

    /// An address, of the page's own origin without it.
    fn address(&self, address: &str) -> String {
        let own = self.origin.and_then(|origin| address.strip_prefix(origin));
        let address = match own {
            Some("") => "/",
            Some(rest) if rest.starts_with(['/', '?', '#']) => rest,
            _ => address,
        };
        cut_graphemes(address, LONGEST_HREF).into_owned()
    }
}

/// Whether the type of an element says more than its role.
fn says_more(kind: &str, role: &str) -> bool {
    !kind.is_empty()
        && kind != role
        && !matches!(
            (kind, role),
            ("text", "textbox" | "combobox")
                | ("search", "searchbox")
                | ("number", "spinbutton")
                | ("range", "slider")
                | ("checkbox", "switch")
        )
}

/// The first options of a select, and how many more there are.
fn options(element: &DomElement) -> String {
    let shown = element.options.iter().take(MOST_OPTIONS);
    let labels: Vec<_> = shown
        .map(|option| cut_graphemes(&option.label, LONGEST_PLACEHOLDER).into_owned())
        .collect();
    let more = element.option_count.saturating_sub(labels.len());
    match more {
        0 => labels.join(", "),
        more => format!("{}, +{more}", labels.join(", ")),
    }
}
