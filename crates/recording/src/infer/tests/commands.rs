//! References in commands and in programs of servers.

use serde_json::json;

use super::{call, findings, of_one, of_two, param, questions, recording};
use crate::Call;

#[test]
fn data_reaches_a_command_by_its_environment_only() {
    let shell = |command: &str, stdout: &str| Call {
        server: None,
        result: Some(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call(
            "claude__bash",
            json!({"command": command, "expect_exit": 0}),
            json!(null),
        )
    };
    let recording = recording(
        "Go",
        vec![
            shell("git rev-parse HEAD", "4f5e6d7c8b9a\n"),
            shell("git show 4f5e6d7c8b9a", "x"),
            shell("echo 'at 4f5e6d7c8b9a' \"is 4f5e6d7c8b9a\"", "x"),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    let steps = &inferred.scenario.steps;
    assert_eq!(
        json!(steps[0].output),
        json!({"command": {"regex": r"^\s*(\S*[^\s.,;:!?])", "from": "$.stdout"}})
    );
    assert_eq!(
        json!(steps[1].params),
        json!({"command": "git show \"${VALUE_COMMAND}\"", "expect_exit": 0, "env": {"VALUE_COMMAND": "{{bash.command}}"}})
    );
    assert_eq!(
        param(&steps[2], "command"),
        "echo 'at {{bash.command}}' \"is {{bash.command}}\""
    );
    // The policy knows nothing of git.
    assert_eq!(
        questions(&inferred),
        [
            "the command gets `bash.command` by `env`, which nothing checks: may a result give any value there?"
        ]
    );
}

/// Where the policy checks what data may be, it is left to it; elsewhere it is asked about.
#[test]
fn an_output_in_a_command_is_checked_or_asked_about() {
    for (given, expected, n_asked) in [
        ("rm out/n-10001", "rm out/{{add.id}}", 0),
        ("rm -rf out/n-10001", "rm -rf out/\"${VALUE_ID}\"", 1),
        ("cat \"out/n-10001\"", "cat \"out/{{add.id}}\"", 0),
        ("find n-10001 -name x", "find \"${VALUE_ID}\" -name x", 1),
        ("bash -c 'echo n-10001'", "bash -c 'echo n-10001'", 1),
    ] {
        let shell = Call {
            server: None,
            result: Some(json!({"stdout": "", "stderr": "", "exit_code": 0})),
            ..call("claude__bash", json!({"command": given}), json!(null))
        };
        let add = call("add", json!({"t": "x"}), json!({"id": "n-10001"}));
        let inferred = of_one(&recording("", vec![add, shell]));
        assert_eq!(param(&inferred.scenario.steps[1], "command"), expected);
        assert_eq!(
            inferred.questions.len(),
            n_asked,
            "{given} {:?}",
            inferred.questions
        );
    }
}

/// A server reads it as code.
#[test]
fn an_output_in_a_program_of_a_server_is_a_question() {
    for (key, text, n_asked) in [
        ("sql", "delete from t where owner='ann-7001'", 1),
        ("blocks", "[{\"text\": \"from ann-7001\"}]", 1),
        ("text", "from ann-7001", 0),
    ] {
        let calls = vec![
            call("get", json!({"id": 1}), json!({"owner": "ann-7001"})),
            call("run", json!({key: text}), json!("ok")),
        ];
        let inferred = of_one(&recording("", calls));
        assert_eq!(
            inferred.questions.len(),
            n_asked,
            "{key} {:?}",
            inferred.questions
        );
    }
}

#[test]
fn the_exit_code_that_is_expected_is_no_word_of_the_prompt() {
    let command = Call {
        server: None,
        result: Some(json!({"stdout": "", "stderr": "", "exit_code": 0})),
        ..call(
            "claude__bash",
            json!({"command": "true", "expect_exit": 0}),
            json!(null),
        )
    };
    let inferred = of_one(&recording("Release 2.4.0, with 0 errors", vec![command]));
    assert_eq!(questions(&inferred), [""; 0]);
}

/// A variable is one argument, whatever the user gives; of several words nobody knows how many they are.
#[test]
fn variables_reach_a_command_by_its_environment() {
    use crate::infer::parts::{Part, command};
    let of = |before: &str, value: &str, after: &str| {
        let parts = [
            Part::Text(before.to_owned()),
            Part::Variable("V".to_owned(), value.to_owned()),
            Part::Text(after.to_owned()),
        ];
        let written = command(&parts);
        (written.text, written.kept.len())
    };
    for (before, value, after, expected, n_asked) in [
        ("./send ", "tea", "", "./send \"${VALUE_V}\"", 0),
        (
            "./send --to=",
            "tea",
            " now",
            "./send --to=\"${VALUE_V}\" now",
            0,
        ),
        (
            "./send \"the ",
            "tea time",
            "\"",
            "./send \"the ${VALUE_V}\"",
            0,
        ),
        (
            "./send 'the ",
            "tea time",
            "'",
            "./send 'the '\"${VALUE_V}\"",
            0,
        ),
        ("./send ", "tea time", "", "./send {{V}}", 1),
        // What the shell expanded when it was recorded.
        ("mkdir -p ", "src/{api,web}", "", "mkdir -p {{V}}", 1),
        ("ls \"", "$HOME/x", "\"", "ls \"{{V}}\"", 1),
        ("ls '", "$HOME/x", "'", "ls \"${VALUE_V}\"", 0),
        ("echo 'a ", "$5 **b**", "'", "echo 'a '\"${VALUE_V}\"", 0),
        (
            "cat > f <<'E'\n",
            "costs $5",
            "\nE",
            "cat > f <<E\n${VALUE_V}\nE",
            0,
        ),
        ("cat <<E\n", "tea", "\nE", "cat <<E\n${VALUE_V}\nE", 0),
        (
            "git commit -m \"$(cat <<'E'\n",
            "tea",
            "\nE\n)\"",
            "git commit -m \"$(cat <<E\n${VALUE_V}\nE\n)\"",
            0,
        ),
        (
            "echo \"$(echo 'a ",
            "tea time",
            "')\"",
            "echo \"$(echo 'a '\"${VALUE_V}\")\"",
            0,
        ),
        // What a group writes has no order.
        (
            "(cd x && echo \"",
            "tea",
            "\")",
            "(cd x && echo \"{{V}}\")",
            1,
        ),
        ("echo $'", "tea", "\\n'", "echo $'{{V}}\\n'", 1),
        // What is passed to another shell, or is a program, would be read once more.
        ("bash -c 'echo ", "tea", "'", "bash -c 'echo {{V}}'", 1),
        (
            "python3 -c \"print('",
            "tea",
            "')\"",
            "python3 -c \"print('{{V}}')\"",
            1,
        ),
        ("sed 's/x/", "tea", "/' a", "sed 's/x/{{V}}/' a", 1),
        (
            "(cd x && sh -ec \"a; b ",
            "tea",
            "\")",
            "(cd x && sh -ec \"a; b {{V}}\")",
            1,
        ),
        (
            "jq . a | send --title \"for ",
            "tea",
            "\"",
            "jq . a | send --title \"for ${VALUE_V}\"",
            0,
        ),
        // A program of scripts may take it for one.
        ("jq --arg t \"", "tea", "\" .", "jq --arg t \"{{V}}\" .", 1),
        (
            "python3 run.py 'for ",
            "tea",
            "'",
            "python3 run.py 'for '\"${VALUE_V}\"",
            0,
        ),
        ("echo $((1 + ", "2", "))", "echo $((1 + {{V}}))", 1),
    ] {
        let seen = of(before, value, after);
        assert_eq!(seen, (expected.to_owned(), n_asked), "{before}");
    }
    // Where a program may run it, it stays what it was.
    for (before, after) in [
        ("eval echo ", ""),
        ("eval \"echo ", "\""),
        ("echo ", " | bash"),
        ("printf 'echo %s' ", " | sh"),
        ("source <(echo ", ")"),
        ("alias x='echo ", "'; x"),
        ("git -c alias.x=\"!echo ", "\" x"),
        ("script -qc \"echo ", "\" /dev/null"),
        ("npx -c 'echo ", "'"),
        ("flock x -c 'echo ", "'"),
        ("$BASH -c 'echo ", "'"),
        ("ssh h echo ", ""),
        ("echo 'echo ", "' > x.sh; sh x.sh"),
        ("f() { eval \"$1\"; }; f \"", "\""),
        ("awk -v x=", " 'BEGIN{system(\"echo \" x)}'"),
        ("node -p \"'", "'\""),
        ("node --eval 'f(", ")'"),
        ("su - x -c 'echo ", "'"),
        ("psql -c \"select '", "'\""),
        ("tar cf x.tar --to-command='echo ", "' o"),
    ] {
        let seen = of(before, "n-10001", after);
        assert_eq!(seen, (format!("{before}{{{{V}}}}{after}"), 1), "{before}");
    }
}

#[test]
fn what_differs_inside_of_a_command_is_asked_for() {
    let task = |version: &str, stage: &str| {
        let command = format!("git tag v{version} && deploy {version} --env {stage}");
        [
            ("run", json!({"command": command}), json!("ok")),
            (
                "note",
                json!({"text": format!("Deployed {version} to {stage}")}),
                json!("ok"),
            ),
        ]
    };
    let both = of_two(&task("1.2.3", "staging"), &task("1.3.0", "prod"));
    let command = param(&both.scenario.steps[0], "command").as_str();
    assert!(
        command.is_some_and(|command| command.starts_with("git tag {{")),
        "{command:?}"
    );
    let steps: Vec<Option<usize>> = both.questions.iter().map(|note| note.step).collect();
    assert_eq!(steps, [Some(1)], "{:?}", both.questions);
    assert_eq!(
        param(&both.scenario.steps[1], "text"),
        "Deployed {{COMMAND_2}} to {{COMMAND_3}}"
    );
}
