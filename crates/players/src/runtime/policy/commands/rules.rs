//! Where data in a command would act as code although its quotes are right.

mod builtins;
mod options;

use super::super::paths::Places;
use super::super::source::{Source, is_integer, reference};
use super::super::{Refusal, RefusalKind};
use super::lexer;
use super::programs::{self, Interpreter, Kind, Resolved};
use super::redirections;
use super::words::{Lexed, Operator, SimpleCommand, Word};
use builtins::may_evaluate;
use cuecard_core::value::Piece;

/// Judges all data of a command.
pub(super) fn check(lexed: &Lexed, source: &Source<'_>, places: &Places) -> Result<(), Refusal> {
    let Some(&first) = source.data.first() else {
        return Ok(());
    };
    if let Some((piece, place)) = lexed.misplaced {
        return Err(place.refusal(source.data[piece]));
    }
    if let Some(doubt) = lexed.doubt {
        return Err(refusal(
            first,
            &format!("stands where it can't be told what the shell makes of it: {doubt}"),
            "write that part of the command in a simpler way",
        ));
    }
    let mut rules = Rules {
        lexed,
        source,
        carried: lexed.listed.iter().cloned().flatten().collect(),
        moves_data: lexed.facts.moves_data || lexed.facts.defines_functions,
        evaluates: lexed.facts.evaluates_variables,
        bare: None,
    };
    for command in &lexed.commands {
        rules.command(command)?;
    }
    rules.end(first)?;
    redirections::check_data(lexed, source, places)
}

struct Rules<'a> {
    lexed: &'a Lexed,
    source: &'a Source<'a>,
    /// Uses that get into a variable.
    carried: Vec<usize>,
    /// Any of them may.
    moves_data: bool,
    /// The command evaluates what is in variables.
    evaluates: bool,
    /// An interpreter that runs what it reads from wherever.
    bare: Option<String>,
}

impl<'a> Rules<'a> {
    fn command(&mut self, command: &'a SimpleCommand) -> Result<(), Refusal> {
        for word in &command.assignments {
            self.assignment(word)?;
        }
        for redirection in &command.redirections {
            if redirection.operator == Operator::HereString {
                self.carried.extend(redirection.target.uses.clone());
            }
        }
        if command.words.is_empty() {
            return Ok(());
        }
        self.simple(&command.words, command, true)?;
        Ok(())
    }

    /// A program with its arguments; `is_whole` if they are not a part of those of `find`.
    fn simple(
        &mut self,
        words: &'a [Word],
        command: &'a SimpleCommand,
        is_whole: bool,
    ) -> Result<(), Refusal> {
        let resolved = match programs::resolve(words) {
            Ok(resolved) => resolved,
            Err(at) => return self.unknown_program(words, at),
        };
        for &at in resolved.wrappers.iter().chain([&resolved.program]) {
            self.refuse_any(
                &words[at],
                "stands in the name of the program",
                "write the name of the program out",
            )?;
        }
        let before = &words[..resolved.program];
        for word in before.iter().filter(|word| word.assignment.is_some()) {
            self.assignment(word)?;
        }
        if resolved.splits {
            self.refuse_all(
                words,
                "is an argument of `xargs`, which puts commands together",
                "write a loop: `while read -r item; do …; done`",
            )?;
        }
        let start = resolved.program + 1;
        // What a shell's own code has as arguments is no option, nor a program's name.
        let mut operands = words.len();
        match programs::kind(resolved.name) {
            Kind::Evaluator => self.evaluator(&resolved, words, command)?,
            Kind::Interpreter(interpreter) => {
                operands =
                    self.interpreter(interpreter, resolved.name, words, start, Some(command))?;
            }
            Kind::Declares => return self.declares(&words[start..]),
            Kind::Names | Kind::Reads => {
                self.moves_data |= !matches!(programs::kind(resolved.name), Kind::Names);
                self.evaluates |= words[start..].iter().any(may_evaluate);
                self.refuse_all(
                    &words[start..],
                    "stands where the shell expects a name",
                    "write the name out",
                )?;
            }
            Kind::Set => words[start..]
                .iter()
                .for_each(|word| self.carried.extend(word.uses.clone())),
            Kind::Test => return self.test(&words[start..], false),
            Kind::DoubleBrackets => return self.test(&words[start..], true),
            Kind::Printf => {
                if words.get(start).is_some_and(|word| word.is("-v")) {
                    self.evaluates |= words.get(start + 1).is_some_and(may_evaluate);
                    self.refuse_all(
                        words.get(start + 1..start + 2).unwrap_or_default(),
                        "stands where the shell expects a name",
                        "write the name out",
                    )?;
                    words[start..]
                        .iter()
                        .for_each(|word| self.carried.extend(word.uses.clone()));
                }
            }
            Kind::Find if is_whole => {
                let starts =
                    |word: &Word| word.is_literal() && programs::starts_command(&word.text);
                for inner in words[start..]
                    .split(starts)
                    .skip(1)
                    .filter(|inner| !inner.is_empty())
                {
                    self.simple(inner, command, false)?;
                }
            }
            Kind::Plain | Kind::Find | Kind::Echo | Kind::Ignores | Kind::ChangesDirectory => {}
        }
        self.embedded(&words[..operands], start)?;
        self.options(&words[..operands], &resolved)
    }

