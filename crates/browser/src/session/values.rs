//! Binds variables: what the file says, then what the user gave, the later the stronger.

use std::collections::BTreeMap;

use cuecard_source::value::{Json, as_text, is_credential};
use cuecard_tool_call::script::Given;

use crate::stage::Values;

/// What a file says about its variables.
#[derive(Debug, Clone, Copy)]
pub struct Declared<'a> {
    /// Names with their defaults; null where a value must be given.
    pub variables: &'a serde_json::Map<String, Json>,
    /// Names whose values are never shown.
    pub secrets: &'a [String],
}

/// The values of a file's variables; a later entry of `given` wins. What nobody gave has none.
pub fn bind(declared: Declared<'_>, given: &[Given]) -> Values {
    let mut bound: BTreeMap<&str, (&Json, bool)> = BTreeMap::new();
    let is_secret = |name: &str, value: &Json| {
        declared.secrets.iter().any(|secret| secret == name) || is_credential(name, value)
    };
    for (name, value) in declared.variables {
        if !value.is_null() {
            bound.insert(name, (value, is_secret(name, value)));
        }
    }
    for one in given {
        let is_secret = one.secret || is_secret(&one.name, &one.value);
        bound.insert(&one.name, (&one.value, is_secret));
    }
    let (mut variables, mut secrets) = (Vec::new(), Vec::new());
    for (name, (value, is_secret)) in bound {
        let pair = (name.to_owned(), as_text(value).into_owned());
        match is_secret {
            true => secrets.push(pair),
            false => variables.push(pair),
        }
    }
    Values::new(variables, secrets)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_user_gives_is_stronger_and_secrets_are_told_apart() {
        let Json::Object(variables) = json!({"USER": "ana", "AGE": 7, "PIN": null, "FLAG": true})
        else {
            panic!("an object");
        };
        let given = |name: &str, value: &str, secret| Given {
            name: name.to_owned(),
            value: value.into(),
            from: "--var".to_owned(),
            secret,
            may_be_unknown: false,
        };
        let declared = Declared {
            variables: &variables,
            secrets: &["PIN".to_owned()],
        };
        let values = bind(
            declared,
            &[
                given("USER", "bob", false),
                given("USER", "eve", false),
                given("PIN", "482913", false),
                given("CODE", "x99zzz", true),
            ],
        );
        assert_eq!(
            values.fill("{{USER}} {{AGE}} {{FLAG}} {{PIN}} {{CODE}} {{NO}}"),
            "eve 7 true 482913 x99zzz {{NO}}"
        );
        assert_eq!(values.in_words("{{PIN}} {{CODE}}"), "*** ***");
        assert_eq!(values.variables().len(), 3);
    }
}
