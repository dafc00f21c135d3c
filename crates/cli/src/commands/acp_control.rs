//! An agent of ACP whose client `cuecard run` has started: the run says how far it goes, and is told what it does.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use cuecard_acp::{Lead, Notice};
use cuecard_runner::timeline::{RunScript, TraceLines, load_runs};
use cuecard_runtime::load::PlayOptions;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_terminal::control::{
    CONTROL_VARIABLE, Channel, ControlFinding, FromAgent, FromExecutor,
};
use cuecard_timeline::script::EventPart;
use cuecard_trace::EventData;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// What connects the agent with the run.
pub(super) struct RunControl {
    socket: PathBuf,
    script: Arc<RunScript>,
    until: watch::Sender<usize>,
    played: mpsc::UnboundedReceiver<(usize, EventPart)>,
    told: mpsc::UnboundedReceiver<FromAgent>,
    tell: mpsc::UnboundedSender<FromAgent>,
}

impl RunControl {
    /// It, and how the agent is led; nothing if no run has started its client, or if the run can't know which scenario is
    /// meant.
    pub(super) fn of(
        environment: &[(OsString, OsString)],
        paths: &[PathBuf],
        play: &PlayOptions,
    ) -> Option<(Self, Lead)> {
        let mut variables = environment.iter();
        let (_, socket) = variables.find(|(name, _)| name == CONTROL_VARIABLE)?;
        let scripts = load_runs(paths, play).ok()?.scripts;
        let [script] = scripts.as_slice() else {
            return None;
        };
        let (until, leads) = watch::channel(0);
        let (plays, played) = mpsc::unbounded_channel();
        let (tell, told) = mpsc::unbounded_channel();
        let control = Self {
            socket: socket.into(),
            script: script.clone(),
            until,
            played,
            told,
            tell,
        };
        let lead = Lead {
            until: leads,
            played: plays,
        };
        Some((control, lead))
    }

    /// Where the trace goes that is written to `out`: the run is told of it, too.
    pub(super) fn trace(&self, out: Box<dyn Write + Send>) -> Box<dyn Write + Send> {
        let tell = self.tell.clone();
        let lines = TraceLines::new(move |event| {
            let mut line = Vec::new();
            // What the agent does not look at, the run does.
            let is_unjudged =
                matches!(&event.data, EventData::Log(log) if is_unjudged(&log.message));
            if is_unjudged {
                return;
            }
            if event.write_line(&mut line).is_ok()
                && let Ok(json) = serde_json::from_slice(&line)
            {
                let _ = tell.send(FromAgent::Trace(json));
            }
        });
        Box::new(Both { out, lines })
    }

    /// Tells the run what was found.
    pub(super) fn watcher(&self) -> impl Fn(&Notice) + Send + 'static {
        let tell = self.tell.clone();
        move |notice| {
            if let Notice::Finding(found) = notice
                && !is_unjudged(found.code.name())
            {
                let found = ControlFinding::of(found, event_of(found));
                let _ = tell.send(FromAgent::Found(found));
            }
        }
    }

    /// Follows the run to its end, or until there is none, or the agent is `over`: then it is told what is left.
    pub(super) async fn follow(mut self, over: CancellationToken) {
        if let Ok(channel) = Channel::connect(&self.socket).await {
            // A run that is gone is not told that it is.
            let _ = self.play(channel, &over).await;
        }
        // What nobody leads goes on to its end.
        self.until.send_replace(usize::MAX);
    }

    async fn play(&mut self, mut channel: Channel, over: &CancellationToken) -> io::Result<()> {
        let played = self.script.fingerprint();
        channel.send(&FromAgent::HelloAcp(played)).await?;
        let parts = self.script.parts();
        let own = self.script.acp_parts();
        let mut played = HashSet::new();
        let mut asked: Option<usize> = None;
        loop {
            if let Some(idx) = asked
                && (!own.contains(&parts[idx]) || played.contains(&parts[idx]))
            {
                // What it told stands before that it is done.
                while let Ok(told) = self.told.try_recv() {
                    channel.send(&told).await?;
                }
                channel.send(&FromAgent::Done(idx)).await?;
                asked = None;
            }
            tokio::select! {
                said = channel.next() => match said {
                    Some(FromExecutor::Play(idx)) if idx < parts.len() => {
                        let below = parts[idx].0 + 1;
                        self.until.send_modify(|until| *until = below.max(*until));
                        asked = Some(idx);
                    }
                    _ => break,
                },
                Some(told) = self.told.recv() => channel.send(&told).await?,
                Some(part) = self.played.recv() => drop(played.insert(part)),
                () = over.cancelled() => break,
            }
        }
        while let Ok(told) = self.told.try_recv() {
            channel.send(&told).await?;
        }
        Ok(())
    }
}

fn is_unjudged(text: &str) -> bool {
    text.starts_with(codes::MODEL_ASSERT_UNJUDGED.name())
}

/// The event that a finding is about: `timeline[3].llmResponse`.
fn event_of(found: &Diagnostic) -> Option<usize> {
    let (number, _) = found
        .pointer
        .as_deref()?
        .strip_prefix("timeline[")?
        .split_once(']')?;
    number.parse().ok()
}

struct Both {
    out: Box<dyn Write + Send>,
    lines: TraceLines,
}

impl Write for Both {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.out.write(bytes)?;
        self.lines.write_all(&bytes[..n_written])?;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
