//! A prompt: what is sent, what comes of it, and what that is compared with.

use std::ops::Range;
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::Json;
use cuecard_timeline::model::{Block, BlockKind, EventKind, TimelineEvent, UserInput};
use cuecard_timeline::script::{block_text, content_block};
use cuecard_trace::{EventData, FinalOutput, MessageReceived};
use serde_json::json;

use super::compare::{Compared, Comparing, Difference};
use super::conversation::Decision;
use super::driver::Tallies;
use super::expected::{Expected, ExpectedItem, TurnEnd, Wanted};
use super::folder::{Awaited, awaited_checks};
use super::seen::{Came, SeenItem};
use super::talk::{Cancelling, Stopped, Talk};
use super::{answer, told};
use crate::found::differs;
use crate::peer::Answer;
use crate::script::content;
use crate::script::updates::{Speaker, with_meta};
use crate::verdict::{Notice, TurnReport};

impl Talk {
    /// Sends a prompt, and sees what comes of it.
    pub(super) async fn turn(&mut self, segment_idx: usize) -> Result<(), Stopped> {
        let script = self.script.1.clone();
        let timeline = &script.timeline;
        let segment = &script.segments.live[segment_idx];
        let input = script.segments.input(timeline, segment_idx);
        let is_unopened = input.is_none() && script.loads_sessions();
        let event_idx = segment.input.map(|input| input.event_idx);
        let clock = self.driver.telling.clock;
        let due = Duration::from_millis(self.driver.options.play.speed.after(0, segment.prompt_ms));
        clock.sleep_until(self.began + due).await;
        if let Some(input) = input {
            let event_idx = event_idx.unwrap_or_default();
            self.check_blocks(event_idx, input).await?;
        }
        let mut plan = std::mem::take(&mut self.plan);
        // What an agent does by itself follows the history without a gap.
        let has_history = segment_idx == 0 && (is_unopened || !script.loads_sessions());
        let of_folder = (&*script, &*self.folder.clone());
        let expected = Expected::of_turn(of_folder, segment.events.clone(), has_history, &mut plan);
        self.plan = plan;
        if !is_unopened {
            self.plan(&expected, &segment.events);
        }
        let answer = match is_unopened {
            true => self.unprompted(&expected).await,
            false => self.prompt(segment_idx, &expected).await,
        };
        let seen = self.end_turn();
        let is_cut = answer.is_err() || matches!(expected.end, TurnEnd::Cancel { .. });
        let mut compared = self.compare(&expected, &seen, is_cut);
        if self.driver.options.offers_tools {
            let awaited = std::mem::take(&mut self.conversation.state().awaited.files);
            let files = (&*self.planned, &*awaited);
            let told = (&*seen, &compared, is_cut);
            let found = self
                .session_folder
                .look(&script, &segment.events, files, told);
            compared.differences.extend(found);
            self.tell_unseen_command(&expected, &seen, &compared).await;
        }
        if !self.has_thoughts && self.missed_thoughts.is_none() {
            let thought =
                |item: &&ExpectedItem<'_>| matches!(item.wanted, Wanted::Text(Speaker::Thought, _));
            let missed = expected.items.iter().find(thought);
            self.missed_thoughts = missed.map(|item| item.event_idx);
        }
        if answer.is_err() {
            // Nobody knows what would have come yet.
            compared.differences.retain(|found| !found.is_missing);
        }
        let printed = |id: &str| self.conversation.terminals.printed(id);
        let (events, said) = told::events(&expected, &seen, &compared.pairs, printed);
        let telling = self.driver.telling.clone();
        for (at, event) in events {
            telling.tell_at(&self.session, at, vec![event]).await;
        }
        if !said.is_empty() {
            let said = EventData::FinalOutput(FinalOutput {
                role: "assistant".to_owned(),
                content: said,
                format_hint: None,
            });
            telling.tell(&self.session, vec![said]).await;
        }
        let what = format!("prompt {}", segment_idx + 1);
        self.tell_differences(compared, &what).await;
        let answer = answer?;
        if !is_unopened {
            let found = answer::difference(&script, segment_idx, &expected.end, &answer);
            if let Some((code, event_idx, message)) = found {
                self.differs(code, event_idx, message).await;
            }
        }
        let reason = match &answer {
            Ok(answer) => answer["stopReason"].as_str().unwrap_or("none").to_owned(),
            Err(error) => format!("error: {}", error.message),
        };
        let mut told = answer.unwrap_or_else(|error| json!({"error": error.message}));
        told["sessionId"] = json!(&*self.session);
        self.answers.push(told);
        self.judge(segment.events.clone()).await;
        let key = (self.script.0, self.session.clone());
        let insert =
            |tallies: &mut Tallies| tallies.played.entry(key).or_default().insert(segment_idx);
        insert(&mut self.driver.tallies());
        let report = TurnReport {
            session: self.session.to_string(),
            scenario: timeline.name.clone(),
            turn: segment_idx + 1,
            reason,
        };
        telling.notice(Notice::Turn(report)).await;
        Ok(())
    }

