//! Commands in another folder, as profiles write them for shells without a place for that: run by real shells, and
//! compared with the same command that was started there.

use std::fs;
use std::process::{Command, Stdio};

use cuecard_timeline::profiles::shell::run_in;
use proptest::prelude::*;

/// Parts of commands. `mark` leaves a file that says where it ran.
const PARTS: &[&str] = &[
    "pwd",
    "cat file",
    "true",
    "false",
    "mark",
    "echo 'a;b' \"$((1 + 2))\" # a comment; mark\n",
    "cat <<'E'\n; mark\nE\n",
    "cat <<E\n$(pwd)\nE\n",
    "(mark)",
    "{ mark; }",
    "if true; then mark; fi",
    "for x in 1 2; do echo \"$x\"; done",
    "echo `pwd`",
    "x=1; echo $x",
    "echo a \\\n  b",
    "sh -c 'exit 3'",
    "case a in a) mark;; esac",
];

const BETWEEN: &[&str] = &[
    "; ",
    " && ",
    " || ",
    " | ",
    " & ",
    "\n",
    " 2>&1 | ",
    " ;\n# a comment\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn all_of_a_command_runs_in_its_folder(
        parts in prop::collection::vec((prop::sample::select(PARTS), prop::sample::select(BETWEEN)), 1..4),
        folder in prop::sample::select(&["sub", "it's here", "-d"][..]),
        shell in prop::sample::select(&["sh", "bash"][..]),
        is_alone in any::<bool>(),
    ) {
        let mut command = String::new();
        for (at, (part, between)) in parts.iter().enumerate() {
            command.push_str(part);
            match at + 1 < parts.len() {
                // Here-documents and comments end with their lines.
                true if part.ends_with('\n') => {}
                true => command.push_str(between),
                false => {}
            }
        }
        let written = run_in(folder, &command);
        let written = if is_alone { format!("({written})") } else { written };
        let expected = outcome(shell, &command, Some(folder));
        let found = outcome(shell, &written, None);
        prop_assert_eq!(found, expected, "{}", written);
        let missing = outcome(shell, &run_in("missing", &command), None);
        prop_assert!(missing.0 != Some(0) && missing.1.is_empty() && missing.2.is_empty(), "{:?}", missing);
    }
}

/// The status, what was printed, and the folders that `mark` ran in. Jobs in the background are waited for.
fn outcome(shell: &str, command: &str, folder: Option<&str>) -> (Option<i32>, String, Vec<String>) {
    let place = tempfile::tempdir().expect("a folder");
    let work = place.path().canonicalize().expect("it exists");
    for folder in ["sub", "it's here", "-d"] {
        fs::create_dir(work.join(folder)).expect("made");
        fs::write(work.join(folder).join("file"), format!("{folder}\n")).expect("written");
    }
    let start = folder.map_or_else(|| work.clone(), |folder| work.join(folder));
    // A shell waits for its own jobs only; all that began in it hold `9`, whose end is read.
    let script = format!(
        "exec 9>&2\nmark() {{ touch marked; }}\n{command}\nstatus=$?\nwait\nexit $status\n"
    );
    let output = Command::new(shell)
        .args(["-c", &script])
        .current_dir(start)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .expect("it starts");
    let marked = ["", "sub", "it's here", "-d"]
        .iter()
        .filter(|folder| work.join(folder).join("marked").exists())
        .map(|folder| (*folder).to_owned())
        .collect();
    let printed =
        String::from_utf8_lossy(&output.stdout).replace(&work.display().to_string(), "WORK");
    let mut lines: Vec<&str> = printed.lines().collect();
    // What runs in the background prints when it likes.
    lines.sort_unstable();
    (output.status.code(), lines.join("\n"), marked)
}
