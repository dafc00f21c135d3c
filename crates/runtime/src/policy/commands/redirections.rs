//! Where redirections lead.

use super::super::paths::Places;
use super::super::source::{Source, is_integer, name};
use super::super::{Refusal, RefusalKind};
use super::carriers::Carriers;
use super::words::{Lexed, Operator, Redirection, SimpleCommand, Word};
use super::{programs, targets};
use cuecard_source::value::{Piece, Text};

/// Data in the target of a redirection makes it a path with data in it.
pub(super) fn check_data(
    lexed: &Lexed,
    source: &Source<'_>,
    places: &Places,
) -> Result<(), Refusal> {
    let opened = Opened::new(lexed, source);
    for redirection in all(lexed) {
        let target = &redirection.target;
        let Some(piece) = opened.data(target) else {
            continue;
        };
        let writes = match redirection.operator {
            Operator::HereString | Operator::HereDocument { .. } => continue,
            Operator::Duplicate if is_integer(&piece.text) && target.text.is_empty() => continue,
            Operator::Duplicate => {
                let message = format!(
                    "the data of {} is used as a file descriptor in a redirection",
                    name(piece)
                );
                return Err(Refusal::new(
                    RefusalKind::Data,
                    message,
                    "write the number literally",
                ));
            }
            Operator::Read => false,
            Operator::Write => true,
        };
        let path = opened.path(target, piece, "the target of a redirection")?;
        let is_link = |command: &SimpleCommand| {
            command
                .words
                .iter()
                .any(|word| programs::base_name(word) == Some("ln"))
        };
        if lexed.commands.iter().any(is_link) {
            return Err(targets::through_link(&path));
        }
        open(places, &path, writes)?;
    }
    Ok(())
}

/// The files of which data in a command says where they are.
pub(super) struct Opened<'a> {
    lexed: &'a Lexed,
    source: &'a Source<'a>,
    carriers: Carriers<'a>,
    changes_directory: bool,
}

impl<'a> Opened<'a> {
    pub(super) fn new(lexed: &'a Lexed, source: &'a Source<'a>) -> Self {
        Self {
            lexed,
            source,
            carriers: Carriers::of(lexed),
            changes_directory: changes_directory(lexed),
        }
    }

    /// The data that is in the path `word`; of what a variable holds, the first of the command.
    pub(super) fn data(&self, word: &Word) -> Option<&'a Piece> {
        let number = self.lexed.uses[word.uses.clone()].first().copied();
        let number = number.or(self.carriers.reach(word).then_some(0));
        self.source.data.get(number?).copied()
    }

    /// All data that may be in `word`; what a variable holds may be any of the command.
    pub(super) fn pieces(&self, word: &Word) -> Vec<&'a Piece> {
        match self.carriers.reach(word) {
            true => self.source.data.clone(),
            false => self.lexed.uses[word.uses.clone()]
                .iter()
                .map(|&number| self.source.data[number])
                .collect(),
        }
    }

    /// The path that `target` will be, `piece` in it, which stands in `what`.
    pub(super) fn path(&self, target: &Word, piece: &Piece, what: &str) -> Result<Text, Refusal> {
        let refuse = |why: &str, help: &str| {
            let message = format!("the data of {} is used in {what}, {why}", name(piece));
            Err(Refusal::new(RefusalKind::Data, message, help))
        };
        if target.expansions.is_some() || target.is_pattern || target.has_tilde {
            return refuse(
                "which is unknown before the command runs",
                "write the rest of the path without variables and patterns",
            );
        }
        let path = self.text(target);
        if self.changes_directory && !path.to_string().starts_with('/') {
            return refuse(
                "and the command changes the directory it starts at",
                "write an absolute path, or change the directory in an earlier step",
            );
        }
        Ok(path)
    }

    /// The text that a word without expansions will be.
    pub(super) fn text(&self, word: &Word) -> Text {
        let mut pieces = Vec::new();
        let mut done = 0;
        for &(number, at) in &word.data {
            pieces.push(Piece::author(&word.text[done..at]));
            pieces.push(self.source.data[self.lexed.uses[number]].clone());
            done = at;
        }
        pieces.push(Piece::author(&word.text[done..]));
        Text::new(pieces)
    }
}

/// Under `confine` and `read_only` the shell itself opens only what a step may open.
pub(super) fn check_all(lexed: &Lexed, places: &Places) -> Result<(), Refusal> {
    let changes_directory = changes_directory(lexed);
    for redirection in all(lexed) {
        let target = &redirection.target;
        let writes = match redirection.operator {
            Operator::HereString | Operator::HereDocument { .. } => continue,
            // `>&2`, `<&-`
            Operator::Duplicate
                if target.is_literal()
                    && target
                        .text
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'-') =>
            {
                continue;
            }
            Operator::Read => false,
            Operator::Duplicate | Operator::Write => true,
        };
        if !target.data.is_empty() && target.expansions.is_none() {
            // For the rules about data.
            continue;
        }
        let is_known = target.is_literal() && !target.is_pattern && !target.has_tilde;
        let is_relative = !target.text.starts_with('/');
        if !is_known || (is_relative && changes_directory) {
            return Err(Refusal::new(
                RefusalKind::Command,
                "can't determine the target of a redirection in the command",
                "write its target without variables, as an absolute path",
            ));
        }
        let is_stream = matches!(
            target.text.as_str(),
            "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr"
        );
        if !is_stream {
            open(places, &Text::from(target.text.as_str()), writes)?;
        }
    }
    Ok(())
}

/// Whether a command puts what it has into a file, as far as its words say.
pub(super) fn fills_file(command: &SimpleCommand) -> bool {
    let name = command.words.first().and_then(programs::base_name);
    let to_file = |redirection: &Redirection| {
        matches!(redirection.operator, Operator::Write) && redirection.target.text != "/dev/null"
    };
    command.redirections.iter().any(to_file)
        || matches!(name, Some("tee" | "sponge" | "dd" | "cp" | "mv"))
}

pub(super) fn all(lexed: &Lexed) -> impl Iterator<Item = &Redirection> {
    lexed
        .commands
        .iter()
        .flat_map(|command| &command.redirections)
}

fn open(places: &Places, path: &Text, writes: bool) -> Result<(), Refusal> {
    if writes {
        places.create(path)?;
    } else {
        places.read(path)?;
    }
    Ok(())
}

/// Whether relative paths may start somewhere else than at the working directory.
fn changes_directory(lexed: &Lexed) -> bool {
    lexed.facts.defines_functions
        || lexed.commands.iter().any(|command| {
            !command.words.is_empty()
                && programs::resolve(&command.words).map_or(true, |resolved| {
                    matches!(
                        programs::kind(resolved.name),
                        programs::Kind::ChangesDirectory
                    ) || programs::evaluates_commands(resolved.name)
                })
        })
}
