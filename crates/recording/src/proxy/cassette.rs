//! The files of a recording: the cassette, which grows by a line a call, and the scenario, which is written anew as a
//! whole.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::clock::{Clock, Stopwatch};
use cuecard_runtime::text_file::{self, io_reason};
use cuecard_source::SourceFile;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::cassette::Cassette;
use crate::infer::{InferError, Inferred, infer};
use crate::{Recording, scenario};

/// How often the scenario is written while calls come in, at most.
const CHECKPOINT: Duration = Duration::from_millis(100);
/// Writing it takes no more than one part in so many of the time.
const SHARE: u32 = 20;

/// A cassette that is written, perhaps by several processes at once.
#[derive(Debug)]
pub(super) struct CassetteFile {
    pub(super) files: RecordedFiles,
    file: Option<File>,
    /// What is said of servers while another recording stands there: a client that calls nothing replaces none.
    waiting: String,
    /// Why nothing more is written.
    pub(super) error: Option<String>,
}

impl CassetteFile {
    pub(super) fn new(files: RecordedFiles) -> Self {
        Self {
            files,
            file: None,
            waiting: String::new(),
            error: None,
        }
    }

    /// Appends the line of a server.
    pub(super) fn append_server(&mut self, line: &str) {
        match self.file.is_none() && self.files.would_replace() {
            true => self.waiting.push_str(line),
            false => self.append(line),
        }
    }

    /// Appends a line, whole or not at all.
    pub(super) fn append(&mut self, line: &str) {
        if self.error.is_some() {
            return;
        }
        let lines = std::mem::take(&mut self.waiting) + line;
        if let Err(error) = self.try_append(lines.as_bytes()) {
            self.fails(&error);
        }
    }

    /// Looks whether what was written is still there.
    pub(super) fn close(&mut self) {
        let file = self.file.as_ref().filter(|_| self.error.is_none());
        if let Some(Err(error)) = file.map(|file| self.files.stands(file)) {
            self.fails(&error);
        }
    }

    fn fails(&mut self, error: &io::Error) {
        let cassette = self.files.cassette.display();
        let reason = io_reason(error);
        self.error = Some(format!("`{cassette}` can't be written: {reason}"));
    }

    fn try_append(&mut self, line: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => {
                flock(&*file, FlockOperation::LockExclusive)?;
                file
            }
            None => self.file.insert(self.files.open()?),
        };
        let stands = self.files.stands(file);
        let written = stands.and_then(|()| append_whole(file, line));
        flock(&*file, FlockOperation::Unlock)?;
        written
    }
}

fn append_whole(file: &mut File, line: &[u8]) -> io::Result<()> {
    let mut length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        // Another process was killed in the middle of its line.
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        length = whole_lines(&bytes) as u64;
        file.set_len(length)?;
    }
    if length + line.len() as u64 > text_file::MAX_FILE {
        return Err(io::Error::other("it would be larger than 256 MiB"));
    }
    let written = file.write_all(line);
    if written.is_err() {
        file.set_len(length)?;
    }
    written
}

fn first_line(file: &File) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut first)?;
    Ok(first)
}

/// The length of the lines that have an end.
fn whole_lines(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|byte| *byte == b'\n');
    last.map_or(0, |at| at + 1)
}

/// Where a recording goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFiles {
    /// The scenario.
    pub scenario: PathBuf,
    /// The cassette.
    pub cassette: PathBuf,
    /// When the recording began, as the first line of its cassette tells it.
    pub(super) recorded_at: String,
    /// Whether another recording may be overwritten. That goes when this one has its first call.
    replaces: bool,
}

/// What is in the files of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many calls.
    pub n_calls: usize,
    /// The tools of calls that were not answered.
    pub missing: Vec<String>,
    /// The servers.
    pub servers: Vec<String>,
}

impl Summary {
    /// How many calls were answered, and are steps of the scenario.
    pub fn n_answered(&self) -> usize {
        self.n_calls - self.missing.len()
    }
}

impl RecordedFiles {
    /// The scenario `x.json`, and `x.cassette.jsonl` beside it, of a recording that begins now.
    pub fn new(scenario: &Path, replaces: bool) -> Self {
        Self {
            scenario: scenario.to_owned(),
            cassette: scenario.with_extension("cassette.jsonl"),
            recorded_at: Clock::start().timestamp(Duration::ZERO).to_string(),
            replaces,
        }
    }