    /// Sends the prompt of a segment, and waits for its answer.
    async fn prompt(
        &mut self,
        segment_idx: usize,
        expected: &Expected<'_>,
    ) -> Result<Answer, Stopped> {
        let script = self.script.1.clone();
        let timeline = &script.timeline;
        let segment = &script.segments.live[segment_idx];
        let event_idx = segment.input.map(|input| input.event_idx);
        let (blocks, text, meta) = match script.segments.input(timeline, segment_idx) {
            Some(input) => {
                let texts: Vec<String> = input.blocks.iter().map(block_text).collect();
                let is_more = |block: &Block| !matches!(block.kind, BlockKind::Text(_));
                self.prompt = (
                    input.prompt_text().unwrap_or_default(),
                    input.blocks.iter().any(is_more),
                );
                let blocks: Vec<Json> = input.blocks.iter().filter_map(content_block).collect();
                (blocks, texts.join("\n"), &input.meta)
            }
            None => {
                let text = timeline.initial_prompt.as_ref().unwrap_or(&timeline.name);
                self.prompt = (text.clone(), false);
                (vec![content::text(text)], text.clone(), &Json::Null)
            }
        };
        self.begin_turn(expected, &segment.events, false).await;
        let told = EventData::MessageReceived(MessageReceived {
            role: "user".to_owned(),
            content: text,
        });
        self.driver.telling.tell(&self.session, vec![told]).await;
        self.driver.tallies().n_prompts += 1;
        self.cancelled_at = None;
        let params = json!({"sessionId": &*self.session, "prompt": blocks});
        let params = with_meta(params, meta);
        let folder = self.folder.clone();
        let prompt = self.prompt.clone();
        let is_reached = |items: &[SeenItem]| {
            let comparing = Comparing {
                folder: &folder,
                printed: &|_| None,
                exit_code: &|_| None,
                prompt: (&prompt.0, prompt.1),
                is_without_thoughts: true,
                has_plans: false,
                is_cut: true,
                cancelled_at: None,
            };
            let compared = comparing.compare(expected, items);
            !compared.differences.iter().any(|found| found.is_missing)
        };
        let cancel = match expected.end {
            TurnEnd::Cancel { event_idx, at_ms } => {
                let after = self
                    .driver
                    .options
                    .play
                    .speed
                    .after(segment.prompt_ms, at_ms);
                let due = self.driver.telling.clock.now() + Duration::from_millis(after);
                Some(Cancelling {
                    event_idx,
                    due,
                    is_reached: &is_reached,
                    is_sent: false,
                })
            }
            _ => None,
        };
        self.cancellable_call("session/prompt", &params, event_idx, cancel)
            .await
    }

    /// Waits for what an agent does by itself after a session was loaded.
    async fn unprompted(&mut self, expected: &Expected<'_>) -> Result<Answer, Stopped> {
        let conversation = self.conversation.clone();
        let clock = self.driver.telling.clock;
        let mut heard = clock.now();
        loop {
            let changed = conversation.changed.notified();
            let is_reached = {
                let state = conversation.state();
                let compared = self.compare(expected, &state.seen.items, true);
                if state.is_over {
                    return Err(Stopped::Gone);
                }
                !compared.differences.iter().any(|found| found.is_missing)
            };
            if is_reached || clock.now() >= heard + self.driver.options.patience {
                // What is missing is told when it is compared.
                return Ok(Ok(json!({})));
            }
            tokio::select! {
                () = changed => heard = clock.now(),
                () = clock.sleep_until(heard + self.driver.options.patience) => {}
            }
        }
    }

    /// Refuses a prompt that the agent does not take.
    async fn check_blocks(&self, event_idx: usize, input: &UserInput) -> Result<(), Stopped> {
        for block in &input.blocks {
            let needs = match &block.kind {
                BlockKind::Image(_) => "image",
                BlockKind::Audio(_) => "audio",
                BlockKind::Resource { .. } => "embeddedContext",
                _ => continue,
            };
            if self.agent["agentCapabilities"]["promptCapabilities"][needs] != true {
                let message = format!(
                    "the agent takes no block of type `{}`: it does not advertise `promptCapabilities.{needs}`",
                    block.kind.as_str()
                );
                self.differs(codes::ACP_CAPABILITIES, event_idx, message)
                    .await;
                return Err(Stopped::Told);
            }
        }
        Ok(())
    }

    /// A turn begins, of which this is expected; one that `goes_on` does not end with an answer.
    pub(super) async fn begin_turn(
        &self,
        expected: &Expected<'_>,
        events: &Range<usize>,
        goes_on: bool,
    ) {
        let decisions = expected.items.iter().filter_map(|item| match &item.wanted {
            Wanted::Permission(request, call_idx) => {
                let mut files = self.planned.iter();
                Some(Decision {
                    event_idx: item.event_idx,
                    request: (*request).clone(),
                    call: call_idx.map(|idx| (self.script.1.clone(), idx)),
                    permitted: files.find_map(|file| file.permitted(item.event_idx)),
                })
            }
            _ => None,
        });
        let contents = expected.items.iter().filter_map(|item| match &item.wanted {
            Wanted::Read(read) => Some((read.path.clone(), read.expected_content.clone()?)),
            _ => None,
        });
        let (decisions, contents) = (decisions.collect(), contents.collect());
        let files = self.planned.iter().filter(|file| file.may_change);
        let awaited = Awaited {
            files: files.cloned().collect(),
            checks: match self.driver.options.offers_tools {
                true => awaited_checks(&self.script.1, events),
                false => Vec::new(),
            },
        };
        self.conversation
            .begin_turn(decisions, contents, awaited, goes_on);
        self.conversation.look().await;
    }

