//! Where an element is: XPaths through frames and shadow roots, and the selector that reaches it.

/// What a hop leads into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopKind {
    /// The document of a frame.
    Frame,
    /// A shadow root.
    Shadow,
}

/// One step into another tree, by the element that owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// What the owner holds.
    pub kind: HopKind,
    /// The XPath of the owner, in the tree before.
    pub xpath: String,
}

/// The address of an element: hops from the top document, then an XPath in the tree they lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementAddress {
    /// The hops, outermost first.
    pub scope: Vec<Hop>,
    /// The XPath of the element.
    pub xpath: String,
    /// Whether a shadow root on the way is closed: selectors can't reach it, only a press at its place can.
    pub is_in_closed_root: bool,
}

/// The name under which the engine for our paths is registered.
pub(super) const ENGINE: &str = "cuecard";

impl ElementAddress {
    /// The address of an element of the top document.
    pub fn top(xpath: impl Into<String>) -> Self {
        Self {
            scope: Vec::new(),
            xpath: xpath.into(),
            is_in_closed_root: false,
        }
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

    /// The selector for Playwright.
    pub fn selector(&self) -> String {
        let steps: Vec<String> = self
            .documents()
            .iter()
            .map(|paths| format!("{ENGINE}={}", serde_json::json!(paths)))
            .collect();
        steps.join(" >> internal:control=enter-frame >> ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selector_enters_frames_and_keeps_shadow_hops_together() {
        let hop = |kind, xpath: &str| Hop {
            kind,
            xpath: xpath.to_owned(),
        };
        let address = ElementAddress {
            scope: vec![
                hop(HopKind::Frame, "/html/body/iframe[2]"),
                hop(HopKind::Shadow, "/html/body/x-a"),
            ],
            xpath: "/button".to_owned(),
            is_in_closed_root: false,
        };
        assert_eq!(
            address.selector(),
            r#"cuecard=["/html/body/iframe[2]"] >> internal:control=enter-frame >> cuecard=["/html/body/x-a","/button"]"#
        );
        assert_eq!(
            ElementAddress::top("/html/body/p").selector(),
            r#"cuecard=["/html/body/p"]"#
        );
    }
}
