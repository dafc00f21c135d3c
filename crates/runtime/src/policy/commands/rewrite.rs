//! How a refused command is written instead: the command as it is, and its data in the environment.

use super::super::environment;
use super::super::source::{Source, Symbol, is_in, reference};
use super::programs;
use super::scanner::{Binding, Part, Redirection, Word, scan};
use cuecard_source::value::{Piece, Text};

/// The parameters of the rewritten step, ready to paste, or in general words if the command can't be rewritten. `env` is
/// what the step has already.
pub(super) fn proposal(text: &Text, env: &[(String, Text)]) -> String {
    let shown = as_written(text);
    let Some(source) = Source::new(&shown) else {
        return String::new();
    };
    let own = env
        .iter()
        .map(|(name, value)| (name.clone(), in_braces(value)));
    let mut pairs: Vec<(String, String)> = own.collect();
    let names = variable_names(&source, &shown.to_string(), &pairs);
    for (name, piece) in names.iter().zip(&source.data) {
        let pair = (name.clone(), reference(piece));
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let json = |text: String| serde_json::Value::String(text).to_string();
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| format!("{}: {}", json(name), json(value)));
    let pairs = pairs.collect::<Vec<_>>().join(", ");
    if let Some(command) = rewritten(&source.symbols, &names) {
        let command = json(command);
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
        _ => return None,
    };
    Some(if is_json { json } else { text })
}

/// A text with its references.
fn in_braces(text: &Text) -> String {
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(reference) => format!("{{{{{reference}}}}}"),
        None => piece.text.clone(),
    });
    pieces.collect()
}

/// The text with the references of its trusted parts again, as the author wrote them.
fn as_written(text: &Text) -> Text {
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(reference) if piece.origin.is_trusted() => {
            Piece::author(&format!("{{{{{reference}}}}}"))
        }
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
    let mut assigns = false;
    let mut changes: Vec<((usize, usize), String)> = Vec::new();
    for command in &script.commands {
        // `NAME=value` before a program is no part of what it gets, and these run what follows them.
        let is_before = |word: &&Word| {
            word.beginning().contains('=')
                || word
                    .literal()
                    .is_some_and(|word| is_in("do while until time command exec", word))
        };
        let before = command.words.iter().take_while(is_before);
        let mut assigned = before
            .clone()
            .map(|word| word.beginning().split(['=', '+']).next());
        if assigned.any(|name| name.is_some_and(environment::is_obeyed)) {
            return None;
        }
        assigns |= before.clone().any(Word::has_data);
        let words = &command.words[before.count()..];
        let Some(first) = words.first() else {
            continue;
        };
        let written = first.literal()?;
        let name = programs::base_name(written);
        assigns |= matches!(name, "export" | "local" | "readonly" | "for");
        let is_runner = programs::is_runner(name) || is_in(RUN_WORDS, name);
        let is_fed = command.is_piped || script.has_document || !command.redirections.is_empty();
        let runs_input = is_runner && !reads_as_text(name, words);
        if is_in("alias eval source . trap hash enable", written)
            || (is_fed && (runs_input || programs::is_unreadable(written)))
            || (makes_file && (is_runner || written.contains('/')))
            || (assigns && runs_input)
        {
            return None;
        }
        for at in 1..words.len() {
            let word = &words[at];
            if word.literal().is_some() {
                continue;
            }
            match role(words, at) {
                Role::Argument => {}
                Role::Code => return None,
                Role::Shell => {
                    let code = rewritten(&to_symbols(word)?, names)?;
                    changes.push((word.span, single_quoted(&code)));
                }
            }
        }
    }
    changes.sort_by_key(|change| change.0);
    let mut output = script.output;
    for ((start, end), text) in changes.into_iter().rev() {
        output.replace_range(start..end, &text);
    }
    Some(output)
}

/// What a word is to its program.
enum Role {
    Argument,
    /// A script for a shell that has our environment.
    Shell,
    /// A script of another language, or a program that is started elsewhere.
    Code,
}

