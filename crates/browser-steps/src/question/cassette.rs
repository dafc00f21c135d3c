//! What a recorded reply is found by.

use sha2::{Digest, Sha256};

use super::{Prompt, function_schema};

/// The key of a reply: of everything that a model's answer depends on. `replies` are its earlier replies to the same
/// prompt with what was wrong with each. The same for writing and reading.
pub fn cassette_key(dialect: &str, model: &str, prompt: &Prompt, replies: &[String]) -> String {
    let mut hasher = Sha256::new();
    let schema = function_schema().to_string();
    let parts = [
        dialect,
        model,
        &schema,
        super::SYSTEM,
        &prompt.page,
        &prompt.action,
        &prompt.previous,
    ];
    for part in parts.into_iter().chain(replies.iter().map(String::as_str)) {
        // The length keeps parts apart.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = hasher.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
