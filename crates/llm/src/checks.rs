//! The checks of a timeline's `assert` that a stand-in for a model can make: on files and repositories.

use std::ffi::OsString;
use std::path::Path;

use cuecard_source::value::Json;
use cuecard_timeline::model::{FileText, TimelineCheck};
use cuecard_trace::{Assertion, EventData};

use cuecard_workspace::git::Git;
use cuecard_workspace::probe::{self, ProbeResult};

/// What became of a check.
#[derive(Debug)]
pub(super) enum Judged {
    Holds {
        evidence: String,
    },
    Fails {
        evidence: String,
    },
    /// It needs what is not there.
    Unjudged {
        why: &'static str,
    },
}

impl Judged {
    /// The event for the trace, if it was judged.
    pub(super) fn event(&self, path: &str, key: &str) -> Option<EventData> {
        let (status, evidence) = match self {
            Self::Holds { evidence } => ("pass", evidence),
            Self::Fails { evidence } => ("fail", evidence),
            Self::Unjudged { .. } => return None,
        };
        Some(EventData::Assertion(Assertion {
            id: format!("{path}.{key}"),
            kind: key.split('[').next().unwrap_or(key).to_owned(),
            status: status.to_owned(),
            observed: Json::String(evidence.to_owned()),
            evidence: (status == "fail").then(|| evidence.to_owned()),
        }))
    }
}

/// Makes a check in `workspace`.
pub(super) async fn judge(
    check: &TimelineCheck,
    workspace: &Path,
    environment: &[(OsString, OsString)],
) -> Judged {
    let git = Git {
        root: workspace,
        environment,
    };
    let seen: ProbeResult = match check {
        TimelineCheck::FileExists(path) => probe::exists(workspace, path),
        TimelineCheck::FileAbsent(path) => probe::is_absent(workspace, path),
        TimelineCheck::FileContains { path, test } => match test {
            FileText::Substring(part) => probe::contains(workspace, path, part),
            FileText::Regex(pattern) => probe::fits(workspace, path, pattern),
        },
        TimelineCheck::JsonFile {
            path,
            pointer,
            equals,
        } => probe::has_value(workspace, path, pointer, equals),
        TimelineCheck::GitBranch { name, exists } => git.branch(name, *exists).await,
        TimelineCheck::GitRemoteExists(name) => git.remote(name).await,
        TimelineCheck::GitRemoteBranch { name, exists } => git.remote_branch(name, *exists).await,
        TimelineCheck::GitCommitsAhead {
            base,
            branch,
            count,
        } => git.commits_ahead(base, branch, *count).await,
        TimelineCheck::GitCommit {
            reference,
            message_contains,
        } => git.message(reference, message_contains).await,
        TimelineCheck::ScreenContains(_)
        | TimelineCheck::ScreenOmits(_)
        | TimelineCheck::Screenshot { .. } => {
            return Judged::Unjudged {
                why: "no terminal available",
            };
        }
        TimelineCheck::ExitCode(_) => {
            return Judged::Unjudged {
                why: "no `userCommand` was run",
            };
        }
        TimelineCheck::AcpSession { .. } => {
            return Judged::Unjudged {
                why: "no ACP session available",
            };
        }
    };
    match seen.holds {
        true => Judged::Holds {
            evidence: seen.evidence,
        },
        false => Judged::Fails {
            evidence: seen.evidence,
        },
    }
}
