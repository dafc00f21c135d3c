//! What an agent did, in the order in which it came: chunks put together to messages, updates of a call to that call.
//! Does no I/O.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cuecard_source::value::Json;

use crate::script::updates::Speaker;

/// More is not kept of one turn: an agent that floods is told so.
const MAX_ITEMS: usize = 100_000;

/// How much was said, by each [`Speaker`].
pub(super) type Said = [usize; 3];

/// What an agent did since the last prompt.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) items: Vec<SeenItem>,
    /// Where the calls are in `items`, by their ids. Those of earlier turns are known, and nowhere.
    calls: HashMap<String, Option<usize>>,
    /// Calls that only a request for permission has told of.
    asked: HashSet<String>,
    /// Counts what came.
    step: usize,
    said: Said,
    /// What is at odds with the protocol, but clear.
    doubts: Vec<String>,
}

/// Something that the agent did.
#[derive(Debug)]
pub(super) struct SeenItem {
    pub(super) at: Duration,
    /// When the last part of it came.
    pub(super) until: Duration,
    /// The step at which it came, and that at which it was over.
    pub(super) first: usize,
    pub(super) last: usize,
    /// How much each one had said by then.
    pub(super) said: Said,
    pub(super) came: Came,
}

/// What the agent did.
#[derive(Debug)]
pub(super) enum Came {
    /// Someone spoke.
    Text(Speaker, Vec<Piece<Json>>),
    Call(SeenCall),
    /// The entries of the plan.
    Plan(Json),
    /// It asked for a permission, with these parameters, and got this outcome.
    Permission {
        params: Json,
        outcome: Json,
        /// Whether it had done by then what it asked for.
        is_done: bool,
        /// The event of the request that it is in the script; else why it is not the next one there, if there is one.
        scripted: Result<usize, Option<String>>,
    },
    /// It read a file of the client's.
    Read {
        path: String,
    },
    /// It wrote a file of the client's, which had this content before.
    Write {
        path: String,
        before: Option<String>,
        content: String,
    },
    /// It ran a command in a terminal of the client's.
    Terminal {
        id: String,
        line: Vec<String>,
        cwd: Option<String>,
    },
    /// A notification of an extension.
    Notified {
        method: String,
        params: Json,
    },
}

/// A part of what someone said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece<Other> {
    Text(String),
    Other(Other),
}

/// A tool call, as far as the agent told of it.
#[derive(Debug, Default)]
pub(super) struct SeenCall {
    pub(super) id: String,
    /// All members of its updates, the latest of each.
    pub(super) now: Json,
    /// All texts that its content ever had.
    pub(super) texts: Vec<String>,
    /// The terminals that were shown in it.
    pub(super) terminals: Vec<String>,
    /// The diffs that its content has, or had last.
    pub(super) diffs: Vec<Json>,
    /// When it ended.
    pub(super) ended: Option<Duration>,
    /// Whether only a request for permission told of it: it need not have begun.
    pub(super) is_only_asked: bool,
}

impl SeenCall {
    pub(super) fn status(&self) -> &str {
        self.now["status"].as_str().unwrap_or("pending")
    }

