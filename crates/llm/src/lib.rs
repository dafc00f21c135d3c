//! A stand-in for the API of a language model: real clients talk to it as to OpenAI, Anthropic or Google, and a
//! timeline says what they get.
//!
//! HTTP comes in, [`wire::llm`](cuecard_wire::llm) says what it means, the script of the timeline decides what it gets,
//! and the wire says it again, at the times of the schedule. What happened is in the exchanges, the verdict, and the
//! trace. `record` stands between a client and a real model, and writes timelines.
//!
//! ```
//! use cuecard_llm::MockLlm;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("greeting.yaml");
//! # std::fs::write(&path, "name: greeting\ntimeline:\n  - userInputs: [[0, \"Say hello\"]]\n  - llmResponse:\n      - assistant: [[0, \"Hello!\"]]\n").unwrap();
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let model = MockLlm::from_file(&path).start().await.expect("it starts");
//! let base_url = format!("{}/v1", model.base_url());
//! // … run what is to be tested with `OPENAI_BASE_URL` set to that …
//! # let _ = base_url;
//! assert_eq!(model.exchanges().len(), 0);
//! let verdict = model.stop().await;
//! assert!(verdict.passed);
//! assert_eq!(verdict.unplayed.len(), 1);
//! # });
//! ```

mod answers;
mod compressed;
mod disturb;
mod doubts;
mod events;
mod exchange_recorder;
mod faults;
mod files;
mod headers;
mod kept_thinking;
mod mock_server;
mod options;
mod played;
pub mod record;
mod remembered;
mod replying;
mod responses;
mod server;
mod service;
mod stray_results;
mod streaming;
mod style;
#[cfg(test)]
mod tests;

pub use cuecard_runtime::start_error::StartError;
pub use cuecard_runtime::trace_writer::TraceOutput;
pub use exchange_recorder::{Exchange, Notice, Verdict, Watcher};
pub use faults::PlannedFault;
pub use options::{
    DEFAULT_BODY_LIMIT, DEFAULT_CHUNK, DEFAULT_MAX_CONNECTIONS, DEFAULT_MAX_EXCHANGES, LlmOptions,
    OnMiss, TurnLead,
};
pub use played::{SessionVerdict, UnplayedTurn};
pub use server::{DUMMY_KEY, MockLlm, RunningLlm, client_variables};