    /// After the last command: what only shows in all of them together.
    fn end(&self, first: &Piece) -> Result<(), Refusal> {
        if let Some(name) = &self.bare {
            return Err(refusal(
                first,
                &format!("may reach `{name}`, which runs what it reads"),
                "give it its program as an argument or a file",
            ));
        }
        if !self.evaluates {
            return Ok(());
        }
        let all = 0..self.lexed.uses.len();
        let carried = if self.moves_data {
            all.collect()
        } else {
            self.carried.clone()
        };
        match carried.into_iter().find_map(|number| self.harmful(number)) {
            None => Ok(()),
            Some(piece) => Err(refusal(
                piece,
                "gets into a variable, and the command evaluates variables (arithmetic, `eval`, `${!x}` or the like)",
                "let the step answer a plain integer, compare with `[ … ]`, or move the evaluation to another step",
            )),
        }
    }

    fn unknown_program(&mut self, words: &[Word], at: usize) -> Result<(), Refusal> {
        if let Some(word) = words.get(at) {
            self.refuse_any(
                word,
                "stands in the name of the program",
                "write the name of the program out",
            )?;
            // `$program` is whatever a variable says, and `a[x == 1]=2` only looks like a program.
            self.evaluates |= may_evaluate(word) || word.is_any_name();
            self.moves_data |= word.is_any_name();
        }
        words.iter().try_for_each(|word| {
            self.refuse_any(
                word,
                "is an argument of a program that can't be told before the command runs",
                "write the name of the program out, and its options in their usual form",
            )
        })
    }

    fn evaluator(
        &mut self,
        resolved: &Resolved<'_>,
        words: &[Word],
        command: &SimpleCommand,
    ) -> Result<(), Refusal> {
        let arguments = &words[resolved.program + 1..];
        let is_open = |word: &Word| word.expansions.is_some() || word.is_any_name();
        self.evaluates |= resolved.name == "let" || arguments.iter().any(is_open);
        self.moves_data |= arguments.iter().any(Word::is_any_name);
        if programs::evaluates_input(resolved.name, arguments.len()) {
            self.runs_input(resolved.name, command)?;
        }
        self.refuse_all(
            arguments,
            &format!("is an argument of `{}`, which evaluates it", resolved.name),
            &format!(
                "use another program than `{}`, or give it the data on standard input",
                resolved.name
            ),
        )
    }

    /// Returns where the arguments of shell code begin; the number of words if there are none.
    fn interpreter(
        &mut self,
        interpreter: &'static Interpreter,
        name: &str,
        words: &[Word],
        start: usize,
        command: Option<&SimpleCommand>,
    ) -> Result<usize, Refusal> {
        let roles = interpreter.roles(words, start);
        if let Some(unknown) = roles.unknown {
            self.evaluates = true;
            self.moves_data |= words[unknown].is_any_name();
            self.refuse_all(
                &words[unknown..],
                &format!(
                    "stands behind arguments of `{name}` that can't be told before the command runs"
                ),
                "write the options and the program's file out",
            )?;
        }
        for &at in &roles.code {
            self.evaluates |= words[at].expansions.is_some();
            let help = if interpreter.is_shell() {
                let it = self
                    .first_use(&words[at])
                    .map(reference)
                    .unwrap_or_default();
                format!("pass it as an argument: `{name} -c '… \"$1\"' {name} {it}`")
            } else {
                format!(
                    "pass it as an argument of the program, and let the code for `{name}` read it from there"
                )
            };
            self.refuse_all(
                &words[at..=at],
                &format!("stands in the code for `{name}`"),
                &help,
            )?;
        }
        let Some(command) = command else {
            return Ok(words.len());
        };
        if let Some(at) = roles.program {
            self.refuse_any(
                &words[at],
                &format!("stands in the name of the program for `{name}`"),
                "write the name of the program out",
            )?;
        }
        if roles.is_bare {
            self.runs_input(name, command)?;
        }
        if let (Some(arguments), Some(&code)) = (roles.arguments, roles.code.last()) {
            self.shell_arguments(&words[code], words.get(arguments..).unwrap_or_default())?;
        }
        Ok(roles.arguments.unwrap_or(words.len()).min(words.len()))
    }

