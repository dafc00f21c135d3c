//! Variables and secrets of browser scenarios: what was given, what is missing, what nothing reads.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use cuecard_browser::stage::Values;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, as_text};
use cuecard_tool_call::script::short_secret;

use crate::args::VariableArgs;
use crate::inputs;

/// What a file of this kind declares.
pub(super) struct Declared<'a> {
    /// Variables with their defaults; none if a value must be given.
    pub variables: Vec<(&'a str, Option<&'a Json>)>,
    /// Names of secrets.
    pub secrets: &'a [String],
    /// The texts in which references stand.
    pub texts: Vec<&'a str>,
}

/// Values, and what is wrong with them.
pub(super) struct Resolved {
    pub values: Values,
    /// The names of all secrets, those of the command line too.
    pub secrets: Vec<String>,
    /// The names that have a value.
    pub given: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves values: defaults of the file, then what was given. Secrets that nobody gave are asked for on a terminal.
/// With `needs_secrets` off, as when nothing is typed anywhere, they may be without values.
pub(super) fn resolve(
    args: &VariableArgs,
    declared: &Declared<'_>,
    environment: &[(OsString, OsString)],
    needs_secrets: bool,
) -> Resolved {
    let given = inputs::variables_of(args, environment);
    let mut diagnostics = given.diagnostics;
    let mut secrets: Vec<String> = declared.secrets.to_vec();
    secrets.extend(args.secrets.iter().cloned());
    let is_declared = |name: &str| {
        declared.variables.iter().any(|(known, _)| *known == name)
            || declared.secrets.iter().any(|secret| secret == name)
    };
    let refers = |name: &str| declared.texts.iter().any(|text| has_reference(text, name));
    let mut all: Vec<(String, String)> = declared
        .variables
        .iter()
        .filter_map(|(name, value)| Some(((*name).to_owned(), as_text((*value)?).into_owned())))
        .collect();
    for one in &given.given {
        let is_known = is_declared(&one.name) || refers(&one.name);
        if !is_known && !one.may_be_unknown {
            diagnostics.push(unknown(&one.name, declared));
        }
        if !is_known {
            continue;
        }
        if one.secret {
            secrets.push(one.name.clone());
        }
        all.retain(|(name, _)| *name != one.name);
        all.push((one.name.clone(), as_text(&one.value).into_owned()));
    }
    secrets.sort();
    secrets.dedup();
    for name in &secrets {
        let value = all.iter().find(|(known, _)| known == name);
        if let Some((_, value)) =
            value.filter(|_| declared.secrets.contains(name) && !args.secrets.contains(name))
        {
            diagnostics.extend(short_secret(name, &value.as_str().into()));
        }
        if value.is_some() || !needs_secrets || !refers(name) {
            continue;
        }
        match inputs::secret(name, environment) {
            Ok(value) => all.push((name.clone(), value)),
            Err(missing) => diagnostics.push(missing),
        }
    }
    let (hidden, open): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(name, _)| secrets.contains(name));
    let given = open
        .iter()
        .map(|(name, _)| name.clone())
        // What a secret lacks is said already.
        .chain(secrets.iter().cloned())
        .collect();
    Resolved {
        values: Values::new(open, hidden),
        secrets,
        given,
        diagnostics,
    }
}

/// Whether a terminal could be asked.
pub(super) fn is_interactive() -> bool {
    io::stdin().is_terminal()
}

fn has_reference(text: &str, name: &str) -> bool {
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let inner = &rest[start + 2..];
        let Some(end) = inner.find("}}") else {
            return false;
        };
        if inner[..end].trim() == name {
            return true;
        }
        rest = &inner[end + 2..];
    }
    false
}

fn unknown(name: &str, declared: &Declared<'_>) -> Diagnostic {
    let known = declared
        .variables
        .iter()
        .map(|(name, _)| *name)
        .chain(declared.secrets.iter().map(String::as_str));
    let error = Diagnostic::error(
        codes::VARIABLE_UNKNOWN,
        format!("the scenario has no variable `{name}`"),
    );
    match did_you_mean(name, known) {
        Some(proposal) => error.with_help(format!("did you mean `{proposal}`?")),
        None => error,
    }
}
