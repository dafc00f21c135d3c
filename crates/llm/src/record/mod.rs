//! Records conversations with a real model: stands between a client and its provider, passes everything on as it
//! comes, and writes timelines that play the same to the same client.
//!
//! ```no_run
//! use cuecard_llm::record::{RecordLlm, RecordOptions, Upstream};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let upstream = Upstream::parse("https://api.anthropic.com").expect("a URL");
//! let running = RecordLlm::new(RecordOptions::new(upstream, "fix-test.yaml"))
//!     .start()
//!     .await
//!     .expect("it starts");
//! // … run the agent with `ANTHROPIC_BASE_URL` set to `running.base_url()` …
//! let recording = running.stop().await;
//! for file in &recording.files {
//!     println!("{}: {} turns", file.path.display(), file.n_turns);
//! }
//! # });
//! ```

mod answered;
mod files;
mod options;
mod proxy;
mod server;
mod tee;
#[cfg(test)]
mod tests;
mod upstream;
mod writer;

pub use files::RecordedFile;
pub use options::{DEFAULT_STALL, RecordOptions};
pub use server::{RecordLlm, Recording, RunningRecorder};
pub use upstream::Upstream;
