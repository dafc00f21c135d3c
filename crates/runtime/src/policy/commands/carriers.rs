//! Variables that hold data because the command puts it there.

use std::collections::HashSet;

use super::programs;
use super::redirections::fills_file;
use super::words::{Lexed, Word};

/// Their names, and the values that the command writes into variables.
pub(super) struct Carriers<'a> {
    names: HashSet<&'a str>,
    /// The command writes files, and a substitution may read them: `$(cat f)`.
    are_written: bool,
    literals: Vec<(&'a str, &'a str)>,
}

impl<'a> Carriers<'a> {
    pub(super) fn of(lexed: &'a Lexed) -> Self {
        let assignments = lexed
            .commands
            .iter()
            .flat_map(|command| &command.assignments);
        let mut carriers = Self {
            names: HashSet::new(),
            are_written: !lexed.uses.is_empty() && lexed.commands.iter().any(fills_file),
            literals: assignments
                .filter(|word| word.is_literal())
                .filter_map(|word| word.text.split_once('='))
                .collect(),
        };
        if lexed.uses.is_empty() {
            return carriers;
        }
        loop {
            let before = carriers.names.len();
            carriers.add(lexed);
            if carriers.names.len() == before {
                return carriers;
            }
        }
    }

    /// Whether one of them stands in `word`, or what a file of the command holds.
    pub(super) fn reach(&self, word: &Word) -> bool {
        (self.are_written && word.has_substitution)
            || word
                .names
                .iter()
                .any(|name| self.names.contains(name.as_str()))
    }

    /// What the command may have put into the variable that is all of `word`.
    pub(super) fn values(&self, word: &Word) -> Vec<&'a str> {
        let is_in =
            |name: &str| word.text.is_empty() && word.names.iter().any(|known| known == name);
        let known = self.literals.iter().filter(|(name, _)| is_in(name));
        known.map(|&(_, value)| value).collect()
    }

    /// Those that get data from a use of it, or from those that are known.
    fn add(&mut self, lexed: &'a Lexed) {
        let (loops, listed) = &lexed.loops;
        if lexed.listed.iter().any(|uses| !uses.is_empty())
            // What a command says may have been data before: `$(git log)`.
            || lexed.facts.has_substitution
            || listed.iter().any(|name| self.names.contains(name.as_str()))
        {
            self.names.extend(loops.iter().map(String::as_str));
        }
        if lexed.facts.defines_functions {
            self.names.extend(POSITIONAL);
        }
        for command in &lexed.commands {
            for word in &command.assignments {
                self.assigned(word);
            }
            let name = command.words.first().and_then(programs::base_name);
            let arguments = command.words.get(1..).unwrap_or_default();
            let holds = arguments.iter().any(|word| self.holds(word));
            let names = arguments.iter().map(|word| word.text.as_str());
            match name.unwrap_or_default() {
                "declare" | "typeset" | "local" | "export" | "readonly" => {
                    arguments.iter().for_each(|word| self.assigned(word));
                }
                // From standard input, which isn't followed.
                "read" | "mapfile" | "readarray" => self.names.extend(names),
                "printf" if holds => self.names.extend(names.skip(1).take(1)),
                "set" if holds => self.names.extend(POSITIONAL),
                _ => {}
            }
        }
    }

    fn holds(&self, word: &Word) -> bool {
        !word.uses.is_empty() || self.reach(word)
    }

    fn assigned(&mut self, word: &'a Word) {
        let name = word.text.split(['=', '+', '[']).next().unwrap_or_default();
        if self.holds(word) && !name.is_empty() {
            self.names.insert(name);
        }
    }
}

const POSITIONAL: [&str; 11] = ["@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
