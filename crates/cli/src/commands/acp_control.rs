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
    scripts: Vec<Arc<RunScript>>,
    file: watch::Sender<Option<String>>,
    until: watch::Sender<usize>,
    played: mpsc::UnboundedReceiver<(usize, EventPart)>,
    told: mpsc::UnboundedReceiver<FromAgent>,
    tell: mpsc::UnboundedSender<FromAgent>,
}

impl RunControl {
    /// It, and how the agent is led; nothing if no run has started its client.
    pub(super) fn of(
        environment: &[(OsString, OsString)],
        paths: &[PathBuf],
        play: &PlayOptions,
    ) -> Option<(Self, Lead)> {
        let mut variables = environment.iter();
        let (_, socket) = variables.find(|(name, _)| name == CONTROL_VARIABLE)?;
        let scripts = load_runs(paths, play).ok()?.scripts;
        let (file, led) = watch::channel(None);
        let (until, leads) = watch::channel(0);
        let (plays, played) = mpsc::unbounded_channel();
        let (tell, told) = mpsc::unbounded_channel();
        let control = Self {
            socket: socket.into(),
            scripts,
            file,
            until,
            played,
            told,
            tell,
        };
        let lead = Lead {
            file: led,
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
        for script in self.scripts.clone() {
            // A run that is gone is not told that it is.
            if !matches!(self.play(&script, &over).await, Ok(false)) {
                break;
            }
        }
        // What nobody leads goes on to its end.
        self.until.send_replace(usize::MAX);
    }

    /// Plays what the run says; `false` if it sends away who plays this script.
    async fn play(&mut self, script: &RunScript, over: &CancellationToken) -> io::Result<bool> {
        let mut channel = Channel::connect(&self.socket).await?;
        let hello = FromAgent::HelloAcp(script.fingerprint());
        channel.send(&hello).await?;
        let parts = script.parts();
        let own = script.acp_parts();
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
            let is_taken = self.file.borrow().is_some();
            tokio::select! {
                said = channel.next() => match said {
                    Some(FromExecutor::Play(idx)) if idx < parts.len() => {
                        let below = parts[idx].0 + 1;
                        self.until.send_modify(|until| *until = below.max(*until));
                        asked = Some(idx);
                        self.file.send_replace(Some(script.file().to_owned()));
                    }
                    None if !is_taken => return Ok(false),
                    _ => break,
                },
                Some(told) = self.told.recv(), if is_taken => channel.send(&told).await?,
                Some(part) = self.played.recv() => drop(played.insert(part)),
                () = over.cancelled() => break,
            }
        }
        while let Ok(told) = self.told.try_recv() {
            channel.send(&told).await?;
        }
        Ok(true)
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

#[cfg(test)]
mod tests {
    use cuecard_testing::scratch::Scratch;
    use tokio::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn timelines_are_offered_until_the_run_takes_one() {
        let scratch = Scratch::new("/bin/sh".as_ref()).expect("a folder");
        let socket = scratch.work().join("control");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let paths = ["a", "b", "c"].map(|name| scratch.work().join(format!("{name}.yaml")));
        for path in &paths {
            let timeline = format!(
                "name: n\ntimeline:\n  - userInputs: [[0, {}]]\n  - llmResponse: [{{assistant: [[0, Hi]]}}]\n",
                path.display()
            );
            std::fs::write(path, timeline).expect("written");
        }
        let environment = [(CONTROL_VARIABLE.into(), socket.into())];
        let control = RunControl::of(&environment, &paths, &PlayOptions::default());
        let (control, lead) = control.expect("there is a run");
        let taken = load_runs(&paths[1..2], &PlayOptions::default()).expect("a timeline");
        let taken = taken.scripts[0].fingerprint();
        let over = CancellationToken::new();
        let run = async {
            let mut n_refused = 0;
            loop {
                let (stream, _) = listener.accept().await.expect("an agent");
                let mut channel = Channel::new(stream);
                if channel.next().await == Some(FromAgent::HelloAcp(taken.clone())) {
                    channel
                        .send(&FromExecutor::Play(0))
                        .await
                        .expect("it is there");
                    let done = channel.next::<FromAgent>().await;
                    over.cancel();
                    return (n_refused, done);
                }
                n_refused += 1;
            }
        };
        let (told, ()) = tokio::join!(run, control.follow(over.clone()));
        assert_eq!(told, (1, Some(FromAgent::Done(0))));
        let led = lead.file.borrow().clone();
        assert_eq!(led, Some(paths[1].display().to_string()));
        assert_eq!(*lead.until.borrow(), usize::MAX);
    }
}
