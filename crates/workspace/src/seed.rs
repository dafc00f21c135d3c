//! Fills the folder that an agent starts in: what `repo` of a timeline says.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cuecard_runtime::policy::inside;
use cuecard_runtime::text_file::{folder_of, io_reason};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{Repository, RepositoryMode, SeedFile, Timeline};

use super::git::Git;

/// More entries of a tree are not copied.
const MAX_ENTRIES: usize = 100_000;

/// Fills `root`, an empty folder, with what the `repo` of `timeline` says; nothing if it has none. Commits have the same
/// author and date in every run, so they have the same ids.
///
/// # Errors
/// What could not be copied, written, cloned or committed.
pub async fn seed(
    timeline: &Timeline,
    root: &Path,
    environment: &[(OsString, OsString)],
) -> Result<(), Diagnostic> {
    let Some(repository) = &timeline.repository else {
        return Ok(());
    };
    let beside = folder_of(Path::new(timeline.source.name())).to_owned();
    let git = Git { root, environment };
    fill(repository, &beside, git).await.map_err(|(path, why)| {
        let message = format!(
            "the workspace of `{}` can't be set up: {why}",
            timeline.name
        );
        let found = Diagnostic::error(codes::FILE_WRITE, message);
        match path {
            Some(path) => found.with_note(format!("at `{}`", path.display())),
            None => found,
        }
    })
}

/// What went wrong, and where.
type Problem = (Option<PathBuf>, String);

async fn fill(repository: &Repository, beside: &Path, git: Git<'_>) -> Result<(), Problem> {
    let of_git = |why: String| (None, why);
    let root = git.root;
    let has_history = match repository.mode {
        Some(RepositoryMode::None) => return Ok(()),
        Some(RepositoryMode::Git) => {
            let url = repository.url.as_deref().unwrap_or_default();
            // A path is one beside the scenario.
            let local = beside.join(url);
            let url = match local.exists() {
                true => local.to_string_lossy().into_owned(),
                false => url.to_owned(),
            };
            git.change(&["clone", "--quiet", "--", &url, "."])
                .await
                .map_err(of_git)?;
            if let Some(revision) = &repository.revision {
                git.change(&["checkout", "--quiet", revision, "--"])
                    .await
                    .map_err(of_git)?;
            }
            true
        }
        None => {
            if repository.init {
                git.change(&["init", "--quiet", "--initial-branch=main"])
                    .await
                    .map_err(of_git)?;
            }
            false
        }
    };
    if let Some(folder) = &repository.folder {
        let from = beside.join(folder);
        let mut n_entries = 0;
        copy(&from, root, &mut n_entries)?;
    }
    for SeedFile { path, contents, .. } in &repository.files {
        let problem = |why: String| (Some(path.clone()), why);
        let to = inside(root, &root.join(path)).map_err(problem)?;
        let written = std::fs::create_dir_all(to.parent().unwrap_or(root))
            .and_then(|()| std::fs::write(&to, contents));
        written.map_err(|error| problem(io_reason(&error)))?;
    }
    if !repository.init && !has_history {
        return Ok(());
    }
    for (key, value) in [("user.name", AUTHOR), ("user.email", EMAIL)] {
        git.change(&["config", key, value]).await.map_err(of_git)?;
    }
    if !has_history || repository.commit.is_some() {
        let message = repository.commit.as_deref().unwrap_or("Initial commit");
        git.change(&["add", "--all"]).await.map_err(of_git)?;
        let commit = [
            "commit",
            "--quiet",
            "--allow-empty",
            "--no-verify",
            "-m",
            message,
        ];
        git.change(&commit).await.map_err(of_git)?;
    }
    if let Some(branch) = &repository.branch {
        let is_there = git.branch(branch, true).await.holds;
        let switch: &[&str] = match is_there {
            true => &["checkout", "--quiet", branch, "--"],
            false => &["checkout", "--quiet", "-b", branch],
        };
        git.change(switch).await.map_err(of_git)?;
    }
    Ok(())
}

/// Who commits what a scenario starts with.
const AUTHOR: &str = "Cuecard";
const EMAIL: &str = "cuecard@example.com";

