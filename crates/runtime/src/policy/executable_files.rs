//! Names of files and folders that programs execute or obey when they are started.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::source::{is_in, is_like};

/// Whether programs that are started later obey a file or folder of this name: configs of servers and editors, hooks and
/// workflows, start files of shells and others. Data may not even read them: some hold credentials.
pub fn decides_what_runs(name: &str) -> bool {
    is_like(NAMES, &folded(name))
}

/// The same for a file that is written: also those that programs of a project run when they are started there.
pub(crate) fn decides_when_written(name: &str) -> bool {
    let name = folded(name);
    let stem = name.split('.').next().unwrap_or_default();
    let is_recipe = || {
        is_like(RUN_STEMS, stem)
            || is_like(RUN_FORMS, &name)
            // `Brewfile`
            || (name == stem && name.len() > 4 && name.ends_with("file") && name != "profile")
    };
    // A page about a file is none that runs.
    is_like(NAMES, &name) || is_like(RUN_NAMES, &name) || (!name.ends_with(".md") && is_recipe())
}

/// Whether a file or folder is hidden, as configs of programs are: `.eslintrc.js`, `.aws`. Files that only list or keep
/// names (`.gitignore`, `.gitkeep`) are not meant.
pub(super) fn is_hidden_config(name: &str) -> bool {
    let name = folded(name);
    name.starts_with('.') && !is_like(&["..* *ignore *keep"], &name)
}

/// All texts that are values in a config, in JSON or TOML, whatever is wrong with it.
pub fn values(config: &str) -> impl Iterator<Item = String> {
    static TEXT: LazyLock<Regex> = LazyLock::new(|| {
        let text = r#"("(?:[^"\\]|\\.)*"|'[^'\n]*')\s*(:?)"#;
        Regex::new(text).expect("a fixed pattern")
    });
    let texts = TEXT.captures_iter(config).map(|found| found.extract().1);
    let values = texts.filter(|[_, colon]| colon.is_empty());
    values.map(|[written, _]| {
        let bare = || written[1..written.len() - 1].to_owned();
        serde_json::from_str::<String>(written).unwrap_or_else(|_| bare())
    })
}

/// The words of a value by which it may name a file, and the parts of these between dots: what starts a server names its
/// files and modules. An option may stick to one: `-mpkg.server`.
pub(super) fn words(value: &str) -> impl Iterator<Item = String> {
    let is_of_name = |sign: char| sign.is_alphanumeric() || "_-.+@".contains(sign);
    let words = value.split(move |sign| !is_of_name(sign));
    let words = words.flat_map(|word| {
        let bare = word.trim_start_matches(['-', '@']);
        let n_letters = if bare.len() + 1 == word.len() {
            0..=2
        } else {
            0..=0
        };
        n_letters.filter_map(|n| bare.get(n..)).chain([word])
    });
    let parts = words.flat_map(|word| word.split('.').chain([word]));
    let names = parts.filter(|part| part.contains(|sign: char| !sign.is_ascii_digit()));
    names.map(folded)
}

/// The parts of a value that may be paths, and the packages of modules (`pkg` of `pkg.server`). A URL is none.
pub(super) fn paths(value: &str) -> impl Iterator<Item = &str> {
    let is_between = |sign: char| sign.is_whitespace() || "'\"=:,;|&<>(){}$`*?[".contains(sign);
    let values = value.split_whitespace().filter(|it| !it.contains("://"));
    let parts = values.flat_map(move |value| value.split(is_between));
    let parts = parts.map(|part| part.trim_start_matches(['-', '@']));
    let modules = parts.clone().filter_map(|part| match part.contains('/') {
        false => part.split('.').next(),
        true => None,
    });
    let behind = value.split_once('=').map(|(_, path)| path);
    let all = parts.chain(modules).chain([value]).chain(behind);
    all.filter(|path| !path.is_empty() && !path.contains("://"))
}

