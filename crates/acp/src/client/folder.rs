//! What an agent really did in the folder of its session, whoever wrote: it is looked at after each turn.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::codes;
use cuecard_source::matching::changed_lines;
use cuecard_timeline::model::{EventKind, LocatedCheck, ToolStatus};
use cuecard_workspace::changes::FolderChanges;

use super::compare::{Compared, Difference, quoted};
use super::expected::{Expected, Wanted};
use super::files::text_of;
use super::seen::{Came, SeenItem};
use crate::script::AcpScript;
use crate::script::content::is_same_text;
use crate::script::file_effect::{FileEffect, changes_files, may_change_any_file};
use crate::script::updates::absolute;

/// The folder of a session.
#[derive(Debug, Default)]
pub(super) struct SessionFolder {
    pub(super) root: PathBuf,
    /// All that changes in a folder of our own. Into one of the user's others write, too.
    changes: Option<FolderChanges>,
    /// The hidden files that it had before the agent came: agents keep files of their own there.
    hidden: HashSet<String>,
    /// Whether a command of an earlier turn may still run.
    runs_on: bool,
    /// Whether the last turn was cut off: what it began may still be done.
    was_cut: bool,
}

/// What is to be seen in the midst of a turn, since more follows that may change it.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    pub(super) files: Vec<PlannedFile>,
    pub(super) checks: Vec<AwaitedCheck>,
}

/// A check that is to hold once so many calls of its turn have ended: those that are to fail need not come.
#[derive(Debug)]
pub(super) struct AwaitedCheck {
    pub(super) event_idx: usize,
    pub(super) n_calls: usize,
    pub(super) check: LocatedCheck,
}

/// The checks among the events of a turn that changes of files follow.
pub(super) fn awaited_checks(script: &AcpScript, events: &Range<usize>) -> Vec<AwaitedCheck> {
    let mut checks = Vec::new();
    let mut n_calls = 0;
    for event_idx in events.clone() {
        let mut below = script.timeline.events[event_idx..events.end].iter();
        match &script.event(event_idx).kind {
            EventKind::AgentEdits(_) => n_calls += 1,
            EventKind::ToolUse(call) if call.status == ToolStatus::Ok => n_calls += 1,
            EventKind::Assert(assert) if below.any(|event| changes_files(&event.kind)) => {
                checks.extend(assert.checks.iter().map(|check| AwaitedCheck {
                    event_idx,
                    n_calls,
                    check: check.clone(),
                }));
            }
            _ => {}
        }
    }
    checks
}

/// A file that a turn is scripted to change.
#[derive(Debug, Clone)]
pub(super) struct PlannedFile {
    path: String,
    /// The last event that changes it.
    event_idx: usize,
    before: Option<String>,
    /// What it is to be like.
    end: FileState,
    /// All texts that it has on the way; `None` if they are not known.
    texts: Option<Vec<String>>,
    /// Whether a command that follows may change it again: then it is enough if it was ever like this.
    pub(super) may_change: bool,
    /// Whether a call that changes it goes on.
    is_open: bool,
    /// What it is only to have once a permission was given, by the event of that.
    permitted: Vec<(usize, String)>,
}

/// What a file is to be like.
#[derive(Debug, Clone)]
enum FileState {
    /// It has this content, or is not there.
    Is(Option<String>),
    /// It has another content.
    IsNot(String),
    Contains(String),
    EndsWith(String),
    /// So many lines were added and removed since it had this content.
    Lines(String, Option<u64>, Option<u64>),
    Any,
}

impl FileState {
    fn is_met(&self, found: Option<&str>) -> bool {
        match (self, found) {
            (Self::Is(Some(wanted)), Some(found)) => is_same_text(wanted, found),
            (Self::Is(wanted), found) => wanted.is_none() && found.is_none(),
            (Self::IsNot(other), found) => !found.is_some_and(|found| is_same_text(other, found)),
            (Self::Contains(part), found) => found.is_some_and(|found| found.contains(part)),
            (Self::EndsWith(end), found) => found.is_some_and(|found| {
                let end = end.trim_end_matches('\n');
                found.trim_end_matches('\n').ends_with(end)
            }),
            (Self::Lines(before, added, removed), found) => {
                let lines = changed_lines(before, found.unwrap_or_default());
                added.is_none_or(|added| added == lines.0)
                    && removed.is_none_or(|removed| removed == lines.1)
            }
            (Self::Any, _) => true,
        }
    }
}

impl PlannedFile {
    /// Its path, and what it is only to have once the permission of an event was given.
    pub(super) fn permitted(&self, event_idx: usize) -> Option<(String, String)> {
        let mut permitted = self.permitted.iter();
        let (_, text) = permitted.find(|(of, _)| *of == event_idx)?;
        Some((self.path.clone(), text.clone()))
    }

    /// Whether it is as it is to be.
    pub(super) fn is_met(&self, root: &Path) -> bool {
        self.end.is_met(text_of(root, &self.path).as_deref())
    }

