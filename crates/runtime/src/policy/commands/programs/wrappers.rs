//! Programs that start the program named after them: `sudo`, `env`, `timeout`.

use super::super::words::Word;
use super::base_name;

/// The program that a command starts in the end.
#[derive(Debug)]
pub(in super::super) struct Resolved<'words> {
    /// The words that name programs which start the next one.
    pub(in super::super) wrappers: Vec<usize>,
    /// The word that names the program.
    pub(in super::super) program: usize,
    /// Its name without folders.
    pub(in super::super) name: &'words str,
}

/// Finds the program of `words`, which are not empty.
///
/// # Errors
/// The index of the word from which on it can't be told.
pub(in super::super) fn resolve(words: &[Word]) -> Result<Resolved<'_>, usize> {
    let mut wrappers = Vec::new();
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
            });
        }
        wrappers.push(at);
        at = next;
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
                    if words.get(at).is_some_and(Word::may_vanish) {
                        return None;
                    }
                } else if self.with_value.iter().any(|option| is_joined(&option)) {
                    // The value is in the same word, data or not.
                } else if !word.is_literal()
                    || !(self.flags.contains(&text) || (is_number && text.len() > 1))
                {
                    return None;
                }
            } else if self.takes_assignments && word.assignment.is_some() {
                options_are_over = true;
            } else if operands > 0 && !word.may_vanish() {
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

const PLAIN_WRAPPER: Wrapper = Wrapper {
    names: &[
        "nohup", "builtin", "busybox", "unbuffer", "chronic", "fakeroot",
    ],
    with_value: &[],
    flags: &[],
    operands: 0,
    takes_assignments: false,
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
        ..PLAIN_WRAPPER
    },
];
