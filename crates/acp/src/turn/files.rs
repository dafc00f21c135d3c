//! Files of the client: edits, and files that the agent reads.

use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::matching::changed_lines;
use cuecard_timeline::model::{AgentEdits, FileRead};
use cuecard_trace::{EventData, FileEdit};
use serde_json::json;

use super::{OpenCall, REFUSED, Stopped, Turn};
use crate::found::shown;
use crate::rpc::RpcError;
use crate::script::content::is_same_text;
use crate::script::file_effect::FileEffect;
use crate::script::updates;

impl Turn {
    pub(super) async fn edit(
        &mut self,
        event_idx: usize,
        edit: &AgentEdits,
    ) -> Result<(), Stopped> {
        let meta = &self.meta(event_idx);
        let path = updates::absolute(&edit.path, &self.session.folder);
        self.update(event_idx, updates::edit(edit, &path, meta))
            .await;
        self.open.insert(
            event_idx,
            OpenCall {
                id: edit.call_id.clone(),
                ..OpenCall::default()
            },
        );
        let update = updates::call_update(&edit.call_id, Some("in_progress"), None, meta);
        self.update(event_idx, update).await;
        let can_write = self.agent.client_can("/fs/writeTextFile");
        if edit.has_text() && !can_write {
            self.only_shown(
                event_idx,
                "the client can't write files: the edit is only shown",
            )
            .await;
        }
        let counts = (edit.lines_added, edit.lines_removed);
        let effect =
            FileEffect::of_edit(edit.old_text.as_deref(), edit.new_text.as_deref(), counts);
        let is_refused = self.refused.contains(&event_idx);
        let written = match can_write && edit.has_text() {
            _ if is_refused => Err(REFUSED.to_owned()),
            true => match self.content_after(&path, effect).await {
                Ok(content) => self.write(&path, &content).await,
                Err(Unchanged::Unreadable(reason) | Unchanged::Another(reason)) => Err(reason),
            },
            false => Ok(()),
        };
        if self.cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        self.open.remove(&event_idx);
        // Who can't write files only shows the edit.
        if written.is_ok() && can_write {
            let old_text = edit.old_text.as_deref().unwrap_or_default();
            let new_text = edit.new_text.as_deref();
            let (added, removed) = new_text.map_or((0, 0), |new| changed_lines(old_text, new));
            self.tell(EventData::FileEdit(FileEdit {
                path: edit.path.clone(),
                lines_added: edit.lines_added.unwrap_or(added),
                lines_removed: edit.lines_removed.unwrap_or(removed),
                hash_before: None,
                hash_after: None,
            }))
            .await;
        }
        let (status, content) = match &written {
            Ok(()) => ("completed", None),
            Err(reason) => ("failed", Some(updates::text_content(reason))),
        };
        if let Err(reason) = written.as_ref()
            && !is_refused
        {
            let message = format!("`{}` was not edited: {reason}", edit.path);
            self.differs(codes::ACP_CONTENT, event_idx, message).await;
        }
        self.update(
            event_idx,
            updates::call_update(&edit.call_id, Some(status), content, meta),
        )
        .await;
        Ok(())
    }

    /// Says, where a run looks at what is done, that something isn't.
    pub(super) async fn only_shown(&mut self, event_idx: usize, message: &str) {
        if self.agent.options.lead.is_some() {
            self.note(codes::TOOL_SIMULATED, event_idx, message).await;
        }
    }

    /// Says that a call is only shown, since the client has another file; with `--strict` that fails.
    pub(super) async fn only_shown_of(&mut self, event_idx: usize, path: &str, reason: &str) {
        let message = format!("the call is only shown, and `{path}` stays as it is: {reason}");
        self.note(codes::ACP_CONTENT, event_idx, &message).await;
    }

