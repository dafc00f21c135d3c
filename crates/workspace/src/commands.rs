//! Shell commands: run in a process group of their own, within a time and an amount of output.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::process::ProcessSpec;

use crate::WorkspaceError;
use crate::running::{CommandEnd, OutputPosition, RunningCommand};

/// How much of each stream is kept unless a request says otherwise.
pub const DEFAULT_MAX_OUTPUT: usize = 1024 * 1024;

/// A command to run.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    /// What the shell is to do.
    pub command: String,
    /// The folder it starts in, absolute.
    pub cwd: PathBuf,
    /// Variables beside the inherited allow-list; a later entry of the same name wins.
    pub env: Vec<(OsString, OsString)>,
    /// After this time the whole process group is killed.
    pub timeout: Duration,
    /// The most bytes kept of each stream: its beginning and its end, or of a command in the background its end.
    pub max_output: usize,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CommandOutcome {
    /// Its output. Bytes that aren't UTF-8 are replaced; a mark in the middle says how much was dropped.
    pub stdout: String,
    /// Its error output, likewise.
    pub stderr: String,
    /// The shell's exit code, 128 + N if signal N ended it, `None` if the time ran out.
    pub exit_code: Option<i32>,
    /// Whether it was killed because the time ran out.
    pub timed_out: bool,
    /// Whether output was dropped.
    pub truncated: bool,
    /// Which streams had bytes that aren't UTF-8, in words.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Runs a command with `bash -c`, or `/bin/sh -c` where there is no bash, with its standard input closed.
/// `inherited` is the environment to choose from, as for `ProcessGroup::spawn`.
///
/// The command has ended when its shell has. What it left running in the background is killed then, and
/// what that still wrote counts for a tenth of a second only. Dropping the future kills the group.
///
/// # Errors
/// When the command could not be started; never because of what it did.
pub async fn run(
    request: CommandRequest,
    inherited: &[(OsString, OsString)],
) -> Result<CommandOutcome, WorkspaceError> {
    let (timeout, max) = (request.timeout, request.max_output);
    let command = start(request, inherited, [max / 2, max - max / 2]).await?;
    let ended = tokio::time::timeout(timeout, command.ended()).await.ok();
    command.stop().await;
    let output = command.output_since(OutputPosition::default(), |_| 0);
    Ok(CommandOutcome {
        stdout: output.stdout,
        stderr: output.stderr,
        exit_code: ended.map(CommandEnd::shell_code),
        timed_out: ended.is_none(),
        truncated: output.is_truncated,
        warnings: output.warnings,
    })
}

/// Starts a command as [`run`] does and doesn't wait for it; the request's timeout plays no part.
///
/// # Errors
/// As [`run`].
pub async fn start_in_background(
    request: CommandRequest,
    inherited: &[(OsString, OsString)],
) -> Result<RunningCommand, WorkspaceError> {
    let kept = [0, request.max_output];
    start(request, inherited, kept).await
}

async fn start(
    request: CommandRequest,
    inherited: &[(OsString, OsString)],
    kept: [usize; 2],
) -> Result<RunningCommand, WorkspaceError> {
    let start = Start::new(request, inherited).await?;
    RunningCommand::start_with_two_outputs(&start.spec, inherited, kept)
        .map_err(|source| start.error(source))
}

/// A checked command, ready to be started.
struct Start {
    spec: ProcessSpec,
    /// The command or its longest variable, with its length in bytes.
    longest: (String, usize),
}

impl Start {
    async fn new(
        request: CommandRequest,
        inherited: &[(OsString, OsString)],
    ) -> Result<Self, WorkspaceError> {
        check(&request).await?;
        let variables = request.env.iter().map(|(name, value)| {
            let name = format!("the variable `{}`", name.to_string_lossy());
            (name, value.len())
        });
        let command = ("the command".to_owned(), request.command.len());
        let longest = variables.chain([command.clone()]);
        Ok(Self {
            longest: longest.max_by_key(|(_, length)| *length).unwrap_or(command),
            spec: ProcessSpec {
                program: find_shell(inherited).into(),
                args: vec!["-c".into(), request.command.into()],
                env: request.env,
                cwd: Some(request.cwd),
            },
        })
    }

    fn error(&self, source: io::Error) -> WorkspaceError {
        if source.kind() == io::ErrorKind::ArgumentListTooLong {
            let (longest, length) = &self.longest;
            let problem = format!(
                "{longest} has {length} bytes: the command and its variables are longer than the system allows"
            );
            return WorkspaceError::new(problem).with_help(
                "write it to a file first, with claude__write, and let the command read that",
            );
        }
        let shell = PathBuf::from(self.spec.program.clone());
        let problem = format!("failed to run the shell `{}`: {source}", shell.display());
        WorkspaceError::new(problem)
            .with_help("a shell is looked up as `bash` in PATH, then at /bin/sh")
    }
}

/// The shell that [`run`] takes: `bash` from the `PATH` in `inherited`, else `/bin/bash`, else `/bin/sh`.
/// Relative entries of `PATH` don't count, or the working directory would decide.
pub fn find_shell(inherited: &[(OsString, OsString)]) -> PathBuf {
    let path = inherited.iter().rev().find(|(name, _)| name == "PATH");
    path.into_iter()
        .flat_map(|(_, path)| path.as_bytes().split(|byte| *byte == b':'))
        .map(|folder| Path::new(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bash"))
        .chain([PathBuf::from("/bin/bash")])
        .find(|candidate| is_executable(candidate))
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Finds what the system would refuse with a message that doesn't tell which part it means.
async fn check(request: &CommandRequest) -> Result<(), WorkspaceError> {
    let nul = |place: &str| {
        WorkspaceError::new(format!("NUL byte in {place}"))
            .with_help("write binary data to a file and pass its path")
    };
    if request.command.contains('\0') {
        return Err(nul("the command"));
    }
    for (name, value) in &request.env {
        let shown = name.to_string_lossy();
        if name.is_empty() || has_byte(name, b'=') || has_byte(name, 0) {
            let problem = format!("`{shown}` is not a valid variable name");
            let help = "a name is not empty and has neither `=` nor a NUL byte in it";
            return Err(WorkspaceError::new(problem).with_help(help));
        }
        if has_byte(value, 0) {
            return Err(nul(&format!("the variable `{shown}`")));
        }
    }
    match tokio::fs::metadata(&request.cwd).await {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        _ => {
            let folder = request.cwd.display();
            let problem = format!("the working directory `{folder}` is not a folder");
            Err(WorkspaceError::new(problem))
        }
    }
}

fn has_byte(text: &OsStr, byte: u8) -> bool {
    text.as_bytes().contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(command: &str) -> CommandRequest {
        CommandRequest {
            command: command.to_owned(),
            cwd: "/".into(),
            env: Vec::new(),
            timeout: Duration::from_secs(60),
            max_output: DEFAULT_MAX_OUTPUT,
        }
    }

    fn inherited() -> Vec<(OsString, OsString)> {
        vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]
    }

    async fn outcome(request: CommandRequest) -> CommandOutcome {
        run(request, &inherited()).await.expect("it starts")
    }

    /// Whether a process is there and not a zombie.
    fn alive(pid: &str) -> bool {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    }

    #[tokio::test]
    async fn both_streams_and_the_code_are_told_apart() {
        let outcome = outcome(request("echo out; echo err >&2; exit 3")).await;
        let json = serde_json::to_value(&outcome).expect("serialises");
        assert_eq!(
            json,
            serde_json::json!({"stdout": "out\n", "stderr": "err\n", "exit_code": 3, "timed_out": false, "truncated": false})
        );
    }

    #[tokio::test]
    async fn input_is_closed_and_the_shell_is_bash() {
        let outcome = outcome(request(
            "cat; [[ -n $BASH_VERSION ]] && echo bash; pwd; echo $GIVEN",
        ))
        .await;
        assert_eq!(outcome.stdout, "bash\n/\n\n");
    }

    #[tokio::test]
    async fn variables_and_the_folder_are_passed() {
        let folder = tempfile::tempdir().expect("a temp folder");
        let cwd = folder.path().canonicalize().expect("there");
        let mut request = request("echo \"$GIVEN\"; pwd");
        request.cwd = cwd.clone();
        request.env = vec![("GIVEN".into(), "a b".into())];
        assert_eq!(
            outcome(request).await.stdout,
            format!("a b\n{}\n", cwd.display())
        );
    }

    #[tokio::test]
    async fn a_signal_is_128_and_its_number() {
        assert_eq!(outcome(request("kill -TERM $$")).await.exit_code, Some(143));
        assert_eq!(outcome(request("kill -KILL $$")).await.exit_code, Some(137));
    }

    #[tokio::test]
    async fn a_timeout_kills_the_grandchild_too() {
        // On a busy machine the first times may be too short for the shell to get anywhere.
        for timeout in [100, 400, 1_600, 6_400, 25_600] {
            let mut request = request("sleep 600 & echo $!; trap '' TERM; wait");
            request.timeout = Duration::from_millis(timeout);
            let outcome = outcome(request).await;
            assert_eq!((outcome.exit_code, outcome.timed_out), (None, true));
            if outcome.stdout.ends_with('\n') {
                while alive(&outcome.stdout) {
                    tokio::task::yield_now().await;
                }
                return;
            }
        }
        panic!("what it wrote before the time ran out is lost");
    }

    #[tokio::test]
    async fn a_background_child_that_keeps_the_pipes_is_not_waited_for() {
        let outcome = outcome(request("sleep 600 & echo $!")).await;
        assert_eq!((outcome.exit_code, outcome.timed_out), (Some(0), false));
        while alive(&outcome.stdout) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_background_child_that_floods_the_pipes_is_not_waited_for() {
        let outcome = outcome(request("yes & exit 7")).await;
        assert_eq!(outcome.exit_code, Some(7));
    }

    #[tokio::test]
    async fn a_flood_is_bounded_and_the_writer_never_blocked() {
        let mut request = request(
            "printf start; head -c 52428800 /dev/zero | tr '\\0' x; printf end; printf fine >&2; exit 4",
        );
        request.max_output = 1_000;
        let outcome = outcome(request).await;
        assert_eq!((outcome.exit_code, outcome.truncated), (Some(4), true));
        assert!(outcome.stdout.starts_with("startxxx") && outcome.stdout.ends_with("xxxend"));
        assert!(
            outcome.stdout.contains("\n[… 52427808 bytes dropped …]\n"),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.len() < 1_100);
        assert_eq!(outcome.stderr, "fine");
    }

    #[tokio::test]
    async fn bytes_that_are_not_utf_8_are_replaced() {
        let replaced = outcome(request("printf 'a\\377b'; echo fine >&2")).await;
        assert_eq!(replaced.stdout, "a\u{FFFD}b");
        let warning = "`stdout` is not valid UTF-8: bytes were replaced by U+FFFD";
        assert_eq!(replaced.warnings, [warning]);
        let long = "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\377'";
        let dropped = "`stdout` is too long: a part of it was dropped";
        assert_eq!(outcome(request(long)).await.warnings, [warning, dropped]);
        assert!(
            outcome(request("echo '\u{FFFD}'"))
                .await
                .warnings
                .is_empty()
        );
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error() {
        let mut nowhere = request("true");
        nowhere.cwd = "/nowhere/at/all".into();
        let error = run(nowhere, &inherited()).await.expect_err("no folder");
        assert_eq!(
            error.to_string(),
            "the working directory `/nowhere/at/all` is not a folder"
        );
        let error = run(request("echo \0"), &inherited())
            .await
            .expect_err("a NUL");
        assert_eq!(error.to_string(), "NUL byte in the command");
        let mut named = request("true");
        named.env = vec![("A=B".into(), "c".into())];
        let error = run(named, &inherited()).await.expect_err("a bad name");
        assert_eq!(error.to_string(), "`A=B` is not a valid variable name");
        let long = format!("true {}", "x".repeat(8 * 1024 * 1024));
        let error = run(request(&long), &inherited())
            .await
            .expect_err("too long");
        assert!(
            error
                .to_string()
                .starts_with("the command has 8388613 bytes"),
            "{error}"
        );
        let mut variable = request("true \"$V\"");
        variable.env = vec![("V".into(), "x".repeat(200_000).into())];
        let error = run(variable, &inherited()).await.expect_err("too long");
        assert!(
            error
                .to_string()
                .starts_with("the variable `V` has 200000 bytes"),
            "{error}"
        );
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("claude__write")),
            "what to do"
        );
    }

    #[test]
    fn the_shell_comes_from_an_absolute_folder_of_path() {
        let folder = tempfile::tempdir().expect("a temp folder");
        let bash = folder.path().join("bash");
        std::fs::write(&bash, "").expect("written");
        let path = |text: String| vec![(OsString::from("PATH"), OsString::from(text))];
        let inherited = path(format!("relative:{}", folder.path().display()));
        assert_ne!(find_shell(&inherited), bash, "it is not executable");
        std::fs::set_permissions(&bash, std::fs::Permissions::from_mode(0o755)).expect("set");
        assert_eq!(find_shell(&inherited), bash);
        assert!(find_shell(&[]).is_absolute());
    }
}
