//! Prompts: the segment that each opens, and its answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::matching::lack;
use cuecard_source::value::Json;
use cuecard_timeline::model::{BlockKind, EventKind, UserInput};
use cuecard_timeline::script::{
    ExpectedBlock, RequestedBlock, Wanted, block_difference, normalise,
};
use cuecard_trace::{EventData, FinalOutput, MessageReceived};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Agent;
use crate::found::{Refused, differs, shown};
use crate::peer::Answer;
use crate::rpc::{INVALID_PARAMS, INVALID_REQUEST, RpcError};
use crate::script::updates::{self, Speaker};
use crate::script::{self, AcpScript, AwaitedCall};
use crate::session::{IndexedScript, Session};
use crate::turn::{Stopped, Turn};
use crate::{Notice, TurnReport};

impl Agent {
    pub(super) async fn prompt(self: &Arc<Self>, id: Json, params: Json) {
        match self.begin(&params).await {
            Err(refused) => self.answer(&id, Err(refused), &params).await,
            Ok(begun) => {
                self.n_prompts.fetch_add(1, Ordering::Relaxed);
                let agent = self.clone();
                self.turns.spawn(async move { agent.turn(id, begun).await });
            }
        }
    }

    /// Finds the segment that a prompt opens.
    async fn begin(self: &Arc<Self>, params: &Json) -> Result<Begun, Refused> {
        let session = self.of_session(params)?;
        let blocks = params["prompt"].as_array().map_or(&[][..], Vec::as_slice);
        self.check_blocks(blocks)?;
        if session.state().turn.is_some() {
            return Err(Refused::unexpected(
                INVALID_REQUEST,
                "a prompt came while another one is being answered",
            )
            .with_help("wait for its answer, or send `session/cancel`"));
        }
        let bound = session.state().script.clone();
        let script = match bound {
            Some(script) => script,
            None => self.chosen(&session, blocks).await?,
        };
        let segment_idx = session.state().next_segment;
        let Some(segment) = script.1.segments.live.get(segment_idx) else {
            let message = format!(
                "the script of `{}` is over: it expects no prompt",
                script.1.timeline.name
            );
            return Err(Refused::unexpected(INVALID_REQUEST, message)
                .noting(format!("the prompt: {}", shown(&params["prompt"]))));
        };
        if let (Some(input), Some(entry)) = (
            segment.input,
            script.1.segments.input(&script.1.timeline, segment_idx),
        ) {
            let difference =
                prompt_difference(entry, blocks).or_else(|| lack(&entry.meta, &params["_meta"]));
            if let Some(difference) = difference {
                let expected = entry.prompt_text().unwrap_or_default();
                let is_first = segment_idx == 0
                    || (segment_idx == 1 && script.1.segments.live[0].input.is_none());
                let refused = Refused::unexpected(
                    INVALID_PARAMS,
                    "the prompt is not the one that the script expects",
                )
                .expecting(&script.1.timeline, input.event_idx, &expected)
                .noting(difference);
                if !(is_first && script.1.timeline.server.any_prompt) {
                    return Err(refused.with_help(
                        "correct the client or the scenario; `--any-prompt` takes any first prompt",
                    ));
                }
                let mut doubt = *refused.found;
                doubt.severity = Severity::Warning;
                doubt.code = codes::SELECT_DOUBT;
                self.telling.find(&session.id, doubt).await;
            }
        }
        let cancel = self.stop.child_token();
        {
            let mut state = session.state();
            state.turn = Some(cancel.clone());
            state.next_segment += 1;
        }
        let key = (script.0, session.id.clone());
        self.played().entry(key).or_default();
        self.missing_calls(&session, &script.1, script.1.bounds(segment_idx).0)
            .await;
        let told = MessageReceived {
            role: "user".to_owned(),
            content: texts(blocks).join("\n"),
        };
        self.telling
            .tell(&session.id, vec![EventData::MessageReceived(told)])
            .await;
        Ok(Begun {
            session,
            script,
            blocks: blocks.to_vec(),
            segment_idx,
            cancel,
        })
    }

