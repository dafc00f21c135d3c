//! How a refused command is written instead: the command as it is, and its data in the environment.

use super::super::environment;
use super::super::executable_files::{decides_when_written, is_hidden_config};
use super::super::source::{is_in, reference};
use super::programs;
use super::scanner::{ADDED, DATA, SimpleCommand, Source, Word, is_name, scan};
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
    let mut programs = command.split_whitespace().map(programs::base_name);
    let read = programs.find_map(|program| READ.iter().find(|(names, _)| is_in(names, program)));
    let name = variables.get(env.len()).map_or("VALUE", |(name, _)| name);
    let read = read.map_or_else(String::new, |(_, read)| {
        format!(" (`{}`)", read.replace("{}", name))
    });
    format!(
        "pass the value in the environment, \"env\": {{ {pairs} }}, and let the program read it there{read}"
    )
}

/// How programs read the variable `{}` of their environment.
const READ: &[(&str, &str)] = &[
    ("python", "import os; os.environ[\"{}\"]"),
    ("node", "process.env.{}"),
    ("awk gawk mawk", "ENVIRON[\"{}\"]"),
    ("psql", "printf '%s' \"select :'v'\" | psql -v v=\"${}\""),
    ("jq gh glab", "env.{}"),
    ("yq", "strenv({})"),
    ("perl", "$ENV{{}}"),
    ("ruby", "ENV[\"{}\"]"),
    ("php", "getenv(\"{}\")"),
    ("docker podman nerdctl", "docker run -e {} …"),
    ("make gmake", "\"$${}\" in a recipe"),
    (
        "for",
        "printf '%s\\n' \"${}\" | grep . | while IFS= read -r line; do …; done",
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
    let firsts = script.commands.iter().filter_map(|it| it.words.first());
    let sets = firsts
        .clone()
        .any(|first| assigned(first).is_some() || is(first, "export local readonly read for set"));
    // What runs at the same time, and what a group writes, has no order.
    let is_group = |command: &SimpleCommand| command.words.is_empty();
    let mut has_made_file = script.has_background || script.commands.iter().any(is_group);
    for command in &script.commands {
        let words = || command.words.iter();
        let made = command.redirections.iter().filter(|to| to.makes_file());
        let made = || made.clone().map(|to| &to.target);
        let makes = words().any(|word| is(word, "tee cp mv"));
        let starts_file = words().take(1).any(|first| first.text.contains('/'));
        let is_open = |word: &Word| word.is_open;
        if may_run_data(command)
            // `git $words`: a variable that is set here may be options or several words.
            || (sets && words().any(is_open))
            || words().any(|word| word.is_split && word.has_data_inside)
            || (has_made_file && (starts_file || words().any(names_runner)))
            || made().any(has_data)
            || made().chain(words().filter(|_| makes)).any(decides)
        {
            return None;
        }
        // Data may also choose the folder.
        let goes = words().take(1).any(|first| is(first, "cd")) && words().any(has_data);
        has_made_file |= makes || goes || made().count() > 0;
    }
    Some(script.output)
}

/// Whether a word names a file that decides what runs next.
fn decides(word: &Word) -> bool {
    let mut names = word.text.split('/');
    names.any(|name| is_hidden_config(name) || decides_when_written(name))
}

/// Whether a command may run data that is in its words or on its input. A variable may hold data.
fn may_run_data(command: &SimpleCommand) -> bool {
    let words = &command.words;
    let reads = command.is_piped || command.redirections.iter().any(|from| from.reads);
    if words.iter().any(sets_obeyed) {
        return true;
    }
    let is_set = |word: &&Word| assigned(word).is_some();
    let words = &words[words.iter().take_while(is_set).count()..];
    let Some((first, behind)) = words.split_first() else {
        return false;
    };
    let Some(program) = first.literal().filter(|it| is_program(it)) else {
        return true;
    };
    let has = |words: &str| behind.iter().any(|word| is(word, words));
    match programs::base_name(program) {
        // It runs nothing, but each line or item is meant, and a variable in quotes is one word.
        "for" => return behind.iter().any(has_data),
        // Bash evaluates what is a number there, also by the name of a variable.
        "test" | "[" => return has("-v") || behind.iter().any(|word| word.is_open),
        "[[" => return has("-v -R -eq -ne -lt -le -gt -ge"),
        "printf" => return has("-v") || behind.first().is_some_and(has_data),
        "read" | "unset" | "export" | "readonly" => {
            let is_plain = |word: &Word| match (assigned(word), word.literal()) {
                (Some(_), _) => true,
                (None, Some(name)) => {
                    is_name(name) && !environment::is_obeyed(name) || is_in("-r -p", name)
                }
                (None, None) => false,
            };
            return !behind.iter().all(is_plain);
        }
        "set" => return behind.first().is_some_and(has_data),
        name if is_in(BUILTINS, name) => return true,
        _ => {}
    }
    let is_container = is(first, "docker podman nerdctl kubectl docker-compose");
    let gets_data = reads || behind.iter().any(has_data);
    let runs = |at: usize| {
        let word = &words[at];
        let is_it = |names: &str| is_in(names, programs::base_name(word.beginning()));
        // `npm run`, `docker exec`, `bun x`
        let launches = is(word, "run exec") || (at == 1 && is(word, "x dlx"));
        match () {
            () if at > 0 && (is_it(SUBCOMMANDS) || is(word, ".")) => false,
            () if launches => !starts_known(&words[at + 1..], 1 + usize::from(is_container)),
            () if programs::is_launcher(word.beginning()) => !starts_known(&words[at + 1..], 1),
            () if is_it(FILTERS) => words[at..].iter().any(|word| {
                let option = word.beginning().starts_with('-') && word.text.contains(['f', 'L']);
                option || has_data(word)
            }),
            () => programs::is_runner(word.beginning()) && gets_data,
        }
    };
    // The options of programs that may get data are no code.
    let listed = programs::find(program);
    let is_known = |option: &str| listed.is_some_and(|listed| listed.option(option).is_some());
    (0..words.len()).any(|at| runs(at) || (at > 0 && is_code(&words[at - 1], &words[at], is_known)))
        || (reads && has("-") && (is_container || is(first, "curl")))
}

/// Whether a launcher starts what the author named: so many literal operands before the first data, and one more for each
/// option, which may take it as its value.
fn starts_known(words: &[Word], n_operands: usize) -> bool {
    let mut missing = n_operands;
    for word in words {
        let text = word.beginning();
        let is_number = text.starts_with(|first: char| first.is_ascii_digit());
        match word.literal() {
            _ if assigned(word).is_some() => {}
            None => return false,
            Some("--" | "-y" | "--yes" | "-q" | "--quiet" | "-m" | "-jar") => {}
            Some(text) if text.starts_with('-') => missing += usize::from(!text.contains('=')),
            Some(text) if !is_number && is_program(text) => missing -= 1,
            Some(_) => {}
        }
        if missing == 0 {
            return true;
        }
    }
    false
}

/// Whether data in a word may be code: the value of an option for it, or the name of a file behind a `@`.
fn is_code(before: &Word, word: &Word, is_known: impl Fn(&str) -> bool) -> bool {
    const CODE: &str = "exec execdir ok okdir toolexec execute eval extcmd cmd command call script askpass sh rsh ssh shell hook editor pager pack program \
         engine provider renderer print jq template expression action plugin module require import load init config proxy wrapper \
         entrypoint pre preview";
    const LETTERS: &str = "c d e u x z B I K O P S T X";
    let mut parts = word.text.split([DATA, ADDED]);
    match has_data(word) {
        true if parts.any(|part| part.ends_with(['@', '<'])) => return true,
        true => {}
        false => return false,
    }
    let start = word.beginning().split('=').next().unwrap_or_default();
    let option = match start.starts_with('-') {
        true => start,
        false => before.literal().unwrap_or_default(),
    };
    if !option.starts_with('-') || matches!(option, "-" | "--") || is_known(option) {
        return false;
    }
    let last = option.chars().next_back().unwrap_or_default().to_string();
    let is_short = !option.starts_with("--") && option.len() <= 4;
    let mut parts = option.trim_start_matches('-').split(['-', '.']);
    (is_short && is_in(LETTERS, &last)) || parts.any(|part| is_in(CODE, part))
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
    let name = word.beginning();
    is(word, "run exec") || programs::is_launcher(name) || programs::is_runner(name)
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

/// Programs that run a script of their first operand, which leaves their input alone.
const FILTERS: &str = "awk gawk mawk nawk sed gsed jq yq";

/// Names of runners that are words of other programs too: `gh issue view`, `npm run watch`.
const SUBCOMMANDS: &str = "view watch script expect screen at ex perf source time split nu";

/// Builtins that run words later, evaluate them, or take them for the name of a variable.
const BUILTINS: &str = "alias enable select coproc mapfile readarray getopts compgen complete command builtin let declare typeset local trap hash \
     type wait history fc eval shopt bind";
