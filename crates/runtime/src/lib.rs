//! What every player stands on: the clock, processes, the run directory, the safety policy, the tap that writes the trace,
//! HTTP servers with their guard, faults.
//!
//! The only place that reads the clock, starts processes and decides what a run may do. Knows no protocol and no player.

pub mod browsers;
pub mod clock;
pub mod collect;
pub mod env_file;
pub mod fault;
pub mod fault_writer;
pub mod findings;
pub mod http_server;
pub mod journal;
pub mod lines;
pub mod listener;
pub mod load;
pub mod media;
pub mod policy;
pub mod process;
pub mod programs;
pub mod provider;
pub mod run_dir;
pub mod scripted_faults;
pub mod start_error;
pub mod tap;
pub mod text_file;
pub mod timelines;
pub mod tls;
pub mod trace_writer;
pub mod workers;
