//! What the user does: types, edits files, runs commands.

use std::time::Duration;

use cuecard_runtime::process::INHERITED;
use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Text, cut};
use cuecard_terminal::Terminal;
use cuecard_timeline::model::keys::{Key, Keystroke, Modifiers, read_keys};
use cuecard_timeline::model::{CommandExpectation, UserCommand, UserInput};
use cuecard_timeline::profiles::shell;
use cuecard_timeline::script::command_line;
use cuecard_trace::{EventData, Log, MessageReceived, Terminal as TerminalEvent};
use cuecard_workspace::checks;
use cuecard_workspace::commands::{CommandOutcome, CommandRequest, DEFAULT_MAX_OUTPUT, run};
use cuecard_workspace::git::Git;

use super::executor::Executor;

/// How long a command of the user's may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);
/// How long an agent must show a prompt unchanged before it is sent.
const SHOWN_FOR: Duration = Duration::from_millis(200);
/// How long it is waited for a prompt to be shown.
const SHOWN_TIMEOUT: Duration = Duration::from_secs(30);

impl Executor<'_> {
    /// Types an input: a prompt and Enter, or keys.
    pub(super) async fn type_input(&mut self, event_idx: usize, input: &UserInput) {
        let text = input.prompt_text().unwrap_or_default();
        let is_prompt = input.target.is_none();
        let what = match is_prompt {
            true => format!("typed {:?}", cut(&text, 80)),
            false => format!("pressed {}", cut(&text, 80)),
        };
        if self.program_has_ended() {
            let message = format!("the program has ended: {what} reaches nobody");
            return self.fails(codes::TERMINAL_ENDED, event_idx, message).await;
        }
        if is_prompt && self.model.is_none() && self.simulation.is_none() && !self.has_agent() {
            self.record(EventData::MessageReceived(MessageReceived {
                role: "user".to_owned(),
                content: text.clone(),
            }));
        }
        match is_prompt {
            true => self.typed.push(text.clone()),
            false => self.record_keys(&format!("pressed {text}")),
        }
        if let Some(terminal) = &self.terminal {
            if is_prompt {
                match &self.options.which.preset {
                    Some(preset) => {
                        self.type_and_see(terminal, &text).await;
                        terminal.press(&preset.submit).await;
                    }
                    None => {
                        terminal.type_text(&text);
                        let enter = Keystroke::Key(Key::Byte(b'\r'), Modifiers::default());
                        terminal.press(&[enter]).await;
                    }
                }
            } else {
                let keys = read_keys(&text).unwrap_or_default();
                terminal.press(&keys).await;
            }
        }
        self.add_event(event_idx, what, None);
    }

    /// Types a text and waits until the program shows it: agents take keys that come with a text for a part of it.
    async fn type_and_see(&self, terminal: &Terminal, text: &str) {
        let before = terminal.screen().text();
        let until = self.clock.now() + SHOWN_TIMEOUT;
        terminal.type_text(text);
        while self.clock.now() < until {
            let is_still = terminal.settled(SHOWN_FOR).await;
            if is_still && terminal.screen().text() != before {
                return;
            }
        }
    }

    /// Presses what interrupts the program.
    pub(super) async fn interrupt(&mut self, event_idx: usize) {
        let control_c = read_keys("<C-c>").unwrap_or_default();
        let keys = self
            .options
            .which
            .preset
            .as_ref()
            .map(|preset| &preset.interrupt);
        if let Some(terminal) = &self.terminal {
            terminal.press(keys.unwrap_or(&control_c)).await;
        }
        self.record_keys("interrupted");
        self.add_event(event_idx, "interrupted".to_owned(), None);
    }

    /// Has the trace say which keys were pressed.
    fn record_keys(&mut self, message: &str) {
        self.record(EventData::Log(Log {
            level: "info".to_owned(),
            message: message.to_owned(),
            stream: None,
        }));
    }

    /// Applies a patch that stands next to the timeline, and commits it if it has a message for that.
    pub(super) async fn patch(
        &mut self,
        event_idx: usize,
        file: &std::path::Path,
        commit: Option<&str>,
    ) {
        let environment = self.command_environment();
        let git = Git {
            root: &self.places.workspace,
            environment: &environment,
        };
        let applied = async {
            git.apply(&super::beside(&self.script.timeline, file)?)
                .await?;
            match commit {
                Some(message) => git.commit_all(message).await,
                None => Ok(()),
            }
        };
        let applied = applied.await;
        let what = format!("applied {}", file.display());
        match applied {
            Ok(()) => self.add_event(event_idx, what, None),
            Err(why) => {
                let message = format!("`{}` can't be applied: {why}", file.display());
                self.fails(codes::TERMINAL_PATCH, event_idx, message).await;
            }
        }
    }

    /// Runs a command of the user's.
    pub(super) async fn command(&mut self, event_idx: usize, command: &UserCommand) {
        let line = command_line(command);
        let outcome = self.run_command(command).await;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(why) => {
                self.last_command = None;
                let message = format!("`{}` can't be run: {why}", cut(&line, 80));
                return self
                    .fails(codes::TERMINAL_COMMAND, event_idx, message)
                    .await;
            }
        };
        let code = outcome.exit_code;
        self.record(EventData::Terminal(TerminalEvent {
            command: line.clone(),
            text: format!("{}{}", outcome.stdout, outcome.stderr),
            exit_code: code,
        }));
        let how = match code {
            Some(code) => format!("ran {}: exit code {code}", cut(&line, 80)),
            None => format!(
                "ran {}: timed out after {} s",
                cut(&line, 80),
                COMMAND_TIMEOUT.as_secs()
            ),
        };
        let is_judged = command
            .expect
            .as_ref()
            .is_some_and(|expect| expect.exit_code.is_some());
        let is_unexpected = code != Some(0) && !is_judged && !self.is_code_asserted(event_idx);
        self.add_event(event_idx, how, is_unexpected.then_some(false));
        if let Some(expected) = &command.expect {
            self.expect_of_command(event_idx, expected, &outcome).await;
        }
        if is_unexpected {
            let message = match code {
                Some(code) => format!(
                    "`{}` ended with exit code {code}, and nothing says that it may",
                    cut(&line, 80)
                ),
                None => format!(
                    "`{}` timed out after {} s",
                    cut(&line, 80),
                    COMMAND_TIMEOUT.as_secs()
                ),
            };
            let found = self.finding(codes::TERMINAL_COMMAND, event_idx, message);
            let found = found.with_note(format!(
                "output: {}",
                cut(format!("{}{}", outcome.stdout, outcome.stderr).trim(), 400)
            ));
            let found = found.with_help("say which exit code is right with `expect: {exitCode: …}` or `assert: {exitCode: …}`");
            self.find(found).await;
        }
        self.last_command = Some(outcome);
    }

    async fn run_command(&self, command: &UserCommand) -> Result<CommandOutcome, String> {
        let script = match &command.shell_line {
            Some(line) => line.clone(),
            None => {
                let under_test = self.program.first().map(String::as_str).unwrap_or_default();
                let program = command.program.as_deref().unwrap_or(under_test);
                let words = std::iter::once(program).chain(command.args.iter().map(String::as_str));
                shell::join(words)
            }
        };
        let bound = self.policy.command(&Text::from(script.as_str()));
        let bound = bound.map_err(|refusal| refusal.message)?;
        let folder = command.cwd.clone().unwrap_or_default();
        let folder = self.places.workspace.join(folder);
        let cwd = cuecard_runtime::policy::inside(&self.places.workspace, &folder);
        let mut env = bound.env;
        let own = command.env.iter();
        env.extend(own.map(|(name, value)| (name.into(), value.into())));
        let request = CommandRequest {
            command: bound.script,
            cwd: cwd.map_err(|why| format!("`{}` {why}", folder.display()))?,
            env: [self.program_environment(), env].concat(),
            timeout: COMMAND_TIMEOUT,
            max_output: DEFAULT_MAX_OUTPUT,
        };
        run(request, &[]).await.map_err(|error| error.to_string())
    }

    /// What the command of an event was expected to do.
    async fn expect_of_command(
        &mut self,
        event_idx: usize,
        expected: &CommandExpectation,
        outcome: &CommandOutcome,
    ) {
        let mut seen: Vec<(String, bool, String)> = Vec::new();
        if let Some(wanted) = expected.exit_code {
            let code = outcome.exit_code.map(i64::from);
            let told = code.map_or("none: it timed out".to_owned(), |code| code.to_string());
            seen.push((
                "expect.exitCode".into(),
                code == Some(wanted),
                format!("the exit code is {told}"),
            ));
        }
        for (key, wanted, printed) in [
            ("stdoutContains", &expected.stdout, &outcome.stdout),
            ("stderrContains", &expected.stderr, &outcome.stderr),
        ] {
            for (idx, wanted) in wanted.iter().enumerate() {
                let told = format!("{wanted:?} in: {}", cut(printed.trim(), 300));
                seen.push((
                    format!("expect.{key}[{idx}]"),
                    printed.contains(wanted.as_str()),
                    told,
                ));
            }
        }
        for check in &expected.files {
            let made = checks::check(
                &check.check,
                &self.places.workspace,
                &self.command_environment(),
            )
            .await;
            if let Some(made) = made {
                seen.push((format!("expect.{}", check.key), made.holds, made.evidence));
            }
        }
        for (key, holds, told) in seen {
            self.judged(event_idx, &key, holds, &told, None).await;
        }
    }

    /// What `git` inherits from.
    pub(super) fn command_environment(&self) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        let inherited = self.options.environment.iter();
        inherited
            .filter(|(name, _)| INHERITED.iter().any(|known| name == known))
            .cloned()
            .collect()
    }
}
