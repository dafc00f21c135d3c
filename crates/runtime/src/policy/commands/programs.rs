//! What is known of programs. Only a program in this table gets data in its words: these print, compare or name files
//! and do nothing else, so that what they do with a word is known. Everything else gets data by its environment.

use super::super::source::is_in;

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Any text but an option of its own (`echo`).
    Printed,
    /// Any text, behind a format (`printf`).
    Formatted,
    /// An expression (`test`, `[`).
    Expression,
    /// Any text.
    Text,
    /// A pattern, then files to read.
    Pattern,
    /// Files to read.
    Read,
    /// Files that are made, changed or removed.
    Write,
    /// The author's words only.
    Literal,
    /// The same, and it makes files of what it reads.
    Copy,
    /// The author's script, then files to read. What it reads may be written by the script.
    Filter,
}

/// A program that may get data.
#[derive(Debug)]
pub(super) struct Program(
    /// The names of programs that are alike.
    &'static str,
    /// Its options as `getopt` takes them: letters, with a colon if a value follows, which may be any text, or `=` if
    /// that is the author's. Options that name files to write, lists of files or programs are not among them.
    &'static str,
    pub(super) Operands,
);

const PROGRAMS: &[Program] = &[
    Program("echo", "", Operands::Printed),
    Program("printf", "", Operands::Formatted),
    Program("test [", "", Operands::Expression),
    Program("true false : exit", "", Operands::Literal),
    Program("pwd", "LP", Operands::Literal),
    Program("set", "euxo=", Operands::Literal),
    Program("cd", "LP", Operands::Literal),
    Program("date", "uRd=I", Operands::Literal),
    Program("basename", "as:z", Operands::Text),
    Program("dirname", "z", Operands::Text),
    Program("seq", "wf:s:", Operands::Text),
    Program("sleep", "", Operands::Text),
    Program("tr", "cCdst", Operands::Text),
    Program("cat", "AbeEnsTtuv", Operands::Read),
    Program("head tail", "n:c:qvz", Operands::Read),
    Program("wc", "clmwL", Operands::Read),
    Program("ls", "1aAlhntrSRdFpisUXw:", Operands::Read),
    Program("stat", "Lfc:t", Operands::Read),
    Program("du", "abhscmkxd:", Operands::Read),
    Program("realpath readlink", "efmnqsz", Operands::Read),
    Program("cut", "d:f:c:b:s", Operands::Read),
    Program("sort", "nrufbdghiMVzsmck:t:", Operands::Read),
    Program("nl", "b:s:w:", Operands::Read),
    Program("tac rev", "", Operands::Read),
    Program("paste", "d:s", Operands::Read),
    Program("comm", "123", Operands::Read),
    Program("fold", "w:s", Operands::Read),
    Program("od", "A:t:N:j:vabcdox", Operands::Read),
    Program("base64", "dDiw:", Operands::Read),
    Program(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum",
        "bt",
        Operands::Read,
    ),
    Program("diff", "uqsiwbBNyaU:C:", Operands::Literal),
    Program("cmp", "bsln:", Operands::Read),
    Program(
        "grep egrep fgrep",
        "abcEFGhHiIlLnoPqrRsvwxyzA:B:C:m:e:f=",
        Operands::Pattern,
    ),
    Program("uniq", "cduizf:s:w:", Operands::Copy),
    Program("mkdir", "pvm:", Operands::Write),
    Program("rmdir", "pv", Operands::Write),
    Program("rm", "rRfvdi", Operands::Write),
    Program("cp", "pvnufrRa", Operands::Copy),
    Program("mv", "fnvu", Operands::Copy),
    Program("touch", "acmd=t=", Operands::Write),
    Program("tee", "ai", Operands::Write),
    Program("jq", "crensSajRMC", Operands::Filter),
    Program("sed", "nErsuze=", Operands::Filter),
    Program("awk gawk mawk", "F:v:", Operands::Filter),
];

/// Long options that change nothing of what the words of the programs above are. Behind one with a colon a value
/// follows, which is the author's.
const LONG_OPTIONS: &str = "after-context: all append before-context: block-size bytes chars color colour compact-output complement \
     context: count decode delete delimiter exclude: exclude-dir: exit-status field-separator: fields files-with-matches \
     files-without-match fixed-strings force format full-time human-readable ignore-case include: indent: \
     initial-tab invert-match key: line-number lines max-count: max-depth: no-clobber no-filename no-messages null number \
     numeric-sort only-matching parents quiet raw-input raw-output recursive regexp-extended reverse silent slurp \
     sort tab text time-style: unique utc verbose version-sort with-filename word-regexp words";

/// Words that change what the words after them are, or what runs: where one stands, nothing else can be known.
const UNREADABLE: &str = "for while until case select function [[ time coproc eval . source exec command builtin trap alias unalias \
     shift read mapfile readarray getopts export declare typeset local readonly let unset enable shopt bind complete \
     compgen fc history pushd popd return break continue do done in esac ln hash \
     wait jobs fg bg disown kill umask ulimit times type suspend caller dirs logout";

