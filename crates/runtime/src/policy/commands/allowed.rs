//! Which programs a command starts, and whether the flags let it.
//!
//! This guards against mistakes and surprises. It is no sandbox: an allowed program can start others.

use super::super::paths::Places;
use super::super::{Refusal, RefusalKind};
use super::words::{Lexed, Word};
use super::{CommandLists, programs, redirections};

impl CommandLists {
    /// Whether a command has to be read to be judged.
    pub(super) fn restrict(&self) -> bool {
        self.is_confined || self.is_read_only || !self.only.is_empty()
    }

    /// Refuses where no command can be allowed.
    pub(super) fn check_any(&self) -> Result<(), Refusal> {
        match self.forbidden() {
            Some((why, help)) if self.allowed.is_empty() => Err(Refusal::new(
                RefusalKind::Command,
                why,
                format!("{help}, or allow the program with `--allow-command NAME`"),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn check(&self, lexed: &Lexed, places: &Places) -> Result<(), Refusal> {
        if !self.restrict() {
            return Ok(());
        }
        let started = started(lexed).map_err(|why| {
            let flag = match self.forbidden() {
                Some(_) => "--allow-command",
                None => "--only-commands",
            };
            Refusal::new(
                RefusalKind::Command,
                format!("can't determine which programs the command starts: {why}"),
                format!("simplify the command, or put it into a script and allow that with `{flag} NAME`"),
            )
        })?;
        for program in started {
            if let Some((why, help)) = self.forbidden()
                && !program.is_among(&self.allowed)
            {
                return Err(Refusal::new(
                    RefusalKind::Command,
                    format!("the command starts `{}`, and {why}", program.shown()),
                    format!(
                        "{help}, or allow it with `--allow-command {}`",
                        program.shown()
                    ),
                ));
            }
            if !self.only.is_empty() && !program.is_among(&self.only) {
                return Err(Refusal::new(
                    RefusalKind::Command,
                    format!(
                        "the command starts `{}`, which is not among `--only-commands`",
                        program.shown()
                    ),
                    format!("add it with `--only-commands {}`", program.shown()),
                ));
            }
        }
        if self.forbidden().is_some() {
            redirections::check_all(lexed, places)?;
        }
        Ok(())
    }

    /// Why commands are forbidden unless they are allowed by name, and what lifts that.
    fn forbidden(&self) -> Option<(&'static str, &'static str)> {
        if self.is_confined {
            Some(("`--confine` does not allow commands", "drop `--confine`"))
        } else if self.is_read_only {
            Some((
                "`--read-only` does not allow commands, since they can write",
                "drop `--read-only`",
            ))
        } else {
            None
        }
    }
}

struct Program<'lexed> {
    /// As it is written.
    path: &'lexed str,
    /// Without folders.
    name: &'lexed str,
}

impl Program<'_> {
    /// An entry with a folder means that file, one without means what is found by that name: `./git` is another
    /// program.
    fn is_among(&self, list: &[String]) -> bool {
        list.iter()
            .any(|entry| entry == self.path || (!entry.contains('/') && entry == self.shown()))
    }

    /// The name by which it is found, or where it is instead.
    fn shown(&self) -> &str {
        match self.path.contains('/') && !self.path.starts_with('/') {
            true => self.path,
            false => self.name,
        }
    }
}

/// All programs that a command starts by itself, those that start others and the others included.
fn started(lexed: &Lexed) -> Result<Vec<Program<'_>>, String> {
    let facts = lexed.facts;
    let unreadable = [
        (facts.defines_functions, "it defines a function"),
        (
            facts.has_hidden_command,
            "it has a command in a here-document",
        ),
        (
            facts.has_double_parenthesis,
            "some shells start programs in `((…))`, where others calculate",
        ),
    ];
    if let Some(doubt) = lexed.doubt {
        return Err(doubt.to_owned());
    }
    if let Some((_, why)) = unreadable.iter().find(|(is_so, _)| *is_so) {
        return Err((*why).to_owned());
    }
    let hides = |word: &Word| word.text.contains("$(") || word.text.contains('`');
    let words = || {
        lexed
            .commands
            .iter()
            .flat_map(|command| command.words.iter().chain(&command.assignments))
    };
    if facts.evaluates_variables && words().any(hides) {
        return Err(
            "it evaluates variables, and there is a command in one of its words".to_owned(),
        );
    }
    let is_special = |word: &&Word| {
        let name = word
            .assignment
            .map(|end| word.text[..end].trim_end_matches('+'));
        name.is_some_and(programs::is_special)
    };
    if let Some(word) = words().find(is_special) {
        let name = word.text.split(['=', '+']).next().unwrap_or_default();
        return Err(format!("`{name}` decides what is started"));
    }
    let mut programs = Vec::new();
    for command in &lexed.commands {
        let name = command
            .words
            .first()
            .and_then(programs::base_name)
            .unwrap_or_default();
        if programs::evaluates_names(name) && command.words.iter().any(hides) {
            return Err(format!("`{name}` may run the command in its arguments"));
        }
        add(&command.words, &mut programs)?;
    }
    Ok(programs)
}

fn add<'lexed>(words: &'lexed [Word], programs: &mut Vec<Program<'lexed>>) -> Result<(), String> {
    let mut rest = words;
    while !rest.is_empty() {
        if rest[0].is_plain() && rest[0].text == "[[" {
            return Ok(());
        }
        let resolved = programs::resolve(rest).map_err(|at| match rest.get(at) {
            Some(word) if word.is_literal() && !word.is_pattern => {
                format!(
                    "`{}` is used with an option that is not known here",
                    word.text
                )
            }
            _ => "the name of a program is built by the shell".to_owned(),
        })?;
        for &at in resolved.wrappers.iter().chain([&resolved.program]) {
            let word = &rest[at];
            let name = programs::base_name(word).filter(|_| word.is_literal());
            let Some(name) = name else {
                return Err("the name of a program is built by the shell".to_owned());
            };
            if programs::evaluates_commands(name) {
                return Err(format!("`{name}` evaluates its arguments"));
            }
            // These are the shell itself.
            let is_transparent = matches!(name, "command" | "builtin" | "exec");
            if !is_transparent || at == resolved.program {
                programs.push(Program {
                    path: &word.text,
                    name,
                });
            }
        }
        // `find` starts what follows `-exec`.
        let after = &rest[resolved.program + 1..];
        let is_find = resolved.name == "find";
        if let Some(option) = programs::starting_option(resolved.name, after).filter(|_| !is_find) {
            return Err(format!("`{option}` starts what its arguments say"));
        }
        rest = match after
            .iter()
            .position(|word| is_find && programs::starts_command(&word.text))
        {
            Some(at) => &after[at + 1..],
            None => &[],
        };
    }
    Ok(())
}
