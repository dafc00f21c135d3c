//! Access tokens by the OAuth client credentials grant, for servers that ask for one.
//!
//! A server says with a 401 that it wants a token and where its authorization server is described; the token
//! is fetched once, kept for the run, and renewed when it expires or is rejected.

mod assertion;
mod challenge;
mod client;
mod discovery;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{StatusCode, Url, redirect};
use serde_json::Value;
use tokio::sync::Mutex;

use self::assertion::SigningKey;
pub(super) use challenge::Challenge;
pub(super) use client::HttpClient;
use discovery::{TokenEndpoint, json_body};

use super::link::Link;
use super::text::{clean, cut, url as shown_url};
use cuecard_runtime::clock::{Clock, Stopwatch};
use cuecard_runtime::provider::reason;

/// How long one request to an authorization server may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A token is renewed this long before it expires, since the request still has to arrive.
const MARGIN: Duration = Duration::from_secs(10);
/// What a signed statement is called in a request for a token (RFC 7523).
const STATEMENT_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The longest token, in bytes: it has to fit into a header.
const LONGEST_TOKEN: usize = 64 * 1024;

/// What a client is known by at an authorization server, and what it asks for.
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

/// What proves a client's identity.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientProof {
    /// A secret that it shares with the authorization server.
    Secret(String),
    /// A private key as PEM (PKCS#8), with which it signs statements.
    Key(String),
}

impl ClientProof {
    /// What must never be shown.
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
            .field("scope", &self.scope)
            .field("token_url", &self.token_url)
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    endpoint: Option<TokenEndpoint>,
    token: Option<Token>,
}

struct Token {
    text: String,
    since: Stopwatch,
    lives: Option<Duration>,
}

/// Why there is no token, in a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoToken(pub(super) String);

impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoToken {}

impl TokenSource {
    pub(super) fn new(
        credentials: ClientCredentials,
        resource: Url,
        link: Arc<Link>,
    ) -> Result<Self, reqwest::Error> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("cuecard/", env!("CARGO_PKG_VERSION")))
            .timeout(PATIENCE)
            // A redirect could carry the secret elsewhere.
            .redirect(redirect::Policy::none());
        if super::http::is_loopback(&resource) {
            builder = builder.no_proxy();
        }
        Ok(Self {
            credentials,
            resource,
            http: builder.build()?,
            link,
            state: Mutex::default(),
        })
    }

    /// The token at hand, renewed if it is about to expire; nothing before the server has asked for one.
    pub(super) async fn current(&self) -> Result<Option<String>, NoToken> {
        let mut state = self.state.lock().await;
        match &state.token {
            None => Ok(None),
            Some(token) if token.is_good() => Ok(Some(token.text.clone())),
            Some(_) => self
                .fetch(&mut state, &Challenge::default())
                .await
                .map(Some),
        }
    }

    /// A token in place of `rejected`, which the server answered with `challenge`.
    pub(super) async fn another(
        &self,
        challenge: &Challenge,
        rejected: Option<&str>,
    ) -> Result<String, NoToken> {
        let mut state = self.state.lock().await;
        // Another request may have fetched it meanwhile.
        if let Some(token) = &state.token
            && token.is_good()
            && rejected != Some(token.text.as_str())
        {
            return Ok(token.text.clone());
        }
        self.fetch(&mut state, challenge).await
    }

    async fn fetch(&self, state: &mut State, challenge: &Challenge) -> Result<String, NoToken> {
        state.token = None;
        let endpoint = match &state.endpoint {
            Some(endpoint) => endpoint.clone(),
            None => {
                let found = match &self.credentials.token_url {
                    Some(url) => TokenEndpoint::given(url, &self.resource)?,
                    None => discovery::discover(&self.http, &self.resource, challenge).await?,
                };
                state.endpoint = Some(found.clone());
                found
            }
        };
        let token = self.request(&endpoint, challenge).await?;
        self.link.learn_secret(&token.text);
        let text = token.text.clone();
        state.token = Some(token);
        Ok(text)
    }

    async fn request(
        &self,
        endpoint: &TokenEndpoint,
        challenge: &Challenge,
    ) -> Result<Token, NoToken> {
        let credentials = &self.credentials;
        let scope = [&credentials.scope, &challenge.scope, &endpoint.scope];
        let scope = scope.into_iter().flatten().next();
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("resource", endpoint.resource.as_str()),
        ];
        form.extend(scope.map(|scope| ("scope", scope.as_str())));
        let mut request = self
            .http
            .post(endpoint.url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let statement;
        match &credentials.proof {
            ClientProof::Key(pem) => {
                endpoint.takes_statements()?;
                statement = self.statement(pem, endpoint)?;
                form.push(("client_id", &credentials.client_id));
                form.push(("client_assertion_type", STATEMENT_TYPE));
                form.push(("client_assertion", &statement));
            }
            ClientProof::Secret(secret) if endpoint.wants_secret_in_body()? => {
                form.push(("client_id", &credentials.client_id));
                form.push(("client_secret", secret));
            }
            ClientProof::Secret(secret) => {
                let pair = format!("{}:{}", encoded(&credentials.client_id), encoded(secret));
                let pair = base64::engine::general_purpose::STANDARD.encode(pair);
                let mut value = reqwest::header::HeaderValue::try_from(format!("Basic {pair}"))
                    .map_err(|_| {
                        NoToken("the client secret can't be sent in a header".to_owned())
                    })?;
                value.set_sensitive(true);
                request = request.header(AUTHORIZATION, value);
            }
        }
        let since = Stopwatch::start();
        let place = shown_url(endpoint.url.as_str());
        let unreachable = |error: &reqwest::Error| {
            let reason = reason(error);
            NoToken(format!(
                "the token endpoint `{place}` can't be reached: {reason}"
            ))
        };
        let response = request.body(encode(&form)).send().await;
        let response = response.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let body = json_body(response).await;
        if !status.is_success() {
            return Err(NoToken(refusal(&place, status, body.ok().as_ref())));
        }
        let body = body.map_err(|reason| NoToken(format!("the answer of `{place}` {reason}")))?;
        read_token(&body, since)
            .map_err(|reason| NoToken(format!("the answer of `{place}` {reason}")))
    }
}

