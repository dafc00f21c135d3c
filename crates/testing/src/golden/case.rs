//! A case as read from its folder, and what came of running it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::words;
use crate::normalise::{Context, normalise};
use crate::peers;
use crate::scratch::{Finished, Scratch, inside};

/// The files that a case may have; anything else is a typing error.
const KNOWN: &[&str] = &[
    "README.md",
    "absent",
    "after",
    "args",
    "env",
    "exit",
    "files",
    "peers",
    "shared",
    "stderr",
    "stdin",
    "stdout",
    "trace",
];

/// How deep below the working directory a trace is looked for.
const TRACE_DEPTH: usize = 6;

/// One golden case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) folder: PathBuf,
    /// The command lines as they are written.
    pub(super) commands: Vec<String>,
    /// What real peers it needs, below the folder of the peers.
    pub(super) peers: Vec<String>,
    /// Paths that must not exist afterwards, below the working directory.
    pub(super) absent: Vec<PathBuf>,
    /// Files that must exist afterwards: the path below the working directory, the file that says the content.
    pub(super) after: Vec<(PathBuf, PathBuf)>,
    env: Vec<(String, String)>,
    /// Files below `tests/` that several cases need: the file, its path in the working directory.
    shared: Vec<(PathBuf, PathBuf)>,
    stdin: Vec<u8>,
}

