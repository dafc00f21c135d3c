//! What is known about programs: which start others, which run their arguments as code.

use super::words::Word;

/// What a program does with its arguments, as far as data in them is concerned.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// They are data to it.
    Plain,
    /// Any of them may be code, a command or a name that is evaluated.
    Evaluator,
    /// Some of them are code.
    Interpreter(&'static Interpreter),
    /// `export NAME=value` and the like.
    Declares,
    /// They are names of variables, which are evaluated.
    Names,
    /// The same, and it puts what it reads into variables.
    Reads,
    /// They become `$1` and so on.
    Set,
    /// `[` and `test`.
    Test,
    /// `[[`
    DoubleBrackets,
    Echo,
    Printf,
    /// They are ignored.
    Ignores,
    ChangesDirectory,
    Find,
}

/// A program that runs code.
#[derive(Debug)]
pub(super) struct Interpreter {
    names: &'static [&'static str],
    /// Letters of options whose value is code: `c` for `-c CODE`.
    letters: &'static str,
    /// The same as long options.
    long: &'static [&'static str],
    /// Options with so many words after them that are data.
    with_values: &'static [(&'static str, usize)],
    operand: Operand,
    /// Without code in its arguments it runs what it reads.
    reads_program: bool,
}

/// What the first argument is that is no option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// The file of a program, unless code was given; what follows is for that program.
    Program,
    /// The same for shells, where the code of `-c` stands here too.
    ShellProgram,
    /// Code, unless code was given.
    Code,
    Data,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &[
            "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash",
        ],
        letters: "c",
        long: &["--command"],
        with_values: &[
            ("-o", 1),
            ("-O", 1),
            ("+o", 1),
            ("+O", 1),
            ("--rcfile", 1),
            ("--init-file", 1),
        ],
        operand: Operand::ShellProgram,
        reads_program: true,
    },
    Interpreter {
        names: &["python", "pypy"],
        letters: "cm",
        long: &[],
        with_values: &[("-W", 1), ("-X", 1)],
        operand: Operand::Program,
        reads_program: true,
    },
    Interpreter {
        names: &["perl"],
        letters: "eEmM",
        long: &[],
        with_values: &[],
        operand: Operand::Program,
        reads_program: true,
    },
    Interpreter {
        names: &["ruby"],
        letters: "er",
        long: &["--require"],
        with_values: &[("-I", 1), ("-C", 1)],
        operand: Operand::Program,
        reads_program: true,
    },
    Interpreter {
        names: &["node", "nodejs", "bun", "tsx"],
        letters: "epr",
        long: &[
            "--eval",
            "--print",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
        ],
        with_values: &[],
        operand: Operand::Program,
        reads_program: true,
    },
    Interpreter {
        names: &["php"],
        letters: "rBRE",
        long: &["--run"],
        with_values: &[("-c", 1), ("-d", 1)],
        operand: Operand::Program,
        reads_program: true,
    },
    Interpreter {
        names: &[
            "lua", "luajit", "Rscript", "tclsh", "guile", "groovy", "julia", "elixir",
        ],
        letters: "el",
        long: &["--eval"],
        with_values: &[],
        operand: Operand::Program,
        reads_program: true,
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk"],
        letters: "ef",
        long: &["--source", "--file", "--include"],
        with_values: &[
            ("-v", 1),
            ("-F", 1),
            ("--assign", 1),
            ("--field-separator", 1),
        ],
        operand: Operand::Code,
        reads_program: false,
    },
    Interpreter {
        names: &["sed", "gsed"],
        letters: "ef",
        long: &["--expression", "--file"],
        with_values: &[("-l", 1)],
        operand: Operand::Code,
        reads_program: false,
    },
    Interpreter {
        names: &["jq", "yq", "gojq", "jaq"],
        letters: "f",
        long: &["--from-file"],
        with_values: &[
            ("--arg", 2),
            ("--argjson", 2),
            ("--slurpfile", 2),
            ("--rawfile", 2),
            ("--indent", 1),
        ],
        operand: Operand::Code,
        reads_program: false,
    },
    Interpreter {
        names: &["psql", "mysql", "mariadb"],
        letters: "cef",
        long: &["--command", "--execute", "--file"],
        with_values: &[],
        operand: Operand::Data,
        reads_program: true,
    },
    Interpreter {
        names: &["su", "runuser", "sg"],
        letters: "c",
        long: &["--command", "--session-command"],
        with_values: &[],
        operand: Operand::Data,
        reads_program: true,
    },
    Interpreter {
        names: &["script"],
        letters: "c",
        long: &["--command"],
        with_values: &[],
        operand: Operand::Data,
        reads_program: false,
    },
];

