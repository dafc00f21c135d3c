//! Cassettes: what a model replied, to be replied again.
//!
//! Lines are written as they come and flushed at once; at the end of a run that needed no more the file is written anew,
//! without the replies that the run did not ask for.

mod line;
mod miss;
mod tape;

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuecard_browser_steps::question::Prompt;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;

use super::reply::Reply;
use crate::stage::Failure;
use cuecard_runtime::text_file::{self, io_reason};
use cuecard_workspace::files;
use line::{Line, PromptLine, ReplyLine, VERSION};
use tape::Tape;

pub use line::{ModelIdentity, cassette_schema};

/// The largest cassette that is written, in bytes; it is the largest text file that is read.
const MAX_CASSETTE: u64 = text_file::MAX_FILE;

/// What a cassette is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CassetteMode {
    /// Replies are found in it; what is not there is an error.
    Replies,
    /// Replies are found in it; what is not there is asked for and added.
    Record,
}

/// A cassette in use. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Cassette(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    mode: CassetteMode,
    tape: Tape,
    secrets: Redactor,
    /// Where lines are added, while a run is recorded.
    file: Option<File>,
    /// How large the file is, in bytes.
    size: u64,
    /// Keys that were asked for in this run.
    used: HashSet<String>,
    /// Why something was not written.
    trouble: Option<String>,
}

impl Cassette {
    /// Opens the cassette at `path`; one that is recorded need not exist. What it says is a warning.
    ///
    /// # Errors
    /// Everything that is wrong with the file; nothing was recorded in one that is to be played; it can't be written.
    pub fn open(
        path: &Path,
        mode: CassetteMode,
        secrets: Redactor,
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let name = path.display().to_string();
        let is_new = mode == CassetteMode::Record && !path.exists();
        let (tape, findings, size) = match is_new {
            true => (Tape::default(), Vec::new(), 0),
            false => {
                let source = text_file::read(path, &name).map_err(|error| {
                    vec![error.with_help("record one with `--record` where a model is configured")]
                })?;
                let (tape, findings) = Tape::read(&source);
                let Some(tape) = tape else {
                    return Err(findings);
                };
                let whole = tape.whole as u64;
                (tape, findings, whole)
            }
        };
        let mut inner = Inner {
            path: path.to_owned(),
            mode,
            tape,
            secrets,
            file: None,
            size,
            used: HashSet::new(),
            trouble: None,
        };
        if mode == CassetteMode::Record {
            inner
                .begin(is_new)
                .map_err(|reason| vec![unwritable(path, &reason)])?;
        }
        Ok((Self(Arc::new(Mutex::new(inner))), findings))
    }

    /// What is wrong with the text of a cassette: errors if it can't be played.
    pub fn check(source: &SourceFile) -> Vec<Diagnostic> {
        Tape::read(source).1
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that gave its last reply.
    pub fn identity(&self) -> Option<ModelIdentity> {
        let inner = self.inner();
        let last = inner.tape.replies.last()?;
        Some(last.model.clone())
    }

    /// Whether who is not in it may be asked.
    pub(super) fn may_ask(&self) -> bool {
        self.inner().mode == CassetteMode::Record
    }

    /// The reply with a key.
    pub(super) fn reply(&self, key: &str) -> Option<Reply> {
        let mut inner = self.inner();
        let reply = inner.tape.reply(key)?.reply.clone();
        inner.used.insert(key.to_owned());
        Some(reply)
    }

    /// Adds a reply.
    pub(super) fn add_reply(
        &self,
        key: String,
        model: &ModelIdentity,
        prompt: &Prompt,
        earlier: Vec<String>,
        reply: &Reply,
    ) {
        let mut inner = self.inner();
        let line = ReplyLine::of(key, model, prompt, &earlier, reply, &inner.secrets);
        inner.add(&Line::Reply(Box::new(line.clone())));
        inner.used.insert(line.key.clone());
        inner.tape.replies.push(line);
    }

    /// The error of a prompt that is not in it.
    pub(super) fn miss(
        &self,
        model: &ModelIdentity,
        prompt: &Prompt,
        earlier: &[String],
    ) -> Failure {
        let inner = self.inner();
        let prompt = PromptLine::of(prompt, &inner.secrets);
        miss::miss(&inner.tape, &inner.path, model, &prompt, earlier)
    }

    /// Ends a run. `is_complete` says whether every action was tried: then replies that it did not ask for go.
    ///
    /// # Errors
    /// If something of the run could not be written; the file then has what came before.
    pub fn finish(&self, is_complete: bool) -> Result<(), Diagnostic> {
        let mut inner = self.inner();
        if inner.mode != CassetteMode::Record {
            return Ok(());
        }
        inner.file = None;
        match inner.trouble.take() {
            Some(reason) => Err(unwritable(&inner.path, &reason)),
            None if is_complete => inner.rewrite(),
            None => Ok(()),
        }
    }
}

impl Inner {
    /// Makes ready to add lines: what a crash left of a last line goes.
    fn begin(&mut self, is_new: bool) -> Result<(), String> {
        let open = || -> std::io::Result<File> {
            let file = File::options().create(true).append(true).open(&self.path)?;
            if !is_new {
                file.set_len(self.size)?;
            }
            Ok(file)
        };
        self.file = Some(open().map_err(|error| io_reason(&error))?);
        if self.size == 0 {
            self.add(&Line::Cassette {
                version: VERSION.to_owned(),
            });
        }
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// Adds a line, and hands it on at once. Nothing is added any more after one that could not be.
    fn add(&mut self, line: &Line) {
        let Some(file) = &mut self.file else {
            return;
        };
        if self.trouble.is_some() {
            return;
        }
        let text = line.text();
        let size = self.size + text.len() as u64;
        if size > MAX_CASSETTE {
            let mebibytes = MAX_CASSETTE >> 20;
            self.trouble = Some(format!("it would be larger than {mebibytes} MiB"));
            return;
        }
        match file.write_all(text.as_bytes()).and_then(|()| file.flush()) {
            Ok(()) => self.size = size,
            Err(error) => self.trouble = Some(io_reason(&error)),
        }
    }

    /// Writes the file anew without the replies that were not asked for.
    fn rewrite(&self) -> Result<(), Diagnostic> {
        let version = VERSION.to_owned();
        let mut kept = Line::Cassette { version }.text();
        for reply in &self.tape.replies {
            let is_last = self
                .tape
                .reply(&reply.key)
                .is_some_and(|last| std::ptr::eq(last, reply));
            if is_last && self.used.contains(&reply.key) {
                kept.push_str(&Line::Reply(Box::new(reply.clone())).text());
            }
        }
        let written = files::write(&self.path, &kept).map(|_| ());
        written.map_err(|error| unwritable(&self.path, &error.to_string()))
    }
}

fn unwritable(path: &Path, reason: &str) -> Diagnostic {
    Diagnostic::error(
        codes::FILE_WRITE,
        format!(
            "the cassette `{}` can't be written: {reason}",
            path.display()
        ),
    )
}
