//! What the proxies of one recording share: where it goes, and what they stand in front of.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::process::INHERITED;
use cuecard_source::decode::Items;
use cuecard_source::diagnostic::{Diagnostic, find_code};
use cuecard_source::value::{Redactor, as_text};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cassette::{CassetteFile, RecordedFiles, Summary};
use super::tap::Tap;
use crate::Recording;
use crate::cassette::{ServerLine, VERSION, line};
use crate::infer::{InferError, Inferred, secrets};
use crate::marks::{MARK, Marks};

/// A shorter value of a variable may be any word, in bytes.
const SHORTEST_SECRET: usize = 8;
/// So many words and signs of a prompt may be one secret.
const LONGEST_PART: usize = 24;

/// A recording of several servers, as its proxies read it from a file that nobody else may read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    /// The files that they write.
    pub files: RecordedFiles,
    /// When the recording began, as seconds of the system's clock.
    pub began: f64,
    /// What must not be written.
    secrets: Vec<String>,
    /// How secrets are marked, which is not written either.
    marks: Marks,
    /// The servers by their names.
    pub servers: BTreeMap<String, Upstream>,
}

/// A server that a proxy stands in front of.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Upstream {
    /// A process.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// All its variables.
        env: Vec<(String, String)>,
        /// Its working directory; the proxy's if absent.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Url {
        /// The endpoint.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// A server behind Streamable HTTP.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
}

impl Endpoint {
    /// The server at `url`, which gets `headers` with every request.
    ///
    /// # Errors
    /// In words, if there can be no such requests.
    pub fn new(url: &str, headers: &[(String, String)]) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("its URL is invalid: {error}"))?;
        let pairs = headers.iter().map(|(name, value)| {
            let mut value = HeaderValue::from_str(value).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::try_from(name).ok()?, value))
        });
        let headers: Option<HeaderMap> = pairs.collect();
        let headers = headers.ok_or("one of its headers is invalid")?;
        Ok(Self { url, headers })
    }
}

impl Session {
    /// A recording into `files` that begins now, without servers. The secrets that the user `named` are variables of
    /// these names.
    pub fn new(
        files: &RecordedFiles,
        mut secrets: Vec<String>,
        named: &[(String, String)],
    ) -> Self {
        secrets.extend(named.iter().map(|(_, value)| value.clone()));
        let names = named
            .iter()
            .map(|(name, value)| (value.clone(), name.clone()));
        Self {
            files: files.clone(),
            began: epoch(&Clock::start()),
            secrets,
            marks: Marks {
                salt: RandomState::new().hash_one(&files.recorded_at),
                names: names.collect(),
            },
            servers: BTreeMap::new(),
        }
    }

    /// The tap of the server `name`. What the recording calls it is `name` if `is_fixed`, else as it calls itself.
    pub fn tap(&self, name: &str, is_fixed: bool) -> Arc<Mutex<Tap>> {
        let clock = Clock::start();
        let offset = Duration::try_from_secs_f64(epoch(&clock) - self.began).unwrap_or_default();
        let tap = Tap::new(
            (is_fixed.then(|| name.to_owned()), name),
            (Redactor::new(self.all_secrets()), self.marks.clone()),
            (clock, offset),
            CassetteFile::new(self.files.clone()),
        );
        Arc::new(Mutex::new(tap))
    }

    /// Ends the recording, in which the user asked the agent for `prompts`: writes them into the cassette, and the scenario
    /// as it is understood. If it can't be, the scenario has the calls as they were made.
    ///
    /// # Errors
    /// The operating system's.
    pub fn finish(
        &self,
        prompts: &[String],
    ) -> io::Result<(Summary, Result<Inferred, InferError>)> {
        // Whoever is killed from here on has this.
        let summary = self.files.checkpoint()?;
        if summary.n_answered() == 0 {
            return Ok((summary, Err(InferError::NoCalls)));
        }
        let mut recording = self.files.read()?;
        recording.prompts = prompts.to_vec();
        self.hide_in_prompts(&mut recording);
        if !prompts.is_empty() {
            let mut file = CassetteFile::new(self.files.clone());
            file.append(&line(&ServerLine {
                cassette: VERSION,
                server: summary.servers.first().cloned(),
                prompts: Items(recording.prompts.clone()),
                recorded_at: Some(self.files.recorded_at.clone()),
                ..ServerLine::default()
            }));
            if let Some(error) = file.error {
                return Err(io::Error::other(error));
            }
        }
        Ok((summary, self.files.understand(&recording)?))
    }

