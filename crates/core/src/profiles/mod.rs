//! Tool profiles: what each agent calls the tools of the abstract vocabulary, as data, in both directions.

mod advertised;

pub use advertised::{AdvertisedTool, ToolInput};
