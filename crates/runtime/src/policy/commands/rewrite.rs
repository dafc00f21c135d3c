//! How a refused command is written instead: the command as it is, and its data in the environment.

use std::sync::LazyLock;

use regex::Regex;

use super::super::environment;
use super::super::executable_files::decides_when_written;
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
    let is_json = matches!(data, Some(Ok(json)) if !Json::is_string(&json));
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
    ("jq", "env.{}", "(env.{} | fromjson)"),
    ("yq", "strenv({})", "env({})"),
    ("perl", "$ENV{{}}", "$ENV{{}}"),
    ("ruby", "ENV[\"{}\"]", "ENV[\"{}\"]"),
    ("php", "getenv(\"{}\")", "getenv(\"{}\")"),
    ("make gmake", "\"$${}\" in a recipe", "\"$${}\" in a recipe"),
    (
        "for xargs",
        "printf '%s\\n' \"${}\" | grep . | while read -r line; do …; done",
        "printf '%s' \"${}\" | jq -r '.[]' | while read -r item; do …; done",
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
    script.commands.iter().all(is_safe).then_some(script.output)
}

/// Whether `program` may be one of the files that the script makes. A name that the shell builds may be any, and some
/// files are run without being named.
fn may_be_made(program: &str, script: &Script) -> bool {
    let last = |path: &str| {
        path.rsplit(['/', '='])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let made = script.commands.iter().flat_map(|command| {
        let makes = "tee cp mv dd ln install";
        let makes = command
            .program()
            .is_some_and(|program| is_in(makes, program));
        let words = command.words.iter().skip(1).filter(move |_| makes);
        let files = command.redirections.iter().filter(|it| it.makes_file());
        files.map(|it| &it.target).chain(words)
    });
    made.map(|word| word.name().map(last))
        .any(|name| name.is_none_or(|name| name == last(program) || decides_when_written(&name)))
}

/// Whether these words may run data that is in them, in their input, or in a file that was made before. A variable may
/// hold data. `is_file` says that the first names a file and no program.
fn may_run_data(words: &[Word], script: &Script, is_file: bool) -> bool {
    let n_assigned = words
        .iter()
        .take_while(|word| assigned(word).is_some() || is(word, "export local readonly"))
        .count();
    let (assignments, words) = words.split_at(n_assigned);
    if assignments.iter().any(sets_obeyed) {
        return true;
    }
    let Some((program, behind)) = words.split_first() else {
        return false;
    };
    let Some(program) = program.literal().filter(|it| is_program(it)) else {
        return true;
    };
    let base = programs::base_name(program);
    let has = |words: &str| behind.iter().any(|word| is(word, words));
    let carries = behind.iter().any(has_data);
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
        "test" | "[" | "printf" => return has("-v") && carries,
        _ if is_in(NAME_WORDS, base) => return carries,
        _ => {}
    }
    let launcher = LAUNCHERS.iter().find(|(names, ..)| is_in(names, base));
    let is_plain = launcher.is_some_and(|(_, subcommands, _)| !subcommands.is_empty());
    if let Some(start) = launcher.and_then(|launcher| launched(launcher, behind)) {
        let (own, rest) = behind.split_at(start);
        let is_file = is_in(INTERPRETERS, base) && !own.iter().any(|word| is(word, "-m"));
        let is_text = |at: usize| {
            let is_value = assigned(&own[at]).is_some() || (at > 0 && is(&own[at - 1], LABELS));
            !has_data(&own[at]) || (is_value && !sets_obeyed(&own[at]))
        };
        return match rest.first() {
            None => !is_plain || !(0..own.len()).all(is_text) || own.iter().any(names_runner),
            // `bun x`, `php artisan`
            Some(file) if is_file && !file.text.contains(['.', '/']) => true,
            Some(_) => !(0..own.len()).all(is_text) || may_run_data(rest, script, is_file),
        };
    }
    let subcommand = behind.first().and_then(Word::literal).unwrap_or_default();
    let runs_option = |at: usize| {
        let name = behind[at].beginning().split('=').next().unwrap_or_default();
        let mut values = behind[at + 1..].iter();
        match name {
            _ if name.starts_with("-exec") || name.starts_with("-ok") => values.any(has_data),
            "" | "-" | "--" => false,
            _ => {
                let value = values.next().filter(|word| has_data(word));
                name.starts_with('-')
                    && !takes_text((base, subcommand), name, value)
                    && (has_data(&behind[at]) || value.is_some())
            }
        }
    };
    let names_command = |word: &Word| names_runner(word) && !is(word, SUBCOMMANDS);
    ((is_file || program.contains('/')) && may_be_made(program, script))
        || (names_runner(&words[0]) && !is_plain)
        || behind.iter().any(names_command)
        // The programs that get data run none of it by their options.
        || (programs::find(program).is_none() && (0..behind.len()).any(runs_option))
}

