//! Paths in the arguments of programs. Data in one is judged like data in the target of a redirection, whatever the
//! program: a few are known to take text, or to read only.

use std::collections::HashSet;

use super::super::paths::Places;
use super::super::source::{Source, is_integer, name as name_of};
use super::super::{Refusal, RefusalKind};
use super::carriers::Carriers;
use super::lexer;
use super::programs::{self, Kind, Runner};
use super::redirections::Opened;
use super::words::{Lexed, Operator, SimpleCommand, Word};
use cuecard_source::value::{Piece, Text};

/// How many shells are looked into that start one another in the arguments of a command.
const MAX_DEPTH: usize = 8;
/// No system opens a longer path, so what is longer is text.
const MAX_PATH: usize = 4096;

/// They take text or addresses, but for options that name a file.
const TAKE_TEXT: &str = "curl wget http gh expr basename dirname seq sleep kill";

/// They read what their arguments name, but for options that name an output.
const READ: &str = "git find grep egrep fgrep rg cat tac head tail wc ls stat file diff cmp comm sort cut tr nl rev \
                    fold paste join strings du md5sum sha1sum sha256sum sha512sum cksum base64 readlink realpath cd \
                    pushd popd";

/// They write, so that it must be known where.
const WRITE: &str = "cp mv install ln tee sponge dd touch truncate mkdir rm rmdir unlink shred";

/// They put nothing into the files that they change.
const PUT_NOTHING: &str = "touch truncate mkdir rm rmdir unlink shred chmod chown chgrp";

/// They unpack, split or build, into files that their words don't name.
const UNPACK: &str =
    "tar bsdtar unzip 7z cpio ar patch split csplit gcc cc g++ c++ clang clang++ rustc javac";

/// Options whose value is text to these.
const TEXT_OPTIONS: &str = "message author date grep trailer format pretty name iname path ipath wholename regex \
                            iregex regexp color data data-raw data-binary data-urlencode url-query json header request user \
                            user-agent referer cookie form form-string url proxy title body label repo jq field \
                            raw-field search";

/// Parts of the names of options whose value is a file or folder.
const PATH_OPTIONS: &str = "out file dir path tree log dump jar trace prefix target fprint fls";

