//! What a page is, as a browser or a browser's server says it, and which element of it is meant.

mod carriers;
pub(crate) mod containers;
mod describe;
pub mod dom;
mod figures;
mod find;
mod holds;
pub mod identity;
mod references;
pub mod rules;
pub mod selector;
mod shown;
mod snapshot;
pub mod text;
mod wanted;
pub(crate) mod words;

pub use find::{Meant, NotOne};
pub use holds::Seen;
pub use references::{with_references, without_references};
pub use snapshot::{Element, Snapshot, TooLarge};
pub use wanted::{Around, Wanted};