    /// The same files, for who is in another folder than `folder`.
    pub fn seen_from(&self, folder: &Path) -> Self {
        Self {
            scenario: folder.join(&self.scenario),
            cassette: folder.join(&self.cassette),
            ..self.clone()
        }
    }

    /// Opens the cassette and locks it.
    fn open(&self) -> io::Result<File> {
        loop {
            let mut options = File::options();
            let file = options
                .read(true)
                .append(true)
                .create(true)
                .open(&self.cassette)?;
            flock(&file, FlockOperation::LockExclusive)?;
            let is_there = self.stands(&file).is_ok();
            match (is_there, self.is_own(&first_line(&file)?)) {
                (true, true) => return Ok(file),
                (true, false) if self.replaces => {
                    // The old scenario never stands beside the new cassette.
                    let _ = fs::remove_file(&self.scenario);
                    fs::remove_file(&self.cassette)?;
                }
                (true, false) => return Err(io::Error::other("it is another recording")),
                // Another process has just replaced it.
                (false, _) => {}
            }
        }
    }

    /// Looks whether the open cassette is the one that its path leads to.
    fn stands(&self, file: &File) -> io::Result<()> {
        let opened = file.metadata()?;
        let found = fs::metadata(&self.cassette).ok();
        match found.is_some_and(|found| (found.dev(), found.ino()) == (opened.dev(), opened.ino()))
        {
            true => Ok(()),
            false => Err(io::Error::other(
                "it was removed, or another recording took its place, and with it the calls so far",
            )),
        }
    }

    /// Whether another recording stands where this one goes, and may be overwritten.
    fn would_replace(&self) -> bool {
        let first = || first_line(&File::open(&self.cassette)?);
        self.replaces && first().is_ok_and(|first| !self.is_own(&first))
    }

    /// Whether a cassette that begins with this line is that of this recording, or has no line yet.
    fn is_own(&self, first: &[u8]) -> bool {
        let recorded_at = self.recorded_at.as_bytes();
        let mut parts = first.windows(recorded_at.len());
        !first.ends_with(b"\n") || parts.any(|part| part == recorded_at)
    }

    /// Writes the scenario of what is in the cassette so far; there is none without a call that was answered.
    ///
    /// # Errors
    /// The operating system's.
    pub fn checkpoint(&self) -> io::Result<Summary> {
        let recording = self.read()?;
        let missing = recording.calls.iter().filter(|call| call.is_missing());
        let summary = Summary {
            n_calls: recording.calls.len(),
            missing: missing.map(|call| call.tool.clone()).collect(),
            servers: recording
                .servers
                .iter()
                .map(|server| server.name.clone())
                .collect(),
        };
        if summary.n_answered() > 0 {
            text_file::write(&self.scenario, &write_scenario(&recording, &self.name()))?;
        }
        Ok(summary)
    }

    /// The name of the scenario.
    fn name(&self) -> String {
        let stem = self.scenario.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Writes what the scenario of `recording` is once all is known of it. Without that, the calls stay as they were made.
    ///
    /// # Errors
    /// The operating system's.
    pub(super) fn understand(
        &self,
        recording: &Recording,
    ) -> io::Result<Result<Inferred, InferError>> {
        let inferred = infer(recording, None, &self.name());
        if let Ok(inferred) = &inferred {
            text_file::write(&self.scenario, &inferred.scenario.to_text())?;
        }
        Ok(inferred)
    }

    /// Reads the cassette; a line without its end is left out.
    pub(super) fn read(&self) -> io::Result<Recording> {
        let mut bytes = match fs::read(&self.cassette) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Recording::default());
            }
            bytes => bytes?,
        };
        bytes.truncate(whole_lines(&bytes));
        let first = bytes.split_inclusive(|byte| *byte == b'\n').next();
        if !first.is_some_and(|first| self.is_own(first)) {
            return Ok(Recording::default());
        }
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let source = SourceFile::new(self.cassette.display().to_string(), text);
        let (cassette, findings) = Cassette::read(&source);
        let message = || findings.first().map_or("", |finding| &finding.message);
        let cassette = cassette.ok_or_else(|| io::Error::other(message().to_owned()))?;
        Ok(cassette.recording())
    }

    /// Writes the scenario whenever the cassette has grown, until `stop`.
    pub async fn keep(self, stop: CancellationToken) {
        let mut pause = CHECKPOINT;
        let mut written = 0;
        while stop
            .run_until_cancelled(tokio::time::sleep(pause))
            .await
            .is_some()
        {
            let length = fs::metadata(&self.cassette).map_or(0, |data| data.len());
            if length == written {
                continue;
            }
            written = length;
            let (files, watch) = (self.clone(), Stopwatch::start());
            // What fails here fails at the end too, and is told there.
            let _ = tokio::task::spawn_blocking(move || files.checkpoint()).await;
            pause = CHECKPOINT.max(watch.elapsed() * SHARE);
        }
    }
}

