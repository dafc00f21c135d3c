//! Takes secrets out of a state while it is decoded. The capture doesn't read secret fields in the first place; this
//! is the second line.

use std::borrow::Cow;

use super::state::{DomElement, HopKind, ScopeHop};
use cuecard_source::value::Redactor;

/// What stands where a secret stood in a text, and begins the masks of those with names.
pub const MASK: &str = "***";

/// Puts a mask in the place of each secret: `***PIN***` for one with a name, so that two secrets are never equal.
#[derive(Debug, Clone, Default)]
pub struct Masks {
    named: Vec<(Redactor, String)>,
    all: Redactor,
}

impl Masks {
    /// Of secrets by their names.
    pub fn new(secrets: &[(String, String)]) -> Self {
        let mut longest_first: Vec<&(String, String)> = secrets.iter().collect();
        longest_first.sort_by_key(|(name, value)| (std::cmp::Reverse(value.len()), name));
        let named = longest_first.into_iter();
        Self {
            named: named
                .map(|(name, value)| (Redactor::new([value.clone()]), format!("***{name}***")))
                .collect(),
            all: Redactor::new(secrets.iter().map(|(_, value)| value.clone())),
        }
    }

    /// Learns a secret without a name.
    pub fn hide(&mut self, text: &str) {
        self.all.add([text.to_owned()]);
    }

    /// The secrets without their names, for texts that are not compared.
    pub fn redactor(&self) -> &Redactor {
        &self.all
    }

    /// A text with masks in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.all.finds(text) {
            return Cow::Borrowed(text);
        }
        let mut masked = text.to_owned();
        for (secret, mask) in &self.named {
            masked = secret.text_with(&masked, mask).into_owned();
        }
        Cow::Owned(self.all.text_with(&masked, MASK).into_owned())
    }
}

impl From<Redactor> for Masks {
    fn from(all: Redactor) -> Self {
        Self {
            named: Vec::new(),
            all,
        }
    }
}

/// Whether a field is for something that nobody may read.
pub(super) fn is_secret_field(element: &DomElement) -> bool {
    if element.tag_name != "input" && element.tag_name != "textarea" {
        return false;
    }
    element.input_type().as_deref() == Some("password")
        || element
            .attribute("autocomplete")
            .is_some_and(|tokens| tokens.split_ascii_whitespace().any(is_secret_token))
}

fn is_secret_token(token: &str) -> bool {
    let token = token.to_ascii_lowercase();
    matches!(
        token.as_str(),
        "current-password" | "new-password" | "one-time-code"
    ) || token.starts_with("cc-")
}

/// Removes the value of a secret field, and says in its place whether there is one.
pub(super) fn hide_value(element: &mut DomElement) {
    let value = element.attribute("value").map(|value| !value.is_empty());
    element.filled = Some(element.filled.or(value).unwrap_or(false));
    element.attributes.retain(|(name, _)| name != "value");
}

/// Removes known secrets from everything about an element that is text.
pub(super) fn mask_element(element: &mut DomElement, secrets: &Masks) {
    if element
        .attribute("value")
        .is_some_and(|value| secrets.all.finds(value))
    {
        hide_value(element);
        element.filled = Some(true);
    }
    for (_, value) in &mut element.attributes {
        mask(value, secrets);
    }
    for text in [&mut element.name, &mut element.label] {
        mask(text, secrets);
    }
    for option in &mut element.options {
        mask(&mut option.label, secrets);
        mask(&mut option.value, secrets);
    }
}

/// Replaces known secrets in a text.
pub(super) fn mask(text: &mut String, secrets: &Masks) {
    if let Cow::Owned(masked) = secrets.text(text) {
        *text = masked;
    }
}

/// The address of an element as one text, to remember it by.
pub(super) fn address(scope: &[ScopeHop], xpath: &str) -> String {
    let mut address = String::new();
    for hop in scope {
        address.push(match hop.kind {
            HopKind::Frame => 'f',
            HopKind::Shadow => 's',
        });
        address.push_str(&hop.xpath);
        address.push('\n');
    }
    address.push_str(xpath);
    address
}
