//! What scripted edits and calls do to files. Does no I/O.

use cuecard_source::matching::changed_lines;
use cuecard_source::value::Json;
use cuecard_timeline::model::vocabulary::call_kind;
use cuecard_timeline::model::{EventKind, ToolUse};

/// What an event does to a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileEffect<'s> {
    /// It has this content then.
    Is(&'s str),
    /// The first text is replaced by the second, once or wherever it is.
    Replaces(&'s str, &'s str, bool),
    /// This is put at its end.
    Appends(&'s str),
    /// So many lines are added and removed, as far as that is said.
    Counts(Option<u64>, Option<u64>),
    /// Anything.
    Changes,
}

impl<'s> FileEffect<'s> {
    /// What an edit from one text to another does, or one of which only the numbers of lines are known.
    pub(crate) fn of_edit(
        old: Option<&'s str>,
        new: Option<&'s str>,
        (added, removed): (Option<u64>, Option<u64>),
    ) -> Self {
        match (old, new) {
            (_, None) => Self::Counts(added, removed),
            (Some(old), Some(new)) => Self::Replaces(old, new, false),
            (None, Some(new)) => Self::Is(new),
        }
    }

    /// The file that a call changes, and how.
    pub(crate) fn of_call(call: &'s ToolUse) -> Option<(&'s str, Self)> {
        if call_kind(&call.tool, &call.args) != "edit" {
            return None;
        }
        let text = |key: &str| call.args[key].as_str();
        let path = text("path").or(text("notebook_path"))?;
        let is_all = call.args["replace_all"] == Json::Bool(true);
        let effect = match (
            &*call.tool,
            text("content"),
            text("old_string"),
            text("new_string"),
        ) {
            ("writeFile", Some(content), ..) => Self::Is(content),
            ("appendFile", Some(content), ..) => Self::Appends(content),
            ("editFile" | "replaceInFile", _, Some(old), Some(new)) => {
                Self::Replaces(old, new, is_all)
            }
            _ => Self::Changes,
        };
        Some((path, effect))
    }

    /// Whether the script says what the file has then.
    pub(crate) fn is_scripted(&self) -> bool {
        !matches!(self, Self::Counts(..) | Self::Changes)
    }

    /// Returns the content of a file after it; `None` if the file can't be changed so, or that is not scripted.
    pub(crate) fn applied(&self, before: Option<&str>) -> Option<String> {
        match self {
            Self::Is(content) => Some((*content).to_owned()),
            Self::Replaces(old, new, is_all) => replaced(before?, old, new, *is_all),
            Self::Appends(content) => Some(before.unwrap_or_default().to_owned() + content),
            Self::Counts(..) | Self::Changes => None,
        }
    }

    /// Whether it makes `after` of a file; what was there before may be unknown.
    pub(crate) fn makes(&self, before: Option<&str>, after: &str) -> bool {
        match (self, before) {
            (Self::Replaces(_, new, _), None) => after.contains(new),
            (Self::Counts(added, removed), before) => {
                let lines = changed_lines(before.unwrap_or_default(), after);
                added.is_none_or(|added| added == lines.0)
                    && removed.is_none_or(|removed| removed == lines.1)
            }
            (Self::Changes, _) => true,
            _ => self.applied(before).as_deref() == Some(after),
        }
    }

    /// Whether a diff tells of it: of the whole file, or of the part that changes.
    pub(crate) fn is_told(&self, old: Option<&str>, new: &str) -> bool {
        match self {
            Self::Replaces(from, to, _) if old == Some(*from) => new == *to,
            Self::Appends(content) if old.is_none_or(str::is_empty) => new == *content,
            _ => self.makes(old.or(Some("")), new),
        }
    }
}

/// Whether an event may change any file: it runs a command, or a tool of which nobody knows what it does.
pub(crate) fn may_change_any_file(event: &EventKind) -> bool {
    match event {
        EventKind::ToolUse(call) => {
            let kind = call_kind(&call.tool, &call.args);
            matches!(kind, "execute" | "other")
                || call.tool == "task"
                || (kind == "edit" && FileEffect::of_call(call).is_none())
        }
        _ => false,
    }
}

/// Whether an event may change files.
pub(crate) fn changes_files(event: &EventKind) -> bool {
    let is_edit = match event {
        EventKind::AgentEdits(_) => true,
        EventKind::ToolUse(call) => FileEffect::of_call(call).is_some(),
        _ => false,
    };
    is_edit || may_change_any_file(event)
}

/// A text with `new` in the place of `old`; `None` if that is not there, or not just once where it should be.
pub(crate) fn replaced(text: &str, old: &str, new: &str, is_all: bool) -> Option<String> {
    match text.matches(old).count() {
        0 => None,
        1 => Some(text.replacen(old, new, 1)),
        _ => is_all.then(|| text.replace(old, new)),
    }
}