/// Programs that start the program or the file that their first operand names, with the words behind it, and words of
/// others that do. They never get data by [`PROGRAMS`] or `--allow-command`.
const LAUNCHERS: &str = "sh bash dash ash rbash ksh mksh zsh fish csh tcsh python pypy ipython node nodejs perl ruby php lua luajit julia Rscript \
     deno bun java groovy tsx ts-node env nice nohup setsid stdbuf timeout gtimeout time ionice choom prlimit setpriv \
     linux32 linux64 chronic hyperfine caffeinate torsocks proxychains proxychains4 valgrind strace ltrace unbuffer \
     xvfb-run dbus-run-session fakeroot sudo doas npx bunx uvx pipx cross-env env-cmd dotenv direnv source .";

/// Programs that run what any of their words or their input say, and words of others that do. The lists only guard
/// `--allow-command` and what a refusal proposes.
const RUNNERS: &str = "nu xonsh elvish pwsh powershell busybox toybox ld.so cuecard gosu su-exec tini dumb-init pkexec \
     start-stop-daemon rsh mosh pdsh srun tmux screen bunx bmake mise mamba micromamba rye op doppler envdir chpst \
     nix-shell php-cgi xterm sops perf gnuplot clisp bb iex erl csi unshare nsenter chroot run-parts \
     su runuser script rlwrap watch entr xargs parallel ssh sshpass bwrap firejail R tclsh wish expect \
     osascript jshell scala ghc ghci sbcl clojure guile racket ocaml elixir octave make gmake gdb lldb vi vim nvim view ex ed emacs \
     emacsclient psql mysql sqlite sqlite3 at batch crontab m4 bc dc awk gawk mawk nawk sed gsed jq \
     pnpm pnpx slogin plink dbclient autossh pee pm2 latexmk sbt powershell.exe pwsh.exe nodemon zx start-server-and-test flock chrt taskset setarch faketime catch rustup rustc scp sftp apt-get apt profile trace unittest pydoc runner foreach config submodule filter-branch timeit pdb runpy doctest cProfile IPython send-command run-command difftool pkg \
     console apply tinker eval mariadb mongosh duckdb redis-cli yq concurrently split just cross-env-shell swipl rails cmd wsl adb salt sem watchexec \
     fzf socat drush nim mlr ansible ansible-playbook cmake heroku conda cmd.exe";

/// Programs that start others by an option or a word of their own.
const STARTERS: &str = "find fd fdfind docker podman nerdctl docker-compose uv poetry pipenv volta less man systemd-run";

/// Whether a program may start others or run its words, so that no flag lets it have data.
pub(super) fn may_run(word: &str) -> bool {
    is_launcher(word) || is_runner(word) || is_in(STARTERS, base_name(word))
}

/// The name of a program in one of the system's folders.
pub(super) fn system_name(path: &str) -> Option<&str> {
    let path = path.strip_prefix("/usr").unwrap_or(path);
    let name = path.strip_prefix("/bin/");
    name.filter(|name| !name.contains('/'))
}

/// The program in the table that a shell starts by this word. A path outside the system's folders is another program.
pub(super) fn find(word: &str) -> Option<&'static Program> {
    let name = system_name(word).unwrap_or(word);
    PROGRAMS.iter().find(|program| is_in(program.0, name))
}

/// The names in the table.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().flat_map(|program| program.0.split(' '))
}

impl Program {
    /// Whether each value that follows an option is the author's only. `None` if it has letters that aren't known.
    pub(super) fn option(&self, word: &str) -> Option<&'static [bool]> {
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            return match () {
                () if is_in(LONG_OPTIONS, name) => Some(&[]),
                () if is_in(LONG_OPTIONS, &format!("{name}:")) => {
                    Some(if name == long { &[true] } else { &[] })
                }
                // `jq --arg NAME VALUE`
                () if self.0 == "jq" && is_in("arg argjson", name) => Some(&[true, false]),
                () => None,
            };
        }
        let mut letters = word[1..].chars();
        // `head -5`
        if letters.clone().all(|letter| letter.is_ascii_digit()) {
            return Some(&[]);
        }
        while let Some(letter) = letters.next() {
            let known = self.1.split_once(letter);
            let (_, behind) = known.filter(|_| !":=".contains(letter))?;
            let values: &[bool] = match behind.chars().next() {
                Some(':') => &[false],
                Some('=') => &[true],
                _ => continue,
            };
            // Else the rest of the word is the value.
            return Some(if letters.as_str().is_empty() {
                values
            } else {
                &[]
            });
        }
        Some(&[])
    }
}

pub(super) fn is_unreadable(word: &str) -> bool {
    is_in(UNREADABLE, word)
}

/// Whether a program is one of the launchers, also of another version: `python3.12`.
pub(super) fn is_launcher(word: &str) -> bool {
    is_named_in(LAUNCHERS, word)
}

/// The same of those that run any of their words.
pub(super) fn is_runner(word: &str) -> bool {
    is_named_in(RUNNERS, word) || file_name(word).starts_with("ld-")
}

fn is_named_in(programs: &str, word: &str) -> bool {
    is_in(programs, file_name(word)) || is_in(programs, base_name(word))
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The last part of a path, without a version.
pub(super) fn base_name(word: &str) -> &str {
    file_name(word)
        .trim_end_matches(|character: char| character.is_ascii_digit() || character == '.')
        .trim_end_matches('-')
}

/// The tool that does the same with a value as it is.
pub(super) fn tool_instead(word: &str) -> Option<&'static str> {
    Some(match base_name(word) {
        "curl" | "wget" => "claude__web_fetch",
        "sed" | "patch" => "claude__edit",
        "rg" | "ag" => "claude__grep",
        "find" => "claude__glob",
        _ => return None,
    })
}
