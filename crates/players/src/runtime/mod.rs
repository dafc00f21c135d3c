//! What every player stands on: processes, the clock, the run directory, the safety policy, the tap.

pub mod env_file;
pub mod process;
