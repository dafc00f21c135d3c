//! Data that would be an option because it begins with `-`.

use super::super::super::Refusal;
use super::super::super::source::reference;
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
            if is_shielded || word.data.is_empty() {
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