/// What `name` does with its arguments.
pub(super) fn kind(name: &str) -> Kind {
    // `python3.12` is a Python.
    let family = name.trim_end_matches(|character: char| {
        character.is_ascii_digit() || matches!(character, '.' | '-')
    });
    let interpreter = INTERPRETERS.iter().find(|interpreter| {
        interpreter.names.contains(&name) || interpreter.names.contains(&family)
    });
    if let Some(interpreter) = interpreter {
        return Kind::Interpreter(interpreter);
    }
    match name {
        "eval" | "." | "source" | "trap" | "alias" | "let" | "bind" | "complete" | "compgen"
        | "fc" | "enable" | "coproc" | "ssh" | "rsh" | "mosh" | "parallel" | "watch" | "at"
        | "batch" | "crontab" | "tmux" | "screen" | "make" | "gmake" | "gdb" | "lldb" | "dc"
        | "ed" | "ex" | "expect" | "socat" | "deno" | "osascript" | "pwsh" | "powershell"
        | "cmd" | "sqlite3" | "duckdb" => Kind::Evaluator,
        "declare" | "typeset" | "local" | "export" | "readonly" => Kind::Declares,
        "unset" => Kind::Names,
        "read" | "mapfile" | "readarray" | "getopts" => Kind::Reads,
        "set" => Kind::Set,
        "[" | "test" => Kind::Test,
        "[[" => Kind::DoubleBrackets,
        "echo" => Kind::Echo,
        "printf" => Kind::Printf,
        ":" | "true" | "false" => Kind::Ignores,
        "cd" | "pushd" | "popd" => Kind::ChangesDirectory,
        "find" => Kind::Find,
        _ => Kind::Plain,
    }
}

/// Whether a command of this name evaluates text as commands of the shell, in the shell itself.
pub(super) fn evaluates_commands(name: &str) -> bool {
    matches!(
        name,
        "eval"
            | "."
            | "source"
            | "trap"
            | "alias"
            | "bind"
            | "complete"
            | "compgen"
            | "fc"
            | "enable"
            | "coproc"
    )
}

/// Whether a command of this name takes names of variables, whose subscripts are evaluated.
pub(super) fn evaluates_names(name: &str) -> bool {
    name == "let"
        || name == "printf"
        || matches!(
            kind(name),
            Kind::Declares | Kind::Names | Kind::Reads | Kind::Test | Kind::DoubleBrackets
        )
}

/// Whether an evaluator with `arguments` arguments runs what it reads.
pub(super) fn evaluates_input(name: &str, arguments: usize) -> bool {
    match name {
        "ssh" | "rsh" => arguments < 2,
        "at" | "batch" | "dc" | "ed" | "ex" | "sqlite3" | "duckdb" | "gdb" | "pwsh"
        | "powershell" | "cmd" => true,
        _ => false,
    }
}