/// Whether a text can be the name of a program or of a file that is run.
fn is_program(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_alphanumeric() || "._-/@+:[~".contains(sign);
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

/// Words that start the program behind them with the rest of the words: their names, the subcommands that do, and how many
/// operands stand before the program.
type Launcher = (&'static str, &'static str, usize);

const LAUNCHERS: &[Launcher] = &[
    (
        "env nice nohup setsid timeout sudo doas npx bunx uvx",
        "",
        0,
    ),
    (INTERPRETERS, "", 0),
    ("docker podman nerdctl kubectl", "run exec", 1),
    (
        "git uv poetry pipenv pipx pdm hatch conda nix bundle",
        "run exec",
        0,
    ),
];

/// Programs that run the file behind them, and leave its arguments and input to it.
const INTERPRETERS: &str = "sh bash dash zsh ksh python node ruby perl php deno bun java Rscript";

/// Options whose values are texts for people, or the place of what is started.
const LABELS: &str = "-e --env --name -l --label --hostname -w --workdir -n --namespace";

/// Where the program stands that a launcher starts, or the end if there is none. `None` if it starts none.
fn launched((names, subcommands, n_operands): &Launcher, words: &[Word]) -> Option<usize> {
    let start = match subcommands.is_empty() {
        true => 0,
        false => 1 + words.iter().position(|word| is(word, subcommands))?,
    };
    let is_own = |word: &Word| match *names == INTERPRETERS {
        true => is(word, "run -jar -m"),
        // A number is how long, or how nice.
        false => {
            let text = word.beginning();
            text.starts_with('-')
                || assigned(word).is_some()
                || text.starts_with(|first: char| first.is_ascii_digit())
        }
    };
    let mut operands = (start..words.len()).filter(|at| !is_own(&words[*at]));
    Some(operands.nth(*n_operands).unwrap_or(words.len()))
}

/// Whether the value of an option is a text, and no program, script or name of a variable, as its name says.
fn takes_text((program, subcommand): (&str, &str), option: &str, value: Option<&Word>) -> bool {
    const CODE: &str = "exec toolexec execute eval cmd command call script askpass sh rsh ssh shell hook editor pager pack program engine \
         provider renderer print jq template expression action plugin module require import load init config proxy wrapper";
    let (name, is_long) = match option.strip_prefix("--") {
        Some(name) => (name, true),
        None => (&option[1..], option.len() > 4),
    };
    if is_long {
        return !name.split(['-', '.']).any(|part| is_in(CODE, part));
    }
    // The value is that of the last letter: `-qm`.
    let last = name.chars().next_back().unwrap_or_default().to_string();
    match program {
        "gh" | "glab" => !is_in("q t", &last),
        // Elsewhere it sets what is run.
        "git" if option == "-c" => subcommand == "switch",
        "docker" | "podman" | "nerdctl" if is_in("e v", name) => name == "e",
        // Behind a `@`, or at its beginning, it would be a file.
        "curl" if is_in("H F d", name) => value.is_some_and(|value| {
            let start = value.beginning();
            !start.is_empty() && !start.ends_with(['@', '<'])
        }),
        _ if is_in("d var run", name) => true,
        _ => {
            let letters = "m t b k n l L q s a g u p j i v w h 0 1 9";
            !name.contains(['c', 'e']) && is_in(letters, &last)
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
    assigned(word).is_some_and(environment::is_obeyed)
}

/// Names of runners that are words of other programs too: `gh issue view`, `npm run watch`.
const SUBCOMMANDS: &str = "view watch script expect make less screen at ex perf .";

/// Builtins that take names of variables, or texts that they run later, and run nothing else.
const NAME_WORDS: &str =
    "read mapfile readarray getopts unset hash trap let local export readonly declare typeset type";

/// Programs and words besides the runners that run their words or input, or take them for the name of a variable.
const RUN_WORDS: &str = "mariadb mongosh duckdb redis-cli yq runner concurrently eval source alias enable select coproc \
     submodule filter-branch timeit pdb runpy doctest cProfile IPython exec dlx foreach config compgen complete [[ time command";

/// Whether a script of awk or sed starts nothing, reads no file and writes none: `{print $1}`, `1,5p`, `s/a/b/g`.
fn is_plain_script(script: &str) -> bool {
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        let awk = r#"(?:NR *[=<>]=? *\d+ *)?\{ *print(?: (?:\$?\w+|"[^"\\]*"|,| )+)? *\}|NR *[=<>]=? *\d+"#;
        let sed = r"(?:\d+|\$)?(?:,(?:\d+|\$))?[dpq]|s/[^/\n]*/[^/\n]*/[gip0-9]*|s,[^,\n]*,[^,\n]*,[gip0-9]*";
        Regex::new(&format!("^(?:{awk}|{sed})$")).expect("a fixed pattern")
    });
    PLAIN.is_match(script)
}
