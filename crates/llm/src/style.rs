//! T-LLM-01: the API that a scenario names, and the one that requests come by.

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{ApiStyle, Timeline};
use cuecard_timeline::profiles::Profile;
use cuecard_timeline::script::Endpoint;

/// Requests come by this endpoint. It decides, whatever the scenario names.
pub(super) fn check_requests(timeline: &Timeline, endpoint: Endpoint) -> Option<Diagnostic> {
    let message = || {
        format!(
            "requests use the API `{}`, but the scenario specifies another one",
            endpoint.as_str()
        )
    };
    check(timeline, style_of(endpoint.as_str())?, message)
}

/// The agent that was named usually asks by another API.
pub(super) fn check_agent(timeline: &Timeline, profile: &Profile) -> Option<Diagnostic> {
    let endpoint = profile.endpoint.as_deref()?;
    let message = || {
        format!(
            "`{}` uses the API `{endpoint}`, but the scenario specifies another one",
            profile.agent
        )
    };
    check(timeline, style_of(endpoint)?, message)
}

fn check(
    timeline: &Timeline,
    asked: ApiStyle,
    message: impl FnOnce() -> String,
) -> Option<Diagnostic> {
    let named = timeline.server.api_style?;
    (named.value != asked).then(|| {
        Diagnostic::warning(codes::MODEL_OTHER_API, message())
            .at(&timeline.source, named.span)
            .with_help("the endpoint takes precedence; correct `llmApiStyle`, or remove it")
    })
}

/// The style of an endpoint by its name.
fn style_of(endpoint: &str) -> Option<ApiStyle> {
    match endpoint {
        "messages" => Some(ApiStyle::Anthropic),
        "chat" | "responses" => Some(ApiStyle::OpenAi),
        "gemini" => Some(ApiStyle::Gemini),
        _ => None,
    }
}
