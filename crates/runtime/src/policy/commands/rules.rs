//! Where data in a command would act as code although its quotes are right.

mod builtins;
mod options;

use std::collections::HashSet;
use std::rc::Rc;

use super::super::orders::{decides_what_runs, decides_when_written};
use super::super::paths::Places;
use super::super::source::{Source, is_integer, reference};
use super::super::{Refusal, RefusalKind};
use super::carriers::Carriers;
use super::lexer;
use super::programs::{self, Kind, Runner};
use super::words::{Lexed, Operator, SimpleCommand, Word};
use super::{redirections, targets};
use builtins::may_evaluate;
use cuecard_source::value::Piece;

/// How many shells may start one another in the arguments of a command.
const MAX_DEPTH: usize = 8;

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
            &format!("is used where its effect in the shell can't be determined: {doubt}"),
            "simplify that part of the command",
        ));
    }
    let written = Rc::new(targets::written(lexed));
    let mut rules = Rules::new(lexed, source, written, 0);
    for command in &lexed.commands {
        rules.command(command)?;
    }
    rules.end(first)?;
    redirections::check_data(lexed, source, places)?;
    targets::check(lexed, source, places)
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
    /// What runs data that it reads: a program, or a file that the command writes.
    bare: Option<String>,
    /// Names of files that it may write, as far as its words say.
    written: Rc<HashSet<String>>,
    carriers: Carriers<'a>,
    /// It writes files.
    writes: bool,
    /// It changes to a directory that a variable names.
    enters: bool,
    /// The data that names such a directory.
    entered: Option<&'a Piece>,
    /// Data that may be an archive which is unpacked.
    unpacked: Option<&'a Piece>,
    /// The data that names a file which the command writes.
    chosen: Option<&'a Piece>,
    /// The first program that takes orders from the directory it is started in.
    local: Option<&'a str>,
    /// The first of them that may run any file there.
    local_runner: Option<&'a str>,
    /// Files that it certainly writes.
    outputs: Vec<&'a str>,
    /// The first of them that such a program takes orders from, and the program.
    recipe: Option<(&'a str, &'a str)>,
    /// How many shells start one another before this one.
    depth: usize,
}