/// The text of the scenario. A call that failed may fail again; one without an answer is left out.
fn write_scenario(recording: &Recording, name: &str) -> String {
    let mut answered = recording.clone();
    answered.calls.retain(|call| !call.is_missing());
    let mut scenario = scenario(&answered, name);
    for (step, call) in scenario.steps.iter_mut().zip(&answered.calls) {
        step.on_error = (!call.is_success()).then_some("skip");
    }
    scenario.to_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_mended_by_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.cassette.jsonl");
        for (before, after) in [
            ("", "{\"n\":1}\n"),
            ("{\"ha", "{\"n\":1}\n"),
            ("{}\n", "{}\n{\"n\":1}\n"),
            ("{}\n{\"ha", "{}\n{\"n\":1}\n"),
        ] {
            let files = RecordedFiles::new(&folder.path().join("a.json"), false);
            // Its lines are told from those of others by the time that the first has.
            let text =
                |text: &str| text.replace("{}", &format!("{{\"at\":\"{}\"}}", files.recorded_at));
            fs::write(&path, text(before)).expect("writable");
            let mut file = CassetteFile::new(files.clone());
            file.append("{\"n\":1}\n");
            assert_eq!(file.error, None);
            assert_eq!(fs::read_to_string(&path).expect("text"), text(after));
        }
    }

    #[test]
    fn a_line_that_was_cut_off_in_a_letter_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = RecordedFiles::new(&folder.path().join("a.json"), false);
        let whole = format!(
            "{{\"cassette\":1,\"server\":\"a\",\"recorded_at\":\"{}\"}}\n{{\"tool\":\"t\",\"result\":\"x\"}}\n",
            files.recorded_at
        );
        let torn = [whole.as_bytes(), b"{\"tool\":\"caf\xc3"].concat();
        fs::write(&files.cassette, torn).expect("writable");
        assert_eq!(files.read().expect("readable").calls.len(), 1);
    }

    #[test]
    fn a_recording_is_replaced_by_the_first_call_of_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = |at: &str| RecordedFiles {
            recorded_at: at.to_owned(),
            ..RecordedFiles::new(&folder.path().join("a.json"), true)
        };
        let head = |at: &str| format!("{{\"cassette\":1,\"recorded_at\":\"{at}\"}}\n");
        let text = || fs::read_to_string(folder.path().join("a.cassette.jsonl")).expect("text");
        let scenario = folder.path().join("a.json");
        fs::write(&scenario, "{}").expect("writable");
        let mut first = CassetteFile::new(files("first"));
        first.append_server(&head("first"));
        first.append("{\"tool\":\"a\"}\n");
        let of_first = text();
        let mut second = CassetteFile::new(files("second"));
        second.append_server(&head("second"));
        second.close();
        assert_eq!((text(), second.error.clone()), (of_first, None));
        assert!(scenario.exists());
        second.append("{\"tool\":\"b\"}\n");
        assert_eq!(text(), head("second") + "{\"tool\":\"b\"}\n");
        assert!(!scenario.exists());
        first.close();
        let error = first.error.expect("its calls are lost");
        assert!(
            error.contains("another recording took its place"),
            "{error}"
        );
    }

    #[test]
    fn a_cassette_that_cannot_be_written_says_why_once() {
        let mut file = CassetteFile::new(RecordedFiles::new(Path::new("/nowhere/a.json"), false));
        file.append("{}\n");
        let error = file.error.clone().expect("there is no such folder");
        assert_eq!(
            error,
            "`/nowhere/a.cassette.jsonl` can't be written: no such file"
        );
    }
}
