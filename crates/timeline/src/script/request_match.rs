//! Whether a request is as a scenario's `match`, or an `assert` of it, wants it.

use super::request::{Endpoint, Part, Request, Role};
use crate::model::{ApiName, JsonTest, RequestCheck, RequestMatch, TextTest};
use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, as_text, cut};

/// More of what a request has is not shown, in bytes.
const MAX_SHOWN: usize = 200;

impl RequestMatch {
    /// The first condition that `request` does not meet, in words.
    pub(super) fn unmet(&self, request: &Request) -> Option<String> {
        if let Some(api) = self.api.map(ApiName::as_str)
            && !is_api(api, request.endpoint)
        {
            return Some(format!(
                "`api` is `{}`, not `{api}`",
                request.endpoint.as_str()
            ));
        }
        if let Some(model) = &self.model
            && !model.pattern.is_match(&request.model)
        {
            let name = cut(&request.model, MAX_SHOWN);
            return Some(format!("`model` is `{name}`, not `{}`", model.text));
        }
        if let Some(test) = &self.system
            && !test.holds(&request.system)
        {
            return Some(format!("`system` is not {}", test.describe()));
        }
        let is_advertised = |name: &&String| request.tools.iter().any(|tool| tool.name == **name);
        if let Some(name) = self.tools.iter().find(|name| !is_advertised(name)) {
            return Some(format!("`{name}` is not among its tools"));
        }
        let holds = |(name, test): &&(String, TextTest)| {
            let mut own = request.headers.iter().filter(|(known, _)| known == name);
            own.any(|(_, value)| test.holds(value))
        };
        if let Some((name, test)) = self.headers.iter().find(|header| !holds(header)) {
            return Some(format!("the header `{name}` is not {}", test.describe()));
        }
        if let Some(test) = &self.text
            && !first_texts(request).any(|text| test.holds(text))
        {
            return Some(format!("no text of the user's is {}", test.describe()));
        }
        let body = request.body.as_deref().unwrap_or(&Json::Null);
        let checks = self.json.iter();
        let mut checked = checks.map(|check| check_request(check, request, body));
        let (_, seen) = checked.find(|(holds, _)| !holds)?;
        Some(seen)
    }

    /// Whether no request can meet the conditions of both, as far as their words tell: they want the same thing to be
    /// different.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        fn differ<T>(one: Option<T>, other: Option<T>, text: impl Fn(&T) -> String) -> bool {
            matches!((one, other), (Some(one), Some(other)) if text(&one) != text(&other))
        }
        let describe = |test: &&TextTest| test.describe();
        let has =
            |tools: &[String], other: &[String]| other.iter().all(|name| tools.contains(name));
        differ(self.api, other.api, |api| api.as_str().to_owned())
            || differ(self.model.as_ref(), other.model.as_ref(), |model| {
                model.text.clone()
            })
            || differ(self.system.as_ref(), other.system.as_ref(), describe)
            || differ(self.text.as_ref(), other.text.as_ref(), describe)
            || self.headers.iter().any(|(name, test)| {
                let same = other.headers.iter().find(|(known, _)| known == name);
                same.is_some_and(|(_, other)| other.describe() != test.describe())
            })
            || self.json.iter().any(|check| {
                let mut others = other.json.iter();
                others.any(|other| wants_another_value(check, other))
            })
            || (!has(&self.tools, &other.tools) && !has(&other.tools, &self.tools))
    }
}

/// Whether two checks want the same part of a body to be different.
fn wants_another_value(one: &RequestCheck, other: &RequestCheck) -> bool {
    match (one, other) {
        (
            RequestCheck::Json { path, test },
            RequestCheck::Json {
                path: same,
                test: other,
            },
        ) => path == same && test.describe() != other.describe(),
        _ => false,
    }
}

fn is_api(api: &str, endpoint: Endpoint) -> bool {
    api == endpoint.as_str()
        || match endpoint {
            Endpoint::Chat | Endpoint::Responses => api == "openai",
            Endpoint::Messages => api == "anthropic",
            Endpoint::Gemini => false,
        }
}

/// The user's texts before the first answer.
fn first_texts(request: &Request) -> impl Iterator<Item = &str> {
    let first = request
        .history
        .iter()
        .take_while(|message| message.role == Role::User);
    let parts = first.flat_map(|message| &message.parts);
    parts.filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Whether `check` holds of a request with this body, and what was seen.
pub fn check_request(check: &RequestCheck, request: &Request, body: &Json) -> (bool, String) {
    match check {
        RequestCheck::Model(model) => (
            model.pattern.is_match(&request.model),
            format!(
                "the model is `{}`, expected `{}`",
                cut(&request.model, MAX_SHOWN),
                model.text
            ),
        ),
        RequestCheck::System(test) => (
            test.holds(&request.system),
            format!(
                "the system text is {:?}, expected {}",
                cut(&request.system, MAX_SHOWN),
                test.describe()
            ),
        ),
        RequestCheck::Tool { name, is_there } => {
            let found = request.tools.iter().any(|tool| tool.name == *name);
            let verb = if found { "is" } else { "is not" };
            (
                found == *is_there,
                format!("the tool `{name}` {verb} advertised"),
            )
        }
        RequestCheck::Json { path, test } => {
            let found = path.query(body).all();
            let holds = match test {
                JsonTest::Exists(exists) => found.is_empty() != *exists,
                JsonTest::Equals(wanted) => found.iter().any(|json| is_same_json(json, wanted)),
                JsonTest::Text(test) => found.iter().any(|json| test.holds(&as_text(json))),
            };
            let shown = match found[..] {
                [] => "nothing".to_owned(),
                [only] => cut(&only.to_string(), MAX_SHOWN).into_owned(),
                [first, ..] => format!("{} and more", cut(&first.to_string(), MAX_SHOWN)),
            };
            let wanted = test.describe();
            let wanted = cut(&wanted, MAX_SHOWN);
            (holds, format!("`{path}` is {shown}, expected {wanted}"))
        }
    }
}
