//! How a refused command is written instead: the command as it is, and its data in the environment.

use super::super::environment;
use super::super::source::{Source, Symbol, is_in, reference};
use super::programs;
use super::scanner::{Binding, Redirection, SimpleCommand, Word, scan};
use cuecard_source::value::{Piece, Text};

/// The parameters of the rewritten step, ready to paste, or in general words if the command can't be rewritten. `env` is
/// what the step has already.
pub(super) fn proposal(text: &Text, env: &[(String, Text)]) -> String {
    let shown = as_written(text);
    let Some(source) = Source::new(&shown) else {
        return String::new();
    };
    let is_unknown = |piece: &Piece| piece.reference.is_none() && !piece.origin.is_trusted();
    if env
        .iter()
        .any(|(_, value)| value.pieces().iter().any(is_unknown))
    {
        return "add the value to `env` of the step, and let the program read it there".to_owned();
    }
    let own = env
        .iter()
        .map(|(name, value)| (name.clone(), in_braces(value)));
    let mut pairs: Vec<(String, String)> = own.collect();
    let names = variable_names(&source, &shown.to_string(), &pairs);
    add_pairs(&mut pairs, &names, &source);
    let json = |text: String| serde_json::Value::String(text).to_string();
    // A list or an object stays one, so that what is filled in is escaped.
    let is_structure = |value: &str| {
        let value = serde_json::from_str::<serde_json::Value>(value);
        value.is_ok_and(|json| json.is_object() || json.is_array())
    };
    let pairs = pairs.into_iter().map(|(name, value)| {
        let value = match is_structure(&value) {
            true => value,
            false => json(value),
        };
        format!("{}: {value}", json(name))
    });
    let pairs = pairs.collect::<Vec<_>>().join(", ");
    if let Some(command) = rewritten(&source.symbols, &names) {
        let command = json(command.replace(BRACES, LITERAL_BRACES));
        return format!(
            "if the command may have any value, also one that begins with `-`, pass it in the environment: \"command\": {command}, \"env\": {{ {pairs} }}"
        );
    }
    let command = shown.to_string();
    let mut programs = command.split_whitespace().map(programs::base_name);
    let is_json = source.data.first().is_some_and(|piece| {
        serde_json::from_str::<serde_json::Value>(&piece.text).is_ok_and(|json| !json.is_string())
    });
    let read = match programs.find_map(|program| read_by(program, is_json)) {
        Some(read) => {
            let name = names.first().map_or("VALUE", String::as_str);
            format!(" (`{}`)", read.replace("{}", name))
        }
        None => String::new(),
    };
    format!(
        "pass the value in the environment, \"env\": {{ {pairs} }}, and let the program read it there{read}"
    )
}

/// The command with its data in variables of the environment, and the reference for each; nothing if some program may run
/// what they hold.
pub fn in_environment(command: &Text) -> Option<(String, Vec<(String, String)>)> {
    let shown = as_written(command);
    let source = Source::new(&shown)?;
    let names = variable_names(&source, &shown.to_string(), &[]);
    let written = rewritten(&source.symbols, &names)?;
    let mut pairs = Vec::new();
    add_pairs(&mut pairs, &names, &source);
    Some((written.replace(BRACES, LITERAL_BRACES), pairs))
}

