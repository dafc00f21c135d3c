//! Data that would be an option because it begins with `-`.

use super::super::super::Refusal;
use super::super::super::source::{is_integer, reference};
use super::super::programs::Kind;
use super::super::words::Word;
use super::{Rules, refusal};

impl<'a> Rules<'a> {
    /// Data that begins with `-` and stands where a program expects an option.
    pub(super) fn options(&self, arguments: &[Word], kind: Kind) -> Result<(), Refusal> {
        let mut is_shielded = false;
        let format = arguments.iter().position(|word| !word.is("--"));
        for (at, word) in arguments.iter().enumerate() {
            is_shielded |= word.is("--");
            if is_shielded {
                continue;
            }
            if word.data.is_empty() {
                if matches!(kind, Kind::Plain | Kind::ChangesDirectory) {
                    self.option_by_expansion(word)?;
                }
                continue;
            }
            let is_exempt = match kind {
                Kind::Ignores => true,
                Kind::Echo => !self.is_option_of_echo(word),
                Kind::Printf => format.is_some_and(|format| at > format),
                _ => false,
            };
            if !is_exempt {
                self.option(word)?;
            }
        }
        Ok(())
    }

    /// Data that gets into a word by a variable, the output of a command or the name of a file, and may begin with `-`
    /// there: `f={{step.name}}; tar cf x.tar "$f"`.
    fn option_by_expansion(&self, word: &Word) -> Result<(), Refusal> {
        let begins = word.expansions.is_some_and(|(first, _)| first == 0) && !word.is_descriptor;
        let may_hold_data =
            (begins && (word.has_substitution || self.carriers.reach(word))) || word.is_any_name();
        if !may_hold_data {
            return Ok(());
        }
        let is_option = |text: &str| {
            let mut rest = text.strip_prefix('-').unwrap_or_default().chars();
            rest.next().is_some_and(|next| !next.is_whitespace())
        };
        let found = self.source.data.iter().find(|piece| {
            // Without quotes the shell makes several words of it.
            is_option(&piece.text)
                || piece.text.split_whitespace().any(is_option)
                    && (!word.is_quoted || word.has_substitution || word.is_any_name())
        });
        match found.filter(|piece| !is_integer(&piece.text)) {
            Some(piece) => Err(refusal(
                piece,
                "may begin with `-` in an argument, where it would be an option",
                "write `--` before that argument, or a path that begins with `./`",
            )),
            None => Ok(()),
        }
    }

    fn is_option_of_echo(&self, word: &Word) -> bool {
        let value: String = self
            .beginning(word)
            .map(|(character, _)| character)
            .collect();
        value.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty()
                && letters
                    .chars()
                    .all(|letter| matches!(letter, 'n' | 'e' | 'E'))
        })
    }

    pub(super) fn option(&self, word: &Word) -> Result<(), Refusal> {
        let value: Vec<(char, Option<usize>)> = self.beginning(word).collect();
        let [('-', dash), (second, _), ..] = value[..] else {
            return Ok(());
        };
        // No program has an option that is a blank: this is a list item, or a sentence.
        if second.is_whitespace() {
            return Ok(());
        }
        let name_end = match second {
            '-' => value
                .iter()
                .position(|&(character, _)| character == '=')
                .unwrap_or(value.len()),
            _ => 2,
        };
        let is_number = dash.is_none()
            && value[1..]
                .iter()
                .all(|(character, _)| character.is_ascii_digit());
        match value[..name_end].iter().find_map(|&(_, number)| number) {
            Some(number) if !is_number => {
                let piece = self.piece(number);
                let it = reference(piece);
                Err(refusal(
                    piece,
                    "begins with `-` where it would be an option",
                    &format!(
                        "write `--` before it, `./{it}` for a path, or `--name={it}` for the value of an option"
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// The first characters that a word will have, each with the use it came from. What is expanded counts as empty.
    fn beginning(&self, word: &'a Word) -> impl Iterator<Item = (char, Option<usize>)> {
        let mut done = 0;
        let mut parts: Vec<(&str, Option<usize>)> = Vec::new();
        for &(number, at) in &word.data {
            parts.push((&word.text[done..at], None));
            parts.push((&self.piece(number).text, Some(number)));
            done = at;
        }
        parts.push((&word.text[done..], None));
        parts
            .into_iter()
            .flat_map(|(text, number)| text.chars().map(move |character| (character, number)))
            .take(256)
    }
}