/// Whether the words after `option` of `find` are a command.
pub(super) fn starts_command(option: &str) -> bool {
    matches!(option, "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// What an interpreter makes of its arguments.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// The words that are code.
    pub(super) code: Vec<usize>,
    /// The word that names the program.
    pub(super) program: Option<usize>,
    /// Where the arguments of a shell's `-c` begin.
    pub(super) arguments: Option<usize>,
    /// It runs what it reads.
    pub(super) is_bare: bool,
    /// From this word on it can't be told.
    pub(super) unknown: Option<usize>,
}

impl Interpreter {
    /// Whether it is a shell or a language, as opposed to a filter.
    pub(super) fn runs_programs(&self) -> bool {
        matches!(self.operand, Operand::Program | Operand::ShellProgram)
    }

    pub(super) fn is_shell(&self) -> bool {
        self.operand == Operand::ShellProgram
    }

    /// The roles of `words` from `start` on, which is after the interpreter's own name.
    pub(super) fn roles(&self, words: &[Word], start: usize) -> Roles {
        let mut roles = Roles::default();
        let mut awaits_code = false;
        let mut has_operand = false;
        let mut reads_anyway = false;
        let mut options_are_over = false;
        let mut at = start;
        while let Some(word) = words.get(at) {
            let begins_with_expansion = word.expansions.is_some_and(|(first, _)| first == 0);
            let is_settled = awaits_code || has_operand || !roles.code.is_empty();
            if begins_with_expansion && !word.text.contains('/') && !is_settled {
                roles.unknown = Some(at);
                return roles;
            }
            let is_option = !options_are_over
                && !begins_with_expansion
                && word.text.len() > 1
                && word.text.starts_with(['-', '+'])
                && word.data.first().is_none_or(|&(_, offset)| offset > 0);
            if word.is("--") && !options_are_over {
                options_are_over = true;
            } else if is_option {
                let (name, is_joined) = match word.text.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (word.text.as_str(), false),
                };
                let with_value = self.with_values.iter().find(|(option, _)| word.is(option));
                let letter = (!word.text.starts_with("--"))
                    .then(|| word.text[1..].find(|letter| self.letters.contains(letter)))
                    .flatten();
                if self.is_shell() && with_value.is_none() && !name.starts_with("--") {
                    // `-euo pipefail`
                    at += word.text.matches(['o', 'O']).count();
                }
                if let Some(&(_, count)) = with_value {
                    at += count;
                } else if self.long.contains(&name) || letter.is_some() {
                    let is_whole = match letter {
                        Some(offset) => offset + 2 == word.text.len() && word.is_literal(),
                        None => !is_joined,
                    };
                    if self.is_shell() {
                        awaits_code = true;
                        if !word.is_literal() {
                            roles.code.push(at);
                        }
                    } else if is_whole {
                        at += 1;
                        roles.code.push(at);
                    } else {
                        roles.code.push(at);
                    }
                } else if self.is_shell()
                    && name.starts_with('-')
                    && !name.starts_with("--")
                    && name.contains('s')
                {
                    reads_anyway = true;
                }
            } else if awaits_code {
                roles.code.push(at);
                roles.arguments = Some(at + 1);
                break;
            } else {
                let has_code = !roles.code.is_empty();
                match self.operand {
                    Operand::Code if !has_code && !has_operand => roles.code.push(at),
                    Operand::Program | Operand::ShellProgram => {
                        if word.is("-") {
                            reads_anyway = true;
                        } else if !has_code && !reads_anyway {
                            roles.program = Some(at);
                        }
                        break;
                    }
                    Operand::Code | Operand::Data => {}
                }
                has_operand = true;
            }
            at += 1;
        }
        roles.code.retain(|&at| at < words.len());
        roles.is_bare = self.reads_program
            && (reads_anyway || (roles.code.is_empty() && roles.program.is_none()));
        roles
    }
}

/// A program that starts the one named after it.
struct Wrapper {
    names: &'static [&'static str],
    /// Options with a value, in the next word or joined.
    with_value: &'static [&'static str],
    flags: &'static [&'static str],
    /// Words of its own before the program.
    operands: usize,
    /// `NAME=value` may stand before the program.
    takes_assignments: bool,
    /// It takes what it reads apart into further arguments.
    splits: bool,
}

const PLAIN_WRAPPER: Wrapper = Wrapper {
    names: &[
        "nohup", "builtin", "busybox", "unbuffer", "chronic", "fakeroot",
    ],
    with_value: &[],
    flags: &[],
    operands: 0,
    takes_assignments: false,
    splits: false,
};