    /// Hides what the proxies hid, which is known by its marks, and what a prompt itself calls a secret.
    fn hide_in_prompts(&self, recording: &mut Recording) {
        let written = json!(recording.calls).to_string();
        let marks: HashSet<&str> = MARK.find_iter(&written).map(|mark| mark.as_str()).collect();
        let mut redactor = Redactor::new(self.all_secrets());
        redactor.learn(secrets(recording, None));
        for prompt in &recording.prompts {
            let hidden = parts_of(prompt).filter(|part| marks.contains(&*self.marks.mark(part)));
            redactor.learn(hidden.map(str::to_owned));
        }
        for prompt in &mut recording.prompts {
            let mut text = Value::from(std::mem::take(prompt));
            self.marks.hide(&redactor, &mut text);
            *prompt = as_text(&text).into_owned();
        }
    }

    /// What must not be written, with the values of the variables that the servers get beside those that every program needs.
    fn all_secrets(&self) -> Vec<String> {
        let mut secrets = self.secrets.clone();
        for server in self.servers.values() {
            if let Upstream::Command { env, .. } = server {
                let is_secret = |(name, value): &&(String, String)| {
                    !INHERITED.contains(&name.as_str()) && value.len() >= SHORTEST_SECRET
                };
                let values = env.iter().filter(is_secret).map(|(_, value)| value.clone());
                secrets.extend(values);
            }
        }
        secrets
    }
}

/// The parts of a text that begin and end where a word does, or a sign.
fn parts_of(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = vec![0];
    let mut was_in_word = false;
    for (at, letter) in text.char_indices() {
        let is_in_word = letter.is_alphanumeric();
        if at > 0 && !(is_in_word && was_in_word) {
            ends.push(at);
        }
        was_in_word = is_in_word;
    }
    ends.push(text.len());
    (0..ends.len()).flat_map(move |first| {
        let last = ends.len().min(first + LONGEST_PART + 1);
        let parts = ends[first..last].iter().skip(1);
        let start = ends[first];
        let parts: Vec<&str> = parts.map(|end| &text[start..*end]).collect();
        parts
    })
}

fn epoch(clock: &Clock) -> f64 {
    clock.timestamp(Duration::ZERO).as_duration().as_secs_f64()
}

/// The folder of a recording of several servers, which only its owner may read and which goes at the end: what is
/// handed to the agent and to the proxies, and what those tell.
#[derive(Debug)]
pub struct SessionFolder {
    folder: TempDir,
    /// The lock on it, which ends with this process.
    _lock: File,
}

/// What the names of session folders begin with.
const PREFIX: &str = "cuecard-record-";
/// The file in which each proxy writes a [`ProxyReport`] a line, when it begins and at its end: agents show nobody what
/// their servers say.
const REPORTS: &str = "proxies.jsonl";

/// What a proxy tells the owner of the recording.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ProxyReport {
    /// The server.
    pub server: String,
    /// How many calls it could not record.
    pub n_unrecorded: usize,
    /// The names of codes, and what was found.
    problems: Vec<(String, String)>,
}

impl ProxyReport {
    /// The report of the proxy of `server`: how many calls it could not record, and what it `found`.
    pub fn new(server: &str, n_unrecorded: usize, found: &[Diagnostic]) -> Self {
        let problems = found.iter().map(|found| {
            let notes: String = found.notes.iter().map(|note| format!("; {note}")).collect();
            let text = format!("{}{notes}", found.message);
            let words: Vec<&str> = text.split_whitespace().collect();
            (found.code.name().to_owned(), words.join(" "))
        });
        Self {
            server: server.to_owned(),
            n_unrecorded,
            problems: problems.collect(),
        }
    }

