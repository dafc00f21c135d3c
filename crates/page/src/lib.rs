//! What a page is, as a browser or a browser's server says it, and which element of it is meant.
//!
//! Takes captures and snapshots, sentences, selectors and what was remembered of an element; gives elements, or why there
//! is none. Never drives a browser, and does no I/O.

mod assertion;
mod carriers;
pub mod containers;
mod describe;
pub mod dom;
mod figures;
mod find;
mod holds;
pub mod identity;
mod known;
mod references;
mod roles;
pub mod selector;
pub mod sentences;
mod shown;
mod snapshot;
mod step;
pub mod text;
mod wanted;
pub mod words;

pub use assertion::{AssertKind, BrowserAssertion, Compare, TextMatch};
pub use find::{AmbiguousMatch, Match};
pub use holds::Observation;
pub use known::{Container, ContainerKind, Fingerprint, TextPlace};
pub use references::{VariableReference, references, with_references, without_references};
pub use roles::{is_role, roles};
pub use snapshot::{Element, Snapshot, TooLarge, single_spaces};
pub use step::{ActionKind, Direction, InputValue, IntermediateStep, browser_tool};
pub use wanted::{Around, Wanted};
