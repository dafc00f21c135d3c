//! What the proxies of one recording share: where it goes, and what they stand in front of.

use std::collections::{BTreeMap, BTreeSet};
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
use tempfile::TempDir;

use super::cassette::{CassetteFile, RecordedFiles};
use super::tap::Tap;

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
    pub secrets: Vec<String>,
    /// What secrets are hashed with, which is not written either.
    salt: u64,
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
    /// A recording into `files` that begins now, without servers.
    pub fn new(files: &RecordedFiles, secrets: Vec<String>) -> Self {
        Self {
            files: files.clone(),
            began: epoch(&Clock::start()),
            secrets,
            salt: RandomState::new().hash_one(&files.recorded_at),
            servers: BTreeMap::new(),
        }
    }

    /// The tap of the server `name`. What the recording calls it is `name` if `is_fixed`, else as it calls itself.
    pub fn tap(&self, name: &str, is_fixed: bool) -> Arc<Mutex<Tap>> {
        let clock = Clock::start();
        let offset = Duration::try_from_secs_f64(epoch(&clock) - self.began).unwrap_or_default();
        let tap = Tap::new(
            (is_fixed.then(|| name.to_owned()), name),
            (Redactor::new(self.all_secrets()), self.salt),
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
pub struct SessionFolder(TempDir);

/// The file that proxies tell problems in, since agents show nobody what their servers say.
const PROBLEMS: &str = "problems.txt";

impl SessionFolder {
    /// A new folder, with `session` in it.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create(session: &Session) -> io::Result<Self> {
        let folder = Self(
            tempfile::Builder::new()
                .prefix("cuecard-record-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir()?,
        );
        folder.write("session.json", &serde_json::to_string(session)?)?;
        Ok(folder)
    }

    /// The file that proxies read.
    pub fn session(&self) -> PathBuf {
        self.0.path().join("session.json")
    }

    /// The file that the agent reads.
    pub fn config(&self) -> PathBuf {
        self.0.path().join("mcp.json")
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
            .open(self.0.path().join(name));
        file?.write_all(text.as_bytes())
    }

    /// What the proxies told, each once.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let told = fs::read_to_string(self.0.path().join(PROBLEMS)).unwrap_or_default();
        let told: BTreeSet<&str> = told.lines().collect();
        let problems = told.into_iter().filter_map(|line| {
            let (code, problem) = line.split_once(' ')?;
            Some(Diagnostic::warning(find_code(code)?, problem))
        });
        problems.collect()
    }
}

/// Tells a problem, in a line, to the owner of the recording whose proxies read `session`.
pub fn tell_problem(session: &Path, found: &Diagnostic) {
    let file = File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(session.with_file_name(PROBLEMS));
    let notes: String = found.notes.iter().map(|note| format!("; {note}")).collect();
    let problem = format!("{} {}{notes}", found.code.name(), found.message);
    let line: Vec<&str> = problem.split_whitespace().collect();
    // Without a place to tell it, it was told on standard error.
    let _ = file.and_then(|mut file| file.write_all(format!("{}\n", line.join(" ")).as_bytes()));
}
