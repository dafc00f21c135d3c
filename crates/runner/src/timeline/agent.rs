//! The agent that plays the timeline together with the executor.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_runtime::text_file::io_reason;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes, find_code};
use cuecard_terminal::control::{Channel, ControlFinding, FromAgent, FromExecutor};
use cuecard_timeline::model::EventKind;
use cuecard_trace::{Event, EventData, MessageReceived};
use tokio::net::UnixListener;

use super::executor::Executor;
use super::{RunOptions, RunPlaces};

/// How long our own agent may take to start.
const OWN_START: Duration = Duration::from_secs(60);
/// How long another program may take to start an agent before the first prompt, and after it.
const START: Duration = Duration::from_secs(2);
const LATE_START: Duration = Duration::from_secs(10);
/// How long the client of an agent may take to send another prompt after one that was refused.
const ANOTHER_PROMPT: Duration = Duration::from_secs(10);
/// How long an agent may go on talking once the timeline is over.
const LAST_WORDS: Duration = Duration::from_secs(5);

const NO_AGENT: &str = "the program under test starts no agent that plays this timeline";

/// An agent that waits for us to say when each step is due.
pub(super) struct Agent {
    channel: Channel,
    /// Whether it speaks ACP, so that it plays what others don't.
    pub(super) speaks_acp: bool,
}

impl Agent {
    /// Where an agent can find us.
    pub(super) fn listen(places: &RunPlaces) -> Result<(UnixListener, PathBuf), Diagnostic> {
        // The path of a socket must be short.
        let path = places.temporary.with_file_name("control");
        let listener = UnixListener::bind(&path).map_err(|error| {
            let message = format!(
                "`{}` can't be listened on: {}",
                path.display(),
                io_reason(&error)
            );
            Diagnostic::error(codes::TERMINAL_NO_CONTROL, message)
        })?;
        Ok((listener, path))
    }

    /// Has the agent play a step; `false` if it is gone. It is stuck if it has refused a prompt, and no other one comes.
    pub(super) async fn play(&mut self, idx: usize, executor: &mut Executor<'_>) -> bool {
        if self.channel.send(&FromExecutor::Play(idx)).await.is_err() {
            return false;
        }
        let mut has_refused = false;
        loop {
            let said = self.before_done(idx);
            let said = match has_refused {
                true => tokio::time::timeout(ANOTHER_PROMPT, said).await,
                false => Ok(said.await),
            };
            match said {
                Ok(Some(FromAgent::Done(_))) => return true,
                Ok(Some(said)) => {
                    has_refused |= executor.is_refused_prompt(&said);
                    executor.hear(said).await;
                }
                Ok(None) => return false,
                Err(_) => {
                    executor.is_stuck = true;
                    return true;
                }
            }
        }
    }

    /// What the agent says next while it plays the step, at last that this is done; nothing if it is gone. A step may take
    /// any time: what runs in it has time limits of its own.
    async fn before_done(&mut self, idx: usize) -> Option<FromAgent> {
        loop {
            match self.channel.next().await? {
                FromAgent::Done(done) if done != idx => {}
                said => return Some(said),
            }
        }
    }

