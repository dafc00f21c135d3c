//! What is known about programs: which start others, which run their arguments as code.

mod interpreters;
mod wrappers;

use super::words::Word;
pub(super) use interpreters::Interpreter;
pub(super) use wrappers::{Resolved, resolve};

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

/// What `name` does with its arguments.
pub(super) fn kind(name: &str) -> Kind {
    if let Some(interpreter) = interpreters::interpreter(name) {
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
