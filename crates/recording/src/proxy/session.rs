//! What the proxies of one recording share: where it goes, and what they stand in front of.

use std::collections::BTreeMap;
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
use cuecard_source::diagnostic::{Diagnostic, find_code};
use cuecard_source::value::Redactor;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;

use super::cassette::{CassetteFile, RecordedFiles};
use super::tap::Tap;
use crate::marks::Marks;

/// A shorter value of a variable may be any word, in bytes.
const SHORTEST_SECRET: usize = 8;

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
