//! Asks `git` about a repository.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use super::probe::ProbeResult;
use super::seed::FIXED;
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};

/// How long `git` may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// What is set for `git` when it is asked.
const ASKING: [(&str, &str); 2] = [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")];
/// More of its output is not read, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// A repository.
#[derive(Debug, Clone, Copy)]
pub struct Git<'a> {
    /// A folder in its work tree.
    pub root: &'a Path,
    /// The environment of which `git` gets what it needs.
    pub environment: &'a [(OsString, OsString)],
}

impl Git<'_> {
    /// Whether the branch `name` exists, or does not.
    pub async fn branch(&self, name: &str, exists: bool) -> ProbeResult {
        let reference = format!("refs/heads/{name}");
        let arguments = ["show-ref", "--verify", "--quiet", "--", &reference];
        let found = match self.ask(&arguments, &ASKING).await {
            Err(reason) => return seen(false, reason),
            Ok(answer) => answer.code == Some(0),
        };
        let word = if found { "exists" } else { "does not exist" };
        seen(found == exists, format!("the branch `{name}` {word}"))
    }

    /// Whether there is a remote called `name`.
    pub async fn remote(&self, name: &str) -> ProbeResult {
        match self.succeed(&["remote"]).await {
            Err(reason) => seen(false, reason),
            Ok(remotes) => {
                let found = remotes.lines().any(|remote| remote == name);
                let all: Vec<&str> = remotes.lines().take(20).collect();
                seen(found, format!("the remotes are: {}", all.join(", ")))
            }
        }
    }

    /// Whether the branch `name` exists on a remote, as far as was last heard of it, or is absent from all.
    pub async fn remote_branch(&self, name: &str, exists: bool) -> ProbeResult {
        let arguments = ["for-each-ref", "--format=%(refname)", "refs/remotes"];
        match self.succeed(&arguments).await {
            Err(reason) => seen(false, reason),
            Ok(references) => {
                let branch = |reference: &str| {
                    let rest = reference.strip_prefix("refs/remotes/")?;
                    Some(rest.split_once('/')?.1 == name)
                };
                let found = references.lines().any(|line| branch(line) == Some(true));
                let word = if found { "exists" } else { "does not exist" };
                seen(
                    found == exists,
                    format!("the branch `{name}` {word} on a remote"),
                )
            }
        }
    }

    /// Whether `branch` has so many commits that `base` lacks; without a count at least one.
    pub async fn commits_ahead(&self, base: &str, branch: &str, count: Option<u64>) -> ProbeResult {
        let range = format!("{base}..{branch}");
        match self
            .succeed(&["rev-list", "--count", "--end-of-options", &range, "--"])
            .await
        {
            Err(reason) => seen(false, reason),
            Ok(text) => {
                let found: u64 = text.trim().parse().unwrap_or_default();
                let holds = count.map_or(found > 0, |count| found == count);
                seen(
                    holds,
                    format!("`{branch}` is {found} commits ahead of `{base}`"),
                )
            }
        }
    }

    /// Whether the message of the commit `reference` holds `part`.
    pub async fn message(&self, reference: &str, part: &str) -> ProbeResult {
        let format = [
            "log",
            "-1",
            "--format=%B",
            "--end-of-options",
            reference,
            "--",
        ];
        match self.succeed(&format).await {
            Err(reason) => seen(false, reason),
            Ok(message) => {
                let message = message.trim();
                let shown = cuecard_source::value::cut(message, 400);
                seen(
                    message.contains(part),
                    format!("the message of `{reference}` is {shown:?}"),
                )
            }
        }
    }

    async fn succeed(&self, arguments: &[&str]) -> Result<String, String> {
        let answer = self.ask(arguments, &ASKING).await?;
        self.output(arguments, answer)
    }

    /// Changes a repository, in the same way in every run: with a fixed author and date, and without the configuration
    /// of the user.
    ///
    /// # Errors
    /// What `git` says.
    pub(super) async fn change(&self, arguments: &[&str]) -> Result<String, String> {
        let answer = self.ask(arguments, &FIXED).await?;
        self.output(arguments, answer)
    }

    /// Applies a unified diff to the files of `root`, as a whole or not at all; whether or not it is a repository.
    ///
    /// # Errors
    /// What `git` says: which hunk does not fit.
    pub async fn apply(&self, patch: &Path) -> Result<(), String> {
        let patch = patch.to_string_lossy();
        self.change(&["apply", "--whitespace=nowarn", "--", &patch])
            .await
            .map(drop)
    }

    /// Commits all that has changed.
    ///
    /// # Errors
    /// What `git` says.
    pub async fn commit_all(&self, message: &str) -> Result<(), String> {
        self.change(&["add", "--all"]).await?;
        self.change(&["commit", "--quiet", "--message", message])
            .await
            .map(drop)
    }

    fn output(&self, arguments: &[&str], answer: Answer) -> Result<String, String> {
        match answer.code {
            Some(0) => Ok(answer.stdout),
            _ => Err(format!(
                "git {}: {}",
                arguments.first().copied().unwrap_or_default(),
                answer.stderr.trim()
            )),
        }
    }

    async fn ask(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Answer, String> {
        let mut args: Vec<OsString> = ["-c", "core.fsmonitor=false", "--no-pager"]
            .iter()
            .map(Into::into)
            .collect();
        args.extend(arguments.iter().map(Into::into));
        let spec = ProcessSpec {
            program: "git".into(),
            args,
            env: variables
                .iter()
                .chain(&[("LC_ALL", "C")])
                .map(|(name, value)| (name.into(), value.into()))
                // A repository around the folder is not meant.
                .chain(
                    self.root
                        .parent()
                        .map(|above| ("GIT_CEILING_DIRECTORIES".into(), above.into())),
                )
                .collect(),
            cwd: Some(self.root.to_owned()),
        };
        let mut git = ProcessGroup::spawn(&spec, self.environment)
            .map_err(|error| format!("failed to start git: {error}"))?;
        let (out, err) = (git.stdout.take(), git.stderr.take());
        let work = async {
            let (stdout, stderr) = tokio::join!(whole(out), whole(err));
            let status = git.wait().await;
            Answer {
                code: status.ok().and_then(|status| status.code()),
                stdout,
                stderr,
            }
        };
        tokio::time::timeout(TIMEOUT, work)
            .await
            .map_err(|_| format!("git timed out after {} s", TIMEOUT.as_secs()))
    }
}

struct Answer {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

async fn whole(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What was read before an error is what there is.
        let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut bytes).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn seen(holds: bool, evidence: String) -> ProbeResult {
    ProbeResult { holds, evidence }
}
