//! How a refused command is written instead: the command as it is, and its data in the environment.

use std::sync::LazyLock;

use regex::Regex;

use super::super::environment;
use super::super::executable_files::{decides_when_written, is_hidden_config};
use super::super::source::{is_in, reference};
use super::programs;
use super::scanner::{Script, SimpleCommand, Source, Word, is_name, scan};
use super::variables::named;
use cuecard_source::value::{Piece, Text};
use serde_json::Value as Json;

/// Names of variables, and their values as a scenario writes them.
type Variables = Vec<(String, String)>;

/// The parameters of the rewritten step, ready to paste, or in general words if the command can't be rewritten. `env` is
/// what the step has already.
pub(super) fn proposal(text: &Text, env: &[(String, Text)]) -> String {
    let is_unknown = |piece: &Piece| piece.reference.is_none() && !piece.origin.is_trusted();
    let mut own = env.iter().flat_map(|(_, value)| value.pieces());
    if own.any(is_unknown) {
        return "add the value to `env` of the step, and let the program read it there".to_owned();
    }
    let own = env.iter().map(|(name, it)| (name.clone(), in_braces(it)));
    let Some((command, variables)) = with_variables(text, own.collect()) else {
        return String::new();
    };
    let json = |text: &str| Json::from(text).to_string();
    // A list or an object stays one, so that what is filled in is escaped.
    let pairs = variables.iter().map(|(name, value)| {
        let read = serde_json::from_str(value);
        let value = match read.is_ok_and(|it: Json| it.is_object() || it.is_array()) {
            true => value.clone(),
            false => json(value),
        };
        format!("{}: {value}", json(name))
    });
    let pairs = pairs.collect::<Vec<_>>().join(", ");
    if let Some(command) = command {
        let command = json(&command);
        return format!(
            "if the command may have any value, also one that begins with `-`, pass it in the environment: \"command\": {command}, \"env\": {{ {pairs} }}"
        );
    }
    let command = in_braces(text);
    let data = text
        .untrusted()
        .map(|piece| serde_json::from_str(&piece.text));
    let is_list = command.starts_with("for ") || command.contains("xargs");
    let is_json =
        matches!(data, Some(Ok(json)) if !Json::is_string(&json) && (!is_list || json.is_array()));
    let mut programs = command.split_whitespace().map(programs::base_name);
    let read = programs.find_map(|program| READ.iter().find(|(names, ..)| is_in(names, program)));
    let name = variables.get(env.len()).map_or("VALUE", |(name, _)| name);
    let read = read.map_or_else(String::new, |(_, text, json)| {
        let read = if is_json { json } else { text };
        format!(" (`{}`)", read.replace("{}", name))
    });
    format!(
        "pass the value in the environment, \"env\": {{ {pairs} }}, and let the program read it there{read}"
    )
}

/// How programs read the variable `{}` of their environment: as text, and if it is JSON.
const READ: &[(&str, &str, &str)] = &[
    (
        "python",
        "import os; os.environ[\"{}\"]",
        "import json, os; json.loads(os.environ[\"{}\"])",
    ),
    ("node", "process.env.{}", "JSON.parse(process.env.{})"),
    ("awk gawk mawk", "ENVIRON[\"{}\"]", "ENVIRON[\"{}\"]"),
    (
        "psql",
        "printf '%s' \"select :'v'\" | psql -v v=\"${}\"",
        "printf '%s' \"select :'v'\" | psql -v v=\"${}\"",
    ),
    ("jq gh glab", "env.{}", "(env.{} | fromjson)"),
    ("yq", "strenv({})", "env({})"),
    ("perl", "$ENV{{}}", "$ENV{{}}"),
    ("ruby", "ENV[\"{}\"]", "ENV[\"{}\"]"),
    ("php", "getenv(\"{}\")", "getenv(\"{}\")"),
    ("make gmake", "\"$${}\" in a recipe", "\"$${}\" in a recipe"),
    (
        "for",
        "printf '%s\\n' \"${}\" | grep . | while IFS= read -r line; do …; done",
        "printf '%s' \"${}\" | jq -r '.[]' | while IFS= read -r item; do …; done",
    ),
];

