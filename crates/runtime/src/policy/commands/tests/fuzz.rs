//! Random commands with hostile data in them: whatever is not refused must not run the data.

use super::super::super::source::tests::text;
use super::policy;
use super::shells::{SHELLS, run};
use std::fmt::Write as _;
use std::os::unix::fs::symlink;

/// What the data tries. Each makes the file `canary` if a part of it is run.
const PAYLOADS: &[&str] = &[
    "$(touch canary)",
    "`touch canary`",
    "'; touch canary; '",
    "\"; touch canary; \"",
    "a[$(touch canary)]",
    "touch canary",
    "\ntouch canary\n",
    "); touch canary; (",
    ")) ; touch canary; ((",
    "}; touch canary; {",
    "\nE\ntouch canary\nE\n",
    "'\"`$(touch canary)`\"'",
    ";;esac;touch canary;",
    "x=1 touch canary",
    "BEGIN{system(\"touch canary\")}",
    "1e touch canary",
];

/// A generator of shell text that is mostly well formed. Deterministic: the seed decides everything.
struct Generator {
    state: u64,
    text: String,
}

impl Generator {
    fn below(&mut self, limit: u64) -> u64 {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn one_of(&mut self, choices: &[&str]) {
        let choice = self.below(choices.len() as u64) as usize;
        self.push(choices[choice]);
    }

    /// Mostly from `tame`, so that most commands aren't refused.
    fn mostly(&mut self, tame: &[&str], wild: &[&str]) {
        let choices = if self.is_wild() { wild } else { tame };
        self.one_of(choices);
    }

    fn is_wild(&mut self) -> bool {
        self.below(24) == 0
    }

    fn list(&mut self, depth: u32) {
        self.command(depth);
        for _ in 0..self.below(3) {
            self.one_of(&["; ", " && ", " || ", " | ", "\n", " &\n", "; # it's\n"]);
            self.command(depth);
        }
    }

    fn command(&mut self, depth: u32) {
        match self.below(if depth == 0 { 4 } else { 18 }) {
            4 => {
                self.push("if ");
                self.list(depth - 1);
                self.push("; then ");
                self.list(depth - 1);
                self.push("; fi");
            }
            5 if self.is_wild() => {
                self.push("for x in ");
                self.words(depth - 1);
                self.push("; do ");
                self.list(depth - 1);
                self.push("; done");
            }
            6 if self.is_wild() => {
                self.push("case ");
                self.word(depth - 1);
                self.push(" in ");
                self.word(depth - 1);
                self.push("|*) ");
                self.list(depth - 1);
                self.push(";; esac");
            }
            7 => {
                self.push("( ");
                self.list(depth - 1);
                self.push(" )");
            }
            8 => {
                self.push("{ ");
                self.list(depth - 1);
                self.push("; }");
                self.redirection(depth - 1);
            }
            9 if self.is_wild() => {
                self.push("[[ ");
                self.word(depth - 1);
                self.mostly(
                    &[" == ", " != ", " =~ ", " || -n ", " && ! -z "],
                    &[" -gt ", " < ", " -eq ", " && -v "],
                );
                self.word(depth - 1);
                self.push(" ]]");
            }
            10 if self.is_wild() => {
                self.push("(( ");
                self.arithmetic(depth - 1);
                self.push(" ))");
            }
            11 if self.is_wild() => {
                // Nothing that calls `f` again.
                self.push("f() { ");
                self.mostly(
                    &["echo \"$1\"", "x=$1", "echo {{a.b}}"],
                    &["$1", "echo $(($1))", "eval \"$1\""],
                );
                self.push("; }");
            }
            12 if self.is_wild() => {
                self.mostly(
                    &["cat <<E\n", "cat <<'E'\n", "cat <<-E | cat\n"],
                    &["sh <<E\n", "cat <<-E | sh\n"],
                );
                self.mostly(
                    &["it's\n", "$x\n", "$(echo x)\n", "\"\n", "\\\n", "\tE\n"],
                    &["{{a.b}}\n", "`\n", "$(\n"],
                );
                self.push("E\n:");
            }
            _ => self.simple(depth),
        }
    }

    fn simple(&mut self, depth: u32) {
        if self.is_wild() {
            self.mostly(
                &["x=", "y=", "x+="],
                &[
                    "a[0]=",
                    "a[x]=",
                    "a[$x]=",
                    "PATH=",
                    "a=([x]=1 ",
                    "OPTIND=",
                    "RANDOM=",
                    "SECONDS=",
                    "_=",
                ],
            );
            self.word(depth.saturating_sub(1));
            self.one_of(&[" ", "; "]);
        }
        self.mostly(
            &[
                "echo ",
                "printf %s ",
                ": x; echo ",
                "cat -- ",
                "grep -e ",
                "tr a b | echo ",
                "ls; printf '%s\\n' ",
                "echo {{a.b}} | awk 1; tee -- out ",
                "cd . && cat -- ",
                "test -n {{a.b}} && echo ",
                "[ {{a.b}} = x ] || echo ",
                "echo {{a.b}} | sed -n p | wc -- ",
                "if [ -e {{a.b}} ]; then cat < out; fi; basename -- ",
            ],
            &[
                "export y=",
                "set -- ",
                "f x",
                "git log ",
                "y={{a.b}}; export y; nice sh -c 'for x in \"$y\"; do echo \"$x\"; done'; ls ",
                "find . -name ",
                "eval ",
                "sh -c ",
                "bash -c ",
                "sh ",
                "env ",
                "export ",
                "declare ",
                "declare -i ",
                "read ",
                "let ",
                "test ",
                "[ 1 -gt ",
                "$x ",
                "${x} ",
                "xargs ",
                "echo {{a.b}} | xargs ",
                "echo {{a.b}} | env sh ",
                "y={{a.b}}; eval '$y' ",
                "y={{a.b}} sh -c '$y' ",
                "nice sh -c ",
                "trap ",
                ". ",
                "sh -c '$1' sh ",
                "awk ",
                "sed ",
                "printf -v x ",
                "local ",
                "unset ",
                "",
                "exec ",
                "command ",
                "find . -exec ",
                "declare -a y=",
                "unset a[x] ",
                "read a[x] ",
                "test -v a[x] ",
                "declare a[x]=",
                "mapfile ",
                "shift ",
                "printf %d ",
                "getopts ",
                "test -t ",
                "exit ",
            ],
        );
        self.words(depth);
        self.redirection(depth);
    }

    fn redirection(&mut self, depth: u32) {
        match self.below(8) {
            0 => self.push(" >/dev/null"),
            1 => self.push(" 2>&1"),
            2 if self.is_wild() => {
                self.push(" <<< ");
                self.word(depth.saturating_sub(1));
            }
            3 => {
                self.one_of(&[" > ", " >> ", " < ", " >& "]);
                self.mostly(&["out", "'{{a.b}}'"], &["$x", "/{{a.b}}"]);
            }
            _ => {}
        }
    }

    fn words(&mut self, depth: u32) {
        for _ in 0..=self.below(3) {
            self.word(depth);
            self.push(" ");
        }
    }

    fn word(&mut self, depth: u32) {
        for _ in 0..=self.below(2) {
            match self.below(if depth == 0 { 9 } else { 14 }) {
                0 | 1 => self.push("{{a.b}}"),
                2 => self.mostly(&["a", "1", "x", "a#b", "-n", "="], &["-c", "*", "~"]),
                3 => {
                    self.push("'");
                    self.one_of(&[
                        "",
                        "it is",
                        "\"",
                        "\\",
                        "$(",
                        "`",
                        "{{a.b}}",
                        "a {{a.b}} b",
                        "\n",
                    ]);
                    self.push("'");
                }
                4 => self.mostly(
                    &["\\'", "\\\"", "\\$", "\\ ", "\\`", "\\\\", " \\\n "],
                    &["\\", "$", "\\\n"],
                ),
                5 => self.mostly(
                    &["$x", "$1", "\"$@\"", "${x}", "$$", "$#"],
                    &["${#x}", "$_", "${!x}", "${x@P}", "$@"],
                ),
                6 => self.mostly(
                    &["it", "'$'"],
                    &["$'it'", "$\"x\"", "$\"{{a.b}}\"", "$'\\''", "$'{{a.b}}'"],
                ),
                7 | 8 => self.double_quotes(depth),
                9 => {
                    self.push("\"$(");
                    self.list(depth - 1);
                    self.push(")\"");
                }
                10 if self.is_wild() => {
                    self.push("`");
                    self.mostly(
                        &["echo x", "echo \\`echo x\\`", "echo \\$x"],
                        &["echo {{a.b}}", "echo '"],
                    );
                    self.push("`");
                }
                11 if self.is_wild() => {
                    self.mostly(&["${x:-", "${x#"], &["${x:", "${a["]);
                    if self.is_wild() {
                        self.word(depth - 1);
                    }
                    self.one_of(&["}", " }", "'}'}"]);
                }
                12 if self.is_wild() => {
                    self.push("$((");
                    self.arithmetic(depth - 1);
                    self.push("))");
                }
                13 if self.is_wild() => {
                    self.push("<(");
                    self.list(depth - 1);
                    self.push(")");
                }
                _ => self.push("x"),
            }
        }
    }

    fn double_quotes(&mut self, depth: u32) {
        self.push("\"");
        for _ in 0..=self.below(2) {
            match self.below(if depth == 0 { 4 } else { 6 }) {
                0 => self.push("{{a.b}}"),
                1 => self.one_of(&["it's", "a", "\\\"", "\\\\", "#", "(", ")", "\n"]),
                2 => self.mostly(
                    &["$x", "$1", "${x}"],
                    &["`echo x`", "`echo \\\"x\\\"`", "\\", "$", "${x:-'a'}"],
                ),
                3 => {}
                4 => {
                    self.push("$(");
                    self.list(depth - 1);
                    self.push(")");
                }
                5 if !self.is_wild() => self.push("x"),
                _ => {
                    self.push("${x:-");
                    if self.is_wild() {
                        self.double_quotes(depth - 1);
                    }
                    self.push("}");
                }
            }
        }
        self.push("\"");
    }

    fn arithmetic(&mut self, depth: u32) {
        for _ in 0..=self.below(2) {
            self.mostly(
                &["1 + ", "(2) * ", "1 << "],
                &["x + ", "$x - ", "{{a.b}} + ", "a[x] + "],
            );
        }
        if self.is_wild() {
            self.word(depth);
        } else {
            self.push("1");
        }
    }
}

fn generate(seed: u64) -> (String, &'static str) {
    let mut generator = Generator {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        text: String::new(),
    };
    for _ in 0..4 {
        generator.below(2);
    }
    let payload = PAYLOADS[generator.below(PAYLOADS.len() as u64) as usize];
    generator.list(3);
    // What was generated never says `}}}` or `{{{`, which would be read as other references.
    (
        generator.text.replace("}}}", "}} }").replace("{{{", "{ {{"),
        payload,
    )
}

#[test]
fn no_command_runs_its_data() {
    let dir = tempfile::tempdir().expect("a folder");
    let programs = dir.path().join("bin");
    let work = dir.path().join("work");
    std::fs::create_dir(&programs).expect("made");
    for program in [
        "touch", "cat", "sh", "bash", "env", "nice", "xargs", "awk", "sed", "find",
    ] {
        let real = ["/usr/bin", "/bin"]
            .iter()
            .map(|folder| std::path::Path::new(folder).join(program))
            .find(|path| path.exists())
            .expect(program);
        symlink(real, programs.join(program)).expect("linked");
    }
    let cases: u64 = std::env::var("CUECARD_FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(2_000);
    // Without binding the payload does run, so the test would notice.
    std::fs::create_dir(&work).expect("made");
    let spliced = policy(|_| {})
        .command(&"echo $(touch canary)".into())
        .expect("trusted");
    run(
        "/bin/sh",
        &spliced,
        &work,
        programs.to_str().expect("UTF-8"),
    );
    assert!(work.join("canary").exists());
    let (mut ran, mut failures) = (0, String::new());
    for seed in 0..cases {
        let (template, payload) = generate(seed);
        if !template.contains("{{") {
            continue;
        }
        let _ = std::fs::remove_dir_all(&work);
        std::fs::create_dir(&work).expect("made");
        let policy = policy(|options| {
            options.root.clone_from(&work);
            options.working_directory.clone_from(&work);
        });
        let Ok(command) = policy.command(&text(&template, &[("a.b", payload)])) else {
            continue;
        };
        ran += 1;
        for shell in SHELLS {
            run(shell, &command, &work, programs.to_str().expect("UTF-8"));
            if work.join("canary").exists() {
                let _ = writeln!(
                    failures,
                    "seed {seed}, {shell}, {payload:?}:\n{template}\n---\n{}\n",
                    command.script
                );
                let _ = std::fs::remove_file(work.join("canary"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(ran > cases / 8, "only {ran} commands were not refused");
}
