//! What the agent looks for in the workspace.

use std::path::Path;

use cuecard_workspace::search::{self, Grep, GrepOutcome, Limits, OutputMode};

use super::{Arguments, Done, Tools};

/// No more rows are told.
const MAX_ROWS: usize = 10_000;

fn limits() -> Limits {
    Limits {
        results: MAX_ROWS,
        ..Limits::default()
    }
}

impl Tools {
    /// Matches as `path:line:text`, files or counts, as `output_mode` says.
    pub(super) fn grep(&self, args: &Arguments<'_>) -> Done {
        let around = |flag: &str| {
            let number = args.number(flag).or_else(|| args.number("-C"));
            number.map_or(0, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (before, after) = (around("-B"), around("-A"));
        let output_mode = match args.optional("output_mode") {
            None | Some("content") => OutputMode::Content,
            Some("files_with_matches") => OutputMode::FilesWithMatches,
            Some("count") => OutputMode::Count,
            Some(other) => return Err(format!("`output_mode` can't be `{other}`")),
        };
        let request = Grep {
            pattern: args.text("pattern")?.to_owned(),
            path: self.readable(args.optional("path").unwrap_or("."))?,
            glob: args.optional("glob").map(str::to_owned),
            file_type: args.optional("type").map(str::to_owned),
            output_mode,
            context_before: before,
            context_after: after,
            head_limit: args
                .number("head_limit")
                .and_then(|limit| usize::try_from(limit).ok()),
            offset: 0,
            case_insensitive: args.is("-i"),
            multiline: args.is("multiline"),
            ..Grep::default()
        };
        let found = search::grep(&request, &limits()).map_err(|error| error.to_string())?;
        let rows: Vec<String> = match found {
            GrepOutcome::Files { files, .. } => files
                .iter()
                .map(|file| self.told(Path::new(file)).into_owned())
                .collect(),
            GrepOutcome::Content { matches, .. } => {
                let mut rows = Vec::new();
                let mut told = (String::new(), 0);
                for found in &matches {
                    let file = self.told(Path::new(&found.file)).into_owned();
                    let first = found.line_num - found.context_before.len() as u64;
                    let lines = found.context_before.iter().chain([&found.line]);
                    let lines = lines.chain(&found.context_after);
                    for (number, line) in (first..).zip(lines) {
                        if told.0 == file && number <= told.1 {
                            continue;
                        }
                        let sign = if number == found.line_num { ':' } else { '-' };
                        let shown = match args.0["-n"] == false {
                            true => String::new(),
                            false => format!("{number}{sign}"),
                        };
                        rows.push(format!("{file}{sign}{shown}{}", line.trim_end()));
                        told = (file.clone(), number);
                    }
                }
                rows
            }
            GrepOutcome::Count { count, .. } => vec![count.to_string()],
        };
        Ok(rows.join("\n"))
    }

    /// The names in a folder; with `recursive` the files in it and below, seen from there; with `pattern` those that
    /// fit it.
    pub(super) fn list(&self, args: &Arguments<'_>) -> Done {
        let folder = self.readable(args.text("path")?)?;
        let pattern = args.optional("pattern");
        if !args.is("recursive") && pattern.is_none() {
            return Ok(self.names_in(&folder)?.join("\n"));
        }
        let pattern = pattern.unwrap_or("*");
        let pattern = match args.is("recursive") {
            true => format!("**/{pattern}"),
            false => pattern.to_owned(),
        };
        self.files_like(&folder, &pattern, &folder)
    }

    /// Files by name, or folders with `type: dir`, seen from the workspace.
    pub(super) fn find(&self, args: &Arguments<'_>) -> Done {
        let folder = self.readable(args.text("path")?)?;
        let name = args.optional("name").unwrap_or("*");
        match args.optional("type") {
            None | Some("file" | "f") => {
                self.files_like(&folder, &format!("**/{name}"), &self.root)
            }
            Some("dir" | "directory" | "d") => self.folders_like(&folder, name),
            Some(other) => Err(format!("`type` can't be `{other}`")),
        }
    }

    fn files_like(&self, folder: &Path, pattern: &str, seen_from: &Path) -> Done {
        let found = search::glob(folder, pattern, &limits()).map_err(|error| error.to_string())?;
        let mut paths: Vec<String> = found
            .files
            .iter()
            .map(|file| {
                let path = folder.join(file);
                let relative = path.strip_prefix(seen_from).unwrap_or(&path);
                relative.to_string_lossy().into_owned()
            })
            .collect();
        paths.sort_unstable();
        Ok(paths.join("\n"))
    }

    fn folders_like(&self, folder: &Path, name: &str) -> Done {
        let pattern = globset::Glob::new(name).map_err(|error| format!("`name`: {error}"))?;
        let pattern = pattern.compile_matcher();
        let mut found = Vec::new();
        let mut to_do = vec![folder.to_owned()];
        while let Some(folder) = to_do.pop() {
            for entry in self.names_in(&folder)? {
                let Some(name) = entry.strip_suffix('/').filter(|name| *name != ".git") else {
                    continue;
                };
                let path = folder.join(name);
                if pattern.is_match(name) {
                    found.push(self.told(&path).into_owned());
                }
                if !path.is_symlink() && found.len() < MAX_ROWS {
                    to_do.push(path);
                }
            }
        }
        found.sort_unstable();
        Ok(found.join("\n"))
    }
}
