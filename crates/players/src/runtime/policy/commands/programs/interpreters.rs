//! Shells, languages and filters: which of their arguments are code.

use super::super::words::Word;

/// The interpreter called `name`.
pub(super) fn interpreter(name: &str) -> Option<&'static Interpreter> {
    // `python3.12` is a Python.
    let family = name.trim_end_matches(|character: char| {
        character.is_ascii_digit() || matches!(character, '.' | '-')
    });
    INTERPRETERS.iter().find(|interpreter| {
        interpreter.names.contains(&name) || interpreter.names.contains(&family)
    })
}

/// A program that runs code.
#[derive(Debug)]
pub(in super::super) struct Interpreter {
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

/// What an interpreter makes of its arguments.
#[derive(Debug, Default)]
pub(in super::super) struct Roles {
    /// The words that are code.
    pub(in super::super) code: Vec<usize>,
    /// The word that names the program.
    pub(in super::super) program: Option<usize>,
    /// Where the arguments of a shell's `-c` begin.
    pub(in super::super) arguments: Option<usize>,
    /// It runs what it reads.
    pub(in super::super) is_bare: bool,
    /// From this word on it can't be told.
    pub(in super::super) unknown: Option<usize>,
}

impl Interpreter {
    /// Whether it is a shell or a language, as opposed to a filter.
    pub(in super::super) fn runs_programs(&self) -> bool {
        matches!(self.operand, Operand::Program | Operand::ShellProgram)
    }

    pub(in super::super) fn is_shell(&self) -> bool {
        self.operand == Operand::ShellProgram
    }

    /// The roles of `words` from `start` on, which is after the interpreter's own name.
    pub(in super::super) fn roles(&self, words: &[Word], start: usize) -> Roles {
        let mut roles = Roles::default();
        let mut awaits_code = false;
        let mut has_operand = false;
        let mut reads_anyway = false;
        let mut options_are_over = false;
        let mut at = start;
        while let Some(word) = words.get(at) {
            let begins_with_expansion = word.expansions.is_some_and(|(first, _)| first == 0);
            let is_settled = awaits_code || has_operand || !roles.code.is_empty();
            let is_open = (begins_with_expansion && !word.text.contains('/')) || word.is_any_name();
            if is_open && !is_settled {
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
                    roles.unknown = (at + 1..words.len())
                        .take(count)
                        .find(|&value| words[value].may_vanish());
                    if roles.unknown.is_some() {
                        return roles;
                    }
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
        // If it vanishes, the next word is the code.
        roles.unknown = roles
            .code
            .iter()
            .copied()
            .find(|&at| words[at].may_vanish());
        roles.is_bare = self.reads_program
            && (reads_anyway || (roles.code.is_empty() && roles.program.is_none()));
        roles
    }
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
