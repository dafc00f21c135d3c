//! The driver is tested with `/bin/sh` as the program: a command line is then `-c 'script'`.

use super::*;

struct Golden(tempfile::TempDir);

impl Golden {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A case `area/name` with these files.
    fn case(self, name: &str, files: &[(&str, &str)]) -> Self {
        let folder = self.0.path().join("area").join(name);
        for (path, content) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a case has a folder")).expect("writable");
            fs::write(path, content).expect("writable");
        }
        self
    }

    fn run(&self, options: &Options) -> Result<Vec<(String, Outcome)>, String> {
        run_with(self.0.path(), Path::new("/bin/sh"), options)
    }

    fn compare(&self) -> Result<(), String> {
        self.run(&Options::default()).map(drop)
    }

    fn bless(&self) -> Result<Vec<(String, Outcome)>, String> {
        self.run(&Options {
            bless: true,
            ..Options::default()
        })
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.0.path().join("area").join(path)).ok()
    }
}

#[test]
fn a_case_passes_when_all_it_says_is_so() {
    let golden = Golden::new().case(
        "all",
        &[
            ("README.md", "why"),
            ("args", "# two commands in one folder\n-c 'cat in.txt; pwd; echo made > out/new; echo $A >&2'\n-c 'cat; exit 4'\n"),
            ("files/in.txt", "input\n"),
            ("files/out/old", ""),
            ("stdin", "typed"),
            ("env", "A=a \"b\" $CASE\n"),
            ("stdout", "$ cuecard -c 'cat in.txt; pwd; echo made > out/new; echo $A >&2'\ninput\n$DIR\n$ cuecard -c 'cat; exit 4'\ntyped\n(no newline at the end)\n"),
            ("stderr", "$ cuecard -c 'cat in.txt; pwd; echo made > out/new; echo $A >&2'\na \"b\" $CASE\n$ cuecard -c 'cat; exit 4'\n"),
            ("exit", "0\n4\n"),
            ("after/out/new", "made\n"),
            ("absent", "out/newer\n"),
        ],
    );
    assert_eq!(golden.compare(), Ok(()));
}

#[test]
fn every_difference_of_every_case_is_reported() {
    let golden = Golden::new()
        .case(
            "first",
            &[
                (
                    "args",
                    "-c 'echo one; echo two; echo oops >&2; echo x > made; exit 2'",
                ),
                ("stdout", "one\nthree\n"),
                ("after/gone", "x"),
                ("after/made", "y\n"),
                ("absent", "made\n"),
            ],
        )
        .case("second", &[("args", "-c 'exit 0'"), ("stdout", "never")])
        .case("third", &[("args", "-c 'exit 0'")]);
    let report = golden.compare().expect_err("two cases fail");
    for part in [
        "2 of 3 golden cases failed",
        "── area/first ──",
        "-0\n+2\n",
        " one\n-three\n+two\n",
        "+oops\n",
        "`gone` must exist afterwards",
        "-y\n+x\n",
        "`made` must not exist afterwards",
        "── area/second ──",
        "-never",
    ] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
    assert!(!report.contains("third"), "{report}");
}

#[test]
fn blessing_writes_what_was_seen_and_then_the_case_passes() {
    let golden = Golden::new().case(
        "b",
        &[
            ("args", "-c 'pwd; echo in 12 ms; mkdir -p r; echo {} > r/trace.jsonl; echo new > f; exit 1'"),
            ("stderr", "no longer said\n"),
            ("trace", ""),
            ("after/f", "old\n"),
        ],
    );
    assert!(golden.compare().is_err());
    let outcomes = golden.bless().expect("it can be blessed");
    assert_eq!(outcomes, [("area/b".to_owned(), Outcome::Blessed)]);
    assert_eq!(
        golden.read("b/stdout").as_deref(),
        Some("$DIR\nin <duration>\n")
    );
    assert_eq!(golden.read("b/stderr"), None);
    assert_eq!(golden.read("b/exit").as_deref(), Some("1\n"));
    assert_eq!(golden.read("b/trace").as_deref(), Some("{}\n"));
    assert_eq!(golden.read("b/after/f").as_deref(), Some("new\n"));
    assert_eq!(golden.compare(), Ok(()));
    let again = golden.bless().expect("nothing to change");
    assert_eq!(again, [("area/b".to_owned(), Outcome::Passed)]);
}