    /// The timeline is over: what the agent still has to say is taken over.
    pub(super) async fn end(mut self, executor: &mut Executor<'_>) {
        let judgements = async {
            // An agent of ACP judges a prompt once it has answered it.
            while self.speaks_acp && executor.unjudged().next().is_some() {
                match self.channel.next().await {
                    Some(said) => executor.hear(said).await,
                    None => break,
                }
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, judgements).await;
        let _ = self.channel.send(&FromExecutor::End).await;
        let last_words = async {
            while let Some(said) = self.channel.next().await {
                executor.hear(said).await;
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
    }
}

impl Executor<'_> {
    /// Takes over what the agent says.
    async fn hear(&mut self, said: FromAgent) {
        match said {
            FromAgent::Trace(event) => {
                if let Ok(event) = Event::from_json(&event) {
                    self.record_of_player(vec![event]);
                }
            }
            // What it judged is taken over from its trace.
            FromAgent::Found(found) if found.code == codes::MODEL_ASSERT_FAILED.name() => {}
            FromAgent::Found(found) => {
                let found = self.found_by_agent(found);
                match found.severity {
                    Severity::Error => self.find_with_screen(found).await,
                    _ => self.find(found).await,
                }
            }
            FromAgent::Hello(_) | FromAgent::HelloAcp(_) | FromAgent::Done(_) => {}
        }
    }

    /// Whether an agent of ACP says that it takes no such prompt.
    fn is_refused_prompt(&self, said: &FromAgent) -> bool {
        let FromAgent::Found(found) = said else {
            return false;
        };
        let events = &self.script.timeline.events;
        let event = found.event_idx.and_then(|idx| events.get(idx));
        found.code == codes::ACP_UNEXPECTED.name()
            && event.is_some_and(|event| matches!(event.kind, EventKind::UserInputs(_)))
    }

    /// The command of the stand-in for an agent.
    pub(super) fn agent_command(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> =
            vec![self.options.own_program.clone().into(), "agent".into()];
        let file = std::path::absolute(self.script.file());
        words.push(file.unwrap_or_else(|_| self.script.file().into()).into());
        let run_dir = self.places.temporary.join("agent");
        for (option, value) in [
            ("--scenario-name", OsString::from(self.script.name())),
            ("--workspace", self.places.workspace.clone().into()),
            ("--run-dir", run_dir.into()),
        ] {
            words.extend([option.into(), value]);
        }
        words.extend(self.agent_options());
        words
    }

    /// What our own agent is told of the options.
    fn agent_options(&self) -> Vec<OsString> {
        let RunOptions {
            play,
            checkpoint,
            policy,
            ..
        } = self.options;
        let mut words: Vec<OsString> = Vec::new();
        let mut option = |name: &str, value: OsString| words.extend([OsString::from(name), value]);
        for (name, value) in play.symbols.iter() {
            option("--define", format!("{name}={value}").into());
        }
        if let Some(command) = checkpoint {
            option("--checkpoint-cmd", command.into());
        }
        for path in &policy.allow_paths {
            option("--allow-path", path.into());
        }
        for (name, values) in [
            ("--allow-host", &policy.allow_hosts),
            ("--allow-command", &policy.allow_commands),
            ("--allow-tool", &policy.allow_tools),
            ("--only-hosts", &policy.only_hosts),
            ("--only-commands", &policy.only_commands),
        ] {
            for value in values {
                option(name, value.into());
            }
        }
        for (name, is_on) in [
            ("--confine", policy.confine),
            ("--read-only", policy.read_only),
            ("--strict", play.is_strict),
            ("--any-prompt", play.any_prompt),
        ] {
            if is_on {
                words.push(name.into());
            }
        }
        words
    }

    /// Waits for our own agent.
    pub(super) async fn meet_own(&mut self, listener: &UnixListener) -> Result<Agent, Diagnostic> {
        let met = self.meet(listener, OWN_START).await;
        met.ok_or_else(|| {
            let found = Diagnostic::error(codes::TERMINAL_START, NO_AGENT);
            let shown = self
                .terminal
                .as_ref()
                .map(|terminal| terminal.screen().text());
            let shown = shown.unwrap_or_default();
            found.with_note(format!("the screen:\n{}", shown.trim_end()))
        })
    }

    /// Waits for an agent that the program under test starts: not for long, as it may do so once the first prompt has come.
    pub(super) async fn meet_early(&mut self, listener: UnixListener) {
        self.agent = self.meet(&listener, START).await;
        if self.agent.is_none() {
            self.listener = Some(listener);
        }
    }

    /// Looks for an agent that has not come yet: for a while once there is a prompt for it, else only whether it is there.
    pub(super) async fn meet_late(&mut self, has_prompt: bool) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        let limit = if has_prompt {
            LATE_START
        } else {
            Duration::ZERO
        };
        self.agent = self.meet(&listener, limit).await;
        match self.agent {
            None if has_prompt => self.find_no_agent().await,
            None => self.listener = Some(listener),
            Some(_) if self.speaks_acp() => {}
            Some(_) => self.tell_not_evaluated().await,
        }
    }

    /// No agent will come.
    pub(super) async fn find_no_agent(&mut self) {
        for content in self.typed.clone() {
            let role = "user".to_owned();
            self.record(EventData::MessageReceived(MessageReceived {
                role,
                content,
            }));
        }
        let found = Diagnostic::warning(codes::TERMINAL_NO_CONTROL, NO_AGENT).with_note(
            "what the timeline says about the agent is not looked at; its times are kept",
        );
        let found = match self.other_script.take() {
            Some(difference) => found
                .with_note(format!(
                    "an agent came that plays another one: {difference}"
                ))
                .with_help("have the program give its agent the file that is run"),
            None => found
                .with_help("if the program starts `cuecard agent`, or `cuecard acp`, pass CUECARD_CONTROL on to it"),
        };
        self.find(found).await;
        self.tell_not_evaluated().await;
    }

    /// The agent that connects before `limit`; nothing if none does, or if the program ends.
    async fn meet(&mut self, listener: &UnixListener, limit: Duration) -> Option<Agent> {
        let until = self.clock.now() + limit;
        let terminal = self.terminal.as_mut()?;
        loop {
            let rest = until.saturating_sub(self.clock.now());
            let (stream, _) = tokio::select! {
                accepted = tokio::time::timeout(rest, listener.accept()) => accepted.ok()?.ok()?,
                _ = terminal.ended() => return None,
            };
            let mut channel = Channel::new(stream);
            let hello = tokio::time::timeout(START, channel.next::<FromAgent>()).await;
            let (played, speaks_acp) = match hello {
                Ok(Some(FromAgent::Hello(played))) => (played, false),
                Ok(Some(FromAgent::HelloAcp(played))) => (played, true),
                _ => continue,
            };
            let ours = self.script.fingerprint();
            match ours.difference(&played, self.script.file()) {
                None => {
                    return Some(Agent {
                        channel,
                        speaks_acp,
                    });
                }
                difference => self.other_script = difference,
            }
        }
    }

    /// A finding of the agent's, at its place.
    fn found_by_agent(&self, told: ControlFinding) -> Diagnostic {
        let code = find_code(&told.code).unwrap_or(codes::TOOL_RESULT_DIFFERS);
        let mut found = Diagnostic::error(code, told.message);
        found.severity = match told.severity.as_str() {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Note,
        };
        found.notes = told.notes;
        found.help = told.help;
        match told.event_idx {
            Some(event_idx) if event_idx < self.script.timeline.events.len() => {
                self.placed(found, event_idx)
            }
            _ => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixStream;

    use super::*;

    #[test]
    fn a_step_may_take_as_long_as_its_command() {
        // Without timers: whatever had a limit would panic.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (ours, theirs) = UnixStream::pair().expect("a pair");
            let mut agent = Agent {
                channel: Channel::new(ours),
                speaks_acp: false,
            };
            let mut channel = Channel::new(theirs);
            let playing = async {
                for done in [6, 7] {
                    let done = FromAgent::Done(done);
                    channel.send(&done).await.expect("it is there");
                }
            };
            let (said, ()) = tokio::join!(agent.before_done(7), playing);
            assert!(matches!(said, Some(FromAgent::Done(7))), "{said:?}");
            drop(channel);
            assert!(agent.before_done(8).await.is_none());
        });
    }
}
