//! Binds the variables and secrets of a file: what it says, then what the user gave, the later the stronger.

use cuecard_browser_steps::format::Declared;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{as_text, is_credential};
use cuecard_tool_call::script::{Given, short_secret};

use crate::stage::Values;

/// What becomes of a secret that a text refers to and that nobody gave.
pub enum Missing<'a> {
    /// It is asked for; what can't be had is a finding.
    Ask(&'a mut dyn FnMut(&str) -> Result<String, Diagnostic>),
    /// It has no value, like any other variable that nobody gave; nor must a secret of this name be known.
    Leave,
}

/// Values, and what is wrong with them.
#[derive(Debug)]
pub struct Bound {
    /// The values.
    pub values: Values,
    /// The names of all secrets, those that the user marked too.
    pub secrets: Vec<String>,
    /// The names of which it needs not be said that they have no value.
    pub names: Vec<String>,
    /// What is wrong with what was given.
    pub diagnostics: Vec<Diagnostic>,
}

/// Binds the variables of a file; a later entry of `given` wins. `marked` are the names of which the user says that they
/// are secrets.
pub fn bind(
    declared: &Declared<'_>,
    given: &[Given],
    marked: &[String],
    mut missing: Missing<'_>,
) -> Bound {
    let mut diagnostics = Vec::new();
    let is_known =
        |name: &str| declared.names().any(|known| known == name) || declared.refers(name);
    let (marked, unknown_secrets): (Vec<String>, Vec<String>) =
        marked.iter().cloned().partition(|name| is_known(name));
    // Other scenarios of a suite may have them.
    if !matches!(missing, Missing::Leave) {
        let found = unknown_secrets.iter().map(|name| unknown(name, declared));
        diagnostics.extend(found);
    }
    let mut secrets = [declared.secrets, &marked].concat();
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, default) in &declared.variables {
        let Some(default) = default else { continue };
        if is_credential(name, default) {
            secrets.push((*name).to_owned());
        }
        all.push(((*name).to_owned(), as_text(default).into_owned()));
    }
    for one in given {
        if !is_known(&one.name) {
            if !one.may_be_unknown && !unknown_secrets.contains(&one.name) {
                diagnostics.push(unknown(&one.name, declared));
            }
            continue;
        }
        if one.secret || is_credential(&one.name, &one.value) {
            secrets.push(one.name.clone());
        }
        all.retain(|(name, _)| *name != one.name);
        all.push((one.name.clone(), as_text(&one.value).into_owned()));
    }
    secrets.sort();
    secrets.dedup();
    let mut without_value = Vec::new();
    for name in &secrets {
        if let Some((_, value)) = all.iter().find(|(known, _)| known == name) {
            // Those that the user marked were looked at when they were given.
            if declared.secrets.contains(name) && !marked.contains(name) {
                diagnostics.extend(short_secret(name, &value.as_str().into()));
            }
            continue;
        }
        if !declared.refers(name) {
            continue;
        }
        match &mut missing {
            Missing::Ask(ask) => match ask(name) {
                Ok(value) => all.push((name.clone(), value)),
                Err(error) => diagnostics.push(error),
            },
            Missing::Leave => without_value.push(name.clone()),
        }
    }
    let (hidden, open): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(name, _)| secrets.contains(name));
    let names = open
        .iter()
        .map(|(name, _)| name.clone())
        .chain(
            secrets
                .iter()
                .filter(|name| !without_value.contains(*name))
                .cloned(),
        )
        .collect();
    Bound {
        values: Values::new(open, hidden),
        secrets,
        names,
        diagnostics,
    }
}

fn unknown(name: &str, declared: &Declared<'_>) -> Diagnostic {
    let error = Diagnostic::error(
        codes::VARIABLE_UNKNOWN,
        format!("the scenario has no variable `{name}`"),
    );
    match did_you_mean(name, declared.names()) {
        Some(proposal) => error.with_help(format!("did you mean `{proposal}`?")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use cuecard_browser_steps::format::ReferringText;
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> Vec<ReferringText<'_>> {
        vec![ReferringText {
            text,
            span: None,
            pointer: "/url".to_owned(),
        }]
    }

    fn given(name: &str, value: &str, secret: bool) -> Given {
        Given {
            name: name.to_owned(),
            value: value.into(),
            from: "--var".to_owned(),
            secret,
            may_be_unknown: false,
        }
    }

    #[test]
    fn what_the_user_gives_is_stronger_and_secrets_are_told_apart() {
        let (user, age, flag) = (json!("ana"), json!(7), json!(true));
        let token = json!("Kx82mQpLz91tRw04");
        let declared = Declared {
            variables: vec![
                ("USER", Some(&user)),
                ("AGE", Some(&age)),
                ("PIN", None),
                ("FLAG", Some(&flag)),
                ("API_TOKEN", Some(&token)),
            ],
            secrets: &["PIN".to_owned()],
            texts: text("{{CODE}} {{NO}}"),
        };
        let bound = bind(
            &declared,
            &[
                given("USER", "bob", false),
                given("USER", "eve", false),
                given("PIN", "482913", false),
                given("CODE", "x99zzz", true),
                given("AGEE", "8", false),
            ],
            &[],
            Missing::Leave,
        );
        assert_eq!(
            bound
                .values
                .fill("{{USER}} {{AGE}} {{FLAG}} {{PIN}} {{CODE}} {{NO}}"),
            "eve 7 true 482913 x99zzz {{NO}}"
        );
        let shown = bound.values.in_words("{{PIN}} {{CODE}} {{API_TOKEN}}");
        assert_eq!(shown, "***PIN*** ***CODE*** ***API_TOKEN***");
        assert_eq!(bound.values.variables().len(), 3);
        let messages: Vec<&str> = bound
            .diagnostics
            .iter()
            .map(|one| one.message.as_str())
            .collect();
        assert_eq!(messages, ["the scenario has no variable `AGEE`"]);
    }

    #[test]
    fn a_secret_that_nobody_gave_is_asked_for_left_or_not_needed() {
        let secrets = ["PIN".to_owned(), "UNUSED".to_owned()];
        let declared = Declared {
            variables: Vec::new(),
            secrets: &secrets,
            texts: text("enter {{PIN}}"),
        };
        let bound = |missing| bind(&declared, &[], &[], missing);
        let mut ask = |name: &str| Ok(format!("{name}-482913"));
        assert_eq!(
            bound(Missing::Ask(&mut ask)).values.fill("{{PIN}}"),
            "PIN-482913"
        );
        assert_eq!(bound(Missing::Leave).names, ["UNUSED"]);
        let mut refuse = |_: &str| Err(Diagnostic::error(codes::ARGUMENT, "nobody is there"));
        let refused = bound(Missing::Ask(&mut refuse));
        assert_eq!((refused.names.len(), refused.diagnostics.len()), (2, 1));
    }
}