fn add_pairs(pairs: &mut Vec<(String, String)>, names: &[String], source: &Source<'_>) {
    for (name, piece) in names.iter().zip(&source.data) {
        let pair = (name.clone(), reference(piece));
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
}

/// How a program reads the variable `{}` of its environment, which may be JSON.
fn read_by(program: &str, is_json: bool) -> Option<&'static str> {
    let (text, json) = match program {
        "python" => (
            "import os; os.environ[\"{}\"]",
            "import json, os; json.loads(os.environ[\"{}\"])",
        ),
        "node" => ("process.env.{}", "JSON.parse(process.env.{})"),
        "ruby" => ("ENV[\"{}\"]", "require \"json\"; JSON.parse(ENV[\"{}\"])"),
        "perl" => ("$ENV{\"{}\"}", "$ENV{\"{}\"}"),
        "awk" | "gawk" | "mawk" => ("ENVIRON[\"{}\"]", "ENVIRON[\"{}\"]"),
        "jq" => ("env.{}", "(env.{} | fromjson)"),
        "for" => (
            "printf '%s\\n' \"${}\" | grep . | while read -r line; do …; done",
            "printf '%s' \"${}\" | jq -r '.[]' | while read -r item; do …; done",
        ),
        _ => return None,
    };
    Some(if is_json { json } else { text })
}

/// A text with its references.
fn in_braces(text: &Text) -> String {
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(reference) => format!("{{{{{reference}}}}}"),
        None => piece.text.replace("{{", LITERAL_BRACES),
    });
    pieces.collect()
}

/// How a scenario writes braces that are none of a reference.
const LITERAL_BRACES: &str = "{{'{{'}}";

/// Stands for them in a command, whose quotes those of the spelling are not.
const BRACES: char = '\u{F8FF1}';

/// The text with the references of its trusted parts again, as the author wrote them.
fn as_written(text: &Text) -> Text {
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(reference) if piece.origin.is_trusted() => {
            Piece::author(&format!("{{{{{reference}}}}}"))
        }
        None => Piece::author(&piece.text.replace("{{", &BRACES.to_string())),
        _ => piece.clone(),
    });
    Text::new(pieces.collect())
}

/// A name for each piece of data: the last part of its reference, as environment variables are written, and so that no
/// program knows it.
fn variable_names(source: &Source<'_>, command: &str, taken: &[(String, String)]) -> Vec<String> {
    let mut known: Vec<(String, Option<&str>)> = Vec::new();
    let names = source.data.iter().map(|piece| {
        let reference = piece.reference.as_deref();
        if let Some((name, _)) = known.iter().find(|(_, of)| *of == reference) {
            return name.clone();
        }
        let path = reference.unwrap_or_default().split('|').next();
        let mut parts = path.unwrap_or_default().split(['.', '[', ']', ' ']);
        let last = parts.rfind(|part| !part.is_empty()).unwrap_or_default();
        let plain = last.chars().map(|character| match character {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
            _ => '_',
        });
        let mut name = format!("VALUE_{}", plain.collect::<String>());
        if environment::is_obeyed(&name) {
            name.push_str("_1");
        }
        let is_taken = |name: &String, known: &[(String, Option<&str>)]| {
            command.contains(name)
                || taken.iter().any(|(taken, _)| taken == name)
                || known.iter().any(|(taken, _)| taken == name)
        };
        // The author's own variables keep their names.
        while is_taken(&name, &known) {
            name.push_str("_2");
        }
        known.push((name.clone(), reference));
        name
    });
    names.collect()
}

/// The command with its data in variables. `None` if a variable might be code there, or the command isn't read.
fn rewritten(symbols: &[Symbol], names: &[String]) -> Option<String> {
    let integers = vec![None; names.len()];
    let binding = Binding {
        names,
        integers: &integers,
        is_lenient: true,
    };
    let script = scan(symbols, &binding).ok()?;
    let makes_file = script.commands.iter().any(|command| {
        command.redirections.iter().any(Redirection::makes_file)
            || command
                .program()
                .is_some_and(|name| is_in("tee cp mv dd ln chmod install", name))
    });
    let is_safe = |command: &SimpleCommand| !may_run_data(&command.words, makes_file);
    script.commands.iter().all(is_safe).then_some(script.output)
}

