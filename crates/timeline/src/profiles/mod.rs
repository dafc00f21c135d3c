//! Tool profiles: what each agent calls the tools of the abstract vocabulary, as data, in both directions.

mod advertised;
mod backwards;
mod call;
mod capture;
mod choice;
mod conversion;
mod mapping;
mod profile;
mod read;
pub mod shell;
mod template;
mod values;
mod version;

#[cfg(test)]
mod agents_tests;
#[cfg(test)]
mod tests;

pub use advertised::{AdvertisedTool, ToolInput};
pub use call::{AbstractCall, NativeCall, WrittenCall};
pub use capture::{Capture, Captured, capture};
pub use choice::{AgentName, ProfileChoice, Profiles};
pub use conversion::{check_call, check_text};
pub use mapping::{Mapped, Unmapped, abstract_call, native_call};
pub use profile::Profile;
pub use read::read_profile;
pub use version::{Version, VersionRange};
