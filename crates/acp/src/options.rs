//! What can be said about a stand-in or a client before it starts.

use std::time::Duration;

use cuecard_runtime::load::PlayOptions;

/// How long the other side may take to answer or to make a call that is scripted, if nothing else is said.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// What can be said about a stand-in or a client before it starts.
#[derive(Debug, Clone)]
pub struct AcpOptions {
    /// Which timelines are played, and how.
    pub play: PlayOptions,
    /// How long the other side may take to answer, and to make a call that is scripted.
    pub patience: Duration,
    /// Whether a client offers files and terminals.
    pub offers_tools: bool,
    /// A program that commands are run by: `CMD -c LINE` is what the client is asked to start. Not for a client.
    pub exec_wrapper: Option<String>,
}

impl Default for AcpOptions {
    fn default() -> Self {
        Self {
            play: PlayOptions::default(),
            patience: DEFAULT_PATIENCE,
            offers_tools: true,
            exec_wrapper: None,
        }
    }
}
