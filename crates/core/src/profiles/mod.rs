//! Tool profiles: what each agent calls the tools of the abstract vocabulary, as data, in both directions.

mod advertised;
mod call;

pub use advertised::{AdvertisedTool, ToolInput};
pub use call::{AbstractCall, NativeCall, WrittenCall};