    /// Lays an update over what is known; gives what is doubtful in it.
    fn lay_over(&mut self, update: &Json, at: Duration) -> Result<Option<String>, String> {
        let mut doubt = None;
        let (was_over, ended_as) = (self.ended.is_some(), self.status().to_owned());
        let Some(members) = update.as_object() else {
            return Ok(None);
        };
        for (key, value) in members {
            if !value.is_null() && !matches!(key.as_str(), "sessionUpdate" | "toolCallId") {
                self.now[key] = value.clone();
            }
        }
        let mut diffs = Vec::new();
        for content in update["content"].as_array().into_iter().flatten() {
            match content["type"].as_str() {
                Some("content") => {
                    let block = &content["content"];
                    if let Some(text) = block["text"]
                        .as_str()
                        .or(block["resource"]["text"].as_str())
                    {
                        self.texts.push(text.to_owned());
                    }
                }
                Some("diff") => {
                    let path = content["path"].as_str().unwrap_or_default();
                    if !path.starts_with('/') {
                        doubt = Some(format!("a diff of `{path}`, which is no absolute path"));
                    }
                    if !content["newText"].is_string() {
                        return Err("a diff without `newText`".to_owned());
                    }
                    diffs.push(content.clone());
                }
                Some("terminal") => {
                    let id = content["terminalId"]
                        .as_str()
                        .ok_or("a terminal without `terminalId`")?;
                    if !self.terminals.iter().any(|known| known == id) {
                        self.terminals.push(id.to_owned());
                    }
                }
                other => {
                    let other = other.unwrap_or("none");
                    return Err(format!("content of the unknown type `{other}`"));
                }
            }
        }
        if !diffs.is_empty() {
            self.diffs = diffs;
        }
        let is_over = match update["status"].as_str() {
            None if update["status"].is_null() => return Ok(doubt),
            Some("pending" | "in_progress") => false,
            Some("completed" | "failed") => true,
            _ => return Err(format!("the unknown status {}", update["status"])),
        };
        if was_over && !is_over {
            return Err(format!("the call `{}` goes on after its end", self.id));
        }
        if was_over && ended_as.as_str() != update["status"].as_str().unwrap_or_default() {
            return Err(format!("the call `{}` ends in two ways", self.id));
        }
        self.ended = self.ended.or(is_over.then_some(at));
        Ok(doubt)
    }
}

impl Seen {
    /// A new turn begins: calls stay known.
    pub(super) fn begin(&mut self) -> Vec<SeenItem> {
        self.calls.values_mut().for_each(|place| *place = None);
        self.said = Said::default();
        std::mem::take(&mut self.items)
    }

    /// `params.update` of a `session/update`; why it is none if the protocol has no such update.
    pub(super) fn update(&mut self, at: Duration, update: &Json) -> Result<(), String> {
        self.step += 1;
        let speaker = match update["sessionUpdate"].as_str().unwrap_or_default() {
            "user_message_chunk" => Speaker::User,
            "agent_message_chunk" => Speaker::Agent,
            "agent_thought_chunk" => Speaker::Thought,
            "tool_call" => return self.call(at, update),
            "tool_call_update" => return self.call_update(at, update),
            "plan" => {
                let entries = update["entries"].as_array();
                entries.ok_or("a plan without `entries`")?;
                return self.push(at, Came::Plan(update["entries"].clone()));
            }
            // What they say is no part of timelines.
            "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update"
            | "usage_update"
            | "notice"
            | "compaction_update"
            | "compaction_summary_chunk" => return Ok(()),
            other => return Err(format!("the unknown update `{other}`")),
        };
        self.chunk(at, speaker, &update["content"])
    }

    /// Whether an update is one that a turn consists of.
    pub(super) fn is_of_turn(update: &Json) -> bool {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let text = update["content"]["text"].as_str();
        let is_blank = text.is_some_and(|text| text.trim().is_empty());
        kind.ends_with("_chunk") && !kind.starts_with("compaction") && !is_blank
            || matches!(kind, "tool_call" | "plan")
    }

    fn chunk(&mut self, at: Duration, speaker: Speaker, content: &Json) -> Result<(), String> {
        let piece = match content["type"].as_str() {
            Some("text") => {
                let text = content["text"]
                    .as_str()
                    .ok_or("a text block without `text`")?;
                Piece::Text(text.to_owned())
            }
            Some("image" | "audio" | "resource" | "resource_link") => Piece::Other(content.clone()),
            other => {
                let other = other.unwrap_or("none");
                return Err(format!("a chunk of the unknown type `{other}`"));
            }
        };
        let step = self.step;
        let is_blank = is_blank(&piece);
        let length = length(&piece);
        let is_message = |item: &&mut SeenItem| matches!(item.came, Came::Text(..) | Came::Call(_));
        match self.items.iter_mut().rev().find(is_message) {
            Some(SeenItem {
                last,
                until,
                came: Came::Text(by, pieces),
                ..
            }) if *by == speaker => {
                if !is_blank {
                    (*last, *until) = (step, at);
                }
                join(pieces, piece);
            }
            // It says nothing.
            _ if is_blank => {}
            _ => self.push(at, Came::Text(speaker, vec![piece]))?,
        }
        self.said[speaker as usize] += length;
        Ok(())
    }