    /// What was found, as warnings.
    pub fn problems(&self) -> impl Iterator<Item = Diagnostic> {
        let problems = self.problems.iter();
        problems.filter_map(|(code, text)| Some(Diagnostic::warning(find_code(code)?, text)))
    }

    /// Tells the owner of the recording whose proxies read `session`.
    pub fn send(&self, session: &Path) {
        let line = json!(self).to_string() + "\n";
        let file = File::options()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(session.with_file_name(REPORTS));
        // Without a place to tell it, it was told on standard error.
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

impl SessionFolder {
    /// A new folder in `parent`, with `session` in it. Folders there of sessions that were killed are removed.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create(parent: &Path, session: &Session) -> io::Result<Self> {
        sweep(parent);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            let lock = File::open(folder.path())?;
            // Where files can't be locked, nobody sweeps either.
            let _ = lock.lock();
            // Another session may have swept it before it was locked.
            if !folder.path().exists() {
                continue;
            }
            let folder = Self {
                folder,
                _lock: lock,
            };
            folder.write("session.json", &serde_json::to_string(session)?)?;
            return Ok(folder);
        }
    }

    /// The file that proxies read.
    pub fn session(&self) -> PathBuf {
        self.folder.path().join("session.json")
    }

    /// The file that the agent reads.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("mcp.json")
    }

    /// Writes the file that the agent reads.
    ///
    /// # Errors
    /// The operating system's.
    pub fn write_config(&self, text: &str) -> io::Result<()> {
        self.write("mcp.json", text)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let mut options = File::options();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.folder.path().join(name));
        file?.write_all(text.as_bytes())
    }

    /// What the proxies told.
    pub fn reports(&self) -> Vec<ProxyReport> {
        let told = fs::read_to_string(self.folder.path().join(REPORTS)).unwrap_or_default();
        let reports = told
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        reports.collect()
    }
}

/// Removes the folders in `parent` whose sessions are over. What belongs to somebody else can't be opened.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = is_ours.then(|| File::open(entry.path()));
        if let Some(Ok(lock)) = lock
            && lock.try_lock().is_ok()
        {
            // What can't be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;

    #[test]
    fn a_secret_that_a_proxy_hid_is_hidden_in_the_prompt_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = RecordedFiles::new(&folder.path().join("a.json"), false);
        let named = ("KEY".to_owned(), "named-by-the-user".to_owned());
        let session = Session::new(&files, vec!["told-by-a-config".to_owned()], &[named]);
        let head = line(&ServerLine {
            cassette: VERSION,
            server: Some("shop".to_owned()),
            recorded_at: Some(files.recorded_at.clone()),
            ..ServerLine::default()
        });
        let secrets = ["hunter2!x", "correct horse 9", "s€crét"];
        let arguments = secrets.map(|secret| json!({"value": session.marks.mark(secret)}));
        let calls = arguments.map(|arguments| {
            line(&Call {
                server: Some("shop".to_owned()),
                tool: "type".to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                result: Some(json!({"content": []})),
                ..Call::default()
            })
        });
        fs::write(&files.cassette, head + &calls.concat()).expect("writable");
        let prompt = "Sign in as ann:hunter2!x, then (correct horse 9). Try 'url?p=s€crét' too, \
            with told-by-a-config, named-by-the-user and password=swordfish-77; order 4711 at once";
        let (summary, inferred) = session.finish(&[prompt.to_owned()]).expect("it is written");
        assert_eq!(summary.n_calls, 3);
        assert!(inferred.is_ok());
        let written = [&files.cassette, &files.scenario].map(fs::read_to_string);
        for text in written.map(|text| text.expect("it is there")) {
            for secret in
                secrets
                    .iter()
                    .chain(&["told-by-a-config", "named-by-the-user", "swordfish-77"])
            {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
            assert!(text.contains("order 4711 at once"), "{text}");
        }
        let read = files.read().expect("it is whole");
        assert!(read.prompts[0].contains(&session.marks.mark("s€crét")));
    }
}
