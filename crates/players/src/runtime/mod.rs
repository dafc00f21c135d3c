//! What every player stands on: processes, the clock, the run directory, the safety policy, the tap.

pub mod policy;
pub mod process;
