//! Keys that are known by their looks: providers give them beginnings of their own, so that they can be found.

use std::sync::LazyLock;

use regex::Regex;

/// The shapes, each with what nothing but a key looks like.
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        // OpenAI, Anthropic, OpenRouter and others.
        r"\bsk-[A-Za-z0-9_-]{20,}",
        // GitHub, GitLab, npm, PyPI.
        r"\bgh[pousr]_[A-Za-z0-9]{30,}",
        r"\bgithub_pat_[A-Za-z0-9_]{30,}",
        r"\bglpat-[A-Za-z0-9_-]{20,}",
        r"\bnpm_[A-Za-z0-9]{36}",
        r"\bpypi-[A-Za-z0-9_-]{50,}",
        // AWS, Google, Slack, Stripe.
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\bAIza[A-Za-z0-9_-]{35}",
        r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
        r"\b[rs]k_live_[A-Za-z0-9]{16,}",
        // Tokens in three parts, and private keys.
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s]{1,8000}-----END [A-Z ]{0,40}PRIVATE KEY-----",
    ];
    Regex::new(&shapes.join("|")).expect("the shapes are fixed")
});

/// Adds each text in `text` that looks like a key of a known provider.
pub fn find_keys(text: &str, found: &mut Vec<String>) {
    found.extend(SHAPES.find_iter(text).map(|key| key.as_str().to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        find_keys(text, &mut found);
        found
    }

    #[test]
    fn keys_are_found_in_the_middle_of_a_text() {
        let open_ai = format!("sk-{}", "a1B2-".repeat(6));
        let github = format!("ghp_{}", "x9".repeat(18));
        let text = format!("export A={open_ai}; curl -H 'token: {github}' AKIAIOSFODNN7EXAMPLE");
        let aws = "AKIAIOSFODNN7EXAMPLE".to_owned();
        // A hyphen at the end is a part of the key, for all one can tell.
        assert_eq!(keys(&text), [open_ai, github, aws]);
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/=\n-----END RSA PRIVATE KEY-----";
        assert_eq!(keys(&format!("a\n{pem}\nb")), [pem]);
    }

    #[test]
    fn words_are_no_keys() {
        let text =
            "a task-list sk-short risk-assessment-of-the-whole-project ghp_1 AKIA eyJhbGciOi.x";
        assert_eq!(keys(text), [] as [String; 0]);
    }
}
