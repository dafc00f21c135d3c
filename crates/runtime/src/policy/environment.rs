//! Names of environment variables that programs obey.

/// Whether programs obey a variable of this name.
pub(super) fn is_obeyed(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let prefixes = [
        "LD_",
        "GIT_",
        "PYTHON",
        "NODE_",
        "CUECARD_",
        "NPM_CONFIG_",
        "XDG_",
    ];
    let names = [
        "PATH", "ENV", "BASH_ENV", "IFS", "HOME", "SHELL", "PAGER", "EDITOR", "VISUAL", "BROWSER",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || names.contains(&name.as_str())
}