/// The command with its data in variables of the environment, and the reference for each; nothing if some program may run
/// what they hold.
pub fn in_environment(command: &Text) -> Option<(String, Variables)> {
    let (command, variables) = with_variables(command, Vec::new())?;
    Some((command?, variables))
}

/// The command with its data in variables, if no program may run what they hold, and the variables besides `own`. `None`
/// if the command is too long.
fn with_variables(command: &Text, own: Variables) -> Option<(Option<String>, Variables)> {
    let shown = as_written(command);
    let source = Source::new(&shown, false)?;
    let names = variable_names(&source, &own);
    let command = rewritten(&source, &names).map(|it| it.replace(BRACES, LITERAL_BRACES));
    let mut variables = own;
    for (name, piece) in names.into_iter().zip(&source.data) {
        let variable = (name, reference(piece));
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    }
    Some((command, variables))
}

/// How a scenario writes braces that are none of a reference.
const LITERAL_BRACES: &str = "{{'{{'}}";

/// Stands for them in a command, whose quotes those of the spelling are not.
const BRACES: char = '\u{F8FF1}';

/// The text with the references of its trusted parts again, as the author wrote them.
fn as_written(text: &Text) -> Text {
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(_) if piece.origin.is_trusted() => Piece::author(&reference(piece)),
        None => Piece::author(&piece.text.replace("{{", &BRACES.to_string())),
        _ => piece.clone(),
    });
    Text::new(pieces.collect())
}

/// A text with all its references.
fn in_braces(text: &Text) -> String {
    let text = as_written(text);
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(_) => reference(piece),
        None => piece.text.replace(BRACES, LITERAL_BRACES),
    });
    pieces.collect()
}

/// A name for each piece of data: the last part of its reference, as environment variables are written, and so that no
/// program knows it.
fn variable_names(source: &Source<'_>, taken: &Variables) -> Vec<String> {
    let is_same = |one: &Piece, other: &Piece| one.reference == other.reference;
    named(&source.data, is_same, |piece, names| {
        let path = piece.reference.as_deref().unwrap_or_default();
        let path = path.split('|').next().unwrap_or_default();
        let mut parts = path.split(['.', '[', ']', ' ']);
        let last = parts.rfind(|part| !part.is_empty()).unwrap_or_default();
        let plain = last.to_ascii_uppercase();
        let plain = plain.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        let mut name = format!("VALUE_{plain}");
        if environment::is_obeyed(&name) {
            name.push_str("_1");
        }
        // The author's own variables keep their names.
        while source.text.contains(&name)
            || taken.iter().any(|(taken, _)| *taken == name)
            || names.contains(&name)
        {
            name.push_str("_2");
        }
        name
    })
}

/// The command with its data in variables. `None` if a variable might be code there, or the command isn't read.
fn rewritten(source: &Source<'_>, names: &[String]) -> Option<String> {
    let script = scan(source, names, true).ok()?;
    let is_safe = |command: &SimpleCommand| !may_run_data(&command.words, &script, false);
    let decides = |word: &Word| {
        let mut names = word.text.split('/');
        names.any(|name| is_hidden_config(name) || decides_when_written(name))
    };
    let is_all = script.commands.iter().all(is_safe) && !made(&script).any(decides);
    is_all.then_some(script.output)
}

/// The words that name files that a script makes.
fn made(script: &Script) -> impl Iterator<Item = &Word> {
    script.commands.iter().flat_map(|command| {
        let makes = |word: &Word| is(word, "tee cp mv dd ln install");
        let makes = command.words.iter().any(makes);
        let words = (1..command.words.len()).filter(move |at| {
            makes || is(&command.words[at - 1], "-o -O --output --output-document")
        });
        let words = words.map(|at| &command.words[at]);
        let files = command.redirections.iter().filter(|it| it.makes_file());
        files.map(|it| &it.target).chain(words)
    })
}