fn role(words: &[Word], at: usize) -> Role {
    let texts = words[..at]
        .iter()
        .map(|word| word.literal().unwrap_or_default());
    let literals: Vec<&str> = texts.clone().map(programs::base_name).collect();
    let (program, option) = (literals[0], literals[at - 1]);
    let start = words[at].beginning();
    let operands = texts
        .skip(1)
        .filter(|word| !word.starts_with('-') && !word.is_empty());
    let is_script = is_script_option(option);
    let shell = literals[..at].iter().position(|word| is_shell(word));
    let is_named = operands.clone().any(|word| !is_duration(word));
    let starts_shell = matches!(program, "timeout" | "nice" | "nohup" | "xargs" | "find");
    // `-e NAME=value`, `export NAME=value`
    let assigns = start
        .split_once('=')
        .is_some_and(|(name, _)| is_name(name) && !environment::is_obeyed(name));
    let has = |options: &str| {
        let mut literals = words.iter().filter_map(Word::literal);
        literals.any(|word| is_in(options, word))
    };
    match program {
        _ if is_script && (shell == Some(0) || (shell.is_some() && starts_shell)) => Role::Shell,
        // What follows the name of a script is an argument of that script.
        _ if shell == Some(0)
            && is_named
            && !literals.iter().any(|word| is_script_option(word)) =>
        {
            Role::Argument
        }
        _ if shell.is_some() || is_code_option(option) => Role::Code,
        _ if start.split('=').next().is_some_and(is_code_option) => Role::Code,
        // Behind their script they get files.
        "awk" | "gawk" | "mawk" | "jq" | "sed" => {
            let mut options = literals[1..].iter().filter(|word| word.starts_with('-'));
            match options.all(|option| option.bytes().all(|byte| b"-inrEsz".contains(&byte)))
                && is_named
            {
                true => Role::Argument,
                false => Role::Code,
            }
        }
        _ if is_in(RUN_WORDS, program) => Role::Code,
        "git" if has("-c -x --exec rebase bisect submodule filter-branch config") => Role::Code,
        "docker" | "podman" if option == "-p" || (assigns && is_in("-e --env", option)) => {
            Role::Argument
        }
        "env" if assigns => Role::Argument,
        "export" | "local" | "readonly" if assigns && !has("-i") => Role::Argument,
        // Some names of variables run code in bash, and in `[[` some numbers do.
        "printf" | "test" | "[" if !has("-v") => Role::Argument,
        "[[" if !has("-v -eq -ne -lt -le -gt -ge") => Role::Argument,
        "find" if !words.iter().any(|word| is_code_option(word.beginning())) => Role::Argument,
        "for" | "case" | "ln" => Role::Argument,
        "printf" | "test" | "[" => Role::Code,
        _ if programs::is_unreadable(program) => Role::Code,
        "timeout" | "nice" | "nohup" if !is_script => {
            let inner = literals[1..]
                .iter()
                .position(|word| !is_duration(word) && !word.starts_with('-'));
            let has_options = literals[1..]
                .iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--"));
            match inner.map(|inner| programs::is_runner(literals[1 + inner])) {
                Some(false) if !has_options => Role::Argument,
                _ => Role::Code,
            }
        }
        "docker" | "podman" if option == "--name" => Role::Argument,
        _ if programs::is_runner(program) && !reads_as_text(program, &words[..at]) => Role::Code,
        _ => Role::Argument,
    }
}

/// Programs, without their versions, whose words and input are code.
const RUN_WORDS: &str = "at batch tmux screen kubectl ed ex ssh su script watch parallel xargs flock make gmake sqlite psql mysql mariadb mongosh duckdb redis-cli bc dc";

/// Whether a program runs a file of the author, so that its input is only read.
fn reads_as_text(name: &str, words: &[Word]) -> bool {
    let file = words[1..]
        .iter()
        .find(|word| !word.beginning().starts_with('-'));
    let is_file = |word: &Word| {
        word.literal()
            .is_some_and(|word| word.contains('.') && !word.starts_with("/dev"))
    };
    is_in("python node ruby perl php deno bun", name)
        && words.len() > 1
        && file.is_some_and(is_file)
        && !words[1..]
            .iter()
            .any(|word| word.literal().is_some_and(is_script_option))
}

/// Whether a script follows: `-c`, `-ec`.
fn is_script_option(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with(['c', 'e', 'p'])
}

/// Whether a program of another language follows.
fn is_code_option(word: &str) -> bool {
    word.starts_with("-exec")
        || word.starts_with("-ok")
        || matches!(
            word,
            "--eval"
                | "--print"
                | "--command"
                | "--execute"
                | "--jq"
                | "--template"
                | "--expression"
        )
}

fn is_duration(word: &str) -> bool {
    let digits = word.trim_end_matches(['s', 'm', 'h', 'd']);
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_shell(name: &str) -> bool {
    is_in("sh bash dash zsh ksh", name)
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn to_symbols(word: &Word) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::new();
    for part in &word.parts {
        match part {
            Part::Text(text) => symbols.extend(text.chars().map(Symbol::Char)),
            Part::Data(number) => symbols.push(Symbol::Data(*number)),
            Part::Variable | Part::Substitution { .. } => return None,
        }
    }
    Some(symbols)
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
