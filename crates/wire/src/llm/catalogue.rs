//! What clients ask beside answers: which models there are, how many tokens a request has, whether all is well.

use cuecard_source::value::Json;
use cuecard_timeline::script::Endpoint;
use serde_json::json;

use super::errors::ApiError;

/// When each model came out, as far as anyone is told: the day has no meaning.
const CREATED: u64 = 1_735_689_600;
const CREATED_AT: &str = "2025-01-01T00:00:00Z";
/// How many tokens a model takes and gives, as far as anyone is told.
const INPUT_LIMIT: u64 = 1_048_576;
const OUTPUT_LIMIT: u64 = 65_536;

/// The list of models with these names, in the form of an API.
pub fn models(endpoint: Endpoint, names: &[&str]) -> Json {
    let models: Vec<Json> = names.iter().map(|name| model(endpoint, name)).collect();
    match endpoint {
        Endpoint::Chat | Endpoint::Responses => json!({"object": "list", "data": models}),
        Endpoint::Messages => json!({
            "data": models, "has_more": false, "first_id": names.first(), "last_id": names.last(),
        }),
        Endpoint::Gemini => json!({ "models": models }),
    }
}

/// One model, in the form of an API.
pub fn model(endpoint: Endpoint, name: &str) -> Json {
    match endpoint {
        Endpoint::Chat | Endpoint::Responses => json!({
            "id": name, "object": "model", "created": CREATED, "owned_by": "cuecard",
        }),
        Endpoint::Messages => json!({
            "type": "model", "id": name, "display_name": name, "created_at": CREATED_AT, "lifecycle": "active",
        }),
        Endpoint::Gemini => json!({
            "name": format!("models/{name}"),
            "version": "001",
            "displayName": name,
            "inputTokenLimit": INPUT_LIMIT,
            "outputTokenLimit": OUTPUT_LIMIT,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        }),
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
pub fn token_count(endpoint: Endpoint, tokens: u64) -> Json {
    match endpoint {
        Endpoint::Gemini => json!({ "totalTokens": tokens }),
        Endpoint::Messages => json!({ "input_tokens": tokens }),
        Endpoint::Chat | Endpoint::Responses => {
            json!({"input_tokens": tokens, "object": "response.input_tokens"})
        }
    }
}

/// That the server is well, with how many scenarios and sessions.
pub fn health(scenarios: usize, sessions: usize) -> Json {
    json!({"status": "ok", "scenarios": scenarios, "sessions": sessions})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(body: &[u8]) -> Json {
        serde_json::from_slice(body).expect("JSON")
    }

    #[test]
    fn each_api_has_its_own_list() {
        let list = models(Endpoint::Chat, &["a", "b"]);
        assert_eq!(list["data"][1]["id"], "b");
        let list = models(Endpoint::Messages, &["a", "b"]);
        assert_eq!(
            (&list["first_id"], &list["last_id"]),
            (&json!("a"), &json!("b"))
        );
        let list = models(Endpoint::Gemini, &["a"]);
        assert_eq!(list["models"], json!([model(Endpoint::Gemini, "a")]));
        assert_eq!(models(Endpoint::Messages, &[])["first_id"], Json::Null);
    }

    #[test]
    fn a_count_has_the_name_that_each_api_gives_it() {
        assert_eq!(
            token_count(Endpoint::Messages, 7),
            json!({"input_tokens": 7})
        );
        assert_eq!(token_count(Endpoint::Gemini, 7), json!({"totalTokens": 7}));
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