/// Whether `program` may be a file that the script makes: one that a command besides names, or whose name the shell builds.
fn may_be_made(program: &str, script: &Script) -> bool {
    let last = |path: &str| {
        path.rsplit(['/', '='])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let own = last(program);
    let is_it = |name: &str| {
        let name = last(name);
        let rest = name.strip_prefix(own.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is_built = made(script).any(|word| word.name().is_none());
    let starts = |command: &&SimpleCommand| {
        let mut words = command.words.iter();
        words.any(|word| word.literal() == Some(program))
    };
    let others = script.commands.iter().filter(|command| !starts(command));
    let mut named = others
        .flat_map(|command| &command.words)
        .chain(made(script));
    is_built || named.any(|word| word.literal().is_some_and(is_it))
}

/// Whether these words may run data that is in them, in their input, or in a file that was made before. A variable may
/// hold data. `is_file` says that the first names a file and no program.
fn may_run_data(words: &[Word], script: &Script, is_file: bool) -> bool {
    let is_set = |word: &&Word| assigned(word).is_some() || is(word, "export local readonly");
    let (assignments, words) = words.split_at(words.iter().take_while(is_set).count());
    let Some((first, behind)) = words.split_first() else {
        return assignments.iter().any(sets_obeyed);
    };
    let Some(program) = first.literal().filter(|it| is_program(it)) else {
        return true;
    };
    if assignments.iter().any(sets_obeyed) {
        return true;
    }
    let base = programs::base_name(program);
    let has = |words: &str| behind.iter().any(|word| is(word, words));
    // `git $words`: data may be in a variable that is set here, and be options or several words.
    let sets = |command: &SimpleCommand| {
        let first = command.words.first();
        first.is_some_and(|word| is_set(&word) || is(word, "read for set"))
    };
    let is_open = |word: &Word| word.is_open;
    if base != "echo" && script.commands.iter().any(sets) && behind.iter().any(is_open) {
        return true;
    }
    match base {
        // It runs nothing, but each line or item is meant, and a variable in quotes is one word.
        "for" => return behind.iter().any(Word::has_data),
        // Values have names there, and its input is never run.
        "jq" => {
            let is_value = |at: usize| at > 1 && is(&behind[at - 2], "--arg --argjson");
            let is_code = |at: usize| has_data(&behind[at]) && !is_value(at);
            return has("-f --from-file -L") || (0..behind.len()).any(is_code);
        }
        // With a fixed script that only picks and replaces.
        "awk" | "gawk" | "mawk" | "sed" => {
            let mut scripts = behind.iter().filter(|word| !is(word, "-n -E -r"));
            let script = scripts.next().and_then(Word::literal);
            return !script.is_some_and(is_plain_script) || behind.iter().any(Word::has_data);
        }
        // Bash evaluates what is a number there, also by the name of a variable.
        "test" | "[" => return has("-v") || behind.iter().any(is_open),
        "[[" => return has("-v -R -eq -ne -lt -le -gt -ge"),
        "printf" => return has("-v") || behind.first().is_some_and(has_data),
        "read" | "unset" => {
            let is_plain = |name: &str| {
                name.starts_with('-') || (is_name(name) && !environment::is_obeyed(name))
            };
            return !behind.iter().all(|word| word.name().is_some_and(is_plain));
        }
        // Behind `--` a value is no option.
        "set" => {
            let is_option = |word: &Word| word.beginning().contains('k');
            return behind.first().is_some_and(has_data) || behind.iter().any(is_option);
        }
        // What it reads may be several words, or options that start programs.
        "xargs" if has("find tar sort sed awk git") || (prints_data(script) && !has("-0 -d")) => {
            return true;
        }
        _ => {}
    }
    let launcher = LAUNCHERS
        .iter()
        .find(|launcher| is_in(launcher.names, base));
    if let Some(start) = launcher.and_then(|launcher| launcher.program(behind)) {
        return launcher.is_none_or(|launcher| launcher.may_run(behind, start, script));
    }
    let is_exec = |word: &Word| {
        let text = word.beginning();
        text.starts_with("-exec") || text.starts_with("-ok")
    };
    let (behind, started) = match behind.iter().position(is_exec) {
        Some(at) => (&behind[..at], &behind[at + 1..]),
        None => (behind, [].as_slice()),
    };
    let subcommands = [0, 1].map(|at| behind.get(at).and_then(Word::literal).unwrap_or_default());
    let is_person = base == "git" && subcommands[1].starts_with("user.");
    let names_command = |word: &Word| {
        names_runner(word) && !is(word, SUBCOMMANDS) && !(is_person && is(word, "config"))
    };
    let runs_option = |at: usize| {
        let option = behind[at].beginning().split('=').next().unwrap_or_default();
        let value = behind.get(at + 1).filter(|word| has_data(word));
        option.starts_with('-')
            && !matches!(option, "-" | "--")
            && (has_data(&behind[at]) || value.is_some())
            && !takes_text((base, subcommands), option, value)
    };
    // The programs that get data run none of it by the options that are known of them.
    let is_known = programs::find(program).is_some_and(|listed| {
        let mut options = behind.iter().map(Word::beginning);
        options.all(|it| !it.starts_with('-') || it == "-" || listed.option(it).is_some())
    });
    let reads_recipe = (is_in("docker podman nerdctl kubectl", base) && has("-"))
        || (base == "kubectl" && has("--"))
        || (base == "curl" && has("-K --config"));
    let is_several = |word: &Word| word.is_split && word.has_data_inside;
    (behind.iter().any(is_several) && prints_data(script))
        || reads_recipe
        || ((is_file || program.contains('/')) && may_be_made(program, script))
        || (names_runner(first) && launcher.is_none())
        || is_in(RUN_PROGRAMS, base)
        || behind.iter().any(names_command)
        || (!is_known && (0..behind.len()).any(runs_option))
        || (!started.is_empty() && may_run_data(started, script, false))
}

/// Whether a command of the script only prints data, for another one to read.
fn prints_data(script: &Script) -> bool {
    script.commands.iter().any(|command| {
        let mut words = command.words.iter();
        words
            .next()
            .is_some_and(|first| is(first, "echo printf cat ls find"))
            && words.any(has_data)
    })
}

/// Whether a text can be the name of a program or of a file that is run.
fn is_program(text: &str) -> bool {
    let is_sign = |sign: char| {
        sign.is_alphanumeric() || "._-/@+:[~".contains(sign) || (sign == ' ' && text.contains('/'))
    };
    let is_device = ["/dev/", "/proc/", "-"]
        .iter()
        .any(|start| text.starts_with(start));
    !is_device && text.chars().all(is_sign)
}

fn has_data(word: &Word) -> bool {
    word.literal().is_none()
}

fn names_runner(word: &Word) -> bool {
    let text = word.beginning();
    let base = programs::base_name(text);
    (programs::is_runner(text) && base != "find") || is_in(RUN_WORDS, base) || text == "."
}

/// Words that start the program behind them with the rest of the words.
struct Launcher {
    names: &'static str,
    /// Which of their subcommands do; all if there are none.
    subcommands: &'static str,
    /// The options before the program; behind one with a colon a value follows, which may be any text, behind one with
    /// `=` one of the author's. Where another stands, what is started is not known.
    options: &'static str,
    /// How many operands stand before the program.
    n_operands: usize,
}

const fn launcher(
    names: &'static str,
    subcommands: &'static str,
    options: &'static str,
    n_operands: usize,
) -> Launcher {
    Launcher {
        names,
        subcommands,
        options,
        n_operands,
    }
}

const LAUNCHERS: &[Launcher] = &[
    launcher("env", "", "-i -u= --unset= -0 -v", 0),
    launcher("nice", "", "-n=", 0),
    launcher(
        "timeout",
        "",
        "-s= --signal= -k= --kill-after= -v --foreground --preserve-status",
        1,
    ),
    launcher("sudo doas", "", "-u= --user= -g= --group= -n -E -H -k", 0),
    launcher(
        "npx bunx uvx",
        "",
        "-y --yes -q --quiet -p= --package= --with= --from= --python=",
        0,
    ),
    launcher(
        "xargs",
        "",
        "-0 -r -t -n= -P= -I= -L= -d= --null --no-run-if-empty",
        0,
    ),
    launcher("nohup setsid time exec cross-env", "", "-p", 0),
    launcher(INTERPRETERS, "", "run -jar -m -u -x", 0),
    launcher(
        CONTAINERS,
        "run exec",
        "-i -t -it -ti -d --rm --interactive --tty --detach --init -e: --env: --name: -l: --label: --hostname: -w: --workdir: \
         -u= --user= -n: --namespace: -p: --publish: -v: --volume: -c: --container: --network= --platform= --pull= --env-file=",
        1,
    ),
    launcher(
        "git uv poetry pipenv pipx pdm hatch nix bundle go",
        "run exec",
        "-q --quiet --with= --python= --extra= --group= --frozen --locked --no-sync --isolated --no-project --no-dev -race",
        0,
    ),
];

const CONTAINERS: &str = "docker podman nerdctl kubectl";

/// Programs that run the file behind them, and leave its arguments and input to it.
const INTERPRETERS: &str =
    "sh bash dash zsh ksh python node ruby perl php deno bun java Rscript source";

impl Launcher {
    /// Where the program stands that is started, or the end if there is none. `None` if nothing is started, and beyond the
    /// end if that is not known, or the launcher's own words may be code.
    fn program(&self, words: &[Word]) -> Option<usize> {
        let unknown = Some(words.len() + 1);
        let mut at = match self.subcommands.is_empty() {
            true => 0,
            false => 1 + words.iter().position(|word| is(word, self.subcommands))?,
        };
        if words[..at].iter().any(has_data) {
            return unknown;
        }
        let mut n_before = self.n_operands;
        let names_running = self.names == CONTAINERS && words[..at].iter().any(|it| is(it, "exec"));
        while let Some(word) = words.get(at) {
            let text = word.beginning();
            let option = self.option(text);
            let is_set = assigned(word).is_some();
            let is_operand = option.is_none() && !text.starts_with('-') && !is_set;
            if is_operand && n_before == 0 {
                break;
            }
            n_before -= usize::from(is_operand);
            let value = words.get(at + 1);
            let (is_text, n_words) = match option {
                _ if is_operand => (names_running, 1),
                _ if is_set => (!sets_obeyed(word), 1),
                _ if is(word, "--") => (false, 1),
                Some(Some(is_text)) if text.contains('=') => (is_text, 1),
                Some(Some(_)) if has_data(word) => return unknown,
                Some(Some(is_text)) => (is_text && !value.is_some_and(sets_obeyed), 2),
                Some(None) => (false, 1),
                None => return unknown,
            };
            let end = words.len().min(at + n_words);
            if !is_text && words[at..end].iter().any(has_data) {
                return unknown;
            }
            at = end;
        }
        Some(at)
    }

    /// Whether it has an option, and if a value follows, whether that may be any text.
    fn option(&self, word: &str) -> Option<Option<bool>> {
        let name = word.split('=').next().unwrap_or_default();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        self.options
            .split_ascii_whitespace()
            .find_map(|option| match option.strip_prefix(name)? {
                "" => Some(None),
                ":" => Some(Some(true)),
                "=" => Some(Some(false)),
                _ => None,
            })
            .or_else(|| {
                // `xargs -n1`
                let letter = name
                    .get(..2)
                    .filter(|_| name.len() > 2 && is_number(&name[2..]))?;
                self.options.contains(&format!("{letter}=")).then_some(None)
            })
    }

    /// Whether the words may run data, of which the program begins at `start`.
    fn may_run(&self, words: &[Word], start: usize, script: &Script) -> bool {
        let Some((own, rest)) = words.split_at_checked(start) else {
            return true;
        };
        let is_interpreter = self.names == INTERPRETERS;
        let is_module = own.iter().any(|word| is(word, "-m"));
        match rest.first() {
            None => self.subcommands.is_empty() || own.iter().any(names_runner),
            // `bun x`, `php artisan`
            Some(file) if is_interpreter && !is_module && !file.text.contains(['.', '/']) => true,
            Some(_) => may_run_data(rest, script, self.names != CONTAINERS),
        }
    }
}

/// Options whose values are code, files of it or programs, by their letters; `*` is any other program.
const CODE_LETTERS: &[(&str, &str)] = &[
    ("git", "c e x u O"),
    ("gh glab", "q t"),
    ("tar bsdtar", "I F"),
    ("scp sftp", "S D o F"),
    ("rsync wget", "e"),
    ("apt apt-get dpkg mount", "o"),
    ("tcpdump", "z"),
    ("fd fdfind", "x X"),
    ("man", "P"),
    ("pytest mocha jest eslint", "c f o p r"),
    ("kubectl docker podman nerdctl", "f k"),
    ("gcc g++ clang", "B"),
    ("curl", "K T"),
    ("*", "c e x I K S"),
];

/// Whether the value of an option is a text, and no program, script or name of a variable, as its name says.
fn takes_text(
    (program, [subcommand, action]): (&str, [&str; 2]),
    option: &str,
    value: Option<&Word>,
) -> bool {
    const CODE: &str = "exec toolexec execute eval extcmd cmd command call script askpass sh rsh ssh shell hook editor pager pack program \
         engine provider renderer print jq template expression action plugin module require import load init config proxy wrapper \
         entrypoint pre preview";
    let (name, is_long) = match option.strip_prefix("--") {
        Some(name) => (name, true),
        None => (&option[1..], option.len() > 4),
    };
    // The value is that of the last letter: `-qm`.
    let last = name.chars().next_back().unwrap_or_default().to_string();
    match program {
        _ if is_long || is_in("var run", name) => {
            !name.split(['-', '.']).any(|part| is_in(CODE, part))
        }
        // A new branch; what follows; a title.
        "git" if name == "c" => subcommand == "switch",
        "kubectl" | "docker" if is_in("logs rm", subcommand) => true,
        "gh" | "glab" if last == "t" => is_in("create edit comment new", action),
        // Behind a `@`, or at its beginning, it would be a file.
        "curl" if is_in("H F d", name) => value.is_some_and(|value| {
            let start = value.beginning();
            !start.is_empty() && !start.ends_with(['@', '<'])
        }),
        _ => {
            let mut rows = CODE_LETTERS.iter();
            let row = rows.find(|(names, _)| *names == "*" || is_in(names, program));
            !row.is_some_and(|(_, letters)| is_in(letters, &last))
        }
    }
}

/// Whether a word is one of some.
fn is(word: &Word, words: &str) -> bool {
    word.literal().is_some_and(|text| is_in(words, text))
}

/// The variable that a word sets.
fn assigned(word: &Word) -> Option<&str> {
    let (name, _) = word.beginning().split_once('=')?;
    Some(name.trim_end_matches('+')).filter(|name| is_name(name))
}

fn sets_obeyed(word: &Word) -> bool {
    has_data(word) && assigned(word).is_some_and(environment::is_obeyed)
}

/// Names of runners that are words of other programs too: `gh issue view`, `npm run watch`.
const SUBCOMMANDS: &str = "view watch script expect less screen at ex perf .";

/// Words besides the runners that run what is behind them.
const RUN_WORDS: &str = "runner eval exec dlx foreach config submodule filter-branch timeit pdb runpy doctest cProfile IPython \
     send-command run-command difftool pkg console";

/// Programs and builtins besides the runners that run their words or input, or take them for the name of a variable.
const RUN_PROGRAMS: &str = "mariadb mongosh duckdb redis-cli yq concurrently alias enable select coproc mapfile readarray getopts compgen \
     complete command builtin let declare typeset trap hash type wait history fc split just bmake cross-env-shell swipl rails cmd \
     wsl adb salt sem watchexec fzf socat drush nim mlr ansible ansible-playbook cmake heroku conda cmd.exe";

/// Whether a script of awk or sed starts nothing, reads no file and writes none: `{print $1}`, `1,5p`, `s/a/b/g`.
pub(super) fn is_plain_script(script: &str) -> bool {
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        let awk = r#"(?:NR *[=<>]=? *\d+ *)?\{ *print(?: (?:\$?\w+|"[^"\\]*"|,| )+)? *\}|NR *[=<>]=? *\d+"#;
        let sed = r"(?:\d+|\$)?(?:,(?:\d+|\$))?[dpq]|s/[^/\n]*/[^/\n]*/[gip0-9]*|s,[^,\n]*,[^,\n]*,[gip0-9]*";
        Regex::new(&format!("^(?:{awk}|{sed})$")).expect("a fixed pattern")
    });
    PLAIN.is_match(script)
}