    /// What it is to be like after one more event.
    fn apply(&mut self, effect: &FileEffect<'_>) {
        let before = match &self.end {
            FileState::Is(before) if !self.may_change => Some(before.clone()),
            _ => None,
        };
        let after = match &before {
            Some(before) => effect.applied(before.as_deref()),
            None => None,
        };
        self.end = match (after, effect, before) {
            (Some(after), ..) => FileState::Is(Some(after)),
            (None, FileEffect::Is(content), _) => FileState::Is(Some((*content).to_owned())),
            (None, FileEffect::Replaces(_, new, _), _) => FileState::Contains((*new).to_owned()),
            (None, FileEffect::Appends(end), _) => FileState::EndsWith((*end).to_owned()),
            (None, FileEffect::Counts(added, removed), Some(before)) => {
                FileState::Lines(before.unwrap_or_default(), *added, *removed)
            }
            (None, FileEffect::Counts(..) | FileEffect::Changes, _) => FileState::Any,
        };
        match (&self.end, &mut self.texts) {
            (FileState::Is(Some(text)), Some(texts)) => texts.push(text.clone()),
            (_, texts) => *texts = None,
        }
        self.may_change = false;
    }
}

impl SessionFolder {
    /// Looks at `root`, before the agent does. All changes count in a folder of our own.
    pub(super) fn new(root: &Path, is_own: bool) -> Self {
        let changes = is_own.then(|| FolderChanges::new(root));
        let hidden = changes.iter().flat_map(FolderChanges::paths);
        Self {
            root: root.to_owned(),
            hidden: hidden.filter(|path| is_hidden(path)).cloned().collect(),
            changes,
            ..Self::default()
        }
    }

    /// The files that the events `live` of a turn change.
    pub(super) fn plan(
        &self,
        script: &AcpScript,
        expected: &Expected<'_>,
        live: &Range<usize>,
    ) -> Vec<PlannedFile> {
        let mut files: Vec<PlannedFile> = Vec::new();
        let mut has_run = self.runs_on || self.was_cut;
        let mut runs_on = self.runs_on;
        let folder = self.root.to_string_lossy();
        for (idx, item) in expected.items.iter().enumerate() {
            let event = &script.event(item.event_idx).kind;
            if !live.contains(&item.event_idx) {
                continue;
            }
            if may_change_any_file(event) {
                has_run = true;
                files.iter_mut().for_each(|file| file.may_change = true);
            }
            runs_on |= outlives_turn(event);
            let Some((path, effect)) = item.wanted.file_effect() else {
                continue;
            };
            let path = absolute(path, &folder);
            if !Path::new(&path).starts_with(&self.root) {
                continue;
            }
            let file_idx = files.iter().position(|file| file.path == path);
            let file_idx = file_idx.unwrap_or_else(|| {
                let before = text_of(&self.root, &path);
                files.push(PlannedFile {
                    event_idx: item.event_idx,
                    end: match has_run {
                        true => FileState::Any,
                        false => FileState::Is(before.clone()),
                    },
                    texts: (!has_run).then(|| before.iter().cloned().collect()),
                    before,
                    path,
                    may_change: false,
                    is_open: false,
                    permitted: Vec::new(),
                });
                files.len() - 1
            });
            let file = &mut files[file_idx];
            let status = match &item.wanted {
                Wanted::Call(call, _) => call.status,
                _ => ToolStatus::Ok,
            };
            file.event_idx = item.event_idx;
            if let FileState::Is(before) = &file.end
                && let Some(after) = effect.applied(before.as_deref())
                && !file.may_change
                && !file.end.is_met(Some(&after))
            {
                let requests = expected.items[..idx].iter().filter(|asked| {
                    matches!(asked.wanted, Wanted::Permission(_, Some(call)) if call == item.event_idx)
                });
                file.permitted
                    .extend(requests.map(|asked| (asked.event_idx, after.clone())));
            }
            match (status, event) {
                // It comes to nothing.
                (ToolStatus::Error, _) => {
                    if let (FileState::Any, FileEffect::Is(content)) = (&file.end, effect)
                        && file.before.as_deref() != Some(content)
                    {
                        file.end = FileState::IsNot(content.to_owned());
                    }
                }
                // A diff that is only told.
                (_, EventKind::Response(_)) => file.apply(&FileEffect::Changes),
                (status, _) => {
                    file.is_open |= status == ToolStatus::Open;
                    file.apply(&effect);
                }
            }
        }
        if runs_on {
            files.iter_mut().for_each(|file| file.may_change = true);
        }
        files
    }

