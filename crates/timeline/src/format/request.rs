//! What a request to a model must be like: `match`, and the parts of `assert.request`.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json_path::JsonPath;

use super::pieces::{filled, invalid, json_path, pattern};
use crate::model::{JsonTest, RequestCheck, RequestMatch, TextTest};
use cuecard_source::checked;
use cuecard_source::decode::{entries, nullable, one_or_many};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::Json;

checked!(RequestMatch);
checked!(always JsonForm);

impl RequestMatch {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
    }
}

/// A text that must be contained, or one test.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(untagged, rename = "text_test")]
pub(crate) enum TextTestForm {
    String(#[serde(deserialize_with = "filled")] String),
    Object(#[serde(with = "TextTest")] TextTest),
}

impl<'de> Deserialize<'de> for TextTest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match TextTestForm::deserialize(deserializer)? {
            TextTestForm::String(part) => Self::Contains(part),
            TextTestForm::Object(test) => test,
        })
    }
}

/// Reads the tests of headers, by lower-case name.
pub(crate) fn header_tests<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, TextTest)>, D::Error> {
    let mut tests: Vec<(String, TextTest)> = entries(deserializer)?;
    for (name, _) in &mut tests {
        name.make_ascii_lowercase();
    }
    Ok(tests)
}

/// Reads the checks of a body.
pub(crate) fn json_checks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<RequestCheck>, D::Error> {
    let forms: Vec<JsonForm> = one_or_many(deserializer)?;
    Ok(forms.into_iter().map(RequestCheck::from).collect())
}

/// What must hold of one of the values at a path in the body of a request.
#[derive(Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub(crate) struct JsonForm {
    /// JSONPath into the body.
    #[serde(deserialize_with = "json_path")]
    #[schemars(with = "String")]
    path: JsonPath,
    /// The value.
    #[serde(default, alias = "?equals", deserialize_with = "nullable")]
    equals: Option<Json>,
    /// A part of the text.
    #[serde(default, deserialize_with = "filled")]
    contains: Option<String>,
    /// Regular expression that the text fits.
    #[serde(default, deserialize_with = "pattern")]
    #[schemars(with = "String")]
    regex: Option<Regex>,
    /// Whether there is such a value.
    exists: Option<bool>,
}

impl JsonForm {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let others = ["contains", "regex", "exists"];
        let n_others = others
            .into_iter()
            .filter(|key| reader.get(object, key).is_some())
            .count();
        if n_others + usize::from(object.get("equals").is_some()) != 1 {
            let message =
                "a check of `json` needs one of `equals`, `contains`, `regex` and `exists`";
            invalid(reader, object.node.span, object.pointer, message);
        }
    }
}

impl From<JsonForm> for RequestCheck {
    fn from(form: JsonForm) -> Self {
        let text = form.contains.map(TextTest::Contains);
        let text = text.or(form.regex.map(TextTest::Regex));
        let test = text
            .map(JsonTest::Text)
            .or(form.equals.map(JsonTest::Equals));
        Self::Json {
            path: form.path,
            test: test.unwrap_or(JsonTest::Exists(form.exists != Some(false))),
        }
    }
}
