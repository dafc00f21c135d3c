//! What can be said about a stand-in or a client before it starts.

use std::time::Duration;

use cuecard_runtime::load::PlayOptions;
use cuecard_timeline::script::EventPart;
use tokio::sync::{mpsc, watch};

/// How long the other side may take to answer or to make a call that is scripted, if nothing else is said.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// How far a stand-in may go, as somebody else says, and how far it has come.
#[derive(Debug, Clone)]
pub struct Lead {
    /// The file of the timeline that is led, once that is known; closed if none is.
    pub file: watch::Receiver<Option<String>>,
    /// It plays what stands above this event of the timeline, whatever the time.
    pub until: watch::Receiver<usize>,
    /// Is told each part of an event once it was played, or never will be.
    pub played: mpsc::UnboundedSender<(usize, EventPart)>,
}

impl Lead {
    /// The file of the timeline that is led: waits until that is known.
    pub(super) async fn file(&self) -> Option<String> {
        let mut file = self.file.clone();
        let known = file.wait_for(Option::is_some).await;
        known.ok().and_then(|file| file.clone())
    }
}

/// What can be said about a stand-in or a client before it starts.
#[derive(Debug, Clone)]
pub struct AcpOptions {
    /// Which timelines are played, and how.
    pub play: PlayOptions,
    /// How long the other side may take to answer, and to make a call that is scripted.
    pub patience: Duration,
    /// Who says how far the agent may go; the times of the timeline do otherwise. Not for a client.
    pub lead: Option<Lead>,
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
            lead: None,
            offers_tools: true,
            exec_wrapper: None,
        }
    }
}
