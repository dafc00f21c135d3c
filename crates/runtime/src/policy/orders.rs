//! Names of files and folders that programs take orders from when they are started.

/// Whether programs that are started later take orders from a file or folder of this name: configs of servers and
/// editors, hooks and workflows, start files of shells and others.
pub fn decides_what_runs(name: &str) -> bool {
    is_among(NAMES, name)
}

/// The same for a file that is written: also those that programs of a project run when they are started there.
pub(crate) fn decides_when_written(name: &str) -> bool {
    // `vite.config.ts`
    let is_config = name.to_lowercase().contains(".config.");
    decides_what_runs(name) || is_among(RUN_NAMES, name) || is_config
}

fn is_among(names: &[&str], name: &str) -> bool {
    // As lenient as the file systems of macOS and Windows: upper case, blanks and dots at the end, characters that
    // aren't there.
    let folded: String = name
        .chars()
        .filter(|character| !matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    let plain = folded
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches([' ', '.']);
    let mut names = names.iter().flat_map(|names| names.split(", "));
    names.any(|known| known == plain)
}

/// In lower case, with commas between them.
const NAMES: &[&str] = &[
    // Configs that start servers and tasks, and those of agents.
    ".mcp.json, .cuecard, .sandy, .claude, .claude.json, claude_desktop_config.json, .codex, .cursor, .gemini, \
     .opencode, opencode.json, opencode.jsonc, .qwen, .cline, .openhands, .pi, .kiro, .roo, .amazonq, .continue, \
     .windsurf, .cursorrules, .vscode, .zed, .idea, .devcontainer, .devcontainer.json",
    // Version control and what builds from it. `git~1` is `.git` on Windows.
    ".git, git~1, .gitconfig, .gitmodules, .gitattributes, .hg, .hgrc, .husky, .pre-commit-config.yaml, .github, .gitlab-ci.yml, \
     .circleci, .travis.yml, .buildkite, .gitea, .forgejo, .drone.yml, lefthook.yml, .lefthook.yml",
    // Start files of shells and sessions.
    ".profile, .bashrc, .bash_profile, .bash_login, .bash_logout, .bash_aliases, .zshrc, .zshenv, .zprofile, .zlogin, \
     .zlogout, .kshrc, .mkshrc, .cshrc, .tcshrc, .login, .logout, .inputrc, .envrc, .config, .local, .ssh, .tmux.conf, \
     .screenrc, .xinitrc, .xprofile, .xsession, .pam_environment",
    // Start files of editors, debuggers and interpreters.
    ".vim, .vimrc, .gvimrc, .exrc, .nvimrc, .nvim.lua, .emacs, .emacs.d, .dir-locals.el, .nanorc, .gdbinit, .lldbinit, \
     .psqlrc, .sqliterc, .irbrc, .pryrc, .rprofile, .nvim, .lvimrc, .gdbearlyinit, .lldbinit-lldb, .pdbrc, .ipython, \
     .perldb, .lessfilter, .curlrc, .wgetrc, .netrc, _netrc",
    // What package managers and build tools read.
    ".npmrc, .yarn, .yarnrc, .yarnrc.yml, .pnpmfile.cjs, .cargo, .gradle, .mvn, .bundle, .mise.toml, .tool-versions, .bazelrc",
];

/// Recipes, modules that interpreters load by themselves, and what agents are told. Read like any file.
const RUN_NAMES: &[&str] = &[
    "makefile, gnumakefile, justfile, rakefile, jenkinsfile, dockerfile, docker-compose.yml, docker-compose.yaml, \
     compose.yml, compose.yaml, package.json, conftest.py, sitecustomize.py, usercustomize.py, node_modules, .venv, .env, \
     claude.md, agents.md, gemini.md",
    // What builds, tests and starts a project.
    "pyproject.toml, setup.py, setup.cfg, tox.ini, pytest.ini, noxfile.py, fabfile.py, tasks.py, manage.py, requirements.txt, pipfile, \
     build.rs, cargo.toml, go.mod, build.gradle, build.gradle.kts, settings.gradle, settings.gradle.kts, pom.xml, build.xml, \
     cmakelists.txt, meson.build, build.ninja, build.bazel, module.bazel, gemfile, gulpfile.js, \
     gruntfile.js, deno.json, deno.jsonc, composer.json, procfile, vagrantfile, containerfile, taskfile.yml, \
     taskfile.yaml, configure, gradlew, mvnw, flake.nix, shell.nix, default.nix",
];
