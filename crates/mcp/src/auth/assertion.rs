//! A client that proves itself by a key instead of a secret: signed statements (RFC 7523, `private_key_jwt`).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, RsaKeyPair};
use serde_json::json;

/// How long a statement holds, in seconds: it is sent at once.
const LIVES: i64 = 120;

/// A private key that can sign.
pub(super) enum SigningKey {
    P256(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

const NOT_PEM: &str = "is not PEM text that starts with `-----BEGIN PRIVATE KEY-----`";
const OTHER_PEM: &str =
    "is not in PKCS#8 format: `openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW` converts it";
const ENCRYPTED: &str = "needs a password: `openssl pkcs8 -in OLD -out NEW` removes it";
const NOT_USABLE: &str = "must be an EC P-256, RSA (at least 2048 bits) or Ed25519 key";

impl SigningKey {
    /// The key in a PEM text, whose line ends may be written as `\n`, as variables often have them; or why it is none.
    pub(super) fn from_pem(pem: &str) -> Result<Self, &'static str> {
        let pem = pem.replace("\\n", "\n");
        let (_, rest) = pem.split_once("-----BEGIN ").ok_or(NOT_PEM)?;
        let (kind, rest) = rest.split_once("-----").ok_or(NOT_PEM)?;
        match kind {
            "PRIVATE KEY" => {}
            "ENCRYPTED PRIVATE KEY" => return Err(ENCRYPTED),
            _ => return Err(OTHER_PEM),
        }
        let (body, _) = rest.split_once("-----END").ok_or(NOT_PEM)?;
        let body: String = body.split_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| NOT_PEM)?;
        let algorithm = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(algorithm, &der, &SystemRandom::new()) {
            return Ok(Self::P256(key));
        }
        if let Ok(key) = RsaKeyPair::from_pkcs8(&der) {
            return Ok(Self::Rsa(Box::new(key)));
        }
        // Many tools write the older form of these keys.
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der)
            .map(Self::Ed25519)
            .map_err(|_| NOT_USABLE)
    }

    /// The name of its algorithm in a JSON Web Signature.
    fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "ES256",
            Self::Rsa(_) => "RS256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    /// The statement that we are `client`, for `audience`, made at `now` (seconds since 1970).
    pub(super) fn statement(
        &self,
        client: &str,
        audience: &str,
        now: i64,
    ) -> Result<String, ring::error::Unspecified> {
        let random = SystemRandom::new();
        let mut id = [0; 16];
        random.fill(&mut id)?;
        let header = json!({"alg": self.algorithm(), "typ": "JWT"});
        let claims = json!({
            "iss": client, "sub": client, "aud": audience,
            "iat": now, "exp": now + LIVES, "jti": URL_SAFE_NO_PAD.encode(id),
        });
        let mut text = URL_SAFE_NO_PAD.encode(header.to_string());
        text.push('.');
        text.push_str(&URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.sign(text.as_bytes(), &random)?;
        text.push('.');
        text.push_str(&URL_SAFE_NO_PAD.encode(signature));
        Ok(text)
    }

    fn sign(
        &self,
        text: &[u8],
        random: &SystemRandom,
    ) -> Result<Vec<u8>, ring::error::Unspecified> {
        Ok(match self {
            Self::P256(key) => key.sign(random, text)?.as_ref().to_vec(),
            Self::Ed25519(key) => key.sign(text).as_ref().to_vec(),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&signature::RSA_PKCS1_SHA256, random, text, &mut signature)?;
                signature
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{KeyPair as _, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;

    fn pem(kind: &str, der: &[u8]) -> String {
        format!(
            "-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n",
            STANDARD.encode(der)
        )
    }

    fn part(statement: &str, number: usize) -> Vec<u8> {
        let part = statement.split('.').nth(number).expect("three parts");
        URL_SAFE_NO_PAD.decode(part).expect("base64")
    }

    #[test]
    fn statements_are_signed_with_the_key() {
        let random = SystemRandom::new();
        let algorithm = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let der = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let escaped = pem("PRIVATE KEY", der.as_ref()).replace('\n', "\\n");
        let key = SigningKey::from_pem(&escaped).expect("a key");
        let statement = key
            .statement("me", "https://tokens.example", 1_000)
            .expect("signed");
        let header: Value = serde_json::from_slice(&part(&statement, 0)).expect("JSON");
        assert_eq!(header, json!({"alg": "ES256", "typ": "JWT"}));
        let claims: Value = serde_json::from_slice(&part(&statement, 1)).expect("JSON");
        assert_eq!(
            (&claims["iss"], &claims["sub"], &claims["aud"]),
            (&json!("me"), &json!("me"), &json!("https://tokens.example"))
        );
        assert_eq!(
            (&claims["iat"], &claims["exp"]),
            (&json!(1_000), &json!(1_120))
        );
        let SigningKey::P256(pair) = &key else {
            panic!("it is P-256")
        };
        let (signed, _) = statement.rsplit_once('.').expect("a signature");
        UnparsedPublicKey::new(
            &signature::ECDSA_P256_SHA256_FIXED,
            pair.public_key().as_ref(),
        )
        .verify(signed.as_bytes(), &part(&statement, 2))
        .expect("it is the key's signature");
        let again = key.statement("me", "https://tokens.example", 1_000);
        let again: Value = serde_json::from_slice(&part(&again.expect("signed"), 1)).expect("JSON");
        assert_ne!(again["jti"], claims["jti"], "each statement is used once");
    }

    #[test]
    fn each_kind_of_key_has_its_algorithm() {
        let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let key = SigningKey::from_pem(&pem("PRIVATE KEY", der.as_ref())).expect("a key");
        assert_eq!(key.algorithm(), "EdDSA");
    }

    #[test]
    fn what_is_no_key_is_told_apart() {
        let problem = |text: &str| SigningKey::from_pem(text).err();
        assert_eq!(problem("secret"), Some(NOT_PEM));
        assert_eq!(problem("-----BEGIN PRIVATE KEY-----"), Some(NOT_PEM));
        assert_eq!(problem(&pem("EC PRIVATE KEY", b"x")), Some(OTHER_PEM));
        assert_eq!(
            problem(&pem("ENCRYPTED PRIVATE KEY", b"x")),
            Some(ENCRYPTED)
        );
        assert_eq!(problem(&pem("PRIVATE KEY", b"x")), Some(NOT_USABLE));
    }
}
