//! A client that proves itself by a key instead of a secret: signed statements (RFC 7523, `private_key_jwt`).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::error::Unspecified;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING as P256, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde_json::json;

/// The lifetime of a statement, in seconds: it is sent at once.
const LIFETIME: i64 = 120;

const NOT_USABLE: &str = "must be a PKCS#8 PEM text without a password, of an EC P-256, RSA (at least 2048 bits) or \
    Ed25519 key: `openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW` makes one";

/// Signs a text.
type Sign = dyn Fn(&[u8]) -> Result<Vec<u8>, Unspecified>;

/// A private key that can sign.
pub(super) struct SigningKey {
    /// The name of its algorithm in a JSON Web Signature.
    algorithm: &'static str,
    sign: Box<Sign>,
}

impl SigningKey {
    /// Reads a key from a PEM text, whose line ends may be written as `\n`, as variables often have them.
    ///
    /// # Errors
    /// What is wrong with it, to follow its name.
    pub(super) fn from_pem(pem: &str) -> Result<Self, &'static str> {
        let pem = pem.replace("\\n", "\n");
        let body = pem.split_once("-----BEGIN PRIVATE KEY-----");
        let body = body.and_then(|(_, rest)| rest.split_once("-----END"));
        let body = body.map_or("", |(body, _)| body).split_whitespace();
        let der = STANDARD.decode(body.collect::<String>());
        let der = der.map_err(|_| NOT_USABLE)?;
        let random = SystemRandom::new();
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(&P256, &der, &random) {
            return Ok(Self {
                algorithm: "ES256",
                sign: Box::new(move |text| Ok(key.sign(&random, text)?.as_ref().to_vec())),
            });
        }
        if let Ok(key) = RsaKeyPair::from_pkcs8(&der) {
            let sign = move |text: &[u8]| {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature)?;
                Ok(signature)
            };
            return Ok(Self {
                algorithm: "RS256",
                sign: Box::new(sign),
            });
        }
        // Many tools write the older form of these keys.
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| NOT_USABLE)?;
        Ok(Self {
            algorithm: "EdDSA",
            sign: Box::new(move |text| Ok(key.sign(text).as_ref().to_vec())),
        })
    }

    /// Returns the signed statement that we are `client`, for `audience`, made at `now` (seconds since 1970).
    pub(super) fn statement(
        &self,
        client: &str,
        audience: &str,
        now: i64,
    ) -> Result<String, &'static str> {
        let mut id = [0; 16];
        let random = SystemRandom::new().fill(&mut id);
        random.map_err(|_| "can't sign")?;
        let header = json!({"alg": self.algorithm, "typ": "JWT"});
        let claims = json!({
            "iss": client, "sub": client, "aud": audience,
            "iat": now, "exp": now + LIFETIME, "jti": URL_SAFE_NO_PAD.encode(id),
        });
        let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let text = parts.join(".");
        let signature = (self.sign)(text.as_bytes()).map_err(|_| "can't sign")?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair as _, UnparsedPublicKey};
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
        let der = EcdsaKeyPair::generate_pkcs8(&P256, &random).expect("a key");
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
        let pair = EcdsaKeyPair::from_pkcs8(&P256, der.as_ref(), &random).expect("a key");
        let (signed, _) = statement.rsplit_once('.').expect("a signature");
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref())
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
        assert_eq!(key.algorithm, "EdDSA");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "secret",
            "-----BEGIN PRIVATE KEY-----",
            &pem("EC PRIVATE KEY", b"x"),
            &pem("ENCRYPTED PRIVATE KEY", b"x"),
            &pem("PRIVATE KEY", b"x"),
        ] {
            assert_eq!(SigningKey::from_pem(text).err(), Some(NOT_USABLE), "{text}");
        }
    }
}
