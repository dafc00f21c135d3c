//! Why an answer stops, in the words of each dialect. A scenario may say it, so that the words stand with the model of
//! scenarios.

use cuecard_core::scenario::timeline::StopReasons;
use cuecard_core::script::timeline::Endpoint;

pub use cuecard_core::scenario::timeline::StopReason;

/// What a script says for this API.
pub fn scripted(reasons: StopReasons, endpoint: Endpoint) -> Option<StopReason> {
    match endpoint {
        Endpoint::Messages => reasons.anthropic,
        Endpoint::Chat | Endpoint::Responses => reasons.openai,
        Endpoint::Gemini => reasons.gemini,
    }
}