#[test]
fn what_must_not_be_is_not_blessed() {
    let golden = Golden::new().case(
        "b",
        &[
            ("args", "-c 'touch made'"),
            ("absent", "made"),
            ("after/gone", ""),
        ],
    );
    let report = golden.bless().expect_err("it can't be blessed");
    assert!(report.contains("`made` must not exist"), "{report}");
    assert!(report.contains("`gone` must exist"), "{report}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_left_running_fails_the_case() {
    let golden = Golden::new().case(
        "orphan",
        &[("args", "-c 'setsid sleep 602 </dev/null >/dev/null 2>&1 &'")],
    );
    let report = golden.compare().expect_err("it must not stay behind");
    assert!(report.contains("left a process running: "), "{report}");
    assert!(report.contains("sleep 602"), "{report}");
}

#[test]
fn several_traces_come_in_the_order_of_their_commands() {
    let write =
        |folder: &str| format!("-c 'mkdir {folder}; echo {folder} > {folder}/trace.jsonl'\n");
    let golden = Golden::new().case(
        "t",
        &[
            ("args", &format!("{}{}", write("z"), write("a"))),
            ("trace", "z\na\n"),
            (
                "stdout",
                &format!("$ cuecard {}$ cuecard {}", write("z"), write("a")),
            ),
            (
                "stderr",
                &format!("$ cuecard {}$ cuecard {}", write("z"), write("a")),
            ),
        ],
    );
    assert_eq!(golden.compare(), Ok(()));
}

#[test]
fn a_malformed_case_is_a_failure_that_names_the_file() {
    for (files, part) in [
        (
            &[("stdout", "")] as &[(&str, &str)],
            "`args` has no command line",
        ),
        (
            &[("args", "x"), ("stdot", "")],
            "`stdot` is no part of a case",
        ),
        (&[("args", "'x")], "`'` is not closed"),
        (&[("args", "$NOPE")], "`$NOPE` is not defined"),
        (
            &[("args", "x"), ("env", "nonsense")],
            "`nonsense` is not NAME=VALUE",
        ),
        (
            &[("args", "x"), ("absent", "../x")],
            "must be a relative path",
        ),
    ] {
        let report = Golden::new()
            .case("bad", files)
            .compare()
            .expect_err("malformed");
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
}

#[test]
fn no_case_at_all_is_a_failure() {
    let report = Golden::new().compare().expect_err("there is none");
    assert!(report.starts_with("no golden cases below"), "{report}");
    let golden = Golden::new().case("a", &[("args", "-c 'exit 0'")]);
    let none = golden.run(&Options {
        only: Some("nothing like it".to_owned()),
        ..Options::default()
    });
    assert_eq!(
        none,
        Err("no golden case has `nothing like it` in its name".to_owned())
    );
    let one = golden.run(&Options {
        only: Some("area/a".to_owned()),
        ..Options::default()
    });
    assert_eq!(one, Ok(vec![("area/a".to_owned(), Outcome::Passed)]));
}

#[test]
fn a_case_with_peers_is_left_out_without_them_and_fails_when_they_are_missing() {
    let golden = Golden::new().case(
        "p",
        &[
            ("args", "$PEERS/bin/tool"),
            ("peers", "bin/tool\n"),
            ("stdout", "from $PEERS/bin/tool\n"),
        ],
    );
    let outcomes = golden.run(&Options::default()).expect("left out");
    assert_eq!(outcomes, [("area/p".to_owned(), Outcome::LeftOut)]);

    let peers = tempfile::tempdir().expect("a temporary folder");
    let options = Options {
        peers: Some(peers.path().canonicalize().expect("it exists")),
        ..Options::default()
    };
    let report = golden.run(&options).expect_err("the peer is missing");
    assert!(report.contains("bin/tool` is missing"), "{report}");

    fs::create_dir(peers.path().join("bin")).expect("writable");
    fs::write(peers.path().join("bin/tool"), "echo from $0\n").expect("writable");
    let outcomes = golden.run(&options).expect("it passes");
    assert_eq!(outcomes, [("area/p".to_owned(), Outcome::Passed)]);
}
