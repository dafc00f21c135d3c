//! Where an element is: XPaths through frames and shadow roots, and the selector that reaches it.

use cuecard_page::dom::{DomElement, DomState, HopKind, NodeId, ScopeHop};
use serde_json::{Value, json};

/// The address of an element: hops from the top document, then an XPath in the tree they lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementAddress {
    /// The hops, outermost first.
    pub scope: Vec<ScopeHop>,
    /// The XPath of the element.
    pub xpath: String,
}

/// The name under which the engine for our paths is registered.
pub(super) const ENGINE: &str = "cuecard";

impl ElementAddress {
    /// The address of an element of the top document.
    pub fn top(xpath: impl Into<String>) -> Self {
        Self {
            scope: Vec::new(),
            xpath: xpath.into(),
        }
    }

    /// The address of an element of a captured state.
    pub fn of(element: &DomElement) -> Self {
        Self {
            scope: element.scope.to_vec(),
            xpath: element.xpath.clone(),
        }
    }

    /// The element at this address in a captured state.
    pub(crate) fn find(&self, state: &DomState) -> Option<NodeId> {
        state.by_address(&self.scope, &self.xpath)
    }

    /// The paths in each document on the way: the last ones are those of the element's own document.
    pub(super) fn documents(&self) -> Vec<Vec<&str>> {
        let mut documents = vec![Vec::new()];
        for hop in &self.scope {
            if let Some(last) = documents.last_mut() {
                last.push(hop.xpath.as_str());
            }
            if hop.kind == HopKind::Frame {
                documents.push(Vec::new());
            }
        }
        if let Some(last) = documents.last_mut() {
            last.push(self.xpath.as_str());
        }
        documents
    }

    /// Whether another element is in the same document.
    pub(super) fn is_in_document_of(&self, other: &Self) -> bool {
        let (own, theirs) = (self.documents(), other.documents());
        own[..own.len() - 1] == theirs[..theirs.len() - 1]
    }

    /// The selector for Playwright: of whatever is at this address when it looks.
    pub fn selector(&self) -> String {
        self.selector_ending_in(|paths| json!(paths))
    }

    /// The same, and the engine keeps what it finds under a key.
    pub(super) fn selector_to_hold(&self, key: u64) -> String {
        self.selector_ending_in(|paths| json!({"hold": key, "paths": paths}))
    }

    /// The selector of what the engine keeps under a key, as long as that is on the page.
    pub(super) fn selector_of_held(&self, key: u64) -> String {
        self.selector_ending_in(|_| json!({"held": key}))
    }

    /// The selector whose last part is what `end` makes of the paths in the element's own document.
    fn selector_ending_in(&self, end: impl Fn(&[&str]) -> Value) -> String {
        let documents = self.documents();
        let last = documents.len() - 1;
        let steps: Vec<String> = documents
            .iter()
            .enumerate()
            .map(|(place, paths)| match place == last {
                true => format!("{ENGINE}={}", end(paths)),
                false => format!("{ENGINE}={}", json!(paths)),
            })
            .collect();
        steps.join(" >> internal:control=enter-frame >> ")
    }
}

/// What an element and the item that it is in said when it was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guard {
    /// The visible text of the element.
    pub own: String,
    /// Where the item is, and a text in it by which it is known.
    pub item: Option<(ElementAddress, String)>,
    /// Another element of the action, and what that said.
    pub also: Option<(ElementAddress, Box<Guard>)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selector_enters_frames_and_keeps_shadow_hops_together() {
        let hop = |kind, xpath: &str| ScopeHop {
            kind,
            xpath: xpath.to_owned(),
        };
        let address = ElementAddress {
            scope: vec![
                hop(HopKind::Frame, "/html/body/iframe[2]"),
                hop(HopKind::Shadow, "/html/body/x-a"),
            ],
            xpath: "/button".to_owned(),
        };
        assert_eq!(
            address.selector(),
            r#"cuecard=["/html/body/iframe[2]"] >> internal:control=enter-frame >> cuecard=["/html/body/x-a","/button"]"#
        );
        assert_eq!(
            address.selector_to_hold(7),
            r#"cuecard=["/html/body/iframe[2]"] >> internal:control=enter-frame >> cuecard={"hold":7,"paths":["/html/body/x-a","/button"]}"#
        );
        assert_eq!(
            address.selector_of_held(7),
            r#"cuecard=["/html/body/iframe[2]"] >> internal:control=enter-frame >> cuecard={"held":7}"#
        );
        assert_eq!(
            ElementAddress::top("/html/body/p").selector(),
            r#"cuecard=["/html/body/p"]"#
        );
    }
}
