//! The checks of a timeline's `assert` that are about files and repositories.

use std::ffi::OsString;
use std::path::Path;

use cuecard_timeline::model::{FileText, TimelineCheck};

use crate::git::Git;
use crate::probe::{self, ProbeResult};

/// Makes a check in `workspace`; nothing if it is about something else.
pub async fn check(
    check: &TimelineCheck,
    workspace: &Path,
    environment: &[(OsString, OsString)],
) -> Option<ProbeResult> {
    let git = Git {
        root: workspace,
        environment,
    };
    Some(match check {
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
        | TimelineCheck::Screenshot { .. }
        | TimelineCheck::ExitCode(_)
        | TimelineCheck::AcpSession { .. }
        | TimelineCheck::Request(_) => return None,
    })
}
