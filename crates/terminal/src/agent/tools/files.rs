//! Files that the agent reads and changes.

use std::fs;

use cuecard_workspace::notebook::{EditMode, NotebookEdit};
use cuecard_workspace::{WorkspaceError, edit, files, notebook};

use super::{Arguments, Done, Tools};
use crate::agent::text_file;

impl Tools {
    /// The text of a file; with `offset` and `limit`, so many lines from that one on.
    pub(super) fn read(&self, args: &Arguments<'_>) -> Done {
        let name = args.text("path")?;
        let text = text_file(&self.readable(name)?, name)?;
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let first = count(args.number("offset").unwrap_or(1).max(1)) - 1;
        let limit = args.number("limit").map_or(usize::MAX, count);
        Ok(text.split_inclusive('\n').skip(first).take(limit).collect())
    }

    pub(super) fn write(&self, args: &Arguments<'_>) -> Done {
        let name = args.text("path")?;
        let content = args.text("content")?;
        files::write(&self.writable(name)?, content).map_err(|error| self.reason(&error))?;
        Ok(format!("Wrote {name}"))
    }

    pub(super) fn append(&self, args: &Arguments<'_>) -> Done {
        let name = args.text("path")?;
        let path = self.writable(name)?;
        let mut text = match path.exists() {
            true => text_file(&path, name)?,
            false => String::new(),
        };
        text.push_str(args.text("content")?);
        files::write(&path, &text).map_err(|error| self.reason(&error))?;
        Ok(format!("Appended to {name}"))
    }

    pub(super) fn edit(&self, args: &Arguments<'_>) -> Done {
        let name = args.text("path")?;
        let (old, new) = (args.text("old_string")?, args.text("new_string")?);
        let edited = edit::edit(&self.writable(name)?, old, new, args.is("replace_all"));
        let edited = edited.map_err(|error| self.reason(&error))?;
        Ok(match edited.replacements {
            1 => format!("Edited {name}"),
            count => format!("Edited {name} in {count} places"),
        })
    }

    pub(super) fn edit_notebook(&self, args: &Arguments<'_>) -> Done {
        let name = args.text("notebook_path")?;
        let change = NotebookEdit {
            cell_id: args.optional("cell_id").map(str::to_owned),
            new_source: args.text("new_source")?.to_owned(),
            cell_type: args
                .optional("cell_type")
                .map(|name| {
                    name.parse()
                        .map_err(|_| format!("`cell_type` can't be `{name}`"))
                })
                .transpose()?,
            mode: match args.optional("edit_mode") {
                None => EditMode::default(),
                Some(name) => name
                    .parse()
                    .map_err(|_| format!("`edit_mode` can't be `{name}`"))?,
            },
        };
        let edited = notebook::edit(&self.writable(name)?, &change);
        edited.map_err(|error| self.reason(&error))?;
        Ok(format!("Edited {name}"))
    }

    /// Why something could not be done, with paths as the agent tells them.
    pub(in crate::agent) fn reason(&self, error: &WorkspaceError) -> String {
        let root = format!("{}/", self.root.display());
        let mut reason = error.to_string().replace(&root, "");
        for note in error.notes() {
            reason.push('\n');
            reason.push_str(&note.replace(&root, ""));
        }
        reason
    }

    /// The names in a folder, sorted, those of folders with a `/`.
    pub(super) fn names_in(&self, folder: &std::path::Path) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(folder).map_err(|error| {
            let reason = cuecard_runtime::text_file::io_reason(&error);
            format!("`{}` can't be listed: {reason}", self.told(folder))
        })?;
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                match entry.path().is_dir() {
                    true => format!("{name}/"),
                    false => name,
                }
            })
            .collect();
        names.sort_unstable();
        Ok(names)
    }
}