    fn call(&mut self, at: Duration, update: &Json) -> Result<(), String> {
        let id = id_of(update)?;
        if !update["title"].is_string() {
            return Err(format!("the call `{id}` has no `title`"));
        }
        if self.asked.remove(&id) {
            return self.call_update(at, update);
        }
        if self.calls.contains_key(&id) {
            return Err(format!("a second `tool_call` with the id `{id}`"));
        }
        let mut call = SeenCall {
            id: id.clone(),
            now: Json::Object(serde_json::Map::new()),
            ..SeenCall::default()
        };
        let valid = call.lay_over(update, at);
        self.calls.insert(id, Some(self.items.len()));
        self.push(at, Came::Call(call))?;
        valid.map(|doubt| self.doubts.extend(doubt))
    }

    /// The call that a request for permission is about: with some agents, that is the first thing that is told of it.
    pub(super) fn permission_of(&mut self, at: Duration, call: &Json) -> Result<(), String> {
        self.step += 1;
        let id = id_of(call)?;
        if self.calls.contains_key(&id) || !call["title"].is_string() {
            return Ok(());
        }
        self.call(at, call)?;
        if let Some(SeenItem {
            came: Came::Call(call),
            ..
        }) = self.items.last_mut()
        {
            call.is_only_asked = true;
        }
        self.asked.insert(id);
        Ok(())
    }

    /// The call with an id that the agent told of in this turn.
    pub(super) fn call_with_id(&self, id: &str) -> Option<&SeenCall> {
        let item = self.items.get(self.calls.get(id).copied().flatten()?)?;
        match &item.came {
            Came::Call(call) => Some(call),
            _ => None,
        }
    }

    /// How many calls of this turn have ended.
    pub(super) fn n_ended_calls(&self) -> usize {
        let has_ended =
            |item: &&SeenItem| matches!(&item.came, Came::Call(call) if call.ended.is_some());
        self.items.iter().filter(has_ended).count()
    }

    /// The terminals that a call of this turn has shown.
    pub(super) fn terminals_of(&self, id: &str) -> &[String] {
        self.call_with_id(id).map_or(&[], |call| &call.terminals)
    }

    /// What is at odds with the protocol, but clear.
    pub(super) fn take_doubts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.doubts)
    }

    fn call_update(&mut self, at: Duration, update: &Json) -> Result<(), String> {
        let id = id_of(update)?;
        let place = self.calls.get(&id);
        let place =
            place.ok_or_else(|| format!("an update of the call `{id}`, which never began"))?;
        // One of an earlier turn is over.
        let Some(item) = place.and_then(|place| self.items.get_mut(place)) else {
            return Ok(());
        };
        item.last = self.step;
        match &mut item.came {
            Came::Call(call) => {
                call.is_only_asked = false;
                let doubt = call.lay_over(update, at)?;
                self.doubts.extend(doubt);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Something came that is no update.
    pub(super) fn came(&mut self, at: Duration, came: Came) -> Result<(), String> {
        self.step += 1;
        self.push(at, came)
    }

    fn push(&mut self, at: Duration, came: Came) -> Result<(), String> {
        if self.items.len() >= MAX_ITEMS {
            return Err(format!("more than {MAX_ITEMS} updates in one turn"));
        }
        self.items.push(SeenItem {
            at,
            until: at,
            first: self.step,
            last: self.step,
            said: self.said,
            came,
        });
        Ok(())
    }
}

/// Puts a piece at the end of what is said.
pub(super) fn join<Other>(pieces: &mut Vec<Piece<Other>>, piece: Piece<Other>) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
        (_, piece) => pieces.push(piece),
    }
}

/// How much was said: characters that show, and one for anything else.
pub(super) fn length<Other>(piece: &Piece<Other>) -> usize {
    match piece {
        Piece::Text(text) => text.chars().filter(|c| !c.is_whitespace()).count(),
        Piece::Other(_) => 1,
    }
}

/// Whether it is text in which nothing shows.
pub(super) fn is_blank<Other>(piece: &Piece<Other>) -> bool {
    matches!(piece, Piece::Text(text) if text.trim().is_empty())
}

fn id_of(update: &Json) -> Result<String, String> {
    let id = update["toolCallId"].as_str().filter(|id| !id.is_empty());
    id.map(str::to_owned)
        .ok_or_else(|| "a tool call without `toolCallId`".to_owned())
}
