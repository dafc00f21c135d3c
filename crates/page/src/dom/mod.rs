//! The DOM state: what a page is made of, what of it can be seen and used, and under which index.
//!
//! A script in the page walks each document (the top one, each frame, each closed shadow root) and returns one text,
//! a document in JSON; [`join`] makes one capture of them, and [`DomProcessor::read`] decodes it:
//!
//! ```json
//! { "version": 1,
//!   "tabs": [ {"pageIndex": 0, "url": "…", "title": "…", "current": true} ],
//!   "happened": {"dialog": "Delete it?", "download": "report.csv"},
//!   "owners": [ null, {"document": 0, "path": ["/html/body/iframe"], "kind": "frame"} ],
//!   "documents": [
//!     { "url": "…", "title": "…", "documentId": "…", "viewport": [1280, 720], "scroll": [0, 0], "size": [1280, 1460],
//!       "nodes": [
//!         {"tagName": "body", "path": "/html/body", "rect": [0, 0, 1280, 1460]},
//!         {"parent": 0, "tagName": "h1", "path": "h1", "role": "heading", "name": "Sign in", "level": 1},
//!         {"parent": 1, "text": "Sign in"} ] },
//!     { "url": "…", "nodes": [] } ] }
//! ```
//!
//! `owners` and `documents` are of one length: the first document is the top one, every other is placed inline at its
//! owner (`kind` is `frame` or `shadow`, the latter for closed shadow roots). `path` of an owner is the way
//! to the element: xpaths from the root of that document through its open shadow hosts.
//!
//! `nodes` are in pre-order over the flat tree, `parent` is the index of an earlier one. The keys of an element are:
//!
//! | key | is |
//! |---|---|
//! | `tagName`, `path` | its tag in lower case; the last step of its xpath, with a position only where a sibling has the same tag. A `path` that begins with `/` starts anew: at the root, below a shadow host, and of what stands in a slot |
//! | `out` | of what stands in a slot: how many shadow roots further out its own tree is |
//! | `attributes` | those that are kept; value, checked and selected as they are now. Never the value of a secret field |
//! | `isVisible` | if left out: whether it has a `rect` |
//! | `isInteractive` | if left out: whether it has an `interactiveBy` |
//! | `isInViewport` | false if left out; a viewport is that of its own document |
//! | `isTopElement`, `topBasis` | whether a pointer reaches it, not known if left out; `hit` or `paint` |
//! | `interactiveBy` | why: `native`, `role`, `tabindex`, `listener` or `cursor` |
//! | `proxy` | xpath of the label that stands in for a hidden checkbox, radio or file input |
//! | `role`, `name`, `label`, `level` | as assistive tools compute them; the label of a field apart; the level of a heading |
//! | `states` | of disabled, readonly, required, checked, mixed, selected, expanded, collapsed, pressed, invalid, focused, editable |
//! | `filled` | of secret fields, in place of the value |
//! | `options`, `optionCount` | of a select: `[label, value]` of the first, and how many there are |
//! | `rect`, `content` | `[x, y, width, height]` in client coordinates of its own document; of frame owners also the content box |
//! | `isAriaHidden`, `shadowRoot`, `nodeId` | not in the accessibility tree; hosts an open root; a number that lives as long as the node |
//!
//! A text node is `{"parent", "text"}`: rendered unless `isVisible` is false, and in view if its element is, unless
//! `isInViewport` says otherwise.

mod attributes;
mod decode;
mod join;
mod nodes;
mod novelty;
mod processor;
mod secrets;
mod state;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod wire;

pub use join::{CapturedDocument, Owner, join};
pub use processor::{DomError, DomProcessor};
pub use secrets::{MASK, Masks};
pub use state::{
    DomElement, DomKind, DomNode, DomState, DomText, Evidence, FrameInfo, Happened, HopKind,
    NodeId, PageInfo, Rect, ScopeHop, SelectOption, SelectorMap, State, States, TabInfo, TopBasis,
};
