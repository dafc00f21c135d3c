//! What a request wants, by its method and path.

use cuecard_timeline::script::Endpoint;

use super::errors::ApiError;
use super::events::Framing;

/// The routes that are answered, for those who ask for another one.
const KNOWN: &str = "POST /v1/messages, POST /v1/messages/count_tokens, POST /v1/chat/completions, POST /v1/responses, \
     POST /v1/responses/input_tokens, GET and DELETE /v1/responses/{id}, POST /v1beta/models/{model}:generateContent, \
     POST /v1beta/models/{model}:streamGenerateContent, POST /v1beta/models/{model}:countTokens, GET /v1/models, \
     GET /v1/models/{id}, GET /v1beta/models, GET /v1beta/models/{id}, GET /health";

/// What a request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route<'a> {
    /// An answer of the model.
    Generate(Target<'a>),
    /// The number of tokens that a request has.
    CountTokens(Target<'a>),
    /// A Responses answer, by its id.
    Response(&'a str),
    /// That this answer is forgotten.
    DeleteResponse(&'a str),
    /// The list of models, in the form of this API.
    Models(Endpoint),
    /// A model by its name, in the form of this API.
    Model(Endpoint, &'a str),
    /// Whether the server is well.
    Health,
}

/// Where a request goes, as far as its path says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// The API.
    pub endpoint: Endpoint,
    /// The model: Gemini only.
    pub model: Option<&'a str>,
    /// Whether the path asks for a stream: Gemini only.
    pub wants_stream: bool,
    /// The frame around the events of a stream.
    pub framing: Framing,
    /// Whether it is for counting only, which needs less.
    pub counts: bool,
}

/// Why a request has no route.
#[derive(Debug, Clone, PartialEq)]
pub struct NoRoute {
    /// The 404 or 405.
    pub error: ApiError,
    /// The methods that the path takes, for a 405.
    pub allow: Option<&'static str>,
}

impl<'a> Route<'a> {
    /// The route of a request. `path` has no percent signs any more, `query` is what follows the question mark, and
    /// `named` is the API that the headers name: what several of them have at the same path, each has in its own form.
    ///
    /// # Errors
    /// The 404 or 405 of the provider whose path it looks like, with the routes that there are.
    pub fn of(
        method: &str,
        path: &'a str,
        query: Option<&str>,
        named: Option<Endpoint>,
    ) -> Result<Self, NoRoute> {
        let Some((allow, route)) = find(method, path, query, named) else {
            let message = format!("unknown route {method} {path}; available: {KNOWN}");
            return Err(NoRoute {
                error: ApiError::new(404, message),
                allow: None,
            });
        };
        match allow.split(", ").any(|allowed| allowed == method) {
            true => Ok(route),
            false => Err(NoRoute {
                error: ApiError::new(405, format!("{path} allows {allow}, not {method}")),
                allow: Some(allow),
            }),
        }
    }

    /// The path of an API that a request means which has no route: its client has another base URL.
    pub fn misplaced(method: &str, path: &str) -> Option<&'static str> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let own = match path {
            // Threads of OpenAI's have messages too.
            "/messages" => "/v1/messages",
            _ if path.ends_with("/v1/messages") => "/v1/messages",
            _ if path.ends_with("/chat/completions") => "/v1/chat/completions",
            _ if path.ends_with("/responses") => "/v1/responses",
            _ if path.ends_with(":generateContent") => "/v1beta/models/{model}:generateContent",
            _ if path.ends_with(":streamGenerateContent") => {
                "/v1beta/models/{model}:streamGenerateContent"
            }
            _ => return None,
        };
        (method == POST).then_some(own)
    }

    /// The API in whose words errors about this path are said.
    pub fn endpoint_like(path: &str, named: Option<Endpoint>) -> Endpoint {
        if path.starts_with("/v1beta/") || path.contains(':') {
            Endpoint::Gemini
        } else if path.starts_with("/v1/messages") {
            Endpoint::Messages
        } else if path.starts_with("/v1/responses") {
            Endpoint::Responses
        } else if path.starts_with("/v1/chat/") {
            Endpoint::Chat
        } else {
            named.unwrap_or(Endpoint::Chat)
        }
    }
}

const POST: &str = "POST";
/// Who may get a page may ask for its head.
const GET: &str = "GET, HEAD";

/// The methods that a path takes, and what it is for by this one, or by the first.
fn find<'a>(
    method: &str,
    path: &'a str,
    query: Option<&str>,
    named: Option<Endpoint>,
) -> Option<(&'static str, Route<'a>)> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let post = |endpoint| Target {
        endpoint,
        model: None,
        wants_stream: false,
        framing: Framing::Sse,
        counts: false,
    };
    let named = named.unwrap_or(Endpoint::Chat);
    Some(match path {
        "/health" => (GET, Route::Health),
        "/v1/messages" => (POST, Route::Generate(post(Endpoint::Messages))),
        "/v1/messages/count_tokens" => {
            let target = Target {
                counts: true,
                ..post(Endpoint::Messages)
            };
            (POST, Route::CountTokens(target))
        }
        "/v1/chat/completions" => (POST, Route::Generate(post(Endpoint::Chat))),
        "/v1/responses" => (POST, Route::Generate(post(Endpoint::Responses))),
        "/v1/models" => (GET, Route::Models(named)),
        "/v1beta/models" => (GET, Route::Models(Endpoint::Gemini)),
        "/v1/responses/input_tokens" => {
            let target = Target {
                counts: true,
                ..post(Endpoint::Responses)
            };
            (POST, Route::CountTokens(target))
        }
        _ => {
            if let Some(id) = path.strip_prefix("/v1/responses/") {
                let route = match method {
                    "DELETE" => Route::DeleteResponse(id),
                    _ => Route::Response(id),
                };
                return (!id.is_empty() && !id.contains('/'))
                    .then_some(("GET, HEAD, DELETE", route));
            }
            let (is_beta, rest) = match path.strip_prefix("/v1beta/") {
                Some(rest) => (true, rest),
                None => (false, path.strip_prefix("/v1/")?),
            };
            let name = rest
                .strip_prefix("models/")
                .or_else(|| rest.starts_with("tunedModels/").then_some(rest))?;
            match name
                .rsplit_once(':')
                .and_then(|(name, action)| gemini(name, action, query))
            {
                Some(route) => (POST, route),
                None if name.is_empty() => return None,
                None if is_beta => (GET, Route::Model(Endpoint::Gemini, name)),
                None => (GET, Route::Model(named, name)),
            }
        }
    })
}

