//! What real shells make of bound commands.

use super::super::super::source::tests::text;
use super::super::BoundCommand;
use super::policy;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) const SHELLS: &[&str] = &["/bin/sh", "/bin/bash"];

/// Standard output of the command. A limit of processor time ends one that loops.
pub(super) fn run(shell: &str, command: &BoundCommand, dir: &Path, path: &str) -> String {
    let output = Command::new("/bin/sh")
        .args([
            "-c",
            "ulimit -t 10; exec \"$0\" -c \"$1\"",
            shell,
            &command.script,
        ])
        .env_clear()
        .env("PATH", path)
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("the shell starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A command that prints the data, and what stands before and after it.
type Template = (&'static str, &'static str, &'static str);

const TEMPLATES: &[Template] = &[
    ("printf '<%s>' {{a.b}}", "<", ">"),
    ("printf '<%s>' \"{{a.b}}\"", "<", ">"),
    ("printf '<%s>' '{{a.b}}'", "<", ">"),
    ("printf '<'%s'>' ''{{a.b}}\"\"", "<", ">"),
    ("printf '%s' \"<{{a.b}}>\"", "<", ">"),
    ("printf '%s' '<{{a.b}}>'", "<", ">"),
    ("printf %s \\<{{a.b}}\\>", "<", ">"),
    ("printf '%s>' \"$(printf '<%s' \"{{a.b}}.\")\"", "<", ".>"),
    ("printf '%s>' \"$(printf '<%s' '{{a.b}}.')\"", "<", ".>"),
    (
        "printf '%s>' \"$(printf %s \"$(printf '<%s' {{a.b}}.)\")\"",
        "<",
        ".>",
    ),
    (
        "if [ {{a.b}} = \"{{a.b}}\" ]; then printf '<%s>' '{{a.b}}'; fi",
        "<",
        ">",
    ),
    ("# it's \"\nprintf '<%s>' '{{a.b}}' # '", "<", ">"),
    (
        "(printf '<%s' {{a.b}}; { printf '%s' '>'; }) | cat",
        "<",
        ">",
    ),
    ("printf '<%s>' \\\n  {{a.b}} \\\n  | cat", "<", ">"),
];

fn nasty() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            prop::sample::select(vec![
                "'",
                "\"",
                "`",
                "\\",
                "$",
                "$(touch canary)",
                "`touch canary`",
                ";touch canary;",
                "\ntouch canary\n",
                "&& touch canary",
                "| touch canary",
                "${HOME}",
                "$CUECARD_ARG_1",
                "%s",
                "%n",
                "*",
                "?",
                "[a]",
                "{a,b}",
                "~",
                "#",
                "!",
                " ",
                "\t",
                "\n",
                "\r",
                "\r\n",
                "-",
                "--",
                "-n",
                ")",
                "(",
                "}",
                "{",
                "<",
                ">",
                ">canary",
                "\\n",
                "\\0",
                "é",
                "😀",
                "\u{1b}",
                "\u{7f}",
                "E\n",
                "x[$(touch canary)]",
            ])
            .prop_map(str::to_owned),
            any::<char>()
                .prop_filter("no NUL", |character| *character != '\0')
                .prop_map(String::from),
        ],
        0..10,
    )
    .prop_map(|parts| parts.concat())
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(20_261),
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn the_data_arrives_exactly_and_nothing_else_happens(value in nasty(), template in 0..TEMPLATES.len()) {
        let (template, before, after) = TEMPLATES[template];
        let dir = tempfile::tempdir().expect("a folder");
        let command = policy(|_| {})
            .command(&text(template, &[("a.b", &value)]))
            .unwrap_or_else(|refusal| panic!("{template} with {value:?}: {refusal}"));
        for shell in SHELLS {
            let printed = run(shell, &command, dir.path(), "/bin:/usr/bin");
            prop_assert_eq!(printed, format!("{before}{value}{after}"), "{} {}", shell, template);
            prop_assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0, "{}", template);
        }
    }
}

#[test]
fn programs_find_no_data_in_their_environment() {
    let dir = tempfile::tempdir().expect("a folder");
    let command = policy(|_| {})
        .command(&text(
            "env; printf '<%s>' {{a.b}}",
            &[("a.b", "a canary\n")],
        ))
        .expect("bound");
    for shell in SHELLS {
        let printed = run(shell, &command, dir.path(), "/bin:/usr/bin");
        assert_eq!(printed.matches("canary").count(), 1, "{printed}");
        assert!(printed.ends_with("<a canary\n>"), "{printed}");
    }
}

#[test]
fn empty_data_is_an_empty_argument() {
    let dir = tempfile::tempdir().expect("a folder");
    let command = policy(|_| {})
        .command(&text("printf '<%s>' a {{a.b}} '{{a.b}}' b", &[("a.b", "")]))
        .expect("bound");
    for shell in SHELLS {
        assert_eq!(run(shell, &command, dir.path(), "/bin"), "<a><><><b>");
    }
}

#[test]
fn large_data_arrives_with_its_line_breaks() {
    let dir = tempfile::tempdir().expect("a folder");
    let large = format!("{}é'\"$(touch canary)\n\n\n", "line\n".repeat(60_000));
    let command = policy(|_| {})
        .command(&text(
            "# first\nprintf %s \"{{a.b}}\"; printf %s '{{a.c}}'",
            &[("a.b", &large), ("a.c", "!")],
        ))
        .expect("bound");
    assert_eq!(command.files.len(), 1);
    for shell in SHELLS {
        assert_eq!(
            run(shell, &command, dir.path(), "/bin:/usr/bin"),
            format!("{large}!")
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
}

#[test]
fn many_values_leave_room_in_the_environment() {
    let dir = tempfile::tempdir().expect("a folder");
    let value = "v".repeat(60_000);
    let names: Vec<String> = (0..40).map(|number| format!("s.v{number}")).collect();
    let values: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), value.as_str()))
        .collect();
    let template: String = names
        .iter()
        .map(|name| format!("printf %s {{{{{name}}}}}; "))
        .collect();
    let command = policy(|_| {})
        .command(&text(&template, &values))
        .expect("bound");
    assert!(!command.files.is_empty() && command.files.len() < 40);
    for shell in SHELLS {
        assert_eq!(
            run(shell, &command, dir.path(), "/bin:/usr/bin").len(),
            40 * 60_000
        );
    }
}

#[test]
fn nothing_runs_without_the_file_of_large_data() {
    let dir = tempfile::tempdir().expect("a folder");
    let large = "x".repeat(100_000);
    let mut command = policy(|_| {})
        .command(&text("printf %s {{a.b}} > canary", &[("a.b", &large)]))
        .expect("bound");
    command.files.clear();
    for shell in SHELLS {
        run(shell, &command, dir.path(), "/bin:/usr/bin");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
    }
}
