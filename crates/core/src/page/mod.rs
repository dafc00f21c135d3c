//! What a page is, as a browser or a browser's server says it, and which element of it is meant.

pub mod dom;
mod find;
mod snapshot;

pub use find::NotOne;
pub use snapshot::{Element, Snapshot, TooLarge};