    /// The arguments of `sh -c CODE`, which the code has as `$1` and so on.
    fn shell_arguments(&self, code: &Word, arguments: &[Word]) -> Result<(), Refusal> {
        let text = code.text.as_str().into();
        let is_simple = code.is_literal()
            && Source::new(&text).is_some_and(|source| {
                let inner = lexer::lex(&source, &[]);
                let mut rules = Rules {
                    lexed: &inner,
                    source: &source,
                    carried: Vec::new(),
                    moves_data: false,
                    evaluates: inner.facts.evaluates_variables,
                    bare: None,
                };
                // Without data of its own nothing in it is refused; what counts is what it evaluates.
                let starts_shell = |word: &Word| {
                    programs::base_name(word)
                        .is_some_and(|name| matches!(programs::kind(name), Kind::Interpreter(inner) if inner.is_shell()))
                };
                let is_flat = !inner.commands.iter().flat_map(|command| &command.words).any(starts_shell);
                let is_readable = inner.doubt.is_none()
                    && is_flat
                    && inner.commands.iter().all(|command| rules.command(command).is_ok());
                is_readable && !rules.evaluates && rules.bare.is_none()
            });
        if is_simple {
            return Ok(());
        }
        self.refuse_all(
            arguments,
            "is an argument of shell code that evaluates its arguments",
            "use the argument in quotes only: `\"$1\"`",
        )
    }

    /// `name` runs what it reads.
    fn runs_input(&mut self, name: &str, command: &SimpleCommand) -> Result<(), Refusal> {
        let is_input = |operator: Operator| !matches!(operator, Operator::Write);
        let mut has_input = false;
        for redirection in command
            .redirections
            .iter()
            .filter(|redirection| is_input(redirection.operator))
        {
            has_input = true;
            self.refuse_any(
                &redirection.target,
                &format!("is what `{name}` reads and runs"),
                "give it its program as an argument or a file",
            )?;
            self.evaluates |= redirection.target.expansions.is_some();
            self.evaluates |= matches!(redirection.operator, Operator::HereDocument { .. })
                && self.lexed.facts.expands_here_document;
        }
        if !has_input {
            self.bare.get_or_insert_with(|| name.to_owned());
        }
        Ok(())
    }

    /// Interpreters among the arguments of a program, which may well start them: `docker exec box sh -c …`.
    fn embedded(&mut self, words: &[Word], start: usize) -> Result<(), Refusal> {
        for (at, word) in words.iter().enumerate().skip(start) {
            let Some(name) = base_name_of_argument(word) else {
                continue;
            };
            if let Kind::Interpreter(interpreter) = programs::kind(name)
                && interpreter.runs_programs()
            {
                self.interpreter(interpreter, name, words, at + 1, None)?;
            }
        }
        Ok(())
    }

    fn piece(&self, number: usize) -> &'a Piece {
        self.source.data[self.lexed.uses[number]]
    }

    fn first_use(&self, word: &Word) -> Option<&'a Piece> {
        word.uses.clone().next().map(|number| self.piece(number))
    }

    /// The data of a use, unless it is a plain integer, which is harmless everywhere.
    fn harmful(&self, number: usize) -> Option<&'a Piece> {
        Some(self.piece(number)).filter(|piece| !is_integer(&piece.text))
    }

    /// Refuses the first data in `words` that is no plain integer.
    fn refuse_all(&self, words: &[Word], why: &str, help: &str) -> Result<(), Refusal> {
        let mut uses = words.iter().flat_map(|word| word.uses.clone());
        match uses.find_map(|number| self.harmful(number)) {
            Some(piece) => Err(refusal(piece, why, help)),
            None => Ok(()),
        }
    }

    /// Refuses any data in `word`.
    fn refuse_any(&self, word: &Word, why: &str, help: &str) -> Result<(), Refusal> {
        match self.first_use(word) {
            Some(piece) => Err(refusal(piece, why, help)),
            None => Ok(()),
        }
    }
}

fn refusal(piece: &Piece, why: &str, help: &str) -> Refusal {
    Refusal::new(
        RefusalKind::Data,
        format!("the data of `{}` {why}", reference(piece)),
        help,
    )
}

fn base_name_of_argument(word: &Word) -> Option<&str> {
    programs::base_name(word).filter(|_| !word.text.starts_with('-'))
}