/// Whether these words may run data that is in them, in their input, or in a file that was made before: they name what
/// runs it, wherever that stands. What follows the file of a script is only read by that.
fn may_run_data(words: &[Word], makes_file: bool) -> bool {
    // `NAME=value` before a program is no part of what it gets.
    let mut words = words;
    while let Some((first, rest)) = words.split_first()
        && let Some((name, _)) = first.beginning().split_once('=')
        && is_name(name.trim_end_matches('+'))
    {
        if environment::is_obeyed(name.trim_end_matches('+')) {
            return true;
        }
        words = rest;
    }
    // The program is the first word that is none of these: what only runs it, and what that takes.
    let is_before = |word: &&Word| {
        let text = word.literal().unwrap_or_default();
        is_in(STARTERS, programs::base_name(text)) || is_duration(text)
    };
    let starters = words.iter().take_while(is_before).count();
    let Some(program) = words.get(starters) else {
        return false;
    };
    let Some(program) = program.literal() else {
        return true;
    };
    let behind = &words[starters + 1..];
    // It runs nothing, but each line or item is meant, and a variable in quotes is one word.
    if program == "for" && behind.iter().any(Word::has_data) {
        return true;
    }
    let has = |text: &str| behind.iter().any(|word| word.literal() == Some(text));
    let base = programs::base_name(program);
    let launched = launched(base, behind);
    if let Some(Some(rest)) = launched {
        return launches_data(base, behind, rest, makes_file);
    }
    if base == "jq" {
        // Values have names there, and its input is never run.
        let is_value = |at: usize| {
            at > 1
                && behind[at - 2]
                    .literal()
                    .is_some_and(|it| is_in("--arg --argjson", it))
        };
        let is_code = |at: usize| behind[at].literal().is_none() && !is_value(at);
        return ["-f", "--from-file", "-L"].into_iter().any(has) || (0..behind.len()).any(is_code);
    }
    // Without a module, Python is an interpreter like others.
    let is_plain_launcher = launched.is_some() && base != "python";
    let is_file = |word: &Word| {
        word.literal().is_some_and(|text| {
            text.contains('.') && !text.starts_with('-') && !text.starts_with("/dev")
        })
    };
    if is_in(INTERPRETERS, base) && behind.first().is_some_and(is_file) {
        return makes_file;
    }
    // Some names of variables run code in bash, and so do some numbers.
    let is_assigned = |word: &Word| match word.beginning().split_once('=') {
        Some((name, _)) => is_name(name) && !environment::is_obeyed(name),
        None => word
            .literal()
            .is_some_and(|text| is_name(text) || text == "-r"),
    };
    if is_in("export local readonly read", program) {
        return !behind.iter().all(is_assigned);
    }
    let names_runner = |word: &Word| {
        let text = word.literal().unwrap_or(word.beginning());
        let base = programs::base_name(text);
        (programs::is_runner(text) && base != "find") || is_in(RUN_WORDS, base)
    };
    let names_subcommand = |word: &Word| word.literal().is_some_and(|it| is_in(SUBCOMMANDS, it));
    let sets_user = |word: &Word| word.literal().is_some_and(|text| text.starts_with("user."));
    let runs_in_git = base == "git"
        && ((has("bisect") && has("run")) || (has("config") && !behind.iter().any(sets_user)));
    let takes_letters = base == "git"
        && behind
            .first()
            .and_then(Word::literal)
            .is_some_and(|text| is_in("switch branch commit tag", text));
    let runs_option = |word: &Word| {
        let option = word.beginning().split('=').next().unwrap_or_default();
        (is_in(CODE_OPTIONS, option) && !(takes_letters && option.len() == 2))
            || option.starts_with("-exec")
            || option.starts_with("-ok")
    };
    // The programs that get data run none of it by their options; but these name variables, or have scripts.
    let is_harmless =
        programs::find(program).is_some() && !is_in("test [ printf jq sed awk gawk mawk", program);
    program == "."
        || runs_in_git
        || (makes_file && program.contains('/'))
        || (!is_plain_launcher && names_runner(&words[starters]))
        || behind
            .iter()
            .any(|word| names_runner(word) && !names_subcommand(word))
        || (!is_harmless && behind.iter().any(runs_option))
}

