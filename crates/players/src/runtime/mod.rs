//! What every player stands on: processes, the clock, the run directory, the safety policy, the tap, faults.

pub(crate) mod browsers;
pub mod clock;
pub mod collect;
pub mod connections;
pub mod env_file;
pub mod fault;
pub mod listener;
pub mod patience;
pub mod places;
pub mod policy;
pub mod process;
pub(crate) mod programs;
pub mod provider;
pub mod run_dir;
pub mod tap;
pub mod text_file;
pub mod timelines;
pub mod tls;
pub mod workers;
