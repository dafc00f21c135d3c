//! The files of a recording: the cassette, which grows by a line a call, and the scenario, which is written anew as a
//! whole.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::clock::Stopwatch;
use cuecard_runtime::text_file::{self, io_reason};
use cuecard_source::SourceFile;
use rustix::fs::{FlockOperation, flock};
use tokio_util::sync::CancellationToken;

use crate::cassette::Cassette;
use crate::{Call, Outcome, Recording, scenario};

/// How often the scenario is written while calls come in, at most.
const CHECKPOINT: Duration = Duration::from_secs(1);
/// Writing it takes no more than one part in so many of the time.
const SHARE: u32 = 20;

/// A cassette that is written, perhaps by several processes at once.
#[derive(Debug)]
pub(super) struct CassetteFile {
    path: PathBuf,
    file: Option<File>,
    /// Why nothing more is written.
    pub(super) error: Option<String>,
}

impl CassetteFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            error: None,
        }
    }

    /// Appends a line, whole or not at all.
    pub(super) fn append(&mut self, line: &str) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.try_append(line.as_bytes()) {
            self.error = Some(format!(
                "`{}` can't be written: {}",
                self.path.display(),
                io_reason(&error)
            ));
        }
    }

    fn try_append(&mut self, line: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let options = File::options()
                    .read(true)
                    .append(true)
                    .create(true)
                    .open(&self.path)?;
                self.file.insert(options)
            }
        };
        flock(&*file, FlockOperation::LockExclusive)?;
        let written = append_whole(file, line);
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

/// The length of the lines that have an end.
fn whole_lines(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|byte| *byte == b'\n');
    last.map_or(0, |at| at + 1)
}

/// Where a recording goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFiles {
    /// The scenario.
    pub scenario: PathBuf,
    /// The cassette.
    pub cassette: PathBuf,
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

impl RecordedFiles {
    /// The scenario `x.json`, and `x.cassette.jsonl` beside it.
    pub fn new(scenario: &Path) -> Self {
        Self {
            scenario: scenario.to_owned(),
            cassette: scenario.with_extension("cassette.jsonl"),
        }
    }

    /// Writes the scenario of what is in the cassette so far; there is none without a call.
    ///
    /// # Errors
    /// The operating system's.
    pub fn checkpoint(&self) -> io::Result<Summary> {
        let recording = read(&self.cassette)?;
        let is_missing = |call: &&Call| call.outcome == Outcome::Missing;
        let missing = recording.calls.iter().filter(is_missing);
        let summary = Summary {
            n_calls: recording.calls.len(),
            missing: missing.map(|call| call.tool.clone()).collect(),
            servers: recording
                .servers
                .iter()
                .map(|server| server.name.clone())
                .collect(),
        };
        if summary.n_calls > 0 {
            let name = self
                .scenario
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy();
            text_file::write(&self.scenario, &write_scenario(&recording, &name))?;
        }
        Ok(summary)
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
    answered
        .calls
        .retain(|call| call.outcome != Outcome::Missing);
    let mut scenario = scenario(&answered, name);
    for (step, call) in scenario.steps.iter_mut().zip(&answered.calls) {
        let has_failed = match &call.outcome {
            Outcome::Result(result) => result["isError"] == true,
            Outcome::Error(_) => true,
            Outcome::BuiltIn(_) | Outcome::Missing => false,
        };
        step.on_error = has_failed.then_some("skip");
    }
    scenario.to_text()
}

/// Reads the cassette; a line without its end is left out.
fn read(path: &Path) -> io::Result<Recording> {
    let mut bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Recording::default()),
        bytes => bytes?,
    };
    bytes.truncate(whole_lines(&bytes));
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    if text.is_empty() {
        return Ok(Recording::default());
    }
    let source = SourceFile::new(path.display().to_string(), text);
    let (cassette, findings) = Cassette::read(&source);
    let Some(cassette) = cassette else {
        let message = findings.first().map_or("", |finding| &finding.message);
        return Err(io::Error::other(message.to_owned()));
    };
    let mut recording = cassette.recording();
    recording.calls.sort_by_key(|call| call.started);
    Ok(recording)
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
            fs::write(&path, before).expect("writable");
            let mut file = CassetteFile::new(path.clone());
            file.append("{\"n\":1}\n");
            assert_eq!(file.error, None);
            assert_eq!(fs::read_to_string(&path).expect("text"), after);
        }
    }

    #[test]
    fn a_line_that_was_cut_off_in_a_letter_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.cassette.jsonl");
        let whole = "{\"cassette\":1,\"server\":\"a\"}\n{\"tool\":\"t\",\"result\":\"x\"}\n";
        let torn = [whole.as_bytes(), b"{\"tool\":\"caf\xc3"].concat();
        fs::write(&path, torn).expect("writable");
        assert_eq!(read(&path).expect("readable").calls.len(), 1);
    }

    #[test]
    fn a_cassette_that_cannot_be_written_says_why_once() {
        let mut file = CassetteFile::new("/nowhere/a.jsonl".into());
        file.append("{}\n");
        let error = file.error.clone().expect("there is no such folder");
        assert_eq!(error, "`/nowhere/a.jsonl` can't be written: no such file");
    }
}