/// What is set for `git` when it changes something: the same in every run, whatever the user's own configuration.
pub(super) const FIXED: [(&str, &str); 9] = [
    ("GIT_AUTHOR_NAME", AUTHOR),
    ("GIT_AUTHOR_EMAIL", EMAIL),
    ("GIT_AUTHOR_DATE", "2025-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", AUTHOR),
    ("GIT_COMMITTER_EMAIL", EMAIL),
    ("GIT_COMMITTER_DATE", "2025-01-01T00:00:00Z"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Copies what is in a folder: files with their mode, links as links.
fn copy(from: &Path, to: &Path, n_entries: &mut usize) -> Result<(), Problem> {
    let problem = |path: &Path, error: &std::io::Error| (Some(path.to_owned()), io_reason(error));
    let entries = std::fs::read_dir(from).map_err(|error| problem(from, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| problem(from, &error))?;
        *n_entries += 1;
        if *n_entries > MAX_ENTRIES {
            let why = format!("there are more than {MAX_ENTRIES} files");
            return Err((Some(from.to_owned()), why));
        }
        let (path, copy_of) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|error| problem(&path, &error))?;
        let copied = if kind.is_dir() {
            let made = std::fs::create_dir_all(&copy_of);
            made.map_err(|error| problem(&path, &error))?;
            copy(&path, &copy_of, n_entries)?;
            Ok(())
        } else if kind.is_symlink() {
            std::fs::read_link(&path)
                .and_then(|target| std::os::unix::fs::symlink(target, &copy_of))
        } else if kind.is_file() {
            std::fs::copy(&path, &copy_of).map(drop)
        } else {
            // Sockets, pipes and devices are no part of a tree.
            Ok(())
        };
        copied.map_err(|error| problem(&path, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }

    async fn seeded(text: &str) -> (tempfile::TempDir, PathBuf, Result<(), Diagnostic>) {
        let scratch = tempfile::tempdir().expect("a folder");
        let beside = scratch.path().join("scenarios");
        std::fs::create_dir_all(beside.join("tree/src")).expect("made");
        std::fs::write(beside.join("tree/src/a.txt"), "a\n").expect("written");
        std::os::unix::fs::symlink("src/a.txt", beside.join("tree/link")).expect("linked");
        let root = scratch.path().join("work");
        std::fs::create_dir(&root).expect("made");
        let name = beside.join("scenario.yaml");
        let source = cuecard_source::SourceFile::new(name.to_string_lossy(), text);
        let symbols = cuecard_timeline::format::Symbols::new();
        let read = cuecard_runtime::timelines::read_timeline(&source, &beside, &symbols);
        let timeline = read
            .timeline
            .unwrap_or_else(|| panic!("{:?}", read.diagnostics));
        let seeded = seed(&timeline, &root, &environment()).await;
        (scratch, root, seeded)
    }

    const ALL: &str = "\
name: s
repo: {init: true, branch: feature/x, dir: tree, files: [{path: docs/b.txt, contents: \"b\"}]}
timeline: [{complete: true}]
";

    #[tokio::test]
    async fn a_tree_and_files_are_committed_alike_in_every_run() {
        let mut heads = Vec::new();
        for _ in 0..2 {
            let (_scratch, root, seeded) = seeded(ALL).await;
            seeded.expect("it is set up");
            assert_eq!(
                std::fs::read_to_string(root.join("link")).ok().as_deref(),
                Some("a\n")
            );
            assert_eq!(
                std::fs::read_to_string(root.join("docs/b.txt"))
                    .ok()
                    .as_deref(),
                Some("b")
            );
            let environment = environment();
            let git = Git {
                root: &root,
                environment: &environment,
            };
            assert!(git.branch("feature/x", true).await.holds);
            assert!(git.branch("main", true).await.holds);
            heads.push(
                git.change(&["log", "--format=%H %s", "--all"])
                    .await
                    .expect("a log"),
            );
            let status = git.change(&["status", "--porcelain"]).await;
            assert_eq!(status.as_deref(), Ok(""));
        }
        assert!(
            heads[0].ends_with(" Initial commit\n") && heads[0].lines().count() == 1,
            "{heads:?}"
        );
        assert_eq!(heads[0], heads[1]);
    }

    #[tokio::test]
    async fn what_can_not_be_set_up_is_told() {
        let text = "name: s\nrepo: {mode: git, url: nowhere.git}\ntimeline: [{complete: true}]\n";
        let (_scratch, _, seeded) = seeded(text).await;
        let message = seeded.expect_err("there is no such repository").message;
        assert!(message.contains("can't be set up: git clone:"), "{message}");
    }
}