/// What came of running a case. Texts are normalised.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// One line per command.
    pub(super) exit: String,
    /// The traces that the commands wrote.
    pub(super) trace: String,
    /// What must never happen: processes left behind, a command that hung.
    pub(super) faults: Vec<String>,
    pub(super) context: Context,
    pub(super) scratch: Scratch,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// A sentence that says what is wrong with which file.
    pub(super) fn load(folder: &Path) -> Result<Self, String> {
        for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            let name = entry
                .map_err(|error| unreadable(folder, &error))?
                .file_name();
            if !KNOWN.iter().any(|&known| name == known) {
                return Err(format!(
                    "`{}` is no part of a case; its files are {}",
                    name.display(),
                    KNOWN.join(", ")
                ));
            }
        }
        let commands = lines(&folder.join("args"))?;
        if commands.is_empty() {
            return Err("`args` has no command line".to_owned());
        }
        let mut env = Vec::new();
        for line in lines(&folder.join("env"))? {
            let (name, value) = line
                .split_once('=')
                .ok_or_else(|| format!("`env`: `{line}` is not NAME=VALUE"))?;
            env.push((name.to_owned(), value.to_owned()));
        }
        let mut absent = Vec::new();
        for line in lines(&folder.join("absent"))? {
            let path = inside(Path::new(&line)).map_err(|error| format!("`absent`: {error}"))?;
            absent.push(path.to_path_buf());
        }
        let mut after = Vec::new();
        let after_root = folder.join("after");
        if after_root.exists() {
            for file in files_below(&after_root, TRACE_DEPTH) {
                let relative = file
                    .strip_prefix(&after_root)
                    .unwrap_or(&file)
                    .to_path_buf();
                after.push((relative, file));
            }
            if after.is_empty() {
                return Err("`after` has no file in it".to_owned());
            }
        }
        let shared = lines(&folder.join("shared"))?
            .iter()
            .map(|line| {
                let (from, to) = line
                    .split_once(" as ")
                    .ok_or_else(|| format!("`shared` says `{line}`, not `FILE as NAME`"))?;
                let path = |text: &str| {
                    inside(Path::new(text.trim()))
                        .map(Path::to_path_buf)
                        .map_err(|error| format!("`shared`: {error}"))
                };
                Ok((path(from)?, path(to)?))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            folder: folder.to_path_buf(),
            commands,
            peers: lines(&folder.join("peers"))?,
            absent,
            after,
            env,
            shared,
            stdin: read_optional(&folder.join("stdin"))?.unwrap_or_default(),
        })
    }

    /// Runs the commands one after another in one fresh scratch folder. `peers_folder` must be there if the case
    /// needs peers.
    ///
    /// # Errors
    /// A sentence, when the case could not be run at all.
    pub(super) fn run(&self, binary: &Path, peers_folder: Option<&Path>) -> Result<Run, String> {
        let mut scratch =
            Scratch::new(binary).map_err(|error| format!("no scratch folder: {error}"))?;
        let files = self.folder.join("files");
        if files.is_dir() {
            scratch
                .copy_tree(&files)
                .map_err(|error| format!("can't copy `files`: {error}"))?;
        }
        for (from, to) in &self.shared {
            let from = crate::repository_root().join("tests").join(from);
            let to = scratch.work().join(to);
            fs::copy(&from, &to)
                .map_err(|error| format!("can't copy `{}`: {error}", from.display()))?;
        }
        let mut variables = BTreeMap::from([
            ("CASE", self.folder.display().to_string()),
            ("REPO", crate::repository_root().display().to_string()),
            ("DIR", scratch.work().display().to_string()),
            ("PROGRAM", binary.display().to_string()),
        ]);
        let mut context = scratch.context().path(&self.folder, "$CASE");
        if let Some(folder) = peers_folder.filter(|_| !self.peers.is_empty()) {
            for peer in &self.peers {
                peers::find(folder, peer)?;
            }
            variables.insert("PEERS", folder.display().to_string());
            context = context.path(folder, "$PEERS");
        }
        let lookup = |name: &str| variables.get(name).cloned();
        for (name, value) in &self.env {
            scratch.set(name, expand(value, &lookup)?);
        }
        let mut finished = Vec::new();
        let mut traces = Vec::new();
        for command in &self.commands {
            let args =
                words::split(command, &lookup).map_err(|error| format!("`args`: {error}"))?;
            let done = scratch
                .run_with_input(&args, &self.stdin)
                .map_err(|error| format!("can't start `{}`: {error}", binary.display()))?;
            finished.push(done);
            let mut new = traces_below(&scratch.work());
            new.retain(|path| !traces.contains(path));
            // Run ids of one second are in no order, so what is in the traces decides.
            new.sort_by_cached_key(|path| normalise(&read_lossy(path), &context));
            traces.append(&mut new);
        }
        Ok(Run {
            stdout: self.joined(&finished, &context, |done| &done.stdout),
            stderr: self.joined(&finished, &context, |done| &done.stderr),
            exit: finished
                .iter()
                .map(|done| format!("{}\n", done.ended))
                .collect(),
            trace: traces
                .iter()
                .map(|path| normalise(&read_lossy(path), &context))
                .collect(),
            faults: self.faults(&finished),
            context,
            scratch,
        })
    }

    /// One stream of all commands; each begins with its command line if there are several.
    fn joined(
        &self,
        finished: &[Finished],
        context: &Context,
        stream: fn(&Finished) -> &String,
    ) -> String {
        let mut joined = String::new();
        for (command, done) in self.commands.iter().zip(finished) {
            if self.commands.len() > 1 {
                joined.push_str("$ cuecard ");
                joined.push_str(command);
                joined.push('\n');
            }
            joined.push_str(&normalise(stream(done), context));
            if self.commands.len() > 1 && !joined.ends_with('\n') {
                joined.push_str("\n(no newline at the end)\n");
            }
        }
        joined
    }

    fn faults(&self, finished: &[Finished]) -> Vec<String> {
        let mut faults = Vec::new();
        for (command, done) in self.commands.iter().zip(finished) {
            if let crate::scratch::Ended::TimedOut(_) = done.ended {
                faults.push(format!("`{command}` was {}", done.ended));
            }
            for process in &done.left_behind {
                faults.push(format!("`{command}` left a process running: {process}"));
            }
        }
        faults
    }
}

/// The file's text, empty if there is none.
pub(super) fn read_lossy(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// The value of an `env` line: the variables are replaced, nothing is split.
fn expand(value: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    let words = words::split(&quoted, lookup).map_err(|error| format!("`env`: {error}"))?;
    Ok(words.concat())
}

/// The lines of a list that are neither empty nor comments; none if there is no such file.
fn lines(path: &Path) -> Result<Vec<String>, String> {
    let Some(bytes) = read_optional(path)? else {
        return Ok(Vec::new());
    };
    let text =
        String::from_utf8(bytes).map_err(|_| format!("`{}` is not UTF-8", path.display()))?;
    Ok(text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect())
}

fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("can't read `{}`: {error}", path.display())
}

/// The traces below the working directory.
fn traces_below(work: &Path) -> Vec<PathBuf> {
    let mut found = files_below(work, TRACE_DEPTH);
    found.retain(|path| path.file_name().is_some_and(|name| name == "trace.jsonl"));
    found
}

/// The files below a folder in the order of their paths; links are not followed.
fn files_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Some(depth) = depth.checked_sub(1) else {
        return found;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&entry.path(), depth)),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found.sort();
    found
}
