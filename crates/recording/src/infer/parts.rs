//! Texts with references, on their way into a scenario.

use cuecard_runtime::policy;
use cuecard_source::value::{Origin, Piece, Text};
use serde_json::{Map, Value};

use crate::scenario::verbatim_text;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Recorded text.
    Text(String),
    /// A variable, with the text that it stands for, if that may be seen.
    Variable(String, String),
    /// `step.output`, with the text that it stands for.
    Output(String, String),
}

/// The template of a text.
pub(super) fn template(parts: &[Part]) -> String {
    let written = parts.iter().map(|part| match part {
        Part::Text(text) => verbatim_text(text),
        Part::Variable(name, _) | Part::Output(name, _) => reference(name),
    });
    written.collect()
}

pub(super) fn reference(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// The template of a command, with variables and outputs in it as environment variables: what they hold never becomes part
/// of the command. Where that can't be, outputs stay as they were recorded, variables are references, and both are given
/// back.
pub(super) fn command(parts: &[Part]) -> (String, Map<String, Value>, Vec<String>) {
    let is_alone = |idx: &usize| in_environment(parts, &[*idx]).is_some();
    let places = (0..parts.len()).filter(|&idx| !matches!(parts[idx], Part::Text(_)));
    let (bound, left): (Vec<usize>, Vec<usize>) = places.partition(is_alone);
    let name = |idx: usize| match &parts[idx] {
        Part::Text(_) => None,
        Part::Variable(name, _) | Part::Output(name, _) => Some(name.clone()),
    };
    let (written, env, kept) = match in_environment(parts, &bound) {
        Some((written, env)) => (written, env, left),
        None => {
            let written = parts.iter().map(as_recorded);
            let all = bound.into_iter().chain(left).collect();
            (written.collect(), Map::new(), all)
        }
    };
    (written, env, kept.into_iter().filter_map(name).collect())
}

/// The template of a part of a command that no variable can stand for.
fn as_recorded(part: &Part) -> String {
    match part {
        Part::Text(text) | Part::Output(_, text) => verbatim_text(text),
        Part::Variable(name, _) => reference(name),
    }
}

/// The command with these parts as environment variables, if they can be.
fn in_environment(parts: &[Part], bound: &[usize]) -> Option<(String, Map<String, Value>)> {
    let piece = |(idx, part): (usize, &Part)| match part {
        Part::Variable(name, text) | Part::Output(name, text) if bound.contains(&idx) => Piece {
            text: text.clone(),
            is_string: true,
            origin: Origin::Peer,
            reference: Some(name.as_str().into()),
        },
        Part::Variable(name, _) => Piece {
            reference: Some(name.as_str().into()),
            ..Piece::author("")
        },
        Part::Text(text) | Part::Output(_, text) => Piece::author(text),
    };
    let pieces = parts.iter().enumerate().map(piece).collect();
    let (written, pairs) = policy::in_environment(&Text::new(pieces))?;
    let variable = |name: &str| {
        let pair = pairs.iter().find(|(_, of)| *of == reference(name));
        pair.map(|(variable, _)| format!("\"${{{variable}}}\""))
    };
    let is_split = |idx: &usize| {
        let (Part::Variable(name, text) | Part::Output(name, text)) = &parts[*idx] else {
            return false;
        };
        let beside = |idx: Option<usize>| match idx.and_then(|idx| parts.get(idx)) {
            Some(Part::Text(text)) => text.as_str(),
            _ => "",
        };
        let is_quoted =
            beside(idx.checked_sub(1)).ends_with('"') && beside(Some(idx + 1)).starts_with('"');
        // Between single quotes, the rewriting ends and begins those.
        let is_bare = variable(name).is_some_and(|used| {
            let is_beside_quote =
                written.contains(&format!("'{used}")) || written.contains(&format!("{used}'"));
            written.contains(&used) && !is_beside_quote
        });
        // Several words are several arguments.
        is_bare && !is_quoted && text.contains(|it: char| it.is_whitespace() || "*?~".contains(it))
    };
    let env = pairs
        .iter()
        .map(|(name, of)| (name.clone(), of.as_str().into()));
    (!bound.iter().any(is_split)).then(|| (written, env.collect()))
}
