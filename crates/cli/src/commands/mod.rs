//! One file a command.

pub(crate) mod browser;
mod browser_files;
mod browser_play;
pub(crate) mod check;
mod connect;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod doctor;
mod doctor_output;
pub(crate) mod dry_run;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod plain;
pub(crate) mod play;
mod play_output;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod schema;
pub(crate) mod serve;
mod teller;
pub(crate) mod test;
mod timelines;
pub(crate) mod verify;