    fn check_blocks(&self, blocks: &[Json]) -> Result<(), Refused> {
        for block in blocks {
            let (kind, needs) = match block["type"].as_str() {
                Some(kind @ ("image" | "audio")) => (kind, kind),
                Some("resource") => ("resource", "embeddedContext"),
                _ => continue,
            };
            if !self.can(&format!("/promptCapabilities/{needs}")) {
                let message = format!(
                    "a prompt with a block of type `{kind}`, which the agent does not advertise"
                );
                return Err(
                    Refused::of(codes::ACP_CAPABILITIES, INVALID_PARAMS, message).with_help(
                        &format!(
                            "set acp: {{capabilities: {{promptCapabilities: {{{needs}: true}}}}}}"
                        ),
                    ),
                );
            }
        }
        Ok(())
    }

    /// The scenario that is led, else the one that a first prompt means.
    async fn chosen(&self, session: &Session, blocks: &[Json]) -> Result<IndexedScript, Refused> {
        let led = match &self.options.lead {
            Some(lead) => lead.file().await,
            None => None,
        };
        let mut scripts = self.scripts.iter();
        let led = scripts.position(|it| led.as_deref() == Some(it.timeline.source.name()));
        let scenario_idx = match led {
            Some(scenario_idx) => scenario_idx,
            None => self.selected(blocks)?,
        };
        let script = (scenario_idx, self.scripts[scenario_idx].clone());
        session.state().script = Some(script.clone());
        Ok(script)
    }

    fn selected(&self, blocks: &[Json]) -> Result<usize, Refused> {
        let texts = texts(blocks);
        let joined = texts.join("\n");
        let mut prompts: Vec<&str> = texts.clone();
        prompts.push(&joined);
        let blocks = beside_text(blocks);
        let selection = self.selector.select(Wanted {
            prompts: &prompts,
            blocks: &blocks.iter().collect::<Vec<_>>(),
            ..Wanted::default()
        });
        let selection = selection.map_err(|found| Refused {
            error: RpcError::new(INVALID_PARAMS, &found.message),
            found,
        })?;
        Ok(selection.scenario_idx)
    }

    /// Tells of calls that should have come before the events from `end` on.
    pub(super) async fn missing_calls(&self, session: &Session, script: &AcpScript, end: usize) {
        let missing: Vec<(usize, AwaitedCall<'_>)> = {
            let mut state = session.state();
            let calls = script.awaited_calls(end).filter(|(event_idx, call)| {
                let is_of_connection = matches!(call, AwaitedCall::Authenticate { .. });
                !is_of_connection && !state.settled_calls.contains(event_idx)
            });
            let missing: Vec<_> = calls.collect();
            state
                .settled_calls
                .extend(missing.iter().map(|(event_idx, _)| *event_idx));
            missing
        };
        for (event_idx, call) in missing {
            let message = format!("the client did not send {}", call.words());
            self.telling
                .find(
                    &session.id,
                    differs(codes::ACP_MISSING, &script.timeline, event_idx, message),
                )
                .await;
        }
    }