impl<'a> Rules<'a> {
    fn new(
        lexed: &'a Lexed,
        source: &'a Source<'a>,
        written: Rc<HashSet<String>>,
        depth: usize,
    ) -> Self {
        let outputs: Vec<&Word> = lexed.commands.iter().flat_map(targets::outputs).collect();
        // Where data says which file is written, it may be any; so may what is unpacked of what comes by a pipe.
        let carriers = Carriers::of(lexed);
        let fills = lexed.commands.iter().any(redirections::fills_file);
        let unpacks =
            (lexed.facts.has_pipe || fills) && lexed.commands.iter().any(targets::unpacks);
        let is_unseen = |word: &&Word| targets::is_unseen(word) && carriers.values(word).is_empty();
        let is_any_name = unpacks
            || (fills
                && (lexed.commands.iter().any(targets::names_unseen)
                    || outputs.iter().any(is_unseen)));
        let fetched = lexed
            .commands
            .iter()
            .find_map(|command| targets::fetched(command, &carriers));
        let first_data = || source.data.first().copied();
        let chosen = outputs
            .iter()
            .find(|word| !word.uses.is_empty() || carriers.reach(word))
            .and_then(|word| word.uses.clone().next().or(Some(0)))
            .or(is_any_name.then_some(0))
            .and_then(|number| lexed.uses.get(number))
            .map(|&piece| source.data[piece])
            .filter(|piece| !is_integer(&piece.text))
            .or(fetched.and_then(|word| {
                let number = word.uses.clone().next();
                let piece = number.map(|number| source.data[lexed.uses[number]]);
                piece.or_else(first_data)
            }));
        let named = outputs.iter().flat_map(|word| {
            let values = carriers.values(word).into_iter();
            values.chain([word.text.as_str()])
        });
        let outputs_named = named.collect();
        Self {
            lexed,
            source,
            carried: lexed.listed.iter().cloned().flatten().collect(),
            // What stands in a here-document isn't looked into.
            moves_data: lexed.facts.moves_data
                || lexed.facts.defines_functions
                || lexed.facts.has_hidden_command,
            evaluates: lexed.facts.evaluates_variables || lexed.facts.has_hidden_command,
            bare: None,
            writes: !outputs.is_empty(),
            enters: false,
            entered: None,
            chosen,
            local: None,
            local_runner: None,
            outputs: outputs_named,
            unpacked: unpacks.then(first_data).flatten(),
            recipe: None,
            written,
            carriers,
            depth,
        }
    }

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
        self.simple(&command.words, command)
    }

    /// A program with its arguments.
    fn simple(&mut self, words: &'a [Word], command: &'a SimpleCommand) -> Result<(), Refusal> {
        let (why, help) = (
            "is used in the name of the program",
            "write the name of the program literally",
        );
        self.refuse_any(&words[0], why, help)?;
        if self.carriers.reach(&words[0]) {
            let harmful = (0..self.lexed.uses.len()).find_map(|number| self.harmful(number));
            if let Some(piece) = harmful {
                return Err(refusal(piece, "may become part of the program name", help));
            }
        }
        self.runs_file(&words[0]);
        let arguments = &words[1..];
        if programs::is_own_file(&words[0]) {
            // It may be what the command wrote.
            self.local_runner.get_or_insert(&words[0].text);
        }
        if programs::takes_local_orders(&words[0], arguments) {
            let program = words[0].text.as_str();
            let runs_code = programs::base_name(&words[0]).is_none_or(|name| {
                programs::runner(name, arguments).is_some() || program.contains('/')
            });
            self.local.get_or_insert(program);
            self.local_runner = self.local_runner.or(runs_code.then_some(program));
            let recipe = self.outputs.iter().find(|path| is_recipe(path, runs_code));
            self.recipe = self.recipe.or(recipe.map(|path| (*path, program)));
            programs::directories(arguments).for_each(|word| self.enters(word));
        }
        // `"$(cat name)/run"`
        let is_known = !(words[0].has_substitution && self.depth == 0);
        let Some(name) = programs::base_name(&words[0]).filter(|_| is_known) else {
            return self.unknown_program(arguments);
        };
        if programs::has_subcommands(name)
            && let Some(first) = arguments.first()
            && first.data.first().is_some_and(|&(_, at)| at == 0)
        {
            self.refuse_any(
                first,
                &format!("is used where `{name}` expects a subcommand"),
                "write that word literally",
            )?;
        }
        if let Some(runner) = programs::runner(name, arguments) {
            return self.runner(runner, name, arguments, command);
        }
        if programs::reads_orders(name, arguments) {
            self.bare.get_or_insert_with(|| name.to_owned());
        }
        let kind = programs::kind(name);
        match kind {
            Kind::Declares => return self.declares(arguments),
            Kind::Names | Kind::Reads => {
                self.moves_data |= !matches!(kind, Kind::Names);
                // `mapfile -C` runs code for each line.
                let is_callback = |word: &Word| word.text.starts_with("-C");
                self.evaluates |= arguments
                    .iter()
                    .any(|word| may_evaluate(word) || is_callback(word));
                self.refuse_all(
                    arguments,
                    "is used where the shell expects a name",
                    "write the name literally",
                )?;
            }
            Kind::Set => {
                self.moves_data |= arguments
                    .iter()
                    .any(|word| word.is_pattern || word.has_substitution);
                arguments
                    .iter()
                    .for_each(|word| self.carried.extend(word.uses.clone()));
            }
            Kind::Test => return self.test(arguments, false),
            Kind::DoubleBrackets => return self.test(arguments, true),
            Kind::Printf => {
                // `-v NAME`, `-vNAME`
                if arguments
                    .first()
                    .is_some_and(|word| word.text.starts_with("-v"))
                {
                    let names = &arguments[..arguments.len().min(2)];
                    self.evaluates |= names.iter().any(may_evaluate);
                    self.moves_data |= arguments.iter().any(|word| word.has_substitution);
                    self.refuse_all(
                        match arguments[0].is("-v") {
                            true => &names[1..],
                            false => &names[..1],
                        },
                        "is used where the shell expects a name",
                        "write the name literally",
                    )?;
                    arguments
                        .iter()
                        .for_each(|word| self.carried.extend(word.uses.clone()));
                }
            }
            Kind::ChangesDirectory => arguments.iter().for_each(|word| self.enters(word)),
            Kind::Plain | Kind::Echo | Kind::Ignores => {}
        }
        self.embedded(arguments)?;
        self.options(arguments, kind)
    }

    /// A program is started in the directory that `word` names.
    fn enters(&mut self, word: &Word) {
        self.enters |= word.expansions.is_some();
        self.entered = self.entered.or(self.first_use(word));
    }

    /// After the last command: what only shows in all of them together.
    fn end(&self, first: &Piece) -> Result<(), Refusal> {
        if let Some(name) = &self.bare {
            return Err(refusal(
                first,
                &format!("may become part of what `{name}` runs"),
                "do it in a step of its own without data",
            ));
        }
        let all = 0..self.lexed.uses.len();
        // `echo … > file; echo $(($(cat file)))`
        let carried = if self.moves_data || (self.writes && self.lexed.facts.has_substitution) {
            all.collect()
        } else {
            self.carried.clone()
        };
        let carried = carried.into_iter().find_map(|number| self.harmful(number));
        if let Some((path, name)) = self.recipe {
            return Err(refusal(
                first,
                &format!("may get into `{path}`, which the command writes and `{name}` may run"),
                "write the file in a step of its own",
            ));
        }
        let directory = self.entered.or(carried.filter(|_| self.enters));
        if let Some((name, piece)) = self
            .local
            .zip(directory)
            .or(self.local.zip(self.unpacked))
            .or(self.local_runner.zip(self.chosen))
        {
            return Err(refusal(
                piece,
                &format!(
                    "determines the directory in which `{name}` runs, or a file written before it, and thus what it does"
                ),
                "write the directory literally",
            ));
        }
        match carried.filter(|_| self.evaluates) {
            None => Ok(()),
            Some(piece) => Err(refusal(
                piece,
                "is assigned to a variable, and the command evaluates variables (arithmetic, `eval`, `${!x}` or the like)",
                "let the step return a plain integer, compare with `[ … ]`, or move the evaluation to another step",
            )),
        }
    }

    /// `$program` is whatever a variable says, and `a[x == 1]=2` only looks like a program.
    fn unknown_program(&mut self, arguments: &[Word]) -> Result<(), Refusal> {
        self.evaluates = true;
        self.moves_data = true;
        arguments.iter().try_for_each(|word| {
            self.refuse_any(
                word,
                "is an argument of a program that is unknown before the command runs",
                "write the name of the program literally",
            )
        })
    }

    /// A program that runs its arguments.
    fn runner(
        &mut self,
        runner: Runner,
        name: &'a str,
        arguments: &'a [Word],
        command: &'a SimpleCommand,
    ) -> Result<(), Refusal> {
        self.refuse_arguments(name, arguments)?;
        // An alias makes any word the name of a program.
        self.moves_data |= name == "alias";
        // To `make`, variables of the environment are its own, and what is in them is code.
        let is_make = |name: &str| matches!(name, "make" | "gmake");
        let starts_make = arguments
            .iter()
            .filter_map(programs::base_name)
            .any(is_make);
        self.evaluates |= matches!(name, "let" | "alias") || is_make(name) || starts_make;
        self.expands(arguments);
        self.runs_files(runner, arguments);
        if runner.runs_input(name, arguments) {
            self.runs_input(name, command)?;
        }
        if !runner.runs_shell_code() {
            return Ok(());
        }
        for (at, word) in arguments
            .iter()
            .enumerate()
            .filter(|(_, word)| word.is_literal())
        {
            if word
                .text
                .contains(|character: char| " \t\n$`;&|<>(){}".contains(character))
            {
                self.shell_code(&word.text);
                // `--filter=code`, `-Icode`
                match word
                    .text
                    .split_once('=')
                    .filter(|(name, _)| name.starts_with("--"))
                {
                    Some((_, code)) => self.shell_code(code),
                    None if word.text.starts_with('-') => {
                        self.shell_code(word.text.get(2..).unwrap_or_default());
                    }
                    None => {}
                }
            } else if self.bare.is_none()
                && let Some(name) = programs::base_name(word)
                && programs::runner(name, &[])
                    .is_some_and(|inner| inner.lacks_program(name, &arguments[at + 1..]))
            {
                self.runs_input(name, command)?;
            }
        }
        Ok(())
    }

    /// Nothing of a peer's may stand in `arguments` of `name`. A plain integer inside a longer word is harmless.
    fn refuse_arguments(&self, name: &str, arguments: &[Word]) -> Result<(), Refusal> {
        let words = arguments.iter().flat_map(|word| {
            let is_alone = word.text.is_empty();
            word.uses.clone().map(move |number| (is_alone, number))
        });
        for (is_alone, number) in words {
            let piece = self.piece(number);
            if is_alone || self.harmful(number).is_some() {
                let it = reference(piece);
                let help = match name {
                    "make" | "gmake" => {
                        "write it into a file, and let a recipe read that".to_owned()
                    }
                    _ => format!(
                        "pass it in the environment, `VALUE={it} {name} …`, to a program that reads `VALUE`"
                    ),
                };
                let why = format!("is an argument of `{name}`, which runs its arguments");
                return Err(refusal(piece, &why, &help));
            }
        }
        Ok(())
    }

    /// What is expanded in `words` is run.
    fn expands(&mut self, words: &[Word]) {
        for word in words
            .iter()
            .filter(|word| word.expansions.is_some() || word.is_any_name())
        {
            self.evaluates = true;
            // It may name a file that the command writes.
            self.moves_data |= word.has_substitution || word.may_vanish() || self.writes;
        }
    }

    /// Code for another shell, which has our variables and reads what we read.
    fn shell_code(&mut self, code: &str) {
        let text = code.into();
        let inner = (self.depth < MAX_DEPTH)
            .then(|| Source::new(&text))
            .flatten()
            .map(|source| {
                let lexed = lexer::lex(&source, &[]);
                let written = Rc::clone(&self.written);
                let mut rules = Rules::new(&lexed, &source, written, self.depth + 1);
                // There is no data in it, but for what `find` and its like put into the braces.
                let is_clear = lexed.doubt.is_none()
                    && !code.contains("{}")
                    && lexed
                        .commands
                        .iter()
                        .all(|command| rules.command(command).is_ok());
                (is_clear, rules.evaluates, rules.moves_data, rules.bare)
            });
        let Some((true, evaluates, moves_data, bare)) = inner else {
            self.evaluates = true;
            self.moves_data = true;
            return;
        };
        self.evaluates |= evaluates;
        self.moves_data |= moves_data;
        self.bare = self.bare.take().or(bare);
    }

    /// `name` runs what it reads.
    fn runs_input(&mut self, name: &str, command: &'a SimpleCommand) -> Result<(), Refusal> {
        let is_shell = programs::runner(name, &[]).is_some_and(Runner::runs_shell_code);
        let mut has_input = false;
        for redirection in &command.redirections {
            if redirection.operator == Operator::Write {
                continue;
            }
            let target = &redirection.target;
            let is_open_file =
                target.text.starts_with("/dev/") || target.text.starts_with("/proc/");
            has_input |= match redirection.operator {
                Operator::Read => !is_open_file,
                Operator::HereDocument { .. } | Operator::HereString => true,
                Operator::Write | Operator::Duplicate => false,
            };
            self.refuse_any(
                target,
                &format!("is what `{name}` reads and runs"),
                "pass its program as an argument or a file",
            )?;
            self.expands(std::slice::from_ref(target));
            self.evaluates |= matches!(redirection.operator, Operator::HereDocument { .. })
                && self.lexed.facts.expands_here_document;
            match redirection.operator {
                Operator::Read => self.runs_file(target),
                Operator::HereString if is_shell && target.is_literal() => {
                    self.shell_code(&target.text);
                }
                Operator::HereDocument { .. } if is_shell => {
                    let lexed = self.lexed;
                    lexed
                        .here_documents
                        .iter()
                        .for_each(|code| self.shell_code(code));
                }
                _ => {}
            }
        }
        if !has_input {
            self.bare.get_or_insert_with(|| name.to_owned());
        }
        Ok(())
    }

    /// The files among `arguments` that a program runs.
    fn runs_files(&mut self, runner: Runner, arguments: &[Word]) {
        let is_option = |word: &Word| word.text.starts_with('-') && word.text.len() > 1;
        match (runner, arguments) {
            // The others are what the program works on.
            (Runner::Shell | Runner::Language, [first, ..])
                if first.is_literal() && !is_option(first) =>
            {
                self.runs_file(first);
            }
            (Runner::Filter, _) => {
                for (at, word) in arguments.iter().enumerate() {
                    let before = at.checked_sub(1).map(|before| &arguments[before]);
                    if is_option(word) || before.is_some_and(is_option) {
                        self.runs_file(word);
                    }
                }
            }
            _ => arguments.iter().for_each(|word| self.runs_file(word)),
        }
    }

    /// The file that `word` names is run. It may hold what another part of the command wrote into it.
    fn runs_file(&mut self, word: &Word) {
        let value = word.text.split_once('=').map(|(_, value)| value);
        let joined = word.text.get(2..).filter(|_| word.text.starts_with('-'));
        let names = [Some(word.text.as_str()), value, joined]
            .into_iter()
            .flatten();
        let mut names =
            names.filter_map(|path| path.split('/').rfind(|name| !matches!(*name, "" | ".")));
        if names.any(|name| self.written.contains(&name.to_lowercase())) {
            self.bare.get_or_insert_with(|| word.text.clone());
        }
    }

    /// A shell or a language among the arguments of a program, which may well start it: `box enter x sh -c …`.
    fn embedded(&self, arguments: &[Word]) -> Result<(), Refusal> {
        for (at, pair) in arguments.windows(2).enumerate() {
            if pair[1].text.starts_with('-')
                && let Some(name) = programs::base_name(&pair[0])
                && matches!(
                    programs::runner(name, &[]),
                    Some(Runner::Shell | Runner::Language)
                )
            {
                return self.refuse_arguments(name, &arguments[at + 1..]);
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

/// Whether a program takes orders from the file `path` although its arguments don't name it; `runs_code` says whether it
/// may run any file.
fn is_recipe(path: &str, runs_code: bool) -> bool {
    const CODE: &[&str] = &[
        ".py", ".pyc", ".pth", ".js", ".cjs", ".mjs", ".ts", ".rb", ".pl", ".pm", ".lua", ".php",
        ".so",
    ];
    // `of=Makefile`
    let path = path.rsplit('=').next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_code = CODE
        .iter()
        .any(|ending| file.to_lowercase().ends_with(ending));
    // `.git/config`, `.git/hooks/pre-commit`
    path.split('/').any(decides_what_runs) || (runs_code && (is_code || decides_when_written(file)))
}
