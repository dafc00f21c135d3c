//! Where programs write that copy, move and link: data in such a path is judged as in the target of a redirection.

use super::super::Refusal;
use super::super::paths::Places;
use super::super::source::{Source, is_integer};
use super::programs;
use super::redirections::Opened;
use super::words::{Lexed, SimpleCommand, Word};
use cuecard_core::value::{Piece, Text};

/// Which arguments of a program are what it writes.
enum Operands {
    None,
    All,
    /// All, but it puts nothing into them.
    Touched,
    /// The last one, unless an option says which. The others give their names to what is written there.
    Last,
    /// They give their names to what is written.
    Names,
}

/// Programs that write, and the options whose value is what they write.
const WRITERS: &[(&[&str], Operands, &[&str])] = &[
    (&["cp", "mv", "install"], Operands::Last, INTO),
    (&["ln"], Operands::All, INTO),
    (&["tee", "sponge"], Operands::All, &[]),
    (
        &[
            "touch", "truncate", "mkdir", "rm", "rmdir", "unlink", "shred",
        ],
        Operands::Touched,
        &[],
    ),
    (&["sort"], Operands::None, &["-o", "--output"]),
    (
        &["curl"],
        Operands::Names,
        &["-o", "--output", "--output-dir"],
    ),
    (
        &["wget"],
        Operands::Names,
        &["-O", "--output-document", "-P", "--directory-prefix"],
    ),
    (
        &["tar", "patch"],
        Operands::None,
        &["-C", "-d", "--directory"],
    ),
    (&["unzip"], Operands::None, &["-d"]),
];

const INTO: &[&str] = &["-t", "--target-directory"];

/// Files that a command writes, as far as its words say, for what is run after.
pub(super) fn written(command: &SimpleCommand) -> Vec<&Word> {
    let Some((first, arguments)) = command.words.split_first() else {
        return Vec::new();
    };
    let name = programs::base_name(first).unwrap_or_default();
    match WRITERS.iter().find(|(names, ..)| names.contains(&name)) {
        Some((_, Operands::All | Operands::Last, _)) => arguments.iter().collect(),
        Some((_, _, options)) => values(arguments, options),
        None => values(arguments, &["-o"]),
    }
}

fn values<'a>(arguments: &'a [Word], options: &[&'static str]) -> Vec<&'a Word> {
    let values = split(arguments, options).0;
    values.into_iter().map(|(word, _)| word).collect()
}

/// What a command unpacks or builds, into files that its words don't name.
pub(super) fn unpacked(command: &SimpleCommand) -> &[Word] {
    const PROGRAMS: &[&str] = &[
        "tar", "bsdtar", "unzip", "7z", "cpio", "ar", "patch", "gcc", "cc", "g++", "c++", "clang",
        "clang++", "rustc", "javac",
    ];
    match command.words.split_first() {
        Some((first, arguments))
            if programs::base_name(first).is_some_and(|name| PROGRAMS.contains(&name)) =>
        {
            arguments
        }
        _ => &[],
    }
}

/// Data in the path of what a program writes makes it a path with data in it.
pub(super) fn check(lexed: &Lexed, source: &Source<'_>, places: &Places) -> Result<(), Refusal> {
    let opened = Opened::new(lexed, source);
    // A plain integer is a name like any other.
    let data = |word: &Word| opened.data(word).filter(|piece| !is_integer(&piece.text));
    let write = |word: &Word, what: &str| match data(word) {
        Some(piece) => places.write(&opened.path(word, piece, what)?).map(drop),
        None => Ok(()),
    };
    for command in &lexed.commands {
        let Some(name) = command.words.first().and_then(programs::base_name) else {
            continue;
        };
        let arguments = &command.words[1..];
        if name == "dd" {
            for word in arguments.iter().filter(|word| is_target_of_dd(word)) {
                write(&after(word, "of="), "the target of `dd`")?;
            }
        }
        let writer = WRITERS.iter().find(|(names, ..)| names.contains(&name));
        let Some((_, operands, options)) = writer else {
            continue;
        };
        let what = format!("the target of `{name}`");
        let (values, mut rest) = split(arguments, options);
        match operands {
            Operands::None => rest.clear(),
            Operands::Last if values.is_empty() => {
                if let Some(target) = rest.pop() {
                    write(target, &what)?;
                }
            }
            Operands::All | Operands::Touched => {
                for word in rest.drain(..) {
                    write(word, &what)?;
                }
            }
            Operands::Last | Operands::Names => {}
        }
        for (word, option) in &values {
            write(&after(word, option), &what)?;
        }
        for word in rest.iter().filter(|word| !word.uses.is_empty()) {
            // What can't be told is the contents of a variable, not data as it stands.
            if word.expansions.is_none()
                && let Some(name) = last_name(&opened.text(word))
            {
                places.write(&name)?;
            }
        }
    }
    Ok(())
}

fn is_target_of_dd(word: &Word) -> bool {
    word.text.starts_with("of=") && word.data.iter().all(|&(_, at)| at >= 3)
}

/// The values of `options`, each with the beginning of its word that is no part of it, and the operands.
fn split<'a>(
    arguments: &'a [Word],
    options: &[&'static str],
) -> (Vec<(&'a Word, &'a str)>, Vec<&'a Word>) {
    let (mut values, mut operands) = (Vec::new(), Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let before_data = word.data.first().map_or(word.text.len(), |&(_, at)| at);
        let author = &word.text[..before_data];
        if word.is("--") {
            operands.extend(words.by_ref());
        } else if !author.starts_with('-') {
            operands.push(word);
        } else if let Some(value) = options.iter().find_map(|option| value_at(author, option)) {
            match word.is_literal() && value == author.len() {
                true => values.extend(words.next().map(|word| (word, ""))),
                false => values.push((word, &author[..value])),
            }
        }
    }
    (values, operands)
}

/// Where in `text` the value of `option` begins: `--output=`, `-o`, or `-so` for several letters.
fn value_at(text: &str, option: &str) -> Option<usize> {
    if option.starts_with("--") {
        let rest = text.strip_prefix(option)?;
        return matches!(rest, "")
            .then_some(text.len())
            .or_else(|| rest.starts_with('=').then_some(option.len() + 1));
    }
    let letter = option.strip_prefix('-')?;
    let at = text.strip_prefix('-')?.find(letter)?;
    (!text.starts_with("--")).then_some(at + 1 + letter.len())
}

/// `word` without its `beginning`.
fn after(word: &Word, beginning: &str) -> Word {
    let rest = word.text.strip_prefix(beginning).unwrap_or(&word.text);
    let cut = word.text.len() - rest.len();
    let moved = |&(number, at): &(usize, usize)| (number, at.saturating_sub(cut));
    Word {
        text: rest.to_owned(),
        data: word.data.iter().map(moved).collect(),
        uses: word.uses.clone(),
        expansions: word.expansions,
        names: word.names.clone(),
        is_pattern: word.is_pattern,
        has_tilde: word.has_tilde,
        ..Word::default()
    }
}

/// The last name of a path, which a copy has in its new folder.
fn last_name(path: &Text) -> Option<Text> {
    let whole = path.to_string();
    let whole = whole.split(['?', '#']).next()?;
    let name = whole.trim_end_matches('/').rsplit('/').next()?;
    if matches!(name, "" | "." | "..") {
        return None;
    }
    let data = path
        .pieces()
        .iter()
        .find(|piece| !piece.origin.is_trusted())?;
    Some(Text::new(vec![Piece {
        text: name.to_owned(),
        ..data.clone()
    }]))
}