    /// Plays a segment, and answers its prompt.
    async fn turn(self: Arc<Self>, id: Json, begun: Begun) {
        let Begun {
            session,
            script,
            blocks,
            segment_idx,
            cancel,
        } = begun;
        // After what a loaded session does by itself.
        let _playing = session.playing.clone().lock_owned().await;
        if !script.1.loads_sessions() {
            self.tell_history(&session, script.clone()).await;
        }
        let message_id = format!("{}-p{segment_idx}", session.id);
        for block in blocks {
            let chunk = updates::chunk(Speaker::User, block, &message_id, &Json::Null);
            self.keep(&session, chunk);
        }
        let segment = script.1.segments.live[segment_idx].clone();
        let mut turn = Turn::new(
            self.clone(),
            session.clone(),
            script.clone(),
            segment.clone(),
            cancel.clone(),
        );
        let stopped = turn.play(segment.events.clone()).await.err();
        let is_cut = self.stop.is_cancelled();
        let mut is_played = !is_cut;
        if let Some(Stopped::Cancelled) = stopped {
            is_played &= turn.may_be_cancelled();
            turn.abandon().await;
            let scripted = segment.events.clone().filter(|&event_idx| {
                let kind = &script.1.event(event_idx).kind;
                matches!(kind, EventKind::UserCancelSession { .. })
            });
            session.state().settled_calls.extend(scripted);
        }
        if !is_played && !is_cut {
            let message = "the client cancelled a prompt where the script does not cancel it: the rest was not played";
            let found = Diagnostic::error(codes::ACP_UNEXPECTED, message);
            self.telling.find(&session.id, found).await;
        }
        let answer: Answer = match stopped {
            Some(Stopped::Failed(error)) => Err(error),
            Some(Stopped::Cancelled) => Ok(json!({"stopReason": "cancelled"})),
            None => Ok(script::scripted_answer(&script.1, segment_idx)),
        };
        let reason = match &answer {
            Ok(answer) => answer["stopReason"].as_str().unwrap_or_default().to_owned(),
            Err(error) => format!("error: {}", error.message),
        };
        if !turn.said.is_empty() {
            let said = FinalOutput {
                role: "assistant".to_owned(),
                content: std::mem::take(&mut turn.said),
                format_hint: None,
            };
            self.telling
                .tell(&session.id, vec![EventData::FinalOutput(said)])
                .await;
        }
        {
            let mut state = session.state();
            state.turn = None;
            let mut told = answer
                .clone()
                .unwrap_or_else(|error| json!({"error": error.message}));
            told["sessionId"] = json!(&*session.id);
            state.answers.push(told);
        }
        if is_played {
            let key = (script.0, session.id.clone());
            self.played().entry(key).or_default().insert(segment_idx);
        }
        let mut answers = std::mem::take(&mut session.state().answers);
        let judged = (&*script.1, segment.events);
        self.telling
            .judge(&session.id, &mut answers, judged, None)
            .await;
        session.state().answers = answers;
        if self.options.lead.is_some() {
            // The run learns what was judged before the client goes on.
            self.telling.settled().await;
        }
        self.peer.answer(&id, &answer).await;
        let report = TurnReport {
            session: session.id.to_string(),
            scenario: script.1.timeline.name.clone(),
            turn: segment_idx + 1,
            reason,
        };
        self.telling.notice(Notice::Turn(report)).await;
    }
}

/// A segment that a prompt has opened.
struct Begun {
    session: Arc<Session>,
    script: IndexedScript,
    blocks: Vec<Json>,
    segment_idx: usize,
    cancel: CancellationToken,
}

/// The texts of a prompt, block by block.
fn texts(blocks: &[Json]) -> Vec<&str> {
    blocks
        .iter()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect()
}

/// What differs between a prompt and the input that the script has: its text as texts are compared, all other blocks by
/// what they are.
fn prompt_difference(input: &UserInput, came: &[Json]) -> Option<String> {
    let wanted: Vec<&str> = input
        .blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let (wanted, found) = (wanted.join("\n"), texts(came).join("\n"));
    if normalise(&wanted) != normalise(&found) {
        return Some(format!("the text that came: {}", shown(&json!(found))));
    }
    block_difference(&ExpectedBlock::beside_text(input), &beside_text(came))
}

/// The blocks of a prompt that are no text.
fn beside_text(blocks: &[Json]) -> Vec<RequestedBlock> {
    let blocks = blocks.iter().filter_map(RequestedBlock::of_content);
    blocks.collect()
}
