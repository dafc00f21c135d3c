//! What clients ask beside answers: which models there are, how many tokens a request has, whether all is well.

use cuecard_timeline::script::Endpoint;
use serde::Serialize;

use super::errors::ApiError;

/// When each model came out, as far as anyone is told: the day has no meaning.
const CREATED: u64 = 1_735_689_600;
const CREATED_AT: &str = "2025-01-01T00:00:00Z";
/// How many tokens a model takes and gives, as far as anyone is told.
const INPUT_LIMIT: u64 = 1_048_576;
const OUTPUT_LIMIT: u64 = 65_536;

/// The list of models with these names, in the form of an API.
pub fn models(endpoint: Endpoint, names: &[&str]) -> Vec<u8> {
    match endpoint {
        Endpoint::Chat | Endpoint::Responses => body(&OpenAiModels {
            object: "list",
            data: names.iter().map(|name| OpenAiModel::of(name)).collect(),
        }),
        Endpoint::Messages => body(&AnthropicModels {
            data: names.iter().map(|name| AnthropicModel::of(name)).collect(),
            has_more: false,
            first_id: names.first().copied(),
            last_id: names.last().copied(),
        }),
        Endpoint::Gemini => body(&GeminiModels {
            models: names.iter().map(|name| GeminiModel::of(name)).collect(),
        }),
    }
}

/// One model, in the form of an API.
pub fn model(endpoint: Endpoint, name: &str) -> Vec<u8> {
    match endpoint {
        Endpoint::Chat | Endpoint::Responses => body(&OpenAiModel::of(name)),
        Endpoint::Messages => body(&AnthropicModel::of(name)),
        Endpoint::Gemini => body(&GeminiModel::of(name)),
    }
}

/// The 404 about a model that there isn't.
pub fn unknown_model(endpoint: Endpoint, name: &str) -> ApiError {
    match endpoint {
        Endpoint::Chat | Endpoint::Responses => {
            let mut error = ApiError::new(404, format!("The model '{name}' does not exist"));
            error.param = Some("model".to_owned());
            error.code = Some("model_not_found".to_owned());
            error
        }
        Endpoint::Messages => ApiError::new(404, format!("model: {name}")),
        Endpoint::Gemini => ApiError::new(
            404,
            format!(
                "models/{name} is not found for API version v1beta, or is not supported for generateContent. Call \
                 ListModels to see the list of available models and their supported methods."
            ),
        ),
    }
}

/// The number of tokens of a request, in the form of an API.
pub fn token_count(endpoint: Endpoint, tokens: u64) -> Vec<u8> {
    match endpoint {
        Endpoint::Gemini => body(&GeminiCount {
            total_tokens: tokens,
        }),
        Endpoint::Messages => body(&Count {
            input_tokens: tokens,
            object: None,
        }),
        Endpoint::Chat | Endpoint::Responses => body(&Count {
            input_tokens: tokens,
            object: Some("response.input_tokens"),
        }),
    }
}

/// That the server is well, with how many scenarios and sessions.
pub fn health(scenarios: usize, sessions: usize) -> Vec<u8> {
    body(&Health {
        status: "ok",
        scenarios,
        sessions,
    })
}

fn body(json: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(json).expect("JSON with texts as keys is written to memory")
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    scenarios: usize,
    sessions: usize,
}

#[derive(Serialize)]
struct Count {
    input_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCount {
    total_tokens: u64,
}

#[derive(Serialize)]
struct OpenAiModels<'a> {
    object: &'static str,
    data: Vec<OpenAiModel<'a>>,
}

#[derive(Serialize)]
struct OpenAiModel<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

impl<'a> OpenAiModel<'a> {
    fn of(id: &'a str) -> Self {
        Self {
            id,
            object: "model",
            created: CREATED,
            owned_by: "cuecard",
        }
    }
}

#[derive(Serialize)]
struct AnthropicModels<'a> {
    data: Vec<AnthropicModel<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

#[derive(Serialize)]
struct AnthropicModel<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    display_name: &'a str,
    created_at: &'static str,
    lifecycle: &'static str,
}

impl<'a> AnthropicModel<'a> {
    fn of(id: &'a str) -> Self {
        Self {
            kind: "model",
            id,
            display_name: id,
            created_at: CREATED_AT,
            lifecycle: "active",
        }
    }
}

#[derive(Serialize)]
struct GeminiModels<'a> {
    models: Vec<GeminiModel<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiModel<'a> {
    name: String,
    version: &'static str,
    display_name: &'a str,
    input_token_limit: u64,
    output_token_limit: u64,
    supported_generation_methods: [&'static str; 3],
}

impl<'a> GeminiModel<'a> {
    fn of(name: &'a str) -> Self {
        Self {
            name: format!("models/{name}"),
            version: "001",
            display_name: name,
            input_token_limit: INPUT_LIMIT,
            output_token_limit: OUTPUT_LIMIT,
            supported_generation_methods: [
                "generateContent",
                "streamGenerateContent",
                "countTokens",
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::value::Json;
    use serde_json::json;

    fn json(body: &[u8]) -> Json {
        serde_json::from_slice(body).expect("JSON")
    }

    #[test]
    fn each_api_has_its_own_list() {
        let list = json(&models(Endpoint::Chat, &["a", "b"]));
        assert_eq!(list["data"][1]["id"], "b");
        let list = json(&models(Endpoint::Messages, &["a", "b"]));
        assert_eq!(
            (&list["first_id"], &list["last_id"]),
            (&json!("a"), &json!("b"))
        );
        let list = json(&models(Endpoint::Gemini, &["a"]));
        assert_eq!(list["models"], json!([json(&model(Endpoint::Gemini, "a"))]));
        assert_eq!(
            json(&models(Endpoint::Messages, &[]))["first_id"],
            Json::Null
        );
    }

    #[test]
    fn a_count_has_the_name_that_each_api_gives_it() {
        assert_eq!(
            json(&token_count(Endpoint::Messages, 7)),
            json!({"input_tokens": 7})
        );
        assert_eq!(
            json(&token_count(Endpoint::Gemini, 7)),
            json!({"totalTokens": 7})
        );
    }

    #[test]
    fn an_unknown_model_is_not_found() {
        let error = json(&unknown_model(Endpoint::Chat, "x").body(Endpoint::Chat));
        assert_eq!(error["error"]["code"], "model_not_found");
        let error = json(&unknown_model(Endpoint::Messages, "x").body(Endpoint::Messages));
        assert_eq!(
            error["error"],
            json!({"type": "not_found_error", "message": "model: x"})
        );
        let error = json(&unknown_model(Endpoint::Gemini, "x").body(Endpoint::Gemini));
        assert_eq!(error["error"]["status"], "NOT_FOUND");
    }
}
