//! Access tokens by the OAuth client credentials grant. A token is fetched when the server first answers with 401, kept
//! for the run, and replaced when the server rejects it.

mod assertion;
mod discovery;

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::provider::reason;
use regex::Regex;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, Url};
use serde_json::Value;
use tokio::sync::Mutex;

use self::assertion::SigningKey;
use self::discovery::{LARGEST, TokenEndpoint};
use super::http::body;
use super::link::Link;
use super::text::{clean, cut, url as shown_url};

/// The time limit of a request to an authorization server.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The type of a signed statement in a request for a token (RFC 7523).
const STATEMENT_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The name of a client at an authorization server, its proof, and what it asks for.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCredentials {
    /// The name of the client.
    pub client_id: String,
    /// How it proves to be that client.
    pub proof: ClientProof,
    /// The scopes to ask for, separated by blanks; those that the server names if absent.
    pub scope: Option<String>,
    /// Where tokens are fetched. Without it the server says where, and the secret goes there.
    pub token_url: Option<String>,
}

/// The proof of a client's identity.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientProof {
    /// A secret that it shares with the authorization server.
    Secret(String),
    /// A private key as PEM (PKCS#8), with which it signs statements.
    Key(String),
}

impl ClientProof {
    /// Returns the text that must never be shown.
    pub fn secret(&self) -> &str {
        match self {
            Self::Secret(text) | Self::Key(text) => text,
        }
    }
}

// By hand, so that no secret gets into a debug print.
impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// Fetches and keeps the token of one server.
pub(super) struct TokenSource {
    credentials: ClientCredentials,
    /// The address of the MCP server.
    resource: Url,
    http: reqwest::Client,
    link: Arc<Link>,
    token: Mutex<Option<String>>,
}

/// Why there is no token, in a sentence without a full stop.
#[derive(Debug)]
pub(super) struct NoToken(pub(super) String);

impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoToken {}

impl TokenSource {
    /// Fetches tokens for the server at `resource` with `http`, which follows redirects on the same host only.
    pub(super) fn new(
        credentials: ClientCredentials,
        resource: Url,
        http: reqwest::Client,
        link: Arc<Link>,
    ) -> Self {
        Self {
            credentials,
            resource,
            http,
            link,
            token: Mutex::default(),
        }
    }

    /// Returns the token at hand; `None` before the server asked for one.
    pub(super) async fn current(&self) -> Option<String> {
        self.token.lock().await.clone()
    }

    /// Returns a token in place of `rejected`, which the server answered with the header `challenge`.
    pub(super) async fn replace(
        &self,
        challenge: &str,
        rejected: Option<&str>,
    ) -> Result<String, NoToken> {
        let mut token = self.token.lock().await;
        // Another request may have fetched one meanwhile.
        if let Some(token) = token.as_deref().filter(|token| rejected != Some(*token)) {
            return Ok(token.to_owned());
        }
        let endpoint = match &self.credentials.token_url {
            Some(url) => TokenEndpoint::given(url, &self.resource)?,
            None => discovery::discover(&self.http, &self.resource, challenge).await?,
        };
        let fetched = self.fetch(&endpoint, challenge).await?;
        self.link.learn_secret(&fetched);
        Ok(token.insert(fetched).clone())
    }

    async fn fetch(&self, endpoint: &TokenEndpoint, challenge: &str) -> Result<String, NoToken> {
        let id = self.credentials.client_id.as_str();
        let wanted = self.credentials.scope.clone();
        let wanted = wanted.or_else(|| parameter(challenge, "scope"));
        let scope = wanted.or_else(|| endpoint.scope.clone());
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("resource", endpoint.resource.as_str()),
        ];
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let mut request = self
            .http
            .post(endpoint.url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let statement;
        match &self.credentials.proof {
            ClientProof::Key(pem) => {
                let now = Clock::start().timestamp(Duration::ZERO).as_second();
                statement = SigningKey::from_pem(pem)
                    .and_then(|key| key.statement(id, &endpoint.audience, now))
                    .map_err(|problem| NoToken(format!("`private_key` in `auth` {problem}")))?;
                form.push(("client_id", id));
                form.push(("client_assertion_type", STATEMENT_TYPE));
                form.push(("client_assertion", &statement));
            }
            ClientProof::Secret(secret) if endpoint.takes_secret_in_body => {
                form.push(("client_id", id));
                form.push(("client_secret", secret));
            }
            ClientProof::Secret(secret) => {
                // Each is encoded as in a form before they are joined (RFC 6749).
                let [id, secret] = [id, secret].map(|text| encode(&[("", text)]).split_off(1));
                let pair = STANDARD.encode(format!("{id}:{secret}"));
                request = request.header(AUTHORIZATION, format!("Basic {pair}"));
            }
        }
        let place = shown_url(endpoint.url.as_str());
        let response = send(request.body(encode(&form)), &place).await?;
        let status = response.status();
        let body = body(response, LARGEST).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |key: &str| body[key].as_str();
        if !status.is_success() {
            let reasons = ["error", "error_description"].into_iter().filter_map(text);
            let reasons = cut(&clean(&reasons.collect::<Vec<&str>>().join(", ")), 300);
            let status = status.as_u16();
            return Err(NoToken(format!(
                "`{place}` refused a token with HTTP {status}: {reasons}"
            )));
        }
        let is_sendable = |token: &&str| token.bytes().all(|byte| byte.is_ascii_graphic());
        let token = text("access_token").filter(|token| !token.is_empty());
        match token.filter(is_sendable) {
            Some(token) => Ok(token.to_owned()),
            None => Err(NoToken(format!(
                "the answer of `{place}` has no usable `access_token`"
            ))),
        }
    }
}

/// Sends a request to `place` as it is shown.
async fn send(request: RequestBuilder, place: &str) -> Result<Response, NoToken> {
    let response = request.timeout(REQUEST_TIMEOUT).send().await;
    response.map_err(|error| NoToken(format!("`{place}` can't be reached: {}", reason(&error))))
}

/// Returns a parameter of a header `WWW-Authenticate`.
pub(super) fn parameter(header: &str, name: &str) -> Option<String> {
    static PARAMETER: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))"#;
        Regex::new(pattern).expect("it is fixed")
    });
    let mut parameters = PARAMETER.captures_iter(header);
    let found = parameters.find(|found| found[1].eq_ignore_ascii_case(name))?;
    Some(found.get(2).or(found.get(3))?.as_str().replace('\\', ""))
}

/// Returns `pairs` as the body of a form.
fn encode(pairs: &[(&str, &str)]) -> String {
    let url = Url::parse_with_params("http://localhost/", pairs).expect("it is fixed");
    url.query().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
