//! Programs that run what stands in their arguments, or what they read.
//!
//! One list of names. What each of their options means isn't known here: data anywhere in the arguments of such a
//! program is refused.

use super::super::words::Word;

/// What a program of the list runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Runner {
    /// Code for a shell: that of its first argument, or else what it reads.
    Shell,
    /// A program in a language of its own: that of its first argument, or else what it reads.
    Language,
    /// Code in a language of its own, never what it reads.
    Filter,
    /// A command in its arguments, never what it reads.
    Wrapper,
    /// What it reads, whatever its arguments are.
    Reader,
}

impl Runner {
    /// Whether an argument may be code for a shell.
    pub(in super::super) fn runs_shell_code(self) -> bool {
        matches!(self, Self::Shell | Self::Wrapper | Self::Reader)
    }

    /// Whether a program with these arguments may run what it reads.
    pub(in super::super) fn runs_input(self, name: &str, arguments: &[Word]) -> bool {
        self.lacks_program(name, arguments) || arguments.iter().any(names_input)
    }

    /// Whether its first argument isn't what it runs.
    pub(in super::super) fn lacks_program(self, name: &str, arguments: &[Word]) -> bool {
        match (self, arguments) {
            (Self::Reader, _) | (Self::Shell | Self::Language, []) => true,
            // What follows the host is the command.
            (Self::Shell, [_]) if is_named(name, "ssh") => true,
            (Self::Shell | Self::Language, [first, ..]) => !is_program(first),
            (Self::Filter | Self::Wrapper, _) => false,
        }
    }
}

/// What the program called `name` runs; nothing if it runs none of its arguments.
pub(in super::super) fn runner(name: &str, arguments: &[Word]) -> Option<Runner> {
    entries()
        .find(|(_, entry)| matches(entry, name, arguments))
        .map(|(runner, _)| runner)
}

/// What in the list `name` starts another program for, if it stands among the arguments: `git -c`, `git bisect`.
pub(in super::super) fn starting_option(name: &str, arguments: &[Word]) -> Option<&'static str> {
    entries()
        .map(|(_, entry)| entry)
        .filter(|entry| entry.contains(" -") || entry.starts_with("git "))
        .find(|entry| matches(entry, name, arguments))
        .filter(|entry| *entry != "git config" || !is_harmless_config(arguments))
}

/// Whether `git config` reads, or sets what is known about a person.
fn is_harmless_config(arguments: &[Word]) -> bool {
    let behind = arguments.iter().skip_while(|word| word.text != "config");
    let mut behind = behind.skip(1).map(|word| word.text.as_str());
    let reads = |text: &str| matches!(text, "get" | "list" | "--get" | "--list" | "-l");
    let first = behind.find(|text| reads(text) || !text.starts_with('-'));
    first.is_some_and(|first| reads(first) || first.starts_with("user."))
}

/// Whether the first argument of `name` decides what it does: `git rebase`, `tar xf`.
pub(in super::super) fn has_subcommands(name: &str) -> bool {
    if is_named(name, "tar") || is_named(name, "dd") {
        return true;
    }
    entries()
        .filter_map(|(_, entry)| entry.split_once(' '))
        .any(|(program, rest)| is_named(name, program) && !rest.starts_with('-'))
}

fn entries() -> impl Iterator<Item = (Runner, &'static str)> {
    let split = |&(runner, names): &(Runner, &'static str)| {
        names.split(", ").map(move |entry| (runner, entry))
    };
    RUNNERS.iter().flat_map(split)
}

fn matches(entry: &str, name: &str, arguments: &[Word]) -> bool {
    let mut parts = entry.split(' ');
    let program = parts.next().unwrap_or_default();
    // `tar xIf` is `tar -xIf`.
    let first = arguments.first().filter(|_| program == "tar");
    let bundle = first.map(|first| format!("-{}", first.text));
    is_named(name, program)
        && parts.all(|part| {
            let texts = arguments.iter().map(|word| word.text.as_str());
            let mut texts = texts.chain(bundle.as_deref());
            texts.any(|text| is_argument(text, part))
        })
}

/// `python3.12` is a Python, and `vim.tiny` a Vim. Some file systems don't tell `SH` from `sh`.
fn is_named(name: &str, program: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let family = stem.trim_end_matches(|last: char| last.is_ascii_digit() || last == '-');
    [name, stem, family]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(program))
}

/// Whether an argument is the word or the option `part`: shortened, joined with its value, or one of several letters.
fn is_argument(text: &str, part: &str) -> bool {
    let option = text.split_once('=').map_or(text, |(option, _)| option);
    if part.starts_with("--") {
        text.starts_with(part) || (option.len() > 3 && part.starts_with(option))
    } else if let Some(letters) = part.strip_prefix('-') {
        let is_cluster = letters.len() == 1 && text.starts_with('-') && !text.starts_with("--");
        text.starts_with(part) || (is_cluster && text.contains(letters))
    } else {
        text == part
    }
}

