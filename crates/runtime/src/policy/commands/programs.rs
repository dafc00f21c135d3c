//! What is known about programs: which run their arguments, which start others.

mod runners;
mod wrappers;

use super::words::Word;
pub(super) use runners::{Runner, has_subcommands, runner, starting_option};
pub(super) use wrappers::resolve;

/// What a program that runs none of its arguments does with them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// They are data to it.
    Plain,
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
}

/// What `name` does with its arguments.
pub(super) fn kind(name: &str) -> Kind {
    match name {
        "declare" | "typeset" | "local" | "export" | "readonly" => Kind::Declares,
        "unset" | "wait" => Kind::Names,
        "read" | "mapfile" | "readarray" | "getopts" => Kind::Reads,
        "set" => Kind::Set,
        "[" | "test" => Kind::Test,
        "[[" => Kind::DoubleBrackets,
        "echo" => Kind::Echo,
        "printf" => Kind::Printf,
        ":" | "true" | "false" => Kind::Ignores,
        "cd" | "pushd" | "popd" => Kind::ChangesDirectory,
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

/// Whether a program takes orders from the directory it is started in: it stands there, or it is one that runs
/// recipes, hooks or modules of that directory.
pub(super) fn takes_local_orders(program: &Word, arguments: &[Word]) -> bool {
    let is_relative = program.text.contains('/') && !program.text.starts_with(['/', '~']);
    is_relative
        || base_name(program).is_some_and(|name| match runner(name, arguments) {
            Some(Runner::Filter) => false,
            Some(_) => !matches!(name, "command" | "builtin" | "trap" | "hash"),
            None => has_subcommands(name) && !matches!(name, "tar" | "dd" | "ip"),
        })
}

/// Whether a program is a file in a folder that isn't one of the system's.
pub(super) fn is_own_file(program: &Word) -> bool {
    const SYSTEM: &[&str] = &["/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/"];
    let text = program.text.as_str();
    let is_of_system = SYSTEM.iter().any(|folder| text.starts_with(folder));
    text.contains('/') && (program.expansions.is_some() || !is_of_system)
}

/// Whether a program reads options, or names of files, from a file or its standard input, which data may get into.
pub(super) fn reads_orders(name: &str, arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.as_str();
        let is_short = |letter: char| {
            text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
        };
        match name {
            "curl" => text.starts_with("--config") || is_short('K'),
            "wget" => {
                text.starts_with("--input-file") || text.starts_with("--config") || is_short('i')
            }
            "tar" | "bsdtar" => text.starts_with("--files-from") || is_short('T'),
            _ => text.starts_with("--files0-from") || text.starts_with("-files0-from"),
        }
    })
}

/// Arguments that may name the directory in which a program does its work instead of the one it is started in.
pub(super) fn directories(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    const OPTIONS: &[&str] = &[
        "-C",
        "--git-dir",
        "--work-tree",
        "--prefix",
        "--directory",
        "--manifest-path",
    ];
    let is_option = |word: &Word| OPTIONS.contains(&word.text.as_str());
    let is_joined = |word: &Word| OPTIONS.iter().any(|option| word.text.starts_with(option));
    let named = move |(at, word): (usize, &Word)| {
        let before = at.checked_sub(1).and_then(|at| arguments.get(at));
        is_joined(word) || before.is_some_and(is_option)
    };
    arguments
        .iter()
        .enumerate()
        .filter(move |&argument| named(argument))
        .map(|(_, word)| word)
}

/// Whether the words after `option` of `find` are a command.
pub(super) fn starts_command(option: &str) -> bool {
    matches!(option, "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// Whether the shell, the loader or common programs take orders from this variable.
pub(super) fn is_special(variable: &str) -> bool {
    const NAMES: &[&str] = &[
        "PATH",
        "ENV",
        "IFS",
        "SHELL",
        "CDPATH",
        "FPATH",
        "ZDOTDIR",
        "BASHOPTS",
        "SHELLOPTS",
        "PROMPT_COMMAND",
        "FCEDIT",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "OPTIND",
        "HISTCMD",
        "PS0",
        "PS1",
        "PS2",
        "PS3",
        "PS4",
        "HOME",
        "PAGER",
        "MANPAGER",
        "MORE",
        "BROWSER",
        "VISUAL",
        "VIMINIT",
        "EXINIT",
        "LUA_INIT",
        "R_PROFILE",
        "MAKEFLAGS",
        "TAR_OPTIONS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "OPENSSL_CONF",
        "AWKPATH",
        "GCONV_PATH",
        "CC",
        "CXX",
        "MAKEFILES",
        "GNUMAKEFLAGS",
        "GOFLAGS",
        "ZIPOPT",
        "UNZIP",
        "GZIP",
        "XZ_OPT",
        "XZ_DEFAULTS",
        "SSLKEYLOGFILE",
        "CURL_HOME",
        "WGETRC",
        "NETRC",
        "COMPILER_PATH",
        "GCC_EXEC_PREFIX",
        "PSQLRC",
        "PGSERVICEFILE",
        "DOCKER_CONFIG",
        "KUBECONFIG",
        "CMAKE_TOOLCHAIN_FILE",
        "AWS_CONFIG_FILE",
        "INPUTRC",
        "TERMINFO",
    ];
    const PREFIXES: &[&str] = &[
        "LD_",
        "DYLD_",
        "GIT_",
        "BASH_",
        "PYTHON",
        "NODE_",
        "RUBY",
        "PERL",
        "PHP",
        "LUA_",
        "JULIA_",
        "CARGO_",
        "PIP_",
        "NPM_CONFIG_",
        "npm_config_",
        "CUECARD_",
        "LESS",
        "XDG_CONFIG_",
        "JAVA_",
        "_JAVA_",
        "JDK_",
        "MAVEN_",
        "GRADLE_",
    ];
    const SUFFIXES: &[&str] = &["EDITOR", "_ASKPASS", "_RSH", "_SSH"];
    NAMES.contains(&variable)
        || PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| variable.ends_with(suffix))
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