    /// Settles which files a turn is to change, before it begins.
    pub(super) fn plan(&mut self, expected: &Expected<'_>, events: &Range<usize>) {
        if self.driver.options.offers_tools {
            self.planned = self.session_folder.plan(&self.script.1, expected, events);
        }
    }

    /// What came in the turn, which is over.
    pub(super) fn end_turn(&mut self) -> Vec<SeenItem> {
        let mut state = self.conversation.state();
        state.is_in_turn = false;
        let seen = state.seen.begin();
        self.has_thoughts |= seen
            .iter()
            .any(|item| matches!(item.came, Came::Text(Speaker::Thought, _)));
        seen
    }

    pub(super) fn compare(
        &self,
        expected: &Expected<'_>,
        seen: &[SeenItem],
        is_cut: bool,
    ) -> Compared {
        let terminals = &self.conversation.terminals;
        let comparing = Comparing {
            folder: &self.folder,
            printed: &|id| terminals.printed(id),
            exit_code: &|id| terminals.exit_code(id),
            prompt: (&self.prompt.0, self.prompt.1),
            cancelled_at: self.cancelled_at.filter(|_| is_cut),
            has_plans: self
                .script
                .1
                .timeline
                .events
                .iter()
                .any(|event| event.kind.plans()),
            is_without_thoughts: !(self.wants_thoughts() && self.has_thoughts),
            is_cut,
        };
        comparing.compare(expected, seen)
    }

    /// Notes the first command that ran in no terminal of ours, if no `assert` looks at what it did.
    async fn tell_unseen_command(
        &mut self,
        expected: &Expected<'_>,
        seen: &[SeenItem],
        compared: &Compared,
    ) {
        let events = &self.script.1.timeline.events;
        let is_assert = |event: &TimelineEvent| matches!(event.kind, EventKind::Assert(_));
        if self.is_unseen_told || events.iter().any(is_assert) {
            return;
        }
        let unseen = compared.pairs.iter().find_map(|(wanted, came)| {
            let (item, came) = (&expected.items[*wanted], &seen[*came].came);
            let (Wanted::Call(call, _), Came::Call(came)) = (&item.wanted, came) else {
                return None;
            };
            let is_unseen = call.tool == "runCmd" && came.terminals.is_empty();
            is_unseen.then_some(item.event_idx)
        });
        if let Some(event_idx) = unseen {
            self.is_unseen_told = true;
            let message = "the agent ran this in no terminal of the client: only what it reports was compared";
            let mut found = differs(
                codes::ACP_CONTENT,
                &self.script.1.timeline,
                event_idx,
                message,
            );
            found.severity = Severity::Note;
            let help = "add an `assert` of what the command changes";
            self.found(found.with_help(help)).await;
        }
    }

    pub(super) async fn tell_differences(&self, compared: Compared, what: &str) {
        let doubts = self.conversation.state().seen.take_doubts();
        for doubt in doubts {
            let message = format!("the agent sent {doubt}");
            self.found(Diagnostic::warning(codes::ACP_UNEXPECTED, message))
                .await;
        }
        for found in one_for_each_call(compared.differences) {
            let Difference {
                code,
                event_idx,
                message,
                notes,
                is_doubt,
                ..
            } = found;
            let mut found = match event_idx {
                Some(event_idx) => differs(code, &self.script.1.timeline, event_idx, message),
                None => Diagnostic::error(code, message)
                    .with_note(format!("in {what} of `{}`", self.script.1.timeline.name)),
            };
            if is_doubt {
                found.severity = Severity::Warning;
            }
            let found = notes.into_iter().fold(found, Diagnostic::with_note);
            self.found(found).await;
        }
    }

    fn wants_thoughts(&self) -> bool {
        let events = &self.script.1.timeline.events;
        events.iter().any(|event| event.kind.thinks())
    }
}

/// The differences, with one for the result of each call: status, result and output of a command are one mistake.
fn one_for_each_call(differences: Vec<Difference>) -> Vec<Difference> {
    let mut all: Vec<Difference> = Vec::new();
    for found in differences {
        let is_of_result = found.code == codes::TOOL_RESULT_DIFFERS && found.event_idx.is_some();
        let is_same = |it: &&mut Difference| {
            it.code == found.code
                && it.event_idx == found.event_idx
                && it.is_doubt == found.is_doubt
        };
        match all.iter_mut().find(is_same).filter(|_| is_of_result) {
            Some(first) => {
                first.notes.push(format!("also: {}", found.message));
                first.notes.extend(found.notes);
            }
            None => all.push(found),
        }
    }
    all
}