impl TokenSource {
    /// The signed statement that we are the client, for the server that gives the tokens.
    fn statement(&self, pem: &str, endpoint: &TokenEndpoint) -> Result<String, NoToken> {
        let key = SigningKey::from_pem(pem)
            .map_err(|problem| NoToken(format!("`private_key` in `auth` {problem}")))?;
        let now = Clock::start().timestamp(Duration::ZERO).as_second();
        key.statement(&self.credentials.client_id, &endpoint.audience, now)
            .map_err(|_| NoToken("`private_key` in `auth` can't sign".to_owned()))
    }
}

impl Token {
    fn is_good(&self) -> bool {
        self.lives
            .is_none_or(|lives| self.since.elapsed() + MARGIN < lives)
    }
}

fn read_token(body: &Value, since: Stopwatch) -> Result<Token, &'static str> {
    let text = body["access_token"].as_str().unwrap_or_default();
    let is_sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sendable || text.len() > LONGEST_TOKEN {
        return Err("contains no usable `access_token`");
    }
    let is_bearer = body["token_type"]
        .as_str()
        .is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    if !is_bearer {
        return Err("contains a token that is not a bearer token");
    }
    let lives = body["expires_in"]
        .as_f64()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Ok(Token {
        text: text.to_owned(),
        since,
        // One that expires at once would be fetched for every request.
        lives: lives.filter(|lives| *lives > MARGIN),
    })
}

/// What an authorization server says when it gives no token.
fn refusal(place: &str, status: StatusCode, body: Option<&Value>) -> String {
    let said = |key: &str| {
        let text = body.and_then(|body| body[key].as_str());
        text.map(|text| cut(&clean(text), 300))
    };
    let code = said("error").map(|code| format!(": `{code}`"));
    let description = said("error_description").map(|text| format!(" ({text})"));
    format!(
        "`{place}` refused a token with HTTP {}{}{}",
        status.as_u16(),
        code.unwrap_or_default(),
        description.unwrap_or_default()
    )
}

/// `pairs` as the body of a form.
fn encode(pairs: &[(&str, &str)]) -> String {
    // The one part of a URL that is encoded so.
    let mut url = Url::parse("http://localhost/").expect("a URL");
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

fn encoded(text: &str) -> String {
    encode(&[("", text)]).trim_start_matches('=').to_owned()
}

#[cfg(test)]
mod tests;