/// Of a launcher the words behind the one that starts something, if that is there; nothing of other programs.
fn launched<'w>(base: &str, behind: &'w [Word]) -> Option<Option<&'w [Word]>> {
    let (_, starts) = LAUNCHERS.iter().find(|(names, _)| is_in(names, base))?;
    if starts.is_empty() {
        return Some(Some(behind));
    }
    let is_start = |word: &Word| word.literal().is_some_and(|text| is_in(starts, text));
    let at = behind.iter().position(is_start);
    Some(at.map(|at| &behind[at + 1..]))
}

/// Whether data chooses or reaches as code what a launcher starts, or is in a variable or folder that decides on it.
fn launches_data(base: &str, behind: &[Word], rest: &[Word], makes_file: bool) -> bool {
    let Some(rest) = from_operand(rest) else {
        return true;
    };
    let decides = |word: &Word| {
        let name = word.beginning().split_once('=').map(|(name, _)| name);
        word.literal() == Some("-v") || name.is_some_and(environment::is_obeyed)
    };
    // Of a container the first word is its name.
    let is_container = is_in("docker podman kubectl", base);
    let rest = if is_container { &rest[1..] } else { rest };
    let rest = match rest.first().and_then(Word::literal) {
        Some("--") => &rest[1..],
        _ => rest,
    };
    behind.iter().any(decides) || (!rest.is_empty() && may_run_data(rest, makes_file))
}

/// The words from the first one on that is no option and no value of one. `None` if data, or the shell, chooses it.
fn from_operand(words: &[Word]) -> Option<&[Word]> {
    let mut is_value = false;
    for (at, word) in words.iter().enumerate() {
        let start = word.beginning();
        match start.strip_prefix('-') {
            Some("-") if word.literal().is_some() => return words.get(at + 1..),
            Some(_) => is_value = !start.contains('=') && !is_in(FLAGS, start),
            None if is_value => is_value = false,
            None => return word.literal().is_some().then_some(&words[at..]),
        }
    }
    None
}

/// Programs that start another one behind one of some words, or at once.
const LAUNCHERS: &[(&str, &str)] = &[
    ("npx uvx bunx", ""),
    ("uv poetry pipenv pipx", "run"),
    ("npm pnpm yarn", "exec dlx"),
    ("python", "-m"),
    ("docker podman kubectl", "run exec"),
];

/// Their options that take no value.
const FLAGS: &str = "-i -t -it -ti -d -y -q --rm --init --yes --quiet --detach --no-install --frozen --no-sync --tty --interactive";

/// Names of runners that are words of other programs too: `gh issue view`, `npm run watch`, `jq .`.
const SUBCOMMANDS: &str = "view watch script expect make less screen at ex perf .";

/// Words that start the program behind them, or the next part of a loop.
const STARTERS: &str = "do while until then time command exec timeout nice nohup";

/// Programs that run the file behind them, and leave its arguments and input to it.
const INTERPRETERS: &str = "sh bash dash zsh ksh python node ruby perl php deno bun";

/// Programs and words besides the runners that run their words or input, or take them for the name of a variable.
const RUN_WORDS: &str = "mariadb mongosh duckdb redis-cli yq runner concurrently eval source trap alias hash enable let unset declare typeset \
     mapfile readarray getopts submodule filter-branch timeit pdb code runpy doctest trace cProfile profile IPython";

/// Options behind which a program, a script or the name of a variable may follow.
const CODE_OPTIONS: &str = "-c -x -v -I --exec --eval --print --command --execute --to-command --checkpoint-action --rsh --upload-pack --receive-pack --jq --template --expression -eq -ne -lt -le -gt -ge";

fn is_duration(word: &str) -> bool {
    let digits = word.trim_end_matches(['s', 'm', 'h', 'd']);
    digits.starts_with(|first: char| first.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