/// What to do with a model of Gemini's.
fn gemini<'a>(model: &'a str, action: &str, query: Option<&str>) -> Option<Route<'a>> {
    let is_sse = query
        .unwrap_or_default()
        .split('&')
        .any(|pair| pair == "alt=sse");
    let target = Target {
        endpoint: Endpoint::Gemini,
        model: Some(model),
        wants_stream: action == "streamGenerateContent",
        framing: if is_sse {
            Framing::Sse
        } else {
            Framing::JsonArray
        },
        counts: action == "countTokens",
    };
    match action {
        "generateContent" | "streamGenerateContent" => Some(Route::Generate(target)),
        "countTokens" => Some(Route::CountTokens(target)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn route<'a>(method: &str, path: &'a str, query: Option<&str>) -> Route<'a> {
        Route::of(method, path, query, None).expect("a known route")
    }

    #[test]
    fn each_route_is_known() {
        for (method, path, endpoint) in [
            ("POST", "/v1/messages", Endpoint::Messages),
            ("POST", "/v1/chat/completions", Endpoint::Chat),
            ("POST", "/v1/responses", Endpoint::Responses),
            (
                "POST",
                "/v1beta/models/gemini-3:generateContent",
                Endpoint::Gemini,
            ),
            (
                "POST",
                "/v1/models/gemini-3:generateContent",
                Endpoint::Gemini,
            ),
        ] {
            let Route::Generate(target) = route(method, path, None) else {
                panic!("{path}");
            };
            assert_eq!(target.endpoint, endpoint, "{path}");
        }
        assert_eq!(
            route("GET", "/v1/responses/resp_1", None),
            Route::Response("resp_1")
        );
        assert_eq!(
            route("GET", "/v1/models", None),
            Route::Models(Endpoint::Chat)
        );
        assert_eq!(
            route("GET", "/v1beta/models", None),
            Route::Models(Endpoint::Gemini)
        );
        assert_eq!(
            route("GET", "/v1/models/org/m:8b", None),
            Route::Model(Endpoint::Chat, "org/m:8b")
        );
        assert_eq!(route("HEAD", "/health", None), Route::Health);
        assert_eq!(
            Route::of("GET", "/v1/models", None, Some(Endpoint::Gemini)),
            Ok(Route::Models(Endpoint::Gemini))
        );
        let of_response = |method, path| route(method, path, None);
        assert_eq!(
            of_response("DELETE", "/v1/responses/resp_1"),
            Route::DeleteResponse("resp_1")
        );
        assert_eq!(
            Route::of("GET", "/v1/models/claude", None, Some(Endpoint::Messages)),
            Ok(Route::Model(Endpoint::Messages, "claude"))
        );
        for path in ["/v1/messages/count_tokens", "/v1/responses/input_tokens"] {
            assert!(
                matches!(route("POST", path, None), Route::CountTokens(target) if target.counts)
            );
        }
    }

    #[test]
    fn a_path_of_gemini_says_model_stream_and_frame() {
        let path = "/v1beta/models/gemini-3:streamGenerateContent";
        for (query, framing) in [
            (None, Framing::JsonArray),
            (Some("key=x&alt=sse"), Framing::Sse),
            (Some("alt=json"), Framing::JsonArray),
        ] {
            let Route::Generate(target) = route("POST", path, query) else {
                panic!("{query:?}");
            };
            assert_eq!(
                (target.model, target.wants_stream),
                (Some("gemini-3"), true)
            );
            assert_eq!(target.framing, framing);
        }
    }

    #[test]
    fn what_is_unknown_is_told_what_is_known() {
        let NoRoute { error, allow } =
            Route::of("POST", "/v1/completions", None, None).expect_err("unknown");
        assert_eq!(allow, None);
        assert_eq!(error.status, 404);
        assert!(
            error.message.contains("POST /v1/chat/completions"),
            "{}",
            error.message
        );
        let NoRoute { error, allow } =
            Route::of("GET", "/v1/messages", None, None).expect_err("the wrong method");
        assert_eq!(allow, Some("POST"));
        assert_eq!(
            (error.status, error.message.as_str()),
            (405, "/v1/messages allows POST, not GET")
        );
    }

    #[test]
    fn a_path_behind_another_base_url_is_known() {
        for (method, path, expected) in [
            ("POST", "/chat/completions", Some("/v1/chat/completions")),
            (
                "POST",
                "/v1beta/openai/chat/completions/",
                Some("/v1/chat/completions"),
            ),
            ("POST", "/v1/v1/responses", Some("/v1/responses")),
            ("POST", "/messages", Some("/v1/messages")),
            ("POST", "/anthropic/v1/messages", Some("/v1/messages")),
            ("POST", "/v1/threads/1/messages", None),
            (
                "POST",
                "/models/m:generateContent",
                Some("/v1beta/models/{model}:generateContent"),
            ),
            ("GET", "/responses", None),
            ("POST", "/v1/embeddings", None),
        ] {
            assert_eq!(Route::misplaced(method, path), expected, "{method} {path}");
        }
    }

    proptest! {
        #[test]
        fn no_path_is_too_odd(path in "(/(v1|v1beta|models|messages|responses|:|.{0,5})){0,4}", query in proptest::option::of(".{0,9}")) {
            let _ = Route::of("POST", &path, query.as_deref(), Some(Endpoint::Messages));
        }
    }
}