/// Whether the first argument of an interpreter is a file or code, so that what it reads is data to it.
fn is_program(first: &Word) -> bool {
    let text = first.text.as_str();
    let letters = text.strip_prefix('-').unwrap_or_default();
    let is_code = letters.ends_with(['c', 'e', 'E'])
        && letters
            .chars()
            .all(|letter| matches!(letter, 'a' | 'c' | 'e' | 'E' | 'l' | 'n' | 'p' | 'u'));
    let is_file = !text.is_empty() && !text.starts_with(['-', '+']);
    first.is_literal() && !first.is_pattern && (is_file || is_code || text == "-m")
}

/// Whether an argument means standard input or another open file.
fn names_input(word: &Word) -> bool {
    let text = word.text.as_str();
    text == "-"
        || text.ends_with("=-")
        || (text.starts_with("-f") && text.ends_with('-'))
        || ["/dev/stdin", "/dev/fd/", "/proc/"]
            .iter()
            .any(|path| text.contains(path))
}

/// Names of programs, with commas between them. Behind some stand the arguments with which they run others: all of
/// them, in any order.
const RUNNERS: &[(Runner, &str)] = &[
    (
        Runner::Shell,
        "sh, bash, dash, zsh, ksh, mksh, ash, fish, rbash, csh, tcsh, yash, ssh, rsh, slogin, mosh, autossh, \
         sudo, doas, pkexec, run0",
    ),
    (
        Runner::Language,
        "python, pypy, perl, ruby, node, nodejs, bun, deno, tsx, ts-node, php, lua, luajit, Rscript, tclsh, \
         wish, expect, guile, racket, groovy, julia, elixir, osascript, pwsh, powershell, cmd, scala, kotlin, swift, \
         dart, ocaml, erl",
    ),
    (
        Runner::Filter,
        "awk, gawk, mawk, nawk, sed, gsed, jq, yq, gojq, jaq",
    ),
    (
        Runner::Reader,
        "xargs, parallel, entr, at, batch, crontab, su, runuser, sg, newgrp, script, chroot, unshare, \
         nsenter, fakeroot, proot, ed, ex, vi, vim, nvim, view, gdb, lldb, bc, dc, m4, gnuplot, gs, octave, \
         R, irb, iex, ghci, psql, mysql, mariadb, sqlite3, duckdb, tex, latex, pdflatex, xelatex, lualatex, \
         sftp, lftp, mongo, mongosh, redis-cli",
    ),
    // The shell's own.
    (
        Runner::Wrapper,
        "eval, ., source, trap, alias, let, bind, complete, compgen, fc, enable, coproc, exec, command, \
         builtin, hash",
    ),
    // They start what is named after them.
    (
        Runner::Wrapper,
        "env, nice, ionice, chrt, taskset, numactl, nohup, setsid, stdbuf, unbuffer, timeout, time, flock, \
         strace, ltrace, valgrind, perf, hyperfine, prlimit, setarch, linux32, linux64, setpriv, capsh, \
         runcon, gosu, su-exec, firejail, bwrap, systemd-run, systemd-nspawn, dbus-run-session, xvfb-run, \
         faketime, torsocks, proxychains, rlwrap, daemonize, start-stop-daemon, run-parts, chronic, ifne, \
         pee, watch, watchexec, nodemon, tmux, screen, socat, busybox, toybox, npx, pnpx, bunx, uvx, pipx, \
         direnv, sshpass, xdg-open, open, xterm, mise, \
         ld-linux-x86-64.so.2, ld-linux-aarch64.so.1",
    ),
    // They run recipes and what variables in these are set to, programs for a machine of their own, tests.
    (
        Runner::Wrapper,
        "make, gmake, just, rake, ninja, cmake, ant, gradle, gradlew, mvn, bazel, java, dotnet, mono, wine, pytest, \
         tox, nox, invoke, fab, jest, vitest, mocha, bats, prove, ansible, ansible-playbook, terraform, nix, \
         nix-shell, nix-build, cuecard, claude, codex, gemini, opencode, aider, goose, qwen",
    ),
    // Editors and pagers start commands, and copies go through a shell on the other side.
    (
        Runner::Wrapper,
        "emacs, emacsclient, nano, pico, joe, micro, kak, hx, code, less, more, man, scp, rsync",
    ),
    // Only with some of their arguments.
    (
        Runner::Wrapper,
        "find -exec, find -ok, fd -x, fd -X, fd --exec, fdfind -x, fdfind -X, fdfind --exec, rg --pre, \
         tar --checkpoint-action, tar --to-command, tar -I, tar --use-compress-program, tar -F, \
         tar --info-script, tar --new-volume-script, tar --rsh-command, tar --rmt-command, \
         bsdtar --use-compress-program, cpio --rsh-command, zip -TT, zip --unzip-command, \
         sort --compress-program, split --filter, wget -e, wget --execute, wget --use-askpass, nc -e, nc -c, \
         ncat -e, ncat -c, ncat --exec, ncat --sh-exec, ip netns, ip vrf, apt -o, apt-get -o, go -exec, \
         go -toolexec, hg --config, cargo --config, git -c, git --config, git --exec, git config, git alias, \
         git bisect, git submodule, git filter-branch, git for-each-repo, git difftool, git mergetool, \
         git send-email, git instaweb, git daemon, git hook, git remote-ext, git remote-fd, git merge-index, git rebase -x, git grep -O, \
         git grep --open-files-in-pager, git --upload-pack, git --receive-pack, git --template, \
         git clone -u, git ls-remote -u, docker exec, docker run, docker compose, podman exec, podman run, \
         kubectl exec, kubectl run, lxc exec, machinectl shell, vagrant ssh, adb shell, npm run, npm exec, \
         npm x, npm explore, npm install, npm i, npm add, npm create, npm init, pnpm run, pnpm exec, \
         pnpm dlx, pnpm install, pnpm i, pnpm add, pnpm create, yarn run, yarn exec, yarn dlx, yarn add, \
         yarn create, pip install, uv run, uv pip, uv tool, uv add, poetry run, poetry add, pipenv run, \
         npm config, npm set, pnpm config, yarn config, gcc -wrapper, clang -wrapper, tcpdump -z, pandoc --filter, \
         pandoc -F, eslint -c, eslint --config, openssl -engine, ssh-keygen -D, gcloud --command, conda run, gem install, bundle exec, rails runner, cargo install, cargo run, go install, go get, go run, \
         go generate, go test, pip download, pip wheel, npm start, npm test, npm t, npm stop, npm restart, \
         pnpm test, pnpm start, yarn test, yarn start",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<Word> {
        arguments
            .iter()
            .map(|&text| Word {
                text: text.to_owned(),
                ..Word::default()
            })
            .collect()
    }

    #[test]
    fn programs_are_known_by_their_family() {
        for name in [
            "sh",
            "SH",
            "python3.12",
            "pypy3",
            "vim.tiny",
            "nodejs",
            "lua5.4",
            ".",
            "su-exec",
            "cmd.exe",
        ] {
            assert!(runner(name, &[]).is_some(), "{name}");
        }
        for name in [
            "",
            "..",
            "shx",
            "git",
            "find",
            "tar",
            "sha256sum",
            "envsubst",
            "7z",
        ] {
            assert_eq!(runner(name, &words(&["x"])), None, "{name}");
        }
    }

    #[test]
    fn some_run_others_only_with_certain_arguments() {
        let cases: &[(&str, &[&str], bool)] = &[
            ("git", &["commit", "-m", "x"], false),
            ("git", &["-C", "x", "log"], false),
            ("git", &["-c", "x=y", "log"], true),
            ("git", &["-cx=y", "log"], true),
            ("git", &["clone", "--upload-p", "x"], true),
            ("git", &["push", "-u", "origin"], false),
            ("git", &["clone", "-u", "x"], true),
            ("git", &["rebase", "main", "-x", "y"], true),
            ("find", &[".", "-name", "x"], false),
            ("find", &[".", "-execdir", "x"], true),
            ("tar", &["-xzf", "x"], false),
            ("tar", &["-xIf", "x"], true),
            ("tar", &["xIf", "x"], true),
            ("tar", &["czf", "x"], false),
            ("go", &["run", "x"], true),
            ("go", &["vet", "x"], false),
            ("tar", &["--checkpoint-action=exec=x"], true),
            ("tar", &["--use-compress=x"], true),
            ("npm", &["info", "left-pad"], false),
            ("npm", &["i", "left-pad"], true),
        ];
        for &(name, arguments, runs) in cases {
            assert_eq!(
                runner(name, &words(arguments)).is_some(),
                runs,
                "{name} {arguments:?}"
            );
        }
        assert!(has_subcommands("git") && has_subcommands("tar") && !has_subcommands("find"));
    }

    #[test]
    fn interpreters_run_what_they_read_unless_their_first_argument_is_the_program() {
        let cases: &[(&str, &[&str], bool)] = &[
            ("sh", &[], true),
            ("sh", &["-"], true),
            ("sh", &["-s", "x"], true),
            ("bash", &["-o", "pipefail"], true),
            ("bash", &["-c", "x"], false),
            ("bash", &["-lc", "x"], false),
            ("bash", &["x.sh", "y"], false),
            ("bash", &["/dev/stdin"], true),
            (".", &["/dev/stdin"], true),
            ("python3", &["-u"], true),
            ("python3", &["-m", "json.tool"], false),
            ("node", &["-r", "x"], true),
            ("perl", &["-lane", "print"], false),
            ("perl", &["-Mre"], true),
            ("ssh", &["host"], true),
            ("ssh", &["host", "cat"], false),
            ("ssh", &["-p", "22", "host"], true),
            ("awk", &["-F-", "1"], false),
            ("awk", &["-f", "-"], true),
            ("sed", &["--file=-"], true),
            ("xargs", &["rm"], true),
            ("env", &["cat"], false),
        ];
        for &(name, arguments, runs) in cases {
            let arguments = words(arguments);
            let kind = runner(name, &arguments).expect(name);
            assert_eq!(
                kind.runs_input(name, &arguments),
                runs,
                "{name} {arguments:?}"
            );
        }
    }
}