    /// What is not as the agent told, and as the script has it. `awaited` are files that were not seen so before a
    /// command may have changed them.
    pub(super) fn look(
        &mut self,
        script: &AcpScript,
        live: &Range<usize>,
        (planned, awaited): (&[PlannedFile], &[PlannedFile]),
        (seen, compared, is_cut): (&[SeenItem], &Compared, bool),
    ) -> Vec<Difference> {
        let mut found = Vec::new();
        let folder = self.root.to_string_lossy().into_owned();
        for file in planned.iter().filter(|_| !is_cut) {
            let text = text_of(&self.root, &file.path);
            let mut others = compared.differences.iter();
            let is_known =
                others.any(|other| other.event_idx == Some(file.event_idx) && !other.is_doubt);
            let is_awaited = awaited.iter().any(|other| other.path == file.path);
            let is_met = file.end.is_met(text.as_deref()) || (file.may_change && !is_awaited);
            if !is_met && !file.is_open && !is_known {
                found.push(file.difference(text.as_deref()));
            }
            found.extend(file.invented(&folder, text.as_deref(), (seen, compared)));
        }
        let events = &script.timeline.events[live.clone()];
        let has_run = events.iter().any(|event| may_change_any_file(&event.kind));
        let is_free = has_run || self.runs_on || self.was_cut;
        let is_told = |path: &str| {
            let is_it =
                |item: &SeenItem| matches!(&item.came, Came::Write { path: of, .. } if of == path);
            planned.iter().any(|file| file.path == path) || seen.iter().any(is_it)
        };
        let others = self.changed().into_iter();
        let others = others.filter(|path| !is_free && !is_told(path));
        found.extend(others.map(|path| {
            let message = format!("the agent changed `{path}`, which is not in the script");
            Difference::new(codes::ACP_UNEXPECTED, message)
        }));
        self.runs_on |= events.iter().any(|event| outlives_turn(&event.kind));
        self.was_cut = is_cut;
        found
    }

    /// The files that were changed after the last turn.
    pub(super) fn late(&mut self) -> Vec<String> {
        let changed = self.changed();
        match self.runs_on || self.was_cut {
            true => Vec::new(),
            false => changed,
        }
    }

    /// What has changed since the last look, without the files that agents keep for themselves.
    fn changed(&mut self) -> Vec<String> {
        let changes = self.changes.as_mut().map(FolderChanges::take);
        let changes = changes.into_iter().flatten();
        let of_script =
            changes.filter(|change| !is_hidden(&change.path) || self.hidden.contains(&change.path));
        let absolute = |path: &str| self.root.join(path).to_string_lossy().into_owned();
        of_script.map(|change| absolute(&change.path)).collect()
    }
}

impl PlannedFile {
    /// How it differs from what it is to be like.
    fn difference(&self, found: Option<&str>) -> Difference {
        let path = &self.path;
        let message = match found {
            None => format!("`{path}` is not there"),
            _ if found == self.before.as_deref() => format!("`{path}` was not changed as told"),
            _ => format!("`{path}` does not have the content of the script"),
        };
        let expected = match &self.end {
            FileState::Is(None) => "no such file".to_owned(),
            FileState::Is(Some(text)) => quoted(text),
            FileState::IsNot(_) => "another content".to_owned(),
            FileState::Contains(part) => format!("{} in it", quoted(part)),
            FileState::EndsWith(end) => format!("{} at its end", quoted(end)),
            FileState::Lines(_, added, removed) => {
                let count = |count: &Option<u64>| count.map_or("any".to_owned(), |n| n.to_string());
                format!("{} lines added, {} removed", count(added), count(removed))
            }
            FileState::Any => "anything".to_owned(),
        };
        let mut difference = Difference::new(codes::ACP_CONTENT, message)
            .at(self.event_idx)
            .noting(format!("expected: {expected}"));
        if let Some(found) = found {
            difference = difference.noting(format!("it has:   {}", quoted(found)));
        }
        // Numbers of lines are no text.
        difference.is_doubt = matches!(self.end, FileState::Lines(..));
        difference
    }

    /// A diff that tells of text that the file never had.
    fn invented(
        &self,
        folder: &str,
        found: Option<&str>,
        (seen, compared): (&[SeenItem], &Compared),
    ) -> Option<Difference> {
        let texts = self.texts.as_ref()?;
        // Agents tell of parts of a file together.
        let had = |old: &str| {
            let mut texts = texts.iter().map(String::as_str).chain(found);
            texts.any(|text| old.lines().all(|line| text.contains(line.trim())))
        };
        let calls = compared
            .pairs
            .iter()
            .filter_map(|(_, came)| match &seen[*came].came {
                Came::Call(call) => Some(call),
                _ => None,
            });
        let mut diffs = calls.flat_map(|call| &call.diffs);
        let invented = diffs.find_map(|diff| {
            let old = diff["oldText"].as_str()?;
            let path = absolute(diff["path"].as_str()?, folder);
            (path == self.path && !had(old)).then_some(old)
        })?;
        let message = format!("a diff tells of text that `{}` never had", self.path);
        let found = Difference::new(codes::ACP_CONTENT, message).at(self.event_idx);
        Some(found.noting(format!("its `oldText`: {}", quoted(invented))))
    }
}

/// Whether an event begins something that may still run when its turn is over.
fn outlives_turn(event: &EventKind) -> bool {
    matches!(event, EventKind::ToolUse(call)
        if call.status == ToolStatus::Open || call.args["run_in_background"] == true)
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}