    /// Says that something was not done, which with `--strict` fails.
    async fn note(&mut self, code: Code, event_idx: usize, message: &str) {
        let event = self.script.event(event_idx);
        let found = Diagnostic::note(code, message)
            .at(&self.script.timeline.source, event.span)
            .with_pointer(event.path.clone());
        self.find(self.agent.telling.findings.strictly_noted(found))
            .await;
    }

    /// The content of a file after a change; why it can't be changed so.
    pub(super) async fn content_after(
        &mut self,
        path: &str,
        effect: FileEffect<'_>,
    ) -> Result<String, Unchanged> {
        let before = match effect {
            FileEffect::Is(_) | FileEffect::Counts(..) | FileEffect::Changes => None,
            FileEffect::Replaces(..) | FileEffect::Appends(_) => {
                let params = json!({"sessionId": &*self.session.id, "path": path});
                match self.call_client("fs/read_text_file", &params, None).await {
                    Ok(answer) => answer["content"].as_str().map(str::to_owned),
                    Err(error) if is_missing(&error) => match effect {
                        FileEffect::Appends(_) => None,
                        _ => return Err(Unchanged::Another("there is no such file".to_owned())),
                    },
                    Err(error) => {
                        let reason = format!("it could not be read: {}", error.message);
                        return Err(Unchanged::Unreadable(reason));
                    }
                }
            }
        };
        effect.applied(before.as_deref()).ok_or_else(|| {
            let reason = "the text to replace does not occur exactly once in the file";
            Unchanged::Another(reason.to_owned())
        })
    }

    /// Writes a file through the client.
    pub(super) async fn write(&mut self, path: &str, content: &str) -> Result<(), String> {
        let params = json!({"sessionId": &*self.session.id, "path": path, "content": content});
        let answer = self.call_client("fs/write_text_file", &params, None).await;
        answer.map(drop).map_err(|error| error.message)
    }

    pub(super) async fn read_files(
        &mut self,
        event_idx: usize,
        reads: &[FileRead],
    ) -> Result<(), Stopped> {
        if !self.agent.client_can("/fs/readTextFile") {
            let message = "the client can't read files: `agentFileReads` was not played";
            let event = self.script.event(event_idx);
            let found = Diagnostic::note(codes::ACP_CONTENT, message)
                .at(&self.script.timeline.source, event.span)
                .with_help("a client says that it can with `clientCapabilities: {fs: {readTextFile: true}}`");
            self.find(self.agent.telling.findings.strictly_noted(found))
                .await;
            return Ok(());
        }
        for read in reads {
            let params = json!({"sessionId": &*self.session.id, "path": read.path});
            let hit = self.hit(event_idx, false);
            let answer = self.call_client("fs/read_text_file", &params, hit).await;
            if self.cancel.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            let path = &read.path;
            let problem = match (answer, &read.expected_content) {
                (Err(error), _) => Some(format!("`{path}` could not be read: {}", error.message)),
                (Ok(answer), expected) => match (answer["content"].as_str(), expected) {
                    (Some(found), Some(expected)) if !is_same_text(expected, found) => {
                        Some(format!(
                            "`{path}` differs: expected {}, got {}",
                            shown(&json!(expected)),
                            shown(&json!(found))
                        ))
                    }
                    _ => None,
                },
            };
            if let Some(message) = problem {
                self.differs(codes::ACP_CONTENT, event_idx, message).await;
            }
        }
        Ok(())
    }
}

/// Why a file is not changed.
#[derive(Debug)]
pub(super) enum Unchanged {
    /// The client could not read it.
    Unreadable(String),
    /// It is another file than that of the script.
    Another(String),
}

/// Whether a client says that a file is not there: by the code of the protocol, or in words, for want of it.
fn is_missing(error: &RpcError) -> bool {
    const RESOURCE_NOT_FOUND: i64 = -32002;
    let message = error.message.to_lowercase();
    let words = ["not found", "no such file", "enoent", "does not exist"];
    error.code == RESOURCE_NOT_FOUND || words.iter().any(|word| message.contains(word))
}
