//! Assignments and the commands of the shell itself that do more with their arguments than to take them.

use super::super::super::Refusal;
use super::super::words::Word;
use super::super::{lexer, programs};
use super::{Rules, is_integer};

impl Rules<'_> {
    pub(super) fn assignment(&mut self, word: &Word) -> Result<(), Refusal> {
        let equals = word.assignment.unwrap_or_default();
        let target = &word.text[..equals];
        let is_before = |at: usize| at < equals;
        if word.data.iter().any(|&(_, at)| is_before(at)) {
            self.refuse_all(
                std::slice::from_ref(word),
                "is used in a subscript, where it would be evaluated",
                "let the step return a plain integer",
            )?;
        }
        let target = target.trim_end_matches('+');
        let (name, subscript) = target.split_once('[').unwrap_or((target, "0]"));
        // `a[x]=1` evaluates `x`.
        self.evaluates |= word.expansions.is_some_and(|(first, _)| is_before(first))
            || !is_integer(subscript.trim_end_matches(']'));
        if programs::is_special(name) {
            self.takes_orders(word);
            self.expands(std::slice::from_ref(word));
            self.refuse_any(
                word,
                &format!("is assigned to `{name}`, which affects what the shell runs"),
                "use another variable, or write its value literally",
            )?;
        }
        // A command may put there what it reads.
        self.moves_data |= word.has_substitution;
        self.carried.extend(word.uses.clone());
        Ok(())
    }

    /// A variable that decides what runs gets a value: a file, or code.
    fn takes_orders(&mut self, word: &Word) {
        self.runs_file(word);
        let value = word.text.split_once('=').map(|(_, value)| value);
        if let Some(code) = value.filter(|value| value.contains(['$', '`'])) {
            self.shell_code(code);
        }
    }

    pub(super) fn declares(&mut self, arguments: &[Word]) -> Result<(), Refusal> {
        // Integers are evaluated, references name other variables, and arrays are taken apart.
        let has_types = arguments.iter().any(|word| {
            word.text.starts_with(['-', '+']) && word.text.contains(['i', 'n', 'a', 'A'])
        });
        self.evaluates |= has_types;
        for word in arguments {
            // Here quotes don't matter: `export "NAME=value"` is an assignment too.
            let equals = word
                .text
                .find('=')
                .filter(|&at| lexer::is_name(&word.text[..at]));
            let is_after = |at: usize| equals.is_some_and(|equals| at > equals);
            self.evaluates |= word.expansions.is_some_and(|(first, _)| !is_after(first))
                || (equals.is_none() && word.text.contains('['));
            if has_types || !word.data.iter().all(|&(_, at)| is_after(at)) || equals.is_none() {
                self.refuse_all(
                    std::slice::from_ref(word),
                    "is used where the shell expects a name or a number",
                    "write the name literally: `NAME=value`",
                )?;
            }
            if let Some(equals) = equals
                && programs::is_special(&word.text[..equals])
            {
                self.takes_orders(word);
                self.expands(std::slice::from_ref(word));
                self.refuse_any(
                    word,
                    "is assigned to a variable that affects what runs",
                    "use another variable",
                )?;
            }
            self.moves_data |= word.has_substitution;
            self.carried.extend(word.uses.clone());
        }
        Ok(())
    }

    /// `[ … ]` or `[[ … ]]`.
    pub(super) fn test(&mut self, words: &[Word], is_double: bool) -> Result<(), Refusal> {
        let is_numeric = |word: Option<&Word>| {
            word.is_some_and(|word| {
                ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]
                    .iter()
                    .any(|operator| word.is(operator))
            })
        };
        let takes_name =
            |word: Option<&Word>| word.is_some_and(|word| word.is("-v") || word.is("-R"));
        let mut evaluates = false;
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let after = words.get(at + 1);
            let is_evaluated =
                takes_name(before) || (is_double && (is_numeric(before) || is_numeric(after)));
            let is_number =
                word.expansions.is_none() && (word.text.is_empty() || is_integer(&word.text));
            evaluates |= is_evaluated && !is_number;
            if word.uses.is_empty() {
                continue;
            }
            let one = std::slice::from_ref(word);
            if takes_name(before) || is_numeric(before) || is_numeric(after) {
                self.refuse_all(
                    one,
                    "is not a plain integer, and the comparison would evaluate it",
                    "compare text with `=`, or let the step return a plain integer",
                )?;
            }
            let is_order =
                |word: Option<&Word>| word.is_some_and(|word| word.is("<") || word.is(">"));
            if is_double && (is_order(before) || is_order(after)) {
                self.refuse_all(
                    one,
                    "is next to `<` or `>`, which some shells interpret as a redirection",
                    "compare with `=` or `-lt`",
                )?;
            }
            let is_operator = |word: Option<&Word>, operators: &[&str]| {
                word.is_some_and(|word| operators.iter().any(|operator| word.is(operator)))
            };
            let compares = ["=", "==", "!=", "-ef", "-nt", "-ot"];
            let unary = [
                "-n", "-z", "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h",
            ];
            let is_operand = is_double
                || is_operator(before, &compares)
                || is_operator(after, &compares)
                || is_operator(before, &unary)
                || is_numeric(before)
                || is_numeric(after);
            if !is_operand {
                self.option(word)?;
                if before
                    .is_some_and(|before| before.expansions.is_some() && before.text.is_empty())
                {
                    self.refuse_all(
                        one,
                        "is next to an operator that can't be determined",
                        "write the operator literally",
                    )?;
                }
            }
        }
        self.evaluates |= evaluates;
        Ok(())
    }
}

/// Whether a word where the shell expects a name makes it evaluate something, then or later.
pub(super) fn may_evaluate(word: &Word) -> bool {
    word.expansions.is_some() || word.text.contains('[') || programs::is_special(&word.text)
}
