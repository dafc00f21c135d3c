//! The stand-in for a coding agent in a terminal: it reads prompts, prints what it thinks and says, and really runs its
//! tools in a workspace.

mod calls;
mod edits;
mod input;
mod pace;
mod player;
mod printing;
mod tools;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::logged;
use cuecard_runtime::load::{PlayOptions, header, load};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::tap::Recorder;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use cuecard_timeline::model::Timeline;
use cuecard_timeline::script::{Schedule, Selector, TerminalStep, terminal_steps};
use tokio_util::sync::CancellationToken;

use self::player::Player;
pub use self::printing::TerminalOutput;

/// A larger file is no text to work with, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// How an agent plays.
#[derive(Debug)]
pub struct AgentOptions {
    /// Which timelines, and how.
    pub play: PlayOptions,
    /// Where it works, absolute; no path leads out of it.
    pub workspace: PathBuf,
    /// What its tools may do.
    pub policy: Policy,
    /// What its commands may inherit from.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether tools only answer what the script says, and nothing is run or changed.
    pub simulates: bool,
    /// A command that runs after each call and each edit.
    pub checkpoint: Option<String>,
    /// The socket of the executor that says when each step is due.
    pub control: Option<PathBuf>,
}

/// An agent that has read its files.
pub struct MockAgent {
    scripts: Vec<Arc<AgentScript>>,
    selector: Selector,
    options: AgentOptions,
    diagnostics: Vec<Diagnostic>,
}

/// A timeline as an agent in a terminal plays it.
#[derive(Debug)]
struct AgentScript {
    timeline: Arc<Timeline>,
    steps: Vec<TerminalStep>,
}

/// How a session went.
#[derive(Debug, Clone)]
pub struct AgentVerdict {
    /// The name of the scenario that was played, if one was chosen.
    pub scenario: Option<String>,
    /// What failed and what is doubtful, in order.
    pub findings: Vec<Diagnostic>,
    /// How many failures there were.
    pub n_failures: u64,
    /// Whether the user ended it.
    pub is_interrupted: bool,
}

impl MockAgent {
    /// Reads the files.
    ///
    /// # Errors
    /// [`StartError::Files`]: bad files, all of their errors at once.
    pub fn load(paths: &[PathBuf], options: AgentOptions) -> Result<Self, StartError> {
        let play = &options.play;
        let mut loaded = load(paths, play, |timeline| {
            let compiled = Schedule::compile(&timeline, play.is_strict);
            let steps = terminal_steps(&timeline, &compiled.schedule);
            (AgentScript { timeline, steps }, compiled.diagnostics)
        });
        // In a terminal prompts wait anyway.
        let is_kept = |found: &Diagnostic| found.code != codes::TIMELINE_TIME_PROMPT;
        loaded.diagnostics.retain(is_kept);
        if loaded.is_bad(play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let timelines = loaded.scripts.iter().map(|script| &*script.timeline);
        let selector = Selector::new(timelines, play.max_distance);
        if let Some(unknown) = selector.unknown_name(play.scenario_name.as_deref()) {
            return Err(StartError::Files(vec![unknown]));
        }
        Ok(Self {
            scripts: loaded.scripts,
            selector,
            options,
            diagnostics: loaded.diagnostics,
        })
    }

    /// What was found in the files.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Plays one session on the standard input and on `output`, to its end or until `stop` is cancelled. The trace goes
    /// to `trace`, and to the executor if there is one.
    ///
    /// # Errors
    /// Those of `trace`.
    pub async fn play(
        self,
        output: TerminalOutput,
        (run_id, trace): (&str, Box<dyn Write>),
        stop: &CancellationToken,
    ) -> io::Result<AgentVerdict> {
        let secrets = self
            .scripts
            .iter()
            .flat_map(|script| script.timeline.acp.secrets());
        let mut recorder = Recorder::new(Clock::start(), Redactor::new(secrets));
        let timelines = self.scripts.iter().map(|script| &*script.timeline);
        recorder.write_to(trace, &header(run_id, timelines))?;
        for found in &self.diagnostics {
            recorder.record(logged(found));
        }
        let mut player = Player::start(self, output, recorder).await;
        let is_interrupted = tokio::select! {
            is_interrupted = player.play() => is_interrupted,
            () = stop.cancelled() => true,
        };
        player.end(is_interrupted).await
    }
}

/// The text of a file, which is `name` to people.
fn text_file(path: &Path, name: &str) -> Result<String, String> {
    let metadata = fs::metadata(path)
        .map_err(|error| format!("`{name}` can't be read: {}", io_reason(&error)))?;
    if !metadata.is_file() {
        return Err(format!("`{name}` is not a file"));
    }
    if metadata.len() > MAX_FILE {
        return Err(format!("`{name}` is larger than {} MiB", MAX_FILE >> 20));
    }
    fs::read_to_string(path)
        .map_err(|error| format!("`{name}` can't be read: {}", io_reason(&error)))
}
