//! Texts with references, on their way into a scenario.

use std::sync::LazyLock;

use cuecard_runtime::policy::{self, Policy, PolicyOptions};
use cuecard_source::value::{Origin, Piece, Text};
use serde_json::{Map, Value};

use crate::scenario::verbatim_text;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
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

/// The recorded text of parts, with what is in no text in place of references.
pub(super) fn without_references(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Variable(..) | Part::Output(..) => "\0",
    });
    texts.collect()
}

pub(super) fn reference(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// A command with references.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) text: String,
    /// The variables of its environment, with their references.
    pub(super) env: Map<String, Value>,
    /// What stays where it may be read as code.
    pub(super) kept: Vec<String>,
    /// The outputs that reach programs of which nothing is known by the environment.
    pub(super) unchecked: Vec<String>,
}

/// The template of a command. Outputs that the policy takes there are references, which it checks in each run. Variables
/// and other outputs are environment variables: what they hold never becomes part of the command. Where that can't be,
/// outputs stay as they were recorded, and variables are references.
pub(super) fn command(parts: &[Part]) -> Command {
    let is_alone = |idx: &usize| in_environment(parts, &[*idx], false).is_some();
    let is_output = |idx: &usize| matches!(parts[*idx], Part::Output(..));
    let places = (0..parts.len()).filter(|&idx| !matches!(parts[idx], Part::Text(_)));
    let (mut bound, left): (Vec<usize>, Vec<usize>) = places.partition(is_alone);
    let is_checked = !left.iter().any(is_output) && takes_data(parts);
    let names = |places: &[usize]| {
        let names = places.iter().filter_map(|idx| match &parts[*idx] {
            Part::Text(_) => None,
            Part::Variable(name, _) | Part::Output(name, _) => Some(name.clone()),
        });
        names.collect::<Vec<String>>()
    };
    if is_checked {
        bound.retain(|idx| !is_output(idx));
    }
    let unchecked: Vec<usize> = bound.iter().copied().filter(is_output).collect();
    let written = match bound.is_empty() && left.is_empty() {
        true => Some((template(parts), Map::new())),
        false => in_environment(parts, &bound, is_checked),
    };
    match written {
        Some((text, env)) => Command {
            text,
            env,
            kept: names(&left),
            unchecked: names(&unchecked),
        },
        None => Command {
            text: parts.iter().map(as_recorded).collect(),
            kept: names(&[bound, left].concat()),
            ..Command::default()
        },
    }
}

/// Whether the policy takes the outputs where they stand, as it takes data; of digits, also others that begin with a zero.
pub(crate) fn takes_data(parts: &[Part]) -> bool {
    static POLICY: LazyLock<Option<Policy>> = LazyLock::new(|| {
        let options = PolicyOptions {
            root: "/".into(),
            working_directory: "/".into(),
            ..PolicyOptions::default()
        };
        Policy::new(options).ok()
    });
    let pieces = parts.iter().map(|part| match part {
        Part::Output(name, text) => match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => of_peer(name, format!("0{text}")),
            false => of_peer(name, text.clone()),
        },
        Part::Text(text) | Part::Variable(_, text) => Piece::author(text),
    });
    let text = Text::new(pieces.collect());
    let policy = POLICY.as_ref();
    policy.is_some_and(|policy| policy.command(&text).is_ok())
}

fn of_peer(name: &str, text: String) -> Piece {
    Piece {
        text,
        is_string: true,
        origin: Origin::Peer,
        reference: Some(name.into()),
    }
}

/// The template of a part of a command that no variable can stand for.
fn as_recorded(part: &Part) -> String {
    match part {
        Part::Text(text) | Part::Output(_, text) => verbatim_text(text),
        Part::Variable(name, _) => reference(name),
    }
}

/// The command with these parts as environment variables, if they can be.
fn in_environment(
    parts: &[Part],
    bound: &[usize],
    is_checked: bool,
) -> Option<(String, Map<String, Value>)> {
    let piece = |(idx, part): (usize, &Part)| match part {
        Part::Variable(name, text) | Part::Output(name, text) if bound.contains(&idx) => {
            of_peer(name, text.clone())
        }
        Part::Output(_, text) if !is_checked => Piece::author(text),
        Part::Variable(name, _) | Part::Output(name, _) => Piece {
            reference: Some(name.as_str().into()),
            ..Piece::author("")
        },
        Part::Text(text) => Piece::author(text),
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
        let is_between = |quote: char| {
            beside(idx.checked_sub(1)).ends_with(quote) && beside(Some(idx + 1)).starts_with(quote)
        };
        let is_bare = variable(name).is_some_and(|used| written.contains(&used));
        // Between single quotes and in a quoted here-document nothing was expanded.
        let is_beside = variable(name).is_some_and(|used| {
            written.contains(&format!("'{used}")) || written.contains(&format!("{used}'"))
        });
        let is_document = parts[..*idx].iter().any(|part| match part {
            Part::Text(text) => ["<<'", "<<\"", "<<\\", "<<-'", "<<-\""]
                .iter()
                .any(|start| text.contains(start)),
            _ => false,
        });
        if is_between('\'') || is_beside || is_document {
            return false;
        }
        // Several words are several arguments, and what the shell expanded is no text.
        let has_several = text.contains(|it: char| it.is_whitespace() || "*?~{[".contains(it));
        (is_bare && !is_between('"') && has_several) || text.contains(['$', '`'])
    };
    let env = pairs
        .iter()
        .map(|(name, of)| (name.clone(), of.as_str().into()));
    (!bound.iter().any(is_split)).then(|| (written, env.collect()))
}