const WRAPPERS: &[Wrapper] = &[
    PLAIN_WRAPPER,
    Wrapper {
        names: &["sudo"],
        with_value: &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group",
            "--chdir",
        ],
        flags: &[
            "-n",
            "-E",
            "-H",
            "-S",
            "-k",
            "-b",
            "--preserve-env",
            "--non-interactive",
        ],
        takes_assignments: true,
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["doas"],
        with_value: &["-u", "-C"],
        flags: &["-n"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["env"],
        with_value: &["-u", "-C", "--unset", "--chdir"],
        flags: &["-i", "-", "-0", "-v", "--ignore-environment"],
        takes_assignments: true,
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["nice", "ionice"],
        with_value: &["-n", "-c", "--adjustment"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["timeout"],
        with_value: &["-k", "-s", "--kill-after", "--signal"],
        flags: &["--foreground", "--preserve-status", "-v"],
        operands: 1,
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["chroot"],
        operands: 1,
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["flock"],
        with_value: &["-w", "-E", "--timeout"],
        flags: &["-n", "-x", "-s", "-e", "-o"],
        operands: 1,
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["time"],
        with_value: &["-o", "-f"],
        flags: &["-p", "-v", "-a"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["command"],
        flags: &["-p", "-v", "-V"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["exec"],
        with_value: &["-a"],
        flags: &["-c", "-l"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["setsid"],
        flags: &["-w", "-c", "-f", "--wait"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["stdbuf"],
        with_value: &["-i", "-o", "-e"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["strace", "ltrace"],
        with_value: &["-o", "-e", "-s", "-u"],
        flags: &["-f", "-ff", "-v", "-tt"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["npx", "bunx", "uvx"],
        with_value: &["-p", "--package", "--from", "--with"],
        flags: &["-y", "--yes", "-q", "--no-install"],
        ..PLAIN_WRAPPER
    },
    Wrapper {
        names: &["xargs"],
        with_value: &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"],
        flags: &["-0", "-r", "-t", "-p", "-x", "--null", "--no-run-if-empty"],
        splits: true,
        ..PLAIN_WRAPPER
    },
];

/// The program that a command starts in the end.
#[derive(Debug)]
pub(super) struct Resolved<'words> {
    /// The words that name programs which start the next one.
    pub(super) wrappers: Vec<usize>,
    /// The word that names the program.
    pub(super) program: usize,
    /// Its name without folders.
    pub(super) name: &'words str,
    /// What it reads becomes arguments.
    pub(super) splits: bool,
}

/// Finds the program of `words`, which are not empty.
///
/// # Errors
/// The index of the word from which on it can't be told.
pub(super) fn resolve(words: &[Word]) -> Result<Resolved<'_>, usize> {
    let mut wrappers = Vec::new();
    let mut splits = false;
    let mut at = 0;
    loop {
        let name = words.get(at).and_then(base_name).ok_or(at)?;
        let wrapper = WRAPPERS
            .iter()
            .find(|wrapper| wrapper.names.contains(&name));
        let next = match wrapper {
            Some(wrapper) => wrapper.next(words, at + 1).ok_or(at)?,
            None => words.len(),
        };
        if next >= words.len() {
            return Ok(Resolved {
                wrappers,
                program: at,
                name,
                splits,
            });
        }
        wrappers.push(at);
        splits |= wrapper.is_some_and(|wrapper| wrapper.splits);
        at = next;
    }
}

impl Wrapper {
    /// The word that names the program; the number of words if there is none, nothing if it can't be told.
    fn next(&self, words: &[Word], start: usize) -> Option<usize> {
        let mut at = start;
        let mut operands = self.operands;
        let mut options_are_over = false;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if !options_are_over
                && text.starts_with('-')
                && word.data.first().is_none_or(|&(_, offset)| offset > 0)
            {
                let is_number = text[1..].bytes().all(|byte| byte.is_ascii_digit());
                let is_joined = |option: &&&str| {
                    text.strip_prefix(**option)
                        .is_some_and(|rest| !option.starts_with("--") || rest.starts_with('='))
                };
                if word.is("--") {
                    options_are_over = true;
                } else if self.with_value.iter().any(|option| word.is(option)) {
                    at += 1;
                } else if self.with_value.iter().any(|option| is_joined(&option)) {
                    // The value is in the same word, data or not.
                } else if !word.is_literal()
                    || !(self.flags.contains(&text) || (is_number && text.len() > 1))
                {
                    return None;
                }
            } else if self.takes_assignments && word.assignment.is_some() {
                options_are_over = true;
            } else if operands > 0 {
                operands -= 1;
                options_are_over = true;
            } else {
                return Some(at);
            }
            at += 1;
        }
        Some(words.len())
    }
}

/// The name of a program without its folders, if it is known before the command runs.
pub(super) fn base_name(word: &Word) -> Option<&str> {
    if !word.data.is_empty() || (word.is_pattern && word.text != "[") {
        return None;
    }
    match (word.text.rfind('/'), word.expansions) {
        (None, Some(_)) => None,
        (Some(slash), Some((_, last))) if slash < last => None,
        (Some(slash), _) => Some(&word.text[slash + 1..]),
        (None, None) => Some(&word.text),
    }
}