fn is_among(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// Data in the path of what a program opens makes it a path with data in it.
pub(super) fn check(lexed: &Lexed, source: &Source<'_>, places: &Places) -> Result<(), Refusal> {
    let opened = Opened::new(lexed, source);
    let is_link = |command: &SimpleCommand| started(&command.words).0 == "ln";
    let links = lexed.commands.iter().any(is_link);
    for command in &lexed.commands {
        let Some((program, arguments)) = command.words.split_first() else {
            continue;
        };
        let name = programs::base_name(program).unwrap_or_default();
        let may_pass_link = links && !is_link(command);
        for at in (0..arguments.len()).filter(|_| !takes_only_text(name)) {
            let is_data = |piece: &&Piece| !is_integer(&piece.text);
            if !opened.pieces(&arguments[at]).iter().any(is_data) {
                continue;
            }
            for (access, path) in accesses(&opened, name, arguments, at)? {
                if may_pass_link {
                    return Err(through_link(&path));
                }
                match access {
                    Access::Write => places.write(&path)?,
                    Access::Read => places.read(&path)?,
                };
            }
        }
    }
    Ok(())
}

/// A path of data in a command that makes a link, through which it may lead.
pub(super) fn through_link(path: &Text) -> Refusal {
    let data = path
        .pieces()
        .iter()
        .find(|piece| !piece.origin.is_trusted());
    let message = format!(
        "the data of {} is used in a path, and the command creates links that the path may go through",
        data.map_or_else(String::new, name_of)
    );
    Refusal::new(
        RefusalKind::Data,
        message,
        "create the link in an earlier step",
    )
}

/// What a program does with the file that an argument names.
#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

/// What the program `name` may open because of the argument at `at`, which has data in it.
fn accesses(
    opened: &Opened<'_>,
    name: &str,
    arguments: &[Word],
    at: usize,
) -> Result<Vec<(Access, Text)>, Refusal> {
    let word = &arguments[at];
    let option = option_of(arguments, at);
    let is_text = option.is_some_and(|option| names_text(name, option));
    let is_output = match is_among(TAKE_TEXT, name) {
        true => option.is_some() && !is_text,
        false => option.is_some_and(names_path) && !is_text,
    };
    if has_scheme(&word.text) {
        // A fetched file has its name.
        let name = last_name(&opened.text(word)).map(|name| (Access::Write, name));
        return Ok(name.into_iter().collect());
    }
    let paths = paths(
        opened,
        word,
        is_among(WRITE, name) || option.is_some_and(names_path),
        name,
    )?;
    let is_address = |path: &Text| path.to_string().to_ascii_lowercase().starts_with("file:");
    let local: Vec<Text> = paths
        .iter()
        .map(|path| match is_address(path) {
            true => behind(path, "file:".len()),
            false => path.clone(),
        })
        .collect();
    let all = |access: Access| local.iter().map(|path| (access, path.clone())).collect();
    if is_among(TAKE_TEXT, name) {
        // `-d @file`, and whatever is uploaded to one.
        let is_upload = arguments
            .iter()
            .any(|word| word.text.starts_with("-T") || word.text.starts_with("--upload"));
        let access = if is_upload {
            Access::Write
        } else {
            Access::Read
        };
        let files = paths
            .iter()
            .filter_map(|path| file_to_read(path, option.unwrap_or_default()));
        let files: Vec<_> = files.map(|path| (access, path)).collect();
        if !is_output || !files.is_empty() {
            return Ok(files);
        }
    }
    if is_output || !is_among(READ, name) {
        return Ok(all(Access::Write));
    }
    // `grep -f FILE`
    let names_patterns = option.is_some_and(|option| {
        option.starts_with("--file") || (!option.starts_with("--") && option.ends_with('f'))
    });
    let is_pattern = !names_patterns && is_pattern(name, arguments, at);
    Ok(match is_text || is_pattern {
        true => Vec::new(),
        false => all(Access::Read),
    })
}

/// The paths that `word` may be, or end with: `of=PATH`, `-oPATH`, `user@host:PATH`.
fn paths(opened: &Opened<'_>, word: &Word, writes: bool, name: &str) -> Result<Vec<Text>, Refusal> {
    let pieces = opened.pieces(word);
    let can_be_told = word.expansions.is_none() && !word.is_pattern && !word.has_tilde;
    let mut paths = Vec::new();
    if let (true, Some(&piece)) = (writes, pieces.first()) {
        let what = format!("the target of `{name}`");
        for end in ends(word) {
            paths.push(opened.path(&end, piece, &what)?);
        }
    } else if can_be_told {
        paths.extend(ends(word).iter().map(|end| opened.text(end)));
    } else {
        // Where the author says where it begins, data is what is below.
        let is_direct = pieces.len() == word.data.len();
        let direct = word.data.first().map(|&(_, at)| at);
        let start = direct
            .filter(|_| is_direct)
            .or(word.expansions.map(|(first, _)| first));
        let cut = |end: &Word| word.text.len() - end.text.len();
        let is_whole = !word.has_tilde && ends(word).iter().any(|end| Some(cut(end)) == start);
        paths.extend(pieces.iter().map(|piece| match is_whole {
            true => text_of(piece, &piece.text),
            false => text_of(piece, piece.text.trim_start_matches('/')),
        }));
    }
    paths.retain(|path| {
        let length = path.pieces().iter().map(|piece| piece.text.len()).sum();
        (1..MAX_PATH).contains(&length)
    });
    Ok(paths)
}

fn text_of(piece: &Piece, text: &str) -> Text {
    Text::new(vec![Piece {
        text: text.to_owned(),
        ..piece.clone()
    }])
}

/// The word, unless it is an option with its value, and what follows a separator before data in it.
fn ends(word: &Word) -> Vec<Word> {
    let is_option = word.text.starts_with('-');
    let mut cuts: Vec<usize> = (!is_option).then_some(0).into_iter().collect();
    let expanded = word.expansions.map(|(first, _)| first);
    for at in word.data.iter().map(|&(_, at)| at).chain(expanded) {
        let before = &word.text[..at];
        if let Some(separator) = before.rfind(['=', ':', ',']) {
            cuts.push(separator + 1);
        } else if is_option && !before.starts_with("--") && before.is_char_boundary(2) {
            // `-oPATH`, `-qOPATH`
            cuts.extend([2, at]);
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts.into_iter().map(|cut| word.from(cut)).collect()
}

/// The option whose value an argument is, or that it begins with.
fn option_of(arguments: &[Word], at: usize) -> Option<&str> {
    let word = &arguments[at];
    let before_data = word.data.first().map_or(word.text.len(), |&(_, at)| at);
    let joined = &word.text[..before_data];
    if joined.starts_with('-') && (word.text.len() > 1 || !word.data.is_empty()) {
        return Some(joined.split('=').next().unwrap_or_default());
    }
    let before = arguments.get(at.checked_sub(1)?)?;
    let is_option = before.is_literal()
        && before.text.starts_with('-')
        && !before.text.contains('=')
        && !before.is("-")
        && !before.is("--");
    is_option.then_some(&before.text)
}

/// Whether the value of an option is a file or folder, to be safe one that is written.
fn names_path(option: &str) -> bool {
    let is_short = !option.starts_with("--") && option.len() <= 4;
    let mut parts = PATH_OPTIONS.split_ascii_whitespace();
    match is_short {
        true => option.ends_with(['o', 'O', 'C', 'T']),
        false => parts.any(|part| option.contains(part)),
    }
}

/// Whether the value of an option is text, of a program that takes text or reads.
fn names_text(name: &str, option: &str) -> bool {
    let letters: &[char] = match is_among(TAKE_TEXT, name) {
        true => &[
            'd', 'H', 'X', 'A', 'u', 'e', 'b', 'F', 't', 'l', 'R', 'q', 'f',
        ],
        false => &['m', 'S', 'G', 'e', 'n'],
    };
    let word = option.trim_start_matches('-');
    let is_short = !option.starts_with("--") && word.len() <= 3;
    is_among(TEXT_OPTIONS, word) || (is_short && word.ends_with(letters))
}

/// Whether an argument is what `grep` looks for.
fn is_pattern(name: &str, arguments: &[Word], at: usize) -> bool {
    let is_operand = |word: &Word| !word.text.starts_with('-');
    let first = arguments.iter().position(is_operand);
    is_among("grep egrep fgrep rg", name) && first == Some(at)
}

fn has_scheme(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty()
            && !scheme.eq_ignore_ascii_case("file")
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    })
}

/// Whether a command of this name opens none of its arguments.
fn takes_only_text(name: &str) -> bool {
    !matches!(programs::kind(name), Kind::Plain | Kind::ChangesDirectory)
}

/// The file that a text names to `curl` and its like, as the value of an option or by itself.
fn file_to_read(text: &Text, option: &str) -> Option<Text> {
    let whole = text.to_string();
    let is_cookie = option == "--cookie" || (!option.starts_with("--") && option.ends_with('b'));
    match option {
        // A cookie has a `=`, and is else a file of them.
        _ if is_cookie => return (!whole.contains('=')).then(|| text.clone()),
        // `name=@file`, `name=<file`
        "--form" | "-F" => {
            let (name, value) = whole.split_once('=')?;
            let is_file = value.starts_with(['@', '<']);
            return is_file.then(|| behind(text, name.len() + 2));
        }
        // `name@file`
        "--data-urlencode" | "--url-query" => {
            let (name, _) = whole.split_once('@')?;
            return (!name.contains('=')).then(|| behind(text, name.len() + 1));
        }
        _ => {}
    }
    let mut pieces = text.pieces().to_vec();
    let first = pieces.iter_mut().find(|piece| !piece.text.is_empty())?;
    let is_address = first
        .text
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let rest = match is_address {
        true => &first.text[5..],
        false => first.text.strip_prefix(['@', '<'])?,
    };
    first.text = rest.to_owned();
    Some(Text::new(pieces))
}

/// A text without its first bytes.
fn behind(text: &Text, mut cut: usize) -> Text {
    let pieces = text.pieces().iter().map(|piece| {
        let from = cut.min(piece.text.len());
        cut -= from;
        Piece {
            text: piece.text[from..].to_owned(),
            ..piece.clone()
        }
    });
    Text::new(pieces.collect())
}

/// The last name of an address, which a fetched file has.
fn last_name(address: &Text) -> Option<Text> {
    let whole = address.to_string();
    let whole = whole.split(['?', '#']).next()?;
    let name = whole.trim_end_matches('/').rsplit('/').next()?;
    if matches!(name, "" | "." | "..") {
        return None;
    }
    let data = address
        .pieces()
        .iter()
        .find(|piece| !piece.origin.is_trusted())?;
    Some(text_of(data, name))
}

/// Words of a command that say which files it writes: if data is in one of them, it may be any file.
pub(super) fn outputs(command: &SimpleCommand) -> impl Iterator<Item = &Word> {
    let redirected = command
        .redirections
        .iter()
        .filter(|redirection| redirection.operator == Operator::Write)
        .map(|redirection| &redirection.target);
    let (name, arguments) = started(&command.words);
    let renames = name == "git" && arguments.iter().any(|word| word.is("mv"));
    let writes = (is_among(WRITE, name) && !is_among(PUT_NOTHING, name))
        || is_among(UNPACK, name)
        || renames;
    let is_output = move |at: usize| writes || option_of(arguments, at).is_some_and(names_path);
    let written = (0..arguments.len()).filter(move |&at| is_output(at));
    redirected
        .chain(written.map(|at| &arguments[at]))
        .filter(|word| !word.is("/dev/null"))
}

/// Whether a command unpacks or splits what it reads, into files that its words don't name.
pub(super) fn unpacks(command: &SimpleCommand) -> bool {
    let (name, arguments) = started(&command.words);
    let has = |words: &[&str]| {
        let mut arguments = arguments.iter();
        arguments.any(|argument| words.iter().any(|word| argument.is(word)))
    };
    let first = arguments.first().map_or("", |word| word.text.as_str());
    match name {
        "tar" | "bsdtar" => {
            first.trim_start_matches('-').starts_with('x') || has(&["-x", "--extract", "--get"])
        }
        "git" => has(&["apply", "am"]),
        _ => is_among(UNPACK, name),
    }
}

/// Data that says which files of others a command brings here.
pub(super) fn fetched<'a>(command: &'a SimpleCommand, carriers: &Carriers<'_>) -> Option<&'a Word> {
    const GIT: &str = "clone pull fetch checkout switch merge reset rebase restore cherry-pick worktree submodule \
                       stash revert am apply read-tree checkout-index subtree";
    let (name, arguments) = started(&command.words);
    let names_files = |word: &Word| {
        let text = word.text.as_str();
        let is_short = text.starts_with('-') && !text.starts_with("--");
        text.starts_with("--remote-") || (is_short && text.contains(['O', 'J']))
    };
    let brings = match name {
        "git" => arguments.iter().any(|word| is_among(GIT, &word.text)),
        "curl" => arguments.iter().any(names_files),
        "wget" => true,
        _ => false,
    };
    let has_data = |word: &&Word| !word.uses.is_empty() || carriers.reach(word);
    arguments.iter().find(has_data).filter(|_| brings)
}

/// Whether it can't be told which file a word names.
pub(super) fn is_unseen(word: &Word) -> bool {
    word.expansions.is_some() || word.is_pattern || word.has_substitution
}

/// Whether a command gives files names that its words don't say.
pub(super) fn names_unseen(command: &SimpleCommand) -> bool {
    let (name, arguments) = started(&command.words);
    let has = |word: &str| arguments.iter().any(|argument| argument.is(word));
    match name {
        "rename" | "mmv" => true,
        "git" => has("mv") && arguments.iter().any(is_unseen),
        "cp" | "mv" | "ln" | "install" => arguments.iter().any(is_unseen),
        _ => unpacks(command),
    }
}

/// Names of files that a command may write, as far as its words say.
pub(super) fn written(lexed: &Lexed) -> HashSet<String> {
    let mut names = HashSet::new();
    add_written(lexed, 0, &mut names);
    names
}

fn add_written(lexed: &Lexed, depth: usize, names: &mut HashSet<String>) {
    let carriers = Carriers::of(lexed);
    let mut add = |word: &Word| {
        names.extend(file_names(&word.text));
        for value in carriers.values(word) {
            names.extend(file_names(value));
        }
    };
    lexed.commands.iter().flat_map(outputs).for_each(&mut add);
    let mut codes = Vec::new();
    for command in &lexed.commands {
        let (name, arguments) = started(&command.words);
        let renames = arguments.iter().any(|word| word.is("mv"));
        let reads = (is_among(READ, name) && !renames)
            || is_among(PUT_NOTHING, name)
            || takes_only_text(name);
        match programs::runner(name, arguments) {
            Some(Runner::Language | Runner::Filter) => {
                // `sed -i`
                let edits = arguments
                    .iter()
                    .any(|word| word.text.starts_with("-i") || word.text.starts_with("--in-place"));
                arguments
                    .iter()
                    .filter(|word| edits || is_code(word))
                    .for_each(&mut add);
            }
            Some(_) => codes.extend(arguments.iter().filter(|word| is_code(word))),
            None if !reads => arguments.iter().for_each(&mut add),
            None => {}
        }
    }
    for code in codes.into_iter().filter(|_| depth < MAX_DEPTH) {
        let text = code.text.as_str().into();
        if let Some(source) = Source::new(&text) {
            add_written(&lexer::lex(&source, &[]), depth + 1, names);
        }
    }
}

/// The program that a command starts in the end, and its arguments.
fn started(words: &[Word]) -> (&str, &[Word]) {
    let mut words = words;
    loop {
        if words.is_empty() {
            return ("", words);
        }
        let Ok(resolved) = programs::resolve(words) else {
            return ("", &words[1..]);
        };
        let arguments = &words[resolved.program + 1..];
        let starts = |word: &Word| programs::starts_command(&word.text);
        match arguments.iter().position(starts) {
            Some(at) if resolved.name == "find" => words = &arguments[at + 1..],
            _ => return (resolved.name, arguments),
        }
    }
}

fn is_code(word: &Word) -> bool {
    word.text
        .contains([' ', '\t', '\n', '(', ';', '>', '|', '&'])
}

/// What in `text` may be the name of a file, without its folders and in lower case.
pub(super) fn file_names(text: &str) -> impl Iterator<Item = String> {
    let is_of_name = |character: char| {
        character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '+' | '~' | '%')
    };
    let joined = text.get(2..).filter(|_| text.starts_with('-'));
    text.split(move |character| !is_of_name(character))
        .chain(joined)
        .filter(|name| !matches!(*name, "" | "." | ".."))
        .map(str::to_lowercase)
}