/// Whether the name of a file can be meant by one of these [`words`]: with its end or, of code and settings, without.
pub(super) fn is_named(name: &str, words: &HashSet<String>) -> bool {
    let name = folded(name);
    let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
    // No word has a blank.
    let mut parts = name.split(' ');
    parts.any(|part| words.contains(part))
        || ((is_in(CODE, end) || is_in(SETTINGS, end)) && words.contains(stem))
}

/// Whether a file of this name is run.
pub(super) fn is_code(name: &str) -> bool {
    let name = folded(name);
    name.rsplit_once('.')
        .is_some_and(|(_, end)| is_in(CODE, end))
}

/// The ends of the names of files that are run.
const CODE: &str = "py pyc pyw pyz js cjs mjs ts cts mts jsx tsx rb pl pm php lua sh bash zsh fish ps1 bat cmd exe so dylib dll \
     node wasm jar class go rs r jl ex exs erl clj groovy kts scala swift";

/// Those of files that may say what is run.
const SETTINGS: &str = "json toml yaml yml ini cfg conf env";

/// A name as lenient file systems of macOS and Windows take it: upper case, blanks and dots at the end, characters that
/// aren't there.
pub(super) fn folded(name: &str) -> String {
    let folded: String = name
        .chars()
        .filter(|character| !matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    let plain = folded.split(':').next().unwrap_or_default();
    plain.trim_end_matches([' ', '.']).to_owned()
}

/// In lower case.
const NAMES: &[&str] = &[
    // Configs that start servers and tasks and those of agents.
    ".mcp.json .cuecard .sandy .claude .claude.json claude_desktop_config.json .codex .cursor .gemini \
     .opencode opencode.json opencode.jsonc .qwen .cline .openhands .pi .kiro .roo .amazonq .continue \
     .windsurf .vibe .kilocode .cursorrules .windsurfrules .clinerules .roorules .vscode .zed .idea .devcontainer .devcontainer.json",
    // Version control and what builds from it. `git~1` is `.git` on Windows.
    ".git git~1 .gitconfig .gitmodules .gitattributes .hg .hgrc .svn .jj .husky .pre-commit-config.yaml .github \
     .gitlab-ci.yml .circleci .travis.yml .buildkite .gitea .forgejo .drone.yml lefthook.yml .lefthook.yml",
    // Start files of shells and sessions.
    ".profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin \
     .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .envrc .config .local .ssh .tmux.conf \
     .screenrc .xinitrc .xprofile .xsession .pam_environment",
    // Start files of editors debuggers and interpreters.
    ".vim .vimrc .gvimrc .exrc .nvimrc .nvim.lua .emacs .emacs.d .dir-locals.el .nanorc .gdbinit .lldbinit \
     .psqlrc .sqliterc .irbrc .pryrc .rprofile .nvim .lvimrc .gdbearlyinit .lldbinit-lldb .pdbrc .ipython \
     .perldb .lessfilter .curlrc .wgetrc .netrc _netrc _vimrc _gvimrc",
    // What package managers build tools and tools of clouds read. A config of the last names commands that give
    // credentials.
    ".npmrc .yarn .yarnrc .yarnrc.yml .pnpmfile.cjs .cargo .gradle .mvn .bundle .mise.toml .tool-versions \
     .bazelrc .kube .aws .azure .docker .gnupg .terraform.d .terraformrc .m2 .gem .rustup",
];

/// Recipes, modules that interpreters load by themselves, and what agents are told. Read like any file.
const RUN_NAMES: &[&str] = &[
    "docker-compose.yml docker-compose.yaml docker-compose.override.yml docker-compose.override.yaml \
     compose.yml compose.yaml compose.override.yml compose.override.yaml package.json node_modules .venv .env \
     mcp.json mcp_config.json claude.md claude.local.md agents.md agents.override.md gemini.md qwen.md \
     copilot-instructions.md skill.md",
    // What builds tests and starts a project.
    "pyproject.toml setup.py setup.cfg tox.ini pytest.ini tasks.py manage.py dodo.py __init__.py __main__.py \
     environment.yml build.rs cargo.toml rust-toolchain rust-toolchain.toml go.mod go.work pom.xml build.xml \
     gradle.properties gradle-wrapper.properties build.sbt cmakelists.txt meson.build build.ninja wscript sconstruct \
     sconscript deno.json deno.jsonc bunfig.toml pnpm-workspace.yaml composer.json artisan mix.exs pubspec.yaml \
     makefile.pl build.pl config.ru spec_helper.rb rails_helper.rb configure gradlew mvnw ansible.cfg \
     directory.build.props directory.packages.props web.config mise.toml devbox.json gems.rb package.swift build.zig project.clj deps.edn rebar.config pnpmfile.cjs \
     vitest.workspace.ts action.yml action.yaml mypy.ini angular.json foundry.toml nuget.config venv site-packages \
     __pycache__ devcontainer.json playbook.yml",
    // What tasks deployments and hooks are read from.
    "cdk.json nodemon.json nx.json project.json turbo.json lerna.json vercel.json netlify.toml wrangler.toml \
     fly.toml serverless.yml serverless.yaml pulumi.yaml skaffold.yaml buildspec.yml appspec.yml cloudbuild.yaml \
     azure-pipelines.yml bitbucket-pipelines.yml lefthook.yaml crontab authorized_keys autorun.inf",
    // Lock files say what is installed and from where.
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml flake.lock",
];

/// Names before the first dot: `gulpfile.mjs`, `Dockerfile.dev`, `conftest.py`.
const RUN_STEMS: &[&str] = &[
    "makefile gnumakefile dockerfile containerfile jenkinsfile rakefile justfile taskfile gulpfile gruntfile \
     jakefile noxfile fabfile magefile knexfile vagrantfile conftest sitecustomize usercustomize",
];

/// Forms of names of recipes, of lists of modules, and of what desktops and services start.
const RUN_FORMS: &[&str] = &[
    "*.pth *.egg-link *.mk *.cmake *.gradle *.gradle.kts *.bazel *.bzl *.nix *.tf *.tf.json *.hcl *._pth *.mak *.just *.sbt \
     *.socket *.plist *.lnk *.gemspec *.podspec *.rake *.csproj *.fsproj *.vbproj *.vcxproj *.targets *.code-workspace \
     *.desktop *.service *.timer *.lock *.config.* *.conf.js *.conf.cjs *.conf.mjs *.conf.ts *requirements*.txt constraints*.txt",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_or_obeyed_is_not_written() {
        for name in [
            ".kube",
            ".aws",
            ".windsurfrules",
            "cdk.json",
            "x.pth",
            "Brewfile",
            "Dockerfile.dev",
            "gulpfile.mjs",
            "vite.config.ts",
            "requirements-dev.txt",
            "main.tf",
            "App.csproj",
            "build.gradle.kts",
            "yarn.lock",
            "mcp.json",
            "CLAUDE.local.md",
            "conftest.py",
            "Makefile",
            "MAKEFILE ",
            "package.json::$DATA",
        ] {
            assert!(decides_when_written(name), "{name}");
        }
        for name in [
            ".eslintrc.js",
            ".prettierrc.js",
            ".rspec",
            ".babelrc",
            ".mocharc.cjs",
            ".htaccess",
            ".\u{200b}x",
        ] {
            assert!(is_hidden_config(name), "{name}");
        }
    }

    #[test]
    fn what_is_only_data_may_be_written() {
        for name in [
            "report.json",
            "notes.md",
            "data.csv",
            "config.json",
            "requirements.md",
            "file",
            "profile",
            "profile.json",
            "logfile.txt",
            "index.html",
            "app.ts",
            "main.py",
            "lock",
            "clock.svg",
            "makefiles.md",
            "compose.md",
            "a b.txt",
            "composer.png",
            "settings.json",
            "x.gitignore",
            "page.tfvars.txt",
            "README",
        ] {
            assert!(
                !decides_when_written(name) && !is_hidden_config(name),
                "{name}"
            );
        }
        assert!(!is_hidden_config(".gitignore") && !is_hidden_config(".gitkeep"));
    }
}
